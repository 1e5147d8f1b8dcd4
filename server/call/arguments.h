/* SPDX-License-Identifier: MIT */
/*
 * Arguments of calls within larger JSON. They are kept as they are written, because Jansson loses digits of numbers and
 * refuses numbers that no double holds: as texts in requests, and put into replies as texts.
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

#endif
