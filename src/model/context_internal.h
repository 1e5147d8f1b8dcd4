/* SPDX-License-Identifier: MIT */
/* What context.c lays out and forward.c computes with. */
#ifndef VOUCH_MODEL_CONTEXT_INTERNAL_H
#define VOUCH_MODEL_CONTEXT_INTERNAL_H

#include <assert.h>
#include <math.h>

#include "model/context.h"

enum {
    /* Up to so many rows, each thread prepares the activations for itself: it is cheaper to compute them twice
     * than to wait for each other. */
    VOUCH_ALONE_ROWS = 16,
    /* Most queries (rows times heads) of a unit of attention, where a group of heads isn't larger. */
    VOUCH_UNIT_VECTORS = 16,
};

/* Each thread's own. */
typedef struct thread_memory {
    int32_t thread;
    vouch_acts acts;      /* memory for few rows */
    vouch_acts prepared;  /* the current stage's input, in that memory or the shared */
    vouch_acts hidden;    /* the input of W_down, in the shared memory */
    float *row;           /* [widest input] a normalised row */
    vouch_acts queries;   /* [max_vectors][head_dim] of one attention unit */
    vouch_acts shares;    /* [max_vectors][n_slots] softmax weights, interleaved */
    float *scores;        /* [max_vectors][n_slots] */
    float *mixed;         /* [max_vectors][head_dim] mixed values */
    float *factors;       /* [max_vectors] 1 / the softmax's sum */
    int32_t *slots;       /* [max_rows] that one row sees of this pass */
} thread_memory;

struct vouch_context {
    const vouch_weights *weights;
    vouch_pool *pool;
    int32_t n_ctx, n_slots, n_cached; /* n_slots: n_ctx rounded up to a tile */
    int32_t max_rows, max_logits, max_vectors;
    vouch_kv_type kv_type;
    bool any_quantized, any_float;

    vouch_matrix *keys, *values; /* [n_layers * n_kv_heads] */
    double *frequencies;         /* [n_rot / 2] radians a position */

    /* One pass. */
    int32_t n_rows, n_logits;
    bool is_tree;
    int32_t *tokens, *parents, *depths; /* [n_rows]; position = n_cached + depth */
    float *cosines, *sines;             /* [n_rows][n_rot / 2] */
    float *x;                           /* [n_rows][n_embd] the residual stream */
    float *q, *k, *v;                   /* [n_rows][heads * head_dim] */
    float *mixed;                       /* [n_rows][n_heads * head_dim] attention's result */
    float *gate, *up;                   /* [n_rows][n_ff] */
    float *logits;                      /* [n_logits][n_vocab] */
    vouch_acts acts;                    /* memory for many rows, prepared together */
    vouch_acts hidden;                  /* [n_rows][n_ff] memory for the input of W_down */
    thread_memory *threads;             /* [n_threads] */

    vouch_arena arena;
};

#endif
