/* SPDX-License-Identifier: MIT */
/*
 * Numbers between two bounds, and multiples (json_text.h). A number is written digit by digit. As long as the digits so
 * far are those of a bound, the next one is limited; from the first other digit on, all are free:
 *
 *     2.5 to 10.25     2. [5-9] d*     [3-9] (. d+)?     10 (. [01] d* | . 2 ([0-4] d* | 5 0*))?
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/grammar/schema/json_text.h"

enum { SAFE_DIGITS = 15 }; /* doubles tell all numbers of so many digits apart */

static vouch_expression digit(vouch_builder *b, int first, int last)
{
    return vouch_expression_byte_range(b, first, last);
}

static vouch_expression free_digits(vouch_builder *b, int32_t min, int32_t max)
{
    return vouch_expression_repeat(b, digit(b, '0', '9'), min, max > min ? max : min);
}

/* --------------------------------------------------------------- fractions */

/* What is left of the bounds' digits where the digits so far are those of the bound; NULL: they are others. */
typedef struct edges {
    const char *low, *high;
    bool low_is_open, high_is_open;
} edges;

static bool is_zero(const char *digits)
{
    return digits[strspn(digits, "0")] == '\0';
}

/* Whether the number may end here, as if zeros followed. */
static bool may_end(const edges *e)
{
    const bool above = !e->low || (is_zero(e->low) && !e->low_is_open);
    return above && (!e->high || !is_zero(e->high) || !e->high_is_open);
}

static const char *after(const char *digits)
{
    return *digits ? digits + 1 : digits;
}

/* At most `left` more digits; with `needs_one` at least one. */
static vouch_expression fraction(vouch_builder *b, edges e, int32_t left, bool needs_one)
{
    vouch_parts parts = {0};
    if (e.low && !*e.low && !e.low_is_open) e.low = NULL;
    if (!e.low && !e.high) return free_digits(b, needs_one, left);
    const int low = e.low && *e.low ? *e.low : '0', high = !e.high ? '9' : *e.high ? *e.high : '0';
    if (!needs_one && may_end(&e)) vouch_parts_add(b, &parts, vouch_expression_empty(b));
    for (int c = low; c <= high && left > 0; c++) {
        const bool at_low = e.low && c == low, at_high = e.high && c == high;
        if (!at_low && !at_high) {
            const int last = e.high ? high - 1 : high;
            vouch_parts_add(b, &parts, vouch_expression_join(b, 2, digit(b, c, last), free_digits(b, 0, left - 1)));
            c = last;
            continue;
        }
        const edges next = {at_low ? after(e.low) : NULL, at_high ? after(e.high) : NULL, e.low_is_open,
                            e.high_is_open};
        vouch_parts_add(b, &parts, vouch_expression_join(b, 2, digit(b, c, c), fraction(b, next, left - 1, false)));
    }
    return vouch_expression_choice(b, &parts);
}

/* The whole part `whole` with a fraction between the edges, or without one. */
static vouch_expression with_fraction(vouch_json_writer *w, int64_t whole, edges e, int32_t n_digits)
{
    vouch_builder *b = w->builder;
    const vouch_expression part = vouch_expression_join(b, 2, digit(b, '.', '.'), fraction(b, e, n_digits, true));
    return vouch_expression_join(b, 2, vouch_json_integer(w, whole, whole),
                                 may_end(&e) ? vouch_expression_optional(b, part) : part);
}

/* ------------------------------------------------------------------ numbers */

static int32_t digits_of(int64_t whole)
{
    int32_t n = 1;
    while (whole /= 10) n++;
    return n;
}

/* The most digits after the point. */
static int32_t fraction_digits(const vouch_bound *low, const vouch_bound *high)
{
    int32_t most = VOUCH_JSON_FRACTION, least = 1;
    const vouch_bound *const bounds[] = {low, high};
    for (int i = 0; i < 2; i++) {
        if (!bounds[i]) continue;
        const int32_t n = (int32_t)strlen(bounds[i]->fraction), safe = SAFE_DIGITS - digits_of(bounds[i]->whole);
        if (safe < most) most = safe;
        if (n > least) least = n;
    }
    return most > least ? most : least;
}

/* Numbers from `low`, which isn't below 0, to `high`; NULL: no bound. */
static vouch_expression unsigned_in(vouch_json_writer *w, const vouch_bound *low, const vouch_bound *high)
{
    vouch_builder *b = w->builder;
    const int32_t n = fraction_digits(low, high);
    const vouch_expression any = vouch_expression_join(b, 2, digit(b, '.', '.'), free_digits(b, 1, n));
    vouch_parts parts = {0};
    if (high && high->whole == low->whole)
        return with_fraction(w, low->whole, (edges){low->fraction, high->fraction, low->is_open, high->is_open}, n);
    vouch_parts_add(b, &parts, with_fraction(w, low->whole, (edges){low->fraction, NULL, low->is_open, false}, n));
    const int64_t last = high ? high->whole - 1 : VOUCH_JSON_MOST;
    if (low->whole < last)
        vouch_parts_add(b, &parts,
                        vouch_expression_join(b, 2, vouch_json_integer(w, low->whole + 1, last),
                                              vouch_expression_optional(b, any)));
    if (high && high->whole > low->whole)
        vouch_parts_add(b, &parts,
                        with_fraction(w, high->whole, (edges){NULL, high->fraction, false, high->is_open}, n));
    return vouch_expression_choice(b, &parts);
}

static bool is_null(const vouch_bound *bound)
{
    return bound->whole == 0 && is_zero(bound->fraction);
}

vouch_expression vouch_json_number_in(vouch_json_writer *writer, const vouch_bound *min, const vouch_bound *max)
{
    vouch_builder *b = writer->builder;
    const vouch_bound zero = {0};
    vouch_parts parts = {0};
    if (!max || (!max->is_negative && !(is_null(max) && max->is_open)))
        vouch_parts_add(b, &parts, unsigned_in(writer, min && !min->is_negative ? min : &zero, max));
    if (!min || min->is_negative) {
        const bool is_below = max && (max->is_negative || is_null(max));
        vouch_parts_add(b, &parts,
                        vouch_expression_join(b, 2, digit(b, '-', '-'),
                                              unsigned_in(writer, is_below ? max : &zero, min)));
    }
    return vouch_expression_choice(b, &parts);
}

/* ---------------------------------------------------------------- multiples */

enum { UNKNOWN, NONE, FIRST }; /* of `rests`: FIRST + the number of a rule */

typedef struct multiples {
    vouch_builder *builder;
    int32_t of;
    int32_t *rests; /* [VOUCH_JSON_DIGITS + 1][of] the rule for so many more digits after digits with this remainder */
} multiples;

/* Adds `c` and what may follow; `rest` NONE: nothing may. */
static void add_digit(multiples *m, vouch_parts *parts, int c, int32_t rest)
{
    if (rest == NONE) return;
    vouch_builder *b = m->builder;
    const vouch_expression one = digit(b, c, c);
    vouch_parts_add(b, parts,
                    rest == UNKNOWN ? one : vouch_expression_join(b, 2, one, vouch_expression_rule(b, rest - FIRST)));
}

/* n more digits, so that `of` divides the whole number. Returns NONE, a rule, or UNKNOWN where nothing is left to
 * write. */
static int32_t rest_of(multiples *m, int32_t n, int32_t remainder)
{
    if (n == 0) return remainder == 0 ? UNKNOWN : NONE;
    int32_t *known = &m->rests[n * m->of + remainder];
    if (*known != UNKNOWN || m->builder->status != VOUCH_OK) return *known ? *known : NONE;
    vouch_parts parts = {0};
    for (int c = '0'; c <= '9'; c++) add_digit(m, &parts, c, rest_of(m, n - 1, (remainder * 10 + c - '0') % m->of));
    *known = NONE;
    if (parts.n > 0) {
        const int32_t rule = vouch_builder_rule(m->builder, "JSON multiple", 13);
        vouch_builder_define(m->builder, rule, vouch_expression_choice(m->builder, &parts));
        *known = FIRST + rule;
    }
    return *known;
}

/* The multiples with n digits from `low` to `high`, after digits with this remainder; NULL: no bound. False: there is
 * none. */
static bool between(multiples *m, const char *low, const char *high, int32_t n, int32_t remainder,
                    vouch_expression *out)
{
    vouch_builder *b = m->builder;
    vouch_parts parts = {0};
    if (n == 0) {
        *out = vouch_expression_empty(b);
        return remainder == 0;
    }
    for (int c = low ? *low : '0'; c <= (high ? *high : '9'); c++) {
        const bool at_low = low && c == *low, at_high = high && c == *high;
        const int32_t next = (remainder * 10 + c - '0') % m->of;
        vouch_expression rest;
        if (!at_low && !at_high) add_digit(m, &parts, c, rest_of(m, n - 1, next));
        else if (between(m, at_low ? low + 1 : NULL, at_high ? high + 1 : NULL, n - 1, next, &rest))
            vouch_parts_add(b, &parts, vouch_expression_join(b, 2, digit(b, c, c), rest));
    }
    const bool found = parts.n > 0;
    *out = vouch_expression_choice(b, &parts);
    return found;
}

/* Adds the multiples from low to high, neither below 0. */
static void add_multiples(multiples *m, vouch_parts *parts, int64_t low, int64_t high, const char *sign)
{
    vouch_builder *b = m->builder;
    for (int64_t from = low; from <= high;) {
        char text[2][24];
        vouch_expression number;
        int64_t last = 9; /* of the numbers with as many digits */
        for (int32_t i = 1; i < digits_of(from); i++) last = last * 10 + 9;
        if (last > high) last = high;
        snprintf(text[0], sizeof text[0], "%" PRId64, from);
        snprintf(text[1], sizeof text[1], "%" PRId64, last);
        if (between(m, text[0], text[1], digits_of(from), 0, &number))
            vouch_parts_add(b, parts, vouch_expression_join(b, 2, vouch_expression_literal(b, sign), number));
        from = last + 1;
    }
}

vouch_expression vouch_json_multiple(vouch_json_writer *writer, int64_t min, int64_t max, int32_t of)
{
    vouch_builder *b = writer->builder;
    vouch_parts parts = {0};
    multiples m = {.builder = b, .of = of, .rests = calloc((VOUCH_JSON_DIGITS + 1) * (size_t)of, sizeof *m.rests)};
    if (!m.rests) return vouch_builder_fail(b, VOUCH_E_MEMORY, "not enough memory for the schema");
    if (min < 0) add_multiples(&m, &parts, max < 0 ? -max : 1, -min, "-");
    if (max >= 0) add_multiples(&m, &parts, min > 0 ? min : 0, max, "");
    free(m.rests);
    return vouch_expression_choice(b, &parts);
}
