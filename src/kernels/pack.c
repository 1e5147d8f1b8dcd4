/* SPDX-License-Identifier: MIT */
/*
 * Packs the rows of a file into tiles (forms.h), and unpacks tiles to values. Each type has a reader, which unpacks one
 * block of a GGUF file. "Crumb": a field of 2 bits; "bit": one bit of h.
 *
 *   Q8_0    f16 d | s8 q[32]                               value d q
 *   Q4_0    f16 d | u8 q[16]                               value d (nibble - 8)
 *   IQ4_NL  f16 d | u8 q[16]                               value d iq4[nibble]
 *   Q4_1    f16 d | f16 m | u8 q[16]                       value d nibble + m
 *   Q5_0    f16 d | u32 h | u8 q[16]                       value d (nibble + 16 bit - 16)
 *   Q5_1    f16 d | f16 m | u32 h | u8 q[16]               value d (nibble + 16 bit) + m
 *   Q2_K    u8 sm[16] | u8 q[64] | f16 d | f16 dmin        value d s crumb - dmin m
 *   Q3_K    u8 h[32] | u8 q[64] | u8 s[12] | f16 d         value d (s - 32) (crumb + 4 bit - 4)
 *   Q4_K    f16 d | f16 dmin | u8 sm[12] | u8 q[128]       value d s nibble - dmin m
 *   Q5_K    f16 d | f16 dmin | u8 sm[12] | u8 h[32] | u8 q[128]      d s (nibble + 16 bit) - dmin m
 *   Q6_K    u8 q[128] | u8 h[64] | s8 s[16] | f16 d        value d s (nibble + 16 crumb - 32)
 *   IQ4_XS  f16 d | u16 sh | u8 sl[4] | u8 q[128]          value d (s - 32) iq4[nibble]
 *
 * In 16 bytes of nibbles, the low nibbles are values 0 to 15 and the high nibbles are values 16 to 31. The readers show
 * the order of the other fields.
 */
#include <string.h>

#include "kernels/kernels.h"

/* ------------------------------------------------------------- from a file */

enum { MOST_VALUES = 256 };

/* An unpacked block of a file. */
typedef struct file_block {
    uint8_t values[MOST_VALUES];    /* weights, offset not subtracted */
    uint16_t d, minimum;            /* f16 */
    uint8_t scales[16], minima[16]; /* small integers of two-level types */
} file_block;

typedef void reader(const unsigned char *from, file_block *to);

static uint16_t load_16(const unsigned char *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline void read_nibbles(uint8_t *values, const unsigned char *q, int apart)
{
    for (int i = 0; i < apart; i++) {
        values[i] = q[i] & 15;
        values[apart + i] = q[i] >> 4;
    }
}

/* Bit i of the 4 bytes is bit 4 of value i. */
static inline void read_fifth_bits(uint8_t *values, const unsigned char *bits)
{
    for (int i = 0; i < 32; i++) values[i] |= (uint8_t)((bits[i / 8] >> i % 8 & 1) << 4);
}

static void read_q8_0(const unsigned char *from, file_block *to)
{
    to->d = load_16(from);
    for (int i = 0; i < 32; i++) to->values[i] = from[2 + i] ^ 0x80;
}

static void read_q4_0(const unsigned char *from, file_block *to)
{
    to->d = load_16(from);
    read_nibbles(to->values, from + 2, 16);
}

static void read_q4_1(const unsigned char *from, file_block *to)
{
    to->d = load_16(from);
    to->minimum = load_16(from + 2);
    read_nibbles(to->values, from + 4, 16);
}

static void read_q5_0(const unsigned char *from, file_block *to)
{
    to->d = load_16(from);
    read_nibbles(to->values, from + 6, 16);
    read_fifth_bits(to->values, from + 2);
}

static void read_q5_1(const unsigned char *from, file_block *to)
{
    to->d = load_16(from);
    to->minimum = load_16(from + 2);
    read_nibbles(to->values, from + 8, 16);
    read_fifth_bits(to->values, from + 4);
}

/* The 4 crumbs of a byte belong to values 32 apart. */
static inline void read_crumbs(uint8_t *values, const unsigned char *q)
{
    for (int half = 0; half < 2; half++)
        for (int s = 0; s < 4; s++)
            for (int i = 0; i < 32; i++) values[128 * half + 32 * s + i] = q[32 * half + i] >> 2 * s & 3;
}

static void read_q2_k(const unsigned char *from, file_block *to)
{
    memcpy(to->scales, from, 16);
    read_crumbs(to->values, from + 16);
    to->d = load_16(from + 80);
    to->minimum = load_16(from + 82);
}

static void read_q3_k(const unsigned char *from, file_block *to)
{
    const unsigned char *scales = from + 96;
    read_crumbs(to->values, from + 32);
    for (int s = 0; s < 8; s++)
        for (int i = 0; i < 32; i++) to->values[32 * s + i] |= (uint8_t)((from[i] >> s & 1) << 2);
    for (int i = 0; i < 16; i++) {
        const int low = scales[i % 8] >> i / 8 * 4 & 15, high = scales[8 + i % 4] >> i / 4 * 2 & 3;
        to->scales[i] = (uint8_t)((low | high << 4) - 32);
    }
    to->d = load_16(from + 108);
}

/* 12 bytes hold 8 scales and 8 minima of 6 bits. The first 4 of each are the low 6 bits of s[0..7]. The others combine
 * a nibble of s[8..11] with the high 2 bits of s[0..7]. */
static void read_k_scales(const unsigned char *s, file_block *to)
{
    for (int i = 0; i < 4; i++) {
        to->scales[i] = s[i] & 63;
        to->minima[i] = s[4 + i] & 63;
        to->scales[4 + i] = (uint8_t)((s[8 + i] & 15) | s[i] >> 6 << 4);
        to->minima[4 + i] = (uint8_t)(s[8 + i] >> 4 | s[4 + i] >> 6 << 4);
    }
}

static void read_q4_k(const unsigned char *from, file_block *to)
{
    to->d = load_16(from);
    to->minimum = load_16(from + 2);
    read_k_scales(from + 4, to);
    for (int i = 0; i < 4; i++) read_nibbles(to->values + 64 * i, from + 16 + 32 * i, 32);
}

static void read_q5_k(const unsigned char *from, file_block *to)
{
    to->d = load_16(from);
    to->minimum = load_16(from + 2);
    read_k_scales(from + 4, to);
    for (int i = 0; i < 4; i++) read_nibbles(to->values + 64 * i, from + 48 + 32 * i, 32);
    for (int s = 0; s < 8; s++)
        for (int i = 0; i < 32; i++) to->values[32 * s + i] |= (uint8_t)((from[16 + i] >> s & 1) << 4);
}

static void read_q6_k(const unsigned char *from, file_block *to)
{
    for (int half = 0; half < 2; half++) {
        uint8_t *values = to->values + 128 * half;
        read_nibbles(values, from + 64 * half, 64);
        for (int s = 0; s < 4; s++)
            for (int i = 0; i < 32; i++)
                values[32 * s + i] |= (uint8_t)((from[128 + 32 * half + i] >> 2 * s & 3) << 4);
    }
    memcpy(to->scales, from + 192, 16);
    to->d = load_16(from + 208);
}

static void read_iq4_xs(const unsigned char *from, file_block *to)
{
    const uint16_t high = load_16(from + 2);
    to->d = load_16(from);
    for (int i = 0; i < 8; i++) {
        to->scales[i] = (uint8_t)(((from[4 + i / 2] >> i % 2 * 4 & 15) | (high >> 2 * i & 3) << 4) - 32);
        read_nibbles(to->values + 32 * i, from + 8 + 16 * i, 16);
    }
}

static reader *const readers[VOUCH_TYPE_COUNT] = {
    [VOUCH_TYPE_Q8_0] = read_q8_0,   [VOUCH_TYPE_Q4_0] = read_q4_0, [VOUCH_TYPE_Q4_1] = read_q4_1,
    [VOUCH_TYPE_Q5_0] = read_q5_0,   [VOUCH_TYPE_Q5_1] = read_q5_1, [VOUCH_TYPE_Q2_K] = read_q2_k,
    [VOUCH_TYPE_Q3_K] = read_q3_k,   [VOUCH_TYPE_Q4_K] = read_q4_k, [VOUCH_TYPE_Q5_K] = read_q5_k,
    [VOUCH_TYPE_Q6_K] = read_q6_k,   [VOUCH_TYPE_IQ4_NL] = read_q4_0, [VOUCH_TYPE_IQ4_XS] = read_iq4_xs,
};

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
    if (form.low == 4)
        for (int g = 0; g < 4; g++)
            store_32(lane + g * 64,
                     (load_32(values + 4 * g) & four(15)) | (load_32(values + 4 * g + 16) & four(15)) << 4);
    if (form.low == 2) write_crumbs(lane, values, 0);
    lane += 64 * form.low;
    if (form.high == 2) write_crumbs(lane, values, form.low);
    if (form.high == 1) {
        uint32_t word = 0;
        for (int g = 0; g < 8; g++) word |= (load_32(values + 4 * g) >> form.low & four(1)) << g;
        store_32(lane, word);
    }
}

/* Writes the scales and minima of a file block. The first 32 values of the file block are block b of the unit. */
static inline void write_scales(vouch_form form, unsigned char *unit, int32_t b, int lane, const file_block *from)
{
    if (form.scales == VOUCH_SCALES_HALF) {
        memcpy(unit + vouch_form_scales_at(form, b, 0, 0) + lane * 2, &from->d, 2);
        if (form.minimum) memcpy(unit + vouch_form_scales_at(form, b, 0, 1) + lane * 2, &from->minimum, 2);
        return;
    }
    memcpy(unit + lane * 2, &from->d, 2);
    if (form.minimum) memcpy(unit + 32 + lane * 2, &from->minimum, 2);
    for (int32_t i = 0; i < 8 * vouch_form_runs(form); i++) {
        unit[vouch_form_scales_at(form, 0, 0, 0) + i * 16 + lane] = from->scales[i];
        if (form.minimum && form.scales == VOUCH_SCALES_BYTE)
            unit[vouch_form_scales_at(form, 0, 0, 1) + i * 16 + lane] = from->minima[i];
    }
}

/* Packs one row of the file into lane `lane` of a tile. */
static inline void pack_row(vouch_form form, reader *read, const vouch_type_info *info, unsigned char *tile,
                            const unsigned char *row, int64_t n_in, int lane)
{
    const int32_t in_unit = vouch_form_blocks(form), head = vouch_form_head_bytes(form);
    file_block block;
    for (int64_t k = 0; k < n_in; k += info->block_length, row += info->block_bytes) {
        const int32_t b = (int32_t)(k / VOUCH_BLOCK % in_unit);
        unsigned char *unit = tile + k / VOUCH_BLOCK / in_unit * vouch_form_unit_bytes(form);
        read(row, &block);
        write_scales(form, unit, b, lane, &block);
        for (int32_t i = 0; i < info->block_length / VOUCH_BLOCK; i++)
            write_block(form, unit + head + (b + i) * vouch_form_block_bytes(form) + lane * 4,
                        block.values + i * VOUCH_BLOCK);
    }
}

/* Packs `lanes` rows of n numbers into the first lanes of a tile, input by input: writing in ascending order loads F16
 * files three times as fast as writing lane by lane. */
static inline void pack_numbers(unsigned char *tile, const unsigned char *rows, int64_t n, int lanes, const int size)
{
    for (int64_t k = 0; k < n; k++)
        for (int lane = 0; lane < lanes; lane++)
            memcpy(tile + (k * VOUCH_TILE + lane) * size, rows + (lane * n + k) * size, (size_t)size);
}

static void pack_floats(unsigned char *tile, const unsigned char *rows, int64_t n, int lanes, int size)
{
    if (size == 2) pack_numbers(tile, rows, n, lanes, 2);
    else pack_numbers(tile, rows, n, lanes, 4);
}

void vouch_matrix_pack(vouch_matrix *matrix, const void *rows, int64_t tile_begin, int64_t tile_end)
{
    const vouch_type_info *info = vouch_type_get_info(matrix->type);
    const vouch_form form = vouch_forms[matrix->type];
    const int64_t n_blocks = matrix->n_in / info->block_length;
    const size_t row_bytes = (size_t)n_blocks * (size_t)info->block_bytes;
    for (int64_t t = tile_begin; t < tile_end; t++) {
        unsigned char *tile = matrix->data + (size_t)t * matrix->tile_bytes;
        const unsigned char *row = (const unsigned char *)rows + (size_t)t * VOUCH_TILE * row_bytes;
        const int64_t left = matrix->n_out - t * VOUCH_TILE;
        const int n = left < VOUCH_TILE ? (int)left : VOUCH_TILE;
        if (n < VOUCH_TILE || n_blocks % 2) memset(tile, 0, matrix->tile_bytes);
        if (!form.low) pack_floats(tile, row, n_blocks, n, info->block_bytes);
        else
            for (int lane = 0; lane < n; lane++, row += row_bytes)
                pack_row(form, readers[matrix->type], info, tile, row, matrix->n_in, lane);
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
    if (__builtin_mul_overflow((size_t)units, (size_t)unit_bytes, &tile) ||
        __builtin_add_overflow(tile, 63, &tile) ||
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
    return vouch_half_to_float(load_16(p));
}

static inline void read_lane(vouch_form form, const unsigned char *unit, int32_t b, int lane, vouch_lane_block *out)
{
    static const int8_t iq4[16] = {VOUCH_IQ4_VALUES};
    const int32_t offset = vouch_form_offset(form);
    uint8_t values[32];
    read_planes(form, unit + vouch_form_head_bytes(form) + b * vouch_form_block_bytes(form) + lane * 4, values);
    for (int i = 0; i < 32; i++) out->values[i] = form.table ? iq4[values[i]] : (int8_t)(values[i] - offset);
    for (int r = 0; r < vouch_form_runs(form); r++) {
        const unsigned char *scale = unit + vouch_form_scales_at(form, b, r, 0) + lane;
        const unsigned char *minimum = unit + vouch_form_scales_at(form, b, r, 1) + lane;
        if (form.scales == VOUCH_SCALES_HALF) {
            out->scale[r] = half_at(scale + lane);
            out->minimum[r] = form.minimum ? half_at(minimum + lane) : 0.0f;
            continue;
        }
        const bool nibble = form.scales == VOUCH_SCALES_NIBBLE;
        out->scale[r] = half_at(unit + lane * 2) * (float)(nibble ? *scale & 15 : (int8_t)*scale);
        out->minimum[r] = 0;
        if (form.minimum) out->minimum[r] = -half_at(unit + 32 + lane * 2) * (float)(nibble ? *scale >> 4 : *minimum);
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
        else *out = type == VOUCH_TYPE_F16 ? half_at(tile + i * 2) : vouch_bfloat_to_float(load_16(tile + i * 2));
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

/* Copies one lane of a unit. A unit consists of vectors of 16 lanes: f16 numbers, then small scales of 1 byte, then
 * planes of 4 bytes per lane. */
static void copy_unit(vouch_form form, unsigned char *to, int to_lane, const unsigned char *from, int from_lane)
{
    const int32_t halves = (form.scales == VOUCH_SCALES_HALF ? 2 : 1) * (1 + form.minimum);
    const int32_t head = vouch_form_head_bytes(form);
    for (int32_t at = 0; at < 32 * halves; at += 32) memcpy(to + at + to_lane * 2, from + at + from_lane * 2, 2);
    for (int32_t at = 32 * halves; at < head; at += 16) to[at + to_lane] = from[at + from_lane];
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
    memset(matrix->data, 0, (size_t)matrix->n_tiles * matrix->tile_bytes);
    for (int64_t i = 0; i < matrix->n_out; i++)
        copy_lane(matrix, matrix->data + (size_t)(i / VOUCH_TILE) * matrix->tile_bytes, (int)(i % VOUCH_TILE),
                  from->data + (size_t)(rows[i] / VOUCH_TILE) * from->tile_bytes, rows[i] % VOUCH_TILE);
}
