/* SPDX-License-Identifier: MIT */
/*
 * The promise that this build gives the bits of every other system (law L1), tried without a model's file:
 *
 *   kernels   every table of kernels that the processor runs, beside plain C, bit for bit          kernels.c, rows.c
 *   order     plain C beside digests that were computed elsewhere: docs/float-order.md              digests.inc
 *   models    tiny models of several families on every table: logits and cache beside digests       models.c, tiny.c
 *   drafts    the same models with guesses, right and wrong: tokens and cache are those without     models.c
 *
 * compare.c holds what they share. The digests are those of x86-64 Linux. scripts/digests writes them from a report of
 * `vouch check --system --json`.
 *
 * This is the only header of bits/ that the command includes.
 */
#ifndef VOUCH_BITS_BITS_H
#define VOUCH_BITS_BITS_H

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

#endif
