/* SPDX-License-Identifier: MIT */
/*
 * The layout of quantised weights in a tile of 16 outputs. Each type is one row of the table `vouch_forms`. Packing and
 * kernels follow from this row. Tiles hold the bits of the file's weights, in another order. Codebooks (IQ1, IQ2, IQ3)
 * and numbers to base 3 (TQ1_0) take more bits than in the file, because vectors unpack single values faster than
 * groups of values. docs/performance.md lists the bits per weight.
 *
 * A block is 32 inputs, in 8 groups of 4 consecutive inputs. The unsigned bits of its weights are cut into a low and a
 * high plane. A plane of n bits is n vectors of [16 lanes][4] bytes; each byte holds bits of one input of each group
 * that shares the vector:
 *
 *   low 8 bits    vector g is group g
 *   low 4 bits    the low nibbles of vector g are group g, the high nibbles are group g + 4
 *   2 bits        bits 2i and 2i + 1 of vector h are group 4 h + i
 *   high 1 bit    bit g of the vector is group g
 *
 * The value of a weight is its unsigned number minus `offset`. The number consists of the weight's bits, or it is the
 * entry of the type's table (vouch_tables) with that index. A block has one or two runs of inputs. The run's scale
 * multiplies the value, and types with minima add the run's minimum.
 *
 * A unit is 2, 4 or 8 blocks and their scales, in whole cache lines. A kernel reads it in ascending order:
 *
 *   HALF          [2][16] f16 scale | [2][16] f16 minimum | 2 blocks
 *   POWER         [4][16] s8 n | 4 blocks; scale = 2^n
 *   E5M3          [2][2][16] u8 x | 2 blocks of two runs; scale = 2^116 * (the float whose bits are x << 20)
 *   UNIT          [16] f16 d | pad to 64 bytes | 8 blocks; scale = d
 *   BYTE, NIBBLE  [16] f16 d | [16] f16 dmin | [8 * runs][16] s8 scale | [8 * runs][16] s8 minimum | pad to 64 bytes |
 *                 8 blocks; scale = d * step * small scale, minimum = -dmin * small minimum. NIBBLE: one byte holds the
 *                 small scale (low) and the small minimum (high)
 *
 * Types without minima leave the minima out. Where the blocks of a row are no whole units, the rest of the last unit is
 * unused.
 */
#ifndef VOUCH_KERNELS_FORMS_H
#define VOUCH_KERNELS_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tensor_type.h"

#define VOUCH_FLOAT_TYPES(X) X(F32) X(F16) X(BF16)
#define VOUCH_QUANTIZED_TYPES(X) VOUCH_KERNEL_TYPES(X) X(TQ1_0) X(IQ1_M) X(IQ2_S) X(IQ3_S)
/* Types with kernels of their own: those whose weights are numbers, and those whose weights are codes of values. */
#define VOUCH_KERNEL_TYPES(X) VOUCH_NUMBER_TYPES(X) VOUCH_CODE_TYPES(X)
#define VOUCH_NUMBER_TYPES(X) X(Q8_0) X(Q4_0) X(Q4_1) X(Q5_0) X(Q5_1) X(Q2_K) X(Q3_K) X(Q4_K) X(Q5_K) X(Q6_K)
#define VOUCH_CODE_TYPES(X) \
    X(IQ4_NL) X(IQ4_XS) X(MXFP4) X(NVFP4) X(TQ2_0) X(IQ1_S) X(IQ2_XXS) X(IQ2_XS) X(IQ3_XXS)
/* Pairs (type, other): the type uses the other's kernels, because their forms differ in the table at most. */
#define VOUCH_SHARED_CODES(X) X(TQ1_0, TQ2_0) X(IQ1_M, IQ2_XS) X(IQ2_S, IQ2_XS) X(IQ3_S, IQ3_XXS)

/*
 * The sum of the activations' quants q in a run, as a type's kernel needs it. Types with an offset start the integer
 * dot product at -offset * sum (VOUCH_START_offset). Types with minima multiply the minimum by d * sum (VOUCH_SUM).
 * HALVES: a block has two runs.
 */
typedef enum vouch_sums {
    VOUCH_START_1,
    VOUCH_START_8,
    VOUCH_START_16,
    VOUCH_START_64,
    VOUCH_START_128,
    VOUCH_START_4_HALVES,
    VOUCH_START_16_HALVES,
    VOUCH_START_32_HALVES,
    VOUCH_START_64_HALVES,
    VOUCH_SUM,
    VOUCH_SUM_HALVES,
    VOUCH_SUMS_COUNT
} vouch_sums;

typedef struct vouch_sums_info {
    int32_t offset; /* not 0: start = VOUCH_ZERO_BITS - offset * sum; 0: s = d * sum */
    int32_t runs;   /* runs of a block: 1 or 2 */
} vouch_sums_info;

static const vouch_sums_info vouch_sums_infos[VOUCH_SUMS_COUNT] = {
    [VOUCH_START_1] = {1, 1},          [VOUCH_START_8] = {8, 1},
    [VOUCH_START_16] = {16, 1},        [VOUCH_START_64] = {64, 1},
    [VOUCH_START_128] = {128, 1},      [VOUCH_START_4_HALVES] = {4, 2},
    [VOUCH_START_16_HALVES] = {16, 2}, [VOUCH_START_32_HALVES] = {32, 2},
    [VOUCH_START_64_HALVES] = {64, 2}, [VOUCH_SUM] = {0, 1},
    [VOUCH_SUM_HALVES] = {0, 2},
};

typedef enum vouch_scales {
    VOUCH_SCALES_HALF,
    VOUCH_SCALES_POWER,
    VOUCH_SCALES_E5M3,
    VOUCH_SCALES_UNIT,
    VOUCH_SCALES_BYTE,
    VOUCH_SCALES_NIBBLE
} vouch_scales;

/* The values that weights index, plus the offset of the type's form. */
typedef enum vouch_table {
    VOUCH_TABLE_NONE,
    VOUCH_TABLE_IQ4,
    VOUCH_TABLE_E2M1,
    VOUCH_TABLE_IQ1_S,
    VOUCH_TABLE_IQ1_M,
    VOUCH_TABLE_IQ2,
    VOUCH_TABLE_IQ3_XXS,
    VOUCH_TABLE_IQ3_S,
    VOUCH_TABLES_COUNT
} vouch_table;

static const uint8_t vouch_tables[VOUCH_TABLES_COUNT][16] = {
    [VOUCH_TABLE_IQ4] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241},
    /* Twice the values of E2M1, the 4-bit floats of the OCP Microscaling Formats. */
    [VOUCH_TABLE_E2M1] = {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4},
    /* 8 (point - 1 + delta) of codebook.c, delta = 1/8; from index 4 on delta = -1/8. */
    [VOUCH_TABLE_IQ1_S] = {16 - 7, 16 + 1, 16 + 9},
    [VOUCH_TABLE_IQ1_M] = {64 - 7, 64 + 1, 64 + 9, 0, 64 - 9, 64 - 1, 64 + 7},
    /* The highest bit of an index is the sign. */
    [VOUCH_TABLE_IQ2] = {64 + 8, 64 + 25, 64 + 43, 0, 64 - 8, 64 - 25, 64 - 43},
    [VOUCH_TABLE_IQ3_XXS] = {68, 76, 84, 92, 100, 108, 116, 126, 60, 52, 44, 36, 28, 20, 12, 2},
    /* 4 (2 point + 1) of codebook.c, from index 8 on negated. */
    [VOUCH_TABLE_IQ3_S] = {68, 76, 84, 92, 100, 108, 116, 124, 60, 52, 44, 36, 28, 20, 12, 4},
};

typedef struct vouch_form {
    int32_t low, high; /* bits of the planes; 0: not a quantised type */
    vouch_table table;
    bool minimum; /* the type has minima */
    vouch_scales scales;
    vouch_sums sums; /* also determines the offset and the runs of a block */
    float step;      /* multiplies d; a power of 2 */
} vouch_form;

static const vouch_form vouch_forms[VOUCH_TYPE_COUNT] = {
    [VOUCH_TYPE_Q8_0] = {8, 0, VOUCH_TABLE_NONE, false, VOUCH_SCALES_HALF, VOUCH_START_128, 1},
    [VOUCH_TYPE_Q4_0] = {4, 0, VOUCH_TABLE_NONE, false, VOUCH_SCALES_HALF, VOUCH_START_8, 1},
    [VOUCH_TYPE_Q4_1] = {4, 0, VOUCH_TABLE_NONE, true, VOUCH_SCALES_HALF, VOUCH_SUM, 1},
    [VOUCH_TYPE_Q5_0] = {4, 1, VOUCH_TABLE_NONE, false, VOUCH_SCALES_HALF, VOUCH_START_16, 1},
    [VOUCH_TYPE_Q5_1] = {4, 1, VOUCH_TABLE_NONE, true, VOUCH_SCALES_HALF, VOUCH_SUM, 1},
    [VOUCH_TYPE_Q2_K] = {2, 0, VOUCH_TABLE_NONE, true, VOUCH_SCALES_NIBBLE, VOUCH_SUM_HALVES, 1},
    [VOUCH_TYPE_Q3_K] = {2, 1, VOUCH_TABLE_NONE, false, VOUCH_SCALES_BYTE, VOUCH_START_4_HALVES, 1},
    [VOUCH_TYPE_Q4_K] = {4, 0, VOUCH_TABLE_NONE, true, VOUCH_SCALES_BYTE, VOUCH_SUM, 1},
    [VOUCH_TYPE_Q5_K] = {4, 1, VOUCH_TABLE_NONE, true, VOUCH_SCALES_BYTE, VOUCH_SUM, 1},
    [VOUCH_TYPE_Q6_K] = {4, 2, VOUCH_TABLE_NONE, false, VOUCH_SCALES_BYTE, VOUCH_START_32_HALVES, 1},
    [VOUCH_TYPE_IQ4_NL] = {4, 0, VOUCH_TABLE_IQ4, false, VOUCH_SCALES_HALF, VOUCH_START_128, 1},
    [VOUCH_TYPE_IQ4_XS] = {4, 0, VOUCH_TABLE_IQ4, false, VOUCH_SCALES_BYTE, VOUCH_START_128, 1},
    [VOUCH_TYPE_MXFP4] = {4, 0, VOUCH_TABLE_E2M1, false, VOUCH_SCALES_POWER, VOUCH_START_16, 1},
    [VOUCH_TYPE_NVFP4] = {4, 0, VOUCH_TABLE_E2M1, false, VOUCH_SCALES_E5M3, VOUCH_START_16_HALVES, 1},
    [VOUCH_TYPE_TQ1_0] = {2, 0, VOUCH_TABLE_NONE, false, VOUCH_SCALES_UNIT, VOUCH_START_1, 1},
    [VOUCH_TYPE_TQ2_0] = {2, 0, VOUCH_TABLE_NONE, false, VOUCH_SCALES_UNIT, VOUCH_START_1, 1},
    [VOUCH_TYPE_IQ1_S] = {2, 0, VOUCH_TABLE_IQ1_S, false, VOUCH_SCALES_BYTE, VOUCH_START_16, 0.125f},
    [VOUCH_TYPE_IQ1_M] = {2, 1, VOUCH_TABLE_IQ1_M, false, VOUCH_SCALES_BYTE, VOUCH_START_64_HALVES, 0.125f},
    [VOUCH_TYPE_IQ2_XXS] = {2, 1, VOUCH_TABLE_IQ2, false, VOUCH_SCALES_BYTE, VOUCH_START_64, 0.125f},
    [VOUCH_TYPE_IQ2_XS] = {2, 1, VOUCH_TABLE_IQ2, false, VOUCH_SCALES_BYTE, VOUCH_START_64_HALVES, 0.125f},
    [VOUCH_TYPE_IQ2_S] = {2, 1, VOUCH_TABLE_IQ2, false, VOUCH_SCALES_BYTE, VOUCH_START_64_HALVES, 0.125f},
    [VOUCH_TYPE_IQ3_XXS] = {4, 0, VOUCH_TABLE_IQ3_XXS, false, VOUCH_SCALES_BYTE, VOUCH_START_64, 0.25f},
    [VOUCH_TYPE_IQ3_S] = {4, 0, VOUCH_TABLE_IQ3_S, false, VOUCH_SCALES_BYTE, VOUCH_START_64, 0.25f},
};

static inline int32_t vouch_form_runs(vouch_form form)
{
    return vouch_sums_infos[form.sums].runs;
}
static inline int32_t vouch_form_offset(vouch_form form)
{
    return vouch_sums_infos[form.sums].offset;
}

/* Sizes of a unit: its number of blocks; bytes of a block; bytes of its f16 numbers, which come first; bytes of all
 * scales and minima, which come before the blocks; bytes of the unit. */
static inline int32_t vouch_form_blocks(vouch_form form)
{
    if (form.scales == VOUCH_SCALES_HALF || form.scales == VOUCH_SCALES_E5M3) return 2;
    return form.scales == VOUCH_SCALES_POWER ? 4 : 8;
}
static inline int32_t vouch_form_block_bytes(vouch_form form)
{
    return 64 * (form.low + form.high);
}
static inline int32_t vouch_form_half_bytes(vouch_form form)
{
    if (form.scales == VOUCH_SCALES_POWER || form.scales == VOUCH_SCALES_E5M3) return 0;
    return (form.scales == VOUCH_SCALES_HALF ? 64 : 32) * (1 + form.minimum);
}
static inline int32_t vouch_form_head_bytes(vouch_form form)
{
    const int32_t bytes_per_run = form.scales == VOUCH_SCALES_HALF || form.scales == VOUCH_SCALES_UNIT ? 0
                                  : form.scales == VOUCH_SCALES_BYTE ? 1 + form.minimum
                                                                     : 1;
    const int32_t small = 16 * vouch_form_blocks(form) * vouch_form_runs(form) * bytes_per_run;
    return (vouch_form_half_bytes(form) + small + 63) / 64 * 64;
}
static inline int32_t vouch_form_unit_bytes(vouch_form form)
{
    return vouch_form_head_bytes(form) + vouch_form_blocks(form) * vouch_form_block_bytes(form);
}

/* Offset in bytes of block b in its unit. */
static inline int32_t vouch_form_block_at(vouch_form form, int32_t b)
{
    return vouch_form_head_bytes(form) + b * vouch_form_block_bytes(form);
}

/* Offset in bytes, in the unit, of the 16 scales (which = 0) or minima (which = 1) of run r of block b. They are f16
 * numbers (HALF) or bytes. UNIT has none. */
static inline int32_t vouch_form_scales_at(vouch_form form, int32_t b, int32_t r, int which)
{
    const int32_t runs = vouch_form_runs(form);
    if (form.scales == VOUCH_SCALES_HALF) return which * 64 + b * 32;
    const int32_t minima = form.scales == VOUCH_SCALES_BYTE ? 128 * runs * which : 0;
    return vouch_form_half_bytes(form) + minima + (b * runs + r) * 16;
}

/* One lane of a block, unpacked: 32 weights of one output. */
typedef struct vouch_lane_block {
    int8_t values[32]; /* offset subtracted */
    float scale[2], minimum[2];
} vouch_lane_block;

/* Unpacks lane `lane` of block b of a unit. */
void vouch_form_read(vouch_form form, const unsigned char *unit, int32_t b, int lane, vouch_lane_block *out);

#endif
