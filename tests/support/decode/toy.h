/* SPDX-License-Identifier: MIT */
/*
 * A toy model. Its logits depend only on a seed and the tokens before. It replaces the real target after vouch_target
 * and checks that the cycle calls it correctly: passes begin where the cache ends, and each row comes with its own
 * history.
 */
#ifndef VOUCH_TESTS_TOY_H
#define VOUCH_TESTS_TOY_H

#include "decode/cycle.h"
#include "text/grammar/constraint.h"

enum { TOY_MAX_CTX = 512 };

typedef struct toy {
    int32_t n_vocab;
    uint64_t seed;
    float sharpness; /* standard deviation of the logits */
    vouch_sampler sampler;
    vouch_dist dist;
    float *logits;   /* [n_vocab] */
    float hidden[2]; /* [layers] of one element each */
    vouch_arena arena;

    int32_t cache[TOY_MAX_CTX]; /* [n_cached] the tokens that passes have run */
    int32_t n_cached;
    int32_t n_before; /* n_tokens of the last pass */
    int32_t n_chunk;  /* rows of the last pass, if it ran a part of a prompt; 0: it scored a draft */
    int32_t n_guesses;
    int32_t guesses[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT]; /* [n_guesses] */
    int64_t n_passes, n_rows;
    int32_t fail_row;     /* rows after this many guesses have no finite logits; -1: none fails */
    int32_t fail_token;   /* the row whose input is this token has no finite logits; -1: none fails */
    int32_t n_trimmed;    /* the tokens 1 to n_trimmed have probability 0, as those that a trimmed head can't guess */
    bool deaf;            /* the logits don't depend on the tokens before */
    bool blind_penalties; /* a broken target: penalties and DRY ignore the guesses */
    bool blind_xtc;       /* a broken target: all rows of a pass have the XTC draw of the first */
    vouch_constraint *constraint; /* masks the distributions of an answer; NULL: none */
    bool blind_grammar;           /* a broken target: the grammar ignores the guesses */
} toy;

void toy_open(toy *model, int32_t n_vocab, uint64_t seed, float sharpness, const vouch_sampling *sampling);
void toy_close(toy *model);
/* The hidden state at the last of these tokens after a layer: a hash of all of them. */
float toy_hidden(const int32_t *tokens, int32_t n, int32_t layer);
/* The logits after these tokens. */
void toy_logits(const toy *model, const int32_t *tokens, int32_t n, float *logits);
/* The processed distribution after these tokens, valid until the next call. */
const vouch_dist *toy_dist(toy *model, const int32_t *tokens, int32_t n);
/* A pass of a prompt: runs the tokens of tokens[0, n) that the cache lacks. */
void toy_run(toy *model, const int32_t *tokens, int32_t n);
/* The pass of a cycle: the last token and the guesses, after the tokens that the cache lacks. */
void toy_score(toy *model, const int32_t *tokens, int32_t n_tokens, const vouch_draft *draft);
vouch_target toy_target(toy *model);
/* The likeliest token; the lowest id of equals. */
int32_t toy_argmax(const vouch_dist *dist);

#endif
