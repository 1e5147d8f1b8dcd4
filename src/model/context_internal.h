/* SPDX-License-Identifier: MIT */
/* What context.c lays out and forward.c computes with. */
#ifndef VOUCH_MODEL_CONTEXT_INTERNAL_H
#define VOUCH_MODEL_CONTEXT_INTERNAL_H

#include <assert.h>
#include <math.h>

#include "model/weights.h"

/* Up to so many rows, attention is divided once among the threads instead of by pieces; and so many go to the next
 * stage together. */
enum { VOUCH_FEW_ROWS = 16 };

/* Each thread's own. */
typedef struct thread_memory {
    int32_t thread;
    float *rows;          /* [VOUCH_FEW_ROWS][n_embd] columns of rows on their way to the next stage */
    float *norms;         /* [max_rows] factors of the norms of the current stage's input */
    float *squares;       /* [head_dim / 16, rounded up] of one head */
    vouch_acts queries;   /* [group_rows][head_dim] of one attention unit, as the keys' type asks */
    vouch_acts scores;    /* [group_rows][n_slots], then softmax weights */
    float *mixed;         /* [group_rows][head_dim] mixed values */
    float *factors;       /* [group_rows] 1 / the softmax's sum */
    int32_t *slots;       /* [max_rows] that one row sees of this pass */
} thread_memory;

struct vouch_context {
    const vouch_weights *weights;
    const vouch_matrix *head;
    vouch_pool *pool;
    int32_t n_ctx, n_slots, n_cached; /* n_slots: n_ctx rounded up to a tile */
    int32_t max_rows, max_logits;
    vouch_type kv_type; /* of keys and values */
    vouch_needs needs;

    vouch_matrix *keys, *values; /* [n_layers * n_kv_heads] */
    double *frequencies;         /* [n_rot / 2] radians a position */

    /* One pass. */
    int32_t n_rows, n_logits;
    bool is_tree;
    int32_t first; /* rows of the same tree before this pass's: its row r is row first + r of the tree */
    int32_t *tokens, *parents, *depths; /* [first + n_rows]; position = n_cached + depth */
    float *cosines, *sines;             /* [n_rows][n_rot], a pair's first sine negative */
    float *x;                           /* [n_rows][n_embd] the residual stream */
    float *q, *k, *v;                   /* [n_rows][heads * head_dim] */
    float *mixed;                       /* [n_rows][n_heads * head_dim] attention's result */
    float *gate, *up;                   /* [n_rows][n_ff] */
    float *logits;                      /* [n_logits][head->n_out] */
    float *squares;                     /* [n_rows][n_embd / 16, rounded up] sums of squares of x */
    vouch_acts acts;                    /* [n_rows][n_embd] x times the next norm's weights */
    vouch_acts mixed_acts;              /* [n_rows][n_heads * head_dim] the input of W_o */
    vouch_acts hidden;                  /* [n_rows][n_ff] the input of W_down */
    thread_memory *threads;             /* [n_threads] */

    vouch_arena arena;
};

#endif
