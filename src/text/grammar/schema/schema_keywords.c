/* SPDX-License-Identifier: MIT */
/* The keywords of JSON Schema: which there are, and which values they may have (schema_parts.h). */
#include <string.h>

#include "text/grammar/schema/schema_parts.h"

typedef enum value_kind {
    ANY_VALUE,
    SCHEMA,
    SCHEMAS,
    NAMED_SCHEMAS,
    COUNT,
    NUMBER,
    TRUTH,
    TEXT,
    TEXTS,
    NAMED_TEXTS,
    ARRAY
} value_kind;

#define FLAT VOUCH_KEYWORD_FLAT
#define JOINED VOUCH_KEYWORD_JOINED
#define REFERENCE VOUCH_KEYWORD_REFERENCE
#define NAME VOUCH_KEYWORD_NAME

/* clang-format off */
static const struct {
    const char *name;
    value_kind kind;
    vouch_keyword_role role;
} keywords[] = {
    {"type", ANY_VALUE, FLAT}, {"enum", ARRAY, FLAT}, {"const", ANY_VALUE, FLAT},
    {"properties", NAMED_SCHEMAS, FLAT}, {"required", TEXTS, FLAT}, {"additionalProperties", SCHEMA, FLAT},
    {"propertyNames", SCHEMA, FLAT}, {"patternProperties", NAMED_SCHEMAS, FLAT}, {"minProperties", COUNT, FLAT},
    {"maxProperties", COUNT, FLAT}, {"items", SCHEMA, FLAT}, {"prefixItems", SCHEMAS, FLAT}, {"minItems", COUNT, FLAT},
    {"maxItems", COUNT, FLAT}, {"uniqueItems", TRUTH, FLAT}, {"contains", SCHEMA, FLAT}, {"minContains", COUNT, FLAT},
    {"maxContains", COUNT, FLAT}, {"minLength", COUNT, FLAT}, {"maxLength", COUNT, FLAT}, {"pattern", TEXT, FLAT},
    {"format", TEXT, FLAT}, {"multipleOf", NUMBER, FLAT}, {"minimum", NUMBER, FLAT}, {"maximum", NUMBER, FLAT},
    {"exclusiveMinimum", NUMBER, FLAT}, {"exclusiveMaximum", NUMBER, FLAT},
    {"anyOf", SCHEMAS, JOINED}, {"oneOf", SCHEMAS, JOINED}, {"allOf", SCHEMAS, JOINED}, {"not", SCHEMA, JOINED},
    {"if", SCHEMA, JOINED}, {"then", SCHEMA, JOINED}, {"else", SCHEMA, JOINED},
    {"dependentSchemas", NAMED_SCHEMAS, JOINED}, {"dependentRequired", NAMED_TEXTS, JOINED},
    {"unevaluatedProperties", SCHEMA, JOINED}, {"unevaluatedItems", SCHEMA, JOINED}, {"nullable", TRUTH, JOINED},
    {VOUCH_CONDITION, SCHEMA, JOINED},
    {"$ref", TEXT, REFERENCE}, {"$dynamicRef", TEXT, REFERENCE},
    {"$defs", NAMED_SCHEMAS, NAME}, {"definitions", NAMED_SCHEMAS, NAME}, {"$anchor", TEXT, NAME},
    {"$dynamicAnchor", TEXT, NAME},
};
/* clang-format on */

static const char *const annotations[] = {"title",
                                          "description",
                                          "default",
                                          "examples",
                                          "example",
                                          "deprecated",
                                          "readOnly",
                                          "writeOnly",
                                          "$comment",
                                          "$schema",
                                          "$id",
                                          "discriminator",
                                          "contentMediaType",
                                          "contentEncoding",
                                          "contentSchema",
                                          "externalDocs",
                                          "xml",
                                          "markdownDescription",
                                          "$vocabulary"};

static bool all_texts(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!vouch_decimal_is_text(json_array_get(array, i))) return false;
    return json_is_array(array);
}

bool vouch_is_schema(const json_t *value)
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
    case SCHEMA: return vouch_is_schema(value) ? NULL : "expected a schema: an object, true or false";
    case SCHEMAS:
        for (size_t i = 0; i < json_array_size(value); i++) holds &= vouch_is_schema(json_array_get(value, i));
        return holds && json_array_size(value) > 0 ? NULL : "expected an array of at least one schema";
    case NAMED_SCHEMAS:
        json_object_foreach((json_t *)(uintptr_t)value, key, child) holds &= vouch_is_schema(child);
        return holds && json_is_object(value) ? NULL : "expected an object of schemas";
    case COUNT:
        holds = vouch_decimal_is(value) && vouch_decimal_is_whole(value) && vouch_decimal_value(value) >= 0 &&
                vouch_decimal_value(value) <= UINT32_MAX;
        return holds ? NULL : "expected an integer from 0 to 4294967295";
    case NUMBER: return vouch_decimal_is(value) ? NULL : "expected a number";
    case TRUTH: return json_is_boolean(value) ? NULL : "expected true or false";
    case TEXT: return vouch_decimal_is_text(value) ? NULL : "expected a string";
    case TEXTS: return all_texts(value) ? NULL : "expected an array of strings";
    case NAMED_TEXTS:
        json_object_foreach((json_t *)(uintptr_t)value, key, child) holds &= all_texts(child);
        return holds && json_is_object(value) ? NULL : "expected an object of arrays of strings";
    case ARRAY: return json_is_array(value) ? NULL : "expected an array";
    default: return NULL;
    }
}

vouch_keyword_role vouch_schema_role(const char *keyword)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strcmp(keywords[i].name, keyword) == 0) return keywords[i].role;
    return VOUCH_KEYWORD_OTHER;
}

static bool is_annotation(const char *name)
{
    for (size_t i = 0; i < sizeof annotations / sizeof annotations[0]; i++)
        if (strcmp(annotations[i], name) == 0) return true;
    return strncmp(name, "x-", 2) == 0;
}

/* Puts a value under a keyword of today; false: no memory. */
static bool put(json_t *schema, const char *keyword, const char *member, json_t *value)
{
    json_t *into = json_object_get(schema, keyword);
    if (json_is_object(into)) return json_object_set(into, member, value) == 0;
    return json_object_set_new(schema, keyword, json_pack("{s:O}", member, value)) == 0;
}

/* Writes keywords of drafts 4 to 7 as today's: a list under items, exclusiveMinimum: true, dependencies. False: no
 * memory. */
static bool modernize(json_t *schema)
{
    static const char *const bounds[][2] = {{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}};
    json_t *items = json_object_get(schema, "items"), *dependencies = json_object_get(schema, "dependencies"), *value;
    const char *name;
    bool stored = true;
    if (json_is_array(items) && !json_object_get(schema, "prefixItems")) {
        json_t *rest = json_object_get(schema, "additionalItems");
        if (json_array_size(items) > 0) stored &= json_object_set(schema, "prefixItems", items) == 0;
        if (rest) stored &= json_object_set(schema, "items", rest) == 0;
        else (void)json_object_del(schema, "items");
        (void)json_object_del(schema, "additionalItems");
    }
    for (int i = 0; i < 2; i++) {
        const json_t *is_open = json_object_get(schema, bounds[i][1]);
        json_t *bound = json_object_get(schema, bounds[i][0]);
        if (!json_is_boolean(is_open)) continue;
        if (!json_is_true(is_open) || !bound) {
            (void)json_object_del(schema, bounds[i][1]);
            continue;
        }
        stored &= json_object_set(schema, bounds[i][1], bound) == 0;
        (void)json_object_del(schema, bounds[i][0]);
    }
    json_object_foreach(dependencies, name, value)
        stored &= put(schema, json_is_array(value) ? "dependentRequired" : "dependentSchemas", name, value);
    (void)json_object_del(schema, "dependencies");
    return stored;
}

/* As the standard says, an unknown keyword is an annotation. It is noted, because it may be a misspelled one. A keyword
 * that is null, as programs in Go write those that they don't set, is absent. */
void vouch_schema_check(vouch_schema *s, const json_t *schema)
{
    const char *name;
    json_t *value;
    void *next;
    if (json_is_object(schema) && !modernize((json_t *)(uintptr_t)schema))
        vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    json_object_foreach_safe((json_t *)(uintptr_t)schema, next, name, value) {
        size_t i = 0;
        while (i < sizeof keywords / sizeof keywords[0] && strcmp(keywords[i].name, name) != 0) i++;
        const bool is_known = i < sizeof keywords / sizeof keywords[0];
        if (is_known && json_is_null(value) && strcmp(name, "const") != 0) {
            (void)json_object_del((json_t *)(uintptr_t)schema, name);
            continue;
        }
        const char *problem = is_known ? check_value(keywords[i].kind, value) : NULL;
        if (problem) vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, name, "%s", problem);
        else if (!is_known && !is_annotation(name))
            vouch_schema_note(s, schema, name, "JSON Schema has no such keyword, so it is ignored");
    }
    const json_t *type = json_object_get(schema, "type");
    if (type && (json_is_integer(type) || vouch_schema_types(schema) < 0))
        vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, "type",
                          "expected null, boolean, integer, number, string, array, object, or an array of them");
}

/* ------------------------------------------------------------------ anchors */

/* The schemas of a document by their anchors. */
typedef struct anchors {
    json_t *named; /* null: several schemas have the name */
    bool has_ids;  /* schemas within the document have an $id, so that their anchors are their own */
    bool failed;   /* out of memory */
} anchors;

static void find_anchors(json_t *schema, int depth, anchors *a)
{
    static const char *const names[] = {"$anchor", "$dynamicAnchor"};
    if (!json_is_object(schema) || depth > VOUCH_GRAMMAR_DEEPEST) return;
    a->has_ids |= depth > 0 && json_object_get(schema, "$id");
    for (int i = 0; i < 2; i++) {
        const char *name = json_string_value(json_object_get(schema, names[i]));
        const bool is_known = name && json_object_get(a->named, name);
        if (name) a->failed |= json_object_set(a->named, name, is_known ? json_null() : schema) != 0;
    }
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        json_t *value = json_object_get(schema, keywords[i].name);
        const char *key;
        json_t *child;
        if (keywords[i].kind == SCHEMA) find_anchors(value, depth + 1, a);
        if (keywords[i].kind == SCHEMAS)
            for (size_t j = 0; j < json_array_size(value); j++) find_anchors(json_array_get(value, j), depth + 1, a);
        if (keywords[i].kind == NAMED_SCHEMAS)
            json_object_foreach(value, key, child) find_anchors(child, depth + 1, a);
    }
}

json_t *vouch_schema_anchors(const json_t *root)
{
    anchors a = {.named = json_object()};
    find_anchors((json_t *)(uintptr_t)root, 0, &a);
    if (a.has_ids) json_object_clear(a.named);
    if (!a.failed) return a.named;
    json_decref(a.named);
    return NULL;
}
