/* SPDX-License-Identifier: MIT */
/*
 * L2 for sampled text, by counting. Prompts are answered at temperature 1 with many seeds. The token after each history
 * (the prompt and the tokens sampled so far) must have the distribution that the server itself tells for that history,
 * in answers without speculation where it has a switch. So first tokens are tested, and later ones, which drafters
 * guess.
 *
 *   counts       Pearson's chi-square test for each history that was drawn often. Tokens that the server doesn't list
 *                among the likeliest, and those whose text doesn't tell them from others (special ones, halves of
 *                characters, the end), share a cell
 *   temperature  over all histories at once: draws from p^(1 + x) in place of p. The mean M of several likelihood
 *                ratios has the expectation 1 where p is right, so P(M >= 1 / level) <= level for any number of draws
 *
 * The law looks at its tests when it has FIRST_LOOK draws, and again each time they have grown by half; it ends at the
 * first look that finds it broken. All tests of all looks together call a sound server broken with a probability of 1
 * in a million: look i = 1, 2, ... has 1 / 2^i of that, and each of its tests an equal share (Bonferroni). The
 * chi-square distribution describes so small probabilities only where cells are expected often, so those expected less
 * than 20 times are pooled.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/server/ask.h"
#include "tool/statistics.h"

enum {
    DEPTH = 4, /* tokens of an answer */
    DRAWING_PROMPTS = 4,
    FIRST_LOOK = 1000, /* draws */
    FEWEST_DRAWS = 50, /* of a history that is tested by itself */
    MOST_HISTORIES = 20000,
    LONGEST_HISTORY = 768, /* bytes of its text */
    HISTORY_SIZES = 100,
    MOST_TOP = 20, /* likeliest tokens */
    MOST_CELLS = MOST_TOP + 1,
    LEAST_EXPECTED = 20,
    PROMPT_SIZE = 600,
    TILTS = 4
};
#define LEVEL 1e-6

static const double tilts[TILTS] = {0.1, -0.1, 0.25, -0.25};

typedef struct drawing {
    ask_check *check;
    ask_law *law;
    bool is_chat;
    char prompts[DRAWING_PROMPTS][PROMPT_SIZE];
    json_t *tables;                   /* {history: {token: p}} of the likeliest tokens that tell themselves apart */
    json_t *counts[ASK_MOST_CONFIGS]; /* {history: {token: draws}} */
    int64_t n_draws, seed;
    int n_looks, n_tests; /* tests of the latest look */
    double least, level;  /* smallest probability of a test, and the one that a test needs */
} drawing;

/* ------------------------------------------------------------------------ draws */

/* Does the token's text not tell it from others? Then it counts in the common cell. */
static bool is_vague(const char *key)
{
    const size_t n = strlen(key);
    const bool is_special = n > 1 && key[0] == '<' && key[n - 1] == '>', is_half = strstr(key, "\xef\xbf\xbd") != NULL;
    return n == 0 || is_special || (key[0] == '[' && key[n - 1] == ']') || (is_half && key[n - 1] != ']');
}

/* The likeliest token of `top` that isn't in `taken`; NULL: there is none. */
static const char *next_likely(json_t *top, const json_t *taken)
{
    const char *key, *best = NULL;
    json_t *value;
    double most = -INFINITY;
    json_object_foreach(top, key, value) {
        if (json_object_get(taken, key) || json_number_value(value) <= most) continue;
        most = json_number_value(value);
        best = key;
    }
    return best;
}

/* Keeps the distribution after a history. Servers list the token that was drawn, too, even where it is none of the
 * likeliest. The cells must not depend on the draw, so the last fifth of the list is left out. */
static void table_add(drawing *d, const char *history, const json_t *token)
{
    json_t *top = json_object_get(token, "top"), *taken, *table;
    const int n_top = d->check->server.n_top[d->is_chat];
    const char *key;
    if (json_object_size(top) < 2 || json_object_get(d->tables, history) ||
        json_object_size(d->tables) >= MOST_HISTORIES)
        return;
    taken = json_object();
    table = json_object();
    for (int i = 0; i < n_top - n_top / 5 && (key = next_likely(top, taken)); i++) {
        const double p = exp(json_number_value(json_object_get(top, key)));
        json_object_set_new(taken, key, json_true());
        if (!is_vague(key)) json_object_set_new(table, key, json_real(p));
    }
    json_decref(taken);
    json_object_set_new(d->tables, history, table);
}

static void count_add(json_t *counts, const char *history, const char *key)
{
    json_t *cells = json_object_get(counts, history);
    if (!cells) {
        if (json_object_size(counts) >= MOST_HISTORIES) return;
        cells = json_object();
        json_object_set_new(counts, history, cells);
    }
    json_object_set_new(cells, key, json_integer(json_integer_value(json_object_get(cells, key)) + 1));
}

/* The key of a history: "PROMPT SIZE SIZE:TEXT" with the size in bytes of each token of the text, so that no two
 * histories share a key. */
typedef struct history_key {
    char sizes[HISTORY_SIZES], text[LONGEST_HISTORY], key[HISTORY_SIZES + LONGEST_HISTORY];
} history_key;

/* False: the history becomes too long, and is left as it is. */
static bool history_add(history_key *h, const char *token)
{
    const size_t n_sizes = strlen(h->sizes), n_text = strlen(h->text), n = strlen(token);
    if (n_text + n >= sizeof h->text) return false;
    snprintf(h->sizes + n_sizes, sizeof h->sizes - n_sizes, " %zu", n);
    memcpy(h->text + n_text, token, n + 1);
    snprintf(h->key, sizeof h->key, "%s:%s", h->sizes, h->text);
    return true;
}

/* Counts the tokens of an answer. is_source: its likeliest tokens are the distributions to compare with. */
static void answer_count(drawing *d, size_t prompt, size_t config, const ask_answer *a, bool is_source)
{
    history_key h = {.text = ""};
    size_t i;
    snprintf(h.sizes, sizeof h.sizes, "%zu", prompt);
    snprintf(h.key, sizeof h.key, "%zu", prompt);
    for (i = 0; i < json_array_size(a->tokens) && i < DEPTH; i++) {
        const json_t *token = json_array_get(a->tokens, i);
        const char *key = json_string_value(json_object_get(token, "token"));
        if (is_source) table_add(d, h.key, token);
        count_add(d->counts[config], h.key, key);
        d->n_draws++;
        if (is_vague(key)) return; /* what follows has more than one history */
        if (!history_add(&h, key)) return;
    }
    /* An end that the server doesn't list is a draw, too. */
    if (i < DEPTH && strcmp(a->finish, "stop") == 0) count_add(d->counts[config], h.key, "");
}

static ask_question draw_question(const drawing *d, size_t prompt, size_t config, bool is_source, int64_t seed)
{
    return ask_sampled(d->check, d->is_chat, &d->check->server.configs[config], d->prompts[prompt], DEPTH,
                       is_source ? MOST_TOP : 1, seed);
}

/* A batch of draws at once. An answer that fails is a failure of the law; where one doesn't come, none counts. */
static vouch_status batch_draw(drawing *d, size_t prompt, size_t config, vouch_error *err)
{
    const bool is_source = config == 0; /* plain, or the only configuration */
    ask_question questions[ASK_MOST_AT_ONCE];
    ask_answer answers[ASK_MOST_AT_ONCE];
    for (size_t i = 0; i < ASK_MOST_AT_ONCE; i++) questions[i] = draw_question(d, prompt, config, is_source, d->seed++);
    const vouch_status status = ask_all(d->check, questions, answers, ASK_MOST_AT_ONCE, err);
    for (size_t i = 0; i < ASK_MOST_AT_ONCE && !status; i++) {
        if (*answers[i].error && !d->check->is_gone) {
            cli_finding_compare(&d->law->finding, false, "a draw: %s", answers[i].error);
            if (json_array_size(d->law->failures) == 0) {
                char *line = ask_curl(&questions[i], d->check);
                ask_fail(d->law, "a draw", answers[i].error, json_pack("[s]", line ? line : ""), NULL, NULL, NULL);
                free(line);
            }
        } else if (!d->check->is_gone) answer_count(d, prompt, config, &answers[i], is_source);
        ask_answer_free(&answers[i]);
    }
    for (size_t i = 0; i < ASK_MOST_AT_ONCE; i++) ask_free(&questions[i]);
    return status;
}

/* ------------------------------------------------------------------------ tests */

/* The cells of a history: probabilities and draws. The last cell is the common one. */
typedef struct cells {
    const char *keys[MOST_CELLS];
    double p[MOST_CELLS];
    int64_t counts[MOST_CELLS], n;
    int32_t n_cells;
} cells;

static void cells_make(cells *k, const json_t *table, const json_t *counts)
{
    const json_t *value;
    const char *key;
    double sum = 0;
    *k = (cells){.n_cells = 0};
    json_object_foreach((json_t *)(uintptr_t)counts, key, value) k->n += json_integer_value(value);
    int64_t rest = k->n;
    json_object_foreach((json_t *)(uintptr_t)table, key, value) {
        if (k->n_cells == MOST_CELLS - 1) break;
        k->keys[k->n_cells] = key;
        k->p[k->n_cells] = json_number_value(value);
        k->counts[k->n_cells] = json_integer_value(json_object_get(counts, key));
        sum += k->p[k->n_cells];
        rest -= k->counts[k->n_cells++];
    }
    k->keys[k->n_cells] = "any other token";
    k->p[k->n_cells] = sum < 1 ? 1 - sum : 0;
    k->counts[k->n_cells++] = rest;
}

/* Returns the cell whose count is farthest from the expected one. */
static int32_t worst_cell(const cells *k)
{
    int32_t worst = 0;
    double most = -1;
    for (int32_t i = 0; i < k->n_cells; i++) {
        const double expected = k->p[i] * (double)k->n, d = (double)k->counts[i] - expected;
        if (d * d / fmax(expected, 1) > most) most = d * d / fmax(expected, 1), worst = i;
    }
    return worst;
}

/* A loop over seeds in the shell. */
static json_t *loop_command(const drawing *d, size_t prompt, size_t config)
{
    ask_question q = draw_question(d, prompt, config, true, 424242);
    char *line = ask_curl(&q, d->check), *at = line ? strstr(line, "424242") : NULL;
    json_t *lines = json_array();
    if (at)
        json_array_append_new(lines, json_sprintf("for seed in $(seq 1 500); do %.*s'$seed'%s; done", (int)(at - line),
                                                  line, at + strlen("424242")));
    free(line);
    ask_free(&q);
    return lines;
}

static void blame(drawing *d, size_t prompt, size_t config, const char *name, const char *difference)
{
    if (json_array_size(d->law->failures) < ASK_MOST_FAILURES)
        ask_fail(d->law, name, difference, loop_command(d, prompt, config), NULL, NULL, NULL);
}

static void history_test(drawing *d, size_t config, const char *history, const cells *k, double level)
{
    char name[160], difference[ASK_WHY_SIZE];
    const double tail = tool_counts_fit(k->p, k->counts, k->n_cells, k->n, LEAST_EXPECTED);
    const int32_t w = worst_cell(k);
    const size_t prompt = (size_t)strtoul(history, NULL, 10);
    const char *after = strchr(history, ':');
    d->least = fmin(d->least, tail);
    if (level <= 0) return;
    snprintf(name, sizeof name, "draws %s%s%.60s%s", d->check->server.configs[config].name, after ? ", after \"" : "",
             after ? after + 1 : ", first token", after ? "\"" : "");
    snprintf(difference, sizeof difference,
             "%lld draws don't fit (probability %.1e): \"%.40s\" came %lld times, expected %.1f", (long long)k->n, tail,
             k->keys[w], (long long)k->counts[w], k->p[w] * (double)k->n);
    cli_finding_compare(&d->law->finding, tail >= level, "%s: %s", name, difference);
    if (tail < level) blame(d, prompt, config, name, difference);
}

/* p^x. Small probabilities count as one of a thousand: a server's digits don't tell them exactly, least that of the
 * common cell, which is what the others leave. */
static double weight_of(double p, double x)
{
    return pow(fmax(p, 1e-3), x);
}

/* Adds a history's draws to the logarithms of likelihood ratios. */
static void tilts_add(double logs[TILTS], const cells *k)
{
    for (int t = 0; t < TILTS; t++) {
        double sum = 0;
        for (int32_t i = 0; i < k->n_cells; i++) sum += k->p[i] * weight_of(k->p[i], tilts[t]);
        for (int32_t i = 0; i < k->n_cells; i++)
            logs[t] += (double)k->counts[i] * log(weight_of(k->p[i], tilts[t]) / sum);
    }
}

static void tilts_test(drawing *d, size_t config, const double logs[TILTS], double level)
{
    char name[96], difference[ASK_WHY_SIZE];
    int best = 0;
    for (int t = 1; t < TILTS; t++)
        if (logs[t] > logs[best]) best = t;
    const double tail = exp(fmin(0, log(TILTS) - logs[best])); /* the mean is at least the best one's share */
    d->least = fmin(d->least, tail);
    if (level <= 0) return;
    snprintf(name, sizeof name, "temperature %s", d->check->server.configs[config].name);
    snprintf(difference, sizeof difference, "likely tokens come too %s (probability %.1e), as at a temperature %s 1",
             tilts[best] > 0 ? "often" : "seldom", tail, tilts[best] > 0 ? "below" : "above");
    cli_finding_compare(&d->law->finding, tail >= level, "%s: %s", name, difference);
    if (tail < level) blame(d, 0, config, name, difference);
}

/* Tests a configuration with this level, or with level 0 only computes d->least. Returns the number of tests. */
static int config_test(drawing *d, size_t config, double level)
{
    json_t *counts;
    const char *history;
    double logs[TILTS] = {0};
    int n = 0;
    json_object_foreach(d->counts[config], history, counts) {
        const json_t *table = json_object_get(d->tables, history);
        cells k;
        if (!table) continue;
        cells_make(&k, table, counts);
        tilts_add(logs, &k);
        if (k.n < FEWEST_DRAWS) continue;
        n++;
        history_test(d, config, history, &k, level);
    }
    tilts_test(d, config, logs, level);
    return n + 1;
}

/* -------------------------------------------------------------------------- law */

/* Every other prompt goes on with the model's own greedy words, which drafters have seen. */
static vouch_status prompts_make(drawing *d, vouch_error *err)
{
    enum { WORDS = 12 };
    for (size_t i = 0; i < DRAWING_PROMPTS; i++) {
        const char *prompt = ask_prompt(i);
        ask_answer answer;
        snprintf(d->prompts[i], PROMPT_SIZE, "%s", prompt);
        if (i % 2 == 0 || d->is_chat) continue;
        ask_question q = ask_greedy(d->check, false, &d->check->server.configs[0], prompt, WORDS, false);
        const vouch_status status = ask_all(d->check, &q, &answer, 1, err);
        ask_free(&q);
        if (status) return status;
        if (!*answer.error && strlen(answer.text) == answer.n)
            snprintf(d->prompts[i], PROMPT_SIZE, "%s%.200s", prompt, answer.text);
        ask_answer_free(&answer);
    }
    return VOUCH_OK;
}

/* Computes d->n_tests and d->least. Does a test fail at this look? */
static bool look_fails(drawing *d)
{
    d->n_tests = 0;
    d->least = 1;
    for (size_t i = 0; i < d->check->server.n_configs; i++) d->n_tests += config_test(d, i, 0);
    d->level = ldexp(LEVEL, -d->n_looks) / d->n_tests;
    return d->least < d->level;
}

/* Draws of each prompt in turn: a plain batch, for the distributions, and two of each other configuration. Ends in a
 * look that d->n_tests, d->least and d->level are of. */
static vouch_status draw(drawing *d, vouch_error *err)
{
    const size_t n_configs = d->check->server.n_configs, block = 2 * n_configs - 1;
    vouch_status status = VOUCH_OK;
    int64_t look = FIRST_LOOK;
    for (size_t i = 0; !status && (i < block || ask_goes_on(d->check, d->law)); i++) {
        status = batch_draw(d, i / block % DRAWING_PROMPTS, (i % block + 1) / 2, err);
        if (d->law->finding.n_broken > 0 || d->check->is_gone) return status;
        if (d->n_draws < look) continue;
        d->n_looks++;
        if (look_fails(d)) return status;
        look += look / 2;
    }
    d->n_looks++;
    look_fails(d);
    return status;
}

vouch_status ask_law_sampled(ask_check *c, ask_law *law, vouch_error *err)
{
    const ask_server *s = &c->server;
    drawing d = {.check = c, .law = law, .is_chat = s->n_top[0] < 1, .least = 1, .tables = json_object()};
    if (s->n_top[0] < 1 && s->n_top[1] < 1) {
        snprintf(law->finding.covered, sizeof law->finding.covered,
                 "the server tells no log probabilities to test with");
        json_decref(d.tables);
        return VOUCH_OK;
    }
    d.seed = 1 + (int64_t)(tool_random(&c->state) % 1000000000);
    for (size_t i = 0; i < s->n_configs; i++) d.counts[i] = json_object();
    vouch_status status = prompts_make(&d, err);
    if (!status) status = draw(&d, err);
    for (size_t i = 0; i < s->n_configs && !status && d.n_looks > 0; i++) config_test(&d, i, d.level);
    snprintf(law->finding.covered, sizeof law->finding.covered,
             "%lld tokens after %zu histories; %d tests, together wrong once in a million; smallest probability %.2g",
             (long long)d.n_draws, json_object_size(d.tables), d.n_tests, d.least);
    for (size_t i = 0; i < s->n_configs; i++) json_decref(d.counts[i]);
    json_decref(d.tables);
    return status;
}
