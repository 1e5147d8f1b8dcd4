/* SPDX-License-Identifier: MIT */
/*
 * The linear head in closed form. With z the standardised taps of row t, e the target's embedding of x[t + 1] and y the
 * target's final state at t + 1, divided by its root mean square:
 *
 *   y ≈ A z + M e + R[x[t + 1]] + b
 *
 * minimises the squared error plus lambda (|A|^2 + |M|^2) + kappa sum |R|^2. So a token with few examples has a small
 * R, and one without examples has M e alone. For given A, M and b, each R[v] is a shrunken mean; with it inserted, the
 * normal equations of the rest are (s_v, u_v: sums of inputs and of y over the n_v rows of token v)
 *
 *   (X^T X - sum s_v s_v^T / (n_v + kappa) + lambda) W = X^T Y - sum s_v u_v^T / (n_v + kappa)
 *
 * which Cholesky solves: one pass over the states, and no iteration. The target's output norm divides by the root mean
 * square again, so the guess doesn't miss the length of y.
 *
 * A guess behind another guess has no taps. It reads s, the head's own result (head.h), and F takes the place of A:
 *
 *   y(t + 2) ≈ F s(t) + tokens[x[t + 2]],    and fc = F^-1 A, so that both depths share one F
 *
 * F's singular values are raised to a share of the largest one, so that fc stays small.
 */
#ifndef VOUCH_TRAIN_LINEAR_H
#define VOUCH_TRAIN_LINEAR_H

#include "train/lessons.h"

/* The head's parts, each [outputs, inputs]; train_linear_free gives them back. */
typedef struct train_linear_head {
    int64_t n_features, width, n_vocab;
    float *fc;      /* [width, n_features] */
    float *feature; /* [width, width] */
    float *tokens;  /* [n_vocab, width] */
} train_linear_head;

typedef struct train_linear_options {
    double lambda; /* of A and M, relative to the number of rows */
    double kappa;  /* of R, in rows */
    double floor;  /* least singular value of F, relative to the largest */
    void (*report)(void *user, double share); /* may be NULL */
    void *user;
} train_linear_options;

train_linear_options train_linear_options_default(void);
/* Bytes that the fit allocates at most. */
double train_linear_bytes(const train_lessons_set *lessons);
/* Fits the head to the lessons that aren't held back. Errors: MEMORY, IO, FORMAT, NUMERIC. */
vouch_status train_linear_fit(train_linear_head *head, const train_lessons_set *lessons, const float *embedding,
                              const train_linear_options *options, vouch_error *err);
void train_linear_free(train_linear_head *head);

#endif
