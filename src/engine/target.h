/* SPDX-License-Identifier: MIT */
/* A session's target as the cycle sees it (vouch_target): its memory, and p of its rows in the last pass. */
#ifndef VOUCH_ENGINE_TARGET_H
#define VOUCH_ENGINE_TARGET_H

#include "decode/cycle.h"
#include "model/pass/pass.h"
#include "text/grammar/constraint.h"

typedef struct vouch_engine_target {
    vouch_pass *pass; /* the engine's */
    vouch_memory *memory;
    vouch_sampler sampler;
    vouch_breakers breakers;
    const uint64_t *seed; /* of the running answer */
    const int32_t *ends;  /* [n_ends] tokens that end an answer; they are banned before the position `earliest_end` */
    int32_t n_ends;       /* 0 where neither a grammar nor min_tokens asks for them */
    int64_t earliest_end;
    vouch_constraint *constraint; /* the session's grammar and budget; NULL: none */
    vouch_dist p;                 /* of the row the judge looks at */
    int32_t prefill_chunk;
    int32_t first_row;    /* rows of other sequences before the sequence's rows in the last pass */
    int32_t first_logits; /* those of them that have logits */
} vouch_engine_target;

/* The functions that the cycle calls, over `self`. */
vouch_target vouch_engine_target_ops(vouch_engine_target *self);
/* Runs the tokens of tokens[0, n) that the cache lacks, in passes of their own of at most prefill_chunk rows. The last
 * n_logits rows get logits, all of them in one pass, which may be larger. */
void vouch_engine_target_run(vouch_engine_target *self, const int32_t *tokens, int32_t n, int32_t n_logits);
/* Fills rows with the sequence's last token and the guesses that follow it; all of them get logits. Returns the number
 * of rows. The memory holds the tokens before the last one, and has reserved room for the rows. */
int32_t vouch_engine_target_rows(vouch_engine_target *self, const int32_t *tokens, int32_t n_tokens,
                                 const vouch_draft *draft, vouch_row *rows);
/* Fills rows with tokens[from, past). Returns their number. The memory holds tokens[0, from). */
int32_t vouch_engine_target_chunk(vouch_engine_target *self, const int32_t *tokens, int32_t from, int32_t past,
                                  bool with_logits, vouch_row *rows);
/* Only the first n tokens stay in the cache; fewer may be there already. */
void vouch_engine_target_rewind(vouch_engine_target *self, int32_t n);
/* p of the row with these logits, into self->p. Errors: NUMERIC; GRAMMAR (grammar, biases and min_tokens leave no
 * token). */
vouch_status vouch_engine_target_distribution(vouch_engine_target *self, const float *logits, const int32_t *tokens,
                                              int32_t n_history);
/* Whether the grammar allows nothing after the judge's root but the end of the answer. */
bool vouch_engine_target_must_end(vouch_engine_target *self);

#endif
