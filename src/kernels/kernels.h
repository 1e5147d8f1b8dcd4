/* SPDX-License-Identifier: MIT */
/*
 * Kernels: everything that touches numbers in bulk. One table of functions per instruction set, chosen
 * once; all of them give the same bits (law L1), because every float sum has one written order:
 *
 *   matmul     one lane per output row: sums ascend along the input, by blocks of 32 (quantised weights, whose
 *              dot products are exact integers; vector_quantized.h has the few float operations of a block) or
 *              one fused multiply-add a value (float weights). So no result depends on how many rows share the pass.
 *   sums over a row (softmax): 16 virtual lanes, lane j takes the elements j, j + 16, ... in ascending order,
 *              then the tree  l[i] += l[i + 8], + 4, + 2, + 1.
 *   norms      the squares of 16 neighbours by the tree, then these sums as a row's: so that threads which
 *              own different columns of a row can each sum their own.
 *   attention  scores and values are matmuls, too: the keys of a head are a matrix [slots, width], so a
 *              score ascends along the width; its values are a matrix [width, slots], so an output
 *              ascends over the slots (cache.h).
 *   exp        one polynomial (exp.h).
 *
 * ref.c says all this in plain C and is the definition; the others are compared with it bit for bit.
 *
 * Packed weights are tiles of 16 output rows, so that one load serves a vector of outputs and every row of the pass:
 *
 *   quantised   forms.h
 *   floats      [n_in][16], as in the file. A cache's matrix of values has room for more inputs (slots) than it has
 *               yet: tile_bytes is that of the room, n_in what is used.
 *
 * Layout of the activations of a pass, in groups of at most `group_rows` rows, so that every address in
 * the inner loop is a constant offset. The n rows make ceil(n / group_rows) groups; group i begins at
 * row n * i / n_groups and has R rows:
 *
 *   quantised   group: q [n_in / 32][8][R][4] s8;  d [n_in / 32][R] f32;  x = d q
 *               and of the sums in forms.h those that are needed, each [n_in / 32][runs][R]
 *   float       group: x [n_in / 16, rounded up][R][16] f32, which is also how a matmul can write its
 *               results (vouch_result), so that softmax weights need not be moved
 */
#ifndef VOUCH_KERNELS_KERNELS_H
#define VOUCH_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tensor_type.h"
#include "kernels/forms.h"

enum { VOUCH_TILE = 16, VOUCH_BLOCK = 32, VOUCH_MAX_GROUP = 16 };
#define VOUCH_QUANT_MIN 1e-30f
#define VOUCH_INFINITY_BITS 0x7f800000 /* of the float as an integer */

/* A weight matrix [n_out, n_in], packed. `data` is 64-byte aligned. */
typedef struct vouch_matrix {
    vouch_type type;
    int64_t n_out, n_in;
    int64_t n_tiles;     /* ceil(n_out / 16); rows past n_out are zero */
    size_t tile_bytes;   /* a multiple of 64 */
    unsigned char *data; /* [n_tiles][tile_bytes] */
} vouch_matrix;

/* An integer sum begins here, so that it needs no conversion: what |n| < 2^22 added to these bits makes of them are
 * the bits of VOUCH_ZERO + n. */
#define VOUCH_ZERO 12582912.0f /* 1.5 * 2^23 */
enum { VOUCH_ZERO_BITS = 0x4b400000 };

typedef union vouch_sum {
    int32_t start;
    float s;
} vouch_sum;

/* Which forms of activations are needed: a bit for each of vouch_sums, for all of which there are quants, too, and
 * one for floats. */
typedef uint32_t vouch_needs;
#define VOUCH_NEEDS_FLOATS ((vouch_needs)1 << VOUCH_SUMS_COUNT)
#define VOUCH_NEEDS_QUANTS (VOUCH_NEEDS_FLOATS - 1)

/* The activations of a pass, prepared for some kinds of weights. Sized for the most rows of a pass. */
typedef struct vouch_acts {
    int64_t n_rows, n_in;
    int32_t group_rows;
    vouch_needs needs;                  /* what quantize makes of the sums */
    int8_t *q;                          /* [rows * n_in], where the weights are quantised */
    float *d;                           /* [rows * n_in / 32] */
    vouch_sum *sums[VOUCH_SUMS_COUNT];  /* [rows * n_in / 32 * runs] each that is needed */
    float *x;                           /* [rows * n_in rounded up to 16], where the weights are floats */
} vouch_acts;

/* Where a sum starts: from zero, or from what y holds already, so that a sum can be continued and a
 * residual stream added to. */
typedef enum vouch_start { VOUCH_FROM_ZERO, VOUCH_FROM_Y } vouch_start;

/* Where results go: output o of row r to y[r * row + o / 16 * tile + o % 16]. */
typedef struct vouch_result {
    float *y;
    int64_t row, tile;
    vouch_start start;
    const float *factors; /* [rows] that a row's finished sums are multiplied by, or NULL */
} vouch_result;

typedef struct vouch_kernels {
    const char *name;
    int32_t group_rows; /* most rows of a group of activations, <= VOUCH_MAX_GROUP */

    /* y[r][o] = start + sum over k of w[o][k] x[r][k], for all rows r of x, at least one, and the outputs o of the
     * tiles [tile_begin, tile_end). Only outputs below n_out are written. */
    void (*matmul[VOUCH_TYPE_COUNT])(const vouch_matrix *w, const vouch_acts *x, vouch_result y,
                                     int64_t tile_begin, int64_t tile_end);
    /* The same where w are the values of a cache of that type (cache.h); x are floats. */
    void (*mix[VOUCH_TYPE_COUNT])(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t tile_begin,
                                  int64_t tile_end);
    /* One input more of a cache's values: y[i * ldy + o] += w[o][column] x[i * ldx], for the rows i < n. */
    void (*add_column)(const vouch_matrix *w, int64_t column, const float *x, int64_t ldx, float *y, int64_t ldy,
                       int64_t n);
    /* The inputs [in_begin, in_end) of the rows [row_begin, row_end), where x[i * ldx + k] is input k of row
     * row_begin + i, into acts->q, d and the needed sums; whole blocks. A block: d = max |x| / 127,
     * q = x * (127 / max |x|) rounded to nearest even; where max |x| is below VOUCH_QUANT_MIN all are 0, where a
     * value isn't finite d = NaN and q = 0. */
    void (*quantize)(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                     int64_t in_begin, int64_t in_end);
    /* The same inputs into acts->x; in_begin is a multiple of 16. */
    void (*interleave)(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                       int64_t in_begin, int64_t in_end);

    /* RMSNorm (Zhang, Sennrich, arXiv 1910.07467) is factor * x * weight, where the factor needs the whole row and
     * the rest does not. y = x * weight; squares[i] = the sum of the squares of x[16 i, 16 i + 16), i < n / 16 rounded
     * up. y may be x. */
    void (*norm_part)(float *y, float *squares, const float *x, const float *weight, int64_t n);
    /* 1 / sqrt(mean(x^2) + eps) from the squares of a row of n. */
    float (*norm_factor)(const float *squares, int64_t n, float eps);
    /* Rotates pairs by the angles of one position: x[i] = x[i] cos[i] + x[i's partner] sin[i]; cos, sin [n_rot],
     * where the sine of a pair's first element is the negative one. Pairs are (2i, 2i + 1), or (i, i + n_rot / 2)
     * where `half_split` (Su et al., arXiv 2104.09864). */
    void (*rope)(float *x, const float *cos, const float *sin, int64_t n_rot, bool half_split);
    void (*scale)(float *x, float factor, int64_t n);
    /* gate = silu(gate) * up, silu(z) = z / (1 + exp(-z)) (Shazeer, arXiv 2002.05202) */
    void (*swiglu)(float *gate, const float *up, int64_t n);

    /* Writes one output row of a cache's keys, one input column of its values. */
    void (*set_row)(vouch_matrix *w, int64_t row, const float *values);
    void (*set_column)(vouch_matrix *w, int64_t column, const float *values);
    /* x_j = exp(x_j - max x), j < n, where x_j is x[j / 16 * chunk + j % 16]; returns the sum. n >= 1. */
    float (*softmax)(float *x, int64_t chunk, int64_t n);

    /* The largest of x [n] and its lowest index; false where one is NaN or the largest isn't finite. */
    bool (*find_max)(const float *x, int64_t n, float *max, int32_t *index);
    /* w[i] = exp((x[i] - max) * scale); returns the sum in double: 16 lanes and the tree, as above. */
    double (*exp_weights)(float *w, const float *x, int64_t n, float max, float scale);
} vouch_kernels;

/* The i-th table this machine can run, narrowest first; NULL past the last. */
const vouch_kernels *vouch_kernels_get(size_t i);
/* By name; NULL or "auto": the widest. NULL where unknown or not runnable here. */
const vouch_kernels *vouch_kernels_find(const char *name);

/* The F16 or F32 value at (row, column), its bytes. */
static inline unsigned char *vouch_matrix_element(const vouch_matrix *m, int64_t row, int64_t column)
{
    const int64_t size = m->type == VOUCH_TYPE_F16 ? 2 : 4;
    return m->data + (size_t)(row / VOUCH_TILE) * m->tile_bytes +
           (size_t)((column * VOUCH_TILE + row % VOUCH_TILE) * size);
}

/* Bytes of a packed matrix and of one of its tiles. False where it does not fit into size_t. */
bool vouch_matrix_shape(vouch_matrix *matrix, vouch_type type, int64_t n_out, int64_t n_in);
static inline size_t vouch_matrix_bytes(const vouch_matrix *m)
{
    return (size_t)m->n_tiles * m->tile_bytes;
}
/* Packs the tiles [tile_begin, tile_end) from rows in the file's layout. */
void vouch_matrix_pack(vouch_matrix *matrix, const void *rows, int64_t tile_begin, int64_t tile_end);
/* Row `row` as floats, exactly as GGUF defines them: out [n_in]. */
void vouch_matrix_get_row(const vouch_matrix *matrix, int64_t row, float *out);
/* The rows rows[0, matrix->n_out) of another matrix of the same type and width, in this order. */
void vouch_matrix_pick(vouch_matrix *matrix, const vouch_matrix *from, const int32_t *rows);
/* True where the type's kernels want quantised activations. */
static inline bool vouch_type_is_quantized(vouch_type type)
{
    return vouch_forms[type].low != 0;
}

static inline vouch_needs vouch_type_needs(vouch_type type)
{
    return vouch_type_is_quantized(type) ? (vouch_needs)1 << vouch_forms[type].sums : VOUCH_NEEDS_FLOATS;
}

/* One group of activation rows: where its arrays begin. */
typedef struct vouch_group {
    int64_t begin, rows;
    int8_t *q;
    float *d, *x;
} vouch_group;

/* Where few rows make one group, which is the case that matters, nothing is divided. */
static inline int64_t vouch_n_groups(const vouch_acts *acts)
{
    return acts->n_rows <= acts->group_rows ? 1 : (acts->n_rows + acts->group_rows - 1) / acts->group_rows;
}

static inline int64_t vouch_group_begin(const vouch_acts *acts, int64_t i)
{
    return i == 0 ? 0 : acts->n_rows <= acts->group_rows ? acts->n_rows : acts->n_rows * i / vouch_n_groups(acts);
}

static inline vouch_group vouch_group_at(const vouch_acts *acts, int64_t i)
{
    const int64_t begin = vouch_group_begin(acts, i);
    vouch_group group = {.begin = begin, .rows = vouch_group_begin(acts, i + 1) - begin};
    if (acts->q) {
        const int64_t blocks = begin * (acts->n_in / VOUCH_BLOCK);
        group.q = acts->q + begin * acts->n_in;
        group.d = acts->d + blocks;
    }
    if (acts->x) group.x = acts->x + begin * ((acts->n_in + 15) / 16 * 16);
    return group;
}

/* Of a group, [n_in / 32][runs][rows]. */
static inline vouch_sum *vouch_group_sums(const vouch_acts *acts, const vouch_group *group, vouch_sums which)
{
    return acts->sums[which] + group->begin * (acts->n_in / VOUCH_BLOCK) * vouch_sums_infos[which].runs;
}

/* The group that holds a row, and the row's place in it. */
static inline vouch_group vouch_group_of(const vouch_acts *acts, int64_t row, int64_t *place)
{
    int64_t i = 0;
    if (acts->n_rows > acts->group_rows)
        for (i = row / acts->group_rows; vouch_group_begin(acts, i + 1) <= row;) i++; /* no group is larger */
    const vouch_group group = vouch_group_at(acts, i);
    *place = row - group.begin;
    return group;
}

#endif
