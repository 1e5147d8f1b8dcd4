/* SPDX-License-Identifier: MIT */
#include "kernels/quantize.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* x without its fraction. A number outside the range of int gives INT32_MIN, whose low bits are 0: so a block of
 * denormal values, whose inverse scale is infinite, has defined bytes. */
static inline int truncated(float x)
{
    return x > -2147483648.0f && x < 2147483648.0f ? (int)x : INT32_MIN;
}

static inline float inverse(float d)
{
    return d != 0 ? 1.0f / d : 0.0f;
}

/* Bit i of the 4 bytes is bit 4 of value i. */
static void store_fifth_bits(unsigned char *bits, const uint8_t *values)
{
    uint32_t word = 0;
    for (int i = 0; i < 32; i++) word |= (uint32_t)(values[i] >> 4 & 1) << i;
    memcpy(bits, &word, sizeof word);
}

static void quantize_q8_0(const float *x, unsigned char *block)
{
    const float d = fabsf(vouch_extreme(x, 32)) / 127, id = inverse(d);
    vouch_store_half(block, d);
    for (int i = 0; i < 32; i++) block[2 + i] = (unsigned char)truncated(roundf(x[i] * id));
}

/* Q4_0, Q5_0: the value of largest magnitude becomes -half exactly, half = 8 or 16. */
static void quantize_symmetric(const float *x, int half, unsigned char *d_at, uint8_t *values)
{
    const float d = vouch_extreme(x, 32) / (float)-half, id = inverse(d);
    vouch_store_half(d_at, d);
    for (int i = 0; i < 32; i++) {
        const int value = (int8_t)truncated(x[i] * id + ((float)half + 0.5f));
        values[i] = (uint8_t)(value < 2 * half - 1 ? value : 2 * half - 1);
    }
}

static void quantize_q4_0(const float *x, unsigned char *block)
{
    uint8_t values[32];
    quantize_symmetric(x, 8, block, values);
    vouch_store_nibbles(block + 2, values, 16);
}

static void quantize_q5_0(const float *x, unsigned char *block)
{
    uint8_t values[32];
    quantize_symmetric(x, 16, block, values);
    store_fifth_bits(block + 2, values);
    vouch_store_nibbles(block + 6, values, 16);
}

/* Q4_1, Q5_1: quant 0 stands for the smallest value, quant `most` (15 or 31) for the largest. */
static void quantize_affine(const float *x, int most, unsigned char *d_at, uint8_t *values)
{
    float low = FLT_MAX, high = -FLT_MAX;
    for (int i = 0; i < 32; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    const float d = (high - low) / (float)most, id = inverse(d);
    vouch_store_half(d_at, d);
    vouch_store_half(d_at + 2, low);
    for (int i = 0; i < 32; i++) {
        const int value = (int8_t)truncated((x[i] - low) * id + 0.5f);
        values[i] = (uint8_t)(value < most ? value : most);
    }
}

static void quantize_q4_1(const float *x, unsigned char *block)
{
    uint8_t values[32];
    quantize_affine(x, 15, block, values);
    vouch_store_nibbles(block + 4, values, 16);
}

static void quantize_q5_1(const float *x, unsigned char *block)
{
    uint8_t values[32];
    quantize_affine(x, 31, block, values);
    store_fifth_bits(block + 4, values);
    vouch_store_nibbles(block + 8, values, 16);
}

/* TQ1_0, TQ2_0: -1, 0 and 1 times the largest magnitude of 256 values, stored plus 1. */
static void quantize_ternary(const float *x, unsigned char *d_at, uint8_t *values)
{
    const float d = fabsf(vouch_extreme(x, 256)), id = inverse(d);
    vouch_store_half(d_at, d);
    for (int i = 0; i < 256; i++) values[i] = (uint8_t)((truncated(roundf(x[i] * id)) + 1) & 3);
}

/* Each byte holds a number of 5 digits to base 3 as the fraction number / 243, rounded up to 8 bits. The digits are
 * values that lie n apart; missing digits are 0. */
static void store_digits(unsigned char *q, const uint8_t *values, int n, int digits)
{
    for (int i = 0; i < n; i++) {
        int number = 0;
        for (int d = 0; d < 5; d++) number = number * 3 + (d < digits ? values[d * n + i] : 0);
        q[i] = (unsigned char)((number * 256 + 242) / 243);
    }
}

static void quantize_tq1_0(const float *x, unsigned char *block)
{
    uint8_t values[256];
    quantize_ternary(x, block + 52, values);
    store_digits(block, values, 32, 5);
    store_digits(block + 32, values + 160, 16, 5);
    store_digits(block + 48, values + 240, 4, 4);
}

static void quantize_tq2_0(const float *x, unsigned char *block)
{
    uint8_t values[256];
    quantize_ternary(x, block + 64, values);
    vouch_store_crumbs(block, values);
}

static void quantize_f32(const float *x, unsigned char *block)
{
    memcpy(block, x, sizeof *x);
}

static void quantize_f16(const float *x, unsigned char *block)
{
    vouch_store_half(block, *x);
}

/* Rounds to the nearest BF16, of two equally near ones to the even one. */
static void quantize_bf16(const float *x, unsigned char *block)
{
    uint32_t bits;
    memcpy(&bits, x, sizeof bits);
    const uint16_t upper = (uint16_t)((bits + (0x7fff + (bits >> 16 & 1))) >> 16);
    memcpy(block, &upper, sizeof upper);
}

static vouch_quantizer *const quantizers[VOUCH_TYPE_COUNT] = {
    [VOUCH_TYPE_F32] = quantize_f32,
    [VOUCH_TYPE_F16] = quantize_f16,
    [VOUCH_TYPE_BF16] = quantize_bf16,
    [VOUCH_TYPE_Q8_0] = quantize_q8_0,
    [VOUCH_TYPE_Q4_0] = quantize_q4_0,
    [VOUCH_TYPE_Q4_1] = quantize_q4_1,
    [VOUCH_TYPE_Q5_0] = quantize_q5_0,
    [VOUCH_TYPE_Q5_1] = quantize_q5_1,
    [VOUCH_TYPE_Q2_K] = vouch_quantize_q2_k,
    [VOUCH_TYPE_Q3_K] = vouch_quantize_q3_k,
    [VOUCH_TYPE_Q4_K] = vouch_quantize_q4_k,
    [VOUCH_TYPE_Q5_K] = vouch_quantize_q5_k,
    [VOUCH_TYPE_Q6_K] = vouch_quantize_q6_k,
    [VOUCH_TYPE_IQ4_NL] = vouch_quantize_iq4_nl,
    [VOUCH_TYPE_IQ4_XS] = vouch_quantize_iq4_xs,
    [VOUCH_TYPE_TQ1_0] = quantize_tq1_0,
    [VOUCH_TYPE_TQ2_0] = quantize_tq2_0,
    [VOUCH_TYPE_MXFP4] = vouch_quantize_mxfp4,
};

bool vouch_type_can_quantize(vouch_type type)
{
    return quantizers[type] != NULL;
}

float vouch_quantize_max(vouch_type type)
{
    return type == VOUCH_TYPE_F32 ? FLT_MAX : type == VOUCH_TYPE_BF16 ? 0x1.fep127f : 65504.0f;
}

void vouch_quantize_values(vouch_type type, const float *x, int64_t n, void *blocks)
{
    const vouch_type_info *info = vouch_type_get_info(type);
    unsigned char *block = blocks;
    assert(n % info->block_length == 0);
    for (int64_t i = 0; i < n; i += info->block_length, block += info->block_bytes) quantizers[type](x + i, block);
}

/* ----------------------------------------------------------- dequantisation */

/* Packs up to a tile of blocks as rows, and reads the rows. */
static void dequantize_tile(vouch_type type, const void *blocks, int64_t n_rows, int64_t length, float *x)
{
    enum { MOST_BYTES = 16 * 1024 };
    _Alignas(64) unsigned char tile[MOST_BYTES];
    vouch_matrix rows;
    const bool fits = vouch_matrix_shape(&rows, type, n_rows, length) && rows.tile_bytes <= sizeof tile;
    assert(fits);
    (void)fits;
    rows.data = tile;
    vouch_matrix_pack(&rows, blocks, 0, 1);
    for (int64_t i = 0; i < n_rows; i++) vouch_matrix_get_row(&rows, i, x + i * length);
}

void vouch_dequantize_values(vouch_type type, const void *blocks, int64_t n, float *x)
{
    enum { NUMBERS = 256 };
    const vouch_type_info *info = vouch_type_get_info(type);
    const unsigned char *from = blocks;
    while (n > 0) {
        const int64_t length = info->block_length > 1 ? info->block_length : n < NUMBERS ? n : NUMBERS;
        const int64_t n_rows = n / length < VOUCH_TILE ? n / length : VOUCH_TILE;
        dequantize_tile(type, from, n_rows, length, x);
        from += n_rows * length / info->block_length * info->block_bytes;
        x += n_rows * length;
        n -= n_rows * length;
    }
}
