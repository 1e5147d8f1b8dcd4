/* SPDX-License-Identifier: MIT */
/*
 * A drafter guesses the next tokens. One small interface, one file per kind.
 *
 * A drafter is told the whole sequence each time and brings its own state (a KV cache, an index) up to
 * date with it by itself. The contract:
 *   D1  propose reads tokens[0, n_tokens) and leaves them as they are.
 *   D2  between two proposals the sequence may only have grown, unless rewind(n) said that all beyond
 *       the first n tokens may have changed.
 *   D3  a guess comes with the q it was really drawn from; q NULL means a point mass.
 *   D4  nothing is allocated after open.
 */
#ifndef VOUCH_DRAFT_DRAFTER_H
#define VOUCH_DRAFT_DRAFTER_H

#include "sample/sample.h"

/* A chain of guesses. The arrays are the drafter's, valid until its next call. */
typedef struct vouch_draft {
    int32_t n;                    /* 0: no idea */
    const int32_t *tokens;        /* [n] */
    const vouch_dist *const *q;   /* [n], or NULL: every guess is a point mass */
} vouch_draft;

typedef struct vouch_drafter_ops {
    const char *name;
    /* At most k guesses (1 <= k <= VOUCH_MAX_DRAFT) for what follows tokens[0, n_tokens), n_tokens >= 1,
     * n_tokens + k at most the session's n_ctx. Can't fail: a drafter that is at a loss guesses less. */
    vouch_draft (*propose)(void *self, const int32_t *tokens, int32_t n_tokens, int32_t k);
    /* Brings the drafter up to date with tokens[0, n_tokens) without a proposal, in pieces of a prompt that the
     * caller can stop between. NULL where propose catches up fast enough. */
    void (*observe)(void *self, const int32_t *tokens, int32_t n_tokens);
    void (*rewind)(void *self, int32_t n_tokens);
    void (*close)(void *self);
    size_t (*memory)(const void *self);
} vouch_drafter_ops;

/* A drafter as the cycle holds it. ops NULL: none. */
typedef struct vouch_drafter_ref {
    const vouch_drafter_ops *ops;
    void *self;
} vouch_drafter_ref;

#endif
