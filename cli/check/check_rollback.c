/* SPDX-License-Identifier: MIT */
/*
 * L3: a session writes a sampled answer with rejected guesses. A fresh session reads the same tokens as its prompt and
 * never drafts. Both must agree from here on: in the logits of the last token, bit for bit, which depend on every key
 * and value in the cache, and in the tokens sampled next, which depend on penalty counts and the random stream.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "options/option_checks.h"

enum {
    AFTER = 4,
    K = 3,
    FIRST = 2, /* trials in any case */
    MOST = CLI_PROBE_TOKENS + CLI_CHECK_ANSWER + AFTER + 2 * VOUCH_MAX_DRAFT
};

typedef struct rollback {
    cli_check *check;
    cli_finding *finding;
    vouch_session_options options;
    int32_t prompt[CLI_PROBE_TOKENS], n_prompt;
    float *drafted, *plain; /* [n_vocab] logits */
    int64_t n_rejected;
} rollback;

typedef struct trial {
    const char *name;
    unsigned drafters;
    cli_oracle_mode mode; /* of CUSTOM */
} trial;

/* Steps until the sequence has n tokens or more, or the answer ends. */
static vouch_status steps_until(const rollback *t, vouch_session *session, size_t n, vouch_error *err)
{
    vouch_step step = {0};
    size_t have;
    vouch_status status = VOUCH_OK;
    vouch_session_tokens(session, &have);
    while (have < n && !status && step.finish == VOUCH_FINISH_NONE) {
        cli_check_report(t->check);
        status = cli_session_step(session, &step, err);
        vouch_session_tokens(session, &have);
    }
    return status;
}

static vouch_status last_logits(vouch_session *session, float *out, vouch_error *err)
{
    size_t n;
    vouch_session_tokens(session, &n);
    return vouch_session_logits(session, (int32_t)n - 1, 1, out, err);
}

/* Compares the next tokens of both; neither drafts. */
static vouch_status futures_compare(rollback *t, vouch_session *drafted, vouch_session *plain, const char *name,
                                    vouch_error *err)
{
    size_t n, n_plain;
    vouch_session_tokens(drafted, &n);
    vouch_status status = steps_until(t, drafted, n + AFTER, err);
    if (!status) status = steps_until(t, plain, n + AFTER, err);
    if (status) return status;
    const int32_t *a = vouch_session_tokens(drafted, &n), *b = vouch_session_tokens(plain, &n_plain);
    cli_finding_compare(t->finding, n == n_plain && memcmp(a, b, n * sizeof *a) == 0,
                        "%s: other tokens are sampled next", name);
    return VOUCH_OK;
}

static vouch_status sessions_compare(rollback *t, vouch_session *drafted, cli_oracle *oracle, const trial *g,
                                     vouch_error *err)
{
    const cli_engine *engine = t->check->engine;
    vouch_session_options options = t->options;
    vouch_session *plain = NULL;
    size_t n;
    const int32_t *tokens = vouch_session_tokens(drafted, &n);
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_status status = vouch_session_open(&plain, engine->model, &options, err);
    if (!status) status = cli_session_prompt(plain, tokens, n, err);
    if (!status) status = last_logits(drafted, t->drafted, err);
    if (!status) status = last_logits(plain, t->plain, err);
    if (!status) {
        const size_t size = (size_t)vouch_model_get_info(engine->model)->n_vocab * sizeof *t->plain;
        cli_finding_compare(t->finding, memcmp(t->drafted, t->plain, size) == 0, "%s: the logits of token %zu differ",
                            g->name, n - 1);
        oracle->mode = CLI_ORACLE_SILENT;
        if (g->drafters == VOUCH_DRAFTER_CUSTOM) status = futures_compare(t, drafted, plain, g->name, err);
    }
    vouch_session_close(plain);
    return status;
}

static vouch_status trial_compare(rollback *t, const trial *g, vouch_error *err)
{
    const cli_engine *engine = t->check->engine;
    vouch_session_options options = t->options;
    vouch_session *session = NULL;
    cli_oracle oracle = {.mode = g->mode, .n_vocab = vouch_model_get_info(engine->model)->n_vocab};
    options.speculation.drafters = g->drafters;
    options.speculation.custom = cli_oracle_drafter(&oracle);
    options.speculation.draft_model = engine->draft ? engine->draft : engine->model;
    options.speculation.n_draft = K;
    vouch_status status = vouch_session_open(&session, engine->model, &options, err);
    if (!status) status = cli_session_prompt(session, t->prompt, (size_t)t->n_prompt, err);
    if (!status) status = steps_until(t, session, (size_t)t->n_prompt + (size_t)t->check->n_answer, err);
    if (!status) {
        const vouch_stats *stats = vouch_session_stats(session);
        t->n_rejected += stats->judged - stats->accepted;
        status = sessions_compare(t, session, &oracle, g, err);
    }
    vouch_session_close(session);
    return status;
}

static vouch_status trials_compare(rollback *t, vouch_error *err)
{
    const unsigned model = cli_drafters_taking("draft-model");
    trial trials[VOUCH_DRAFTERS + 4] = {{"always wrong", VOUCH_DRAFTER_CUSTOM, CLI_ORACLE_WRONG},
                                        {"right where known", VOUCH_DRAFTER_CUSTOM, CLI_ORACLE_HALF},
                                        {"draft model", model, CLI_ORACLE_SILENT},
                                        {"free drafters", vouch_drafter_auto(0), CLI_ORACLE_SILENT}};
    size_t n_trials = 4;
    for (int i = 0; vouch_drafter_name(i); i++)
        if (vouch_drafter_auto(0) >> i & 1)
            trials[n_trials++] = (trial){vouch_drafter_name(i), 1u << i, CLI_ORACLE_SILENT};
    vouch_status status = VOUCH_OK;
    int n_texts = 0;
    for (int rounds = 0; rounds < 2 * CLI_PROBE_TEXTS && !status; rounds++) {
        t->n_prompt = cli_probe_text(t->check->engine->model, rounds % CLI_PROBE_TEXTS, t->prompt, t->check->n_prompt);
        t->options.sampling.seed = (uint64_t)rounds;
        t->options.speculation.accept =
            (vouch_accept)(VOUCH_ACCEPT_AUTO - rounds % (VOUCH_ACCEPTS + 1)); /* each rule */
        for (size_t i = 0; i < n_trials && !status; i++) {
            if ((rounds > 0 || i >= FIRST) && !cli_check_goes_on(t->check)) goto done;
            status = trial_compare(t, &trials[i], err);
            if (rounds >= n_texts && n_texts < CLI_PROBE_TEXTS) n_texts++;
        }
    }
done:
    snprintf(t->finding->covered, sizeof t->finding->covered,
             "logits and later tokens of %d text%s after %lld rejected guesses", n_texts, n_texts == 1 ? "" : "s",
             (long long)t->n_rejected);
    return status;
}

double cli_check_rollback_rows(const cli_check *check)
{
    return FIRST * (2.0 * check->n_prompt + (1 + K + 1) * check->n_answer + 2 * AFTER + 2);
}

vouch_status cli_check_rollback(cli_check *check, cli_finding *finding, vouch_error *err)
{
    const size_t n_vocab = (size_t)vouch_model_get_info(check->engine->model)->n_vocab;
    rollback t = {.check = check, .finding = finding, .options = check->engine->options->session};
    vouch_status status = VOUCH_E_MEMORY;
    t.options.n_ctx = MOST;
    t.options.max_tokens = 0;
    t.options.ignore_eos = true;
    t.options.sampling.temperature = 0.9f;
    t.options.sampling.repeat_penalty = 1.1f;
    t.options.sampling.penalty_window = 32;
    t.drafted = calloc(n_vocab, sizeof *t.drafted);
    t.plain = calloc(n_vocab, sizeof *t.plain);
    if (t.drafted && t.plain) status = trials_compare(&t, err);
    else *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the logits to compare"};
    free(t.drafted);
    free(t.plain);
    return status;
}
