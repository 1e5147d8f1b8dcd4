/* SPDX-License-Identifier: MIT */
/* Python's semantics of values: truth, equality, order, str(), repr(), json.dumps() (value.h). */
#include "text/jinja/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "text/unicode.h"

const char *vouch_jinja_kind_name(jinja_kind kind)
{
    static const char *const names[] = {"an undefined value", "None",   "a bool",     "an int",      "a float",
                                        "a string",           "a list", "a tuple",    "a generator", "a dict",
                                        "a namespace",        "a loop", "a function", "a macro",     "a long number"};
    return names[kind];
}

double vouch_jinja_number(const jinja_value *x)
{
    return x->kind == JINJA_FLOAT ? x->number : (double)vouch_jinja_integer(x);
}

int64_t vouch_jinja_integer(const jinja_value *x)
{
    return x->kind == JINJA_BOOL ? x->boolean : x->integer;
}

bool vouch_jinja_truth(const jinja_value *x)
{
    switch (x->kind) {
    case JINJA_UNDEFINED:
    case JINJA_NONE: return false;
    case JINJA_BOOL: return x->boolean;
    case JINJA_INT: return x->integer != 0;
    case JINJA_FLOAT: return x->number != 0;
    case JINJA_STRING: return x->string.n > 0;
    case JINJA_LIST:
    case JINJA_TUPLE: return x->list->n > 0;
    case JINJA_DICT: return x->dict->n > 0;
    default: return true;
    }
}

static bool lists_equal(jinja_run *run, const jinja_list *a, const jinja_list *b)
{
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (!vouch_jinja_equal(run, &a->items[i], &b->items[i])) return false;
    return true;
}

static bool dicts_equal(jinja_run *run, const jinja_dict *a, const jinja_dict *b)
{
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++) {
        const jinja_value *other = vouch_jinja_dict_get(run, b, &a->keys[i]);
        if (!other || !vouch_jinja_equal(run, &a->values[i], other)) return false;
    }
    return true;
}

bool vouch_jinja_equal(jinja_run *run, const jinja_value *a, const jinja_value *b)
{
    if (!vouch_jinja_step(run, 1)) return false;
    if (vouch_jinja_is_number(a) && vouch_jinja_is_number(b)) {
        if (a->kind != JINJA_FLOAT && b->kind != JINJA_FLOAT) return vouch_jinja_integer(a) == vouch_jinja_integer(b);
        return vouch_jinja_number(a) == vouch_jinja_number(b);
    }
    if (a->kind != b->kind) return false;
    bool equal = true;
    switch (a->kind) {
    case JINJA_STRING:
        return a->string.n == b->string.n && vouch_jinja_weigh(run, a->string.n) &&
               vouch_jinja_same(a->string, b->string);
    case JINJA_LIST:
    case JINJA_TUPLE:
    case JINJA_DICT:
        if (!vouch_jinja_enter(run)) return false;
        equal = a->kind == JINJA_DICT ? dicts_equal(run, a->dict, b->dict) : lists_equal(run, a->list, b->list);
        vouch_jinja_leave(run);
        return equal;
    case JINJA_NAMESPACE:
    case JINJA_LOOP: return a->dict == b->dict;
    case JINJA_MACRO: return a->macro == b->macro;
    case JINJA_FUNCTION: return a->function.call == b->function.call;
    default: return true;
    }
}

static int strings_compare(jinja_run *run, jinja_string a, jinja_string b)
{
    const size_t n = a.n < b.n ? a.n : b.n;
    if (!vouch_jinja_weigh(run, n)) return 0;
    const int order = n ? memcmp(a.bytes, b.bytes, n) : 0; /* UTF-8 sorts as its code points do */
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int lists_compare(jinja_run *run, const jinja_list *a, const jinja_list *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        if (vouch_jinja_equal(run, &a->items[i], &b->items[i])) continue;
        return run->failed ? 0 : vouch_jinja_compare(run, &a->items[i], &b->items[i]);
    }
    return (a->n > b->n) - (a->n < b->n);
}

int vouch_jinja_compare(jinja_run *run, const jinja_value *a, const jinja_value *b)
{
    if (!vouch_jinja_step(run, 1)) return 0;
    if (vouch_jinja_is_number(a) && vouch_jinja_is_number(b)) {
        const double x = vouch_jinja_number(a), y = vouch_jinja_number(b);
        return (x > y) - (x < y);
    }
    if (a->kind == JINJA_STRING && b->kind == JINJA_STRING) return strings_compare(run, a->string, b->string);
    if (a->kind == b->kind && (a->kind == JINJA_LIST || a->kind == JINJA_TUPLE) && vouch_jinja_enter(run)) {
        const int order = lists_compare(run, a->list, b->list);
        vouch_jinja_leave(run);
        return order;
    }
    vouch_jinja_fail(run, "%s and %s have no order", vouch_jinja_kind_name(a->kind), vouch_jinja_kind_name(b->kind));
    return 0;
}

bool vouch_jinja_contains(jinja_run *run, const jinja_value *all, const jinja_value *x)
{
    switch (all->kind) {
    case JINJA_UNDEFINED: return false;
    case JINJA_STRING:
        if (x->kind != JINJA_STRING) {
            vouch_jinja_fail(run, "'in' with a string on its right needs a string on its left, not %s",
                             vouch_jinja_kind_name(x->kind));
            return false;
        }
        if (!vouch_jinja_weigh(run, all->string.n)) return false;
        return x->string.n == 0 || vouch_jinja_find(all->string, 0, x->string) < all->string.n;
    case JINJA_LIST:
    case JINJA_TUPLE:
    case JINJA_GENERATOR:
        for (size_t i = 0; i < all->list->n; i++)
            if (vouch_jinja_equal(run, &all->list->items[i], x)) return true;
        return false;
    case JINJA_DICT: return vouch_jinja_dict_get(run, all->dict, x) != NULL;
    default: vouch_jinja_fail(run, "nothing can be 'in' %s", vouch_jinja_kind_name(all->kind)); return false;
    }
}

jinja_list *vouch_jinja_iterate(jinja_run *run, const jinja_value *x)
{
    if (x->kind == JINJA_LIST || x->kind == JINJA_TUPLE || x->kind == JINJA_GENERATOR) return x->list;
    jinja_value all = vouch_jinja_list_new(run, JINJA_LIST);
    if (run->failed) return NULL;
    if (x->kind == JINJA_DICT) {
        for (size_t i = 0; i < x->dict->n; i++) vouch_jinja_list_push(run, all.list, x->dict->keys[i]);
    } else if (x->kind == JINJA_STRING) {
        for (size_t i = 0, next; i < x->string.n && !run->failed; i = next) {
            next = i + vouch_jinja_offset(vouch_jinja_cut(x->string, i, x->string.n), 1);
            vouch_jinja_list_push(run, all.list, jinja_text(vouch_jinja_cut(x->string, i, next)));
        }
    } else if (x->kind != JINJA_UNDEFINED) {
        vouch_jinja_fail(run, "%s can't be iterated over", vouch_jinja_kind_name(x->kind));
    }
    return run->failed ? NULL : all.list;
}

int64_t vouch_jinja_length(jinja_run *run, const jinja_value *x)
{
    switch (x->kind) {
    case JINJA_UNDEFINED: return 0;
    case JINJA_STRING: return (int64_t)vouch_jinja_characters(x->string);
    case JINJA_LIST:
    case JINJA_TUPLE: return (int64_t)x->list->n;
    case JINJA_DICT: return (int64_t)x->dict->n;
    default: vouch_jinja_fail(run, "%s has no length", vouch_jinja_kind_name(x->kind)); return -1;
    }
}

/* -------------------------------------------------------------- str() and repr() */

/* The shortest digits that give the number back, as Python prints it. */
static void format_float(char out[64], double x)
{
    if (isnan(x) || isinf(x)) {
        strcpy(out, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
        return;
    }
    char digits[40];
    int precision = 1;
    do snprintf(digits, sizeof digits, "%.*e", precision - 1, x);
    while (strtod(digits, NULL) != x && precision++ < 17);
    const int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent >= 16 || exponent < -4) {
        char *e = strchr(digits, 'e');
        *e = '\0';
        snprintf(out, 64, "%se%s%02d", digits, exponent < 0 ? "-" : "+", abs(exponent));
        return;
    }
    const int decimals = precision - 1 - exponent;
    snprintf(out, 64, "%.*f%s", decimals > 0 ? decimals : 0, x, decimals > 0 ? "" : ".0");
}

/* Python escapes control, format, private, unassigned and separating characters other than the space. */
static bool is_printable(int32_t code)
{
    const utf8proc_category_t category = utf8proc_category(code);
    const bool is_other = category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
                          category == UTF8PROC_CATEGORY_CS || category == UTF8PROC_CATEGORY_CO ||
                          category == UTF8PROC_CATEGORY_CN;
    const bool is_separator =
        category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP || category == UTF8PROC_CATEGORY_ZS;
    return code == ' ' || (!is_other && !is_separator);
}

static void repr_string(jinja_run *run, jinja_builder *to, jinja_string s)
{
    const bool has_single = s.n && memchr(s.bytes, '\'', s.n), has_double = s.n && memchr(s.bytes, '"', s.n);
    const char quote = has_single && !has_double ? '"' : '\'';
    const char quotes[2] = {quote, '\0'};
    vouch_jinja_add_text(run, to, quotes);
    for (size_t i = 0, n; i < s.n && !run->failed; i += n) {
        const char c = s.bytes[i];
        n = vouch_utf8_length(s.bytes + i, s.n - i);
        const bool is_whole = n > 0; /* a character, not a stray byte */
        const int32_t code = is_whole ? vouch_utf8_decode(s.bytes + i, n) : (unsigned char)c;
        if (n == 0) n = 1;
        char escape[16] = "";
        if (c == '\n') strcpy(escape, "\\n");
        else if (c == '\r') strcpy(escape, "\\r");
        else if (c == '\t') strcpy(escape, "\\t");
        else if (c == '\\') strcpy(escape, "\\\\");
        else if (c == quote) snprintf(escape, sizeof escape, "\\%c", quote);
        else if (!is_whole || !is_printable(code))
            snprintf(escape, sizeof escape,
                     code < 0x100     ? "\\x%02x"
                     : code < 0x10000 ? "\\u%04x"
                                      : "\\U%08x",
                     (unsigned)code);
        if (!*escape) vouch_jinja_add(run, to, vouch_jinja_cut(s, i, i + n));
        else
            vouch_jinja_add(run, to,
                            (jinja_string){.bytes = escape, .n = strlen(escape), .mark = vouch_jinja_mark(s, i)});
    }
    vouch_jinja_add_text(run, to, quotes);
}

static void repr_list(jinja_run *run, jinja_builder *to, const jinja_value *x)
{
    vouch_jinja_add_text(run, to, x->kind == JINJA_LIST ? "[" : "(");
    for (size_t i = 0; i < x->list->n && !run->failed; i++) {
        if (i) vouch_jinja_add_text(run, to, ", ");
        vouch_jinja_repr(run, to, &x->list->items[i]);
    }
    vouch_jinja_add_text(run, to, x->kind == JINJA_LIST ? "]" : x->list->n == 1 ? ",)" : ")");
}

static void repr_dict(jinja_run *run, jinja_builder *to, const jinja_dict *dict)
{
    vouch_jinja_add_text(run, to, "{");
    for (size_t i = 0; i < dict->n && !run->failed; i++) {
        if (i) vouch_jinja_add_text(run, to, ", ");
        vouch_jinja_repr(run, to, &dict->keys[i]);
        vouch_jinja_add_text(run, to, ": ");
        vouch_jinja_repr(run, to, &dict->values[i]);
    }
    vouch_jinja_add_text(run, to, "}");
}

void vouch_jinja_repr(jinja_run *run, jinja_builder *to, const jinja_value *x)
{
    char number[64];
    if (!vouch_jinja_enter(run)) return;
    switch (x->kind) {
    case JINJA_UNDEFINED: vouch_jinja_add_text(run, to, "Undefined"); break;
    case JINJA_NONE: vouch_jinja_add_text(run, to, "None"); break;
    case JINJA_BOOL: vouch_jinja_add_text(run, to, x->boolean ? "True" : "False"); break;
    case JINJA_INT:
        snprintf(number, sizeof number, "%lld", (long long)x->integer);
        vouch_jinja_add_text(run, to, number);
        break;
    case JINJA_FLOAT:
        format_float(number, x->number);
        vouch_jinja_add_text(run, to, number);
        break;
    case JINJA_STRING: repr_string(run, to, x->string); break;
    case JINJA_DIGITS: vouch_jinja_add(run, to, x->string); break;
    case JINJA_LIST:
    case JINJA_TUPLE: repr_list(run, to, x); break;
    case JINJA_DICT: repr_dict(run, to, x->dict); break;
    default: vouch_jinja_fail(run, "%s can't be written as text", vouch_jinja_kind_name(x->kind)); break;
    }
    vouch_jinja_leave(run);
}

jinja_string vouch_jinja_str(jinja_run *run, const jinja_value *x)
{
    if (x->kind == JINJA_STRING) return x->string;
    if (x->kind == JINJA_UNDEFINED) return vouch_jinja_literal("");
    jinja_builder text = {0};
    vouch_jinja_repr(run, &text, x);
    return vouch_jinja_built(&text);
}

/* ------------------------------------------------------------------------- JSON */

static void json_string(jinja_run *run, jinja_builder *to, jinja_string s, bool ascii)
{
    vouch_jinja_add_text(run, to, "\"");
    for (size_t i = 0, n; i < s.n && !run->failed; i += n) {
        const unsigned char c = (unsigned char)s.bytes[i];
        char escape[16] = "";
        n = 1;
        if (c == '"' || c == '\\') snprintf(escape, sizeof escape, "\\%c", c);
        else if (c == '\n') strcpy(escape, "\\n");
        else if (c == '\r') strcpy(escape, "\\r");
        else if (c == '\t') strcpy(escape, "\\t");
        else if (c == '\b') strcpy(escape, "\\b");
        else if (c == '\f') strcpy(escape, "\\f");
        else if (c < 0x20) snprintf(escape, sizeof escape, "\\u%04x", c);
        else if (c >= 0x80 && (n = vouch_utf8_length(s.bytes + i, s.n - i)) == 0) n = 1;
        else if (c >= 0x80 && ascii) {
            uint32_t code = c & (n == 2 ? 0x1fu : n == 3 ? 0x0fu : 0x07u);
            for (size_t j = 1; j < n; j++) code = code << 6 | ((unsigned char)s.bytes[i + j] & 0x3fu);
            if (code < 0x10000) snprintf(escape, sizeof escape, "\\u%04x", code);
            else
                snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                         0xdc00 + ((code - 0x10000) & 0x3ff));
        }
        if (*escape)
            vouch_jinja_add(run, to,
                            (jinja_string){.bytes = escape, .n = strlen(escape), .mark = vouch_jinja_mark(s, i)});
        else vouch_jinja_add(run, to, vouch_jinja_cut(s, i, i + n));
    }
    vouch_jinja_add_text(run, to, "\"");
}

static void json_line(jinja_run *run, jinja_builder *to, const jinja_json *how, int64_t level)
{
    if (how->indent < 0) return;
    vouch_jinja_add_text(run, to, "\n");
    for (int64_t i = 0; i < how->indent * level && !run->failed; i++) vouch_jinja_add_text(run, to, " ");
}

static void json_separate(jinja_run *run, jinja_builder *to, const jinja_json *how)
{
    if (how->item_separator.bytes) vouch_jinja_add(run, to, how->item_separator);
    else vouch_jinja_add_text(run, to, how->indent < 0 ? ", " : ",");
}

static void json_value(jinja_run *run, jinja_builder *to, const jinja_value *x, const jinja_json *how, int64_t level);

static void json_list(jinja_run *run, jinja_builder *to, const jinja_list *list, const jinja_json *how, int64_t level)
{
    vouch_jinja_add_text(run, to, "[");
    for (size_t i = 0; i < list->n && !run->failed; i++) {
        if (i) json_separate(run, to, how);
        json_line(run, to, how, level + 1);
        json_value(run, to, &list->items[i], how, level + 1);
    }
    if (list->n) json_line(run, to, how, level);
    vouch_jinja_add_text(run, to, "]");
}

/* Indices of the entries in the order of their keys, by insertion sort: dicts of a template are small. */
static size_t *sorted_entries(jinja_run *run, const jinja_dict *dict)
{
    size_t *order = vouch_jinja_take(run, dict->n + 1, sizeof *order);
    for (size_t i = 0; order && i < dict->n && !run->failed; i++) {
        size_t at = i;
        for (; at > 0 && vouch_jinja_compare(run, &dict->keys[i], &dict->keys[order[at - 1]]) < 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static void json_key(jinja_run *run, jinja_builder *to, const jinja_value *key, bool ascii)
{
    if (key->kind == JINJA_STRING) {
        json_string(run, to, key->string, ascii);
        return;
    }
    const jinja_json plain = {.indent = -1};
    vouch_jinja_add_text(run, to, "\"");
    json_value(run, to, key, &plain, 0);
    vouch_jinja_add_text(run, to, "\"");
}

static void json_dict(jinja_run *run, jinja_builder *to, const jinja_dict *dict, const jinja_json *how, int64_t level)
{
    const size_t *order = how->sort ? sorted_entries(run, dict) : NULL;
    vouch_jinja_add_text(run, to, "{");
    for (size_t i = 0; i < dict->n && !run->failed; i++) {
        const size_t entry = order ? order[i] : i;
        if (i) json_separate(run, to, how);
        json_line(run, to, how, level + 1);
        json_key(run, to, &dict->keys[entry], how->ascii);
        if (how->key_separator.bytes) vouch_jinja_add(run, to, how->key_separator);
        else vouch_jinja_add_text(run, to, ": ");
        json_value(run, to, &dict->values[entry], how, level + 1);
    }
    if (dict->n) json_line(run, to, how, level);
    vouch_jinja_add_text(run, to, "}");
}

static void json_value(jinja_run *run, jinja_builder *to, const jinja_value *x, const jinja_json *how, int64_t level)
{
    if (!vouch_jinja_enter(run)) return;
    switch (x->kind) {
    case JINJA_NONE: vouch_jinja_add_text(run, to, "null"); break;
    case JINJA_BOOL: vouch_jinja_add_text(run, to, x->boolean ? "true" : "false"); break;
    case JINJA_INT:
    case JINJA_DIGITS: vouch_jinja_repr(run, to, x); break;
    case JINJA_FLOAT:
        if (isfinite(x->number)) vouch_jinja_repr(run, to, x);
        else vouch_jinja_add_text(run, to, isnan(x->number) ? "NaN" : x->number < 0 ? "-Infinity" : "Infinity");
        break;
    case JINJA_STRING: json_string(run, to, x->string, how->ascii); break;
    case JINJA_LIST:
    case JINJA_TUPLE: json_list(run, to, x->list, how, level); break;
    case JINJA_DICT: json_dict(run, to, x->dict, how, level); break;
    default: vouch_jinja_fail(run, "%s can't be written as JSON", vouch_jinja_kind_name(x->kind)); break;
    }
    vouch_jinja_leave(run);
}

void vouch_jinja_to_json(jinja_run *run, jinja_builder *to, const jinja_value *x, const jinja_json *how)
{
    json_value(run, to, x, how, 0);
}
