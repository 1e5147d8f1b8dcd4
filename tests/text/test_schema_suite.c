/* SPDX-License-Identifier: MIT */
/*
 * The JSON-Schema-Test-Suite (draft 2020-12) as a check of the schema compiler: for every schema that is supported, no
 * invalid instance is accepted, and valid instances are, but for those that the grammar leaves out on purpose. Needs a
 * checkout of https://github.com/json-schema-org/JSON-Schema-Test-Suite, as VOUCH_SCHEMA_SUITE or in the data folder.
 */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/grammar.h"
#include "support/test.h"

typedef struct counts {
    int schemas, unsupported; /* `unsupported` of the schemas: refused with an error */
    int valid, accepted;      /* valid instances of supported schemas */
    int invalid, wrong;       /* invalid ones; of these, accepted ones */
} counts;

/* Where a name stands in the text of the schema: the grammar wants properties in that order, unknown ones last. */
static const char *where(const char *schema, const char *name)
{
    char quoted[256];
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    const char *at = strstr(schema, quoted);
    return at ? at : schema + strlen(schema);
}

/* The same value with whole floats as integers and with properties in the schema's order. A new reference. */
static json_t *normal(const json_t *value, const char *schema)
{
    const double real = json_number_value(value);
    if (json_is_real(value) && fabs(real) < 1e17 && real == floor(real)) return json_integer((json_int_t)real);
    json_t *out = json_is_array(value) ? json_array() : json_is_object(value) ? json_object() : NULL;
    if (!out) return json_incref((json_t *)(uintptr_t)value);
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(out, normal(json_array_get(value, i), schema));
    while (json_object_size(out) < json_object_size(value)) {
        const char *key, *next = NULL;
        json_t *child;
        json_object_foreach((json_t *)(uintptr_t)value, key, child)
            if (!json_object_get(out, key) && (!next || where(schema, key) < where(schema, next))) next = key;
        json_object_set_new(out, next, normal(json_object_get(value, next), schema));
    }
    return out;
}

static void check_group(const char *file, const json_t *group, counts *c)
{
    char *schema = json_dumps(json_object_get(group, "schema"), JSON_ENCODE_ANY);
    const json_t *tests = json_object_get(group, "tests");
    vouch_grammar *grammar;
    vouch_error err = {0};
    c->schemas++;
    assert_non_null(schema);
    const vouch_status status = vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), &err);
    const bool is_never =
        status == VOUCH_E_ARGUMENT && (strstr(err.message, "never ends") || strstr(err.message, "no value is valid"));
    c->unsupported += status != VOUCH_OK && !is_never;
    for (size_t i = 0; i < json_array_size(tests) && (status == VOUCH_OK || is_never); i++) {
        const json_t *test = json_array_get(tests, i);
        json_t *instance = normal(json_object_get(test, "data"), schema);
        char *text = json_dumps(instance, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        vouch_automaton *automaton = is_never ? NULL : grammar_automaton(grammar);
        const bool accepted = automaton && grammar_follow(automaton, text, strlen(text)) == ACCEPTED;
        const bool valid = json_is_true(json_object_get(test, "valid")) && !strstr(text, "xn--"); /* coded names */
        c->valid += valid;
        c->accepted += valid && accepted;
        c->invalid += !valid;
        c->wrong += !valid && accepted;
        if (accepted != valid)
            print_message("%s: %s: %.200s with %.80s is %s\n", file,
                          json_string_value(json_object_get(test, "description")), schema, text,
                          valid ? "valid, but refused" : "invalid, but ACCEPTED");
        if (automaton) grammar_close_automaton(automaton);
        free(text);
        json_decref(instance);
    }
    vouch_grammar_close(grammar);
    free(schema);
}

static void check_folder(const char *folder, const char *const *skipped, counts *c)
{
    DIR *dir = opendir(folder);
    if (!dir) return;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char path[1000];
        bool skip = !strstr(entry->d_name, ".json");
        for (const char *const *name = skipped; *name; name++) skip |= strcmp(*name, entry->d_name) == 0;
        if (skip) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        json_t *groups = json_load_file(path, JSON_ALLOW_NUL, NULL);
        for (size_t i = 0; i < json_array_size(groups); i++) check_group(entry->d_name, json_array_get(groups, i), c);
        json_decref(groups);
    }
    closedir(dir);
}

static void test_suite(void **state)
{
    (void)state;
    const char *given = getenv("VOUCH_SCHEMA_SUITE"), *data = test_data("json-schema-suite/README.md");
    char folder[800], path[900];
    if (!given && !data) test_skip("no JSON-Schema-Test-Suite; set VOUCH_SCHEMA_SUITE to a checkout");
    if (given) snprintf(folder, sizeof folder, "%s", given);
    else snprintf(folder, sizeof folder, "%.*s", (int)(strlen(data) - strlen("/README.md")), data);
    /* The tests in vocabulary.json and in the format.json beside it expect that formats are ignored. Here they are
     * enforced. */
    static const char *const skipped[] = {"vocabulary.json", "format.json", NULL}, *const none[] = {NULL};
    counts c = {0};
    snprintf(path, sizeof path, "%s/tests/draft2020-12", folder);
    check_folder(path, skipped, &c);
    snprintf(path, sizeof path, "%s/tests/draft2020-12/optional/format", folder);
    check_folder(path, none, &c);
    print_message("%d schemas, %d of them not supported; %d of %d valid instances accepted; %d of %d invalid ones\n",
                  c.schemas, c.unsupported, c.accepted, c.valid, c.wrong, c.invalid);
    assert_true(c.schemas > 300);
    assert_int_equal(c.wrong, 0);
    assert_true(c.accepted >= c.valid * 95 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_suite)};
    return cmocka_run_group_tests_name("schema_suite", tests, NULL, NULL);
}
