/* SPDX-License-Identifier: MIT */
/*
 * Reads llama.cpp's notation of grammars, a Backus-Naur form:
 *
 *     # a comment
 *     root  ::= "[" ws (item ("," ws item)*)? "]"
 *     item  ::= [a-zA-Z_] [^"\\\n]{0,20} | "\x41" | .
 *     ws    ::= [ \t\n]*
 *
 * The text that a grammar allows begins with the rule `root`. A rule ends at the end of its line, except within
 * parentheses and before or after "|". Classes and "." stand for one character of UTF-8. Four items are our own:
 *
 *     %until "</think>"            any text up to the first mark, and the mark
 *     %json {"type": "integer"}    a value that the JSON Schema accepts
 *     %json "#/$defs/count"        the same for a schema within the document of the last line %schema {...}
 *     %token "[TOOL_CALLS]"        the control token of this name
 */
#include <string.h>
#include <utf8proc.h>

#include "text/grammar/characters.h"
#include "text/grammar/notations.h"
#include "text/grammar/until.h"
#include "text/unicode.h"

enum { MOST_REPEATS = 100000, LONGEST_NAME = 200, LONGEST_REFERENCE = 1024 };

typedef struct reader {
    vouch_builder *builder;
    const char *text, *at, *end;
    vouch_schema *schema; /* of the last %schema; NULL: there was none */
    int depth;
} reader;

static int line_of(const reader *r)
{
    int line = 1;
    for (const char *c = r->text; c < r->at; c++) line += *c == '\n';
    return line;
}

static vouch_expression fail(reader *r, const char *problem)
{
    const char *line = r->at;
    while (line > r->text && line[-1] != '\n') line--;
    vouch_builder_fail(r->builder, VOUCH_E_ARGUMENT, "line %d, column %d of the grammar: %s", line_of(r),
                       (int)(r->at - line) + 1, problem);
    r->at = r->end;
    return 0;
}

static bool failed(const reader *r)
{
    return r->builder->status != VOUCH_OK;
}

static int peek(const reader *r)
{
    return r->at < r->end ? (unsigned char)*r->at : -1;
}

static bool is_word(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Skips spaces and comments, and with `lines` the ends of lines. */
static void skip_space(reader *r, bool lines)
{
    for (;; r->at++) {
        int c = peek(r);
        if (c == '#') {
            while (peek(r) >= 0 && peek(r) != '\n') r->at++;
            c = peek(r);
        }
        if (c != ' ' && c != '\t' && !(lines && (c == '\n' || c == '\r'))) return;
    }
}

/* -------------------------------------------------------------- characters */

static int hex_value(int c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static int32_t read_hex(reader *r, int digits)
{
    int32_t value = 0;
    for (int i = 0; i < digits; i++, r->at++) {
        const int digit = hex_value(peek(r));
        if (digit < 0) return fail(r, "expected more hexadecimal digits");
        value = value < 0x1000000 ? value << 4 | digit : value;
    }
    if (value > VOUCH_LAST_CHARACTER) return fail(r, "this number is no character: the last one is 10ffff");
    return value;
}

/* Reads one character of a literal or a class, as written or as an escape. */
static int32_t read_character(reader *r)
{
    const size_t left = (size_t)(r->end - r->at), n = vouch_utf8_length(r->at, left);
    if (n == 0) return fail(r, left == 0 ? "the text ends here; expected a closing quote or bracket" : "not UTF-8");
    if (*r->at == '\n') return fail(r, "the line ends here; expected a closing quote or bracket, or write \\n");
    if (*r->at != '\\') {
        const int32_t character = vouch_utf8_decode(r->at, n);
        r->at += n;
        return character;
    }
    r->at++;
    const int c = peek(r);
    r->at++;
    switch (c) {
    case 'x': return read_hex(r, 2);
    case 'u': return read_hex(r, 4);
    case 'U': return read_hex(r, 8);
    case 't': return '\t';
    case 'r': return '\r';
    case 'n': return '\n';
    case '\\':
    case '"':
    case '[':
    case ']':
    case '-':
    case '^': return c;
    default:
        r->at -= 2;
        return fail(r, "an unknown escape; expected \\n \\r \\t \\\\ \\\" \\[ \\] \\xNN \\uNNNN \\UNNNNNNNN");
    }
}

static vouch_expression read_literal(reader *r)
{
    vouch_parts parts = {0};
    r->at++;
    while (peek(r) != '"' && !failed(r)) {
        const int32_t character = read_character(r);
        vouch_parts_add(r->builder, &parts, vouch_expression_characters(r->builder, character, character));
    }
    r->at += !failed(r);
    return vouch_expression_sequence(r->builder, &parts);
}

static vouch_expression read_class(reader *r)
{
    vouch_ranges ranges = {0};
    r->at++;
    const bool negated = peek(r) == '^';
    r->at += negated;
    while (peek(r) != ']' && !failed(r)) {
        const int32_t first = read_character(r);
        int32_t last = first;
        if (peek(r) == '-' && r->at + 1 < r->end && r->at[1] != ']') {
            r->at++;
            last = read_character(r);
        }
        if (first > last && !failed(r)) fail(r, "a range that ends before it begins");
        vouch_ranges_add(r->builder, &ranges, first, last);
    }
    r->at += !failed(r);
    if (negated) vouch_ranges_invert(r->builder, &ranges);
    return vouch_ranges_expression(r->builder, &ranges);
}

/* --------------------------------------------------------------------- rules */

static vouch_expression read_choice(reader *r);

static int32_t read_name(reader *r)
{
    const char *begin = r->at;
    while (is_word(peek(r))) r->at++;
    const size_t n = (size_t)(r->at - begin);
    if (n > LONGEST_NAME) return fail(r, "a name of more than 200 characters");
    const int32_t known = vouch_builder_find(r->builder, begin, n);
    return known >= 0 ? known : vouch_builder_rule(r->builder, begin, n);
}

static vouch_expression read_group(reader *r)
{
    if (r->depth == VOUCH_GRAMMAR_DEEPEST) return fail(r, "more than 128 parentheses within each other");
    r->at++;
    r->depth++;
    const vouch_expression inner = read_choice(r);
    r->depth--;
    skip_space(r, true);
    if (peek(r) != ')') return fail(r, "expected a closing parenthesis");
    r->at++;
    return inner;
}

/* Whether the word, which the text has here, is followed by something else than a word. Moves past it and spaces. */
static bool take_word(reader *r, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
    if ((size_t)(r->end - r->at) > n && is_word((unsigned char)r->at[n])) return false;
    r->at += n;
    skip_space(r, false);
    return true;
}

/* Reads a literal. Returns the number of its characters; 0 after a failure. */
static int32_t read_mark(reader *r, int32_t *mark, int32_t room)
{
    int32_t n = 0;
    if (peek(r) != '"') return fail(r, "expected a text in quotes");
    r->at++;
    while (peek(r) != '"' && !failed(r)) {
        const int32_t character = read_character(r);
        if (n == room)
            return fail(r, room == VOUCH_LONGEST_MARK ? "a text of more than 64 characters"
                                                      : "a reference of more than 1024 characters");
        mark[n++] = character;
    }
    if (n == 0 && !failed(r)) return fail(r, "expected a text that is not empty");
    r->at += !failed(r);
    return failed(r) ? 0 : n;
}

/* Reads a literal of up to `room` characters as UTF-8. Returns its bytes, after which a 0 stands. */
static size_t read_text(reader *r, char text[4 * LONGEST_REFERENCE + 1], int32_t room)
{
    int32_t mark[LONGEST_REFERENCE];
    size_t n_bytes = 0;
    const int32_t n = read_mark(r, mark, room);
    for (int32_t i = 0; i < n; i++)
        n_bytes += (size_t)utf8proc_encode_char(mark[i], (utf8proc_uint8_t *)text + n_bytes);
    text[n_bytes] = '\0';
    return n_bytes;
}

/* Reads a schema of the document of %schema, by a reference. */
static vouch_expression read_reference(reader *r)
{
    char reference[4 * LONGEST_REFERENCE + 1];
    if (!r->schema) return fail(r, "expected a schema; a reference needs a line %schema {...} before it");
    const size_t n = read_text(r, reference, LONGEST_REFERENCE);
    return n > 0 ? vouch_schema_at(r->schema, reference) : 0;
}

static vouch_schema *read_schema(reader *r)
{
    size_t n_read;
    vouch_schema *schema = vouch_schema_open(r->builder, r->at, (size_t)(r->end - r->at), &n_read);
    r->at = failed(r) ? r->end : r->at + n_read;
    return schema;
}

/* Reads %json SCHEMA, %json "REFERENCE", %until "MARK" or %token "NAME". */
static vouch_expression read_percent(reader *r)
{
    char name[4 * LONGEST_REFERENCE + 1];
    if (take_word(r, "%json")) {
        if (peek(r) == '"') return read_reference(r);
        vouch_schema *schema = read_schema(r);
        const vouch_expression value = schema ? vouch_schema_at(schema, "#") : 0;
        vouch_schema_close(schema);
        if (failed(r)) r->at = r->end;
        return value;
    }
    if (take_word(r, "%token")) {
        const size_t n = read_text(r, name, VOUCH_LONGEST_MARK);
        return n > 0 ? vouch_expression_token(r->builder, name, n) : 0;
    }
    if (!take_word(r, "%until")) return fail(r, "expected %json, %until or %token");
    int32_t mark[VOUCH_LONGEST_MARK];
    const int32_t n = read_mark(r, mark, VOUCH_LONGEST_MARK);
    return n > 0 ? vouch_expression_until(r->builder, mark, n) : 0;
}

static vouch_expression read_item(reader *r)
{
    const int c = peek(r);
    if (c == '"') return read_literal(r);
    if (c == '[') return read_class(r);
    if (c == '(') return read_group(r);
    if (c == '.') {
        r->at++;
        return vouch_expression_shared(r->builder, vouch_expression_characters(r->builder, 0, VOUCH_LAST_CHARACTER));
    }
    if (c == '%') return read_percent(r);
    if (c == '<' || c == '!')
        return fail(r, "tokens such as <think> are not supported; write their text in quotes, or %token \"<think>\" "
                       "for a control token");
    if (is_word(c)) return vouch_expression_rule(r->builder, read_name(r));
    return fail(r, "expected a literal in quotes, a class in brackets, a rule's name, \".\" or a parenthesis");
}

/* Reads a count of repetitions. -1: there are no digits here. */
static int32_t read_count(reader *r)
{
    int32_t count = -1;
    for (; peek(r) >= '0' && peek(r) <= '9'; r->at++) {
        count = (count < 0 ? 0 : count) * 10 + (peek(r) - '0');
        if (count > MOST_REPEATS) return fail(r, "more than 100000 repetitions");
    }
    return count;
}

/* Reads {n}, {n,}, {n,m} or {,m} after an item. */
static void read_bounds(reader *r, int32_t *min, int32_t *max)
{
    r->at++;
    skip_space(r, false);
    const int32_t least = read_count(r);
    int32_t most = least;
    skip_space(r, false);
    if (peek(r) == ',') {
        r->at++;
        skip_space(r, false);
        most = read_count(r);
        skip_space(r, false);
        if (least < 0 && most < 0) fail(r, "expected a number");
    } else if (least < 0) fail(r, "expected a number");
    if (failed(r)) return;
    if (peek(r) != '}') fail(r, "expected }");
    else r->at++;
    *min = least < 0 ? 0 : least;
    *max = most;
    if (most >= 0 && most < *min) fail(r, "the second number of {m,n} is smaller than the first");
}

static vouch_expression read_repeated(reader *r)
{
    vouch_expression item = read_item(r);
    while (!failed(r)) {
        int32_t min = 0, max = -1;
        const int c = peek(r);
        if (c == '+') min = 1;
        else if (c == '?') max = 1;
        else if (c != '*' && c != '{') break;
        if (c == '{') read_bounds(r, &min, &max);
        else r->at++;
        if (!failed(r)) item = vouch_expression_repeat(r->builder, item, min, max);
    }
    return item;
}

/* Whether the sequence ends here: at "|", ")" or the end of a line. Within parentheses it goes on in the next line. */
static bool at_end_of_sequence(reader *r)
{
    skip_space(r, r->depth > 0);
    const int c = peek(r);
    return c < 0 || c == '|' || c == ')' || c == '\n' || c == '\r';
}

/* Skips to a "|" at the beginning of one of the next lines, if there is one. */
static void skip_to_bar(reader *r)
{
    const char *before = r->at;
    skip_space(r, true);
    if (peek(r) != '|') r->at = before;
}

static vouch_expression read_choice(reader *r)
{
    vouch_parts choices = {0};
    do {
        vouch_parts parts = {0};
        while (!failed(r) && !at_end_of_sequence(r)) {
            const vouch_expression part = read_repeated(r);
            vouch_parts_add(r->builder, &parts, part);
        }
        vouch_parts_add(r->builder, &choices, vouch_expression_sequence(r->builder, &parts));
        skip_to_bar(r);
        if (peek(r) != '|') break;
        r->at++;
        skip_space(r, true);
    } while (!failed(r));
    return vouch_expression_choice(r->builder, &choices);
}

/* Reads a rule, or %schema with the document for the references after it. */
static void read_line(reader *r)
{
    if (take_word(r, "%schema")) {
        vouch_schema_close(r->schema);
        r->schema = read_schema(r);
        skip_space(r, true);
        return;
    }
    if (!is_word(peek(r))) {
        fail(r, "expected a rule, such as root ::= \"yes\" | \"no\"");
        return;
    }
    const int32_t rule = read_name(r);
    if (failed(r)) return;
    if (r->builder->rules[rule].body >= 0) {
        fail(r, "this rule is defined already");
        return;
    }
    r->builder->owner = r->builder->rules[rule].name;
    skip_space(r, false);
    if (r->end - r->at < 3 || memcmp(r->at, "::=", 3) != 0) {
        fail(r, "expected ::= after the rule's name");
        return;
    }
    r->at += 3;
    skip_space(r, true);
    vouch_builder_define(r->builder, rule, read_choice(r));
    if (!failed(r) && peek(r) >= 0 && peek(r) != '\n' && peek(r) != '\r') fail(r, "unmatched )");
    skip_space(r, true);
}

int32_t vouch_gbnf_read(vouch_builder *builder, const char *text, size_t n)
{
    reader r = {.builder = builder, .text = text, .at = text, .end = text + n};
    skip_space(&r, true);
    while (peek(&r) >= 0 && !failed(&r)) read_line(&r);
    vouch_schema_close(r.schema);
    const int32_t root = vouch_builder_find(builder, "root", 4);
    if (root < 0) vouch_builder_fail(builder, VOUCH_E_ARGUMENT, "the grammar has no rule root; expected root ::= ...");
    return root < 0 ? 0 : root;
}
