/* SPDX-License-Identifier: MIT */
/*
 * Types whose blocks index a codebook. An index selects a point, which is 8 or 4 values; signs and scales are apart.
 *
 *   IQ1_S    f16 d | u8 q[32] | u16 h[8]                               d (2 s + 1) (point - 1 + delta)
 *   IQ1_M    u8 q[32] | u8 h[16] | u16 s[4]                            the same, with two s for 32 values
 *   IQ2_XXS  f16 d | [8] { u8 q[4] | u32 signs and s }                 d (2 s + 1) / 8 iq2[point]
 *   IQ2_XS   f16 d | u16 q[32] | u8 s[8]                               d (2 s + 1) / 8 iq2[point]
 *   IQ2_S    f16 d | u8 q[32] | u8 signs[32] | u8 h[8] | u8 s[8]       d (2 s + 1) / 8 iq2[point]
 *   IQ3_XXS  f16 d | u8 q[64] | u32 signs and s [8]                    d (2 s + 1) / 4 iq3_xxs[point]
 *   IQ3_S    f16 d | u8 q[64] | u8 h[8] | u8 signs[32] | u8 s[4]       d (2 s + 1) (2 point + 1)
 *
 * q holds the low bits of the indices, h the high bits and, for IQ1, the signs of delta = 1/8. s is a small scale; the
 * reader returns 2 s + 1.
 * IQ1_S stores a block with negative delta as its negation, with a negative scale.
 */
#include "kernels/codebook.h"

#include <stdbool.h>

#include "kernels/grids.h"

/* Lists the points of a grid: the numbers of n digits to this base that are elements of the set, in ascending order. A
 * number's lowest digit is the point's first value. */
static void expand(const uint64_t *set, int base, int n_digits, uint16_t *points)
{
    const int n_numbers = base == 3 ? 6561 : 4096;
    for (int number = 0; number < n_numbers; number++) {
        if (!(set[number / 64] >> number % 64 & 1)) continue;
        unsigned point = 0;
        for (int i = 0, rest = number; i < n_digits; i++, rest /= base)
            point |= (unsigned)(rest % base) << i * 16 / n_digits;
        *points++ = (uint16_t)point;
    }
}

void vouch_codebook_expand(vouch_type type, uint16_t points[VOUCH_CODEBOOK_POINTS])
{
    switch (type) {
    case VOUCH_TYPE_IQ1_S:
    case VOUCH_TYPE_IQ1_M: expand(grid_iq1, 3, 8, points); return;
    case VOUCH_TYPE_IQ2_XXS: expand(grid_iq2_xxs, 3, 8, points); return;
    case VOUCH_TYPE_IQ2_XS: expand(grid_iq2_xs, 3, 8, points); return;
    case VOUCH_TYPE_IQ2_S: expand(grid_iq2_s, 3, 8, points); return;
    case VOUCH_TYPE_IQ3_XXS: expand(grid_iq3_xxs, 8, 4, points); return;
    case VOUCH_TYPE_IQ3_S: expand(grid_iq3_s, 8, 4, points); return;
    default: return;
    }
}

/* ----------------------------------------------------------------- fields */

static uint32_t load_32(const unsigned char *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* A field of 4 bits that holds a small scale s. Returns 2 s + 1. */
static uint8_t odd(uint32_t field)
{
    return (uint8_t)(2 * (field & 15) + 1);
}

/* The signs of 8 values, of which 7 are stored: the eighth makes the number of negative values even. */
static unsigned signs_of(uint32_t field)
{
    const unsigned seven = field & 127;
    return seven | (unsigned)__builtin_parity(seven) << 7;
}

/* Writes 8 values: a crumb of the point, and bit i of `signs` above it. */
static void put_crumbs(uint8_t *values, uint16_t point, unsigned signs)
{
    for (int i = 0; i < 8; i++) values[i] = (uint8_t)((point >> 2 * i & 3) | (signs >> i & 1) << 2);
}

/* Writes 4 values: a nibble of the point, and bit i of `signs` above it. */
static void put_nibbles(uint8_t *values, uint16_t point, unsigned signs)
{
    for (int i = 0; i < 4; i++) values[i] = (uint8_t)((point >> 4 * i & 7) | (signs >> i & 1) << 3);
}

/* ---------------------------------------------------------------- readers */

void vouch_read_iq1_s(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    for (int b = 0; b < 8; b++) {
        const unsigned h = vouch_load_16(from + 34 + 2 * b), scale = odd(h >> 12 & 7);
        const bool minus = h >> 15; /* (point - 1) - delta = -((2 - point) - 1 + delta) */
        to->scales[b] = (uint8_t)(minus ? 0 - scale : scale);
        for (int i = 0; i < 4; i++) {
            const uint16_t point = to->points[from[2 + 4 * b + i] | (h >> 3 * i & 7) << 8];
            put_crumbs(to->values + 32 * b + 8 * i, (uint16_t)(minus ? 0xaaaa - point : point), 0);
        }
    }
}

void vouch_read_iq1_m(const unsigned char *from, vouch_file_block *to)
{
    unsigned d = 0;
    for (int b = 0; b < 8; b++) {
        const unsigned char *h = from + 32 + 2 * b;
        const unsigned s = vouch_load_16(from + 48 + b / 2 * 2);
        if (b % 2) d |= s >> 12 << 2 * (b - 1);
        to->scales[2 * b] = odd(s >> b % 2 * 6 & 7);
        to->scales[2 * b + 1] = odd(s >> (b % 2 * 6 + 3) & 7);
        for (int i = 0; i < 4; i++) {
            const unsigned high = h[i / 2] >> i % 2 * 4;
            put_crumbs(to->values + 32 * b + 8 * i, to->points[from[4 * b + i] | (high & 7) << 8], high & 8 ? 255 : 0);
        }
    }
    to->d = (uint16_t)d;
}

void vouch_read_iq2_xxs(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    for (int b = 0; b < 8; b++) {
        const unsigned char *q = from + 2 + 8 * b;
        const uint32_t h = load_32(q + 4);
        to->scales[b] = odd(h >> 28);
        for (int i = 0; i < 4; i++) put_crumbs(to->values + 32 * b + 8 * i, to->points[q[i]], signs_of(h >> 7 * i));
    }
}

void vouch_read_iq2_xs(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    for (int i = 0; i < 16; i++) to->scales[i] = odd(from[66 + i / 2] >> i % 2 * 4);
    for (int i = 0; i < 32; i++) {
        const unsigned q = vouch_load_16(from + 2 + 2 * i);
        put_crumbs(to->values + 8 * i, to->points[q & 511], signs_of(q >> 9));
    }
}

void vouch_read_iq2_s(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    for (int i = 0; i < 16; i++) to->scales[i] = odd(from[74 + i / 2] >> i % 2 * 4);
    for (int i = 0; i < 32; i++) {
        const int high = from[66 + i / 4] >> i % 4 * 2 & 3;
        put_crumbs(to->values + 8 * i, to->points[from[2 + i] | high << 8], from[34 + i]);
    }
}

void vouch_read_iq3_xxs(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    for (int i = 0; i < 64; i++) {
        const uint32_t h = load_32(from + 66 + i / 8 * 4);
        put_nibbles(to->values + 4 * i, to->points[from[2 + i]], signs_of(h >> i % 8 / 2 * 7) >> i % 2 * 4);
        to->scales[i / 8] = odd(h >> 28);
    }
}

void vouch_read_iq3_s(const unsigned char *from, vouch_file_block *to)
{
    to->d = vouch_load_16(from);
    for (int i = 0; i < 8; i++) to->scales[i] = odd(from[106 + i / 2] >> i % 2 * 4);
    for (int i = 0; i < 64; i++) {
        const int high = from[66 + i / 8] >> i % 8 & 1;
        put_nibbles(to->values + 4 * i, to->points[from[2 + i] | high << 8], from[74 + i / 2] >> i % 2 * 4);
    }
}
