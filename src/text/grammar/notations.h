/* SPDX-License-Identifier: MIT */
/* The notations of grammars. Each reader adds rules to a builder and returns the number of the first one. A failure
 * stays in the builder. */
#ifndef VOUCH_TEXT_GRAMMAR_NOTATIONS_H
#define VOUCH_TEXT_GRAMMAR_NOTATIONS_H

#include "text/grammar/expression.h"

/* llama.cpp's notation. Errors: ARGUMENT names line and column. */
int32_t vouch_gbnf_read(vouch_builder *builder, const char *text, size_t n);

/* A regular expression (regex.c). Errors: UNSUPPORTED names the character. */
int32_t vouch_regex_read(vouch_builder *builder, const char *text, size_t n);

/* A JSON Schema (schema.c). Errors: ARGUMENT, UNSUPPORTED; both name the JSON pointer. */
int32_t vouch_schema_read(vouch_builder *builder, const char *text, size_t n);
/* The same for a schema at the beginning of a text, as a part of another notation. *n_read: the bytes of the schema. */
vouch_expression vouch_schema_read_part(vouch_builder *builder, const char *text, size_t n, size_t *n_read);

#endif
