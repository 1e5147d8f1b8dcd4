/* SPDX-License-Identifier: MIT */
/*
 * Chooses the guesses of several sequences that share a pass. Each sequence offers its guesses in a fixed order; its
 * first n_fixed guesses always stay. Let v be the chance that a guess is reached and accepted. A pass of N rows that
 * expects E tokens takes t(N), after all sequences have spent d seconds on drafting. Guesses are added in descending
 * order of v. The number of guesses with the largest E / (t(N) + d) wins.
 */
#ifndef VOUCH_ENGINE_ADMIT_H
#define VOUCH_ENGINE_ADMIT_H

#include "base/cost.h"

typedef struct vouch_offer {
    const double *expected; /* [n + 1] tokens that its cycle expects with the first i guesses; NULL: n is fixed */
    int32_t n;              /* guesses */
    int32_t n_fixed;        /* its first guesses, which stay */
    int32_t n_admitted;     /* the result, n_fixed to n */
} vouch_offer;

/* Fills n_admitted. At most `most` guesses are admitted; fixed guesses don't count. `spent`: d / t(1). */
void vouch_admit(vouch_offer *offers, int32_t n, int32_t most, const vouch_cost *cost, double spent);

#endif
