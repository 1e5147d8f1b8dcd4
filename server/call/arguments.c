/* SPDX-License-Identifier: MIT */
#include "call/arguments.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/literal.h"

static size_t skip_white(const char *text, size_t n, size_t at)
{
    while (at < n && memchr(" \t\r\n", text[at], 4)) at++;
    return at;
}

/* The end of the string that begins at text[at], after its quote. */
static size_t string_end(const char *text, size_t n, size_t at)
{
    for (at++; at < n && text[at] != '"'; at++) at += text[at] == '\\';
    return at < n ? at + 1 : n;
}

/* The end of the object that begins at text[at]; 0: it has none. */
static size_t object_end(const char *text, size_t n, size_t at)
{
    size_t depth = 0;
    while (at < n) {
        if (text[at] == '"') {
            at = string_end(text, n, at);
            continue;
        }
        depth += text[at] == '{' || text[at] == '[';
        if ((text[at] == '}' || text[at] == ']') && --depth == 0) return at + 1;
        at++;
    }
    return 0;
}

/* The length of the number that begins at text[at]; 0: none does. */
static size_t number_length(const char *text, size_t n, size_t at)
{
    size_t end = at;
    if (text[at] != '-' && !isdigit((unsigned char)text[at])) return 0;
    while (end < n && memchr("+-.eE0123456789", text[end], 15)) end++;
    return server_is_number(text + at, end - at) ? end - at : 0;
}

/* Jansson reads a copy in which all numbers are 0. */
bool server_is_object(const char *text, size_t n)
{
    server_text copy = {0};
    for (size_t at = 0, end; at < n; at = end) {
        end = at + 1;
        if (text[at] == '"') end = string_end(text, n, at);
        const size_t number = number_length(text, n, at);
        if (number > 0) end = at + number;
        if (number > 0) server_text_put(&copy, "0");
        else server_text_add(&copy, text + at, end - at);
    }
    json_t *object = copy.n > 0 && !copy.failed ? json_loadb(copy.bytes, copy.n, JSON_ALLOW_NUL, NULL) : NULL;
    const bool is_object = json_is_object(object);
    json_decref(object);
    server_text_free(&copy);
    return is_object;
}

static bool is_key(const char *key, size_t n, const char *word)
{
    return n == strlen(word) + 2 && memcmp(key + 1, word, n - 2) == 0;
}

void server_arguments_as_texts(const char *bytes, size_t n, server_text *out)
{
    size_t depth = 0, from = 0, at = 0;
    bool in_messages = false;
    while (at < n) {
        depth += bytes[at] == '{' || bytes[at] == '[';
        depth -= depth > 0 && (bytes[at] == '}' || bytes[at] == ']');
        if (bytes[at] != '"') {
            at++;
            continue;
        }
        const char *key = bytes + at;
        const size_t end = string_end(bytes, n, at), n_key = end - at, colon = skip_white(bytes, n, end);
        at = end;
        if (colon == n || bytes[colon] != ':') continue;
        at = skip_white(bytes, n, colon + 1);
        if (depth == 1) in_messages = is_key(key, n_key, "messages") || is_key(key, n_key, "input");
        if (!in_messages || depth == 1 || at == n || bytes[at] != '{') continue;
        if (!is_key(key, n_key, "input") && !is_key(key, n_key, "arguments")) continue;
        const size_t past = object_end(bytes, n, at);
        if (past == 0 || !server_is_object(bytes + at, past - at)) break; /* the body is no JSON */
        server_text_add(out, bytes + from, at - from);
        server_text_put(out, "\"");
        server_put_escaped(out, bytes + at, past - at);
        server_text_put(out, "\"");
        at = from = past;
    }
    if (from < n) server_text_add(out, bytes + from, n - from); /* bytes of an empty text may be NULL */
}

/* ------------------------------------------------------------------ schemas */

#define MARK "\xef\xb7\x90" /* U+FDD0, a character that no text has */
enum { MARK_BYTES = sizeof MARK - 1, ESCAPE_BYTES = 6 };

/* Whether Jansson keeps the number as it is written. */
static bool is_kept(const char *number, size_t n)
{
    enum { MOST_DIGITS = 18 };
    const size_t sign = *number == '-';
    for (size_t i = sign; i < n; i++)
        if (!isdigit((unsigned char)number[i])) return false;
    return n - sign <= MOST_DIGITS && !(sign && number[1] == '0');
}

/* The unit of UTF-16 of the escape that text[n] begins with, such as \u00e9; -1: none does. */
static int32_t unit_at(const char *text, size_t n)
{
    char digits[5] = "";
    if (n < ESCAPE_BYTES || text[0] != '\\' || text[1] != 'u') return -1;
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)text[2 + i])) return -1;
        digits[i] = text[2 + i];
    }
    return (int32_t)strtol(digits, NULL, 16);
}

/* The length of the unit of a string that begins at text[0]; *is_read: Jansson reads it. */
static size_t unit_length(const char *text, size_t n, bool *is_read)
{
    const int32_t unit = unit_at(text, n);
    *is_read = unit != 0 && (unit < 0xd800 || unit > 0xdfff);
    if (unit < 0) return *text == '\\' && n > 1 ? 2 : 1;
    if (unit < 0xd800 || unit > 0xdbff) return ESCAPE_BYTES;
    const int32_t next = unit_at(text + ESCAPE_BYTES, n - ESCAPE_BYTES);
    *is_read = next >= 0xdc00 && next <= 0xdfff;
    return *is_read ? 2 * ESCAPE_BYTES : ESCAPE_BYTES;
}

/* Appends a string of JSON, in which escapes that Jansson refuses are marked. */
static void mark_string(server_text *out, const char *text, size_t n)
{
    bool is_read;
    for (size_t at = 0, length; at < n; at += length) {
        length = unit_length(text + at, n - at, &is_read);
        if (!is_read) server_text_put(out, MARK);
        server_text_add(out, text + at + !is_read, length - !is_read);
    }
}

/* Whether a field of requests, with its quotes, has schemas. */
static bool has_schemas(const char *key, size_t n)
{
    static const char *const names[] = {"tools",       "functions",    "response_format",
                                        "json_schema", "guided_json",  "structured_outputs",
                                        "text",        "output_config"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_key(key, n, names[i])) return true;
    return false;
}

void server_schemas_mark(const char *bytes, size_t n, bool is_schema, server_text *out)
{
    size_t depth = 0, from = 0;
    bool marks = is_schema;
    for (size_t at = 0, end; at < n; at = end) {
        end = at + 1;
        depth += bytes[at] == '{' || bytes[at] == '[';
        depth -= depth > 0 && (bytes[at] == '}' || bytes[at] == ']');
        if (bytes[at] == '"') {
            end = string_end(bytes, n, at);
            const size_t colon = skip_white(bytes, n, end);
            if (!is_schema && depth == 1 && colon < n && bytes[colon] == ':') marks = has_schemas(bytes + at, end - at);
            if (!marks) continue;
            server_text_add(out, bytes + from, at - from);
            mark_string(out, bytes + at, end - at);
            from = end;
        }
        const size_t number = marks ? number_length(bytes, n, at) : 0;
        if (number == 0) continue;
        end = at + number;
        if (is_kept(bytes + at, number)) continue;
        server_text_add(out, bytes + from, at - from);
        server_text_put(out, "\"" MARK);
        server_text_add(out, bytes + at, number);
        server_text_put(out, "\"");
        from = end;
    }
    if (from < n) server_text_add(out, bytes + from, n - from); /* bytes of an empty text may be NULL */
}

bool server_schema_text(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && (strncmp(text, MARK, MARK_BYTES) != 0 ||
                    !server_is_number(text + MARK_BYTES, json_string_length(value) - MARK_BYTES));
}

/* Appends a number. For Jansson, one that is no double becomes the largest. */
static void put_number(server_text *out, const char *number, size_t n, bool for_jansson)
{
    enum { MOST_DIGITS = 18 };
    if (!for_jansson || (n <= MOST_DIGITS && !memchr(number, 'e', n) && !memchr(number, 'E', n))) {
        server_text_add(out, number, n);
        return;
    }
    const double value = strtod(number, NULL); /* a quote follows the number */
    char text[40];
    snprintf(text, sizeof text, "%.17e", isinf(value) ? copysign(1.7976931348623157e308, value) : value);
    server_text_put(out, text);
}

/* Appends the text of JSON without its marks. */
static void put_unmarked(server_text *out, const server_text *json, bool for_jansson)
{
    for (size_t at = 0; at < json->n;) {
        const char *text = json->bytes + at;
        const size_t left = json->n - at;
        if (left < MARK_BYTES || memcmp(text, MARK, MARK_BYTES) != 0) {
            server_text_add(out, text, 1);
            at++;
            continue;
        }
        const size_t past = at + MARK_BYTES, number = past < json->n ? number_length(json->bytes, json->n, past) : 0;
        const bool is_number = number > 0 && json->bytes[at - 1] == '"' && json->bytes[past + number] == '"';
        at = past;
        if (is_number) {
            out->n -= out->n > 0;
            put_number(out, json->bytes + past, number, for_jansson);
            at += number + 1;
        } else if (left >= MARK_BYTES + 5 && text[MARK_BYTES] == 'u') {
            server_text_put(out, "\\");
            if (!for_jansson) continue;
            server_text_put(out, "ufffd");
            at += 5;
        } else {
            server_text_put(out, MARK);
        }
    }
}

void server_schemas_put(server_text *out, json_t *value)
{
    server_text json = {0};
    server_text_json(&json, value);
    put_unmarked(out, &json, false);
    out->failed |= json.failed;
    server_text_free(&json);
}

json_t *server_schemas_plain(const json_t *value)
{
    server_text json = {0}, plain = {0};
    server_text_json(&json, json_incref((json_t *)(uintptr_t)value));
    put_unmarked(&plain, &json, true);
    json_t *copy = json.failed || plain.failed ? NULL : json_loadb(plain.bytes, plain.n, JSON_DECODE_ANY, NULL);
    server_text_free(&json);
    server_text_free(&plain);
    return copy ? copy : json_incref((json_t *)(uintptr_t)value);
}
