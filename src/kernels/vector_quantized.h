/* SPDX-License-Identifier: MIT */
/*
 * Matmul with quantised weights: one tile, R rows, any type: its form (forms.h) and R are constants after inlining.
 * The weights of 4 inputs are made unsigned bytes once for all R rows, which hold R integer and R float accumulators.
 * Of a tile's parts PARTS_TOGETHER walk it side by side, so that many narrow ones don't read it once each.
 *
 * Of a block and row, where w = float(dot product of a run) and d is the row's scale of the block:
 *
 *   one run    acc = fma(w, scale * d, acc)
 *   two        acc = fma(fma(w[1], scale[1], w[0] * scale[0]), d, acc)
 *   minima     acc = fma(minimum, s, acc) for each run, s = d * (sum of the run's quants)
 *
 * each one rounding. Two runs share one product with d: to do as one run does costs 5 to 8 % (Emerald Rapids, VNNI);
 * for one run the product is ready before w is.
 */
/* Bytes ahead: from memory into the second-level cache, from there into the first. */
enum { FAR_AHEAD = 8192, NEAR_AHEAD = 2048 };

/* Tiles lie one after the other, so what comes next in memory is what is needed next. */
INLINE void prefetch(const unsigned char *at, const int bytes)
{
    UNROLL for (int i = 0; i < bytes; i += 64) {
        __builtin_prefetch(at + FAR_AHEAD + i, 0, 2);
        __builtin_prefetch(at + NEAR_AHEAD + i);
    }
}

/* Where a field of plane `bits` wide begins for group g, in vector *v. */
INLINE int field_at(const int bits, const int g, int *v)
{
    *v = bits == 1 ? 0 : bits == 8 ? g : bits == 4 ? g % 4 : g / 4;
    return bits == 1 ? g : bits == 8 ? 0 : bits == 4 ? g / 4 * 4 : g % 4 * 2;
}

/* The weights of group g as unsigned bytes. */
INLINE vi load_group(const vouch_form form, const unsigned char *block, const int g)
{
    int v;
    const int low = field_at(form.low, g, &v);
    vi w = vi_load(block + v * 64);
    if (form.low == 8) return w;
    w = vi_field(w, low, form.low, 0);
    if (form.table) return vi_iq4(w);
    if (!form.high) return w;
    const int high = field_at(form.high, g, &v);
    return vi_or(w, vi_field(vi_load(block + (form.low + v) * 64), high, form.high, form.low));
}

/* The i-th group to be taken: both that share a vector of nibbles, where that is possible. */
INLINE int group_at(const vouch_form form, const int i)
{
    return form.low == 4 && vouch_form_runs(form) == 1 ? i % 2 * 4 + i / 2 : i;
}

/* The integer dot products of a run of a block with R rows; q: of the block, sums: of the run. */
INLINE void dot_run(const int R, const vouch_form form, vi *dot, const unsigned char *block, const int run,
                    const int8_t *q, const vouch_sum *sums)
{
    const int n = 8 / vouch_form_runs(form), bits = form.table ? 8 : form.low + form.high;
    const bool starts = !form.minimum;
    const int chunk = PART_GROUPS(bits) < n ? PART_GROUPS(bits) : n;
    UNROLL for (int c = 0; c < n; c += chunk) {
        vi part[VOUCH_MAX_GROUP];
        UNROLL for (int r = 0; r < R; r++) part[r] = part_start(starts ? &sums[r].start : NULL);
        UNROLL for (int i = c; i < c + chunk; i++) {
            const int g = group_at(form, run * n + i);
            const vi w = load_group(form, block, g);
            UNROLL for (int r = 0; r < R; r++) part[r] = part_add(part[r], w, vi_four(q + (g * R + r) * 4), bits == 8);
        }
        UNROLL for (int r = 0; r < R; r++) {
            const vi whole = part_sum(part[r], starts && c == 0 ? &sums[r].start : NULL, bits == 8);
            dot[r] = c == 0 ? whole : vi_add(dot[r], whole);
        }
    }
}

/* The scales or minima of run r of block b of a unit; d, negative for minima, where there are two levels. */
INLINE vf load_scales(const vouch_form form, const unsigned char *unit, int32_t b, const int r, const int part,
                      const int which, vf d)
{
    const unsigned char *at = unit + vouch_form_scales_at(form, b, r, which);
    if (form.scales == VOUCH_SCALES_HALF) return vf_from_half(at + part * VL * 2);
    if (form.scales == VOUCH_SCALES_BYTE) return vf_mul(d, vf_from_int(vi_from_signed(at + part * VL)));
    return vf_mul(d, vf_from_int(vi_field(vi_from_unsigned(at + part * VL), which ? 4 : 0, 4, 0)));
}

/* The upper level of two: d[0] of a unit's scales, d[1] of its minima. */
INLINE void load_steps(const vouch_form form, const unsigned char *unit, const int part, vf *d)
{
    if (form.scales == VOUCH_SCALES_HALF) return;
    d[0] = vf_from_half(unit + part * VL * 2);
    if (form.minimum) d[1] = vf_sub(vf_zero(), vf_from_half(unit + 32 + part * VL * 2));
}

/* Block b of a unit. */
INLINE void add_block(const int R, const vouch_form form, const unsigned char *unit, int32_t b, const int part,
                      const vf *d, const int8_t *q, const float *x_d, const vouch_sum *sums, vf *acc)
{
    const int runs = vouch_form_runs(form);
    const unsigned char *block =
        unit + vouch_form_head_bytes(form) + b * vouch_form_block_bytes(form) + part * VL * 4;
    vf both[VOUCH_MAX_GROUP];
    if (part == 0) prefetch(block, vouch_form_block_bytes(form));
    UNROLL for (int run = 0; run < runs; run++) {
        vi dot[VOUCH_MAX_GROUP];
        dot_run(R, form, dot, block, run, q, sums + run * R);
        const vf scale = load_scales(form, unit, b, run, part, 0, d[0]);
        UNROLL for (int r = 0; r < R; r++) {
            const vf w = vf_from_int(dot[r]);
            if (runs == 1) acc[r] = vf_fma(w, vf_mul(scale, vf_set(x_d[r])), acc[r]);
            else both[r] = run ? vf_fma(w, scale, both[r]) : vf_mul(w, scale);
        }
        block = hide(block); /* so that what is loaded twice isn't kept in registers */
    }
    UNROLL for (int r = 0; r < R && runs == 2; r++) acc[r] = vf_fma(both[r], vf_set(x_d[r]), acc[r]);
    if (!form.minimum) return;
    UNROLL for (int run = 0; run < runs; run++) {
        const vf minimum = load_scales(form, unit, b, run, part, 1, d[1]);
        UNROLL for (int r = 0; r < R; r++) acc[r] = vf_fma(minimum, vf_set(sums[run * R + r].s), acc[r]);
    }
}

INLINE void tile_quantized(const int R, const vouch_form form, const vouch_matrix *w, const unsigned char *tile,
                           const vouch_group *g, const vouch_sum *sums, const outputs *out)
{
    const int in_unit = vouch_form_blocks(form), runs = vouch_form_runs(form);
    const int64_t n_blocks = w->n_in / VOUCH_BLOCK;
    for (int part = 0; part < PARTS; part += PARTS_TOGETHER) {
        const unsigned char *unit = tile;
        const int8_t *q = g->q;
        const float *x_d = g->d;
        const vouch_sum *s = sums;
        vf acc[PARTS_TOGETHER][VOUCH_MAX_GROUP], d[PARTS_TOGETHER][2];
        for (int p = 0; p < PARTS_TOGETHER; p++)
            UNROLL for (int r = 0; r < R; r++) acc[p][r] = start_sum(out, r, part + p);
        for (int64_t first = 0; first < n_blocks; first += in_unit, unit += vouch_form_unit_bytes(form)) {
            const int32_t n = n_blocks - first < in_unit ? (int32_t)(n_blocks - first) : in_unit;
            if (part == 0) prefetch(unit, vouch_form_head_bytes(form));
            for (int p = 0; p < PARTS_TOGETHER; p++) load_steps(form, unit, part + p, d[p]);
            for (int32_t b = 0; b < n; b++, q += 32 * R, x_d += R, s += runs * R)
                for (int p = 0; p < PARTS_TOGETHER; p++)
                    add_block(R, form, unit, b, part + p, d[p], q, x_d, s, acc[p]);
        }
        for (int p = 0; p < PARTS_TOGETHER; p++)
            UNROLL for (int r = 0; r < R; r++) store_sum(out, r, part + p, acc[p][r]);
    }
}

INLINE void matmul_quantized(const vouch_form form, const vouch_matrix *w, const vouch_acts *x,
                             const vouch_result *y, int64_t tile_begin, int64_t tile_end)
{
    for (int64_t t = tile_begin; t < tile_end; t++) {
        const unsigned char *tile = w->data + (size_t)t * w->tile_bytes;
        for (int64_t i = 0; i < vouch_n_groups(x); i++) {
            const vouch_group g = vouch_group_at(x, i);
            const vouch_sum *sums = vouch_group_sums(x, &g, form.sums);
            const outputs out = outputs_at(w, y, t, g.begin);
            switch (g.rows) {
#define CASE(n) \
    case n: tile_quantized(n, form, w, tile, &g, sums, &out); break;
                VL_ROWS(CASE)
#undef CASE
            default: break;
            }
        }
    }
}
