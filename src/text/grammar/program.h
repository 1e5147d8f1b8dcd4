/* SPDX-License-Identifier: MIT */
/*
 * The automaton of a grammar: nodes that read bytes, and a stack of the places to which rules return.
 *
 *     root ::= "a" (item | "b")      item ::= "x"
 *
 *     BYTES a ─► SPLIT ┬► CALL item ─► END          item: BYTES x ─► END
 *                      └► BYTES b ───► END
 *
 * A place is a node and a stack. BYTES reads one byte and goes on. SPLIT goes to both nodes. CALL pushes the node
 * after it and goes to the rule's first node; a call before END pushes nothing, so a rule that ends with itself
 * needs no stack. END pops a node and goes there; with an empty stack the text may end.
 *
 * An object with properties that its schema doesn't list must not have a name twice. OBJECT is a call whose place on
 * the stack also has the list of names so far; NAME one with the bytes of the name so far (names.h). ROOM goes on where
 * the innermost object may have another name.
 *
 * `need` is the number of stack entries that a node's cheapest way to the end of its rule adds. No place has more than
 * VOUCH_STACK_DEPTH entries, and none is entered whose stack and need together exceed that. So each place that is
 * entered can still reach the end of the text: a grammar never leads into a dead end.
 *
 * Bytes that no node tells apart are one class: 256 bytes become 20 to 70 classes for JSON.
 */
#ifndef VOUCH_TEXT_GRAMMAR_PROGRAM_H
#define VOUCH_TEXT_GRAMMAR_PROGRAM_H

#include "text/grammar/expression.h"

enum { VOUCH_STACK_DEPTH = 1000 };

typedef enum vouch_node_kind {
    VOUCH_NODE_BYTES,
    VOUCH_NODE_SPLIT,
    VOUCH_NODE_CALL,
    VOUCH_NODE_END,
    VOUCH_NODE_OBJECT,
    VOUCH_NODE_NAME,
    VOUCH_NODE_ROOM
} vouch_node_kind;

typedef struct vouch_grammar_node {
    uint8_t kind;
    uint8_t first, last; /* BYTES: the range; NAME, ROOM: first 1: there may be few such names */
    uint8_t words;       /* fewest texts from here to the end of the rule, up to 255; only where `restricts_names` */
    uint16_t need;       /* above VOUCH_STACK_DEPTH: this node never reaches the end */
    int32_t next;
    int32_t other; /* SPLIT: the other node; CALL, OBJECT, NAME, ROOM: the rule's first node */
} vouch_grammar_node;

struct vouch_grammar {
    vouch_grammar_node *nodes; /* [n_nodes] */
    int32_t n_nodes, start;
    bool has_names, restricts_names;
    int32_t n_classes;
    uint8_t class_of[256]; /* a byte's class */
    uint8_t byte_of[256];  /* the first byte of a class */
    char **notes;          /* [n_notes] what vouch_grammar_unbound says */
    int32_t n_notes;
};

/* Turns the rule `root` into a grammar. Frees the builder. Errors: the builder's; ARGUMENT (a rule without a body, left
 * recursion, a rule that never ends; each names the rule); UNSUPPORTED (too large); MEMORY. */
vouch_status vouch_grammar_compile(vouch_grammar **out, vouch_builder *builder, int32_t root, vouch_error *err);

#endif
