/* SPDX-License-Identifier: MIT */
#include "report/rates.h"

#include <math.h>

double cli_ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

cli_rates cli_rates_of(const vouch_stats *s)
{
    return (cli_rates){.tokens_per_second = cli_ratio((double)s->generated_tokens, s->decode_seconds),
                       .acceptance_rate = cli_ratio((double)s->accepted, (double)s->drafted),
                       .expected_acceptance = cli_ratio(s->expected_acceptance_sum, (double)s->judged),
                       .tokens_per_cycle = cli_ratio((double)s->generated_tokens, (double)s->cycles),
                       .full_accept_fraction = cli_ratio((double)s->full_accepts, (double)s->draft_cycles)};
}

void cli_stats_add(vouch_stats *sum, const vouch_stats *one)
{
    sum->prompt_tokens += one->prompt_tokens;
    sum->generated_tokens += one->generated_tokens;
    sum->thought_tokens += one->thought_tokens;
    sum->cycles += one->cycles;
    sum->drafted += one->drafted;
    sum->accepted += one->accepted;
    sum->full_accepts += one->full_accepts;
    sum->draft_cycles += one->draft_cycles;
    sum->lenient_cycles += one->lenient_cycles;
    sum->judged += one->judged;
    sum->expected_acceptance_sum += one->expected_acceptance_sum;
    sum->predicted_tokens += one->predicted_tokens;
    sum->predicted_seconds += one->predicted_seconds;
    sum->prefill_seconds += one->prefill_seconds;
    sum->decode_seconds += one->decode_seconds;
    sum->draft_seconds += one->draft_seconds;
    sum->verify_seconds += one->verify_seconds;
    sum->judge_seconds += one->judge_seconds;
    for (int i = 0; i < VOUCH_MAX_DRAFT; i++) {
        sum->accepted_at[i] += one->accepted_at[i];
        sum->drafted_at[i] += one->drafted_at[i];
    }
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        sum->accepted_by[i] += one->accepted_by[i];
        sum->drafted_by[i] += one->drafted_by[i];
    }
    for (int i = 0; i < VOUCH_DEPTHS; i++) sum->depth_histogram[i] += one->depth_histogram[i];
}

size_t cli_draft_depth(const vouch_stats *s)
{
    size_t n = VOUCH_MAX_DRAFT;
    while (n > 0 && s->drafted_at[n - 1] == 0) n--;
    return n;
}

size_t cli_most_guesses(const vouch_stats *s)
{
    size_t n = VOUCH_MAX_DRAFT;
    while (n > 0 && s->depth_histogram[n] == 0) n--;
    return n;
}
