/* SPDX-License-Identifier: MIT */
/*
 * `vouch analyze`: how well a draft model fits a target, and what that is worth here.
 *
 *   analyze.c          the texts, p and q of their tokens, what passes cost
 *   acceptance.c       what follows from p and q
 *   analyze_report.c   tables, JSON, plots
 */
#ifndef VOUCH_CLI_ANALYZE_H
#define VOUCH_CLI_ANALYZE_H

#include "analyze/acceptance.h"
#include "common/cost_curve.h"
#include "common/prompt.h"

enum { CLI_MOST_K = 16, CLI_ENTROPY_BINS = 8, CLI_POSITION_BINS = 16 };

typedef struct cli_studied {
    char *name;
    cli_tokens tokens;
    int32_t first;      /* tokens before it are given, and not looked at; at least 1 */
    cli_acceptance *at; /* [n] of the tokens from `first` on */
    int32_t n;
} cli_studied;

/* Means over tokens. */
typedef struct cli_means {
    double from, to; /* of positions, or bits of entropy */
    double r, a, entropy, agree;
    int64_t n;
} cli_means;

typedef struct cli_analysis {
    const cli_engine *engine;
    cli_studied *texts;
    size_t n_texts;
    bool interrupted; /* the texts are those that were read by then, */
    size_t n_asked;   /* of so many */
    cli_cost_curve costs, draft_costs; /* of the target; of the draft model, one row */
    double draft_seconds;
    cli_means all;
    cli_means positions[CLI_POSITION_BINS]; /* 0 to 7, 8 to 15, 16 to 31, ... behind `first` */
    size_t n_positions;
    cli_means entropies[CLI_ENTROPY_BINS]; /* of as many tokens each */
    size_t n_entropies;
    double place[CLI_MOST_K];           /* r where the guesses before it held */
    double tokens[CLI_MOST_K + 1];      /* a cycle with k guesses, walked through the texts */
    double same_tokens[CLI_MOST_K + 1]; /* the same, were r everywhere its mean */
    double speedup[CLI_MOST_K + 1];     /* with the costs measured here */
    int32_t best_k; /* -1: no text is long enough for a cycle with a guess */
} cli_analysis;

/* All that follows from the tokens' acceptance and the costs. Errors: MEMORY. */
vouch_status cli_analysis_sum_up(cli_analysis *analysis, vouch_error *err);
cli_means cli_means_of(const cli_acceptance *at, int32_t n);

int cli_analysis_print(const cli_analysis *analysis);
int cli_analysis_write_json(const cli_analysis *analysis);
int cli_analysis_write_svg(const cli_analysis *analysis);

#endif
