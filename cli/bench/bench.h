/* SPDX-License-Identifier: MIT */
/*
 * `vouch bench`: without prompts, the cost curve (passes.c); with prompts, the answers of several configs.
 *
 *   bench.c         runs questions x rounds x configs: one vouch_stats for the answers to all turns of a question
 *   dialog.h        the prompts of a question with several turns
 *   configs.c       the sessions: the target alone, the draft model alone, each drafter with each k and rule
 *   summary.c       sums and rates of a config, in one category or in all
 *   bench_table.c   a table for the terminal
 *   bench_files.c   JSON and CSV
 *   bench_html.c    a page with plots
 *   load.h          many answers at once (--parallel)
 *   trials.c        the ways of reading weights (--kernels)
 */
#ifndef VOUCH_CLI_BENCH_H
#define VOUCH_CLI_BENCH_H

#include "bench/configs.h"
#include "report/cost_curve.h"
#include "report/provenance.h"
#include "report/rates.h"
#include "model/questions.h"

/* One config's answers to all turns of a question: one answer, as the reports count. */
typedef struct cli_answered {
    bool counts;     /* all configs have answered in this round; only then are their answers compared */
    bool is_median;  /* of the config's rounds for this question, this one took the median time */
    bool differs;    /* a text had to equal that of plain decoding and doesn't: law L2 is broken */
    int32_t n_turns; /* answered */
    int32_t n_cut;   /* of these, ended inside a draft: guesses after the last accepted one weren't judged */
    vouch_stats stats;
} cli_answered;

typedef struct cli_comparison {
    const cli_engine *engine;
    cli_provenance provenance;
    cli_questions questions;
    cli_configs configs;
    cli_cost_curve costs;
    int32_t n_ctx;               /* tokens that a conversation may have */
    cli_answered *answers;       /* [question][round][config] */
    size_t n_rounds, n_complete; /* n_complete: answers of each config */
    bool interrupted;            /* by Ctrl-C or by a model that failed */
} cli_comparison;

/* Figures of a config in one category, or in all. NAN: undefined there, such as an acceptance rate without guesses. */
typedef struct cli_summary {
    vouch_stats sum; /* over all questions; of each question, the round with is_median */
    cli_rates rates;
    size_t n_answers, n_different;
    int64_t n_turns, n_cut; /* turns, and cut answers to turns, in the sum */
    double guess_holds;     /* probability that the next guess of a path is accepted when those before it were */
    double slow, fast;      /* tokens/s: a tenth of the answers is slower, a tenth faster */
    double speedup;         /* speed relative to the target alone */
    double theory_tokens_per_cycle, theory_speedup;
} cli_summary;

const cli_answered *cli_bench_answer(const cli_comparison *bench, size_t question, size_t round, size_t config);
/* Marks each config's round of median time once all rounds of a question are over. A round in which another program
 * held the machine is slow, and the median leaves it out. */
void cli_bench_close_question(cli_comparison *bench, size_t question);
/* category NULL: all. */
cli_summary cli_bench_summary(const cli_comparison *bench, size_t config, const char *category);
int32_t cli_bench_threads(const cli_comparison *bench);
/* The maximum length of an answer: "128 tokens", or "the context's end". */
const char *cli_bench_limit(const cli_comparison *bench, char text[32]);

int cli_bench_passes(const cli_options *options);
int cli_bench_trials(const cli_options *options);
int cli_bench_load(const cli_options *options);
int cli_bench_print(const cli_comparison *bench);
int cli_bench_write_json(const cli_comparison *bench);
int cli_bench_write_csv(const cli_comparison *bench);
int cli_bench_write_html(const cli_comparison *bench);
/* Writes the style of a page, with colours for n series. Tables are at least table_rem rem wide. */
void cli_bench_style(FILE *out, size_t n_series, size_t table_rem);
/* Writes <td>x and its unit</td>, or a dash where x is not finite. */
void cli_bench_cell(FILE *out, int decimals, const char *unit, double x);

#endif
