/* SPDX-License-Identifier: MIT */
/*
 * Suffix decoding (Oliaro et al., arXiv 2411.04975). A prefix stands at the tree's node for its longest suffix that the
 * text contains. The tokens that followed this suffix are the candidates, the most frequent first. The tokens that
 * followed shorter suffixes come next. A candidate's class is the length of its suffix and its share of the tokens that
 * followed.
 */
#include "draft/free/suffix.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "draft/free/suffix_tree.h"
#include "draft/registry.h"

enum {
    SHARES = 6,
    LENGTHS = VOUCH_SUFFIX_KINDS / SHARES,
    MAX_CHILDREN = 64, /* the youngest children of a node, which are searched for candidates */
};

typedef struct suffix {
    vouch_suffix_tree tree;
    int32_t end; /* the node of the sequence's end */
    vouch_arena arena;
    size_t bytes;
} suffix;

static void suffix_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    suffix *s = self;
    while (s->tree.n_tokens < n_tokens) vouch_suffix_tree_push(&s->tree, tokens[s->tree.n_tokens]);
    s->end = vouch_suffix_tree_end(&s->tree);
}

static void suffix_rewind(void *self, int32_t n_tokens)
{
    suffix *s = self;
    while (s->tree.n_tokens > n_tokens) vouch_suffix_tree_pop(&s->tree);
    s->end = vouch_suffix_tree_end(&s->tree);
}

static int64_t suffix_start(const void *self)
{
    return ((const suffix *)self)->end;
}

static int64_t suffix_step(const void *self, const vouch_prefix *prefix, int32_t token)
{
    const suffix *s = self;
    return vouch_suffix_tree_step(&s->tree, (int32_t)prefix->cursor, token);
}

int32_t vouch_suffix_kind(int32_t length, int32_t count, int32_t total, bool is_longest)
{
    static const int8_t bucket[] = {0, 0, 1, 2, 3, 4, 4, 5, 5, 5};
    const int32_t row = length < 10 ? bucket[length] : LENGTHS - 1;
    const double share = (double)count / total;
    const int32_t kind = !is_longest ? 5 : total == 1 ? 0 : share >= 0.9 ? 1 : share >= 0.6 ? 2 : share >= 0.3 ? 3 : 4;
    return row * SHARES + kind;
}

double vouch_suffix_prior(int32_t kind)
{
    static const double priors[LENGTHS][SHARES] = {
        {0.30, 0.60, 0.40, 0.17, 0.07, 0.02}, {0.56, 0.76, 0.55, 0.22, 0.12, 0.05},
        {0.62, 0.80, 0.55, 0.23, 0.14, 0.06}, {0.68, 0.85, 0.55, 0.30, 0.17, 0.07},
        {0.77, 0.90, 0.60, 0.30, 0.17, 0.04}, {0.84, 0.95, 0.60, 0.35, 0.17, 0.06},
        {0.92, 0.98, 0.70, 0.42, 0.20, 0.04}};
    return kind == VOUCH_SUFFIX_KINDS ? 0.014 : priors[kind / SHARES][kind % SHARES];
}

/* The likeliest children by count, among equals the youngest first. Returns their number. */
static int32_t best_children(const vouch_suffix_tree *tree, int32_t node, int32_t *best, int32_t *total)
{
    int32_t n = 0, looked = 0;
    *total = 0;
    for (int32_t c = tree->nodes[node].first; c && looked < MAX_CHILDREN; c = tree->nodes[c].next, looked++) {
        const int32_t count = tree->nodes[c].count;
        *total += count;
        if (n == VOUCH_MAX_OPTIONS && count <= tree->nodes[best[n - 1]].count) continue;
        int32_t at = n < VOUCH_MAX_OPTIONS ? n++ : n - 1;
        for (; at > 0 && count > tree->nodes[best[at - 1]].count; at--) best[at] = best[at - 1];
        best[at] = c;
    }
    return n;
}

static int32_t suffix_expand(const void *self, const vouch_prefix *prefix, vouch_candidate *out)
{
    const suffix *s = self;
    const vouch_suffix_tree *tree = &s->tree;
    int32_t n = 0;
    bool is_first = true;
    for (int32_t node = (int32_t)prefix->cursor; node != VOUCH_SUFFIX_ROOT; node = tree->nodes[node].link) {
        int32_t best[VOUCH_MAX_OPTIONS], total;
        const int32_t n_best = best_children(tree, node, best, &total);
        for (int32_t i = 0; i < n_best && n < VOUCH_MAX_OPTIONS; i++) {
            const vouch_suffix_node *child = &tree->nodes[best[i]];
            bool is_new = true;
            for (int32_t j = 0; j < n; j++) is_new &= out[j].token != child->token;
            if (!is_new) continue;
            out[n++] =
                (vouch_candidate){child->token, vouch_suffix_kind(child->depth - 1, child->count, total, is_first)};
        }
        if (n_best > 0) is_first = false;
        if (n == VOUCH_MAX_OPTIONS) break;
    }
    return n;
}

/* -------------------------------------------------------------------- memory */

static void suffix_close(void *self)
{
    suffix *s = self;
    vouch_arena_free(&s->arena);
    free(s);
}

static size_t suffix_memory(const void *self)
{
    return ((const suffix *)self)->bytes;
}

/* The arena holds the whole tree. Its padding is always zero. */
static uint64_t suffix_digest(const void *self)
{
    const suffix *s = self;
    uint64_t hash = (uint64_t)s->tree.n_tokens << 32 | (uint32_t)s->tree.n_nodes;
    hash = vouch_hash_words(hash, s->arena.base, s->arena.used);
    for (int32_t d = 0; d <= VOUCH_SUFFIX_DEPTH; d++) hash = vouch_hash_word(hash, (uint32_t)s->tree.active[d]);
    return hash;
}

static const vouch_source_ops suffix_ops = {
    .name = "suffix",
    .bit = VOUCH_DRAFTER_SUFFIX,
    .n_classes = VOUCH_SUFFIX_KINDS,
    .observe = suffix_observe,
    .rewind = suffix_rewind,
    .start = suffix_start,
    .step = suffix_step,
    .expand = suffix_expand,
    .prior = vouch_suffix_prior,
    .trust = 0.8,
    .close = suffix_close,
    .memory = suffix_memory,
    .digest = suffix_digest,
};

vouch_status vouch_source_suffix_open(vouch_source *out, int32_t n_ctx, vouch_error *err)
{
    static const char what[] = "the suffix tree";
    *out = (vouch_source){0};
    suffix *s = calloc(1, sizeof *s);
    if (!s) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %s (%zu bytes)", what, sizeof *s);
    vouch_suffix_tree_layout(&s->tree, n_ctx, &s->arena);
    s->bytes = sizeof *s + s->arena.used;
    const vouch_status status = vouch_arena_allocate(&s->arena, what, err);
    if (status != VOUCH_OK) {
        free(s);
        return status;
    }
    vouch_suffix_tree_layout(&s->tree, n_ctx, &s->arena);
    *out = (vouch_source){.ops = &suffix_ops, .self = s};
    return VOUCH_OK;
}

static vouch_status open_free(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    return vouch_source_suffix_open(out, setup->n_ctx, err);
}

const vouch_drafter_type vouch_drafter_type_suffix = {.in_auto = true, .open_free = open_free};
