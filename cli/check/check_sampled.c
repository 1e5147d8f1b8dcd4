/* SPDX-License-Identifier: MIT */
/*
 * L2 for sampled text, by counting. The token after a prompt is drawn many times, each time with another seed, and the
 * counts must fit the target's distribution p by Pearson's chi-square test. There are two kinds of draws:
 *
 *   the rule   vouch_reject on the likeliest tokens of p, and of q, another row of the same model; cheap, so many draws
 *   sessions   a prompt and one step each, with fixed guesses or those of the draft model
 *
 * Each test calls a sound rule broken with probability 1 in a million.
 */
#include <math.h>
#include <stdlib.h>

#include "check/check.h"
#include "options/option_checks.h"
#include "tool/statistics.h"

enum { PROMPT = 2, TOP = 64, RULE_DRAWS = 50000, SESSION_DRAWS = 4000, FEWEST_DRAWS = 30 };
#define LEAST_CHANCE 1e-6
#define SLOW_ROW 1e-3 /* seconds */

typedef struct chance {
    cli_check *check;
    cli_finding *finding;
    int32_t tokens[PROMPT], n;
    int64_t n_vocab;
    float *rows;      /* [2][n_vocab] p after the prompt's last token, q after its first */
    int32_t top[TOP]; /* the likeliest tokens of p; all others share a bin */
    int32_t n_top;
    double least; /* the smallest probability that a test gave its counts */
    int64_t n_draws;
    int n_kinds; /* kinds of guesses that the sessions have tried: likeliest, drawn, second likeliest */
} chance;

/* Compares the counts of n draws with p. */
static void counts_compare(chance *c, const double *p, const int64_t *counts, int32_t n_bins, int64_t n,
                           const char *name)
{
    const double tail = tool_counts_fit(p, counts, n_bins, n, 5);
    if (tail < c->least) c->least = tail;
    c->n_draws += n;
    cli_finding_compare(c->finding, tail >= LEAST_CHANCE, "%s: %lld draws don't fit p (probability %.1e)", name,
                        (long long)n, tail);
}

/* ------------------------------------------------------------------ the rule */

/* Uniform in [0, 1), for guesses that a drafter would draw. */
static double own_uniform(uint64_t *state)
{
    return (double)(tool_random(state) >> 11) * 0x1p-53;
}

static int32_t draw_from(const float *q, int32_t n, double u)
{
    double total = 0, sum = 0;
    int32_t last = 0;
    for (int32_t i = 0; i < n; i++) total += (double)q[i];
    for (int32_t i = 0; i < n; i++) {
        if (q[i] <= 0) continue;
        last = i;
        sum += (double)q[i];
        if (u * total < sum) return i;
    }
    return last;
}

/* Judges two guesses at a time, drawn from q; q NULL: always the likeliest token of p. Counts the first token, on which
 * the second guess has a say where a rule judges both together. */
static vouch_status rule_compare(chance *c, const float *p, const float *q, vouch_accept rule, vouch_error *err)
{
    enum { K = 2 };
    float p_rows[(K + 1) * TOP], q_rows[K * TOP];
    double expected[TOP], total = 0;
    int64_t counts[TOP] = {0};
    uint64_t state = 1;
    char name[64];
    for (int32_t i = 0; i < c->n_top; i++) {
        for (int row = 0; row <= K; row++) p_rows[row * c->n_top + i] = p[i];
        for (int row = 0; row < K && q; row++) q_rows[row * c->n_top + i] = q[i];
        total += (double)p[i];
    }
    for (int32_t i = 0; i < c->n_top; i++) expected[i] = (double)p[i] / total;
    vouch_status status = VOUCH_OK;
    for (int64_t i = 0; i < RULE_DRAWS && !status; i++) {
        int32_t guesses[K] = {0};
        for (int k = 0; k < K && q; k++) guesses[k] = draw_from(q, c->n_top, own_uniform(&state));
        const vouch_rejection in = {.k = K,
                                    .n_vocab = c->n_top,
                                    .guesses = guesses,
                                    .p = p_rows,
                                    .q = q ? q_rows : NULL,
                                    .accept = rule,
                                    .lenience = 1,
                                    .seed = 42,
                                    .first_position = (K + 1) * i};
        int32_t n_accepted, final;
        status = vouch_reject(&in, &n_accepted, &final, NULL, err);
        if (!status) counts[n_accepted > 0 ? guesses[0] : final]++;
    }
    snprintf(name, sizeof name, "%s, guesses %s", vouch_accept_name((int)rule), q ? "drawn from q" : "by argmax");
    if (!status) counts_compare(c, expected, counts, c->n_top, RULE_DRAWS, name);
    return status;
}

/* ---------------------------------------------------------------- in sessions */

typedef struct trial {
    const char *name;
    unsigned drafters;
    int32_t rank; /* CUSTOM guesses the token of this rank in p */
    vouch_accept rule;
} trial;

typedef struct fixed_guess {
    int32_t token;
} fixed_guess;

static int32_t propose_fixed(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    (void)tokens, (void)n_tokens;
    for (int32_t i = 0; i < k; i++) guesses[i] = ((const fixed_guess *)user)->token;
    return k;
}

/* The first token after the prompt, in a session of its own with the seed of the options. */
static vouch_status session_draw(const chance *c, const vouch_session_options *options, int32_t *token,
                                 vouch_error *err)
{
    vouch_session *session = NULL;
    vouch_step step = {0};
    vouch_status status = vouch_session_open(&session, c->check->engine->model, options, err);
    if (!status) status = cli_session_prompt(session, c->tokens, (size_t)c->n, err);
    if (!status) status = cli_session_step(session, &step, err);
    if (!status) *token = step.tokens[0];
    vouch_session_close(session);
    return status;
}

static vouch_status session_compare(chance *c, const double *p, const trial *g, double deadline, vouch_error *err)
{
    vouch_session_options options = c->check->engine->options->session;
    int64_t counts[TOP + 1] = {0}, n = 0;
    fixed_guess guess = {c->top[g->rank < c->n_top ? g->rank : 0]};
    options.n_ctx = PROMPT + VOUCH_MAX_DRAFT + 2;
    if (c->check->row_seconds < SLOW_ROW) options.n_threads = 1; /* starting threads takes longer than a pass */
    options.sampling = vouch_sampling_default();
    options.sampling.temperature = 1;
    options.speculation.drafters = g->drafters;
    options.speculation.draft_model = c->check->engine->draft;
    options.speculation.n_draft = 1;
    options.speculation.accept = g->rule;
    options.speculation.custom = (vouch_drafter){propose_fixed, &guess};
    if (vouch_speculation_lacks(&options.speculation)) return VOUCH_OK;
    vouch_status status = VOUCH_OK;
    while (!status && n < SESSION_DRAWS && (n < FEWEST_DRAWS || tool_now() < deadline)) {
        int32_t token = -1, bin = 0;
        options.sampling.seed = (uint64_t)n;
        status = session_draw(c, &options, &token, err);
        while (bin < c->n_top && c->top[bin] != token) bin++;
        counts[bin]++;
        n++;
        cli_check_goes_on(c->check);
    }
    if (status) return status;
    char name[80];
    snprintf(name, sizeof name, "%s, %s", g->name, vouch_accept_name((int)g->rule));
    counts_compare(c, p, counts, c->n_top + 1, n, name);
    c->n_kinds++;
    return VOUCH_OK;
}

/* ---------------------------------------------------------------------- both */

static void softmax(float *row, int64_t n)
{
    float most = row[0];
    double sum = 0;
    for (int64_t i = 1; i < n; i++)
        if (row[i] > most) most = row[i];
    for (int64_t i = 0; i < n; i++) {
        row[i] = (float)exp((double)row[i] - (double)most);
        sum += (double)row[i];
    }
    for (int64_t i = 0; i < n; i++) row[i] = (float)((double)row[i] / sum);
}

/* Finds the likeliest tokens of p, in descending order. */
static void top_find(chance *c)
{
    for (c->n_top = 0; c->n_top < TOP && c->n_top < c->n_vocab - 1; c->n_top++) {
        int32_t best = -1;
        for (int32_t i = 0; i < c->n_vocab; i++) {
            bool taken = false;
            if (best >= 0 && c->rows[i] <= c->rows[best]) continue;
            for (int32_t j = 0; j < c->n_top; j++) taken |= c->top[j] == i;
            if (!taken) best = i;
        }
        c->top[c->n_top] = best;
    }
}

static vouch_status rows_read(chance *c, vouch_error *err)
{
    vouch_session_options options = c->check->engine->options->session;
    vouch_session *session = NULL;
    options.n_ctx = PROMPT + 2;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_status status = vouch_session_open(&session, c->check->engine->model, &options, err);
    if (!status) status = cli_session_prompt(session, c->tokens, (size_t)c->n, err);
    if (!status) status = vouch_session_logits(session, c->n - 1, 1, c->rows, err);
    if (!status) status = vouch_session_logits(session, 0, 1, c->rows + c->n_vocab, err);
    vouch_session_close(session);
    if (status) return status;
    softmax(c->rows, c->n_vocab);
    softmax(c->rows + c->n_vocab, c->n_vocab);
    top_find(c);
    return VOUCH_OK;
}

/* The likeliest and the second likeliest token by turns, under each rule. Under the first rule also the guesses of the
 * draft model. */
static void trials_list(trial trials[2 * VOUCH_ACCEPTS + 1])
{
    const unsigned model = cli_drafters_taking("draft-model");
    int n = 0;
    for (int rank = 0; rank < 2; rank++)
        for (int rule = 0; rule < VOUCH_ACCEPTS; rule++) {
            trials[n++] = (trial){rank == rule % 2 ? "a drafter that guesses the likeliest token"
                                                   : "a drafter that guesses the second likeliest token",
                                  VOUCH_DRAFTER_CUSTOM, rank != rule % 2, (vouch_accept)rule};
            if (n == 1) trials[n++] = (trial){"the draft model", model, 0, (vouch_accept)rule};
        }
}

static vouch_status all_compare(chance *c, vouch_error *err)
{
    enum { N = 2 * VOUCH_ACCEPTS + 1 };
    trial trials[N];
    trials_list(trials);
    float p[TOP], q[TOP];
    double expected[TOP + 1] = {0}, sum = 0;
    vouch_status status = rows_read(c, err);
    for (int32_t i = 0; i < c->n_top; i++) {
        p[i] = c->rows[c->top[i]];
        q[i] = 0.01f * p[i] + c->rows[c->n_vocab + c->top[i]]; /* > 0 somewhere */
        sum += expected[i] = (double)p[i];
    }
    expected[c->n_top] = sum < 1 ? 1 - sum : 0;
    for (int rule = 0; rule < VOUCH_ACCEPTS && !status; rule++) {
        status = rule_compare(c, p, q, (vouch_accept)rule, err);
        if (!status) status = rule_compare(c, p, NULL, (vouch_accept)rule, err);
    }
    for (size_t i = 0; i < N && !status; i++) {
        const double now = tool_now();
        if (i > 0 && now > c->check->deadline) break;
        status = session_compare(c, expected, &trials[i], now + (c->check->deadline - now) / (double)(N - i), err);
    }
    snprintf(c->finding->covered, sizeof c->finding->covered,
             "chi-square tests over %lld tokens, of each rule and of sessions with %d kind%s of guesses; smallest "
             "p-value %.2g",
             (long long)c->n_draws, c->n_kinds, c->n_kinds == 1 ? "" : "s", c->least);
    return status;
}

double cli_check_sampled_rows(const cli_check *check)
{
    (void)check;
    return FEWEST_DRAWS * (PROMPT + 1); /* a session runs the PROMPT tokens of its prompt and one guess */
}

vouch_status cli_check_sampled(cli_check *check, cli_finding *finding, vouch_error *err)
{
    chance c = {
        .check = check, .finding = finding, .n_vocab = vouch_model_get_info(check->engine->model)->n_vocab, .least = 1};
    vouch_status status = VOUCH_E_MEMORY;
    c.n = cli_probe_text(check->engine->model, 2, c.tokens, PROMPT);
    c.rows = calloc(2 * (size_t)c.n_vocab, sizeof *c.rows);
    if (c.rows) status = all_compare(&c, err);
    else *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the distributions to compare"};
    free(c.rows);
    return status;
}
