/* SPDX-License-Identifier: MIT */
/* Operations on single rows: preparing activations for a matmul, writing to the KV cache, norms, exponentials. */

/*
 * Quantises up to four rows together, one block of each. Reducing four vectors together gives each row's
 * largest |x| and its sums. Two vector divisions are enough for the four rows.
 */
enum { BLOCK_VECTORS = VOUCH_BLOCK / VL, FEW = 4 };
typedef float few_floats __attribute__((vector_size(FEW * sizeof(float))));
typedef int32_t few_ints __attribute__((vector_size(FEW * sizeof(int32_t))));

/* Block b of the rows from r on. Input k of the block in row r + i is x[i * ldx + k]. */
typedef struct few_rows {
    const float *x;
    int64_t ldx, b, r;
} few_rows;

/* The bits of |x|, as an integer, order like |x|; infinity and NaN are above all numbers. */
INLINE vi largest_size(const float *x)
{
    vi largest = vi_size_bits(vf_load(x));
    UNROLL for (int i = 1; i < BLOCK_VECTORS; i++) largest = vi_max(largest, vi_size_bits(vf_load(x + i * VL)));
    return largest;
}

INLINE int8_t *quants_at(const vouch_group *g, int64_t b, int64_t r)
{
    return g->q + (b * g->rows + r) * VOUCH_BLOCK;
}

/* Writes the quants of n rows. halves[h][i]: a vector of partial sums of half h of row i's block. */
INLINE void round_few(const int n, const vouch_group *g, const few_rows *from, few_floats inverse, vi halves[2][FEW])
{
    UNROLL for (int v = 0; v < BLOCK_VECTORS; v++)
        UNROLL for (int i = 0; i < n; i++) {
            const vi q = vf_round_to_int(vf_mul(vf_load(from->x + i * from->ldx + v * VL), vf_set(inverse[i])));
            vi *sum = &halves[v * 2 / BLOCK_VECTORS][i];
            *sum = v * 2 % BLOCK_VECTORS ? vi_add(*sum, q) : q;
            vi_store_bytes(quants_at(g, from->b, from->r + i) + v * VL, q);
        }
}

/* Writes the sums of the quants in block b of rows [r, r + n): each kind of sum in acts->needs. halves: as above. */
INLINE void put_sums(const int n, const vouch_acts *acts, const vouch_group *g, int64_t b, int64_t r,
                     const vi halves[2][FEW], few_floats d)
{
    for (vouch_needs left = acts->needs & VOUCH_NEEDS_QUANTS; left; left &= left - 1) {
        const vouch_sums which = (vouch_sums)__builtin_ctz(left);
        const vouch_sums_info info = vouch_sums_infos[which];
        for (int run = 0; run < info.runs; run++) {
            vouch_sum *to = vouch_group_sums(acts, g, which) + (b * info.runs + run) * g->rows + r;
            vi v[FEW];
            int32_t sums[FEW];
            UNROLL for (int i = 0; i < FEW; i++) {
                const int from = i < n ? i : 0;
                v[i] = info.runs == 1 ? vi_add(halves[0][from], halves[1][from]) : halves[run][from];
            }
            vi_four_sums(sums, v);
            /* Unsigned, because a block with an infinity may overflow; quantize_not_finite rewrites it later. */
            UNROLL for (int i = 0; i < n; i++) {
                if (info.offset) to[i].start = (int32_t)(VOUCH_ZERO_BITS - (uint32_t)info.offset * (uint32_t)sums[i]);
                else to[i].s = d[i] * (float)sums[i];
            }
        }
    }
}

/* Writes d = NaN and zero quants for a block with a value that isn't finite. */
static void quantize_not_finite(const vouch_acts *acts, const vouch_group *g, int64_t b, int64_t r)
{
    const vi zeros[2][FEW] = {{vi_zero()}, {vi_zero()}};
    memset(quants_at(g, b, r), 0, VOUCH_BLOCK);
    g->d[b * g->rows + r] = NAN;
    put_sums(1, acts, g, b, r, zeros, (few_floats){NAN});
}

/* Quantises one block of n rows, 1 to FEW. If a block's values are too small, its d and its quants are 0. */
INLINE void quantize_few(const int n, const vouch_acts *acts, const vouch_group *g, const few_rows *from)
{
    float sizes[FEW];
    vi largest[FEW], halves[2][FEW];
    UNROLL for (int i = 0; i < FEW; i++) largest[i] = largest_size(from->x + (i < n ? i : 0) * from->ldx);
    vi_four_largest(sizes, largest);
    few_floats size;
    memcpy(&size, sizes, sizeof size);
    const few_ints keep = size >= VOUCH_QUANT_MIN;
    const few_floats d = (few_floats)((few_ints)(size / 127.0f) & keep);
    round_few(n, g, from, (few_floats)((few_ints)(127.0f / size) & keep), halves);
    put_sums(n, acts, g, from->b, from->r, (const vi(*)[FEW])halves, d);
    UNROLL for (int i = 0; i < n; i++) g->d[from->b * g->rows + from->r + i] = d[i];
    UNROLL for (int i = 0; i < n; i++)
        if (!(size[i] < INFINITY)) quantize_not_finite(acts, g, from->b, from->r + i);
}

/* Quantises one block of n rows. */
INLINE void quantize_block(const vouch_acts *acts, const vouch_group *g, few_rows from, int64_t n)
{
    for (; n >= FEW; n -= FEW, from.x += FEW * from.ldx, from.r += FEW) quantize_few(FEW, acts, g, &from);
    if (n == 1) quantize_few(1, acts, g, &from);
    if (n == 2) quantize_few(2, acts, g, &from);
    if (n == 3) quantize_few(3, acts, g, &from);
}

static void quantize(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                     int64_t in_begin, int64_t in_end)
{
    while (row_begin < row_end) {
        int64_t r;
        const vouch_group g = vouch_group_of(acts, row_begin, &r);
        const int64_t n = row_end - row_begin < g.rows - r ? row_end - row_begin : g.rows - r;
        for (int64_t b = in_begin / VOUCH_BLOCK; b < in_end / VOUCH_BLOCK; b++)
            quantize_block(acts, &g, (few_rows){x + b * VOUCH_BLOCK, ldx, b, r}, n);
        row_begin += n;
        x += n * ldx;
    }
}

static void interleave(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                       int64_t in_begin, int64_t in_end)
{
    for (int64_t row = row_begin; row < row_end; row++) {
        int64_t r;
        const vouch_group g = vouch_group_of(acts, row, &r);
        const float *from = x + (row - row_begin) * ldx;
        for (int64_t k = in_begin; k < in_end; k += 16) {
            const int64_t n = in_end - k < 16 ? in_end - k : 16;
            float *to = g.x + (k * g.rows + r * 16);
            if (n == 16) memcpy(to, from + k, 16 * sizeof *to);
            else memcpy(to, from + k, (size_t)n * sizeof *to);
        }
    }
}

/* ------------------------------------------------------------------ KV cache */

static void set_row(vouch_matrix *w, int64_t row, const float *values)
{
    if (vouch_type_is_quantized(w->type)) {
        vouch_key_quantize(w, row, values);
        return;
    }
    if (w->type == VOUCH_TYPE_F32) {
        for (int64_t k = 0; k < w->n_in; k++) memcpy(vouch_matrix_element(w, row, k), &values[k], 4);
        return;
    }
    for (int64_t k = 0; k < w->n_in; k += VL) {
        const int64_t n = w->n_in - k < VL ? w->n_in - k : VL;
        uint16_t half[VL];
        unsigned char *to = vouch_matrix_element(w, row, k);
        vf_to_half(half, n == VL ? vf_load(values + k) : vf_load_part(values + k, vm_first(n)));
        for (int64_t i = 0; i < n; i++) memcpy(to + i * 2 * VOUCH_TILE, &half[i], 2);
    }
}

static void set_column(vouch_matrix *w, int64_t column, const float *values)
{
    if (vouch_type_is_quantized(w->type)) {
        vouch_value_quantize(w, column, values);
        return;
    }
    for (int64_t o = 0; o < w->n_out; o += VL) {
        const int64_t n = w->n_out - o;
        const vf v = n >= VL ? vf_load(values + o) : vf_load_part(values + o, vm_first(n));
        unsigned char *at = vouch_matrix_element(w, o, column);
        if (w->type == VOUCH_TYPE_F16) vf_to_half(at, v);
        else vf_store((float *)(void *)at, v);
    }
}

/* ------------------------------------------ norms, rotations, exponentials */

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
    return vf_zero_where(vf_mul_power(p, n, k), vf_less(x, vf_set(VOUCH_EXP_MIN)));
}

/* How many lanes of this part are elements below n, if lane 0 of part 0 is element i: 0 to VL. */
INLINE int64_t lanes_left(int64_t n, int64_t i, int part)
{
    const int64_t left = n - i - part * VL;
    return left < 0 ? 0 : left > VL ? VL : left;
}

static void norm_part(float *y, float *squares, const float *x, const float *weight, int64_t n)
{
    for (int64_t i = 0; i < n; i += 16) {
        vf lane[PARTS];
        for (int part = 0; part < PARTS; part++) {
            const vm m = vm_first(lanes_left(n, i, part));
            const int64_t at = i + part * VL;
            const vf v = vf_load_part(x + at, m);
            lane[part] = vf_mul(v, v);
            vf_store_part(y + at, vf_mul(v, vf_load_part(weight + at, m)), m);
        }
        squares[i / 16] = vf_reduce(lane);
    }
}

static float norm_factor(const float *squares, int64_t n, float eps)
{
    const int64_t n_tiles = (n + 15) / 16;
    vf lane[PARTS];
    for (int part = 0; part < PARTS; part++) lane[part] = vf_zero();
    for (int64_t i = 0; i < n_tiles; i += 16)
        for (int part = 0; part < PARTS; part++)
            lane[part] =
                vf_add(lane[part], vf_load_part(squares + i + part * VL, vm_first(lanes_left(n_tiles, i, part))));
    return 1.0f / sqrtf(vf_reduce(lane) / (float)n + eps);
}

static void rope(float *x, const float *cos, const float *sin, int64_t n_rot, bool half_split)
{
    int64_t i = 0;
    if (half_split) {
        const int64_t half = n_rot / 2;
        for (; i + VL <= half; i += VL) {
            const vf a = vf_load(x + i), b = vf_load(x + half + i);
            vf_store(x + i, vf_fma(a, vf_load(cos + i), vf_mul(b, vf_load(sin + i))));
            vf_store(x + half + i, vf_fma(b, vf_load(cos + half + i), vf_mul(a, vf_load(sin + half + i))));
        }
        for (; i < half; i++) {
            const float a = x[i], b = x[half + i];
            x[i] = __builtin_fmaf(a, cos[i], b * sin[i]);
            x[half + i] = __builtin_fmaf(b, cos[half + i], a * sin[half + i]);
        }
        return;
    }
    for (; i < n_rot; i += VL) {
        const vm m = vm_first(lanes_left(n_rot, i, 0));
        const vf v = vf_load_part(x + i, m), partner = vf_swap_pairs(v);
        vf_store_part(x + i, vf_fma(v, vf_load_part(cos + i, m), vf_mul(partner, vf_load_part(sin + i, m))), m);
    }
}

static void scale(float *x, float factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] *= factor;
}

INLINE vf silu(vf x)
{
    return vf_div(x, vf_add(vf_set(1.0f), exponential(vf_sub(vf_zero(), x))));
}

static void swiglu(float *gate, const float *up, int64_t n)
{
    int64_t i = 0;
    for (; i + VL <= n; i += VL) vf_store(gate + i, vf_mul(silu(vf_load(gate + i)), vf_load(up + i)));
    if (i == n) return;
    const vm m = vm_first(n - i);
    vf_store_part(gate + i, vf_mul(silu(vf_load_part(gate + i, m)), vf_load_part(up + i, m)), m);
}

/* The mask of a part: all lanes if `whole`, else the lanes below n. The loops of softmax are written once and compiled
 * for both. */
INLINE vm lanes_of(bool whole, int64_t n, int64_t i, int part)
{
    return vm_first(whole ? VL : lanes_left(n, i, part));
}

INLINE void softmax_largest(bool whole, const float *at, int64_t n, int64_t i, vf *most)
{
    for (int part = 0; part < PARTS; part++) {
        const vf v = vf_load(at + part * VL);
        most[part] = vf_max(whole ? v : vf_select(most[part], v, lanes_of(whole, n, i, part)), most[part]);
    }
}

INLINE void softmax_exp(bool whole, float *at, int64_t n, int64_t i, vf max, vf *lane)
{
    for (int part = 0; part < PARTS; part++) {
        const vm m = lanes_of(whole, n, i, part);
        const vf e = exponential(vf_sub(whole ? vf_load(at + part * VL) : vf_load_part(at + part * VL, m), max));
        if (whole) vf_store(at + part * VL, e);
        else vf_store_part(at + part * VL, e, m);
        lane[part] = vf_add(lane[part], whole ? e : vf_select(vf_zero(), e, m));
    }
}

static float softmax(float *x, int64_t chunk, int64_t n)
{
    vf most[PARTS], lane[PARTS];
    for (int part = 0; part < PARTS; part++) most[part] = vf_set(x[0]), lane[part] = vf_zero();
    float *at = x;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16, at += chunk) softmax_largest(true, at, n, i, most);
    if (i < n) softmax_largest(false, at, n, i, most);
    for (int part = 1; part < PARTS; part++) most[0] = vf_max(most[part], most[0]);
    const vf max = vf_set(vf_largest(most[0]));
    for (i = 0, at = x; i + 16 <= n; i += 16, at += chunk) softmax_exp(true, at, n, i, max, lane);
    if (i < n) softmax_exp(false, at, n, i, max, lane);
    return vf_reduce(lane);
}

/* The largest element of x [n], n >= 1. False if an element is NaN. Four chains hide the latency of a maximum. */
INLINE bool largest_of(const float *x, int64_t n, float *largest)
{
    enum { CHAINS = 4 };
    vf most[CHAINS];
    int unordered = 0;
    int64_t i = 0;
    UNROLL for (int j = 0; j < CHAINS; j++) most[j] = vf_set(x[0]);
    for (; i + CHAINS * VL <= n; i += CHAINS * VL)
        UNROLL for (int j = 0; j < CHAINS; j++) {
            const vf v = vf_load(x + i + j * VL);
            unordered |= vm_bits(vf_unordered(v));
            most[j] = vf_max(v, most[j]);
        }
    UNROLL for (int j = 1; j < CHAINS; j++) most[0] = vf_max(most[j], most[0]);
    *largest = vf_largest(most[0]);
    for (; i < n; i++) {
        unordered |= x[i] != x[i];
        *largest = x[i] > *largest ? x[i] : *largest;
    }
    return !unordered;
}

static bool find_max(const float *x, int64_t n, float *max, int32_t *index)
{
    *max = x[0];
    *index = 0;
    float largest;
    if (!largest_of(x, n, &largest) || !(fabsf(largest) < INFINITY)) return false;
    const vf below = vf_set(nextafterf(largest, -INFINITY));
    int64_t at = 0;
    while (at + VL <= n && !vm_bits(vf_less(below, vf_load(x + at)))) at += VL;
    while (at < n && x[at] != largest) at++;
    *max = x[at];
    *index = (int32_t)at;
    return true;
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
