/* SPDX-License-Identifier: MIT */
/*
 * The kernels in vectors: included once by each instruction set's file, after the header with its vector
 * (vf: VL float lanes, vi: the same of integers; PARTS of them make the 16 lanes of a tile).
 *
 * Bits are those of ref.c because lanes never mix: a lane of a matmul is one output, which takes the same
 * operations in the same order here and there; how many rows and tiles are walked together (R and T below,
 * constants after inlining) only decides which independent sums share the loaded operands. The sums over a
 * row keep the 16 virtual lanes and their tree.
 *
 * Blocking. Quantised: one tile, R rows; a block of 32 inputs is loaded and unpacked once for all R rows, which
 * hold R integer and R float accumulators. Float: T tiles times R rows, so that enough independent chains of
 * fused multiply-adds hide their latency also for one row.
 */
#include <math.h>

#include "kernels/exp.h"
#include "kernels/tables.h"

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Where a tile's results go. */
typedef struct outputs {
    float *y;      /* of row 0 of the group and lane 0 of the tile */
    int64_t ldy;
    int64_t n;     /* lanes below n_out, at least 1 */
    bool from_y;
} outputs;

INLINE vf start_sum(const outputs *out, int r, int part)
{
    if (!out->from_y) return vf_zero();
    const float *y = out->y + r * out->ldy + part * VL;
    if (out->n >= (part + 1) * VL) return vf_load(y);
    return out->n > part * VL ? vf_load_part(y, vm_first(out->n - part * VL)) : vf_zero();
}

INLINE void store_sum(const outputs *out, int r, int part, vf sum)
{
    float *y = out->y + r * out->ldy + part * VL;
    if (out->n >= (part + 1) * VL) vf_store(y, sum);
    else if (out->n > part * VL) vf_store_part(y, sum, vm_first(out->n - part * VL));
}

/* --------------------------------------------------- matmul, quantised weights */

enum { PREFETCH = 2048 }; /* bytes ahead */

/* Tiles lie one after the other, so what comes next in memory is what is needed next. */
INLINE void prefetch(const unsigned char *next, const int bytes)
{
    UNROLL for (int i = 0; i < bytes; i += 64) __builtin_prefetch(next + i);
}

/* The integer dot products of block b with R rows. */
INLINE void dot_bytes(const int R, vi *sum, const unsigned char *quants, int64_t b, const vouch_group *g)
{
    const int8_t *x = g->q + b * 32 * R;
    UNROLL for (int r = 0; r < R; r++) sum[r] = bytes_start(g->sum[b * R + r]);
    UNROLL for (int k = 0; k < 8; k++) {
        const bytes_op w = bytes_prepare(vi_load(quants + k * 64));
        UNROLL for (int r = 0; r < R; r++) sum[r] = bytes_dot(sum[r], w, vi_four(x + (k * R + r) * 4));
    }
}

INLINE void dot_nibbles(const int R, vi *sum, const unsigned char *quants, int64_t b, const vouch_group *g,
                        const int offset)
{
    const int8_t *x = g->q + b * 32 * R;
    UNROLL for (int r = 0; r < R; r++) sum[r] = nibbles_start(offset ? g->sum[b * R + r] : 0, offset);
    UNROLL for (int k = 0; k < 4; k++) {
        const vi w = vi_load(quants + k * 64);
        const vi low = vi_low_nibbles(w), high = vi_high_nibbles(w);
        UNROLL for (int r = 0; r < R; r++) sum[r] = nibbles_dot(sum[r], low, vi_four(x + (k * R + r) * 4));
        UNROLL for (int r = 0; r < R; r++) sum[r] = nibbles_dot(sum[r], high, vi_four(x + ((k + 4) * R + r) * 4));
    }
    UNROLL for (int r = 0; r < R; r++) sum[r] = nibbles_finish(sum[r], offset ? g->sum[b * R + r] : 0, offset);
}

INLINE void tile_quantized(const int R, const vouch_type type, const vouch_matrix *w, const unsigned char *tile,
                           const vouch_group *g, const outputs *out)
{
    const vouch_pair pair = vouch_pair_of(type);
    const int64_t n_blocks = w->n_in / VOUCH_BLOCK;
    for (int part = 0; part < PARTS; part++) {
        vf acc[VOUCH_MAX_GROUP];
        UNROLL for (int r = 0; r < R; r++) acc[r] = start_sum(out, r, part);
        for (int64_t b = 0; b < n_blocks; b++) {
            const unsigned char *quants = tile + vouch_quants_at(pair, b) + part * VL * 4;
            const unsigned char *scales = tile + vouch_scales_at(pair, b, 0) + part * VL * 2;
            vi sum[VOUCH_MAX_GROUP];
            if (part == 0) prefetch(quants + PREFETCH, pair.quants + 32 * pair.scales);
            if (type == VOUCH_TYPE_Q8_0) dot_bytes(R, sum, quants, b, g);
            else dot_nibbles(R, sum, quants, b, g, type == VOUCH_TYPE_Q4_0 ? 8 : 0);
            const vf scale = vf_from_half(scales);
            UNROLL for (int r = 0; r < R; r++)
                acc[r] = vf_fma(vf_from_int(sum[r]), vf_mul(scale, vf_set(g->d[b * R + r])), acc[r]);
            if (type == VOUCH_TYPE_Q4_1) {
                const vf minimum = vf_from_half(scales + 64);
                UNROLL for (int r = 0; r < R; r++) acc[r] = vf_fma(minimum, vf_set(g->s[b * R + r]), acc[r]);
            }
        }
        UNROLL for (int r = 0; r < R; r++) store_sum(out, r, part, acc[r]);
    }
}

/* ------------------------------------------------------- matmul, float weights */

INLINE vf load_weights(const unsigned char *tile, bool half, int64_t k, int part)
{
    const int64_t at = k * VOUCH_TILE + part * VL;
    return half ? vf_from_half(tile + at * 2) : vf_load((const float *)(const void *)tile + at);
}

INLINE void tiles_float(const int R, const int T, const bool half, const vouch_matrix *w,
                        const unsigned char *tile, const vouch_group *g, const outputs *out)
{
    for (int part = 0; part < PARTS; part++) {
        vf acc[VOUCH_MAX_GROUP * VL_TILES_MAX];
        UNROLL for (int t = 0; t < T; t++) {
            const outputs at = {out->y + t * VOUCH_TILE, out->ldy, out->n - t * VOUCH_TILE, out->from_y};
            UNROLL for (int r = 0; r < R; r++) acc[t * R + r] = start_sum(&at, r, part);
        }
        for (int64_t k = 0; k < w->n_in; k++) {
            vf weights[VL_TILES_MAX];
            UNROLL for (int t = 0; t < T; t++) weights[t] = load_weights(tile + (size_t)t * w->tile_bytes, half, k, part);
            UNROLL for (int r = 0; r < R; r++) {
                const vf x = vf_set(g->x[k * R + r]);
                UNROLL for (int t = 0; t < T; t++) acc[t * R + r] = vf_fma(weights[t], x, acc[t * R + r]);
            }
        }
        UNROLL for (int t = 0; t < T; t++) {
            const outputs at = {out->y + t * VOUCH_TILE, out->ldy, out->n - t * VOUCH_TILE, out->from_y};
            UNROLL for (int r = 0; r < R; r++) store_sum(&at, r, part, acc[t * R + r]);
        }
    }
}

/* Tiles walked together for R rows. */
INLINE int tiles_together(const int R)
{
    return R * 8 <= VL_CHAINS && VL_TILES_MAX >= 8 ? 8 : R * 4 <= VL_CHAINS ? 4 : R * 2 <= VL_CHAINS ? 2 : 1;
}

/* ------------------------------------------------------------------ dispatch */

#define FOR_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
enum { GROUP_ROWS = 12 };

INLINE outputs outputs_at(const vouch_matrix *w, float *y, int64_t ldy, int64_t tile, int64_t row, vouch_start start)
{
    return (outputs){y + row * ldy + tile * VOUCH_TILE, ldy, w->n_out - tile * VOUCH_TILE, start == VOUCH_FROM_Y};
}

INLINE void matmul_quantized(const vouch_type type, const vouch_matrix *w, const vouch_acts *x, float *y,
                             int64_t ldy, int64_t tile_begin, int64_t tile_end, vouch_start start)
{
    for (int64_t t = tile_begin; t < tile_end; t++) {
        const unsigned char *tile = w->data + (size_t)t * w->tile_bytes;
        for (int64_t i = 0; i < vouch_n_groups(x); i++) {
            const vouch_group g = vouch_group_at(x, i);
            const outputs out = outputs_at(w, y, ldy, t, g.begin, start);
            switch (g.rows) {
#define CASE(n) \
    case n: tile_quantized(n, type, w, tile, &g, &out); break;
                FOR_ROWS(CASE)
#undef CASE
            default: break;
            }
        }
    }
}

/* As many tiles at once as suit R rows, then half as many, ... */
INLINE void group_float(const int R, const bool half, const vouch_matrix *w, const vouch_group *g, float *y,
                        int64_t ldy, int64_t tile_begin, int64_t tile_end, vouch_start start)
{
    int64_t t = tile_begin;
    UNROLL for (int T = VL_TILES_MAX; T > 0; T /= 2) {
        if (T > tiles_together(R)) continue;
        for (; t + T <= tile_end; t += T) {
            const outputs out = outputs_at(w, y, ldy, t, g->begin, start);
            tiles_float(R, T, half, w, w->data + (size_t)t * w->tile_bytes, g, &out);
        }
    }
}

INLINE void matmul_float(const bool half, const vouch_matrix *w, const vouch_acts *x, float *y, int64_t ldy,
                         int64_t tile_begin, int64_t tile_end, vouch_start start)
{
    enum { STRIP = 8 }; /* tiles that stay in the cache while all groups pass */
    for (int64_t t = tile_begin; t < tile_end; t += STRIP) {
        const int64_t strip_end = t + STRIP < tile_end ? t + STRIP : tile_end;
        for (int64_t i = 0; i < vouch_n_groups(x); i++) {
            const vouch_group g = vouch_group_at(x, i);
            switch (g.rows) {
#define CASE(n) \
    case n: group_float(n, half, w, &g, y, ldy, t, strip_end, start); break;
                FOR_ROWS(CASE)
#undef CASE
            default: break;
            }
        }
    }
}

#define MATMUL(name, kind, what)                                                                      \
    static void matmul_##name(const vouch_matrix *w, const vouch_acts *x, float *y, int64_t ldy,      \
                              int64_t tile_begin, int64_t tile_end, vouch_start start)                \
    {                                                                                                 \
        matmul_##kind(what, w, x, y, ldy, tile_begin, tile_end, start);                               \
    }
MATMUL(f32, float, false)
MATMUL(f16, float, true)
MATMUL(q4_0, quantized, VOUCH_TYPE_Q4_0)
MATMUL(q4_1, quantized, VOUCH_TYPE_Q4_1)
MATMUL(q8_0, quantized, VOUCH_TYPE_Q8_0)
#undef MATMUL

/* --------------------------------------------------------------- activations */

enum { BLOCK_VECTORS = VOUCH_BLOCK / VL };

/* The bits of |x| as an integer have the order of |x|, infinity and NaN above all numbers. */
INLINE float largest_size(const vf *v, bool *finite)
{
    vi largest = vi_size_bits(v[0]);
    UNROLL for (int i = 1; i < BLOCK_VECTORS; i++) largest = vi_max(largest, vi_size_bits(v[i]));
    const int32_t bits = vi_largest(largest);
    float size;
    memcpy(&size, &bits, sizeof size);
    *finite = bits < 0x7f800000;
    return size;
}

INLINE void quantize_block(const vouch_group *g, int64_t b, int64_t r, const float *x)
{
    const int64_t at = b * g->rows + r;
    int8_t *q = g->q + at * 4 + b * 7 * g->rows * 4; /* [b][0][r] */
    int8_t bytes[VOUCH_BLOCK] = {0};
    vf v[BLOCK_VECTORS];
    bool finite;
    UNROLL for (int i = 0; i < BLOCK_VECTORS; i++) v[i] = vf_load(x + i * VL);
    const float max = largest_size(v, &finite);
    g->sum[at] = 0;
    g->d[at] = finite ? 0 : NAN;
    if (finite && max >= VOUCH_QUANT_MIN) {
        const vf inverse = vf_set(127.0f / max);
        vi sum = vi_set(0);
        UNROLL for (int i = 0; i < BLOCK_VECTORS; i++) {
            const vi rounded = vf_round_to_int(vf_mul(v[i], inverse));
            vi_store_bytes(bytes + i * VL, rounded);
            sum = vi_add(sum, rounded);
        }
        g->sum[at] = vi_sum(sum);
        g->d[at] = max / 127.0f;
    }
    g->s[at] = g->d[at] * (float)g->sum[at];
    UNROLL for (int k = 0; k < 8; k++) memcpy(q + k * g->rows * 4, bytes + 4 * k, 4);
}

static void quantize(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                     int64_t in_begin, int64_t in_end)
{
    for (int64_t row = row_begin; row < row_end; row++) {
        int64_t r;
        const vouch_group g = vouch_group_of(acts, row, &r);
        for (int64_t b = in_begin / VOUCH_BLOCK; b < in_end / VOUCH_BLOCK; b++)
            quantize_block(&g, b, r, x + row * ldx + b * VOUCH_BLOCK);
    }
}

static void interleave(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                       int64_t in_begin, int64_t in_end)
{
    for (int64_t row = row_begin; row < row_end; row++) {
        int64_t r;
        const vouch_group g = vouch_group_of(acts, row, &r);
        const float *from = x + row * ldx;
        if (g.rows == 1) memcpy(g.x + in_begin, from + in_begin, (size_t)(in_end - in_begin) * sizeof *from);
        else
            for (int64_t k = in_begin; k < in_end; k++) g.x[k * g.rows + r] = from[k];
    }
}

/* --------------------------------------------------------------------- cache */

static void set_row(vouch_matrix *w, int64_t row, const float *values)
{
    if (w->type == VOUCH_TYPE_F32) {
        for (int64_t k = 0; k < w->n_in; k++) memcpy(vouch_matrix_element(w, row, k), &values[k], 4);
        return;
    }
    for (int64_t k = 0; k < w->n_in; k += VL) {
        const int64_t n = w->n_in - k < VL ? w->n_in - k : VL;
        uint16_t half[VL];
        vf_to_half(half, n == VL ? vf_load(values + k) : vf_load_part(values + k, vm_first(n)));
        for (int64_t i = 0; i < n; i++) memcpy(vouch_matrix_element(w, row, k + i), &half[i], 2);
    }
}

static void set_column(vouch_matrix *w, int64_t column, const float *values)
{
    for (int64_t o = 0; o < w->n_out; o += VL) {
        const int64_t n = w->n_out - o;
        const vf v = n >= VL ? vf_load(values + o) : vf_load_part(values + o, vm_first(n));
        unsigned char *at = vouch_matrix_element(w, o, column);
        if (w->type == VOUCH_TYPE_F16) vf_to_half(at, v);
        else vf_store((float *)(void *)at, v);
    }
}

/* ------------------------------------------------------------------ the rest */

INLINE vf exponential(vf x)
{
    const vf t = vf_min(vf_set(VOUCH_EXP_MAX), x);
    const vf k = vf_fma(t, vf_set(VOUCH_EXP_LOG2E), vf_set(VOUCH_EXP_ROUND));
    const vf n = vf_sub(k, vf_set(VOUCH_EXP_ROUND));
    const vf r = vf_fma(n, vf_set(-VOUCH_EXP_LN2_LOW), vf_fma(n, vf_set(-VOUCH_EXP_LN2_HIGH), t));
    vf p = vf_fma(vf_set(VOUCH_EXP_P0), r, vf_set(VOUCH_EXP_P1));
    p = vf_fma(p, r, vf_set(VOUCH_EXP_P2));
    p = vf_fma(p, r, vf_set(VOUCH_EXP_P3));
    p = vf_fma(p, r, vf_set(VOUCH_EXP_P4));
    p = vf_fma(p, r, vf_set(VOUCH_EXP_P5));
    p = vf_add(vf_fma(p, vf_mul(r, r), r), vf_set(1.0f));
    return vf_zero_where(vf_mul(p, vf_power(k)), vf_less(x, vf_set(VOUCH_EXP_MIN)));
}

/* How many of the VL lanes of part `part` at element i lie below n: 0 to VL. */
INLINE int64_t lanes_left(int64_t n, int64_t i, int part)
{
    const int64_t left = n - i - part * VL;
    return left < 0 ? 0 : left > VL ? VL : left;
}

static void rms_norm(float *y, const float *x, const float *weight, int64_t n, float eps)
{
    vf lane[PARTS];
    for (int part = 0; part < PARTS; part++) lane[part] = vf_zero();
    for (int64_t i = 0; i < n; i += 16)
        for (int part = 0; part < PARTS; part++) {
            const vf v = vf_load_part(x + i + part * VL, vm_first(lanes_left(n, i, part)));
            lane[part] = vf_fma(v, v, lane[part]);
        }
    const vf factor = vf_set(1.0f / sqrtf(vf_reduce(lane) / (float)n + eps));
    for (int64_t i = 0; i < n; i += VL) {
        const vm m = vm_first(lanes_left(n, i, 0));
        vf_store_part(y + i, vf_mul(vf_mul(vf_load_part(x + i, m), factor), vf_load_part(weight + i, m)), m);
    }
}

static void rope(float *x, const float *cos, const float *sin, int64_t n_rot, bool half_split)
{
    const int64_t step = half_split ? 1 : 2, apart = half_split ? n_rot / 2 : 1;
    for (int64_t i = 0; i < n_rot / 2; i++) {
        float *a = &x[i * step], *b = a + apart;
        const float a0 = *a, b0 = *b;
        *a = __builtin_fmaf(a0, cos[i], -(b0 * sin[i]));
        *b = __builtin_fmaf(b0, cos[i], a0 * sin[i]);
    }
}

static void scale(float *x, float factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] *= factor;
}

static void swiglu(float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i += VL) {
        const vm m = vm_first(lanes_left(n, i, 0));
        const vf z = vf_load_part(gate + i, m), minus = vf_sub(vf_zero(), z);
        const vf silu = vf_div(z, vf_add(vf_set(1.0f), exponential(minus)));
        vf_store_part(gate + i, vf_mul(silu, vf_load_part(up + i, m)), m);
    }
}

/* The largest of x [n], n >= 1; NaN anywhere may or may not be seen. */
INLINE float largest_of(const float *x, int64_t n)
{
    vf max = vf_set(x[0]);
    int64_t i = 0;
    for (; i + VL <= n; i += VL) max = vf_max(vf_load(x + i), max);
    float largest = vf_largest(max);
    for (; i < n; i++) largest = x[i] > largest ? x[i] : largest;
    return largest;
}

static float softmax(float *x, int64_t n)
{
    const vf max = vf_set(largest_of(x, n));
    vf lane[PARTS];
    for (int part = 0; part < PARTS; part++) lane[part] = vf_zero();
    for (int64_t i = 0; i < n; i += 16)
        for (int part = 0; part < PARTS; part++) {
            const vm m = vm_first(lanes_left(n, i, part));
            float *at = x + i + part * VL;
            const vf e = exponential(vf_sub(vf_load_part(at, m), max));
            vf_store_part(at, e, m);
            lane[part] = vf_add(lane[part], vf_select(vf_zero(), e, m));
        }
    return vf_reduce(lane);
}

static bool find_max(const float *x, int64_t n, float *max, int32_t *index)
{
    int unordered = 0;
    int64_t i = 0;
    for (; i + VL <= n; i += VL) unordered |= vm_bits(vf_unordered(vf_load(x + i)));
    for (; i < n; i++) unordered |= x[i] != x[i];
    const float largest = unordered ? x[0] : largest_of(x, n);
    int64_t at = 0;
    while (at < n && x[at] != largest) at++;
    if (unordered || at == n) at = 0;
    *max = x[at];
    *index = (int32_t)at;
    return !unordered && fabsf(*max) < INFINITY;
}

static double exp_weights(float *w, const float *x, int64_t n, float max, float scale_by)
{
    vd16 sum = vd_zero();
    for (int64_t i = 0; i < n; i += 16) {
        vf lane[PARTS];
        for (int part = 0; part < PARTS; part++) {
            const vm m = vm_first(lanes_left(n, i, part));
            const vf t = vf_mul(vf_sub(vf_load_part(x + i + part * VL, m), vf_set(max)), vf_set(scale_by));
            lane[part] = vf_select(vf_zero(), exponential(t), m);
            vf_store_part(w + i + part * VL, lane[part], m);
        }
        vd_add(&sum, lane);
    }
    return vd_reduce(sum);
}

#define KERNELS(isa)                                                       \
    {                                                                      \
        .name = isa, .group_rows = GROUP_ROWS,                             \
        .matmul = {[VOUCH_TYPE_F32] = matmul_f32,                          \
                   [VOUCH_TYPE_F16] = matmul_f16,                          \
                   [VOUCH_TYPE_Q4_0] = matmul_q4_0,                        \
                   [VOUCH_TYPE_Q4_1] = matmul_q4_1,                        \
                   [VOUCH_TYPE_Q8_0] = matmul_q8_0},                       \
        .quantize = quantize, .interleave = interleave,                    \
        .rms_norm = rms_norm, .rope = rope, .scale = scale,                \
        .swiglu = swiglu, .set_row = set_row, .set_column = set_column,    \
        .softmax = softmax, .find_max = find_max, .exp_weights = exp_weights, \
    }
