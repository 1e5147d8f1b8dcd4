/* SPDX-License-Identifier: MIT */
/* Turns a flat schema into an expression: a choice over the types that it allows (schema_parts.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/grammar/schema_parts.h"

enum { LONGEST_TEXT = 10000, MOST_ITEMS = 10000, LONGEST_NAME = 500 };

#define LITERAL(text) vouch_expression_literal(b, text)

static bool failed(const vouch_schema *s)
{
    return s->builder->status != VOUCH_OK;
}

/* Reads a count, such as minItems; `other` where the keyword is absent. */
static int32_t count_of(vouch_schema *s, const json_t *flat, const char *name, int32_t other, int32_t most)
{
    const json_t *value = json_object_get(flat, name);
    if (!value) return other;
    const int32_t count = (int32_t)json_number_value(value);
    if (count > most)
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat, name, "%s is %d; supported are at most %d", name, count, most);
    return count;
}

/* ------------------------------------------------------------------ numbers */

typedef struct bounds {
    int64_t min, max;
    bool any;
} bounds;

static int64_t clamp(double value)
{
    return value > (double)VOUCH_JSON_MOST ? VOUCH_JSON_MOST
           : value < -(double)VOUCH_JSON_MOST ? -VOUCH_JSON_MOST : (int64_t)value;
}

/* The integers that the bounds allow. */
static bounds bounds_of(const json_t *flat)
{
    bounds out = {-VOUCH_JSON_MOST, VOUCH_JSON_MOST, false};
    static const struct {
        const char *name;
        bool is_min, is_exclusive;
    } limits[] = {{"minimum", true, false}, {"exclusiveMinimum", true, true}, {"maximum", false, false},
                  {"exclusiveMaximum", false, true}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const json_t *value = json_object_get(flat, limits[i].name);
        if (!value) continue;
        out.any = true;
        const double real = json_number_value(value);
        const bool is_whole = json_is_integer(value) || real == floor(real);
        int64_t limit = json_is_integer(value) ? json_integer_value(value)
                                               : clamp(limits[i].is_min ? ceil(real) : floor(real));
        if (limit > VOUCH_JSON_MOST) limit = VOUCH_JSON_MOST;
        if (limit < -VOUCH_JSON_MOST) limit = -VOUCH_JSON_MOST;
        if (is_whole && limits[i].is_exclusive) limit += limits[i].is_min ? 1 : -1;
        if (limits[i].is_min && limit > out.min) out.min = limit;
        if (!limits[i].is_min && limit < out.max) out.max = limit;
    }
    return out;
}

/* The interval of a number's bounds. False after a failure: a bound is no whole number of at most 17 digits. */
static bool interval_of(vouch_schema *s, const json_t *flat, vouch_interval *out)
{
    static const char *const names[] = {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"};
    *out = (vouch_interval){-VOUCH_JSON_MOST, VOUCH_JSON_MOST, false, false};
    for (int i = 0; i < 4; i++) {
        const json_t *value = json_object_get(flat, names[i]);
        const double real = json_number_value(value);
        if (!value) continue;
        if (real != floor(real) || fabs(real) > 1e17) {
            vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat, names[i],
                              "a number's bound must be a whole number of at most 17 digits");
            return false;
        }
        const int64_t limit = (int64_t)real;
        if (i < 2 && (limit > out->min || (limit == out->min && i == 1))) {
            out->min = limit;
            out->above_min = i == 1;
        }
        if (i >= 2 && (limit < out->max || (limit == out->max && i == 3))) {
            out->max = limit;
            out->below_max = i == 3;
        }
    }
    return true;
}

static vouch_expression number_of(vouch_schema *s, const json_t *flat, int types)
{
    const bounds range = bounds_of(flat);
    vouch_interval interval;
    if (!(types & VOUCH_TYPE_NUMBER)) return vouch_json_integer(&s->writer, range.min, range.max);
    if (!range.any) return vouch_json_number(&s->writer);
    return interval_of(s, flat, &interval) ? vouch_json_number_in(&s->writer, &interval) : 0;
}

/* ------------------------------------------------------------------ strings */

static vouch_expression string_of(vouch_schema *s, const json_t *flat)
{
    static const char *const forms[] = {"pattern", "format"};
    const int32_t min = count_of(s, flat, "minLength", 0, LONGEST_TEXT);
    const int32_t max = count_of(s, flat, "maxLength", -1, LONGEST_TEXT);
    const bool is_bound = min > 0 || max >= 0;
    for (int i = 0; i < 2 && !failed(s); i++) {
        const json_t *form = json_object_get(flat, forms[i]);
        if (!form) continue;
        if (is_bound || (i == 0 && json_object_get(flat, "format"))) {
            vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat, forms[i],
                              "%s can't be joined with minLength, maxLength or another form of the string", forms[i]);
            return 0;
        }
        const char *pattern = i == 0 ? json_string_value(form) : vouch_json_format(json_string_value(form));
        if (!pattern) {
            vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat, "format", "\"%.40s\" is not supported; expected one of %s",
                              json_string_value(form), vouch_json_formats);
            return 0;
        }
        return vouch_json_pattern(&s->writer, pattern, i == 0 ? json_string_length(form) : strlen(pattern));
    }
    if (failed(s) || (max >= 0 && max < min)) return vouch_expression_nothing(s->builder);
    return vouch_json_string(&s->writer, min, max);
}

/* ------------------------------------------------------------------- arrays */

/* The item at index i, or NULL where the array must be shorter. */
static const json_t *item_at(const json_t *flat, size_t i)
{
    const json_t *prefix = json_object_get(flat, "prefixItems"), *items = json_object_get(flat, "items");
    const json_t *item = i < json_array_size(prefix) ? json_array_get(prefix, i) : items ? items : json_true();
    return json_is_false(item) ? NULL : item;
}

/* Builds the expression from the array's end backwards: an item that is not required makes all that follows
 * optional. */
static vouch_expression array_of(vouch_schema *s, const json_t *flat)
{
    vouch_builder *b = s->builder;
    const int32_t min = count_of(s, flat, "minItems", 0, MOST_ITEMS);
    int32_t max = count_of(s, flat, "maxItems", -1, INT32_MAX);
    const int32_t n_prefix = (int32_t)json_array_size(json_object_get(flat, "prefixItems"));
    int32_t n = n_prefix; /* items that are written one by one */
    for (int32_t i = 0; i <= n_prefix && (max < 0 || i < max); i++)
        if (!item_at(flat, (size_t)i)) max = i;
    if (max > MOST_ITEMS) max = -1;
    if (failed(s) || (max >= 0 && max < min)) return vouch_expression_nothing(b);
    if (max >= 0 && max < n) n = max;

    vouch_expression tail = vouch_expression_empty(b);
    if (max < 0 || max > n_prefix) {
        const vouch_expression item = vouch_schema_value(s, item_at(flat, (size_t)n_prefix));
        const int32_t least = min > n + 1 ? min - n - 1 : 0;
        if (n > 0) tail = vouch_json_more(&s->writer, item, min > n ? min - n : 0, max < 0 ? -1 : max - n);
        else tail = vouch_expression_join(b, 2, item, vouch_json_more(&s->writer, item, least, max < 0 ? -1 : max - 1));
        if (n == 0 && min == 0) tail = vouch_expression_optional(b, tail);
    }
    for (int32_t i = n - 1; i >= 0 && !failed(s); i--) {
        const vouch_expression item = vouch_schema_value(s, item_at(flat, (size_t)i));
        tail = vouch_expression_join(b, 2, i > 0 ? vouch_json_more(&s->writer, item, 1, 1) : item, tail);
        if (i >= min) tail = vouch_expression_optional(b, tail);
        tail = vouch_expression_shared(b, tail);
    }
    return vouch_expression_join(b, 5, LITERAL("["), vouch_json_space(&s->writer), tail, vouch_json_space(&s->writer),
                                 LITERAL("]"));
}

/* ------------------------------------------------------------------ objects */

/* The properties in order: those that the schema names, then those that only `required` names. */
typedef struct property {
    vouch_text name;
    const json_t *schema;
    bool is_required;
} property;

typedef struct object {
    property *list; /* [n] */
    int32_t n;
    const json_t *rest; /* of all other properties */
} object;

static bool is_listed(const json_t *required, const char *name)
{
    for (size_t i = 0; i < json_array_size(required); i++)
        if (strcmp(json_string_value(json_array_get(required, i)), name) == 0) return true;
    return false;
}

static void list_properties(vouch_schema *s, const json_t *flat, object *o)
{
    const json_t *properties = json_object_get(flat, "properties"), *required = json_object_get(flat, "required");
    const json_t *rest = json_object_get(flat, "additionalProperties");
    const char *name;
    json_t *schema;
    *o = (object){.rest = rest ? rest : json_true()};
    o->list = calloc(json_object_size(properties) + json_array_size(required) + 1, sizeof *o->list);
    if (!o->list) {
        vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)properties, name, schema) {
        const property one = {{name, strlen(name)}, schema, is_listed(required, name)};
        o->list[o->n++] = one;
    }
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *needed = json_string_value(json_array_get(required, i));
        bool known = false;
        for (int32_t j = 0; j < o->n; j++) known |= strcmp(o->list[j].name.data, needed) == 0;
        if (!known)
            o->list[o->n++] =
                (property){.name = {needed, strlen(needed)}, .schema = o->rest, .is_required = true};
    }
    for (int32_t i = 0; i < o->n; i++)
        if (o->list[i].name.size > LONGEST_NAME)
            vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat, "properties", "a property's name has more than %d bytes",
                              LONGEST_NAME);
}

static int compare_texts(const void *a, const void *b)
{
    const vouch_text *x = a, *y = b;
    const int order = memcmp(x->data, y->data, x->size < y->size ? x->size : y->size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

/* A property whose name is not in the list. */
static vouch_expression other_property(vouch_schema *s, const object *o)
{
    vouch_builder *b = s->builder;
    vouch_text *names = calloc((size_t)o->n + 1, sizeof *names);
    if (!names) return vouch_builder_fail(b, VOUCH_E_MEMORY, "not enough memory for the schema");
    for (int32_t i = 0; i < o->n; i++) names[i] = o->list[i].name;
    qsort(names, (size_t)o->n, sizeof *names, compare_texts);
    const vouch_expression name = vouch_json_string_except(&s->writer, names, o->n);
    free(names);
    return vouch_expression_shared(b, vouch_expression_join(b, 4, name, LITERAL(":"), vouch_json_space(&s->writer),
                                                            vouch_schema_value(s, o->rest)));
}

static vouch_expression named_property(vouch_schema *s, const property *p)
{
    vouch_builder *b = s->builder;
    return vouch_expression_shared(
        b, vouch_expression_join(b, 4, vouch_json_string_of(&s->writer, p->name.data, p->name.size), LITERAL(":"),
                                 vouch_json_space(&s->writer), vouch_schema_value(s, p->schema)));
}

/*
 * From the last property backwards, two expressions for the properties from i on:
 *
 *     first[i]   none has been written: property i, then later[i + 1]; or, where i is optional, first[i + 1]
 *     later[i]   some have been: a comma, property i, then later[i + 1]; or, where i is optional, later[i + 1]
 */
static vouch_expression object_of(vouch_schema *s, const json_t *flat)
{
    vouch_builder *b = s->builder;
    vouch_json_writer *w = &s->writer;
    object o;
    list_properties(s, flat, &o);
    vouch_expression later = vouch_expression_empty(b), first = later;
    if (!failed(s) && !json_is_false(o.rest)) {
        const vouch_expression other = other_property(s, &o);
        later = vouch_expression_shared(b, vouch_json_more(w, other, 0, -1));
        first = vouch_expression_optional(b, vouch_expression_join(b, 2, other, later));
    }
    for (int32_t i = o.n - 1; i >= 0 && !failed(s); i--) {
        const property *p = &o.list[i];
        if (json_is_false(p->schema) && !p->is_required) continue;
        const vouch_expression one = named_property(s, p);
        const vouch_expression begins = vouch_expression_join(b, 2, one, later);
        const vouch_expression goes_on = vouch_expression_join(b, 2, vouch_json_more(w, one, 1, 1), later);
        first = p->is_required ? begins : vouch_expression_either(b, 2, begins, first);
        later = p->is_required ? goes_on : vouch_expression_either(b, 2, goes_on, later);
        first = vouch_expression_shared(b, first);
        later = vouch_expression_shared(b, later);
    }
    free(o.list);
    return vouch_expression_join(b, 5, LITERAL("{"), vouch_json_space(w), first, vouch_json_space(w), LITERAL("}"));
}

/* -------------------------------------------------------------------- values */

static bool within(vouch_schema *s, const json_t *flat, const json_t *value)
{
    static const char *const others[] = {"pattern", "format", "properties", "required", "additionalProperties",
                                         "items", "prefixItems"};
    const int type = vouch_schema_type_of(value);
    const bool is_whole = json_is_real(value) && json_number_value(value) == floor(json_number_value(value));
    if (!(vouch_schema_types(flat) & (is_whole ? VOUCH_TYPE_INTEGER : type))) return false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const int of = i < 2 ? VOUCH_TYPE_STRING : i < 5 ? VOUCH_TYPE_OBJECT : VOUCH_TYPE_ARRAY;
        if (type != of || !json_object_get(flat, others[i])) continue;
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, flat, others[i], "it can't be combined with const or enum");
        return false;
    }
    if (json_is_number(value)) {
        const double x = json_number_value(value);
        const json_t *min = json_object_get(flat, "minimum"), *max = json_object_get(flat, "maximum"),
                     *above = json_object_get(flat, "exclusiveMinimum"),
                     *below = json_object_get(flat, "exclusiveMaximum");
        return !(min && x < json_number_value(min)) && !(max && x > json_number_value(max)) &&
               !(above && x <= json_number_value(above)) && !(below && x >= json_number_value(below));
    }
    size_t n = json_array_size(value);
    if (json_is_string(value))
        for (const char *c = json_string_value(value); *c; c++) n += (*c & 0xc0) != 0x80;
    if (type != VOUCH_TYPE_STRING && type != VOUCH_TYPE_ARRAY) return true;
    const json_t *min = json_object_get(flat, type == VOUCH_TYPE_STRING ? "minLength" : "minItems"),
                 *max = json_object_get(flat, type == VOUCH_TYPE_STRING ? "maxLength" : "maxItems");
    return !(min && (double)n < json_number_value(min)) && !(max && (double)n > json_number_value(max));
}

/* The values of enum and const that the other keywords allow. */
static vouch_expression listed_values(vouch_schema *s, const json_t *flat)
{
    vouch_builder *b = s->builder;
    const json_t *values = json_object_get(flat, "enum"), *constant = json_object_get(flat, "const");
    vouch_parts choices = {0};
    for (size_t i = 0; i < json_array_size(values) && !failed(s); i++) {
        const json_t *value = json_array_get(values, i);
        if (constant && !json_equal(constant, value)) continue;
        if (within(s, flat, value)) vouch_parts_add(b, &choices, vouch_json_constant(&s->writer, value));
    }
    if (!values && within(s, flat, constant)) vouch_parts_add(b, &choices, vouch_json_constant(&s->writer, constant));
    return vouch_expression_choice(b, &choices);
}

vouch_expression vouch_schema_flat_value(vouch_schema *s, const json_t *flat)
{
    vouch_builder *b = s->builder;
    const int types = vouch_schema_types(flat);
    vouch_parts choices = {0};
    if (json_object_get(flat, "$ref")) return vouch_schema_value(s, json_object_get(flat, "$ref"));
    if (json_object_get(flat, "enum") || json_object_get(flat, "const")) return listed_values(s, flat);
    if (json_object_size(flat) == 0) return vouch_json_any(&s->writer);
    if (types & VOUCH_TYPE_NULL) vouch_parts_add(b, &choices, LITERAL("null"));
    if (types & VOUCH_TYPE_BOOLEAN)
        vouch_parts_add(b, &choices, vouch_expression_either(b, 2, LITERAL("true"), LITERAL("false")));
    if (types & VOUCH_TYPE_STRING) vouch_parts_add(b, &choices, string_of(s, flat));
    if (types & (VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER)) vouch_parts_add(b, &choices, number_of(s, flat, types));
    if (types & VOUCH_TYPE_ARRAY) vouch_parts_add(b, &choices, array_of(s, flat));
    if (types & VOUCH_TYPE_OBJECT) vouch_parts_add(b, &choices, object_of(s, flat));
    return vouch_expression_choice(b, &choices);
}
