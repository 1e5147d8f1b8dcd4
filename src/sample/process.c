/* SPDX-License-Identifier: MIT */
/*
 * The sampling parameters turn logits into a distribution, in this order:
 *
 *     grammar, bias, penalties, DRY, top-n-sigma | temperature | top-k, typical, top-p, min-p, XTC
 *     on the logits                                exp           keep a part of the ranking
 *
 * Ranking. Larger logits rank first; among equal logits, lower ids rank first. Weights can't rank tokens: a high
 * temperature makes unequal weights equal, and a low temperature makes them zero. Temperature keeps the order of
 * logits, so top-k, top-p and min-p keep the beginning of the same ranking. XTC drops a beginning of it. Typical has a
 * ranking of its own, by the distance of log p from its mean.
 *
 * Selection instead of sorting. A float's bits, adjusted for the sign, order like the float. So a radix search finds
 * the cut, digit by digit (11, 11 and 10 bits):
 *   1. count the candidates, and add their mass, in one bucket per value of the digit;
 *   2. go down from the top bucket to the bucket that contains the cut;
 *   3. go on with the next digit among the candidates of this bucket.
 * After the last digit all remaining candidates have equal logits; the lower ids stay.
 *
 * Before the search a lower bound of the weight, found in one vector pass, excludes most of the vocabulary:
 *
 *   top-k   the k-th largest of the maxima of blocks of 64 weights: at least k tokens reach it.
 *   top-p   (1 - top_p) total / V: all lighter tokens together have less mass than top-p may cut off.
 *
 * Typical has no such bound: it needs all tokens with mass.
 *
 * Each call writes its scratch memory before it reads it. Only `count` keeps its content between calls: all zeros. So
 * nothing survives a call (law L3).
 */
#include "sample/sample.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/common.h"

struct vouch_ranked {
    uint32_t rank_bits; /* orders like the logit */
    float weight;
    int32_t id;
};
typedef struct vouch_ranked candidate;

enum { N_DIGITS = 3, MAX_BUCKETS = 2048, BLOCK = 64, GROUP = 16, LANES = VOUCH_LANES };

/* The candidates that share a digit. */
struct vouch_bucket {
    double mass;
    int32_t count;
};
typedef struct vouch_bucket bucket;

static bool has_dry(const vouch_sampling *params)
{
    return params->dry_multiplier > 0 && params->dry_penalty_last_n > 0;
}

static bool has_xtc(const vouch_sampling *params)
{
    return params->xtc_probability > 0 && params->xtc_threshold <= 0.5f;
}

void vouch_sampler_layout(vouch_sampler *sampler, const vouch_sampling *params, int32_t n_vocab, int32_t n_ctx,
                          const vouch_kernels *kernels, vouch_arena *arena)
{
    *sampler = (vouch_sampler){.params = *params, .n_vocab = n_vocab, .kernels = kernels};
    if (has_dry(params))
        sampler->repeats =
            vouch_arena_take(arena, (size_t)vouch_min(params->dry_penalty_last_n, n_ctx), sizeof *sampler->repeats);
    sampler->params.dry_sequence_breakers = NULL;
    sampler->count = vouch_arena_take(arena, (size_t)n_vocab, sizeof *sampler->count);
    sampler->logits = vouch_arena_take(arena, (size_t)n_vocab, sizeof *sampler->logits);
    sampler->candidates = vouch_arena_take(arena, (size_t)n_vocab, sizeof *sampler->candidates);
    sampler->buckets = vouch_arena_take(arena, MAX_BUCKETS, sizeof *sampler->buckets);
    sampler->bias = vouch_arena_take(arena, params->n_bias, sizeof *sampler->bias);
    if (sampler->bias && params->n_bias > 0)
        memcpy(sampler->bias, params->bias, params->n_bias * sizeof *sampler->bias);
    sampler->params.bias = sampler->bias;
}

/* ------------------------------------------------------------ on the logits */

/* Clamps finite values to the range of a float. -infinity bans a token and stays -infinity. */
static float narrow(double value)
{
    if (!isfinite(value)) return (float)value;
    return (float)fmin(fmax(value, -(double)FLT_MAX), (double)FLT_MAX);
}

static float penalize(float logit, int32_t count, const vouch_sampling *params)
{
    double value = logit;
    value = value > 0 ? value / params->repeat_penalty : value * params->repeat_penalty;
    value -= (double)params->frequency_penalty * count;
    value -= params->presence_penalty;
    return narrow(value);
}

static bool has_penalties(const vouch_sampling *params)
{
    return params->repeat_penalty != 1 || params->frequency_penalty != 0 || params->presence_penalty != 0;
}

bool vouch_sampling_changes_logits(const vouch_sampling *params)
{
    return params->n_bias > 0 || has_penalties(params) || has_dry(params);
}

bool vouch_sampling_drops_top(const vouch_sampling *params)
{
    return params->temperature > 0 && (has_xtc(params) || params->typical_p < 1);
}

int32_t vouch_sampling_window(const vouch_sampling *params)
{
    const int32_t penalties = has_penalties(params) ? params->penalty_window : 0;
    return has_dry(params) ? vouch_max(penalties, params->dry_penalty_last_n) : penalties;
}

bool vouch_xtc_applies(const vouch_sampling *params, uint64_t seed, int64_t position)
{
    return has_xtc(params) && vouch_uniform(seed, position, VOUCH_PURPOSE_XTC) < params->xtc_probability;
}

static void add_penalties(vouch_sampler *sampler, float *logits, const int32_t *history, size_t n_history)
{
    const vouch_sampling *params = &sampler->params;
    const size_t window = (size_t)params->penalty_window;
    const size_t begin = n_history > window ? n_history - window : 0;
    for (size_t i = begin; i < n_history; i++) {
        assert(history[i] >= 0 && history[i] < sampler->n_vocab);
        sampler->count[history[i]]++;
    }
    for (size_t i = begin; i < n_history; i++) {
        int32_t *count = &sampler->count[history[i]];
        if (*count == 0) continue; /* this token's first occurrence has applied the penalty */
        logits[history[i]] = penalize(logits[history[i]], *count, params);
        *count = 0;
    }
}

/* Bans all other tokens, 64 of them at a time. */
static void ban_others(const uint64_t *allowed, float *logits, int32_t n_vocab)
{
    for (int32_t begin = 0; begin < n_vocab; begin += 64) {
        const int32_t n = n_vocab - begin < 64 ? n_vocab - begin : 64;
        const uint64_t word = allowed[begin / 64];
        if (word == UINT64_MAX) continue;
        for (int32_t i = 0; i < n; i++)
            if (!(word >> i & 1)) logits[begin + i] = -INFINITY;
    }
}

/* Count, sum and sum of squares. */
typedef struct moments {
    double n[LANES], sum[LANES], squares[LANES];
} moments;

/* Adds x - from; -infinity doesn't count. */
static inline void moments_add(moments *m, int lane, float x, float from)
{
    const bool is_finite = x >= -FLT_MAX;
    const double difference = is_finite ? (double)x - (double)from : 0;
    m->n[lane] += is_finite;
    m->sum[lane] += difference;
    m->squares[lane] += difference * difference;
}

/* Top-n-sigma: bans the tokens far below the largest logit. The variance is computed from differences to that logit. It
 * is at least 1 / n of their mean square, so double precision loses little. */
static void cut_sigma(const vouch_sampler *sampler, float *logits)
{
    const int32_t n = sampler->n_vocab;
    moments m = {{0}, {0}, {0}};
    float most;
    int32_t best, i = 0;
    if (!sampler->kernels->find_max(logits, n, &most, &best)) return; /* the caller refuses such logits */
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++) moments_add(&m, j, logits[i + j], most);
    for (; i < n; i++) moments_add(&m, 0, logits[i], most);
    const double count = vouch_lanes_sum(m.n), mean = vouch_lanes_sum(m.sum) / count;
    const double sigma = sqrt(fmax(vouch_lanes_sum(m.squares) / count - mean * mean, 0));
    const double least = (double)most - (double)sampler->params.top_n_sigma * sigma;
    for (i = 0; i < n; i++) logits[i] = (double)logits[i] < least ? -INFINITY : logits[i];
}

/* Bans the sampler's banned tokens, unless the grammar allows no others. */
static void ban(const vouch_sampler *sampler, float *logits)
{
    const uint64_t *allowed = sampler->allowed;
    int64_t n_left = allowed ? 0 : INT64_MAX;
    for (int32_t i = 0; allowed && i < (sampler->n_vocab + 63) / 64; i++) n_left += __builtin_popcountll(allowed[i]);
    for (int32_t i = 0; allowed && i < sampler->n_banned; i++)
        n_left -= (int64_t)(allowed[sampler->banned[i] / 64] >> (sampler->banned[i] % 64) & 1);
    for (int32_t i = 0; n_left > 0 && i < sampler->n_banned; i++) logits[sampler->banned[i]] = -INFINITY;
}

/* Never changes the model's logits: where something changes them it returns the sampler's copy. */
static const float *change_logits(vouch_sampler *sampler, const float *logits, const int32_t *history, size_t n_history)
{
    const vouch_sampling *params = &sampler->params;
    const bool has_sigma = params->top_n_sigma > 0 && params->temperature > 0;
    if (!sampler->allowed && !vouch_sampling_changes_logits(params) && !has_sigma && sampler->n_banned == 0)
        return logits;
    float *changed = memcpy(sampler->logits, logits, (size_t)sampler->n_vocab * sizeof *logits);
    if (sampler->allowed) ban_others(sampler->allowed, changed, sampler->n_vocab);
    if (sampler->n_banned > 0) ban(sampler, changed);
    for (size_t i = 0; i < params->n_bias; i++) {
        float *logit = &changed[params->bias[i].token];
        *logit = narrow((double)*logit + (double)params->bias[i].bias);
    }
    if (has_penalties(params)) add_penalties(sampler, changed, history, n_history);
    if (has_dry(params)) vouch_dry(sampler, changed, history, n_history);
    if (has_sigma) cut_sigma(sampler, changed);
    return changed;
}

/* ------------------------------------------------------- a cut in the ranking */

/* An integer that orders like the logit. Adding 0 turns -0 into 0. */
static inline uint32_t rank_of(float logit)
{
    const float x = logit + 0.0f;
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint32_t)(bits ^ (bits >> 31 & INT32_MAX)) ^ 0x80000000u;
}

/* The filter keeps every candidate above rank_bits, and the first n_equal candidates equal to rank_bits. */
typedef struct cut {
    uint32_t rank_bits;
    int32_t n_equal;
} cut;

/* Fills one bucket per value of the next digit from the candidates whose higher digits equal `prefix`. */
static void fill_buckets(bucket *buckets, const candidate *c, int32_t n, uint32_t prefix, int shift, int width)
{
    const uint32_t mask = (1u << width) - 1;
    memset(buckets, 0, ((size_t)mask + 1) * sizeof *buckets);
    for (int32_t i = 0; i < n; i++) {
        if ((uint64_t)c[i].rank_bits >> (shift + width) != prefix) continue;
        bucket *b = &buckets[c[i].rank_bits >> shift & mask];
        b->mass += c[i].weight;
        b->count++;
    }
}

/* The shortest beginning of the ranking that has `most` tokens or at least `mass`; the whole ranking if it reaches
 * neither limit. n >= 1; the cut keeps at least one token. */
static cut find_cut(const candidate *c, int32_t n, int32_t most, double mass, bucket *buckets)
{
    static const int shifts[N_DIGITS] = {21, 10, 0}, widths[N_DIGITS] = {11, 11, 10};
    uint32_t prefix = 0;
    int32_t above = 0; /* candidates in buckets above the cut: they stay */
    double mass_above = 0;
    const bucket *last = NULL;
    for (int digit = 0; digit < N_DIGITS; digit++) {
        fill_buckets(buckets, c, n, prefix, shifts[digit], widths[digit]);
        last = NULL;
        for (int32_t i = (1 << widths[digit]) - 1; i >= 0; i--) {
            const bucket *b = &buckets[i];
            if (b->count == 0) continue;
            if (last) { /* the bucket above did not contain the cut: its candidates stay */
                above += last->count;
                mass_above += last->mass;
            }
            last = b;
            if (above + b->count >= most || mass_above + b->mass >= mass) break;
        }
        prefix = prefix << widths[digit] | (uint32_t)(last - buckets);
    }
    const double each = last->mass / last->count;
    int32_t n_equal = 1;
    while (n_equal < last->count && above + n_equal < most && mass_above + n_equal * each < mass) n_equal++;
    return (cut){prefix, n_equal};
}

/* Removes the candidates below the cut and keeps the order of the others. */
static int32_t keep_above(candidate *c, int32_t n, cut at)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++) {
        const bool equal = c[i].rank_bits == at.rank_bits;
        const bool keep = (c[i].rank_bits > at.rank_bits) | (equal & (at.n_equal > 0));
        at.n_equal -= equal;
        c[kept] = c[i];
        kept += keep;
    }
    return kept;
}

/* A weight that at least `top_k` tokens reach: the top_k-th largest maximum of a block. 0 if there are too few blocks
 * for the bound to pay. Reduced by 1e-6, because the rounded exponential may be smaller for a larger logit. */
static float bound_top_k(const vouch_sampler *sampler, const float *weight)
{
    const int32_t n_blocks = sampler->n_vocab / BLOCK, top_k = sampler->params.top_k;
    if (n_blocks / 2 < top_k) return 0;
    candidate *maxima = sampler->candidates;
    for (int32_t b = 0; b < n_blocks; b++) {
        int32_t max = 0; /* the bits of floats >= 0 order like the floats, and integer maxima vectorise */
        for (int j = 0; j < BLOCK; j++) {
            int32_t bits;
            memcpy(&bits, &weight[(size_t)b * BLOCK + j], sizeof bits);
            max = bits > max ? bits : max;
        }
        maxima[b] = (candidate){.rank_bits = (uint32_t)max};
    }
    const cut at = find_cut(maxima, n_blocks, top_k, INFINITY, sampler->buckets);
    float bound;
    memcpy(&bound, &at.rank_bits, sizeof bound);
    return bound * (1 - 1e-6f);
}

static inline bool any_reaches(const float *weight, float least)
{
    int any = 0;
    for (int j = 0; j < GROUP; j++) any |= weight[j] >= least;
    return any;
}

/* Makes candidates of the tokens with weight > 0 and weight >= least, in ascending order of ids. */
static int32_t gather(const vouch_sampler *sampler, const float *logits, const float *weight, float least)
{
    candidate *c = sampler->candidates;
    const int32_t n_vocab = sampler->n_vocab;
    int32_t n = 0;
    if (least == 0) least = FLT_TRUE_MIN;
    for (int32_t begin = 0; begin < n_vocab; begin += GROUP) {
        const int32_t end = n_vocab - begin < GROUP ? n_vocab : begin + GROUP;
        if (end - begin == GROUP && !any_reaches(&weight[begin], least)) continue;
        for (int32_t i = begin; i < end; i++) {
            c[n] = (candidate){rank_of(logits[i]), weight[i], i};
            n += weight[i] >= least;
        }
    }
    return n;
}

static double candidates_mass(const candidate *c, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += c[i].weight;
    return sum;
}

/* Turns a dense distribution into one over the candidates with at least the weight that min-p asks for. */
static void set_support(vouch_dist *dist, const candidate *c, int32_t n, float least_weight)
{
    memset(dist->weight, 0, (size_t)dist->n_vocab * sizeof *dist->weight);
    dist->dense = false;
    dist->n_support = 0;
    dist->total = 0;
    for (int32_t i = 0; i < n; i++) {
        if (c[i].weight < least_weight) continue;
        dist->weight[c[i].id] = c[i].weight;
        dist->support[dist->n_support++] = c[i].id;
        dist->total += c[i].weight;
    }
}

/* Locally typical sampling. With z = log weight, -log p is a constant minus z. So its distance from its mean, the
 * entropy, is the distance of z from the mean of z, and needs no logarithm. The nearest tokens rank first. Returns how
 * many of the n candidates stay. */
static int32_t keep_typical(candidate *c, int32_t n, const vouch_sampler *sampler, const float *logits, float scale)
{
    double mass = 0, sum = 0;
    const double most = sampler->params.typical_p;
    for (int32_t i = 0; i < n; i++) {
        mass += c[i].weight;
        sum += c[i].weight * ((double)logits[c[i].id] * scale);
    }
    for (int32_t i = 0; i < n; i++) {
        const float distance = (float)fabs((double)logits[c[i].id] * scale - sum / mass);
        c[i].rank_bits = ~rank_of(distance);
    }
    n = keep_above(c, n, find_cut(c, n, n, most * mass, sampler->buckets));
    for (int32_t i = 0; i < n; i++) c[i].rank_bits = rank_of(logits[c[i].id]);
    return n;
}

/* XTC: of the tokens with at least this probability, drops all but the one that ranks last. */
static void exclude_top(vouch_dist *dist, const float *logits, float threshold)
{
    const double least = (double)threshold * dist->total;
    float *weight = dist->weight;
    int32_t n_above = 0, last = -1, kept = 0;
    for (int32_t i = 0; i < dist->n_support; i++) {
        const int32_t id = dist->dense ? i : dist->support[i];
        if (!(weight[id] > 0 && weight[id] >= least)) continue;
        n_above++;
        if (last < 0 || rank_of(logits[id]) <= rank_of(logits[last])) last = id;
    }
    if (n_above < 2) return;
    for (int32_t i = 0; i < dist->n_support; i++) {
        const int32_t id = dist->dense ? i : dist->support[i];
        if (id != last && weight[id] >= least) weight[id] = 0;
        else if (!dist->dense) dist->support[kept++] = id;
    }
    if (!dist->dense) dist->n_support = kept;
    dist->total = vouch_dist_sum(dist);
}

static float top_weight(const candidate *c, int32_t n)
{
    float most = 0;
    for (int32_t i = 0; i < n; i++) most = fmaxf(most, c[i].weight);
    return most;
}

static void filter(vouch_dist *dist, const vouch_sampler *sampler, const float *logits, float scale, float max_weight)
{
    const vouch_sampling *params = &sampler->params;
    const bool has_top_k = params->top_k > 0 && params->top_k < sampler->n_vocab, has_typical = params->typical_p < 1,
               has_top_p = params->top_p < 1;
    float least = params->min_p * max_weight;
    float bound = has_typical ? 0 : least;
    if (has_top_k) {
        bound = bound_top_k(sampler, dist->weight);
        /* typical and top-p need the mass of all top_k tokens */
        if (!has_top_p && !has_typical) bound = fmaxf(bound, least);
    } else if (has_top_p && !has_typical) {
        /* Tokens lighter than total (1 - top_p) / n_vocab sum to less than 1 - top_p of the total, so top-p drops them.
         * Half of this bound leaves room for rounding. */
        const double light = 0.5 * (1 - (double)params->top_p) * dist->total / sampler->n_vocab;
        bound = fmaxf(least, (float)light);
    }
    candidate *c = sampler->candidates;
    int32_t n = gather(sampler, logits, dist->weight, bound);
    double total = dist->total;
    if (has_top_k && n > params->top_k) n = keep_above(c, n, find_cut(c, n, params->top_k, INFINITY, sampler->buckets));
    if (has_typical) {
        n = keep_typical(c, n, sampler, logits, scale);
        least = params->min_p * top_weight(c, n);
    }
    if (has_top_p) {
        if (has_top_k || has_typical) total = candidates_mass(c, n);
        n = keep_above(c, n, find_cut(c, n, n, params->top_p * total, sampler->buckets));
    }
    set_support(dist, c, n, least);
}

/* ------------------------------------------------------------ all together */

vouch_status vouch_dist_from_logits(vouch_dist *out, vouch_sampler *sampler, const float *logits,
                                    const int32_t *history, size_t n_history)
{
    const vouch_sampling *params = &sampler->params;
    logits = change_logits(sampler, logits, history, n_history);

    float max;
    int32_t best;
    if (!sampler->kernels->find_max(logits, sampler->n_vocab, &max, &best)) return VOUCH_E_NUMERIC;
    if (params->temperature == 0) {
        vouch_dist_set_point(out, best);
        return VOUCH_OK;
    }
    /* The scale stays normal and finite: with an infinite scale, 0 * scale would be NaN. */
    const float scale = fminf(fmaxf(1 / params->temperature, FLT_MIN), FLT_MAX);
    out->total = sampler->kernels->exp_weights(out->weight, logits, sampler->n_vocab, max, scale);
    out->dense = true;
    out->n_support = sampler->n_vocab;
    if (params->top_k > 0 || params->typical_p < 1 || params->top_p < 1 || params->min_p > 0 || params->top_n_sigma > 0)
        filter(out, sampler, logits, scale, out->weight[best]);
    if (sampler->xtc_applies) exclude_top(out, logits, params->xtc_threshold);
    return VOUCH_OK;
}
