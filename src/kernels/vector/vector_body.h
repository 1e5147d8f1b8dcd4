/* SPDX-License-Identifier: MIT */
/*
 * The kernels, written with vectors. The file of each instruction set includes this header once, and ends with
 * KERNELS(its name). VOUCH_PART says which parts of a table the object gets (tables.h); by default it gets all. Before
 * this header comes the one that defines the vectors:
 *
 *   vf, vi    VL float lanes, VL integer lanes; PARTS vectors make the 16 lanes of a tile
 *   vx        4 activations, repeated in every lane
 *   KEEP(v)   forces v into a register here; the compiler forgets how it computed v
 *
 *   VL_MOST_ROWS   most rows of a group
 *   VL_PAIR_ROWS   most rows that may take quantised tiles in pairs (vector_quantized.h)
 *   VL_CHAINS      most sums that tiles of float weights keep in registers
 *   VL_STREAMS     most tiles of float weights computed together (vector_float.h)
 *   VL_BROADCASTS  whether vf_fma takes a float from memory for all lanes
 *
 * The results equal ref.c's bit for bit, because lanes never mix. A lane of a matmul is one output, and it takes the
 * same operations in the same order as in ref.c. R rows and T tiles are computed together (constants after inlining);
 * R and T decide only which independent sums share a loaded operand. Row sums keep the 16 virtual lanes and their tree.
 */
#include <assert.h>
#include <math.h>

#include "kernels/cache.h"
#include "kernels/exp.h"
#include "kernels/tables.h"

#define VOUCH_PART_floats 1
#define VOUCH_PART_numbers 2
#define VOUCH_PART_codes 4
#ifndef VOUCH_PART
#define VOUCH_PART (VOUCH_PART_floats | VOUCH_PART_numbers | VOUCH_PART_codes)
#endif

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Returns p, but the compiler can't know that. */
INLINE const unsigned char *hide(const unsigned char *p)
{
    __asm__("" : "+r"(p));
    return p;
}

INLINE const float *hide_floats(const float *p)
{
    return (const float *)(const void *)hide((const unsigned char *)p);
}

/* How many bytes ahead of its reads a kernel prefetches: `far` from memory into the second-level cache, and a quarter
 * of that from there into the first level. Kernels that read several streams divide both among them. Types whose
 * reading isn't measured take FAR_AHEAD. */
enum { FAR_AHEAD = 8192 };

/* Addresses to prefetch: those of the first of several streams, which lie `step` bytes apart. */
typedef struct ahead {
    const unsigned char *near, *far;
    size_t step;
} ahead;

/* What to prefetch when the first of T streams has come to `at`. */
INLINE ahead ahead_of(const int T, const unsigned char *at, size_t step, size_t far)
{
    return (ahead){at + far / 4 / T, at + far / T, step};
}

INLINE void prefetch(const int T, const ahead *next, int64_t at, const int bytes)
{
    UNROLL for (int t = 0; t < T; t++)
        UNROLL for (int i = 0; i < bytes; i += 64) {
            __builtin_prefetch(next->far + t * next->step + at + i, 0, 2);
            __builtin_prefetch(next->near + t * next->step + at + i);
        }
}

/* The destination of a tile's results. */
typedef struct outputs {
    float *y;      /* row 0 of the group, lane 0 of the tile */
    int64_t ldy;   /* floats from one row to the next */
    int64_t n;     /* lanes of the tile below n_out, at least 1 */
    bool from_y;   /* sums start from y */
    const float *factors; /* [rows of the group], or NULL */
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

#include "kernels/vector/vector_quantized.h"
#if VOUCH_PART & VOUCH_PART_floats
#include "kernels/vector/vector_float.h"
#include "kernels/vector/vector_values.h"
#include "kernels/vector/vector_rows.h"
#include "kernels/vector/vector_scan.h"
#endif

/* Multiplies a group of activations by the tiles [begin, end). One function per number of rows and type. */
typedef void group_kernel(const vouch_matrix *w, const vouch_acts *x, const vouch_group *g, const vouch_result *y,
                          int64_t begin, int64_t end);

/* Computes all groups. Several groups take turns on `strip` tiles at a time, which stay in the cache meanwhile. */
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
#define ENTRY(type) [VOUCH_TYPE_##type] = matmul_##type,
#define SHARED(type, with) [VOUCH_TYPE_##type] = matmul_##with,

#if VOUCH_PART & VOUCH_PART_floats
#define FLOAT(type) MATMUL(matmul, float, type, 8)
VOUCH_FLOAT_TYPES(FLOAT)
MATMUL(mix, mix, Q8_0, 1)
MATMUL(mix, mix, Q4_0, 1)
#define FLOATS(isa)                                                                                         \
    const vouch_kernels vouch_floats_##isa = {                                                              \
        .group_rows = VL_MOST_ROWS, .pair_rows = VL_PAIR_ROWS,                                              \
        .matmul = {VOUCH_FLOAT_TYPES(ENTRY)},                                                               \
        .mix = {[VOUCH_TYPE_F32] = matmul_F32, [VOUCH_TYPE_F16] = matmul_F16, [VOUCH_TYPE_Q8_0] = mix_Q8_0, \
                [VOUCH_TYPE_Q4_0] = mix_Q4_0},                                                              \
        .add_column = add_column, .quantize = quantize, .interleave = interleave, .norm_part = norm_part,   \
        .norm_factor = norm_factor, .rope = rope, .scale = scale, .swiglu = swiglu, .set_row = set_row,     \
        .set_column = set_column, .softmax = softmax, .find_max = find_max, .exp_weights = exp_weights,     \
        .softplus = softplus, .l2_norm = l2_norm, .conv = conv, .scan = scan, .scan_channels = scan_channels, \
    };
#else
#define FLOATS(isa)
#endif

/* Strips matter only where there are several groups. Each of those has at least VL_MOST_ROWS / 2 rows. So a strip has
 * two tiles only if so many rows may take tiles in pairs. */
#define QUANTIZED(type) MATMUL(matmul, quantized, type, 2 * VL_PAIR_ROWS >= VL_MOST_ROWS ? PAIR : 1)
#if VOUCH_PART & VOUCH_PART_numbers
VOUCH_NUMBER_TYPES(QUANTIZED)
#define NUMBERS(isa) vouch_matmul *const vouch_numbers_##isa[VOUCH_TYPE_COUNT] = {VOUCH_NUMBER_TYPES(ENTRY)};
#else
#define NUMBERS(isa)
#endif

#if VOUCH_PART & VOUCH_PART_codes
VOUCH_CODE_TYPES(QUANTIZED)
#define CODES(isa) \
    vouch_matmul *const vouch_codes_##isa[VOUCH_TYPE_COUNT] = {VOUCH_CODE_TYPES(ENTRY) VOUCH_SHARED_CODES(SHARED)};
#else
#define CODES(isa)
#endif

#define KERNELS(isa) FLOATS(isa) NUMBERS(isa) CODES(isa)
