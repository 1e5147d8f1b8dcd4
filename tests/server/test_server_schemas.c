/* SPDX-License-Identifier: MIT */
/*
 * Calls of tools with many schemas, in each form: what the grammar allows, the reader reads. Random texts of the
 * grammar that a forced call is bound to become one complete call, whose arguments the tool's schema accepts.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/form.h"
#include "golden/schema_values.h"
#include "call/reader.h"
#include "support/program/call_templates.h"
#include "support/decode/grammar.h"
#include "support/test.h"
#include "support/model/tiny_model.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { FLAGS = VOUCH_GRAMMAR_CLOSED | VOUCH_GRAMMAR_LENIENT, MOST_FORMS = 128 };

/* [n_forms] of our short templates and, unless the test is quick, of those that models ship. */
static const char *form_names[MOST_FORMS];
static vouch_model *models[MOST_FORMS];
static server_form *forms[MOST_FORMS];
static size_t n_forms;

static void form_add(const char *path, const char *name, const char *chat_template)
{
    vouch_model_options o = vouch_model_options_default();
    o.chat_template = chat_template;
    o.text_only = true;
    assert_int_equal(vouch_model_open(&models[n_forms], path, &o, NULL), VOUCH_OK);
    assert_non_null(forms[n_forms] = server_form_open(models[n_forms]));
    form_names[n_forms++] = name;
}

static int forms_open(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("schemas.gguf"));
    tiny_model_write(path, &(tiny_model_options){.seed = 7});
    assert_true(n_call_templates + n_call_published <= MOST_FORMS);
    for (size_t i = 0; i < n_call_templates; i++) form_add(path, call_templates[i].name, call_templates[i].text);
    for (size_t i = 0; i < n_call_published && !test_is_quick() && call_published_path(i); i++) {
        size_t n;
        char *text = read_whole(call_published_path(i), &n);
        form_add(path, call_published[i].name, text);
        free(text);
    }
    return 0;
}

static int forms_close(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_forms; i++) {
        server_form_close(forms[i]);
        vouch_model_close(models[i]);
    }
    return 0;
}

/* Takes the parameters. */
static json_t *tools_of(json_t *parameters)
{
    return json_pack("[{s:s, s:{s:s, s:o}}]", "type", "function", "function", "name", "f", "parameters", parameters);
}

/* The grammar of one call of these tools; NULL with an error. */
static vouch_grammar *grammar_of(const server_form *form, const json_t *tools, vouch_error *err)
{
    server_text text = {0};
    vouch_grammar *grammar;
    server_text_put(&text, "root ::= calls\n");
    server_form_put_calls(&text, form, tools, false);
    assert_false(text.failed);
    (void)vouch_grammar_open(&grammar, VOUCH_GRAMMAR_GBNF | FLAGS, text.bytes, text.n, err);
    server_text_free(&text);
    return grammar;
}

/* -------------------------------------------------------------- random texts */

typedef struct walk {
    vouch_automaton *automaton; /* its state is kept[0] */
    test_random random;
    size_t n;
    char text[3000];
} walk;

/* Writes a byte if the grammar allows it. */
static bool take_byte(walk *w, unsigned char byte)
{
    const int32_t next = vouch_automaton_step(w->automaton, w->automaton->kept[0], byte);
    if (next == VOUCH_STATE_DEAD || w->n == sizeof w->text) return false;
    w->automaton->kept[0] = next;
    w->text[w->n++] = (char)byte;
    return true;
}

/* Writes a text as far as the grammar allows it. */
static bool take_text(walk *w, const char *text)
{
    const size_t before = w->n;
    while (*text && take_byte(w, (unsigned char)*text)) text++;
    return w->n > before;
}

/* Writes any byte that the grammar allows. */
static bool take_any(walk *w)
{
    const vouch_automaton *a = w->automaton;
    for (int tries = 0; tries < 200; tries++) {
        const vouch_state *s = &a->states[a->kept[0]];
        if (s->n == 0) return false;
        const vouch_place place = a->places[s->first + (int32_t)test_below(&w->random, (uint32_t)s->n)];
        const vouch_grammar_node *node = &a->grammar->nodes[place.node];
        const uint32_t range = 1u + node->last - node->first;
        if (take_byte(w, (unsigned char)(node->first + test_below(&w->random, range)))) return true;
    }
    return false;
}

/* A random text of the grammar; false: it got too long. */
static bool take_all(walk *w, const server_form *form)
{
    static const char *const words[] = {"1",
                                        "-0.5",
                                        "true",
                                        "null",
                                        "\"a\"",
                                        "\"\\u00e9\\n\\ud83d\\ude42\"",
                                        "\xf0\x9f\x99\x82",
                                        "{}",
                                        "[]",
                                        ", ",
                                        "{\"a\": ",
                                        "}",
                                        "]",
                                        "<",
                                        "</",
                                        "'",
                                        "\\'",
                                        "\\",
                                        "12345678901234567890",
                                        "1e400",
                                        "True",
                                        "None",
                                        "\"</tool_call>",
                                        "word"};
    const char *const closers[] = {form->end, form->quote, "\"", "]", "}", "0", "\"a\":0"};
    enum { LONG = 300 };
    w->n = 0;
    w->automaton->kept[0] = vouch_automaton_start(w->automaton);
    while (w->n < sizeof w->text) {
        const vouch_state *s = &w->automaton->states[w->automaton->kept[0]];
        if (s->accepts && (s->n == 0 || w->n > LONG || test_below(&w->random, 3) == 0)) return true;
        bool moved = false;
        if (test_below(&w->random, w->n > LONG ? 2 : 12) == 0)
            for (size_t i = 0; i < COUNT(closers) && !moved; i++) moved = take_text(w, closers[i]);
        else if (test_below(&w->random, 2)) moved = take_text(w, words[test_below(&w->random, COUNT(words))]);
        if (!moved && !take_any(w) && w->n < sizeof w->text) {
            s = &w->automaton->states[w->automaton->kept[0]];
            if (!s->accepts) fail_msg("dead end after '%.*s'", (int)w->n, w->text);
            return true;
        }
    }
    return false;
}

/* ----------------------------------------------------------------- the reader */

/* Pieces of any length; a control token comes as one. */
static void read_text(server_reader *reader, walk *w)
{
    for (size_t at = 0, n; at < w->n; at += n) {
        const char *text = w->text + at, *token = memchr(text, VOUCH_TOKEN_BEGINS, w->n - at);
        n = token ? (size_t)(token - text) : w->n - at;
        if (n > 0) {
            const size_t most = 1 + test_below(&w->random, 20);
            if (n > most) n = most;
            server_reader_push(reader, text, n);
        } else {
            const char *end = memchr(text, VOUCH_TOKEN_ENDS, w->n - at);
            assert_non_null(end);
            server_reader_special(reader, text + 1, (size_t)(end - text) - 1);
            n = (size_t)(end - text) + 1;
        }
    }
    server_reader_end(reader, false);
}

/* The arguments are an object without a name twice, which the schema accepts; NULL: it isn't asked. */
static void check_arguments(const server_text *arguments, vouch_automaton *schema, const walk *w)
{
    json_error_t flaw = {0};
    json_t *value = json_loadb(arguments->bytes, arguments->n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &flaw);
    const bool is_beyond_jansson = !value && (json_error_code(&flaw) == json_error_numeric_overflow ||
                                              json_error_code(&flaw) == json_error_null_byte_in_key);
    if (!json_is_object(value) && !is_beyond_jansson)
        fail_msg("'%.*s' is read as %.*s: %s", (int)w->n, w->text, (int)arguments->n, arguments->bytes, flaw.text);
    json_decref(value);
    if (schema && grammar_follow(schema, arguments->bytes, arguments->n) != ACCEPTED)
        fail_msg("'%.*s' is read as %.*s, which the schema refuses", (int)w->n, w->text, (int)arguments->n,
                 arguments->bytes);
}

static void check_call(const server_form *form, const json_t *tools, vouch_automaton *schema, walk *w)
{
    server_reader reader;
    server_reader_begin(&reader, form, tools, false);
    reader.is_forced = true;
    read_text(&reader, w);
    if (reader.n_calls != 1 || !reader.calls[0].is_over || strcmp(reader.calls[0].name, "f") != 0)
        fail_msg("'%.*s' is read as %zu calls and '%.*s'", (int)w->n, w->text, reader.n_calls, (int)reader.content.n,
                 reader.content.n ? reader.content.bytes : "");
    check_arguments(&reader.calls[0].arguments, schema, w);
    server_reader_free(&reader);
}

/* Texts of the calls of a tool with these parameters, in each form. Returns their number; 0: the schema isn't
 * supported. Patterns and lengths of strings are bound in JSON alone; has_patterns: the parameters may have some. */
static int check_tool(json_t *parameters, bool has_patterns, uint64_t seed, int n_texts)
{
    static walk w;
    char *text = json_dumps(parameters, JSON_COMPACT);
    json_t *tools = tools_of(parameters);
    vouch_grammar *whole;
    int n = 0;
    w.random = (test_random){seed};
    if (vouch_grammar_open(&whole, VOUCH_GRAMMAR_JSON_SCHEMA | FLAGS, text, strlen(text), NULL) == VOUCH_OK) {
        vouch_automaton *schema = grammar_automaton(whole);
        for (size_t i = 0; i < n_forms; i++) {
            vouch_error err = {0};
            vouch_grammar *grammar = grammar_of(forms[i], tools, &err);
            if (!grammar) fail_msg("%s: %s: %s", form_names[i], text, err.message);
            w.automaton = grammar_automaton(grammar);
            for (int j = 0; j < n_texts; j++) {
                if (!take_all(&w, forms[i])) continue;
                const bool is_bound = !has_patterns || forms[i]->notation == SERVER_NOTATION_JSON;
                check_call(forms[i], tools, is_bound ? schema : NULL, &w);
                n++;
            }
            grammar_close_automaton(w.automaton);
            vouch_grammar_close(grammar);
        }
        grammar_close_automaton(schema);
        vouch_grammar_close(whole);
    }
    json_decref(tools);
    free(text);
    return n;
}

/* An object whose property `value` has the schema. */
static json_t *parameters_with(const char *schema)
{
    json_t *value = json_loads(schema, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    return json_pack("{s:s, s:{s:{s:s}, s:o, s:{s:[s, s]}}, s:[s], s:b}", "type", "object", "properties", "word",
                     "type", "string", "value", value, "choice", "enum", "one", "it's", "required", "value",
                     "additionalProperties", 0);
}

static void random_schemas(void **state)
{
    (void)state;
    test_skip_slow();
    int n_texts = 0, n_schemas = 0;
    for (size_t i = 0; i < COUNT(schema_cases); i++) {
        if (test_is_quick() && i % 5) continue;
        json_t *schema = parameters_with(schema_cases[i].schema);
        const bool is_text = server_schema_is_text(json_object_get(json_object_get(schema, "properties"), "value"));
        const int n = check_tool(schema, is_text, i + 1, test_is_quick() ? 2 : 6);
        n_texts += n;
        n_schemas += n > 0;
    }
    print_message("%d texts of %d schemas\n", n_texts, n_schemas);
    assert_true(n_texts > (test_is_quick() ? 500 : 20000));
}

/* Names, listed texts and unions of types that a form could mistake for its own marks or for other values. */
static void odd_parameters(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{'properties': {'a b': {'type': 'string'}, 'x-y': {'type': 'boolean'}, '1': {'type': 'integer'}}}",
        "{'properties': {'\xc3\xa9/~%': {'type': 'integer'}, 'it\\'s': {'type': 'null'}, 'q\\\\u0022': {}}}",
        "{'properties': {'a': {'enum': ['true', '1', 'null', '[]', '1.5']}}, 'required': ['a']}",
        "{'properties': {'a': {'enum': ['', 'x']}, 'b': {'type': 'string', 'const': ''}}, 'required': ['a', 'b']}",
        "{'properties': {'a': {'enum': [' x', 'x ', 'two words']}}, 'required': ['a']}",
        "{'properties': {'a': {'enum': ['1', 1, true, null, 'x']}}, 'required': ['a']}",
        "{'properties': {'a': {'type': ['string', 'null']}, 'b': {'type': ['integer', 'string']}}, 'required': ['b']}",
        "{'properties': {'a': {'anyOf': [{'type': 'string'}, {'type': 'integer'}]}}, 'required': ['a']}",
        "{'properties': {'a': {'anyOf': [{'const': 'x'}, {'enum': ['y', 'it is']}]}}, 'required': ['a']}",
        "{'properties': {'a': {'$ref': '#/$defs/s'}, 'b': {'$ref': '#/$defs/e'}, 'c': {'$ref': '#/$defs/n'}}, '$defs': "
        "{'s': {'type': 'string'}, 'e': {'enum': ['u', 'v']}, 'n': {'properties': {'n': {'$ref': '#/$defs/n'}}, "
        "'type': 'object'}}, 'required': ['a', 'b', 'c']}",
        "{'properties': {'a': {'allOf': [{'$ref': '#/$defs/s'}]}, 'b': {'$ref': '#/properties/a'}}, '$defs': {'s': "
        "{'type': 'string'}}, 'required': ['a', 'b']}",
        "{'$ref': '#/$defs/args', '$defs': {'args': {'type': 'object', 'properties': {'a': {'$ref': "
        "'#/$defs/in~1n%20er/anyOf/0'}, 'b': {'type': 'integer'}}, 'required': ['a', 'b', 'c'], "
        "'additionalProperties': {'type': 'integer'}}, 'in/n er': {'anyOf': [{'enum': ['u', 'v']}]}}}",
        "{'properties': {'a': true, 'b': false, 'c': {'type': 'array'}}, 'required': ['a']}",
        "{'properties': {'name': {'type': 'string'}, 'arguments': {'type': 'object'}, 'id': {'type': 'string'}}}",
        "{'properties': {'a': {'type': 'string', 'nullable': true}, 'b': {'type': 'integer', 'nullable': true}}, "
        "'required': ['a', 'b']}",
        "{'properties': {'a': {'not': {'type': 'integer'}}, 'b': {'if': {'type': 'string'}, 'then': {'const': '7'}}}, "
        "'required': ['a', 'b']}",
        "{'properties': {}}",
        "{}",
        "{'additionalProperties': {'type': 'integer'}}",
        "{'required': ['a', 'b b']}",
        "{'additionalProperties': {'type': 'integer'}, 'required': ['a']}",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1000];
        size_t n = 0;
        for (const char *c = cases[i]; *c; c++)
            if (*c == '\\') text[n++] = *++c;
            else text[n++] = *c == '\'' ? '"' : *c;
        json_t *schema = json_loadb(text, n, 0, NULL);
        if (!schema) fail_msg("%.*s", (int)n, text);
        json_object_set_new(schema, "type", json_string("object"));
        assert_true(check_tool(schema, false, 77 + i, test_is_quick() ? 20 : 200) > 0);
    }
}

/* ---------------------------------------------------------------------- sizes */

/* 2,000 required parameters, of which 500 refer to one definition of 2,000 properties. */
static void large_parameters(void **state)
{
    (void)state;
    test_skip_slow();
    json_t *properties = json_object(), *required = json_array(), *large = json_object(), *names = json_array();
    for (int i = 0; i < 2000; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        json_object_set_new(properties, name,
                            i % 4 ? json_pack("{s:s}", "type", "string")
                                  : json_pack("{s:s, s:[{s:s}, {s:s}]}", "description", name, "anyOf", "$ref",
                                              "#/$defs/large", "type", "null"));
        json_array_append_new(required, json_string(name));
        json_object_set_new(large, name,
                            json_pack("{s:s, s:s}", "type", i % 2 ? "string" : "integer", "description",
                                      "one of very many"));
        if (i % 2) json_array_append_new(names, json_string(name));
    }
    json_t *tools = tools_of(json_pack("{s:s, s:o, s:o, s:{s:{s:s, s:o, s:o}}}", "type", "object", "properties",
                                       properties, "required", required, "$defs", "large", "type", "object",
                                       "properties", large, "required", names));
    for (size_t i = 0; i < n_forms; i += test_is_quick() ? 4 : 1) {
        vouch_error err = {0};
        vouch_grammar *grammar = grammar_of(forms[i], tools, &err);
        if (!grammar) fail_msg("%s: %s", form_names[i], err.message);
        vouch_grammar_close(grammar);
    }
    json_decref(tools);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_schemas), cmocka_unit_test(odd_parameters),
                                       cmocka_unit_test(large_parameters)};
    return cmocka_run_group_tests_name("server_schemas", tests, forms_open, forms_close);
}
