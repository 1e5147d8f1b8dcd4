/* SPDX-License-Identifier: MIT */
/*
 * A source is a free drafter as composition sees it (compose.h): for any prefix it names candidates for the next token.
 * A prefix is the sequence, or the sequence and a path of guesses. So several sources can build one tree together, node
 * by node, and no source has to copy its state.
 *
 *   S1  observe, rewind: as a drafter's (drafter.h, D1 and D2). Afterwards the sequence is `tokens`.
 *   S2  A cursor stands for a prefix; only its source can read it. `start` returns the cursor of the sequence, `step`
 *       the cursor after one more token. Cursors are valid until the sequence changes.
 *   S3  expand and step change nothing: a question leaves no trace (law L3).
 *   S4  Nothing is allocated after open.
 *   S5  A class holds candidates that should be right about equally often. chance.h counts how often.
 */
#ifndef VOUCH_DRAFT_SOURCE_H
#define VOUCH_DRAFT_SOURCE_H

#include "draft/drafter.h"

enum {
    VOUCH_TAIL = 32, /* last tokens of a prefix that a source may look at, guesses included */
    VOUCH_MAX_CLASSES = 80,
    VOUCH_MAX_OPTIONS = 8, /* most candidates of one source at one prefix */
};

typedef struct vouch_prefix {
    const int32_t *end; /* end[-1] is its last token, end[-n_tail] the first that the source may look at */
    int32_t n_tail;     /* at least 1 */
    int32_t depth;      /* the number of guesses at its end */
    int64_t cursor;
} vouch_prefix;

typedef struct vouch_candidate {
    int32_t token;
    int32_t kind; /* its class, below the source's n_classes */
} vouch_candidate;

typedef struct vouch_source_ops {
    const char *name;
    unsigned bit; /* VOUCH_DRAFTER_ */
    int32_t n_classes;
    void (*observe)(void *self, const int32_t *tokens, int32_t n_tokens);
    /* As a drafter's. begin and see may be NULL. */
    void (*begin)(void *self, const int32_t *tokens, int32_t n_tokens);
    void (*see)(void *self, const int32_t *tokens, const vouch_seen *row);
    void (*rewind)(void *self, int32_t n_tokens);
    int64_t (*start)(const void *self);
    int64_t (*step)(const void *self, const vouch_prefix *prefix, int32_t token);
    /* At most VOUCH_MAX_OPTIONS candidates, the likeliest first, no token twice. Returns their number. */
    int32_t (*expand)(const void *self, const vouch_prefix *prefix, vouch_candidate *out);
    /* How often a candidate of this class is right, before anything has been counted. Class n_classes: a token that the
     * source does not name while it names others. */
    double (*prior)(int32_t kind);
    double trust; /* where several sources are mixed, their first weights are proportional to it */
    void (*close)(void *self);
    size_t (*memory)(const void *self);
    /* Hash of everything that it has learned (for tests of law L3). */
    uint64_t (*digest)(const void *self);
} vouch_source_ops;

typedef struct vouch_source {
    const vouch_source_ops *ops;
    void *self;
} vouch_source;

#endif
