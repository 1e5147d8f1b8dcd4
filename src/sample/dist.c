/* SPDX-License-Identifier: MIT */
/*
 * Distributions: points, draws, residuals.
 *
 * Everything here is about one quantity, the mass of a token,
 *
 *     max(0, a p[x] - b q[x]),   nothing at x = without
 *
 * which is a weight (a = 1, no q), or the residual of a rejection (a = 1 / total p, b = l / total q; or
 * no q and without = the guess). A draw cumulates it in double in ascending order of ids until it
 * exceeds u times its sum. A dense distribution is walked in two levels, so that the cost is that of a
 * vector sum and not of a chain of dependent additions:
 *
 *     [ 256 ids | 256 ids | 256 ids | ... ]     sums of blocks, 8 lanes each
 *                   ▲ the one that holds u: walked id by id
 *
 * Invariants:
 *   1  outside the support every weight is 0, so that clearing costs the support and not the vocabulary.
 *   2  a token without mass is never returned: when rounding moves the end of the sums below u times
 *      their total, the last token with mass takes the gap.
 */
#include "sample/sample.h"

#include <string.h>

enum { BLOCK = 256, LANES = 8 };

typedef struct mass {
    const float *p, *q; /* [n_vocab]; q may be NULL */
    double a, b;
    int32_t without; /* -1: none */
} mass;

static double mass_at(const mass *m, int32_t id)
{
    const double value = m->q ? m->p[id] * m->a - m->q[id] * m->b : m->p[id] * m->a;
    return id == m->without || value < 0 ? 0 : value;
}

static double lanes_sum(const double lane[LANES])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Of the ids [begin, end), none of which is `without`. */
static double range_sum(const mass *m, int32_t begin, int32_t end)
{
    double lane[LANES] = {0};
    int32_t i = begin;
    if (m->q) {
        for (; i + LANES <= end; i += LANES)
            for (int j = 0; j < LANES; j++) {
                const double value = m->p[i + j] * m->a - m->q[i + j] * m->b;
                lane[j] += value > 0 ? value : 0;
            }
    } else {
        for (; i + LANES <= end; i += LANES)
            for (int j = 0; j < LANES; j++) lane[j] += m->p[i + j] * m->a;
    }
    for (; i < end; i++) lane[0] += mass_at(m, i);
    return lanes_sum(lane);
}

/* Leaving one out by subtracting it would cancel where it has nearly all the mass. */
static double block_sum(const mass *m, int32_t begin, int32_t end)
{
    if (m->without < begin || m->without >= end) return range_sum(m, begin, end);
    return range_sum(m, begin, m->without) + range_sum(m, m->without + 1, end);
}

static inline int32_t block_end(const vouch_dist *p, int32_t begin)
{
    return p->n_vocab - begin < BLOCK ? p->n_vocab : begin + BLOCK;
}

/* A wide support is summed faster as the whole vocabulary, zeros and all. */
static bool is_wide(const vouch_dist *p)
{
    return p->dense || p->n_support > p->n_vocab / 8;
}

static double total_mass(const vouch_dist *p, const mass *m)
{
    double total = 0;
    if (is_wide(p))
        for (int32_t i = 0; i < p->n_vocab; i += BLOCK) total += block_sum(m, i, block_end(p, i));
    else
        for (int32_t i = 0; i < p->n_support; i++) total += mass_at(m, p->support[i]);
    return total;
}

/* The id among ids[0, n), or begin + [0, n), at which the sum starting with `below` exceeds `target`; the
 * last one with mass where it never does; -1 where none has any. */
static int32_t walk(const mass *m, const int32_t *ids, int32_t begin, int32_t n, double below, double target)
{
    int32_t last = -1;
    for (int32_t i = 0; i < n; i++) {
        const int32_t id = ids ? ids[i] : begin + i;
        const double value = mass_at(m, id);
        if (!(value > 0)) continue;
        last = id;
        below += value;
        if (below > target) break;
    }
    return last;
}

/* Invariant 2. There is mass somewhere. */
static int32_t draw(const vouch_dist *p, const mass *m, double target)
{
    if (!is_wide(p)) return walk(m, p->support, 0, p->n_support, 0, target);
    double below = 0, before_chosen = 0;
    int32_t chosen = 0;
    for (int32_t i = 0; i < p->n_vocab; i += BLOCK) {
        const double sum = block_sum(m, i, block_end(p, i));
        if (!(sum > 0)) continue;
        chosen = i;
        before_chosen = below;
        below += sum;
        if (below > target) break;
    }
    return walk(m, NULL, chosen, block_end(p, chosen) - chosen, before_chosen, target);
}

void vouch_dist_layout(vouch_dist *dist, int32_t n_vocab, vouch_arena *arena)
{
    *dist = (vouch_dist){.n_vocab = n_vocab};
    dist->weight = vouch_arena_take(arena, (size_t)n_vocab, sizeof *dist->weight);
    dist->support = vouch_arena_take(arena, (size_t)n_vocab, sizeof *dist->support);
}

void vouch_dist_set_point(vouch_dist *dist, int32_t token)
{
    if (dist->dense) memset(dist->weight, 0, (size_t)dist->n_vocab * sizeof *dist->weight);
    else
        for (int32_t i = 0; i < dist->n_support; i++) dist->weight[dist->support[i]] = 0;
    dist->weight[token] = 1;
    dist->support[0] = token;
    dist->n_support = 1;
    dist->dense = false;
    dist->total = 1;
}

int32_t vouch_dist_draw(const vouch_dist *dist, double u)
{
    const mass m = {.p = dist->weight, .a = 1, .without = -1};
    return draw(dist, &m, u * dist->total);
}

int32_t vouch_dist_draw_residual(const vouch_dist *p, const vouch_dist *q, int32_t guess, double lenience,
                                 double u)
{
    /* The guess was rejected, so p(guess) < l q(guess): it has no residual, whatever rounding says. */
    const mass m = {.p = p->weight,
                    .q = q ? q->weight : NULL,
                    .a = 1 / p->total,
                    .b = q ? lenience / q->total : 0,
                    .without = guess};
    const double total = total_mass(p, &m);
    return total > 0 ? draw(p, &m, u * total) : vouch_dist_draw(p, u);
}

double vouch_dist_overlap(const vouch_dist *p, const vouch_dist *q, int32_t guess)
{
    if (!q) return vouch_dist_p(p, guess);
    const double a = 1 / p->total, b = 1 / q->total;
    const vouch_dist *narrow = p->n_support <= q->n_support ? p : q;
    double lane[LANES] = {0};
    if (!narrow->dense) {
        for (int32_t i = 0; i < narrow->n_support; i++) {
            const int32_t id = narrow->support[i];
            const double x = p->weight[id] * a, y = q->weight[id] * b;
            lane[0] += x < y ? x : y;
        }
        return lane[0];
    }
    int32_t i = 0;
    for (; i + LANES <= p->n_vocab; i += LANES)
        for (int j = 0; j < LANES; j++) {
            const double x = p->weight[i + j] * a, y = q->weight[i + j] * b;
            lane[j] += x < y ? x : y;
        }
    for (; i < p->n_vocab; i++) {
        const double x = p->weight[i] * a, y = q->weight[i] * b;
        lane[0] += x < y ? x : y;
    }
    return lanes_sum(lane);
}
