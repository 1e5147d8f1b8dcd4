/* SPDX-License-Identifier: MIT */
/*
 * Draws by an exponential race (the Gumbel-max trick in its exponential form; as a coupling of draft and target:
 * Daliri, Musco and Suresh, arXiv 2408.07978). Token x arrives at time
 *
 *     E(x) / mass(x),   where E(x) is an exponential random number that depends on (seed, position, x) alone.
 *
 * The first token to arrive wins; token x wins with probability mass(x) / total mass. Two distributions at the same
 * position use the same E. So they draw the same token with probability at least (1 - d) / (1 + d), where d is their
 * distance in total variation. Without the winner, the first of the other tokens is a draw without replacement.
 *
 * Cost. Random numbers for a whole vocabulary would be expensive, and nearly all would be useless: a light token wins
 * only with a tiny E. So run_early finds the tiny E first. Let E(x) be the first point of a Poisson process on the axis
 * of id x. Poisson processes are memoryless, so one process along all ids, each id EARLY wide, gives every E below
 * EARLY:
 *
 *     |  id 0  |  id 1  |  id 2  |  id 3  |  ...        each id is EARLY wide; exponential steps between points
 *              ^E(1)^                  ^E(3)
 *
 * One step passes 1 / EARLY ids on average. An id without a point below EARLY has E = EARLY + another exponential
 * number. run_late computes that number only for heavy ids, which could still win after EARLY.
 *
 * The logarithm is written here, because the logarithms of C libraries differ in their last bits: another token could
 * win.
 */
#include <math.h>

#include "sample/sample.h"

enum { GROUP = 16, STEPS = 2 }; /* ids that any_heavy checks together; exponential numbers per Philox block */

static const double EARLY = 0x1p-8;

typedef struct race {
    const vouch_residual *left;
    uint64_t seed;
    int64_t position;
    int32_t winner; /* the first token so far; -1: none */
    double first;   /* the winner's arrival time */
} race;

/* -log(1 - v), with 1 - v = m 2^e: log m is the sum over odd n of 2 f^n / n, f = (m - 1) / (m + 1). As |f| < 0.172, 11
 * terms are exact to the last bits. Small v lose no precision either: e is 0 and m - 1 = -v. */
static double exponential(double v)
{
    int e;
    double m = frexp(1 - v, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    const double f = (m - 1) / (m + 1), square = f * f;
    double sum = 0;
    for (int n = 21; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
    return -(e * 0.69314718055994531 + 2 * f * sum);
}

/* Two exponential numbers. Their uniform numbers are odd multiples of 2^-53, so never 0 or 1. */
static void exponential_pair(const race *r, vouch_purpose purpose, int32_t number, double out[STEPS])
{
    const uint32_t counter[4] = {(uint32_t)r->position, (uint32_t)((uint64_t)r->position >> 32), (uint32_t)purpose,
                                 (uint32_t)number};
    const uint32_t key[2] = {(uint32_t)r->seed, (uint32_t)(r->seed >> 32)};
    uint32_t bits[4];
    vouch_philox4x32(counter, key, bits);
    for (int i = 0; i < STEPS; i++)
        out[i] = exponential((double)(((uint64_t)bits[2 * i] << 32 | bits[2 * i + 1]) >> 11 | 1) * 0x1p-53);
}

static double mass_of(const race *r, int32_t id)
{
    return r->left->n == 0 ? (double)r->left->p->weight[id] : vouch_residual_mass(r->left, id);
}

static void arrive(race *r, int32_t id, double noise, double mass)
{
    if (!(noise < r->first * mass) || !(mass > 0)) return;
    r->winner = id;
    r->first = noise / mass;
}

/* Runs the tokens whose E is below EARLY. */
static void run_early(race *r)
{
    const int32_t n_vocab = r->left->p->n_vocab;
    const double end = n_vocab * EARLY;
    double at = 0;
    for (int32_t block = 0;; block++) {
        double step[STEPS];
        exponential_pair(r, VOUCH_PURPOSE_EARLY, block, step);
        for (int i = 0; i < STEPS; i++) {
            at += step[i];
            if (at >= end) return;
            const int32_t id = (int32_t)(at / EARLY);
            arrive(r, id, at - id * EARLY, mass_of(r, id));
        }
    }
}

/* Runs one token with E above EARLY. A token that run_early has run already can't win here: its first arrival was
 * earlier. */
static void run_late(race *r, int32_t id)
{
    const double mass = mass_of(r, id);
    double noise[STEPS];
    if (!(EARLY < r->first * mass) || !(mass > 0)) return;
    exponential_pair(r, VOUCH_PURPOSE_LATE, id, noise);
    arrive(r, id, EARLY + noise[0], mass);
}

/* Whether a token of the group is heavy enough to win after EARLY. The bound is reduced by 1e-6 because converting it
 * to float may round it up. */
static bool any_heavy(const race *r, int32_t begin)
{
    const float *weight = r->left->p->weight + begin;
    const float least = (float)(EARLY / r->first) * (1 - 1e-6f);
    int any = r->left->q && r->left->n > 0; /* then a mass is not a weight, and the weights say nothing */
    for (int i = 0; i < GROUP; i++) any |= weight[i] >= least;
    return any;
}

int32_t vouch_draw_race(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    (void)number;
    const vouch_dist *p = left->p;
    race r = {.left = left, .seed = seed, .position = position, .winner = -1, .first = INFINITY};
    if (p->n_support == 1 && !p->dense) return p->support[0];
    run_early(&r);
    for (int32_t i = 0; i < p->n_support && !p->dense; i++) run_late(&r, p->support[i]);
    for (int32_t begin = 0; begin < p->n_vocab && p->dense; begin += GROUP) {
        const int32_t end = p->n_vocab - begin < GROUP ? p->n_vocab : begin + GROUP;
        if (end - begin == GROUP && !any_heavy(&r, begin)) continue;
        for (int32_t id = begin; id < end; id++) run_late(&r, id);
    }
    if (r.winner >= 0) return r.winner;
    vouch_residual whole; /* the residual is all zero in floating point: draw from p */
    vouch_residual_begin(&whole, p, NULL, 1);
    return vouch_draw_race(&whole, seed, position, number);
}
