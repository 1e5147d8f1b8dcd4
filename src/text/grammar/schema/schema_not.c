/* SPDX-License-Identifier: MIT */
/*
 * The values that schemas don't allow (schema_parts.h). A flat schema asks for all its keywords, so a value that it
 * doesn't allow breaks one of them:
 *
 *     flat schema        { "type": "string", "minLength": 3 }
 *     its complement     { "type": any other }    { "type": "string", "maxLength": 2 }
 *
 * A value that none of several flat schemas allows is in the complement of each. Only keywords whose complement is
 * again made of keywords can be negated; all others are errors.
 */
#include <stdlib.h>
#include <string.h>

#include "text/grammar/schema/schema_parts.h"

static bool failed(const vouch_schema *s)
{
    return s->builder->status != VOUCH_OK;
}

static json_t *shared(const json_t *value)
{
    return json_incref((json_t *)(uintptr_t)value);
}

/* --------------------------------------------------------------- complement */

typedef struct complement {
    vouch_schema *s;
    const json_t *flat;
    vouch_flats *out;
} complement;

/* Adds values of some types that json_pack's result allows. Takes the reference; NULL: json_pack had no memory. */
static void add(complement *c, int types, json_t *made)
{
    json_t *flat = vouch_schema_keep(c->s, made);
    if (failed(c->s)) return;
    if (json_object_set_new(flat, "type", json_integer(types)) != 0)
        vouch_builder_fail(c->s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    vouch_flats_add(c->s, c->out, flat, c->flat);
}

static const struct bound {
    const char *name;
    int types;
    const char *opposite;
    int step; /* the opposite bound is this much above the bound */
} bounds[] = {
    {"minLength", VOUCH_TYPE_STRING, "maxLength", -1},
    {"maxLength", VOUCH_TYPE_STRING, "minLength", 1},
    {"minItems", VOUCH_TYPE_ARRAY, "maxItems", -1},
    {"maxItems", VOUCH_TYPE_ARRAY, "minItems", 1},
    {"minProperties", VOUCH_TYPE_OBJECT, "maxProperties", -1},
    {"maxProperties", VOUCH_TYPE_OBJECT, "minProperties", 1},
    {"minimum", VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER, "exclusiveMaximum", 0},
    {"maximum", VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER, "exclusiveMinimum", 0},
    {"exclusiveMinimum", VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER, "maximum", 0},
    {"exclusiveMaximum", VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER, "minimum", 0},
};

static void negate_bound(complement *c, const struct bound *bound, const json_t *value)
{
    json_t *limit = bound->step ? json_integer((json_int_t)vouch_decimal_value(value) + bound->step) : shared(value);
    if (bound->step && json_integer_value(limit) < 0) json_decref(limit);
    else add(c, bound->types, json_pack("{s:o}", bound->opposite, limit));
}

/* A property has a value that its schema doesn't allow. */
static void negate_properties(complement *c, const json_t *properties)
{
    const char *name;
    json_t *schema;
    json_object_foreach((json_t *)(uintptr_t)properties, name, schema)
        if (!json_is_true(schema))
            add(c, VOUCH_TYPE_OBJECT,
                json_pack("{s:[s], s:{s:{s:O}}}", "required", name, "properties", name, "not", schema));
}

static void negate_required(complement *c, const json_t *required)
{
    for (size_t i = 0; i < json_array_size(required); i++)
        add(c, VOUCH_TYPE_OBJECT,
            json_pack("{s:{s:b}}", "properties", json_string_value(json_array_get(required, i)), 0));
}

/* One of the first items is not what its schema allows. */
static void negate_prefix(complement *c, const json_t *prefix)
{
    json_t *first = json_array();
    for (size_t i = 0; i < json_array_size(prefix) && first; i++) {
        json_t *items = json_copy(first), *wrong = json_pack("{s:O}", "not", json_array_get(prefix, i));
        if (json_array_append_new(items, wrong) != 0 || json_array_append_new(first, json_true()) != 0) {
            json_decref(items);
            items = NULL;
        }
        add(c, VOUCH_TYPE_ARRAY, items ? json_pack("{s:i, s:o}", "minItems", (int)i + 1, "prefixItems", items) : NULL);
    }
    json_decref(first);
}

/* Fewer items than minContains, or more than maxContains, are valid for `contains`. */
static void negate_contains(complement *c, const json_t *schema)
{
    const json_t *most = json_object_get(c->flat, "maxContains");
    const json_int_t least = (json_int_t)vouch_decimal_value(json_object_get(c->flat, "minContains"));
    if (least == 1) add(c, VOUCH_TYPE_ARRAY, json_pack("{s:{s:O}}", "items", "not", schema));
    if (least > 1)
        add(c, VOUCH_TYPE_ARRAY,
            json_pack("{s:O, s:i, s:I}", "contains", schema, "minContains", 0, "maxContains", least - 1));
    if (most)
        add(c, VOUCH_TYPE_ARRAY,
            json_pack("{s:O, s:I}", "contains", schema, "minContains", (json_int_t)vouch_decimal_value(most) + 1));
}

/* Whether every value meets the keyword, or another keyword's complement takes care of it. */
static bool is_harmless(const char *name, const json_t *value)
{
    static const char *const others[] = {"minContains", "maxContains", VOUCH_EVALUATED, VOUCH_EVALUATED_ITEMS,
                                         VOUCH_LISTS};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i]) == 0) return true;
    if (strcmp(name, "format") == 0) return vouch_json_format_is_unbound(json_string_value(value));
    if (strcmp(name, "uniqueItems") == 0) return json_is_false(value);
    if (strcmp(name, "const") == 0 || strcmp(name, "contains") == 0) return false;
    return json_is_true(value) || (json_is_object(value) && json_object_size(value) == 0);
}

/* Adds the values that break one keyword. */
static void negate_keyword(complement *c, const char *name, const json_t *value)
{
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (strcmp(name, bounds[i].name) == 0) {
            negate_bound(c, &bounds[i], value);
            return;
        }
    const bool has_prefix = json_object_get(c->flat, "prefixItems") != NULL;
    if (is_harmless(name, value)) return;
    if (strcmp(name, "type") == 0) add(c, VOUCH_TYPE_ANY & ~vouch_schema_types(c->flat), json_object());
    else if (strcmp(name, "const") == 0) add(c, VOUCH_TYPE_ANY, json_pack("{s:[O]}", VOUCH_EXCLUDED, value));
    else if (strcmp(name, "enum") == 0) add(c, VOUCH_TYPE_ANY, json_pack("{s:O}", VOUCH_EXCLUDED, value));
    else if (strcmp(name, VOUCH_EXCLUDED) == 0) add(c, VOUCH_TYPE_ANY, json_pack("{s:O}", "enum", value));
    else if (strcmp(name, "properties") == 0) negate_properties(c, value);
    else if (strcmp(name, "required") == 0) negate_required(c, value);
    else if (strcmp(name, "prefixItems") == 0) negate_prefix(c, value);
    else if (strcmp(name, "contains") == 0) negate_contains(c, value);
    else if (strcmp(name, "items") == 0 && !has_prefix)
        add(c, VOUCH_TYPE_ARRAY, json_pack("{s:{s:O}, s:i}", "contains", "not", value, "minContains", 1));
    else if (vouch_schema_let_pass(c->s, c->flat, name,
                                   "it can't be negated, as 'not' and 'if' need, and 'oneOf' where its schemas "
                                   "overlap"))
        add(c, VOUCH_TYPE_ANY, json_object()); /* more than the values that break it */
}

void vouch_flats_negate(vouch_schema *s, const vouch_flats *flats, vouch_flats *out)
{
    vouch_flats *broken = vouch_flats_new(s);
    json_t *any = vouch_schema_keep(s, json_object());
    out->n = 0;
    vouch_flats_add(s, out, any, any);
    for (int32_t i = 0; i < flats->n && !failed(s); i++) {
        complement c = {s, flats->flats[i], broken};
        const char *name;
        json_t *value;
        broken->n = 0;
        json_object_foreach(flats->flats[i], name, value)
            if (!failed(s)) negate_keyword(&c, name, value);
        if (!failed(s)) vouch_flats_cross(s, out, broken, flats->flats[i]);
    }
    vouch_flats_free(broken);
}

/* ---------------------------------------------------------- excluded values */

enum { MOST_NUMBERS = 64 };

static int compare_numbers(const void *a, const void *b)
{
    return vouch_decimal_compare(*(const json_t *const *)a, *(const json_t *const *)b);
}

/* Adds the numbers between those that are excluded: each interval becomes a flat schema. */
static void split_numbers(vouch_schema *s, const json_t *flat, const json_t **excluded, size_t n, vouch_flats *out)
{
    qsort(excluded, n, sizeof *excluded, compare_numbers);
    const int types = vouch_schema_types(flat) & (VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER);
    for (size_t i = 0; i <= n && !failed(s); i++) {
        json_t *between = vouch_schema_keep(s, json_pack("{s:i}", "type", types));
        bool stored = true;
        if (i > 0) stored = json_object_set(between, "exclusiveMinimum", (json_t *)(uintptr_t)excluded[i - 1]) == 0;
        if (i < n) stored &= json_object_set(between, "exclusiveMaximum", (json_t *)(uintptr_t)excluded[i]) == 0;
        if (!stored) vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
        if (!failed(s)) vouch_flats_add(s, out, vouch_schema_merge(s, flat, between), flat);
    }
}

/* The flat schema without some types, and with a keyword more. */
static json_t *without(vouch_schema *s, const json_t *flat, int types, const char *keyword)
{
    json_t *more = json_pack("{s:i}", "type", VOUCH_TYPE_ANY & ~types);
    if (keyword && more) (void)json_object_set_new(more, keyword, json_integer(1));
    more = vouch_schema_keep(s, more);
    return failed(s) ? NULL : vouch_schema_merge(s, flat, more);
}

void vouch_schema_split(vouch_schema *s, const json_t *flat, vouch_flats *out)
{
    const json_t *excluded = json_object_get(flat, VOUCH_EXCLUDED), *numbers[MOST_NUMBERS];
    json_t *rest = (json_t *)(uintptr_t)flat;
    size_t n_numbers = 0;
    const bool is_listed = json_object_get(flat, "enum") || json_object_get(flat, "const");
    for (size_t i = 0; !is_listed && i < json_array_size(excluded) && rest && !failed(s); i++) {
        const json_t *value = json_array_get(excluded, i);
        const int type = vouch_schema_type_of(value), others = vouch_schema_types(rest);
        if (type == VOUCH_TYPE_NULL) rest = without(s, rest, type, NULL);
        if (type == VOUCH_TYPE_BOOLEAN && others & type) {
            json_t *other = json_pack("{s:[b]}", "enum", json_is_false(value));
            const bool is_left = !vouch_schema_lists(excluded, json_is_false(value) ? json_true() : json_false());
            other = vouch_schema_keep(s, other);
            if (is_left) vouch_flats_add(s, out, other, flat);
            rest = without(s, rest, type, NULL);
        }
        if (vouch_decimal_is(value)) {
            if (n_numbers < MOST_NUMBERS) numbers[n_numbers++] = value;
            else
                vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, value, NULL, "more than %d numbers are not allowed",
                                  MOST_NUMBERS);
        }
        if (type < VOUCH_TYPE_ARRAY || !(others & type)) continue;
        const bool is_full = json_array_size(value) || json_object_size(value);
        if (is_full && vouch_schema_let_pass(s, value, NULL, "of arrays and objects, only [] and {} can be excluded"))
            continue;
        rest = without(s, rest, 0, type == VOUCH_TYPE_ARRAY ? "minItems" : "minProperties");
    }
    if (rest && n_numbers && vouch_schema_types(rest) & (VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER)) {
        split_numbers(s, rest, numbers, n_numbers, out);
        rest = failed(s) ? NULL : without(s, rest, VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER, NULL);
    }
    vouch_flats_add(s, out, rest, flat);
}
