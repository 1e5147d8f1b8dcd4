/* SPDX-License-Identifier: MIT */
/*
 * Builds the command with two wrong tables of kernels. Plain C rotates by an angle of the other direction. The first
 * vector table flips the last bit of one result in Q4_K. `vouch check --system` must name both.
 */
#include <math.h>

#include "kernels/kernels.h"

const vouch_kernels *__real_vouch_kernels_get(size_t i);
const vouch_kernels *__wrap_vouch_kernels_get(size_t i);

static vouch_kernels plain, vector;

static void rope_crooked(float *x, const float *cos, const float *sin, int64_t n_rot, bool half_split)
{
    __real_vouch_kernels_get(0)->rope(x, sin, cos, n_rot, half_split);
}

static void matmul_crooked(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t tile_begin,
                           int64_t tile_end)
{
    __real_vouch_kernels_get(1)->matmul[w->type](w, x, y, tile_begin, tile_end);
    if (tile_begin == 0 && x->n_rows == 5) y.y[3] = nextafterf(y.y[3], INFINITY);
}

const vouch_kernels *__wrap_vouch_kernels_get(size_t i)
{
    const vouch_kernels *real = __real_vouch_kernels_get(i);
    if (!real || i > 1) return real;
    vouch_kernels *crooked = i == 0 ? &plain : &vector;
    *crooked = *real;
    if (i == 0) crooked->rope = rope_crooked;
    else crooked->matmul[VOUCH_TYPE_Q4_K] = matmul_crooked;
    return crooked;
}
