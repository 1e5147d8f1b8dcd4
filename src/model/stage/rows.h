/* SPDX-License-Identifier: MIT */
/* Cheap operations on rows of floats, in plain C. Each has one order of its float operations on every machine (law L1).
 * The kernels (kernels.h) have the expensive operations. */
#ifndef VOUCH_MODEL_ROWS_H
#define VOUCH_MODEL_ROWS_H

#include "model/layer.h"

/* y = norm(x), for every kind of norm; y may be x. A missing weight counts as 1, a missing bias as 0. */
void vouch_row_norm(float *y, const float *x, const vouch_norm *norm, int64_t n, float eps);
/* The sum of x[i] y[i]. */
float vouch_row_dot(const float *x, const float *y, int64_t n);
/* x = max(x - cutoff, 0), cutoff = mean + deviations * the standard deviation */
void vouch_row_cut(float *x, float deviations, int64_t n);
/* Applies scale and bias of the outputs [first, first + n) to y [n]. */
void vouch_row_affine(float *y, const vouch_affine *affine, int64_t first, int64_t n);
/* x = min(max(x, -limit), limit) */
void vouch_row_clamp(float *x, float limit, int64_t n);
/* x = 1 / (1 + exp(-x)) */
void vouch_row_sigmoid(const vouch_kernels *kernels, float *x, int64_t n);
/* x = cap tanh(x / cap); |error| < 2e-7 cap */
void vouch_row_softcap(const vouch_kernels *kernels, float *x, float cap, int64_t n);
/* gate = f(gate) * up with the network's f and limit; both are overwritten. With `up` NULL, gate = f(gate). */
void vouch_row_activate(const vouch_kernels *kernels, const vouch_feed_forward *ffn, float *gate, float *up, int64_t n);

#endif
