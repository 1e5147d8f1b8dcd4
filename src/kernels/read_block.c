/* SPDX-License-Identifier: MIT */
/*
 * The layouts of quantised blocks in a GGUF file. Each type has a reader, which unpacks one block. "Crumb": a field of
 * 2 bits; "bit": one bit of h; s, m: small scales and minima, packed in sm, sh and sl; fp4: twice the values of E2M1.
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
 *   MXFP4   u8 e | u8 q[16]                                value 2^(e - 128) fp4[nibble]
 *   NVFP4   u8 s[4] | u8 q[32]                             value (s / 2) fp4[nibble], s: E4M3
 *   TQ1_0   u8 q[48] | u8 p[4] | f16 d                     value d (digit - 1); 5 digits to base 3 in q, 4 in p
 *   TQ2_0   u8 q[64] | f16 d                               value d (crumb - 1)
 *
 * In 16 bytes of nibbles, the low nibbles are values 0 to 15 and the high nibbles are values 16 to 31. The readers show
 * the order of the other fields. codebook.c has the types whose blocks index a codebook.
 */
#include <string.h>

#include "kernels/codebook.h"
#include "kernels/read_block.h"

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

static void read_q8_0(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    for (int i = 0; i < 32; i++) to->values[i] = from[2 + i] ^ 0x80;
}

static void read_q4_0(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    read_nibbles(to->values, from + 2, 16);
}

static void read_q4_1(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    to->minimum = vouch_load_16(from + 2);
    read_nibbles(to->values, from + 4, 16);
}

static void read_q5_0(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    read_nibbles(to->values, from + 6, 16);
    read_fifth_bits(to->values, from + 2);
}

static void read_q5_1(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    to->minimum = vouch_load_16(from + 2);
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

static void read_q2_k(const unsigned char *from, vouch_file_block *to)
{
    memcpy(to->scales, from, 16);
    read_crumbs(to->values, from + 16);
    to->d = vouch_load_16(from + 80);
    to->minimum = vouch_load_16(from + 82);
}

static void read_q3_k(const unsigned char *from, vouch_file_block *to)
{
    const unsigned char *scales = from + 96;
    read_crumbs(to->values, from + 32);
    for (int s = 0; s < 8; s++)
        for (int i = 0; i < 32; i++) to->values[32 * s + i] |= (uint8_t)((from[i] >> s & 1) << 2);
    for (int i = 0; i < 16; i++) {
        const int low = scales[i % 8] >> i / 8 * 4 & 15, high = scales[8 + i % 4] >> i / 4 * 2 & 3;
        to->scales[i] = (uint8_t)((low | high << 4) - 32);
    }
    to->d = vouch_load_16(from + 108);
}

/* 12 bytes hold 8 scales and 8 minima of 6 bits. The first 4 of each are the low 6 bits of s[0..7]. The others combine
 * a nibble of s[8..11] with the high 2 bits of s[0..7]. */
static void read_k_scales(const unsigned char *s, vouch_file_block *to)
{
    for (int i = 0; i < 4; i++) {
        to->scales[i] = s[i] & 63;
        to->minima[i] = s[4 + i] & 63;
        to->scales[4 + i] = (uint8_t)((s[8 + i] & 15) | s[i] >> 6 << 4);
        to->minima[4 + i] = (uint8_t)(s[8 + i] >> 4 | s[4 + i] >> 6 << 4);
    }
}

static void read_q4_k(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    to->minimum = vouch_load_16(from + 2);
    read_k_scales(from + 4, to);
    for (int i = 0; i < 4; i++) read_nibbles(to->values + 64 * i, from + 16 + 32 * i, 32);
}

static void read_q5_k(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    to->minimum = vouch_load_16(from + 2);
    read_k_scales(from + 4, to);
    for (int i = 0; i < 4; i++) read_nibbles(to->values + 64 * i, from + 48 + 32 * i, 32);
    for (int s = 0; s < 8; s++)
        for (int i = 0; i < 32; i++) to->values[32 * s + i] |= (uint8_t)((from[16 + i] >> s & 1) << 4);
}

static void read_q6_k(const unsigned char *from, vouch_file_block *to)
{
    for (int half = 0; half < 2; half++) {
        uint8_t *values = to->values + 128 * half;
        read_nibbles(values, from + 64 * half, 64);
        for (int s = 0; s < 4; s++)
            for (int i = 0; i < 32; i++) values[32 * s + i] |= (uint8_t)((from[128 + 32 * half + i] >> 2 * s & 3) << 4);
    }
    memcpy(to->scales, from + 192, 16);
    to->d = vouch_load_16(from + 208);
}

static void read_iq4_xs(const unsigned char *from, vouch_file_block *to)
{
    const uint16_t high = vouch_load_16(from + 2);
    to->d = vouch_load_16(from);
    for (int i = 0; i < 8; i++) {
        to->scales[i] = (uint8_t)(((from[4 + i / 2] >> i % 2 * 4 & 15) | (high >> 2 * i & 3) << 4) - 32);
        read_nibbles(to->values + 32 * i, from + 8 + 16 * i, 16);
    }
}

/* A block of zeros has e = 0, which means the denormal scale 2^-128 and would slow the kernels down. With zeros any
 * scale is right, so the reader takes 1. */
static void read_mxfp4(const unsigned char *from, vouch_file_block *to)
{
    unsigned sizes = 0;
    for (int i = 1; i <= 16; i++) sizes |= from[i] & 0x77;
    to->scales[0] = sizes ? from[0] ^ 0x80 : 0;
    read_nibbles(to->values, from + 1, 16);
}

static void read_nvfp4(const unsigned char *from, vouch_file_block *to)
{
    for (int i = 0; i < 4; i++) {
        const float scale = vouch_e4m3_half(from[i]) * 0x1p-116f; /* 0, or at least 2^-126: not a denormal */
        uint32_t bits;
        memcpy(&bits, &scale, sizeof bits);
        to->scales[i] = (uint8_t)(bits >> 20);
        read_nibbles(to->values + 16 * i, from + 4 + 8 * i, 8);
    }
}

/* A byte of q, divided by 256, is a fraction. Its first digits to base 3 are values that lie n apart. */
static void read_digits(uint8_t *values, const unsigned char *q, int n, int digits)
{
    for (int i = 0; i < n; i++) {
        int fraction = q[i];
        for (int d = 0; d < digits; d++) {
            values[d * n + i] = (uint8_t)(fraction * 3 >> 8);
            fraction = fraction * 3 & 255;
        }
    }
}

static void read_tq1_0(const unsigned char *from, vouch_file_block *to)
{
    read_digits(to->values, from, 32, 5);
    read_digits(to->values + 160, from + 32, 16, 5);
    read_digits(to->values + 240, from + 48, 4, 4);
    to->d = vouch_load_16(from + 52);
}

static void read_tq2_0(const unsigned char *from, vouch_file_block *to)
{
    read_crumbs(to->values, from);
    to->d = vouch_load_16(from + 64);
}

vouch_block_reader *const vouch_block_readers[VOUCH_TYPE_COUNT] = {
    [VOUCH_TYPE_Q8_0] = read_q8_0,
    [VOUCH_TYPE_Q4_0] = read_q4_0,
    [VOUCH_TYPE_Q4_1] = read_q4_1,
    [VOUCH_TYPE_Q5_0] = read_q5_0,
    [VOUCH_TYPE_Q5_1] = read_q5_1,
    [VOUCH_TYPE_Q2_K] = read_q2_k,
    [VOUCH_TYPE_Q3_K] = read_q3_k,
    [VOUCH_TYPE_Q4_K] = read_q4_k,
    [VOUCH_TYPE_Q5_K] = read_q5_k,
    [VOUCH_TYPE_Q6_K] = read_q6_k,
    [VOUCH_TYPE_IQ4_NL] = read_q4_0,
    [VOUCH_TYPE_IQ4_XS] = read_iq4_xs,
    [VOUCH_TYPE_MXFP4] = read_mxfp4,
    [VOUCH_TYPE_NVFP4] = read_nvfp4,
    [VOUCH_TYPE_TQ1_0] = read_tq1_0,
    [VOUCH_TYPE_TQ2_0] = read_tq2_0,
    [VOUCH_TYPE_IQ1_S] = vouch_read_iq1_s,
    [VOUCH_TYPE_IQ1_M] = vouch_read_iq1_m,
    [VOUCH_TYPE_IQ2_XXS] = vouch_read_iq2_xxs,
    [VOUCH_TYPE_IQ2_XS] = vouch_read_iq2_xs,
    [VOUCH_TYPE_IQ2_S] = vouch_read_iq2_s,
    [VOUCH_TYPE_IQ3_XXS] = vouch_read_iq3_xxs,
    [VOUCH_TYPE_IQ3_S] = vouch_read_iq3_s,
};
