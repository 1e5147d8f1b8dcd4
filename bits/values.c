/* SPDX-License-Identifier: MIT */
#include "bits/values.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* How to give a random block a standard deviation. unit: the standard deviation of a block's values when its scale d is
 * 1 and its minimum, if any, makes the mean zero. It is that of uniform random quants, times that of the random scales
 * inside the block. The minimum is `factor` times d. scale_at and minimum_at are bytes from the beginning of the block;
 * -1: the type has none. put_scale knows the types whose scales are not f16 numbers; their unit is the standard
 * deviation for scale 1. */
typedef struct block_form {
    const char *name;
    float unit;
    int scale_at, minimum_at;
    float factor;
    const char *fallback; /* the type for rows that are not whole blocks */
} block_form;

static const block_form forms[] = {
    {"F32", 1, -1, -1, 0, NULL},          {"F16", 1, -1, -1, 0, NULL},         {"BF16", 1, -1, -1, 0, NULL},
    {"Q8_0", 74, 0, -1, 0, NULL},         {"Q4_0", 4.6f, 0, -1, 0, NULL},      {"Q4_1", 4.6f, 0, 2, -7.5f, NULL},
    {"Q5_0", 9.2f, 0, -1, 0, NULL},       {"Q5_1", 9.2f, 0, 2, -15.5f, NULL},  {"Q2_K", 14, 80, 82, 1.5f, "Q4_0"},
    {"Q3_K", 43, 108, -1, 0, "Q4_0"},     {"Q4_K", 258, 0, 2, 7.5f, "Q5_0"},   {"Q5_K", 527, 0, 2, 15.5f, "Q5_1"},
    {"Q6_K", 1366, 208, -1, 0, "Q8_0"},   {"IQ4_NL", 67, 0, -1, 0, NULL},      {"IQ4_XS", 1246, 0, -1, 0, "IQ4_NL"},
    {"MXFP4", 5.9f, 0, -1, 0, NULL},      {"NVFP4", 5.9f, 0, -1, 0, "MXFP4"},  {"TQ1_0", 0.82f, 52, -1, 0, "Q4_0"},
    {"TQ2_0", 0.71f, 64, -1, 0, "Q4_0"},  {"IQ1_S", 7.2f, 0, -1, 0, "IQ4_NL"}, {"IQ1_M", 7.2f, 0, -1, 0, "IQ4_NL"},
    {"IQ2_XXS", 53, 0, -1, 0, "IQ4_NL"},  {"IQ2_XS", 56, 0, -1, 0, "IQ4_NL"},  {"IQ2_S", 56, 0, -1, 0, "IQ4_NL"},
    {"IQ3_XXS", 143, 0, -1, 0, "IQ4_NL"}, {"IQ3_S", 140, 0, -1, 0, "IQ4_NL"},
};
enum { N_FORMS = sizeof forms / sizeof forms[0], MOST_WORDS = 32 };

int32_t bits_type_find(const char *name)
{
    for (uint32_t id = 0; id < 64; id++) {
        const char *known = vouch_type_gguf_name(id);
        if (known && strcmp(known, name) == 0) return vouch_type_get_info(id) ? (int32_t)id : -1;
    }
    return -1;
}

static const block_form *form_find(int32_t type)
{
    const char *name = vouch_type_gguf_name((uint32_t)type);
    for (size_t i = 0; i < N_FORMS; i++)
        if (strcmp(forms[i].name, name) == 0) return &forms[i];
    return NULL;
}

const char *bits_type_names(void)
{
    static char names[512];
    size_t used = 0;
    for (size_t i = 0; i < N_FORMS; i++)
        if (bits_type_find(forms[i].name) >= 0)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", forms[i].name);
    return names;
}

int32_t bits_type_for_row(int32_t type, int64_t n_in)
{
    const char *fallback = form_find(type)->fallback;
    if (!fallback || n_in % vouch_type_get_info((uint32_t)type)->block_length == 0) return type;
    return bits_type_find(fallback);
}

#define STEP UINT64_C(0x9e3779b97f4a7c15) /* from one state to the next */

uint64_t bits_next_word(uint64_t *state)
{
    uint64_t z = *state += STEP;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void put_half(unsigned char *at, float value)
{
    const uint16_t half = vouch_float_to_half(value);
    memcpy(at, &half, sizeof half);
}

/* The exponent e of MXFP4's scale 2^(e - 128): one of the two powers of 2 around `scale`, drawn so that the mean of its
 * square is the scale's square. */
static unsigned char draw_exponent(float scale, uint64_t random)
{
    int exponent;
    const float part = frexpf(scale, &exponent), above = (4 * part * part - 1) / 3; /* part: [0.5, 1) */
    return (unsigned char)(exponent + ((float)(random >> 40 & 0xffff) < above * 65536 ? 128 : 127));
}

static void put_scale(unsigned char *block, int32_t type, int at, float scale, uint64_t random)
{
    uint32_t bits;
    switch (type) {
    case VOUCH_TYPE_MXFP4: block[0] = draw_exponent(scale, random); return;
    case VOUCH_TYPE_NVFP4: /* E4M3 has the upper bits of a float with another exponent */
        memcpy(&bits, &(float){scale * 0x1p-119f}, sizeof bits);
        memset(block, bits < 0x7e00000 ? (int)((bits + 0x80000) >> 20) : 0x7e, 4);
        return;
    case VOUCH_TYPE_IQ1_M: /* f16, spread over the highest 4 bits of 4 words */
        bits = vouch_float_to_half(scale);
        for (int i = 0; i < 4; i++)
            block[49 + 2 * i] = (unsigned char)((block[49 + 2 * i] & 15) | (bits >> 4 * i & 15) << 4);
        return;
    default: put_half(block + at, scale);
    }
}

/* Writes one value of a type without blocks, uniform with the given standard deviation. */
static void put_value(unsigned char *at, int32_t size, bool is_half, float deviation, uint64_t random)
{
    const float value = ((float)(random >> 40) * 0x1p-23f - 1) * 1.7320508f * deviation;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (size == 4) memcpy(at, &bits, 4);
    else if (is_half) put_half(at, value);
    else memcpy(at, &(uint16_t){(uint16_t)(bits >> 16)}, 2);
}

void bits_fill_blocks(int32_t type, float deviation, uint64_t seed, int64_t first, int64_t n, unsigned char *out)
{
    const block_form *form = form_find(type);
    const size_t bytes = (size_t)vouch_type_get_info((uint32_t)type)->block_bytes, n_words = (bytes + 7) / 8;
    for (int64_t b = first; b < first + n; b++, out += bytes) {
        uint64_t words[MOST_WORDS] = {0};
        uint64_t state = seed + (uint64_t)b * n_words * STEP;
        for (size_t i = 0; i < n_words; i++) words[i] = bits_next_word(&state);
        if (form->scale_at < 0) {
            put_value(out, (int32_t)bytes, type == VOUCH_TYPE_F16, deviation, words[0]);
            continue;
        }
        memcpy(out, words, bytes);
        if (type == VOUCH_TYPE_TQ2_0) /* digits to base 3: no crumb is 3 */
            for (int i = 0; i < form->scale_at; i++) out[i] &= (unsigned char)~((out[i] & 0x55) << 1);
        /* The scale varies by up to a quarter, so that no two blocks are equal. */
        const float scale = deviation / form->unit * (0.75f + (float)(words[0] >> 56) / 512);
        put_scale(out, type, form->scale_at, scale, words[0]);
        if (form->minimum_at >= 0) put_half(out + form->minimum_at, scale * form->factor);
    }
}
