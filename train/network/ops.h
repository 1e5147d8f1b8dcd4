/* SPDX-License-Identifier: MIT */
/*
 * The parts of a network, forward and backward. A function with `_back` takes the gradient dy of the loss with respect
 * to the part's result. It adds the gradients of inputs and weights to dx, dw, ..., which the caller has zeroed before
 * the first addition. A gradient that nobody wants is NULL.
 *
 * Nothing here starts threads or allocates: each worker (teach.h) runs the whole network for its own sequences.
 */
#ifndef VOUCH_TRAIN_OPS_H
#define VOUCH_TRAIN_OPS_H

#include "train/network/real.h"

/* y [rows, n_out] = x [rows, n_in] w^T, w [n_out, n_in] */
void train_linear(real *y, const real *x, const real *w, int64_t rows, int64_t n_out, int64_t n_in);
void train_linear_back(real *dx, real *dw, const real *dy, const real *x, const real *w, int64_t rows, int64_t n_out,
                       int64_t n_in);

/* y = x factor weight, factor = 1 / sqrt(mean(x^2) + eps) of each row (Zhang, Sennrich, arXiv 1910.07467).
 * Writes factors [rows] for train_norm_back; weight NULL: all 1. */
void train_norm(real *y, real *factors, const real *x, const real *weight, int64_t rows, int64_t n, real eps);
void train_norm_back(real *dx, real *dweight, const real *dy, const real *x, const real *weight, const real *factors,
                     int64_t rows, int64_t n);

/* cos and sin of position * base^(-2 i / n_rot): [n_positions, n_rot / 2] each. */
void train_angles(real *cosines, real *sines, int64_t n_positions, int64_t n_rot, double base);
/* Rotates the pairs (2i, 2i + 1) of each head of each row in place (Su et al., arXiv 2104.09864). Back: by the negative
 * angle, which turns dy into dx. */
void train_rotate(real *x, const real *cosines, const real *sines, const int32_t *positions, int64_t rows,
                  int64_t n_heads, int64_t head_dim, bool back);

/* y = silu(gate) up (Shazeer, arXiv 2002.05202), n elements */
void train_swiglu(real *y, const real *gate, const real *up, int64_t n);
void train_swiglu_back(real *dgate, real *dup, const real *dy, const real *gate, const real *up, int64_t n);

/* y += x, n elements */
void train_add(real *y, const real *x, int64_t n);

#endif
