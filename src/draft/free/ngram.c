/* SPDX-License-Identifier: MIT */
/*
 * Prompt lookup (Saxena, "Prompt Lookup Decoding", 2023). The source looks for the last n tokens earlier in prompt and
 * output, with n from ngram_max down to ngram_min. The token after their most recent occurrence is the first
 * candidate. Tokens after older occurrences follow, then tokens after shorter n-grams.
 *
 * A copy goes on: after a guess that was copied from index i, the first candidate is the token at i + 1, whatever
 * n-gram the copy began with. The cursor holds that index and the length of the match so far. The copy runs on into
 * the guesses themselves, so that it continues a period of any length:
 *
 *     sequence  a b c a b | path c a b c ...
 *                 ▲ an occurrence of "a b" ends here: guess i copies (sequence, path)[2 + i]
 *
 * There is one index for each n. `last` maps an n-gram's hash to the end of its last occurrence. `previous` maps an
 * end to the end before it in the same slot of `last`:
 *
 *     last [slots]          hash ──► end ──► previous[end] ──► ... ──► 0: none
 *     previous [n_ctx + 1]
 *
 * An end e in [n, n_seen] stands for tokens[e - n, e). Adding a token pushes one end on one chain for each n. Rewinding
 * pops the ends in reverse order, which leaves every byte as if the tokens had never been added (law L3). A lookup
 * skips other n-grams of the same slot, 0.5 on average, and the sequence's own end. It gives up after MAX_PROBES, so
 * that no text makes it slow. The source copies the tokens, because a rewind comes after the sequence has changed.
 */
#include "draft/free/ngram.h"
#include "draft/registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { MAX_PROBES = 64, LENGTHS = 8, RANKS = 3 };

typedef struct table {
    int32_t *last;     /* [slots] */
    int32_t *previous; /* [n_ctx + 1] */
} table;

typedef struct ngram {
    int32_t n_ctx, n_min, n_max;
    int32_t n_seen;
    uint32_t mask;                   /* slots - 1; slots: a power of two >= 2 n_ctx */
    int32_t *tokens;                 /* [n_ctx], n_seen of them valid */
    table tables[VOUCH_NGRAM_LIMIT]; /* [n_max - n_min + 1], by n - n_min */
    vouch_arena arena;
    size_t bytes;
} ngram;

/* The n-grams of one end are hashed from the shortest on: each hash extends the one before. */
static uint64_t hash_extend(uint64_t hash, int32_t token)
{
    return vouch_hash_word(hash, (uint32_t)token);
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

static void ngram_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    ngram *g = self;
    assert(n_tokens >= g->n_seen && n_tokens <= g->n_ctx);
    while (g->n_seen < n_tokens) push(g, tokens[g->n_seen]);
}

/* ------------------------------------------------------------------- lookup */

/* A cursor: the index to copy the next token from, and how many tokens before it match; 0: no copy is running. */
static int64_t cursor_of(int32_t from, int32_t length)
{
    return (int64_t)length << 32 | from;
}

static int32_t cursor_from(int64_t cursor)
{
    return (int32_t)(cursor & INT32_MAX);
}

static int32_t cursor_length(int64_t cursor)
{
    return (int32_t)(cursor >> 32);
}

/* The token at an index that may lie in the sequence or after it in the path. */
static int32_t token_at(const ngram *g, const vouch_prefix *prefix, int32_t index)
{
    return index < g->n_seen ? g->tokens[index] : prefix->end[index - g->n_seen - prefix->depth];
}

/* How many tokens before `end` equal the last tokens of the prefix. The caller knows that n do. */
static int32_t match_length(const ngram *g, const vouch_prefix *prefix, int32_t end, int32_t n)
{
    while (n < prefix->n_tail && n < end && g->tokens[end - n - 1] == prefix->end[-n - 1]) n++;
    return n;
}

/* The class of a candidate: its rank, and whether 1, 2, 3, 4, 5 to 6, 7 to 9, 10 to 15 or more tokens match. */
static int32_t kind_of(int32_t length, int32_t rank)
{
    static const int8_t bucket[] = {0, 0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 6, 6, 6, 6, 6};
    const int32_t b = length < 16 ? bucket[length] : LENGTHS - 1;
    return b * RANKS + (rank < RANKS ? rank : RANKS - 1);
}

/* The share of right candidates in each class, counted over 8,000 greedily decoded tokens of SmolLM2-135M. */
static double ngram_prior(int32_t kind)
{
    static const double first[LENGTHS] = {0.25, 0.5, 0.6, 0.68, 0.78, 0.85, 0.88, 0.96};
    static const double later[RANKS] = {1, 0.12, 0.05};
    const int32_t rank = kind % RANKS;
    if (kind == LENGTHS * RANKS) return 0.012;
    return rank == 0 ? first[kind / RANKS] : later[rank];
}

/* Adds a token unless it is a candidate already. Returns the number of candidates. */
static int32_t add(vouch_candidate *out, int32_t n, int32_t token, int32_t length)
{
    for (int32_t i = 0; i < n; i++)
        if (out[i].token == token) return n;
    out[n] = (vouch_candidate){.token = token, .kind = kind_of(length, n)};
    return n + 1;
}

static uint64_t hash_of(const int32_t *end, int32_t n)
{
    uint64_t hash = 0;
    for (int32_t i = 1; i <= n; i++) hash = hash_extend(hash, end[-i]);
    return hash;
}

/* Follows the chain from `end` to the next occurrence of the last n tokens of the prefix. Returns its end; 0: none. */
static int32_t find(const ngram *g, const vouch_prefix *prefix, int32_t n, int32_t end, int32_t *probes)
{
    const int32_t *previous = g->tables[n - g->n_min].previous;
    for (; end > 0 && *probes < MAX_PROBES; end = previous[end], ++*probes) {
        if (end == g->n_seen && prefix->depth == 0) continue; /* the prefix's own end */
        if (memcmp(&g->tokens[end - n], prefix->end - n, (size_t)n * sizeof *g->tokens) == 0) return end;
    }
    return 0;
}

static int32_t ngram_expand(const void *self, const vouch_prefix *prefix, vouch_candidate *out)
{
    const ngram *g = self;
    int32_t n_out = 0;
    const int32_t from = cursor_from(prefix->cursor);
    if (from > 0) n_out = add(out, 0, token_at(g, prefix, from), cursor_length(prefix->cursor));
    for (int32_t n = g->n_max; n >= g->n_min; n--) {
        if (n > prefix->n_tail) continue;
        const table *t = &g->tables[n - g->n_min];
        int32_t probes = 0, end = t->last[hash_of(prefix->end, n) & g->mask];
        while (n_out < VOUCH_MAX_OPTIONS && (end = find(g, prefix, n, end, &probes)) > 0) {
            n_out = add(out, n_out, token_at(g, prefix, end), match_length(g, prefix, end, n));
            end = t->previous[end];
            probes++;
        }
    }
    return n_out;
}

static int64_t ngram_start(const void *self)
{
    (void)self;
    return 0;
}

/* Goes on with the running copy, or begins one if the token is the first candidate. */
static int64_t ngram_step(const void *self, const vouch_prefix *prefix, int32_t token)
{
    const ngram *g = self;
    const int32_t from = cursor_from(prefix->cursor);
    if (from > 0)
        return token_at(g, prefix, from) == token ? cursor_of(from + 1, cursor_length(prefix->cursor) + 1) : 0;
    for (int32_t n = g->n_max; n >= g->n_min; n--) {
        if (n > prefix->n_tail) continue;
        int32_t probes = 0;
        const int32_t last = g->tables[n - g->n_min].last[hash_of(prefix->end, n) & g->mask];
        const int32_t end = find(g, prefix, n, last, &probes);
        if (end > 0)
            return token_at(g, prefix, end) == token ? cursor_of(end + 1, match_length(g, prefix, end, n) + 1) : 0;
    }
    return 0;
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

static void ngram_layout(ngram *g)
{
    const size_t n_ctx = (size_t)g->n_ctx;
    g->tokens = vouch_arena_take(&g->arena, n_ctx, sizeof *g->tokens);
    for (int32_t i = 0; i <= g->n_max - g->n_min; i++) {
        g->tables[i].last = vouch_arena_take(&g->arena, (size_t)g->mask + 1, sizeof(int32_t));
        g->tables[i].previous = vouch_arena_take(&g->arena, n_ctx + 1, sizeof(int32_t));
    }
}

/* The arena holds the whole index. Its padding is always zero. */
static uint64_t ngram_digest(const void *self)
{
    const ngram *g = self;
    return vouch_hash_words((uint64_t)g->n_seen, g->arena.base, g->arena.used);
}

static const vouch_source_ops ngram_ops = {
    .name = "ngram",
    .bit = VOUCH_DRAFTER_NGRAM,
    .n_classes = LENGTHS * RANKS,
    .observe = ngram_observe,
    .rewind = ngram_rewind,
    .start = ngram_start,
    .step = ngram_step,
    .expand = ngram_expand,
    .prior = ngram_prior,
    .trust = 0.3,
    .close = ngram_close,
    .memory = ngram_memory,
    .digest = ngram_digest,
};

vouch_status vouch_source_ngram_open(vouch_source *out, int32_t n_ctx, int32_t ngram_min, int32_t ngram_max,
                                     vouch_error *err)
{
    *out = (vouch_source){0};
    if (ngram_min < 1 || ngram_min > ngram_max || ngram_max > VOUCH_NGRAM_LIMIT)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "speculation: ngram_min is %d and ngram_max is %d; they must satisfy "
                          "1 <= ngram_min <= ngram_max <= %d",
                          ngram_min, ngram_max, VOUCH_NGRAM_LIMIT);
    if (n_ctx < 1 || n_ctx > 1 << 30)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "n-gram drafter: n_ctx is %d; it must be from 1 to %d", n_ctx,
                          1 << 30);
    ngram *g = calloc(1, sizeof *g);
    if (!g) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the n-gram drafter (%zu bytes)", sizeof *g);
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
    *out = (vouch_source){.ops = &ngram_ops, .self = g};
    return VOUCH_OK;
}

static vouch_status open_free(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_speculation *spec = setup->speculation;
    return vouch_source_ngram_open(out, setup->n_ctx, spec->ngram_min, spec->ngram_max, err);
}

const vouch_drafter_type vouch_drafter_type_ngram = {
    .in_auto = true, .settings = "ngram-min ngram-max", .open_free = open_free};
