/* SPDX-License-Identifier: MIT */
/* Sets of characters, and one character of a set as bytes of UTF-8. */
#ifndef VOUCH_TEXT_GRAMMAR_CHARACTERS_H
#define VOUCH_TEXT_GRAMMAR_CHARACTERS_H

#include "text/grammar/expression.h"

enum { VOUCH_LAST_CHARACTER = 0x10ffff };

typedef struct vouch_range {
    int32_t first, last;
} vouch_range;

/* A set of characters, zeroed at first. vouch_ranges_normalize sorts its ranges and joins those that touch. */
typedef struct vouch_ranges {
    vouch_range *ranges;
    int32_t n, room;
} vouch_ranges;

void vouch_ranges_free(vouch_ranges *ranges);
void vouch_ranges_add(vouch_builder *builder, vouch_ranges *ranges, int32_t first, int32_t last);
void vouch_ranges_normalize(vouch_ranges *ranges);
/* Replaces the set by all characters that are not in it. */
void vouch_ranges_invert(vouch_builder *builder, vouch_ranges *ranges);

/* One character in [first, last], as UTF-8. Surrogates are no characters and match nothing. */
vouch_expression vouch_expression_characters(vouch_builder *builder, int32_t first, int32_t last);
/* One character of the set. Frees the set. */
vouch_expression vouch_ranges_expression(vouch_builder *builder, vouch_ranges *ranges);

#endif
