/* SPDX-License-Identifier: MIT */
/*
 * Matmul with quantised weights: one tile, R rows. A block of 32 inputs is loaded and unpacked once for all R rows,
 * which hold R integer and R float accumulators.
 */
#define FOR_QUANTIZED_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
enum { GROUP_ROWS = 12 };

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
    UNROLL for (int r = 0; r < R; r++) sum[r] = bytes_start(&g->start[b * R + r]);
    UNROLL for (int k = 0; k < 8; k++) {
        const bytes_op w = bytes_prepare(vi_load(quants + k * 64));
        UNROLL for (int r = 0; r < R; r++) sum[r] = bytes_dot(sum[r], w, vi_four(x + (k * R + r) * 4));
    }
}

INLINE void dot_nibbles(const int R, vi *sum, const unsigned char *quants, int64_t b, const vouch_group *g,
                        const bool offset)
{
    const int8_t *x = g->q + b * 32 * R;
    UNROLL for (int r = 0; r < R; r++) sum[r] = nibbles_start(&g->start[b * R + r], offset);
    UNROLL for (int k = 0; k < 4; k++) {
        const vi w = vi_load(quants + k * 64);
        const vi low = vi_low_nibbles(w), high = vi_high_nibbles(w);
        UNROLL for (int r = 0; r < R; r++) sum[r] = nibbles_dot(sum[r], low, vi_four(x + (k * R + r) * 4));
        UNROLL for (int r = 0; r < R; r++) sum[r] = nibbles_dot(sum[r], high, vi_four(x + ((k + 4) * R + r) * 4));
    }
    UNROLL for (int r = 0; r < R; r++) sum[r] = nibbles_finish(sum[r], &g->start[b * R + r], offset);
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
            else dot_nibbles(R, sum, quants, b, g, type == VOUCH_TYPE_Q4_0);
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

INLINE void matmul_quantized(const vouch_type type, const vouch_matrix *w, const vouch_acts *x,
                             const vouch_result *y, int64_t tile_begin, int64_t tile_end)
{
    for (int64_t t = tile_begin; t < tile_end; t++) {
        const unsigned char *tile = w->data + (size_t)t * w->tile_bytes;
        for (int64_t i = 0; i < vouch_n_groups(x); i++) {
            const vouch_group g = vouch_group_at(x, i);
            const outputs out = outputs_at(w, y, t, g.begin);
            switch (g.rows) {
#define CASE(n) \
    case n: tile_quantized(n, type, w, tile, &g, &out); break;
                FOR_QUANTIZED_ROWS(CASE)
#undef CASE
            default: break;
            }
        }
    }
}
