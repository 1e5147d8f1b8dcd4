/* SPDX-License-Identifier: MIT */
/*
 * The order of lessons. Each epoch has its own order of the answers, which the seed decides. A step takes the next
 * answers, as many as fit into its shards one after the other. So the position (epoch, at) decides what comes next, and
 * a checkpoint keeps it.
 */
#ifndef VOUCH_TRAIN_SCHEDULE_H
#define VOUCH_TRAIN_SCHEDULE_H

#include "train/lessons/lessons.h"

enum { TRAIN_SHARDS = 2, TRAIN_SHARD_SEQUENCES = 256 };

typedef struct train_schedule {
    const train_lessons_set *set;
    uint64_t seed;
    int64_t max_rows;   /* of a shard */
    int64_t max_length; /* rows of an answer; longer ones lose their first rows */
    int32_t *lengths;   /* [n_taught] rows of the answers in set->order */
    int32_t *order;     /* [n_taught] of epoch `ordered` */
    int64_t ordered;    /* -1: none yet */
    int64_t epoch, at;  /* the next answer */
} train_schedule;

/* The answers of a step: indices into set->order. */
typedef struct train_step_plan {
    int32_t n[TRAIN_SHARDS];
    int32_t answers[TRAIN_SHARDS][TRAIN_SHARD_SEQUENCES];
} train_step_plan;

/* An answer of n tokens has n - n_rowless rows. Errors: MEMORY, IO, FORMAT. */
vouch_status train_schedule_open(train_schedule *schedule, const train_lessons_set *set, uint64_t seed,
                                 int64_t max_rows, int32_t n_rowless, vouch_error *err);
void train_schedule_close(train_schedule *schedule);
/* Takes the next step's answers. A step never crosses the end of an epoch. */
void train_schedule_next(train_schedule *schedule, train_step_plan *plan);
/* Counts the steps of n_epochs, and begins the schedule anew. */
int64_t train_schedule_steps(train_schedule *schedule, int32_t n_epochs);

#endif
