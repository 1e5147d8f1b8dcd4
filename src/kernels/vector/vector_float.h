/* SPDX-License-Identifier: MIT */
/*
 * Matmul with float weights, including F16 and F32 keys and values. T tiles times R rows are computed together: even
 * one row then has enough independent chains of fused multiply-adds to hide their latency. The T tiles lie a T-th of
 * the thread's range apart, so that memory is read in T streams from end to end; the fewer, the faster (VL_STREAMS).
 *
 * With VL_BROADCASTS each tile reads the inputs through its own pointer, and the compiler can't know that all point to
 * the same inputs. So every fused multiply-add takes its input from memory. Otherwise a load would fill a register for
 * all tiles, and on a Zen 4 such loads compete with the conversion of F16: with weights in the caches, 5 rows take 0.79
 * of the time that they took with such registers.
 */
INLINE vf load_weights(const unsigned char *tile, const vouch_type type, int64_t k, int part)
{
    const int64_t at = k * VOUCH_TILE + part * VL;
    if (type == VOUCH_TYPE_F32) return vf_load((const float *)(const void *)tile + at);
    return type == VOUCH_TYPE_F16 ? vf_from_half(tile + at * 2) : vf_from_bfloat(tile + at * 2);
}

/* Adds the products of input k to the sums of T tiles and R rows. The tiles lie `step` bytes apart. Tile t reads the
 * input of row r at x[t][at + r * 16]. */
INLINE void add_input(const int R, const int T, const vouch_type type, const unsigned char *tile, size_t step,
                      int64_t k, int part, const float *const *x, int64_t at, vf *acc)
{
    vf weights[VL_STREAMS];
    UNROLL for (int t = 0; t < T; t++) weights[t] = load_weights(tile + (size_t)t * step, type, k, part);
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int t = 0; t < T; t++)
            acc[t * R + r] = vf_fma(weights[t], vf_set(x[t][at + r * 16]), acc[t * R + r]);
}

/* Computes T tiles: `first`, and each `apart` tiles after the one before. */
INLINE void tiles_float(const int R, const int T, const vouch_type type, const vouch_matrix *w,
                        const vouch_group *g, const vouch_result *y, int64_t first, int64_t apart)
{
    const unsigned char *tile = w->data + (size_t)first * w->tile_bytes;
    const size_t step = (size_t)apart * w->tile_bytes;
    const int bytes = VOUCH_TILE * (type == VOUCH_TYPE_F32 ? 4 : 2);
    for (int part = 0; part < PARTS; part++) {
        vf acc[VOUCH_MAX_GROUP * VL_STREAMS];
        UNROLL for (int t = 0; t < T; t++) {
            const outputs at = outputs_at(w, y, first + t * apart, g->begin);
            UNROLL for (int r = 0; r < R; r++) acc[t * R + r] = start_sum(&at, r, part);
        }
        const float *x[VL_STREAMS];
        UNROLL for (int t = 0; t < T; t++) x[t] = VL_BROADCASTS ? hide_floats(g->x) : g->x;
        for (int64_t k = 0; k < w->n_in; k += 16) {
            const int64_t n = w->n_in - k < 16 ? w->n_in - k : 16;
            const ahead next = ahead_of(T, tile + k * bytes, step, FAR_AHEAD);
            if (part == 0) prefetch(T, &next, 0, 16 * bytes);
            for (int64_t i = 0; i < n; i++) add_input(R, T, type, tile, step, k + i, part, x, k * R + i, acc);
        }
        UNROLL for (int t = 0; t < T; t++) {
            const outputs at = outputs_at(w, y, first + t * apart, g->begin);
            UNROLL for (int r = 0; r < R; r++) store_sum(&at, r, part, acc[t * R + r]);
        }
    }
}

/* The number of tiles that tiles_float computes together for R rows. */
INLINE int tiles_together(const int R)
{
    return VL_STREAMS == 4 && R * 4 <= VL_CHAINS ? 4 : R * 2 <= VL_CHAINS ? 2 : 1;
}

/* Computes tiles in steps of tiles_together(R), the rest in steps of half as many, and so on. */
INLINE void group_float(const int R, const vouch_type type, const vouch_matrix *w, const vouch_acts *x,
                        const vouch_group *g, const vouch_result *y, int64_t begin, int64_t end)
{
    (void)x;
    UNROLL for (int n_halved = 0; VL_STREAMS >> n_halved > 0; n_halved++) {
        const int T = VL_STREAMS >> n_halved;
        if (T > tiles_together(R)) continue;
        const int64_t apart = (end - begin) / T;
        for (int64_t t = begin; t < begin + apart; t++) tiles_float(R, T, type, w, g, y, t, apart);
        begin += apart * T;
    }
}
