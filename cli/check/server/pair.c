/* SPDX-License-Identifier: MIT */
#include "check/server/pair.h"

#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tool/statistics.h"

enum { SHORTEST_PROMPT = 16, TRIES_AT_END = 3, SEEN_SIZE = 64 };

/* ------------------------------------------------------------------------ tries */

/* Calls a function for each question of a pair. */
static void each_question(ask_pair *p, void (*call)(ask_question *q, const void *with), const void *with)
{
    if (p->before.body) call(&p->before, with);
    call(&p->a, with);
    call(&p->b, with);
    for (size_t i = 0; i < p->n_beside; i++) call(&p->beside[i], with);
}

static void release(ask_question *q, const void *with)
{
    (void)with;
    ask_free(q);
}

/* Puts the digits into a prompt that begins with ASK_FRESH. */
static void freshen(ask_question *q, const void *digits)
{
    const char *prompt = ask_get_prompt(q);
    if (strncmp(prompt, ASK_FRESH, 4) != 0 || strlen(prompt) < strlen(ASK_FRESH)) return;
    char *changed = strdup(prompt);
    if (changed) memcpy(changed + 4, digits, 8);
    if (changed) ask_set_prompt(q, changed);
    free(changed);
}

static vouch_status one_ask(ask_check *c, const ask_question *q, ask_answer *answer, vouch_error *err)
{
    return ask_all(c, q, answer, 1, err);
}

/* Asks b and its company at once. */
static vouch_status together_ask(ask_check *c, const ask_pair *p, ask_answer *b, vouch_error *err)
{
    ask_question questions[ASK_MOST_BESIDE + 1] = {p->b};
    ask_answer answers[ASK_MOST_BESIDE + 1];
    for (size_t i = 0; i < p->n_beside; i++) questions[i + 1] = p->beside[i];
    const vouch_status status = ask_all(c, questions, answers, p->n_beside + 1, err);
    if (status) return status;
    *b = answers[0];
    for (size_t i = 0; i < p->n_beside; i++) ask_answer_free(&answers[i + 1]);
    return VOUCH_OK;
}

/* Answers of one try, which the caller frees after success. */
static vouch_status pair_try(ask_check *c, ask_pair *p, ask_answer *a, ask_answer *b, ask_difference *d,
                             vouch_error *err)
{
    vouch_status status = VOUCH_OK;
    if (p->is_fresh) {
        char digits[9];
        snprintf(digits, sizeof digits, "%08u", (unsigned)(tool_random(&c->state) % 100000000));
        each_question(p, freshen, digits);
    }
    if (p->before.body) {
        status = one_ask(c, &p->before, a, err);
        if (!status) ask_answer_free(a);
    }
    if (!status) status = one_ask(c, &p->a, a, err);
    if (status) return status;
    status = together_ask(c, p, b, err);
    if (status) {
        ask_answer_free(a);
        return status;
    }
    ask_answers_compare(a, b, p->what, c->tolerance, p->name_a, p->name_b, d);
    return VOUCH_OK;
}

/* --------------------------------------------------------------------- shrinking */

typedef struct shrinking {
    ask_check *c;
    ask_pair *pair;
    char difference[ASK_WHY_SIZE]; /* of the smallest failure */
    ask_answer a, b;               /* its answers */
    vouch_error *err;
    vouch_status status;
} shrinking;

/* Does the pair fail as it is now? Keeps the difference and the answers if so. */
static bool still_fails(shrinking *s)
{
    ask_answer a, b;
    ask_difference d = {.n_values = 0};
    if (s->status) return false;
    s->status = pair_try(s->c, s->pair, &a, &b, &d, s->err);
    if (s->status) return false;
    if (!*d.what || s->c->is_gone) {
        ask_answer_free(&a);
        ask_answer_free(&b);
        return false;
    }
    ask_answer_free(&s->a);
    ask_answer_free(&s->b);
    s->a = a;
    s->b = b;
    snprintf(s->difference, sizeof s->difference, "%s", d.what);
    return true;
}

static void set_tokens(ask_pair *p, json_int_t n)
{
    ask_set(&p->a, "max_tokens", json_integer(n));
    ask_set(&p->b, "max_tokens", json_integer(n));
}

/* Only a and b, which ask for as many tokens: company that ends earlier is other company. */
static void tokens_shrink(shrinking *s)
{
    const json_int_t most = json_integer_value(json_object_get(s->pair->b.body, "max_tokens"));
    for (json_int_t n = 1; n < most; n *= 2) {
        set_tokens(s->pair, n);
        if (still_fails(s)) return;
    }
    set_tokens(s->pair, most);
}

/* Leaves out halves of the company. */
static void company_shrink(shrinking *s)
{
    ask_pair *p = s->pair;
    while (p->n_beside > 1) {
        const size_t n = p->n_beside, half = n / 2;
        p->n_beside = half;
        if (!still_fails(s)) {
            ask_question first[ASK_MOST_BESIDE];
            memcpy(first, p->beside, half * sizeof *first);
            memmove(p->beside, p->beside + half, (n - half) * sizeof *first);
            memcpy(p->beside + n - half, first, half * sizeof *first);
            p->n_beside = n - half;
            if (!still_fails(s)) {
                p->n_beside = n;
                return;
            }
        }
        for (size_t i = p->n_beside; i < n; i++) ask_free(&p->beside[i]);
    }
}

static void set_prompt(ask_question *q, const void *prompt)
{
    ask_set_prompt(q, prompt);
}

/* Leaves out the first halves of the prompt, where all questions but the company's have the same. */
static void prompt_shrink(shrinking *s)
{
    ask_pair *p = s->pair;
    if (p->is_fresh || p->n_beside > 0 || strcmp(ask_get_prompt(&p->a), ask_get_prompt(&p->b)) != 0) return;
    for (bool fails = true; fails;) {
        char *whole = strdup(ask_get_prompt(&p->a));
        const size_t n = whole ? strlen(whole) : 0;
        fails = n > SHORTEST_PROMPT;
        if (fails) {
            char *half = strdup(whole + n / 2);
            each_question(p, set_prompt, half ? half : whole);
            free(half);
            fails = still_fails(s);
            if (!fails) each_question(p, set_prompt, whole);
        }
        free(whole);
    }
}

/* -------------------------------------------------------------------- recording */

static void line_add(json_t *lines, char *line)
{
    json_array_append_new(lines, json_string(line ? line : ""));
    free(line);
}

/* "A >/dev/null & B; wait": the company and b at once. */
static void together_add(const ask_check *c, json_t *lines, const ask_pair *p)
{
    char *text = NULL;
    size_t n;
    vouch_os_stream stream;
    FILE *out = vouch_os_stream_open(&stream);
    if (!out) return;
    for (size_t i = 0; i < p->n_beside; i++) {
        char *line = ask_curl(&p->beside[i], c);
        fprintf(out, "%s >/dev/null & ", line ? line : "");
        free(line);
    }
    char *line = ask_curl(&p->b, c);
    fprintf(out, "%s%s", line ? line : "", p->n_beside > 0 ? "; wait" : "");
    free(line);
    if (vouch_os_stream_close(&stream, &text, &n)) line_add(lines, text);
}

static json_t *commands_of(const ask_check *c, const ask_pair *p)
{
    json_t *lines = json_array();
    if (p->before.body) line_add(lines, ask_curl(&p->before, c));
    line_add(lines, ask_curl(&p->a, c));
    together_add(c, lines, p);
    return lines;
}

vouch_status ask_pair_blame(ask_check *c, ask_law *law, ask_pair *p, const char *name, const char *difference,
                            vouch_error *err)
{
    shrinking s = {.c = c, .pair = p, .err = err};
    char seen[SEEN_SIZE];
    int n_seen = 0;
    cli_finding_compare(&law->finding, false, "%s: %s", name, difference);
    if (json_array_size(law->failures) < ASK_MOST_FAILURES) {
        snprintf(s.difference, sizeof s.difference, "%s", difference);
        tokens_shrink(&s);
        company_shrink(&s);
        prompt_shrink(&s);
        for (int i = 0; i < TRIES_AT_END; i++) n_seen += still_fails(&s);
        snprintf(seen, sizeof seen, "%d of %d", n_seen, TRIES_AT_END);
        ask_fail(law, name, s.difference, commands_of(c, p), s.a.text ? &s.a : NULL, s.b.text ? &s.b : NULL, seen);
        ask_answer_free(&s.a);
        ask_answer_free(&s.b);
    }
    each_question(p, release, NULL);
    return s.status;
}

vouch_status ask_pair_judge(ask_check *c, ask_law *law, ask_pair *p, const char *name, double *most, int64_t *n_values,
                            vouch_error *err)
{
    ask_answer a, b;
    ask_difference d = {.n_values = 0};
    vouch_status status = p->is_fresh ? VOUCH_OK : ask_warm(c, &p->a, err);
    if (!status && !p->is_fresh && p->a.base != p->b.base) status = ask_warm(c, &p->b, err);
    if (!status) status = pair_try(c, p, &a, &b, &d, err);
    if (status) {
        each_question(p, release, NULL);
        return status;
    }
    ask_answer_free(&a);
    ask_answer_free(&b);
    if (c->is_gone) {
        each_question(p, release, NULL);
        return VOUCH_OK;
    }
    if (most && d.most > *most) *most = d.most;
    if (n_values) *n_values += d.n_values;
    if (*d.what) return ask_pair_blame(c, law, p, name, d.what, err);
    cli_finding_compare(&law->finding, true, "%s", name);
    each_question(p, release, NULL);
    return VOUCH_OK;
}
