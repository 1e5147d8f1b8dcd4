/* SPDX-License-Identifier: MIT */
/*
 * A draft model as a guesser:
 *
 *   committed  [0 .............. n)   guesses  g0 g1 ... g(k-1)
 *   tokens     [0 .............. n)
 *   rows                                       g0 g1 ... g(k-2)   provisional
 *
 * Rows of a chain stay in the cache where their guesses became tokens of the sequence. Rows of a tree are dropped.
 *
 * Where the token tables differ, the cache holds the pieces that spell each of the target's tokens (bridge.h), which
 * may be more tokens. `offsets` counts the pieces before each token.
 */
#include "draft/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "draft/registry.h"
#include "draft/tree.h"

/* With a bridge the context holds this many times the session's tokens. */
enum { SPELLED = 2 };

typedef struct model_guesser {
    vouch_sequence sequence;
    vouch_bridge *bridge; /* NULL: the token tables are the same */
    float *logits;        /* [n_vocab of the target], with a bridge */
    vouch_matrix head;    /* rows of the tokens in --draft-vocab's list; without a list unused */
    float *head_bias;     /* [head.n_out] of its logits, where the model has one */
    int32_t n_told;       /* tokens of the sequence that the cache holds */
    int32_t n_fed;        /* provisional rows of the last draft, if it was a chain; 0 after a tree */
    int32_t fed[VOUCH_MAX_DRAFT]; /* [n_fed] their guesses */
    int32_t *offsets;         /* [n_session + 1] with a bridge: pieces in the cache before each token of the sequence */
    int32_t *spelled;         /* [chunk] with a bridge: pieces of the next rows */
    int32_t n_session;        /* context of the session */
    int32_t n_ctx, chunk;
    vouch_arena arena;
} model_guesser;

/* Cached tokens for the first n of the sequence. */
static int32_t offset_of(const model_guesser *g, int32_t n)
{
    return g->bridge ? g->offsets[n] : n;
}

/* The next rows of tokens[n_told, n), at most a chunk, as *rows. Returns their number; 0 where the context has no room
 * for a token. */
static int32_t spell(model_guesser *g, const int32_t *tokens, int32_t n, const int32_t **rows)
{
    const int32_t at = offset_of(g, g->n_told), room = vouch_min(g->chunk, g->n_ctx - at);
    int32_t used = 0;
    if (!g->bridge) {
        *rows = tokens + g->n_told;
        used = vouch_min(n - g->n_told, room);
        g->n_told += used;
        return used;
    }
    *rows = g->spelled;
    for (; g->n_told < n; g->n_told++) {
        const int32_t *first = &g->bridge->first[tokens[g->n_told]], n_pieces = first[1] - first[0];
        if (used + n_pieces > room) return used;
        memcpy(g->spelled + used, g->bridge->pieces + first[0], (size_t)n_pieces * sizeof *g->spelled);
        used += n_pieces;
        g->offsets[g->n_told + 1] = at + used;
    }
    return used;
}

/* Only the first n tokens, guesses included, stay in the cache; fewer where the memory can't go back to n. */
static void model_rewind(void *self, int32_t n)
{
    model_guesser *g = self;
    vouch_memory *memory = g->sequence.memory;
    g->n_fed = n > g->n_told ? vouch_min(g->n_fed, n - g->n_told) : 0;
    if (n >= g->n_told) return;
    const int32_t left = vouch_memory_rewind(memory, offset_of(g, n));
    for (g->n_told = n; offset_of(g, g->n_told) > left;) g->n_told--;
    if (offset_of(g, g->n_told) < left) g->n_told = vouch_memory_rewind(memory, 0); /* within a token's pieces */
}

/* The number of the sequence's first tokens that the cache holds, accepted guesses included. */
static int32_t model_known(const void *self, const int32_t *tokens, int32_t n_tokens)
{
    const model_guesser *g = self;
    int32_t n = vouch_min(g->n_told, n_tokens);
    while (n < n_tokens && n - g->n_told < g->n_fed && tokens[n] == g->fed[n - g->n_told]) n++;
    return n;
}

/* The guesses that became tokens stay, the others go. */
static void keep_accepted(model_guesser *g, const int32_t *tokens, int32_t n)
{
    const int32_t n_known = model_known(g, tokens, n);
    if (n_known < g->n_told) {
        model_rewind(g, n_known);
        return;
    }
    vouch_memory_keep_rows(g->sequence.memory, n_known - g->n_told);
    for (; g->n_told < n_known; g->n_told++)
        if (g->bridge) g->offsets[g->n_told + 1] = g->offsets[g->n_told] + 1;
    g->n_fed = 0;
}

/* Runs the tokens that the cache lacks, in chunks of at most g->chunk rows. */
static bool model_follow(void *self, const int32_t *tokens, int32_t n, bool logits)
{
    model_guesser *g = self;
    keep_accepted(g, tokens, n);
    while (g->n_told < n) {
        const int32_t *rows, n_rows = spell(g, tokens, n, &rows);
        if (n_rows == 0) return false;
        vouch_pass_chain(g->sequence.pass, g->sequence.memory, rows, n_rows, logits && g->n_told == n ? 1 : 0);
    }
    return true;
}

static int32_t model_room(const void *self)
{
    const model_guesser *g = self;
    return g->n_ctx - offset_of(g, g->n_told) - vouch_memory_n_rows(g->sequence.memory);
}

static void model_feed(void *self, const int32_t *guesses, const int32_t *parents, int32_t n)
{
    model_guesser *g = self;
    int32_t tokens[VOUCH_MAX_DRAFT];
    assert(n >= 1 && n <= VOUCH_MAX_DRAFT);
    for (int32_t i = 0; i < n; i++) tokens[i] = g->bridge ? vouch_bridge_token(g->bridge, guesses[i]) : guesses[i];
    vouch_pass_tree(g->sequence.pass, g->sequence.memory, tokens, parents, n, n);
    for (int32_t i = 0; i < n && !parents; i++) g->fed[g->n_fed++] = guesses[i];
}

static const float *model_logits(void *self, int32_t i)
{
    model_guesser *g = self;
    const float *logits = vouch_pass_logits(g->sequence.pass, i);
    if (!g->bridge) return logits;
    vouch_bridge_logits(g->bridge, logits, g->logits);
    return g->logits;
}

static void model_close(void *self)
{
    model_guesser *g = self;
    vouch_sequence_close(&g->sequence);
    vouch_bridge_close(g->bridge);
    vouch_arena_free(&g->arena);
    free(g);
}

static size_t model_memory(const void *self)
{
    const model_guesser *g = self;
    return sizeof *g + g->arena.size + vouch_sequence_bytes(&g->sequence) + vouch_bridge_memory(g->bridge);
}

static uint64_t model_digest(const void *self)
{
    const model_guesser *g = self;
    return vouch_memory_digest_kept(g->sequence.memory, g->n_fed);
}

static const vouch_guesser_ops model_ops = {.follow = model_follow,
                                            .room = model_room,
                                            .feed = model_feed,
                                            .logits = model_logits,
                                            .known = model_known,
                                            .rewind = model_rewind,
                                            .close = model_close,
                                            .memory = model_memory,
                                            .digest = model_digest};

/* ------------------------------------------------------------------- opening */

static void layout_guesser(model_guesser *g, const vouch_drafter_model_options *options, const vouch_weights *weights,
                           vouch_arena *arena)
{
    if (g->bridge) {
        g->logits = vouch_arena_take(arena, (size_t)g->bridge->n_target, sizeof *g->logits);
        g->offsets = vouch_arena_take(arena, (size_t)g->n_session + 1, sizeof *g->offsets);
        g->spelled = vouch_arena_take(arena, (size_t)g->chunk, sizeof *g->spelled);
    }
    if (options->n_head > 0) {
        if (!vouch_matrix_shape(&g->head, weights->head->type, options->n_head, weights->head->n_in))
            arena->overflow = true;
        g->head.data = vouch_arena_take(arena, (size_t)g->head.n_tiles, g->head.tile_bytes);
        if (weights->head_bias) g->head_bias = vouch_arena_take(arena, (size_t)options->n_head, sizeof *g->head_bias);
    }
}

static void set_sizes(model_guesser *g, const vouch_drafter_model_options *options, const vouch_weights *weights)
{
    g->n_session = options->n_ctx;
    const int64_t wanted = (int64_t)options->n_ctx * (g->bridge && g->bridge->most > 1 ? SPELLED : 1);
    g->n_ctx = wanted < weights->hparams.n_ctx_train ? (int32_t)wanted : weights->hparams.n_ctx_train;
    g->chunk = options->prefill_chunk;
    if (g->bridge && g->chunk < g->bridge->most) g->chunk = g->bridge->most;
}

static vouch_status open_guesser(vouch_guesser *out, const vouch_weights *weights, vouch_pool *pool,
                                 const vouch_drafter_model_options *options, vouch_error *err)
{
    model_guesser *g = calloc(1, sizeof *g);
    if (!g) {
        vouch_bridge_close(options->bridge);
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the draft model's state");
    }
    g->bridge = options->bridge;
    set_sizes(g, options, weights);
    vouch_arena arena = {0};
    layout_guesser(g, options, weights, &arena);
    vouch_sequence_options sequence = {
        .n_ctx = g->n_ctx,
        .max_rows = g->chunk > options->k ? g->chunk : options->k,
        .max_tree = options->k,
        .max_logits = vouch_min(vouch_min(options->branches, options->k), VOUCH_MAX_TOP),
        .head = options->n_head > 0 ? &g->head : NULL,
        .kv_type = options->kv_type};
    vouch_status status = vouch_arena_allocate(&arena, "the draft model's tokens", err);
    if (status == VOUCH_OK) {
        layout_guesser(g, options, weights, &arena);
        g->arena = arena;
        if (options->n_head > 0) vouch_matrix_pick(&g->head, weights->head, options->head);
        for (int32_t i = 0; g->head_bias && i < options->n_head; i++)
            g->head_bias[i] = weights->head_bias[options->head[i]];
        sequence.head_bias = g->head_bias;
        status = vouch_sequence_open(&g->sequence, weights, pool, &sequence, err);
    }
    if (status != VOUCH_OK) model_close(g);
    else *out = (vouch_guesser){.ops = &model_ops, .self = g};
    return status;
}

vouch_status vouch_drafter_model_open(vouch_drafter_ref *out, const vouch_weights *weights, vouch_pool *pool,
                                      const vouch_drafter_model_options *options, vouch_error *err)
{
    static const vouch_drafter_ops ops = VOUCH_TREE_OPS("draft", VOUCH_DRAFTER_MODEL);
    vouch_guesser guesser;
    *out = (vouch_drafter_ref){0};
    const vouch_tree_options tree = {.ops = &ops,
                                     .sampling = options->sampling,
                                     .seed = options->seed,
                                     .kernels = weights->kernels,
                                     .n_vocab = options->bridge ? options->bridge->n_target : weights->hparams.n_vocab,
                                     .draft_sampling = options->draft_sampling,
                                     .draw = options->draw,
                                     .n_ctx = options->n_ctx,
                                     .k = options->k,
                                     .branches = options->branches,
                                     .constraint = options->constraint};
    VOUCH_TRY(open_guesser(&guesser, weights, pool, options, err));
    return vouch_drafter_tree_open(out, guesser, &tree, err);
}

/* ----------------------------------------------------------- from the options */

static vouch_status check_head(const vouch_speculation *spec, int32_t n_vocab, vouch_error *err)
{
    const size_t n = spec->n_draft_vocab;
    vouch_status status = VOUCH_OK;
    if (n > 0 && !spec->draft_vocab)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: n_draft_vocab is %zu, but draft_vocab is NULL", n);
    if (n > (size_t)n_vocab)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "speculation: draft_vocab has %zu tokens, must be at most the draft model's %d", n, n_vocab);
    bool *taken = calloc((size_t)n_vocab, sizeof *taken);
    if (!taken) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the draft model's head");
    for (size_t i = 0; i < n && status == VOUCH_OK; i++) {
        const int32_t token = spec->draft_vocab[i];
        if (token < 0 || token >= n_vocab || taken[token])
            status = vouch_fail(err, VOUCH_E_ARGUMENT,
                                "speculation: draft_vocab[%zu] is %d, expected 0 to %d, each at most once", i, token,
                                n_vocab - 1);
        else taken[token] = true;
    }
    free(taken);
    return status;
}

/* *out is NULL where the token tables are equal and the head is whole. */
static vouch_status open_bridge(vouch_bridge **out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_speculation *spec = setup->speculation;
    const vouch_vocabulary target = setup->target_tokens, draft = setup->draft_tokens;
    const bool may_differ = spec->allow_vocab_mismatch && target.tokenizer && draft.tokenizer;
    *out = NULL;
    if (may_differ && vouch_vocabulary_check_pair(target, draft, NULL) != VOUCH_OK)
        VOUCH_TRY(vouch_bridge_open(out, target.tokenizer, target.n, draft.tokenizer, draft.n, err));
    else VOUCH_TRY(vouch_vocabulary_check_pair(target, draft, err));
    if (spec->n_draft_vocab == 0) return VOUCH_OK;
    if (!*out) VOUCH_TRY(vouch_bridge_open_same(out, target.n, err));
    const vouch_status status = vouch_bridge_trim(*out, spec->draft_vocab, (int32_t)spec->n_draft_vocab, err);
    if (status != VOUCH_OK) vouch_bridge_close(*out);
    return status;
}

static vouch_status open_paid(vouch_drafter_ref *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_speculation *spec = setup->speculation;
    vouch_bridge *bridge;
    VOUCH_TRY(check_head(spec, setup->draft_tokens.n, err));
    VOUCH_TRY(open_bridge(&bridge, setup, err));
    const vouch_drafter_model_options options = {.sampling = setup->sampling,
                                                 .seed = setup->seed,
                                                 .draft_sampling = spec->draft_sampling,
                                                 .draw = setup->draw_guess,
                                                 .n_ctx = setup->n_ctx,
                                                 .prefill_chunk = setup->prefill_chunk,
                                                 .k = spec->n_draft,
                                                 .branches = setup->branches,
                                                 .kv_type = setup->kv_type,
                                                 .constraint = setup->constraint,
                                                 .bridge = bridge,
                                                 .head = spec->draft_vocab,
                                                 .n_head = (int32_t)spec->n_draft_vocab};
    return vouch_drafter_model_open(out, setup->draft_model, setup->pool, &options, err);
}

/* The time of a pass is roughly proportional to the weights that it reads. */
static double share(const vouch_drafter_setup *setup)
{
    return (double)setup->draft_model->arena.size / (double)setup->target->arena.size;
}

const vouch_drafter_type vouch_drafter_type_draft = {
    .in_auto = true, .needs = "a draft model", .has_q = true, .open_paid = open_paid, .share = share};
