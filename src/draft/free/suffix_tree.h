/* SPDX-License-Identifier: MIT */
/*
 * A tree of all substrings of a text that have at most VOUCH_SUFFIX_DEPTH tokens. Each node counts how often its
 * substring occurs. So its children are the tokens that followed it, with their counts. The text grows and shrinks at
 * its end.
 *
 *   text  a b a c            root ─┬─ a 2 ─┬─ b 1 ─── a 1 ─── c 1
 *                                  │       └─ c 1
 *                                  ├─ b 1 ─── a 1 ─── c 1
 *                                  └─ c 1
 *
 * A node's link leads to the same string without its first token. Nodes are numbered as they are made. Taking the last
 * token away removes the last nodes, and leaves every byte as if the token had never been added (law L3).
 */
#ifndef VOUCH_DRAFT_SUFFIX_TREE_H
#define VOUCH_DRAFT_SUFFIX_TREE_H

#include "base/memory.h"

enum { VOUCH_SUFFIX_DEPTH = 12, VOUCH_SUFFIX_ROOT = 0 };

typedef struct vouch_suffix_node {
    int32_t parent, token, link, depth;
    int32_t count; /* occurrences */
    int32_t first; /* the youngest child, 0: none */
    int32_t next;  /* the next older sibling */
} vouch_suffix_node;

typedef struct vouch_suffix_tree {
    int32_t capacity; /* tokens */
    int32_t n_tokens, n_nodes;
    uint32_t mask;                          /* slots - 1 */
    vouch_suffix_node *nodes;               /* [1 + capacity * VOUCH_SUFFIX_DEPTH] */
    int32_t *slots;                         /* [mask + 1] a node by (parent, token), 0: free */
    int32_t *tokens;                        /* [capacity] */
    int32_t active[VOUCH_SUFFIX_DEPTH + 1]; /* the nodes of the text's last 0, 1, 2, ... tokens */
} vouch_suffix_tree;

void vouch_suffix_tree_layout(vouch_suffix_tree *tree, int32_t capacity, vouch_arena *arena);
void vouch_suffix_tree_push(vouch_suffix_tree *tree, int32_t token);
void vouch_suffix_tree_pop(vouch_suffix_tree *tree);
/* The node of this child; 0: none. */
int32_t vouch_suffix_tree_child(const vouch_suffix_tree *tree, int32_t node, int32_t token);
/* The node of the text's longest suffix. */
int32_t vouch_suffix_tree_end(const vouch_suffix_tree *tree);
/* The node of the longest suffix of (node's string, token) that is in the text. */
int32_t vouch_suffix_tree_step(const vouch_suffix_tree *tree, int32_t node, int32_t token);

#endif
