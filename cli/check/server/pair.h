/* SPDX-License-Identifier: MIT */
/*
 * Two questions that must get the same answer. A pair that fails is asked again with fewer tokens, less company and a
 * shorter prompt, as long as it still fails; the smallest becomes command lines that reproduce it.
 */
#ifndef VOUCH_CLI_CHECK_PAIR_H
#define VOUCH_CLI_CHECK_PAIR_H

#include "check/server/ask.h"

enum { ASK_MOST_BESIDE = 7 };

typedef struct ask_pair {
    ask_question before;                  /* asked first; its answer doesn't matter. Without a body: nothing is */
    ask_question a, b;                    /* asked one after the other */
    ask_question beside[ASK_MOST_BESIDE]; /* asked together with b */
    size_t n_beside;
    unsigned what;               /* is compared: ASK_TEXT, ... */
    const char *name_a, *name_b; /* "plain", "with speculation" */
    bool is_fresh; /* each try begins its prompts with a number that no prompt had: they hold ASK_FRESH first */
} ask_pair;

/* The beginning of a prompt that the cache must not know; digits take the place of the zeros. */
#define ASK_FRESH "No. 00000000: "

/* Compares, counts, and on a failure shrinks and records; counts nothing if the server is gone. Frees the questions.
 * name: of the case. *most, where not NULL, becomes the largest difference of log probabilities, if that is larger, and
 * *n_values grows by those compared. Errors: MEMORY, CANCELLED. */
vouch_status ask_pair_judge(ask_check *c, ask_law *law, ask_pair *pair, const char *name, double *most,
                            int64_t *n_values, vouch_error *err);
/* The same for a pair that has been compared already, and differs. */
vouch_status ask_pair_blame(ask_check *c, ask_law *law, ask_pair *pair, const char *name, const char *difference,
                            vouch_error *err);

#endif
