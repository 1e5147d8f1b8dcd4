/* SPDX-License-Identifier: MIT */
/*
 * Suffix decoding (Oliaro et al., arXiv 2411.04975). A prefix stands at the tree's node for its longest suffix that the
 * text contains. The tokens that followed this suffix are the candidates, the most frequent first. The tokens that
 * followed shorter suffixes come next. A candidate's class is the length of its suffix and its share of the tokens that
 * followed.
 *
 * Two sources work this way. `suffix` has the sequence itself as its text. `history` has earlier answers:
 *
 *   text  answer 1 | answer 2 | ... | answer n        | is a separator, which is no token
 *
 * An answer is added when it is over. If it doesn't fit, the older half of the text is dropped first. Adding only
 * copies tokens. The tree takes them in when the source next observes a sequence, in 0.2 us a token. So a session
 * that is given 65,000 kept tokens opens in under a millisecond, and its first prompt pays 14 ms. The sequence itself
 * is looked up in the tree and never added to it.
 */
#include "draft/free/suffix.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "draft/free/suffix_tree.h"
#include "draft/registry.h"

enum {
    LENGTHS = 7,
    SHARES = 6,        /* classes */
    MAX_CHILDREN = 64, /* the youngest children of a node, which are searched for candidates */
};

typedef struct suffix {
    vouch_suffix_tree tree;
    int32_t end;      /* the node of the sequence's end */
    int32_t n_kept;   /* history: tokens of answers; those from tree.n_tokens on are not yet in the tree */
    int32_t n_told;   /* history: length of the sequence that `end` belongs to */
    int32_t n_prompt; /* history: the position at which the running answer begins; -1: there is none */
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

/* The class of a candidate. Its suffix has 1, 2, 3, 4, 5 to 6, 7 to 9, or 10 and more tokens. The token followed the
 * suffix the only time it occurred, nearly always, mostly, often or rarely; or a longer suffix had other candidates. */
static int32_t kind_of(int32_t depth, int32_t count, int32_t total, bool is_first)
{
    static const int8_t bucket[] = {0, 0, 1, 2, 3, 4, 4, 5, 5, 5};
    const int32_t length = depth < 10 ? bucket[depth] : LENGTHS - 1;
    const double share = (double)count / total;
    const int32_t kind = !is_first ? 5 : total == 1 ? 0 : share >= 0.9 ? 1 : share >= 0.6 ? 2 : share >= 0.3 ? 3 : 4;
    return length * SHARES + kind;
}

/* Counted on 8,000 greedy tokens of SmolLM2-135M. */
static double suffix_prior(int32_t kind)
{
    static const double priors[LENGTHS][SHARES] = {
        {0.30, 0.60, 0.40, 0.17, 0.07, 0.02}, {0.56, 0.76, 0.55, 0.22, 0.12, 0.05},
        {0.62, 0.80, 0.55, 0.23, 0.14, 0.06}, {0.68, 0.85, 0.55, 0.30, 0.17, 0.07},
        {0.77, 0.90, 0.60, 0.30, 0.17, 0.04}, {0.84, 0.95, 0.60, 0.35, 0.17, 0.06},
        {0.92, 0.98, 0.70, 0.42, 0.20, 0.04}};
    return kind == LENGTHS * SHARES ? 0.014 : priors[kind / SHARES][kind % SHARES];
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
            bool is_new = child->token != VOUCH_HISTORY_SEPARATOR;
            for (int32_t j = 0; j < n; j++) is_new &= out[j].token != child->token;
            if (!is_new) continue;
            out[n++] = (vouch_candidate){child->token, kind_of(child->depth - 1, child->count, total, is_first)};
        }
        if (n_best > 0) is_first = false;
        if (n == VOUCH_MAX_OPTIONS) break;
    }
    return n;
}

/* ------------------------------------------------------------------- history */

static void history_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    suffix *s = self;
    vouch_suffix_tree *tree = &s->tree;
    while (tree->n_tokens < s->n_kept) vouch_suffix_tree_push(tree, tree->tokens[tree->n_tokens]);
    s->end = VOUCH_SUFFIX_ROOT;
    s->n_told = n_tokens;
    for (int32_t i = n_tokens < VOUCH_SUFFIX_DEPTH ? 0 : n_tokens - VOUCH_SUFFIX_DEPTH; i < n_tokens; i++)
        s->end = vouch_suffix_tree_step(tree, s->end, tokens[i]);
}

static void history_rewind(void *self, int32_t n_tokens)
{
    suffix *s = self;
    if (n_tokens < s->n_told) s->end = VOUCH_SUFFIX_ROOT; /* until the source observes the sequence again */
}

static void history_begin(void *self, const int32_t *tokens, int32_t n_tokens)
{
    (void)tokens;
    ((suffix *)self)->n_prompt = n_tokens;
}

/* Makes room: keeps the newest whole answers that fit into half of the capacity. An answer is shorter than that. */
static void drop_older_half(suffix *s)
{
    vouch_suffix_tree *tree = &s->tree;
    int32_t from = s->n_kept - tree->capacity / 2;
    if (from <= 0) return;
    for (int32_t i = from - 1; i < s->n_kept; i++) /* an answer may begin at `from` itself */
        if (tree->tokens[i] == VOUCH_HISTORY_SEPARATOR) {
            from = i + 1;
            break;
        }
    vouch_suffix_tree_clear(tree);
    s->n_kept -= from;
    memmove(tree->tokens, tree->tokens + from, (size_t)s->n_kept * sizeof *tree->tokens);
    memset(tree->tokens + s->n_kept, 0, (size_t)from * sizeof *tree->tokens);
}

void vouch_source_history_add(vouch_source history, const int32_t *tokens, int32_t n_tokens)
{
    suffix *s = history.self;
    vouch_suffix_tree *tree = &s->tree;
    const int32_t most = tree->capacity / 2 - 1;
    if (most < 1 || n_tokens < 1) return;
    const int32_t n = n_tokens < most ? n_tokens : most;
    if (n + 1 > tree->capacity - s->n_kept) drop_older_half(s);
    memcpy(tree->tokens + s->n_kept, tokens, (size_t)n * sizeof *tokens);
    s->n_kept += n;
    tree->tokens[s->n_kept++] = VOUCH_HISTORY_SEPARATOR;
    s->end = VOUCH_SUFFIX_ROOT;
}

const int32_t *vouch_source_history_tokens(vouch_source history, int32_t *n_tokens)
{
    const suffix *s = history.self;
    *n_tokens = s->n_kept;
    return s->tree.tokens;
}

static void history_end(void *self, const int32_t *tokens, int32_t n_tokens)
{
    suffix *s = self;
    const int32_t from = s->n_prompt;
    s->n_prompt = -1;
    if (from >= 0 && from < n_tokens)
        vouch_source_history_add((vouch_source){.self = s}, tokens + from, n_tokens - from);
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
    .n_classes = LENGTHS * SHARES,
    .observe = suffix_observe,
    .rewind = suffix_rewind,
    .start = suffix_start,
    .step = suffix_step,
    .expand = suffix_expand,
    .prior = suffix_prior,
    .trust = 0.8,
    .close = suffix_close,
    .memory = suffix_memory,
    .digest = suffix_digest,
};

static const vouch_source_ops history_ops = {
    .name = "history",
    .bit = VOUCH_DRAFTER_HISTORY,
    .n_classes = LENGTHS * SHARES,
    .observe = history_observe,
    .begin = history_begin,
    .end = history_end,
    .rewind = history_rewind,
    .start = suffix_start,
    .step = suffix_step,
    .expand = suffix_expand,
    .prior = suffix_prior,
    .trust = 0.4,
    .close = suffix_close,
    .memory = suffix_memory,
    .digest = suffix_digest,
};

static vouch_status source_open(vouch_source *out, const vouch_source_ops *ops, int32_t capacity, const char *what,
                                vouch_error *err)
{
    *out = (vouch_source){0};
    suffix *s = calloc(1, sizeof *s);
    if (!s) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %s (%zu bytes)", what, sizeof *s);
    vouch_suffix_tree_layout(&s->tree, capacity, &s->arena);
    s->bytes = sizeof *s + s->arena.used;
    const vouch_status status = vouch_arena_allocate(&s->arena, what, err);
    if (status != VOUCH_OK) {
        free(s);
        return status;
    }
    vouch_suffix_tree_layout(&s->tree, capacity, &s->arena);
    s->n_prompt = -1;
    *out = (vouch_source){.ops = ops, .self = s};
    return VOUCH_OK;
}

vouch_status vouch_source_suffix_open(vouch_source *out, int32_t n_ctx, vouch_error *err)
{
    return source_open(out, &suffix_ops, n_ctx, "the suffix tree", err);
}

vouch_status vouch_source_history_open(vouch_source *out, int32_t capacity, vouch_error *err)
{
    return source_open(out, &history_ops, capacity, "the history of answers (history_tokens sets its size)", err);
}

static vouch_status open_suffix(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    return vouch_source_suffix_open(out, setup->n_ctx, err);
}

static vouch_status open_history(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    return vouch_source_history_open(out, setup->speculation->history_tokens, err);
}

const vouch_drafter_type vouch_drafter_type_suffix = {.in_auto = true, .open_free = open_suffix};
const vouch_drafter_type vouch_drafter_type_history = {.in_auto = true,
                                                       .needs = "a history",
                                                       .need = VOUCH_NEED_HISTORY,
                                                       .flags = "history",
                                                       .settings = "history-tokens",
                                                       .open_free = open_history};
