/* SPDX-License-Identifier: MIT */
/*
 * A guesser turns tokens into logits of the next token. The drafter of trees (tree.h) grows its guesses from these
 * logits and knows nothing else of the guesser. A draft model is one (model.h), a head is another (head.h).
 *
 *   follow(tokens, n)        stages rows: then the state holds tokens[0, n)     logits: row 0 follows tokens[n - 1]
 *   feed(guesses, parents)   stages rows after them                            logits: row i follows the i-th row fed
 *   run                      runs what the guessers of all sequences have staged in the pass that they share
 *   logits                   of the rows that this guesser has staged
 *
 *   G1  Rows that were fed are forgotten when follow is called next, except the first rows of a chain that have become
 *       tokens of the sequence.
 *   G2  Nothing is allocated after open.
 *   G3  After a call that staged rows the next one is run.
 *   G4  follow, feed and run are called from one thread. logits of different guessers may be read on several.
 */
#ifndef VOUCH_DRAFT_GUESSER_H
#define VOUCH_DRAFT_GUESSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "draft/drafter.h"

typedef struct vouch_guesser_ops {
    /* Stages the rows of tokens[0, n), n >= 1, that the state lacks, as many as fit into the pass. `logits`: the last
     * one gets logits; where the state holds all n, the last one runs again. PART: more rows are lacking. NONE: nothing
     * is lacking, or the context has no room. */
    vouch_staging (*follow)(void *self, const int32_t *tokens, int32_t n, bool logits);
    /* How many rows may be fed now. */
    int32_t (*room)(const void *self);
    /* Stages n guesses. parents [n]: the row that each guess follows, counted from the first row fed since follow; -1:
     * it follows the sequence. NULL: a chain, which continues the last row. One draft is fed as a chain or as a tree,
     * not as both. Never NONE. */
    vouch_staging (*feed)(void *self, const int32_t *guesses, const int32_t *parents, int32_t n);
    /* Runs the staged rows of the pass, unless they have run. Called once for each request that staged rows, before
     * anybody stages again. Returns the seconds that fall to this guesser's rows. */
    double (*run)(void *self);
    /* Time of each of n guessers that stage n_rows together, relative to one alone: t(n n_rows) / (n t(n_rows)). */
    double (*part)(const void *self, int32_t n_rows, int32_t n);
    /* [n_vocab of the target] logits of row i of the last follow or feed. Valid until the next call. */
    const float *(*logits)(void *self, int32_t i);
    /* Where it guesses n_draft tokens only: sets *tokens to their ids [n_draft] and returns n_draft. NULL, or 0: it may
     * guess any token, or has no logits of these alone. */
    int32_t (*draft_tokens)(const void *self, const int32_t **tokens);
    /* As `logits`, but of these tokens alone: [n_draft]. */
    const float *(*draft_logits)(void *self, int32_t i);
    /* The guesser's own estimate of the chance that the guess after row i is accepted, in place of its chance by q.
     * NULL, or negative: none. */
    double (*confidence)(const void *self, int32_t i);
    /* As a drafter's (drafter.h). A guesser that reads no hidden states has the first three NULL. */
    int32_t (*taps)(const void *self, const int32_t **layers);
    void (*hidden)(void *self, const int32_t *tokens, int32_t position, const float *const *states);
    int32_t (*n_hidden)(const void *self);
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
