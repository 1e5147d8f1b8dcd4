/* SPDX-License-Identifier: MIT */
/* A session's target as the cycle sees it (vouch_target): a context, and p of the rows of its last pass. */
#ifndef VOUCH_ENGINE_TARGET_H
#define VOUCH_ENGINE_TARGET_H

#include "decode/cycle.h"
#include "model/sequence.h"

typedef struct vouch_engine_target {
    vouch_sequence sequence;
    vouch_sampler sampler;
    vouch_dist p;      /* of the row the judge looks at */
    int32_t prefill_chunk;
    int32_t first_row; /* index, in the last pass, of its first row with logits; no such row: its number of rows */
} vouch_engine_target;

/* The functions that the cycle calls, over `self`. */
vouch_target vouch_engine_target_ops(vouch_engine_target *self);
/* Runs the tokens of tokens[0, n) that the cache doesn't hold yet, at most prefill_chunk rows per pass. The last
 * n_logits rows get logits, all of them in one pass, which may be larger. */
void vouch_engine_target_run(vouch_engine_target *self, const int32_t *tokens, int32_t n, int32_t n_logits);
/* Only the first n tokens stay in the cache; fewer may be there already. */
void vouch_engine_target_rewind(vouch_engine_target *self, int32_t n);
/* p of the row with these logits, into self->p. Errors: NUMERIC. */
vouch_status vouch_engine_target_distribution(vouch_engine_target *self, const float *logits, const int32_t *tokens,
                                              int32_t n_history);

#endif
