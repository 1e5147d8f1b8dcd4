/* SPDX-License-Identifier: MIT */
#include "call/arguments.h"

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

/* Jansson reads a copy in which all numbers are 0. */
bool server_is_object(const char *text, size_t n)
{
    server_text copy = {0};
    for (size_t at = 0, end; at < n; at = end) {
        end = at + 1;
        if (text[at] == '"') end = string_end(text, n, at);
        const bool is_number = text[at] == '-' || (text[at] >= '0' && text[at] <= '9');
        while (is_number && end < n && memchr("+-.eE0123456789", text[end], 15)) end++;
        if (is_number && server_is_number(text + at, end - at)) server_text_put(&copy, "0");
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
    server_text_add(out, bytes + from, n - from);
}
