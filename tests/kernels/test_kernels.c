/* SPDX-License-Identifier: MIT */
/*
 * Law L1 for single kernels. Every kernel table that this machine can run gives the same bits as the plain C table
 * (the reference), for every number of rows, every remainder of a tile, and extreme values. The reference itself is
 * compared with sums in double precision.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kernels/cache.h"
#include "kernels/tables.h"
#include "os/os.h"
#include "support/test.h"

enum { MAX_ROWS = 64, MAX_IN = 1024, MAX_OUT = 160 };

#define ITEM(type) VOUCH_TYPE_##type,
static const vouch_type types[] = {VOUCH_FLOAT_TYPES(ITEM) VOUCH_QUANTIZED_TYPES(ITEM)};
#undef ITEM
enum { N_TYPES = sizeof types / sizeof types[0] };

/* --------------------------------------------------------------- fixtures */

typedef enum pattern { RANDOM, ALL_00, ALL_7F, ALL_80, ALL_FF, ZERO_SCALE, DENORMAL, HUGE_SCALE, N_PATTERNS } pattern;

static void put_half(unsigned char *p, float value)
{
    const uint16_t half = vouch_float_to_half(value);
    memcpy(p, &half, 2);
}

static void make_value(unsigned char *to, vouch_type type, pattern how, float random)
{
    static const float singles[N_PATTERNS] = {0, -0.0f, 3e4f, -3e4f, 1, 0, 1e-41f, 6e8f};
    static const float halves[N_PATTERNS] = {0, -0.0f, 65504, -65504, 1, 0, 3e-7f, 6e4f};
    const float value = how == RANDOM ? random : type == VOUCH_TYPE_F16 ? halves[how] : singles[how];
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (type == VOUCH_TYPE_F32) memcpy(to, &value, 4);
    else if (type == VOUCH_TYPE_F16) put_half(to, value);
    else memcpy(to, &(uint16_t){(uint16_t)(bits >> 16)}, 2);
}

/* The f16 numbers in a block of each type: byte offset of the first, and their count. */
static const struct {
    int at, n;
} halves_of[VOUCH_TYPE_COUNT] = {
    [VOUCH_TYPE_Q8_0] = {0, 1},    [VOUCH_TYPE_Q4_0] = {0, 1},   [VOUCH_TYPE_Q4_1] = {0, 2},
    [VOUCH_TYPE_Q5_0] = {0, 1},    [VOUCH_TYPE_Q5_1] = {0, 2},   [VOUCH_TYPE_Q2_K] = {80, 2},
    [VOUCH_TYPE_Q3_K] = {108, 1},  [VOUCH_TYPE_Q4_K] = {0, 2},   [VOUCH_TYPE_Q5_K] = {0, 2},
    [VOUCH_TYPE_Q6_K] = {208, 1},  [VOUCH_TYPE_IQ4_NL] = {0, 1}, [VOUCH_TYPE_IQ4_XS] = {0, 1},
    [VOUCH_TYPE_TQ1_0] = {52, 1},  [VOUCH_TYPE_TQ2_0] = {64, 1}, [VOUCH_TYPE_IQ1_S] = {0, 1},
    [VOUCH_TYPE_IQ2_XXS] = {0, 1}, [VOUCH_TYPE_IQ2_XS] = {0, 1}, [VOUCH_TYPE_IQ2_S] = {0, 1},
    [VOUCH_TYPE_IQ3_XXS] = {0, 1}, [VOUCH_TYPE_IQ3_S] = {0, 1},
};

/* Writes the scales of MXFP4, NVFP4 and IQ1_M, which aren't whole f16 numbers. */
static void put_scales(unsigned char *block, vouch_type type, pattern how, float scale)
{
    if (type == VOUCH_TYPE_MXFP4) {
        block[0] = how == DENORMAL ? 0 : how == HUGE_SCALE ? 227 : (unsigned char)(124 + (int)(scale * 9));
    } else if (type == VOUCH_TYPE_NVFP4) {
        if (how == ZERO_SCALE || how == DENORMAL || how == HUGE_SCALE)
            memset(block, how == ZERO_SCALE ? 0 : how == DENORMAL ? 1 : 0x7e, 4);
    } else if (type == VOUCH_TYPE_IQ1_M) {
        const uint16_t half = vouch_float_to_half(scale);
        for (int i = 0; i < 4; i++)
            block[49 + 2 * i] = (unsigned char)((block[49 + 2 * i] & 15) | (half >> 4 * i & 15) << 4);
    }
}

/* Fills one block, in the layout of a GGUF file. */
static void make_block(unsigned char *block, vouch_type type, pattern how, test_random *random)
{
    static const int fills[N_PATTERNS] = {[ALL_00] = 0, [ALL_7F] = 0x7f, [ALL_80] = 0x80, [ALL_FF] = 0xff};
    const int32_t bytes = vouch_type_get_info(type)->block_bytes;
    const float value = test_uniform(random, -2, 2);
    if (!vouch_type_is_quantized(type)) {
        make_value(block, type, how, value);
        return;
    }
    for (int i = 0; i < bytes; i++) block[i] = (unsigned char)test_next(random);
    if (how >= ALL_00 && how <= ALL_FF) memset(block, fills[how], (size_t)bytes);
    const float scale = how == ZERO_SCALE ? 0 : how == DENORMAL ? 1e-6f : how == HUGE_SCALE ? 6e4f : value * 0.1f;
    for (int i = 0; i < halves_of[type].n; i++)
        put_half(block + halves_of[type].at + 2 * i, how >= ZERO_SCALE ? scale : scale / (float)(1 + 3 * i));
    put_scales(block, type, how, scale);
}

typedef struct fixture {
    vouch_matrix matrix;
    unsigned char *rows; /* [n_out, row_bytes], in the layout of a GGUF file */
    size_t row_bytes;
} fixture;

static fixture make_matrix(vouch_type type, int64_t n_out, int64_t n_in, pattern how, test_random *random)
{
    fixture f = {0};
    const vouch_type_info *info = vouch_type_get_info(type);
    assert_true(vouch_matrix_shape(&f.matrix, type, n_out, n_in));
    f.row_bytes = (size_t)(n_in / info->block_length * info->block_bytes);
    f.rows = malloc(f.row_bytes * (size_t)n_out);
    for (size_t i = 0; i < f.row_bytes * (size_t)n_out; i += (size_t)info->block_bytes)
        make_block(f.rows + i, type, how, random);
    f.matrix.data = vouch_os_aligned_take(64, vouch_matrix_bytes(&f.matrix));
    memset(f.matrix.data, 0xff, vouch_matrix_bytes(&f.matrix)); /* so that the tests notice a byte that packing skips */
    const int64_t middle = f.matrix.n_tiles / 2;
    vouch_matrix_pack(&f.matrix, f.rows, middle, f.matrix.n_tiles);
    vouch_matrix_pack(&f.matrix, f.rows, 0, middle);
    return f;
}

static void free_matrix(fixture *f)
{
    free(f->rows);
    vouch_os_aligned_free(f->matrix.data);
}

typedef struct buffers {
    int8_t q[MAX_ROWS * MAX_IN];
    float d[MAX_ROWS * MAX_IN / 32], x[MAX_ROWS * (MAX_IN + 16)];
    vouch_sum sums[VOUCH_SUMS_COUNT][MAX_ROWS * MAX_IN / 32 * 2];
} buffers;

static void set_quants(vouch_acts *acts, buffers *b)
{
    acts->q = b->q, acts->d = b->d;
    for (int i = 0; i < VOUCH_SUMS_COUNT; i++) acts->sums[i] = b->sums[i];
}

static vouch_acts prepare(const vouch_kernels *kernels, buffers *b, vouch_type type, const float *x, int64_t n_rows,
                          int64_t n_in)
{
    vouch_acts acts = {
        .n_rows = n_rows, .n_in = n_in, .group_rows = kernels->group_rows, .needs = vouch_type_needs(type)};
    if (vouch_type_is_quantized(type)) {
        set_quants(&acts, b);
        kernels->quantize(&acts, x, n_in, 0, n_rows, 0, n_in);
    } else {
        acts.x = b->x;
        kernels->interleave(&acts, x, n_in, 0, n_rows, 0, n_in);
    }
    return acts;
}

static float inputs[MAX_ROWS * MAX_IN];
static buffers memory;

static void fill_inputs(test_random *random, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        inputs[i] = test_normal(random) * (i % 7 == 0 ? 10.0f : 1.0f);
        if (i % 5 == 0) inputs[i] = 0;
    }
    for (int64_t i = 0; i + 32 <= n; i += 32 * 11) memset(&inputs[i], 0, 32 * sizeof(float));
}

/* ------------------------------------------------------------------ matmul */

static float expected[MAX_ROWS * MAX_OUT], actual[MAX_ROWS * MAX_OUT];

static vouch_result result_to(float *y, int64_t ldy)
{
    return (vouch_result){y, ldy, VOUCH_TILE, VOUCH_FROM_ZERO, NULL};
}

static void run_matmul(const vouch_kernels *kernels, const vouch_matrix *w, int64_t n_rows, vouch_start start,
                       float *out)
{
    const int64_t ldy = w->n_out + 3, middle = w->n_tiles / 2;
    float factors[MAX_ROWS];
    for (int i = 0; i < MAX_ROWS; i++) factors[i] = 0.7f + 0.1f * (float)i;
    for (int64_t j = 0; j < n_rows * ldy; j++) out[j] = (float)(j % 13) - 5.5f;
    const vouch_acts acts = prepare(kernels, &memory, w->type, inputs, n_rows, w->n_in);
    const vouch_result y = {out, ldy, VOUCH_TILE, start, start == VOUCH_FROM_ZERO ? factors : NULL};
    kernels->matmul[w->type](w, &acts, y, middle, w->n_tiles);
    kernels->matmul[w->type](w, &acts, y, 0, middle);
}

/* Compares one way of reading the weights with the expected results, bit for bit. */
static void compare_reading(const vouch_kernels *kernels, const vouch_matrix *w, int64_t n_rows, vouch_start start)
{
    run_matmul(kernels, w, n_rows, start, actual);
    /* The comparison includes the 3 unused floats after each row. */
    const size_t bytes = (size_t)(n_rows * (w->n_out + 3)) * sizeof(float);
    if (memcmp(expected, actual, bytes) == 0) return;
    fail_msg("%s, %s: [%lld, %lld] times %lld rows, %d tiles together", vouch_type_get_info(w->type)->name,
             kernels->name, (long long)w->n_out, (long long)w->n_in, (long long)n_rows,
             w->readings ? w->readings[0].tiles : 0);
}

/* Compares the matmul of every table with the reference, in every way of reading the weights. */
static void compare_matmul(const fixture *f, int64_t n_rows, vouch_start start)
{
    static const vouch_reading ways[] = {{1, 4096}, {2, 16384}};
    const vouch_kernels *kernels;
    vouch_reading readings[VOUCH_MAX_GROUP + 1];
    vouch_matrix w = f->matrix;
    run_matmul(&vouch_kernels_ref, &f->matrix, n_rows, start, expected);
    for (size_t i = 1; (kernels = vouch_kernels_get(i)) != NULL; i++) {
        compare_reading(kernels, &f->matrix, n_rows, start);
        for (size_t k = 0; vouch_type_is_quantized(w.type) && k < sizeof ways / sizeof ways[0]; k++) {
            for (int r = 0; r <= VOUCH_MAX_GROUP; r++) readings[r] = ways[k];
            w.readings = readings;
            compare_reading(kernels, &w, n_rows, start);
        }
    }
}

/* Covers all types, all tables, all row counts, partial tiles, partial units, and both starting values. */
static void test_matmul_equals_reference(void **state)
{
    (void)state;
    test_random random = {1};
    static const int64_t outs[] = {1, 15, 16, 17, 48, 150};
    fill_inputs(&random, MAX_ROWS * MAX_IN);
    for (size_t t = 0; t < N_TYPES; t++)
        for (size_t o = 0; o < sizeof outs / sizeof outs[0]; o++) {
            const int32_t block = vouch_type_get_info(types[t])->block_length;
            const int64_t n_in = block == 1     ? 1 + 13 * (int64_t)o
                                 : block == 256 ? block * (1 + (int64_t)o % 3)
                                                : block * (1 + (int64_t)o);
            fixture f = make_matrix(types[t], outs[o], n_in, RANDOM, &random);
            for (int64_t rows = 1; rows <= 17; rows++)
                compare_matmul(&f, rows, rows % 2 ? VOUCH_FROM_ZERO : VOUCH_FROM_Y);
            if (o % 2) compare_matmul(&f, 64, VOUCH_FROM_ZERO);
            free_matrix(&f);
        }
}

/* The largest weights times the largest activations: some kernels add these products in 16-bit lanes, which must not
 * overflow. */
static void test_matmul_extremes(void **state)
{
    (void)state;
    test_random random = {2};
    for (int how = 0; how < N_PATTERNS; how++)
        for (int input = 0; input < 4; input++) {
            fill_inputs(&random, 17 * 256);
            for (int64_t i = 0; i < 17 * 256 && input > 0; i++)
                inputs[i] = input == 1 ? 127 : input == 2 ? (i % 3 ? 127.0f : -127.0f) : 1e-38f * (float)(i % 9);
            for (size_t t = 0; t < N_TYPES; t++) {
                const int32_t block = vouch_type_get_info(types[t])->block_length;
                fixture f = make_matrix(types[t], 40, block > 32 ? 256 : 96, (pattern)how, &random);
                for (int64_t rows = 1; rows <= 17; rows += 4) compare_matmul(&f, rows, VOUCH_FROM_ZERO);
                free_matrix(&f);
            }
        }
}

/* A row gives the same result alone and beside other rows. */
static void test_rows_are_independent(void **state)
{
    (void)state;
    test_random random = {3};
    fill_inputs(&random, MAX_ROWS * MAX_IN);
    for (size_t t = 0; t < N_TYPES; t++) {
        fixture f = make_matrix(types[t], 33, 256, RANDOM, &random);
        const vouch_kernels *kernels;
        for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
            vouch_acts acts = prepare(kernels, &memory, types[t], inputs + 5 * 256, 1, 256);
            kernels->matmul[types[t]](&f.matrix, &acts, result_to(expected, 33), 0, 3);
            for (int64_t rows = 6; rows <= 17; rows++) {
                acts = prepare(kernels, &memory, types[t], inputs, rows, 256);
                kernels->matmul[types[t]](&f.matrix, &acts, result_to(actual, 33), 0, 3);
                assert_memory_equal(expected, actual + 5 * 33, 33 * sizeof(float));
            }
        }
        free_matrix(&f);
    }
}

/* Compares output o of the reference with a sum in double precision. Also checks that the tolerance is tight enough to
 * notice a missing last block. */
static void check_output(const fixture *f, const vouch_acts *acts, int64_t o)
{
    const int64_t n_in = f->matrix.n_in;
    double sum = 0, size = 0, without_last = 0;
    float row[MAX_IN];
    vouch_matrix_get_row(&f->matrix, o, row);
    for (int64_t k = 0; k < n_in; k++) {
        const double x = acts->q ? (double)acts->q[k] * (double)acts->d[k / 32] : (double)inputs[k];
        sum += (double)row[k] * x;
        size += fabs((double)row[k] * x);
        if (k < n_in - 32) without_last = sum;
    }
    const double most = 1e-6 * size + 256 * 0x1p-149; /* plus the smallest float for each of 256 inputs */
    assert_true(fabs(sum - (double)actual[o]) <= most);
    if (fabs(sum - without_last) > 1e-3 * size + 2 * most) assert_false(fabs(without_last - (double)actual[o]) <= most);
}

/* test_dequantize.c checks the dequantized values; this test checks the sums. */
static void test_reference_is_right(void **state)
{
    (void)state;
    test_random random = {4};
    fill_inputs(&random, MAX_ROWS * MAX_IN);
    for (size_t t = 0; t < N_TYPES; t++)
        for (int how = 0; how < N_PATTERNS; how++) {
            const int64_t n_in = 256, n_out = 37;
            fixture f = make_matrix(types[t], n_out, n_in, (pattern)how, &random);
            const vouch_acts acts = prepare(&vouch_kernels_ref, &memory, types[t], inputs, 1, n_in);
            vouch_kernels_ref.matmul[types[t]](&f.matrix, &acts, result_to(actual, n_out), 0, f.matrix.n_tiles);
            for (int64_t o = 0; o < n_out; o++) check_output(&f, &acts, o);
            free_matrix(&f);
        }
}

/* Packed weights take at most 1.07 times their bytes in the file. Types whose file holds indices of a codebook or
 * digits to base 3 are packed as single values, in at most the bits per weight that docs/performance.md states. */
static void test_packed_size(void **state)
{
    (void)state;
    static const double bits[VOUCH_TYPE_COUNT] = {
        [VOUCH_TYPE_TQ1_0] = 2.125,   [VOUCH_TYPE_IQ1_S] = 2.375,  [VOUCH_TYPE_IQ1_M] = 3.625,
        [VOUCH_TYPE_IQ2_XXS] = 3.375, [VOUCH_TYPE_IQ2_XS] = 3.625, [VOUCH_TYPE_IQ2_S] = 3.625,
        [VOUCH_TYPE_IQ3_XXS] = 4.375, [VOUCH_TYPE_IQ3_S] = 4.375,
    };
    for (size_t t = 0; t < N_TYPES; t++) {
        const vouch_type_info *info = vouch_type_get_info(types[t]);
        const double in_file = 8.0 * info->block_bytes / info->block_length;
        vouch_matrix m;
        assert_true(vouch_matrix_shape(&m, types[t], 1024, 3072));
        const double packed = 8.0 * (double)vouch_matrix_bytes(&m) / (1024 * 3072);
        assert_true(packed <= (bits[types[t]] > 0 ? bits[types[t]] : 1.07 * in_file));
    }
}

/* The comparisons above can fail: adding the blocks in reverse order gives other bits. */
static void test_other_order_differs(void **state)
{
    (void)state;
    test_random random = {5};
    fill_inputs(&random, MAX_IN);
    fixture f = make_matrix(VOUCH_TYPE_F32, 16, 512, RANDOM, &random);
    const vouch_acts acts = prepare(&vouch_kernels_ref, &memory, VOUCH_TYPE_F32, inputs, 1, 512);
    vouch_kernels_ref.matmul[VOUCH_TYPE_F32](&f.matrix, &acts, result_to(expected, 16), 0, 1);
    int differing = 0;
    for (int64_t o = 0; o < 16; o++) {
        float sum = 0;
        float row[512];
        vouch_matrix_get_row(&f.matrix, o, row);
        for (int64_t k = 511; k >= 0; k--) sum = fmaf(row[k], inputs[k], sum);
        differing += sum != expected[o];
    }
    assert_true(differing > 0);
    free_matrix(&f);
}

/* --------------------------------------------------------------- quantising */

/* Any two NaNs count as equal. */
static bool same_float(float one, float two)
{
    return one == two || (isnan(one) && isnan(two));
}

static void assert_same_quants(const vouch_acts *one, const vouch_acts *two)
{
    const int64_t n_blocks = one->n_rows * one->n_in / VOUCH_BLOCK;
    assert_memory_equal(one->q, two->q, (size_t)(n_blocks * VOUCH_BLOCK));
    for (int64_t b = 0; b < n_blocks; b++) assert_true(same_float(one->d[b], two->d[b]));
    for (int which = 0; which < VOUCH_SUMS_COUNT; which++) {
        const vouch_sums_info info = vouch_sums_infos[which];
        for (int64_t b = 0; b < n_blocks * info.runs; b++) {
            const vouch_sum a = one->sums[which][b], c = two->sums[which][b];
            assert_true(info.offset ? a.start == c.start : same_float(a.s, c.s));
        }
    }
}

static void test_quantize(void **state)
{
    (void)state;
    enum { N_IN = 96, STEP = 128 }; /* STEP: floats from one row to the next in the second half of the test */
    test_random random = {6};
    static buffers other;
    fill_inputs(&random, MAX_ROWS * STEP);
    inputs[3] = NAN, inputs[40] = INFINITY, inputs[70] = 1e-40f, inputs[200] = 3e38f;
    inputs[5 * STEP + 50] = -INFINITY;
    for (int64_t rows = 1; rows <= 35; rows++) {
        vouch_acts plain = {.n_rows = rows, .n_in = N_IN, .needs = VOUCH_NEEDS_QUANTS}, acts = plain;
        set_quants(&plain, &memory);
        set_quants(&acts, &other);
        const vouch_kernels *kernels;
        for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
            plain.group_rows = acts.group_rows = kernels->group_rows;
            vouch_kernels_ref.quantize(&plain, inputs, N_IN, 0, rows, 0, N_IN);
            kernels->quantize(&acts, inputs + rows / 2 * N_IN, N_IN, rows / 2, rows, 0, N_IN);
            kernels->quantize(&acts, inputs, N_IN, 0, rows / 2, 32, N_IN);
            kernels->quantize(&acts, inputs, N_IN, 0, rows / 2, 0, 32);
            assert_same_quants(&plain, &acts);
            /* Quantises a part of the matrix: the bytes around it stay as they were. */
            memset(&memory, 0x55, sizeof memory);
            memset(&other, 0x55, sizeof other);
            vouch_kernels_ref.quantize(&plain, inputs, STEP, rows / 3, rows - rows / 4, 32, 64);
            kernels->quantize(&acts, inputs, STEP, rows / 3, rows - rows / 4, 32, 64);
            assert_same_quants(&plain, &acts);
        }
    }
}

/* -------------------------------------- kernels of one row: norm, rope, ... */

static float a[3300], b[3300], c[3300];

static void fill(test_random *random, float *x, int64_t n, float size)
{
    for (int64_t i = 0; i < n; i++) x[i] = test_normal(random) * size;
}

static void test_row_functions(void **state)
{
    (void)state;
    test_random random = {7};
    float weight[1100];
    const vouch_kernels *kernels;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (int64_t n = 1; n < 1100; n += n < 70 ? 1 : 97) {
            fill(&random, c, 3300, 3);
            fill(&random, weight, n, 1);
            float squares[2][70];
            const int64_t n_tiles = (n + 15) / 16, middle = n_tiles / 2;
            vouch_kernels_ref.norm_part(a, squares[0], c, weight, n);
            kernels->norm_part(b + middle * 16, squares[1] + middle, c + middle * 16, weight + middle * 16,
                               n - middle * 16);
            kernels->norm_part(b, squares[1], c, weight, middle * 16);
            assert_memory_equal(a, b, (size_t)n * sizeof(float));
            assert_memory_equal(squares[0], squares[1], (size_t)n_tiles * sizeof(float));
            const float f = vouch_kernels_ref.norm_factor(squares[0], n, 1e-5f),
                        g = kernels->norm_factor(squares[1], n, 1e-5f);
            assert_memory_equal(&f, &g, sizeof f);
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += (double)c[j] * (double)c[j];
            assert_true(fabs((double)f * sqrt(sum / (double)n + 1e-5) - 1) < 1e-5);

            memcpy(a, c, sizeof a), memcpy(b, c, sizeof b);
            /* Floats from the beginning of one group of 16 to the next: 16, or more, which leaves a gap. */
            const int64_t chunk = n % 2 ? 16 : 16 + n % 31;
            const int64_t past = (n - 1) / 16 * chunk + (n - 1) % 16 + 1;
            a[past] = b[past] = 77; /* softmax must not write after its input */
            const float sum_a = vouch_kernels_ref.softmax(a, chunk, n), sum_b = kernels->softmax(b, chunk, n);
            assert_memory_equal(&sum_a, &sum_b, sizeof sum_a);
            assert_memory_equal(a, b, (size_t)(past + 1) * sizeof(float));

            fill(&random, a, n, 30);
            memcpy(b, a, sizeof b);
            a[n] = b[n] = 77;
            vouch_kernels_ref.swiglu(a, c, n), kernels->swiglu(b, c, n);
            assert_memory_equal(a, b, (size_t)(n + 1) * sizeof(float));
            vouch_kernels_ref.scale(a, 0.37f, n), kernels->scale(b, 0.37f, n);
            assert_memory_equal(a, b, (size_t)(n + 1) * sizeof(float));
        }
}

static void test_rope(void **state)
{
    (void)state;
    test_random random = {8};
    float cosines[128], sines[128];
    const vouch_kernels *kernels;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (int64_t n = 2; n <= 128; n += 2)
            for (int half = 0; half < 2; half++) {
                fill(&random, a, 128, 2);
                memcpy(b, a, sizeof b);
                for (int p = 0; p < 128; p++) cosines[p] = cosf((float)p), sines[p] = sinf((float)p);
                vouch_kernels_ref.rope(a, cosines, sines, n, half), kernels->rope(b, cosines, sines, n, half);
                assert_memory_equal(a, b, 130 * sizeof(float));
            }
}

static void test_find_max(void **state)
{
    (void)state;
    test_random random = {9};
    const vouch_kernels *kernels;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (int64_t n = 1; n < 300; n++) {
            float max;
            int32_t index;
            for (int64_t j = 0; j < n; j++) a[j] = (float)test_below(&random, 9) - 20; /* many equal values */
            assert_true(kernels->find_max(a, n, &max, &index));
            int32_t best = 0;
            for (int32_t j = 1; j < n; j++) best = a[j] > a[best] ? j : best;
            assert_int_equal(index, best);
            assert_true(max == a[best]);
            const int32_t bad = (int32_t)test_below(&random, (uint32_t)n);
            a[bad] = NAN;
            assert_false(kernels->find_max(a, n, &max, &index));
            assert_in_range(index, 0, n - 1);
            a[bad] = INFINITY;
            assert_false(kernels->find_max(a, n, &max, &index));
            for (int64_t j = 0; j < n; j++) a[j] = -INFINITY;
            assert_false(kernels->find_max(a, n, &max, &index));
            a[bad] = -1;
            assert_true(kernels->find_max(a, n, &max, &index));
            assert_int_equal(index, bad);
        }
}

static void test_exp_weights(void **state)
{
    (void)state;
    test_random random = {10};
    const vouch_kernels *kernels;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (int64_t n = 1; n < 1500; n += n < 40 ? 1 : 211) {
            fill(&random, c, n, 20);
            if (n > 2) c[1] = -INFINITY;
            float max = c[0];
            for (int64_t j = 1; j < n; j++) max = c[j] > max ? c[j] : max;
            const double sum_a = vouch_kernels_ref.exp_weights(a, c, n, max, 1.3f),
                         sum_b = kernels->exp_weights(b, c, n, max, 1.3f);
            assert_memory_equal(&sum_a, &sum_b, sizeof sum_a);
            assert_memory_equal(a, b, (size_t)n * sizeof(float));
            for (int64_t j = 0; j < n; j++) {
                const float t = (c[j] - max) * 1.3f; /* a float product, as in the kernels */
                const double exact = exp((double)t);
                assert_true(fabs((double)a[j] - exact) <= 2e-7 * exact + 2e-38);
            }
            if (n > 2 && max > -INFINITY) assert_true(a[1] == 0);
        }
}

static void test_cache_writes(void **state)
{
    (void)state;
    test_random random = {11};
    for (int type = VOUCH_TYPE_F32; type <= VOUCH_TYPE_F16; type++)
        for (int64_t width = 1; width < 70; width += width < 20 ? 1 : 11) {
            vouch_matrix shape;
            assert_true(vouch_matrix_shape(&shape, (vouch_type)type, width, width));
            const size_t bytes = vouch_matrix_bytes(&shape);
            vouch_matrix plain = shape, fast = shape;
            plain.data = vouch_os_aligned_take(64, bytes), fast.data = vouch_os_aligned_take(64, bytes);
            const vouch_kernels *kernels;
            for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
                memset(plain.data, 0, bytes), memset(fast.data, 0, bytes);
                fill(&random, c, width, i == 0 ? 1e5f : 1);
                c[0] = 1e-6f;
                memset(c + width, 0, 32 * sizeof(float)); /* kernels may write zeros after the width */
                const int64_t at = test_below(&random, (uint32_t)width);
                vouch_kernels_ref.set_row(&plain, at, c), kernels->set_row(&fast, at, c);
                vouch_kernels_ref.set_column(&plain, width - 1, c), kernels->set_column(&fast, width - 1, c);
                assert_memory_equal(plain.data, fast.data, bytes);
                float row[70];
                vouch_matrix_get_row(&fast, at, row);
                for (int64_t k = 0; k + 1 < width; k++)
                    assert_true(row[k] ==
                                (type == VOUCH_TYPE_F32 ? c[k] : vouch_half_to_float(vouch_float_to_half(c[k]))));
            }
            vouch_os_aligned_free(plain.data), vouch_os_aligned_free(fast.data);
        }
}

/* Adding one column at a time gives the same bits as one matmul over all columns. */
static void test_add_column(void **state)
{
    (void)state;
    test_random random = {12};
    enum { ROWS = 7, N_IN = 37 };
    fill_inputs(&random, ROWS * N_IN);
    for (int type = VOUCH_TYPE_F32; type <= VOUCH_TYPE_F16; type++)
        for (int64_t n_out = 1; n_out < 70; n_out += 11) {
            fixture f = make_matrix((vouch_type)type, n_out, N_IN, RANDOM, &random);
            const vouch_kernels *kernels;
            for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
                const vouch_acts acts = prepare(kernels, &memory, (vouch_type)type, inputs, ROWS, N_IN);
                kernels->matmul[type](&f.matrix, &acts, result_to(expected, n_out), 0, f.matrix.n_tiles);
                memset(actual, 0, sizeof actual);
                for (int64_t k = 0; k < N_IN; k++)
                    kernels->add_column(&f.matrix, k, inputs + k, N_IN, actual, n_out, ROWS);
                assert_memory_equal(expected, actual, (size_t)(ROWS * n_out) * sizeof(float));
                assert_true(actual[ROWS * n_out] == 0);
            }
            free_matrix(&f);
        }
}

/* -------------------------------------------------------- quantised caches */

static const vouch_type cache_types[] = {VOUCH_TYPE_Q8_0, VOUCH_TYPE_Q4_0};
enum { WIDEST = 128, SLOTS = 70 };

static vouch_matrix make_cache(bool is_keys, vouch_type type, int64_t width)
{
    vouch_matrix m;
    if (is_keys) assert_true(vouch_matrix_shape(&m, type, SLOTS, width));
    else assert_true(vouch_values_shape(&m, type, width, SLOTS));
    m.data = vouch_os_aligned_take(64, (vouch_matrix_bytes(&m) + 63) / 64 * 64);
    memset(m.data, 0x5a, vouch_matrix_bytes(&m));
    return m;
}

/* Element o of the value vector in a slot, decoded by the layout that cache.h draws. */
static float value_of(const vouch_matrix *values, int64_t o, int64_t slot)
{
    const int bytes = values->type == VOUCH_TYPE_Q8_0 ? 32 : 16, i = (int)(o % 32);
    const unsigned char *unit = values->data + (size_t)(o / 32) * values->tile_bytes + slot / 32 * 32 * (bytes + 2);
    const unsigned char *quants = unit + slot % 32 * bytes;
    uint16_t scale;
    memcpy(&scale, unit + 32 * bytes + slot % 32 * 2, sizeof scale);
    const int quant = values->type == VOUCH_TYPE_Q8_0 ? (int8_t)quants[i]
                      : i < 16                        ? (quants[i] & 15) - 8
                                                      : (quants[i - 16] >> 4) - 8;
    return vouch_half_to_float(scale) * (float)quant;
}

/* The error of each stored element stays within the type's limit: half a step of max / 127 for Q8_0; one step of
 * max / 8 for Q4_0, which can't store +8; plus the rounding of the scale to f16. */
static void check_block(vouch_type type, const float *x, const float *stored)
{
    float largest = 0;
    for (int i = 0; i < 32; i++) largest = fmaxf(largest, fabsf(x[i]));
    const float most = largest * (type == VOUCH_TYPE_Q8_0 ? 0.5f / 127 : 1.0f / 8) + largest * 0x1.02p-11f + 0x1p-20f;
    for (int i = 0; i < 32; i++) assert_true(fabsf(x[i] - stored[i]) <= most);
}

/* Every table writes the same bytes into the cache, and they decode to nearly the input. A write leaves no trace of the
 * slot's earlier content. Copying a slot piece by piece into another slot gives the bytes of a direct write. */
static void check_writes(const vouch_kernels *kernels, bool is_keys, vouch_type type, int64_t width,
                         test_random *random)
{
    vouch_matrix plain = make_cache(is_keys, type, width), fast = make_cache(is_keys, type, width);
    for (int64_t slot = 0; slot < SLOTS; slot++) {
        float row[WIDEST];
        fill(random, a, width, 5);
        fill(random, b, width, 1);
        if (slot == 3) memset(b, 0, sizeof b);
        const int64_t other = SLOTS - 1 - slot;
        (is_keys ? vouch_kernels_ref.set_row : vouch_kernels_ref.set_column)(&plain, slot, b);
        (is_keys ? kernels->set_row : kernels->set_column)(&fast, slot, a);
        (is_keys ? kernels->set_row : kernels->set_column)(&fast, slot, b);
        if (is_keys) vouch_matrix_get_row(&fast, slot, row);
        for (int64_t o = 0; o < width && !is_keys; o++) row[o] = value_of(&fast, o, slot);
        for (int64_t o = 0; o < width; o += 32) check_block(type, b + o, row + o);
        if (slot < other) continue;
        vouch_piece from;
        for (int64_t i = 0; (from = (is_keys ? vouch_key_piece : vouch_value_piece)(&fast, slot, i)).size; i++)
            memcpy((is_keys ? vouch_key_piece : vouch_value_piece)(&fast, other, i).at, from.at, from.size);
        (is_keys ? vouch_kernels_ref.set_row : vouch_kernels_ref.set_column)(&plain, other, b);
    }
    assert_memory_equal(plain.data, fast.data, vouch_matrix_bytes(&plain));
    vouch_os_aligned_free(plain.data), vouch_os_aligned_free(fast.data);
}

static void test_quantised_cache_writes(void **state)
{
    (void)state;
    test_random random = {14};
    const vouch_kernels *kernels;
    for (int t = 0; t < 2; t++)
        for (int64_t width = 32; width <= WIDEST; width += 32)
            for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++)
                for (int is_keys = 0; is_keys < 2; is_keys++)
                    check_writes(kernels, is_keys, cache_types[t], width, &random);
}

/* A NaN or an infinity turns its whole block into NaN and leaves the other blocks alone. Denormals become zero. */
static void test_quantised_cache_extremes(void **state)
{
    (void)state;
    for (int t = 0; t < 2; t++) {
        vouch_matrix values = make_cache(false, cache_types[t], 64);
        static const float bad[] = {NAN, INFINITY, -INFINITY};
        for (int i = 0; i < 3; i++) {
            for (int o = 0; o < 64; o++) c[o] = 1;
            c[40] = bad[i];
            vouch_kernels_ref.set_column(&values, 33, c);
            assert_true(value_of(&values, 31, 33) == 1 || t == 0);
            assert_true(fabsf(value_of(&values, 31, 33) - 1) < 1e-2f);
            assert_true(isnan(value_of(&values, 32, 33)) && isnan(value_of(&values, 63, 33)));
        }
        for (int o = 0; o < 64; o++) c[o] = o % 2 ? 1e-38f : -1e-41f;
        vouch_kernels_ref.set_column(&values, 33, c);
        for (int o = 0; o < 64; o++) assert_true(value_of(&values, o, 33) == 0);
        vouch_os_aligned_free(values.data);
    }
}

static void run_mix(const vouch_kernels *kernels, const vouch_matrix *values, int64_t rows, vouch_start start, float *y)
{
    const int64_t width = values->n_out;
    float factors[MAX_ROWS];
    for (int i = 0; i < MAX_ROWS; i++) factors[i] = 0.7f + 0.1f * (float)i;
    for (int64_t i = 0; i < rows * width; i++) y[i] = (float)(i % 13) - 5.5f;
    const vouch_acts acts = prepare(kernels, &memory, VOUCH_TYPE_F32, inputs, rows, values->n_in);
    kernels->mix[values->type](values, &acts,
                               (vouch_result){y, width, VOUCH_TILE, start, start == VOUCH_FROM_Y ? factors : NULL}, 0,
                               values->n_tiles);
}

/* Checks the reference's mix (attention weights times values) in double precision, then that every table gives its
 * bits, both in one call and slot by slot through add_column. */
static void check_mix(const vouch_matrix *values, int64_t rows)
{
    const int64_t width = values->n_out, n = values->n_in;
    const size_t bytes = (size_t)(rows * width) * sizeof(float);
    const vouch_kernels *kernels;
    run_mix(&vouch_kernels_ref, values, rows, VOUCH_FROM_ZERO, expected);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t o = 0; o < width; o++) {
            double sum = 0, size = 0;
            for (int64_t j = 0; j < n; j++) {
                const double product = (double)value_of(values, o, j) * (double)inputs[r * n + j];
                sum += product;
                size += fabs(product);
            }
            assert_true(fabs(sum - (double)expected[r * width + o]) <= 1e-6 * size);
        }
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
        run_mix(kernels, values, rows, VOUCH_FROM_ZERO, actual);
        assert_memory_equal(expected, actual, bytes);
        memset(actual, 0, bytes);
        for (int64_t j = 0; j < n; j++) kernels->add_column(values, j, inputs + j, n, actual, width, rows);
        assert_memory_equal(expected, actual, bytes);
    }
    run_mix(&vouch_kernels_ref, values, rows, VOUCH_FROM_Y, expected);
    for (size_t i = 1; (kernels = vouch_kernels_get(i)) != NULL; i++) {
        run_mix(kernels, values, rows, VOUCH_FROM_Y, actual);
        assert_memory_equal(expected, actual, bytes);
    }
}

static void test_attention_mix(void **state)
{
    (void)state;
    test_random random = {15};
    static const int64_t slots[] = {1, 15, 16, 33, SLOTS};
    fill_inputs(&random, MAX_ROWS * SLOTS);
    for (int t = 0; t < 2; t++)
        for (int64_t width = 32; width <= WIDEST; width += 32) {
            vouch_matrix values = make_cache(false, cache_types[t], width);
            for (int64_t slot = 0; slot < SLOTS; slot++) {
                fill(&random, c, width, 1);
                vouch_kernels_ref.set_column(&values, slot, c);
            }
            for (int n = 0; n < 5; n++) {
                values.n_in = slots[n];
                for (int64_t rows = 1; rows <= 17; rows++) check_mix(&values, rows);
            }
            vouch_os_aligned_free(values.data);
        }
}

/* A matmul can write its results in the layout that the next matmul takes as activations. */
static void test_result_layout(void **state)
{
    (void)state;
    test_random random = {13};
    enum { ROWS = 5, N_IN = 256, N_OUT = 48 };
    fill_inputs(&random, ROWS * N_IN);
    for (size_t t = 0; t < N_TYPES; t++) {
        fixture f = make_matrix(types[t], N_OUT, N_IN, RANDOM, &random);
        const vouch_kernels *kernels;
        for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
            vouch_acts acts = prepare(kernels, &memory, types[t], inputs, ROWS, N_IN);
            kernels->matmul[types[t]](&f.matrix, &acts, result_to(expected, N_OUT), 0, 3);
            const vouch_result chunks = {actual, 16, ROWS * 16, VOUCH_FROM_ZERO, NULL};
            kernels->matmul[types[t]](&f.matrix, &acts, chunks, 0, 3);
            acts = prepare(kernels, &memory, VOUCH_TYPE_F32, expected, ROWS, N_OUT);
            assert_memory_equal(acts.x, actual, ROWS * N_OUT * sizeof(float));
        }
        free_matrix(&f);
    }
}

/* --------------------------------------------- the same bits on all machines */

static void hash_floats(uint64_t *hash, const float *x, int64_t n)
{
    *hash = vouch_hash_bytes(*hash, x, (size_t)n * sizeof *x);
}

/* Made without log() and cos(), whose last bits differ between C libraries. */
static void fill_uniform(test_random *random, float *x, int64_t n, float size)
{
    for (int64_t i = 0; i < n; i++) x[i] = test_uniform(random, -size, size);
}

static void hash_matmuls(const vouch_kernels *kernels, uint64_t *hash)
{
    test_random random = {16};
    enum { N_IN = 512, N_OUT = 40, ROWS = 13 };
    fill_uniform(&random, inputs, ROWS * N_IN, 3);
    for (size_t t = 0; t < N_TYPES; t++) {
        fixture f = make_matrix(types[t], N_OUT, N_IN, RANDOM, &random);
        for (int64_t rows = 1; rows <= ROWS; rows += 4) {
            run_matmul(kernels, &f.matrix, rows, rows % 8 == 1 ? VOUCH_FROM_ZERO : VOUCH_FROM_Y, actual);
            hash_floats(hash, actual, rows * (N_OUT + 3));
        }
        free_matrix(&f);
    }
}

static void hash_caches(const vouch_kernels *kernels, uint64_t *hash)
{
    test_random random = {17};
    enum { WIDTH = 96, ROWS = 13 };
    fill_uniform(&random, inputs, ROWS * SLOTS, 1);
    for (size_t t = 0; t < sizeof cache_types / sizeof cache_types[0]; t++) {
        vouch_matrix keys = make_cache(true, cache_types[t], WIDTH), values = make_cache(false, cache_types[t], WIDTH);
        for (int64_t slot = 0; slot < SLOTS; slot++) {
            fill_uniform(&random, c, WIDTH, 2);
            kernels->set_row(&keys, slot, c), kernels->set_column(&values, slot, c);
            vouch_piece piece;
            for (int64_t i = 0; (piece = vouch_key_piece(&keys, slot, i)).size; i++)
                *hash = vouch_hash_bytes(*hash, piece.at, piece.size);
        }
        for (int64_t rows = 1; rows <= ROWS; rows += 4) {
            run_mix(kernels, &values, rows, rows % 8 == 1 ? VOUCH_FROM_ZERO : VOUCH_FROM_Y, actual);
            kernels->add_column(&values, rows, inputs, 1, actual, WIDTH, rows);
            hash_floats(hash, actual, rows * WIDTH);
        }
        vouch_os_aligned_free(keys.data), vouch_os_aligned_free(values.data);
    }
}

static void hash_row_functions(const vouch_kernels *kernels, uint64_t *hash)
{
    test_random random = {18};
    enum { MOST = 600 };
    for (int64_t n = 2; n < MOST; n += 26) {
        float squares[MOST / 16 + 1];
        fill_uniform(&random, a, n, 8);
        fill_uniform(&random, b, n, 8);
        kernels->norm_part(c, squares, a, b, n);
        const float factor = kernels->norm_factor(squares, n, 1e-5f);
        kernels->rope(c, a, b, n, n % 4 == 0);
        hash_floats(hash, c, n);
        kernels->swiglu(b, c, n);
        kernels->scale(b, factor, n);
        hash_floats(hash, b, n);
        const double sum = kernels->exp_weights(c, a, n, 8, 1.3f);
        hash_floats(hash, c, n);
        const float both[2] = {(float)sum, kernels->softmax(a, 16, n)};
        hash_floats(hash, both, 2);
        hash_floats(hash, a, n);
    }
}

/* Law L1 across architectures: on x86 and Arm, the results of every table have this hash. */
static void test_same_everywhere(void **state)
{
    (void)state;
    const vouch_kernels *kernels;
    for (size_t i = 0; (kernels = vouch_kernels_get(i)) != NULL; i++) {
        uint64_t hash = VOUCH_HASH_START;
        hash_matmuls(kernels, &hash);
        hash_caches(kernels, &hash);
        hash_row_functions(kernels, &hash);
        if (hash != 0xf84b9d469fddeede) fail_msg("%s: hash 0x%016llx", kernels->name, (unsigned long long)hash);
    }
}

static void test_half_floats(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        const float value = vouch_half_to_float((uint16_t)h);
        const uint32_t exponent = h >> 10 & 31, mantissa = h & 1023;
        const double size = exponent ? ldexp(1024 + mantissa, (int)exponent - 25) : ldexp(mantissa, -24);
        if (exponent == 31) assert_true(mantissa ? isnan(value) : isinf(value));
        else assert_true((double)value == (h & 0x8000 ? -size : size));
        if (!isnan(value)) assert_int_equal(vouch_float_to_half(value), h);
    }
    assert_int_equal(vouch_float_to_half(65519.996f), 0x7bff);
    assert_int_equal(vouch_float_to_half(65520.0f), 0x7c00);
    assert_int_equal(vouch_float_to_half(0x1p-25f), 0); /* halfway between 0 and the smallest: rounds to even */
    assert_int_equal(vouch_float_to_half(0x1.000002p-25f), 1);
    assert_int_equal(vouch_float_to_half(1 + 0x1p-11f), 0x3c00); /* halfway: rounds to even */
    assert_int_equal(vouch_float_to_half(1 + 0x3p-11f), 0x3c02);
    assert_true(isnan(vouch_half_to_float(vouch_float_to_half(NAN))));
}

static void test_tables(void **state)
{
    (void)state;
    assert_string_equal(vouch_kernels_get(0)->name, "ref");
    size_t n = 0;
    while (vouch_kernels_get(n)) {
        assert_ptr_equal(vouch_kernels_find(vouch_kernels_get(n)->name), vouch_kernels_get(n));
        assert_in_range(vouch_kernels_get(n)->group_rows, 1, VOUCH_MAX_GROUP);
        n++;
    }
    assert_ptr_equal(vouch_kernels_find(NULL), vouch_kernels_get(n - 1));
    assert_ptr_equal(vouch_kernels_find("auto"), vouch_kernels_get(n - 1));
    assert_null(vouch_kernels_find("sse9"));
    print_message("kernels here: %zu, widest %s\n", n, vouch_kernels_get(n - 1)->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_half_floats),
        cmocka_unit_test(test_reference_is_right),
        cmocka_unit_test(test_packed_size),
        cmocka_unit_test(test_other_order_differs),
        cmocka_unit_test(test_matmul_equals_reference),
        cmocka_unit_test(test_matmul_extremes),
        cmocka_unit_test(test_rows_are_independent),
        cmocka_unit_test(test_quantize),
        cmocka_unit_test(test_row_functions),
        cmocka_unit_test(test_rope),
        cmocka_unit_test(test_find_max),
        cmocka_unit_test(test_exp_weights),
        cmocka_unit_test(test_cache_writes),
        cmocka_unit_test(test_add_column),
        cmocka_unit_test(test_quantised_cache_writes),
        cmocka_unit_test(test_quantised_cache_extremes),
        cmocka_unit_test(test_attention_mix),
        cmocka_unit_test(test_result_layout),
        cmocka_unit_test(test_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
