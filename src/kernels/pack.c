/* SPDX-License-Identifier: MIT */
/*
 * From the rows of a file to packed tiles (layouts in kernels.h). A block in a GGUF file:
 *
 *   Q8_0  f16 d | s8 q[32]              value d q
 *   Q4_0  f16 d | u8 q[16]              value d (nibble - 8); low nibbles are values 0 to 15, high 16 to 31
 *   Q4_1  f16 d | f16 m | u8 q[16]      value d nibble + m
 */
#include <string.h>

#include "kernels/kernels.h"

/* XORed to each byte of quants, making a signed byte value + 128. */
static uint32_t flip_of(vouch_type type)
{
    return type == VOUCH_TYPE_Q8_0 ? 0x80808080u : 0;
}

bool vouch_matrix_shape(vouch_matrix *matrix, vouch_type type, int64_t n_out, int64_t n_in)
{
    const vouch_type_info *info = vouch_type_get_info(type);
    const int64_t n_blocks = n_in / info->block_length;
    const bool quantized = vouch_type_is_quantized(type);
    const int64_t units = quantized ? (n_blocks + 1) / 2 : n_in; /* pairs, or inputs */
    const int64_t unit_bytes = quantized ? vouch_pair_of(type).bytes : info->block_bytes * VOUCH_TILE;
    size_t tile, all;
    *matrix = (vouch_matrix){.type = type, .n_out = n_out, .n_in = n_in};
    matrix->n_tiles = n_out / VOUCH_TILE + (n_out % VOUCH_TILE != 0);
    if (__builtin_mul_overflow((size_t)units, (size_t)unit_bytes, &tile) ||
        __builtin_add_overflow(tile, 63, &tile) ||
        __builtin_mul_overflow(tile / 64 * 64, (size_t)matrix->n_tiles, &all))
        return false;
    matrix->tile_bytes = tile / 64 * 64;
    return true;
}

/* One row of blocks into lane `lane` of a tile. */
static void pack_blocks(unsigned char *tile, const unsigned char *row, int64_t n_blocks, int lane, vouch_type type)
{
    const vouch_pair pair = vouch_pair_of(type);
    const uint32_t flip = flip_of(type);
    for (int64_t b = 0; b < n_blocks; b++) {
        for (int i = 0; i < pair.scales; i++, row += 2)
            memcpy(tile + vouch_scales_at(pair, b, i) + lane * 2, row, 2);
        unsigned char *to = tile + vouch_quants_at(pair, b) + lane * 4;
        for (int g = 0; g < pair.quants / 64; g++, row += 4) {
            uint32_t four;
            memcpy(&four, row, 4);
            four ^= flip;
            memcpy(to + g * 64, &four, 4);
        }
    }
}

static void pack_floats(unsigned char *tile, const unsigned char *row, int64_t n, int lane, int size)
{
    for (int64_t k = 0; k < n; k++) memcpy(tile + (k * VOUCH_TILE + lane) * size, row + k * size, (size_t)size);
}

void vouch_matrix_pack(vouch_matrix *matrix, const void *rows, int64_t tile_begin, int64_t tile_end)
{
    const vouch_type_info *info = vouch_type_get_info(matrix->type);
    const int64_t n_blocks = matrix->n_in / info->block_length;
    const size_t row_bytes = (size_t)n_blocks * (size_t)info->block_bytes;
    for (int64_t t = tile_begin; t < tile_end; t++) {
        unsigned char *tile = matrix->data + (size_t)t * matrix->tile_bytes;
        const int64_t n = matrix->n_out - t * VOUCH_TILE;
        if (n < VOUCH_TILE || n_blocks % 2) memset(tile, 0, matrix->tile_bytes);
        for (int lane = 0; lane < VOUCH_TILE && lane < n; lane++) {
            const unsigned char *row = (const unsigned char *)rows + (size_t)(t * VOUCH_TILE + lane) * row_bytes;
            if (vouch_type_is_quantized(matrix->type)) pack_blocks(tile, row, n_blocks, lane, matrix->type);
            else pack_floats(tile, row, n_blocks, lane, info->block_bytes);
        }
    }
}

static float float_at(const unsigned char *values, int64_t i, vouch_type type)
{
    uint16_t half;
    float value;
    if (type == VOUCH_TYPE_F32) {
        memcpy(&value, values + i * 4, sizeof value);
        return value;
    }
    memcpy(&half, values + i * 2, sizeof half);
    return vouch_half_to_float(half);
}

/* Value k of a lane, per type. */
static float value_at(const vouch_matrix *w, const unsigned char *tile, int64_t lane, int64_t k)
{
    if (!vouch_type_is_quantized(w->type)) return float_at(tile, k * VOUCH_TILE + lane, w->type);
    const vouch_pair pair = vouch_pair_of(w->type);
    const int64_t b = k / VOUCH_BLOCK, i = k % VOUCH_BLOCK, per_nibble = pair.quants / 16;
    const int byte = tile[vouch_quants_at(pair, b) + i % per_nibble / 4 * 64 + lane * 4 + i % 4];
    const float d = float_at(tile + vouch_scales_at(pair, b, 0), lane, VOUCH_TYPE_F16);
    if (w->type == VOUCH_TYPE_Q8_0) return d * (float)(byte - 128);
    const int nibble = i < per_nibble ? byte & 15 : byte >> 4;
    if (w->type == VOUCH_TYPE_Q4_0) return d * (float)(nibble - 8);
    return d * (float)nibble + float_at(tile + vouch_scales_at(pair, b, 1), lane, VOUCH_TYPE_F16);
}

void vouch_matrix_get_row(const vouch_matrix *matrix, int64_t row, float *out)
{
    const unsigned char *tile = matrix->data + (size_t)(row / VOUCH_TILE) * matrix->tile_bytes;
    for (int64_t k = 0; k < matrix->n_in; k++) out[k] = value_at(matrix, tile, row % VOUCH_TILE, k);
}
