/* SPDX-License-Identifier: MIT */
#include "http/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/arguments.h"
#include "tool/flags.h"
#include "work/text.h"

enum { MOST_LEVELS = 64 };

const char *server_json_kind(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    default: return "null";
    }
}

bool server_fail_token(server_fault *fault, const char *path, size_t i, const json_t *value, int32_t n_vocab)
{
    char given[32];
    if (json_is_integer(value)) snprintf(given, sizeof given, "%lld", (long long)json_integer_value(value));
    else snprintf(given, sizeof given, "%s", server_json_kind(value));
    return server_fail_field(fault, path, "element %zu: expected the id of a token, 0 to %d, got %s", i, n_vocab - 1,
                             given);
}

const char *server_word(const json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));
    return word ? word : "";
}

bool server_check_part(const json_t *part, const char *path, server_fault *fault)
{
    static const char *const media[] = {"image", "image_url", "input_image", "audio", "audio_url",  "input_audio",
                                        "video", "video_url", "input_video", "file",  "input_file", "document"};
    const char *type = server_word(part, "type");
    for (size_t i = 0; i < sizeof media / sizeof *media; i++)
        if (strcmp(type, media[i]) == 0)
            return server_fail_field(fault, path, "type '%s': this server reads text only; leave the part out", type);
    return true;
}

const json_t *server_part_text(const json_t *part)
{
    return json_object_get(part, strcmp(server_word(part, "type"), "refusal") == 0 ? "refusal" : "text");
}

json_t *server_json_texts(json_t *content, const char *path, server_fault *fault)
{
    server_text text = {0};
    json_t *part, *string = NULL;
    size_t i;
    if (json_is_string(content)) return json_copy(content);
    bool good =
        !content || json_is_null(content) || json_is_array(content) ||
        server_fail_field(fault, path, "expected a string or an array of texts, got %s", server_json_kind(content));
    json_array_foreach(content, i, part) {
        char inner[160];
        const json_t *piece = server_part_text(part);
        snprintf(inner, sizeof inner, "%.130s[%zu]", path, i);
        good = good && server_check_part(part, inner, fault);
        if (good && !json_is_string(piece))
            good = server_fail_field(fault, inner, "expected a text, {\"type\": ..., \"text\": ...}");
        if (good) server_text_add(&text, json_string_value(piece), json_string_length(piece));
    }
    if (good && text.failed) good = server_fail_memory(fault);
    if (good) string = json_stringn(text.n ? text.bytes : "", text.n);
    server_text_free(&text);
    return string;
}

/* Is x in a range such as "(0, 1]"? NULL: any number. */
static bool is_inside(const char *range, double x)
{
    char *end;
    if (!range) return true;
    const double low = strtod(range + 1, &end), high = strtod(end + 1, &end);
    return (range[0] == '[' ? x >= low : x > low) && (*end == ']' ? x <= high : x < high);
}

static bool read_number(const json_t *value, const char *path, const server_field *field, void *out,
                        server_fault *fault)
{
    const bool is_whole = field->kind == SERVER_FIELD_INT;
    const char *kind = is_whole ? "an integer" : "a number";
    const double x = json_number_value(value);
    if (!json_is_number(value) || (is_whole && x != floor(x)))
        return server_fail_field(fault, path, "expected %s in %s, got %s", kind, field->range,
                                 json_is_number(value) ? "a fraction" : server_json_kind(value));
    if (!is_inside(field->range, x))
        return server_fail_field(fault, path, "%.15g is outside the range; expected %s in %s", x, kind, field->range);
    if (is_whole) *(int32_t *)out = (int32_t)x;
    else if (field->kind == SERVER_FIELD_FLOAT) *(float *)out = (float)x;
    else *(double *)out = x;
    return true;
}

/* Does the value leave a feature off? */
static bool is_neutral(const json_t *value, const char *neutral)
{
    if (neutral && json_is_number(value) && json_number_value(value) == strtod(neutral, NULL)) return true;
    if (neutral && json_is_string(value) && strcmp(json_string_value(value), neutral) == 0) return true;
    if (neutral && strcmp(neutral, "true") == 0) return json_is_true(value);
    switch (json_typeof(value)) {
    case JSON_OBJECT: return json_object_size(value) == 0;
    case JSON_ARRAY: return json_array_size(value) == 0;
    case JSON_STRING: return json_string_length(value) == 0;
    case JSON_INTEGER:
    case JSON_REAL: return json_number_value(value) == 0;
    default: return !json_is_true(value);
    }
}

static bool read_field(json_t *value, const char *path, const server_field *field, void *values, server_fault *fault)
{
    void *out = (char *)values + field->offset;
    switch (field->kind) {
    case SERVER_FIELD_BOOL:
        if (!json_is_boolean(value))
            return server_fail_field(fault, path, "expected true or false, got %s", server_json_kind(value));
        *(bool *)out = json_is_true(value);
        return true;
    case SERVER_FIELD_INT:
    case SERVER_FIELD_FLOAT:
    case SERVER_FIELD_DOUBLE: return read_number(value, path, field, out, fault);
    case SERVER_FIELD_STRING:
        if (!json_is_string(value))
            return server_fail_field(fault, path, "expected a string, got %s", server_json_kind(value));
        *(const char **)out = json_string_value(value);
        return true;
    case SERVER_FIELD_VALUE: *(json_t **)out = value; return true;
    case SERVER_FIELD_IGNORED: return true;
    case SERVER_FIELD_NEUTRAL:
        if (is_neutral(value, field->range)) return true;
        server_fail(fault, 400, "unsupported_field", path, "%s: vouch does not support this value; leave the field out",
                    path);
        return false;
    }
    return true;
}

typedef struct known_names {
    const server_field_table *table;
    unsigned where;
} known_names;

/* Name i of the table; "" if the requests `where` don't have it, NULL past the end. */
static const char *known_name(const void *arg, size_t i)
{
    const known_names *known = arg;
    if (i >= known->table->n) return NULL;
    const server_field *field = &known->table->fields[i];
    return field->where & known->where ? field->name : "";
}

static bool fail_unknown(const char *path, const char *name, const known_names *known, server_fault *fault)
{
    const char *near = tool_nearest(name, known_name, known);
    return server_fail(fault, 400, "unknown_field", path, "%s: unknown field%s%s%s", path,
                       near ? "; did you mean " : "", near ? near : "", near ? "?" : "; leave it out");
}

bool server_fields_read(json_t *object, const char *path, const server_field_table *table, unsigned where, void *values,
                        server_fault *fault)
{
    const known_names known = {table, where};
    const server_field *fields = table->fields;
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return server_fail_field(fault, *path ? path : "body", "expected an object, got %s", server_json_kind(object));
    json_object_foreach(object, name, value) {
        char inner[160];
        size_t i = 0;
        snprintf(inner, sizeof inner, "%s%s%.100s", path, *path ? "." : "", name);
        while (i < table->n && (!(fields[i].where & where) || strcmp(fields[i].name, name) != 0)) i++;
        if (json_is_null(value)) continue;
        if (i == table->n) return fail_unknown(inner, name, &known, fault);
        if (!read_field(value, inner, &fields[i], values, fault)) return false;
    }
    return true;
}

bool server_convert_tools(json_t *document, server_tool_schema *schema_of, server_fault *fault)
{
    json_t *given = json_object_get(document, "tools"), *tool, *schema;
    if (!json_is_array(given)) return true;
    json_t *tools = json_array();
    size_t i;
    json_array_foreach(given, i, tool) {
        char path[32];
        snprintf(path, sizeof path, "tools[%zu]", i);
        if (!schema_of(tool, path, &schema, fault)) {
            json_decref(tools);
            return false;
        }
        json_t *function = json_pack("{s:s, s:s, s:o}", "name", server_word(tool, "name"), "description",
                                     server_word(tool, "description"), "parameters",
                                     schema && !json_is_null(schema) ? json_incref(schema) : json_object());
        json_t *strict = json_object_get(tool, "strict");
        if (json_is_boolean(strict)) json_object_set(function, "strict", strict);
        json_array_append_new(tools, json_pack("{s:s, s:o}", "type", "function", "function", function));
    }
    return json_object_set_new(document, "tools", tools) == 0;
}

/* The deepest level of arrays and objects, counted before the parser recurses into them. */
static size_t count_levels(const char *bytes, size_t n)
{
    size_t level = 0, deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < n; i++) {
        const char c = bytes[i];
        if (in_string) {
            if (c == '\\') i++;
            else if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++level > deepest) deepest = level;
        } else if ((c == '}' || c == ']') && level > 0) {
            level--;
        }
    }
    return deepest;
}

json_t *server_json_parse(const char *bytes, size_t n, server_fault *fault)
{
    json_error_t error;
    const size_t levels = count_levels(bytes, n);
    if (levels > MOST_LEVELS) {
        server_fail(fault, 400, "invalid_json", "",
                    "the body has %zu levels of arrays and objects; at most %d are read", levels, MOST_LEVELS);
        return NULL;
    }
    server_text body = {0}, text = {0};
    server_arguments_as_texts(bytes, n, &body);
    server_schemas_mark(body.bytes, body.n, false, &text);
    text.failed |= body.failed;
    server_text_free(&body);
    json_t *document = json_loadb(text.n ? text.bytes : "", text.n, JSON_REJECT_DUPLICATES, &error);
    const bool failed = text.failed;
    server_text_free(&text);
    if (failed) server_fail_memory(fault);
    if (document || failed) return document;
    json_t *other = json_loadb(bytes, n, JSON_DECODE_ANY, NULL);
    const bool is_other = other && !json_is_object(other);
    if (is_other) server_fail_field(fault, "body", "expected an object, got %s", server_json_kind(other));
    json_decref(other);
    if (is_other) return NULL;
    const enum json_error_code code = json_error_code(&error);
    const char *why = error.text; /* Jansson's words, except where they name its flags and types */
    if (code == json_error_null_character || code == json_error_null_byte_in_key)
        why = "the character U+0000 (\\u0000) is not supported; leave it out";
    if (code == json_error_numeric_overflow) why = "the number is too large; integers are at most 9223372036854775807";
    server_fail(fault, 400, "invalid_json", "", "the body is no valid JSON: line %d, column %d: %s", error.line,
                error.column, why);
    return NULL;
}
