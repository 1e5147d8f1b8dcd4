/* SPDX-License-Identifier: MIT */
/*
 * The parts that tables of kernels are made of; dispatch.c puts them together and chooses a table.
 *
 *   floats    all kernels but the matmuls of quantised weights. Instruction sets whose vectors are equally wide share
 *             them
 *   numbers   the matmuls of the types that store each weight as a number (VOUCH_NUMBER_TYPES)
 *   codes     the matmuls of the types that store each weight as a code for a value (VOUCH_CODE_TYPES)
 *
 * The Makefile compiles each part to an object of its own, because one object with all parts took 3 GB of memory.
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
