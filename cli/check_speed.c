/* SPDX-License-Identifier: MIT */
/*
 * L4: with a drafter that is never right, decoding keeps at least 97 % of plain speed, when the library may choose how
 * much is drafted. Both sessions say the same text; they take turns, a few tokens at a time, so that a change in the
 * machine's speed meets both. Turns in which something else stopped the machine (three times the median) don't count.
 *
 * The law is called broken only where the loss is beyond what the scatter of the turns explains, three standard errors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "figures.h"

enum {
    TURN = 8, WARM = 2, FEWEST_TURNS = 8, MOST_TURNS = 128,
    MOST = CLI_PROBE_TOKENS + TURN * (MOST_TURNS + 2 * WARM),
};
#define KEPT  0.97
#define CLEAR 0.01 /* a standard error beyond which a shortfall says nothing */

typedef struct turns {
    vouch_session *session;
    double seconds[MOST_TURNS];
    bool is_over;
} turns;

/* So many tokens more: the seconds that they took, for TURN of them. */
static vouch_status turn_take(turns *t, double *seconds, vouch_error *err)
{
    vouch_step step = {0};
    vouch_status status = VOUCH_OK;
    int32_t n = 0;
    const double start = cli_now();
    while (n < TURN && !status && step.finish == VOUCH_FINISH_NONE) {
        status = cli_session_step(t->session, &step, err);
        n += step.n_tokens;
    }
    t->is_over = step.finish != VOUCH_FINISH_NONE;
    *seconds = n > 0 ? (cli_now() - start) * TURN / n : 0;
    return status;
}

static vouch_status turns_open(turns *t, const cli_check *c, unsigned drafters, cli_oracle *oracle, vouch_error *err)
{
    vouch_session_options options = c->engine->options->session;
    int32_t tokens[CLI_PROBE_TOKENS];
    const int32_t n = cli_probe_text(c->engine->model, 1, tokens, c->n_prompt);
    options.n_ctx = MOST + 2 * VOUCH_MAX_DRAFT;
    options.max_tokens = 0;
    options.ignore_eos = true;
    options.sampling.temperature = 0;
    options.speculation.drafters = drafters;
    options.speculation.n_draft = 0;
    options.speculation.custom = cli_oracle_drafter(oracle);
    const vouch_status status = vouch_session_open(&t->session, c->engine->model, &options, err);
    return status ? status : cli_session_prompt(t->session, tokens, (size_t)n, err);
}

static double median_of(const double *values, int32_t n)
{
    double sorted[MOST_TURNS];
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    return cli_quantile(sorted, (size_t)n, 0.5);
}

static void turns_compare(cli_finding *finding, const turns *plain, const turns *wrong, int32_t n)
{
    const double usual = 3 * median_of(plain->seconds, n), usual_wrong = 3 * median_of(wrong->seconds, n);
    double sum = 0, squares = 0, a = 0, b = 0;
    int32_t counted = 0;
    for (int32_t i = 0; i < n; i++) {
        const double left = plain->seconds[i] - KEPT * wrong->seconds[i]; /* 0: just kept */
        if (plain->seconds[i] > usual || wrong->seconds[i] > usual_wrong) continue;
        sum += left;
        squares += left * left;
        a += plain->seconds[i];
        b += wrong->seconds[i];
        counted++;
    }
    const double mean = sum / counted, error = sqrt(fmax(squares / counted - mean * mean, 0) / counted);
    const double kept = a / b, scatter = error * counted / b;
    const bool is_clear = kept >= KEPT || mean < -3 * error || scatter < CLEAR;
    if (is_clear)
        cli_check_compare(finding, mean > -3 * error, "%.1f %% of plain speed is kept, %.1f are promised", 100 * kept,
                          100 * KEPT);
    snprintf(finding->covered, sizeof finding->covered,
             "%.1f %% of plain speed kept with a drafter that is never right, +- %.1f over %d tokens%s", 100 * kept,
             100 * scatter, counted * TURN, is_clear ? "" : ": the machine is too busy to say");
}

vouch_status cli_check_speed(cli_check *check, cli_finding *finding, vouch_error *err)
{
    cli_oracle oracle = {.mode = CLI_ORACLE_WRONG, .n_vocab = vouch_model_get_info(check->engine->model)->n_vocab};
    turns *t = calloc(2, sizeof *t);
    if (!t) {
        *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory"};
        return err->code;
    }
    double ignored;
    int32_t n = 0;
    vouch_status status = turns_open(&t[0], check, VOUCH_DRAFTER_NONE, &oracle, err);
    if (!status) status = turns_open(&t[1], check, VOUCH_DRAFTER_CUSTOM, &oracle, err);
    for (int32_t i = 0; i < 2 * WARM && !status; i++) status = turn_take(&t[i % 2], &ignored, err);
    while (!status && n < MOST_TURNS && !t[0].is_over && !t[1].is_over &&
           (n < FEWEST_TURNS || cli_check_goes_on(check))) {
        status = turn_take(&t[n % 2], &t[n % 2].seconds[n], err);
        if (!status) status = turn_take(&t[1 - n % 2], &t[1 - n % 2].seconds[n], err);
        n++;
    }
    if (!status && n > 0) turns_compare(finding, &t[0], &t[1], n);
    vouch_session_close(t[0].session);
    vouch_session_close(t[1].session);
    free(t);
    return status;
}
