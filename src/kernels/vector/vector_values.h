/* SPDX-License-Identifier: MIT */
/*
 * Mixing the values of a quantised KV cache. A tile is 32 outputs, in two halves of 16. R rows are computed together,
 * as with float weights. For each row, vector operations multiply the softmax weights of 16 slots by the slots' scales.
 */

/* The quants of one slot in one half of a tile, as floats. */
INLINE vf load_quants(const vouch_type type, const unsigned char *slot, const int half, const int part)
{
    if (type == VOUCH_TYPE_Q8_0) return vf_from_int(vi_from_signed(slot + half * VOUCH_TILE + part * VL));
    const vi nibbles = vi_field(vi_from_unsigned(slot + part * VL), half ? 4 : 0, 4, 0);
    return vf_from_int(vi_add(nibbles, vi_set(-8)));
}

/* to = x * scale for 16 slots and R rows. */
INLINE void scale_inputs(const int R, float *to, const float *x, const unsigned char *scales)
{
    UNROLL for (int part = 0; part < PARTS; part++) {
        const vf scale = vf_from_half(scales + part * VL * 2);
        UNROLL for (int r = 0; r < R; r++)
            vf_store(to + r * 16 + part * VL, vf_mul(vf_load(x + r * 16 + part * VL), scale));
    }
}

/* Computes the halves [first, first + H) of tile t. */
INLINE void halves_mix(const int R, const int H, const int first, const vouch_type type, const vouch_matrix *w,
                       const vouch_group *g, const vouch_result *y, int64_t t)
{
    const unsigned char *tile = w->data + (size_t)t * w->tile_bytes;
    const int64_t bytes = vouch_slot_quants(type);
    for (int part = 0; part < PARTS; part++) {
        vf acc[VOUCH_MAX_GROUP * 2];
        UNROLL for (int h = 0; h < H; h++) {
            const outputs at = outputs_at(w, y, 2 * t + first + h, g->begin);
            UNROLL for (int r = 0; r < R; r++) acc[h * R + r] = start_sum(&at, r, part);
        }
        const float *x = g->x;
        for (int64_t k = 0; k < w->n_in; k += 16, x += R * 16) {
            float scaled[VOUCH_MAX_GROUP * 16];
            const unsigned char *slot = tile + vouch_slot_at(type, k), *past = slot + 16 * bytes;
            if (part == 0) prefetch(1, &(ahead){slot + FAR_AHEAD / 4, slot + FAR_AHEAD, 0}, 0, (int)(16 * bytes));
            if (w->n_in - k < 16) past = slot + (w->n_in - k) * bytes;
            scale_inputs(R, scaled, x, tile + vouch_slot_scale_at(type, k));
            for (const float *input = scaled; slot < past; slot += bytes, input++) {
                vf quants[2];
                UNROLL for (int h = 0; h < H; h++) quants[h] = load_quants(type, slot, first + h, part);
                UNROLL for (int r = 0; r < R; r++) {
                    const vf value = vf_set(input[r * 16]);
                    UNROLL for (int h = 0; h < H; h++) acc[h * R + r] = vf_fma(quants[h], value, acc[h * R + r]);
                }
            }
        }
        UNROLL for (int h = 0; h < H; h++) {
            const outputs at = outputs_at(w, y, 2 * t + first + h, g->begin);
            UNROLL for (int r = 0; r < R; r++) store_sum(&at, r, part, acc[h * R + r]);
        }
    }
}

/* Computes both halves of a tile together if their sums fit into the registers. */
INLINE void group_mix(const int R, const vouch_type type, const vouch_matrix *w, const vouch_acts *x,
                      const vouch_group *g, const vouch_result *y, int64_t begin, int64_t end)
{
    (void)x;
    for (int64_t t = begin; t < end; t++) {
        if (R * 2 <= VL_CHAINS) {
            halves_mix(R, 2, 0, type, w, g, y, t);
        } else {
            halves_mix(R, 1, 0, type, w, g, y, t);
            halves_mix(R, 1, 1, type, w, g, y, t);
        }
    }
}

/* Adds one slot to the outputs of n rows. */
INLINE void add_slot(const vouch_type type, const vouch_matrix *w, int64_t slot, const float *x, int64_t ldx, float *y,
                     int64_t ldy, int64_t n)
{
    for (int64_t t = 0; t < w->n_tiles; t++) {
        const unsigned char *tile = w->data + (size_t)t * w->tile_bytes, *quants = tile + vouch_slot_at(type, slot);
        const float scale = vouch_slot_scale(type, tile, slot);
        for (int64_t i = 0; i < n; i++) {
            const vf value = vf_set(x[i * ldx] * scale);
            float *to = y + i * ldy + t * VOUCH_BLOCK;
            UNROLL for (int half = 0; half < 2; half++)
                UNROLL for (int part = 0; part < PARTS; part++, to += VL)
                    vf_store(to, vf_fma(load_quants(type, quants, half, part), value, vf_load(to)));
        }
    }
}

static void add_column(const vouch_matrix *w, int64_t column, const float *x, int64_t ldx, float *y, int64_t ldy,
                       int64_t n)
{
    if (w->type == VOUCH_TYPE_Q8_0 || w->type == VOUCH_TYPE_Q4_0) {
        if (w->type == VOUCH_TYPE_Q8_0) add_slot(VOUCH_TYPE_Q8_0, w, column, x, ldx, y, ldy, n);
        else add_slot(VOUCH_TYPE_Q4_0, w, column, x, ldx, y, ldy, n);
        return;
    }
    for (int64_t o = 0; o < w->n_out; o += VL) {
        const vm m = vm_first(w->n_out - o < VL ? w->n_out - o : VL);
        const unsigned char *at = vouch_matrix_element(w, o, column);
        const vf value = w->type == VOUCH_TYPE_F16 ? vf_from_half(at) : vf_load((const float *)(const void *)at);
        for (int64_t i = 0; i < n; i++) {
            float *to = y + i * ldy + o;
            vf_store_part(to, vf_fma(value, vf_set(x[i * ldx]), vf_load_part(to, m)), m);
        }
    }
}
