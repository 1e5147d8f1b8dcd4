/* SPDX-License-Identifier: MIT */
/* t(n) from passes as they happen (cost.h). */
#include "draft/cost.h"

#include <stdbool.h>

#include "base/common.h"

/* Where t(n) bends: kernels block rows by 4, 8, 12 and 16. */
static const int32_t knots[VOUCH_COST_KNOTS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 17, 33, VOUCH_MAX_DRAFT + 1};

enum { FEW = 3 }; /* a ratio measured less often than this isn't known yet */

/* An error of what is known counts for no more than this factor, and moves `seconds` and a ratio by these shares of
 * it, or by what makes them the mean of what has been measured, where that is more. */
static const double MOST = 1.25, SECONDS_RATE = 0.15, RATIO_RATE = 0.04;
/* No pass of several rows is thought to cost less than this a row beyond that of one. */
static const double LEAST_SLOPE = 0.002;

double vouch_cost_default(int32_t n_rows)
{
    if (n_rows <= 5) return 1 + 0.03 * (n_rows - 1);
    if (n_rows <= 8) return 1.12 + 0.1 * (n_rows - 5);
    return 1.42 + 0.08 * (n_rows - 8);
}

void vouch_cost_init(vouch_cost *cost)
{
    *cost = (vouch_cost){0};
    for (int i = 0; i < VOUCH_COST_KNOTS; i++) cost->ratio[i] = vouch_cost_default(knots[i]);
}

/* The knot at or before n_rows, and how far n_rows is on the way to the next one. */
static int knot_before(int32_t n_rows, double *share)
{
    int i = VOUCH_COST_KNOTS - 2;
    while (knots[i] > n_rows) i--;
    *share = (double)(n_rows - knots[i]) / (knots[i + 1] - knots[i]);
    return i;
}

static double ratio_at(const vouch_cost *cost, int32_t n_rows)
{
    double share;
    const int i = knot_before(n_rows, &share);
    return cost->ratio[i] + share * (cost->ratio[i + 1] - cost->ratio[i]);
}

double vouch_cost_of(const vouch_cost *cost, int32_t n_rows)
{
    double most = ratio_at(cost, n_rows);
    for (int i = 0; i < VOUCH_COST_KNOTS && knots[i] < n_rows; i++)
        if (cost->ratio[i] > most) most = cost->ratio[i];
    return most;
}

static double rate_of(int32_t n_measured, double least)
{
    const double mean = 1.0 / (n_measured + 1);
    return mean > least ? mean : least;
}

static bool is_known(const vouch_cost *cost, int knot)
{
    return cost->n_measured[knot] >= FEW;
}

/* The knots beyond that aren't known lie on the line through this one. */
static void ratio_learn(vouch_cost *cost, int knot, double share, double error)
{
    if (knot == 0 || share == 0) return;
    double *ratio = &cost->ratio[knot], least = 1 + LEAST_SLOPE * (knots[knot] - 1);
    *ratio *= 1 + rate_of(cost->n_measured[knot]++, RATIO_RATE) * share * error;
    if (*ratio < least) *ratio = least;
    const double slope = (*ratio - 1) / (knots[knot] - 1);
    for (int i = knot + 1; i < VOUCH_COST_KNOTS; i++)
        if (!is_known(cost, i)) cost->ratio[i] = 1 + slope * (knots[i] - 1);
}

void vouch_cost_learn(vouch_cost *cost, int32_t n_rows, double seconds)
{
    vouch_cost *c = cost;
    if (!(seconds > 0)) return;
    n_rows = vouch_min(n_rows, VOUCH_MAX_DRAFT + 1);
    double share;
    const int i = knot_before(n_rows, &share);
    const bool known = is_known(c, i) && (share == 0 || is_known(c, i + 1));
    if (c->seconds == 0) c->seconds = seconds / ratio_at(c, n_rows);
    double factor = seconds / (c->seconds * ratio_at(c, n_rows));
    if (known) factor = factor > MOST ? MOST : factor < 1 / MOST ? 1 / MOST : factor;
    if (n_rows == 1) c->seconds *= 1 + rate_of(c->n_measured[0]++, SECONDS_RATE) * (factor - 1);
    else if (known) c->seconds *= 1 + SECONDS_RATE * (factor - 1);
    ratio_learn(c, i, 1 - share, factor - 1);
    ratio_learn(c, i + 1, share, factor - 1);
}
