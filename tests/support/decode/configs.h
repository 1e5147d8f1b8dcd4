/* SPDX-License-Identifier: MIT */
/* A tiny target, a draft model near it, and configurations to decode with them. */
#ifndef VOUCH_TESTS_CONFIGS_H
#define VOUCH_TESTS_CONFIGS_H

#include "support/decode/answer.h"

enum { PROMPT = 20, LENGTH = 60, N_VOCAB = 400 };

extern vouch_model *target, *near;

/* Opens and closes both: setup and teardown of a group of tests. */
int configs_open(void **state);
int configs_close(void **state);

/* Configurations: without drafts, with a draft model, with a drafter that is nearly always right, with n-grams. */
enum { PLAIN, MODEL, ORACLE, NGRAM, N_CONFIGS };

/* `o` is the drafter of ORACLE. */
vouch_session_options options_of(int config, int32_t k, oracle *o);

/* A prompt, its plain answer at full length, and a drafter that knows both. */
typedef struct known {
    int32_t prompt[PROMPT];
    int32_t sequence[PROMPT + ANSWER_MAX];
    answer plain;
    oracle o;
} known;

void know(known *k, uint64_t seed);

#endif
