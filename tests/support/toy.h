/* SPDX-License-Identifier: MIT */
/*
 * A toy model: its logits are a pure function of a seed and of all tokens before. It stands in for the
 * target behind vouch_target, and checks from there that the cycle keeps its side of the contract: passes
 * that begin where the cache ends, rows asked with the history that belongs to them.
 */
#ifndef VOUCH_TESTS_TOY_H
#define VOUCH_TESTS_TOY_H

#include "decode/cycle.h"

enum { TOY_MAX_CTX = 512 };

typedef struct toy {
    int32_t n_vocab;
    uint64_t seed;
    float sharpness; /* standard deviation of the logits */
    vouch_sampler sampler;
    vouch_dist dist;
    float *logits; /* [n_vocab] */
    vouch_arena arena;

    int32_t cache[TOY_MAX_CTX]; /* the tokens that have been run */
    int32_t n_cached;
    int32_t n_before; /* n_tokens of the last pass */
    int32_t n_guesses;
    int32_t guesses[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT]; /* [n_guesses] */
    int64_t n_passes, n_rows;
    int32_t fail_row;     /* no row after so many guesses has finite logits; -1: none */
    int32_t fail_token;   /* nor does any after this token; -1: none */
    bool deaf;            /* the logits are the same whatever the tokens before */
    bool blind_penalties; /* a wrong target: penalties don't see the guesses */
} toy;

void toy_open(toy *model, int32_t n_vocab, uint64_t seed, float sharpness, const vouch_sampling *sampling);
void toy_close(toy *model);
/* What the model says after these tokens. */
void toy_logits(const toy *model, const int32_t *tokens, int32_t n, float *logits);
/* The processed distribution after these tokens, valid until the next call. */
const vouch_dist *toy_dist(toy *model, const int32_t *tokens, int32_t n);
vouch_target toy_target(toy *model);
/* The heaviest token; of equals the first. */
int32_t toy_argmax(const vouch_dist *dist);

#endif
