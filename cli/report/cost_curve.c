/* SPDX-License-Identifier: MIT */
#include "report/cost_curve.h"

#include <math.h>
#include <string.h>

#include "report/rates.h"
#include "tool/statistics.h"
#include "tool/term.h"

cli_cost_curve cli_cost_curve_new(void)
{
    static const int32_t rows[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 17, 20, 24, 32, 40, 48, 56, 64, 65};
    cli_cost_curve costs = {.n = sizeof rows / sizeof *rows};
    for (size_t i = 0; i < costs.n; i++) costs.items[i].rows = rows[i];
    return costs;
}

static void cost_add(cli_cost_point *cost, double seconds)
{
    double sorted[CLI_COST_SAMPLES];
    cost->samples[cost->n++ % CLI_COST_SAMPLES] = seconds;
    const size_t n = cost->n < CLI_COST_SAMPLES ? (size_t)cost->n : CLI_COST_SAMPLES;
    memcpy(sorted, cost->samples, n * sizeof *sorted);
    cost->seconds = tool_quantile(sorted, n, 0.5);
}

vouch_status cli_cost_curve_measure(cli_cost_curve *costs, vouch_session *session, vouch_error *err)
{
    const size_t n = costs->n;
    const bool down = costs->n_sweeps++ % 2 != 0;
    for (size_t step = 0; step < n; step++) {
        const size_t i = down ? n - 1 - step : step;
        cli_cost_point *cost = &costs->items[i];
        double seconds;
        if (tool_interrupted()) return err->code = VOUCH_E_CANCELLED;
        const vouch_status status = vouch_session_time_pass(session, cost->rows, 1, &seconds, err);
        if (!status) cost_add(cost, seconds);
        else if (status == VOUCH_E_ARGUMENT && i > 0) costs->n = i < costs->n ? i : costs->n;
        else if (status != VOUCH_E_CONTEXT) return status;
    }
    return VOUCH_OK;
}

double cli_cost_curve_seconds(const cli_cost_curve *costs, double rows)
{
    const cli_cost_point *low = NULL, *high = NULL;
    for (size_t i = 0; i < costs->n; i++) {
        const cli_cost_point *cost = &costs->items[i];
        if (cost->n == 0) continue;
        if (cost->rows <= rows) low = cost;
        else if (!high) high = cost;
    }
    if (!low) return NAN;
    if (!high) return low->seconds * rows / low->rows; /* beyond the last point: its seconds per row */
    return low->seconds + (high->seconds - low->seconds) * (rows - low->rows) / (high->rows - low->rows);
}

double cli_expected_tokens(double a, int32_t k)
{
    double sum = 1, power = 1;
    for (int32_t i = 0; i < k; i++) sum += power *= a;
    return sum;
}

double cli_theory_tokens_per_cycle(double a, const vouch_stats *s)
{
    double sum = 1, power = a;
    if (isnan(a) || s->cycles == 0) return NAN;
    for (int d = 0; d < VOUCH_MAX_DRAFT; d++) {
        /* Drafts that go deeper than d. */
        const int64_t n = s->drafted_at[d] < s->draft_cycles ? s->drafted_at[d] : s->draft_cycles;
        sum += power * (double)n / (double)s->cycles;
        power *= a;
    }
    return sum;
}

double cli_theory_speedup(double a, const vouch_stats *s, const vouch_stats *plain, const cli_cost_curve *costs)
{
    const double tokens = cli_theory_tokens_per_cycle(a, s), one = cli_cost_curve_seconds(costs, 1);
    const double plain_judge = cli_ratio(plain->judge_seconds, (double)plain->cycles);
    double passes = 0;
    for (int n = 0; n < VOUCH_DEPTHS; n++)
        if (s->depth_histogram[n] > 0) passes += (double)s->depth_histogram[n] * cli_cost_curve_seconds(costs, n + 1);
    const double cycle = (passes + s->draft_seconds + s->judge_seconds) / (double)s->cycles;
    return tokens * (one + plain_judge) / cycle;
}
