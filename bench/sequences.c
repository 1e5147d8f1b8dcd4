/* SPDX-License-Identifier: MIT */
/*
 * One pass over n sequences of one row each, beside a pass of one row: what batching costs. Each sequence has its own
 * pages with --tokens tokens in them, and every row gets logits. For comparison it times a chain of n rows of one
 * sequence, the pass that checks n - 1 guesses.
 *
 * A round times all shapes of a pass by turns, each as the median of 9 passes. A table's row is the median of --prompts
 * rounds; its ratio is the median of the rounds' ratios.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/common.h"
#include "tool/statistics.h"
#include "engine/file/model.h"
#include "model/pass/pass.h"
#include "support/bench.h"

enum { MOST = 16, N_COUNTS = 6, MOST_ROUNDS = 1000, N_PASSES = 9 };

static const int32_t counts[N_COUNTS] = {1, 2, 4, 8, 12, MOST};

typedef struct crowd {
    vouch_pool *pool;
    vouch_pages *pages;
    vouch_memory *memories[MOST];
    vouch_pass *pass;
} crowd;

/* Fills the memory with n arbitrary tokens: a row costs the same whatever they are. */
static void memory_fill(const crowd *c, vouch_memory *memory, int32_t n, int32_t n_vocab)
{
    int32_t tokens[MOST];
    for (int32_t at = 0; at < n; at += MOST) {
        const int32_t n_rows = n - at < MOST ? n - at : MOST;
        for (int32_t i = 0; i < n_rows; i++) tokens[i] = (at + i) * 7919 % n_vocab;
        vouch_pass_chain(c->pass, memory, tokens, n_rows, 0);
    }
}

static void crowd_open(crowd *c, const vouch_model *model, int32_t n_threads, int32_t n_tokens)
{
    const int32_t n_ctx = n_tokens + MOST;
    vouch_error err;
    vouch_pages_options pages = vouch_pages_for(n_ctx, VOUCH_KV_F16);
    pages.n_pages *= MOST;
    const vouch_pass_options pass = {.n_ctx = n_ctx, .max_rows = MOST, .max_logits = MOST};
    bench_check(vouch_pool_open(&c->pool, n_threads, &err), &err);
    bench_check(vouch_pages_open(&c->pages, model->weights, &pages, &err), &err);
    bench_check(vouch_pass_open(&c->pass, model->weights, c->pool, &pass, &err), &err);
    for (int32_t i = 0; i < MOST; i++) {
        bench_check(vouch_memory_open(&c->memories[i], c->pages, n_ctx, MOST, &err), &err);
        memory_fill(c, c->memories[i], n_tokens, model->weights->hparams.n_vocab);
    }
}

static void crowd_close(crowd *c)
{
    for (int32_t i = 0; i < MOST; i++) vouch_memory_close(c->memories[i]);
    vouch_pass_close(c->pass);
    vouch_pages_close(c->pages);
    vouch_pool_close(c->pool);
}

/* Milliseconds of a pass of n rows: of n sequences, or a chain of the first one's. */
static double pass_time(const crowd *c, int32_t n, bool is_chain)
{
    double times[N_PASSES];
    vouch_row rows[MOST];
    for (int32_t i = 0; i < n; i++)
        rows[i] = (vouch_row){
            .memory = c->memories[is_chain ? 0 : i], .token = i, .parent = is_chain ? i - 1 : -1, .logits = true};
    for (int32_t p = 0; p < N_PASSES; p++) {
        for (int32_t i = 0; i < n; i++) (void)vouch_memory_reserve(rows[i].memory, is_chain ? n : 1);
        const double start = vouch_now();
        vouch_pass_run(c->pass, rows, n);
        times[p] = 1e3 * (vouch_now() - start);
        for (int32_t i = 0; i < n; i++) vouch_memory_keep_rows(rows[i].memory, 0);
    }
    return tool_quantile(times, N_PASSES, 0.5);
}

int main(int argc, char **argv)
{
    static double times[2][N_COUNTS][MOST_ROUNDS], ratios[2][N_COUNTS][MOST_ROUNDS];
    const bench_flags flags =
        bench_parse("sequences",
                    "sequences [FLAGS]\n\nTimes one pass over several sequences beside a pass of one row.\n",
                    (bench_flags){.n_prompts = 9, .n_tokens = 100}, argc, argv);
    vouch_model *model = bench_open(flags.model, flags.cpu);
    const int32_t n_rounds = vouch_min(flags.n_prompts, MOST_ROUNDS);
    crowd c;
    crowd_open(&c, model, flags.n_threads, flags.n_tokens);
    for (int32_t round = 0; round < n_rounds; round++)
        for (int i = 0; i < N_COUNTS; i++)
            for (int chain = 0; chain < 2; chain++) {
                times[chain][i][round] = pass_time(&c, counts[i], chain);
                ratios[chain][i][round] = times[chain][i][round] / pass_time(&c, 1, true);
            }
    printf("%6s %22s %22s  medians of %d rounds, after %d tokens\n", "rows", "sequences ms   to 1", "chain ms   to 1",
           (int)n_rounds, (int)flags.n_tokens);
    for (int i = 0; i < N_COUNTS; i++) {
        printf("%6d", (int)counts[i]);
        for (int shape = 0; shape < 2; shape++)
            printf(" %14.3f %7.3f", tool_quantile(times[shape][i], (size_t)n_rounds, 0.5),
                   tool_quantile(ratios[shape][i], (size_t)n_rounds, 0.5));
        putchar('\n');
    }
    crowd_close(&c);
    vouch_model_close(model);
    return 0;
}
