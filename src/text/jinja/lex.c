/* SPDX-License-Identifier: MIT */
/*
 * Text to tokens (syntax.h). The lexer drops white space around a tag:
 *
 *   {%-  -%}   all of it on that side          {%+  +%}   none
 *   {%  {#     spaces and tabs before it, where only they stand between it and the line's beginning
 *   %}  #}     one newline after it
 */
#include <string.h>

#include "text/jinja/syntax.h"

typedef struct lexer {
    jinja_run *run;
    const char *text;
    size_t n, at;
    bool line_starts; /* the next text begins a line: at the beginning, or after a tag with its newline */
    jinja_token *tokens;
    size_t n_tokens, capacity;
} lexer;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool next_is(const lexer *l, const char *what)
{
    const size_t n = strlen(what);
    return l->n - l->at >= n && memcmp(l->text + l->at, what, n) == 0;
}

static void push(lexer *l, jinja_token_kind kind, jinja_string text)
{
    if (l->n_tokens == l->capacity) {
        const size_t capacity = l->capacity ? 2 * l->capacity : 256;
        jinja_token *tokens = vouch_jinja_take(l->run, capacity, sizeof *tokens);
        if (!tokens) return;
        if (l->n_tokens) memcpy(tokens, l->tokens, l->n_tokens * sizeof *tokens);
        l->tokens = tokens;
        l->capacity = capacity;
    }
    l->tokens[l->n_tokens++] = (jinja_token){.kind = kind, .line = l->run->line, .text = text};
}

static void advance(lexer *l, size_t to)
{
    for (; l->at < to; l->at++) l->run->line += l->text[l->at] == '\n';
}

static jinja_string piece(const lexer *l, size_t begin, size_t end)
{
    return (jinja_string){.bytes = l->text + begin, .n = end - begin};
}

/* Adds the text before a tag, without the white space that the tag drops. */
static void push_data(lexer *l, size_t begin, size_t end, char sign, bool is_print)
{
    if (sign == '-') {
        while (end > begin && is_space(l->text[end - 1])) end--;
    } else if (sign != '+' && !is_print) {
        size_t line = end;
        while (line > begin && (l->text[line - 1] == ' ' || l->text[line - 1] == '\t')) line--;
        if (line > begin ? l->text[line - 1] == '\n' : l->line_starts) end = line;
    }
    if (end > begin) push(l, JINJA_DATA, piece(l, begin, end));
}

/* Drops white space after a tag, whose closing marker has this sign; 0: none. */
static void close_tag(lexer *l, char sign, bool trims)
{
    const size_t begin = l->at;
    size_t end = begin;
    if (sign == '-')
        while (end < l->n && is_space(l->text[end])) end++;
    else if (sign != '+' && trims && end < l->n && l->text[end] == '\n') end++;
    advance(l, end);
    l->line_starts = end > begin && l->text[end - 1] == '\n';
}

/* ------------------------------------------------------------------ inside tags */

static int hex_digit(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static size_t put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) return out[0] = (char)code, 1;
    if (code < 0x800) return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
    size_t n = 0;
    if (code >= 0x10000) {
        out[n++] = (char)(0xf0 | code >> 18);
        out[n++] = (char)(0x80 | (code >> 12 & 63));
    } else {
        out[n++] = (char)(0xe0 | code >> 12);
    }
    out[n++] = (char)(0x80 | (code >> 6 & 63));
    out[n++] = (char)(0x80 | (code & 63));
    return n;
}

/* \xHH, \uHHHH, \UHHHHHHHH, whose digits are at `at`. Writes the character and returns its bytes; 0: it is none. */
static size_t decode_hex(const lexer *l, size_t at, size_t digits, char *out)
{
    uint32_t code = 0;
    for (size_t i = 0; i < digits; i++) {
        const int digit = at + i < l->n ? hex_digit(l->text[at + i]) : -1;
        if (digit < 0) return 0;
        code = code << 4 | (uint32_t)digit;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
    return put_utf8(out, code);
}

static void lex_string(lexer *l)
{
    const char quote = l->text[l->at];
    size_t end = l->at + 1;
    while (end < l->n && l->text[end] != quote) end += l->text[end] == '\\' ? 2 : 1;
    if (end >= l->n) {
        vouch_jinja_fail(l->run, "a string has no end");
        return;
    }
    char *out = vouch_jinja_take(l->run, end - l->at, 1);
    size_t n = 0;
    for (size_t i = l->at + 1; out && i < end; i++) {
        static const char from[] = "nrtbfav0\\'\"", to[] = "\n\r\t\b\f\a\v\0\\'\"";
        const char c = l->text[i];
        if (c != '\\') {
            out[n++] = c;
            continue;
        }
        const char escape = l->text[++i], *known = memchr(from, escape, sizeof from - 1);
        const size_t digits = escape == 'x' ? 2 : escape == 'u' ? 4 : escape == 'U' ? 8 : 0;
        const size_t wide = digits ? decode_hex(l, i + 1, digits, out + n) : 0;
        if (wide) {
            n += wide;
            i += digits;
        } else if (known) {
            out[n++] = to[known - from];
        } else if (escape != '\n') {
            out[n++] = '\\';
            out[n++] = escape;
        }
    }
    push(l, JINJA_STRING_TOKEN, (jinja_string){.bytes = out, .n = n});
    advance(l, end + 1);
}

static void lex_number(lexer *l)
{
    size_t end = l->at;
    bool is_float = false;
    while (end < l->n && (is_digit(l->text[end]) || l->text[end] == '_')) end++;
    if (end + 1 < l->n && l->text[end] == '.' && is_digit(l->text[end + 1])) {
        is_float = true;
        for (end++; end < l->n && (is_digit(l->text[end]) || l->text[end] == '_');) end++;
    }
    if (end < l->n && (l->text[end] == 'e' || l->text[end] == 'E')) {
        size_t digits = end + 1;
        if (digits < l->n && (l->text[digits] == '+' || l->text[digits] == '-')) digits++;
        if (digits < l->n && is_digit(l->text[digits])) {
            is_float = true;
            for (end = digits; end < l->n && is_digit(l->text[end]);) end++;
        }
    }
    push(l, is_float ? JINJA_FLOAT_TOKEN : JINJA_INT_TOKEN, piece(l, l->at, end));
    advance(l, end);
}

static bool lex_operator(lexer *l)
{
    static const char *const operators[] = {"//", "**", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<",
                                            ">",  "=",  "(",  ")",  "[",  "]",  "{", "}", ",", ":", ".", "|"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (!next_is(l, operators[i])) continue;
        push(l, JINJA_OPERATOR, vouch_jinja_literal(operators[i]));
        advance(l, l->at + strlen(operators[i]));
        return true;
    }
    return false;
}

/* Reads the tokens up to the tag's end. A } closes a dict before it closes the tag. */
static void lex_tag(lexer *l, const char *end, jinja_token_kind end_kind)
{
    const int32_t first_line = l->run->line;
    int32_t braces = 0;
    while (!l->run->failed) {
        while (l->at < l->n && is_space(l->text[l->at])) advance(l, l->at + 1);
        if (l->at == l->n) {
            l->run->line = first_line;
            vouch_jinja_fail(l->run, "a tag has no end: %s is missing", end);
            return;
        }
        const char c = l->text[l->at];
        const bool is_signed = (c == '-' || c == '+') && l->n - l->at > 2 && memcmp(l->text + l->at + 1, end, 2) == 0;
        if (braces == 0 && (is_signed || next_is(l, end))) {
            push(l, end_kind, piece(l, l->at, l->at));
            advance(l, l->at + (is_signed ? 3 : 2));
            close_tag(l, is_signed ? c : 0, end_kind == JINJA_BLOCK_END);
            return;
        }
        braces += (c == '{') - (c == '}');
        if (c == '"' || c == '\'') {
            lex_string(l);
        } else if (is_digit(c)) {
            lex_number(l);
        } else if (begins_name(c)) {
            size_t to = l->at;
            while (to < l->n && (begins_name(l->text[to]) || is_digit(l->text[to]))) to++;
            push(l, JINJA_NAME, piece(l, l->at, to));
            advance(l, to);
        } else if (!lex_operator(l)) {
            vouch_jinja_fail(l->run, "'%c' is not expected in a tag", c);
        }
    }
}

/* ------------------------------------------------------------------ between tags */

static void lex_comment(lexer *l)
{
    const int32_t first_line = l->run->line;
    while (l->at < l->n && !next_is(l, "#}")) advance(l, l->at + 1);
    if (l->at == l->n) {
        l->run->line = first_line;
        vouch_jinja_fail(l->run, "a comment has no end: #} is missing");
        return;
    }
    const char sign = l->text[l->at - 1];
    advance(l, l->at + 2);
    close_tag(l, sign == '-' || sign == '+' ? sign : 0, true);
}

/* Moves after {% name %} and returns true where it stands here; *sign and *end_sign are its signs. */
static bool take_word_tag(lexer *l, const char *name, char *sign, char *end_sign)
{
    size_t at = l->at + 2;
    *sign = at < l->n && (l->text[at] == '-' || l->text[at] == '+') ? l->text[at++] : 0;
    while (at < l->n && is_space(l->text[at])) at++;
    if (l->n - at < strlen(name) || memcmp(l->text + at, name, strlen(name)) != 0) return false;
    for (at += strlen(name); at < l->n && is_space(l->text[at]);) at++;
    *end_sign = at < l->n && (l->text[at] == '-' || l->text[at] == '+') ? l->text[at++] : 0;
    if (l->n - at < 2 || memcmp(l->text + at, "%}", 2) != 0) return false;
    advance(l, at + 2);
    return true;
}

static void lex_raw(lexer *l, char sign)
{
    const int32_t first_line = l->run->line;
    char end_sign;
    if (sign == '-')
        while (l->at < l->n && is_space(l->text[l->at])) advance(l, l->at + 1);
    for (const size_t begin = l->at; l->at < l->n; advance(l, l->at + 1)) {
        const size_t end = l->at;
        if (!next_is(l, "{%") || !take_word_tag(l, "endraw", &sign, &end_sign)) continue;
        push_data(l, begin, end, sign, false);
        close_tag(l, end_sign, true);
        return;
    }
    l->run->line = first_line;
    vouch_jinja_fail(l->run, "a raw block has no end: endraw is missing");
}

static void lex_all(lexer *l)
{
    while (l->at < l->n && !l->run->failed) {
        const size_t begin = l->at;
        while (l->at < l->n && !next_is(l, "{{") && !next_is(l, "{%") && !next_is(l, "{#")) advance(l, l->at + 1);
        const char kind = l->n - l->at > 1 ? l->text[l->at + 1] : 0;
        char sign = l->n - l->at > 2 ? l->text[l->at + 2] : 0, end_sign;
        if (sign != '-' && sign != '+') sign = 0;
        push_data(l, begin, l->at, l->at == l->n ? '+' : sign, kind == '{');
        if (l->at == l->n) break;
        l->line_starts = false;
        if (kind == '%' && take_word_tag(l, "raw", &sign, &end_sign)) {
            lex_raw(l, end_sign);
            continue;
        }
        if (kind != '#') push(l, kind == '{' ? JINJA_PRINT_BEGIN : JINJA_BLOCK_BEGIN, piece(l, l->at, l->at));
        advance(l, l->at + 2 + (sign != 0));
        if (kind == '#') {
            lex_comment(l);
        } else if (kind == '{') {
            lex_tag(l, "}}", JINJA_PRINT_END);
        } else {
            lex_tag(l, "%}", JINJA_BLOCK_END);
        }
    }
}

/* \r\n and \r become \n, and the last newline goes. */
static const char *normalize(jinja_run *run, const char *text, size_t *n)
{
    char *copy = vouch_jinja_take(run, *n + 1, 1);
    size_t used = 0;
    for (size_t i = 0; copy && i < *n; i++) {
        if (text[i] == '\r' && i + 1 < *n && text[i + 1] == '\n') continue;
        copy[used++] = text[i] == '\r' ? '\n' : text[i];
    }
    if (used > 0 && copy[used - 1] == '\n') used--;
    *n = used;
    return copy;
}

const jinja_token *vouch_jinja_lex(jinja_run *run, const char *text, size_t n)
{
    run->line = 1;
    lexer l = {.run = run, .line_starts = true};
    l.text = normalize(run, text, &n);
    l.n = n;
    if (!l.text) return NULL;
    lex_all(&l);
    push(&l, JINJA_END, vouch_jinja_literal(""));
    return run->failed ? NULL : l.tokens;
}
