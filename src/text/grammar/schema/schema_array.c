/* SPDX-License-Identifier: MIT */
/* Arrays of a flat schema (schema_parts.h). */
#include <stdlib.h>

#include "text/grammar/schema/schema_parts.h"

enum { MOST_ITEMS = 10000 };

#define LITERAL(text) vouch_expression_literal(b, text)

static bool failed(const vouch_schema *s)
{
    return s->builder->status != VOUCH_OK;
}

/* The item at index i, or NULL where the array must be shorter. */
static const json_t *item_at(const json_t *flat, size_t i)
{
    const json_t *prefix = json_object_get(flat, "prefixItems"), *items = json_object_get(flat, "items");
    const json_t *item = i < json_array_size(prefix) ? json_array_get(prefix, i) : items ? items : json_true();
    return json_is_false(item) ? NULL : item;
}

enum { MOST_UNIQUE = 8 };

/* Different values in any order, of a few: a rule for each set of those that have been written. */
typedef struct unique {
    vouch_schema *s;
    const json_t *values[MOST_UNIQUE];
    int32_t n, min, max;
    int32_t rules[1 << MOST_UNIQUE]; /* 1 more than the rule after a set; 0: none yet */
} unique;

/* Lists the values that a schema allows. False: they are too many, or not listed. */
static bool list_values(unique *u, const json_t *schema)
{
    vouch_flats *flats = json_is_object(schema) ? vouch_flats_new(u->s) : NULL;
    bool good = flats != NULL;
    if (flats) vouch_schema_flatten(u->s, schema, flats);
    for (int32_t i = 0; good && i < flats->n && !failed(u->s); i++) {
        const json_t *flat = flats->flats[i], *target = json_object_get(flat, "$ref");
        const json_t *constant = json_object_get(flat, "const"), *list = json_object_get(flat, "enum");
        const size_t n = constant ? 1 : json_array_size(list);
        if (target) good = list_values(u, target);
        else good = n > 0 && u->n + (int32_t)n <= MOST_UNIQUE;
        for (size_t j = 0; good && !target && j < n; j++) {
            const json_t *value = constant ? constant : json_array_get(list, j);
            bool is_new = vouch_schema_within(u->s, flat, value);
            for (int32_t k = 0; k < u->n; k++) is_new &= !vouch_schema_equal(u->values[k], value);
            if (is_new) u->values[u->n++] = value;
        }
    }
    vouch_flats_free(flats);
    return good;
}

static vouch_expression after_set(unique *u, uint32_t set, int32_t n_written)
{
    vouch_builder *b = u->s->builder;
    if (u->rules[set]) return vouch_expression_rule(b, u->rules[set] - 1);
    const int32_t rule = vouch_builder_rule(b, "JSON set", 8);
    vouch_parts parts = {0};
    u->rules[set] = rule + 1;
    if (n_written >= u->min) vouch_parts_add(b, &parts, vouch_expression_empty(b));
    for (int32_t i = 0; i < u->n && (u->max < 0 || n_written < u->max) && !failed(u->s); i++) {
        if (set >> i & 1) continue;
        const vouch_expression value = vouch_json_constant(&u->s->writer, u->values[i]);
        vouch_parts_add(b, &parts,
                        vouch_expression_join(b, 2, n_written ? vouch_json_more(&u->s->writer, value, 1, 1) : value,
                                              after_set(u, set | 1u << i, n_written + 1)));
    }
    vouch_builder_define(b, rule, vouch_expression_choice(b, &parts));
    return vouch_expression_rule(b, rule);
}

/* Whether equal values of a schema have equal texts, as strings and integers have. *n: how many values it has at least,
 * up to MOST_COUNTED. */
static bool has_one_text(vouch_schema *s, const json_t *schema, int32_t *n)
{
    enum { MOST_COUNTED = 256 };
    static const char *const limits[] = {"pattern",          "format",           "maxLength",  "minimum",     "maximum",
                                         "exclusiveMinimum", "exclusiveMaximum", "multipleOf", VOUCH_EXCLUDED};
    vouch_flats *flats = json_is_object(schema) ? vouch_flats_new(s) : NULL;
    bool good = flats != NULL;
    if (flats) vouch_schema_flatten(s, schema, flats);
    for (int32_t i = 0; good && i < flats->n && !failed(s); i++) {
        const json_t *flat = flats->flats[i], *target = json_object_get(flat, "$ref");
        json_t *values = vouch_schema_listed(flat);
        const int types = vouch_schema_types(flat);
        int32_t own = types & (VOUCH_TYPE_STRING | VOUCH_TYPE_INTEGER) ? MOST_COUNTED : 1;
        if (target) good = has_one_text(s, target, n);
        else if (!values) good = !(types & (VOUCH_TYPE_NUMBER | VOUCH_TYPE_ARRAY | VOUCH_TYPE_OBJECT));
        for (size_t j = 0; j < sizeof limits / sizeof limits[0]; j++)
            if (json_object_get(flat, limits[j])) own = 1;
        if (values) own = 0;
        for (size_t j = 0; j < json_array_size(values) && good; j++) {
            const json_t *value = json_array_get(values, j);
            bool is_new = own < MOST_COUNTED && vouch_schema_within(s, flat, value);
            for (size_t k = 0; k < j && is_new; k++) is_new = !vouch_schema_equal(json_array_get(values, k), value);
            own += is_new;
            good = vouch_schema_type_of(value) < VOUCH_TYPE_ARRAY && vouch_schema_type_of(value) != VOUCH_TYPE_NUMBER;
        }
        if (!target && own > *n) *n = own;
        json_decref(values);
    }
    vouch_flats_free(flats);
    return good && !failed(s);
}

/* An array whose items have different texts, which the automaton remembers as it does the names of an object. */
static vouch_expression different_items(vouch_schema *s, const json_t *items, int32_t min, int32_t max)
{
    vouch_builder *b = s->builder;
    json_t *own = vouch_schema_keep(s, json_pack("{s:[O]}", "allOf", items));
    s->writer.is_name = true;
    const vouch_expression item = failed(s) ? 0 : vouch_expression_name(b, vouch_schema_value(s, own), true);
    s->writer.is_name = false;
    const int32_t least = min > 0 ? min - 1 : 0;
    vouch_expression all =
        vouch_expression_join(b, 2, item, vouch_json_more_names(&s->writer, item, item, least, max < 0 ? -1 : max - 1));
    if (min == 0) all = vouch_expression_optional(b, all);
    return vouch_expression_object(b, all);
}

/* An array with "uniqueItems": true. *passes: that can't be bound, and is let pass. */
static vouch_expression unique_of(vouch_schema *s, const json_t *flat, int32_t min, int32_t max, bool *passes)
{
    vouch_builder *b = s->builder;
    unique *u = calloc(1, sizeof *u);
    if (!u) return vouch_builder_fail(b, VOUCH_E_MEMORY, "not enough memory for the schema");
    *u = (unique){.s = s, .min = min, .max = max};
    json_t *item = json_object_get(flat, "items");
    int32_t n = 0;
    const bool is_list = !json_object_get(flat, "prefixItems"), good = is_list && list_values(u, item);
    const bool differ = !good && is_list && !failed(s) && has_one_text(s, item, &n) && min <= n;
    *passes = !good && !differ && !failed(s) &&
              vouch_schema_let_pass(s, flat, "uniqueItems",
                                    "supported for strings, integers and values of an enum, "
                                    "and minItems above 1 where there are surely so many");
    vouch_expression items = 0;
    if (differ) items = different_items(s, item, min, max);
    else if (!*passes && !failed(s)) items = after_set(u, 0, 0);
    free(u);
    if (*passes) return 0;
    return vouch_expression_join(b, 5, LITERAL("["), vouch_json_space(&s->writer), items, vouch_json_space(&s->writer),
                                 LITERAL("]"));
}

enum { MOST_CELLS = 4096 };

/*
 * contains: a rule for each pair of the items and the items valid for `contains` that have been written, up to the
 * numbers from which on it doesn't matter. Where no maxContains forbids it, an item valid for `contains` may also go
 * uncounted.
 *
 *     {"contains": {"const": 1}, "minContains": 1, "maxItems": 3}
 *
 *     0, 0 ─── any ──► 1, 0 ─── any ──► 2, 0          items, counted items
 *         └─── 1 ──┐       └─── 1 ──┐       └── 1 ──┐
 *                  └► 1, 1 ── any ──► 2, 1 ── any ──► 3, 1      may end with a 1
 */
typedef struct contained {
    vouch_schema *s;
    int32_t min, max;            /* items; max -1: any number */
    int32_t least, most;         /* items valid for `contains`; most -1: any number */
    int32_t n_kinds;             /* items at an index of n_kinds - 1 and above are alike */
    vouch_expression *counted;   /* [n_kinds] an item that is valid for `contains` */
    vouch_expression *uncounted; /* [n_kinds] an item that needn't be, or mustn't be where `most` bounds them */
    int32_t length, width;       /* pairs: [length][width] */
    int32_t *rules;              /* [length * width] */
} contained;

/* What may follow after i items of the array, of which n fit `contains`. */
static vouch_expression after_items(const contained *c, int32_t i, int32_t n)
{
    vouch_builder *b = c->s->builder;
    vouch_parts parts = {0};
    const int32_t next = i + 1 < c->length ? i + 1 : i, kind = i < c->n_kinds ? i : c->n_kinds - 1;
    if (i >= c->min && n >= c->least) vouch_parts_add(b, &parts, vouch_expression_empty(b));
    for (int32_t more = 0; more < 2 && n + more < c->width && (c->max < 0 || i < c->max); more++) {
        const vouch_expression item = more ? c->counted[kind] : c->uncounted[kind];
        vouch_parts_add(b, &parts,
                        vouch_expression_join(b, 2, i ? vouch_json_more(&c->s->writer, item, 1, 1) : item,
                                              vouch_expression_rule(b, c->rules[next * c->width + n + more])));
    }
    return vouch_expression_choice(b, &parts);
}

/* An item that is also valid for `more`. Takes the reference. */
static vouch_expression item_and(vouch_schema *s, const json_t *item, json_t *more)
{
    json_t *both = vouch_schema_keep(s, json_pack("{s:[O,o]}", "allOf", item, more));
    return failed(s) ? 0 : vouch_schema_value(s, both);
}

static vouch_expression contained_items(contained *c, const json_t *flat)
{
    vouch_schema *s = c->s;
    vouch_builder *b = s->builder;
    json_t *wanted = json_object_get(flat, "contains");
    for (int32_t i = 0; i < c->n_kinds && (c->max < 0 || i < c->max); i++) {
        const json_t *item = item_at(flat, (size_t)i);
        c->counted[i] = item_and(s, item, json_incref(wanted));
        if (c->most < 0) c->uncounted[i] = vouch_schema_value(s, item);
        else c->uncounted[i] = item_and(s, item, json_pack("{s:O}", "not", wanted));
    }
    for (int32_t i = 0; i < c->length * c->width; i++) c->rules[i] = vouch_builder_rule(b, "JSON items", 10);
    for (int32_t i = 0; i < c->length * c->width && !failed(s); i++)
        vouch_builder_define(b, c->rules[i], after_items(c, i / c->width, i % c->width));
    return failed(s) ? 0 : vouch_expression_rule(b, c->rules[0]);
}

/* *passes: `contains` can't be bound, and is let pass. */
static vouch_expression contains_of(vouch_schema *s, const json_t *flat, int32_t min, int32_t max, bool *passes)
{
    vouch_builder *b = s->builder;
    contained c = {.s = s, .min = min, .max = max};
    c.least = vouch_schema_count(s, flat, "minContains", 1, MOST_CELLS);
    c.most = vouch_schema_count(s, flat, "maxContains", -1, INT32_MAX - 1);
    if (c.most > MOST_ITEMS) c.most = -1;
    const int32_t n_prefix = (int32_t)json_array_size(json_object_get(flat, "prefixItems"));
    c.n_kinds = n_prefix + 1;
    c.length = 1 + (max > min ? max : min > n_prefix ? min : n_prefix);
    if (c.length < 2) c.length = 2; /* a comma stands before all items but the first */
    c.width = 1 + (c.most < 0 ? c.least : c.most);
    *passes = (int64_t)c.length * c.width > MOST_CELLS
                  ? vouch_schema_let_pass(s, flat, "contains",
                                          "the number of items to count, %d, times that of "
                                          "contained ones, %d, is above %d",
                                          c.length, c.width, MOST_CELLS)
                  : json_is_true(json_object_get(flat, "uniqueItems")) &&
                        vouch_schema_let_pass(s, flat, "contains", "it can't be combined with uniqueItems");
    if (*passes) return 0;
    if (failed(s) || (c.most >= 0 && c.most < c.least)) return vouch_expression_nothing(b);
    c.counted = calloc((size_t)c.n_kinds, sizeof *c.counted);
    c.uncounted = calloc((size_t)c.n_kinds, sizeof *c.uncounted);
    c.rules = calloc((size_t)c.length * (size_t)c.width, sizeof *c.rules);
    vouch_expression items = 0;
    if (c.counted && c.uncounted && c.rules) items = contained_items(&c, flat);
    else vouch_builder_fail(b, VOUCH_E_MEMORY, "not enough memory for the schema");
    free(c.counted);
    free(c.uncounted);
    free(c.rules);
    return vouch_expression_join(b, 5, LITERAL("["), vouch_json_space(&s->writer), items, vouch_json_space(&s->writer),
                                 LITERAL("]"));
}

/* Builds the expression from the array's end backwards: an item that is not required makes all that follows
 * optional. */
vouch_expression vouch_schema_array(vouch_schema *s, const json_t *flat)
{
    vouch_builder *b = s->builder;
    const int32_t min = vouch_schema_count(s, flat, "minItems", 0, MOST_ITEMS);
    int32_t max = vouch_schema_count(s, flat, "maxItems", -1, INT32_MAX);
    const int32_t n_prefix = (int32_t)json_array_size(json_object_get(flat, "prefixItems"));
    int32_t n = n_prefix; /* items that are written one by one */
    for (int32_t i = 0; i <= n_prefix && (max < 0 || i < max); i++)
        if (!item_at(flat, (size_t)i)) max = i;
    if (max > MOST_ITEMS) max = -1;
    if (failed(s) || (max >= 0 && max < min)) return vouch_expression_nothing(b);
    bool passes = true;
    vouch_expression bound = 0;
    if (json_object_get(flat, "contains")) bound = contains_of(s, flat, min, max, &passes);
    else if (json_is_true(json_object_get(flat, "uniqueItems")) && (max < 0 || max > 1))
        bound = unique_of(s, flat, min, max, &passes);
    if (!passes) return bound;
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
