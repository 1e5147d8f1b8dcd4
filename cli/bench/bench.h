/* SPDX-License-Identifier: MIT */
/*
 * `vouch bench`: passes without prompts (passes.c), answers with them.
 *
 *   bench.c        questions x rounds x configs, in turn: one vouch_stats for each answer
 *   configs.c         the sessions: the target alone, the draft model alone, each drafter with each k
 *   costs.c        t(n) on this machine, and what theory makes of it
 *   summary.c      what the answers of a config, in a category or in all, come to
 *   bench_table.c, bench_files.c, bench_html.c   the same for people, programs and browsers
 */
#ifndef VOUCH_CLI_BENCH_H
#define VOUCH_CLI_BENCH_H

#include "bench/configs.h"
#include "common/cost_curve.h"
#include "common/provenance.h"
#include "common/rates.h"
#include "common/questions.h"

typedef struct cli_answered {
    bool counts;    /* every config has answered in this round: only then they can be compared */
    bool is_median; /* of the rounds of the question, the one in which the config took the median time */
    bool differs;   /* should be the text of the target alone, and isn't */
    bool cut;       /* ended inside a draft: there were guesses behind the last accepted one */
    vouch_stats stats;
} cli_answered;

typedef struct cli_comparison {
    const cli_engine *engine;
    cli_provenance provenance;
    cli_questions questions;
    cli_configs configs;
    cli_cost_curve costs;
    cli_answered *answers; /* [question][round][config] */
    size_t n_rounds, n_complete; /* n_complete: answers of each config */
    bool interrupted; /* or a model failed */
} cli_comparison;

/* What a config made of a category; of all, where category is NULL. NAN: not applicable. */
typedef struct cli_summary {
    vouch_stats sum; /* of each question the round of median time */
    cli_rates rates;
    size_t n_answers, n_different;
    int64_t n_cut;       /* of those in the sum */
    double guess_holds;  /* the chance of the next guess on a path, where there is one and those before it held */
    double slow, fast;   /* tokens/s that a tenth of the answers stay below, and above */
    double speedup;      /* tokens/s over those of the target alone */
    double theory_tokens_per_cycle, theory_speedup;
} cli_summary;

const cli_answered *cli_bench_answer(const cli_comparison *bench, size_t question, size_t round, size_t config);
/* When its rounds are over: finds the median ones. Where something else stops the machine for a while,
 * that isn't it. */
void cli_bench_close_question(cli_comparison *bench, size_t question);
cli_summary cli_bench_summary(const cli_comparison *bench, size_t config, const char *category);
int32_t cli_bench_threads(const cli_comparison *bench);
/* Where answers end: "128 tokens" */
const char *cli_bench_limit(const cli_comparison *bench, char text[32]);

int cli_bench_passes(const cli_options *options);
int cli_bench_print(const cli_comparison *bench);
int cli_bench_write_json(const cli_comparison *bench);
int cli_bench_write_csv(const cli_comparison *bench);
int cli_bench_write_html(const cli_comparison *bench);

#endif
