/* SPDX-License-Identifier: MIT */
#include "model/memory/pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "kernels/cache.h"

vouch_pages_options vouch_pages_for(int32_t n_ctx, vouch_kv_type kv_type)
{
    const int32_t whole = (n_ctx + VOUCH_TILE - 1) / VOUCH_TILE * VOUCH_TILE;
    const int32_t page_size = vouch_min(whole, VOUCH_PAGE_SIZE);
    return (vouch_pages_options){
        .kv_type = kv_type, .page_size = page_size, .n_pages = (n_ctx + page_size - 1) / page_size};
}

/* Keys and values are quantised in blocks along a head. */
static vouch_status check_heads(const vouch_weights *weights, vouch_type type, vouch_error *err)
{
    for (int32_t l = 0; l < weights->hparams.n_layers && vouch_type_is_quantized(type); l++) {
        const vouch_attention *a = &weights->layers[l].attention;
        const int32_t width = a->head_dim % VOUCH_BLOCK != 0 ? a->head_dim : a->value_dim;
        if (width % VOUCH_BLOCK != 0)
            return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                              "kv_type: %s needs heads whose width is a multiple of %d; the model, or its draft "
                              "model, has heads of width %d: use f16 or f32",
                              vouch_type_get_info(type)->name, VOUCH_BLOCK, width);
    }
    return VOUCH_OK;
}

static bool fill_layer(vouch_page_layer *layer, const vouch_attention *attention, vouch_type type, int32_t page_size)
{
    layer->n_kv_heads = vouch_attention_has_keys(attention) ? attention->n_kv_heads : 0;
    if (layer->n_kv_heads == 0) return true;
    if (!vouch_matrix_shape(&layer->keys, type, page_size, attention->head_dim) ||
        !vouch_values_shape(&layer->values, type, attention->value_dim, page_size))
        return false;
    layer->keys_bytes = vouch_matrix_bytes(&layer->keys);
    layer->values_bytes = vouch_matrix_bytes(&layer->values);
    return true;
}

static void layout_pages(vouch_pages *s, const vouch_weights *weights, vouch_type type, vouch_arena *arena)
{
    s->layers = vouch_arena_take(arena, (size_t)s->n_layers, sizeof *s->layers);
    s->n_owners = vouch_arena_take(arena, (size_t)s->n_pages, sizeof *s->n_owners);
    s->free = vouch_arena_take(arena, (size_t)s->n_pages, sizeof *s->free);
    for (int32_t l = 0; l < s->n_layers; l++) {
        vouch_page_layer layer = {0};
        size_t heads;
        if (!fill_layer(&layer, &weights->layers[l].attention, type, s->page_size) ||
            !vouch_mul_size((size_t)layer.n_kv_heads, layer.keys_bytes + layer.values_bytes, &heads))
            arena->overflow = true;
        else layer.data = vouch_arena_take(arena, (size_t)s->n_pages, heads);
        if (s->layers) s->layers[l] = layer;
    }
}

vouch_status vouch_pages_open(vouch_pages **out, const vouch_weights *weights, const vouch_pages_options *options,
                              vouch_error *err)
{
    *out = NULL;
    assert(options->page_size >= VOUCH_TILE && options->page_size <= VOUCH_MOST_PAGE_SIZE &&
           options->page_size % VOUCH_TILE == 0 && options->n_pages >= 1);
    const vouch_type type = vouch_cache_types[options->kv_type];
    VOUCH_TRY(check_heads(weights, type, err));
    vouch_pages *s = calloc(1, sizeof *s);
    if (!s) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the KV cache");
    *s = (vouch_pages){.weights = weights,
                       .page_size = options->page_size,
                       .n_pages = options->n_pages,
                       .n_layers = weights->hparams.n_layers};
    vouch_arena arena = {0};
    layout_pages(s, weights, type, &arena);
    const vouch_status status = vouch_arena_allocate(&arena, "the KV cache (use a smaller context)", err);
    if (status != VOUCH_OK) {
        free(s);
        return status;
    }
    layout_pages(s, weights, type, &arena);
    s->arena = arena;
    (void)pthread_mutex_init(&s->releasing, NULL); /* can't fail with default attributes on Linux */
    while (s->n_free < s->n_pages) {               /* page 0 is taken first */
        s->free[s->n_free] = s->n_pages - 1 - s->n_free;
        s->n_free++;
    }
    *out = s;
    return VOUCH_OK;
}

void vouch_pages_close(vouch_pages *pages)
{
    if (!pages) return;
    pthread_mutex_destroy(&pages->releasing);
    vouch_arena_free(&pages->arena);
    free(pages);
}

size_t vouch_pages_bytes(const vouch_pages *pages)
{
    return sizeof *pages + pages->arena.size;
}

int32_t vouch_pages_n_free(const vouch_pages *pages)
{
    return pages->n_free;
}

int32_t vouch_page_take(vouch_pages *pages)
{
    vouch_pages *s = pages;
    assert(s->n_free > 0);
    const int32_t page = s->free[--s->n_free];
    assert(s->n_owners[page] == 0); /* G1 */
    s->n_owners[page] = 1;
    return page;
}

void vouch_page_share(vouch_pages *pages, int32_t page)
{
    assert(pages->n_owners[page] > 0);
    pages->n_owners[page]++;
}

void vouch_page_release(vouch_pages *pages, int32_t page)
{
    pthread_mutex_lock(&pages->releasing);
    assert(pages->n_owners[page] > 0);
    if (--pages->n_owners[page] == 0) pages->free[pages->n_free++] = page;
    pthread_mutex_unlock(&pages->releasing);
}

size_t vouch_page_bytes(const vouch_pages *pages)
{
    size_t n = 0;
    for (int32_t l = 0; l < pages->n_layers; l++) {
        const vouch_page_layer *layer = &pages->layers[l];
        n += (size_t)layer->n_kv_heads * (layer->keys_bytes + layer->values_bytes);
    }
    return n;
}

/* The parts of a page, one after the other: keys of head 0 of layer 0, its values, and so on. */
typedef struct part {
    unsigned char *at;
    size_t size;
} part;

static part part_of(const vouch_pages *s, int32_t page, int32_t layer, int32_t i)
{
    const vouch_page_layer *l = &s->layers[layer];
    if (i % 2 == 0) return (part){vouch_page_keys(s, page, layer, i / 2).data, l->keys_bytes};
    return (part){vouch_page_values(s, page, layer, i / 2).data, l->values_bytes};
}

void vouch_page_save(const vouch_pages *pages, int32_t page, unsigned char *to)
{
    for (int32_t l = 0; l < pages->n_layers; l++)
        for (int32_t i = 0; i < 2 * pages->layers[l].n_kv_heads; i++) {
            const part p = part_of(pages, page, l, i);
            memcpy(to, p.at, p.size);
            to += p.size;
        }
}

void vouch_page_load(vouch_pages *pages, int32_t page, const unsigned char *from)
{
    for (int32_t l = 0; l < pages->n_layers; l++)
        for (int32_t i = 0; i < 2 * pages->layers[l].n_kv_heads; i++) {
            const part p = part_of(pages, page, l, i);
            memcpy(p.at, from, p.size);
            from += p.size;
        }
}

/* A layer's keys and values of one head in a page of VOUCH_SHARED_PAGE_SIZE slots, without data. */
static vouch_page_layer shape_of(const vouch_pages *s, int32_t layer)
{
    vouch_page_layer shape = {0};
    const bool fits =
        s->layers[layer].n_kv_heads == 0 ||
        fill_layer(&shape, &s->weights->layers[layer].attention, s->layers[layer].keys.type, VOUCH_SHARED_PAGE_SIZE);
    assert(fits); /* as the store's own pages did */
    (void)fits;
    return shape;
}

size_t vouch_slots_bytes(const vouch_pages *pages)
{
    size_t n = 0;
    for (int32_t l = 0; l < pages->n_layers; l++) {
        const vouch_page_layer shape = shape_of(pages, l);
        n += (size_t)shape.n_kv_heads * (shape.keys_bytes + shape.values_bytes);
    }
    return n;
}

static void copy_piece(vouch_piece to, vouch_piece from)
{
    memcpy(to.at, from.at, from.size);
}

/* Copies a slot of a head between two matrices of keys and two of values. */
static void copy_slot(const vouch_matrix to[2], int64_t to_slot, const vouch_matrix from[2], int64_t from_slot)
{
    vouch_piece piece;
    for (int64_t i = 0; (piece = vouch_key_piece(&from[0], from_slot, i)).size; i++)
        copy_piece(vouch_key_piece(&to[0], to_slot, i), piece);
    for (int64_t i = 0; (piece = vouch_value_piece(&from[1], from_slot, i)).size; i++)
        copy_piece(vouch_value_piece(&to[1], to_slot, i), piece);
}

/* Copies the slots [first, first + n) of a sequence to or from such a page. */
static void copy_slots(const vouch_pages *s, const int32_t *list, int32_t first, int32_t n, unsigned char *bytes,
                       bool is_load)
{
    for (int32_t l = 0; l < s->n_layers; l++) {
        const vouch_page_layer shape = shape_of(s, l);
        for (int32_t h = 0; h < shape.n_kv_heads; h++) {
            vouch_matrix outside[2] = {shape.keys, shape.values};
            outside[0].data = bytes;
            outside[1].data = bytes + shape.keys_bytes;
            bytes += shape.keys_bytes + shape.values_bytes;
            for (int32_t i = 0; i < n; i++) {
                const int32_t page = list[(first + i) / s->page_size], slot = (first + i) % s->page_size;
                const vouch_matrix inside[2] = {vouch_page_keys(s, page, l, h), vouch_page_values(s, page, l, h)};
                if (is_load) copy_slot(inside, slot, outside, i);
                else copy_slot(outside, i, inside, slot);
            }
        }
    }
}

void vouch_slots_save(const vouch_pages *pages, const int32_t *list, int32_t first, int32_t n, unsigned char *to)
{
    memset(to, 0, vouch_slots_bytes(pages));
    copy_slots(pages, list, first, n, to, false);
}

void vouch_slots_load(vouch_pages *pages, const int32_t *list, int32_t first, int32_t n, const unsigned char *from)
{
    copy_slots(pages, list, first, n, (unsigned char *)(uintptr_t)from, true);
}

void vouch_page_copy(vouch_pages *pages, int32_t to, int32_t from)
{
    for (int32_t l = 0; l < pages->n_layers; l++)
        for (int32_t i = 0; i < 2 * pages->layers[l].n_kv_heads; i++) {
            const part target = part_of(pages, to, l, i);
            memcpy(target.at, part_of(pages, from, l, i).at, target.size);
        }
}
