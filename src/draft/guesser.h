/* SPDX-License-Identifier: MIT */
/*
 * A guesser turns tokens into logits of the next token. The drafter of trees (tree.h) grows its guesses from these
 * logits and knows nothing else of the guesser. The draft model is one (model.h).
 *
 *   follow(tokens, n)        state holds tokens[0, n)      logits: row 0 follows tokens[n - 1]
 *   feed(guesses, parents)   and these rows behind them    logits: row i follows the i-th row fed
 *
 *   G1  Rows that were fed are forgotten when follow is called next, except the first rows of a chain that have become
 *       tokens of the sequence.
 *   G2  Nothing is allocated after open.
 */
#ifndef VOUCH_DRAFT_GUESSER_H
#define VOUCH_DRAFT_GUESSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vouch_guesser_ops {
    /* Runs the tokens of tokens[0, n), n >= 1, that the state lacks. `logits`: the last one gets logits. False: no
     * room. */
    bool (*follow)(void *self, const int32_t *tokens, int32_t n, bool logits);
    /* How many rows may be fed now. */
    int32_t (*room)(const void *self);
    /* Feeds n guesses. parents [n]: the row that each guess follows, counted from the first row fed since follow; -1:
     * it follows the sequence. NULL: a chain, which continues the last row. One draft is fed as a chain or as a tree,
     * not as both. */
    void (*feed)(void *self, const int32_t *guesses, const int32_t *parents, int32_t n);
    /* [n_vocab of the target] logits of row i of the last follow or feed. Valid until the next call. */
    const float *(*logits)(void *self, int32_t i);
    /* As a drafter's (drafter.h). */
    int32_t (*known)(const void *self, const int32_t *tokens, int32_t n);
    void (*rewind)(void *self, int32_t n);
    void (*close)(void *self);
    size_t (*memory)(const void *self);
    uint64_t (*digest)(const void *self);
} vouch_guesser_ops;

typedef struct vouch_guesser {
    const vouch_guesser_ops *ops;
    void *self;
} vouch_guesser;

#endif
