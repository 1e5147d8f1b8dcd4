/* SPDX-License-Identifier: MIT */
#include "kernels/cache.h"

#include <math.h>
#include <string.h>

const vouch_type vouch_cache_types[VOUCH_N_CACHE_TYPES] = {VOUCH_TYPE_F16, VOUCH_TYPE_F32, VOUCH_TYPE_Q8_0,
                                                           VOUCH_TYPE_Q4_0};

/* -------------------------------------------------------- layout of a slot */

bool vouch_values_shape(vouch_matrix *values, vouch_type type, int64_t width, int64_t n_slots)
{
    if (!vouch_type_is_quantized(type)) return vouch_matrix_shape(values, type, width, n_slots);
    size_t all;
    *values = (vouch_matrix){.type = type, .n_out = width, .n_in = n_slots, .n_tiles = width / VOUCH_BLOCK};
    const int64_t room = (n_slots + VOUCH_BLOCK - 1) / VOUCH_BLOCK * VOUCH_BLOCK;
    if (__builtin_mul_overflow((size_t)room, (size_t)vouch_slot_quants(type) + 2, &values->tile_bytes)) return false;
    return !__builtin_mul_overflow(values->tile_bytes, (size_t)values->n_tiles, &all);
}

static size_t float_bytes(vouch_type type)
{
    return type == VOUCH_TYPE_F16 ? 2 : 4;
}

vouch_piece vouch_key_piece(const vouch_matrix *keys, int64_t slot, int64_t i)
{
    if (!vouch_type_is_quantized(keys->type)) {
        if (i >= keys->n_in) return (vouch_piece){0};
        return (vouch_piece){vouch_matrix_element(keys, slot, i), float_bytes(keys->type)};
    }
    /* The pieces of each block: its scale, then its quants, 4 bytes at a time. */
    const vouch_form form = vouch_forms[keys->type];
    const int64_t pieces = 1 + form.low, block = i / pieces, piece = i % pieces, lane = slot % VOUCH_TILE;
    if (block >= keys->n_in / VOUCH_BLOCK) return (vouch_piece){0};
    unsigned char *unit =
        keys->data + (size_t)(slot / VOUCH_TILE) * keys->tile_bytes + block / 2 * vouch_form_unit_bytes(form);
    if (piece == 0) return (vouch_piece){unit + vouch_form_scales_at(form, (int32_t)(block % 2), 0, 0) + lane * 2, 2};
    unsigned char *quants = unit + vouch_form_head_bytes(form) + block % 2 * vouch_form_block_bytes(form);
    return (vouch_piece){quants + (piece - 1) * 64 + lane * 4, 4};
}

vouch_piece vouch_value_piece(const vouch_matrix *values, int64_t slot, int64_t i)
{
    if (!vouch_type_is_quantized(values->type)) {
        const int64_t left = values->n_out - i * VOUCH_TILE;
        if (left <= 0) return (vouch_piece){0};
        return (vouch_piece){vouch_matrix_element(values, i * VOUCH_TILE, slot),
                             (size_t)(left < VOUCH_TILE ? left : VOUCH_TILE) * float_bytes(values->type)};
    }
    /* The pieces of each block: its scale, then all its quants. */
    if (i / 2 >= values->n_tiles) return (vouch_piece){0};
    unsigned char *tile = values->data + (size_t)(i / 2) * values->tile_bytes;
    if (i % 2 == 0) return (vouch_piece){tile + vouch_slot_scale_at(values->type, slot), 2};
    return (vouch_piece){tile + vouch_slot_at(values->type, slot), (size_t)vouch_slot_quants(values->type)};
}

/* ---------------------------------------------------------------- quantising */

/* 32 numbers become a GGUF block: f16 scale | quants. If all |x| are below VOUCH_QUANT_MIN, the block holds zeros. If
 * one isn't finite, the scale is NaN. */
enum { BLOCK_BYTES = 2 + VOUCH_BLOCK };

/* The bits of max |x|, and the index of its first occurrence. */
static uint32_t find_largest(const float *x, int *index)
{
    uint32_t bits[VOUCH_BLOCK], largest = 0;
    memcpy(bits, x, sizeof bits);
    for (int k = 0; k < VOUCH_BLOCK; k++) {
        bits[k] &= INT32_MAX;
        largest = bits[k] > largest ? bits[k] : largest;
    }
    *index = 0;
    while (bits[*index] != largest) ++*index;
    return largest;
}

static void put_scale(unsigned char *block, float d)
{
    const uint16_t half = vouch_float_to_half(d);
    memcpy(block, &half, sizeof half);
}

/* d = max |x| / 127, quants rounded to nearest even, as the kernel `quantize`. */
static void quantize_q8_0(unsigned char *block, const float *x, float largest)
{
    const float inverse = 127.0f / largest;
    put_scale(block, largest / 127.0f);
    for (int k = 0; k < VOUCH_BLOCK; k++) block[2 + k] = (unsigned char)(int8_t)lrintf(x[k] * inverse);
}

/* The number with the largest |x| becomes -8, whatever its sign. */
static void quantize_q4_0(unsigned char *block, const float *x, float largest)
{
    const float d = largest / -8.0f, inverse = 1.0f / d;
    int nibbles[VOUCH_BLOCK];
    put_scale(block, d);
    for (int k = 0; k < VOUCH_BLOCK; k++) {
        const int rounded = (int)(x[k] * inverse + 8.5f);
        nibbles[k] = rounded < 15 ? rounded : 15;
    }
    for (int k = 0; k < VOUCH_BLOCK / 2; k++)
        block[2 + k] = (unsigned char)(nibbles[k] | nibbles[k + VOUCH_BLOCK / 2] << 4);
}

static void quantize_block(unsigned char *block, const float *x, vouch_type type)
{
    int at;
    const uint32_t bits = find_largest(x, &at);
    const bool finite = bits < VOUCH_INFINITY_BITS;
    if (!finite || fabsf(x[at]) < VOUCH_QUANT_MIN) {
        put_scale(block, finite ? 0.0f : NAN);
        memset(block + 2, type == VOUCH_TYPE_Q8_0 ? 0 : 0x88, (size_t)vouch_slot_quants(type));
    } else if (type == VOUCH_TYPE_Q8_0) {
        quantize_q8_0(block, x, fabsf(x[at]));
    } else {
        quantize_q4_0(block, x, x[at]);
    }
}

void vouch_key_quantize(const vouch_matrix *keys, int64_t slot, const float *x)
{
    const unsigned char flip = keys->type == VOUCH_TYPE_Q8_0 ? 0x80 : 0; /* packed Q8_0 has an offset of 128 */
    for (int64_t k = 0, i = 0; k < keys->n_in; k += VOUCH_BLOCK) {
        unsigned char block[BLOCK_BYTES];
        quantize_block(block, x + k, keys->type);
        for (int64_t j = 0; j < vouch_slot_quants(keys->type); j++) block[2 + j] ^= flip;
        memcpy(vouch_key_piece(keys, slot, i++).at, block, 2);
        for (int64_t j = 0; j < vouch_slot_quants(keys->type); j += 4)
            memcpy(vouch_key_piece(keys, slot, i++).at, block + 2 + j, 4);
    }
}

void vouch_value_quantize(const vouch_matrix *values, int64_t slot, const float *x)
{
    for (int64_t t = 0; t < values->n_tiles; t++) {
        unsigned char block[BLOCK_BYTES];
        const vouch_piece scale = vouch_value_piece(values, slot, 2 * t),
                          quants = vouch_value_piece(values, slot, 2 * t + 1);
        quantize_block(block, x + t * VOUCH_BLOCK, values->type);
        memcpy(scale.at, block, scale.size);
        memcpy(quants.at, block + scale.size, quants.size);
    }
}
