/* SPDX-License-Identifier: MIT */
/*
 * The linear head in closed form. With z the standardised taps of row t, e the target's embedding of x[t + 1] (head.h)
 * and y the target's final state at t + 1, divided by its root mean square:
 *
 *   y ≈ A z + M e + b
 *
 * minimises the squared error plus lambda times the squares of the weights, each times its input's sum of squares. With
 * X = [z | e | 1] the normal equations are
 *
 *   (X^T X + lambda diag(X^T X)) W = X^T Y
 *
 * which Cholesky solves: one pass over the states, and no iteration. The target's output norm divides by the root mean
 * square again, so the guess doesn't miss the length of y.
 *
 * A guess after another guess has no taps. It reads s(t + 1) = A z + M e + b, the head's own result (head.h), and a
 * second regression finds F and c, which take the place of A and b:
 *
 *   y(t + 2) ≈ F s(t + 1) + M e(t + 2) + c
 *
 * F can't be inverted: it keeps a few directions of a state. One element of a state may be a hundred times another one
 * (in Gemma 3 270M 22 times the root mean square), so lambda is relative to each input.
 */
#ifndef VOUCH_TRAIN_LINEAR_H
#define VOUCH_TRAIN_LINEAR_H

#include "train/lessons/lessons.h"

/* The head's parts, each [outputs, inputs]; train_linear_free gives them back. */
typedef struct train_linear_head {
    int64_t n_features, width;
    float *fc;         /* [width, n_features] A */
    float *fc_bias;    /* [width] b - c */
    float *leave;      /* [width, width] F */
    float *token;      /* [width, width] M */
    float *token_bias; /* [width] c */
} train_linear_head;

typedef struct train_linear_options {
    double lambda;                            /* relative to the sum of squares of each input */
    int64_t most_rows;                        /* answers after so many rows aren't looked at; 0: no limit */
    void (*report)(void *user, double share); /* may be NULL */
    void *user;
} train_linear_options;

train_linear_options train_linear_options_default(void);
/* Bytes that the fit allocates at most. */
double train_linear_bytes(const train_lessons_set *lessons);
/* Fits the head to the lessons that aren't held back. embedding [n_vocab, width] as in head.h. Errors: MEMORY, IO,
 * FORMAT, NUMERIC. */
vouch_status train_linear_fit(train_linear_head *head, const train_lessons_set *lessons, const float *embedding,
                              const train_linear_options *options, vouch_error *err);
void train_linear_free(train_linear_head *head);

#endif
