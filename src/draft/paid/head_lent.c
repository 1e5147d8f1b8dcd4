/* SPDX-License-Identifier: MIT */
/*
 * A head without keys and values of its own as a guesser: one without layers, or one whose layers read the target's
 * keys and values (Gemma 4's assistants). No row sees another, so the last token's row runs alone, and a guess's row
 * reads the output of the row that it follows:
 *
 *   last token's row ─► s[0] ─► guesses ─► their rows ─► s[1], s[2], ... ─► guesses ...
 *
 * The rows of all sessions of an engine that draft with this head run in one pass (model/pass/shared_pass.h).
 */
#include "draft/paid/head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "draft/paid/head_centroids.h"
#include "draft/paid/head_inputs.h"
#include "draft/paid/head_outputs.h"

typedef struct lent {
    vouch_head_last last;
    const vouch_memory *lender; /* the target's memory, whose keys and values the head borrows; NULL: none */
    vouch_shared_sequence sequence;
    vouch_staged staged;  /* the rows of the last follow or feed */
    vouch_head_inputs in; /* of the staged rows */
    vouch_head_outputs out;
    vouch_centroids likely; /* of a head that finds few likely tokens */
    bool has_centroids;
    int32_t n_ctx, n_fed;
    float *logits; /* [n_vocab of the target], where the head guesses some tokens only */
    vouch_arena arena;
} lent;

/* Stages n rows with their tokens, of which the features are there. */
static vouch_staging stage(lent *g, const int32_t *tokens, int32_t n)
{
    vouch_row *rows = vouch_shared_pass_rows(g->sequence.shared);
    for (int32_t i = 0; i < n; i++)
        rows[i] = (vouch_row){.memory = g->sequence.memory,
                              .lender = g->lender,
                              .parent = -1,
                              .logits = !g->has_centroids,
                              .hidden = true};
    vouch_head_inputs_make(&g->in, 0, tokens, rows, n);
    g->staged = vouch_shared_pass_stage(g->sequence.shared, n);
    return VOUCH_STAGED_ROWS;
}

static vouch_staging lent_follow(void *self, const int32_t *tokens, int32_t n, bool logits)
{
    lent *g = self;
    vouch_memory_keep_rows(g->sequence.memory, 0);
    g->n_fed = 0;
    if (!vouch_head_last_is_ready(&g->last, n) || !logits) return VOUCH_STAGED_NONE;
    if (g->lender && vouch_memory_n_tokens(g->lender) != n - 1) return VOUCH_STAGED_NONE;
    if (vouch_shared_pass_room(g->sequence.shared, 1) == 0) return VOUCH_STAGED_FULL;
    vouch_head_inputs_read(&g->in, 0, g->last.states, 1);
    return stage(g, tokens + n - 1, 1);
}

static int32_t lent_room(const void *self)
{
    const lent *g = self;
    return g->n_ctx - vouch_memory_n_rows(g->sequence.memory);
}

static vouch_staging lent_feed(void *self, const int32_t *guesses, const int32_t *parents, int32_t n)
{
    lent *g = self;
    if (vouch_shared_pass_room(g->sequence.shared, n) < n) return VOUCH_STAGED_FULL;
    vouch_head_outputs_feed(&g->out, &g->in, g->n_fed, parents, n);
    g->n_fed += n;
    return stage(g, guesses, n);
}

/* Keeps the outputs of the rows that have run: of the last token's row, or of the guesses that were fed last. */
static double lent_run(void *self)
{
    lent *g = self;
    vouch_shared_sequence_run(&g->sequence);
    const double start = vouch_now();
    const int32_t n = g->n_fed > 0 ? g->staged.n_rows : 1, first = g->n_fed > 0 ? g->n_fed - n + 1 : 0;
    const float *s =
        vouch_head_outputs_keep(&g->out, &g->in, g->sequence.shared->pass, g->staged.first_hidden, first, n);
    if (g->has_centroids) vouch_centroids_run(&g->likely, s, n);
    return vouch_shared_pass_seconds(g->sequence.shared, &g->staged) + vouch_now() - start;
}

static double lent_part(const void *self, int32_t n_rows, int32_t n)
{
    return vouch_shared_pass_part(((const lent *)self)->sequence.shared, n_rows, n);
}

static int32_t lent_draft_tokens(const void *self, const int32_t **tokens)
{
    const lent *g = self;
    *tokens = g->last.head->tokens;
    return g->last.head->tokens && !g->has_centroids ? g->last.head->n_draft : 0;
}

static const float *lent_draft_logits(void *self, int32_t i)
{
    lent *g = self;
    return vouch_pass_logits(g->sequence.shared->pass, g->staged.first_logits + i);
}

static const float *lent_logits(void *self, int32_t i)
{
    lent *g = self;
    return g->has_centroids ? vouch_centroids_logits(&g->likely, i)
                            : vouch_head_spread(g->last.head, lent_draft_logits(g, i), g->logits);
}

static void lent_close(void *self)
{
    lent *g = self;
    vouch_shared_sequence_close(&g->sequence);
    vouch_arena_free(&g->arena);
    free(g);
}

static size_t lent_memory(const void *self)
{
    const lent *g = self;
    return sizeof *g + g->arena.size + vouch_shared_sequence_bytes(&g->sequence);
}

static uint64_t lent_digest(const void *self)
{
    return vouch_memory_digest(((const lent *)self)->sequence.memory);
}

static const vouch_guesser_ops lent_ops = {.follow = lent_follow,
                                           .room = lent_room,
                                           .feed = lent_feed,
                                           .run = lent_run,
                                           .part = lent_part,
                                           .logits = lent_logits,
                                           .draft_tokens = lent_draft_tokens,
                                           .draft_logits = lent_draft_logits,
                                           .taps = vouch_head_last_taps,
                                           .hidden = vouch_head_last_hidden,
                                           .n_hidden = vouch_head_last_n_hidden,
                                           .known = vouch_head_last_known,
                                           .rewind = vouch_head_last_rewind,
                                           .close = lent_close,
                                           .memory = lent_memory,
                                           .digest = lent_digest};

static void layout(lent *g, const vouch_drafter_setup *setup, vouch_arena *arena)
{
    const vouch_head_weights *h = g->last.head;
    const int32_t k = setup->speculation->n_draft;
    g->last.states = vouch_arena_take(arena, (size_t)h->n_features, sizeof *g->last.states);
    vouch_head_inputs_layout(&g->in, 1, k, arena);
    vouch_head_outputs_layout(&g->out, h, k, k, arena);
    if (h->tokens) g->logits = vouch_arena_take(arena, (size_t)setup->target_tokens.n, sizeof *g->logits);
    if (g->has_centroids) vouch_centroids_layout(&g->likely, vouch_setup_level(setup), arena);
}

static vouch_status open_parts(lent *g, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_head_weights *h = g->last.head;
    const int32_t k = setup->speculation->n_draft;
    const vouch_shared_sequence_options sequence = {
        .pass = {.n_ctx = g->n_ctx, .max_rows = k, .max_logits = vouch_setup_level(setup)},
        .max_tree = k + 1,
        .kv_type = vouch_head_kv_type(setup)};
    vouch_head_inputs_open(&g->in, h, setup->passes->pool);
    vouch_head_outputs_open(&g->out, h, setup->passes->pool);
    if (g->has_centroids) vouch_centroids_open(&g->likely, h, setup->passes->pool);
    vouch_arena arena = {0};
    layout(g, setup, &arena);
    VOUCH_TRY(vouch_arena_allocate(&arena, "the head's hidden states", err));
    layout(g, setup, &arena);
    g->arena = arena;
    for (int32_t t = 0; h->tokens && t < setup->target_tokens.n; t++) g->logits[t] = -INFINITY;
    if (g->has_centroids) vouch_centroids_clear(&g->likely);
    return vouch_shared_sequence_open(&g->sequence, setup->passes, h->body, &sequence, err);
}

vouch_status vouch_head_lent_open(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_head_weights *head = vouch_setup_head(setup);
    lent *g = calloc(1, sizeof *g);
    if (!g) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the head's state");
    g->last = (vouch_head_last){.head = head, .n_embd = setup->target->hparams.n_embd};
    g->lender = head->borrows_keys ? setup->target_memory : NULL;
    g->has_centroids = head->centroids.n_each > 0;
    g->n_ctx = setup->n_ctx;
    const vouch_status status = open_parts(g, setup, err);
    if (status == VOUCH_OK) *out = (vouch_guesser){.ops = &lent_ops, .self = g};
    else lent_close(g);
    return status;
}
