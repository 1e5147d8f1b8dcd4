/* SPDX-License-Identifier: MIT */
/*
 * Losses between the target's distribution p and the student's q = softmax(z), over the tokens that the student knows.
 *
 *   forward KL   sum p log(p / q)                                  covers all that the target may say
 *   reverse KL   sum q log(q / p)                                  avoids what the target doesn't say
 *   JSD(beta)    beta KL(p | m) + (1 - beta) KL(q | m),            between the two (Zhou et al., DistillSpec,
 *                m = beta p + (1 - beta) q                         arXiv 2310.08461, Agarwal et al., arXiv 2306.13649)
 *   TVD          sum |p - q| / 2                                   1 - acceptance rate of rejection sampling, exactly
 *   cross entropy   -log q(label)                                  the target's token alone counts
 *
 * p may sum to less than 1 where the student lacks tokens; forward KL and cross entropy then weigh the row less.
 */
#ifndef VOUCH_TRAIN_LOSS_H
#define VOUCH_TRAIN_LOSS_H

#include "train/distill.h"
#include "train/network/real.h"

/* Sums over the rows that a loss counts. */
typedef struct train_sums {
    int64_t rows, hits; /* hits: the student's likeliest token is the label */
    double loss;
} train_sums;

static inline void train_sums_add(train_sums *to, const train_sums *from)
{
    to->rows += from->rows;
    to->hits += from->hits;
    to->loss += from->loss;
}

/* The loss of one row of n tokens. z becomes the gradient of `weight` times the loss with respect to z. beta in (0, 1)
 * is JSD's. Logarithms of p see at least 1e-9. */
double train_loss_row(train_loss kind, double beta, real weight, const real *p, real *z, int64_t n);

/* The same where only some tokens of p are known. Each of them is a class, and all other tokens together are one more
 * class, whose probability is p_others. The loss compares the two distributions over classes, so it is at most the loss
 * over all tokens (data-processing inequality), and it doesn't prefer any of the others. ids [n_classes] are different
 * tokens, at most TRAIN_MOST_CLASSES, and p [n_classes] their probabilities. */
enum { TRAIN_MOST_CLASSES = 64 };
double train_loss_classes(train_loss kind, double beta, real weight, const int32_t *ids, const real *p,
                          int32_t n_classes, real p_others, real *z, int64_t n);

#endif
