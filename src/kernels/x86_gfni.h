/* SPDX-License-Identifier: MIT */
/* What both widths of GFNI share. */
#ifndef VOUCH_KERNELS_X86_GFNI_H
#define VOUCH_KERNELS_X86_GFNI_H

#include <stdint.h>

/* The matrix of bits that moves the bits [from, from + bits) of a byte to `to` and clears the others: byte 7 - i of it
 * says which bits make bit i. */
static inline uint64_t vi_gfni_matrix(int from, int bits, int to)
{
    uint64_t matrix = 0;
    for (int i = 0; i < bits; i++) matrix |= (uint64_t)1 << (from + i) << 8 * (7 - to - i);
    return matrix;
}

#endif
