/* SPDX-License-Identifier: MIT */
/* JSON text of the caller to values of a run. */
#ifndef VOUCH_TEXT_JINJA_JSON_H
#define VOUCH_TEXT_JINJA_JSON_H

#include <jansson.h>

#include "text/jinja/value.h"

/* Where a value stands in the JSON text, for messages: messages[2].tool_calls[0].function. */
typedef struct json_path {
    const struct json_path *up; /* NULL: the root */
    const char *key;            /* NULL: an index */
    size_t index;
} json_path;

/* An ARGUMENT error that begins with the path. */
__attribute__((format(printf, 3, 4))) vouch_status vouch_json_fail(vouch_error *err, const json_path *at,
                                                                   const char *format, ...);
/* A text of digits may stand for a number that Jansson can't hold (vouch_json_read_numbers): it has this byte at both
 * ends. */
#define JSON_DIGITS '\1'

/* Reads text[n] as vouch_json_read does, but any value, and keeps numbers that Jansson can't hold: their digits become
 * such a text. *out: NULL after an error. */
vouch_status vouch_json_read_numbers(json_t **out, const char *text, size_t n, vouch_error *err);
/* Writes JSON that vouch_json_read_numbers has read. The caller frees it; NULL: no memory. */
char *vouch_json_write_numbers(const json_t *json);

/* "a string", "null", ... */
const char *vouch_json_kind_name(const json_t *json);

/* Reads text[n]. Errors: ARGUMENT (the message has line and column), MEMORY. The caller drops *out with json_decref. */
vouch_status vouch_json_read(json_t **out, const char *text, size_t n, vouch_error *err);
/* The value of `json`; its strings point into `json` and have this mark. Errors: ARGUMENT (deeper than a template may
 * read), and those of the run. */
vouch_status vouch_jinja_from_json(jinja_run *run, const json_t *json, jinja_mark mark, const json_path *at,
                                   jinja_value *out, vouch_error *err);

#endif
