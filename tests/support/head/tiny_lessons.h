/* SPDX-License-Identifier: MIT */
/*
 * The lessons that golden/train.py and golden/student.py teach, and numbers by the formulas of these scripts:
 *
 *   row       0 1 2 3 4 5 6 | 7 8 9 10 11     two answers
 *   position  0 1 2 3 4 5 6 | 0 1 2  3  4     plus `first_position`
 *   counts    1 1 0 1 1 1 1 | 1 1 1  1  1
 */
#ifndef TESTS_SUPPORT_TINY_LESSONS_H
#define TESTS_SUPPORT_TINY_LESSONS_H

#include <stdlib.h>

#include "support/test.h"
#include "train/network/head.h"
#include "train/network/ops.h"

enum { LESSON_ROWS = 12, LESSON_LENGTH = 7, LESSON_VOCAB = 13, LESSON_TOP = 4 };

typedef struct tiny_lessons {
    int32_t positions[LESSON_ROWS], tokens[LESSON_ROWS], labels[LESSON_ROWS], ids[LESSON_ROWS * LESSON_TOP], ends[2];
    float p[LESSON_ROWS * LESSON_TOP];
    uint8_t counts[LESSON_ROWS];
    real cosines[64], sines[64];
} tiny_lessons;

/* n numbers, which the caller frees. */
static inline real *tiny_wave(int64_t n, double seed, double scale)
{
    real *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++) x[i] = (real)(sin((double)i * (1.3 + 0.1 * seed) + seed) * scale);
    return x;
}

/* The batch is valid as long as the lessons, and has no features. Ids and labels are below n_outputs; a row's
 * probabilities are p, p / 2, p / 4 and p / 8. */
static inline train_batch tiny_lessons_make(tiny_lessons *l, int32_t first_position, int32_t n_outputs, float p)
{
    *l = (tiny_lessons){.ends = {LESSON_LENGTH, LESSON_ROWS}};
    train_angles(l->cosines, l->sines, LESSON_LENGTH + 1, 4, 10000);
    for (int i = 0; i < LESSON_ROWS; i++) {
        l->positions[i] = first_position + i % LESSON_LENGTH;
        l->tokens[i] = (5 * i + 3) % LESSON_VOCAB;
        l->labels[i] = 3 * i % n_outputs;
        l->counts[i] = i != 2;
        for (int k = 0; k < LESSON_TOP; k++) {
            l->ids[i * LESSON_TOP + k] = (i + 2 * k) % n_outputs;
            l->p[i * LESSON_TOP + k] = p / (float)(1 << k);
        }
    }
    return (train_batch){.rows = {LESSON_ROWS, {l->ends, 2}, l->positions, l->cosines, l->sines},
                         .tokens = l->tokens,
                         .lessons = {LESSON_TOP, l->ids, l->p, l->labels, l->counts}};
}

/* The largest difference between every stride-th x and golden [n], relative to the largest golden value. */
static inline double tiny_difference(const real *x, int64_t stride, const double *golden, size_t n)
{
    double worst = 0, scale = 0;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs((double)x[(int64_t)i * stride] - golden[i]));
        scale = fmax(scale, fabs(golden[i]));
    }
    return worst / scale;
}

#endif
