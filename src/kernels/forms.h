/* SPDX-License-Identifier: MIT */
/*
 * The layout of quantised weights in a tile of 16 outputs. Each type is one row of the table `vouch_forms`. Packing and
 * kernels follow from this row.
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
 * The value of a weight is its unsigned number minus `offset`, or the entry of VOUCH_IQ4_VALUES with that index. A
 * block has one or two runs of inputs. The run's scale multiplies the value, and types with minima add the run's
 * minimum.
 *
 * A unit is 2 or 8 blocks and their scales, in whole cache lines. A kernel reads it in ascending order:
 *
 *   2 blocks   [2][16] f16 scale | [2][16] f16 minimum | 2 blocks
 *   8 blocks   [16] f16 d | [16] f16 dmin | [8 * runs][16] s8 scale | [8 * runs][16] s8 minimum | pad to 64 bytes |
 *              8 blocks. scale = d * small scale, minimum = -dmin * small minimum. Where both are nibbles, one byte
 *              holds the scale (low) and the minimum (high)
 *
 * Types without minima leave the minima out. With an odd number of blocks, half of the last unit of 2 is unused.
 */
#ifndef VOUCH_KERNELS_FORMS_H
#define VOUCH_KERNELS_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tensor_type.h"

#define VOUCH_FLOAT_TYPES(X) X(F32) X(F16) X(BF16)
#define VOUCH_QUANTIZED_TYPES(X) \
    X(Q8_0) X(Q4_0) X(Q4_1) X(Q5_0) X(Q5_1) X(Q2_K) X(Q3_K) X(Q4_K) X(Q5_K) X(Q6_K) X(IQ4_NL) X(IQ4_XS)

/*
 * The sum of the activations' quants q in a run, as a type's kernel needs it. Types with an offset start the integer
 * dot product at -offset * sum (VOUCH_START_offset). Types with minima multiply the minimum by d * sum (VOUCH_SUM).
 * HALVES: a block has two runs.
 */
typedef enum vouch_sums {
    VOUCH_START_8,
    VOUCH_START_16,
    VOUCH_START_128,
    VOUCH_START_4_HALVES,
    VOUCH_START_32_HALVES,
    VOUCH_SUM,
    VOUCH_SUM_HALVES,
    VOUCH_SUMS_COUNT
} vouch_sums;

typedef struct vouch_sums_info {
    int32_t offset; /* not 0: start = VOUCH_ZERO_BITS - offset * sum; 0: s = d * sum */
    int32_t runs;   /* runs of a block: 1 or 2 */
} vouch_sums_info;

static const vouch_sums_info vouch_sums_infos[VOUCH_SUMS_COUNT] = {
    [VOUCH_START_8] = {8, 1},         [VOUCH_START_16] = {16, 1},        [VOUCH_START_128] = {128, 1},
    [VOUCH_START_4_HALVES] = {4, 2},  [VOUCH_START_32_HALVES] = {32, 2}, [VOUCH_SUM] = {0, 1},
    [VOUCH_SUM_HALVES] = {0, 2},
};

typedef enum vouch_scales { VOUCH_SCALES_HALF, VOUCH_SCALES_BYTE, VOUCH_SCALES_NIBBLE } vouch_scales;

typedef struct vouch_form {
    int32_t low, high;   /* bits of the planes; 0: not a quantised type */
    bool table;          /* the bits are an index into VOUCH_IQ4_VALUES */
    bool minimum;        /* the type has minima */
    vouch_scales scales; /* f16 per run in units of 2 blocks; bytes or nibbles, with d and dmin, in units of 8 */
    vouch_sums sums;     /* also determines the offset and the runs of a block */
} vouch_form;

static const vouch_form vouch_forms[VOUCH_TYPE_COUNT] = {
    [VOUCH_TYPE_Q8_0] = {8, 0, false, false, VOUCH_SCALES_HALF, VOUCH_START_128},
    [VOUCH_TYPE_Q4_0] = {4, 0, false, false, VOUCH_SCALES_HALF, VOUCH_START_8},
    [VOUCH_TYPE_Q4_1] = {4, 0, false, true, VOUCH_SCALES_HALF, VOUCH_SUM},
    [VOUCH_TYPE_Q5_0] = {4, 1, false, false, VOUCH_SCALES_HALF, VOUCH_START_16},
    [VOUCH_TYPE_Q5_1] = {4, 1, false, true, VOUCH_SCALES_HALF, VOUCH_SUM},
    [VOUCH_TYPE_Q2_K] = {2, 0, false, true, VOUCH_SCALES_NIBBLE, VOUCH_SUM_HALVES},
    [VOUCH_TYPE_Q3_K] = {2, 1, false, false, VOUCH_SCALES_BYTE, VOUCH_START_4_HALVES},
    [VOUCH_TYPE_Q4_K] = {4, 0, false, true, VOUCH_SCALES_BYTE, VOUCH_SUM},
    [VOUCH_TYPE_Q5_K] = {4, 1, false, true, VOUCH_SCALES_BYTE, VOUCH_SUM},
    [VOUCH_TYPE_Q6_K] = {4, 2, false, false, VOUCH_SCALES_BYTE, VOUCH_START_32_HALVES},
    [VOUCH_TYPE_IQ4_NL] = {4, 0, true, false, VOUCH_SCALES_HALF, VOUCH_START_128},
    [VOUCH_TYPE_IQ4_XS] = {4, 0, true, false, VOUCH_SCALES_BYTE, VOUCH_START_128},
};

/* The 16 values that the weights of IQ4_NL and IQ4_XS index. */
#define VOUCH_IQ4_VALUES -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113

static inline int32_t vouch_form_runs(vouch_form form) { return vouch_sums_infos[form.sums].runs; }
static inline int32_t vouch_form_offset(vouch_form form) { return vouch_sums_infos[form.sums].offset; }

/* Sizes of a unit: its number of blocks; bytes of a block; bytes of the scales and minima before the blocks; bytes of
 * the unit. */
static inline int32_t vouch_form_blocks(vouch_form form) { return form.scales == VOUCH_SCALES_HALF ? 2 : 8; }
static inline int32_t vouch_form_block_bytes(vouch_form form) { return 64 * (form.low + form.high); }
static inline int32_t vouch_form_head_bytes(vouch_form form)
{
    const int32_t numbers = 1 + form.minimum;
    if (form.scales == VOUCH_SCALES_HALF) return 64 * numbers;
    const int32_t small = form.scales == VOUCH_SCALES_NIBBLE ? 1 : numbers;
    return (32 * numbers + 128 * vouch_form_runs(form) * small + 63) / 64 * 64;
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
 * numbers or small integers. */
static inline int32_t vouch_form_scales_at(vouch_form form, int32_t b, int32_t r, int which)
{
    const int32_t runs = vouch_form_runs(form);
    if (form.scales == VOUCH_SCALES_HALF) return which * 64 + b * 32;
    const int32_t minima = form.scales == VOUCH_SCALES_NIBBLE ? 0 : 128 * runs * which;
    return 32 * (1 + form.minimum) + minima + (b * runs + r) * 16;
}

/* One lane of a block, unpacked: 32 weights of one output. */
typedef struct vouch_lane_block {
    int8_t values[32]; /* offset subtracted */
    float scale[2], minimum[2];
} vouch_lane_block;

/* Unpacks lane `lane` of block b of a unit. */
void vouch_form_read(vouch_form form, const unsigned char *unit, int32_t b, int lane, vouch_lane_block *out);

#endif
