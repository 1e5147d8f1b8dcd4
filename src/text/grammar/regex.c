/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions of JSON Schema (ECMA-262), as far as they are regular: alternatives, groups, classes,
 * quantifiers, and the anchors ^ and $ at the ends of the whole pattern or of its alternatives. A pattern without an
 * anchor may match anywhere in the string. Each character is spelled as a string of JSON spells it.
 */
#include <string.h>

#include "text/grammar/schema_parts.h"
#include "text/unicode.h"

enum { MOST_REPEATS = 1000 };

typedef struct regex {
    vouch_json_writer *writer;
    vouch_builder *builder;
    const char *begin, *at, *end;
    int depth;
} regex;

static vouch_expression fail(regex *r, const char *problem)
{
    vouch_builder_fail(r->builder, VOUCH_E_UNSUPPORTED, "the pattern \"%.*s\", character %d: %s",
                       (int)(r->end - r->begin < 100 ? r->end - r->begin : 100), r->begin, (int)(r->at - r->begin) + 1,
                       problem);
    r->at = r->end;
    return 0;
}

static int peek(const regex *r)
{
    return r->at < r->end ? (unsigned char)*r->at : -1;
}

static bool failed(const regex *r)
{
    return r->builder->status != VOUCH_OK;
}

static int32_t read_hex(regex *r, int most)
{
    int32_t value = 0;
    int n = 0;
    for (; n < most; n++, r->at++) {
        const int c = peek(r);
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                       : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) break;
        value = value << 4 | digit;
    }
    if (n == 0 || value > VOUCH_LAST_CHARACTER) return fail(r, "expected the number of a character");
    return value;
}

/* ------------------------------------------------------------------ classes */

/* The classes that a letter names; capital letters stand for all other characters. */
static bool add_named(regex *r, vouch_ranges *ranges, int letter)
{
    vouch_ranges set = {0};
    vouch_builder *b = r->builder;
    switch (letter | 0x20) {
    case 'd': vouch_ranges_add(b, &set, '0', '9'); break;
    case 'w':
        vouch_ranges_add(b, &set, '0', '9');
        vouch_ranges_add(b, &set, 'A', 'Z');
        vouch_ranges_add(b, &set, '_', '_');
        vouch_ranges_add(b, &set, 'a', 'z');
        break;
    case 's': {
        static const vouch_range spaces[] = {{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a},
                                             {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
                                             {0xfeff, 0xfeff}};
        for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
            vouch_ranges_add(b, &set, spaces[i].first, spaces[i].last);
        break;
    }
    default: return false;
    }
    if (letter < 'a') vouch_ranges_invert(b, &set);
    for (int32_t i = 0; i < set.n; i++) vouch_ranges_add(b, ranges, set.ranges[i].first, set.ranges[i].last);
    vouch_ranges_free(&set);
    return true;
}

/* Reads an escape, behind its backslash. Returns a character; or -1 after adding a class to `ranges`. */
static int32_t read_escape(regex *r, vouch_ranges *ranges, bool in_class)
{
    const int c = peek(r);
    if (c < 0) return fail(r, "nothing behind the backslash");
    r->at++;
    if (add_named(r, ranges, c)) return -1;
    switch (c) {
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case 'f': return '\f';
    case 'v': return '\v';
    case '0': return 0;
    case 'x': return read_hex(r, 2);
    case 'u':
        if (peek(r) != '{') return read_hex(r, 4);
        r->at++;
        const int32_t value = read_hex(r, 6);
        if (peek(r) != '}') return fail(r, "expected }");
        r->at++;
        return value;
    case 'b':
        if (in_class) return '\b';
        break;
    default:
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 0x80)) return c;
    }
    r->at--;
    return fail(r, "this escape is not supported: no references, word boundaries or properties");
}

/* Reads a character, escaped or not. -1: a class was added to `ranges`. */
static int32_t read_character(regex *r, vouch_ranges *ranges, bool in_class)
{
    const size_t n = vouch_utf8_length(r->at, (size_t)(r->end - r->at));
    if (n == 0) return fail(r, "expected a character");
    if (*r->at == '\\') {
        r->at++;
        return read_escape(r, ranges, in_class);
    }
    const int32_t character = vouch_utf8_decode(r->at, n);
    r->at += n;
    return character;
}

static vouch_expression read_class(regex *r)
{
    vouch_ranges ranges = {0};
    const bool negated = r->at + 1 < r->end && r->at[1] == '^';
    r->at += 1 + negated;
    while (peek(r) != ']' && !failed(r)) {
        const int32_t first = read_character(r, &ranges, true);
        int32_t last = first;
        if (first >= 0 && peek(r) == '-' && r->at + 1 < r->end && r->at[1] != ']') {
            r->at++;
            last = read_character(r, &ranges, true);
            if (last < first && !failed(r)) fail(r, "a range that ends before it begins");
        }
        if (first >= 0) vouch_ranges_add(r->builder, &ranges, first, last);
    }
    r->at += !failed(r);
    if (negated) vouch_ranges_invert(r->builder, &ranges);
    return vouch_json_one_of(r->writer, &ranges);
}

static vouch_expression any_character(regex *r, bool line_ends)
{
    vouch_ranges ranges = {0};
    if (!line_ends) {
        vouch_ranges_add(r->builder, &ranges, '\n', '\n');
        vouch_ranges_add(r->builder, &ranges, '\r', '\r');
        vouch_ranges_add(r->builder, &ranges, 0x2028, 0x2029);
    }
    vouch_ranges_invert(r->builder, &ranges);
    return vouch_expression_shared(r->builder, vouch_json_one_of(r->writer, &ranges));
}

/* ----------------------------------------------------------------- structure */

static vouch_expression read_alternatives(regex *r, bool at_top);

static vouch_expression read_group(regex *r)
{
    r->at++;
    if (peek(r) == '?') {
        if (r->at + 1 >= r->end || r->at[1] != ':') return fail(r, "only groups (...) and (?:...) are supported");
        r->at += 2;
    }
    if (r->depth == VOUCH_GRAMMAR_DEEPEST) return fail(r, "more than 128 groups within each other");
    r->depth++;
    const vouch_expression inner = read_alternatives(r, false);
    r->depth--;
    if (peek(r) != ')') return fail(r, "expected a closing parenthesis");
    r->at++;
    return inner;
}

static vouch_expression read_atom(regex *r)
{
    vouch_ranges ranges = {0};
    switch (peek(r)) {
    case '(': return read_group(r);
    case '[': return read_class(r);
    case '.': r->at++; return any_character(r, false);
    case '^':
    case '$': return fail(r, "anchors are supported at the ends of the pattern and of its alternatives only");
    case '*':
    case '+':
    case '?':
    case '{':
    case '}':
    case ']': return fail(r, "this character needs a backslash here");
    default: break;
    }
    const int32_t character = read_character(r, &ranges, false);
    if (character >= 0) vouch_ranges_add(r->builder, &ranges, character, character);
    return vouch_json_one_of(r->writer, &ranges);
}

static int32_t read_count(regex *r)
{
    int32_t count = -1;
    for (; peek(r) >= '0' && peek(r) <= '9'; r->at++) {
        count = (count < 0 ? 0 : count) * 10 + (peek(r) - '0');
        if (count > MOST_REPEATS) return fail(r, "more than 1000 repetitions");
    }
    return count;
}

static vouch_expression read_repeated(regex *r)
{
    const vouch_expression atom = read_atom(r);
    int32_t min = 0, max = -1;
    const int c = peek(r);
    if (failed(r) || (c != '*' && c != '+' && c != '?' && c != '{')) return atom;
    r->at++;
    if (c == '+') min = 1;
    if (c == '?') max = 1;
    if (c == '{') {
        min = max = read_count(r);
        if (peek(r) == ',') {
            r->at++;
            max = read_count(r);
        }
        if (min < 0 || peek(r) != '}') return fail(r, "expected {n}, {n,} or {n,m}");
        if (max >= 0 && max < min) return fail(r, "the second number of {n,m} is smaller than the first");
        r->at++;
    }
    if (peek(r) == '?') r->at++; /* a lazy quantifier matches the same texts */
    return vouch_expression_repeat(r->builder, atom, min, max);
}

/* One alternative. At the top, a missing anchor stands for any characters. */
static vouch_expression read_sequence(regex *r, bool at_top)
{
    vouch_parts parts = {0};
    const vouch_expression any =
        at_top ? vouch_expression_repeat(r->builder, any_character(r, true), 0, -1) : 0;
    const bool is_bound = at_top && peek(r) == '^';
    r->at += is_bound;
    if (at_top && !is_bound) vouch_parts_add(r->builder, &parts, any);
    while (!failed(r) && r->at < r->end && *r->at != '|' && *r->at != ')') {
        const bool ends = at_top && *r->at == '$' && (r->at + 1 == r->end || r->at[1] == '|');
        if (ends) {
            r->at++;
            return vouch_expression_sequence(r->builder, &parts);
        }
        vouch_parts_add(r->builder, &parts, read_repeated(r));
    }
    if (at_top) vouch_parts_add(r->builder, &parts, any);
    return vouch_expression_sequence(r->builder, &parts);
}

static vouch_expression read_alternatives(regex *r, bool at_top)
{
    vouch_parts choices = {0};
    for (;;) {
        vouch_parts_add(r->builder, &choices, read_sequence(r, at_top));
        if (peek(r) != '|' || failed(r)) break;
        r->at++;
    }
    return vouch_expression_choice(r->builder, &choices);
}

vouch_expression vouch_json_pattern(vouch_json_writer *writer, const char *pattern, size_t n)
{
    vouch_builder *b = writer->builder;
    regex r = {.writer = writer, .builder = b, .begin = pattern, .at = pattern, .end = pattern + n};
    const vouch_expression body = read_alternatives(&r, true);
    if (!failed(&r) && r.at < r.end) fail(&r, "a closing parenthesis without an opening one");
    const vouch_expression quote = vouch_expression_byte_range(b, '"', '"');
    return vouch_expression_join(b, 3, quote, body, quote);
}

/* ------------------------------------------------------------------ formats */

#define YEAR "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
#define LEAP_YEAR "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
#define MONTH_AND_DAY \
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
#define DATE "(" YEAR "-" MONTH_AND_DAY "|" LEAP_YEAR "-02-29)"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
#define BYTE "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#define HEX "[0-9a-fA-F]"
#define WORDS "[A-Za-z0-9]{1,30}(-[A-Za-z0-9]{1,30}){0,3}"

static const struct {
    const char *name, *pattern;
} formats[] = {
    {"date", "^" DATE "$"},
    {"time", "^" TIME "$"},
    {"date-time", "^" DATE "T" TIME "$"},
    {"uuid", "^" HEX "{8}-" HEX "{4}-" HEX "{4}-" HEX "{4}-" HEX "{12}$"},
    {"email", "^[A-Za-z0-9_%+~-]{1,30}(\\.[A-Za-z0-9_%+~-]{1,30}){0,3}@" WORDS "(\\." WORDS "){1,4}$"},
    {"ipv4", "^" BYTE "\\." BYTE "\\." BYTE "\\." BYTE "$"},
};

const char vouch_json_formats[] = "date, time, date-time, uuid, email, ipv4";

const char *vouch_json_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0) return formats[i].pattern;
    return NULL;
}
