/* SPDX-License-Identifier: MIT */
/*
 * Random weights in blocks of any GGUF type. Every byte is random except the scales of a block. The scales give the
 * block's values about the requested standard deviation and mean zero, so that a forward pass stays finite. A byte
 * depends only on type, seed and index: the bytes are the same in any order and on every machine.
 */
#ifndef VOUCH_BITS_VALUES_H
#define VOUCH_BITS_VALUES_H

#include "base/tensor_type.h"

/* Word i of a stream of random numbers: splitmix64, whose state is a counter that grows by BITS_STEP. */
#define BITS_STEP UINT64_C(0x9e3779b97f4a7c15)
uint64_t bits_word(uint64_t state, uint64_t i);

/* The id of the type with this name; -1 if the name is unknown or the library doesn't support the type. */
int32_t bits_type_find(const char *name);
/* "F32, F16, ...": the supported types. */
const char *bits_type_names(void);
/* The type that quantisers use for a matrix with rows of n_in values: `type`, or the next one with small blocks if the
 * rows are not whole blocks of `type`. */
int32_t bits_type_for_row(int32_t type, int64_t n_in);

/* Writes the blocks [first, first + n) of a tensor. */
void bits_fill_blocks(int32_t type, float deviation, uint64_t seed, int64_t first, int64_t n, unsigned char *out);

#endif
