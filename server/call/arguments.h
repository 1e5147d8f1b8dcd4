/* SPDX-License-Identifier: MIT */
/*
 * Arguments of calls, and schemas, within larger JSON. They are kept as they are written, because Jansson loses digits
 * of numbers and refuses numbers that no double holds. Arguments are texts in requests, and put into replies as texts.
 * Schemas are values in which marks keep what Jansson doesn't.
 */
#ifndef VOUCH_SERVER_ARGUMENTS_H
#define VOUCH_SERVER_ARGUMENTS_H

#include "work/text.h"

/* Whether text[n] is a JSON object, whatever the size of its numbers. */
bool server_is_object(const char *text, size_t n);

/* Appends the request's body bytes[n], in whose messages objects of arguments are strings of JSON:
 *
 *   {"messages": [... "input": {"x": 1} ...     becomes     {"messages": [... "input": "{\"x\": 1}" ...
 *
 * So do those under the key "arguments", and those in "input" of /v1/responses. Anything else stays as it is. */
void server_arguments_as_texts(const char *bytes, size_t n, server_text *out);

/* Appends the request's body bytes[n], in whose schemas a number that Jansson doesn't keep is a string with a mark, and
 * so is the escape of NUL or of half a pair of surrogates a mark and its letters. is_schema: all of it is a schema. */
void server_schemas_mark(const char *bytes, size_t n, bool is_schema, server_text *out);
/* Whether the value is a string, and no marked number. */
bool server_schema_text(const json_t *value);
/* Appends the value as it was written, without marks. Takes it. */
void server_schemas_put(server_text *out, json_t *value);
/* A copy without marks: numbers as Jansson holds them, and U+FFFD for characters that it refuses. */
json_t *server_schemas_plain(const json_t *value);

#endif
