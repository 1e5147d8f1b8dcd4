/* SPDX-License-Identifier: MIT */
/* Choices of many alternatives (alternatives.c). */
#ifndef VOUCH_TEXT_GRAMMAR_ALTERNATIVES_H
#define VOUCH_TEXT_GRAMMAR_ALTERNATIVES_H

#include "text/grammar/expression.h"

/* The same texts as the choice, whose alternatives with a common beginning are one up to where they differ. All rules
 * have bodies. */
vouch_expression vouch_expression_merge(vouch_builder *builder, vouch_expression choice);

#endif
