/* SPDX-License-Identifier: MIT */
/*
 * Matmul with float weights, including F16 and F32 keys and values. T tiles times R rows are computed together: even
 * one row then has enough independent chains of fused multiply-adds to hide their latency.
 */
enum { TILES_MOST = 4 };

INLINE vf load_weights(const unsigned char *tile, const vouch_type type, int64_t k, int part)
{
    const int64_t at = k * VOUCH_TILE + part * VL;
    if (type == VOUCH_TYPE_F32) return vf_load((const float *)(const void *)tile + at);
    return type == VOUCH_TYPE_F16 ? vf_from_half(tile + at * 2) : vf_from_bfloat(tile + at * 2);
}

/* Adds input k to the sums of R rows and T tiles; the input of row r is x[r * 16]. */
INLINE void add_input(const int R, const int T, const vouch_type type, const vouch_matrix *w, const unsigned char *tile,
                      int64_t k, int part, const float *x, vf *acc)
{
    vf weights[TILES_MOST];
    UNROLL for (int t = 0; t < T; t++) weights[t] = load_weights(tile + (size_t)t * w->tile_bytes, type, k, part);
    UNROLL for (int r = 0; r < R; r++) {
        const vf value = vf_set(x[r * 16]);
        UNROLL for (int t = 0; t < T; t++) acc[t * R + r] = vf_fma(weights[t], value, acc[t * R + r]);
    }
}

INLINE void prefetch_inputs(const int T, const vouch_type type, const vouch_matrix *w, const unsigned char *tile,
                            int64_t k)
{
    enum { FAR = 4096, NEAR = 1024 }; /* prefetch distances in bytes, per stream: second-level cache, first level */
    const int64_t bytes = type == VOUCH_TYPE_F32 ? 4 : 2, at = k * VOUCH_TILE * bytes;
    const unsigned char *far = walk_to(T, w, tile, at + FAR), *near = walk_to(T, w, tile, at + NEAR);
    for (int t = 0; t < T; t++, far += w->tile_bytes, near += w->tile_bytes)
        for (int i = 0; i < 16 * VOUCH_TILE * bytes; i += 64) {
            __builtin_prefetch(far + i, 0, 2);
            __builtin_prefetch(near + i);
        }
}

INLINE void tiles_float(const int R, const int T, const vouch_type type, const vouch_matrix *w,
                        const vouch_group *g, const vouch_result *y, int64_t first)
{
    const unsigned char *tile = w->data + (size_t)first * w->tile_bytes;
    for (int part = 0; part < PARTS; part++) {
        vf acc[VOUCH_MAX_GROUP * TILES_MOST];
        UNROLL for (int t = 0; t < T; t++) {
            const outputs at = outputs_at(w, y, first + t, g->begin);
            UNROLL for (int r = 0; r < R; r++) acc[t * R + r] = start_sum(&at, r, part);
        }
        const float *x = g->x;
        for (int64_t k = 0; k < w->n_in; k += 16, x += R * 16) {
            const int64_t n = w->n_in - k < 16 ? w->n_in - k : 16;
            if (part == 0) prefetch_inputs(T, type, w, tile, k);
            for (int64_t i = 0; i < n; i++) add_input(R, T, type, w, tile, k + i, part, x + i, acc);
        }
        UNROLL for (int t = 0; t < T; t++) {
            const outputs at = outputs_at(w, y, first + t, g->begin);
            UNROLL for (int r = 0; r < R; r++) store_sum(&at, r, part, acc[t * R + r]);
        }
    }
}

/* The number of tiles that tiles_float computes together for R rows. */
INLINE int tiles_together(const int R)
{
    return R * 4 <= VL_CHAINS ? 4 : R * 2 <= VL_CHAINS ? 2 : 1;
}

/* Computes tiles in steps of tiles_together(R), the rest in steps of half as many, and so on. */
INLINE void group_float(const int R, const vouch_type type, const vouch_matrix *w, const vouch_acts *x,
                        const vouch_group *g, const vouch_result *y, int64_t begin, int64_t end)
{
    (void)x;
    int64_t t = begin;
    UNROLL for (int T = TILES_MOST; T > 0; T /= 2) {
        if (T > tiles_together(R)) continue;
        for (; t + T <= end; t += T) tiles_float(R, T, type, w, g, y, t);
    }
}
