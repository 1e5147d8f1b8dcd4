/* SPDX-License-Identifier: MIT */
/*
 * Random schemas of keywords that combine, exclude or count, against the verdicts of the Python package jsonschema
 * (golden/schema_values.h). A grammar must accept no invalid value, and each valid one in some order of its
 * properties.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/schema_values.h"
#include "support/decode/grammar.h"
#include "support/test.h"

enum {
    N_VALUES = sizeof schema_values / sizeof schema_values[0],
    N_CASES = sizeof schema_cases / sizeof schema_cases[0]
};

static const char *const keywords[] = {"not",
                                       "if",
                                       "then",
                                       "else",
                                       "oneOf",
                                       "contains",
                                       "minContains",
                                       "maxContains",
                                       "dependentSchemas",
                                       "dependentRequired",
                                       "unevaluatedProperties",
                                       "unevaluatedItems"};

/* Whether the automaton accepts the object with its properties in some order: those in `used` are written already. */
static bool accepts_order(vouch_automaton *automaton, const json_t *object, json_t *written)
{
    const char *name;
    json_t *value;
    if (json_object_size(written) == json_object_size(object)) {
        char *text = json_dumps(written, JSON_COMPACT | JSON_ENCODE_ANY);
        const bool accepted = grammar_follow(automaton, text, strlen(text)) == ACCEPTED;
        free(text);
        return accepted;
    }
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        if (json_object_get(written, name)) continue;
        json_object_set(written, name, value);
        const bool accepted = accepts_order(automaton, object, written);
        json_object_del(written, name);
        if (accepted) return true;
    }
    return false;
}

static bool accepts(vouch_automaton *automaton, const char *text)
{
    if (*text != '{') return grammar_follow(automaton, text, strlen(text)) == ACCEPTED;
    json_t *object = json_loads(text, 0, NULL), *written = json_object();
    const bool accepted = accepts_order(automaton, object, written);
    json_decref(object);
    json_decref(written);
    return accepted;
}

/* Writes the verdicts on all values, as in schema_cases. False: the schema is not supported. */
static bool read_verdicts(const char *schema, char *verdicts)
{
    vouch_grammar *grammar;
    vouch_error err = {0};
    memset(verdicts, '0', N_VALUES);
    const vouch_status status = vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), &err);
    const bool is_empty = strstr(err.message, "never ends") || strstr(err.message, "no value is valid");
    if (status == VOUCH_E_ARGUMENT && is_empty) return true;
    if (status != VOUCH_OK) {
        if (status != VOUCH_E_UNSUPPORTED || !strstr(err.message, "the schema at \""))
            fail_msg("%s: %s", schema, err.message);
        return false;
    }
    vouch_automaton *automaton = grammar_automaton(grammar);
    for (int i = 0; i < N_VALUES; i++) verdicts[i] = accepts(automaton, schema_values[i]) ? '1' : '0';
    grammar_close_automaton(automaton);
    vouch_grammar_close(grammar);
    return true;
}

static void test_verdicts_are_those_of_jsonschema(void **state)
{
    (void)state;
    int unsupported = 0, wrong = 0;
    for (int i = 0; i < N_CASES; i++) {
        char verdicts[N_VALUES];
        if (!read_verdicts(schema_cases[i].schema, verdicts)) {
            unsupported++;
            continue;
        }
        for (int j = 0; j < N_VALUES; j++) {
            if (verdicts[j] == schema_cases[i].valid[j]) continue;
            wrong++;
            print_error("%s: %s is %s\n", schema_cases[i].schema, schema_values[j],
                        verdicts[j] == '1' ? "invalid, but accepted" : "valid, but refused");
        }
    }
    print_message("%d schemas, %d of them not supported, %d wrong verdicts\n", N_CASES, unsupported, wrong);
    assert_int_equal(wrong, 0);
    assert_true(unsupported < N_CASES / 5);
}

/* A random text of the grammar; its length, or 0 where it got too long. A step that leads nowhere fails the test. */
static size_t random_text(vouch_automaton *a, test_random *random, const char *schema, char text[600])
{
    static const char common[] = "\"\"\"\"\"\"}}}}]]]],:{[abctfn0123-.eE \\ufoxz";
    size_t n = 0;
    a->kept[0] = vouch_automaton_start(a);
    while (n < 600) {
        const vouch_state *state = &a->states[a->kept[0]];
        int32_t next = VOUCH_STATE_DEAD;
        if (state->accepts && (state->n == 0 || test_below(random, 3) == 0)) return n;
        for (int tries = 0; tries < 300 && next == VOUCH_STATE_DEAD; tries++) {
            const bool is_rare = tries >= 44;
            text[n] = is_rare   ? (char)tries
                      : n > 250 ? "\"}],:0"[tries % 6]
                                : common[test_below(random, sizeof common - 1)];
            next = vouch_automaton_step(a, a->kept[0], (unsigned char)text[n]);
        }
        if (next == VOUCH_STATE_DEAD) fail_msg("%s: dead end after %.*s", schema, (int)n, text);
        a->kept[0] = next;
        n++;
    }
    return 0;
}

/* Random texts of the grammars are JSON without a name twice. */
static void test_texts_are_json(void **state)
{
    (void)state;
    test_random random = {3};
    int n_texts = 0;
    for (int i = 0; i < N_CASES; i++) {
        const char *schema = schema_cases[i].schema;
        vouch_grammar *grammar;
        if (vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), NULL)) continue;
        vouch_automaton *automaton = grammar_automaton(grammar);
        for (int round = 0; round < (test_is_quick() ? 4 : 100); round++) {
            char text[600];
            json_error_t flaw;
            const size_t n = random_text(automaton, &random, schema, text);
            if (n == 0) continue;
            json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &flaw);
            const enum json_error_code code = value ? json_error_unknown : json_error_code(&flaw);
            if (!value && code != json_error_numeric_overflow && code != json_error_null_byte_in_key)
                fail_msg("%s: %.*s: %s", schema, (int)n, text, flaw.text);
            json_decref(value);
            n_texts++;
        }
        grammar_close_automaton(automaton);
        vouch_grammar_close(grammar);
    }
    assert_true(n_texts > 500);
}

/* A compiler that ignored a keyword would be noticed: without the keyword some verdicts are others. */
static void test_ignored_keywords_are_noticed(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof keywords / sizeof keywords[0]; k++) {
        int noticed = 0;
        for (int i = 0; i < N_CASES && !noticed; i++) {
            json_t *schema = json_loads(schema_cases[i].schema, 0, NULL);
            char verdicts[N_VALUES];
            if (json_object_del(schema, keywords[k]) == 0) {
                char *text = json_dumps(schema, 0);
                noticed += read_verdicts(text, verdicts) && memcmp(verdicts, schema_cases[i].valid, N_VALUES) != 0;
                free(text);
            }
            json_decref(schema);
        }
        if (!noticed) fail_msg("without %s all verdicts are the same", keywords[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts_are_those_of_jsonschema),
                                       cmocka_unit_test(test_texts_are_json),
                                       cmocka_unit_test(test_ignored_keywords_are_noticed)};
    return cmocka_run_group_tests_name("schema_values", tests, NULL, NULL);
}
