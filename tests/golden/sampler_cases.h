/* SPDX-License-Identifier: MIT */
/* Logits, histories and sampling parameters for which samplers.cpp asks llama.cpp and test_samplers.c asks vouch. C and
 * C++. */
#ifndef VOUCH_TESTS_SAMPLER_CASES_H
#define VOUCH_TESTS_SAMPLER_CASES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { SAMPLER_VOCAB = 600, SAMPLER_HISTORY = 90, SAMPLER_BREAKERS = 3 };

typedef struct sampler_case {
    uint32_t seed;
    float scale; /* of the logits */
    float temperature;
    int32_t top_k;
    float typical_p, top_p, min_p, top_n_sigma;
    float xtc_threshold; /* above 0.5: off. XTC always applies */
    float dry_multiplier, dry_base;
    int32_t dry_allowed_length, dry_last_n;
    int breakers; /* first n of sampler_breakers */
    float repeat_penalty, frequency_penalty, presence_penalty;
    int32_t penalty_window;
} sampler_case;

/* The text of the third begins and ends inside tokens of the vocabulary, and tokens of it lie between. */
static const char *const sampler_breakers[SAMPLER_BREAKERS] = {"\n", "e", ". W"};

/* Off: typical_p 1, top_p 1, top_n_sigma 0, xtc_threshold 1, dry_multiplier 0, repeat_penalty 1. */
static const sampler_case sampler_cases[] = {
    /* typical */
    {1, 1, 1, 0, 0.9f, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {2, 1, 1, 0, 0.5f, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {3, 2, 0.8f, 0, 0.2f, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {4, 2, 1.5f, 40, 0.7f, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {5, 1, 1, 40, 0.8f, 0.7f, 0.1f, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {6, 0.2f, 1, 0, 0.3f, 0.9f, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    /* top-n-sigma */
    {7, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {8, 2, 2, 0, 1, 1, 0, 1.5f, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {9, 0.5f, 0.7f, 0, 1, 1, 0, 0.5f, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {10, 1, 3, 20, 1, 0.9f, 0, 2, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    /* XTC */
    {11, 2, 1, 0, 1, 1, 0, 0, 0.1f, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {12, 2, 1.5f, 0, 1, 1, 0.05f, 0, 0.05f, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {13, 1, 1, 8, 1, 1, 0, 0, 0.1f, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {14, 1, 1, 8, 1, 0.8f, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    {15, 2, 0.5f, 0, 1, 1, 0, 0, 0.5f, 0, 1, 0, 0, 0, 1, 0, 0, 0},
    /* DRY */
    {16, 1, 1, 0, 1, 1, 0, 0, 1, 0.8f, 1.75f, 2, 64, 0, 1, 0, 0, 0},
    {17, 1, 1, 40, 1, 1, 0, 0, 1, 0.8f, 1.75f, 1, 90, 0, 1, 0, 0, 0},
    {18, 1, 1, 40, 1, 1, 0, 0, 1, 1.5f, 1, 0, 20, 0, 1, 0, 0, 0},
    {19, 1, 1, 40, 1, 1, 0, 0, 1, 0.5f, 1.2f, 1, 1000, 1, 1, 0, 0, 0},
    {20, 1, 1, 40, 1, 1, 0, 0, 1, 0.5f, 1.2f, 1, 1000, 2, 1, 0, 0, 0},
    {21, 1, 1, 40, 1, 1, 0, 0, 1, 0.5f, 1.2f, 1, 1000, 3, 1, 0, 0, 0},
    {22, 1, 1, 40, 1, 1, 0, 0, 1, 0.5f, 3, 0, 80, 3, 1, 0, 0, 0},
    {23, 1, 1, 40, 1, 1, 0, 0, 1, 1, 100, 1, 80, 0, 1, 0, 0, 0},
    {28, 1, 1, 40, 1, 1, 0, 0, 1, 0.1f, 1.1f, 0, 80, 3, 1, 0, 0, 0},
    {29, 1, 1, 40, 1, 1, 0, 0, 1, 0.1f, 1.1f, 2, 80, 3, 1, 0, 0, 0},
    {30, 1, 1, 40, 1, 1, 0, 0, 1, 0.1f, 1.1f, 0, 80, 3, 1, 0, 0, 0},
    {31, 1, 1, 40, 1, 1, 0, 0, 1, 0.1f, 1.1f, 0, 80, 3, 1, 0, 0, 0},
    /* all together. Top-k drops all tokens that top-n-sigma bans: llama.cpp's typical makes NaN of probability 0 */
    {24, 1, 0.8f, 100, 0.95f, 0.95f, 0.01f, 2, 0.1f, 0.8f, 1.75f, 2, 64, 3, 1.2f, 0.1f, 0.2f, 50},
    {25, 2, 1.3f, 60, 0.9f, 0.98f, 0.02f, 2.5f, 0.05f, 0.3f, 1.5f, 1, 90, 2, 1.1f, 0, 0.2f, 90},
    {26, 1, 1.1f, 60, 0.97f, 0.99f, 0.001f, 3, 0.02f, 0.3f, 1.5f, 0, 90, 0, 1, 0.3f, 0, 10},
    {27, 3, 2, 12, 0.8f, 0.9f, 0.001f, 1.7f, 0.2f, 2, 1.1f, 0, 90, 0, 1.3f, 0.3f, 0, 10},
};
enum { N_SAMPLER_CASES = sizeof sampler_cases / sizeof *sampler_cases };

static uint32_t sampler_hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* Bell-shaped logits, exact in a float before they are scaled. */
static void sampler_logits(const sampler_case *c, float *logits)
{
    for (uint32_t i = 0; i < SAMPLER_VOCAB; i++) {
        float sum = 0;
        for (uint32_t j = 0; j < 4; j++)
            sum += (float)(sampler_hash(c->seed * 0x10001u + i * 4 + j) >> 12) * 0x1p-18f - 2;
        logits[i] = sum * c->scale;
    }
}

/* Tokens of which stretches repeat. Odd seeds use a few ids, even ones spell with the bytes of ". We". */
static void sampler_history(const sampler_case *c, int32_t *tokens)
{
    static const int32_t spelling[] = {6 + '.', 6 + ' ', 6 + 'W', 6 + 'e', 300};
    for (uint32_t i = 0; i < SAMPLER_HISTORY; i++) {
        const uint32_t random = sampler_hash(c->seed * 0x20003u + i);
        if (i > 20 && random % 8) tokens[i] = tokens[i - 9 - c->seed % 5];
        else tokens[i] = c->seed % 2 ? (int32_t)(random >> 8) % 4 + 400 : spelling[(random >> 8) % 5];
        if (i > 20 && random % 29 == 0) tokens[i] = (int32_t)(random >> 8) % SAMPLER_VOCAB;
    }
}

#endif
