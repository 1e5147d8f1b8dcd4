/* SPDX-License-Identifier: MIT */
/*
 * Measures which reading (kernels.h) of packed weights is the fastest on this machine. Law L1 makes it free of risk:
 * all readings give the same bits.
 *
 *   for each type of quantised weights, but only where it has a noticeable part of the bytes
 *     for 1, 2, 5 and 8 rows
 *       ROUNDS times: multiply a sample of the weights in each way, in turn. Each sample lies elsewhere, so that it
 *       comes from where the weights of a pass come from.
 *       The usual reading stays unless the median of another one is at least 2 % faster.
 *
 * The threads share a sample as they share a stage of a pass. A type takes 10 to 40 ms, more where memory is slow.
 */
#ifndef VOUCH_KERNELS_TUNE_H
#define VOUCH_KERNELS_TUNE_H

#include "base/pool.h"
#include "kernels/kernels.h"

enum { VOUCH_MOST_TRIALS = 512 }; /* 32 types, 4 numbers of rows, 4 readings */

typedef struct vouch_tuning {
    vouch_reading readings[VOUCH_TYPE_COUNT][VOUCH_MAX_GROUP + 1]; /* by the rows of a group */
    vouch_kernel_trial trials[VOUCH_MOST_TRIALS];
    int32_t n_trials;
} vouch_tuning;

/* Sets the usual readings. */
void vouch_tuning_init(vouch_tuning *tuning);
/* Measures the packed matrices [n] with the threads of the pool, and sets the readings of their types. Less than 16 MiB
 * of quantised weights in all, or less than 4 MiB of a type, keep the usual readings. */
void vouch_tuning_measure(vouch_tuning *tuning, const vouch_kernels *kernels, const vouch_matrix *matrices, size_t n,
                          vouch_pool *pool);

#endif
