/* SPDX-License-Identifier: MIT */
#include "train/network/adam.h"

train_adam train_adam_default(void)
{
    return (train_adam){
        .rate = 5e-4, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.01, .n_warm = 50, .n_steps = 1000};
}

double train_adam_rate(const train_adam *adam, int64_t step)
{
    if (step <= adam->n_warm) return adam->rate * (double)step / (double)adam->n_warm;
    const double left = (double)(adam->n_steps - adam->n_warm), done = (double)(step - adam->n_warm);
    const double turn = left > 0 && done < left ? done / left : 1;
    return adam->rate * (0.1 + 0.45 * (1 + cos(3.14159265358979323846 * turn)));
}

void train_adam_step(const train_adam *adam, int64_t step, real *w, real *m, real *v, const real *grads, int64_t n,
                     double decay)
{
    const double rate = train_adam_rate(adam, step);
    const real b1 = (real)adam->beta1, b2 = (real)adam->beta2;
    const real unbias = (real)(1 / (1 - pow(adam->beta2, (double)step)));
    const real move = (real)(rate / (1 - pow(adam->beta1, (double)step))), keep = (real)(1 - rate * decay);
    for (int64_t i = 0; i < n; i++) {
        m[i] = b1 * m[i] + (1 - b1) * grads[i];
        v[i] = b2 * v[i] + (1 - b2) * grads[i] * grads[i];
        w[i] = keep * w[i] - move * m[i] / (real_sqrt(v[i] * unbias) + (real)adam->eps);
    }
}
