/* SPDX-License-Identifier: MIT */
/*
 * A draft model as a guesser:
 *
 *   committed  [0 .............. n)   guesses  g0 g1 ... g(k-1)
 *   tokens     [0 .............. n)
 *   rows                                       g0 g1 ... g(k-2)   provisional
 *
 * The rows of all sessions of an engine that draft with this model run in one pass (model/pass/shared_pass.h).
 *
 * Rows of a chain stay in the cache where their guesses became tokens of the sequence. Rows of a tree are dropped.
 *
 * Where the token tables differ, the cache holds the pieces that spell each of the target's tokens (bridge.h), which
 * may be more tokens. `offsets` counts the pieces before each token.
 */
#include "draft/paid/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "draft/registry.h"
#include "draft/paid/tree.h"

/* With a bridge the context holds this many times the session's tokens. */
enum { SPELLED = 2 };

typedef struct model_guesser {
    vouch_shared_sequence sequence;
    vouch_staged staged;          /* the rows of the last follow or feed */
    vouch_bridge *bridge;         /* NULL: the token tables are the same */
    float *logits;                /* [n_vocab of the target], with a bridge */
    int32_t n_told;               /* tokens of the sequence that the cache holds */
    int32_t n_fed;                /* provisional rows of the last draft, if it was a chain; 0 after a tree */
    int32_t fed[VOUCH_MAX_DRAFT]; /* [n_fed] their guesses */
    int32_t *offsets;  /* [n_session + 1] with a bridge: pieces in the cache before each token of the sequence */
    int32_t *spelled;  /* [chunk] with a bridge: pieces of the next rows */
    int32_t n_session; /* context of the session */
    int32_t n_ctx, chunk;
    vouch_arena arena;
} model_guesser;

/* Number of tokens in the cache for the first n tokens of the sequence. */
static int32_t offset_of(const model_guesser *g, int32_t n)
{
    return g->bridge ? g->offsets[n] : n;
}

/* The next rows of tokens[n_told, n), at most `most`, as *rows. Returns their number; 0 where the context or `most` has
 * no room for a token. */
static int32_t spell(model_guesser *g, const int32_t *tokens, int32_t n, int32_t most, const int32_t **rows)
{
    const int32_t at = offset_of(g, g->n_told), room = vouch_min(vouch_min(g->chunk, most), g->n_ctx - at);
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

/* Whether the context has room for the next token's pieces. */
static bool has_context(const model_guesser *g, const int32_t *tokens)
{
    const int32_t *pieces = g->bridge ? &g->bridge->first[tokens[g->n_told]] : NULL;
    return offset_of(g, g->n_told) + (pieces ? pieces[1] - pieces[0] : 1) <= g->n_ctx;
}

static vouch_staging model_follow(void *self, const int32_t *tokens, int32_t n, bool logits)
{
    model_guesser *g = self;
    keep_accepted(g, tokens, n);
    if (logits && g->n_told == n) model_rewind(g, n - 1);
    if (g->n_told == n || !has_context(g, tokens)) return VOUCH_STAGED_NONE;
    const int32_t *spelled, room = vouch_shared_pass_room(g->sequence.shared, logits);
    const int32_t n_rows = spell(g, tokens, n, room, &spelled);
    if (n_rows == 0) return VOUCH_STAGED_FULL;
    vouch_row *rows = vouch_shared_pass_rows(g->sequence.shared);
    for (int32_t i = 0; i < n_rows; i++)
        rows[i] = (vouch_row){.memory = g->sequence.memory, .token = spelled[i], .parent = -1, .kept = true};
    rows[n_rows - 1].logits = logits && g->n_told == n;
    g->staged = vouch_shared_pass_stage(g->sequence.shared, n_rows);
    return g->n_told < n ? VOUCH_STAGED_PART : VOUCH_STAGED_ROWS;
}

static int32_t model_room(const void *self)
{
    const model_guesser *g = self;
    return g->n_ctx - offset_of(g, g->n_told) - vouch_memory_n_rows(g->sequence.memory);
}

static vouch_staging model_feed(void *self, const int32_t *guesses, const int32_t *parents, int32_t n)
{
    model_guesser *g = self;
    vouch_memory *memory = g->sequence.memory;
    assert(n >= 1 && n <= VOUCH_MAX_DRAFT);
    if (vouch_shared_pass_room(g->sequence.shared, n) < n) return VOUCH_STAGED_FULL;
    vouch_row *rows = vouch_shared_pass_rows(g->sequence.shared);
    for (int32_t i = 0; i < n; i++) {
        const int32_t token = g->bridge ? vouch_bridge_token(g->bridge, guesses[i]) : guesses[i];
        const int32_t parent = parents ? parents[i] : vouch_memory_n_rows(memory) + i - 1;
        rows[i] = (vouch_row){.memory = memory, .token = token, .parent = parent, .logits = true};
    }
    g->staged = vouch_shared_pass_stage(g->sequence.shared, n);
    for (int32_t i = 0; i < n && !parents; i++) g->fed[g->n_fed++] = guesses[i];
    return VOUCH_STAGED_ROWS;
}

static double model_run(void *self)
{
    model_guesser *g = self;
    vouch_shared_sequence_run(&g->sequence);
    return vouch_shared_pass_seconds(g->sequence.shared, &g->staged);
}

static double model_part(const void *self, int32_t n_rows, int32_t n)
{
    const model_guesser *g = self;
    return vouch_shared_pass_part(g->sequence.shared, n_rows, n);
}

static const float *model_logits(void *self, int32_t i)
{
    model_guesser *g = self;
    const float *logits = vouch_pass_logits(g->sequence.shared->pass, g->staged.first_logits + i);
    if (!g->bridge) return logits;
    vouch_bridge_logits(g->bridge, logits, g->logits);
    return g->logits;
}

static void model_close(void *self)
{
    model_guesser *g = self;
    vouch_shared_sequence_close(&g->sequence);
    vouch_bridge_close(g->bridge);
    vouch_arena_free(&g->arena);
    free(g);
}

static size_t model_memory(const void *self)
{
    const model_guesser *g = self;
    return sizeof *g + g->arena.size + vouch_shared_sequence_bytes(&g->sequence) + vouch_bridge_memory(g->bridge);
}

static uint64_t model_digest(const void *self)
{
    const model_guesser *g = self;
    return vouch_memory_digest_kept(g->sequence.memory, g->n_fed);
}

static const vouch_guesser_ops model_ops = {.follow = model_follow,
                                            .room = model_room,
                                            .feed = model_feed,
                                            .run = model_run,
                                            .part = model_part,
                                            .logits = model_logits,
                                            .known = model_known,
                                            .rewind = model_rewind,
                                            .close = model_close,
                                            .memory = model_memory,
                                            .digest = model_digest};

/* ------------------------------------------------------------------- opening */

static void layout_guesser(model_guesser *g, vouch_arena *arena)
{
    if (!g->bridge) return;
    g->logits = vouch_arena_take(arena, (size_t)g->bridge->n_target, sizeof *g->logits);
    g->offsets = vouch_arena_take(arena, (size_t)g->n_session + 1, sizeof *g->offsets);
    g->spelled = vouch_arena_take(arena, (size_t)g->chunk, sizeof *g->spelled);
}

static void set_sizes(model_guesser *g, const vouch_drafter_setup *setup)
{
    const int32_t trained = setup->draft_model->hparams.n_ctx_train;
    g->n_session = setup->n_ctx;
    const int64_t wanted = (int64_t)setup->n_ctx * (g->bridge && g->bridge->most > 1 ? SPELLED : 1);
    g->n_ctx = wanted < trained ? (int32_t)wanted : trained;
    g->chunk = setup->prefill_chunk;
    if (g->bridge && g->chunk < g->bridge->most) g->chunk = g->bridge->most;
}

static vouch_status open_guesser(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_bridge *bridge,
                                 vouch_error *err)
{
    const vouch_speculation *spec = setup->speculation;
    model_guesser *g = calloc(1, sizeof *g);
    if (!g) {
        vouch_bridge_close(bridge);
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the draft model's state");
    }
    g->bridge = bridge;
    set_sizes(g, setup);
    vouch_arena arena = {0};
    layout_guesser(g, &arena);
    const vouch_shared_sequence_options sequence = {.pass = {.n_ctx = g->n_ctx,
                                                             .max_rows = vouch_max(g->chunk, spec->n_draft),
                                                             .max_logits = vouch_setup_level(setup),
                                                             .output = spec->draft_vocab,
                                                             .n_output = (int32_t)spec->n_draft_vocab},
                                                    .max_tree = spec->n_draft,
                                                    .kv_type = setup->kv_type};
    vouch_status status = vouch_arena_allocate(&arena, "the draft model's tokens", err);
    if (status == VOUCH_OK) {
        layout_guesser(g, &arena);
        g->arena = arena;
        status = vouch_shared_sequence_open(&g->sequence, setup->passes, setup->draft_model, &sequence, err);
    }
    if (status != VOUCH_OK) model_close(g);
    else *out = (vouch_guesser){.ops = &model_ops, .self = g};
    return status;
}

vouch_status vouch_drafter_model_open(vouch_drafter_ref *out, const vouch_drafter_setup *setup, vouch_bridge *bridge,
                                      vouch_error *err)
{
    vouch_guesser guesser;
    *out = (vouch_drafter_ref){0};
    VOUCH_TRY(open_guesser(&guesser, setup, bridge, err));
    return vouch_drafter_tree_open(out, guesser, "draft", VOUCH_DRAFTER_MODEL, setup, setup->draft_model->kernels, err);
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
                          "speculation: draft_vocab has %zu tokens; expected at most the draft model's %d", n, n_vocab);
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
    vouch_bridge *bridge;
    VOUCH_TRY(check_head(setup->speculation, setup->draft_tokens.n, err));
    VOUCH_TRY(open_bridge(&bridge, setup, err));
    return vouch_drafter_model_open(out, setup, bridge, err);
}

/* The time of a pass is roughly proportional to the weights that it reads. */
static double share(const vouch_drafter_setup *setup)
{
    return (double)setup->draft_model->arena.size / (double)setup->target->arena.size;
}

static bool is_given(const vouch_speculation *speculation)
{
    return speculation->draft_model;
}

const vouch_drafter_type vouch_drafter_type_draft = {.in_auto = true,
                                                     .needs = "a draft model",
                                                     .need = VOUCH_NEED_OPTION,
                                                     .flags = "draft-model",
                                                     .settings = "draft-sampling allow-vocab-mismatch draft-vocab",
                                                     .is_given = is_given,
                                                     .lacks = "a draft model; set draft_model",
                                                     .has_q = true,
                                                     .open_paid = open_paid,
                                                     .share = share};
