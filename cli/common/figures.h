/* SPDX-License-Identifier: MIT */
/* What follows from the counts of one or many answers. NAN: not applicable there. */
#ifndef VOUCH_CLI_FIGURES_H
#define VOUCH_CLI_FIGURES_H

#include "vouch.h"

typedef struct cli_figures {
    double tokens_per_second, acceptance_rate, expected_acceptance, tokens_per_cycle, full_accept_fraction;
} cli_figures;

cli_figures cli_figures_of(const vouch_stats *counts);
void cli_stats_add(vouch_stats *sum, const vouch_stats *one); /* plain_step_seconds is no sum */
double cli_ratio(double a, double b); /* NAN unless b > 0 */

/* Places up to the deepest draft, and guesses of the largest, so that arrays carry no tail of zeros. */
size_t cli_deepest_place(const vouch_stats *counts);
size_t cli_most_guesses(const vouch_stats *counts);

/* Sorts. The value below which `share` of them lie, between two of them in proportion. n >= 1. */
double cli_quantile(double *values, size_t n, double share);
/* The chance that a chi-square of so many degrees of freedom is this large or larger. */
double cli_chi_square_tail(double statistic, int64_t degrees);

/* What the seconds of turns tell, in which one program did as much as another: n of each, side by side. Turns in which
 * something else stopped the machine (three times the median) don't count. */
typedef enum cli_kept_verdict {
    CLI_KEPT_UNCLEAR,
    CLI_KEPT_HOLDS, /* at least as much as promised; from turns enough also what is hardly less */
    CLI_KEPT_BROKEN /* from turns enough: less by three standard errors */
} cli_kept_verdict;

typedef struct cli_kept {
    double share, scatter; /* of the first one's speed that the other keeps; one standard error of it */
    size_t n;              /* turns that count */
    cli_kept_verdict verdict;
} cli_kept;

enum { CLI_KEPT_ENOUGH = 16, CLI_KEPT_MOST = 128 }; /* turns */

/* 1 <= n <= CLI_KEPT_MOST. */
cli_kept cli_kept_of(const double *plain, const double *other, size_t n, double promised);

#endif
