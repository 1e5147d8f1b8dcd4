/* SPDX-License-Identifier: MIT */
/*
 * The kernels in plain C: the readable definition of every result, and the reference for the fast kernels' tests. No
 * result depends on the number of rows. Every float operation is written out: fmaf rounds once, and the build forbids
 * the compiler to fuse other operations.
 */
#include <math.h>
#include <string.h>

#include "kernels/cache.h"
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

/* The integer dot product of the inputs [first, first + n) of a block. q: the quants of this block and row. */
static int32_t dot_run(const vouch_lane_block *block, const int8_t *q, int first, int n)
{
    int32_t dot = 0;
    for (int k = first; k < first + n; k++) dot += block->values[k] * q[k];
    return dot;
}

/* dot * scale, rounded once, because VOUCH_ZERO * scale is exact. The result differs from the plain product in two
 * cases: a zero is always positive, and an infinite VOUCH_ZERO * scale gives NaN. The fast kernels compute the same. */
static float scaled(int32_t dot, float scale)
{
    return fmaf(VOUCH_ZERO + (float)dot, scale, -VOUCH_ZERO * scale);
}

/* acc[r] += the dot product of lane `lane` of the tile and row r, for all rows of the group. */
static void dot_quantized(const vouch_matrix *w, const unsigned char *tile, int lane, const vouch_acts *x,
                          const vouch_group *g, float *acc)
{
    const vouch_form form = vouch_forms[w->type];
    const int32_t in_unit = vouch_form_blocks(form), runs = vouch_form_runs(form), n = VOUCH_BLOCK / runs;
    const vouch_sum *sums = vouch_group_sums(x, g, form.sums);
    for (int64_t b = 0; b < w->n_in / VOUCH_BLOCK; b++) {
        vouch_lane_block block;
        vouch_form_read(form, tile + b / in_unit * vouch_form_unit_bytes(form), (int32_t)(b % in_unit), lane, &block);
        for (int64_t r = 0; r < g->rows; r++) {
            const int8_t *q = g->q + (b * g->rows + r) * VOUCH_BLOCK;
            float sum = scaled(dot_run(&block, q, 0, n), block.scale[0]);
            if (runs == 2) sum = fmaf((float)dot_run(&block, q, n, n), block.scale[1], sum);
            acc[r] = fmaf(sum, g->d[b * g->rows + r], acc[r]);
            for (int run = 0; form.minimum && run < runs; run++)
                acc[r] = fmaf(block.minimum[run], sums[(b * runs + run) * g->rows + r].s, acc[r]);
        }
    }
}

static float float_at(vouch_type type, const unsigned char *values, int64_t i)
{
    float value;
    if (type == VOUCH_TYPE_F32) memcpy(&value, values + i * 4, sizeof value);
    else if (type == VOUCH_TYPE_F16) value = vouch_half_to_float(load_half(values + i * 2));
    else value = vouch_bfloat_to_float(load_half(values + i * 2));
    return value;
}

static void dot_floats(const vouch_matrix *w, const unsigned char *tile, int lane, const vouch_group *g, float *acc)
{
    for (int64_t k = 0; k < w->n_in; k++) {
        const float value = float_at(w->type, tile, k * VOUCH_TILE + lane);
        for (int64_t r = 0; r < g->rows; r++) acc[r] = fmaf(value, g->x[(k / 16 * g->rows + r) * 16 + k % 16], acc[r]);
    }
}

static void matmul_ref(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t tile_begin, int64_t tile_end)
{
    for (int64_t i = 0; i < vouch_n_groups(x); i++) {
        const vouch_group g = vouch_group_at(x, i);
        for (int64_t o = tile_begin * VOUCH_TILE; o < tile_end * VOUCH_TILE && o < w->n_out; o++) {
            const unsigned char *tile = w->data + (size_t)(o / VOUCH_TILE) * w->tile_bytes;
            const int lane = (int)(o % VOUCH_TILE);
            float *out = &y.y[g.begin * y.row + o / VOUCH_TILE * y.tile + lane], acc[GROUP_ROWS];
            for (int64_t r = 0; r < g.rows; r++) acc[r] = y.start == VOUCH_FROM_Y ? out[r * y.row] : 0.0f;
            if (vouch_type_is_quantized(w->type)) dot_quantized(w, tile, lane, x, &g, acc);
            else dot_floats(w, tile, lane, &g, acc);
            for (int64_t r = 0; r < g.rows; r++) out[r * y.row] = y.factors ? acc[r] * y.factors[g.begin + r] : acc[r];
        }
    }
}

/* ------------------------------------------------------------------ values */

/* Output o of a slot's value, not yet multiplied by its scale. */
static float value_at(const vouch_matrix *w, int64_t o, int64_t slot)
{
    if (vouch_type_is_quantized(w->type)) {
        const unsigned char *quants =
            w->data + (size_t)(o / VOUCH_BLOCK) * w->tile_bytes + vouch_slot_at(w->type, slot);
        const int i = (int)(o % VOUCH_BLOCK);
        if (w->type == VOUCH_TYPE_Q8_0) return (float)(int8_t)quants[i];
        return (float)((i < 16 ? quants[i] & 15 : quants[i - 16] >> 4) - 8);
    }
    const unsigned char *at = vouch_matrix_element(w, o, slot);
    float value;
    if (w->type == VOUCH_TYPE_F16) return vouch_half_to_float(load_half(at));
    memcpy(&value, at, sizeof value);
    return value;
}

static float scale_of(const vouch_matrix *w, int64_t o, int64_t slot)
{
    if (!vouch_type_is_quantized(w->type)) return 1.0f;
    return vouch_slot_scale(w->type, w->data + (size_t)(o / VOUCH_BLOCK) * w->tile_bytes, slot);
}

static void mix_ref(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t tile_begin, int64_t tile_end)
{
    for (int64_t i = 0; i < vouch_n_groups(x); i++) {
        const vouch_group g = vouch_group_at(x, i);
        for (int64_t o = tile_begin * VOUCH_BLOCK; o < tile_end * VOUCH_BLOCK; o++)
            for (int64_t r = 0; r < g.rows; r++) {
                float *out = &y.y[(g.begin + r) * y.row + o / VOUCH_TILE * y.tile + o % VOUCH_TILE];
                float sum = y.start == VOUCH_FROM_Y ? *out : 0.0f;
                for (int64_t j = 0; j < w->n_in; j++)
                    sum = fmaf(value_at(w, o, j), g.x[(j / 16 * g.rows + r) * 16 + j % 16] * scale_of(w, o, j), sum);
                *out = y.factors ? sum * y.factors[g.begin + r] : sum;
            }
    }
}

static void add_column_ref(const vouch_matrix *w, int64_t column, const float *x, int64_t ldx, float *y, int64_t ldy,
                           int64_t n)
{
    for (int64_t o = 0; o < w->n_out; o++)
        for (int64_t i = 0; i < n; i++)
            y[i * ldy + o] = fmaf(value_at(w, o, column), x[i * ldx] * scale_of(w, o, column), y[i * ldy + o]);
}

/* ------------------------------------------------------------ activations */

/* Writes the quants, d and sums of block b of row r of a group. */
static void quantize_block(const vouch_acts *acts, const vouch_group *g, int64_t b, int64_t r, const float *x)
{
    float largest = 0;
    bool finite = true;
    for (int k = 0; k < VOUCH_BLOCK; k++) {
        const float size = fabsf(x[k]);
        largest = size > largest ? size : largest;
        finite = finite && size < INFINITY;
    }
    const float inverse = finite && largest >= VOUCH_QUANT_MIN ? 127.0f / largest : 0.0f;
    const float d = !finite ? NAN : inverse != 0.0f ? largest / 127.0f : 0.0f;
    int32_t halves[2] = {0};
    for (int k = 0; k < VOUCH_BLOCK; k++) {
        const int8_t q = finite ? (int8_t)lrintf(x[k] * inverse) : 0;
        g->q[(b * g->rows + r) * VOUCH_BLOCK + k] = q;
        halves[k / 16] += q;
    }
    g->d[b * g->rows + r] = d;
    for (int which = 0; which < VOUCH_SUMS_COUNT; which++) {
        const vouch_sums_info info = vouch_sums_infos[which];
        if (!(acts->needs >> which & 1)) continue;
        for (int run = 0; run < info.runs; run++) {
            const int32_t sum = info.runs == 1 ? halves[0] + halves[1] : halves[run];
            vouch_sum *to = vouch_group_sums(acts, g, (vouch_sums)which) + (b * info.runs + run) * g->rows + r;
            if (info.offset) to->start = VOUCH_ZERO_BITS - info.offset * sum;
            else to->s = d * (float)sum;
        }
    }
}

static void quantize_ref(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                         int64_t in_begin, int64_t in_end)
{
    for (int64_t row = row_begin; row < row_end; row++) {
        int64_t r;
        const vouch_group g = vouch_group_of(acts, row, &r);
        for (int64_t b = in_begin / VOUCH_BLOCK; b < in_end / VOUCH_BLOCK; b++)
            quantize_block(acts, &g, b, r, x + (row - row_begin) * ldx + b * VOUCH_BLOCK);
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

/* --------------------------------------------------------------- KV cache */

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
    if (vouch_type_is_quantized(w->type)) vouch_key_quantize(w, row, values);
    else
        for (int64_t k = 0; k < w->n_in; k++) set_value(w, row, k, values[k]);
}

static void set_column_ref(vouch_matrix *w, int64_t column, const float *values)
{
    if (vouch_type_is_quantized(w->type)) vouch_value_quantize(w, column, values);
    else
        for (int64_t o = 0; o < w->n_out; o++) set_value(w, o, column, values[o]);
}

/* ---------------------------------------- norms, rotations, exponentials */

/* Adds 16 lanes by the tree of kernels.h. */
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

static float silu(float x)
{
    return x / (1.0f + exponential(-x));
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
    for (int64_t i = 0; i < n; i++) gate[i] = silu(gate[i]) * up[i];
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

/* -------------------------------------------------------- recurrent layers */

static void softplus_ref(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float t = exponential(-fabsf(x[i])), z = t / (2.0f + t), square = z * z;
        float sum = 0;
        for (int term = VOUCH_SOFTPLUS_TERMS - 1; term >= 0; term--)
            sum = fmaf(sum, square, 1.0f / (float)(2 * term + 1));
        x[i] = fmaf(2.0f * z, sum, x[i] > 0 ? x[i] : 0.0f);
    }
}

static void l2_norm_ref(float *x, int64_t n, float eps)
{
    float lane[16] = {0};
    for (int64_t i = 0; i < n; i++) lane[i % 16] = fmaf(x[i], x[i], lane[i % 16]);
    scale_ref(x, 1.0f / sqrtf(reduce(lane) + eps), n);
}

static void conv_ref(float *y, const vouch_conv *conv, const float *const *x, int64_t begin, int64_t end)
{
    for (int64_t c = begin; c < end; c++) {
        float sum = conv->bias ? conv->bias[c] : 0.0f;
        for (int64_t j = 0; j < conv->width; j++) sum = fmaf(conv->weights[j * conv->n_channels + c], x[j][c], sum);
        y[c] = conv->has_silu ? silu(sum) : sum;
    }
}

static void scan_ref(float *y, float *state, const vouch_scan *row)
{
    for (int64_t j = 0; j < row->n_values; j++) {
        float known = 0, erased = 0, out = row->skip * row->v[j];
        for (int64_t i = 0; i < row->n_keys && row->has_delta; i++)
            known = fmaf(state[i * row->n_values + j] * row->decay[i * row->decay_step], row->k[i], known);
        for (int64_t i = 0; i < row->n_keys && row->erase; i++)
            erased = fmaf(state[i * row->n_values + j], row->erase[i], erased);
        const float d = row->rate * (row->v[j] - known);
        for (int64_t i = 0; i < row->n_keys; i++) {
            float *s = &state[i * row->n_values + j];
            const float before = *s;
            *s = fmaf(row->k[i], d, before * row->decay[i * row->decay_step]);
            if (row->erase) *s = fmaf(row->write[i], erased, *s);
            out = fmaf(row->reads_before ? before : *s, row->q[i], out);
        }
        y[j] = out;
    }
}

static void scan_channels_ref(float *y, float *state, const vouch_channel_scan *row, int64_t begin, int64_t end)
{
    for (int64_t c = begin; c < end; c++) {
        const float input = row->dt[c] * row->x[c];
        float out = row->skip[c] * row->x[c];
        for (int64_t i = 0; i < row->n_state; i++) {
            const int64_t at = (c / VOUCH_TILE * row->n_state + i) * VOUCH_TILE + c % VOUCH_TILE;
            state[at] = fmaf(row->b[i], input, state[at] * exponential(row->dt[c] * row->a[at]));
            out = fmaf(state[at], row->c[i], out);
        }
        y[c] = out;
    }
}

#define ENTRY(type) [VOUCH_TYPE_##type] = matmul_ref,
const vouch_kernels vouch_kernels_ref = {
    .name = "ref",
    .group_rows = GROUP_ROWS,
    .matmul = {VOUCH_FLOAT_TYPES(ENTRY) VOUCH_QUANTIZED_TYPES(ENTRY)},
    .mix = {[VOUCH_TYPE_F32] = matmul_ref,
            [VOUCH_TYPE_F16] = matmul_ref,
            [VOUCH_TYPE_Q4_0] = mix_ref,
            [VOUCH_TYPE_Q8_0] = mix_ref},
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
    .softplus = softplus_ref,
    .l2_norm = l2_norm_ref,
    .conv = conv_ref,
    .scan = scan_ref,
    .scan_channels = scan_channels_ref,
};
