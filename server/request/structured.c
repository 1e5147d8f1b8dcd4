/* SPDX-License-Identifier: MIT */
/*
 * The fields in which vLLM's clients bind an answer: structured_outputs, guided_json, guided_regex, guided_choice and
 * guided_grammar, and regex. Each becomes a schema or a grammar of the request. A choice is a regular expression:
 * ["a.b", "c"] is a\.b|c. Each field binds the answer, also with an empty expression, which leaves the empty answer.
 * llama.cpp's clients send `grammar` with "" for no grammar.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "call/arguments.h"
#include "request/request.h"

/* The fields that bind the answer; absent ones are NULL. */
typedef struct bonds {
    json_t *json, *choice;
    const char *regex, *grammar;
    bool json_object;
} bonds;

static bool bind_grammar(server_request *r, vouch_grammar_kind kind, const char *text, const char *param,
                         server_fault *fault)
{
    if (r->grammar)
        return server_fail_field(fault, param, "an answer can be bound once, and %s binds it, too", r->grammar_param);
    r->grammar = text;
    r->grammar_kind = kind;
    r->grammar_param = param;
    return true;
}

/* The schema that a text is; NULL: it is none. */
static json_t *parse(const json_t *text)
{
    server_text marked = {0};
    server_schemas_mark(json_string_value(text), json_string_length(text), true, &marked);
    json_t *schema = marked.n > 0 && !marked.failed ? json_loadb(marked.bytes, marked.n, JSON_DECODE_ANY, NULL) : NULL;
    server_text_free(&marked);
    return schema;
}

/* A schema, or the text of one, which some clients send. */
static bool bind_schema(server_request *r, json_t *schema, const char *param, server_fault *fault)
{
    json_t *parsed = json_is_string(schema) ? parse(schema) : NULL;
    if (json_is_string(schema) && !parsed)
        return server_fail_field(fault, param, "expected a JSON Schema, or its text");
    if (r->json_schema) {
        json_decref(parsed);
        return server_fail_field(fault, param, "an answer can be bound once, and %s binds it, too", r->schema_param);
    }
    r->json_schema = schema;
    r->schema_param = param;
    if (!parsed) return true;
    json_object_set_new(r->document, "json_schema", parsed); /* the document owns it */
    r->json_schema = parsed;
    return true;
}

static bool bind_choice(server_request *r, const json_t *choice, const char *param, server_fault *fault)
{
    server_text text = {0};
    const json_t *one;
    size_t i;
    bool good = json_array_size(choice) > 0;
    if (!good) server_fail_field(fault, param, "expected an array of one or more texts");
    json_array_foreach(choice, i, one) {
        const char *at = json_string_value(one);
        if (good && !at) good = server_fail_field(fault, param, "element %zu: expected a text", i);
        if (!good) break;
        if (i > 0) server_text_put(&text, "|");
        for (; *at; at++) {
            if (ispunct((unsigned char)*at)) server_text_put(&text, "\\");
            server_text_add(&text, at, 1);
        }
    }
    json_t *pattern = good && !text.failed ? json_stringn(text.n ? text.bytes : "", text.n) : NULL;
    if (good && !pattern) good = server_fail_memory(fault);
    server_text_free(&text);
    if (!good) return false;
    json_object_set_new(r->document, "regex", pattern); /* the document owns it */
    return bind_grammar(r, VOUCH_GRAMMAR_REGEX, json_string_value(pattern), param, fault);
}

/* `params`: the fields' paths, in the order of the members. */
static bool bind_all(server_request *r, const bonds *b, const char *const params[4], server_fault *fault)
{
    if (b->json && !bind_schema(r, b->json, params[0], fault)) return false;
    if (b->choice && !bind_choice(r, b->choice, params[1], fault)) return false;
    if (b->regex && !bind_grammar(r, VOUCH_GRAMMAR_REGEX, b->regex, params[2], fault)) return false;
    return !b->grammar || bind_grammar(r, VOUCH_GRAMMAR_GBNF, b->grammar, params[3], fault);
}

static bool read_bonds(json_t *value, bonds *b, server_fault *fault)
{
    static const server_field fields[] = {
        {"json", 1, SERVER_FIELD_VALUE, offsetof(bonds, json), NULL},
        {"choice", 1, SERVER_FIELD_VALUE, offsetof(bonds, choice), NULL},
        {"regex", 1, SERVER_FIELD_STRING, offsetof(bonds, regex), NULL},
        {"grammar", 1, SERVER_FIELD_STRING, offsetof(bonds, grammar), NULL},
        {"json_object", 1, SERVER_FIELD_BOOL, offsetof(bonds, json_object), NULL},
        {"structural_tag", 1, SERVER_FIELD_NEUTRAL, 0, NULL},
        {"backend", 1, SERVER_FIELD_IGNORED, 0, NULL},
        {"whitespace_pattern", 1, SERVER_FIELD_IGNORED, 0, NULL},
        {"disable_fallback", 1, SERVER_FIELD_IGNORED, 0, NULL},
        {"disable_any_whitespace", 1, SERVER_FIELD_IGNORED, 0, NULL},
        {"disable_additional_properties", 1, SERVER_FIELD_IGNORED, 0, NULL},
    };
    static const server_field_table table = {fields, sizeof fields / sizeof *fields};
    return server_fields_read(value, "structured_outputs", &table, 1, b, fault);
}

bool server_request_structured(server_request *r, server_fault *fault)
{
    static const char *const outer[] = {"guided_json", "guided_choice", "guided_regex", "guided_grammar"};
    static const char *const inner[] = {"structured_outputs.json", "structured_outputs.choice",
                                        "structured_outputs.regex", "structured_outputs.grammar"};
    const bonds guided = {
        .json = r->guided_json, .choice = r->guided_choice, .regex = r->guided_regex, .grammar = r->guided_grammar};
    bonds b = {0};
    r->grammar_kind = VOUCH_GRAMMAR_GBNF;
    r->grammar_param = "grammar";
    r->schema_param = "json_schema";
    if (r->grammar && !*r->grammar) r->grammar = NULL;
    if (r->regex && !bind_grammar(r, VOUCH_GRAMMAR_REGEX, r->regex, "regex", fault)) return false;
    if (!bind_all(r, &guided, outer, fault)) return false;
    if (!r->structured_outputs) return true;
    if (!read_bonds(r->structured_outputs, &b, fault)) return false;
    if (b.json_object && !b.json) {
        b.json = json_pack("{s:s}", "type", "object");
        json_object_set_new(r->structured_outputs, "json", b.json);
    }
    return bind_all(r, &b, inner, fault);
}
