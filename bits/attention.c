/* SPDX-License-Identifier: MIT */
/* Attention of one KV head over one page of its cache, as model/pass/attention.c runs it. */
#include <string.h>

#include "bits/operation.h"
#include "bits/values.h"
#include "kernels/cache.h"

enum { WIDTH, SLOTS, QUERIES }; /* sizes */
enum { MOST_WIDTH = 128, MOST_SLOTS = 48, MOST_QUERIES = 4 };
_Static_assert((MOST_QUERIES + 2 * MOST_SLOTS) * MOST_WIDTH <= BITS_MOST, "queries, keys and values fit");

static bool is_cache(vouch_type type)
{
    int i = 0;
    while (i < VOUCH_N_CACHE_TYPES && vouch_cache_types[i] != type) i++;
    return i < VOUCH_N_CACHE_TYPES;
}

static float *keys_of(const bits_work *work)
{
    return work->inputs + MOST_QUERIES * MOST_WIDTH;
}

static float *values_of(const bits_work *work)
{
    return keys_of(work) + MOST_SLOTS * MOST_WIDTH;
}

static void attention_fill(bits_work *work, const bits_shape *s)
{
    bits_random random = {s->type};
    bits_fill(&random, work->inputs, s->size[QUERIES] * s->size[WIDTH], -2, 2);
    bits_fill(&random, keys_of(work), s->size[SLOTS] * s->size[WIDTH], -2, 2);
    bits_fill(&random, values_of(work), s->size[SLOTS] * s->size[WIDTH], -1, 1);
    work->scalars[0] = 0.18f;
}

static void attention_list(bits_work *work, const bits_shape *s, bits_fields *f)
{
    const int64_t n = s->size[QUERIES] * s->size[WIDTH];
    bits_add_input(f, "q", work->inputs, n);
    bits_add_input(f, "k", keys_of(work), s->size[SLOTS] * s->size[WIDTH]);
    bits_add_input(f, "v", values_of(work), s->size[SLOTS] * s->size[WIDTH]);
    bits_add_input(f, "scale", work->scalars, 1);
    bits_add_result(f, "y", BITS_FLOAT, 0, n);
}

/* Keys go to work->bytes, values to work->packed. */
static void slots_write(bits_work *work, const vouch_kernels *kernels, const bits_shape *s, vouch_matrix *keys,
                        vouch_matrix *values)
{
    const int64_t width = s->size[WIDTH];
    float row[MOST_WIDTH + VOUCH_BLOCK] = {0};                /* kernels may read zeros after the width */
    vouch_matrix_shape(keys, s->type, s->size[SLOTS], width); /* small sizes fit */
    vouch_values_shape(values, s->type, width, s->size[SLOTS]);
    keys->data = work->bytes, values->data = work->packed;
    memset(work->bytes, 0, BITS_BYTES), memset(work->packed, 0, BITS_BYTES);
    for (int64_t slot = 0; slot < s->size[SLOTS]; slot++) {
        memcpy(row, keys_of(work) + slot * width, (size_t)width * sizeof *row);
        kernels->set_row(keys, slot, row);
        memcpy(row, values_of(work) + slot * width, (size_t)width * sizeof *row);
        kernels->set_column(values, slot, row);
    }
}

/* Scales the queries and multiplies the keys by them: scores [slots / 16][queries][16]. */
static void scores_compute(bits_work *work, const vouch_kernels *kernels, const vouch_matrix *keys, int64_t n,
                           float *scores)
{
    const int64_t width = keys->n_in;
    vouch_acts queries = work->acts;
    float scaled[MOST_QUERIES * MOST_WIDTH];
    memcpy(scaled, work->inputs, (size_t)(n * width) * sizeof *scaled);
    kernels->scale(scaled, work->scalars[0], n * width);
    queries.n_rows = n, queries.n_in = width, queries.group_rows = kernels->group_rows;
    queries.needs = vouch_type_needs(keys->type);
    if (queries.needs & VOUCH_NEEDS_QUANTS) kernels->quantize(&queries, scaled, width, 0, n, 0, width);
    else kernels->interleave(&queries, scaled, width, 0, n, 0, width);
    const vouch_result to = {scores, VOUCH_TILE, VOUCH_TILE * n, VOUCH_FROM_ZERO, NULL};
    kernels->matmul[keys->type](keys, &queries, to, 0, keys->n_tiles);
}

static int64_t attention_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out)
{
    const bits_shape *s = arg;
    const int64_t n = s->size[QUERIES], width = s->size[WIDTH];
    vouch_matrix keys, values;
    vouch_acts weights = work->acts;
    slots_write(work, kernels, s, &keys, &values);
    memset(work->more, 0, MOST_SLOTS * MOST_QUERIES * sizeof *work->more);
    scores_compute(work, kernels, &keys, n, work->more);
    float factors[MOST_QUERIES];
    for (int64_t i = 0; i < n; i++)
        factors[i] = 1.0f / kernels->softmax(work->more + i * VOUCH_TILE, VOUCH_TILE * n, s->size[SLOTS]);
    weights.x = work->more, weights.n_rows = n, weights.n_in = s->size[SLOTS], weights.group_rows = kernels->group_rows;
    weights.needs = VOUCH_NEEDS_FLOATS;
    const vouch_result to = {out, width, VOUCH_TILE, VOUCH_FROM_ZERO, NULL};
    kernels->mix[s->type](&values, &weights, to, 0, values.n_tiles);
    for (int64_t i = 0; i < n; i++) kernels->scale(out + i * width, factors[i], width);
    return n * width;
}

const bits_operation bits_attention = {
    .name = "attention",
    .fill = attention_fill,
    .list = attention_list,
    .run = attention_run,
    .sizes = {{"width", VOUCH_BLOCK, MOST_WIDTH, VOUCH_BLOCK},
              {"n_keys", 1, MOST_SLOTS, 1},
              {"n_queries", 1, MOST_QUERIES, 1}},
    .has_type = is_cache,
};
