/* SPDX-License-Identifier: MIT */
/*
 * The matrices of a KV cache. Attention consists of matmuls with these matrices:
 *
 *   keys    [n_slots, width], packed like weights of the same type (kernels.h, forms.h). A key is one lane of a tile. A
 *           score is the dot product of a key and a query; quantised keys take quantised queries.
 *   values  [width, n_slots]. F16 and F32 values are packed like weights. Quantised weights have blocks along their
 *           inputs, and the inputs here are slots: a block would change with every new token. So quantised values have
 *           blocks of 32 along the width. A tile is 32 outputs, with one scale per slot:
 *
 *             Q8_0    32 slots: [32][32] s8                                             | [32] f16 scale
 *             Q4_0    32 slots: [32][16] u8 (nibbles, value + 8; the low nibble is      | [32] f16 scale
 *                               output i, the high nibble output i + 16)
 *
 *           An output adds over the slots in ascending order: y = fma(quant, round(x scale), y), where x is the slot's
 *           softmax weight.
 *
 * A block has the same numbers as in a GGUF file and depends on no other block. So a slot written again holds no trace
 * of its former content (law L3).
 */
#ifndef VOUCH_KERNELS_CACHE_H
#define VOUCH_KERNELS_CACHE_H

#include <string.h>

#include "kernels/kernels.h"

/* The element types of keys and values in a KV cache, in the order of enum vouch_kv_type. */
enum { VOUCH_N_CACHE_TYPES = 4 };
extern const vouch_type vouch_cache_types[VOUCH_N_CACHE_TYPES];

/* A slot in a tile of quantised values: the bytes of its quants, and the offsets of its quants and its scale. */
static inline int64_t vouch_slot_quants(vouch_type type)
{
    return type == VOUCH_TYPE_Q8_0 ? VOUCH_BLOCK : VOUCH_BLOCK / 2;
}

static inline int64_t vouch_slot_at(vouch_type type, int64_t slot)
{
    const int64_t quants = vouch_slot_quants(type), bytes = VOUCH_BLOCK * (quants + 2);
    return slot / VOUCH_BLOCK * bytes + slot % VOUCH_BLOCK * quants;
}

static inline int64_t vouch_slot_scale_at(vouch_type type, int64_t slot)
{
    const int64_t quants = vouch_slot_quants(type), bytes = VOUCH_BLOCK * (quants + 2);
    return slot / VOUCH_BLOCK * bytes + VOUCH_BLOCK * quants + slot % VOUCH_BLOCK * 2;
}

static inline float vouch_slot_scale(vouch_type type, const unsigned char *tile, int64_t slot)
{
    uint16_t half;
    memcpy(&half, tile + vouch_slot_scale_at(type, slot), sizeof half);
    return vouch_half_to_float(half);
}

/* Sets the shape of a matrix of values, as vouch_matrix_shape does for keys. For quantised values the width is a
 * multiple of 32. False if the size exceeds size_t. */
bool vouch_values_shape(vouch_matrix *values, vouch_type type, int64_t width, int64_t n_slots);

/* The bytes of a slot's key or value lie in several pieces. These functions return piece i, in the same order for all
 * slots; past the last piece they return size 0. */
typedef struct vouch_piece {
    unsigned char *at;
    size_t size;
} vouch_piece;
vouch_piece vouch_key_piece(const vouch_matrix *keys, int64_t slot, int64_t i);
vouch_piece vouch_value_piece(const vouch_matrix *values, int64_t slot, int64_t i);

/* Quantise x [width] into a slot of the keys or values. */
void vouch_key_quantize(const vouch_matrix *keys, int64_t slot, const float *x);
void vouch_value_quantize(const vouch_matrix *values, int64_t slot, const float *x);

#endif
