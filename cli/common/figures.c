/* SPDX-License-Identifier: MIT */
#include "common/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double cli_ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

cli_figures cli_figures_of(const vouch_stats *s)
{
    return (cli_figures){.tokens_per_second = cli_ratio((double)s->generated_tokens, s->decode_seconds),
                         .acceptance_rate = cli_ratio((double)s->accepted, (double)s->drafted),
                         .expected_acceptance = cli_ratio(s->expected_acceptance_sum, (double)s->judged),
                         .tokens_per_cycle = cli_ratio((double)s->generated_tokens, (double)s->cycles),
                         .full_accept_fraction = cli_ratio((double)s->full_accepts, (double)s->draft_cycles)};
}

void cli_stats_add(vouch_stats *sum, const vouch_stats *one)
{
    sum->prompt_tokens += one->prompt_tokens;
    sum->generated_tokens += one->generated_tokens;
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

size_t cli_deepest_place(const vouch_stats *s)
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

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double cli_quantile(double *values, size_t n, double share)
{
    qsort(values, n, sizeof *values, compare_doubles);
    const double at = share * (double)(n - 1);
    const size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
    return values[low] + (at - (double)low) * (values[high] - values[low]);
}

double cli_chi_square_tail(double statistic, int64_t degrees)
{
    /* The regularised upper incomplete gamma function Q(a, x): its series where x is small, its continued fraction
     * (Lentz's method) where it is large. */
    const double a = (double)degrees / 2, x = statistic / 2;
    const double front = x > 0 ? exp(a * log(x) - x - lgamma(a)) : 0;
    if (x <= 0) return 1;
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int i = 1; i < 10000 && term > sum * 1e-16; i++) sum += term *= x / (a + i);
        return 1 - front * sum;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int i = 1; i < 10000; i++) {
        const double an = -i * (i - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        const double delta = c * d;
        h *= delta;
        if (fabs(delta - 1) < 1e-15) break;
    }
    return front * h;
}

static double median_of(const double *values, size_t n)
{
    double sorted[CLI_KEPT_MOST];
    memcpy(sorted, values, n * sizeof *sorted);
    return cli_quantile(sorted, n, 0.5);
}

cli_kept cli_kept_of(const double *plain, const double *other, size_t n, double promised)
{
    const double most = 3 * median_of(plain, n), most_other = 3 * median_of(other, n);
    const double clear = 0.01; /* a standard error beyond which a shortfall says nothing */
    double sum = 0, squares = 0, a = 0, b = 0;
    cli_kept kept = {.verdict = CLI_KEPT_UNCLEAR};
    for (size_t i = 0; i < n; i++) {
        const double left = plain[i] - promised * other[i]; /* 0: just kept */
        if (plain[i] > most || other[i] > most_other) continue;
        sum += left;
        squares += left * left;
        a += plain[i];
        b += other[i];
        kept.n++;
    }
    const double count = (double)kept.n, mean = sum / count;
    const double error = sqrt(fmax(squares / count - mean * mean, 0) / count);
    kept.share = a / b;
    kept.scatter = error * count / b;
    if (kept.share >= promised) kept.verdict = CLI_KEPT_HOLDS;
    else if (kept.n < CLI_KEPT_ENOUGH) return kept;
    else if (mean <= -3 * error) kept.verdict = CLI_KEPT_BROKEN;
    else if (kept.scatter < clear) kept.verdict = CLI_KEPT_HOLDS;
    return kept;
}
