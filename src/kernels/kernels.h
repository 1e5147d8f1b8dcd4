/* SPDX-License-Identifier: MIT */
/*
 * Kernels: all code that computes on arrays of numbers. Each instruction set has one table of functions, and the
 * program chooses one table at start. All tables give the same bits (law L1), because every float sum has one written
 * order:
 *
 *   matmul     One lane per output. A sum runs over the inputs in ascending order: block by block of 32 inputs for
 *              quantised weights (a block's dot product is an exact integer, and vector_quantized.h lists its few float
 *              operations), or one fused multiply-add per input for float weights. So no result depends on how many
 *              rows share the pass.
 *   row sums   (softmax) 16 virtual lanes: lane j adds the elements j, j + 16, ... in ascending order. Then the tree
 *              l[i] += l[i + 8], l[i] += l[i + 4], + 2, + 1 adds the lanes.
 *   norms      The tree adds the squares of 16 neighbours; a row sum adds these partial sums. So threads that own
 *              different columns of a row can each sum their own columns.
 *   attention  Scores and mixed values are matmuls, too. The keys of a head are a matrix [slots, width], so a score
 *              adds along the width. The values of a head are a matrix [width, slots], so an output adds over the slots
 *              in ascending order (cache.h).
 *   states     A lane is one channel, or one value of a head. Its sums run over the width of a convolution or over the
 *              keys of a state, in ascending order (vouch_conv, vouch_scan, vouch_channel_scan).
 *   exp        One polynomial (exp.h), and a series for softplus.
 *
 * ref.c says all this in plain C and is the definition. Tests compare every other table with ref.c bit for bit.
 *
 * Packed weights are tiles of 16 output rows. So one load serves a vector of outputs and every row of the pass:
 *
 *   quantised   forms.h
 *   floats      [n_in][16], numbers as in the file. The values of a KV cache have room for more inputs (slots) than
 *               they hold: tile_bytes covers the whole room, n_in counts the slots in use.
 *
 * The activations of a pass lie in groups of at most `group_rows` rows, so that every address in the inner loop is a
 * constant offset. n rows make ceil(n / group_rows) groups. Group i begins at row n * i / n_groups and has R rows:
 *
 *   quantised   q [n_in / 32][R][32] s8;  d [n_in / 32][R] f32;  x = d q;
 *               and the sums of forms.h that the weights need, each [n_in / 32][runs][R]
 *   float       x [n_in / 16, rounded up][R][16] f32. A matmul can write its results in this layout (vouch_result), so
 *               attention mixes values with softmax weights where the scores were written
 */
#ifndef VOUCH_KERNELS_KERNELS_H
#define VOUCH_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tensor_type.h"
#include "kernels/forms.h"

struct vouch_arena; /* base/memory.h. The kernels are built again only when what they need changes. */

enum { VOUCH_TILE = 16, VOUCH_BLOCK = 32, VOUCH_MAX_GROUP = 16 };
#define VOUCH_QUANT_MIN 1e-30f
#define VOUCH_INFINITY_BITS 0x7f800000 /* the bits of infinity */

/* How a kernel reads quantised weights: so many tiles together (1 or 2; each is a stream of its own), asking memory for
 * bytes so far ahead of its reads. Any choice gives the same bits, and which one is the fastest depends on the machine:
 * tune.h measures it. */
typedef struct vouch_reading {
    uint16_t tiles, ahead;
} vouch_reading;

/* The choice without a measurement. */
#define VOUCH_USUAL_READING {2, 8192}

/* A weight matrix [n_out, n_in], packed. `data` is 64-byte aligned. */
typedef struct vouch_matrix {
    vouch_type type;
    int64_t n_out, n_in;
    int64_t n_tiles;               /* ceil(n_out / 16); output rows from n_out on are zero */
    size_t tile_bytes;             /* a multiple of 64 */
    unsigned char *data;           /* [n_tiles][tile_bytes] */
    const vouch_reading *readings; /* [VOUCH_MAX_GROUP + 1], by the rows of a group; NULL: the usual one */
} vouch_matrix;

/* An integer sum starts at VOUCH_ZERO_BITS, the bits of the float VOUCH_ZERO. For |n| < 2^22, VOUCH_ZERO_BITS + n are
 * the bits of the float VOUCH_ZERO + n. So the finished sum is a float without a conversion instruction. */
#define VOUCH_ZERO 12582912.0f /* 1.5 * 2^23 */
enum { VOUCH_ZERO_BITS = 0x4b400000 };

typedef union vouch_sum {
    int32_t start;
    float s;
} vouch_sum;

/* The forms of activations that some weights need: one bit for each of vouch_sums, and one bit for floats. Each bit of
 * vouch_sums asks for the quants, too. */
typedef uint32_t vouch_needs;
#define VOUCH_NEEDS_FLOATS ((vouch_needs)1 << VOUCH_SUMS_COUNT)
#define VOUCH_NEEDS_QUANTS (VOUCH_NEEDS_FLOATS - 1)

/* The activations of a pass in the forms that its weights need. The arrays have room for the largest pass. */
typedef struct vouch_acts {
    int64_t n_rows, n_in;
    int32_t group_rows;
    vouch_needs needs;                 /* the sums that `quantize` writes */
    int8_t *q;                         /* [rows * n_in], for quantised weights */
    float *d;                          /* [rows * n_in / 32], for quantised weights */
    vouch_sum *sums[VOUCH_SUMS_COUNT]; /* sums of quants, those in `needs`: [rows * n_in / 32 * runs] */
    float *x;                          /* [rows * n_in rounded up to 16], for float weights */
} vouch_acts;

/* The start of a sum: zero, or the present value of y. Starting from y continues a sum, or adds to the residual
 * stream. */
typedef enum vouch_start { VOUCH_FROM_ZERO, VOUCH_FROM_Y } vouch_start;

/* The destination of results: output o of row r goes to y[r * row + o / 16 * tile + o % 16]. */
typedef struct vouch_result {
    float *y;
    int64_t row, tile;
    vouch_start start;
    const float *factors; /* [rows], multiplies each finished sum of the row; NULL: no factors */
} vouch_result;

/* A causal convolution of each channel over its last `width` inputs, with SiLU on its result where has_silu is set. */
typedef struct vouch_conv {
    int64_t n_channels, width;
    const float *weights; /* [width, n_channels], the weights of the oldest input first */
    const float *bias;    /* [n_channels]; NULL: none */
    bool has_silu;
} vouch_conv;

/* What one row does to a head whose state S [n_keys, n_values] is a matrix:
 *
 *   S = diag(decay) S
 *   d = rate (v - S^T k) with has_delta, else d = rate v
 *   S = S + k d^T
 *   y = S^T q + skip v
 *
 *   gated delta net         rate beta, decay exp(g) (Yang et al., arXiv 2412.06464)
 *   Kimi Delta Attention    the same with one decay per key (arXiv 2510.26692)
 *   Mamba-2                 without delta: k = B, q = C, v = x, rate dt, decay exp(dt A), skip D (arXiv 2405.21060)
 *   RWKV-6                  without delta, rate 1: y reads S before the row, skip = sum of u k q (arXiv 2404.05892)
 *   RWKV-7                  without delta, rate 1, skip 0; with `erase` the row's last update of S is
 *                           S = S + write (S_before^T erase)^T, where S_before is S before the row (arXiv 2503.14456)
 */
typedef struct vouch_scan {
    int64_t n_keys, n_values;
    const float *q, *k; /* [n_keys] */
    const float *v;     /* [n_values] */
    const float *decay; /* [n_keys] with decay_step 1; [1] for all keys with decay_step 0 */
    int64_t decay_step;
    float rate, skip;
    bool has_delta;
    bool reads_before;          /* y = S_before^T q + skip v; then neither has_delta nor `erase` */
    const float *erase, *write; /* [n_keys]; NULL: none */
} vouch_scan;

/* What one row does to channels that have a vector state s [n_state] each (Mamba; Gu, Dao, arXiv 2312.00752):
 *
 *   s = exp(dt a) s + dt x b
 *   y = s^T c + skip x
 *
 * The state and `a` are tiles of 16 channels, [n_channels / 16, rounded up][n_state][16]: the layout of a packed F32
 * matrix [n_channels, n_state]. Lanes from n_channels on are zero and stay zero. */
typedef struct vouch_channel_scan {
    int64_t n_channels, n_state;
    const float *a;
    const float *dt, *x, *skip; /* [n_channels] */
    const float *b, *c;         /* [n_state] */
} vouch_channel_scan;

/* y[r][o] = start + sum over k of w[o][k] x[r][k], for all rows r of x (at least one) and the outputs o of the tiles
 * [tile_begin, tile_end). Writes only outputs below n_out. */
typedef void vouch_matmul(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t tile_begin,
                          int64_t tile_end);

typedef struct vouch_kernels {
    const char *name;
    int32_t group_rows; /* most rows of a group of activations, <= VOUCH_MAX_GROUP */
    int32_t pair_rows;  /* most rows for which a reading of two tiles is one; more rows take one tile at a time */

    vouch_matmul *matmul[VOUCH_TYPE_COUNT];
    /* matmul for the values of a KV cache of this type (cache.h); x are floats. */
    vouch_matmul *mix[VOUCH_TYPE_COUNT];
    /* Adds one slot (one input) of a KV cache's values: y[i * ldy + o] += w[o][column] x[i * ldx], for rows i < n. */
    void (*add_column)(const vouch_matrix *w, int64_t column, const float *x, int64_t ldx, float *y, int64_t ldy,
                       int64_t n);
    /* Quantises the inputs [in_begin, in_end), whole blocks, of the rows [row_begin, row_end) into acts->q, acts->d and
     * the sums in acts->needs. x[i * ldx + k] is input k of row row_begin + i. For a block d = max |x| / 127 and
     * q = x * (127 / max |x|), rounded to nearest even. If max |x| is below VOUCH_QUANT_MIN, d and q are 0. If a value
     * isn't finite, d is NaN and q is 0. */
    void (*quantize)(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                     int64_t in_begin, int64_t in_end);
    /* Copies the same inputs to acts->x, as floats; in_begin is a multiple of 16. */
    void (*interleave)(vouch_acts *acts, const float *x, int64_t ldx, int64_t row_begin, int64_t row_end,
                       int64_t in_begin, int64_t in_end);

    /* RMSNorm (Zhang, Sennrich, arXiv 1910.07467) is factor * x * weight. Only the factor needs the whole row.
     * norm_part writes y = x * weight, and squares[i] = the sum of the squares of x[16 i, 16 i + 16), for i below
     * ceil(n / 16). y may be x. */
    void (*norm_part)(float *y, float *squares, const float *x, const float *weight, int64_t n);
    /* Returns 1 / sqrt(mean(x^2) + eps) of a row of n elements from its `squares`. */
    float (*norm_factor)(const float *squares, int64_t n, float eps);
    /* Rotates pairs by the angles of one position (Su et al., arXiv 2104.09864): x[i] = x[i] cos[i] + x[j] sin[i], j
     * being the other element of i's pair. cos, sin [n_rot]; sin is negated for the first element of a pair. Pairs are
     * (2i, 2i + 1), or with half_split (i, i + n_rot / 2). */
    void (*rope)(float *x, const float *cos, const float *sin, int64_t n_rot, bool half_split);
    void (*scale)(float *x, float factor, int64_t n);
    /* gate = silu(gate) * up, silu(z) = z / (1 + exp(-z)) (Shazeer, arXiv 2002.05202) */
    void (*swiglu)(float *gate, const float *up, int64_t n);

    /* Write one slot of a KV cache: a row of the keys (set_row), a column of the values (set_column). */
    void (*set_row)(vouch_matrix *w, int64_t row, const float *values);
    void (*set_column)(vouch_matrix *w, int64_t column, const float *values);
    /* Softmax without the division: x_j = exp(x_j - max x) for j < n; returns the sum. x_j is at
     * x[j / 16 * chunk + j % 16]. n >= 1. It reads all 16 floats from x[j / 16 * chunk] on. */
    float (*softmax)(float *x, int64_t chunk, int64_t n);

    /* The largest element of x [n] and its lowest index. False if an element is NaN or the largest isn't finite. */
    bool (*find_max)(const float *x, int64_t n, float *max, int32_t *index);
    /* w[i] = exp((x[i] - max) * scale); returns the sum in double precision: 16 lanes and the tree, as row sums. */
    double (*exp_weights)(float *w, const float *x, int64_t n, float max, float scale);

    /* x = ln(1 + exp(x)) */
    void (*softplus)(float *x, int64_t n);
    /* x = x / sqrt(row sum of squares + eps) */
    void (*l2_norm)(float *x, int64_t n, float eps);
    /* y = the convolution's results for the channels [begin, end). x [width]: pointers to the last `width` inputs,
     * oldest first, each [n_channels]. */
    void (*conv)(float *y, const vouch_conv *conv, const float *const *x, int64_t begin, int64_t end);
    /* Updates a head's state by one row and writes y [n_values]. `state` [n_keys, n_values] is read twice and written
     * once with the delta rule, read once and written once without. */
    void (*scan)(float *y, float *state, const vouch_scan *row);
    /* Updates the channels [begin, end), begin being a multiple of 16, and writes their y. */
    void (*scan_channels)(float *y, float *state, const vouch_channel_scan *row, int64_t begin, int64_t end);
} vouch_kernels;

/* The i-th table that this machine can run, narrowest vectors first; NULL past the last. */
const vouch_kernels *vouch_kernels_get(size_t i);
/* The table with this name; with NULL or "auto", the widest that this machine can run. Returns NULL if the name is
 * unknown or this machine can't run the table. */
const vouch_kernels *vouch_kernels_find(const char *name);

/* The address of the F16 or F32 value at (row, column). */
static inline unsigned char *vouch_matrix_element(const vouch_matrix *m, int64_t row, int64_t column)
{
    const int64_t size = m->type == VOUCH_TYPE_F16 ? 2 : 4;
    return m->data + (size_t)(row / VOUCH_TILE) * m->tile_bytes +
           (size_t)((column * VOUCH_TILE + row % VOUCH_TILE) * size);
}

/* Sets the shape of a packed matrix: its tiles and their bytes. False if the size exceeds size_t. */
bool vouch_matrix_shape(vouch_matrix *matrix, vouch_type type, int64_t n_out, int64_t n_in);
static inline size_t vouch_matrix_bytes(const vouch_matrix *m)
{
    return (size_t)m->n_tiles * m->tile_bytes;
}
/* Packs the tiles [tile_begin, tile_end) from `rows`, all rows of the matrix in the file's layout. */
void vouch_matrix_pack(vouch_matrix *matrix, const void *rows, int64_t tile_begin, int64_t tile_end);
/* Row `row` as floats, exactly the values that GGUF defines: out [n_in]. */
void vouch_matrix_get_row(const vouch_matrix *matrix, int64_t row, float *out);
/* Copies the rows rows[0, matrix->n_out) of `from`, in this order, and its readings. Both matrices have the same type
 * and n_in. */
void vouch_matrix_pick(vouch_matrix *matrix, const vouch_matrix *from, const int32_t *rows);
/* Whether the type's kernels take quantised activations. */
static inline bool vouch_type_is_quantized(vouch_type type)
{
    return vouch_forms[type].low != 0;
}

static inline vouch_needs vouch_type_needs(vouch_type type)
{
    return vouch_type_is_quantized(type) ? (vouch_needs)1 << vouch_forms[type].sums : VOUCH_NEEDS_FLOATS;
}

/* Takes room for activations of these forms. */
void vouch_acts_layout(vouch_acts *acts, size_t max_rows, size_t n_in, vouch_needs needs, struct vouch_arena *arena);

/* One group of activation rows: its first row, its number of rows, and the beginnings of its arrays. */
typedef struct vouch_group {
    int64_t begin, rows;
    int8_t *q;
    float *d, *x;
} vouch_group;

/* Few rows make one group. For this case, which decides decoding speed, the functions below avoid divisions. */
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

/* The array of one kind of sums of a group: [n_in / 32][runs][rows]. */
static inline vouch_sum *vouch_group_sums(const vouch_acts *acts, const vouch_group *group, vouch_sums which)
{
    return acts->sums[which] + group->begin * (acts->n_in / VOUCH_BLOCK) * vouch_sums_infos[which].runs;
}

/* The group that contains a row, and the row's index in it. */
static inline vouch_group vouch_group_of(const vouch_acts *acts, int64_t row, int64_t *row_in_group)
{
    int64_t i = 0;
    if (acts->n_rows > acts->group_rows) /* no group is larger than group_rows: the search starts at or before it */
        for (i = row / acts->group_rows; vouch_group_begin(acts, i + 1) <= row;) i++;
    const vouch_group group = vouch_group_at(acts, i);
    *row_in_group = row - group.begin;
    return group;
}

#endif
