/* SPDX-License-Identifier: MIT */
/* Rates that follow from the counts of one answer or of many. NAN: the counts leave the rate undefined. */
#ifndef VOUCH_CLI_RATES_H
#define VOUCH_CLI_RATES_H

#include "vouch.h"

typedef struct cli_rates {
    double tokens_per_second, acceptance_rate, expected_acceptance, tokens_per_cycle, full_accept_fraction;
} cli_rates;

cli_rates cli_rates_of(const vouch_stats *counts);
void cli_stats_add(vouch_stats *sum, const vouch_stats *one); /* all fields but plain_step_seconds, which is no sum */
double cli_ratio(double a, double b);                         /* a / b; NAN unless b > 0 */

/* Depth of the deepest draft, and size of the largest: reports cut their arrays of counts there. */
size_t cli_draft_depth(const vouch_stats *counts);
size_t cli_most_guesses(const vouch_stats *counts);

#endif
