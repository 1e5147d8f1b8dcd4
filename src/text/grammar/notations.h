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

/* A document of schemas, as a part of another notation. */
typedef struct vouch_schema vouch_schema;
/* Reads the document at the beginning of a text. *n_read, unless NULL: its bytes, and the text may go on. NULL after a
 * failure. It must be closed before the builder. */
vouch_schema *vouch_schema_open(vouch_builder *builder, const char *text, size_t n, size_t *n_read);
/* The values of the schema that a reference as in $ref names; "#" is the document itself. */
vouch_expression vouch_schema_at(vouch_schema *schema, const char *reference);
void vouch_schema_close(vouch_schema *schema); /* NULL is allowed */

#endif
