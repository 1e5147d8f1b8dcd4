/* SPDX-License-Identifier: MIT */
/* The table of filled pages (prefixes.h). */
#include "engine/prefixes.h"

#include <string.h>

#include "base/hash.h"

static void layout(vouch_prefixes *p, vouch_arena *arena)
{
    const size_t n = (size_t)p->store->n_pages;
    p->pages = vouch_arena_take(arena, n, sizeof *p->pages);
    p->buckets = vouch_arena_take(arena, n, sizeof *p->buckets);
    p->tokens = vouch_arena_take(arena, n * (size_t)p->store->page_size, sizeof *p->tokens);
    p->chain = vouch_arena_take(arena, n, sizeof *p->chain);
}

vouch_status vouch_prefixes_open(vouch_prefixes *out, vouch_pages *store, vouch_error *err)
{
    vouch_arena arena = {0};
    *out = (vouch_prefixes){.store = store};
    layout(out, &arena);
    VOUCH_TRY(vouch_arena_allocate(&arena, "the table of shared pages", err));
    layout(out, &arena);
    out->arena = arena;
    for (int32_t i = 0; i < store->n_pages; i++) out->buckets[i] = -1;
    return VOUCH_OK;
}

static int32_t *bucket_of(const vouch_prefixes *p, uint64_t hash)
{
    return &p->buckets[hash % (uint64_t)p->store->n_pages];
}

static void forget(vouch_prefixes *p, int32_t page)
{
    int32_t *link = bucket_of(p, p->pages[page].hash);
    while (*link != page) link = &p->pages[*link].next;
    *link = p->pages[page].next;
    if (p->pages[page].before >= 0) p->pages[p->pages[page].before].n_behind--;
    p->pages[page] = (vouch_prefix_page){0};
    vouch_page_release(p->store, page);
}

void vouch_prefixes_close(vouch_prefixes *prefixes)
{
    vouch_prefixes *p = prefixes;
    for (int32_t page = 0; p->pages && page < p->store->n_pages; page++)
        if (p->pages[page].used > 0) forget(p, page);
    vouch_arena_free(&p->arena);
    *p = (vouch_prefixes){0};
}

static int32_t *tokens_of(const vouch_prefixes *p, int32_t page)
{
    return p->tokens + (size_t)page * (size_t)p->store->page_size;
}

/* The listed page after `before` that holds these tokens; -1: none. */
static int32_t find(const vouch_prefixes *p, uint64_t hash, int32_t before, const int32_t *tokens)
{
    const size_t size = (size_t)p->store->page_size * sizeof *tokens;
    int32_t page = *bucket_of(p, hash);
    for (; page >= 0; page = p->pages[page].next) {
        const vouch_prefix_page *x = &p->pages[page];
        if (x->hash == hash && x->before == before && memcmp(tokens_of(p, page), tokens, size) == 0) break;
    }
    return page;
}

static uint64_t hash_page(const vouch_prefixes *p, uint64_t hash, const int32_t *tokens)
{
    return vouch_hash_bytes(hash, tokens, (size_t)p->store->page_size * sizeof *tokens);
}

void vouch_prefixes_add(vouch_prefixes *prefixes, const vouch_memory *memory, const int32_t *tokens, int32_t n)
{
    vouch_prefixes *p = prefixes;
    uint64_t hash = VOUCH_HASH_START;
    int32_t before = -1;
    p->clock++;
    for (int32_t i = 0; (i + 1) * p->store->page_size <= n; i++) {
        const int32_t *mine = tokens + (size_t)i * (size_t)p->store->page_size;
        hash = hash_page(p, hash, mine);
        int32_t page = find(p, hash, before, mine);
        if (page < 0) {
            page = memory->pages[i];
            if (p->pages[page].used > 0) return; /* listed after another page: the chain can't go on here */
            int32_t *bucket = bucket_of(p, hash);
            p->pages[page] = (vouch_prefix_page){.hash = hash, .before = before, .next = *bucket};
            *bucket = page;
            if (before >= 0) p->pages[before].n_behind++;
            memcpy(tokens_of(p, page), mine, (size_t)p->store->page_size * sizeof *tokens);
            vouch_page_share(p->store, page);
        }
        p->pages[page].used = p->clock;
        before = page;
    }
}

int32_t vouch_prefixes_take(vouch_prefixes *prefixes, vouch_memory *memory, const int32_t *tokens, int32_t n)
{
    vouch_prefixes *p = prefixes;
    uint64_t hash = VOUCH_HASH_START;
    int32_t before = -1, n_found = 0;
    p->clock++;
    for (; (n_found + 1) * p->store->page_size <= n; n_found++) {
        const int32_t *next = tokens + (size_t)n_found * (size_t)p->store->page_size;
        hash = hash_page(p, hash, next);
        before = find(p, hash, before, next);
        if (before < 0) break;
        p->chain[n_found] = before;
        p->pages[before].used = p->clock;
    }
    if (n_found * p->store->page_size > vouch_memory_n_tokens(memory)) vouch_memory_adopt(memory, p->chain, n_found);
    return vouch_memory_n_tokens(memory);
}

bool vouch_prefixes_forget(vouch_prefixes *prefixes)
{
    vouch_prefixes *p = prefixes;
    int32_t oldest = -1;
    for (int32_t page = 0; page < p->store->n_pages; page++) {
        const vouch_prefix_page *x = &p->pages[page];
        const bool is_free = x->used > 0 && x->n_behind == 0 && p->store->n_owners[page] == 1;
        if (is_free && (oldest < 0 || x->used < p->pages[oldest].used)) oldest = page;
    }
    if (oldest < 0) return false;
    forget(p, oldest);
    return true;
}
