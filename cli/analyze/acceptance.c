/* SPDX-License-Identifier: MIT */
#include "analyze/acceptance.h"

#include <math.h>

/* Entropy of p = softmax(logits) in bits: (log(sum of e^z) - sum of p z) / log 2, z being a logit less the largest. */
static double entropy_of(const float *logits, int32_t n)
{
    double most = (double)logits[0], sum = 0, weighted = 0;
    for (int32_t x = 1; x < n; x++) most = fmax(most, (double)logits[x]);
    for (int32_t x = 0; x < n; x++) {
        const double z = (double)logits[x] - most, mass = exp(z);
        sum += mass;
        if (mass > 0) weighted += mass * z;
    }
    return fmax(0, (log(sum) - weighted / sum) / log(2));
}

cli_acceptance cli_acceptance_of(const float *p, const float *q, const float *logits, int32_t n)
{
    cli_acceptance at = {.entropy = entropy_of(logits, n)};
    int32_t best_p = 0, best_q = 0;
    for (int32_t x = 0; x < n; x++) {
        at.sampled += (double)(p[x] < q[x] ? p[x] : q[x]);
        if (p[x] > p[best_p]) best_p = x;
        if (q[x] > q[best_q]) best_q = x;
    }
    if (at.sampled > 1) at.sampled = 1;
    at.greedy = (double)p[best_q];
    at.same_argmax = best_p == best_q;
    return at;
}

double cli_expected_cycles(const cli_acceptance *at, int32_t n, int32_t k, double *room)
{
    double cycles = 0;
    for (int32_t t = 0; t <= n; t++) room[t] = t == 0; /* probability that a cycle begins at t */
    for (int32_t t = 0; t < n; t++) {
        double accepted = room[t]; /* probability that a cycle begins at t and accepts the guesses so far */
        cycles += accepted;
        for (int32_t i = t; i < t + k && i < n; i++) {
            room[i + 1] += accepted * (1 - at[i].sampled);
            accepted *= at[i].sampled;
        }
        if (t + k < n) room[t + k + 1] += accepted;
    }
    return cycles;
}

void cli_draft_position_acceptance(const cli_acceptance *at, int32_t n, int32_t position, double *reached,
                                   double *accepted)
{
    for (int32_t t = 0; t + position < n; t++) {
        double chance = 1;
        for (int32_t i = 0; i < position; i++) chance *= at[t + i].sampled;
        *reached += chance;
        *accepted += chance * at[t + position].sampled;
    }
}
