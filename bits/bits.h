/* SPDX-License-Identifier: MIT */
/*
 * The promise that this build gives the bits of every other system (law L1), tried without a model's file:
 *
 *   kernels   every table of kernels that the processor runs, beside plain C, bit for bit          matmuls.c, rows.c
 *   order     plain C beside digests that were computed elsewhere: docs/float-order.md              digests.inc
 *   models    tiny models of several families on every table: logits and cache beside digests       models.c, tiny.c
 *   drafts    the same models with guesses, right and wrong: tokens and cache are those without     models.c
 *
 * A file of vectors says the same to other engines, in inputs and results instead of digests. Checking one reports
 * operations as `order` and whole models as `models`: vectors.c, model_vectors.c.
 *
 * compare.c holds what they share. The digests are those of x86-64 Linux. scripts/digests writes them from a report of
 * `vouch check --system --json`.
 *
 * This is the only header of bits/ that the command includes.
 */
#ifndef VOUCH_BITS_BITS_H
#define VOUCH_BITS_BITS_H

#include <jansson.h>

#include "vouch.h"

typedef enum bits_part { BITS_KERNELS, BITS_ORDER, BITS_MODELS, BITS_DRAFTS, BITS_PARTS } bits_part;

/* Who hears of the results. The texts are valid during the call. */
typedef struct bits_listener {
    void *user;
    /* A comparison. mismatch NULL: the bits are equal. Otherwise it names the table, the operation, its type and shape,
     * the value found and the value expected. */
    void (*compared)(void *user, bits_part part, const char *mismatch);
    /* A digest of BITS_ORDER or BITS_MODELS, as the plain C table gives it. */
    void (*found)(void *user, const char *name, uint64_t digest);
    /* The check calls it now and then: `share` of the work is done, from 0 to 1. If it returns false, the check ends.
     */
    bool (*goes_on)(void *user, double share);
} bits_listener;

/* Compares everything. Errors: MEMORY, CANCELLED; those of vouch_model_open and sessions, which don't happen in a build
 * that works. */
vouch_status bits_check(const bits_listener *listener, vouch_error *err);

/* Compares every table of kernels that the processor runs with the vectors of a file. Its listener has no `found`.
 * Errors: IO, FORMAT, MEMORY, CANCELLED, and those of vouch_model_open. The message of FORMAT names the file, the
 * vector and its member. */
vouch_status bits_check_vectors(const char *path, const bits_listener *listener, vouch_error *err);

/* The content of a file of vectors, with plain C's results. The caller releases *vectors. Errors: MEMORY. */
vouch_status bits_make_vectors(json_t **vectors, vouch_error *err);
/* Model i of those vectors: the name of its file, which lies beside that of the vectors, and its bytes, which the
 * caller frees. Past the last model *file is NULL. Errors: MEMORY. */
vouch_status bits_make_model(int32_t i, const char **file, void **bytes, size_t *size, vouch_error *err);
/* The path of a file with this name in the folder of the file of vectors. The caller frees it; NULL: no memory. */
char *bits_path_beside(const char *vectors, const char *name);

#endif
