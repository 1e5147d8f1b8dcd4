/* SPDX-License-Identifier: MIT */
#include "text/grammar/schema/decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = sizeof VOUCH_DECIMAL_MARK - 1, ESCAPE = 6, SAFE_DIGITS = 18, FAR = 1000000000 };

/* ------------------------------------------------------------------ reading */

/* The bytes of the number that begins at text[at], before text[n]. */
static size_t number_length(const char *text, size_t at, size_t n)
{
    const size_t begin = at;
    while (at < n && strchr("+-.0123456789eE", text[at]) && text[at]) at++;
    return at - begin;
}

/* Whether Jansson keeps the number as it is, or refuses it. */
static bool is_kept(const char *number, size_t n)
{
    static const char digits[] = "0123456789";
    size_t at = n > 0 && *number == '-', whole = at;
    while (at < n && memchr(digits, number[at], 10)) at++;
    if (at == whole || (number[whole] == '0' && at > whole + 1)) return true;          /* no number */
    if (at == n) return n - whole <= SAFE_DIGITS && !(whole == 1 && number[1] == '0'); /* -0 is a double there */
    if (number[at] == '.') {
        whole = ++at;
        while (at < n && memchr(digits, number[at], 10)) at++;
        if (at == whole) return true;
    }
    if (at < n && (number[at] == 'e' || number[at] == 'E')) {
        at++;
        at += at < n && (number[at] == '+' || number[at] == '-');
        whole = at;
        while (at < n && memchr(digits, number[at], 10)) at++;
        if (at == whole) return true;
    }
    return at < n;
}

/* The unit of UTF-16 of the escape that text[n] begins with, such as \u00e9; -1: none does. */
static int32_t unit_at(const char *text, size_t n)
{
    char digits[5] = "";
    if (n < ESCAPE || text[0] != '\\' || text[1] != 'u') return -1;
    memcpy(digits, text + 2, 4);
    return strspn(digits, "0123456789abcdefABCDEF") == 4 ? (int32_t)strtol(digits, NULL, 16) : -1;
}

/* The length of the escape that text[n] begins with; *is_odd: Jansson refuses it. */
static size_t escape_length(const char *text, size_t n, bool *is_odd)
{
    const int32_t unit = unit_at(text, n);
    *is_odd = unit == 0 || (unit >= 0xd800 && unit <= 0xdfff);
    if (unit < 0xd800 || unit > 0xdbff) return unit < 0 ? 2 : ESCAPE;
    const int32_t next = unit_at(text + ESCAPE, n - ESCAPE);
    *is_odd = next < 0xdc00 || next > 0xdfff;
    return *is_odd ? ESCAPE : 2 * ESCAPE;
}

/* Where a text of JSON is being read. */
typedef struct place {
    size_t at;
    bool in_string;
} place;

/* Goes on to the next number or escape of text[n] that Jansson doesn't keep; false: there is none. */
static bool next_odd(const char *text, size_t n, place *p, size_t *length)
{
    bool is_odd;
    for (; p->at < n; p->at += *length) {
        const char c = text[p->at];
        *length = 1;
        if (p->in_string && c == '\\') {
            *length = escape_length(text + p->at, n - p->at, &is_odd);
            if (is_odd) return true;
        } else if (c == '"') {
            p->in_string = !p->in_string;
        } else if (!p->in_string && c && strchr("-0123456789", c)) {
            *length = number_length(text, p->at, n);
            if (!is_kept(text + p->at, *length)) return true;
        }
    }
    return false;
}

/* The bytes of the object or array, or the word, that the text begins with. */
static size_t value_length(const char *text, size_t n)
{
    static const char space[] = " \t\r\n", ends[] = " \t\r\n|)";
    size_t at = 0, depth = 0;
    bool in_string = false;
    while (at < n && memchr(space, text[at], sizeof space - 1)) at++;
    for (; at < n; at++) {
        const char c = text[at];
        if (in_string && c == '\\') at++;
        else if (c == '"') in_string = !in_string;
        else if (!in_string && (c == '{' || c == '[')) depth++;
        else if (!in_string && depth == 0) break;
        else if (!in_string && (c == '}' || c == ']') && --depth == 0) return at + 1;
    }
    while (depth == 0 && at < n && !memchr(ends, text[at], sizeof ends - 1)) at++;
    return at < n ? at : n;
}

json_t *vouch_decimal_load(const char *text, size_t n, size_t *n_read, json_error_t *flaw)
{
    enum { MORE = MARK + 2 }; /* bytes that a number gets */
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    size_t length, count = 0, from = 0;
    if (n_read) *n_read = n = value_length(text, n);
    for (place p = {0}; next_odd(text, n, &p, &length); p.at += length) count++;
    char *copy = malloc(n + count * MORE + 1), *out = copy;
    if (!copy) {
        *flaw = (json_error_t){.text = "not enough memory"};
        return NULL;
    }
    for (place p = {0}; next_odd(text, n, &p, &length); p.at = from) {
        memcpy(out, text + from, p.at - from);
        out += p.at - from;
        if (!p.in_string) *out++ = '"';
        out = (char *)memcpy(out, VOUCH_DECIMAL_MARK, MARK) + MARK;
        out = (char *)memcpy(out, text + p.at + p.in_string, length - p.in_string) + length - p.in_string;
        if (!p.in_string) *out++ = '"';
        from = p.at + length;
    }
    memcpy(out, text + from, n - from);
    out += n - from;
    json_t *value = json_loadb(copy, (size_t)(out - copy), flags, flaw);
    free(copy);
    return value;
}

/* ------------------------------------------------------------------- values */

static bool is_marked(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strncmp(text, VOUCH_DECIMAL_MARK, MARK) == 0 && text[MARK] != 'u';
}

bool vouch_decimal_is(const json_t *value)
{
    return json_is_number(value) || is_marked(value);
}

bool vouch_decimal_is_text(const json_t *value)
{
    return json_is_string(value) && !is_marked(value);
}

const char *vouch_decimal_text(const json_t *number, vouch_decimal *out)
{
    out->text = out->room;
    if (is_marked(number)) out->text = json_string_value(number) + MARK;
    else if (json_is_integer(number))
        snprintf(out->room, sizeof out->room, "%" JSON_INTEGER_FORMAT, json_integer_value(number));
    else snprintf(out->room, sizeof out->room, "%.16g", json_number_value(number));
    return out->text;
}

double vouch_decimal_value(const json_t *number)
{
    return is_marked(number) ? strtod(json_string_value(number) + MARK, NULL) : json_number_value(number);
}

/* A number as 0.DIGITS times 10^exponent. The digits, which may have a point between them, begin and end with none that
 * is 0. */
typedef struct parts {
    const char *digits, *end;
    ptrdiff_t exponent; /* of 0: the least */
    bool is_negative;
} parts;

static int next_digit(const char **at, const char *end)
{
    if (*at < end && **at == '.') ++*at;
    return *at < end ? *(*at)++ : '0';
}

static parts parts_of(const char *text)
{
    parts p = {.is_negative = *text == '-'};
    text += p.is_negative;
    p.end = text + strspn(text, "0123456789.");
    p.digits = text + strspn(text, "0.");
    const char *point = memchr(text, '.', (size_t)(p.end - text));
    const long power = *p.end ? strtol(p.end + 1, NULL, 10) : 0;
    if (!point) point = p.end;
    p.exponent = p.digits < point ? point - p.digits : point + 1 - p.digits;
    p.exponent += power > FAR ? FAR : power < -FAR ? -FAR : power;
    while (p.end > p.digits && (p.end[-1] == '0' || p.end[-1] == '.')) p.end--;
    if (p.digits >= p.end) p = (parts){p.end, p.end, -2 * (ptrdiff_t)FAR, false};
    return p;
}

static int compare(const parts *x, const parts *y)
{
    if (x->is_negative != y->is_negative) return x->is_negative ? -1 : 1;
    int order = (x->exponent > y->exponent) - (x->exponent < y->exponent);
    for (const char *a = x->digits, *b = y->digits; order == 0 && (a < x->end || b < y->end);) {
        const int i = next_digit(&a, x->end), j = next_digit(&b, y->end);
        order = (i > j) - (i < j);
    }
    return x->is_negative ? -order : order;
}

int vouch_decimal_compare(const json_t *x, const json_t *y)
{
    vouch_decimal a, b;
    const parts p = parts_of(vouch_decimal_text(x, &a)), q = parts_of(vouch_decimal_text(y, &b));
    return compare(&p, &q);
}

bool vouch_decimal_is_whole(const json_t *number)
{
    vouch_decimal room;
    const parts p = parts_of(vouch_decimal_text(number, &room));
    ptrdiff_t n = 0;
    for (const char *c = p.digits; c < p.end; c++) n += *c != '.';
    return n == 0 || p.exponent >= n;
}

bool vouch_decimal_expand(const json_t *number, char whole[VOUCH_DECIMAL_DIGITS + 2], char *fraction, int most,
                          bool *is_negative, bool *is_cut)
{
    vouch_decimal room;
    const parts p = parts_of(vouch_decimal_text(number, &room));
    const char *at = p.digits;
    int n = 0;
    *is_negative = p.is_negative;
    if (p.exponent > VOUCH_DECIMAL_DIGITS) return false;
    for (ptrdiff_t i = 0; i < p.exponent; i++) whole[n++] = (char)next_digit(&at, p.end);
    if (n == 0) whole[n++] = '0';
    whole[n] = '\0';
    n = 0;
    for (ptrdiff_t i = p.exponent; i < 0 && n < most; i++) fraction[n++] = '0';
    while (at < p.end && n < most) fraction[n++] = (char)next_digit(&at, p.end);
    while (n > 0 && fraction[n - 1] == '0') n--;
    fraction[n] = '\0';
    *is_cut = at < p.end;
    return true;
}

bool vouch_decimal_divides(const json_t *x, const json_t *y)
{
    vouch_decimal a, b;
    const parts p = parts_of(vouch_decimal_text(x, &a)), q = parts_of(vouch_decimal_text(y, &b));
    uint64_t of = 0, rest = 0; /* below 10^18, so ten times as much fits, too */
    ptrdiff_t n = 0, shift;
    if (q.digits == q.end) return true;
    for (const char *c = p.digits; c < p.end && n < SAFE_DIGITS; n += *c++ != '.')
        if (*c != '.') of = of * 10 + (uint64_t)(*c - '0');
    shift = p.exponent - n; /* x is of times 10^shift */
    if (of == 0) return false;
    n = 0;
    for (const char *c = q.digits; c < q.end; n += *c++ != '.')
        if (*c != '.') rest = (rest * 10 + (uint64_t)(*c - '0')) % of;
    ptrdiff_t more = q.exponent - n - shift; /* y is its digits times 10^more in steps of 10^shift */
    if (more < 0) return false;
    for (; more > 0 && rest != 0 && more < 100000; more--) rest = rest * 10 % of;
    return rest == 0;
}
