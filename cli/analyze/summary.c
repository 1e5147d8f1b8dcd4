/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "common/rates.h"

cli_means cli_means_of(const cli_acceptance *at, int32_t n)
{
    cli_means m = {.n = n};
    for (int32_t i = 0; i < n; i++) {
        m.r += at[i].r / n;
        m.a += at[i].a / n;
        m.entropy += at[i].entropy / n;
        m.agree += (double)at[i].agree / n;
    }
    return m;
}

static int compare_entropy(const void *a, const void *b)
{
    const double x = ((const cli_acceptance *)a)->entropy, y = ((const cli_acceptance *)b)->entropy;
    return (x > y) - (x < y);
}

/* `at` [n] are all tokens, one text after the other; they are sorted. */
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

/* Tokens at positions [from, to) behind where each text begins; `room` takes them. */
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

/* For each k: cycles of all texts, tokens a cycle, and what that is worth. */
static void speedups_compute(cli_analysis *a, double *room)
{
    const double one = cli_cost_curve_seconds(&a->costs, 1);
    for (int32_t k = 0; k <= CLI_MOST_K; k++) {
        double cycles = 0, tokens = 0;
        for (size_t i = 0; i < a->n_texts; i++) {
            double made;
            cycles += cli_expected_cycles(a->texts[i].at, a->texts[i].n, k, room, &made);
            tokens += made;
        }
        const double seconds = cli_cost_curve_seconds(&a->costs, k + 1) + k * a->draft_seconds;
        a->tokens[k] = cli_ratio(tokens, cycles);
        a->same_tokens[k] = cli_expected_tokens(a->all.r, k);
        a->speedup[k] = a->tokens[k] * one / seconds;
        if (a->speedup[k] > a->speedup[a->best_k]) a->best_k = k;
    }
    if (isnan(a->speedup[1])) a->best_k = -1;
}

static void places_compute(cli_analysis *a)
{
    for (int32_t place = 0; place < CLI_MOST_K; place++) {
        double reached = 0, held = 0;
        for (size_t i = 0; i < a->n_texts; i++)
            cli_place_acceptance(a->texts[i].at, a->texts[i].n, place, &reached, &held);
        a->place[place] = cli_ratio(held, reached);
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
    double *room = calloc((size_t)longest + CLI_MOST_K + 2, sizeof *room);
    vouch_status status = VOUCH_OK;
    if (all && room) {
        for (int32_t from = 0, to = 8; from < longest; from = to, to *= 2) position_bin(a, from, to, all);
        n = 0;
        for (size_t i = 0; i < a->n_texts; n += a->texts[i++].n)
            memcpy(all + n, a->texts[i].at, (size_t)a->texts[i].n * sizeof *all);
        a->all = cli_means_of(all, n);
        entropies_bin(a, all, n);
        places_compute(a);
        speedups_compute(a, room);
    } else {
        *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the texts"};
        status = err->code;
    }
    free(all);
    free(room);
    return status;
}
