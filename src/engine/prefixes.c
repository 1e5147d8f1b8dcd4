/* SPDX-License-Identifier: MIT */
/* The table of filled pages (prefixes.h). */
#include "engine/prefixes.h"

#include <string.h>

#include "base/hash.h"

static int32_t page_size(const vouch_prefixes *p)
{
    return p->store->page_size;
}

static void layout(vouch_prefixes *p, const vouch_prefixes_options *options, vouch_arena *arena)
{
    const size_t n = (size_t)p->store->n_pages;
    p->pages = vouch_arena_take(arena, n, sizeof *p->pages);
    p->buckets = vouch_arena_take(arena, n, sizeof *p->buckets);
    p->tokens = vouch_arena_take(arena, n * (size_t)page_size(p), sizeof *p->tokens);
    p->chain = vouch_arena_take(arena, n, sizeof *p->chain);
    p->hashes = vouch_arena_take(arena, n, sizeof *p->hashes);
    p->states = vouch_arena_take(arena, (size_t)p->n_states, sizeof *p->states);
    size_t n_floats = 0;
    if (!vouch_mul_size((size_t)p->n_states, p->n_floats, &n_floats)) arena->overflow = true;
    p->floats = vouch_arena_take(arena, n_floats, sizeof *p->floats);
    vouch_prefix_files_layout(p, options, arena);
}

vouch_status vouch_prefixes_open(vouch_prefixes *out, vouch_pages *store, const vouch_prefixes_options *options,
                                 vouch_error *err)
{
    vouch_arena arena = {0};
    const size_t n_floats = vouch_states_size(store->weights);
    *out = (vouch_prefixes){.store = store, .n_floats = n_floats, .n_states = n_floats > 0 ? options->n_states : 0};
    layout(out, options, &arena);
    VOUCH_TRY(vouch_arena_allocate(&arena, "the table of shared pages", err));
    layout(out, options, &arena);
    out->arena = arena;
    for (int32_t i = 0; i < store->n_pages; i++) out->buckets[i] = -1;
    for (int32_t i = 0; i < out->n_states; i++) out->states[i].page = -1;
    const vouch_status status = vouch_prefix_files_open(out, options, err);
    if (status != VOUCH_OK) vouch_prefixes_close(out);
    return status;
}

/* --------------------------------------------------------------------- lists */

static int32_t *bucket_of(const vouch_prefixes *p, uint64_t hash)
{
    return &p->buckets[hash % (uint64_t)p->store->n_pages];
}

static void forget(vouch_prefixes *p, int32_t page)
{
    vouch_prefix_page *x = &p->pages[page];
    int32_t *link = bucket_of(p, x->hash);
    while (*link != page) link = &p->pages[*link].next;
    *link = x->next;
    if (x->before >= 0) p->pages[x->before].n_behind--;
    if (x->state >= 0) p->states[x->state] = (vouch_prefix_state){.page = -1};
    *x = (vouch_prefix_page){0};
    vouch_page_release(p->store, page);
}

/* Frees the least recently used page that no sequence uses, of those that were used before `now`. */
static bool forget_oldest(vouch_prefixes *p, int64_t now)
{
    int32_t oldest = -1;
    for (int32_t page = 0; page < p->store->n_pages; page++) {
        const vouch_prefix_page *x = &p->pages[page];
        const bool is_free = x->used > 0 && x->used < now && x->n_behind == 0 && p->store->n_owners[page] == 1;
        if (is_free && (oldest < 0 || x->used < p->pages[oldest].used)) oldest = page;
    }
    if (oldest >= 0) forget(p, oldest);
    return oldest >= 0;
}

bool vouch_prefixes_forget(vouch_prefixes *prefixes)
{
    return forget_oldest(prefixes, INT64_MAX);
}

void vouch_prefixes_clear(vouch_prefixes *prefixes)
{
    vouch_prefixes *p = prefixes;
    if (!p->pages) return;
    (void)vouch_prefix_files_take_back(p, true);
    while (vouch_prefixes_forget(p)) continue;
    for (int32_t page = 0; page < p->store->n_pages; page++)
        if (p->pages[page].used > 0) p->pages[page].is_unkept = true;
}

void vouch_prefixes_close(vouch_prefixes *prefixes)
{
    vouch_prefixes *p = prefixes;
    if (!p->pages) return;
    vouch_prefix_files_close(p);
    for (int32_t page = 0; page < p->store->n_pages; page++)
        if (p->pages[page].used > 0) forget(p, page);
    vouch_arena_free(&p->arena);
    *p = (vouch_prefixes){0};
}

const int32_t *vouch_prefixes_tokens(const vouch_prefixes *prefixes, int32_t page)
{
    return prefixes->tokens + (size_t)page * (size_t)page_size(prefixes);
}

/* Returns the tokens of the i-th page of a prefix. */
static const int32_t *tokens_at(const vouch_prefixes *p, const vouch_scoped_prefix *prefix, int32_t i)
{
    return prefix->tokens + (size_t)i * (size_t)page_size(p);
}

static size_t tokens_bytes(const vouch_prefixes *p)
{
    return (size_t)page_size(p) * sizeof *p->tokens;
}

void vouch_prefixes_list(vouch_prefixes *prefixes, int32_t page, const vouch_scoped_prefix *prefix, int32_t i)
{
    vouch_prefixes *p = prefixes;
    int32_t *bucket = bucket_of(p, p->hashes[i]);
    p->pages[page] = (vouch_prefix_page){.hash = p->hashes[i],
                                         .scope = prefix->scope,
                                         .used = p->clock,
                                         .before = i > 0 ? p->chain[i - 1] : -1,
                                         .next = *bucket,
                                         .state = -1};
    *bucket = page;
    if (i > 0) p->pages[p->chain[i - 1]].n_behind++;
    memcpy(p->tokens + (size_t)page * (size_t)page_size(p), tokens_at(p, prefix, i), tokens_bytes(p));
    p->chain[i] = page;
}

/* ------------------------------------------------------------------- finding */

/* Sets p->hashes for all whole pages of a prefix. Returns their number. */
static int32_t hash_pages(vouch_prefixes *p, const vouch_scoped_prefix *prefix)
{
    const int32_t n = prefix->n / page_size(p);
    uint64_t hash = vouch_hash_word(VOUCH_HASH_START, prefix->scope);
    for (int32_t i = 0; i < n; i++)
        p->hashes[i] = hash = vouch_hash_bytes(hash, tokens_at(p, prefix, i), tokens_bytes(p));
    return n;
}

/* The listed page that is number i of the prefix, after those in p->chain; -1: none. */
static int32_t find(const vouch_prefixes *p, const vouch_scoped_prefix *prefix, int32_t i)
{
    const int32_t before = i > 0 ? p->chain[i - 1] : -1;
    int32_t page = *bucket_of(p, p->hashes[i]);
    for (; page >= 0; page = p->pages[page].next) {
        const vouch_prefix_page *x = &p->pages[page];
        if (x->hash == p->hashes[i] && x->scope == prefix->scope && x->before == before &&
            memcmp(vouch_prefixes_tokens(p, page), tokens_at(p, prefix, i), tokens_bytes(p)) == 0)
            break;
    }
    return page;
}

int32_t vouch_prefixes_walk(vouch_prefixes *prefixes, const vouch_scoped_prefix *prefix)
{
    vouch_prefixes *p = prefixes;
    const int32_t n = hash_pages(p, prefix);
    int32_t n_found = 0;
    p->clock++;
    for (int32_t page; n_found < n && (page = find(p, prefix, n_found)) >= 0; n_found++) {
        p->chain[n_found] = page;
        p->pages[page].used = p->clock;
    }
    return n_found;
}

int32_t vouch_prefixes_take_page(vouch_prefixes *prefixes)
{
    vouch_pages *store = prefixes->store;
    return store->n_free > 0 || forget_oldest(prefixes, prefixes->clock) ? vouch_page_take(store) : -1;
}

float *vouch_prefixes_take_state(vouch_prefixes *prefixes, int32_t page)
{
    vouch_prefixes *p = prefixes;
    int32_t oldest = p->pages[page].state;
    for (int32_t i = 0; i < p->n_states && p->pages[page].state < 0; i++) {
        const vouch_prefix_state *x = &p->states[i];
        if (!x->is_queued && (oldest < 0 || x->used < p->states[oldest].used)) oldest = i;
    }
    if (oldest < 0) return NULL;
    if (p->states[oldest].page >= 0) p->pages[p->states[oldest].page].state = -1;
    p->states[oldest] = (vouch_prefix_state){.page = page, .used = p->clock};
    p->pages[page].state = oldest;
    return p->floats + (size_t)oldest * p->n_floats;
}

/* -------------------------------------------------------------- add and take */

void vouch_prefixes_add(vouch_prefixes *prefixes, const vouch_memory *memory, const vouch_scoped_prefix *prefix,
                        bool has_states)
{
    vouch_prefixes *p = prefixes;
    const int32_t n = prefix->n / page_size(p), n_before = vouch_prefixes_walk(p, prefix);
    int32_t i = n_before;
    /* A page that is listed after another one can't go on this chain. */
    for (; i < n && p->pages[memory->pages[i]].used == 0; i++) {
        vouch_page_share(p->store, memory->pages[i]);
        vouch_prefixes_list(p, memory->pages[i], prefix, i);
    }
    if (i > n_before) vouch_prefix_files_put(p, (vouch_prefix_entry){.page = p->chain[i - 1]});
    if (!has_states || i < n || n == 0 || p->pages[p->chain[n - 1]].state >= 0) return;
    float *states = vouch_prefixes_take_state(p, p->chain[n - 1]);
    if (!states) return;
    vouch_states_save(&memory->states, states);
    vouch_prefix_files_put(p, (vouch_prefix_entry){.page = p->chain[n - 1], .is_state = true});
}

const float *vouch_prefixes_last_states(vouch_prefixes *prefixes, int32_t *n)
{
    vouch_prefixes *p = prefixes;
    if (p->n_states == 0) return NULL;
    while (*n > 0 && p->pages[p->chain[*n - 1]].state < 0) --*n;
    if (*n == 0) return NULL;
    vouch_prefix_state *x = &p->states[p->pages[p->chain[*n - 1]].state];
    x->used = p->clock;
    return p->floats + (size_t)(x - p->states) * p->n_floats;
}

int32_t vouch_prefixes_take(vouch_prefixes *prefixes, vouch_memory *memory, const vouch_scoped_prefix *prefix,
                            int32_t *n_common)
{
    vouch_prefixes *p = prefixes;
    int32_t n = vouch_prefixes_walk(p, prefix);
    *n_common = n > 0 && p->pages[p->chain[n - 1]].n_behind > 0 ? n * page_size(p) : 0;
    const float *states = vouch_prefixes_last_states(p, &n);
    if (states) vouch_prefix_files_put(p, (vouch_prefix_entry){.page = p->chain[n - 1], .is_state = true});
    if (n > 0) vouch_prefix_files_put(p, (vouch_prefix_entry){.page = p->chain[n - 1]});
    if (n * page_size(p) > vouch_memory_n_tokens(memory)) vouch_memory_adopt(memory, p->chain, n, states);
    return vouch_memory_n_tokens(memory);
}
