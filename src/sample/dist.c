/* SPDX-License-Identifier: MIT */
/*
 * Distributions: point masses, draws, residuals.
 *
 * The mass of a token is its weight in p, reduced by each rejected guess (vouch_residual in sample.h). A draw adds
 * masses in double precision, in ascending order of ids, until the sum exceeds u times the total. In a dense
 * distribution a draw sums blocks first, as vectors, and then walks one block id by id. So the cost is a vector sum and
 * not a chain of dependent additions:
 *
 *     [ 256 ids | 256 ids | 256 ids | ... ]     sums of blocks, 8 lanes each
 *                   ▲ this block's sum passes u times the total: walk it id by id
 *
 * Invariants:
 *   1  outside the support every weight is 0. So clearing a distribution costs its support and not the vocabulary.
 *   2  a draw never returns a token without mass. When rounding keeps the final sum below u times the total, the draw
 *      returns the last token with mass.
 *   3  a rejected guess has mass 0, whatever rounding gives.
 */
#include "sample/sample.h"

#include <string.h>

enum { BLOCK = 256, LANES = VOUCH_LANES };

static bool is_rejected(const vouch_residual *r, int32_t id)
{
    for (int32_t i = 0; i < r->n; i++)
        if (r->rejected[i] == id) return true;
    return false;
}

int32_t vouch_choice_rank(const vouch_choice *choice, float p, float q)
{
    enum { LOWEST = (127 - 8) * 4 }; /* 2^-8: a float's exponent and the first two bits after it */
    const float ratio = q > 0 ? choice->scale * p / q : 0;
    uint32_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    const int32_t rank = (int32_t)(bits >> 21) - LOWEST;
    return rank < 0 ? 0 : rank < VOUCH_RANKS ? rank : VOUCH_RANKS - 1;
}

static double choice_factor(const vouch_residual *r, int32_t id)
{
    return r->choice->factor[vouch_choice_rank(r->choice, r->p->weight[id], r->q->weight[id])];
}

void vouch_choice_begin(vouch_choice *choice, const vouch_dist *p, const vouch_dist *q, int32_t n)
{
    double weight[VOUCH_RANKS] = {0}, total = 0, below = 0;
    choice->n = n;
    choice->scale = (float)(q->total / p->total);
    const int32_t n_ids = q->dense ? q->n_vocab : q->n_support;
    for (int32_t i = 0; i < n_ids; i++) {
        const int32_t id = q->dense ? i : q->support[i];
        weight[vouch_choice_rank(choice, p->weight[id], q->weight[id])] += (double)q->weight[id];
    }
    for (int r = 0; r < VOUCH_RANKS; r++) total += weight[r];
    for (int r = 0; r < VOUCH_RANKS; r++) {
        const double up_to = below + weight[r] / total;
        double sum = 0, power = 1;
        for (int32_t i = 0; i < n; i++) {
            sum = sum * below + power;
            power *= up_to;
        }
        choice->factor[r] = sum;
        below = up_to;
    }
}

/* The mass of an id that is not a rejected guess. */
static inline double mass_left(const vouch_residual *r, int32_t id)
{
    double mass = r->p->weight[id];
    if (r->choice && r->n > 0) {
        mass = mass * r->a[0] - r->q->weight[id] * choice_factor(r, id) * r->b[0];
        return mass > 0 ? mass : 0;
    }
    for (int32_t i = 0; r->q && i < r->n; i++) {
        mass = mass * r->a[i] - r->q->weight[id] * r->b[i];
        if (!(mass > 0)) return 0;
    }
    return mass;
}

double vouch_residual_mass(const vouch_residual *r, int32_t id)
{
    return is_rejected(r, id) ? 0 : mass_left(r, id);
}

/* Mass of the ids [begin, end), which contain no rejected guess. */
static double range_sum(const vouch_residual *r, int32_t begin, int32_t end)
{
    double lane[LANES] = {0};
    const float *p = r->p->weight;
    int32_t i = begin;
    if (!r->q || r->n == 0) {
        for (; i + LANES <= end; i += LANES)
            for (int j = 0; j < LANES; j++) lane[j] += (double)p[i + j];
    } else if (r->n == 1 && !r->choice) {
        const float *q = r->q->weight;
        const double a = r->a[0], b = r->b[0];
        for (; i + LANES <= end; i += LANES)
            for (int j = 0; j < LANES; j++) {
                const double value = p[i + j] * a - q[i + j] * b;
                lane[j] += value > 0 ? value : 0;
            }
    }
    for (; i < end; i++) lane[0] += mass_left(r, i);
    return vouch_lanes_sum(lane);
}

/* Mass of the ids [begin, end). Blocks with a rejected guess are summed without it: subtracting its mass afterwards
 * would cancel where the guess has nearly all of the mass. */
static double block_sum(const vouch_residual *r, int32_t begin, int32_t end)
{
    bool whole = true;
    for (int32_t i = 0; i < r->n; i++) whole &= r->rejected[i] < begin || r->rejected[i] >= end;
    if (whole) return range_sum(r, begin, end);
    double sum = 0;
    for (int32_t i = begin; i < end; i++) sum += vouch_residual_mass(r, i);
    return sum;
}

static inline int32_t block_end(const vouch_dist *p, int32_t begin)
{
    return p->n_vocab - begin < BLOCK ? p->n_vocab : begin + BLOCK;
}

/* Whether summing the whole vocabulary as vectors, zeros included, is faster than summing the support id by id. */
static bool is_wide(const vouch_dist *p)
{
    return p->dense || p->n_support > p->n_vocab / 8;
}

static double total_mass(const vouch_residual *r)
{
    const vouch_dist *p = r->p;
    double total = 0;
    if (is_wide(p))
        for (int32_t i = 0; i < p->n_vocab; i += BLOCK) total += block_sum(r, i, block_end(p, i));
    else
        for (int32_t i = 0; i < p->n_support; i++) total += vouch_residual_mass(r, p->support[i]);
    return total;
}

/* Walks ids[0, n), or [begin, begin + n) where ids is NULL, and adds masses to `below`. Returns the id at which the sum
 * exceeds `target`; the last id with mass if the sum never does; -1 if no id has mass. */
static int32_t walk(const vouch_residual *r, const int32_t *ids, int32_t begin, int32_t n, double below, double target)
{
    int32_t last = -1;
    for (int32_t i = 0; i < n; i++) {
        const int32_t id = ids ? ids[i] : begin + i;
        const double value = vouch_residual_mass(r, id);
        if (!(value > 0)) continue;
        last = id;
        below += value;
        if (below > target) break;
    }
    return last;
}

/* The id at which the sum of masses exceeds `target` (invariant 2). The total mass is above 0. */
static int32_t draw(const vouch_residual *r, double target)
{
    const vouch_dist *p = r->p;
    if (!is_wide(p)) return walk(r, p->support, 0, p->n_support, 0, target);
    double below = 0, before_chosen = 0;
    int32_t chosen = 0;
    for (int32_t i = 0; i < p->n_vocab; i += BLOCK) {
        const double sum = block_sum(r, i, block_end(p, i));
        if (!(sum > 0)) continue;
        chosen = i;
        before_chosen = below;
        below += sum;
        if (below > target) break;
    }
    return walk(r, NULL, chosen, block_end(p, chosen) - chosen, before_chosen, target);
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

double vouch_dist_sum(const vouch_dist *dist)
{
    const vouch_residual all = {.p = dist};
    return total_mass(&all);
}

int32_t vouch_dist_draw(const vouch_dist *dist, double u)
{
    vouch_residual r;
    vouch_residual_begin(&r, dist, NULL, 1);
    return draw(&r, u * r.total);
}

void vouch_residual_begin(vouch_residual *r, const vouch_dist *p, const vouch_dist *q, double lenience)
{
    r->p = p;
    r->q = q;
    r->choice = NULL;
    r->lenience = lenience;
    r->n = 0;
    r->total = p->total;
    r->q_total = q ? q->total : 1;
}

double vouch_residual_p(const vouch_residual *r, int32_t token)
{
    return r->total > 0 ? vouch_residual_mass(r, token) / r->total : 0;
}

double vouch_residual_q(const vouch_residual *r, int32_t token)
{
    if (!r->q) return 1;
    if (is_rejected(r, token) || !(r->q_total > 0)) return 0;
    return (double)r->q->weight[token] * (r->choice ? choice_factor(r, token) : 1) / r->q_total;
}

/* total - weight; where this would cancel (below 0.1 % of the mass), the sum over r instead. */
static double total_without(double total, double weight, const vouch_residual *r)
{
    const double left = total - weight;
    return left < 1e-3 * r->p->total ? total_mass(r) : left;
}

void vouch_residual_reject(vouch_residual *r, int32_t guess)
{
    const bool is_new = !is_rejected(r, guess);
    r->rejected[r->n++] = guess;
    if (!r->q) {
        if (is_new) r->total = total_without(r->total, r->p->weight[guess], r);
        return;
    }
    r->a[r->n - 1] = r->total > 0 ? 1 / r->total : 0;
    r->b[r->n - 1] = r->q_total > 0 ? r->lenience / r->q_total : 0;
    r->total = total_mass(r);
    if (!is_new) return;
    vouch_residual of_q;
    vouch_residual_begin(&of_q, r->q, NULL, 1);
    of_q.n = r->n;
    memcpy(of_q.rejected, r->rejected, (size_t)r->n * sizeof *r->rejected);
    r->q_total = total_without(r->q_total, r->q->weight[guess], &of_q);
}

int32_t vouch_residual_draw(const vouch_residual *r, double u)
{
    return r->total > 0 ? draw(r, u * r->total) : vouch_dist_draw(r->p, u);
}

int32_t vouch_draw_position(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    (void)number;
    return vouch_residual_draw(left, vouch_uniform(seed, position, VOUCH_PURPOSE_EMIT));
}

int32_t vouch_draw_guess(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    return vouch_residual_draw(left, vouch_uniform_of(seed, position, VOUCH_PURPOSE_DRAFT, number));
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
    return vouch_lanes_sum(lane);
}
