/* SPDX-License-Identifier: MIT */
/*
 * Fields of a JSON object from a table: types, ranges and messages come from the same rows. A value of null counts as
 * absent. A field that the table doesn't have is an error that names it.
 */
#ifndef VOUCH_SERVER_FIELDS_H
#define VOUCH_SERVER_FIELDS_H

#include <stdint.h>

#include "http/fault.h"

typedef enum server_field_kind {
    SERVER_FIELD_BOOL,    /* bool */
    SERVER_FIELD_INT,     /* int32_t */
    SERVER_FIELD_FLOAT,   /* float */
    SERVER_FIELD_DOUBLE,  /* double */
    SERVER_FIELD_STRING,  /* const char *, owned by the document */
    SERVER_FIELD_VALUE,   /* json_t *, owned by the document; the caller reads it */
    SERVER_FIELD_IGNORED, /* clients send it, and it changes nothing */
    SERVER_FIELD_NEUTRAL  /* not supported: only the value in `range`, or null, false, 0, "", [] or {}, is allowed */
} server_field_kind;

typedef struct server_field {
    const char *name;
    unsigned where; /* bits of the requests that have the field */
    server_field_kind kind;
    size_t offset;     /* of the value in the caller's struct */
    const char *range; /* of a number: "[0, 2]" or "(0, 1]" */
} server_field;

typedef struct server_field_table {
    const server_field *fields; /* [n] */
    size_t n;
} server_field_table;

/* Reads the fields of the object at `path` ("" for the whole document) that the table has for `where` into `values`. */
bool server_fields_read(json_t *object, const char *path, const server_field_table *table, unsigned where, void *values,
                        server_fault *fault);
/* "string", "number", ..., for messages. */
const char *server_json_kind(const json_t *value);
/* Element i of an array of ids is no token of a vocabulary of n_vocab. False. */
bool server_fail_token(server_fault *fault, const char *path, size_t i, const json_t *value, int32_t n_vocab);
/* The string at a key; "" where there is none. */
const char *server_word(const json_t *object, const char *key);
/* Fails for a part of a content that isn't text, such as a picture. */
bool server_check_part(const json_t *part, const char *path, server_fault *fault);
/* The text of a part, which a part of the type "refusal" has under another name; NULL: it has none. */
const json_t *server_part_text(const json_t *part);
/* A string, or the texts of an array of parts, {"text": "..."}, joined; nothing and null as the empty string. A fault:
 * NULL. */
json_t *server_json_texts(json_t *content, const char *path, server_fault *fault);
/* Finds the schema of a tool's arguments, which the tool owns; *schema NULL: any arguments. False with a fault: no
 * valid tool. */
typedef bool server_tool_schema(const json_t *tool, const char *path, json_t **schema, server_fault *fault);
/* Turns the `tools` of a document, if it has any, into those of the chat API. */
bool server_convert_tools(json_t *document, server_tool_schema *schema_of, server_fault *fault);
/* Parses a document: UTF-8 without NUL, at most 64 levels deep, no key twice. NULL with a fault. */
json_t *server_json_parse(const char *bytes, size_t n, server_fault *fault);

#endif
