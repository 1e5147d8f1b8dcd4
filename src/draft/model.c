/* SPDX-License-Identifier: MIT */
/*
 * A draft model guesses one token at a time, each fed back to it:
 *
 *   committed  [0 .............. n)   guesses  g0 g1 ... g(k-1)
 *   cache      [0 .............. n)            g0 g1 ... g(k-2)
 *
 * The last guess is never fed: whether it holds isn't known yet. After a full acceptance it is one of the
 * tokens the next proposal catches up with. The others stay as far as they became the sequence: in a tree with other
 * drafters' guesses, one beside them may have.
 *
 * Or a tree, level by level (as in Li et al., EAGLE-2, arXiv 2406.16858). A level has its share of the guesses that
 * are left. The best guesses of the level before are fed in one pass, and a place for a guess behind one of them is
 * worth
 *
 *     its path's probability x the next largest probability of its q
 *
 * whereupon the best places are filled: with the likeliest tokens, or with tokens drawn from q without replacement.
 * How many there are behind a guess is decided before any of them is drawn, and none is dropped afterwards: so they
 * are exactly what the judge takes them for. Where it is known what a pass costs by its rows, no more places are filled
 * than give more tokens for it.
 *
 * A guess drawn from q carries that q; one by argmax comes from a point mass and carries none. By which random
 * numbers they are drawn is up to the rule that judges them: by ones of their own, or by the target's.
 *
 * Where the token tables differ, the cache holds what the sequence is spelled with (bridge.h), which may be more
 * tokens: offsets says how many before each of the target's.
 *
 * Where the model gives no finite logits, the draft ends before that guess, down to none: a bad draft model
 * costs speed, not the answer (law L2). That is exact, because the end depends on the guesses before it only.
 */
#include "draft/model.h"
#include "draft/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/common.h"

/* Context for this many times the session's tokens, where they are spelled. */
enum { N_BEST = VOUCH_MAX_TOP, SPELLED = 2 };

/* A place for guesses that a pass has opened: its q, and the likeliest tokens there. */
typedef struct opening {
    int32_t parent; /* the guess before it; -1: the sequence */
    double value;   /* of the path to it */
    int32_t n_best, n_filled;
    int32_t best[N_BEST];
    float weight[N_BEST];
    const vouch_dist *q;
    double total;
} opening;

typedef struct model_drafter {
    vouch_sequence sequence;
    vouch_sampler sampler;
    vouch_draw_fn *draw;
    vouch_bridge *bridge;     /* NULL: the token tables are the same */
    float *logits;            /* [n_vocab of the target], where there is a bridge */
    vouch_matrix head;        /* where it is trimmed */
    int32_t n_told;           /* tokens in the cache: of the sequence, and guesses, */
    int32_t n_certain;        /* which are those from here on */
    int32_t *offsets;         /* [n_session + 1] the cache's tokens before each of them, where there is a bridge */
    int32_t *spelled;         /* [chunk], where there is a bridge */
    int32_t n_session;        /* context of the session */
    bool greedy;              /* guesses are argmaxes: of q, or because the temperature is 0 */
    int32_t n_ctx, chunk, k;
    int32_t branches;         /* 1: chains */
    vouch_dist *q;            /* [k], or [1] where greedy */
    const vouch_dist **q_of;  /* [k] */
    float *chances;           /* [k] */
    int32_t *guesses;         /* [k] */
    int32_t *parents;         /* [k] */
    int32_t window;           /* tokens the penalties look at */
    int32_t *history;         /* [window + k] */
    vouch_arena arena;

    /* The running tree. */
    int32_t n_history;        /* tokens in `history` before the first guess */
    int32_t n_q, n_rows;      /* used; fed */
    int32_t n_planned;        /* places that were to be filled */
    double expected;          /* tokens of a cycle with them */
    int32_t rows[VOUCH_MAX_DRAFT], depths[VOUCH_MAX_DRAFT]; /* of the context's tree; guesses before it on its path */
    double values[VOUCH_MAX_DRAFT];
    opening openings[N_BEST];
} model_drafter;

/* Cached tokens for the first n of the sequence. */
static int32_t offset_of(const model_drafter *d, int32_t n)
{
    return d->bridge ? d->offsets[n] : n;
}

/* The next rows of tokens[n_told, n), at most a chunk, as *rows; nothing where the context has no room for a token. */
static int32_t spell(model_drafter *d, const int32_t *tokens, int32_t n, const int32_t **rows)
{
    const int32_t at = offset_of(d, d->n_told), room = vouch_min(d->chunk, d->n_ctx - at);
    int32_t used = 0;
    if (!d->bridge) {
        *rows = tokens + d->n_told;
        used = vouch_min(n - d->n_told, room);
        d->n_told += used;
        return used;
    }
    *rows = d->spelled;
    for (; d->n_told < n; d->n_told++) {
        const int32_t *first = &d->bridge->first[tokens[d->n_told]], n_pieces = first[1] - first[0];
        if (used + n_pieces > room) return used;
        memcpy(d->spelled + used, d->bridge->pieces + first[0], (size_t)n_pieces * sizeof *d->spelled);
        used += n_pieces;
        d->offsets[d->n_told + 1] = at + used;
    }
    return used;
}

/* Only the first n tokens stay in the cache. */
static void cache_keep(model_drafter *d, int32_t n)
{
    d->n_told = vouch_min(d->n_told, n);
    d->n_certain = vouch_min(d->n_certain, n);
    vouch_memory_rewind(d->sequence.memory, offset_of(d, d->n_told));
}

/* Tokens in the cache that are those of the sequence: the certain ones, and guesses that became it. */
static int32_t model_known(const void *self, const int32_t *tokens, int32_t n_tokens)
{
    const model_drafter *d = self;
    const int32_t past = vouch_min(d->n_told, n_tokens);
    int32_t n = d->n_certain;
    while (n < past && tokens[n] == d->guesses[n - d->n_certain]) n++;
    return n;
}

/* Feeds what the cache lacks of tokens[0, n) in chunks, the last one with logits where wanted. False: not all of it
 * fits. */
static bool catch_up(model_drafter *d, const int32_t *tokens, int32_t n, bool logits)
{
    const int32_t n_known = model_known(d, tokens, n);
    cache_keep(d, n_known);
    d->n_certain = n_known;
    while (d->n_told < n) {
        const int32_t *rows, n_rows = spell(d, tokens, n, &rows);
        if (n_rows == 0) return false;
        vouch_pass_chain(d->sequence.pass, d->sequence.memory, rows, n_rows, logits && d->n_told == n ? 1 : 0);
        d->n_certain = d->n_told;
    }
    return true;
}

static void model_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    catch_up(self, tokens, n_tokens - 1, false); /* the last one with the proposal, for its logits */
}

static int32_t token_of(const model_drafter *d, int32_t guess)
{
    return d->bridge ? vouch_bridge_token(d->bridge, guess) : guess;
}

/* q from the logits of a row, the first n of the history being before it. False where these aren't finite. */
static bool read_row(model_drafter *d, vouch_dist *q, int32_t row, int32_t n)
{
    const float *logits = vouch_pass_logits(d->sequence.pass, row);
    if (d->bridge) {
        vouch_bridge_logits(d->bridge, logits, d->logits);
        logits = d->logits;
    }
    return vouch_dist_from_logits(q, &d->sampler, logits, d->history, (size_t)n) == VOUCH_OK;
}

/* Guess i from the logits of the last row; history is the window before it. False where these aren't finite. */
static bool draw_guess(model_drafter *d, int32_t i, int64_t position, int32_t n_history)
{
    vouch_dist *q = &d->q[d->greedy ? 0 : i];
    if (!read_row(d, q, 0, n_history)) return false;
    if (d->greedy) {
        float most;
        vouch_find_top(d->sampler.kernels, q->weight, q->n_vocab, 1, &d->guesses[i], &most);
    } else {
        vouch_residual whole;
        vouch_residual_begin(&whole, q, NULL, 1);
        d->guesses[i] = d->draw(&whole, d->sampler.params.seed, position, i);
    }
    d->chances[i] = (float)vouch_dist_p(q, d->guesses[i]);
    return true;
}

static void grow_chain(model_drafter *d, vouch_draft *draft, int64_t n_tokens, int32_t k)
{
    for (int32_t i = 0;; i++) {
        if (!draw_guess(d, i, n_tokens + i, d->n_history + i)) return;
        draft->n = i + 1;
        if (draft->n == k) return;
        d->history[d->n_history + i] = d->guesses[i];
        const int32_t token = token_of(d, d->guesses[i]);
        vouch_pass_chain(d->sequence.pass, d->sequence.memory, &token, 1, 1);
        d->n_told++;
        if (d->bridge) d->offsets[d->n_told] = d->offsets[d->n_told - 1] + 1;
    }
}

/* --------------------------------------------------------------------- trees */

/* The place behind a guess, from the logits of a row; false where these aren't finite. */
static bool place_open(model_drafter *d, opening *o, int32_t parent, int32_t row)
{
    vouch_dist *q = &d->q[d->greedy ? 0 : d->n_q];
    const int32_t depth = parent < 0 ? 0 : d->depths[parent] + 1;
    for (int32_t i = parent, at = d->n_history + depth; i >= 0; i = d->parents[i]) d->history[--at] = d->guesses[i];
    *o = (opening){.parent = parent, .value = parent < 0 ? 1 : d->values[parent], .q = q};
    if (!read_row(d, q, row, d->n_history + depth)) return false;
    o->n_best = vouch_find_top(d->sampler.kernels, q->weight, q->n_vocab, d->branches, o->best, o->weight);
    while (o->n_best > 0 && !(o->weight[o->n_best - 1] > 0)) o->n_best--;
    o->total = q->total;
    d->n_q++;
    return true;
}

/* The best guesses of [first, past), at most as many as there are openings, in the order of their numbers. */
static int32_t choose_guesses(const model_drafter *d, int32_t first, int32_t past, int32_t *chosen)
{
    int32_t n = 0;
    for (int32_t i = first; i < past; i++) {
        int32_t better = 0;
        for (int32_t j = first; j < past; j++)
            better += d->values[j] > d->values[i] || (j < i && d->values[j] == d->values[i]);
        if (better < d->branches) chosen[n++] = i;
    }
    return n;
}

/* Feeds guesses of the last level and opens the places behind them. Returns how many there are. */
static int32_t level_open(model_drafter *d, const int32_t *chosen, int32_t n)
{
    int32_t tokens[N_BEST], parents[N_BEST], n_open = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t parent = d->parents[chosen[i]];
        tokens[i] = token_of(d, d->guesses[chosen[i]]);
        parents[i] = parent < 0 ? -1 : d->rows[parent];
        d->rows[chosen[i]] = d->n_rows + i;
    }
    vouch_pass_tree(d->sequence.pass, d->sequence.memory, tokens, parents, n, n);
    d->n_rows += n;
    for (int32_t i = 0; i < n; i++) n_open += place_open(d, &d->openings[n_open], chosen[i], i);
    return n_open;
}

/* Whether one more guess of this value gives more tokens for its cost. */
static bool is_worth(const model_drafter *d, const vouch_shape *shape, double value)
{
    const double *cost = shape->cost;
    const int32_t n = d->n_planned;
    return !cost || (d->expected + value) * cost[n + 1] > d->expected * cost[n + 2];
}

/* Gives the best n places to guesses. */
static void divide(model_drafter *d, int32_t n_open, int32_t n, const vouch_shape *shape)
{
    for (; n > 0; n--) {
        opening *best = NULL;
        double most = 0;
        for (opening *o = d->openings; o < d->openings + n_open; o++) {
            if (o->n_filled == vouch_min(o->n_best, shape->branches)) continue;
            const double value = o->value * (double)o->weight[o->n_filled] / o->total;
            if (best && value <= most) continue;
            best = o;
            most = value;
        }
        if (!best || !is_worth(d, shape, most)) return;
        best->n_filled++;
        d->n_planned++;
        d->expected += most;
    }
}

static void fill(model_drafter *d, vouch_draft *draft, const opening *o, int64_t n_tokens)
{
    vouch_residual left;
    vouch_residual_begin(&left, o->q, NULL, 1);
    for (int32_t i = 0; i < o->n_filled && left.total > 0; i++) {
        const int32_t number = draft->n++, depth = o->parent < 0 ? 0 : d->depths[o->parent] + 1;
        int32_t token = o->best[i];
        double p = (double)o->weight[i] / o->total;
        if (!d->greedy) {
            token = d->draw(&left, d->sampler.params.seed, n_tokens + depth, depth * VOUCH_MAX_DRAFT + number);
            p = vouch_dist_p(o->q, token);
            vouch_residual_reject(&left, token);
        }
        d->guesses[number] = token;
        d->parents[number] = o->parent;
        d->depths[number] = depth;
        d->chances[number] = (float)p;
        d->values[number] = o->value * p;
        d->q_of[number] = o->q;
    }
}

static void grow_tree(model_drafter *d, vouch_draft *draft, int64_t n_tokens, int32_t n, const vouch_shape *shape)
{
    int32_t chosen[N_BEST], n_open = place_open(d, &d->openings[0], -1, 0);
    for (int32_t level = 0; n_open > 0; level++) {
        const int32_t levels = shape->depth - level, first = draft->n;
        divide(d, n_open, (n - first + levels - 1) / levels, shape);
        for (int32_t i = 0; i < n_open; i++) fill(d, draft, &d->openings[i], n_tokens);
        for (int32_t i = first; i < draft->n; i++)
            if (d->parents[i] != i - 1) draft->parents = d->parents;
        if (levels == 1 || draft->n >= n) return;
        n_open = draft->n > first ? level_open(d, chosen, choose_guesses(d, first, draft->n, chosen)) : 0;
    }
}

static vouch_draft model_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    model_drafter *d = self;
    vouch_draft draft = {.tokens = d->guesses, .q = d->greedy ? NULL : d->q_of, .chances = d->chances};
    int32_t k = vouch_min(d->branches > 1 ? shape->n : shape->depth, d->k);
    if (k < 1 || shape->depth < 1 || !catch_up(d, tokens, n_tokens, true)) return draft;
    const int32_t cached = offset_of(d, n_tokens);
    k = vouch_min(k, d->n_ctx - cached); /* the draft model's context may be the shorter */
    if (k < 1) return draft;

    d->n_history = vouch_min(n_tokens, d->window);
    d->n_q = d->n_rows = d->n_planned = 0;
    d->expected = 1;
    memcpy(d->history, tokens + n_tokens - d->n_history, (size_t)d->n_history * sizeof *tokens);
    if (d->branches > 1) grow_tree(d, &draft, n_tokens, k, shape);
    else grow_chain(d, &draft, n_tokens, k);
    return draft;
}

static void model_rewind(void *self, int32_t n_tokens)
{
    cache_keep(self, n_tokens);
}

static void model_close(void *self)
{
    model_drafter *d = self;
    vouch_sequence_close(&d->sequence);
    vouch_bridge_close(d->bridge);
    vouch_arena_free(&d->arena);
    free(d);
}

static size_t model_memory(const void *self)
{
    const model_drafter *d = self;
    return sizeof *d + d->arena.size + vouch_sequence_bytes(&d->sequence) + vouch_bridge_memory(d->bridge);
}

static uint64_t model_digest(const void *self)
{
    return vouch_memory_digest(((const model_drafter *)self)->sequence.memory);
}

static const vouch_drafter_ops model_ops = {.name = "model",
                                            .bit = VOUCH_DRAFTER_MODEL,
                                            .propose = model_propose,
                                            .observe = model_observe,
                                            .rewind = model_rewind,
                                            .known = model_known,
                                            .close = model_close,
                                            .memory = model_memory,
                                            .digest = model_digest};

/* A greedy draft takes the likeliest tokens after penalties and bias; how likely they are is said at temperature 1. */
static void layout_drafter(model_drafter *d, const vouch_drafter_model_options *options, const vouch_weights *weights,
                           vouch_arena *arena)
{
    const int32_t n_vocab = d->bridge ? d->bridge->n_target : weights->hparams.n_vocab;
    vouch_sampling params = *options->sampling;
    d->greedy = params.temperature == 0 || options->draft_sampling == VOUCH_DRAFT_GREEDY;
    d->k = options->k;
    d->branches = vouch_min(vouch_min(options->branches, d->k), N_BEST);
    if (d->greedy) {
        params.temperature = 1;
        params.top_k = 0;
        params.top_p = 1;
        params.min_p = 0;
    }
    vouch_sampler_layout(&d->sampler, &params, n_vocab, weights->kernels, arena);
    const int32_t n_q = d->greedy ? 1 : d->k;
    d->q = vouch_arena_take(arena, (size_t)n_q, sizeof *d->q);
    d->q_of = vouch_arena_take(arena, (size_t)d->k, sizeof *d->q_of);
    d->chances = vouch_arena_take(arena, (size_t)d->k, sizeof *d->chances);
    d->guesses = vouch_arena_take(arena, (size_t)d->k, sizeof *d->guesses);
    d->parents = vouch_arena_take(arena, (size_t)d->k, sizeof *d->parents);
    d->window = vouch_min(params.penalty_window, options->n_ctx);
    d->history = vouch_arena_take(arena, (size_t)d->window + (size_t)d->k, sizeof *d->history);
    if (d->bridge) {
        d->logits = vouch_arena_take(arena, (size_t)n_vocab, sizeof *d->logits);
        d->offsets = vouch_arena_take(arena, (size_t)d->n_session + 1, sizeof *d->offsets);
        d->spelled = vouch_arena_take(arena, (size_t)d->chunk, sizeof *d->spelled);
    }
    if (options->n_head > 0) {
        if (!vouch_matrix_shape(&d->head, weights->head->type, options->n_head, weights->head->n_in))
            arena->overflow = true;
        d->head.data = vouch_arena_take(arena, (size_t)d->head.n_tiles, d->head.tile_bytes);
    }
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
    if (!d) {
        vouch_bridge_close(options->bridge);
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the draft model's state");
    }
    d->bridge = options->bridge;
    d->n_session = options->n_ctx;
    const int64_t wanted = (int64_t)options->n_ctx * (d->bridge && d->bridge->most > 1 ? SPELLED : 1);
    d->n_ctx = wanted < weights->hparams.n_ctx_train ? (int32_t)wanted : weights->hparams.n_ctx_train;
    d->chunk = options->prefill_chunk;
    if (d->bridge && d->chunk < d->bridge->most) d->chunk = d->bridge->most;
    d->draw = options->draw;
    vouch_arena arena = {0};
    layout_drafter(d, options, weights, &arena);
    const vouch_sequence_options sequence = {.n_ctx = d->n_ctx,
                                              .max_rows = d->chunk > d->k ? d->chunk : d->k,
                                              .max_logits = d->branches,
                                              .head = options->n_head > 0 ? &d->head : NULL,
                                              .kv_type = options->kv_type};
    vouch_status status = vouch_arena_allocate(&arena, "the draft model's distributions", err);
    if (status == VOUCH_OK) {
        layout_drafter(d, options, weights, &arena);
        d->arena = arena;
        if (options->n_head > 0) vouch_matrix_pick(&d->head, weights->head, options->head);
        status = vouch_sequence_open(&d->sequence, weights, pool, &sequence, err);
    }
    if (status != VOUCH_OK) {
        model_close(d);
        return status;
    }
    *out = (vouch_drafter_ref){.ops = &model_ops, .self = d};
    return VOUCH_OK;
}

/* ----------------------------------------------------------- from the options */

static vouch_status check_head(const vouch_speculation *spec, int32_t n_vocab, vouch_error *err)
{
    const size_t n = spec->n_draft_head;
    vouch_status status = VOUCH_OK;
    if (n > 0 && !spec->draft_head)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "speculation: n_draft_head is %zu, but draft_head is NULL", n);
    if (n > (size_t)n_vocab)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "speculation: draft_head has %zu tokens, must be at most the draft model's %d", n, n_vocab);
    bool *taken = calloc((size_t)n_vocab, sizeof *taken);
    if (!taken) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the draft model's head");
    for (size_t i = 0; i < n && status == VOUCH_OK; i++) {
        const int32_t token = spec->draft_head[i];
        if (token < 0 || token >= n_vocab || taken[token])
            status = vouch_fail(err, VOUCH_E_ARGUMENT,
                                "speculation: draft_head[%zu] is %d, must be 0 to %d and there once", i, token,
                                n_vocab - 1);
        else taken[token] = true;
    }
    free(taken);
    return status;
}

/* NULL where the draft model guesses all of the target's tokens, and no others. */
static vouch_status open_bridge(vouch_bridge **out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_speculation *spec = setup->speculation;
    const vouch_vocabulary target = setup->target_tokens, draft = setup->draft_tokens;
    const bool may_differ = spec->allow_vocab_mismatch && target.tokenizer && draft.tokenizer;
    *out = NULL;
    if (may_differ && vouch_vocabulary_check_pair(target, draft, NULL) != VOUCH_OK)
        VOUCH_TRY(vouch_bridge_open(out, target.tokenizer, target.n, draft.tokenizer, draft.n, err));
    else VOUCH_TRY(vouch_vocabulary_check_pair(target, draft, err));
    if (spec->n_draft_head == 0) return VOUCH_OK;
    if (!*out) VOUCH_TRY(vouch_bridge_open_same(out, target.n, err));
    const vouch_status status = vouch_bridge_trim(*out, spec->draft_head, (int32_t)spec->n_draft_head, err);
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
                                                 .draft_sampling = spec->draft_sampling,
                                                 .draw = setup->draw_guess,
                                                 .n_ctx = setup->n_ctx,
                                                 .prefill_chunk = setup->prefill_chunk,
                                                 .k = spec->n_draft,
                                                 .branches = setup->branches,
                                                 .kv_type = setup->kv_type,
                                                 .bridge = bridge,
                                                 .head = spec->draft_head,
                                                 .n_head = (int32_t)spec->n_draft_head};
    return vouch_drafter_model_open(out, setup->draft_model, setup->pool, &options, err);
}

const vouch_drafter_type vouch_drafter_type_draft = {
    .in_auto = true, .needs = "a draft model", .open_paid = open_paid};
