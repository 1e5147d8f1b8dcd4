/* SPDX-License-Identifier: MIT */
/*
 * Grows guesses from q, the guesser's logits after the session's sampling parameters.
 *
 * A draft grows level by level (drafter.h). The first rows that it stages are the tokens that the guesser lacks; the
 * rows of each further level are guesses.
 *
 * A chain: each guess is fed back for the next. The last guess is never fed, because it may be rejected. After full
 * acceptance the guesser catches up with it.
 *
 * A tree, level by level (as in Li et al., EAGLE-2, arXiv 2406.16858): the best guesses of a level are fed in one pass,
 * and each opens a branching point:
 *
 *     level 0         level 1           value of a guess = chance of its path by q
 *     sequence ──┬─ a 0.6 ──┬─ c 0.3
 *                └─ b 0.3   └─ d 0.2
 *
 * Each level gets an equal share of the guesses that are left. They go where
 *
 *     value of the path x next largest probability of its q
 *
 * is largest. The branching points are then filled with the likeliest tokens, or with tokens drawn from q without
 * replacement. The number of guesses at a branching point is fixed before any of them is drawn, and every drawn guess
 * stays in the draft (drafter.h, D3). Given the cost of a pass by its rows, growth ends where a further guess would
 * give fewer tokens per second.
 *
 * Where the judge's rule wants independent paths (vouch_rule.paths), drawn guesses make such paths instead: each path
 * draws its next guess from q, level by level, and equal beginnings are one:
 *
 *     paths  a b         sequence ──┬─ a (2 paths) ──┬─ b (1)
 *            a d                    └─ x (1)         └─ d (1)
 *            x y                                       ...
 *
 * All paths end at the level that might not have room for a guess of each.
 *
 * A guess drawn from q carries that q. A guess by argmax is a point mass and carries none. The judge's rule says which
 * random numbers draw a guess. Point masses need only the likeliest tokens and their chances. So where nothing changes
 * the logits, q has just the draft tokens of a guesser that names them (guesser.h).
 *
 * Where a row has no finite logits, or no token that the grammar allows, the draft ends before that guess. So a bad
 * draft model costs speed, not the answer (law L2). That is exact, because the end depends on the guesses before it
 * only.
 */
#include "draft/paid/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/common.h"

enum { N_BEST = VOUCH_MAX_TOP };

/* A branching point: the q of its guesses, and the likeliest tokens of q. */
typedef struct branching {
    int32_t parent; /* the guess before it; -1: the sequence */
    double value;   /* of the path to it */
    int32_t n_best, n_guesses;
    int32_t best[N_BEST];
    float weight[N_BEST];
    const vouch_dist *q;
    double total;      /* weight of all of q */
    double confidence; /* as the guesser's; negative: none */
} branching;

typedef struct tree_drafter {
    vouch_drafter_ops ops;
    vouch_guesser guesser;
    vouch_sampler sampler;
    vouch_constraint *constraint; /* NULL: none */
    vouch_draw_fn *draw;
    const uint64_t *seed;        /* of the running answer */
    bool greedy;                 /* guesses are argmaxes of q */
    const int32_t *draft_tokens; /* [n_draft] q has these tokens alone, under their indices; NULL: all tokens */
    int32_t k;
    int32_t branches;        /* 1: chains */
    bool draws_paths;        /* `branches` independent paths; needs more than one */
    vouch_dist *q;           /* [k], or [1] where greedy */
    const vouch_dist **q_of; /* [k] the q of each guess */
    float *chances;          /* [k] */
    int32_t *guesses;        /* [k] */
    int32_t *parents;        /* [k] */
    int32_t window;          /* tokens that penalties and DRY look at */
    int32_t *history;        /* [window + k] */
    vouch_arena arena;

    /* The running draft. */
    vouch_draft draft;
    const int32_t *tokens; /* [n_tokens] of the sequence */
    int32_t n_tokens;
    vouch_shape shape;
    bool is_following; /* the guesser lacks tokens of the sequence */
    int32_t n_most;    /* most guesses; once the guesser has followed, no more than its context has room for */
    int32_t level;     /* levels that have guesses; of a chain, guesses */
    int32_t chosen[N_BEST], n_chosen; /* guesses of the last level that are fed next; none: the draft is complete */
    int32_t n_history;                /* tokens in `history` before the first guess */
    int32_t n_q, n_rows;              /* distributions in use; guesses fed */
    int32_t n_planned;                /* guesses that the filled branching points were given */
    double expected;                  /* tokens that a cycle with these guesses gives on average */
    int32_t rows[VOUCH_MAX_DRAFT], depths[VOUCH_MAX_DRAFT]; /* of each guess: its row of the guesser; its depth */
    double values[VOUCH_MAX_DRAFT];
    branching open[N_BEST];
    int32_t ends[N_BEST], n_ends;     /* the last guess of each path; -1: none yet */
    int32_t n_paths[VOUCH_MAX_DRAFT]; /* that take each guess */
} tree_drafter;

/* q of a row, with the first n tokens of `history` before it. False where the logits aren't finite. */
static bool read_row(tree_drafter *d, vouch_dist *q, int32_t row, int32_t n)
{
    const int64_t position = (int64_t)d->n_tokens + n - d->n_history;
    d->sampler.xtc_applies = vouch_xtc_applies(&d->sampler.params, *d->seed, position);
    if (d->constraint) {
        const int32_t *guesses = d->history + d->n_history;
        const int32_t depth = n - d->n_history;
        if (!vouch_constraint_mask(d->constraint, VOUCH_FOLLOWER_MODEL, guesses, depth, &d->sampler.allowed))
            return false;
    }
    const vouch_guesser_ops *ops = d->guesser.ops;
    void *guesser = d->guesser.self;
    const float *logits = d->draft_tokens ? ops->draft_logits(guesser, row) : ops->logits(guesser, row);
    return vouch_dist_from_logits(q, &d->sampler, logits, d->history, (size_t)n) == VOUCH_OK;
}

/* Finds the n likeliest tokens of q, the likeliest first. Returns how many it found. */
static int32_t find_best(const tree_drafter *d, const vouch_dist *q, int32_t n, int32_t *tokens, float *weights)
{
    int32_t found = vouch_find_top(d->sampler.kernels, q->weight, q->n_vocab, n, tokens, weights);
    while (found > 0 && !(weights[found - 1] > 0)) found--;
    for (int32_t i = 0; d->draft_tokens && i < found; i++) tokens[i] = d->draft_tokens[tokens[i]];
    return found;
}

static double confidence_of(const tree_drafter *d, int32_t row)
{
    const vouch_guesser_ops *ops = d->guesser.ops;
    return ops->confidence ? ops->confidence(d->guesser.self, row) : -1;
}

/* -------------------------------------------------------------------- chains */

/* Draws guess i from the last row. False where its logits aren't finite. */
static bool draw_guess(tree_drafter *d, int32_t i, int64_t position, int32_t n_history)
{
    vouch_dist *q = &d->q[d->greedy ? 0 : i];
    if (!read_row(d, q, 0, n_history)) return false;
    double p;
    if (d->greedy) {
        float most = 0;
        find_best(d, q, 1, &d->guesses[i], &most);
        p = (double)most / q->total;
    } else {
        vouch_residual whole;
        vouch_residual_begin(&whole, q, NULL, 1);
        d->guesses[i] = d->draw(&whole, *d->seed, position, i);
        p = vouch_dist_p(q, d->guesses[i]);
    }
    const double confidence = confidence_of(d, 0);
    d->chances[i] = (float)(confidence < 0 ? p : confidence);
    return true;
}

/* The next guess of the chain. */
static void grow_chain(tree_drafter *d)
{
    const int32_t i = d->draft.n;
    d->n_chosen = 0;
    if (!draw_guess(d, i, (int64_t)d->n_tokens + i, d->n_history + i)) return;
    d->draft.n = i + 1;
    if (d->draft.n == d->n_most) return;
    d->history[d->n_history + i] = d->guesses[i];
    d->chosen[d->n_chosen++] = i;
}

/* --------------------------------------------------------------------- trees */

/* Opens the branching point after a guess with the q of a row. False where its logits aren't finite. */
static bool branching_open(tree_drafter *d, branching *b, int32_t parent, int32_t row)
{
    vouch_dist *q = &d->q[d->greedy ? 0 : d->n_q];
    const int32_t depth = parent < 0 ? 0 : d->depths[parent] + 1;
    for (int32_t i = parent, at = d->n_history + depth; i >= 0; i = d->parents[i]) d->history[--at] = d->guesses[i];
    *b = (branching){.parent = parent, .value = parent < 0 ? 1 : d->values[parent], .q = q};
    if (!read_row(d, q, row, d->n_history + depth)) return false;
    b->n_best = find_best(d, q, d->branches, b->best, b->weight);
    b->total = q->total;
    b->confidence = confidence_of(d, row);
    d->n_q++;
    return true;
}

/* The estimated chance of a guess whose probability by q is p. A confidence is the chance of the likeliest guess; the
 * others share the rest as q does. */
static double chance_of(const branching *b, double p)
{
    const double best = (double)b->weight[0], rest = b->total - best;
    if (b->confidence < 0) return p;
    if (p * b->total >= best) return b->confidence;
    return rest > 0 ? (1 - b->confidence) * p * b->total / rest : 0;
}

/* Chooses the best guesses of [first, past), at most d->branches, in the order of their numbers. */
static void choose_guesses(tree_drafter *d, int32_t first, int32_t past)
{
    d->n_chosen = 0;
    for (int32_t i = first; i < past; i++) {
        int32_t better = 0;
        for (int32_t j = first; j < past; j++)
            better += d->values[j] > d->values[i] || (j < i && d->values[j] == d->values[i]);
        if (better < d->branches) d->chosen[d->n_chosen++] = i;
    }
}

/* Opens the branching points after the guesses that were fed, or after the sequence. Returns their number. */
static int32_t level_open(tree_drafter *d)
{
    int32_t n_open = 0;
    if (d->level == 0) return branching_open(d, &d->open[0], -1, 0);
    for (int32_t i = 0; i < d->n_chosen; i++) n_open += branching_open(d, &d->open[n_open], d->chosen[i], i);
    return n_open;
}

/* Whether one more guess of this value makes the draft worth more. */
static bool pays(const tree_drafter *d, double value)
{
    const vouch_price *price = &d->shape.price;
    const int32_t n = d->n_planned;
    return !price->cost ||
           vouch_price_worth(price, d->expected + value, n + 1) > vouch_price_worth(price, d->expected, n);
}

/* Divides n guesses among the open branching points. */
static void divide(tree_drafter *d, int32_t n_open, int32_t n)
{
    for (; n > 0; n--) {
        branching *best = NULL;
        double most = 0;
        for (branching *b = d->open; b < d->open + n_open; b++) {
            if (b->n_guesses == vouch_min(b->n_best, d->shape.branches)) continue;
            const double value = b->value * chance_of(b, (double)b->weight[b->n_guesses] / b->total);
            if (best && value <= most) continue;
            best = b;
            most = value;
        }
        if (!best || !pays(d, most)) return;
        best->n_guesses++;
        d->n_planned++;
        d->expected += most;
    }
}

static int32_t depth_at(const tree_drafter *d, const branching *b)
{
    return b->parent < 0 ? 0 : d->depths[b->parent] + 1;
}

/* Adds a guess whose probability by q is p. Returns its number. */
static int32_t add_guess(tree_drafter *d, const branching *b, int32_t token, double p)
{
    const int32_t number = d->draft.n++;
    const double chance = chance_of(b, p);
    d->guesses[number] = token;
    d->parents[number] = b->parent;
    d->depths[number] = depth_at(d, b);
    d->chances[number] = (float)chance;
    d->values[number] = b->value * chance;
    d->q_of[number] = b->q;
    d->n_paths[number] = 0;
    if (b->parent != number - 1) d->draft.parents = d->parents;
    return number;
}

static void fill(tree_drafter *d, const branching *b)
{
    vouch_residual left;
    vouch_residual_begin(&left, b->q, NULL, 1);
    const int32_t depth = depth_at(d, b);
    for (int32_t i = 0; i < b->n_guesses && left.total > 0; i++) {
        int32_t token = b->best[i];
        double p = (double)b->weight[i] / b->total;
        if (!d->greedy) {
            token = d->draw(&left, *d->seed, (int64_t)d->n_tokens + depth, depth * VOUCH_MAX_DRAFT + d->draft.n);
            p = vouch_dist_p(b->q, token);
            vouch_residual_reject(&left, token);
        }
        add_guess(d, b, token, p);
    }
}

/* Draws the next guess of each path that ends at a branching point. */
static void fill_paths(tree_drafter *d, const branching *b)
{
    const int32_t first = d->draft.n, depth = depth_at(d, b);
    vouch_residual whole;
    vouch_residual_begin(&whole, b->q, NULL, 1);
    for (int32_t path = 0; path < d->n_ends; path++) {
        if (d->ends[path] != b->parent) continue;
        const int32_t token = d->draw(&whole, *d->seed, (int64_t)d->n_tokens + depth, depth * VOUCH_MAX_DRAFT + path);
        int32_t i = first;
        while (i < d->draft.n && d->guesses[i] != token) i++;
        if (i == d->draft.n) add_guess(d, b, token, vouch_dist_p(b->q, token));
        d->n_paths[i]++;
        d->ends[path] = i;
    }
}

/* Grows the next level of independent paths. Their number doesn't follow the price: how many paths come to a guess has
 * to be known before it is drawn, and pace has chosen the depth. */
static void grow_paths(tree_drafter *d)
{
    const int32_t first = d->draft.n, n_open = level_open(d);
    if (d->level == 0) d->n_ends = vouch_min(d->branches, d->n_most);
    for (int32_t i = 0; i < d->n_ends && d->level == 0; i++) d->ends[i] = -1;
    for (int32_t i = 0; i < n_open; i++) fill_paths(d, &d->open[i]);
    const bool is_last = ++d->level == d->shape.depth || d->n_most - d->draft.n < d->n_ends;
    choose_guesses(d, first, is_last ? first : d->draft.n);
}

/* Grows the next level of the tree. */
static void grow_tree(tree_drafter *d)
{
    const int32_t levels = d->shape.depth - d->level, first = d->draft.n, n_open = level_open(d);
    divide(d, n_open, (d->n_most - first + levels - 1) / levels);
    for (int32_t i = 0; i < n_open; i++) fill(d, &d->open[i]);
    d->level++;
    choose_guesses(d, first, levels == 1 || d->draft.n >= d->n_most ? first : d->draft.n);
}

/* -------------------------------------------------------------------- levels */

static void tree_begin(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    tree_drafter *d = self;
    d->draft = (vouch_draft){.tokens = d->guesses, .q = d->greedy ? NULL : d->q_of, .chances = d->chances};
    d->tokens = tokens;
    d->n_tokens = n_tokens;
    d->shape = *shape;
    d->n_most = shape->depth < 1 ? 0 : vouch_min(d->branches > 1 ? shape->n : shape->depth, d->k);
    d->is_following = d->n_most > 0;
    d->level = d->n_chosen = d->n_q = d->n_rows = d->n_planned = 0;
    d->expected = 1;
    d->draft.paths = d->draws_paths ? d->n_paths : NULL;
    d->n_history = vouch_min(n_tokens, d->window);
    memcpy(d->history, tokens + n_tokens - d->n_history, (size_t)d->n_history * sizeof *tokens);
    if (d->constraint && d->n_most > 0) vouch_constraint_settle(d->constraint, VOUCH_FOLLOWER_MODEL, tokens, n_tokens);
}

/* Feeds the chosen guesses. */
static vouch_staging stage_guesses(tree_drafter *d)
{
    int32_t guesses[N_BEST], parents[N_BEST];
    for (int32_t i = 0; i < d->n_chosen; i++) {
        const int32_t parent = d->branches > 1 ? d->parents[d->chosen[i]] : -1;
        guesses[i] = d->guesses[d->chosen[i]];
        parents[i] = parent < 0 ? -1 : d->rows[parent];
    }
    const vouch_staging staged =
        d->guesser.ops->feed(d->guesser.self, guesses, d->branches > 1 ? parents : NULL, d->n_chosen);
    for (int32_t i = 0; staged == VOUCH_STAGED_ROWS && i < d->n_chosen; i++) d->rows[d->chosen[i]] = d->n_rows++;
    return staged;
}

static vouch_staging tree_stage(void *self)
{
    tree_drafter *d = self;
    if (!d->is_following) return d->n_chosen > 0 ? stage_guesses(d) : VOUCH_STAGED_NONE;
    const vouch_staging staged = d->guesser.ops->follow(d->guesser.self, d->tokens, d->n_tokens, true);
    d->is_following = staged != VOUCH_STAGED_ROWS;
    return staged == VOUCH_STAGED_PART ? VOUCH_STAGED_ROWS : staged;
}

static double tree_run(void *self)
{
    tree_drafter *d = self;
    return d->guesser.ops->run(d->guesser.self);
}

static void tree_grow(void *self)
{
    tree_drafter *d = self;
    if (d->is_following) return;
    if (d->draft.n == 0) d->n_most = vouch_min(d->n_most, d->guesser.ops->room(d->guesser.self));
    if (d->n_most < 1) return;
    if (d->draws_paths) grow_paths(d);
    else if (d->branches > 1) grow_tree(d);
    else grow_chain(d);
}

static vouch_draft tree_end(void *self)
{
    const tree_drafter *d = self;
    return d->draft;
}

/* Levels like those of the last draft. */
static double tree_part(const void *self, int32_t n)
{
    const tree_drafter *d = self;
    const int32_t n_rows = d->branches > 1 && d->level > 0 ? vouch_max(d->n_rows / d->level, 1) : 1;
    return d->guesser.ops->part(d->guesser.self, n_rows, n);
}

/* Follows all tokens but the last, which a draft runs for its logits. */
static vouch_staging tree_follow(void *self, const int32_t *tokens, int32_t n_tokens)
{
    tree_drafter *d = self;
    const vouch_guesser_ops *ops = d->guesser.ops;
    if (ops->known(d->guesser.self, tokens, n_tokens - 1) >= n_tokens - 1) return VOUCH_STAGED_NONE;
    const vouch_staging staged = ops->follow(d->guesser.self, tokens, n_tokens - 1, false);
    return staged == VOUCH_STAGED_PART ? VOUCH_STAGED_ROWS : staged;
}

static const vouch_level_ops tree_levels = {.follow = tree_follow,
                                            .begin = tree_begin,
                                            .stage = tree_stage,
                                            .run = tree_run,
                                            .grow = tree_grow,
                                            .end = tree_end,
                                            .part = tree_part};

/* ------------------------------------------------------------------- drafter */

static void tree_rewind(void *self, int32_t n_tokens)
{
    tree_drafter *d = self;
    d->guesser.ops->rewind(d->guesser.self, n_tokens);
}

static int32_t tree_known(const void *self, const int32_t *tokens, int32_t n_tokens)
{
    const tree_drafter *d = self;
    return d->guesser.ops->known(d->guesser.self, tokens, n_tokens);
}

static void tree_close(void *self)
{
    tree_drafter *d = self;
    d->guesser.ops->close(d->guesser.self);
    vouch_arena_free(&d->arena);
    free(d);
}

static size_t tree_memory(const void *self)
{
    const tree_drafter *d = self;
    return sizeof *d + d->arena.size + d->guesser.ops->memory(d->guesser.self);
}

static uint64_t tree_digest(const void *self)
{
    const tree_drafter *d = self;
    return d->guesser.ops->digest(d->guesser.self);
}

static int32_t tree_taps(const void *self, const int32_t **layers)
{
    const tree_drafter *d = self;
    return d->guesser.ops->taps(d->guesser.self, layers);
}

static void tree_hidden(void *self, const int32_t *tokens, int32_t position, const float *const *states)
{
    tree_drafter *d = self;
    d->guesser.ops->hidden(d->guesser.self, tokens, position, states);
}

static int32_t tree_n_hidden(const void *self)
{
    const tree_drafter *d = self;
    return d->guesser.ops->n_hidden(d->guesser.self);
}

/* A greedy draft takes the likeliest tokens after penalties and bias. It states their chances at temperature 1. Only
 * typical and XTC can drop the likeliest token: with them it takes the likeliest of q. */
static vouch_sampling sampling_of(const vouch_drafter_setup *setup, bool greedy)
{
    vouch_sampling params = *setup->sampling;
    if (!greedy || vouch_sampling_drops_top(&params)) return params;
    params.temperature = 1;
    params.top_k = 0;
    params.top_p = 1;
    params.min_p = 0;
    params.typical_p = 1;
    params.top_n_sigma = 0;
    params.xtc_probability = 0;
    return params;
}

/* Chooses the tokens of q. Returns their number. */
static int32_t choose_tokens(tree_drafter *d, const vouch_drafter_setup *setup)
{
    const vouch_sampling params = sampling_of(setup, d->greedy);
    const vouch_guesser_ops *ops = d->guesser.ops;
    if (!d->greedy || setup->constraint || vouch_sampling_changes_logits(&params) || !ops->draft_tokens)
        return setup->target_tokens.n;
    const int32_t n_draft = ops->draft_tokens(d->guesser.self, &d->draft_tokens);
    if (n_draft > 0) return n_draft;
    d->draft_tokens = NULL;
    return setup->target_tokens.n;
}

static void layout_drafter(tree_drafter *d, const vouch_drafter_setup *setup, const vouch_kernels *kernels,
                           int32_t n_tokens, vouch_arena *arena)
{
    const vouch_sampling params = sampling_of(setup, d->greedy);
    vouch_sampler_layout(&d->sampler, &params, n_tokens, setup->n_ctx, kernels, arena);
    d->sampler.breakers = setup->breakers;
    const int32_t n_q = d->greedy ? 1 : d->k;
    d->q = vouch_arena_take(arena, (size_t)n_q, sizeof *d->q);
    d->q_of = vouch_arena_take(arena, (size_t)d->k, sizeof *d->q_of);
    d->chances = vouch_arena_take(arena, (size_t)d->k, sizeof *d->chances);
    d->guesses = vouch_arena_take(arena, (size_t)d->k, sizeof *d->guesses);
    d->parents = vouch_arena_take(arena, (size_t)d->k, sizeof *d->parents);
    d->window = vouch_min(vouch_sampling_window(&params), setup->n_ctx);
    d->history = vouch_arena_take(arena, (size_t)d->window + (size_t)d->k, sizeof *d->history);
    for (int32_t i = 0; i < n_q; i++) {
        vouch_dist counted;
        vouch_dist_layout(d->q ? &d->q[i] : &counted, n_tokens, arena);
        if (d->q) d->q_of[i] = &d->q[i];
    }
}

vouch_status vouch_drafter_tree_open(vouch_drafter_ref *out, vouch_guesser guesser, const char *name, unsigned bit,
                                     const vouch_drafter_setup *setup, const vouch_kernels *kernels, vouch_error *err)
{
    *out = (vouch_drafter_ref){0};
    tree_drafter *d = calloc(1, sizeof *d);
    if (!d) {
        guesser.ops->close(guesser.self);
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the guesses of a draft model or head");
    }
    d->guesser = guesser;
    d->ops = (vouch_drafter_ops){.name = name,
                                 .bit = bit,
                                 .levels = &tree_levels,
                                 .taps = guesser.ops->taps ? tree_taps : NULL,
                                 .hidden = guesser.ops->hidden ? tree_hidden : NULL,
                                 .n_hidden = guesser.ops->n_hidden ? tree_n_hidden : NULL,
                                 .rewind = tree_rewind,
                                 .known = tree_known,
                                 .close = tree_close,
                                 .memory = tree_memory,
                                 .digest = tree_digest};
    d->draw = setup->draw_guess;
    d->seed = setup->seed;
    d->constraint = setup->constraint;
    d->greedy = setup->sampling->temperature == 0 || setup->speculation->draft_sampling == VOUCH_DRAFT_GREEDY;
    d->k = setup->speculation->n_draft;
    d->branches = vouch_setup_level(setup);
    d->draws_paths = setup->draws_paths && d->branches > 1 && !d->greedy;
    const int32_t n_tokens = choose_tokens(d, setup);
    vouch_arena arena = {0};
    layout_drafter(d, setup, kernels, n_tokens, &arena);
    const vouch_status status = vouch_arena_allocate(&arena, "the distributions of a draft model or head", err);
    if (status != VOUCH_OK) {
        tree_close(d);
        return status;
    }
    layout_drafter(d, setup, kernels, n_tokens, &arena);
    d->arena = arena;
    *out = (vouch_drafter_ref){.ops = &d->ops, .self = d};
    return VOUCH_OK;
}
