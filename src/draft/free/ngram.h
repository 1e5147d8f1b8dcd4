/* SPDX-License-Identifier: MIT */
/* Prompt lookup: guesses the tokens that followed the same n-gram earlier in prompt and output. */
#ifndef VOUCH_DRAFT_NGRAM_H
#define VOUCH_DRAFT_NGRAM_H

#include "base/status.h"
#include "draft/source.h"

enum { VOUCH_NGRAM_LIMIT = 16 };

/* For sequences of at most n_ctx tokens. It tries the last ngram_max tokens first, then fewer, down to ngram_min;
 * 1 <= ngram_min <= ngram_max <= VOUCH_NGRAM_LIMIT. Errors: ARGUMENT, MEMORY; on failure *out has no ops. */
vouch_status vouch_source_ngram_open(vouch_source *out, int32_t n_ctx, int32_t ngram_min, int32_t ngram_max,
                                     vouch_error *err);

#endif
