/* SPDX-License-Identifier: MIT */
/*
 * Expressions: the form into which every notation of a grammar is read (gbnf.c, regex.c, schema.c), before program.c
 * turns them into an automaton.
 *
 *     root ::= "[" item* "]"          sequence ┬ bytes "["
 *                                              ├ repeat 0.. ─ rule item
 *                                              └ bytes "]"
 *
 * An expression is an index into the builder. It is immutable, so it may be used in several places. The first failure
 * stays in the builder, and from then on every function returns an expression that matches nothing. So a caller checks
 * once, at its end.
 */
#ifndef VOUCH_TEXT_GRAMMAR_EXPRESSION_H
#define VOUCH_TEXT_GRAMMAR_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { VOUCH_GRAMMAR_LARGEST = 1 << 22 }; /* most expressions, and most nodes of an automaton */
enum { VOUCH_GRAMMAR_DEEPEST = 128 };     /* most brackets within brackets that a reader of a notation follows */

/* A grammar writes a control token as these two bytes around its name. UTF-8 has neither of them. */
enum { VOUCH_TOKEN_BEGINS = 0xff, VOUCH_TOKEN_ENDS = 0xfe };

/* The name of the rules of schemas; GBNF has no name with a space. */
#define VOUCH_SCHEMA_RULE "JSON schema"

typedef int32_t vouch_expression;

typedef enum vouch_expression_kind {
    VOUCH_EXPRESSION_BYTES,    /* one byte in [first, last] */
    VOUCH_EXPRESSION_SEQUENCE, /* the children in order; none: the empty text */
    VOUCH_EXPRESSION_CHOICE,   /* one of the children; none: nothing matches */
    VOUCH_EXPRESSION_REPEAT,   /* `child`, first to last times; last -1: any number */
    VOUCH_EXPRESSION_RULE,     /* the rule with number `child` */
    VOUCH_EXPRESSION_OBJECT,   /* the same, and the names within it differ from each other */
    VOUCH_EXPRESSION_NAME,     /* the same: a name of the innermost object; first 1: there may be few such names */
    VOUCH_EXPRESSION_ROOM      /* the empty text, where the object has room for another such name */
} vouch_expression_kind;

typedef struct vouch_expression_node {
    vouch_expression_kind kind;
    int32_t first, last; /* a range of bytes; of repetitions; or of indices into `children` */
    int32_t child;
    bool is_small;   /* a copy takes few nodes */
    bool is_nothing; /* it obviously matches nothing */
} vouch_expression_node;

typedef struct vouch_rule_text {
    char *name;            /* of a rule without a name of its own: the rule that it is part of */
    uint64_t hash;         /* of the name */
    vouch_expression body; /* -1: not defined yet */
} vouch_rule_text;

enum { VOUCH_MOST_NOTES = 100 };

typedef struct vouch_builder {
    vouch_expression_node *nodes;
    vouch_expression *children;
    vouch_rule_text *rules;
    int32_t n_nodes, n_children, n_rules;
    int32_t nodes_room, children_room, rules_room;
    vouch_expression bytes[256]; /* 1 more than the expression of this byte alone; 0: none yet */
    const char *owner;           /* the name of the rule that is being read */
    unsigned flags;              /* VOUCH_GRAMMAR_CLOSED and VOUCH_GRAMMAR_LENIENT, for schemas */
    char **notes;                /* [n_notes], at most VOUCH_MOST_NOTES, about parts of schemas that aren't bound */
    int32_t n_notes, notes_room;
    vouch_status status; /* the first failure */
    vouch_error error;   /* its message */
} vouch_builder;

/* A list of expressions that grows, for sequences and choices. Zeroed at first. */
typedef struct vouch_parts {
    vouch_expression *parts;
    int32_t n, room;
} vouch_parts;

void vouch_builder_free(vouch_builder *builder);
/* Keeps the message of the first failure. Returns an expression that matches nothing. */
__attribute__((format(printf, 3, 4))) vouch_expression vouch_builder_fail(vouch_builder *builder, vouch_status status,
                                                                          const char *format, ...);

/* Keeps a note for vouch_grammar_unbound, unless it is there already or they are very many. */
void vouch_builder_note(vouch_builder *builder, const char *note);

void vouch_parts_add(vouch_builder *builder, vouch_parts *parts, vouch_expression part);
/* The parts in order, or one of them. Frees the parts. */
vouch_expression vouch_expression_sequence(vouch_builder *builder, vouch_parts *parts);
vouch_expression vouch_expression_choice(vouch_builder *builder, vouch_parts *parts);
/* The same for n expressions; vouch_expression_join(builder, 2, a, b) is "a then b". */
vouch_expression vouch_expression_join(vouch_builder *builder, int32_t n, ...);
vouch_expression vouch_expression_either(vouch_builder *builder, int32_t n, ...);

vouch_expression vouch_expression_empty(vouch_builder *builder);
vouch_expression vouch_expression_nothing(vouch_builder *builder);
/* Whether it matches nothing, as far as that is known: a rule without a body yet may match something. */
bool vouch_expression_is_nothing(const vouch_builder *builder, vouch_expression expression);
vouch_expression vouch_expression_byte_range(vouch_builder *builder, int32_t first, int32_t last);
vouch_expression vouch_expression_text(vouch_builder *builder, const char *text, size_t n);
/* `text` ends with a NUL. */
vouch_expression vouch_expression_literal(vouch_builder *builder, const char *text);
/* The control token of this name. Its spelling is no UTF-8, so that no text is mistaken for it: VOUCH_TOKEN_BEGINS, the
 * name and VOUCH_TOKEN_ENDS. */
vouch_expression vouch_expression_token(vouch_builder *builder, const char *name, size_t n);
/* min to max times; max -1: any number. */
vouch_expression vouch_expression_repeat(vouch_builder *builder, vouch_expression part, int32_t min, int32_t max);
vouch_expression vouch_expression_optional(vouch_builder *builder, vouch_expression part);

/* Returns the number of the rule with this name. If no rule has it, adds one, which has no body yet. */
int32_t vouch_builder_rule(vouch_builder *builder, const char *name, size_t n);
/* Returns the number of the rule with this name, or -1 where no rule has it. */
int32_t vouch_builder_find(const vouch_builder *builder, const char *name, size_t n);
void vouch_builder_define(vouch_builder *builder, int32_t rule, vouch_expression body);
vouch_expression vouch_expression_rule(vouch_builder *builder, int32_t rule);
/* Texts of `part`, an object whose names (vouch_expression_name) differ from each other. */
vouch_expression vouch_expression_object(vouch_builder *builder, vouch_expression part);
/* A name that the innermost object doesn't have yet. is_restricted: not any string is a name. */
vouch_expression vouch_expression_name(vouch_builder *builder, vouch_expression part, bool is_restricted);
/* Nothing, where the innermost object may have another name like this one. It stands before what leads to the name. */
vouch_expression vouch_expression_room(vouch_builder *builder, vouch_expression name);
/* A rule of its own around a large expression, so that a copy costs one node. */
vouch_expression vouch_expression_shared(vouch_builder *builder, vouch_expression part);

#endif
