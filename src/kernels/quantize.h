/* SPDX-License-Identifier: MIT */
/*
 * Quantisation of weights to the blocks of a file: the inverse of the readers in read_block.c, which has the layouts.
 * Each block depends on its own values alone. The formulas and the order of their float operations are those of ggml's
 * reference quantisers (ggml-quants.c, quantize_row_*_ref), so both programs write the same bytes.
 *
 *   quantize.c         the table of quantisers; one scale per block: Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, TQ1_0, TQ2_0; F16
 *                      and BF16
 *   quantize_k.c       two levels of scales: Q2_K to Q6_K
 *   quantize_table.c   indices into 16 values: IQ4_NL, IQ4_XS, MXFP4
 */
#ifndef VOUCH_KERNELS_QUANTIZE_H
#define VOUCH_KERNELS_QUANTIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/kernels.h"

/* Whether vouch_quantize_values can make the type. */
bool vouch_type_can_quantize(vouch_type type);
/* The largest magnitude that the type can hold for certain: no f16 number of a block overflows. */
float vouch_quantize_max(vouch_type type);
/* Writes the n values x as blocks of the type. n is a multiple of the type's block length. The magnitudes of the values
 * are at most vouch_quantize_max(type). */
void vouch_quantize_values(vouch_type type, const float *x, int64_t n, void *blocks);
/* The n values of the blocks, exactly those that GGUF defines. n is a multiple of the type's block length. */
void vouch_dequantize_values(vouch_type type, const void *blocks, int64_t n, float *x);

/* ------------------------------------------------- for the quantisers alone */

/* Quantises one block. */
typedef void vouch_quantizer(const float *x, unsigned char *block);
extern vouch_quantizer vouch_quantize_q2_k, vouch_quantize_q3_k, vouch_quantize_q4_k, vouch_quantize_q5_k,
    vouch_quantize_q6_k, vouch_quantize_iq4_nl, vouch_quantize_iq4_xs, vouch_quantize_mxfp4;

/* Below this magnitude a run of values counts as zeros. */
#define VOUCH_QUANTIZE_TINY 1e-15f

static inline int vouch_clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

/* The integer nearest to x, ties to even, for |x| < 2^22. Any other x gives some number in [-2^22, 2^22). */
static inline int vouch_nearest(float x)
{
    const float shifted = x + VOUCH_ZERO;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return (int)(bits & 0x7fffff) - 0x400000;
}

static inline void vouch_store_half(unsigned char *at, float value)
{
    const uint16_t half = vouch_float_to_half(value);
    memcpy(at, &half, sizeof half);
}

/* The f16 number that vouch_store_half wrote. */
static inline float vouch_load_half(const unsigned char *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return vouch_half_to_float(half);
}

/* The first element of x [n] with the largest magnitude; 0 if all are 0. */
static inline float vouch_extreme(const float *x, int n)
{
    float extreme = 0;
    for (int i = 0; i < n; i++)
        if (__builtin_fabsf(x[i]) > __builtin_fabsf(extreme)) extreme = x[i];
    return extreme;
}

/* Two rows of `apart` nibbles: q[i] holds values[i] (low) and values[apart + i] (high). */
static inline void vouch_store_nibbles(unsigned char *q, const uint8_t *values, int apart)
{
    for (int i = 0; i < apart; i++) q[i] = (unsigned char)((values[i] & 15) | values[apart + i] << 4);
}

/* The 4 crumbs (fields of 2 bits) of a byte belong to values 32 apart. */
static inline void vouch_store_crumbs(unsigned char *q, const uint8_t values[256])
{
    for (int half = 0; half < 2; half++, q += 32, values += 128)
        for (int i = 0; i < 32; i++)
            q[i] = (unsigned char)((values[i] & 3) | (values[32 + i] & 3) << 2 | (values[64 + i] & 3) << 4 |
                                   (values[96 + i] & 3) << 6);
}

#endif
