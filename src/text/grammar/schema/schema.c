/* SPDX-License-Identifier: MIT */
/*
 * JSON Schema to expressions. The grammar allows the values that the schema allows, with these limits: properties come
 * in the schema's order, properties that it doesn't name come last, and json_text.h limits numbers and white space.
 *
 *     schema ── flatten ──► flat schemas ── each ──► choice over its types ──► expression
 *               $ref, allOf,                         a rule for each schema that can be met
 *               anyOf, not, ...                      again, so that schemas may be recursive
 *
 * A keyword that can't be turned into a grammar is an error with its JSON pointer, and so is one that the standard
 * doesn't know: a misspelled keyword would go unnoticed. Annotations such as "title" are skipped.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "text/grammar/notations.h"
#include "text/grammar/schema/schema_parts.h"
#include "vouch.h"

/* ------------------------------------------------------------------ pointers */

/* Adds "/name" to a JSON pointer. Returns its new length, cut to the room. */
static size_t add_segment(char *out, size_t used, size_t room, const char *name)
{
    if (used + 1 < room) out[used++] = '/';
    for (const char *c = name; *c && used + 2 < room; c++) {
        if (*c == '~' || *c == '/') {
            out[used++] = '~';
            out[used++] = *c == '~' ? '0' : '1';
        } else {
            out[used++] = *c;
        }
    }
    out[used] = '\0';
    return used;
}

/* Writes the JSON pointer of the value `node` within `in`. False where it isn't there. */
static bool find_pointer(const json_t *in, const json_t *node, char *out, size_t used, size_t room)
{
    out[used] = '\0';
    if (in == node) return true;
    const char *key;
    json_t *child;
    json_object_foreach((json_t *)(uintptr_t)in, key, child)
        if (find_pointer(child, node, out, add_segment(out, used, room, key), room)) return true;
    for (size_t i = 0; i < json_array_size(in); i++) {
        char index[24];
        snprintf(index, sizeof index, "%zu", i);
        if (find_pointer(json_array_get(in, i), node, out, add_segment(out, used, room, index), room)) return true;
    }
    return false;
}

void vouch_schema_made_of(vouch_schema *s, const json_t *made, const json_t *a, const json_t *b)
{
    if (s->n_origins == s->origins_room) {
        const int32_t room = s->origins_room > 0 ? 2 * s->origins_room : 64;
        void *origins = realloc(s->origins, (size_t)room * sizeof *s->origins);
        if (!origins) {
            vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
            return;
        }
        s->origins = origins;
        s->origins_room = room;
    }
    s->origins[s->n_origins++] = (vouch_schema_origin){made, {a, b}};
}

/* The schema of the document from which a made one has the keyword (NULL: the first of which it was made). A schema was
 * made after those of which it was made, so `before` falls. */
static const json_t *origin_of(const vouch_schema *s, const json_t *schema, const char *keyword, int32_t before)
{
    for (int32_t i = before - 1; i >= 0; i--) {
        const vouch_schema_origin *one = &s->origins[i];
        if (one->made != schema) continue;
        for (int j = 0; j < 2; j++) {
            if (!one->from[j] || (keyword && !json_object_get(one->from[j], keyword))) continue;
            return origin_of(s, one->from[j], keyword, i);
        }
        return one->from[0] ? origin_of(s, one->from[0], NULL, i) : schema;
    }
    return schema;
}

/* Writes the JSON pointer of a keyword. Values of the document are shared by the schemas that are made of them, but of
 * true, false and null there is only one object each. */
static void point_to(const vouch_schema *s, const json_t *node, const char *keyword, char *out, size_t room)
{
    const json_t *value = keyword ? json_object_get(node, keyword) : NULL;
    if (value && !json_is_boolean(value) && !json_is_null(value) && find_pointer(s->root, value, out, 0, room)) return;
    if (!find_pointer(s->root, origin_of(s, node, keyword, s->n_origins), out, 0, room)) out[0] = '\0';
    if (keyword) add_segment(out, strlen(out), room, keyword);
}

void vouch_schema_fail(vouch_schema *s, vouch_status status, const json_t *node, const char *keyword,
                       const char *format, ...)
{
    char pointer[200], message[300];
    va_list list;
    if (s->builder->status != VOUCH_OK) return;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    point_to(s, node, keyword, pointer, sizeof pointer);
    vouch_builder_fail(s->builder, status, "the schema at \"%s\": %s", pointer, message);
}

void vouch_schema_note(vouch_schema *s, const json_t *node, const char *keyword, const char *message)
{
    enum { STEP_BYTES = 16 }; /* of the document, which is searched for the pointer */
    char pointer[200], note[600];
    if (s->builder->n_notes == VOUCH_MOST_NOTES || !vouch_schema_spend(s, node, s->n_bytes / STEP_BYTES)) return;
    point_to(s, node, keyword, pointer, sizeof pointer);
    snprintf(note, sizeof note, "\"%s\": %s", pointer, message);
    vouch_builder_note(s->builder, note);
}

bool vouch_schema_let_pass(vouch_schema *s, const json_t *flat, const char *keyword, const char *format, ...)
{
    char message[300];
    va_list list;
    if (s->builder->status != VOUCH_OK) return false;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    if (s->builder->flags & VOUCH_GRAMMAR_LENIENT) vouch_schema_note(s, flat, keyword, message);
    else vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat, keyword, "%s", message);
    return s->builder->status == VOUCH_OK;
}

bool vouch_schema_spend(vouch_schema *s, const json_t *schema, size_t n_steps)
{
    enum { MOST_STEPS = 1 << 30 };
    s->n_steps += (int64_t)n_steps;
    if (s->n_steps > MOST_STEPS)
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, NULL,
                          "it takes more than %d steps to join its keywords; "
                          "expected shorter lists, or fewer schemas for one value",
                          MOST_STEPS);
    return s->builder->status == VOUCH_OK;
}

json_t *vouch_schema_keep(vouch_schema *s, json_t *made)
{
    static const char message[] = "not enough memory for the schema";
    if (made && json_array_append_new(s->made, made) == 0) return made;
    vouch_builder_fail(s->builder, VOUCH_E_MEMORY, message);
    return s->root;
}

/* -------------------------------------------------------------------- rules */

/* The slot of the schema's rule, or the free slot where it belongs. */
static int32_t *rule_slot(const vouch_schema *s, const json_t *schema, bool is_name)
{
    const size_t n = 2 * (size_t)s->rules_room;
    size_t at = (size_t)(vouch_hash_word(is_name, (uint64_t)(uintptr_t)schema) % n);
    for (; s->rule_slots[at]; at = (at + 1) % n) {
        const vouch_schema_rule *known = &s->rules[s->rule_slots[at] - 1];
        if (known->schema == schema && known->is_name == is_name) break;
    }
    return &s->rule_slots[at];
}

static bool grow_rules(vouch_schema *s)
{
    const int32_t room = s->rules_room > 0 ? 2 * s->rules_room : 64;
    void *rules = realloc(s->rules, (size_t)room * sizeof *s->rules);
    if (rules) s->rules = rules;
    int32_t *slots = rules ? calloc(2 * (size_t)room, sizeof *slots) : NULL;
    if (!slots) {
        vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
        return false;
    }
    free(s->rule_slots);
    s->rule_slots = slots;
    s->rules_room = room;
    for (int32_t i = 0; i < s->n_rules; i++) *rule_slot(s, s->rules[i].schema, s->rules[i].is_name) = i + 1;
    return true;
}

/* The rule of a schema; a new one has no body yet. Fails where the schema's values begin with themselves. */
static int32_t rule_of(vouch_schema *s, const json_t *schema, bool *is_new)
{
    *is_new = false;
    if (s->n_rules == s->rules_room && !grow_rules(s)) return 0;
    const bool is_name = s->writer.is_name;
    int32_t *slot = rule_slot(s, schema, is_name);
    if (*slot > 0) {
        const vouch_schema_rule *known = &s->rules[*slot - 1];
        if (s->builder->rules[known->rule].body < 0 && known->position == s->position)
            vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, NULL, "schemas refer to each other without end");
        return known->rule;
    }
    const int32_t rule = vouch_builder_rule(s->builder, VOUCH_SCHEMA_RULE, sizeof VOUCH_SCHEMA_RULE - 1);
    s->rules[s->n_rules++] = (vouch_schema_rule){schema, is_name, rule, s->position};
    *slot = s->n_rules;
    *is_new = true;
    return rule;
}

static vouch_expression body_of(vouch_schema *s, const json_t *schema)
{
    vouch_builder *b = s->builder;
    vouch_parts choices = {0};
    vouch_flats *flats = vouch_flats_new(s), *split = vouch_flats_new(s);
    if (b->status == VOUCH_OK) vouch_schema_flatten(s, schema, flats);
    for (int32_t i = 0; b->status == VOUCH_OK && i < flats->n; i++) vouch_schema_split(s, flats->flats[i], split);
    for (int32_t i = 0; b->status == VOUCH_OK && i < split->n; i++)
        vouch_parts_add(b, &choices, vouch_schema_flat_value(s, split->flats[i]));
    vouch_flats_free(flats);
    vouch_flats_free(split);
    return vouch_expression_choice(b, &choices);
}

vouch_expression vouch_schema_value(vouch_schema *s, const json_t *schema)
{
    vouch_builder *b = s->builder;
    if (b->status != VOUCH_OK) return 0;
    if (json_is_true(schema)) return vouch_json_any(&s->writer);
    if (json_is_false(schema)) return vouch_expression_nothing(b);
    bool is_new;
    const int32_t rule = rule_of(s, schema, &is_new);
    if (!is_new) return vouch_expression_rule(b, rule);
    enum { MOST_SCHEMAS = 1 << 18 };
    if (s->depth == VOUCH_GRAMMAR_DEEPEST || s->n_rules > MOST_SCHEMAS) {
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, NULL,
                          "schemas are nested more than %d deep, or are more than %d", VOUCH_GRAMMAR_DEEPEST,
                          MOST_SCHEMAS);
        return 0;
    }
    s->depth++;
    vouch_builder_define(b, rule, body_of(s, schema));
    s->depth--;
    return vouch_expression_rule(b, rule);
}

/* ---------------------------------------------------- schemas without values */

static bool is_empty(vouch_schema *s, const json_t *schema)
{
    return schema && vouch_expression_is_nothing(s->builder, vouch_schema_value(s, schema));
}

/* A part of the schema that its values must have and that has no values, and the keyword that says so; NULL: there is
 * none. */
static const json_t *empty_part(vouch_schema *s, const json_t *schema, const char **keyword)
{
    const json_t *properties = json_object_get(schema, "properties"), *items = json_object_get(schema, "items"),
                 *required = json_object_get(schema, "required"), *prefix = json_object_get(schema, "prefixItems"),
                 *reference = json_object_get(schema, "$ref");
    *keyword = "required";
    for (size_t i = 0; i < json_array_size(required); i++) {
        const json_t *one = json_object_get(properties, json_string_value(json_array_get(required, i)));
        if (!one) one = json_object_get(schema, "additionalProperties");
        if (is_empty(s, one)) return one;
    }
    *keyword = "minItems";
    const double least = vouch_decimal_value(json_object_get(schema, "minItems"));
    for (size_t i = 0; i < json_array_size(prefix) && (double)i < least; i++)
        if (is_empty(s, json_array_get(prefix, i))) return json_array_get(prefix, i);
    if (least > (double)json_array_size(prefix) && is_empty(s, items)) return items;
    *keyword = "$ref";
    const json_t *target = reference ? vouch_schema_target(s, schema) : NULL;
    return is_empty(s, target) ? target : NULL;
}

/* Names the part of a schema without values that is to blame. */
static void fail_empty(vouch_schema *s, const json_t *schema)
{
    static const char *const bounds[][2] = {{"minLength", "maxLength"},
                                            {"minItems", "maxItems"},
                                            {"minProperties", "maxProperties"},
                                            {"minimum", "maximum"},
                                            {"exclusiveMinimum", "maximum"},
                                            {"minimum", "exclusiveMaximum"},
                                            {"exclusiveMinimum", "exclusiveMaximum"}};
    static const char *const joined[] = {"enum", "const", "allOf", "anyOf", "oneOf", "not", "if"};
    const char *keyword = NULL;
    const json_t *part;
    for (int depth = 0; depth < VOUCH_GRAMMAR_DEEPEST && (part = empty_part(s, schema, &keyword)) != NULL; depth++) {
        if (json_is_false(part))
            vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, keyword,
                              "no value is valid: it demands a part whose schema, false, allows none");
        schema = part;
    }
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const json_t *min = json_object_get(schema, bounds[i][0]), *max = json_object_get(schema, bounds[i][1]);
        const int order = min && max ? vouch_decimal_compare(min, max) : -1;
        if (order > 0 || (order == 0 && i > 3))
            vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, bounds[i][0], "no value is valid: %s leaves none beside it",
                              bounds[i][1]);
    }
    for (size_t i = 0; i < sizeof joined / sizeof joined[0]; i++)
        if (json_object_get(schema, joined[i]))
            vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, joined[i],
                              "no value is valid: none meets it and the other keywords of the schema");
    vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, NULL, "no value is valid: its keywords exclude each other");
}

void vouch_schema_close(vouch_schema *schema)
{
    if (!schema) return;
    json_decref(schema->made);
    json_decref(schema->root);
    free(schema->origins);
    free(schema->rules);
    free(schema->rule_slots);
    free(schema);
}

vouch_schema *vouch_schema_open(vouch_builder *builder, const char *text, size_t n, size_t *n_read)
{
    json_error_t flaw;
    vouch_schema *s = calloc(1, sizeof *s);
    if (n_read) *n_read = 0;
    json_t *root = s ? vouch_decimal_load(text, n, n_read, &flaw) : NULL, *made = json_array();
    if (s)
        *s = (vouch_schema){.writer = {.builder = builder, .rules = VOUCH_JSON_RULES},
                            .builder = builder,
                            .root = root,
                            .made = made,
                            .n_bytes = n_read ? *n_read : n,
                            .most_work = VOUCH_SCHEMA_WORK};
    if (!s || !made) vouch_builder_fail(builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    else if (!root)
        vouch_builder_fail(builder, VOUCH_E_ARGUMENT, "the schema is no JSON: line %d, column %d: %s", flaw.line,
                           flaw.column, flaw.text);
    else if (!vouch_is_schema(root))
        vouch_builder_fail(builder, VOUCH_E_ARGUMENT, "the schema must be an object or true");
    if (builder->status == VOUCH_OK) return s;
    if (!s) json_decref(made);
    vouch_schema_close(s);
    return NULL;
}

vouch_expression vouch_schema_at(vouch_schema *schema, const char *reference)
{
    vouch_schema *s = schema;
    const json_t *found = vouch_schema_find(s, reference);
    if (!found)
        vouch_builder_fail(s->builder, VOUCH_E_ARGUMENT,
                           "\"%.60s\" is no schema of the document; expected a reference "
                           "such as #/properties/NAME",
                           reference);
    else if (json_is_false(found))
        vouch_builder_fail(s->builder, VOUCH_E_ARGUMENT, "the schema at \"%.60s\": false allows no value",
                           reference + 1);
    const vouch_expression value = found ? vouch_schema_value(s, found) : 0;
    if (s->builder->status == VOUCH_OK && vouch_expression_is_nothing(s->builder, value)) fail_empty(s, found);
    return value;
}

int32_t vouch_schema_read(vouch_builder *builder, const char *text, size_t n)
{
    const int32_t root = vouch_builder_rule(builder, VOUCH_SCHEMA_RULE, sizeof VOUCH_SCHEMA_RULE - 1);
    vouch_schema *schema = vouch_schema_open(builder, text, n, NULL);
    if (schema) vouch_builder_define(builder, root, vouch_schema_at(schema, "#"));
    vouch_schema_close(schema);
    return root;
}
