/* SPDX-License-Identifier: MIT */
/* Types and values of flat schemas, and whether any value is valid for them (schema_parts.h). */
#include <string.h>

#include "text/grammar/schema/schema_parts.h"

/* -------------------------------------------------------------------- types */

static int type_named(const char *name)
{
    static const struct {
        const char *name;
        int types;
    } types[] = {{"null", VOUCH_TYPE_NULL},       {"boolean", VOUCH_TYPE_BOOLEAN},
                 {"integer", VOUCH_TYPE_INTEGER}, {"number", VOUCH_TYPE_NUMBER | VOUCH_TYPE_INTEGER},
                 {"string", VOUCH_TYPE_STRING},   {"array", VOUCH_TYPE_ARRAY},
                 {"object", VOUCH_TYPE_OBJECT}};
    for (size_t i = 0; name && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0) return types[i].types;
    return -1;
}

int vouch_schema_types(const json_t *flat)
{
    const json_t *type = json_object_get(flat, "type");
    int types = 0;
    if (!type) return VOUCH_TYPE_ANY;
    if (json_is_integer(type)) return (int)json_integer_value(type); /* of a merged schema */
    if (!json_is_array(type)) return type_named(json_string_value(type));
    for (size_t i = 0; i < json_array_size(type); i++) {
        const int one = type_named(json_string_value(json_array_get(type, i)));
        if (one < 0) return -1;
        types |= one;
    }
    return types;
}

int vouch_schema_type_of(const json_t *value)
{
    if (vouch_decimal_is(value)) return json_is_integer(value) ? VOUCH_TYPE_INTEGER : VOUCH_TYPE_NUMBER;
    switch (json_typeof(value)) {
    case JSON_NULL: return VOUCH_TYPE_NULL;
    case JSON_TRUE:
    case JSON_FALSE: return VOUCH_TYPE_BOOLEAN;
    case JSON_STRING: return VOUCH_TYPE_STRING;
    case JSON_ARRAY: return VOUCH_TYPE_ARRAY;
    default: return VOUCH_TYPE_OBJECT;
    }
}

int vouch_schema_types_of(const json_t *value)
{
    const bool is_whole = vouch_decimal_is(value) && vouch_decimal_is_whole(value);
    return is_whole ? VOUCH_TYPE_INTEGER : vouch_schema_type_of(value);
}

/* ------------------------------------------------------------------- values */

bool vouch_schema_equal(const json_t *a, const json_t *b)
{
    const char *name;
    json_t *value;
    if (json_is_integer(a) && json_is_integer(b)) return json_integer_value(a) == json_integer_value(b);
    if (vouch_decimal_is(a) != vouch_decimal_is(b)) return false;
    if (vouch_decimal_is(a)) return vouch_decimal_compare(a, b) == 0;
    if (json_typeof(a) != json_typeof(b)) return false;
    bool same = json_array_size(a) == json_array_size(b) && json_object_size(a) == json_object_size(b);
    if (!json_is_array(a) && !json_is_object(a)) return json_equal(a, b);
    for (size_t i = 0; same && i < json_array_size(a); i++)
        same = vouch_schema_equal(json_array_get(a, i), json_array_get(b, i));
    json_object_foreach((json_t *)(uintptr_t)a, name, value) {
        const json_t *other = json_object_get(b, name);
        same = same && other && vouch_schema_equal(value, other);
    }
    return same;
}

bool vouch_schema_lists(const json_t *array, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (vouch_schema_equal(json_array_get(array, i), value)) return true;
    return false;
}

json_t *vouch_schema_listed(const json_t *schema)
{
    json_t *constant = json_object_get(schema, "const"), *values = json_object_get(schema, "enum");
    if (!constant) return json_is_array(values) ? json_incref(values) : NULL;
    json_t *one = json_array();
    if (one && (!values || vouch_schema_lists(values, constant)) && json_array_append(one, constant) != 0) {
        json_decref(one);
        return NULL;
    }
    return one;
}

/* ---------------------------------------------------- schemas without values */

/* Whether the schema, which may be no flat one, obviously doesn't allow the value. */
static bool refuses(const json_t *schema, const json_t *value)
{
    if (!json_is_object(schema)) return json_is_false(schema);
    const json_t *all = json_object_get(schema, "allOf"), *not = json_object_get(schema, "not");
    json_t *values = vouch_schema_listed(schema);
    json_t *others = json_object_size(not) == 1 ? vouch_schema_listed(not) : NULL;
    bool found = !(vouch_schema_types(schema) & vouch_schema_types_of(value)) ||
                 (values && !vouch_schema_lists(values, value)) || (others && vouch_schema_lists(others, value)) ||
                 vouch_schema_lists(json_object_get(schema, VOUCH_EXCLUDED), value);
    for (size_t i = 0; i < json_array_size(all) && !found; i++) found = refuses(json_array_get(all, i), value);
    json_decref(values);
    json_decref(others);
    return found;
}

/* The values of enum or const of a schema, or of one in its allOf; NULL: there are none. A new reference. */
static json_t *find_listed(const json_t *schema)
{
    const json_t *all = json_object_get(schema, "allOf");
    json_t *found = vouch_schema_listed(schema);
    for (size_t i = 0; i < json_array_size(all) && !found; i++) found = find_listed(json_array_get(all, i));
    return found;
}

/* Whether no value is obviously valid for both schemas, which may be no flat ones. */
static bool contradict(const json_t *a, const json_t *b)
{
    json_t *values = find_listed(a);
    if (json_is_false(a) || json_is_false(b)) return true;
    if (!values) values = find_listed(b);
    bool found = values != NULL;
    for (size_t i = 0; i < json_array_size(values) && found; i++) {
        const json_t *value = json_array_get(values, i);
        found = refuses(a, value) || refuses(b, value);
    }
    json_decref(values);
    return found || (json_is_object(a) && json_is_object(b) && !(vouch_schema_types(a) & vouch_schema_types(b)));
}

static bool
    requires(const json_t *flat, const char *name)
{
    const json_t *required = json_object_get(flat, "required");
    for (size_t i = 0; i < json_array_size(required); i++)
        if (strcmp(json_string_value(json_array_get(required, i)), name) == 0) return true;
    return false;
}

bool vouch_schema_impossible(const json_t *flat)
{
    const json_t *required = json_object_get(flat, "required"), *properties = json_object_get(flat, "properties");
    if (vouch_schema_types(flat) == 0 || contradict(flat, flat)) return true;
    if (vouch_schema_types(flat) != VOUCH_TYPE_OBJECT) return false;
    for (size_t i = 0; i < json_array_size(required); i++) {
        const json_t *one = json_object_get(properties, json_string_value(json_array_get(required, i)));
        if (one && contradict(one, one)) return true;
    }
    return false;
}

/* Whether a property that both objects require, or that one requires and the other forbids, tells them apart. */
static bool objects_differ(const json_t *a, const json_t *b)
{
    const json_t *required = json_object_get(a, "required");
    const json_t *x = json_object_get(a, "properties"), *y = json_object_get(b, "properties");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        const json_t *of_x = json_object_get(x, name), *of_y = json_object_get(y, name);
        if (!of_y && json_is_false(json_object_get(b, "additionalProperties")) &&
            !json_object_get(b, "patternProperties"))
            return true;
        if (json_is_false(of_y)) return true;
        if (requires(b, name) && of_x && of_y && contradict(of_x, of_y)) return true;
    }
    return false;
}

bool vouch_schema_disjoint(const json_t *a, const json_t *b)
{
    const int common = vouch_schema_types(a) & vouch_schema_types(b);
    if (common == 0 || contradict(a, b)) return true;
    return common == VOUCH_TYPE_OBJECT && (objects_differ(a, b) || objects_differ(b, a));
}
