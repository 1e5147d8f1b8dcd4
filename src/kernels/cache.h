/* SPDX-License-Identifier: MIT */
/*
 * The matrices of a KV cache, so that attention is made of matmuls:
 *
 *   keys    [n_slots, width], packed as weights of that type are (kernels.h, forms.h): a key is one lane of a tile,
 *           and a score is its dot product with a query, which is quantised where the keys are.
 *   values  [width, n_slots]; F16 and F32 packed as weights, too. Quantised weights have blocks along their inputs,
 *           which here would change with every token that comes. So a token's values make blocks of 32 along the
 *           width, and are kept as small integers with a scale beside each block, in tiles of 32 outputs:
 *
 *             Q8_0    32 slots: [32][32] s8                                             | [32] f16 scale
 *             Q4_0    32 slots: [32][16] u8 (two nibbles, value + 8; the low one of     | [32] f16 scale
 *                               output i, the high one of i + 16)
 *
 *           An output ascends over the slots, y = fma(quant, round(x scale), y), where x is a slot's softmax weight.
 *
 * A block's numbers are those that a GGUF file would have, and depend on no other block: a slot that is written again
 * holds no trace of what was there (law L3).
 */
#ifndef VOUCH_KERNELS_CACHE_H
#define VOUCH_KERNELS_CACHE_H

#include <string.h>

#include "kernels/kernels.h"

/* Bytes of the quants of a slot in a tile of quantised values, from the tile's beginning to them,
 * and to their scale. */
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

/* As vouch_matrix_shape is for keys. Quantised ones want a width of whole blocks. */
bool vouch_values_shape(vouch_matrix *values, vouch_type type, int64_t width, int64_t n_slots);

/* What a slot's key or value consists of, in an order that is the same for all slots: piece i, or of size 0 past the
 * last one. */
typedef struct vouch_piece {
    unsigned char *at;
    size_t size;
} vouch_piece;
vouch_piece vouch_key_piece(const vouch_matrix *keys, int64_t slot, int64_t i);
vouch_piece vouch_value_piece(const vouch_matrix *values, int64_t slot, int64_t i);

/* Write a slot of quantised keys or values. */
void vouch_key_quantize(const vouch_matrix *keys, int64_t slot, const float *x);
void vouch_value_quantize(const vouch_matrix *values, int64_t slot, const float *x);

#endif
