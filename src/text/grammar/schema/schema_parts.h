/* SPDX-License-Identifier: MIT */
/*
 * JSON Schema, draft 2020-12. schema.c says how a schema becomes an expression; these are its parts:
 *
 *   schema_keywords.c  which keywords there are
 *   schema_flat.c      turns allOf, anyOf, oneOf, not, if, $ref and others into a choice of flat schemas, which have
 *                      none of them
 *   schema_merge.c     two flat schemas into one that asks for both
 *   schema_common.c    whether two schemas may have a value in common
 *   schema_not.c       the flat schemas of all values that a choice of flat schemas doesn't allow
 *   schema_value.c     a flat schema into an expression
 *   schema_array.c     the same for its arrays
 *   regex.c            patterns and formats
 */
#ifndef VOUCH_TEXT_GRAMMAR_SCHEMA_PARTS_H
#define VOUCH_TEXT_GRAMMAR_SCHEMA_PARTS_H

#include "text/grammar/schema/json_text.h"
#include "text/grammar/notations.h"

enum { VOUCH_SCHEMA_FLATS = 1 << 16, VOUCH_SCHEMA_WORK = 20000 };

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

typedef enum vouch_keyword_role {
    VOUCH_KEYWORD_OTHER,
    VOUCH_KEYWORD_FLAT,      /* flat schemas have it */
    VOUCH_KEYWORD_JOINED,    /* its schemas apply to the same value, so it is turned into flat schemas */
    VOUCH_KEYWORD_REFERENCE, /* $ref and $dynamicRef */
    VOUCH_KEYWORD_NAME       /* names schemas for references */
} vouch_keyword_role;

/*
 * Keywords of flat schemas alone; no document may have them. The first lists values that are not allowed. The others
 * say for unevaluatedProperties and unevaluatedItems which properties and items other keywords have evaluated: an
 * object of names, the number of the first items, or true for all.
 */
#define VOUCH_EXCLUDED "excluded values"
#define VOUCH_EVALUATED "evaluated properties"
#define VOUCH_EVALUATED_ITEMS "evaluated items"
/* Of a flat schema: the document lists its properties, not only under `not` and `if`. */
#define VOUCH_LISTS "lists properties"
/* Of schemas that are made, not flat: the value's schema, which is a part of one under `not` or `if`. */
#define VOUCH_CONDITION "under a condition"

/* The schemas that a schema made of others was made of: one, or two. */
typedef struct vouch_schema_origin {
    const json_t *made, *from[2];
} vouch_schema_origin;

typedef struct vouch_schema_rule {
    const json_t *schema;
    bool is_name; /* its strings have one spelling (vouch_json_writer.is_name) */
    int32_t rule;
    int32_t position; /* where its values begin (vouch_schema.position) */
} vouch_schema_rule;

struct vouch_schema {
    vouch_json_writer writer;
    vouch_builder *builder;
    json_t *root;
    json_t *made;             /* an array: keeps the schemas that were made by merging */
    json_t *anchors;          /* vouch_schema_anchors, in `made`; NULL: not needed yet */
    vouch_schema_rule *rules; /* [n_rules] schemas that have rules already, names apart */
    int32_t n_rules, rules_room;
    int32_t *rule_slots; /* [2 * rules_room] an open hash table of indices into rules + 1; 0: free */
    int32_t depth, work; /* levels of nested schemas; pairs merged, at most most_work */
    int32_t most_work;
    int64_t n_steps;               /* see vouch_schema_spend */
    size_t n_bytes;                /* of the document */
    int32_t n_flattened;           /* schemas that were turned into flat ones, each as often as that was done */
    int32_t position, n_positions; /* a number for each place where values begin: a reference keeps it */
    vouch_schema_origin *origins;  /* [n_origins] of `made`, for the pointers of messages */
    int32_t n_origins, origins_room;
    int32_t n_conditions;  /* `not` and `if` within which schemas are being flattened */
    bool tells_apart;      /* schemas of a oneOf are being told apart, which may be given up: */
    bool gave_up;          /* it took too many merges */
    int32_t n_given_up;    /* how often it did: each time, half as many are tried */
    int32_t n_unevaluated; /* schemas with unevaluatedProperties or unevaluatedItems that are being flattened */
};

/* Flat schemas, whose keywords are VOUCH_KEYWORD_FLAT. Owned by `made`. */
typedef struct vouch_flats {
    json_t **flats; /* [n], at most VOUCH_SCHEMA_FLATS */
    int32_t n, room;
} vouch_flats;

/* Fails and names the JSON pointer of `node`, or of its member `keyword` where that isn't NULL. */
__attribute__((format(printf, 5, 6))) void vouch_schema_fail(vouch_schema *s, vouch_status status, const json_t *node,
                                                             const char *keyword, const char *format, ...);
/* The keyword of a flat schema can't be bound. True: it is let pass, and noted. False: that is an error. */
__attribute__((format(printf, 4, 5))) bool vouch_schema_let_pass(vouch_schema *s, const json_t *flat,
                                                                 const char *keyword, const char *format, ...);
/* Notes that the keyword isn't bound. */
void vouch_schema_note(vouch_schema *s, const json_t *node, const char *keyword, const char *message);
/* Remembers that a schema was made of one or two others (NULL). */
void vouch_schema_made_of(vouch_schema *s, const json_t *made, const json_t *a, const json_t *b);
/* Counts steps whose number may be a square of the document's size; a step is the comparison of two short values. Fails
 * where they would take more than seconds. Returns whether nothing has failed. */
bool vouch_schema_spend(vouch_schema *s, const json_t *schema, size_t n_steps);
/* Keeps a new value until the end. Returns it, or an empty object after a failure. */
json_t *vouch_schema_keep(vouch_schema *s, json_t *made);

bool vouch_is_schema(const json_t *value);
/* Fails where the value of a schema's keyword has the wrong type. Removes keywords that are null. */
void vouch_schema_check(vouch_schema *s, const json_t *schema);
vouch_keyword_role vouch_schema_role(const char *keyword);
/* An object of the document's schemas by their $anchor and $dynamicAnchor; null where several have the name. It is
 * empty where schemas within the document have an $id, so that anchors depend on the place. NULL when memory is short.
 */
json_t *vouch_schema_anchors(const json_t *root);

/* The schema that a $ref names; NULL: there is none in this document. */
const json_t *vouch_schema_find(vouch_schema *s, const char *reference);
/* The schema that the reference of a schema names; NULL after a failure. */
const json_t *vouch_schema_target(vouch_schema *s, const json_t *schema);
/* The schema as a choice of flat schemas. Where it is only a reference, one flat schema has that $ref. */
void vouch_schema_flatten(vouch_schema *s, const json_t *schema, vouch_flats *out);
/* An empty list; NULL after a failure. */
vouch_flats *vouch_flats_new(vouch_schema *s);
void vouch_flats_free(vouch_flats *flats); /* NULL is allowed */
/* Adds a flat schema, unless it is NULL, obviously allows no value, or is there already. A failure names `schema`. */
void vouch_flats_add(vouch_schema *s, vouch_flats *flats, json_t *flat, const json_t *schema);
/* A value must now also be valid for one of `more`: merges each schema of `flats` with each of `more`. */
void vouch_flats_cross(vouch_schema *s, vouch_flats *flats, const vouch_flats *more, const json_t *schema);
/* Stores the flat schemas of the values for which none of `flats` is valid. */
void vouch_flats_negate(vouch_schema *s, const vouch_flats *flats, vouch_flats *out);
/* Replaces a flat schema with excluded values by flat schemas that exclude strings only. */
void vouch_schema_split(vouch_schema *s, const json_t *flat, vouch_flats *out);
/* The schema that asks for both; NULL after a failure. */
json_t *vouch_schema_merge(vouch_schema *s, const json_t *a, const json_t *b);

/* The types that a flat schema allows. */
int vouch_schema_types(const json_t *flat);
int vouch_schema_type_of(const json_t *value);
/* The types of which a value is: 2.0 is an integer, too. */
int vouch_schema_types_of(const json_t *value);
/* Whether two values are the same for JSON Schema, where 1 is 1.0. */
bool vouch_schema_equal(const json_t *a, const json_t *b);
bool vouch_schema_lists(const json_t *array, const json_t *value);
/* The values that both enum and const of a schema allow; NULL: it has neither. A new reference. */
json_t *vouch_schema_listed(const json_t *schema);
/* Whether no value is valid for both flat schemas, as far as their keywords show it at once. */
bool vouch_schema_disjoint(const json_t *a, const json_t *b);
/* Whether no value is valid for the flat schema, as far as its keywords show it at once. */
bool vouch_schema_impossible(const json_t *flat);

/* Texts of values that the schema allows. */
vouch_expression vouch_schema_value(vouch_schema *s, const json_t *schema);
vouch_expression vouch_schema_flat_value(vouch_schema *s, const json_t *flat);
vouch_expression vouch_schema_array(vouch_schema *s, const json_t *flat);
/* Reads a count of a flat schema, such as minItems; `other` where the keyword is absent. Fails above `most`. */
int32_t vouch_schema_count(vouch_schema *s, const json_t *flat, const char *name, int32_t other, int32_t most);
/* Whether the keywords of a flat schema beside enum and const allow one of their values. */
bool vouch_schema_within(vouch_schema *s, const json_t *flat, const json_t *value);

/* A string of min to max characters that matches the pattern of n bytes; max -1: any number. Where the pattern can't be
 * turned into a grammar, *flaw says why, and the expression is of no use; its code is 0 otherwise. */
vouch_expression vouch_json_pattern(vouch_json_writer *writer, const char *pattern, size_t n, int32_t min, int32_t max,
                                    vouch_error *flaw);
/* Whether every string has the format. */
bool vouch_json_format_is_unbound(const char *name);
/* The pattern of a format; NULL: it is not supported. */
const char *vouch_json_format(const char *name);
/* "date, time, ...": the names of all formats. */
extern const char vouch_json_formats[];

#endif
