/* SPDX-License-Identifier: MIT */
/*
 * A head with keys and values of its own as a guesser. Row t of its memory is token x[t + 1] with the target's hidden
 * states at t:
 *
 *   positions   0 ........... n_rows - 1 │ n_rows ....... n_given - 1
 *               their rows have run       only their states are here
 *                                       ▲ and of the last row that was run, which may have to run again
 *
 * Rows wait until somebody asks for guesses, or until `states` is full. So while pace doesn't ask the head it costs a
 * copy of the states, and a few passes over many rows. The rows of all sessions of an engine that draft with this head
 * run in one pass (model/pass/shared_pass.h).
 *
 * The rows of guesses read the head's own output instead of the target's states. When a guess has become a token, its
 * row runs again with the target's states, so provisional rows never stay (law L3).
 *
 * Attention sees distances between rows only, so row t may stand at position t instead of t + 1.
 */
#include "draft/paid/head.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "draft/paid/head_depths.h"
#include "draft/paid/head_inputs.h"
#include "draft/paid/head_outputs.h"

typedef struct head_guesser {
    const vouch_head_weights *head;
    vouch_shared_sequence sequence;
    vouch_staged staged;    /* the rows of the last follow or feed */
    vouch_head_inputs in;   /* of the staged rows */
    vouch_head_outputs out; /* of the last row and of the provisional rows */
    vouch_depths depths;    /* of a head whose logits depend on a guess's depth alone */
    bool is_masked;         /* the staged rows end with masks */
    int32_t n_embd;         /* of the target */
    int32_t n_ctx, chunk;
    int32_t n_rows;        /* positions whose rows have run */
    int32_t n_given;       /* positions whose states have come */
    int32_t first;         /* position of states[0] */
    float *states;         /* [chunk + 1][n_features] of the positions from `first` on */
    float *mask;           /* [state width] f of the rows of masks */
    int32_t n_fed, n_kept; /* provisional rows; of these, rows whose outputs are kept */
    float *logits;         /* [n_vocab of the target], where the head guesses some tokens only */
    vouch_arena arena;
} head_guesser;

/* Rows of masks after the last token's row (P-EAGLE). */
static int32_t n_masks(const head_guesser *g)
{
    return g->head->masks.n_rows > 0 ? g->depths.n_depths - 1 : 0;
}

static bool has_depths(const head_guesser *g)
{
    return g->depths.n_depths > 0;
}

/* Of f. */
static int64_t state_width(const head_guesser *g)
{
    return vouch_head_state_width(g->head);
}

static float *states_at(const head_guesser *g, int32_t position)
{
    return g->states + (int64_t)(position - g->first) * g->head->n_features;
}

/* ------------------------------------------------------------------------ rows */

/* Puts the rows of masks after n rows. They are a chain, and each predicts the guess of its depth. */
static void put_masks(head_guesser *g, vouch_row *rows, int32_t n)
{
    const int64_t n_state = state_width(g);
    for (int32_t i = 0; i < n_masks(g); i++) {
        memcpy(g->in.features + (n + i) * n_state, g->mask, (size_t)n_state * sizeof *g->mask);
        rows[n + i] = (vouch_row){.memory = g->sequence.memory, .parent = i - 1, .logits = true};
        vouch_head_inputs_make(&g->in, n + i, &g->head->masks.token, rows + n + i, 1);
    }
}

/* Stages the rows of n positions from n_rows on, of which the target's states are there; `logits`: of the last one, and
 * of masks after it. */
static void stage_rows(head_guesser *g, const int32_t *tokens, int32_t n, bool logits)
{
    vouch_row *rows = vouch_shared_pass_rows(g->sequence.shared);
    for (int32_t i = 0; i < n; i++)
        rows[i] = (vouch_row){.memory = g->sequence.memory,
                              .parent = -1,
                              .kept = true,
                              .logits = logits && i == n - 1,
                              .hidden = i == n - 1};
    vouch_head_inputs_read(&g->in, 0, states_at(g, g->n_rows), n);
    vouch_head_inputs_make(&g->in, 0, tokens + g->n_rows + 1, rows, n);
    g->is_masked = logits && g->head->masks.n_rows > 0;
    if (g->is_masked) put_masks(g, rows, n);
    g->staged = vouch_shared_pass_stage(g->sequence.shared, n + (g->is_masked ? n_masks(g) : 0));
}

/* Drops the states before `position`. */
static void keep_states_from(head_guesser *g, int32_t position)
{
    const int32_t n = g->n_given - position;
    if (position <= g->first) return;
    if (n > 0) memmove(g->states, states_at(g, position), (size_t)n * (size_t)g->head->n_features * sizeof *g->states);
    g->first = position;
}

static void drop_guesses(head_guesser *g)
{
    vouch_memory_keep_rows(g->sequence.memory, 0);
    g->n_fed = g->n_kept = 0;
}

/* Stages the next rows before `position`, as many as fit; n_rows counts them. */
static vouch_staging stage_until(head_guesser *g, const int32_t *tokens, int32_t position, bool logits)
{
    const int32_t more = logits ? n_masks(g) : 0;
    const int32_t room = vouch_shared_pass_room(g->sequence.shared, logits + more) - more;
    const int32_t n = vouch_min(vouch_min(position - g->n_rows, g->chunk), room);
    if (g->n_rows >= position) return VOUCH_STAGED_NONE;
    if (n <= 0) return VOUCH_STAGED_FULL;
    stage_rows(g, tokens, n, logits && g->n_rows + n == position);
    g->n_rows += n;
    return g->n_rows < position ? VOUCH_STAGED_PART : VOUCH_STAGED_ROWS;
}

/* Keeps the logits of all depths: further guesses need no pass. */
static void keep_depths(head_guesser *g)
{
    vouch_depths_keep(&g->depths, g->sequence.shared->pass, g->staged.first_logits);
    vouch_memory_keep_rows(g->sequence.memory, 0);
}

/* Keeps the outputs of the rows that have run, and of the states those that may be needed again. */
static double head_run(void *self)
{
    head_guesser *g = self;
    if (has_depths(g) && g->n_fed > 0) return 0;
    vouch_shared_sequence_run(&g->sequence);
    const double start = vouch_now();
    if (g->is_masked) keep_depths(g);
    else {
        const int32_t n = g->n_fed - g->n_kept, first = n > 0 ? g->n_kept + 1 : 0;
        vouch_head_outputs_keep(&g->out, &g->in, g->sequence.shared->pass, g->staged.first_hidden, first,
                                n > 0 ? n : 1);
    }
    g->n_kept = g->n_fed;
    keep_states_from(g, g->n_rows - 1);
    return vouch_shared_pass_seconds(g->sequence.shared, &g->staged) + vouch_now() - start;
}

static int32_t head_taps(const void *self, const int32_t **layers)
{
    const head_guesser *g = self;
    *layers = g->head->taps;
    return g->head->n_taps;
}

static int32_t head_n_hidden(const void *self)
{
    const head_guesser *g = self;
    return g->n_given;
}

static void head_hidden(void *self, const int32_t *tokens, int32_t position, const float *const *states)
{
    head_guesser *g = self;
    const size_t n_embd = (size_t)g->n_embd;
    assert(position == g->n_given);
    if (position - g->first == g->chunk + 1) {
        drop_guesses(g);
        while (stage_until(g, tokens, position, false) != VOUCH_STAGED_NONE) head_run(g);
    }
    float *to = states_at(g, position);
    for (int32_t i = 0; i < g->head->n_taps; i++) memcpy(to + (size_t)i * n_embd, states[i], n_embd * sizeof *to);
    g->n_given++;
}

/* ------------------------------------------------------------------- guesser */

/* Row n - 1 read token n, which may be another one now, so it has to run again. If its states are gone, the target
 * gives them again. */
static void head_rewind(void *self, int32_t n)
{
    head_guesser *g = self;
    drop_guesses(g);
    g->n_given = vouch_min(g->n_given, n);
    if (g->n_rows >= n) {
        g->n_rows = n > 0 ? n - 1 : 0;
        vouch_memory_rewind(g->sequence.memory, g->n_rows);
    }
    if (g->n_rows >= g->first && g->first < g->n_given) return;
    g->n_given = g->first = g->n_rows;
}

/* Row t reads token t + 1, so n rows know n + 1 tokens. */
static int32_t head_known(const void *self, const int32_t *tokens, int32_t n_tokens)
{
    const head_guesser *g = self;
    (void)tokens;
    return vouch_min(g->n_rows + 1, n_tokens);
}

/* Stages the rows of positions up to n - 2, whose tokens are known. With logits the last one runs, perhaps again. */
static vouch_staging head_follow(void *self, const int32_t *tokens, int32_t n, bool logits)
{
    head_guesser *g = self;
    drop_guesses(g);
    if (has_depths(g)) vouch_depths_begin(&g->depths);
    if (n < 2 || g->n_given < n - 1) return VOUCH_STAGED_NONE;
    if (logits && g->n_rows >= n - 1) {
        g->n_rows = n - 2;
        vouch_memory_rewind(g->sequence.memory, g->n_rows);
        if (g->first > g->n_rows) return VOUCH_STAGED_NONE;
    }
    return stage_until(g, tokens, n - 1, logits);
}

static int32_t head_room(const void *self)
{
    const head_guesser *g = self;
    return g->n_ctx - vouch_memory_n_tokens(g->sequence.memory) - vouch_memory_n_rows(g->sequence.memory);
}

/* A guess reads the output of the row that it follows. In a head without memory the first provisional row is the last
 * token's, and no row sees another. */
static vouch_staging head_feed(void *self, const int32_t *guesses, const int32_t *parents, int32_t n)
{
    head_guesser *g = self;
    if (has_depths(g)) {
        vouch_depths_ask(&g->depths, g->n_fed, parents, n);
        g->n_fed += n;
        return VOUCH_STAGED_ROWS;
    }
    if (vouch_shared_pass_room(g->sequence.shared, n) < n) return VOUCH_STAGED_FULL;
    vouch_row *rows = vouch_shared_pass_rows(g->sequence.shared);
    vouch_head_outputs_feed(&g->out, &g->in, g->n_fed, parents, n);
    for (int32_t i = 0; i < n; i++)
        rows[i] = (vouch_row){.memory = g->sequence.memory,
                              .parent = parents ? parents[i] : g->n_fed + i - 1,
                              .logits = true,
                              .hidden = true};
    vouch_head_inputs_make(&g->in, 0, guesses, rows, n);
    g->staged = vouch_shared_pass_stage(g->sequence.shared, n);
    g->n_fed += n;
    return VOUCH_STAGED_ROWS;
}

static double head_part(const void *self, int32_t n_rows, int32_t n)
{
    const head_guesser *g = self;
    return vouch_shared_pass_part(g->sequence.shared, has_depths(g) ? g->depths.n_depths : n_rows, n);
}

static int32_t head_draft_tokens(const void *self, const int32_t **tokens)
{
    const head_guesser *g = self;
    *tokens = g->head->tokens;
    return g->head->tokens ? g->head->n_draft : 0;
}

static const float *head_draft_logits(void *self, int32_t i)
{
    const head_guesser *g = self;
    return has_depths(g) ? vouch_depths_logits(&g->depths, i)
                         : vouch_pass_logits(g->sequence.shared->pass, g->staged.first_logits + i);
}

/* [n_vocab] Tokens that the head can't guess have no chance. */
static const float *head_logits(void *self, int32_t i)
{
    head_guesser *g = self;
    const vouch_head_weights *h = g->head;
    return vouch_head_spread(h, head_draft_logits(g, i), g->logits);
}

static void head_close(void *self)
{
    head_guesser *g = self;
    vouch_shared_sequence_close(&g->sequence);
    vouch_arena_free(&g->arena);
    free(g);
}

static size_t head_memory(const void *self)
{
    const head_guesser *g = self;
    return sizeof *g + g->arena.size + vouch_shared_sequence_bytes(&g->sequence);
}

static uint64_t head_digest(const void *self)
{
    const head_guesser *g = self;
    return vouch_memory_digest(g->sequence.memory);
}

static const vouch_guesser_ops guesser_ops = {.follow = head_follow,
                                              .room = head_room,
                                              .feed = head_feed,
                                              .run = head_run,
                                              .part = head_part,
                                              .logits = head_logits,
                                              .draft_tokens = head_draft_tokens,
                                              .draft_logits = head_draft_logits,
                                              .taps = head_taps,
                                              .hidden = head_hidden,
                                              .n_hidden = head_n_hidden,
                                              .known = head_known,
                                              .rewind = head_rewind,
                                              .close = head_close,
                                              .memory = head_memory,
                                              .digest = head_digest};

/* ------------------------------------------------------------------- opening */

static void layout_guesser(head_guesser *g, const vouch_drafter_setup *setup, vouch_arena *arena)
{
    const int32_t k = setup->speculation->n_draft;
    const vouch_head_weights *h = g->head;
    const size_t n_features = (size_t)h->n_features, chunk = (size_t)g->chunk, n_state = (size_t)state_width(g);
    const int32_t rows = vouch_max(g->chunk + n_masks(g), k);
    g->states = vouch_arena_take(arena, (chunk + 1) * n_features, sizeof *g->states);
    vouch_head_inputs_layout(&g->in, g->chunk, rows, arena);
    vouch_head_outputs_layout(&g->out, h, k, rows, arena);
    if (h->tokens) g->logits = vouch_arena_take(arena, (size_t)setup->target_tokens.n, sizeof *g->logits);
    if (has_depths(g)) vouch_depths_layout(&g->depths, arena);
    if (h->masks.n_rows > 0) g->mask = vouch_arena_take(arena, n_state, sizeof *g->mask);
}

/* f of the rows of masks, which no token changes. */
static void make_mask(head_guesser *g)
{
    vouch_head_inputs_read(&g->in, 0, g->head->masks.states, 1);
    memcpy(g->mask, g->in.features, (size_t)state_width(g) * sizeof *g->mask);
}

static vouch_status open_parts(head_guesser *g, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_head_weights *h = g->head;
    const int32_t k = setup->speculation->n_draft, n_vocab = setup->target_tokens.n;
    vouch_pool *pool = setup->passes->pool;
    const vouch_shared_sequence_options sequence = {
        .pass = {.n_ctx = g->n_ctx,
                 .max_rows = vouch_max(g->chunk + n_masks(g), k),
                 .max_logits = vouch_max(vouch_setup_level(setup), n_masks(g) + 1)},
        .max_tree = k + 1,
        .kv_type = vouch_head_kv_type(setup)};
    vouch_head_inputs_open(&g->in, h, pool);
    vouch_head_outputs_open(&g->out, h, pool);
    vouch_arena arena = {0};
    layout_guesser(g, setup, &arena);
    VOUCH_TRY(vouch_arena_allocate(&arena, "the head's hidden states (use a smaller prefill_chunk)", err));
    layout_guesser(g, setup, &arena);
    g->arena = arena;
    for (int32_t t = 0; h->tokens && t < n_vocab; t++) g->logits[t] = -INFINITY;
    if (has_depths(g)) vouch_depths_open(&g->depths);
    if (g->mask) make_mask(g);
    return vouch_shared_sequence_open(&g->sequence, setup->passes, h->body, &sequence, err);
}

vouch_status vouch_head_chain_open(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_head_weights *head = vouch_setup_head(setup);
    head_guesser *g = calloc(1, sizeof *g);
    if (!g) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the head's state");
    g->head = head;
    g->n_embd = setup->target->hparams.n_embd;
    g->n_ctx = setup->n_ctx;
    g->chunk = setup->prefill_chunk;
    const int32_t n_masked = vouch_min(head->masks.n_rows, setup->speculation->n_draft);
    g->depths = (vouch_depths){.n_depths = n_masked, .n_draft = head->n_draft};
    g->n_ctx += n_masks(g); /* masks may reach past the session's end */
    const vouch_status status = open_parts(g, setup, err);
    if (status == VOUCH_OK) *out = (vouch_guesser){.ops = &guesser_ops, .self = g};
    else head_close(g);
    return status;
}
