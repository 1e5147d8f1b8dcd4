/* SPDX-License-Identifier: MIT */
/*
 * Visits all sequences of random choices, depth first. A test runs the same code again and again, and asks the walker
 * at each random choice:
 *
 *   do run; while (walker_next(&w));
 *
 * A run repeats the options of `path` and takes the first option after its end. Afterwards `probability` is that of
 * the run's options. The probabilities of all runs sum to 1.
 */
#ifndef VOUCH_TESTS_WALKER_H
#define VOUCH_TESTS_WALKER_H

#include <stdbool.h>
#include <stdint.h>

enum { WALKER_PATH = 64, WALKER_OPTIONS = 8 };

typedef struct walker {
    struct {
        int option, n_options;
    } path[WALKER_PATH];
    int n, depth;
    long double probability; /* of the run so far */
} walker;

void walker_begin(walker *w);
/* Chooses one of n options with these probabilities. */
int walker_choose(walker *w, const double *probability, int n);
/* Chooses a token x below n_vocab with probability mass[x] / (sum of mass). Tokens without mass are no options. */
int32_t walker_choose_token(walker *w, const double *mass, int32_t n_vocab);
/* Goes to the next run. False after the last one. */
bool walker_next(walker *w);

#endif
