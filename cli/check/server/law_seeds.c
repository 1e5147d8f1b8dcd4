/* SPDX-License-Identifier: MIT */
/*
 * S2: a seed gives its text again, plain and with speculation. Other seeds give other texts: where N seeds give one and
 * the same, the chance of that is the text's probability, as the server tells it, to the power of N - 1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/server/pair.h"
#include "tool/statistics.h"

enum { TOKENS = 24, SEEDS = 8, FIRST_SEED = 1000 };
#define LEAST_CHANCE 1e-6

/* The logarithm of a text's probability; 0 where the server tells none. */
static double chance_of(const ask_answer *a)
{
    double sum = 0;
    for (size_t i = 0; i < json_array_size(a->tokens); i++)
        sum += json_number_value(json_object_get(json_array_get(a->tokens, i), "logprob"));
    return sum;
}

static void failure_add(const ask_check *c, ask_law *law, const char *name, const char *difference,
                        const ask_question *questions, size_t n, const ask_answer *a, const ask_answer *b)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < n; i++) {
        char *line = ask_curl(&questions[i], c);
        json_array_append_new(lines, json_string(line ? line : ""));
        free(line);
    }
    ask_fail(law, name, difference, lines, a, b, NULL);
}

/* Do the answers to SEEDS seeds have more than one text? One and the same counts only where it can't be chance. */
static void others_judge(const ask_check *c, ask_law *law, const char *name, const ask_question *questions,
                         const ask_answer *answers)
{
    const double chance = chance_of(&answers[0]);
    const bool records = json_array_size(law->failures) < ASK_MOST_FAILURES;
    size_t n_same = 0;
    for (size_t i = 0; i < SEEDS; i++) {
        if (*answers[i].error) {
            cli_finding_compare(&law->finding, false, "%s: %s", name, answers[i].error);
            if (records) failure_add(c, law, name, answers[i].error, &questions[i], 1, NULL, NULL);
            return;
        }
        n_same += answers[i].n == answers[0].n && memcmp(answers[i].text, answers[0].text, answers[0].n) == 0;
    }
    const bool is_sure = n_same == SEEDS && chance * (SEEDS - 1) < log(LEAST_CHANCE);
    if (n_same == SEEDS && !is_sure) return;
    cli_finding_compare(&law->finding, !is_sure, "%s: all give one text, of probability %.2g", name, exp(chance));
    if (is_sure && records)
        failure_add(c, law, name, "different seeds give one text", questions, 2, &answers[0], &answers[1]);
}

/* Asks SEEDS seeds at once and judges the answers. */
static vouch_status others_compare(ask_check *c, ask_law *law, bool is_chat, const ask_config *config,
                                   const char *prompt, int64_t seed, vouch_error *err)
{
    ask_question questions[SEEDS];
    ask_answer answers[SEEDS];
    char name[100];
    for (size_t i = 0; i < SEEDS; i++)
        questions[i] = ask_sampled(c, is_chat, config, prompt, TOKENS, 0, seed + (int64_t)i);
    const vouch_status status = ask_all(c, questions, answers, SEEDS, err);
    snprintf(name, sizeof name, "%d seeds, %s", SEEDS, config->name);
    if (!status && !c->is_gone) others_judge(c, law, name, questions, answers);
    for (size_t i = 0; i < SEEDS && !status; i++) ask_answer_free(&answers[i]);
    for (size_t i = 0; i < SEEDS; i++) ask_free(&questions[i]);
    return status;
}

vouch_status ask_law_seeds(ask_check *c, ask_law *law, vouch_error *err)
{
    const ask_server *s = &c->server;
    vouch_status status = VOUCH_OK;
    int n = 0;
    for (size_t i = 0; i < 40 && !status && (i < s->n_configs || ask_goes_on(c, law)); i++) {
        const bool is_chat = s->has[0] && s->has[1] ? i / s->n_configs % 2 : ask_first_api(s);
        const ask_config *config = &s->configs[i % s->n_configs];
        const char *prompt = ask_prompt(i + 3);
        const int64_t seed = FIRST_SEED + (int64_t)(tool_random(&c->state) % 1000000);
        char name[80];
        ask_pair pair = {.a = ask_sampled(c, is_chat, config, prompt, TOKENS, -1, seed),
                         .what = ASK_TEXT | ASK_FINISH,
                         .name_a = "at first",
                         .name_b = "for the same seed again"};
        pair.b = ask_copy(&pair.a);
        snprintf(name, sizeof name, "one seed, %s", config->name);
        status = ask_pair_judge(c, law, &pair, name, NULL, NULL, err);
        if (!status) status = others_compare(c, law, is_chat, config, prompt, seed, err);
        n += !c->is_gone;
    }
    snprintf(law->finding.covered, sizeof law->finding.covered,
             "%d prompts at temperature 1: a seed twice, and %d seeds at once%s", n, SEEDS,
             s->n_top[0] < 0 && s->n_top[1] < 0 ? "; whether equal texts are chance can't be told" : "");
    return status;
}
