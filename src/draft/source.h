/* SPDX-License-Identifier: MIT */
/*
 * A source guesses for free, from what has been said: it knows, for any place, what may come next. A place is
 * the sequence's end or the end of a path of guesses behind it; so a tree can be grown node by node, from
 * several sources at once (compose.h), without copying anybody's state.
 *
 *   S1  observe, rewind: as a drafter's (drafter.h, D1 and D2). After it, the sequence is `tokens`.
 *   S2  a cursor stands for a place, to the source alone; `start` gives the sequence's end its cursor, `step` the
 *       place behind a token. Cursors are good until the sequence changes.
 *   S3  expand and step change nothing: what is asked leaves no trace (law L3).
 *   S4  nothing is allocated after open.
 *   S5  candidates of one class have held about equally often, or should have: how often, is counted by class.
 */
#ifndef VOUCH_DRAFT_SOURCE_H
#define VOUCH_DRAFT_SOURCE_H

#include "draft/drafter.h"

enum {
    VOUCH_TAIL = 32,       /* tokens before a place that a source may look at, path included */
    VOUCH_MAX_CLASSES = 80,
    VOUCH_MAX_OPTIONS = 8, /* most candidates of one source for one place */
};

typedef struct vouch_place {
    const int32_t *end; /* end[-1] is the last token before the place, end[-n_tail] the first to look at */
    int32_t n_tail;     /* at least 1 */
    int32_t depth;      /* the last so many are guesses */
    int64_t cursor;
} vouch_place;

typedef struct vouch_candidate {
    int32_t token;
    int32_t kind; /* its class, below the source's n_classes */
} vouch_candidate;

typedef struct vouch_source_ops {
    const char *name;
    unsigned bit; /* VOUCH_DRAFTER_ */
    int32_t n_classes;
    void (*observe)(void *self, const int32_t *tokens, int32_t n_tokens);
    /* As a drafter's; each may be NULL. */
    void (*begin)(void *self, const int32_t *tokens, int32_t n_tokens);
    void (*end)(void *self, const int32_t *tokens, int32_t n_tokens);
    void (*see)(void *self, const int32_t *tokens, const vouch_seen *row);
    void (*rewind)(void *self, int32_t n_tokens);
    int64_t (*start)(const void *self);
    int64_t (*step)(const void *self, const vouch_place *place, int32_t token);
    /* At most VOUCH_MAX_OPTIONS candidates, the likeliest first, no token twice. Returns their number. */
    int32_t (*expand)(const void *self, const vouch_place *place, vouch_candidate *out);
    /* How often a candidate of this class may hold, before anything has been counted; kind n_classes: a token that
     * it doesn't name where it names others. */
    double (*prior)(int32_t kind);
    double trust; /* its weight among several sources, to begin with */
    void (*close)(void *self);
    size_t (*memory)(const void *self);
    /* A number that differs when what has been learned does (for tests of law L3). */
    uint64_t (*digest)(const void *self);
} vouch_source_ops;

typedef struct vouch_source {
    const vouch_source_ops *ops;
    void *self;
} vouch_source;

#endif
