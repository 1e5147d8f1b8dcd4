/* SPDX-License-Identifier: MIT */
/*
 * Finds the n largest of many numbers. The find_max kernel reads all numbers once and gives the maximum of each block.
 * The n largest numbers are in the n blocks with the largest maxima; only these blocks are searched one by one.
 */
#include <assert.h>
#include <math.h>

#include "sample/sample.h"

enum { MAX_BLOCKS = VOUCH_MAX_FOUND };

/* Inserts x into the first n elements of a descending list, after equal elements; the last one drops out. */
static void list_insert(float *value, int32_t *index, int32_t n, float x, int32_t i)
{
    int32_t at = n - 1;
    for (; at > 0 && x > value[at - 1]; at--) {
        value[at] = value[at - 1];
        index[at] = index[at - 1];
    }
    value[at] = x;
    index[at] = i;
}

int32_t vouch_find_top(const vouch_kernels *kernels, const float *x, int32_t n_x, int32_t n, int32_t *index,
                       float *value)
{
    assert(n >= 1 && n <= VOUCH_MAX_FOUND);
    const int32_t size = (n_x + MAX_BLOCKS - 1) / MAX_BLOCKS;
    float max[VOUCH_MAX_FOUND];
    int32_t begins[VOUCH_MAX_FOUND], n_blocks = 0, found = 0;
    for (int32_t begin = 0; begin < n_x; begin += size) {
        float block_max;
        int32_t where;
        if (!kernels->find_max(x + begin, n_x - begin < size ? n_x - begin : size, &block_max, &where)) continue;
        if (n_blocks == n && !(block_max > max[n - 1])) continue;
        if (n_blocks < n) n_blocks++;
        list_insert(max, begins, n_blocks, block_max, begin);
    }
    for (int32_t b = 0; b < n_blocks; b++) {
        const int32_t past = n_x - begins[b] < size ? n_x : begins[b] + size;
        for (int32_t i = begins[b]; i < past; i++) {
            if (!(x[i] > (found < n ? -INFINITY : value[n - 1]))) continue;
            if (found < n) found++;
            list_insert(value, index, found, x[i], i);
        }
    }
    return found;
}
