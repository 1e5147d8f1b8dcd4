/* SPDX-License-Identifier: MIT */
/* JSON to values (json.h). Jansson reads the text; numbers, strings and the order of members stay as they are. */
#include "text/jinja/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100, LONGEST_PATH = 200 };

static size_t path_write(const json_path *at, char *out, size_t size)
{
    if (!at || !at->up) return 0;
    size_t n = path_write(at->up, out, size);
    if (n >= size) return n;
    if (!at->key) n += (size_t)snprintf(out + n, size - n, "[%zu]", at->index);
    else n += (size_t)snprintf(out + n, size - n, "%s%.40s", n ? "." : "", at->key);
    return n;
}

vouch_status vouch_json_fail(vouch_error *err, const json_path *at, const char *format, ...)
{
    char path[LONGEST_PATH] = "", why[LONGEST_PATH];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    path_write(at, path, sizeof path);
    return vouch_fail(err, VOUCH_E_ARGUMENT, "conversation: %s %s", *path ? path : "the JSON text", why);
}

const char *vouch_json_kind_name(const json_t *json)
{
    if (!json) return "missing";
    switch (json_typeof(json)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_NULL: return "null";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    default: return "a number";
    }
}

/* Jansson 2.14 reports a refused allocation in some places, and in others takes a token without its last bytes. malloc
 * tells of each. */
static vouch_status load(json_t **out, const char *text, size_t n, size_t flags, json_error_t *error, vouch_error *err)
{
    const int before = errno;
    errno = 0;
    *out = json_loadb(n ? text : "", n, JSON_ALLOW_NUL | flags, error);
    const bool lacks_memory = errno == ENOMEM || (!*out && json_error_code(error) == json_error_out_of_memory);
    errno = before;
    if (lacks_memory) {
        json_decref(*out);
        *out = NULL;
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a conversation of %zu bytes", n);
    }
    if (*out) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_ARGUMENT, "conversation: line %d, column %d: %s", error->line, error->column,
                      error->text);
}

vouch_status vouch_json_read(json_t **out, const char *text, size_t n, vouch_error *err)
{
    json_error_t error;
    return load(out, text, n, JSON_REJECT_DUPLICATES, &error, err);
}

/* ------------------------------------------------------------- long numbers */

/* The length of the number that text[n] begins with, and whether Jansson may lose digits of it. */
static size_t number_length(const char *text, size_t n, bool *is_long)
{
    enum { MOST_DIGITS = 15 };
    size_t i = 0, n_digits = 0;
    bool has_exponent = false;
    for (; i < n && text[i] && strchr("+-.eE0123456789", text[i]); i++) {
        has_exponent |= text[i] == 'e' || text[i] == 'E';
        n_digits += !has_exponent && text[i] >= '0' && text[i] <= '9';
    }
    *is_long = n_digits > MOST_DIGITS || has_exponent;
    return i;
}

/* Copies text[n] to `out` (NULL: only counts) and puts long numbers between marks. */
static size_t mark_numbers(const char *text, size_t n, char *out)
{
    size_t at = 0, used = 0;
    bool is_string = false, is_long;
    while (at < n) {
        size_t length = 1;
        const bool is_number = !is_string && (text[at] == '-' || (text[at] >= '0' && text[at] <= '9'));
        if (is_number) length = number_length(text + at, n - at, &is_long);
        else if (text[at] == '"') is_string = !is_string;
        else if (is_string && text[at] == '\\' && at + 1 < n) length = 2;
        static const char mark[] = "\\u0001\"";
        const bool marks = is_number && is_long;
        if (marks && out) memcpy(out + used, "\"\\u0001", 7);
        used += marks ? 7 : 0;
        if (out) memcpy(out + used, text + at, length);
        used += length;
        if (marks && out) memcpy(out + used, mark, 7);
        used += marks ? 7 : 0;
        at += length;
    }
    return used;
}

vouch_status vouch_json_read_numbers(json_t **out, const char *text, size_t n, vouch_error *err)
{
    const size_t n_marked = mark_numbers(text, n, NULL);
    json_error_t error;
    const vouch_status status = load(out, text, n, JSON_DECODE_ANY, &error, err);
    if (n_marked == n || status == VOUCH_E_MEMORY || (status && json_error_code(&error) != json_error_numeric_overflow))
        return status;
    json_decref(*out);
    *out = NULL;
    char *marked = malloc(n_marked + 1);
    if (!marked) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a conversation of %zu bytes", n);
    mark_numbers(text, n, marked);
    const vouch_status second = load(out, marked, n_marked, JSON_DECODE_ANY, &error, err);
    free(marked);
    return second;
}

/* The digits of a marked number at the beginning of a text of JSON; 0: none is there. */
static size_t marked_length(const char *text)
{
    if (strncmp(text, "\"\\u0001", 7) != 0) return 0;
    const size_t n = strspn(text + 7, "+-.eE0123456789");
    return n > 0 && strncmp(text + 7 + n, "\\u0001\"", 7) == 0 ? n : 0;
}

char *vouch_json_write_numbers(const json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
    char *to = text;
    for (const char *at = text; at && *at;) {
        const size_t n = marked_length(at);
        memmove(to, n ? at + 7 : at, n ? n : 1);
        to += n ? n : 1;
        at += n ? n + 14 : 1;
    }
    if (to) *to = '\0';
    return text;
}

static bool is_digits(const json_t *json)
{
    const char *text = json_string_value(json);
    const size_t n = json_string_length(json);
    if (n < 3 || text[0] != JSON_DIGITS || text[n - 1] != JSON_DIGITS) return false;
    for (size_t i = 1; i + 1 < n; i++)
        if (!text[i] || !strchr("+-.eE0123456789", text[i])) return false;
    return true;
}

static jinja_string caller_string(const char *bytes, size_t n, jinja_mark mark)
{
    return (jinja_string){.bytes = bytes, .n = n, .mark = (uint8_t)mark};
}

static vouch_status array_value(jinja_run *run, const json_t *json, jinja_mark mark, const json_path *at, int depth,
                                jinja_value *out, vouch_error *err);
static vouch_status object_value(jinja_run *run, const json_t *json, jinja_mark mark, const json_path *at, int depth,
                                 jinja_value *out, vouch_error *err);

static vouch_status any_value(jinja_run *run, const json_t *json, jinja_mark mark, const json_path *at, int depth,
                              jinja_value *out, vouch_error *err)
{
    if (depth == DEEPEST) return vouch_json_fail(err, at, "is nested deeper than %d levels", DEEPEST);
    switch (json_typeof(json)) {
    case JSON_OBJECT: return object_value(run, json, mark, at, depth, out, err);
    case JSON_ARRAY: return array_value(run, json, mark, at, depth, out, err);
    case JSON_STRING:
        if (is_digits(json)) {
            *out = jinja_text(caller_string(json_string_value(json) + 1, json_string_length(json) - 2, mark));
            out->kind = JINJA_DIGITS;
            break;
        }
        *out = jinja_text(caller_string(json_string_value(json), json_string_length(json), mark));
        break;
    case JSON_INTEGER: *out = jinja_int(json_integer_value(json)); break;
    case JSON_REAL: *out = jinja_float(json_real_value(json)); break;
    case JSON_NULL: *out = jinja_none(); break;
    default: *out = jinja_bool(json_is_true(json)); break;
    }
    return VOUCH_OK;
}

static vouch_status run_status(const jinja_run *run, vouch_error *err)
{
    return run->failed ? vouch_fail(err, run->error.code, "%s", run->error.message) : VOUCH_OK;
}

static vouch_status array_value(jinja_run *run, const json_t *json, jinja_mark mark, const json_path *at, int depth,
                                jinja_value *out, vouch_error *err)
{
    *out = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t i = 0; i < json_array_size(json) && !run->failed; i++) {
        const json_path here = {.up = at, .index = i};
        jinja_value item;
        VOUCH_TRY(any_value(run, json_array_get(json, i), mark, &here, depth + 1, &item, err));
        vouch_jinja_list_push(run, out->list, item);
    }
    return run_status(run, err);
}

static vouch_status object_value(jinja_run *run, const json_t *json, jinja_mark mark, const json_path *at, int depth,
                                 jinja_value *out, vouch_error *err)
{
    *out = vouch_jinja_dict_new(run, JINJA_DICT);
    const char *key;
    const json_t *member;
    json_object_foreach((json_t *)(uintptr_t)json, key, member) {
        const json_path here = {.up = at, .key = key};
        jinja_value value;
        VOUCH_TRY(any_value(run, member, mark, &here, depth + 1, &value, err));
        if (!run->failed)
            vouch_jinja_dict_set(run, out->dict, jinja_text(caller_string(key, strlen(key), mark)), value);
    }
    return run_status(run, err);
}

vouch_status vouch_jinja_from_json(jinja_run *run, const json_t *json, jinja_mark mark, const json_path *at,
                                   jinja_value *out, vouch_error *err)
{
    return any_value(run, json, mark, at, 0, out, err);
}
