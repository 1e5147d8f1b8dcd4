/* SPDX-License-Identifier: MIT */
/*
 * Q2_K to Q6_K: blocks of 256 values in runs of 16 or 32. A run has a small integer scale, which multiplies the block's
 * f16 scale d; with minima also a small integer minimum, which multiplies dmin. Three steps:
 *
 *   1  for each run, search the float scale (and minimum) with the smallest weighted squared error
 *   2  round scales and minima to integers, relative to the largest of the block
 *   3  quantise the values again with the rounded scales
 *
 * Step 3 leaves out a run whose rounded scale is 0: its quants remain those of the search.
 */
#include <math.h>

#include "kernels/quantize.h"

enum { VALUES = 256 };

/* ------------------------------------------------- 1: scale with a minimum */

/* x ~ scale * q - minimum, for q in [0, most] and minimum >= 0. */
typedef struct affine {
    float scale, minimum;
} affine;

/* The candidates of a search divide the range of x into most + first, most + first + 0.1, ... steps. */
typedef struct candidates {
    int most, n;
    float first;
    bool absolute; /* the error is absolute, not squared */
} candidates;

static float error_of(const candidates *c, const float *x, const float *weights, const uint8_t *q, int n, float scale,
                      float low)
{
    float sum = 0;
    for (int i = 0; i < n; i++) {
        const float difference = scale * (float)q[i] + low - x[i];
        sum += weights[i] * (c->absolute ? fabsf(difference) : difference * difference);
    }
    return sum;
}

/* Quantises x from *low in steps of 1 / inverse, then finds the scale and the low that have the least squared error for
 * these quants. sum_w, sum_x: the sums of weights and of weights * x. False: the quants are all equal. */
static bool fit_affine(int most, float inverse, const float *x, const float *weights, int n, float sum_w, float sum_x,
                       uint8_t *q, float *scale, float *low)
{
    float sum_q = 0, sum_qq = 0, sum_xq = 0;
    for (int i = 0; i < n; i++) {
        const int l = vouch_clamp(vouch_nearest(inverse * (x[i] - *low)), 0, most);
        const float wq = weights[i] * (float)l;
        q[i] = (uint8_t)l;
        sum_q += wq;
        sum_qq += wq * (float)l;
        sum_xq += wq * x[i];
    }
    const float determinant = sum_w * sum_qq - sum_q * sum_q;
    if (!(determinant > 0)) return false;
    *scale = (sum_w * sum_xq - sum_x * sum_q) / determinant;
    *low = (sum_qq * sum_x - sum_q * sum_xq) / determinant;
    if (*low > 0) {
        *low = 0;
        *scale = sum_xq / sum_qq;
    }
    return true;
}

/* Sets q [n] to the quants of the best candidate. Each candidate starts from the low of the best one before it. */
static affine search_affine(const candidates *c, const float *x, const float *weights, int n, uint8_t *q)
{
    float low = x[0], high = x[0], sum_w = weights[0], sum_x = sum_w * x[0];
    for (int i = 1; i < n; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
        sum_w += weights[i];
        sum_x += weights[i] * x[i];
    }
    if (low > 0) low = 0;
    if (high == low) {
        memset(q, 0, (size_t)n);
        return (affine){0, -low};
    }
    float inverse = (float)c->most / (high - low), scale = 1 / inverse;
    for (int i = 0; i < n; i++) q[i] = (uint8_t)vouch_clamp(vouch_nearest(inverse * (x[i] - low)), 0, c->most);
    float least = error_of(c, x, weights, q, n, scale, low);
    for (int i = 0; i < c->n; i++) {
        uint8_t candidate[32];
        float its_scale, its_low = low;
        inverse = (c->first + 0.1f * (float)i + (float)c->most) / (high - low);
        if (!fit_affine(c->most, inverse, x, weights, n, sum_w, sum_x, candidate, &its_scale, &its_low)) continue;
        const float error = error_of(c, x, weights, candidate, n, its_scale, its_low);
        if (error >= least) continue;
        memcpy(q, candidate, (size_t)n);
        least = error;
        scale = its_scale;
        low = its_low;
    }
    return (affine){scale, -low};
}

/* ---------------------------------------------- 1: scale without a minimum */

/* The sums of least squares with weight x^2: the best scale for quants q is sum_xq / sum_qq. */
typedef struct fit {
    float sum_xq, sum_qq;
} fit;

/* Q3_K: quants in [-4, 3]. Starts from rounding, then moves one quant at a time to its best value, five rounds at most
 * (coordinate descent). q gets the quants plus 4. */
static float search_descent(const float *x, int8_t *q)
{
    enum { N = 16, MOST = 4, ROUNDS = 5 };
    const float extreme = vouch_extreme(x, N);
    memset(q, 0, N);
    if (fabsf(extreme) < VOUCH_QUANTIZE_TINY) return 0;
    fit f = {0, 0};
    for (int i = 0; i < N; i++) {
        const int l = vouch_clamp(vouch_nearest(-MOST / extreme * x[i]), -MOST, MOST - 1);
        const float weight = x[i] * x[i];
        q[i] = (int8_t)l;
        f.sum_xq += weight * x[i] * (float)l;
        f.sum_qq += weight * (float)l * (float)l;
    }
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (int i = 0; i < N; i++) {
            const float weight = x[i] * x[i];
            fit others = {f.sum_xq - weight * x[i] * (float)q[i], 0};
            if (!(others.sum_xq > 0)) continue;
            others.sum_qq = f.sum_qq - weight * (float)q[i] * (float)q[i];
            const int l = vouch_clamp(vouch_nearest(x[i] * others.sum_qq / others.sum_xq), -MOST, MOST - 1);
            if (l == q[i]) continue;
            const fit moved = {others.sum_xq + weight * x[i] * (float)l, others.sum_qq + weight * (float)l * (float)l};
            if (!(moved.sum_qq > 0) || !(moved.sum_xq * moved.sum_xq * f.sum_qq > f.sum_xq * f.sum_xq * moved.sum_qq))
                continue;
            q[i] = (int8_t)l;
            f = moved;
            changed = true;
        }
    }
    for (int i = 0; i < N; i++) q[i] = (int8_t)(q[i] + MOST);
    return f.sum_qq > 0 ? f.sum_xq / f.sum_qq : 0;
}

/* Q6_K: quants in [-32, 31]. Tries 19 scales around the one that makes the largest magnitude -32. q gets the quants
 * plus 32. */
static float search_scale(const float *x, int8_t *q)
{
    enum { N = 16, MOST = 32, AROUND = 9 };
    const float extreme = vouch_extreme(x, N);
    float scale = 0, best = 0;
    memset(q, 0, N);
    if (fabsf(extreme) < VOUCH_QUANTIZE_TINY) return 0;
    for (int i = -AROUND - 1; i <= AROUND; i++) {
        const bool is_first = i == -AROUND - 1;
        if (i == 0) continue; /* the first */
        const float inverse = -((float)MOST + (is_first ? 0 : 0.1f * (float)i)) / extreme;
        int8_t candidate[N];
        fit f = {0, 0};
        for (int j = 0; j < N; j++) {
            const int l = vouch_clamp(vouch_nearest(inverse * x[j]), -MOST, MOST - 1);
            const float weight = x[j] * x[j];
            candidate[j] = (int8_t)(l + MOST);
            f.sum_xq += weight * x[j] * (float)l;
            f.sum_qq += weight * (float)l * (float)l;
        }
        if (!is_first && !(f.sum_qq > 0 && f.sum_xq * f.sum_xq > best * f.sum_qq)) continue;
        memcpy(q, candidate, N);
        scale = f.sum_qq != 0 ? f.sum_xq / f.sum_qq : 0;
        best = scale * f.sum_xq;
    }
    return scale;
}

/* ------------------------------------------------------------ 3: the quants */

/* q = the integers nearest to (x + minimum) / scale in [low, high], less low; unchanged where the scale is 0. */
static void quantize_run(const float *x, int n, float scale, float minimum, int low, int high, uint8_t *q)
{
    if (scale == 0) return;
    for (int i = 0; i < n; i++) q[i] = (uint8_t)(vouch_clamp(vouch_nearest((x[i] + minimum) / scale), low, high) - low);
}

/* Bit s of h[i] is bit `bit` of value 32 s + i. */
static void store_high_bits(unsigned char *h, const uint8_t *values, int bit)
{
    memset(h, 0, 32);
    for (int s = 0; s < 8; s++)
        for (int i = 0; i < 32; i++) h[i] |= (unsigned char)((values[32 * s + i] >> bit & 1) << s);
}

/* ------------------------------------------------------------------- blocks */

void vouch_quantize_q2_k(const float *x, unsigned char *block)
{
    enum { RUNS = 16, RUN = 16, MOST = 3, MOST_SCALE = 15 };
    static const candidates c = {MOST, 16, -0.5f, true};
    uint8_t q[VALUES];
    affine runs[RUNS];
    float scale = 0, minimum = 0;
    for (int r = 0; r < RUNS; r++) {
        float weights[RUN];
        for (int i = 0; i < RUN; i++) weights[i] = fabsf(x[RUN * r + i]);
        runs[r] = search_affine(&c, x + RUN * r, weights, RUN, q + RUN * r);
        if (runs[r].scale > scale) scale = runs[r].scale;
        if (runs[r].minimum > minimum) minimum = runs[r].minimum;
    }
    vouch_store_half(block + 80, scale / MOST_SCALE);
    vouch_store_half(block + 82, minimum / MOST_SCALE);
    const float inverse_scale = scale > 0 ? MOST_SCALE / scale : 0;
    const float inverse_minimum = minimum > 0 ? MOST_SCALE / minimum : 0;
    for (int r = 0; r < RUNS; r++) {
        const unsigned s = (unsigned)vouch_nearest(inverse_scale * runs[r].scale);
        const unsigned m = (unsigned)vouch_nearest(inverse_minimum * runs[r].minimum);
        block[r] = (unsigned char)(s | m << 4);
        quantize_run(x + RUN * r, RUN, vouch_load_half(block + 80) * (float)(block[r] & 15),
                     vouch_load_half(block + 82) * (float)(block[r] >> 4), 0, MOST, q + RUN * r);
    }
    vouch_store_crumbs(block + 16, q);
}

void vouch_quantize_q3_k(const float *x, unsigned char *block)
{
    enum { RUNS = 16, RUN = 16, MOST = 4, MOST_SCALE = 32 };
    int8_t searched[VALUES];
    uint8_t q[VALUES];
    unsigned char *scales = block + 96;
    float runs[RUNS];
    for (int r = 0; r < RUNS; r++) runs[r] = search_descent(x + RUN * r, searched + RUN * r);
    memcpy(q, searched, sizeof q);
    const float extreme = vouch_extreme(runs, RUNS), inverse = extreme != 0 ? -MOST_SCALE / extreme : 0;
    vouch_store_half(block + 108, extreme != 0 ? 1 / inverse : 0);
    memset(scales, 0, 12);
    for (int r = 0; r < RUNS; r++) {
        const int s = vouch_clamp(vouch_nearest(inverse * runs[r]), -MOST_SCALE, MOST_SCALE - 1);
        const int stored = extreme != 0 ? s + MOST_SCALE : 0; /* a block of zeros has d = 0, and zeros everywhere */
        scales[r % 8] |= (unsigned char)((stored & 15) << r / 8 * 4);
        scales[8 + r % 4] |= (unsigned char)(stored >> 4 << r / 4 * 2);
        quantize_run(x + RUN * r, RUN, vouch_load_half(block + 108) * (float)s, 0, -MOST, MOST - 1, q + RUN * r);
    }
    store_high_bits(block, q, 2);
    vouch_store_crumbs(block + 32, q);
}

/* Quantises a block of Q4_K or Q5_K. Writes d, dmin and the scales (read_k_scales in read_block.c) to the block, and
 * the quants to q. */
static void quantize_affine_runs(const candidates *c, const float *x, unsigned char *block, uint8_t q[VALUES])
{
    enum { RUNS = 8, RUN = 32, MOST_SCALE = 63 };
    affine runs[RUNS];
    float scale = 0, minimum = 0;
    for (int r = 0; r < RUNS; r++) {
        const float *values = x + RUN * r;
        float weights[RUN], squares = 0;
        for (int i = 0; i < RUN; i++) squares += values[i] * values[i];
        const float average = sqrtf(squares / RUN);
        for (int i = 0; i < RUN; i++) weights[i] = average + fabsf(values[i]);
        runs[r] = search_affine(c, values, weights, RUN, q + RUN * r);
        if (runs[r].scale > scale) scale = runs[r].scale;
        if (runs[r].minimum > minimum) minimum = runs[r].minimum;
    }
    vouch_store_half(block, scale / MOST_SCALE);
    vouch_store_half(block + 2, minimum / MOST_SCALE);
    const float inverse_scale = scale > 0 ? MOST_SCALE / scale : 0;
    const float inverse_minimum = minimum > 0 ? MOST_SCALE / minimum : 0;
    unsigned char *at = block + 4;
    for (int r = 0; r < RUNS; r++) {
        const uint8_t rounded_scale = (uint8_t)vouch_nearest(inverse_scale * runs[r].scale);
        const uint8_t rounded_minimum = (uint8_t)vouch_nearest(inverse_minimum * runs[r].minimum);
        const int s = vouch_clamp(rounded_scale, 0, MOST_SCALE), m = vouch_clamp(rounded_minimum, 0, MOST_SCALE);
        if (r < 4) {
            at[r] = (unsigned char)s;
            at[4 + r] = (unsigned char)m;
        } else {
            at[4 + r] = (unsigned char)((s & 15) | (m & 15) << 4);
            at[r - 4] |= (unsigned char)(s >> 4 << 6);
            at[r] |= (unsigned char)(m >> 4 << 6);
        }
        quantize_run(x + RUN * r, RUN, vouch_load_half(block) * (float)s, vouch_load_half(block + 2) * (float)m, 0,
                     c->most, q + RUN * r);
    }
}

void vouch_quantize_q4_k(const float *x, unsigned char *block)
{
    static const candidates c = {15, 21, -1.0f, false};
    uint8_t q[VALUES];
    quantize_affine_runs(&c, x, block, q);
    for (int i = 0; i < 4; i++) vouch_store_nibbles(block + 16 + 32 * i, q + 64 * i, 32);
}

void vouch_quantize_q5_k(const float *x, unsigned char *block)
{
    static const candidates c = {31, 16, -0.5f, false};
    uint8_t q[VALUES];
    quantize_affine_runs(&c, x, block, q);
    store_high_bits(block + 16, q, 4);
    for (int i = 0; i < 4; i++) vouch_store_nibbles(block + 48 + 32 * i, q + 64 * i, 32);
}

void vouch_quantize_q6_k(const float *x, unsigned char *block)
{
    enum { RUNS = 16, RUN = 16, MOST = 32 };
    int8_t searched[VALUES];
    uint8_t q[VALUES];
    float runs[RUNS];
    for (int r = 0; r < RUNS; r++) runs[r] = search_scale(x + RUN * r, searched + RUN * r);
    const float extreme = vouch_extreme(runs, RUNS);
    memset(block, 0, 210);
    if (fabsf(extreme) < VOUCH_QUANTIZE_TINY) return;
    memcpy(q, searched, sizeof q);
    const float inverse = -128 / extreme;
    vouch_store_half(block + 208, 1 / inverse);
    for (int r = 0; r < RUNS; r++) {
        const int nearest = vouch_nearest(inverse * runs[r]);
        const int8_t s = (int8_t)(nearest < 127 ? nearest : 127);
        block[192 + r] = (unsigned char)s;
        quantize_run(x + RUN * r, RUN, vouch_load_half(block + 208) * (float)s, 0, -MOST, MOST - 1, q + RUN * r);
    }
    for (int half = 0; half < 2; half++) {
        const uint8_t *values = q + 128 * half;
        uint8_t high[128];
        for (int i = 0; i < 128; i++) high[i] = values[i] >> 4;
        vouch_store_nibbles(block + 64 * half, values, 64);
        for (int i = 0; i < 32; i++)
            block[128 + 32 * half + i] =
                (unsigned char)(high[i] | high[32 + i] << 2 | high[64 + i] << 4 | high[96 + i] << 6);
    }
}
