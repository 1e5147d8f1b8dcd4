/* SPDX-License-Identifier: MIT */
/* The cost curve t(n), learned from passes as they happen (cost.h). */
#include "base/cost.h"

#include <math.h>
#include <stdbool.h>

/* c before the first pass. */
static const double FIRST_C = 0.15;
/* Relative standard deviations: of c before the first pass, of one measurement, and of the change of s and of c from
 * one pass to the next. */
static const double SPREAD_C = 0.6, NOISE = 0.1, DRIFT_S = 0.01, DRIFT_C = 0.004;
/* A measurement more than ODD standard deviations from its expectation is an outlier, or the first one after the load
 * of the machine has changed. The estimates move as if it were ODD away, and their variances stay as they are. */
static const double ODD = 2;

/* Time to unpack the weights for a group of rows / time of one row's arithmetic. */
static const double UNPACK = 3;

static double cube(double x)
{
    return x * x * x;
}

/* w(n) */
static double work(const vouch_cost *cost, int32_t n)
{
    const int32_t size = cost->group_rows;
    return size > 0 ? n + UNPACK * ((n + size - 1) / size) : n;
}

static double ratio(const vouch_cost *cost, double c, int32_t n)
{
    return cbrt((cube(cost->reads[n]) + cube(c * work(cost, n))) / (1 + cube(c * work(cost, 1))));
}

/* Straight lines near r(n). They use sums and products only, so their values, and a draft limited by them, are the same
 * on every machine. */
double vouch_cost_default(int32_t n_rows)
{
    if (n_rows <= 5) return 1 + 0.03 * (n_rows - 1);
    if (n_rows <= 8) return 1.12 + 0.1 * (n_rows - 5);
    return 1.42 + 0.13 * (n_rows - 8);
}

void vouch_cost_init(vouch_cost *cost, const double *reads, int32_t group_rows)
{
    *cost = (vouch_cost){.group_rows = group_rows, .log_c = log(FIRST_C), .var_c = SPREAD_C * SPREAD_C, .var_s = 1};
    for (int32_t n = 0; n <= VOUCH_COST_ROWS; n++) cost->reads[n] = reads ? reads[n] : 1;
}

double vouch_cost_of(const vouch_cost *cost, int32_t n_rows)
{
    return ratio(cost, exp(cost->log_c), n_rows);
}

double vouch_cost_seconds(const vouch_cost *cost)
{
    return cost->n_passes > 0 ? exp(cost->log_s) : 0;
}

/* d log r(n) / d log c */
static double slope(const vouch_cost *cost, double c, int32_t n)
{
    const double one = cube(c * work(cost, 1)), rows = cube(c * work(cost, n));
    return rows / (cube(cost->reads[n]) + rows) - one / (1 + one);
}

void vouch_cost_learn(vouch_cost *cost, int32_t n_rows, double seconds)
{
    vouch_cost *k = cost;
    if (!(seconds > 0)) return;
    /* A pass measures log s + log r(n), whose derivatives with respect to log s and log c are 1 and h. */
    const double c = exp(k->log_c), h = slope(k, c, n_rows);
    if (k->n_passes == 0) k->log_s = log(seconds / ratio(k, c, n_rows));
    k->n_passes++;
    if (n_rows > k->most_rows) k->most_rows = n_rows;
    k->var_s += DRIFT_S * DRIFT_S;
    k->var_c += DRIFT_C * DRIFT_C;
    const double s_error = k->var_s + h * k->cov, c_error = k->cov + h * k->var_c;
    const double variance = s_error + h * c_error + NOISE * NOISE, most = ODD * sqrt(variance);
    const double error = log(seconds) - k->log_s - log(ratio(k, c, n_rows));
    const double gain_s = s_error / variance, gain_c = c_error / variance;
    const bool odd = !(fabs(error) <= most);
    const double step = odd ? copysign(most, error) : error;
    k->log_s += gain_s * step;
    k->log_c += gain_c * step;
    if (odd) return;
    k->var_s -= gain_s * s_error;
    k->var_c -= gain_c * c_error;
    k->cov -= gain_s * c_error;
}
