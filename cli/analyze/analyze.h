/* SPDX-License-Identifier: MIT */
/*
 * `vouch analyze`: how well a draft model fits a target, and how fast speculation with it would be here.
 *
 *   analyze.c          collects the texts, reads p and q at their tokens, times passes
 *   acceptance.c       acceptance of one token, expected cycles of one text
 *   summary.c          means over texts, positions and entropies; expected speed for each k
 *   analyze_report.c   tables, JSON, plots
 */
#ifndef VOUCH_CLI_ANALYZE_H
#define VOUCH_CLI_ANALYZE_H

#include "analyze/acceptance.h"
#include "report/cost_curve.h"
#include "model/prompt.h"

enum { CLI_MOST_K = 16, CLI_ENTROPY_BINS = 8, CLI_POSITION_BINS = 16 };

typedef struct cli_analyzed_text {
    char *name;
    cli_tokens tokens;
    int32_t first;      /* the tokens before it are the prompt and aren't analyzed; at least 1 */
    cli_acceptance *at; /* [n] one for each token from `first` on */
    int32_t n;
} cli_analyzed_text;

/* Means over n tokens. */
typedef struct cli_means {
    double from, to; /* of a bin: its range of positions, or of entropy in bits */
    double sampled, greedy, entropy, same_argmax;
    int64_t n;
} cli_means;

typedef struct cli_analysis {
    const cli_engine *engine;
    cli_analyzed_text *texts;
    size_t n_texts, n_asked; /* n_texts < n_asked after an interruption */
    bool interrupted;
    cli_cost_curve costs, draft_costs; /* the target's cost curve; the draft model's, for one row only */
    double draft_seconds;              /* of one guess */
    cli_means all;
    cli_means positions[CLI_POSITION_BINS]; /* positions 0 to 7, 8 to 15, 16 to 31, ...; `first` is position 0 */
    size_t n_positions;
    cli_means entropies[CLI_ENTROPY_BINS]; /* of as many tokens each */
    size_t n_entropies;
    double by_draft_position[CLI_MOST_K];   /* acceptance rate, given that the guesses before it were accepted */
    double tokens[CLI_MOST_K + 1];          /* per cycle with k guesses; NAN: every text is shorter than k + 1 */
    double constant_tokens[CLI_MOST_K + 1]; /* the same if every guess had the mean acceptance */
    double speedup[CLI_MOST_K + 1];         /* over plain decoding, with the costs measured here */
    int32_t best_k;                         /* -1: no text is long enough for a guess */
} cli_analysis;

/* Fills everything that follows from the tokens' acceptance and the costs. Errors: MEMORY. */
vouch_status cli_analysis_sum_up(cli_analysis *analysis, vouch_error *err);
cli_means cli_means_of(const cli_acceptance *at, int32_t n);
/* Seconds of a cycle with k guesses. */
double cli_analysis_cycle_seconds(const cli_analysis *analysis, int32_t k);

int cli_analysis_print(const cli_analysis *analysis);
int cli_analysis_write_json(const cli_analysis *analysis);
int cli_analysis_write_svg(const cli_analysis *analysis);

#endif
