/* SPDX-License-Identifier: MIT */
/*
 * A grammar over tokens, and a budget of thoughts: which tokens may come next after an answer. One of both may be
 * absent. A token that the budget forces is the only one, whatever the grammar says.
 *
 *     sequence   [ prompt | answer settled so far | guesses ]
 *                         ▲ begin                 ▲ root      ▲ state: the root advanced by the guesses
 *
 * A follower remembers the state at one length of the sequence, its root. Judge, free drafters and paid drafter
 * each have one, because they know the sequence up to different lengths. Guesses lead away from a root and never change
 * it, so a rejection leaves no trace (law L3).
 *
 * Tokens are allowed by their bytes, as the answer's text has them. A control token is allowed where the grammar names
 * it; one that ends an answer, where the text may end. A token's ban depends on the text before it alone, not on how
 * tokens divide the text.
 *
 * Finding all allowed tokens walks the tree of the vocabulary (trie.h). For SmolLM2's 49,152 tokens and a JSON text of
 * 119 tokens, the mean is 10 us for any JSON, 77 us for a schema whose strings have bounded lengths (nearly every
 * token meets a new state), and 0.4 us where the masks are known (Xeon family 6 model 207). The masks found last are
 * kept.
 */
#ifndef VOUCH_TEXT_GRAMMAR_CONSTRAINT_H
#define VOUCH_TEXT_GRAMMAR_CONSTRAINT_H

#include "text/grammar/trie.h"
#include "text/chat/thoughts.h"
#include "vouch.h"

typedef struct vouch_constraint vouch_constraint;

typedef enum vouch_follower {
    VOUCH_FOLLOWER_JUDGE,
    VOUCH_FOLLOWER_SOURCES,
    VOUCH_FOLLOWER_MODEL,
    VOUCH_FOLLOWERS
} vouch_follower;

/* The grammar with its trie, or the thoughts, may be NULL. All must outlive the constraint. Errors: MEMORY, UNSUPPORTED
 * (the vocabulary can't spell a byte without which the grammar can't go on). */
vouch_status vouch_constraint_open(vouch_constraint **out, const vouch_grammar *grammar, const vouch_trie *trie,
                                   const vouch_thoughts *thoughts, int32_t n_vocab, vouch_error *err);
void vouch_constraint_close(vouch_constraint *constraint);          /* NULL is allowed */
size_t vouch_constraint_memory(const vouch_constraint *constraint); /* NULL: 0 */

/* An answer begins after tokens[0, n). All roots move there. */
void vouch_constraint_begin(vouch_constraint *constraint, const int32_t *tokens, int32_t n);
/* Whether tokens[0, n) ends in the answer, or where it begins. */
bool vouch_constraint_applies(const vouch_constraint *constraint, int32_t n);
/* Moves a root to tokens[0, n). Does nothing if n lies before the answer. */
void vouch_constraint_settle(vouch_constraint *constraint, vouch_follower who, const int32_t *tokens, int32_t n);
const vouch_trie *vouch_constraint_trie(const vouch_constraint *constraint);
/* The length of the sequence at a root. */
int32_t vouch_constraint_settled(const vouch_constraint *constraint, vouch_follower who);

/* Sets *mask to the tokens that may come after the root and the n tokens of `path`: [n_vocab bits], bit i % 64 of word
 * i / 64; NULL: any may. False: none may. Valid until the next call. */
bool vouch_constraint_mask(vouch_constraint *constraint, vouch_follower who, const int32_t *path, int32_t n,
                           const uint64_t **mask);
/* Whether the path's last token may come after the others. */
bool vouch_constraint_allows(vouch_constraint *constraint, vouch_follower who, const int32_t *path, int32_t n);
/* The text that must come after the path: writes at most `most` bytes and returns their number. *ends: the answer must
 * end after them. */
int32_t vouch_constraint_forced(vouch_constraint *constraint, vouch_follower who, const int32_t *path, int32_t n,
                                char *text, int32_t most, bool *ends);

/* A hash of the judge's root (for tests of law L3). */
uint64_t vouch_constraint_digest(const vouch_constraint *constraint);
/* How often all states but those in use were dropped (for tests). */
int64_t vouch_constraint_drops(const vouch_constraint *constraint);

#endif
