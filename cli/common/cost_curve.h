/* SPDX-License-Identifier: MIT */
/*
 * What theory says about speculation, from what is measured: the chance a that the next guess holds, and t(n), the
 * seconds of a pass of n rows on this machine.
 *
 *   tokens a cycle    1 + a + a^2 + ... + a^k = (1 - a^(k + 1)) / (1 - a)      (arXiv 2211.17192, equation 1)
 *   speedup           tokens a cycle x t(1) / (t(k + 1) + the seconds of drafting and judging a cycle)
 *
 * The paper's a is the same everywhere. In truth guesses hold in runs, so that where theory and measurement differ,
 * that is the reason, or the machine's speed has changed.
 */
#ifndef VOUCH_CLI_COST_CURVE_H
#define VOUCH_CLI_COST_CURVE_H

#include "vouch.h"

enum { CLI_MOST_COST_POINTS = 24, CLI_COST_SAMPLES = 64 };

typedef struct cli_cost_point {
    int32_t rows;
    double seconds; /* the median of the last measurements */
    int64_t n;
    double samples[CLI_COST_SAMPLES]; /* the i-th of them at i % CLI_COST_SAMPLES */
} cli_cost_point;

typedef struct cli_cost_curve {
    cli_cost_point items[CLI_MOST_COST_POINTS]; /* by rows, ascending */
    size_t n;
    int64_t n_sweeps;
} cli_cost_curve;

/* Ready to measure passes of 1 to 65 rows: each of the first few, then fewer and fewer. */
cli_cost_curve cli_cost_curve_new(void);
/* One more measurement of each, at the end of the session's sequence. What doesn't fit there is left out, and rows that
 * the session has no room for are dropped. Up and down by turns, so that each comes after one like it: processors are
 * slower for some milliseconds after much computing, and a pass of one row then would say too much for drafting. */
vouch_status cli_cost_curve_measure(cli_cost_curve *costs, vouch_session *session, vouch_error *err);
/* t(n), between measured ones in proportion. NAN where there are none. */
double cli_cost_curve_seconds(const cli_cost_curve *costs, double rows);

/* (1 - a^(k + 1)) / (1 - a). */
double cli_expected_tokens(double a, int32_t k);

/* What theory makes of a and the counts of a run: its drafts' lengths, its costs of drafting and judging. In a tree,
 * a is for a place, and a cycle's depth may be overestimated. NAN where nothing was drafted. */
double cli_theory_tokens_per_cycle(double a, const vouch_stats *counts);
double cli_theory_speedup(double a, const vouch_stats *counts, const vouch_stats *plain, const cli_cost_curve *costs);

#endif
