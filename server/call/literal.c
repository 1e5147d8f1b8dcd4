/* SPDX-License-Identifier: MIT */
#include "call/literal.h"

#include <string.h>

void server_literal_begin(server_literal *literal, const char *quote, bool is_python, char raw)
{
    *literal = (server_literal){.quote = quote, .is_python = is_python, .raw = raw};
}

void server_literal_free(server_literal *literal)
{
    server_text_free(&literal->word);
}

/* ------------------------------------------------------------------ strings */

static void put_escape(server_text *json, unsigned char byte)
{
    static const char names[] = "\b\f\n\r\t", letters[] = "bfnrt";
    const char *name = byte ? strchr(names, byte) : NULL;
    if (name) server_text_format(json, "\\%c", letters[name - names]);
    else server_text_format(json, "\\u%04x", byte);
}

void server_put_escaped(server_text *json, const char *text, size_t n)
{
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte >= ' ' && byte != '"' && byte != '\\') continue;
        server_text_add(json, text + from, i - from);
        if (byte < ' ') put_escape(json, byte);
        else server_text_format(json, "\\%c", byte);
        from = i + 1;
    }
    server_text_add(json, text + from, n - from);
}

/* The byte after a backslash. JSON's escapes stay; Python's become JSON's. */
static void put_escaped_byte(server_text *json, char byte)
{
    if (byte && strchr("\"\\/bfnrtu", byte)) server_text_format(json, "\\%c", byte);
    else if (byte == '\'') server_text_put(json, "'");
    else if (byte == 'x') server_text_put(json, "\\u00"); /* its two digits follow */
    else if (byte == 'a' || byte == 'v' || byte == '0') put_escape(json, byte == 'a' ? 7 : byte == 'v' ? 11 : 0);
    else if (byte != '\n') {
        server_text_put(json, "\\\\");
        server_put_escaped(json, &byte, 1);
    }
}

/* Whether the quote that text[n] begins with ends a string without escapes. *is_known false: more text tells. */
static bool ends_raw_string(const char *text, size_t n, bool *is_known)
{
    size_t i = 1;
    while (i < n && text[i] == ' ') i++;
    *is_known = i < n;
    return *is_known && text[i] && strchr(",)]}:=\n", text[i]);
}

/* Reads one byte of the open string; 0: it needs more text. */
static size_t string_byte(server_literal *l, const char *text, size_t n, server_text *json)
{
    const bool is_raw = l->string == l->raw && l->depth == 1;
    if (l->is_escaped) {
        put_escaped_byte(json, *text);
        l->is_escaped = false;
        return 1;
    }
    if (l->string == 'm') {
        const size_t length = strlen(l->quote), shared = length < n ? length : n;
        if (memcmp(text, l->quote, shared) == 0) {
            if (shared < length) return 0;
            server_text_put(json, "\"");
            l->string = 0;
            return length;
        }
    } else if (*text == '\\' && !is_raw) {
        l->is_escaped = true;
        return 1;
    } else if (*text == l->string) {
        bool is_known = true;
        if (!is_raw || ends_raw_string(text, n, &is_known)) {
            server_text_put(json, "\"");
            l->string = 0;
            return 1;
        }
        if (!is_known) return 0;
    }
    server_put_escaped(json, text, 1);
    return 1;
}

/* ------------------------------------------------------------------ words */

static bool is_word_byte(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte && strchr("_+-.$", byte)) || (unsigned char)byte >= 0x80;
}

static size_t digits(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n && text[i] >= '0' && text[i] <= '9') i++;
    return i;
}

bool server_is_number(const char *text, size_t n)
{
    size_t at = n > 0 && text[0] == '-', length = digits(text + at, n - at);
    if (length == 0 || (length > 1 && text[at] == '0')) return false;
    at += length;
    if (at < n && text[at] == '.') {
        length = digits(text + at + 1, n - at - 1);
        if (length == 0) return false;
        at += 1 + length;
    }
    if (at < n && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        at += at < n && (text[at] == '+' || text[at] == '-');
        length = digits(text + at, n - at);
        if (length == 0) return false;
        at += length;
    }
    return at == n;
}

static const char *word_of_json(const server_literal *l)
{
    static const char *const words[][2] = {{"True", "true"}, {"False", "false"}, {"None", "null"},
                                           {"true", "true"}, {"false", "false"}, {"null", "null"}};
    for (size_t i = l->is_python ? 0 : 3; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == l->word.n && memcmp(words[i][0], l->word.bytes, l->word.n) == 0) return words[i][1];
    return NULL;
}

static void separate(server_literal *l, server_text *json)
{
    if (l->needs_comma) server_text_put(json, ",");
    l->needs_comma = false;
}

/* Writes the word, as a key or as a value. */
static void end_word(server_literal *l, bool is_key, server_text *json)
{
    if (l->word.n == 0) return;
    const char *word = word_of_json(l);
    if (!is_key && word) {
        server_text_put(json, word);
    } else if (!is_key && server_is_number(l->word.bytes, l->word.n)) {
        server_text_add(json, l->word.bytes, l->word.n);
    } else {
        server_text_put(json, "\"");
        server_put_escaped(json, l->word.bytes, l->word.n);
        server_text_put(json, "\"");
    }
    l->word.n = 0;
}

/* ------------------------------------------------------------------ brackets */

static bool opens(server_literal *l, char byte, server_text *json)
{
    if (l->depth == SERVER_MOST_DEPTH) return false;
    const bool is_object = byte == '{' || (byte == '(' && l->depth == 0);
    separate(l, json);
    server_text_put(json, is_object ? "{" : "[");
    l->closers[l->depth++] = is_object ? '}' : ']';
    return true;
}

static void closes(server_literal *l, server_text *json)
{
    end_word(l, false, json);
    l->needs_comma = false;
    server_text_add(json, &l->closers[--l->depth], 1);
}

/* Reads a byte outside of strings. MORE: it was read. MATCH: the value was complete before it. */
static server_match outer_byte(server_literal *l, char byte, server_text *json)
{
    const bool is_white = byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
    if (is_word_byte(byte)) {
        if (l->word.n == 0) separate(l, json);
        server_text_add(&l->word, &byte, 1);
        return SERVER_MORE;
    }
    if (l->depth == 0 && l->word.n > 0) {
        end_word(l, false, json);
        return SERVER_MATCH;
    }
    if (is_white) return SERVER_MORE;
    switch (byte) {
    case '"':
    case '\'':
        separate(l, json);
        server_text_put(json, "\"");
        l->string = byte;
        return SERVER_MORE;
    case '{':
    case '[':
    case '(': return opens(l, byte, json) ? SERVER_MORE : SERVER_NO;
    case '}':
    case ']':
    case ')':
        if (l->depth == 0) return SERVER_NO;
        closes(l, json);
        return SERVER_MORE;
    case ':':
    case '=':
        if (l->depth == 0) return SERVER_NO;
        end_word(l, true, json);
        server_text_put(json, ":");
        return SERVER_MORE;
    case ',':
        if (l->depth == 0) return SERVER_NO;
        end_word(l, false, json);
        l->needs_comma = true;
        return SERVER_MORE;
    default: return SERVER_NO;
    }
}

/* Whether the mark of strings begins here. *n_mark: its length; 0: it needs more text. */
static bool mark_begins(const server_literal *l, const char *text, size_t n, size_t *n_mark)
{
    const size_t length = strlen(l->quote), shared = length < n ? length : n;
    if (length == 0 || memcmp(text, l->quote, shared) != 0) return false;
    *n_mark = shared < length ? 0 : length;
    return true;
}

server_match server_literal_push(server_literal *l, const char *text, size_t n, size_t *used, server_text *json)
{
    size_t at = 0, length;
    server_match match = SERVER_MORE;
    while (at < n && match == SERVER_MORE) {
        const bool was_open = l->depth > 0 || l->string;
        if (l->string) {
            length = string_byte(l, text + at, n - at, json);
            if (length == 0) break;
        } else if (mark_begins(l, text + at, n - at, &length)) {
            if (length == 0) break;
            separate(l, json);
            server_text_put(json, "\"");
            l->string = 'm';
        } else {
            length = 1;
            match = outer_byte(l, text[at], json);
            if (match != SERVER_MORE) break;
        }
        at += length;
        if (was_open && l->depth == 0 && !l->string) match = SERVER_MATCH;
    }
    *used = at;
    return match;
}
