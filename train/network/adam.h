/* SPDX-License-Identifier: MIT */
/* AdamW (Loshchilov, Hutter, arXiv 1711.05101) and its learning rate: warm-up, then half a cosine down to a tenth. */
#ifndef VOUCH_TRAIN_ADAM_H
#define VOUCH_TRAIN_ADAM_H

#include "train/network/real.h"

typedef struct train_adam {
    double rate; /* largest learning rate */
    double beta1, beta2, eps, decay;
    int64_t n_warm, n_steps; /* steps of the warm-up, and of the whole training */
} train_adam;

train_adam train_adam_default(void);
/* The learning rate of a step, counted from 1. */
double train_adam_rate(const train_adam *adam, int64_t step);
/* Updates n weights by their gradients. m and v [n] are the means of gradients and of their squares, 0 before step 1.
 * `decay` is the weight decay of these weights. */
void train_adam_step(const train_adam *adam, int64_t step, real *w, real *m, real *v, const real *grads, int64_t n,
                     double decay);

#endif
