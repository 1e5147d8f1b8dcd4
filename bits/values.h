/* SPDX-License-Identifier: MIT */
/*
 * Random weights in blocks of any GGUF type. Every byte is random except the scales of a block. The scales give the
 * block's values about the requested standard deviation and mean zero, so that a forward pass stays finite. A byte
 * depends only on type, seed and index: the bytes are the same in any order and on every machine.
 */
#ifndef VOUCH_BITS_VALUES_H
#define VOUCH_BITS_VALUES_H

#include "base/tensor_type.h"

/* Returns the next random number after a state, and advances the state (Steele et al., SplitMix64). */
uint64_t bits_next_word(uint64_t *state);

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
