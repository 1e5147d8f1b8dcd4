/* SPDX-License-Identifier: MIT */
/* Matmuls of all weight types, and the caches of keys and values. */
#include <stdio.h>
#include <string.h>

#include "bits/operation.h"
#include "bits/values.h"
#include "kernels/cache.h"

#define ITEM(type) VOUCH_TYPE_##type,
static const vouch_type types[] = {VOUCH_FLOAT_TYPES(ITEM) VOUCH_QUANTIZED_TYPES(ITEM)};
#undef ITEM
enum { N_TYPES = sizeof types / sizeof *types };
enum { N_IN = 512, MOST_OUT = 40, MOST_ROWS = 17 };

int32_t bits_matmul_names(void)
{
    return N_TYPES + VOUCH_N_CACHE_TYPES;
}

typedef struct matmul {
    vouch_matrix w;
    int64_t rows;
    vouch_start start;
    bool is_mix;          /* w holds values of a cache */
    int64_t row;          /* floats from a row of results to the next */
    const float *before;  /* [rows][row] what the results' place holds before; NULL: anything */
    const float *factors; /* [rows] multiply the sums; NULL: none */
} matmul;

/* Quantises or copies the inputs in the form that the weights need, and multiplies in two calls. */
static int64_t matmul_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const matmul *m = arg;
    const int64_t n_in = m->w.n_in, middle = m->w.n_tiles / 2;
    const bool is_quantized = vouch_type_is_quantized(m->w.type) && !m->is_mix;
    vouch_acts acts = work->acts;
    if (m->before) memcpy(out, m->before, (size_t)(m->rows * m->row) * sizeof *out);
    acts.n_rows = m->rows, acts.n_in = n_in, acts.group_rows = kernels->group_rows;
    acts.needs = is_quantized ? vouch_type_needs(m->w.type) : VOUCH_NEEDS_FLOATS;
    if (is_quantized) kernels->quantize(&acts, work->inputs, n_in, 0, m->rows, 0, n_in);
    else kernels->interleave(&acts, work->inputs, n_in, 0, m->rows, 0, n_in);
    const vouch_result y = {out, m->row, VOUCH_TILE, m->start, m->factors};
    (m->is_mix ? kernels->mix : kernels->matmul)[m->w.type](&m->w, &acts, y, middle, m->w.n_tiles);
    (m->is_mix ? kernels->mix : kernels->matmul)[m->w.type](&m->w, &acts, y, 0, middle);
    return m->rows * m->row;
}

/* Three floats lie between two rows of results, and stay. */
static void matmul_compare(bits_work *work, matmul m)
{
    char shape[80];
    float factors[MOST_ROWS];
    m.row = m.w.n_out + 3;
    for (int i = 0; i < MOST_ROWS; i++) factors[i] = 0.7f + 0.1f * (float)i;
    for (int64_t i = 0; i < m.rows * m.row; i++) work->more[i] = (float)(i % 13) - 5.5f;
    m.before = work->more;
    m.factors = m.start == VOUCH_FROM_ZERO ? factors : NULL;
    snprintf(shape, sizeof shape, "[%lld, %lld] times %lld row%s, %s", (long long)m.w.n_out, (long long)m.w.n_in,
             (long long)m.rows, m.rows == 1 ? "" : "s", m.start == VOUCH_FROM_ZERO ? "from 0" : "from y");
    bits_compare(work, matmul_run, &m, shape);
}

/* Inputs of a few sizes: whole blocks of the largest quants, zeros, and ordinary ones. */
static void inputs_make(bits_work *work, bits_random *random)
{
    bits_fill(random, work->inputs, MOST_ROWS * N_IN, -3, 3);
    for (int64_t i = 0; i < MOST_ROWS * N_IN; i++) {
        if (i / 32 % 7 == 3) work->inputs[i] = i % 3 ? 127 : -127;
        if (i / 32 % 11 == 5) work->inputs[i] = 0;
        if (i % 41 == 0) work->inputs[i] *= 40;
    }
}

/* Packs the blocks in work->bytes. */
static void weights_pack(bits_work *work, vouch_matrix *w, vouch_type type, int64_t n_out, int64_t n_in)
{
    vouch_matrix_shape(w, type, n_out, n_in); /* small sizes fit */
    w->data = work->packed;
    vouch_matrix_pack(w, work->bytes, 0, w->n_tiles);
}

static void weights_make(bits_work *work, vouch_matrix *w, vouch_type type, int64_t n_out, int64_t n_in, uint64_t seed)
{
    const int32_t length = vouch_type_get_info(type)->block_length;
    bits_fill_blocks((int32_t)type, 0.3f, seed, 0, n_out * n_in / length, work->bytes);
    weights_pack(work, w, type, n_out, n_in);
}

static vouch_status type_check(bits_work *work, vouch_type type, vouch_error *err)
{
    static const int64_t outs[] = {MOST_OUT, 16, 17}, rows[] = {1, 2, 3, 4, 5, 8, 12, 13, 16, MOST_ROWS};
    static const vouch_reading ways[] = {VOUCH_USUAL_READING, {1, 4096}, {2, 16384}};
    const vouch_type_info *info = vouch_type_get_info(type);
    char name[32];
    snprintf(name, sizeof name, "matmul %s", info->name);
    VOUCH_TRY(bits_begin(work, name, err));
    for (size_t o = 0; o < sizeof outs / sizeof *outs; o++) {
        vouch_reading readings[VOUCH_MAX_GROUP + 1];
        matmul m = {0};
        bits_random random = {type + 100 * o};
        const int64_t n_in = o == 0 ? N_IN : info->block_length == 1 ? 77 : info->block_length * (1 + (int64_t)o % 2);
        inputs_make(work, &random);
        weights_make(work, &m.w, type, outs[o], n_in, random.state);
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            const vouch_reading way = ways[(o + r) % 3];
            for (int i = 0; i <= VOUCH_MAX_GROUP; i++) readings[i] = way;
            m.w.readings = vouch_type_is_quantized(type) ? readings : NULL;
            m.rows = rows[r];
            m.start = r % 2 ? VOUCH_FROM_Y : VOUCH_FROM_ZERO;
            matmul_compare(work, m);
        }
    }
    bits_end(work);
    return VOUCH_OK;
}

/* ------------------------------------------------------- the same as an operation */

/* A file's blocks are whole, and its results have no gaps. The first choice is the start of the sums. */
enum { IN, OUT, ROWS };

static bool is_weight(vouch_type type)
{
    for (int i = 0; i < N_TYPES; i++)
        if (types[i] == type) return true;
    return false;
}

static int64_t blocks_of(const bits_shape *s)
{
    return s->size[OUT] * (s->size[IN] / vouch_type_get_info(s->type)->block_length);
}

static void operation_fill(bits_work *work, const bits_shape *s)
{
    bits_random random = {s->type};
    inputs_make(work, &random);
    bits_fill(&random, work->more, s->size[ROWS] * (1 + s->size[OUT]), 0.5f, 2);
    bits_fill_blocks((int32_t)s->type, 0.3f, random.state, 0, blocks_of(s), work->bytes);
}

static void operation_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    const int64_t n = s->size[ROWS] * s->size[OUT], bytes = blocks_of(s) * vouch_type_get_info(s->type)->block_bytes;
    f->inputs[f->n_inputs++] = (bits_field){"weights", BITS_BYTE, bytes, work->bytes, 0};
    bits_add_input(f, "x", work->inputs, s->size[ROWS] * s->size[IN]);
    if (s->choice[0]) bits_add_input(f, "before", work->more, n);
    else bits_add_input(f, "factors", work->more, s->size[ROWS]);
    bits_add_result(f, "y", BITS_FLOAT, 0, n);
}

static int64_t operation_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const bits_shape *s = arg;
    matmul m = {.rows = s->size[ROWS], .row = s->size[OUT], .start = VOUCH_FROM_ZERO, .factors = work->more};
    if (s->choice[0]) m.start = VOUCH_FROM_Y, m.before = work->more, m.factors = NULL;
    weights_pack(work, &m.w, s->type, s->size[OUT], s->size[IN]);
    return matmul_run(work, kernels, &m, out);
}

const bits_operation bits_matmul = {
    .name = "matmul",
    .fill = operation_fill,
    .list = operation_list,
    .run = operation_run,
    .sizes = {{"n_in", 1, N_IN, 1}, {"n_out", 1, MOST_OUT, 1}, {"n_rows", 1, MOST_ROWS, 1}},
    .choices = {{"adds", 2}},
    .has_type = is_weight,
};

/* ------------------------------------------------------------------- caches */

enum { SLOTS = 37, WIDTH = 64, CACHE_ROWS = 13 };

typedef struct cache {
    vouch_matrix keys, values;
} cache;

/* Writes every slot twice, and tells the bytes of keys and values. Leaves the values in work->packed. */
static int64_t cache_write(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const cache *c = arg;
    vouch_matrix keys = c->keys, values = c->values;
    float row[WIDTH + 32] = {0}; /* kernels may read zeros after the width */
    bits_random random = {7};
    int64_t n = 0;
    memset(work->bytes, 0, BITS_BYTES), memset(work->packed, 0, BITS_BYTES);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t slot = 0; slot < SLOTS; slot++) {
            bits_fill(&random, row, WIDTH, -2, 2);
            kernels->set_row(&keys, slot, row), kernels->set_column(&values, slot, row);
        }
    for (int64_t slot = 0; slot < SLOTS; slot++)
        for (int is_key = 0; is_key < 2; is_key++) {
            vouch_piece piece;
            for (int64_t i = 0;
                 (piece = (is_key ? vouch_key_piece(&keys, slot, i) : vouch_value_piece(&values, slot, i))).size; i++)
                for (size_t b = 0; b < piece.size && n < BITS_MOST; b++) out[n++] = piece.at[b];
        }
    return n;
}

/* Adds slots one by one to a sum of mixed values. */
static int64_t column_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const cache *c = arg;
    for (int64_t i = 0; i < CACHE_ROWS * WIDTH; i++) out[i] = 0.25f * (float)(i % 7);
    for (int64_t slot = 0; slot < 5; slot++)
        kernels->add_column(&c->values, slot, work->inputs + slot, SLOTS, out, WIDTH, CACHE_ROWS);
    return CACHE_ROWS * WIDTH;
}

static vouch_status cache_check(bits_work *work, vouch_type type, vouch_error *err)
{
    const bool is_quantized = vouch_type_is_quantized(type);
    cache c;
    char name[32];
    snprintf(name, sizeof name, "cache %s", vouch_type_get_info(type)->name);
    VOUCH_TRY(bits_begin(work, name, err));
    vouch_matrix_shape(&c.keys, type, SLOTS, WIDTH); /* small sizes fit */
    vouch_values_shape(&c.values, type, WIDTH, SLOTS);
    c.keys.data = work->bytes, c.values.data = work->packed;
    bits_compare(work, cache_write, &c, "37 slots of width 64");
    bits_fill(&(bits_random){8}, work->inputs, CACHE_ROWS * WIDTH, -1, 1);
    for (int64_t rows = 1; rows <= CACHE_ROWS; rows += 3) {
        const vouch_start start = rows % 2 ? VOUCH_FROM_ZERO : VOUCH_FROM_Y;
        matmul_compare(work, (matmul){c.keys, rows, start, .is_mix = false});
        matmul_compare(work, (matmul){c.values, rows, start, .is_mix = is_quantized});
    }
    bits_compare(work, column_run, &c, "columns 0 to 4 of [64, 37] times 13 rows");
    bits_end(work);
    return VOUCH_OK;
}

vouch_status bits_check_matmuls(bits_work *work, vouch_error *err)
{
    for (int i = 0; i < N_TYPES; i++) VOUCH_TRY(type_check(work, types[i], err));
    for (int i = 0; i < VOUCH_N_CACHE_TYPES; i++) VOUCH_TRY(cache_check(work, vouch_cache_types[i], err));
    return VOUCH_OK;
}
