/* SPDX-License-Identifier: MIT */
/*
 * Draws by a race (the Gumbel-max trick in its exponential form; as a coupling of draft and target: Daliri,
 * Musco and Suresh, arXiv 2408.07978). Token x arrives at
 *
 *     E(x) / mass(x),   E(x) exponential, of (seed, position, x) alone
 *
 * and the first one wins: x with probability mass(x) / sum of masses. Two distributions at the same position run
 * with the same E, so that they agree whenever they can: with probability at least (1 - d) / (1 + d), d being their
 * distance in total variation. Without the winner, the first of the others is a draw without replacement.
 *
 * Cost. Random numbers for a whole vocabulary would be dear, and nearly all of them for nothing: a light token only
 * wins with a tiny E. So the tiny ones are made first. E(x) is the first point at x of a Poisson process, and that is
 * memoryless: its points below EARLY are those of one process along all ids, one after the other,
 *
 *     |  id 0  |  id 1  |  id 2  |  id 3  |  ...        each EARLY wide; from point to point an exponential step
 *              ^E(1)^                  ^E(3)
 *
 * one step in 1 / EARLY ids; and an id without a point has EARLY + another exponential number. Of these only the
 * heavy ids need be asked, those that could still win by then.
 *
 * The logarithm is our own: those of C libraries differ in their last bits, and a race could have another winner.
 */
#include <math.h>

#include "sample/sample.h"

enum { GROUP = 16, STEPS = 2 }; /* ids looked at together; steps from one block of random numbers */

static const double EARLY = 0x1p-8;

typedef struct race {
    const vouch_residual *left;
    uint64_t seed;
    int64_t position;
    int32_t winner; /* so far; -1: none */
    double first;   /* its arrival */
} race;

/* -log(1 - v): the sum over odd n of 2 f^n / n, f = (m - 1) / (m + 1), for 1 - v = m 2^e. |f| < 0.172, and 11
 * terms are good to the last bits; small v, for which e is 0 and m - 1 = -v, as well as large. */
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

/* Two exponential numbers. Uniform ones are odd multiples of 2^-53: neither 0 nor 1. */
static void numbers_of(const race *r, vouch_purpose purpose, int32_t number, double out[STEPS])
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

/* The points below EARLY. */
static void run_early(race *r)
{
    const int32_t n_vocab = r->left->p->n_vocab;
    const double end = n_vocab * EARLY;
    double at = 0;
    for (int32_t block = 0;; block++) {
        double step[STEPS];
        numbers_of(r, VOUCH_PURPOSE_EARLY, block, step);
        for (int i = 0; i < STEPS; i++) {
            at += step[i];
            if (at >= end) return;
            const int32_t id = (int32_t)(at / EARLY);
            arrive(r, id, at - id * EARLY, mass_of(r, id));
        }
    }
}

/* An id with a point below EARLY comes again and can't win by it. */
static void run_late(race *r, int32_t id)
{
    const double mass = mass_of(r, id);
    double noise[STEPS];
    if (!(EARLY < r->first * mass) || !(mass > 0)) return;
    numbers_of(r, VOUCH_PURPOSE_LATE, id, noise);
    arrive(r, id, EARLY + noise[0], mass);
}

/* Whether one of the group may be heavy; a little less than the weight for that, in case it was rounded up. */
static bool any_heavy(const race *r, int32_t begin)
{
    const float *weight = r->left->p->weight + begin;
    const float least = (float)(EARLY / r->first) * (1 - 1e-6f);
    int any = r->left->q && r->left->n > 0; /* masses aren't weights then */
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
    vouch_residual whole; /* nothing is left, in floating point */
    vouch_residual_begin(&whole, p, NULL, 1);
    return vouch_draw_race(&whole, seed, position, number);
}
