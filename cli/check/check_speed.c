/* SPDX-License-Identifier: MIT */
/*
 * L4: with a drafter that is always wrong, decoding keeps at least 97 % of plain speed, provided that pace chooses the
 * draft length. Two sessions, one plain, write the same text a few tokens at a time by turns, so that both meet the
 * machine in the same state. A turn is long enough that one wasted draft doesn't make it an outlier, which
 * tool_compare_speeds would drop. Where even FEWEST_TURNS turns would take longer than the whole check, no turn is
 * taken: so few could not show a loss.
 */
#include <math.h>
#include <stdlib.h>

#include "check/check.h"
#include "tool/statistics.h"

enum {
    TURN = 8,
    WARM = 2,
    FEWEST_TURNS = 8,
    MOST_TURNS = TOOL_MOST_PAIRS,
    MOST = CLI_PROBE_TOKENS + TURN * (MOST_TURNS + 2 * WARM),
};
#define KEPT 0.97

typedef struct turns {
    vouch_session *session;
    double seconds[MOST_TURNS];
    bool is_over;
} turns;

/* Decodes TURN tokens or a few more; *seconds is the time scaled to TURN tokens. */
static vouch_status turn_take(turns *t, double *seconds, vouch_error *err)
{
    vouch_step step = {0};
    vouch_status status = VOUCH_OK;
    int32_t n = 0;
    const double start = tool_now();
    while (n < TURN && !status && step.finish == VOUCH_FINISH_NONE) {
        status = cli_session_step(t->session, &step, err);
        n += step.n_tokens;
    }
    t->is_over = step.finish != VOUCH_FINISH_NONE;
    *seconds = n > 0 ? (tool_now() - start) * TURN / n : 0;
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

/* An unclear comparison counts neither for nor against the law. */
static void turns_compare(cli_finding *finding, const turns *plain, const turns *wrong, int32_t n)
{
    const tool_speed_kept kept = tool_compare_speeds(plain->seconds, wrong->seconds, (size_t)n, KEPT);
    if (kept.verdict != TOOL_SPEED_UNCLEAR)
        cli_finding_compare(finding, kept.verdict == TOOL_SPEED_KEPT,
                            "%.1f %% of plain speed is kept; the law promises %.1f %%", 100 * kept.share, 100 * KEPT);
    snprintf(finding->covered, sizeof finding->covered,
             "%.1f %% of plain speed kept with a drafter that is always wrong, +- %.1f over %zu tokens%s",
             100 * kept.share, 100 * kept.error, kept.n * TURN,
             kept.verdict != TOOL_SPEED_UNCLEAR ? ""
             : kept.n < TOOL_ENOUGH_PAIRS       ? ": too few for a verdict, set a longer time with --seconds"
                                                : ": the machine is too busy for a verdict");
}

static double fewest_rows(void)
{
    return 2.0 * TURN * (FEWEST_TURNS + WARM);
}

static bool has_time(const cli_check *check)
{
    return fewest_rows() * check->row_seconds <= fmax(check->seconds, 1);
}

double cli_check_speed_rows(const cli_check *check)
{
    return has_time(check) ? fewest_rows() : 0;
}

vouch_status cli_check_speed(cli_check *check, cli_finding *finding, vouch_error *err)
{
    cli_oracle oracle = {.mode = CLI_ORACLE_WRONG, .n_vocab = vouch_model_get_info(check->engine->model)->n_vocab};
    if (!has_time(check)) {
        snprintf(finding->covered, sizeof finding->covered,
                 "a pass takes %.0f ms here: measuring speed needs --seconds %.0f or more", check->row_seconds * 1e3,
                 ceil(fewest_rows() * check->row_seconds));
        return VOUCH_OK;
    }
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
        cli_check_report(check);
    }
    if (!status && n > 0) turns_compare(finding, &t[0], &t[1], n);
    vouch_session_close(t[0].session);
    vouch_session_close(t[1].session);
    free(t);
    return status;
}
