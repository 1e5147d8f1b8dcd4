/* SPDX-License-Identifier: MIT */
/*
 * Which guesses of several sequences share a pass. Each sequence offers guesses in an order, and keeps its first ones
 * whatever happens. Let v be the chance that a guess is reached and accepted. A pass of N rows that expects E tokens
 * takes t(N). So guesses are added in the order of v, and the number of them with the largest E / t(N) is taken.
 */
#ifndef VOUCH_ENGINE_ADMIT_H
#define VOUCH_ENGINE_ADMIT_H

#include "decode/cost.h"

typedef struct vouch_offer {
    const double *expected; /* [n + 1] tokens of its cycle with the first i guesses; NULL: n is fixed */
    int32_t n;              /* guesses */
    int32_t n_fixed;        /* its first guesses, which stay */
    int32_t n_admitted;     /* the result, n_fixed to n */
} vouch_offer;

/* Fills n_admitted. At most `most` guesses are admitted, fixed ones not counted against any limit. */
void vouch_admit(vouch_offer *offers, int32_t n, int32_t most, const vouch_cost *cost);

#endif
