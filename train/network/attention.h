/* SPDX-License-Identifier: MIT */
/*
 * Causal attention over packed sequences, for training a head on its own results (training-time test: Li et al.,
 * EAGLE-3, arXiv 2503.01840, section 3).
 *
 * A head drafts several tokens deep. Its first guess reads the target's states; deeper guesses read the head's own
 * results. Training unrolls these depths as generations. Generation g of row i stands for a guess g deep, whose path
 * has left the target's rows at row i - g:
 *
 *   keys of row i, g = 2     generation 0:  0 1 2 ... i-2      rows with the target's states
 *                            generation 1:            i-1      the parent guess
 *                            generation 2:                i    itself
 *
 * Generation 0 alone is ordinary causal attention. Rows i < g have no such path: they see themselves only, and no loss
 * counts them.
 */
#ifndef VOUCH_TRAIN_ATTENTION_H
#define VOUCH_TRAIN_ATTENTION_H

#include "train/network/real.h"

enum { TRAIN_GENERATIONS = 8 }; /* most depths that training unrolls */

typedef struct train_heads {
    int64_t n_heads, n_kv_heads, head_dim;
} train_heads;

/* Sequences one after the other: sequence s has the rows [ends[s - 1], ends[s]), and ends[-1] counts as 0. */
typedef struct train_packing {
    const int32_t *ends;
    int32_t n;
} train_packing;

/* Floats of the probabilities of one generation: for each sequence of n rows, n_heads * n * (n + g). */
int64_t train_attention_room(const train_packing *packing, const train_heads *heads, int32_t g);

/* out [rows, n_heads * head_dim] of generation g. q is that generation's; keys[j] and values[j], j <= g, are those of
 * generation j, [rows, n_kv_heads * head_dim]. Writes the softmax into p [train_attention_room]. */
void train_attention(real *out, real *p, const real *q, const real *const *keys, const real *const *values, int32_t g,
                     const train_packing *packing, const train_heads *heads);
/* Adds to dq and to dkeys[j], dvalues[j] of all generations j <= g. `space` has as many floats as p. */
void train_attention_back(real *dq, real *const *dkeys, real *const *dvalues, const real *dout, const real *p,
                          real *space, const real *q, const real *const *keys, const real *const *values, int32_t g,
                          const train_packing *packing, const train_heads *heads);

#endif
