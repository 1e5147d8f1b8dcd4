/* SPDX-License-Identifier: MIT */
/* Random numbers, quantiles, the chi-square distribution, and a test of speed on paired measurements. */
#ifndef VOUCH_TOOL_STATISTICS_H
#define VOUCH_TOOL_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* The next random number after a state, which may begin anywhere (Steele et al., SplitMix64). */
uint64_t tool_random(uint64_t *state);

/* Sorts the n >= 1 values and returns their quantile, interpolated: share 0.5 is the median. */
double tool_quantile(double *values, size_t n, double share);
/* Probability that a chi-square variable with so many degrees of freedom is at least `statistic`. */
double tool_chi_square_tail(double statistic, int64_t degrees);

/* Pearson's test of n draws: counts [n_bins] beside probabilities p [n_bins], whose sum is 1. Returns the probability
 * of counts that are at least so far from p. Bins expected less than `least` times share one, which the smallest other
 * bin joins where it is still expected less. */
double tool_counts_fit(const double *p, const int64_t *counts, int32_t n_bins, int64_t n, double least);

typedef enum tool_speed_verdict {
    TOOL_SPEED_UNCLEAR, /* below the promised share, but with fewer than TOOL_ENOUGH_PAIRS, or they scatter too much */
    TOOL_SPEED_KEPT,    /* at least the promised share; with enough pairs and a scatter below 1 %, also a shortfall
                          within the scatter */
    TOOL_SPEED_LOST     /* with enough pairs: three standard errors below the promised share */
} tool_speed_verdict;

typedef struct tool_speed_kept {
    double share, error; /* share of the plain speed that the other program keeps; its standard error */
    size_t n;            /* pairs used */
    tool_speed_verdict verdict;
} tool_speed_kept;

enum { TOOL_ENOUGH_PAIRS = 16, TOOL_MOST_PAIRS = 128 };

/* plain [n] and other [n] are seconds of two programs doing the same work side by side; 1 <= n <= TOOL_MOST_PAIRS.
 * A pair is dropped where either program takes three times its median: something else held the machine then. */
tool_speed_kept tool_compare_speeds(const double *plain, const double *other, size_t n, double promised);

#endif
