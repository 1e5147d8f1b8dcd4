/* SPDX-License-Identifier: MIT */
#include "analyze/acceptance.h"

#include <math.h>

cli_acceptance cli_acceptance_of(const float *p, const float *q, int32_t n)
{
    cli_acceptance at = {0};
    int32_t best_p = 0, best_q = 0;
    for (int32_t x = 0; x < n; x++) {
        const double mass = (double)p[x];
        at.r += (double)(p[x] < q[x] ? p[x] : q[x]);
        if (mass > 0) at.entropy -= mass * log2(mass);
        if (p[x] > p[best_p]) best_p = x;
        if (q[x] > q[best_q]) best_q = x;
    }
    if (at.r > 1) at.r = 1;
    if (at.entropy < 0) at.entropy = 0;
    at.a = (double)p[best_q];
    at.agree = best_p == best_q;
    return at;
}

double cli_expected_cycles(const cli_acceptance *at, int32_t n, int32_t k, double *room, double *tokens)
{
    const int32_t last = n - k; /* cycles begin before it */
    double cycles = 0;
    *tokens = 0;
    if (last < 1) return 0;
    for (int32_t t = 0; t <= n; t++) room[t] = t == 0; /* the chance that a cycle begins at t */
    for (int32_t t = 0; t < last; t++) {
        double held = room[t];
        cycles += held;
        for (int32_t i = 0; i < k; i++) {
            room[t + i + 1] += held * (1 - at[t + i].r);
            held *= at[t + i].r;
        }
        room[t + k + 1] += held;
    }
    for (int32_t t = last; t <= n; t++) *tokens += room[t] * t;
    return cycles;
}

void cli_place_acceptance(const cli_acceptance *at, int32_t n, int32_t place, double *reached, double *held)
{
    for (int32_t t = 0; t + place < n; t++) {
        double chance = 1;
        for (int32_t i = 0; i < place; i++) chance *= at[t + i].r;
        *reached += chance;
        *held += chance * at[t + place].r;
    }
}
