/* SPDX-License-Identifier: MIT */
/* y = W x + bias for rows that stand outside of a pass, with the threads of a pool. A row's result doesn't depend on
 * the other rows (law L1). */
#ifndef VOUCH_MODEL_PROJECTION_H
#define VOUCH_MODEL_PROJECTION_H

#include "base/memory.h"
#include "base/pool.h"
#include "kernels/kernels.h"

typedef struct vouch_projection {
    const vouch_matrix *w; /* [n_out, n_in] */
    const float *bias;     /* [n_out]; NULL: none */
    const vouch_kernels *kernels;
    vouch_pool *pool;
    vouch_acts acts; /* room for the inputs of max_rows rows */
    /* The running call. */
    const float *x;       /* [n][n_in] */
    float *y;             /* [n][n_out] */
    const int32_t *parts; /* [n_parts] of the matrix's rows */
    int32_t n_parts, n_each;
} vouch_projection;

/* Takes room for inputs of up to max_rows rows. The caller has set the other fields. */
void vouch_projection_layout(vouch_projection *projection, int32_t max_rows, vouch_arena *arena);
/* x [n][n_in] to y [n][n_out]; n is 1 to max_rows. */
void vouch_projection_run(vouch_projection *projection, const float *x, float *y, int32_t n);
/* The same for one row x [n_in], but only of some rows of the matrix: rows [part * n_each, (part + 1) * n_each) for
 * each of n parts. Other elements of y may change where n_each isn't a multiple of VOUCH_TILE. */
void vouch_projection_run_parts(vouch_projection *projection, const float *x, float *y, const int32_t *parts, int32_t n,
                                int32_t n_each);

#endif
