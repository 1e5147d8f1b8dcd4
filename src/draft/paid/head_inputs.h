/* SPDX-License-Identifier: MIT */
/*
 * The inputs of a head's rows (model/head/head_weights.h), made outside of the pass that runs them:
 *
 *   states of the target ─ W_fc, norms ─► f ─┐
 *   s of the row before ─────────────────► f ─┴─ W_join with the token's embedding, or a pair of both ─► input
 */
#ifndef VOUCH_DRAFT_HEAD_INPUTS_H
#define VOUCH_DRAFT_HEAD_INPUTS_H

#include "draft/setup.h"
#include "model/head/head_weights.h"
#include "model/pass/pass.h"
#include "model/stage/projection.h"

/* The head that a session drafts with; NULL: none. */
static inline const vouch_head_weights *vouch_setup_head(const vouch_drafter_setup *setup)
{
    return setup->files[VOUCH_DRAFTER_NUMBER_HEAD];
}

typedef struct vouch_head_inputs {
    const vouch_head_weights *head;
    vouch_projection fc, join; /* w NULL: none */
    float *scaled;             /* [n_states][n_features] the states as W_fc reads them */
    float *features;           /* [n_rows][state width] f of the rows */
    float *joined;             /* [n_rows][target's width + state width] input of W_join */
    float *inputs;             /* [n_rows][width] of the rows, until their pass has run */
    float *seconds;            /* [n_rows][width] second inputs of the rows */
} vouch_head_inputs;

void vouch_head_inputs_open(vouch_head_inputs *in, const vouch_head_weights *head, vouch_pool *pool);
/* Takes room for n_rows rows, of which n_states at most get their f from the target's states at a time. */
void vouch_head_inputs_layout(vouch_head_inputs *in, int32_t n_states, int32_t n_rows, vouch_arena *arena);
/* Makes f of rows [first, first + n) from the target's states [n][n_features]. */
void vouch_head_inputs_read(vouch_head_inputs *in, int32_t first, const float *states, int32_t n);
/* Makes the inputs of rows [first, first + n) from their f and their tokens [n]. `rows` begins with row `first`. */
void vouch_head_inputs_make(vouch_head_inputs *in, int32_t first, const int32_t *tokens, vouch_row *rows, int32_t n);

/* Copies the logits of the tokens that the head may guess to their ids in out [n_vocab], where the others have no
 * chance already. Returns out; or `logits` itself where the head may guess any token. */
const float *vouch_head_spread(const vouch_head_weights *head, const float *logits, float *out);

/* The target's states that a head without memory reads: those of the last position alone. A guesser over such a head
 * has this as its first member, and the functions below as its own (guesser.h). */
typedef struct vouch_head_last {
    const vouch_head_weights *head;
    int64_t n_embd;  /* of the target */
    int32_t n_given; /* positions whose states have come */
    float *states;   /* [n_features] of position n_given - 1 */
} vouch_head_last;

int32_t vouch_head_last_taps(const void *self, const int32_t **layers);
int32_t vouch_head_last_n_hidden(const void *self);
void vouch_head_last_hidden(void *self, const int32_t *tokens, int32_t position, const float *const *states);
int32_t vouch_head_last_known(const void *self, const int32_t *tokens, int32_t n_tokens);
void vouch_head_last_rewind(void *self, int32_t n);

/* Whether a draft after n tokens can begin: token n - 1 reads the states of the position before it. */
static inline bool vouch_head_last_is_ready(const vouch_head_last *last, int32_t n)
{
    return n >= 2 && last->n_given == n - 1;
}

#endif
