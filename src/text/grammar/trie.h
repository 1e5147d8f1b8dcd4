/* SPDX-License-Identifier: MIT */
/*
 * The tokens of a vocabulary as a tree of their bytes, for finding all tokens that a grammar allows next.
 *
 *     tokens  a  ab  abc  b      nodes   0 a ─ 1 b ─ 2 c      nodes are numbered depth first, so a subtree is a
 *                                        3 b                  range of nodes, and its tokens are a range of `tokens`
 *
 * A control token is in the tree with VOUCH_TOKEN_BEGINS, its name and VOUCH_TOKEN_ENDS (expression.h). Not in the
 * tree: tokens that end an answer, empty ones, ones of more than VOUCH_TRIE_DEPTH bytes, ones with a byte that frames a
 * name, some user-defined ones.
 */
#ifndef VOUCH_TEXT_GRAMMAR_TRIE_H
#define VOUCH_TEXT_GRAMMAR_TRIE_H

#include "base/memory.h"
#include "text/tokenizer.h"

enum { VOUCH_TRIE_DEPTH = 255 };

typedef struct vouch_trie_node {
    uint64_t below; /* the groups (vouch_trie_group) of all bytes in its subtree, its own byte included */
    int32_t next;   /* the first node after its subtree */
    int32_t first;  /* its first token: tokens[first, first of the next node) end here */
    uint8_t byte, depth;
    uint8_t height; /* bytes from it to the end of the longest token in its subtree, its own byte not included */
} vouch_trie_node;

typedef struct vouch_trie {
    vouch_trie_node *nodes; /* [n_nodes + 1]; the last one only ends the tokens */
    int32_t *tokens;        /* [n_tokens] ids, in the order of their bytes */
    int32_t *ends;          /* [n_ends] ids of the tokens that end an answer */
    int32_t n_nodes, n_tokens, n_ends, n_vocab;
    int32_t space; /* the node of a space at depth 0; -1: no token begins with one */
    vouch_arena arena;
    const vouch_tokenizer *tokenizer;
} vouch_trie;

/* The group of a byte, below 64: bytes that texts treat alike share one. */
int vouch_trie_group(int byte);
/* n_vocab: ids of the model, which may be more than the tokenizer's. Error: MEMORY. */
vouch_status vouch_trie_open(vouch_trie **out, const vouch_tokenizer *tokenizer, int32_t n_vocab, vouch_error *err);
/* The longest tokens that text[n] begins with, at most `most`, the longest first. Returns their number. */
int32_t vouch_trie_prefixes(const vouch_trie *trie, const char *text, int32_t n, int32_t *tokens, int32_t most);
/* Whether the tree has this token. */
bool vouch_trie_has(const vouch_tokenizer *tokenizer, int32_t token);
/* Whether it has it as a control token, with its name. */
bool vouch_trie_has_name(const vouch_tokenizer *tokenizer, int32_t token);
/* Whether it has a control token of this name. */
bool vouch_trie_knows_name(const vouch_trie *trie, const char *name, size_t n);
void vouch_trie_close(vouch_trie *trie); /* NULL is allowed */

#endif
