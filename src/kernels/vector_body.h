/* SPDX-License-Identifier: MIT */
/*
 * The kernels in vectors: included once by each instruction set's file, after the header with its vector
 * (vf: VL float lanes, vi: the same of integers; PARTS of them make the 16 lanes of a tile; vx: 4 activations, in every
 * lane; KEEP: the vector is to be in a register here, and the compiler forgets what it knows of it).
 *
 * Bits are those of ref.c because lanes never mix: a lane of a matmul is one output, which takes the same
 * operations in the same order here and there; how many rows and tiles are walked together (R and T below,
 * constants after inlining) only decides which independent sums share the loaded operands. The sums over a
 * row keep the 16 virtual lanes and their tree.
 */
#include <assert.h>
#include <math.h>

#include "kernels/cache.h"
#include "kernels/exp.h"
#include "kernels/tables.h"

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* The pointer, as one that the compiler knows nothing of. */
INLINE const unsigned char *hide(const unsigned char *p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* Bytes ahead: from memory into the second-level cache, from there into the first. */
enum { FAR_AHEAD = 8192, NEAR_AHEAD = 2048 };

/* What is needed next: in memory tiles lie one after the other, and of T that are walked together each is a stream of
 * its own, the same bytes of which are fetched, `step` apart. */
typedef struct ahead {
    const unsigned char *near, *far;
    size_t step;
} ahead;

/* Byte `at` of a walk over every T-th tile from this one on. */
INLINE const unsigned char *walk_to(const int T, const vouch_matrix *w, const unsigned char *tile, int64_t at)
{
    for (; T > 1 && at >= (int64_t)w->tile_bytes; at -= (int64_t)w->tile_bytes) tile += (size_t)T * w->tile_bytes;
    return tile + at;
}

/* Of units of so many bytes, what is far enough from byte `at` of the walk; of several streams whole units, so that
 * none goes on beyond its tile. */
INLINE ahead ahead_of(const int T, const vouch_matrix *w, const unsigned char *tile, int64_t at, const int bytes)
{
    const int near = T > 1 ? (NEAR_AHEAD + bytes - 1) / bytes * bytes : NEAR_AHEAD;
    const int far = T > 1 ? (FAR_AHEAD + bytes - 1) / bytes * bytes : FAR_AHEAD;
    return (ahead){walk_to(T, w, tile, at + near), walk_to(T, w, tile, at + far), w->tile_bytes};
}

INLINE void prefetch(const int T, const ahead *next, int64_t at, const int bytes)
{
    UNROLL for (int t = 0; t < T; t++)
        UNROLL for (int i = 0; i < bytes; i += 64) {
            __builtin_prefetch(next->far + t * next->step + at + i, 0, 2);
            __builtin_prefetch(next->near + t * next->step + at + i);
        }
}

/* Where a tile's results go. */
typedef struct outputs {
    float *y;      /* of row 0 of the group and lane 0 of the tile */
    int64_t ldy;
    int64_t n;     /* lanes below n_out, at least 1 */
    bool from_y;
    const float *factors; /* of row 0, or NULL */
} outputs;

INLINE outputs outputs_at(const vouch_matrix *w, const vouch_result *y, int64_t tile, int64_t row)
{
    return (outputs){y->y + row * y->row + tile * y->tile, y->row, w->n_out - tile * VOUCH_TILE,
                     y->start == VOUCH_FROM_Y, y->factors ? y->factors + row : NULL};
}

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
    if (out->factors) sum = vf_mul(sum, vf_set(out->factors[r]));
    if (out->n >= (part + 1) * VL) vf_store(y, sum);
    else if (out->n > part * VL) vf_store_part(y, sum, vm_first(out->n - part * VL));
}

#include "kernels/vector_quantized.h"
#include "kernels/vector_float.h"
#include "kernels/vector_values.h"
#include "kernels/vector_rows.h"

/* A group of activations times the tiles [begin, end), compiled for its number of rows and a type. */
typedef void group_kernel(const vouch_matrix *w, const vouch_acts *x, const vouch_group *g, const vouch_result *y,
                          int64_t begin, int64_t end);

/* All groups; of several each takes a few tiles in turn, which stay in the cache meanwhile. */
static void all_groups(group_kernel *const *kernels, const vouch_matrix *w, const vouch_acts *x, const vouch_result *y,
                       int64_t begin, int64_t end, int64_t strip)
{
    const int64_t n = vouch_n_groups(x);
    for (int64_t t = begin, past; t < end; t = past) {
        past = n == 1 || end - t < strip ? end : t + strip;
        for (int64_t i = 0; i < n; i++) {
            const vouch_group g = vouch_group_at(x, i);
            assert(g.rows >= 1 && g.rows <= VL_MOST_ROWS);
            kernels[g.rows](w, x, &g, y, t, past);
        }
    }
}

#define GROUP_KERNEL(n, kind, type)                                                                         \
    static void kind##_##type##_##n(const vouch_matrix *w, const vouch_acts *x, const vouch_group *g,       \
                                    const vouch_result *y, int64_t begin, int64_t end)                      \
    {                                                                                                       \
        group_##kind(n, VOUCH_TYPE_##type, w, x, g, y, begin, end);                                         \
    }
#define GROUP_ENTRY(n, kind, type) [n] = kind##_##type##_##n,
#define MATMUL(name, kind, type, strip)                                                                     \
    VL_ROWS(GROUP_KERNEL, kind, type)                                                                       \
    static void name##_##type(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t begin, int64_t end) \
    {                                                                                                       \
        static group_kernel *const kernels[] = {VL_ROWS(GROUP_ENTRY, kind, type)};                          \
        all_groups(kernels, w, x, &y, begin, end, strip);                                                   \
    }
#define FLOAT(type) MATMUL(matmul, float, type, 8)
#define QUANTIZED(type) MATMUL(matmul, quantized, type, VL_PAIR_ROWS ? PAIR : 1)
VOUCH_FLOAT_TYPES(FLOAT)
VOUCH_QUANTIZED_TYPES(QUANTIZED)
MATMUL(mix, mix, Q8_0, 1)
MATMUL(mix, mix, Q4_0, 1)
#undef FLOAT
#undef QUANTIZED

#define ENTRY(type) [VOUCH_TYPE_##type] = matmul_##type,
#define KERNELS(isa)                                                                                        \
    {                                                                                                       \
        .name = isa, .group_rows = VL_MOST_ROWS,                                                            \
        .matmul = {VOUCH_FLOAT_TYPES(ENTRY) VOUCH_QUANTIZED_TYPES(ENTRY)},                                  \
        .mix = {[VOUCH_TYPE_F32] = matmul_F32, [VOUCH_TYPE_F16] = matmul_F16, [VOUCH_TYPE_Q8_0] = mix_Q8_0, \
                [VOUCH_TYPE_Q4_0] = mix_Q4_0},                                                              \
        .add_column = add_column, .quantize = quantize, .interleave = interleave, .norm_part = norm_part,   \
        .norm_factor = norm_factor, .rope = rope, .scale = scale, .swiglu = swiglu, .set_row = set_row,     \
        .set_column = set_column, .softmax = softmax, .find_max = find_max, .exp_weights = exp_weights,     \
    }
