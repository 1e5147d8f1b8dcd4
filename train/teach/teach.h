/* SPDX-License-Identifier: MIT */
/* Teaches a head with decoder layers by gradient descent (descent.h), from the linear head. */
#ifndef VOUCH_TRAIN_TEACH_H
#define VOUCH_TRAIN_TEACH_H

#include "train/teach/descent.h"

typedef struct train_course {
    const train_lessons_set *set;
    train_head_shape shape;
    train_goal goal;
    train_adam adam; /* n_steps and n_warm follow from the lessons */
    int32_t n_epochs;
    uint64_t seed;
    double rope_base;
    const char *checkpoint; /* path */
    double checkpoint_seconds;
    const int32_t *drafts; /* [n_vocab] draft id of a token, or -1 */
    vouch_pool *pool;
    void (*report)(void *user, int64_t step, int64_t n_steps, const train_sums *sums, const train_score *held);
    bool (*is_cancelled)(void *user);
    void *user;
} train_course;

/* Bytes that teaching allocates, besides the head. */
double train_teach_bytes(const train_course *course);
/* Teaches the head, whose dense weights are `block` (train_head_size). Output and embedding are frozen. Errors: MEMORY,
 * IO, FORMAT, MISMATCH, NUMERIC (names the step), CANCELLED. */
vouch_status train_teach(const train_course *course, train_head *head, real *block, vouch_error *err);
/* Random layers that change nothing at first: their last matrices are 0. */
void train_layers_begin(const train_head *head, const train_head_shape *shape, uint64_t seed);

#endif
