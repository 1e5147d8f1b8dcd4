/* SPDX-License-Identifier: MIT */
/*
 * Any text up to the first occurrence of a mark, and the mark. There is a rule for each number of the mark's first
 * characters that the text so far ends with (Knuth, Morris and Pratt). Each rule ends with another one, so there is no
 * stack:
 *
 *     mark "</"    rule 0 ::= "<" rule 1 | [^<] rule 0
 *                  rule 1 ::= "/" | "<" rule 1 | [^</] rule 0
 */
#ifndef VOUCH_TEXT_GRAMMAR_UNTIL_H
#define VOUCH_TEXT_GRAMMAR_UNTIL_H

#include "text/grammar/expression.h"

enum { VOUCH_LONGEST_MARK = 64 };

/* The mark has n characters, 1 to VOUCH_LONGEST_MARK. */
vouch_expression vouch_expression_until(vouch_builder *builder, const int32_t *mark, int32_t n);

#endif
