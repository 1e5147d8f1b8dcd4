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

#include "kernels/exp.h"
#include "kernels/tables.h"

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

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
#include "kernels/vector_rows.h"

#define MATMUL(name, kind, what)                                                                 \
    static void matmul_##name(const vouch_matrix *w, const vouch_acts *x, vouch_result y,        \
                              int64_t tile_begin, int64_t tile_end)                              \
    {                                                                                            \
        matmul_##kind(what, w, x, &y, tile_begin, tile_end);                                     \
    }
MATMUL(f32, float, false)
MATMUL(f16, float, true)
MATMUL(q4_0, quantized, VOUCH_TYPE_Q4_0)
MATMUL(q4_1, quantized, VOUCH_TYPE_Q4_1)
MATMUL(q8_0, quantized, VOUCH_TYPE_Q8_0)
#undef MATMUL

#define KERNELS(isa)                                                       \
    {                                                                      \
        .name = isa, .group_rows = GROUP_ROWS, .float_rows = VL_MOST_FLOAT_ROWS, \
        .matmul = {[VOUCH_TYPE_F32] = matmul_f32,                          \
                   [VOUCH_TYPE_F16] = matmul_f16,                          \
                   [VOUCH_TYPE_Q4_0] = matmul_q4_0,                        \
                   [VOUCH_TYPE_Q4_1] = matmul_q4_1,                        \
                   [VOUCH_TYPE_Q8_0] = matmul_q8_0},                       \
        .add_column = add_column, .quantize = quantize, .interleave = interleave, \
        .norm_part = norm_part, .norm_factor = norm_factor, .rope = rope, .scale = scale,                \
        .swiglu = swiglu, .set_row = set_row, .set_column = set_column,    \
        .softmax = softmax, .find_max = find_max, .exp_weights = exp_weights, \
    }
