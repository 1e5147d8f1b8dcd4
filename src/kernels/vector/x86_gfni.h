/* SPDX-License-Identifier: MIT */
/* The GFNI helper of the 256-bit and 512-bit kernels. */
#ifndef VOUCH_KERNELS_X86_GFNI_H
#define VOUCH_KERNELS_X86_GFNI_H

#include <stdint.h>

/* The bit matrix of an affine instruction that moves the bits [from, from + bits) of a byte to bit `to` and clears all
 * others. Byte 7 - i of the matrix selects the input bits of output bit i. */
static inline uint64_t vi_gfni_matrix(int from, int bits, int to)
{
    uint64_t matrix = 0;
    for (int i = 0; i < bits; i++) matrix |= (uint64_t)1 << (from + i) << 8 * (7 - to - i);
    return matrix;
}

#endif
