/* SPDX-License-Identifier: MIT */
/*
 * A drafter guesses the next tokens: a chain of guesses, or a tree.
 *
 *   sequence ... a b | c  d  e          guesses  0:c  1:d  2:x  3:e  4:y
 *                    | |  `- y          parents  -1   0    -1   1    0
 *                    ` x                depth     0   1     0   2    1
 *
 * Every call passes the whole sequence. A drafter keeps its own state (a KV cache, an index) and brings it up to date
 * by itself. The contract:
 *   D1  propose reads tokens[0, n_tokens) and does not change them.
 *   D2  Between two calls the sequence may only have grown, unless rewind(n) came between them: then all tokens from
 *       the n-th on may have changed.
 *   D3  A guess carries the q that it was drawn from. q NULL means a point mass. Guesses that have the same parent and
 *       a q were drawn from that one q without replacement, in the order of their numbers, and stand before the point
 *       masses of that parent. With `paths`, siblings are instead the different tokens of independent draws from that
 *       q, one draw for each path that takes the parent, in the order of the first draw of each; paths[i] draws gave
 *       guess i. A drafter decides whether to draw a guess before it draws it, and keeps every guess that it has drawn.
 *       A deterministic guess may depend on sampled guesses, provided their random numbers are never reused at its
 *       position.
 *   D4  Nothing is allocated after open.
 *
 * A drafter guesses at once (propose), or level by level: each level needs a pass of a model, which the drafters of
 * several sequences share.
 *
 *     begin ─► stage ─► run ─► grow ─► stage ─► run ─► grow ─► ... ─► stage: NONE ─► end
 *
 *   D5  stage and run are called from one thread; begin, grow and end of different drafters may run side by side. All
 *       drafters that have staged rows grow before any of them stages again.
 */
#ifndef VOUCH_DRAFT_DRAFTER_H
#define VOUCH_DRAFT_DRAFTER_H

#include "base/cost.h"
#include "sample/sample.h"

/* Guesses. The drafter owns the arrays; they are valid until its next call. */
typedef struct vouch_draft {
    int32_t n;                  /* guesses; 0: none */
    const int32_t *tokens;      /* [n] */
    const int32_t *parents;     /* [n] each below the guess's own number, -1: the sequence; NULL: a chain */
    const vouch_dist *const *q; /* [n] each may be NULL: a point mass; NULL: all are point masses */
    const int32_t *paths;       /* [n] independent paths that take each drawn guess; NULL: siblings are drawn without
                                   replacement (D3) */
    const unsigned *drafters;   /* [n] VOUCH_DRAFTER_ bits of the drafters that made each guess; NULL: `drafter` */
    unsigned drafter;           /* the bit of the drafter that made all guesses */
    const float *chances;       /* [n] estimated chance that each guess is accepted, given its parent; NULL: none */
    const double *expected;     /* [n + 1] the expected tokens of a cycle with the first i guesses; NULL: none */
} vouch_draft;

static inline int32_t vouch_draft_parent(const vouch_draft *draft, int32_t i)
{
    return draft->parents ? draft->parents[i] : i - 1;
}

static inline unsigned vouch_draft_drafters(const vouch_draft *draft, int32_t i)
{
    return draft->drafters ? draft->drafters[i] : draft->drafter;
}

/* Whether guess i was drawn from its q. False for -1. */
static inline bool vouch_draft_is_drawn(const vouch_draft *draft, int32_t i)
{
    return i >= 0 && draft->q && draft->q[i];
}

/* The next child of `parent` after guess i; -1: none. */
static inline int32_t vouch_next_child(const vouch_draft *draft, int32_t parent, int32_t i)
{
    while (++i < draft->n)
        if (vouch_draft_parent(draft, i) == parent) return i;
    return -1;
}

/* Number of guesses before guess i on its path. */
static inline int32_t vouch_draft_depth(const vouch_draft *draft, int32_t i)
{
    int32_t depth = 0;
    while ((i = vouch_draft_parent(draft, i)) >= 0) depth++;
    return depth;
}

/* Length of the longest path. */
static inline int32_t vouch_draft_levels(const vouch_draft *draft)
{
    int32_t most = 0;
    for (int32_t i = 0; i < draft->n; i++) {
        const int32_t n = vouch_draft_depth(draft, i) + 1;
        if (n > most) most = n;
    }
    return most;
}

/* Limits of a draft, 1 <= depth <= n <= VOUCH_MAX_DRAFT. */
typedef struct vouch_shape {
    int32_t n;         /* most guesses */
    int32_t depth;     /* longest path */
    int32_t branches;  /* most children of one parent; 1: a chain */
    vouch_price price; /* a drafter that estimates acceptance drafts the number of guesses that is worth most */
} vouch_shape;

/* One row of a pass of the target. */
typedef struct vouch_seen {
    int32_t n_tokens;    /* the row follows tokens[0, n_tokens) */
    const float *logits; /* [n_vocab] before sampling parameters */
} vouch_seen;

/* What a request to stage rows in a shared pass came to. */
typedef enum vouch_staging {
    VOUCH_STAGED_NONE, /* there are no rows to run: the draft is complete */
    VOUCH_STAGED_FULL, /* no row, because the pass is full: it runs first, then the request comes again */
    VOUCH_STAGED_PART, /* of a guesser only: as ROWS, then the request comes again for the rows that are lacking */
    VOUCH_STAGED_ROWS, /* rows are staged: run comes next */
} vouch_staging;

/* The steps of a draft that is made level by level: begin; stage, run and grow for each level; end. The caller keeps
 * `tokens` in place from begin to end. */
typedef struct vouch_level_ops {
    /* Stages rows of tokens[0, n_tokens - 1) that the drafter lacks. The session calls it for each chunk of a prompt,
     * and again after each run, until it returns NONE. A draft begins with what is lacking then. */
    vouch_staging (*follow)(void *self, const int32_t *tokens, int32_t n_tokens);
    void (*begin)(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape);
    vouch_staging (*stage)(void *self);
    /* Runs the rows that the drafters of its pass have staged, unless they have run. Returns the seconds that fall to
     * the rows of this drafter. */
    double (*run)(void *self);
    void (*grow)(void *self); /* chooses the guesses of the level whose rows have run */
    vouch_draft (*end)(void *self);
    /* The part of a level's time that falls to each of n drafters that share the pass, relative to a level of one
     * drafter alone. */
    double (*part)(const void *self, int32_t n);
} vouch_level_ops;

enum { VOUCH_MAX_TAPS = 16 };

typedef struct vouch_drafter_ops {
    const char *name;
    unsigned bit; /* VOUCH_DRAFTER_ */
    /* Guesses the tokens after tokens[0, n_tokens), n_tokens >= 1, n_tokens + shape->n at most the session's context
     * length. Can't fail: a drafter without an idea returns fewer guesses or none. NULL: it drafts by levels. */
    vouch_draft (*propose)(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape);
    /* The same with the guesses of another drafter, the guide, in its tree. They fit into the limits. NULL: it guesses
     * alone. */
    vouch_draft (*propose_around)(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape,
                                  const vouch_draft *guide);
    const vouch_level_ops *levels; /* the same level by level; only a paid drafter. NULL: it has `propose` */
    /* Brings the drafter up to date with tokens[0, n_tokens). The session calls it once for each chunk of a prompt and
     * can be cancelled between chunks. NULL: propose catches up fast enough, or it follows level by level. */
    void (*observe)(void *self, const int32_t *tokens, int32_t n_tokens);
    /* Tells the drafter, after it was not asked for a while, that its estimates need not learn from tokens before
     * n_tokens that it has not observed yet. NULL: it has no estimates. */
    void (*skip)(void *self, int32_t n_tokens);
    /* An answer begins after tokens[0, n_tokens). NULL: not needed. */
    void (*begin)(void *self, const int32_t *tokens, int32_t n_tokens);
    /* The answer has ended with tokens[0, n_tokens). NULL: not needed. */
    void (*end)(void *self, const int32_t *tokens, int32_t n_tokens);
    /* Shows a row of the target after committed tokens. After a cycle the drafter sees the rows that plain decoding
     * would have run, in order, each once. NULL: not needed. */
    void (*see)(void *self, const int32_t *tokens, const vouch_seen *row);
    /* The layers of the target whose hidden states `hidden` takes, ascending: the residual stream after each of them,
     * the last layer's before the output norm. Returns their number, at most VOUCH_MAX_TAPS. Only a paid drafter takes
     * hidden states. NULL: none. */
    int32_t (*taps)(const void *self, const int32_t **layers);
    /* The target's hidden states at a position: states[i] [n_embd] after the i-th of these layers. Each
     * committed position comes once and in order, also in prompts, as soon as the target has run its token. The token
     * after it, tokens[position + 1], is known then. After rewind(n) the positions from n on come again, or earlier
     * ones, too (n_hidden). */
    void (*hidden)(void *self, const int32_t *tokens, int32_t position, const float *const *states);
    /* Forgets all but the first n_tokens tokens. */
    void (*rewind)(void *self, int32_t n_tokens);
    /* After rewind: the drafter has, or no longer needs, the hidden states of so many first positions. The states of
     * later positions come again. NULL: it needs none again. */
    int32_t (*n_hidden)(const void *self);
    /* How many of tokens[0, n_tokens) its state holds already. Changes nothing. NULL: catching up takes no time. */
    int32_t (*known)(const void *self, const int32_t *tokens, int32_t n_tokens);
    void (*close)(void *self);
    size_t (*memory)(const void *self);
    /* A hash of everything learned from tokens (for tests of law L3). NULL: nothing is learned. */
    uint64_t (*digest)(const void *self);
} vouch_drafter_ops;

/* An open drafter. ops NULL: none. */
typedef struct vouch_drafter_ref {
    const vouch_drafter_ops *ops;
    void *self;
} vouch_drafter_ref;

#endif
