/* SPDX-License-Identifier: MIT */
/* The types that a parameter's schema allows for its value. The reader and the grammar of calls both ask it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/arguments.h"
#include "call/form.h"

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {"object", "array", "string", "number", "number", "boolean", "boolean", "null"};
    return json_is_string(value) && !server_schema_text(value) ? "number" : names[json_typeof(value)];
}

bool server_schema_allows(const json_t *schema, const char *type)
{
    const json_t *constant = json_object_get(schema, "const"), *values = json_object_get(schema, "enum"), *value;
    size_t v;
    if (strcmp(type, "null") == 0 && json_is_true(json_object_get(schema, "nullable"))) return true;
    if (constant) return strcmp(type_name(constant), type) == 0;
    if (json_array_size(values) > 0) {
        bool is_listed = false;
        json_array_foreach(values, v, value) is_listed |= strcmp(type_name(value), type) == 0;
        return is_listed;
    }
    const json_t *types = json_object_get(schema, "type"), *option;
    size_t i;
    if (json_is_string(types)) {
        const char *word = json_string_value(types);
        return strcmp(word, type) == 0 || (strcmp(word, "integer") == 0 && strcmp(type, "number") == 0);
    }
    static const char *const unions[] = {"anyOf", "oneOf"};
    for (int u = 0; u < 2; u++) {
        const json_t *options = json_object_get(schema, unions[u]);
        bool is_allowed = !json_is_array(options);
        json_array_foreach(options, i, option) is_allowed |= server_schema_allows(option, type);
        if (!is_allowed) return false;
    }
    if (!json_is_array(types)) return true;
    json_array_foreach(types, i, option) {
        const json_t *one = json_pack("{s:O}", "type", option);
        const bool is_allowed = server_schema_allows(one, type);
        json_decref((json_t *)(uintptr_t)one);
        if (is_allowed) return true;
    }
    return false;
}

bool server_schema_is_text(const json_t *schema)
{
    static const char *const others[] = {"object", "array", "number", "boolean", "null"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (server_schema_allows(schema, others[i])) return false;
    return true;
}

/* The value at a JSON pointer, whose segments have the escapes of URIs, too; NULL: there is none. */
static const json_t *find(const json_t *document, const char *pointer)
{
    const json_t *value = document;
    server_text name = {0};
    for (const char *at = pointer; *at == '/' && value;) {
        name.n = 0;
        for (at++; *at && *at != '/'; at++) {
            unsigned byte = (unsigned char)*at;
            const bool is_escaped = *at == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]);
            if (is_escaped && sscanf(at + 1, "%2x", &byte) == 1) at += 2;
            const bool is_second = name.n > 0 && name.bytes[name.n - 1] == '~' && (byte == '0' || byte == '1');
            if (is_second) name.bytes[name.n - 1] = byte == '0' ? '~' : '/';
            else server_text_add(&name, &(char){(char)byte}, 1);
        }
        server_text_add(&name, "", 1);
        value = name.failed            ? NULL
                : json_is_array(value) ? json_array_get(value, (size_t)strtoul(name.bytes, NULL, 10))
                                       : json_object_get(value, name.bytes);
    }
    server_text_free(&name);
    return value;
}

const json_t *server_schema_referred(const json_t *parameters, const json_t *schema, const char **path)
{
    enum { MOST_STEPS = 16 };
    for (int i = 0; i < MOST_STEPS; i++) {
        const char *reference = json_string_value(json_object_get(schema, "$ref"));
        if (!reference || *reference != '#' || (reference[1] && reference[1] != '/')) return schema;
        if (path) *path = reference;
        schema = find(parameters, reference + 1);
    }
    return schema;
}
