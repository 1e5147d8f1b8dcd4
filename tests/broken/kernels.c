/* SPDX-License-Identifier: MIT */
/*
 * Builds the command with kernels that break law L1: their results depend on the number of rows in the pass. With more
 * than two rows they flip the last bit of one output in sixteen, as a sum in another order would. `vouch check` must
 * report L1 as broken.
 */
#include <math.h>

#include "kernels/kernels.h"

const vouch_kernels *__real_vouch_kernels_find(const char *name);
const vouch_kernels *__wrap_vouch_kernels_find(const char *name);

static vouch_kernels crooked;
static const vouch_kernels *straight;

static void matmul_crooked(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t tile_begin,
                           int64_t tile_end)
{
    straight->matmul[w->type](w, x, y, tile_begin, tile_end);
    for (int64_t row = 0; x->n_rows > 2 && row < x->n_rows; row++)
        for (int64_t tile = tile_begin; tile < tile_end; tile++) {
            float *first = &y.y[row * y.row + tile * y.tile];
            *first = nextafterf(*first, INFINITY);
        }
}

const vouch_kernels *__wrap_vouch_kernels_find(const char *name)
{
    straight = __real_vouch_kernels_find(name);
    if (!straight) return NULL;
    crooked = *straight;
    for (int type = 0; type < VOUCH_TYPE_COUNT; type++)
        if (straight->matmul[type]) crooked.matmul[type] = matmul_crooked;
    return &crooked;
}
