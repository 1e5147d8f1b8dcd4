/* SPDX-License-Identifier: MIT */
/* A growing text. When memory is short it is marked as failed and takes nothing more, so that a caller may check once,
 * at the end. {0} is an empty text. */
#ifndef VOUCH_SERVER_TEXT_H
#define VOUCH_SERVER_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct server_text {
    char *bytes; /* [n], room for `room`; without a NUL */
    size_t n, room;
    bool failed;
} server_text;

/* Room for n more bytes, uninitialised; NULL when memory is short. */
void *server_text_grow(server_text *text, size_t n);
void server_text_add(server_text *text, const void *bytes, size_t n);
void server_text_put(server_text *text, const char *string);
__attribute__((format(printf, 2, 3))) void server_text_format(server_text *text, const char *format, ...);
/* The value as compact JSON. Takes the value; NULL, which Jansson returns when memory is short, fails the text. */
void server_text_json(server_text *text, json_t *value);
void server_text_free(server_text *text);

/* The bytes as a JSON string, as server_json_bytes makes it. */
void server_text_string(server_text *text, const char *bytes, size_t n);

/* A JSON string of bytes that may be no UTF-8: U+FFFD stands for each wrong byte. */
json_t *server_json_bytes(const char *bytes, size_t n);

#endif
