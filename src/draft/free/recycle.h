/* SPDX-License-Identifier: MIT */
/* Token Recycling (Luo et al., arXiv 2408.08696): guesses the tokens that the target found likely when it last met the
 * same few tokens. */
#ifndef VOUCH_DRAFT_RECYCLE_H
#define VOUCH_DRAFT_RECYCLE_H

#include "base/status.h"
#include "draft/source.h"

/* n_ctx: most tokens of a sequence. forget: each answer begins with empty tables. Errors: MEMORY; on failure *out has
 * no ops. */
vouch_status vouch_source_recycle_open(vouch_source *out, const vouch_kernels *kernels, int32_t n_vocab, int32_t n_ctx,
                                       bool forget, vouch_error *err);

#endif
