/* SPDX-License-Identifier: MIT */
/* Merges two flat schemas into one that asks for both (schema_parts.h). */
#include "text/grammar/schema/schema_parts.h"

typedef struct merger {
    vouch_schema *s;
    const json_t *a, *b;
    json_t *out;
    bool failed; /* out of memory */
} merger;

/* Stores a value; takes the reference. */
static void store(merger *m, json_t *object, const char *name, json_t *value)
{
    m->failed |= !value || json_object_set_new(object, name, value) != 0;
}

static json_t *shared(const json_t *value)
{
    return json_incref((json_t *)(uintptr_t)value);
}

/* A new reference to the schema that asks for both; NULL asks for nothing. */
static json_t *both(merger *m, const json_t *x, const json_t *y)
{
    if (!x || json_is_true(x) || x == y) return y ? shared(y) : json_true();
    if (!y || json_is_true(y)) return shared(x);
    if (json_is_false(x) || json_is_false(y)) return json_false();
    json_t *all = json_pack("{s:[O,O]}", "allOf", x, y);
    if (!all) return NULL;
    return shared(vouch_schema_keep(m->s, all));
}

static void merge_types(merger *m)
{
    if (json_object_get(m->a, "type") || json_object_get(m->b, "type"))
        store(m, m->out, "type", json_integer(vouch_schema_types(m->a) & vouch_schema_types(m->b)));
}

/* Keeps the larger, or the smaller, of the two schemas' numbers. */
static void merge_number(merger *m, const char *name, bool larger)
{
    const json_t *x = json_object_get(m->a, name), *y = json_object_get(m->b, name);
    if (!x && !y) return;
    const bool takes_x = !y || (x && (vouch_decimal_compare(x, y) > 0) == larger);
    store(m, m->out, name, shared(takes_x ? x : y));
}

/* Takes the keyword's value from the schema that has it. If both have it, the values must be equal. */
static void merge_equal(merger *m, const char *name)
{
    const json_t *x = json_object_get(m->a, name), *y = json_object_get(m->b, name);
    if (x && y && !vouch_schema_equal(x, y) &&
        !vouch_schema_let_pass(m->s, m->b, name, "it can't be joined with another %s for the same value", name))
        return;
    if (x || y) store(m, m->out, name, shared(x ? x : y));
}

/* The values of `from` that the list has (keep), or those that it lacks. A new reference. */
static json_t *filter(merger *m, const json_t *from, const json_t *list, bool keep)
{
    json_t *kept = json_array(), *texts = json_object(), *value; /* texts, so that long lists take no square of time */
    size_t i;
    json_array_foreach(list, i, value)
        if (vouch_decimal_is_text(value))
            m->failed |= json_object_set_new(texts, json_string_value(value), json_true()) != 0;
    json_array_foreach(from, i, value) {
        const bool is_text = vouch_decimal_is_text(value);
        if (!is_text && !vouch_schema_spend(m->s, m->b, json_array_size(list))) break;
        const bool has =
            is_text ? json_object_get(texts, json_string_value(value)) != NULL : vouch_schema_lists(list, value);
        if (has == keep) m->failed |= json_array_append(kept, value) != 0;
    }
    json_decref(texts);
    return kept;
}

static void merge_values(merger *m)
{
    json_t *x = vouch_schema_listed(m->a), *y = vouch_schema_listed(m->b);
    if (x || y) store(m, m->out, "enum", x && y ? filter(m, x, y, true) : json_incref(x ? x : y));
    json_decref(x);
    json_decref(y);
}

/* A list of values loses those that are excluded. */
static void merge_excluded(merger *m)
{
    const json_t *values = json_object_get(m->out, "enum"),
                 *no[] = {json_object_get(m->a, VOUCH_EXCLUDED), json_object_get(m->b, VOUCH_EXCLUDED)};
    for (int i = 0; i < 2 && values; i++) {
        if (no[i]) store(m, m->out, "enum", filter(m, values, no[i], false));
        values = json_object_get(m->out, "enum");
    }
    if (values) return;
    json_t *x = json_object_get(m->a, VOUCH_EXCLUDED), *y = json_object_get(m->b, VOUCH_EXCLUDED);
    if (!x || !y) {
        if (x || y) store(m, m->out, VOUCH_EXCLUDED, shared(x ? x : y));
        return;
    }
    json_t *all = json_copy(x);
    m->failed |= json_array_extend(all, y) != 0;
    store(m, m->out, VOUCH_EXCLUDED, all);
}

/* What one of the two schemas has evaluated is evaluated. */
static void merge_evaluated(merger *m)
{
    json_t *x = json_object_get(m->a, VOUCH_EVALUATED), *y = json_object_get(m->b, VOUCH_EVALUATED);
    if (json_is_object(x) && json_is_object(y)) {
        json_t *all = json_copy(x);
        m->failed |= json_object_update(all, y) != 0;
        store(m, m->out, VOUCH_EVALUATED, all);
    } else if (x || y) {
        store(m, m->out, VOUCH_EVALUATED, shared(json_is_true(x) || !y ? x : y));
    }
    x = json_object_get(m->a, VOUCH_EVALUATED_ITEMS);
    y = json_object_get(m->b, VOUCH_EVALUATED_ITEMS);
    if (json_is_true(x) || json_is_true(y)) store(m, m->out, VOUCH_EVALUATED_ITEMS, json_true());
    else merge_number(m, VOUCH_EVALUATED_ITEMS, true);
}

static void merge_arrays(merger *m)
{
    const json_t *x = json_object_get(m->a, "prefixItems"), *y = json_object_get(m->b, "prefixItems");
    const json_t *more_x = json_object_get(m->a, "items"), *more_y = json_object_get(m->b, "items");
    const size_t n_x = json_array_size(x), n_y = json_array_size(y);
    if (x || y) {
        json_t *items = json_array();
        for (size_t i = 0; i < n_x || i < n_y; i++) {
            json_t *item = both(m, i < n_x ? json_array_get(x, i) : more_x, i < n_y ? json_array_get(y, i) : more_y);
            m->failed |= json_array_append_new(items, item ? item : json_true()) != 0;
        }
        store(m, m->out, "prefixItems", items);
    }
    if (more_x || more_y) store(m, m->out, "items", both(m, more_x, more_y));
    if (json_is_true(json_object_get(m->a, "uniqueItems")) || json_is_true(json_object_get(m->b, "uniqueItems")))
        store(m, m->out, "uniqueItems", json_true());
}

/* Adds the properties of `from`, joined with what `other` says about the same names. */
static void add_properties(merger *m, json_t *out, const json_t *from, const json_t *other)
{
    const json_t *others = json_object_get(other, "properties"), *rest = json_object_get(other, "additionalProperties");
    enum { STEPS = 16 }; /* of a property */
    const char *name;
    json_t *schema;
    if (!vouch_schema_spend(m->s, m->b, STEPS * json_object_size(json_object_get(from, "properties")))) return;
    json_object_foreach(json_object_get(from, "properties"), name, schema) {
        if (json_object_get(out, name)) continue;
        const json_t *known = json_object_get(others, name);
        store(m, out, name, both(m, schema, known ? known : rest));
    }
}

/* A property whose name matches a pattern of one schema is none of its additionalProperties, but it is one of the
 * other's, which has other patterns. Where that is let pass, the patterns count no more. */
static void merge_patterns(merger *m)
{
    const json_t *x = json_object_get(m->a, "patternProperties"), *y = json_object_get(m->b, "patternProperties");
    const json_t *other = x ? m->b : m->a;
    const bool is_alone = (x != NULL) != (y != NULL);
    if (is_alone && (json_object_get(other, "properties") || json_object_get(other, "additionalProperties")))
        (void)vouch_schema_let_pass(m->s, x ? m->a : m->b, "patternProperties",
                                    "it can't be joined with properties or additionalProperties of another schema");
    else merge_equal(m, "patternProperties");
}

static void merge_objects(merger *m)
{
    merge_patterns(m);
    const json_t *x = json_object_get(m->a, "required"), *y = json_object_get(m->b, "required");
    const json_t *rest_x = json_object_get(m->a, "additionalProperties"),
                 *rest_y = json_object_get(m->b, "additionalProperties");
    if (json_object_get(m->a, "properties") || json_object_get(m->b, "properties")) {
        json_t *properties = json_object();
        store(m, m->out, "properties", properties);
        if (!m->failed) add_properties(m, properties, m->a, m->b);
        if (!m->failed) add_properties(m, properties, m->b, m->a);
    }
    if (json_object_get(m->a, VOUCH_LISTS) || json_object_get(m->b, VOUCH_LISTS))
        store(m, m->out, VOUCH_LISTS, json_true());
    const json_t *names_x = json_object_get(m->a, "propertyNames"), *names_y = json_object_get(m->b, "propertyNames");
    if (rest_x || rest_y) store(m, m->out, "additionalProperties", both(m, rest_x, rest_y));
    if (names_x || names_y) store(m, m->out, "propertyNames", both(m, names_x, names_y));
    if (!x && !y) return;
    json_t *required = json_array();
    m->failed |= json_array_extend(required, x ? (json_t *)(uintptr_t)x : required) != 0 && x;
    for (size_t i = 0; i < json_array_size(y) && vouch_schema_spend(m->s, m->b, json_array_size(required)); i++)
        if (!vouch_schema_lists(required, json_array_get(y, i)))
            m->failed |= json_array_append(required, json_array_get(y, i)) != 0;
    store(m, m->out, "required", required);
}

json_t *vouch_schema_merge(vouch_schema *s, const json_t *a, const json_t *b)
{
    if (json_object_size(a) == 0) return (json_t *)(uintptr_t)b;
    if (json_object_size(b) == 0) return (json_t *)(uintptr_t)a;
    merger m = {.s = s, .a = a, .b = b, .out = vouch_schema_keep(s, json_object())};
    vouch_schema_made_of(s, m.out, a, b);
    if (s->builder->status != VOUCH_OK) return NULL;
    merge_types(&m);
    merge_values(&m);
    merge_number(&m, "minLength", true);
    merge_number(&m, "maxLength", false);
    merge_number(&m, "minItems", true);
    merge_number(&m, "maxItems", false);
    merge_number(&m, "minimum", true);
    merge_number(&m, "exclusiveMinimum", true);
    merge_number(&m, "maximum", false);
    merge_number(&m, "exclusiveMaximum", false);
    merge_number(&m, "minProperties", true);
    merge_number(&m, "maxProperties", false);
    merge_equal(&m, "multipleOf");
    merge_equal(&m, "pattern");
    merge_equal(&m, "format");
    merge_excluded(&m);
    merge_evaluated(&m);
    merge_number(&m, "minContains", true);
    merge_number(&m, "maxContains", false);
    merge_equal(&m, "contains");
    merge_arrays(&m);
    merge_objects(&m);
    if (m.failed) vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    return s->builder->status == VOUCH_OK ? m.out : NULL;
}
