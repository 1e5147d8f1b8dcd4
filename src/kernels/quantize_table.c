/* SPDX-License-Identifier: MIT */
/*
 * Types whose quants are indices into a table of 16 values (vouch_tables).
 *
 *   IQ4_NL, IQ4_XS   unevenly spaced values. The scale of a run of 32 values is searched around the one that maps the
 *                    largest magnitude to the table's first value; the weights of the squared error are the squares of
 *                    the values
 *   MXFP4            4-bit floats; the scale is a power of two
 */
#include <math.h>

#include "kernels/quantize.h"

enum { RUN = 32, N_VALUES = 16, AROUND = 7 };

/* Value i of the table of IQ4_NL, which ascends. */
static inline int iq4(int i)
{
    return vouch_tables[VOUCH_TABLE_IQ4][i] - 128;
}

/* The index of the table's value nearest to x; of two equally near, the upper. */
static int nearest_index(float x)
{
    int below = 0, above = N_VALUES - 1;
    if (x <= (float)iq4(below)) return below;
    if (x >= (float)iq4(above)) return above;
    while (above - below > 1) {
        const int middle = (below + above) / 2;
        if (x < (float)iq4(middle)) above = middle;
        else below = middle;
    }
    return x - (float)iq4(below) < (float)iq4(above) - x ? below : above;
}

/* The scale with the least weighted squared error among 16 candidates. The first candidate maps the value of largest
 * magnitude to minus the table's first value, the others map it to the table's first value and to numbers near that. */
static float search_scale(const float *x)
{
    const float extreme = vouch_extreme(x, RUN);
    float scale = 0, best = 0;
    if (fabsf(extreme) < VOUCH_QUANTIZE_TINY) return 0;
    for (int i = -AROUND - 1; i <= AROUND; i++) {
        const bool is_first = i == -AROUND - 1;
        const float inverse = is_first ? 1 / (-extreme / (float)iq4(0)) : (float)(i + iq4(0)) / extreme;
        float sum_xq = 0, sum_qq = 0;
        for (int j = 0; j < RUN; j++) {
            const float q = (float)iq4(nearest_index(inverse * x[j])), weight = x[j] * x[j];
            sum_xq += weight * q * x[j];
            sum_qq += weight * q * q;
        }
        if (!is_first && !(sum_qq > 0 && sum_xq * sum_xq > best * sum_qq)) continue;
        scale = sum_qq > 0 ? sum_xq / sum_qq : 0;
        best = scale * sum_xq;
    }
    return scale;
}

/* Quantises one run with a scale; 0 gives the index of the value nearest to 0. */
static void store_run(const float *x, float scale, unsigned char *nibbles)
{
    const float inverse = scale != 0 ? 1 / scale : 0;
    uint8_t q[RUN];
    for (int i = 0; i < RUN; i++) q[i] = (uint8_t)nearest_index(inverse * x[i]);
    vouch_store_nibbles(nibbles, q, RUN / 2);
}

void vouch_quantize_iq4_nl(const float *x, unsigned char *block)
{
    const float scale = search_scale(x);
    vouch_store_half(block, scale);
    store_run(x, scale, block + 2);
}

void vouch_quantize_iq4_xs(const float *x, unsigned char *block)
{
    enum { RUNS = 8, MOST = 32 };
    float runs[RUNS];
    uint16_t high = 0;
    for (int r = 0; r < RUNS; r++) runs[r] = search_scale(x + RUN * r);
    const float d = -vouch_extreme(runs, RUNS) / MOST, inverse = d != 0 ? 1 / d : 0;
    vouch_store_half(block, d);
    memset(block + 4, 0, 4);
    for (int r = 0; r < RUNS; r++) {
        const int s = vouch_clamp(vouch_nearest(inverse * runs[r]), -MOST, MOST - 1), stored = s + MOST;
        block[4 + r / 2] |= (unsigned char)((stored & 15) << r % 2 * 4);
        high |= (uint16_t)(stored >> 4 << 2 * r);
        store_run(x + RUN * r, d * (float)s, block + 8 + 16 * r);
    }
    memcpy(block + 2, &high, sizeof high);
}

/* Chooses the scale that brings the largest magnitude into [4, 8); E2M1's largest value is 6. A block whose magnitudes
 * are all below 2^-125 gets the least scale. Of two table values that are equally near, the first is taken. */
void vouch_quantize_mxfp4(const float *x, unsigned char *block)
{
    const float most = fabsf(vouch_extreme(x, RUN)), exponent = most > 0 ? floorf(log2f(most)) - 2 + 127 : 0;
    block[0] = exponent > 0 ? (unsigned char)exponent : 0;
    const float scale = vouch_e8m0_half(block[0]);
    uint8_t q[RUN];
    for (int i = 0; i < RUN; i++) {
        float least = INFINITY;
        for (int k = 0; k < N_VALUES; k++) {
            const float error = fabsf((float)(vouch_tables[VOUCH_TABLE_E2M1][k] - 16) * scale - x[i]);
            if (error >= least) continue;
            least = error;
            q[i] = (uint8_t)k;
        }
    }
    vouch_store_nibbles(block + 1, q, RUN / 2);
}
