/* SPDX-License-Identifier: MIT */
/*
 * L2 for greedy text. The target's own answer is the expected one; answers with every drafter, several draft lengths
 * and artificial guesses (always wrong, half right, always right) must have the same tokens. The finding says how many
 * guesses were accepted and rejected: without both, half of the law was not tried.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "options/option_checks.h"

enum { MOST = CLI_PROBE_TOKENS + CLI_CHECK_ANSWER };

/* A drafter to try. */
typedef struct trial {
    const char *name;
    unsigned drafters;
    cli_oracle_mode mode; /* what the custom drafter guesses; SILENT: nothing */
    bool itself;          /* the target drafts for itself */
} trial;

enum {
    FIRST = 4,        /* the first 4 trials always run, later ones while cli_check_goes_on */
    FIRST_LENGTH = 3, /* draft length of the first round of trials */
    MOST_TRIALS = VOUCH_DRAFTERS + 6
};

typedef struct answers {
    cli_check *check;
    cli_finding *finding;
    int32_t prompt[CLI_PROBE_TEXTS][CLI_PROBE_TOKENS], n_prompt[CLI_PROBE_TEXTS];
    int32_t expected[CLI_PROBE_TEXTS][MOST], n_expected[CLI_PROBE_TEXTS]; /* 0: not yet written */
    vouch_session *plain;                                                 /* writes the expected answers */
    int64_t n_accepted, n_rejected;
    trial trials[MOST_TRIALS];
    int n_trials, n_tried[MOST_TRIALS]; /* answers of each */
    unsigned rules, lengths;            /* rules and draft lengths tried: bits of vouch_accept, bits of k */
} answers;

/* The most telling trials come first. Every drafter of the registry is tried by itself. */
static void trials_list(answers *a)
{
    const unsigned model = cli_drafters_taking("draft-model");
    const trial first[] = {
        {.name = "always wrong", .drafters = VOUCH_DRAFTER_CUSTOM, .mode = CLI_ORACLE_WRONG},
        {.name = "half right", .drafters = VOUCH_DRAFTER_CUSTOM, .mode = CLI_ORACLE_HALF},
        {.name = "draft model", .drafters = model, .mode = CLI_ORACLE_SILENT},
        {.name = "free drafters", .drafters = vouch_drafter_auto(0), .mode = CLI_ORACLE_SILENT},
        {.name = "itself", .drafters = model, .mode = CLI_ORACLE_SILENT, .itself = true},
    };
    a->n_trials = sizeof first / sizeof *first;
    memcpy(a->trials, first, sizeof first);
    for (int i = VOUCH_DRAFTER_NUMBER_NONE + 1; vouch_drafter_name(i); i++)
        if (1u << i != model && 1u << i != VOUCH_DRAFTER_CUSTOM)
            a->trials[a->n_trials++] =
                (trial){.name = vouch_drafter_name(i), .drafters = 1u << i, .mode = CLI_ORACLE_SILENT};
    a->trials[a->n_trials++] = (trial){.name = "auto", .mode = CLI_ORACLE_SILENT};
    a->trials[a->n_trials++] =
        (trial){.name = "always right", .drafters = VOUCH_DRAFTER_CUSTOM, .mode = CLI_ORACLE_RIGHT};
}

/* Gives the expected answer as the prediction, less the first few tokens, so that the prediction and the answer
 * disagree at first. */
static vouch_status answer_predict(const answers *a, vouch_session *session, int text, vouch_error *err)
{
    enum { SKIPPED = 3, MOST_TEXT = 2048 };
    char prediction[MOST_TEXT];
    size_t used = 0, n;
    for (int32_t i = a->n_prompt[text] + SKIPPED; i < a->n_expected[text]; i++) {
        const char *bytes = vouch_token_bytes(a->check->engine->model, a->expected[text][i], &n);
        if (!bytes || used + n > sizeof prediction) break;
        memcpy(prediction + used, bytes, n);
        used += n;
    }
    return vouch_session_predict(session, prediction, used, err);
}

static vouch_status text_answer(answers *a, vouch_session *session, int text, int32_t *tokens, int32_t *n,
                                vouch_error *err)
{
    vouch_step step = {0};
    vouch_status status = cli_session_prompt(session, a->prompt[text], (size_t)a->n_prompt[text], err);
    while (!status && step.finish == VOUCH_FINISH_NONE) {
        cli_check_report(a->check);
        status = cli_session_step(session, &step, err);
    }
    size_t n_all;
    const int32_t *all = vouch_session_tokens(session, &n_all);
    *n = (int32_t)n_all;
    if (!status) memcpy(tokens, all, n_all * sizeof *tokens);
    return status;
}

static vouch_session_options greedy_options(const answers *a)
{
    vouch_session_options options = a->check->engine->options->session;
    options.n_ctx = MOST + VOUCH_MAX_DRAFT + 2;
    options.max_tokens = a->check->n_answer;
    options.ignore_eos = true; /* a longer answer has more to compare */
    options.sampling.temperature = 0;
    options.speculation.draft_model = a->check->engine->draft;
    return options;
}

static vouch_status plain_open(answers *a, vouch_error *err)
{
    vouch_session_options options = greedy_options(a);
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    return vouch_session_open(&a->plain, a->check->engine->model, &options, err);
}

/* Only the texts that are tried get an expected answer: on plain C each takes seconds. */
static vouch_status expected_answer(answers *a, int text, vouch_error *err)
{
    if (a->n_expected[text] > 0) return VOUCH_OK;
    a->n_prompt[text] = cli_probe_text(a->check->engine->model, text, a->prompt[text], a->check->n_prompt);
    return text_answer(a, a->plain, text, a->expected[text], &a->n_expected[text], err);
}

/* Compares one answer with the expected one. The session keeps from text to text what its drafter has learned. */
static vouch_status answer_compare(answers *a, vouch_session *session, const trial *g, const vouch_speculation *s,
                                   int text, vouch_error *err)
{
    int32_t got[MOST], n = 0, same = 0;
    vouch_session_reset_stats(session);
    const vouch_status status = text_answer(a, session, text, got, &n, err);
    if (status) return status;
    const vouch_stats *stats = vouch_session_stats(session);
    a->n_accepted += stats->accepted;
    a->n_rejected += stats->judged - stats->accepted;
    while (same < n && same < a->n_expected[text] && got[same] == a->expected[text][same]) same++;
    cli_finding_compare(a->finding, n == a->n_expected[text] && same == n,
                        "%s, k %d, %s, text %d: token %d of the answer differs", g->name, s->n_draft,
                        vouch_accept_name((int)s->accept), text, same - a->n_prompt[text]);
    return VOUCH_OK;
}

static vouch_status trial_compare(answers *a, const trial *g, int32_t k, vouch_accept rule, int n_texts,
                                  vouch_error *err)
{
    vouch_session_options options = greedy_options(a);
    vouch_session *session = NULL;
    cli_oracle oracle = {.mode = g->mode, .n_vocab = vouch_model_get_info(a->check->engine->model)->n_vocab};
    cli_engine_speculate(a->check->engine, &options.speculation);
    options.speculation.drafters = g->drafters;
    options.speculation.n_draft = k;
    options.speculation.accept = rule;
    if (!vouch_accept_get_info((int)rule).trees) options.speculation.tree_branches = 1;
    options.speculation.custom = cli_oracle_drafter(&oracle);
    if (g->itself) options.speculation.draft_model = a->check->engine->model;
    const bool lacks = vouch_speculation_lacks(&options.speculation); /* unless the model brings it */
    if (lacks && vouch_session_check(a->check->engine->model, &options, NULL)) return VOUCH_OK;
    vouch_status status = vouch_session_open(&session, a->check->engine->model, &options, err);
    for (int i = 0; i < n_texts && !status; i++) {
        status = expected_answer(a, i, err);
        if (status) break;
        oracle.expected = a->expected[i];
        oracle.n = a->n_expected[i];
        if (g->drafters & vouch_drafter_needing(VOUCH_NEED_PREDICTION)) status = answer_predict(a, session, i, err);
        if (status) break;
        status = answer_compare(a, session, g, &options.speculation, i, err);
        a->n_tried[g - a->trials]++;
        a->rules |= 1u << rule;
        a->lengths |= 1u << k;
    }
    vouch_session_close(session);
    return status;
}

/* "all rules", or the names of the rules tried. */
static const char *rules_text(const answers *a, char text[64])
{
    size_t used = 0;
    if (a->rules == (1u << VOUCH_ACCEPTS) - 1) return "all rules";
    for (int i = 0; i < VOUCH_ACCEPTS && used < 64; i++)
        if (a->rules >> i & 1)
            used += (size_t)snprintf(text + used, 64 - used, "%s%s", used ? ", " : "rules ", vouch_accept_name(i));
    return used ? text : "no rule";
}

static vouch_status trials_compare(answers *a, vouch_error *err)
{
    /* All drafters are tried with one length before the next (0: pace chooses). Each trial takes the next rule. */
    static const int32_t lengths[] = {FIRST_LENGTH, 0, 1, 16, 8, 2, 4, 7};
    enum { N_LENGTHS = sizeof lengths / sizeof *lengths };
    vouch_status status = VOUCH_OK;
    char rules[64];
    int n_drafters = 0, n_lengths = 0;
    for (int n = 0; n < N_LENGTHS * VOUCH_ACCEPTS * a->n_trials && !status; n++) {
        const bool goes_on = cli_check_goes_on(a->check);
        const int g = n % a->n_trials, round = n / a->n_trials, length = round % N_LENGTHS;
        if (n >= FIRST && !goes_on) break;
        status = trial_compare(a, &a->trials[g], lengths[length],
                               (vouch_accept)((round / N_LENGTHS + length + g) % VOUCH_ACCEPTS),
                               goes_on ? CLI_PROBE_TEXTS : 1, err);
    }
    for (int i = 0; i < a->n_trials; i++) n_drafters += a->n_tried[i] > 0;
    for (unsigned left = a->lengths; left; left &= left - 1) n_lengths++;
    snprintf(a->finding->covered, sizeof a->finding->covered,
             "answers with %d drafters, %s, %d draft length%s; %lld guesses accepted, %lld rejected%s", n_drafters,
             rules_text(a, rules), n_lengths, n_lengths == 1 ? "" : "s", (long long)a->n_accepted,
             (long long)a->n_rejected, a->n_accepted == 0 || a->n_rejected == 0 ? ": the law needs both" : "");
    return status;
}

double cli_check_greedy_rows(const cli_check *check)
{
    return (1 + FIRST) * check->n_prompt + (1 + FIRST * (1 + FIRST_LENGTH)) * check->n_answer;
}

vouch_status cli_check_greedy(cli_check *check, cli_finding *finding, vouch_error *err)
{
    answers *a = calloc(1, sizeof *a);
    if (!a) {
        *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the answers to compare"};
        return err->code;
    }
    a->check = check;
    a->finding = finding;
    trials_list(a);
    vouch_status status = plain_open(a, err);
    if (!status) status = trials_compare(a, err);
    vouch_session_close(a->plain);
    free(a);
    return status;
}
