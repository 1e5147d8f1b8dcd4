/* SPDX-License-Identifier: MIT */
/* Turns the keywords whose schemas apply to the same value, such as allOf, into flat schemas (schema_parts.h). */
#include <stdlib.h>
#include <string.h>

#include "text/grammar/schema/schema_parts.h"
#include "vouch.h"

/* ------------------------------------------------------------------- $ref */

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
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

const json_t *vouch_schema_find(vouch_schema *s, const char *reference)
{
    const char *ref = reference;
    const json_t *node = s->root;
    char segment[1024];
    if (*ref != '#') return NULL;
    if (ref[1] && ref[1] != '/') {
        if (!s->anchors) s->anchors = vouch_schema_keep(s, vouch_schema_anchors(s->root));
        node = json_object_get(s->anchors, ref + 1);
        return json_is_object(node) ? node : NULL;
    }
    for (const char *at = ref + 1; *at && node;) {
        at = next_segment(at, segment, sizeof segment);
        node = json_is_array(node) ? json_array_get(node, (size_t)strtoul(segment, NULL, 10))
                                   : json_object_get(node, segment);
    }
    return node && vouch_is_schema(node) ? node : NULL;
}

static bool failed(const vouch_schema *s)
{
    return s->builder->status != VOUCH_OK;
}

/* The name of the keyword of a schema that refers to another; NULL: there is none. */
static const char *reference_of(const json_t *schema)
{
    return json_object_get(schema, "$ref") ? "$ref" : json_object_get(schema, "$dynamicRef") ? "$dynamicRef" : NULL;
}

/* The schema that a reference names; NULL after a failure. */
static const json_t *target_of(vouch_schema *s, const json_t *schema, const char *keyword)
{
    const char *ref = json_string_value(json_object_get(schema, keyword));
    const json_t *target = vouch_schema_find(s, ref);
    if (!target)
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, keyword,
                          "\"%.60s\" is no schema of this document; expected #/$defs/NAME", ref);
    return target;
}

const json_t *vouch_schema_target(vouch_schema *s, const json_t *schema)
{
    return target_of(s, schema, reference_of(schema));
}

/* ------------------------------------------------------------------ choices */

vouch_flats *vouch_flats_new(vouch_schema *s)
{
    vouch_flats *flats = calloc(1, sizeof *flats);
    if (!flats) vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    return flats;
}

void vouch_flats_free(vouch_flats *flats)
{
    if (flats) free(flats->flats);
    free(flats);
}

/* `flats` becomes the other list, which is freed. After a failure, or where that is NULL, it stays as it is. */
static void replace(const vouch_schema *s, vouch_flats *flats, vouch_flats *with)
{
    if (with && s->builder->status == VOUCH_OK) {
        const vouch_flats old = *flats;
        *flats = *with;
        *with = old;
    }
    vouch_flats_free(with);
}

static bool grow_flats(vouch_schema *s, vouch_flats *flats)
{
    const int32_t room = flats->room > 0 ? 2 * flats->room : 8;
    json_t **grown = realloc(flats->flats, (size_t)room * sizeof *grown);
    if (!grown) {
        vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
        return false;
    }
    flats->flats = grown;
    flats->room = room;
    return true;
}

void vouch_flats_add(vouch_schema *s, vouch_flats *flats, json_t *flat, const json_t *schema)
{
    enum { COMPARED = 256 }; /* among so many an equal one is looked for */
    if (failed(s) || !flat || vouch_schema_impossible(flat)) return;
    for (int32_t i = 0; i < flats->n && i < COMPARED; i++)
        if (json_equal(flats->flats[i], flat)) return;
    if (flats->n == VOUCH_SCHEMA_FLATS)
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, NULL, "more than %d alternatives", VOUCH_SCHEMA_FLATS);
    else if (flats->n < flats->room || grow_flats(s, flats)) flats->flats[flats->n++] = flat;
}

/* Adds an object that json_pack made, or NULL where it had no memory. */
static void add_made(vouch_schema *s, vouch_flats *flats, json_t *made)
{
    json_t *flat = vouch_schema_keep(s, made);
    vouch_flats_add(s, flats, flat, flat);
}

static void add_all(vouch_schema *s, vouch_flats *flats, const vouch_flats *more, const json_t *schema)
{
    for (int32_t i = 0; i < more->n; i++) vouch_flats_add(s, flats, more->flats[i], schema);
}

void vouch_flats_cross(vouch_schema *s, vouch_flats *flats, const vouch_flats *more, const json_t *schema)
{
    vouch_flats *pairs = vouch_flats_new(s);
    for (int32_t i = 0; i < flats->n && !failed(s); i++)
        for (int32_t j = 0; j < more->n && !failed(s) && !s->gave_up; j++) {
            const bool is_free = json_object_size(flats->flats[i]) == 0 || json_object_size(more->flats[j]) == 0;
            const bool is_much = !is_free && ++s->work > s->most_work;
            if (is_much && s->tells_apart) s->gave_up = true;
            else if (is_much)
                vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, NULL,
                                  "more than %d combinations of anyOf, oneOf, allOf, not and if", VOUCH_SCHEMA_WORK);
            else vouch_flats_add(s, pairs, vouch_schema_merge(s, flats->flats[i], more->flats[j]), schema);
        }
    replace(s, flats, pairs);
}

static void flatten_one(vouch_schema *s, const json_t *schema, vouch_flats *out);

/* The flat schemas of `child`, in a new list; NULL after a failure. */
static vouch_flats *flats_of(vouch_schema *s, const json_t *child)
{
    vouch_flats *flats = failed(s) ? NULL : vouch_flats_new(s);
    if (flats) flatten_one(s, child, flats);
    if (!failed(s)) return flats;
    vouch_flats_free(flats);
    return NULL;
}

/* A value must now also be valid for `child`. */
static void cross_child(vouch_schema *s, vouch_flats *out, const json_t *child, const json_t *schema)
{
    vouch_flats *more = flats_of(s, child);
    if (more) vouch_flats_cross(s, out, more, schema);
    vouch_flats_free(more);
}

/* A value must now be valid for none of `others`. */
static void cross_negated(vouch_schema *s, vouch_flats *out, const vouch_flats *others, const json_t *schema)
{
    vouch_flats *negated = failed(s) ? NULL : vouch_flats_new(s);
    if (!negated) return;
    vouch_flats_negate(s, others, negated);
    if (!failed(s)) vouch_flats_cross(s, out, negated, schema);
    vouch_flats_free(negated);
}

/* -------------------------------------------------------------------- anyOf */

/* A value must now also be valid for one of the children. */
static void cross_choice(vouch_schema *s, vouch_flats *out, const json_t *children, const json_t *schema)
{
    vouch_flats *choice = failed(s) ? NULL : vouch_flats_new(s);
    for (size_t i = 0; i < json_array_size(children) && choice && !failed(s); i++) {
        vouch_flats *one = flats_of(s, json_array_get(children, i));
        if (one) add_all(s, choice, one, schema);
        vouch_flats_free(one);
    }
    if (!failed(s)) vouch_flats_cross(s, out, choice, schema);
    vouch_flats_free(choice);
}

/*
 * anyOf. unevaluatedProperties leaves the properties of all those schemas alone for which a value is valid. So each set
 * of schemas becomes a choice, where otherwise each schema is one.
 */
static void cross_any(vouch_schema *s, vouch_flats *out, const json_t *schema)
{
    enum { MOST_IN_SETS = 6 };
    const json_t *children = json_object_get(schema, "anyOf");
    const size_t n = json_array_size(children);
    if (n == 0 || failed(s)) return;
    if (s->n_unevaluated == 0) {
        cross_choice(s, out, children, schema);
        return;
    }
    vouch_flats *choice = vouch_flats_new(s);
    if (n > MOST_IN_SETS)
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, "anyOf",
                          "it has %zu schemas; beside unevaluatedProperties or unevaluatedItems, at most %d are "
                          "supported",
                          n, MOST_IN_SETS);
    for (size_t set = 1; set < (size_t)1 << n && !failed(s); set++) {
        vouch_flats *joined = vouch_flats_new(s);
        if (joined) add_made(s, joined, json_object());
        for (size_t i = 0; i < n && joined; i++)
            if (set >> i & 1) cross_child(s, joined, json_array_get(children, i), schema);
        if (joined) add_all(s, choice, joined, schema);
        vouch_flats_free(joined);
    }
    if (!failed(s)) vouch_flats_cross(s, out, choice, schema);
    vouch_flats_free(choice);
}

/* -------------------------------------------------------------------- oneOf */

/* Adds the values of `one` that aren't valid for `other`. */
static void add_difference(vouch_schema *s, vouch_flats *out, json_t *one, const vouch_flats *other,
                           const json_t *schema)
{
    enum { STEPS = 128 }; /* of a comparison of schemas */
    bool is_apart = vouch_schema_spend(s, schema, STEPS * (size_t)other->n);
    for (int32_t i = 0; i < other->n && !failed(s); i++) is_apart &= vouch_schema_disjoint(one, other->flats[i]);
    if (is_apart) {
        vouch_flats_add(s, out, one, schema);
        return;
    }
    vouch_flats *rest = vouch_flats_new(s);
    if (rest) {
        vouch_flats_add(s, rest, one, schema);
        cross_negated(s, rest, other, schema);
        add_all(s, out, rest, schema);
    }
    vouch_flats_free(rest);
}

/* Keeps the values of `flats` that aren't valid for `other`. */
static void subtract(vouch_schema *s, vouch_flats *flats, const vouch_flats *other, const json_t *schema)
{
    vouch_flats *left = failed(s) ? NULL : vouch_flats_new(s);
    for (int32_t i = 0; i < flats->n && !failed(s); i++) add_difference(s, left, flats->flats[i], other, schema);
    replace(s, flats, left);
}

/* Stores the values that are valid for one of n choices and for none of the others. False: it takes too many merges. */
static bool tell_apart(vouch_schema *s, vouch_flats *const *each, size_t n, vouch_flats *out, const json_t *schema)
{
    vouch_flats *one = vouch_flats_new(s);
    const int32_t work = s->work, most = s->most_work, left = (most - work) >> s->n_given_up;
    s->tells_apart = true;
    s->most_work = work + left;
    for (size_t i = 0; i < n && !failed(s) && !s->gave_up; i++) {
        one->n = 0;
        add_all(s, one, each[i], schema);
        for (size_t j = 0; j < n && !s->gave_up; j++)
            if (j != i) subtract(s, one, each[j], schema);
        add_all(s, out, one, schema);
    }
    vouch_flats_free(one);
    const bool gave_up = s->gave_up;
    s->tells_apart = s->gave_up = false;
    s->most_work = most;
    if (!gave_up) return true;
    s->work = work;
    s->n_given_up += s->n_given_up < 30;
    return false;
}

/* oneOf: a value must be valid for one of the schemas and for none of the others. */
static void cross_one(vouch_schema *s, vouch_flats *out, const json_t *schema)
{
    const json_t *children = json_object_get(schema, "oneOf");
    const size_t n = json_array_size(children);
    enum { MOST_TOLD_APART = 1024 };
    if (n == 0 || failed(s)) return;
    if (n > MOST_TOLD_APART) {
        if (vouch_schema_let_pass(s, schema, "oneOf", "it has %zu schemas; at most %d are told apart", n,
                                  MOST_TOLD_APART))
            cross_choice(s, out, children, schema);
        return;
    }
    vouch_flats **each = calloc(n, sizeof(vouch_flats *)), *choice = vouch_flats_new(s);
    if (!each) vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    for (size_t i = 0; i < n && !failed(s); i++) each[i] = flats_of(s, json_array_get(children, i));
    const bool is_apart = failed(s) || tell_apart(s, each, n, choice, schema);
    if (!is_apart) {
        choice->n = 0;
        (void)vouch_schema_let_pass(s, schema, "oneOf", "it takes more than %d merges to tell its schemas apart",
                                    VOUCH_SCHEMA_WORK);
        for (size_t i = 0; i < n && !failed(s); i++) add_all(s, choice, each[i], schema);
    }
    if (!failed(s)) vouch_flats_cross(s, out, choice, schema);
    for (size_t i = 0; each && i < n; i++) vouch_flats_free(each[i]);
    free(each);
    vouch_flats_free(choice);
}

/* --------------------------------------------------------------- conditions */

/* if, then and else: valid for `if` and `then`, or not for `if` but for `else`. */
static void cross_condition(vouch_schema *s, vouch_flats *out, const json_t *schema)
{
    const json_t *condition = json_object_get(schema, "if"), *then = json_object_get(schema, "then"),
                 *other = json_object_get(schema, "else");
    if (!condition || failed(s)) return;
    s->n_conditions++;
    vouch_flats *holds = flats_of(s, condition), *fails = failed(s) ? NULL : vouch_flats_new(s);
    s->n_conditions--;
    if (fails) vouch_flats_negate(s, holds, fails);
    if (then && fails) cross_child(s, holds, then, schema);
    if (other && fails) cross_child(s, fails, other, schema);
    if (!failed(s)) add_all(s, holds, fails, schema);
    if (!failed(s)) vouch_flats_cross(s, out, holds, schema);
    vouch_flats_free(holds);
    vouch_flats_free(fails);
}

/* An object has no property `name`, or it has it and all `required` ones, and is valid for `also`. */
static void cross_dependent(vouch_schema *s, vouch_flats *out, const char *name, const json_t *required,
                            const json_t *also, const json_t *schema)
{
    vouch_flats *choice = failed(s) ? NULL : vouch_flats_new(s);
    if (!choice) return;
    json_t *own = json_pack("[s]", name);
    if (own && required && json_array_extend(own, (json_t *)(uintptr_t)required) != 0) json_array_clear(own);
    if (json_array_size(own) == 0) vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    add_made(s, choice, json_pack("{s:i,s:o}", "type", VOUCH_TYPE_OBJECT, "required", own));
    if (also) cross_child(s, choice, also, schema);
    add_made(s, choice, json_pack("{s:{s:b}}", "properties", name, 0));
    if (!failed(s)) vouch_flats_cross(s, out, choice, schema);
    vouch_flats_free(choice);
}

static void cross_dependents(vouch_schema *s, vouch_flats *out, const json_t *schema)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(schema, "dependentRequired"), name, value)
        cross_dependent(s, out, name, value, NULL, schema);
    json_object_foreach(json_object_get(schema, "dependentSchemas"), name, value)
        cross_dependent(s, out, name, NULL, value, schema);
}

/* -------------------------------------------------------------- unevaluated */

/* Notes in a flat schema what its keywords evaluate. */
static bool note_evaluated(json_t *flat)
{
    const json_t *properties = json_object_get(flat, "properties");
    const size_t n_items = json_array_size(json_object_get(flat, "prefixItems"));
    json_t *names = json_object(), *items = json_integer((json_int_t)n_items);
    const char *name;
    json_t *value;
    bool stored = names && items;
    json_object_foreach((json_t *)(uintptr_t)properties, name, value)
        stored &= json_object_set_new(names, name, json_true()) == 0;
    if (json_object_get(flat, "additionalProperties")) {
        json_decref(names);
        names = json_true();
    }
    if (json_object_get(flat, "items")) {
        json_decref(items);
        items = json_true();
    }
    stored &= json_object_set_new(flat, VOUCH_EVALUATED, names) == 0;
    return stored & (json_object_set_new(flat, VOUCH_EVALUATED_ITEMS, items) == 0);
}

/* A new flat schema: properties, or items, that nothing has evaluated are valid for `rest`; all are evaluated now. */
static json_t *limit_properties(const json_t *flat, json_t *rest)
{
    json_t *names = json_object_get(flat, VOUCH_EVALUATED);
    if (!json_is_object(names)) return json_pack("{s:b}", VOUCH_EVALUATED, 1);
    return json_pack("{s:O,s:O,s:b}", "properties", names, "additionalProperties", rest, VOUCH_EVALUATED, 1);
}

static json_t *limit_items(const json_t *flat, json_t *rest)
{
    const json_t *evaluated = json_object_get(flat, VOUCH_EVALUATED_ITEMS);
    if (json_is_true(evaluated)) return json_pack("{s:b}", VOUCH_EVALUATED_ITEMS, 1);
    json_t *first = json_array();
    for (json_int_t i = 0; i < json_integer_value(evaluated); i++)
        if (json_array_append_new(first, json_true()) != 0) return NULL;
    return json_pack("{s:o,s:O,s:b}", "prefixItems", first, "items", rest, VOUCH_EVALUATED_ITEMS, 1);
}

static void cross_unevaluated(vouch_schema *s, vouch_flats *out, const json_t *schema)
{
    json_t *properties = json_object_get(schema, "unevaluatedProperties"),
           *items = json_object_get(schema, "unevaluatedItems");
    vouch_flats *limited = failed(s) ? NULL : vouch_flats_new(s);
    for (int32_t i = 0; limited && i < out->n && !failed(s); i++) {
        json_t *flat = out->flats[i];
        const bool counts = items && json_object_get(flat, "contains") &&
                            vouch_schema_let_pass(s, schema, "unevaluatedItems", "it can't be combined with contains");
        if (properties) flat = vouch_schema_merge(s, flat, vouch_schema_keep(s, limit_properties(flat, properties)));
        if (items && flat && !counts)
            flat = vouch_schema_merge(s, flat, vouch_schema_keep(s, limit_items(flat, items)));
        vouch_flats_add(s, limited, flat, schema);
    }
    replace(s, out, limited);
}

/* --------------------------------------------------------------- flattening */

/* The schema of a part under `not` or `if`, marked as such, so that it is no list of properties. Only where it may have
 * such a list: other schemas are compared as they are. A new reference. */
static json_t *condition_of(json_t *part)
{
    static const char *const names[] = {"properties", "items", "$ref", "allOf", "anyOf", "oneOf"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (json_object_get(part, names[i])) return json_pack("{s:O}", VOUCH_CONDITION, part);
    return json_incref(part);
}

/* Replaces the schemas of properties and items by such ones. */
static bool mark_conditions(json_t *flat)
{
    json_t *items = json_object_get(flat, "items"), *properties = json_object_get(flat, "properties"), *child;
    const char *name;
    bool stored = !items || json_object_set_new(flat, "items", condition_of(items)) == 0;
    if (!properties) return stored;
    json_t *marked = json_object();
    json_object_foreach(properties, name, child) stored &= json_object_set_new(marked, name, condition_of(child)) == 0;
    return (json_object_set_new(flat, "properties", marked) == 0) & stored;
}

/* A copy of the schema with only the keywords of flat schemas. */
static json_t *rest_of(vouch_schema *s, const json_t *schema)
{
    json_t *rest = vouch_schema_keep(s, json_object());
    const char *name;
    json_t *value;
    bool stored = true;
    if (failed(s)) return NULL;
    json_object_foreach((json_t *)(uintptr_t)schema, name, value)
        if (vouch_schema_role(name) == VOUCH_KEYWORD_FLAT) stored &= json_object_set(rest, name, value) == 0;
    if (json_object_get(rest, "contains")) {
        if (!json_object_get(rest, "minContains"))
            stored &= json_object_set_new(rest, "minContains", json_integer(1)) == 0;
    } else {
        (void)json_object_del(rest, "minContains");
        (void)json_object_del(rest, "maxContains");
    }
    if (json_object_get(schema, "properties") && s->n_conditions == 0)
        stored &= json_object_set_new(rest, VOUCH_LISTS, json_true()) == 0;
    if (s->n_conditions > 0 && s->builder->flags & VOUCH_GRAMMAR_CLOSED) stored &= mark_conditions(rest);
    if (s->n_unevaluated > 0) stored &= note_evaluated(rest);
    vouch_schema_made_of(s, rest, schema, NULL);
    if (!stored) vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
    return rest;
}

/* Whether item i of allOf says what one before it does. */
static bool is_repeated(const json_t *all, size_t i)
{
    enum { COMPARED = 64 };
    for (size_t j = i > COMPARED ? i - COMPARED : 0; j < i; j++)
        if (json_equal(json_array_get(all, j), json_array_get(all, i))) return true;
    return false;
}

/* Crosses `out` with each of the schema's keywords that is not flat. */
static void cross_joined(vouch_schema *s, vouch_flats *out, const json_t *schema)
{
    static const char *const references[] = {"$ref", "$dynamicRef"};
    const json_t *all = json_object_get(schema, "allOf"), *not = json_object_get(schema, "not");
    for (int i = 0; i < 2; i++) {
        const bool is_there = !failed(s) && json_object_get(schema, references[i]);
        const json_t *target = is_there ? target_of(s, schema, references[i]) : NULL;
        if (target) cross_child(s, out, target, schema);
    }
    for (size_t i = 0; i < json_array_size(all); i++)
        if (!is_repeated(all, i)) cross_child(s, out, json_array_get(all, i), schema);
    cross_any(s, out, schema);
    cross_one(s, out, schema);
    cross_condition(s, out, schema);
    cross_dependents(s, out, schema);
    s->n_conditions++;
    if (json_object_get(schema, VOUCH_CONDITION)) cross_child(s, out, json_object_get(schema, VOUCH_CONDITION), schema);
    vouch_flats *others = not ? flats_of(s, not) : NULL;
    s->n_conditions--;
    if (others) cross_negated(s, out, others, schema);
    vouch_flats_free(others);
}

static void flatten_one(vouch_schema *s, const json_t *schema, vouch_flats *out)
{
    enum { MOST_FLATTENED = 1 << 18 };
    if (failed(s) || json_is_false(schema)) return;
    if (json_is_true(schema)) {
        add_made(s, out, json_object());
        return;
    }
    if (s->depth >= VOUCH_GRAMMAR_DEEPEST || ++s->n_flattened > MOST_FLATTENED + 16 * s->n_rules) {
        vouch_schema_fail(s, VOUCH_E_UNSUPPORTED, schema, NULL,
                          "schemas refer to each other without end, or more than %d deep, or too many apply to one "
                          "value",
                          VOUCH_GRAMMAR_DEEPEST);
        return;
    }
    s->depth++;
    vouch_schema_check(s, schema);
    const bool is_limited =
        json_object_get(schema, "unevaluatedProperties") || json_object_get(schema, "unevaluatedItems");
    s->n_unevaluated += is_limited;
    vouch_flats_add(s, out, rest_of(s, schema), schema);
    cross_joined(s, out, schema);
    if (is_limited) cross_unevaluated(s, out, schema);
    if (json_is_true(json_object_get(schema, "nullable")))
        add_made(s, out, json_pack("{s:i}", "type", VOUCH_TYPE_NULL));
    s->n_unevaluated -= is_limited;
    s->depth--;
}

/* A schema that is a reference and nothing else becomes a flat schema with that $ref, so that its target keeps its
 * rule. */
static bool is_reference(const json_t *schema)
{
    const char *name;
    json_t *value;
    int n = 0;
    json_object_foreach((json_t *)(uintptr_t)schema, name, value) {
        const vouch_keyword_role role = vouch_schema_role(name);
        if (role == VOUCH_KEYWORD_FLAT || role == VOUCH_KEYWORD_JOINED) return false;
        n += role == VOUCH_KEYWORD_REFERENCE;
    }
    return n == 1;
}

/* The schema at the end of a chain of references; NULL after a failure. */
static const json_t *follow(vouch_schema *s, const json_t *schema)
{
    for (int i = 0; is_reference(schema); i++) {
        vouch_schema_check(s, schema);
        const json_t *target = failed(s) ? NULL : target_of(s, schema, reference_of(schema));
        if (i == VOUCH_GRAMMAR_DEEPEST)
            vouch_schema_fail(s, VOUCH_E_ARGUMENT, schema, "$ref", "this reference leads back to itself");
        if (failed(s)) return NULL;
        schema = target;
    }
    return schema;
}

/* The schemas of one of which a value must be valid, where the schema says nothing else; NULL: it does. */
static const json_t *only_choice(const json_t *schema)
{
    const json_t *choice = NULL;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)schema, name, value) {
        const vouch_keyword_role role = vouch_schema_role(name);
        if (role == VOUCH_KEYWORD_OTHER || role == VOUCH_KEYWORD_NAME) continue;
        bool is_one = strcmp(name, "allOf") == 0 || (strcmp(name, "oneOf") == 0 && json_array_size(value) == 1);
        for (size_t i = 1; i < json_array_size(value) && is_one; i++) is_one = is_repeated(value, i);
        if (choice || !(is_one || strcmp(name, "anyOf") == 0)) return NULL;
        choice = value;
    }
    return choice;
}

/* References to one large schema, as in anyOf: [a reference, null], are references to one rule. */
void vouch_schema_flatten(vouch_schema *s, const json_t *schema, vouch_flats *out)
{
    const json_t *target = follow(s, schema), *choice = target == schema ? only_choice(schema) : NULL;
    if (!target) return;
    if (choice && s->depth < VOUCH_GRAMMAR_DEEPEST) {
        s->depth++;
        vouch_schema_check(s, schema);
        for (size_t i = 0; i < json_array_size(choice) && !failed(s); i++)
            vouch_schema_flatten(s, json_array_get(choice, i), out);
        s->depth--;
        return;
    }
    if (target == schema) {
        flatten_one(s, schema, out);
        return;
    }
    json_t *flat = vouch_schema_keep(s, json_object());
    if (failed(s)) return;
    if (json_object_set(flat, "$ref", (json_t *)(uintptr_t)target) == 0) vouch_flats_add(s, out, flat, schema);
    else vouch_builder_fail(s->builder, VOUCH_E_MEMORY, "not enough memory for the schema");
}
