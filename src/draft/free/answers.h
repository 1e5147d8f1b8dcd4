/* SPDX-License-Identifier: MIT */
/*
 * Earlier answers, which the drafters of all sessions copy from. They stand in a ring of pages:
 *
 *   page      0          1          2          3
 *           [ answer 7 . . . . ][ answer 8 |-1][ answer 5 ... ]        |-1: separators fill an answer's last page
 *   scope     A          A          B          A
 *
 * A position counts all tokens ever written, so the ring holds the positions from `reserved - capacity` on. A new
 * answer takes the place of the oldest. Where guesses were copied from an answer, the new answer repeats its text, so
 * the ring loses first what nobody uses.
 *
 * Two tables of chains lead from the last few tokens of a text to the newest positions that they led to: one for
 * LONG tokens, one for SHORT. As in LZ77, `older` holds for each position the next older one of the same hash.
 *
 * Each answer belongs to a scope, and only sequences of that scope see it. Writers take a lock. Readers take none: all
 * words are atomic, and a reader drops what it has read if the ring had begun to overwrite it (a seqlock).
 */
#ifndef VOUCH_DRAFT_ANSWERS_H
#define VOUCH_DRAFT_ANSWERS_H

#include "base/status.h"

enum {
    VOUCH_ANSWERS_SEPARATOR = -1, /* no token */
    VOUCH_ANSWERS_PAGE = 64,      /* tokens */
    VOUCH_ANSWERS_LEAST = 3,      /* tokens that a match has */
    VOUCH_ANSWERS_MATCHES = 16,   /* most matches of one search */
};

typedef struct vouch_answers vouch_answers;

typedef struct vouch_answer_match {
    int64_t next;   /* the position after the tokens that agree */
    int32_t length; /* tokens that agree */
} vouch_answer_match;

/* n_bytes: of all its memory, at least 64 KiB. Errors: MEMORY. */
vouch_status vouch_answers_open(vouch_answers **out, size_t n_bytes, vouch_error *err);
void vouch_answers_close(vouch_answers *answers);
/* Copies the tokens, or the last of them that have room. Any thread. */
void vouch_answers_add(vouch_answers *answers, uint64_t scope, const int32_t *tokens, int32_t n_tokens);
/* Forgets all. Returns the position of the next answer. Any thread. */
int64_t vouch_answers_clear(vouch_answers *answers);
/* Where the scope's answers agree with the last tokens before `end`: with most of them at first, among equals the
 * newest first. At most VOUCH_ANSWERS_MATCHES. Any thread. */
int32_t vouch_answers_find(const vouch_answers *answers, uint64_t scope, const int32_t *end, int32_t n_tail,
                           vouch_answer_match *out);
/* The token at a position; VOUCH_ANSWERS_SEPARATOR: the answer is over, or the ring no longer has it for this scope. */
int32_t vouch_answers_token(const vouch_answers *answers, uint64_t scope, int64_t position);
/* The first answer at *position or later; then *position leads to the one after it. `tokens` [n_tokens] are the
 * caller's to free(); NULL: memory is short. False: there is none. */
bool vouch_answers_next(const vouch_answers *answers, int64_t *position, uint64_t *scope, int32_t **tokens,
                        int32_t *n_tokens);
/* The position after the newest answer. */
int64_t vouch_answers_end(const vouch_answers *answers);
/* Tokens that it holds at most, and has now. */
int64_t vouch_answers_capacity(const vouch_answers *answers);
int64_t vouch_answers_size(const vouch_answers *answers);
size_t vouch_answers_memory(const vouch_answers *answers);

#endif
