/* SPDX-License-Identifier: MIT */
/*
 * Prompt lookup (Saxena, "Prompt Lookup Decoding", 2023): the last n tokens, n from ngram_max down to
 * ngram_min, are looked for earlier in prompt and output; what followed their most recent occurrence is
 * the draft. When fewer than k tokens follow it, the copy goes on into the guesses themselves, so that a
 * period of any length is continued:
 *
 *     tokens  a b c a b | guesses c a b c ...
 *               ▲ occurrence of "a b" ends here: guess i = (tokens, guesses)[2 + i]
 *
 * The index, one for each n. `last` maps an n-gram's hash to the end of its last occurrence, `previous`
 * an end to the one before in the same slot of the table:
 *
 *     last [slots]          hash ──► end ──► previous[end] ──► ... ──► 0: none
 *     previous [n_ctx + 1]
 *
 * An end e in [n, n_seen] stands for tokens[e - n, e). Adding a token pushes one end on one chain for each
 * n; rewinding pops them in reverse order, which leaves every byte as if they had never been added (law
 * L3). A lookup starts at previous[n_seen], the newest occurrence that isn't the suffix itself, and passes
 * over other n-grams in the same slot, of which there are 0.5 on average; it gives up after MAX_PROBES, so
 * that no text can make it slow. The tokens are our own copy: a rewind comes after the sequence has changed.
 */
#include "draft/ngram.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PROBES = 64 };

typedef struct table {
    int32_t *last;     /* [slots] */
    int32_t *previous; /* [n_ctx + 1] */
} table;

typedef struct ngram {
    int32_t n_ctx, n_min, n_max;
    int32_t n_seen;
    uint32_t mask;                   /* slots - 1, a power of two >= 2 n_ctx */
    int32_t *tokens;                 /* [n_ctx], n_seen of them valid */
    table tables[VOUCH_NGRAM_LIMIT]; /* [n_max - n_min + 1], by n - n_min */
    int32_t guesses[VOUCH_MAX_DRAFT];
    vouch_arena arena;
    size_t bytes;
} ngram;

/* The slots of the n-grams with the given end, one n after the other: each hash extends the shorter one. */
static uint64_t hash_extend(uint64_t hash, int32_t token)
{
    hash = (hash ^ (uint32_t)token) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

static void push(ngram *g, int32_t token)
{
    const int32_t end = g->n_seen + 1;
    g->tokens[g->n_seen++] = token;
    uint64_t hash = 0;
    for (int32_t n = 1; n <= g->n_max && n <= end; n++) {
        hash = hash_extend(hash, g->tokens[end - n]);
        if (n < g->n_min) continue;
        table *t = &g->tables[n - g->n_min];
        int32_t *last = &t->last[hash & g->mask];
        t->previous[end] = *last;
        *last = end;
    }
}

static void pop(ngram *g)
{
    const int32_t end = g->n_seen;
    uint64_t hash = 0;
    for (int32_t n = 1; n <= g->n_max && n <= end; n++) {
        hash = hash_extend(hash, g->tokens[end - n]);
        if (n < g->n_min) continue;
        table *t = &g->tables[n - g->n_min];
        t->last[hash & g->mask] = t->previous[end];
        t->previous[end] = 0;
    }
    g->tokens[--g->n_seen] = 0;
}

/* The end of the most recent earlier occurrence of the last n tokens; 0: none. */
static int32_t find(const ngram *g, int32_t n)
{
    if (n > g->n_seen) return 0;
    const int32_t *previous = g->tables[n - g->n_min].previous, *suffix = &g->tokens[g->n_seen - n];
    int32_t end = previous[g->n_seen];
    for (int32_t probe = 0; end > 0 && probe < MAX_PROBES; probe++, end = previous[end])
        if (memcmp(&g->tokens[end - n], suffix, (size_t)n * sizeof *suffix) == 0) return end;
    return 0;
}

static vouch_draft ngram_propose(void *self, const int32_t *tokens, int32_t n_tokens, int32_t k)
{
    ngram *g = self;
    assert(n_tokens >= g->n_seen && n_tokens <= g->n_ctx && k <= VOUCH_MAX_DRAFT);
    while (g->n_seen < n_tokens) push(g, tokens[g->n_seen]);
    vouch_draft draft = {.tokens = g->guesses};
    int32_t end = 0;
    for (int32_t n = g->n_max; n >= g->n_min && end == 0; n--) end = find(g, n);
    for (; end > 0 && draft.n < k; draft.n++) {
        const int32_t from = end + draft.n;
        g->guesses[draft.n] = from < g->n_seen ? g->tokens[from] : g->guesses[from - g->n_seen];
    }
    return draft;
}

static void ngram_rewind(void *self, int32_t n_tokens)
{
    ngram *g = self;
    while (g->n_seen > n_tokens) pop(g);
}

static void ngram_close(void *self)
{
    ngram *g = self;
    vouch_arena_free(&g->arena);
    free(g);
}

static size_t ngram_memory(const void *self)
{
    return ((const ngram *)self)->bytes;
}

static const vouch_drafter_ops ngram_ops = {
    .name = "ngram",
    .propose = ngram_propose,
    .rewind = ngram_rewind,
    .close = ngram_close,
    .memory = ngram_memory,
};

static void ngram_layout(ngram *g)
{
    const size_t n_ctx = (size_t)g->n_ctx;
    g->tokens = vouch_arena_take(&g->arena, n_ctx, sizeof *g->tokens);
    for (int32_t i = 0; i <= g->n_max - g->n_min; i++) {
        g->tables[i].last = vouch_arena_take(&g->arena, (size_t)g->mask + 1, sizeof(int32_t));
        g->tables[i].previous = vouch_arena_take(&g->arena, n_ctx + 1, sizeof(int32_t));
    }
}

/* The arena holds the whole index, padding included, which is always zero. */
uint64_t vouch_drafter_ngram_digest(vouch_drafter_ref drafter)
{
    const ngram *g = drafter.self;
    uint64_t hash = (uint64_t)g->n_seen;
    for (size_t i = 0; i < g->arena.used; i += sizeof(int32_t)) {
        int32_t word;
        memcpy(&word, g->arena.base + i, sizeof word);
        hash = hash_extend(hash, word);
    }
    return hash;
}

vouch_status vouch_drafter_ngram_open(vouch_drafter_ref *out, int32_t n_ctx, int32_t ngram_min,
                                      int32_t ngram_max, vouch_error *err)
{
    *out = (vouch_drafter_ref){0};
    if (ngram_min < 1 || ngram_min > ngram_max || ngram_max > VOUCH_NGRAM_LIMIT)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "speculation: ngram_min is %d and ngram_max is %d; they must satisfy "
                          "1 <= ngram_min <= ngram_max <= %d",
                          ngram_min, ngram_max, VOUCH_NGRAM_LIMIT);
    if (n_ctx < 1 || n_ctx > 1 << 30)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "n-gram drafter: n_ctx is %d; it must be from 1 to %d",
                          n_ctx, 1 << 30);
    ngram *g = calloc(1, sizeof *g);
    if (!g)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the n-gram drafter (%zu bytes)",
                          sizeof *g);
    g->n_ctx = n_ctx;
    g->n_min = ngram_min;
    g->n_max = ngram_max;
    uint32_t slots = 1;
    while (slots < 2 * (uint32_t)n_ctx) slots *= 2;
    g->mask = slots - 1;
    ngram_layout(g);
    g->bytes = sizeof *g + g->arena.used;
    const vouch_status status = vouch_arena_allocate(&g->arena, "the n-gram drafter", err);
    if (status != VOUCH_OK) {
        free(g);
        return status;
    }
    ngram_layout(g);
    *out = (vouch_drafter_ref){.ops = &ngram_ops, .self = g};
    return VOUCH_OK;
}
