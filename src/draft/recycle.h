/* SPDX-License-Identifier: MIT */
/* Token Recycling (Luo et al., arXiv 2408.08696): guesses the tokens that the target found likely when it last met the
 * same few tokens. */
#ifndef VOUCH_DRAFT_RECYCLE_H
#define VOUCH_DRAFT_RECYCLE_H

#include "base/status.h"
#include "draft/source.h"
#include "model/table.h"

/* forget: each answer begins with empty tables. `table`: rows for contexts that the target has not met yet; must
 * outlive the source; NULL: none. Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_source_recycle_open(vouch_source *out, const vouch_kernels *kernels, int32_t n_vocab, bool forget,
                                       const vouch_table_rows *table, vouch_error *err);

#endif
