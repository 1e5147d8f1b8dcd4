/* SPDX-License-Identifier: MIT */
/*
 * Milliseconds to open and to close a session, with each set of drafters: medians of --prompts rounds.
 * Every round opens one session of each set, so that a busy machine slows all of them alike. Before each session
 * the heap gives its free pages back: a session meets fresh memory, as the first one of a process does. The row
 * "none" is the session without drafters: KV cache, workspace and threads. The column "added" is the difference from
 * that row.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/common.h"
#include "tool/statistics.h"
#include "support/bench.h"

enum { MOST_ROUNDS = 1000 };

typedef struct drafter_set {
    char name[24];
    unsigned drafters;
    double open[MOST_ROUNDS], close[MOST_ROUNDS]; /* ms */
} drafter_set;

static drafter_set sets[VOUCH_DRAFTERS + 2];
static int n_sets;

static void set_add(const char *name, unsigned drafters)
{
    snprintf(sets[n_sets].name, sizeof sets[n_sets].name, "%s", name);
    sets[n_sets++].drafters = drafters;
}

/* "none" first, then each drafter that needs nothing, then all of these. Opening a draft model is not measured here. */
static void sets_list(void)
{
    for (int i = 0; vouch_drafter_name(i); i++)
        if (vouch_drafter_get_info(i).need == VOUCH_NEED_NOTHING) set_add(vouch_drafter_name(i), 1u << i);
    set_add("auto", VOUCH_DRAFTER_AUTO);
}

static void set_time(drafter_set *set, const vouch_model *model, int32_t n_threads, int32_t round)
{
    vouch_session_options options = vouch_session_options_default();
    options.n_threads = n_threads;
    options.speculation.drafters = set->drafters;
    malloc_trim(0);
    const double start = 1e3 * vouch_now();
    vouch_session *session = bench_session(model, &options);
    const double opened = 1e3 * vouch_now();
    vouch_session_close(session);
    set->open[round] = opened - start;
    set->close[round] = 1e3 * vouch_now() - opened;
}

int main(int argc, char **argv)
{
    const bench_flags flags = bench_parse("session_open", "session_open [FLAGS]\n\nHow long a session takes to open.\n",
                                          (bench_flags){.n_prompts = 101}, argc, argv);
    vouch_model *model = bench_open(flags.model, flags.cpu);
    sets_list();
    const int32_t n = flags.n_prompts < MOST_ROUNDS ? flags.n_prompts : MOST_ROUNDS;
    for (int32_t round = 0; round < n; round++)
        for (int s = 0; s < n_sets; s++) set_time(&sets[s], model, flags.n_threads, round);
    printf("%-16s %8s %8s %8s  milliseconds, medians of %d\n", "drafters", "open", "added", "close", (int)n);
    const double plain = tool_quantile(sets[0].open, (size_t)n, 0.5);
    for (int s = 0; s < n_sets; s++) {
        const double open = tool_quantile(sets[s].open, (size_t)n, 0.5);
        printf("%-16s %8.3f %8.3f %8.3f\n", sets[s].name, open, open - plain,
               tool_quantile(sets[s].close, (size_t)n, 0.5));
    }
    vouch_model_close(model);
    return 0;
}
