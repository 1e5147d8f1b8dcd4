/* SPDX-License-Identifier: MIT */
/*
 * Random weights in the blocks of any type of GGUF: every byte is random, except the scales of a block, which
 * are set so that its values have about the standard deviation and mean (zero) asked for and a forward pass
 * stays finite. A byte is a function of type, seed and place: the same in any order and on every machine.
 */
#ifndef VOUCH_BENCH_VALUES_H
#define VOUCH_BENCH_VALUES_H

#include "base/tensor_type.h"

/* The id of the type with this name, or -1: also where the library does not know it. */
int32_t bench_type_find(const char *name);
/* "F32, F16, ...": those that the library knows. */
const char *bench_type_names(void);
/* What quantisers store a matrix in whose rows are no whole blocks of the type: the next with small blocks.
 */
int32_t bench_type_for_row(int32_t type, int64_t n_in);

/* The blocks [first, first + n) of a tensor. */
void bench_fill_blocks(int32_t type, float deviation, uint64_t seed, int64_t first, int64_t n,
                       unsigned char *out);

#endif
