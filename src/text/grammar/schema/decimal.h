/* SPDX-License-Identifier: MIT */
/*
 * Numbers of JSON by their text, so that none loses a digit: integers of any length, any exponent.
 *
 * Jansson stores a number as a 64-bit integer or a double. vouch_decimal_load gives it a text in which every other
 * number is a string: VOUCH_DECIMAL_MARK, a character that no text has, and the number as written. In strings, the mark
 * stands for the backslash of an escape that Jansson refuses: of NUL, or of half a pair of surrogates.
 */
#ifndef VOUCH_TEXT_GRAMMAR_DECIMAL_H
#define VOUCH_TEXT_GRAMMAR_DECIMAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define VOUCH_DECIMAL_MARK "\xef\xb7\x90" /* U+FDD0 */
#define VOUCH_DECIMAL_ESCAPE VOUCH_DECIMAL_MARK "u"

enum { VOUCH_DECIMAL_DIGITS = 400 }; /* most digits before the point of a number that is written without an exponent */

/* The number as a text; `room` is for one of Jansson's. */
typedef struct vouch_decimal {
    char room[24];
    const char *text;
} vouch_decimal;

/* As json_loadb. With n_read, text may follow the value, which is an object, an array or a word; *n_read: its bytes. */
json_t *vouch_decimal_load(const char *text, size_t n, size_t *n_read, json_error_t *flaw);
bool vouch_decimal_is(const json_t *value);
/* A string that isn't a number. */
bool vouch_decimal_is_text(const json_t *value);
/* The text of a number; of other values that of 0. It is valid as long as both. */
const char *vouch_decimal_text(const json_t *number, vouch_decimal *out);
double vouch_decimal_value(const json_t *number);
bool vouch_decimal_is_whole(const json_t *number);
/* Below, equal to or above 0, as x is below, equal to or above y. */
int vouch_decimal_compare(const json_t *x, const json_t *y);
/* Whether y is a whole multiple of x, which isn't 0; exact where x has at most 18 digits. */
bool vouch_decimal_divides(const json_t *x, const json_t *y);
/* The digits before and after the point, without zeros at the outer ends ("0" before it at least). False: more than
 * VOUCH_DECIMAL_DIGITS before it. Digits after it are cut at `most`; *is_cut: some that aren't 0. */
bool vouch_decimal_expand(const json_t *number, char whole[VOUCH_DECIMAL_DIGITS + 2], char *fraction, int most,
                          bool *is_negative, bool *is_cut);

#endif
