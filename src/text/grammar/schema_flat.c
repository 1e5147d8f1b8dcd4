/* SPDX-License-Identifier: MIT */
/* Schemas without allOf, anyOf, oneOf and $ref (schema_parts.h). */
#include <stdlib.h>
#include <string.h>

#include "text/grammar/schema_parts.h"

/* ----------------------------------------------------------------- keywords */

typedef enum value_kind {
    ANY_VALUE, SCHEMA, SCHEMAS, NAMED_SCHEMAS, COUNT, NUMBER, TRUTH, TEXT, TEXTS, ARRAY
} value_kind;

static const struct {
    const char *name;
    value_kind kind;
} keywords[] = {
    {"type", ANY_VALUE}, {"properties", NAMED_SCHEMAS}, {"required", TEXTS}, {"additionalProperties", SCHEMA},
    {"enum", ARRAY}, {"const", ANY_VALUE}, {"items", SCHEMA}, {"prefixItems", SCHEMAS}, {"minItems", COUNT},
    {"maxItems", COUNT}, {"minLength", COUNT}, {"maxLength", COUNT}, {"pattern", TEXT}, {"format", TEXT},
    {"multipleOf", NUMBER}, {"minProperties", COUNT}, {"maxProperties", COUNT}, {"propertyNames", SCHEMA},
    {"patternProperties", NAMED_SCHEMAS}, {"uniqueItems", TRUTH},
    {"minimum", NUMBER}, {"maximum", NUMBER}, {"exclusiveMinimum", NUMBER}, {"exclusiveMaximum", NUMBER},
    {"anyOf", SCHEMAS}, {"oneOf", SCHEMAS}, {"allOf", SCHEMAS}, {"$ref", TEXT},
    {"$defs", NAMED_SCHEMAS}, {"definitions", NAMED_SCHEMAS},
};

static const char *const annotations[] = {"title", "description", "default", "examples", "example", "deprecated",
                                          "readOnly", "writeOnly", "$comment", "$schema", "$id", "discriminator",
                                          "contentMediaType", "contentEncoding", "contentSchema", "externalDocs"};

static bool all_texts(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!json_is_string(json_array_get(array, i))) return false;
    return json_is_array(array);
}

static bool is_schema(const json_t *value)
{
    return json_is_object(value) || json_is_boolean(value);
}

/* Checks the value of a keyword. NULL: it is right; otherwise the demand that it doesn't meet, for a message. */
static const char *check_value(value_kind kind, const json_t *value)
{
    const json_t *child;
    const char *key;
    bool holds = true;
    switch (kind) {
    case SCHEMA: return is_schema(value) ? NULL : "expected a schema: an object, true or false";
    case SCHEMAS:
        for (size_t i = 0; i < json_array_size(value); i++) holds &= is_schema(json_array_get(value, i));
        return holds && json_array_size(value) > 0 ? NULL : "expected an array of at least one schema";
    case NAMED_SCHEMAS:
        json_object_foreach((json_t *)(uintptr_t)value, key, child) holds &= is_schema(child);
        return holds && json_is_object(value) ? NULL : "expected an object of schemas";
    case COUNT:
        holds = json_is_number(value) && json_number_value(value) >= 0 && json_number_value(value) <= INT32_MAX &&
                json_number_value(value) == (double)(int32_t)json_number_value(value);
        return holds ? NULL : "expected an integer from 0 to 2147483647";
    case NUMBER: return json_is_number(value) ? NULL : "expected a number";
    case TRUTH: return json_is_boolean(value) ? NULL : "expected true or false";
    case TEXT: return json_is_string(value) ? NULL : "expected a string";
    case TEXTS: return all_texts(value) ? NULL : "expected an array of strings";
    case ARRAY: return json_is_array(value) ? NULL : "expected an array";
    default: return NULL;
    }
}

static const char *check_keyword(const char *name, const json_t *value)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strcmp(keywords[i].name, name) == 0) return check_value(keywords[i].kind, value);
    for (size_t i = 0; i < sizeof annotations / sizeof annotations[0]; i++)
        if (strcmp(annotations[i], name) == 0) return NULL;
    return strncmp(name, "x-", 2) == 0 ? NULL : "this keyword is not supported";
}

void vouch_schema_check(vouch_schema *s, const json_t *schema)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)schema, name, value) {
        const char *problem = check_keyword(name, value);
        if (!problem) continue;
        const bool unsupported = strncmp(problem, "this", 4) == 0;
        vouch_schema_fail(s, unsupported ? VOUCH_E_UNSUPPORTED : VOUCH_E_ARGUMENT, schema, name, "%s", problem);
        return;
    }
    const json_t *type = json_object_get(schema, "type");
    if (type && vouch_schema_types(schema) < 0)
        vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, "type",
                          "expected null, boolean, integer, number, string, array, object, or an array of them");
}

/* ------------------------------------------------------------------- $ref */

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                                                                       : -1;
}

/* Cuts the next segment off a JSON pointer in a URI fragment, and decodes %NN, ~0 and ~1. */
static const char *next_segment(const char *at, char *out, size_t room)
{
    size_t n = 0;
    for (at++; *at && *at != '/' && n + 1 < room; at++) {
        char c = *at;
        if (c == '%' && hex_value(at[1]) >= 0 && hex_value(at[2]) >= 0) {
            c = (char)(hex_value(at[1]) * 16 + hex_value(at[2]));
            at += 2;
        }
        if (n > 0 && out[n - 1] == '~' && (c == '0' || c == '1')) out[n - 1] = c == '0' ? '~' : '/';
        else out[n++] = c;
    }
    out[n] = '\0';
    return at;
}

/* The schema that a $ref names; NULL: there is none in this document. */
static const json_t *resolve(const vouch_schema *s, const char *ref)
{
    const json_t *node = s->root;
    char segment[256];
    if (*ref != '#' || (ref[1] && ref[1] != '/')) return NULL;
    for (const char *at = ref + 1; *at && node;) {
        at = next_segment(at, segment, sizeof segment);
        node = json_is_array(node) ? json_array_get(node, (size_t)strtoul(segment, NULL, 10))
                                   : json_object_get(node, segment);
    }
    return node && is_schema(node) ? node : NULL;
}

static bool failed(const vouch_schema *s)
{
    return s->builder->status != VOUCH_OK;
}

/* The schema that the $ref of `schema` names; NULL after a failure. */
static const json_t *target_of(vouch_schema *s, const json_t *schema)
{
    const char *ref = json_string_value(json_object_get(schema, "$ref"));
    const json_t *target = resolve(s, ref);
    if (!target)
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, "$ref",
                          "\"%.60s\" is no schema of this document; expected #/$defs/NAME", ref);
    return target;
}

/* ------------------------------------------------------------------ choices */

static void add_flat(vouch_schema *s, vouch_flats *out, json_t *flat, const json_t *schema)
{
    if (failed(s) || !flat) return;
    if (out->n == VOUCH_SCHEMA_FLATS || ++s->work > VOUCH_SCHEMA_WORK) {
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, NULL, "more than %d combinations of anyOf, oneOf and allOf",
                          VOUCH_SCHEMA_FLATS);
        return;
    }
    out->flats[out->n++] = flat;
}

/* A value must now also be valid for one of `more`: merges each schema of `out` with each of `more`. */
static void cross(vouch_schema *s, vouch_flats *out, const vouch_flats *more, const json_t *schema)
{
    vouch_flats *pairs = calloc(1, sizeof *pairs);
    if (!pairs) {
        vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
        return;
    }
    for (int32_t i = 0; i < out->n && !failed(s); i++)
        for (int32_t j = 0; j < more->n && !failed(s); j++)
            add_flat(s, pairs, vouch_schema_merge(s, out->flats[i], more->flats[j]), schema);
    *out = *pairs;
    free(pairs);
}

static void flatten_one(vouch_schema *s, const json_t *schema, vouch_flats *out);

/* A value must now also be valid for `child`. */
static void cross_child(vouch_schema *s, vouch_flats *out, const json_t *child, const json_t *schema)
{
    vouch_flats *more = calloc(1, sizeof *more);
    if (!more) {
        vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
        return;
    }
    flatten_one(s, child, more);
    if (!failed(s)) cross(s, out, more, schema);
    free(more);
}

/* oneOf: a value must be valid for exactly one schema, so no value may be valid for two. Compares flats[first, n) with
 * those before. */
static void check_disjoint(vouch_schema *s, const json_t *schema, const vouch_flats *flats, int32_t first)
{
    for (int32_t i = 0; i < first; i++)
        for (int32_t j = first; j < flats->n; j++) {
            if (vouch_schema_disjoint(flats->flats[i], flats->flats[j])) continue;
            vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, "oneOf",
                              "a value may be valid for two of the schemas; use anyOf, or tell them apart by type or "
                              "by a required property with a constant");
            return;
        }
}

/* A value must now also be valid for one of the schemas that `keyword`, anyOf or oneOf, lists. */
static void cross_choice(vouch_schema *s, vouch_flats *out, const json_t *schema, const char *keyword)
{
    const json_t *children = json_object_get(schema, keyword);
    if (!children || failed(s)) return;
    vouch_flats *more = calloc(2, sizeof *more);
    if (!more) {
        vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
        return;
    }
    vouch_flats *each = &more[1];
    for (size_t i = 0; i < json_array_size(children) && !failed(s); i++) {
        const int32_t first = more->n;
        each->n = 0;
        flatten_one(s, json_array_get(children, i), each);
        for (int32_t j = 0; j < each->n; j++) add_flat(s, more, each->flats[j], schema);
        if (strcmp(keyword, "oneOf") == 0 && !failed(s)) check_disjoint(s, schema, more, first);
    }
    if (!failed(s)) cross(s, out, more, schema);
    free(more);
}

/* A copy of the schema with only the keywords that need no flattening. */
static json_t *rest_of(vouch_schema *s, const json_t *schema)
{
    json_t *rest = vouch_schema_keep(s, json_object());
    const char *name;
    json_t *value;
    bool stored = true;
    if (failed(s)) return NULL;
    json_object_foreach((json_t *)(uintptr_t)schema, name, value)
        for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
            if (strcmp(keywords[i].name, name) == 0 && strcmp(name, "anyOf") != 0 && strcmp(name, "oneOf") != 0 &&
                strcmp(name, "allOf") != 0 && *name != '$' && strcmp(name, "definitions") != 0)
                stored &= json_object_set(rest, name, value) == 0;
    if (!stored) vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    return rest;
}

static void flatten_one(vouch_schema *s, const json_t *schema, vouch_flats *out)
{
    if (failed(s) || json_is_false(schema)) return;
    if (json_is_true(schema)) {
        add_flat(s, out, vouch_schema_keep(s, json_object()), schema);
        return;
    }
    if (s->depth >= VOUCH_GRAMMAR_DEEPEST) {
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, NULL,
                          "schemas refer to each other without end, or more than %d deep", VOUCH_GRAMMAR_DEEPEST);
        return;
    }
    s->depth++;
    vouch_schema_check(s, schema);
    add_flat(s, out, rest_of(s, schema), schema);
    const json_t *ref = json_object_get(schema, "$ref"), *all = json_object_get(schema, "allOf");
    if (ref && !failed(s)) {
        const json_t *target = target_of(s, schema);
        if (target) cross_child(s, out, target, schema);
    }
    for (size_t i = 0; i < json_array_size(all); i++) cross_child(s, out, json_array_get(all, i), schema);
    cross_choice(s, out, schema, "anyOf");
    cross_choice(s, out, schema, "oneOf");
    s->depth--;
}

/* A schema that is a $ref and nothing else becomes a flat schema with that $ref, so that its target keeps its rule. */
static bool is_reference(const json_t *schema)
{
    const json_t *ref = json_object_get(schema, "$ref");
    const char *name;
    json_t *value;
    if (!json_is_string(ref)) return false;
    json_object_foreach((json_t *)(uintptr_t)schema, name, value)
        for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
            if (strcmp(keywords[i].name, name) == 0 && strcmp(name, "$ref") != 0 && strcmp(name, "$defs") != 0 &&
                strcmp(name, "definitions") != 0)
                return false;
    return true;
}

/* The schema at the end of a chain of references; NULL after a failure. */
static const json_t *follow(vouch_schema *s, const json_t *schema)
{
    for (int i = 0; is_reference(schema); i++) {
        vouch_schema_check(s, schema);
        const json_t *target = failed(s) ? NULL : target_of(s, schema);
        if (i == VOUCH_GRAMMAR_DEEPEST)
            vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, "$ref", "this reference leads back to itself");
        if (failed(s)) return NULL;
        schema = target;
    }
    return schema;
}

void vouch_schema_flatten(vouch_schema *s, const json_t *schema, vouch_flats *out)
{
    const json_t *target = follow(s, schema);
    if (!target) return;
    if (target == schema) {
        flatten_one(s, schema, out);
        return;
    }
    json_t *flat = vouch_schema_keep(s, json_object());
    if (failed(s)) return;
    if (json_object_set(flat, "$ref", (json_t *)(uintptr_t)target) == 0) add_flat(s, out, flat, schema);
    else vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
}
