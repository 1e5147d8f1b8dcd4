/* SPDX-License-Identifier: MIT */
/* Texts of JSON (json_text.h). */
#include "text/grammar/schema/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/unicode.h"

enum { LONGEST_INDENT = 24, DIGITS = VOUCH_JSON_FRACTION, EXPONENT_DIGITS = 3 };

/* Characters with a short escape, and the letters of these escapes. \u00NN spells the other control characters. */
static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";

#define LITERAL(text) vouch_expression_literal(b, text)
#define BYTES(first, last) vouch_expression_byte_range(b, first, last)

/* Begins a rule that the grammar has once. False where it has the rule already. Names have a space, so that they are no
 * names of GBNF, where a schema may be a part. */
static bool begin_rule(vouch_json_writer *w, int32_t *rule, const char *name)
{
    if (*rule >= 0) return false;
    *rule = vouch_builder_rule(w->builder, name, strlen(name));
    return true;
}

vouch_expression vouch_json_space(vouch_json_writer *writer)
{
    vouch_builder *b = writer->builder;
    if (begin_rule(writer, &writer->rules.space, "JSON space")) {
        const vouch_expression indent = vouch_expression_either(b, 2, BYTES(' ', ' '), BYTES('\t', '\t'));
        const vouch_expression line =
            vouch_expression_join(b, 2, BYTES('\n', '\n'), vouch_expression_repeat(b, indent, 0, LONGEST_INDENT));
        vouch_builder_define(b, writer->rules.space,
                             vouch_expression_optional(b, vouch_expression_either(b, 2, BYTES(' ', ' '), line)));
    }
    return vouch_expression_rule(b, writer->rules.space);
}

/* -------------------------------------------------------------- characters */

static vouch_expression hex(vouch_builder *b)
{
    return vouch_expression_either(b, 3, BYTES('0', '9'), BYTES('a', 'f'), BYTES('A', 'F'));
}

static vouch_expression d_or_D(vouch_builder *b)
{
    return vouch_expression_either(b, 2, BYTES('d', 'd'), BYTES('D', 'D'));
}

/* \uNNNN: a character of 16 bits, or two surrogates. */
static vouch_expression hex_escape(vouch_builder *b)
{
    const vouch_expression h = hex(b);
    const vouch_expression high = vouch_expression_either(b, 3, BYTES('8', '9'), BYTES('a', 'b'), BYTES('A', 'B'));
    const vouch_expression low = vouch_expression_either(b, 2, BYTES('c', 'f'), BYTES('C', 'F'));
    const vouch_expression first = vouch_expression_either(b, 5, BYTES('0', '9'), BYTES('a', 'c'), BYTES('A', 'C'),
                                                           BYTES('e', 'f'), BYTES('E', 'F'));
    const vouch_expression other = vouch_expression_join(b, 4, first, h, h, h);
    const vouch_expression below = vouch_expression_join(b, 4, d_or_D(b), BYTES('0', '7'), h, h);
    const vouch_expression pair =
        vouch_expression_join(b, 9, d_or_D(b), high, h, h, LITERAL("\\u"), d_or_D(b), low, h, h);
    return vouch_expression_join(b, 2, LITERAL("\\u"), vouch_expression_either(b, 3, other, below, pair));
}

/* Adds the characters that a string of JSON holds without an escape. */
static void add_raw(vouch_builder *b, vouch_ranges *ranges)
{
    vouch_ranges_add(b, ranges, ' ', '"' - 1);
    vouch_ranges_add(b, ranges, '"' + 1, '\\' - 1);
    vouch_ranges_add(b, ranges, '\\' + 1, VOUCH_LAST_CHARACTER);
}

vouch_expression vouch_json_character(vouch_json_writer *writer)
{
    vouch_builder *b = writer->builder;
    if (begin_rule(writer, &writer->rules.character, "JSON character")) {
        vouch_ranges raw = {0};
        vouch_parts parts = {0};
        add_raw(b, &raw);
        vouch_parts_add(b, &parts, vouch_ranges_expression(b, &raw));
        for (const char *l = letters; *l; l++)
            vouch_parts_add(b, &parts, vouch_expression_join(b, 2, BYTES('\\', '\\'), BYTES(*l, *l)));
        vouch_parts_add(b, &parts, LITERAL("\\/"));
        vouch_parts_add(b, &parts, hex_escape(b));
        vouch_builder_define(b, writer->rules.character, vouch_expression_choice(b, &parts));
    }
    return vouch_expression_rule(b, writer->rules.character);
}

/* Writes a character below 0x80 as a string of JSON spells it, and a NUL. */
static void spell(int character, char out[8])
{
    const char *at = character > 0 ? strchr(escaped, character) : NULL;
    if (at) snprintf(out, 8, "\\%c", letters[at - escaped]);
    else if (character < ' ') snprintf(out, 8, "\\u%04x", (unsigned)character & 0xff);
    else snprintf(out, 8, "%c", character);
}

vouch_expression vouch_json_one_of(vouch_json_writer *writer, vouch_ranges *ranges)
{
    vouch_builder *b = writer->builder;
    vouch_ranges raw = {0};
    vouch_parts parts = {0};
    vouch_ranges_normalize(ranges);
    for (int32_t i = 0; i < ranges->n; i++) {
        const vouch_range r = ranges->ranges[i];
        for (int32_t c = r.first; c <= r.last && c <= '\\'; c++) {
            char spelling[8];
            spell(c, spelling);
            if (spelling[0] == '\\') vouch_parts_add(b, &parts, LITERAL(spelling));
            else vouch_ranges_add(b, &raw, c, c);
        }
        vouch_ranges_add(b, &raw, r.first > '\\' ? r.first : '\\' + 1, r.last);
    }
    vouch_ranges_free(ranges);
    vouch_parts_add(b, &parts, vouch_ranges_expression(b, &raw));
    return vouch_expression_choice(b, &parts);
}

/* ------------------------------------------------------------------ strings */

vouch_expression vouch_json_string(vouch_json_writer *writer, int32_t min, int32_t max)
{
    vouch_builder *b = writer->builder;
    vouch_ranges all = {0};
    if (writer->is_name) vouch_ranges_add(b, &all, 0, VOUCH_LAST_CHARACTER);
    const vouch_expression character = writer->is_name ? vouch_json_one_of(writer, &all) : vouch_json_character(writer);
    return vouch_expression_join(b, 3, LITERAL("\""), vouch_expression_repeat(b, character, min, max), LITERAL("\""));
}

/* Adds the units, whole characters or escapes, that spell text[n]. */
static void add_units(vouch_builder *b, vouch_parts *parts, const char *text, size_t n)
{
    static const char escape[] = VOUCH_DECIMAL_ESCAPE;
    for (size_t i = 0; i < n;) {
        const size_t length = vouch_utf8_length(text + i, n - i);
        char spelling[8];
        if (n - i >= sizeof escape - 1 + 4 && memcmp(text + i, escape, sizeof escape - 1) == 0) {
            snprintf(spelling, sizeof spelling, "\\u%.4s", text + i + sizeof escape - 1);
            vouch_parts_add(b, parts, LITERAL(spelling));
            i += sizeof escape - 1 + 4;
            continue;
        }
        if (length == 0) {
            vouch_builder_fail(b, VOUCH_E_ARGUMENT, "the schema has a string that is not UTF-8");
            return;
        }
        spell((unsigned char)text[i], spelling);
        vouch_parts_add(b, parts, length > 1 ? vouch_expression_text(b, text + i, length) : LITERAL(spelling));
        i += length;
    }
}

vouch_expression vouch_json_string_of(vouch_json_writer *writer, const char *text, size_t n)
{
    vouch_builder *b = writer->builder;
    vouch_parts parts = {0};
    vouch_parts_add(b, &parts, LITERAL("\""));
    add_units(b, &parts, text, n);
    vouch_parts_add(b, &parts, LITERAL("\""));
    return vouch_expression_sequence(b, &parts);
}

static vouch_expression plain_rest(vouch_json_writer *w)
{
    vouch_builder *b = w->builder;
    vouch_ranges all = {0};
    vouch_ranges_add(b, &all, 0, VOUCH_LAST_CHARACTER);
    const vouch_expression rest = vouch_expression_repeat(b, vouch_json_one_of(w, &all), 0, -1);
    return vouch_expression_shared(b, vouch_expression_join(b, 2, rest, LITERAL("\"")));
}

/* The rest of a string and its quote, where all n sorted texts begin with the `depth` bytes so far: any rest that makes
 * the string none of these texts. `rest`: any characters up to the quote. */
static vouch_expression except(vouch_json_writer *w, const vouch_text *texts, int32_t n, size_t depth,
                               vouch_expression rest)
{
    vouch_builder *b = w->builder;
    vouch_ranges others = {0};
    vouch_parts parts = {0};
    int32_t i = 0;
    while (i < n && texts[i].size == depth) i++;
    if (i == 0) vouch_parts_add(b, &parts, LITERAL("\""));
    while (i < n && b->status == VOUCH_OK) {
        const char *at = texts[i].data + depth;
        const size_t length = vouch_utf8_length(at, texts[i].size - depth);
        int32_t past = i;
        if (length == 0) {
            vouch_builder_fail(b, VOUCH_E_ARGUMENT, "the schema has a name that is not UTF-8");
            break;
        }
        while (past < n && texts[past].size >= depth + length && memcmp(texts[past].data + depth, at, length) == 0)
            past++;
        const int32_t character = vouch_utf8_decode(at, length);
        vouch_ranges one = {0};
        vouch_ranges_add(b, &one, character, character);
        vouch_ranges_add(b, &others, character, character);
        const vouch_expression unit = vouch_json_one_of(w, &one);
        vouch_parts_add(b, &parts,
                        vouch_expression_join(b, 2, unit, except(w, texts + i, past - i, depth + length, rest)));
        i = past;
    }
    vouch_ranges_invert(b, &others);
    vouch_parts_add(b, &parts, vouch_expression_join(b, 2, vouch_json_one_of(w, &others), rest));
    return vouch_expression_choice(b, &parts);
}

vouch_expression vouch_json_string_except(vouch_json_writer *writer, const vouch_text *texts, int32_t n)
{
    vouch_builder *b = writer->builder;
    return vouch_expression_join(b, 2, LITERAL("\""), except(writer, texts, n, 0, plain_rest(writer)));
}

/* ------------------------------------------------------------------ numbers */

static vouch_expression digits(vouch_builder *b, int32_t min, int32_t max)
{
    return vouch_expression_repeat(b, BYTES('0', '9'), min, max);
}

vouch_expression vouch_json_number(vouch_json_writer *writer)
{
    vouch_builder *b = writer->builder;
    const vouch_expression whole =
        vouch_expression_either(b, 2, BYTES('0', '0'),
                                vouch_expression_join(b, 2, BYTES('1', '9'), digits(b, 0, DIGITS - 1)));
    const vouch_expression part = vouch_expression_join(b, 2, BYTES('.', '.'), digits(b, 1, DIGITS));
    const vouch_expression sign = vouch_expression_either(b, 2, BYTES('+', '+'), BYTES('-', '-'));
    const vouch_expression power =
        vouch_expression_join(b, 3, vouch_expression_either(b, 2, BYTES('e', 'e'), BYTES('E', 'E')),
                              vouch_expression_optional(b, sign), digits(b, 1, EXPONENT_DIGITS));
    return vouch_expression_join(b, 4, vouch_expression_optional(b, BYTES('-', '-')), whole,
                                 vouch_expression_optional(b, part), vouch_expression_optional(b, power));
}

vouch_expression vouch_json_fraction(vouch_json_writer *writer)
{
    vouch_builder *b = writer->builder;
    const vouch_expression whole =
        vouch_expression_either(b, 2, BYTES('0', '0'), vouch_expression_join(b, 2, BYTES('1', '9'), digits(b, 0, 8)));
    return vouch_expression_join(b, 5, vouch_expression_optional(b, BYTES('-', '-')), whole, BYTES('.', '.'),
                                 digits(b, 0, 5), BYTES('1', '9'));
}

/* The numbers from `low` to `high`, both texts of n digits. */
static vouch_expression digits_between(vouch_builder *b, const char *low, const char *high, int n)
{
    char end[VOUCH_DECIMAL_DIGITS + 2];
    if (n == 0) return vouch_expression_empty(b);
    if (low[0] == high[0])
        return vouch_expression_join(b, 2, BYTES(low[0], low[0]), digits_between(b, low + 1, high + 1, n - 1));
    vouch_parts parts = {0};
    int first = (unsigned char)low[0], last = (unsigned char)high[0];
    if (strspn(low + 1, "0") < (size_t)(n - 1)) {
        memset(end, '9', (size_t)n - 1);
        end[n - 1] = '\0';
        const vouch_expression rest = digits_between(b, low + 1, end, n - 1);
        vouch_parts_add(b, &parts, vouch_expression_join(b, 2, BYTES(first, first), rest));
        first++;
    }
    const bool is_partial = strspn(high + 1, "9") < (size_t)(n - 1);
    if (first <= last - is_partial)
        vouch_parts_add(b, &parts,
                        vouch_expression_join(b, 2, BYTES(first, last - is_partial), digits(b, n - 1, n - 1)));
    if (is_partial) {
        memset(end, '0', (size_t)n - 1);
        end[n - 1] = '\0';
        const vouch_expression rest = digits_between(b, end, high + 1, n - 1);
        vouch_parts_add(b, &parts, vouch_expression_join(b, 2, BYTES(last, last), rest));
    }
    return vouch_expression_choice(b, &parts);
}

static int compare_digits(const char *x, const char *y)
{
    const size_t n = strlen(x), m = strlen(y);
    return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

/* Adds the numbers from low to high, both digits without zeros in front. */
static void add_between(vouch_builder *b, vouch_parts *parts, const char *low, const char *high, const char *sign)
{
    char from[VOUCH_DECIMAL_DIGITS + 2], to[VOUCH_DECIMAL_DIGITS + 2];
    const size_t last = strlen(high);
    for (size_t n = strlen(low); n <= last && compare_digits(low, high) <= 0; n++) {
        memset(from, '0', n);
        memset(to, '9', n);
        from[0] = '1';
        from[n] = to[n] = '\0';
        const char *least = n == strlen(low) ? low : from, *most = n == last ? high : to;
        vouch_parts_add(b, parts, vouch_expression_join(b, 2, LITERAL(sign), digits_between(b, least, most, (int)n)));
    }
}

/* The largest number of so many digits as one may have beside a bound. */
static void fill_nines(char out[VOUCH_DECIMAL_DIGITS + 2], const vouch_whole *bound)
{
    size_t n = bound ? strlen(bound->digits) + 1 : 0;
    if (n < VOUCH_JSON_DIGITS + 1) n = VOUCH_JSON_DIGITS;
    if (n > VOUCH_DECIMAL_DIGITS) n = VOUCH_DECIMAL_DIGITS;
    memset(out, '9', n);
    out[n] = '\0';
}

vouch_expression vouch_json_whole(vouch_json_writer *writer, const vouch_whole *min, const vouch_whole *max)
{
    vouch_builder *b = writer->builder;
    vouch_parts parts = {0};
    char nines[VOUCH_DECIMAL_DIGITS + 2];
    if (!min || min->is_negative) {
        fill_nines(nines, max);
        add_between(b, &parts, max && max->is_negative ? max->digits : "1", min ? min->digits : nines, "-");
    }
    if (!max || !max->is_negative) {
        fill_nines(nines, min);
        add_between(b, &parts, min && !min->is_negative ? min->digits : "0", max ? max->digits : nines, "");
    }
    return vouch_expression_choice(b, &parts);
}

vouch_expression vouch_json_integer(vouch_json_writer *writer, int64_t min, int64_t max)
{
    vouch_whole low = {.is_negative = min < 0}, high = {.is_negative = max < 0};
    if (min < -VOUCH_JSON_MOST) min = -VOUCH_JSON_MOST;
    if (max > VOUCH_JSON_MOST) max = VOUCH_JSON_MOST;
    snprintf(low.digits, sizeof low.digits, "%" PRId64, min < 0 ? -min : min);
    snprintf(high.digits, sizeof high.digits, "%" PRId64, max < 0 ? -max : max);
    return vouch_json_whole(writer, &low, &high);
}

/* ------------------------------------------------------------------- values */

/* [ items ] or { items }, where the items are given with their commas. */
static vouch_expression enclosed(vouch_json_writer *w, const char *open, vouch_expression items, const char *close)
{
    vouch_builder *b = w->builder;
    return vouch_expression_join(b, 5, LITERAL(open), vouch_json_space(w), items, vouch_json_space(w), LITERAL(close));
}

vouch_expression vouch_json_more(vouch_json_writer *writer, vouch_expression item, int32_t min, int32_t max)
{
    vouch_builder *b = writer->builder;
    return vouch_expression_repeat(b, vouch_expression_join(b, 3, LITERAL(","), vouch_json_space(writer), item), min,
                                   max);
}

vouch_expression vouch_json_more_names(vouch_json_writer *writer, vouch_expression name, vouch_expression member,
                                       int32_t min, int32_t max)
{
    vouch_builder *b = writer->builder;
    const vouch_expression one =
        vouch_expression_shared(b, vouch_expression_join(b, 3, LITERAL(","), vouch_json_space(writer), member));
    const vouch_expression more = vouch_expression_join(b, 2, vouch_expression_room(b, name), one);
    return vouch_expression_join(b, 2, vouch_expression_repeat(b, one, min, min),
                                 vouch_expression_repeat(b, more, 0, max < 0 ? -1 : max - min));
}

/* Any number of items. */
static vouch_expression list_of(vouch_json_writer *w, vouch_expression item)
{
    vouch_builder *b = w->builder;
    item = vouch_expression_shared(b, item);
    return vouch_expression_optional(b, vouch_expression_join(b, 2, item, vouch_json_more(w, item, 0, -1)));
}

/* As the schema writes it; a whole number with a fraction of zeros also without that. */
static vouch_expression number_constant(vouch_json_writer *w, const json_t *value)
{
    vouch_builder *b = w->builder;
    vouch_decimal room;
    const char *text = vouch_decimal_text(value, &room), *point = strchr(text, '.');
    const vouch_expression written = LITERAL(text);
    if (!point || point[1 + strspn(point + 1, "0")]) return written;
    const bool is_zero = text[strspn(text, "-0.")] == '\0';
    return vouch_expression_either(b, 2, written,
                                   is_zero ? LITERAL("0") : vouch_expression_text(b, text, (size_t)(point - text)));
}

vouch_expression vouch_json_constant(vouch_json_writer *writer, const json_t *value)
{
    vouch_builder *b = writer->builder;
    vouch_parts parts = {0};
    if (vouch_decimal_is(value)) return number_constant(writer, value);
    switch (json_typeof(value)) {
    case JSON_NULL: return LITERAL("null");
    case JSON_TRUE: return LITERAL("true");
    case JSON_FALSE: return LITERAL("false");
    case JSON_STRING: return vouch_json_string_of(writer, json_string_value(value), json_string_length(value));
    case JSON_ARRAY:
        for (size_t i = 0; i < json_array_size(value); i++) {
            const vouch_expression item = vouch_json_constant(writer, json_array_get(value, i));
            vouch_parts_add(b, &parts, i == 0 ? item : vouch_json_more(writer, item, 1, 1));
        }
        return enclosed(writer, "[", vouch_expression_sequence(b, &parts), "]");
    default: break;
    }
    for (void *at = json_object_iter((json_t *)(uintptr_t)value); at;
         at = json_object_iter_next((json_t *)(uintptr_t)value, at)) {
        const char *name = json_object_iter_key(at);
        const vouch_expression member =
            vouch_expression_join(b, 4, vouch_json_string_of(writer, name, json_object_iter_key_len(at)), LITERAL(":"),
                                  vouch_json_space(writer), vouch_json_constant(writer, json_object_iter_value(at)));
        vouch_parts_add(b, &parts, parts.n == 0 ? member : vouch_json_more(writer, member, 1, 1));
    }
    return enclosed(writer, "{", vouch_expression_sequence(b, &parts), "}");
}

vouch_expression vouch_json_any(vouch_json_writer *writer)
{
    vouch_builder *b = writer->builder;
    if (begin_rule(writer, &writer->rules.value, "JSON value")) {
        const vouch_expression value = vouch_expression_rule(b, writer->rules.value);
        const vouch_expression string = vouch_expression_shared(b, vouch_json_string(writer, 0, -1));
        const vouch_expression name = vouch_expression_name(b, vouch_json_string_except(writer, NULL, 0), false);
        const vouch_expression member =
            vouch_expression_shared(b,
                                    vouch_expression_join(b, 4, name, LITERAL(":"), vouch_json_space(writer), value));
        const vouch_expression members =
            vouch_expression_optional(b, vouch_expression_join(b, 2, member,
                                                               vouch_json_more_names(writer, name, member, 0, -1)));
        const vouch_expression any =
            vouch_expression_either(b, 7, LITERAL("null"), LITERAL("true"), LITERAL("false"), string,
                                    vouch_json_number(writer), enclosed(writer, "[", list_of(writer, value), "]"),
                                    enclosed(writer, "{", vouch_expression_object(b, members), "}"));
        vouch_builder_define(b, writer->rules.value, any);
    }
    return vouch_expression_rule(b, writer->rules.value);
}
