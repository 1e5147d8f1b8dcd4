/* SPDX-License-Identifier: MIT */
#include "train/network/loss.h"

static const real LEAST = (real)1e-9; /* probability that a logarithm sees at least */

/* z becomes softmax(z). */
static void softmax(real *z, int64_t n)
{
    real max = z[0];
    double sum = 0;
    for (int64_t i = 1; i < n; i++) max = z[i] > max ? z[i] : max;
    for (int64_t i = 0; i < n; i++) sum += (double)(z[i] = real_exp(z[i] - max));
    const real factor = (real)(1 / sum);
    for (int64_t i = 0; i < n; i++) z[i] *= factor;
}

static real log_of(real probability)
{
    return real_log(probability > LEAST ? probability : LEAST);
}

/* sum p log(p / q);  dz = q sum(p) - p */
static double forward_kl(real weight, const real *p, real *q, int64_t n)
{
    double loss = 0, mass = 0;
    for (int64_t i = 0; i < n; i++) {
        if (p[i] <= 0) continue;
        mass += (double)p[i];
        loss += (double)(p[i] * (log_of(p[i]) - log_of(q[i])));
    }
    for (int64_t i = 0; i < n; i++) q[i] = weight * (q[i] * (real)mass - p[i]);
    return loss;
}

/* The slope of the other losses with respect to q[i], apart from constants, which the softmax cancels. Adds the element
 * to *loss. */
static real slope(train_loss kind, real beta, real p, real q, double *loss)
{
    if (kind == TRAIN_TOTAL_VARIATION) {
        *loss += (double)(q > p ? q - p : p - q) / 2;
        return q > p ? (real)0.5 : q < p ? (real)-0.5 : 0;
    }
    if (kind == TRAIN_REVERSE_KL) {
        const real ratio = log_of(q) - log_of(p);
        *loss += (double)(q * ratio);
        return ratio;
    }
    const real m = log_of(beta * p + (1 - beta) * q), own = log_of(q) - m;
    *loss += (double)(beta * p * (log_of(p) - m) + (1 - beta) * q * own);
    return (1 - beta) * own;
}

/* The loss between p and q; q becomes the gradient with respect to the logits whose softmax it is. The chain rule of
 * the softmax:  dz = q (g - sum(q g)). */
static double divergence(train_loss kind, double beta, real weight, const real *p, real *q, int64_t n)
{
    double loss = 0, mean = 0;
    if (kind == TRAIN_FORWARD_KL || kind == TRAIN_CROSS_ENTROPY) return forward_kl(weight, p, q, n);
    for (int64_t i = 0; i < n; i++) mean += (double)(q[i] * slope(kind, (real)beta, p[i], q[i], &loss));
    for (int64_t i = 0; i < n; i++) {
        double ignored = 0;
        q[i] = weight * q[i] * (slope(kind, (real)beta, p[i], q[i], &ignored) - (real)mean);
    }
    return loss;
}

double train_loss_row(train_loss kind, double beta, real weight, const real *p, real *z, int64_t n)
{
    softmax(z, n);
    return divergence(kind, beta, weight, p, z, n);
}

/* A class's gradient falls to its tokens in proportion to their q. */
double train_loss_classes(train_loss kind, double beta, real weight, const int32_t *ids, const real *p,
                          int32_t n_classes, real p_others, real *z, int64_t n)
{
    const real least = (real)1e-30;
    real class_p[TRAIN_MOST_CLASSES + 1], class_q[TRAIN_MOST_CLASSES + 1], others = 0;
    softmax(z, n);
    for (int32_t k = 0; k < n_classes; k++) {
        class_p[k] = p[k];
        class_q[k] = z[ids[k]];
        z[ids[k]] = 0;
    }
    for (int64_t i = 0; i < n; i++) others += z[i]; /* without the cancellation of 1 - sum */
    class_p[n_classes] = p_others;
    class_q[n_classes] = others;
    const double loss = divergence(kind, beta, weight, class_p, class_q, n_classes + 1);
    const real factor = others > least ? class_q[n_classes] / others : 0;
    for (int64_t i = 0; i < n; i++) z[i] *= factor;
    for (int32_t k = 0; k < n_classes; k++) z[ids[k]] = class_q[k];
    return loss;
}
