/* SPDX-License-Identifier: MIT */
/*
 * Packs the rows of a file into tiles (forms.h), unpacks tiles to values, and copies rows from tile to tile.
 */
#include <string.h>

#include "kernels/codebook.h"
#include "kernels/kernels.h"
#include "kernels/read_block.h"

/* ------------------------------------------------------------- into a tile */

static inline uint32_t load_32(const void *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline void store_32(void *p, uint32_t value)
{
    memcpy(p, &value, sizeof value);
}

/* A word with `mask` in all 4 bytes. */
static inline uint32_t four(uint32_t mask)
{
    return mask * 0x01010101;
}

/* Writes the 2-bit fields of 8 groups into two vectors. */
static inline void write_crumbs(unsigned char *lane, const uint8_t *values, int shift)
{
    for (int h = 0; h < 2; h++) {
        uint32_t word = 0;
        for (int i = 0; i < 4; i++) word |= (load_32(values + 16 * h + 4 * i) >> shift & four(3)) << 2 * i;
        store_32(lane + h * 64, word);
    }
}

/* Writes 32 values into one lane of a block's planes. */
static inline void write_block(vouch_form form, unsigned char *lane, const uint8_t *values)
{
    if (form.low == 8)
        for (int g = 0; g < 8; g++) memcpy(lane + g * 64, values + 4 * g, 4);
    if (form.low == 4) {
        uint8_t nibbles[16];
        for (int i = 0; i < 16; i++) nibbles[i] = (uint8_t)((values[i] & 15) | values[16 + i] << 4);
        for (int g = 0; g < 4; g++) memcpy(lane + g * 64, nibbles + 4 * g, 4);
    }
    if (form.low == 2) write_crumbs(lane, values, 0);
    lane += 64 * form.low;
    if (form.high == 2) write_crumbs(lane, values, form.low);
    if (form.high == 1) {
        uint32_t word = 0;
        for (int g = 0; g < 8; g++) word |= (load_32(values + 4 * g) >> form.low & four(1)) << g;
        store_32(lane, word);
    }
}

/* Writes the scales and minima of a file block, which holds n blocks of 32 values. The first is block b of the unit. */
static inline void write_scales(vouch_form form, unsigned char *unit, int32_t b, int32_t n, int lane,
                                const vouch_file_block *from)
{
    if (form.scales == VOUCH_SCALES_HALF) {
        memcpy(unit + vouch_form_scales_at(form, b, 0, 0) + lane * 2, &from->d, 2);
        if (form.minimum) memcpy(unit + vouch_form_scales_at(form, b, 0, 1) + lane * 2, &from->minimum, 2);
        return;
    }
    if (vouch_form_half_bytes(form)) memcpy(unit + lane * 2, &from->d, 2);
    if (form.minimum) memcpy(unit + 32 + lane * 2, &from->minimum, 2);
    if (form.scales == VOUCH_SCALES_UNIT) return;
    for (int32_t i = 0; i < n * vouch_form_runs(form); i++) {
        unit[vouch_form_scales_at(form, b, 0, 0) + i * 16 + lane] = from->scales[i];
        if (form.minimum && form.scales == VOUCH_SCALES_BYTE)
            unit[vouch_form_scales_at(form, b, 0, 1) + i * 16 + lane] = from->minima[i];
    }
}

/* Packs one row of the file into lane `lane` of a tile. `block` is scratch. */
static inline void pack_row(vouch_form form, vouch_block_reader *read, vouch_file_block *block,
                            const vouch_type_info *info, unsigned char *tile, const unsigned char *row, int64_t n_in,
                            int lane)
{
    const int32_t in_unit = vouch_form_blocks(form), head = vouch_form_head_bytes(form);
    const int32_t unit_bytes = vouch_form_unit_bytes(form), block_bytes = vouch_form_block_bytes(form);
    const int32_t n_blocks = info->block_length / VOUCH_BLOCK;
    const unsigned char *const end = row + n_in / info->block_length * info->block_bytes;
    for (unsigned char *unit = tile; row < end; unit += unit_bytes)
        for (int32_t b = 0; b < in_unit && row < end; b += n_blocks, row += info->block_bytes) {
            read(row, block);
            write_scales(form, unit, b, n_blocks, lane, block);
            for (int32_t i = 0; i < n_blocks; i++)
                write_block(form, unit + head + (b + i) * block_bytes + lane * 4, block->values + i * VOUCH_BLOCK);
        }
}

/* Numbers of 2 and 4 bytes at any address. */
typedef uint16_t loose_16 __attribute__((aligned(1), may_alias));
typedef uint32_t loose_32 __attribute__((aligned(1), may_alias));

/* Packs `lanes` rows of n numbers into the first lanes of a tile, input by input: writing in ascending order loads F16
 * files three times as fast as writing lane by lane. The compiler makes vectors of the loop over whole tiles, which is
 * twice as fast again. */
#define PACK_NUMBERS(number)                                                                                      \
    static void pack_##number(number *restrict tile, const number *restrict rows, int64_t n, int lanes)           \
    {                                                                                                             \
        for (int64_t k = 0; lanes == VOUCH_TILE && k < n; k++)                                                    \
            for (int lane = 0; lane < VOUCH_TILE; lane++) tile[k * VOUCH_TILE + lane] = rows[lane * n + k];        \
        for (int64_t k = 0; lanes < VOUCH_TILE && k < n; k++)                                                     \
            for (int lane = 0; lane < lanes; lane++) tile[k * VOUCH_TILE + lane] = rows[lane * n + k];             \
    }
PACK_NUMBERS(loose_16)
PACK_NUMBERS(loose_32)

void vouch_matrix_pack(vouch_matrix *matrix, const void *rows, int64_t tile_begin, int64_t tile_end)
{
    const vouch_type_info *info = vouch_type_get_info(matrix->type);
    const vouch_form form = vouch_forms[matrix->type];
    vouch_block_reader *read = vouch_block_readers[matrix->type];
    uint16_t points[VOUCH_CODEBOOK_POINTS];
    vouch_file_block block;
    const int64_t n_blocks = matrix->n_in / info->block_length;
    const size_t row_bytes = (size_t)n_blocks * (size_t)info->block_bytes;
    const bool has_rest = form.low && matrix->n_in / VOUCH_BLOCK % vouch_form_blocks(form) != 0;
    vouch_codebook_expand(matrix->type, points);
    block.points = points;
    for (int64_t t = tile_begin; t < tile_end; t++) {
        unsigned char *tile = matrix->data + (size_t)t * matrix->tile_bytes;
        const unsigned char *row = (const unsigned char *)rows + (size_t)t * VOUCH_TILE * row_bytes;
        const int64_t left = matrix->n_out - t * VOUCH_TILE;
        const int n = left < VOUCH_TILE ? (int)left : VOUCH_TILE;
        if (n < VOUCH_TILE || has_rest) memset(tile, 0, matrix->tile_bytes); /* unused lanes, unused blocks */
        if (!form.low && info->block_bytes == 2) pack_loose_16((loose_16 *)tile, (const loose_16 *)row, n_blocks, n);
        else if (!form.low) pack_loose_32((loose_32 *)tile, (const loose_32 *)row, n_blocks, n);
        else
            for (int lane = 0; lane < n; lane++, row += row_bytes)
                pack_row(form, read, &block, info, tile, row, matrix->n_in, lane);
    }
}

bool vouch_matrix_shape(vouch_matrix *matrix, vouch_type type, int64_t n_out, int64_t n_in)
{
    const vouch_form form = vouch_forms[type];
    const int64_t in_unit = form.low ? vouch_form_blocks(form) : 1;
    const int64_t units = ((form.low ? n_in / VOUCH_BLOCK : n_in) + in_unit - 1) / in_unit;
    const int64_t unit_bytes =
        form.low ? vouch_form_unit_bytes(form) : vouch_type_get_info(type)->block_bytes * VOUCH_TILE;
    size_t tile, all;
    *matrix = (vouch_matrix){.type = type, .n_out = n_out, .n_in = n_in};
    matrix->n_tiles = n_out / VOUCH_TILE + (n_out % VOUCH_TILE != 0);
    if (__builtin_mul_overflow((size_t)units, (size_t)unit_bytes, &tile) || __builtin_add_overflow(tile, 63, &tile) ||
        __builtin_mul_overflow(tile / 64 * 64, (size_t)matrix->n_tiles, &all))
        return false;
    matrix->tile_bytes = tile / 64 * 64;
    return true;
}

/* ----------------------------------------------------------- out of a tile */

static inline void read_planes(vouch_form form, const unsigned char *lane, uint8_t *values)
{
    const unsigned char *high = lane + 64 * form.low;
    for (int g = 0; g < 8; g++) {
        uint32_t word = form.low == 8   ? load_32(lane + g * 64)
                        : form.low == 4 ? load_32(lane + g % 4 * 64) >> g / 4 * 4 & four(15)
                                        : load_32(lane + g / 4 * 64) >> g % 4 * 2 & four(3);
        if (form.high == 1) word |= (load_32(high) >> g & four(1)) << form.low;
        if (form.high == 2) word |= (load_32(high + g / 4 * 64) >> g % 4 * 2 & four(3)) << form.low;
        store_32(values + 4 * g, word);
    }
}

static float half_at(const unsigned char *p)
{
    return vouch_half_to_float(vouch_load_16(p));
}

static inline void read_lane(vouch_form form, const unsigned char *unit, int32_t b, int lane, vouch_lane_block *out)
{
    const int32_t offset = vouch_form_offset(form);
    uint8_t numbers[32];
    read_planes(form, unit + vouch_form_head_bytes(form) + b * vouch_form_block_bytes(form) + lane * 4, numbers);
    for (int i = 0; i < 32; i++)
        out->values[i] = (int8_t)((form.table ? vouch_tables[form.table][numbers[i]] : numbers[i]) - offset);
    const float d = vouch_form_half_bytes(form) ? half_at(unit + lane * 2) * form.step : 0;
    for (int r = 0; r < vouch_form_runs(form); r++) {
        const unsigned char *scale = unit + vouch_form_scales_at(form, b, r, 0) + lane;
        const unsigned char *minimum = unit + vouch_form_scales_at(form, b, r, 1) + lane;
        const float dmin = form.minimum && form.scales != VOUCH_SCALES_HALF ? half_at(unit + 32 + lane * 2) : 0;
        out->minimum[r] = 0;
        switch (form.scales) {
        case VOUCH_SCALES_HALF:
            out->scale[r] = half_at(scale + lane);
            if (form.minimum) out->minimum[r] = half_at(minimum + lane);
            break;
        case VOUCH_SCALES_POWER: out->scale[r] = vouch_e8m0_half(*scale ^ 0x80); break;
        case VOUCH_SCALES_E5M3: out->scale[r] = vouch_bfloat_to_float((uint16_t)(*scale << 4)) * 0x1p116f; break;
        case VOUCH_SCALES_UNIT: out->scale[r] = d; break;
        case VOUCH_SCALES_BYTE:
            out->scale[r] = d * (float)(int8_t)*scale;
            if (form.minimum) out->minimum[r] = -dmin * (float)*minimum;
            break;
        case VOUCH_SCALES_NIBBLE:
            out->scale[r] = d * (float)(*scale & 15);
            if (form.minimum) out->minimum[r] = -dmin * (float)(*scale >> 4);
            break;
        }
    }
}

void vouch_form_read(vouch_form form, const unsigned char *unit, int32_t b, int lane, vouch_lane_block *out)
{
    read_lane(form, unit, b, lane, out);
}

static void get_quantized(vouch_form form, const unsigned char *tile, int lane, int64_t n_in, float *out)
{
    const int32_t in_unit = vouch_form_blocks(form), per_run = VOUCH_BLOCK / vouch_form_runs(form);
    for (int64_t b = 0; b < n_in / VOUCH_BLOCK; b++, out += VOUCH_BLOCK) {
        vouch_lane_block block;
        read_lane(form, tile + b / in_unit * vouch_form_unit_bytes(form), (int32_t)(b % in_unit), lane, &block);
        for (int i = 0; i < VOUCH_BLOCK; i++) out[i] = block.scale[i / per_run] * (float)block.values[i];
        if (form.minimum)
            for (int i = 0; i < VOUCH_BLOCK; i++) out[i] += block.minimum[i / per_run];
    }
}

static void get_floats(vouch_type type, const unsigned char *tile, int64_t lane, int64_t n, float *out)
{
    for (int64_t i = lane; i < n * VOUCH_TILE; i += VOUCH_TILE, out++) {
        if (type == VOUCH_TYPE_F32) memcpy(out, tile + i * 4, sizeof *out);
        else *out = type == VOUCH_TYPE_F16 ? half_at(tile + i * 2) : vouch_bfloat_to_float(vouch_load_16(tile + i * 2));
    }
}

void vouch_matrix_get_row(const vouch_matrix *matrix, int64_t row, float *out)
{
    const unsigned char *tile = matrix->data + (size_t)(row / VOUCH_TILE) * matrix->tile_bytes;
    const int lane = (int)(row % VOUCH_TILE);
    const vouch_form form = vouch_forms[matrix->type];
    if (form.low) get_quantized(form, tile, lane, matrix->n_in, out);
    else get_floats(matrix->type, tile, lane, matrix->n_in, out);
}

/* ------------------------------------------------------- from tile to tile */

/* Copies one lane of a unit. A unit consists of vectors of 16 lanes: f16 numbers, then scales of 1 byte, then planes of
 * 4 bytes per lane. */
static void copy_unit(vouch_form form, unsigned char *to, int to_lane, const unsigned char *from, int from_lane)
{
    const int32_t halves = vouch_form_half_bytes(form), head = vouch_form_head_bytes(form);
    for (int32_t at = 0; at < halves; at += 32) memcpy(to + at + to_lane * 2, from + at + from_lane * 2, 2);
    for (int32_t at = halves; at < head; at += 16) to[at + to_lane] = from[at + from_lane];
    for (int32_t at = head; at < vouch_form_unit_bytes(form); at += 64)
        memcpy(to + at + to_lane * 4, from + at + from_lane * 4, 4);
}

static void copy_lane(const vouch_matrix *m, unsigned char *to, int to_lane, const unsigned char *from, int from_lane)
{
    const vouch_form form = vouch_forms[m->type];
    const int size = vouch_type_get_info(m->type)->block_bytes;
    if (!form.low) {
        for (int64_t k = 0; k < m->n_in; k++)
            memcpy(to + (k * VOUCH_TILE + to_lane) * size, from + (k * VOUCH_TILE + from_lane) * size, (size_t)size);
        return;
    }
    for (int64_t b = 0; b < m->n_in / VOUCH_BLOCK; b += vouch_form_blocks(form)) {
        copy_unit(form, to, to_lane, from, from_lane);
        to += vouch_form_unit_bytes(form);
        from += vouch_form_unit_bytes(form);
    }
}

void vouch_matrix_pick(vouch_matrix *matrix, const vouch_matrix *from, const int32_t *rows)
{
    matrix->readings = from->readings;
    memset(matrix->data, 0, (size_t)matrix->n_tiles * matrix->tile_bytes);
    for (int64_t i = 0; i < matrix->n_out; i++)
        copy_lane(matrix, matrix->data + (size_t)(i / VOUCH_TILE) * matrix->tile_bytes, (int)(i % VOUCH_TILE),
                  from->data + (size_t)(rows[i] / VOUCH_TILE) * from->tile_bytes, rows[i] % VOUCH_TILE);
}
