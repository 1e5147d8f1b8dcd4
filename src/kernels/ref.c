/* SPDX-License-Identifier: MIT */
/*
 * The kernels in plain C: the definition of every result, to be read, and what the fast ones are compared
 * with. Nothing here depends on the number of rows, and every float operation is written out: fmaf where one
 * rounding is meant, and the build forbids the compiler to contract others.
 */
#include <math.h>
#include <string.h>

#include "kernels/exp.h"
#include "kernels/kernels.h"
#include "kernels/tables.h"

enum { GROUP_ROWS = 8 };

/* ----------------------------------------------------------------- matmul */

static inline uint16_t load_half(const unsigned char *p)
{
    uint16_t half;
    memcpy(&half, p, sizeof half);
    return half;
}

/* One output: weights of lane `lane` of the tile times row r of the group, from `acc` on. */
typedef float dot_fn(const vouch_matrix *w, const unsigned char *tile, int lane, const vouch_group *g, int64_t r,
                     float acc);

static float scale_at(const unsigned char *tile, vouch_pair pair, int64_t block, int which, int lane)
{
    return vouch_half_to_float(load_half(tile + vouch_scales_at(pair, block, which) + lane * 2));
}

static float dot_q8_0(const vouch_matrix *w, const unsigned char *tile, int lane, const vouch_group *g, int64_t r,
                      float acc)
{
    const vouch_pair pair = vouch_pair_of(VOUCH_TYPE_Q8_0);
    for (int64_t b = 0; b < w->n_in / VOUCH_BLOCK; b++) {
        const unsigned char *quants = tile + vouch_quants_at(pair, b);
        int32_t dot = 0;
        for (int k = 0; k < VOUCH_BLOCK; k++)
            dot += (quants[k / 4 * 64 + lane * 4 + k % 4] - 128) * g->q[((b * 8 + k / 4) * g->rows + r) * 4 + k % 4];
        acc = fmaf((float)dot, scale_at(tile, pair, b, 0, lane) * g->d[b * g->rows + r], acc);
    }
    return acc;
}

/* Sum over k of nibble[k] x[k] in block b. */
static int32_t dot_nibbles(const unsigned char *quants, int64_t b, int lane, const vouch_group *g, int64_t r)
{
    int32_t dot = 0;
    for (int k = 0; k < VOUCH_BLOCK; k++) {
        const int byte = quants[k % 16 / 4 * 64 + lane * 4 + k % 4];
        dot += (k < 16 ? byte & 15 : byte >> 4) * g->q[((b * 8 + k / 4) * g->rows + r) * 4 + k % 4];
    }
    return dot;
}

static float dot_q4_0(const vouch_matrix *w, const unsigned char *tile, int lane, const vouch_group *g, int64_t r,
                      float acc)
{
    const vouch_pair pair = vouch_pair_of(VOUCH_TYPE_Q4_0);
    for (int64_t b = 0; b < w->n_in / VOUCH_BLOCK; b++) {
        const int32_t dot = dot_nibbles(tile + vouch_quants_at(pair, b), b, lane, g, r) + g->start[b * g->rows + r];
        acc = fmaf((float)dot, scale_at(tile, pair, b, 0, lane) * g->d[b * g->rows + r], acc);
    }
    return acc;
}

static float dot_q4_1(const vouch_matrix *w, const unsigned char *tile, int lane, const vouch_group *g, int64_t r,
                      float acc)
{
    const vouch_pair pair = vouch_pair_of(VOUCH_TYPE_Q4_1);
    for (int64_t b = 0; b < w->n_in / VOUCH_BLOCK; b++) {
        const int32_t dot = dot_nibbles(tile + vouch_quants_at(pair, b), b, lane, g, r);
        acc = fmaf((float)dot, scale_at(tile, pair, b, 0, lane) * g->d[b * g->rows + r], acc);
        acc = fmaf(scale_at(tile, pair, b, 1, lane), g->s[b * g->rows + r], acc);
    }
    return acc;
}

static float dot_f32(const vouch_matrix *w, const unsigned char *tile, int lane, const vouch_group *g, int64_t r,
                     float acc)
{
    const float *values = (const float *)(const void *)tile;
    for (int64_t k = 0; k < w->n_in; k++) acc = fmaf(values[k * 16 + lane], g->x[(k / 16 * g->rows + r) * 16 + k % 16], acc);
    return acc;
}

static float dot_f16(const vouch_matrix *w, const unsigned char *tile, int lane, const vouch_group *g, int64_t r,
                     float acc)
{
    for (int64_t k = 0; k < w->n_in; k++)
        acc = fmaf(vouch_half_to_float(load_half(tile + (k * 16 + lane) * 2)), g->x[(k / 16 * g->rows + r) * 16 + k % 16], acc);
    return acc;
}

static void matmul(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t tile_begin, int64_t tile_end,
                   dot_fn *dot)
{
    for (int64_t i = 0; i < vouch_n_groups(x); i++) {
        const vouch_group g = vouch_group_at(x, i);
        for (int64_t o = tile_begin * VOUCH_TILE; o < tile_end * VOUCH_TILE && o < w->n_out; o++) {
            const unsigned char *tile = w->data + (size_t)(o / VOUCH_TILE) * w->tile_bytes;
            for (int64_t r = 0; r < g.rows; r++) {
                float *out = &y.y[(g.begin + r) * y.row + o / VOUCH_TILE * y.tile + o % VOUCH_TILE];
                *out = dot(w, tile, (int)(o % VOUCH_TILE), &g, r, y.start == VOUCH_FROM_Y ? *out : 0.0f);
                if (y.factors) *out *= y.factors[g.begin + r];
            }
        }
    }
}

#define MATMUL(type)                                                                             \
    static void matmul_##type##_ref(const vouch_matrix *w, const vouch_acts *x, vouch_result y,  \
                                    int64_t tile_begin, int64_t tile_end)                        \
    {                                                                                            \
        matmul(w, x, y, tile_begin, tile_end, dot_##type);                                       \
    }
MATMUL(f32)
MATMUL(f16)
MATMUL(q4_0)
MATMUL(q4_1)
MATMUL(q8_0)
#undef MATMUL

static void add_column_ref(const vouch_matrix *w, int64_t column, const float *x, int64_t ldx, float *y, int64_t ldy,
                           int64_t n)
{
    for (int64_t o = 0; o < w->n_out; o++) {
        const unsigned char *at = vouch_matrix_element(w, o, column);
        float value;
        if (w->type == VOUCH_TYPE_F16) value = vouch_half_to_float(load_half(at));
        else memcpy(&value, at, sizeof value);
        for (int64_t i = 0; i < n; i++) y[i * ldy + o] = fmaf(value, x[i * ldx], y[i * ldy + o]);
    }
}

/* ------------------------------------------------------------ activations */

static void quantize_ref(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                         int64_t in_begin, int64_t in_end)
{
    for (int64_t row = row_begin; row < row_end; row++) {
        int64_t r;
        const vouch_group g = vouch_group_of(acts, row, &r);
        for (int64_t b = in_begin / VOUCH_BLOCK; b < in_end / VOUCH_BLOCK; b++) {
            const float *v = x + (row - row_begin) * ldx + b * VOUCH_BLOCK;
            float largest = 0;
            bool finite = true;
            for (int k = 0; k < VOUCH_BLOCK; k++) {
                const float size = fabsf(v[k]);
                largest = size > largest ? size : largest;
                finite = finite && size < INFINITY;
            }
            const float inverse = finite && largest >= VOUCH_QUANT_MIN ? 127.0f / largest : 0.0f;
            const float d = !finite ? NAN : inverse != 0.0f ? largest / 127.0f : 0.0f;
            int32_t sum = 0;
            for (int k = 0; k < VOUCH_BLOCK; k++) {
                const int8_t q = finite ? (int8_t)lrintf(v[k] * inverse) : 0;
                g.q[((b * 8 + k / 4) * g.rows + r) * 4 + k % 4] = q;
                sum += q;
            }
            g.d[b * g.rows + r] = d;
            g.s[b * g.rows + r] = d * (float)sum;
            g.start[b * g.rows + r] = -8 * sum;
        }
    }
}

static void interleave_ref(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                           int64_t in_begin, int64_t in_end)
{
    for (int64_t row = row_begin; row < row_end; row++) {
        int64_t r;
        const vouch_group g = vouch_group_of(acts, row, &r);
        for (int64_t k = in_begin; k < in_end; k++) 
            g.x[(k / 16 * g.rows + r) * 16 + k % 16] = x[(row - row_begin) * ldx + k];
    }
}

/* ------------------------------------------------------------------ cache */

static void set_value(vouch_matrix *w, int64_t row, int64_t column, float value)
{
    unsigned char *at = vouch_matrix_element(w, row, column);
    if (w->type == VOUCH_TYPE_F16) {
        const uint16_t half = vouch_float_to_half(value);
        memcpy(at, &half, sizeof half);
    } else {
        memcpy(at, &value, sizeof value);
    }
}

static void set_row_ref(vouch_matrix *w, int64_t row, const float *values)
{
    for (int64_t k = 0; k < w->n_in; k++) set_value(w, row, k, values[k]);
}

static void set_column_ref(vouch_matrix *w, int64_t column, const float *values)
{
    for (int64_t o = 0; o < w->n_out; o++) set_value(w, o, column, values[o]);
}

/* ---------------------------------------------------------------- the rest */

/* The tree over 16 lanes. */
static float reduce(float lane[16])
{
    for (int width = 8; width; width /= 2)
        for (int i = 0; i < width; i++) lane[i] += lane[i + width];
    return lane[0];
}

static double reduce_double(double lane[16])
{
    for (int width = 8; width; width /= 2)
        for (int i = 0; i < width; i++) lane[i] += lane[i + width];
    return lane[0];
}

static float exponential(float x)
{
    const float t = VOUCH_EXP_MAX < x ? VOUCH_EXP_MAX : x;
    const float k = fmaf(t, VOUCH_EXP_LOG2E, VOUCH_EXP_ROUND), n = k - VOUCH_EXP_ROUND;
    const float r = fmaf(n, -VOUCH_EXP_LN2_LOW, fmaf(n, -VOUCH_EXP_LN2_HIGH, t));
    float p = fmaf(VOUCH_EXP_P0, r, VOUCH_EXP_P1);
    p = fmaf(p, r, VOUCH_EXP_P2);
    p = fmaf(p, r, VOUCH_EXP_P3);
    p = fmaf(p, r, VOUCH_EXP_P4);
    p = fmaf(p, r, VOUCH_EXP_P5);
    p = fmaf(p, r * r, r) + 1.0f;
    uint32_t bits;
    memcpy(&bits, &k, sizeof bits);
    bits = (bits + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return x < VOUCH_EXP_MIN ? 0.0f : p * power;
}

static void norm_part_ref(float *y, float *squares, const float *x, const float *weight, int64_t n)
{
    for (int64_t i = 0; i < n; i += 16) {
        float lane[16] = {0};
        for (int64_t j = 0; j < 16 && i + j < n; j++) {
            lane[j] = x[i + j] * x[i + j];
            y[i + j] = x[i + j] * weight[i + j];
        }
        squares[i / 16] = reduce(lane);
    }
}

static float norm_factor_ref(const float *squares, int64_t n, float eps)
{
    float lane[16] = {0};
    for (int64_t i = 0; i < (n + 15) / 16; i++) lane[i % 16] += squares[i];
    return 1.0f / sqrtf(reduce(lane) / (float)n + eps);
}

static void rope_ref(float *x, const float *cos, const float *sin, int64_t n_rot, bool half_split)
{
    for (int64_t i = 0; i < n_rot / 2; i++) {
        const int64_t a = half_split ? i : 2 * i, b = half_split ? i + n_rot / 2 : 2 * i + 1;
        const float at_a = x[a], at_b = x[b];
        x[a] = fmaf(at_a, cos[a], at_b * sin[a]);
        x[b] = fmaf(at_b, cos[b], at_a * sin[b]);
    }
}

static void scale_ref(float *x, float factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] *= factor;
}

static void swiglu_ref(float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++) gate[i] = gate[i] / (1.0f + exponential(-gate[i])) * up[i];
}

static float softmax_ref(float *x, int64_t chunk, int64_t n)
{
    float max = x[0], lane[16] = {0};
    for (int64_t j = 1; j < n; j++) {
        const float value = x[j / 16 * chunk + j % 16];
        max = value > max ? value : max;
    }
    for (int64_t j = 0; j < n; j++) {
        float *at = &x[j / 16 * chunk + j % 16];
        lane[j % 16] += *at = exponential(*at - max);
    }
    return reduce(lane);
}

static bool find_max_ref(const float *x, int64_t n, float *max, int32_t *index)
{
    bool ordered = x[0] == x[0];
    *max = x[0];
    *index = 0;
    for (int64_t i = 1; i < n; i++) {
        ordered = ordered && x[i] == x[i];
        if (x[i] > *max) {
            *max = x[i];
            *index = (int32_t)i;
        }
    }
    return ordered && fabsf(*max) < INFINITY;
}

static double exp_weights_ref(float *w, const float *x, int64_t n, float max, float scale)
{
    double lane[16] = {0};
    for (int64_t i = 0; i < n; i++) lane[i % 16] += w[i] = exponential((x[i] - max) * scale);
    return reduce_double(lane);
}

const vouch_kernels vouch_kernels_ref = {
    .name = "ref",
    .group_rows = GROUP_ROWS,
    .float_rows = GROUP_ROWS,
    .matmul = {[VOUCH_TYPE_F32] = matmul_f32_ref,
               [VOUCH_TYPE_F16] = matmul_f16_ref,
               [VOUCH_TYPE_Q4_0] = matmul_q4_0_ref,
               [VOUCH_TYPE_Q4_1] = matmul_q4_1_ref,
               [VOUCH_TYPE_Q8_0] = matmul_q8_0_ref},
    .add_column = add_column_ref,
    .quantize = quantize_ref,
    .interleave = interleave_ref,
    .norm_part = norm_part_ref,
    .norm_factor = norm_factor_ref,
    .rope = rope_ref,
    .scale = scale_ref,
    .swiglu = swiglu_ref,
    .set_row = set_row_ref,
    .set_column = set_column_ref,
    .softmax = softmax_ref,
    .find_max = find_max_ref,
    .exp_weights = exp_weights_ref,
};
