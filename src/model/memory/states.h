/* SPDX-License-Identifier: MIT */
/*
 * The part of a memory (memory.h) that belongs to recurrent layers. A recurrent state is a sum over all tokens, so it
 * can't forget the last ones. Guesses therefore never enter it. A pass keeps their inputs instead, and the next pass
 * replays the guesses that became tokens:
 *
 *   tokens    0 .................... n_tokens - n_pending ......... n_tokens
 *             in the state           pending: their inputs are replayed next
 *
 *   inputs    [ pending tokens ]     between a keep and the next pass
 *             [ provisional rows ]   between a pass and the next keep
 *
 *   T1  Replay gives the bits that the state would have had without guesses: the same kernel gets the same inputs in
 *       the same order (law L3).
 *   T2  There are pending tokens or provisional rows, never both.
 *
 * A rewind reaches pending tokens, the checkpoint, which is a copy of the state after n_checkpoint tokens, or the empty
 * sequence.
 */
#ifndef VOUCH_MODEL_STATES_H
#define VOUCH_MODEL_STATES_H

#include "model/load/weights.h"

/* One recurrent layer. A state is [n_heads][n_keys][n_values], then the convolution's last inputs [width - 1]
 * [n_channels], oldest first. */
typedef struct vouch_layer_state {
    const vouch_recurrent *recurrent;
    float *state, *checkpoint;
    float *inputs; /* [max_rows][vouch_recurrent_inputs] */
} vouch_layer_state;

typedef struct vouch_states {
    const vouch_kernels *kernels;
    vouch_layer_state *layers; /* [n_layers]; without a recurrent mixer: zero */
    int32_t n_layers;          /* 0: no layer is recurrent, and all functions do nothing */
    int32_t n_pending, n_checkpoint;
    int32_t *order, *levels;     /* [max_rows] of vouch_states_plan */
    struct vouch_plan_row *plan; /* [max_rows + 1] its working space */
    float *head, *values;        /* scratch: one head's state and its result */
} vouch_states;

/* Most levels of a walk over a tree. A tree of n rows needs at most log2(n) + 1. */
enum { VOUCH_STATE_LEVELS = 10 };

/* Takes the states' room from the arena, all zero: the empty sequence. */
void vouch_states_layout(vouch_states *states, const vouch_weights *weights, int32_t max_rows, vouch_arena *arena);

/* The largest number of tokens, at most n, that states of n_tokens tokens can go back to. */
int32_t vouch_states_reach(const vouch_states *states, int32_t n_tokens, int32_t n);
/* Goes back to n tokens, a number that vouch_states_reach has returned. */
void vouch_states_rewind(vouch_states *states, int32_t n_tokens, int32_t n);
/* Copies the states that `from`, which has n_tokens tokens, had after its first n; n as in vouch_states_rewind. */
void vouch_states_share(vouch_states *states, const vouch_states *from, int32_t n_tokens, int32_t n);
/* Makes a copy of the states of all n_tokens tokens. */
void vouch_states_checkpoint(vouch_states *states, int32_t n_tokens);
/* For copies beside the memory. Floats of a copy of these weights' states; 0: no layer is recurrent. */
size_t vouch_states_size(const vouch_weights *weights);
/* Writes the states of all n_tokens tokens to `to`, or goes on from such a copy. */
void vouch_states_save(const vouch_states *states, float *to);
void vouch_states_load(vouch_states *states, const float *from);
/* The same for the checkpoint, after n_checkpoint tokens; n_checkpoint > 0. */
void vouch_states_save_checkpoint(const vouch_states *states, float *to);
void vouch_states_load_checkpoint(vouch_states *states, const float *from, int32_t n_checkpoint);
/* Copies the inputs of provisional row `from` to row `to`. */
void vouch_states_move(vouch_states *states, int32_t to, int32_t from);
uint64_t vouch_states_digest(const vouch_states *states, uint64_t hash);

/* The functions below are for the pass. */

/* The state of a head. */
static inline float *vouch_layer_state_head(const vouch_layer_state *layer, int32_t head)
{
    return layer->state + head * vouch_recurrent_head(layer->recurrent);
}
/* The convolution's input of the token `back` tokens before the end, from 1 to width - 1; zero before the first. */
const float *vouch_layer_state_input(const vouch_states *states, const vouch_layer_state *layer, int32_t back);
/* Updates a head's state by one row [vouch_recurrent_row]. Writes the head's result for the row to y [n_values]. */
void vouch_state_step(const vouch_kernels *kernels, const vouch_recurrent *recurrent, int32_t head, float *state,
                      const float *row, float *y);

/* Plans a walk over n provisional rows, depth first: order[i] is the row at step i, levels[row] the number of the state
 * copy that it updates. A row with the level of its parent (-1: level 0) continues the parent's state. Any other row
 * has the next level and begins with a copy. The child with most descendants comes last and continues, so that levels
 * stay few:
 *
 *   rows    0 ── 1 ── 3        order   0 2 1 3
 *           └─── 2             levels  0 0 1 0
 */
void vouch_states_plan(vouch_states *states, const int32_t *parents, int32_t n);

#endif
