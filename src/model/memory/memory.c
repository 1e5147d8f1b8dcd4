/* SPDX-License-Identifier: MIT */
#include "model/memory/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/hash.h"
#include "kernels/cache.h"

static void layout_memory(vouch_memory *m, vouch_arena *arena)
{
    const int32_t page_size = m->store->page_size;
    m->pages = vouch_arena_take(arena, (size_t)(m->n_ctx / page_size) + 1, sizeof *m->pages);
    m->parents = vouch_arena_take(arena, (size_t)m->max_rows, sizeof *m->parents);
    m->depths = vouch_arena_take(arena, (size_t)m->max_rows, sizeof *m->depths);
    vouch_states_layout(&m->states, m->store->weights, m->max_rows, arena);
}

vouch_status vouch_memory_open(vouch_memory **out, vouch_pages *pages, int32_t n_ctx, int32_t max_rows,
                               vouch_error *err)
{
    *out = NULL;
    vouch_memory *m = calloc(1, sizeof *m);
    if (!m) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a sequence");
    *m = (vouch_memory){.store = pages, .n_ctx = n_ctx, .max_rows = max_rows};
    vouch_arena arena = {0};
    layout_memory(m, &arena);
    const vouch_status status = vouch_arena_allocate(&arena, "a sequence", err);
    if (status != VOUCH_OK) {
        free(m);
        return status;
    }
    layout_memory(m, &arena);
    m->arena = arena;
    *out = m;
    return VOUCH_OK;
}

void vouch_memory_close(vouch_memory *memory)
{
    if (!memory) return;
    vouch_memory_rewind(memory, 0);
    vouch_arena_free(&memory->arena);
    free(memory);
}

size_t vouch_memory_bytes(const vouch_memory *memory)
{
    return sizeof *memory + memory->arena.size;
}

int32_t vouch_memory_n_tokens(const vouch_memory *memory)
{
    return memory->n_tokens;
}

int32_t vouch_memory_n_rows(const vouch_memory *memory)
{
    return memory->n_rows;
}

bool vouch_memory_is_recurrent(const vouch_memory *memory)
{
    return memory->states.n_layers > 0;
}

/* Pages that hold n slots. */
static int32_t pages_of(const vouch_memory *m, int32_t n)
{
    return (n + m->store->page_size - 1) / m->store->page_size;
}

/* After a keep or a rewind: gives back the pages past the last token. */
static void pages_trim(vouch_memory *m)
{
    while (m->n_pages > pages_of(m, m->n_tokens)) vouch_page_release(m->store, m->pages[--m->n_pages]);
}

bool vouch_memory_reserve(vouch_memory *memory, int32_t n)
{
    vouch_memory *m = memory;
    vouch_pages *s = m->store;
    const int32_t first = m->n_tokens + m->n_rows, wanted = pages_of(m, first + n);
    assert(n >= 0 && n <= m->n_ctx - first);
    /* Of the pages with new slots, only the first can be shared: later ones hold no tokens. */
    int32_t *const page = first / s->page_size < m->n_pages && n > 0 ? &m->pages[first / s->page_size] : NULL;
    const bool is_shared = page && s->n_owners[*page] > 1;
    if (wanted - m->n_pages + is_shared > s->n_free) return false;
    if (is_shared) {
        const int32_t copy = vouch_page_take(s);
        vouch_page_copy(s, copy, *page);
        vouch_page_release(s, *page);
        *page = copy;
    }
    while (m->n_pages < wanted) m->pages[m->n_pages++] = vouch_page_take(s);
    return true;
}

/* Whether the slot may be written (C3 in memory.h). */
static bool is_writable(const vouch_memory *m, int32_t slot)
{
    const int32_t page_size = m->store->page_size;
    return slot < m->n_pages * page_size && m->store->n_owners[m->pages[slot / page_size]] == 1;
}

void vouch_memory_add_token(vouch_memory *memory)
{
    assert(memory->n_rows == 0 && is_writable(memory, memory->n_tokens));
    memory->n_tokens++;
}

int32_t vouch_memory_add_row(vouch_memory *memory, int32_t parent)
{
    vouch_memory *m = memory;
    const int32_t row = m->n_rows;
    assert(row < m->max_rows && parent >= -1 && parent < row && is_writable(m, m->n_tokens + row));
    m->parents[row] = parent;
    m->depths[row] = parent < 0 ? 0 : m->depths[parent] + 1;
    if (m->n_chain == row && parent == row - 1) m->n_chain++;
    m->n_rows++;
    return row;
}

/* The bytes of a slot's key and value in one head, piece by piece. */
typedef struct slot_walk {
    vouch_matrix keys, values;
    int64_t slot; /* in its page */
    bool past_key;
    int64_t piece;
} slot_walk;

static slot_walk slot_begin(const vouch_memory *m, int32_t slot, int32_t layer, int32_t head)
{
    const int32_t page = m->pages[slot / m->store->page_size];
    return (slot_walk){.keys = vouch_page_keys(m->store, page, layer, head),
                       .values = vouch_page_values(m->store, page, layer, head),
                       .slot = slot % m->store->page_size};
}

/* The next piece; its size is 0 past the last one. */
static vouch_piece slot_next(slot_walk *w)
{
    if (!w->past_key) {
        const vouch_piece piece = vouch_key_piece(&w->keys, w->slot, w->piece++);
        if (piece.size) return piece;
        w->past_key = true;
        w->piece = 0;
    }
    return vouch_value_piece(&w->values, w->slot, w->piece++);
}

void vouch_memory_move_slot(vouch_memory *memory, int32_t to, int32_t from)
{
    const vouch_memory *m = memory;
    for (int32_t l = 0; l < m->store->n_layers; l++)
        for (int32_t h = 0; h < m->store->layers[l].n_kv_heads; h++) {
            slot_walk target = slot_begin(m, to, l, h), source = slot_begin(m, from, l, h);
            for (vouch_piece piece; (piece = slot_next(&source)).size;)
                memcpy(slot_next(&target).at, piece.at, piece.size);
        }
    if (from >= m->n_tokens && to >= m->n_tokens)
        vouch_states_move(&memory->states, to - m->n_tokens, from - m->n_tokens);
}

/* The first n provisional rows become tokens; the others are dropped. */
static void keep_first(vouch_memory *m, int32_t n)
{
    if (m->n_rows > 0) m->states.n_pending = n;
    m->n_tokens += n;
    m->n_rows = m->n_chain = 0;
    pages_trim(m);
}

void vouch_memory_keep_path(vouch_memory *memory, const int32_t *path, int32_t n)
{
    vouch_memory *m = memory;
    for (int32_t i = 0; i < n; i++) {
        assert(path[i] < m->n_rows && m->parents[path[i]] == (i == 0 ? -1 : path[i - 1]));
        if (path[i] != i) vouch_memory_move_slot(m, m->n_tokens + i, m->n_tokens + path[i]);
    }
    keep_first(m, n);
}

void vouch_memory_keep_rows(vouch_memory *memory, int32_t n)
{
    assert(n >= 0 && n <= memory->n_chain);
    keep_first(memory, n);
}

int32_t vouch_memory_rewind(vouch_memory *memory, int32_t n)
{
    vouch_memory *m = memory;
    assert(n >= 0);
    keep_first(m, 0);
    const int32_t left = vouch_states_reach(&m->states, m->n_tokens, n);
    vouch_states_rewind(&m->states, m->n_tokens, left);
    m->n_tokens = left;
    pages_trim(m);
    return left;
}

void vouch_memory_checkpoint(vouch_memory *memory)
{
    assert(memory->n_rows == 0);
    vouch_states_checkpoint(&memory->states, memory->n_tokens);
}

int32_t vouch_memory_share(vouch_memory *memory, const vouch_memory *from, int32_t n)
{
    vouch_memory *m = memory;
    vouch_pages *s = m->store;
    assert(m != from && from->store == s && n >= 0 && n <= from->n_tokens && n <= m->n_ctx);
    n = vouch_states_reach(&from->states, from->n_tokens, n);
    const int32_t n_whole = n / s->page_size;
    const bool has_rest = n % s->page_size > 0;
    vouch_memory_rewind(m, 0);
    if (has_rest && s->n_free == 0) return 0;
    while (m->n_pages < n_whole) {
        m->pages[m->n_pages] = from->pages[m->n_pages];
        vouch_page_share(s, m->pages[m->n_pages++]);
    }
    if (has_rest) {
        m->pages[m->n_pages] = vouch_page_take(s);
        vouch_page_copy(s, m->pages[m->n_pages++], from->pages[n_whole]);
    }
    vouch_states_share(&m->states, &from->states, from->n_tokens, n);
    m->n_tokens = n;
    return n;
}

void vouch_memory_adopt(vouch_memory *memory, const int32_t *pages, int32_t n, const float *states)
{
    vouch_memory *m = memory;
    assert((states || !vouch_memory_is_recurrent(m)) && (int64_t)n * m->store->page_size <= m->n_ctx);
    for (int32_t i = 0; i < n; i++) vouch_page_share(m->store, pages[i]); /* first: the memory may own some of them */
    vouch_memory_rewind(m, 0);
    for (; m->n_pages < n; m->n_pages++) m->pages[m->n_pages] = pages[m->n_pages];
    m->n_tokens = n * m->store->page_size;
    if (states) vouch_states_load(&m->states, states);
}

uint64_t vouch_memory_digest(const vouch_memory *memory)
{
    const vouch_memory *m = memory;
    uint64_t hash = VOUCH_HASH_START + (uint64_t)m->n_tokens;
    for (int32_t l = 0; l < m->store->n_layers; l++)
        for (int32_t h = 0; h < m->store->layers[l].n_kv_heads; h++)
            for (int32_t slot = 0; slot < m->n_tokens; slot++) {
                slot_walk walk = slot_begin(m, slot, l, h);
                for (vouch_piece piece; (piece = slot_next(&walk)).size;)
                    hash = vouch_hash_bytes(hash, piece.at, piece.size);
            }
    return vouch_states_digest(&m->states, hash);
}

uint64_t vouch_memory_digest_kept(const vouch_memory *memory, int32_t n)
{
    vouch_memory kept = *memory;
    assert(n >= 0 && n <= memory->n_chain);
    kept.n_tokens += n;
    if (kept.n_rows > 0) kept.states.n_pending = n;
    return vouch_memory_digest(&kept);
}
