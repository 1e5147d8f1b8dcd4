/* SPDX-License-Identifier: MIT */
/*
 * The kernels in vectors: included once by each instruction set's file, after the header with its vector
 * (vf: VL float lanes, vi: the same of integers; PARTS of them make the 16 lanes of a tile).
 *
 * Bits are those of ref.c because lanes never mix: a lane of a matmul is one output, which takes the same
 * operations in the same order here and there; how many rows and tiles are walked together (R and T below,
 * constants after inlining) only decides which independent sums share the loaded operands. The sums over a
 * row keep the 16 virtual lanes and their tree.
 */
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

#define FLOAT(type)                                                                                         \
    static void matmul_##type(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t begin, int64_t end) \
    {                                                                                                       \
        matmul_float(VOUCH_TYPE_##type, w, x, &y, begin, end);                                              \
    }
#define QUANTIZED(type)                                                                                     \
    static void matmul_##type(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t begin, int64_t end) \
    {                                                                                                       \
        matmul_quantized(vouch_forms[VOUCH_TYPE_##type], w, x, &y, begin, end);                             \
    }
VOUCH_FLOAT_TYPES(FLOAT)
VOUCH_QUANTIZED_TYPES(QUANTIZED)
#undef FLOAT
#undef QUANTIZED

#define MIX(type)                                                                                           \
    static void mix_##type(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t begin, int64_t end) \
    {                                                                                                       \
        mix_slots(VOUCH_TYPE_##type, w, x, &y, begin, end);                                                 \
    }
MIX(Q8_0)
MIX(Q4_0)
#undef MIX

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
