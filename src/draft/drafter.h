/* SPDX-License-Identifier: MIT */
/*
 * A drafter guesses the next tokens: a chain of them, or a tree.
 *
 *   sequence ... a b | c  d  e          guesses  0:c  1:d  2:x  3:e  4:y
 *                    | |  `- y          parents  -1   0    -1   1    0
 *                    ` x                depth     0   1     0   2    1
 *
 * A drafter is told the whole sequence each time and brings its own state (a KV cache, an index) up to
 * date with it by itself. The contract:
 *   D1  propose reads tokens[0, n_tokens) and leaves them as they are.
 *   D2  between two proposals the sequence may only have grown, unless rewind(n) said that all beyond
 *       the first n tokens may have changed.
 *   D3  a guess comes with the q it was really drawn from; q NULL means a point mass. Guesses with the same
 *       parent and a q were drawn from that one q without replacement, in the order of their numbers, and come before
 *       those without. Whether a guess would be drawn was decided before it was; once drawn it is there, whatever it
 *       is. A point mass may be what it is because of anything that was drawn, if the numbers by which it was aren't
 *       used again for the same position.
 *   D4  nothing is allocated after open.
 */
#ifndef VOUCH_DRAFT_DRAFTER_H
#define VOUCH_DRAFT_DRAFTER_H

#include "sample/sample.h"

/* Guesses. The arrays are the drafter's, valid until its next call. */
typedef struct vouch_draft {
    int32_t n;                  /* 0: no idea */
    const int32_t *tokens;      /* [n] */
    const int32_t *parents;     /* [n] below the guess's own number, -1: the sequence; NULL: a chain */
    const vouch_dist *const *q; /* [n], each may be NULL: a point mass; NULL: all are */
    const uint8_t *drafters;    /* [n] VOUCH_DRAFTER_ bits of who proposed it; NULL: the drafter's own bit */
    const float *chances;       /* [n] by its own model, of the guess behind those before it; NULL: it has none */
    double expected;            /* tokens of the cycle, as the drafter estimates; 0: it doesn't */
} vouch_draft;

static inline int32_t vouch_draft_parent(const vouch_draft *draft, int32_t i)
{
    return draft->parents ? draft->parents[i] : i - 1;
}

/* The next guess behind `parent` after guess i; -1: none. */
static inline int32_t vouch_next_child(const vouch_draft *draft, int32_t parent, int32_t i)
{
    while (++i < draft->n)
        if (vouch_draft_parent(draft, i) == parent) return i;
    return -1;
}

/* Guesses before guess i on its path. */
static inline int32_t vouch_draft_depth(const vouch_draft *draft, int32_t i)
{
    int32_t depth = 0;
    while ((i = vouch_draft_parent(draft, i)) >= 0) depth++;
    return depth;
}

/* What a draft may be, 1 <= depth <= n <= VOUCH_MAX_DRAFT. */
typedef struct vouch_shape {
    int32_t n;          /* most guesses */
    int32_t depth;      /* most on one path */
    int32_t branches;   /* most with one parent; 1: a chain */
    const double *cost; /* [n + 2] of a pass by its rows, cost[1] that of a plain step: a drafter that can estimate
                           acceptance drafts as much as gives most tokens for it. NULL: as much as it may */
    const vouch_draft *guide; /* to a composition: what another drafter guesses, to be part of the tree; it fits into
                                 the shape and says its drafters. NULL: nothing */
} vouch_shape;

/* One row of the target, as it came from the model. */
typedef struct vouch_seen {
    int32_t n_tokens;    /* it follows tokens[0, n_tokens) */
    const float *logits; /* [n_vocab] */
} vouch_seen;

typedef struct vouch_drafter_ops {
    const char *name;
    uint8_t bit; /* VOUCH_DRAFTER_ */
    /* Guesses for what follows tokens[0, n_tokens), n_tokens >= 1, n_tokens + shape->n at most the session's
     * n_ctx. Can't fail: a drafter that is at a loss guesses less. */
    vouch_draft (*propose)(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape);
    /* Brings the drafter up to date with tokens[0, n_tokens) without a proposal, in pieces of a prompt that the
     * caller can stop between. NULL where propose catches up fast enough. */
    void (*observe)(void *self, const int32_t *tokens, int32_t n_tokens);
    /* An answer begins behind tokens[0, n_tokens); or it is over, being the rest of tokens[0, n_tokens). Each may
     * be NULL, where it makes no difference. */
    void (*begin)(void *self, const int32_t *tokens, int32_t n_tokens);
    void (*end)(void *self, const int32_t *tokens, int32_t n_tokens);
    /* The answer has come to row->n_tokens of `tokens` and gone on behind them: after a cycle, for the rows that
     * plain decoding would have had, in order. NULL: of no use. */
    void (*see)(void *self, const int32_t *tokens, const vouch_seen *row);
    void (*rewind)(void *self, int32_t n_tokens);
    /* How many of tokens[0, n_tokens) it needn't catch up with when it is asked next. NULL: it never has to. */
    int32_t (*known)(void *self, const int32_t *tokens, int32_t n_tokens);
    void (*close)(void *self);
    size_t (*memory)(const void *self);
    /* A number that differs when what has been learned does (for tests of law L3); NULL: it has none. */
    uint64_t (*digest)(const void *self);
} vouch_drafter_ops;

/* A drafter as the cycle holds it. ops NULL: none. */
typedef struct vouch_drafter_ref {
    const vouch_drafter_ops *ops;
    void *self;
} vouch_drafter_ref;

#endif
