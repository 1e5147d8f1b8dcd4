/* SPDX-License-Identifier: MIT */
/*
 * Operations of recurrent layers. A lane is one channel, or one value of a head, and lanes never mix. `lanes` says how
 * many lanes of a vector are in use, at least 1; it is the constant VL in all loops but for the last vector.
 */

/* Vectors of a head that are computed together: enough independent chains of fused multiply-adds to hide their latency,
 * and few enough for the registers. */
enum { SCAN_TOGETHER = VL_CHAINS >= 20 ? 8 : 4 };

INLINE vf load_lanes(const float *x, int64_t lanes)
{
    return lanes >= VL ? vf_load(x) : vf_load_part(x, vm_first(lanes));
}

INLINE void store_lanes(float *x, int64_t lanes, vf a)
{
    if (lanes >= VL) vf_store(x, a);
    else vf_store_part(x, a, vm_first(lanes));
}

INLINE vf softplus_of(vf x)
{
    const vf t = exponential(vf_sub(vf_zero(), vf_from_bits(vi_size_bits(x))));
    const vf z = vf_div(t, vf_add(vf_set(2.0f), t)), square = vf_mul(z, z);
    vf sum = vf_zero();
    UNROLL for (int term = VOUCH_SOFTPLUS_TERMS - 1; term >= 0; term--)
        sum = vf_fma(sum, square, vf_set(1.0f / (float)(2 * term + 1)));
    return vf_fma(vf_mul(vf_set(2.0f), z), sum, vf_max(x, vf_zero()));
}

static void softplus(float *x, int64_t n)
{
    int64_t i = 0;
    for (; i + VL <= n; i += VL) vf_store(x + i, softplus_of(vf_load(x + i)));
    if (i < n) store_lanes(x + i, n - i, softplus_of(load_lanes(x + i, n - i)));
}

static void l2_norm(float *x, int64_t n, float eps)
{
    vf lane[PARTS];
    for (int part = 0; part < PARTS; part++) lane[part] = vf_zero();
    for (int64_t i = 0; i < n; i += 16)
        for (int part = 0; part < PARTS; part++) {
            const vf v = vf_load_part(x + i + part * VL, vm_first(lanes_left(n, i, part)));
            lane[part] = vf_fma(v, v, lane[part]);
        }
    scale(x, 1.0f / sqrtf(vf_reduce(lane) + eps), n);
}

INLINE void conv_lanes(float *y, const vouch_conv *of, const float *const *x, int64_t c, int64_t lanes)
{
    vf sum = of->bias ? load_lanes(of->bias + c, lanes) : vf_zero();
    for (int64_t j = 0; j < of->width; j++)
        sum = vf_fma(load_lanes(of->weights + j * of->n_channels + c, lanes), load_lanes(x[j] + c, lanes), sum);
    store_lanes(y + c, lanes, of->has_silu ? silu(sum) : sum);
}

static void conv(float *y, const vouch_conv *of, const float *const *x, int64_t begin, int64_t end)
{
    int64_t c = begin;
    for (; c + VL <= end; c += VL) conv_lanes(y, of, x, c, VL);
    if (c < end) conv_lanes(y, of, x, c, end - c);
}

/* Which update a row is, a constant of each loop: with the delta rule or without; as RWKV-6 or RWKV-7 has it. */
typedef enum scan_kind { SCAN_PLAIN, SCAN_READS_BEFORE, SCAN_ERASES } scan_kind;

/* Runs vouch_scan for N vectors of a head's values, from value j on. */
INLINE void scan_values(const int N, const scan_kind kind, float *y, float *state, const vouch_scan *row, int64_t j,
                        int64_t lanes)
{
    vf d[SCAN_TOGETHER], erased[SCAN_TOGETHER], out[SCAN_TOGETHER];
    UNROLL for (int c = 0; c < N; c++) d[c] = erased[c] = vf_zero();
    const float *old = state + j;
    for (int64_t i = 0; kind == SCAN_ERASES && i < row->n_keys; i++, old += row->n_values) {
        const vf erase = vf_set(row->erase[i]);
        UNROLL for (int c = 0; c < N; c++) erased[c] = vf_fma(load_lanes(old + c * VL, lanes), erase, erased[c]);
    }
    old = state + j;
    for (int64_t i = 0; i < row->n_keys && row->has_delta; i++, old += row->n_values) {
        const vf decay = vf_set(row->decay[i * row->decay_step]), k = vf_set(row->k[i]);
        UNROLL for (int c = 0; c < N; c++) d[c] = vf_fma(vf_mul(load_lanes(old + c * VL, lanes), decay), k, d[c]);
    }
    UNROLL for (int c = 0; c < N; c++) {
        const vf v = load_lanes(row->v + j + c * VL, lanes);
        out[c] = vf_mul(vf_set(row->skip), v);
        d[c] = vf_mul(vf_set(row->rate), vf_sub(v, d[c]));
    }
    float *at = state + j;
    for (int64_t i = 0; i < row->n_keys; i++, at += row->n_values) {
        const vf decay = vf_set(row->decay[i * row->decay_step]), k = vf_set(row->k[i]), q = vf_set(row->q[i]);
        UNROLL for (int c = 0; c < N; c++) {
            const vf before = load_lanes(at + c * VL, lanes);
            vf s = vf_fma(k, d[c], vf_mul(before, decay));
            if (kind == SCAN_ERASES) s = vf_fma(vf_set(row->write[i]), erased[c], s);
            store_lanes(at + c * VL, lanes, s);
            out[c] = vf_fma(kind == SCAN_READS_BEFORE ? before : s, q, out[c]);
        }
    }
    UNROLL for (int c = 0; c < N; c++) store_lanes(y + j + c * VL, lanes, out[c]);
}

INLINE void scan_head(const scan_kind kind, float *y, float *state, const vouch_scan *row)
{
    int64_t j = 0;
    UNROLL for (int N = SCAN_TOGETHER; N > 0; N /= 2)
        for (; j + N * VL <= row->n_values; j += N * VL) scan_values(N, kind, y, state, row, j, VL);
    if (j < row->n_values) scan_values(1, kind, y, state, row, j, row->n_values - j);
}

static void scan(float *y, float *state, const vouch_scan *row)
{
    if (row->erase) scan_head(SCAN_ERASES, y, state, row);
    else if (row->reads_before) scan_head(SCAN_READS_BEFORE, y, state, row);
    else scan_head(SCAN_PLAIN, y, state, row);
}

INLINE void scan_channel_lanes(float *y, float *state, const vouch_channel_scan *row, int64_t c, int64_t lanes)
{
    const vf dt = load_lanes(row->dt + c, lanes), x = load_lanes(row->x + c, lanes), input = vf_mul(dt, x);
    vf out = vf_mul(load_lanes(row->skip + c, lanes), x);
    int64_t at = c / VOUCH_TILE * row->n_state * VOUCH_TILE + c % VOUCH_TILE;
    for (int64_t i = 0; i < row->n_state; i++, at += VOUCH_TILE) {
        const vf decay = exponential(vf_mul(dt, vf_load(row->a + at)));
        const vf s = vf_fma(vf_set(row->b[i]), input, vf_mul(vf_load(state + at), decay));
        vf_store(state + at, s);
        out = vf_fma(s, vf_set(row->c[i]), out);
    }
    store_lanes(y + c, lanes, out);
}

static void scan_channels(float *y, float *state, const vouch_channel_scan *row, int64_t begin, int64_t end)
{
    int64_t c = begin;
    for (; c + VL <= end; c += VL) scan_channel_lanes(y, state, row, c, VL);
    if (c < end) scan_channel_lanes(y, state, row, c, end - c);
}
