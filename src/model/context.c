/* SPDX-License-Identifier: MIT */
/*
 * Memory of a context: the KV cache, the buffers of a pass, and what each thread scribbles on. One arena.
 *
 * The cache of one KV head is two packed matrices, so that attention is made of the same kernels as the
 * rest: keys [n_slots, head_dim] and values [head_dim, n_slots] (cache.h draws them).
 */
#include "model/context.h"
#include "model/context_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/angle.h"
#include "base/hash.h"
#include "kernels/cache.h"

/* ------------------------------------------------------------------ layout */

static void layout_acts(vouch_acts *acts, int64_t max_rows, int64_t n_in, vouch_needs needs, vouch_arena *arena)
{
    const size_t values = (size_t)max_rows * (size_t)n_in, blocks = values / VOUCH_BLOCK;
    if (needs & VOUCH_NEEDS_QUANTS) {
        acts->q = vouch_arena_take(arena, values, sizeof *acts->q);
        acts->d = vouch_arena_take(arena, blocks, sizeof *acts->d);
    }
    for (int i = 0; i < VOUCH_SUMS_COUNT; i++)
        if (needs >> i & 1)
            acts->sums[i] = vouch_arena_take(arena, blocks * (size_t)vouch_sums_infos[i].runs, sizeof *acts->sums[i]);
    if (needs & VOUCH_NEEDS_FLOATS)
        acts->x = vouch_arena_take(arena, (size_t)max_rows * (size_t)((n_in + 15) / 16 * 16), sizeof *acts->x);
}

static void layout_thread(thread_memory *memory, const vouch_context *c, vouch_arena *arena)
{
    const vouch_hparams *h = &c->weights->hparams;
    const size_t queries = (size_t)c->weights->kernels->group_rows;
    memory->rows = vouch_arena_take(arena, VOUCH_FEW_ROWS * (size_t)h->n_embd, sizeof(float));
    memory->norms = vouch_arena_take(arena, (size_t)c->max_rows, sizeof(float));
    memory->squares = vouch_arena_take(arena, ((size_t)h->head_dim + 15) / 16, sizeof(float));
    memory->mixed = vouch_arena_take(arena, queries * (size_t)h->head_dim, sizeof(float));
    memory->factors = vouch_arena_take(arena, queries, sizeof(float));
    memory->slots = vouch_arena_take(arena, (size_t)c->max_rows, sizeof(int32_t));
    layout_acts(&memory->queries, (int64_t)queries, h->head_dim, vouch_type_needs(c->kv_type), arena);
    layout_acts(&memory->scores, (int64_t)queries, c->n_slots, VOUCH_NEEDS_FLOATS, arena);
}

static void layout_cache(vouch_context *c, vouch_arena *arena)
{
    const vouch_hparams *h = &c->weights->hparams;
    const size_t n = (size_t)h->n_layers * (size_t)h->n_kv_heads;
    c->keys = vouch_arena_take(arena, n, sizeof *c->keys);
    c->values = vouch_arena_take(arena, n, sizeof *c->values);
    for (size_t i = 0; i < n; i++) {
        vouch_matrix keys = {0}, values = {0};
        if (!vouch_matrix_shape(&keys, c->kv_type, c->n_slots, h->head_dim) ||
            !vouch_values_shape(&values, c->kv_type, h->head_dim, c->n_slots))
            arena->overflow = true;
        keys.data = vouch_arena_take(arena, (size_t)keys.n_tiles, keys.tile_bytes);
        values.data = vouch_arena_take(arena, (size_t)values.n_tiles, values.tile_bytes);
        if (!arena->base) continue;
        c->keys[i] = keys;
        c->values[i] = values;
    }
}

static void layout_context(vouch_context *c, vouch_arena *arena)
{
    const vouch_hparams *h = &c->weights->hparams;
    const size_t rows = (size_t)c->max_rows, n_threads = (size_t)vouch_pool_size(c->pool);
    const size_t width = (size_t)h->head_dim;
    c->x = vouch_arena_take(arena, rows * (size_t)h->n_embd, sizeof(float));
    c->q = vouch_arena_take(arena, rows * (size_t)h->n_heads * width, sizeof(float));
    c->k = vouch_arena_take(arena, rows * (size_t)h->n_kv_heads * width, sizeof(float));
    c->v = vouch_arena_take(arena, rows * (size_t)h->n_kv_heads * width, sizeof(float));
    c->mixed = vouch_arena_take(arena, rows * (size_t)h->n_heads * width, sizeof(float));
    c->gate = vouch_arena_take(arena, rows * (size_t)h->n_ff, sizeof(float));
    c->up = vouch_arena_take(arena, rows * (size_t)h->n_ff, sizeof(float));
    c->logits = vouch_arena_take(arena, (size_t)c->max_logits * (size_t)c->head->n_out, sizeof(float));
    c->squares = vouch_arena_take(arena, rows * (((size_t)h->n_embd + 15) / 16), sizeof(float));
    layout_acts(&c->acts, c->max_rows, h->n_embd, c->needs, arena);
    layout_acts(&c->mixed_acts, c->max_rows, (int64_t)h->n_heads * h->head_dim, c->needs, arena);
    layout_acts(&c->hidden, c->max_rows, h->n_ff, c->needs, arena);
    c->frequencies = vouch_arena_take(arena, (size_t)h->n_rot / 2, sizeof(double));
    c->cosines = vouch_arena_take(arena, rows * (size_t)h->n_rot, sizeof(float));
    c->sines = vouch_arena_take(arena, rows * (size_t)h->n_rot, sizeof(float));
    c->tokens = vouch_arena_take(arena, rows, sizeof *c->tokens);
    c->parents = vouch_arena_take(arena, rows, sizeof *c->parents);
    c->depths = vouch_arena_take(arena, rows, sizeof *c->depths);
    c->threads = vouch_arena_take(arena, n_threads, sizeof *c->threads);
    for (size_t t = 0; t < n_threads; t++) {
        thread_memory counted = {0};
        layout_thread(arena->base ? &c->threads[t] : &counted, c, arena);
    }
    layout_cache(c, arena);
}

/* ----------------------------------------------------------------- opening */

/* Which forms of activations the model's matrices ask for. */
static void find_needs(vouch_context *c)
{
    const vouch_weights *w = c->weights;
    const vouch_matrix *some = w->head;
    for (int32_t l = 0; l <= w->hparams.n_layers; l++) {
        const vouch_layer *layer = l < w->hparams.n_layers ? &w->layers[l] : NULL;
        const vouch_matrix *const all[] = {layer ? &layer->q : some,    layer ? &layer->k : some,
                                           layer ? &layer->v : some,    layer ? &layer->o : some,
                                           layer ? &layer->gate : some, layer ? &layer->up : some,
                                           layer ? &layer->down : some};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) c->needs |= vouch_type_needs(all[i]->type);
    }
}

static void fill_frequencies(vouch_context *c)
{
    const vouch_hparams *h = &c->weights->hparams;
    for (int32_t i = 0; i < h->n_rot / 2; i++) {
        const double factor = c->weights->rope_factors ? (double)c->weights->rope_factors[i] : 1.0;
        c->frequencies[i] = vouch_power(h->rope_base, -2.0 * i / h->n_rot) / (factor * h->rope_scale);
    }
}

/* In the order of vouch_kv_type. */
static const vouch_type cache_types[] = {VOUCH_TYPE_F16, VOUCH_TYPE_F32, VOUCH_TYPE_Q8_0, VOUCH_TYPE_Q4_0};

/* Keys and values are quantised in blocks along a head. */
static vouch_status check_cache(const vouch_hparams *h, vouch_type type, vouch_error *err)
{
    if (!vouch_type_is_quantized(type) || h->head_dim % VOUCH_BLOCK == 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "kv_type: %s wants a head width that is a multiple of %d, and the model's (or its draft "
                      "model's) is %d; use f16 or f32",
                      vouch_type_get_info(type)->name, VOUCH_BLOCK, h->head_dim);
}

vouch_status vouch_context_open(vouch_context **out, const vouch_weights *weights, vouch_pool *pool,
                                const vouch_context_options *options, vouch_error *err)
{
    *out = NULL;
    const vouch_type kv_type = cache_types[options->kv_type];
    VOUCH_TRY(check_cache(&weights->hparams, kv_type, err));
    vouch_context *c = calloc(1, sizeof *c);
    if (!c) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a context");
    *c = (vouch_context){.weights = weights,
                         .head = options->head ? options->head : weights->head,
                         .pool = pool,
                         .n_ctx = options->n_ctx,
                         .n_slots = (options->n_ctx + VOUCH_TILE - 1) / VOUCH_TILE * VOUCH_TILE,
                         .max_rows = options->max_rows,
                         .max_logits = options->max_logits,
                         .kv_type = kv_type};
    find_needs(c);
    vouch_arena arena = {0};
    layout_context(c, &arena);
    const vouch_status status = vouch_arena_allocate(&arena, "the KV cache and workspace (use a smaller n_ctx)", err);
    if (status != VOUCH_OK) {
        free(c);
        return status;
    }
    layout_context(c, &arena);
    c->arena = arena;
    fill_frequencies(c);
    *out = c;
    return VOUCH_OK;
}

void vouch_context_close(vouch_context *context)
{
    if (!context) return;
    vouch_arena_free(&context->arena);
    free(context);
}

size_t vouch_context_memory(const vouch_context *context)
{
    return context->arena.size + sizeof *context;
}

/* ------------------------------------------------------------------- cache */

int32_t vouch_context_n_cached(const vouch_context *context)
{
    return context->n_cached;
}

void vouch_context_keep(vouch_context *context, int32_t n)
{
    assert(n >= 0 && n <= context->n_cached);
    context->n_cached = n;
}

static void move_slot(vouch_context *c, int64_t to, int64_t from)
{
    const vouch_hparams *h = &c->weights->hparams;
    for (int32_t i = 0; i < h->n_layers * h->n_kv_heads; i++) {
        vouch_piece piece;
        for (int64_t p = 0; (piece = vouch_key_piece(&c->keys[i], from, p)).size; p++)
            memcpy(vouch_key_piece(&c->keys[i], to, p).at, piece.at, piece.size);
        for (int64_t p = 0; (piece = vouch_value_piece(&c->values[i], from, p)).size; p++)
            memcpy(vouch_value_piece(&c->values[i], to, p).at, piece.at, piece.size);
    }
}

void vouch_context_keep_path(vouch_context *context, const int32_t *path, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        assert(path[i] >= i && (i == 0 || path[i] > path[i - 1]));
        if (path[i] != i) move_slot(context, context->n_cached + i, context->n_cached + path[i]);
    }
    context->n_cached += n;
}

uint64_t vouch_context_digest(const vouch_context *context)
{
    const vouch_hparams *h = &context->weights->hparams;
    uint64_t hash = VOUCH_HASH_START + (uint64_t)context->n_cached;
    for (int32_t i = 0; i < h->n_layers * h->n_kv_heads; i++)
        for (int32_t slot = 0; slot < context->n_cached; slot++) {
            vouch_piece piece;
            for (int64_t p = 0; (piece = vouch_key_piece(&context->keys[i], slot, p)).size; p++)
                hash = vouch_hash_bytes(hash, piece.at, piece.size);
            for (int64_t p = 0; (piece = vouch_value_piece(&context->values[i], slot, p)).size; p++)
                hash = vouch_hash_bytes(hash, piece.at, piece.size);
        }
    return hash;
}

float *vouch_context_logits(vouch_context *context, int32_t i)
{
    return context->logits + (size_t)i * (size_t)context->head->n_out;
}
