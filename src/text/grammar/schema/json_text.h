/* SPDX-License-Identifier: MIT */
/*
 * Texts of JSON as expressions: characters within strings, white space, any value.
 *
 * A grammar allows one spelling of most texts, so that a model can't waste tokens: no space before a comma or a colon,
 * at most one space or one line end with an indentation elsewhere, numbers of at most 20 digits before and after the
 * point.
 */
#ifndef VOUCH_TEXT_GRAMMAR_JSON_TEXT_H
#define VOUCH_TEXT_GRAMMAR_JSON_TEXT_H

#include <jansson.h>

#include "format/gguf.h"
#include "text/grammar/characters.h"
#include "text/grammar/schema/decimal.h"

enum {
    VOUCH_JSON_DIGITS = 18,   /* most digits of an integer */
    VOUCH_JSON_FRACTION = 20, /* most digits after a point */
    VOUCH_JSON_DIVISOR = 1000
};
#define VOUCH_JSON_MOST INT64_C(999999999999999999)

/* Rules that a grammar has once; -1: not yet. */
typedef struct vouch_json_rules {
    int32_t space, character, value;
} vouch_json_rules;

#define VOUCH_JSON_RULES {-1, -1, -1}

typedef struct vouch_json_writer {
    vouch_builder *builder;
    vouch_json_rules rules;
    bool is_name; /* strings are names, whose characters have one spelling each, so that equal names have equal bytes */
} vouch_json_writer;

/* White space that may stand between parts of a value. */
vouch_expression vouch_json_space(vouch_json_writer *writer);
/* One character within a string, in any spelling. */
vouch_expression vouch_json_character(vouch_json_writer *writer);
/* One character of the set within a string: as it is, or as a short escape where it needs one. Frees the set. */
vouch_expression vouch_json_one_of(vouch_json_writer *writer, vouch_ranges *ranges);
/* A string of min to max characters; max -1: any number. */
vouch_expression vouch_json_string(vouch_json_writer *writer, int32_t min, int32_t max);
/* A string with exactly this text of n bytes of UTF-8, quotes included. */
vouch_expression vouch_json_string_of(vouch_json_writer *writer, const char *text, size_t n);
/* A string that has none of the n texts, which are sorted by their bytes. It spells each character in one way. */
vouch_expression vouch_json_string_except(vouch_json_writer *writer, const vouch_text *texts, int32_t n);
vouch_expression vouch_json_number(vouch_json_writer *writer);
/* A number that is no integer, of at most 9 digits before the point and 6 after it, which a double keeps apart. */
vouch_expression vouch_json_fraction(vouch_json_writer *writer);
/* An integer in [min, max], of at most 18 digits. */
vouch_expression vouch_json_integer(vouch_json_writer *writer, int64_t min, int64_t max);
/* An integer of any length: its digits, without zeros in front. */
typedef struct vouch_whole {
    bool is_negative;
    char digits[VOUCH_DECIMAL_DIGITS + 2];
} vouch_whole;
/* An integer in [min, max]; NULL: no bound. It has at most 18 digits, or one more than its bounds. */
vouch_expression vouch_json_whole(vouch_json_writer *writer, const vouch_whole *min, const vouch_whole *max);
/* A bound of numbers, without its sign: 273.15 is {273, "15"}. */
typedef struct vouch_bound {
    int64_t whole;
    char fraction[VOUCH_JSON_FRACTION + 1]; /* digits after the point; "": none */
    bool is_open;                           /* the bound itself is left out */
    bool is_negative;
} vouch_bound;

/* A number in [min, max], without an exponent; NULL: no bound. It has at most 15 digits, or as many as its bounds have:
 * with more digits, a double could round it to a bound that is itself left out. */
vouch_expression vouch_json_number_in(vouch_json_writer *writer, const vouch_bound *min, const vouch_bound *max);
/* An integer in [min, max] that `of` divides, 1 to VOUCH_JSON_DIVISOR. */
vouch_expression vouch_json_multiple(vouch_json_writer *writer, int64_t min, int64_t max, int32_t of);
/* Exactly this value, with white space where it may stand. */
vouch_expression vouch_json_constant(vouch_json_writer *writer, const json_t *value);
vouch_expression vouch_json_any(vouch_json_writer *writer);
/* After a name that is the first of its kind: any number of members (max -1: any) that begin with such a name. */
vouch_expression vouch_json_more_names(vouch_json_writer *writer, vouch_expression name, vouch_expression member,
                                       int32_t min, int32_t max);
/* The rest of a list after its first item: min to max times a comma and `item`; max -1: any number. */
vouch_expression vouch_json_more(vouch_json_writer *writer, vouch_expression item, int32_t min, int32_t max);

#endif
