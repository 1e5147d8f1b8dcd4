/* SPDX-License-Identifier: MIT */
/* Teaches a draft model by gradient descent (descent.h), and measures it. Rows, tokens and lessons are those of
 * states.h: row t reads token t and learns what the target says after it. */
#ifndef VOUCH_TRAIN_STUDENT_TEACH_H
#define VOUCH_TRAIN_STUDENT_TEACH_H

#include "train/teach/descent.h"
#include "train/teach/student_file.h"

typedef struct train_student_course {
    train_student *student;
    const train_lessons_set *set; /* taught, and held back to measure with */
    vouch_status (*lessons)(void *user, int64_t round, bool begins, const train_lessons_set **set,
                            vouch_error *err); /* descent.h */
    int32_t n_rounds;                          /* likewise */
    int32_t longest;                           /* tokens of the longest answer */
    train_goal goal;
    train_adam adam; /* n_steps and n_warm follow from the lessons */
    int32_t n_epochs;
    uint64_t seed;
    const int32_t *frequent; /* [n_vocab] tokens, the most frequent first */
    int64_t n_outputs;       /* rows of the output matrix that a step sees: seven in eight for the most frequent tokens,
                                the others drawn (student.h); n_vocab or more: all */
    uint64_t settings;       /* hash of what else a checkpoint must agree with */
    const char *checkpoint;  /* path */
    double checkpoint_seconds;
    vouch_pool *pool;
    void (*report)(void *user, int64_t step, int64_t n_steps, const train_sums *sums, const train_score *held);
    bool (*is_cancelled)(void *user);
    void *user;
} train_student_course;

/* Bytes that teaching takes besides the student, its factors and their fixed matrices included. */
double train_student_teach_bytes(const train_student_course *course);
/* Errors: MEMORY, IO, FORMAT, MISMATCH, NUMERIC (names the step), CANCELLED. */
vouch_status train_student_teach(const train_student_course *course, vouch_error *err);

/* Guesses of a student with its whole vocabulary. */
typedef struct train_student_score {
    train_score greedy; /* chains of TRAIN_MEASURED_DEPTH guesses on greedy answers */
    int64_t n_rows;     /* of greedy and of sampled answers */
    double accepted;    /* sum over these rows of sum(min(p, q)): the acceptance rate of rejection sampling at
                           temperature 1. Tokens whose p isn't kept count as one; it is too high by their p at most */
} train_student_score;

/* Scores answers order[from, to), at most max_tokens tokens of them. Errors: MEMORY, IO, FORMAT. */
vouch_status train_student_measure(train_student_score *score, const train_student *student,
                                   const train_lessons_set *set, int32_t from, int32_t to, int64_t max_tokens,
                                   vouch_error *err);

#endif
