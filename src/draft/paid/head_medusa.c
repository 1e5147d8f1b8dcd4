/* SPDX-License-Identifier: MIT */
/*
 * Medusa's heads (Cai et al., arXiv 2401.10774) as a guesser: each depth has a network of its own, and all of them read
 * the same f, that of the last token. They run no rows of a model and share no pass.
 *
 *   h      = f, then for each block  h += silu(W_block h + bias)
 *   logits = W_output h
 */
#include "draft/paid/head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "draft/paid/head_depths.h"
#include "draft/paid/head_inputs.h"
#include "model/stage/rows.h"

typedef struct medusa {
    vouch_head_last last;
    vouch_head_inputs in;
    vouch_depths depths;
    vouch_projection block, output; /* each `w` points to the matrix of the depth that is being computed */
    float *hidden, *added;          /* [width] h, and what a block adds */
    float *logits;                  /* [n_vocab of the target], where the head guesses some tokens only */
    bool is_computed[VOUCH_HEAD_DEPTHS];
    int32_t n_ctx, n_fed;
    vouch_arena arena;
} medusa;

static int64_t width(const medusa *m)
{
    return m->last.head->body->hparams.n_embd;
}

static vouch_staging medusa_follow(void *self, const int32_t *tokens, int32_t n, bool logits)
{
    medusa *m = self;
    (void)tokens;
    m->n_fed = 0;
    vouch_depths_begin(&m->depths);
    if (!vouch_head_last_is_ready(&m->last, n) || !logits) return VOUCH_STAGED_NONE;
    vouch_head_inputs_read(&m->in, 0, m->last.states, 1);
    memset(m->is_computed, 0, sizeof m->is_computed);
    return VOUCH_STAGED_ROWS;
}

static int32_t medusa_room(const void *self)
{
    return ((const medusa *)self)->n_ctx;
}

static vouch_staging medusa_feed(void *self, const int32_t *guesses, const int32_t *parents, int32_t n)
{
    medusa *m = self;
    (void)guesses;
    vouch_depths_ask(&m->depths, m->n_fed, parents, n);
    m->n_fed += n;
    return VOUCH_STAGED_ROWS;
}

static void compute(medusa *m, int32_t depth, float *logits)
{
    const vouch_head_depth *at = &m->last.head->depths[depth];
    const vouch_feed_forward silu = {.activation = VOUCH_SILU};
    const int64_t n = width(m);
    memcpy(m->hidden, m->in.features, (size_t)n * sizeof *m->hidden);
    for (int32_t b = 0; b < m->last.head->n_blocks; b++) {
        const vouch_matrix block = vouch_matrix_at(&at->block, b);
        m->block.w = &block;
        m->block.bias = at->bias ? at->bias + b * n : NULL;
        vouch_projection_run(&m->block, m->hidden, m->added, 1);
        vouch_row_activate(m->last.head->body->kernels, &silu, m->added, NULL, n);
        for (int64_t i = 0; i < n; i++) m->hidden[i] += m->added[i];
    }
    m->output.w = &at->output;
    vouch_projection_run(&m->output, m->hidden, logits, 1);
}

/* Computes the logits of the depths that are asked for. */
static double medusa_run(void *self)
{
    medusa *m = self;
    const double start = vouch_now();
    for (int32_t i = 0; i < m->depths.n_asked; i++) {
        const int32_t depth = m->depths.asked[i];
        if (depth >= m->depths.n_depths || m->is_computed[depth]) continue;
        compute(m, depth, vouch_depths_values(&m->depths, depth));
        m->is_computed[depth] = true;
    }
    return vouch_now() - start;
}

static double medusa_part(const void *self, int32_t n_rows, int32_t n)
{
    (void)self;
    (void)n_rows;
    (void)n;
    return 1;
}

static int32_t medusa_draft_tokens(const void *self, const int32_t **tokens)
{
    const medusa *m = self;
    *tokens = m->last.head->tokens;
    return m->last.head->tokens ? m->last.head->n_draft : 0;
}

static const float *medusa_draft_logits(void *self, int32_t i)
{
    return vouch_depths_logits(&((medusa *)self)->depths, i);
}

static const float *medusa_logits(void *self, int32_t i)
{
    medusa *m = self;
    return vouch_head_spread(m->last.head, vouch_depths_logits(&m->depths, i), m->logits);
}

static void medusa_close(void *self)
{
    medusa *m = self;
    vouch_arena_free(&m->arena);
    free(m);
}

static size_t medusa_memory(const void *self)
{
    return sizeof(medusa) + ((const medusa *)self)->arena.size;
}

/* Nothing outlives a draft. */
static uint64_t medusa_digest(const void *self)
{
    (void)self;
    return 0;
}

static const vouch_guesser_ops medusa_ops = {.follow = medusa_follow,
                                             .room = medusa_room,
                                             .feed = medusa_feed,
                                             .run = medusa_run,
                                             .part = medusa_part,
                                             .logits = medusa_logits,
                                             .draft_tokens = medusa_draft_tokens,
                                             .draft_logits = medusa_draft_logits,
                                             .taps = vouch_head_last_taps,
                                             .hidden = vouch_head_last_hidden,
                                             .n_hidden = vouch_head_last_n_hidden,
                                             .known = vouch_head_last_known,
                                             .rewind = vouch_head_last_rewind,
                                             .close = medusa_close,
                                             .memory = medusa_memory,
                                             .digest = medusa_digest};

static void layout(medusa *m, int32_t n_vocab, vouch_arena *arena)
{
    m->hidden = vouch_arena_take(arena, (size_t)width(m), sizeof *m->hidden);
    m->added = vouch_arena_take(arena, (size_t)width(m), sizeof *m->added);
    m->last.states = vouch_arena_take(arena, (size_t)m->last.head->n_features, sizeof *m->last.states);
    if (m->last.head->tokens) m->logits = vouch_arena_take(arena, (size_t)n_vocab, sizeof *m->logits);
    vouch_head_inputs_layout(&m->in, 1, 1, arena);
    vouch_projection_layout(&m->block, 1, arena);
    vouch_projection_layout(&m->output, 1, arena);
    vouch_depths_layout(&m->depths, arena);
}

vouch_status vouch_head_medusa_open(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_head_weights *head = vouch_setup_head(setup);
    const int32_t n_vocab = setup->target_tokens.n;
    const vouch_projection network = {.kernels = head->body->kernels, .pool = setup->passes->pool};
    vouch_arena arena = {0};
    medusa *m = calloc(1, sizeof *m);
    if (!m) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the head's state");
    *m = (medusa){.last = {.head = head, .n_embd = setup->target->hparams.n_embd},
                  .depths = {.n_depths = head->n_depths, .n_draft = head->n_draft},
                  .block = network,
                  .output = network,
                  .n_ctx = setup->n_ctx};
    m->block.w = &head->depths[0].block;
    m->output.w = &head->depths[0].output;
    vouch_head_inputs_open(&m->in, head, setup->passes->pool);
    layout(m, n_vocab, &arena);
    const vouch_status status = vouch_arena_allocate(&arena, "the head's networks", err);
    if (status != VOUCH_OK) {
        free(m);
        return status;
    }
    layout(m, n_vocab, &arena);
    m->arena = arena;
    vouch_depths_open(&m->depths);
    for (int32_t t = 0; m->logits && t < n_vocab; t++) m->logits[t] = -INFINITY;
    *out = (vouch_guesser){.ops = &medusa_ops, .self = m};
    return VOUCH_OK;
}
