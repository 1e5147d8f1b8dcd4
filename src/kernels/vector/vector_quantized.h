/* SPDX-License-Identifier: MIT */
/*
 * Matmul with quantised weights of any type: T tiles times R rows. R, T and the type's form (forms.h) are constants
 * after inlining, but the form's table is not. The weights of 4 inputs are unpacked to unsigned bytes once for all R
 * rows. Each tile and row has one integer and one float accumulator. With narrow vectors, PARTS_TOGETHER parts of a
 * tile are computed side by side, so that the tile is not read once per part.
 *
 * Pairs of tiles. Two tiles share the loads of activations: ten values per row and block, each repeated in all lanes.
 * The tiles of a pair lie half a thread's range apart, so that a pair reads two streams from end to end. Pairs of
 * neighbours, which skip every second tile, get a sixth less from memory (Zen 5). Whether a pair is faster than two
 * tiles one after the other depends on the memory: up to a fifth faster on a Xeon with AMX, up to a twentieth slower on
 * an Emerald Rapids. So the matrix says what to do (vouch_reading). Above VL_PAIR_ROWS rows the accumulators of
 * two tiles
 * don't fit into the registers.
 *
 * The float operations of a block and row (dot: the dot product of a run; d: the row's scale of the block):
 *
 *   sum = dot[0] * scale[0]                  computed as fma(VOUCH_ZERO + dot, scale, -VOUCH_ZERO * scale)
 *   sum = fma(dot[1], scale[1], sum)         if the block has two runs
 *   acc = fma(sum, d, acc)
 *   acc = fma(minimum, s, acc)               for each run, if the type has minima; s = d * (sum of the run's quants)
 *
 * Each line rounds once. Integer dot products start at VOUCH_ZERO_BITS, so their bits are already those of the float
 * VOUCH_ZERO + dot. The multiply-add that scales the float subtracts VOUCH_ZERO * scale; docs/float-order.md shows why
 * the result is the same. Instruction sets whose integer sums can start anywhere save one conversion per block and row:
 * 3 to 8 % of the time at 3 or more rows (Emerald Rapids, VNNI).
 */
enum { PAIR = 2 }; /* most tiles computed together */

/* x in every lane; loaded once and kept in a register for T > 1 tiles. */
INLINE vf for_tiles(const int T, float x)
{
    vf all = vf_set(x);
    if (T > 1) KEEP(all);
    return all;
}

/* Finds group g in a plane of `bits` bits: sets *v to its vector, returns its first bit in that vector's bytes. */
INLINE int field_at(const int bits, const int g, int *v)
{
    *v = bits == 1 ? 0 : bits == 8 ? g : bits == 4 ? g % 4 : g / 4;
    return bits == 1 ? g : bits == 8 ? 0 : bits == 4 ? g / 4 * 4 : g % 4 * 2;
}

/* Unpacks the weights of group g to unsigned bytes. table: the type's, if the form has one. */
INLINE vi load_group(const vouch_form form, const vi table, const unsigned char *block, const int g)
{
    int v;
    const int low = field_at(form.low, g, &v);
    vi w = vi_load(block + v * 64);
    if (form.low == 8) return w;
    w = vi_field(w, low, form.low, 0);
    if (form.high) {
        const int high = field_at(form.high, g, &v);
        w = vi_or(w, vi_field(vi_load(block + (form.low + v) * 64), high, form.high, form.low));
    }
    return form.table ? vi_lookup(table, w) : w;
}

/* The bits of a weight's unsigned number. The entries of a table are below twice the offset. */
INLINE int number_bits(const vouch_form form)
{
    const int32_t offset = vouch_form_offset(form);
    return !form.table ? form.low + form.high : offset == 16 ? 5 : offset == 64 ? 7 : 8;
}

/* The i-th group in order of computation. Two groups that share a vector of nibbles are computed one after the other if
 * they belong to one run. */
INLINE int group_at(const vouch_form form, const int i)
{
    return form.low == 4 && vouch_form_runs(form) == 1 ? i % 2 * 4 + i / 2 : i;
}

/* dot[t * R + r] = VOUCH_ZERO + the dot product of a run, for T tiles and R rows. q: the block's quants; sums: the
 * run's. */
INLINE void dot_run(const int R, const int T, const vouch_form form, const vi table, vf *dot,
                    const unsigned char *const *block, const int run, const int8_t *q, const vouch_sum *sums)
{
    const int n = 8 / vouch_form_runs(form), bits = number_bits(form);
    const bool has_offset = !form.minimum && (BYTES_UNSIGNED || bits < 8); /* the multiplied bytes include the offset */
    const int chunk = PART_GROUPS(bits) < n ? PART_GROUPS(bits) : n;
    vi whole[VOUCH_MAX_GROUP * PAIR];
    UNROLL for (int c = 0; c < n; c += chunk) {
        vi part[VOUCH_MAX_GROUP * PAIR], start[VOUCH_MAX_GROUP];
        UNROLL for (int r = 0; r < R; r++) start[r] = vi_set(has_offset ? sums[r].start : VOUCH_ZERO_BITS);
        UNROLL for (int i = 0; i < R * T; i++) part[i] = PART_STARTS(bits) && c == 0 ? start[i % R] : vi_zero();
        UNROLL for (int i = c; i < c + chunk; i++) {
            const int g = group_at(form, run * n + i);
            vi w[PAIR];
            UNROLL for (int t = 0; t < T; t++) w[t] = load_group(form, table, block[t], g);
            UNROLL for (int r = 0; r < R; r++) {
                vx x = vi_four(q + r * VOUCH_BLOCK + g * 4);
                if (T > 1) KEEP(x);
                UNROLL for (int t = 0; t < T; t++) part[t * R + r] = part_add(part[t * R + r], w[t], x, bits == 8);
            }
        }
        UNROLL for (int i = 0; i < R * T; i++) {
            const vi sum = part_sum(part[i], bits == 8);
            whole[i] = c > 0 ? vi_add(whole[i], sum) : PART_STARTS(bits) ? sum : vi_add(sum, start[i % R]);
        }
    }
    UNROLL for (int i = 0; i < R * T; i++) dot[i] = vf_from_bits(whole[i]);
}

/* 2^n for n from -128 to 127. The bits of a normal float are (n + 127) << 23. For the two denormals, and only for them,
 * (n + 129) << 21 is larger, and right. */
INLINE vf scale_from_power(vi n)
{
    return vf_from_bits(vi_max(vi_shift(vi_add(n, vi_set(127)), 23), vi_shift(vi_add(n, vi_set(129)), 21)));
}

INLINE vf scale_from_e5m3(vi x)
{
    return vf_mul(vf_from_bits(vi_shift(x, 20)), vf_set(0x1p116f));
}

/* The scales (which = 0) or minima (which = 1) of run r of block b. d: the unit's d or -dmin, where it has them. */
INLINE vf load_scales(const vouch_form form, const unsigned char *unit, int32_t b, const int r, const int part,
                      const int which, vf d)
{
    const unsigned char *at = unit + vouch_form_scales_at(form, b, r, which);
    if (form.scales == VOUCH_SCALES_HALF) return vf_from_half(at + part * VL * 2);
    if (form.scales == VOUCH_SCALES_UNIT) return d;
    if (form.scales == VOUCH_SCALES_POWER) return scale_from_power(vi_from_signed(at + part * VL));
    if (form.scales == VOUCH_SCALES_E5M3) return scale_from_e5m3(vi_from_unsigned(at + part * VL));
    if (form.scales == VOUCH_SCALES_BYTE) return vf_mul(d, vf_from_int(vi_from_signed(at + part * VL)));
    return vf_mul(d, vf_from_int(vi_field(vi_from_unsigned(at + part * VL), which ? 4 : 0, 4, 0)));
}

/* The f16 numbers of a unit, if it has them: d[0] = d * step for scales, d[1] = -dmin for minima. */
INLINE void load_steps(const vouch_form form, const unsigned char *unit, const int part, vf *d)
{
    if (form.scales == VOUCH_SCALES_HALF || !vouch_form_half_bytes(form)) return;
    d[0] = vf_from_half(unit + part * VL * 2);
    if (form.step != 1) d[0] = vf_mul(d[0], vf_set(form.step));
    if (form.minimum) d[1] = vf_sub(vf_zero(), vf_from_half(unit + 32 + part * VL * 2));
}

/* Adds block b of a unit to the sums of T tiles and R rows. */
INLINE void add_block(const int R, const int T, const vouch_form form, const vi table, const unsigned char *const *unit,
                      int32_t b, const int part, vf (*d)[2], const int8_t *q, const float *x_d, const vouch_sum *sums,
                      vf *acc)
{
    const int runs = vouch_form_runs(form);
    const unsigned char *block[PAIR];
    vf sum[VOUCH_MAX_GROUP * PAIR];
    UNROLL for (int t = 0; t < T; t++) block[t] = unit[t] + vouch_form_block_at(form, b) + part * VL * 4;
    UNROLL for (int run = 0; run < runs; run++) {
        vf dot[VOUCH_MAX_GROUP * PAIR], scale[PAIR], less[PAIR];
        dot_run(R, T, form, table, dot, block, run, q, sums + run * R);
        UNROLL for (int t = 0; t < T; t++) {
            scale[t] = load_scales(form, unit[t], b, run, part, 0, d[t][0]);
            less[t] = vf_mul(scale[t], vf_set(-VOUCH_ZERO));
        }
        UNROLL for (int i = 0; i < R * T; i++)
            sum[i] = run == 0 ? vf_fma(dot[i], scale[i / R], less[i / R])
                              : vf_fma(vf_sub(dot[i], vf_set(VOUCH_ZERO)), scale[i / R], sum[i]);
        /* Otherwise the compiler would keep the vectors that both runs load in registers, which are scarce. */
        UNROLL for (int t = 0; t < T; t++) block[t] = hide(block[t]);
    }
    UNROLL for (int r = 0; r < R; r++) {
        const vf x = for_tiles(T, x_d[r]);
        UNROLL for (int i = r; i < R * T; i += R) acc[i] = vf_fma(sum[i], x, acc[i]);
    }
    if (!form.minimum) return;
    UNROLL for (int run = 0; run < runs; run++) {
        vf minimum[PAIR];
        UNROLL for (int t = 0; t < T; t++) minimum[t] = load_scales(form, unit[t], b, run, part, 1, d[t][1]);
        UNROLL for (int r = 0; r < R; r++) {
            const vf s = for_tiles(T, sums[run * R + r].s);
            UNROLL for (int i = r; i < R * T; i += R) acc[i] = vf_fma(minimum[i / R], s, acc[i]);
        }
    }
}

/* Computes T tiles: `first`, and each `apart` tiles after the one before. */
INLINE void tiles_quantized(const int R, const int T, const vouch_form form, const vouch_matrix *w,
                            const vouch_group *g, const vouch_sum *sums, const vouch_result *y, int64_t first,
                            int64_t apart, size_t far)
{
    const int in_unit = vouch_form_blocks(form), runs = vouch_form_runs(form), bytes = vouch_form_unit_bytes(form);
    const int64_t n_blocks = w->n_in / VOUCH_BLOCK;
    const vi table = form.table ? vi_table(vouch_tables[vouch_forms[w->type].table]) : vi_zero();
    const unsigned char *tile[PAIR];
    outputs out[PAIR];
    UNROLL for (int t = 0; t < T; t++) {
        const int64_t at = first + t * apart;
        tile[t] = w->data + (size_t)at * w->tile_bytes;
        out[t] = outputs_at(w, y, at, g->begin);
    }
    for (int part = 0; part < PARTS; part += PARTS_TOGETHER) {
        const unsigned char *unit[PAIR];
        const int8_t *q = g->q;
        const float *x_d = g->d;
        const vouch_sum *s = sums;
        vf acc[PARTS_TOGETHER][VOUCH_MAX_GROUP * PAIR], d[PARTS_TOGETHER][PAIR][2];
        UNROLL for (int t = 0; t < T; t++) unit[t] = tile[t];
        for (int p = 0; p < PARTS_TOGETHER; p++)
            UNROLL for (int i = 0; i < R * T; i++) acc[p][i] = start_sum(&out[i / R], i % R, part + p);
        for (int64_t left = n_blocks; left > 0; left -= in_unit) {
            const int32_t n = left < in_unit ? (int32_t)left : in_unit;
            const ahead next = ahead_of(T, unit[0], (size_t)apart * w->tile_bytes, far);
            if (part == 0) prefetch(T, &next, 0, vouch_form_head_bytes(form));
            for (int p = 0; p < PARTS_TOGETHER; p++)
                UNROLL for (int t = 0; t < T; t++) load_steps(form, unit[t], part + p, d[p][t]);
            for (int32_t b = 0; b < n; b++, q += 32 * R, x_d += R, s += runs * R) {
                if (part == 0) prefetch(T, &next, vouch_form_block_at(form, b), vouch_form_block_bytes(form));
                for (int p = 0; p < PARTS_TOGETHER; p++)
                    add_block(R, T, form, table, unit, b, part + p, d[p], q, x_d, s, acc[p]);
            }
            UNROLL for (int t = 0; t < T; t++) unit[t] += bytes;
        }
        for (int p = 0; p < PARTS_TOGETHER; p++)
            UNROLL for (int i = 0; i < R * T; i++) store_sum(&out[i / R], i % R, part + p, acc[p][i]);
    }
}

INLINE void group_quantized(const int R, const vouch_type type, const vouch_matrix *w, const vouch_acts *x,
                            const vouch_group *g, const vouch_result *y, int64_t begin, int64_t end)
{
    const vouch_form form = vouch_forms[type];
    const vouch_sum *sums = vouch_group_sums(x, g, form.sums);
    const vouch_reading reading = w->readings ? w->readings[R] : (vouch_reading)VOUCH_USUAL_READING;
    int64_t t = begin;
    if (R <= VL_PAIR_ROWS && reading.tiles == PAIR) {
        const int64_t apart = (end - begin) / PAIR;
        for (; t < begin + apart; t++) tiles_quantized(R, PAIR, form, w, g, sums, y, t, apart, reading.ahead);
        t += apart;
    }
    for (; t < end; t++) tiles_quantized(R, 1, form, w, g, sums, y, t, 0, reading.ahead);
}
