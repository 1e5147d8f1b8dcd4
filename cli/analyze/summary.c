/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "report/rates.h"

cli_means cli_means_of(const cli_acceptance *at, int32_t n)
{
    cli_means m = {.n = n};
    for (int32_t i = 0; i < n; i++) {
        m.sampled += at[i].sampled / n;
        m.greedy += at[i].greedy / n;
        m.entropy += at[i].entropy / n;
        m.same_argmax += (double)at[i].same_argmax / n;
    }
    return m;
}

static int compare_entropy(const void *a, const void *b)
{
    const double x = ((const cli_acceptance *)a)->entropy, y = ((const cli_acceptance *)b)->entropy;
    return (x > y) - (x < y);
}

/* Sorts the tokens `at` [n] of all texts by entropy and cuts them into bins of equal counts. */
static void entropies_bin(cli_analysis *a, cli_acceptance *at, int32_t n)
{
    const int32_t bins = n < CLI_ENTROPY_BINS ? n : CLI_ENTROPY_BINS;
    qsort(at, (size_t)n, sizeof *at, compare_entropy);
    for (int32_t i = 0; i < bins; i++) {
        const int32_t from = (int32_t)((int64_t)n * i / bins), to = (int32_t)((int64_t)n * (i + 1) / bins);
        cli_means *m = &a->entropies[a->n_entropies++];
        *m = cli_means_of(at + from, to - from);
        m->from = at[from].entropy;
        m->to = at[to - 1].entropy;
    }
}

/* Adds a bin of positions [from, to) of all texts, unless it is empty. room: workspace for the tokens of all texts. */
static void position_bin(cli_analysis *a, int32_t from, int32_t to, cli_acceptance *room)
{
    int32_t n = 0;
    for (size_t i = 0; i < a->n_texts; i++)
        for (int32_t t = from; t < to && t < a->texts[i].n; t++) room[n++] = a->texts[i].at[t];
    if (n == 0 || a->n_positions == CLI_POSITION_BINS) return;
    cli_means *m = &a->positions[a->n_positions++];
    *m = cli_means_of(room, n);
    m->from = from;
    m->to = to - 1;
}

double cli_analysis_cycle_seconds(const cli_analysis *a, int32_t k)
{
    return cli_cost_curve_seconds(&a->costs, k + 1) + k * a->draft_seconds;
}

/* Computes the figures of each k. All k cover the same tokens, so that tokens per cycle never fall when k grows. */
static void speedups_compute(cli_analysis *a, int32_t longest, double *room)
{
    const double plain_seconds = cli_analysis_cycle_seconds(a, 0);
    for (int32_t k = 0; k <= CLI_MOST_K; k++) {
        double cycles = 0, tokens = 0;
        for (size_t i = 0; i < a->n_texts; i++) {
            cycles += cli_expected_cycles(a->texts[i].at, a->texts[i].n, k, room);
            tokens += a->texts[i].n;
        }
        a->tokens[k] = k < longest ? cli_ratio(tokens, cycles) : NAN;
        a->constant_tokens[k] = cli_expected_tokens(a->all.sampled, k);
        a->speedup[k] = a->tokens[k] * plain_seconds / cli_analysis_cycle_seconds(a, k);
        if (a->speedup[k] > a->speedup[a->best_k]) a->best_k = k;
    }
    if (isnan(a->speedup[1])) a->best_k = -1;
}

static void draft_positions_compute(cli_analysis *a)
{
    for (int32_t position = 0; position < CLI_MOST_K; position++) {
        double reached = 0, accepted = 0;
        for (size_t i = 0; i < a->n_texts; i++)
            cli_draft_position_acceptance(a->texts[i].at, a->texts[i].n, position, &reached, &accepted);
        a->by_draft_position[position] = cli_ratio(accepted, reached);
    }
}

vouch_status cli_analysis_sum_up(cli_analysis *a, vouch_error *err)
{
    int32_t n = 0, longest = 0;
    for (size_t i = 0; i < a->n_texts; i++) {
        n += a->texts[i].n;
        if (a->texts[i].n > longest) longest = a->texts[i].n;
    }
    cli_acceptance *all = calloc((size_t)n + 1, sizeof *all);
    double *room = calloc((size_t)longest + 1, sizeof *room);
    vouch_status status = VOUCH_OK;
    if (all && room) {
        for (int32_t from = 0, to = 8; from < longest; from = to, to *= 2) position_bin(a, from, to, all);
        n = 0;
        for (size_t i = 0; i < a->n_texts; n += a->texts[i++].n)
            memcpy(all + n, a->texts[i].at, (size_t)a->texts[i].n * sizeof *all);
        a->all = cli_means_of(all, n);
        entropies_bin(a, all, n);
        draft_positions_compute(a);
        speedups_compute(a, longest, room);
    } else {
        *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the tokens' acceptance"};
        status = err->code;
    }
    free(all);
    free(room);
    return status;
}
