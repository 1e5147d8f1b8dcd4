/* SPDX-License-Identifier: MIT */
/*
 * This command computes one sum in another order, on every instruction set: its softmax adds a row from left to right
 * instead of in 16 lanes. All tables still agree with plain C, and no guess changes a token. Only digests and vectors
 * can tell.
 */
#include "kernels/kernels.h"

const vouch_kernels *__real_vouch_kernels_get(size_t i);
const vouch_kernels *__wrap_vouch_kernels_get(size_t i);
const vouch_kernels *__real_vouch_kernels_find(const char *name);
const vouch_kernels *__wrap_vouch_kernels_find(const char *name);

enum { MOST_TABLES = 16 };
static vouch_kernels reordered[MOST_TABLES];

static float softmax_reordered(float *x, int64_t chunk, int64_t n)
{
    float sum = 0;
    __real_vouch_kernels_get(0)->softmax(x, chunk, n);
    for (int64_t j = 0; j < n; j++) sum += x[j / 16 * chunk + j % 16];
    return sum;
}

const vouch_kernels *__wrap_vouch_kernels_get(size_t i)
{
    const vouch_kernels *original = i < MOST_TABLES ? __real_vouch_kernels_get(i) : NULL;
    if (!original) return NULL;
    reordered[i] = *original;
    reordered[i].softmax = softmax_reordered;
    return &reordered[i];
}

const vouch_kernels *__wrap_vouch_kernels_find(const char *name)
{
    const vouch_kernels *original = __real_vouch_kernels_find(name);
    for (size_t i = 0; original && i < MOST_TABLES; i++)
        if (__real_vouch_kernels_get(i) == original) return __wrap_vouch_kernels_get(i);
    return NULL;
}
