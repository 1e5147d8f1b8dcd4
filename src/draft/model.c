/* SPDX-License-Identifier: MIT */
/*
 * A draft model guesses one token at a time, each fed back to it:
 *
 *   committed  [0 .............. n)   guesses  g0 g1 ... g(k-1)
 *   cache      [0 .............. n)            g0 g1 ... g(k-2)
 *
 * The last guess is never fed: whether it holds isn't known yet. After a full acceptance it is one of the
 * tokens the next proposal catches up with; after a rejection the cycle rewinds the cache to what was kept.
 *
 * A guess drawn from q carries that q; one by argmax comes from a point mass and carries none. The draws are
 * the random numbers (seed, position, DRAFT): independent of the judge's, and the same however often a
 * position is drafted again.
 *
 * Where the model gives no finite logits, the draft ends before that guess, down to none: a bad draft model
 * costs speed, not the answer (law L2). That is exact, because the end depends on the guesses before it only.
 */
#include "draft/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/common.h"

typedef struct model_drafter {
    vouch_context *context;
    vouch_sampler sampler;
    bool greedy;              /* guesses are argmaxes: of q, or because the temperature is 0 */
    int32_t n_ctx, chunk, k;
    vouch_dist *q;            /* [k], or [1] where greedy */
    const vouch_dist **q_of;  /* [k] */
    int32_t *guesses;         /* [k] */
    int32_t window;           /* tokens the penalties look at */
    int32_t *history;         /* [window + k] */
    vouch_arena arena;
} model_drafter;

/* Feeds what the cache lacks of tokens[0, n) in chunks, the last one with logits where wanted. */
static void catch_up(model_drafter *d, const int32_t *tokens, int32_t n, bool logits)
{
    for (int32_t at = vouch_context_n_cached(d->context); at < n;) {
        const int32_t rows = vouch_min(n - at, d->chunk);
        vouch_context_forward(d->context, tokens + at, NULL, rows, logits && at + rows == n ? 1 : 0);
        at += rows;
    }
}

static void model_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    model_drafter *d = self;
    catch_up(d, tokens, vouch_min(n_tokens - 1, d->n_ctx), false); /* the last one with the proposal, for its logits */
}

/* Guess i from the logits of the last row; history is the window before it. False where these aren't finite. */
static bool draw_guess(model_drafter *d, int32_t i, int64_t position, size_t n_history)
{
    vouch_dist *q = &d->q[d->greedy ? 0 : i];
    float *logits = vouch_context_logits(d->context, 0);
    if (vouch_dist_from_logits(q, &d->sampler, logits, d->history, n_history) != VOUCH_OK) return false;
    d->guesses[i] = vouch_dist_draw(q, vouch_uniform(d->sampler.params.seed, position, VOUCH_PURPOSE_DRAFT));
    return true;
}

static vouch_draft model_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    model_drafter *d = self;
    vouch_draft draft = {.tokens = d->guesses, .q = d->greedy ? NULL : d->q_of};
    const int32_t room = vouch_min(d->k, d->n_ctx - n_tokens); /* the draft model's context may be the shorter */
    const int32_t k = vouch_min(shape->depth, room);
    if (k < 1) return draft;

    const int32_t n_history = vouch_min(n_tokens, d->window);
    memcpy(d->history, tokens + n_tokens - n_history, (size_t)n_history * sizeof *tokens);
    catch_up(d, tokens, n_tokens, true);
    for (int32_t i = 0;; i++) {
        if (!draw_guess(d, i, (int64_t)n_tokens + i, (size_t)(n_history + i))) return draft;
        draft.n = i + 1;
        if (draft.n == k) return draft;
        d->history[n_history + i] = d->guesses[i];
        vouch_context_forward(d->context, &d->guesses[i], NULL, 1, 1);
    }
}

static void model_rewind(void *self, int32_t n_tokens)
{
    model_drafter *d = self;
    if (n_tokens < vouch_context_n_cached(d->context)) vouch_context_keep(d->context, n_tokens);
}

static void model_close(void *self)
{
    model_drafter *d = self;
    vouch_context_close(d->context);
    vouch_arena_free(&d->arena);
    free(d);
}

static size_t model_memory(const void *self)
{
    const model_drafter *d = self;
    return sizeof *d + d->arena.size + vouch_context_memory(d->context);
}

static uint64_t model_digest(const void *self)
{
    return vouch_context_digest(((const model_drafter *)self)->context);
}

static const vouch_drafter_ops model_ops = {.name = "model",
                                            .bit = VOUCH_DRAFTER_MODEL,
                                            .propose = model_propose,
                                            .observe = model_observe,
                                            .rewind = model_rewind,
                                            .close = model_close,
                                            .memory = model_memory,
                                            .digest = model_digest};

/* With temperature 0 q is itself a point mass: what sampling would give, too. A greedy draft at a higher
 * temperature takes the argmax of the logits after penalties and bias. */
static void layout_drafter(model_drafter *d, const vouch_drafter_model_options *options, const vouch_weights *weights,
                           vouch_arena *arena)
{
    const int32_t n_vocab = weights->hparams.n_vocab;
    vouch_sampling params = *options->sampling;
    if (options->draft_sampling == VOUCH_DRAFT_GREEDY) params.temperature = 0;
    d->greedy = params.temperature == 0;
    d->k = options->k;
    vouch_sampler_layout(&d->sampler, &params, n_vocab, weights->kernels, arena);
    const int32_t n_q = d->greedy ? 1 : d->k;
    d->q = vouch_arena_take(arena, (size_t)n_q, sizeof *d->q);
    d->q_of = vouch_arena_take(arena, (size_t)d->k, sizeof *d->q_of);
    d->guesses = vouch_arena_take(arena, (size_t)d->k, sizeof *d->guesses);
    d->window = vouch_min(params.penalty_window, options->n_ctx);
    d->history = vouch_arena_take(arena, (size_t)d->window + (size_t)d->k, sizeof *d->history);
    for (int32_t i = 0; i < n_q; i++) {
        vouch_dist counted;
        vouch_dist_layout(d->q ? &d->q[i] : &counted, n_vocab, arena);
        if (d->q) d->q_of[i] = &d->q[i];
    }
}

vouch_status vouch_drafter_model_open(vouch_drafter_ref *out, const vouch_weights *weights, vouch_pool *pool,
                                      const vouch_drafter_model_options *options, vouch_error *err)
{
    *out = (vouch_drafter_ref){0};
    model_drafter *d = calloc(1, sizeof *d);
    if (!d) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the draft model's state");
    d->n_ctx = vouch_min(options->n_ctx, weights->hparams.n_ctx_train);
    d->chunk = options->prefill_chunk;
    const vouch_context_options context = {.n_ctx = d->n_ctx, .max_rows = d->chunk, .max_logits = 1, .kv_type = options->kv_type};
    vouch_arena arena = {0};
    layout_drafter(d, options, weights, &arena);
    vouch_status status = vouch_arena_allocate(&arena, "the draft model's distributions", err);
    if (status == VOUCH_OK) {
        layout_drafter(d, options, weights, &arena);
        d->arena = arena;
        status = vouch_context_open(&d->context, weights, pool, &context, err);
    }
    if (status != VOUCH_OK) {
        model_close(d);
        return status;
    }
    *out = (vouch_drafter_ref){.ops = &model_ops, .self = d};
    return VOUCH_OK;
}
