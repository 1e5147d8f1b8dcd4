/* SPDX-License-Identifier: MIT */
/*
 * `vouch bench --prompts --parallel 1,2,4,8`: an engine answers all prompts, 1, 2, 4 or 8 at once, plain and with
 * each --spec.
 *
 *   load.c          runs rounds x (number at once) x configs: one cli_load_cell for each pair
 *   load_report.c   table, JSON, and a page with plots
 */
#ifndef VOUCH_CLI_LOAD_H
#define VOUCH_CLI_LOAD_H

#include "report/provenance.h"
#include "model/questions.h"

/* Sums over all rounds for one config and one number of answers at once. */
typedef struct cli_load_cell {
    double *speeds; /* [n_rounds] tokens/s of each round: all prompts and answers */
    double *gaps;   /* [n_gaps] seconds between the tokens of an answer */
    size_t n_gaps, most_gaps;
    int64_t generated, drafted, accepted, passes, rows, draft_passes;
    double predicted_tokens, predicted_seconds; /* of the cycles, as pace expected them */
    int64_t decoded; /* tokens of cycles; decode_seconds: their time, summed over all sessions */
    double decode_seconds;
    double memory;      /* bytes of weights, cache and sessions */
    size_t n_different; /* answers that must be the text of config 0, one at once, and aren't */
} cli_load_cell;

typedef struct cli_load {
    const cli_engine *engine;
    cli_provenance provenance;
    cli_questions questions;
    unsigned *drafters; /* [n_configs]; config 0 is plain decoding */
    size_t n_configs;
    const tool_ints *at_once;    /* of --parallel */
    cli_load_cell *cells;        /* [at_once][config] */
    size_t n_rounds, n_complete; /* n_complete: whole rounds */
    int32_t n_ctx;
    int32_t **expected; /* [questions] answers of config 0, one at a time: the number of tokens, then the tokens */
    const char *rule;   /* of these answers */
} cli_load;

/* Figures of a cell. NAN: undefined there. */
typedef struct cli_load_figures {
    double speed;                /* tokens/s, the median of the rounds */
    double to_first, to_plain;   /* median over the rounds of the speed, relative to the config at the first number
                                    at once, and to plain decoding at the same number */
    double median_gap, late_gap; /* seconds between tokens: the median, and the 99th percentile */
    double accepted;             /* share of the guesses */
    double tokens_per_pass, rows_per_pass;
    double draft_passes_per_pass; /* passes of a draft model or head, prompts included */
    double expected_to_achieved;  /* pace's expected speed relative to the measured one */
} cli_load_figures;

cli_load_cell *cli_load_at(const cli_load *load, size_t i_at_once, size_t config);
cli_load_figures cli_load_figure(const cli_load *load, size_t i_at_once, size_t config);
const char *cli_load_name(const cli_load *load, size_t config, char text[CLI_DRAFTERS_SIZE]);

int cli_load_print(const cli_load *load);
int cli_load_write_json(const cli_load *load);
int cli_load_write_html(const cli_load *load);

#endif
