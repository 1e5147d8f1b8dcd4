/* SPDX-License-Identifier: MIT */
#include "model/stage/rows.h"

#include <math.h>

/* 16 lanes, each in ascending order, then a tree: the order of the kernels' row sums. */
static float add_lanes(float *lanes)
{
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}

static float row_mean(const float *x, int64_t n)
{
    float lanes[16] = {0};
    for (int64_t at = 0; at < n; at += 16)
        for (int64_t i = 0; i < 16 && at + i < n; i++) lanes[i] += x[at + i];
    return add_lanes(lanes) / (float)n;
}

static float mean_square(const float *x, float mean, int64_t n)
{
    float lanes[16] = {0};
    for (int64_t at = 0; at < n; at += 16)
        for (int64_t i = 0; i < 16 && at + i < n; i++) lanes[i] += (x[at + i] - mean) * (x[at + i] - mean);
    return add_lanes(lanes) / (float)n;
}

void vouch_row_norm(float *y, const float *x, const vouch_norm *norm, int64_t n, float eps)
{
    const float mean = norm->kind == VOUCH_NORM_LAYER ? row_mean(x, n) : 0;
    const float factor = norm->kind == VOUCH_NORM_NONE ? 1 : 1.0f / sqrtf(mean_square(x, mean, n) + eps);
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean) * factor;
    for (int64_t i = 0; norm->weight && i < n; i++) y[i] *= norm->weight[i];
    for (int64_t i = 0; norm->bias && i < n; i++) y[i] += norm->bias[i];
}

float vouch_row_dot(const float *x, const float *y, int64_t n)
{
    float lanes[16] = {0};
    for (int64_t at = 0; at < n; at += 16)
        for (int64_t i = 0; i < 16 && at + i < n; i++) lanes[i] += x[at + i] * y[at + i];
    return add_lanes(lanes);
}

void vouch_row_cut(float *x, float deviations, int64_t n)
{
    const float mean = row_mean(x, n), cutoff = mean + deviations * sqrtf(mean_square(x, mean, n));
    for (int64_t i = 0; i < n; i++) x[i] = x[i] > cutoff ? x[i] - cutoff : 0;
}

void vouch_row_affine(float *y, const vouch_affine *affine, int64_t first, int64_t n)
{
    for (int64_t i = 0; affine->scale && !affine->is_bias_scaled && i < n; i++) y[i] *= *affine->scale;
    for (int64_t i = 0; affine->bias && i < n; i++) y[i] += affine->bias[first + i];
    for (int64_t i = 0; affine->scale && affine->is_bias_scaled && i < n; i++) y[i] *= *affine->scale;
}

void vouch_row_clamp(float *x, float limit, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] = x[i] < -limit ? -limit : x[i] > limit ? limit : x[i];
}

void vouch_row_sigmoid(const vouch_kernels *kernels, float *x, int64_t n)
{
    kernels->exp_weights(x, x, n, 0, -1);
    for (int64_t i = 0; i < n; i++) x[i] = 1.0f / (1.0f + x[i]);
}

/* tanh z from e = exp(2 z). Near 0, where 1 - 2 / (e + 1) cancels, its series. */
static float tanh_of(float z, float e)
{
    const float s = z * z;
    if (s > 0.0625f) return 1 - 2 / (e + 1);
    return z * (1 + s * (-1.0f / 3 + s * (2.0f / 15 + s * (-17.0f / 315 + s * (62.0f / 2835)))));
}

void vouch_row_softcap(const vouch_kernels *kernels, float *x, float cap, int64_t n)
{
    float powers[64];
    for (int64_t at = 0; at < n; at += 64) {
        const int64_t part = n - at < 64 ? n - at : 64;
        kernels->exp_weights(powers, x + at, part, 0, 2 / cap);
        for (int64_t i = 0; i < part; i++) x[at + i] = cap * tanh_of(x[at + i] / cap, powers[i]);
    }
}

/* z sigmoid(t) = silu(t) z / t, where t = 2 sqrt(2 / pi) (z + 0.044715 z^3) has the factor z: GELU without a kernel of
 * its own. */
static void prepare_gelu(float *gate, float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float z = gate[i], slope = 1.5957691216f * (1 + 0.044715f * (z * z));
        gate[i] = z * slope;
        up[i] /= slope;
    }
}

/* 1 + erf(x) by the polynomial 7.1.26 of Abramowitz and Stegun, whose error is below 1.5e-7; power = exp(-x^2). */
static float one_plus_erf(float x, float power)
{
    const float t = 1 / (1 + 0.3275911f * fabsf(x));
    const float tail =
        t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f)))) * power;
    return x < 0 ? tail : 2 - tail;
}

static void multiply_gelu(const vouch_kernels *kernels, float *gate, const float *up, int64_t n)
{
    float squares[64], powers[64];
    for (int64_t at = 0; at < n; at += 64) {
        const int64_t part = n - at < 64 ? n - at : 64;
        for (int64_t i = 0; i < part; i++) squares[i] = gate[at + i] * gate[at + i];
        kernels->exp_weights(powers, squares, part, 0, -0.5f);
        for (int64_t i = 0; i < part; i++) {
            const float z = gate[at + i];
            gate[at + i] = 0.5f * z * one_plus_erf(0.70710678f * z, powers[i]) * up[at + i];
        }
    }
}

/* z sigmoid(1.702 z) (up + 1) = silu(1.702 z) (up + 1) / 1.702 */
static void prepare_openai(float *gate, float *up, int64_t n)
{
    const float slope = 1.702f;
    for (int64_t i = 0; i < n; i++) {
        gate[i] *= slope;
        up[i] = (up[i] + 1) / slope;
    }
}

/* gate becomes silu(gate), at most `limit`. */
static void activate_limited(const vouch_kernels *kernels, float *gate, float limit, int64_t n)
{
    float ones[64];
    for (int i = 0; i < 64; i++) ones[i] = 1;
    for (int64_t at = 0; at < n; at += 64) kernels->swiglu(gate + at, ones, n - at < 64 ? n - at : 64);
    for (int64_t i = 0; i < n; i++) gate[i] = gate[i] < limit ? gate[i] : limit;
}

/* exp(z) - 1 from e = exp(z), z <= 0. Near 0, where the difference cancels, its series. */
static float exp_less_one(float z, float e)
{
    if (z < -0.5f) return e - 1;
    return z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4 * (1 + z / 5 * (1 + z / 6 * (1 + z / 7))))));
}

static void multiply_xielu(const vouch_kernels *kernels, const vouch_feed_forward *ffn, float *gate, const float *up,
                           int64_t n)
{
    float lowest[64], powers[64];
    for (int64_t at = 0; at < n; at += 64) {
        const int64_t part = n - at < 64 ? n - at : 64;
        for (int64_t i = 0; i < part; i++) lowest[i] = gate[at + i] < ffn->xielu.most ? gate[at + i] : ffn->xielu.most;
        kernels->exp_weights(powers, lowest, part, 0, 1);
        for (int64_t i = 0; i < part; i++) {
            const float z = gate[at + i];
            const float bent =
                z > 0 ? ffn->xielu.positive * z * z : ffn->xielu.negative * (exp_less_one(lowest[i], powers[i]) - z);
            gate[at + i] = (bent + ffn->xielu.slope * z) * up[at + i];
        }
    }
}

static void multiply_situ(const vouch_kernels *kernels, vouch_situ caps, float *gate, float *up, int64_t n)
{
    float powers[64];
    if (caps.up > 0) vouch_row_softcap(kernels, up, caps.up, n);
    for (int64_t at = 0; at < n; at += 64) {
        const int64_t part = n - at < 64 ? n - at : 64;
        kernels->exp_weights(powers, gate + at, part, 0, -1);
        vouch_row_softcap(kernels, gate + at, caps.gate, part);
        for (int64_t i = 0; i < part; i++) gate[at + i] = gate[at + i] / (1 + powers[i]) * up[at + i];
    }
}

static void multiply_positive(float *gate, const float *up, int64_t n, bool is_squared)
{
    for (int64_t i = 0; i < n; i++) {
        const float z = gate[i] > 0 ? gate[i] : 0;
        gate[i] = (is_squared ? z * z : z) * up[i];
    }
}

void vouch_row_activate(const vouch_kernels *kernels, const vouch_feed_forward *ffn, float *gate, float *up, int64_t n)
{
    float ones[64];
    for (int64_t at = 0; !up && at < n; at += 64) {
        for (int i = 0; i < 64; i++) ones[i] = 1;
        vouch_row_activate(kernels, ffn, gate + at, ones, n - at < 64 ? n - at : 64);
    }
    if (!up) return;
    if (ffn->limit > 0 && ffn->limits_result) {
        activate_limited(kernels, gate, ffn->limit, n);
        vouch_row_clamp(up, ffn->limit, n);
        for (int64_t i = 0; i < n; i++) gate[i] *= up[i];
        return;
    }
    if (ffn->limit > 0) {
        for (int64_t i = 0; i < n; i++) gate[i] = gate[i] < ffn->limit ? gate[i] : ffn->limit;
        vouch_row_clamp(up, ffn->limit, n);
    }
    switch (ffn->activation) {
    case VOUCH_RELU: multiply_positive(gate, up, n, false); return;
    case VOUCH_RELU_SQUARED: multiply_positive(gate, up, n, true); return;
    case VOUCH_XIELU: multiply_xielu(kernels, ffn, gate, up, n); return;
    case VOUCH_SITU: multiply_situ(kernels, ffn->situ, gate, up, n); return;
    case VOUCH_GELU_EXACT: multiply_gelu(kernels, gate, up, n); return;
    case VOUCH_GELU: prepare_gelu(gate, up, n); break;
    case VOUCH_SWIGLU_OPENAI: prepare_openai(gate, up, n); break;
    case VOUCH_SILU: break;
    }
    kernels->swiglu(gate, up, n);
}
