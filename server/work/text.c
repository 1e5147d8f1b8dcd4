/* SPDX-License-Identifier: MIT */
#include "work/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"
#include "tool/text.h"

void *server_text_grow(server_text *text, size_t n)
{
    if (text->failed) return NULL;
    if (n > text->room - text->n) {
        const size_t room = 2 * text->room > text->n + n ? 2 * text->room : text->n + n + 64;
        char *bytes = realloc(text->bytes, room);
        if (!bytes) {
            tool_memory_refuse();
            text->failed = true;
            return NULL;
        }
        text->bytes = bytes;
        text->room = room;
    }
    char *out = text->bytes + text->n;
    text->n += n;
    return out;
}

void server_text_add(server_text *text, const void *bytes, size_t n)
{
    if (n == 0) return;
    char *out = server_text_grow(text, n);
    if (out) memcpy(out, bytes, n);
}

void server_text_put(server_text *text, const char *string)
{
    server_text_add(text, string, strlen(string));
}

void server_text_format(server_text *text, const char *format, ...)
{
    va_list arguments;
    char line[512];
    va_start(arguments, format);
    const int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof line) text->failed = true;
    else server_text_add(text, line, (size_t)n);
}

static int add_piece(const char *bytes, size_t n, void *text)
{
    server_text_add(text, bytes, n);
    return ((server_text *)text)->failed ? -1 : 0;
}

void server_text_json(server_text *text, json_t *value)
{
    if (!value || json_dump_callback(value, add_piece, text, JSON_COMPACT | JSON_ENCODE_ANY)) text->failed = true;
    json_decref(value);
}

/* Most texts of tokens need no escapes; Jansson writes the others. */
void server_text_string(server_text *text, const char *bytes, size_t n)
{
    bool is_plain = true;
    for (size_t i = 0; i < n; i++)
        is_plain &= bytes[i] >= ' ' && bytes[i] < 0x7f && bytes[i] != '"' && bytes[i] != '\\';
    if (!is_plain) {
        server_text_json(text, server_json_bytes(bytes, n));
        return;
    }
    server_text_add(text, "\"", 1);
    server_text_add(text, bytes, n);
    server_text_add(text, "\"", 1);
}

void server_text_free(server_text *text)
{
    free(text->bytes);
    *text = (server_text){0};
}

json_t *server_json_bytes(const char *bytes, size_t n)
{
    json_t *string = json_stringn(n ? bytes : "", n);
    size_t n_repaired;
    if (string) return string;
    char *repaired = tool_utf8_repair(bytes, n, &n_repaired);
    if (!repaired) tool_memory_refuse();
    string = repaired ? json_stringn(repaired, n_repaired) : NULL;
    free(repaired);
    return string;
}
