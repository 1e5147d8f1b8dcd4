/* SPDX-License-Identifier: MIT */
/*
 * L3: after a sampled answer with rejected guesses, a fresh session is given the same tokens as its prompt, and never
 * guesses. From here on both must say the same: the logits behind the last token bit for bit, which hang on every key
 * and value in the cache, and the tokens that are sampled next, which hang on penalties and the random stream.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

enum { AFTER = 4, MOST = CLI_PROBE_TOKENS + CLI_CHECK_ANSWER + AFTER + 2 * VOUCH_MAX_DRAFT };

typedef struct trace {
    cli_check *check;
    cli_finding *finding;
    vouch_session_options options;
    int32_t prompt[CLI_PROBE_TOKENS], n_prompt;
    float *guessed, *plain; /* [n_vocab] logits */
    int64_t n_rejected;
} trace;

typedef struct guesser {
    const char *name;
    unsigned drafters;
    cli_oracle_mode mode; /* of CUSTOM */
} guesser;

/* Steps until the sequence has n tokens or more, or the answer ends. */
static vouch_status steps_until(vouch_session *session, size_t n, vouch_error *err)
{
    vouch_step step = {0};
    size_t have;
    vouch_status status = VOUCH_OK;
    for (vouch_session_tokens(session, &have); have < n && !status && step.finish == VOUCH_FINISH_NONE;
         vouch_session_tokens(session, &have))
        status = cli_session_step(session, &step, err);
    return status;
}

static vouch_status last_logits(vouch_session *session, float *out, vouch_error *err)
{
    size_t n;
    vouch_session_tokens(session, &n);
    return vouch_session_logits(session, (int32_t)n - 1, 1, out, err);
}

/* The next tokens of both, neither guessing. */
static vouch_status futures_compare(trace *t, vouch_session *guessed, vouch_session *plain, const char *name,
                                    vouch_error *err)
{
    size_t n, n_plain;
    vouch_session_tokens(guessed, &n);
    vouch_status status = steps_until(guessed, n + AFTER, err);
    if (!status) status = steps_until(plain, n + AFTER, err);
    if (status) return status;
    const int32_t *a = vouch_session_tokens(guessed, &n), *b = vouch_session_tokens(plain, &n_plain);
    cli_check_compare(t->finding, n == n_plain && memcmp(a, b, n * sizeof *a) == 0,
                      "%s: the tokens sampled afterwards are others", name);
    return VOUCH_OK;
}

static vouch_status sessions_compare(trace *t, vouch_session *guessed, cli_oracle *oracle, const guesser *g,
                                     vouch_error *err)
{
    const cli_engine *engine = t->check->engine;
    vouch_session_options options = t->options;
    vouch_session *plain = NULL;
    size_t n;
    const int32_t *tokens = vouch_session_tokens(guessed, &n);
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_status status = vouch_session_open(&plain, engine->model, &options, err);
    if (!status) status = cli_session_prompt(plain, tokens, n, err);
    if (!status) status = last_logits(guessed, t->guessed, err);
    if (!status) status = last_logits(plain, t->plain, err);
    if (!status) {
        const size_t size = (size_t)vouch_model_get_info(engine->model)->n_vocab * sizeof *t->plain;
        cli_check_compare(t->finding, memcmp(t->guessed, t->plain, size) == 0,
                          "%s: the logits behind token %zu are others", g->name, n - 1);
        oracle->mode = CLI_ORACLE_SILENT;
        if (g->drafters == VOUCH_DRAFTER_CUSTOM) status = futures_compare(t, guessed, plain, g->name, err);
    }
    vouch_session_close(plain);
    return status;
}

static vouch_status guesser_compare(trace *t, const guesser *g, vouch_error *err)
{
    const cli_engine *engine = t->check->engine;
    vouch_session_options options = t->options;
    vouch_session *session = NULL;
    cli_oracle oracle = {.mode = g->mode, .n_vocab = vouch_model_get_info(engine->model)->n_vocab};
    options.speculation.drafters = g->drafters;
    options.speculation.custom = cli_oracle_drafter(&oracle);
    options.speculation.draft_model = engine->draft ? engine->draft : engine->model;
    options.speculation.n_draft = 3;
    vouch_status status = vouch_session_open(&session, engine->model, &options, err);
    if (!status) status = cli_session_prompt(session, t->prompt, (size_t)t->n_prompt, err);
    if (!status) status = steps_until(session, (size_t)t->n_prompt + (size_t)t->check->n_answer, err);
    if (!status) {
        const vouch_stats *stats = vouch_session_stats(session);
        t->n_rejected += stats->judged - stats->accepted;
        status = sessions_compare(t, session, &oracle, g, err);
    }
    vouch_session_close(session);
    return status;
}

static vouch_status guessers_compare(trace *t, vouch_error *err)
{
    static const guesser guessers[] = {
        {"always wrong", VOUCH_DRAFTER_CUSTOM, CLI_ORACLE_WRONG},
        {"right where known", VOUCH_DRAFTER_CUSTOM, CLI_ORACLE_HALF},
        {"recycle", VOUCH_DRAFTER_RECYCLE, CLI_ORACLE_SILENT},
        {"draft model", VOUCH_DRAFTER_MODEL, CLI_ORACLE_SILENT},
        {"ngram,suffix,recycle", VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE, CLI_ORACLE_SILENT},
    };
    vouch_status status = VOUCH_OK;
    int n_texts = 0;
    for (int rounds = 0; rounds < 2 * CLI_PROBE_TEXTS && !status; rounds++) {
        t->n_prompt = cli_probe_text(t->check->engine->model, rounds % CLI_PROBE_TEXTS, t->prompt, t->check->n_prompt);
        t->options.sampling.seed = (uint64_t)rounds;
        t->options.speculation.accept = rounds % 2 ? VOUCH_ACCEPT_REJECTION : VOUCH_ACCEPT_AUTO;
        for (size_t i = 0; i < sizeof guessers / sizeof *guessers && !status; i++) {
            if ((rounds > 0 || i > 1) && !cli_check_goes_on(t->check)) goto done;
            status = guesser_compare(t, &guessers[i], err);
            if (rounds >= n_texts && n_texts < CLI_PROBE_TEXTS) n_texts++;
        }
    }
done:
    snprintf(t->finding->covered, sizeof t->finding->covered,
             "logits and later tokens of %d texts behind %lld rejected guesses", n_texts, (long long)t->n_rejected);
    return status;
}

vouch_status cli_check_rollback(cli_check *check, cli_finding *finding, vouch_error *err)
{
    const size_t n_vocab = (size_t)vouch_model_get_info(check->engine->model)->n_vocab;
    trace t = {.check = check, .finding = finding, .options = check->engine->options->session};
    vouch_status status = VOUCH_E_MEMORY;
    t.options.n_ctx = MOST;
    t.options.max_tokens = 0;
    t.options.ignore_eos = true;
    t.options.sampling.temperature = 0.9f;
    t.options.sampling.repeat_penalty = 1.1f;
    t.options.sampling.penalty_window = 32;
    t.guessed = calloc(n_vocab, sizeof *t.guessed);
    t.plain = calloc(n_vocab, sizeof *t.plain);
    if (t.guessed && t.plain) status = guessers_compare(&t, err);
    else *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the logits to compare"};
    free(t.guessed);
    free(t.plain);
    return status;
}
