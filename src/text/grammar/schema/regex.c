/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions of JSON Schema (ECMA-262), as far as they are regular: alternatives, groups, classes,
 * quantifiers, and the anchors ^ and $ at the ends of the whole pattern or of its alternatives. A pattern of a schema
 * that lacks an anchor may match anywhere in the string, and each character is spelled as a string of JSON spells it.
 * An expression by itself matches the whole answer, with characters as they are.
 */
#include <stdlib.h>
#include <string.h>

#include "text/grammar/notations.h"
#include "text/grammar/schema/schema_parts.h"
#include "text/unicode.h"

enum { MOST_REPEATS = 1000, ENDLESS = 1 << 24 };

typedef struct regex {
    vouch_json_writer *writer; /* NULL: an expression by itself */
    vouch_builder *builder;
    const char *begin, *at, *end;
    int depth;
    int32_t min, max; /* characters of the whole string; max -1: any number */
    vouch_error *flaw;
} regex;

/* A part of a pattern: `atom`, min to max times; max -1: any number. */
typedef struct piece {
    vouch_expression atom;
    int32_t min, max;
    int32_t least, most; /* characters of the atom; from ENDLESS on, any number */
} piece;

static vouch_expression fail(regex *r, const char *problem)
{
    if (r->flaw->code == VOUCH_OK)
        vouch_fail(r->flaw, VOUCH_E_UNSUPPORTED, "the pattern \"%.*s\", character %d: %s",
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
    return r->flaw->code != VOUCH_OK || r->builder->status != VOUCH_OK;
}

static int32_t read_hex(regex *r, int most)
{
    int32_t value = 0;
    int n = 0;
    for (; n < most; n++, r->at++) {
        const int c = peek(r);
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
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
        static const vouch_range spaces[] = {{'\t', '\r'},     {' ', ' '},       {0xa0, 0xa0},     {0x1680, 0x1680},
                                             {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f},
                                             {0x3000, 0x3000}, {0xfeff, 0xfeff}};
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

/* Reads an escape, after its backslash. Returns a character; or -1 after adding a class to `ranges`. */
static int32_t read_escape(regex *r, vouch_ranges *ranges, bool in_class)
{
    const int c = peek(r);
    if (c < 0) return fail(r, "nothing after the backslash");
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

/* One character of the set. Frees the set. */
static vouch_expression one_of(regex *r, vouch_ranges *ranges)
{
    return r->writer ? vouch_json_one_of(r->writer, ranges) : vouch_ranges_expression(r->builder, ranges);
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
    return one_of(r, &ranges);
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
    return vouch_expression_shared(r->builder, one_of(r, &ranges));
}

/* ----------------------------------------------------------------- structure */

static piece read_alternatives(regex *r, bool at_top);

static piece failed_piece(regex *r, const char *problem)
{
    return (piece){.atom = fail(r, problem)};
}

static piece read_group(regex *r)
{
    r->at++;
    if (peek(r) == '?') {
        if (r->at + 1 >= r->end || r->at[1] != ':')
            return failed_piece(r, "only groups (...) and (?:...) are supported");
        r->at += 2;
    }
    if (r->depth == VOUCH_GRAMMAR_DEEPEST) return failed_piece(r, "groups are nested more than 128 deep");
    r->depth++;
    const piece inner = read_alternatives(r, false);
    r->depth--;
    if (peek(r) != ')') return failed_piece(r, "expected a closing parenthesis");
    r->at++;
    return inner;
}

/* One character. */
static vouch_expression read_one(regex *r)
{
    vouch_ranges ranges = {0};
    switch (peek(r)) {
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
    return one_of(r, &ranges);
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

static piece read_repeated(regex *r)
{
    piece out = {.min = 1, .max = 1, .least = 1, .most = 1};
    if (peek(r) == '(') out = read_group(r);
    else out.atom = read_one(r);
    int32_t min = 0, max = -1;
    const int c = peek(r);
    if (failed(r) || (c != '*' && c != '+' && c != '?' && c != '{')) return out;
    r->at++;
    if (c == '+') min = 1;
    if (c == '?') max = 1;
    if (c == '{') {
        min = max = read_count(r);
        if (peek(r) == ',') {
            r->at++;
            max = read_count(r);
        }
        if (min < 0 || peek(r) != '}') return failed_piece(r, "expected {n}, {n,} or {n,m}");
        if (max >= 0 && max < min) return failed_piece(r, "the second number of {n,m} is smaller than the first");
        r->at++;
    }
    if (peek(r) == '?') r->at++; /* a lazy quantifier matches the same texts */
    out.min = min;
    out.max = max;
    return out;
}

/* ------------------------------------------------------------------- lengths */

/* The pieces of a sequence. */
typedef struct pieces {
    piece *list; /* [n] */
    int32_t n, room;
} pieces;

static void add_piece(regex *r, pieces *of, piece one)
{
    if (of->n == of->room) {
        const int32_t room = of->room > 0 ? 2 * of->room : 16;
        piece *list = realloc(of->list, (size_t)room * sizeof *list);
        if (!list) {
            vouch_builder_fail(r->builder, VOUCH_E_MEMORY, "not enough memory for the pattern");
            return;
        }
        of->list = list;
        of->room = room;
    }
    of->list[of->n++] = one;
}

typedef struct lengths {
    int64_t least, most; /* from ENDLESS on, any number */
} lengths;

static lengths lengths_of(const piece *p)
{
    const int64_t most = p->max < 0 ? (p->most > 0 ? ENDLESS : 0) : (int64_t)p->max * p->most;
    return (lengths){(int64_t)p->min * p->least, most < ENDLESS ? most : ENDLESS};
}

static lengths total(const pieces *of)
{
    lengths sum = {0};
    for (int32_t i = 0; i < of->n; i++) {
        const lengths one = lengths_of(&of->list[i]);
        sum.least += one.least;
        sum.most += one.most;
    }
    return sum;
}

/*
 * Makes a string of these pieces have min to max characters, where one piece alone has no fixed length:
 *
 *     ^[A-Z][a-z]+$ with 3 to 5 characters     [A-Z][a-z]{2,4}
 */
static void fit(regex *r, pieces *of)
{
    const lengths sum = total(of);
    piece *loose = NULL;
    int32_t n_loose = 0;
    if (sum.least >= r->min && (r->max < 0 || sum.most <= r->max)) return;
    for (int32_t i = 0; i < of->n; i++) {
        const lengths one = lengths_of(&of->list[i]);
        if (one.least == one.most) continue;
        loose = &of->list[i];
        n_loose++;
    }
    if (n_loose > 1 || (loose && (loose->least != loose->most || loose->least == 0))) {
        fail(r, "its length varies in several places, so it can't be joined with minLength or maxLength");
        return;
    }
    const int64_t fixed = sum.least - (loose ? lengths_of(loose).least : 0);
    if (!loose) { /* too long or too short */
        const piece nothing = {.atom = vouch_expression_nothing(r->builder), .min = 1, .max = 1};
        add_piece(r, of, nothing);
        return;
    }
    const int64_t least = (r->min - fixed + loose->least - 1) / loose->least;
    const int64_t most = r->max < fixed ? -1 : (r->max - fixed) / loose->least;
    if (r->min > fixed && least > loose->min) loose->min = (int32_t)least;
    const bool is_bound = r->max >= 0 && (loose->max < 0 || most < loose->max);
    const bool is_short = (is_bound ? most : loose->max) < loose->min && (is_bound || loose->max >= 0);
    if (is_bound) loose->max = (int32_t)most;
    if (is_short) *loose = (piece){.atom = vouch_expression_nothing(r->builder), .min = 1, .max = 1};
}

/* One alternative. At the top of a pattern of a schema, a missing anchor stands for any characters. */
static piece read_sequence(regex *r, bool at_top)
{
    pieces all = {0};
    const bool is_open = at_top && r->writer;
    const piece any = {is_open ? any_character(r, true) : 0, 0, -1, 1, 1};
    const bool begins = at_top && peek(r) == '^';
    bool ends = !at_top;
    r->at += begins;
    if (is_open && !begins) add_piece(r, &all, any);
    while (!failed(r) && r->at < r->end && *r->at != '|' && *r->at != ')') {
        ends |= at_top && *r->at == '$' && (r->at + 1 == r->end || r->at[1] == '|');
        if (at_top && ends) break;
        add_piece(r, &all, read_repeated(r));
    }
    if (at_top && ends) r->at++;
    if (is_open && !ends) add_piece(r, &all, any);
    if (at_top && !failed(r)) fit(r, &all);
    vouch_parts parts = {0};
    for (int32_t i = 0; i < all.n && !failed(r); i++)
        vouch_parts_add(r->builder, &parts,
                        vouch_expression_repeat(r->builder, all.list[i].atom, all.list[i].min, all.list[i].max));
    const lengths sum = failed(r) ? (lengths){0} : total(&all);
    free(all.list);
    return (piece){vouch_expression_sequence(r->builder, &parts), 1, 1,
                   (int32_t)(sum.least < ENDLESS ? sum.least : ENDLESS),
                   (int32_t)(sum.most < ENDLESS ? sum.most : ENDLESS)};
}

static piece read_alternatives(regex *r, bool at_top)
{
    vouch_parts choices = {0};
    piece out = {.min = 1, .max = 1, .least = ENDLESS};
    for (;;) {
        const piece one = read_sequence(r, at_top);
        vouch_parts_add(r->builder, &choices, one.atom);
        if (one.least < out.least) out.least = one.least;
        if (one.most > out.most) out.most = one.most;
        if (peek(r) != '|' || failed(r)) break;
        r->at++;
    }
    out.atom = vouch_expression_choice(r->builder, &choices);
    return out;
}

vouch_expression vouch_json_pattern(vouch_json_writer *writer, const char *pattern, size_t n, int32_t min, int32_t max,
                                    vouch_error *flaw)
{
    *flaw = (vouch_error){0};
    vouch_builder *b = writer->builder;
    regex r = {.writer = writer,
               .builder = b,
               .begin = pattern,
               .at = pattern,
               .end = pattern + n,
               .min = min,
               .max = max,
               .flaw = flaw};
    const piece body = read_alternatives(&r, true);
    if (!failed(&r) && r.at < r.end) fail(&r, "a closing parenthesis without an opening one");
    const vouch_expression quote = vouch_expression_byte_range(b, '"', '"');
    return vouch_expression_join(b, 3, quote, body.atom, quote);
}

int32_t vouch_regex_read(vouch_builder *builder, const char *text, size_t n)
{
    vouch_error flaw = {0};
    regex r = {.builder = builder, .begin = text, .at = text, .end = text + n, .max = -1, .flaw = &flaw};
    const int32_t root = vouch_builder_rule(builder, "root", 4);
    const piece body = read_alternatives(&r, true);
    if (!failed(&r) && r.at < r.end) fail(&r, "a closing parenthesis without an opening one");
    if (flaw.code) vouch_builder_fail(builder, flaw.code, "%s", flaw.message);
    vouch_builder_define(builder, root, body.atom);
    return root;
}

/* ------------------------------------------------------------------ formats */

#define YEAR "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
#define LEAP_YEAR "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
#define MONTH_AND_DAY \
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
#define DATE "(" YEAR "-" MONTH_AND_DAY "|" LEAP_YEAR "-02-29)"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
#define BYTE "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#define ADDRESS BYTE "\\." BYTE "\\." BYTE "\\." BYTE
#define HEX "[0-9a-fA-F]"
#define GROUP HEX "{1,4}"
#define UUID(version) "^" HEX "{8}-" HEX "{4}-" version HEX "{3}-[89abAB]" HEX "{3}-" HEX "{12}$"
#define HOST WORDS "(\\." WORDS "){0,2}"
#define TEXT "([A-Za-z0-9._~!$&'()*+,;=:@/-]|%" HEX "{2})"
#define NUMBER "[0-9]{1,4}"
#define TIMES "T(" NUMBER "H(" NUMBER "M(" NUMBER "S)?)?|" NUMBER "M(" NUMBER "S)?|" NUMBER "S)"
/* A label has at most 63 characters, a host 253, and the part before @ 64. */
#define WORDS "([A-Za-z0-9]{1,63}|[A-Za-z0-9]{1,15}(-[A-Za-z0-9]{1,15}){1,3})"

static const struct {
    const char *name, *pattern;
} formats[] = {
    {"date", "^" DATE "$"},
    {"time", "^" TIME "$"},
    {"date-time", "^" DATE "T" TIME "$"},
    {"uuid", "^" HEX "{8}-" HEX "{4}-" HEX "{4}-" HEX "{4}-" HEX "{12}$"},
    {"email",
     "^([A-Za-z0-9_%+~-]{1,64}|[A-Za-z0-9_%+~-]{1,20}(\\.[A-Za-z0-9_%+~-]{1,20}){1,2})@" WORDS "(\\." WORDS "){1,2}$"},
    {"ipv4", "^" ADDRESS "$"},
    {"ipv6", "^" GROUP "(:" GROUP "){7}$|^(" GROUP "(:" GROUP "){0,2})?::(" GROUP "(:" GROUP "){0,2})?$|"
             "^(" GROUP ":){6}" ADDRESS "$|^(" GROUP "(:" GROUP "){0,2})?::(" GROUP ":){0,2}" ADDRESS "$"},
    {"ipvanyaddress", "^" ADDRESS "$"},
    {"hostname", "^" HOST "$"},
    {"uri", "^((https?|ftp)://" HOST "(:[1-9][0-9]{0,3})?(/" TEXT "{0,100})?(\\?" TEXT "{1,60})?|"
            "(mailto|urn|tel|news):" TEXT "{1,60})(#" TEXT "{1,40})?$"},
    {"duration", "^P(" NUMBER "W|(" NUMBER "D|" NUMBER "M(" NUMBER "D)?|" NUMBER "Y(" NUMBER "M(" NUMBER "D)?)?)"
                 "(" TIMES ")?|" TIMES ")$"},
    {"uuid1", UUID("1")},
    {"uuid3", UUID("3")},
    {"uuid4", UUID("4")},
    {"uuid5", UUID("5")},
    {"base64", "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"},
};

/* Formats of schemas that programs write, which say nothing about the characters of a string. */
static const char *const unbound[] = {"password", "binary", "byte", "path", "file-path", "directory-path"};

const char vouch_json_formats[] = "date, time, date-time, duration, uuid, email, hostname, uri, ipv4, ipv6, base64";

bool vouch_json_format_is_unbound(const char *name)
{
    for (size_t i = 0; i < sizeof unbound / sizeof unbound[0]; i++)
        if (strcmp(unbound[i], name) == 0) return true;
    return false;
}

const char *vouch_json_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0) return formats[i].pattern;
    return NULL;
}
