/* SPDX-License-Identifier: MIT */
/*
 * The parts that tables of kernels are made of; dispatch.c puts them together and chooses a table.
 *
 *   floats    all kernels but the matmuls of quantised weights. Instruction sets with vectors of one width share them
 *   numbers   matmuls whose weights are numbers (VOUCH_NUMBER_TYPES)
 *   codes     matmuls whose weights are codes of values, as of a table (VOUCH_CODE_TYPES)
 *
 * Each part is an object of its own: all parts in one take gigabytes to compile.
 */
#ifndef VOUCH_KERNELS_TABLES_H
#define VOUCH_KERNELS_TABLES_H

#include "kernels/kernels.h"

#define VOUCH_FLOATS(isa) extern const vouch_kernels vouch_floats_##isa;
#define VOUCH_MATMULS(isa)                                            \
    extern vouch_matmul *const vouch_numbers_##isa[VOUCH_TYPE_COUNT]; \
    extern vouch_matmul *const vouch_codes_##isa[VOUCH_TYPE_COUNT];

extern const vouch_kernels vouch_kernels_ref;
#if defined(__x86_64__)
VOUCH_FLOATS(avx2)
VOUCH_FLOATS(avx512)
VOUCH_MATMULS(avx2)
VOUCH_MATMULS(avxvnni)
VOUCH_MATMULS(avx512)
VOUCH_MATMULS(avx512vnni)
VOUCH_MATMULS(avx512gfni)
#elif defined(__aarch64__)
VOUCH_FLOATS(neon)
VOUCH_MATMULS(neon)
VOUCH_MATMULS(dotprod)
VOUCH_MATMULS(i8mm)
#endif
#undef VOUCH_FLOATS
#undef VOUCH_MATMULS

#endif
