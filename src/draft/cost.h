/* SPDX-License-Identifier: MIT */
/*
 * t(n): what a pass of n rows costs, here and now.
 *
 * A pass reads the weights once, whatever n is, and computes with them n times; both go on at the same time (the
 * roofline, DESIGN.md), so the larger of the two is what it takes, rounded where they are about equal:
 *
 *     t(n) = s r(n),    r(n) = cbrt((1 + (c n)^3) / (1 + c^3))           r(1) = 1
 *
 * s is the time of a plain pass, c that of one row's arithmetic in terms of reading. With c 0.15, t(5) is
 * 1.12 and t(8) 1.40 of t(1); with 0.3 they are 1.62 and 2.43.
 *
 * log s and log c are estimated from every pass by a Kalman filter: s moves as the context grows and neighbours come
 * and go, c hardly does. So the passes that happen tell about those that don't, and an odd one doesn't do much harm.
 */
#ifndef VOUCH_DRAFT_COST_H
#define VOUCH_DRAFT_COST_H

#include "vouch.h"

typedef struct vouch_cost {
    double log_s, log_c;          /* of seconds; of a ratio */
    double var_s, var_c, cov;     /* of their errors */
    int32_t n_passes, n_plain;    /* learned from; of one row */
} vouch_cost;

/* What to expect before anything is measured, in passes of one row. */
double vouch_cost_default(int32_t n_rows);
void vouch_cost_init(vouch_cost *cost);
/* A pass of n_rows >= 1 took so long. */
void vouch_cost_learn(vouch_cost *cost, int32_t n_rows, double seconds);
/* r(n), n_rows >= 1. */
double vouch_cost_of(const vouch_cost *cost, int32_t n_rows);
/* s; 0: nothing has been measured. */
double vouch_cost_seconds(const vouch_cost *cost);

#endif
