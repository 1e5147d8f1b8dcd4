/* SPDX-License-Identifier: MIT */
/*
 * A context: one sequence running through one model. It owns the KV cache and the workspace of a pass.
 *
 *   slots   0 ........ n_cached ......... n_cached + n - 1 ........ n_ctx
 *           the sequence, by position     rows of the last pass
 *
 * A pass adds n rows. Each attends to the n_cached tokens before it and to its ancestors among the rows:
 * with parents NULL row i follows row i - 1 (a chain), otherwise row parents[i] < i, or -1 for the cache's
 * last token (a tree). Its position is its depth. vouch_context_keep then says how much of it stays. A tree can
 * also be grown by further passes, whose rows follow those of the passes before.
 *
 *   C1  slots [0, n_cached) hold exactly the keys and values of the sequence's tokens; slots beyond hold
 *       nothing that a later pass can see (law L3).
 *   C2  the logits of a row depend on its tokens alone (law L1).
 */
#ifndef VOUCH_MODEL_CONTEXT_H
#define VOUCH_MODEL_CONTEXT_H

#include "model/weights.h"

typedef struct vouch_context vouch_context;

typedef struct vouch_context_options {
    int32_t n_ctx;    /* slots for tokens */
    int32_t max_rows; /* most rows of a pass */
    int32_t max_logits; /* most rows of a pass with logits */
    vouch_kv_type kv_type;
    const vouch_matrix *head; /* instead of the weights': some of its rows; NULL: all */
} vouch_context_options;

/* The weights and the pool must outlive it. Errors: MEMORY (with the sizes); UNSUPPORTED where a head isn't whole
 * blocks of a quantised cache. */
vouch_status vouch_context_open(vouch_context **out, const vouch_weights *weights, vouch_pool *pool,
                                const vouch_context_options *options, vouch_error *err);
void vouch_context_close(vouch_context *context);
size_t vouch_context_memory(const vouch_context *context);

/* Runs n rows (1 to max_rows; n_cached + n <= n_ctx; valid ids) and adds them to the cache, a chain to
 * n_cached too; a tree's rows stay provisional until vouch_context_keep_path. The last n_logits rows
 * (<= max_logits) get logits. Can't fail: sizes are the caller's to keep, and asserted. */
void vouch_context_forward(vouch_context *context, const int32_t *tokens, const int32_t *parents,
                           int32_t n, int32_t n_logits);
/* Adds n rows to the tree of the last pass, as if they had been rows of it: parents count its rows, too. All rows of
 * a tree fit into max_rows. */
void vouch_context_grow(vouch_context *context, const int32_t *tokens, const int32_t *parents, int32_t n,
                        int32_t n_logits);
/* Logits [n_vocab], or of the head's rows, of the i-th row that has them. The caller may change them. */
float *vouch_context_logits(vouch_context *context, int32_t i);

int32_t vouch_context_n_cached(const vouch_context *context);
/* Forgets all but the first n tokens, n <= n_cached. */
void vouch_context_keep(vouch_context *context, int32_t n);
/* After a tree: keeps the rows path[0] < path[1] < ... (a path from a root), compacted. */
void vouch_context_keep_path(vouch_context *context, const int32_t *path, int32_t n);
/* A number that differs when any byte of the cached keys and values does (for tests of L3). */
uint64_t vouch_context_digest(const vouch_context *context);

#endif
