/* SPDX-License-Identifier: MIT */
/*
 * The cycle: draft, score, judge, commit, rewind.
 *
 *   tokens  [0 ......... n_tokens) [ path ........ )
 *            committed               the accepted path, during a cycle only
 *   target   has run the first n_cached <= n_tokens - 1 of them between cycles
 *
 *   1 draft   the drafter guesses: a chain or a tree
 *   2 score   one pass of the target over tokens[n_cached, n_tokens) and the guesses
 *   3 judge   from the sequence's end along the accepted guesses; one token more, or none where p of its row failed
 *   4 commit  one at a time, until one of them ends the answer: nothing after it exists; the drafter sees their rows
 *   5 rewind  the target keeps the committed path, all but its last token; the drafter forgets the rest
 *
 * It knows the target only through vouch_target, so that tests can put a table in its place.
 */
#ifndef VOUCH_DECODE_CYCLE_H
#define VOUCH_DECODE_CYCLE_H

#include "decode/judge.h"
#include "decode/pace.h"

typedef struct vouch_target {
    /* One pass over tokens[n_cached, n_tokens), everything that it has not run yet, and the guesses behind them, for
     * which `tokens` has room; afterwards row 0 is what follows the sequence, row i + 1 what follows guess i. */
    void (*score)(void *self, int32_t *tokens, int32_t n_tokens, const vouch_draft *draft);
    /* p of a row, with tokens[0, n_history) as its history, the guesses before it included; until the next row. */
    vouch_status (*row)(void *self, const int32_t *tokens, int32_t n_history, int32_t row,
                        const vouch_dist **p);
    /* [n_vocab] what the model gave for a row of the last pass. */
    const float *(*logits)(void *self, int32_t row);
    /* After a pass: of its guesses those on the path stay in the cache, and no other. */
    void (*keep)(void *self, const int32_t *path, int32_t n);
    /* Only the first n tokens stay in the cache (fewer may be there already). */
    void (*rewind)(void *self, int32_t n);
    void *self;
} vouch_target;

/* Told each committed token in order; anything but NONE: the answer ends with it. */
typedef vouch_finish vouch_commit_fn(void *self, int32_t token);

typedef struct vouch_cycle {
    vouch_target target;
    vouch_drafter_ref drafter; /* ops NULL: plain decoding */
    vouch_pace *pace;          /* the drafter, where it is told of each cycle; else NULL */
    const vouch_rule *rule;
    vouch_dice dice;
    double lenience;           /* 1 where the rule knows no other; may change between cycles */
    bool want_overlap;
    vouch_commit_fn *commit;
    void *commit_self;
    int32_t *tokens;           /* [n_ctx], owned by the session */
    int32_t n_tokens, n_ctx;
    int32_t n_vocab;           /* a draft is cut at the first guess that isn't below it */
    vouch_draft draft;         /* of the running cycle */
    vouch_guess guesses[VOUCH_MAX_DRAFT]; /* the verdicts of the last cycle */
    vouch_stats *stats;        /* all but the prompt's fields are filled here */
} vouch_cycle;

typedef struct vouch_cycle_result {
    int32_t first;        /* committed: tokens[first, first + n) */
    int32_t n, n_accepted, n_guesses;
    vouch_origin last;
    vouch_finish finish;
} vouch_cycle_result;

/* One cycle with a draft of this shape (n may be 0 or less: none) and at most `room` >= 1 committed tokens: paths
 * are cut to room - 1, and all of it so that sequence and guesses fit into n_ctx. Needs 1 <= n_tokens < n_ctx; the
 * answer ends with CONTEXT when the last place is taken. Afterwards target and drafter hold at most n_tokens - 1
 * tokens.
 * On failure nothing is committed or counted; it is the token at n_tokens that couldn't be had. A failure
 * behind accepted guesses is left to the next cycle: they are committed, with last ACCEPTED and finish NONE.
 * Errors: NUMERIC. */
vouch_status vouch_cycle_step(vouch_cycle *cycle, const vouch_shape *shape, int32_t room, vouch_cycle_result *out);
/* Target and drafter forget all but the first n tokens. */
void vouch_cycle_rewind(const vouch_cycle *cycle, int32_t n);

#endif
