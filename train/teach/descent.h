/* SPDX-License-Identifier: MIT */
/*
 * Gradient descent over lessons, for any network. A step:
 *
 *   answers ──► shards ──► workers: forward and backward of whole shards, each with gradients of its own
 *                             └──► sum in the order of the workers ──► clip ──► AdamW
 *
 * The result depends on the lessons, the options and the number of threads alone. So a training that was interrupted at
 * any step ends with the same bytes.
 */
#ifndef VOUCH_TRAIN_DESCENT_H
#define VOUCH_TRAIN_DESCENT_H

#include "train/network/adam.h"
#include "train/lessons/batch.h"
#include "train/teach/measure.h"
#include "train/lessons/schedule.h"

enum { TRAIN_ROWS = 1024 }; /* most rows of a shard */

/* The parts of training that differ between networks. */
typedef struct train_network {
    real *weights; /* [n_weights] that learn */
    int64_t n_weights;
    int32_t n_sums;    /* generations, which have sums of their own */
    uint64_t settings; /* hash of all that a checkpoint must agree with, besides the descent's own settings */
    /* Takes the memory of shards and workers. Called once to count and once more to take. */
    void (*lay_out)(void *user, vouch_arena *arena, int32_t n_workers);
    /* Empties a shard and returns it. */
    train_space *(*clear)(void *user, int32_t shard);
    /* Adds the rows of an answer to a shard. */
    void (*add)(void *user, const train_lessons_set *set, train_space *shard, const train_sequence *answer);
    /* Prepares a step, counted from 0, before its shards run; NULL: nothing to prepare. */
    void (*begin)(void *user, int64_t step);
    /* Forward and backward of a shard: adds the gradient of the loss, divided by `counted`, to grads [n_weights], and
     * the shard's sums. Runs in the worker's thread. */
    void (*run)(void *user, int32_t worker, int32_t shard, int64_t counted, real *grads, train_sums *sums);
    /* Follows the weights, which a step or a checkpoint has changed; NULL: nothing depends on them. */
    void (*follow)(void *user);
    /* Scores answers held back. */
    vouch_status (*measure)(void *user, train_score *held, vouch_error *err);
    void *user;
} train_network;

typedef struct train_descent {
    train_network network;
    const train_lessons_set *set;
    /* The lessons of a round, counted from 0, which stay open until the next round; NULL: `set` in every round.
     * `begins`: no step of the round has been done, so the network has the weights with which the round begins. */
    vouch_status (*lessons)(void *user, int64_t round, bool begins, const train_lessons_set **set, vouch_error *err);
    int32_t n_rounds; /* of an epoch, 1 at least; the schedule's epochs are rounds */
    train_adam adam;  /* n_steps and n_warm are set by train_descend */
    int32_t n_epochs;
    int32_t n_rowless; /* tokens of an answer that make no row */
    uint64_t seed;
    const char *checkpoint; /* path */
    double checkpoint_seconds;
    vouch_pool *pool;
    void (*report)(void *user, int64_t step, int64_t n_steps, const train_sums *sums, const train_score *held);
    bool (*is_cancelled)(void *user);
    void *user; /* of lessons, report and is_cancelled */
} train_descent;

/* Bytes that the descent allocates. */
double train_descent_bytes(const train_descent *descent);
/* Trains the network's weights. Errors: MEMORY, IO, FORMAT, MISMATCH, NUMERIC (names the step), CANCELLED. */
vouch_status train_descend(train_descent *descent, vouch_error *err);

#endif
