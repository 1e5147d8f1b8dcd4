/* SPDX-License-Identifier: MIT */
/*
 * The cost curve t(n), the seconds of a pass of n rows on this machine, and the speed that follows from it and from the
 * acceptance rate a:
 *
 *   tokens per cycle   1 + a + a^2 + ... + a^k = (1 - a^(k + 1)) / (1 - a)      (arXiv 2211.17192, equation 1)
 *   speedup            tokens per cycle x t(1) / (t(k + 1) + the seconds of drafting and judging)
 *
 * The formula takes a as the same for every guess. Real guesses are accepted in runs; this, or a change of the
 * machine's speed, explains why a measured speedup differs from the predicted one.
 */
#ifndef VOUCH_CLI_COST_CURVE_H
#define VOUCH_CLI_COST_CURVE_H

#include "vouch.h"

enum { CLI_MOST_COST_POINTS = 24, CLI_COST_SAMPLES = 64 };

typedef struct cli_cost_point {
    int32_t rows;
    double seconds; /* the median of the last measurements */
    int64_t n;
    double samples[CLI_COST_SAMPLES]; /* a ring: measurement i is at i % CLI_COST_SAMPLES */
} cli_cost_point;

typedef struct cli_cost_curve {
    cli_cost_point items[CLI_MOST_COST_POINTS]; /* by rows, ascending */
    size_t n;
    int64_t n_sweeps;
} cli_cost_curve;

/* A curve without measurements, with points from 1 to 65 rows that grow sparser. */
cli_cost_curve cli_cost_curve_new(void);
/* Measures each point once more, at the end of the session's sequence. Points that the context has no space for are
 * skipped; points with more rows than the session supports are dropped. Rows rise and fall in turn, so that each pass
 * follows one of similar size: a processor is slower for some milliseconds after a large pass, and a slow pass of one
 * row would make speculation look too good. */
vouch_status cli_cost_curve_measure(cli_cost_curve *costs, vouch_session *session, vouch_error *err);
/* t(n), interpolated. NAN without measurements. */
double cli_cost_curve_seconds(const cli_cost_curve *costs, double rows);

/* (1 - a^(k + 1)) / (1 - a). */
double cli_expected_tokens(double a, int32_t k);

/* Expected tokens per cycle, and speed relative to plain decoding, from the acceptance rate a and a run's draft
 * lengths and costs of drafting and judging (Leviathan et al., theorem 3.8). In a tree, a is the rate of positions at
 * which the rule accepts one of the guesses; the draft length is then the number of guesses, which overestimates the
 * depth. NAN where the run has no drafts. */
double cli_theory_tokens_per_cycle(double a, const vouch_stats *counts);
double cli_theory_speedup(double a, const vouch_stats *counts, const vouch_stats *plain, const cli_cost_curve *costs);

#endif
