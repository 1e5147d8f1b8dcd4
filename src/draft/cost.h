/* SPDX-License-Identifier: MIT */
/*
 * t(n): what a pass of n rows costs, here and now.
 *
 *     t(n) = seconds x ratio(n)        ratio(1) = 1, straight lines between knots
 *
 * Every pass corrects both: `seconds` quickly, as the context grows and neighbours come and go; the ratio of its
 * own knots slowly, and quickly only while they have been measured seldom. One odd pass can't do much harm.
 */
#ifndef VOUCH_DRAFT_COST_H
#define VOUCH_DRAFT_COST_H

#include "vouch.h"

enum { VOUCH_COST_KNOTS = 16 };

typedef struct vouch_cost {
    double seconds; /* of a pass of one row; 0: nothing has been measured */
    double ratio[VOUCH_COST_KNOTS];
    int32_t n_measured[VOUCH_COST_KNOTS];
} vouch_cost;

/* What to expect before anything is measured, in passes of one row: 1.12 at 5 rows and 1.42 at 8, as of SmolLM2-135M
 * in 4 bits on two cores with AVX-512, and 0.08 a row beyond. */
double vouch_cost_default(int32_t n_rows);
void vouch_cost_init(vouch_cost *cost);
/* A pass of n_rows >= 1 took so long. */
void vouch_cost_learn(vouch_cost *cost, int32_t n_rows, double seconds);
/* In passes of one row, never less than of fewer rows; 1 <= n_rows <= VOUCH_MAX_DRAFT + 1. */
double vouch_cost_of(const vouch_cost *cost, int32_t n_rows);

#endif
