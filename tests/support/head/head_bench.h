/* SPDX-License-Identifier: MIT */
/* Runs a head beside its target as the scripts in tests/golden do: 5 guesses after 12 tokens, and after a rejection of
 * all of them 5 after 15. Token i is 7 + 31 i modulo the vocabulary's size. */
#ifndef VOUCH_TESTS_HEAD_BENCH_H
#define VOUCH_TESTS_HEAD_BENCH_H

#include "draft/paid/head.h"
#include "engine/file/model.h"
#include "golden/head_row.h"
#include "support/head/head_of.h"
#include "support/model/sequence.h"

enum { HEAD_FIRST = 12, HEAD_MORE = 3, HEAD_CTX = 64 };

typedef struct head_bench {
    const vouch_head_weights *head;
    vouch_pool *pool;
    vouch_shared_passes passes;
    vouch_sequence target;
    vouch_drafter_ref drafter;
    int32_t tokens[HEAD_CTX], n, n_vocab;
    int32_t n_given; /* positions whose states the head has */
} head_bench;

/* Opens a head's file or folder. Fails the test if it can't. */
vouch_draft_file *head_bench_file(const char *path, const vouch_model *target);

/* The target's memory has pages of this many slots: 16, 32 or 64. branches: as the drafter's option. */
void head_bench_open(head_bench *b, const vouch_model *model, const vouch_head_weights *head, int32_t page_size,
                     int32_t branches);
void head_bench_close(head_bench *b);
/* Commits n tokens as a session does: the target runs all but the last one, and the head gets their states. */
void head_bench_commit(head_bench *b, int32_t n);
/* A chain of HEAD_DRAFT guesses. */
vouch_draft head_bench_propose(head_bench *b);
/* The target runs a draft, and all of it is rejected. */
void head_bench_reject(head_bench *b, const vouch_draft *draft);

/* Fails the test where a logit differs by more than 2e-4 standard deviations of its row, or the likeliest token does.
 * `name` is for the message. */
void head_bench_compare(const char *name, const vouch_model *model, const vouch_head_weights *head,
                        const head_row rows[HEAD_ROUNDS * HEAD_DRAFT]);

/* Law L5: damages `file` in many ways, and opens the head at `path` each time: the same file, or its folder. The head
 * must be refused with a message that names `path`, or draft. Damages of both results must occur. `words` as of
 * mutator_open. */
void head_bench_damage(const char *file, const char *path, const vouch_model *model, const char *const *words,
                       uint64_t seed);

#endif
