/* SPDX-License-Identifier: MIT */
/*
 * JSON Schema, draft 2020-12. schema.c says how a schema becomes an expression; these are its parts:
 *
 *   schema_flat.c    turns allOf, anyOf, oneOf and $ref into a choice of flat schemas, which have none of them
 *   schema_merge.c   two flat schemas into one that asks for both
 *   schema_value.c   a flat schema into an expression
 *   regex.c          patterns and formats
 */
#ifndef VOUCH_TEXT_GRAMMAR_SCHEMA_PARTS_H
#define VOUCH_TEXT_GRAMMAR_SCHEMA_PARTS_H

#include "text/grammar/json_text.h"

enum { VOUCH_SCHEMA_FLATS = 256, VOUCH_SCHEMA_WORK = 20000 };

/* A set of types. "number" stands for NUMBER and INTEGER. */
enum {
    VOUCH_TYPE_NULL = 1,
    VOUCH_TYPE_BOOLEAN = 2,
    VOUCH_TYPE_INTEGER = 4,
    VOUCH_TYPE_NUMBER = 8,
    VOUCH_TYPE_STRING = 16,
    VOUCH_TYPE_ARRAY = 32,
    VOUCH_TYPE_OBJECT = 64,
    VOUCH_TYPE_ANY = 127
};

typedef struct vouch_schema_rule {
    const json_t *schema;
    int32_t rule;
} vouch_schema_rule;

typedef struct vouch_schema {
    vouch_json_writer writer;
    vouch_builder *builder;
    json_t *root;
    json_t *made;             /* an array: keeps the schemas that were made by merging */
    vouch_schema_rule *rules; /* [n_rules] schemas that have rules already */
    int32_t n_rules, rules_room;
    int32_t depth, work;      /* levels of nested schemas; schemas read and flat ones made, at most VOUCH_SCHEMA_WORK */
} vouch_schema;

/* Flat schemas, objects without allOf, anyOf, oneOf and $ref. Owned by `made`. */
typedef struct vouch_flats {
    json_t *flats[VOUCH_SCHEMA_FLATS];
    int32_t n;
} vouch_flats;

/* Fails and names the JSON pointer of `node`, or of its member `keyword` where that isn't NULL. */
__attribute__((format(printf, 5, 6)))
void vouch_schema_fail(vouch_schema *s, vouch_status status, const json_t *node, const char *keyword,
                       const char *format, ...);
/* Keeps a new value until the end. Returns it, or an empty object after a failure. */
json_t *vouch_schema_keep(vouch_schema *s, json_t *made);

/* Fails where a keyword of an object is not supported, or its value has the wrong type. */
void vouch_schema_check(vouch_schema *s, const json_t *schema);
void vouch_schema_flatten(vouch_schema *s, const json_t *schema, vouch_flats *out);
/* The schema that asks for both; NULL after a failure. */
json_t *vouch_schema_merge(vouch_schema *s, const json_t *a, const json_t *b);
/* The types that a flat schema allows. */
int vouch_schema_types(const json_t *flat);
int vouch_schema_type_of(const json_t *value);
/* Whether no value is valid for both flat schemas, as far as their keywords show it at once. */
bool vouch_schema_disjoint(const json_t *a, const json_t *b);
/* Texts of values that the schema allows. */
vouch_expression vouch_schema_value(vouch_schema *s, const json_t *schema);
vouch_expression vouch_schema_flat_value(vouch_schema *s, const json_t *flat);

/* A string of min to max characters that matches the pattern of n bytes; max -1: any number. */
vouch_expression vouch_json_pattern(vouch_json_writer *writer, const char *pattern, size_t n, int32_t min, int32_t max);
/* Whether every string has the format. */
bool vouch_json_format_is_unbound(const char *name);
/* The pattern of a format; NULL: it is not supported. */
const char *vouch_json_format(const char *name);
/* "date, time, ...": the names of all formats. */
extern const char vouch_json_formats[];

#endif
