/* SPDX-License-Identifier: MIT */
/*
 * A head that guesses a block of tokens at once (model/head/head_weights.h, block) as a guesser (guesser.h).
 *
 * A block of guesses in one pass. The head's memory has, at each position that the target has run, the keys and values
 * of the target's states there. The rows of a block stand after them, and are dropped after the pass:
 *
 *   positions   0 ........ n_written - 1 │ n_written .... n_given - 1 │ n_given ...
 *               keys and values           states only                  the last token, mask, mask, ...
 *
 * States wait until somebody asks for guesses, or until `states` is full.
 *
 *   follow   stages the keys and values that are missing, then the block's rows
 *   run      keeps the logits of each depth: further guesses need no pass
 *   feed     adds to the logits of a guess's depth what the token before it says, where the head has such a matrix
 *
 * A block always has the number of rows that the head was taught with, because its rows see each other. So logits
 * depend on the tokens alone, not on the number of guesses that are wanted (law L1).
 */
#include "draft/paid/head.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/angle.h"
#include "base/common.h"
#include "draft/paid/head_depths.h"
#include "draft/paid/head_inputs.h"
#include "model/stage/projection.h"
#include "model/stage/rows.h"

typedef struct block_guesser {
    const vouch_head_weights *head;
    vouch_shared_sequence sequence;
    vouch_shared_pass *writer;    /* of the layers that write keys and values */
    vouch_staged staged, written; /* rows in the last pass of the block, of the writer */
    vouch_projection fc, to;
    int32_t n_embd; /* of the target */
    int32_t n_ctx, chunk;
    int32_t n_written;     /* positions whose keys and values are there */
    int32_t n_given;       /* positions whose states have come */
    bool is_staged;        /* the rows of a block wait for their pass */
    bool is_writing;       /* so do rows of the writer */
    float *states;         /* [chunk][n_features] of the positions from n_written on */
    float *features;       /* [chunk][width] f of them */
    float *inputs;         /* [n_rows of a block][width] what the rows of a block read */
    vouch_depths depths;   /* that a block predicts and that may be asked for; logits without biases */
    vouch_projection gate; /* of the selector */
    float *gates;          /* [n_depths][rank] W_gate norm(s) */
    float *confidence;     /* [width + rank] where the head estimates its chances */
    float *normed;         /* [n_depths][width] norm(s) */
    double *trust;         /* [n_depths] the part of a confidence's sum that norm(s) gives */
    int32_t n_fed;         /* guesses since follow */
    float *from;           /* [VOUCH_MAX_TOP][rank] W_from's rows of the tokens before */
    float *bias;           /* [VOUCH_MAX_TOP][n_draft] */
    int32_t *best;         /* [n_depths][n_best] the likeliest draft tokens, best first, for the selector */
    int32_t *n_found;      /* [n_depths] of them */
    float *gated, *after;  /* [rank] from[x] times a gate; a row of `to` */
    float *logits;         /* [n_vocab of the target] */
    vouch_arena arena;
} block_guesser;

static int64_t width(const block_guesser *g)
{
    return g->head->body->hparams.n_embd;
}

static bool has_selector(const block_guesser *g)
{
    return g->head->block.gate.n_out > 0;
}

static bool has_bias(const block_guesser *g)
{
    return g->head->block.to.n_out > 0 && !has_selector(g);
}

static bool has_confidence(const block_guesser *g)
{
    return g->head->block.confidence.n_out > 0;
}

/* ---------------------------------------------------------- keys and values */

/* f of n positions from n_written on. */
static void make_features(block_guesser *g, int32_t n)
{
    const vouch_norm norm = {.kind = VOUCH_NORM_RMS, .weight = g->head->block.feature_norm};
    vouch_projection_run(&g->fc, g->states, g->features, n);
    for (int32_t i = 0; i < n; i++) {
        float *f = g->features + i * width(g);
        vouch_row_norm(f, f, &norm, width(g), g->head->body->hparams.norm_eps);
    }
}

/* Stages the keys and values of all positions whose states are there. */
static vouch_staging stage_keys(block_guesser *g)
{
    const int32_t n = g->n_given - g->n_written;
    if (n == 0) return VOUCH_STAGED_NONE;
    if (vouch_shared_pass_room(g->writer, 0) < n) return VOUCH_STAGED_FULL;
    make_features(g, n);
    vouch_row *rows = vouch_shared_pass_rows(g->writer);
    for (int32_t i = 0; i < n; i++)
        rows[i] =
            (vouch_row){.memory = g->sequence.memory, .input = g->features + i * width(g), .parent = -1, .kept = true};
    g->written = vouch_shared_pass_stage(g->writer, n);
    g->is_writing = true;
    return VOUCH_STAGED_ROWS;
}

/* Writes what is staged. Returns its seconds. */
static double write_keys(block_guesser *g)
{
    vouch_shared_pass_run(g->sequence.passes, g->writer);
    g->n_written = g->n_given;
    g->is_writing = false;
    return vouch_shared_pass_seconds(g->writer, &g->written);
}

static int32_t block_taps(const void *self, const int32_t **layers)
{
    const block_guesser *g = self;
    *layers = g->head->taps;
    return g->head->n_taps;
}

static void drop_block(block_guesser *g)
{
    vouch_memory_keep_rows(g->sequence.memory, 0);
    g->n_fed = 0;
    g->is_staged = false;
}

static void block_hidden(void *self, const int32_t *tokens, int32_t position, const float *const *states)
{
    block_guesser *g = self;
    (void)tokens;
    const size_t n_embd = (size_t)g->n_embd;
    assert(position == g->n_given);
    if (g->n_given - g->n_written == g->chunk) {
        drop_block(g);
        stage_keys(g);
        write_keys(g);
    }
    float *to = g->states + (int64_t)(position - g->n_written) * g->head->n_features;
    for (int32_t i = 0; i < g->head->n_taps; i++) memcpy(to + (size_t)i * n_embd, states[i], n_embd * sizeof *to);
    g->n_given++;
}

static int32_t block_n_hidden(const void *self)
{
    const block_guesser *g = self;
    return g->n_given;
}

/* ------------------------------------------------------------------- guesser */

static void block_rewind(void *self, int32_t n)
{
    block_guesser *g = self;
    drop_block(g);
    g->n_given = vouch_min(g->n_given, n);
    g->n_written = vouch_memory_rewind(g->sequence.memory, vouch_min(g->n_written, n));
}

/* The states of the last token come with its own pass, so that token counts as known without them. */
static int32_t block_known(const void *self, const int32_t *tokens, int32_t n_tokens)
{
    const block_guesser *g = self;
    (void)tokens;
    return vouch_min(g->n_written + 1, n_tokens);
}

/* Writes the input of row i of a block: the embedding of the last token, or of the mask. */
static void make_input(const block_guesser *g, int32_t i, int32_t last, float *input)
{
    const vouch_head_block *block = &g->head->block;
    if (i > 0 && block->mask_embedding) memcpy(input, block->mask_embedding, (size_t)width(g) * sizeof *input);
    else vouch_matrix_get_row(g->head->embedding, i > 0 ? block->mask : last, input);
    if (block->embedding_scale != 0) g->head->body->kernels->scale(input, block->embedding_scale, width(g));
}

static void stage_block(block_guesser *g, int32_t last)
{
    const vouch_head_block *block = &g->head->block;
    vouch_row *rows = vouch_shared_pass_rows(g->sequence.shared);
    for (int32_t i = 0; i < block->n_rows; i++) {
        float *input = g->inputs + i * width(g);
        make_input(g, i, last, input);
        rows[i] = (vouch_row){.memory = g->sequence.memory,
                              .input = input,
                              .parent = i - 1,
                              .sees_all = !block->is_causal,
                              .logits = i >= block->first && i < block->first + g->depths.n_depths,
                              .hidden = i >= block->first && i < block->first + g->depths.n_depths};
    }
    g->staged = vouch_shared_pass_stage(g->sequence.shared, block->n_rows);
    g->is_staged = true;
}

/* Reads the token before the guess that row i of the last follow or feed predicts. */
static void read_before(block_guesser *g, int32_t i, int32_t token)
{
    const vouch_matrix *from = &g->head->block.from;
    if (from->n_out > 0) vouch_matrix_get_row(from, token, g->from + i * from->n_in);
}

static vouch_staging block_follow(void *self, const int32_t *tokens, int32_t n, bool logits)
{
    block_guesser *g = self;
    drop_block(g);
    if (g->n_given < n - 1) return VOUCH_STAGED_NONE;
    if (g->n_written < g->n_given) {
        const vouch_staging staged = stage_keys(g);
        return logits && staged == VOUCH_STAGED_ROWS ? VOUCH_STAGED_PART : staged;
    }
    if (!logits || g->n_written != n - 1) return VOUCH_STAGED_NONE;
    if (vouch_shared_pass_room(g->sequence.shared, g->depths.n_depths) < g->head->block.n_rows)
        return VOUCH_STAGED_FULL;
    stage_block(g, tokens[n - 1]);
    vouch_depths_begin(&g->depths);
    read_before(g, 0, tokens[n - 1]);
    return VOUCH_STAGED_ROWS;
}

static double dot(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* The tokens among which the selector chooses, and its gates. They are the same for all guesses of a depth. */
static void find_candidates(block_guesser *g)
{
    const int32_t n_best = g->head->block.n_best;
    float values[VOUCH_MAX_FOUND];
    for (int32_t d = 0; d < g->depths.n_depths; d++)
        g->n_found[d] = vouch_find_top(g->head->body->kernels, vouch_depths_values(&g->depths, d),
                                       (int32_t)g->head->n_draft, n_best, g->best + d * n_best, values);
    vouch_projection_run(&g->gate, g->normed, g->gates, g->depths.n_depths);
}

/* Reads the states of all depths. */
static void read_states(block_guesser *g)
{
    const vouch_weights *w = g->head->body;
    const float *bias = g->head->block.confidence_bias;
    if (!has_confidence(g) && !has_selector(g)) return;
    for (int32_t d = 0; d < g->depths.n_depths; d++) {
        const float *s = vouch_pass_hidden(g->sequence.shared->pass, g->staged.first_hidden + d);
        float *normed = g->normed + d * width(g);
        vouch_row_norm(normed, s, &w->output_norm, width(g), w->hparams.norm_eps);
        if (has_confidence(g)) g->trust[d] = dot(g->confidence, normed, width(g)) + (bias ? (double)*bias : 0);
    }
    if (has_selector(g)) find_candidates(g);
}

static double block_run(void *self)
{
    block_guesser *g = self;
    if (g->is_writing) return write_keys(g);
    if (g->is_staged) vouch_shared_sequence_run(&g->sequence);
    const double start = vouch_now();
    double seconds = 0;
    if (g->is_staged) {
        vouch_depths_keep(&g->depths, g->sequence.shared->pass, g->staged.first_logits);
        read_states(g);
        seconds = vouch_shared_pass_seconds(g->sequence.shared, &g->staged);
        vouch_memory_keep_rows(g->sequence.memory, 0);
        g->is_staged = false;
    }
    if (has_bias(g)) vouch_projection_run(&g->to, g->from, g->bias, g->depths.n_asked);
    return seconds + vouch_now() - start;
}

static double block_part(const void *self, int32_t n_rows, int32_t n)
{
    const block_guesser *g = self;
    (void)n_rows; /* a block has its own number */
    return vouch_shared_pass_part(g->sequence.shared, g->head->block.n_rows, n);
}

static int32_t block_room(const void *self)
{
    (void)self;
    return VOUCH_MAX_DRAFT;
}

static vouch_staging block_feed(void *self, const int32_t *guesses, const int32_t *parents, int32_t n)
{
    block_guesser *g = self;
    vouch_depths_ask(&g->depths, g->n_fed, parents, n);
    for (int32_t i = 0; i < n; i++) read_before(g, i, guesses[i]);
    g->n_fed += n;
    return VOUCH_STAGED_ROWS;
}

/* The logits of the draft tokens alone are there where nothing changes them. */
static int32_t block_draft_tokens(const void *self, const int32_t **tokens)
{
    const block_guesser *g = self;
    *tokens = g->head->tokens;
    return g->head->tokens && !has_bias(g) && !has_selector(g) ? g->head->n_draft : 0;
}

static const float *block_draft_logits(void *self, int32_t i)
{
    const block_guesser *g = self;
    return vouch_depths_logits(&g->depths, i);
}

/* The scores of the selector; other tokens have no chance. */
static const float *select_logits(block_guesser *g, int32_t i)
{
    const vouch_head_weights *h = g->head;
    const vouch_head_block *block = &h->block;
    const float *base = vouch_depths_logits(&g->depths, i);
    const int64_t rank = block->from.n_in;
    const int32_t depth = g->depths.asked[i], *best = g->best + depth * block->n_best;
    for (int32_t d = 0; d < h->n_draft; d++) g->logits[h->tokens ? h->tokens[d] : d] = -INFINITY;
    for (int64_t k = 0; k < rank; k++) g->gated[k] = g->from[i * rank + k] * g->gates[depth * rank + k];
    for (int32_t b = 0; b < g->n_found[depth]; b++) {
        const int32_t token = h->tokens ? h->tokens[best[b]] : best[b];
        vouch_matrix_get_row(&block->to, token, g->after);
        g->logits[token] = base[best[b]] + vouch_row_dot(g->after, g->gated, rank);
    }
    return g->logits;
}

/* [n_vocab] Tokens that the head can't guess have no chance. */
static const float *block_logits(void *self, int32_t i)
{
    block_guesser *g = self;
    const vouch_head_weights *h = g->head;
    if (has_selector(g) && g->depths.asked[i] < g->depths.n_depths) return select_logits(g, i);
    const float *base = vouch_depths_logits(&g->depths, i);
    const float *bias = has_bias(g) ? g->bias + (int64_t)i * h->n_draft : NULL;
    for (int32_t d = 0; d < h->n_draft; d++)
        g->logits[h->tokens ? h->tokens[d] : d] = bias ? base[d] + bias[d] : base[d];
    return g->logits;
}

static double block_confidence(const void *self, int32_t i)
{
    const block_guesser *g = self;
    const int64_t rank = g->head->block.confidence.n_in - width(g); /* 0: it doesn't read the token before */
    const int32_t depth = g->depths.asked[i];
    if (!has_confidence(g) || depth >= g->depths.n_depths) return -1;
    const double sum = g->trust[depth] + dot(g->confidence + width(g), g->from + i * rank, rank);
    return 1 / (1 + vouch_power(VOUCH_E, fmax(-30, fmin(30, -sum)))); /* not exp: the same on all machines */
}

static void block_close(void *self)
{
    block_guesser *g = self;
    vouch_shared_pass_release(g->sequence.passes, g->writer);
    vouch_shared_sequence_close(&g->sequence);
    vouch_arena_free(&g->arena);
    free(g);
}

static size_t block_memory(const void *self)
{
    const block_guesser *g = self;
    return sizeof *g + g->arena.size + vouch_shared_sequence_bytes(&g->sequence);
}

static uint64_t block_digest(const void *self)
{
    const block_guesser *g = self;
    return vouch_memory_digest(g->sequence.memory);
}

static const vouch_guesser_ops guesser_ops = {.follow = block_follow,
                                              .room = block_room,
                                              .feed = block_feed,
                                              .run = block_run,
                                              .part = block_part,
                                              .logits = block_logits,
                                              .draft_tokens = block_draft_tokens,
                                              .draft_logits = block_draft_logits,
                                              .confidence = block_confidence,
                                              .taps = block_taps,
                                              .hidden = block_hidden,
                                              .n_hidden = block_n_hidden,
                                              .known = block_known,
                                              .rewind = block_rewind,
                                              .close = block_close,
                                              .memory = block_memory,
                                              .digest = block_digest};

/* ------------------------------------------------------------------- opening */

static void layout_guesser(block_guesser *g, int32_t n_vocab, vouch_arena *arena)
{
    const vouch_head_weights *h = g->head;
    const size_t n_embd = (size_t)width(g), n_draft = (size_t)h->n_draft, chunk = (size_t)g->chunk;
    g->states = vouch_arena_take(arena, chunk * (size_t)h->n_features, sizeof *g->states);
    g->features = vouch_arena_take(arena, chunk * n_embd, sizeof *g->features);
    g->inputs = vouch_arena_take(arena, (size_t)h->block.n_rows * n_embd, sizeof *g->inputs);
    vouch_depths_layout(&g->depths, arena);
    g->logits = vouch_arena_take(arena, (size_t)n_vocab, sizeof *g->logits);
    vouch_projection_layout(&g->fc, g->chunk, arena);
    const size_t rank = (size_t)h->block.from.n_in;
    if (rank == 0) return;
    g->from = vouch_arena_take(arena, VOUCH_MAX_TOP * rank, sizeof *g->from);
    if (has_confidence(g) || has_selector(g))
        g->normed = vouch_arena_take(arena, (size_t)g->depths.n_depths * n_embd, sizeof *g->normed);
    if (has_selector(g)) {
        g->gates = vouch_arena_take(arena, (size_t)g->depths.n_depths * rank, sizeof *g->gates);
        g->gated = vouch_arena_take(arena, rank, sizeof *g->gated);
        g->after = vouch_arena_take(arena, rank, sizeof *g->after);
        g->n_found = vouch_arena_take(arena, (size_t)g->depths.n_depths, sizeof *g->n_found);
        g->best = vouch_arena_take(arena, (size_t)g->depths.n_depths * (size_t)h->block.n_best, sizeof *g->best);
        vouch_projection_layout(&g->gate, g->depths.n_depths, arena);
        return;
    }
    g->bias = vouch_arena_take(arena, VOUCH_MAX_TOP * n_draft, sizeof *g->bias);
    vouch_projection_layout(&g->to, VOUCH_MAX_TOP, arena);
    if (!has_confidence(g)) return;
    g->confidence = vouch_arena_take(arena, (size_t)h->block.confidence.n_in, sizeof *g->confidence);
    g->trust = vouch_arena_take(arena, (size_t)g->depths.n_depths, sizeof *g->trust);
}

static vouch_status open_passes(block_guesser *g, vouch_shared_passes *passes, vouch_kv_type kv_type, vouch_error *err)
{
    const vouch_head_block *block = &g->head->block;
    const vouch_shared_sequence_options sequence = {
        .pass = {.n_ctx = g->n_ctx, .max_rows = block->n_rows, .max_logits = g->depths.n_depths}, .kv_type = kv_type};
    const vouch_shared_pass_options writer = {.n_ctx = g->n_ctx, .max_rows = g->chunk, .max_logits = 1};
    VOUCH_TRY(vouch_shared_sequence_open(&g->sequence, passes, g->head->body, &sequence, err));
    return vouch_shared_pass_take(&g->writer, passes, block->writer, &writer, err);
}

vouch_status vouch_head_block_open(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_head_weights *head = vouch_setup_head(setup);
    const int32_t n_vocab = setup->target_tokens.n;
    vouch_shared_passes *passes = setup->passes;
    const vouch_head_block *block = &head->block;
    const vouch_kernels *kernels = head->body->kernels;
    block_guesser *g = calloc(1, sizeof *g);
    if (!g) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the head's state");
    *g = (block_guesser){.head = head,
                         .n_embd = setup->target->hparams.n_embd,
                         .n_ctx = setup->n_ctx + block->n_rows, /* a block may reach past the session's end */
                         .chunk = setup->prefill_chunk,
                         .depths = {.n_depths = vouch_min(block->n_rows - block->first, setup->speculation->n_draft),
                                    .n_draft = head->n_draft},
                         .fc = {.w = &head->fc, .kernels = kernels, .pool = passes->pool},
                         .to = {.w = &block->to, .kernels = kernels, .pool = passes->pool},
                         .gate = {.w = &block->gate, .kernels = kernels, .pool = passes->pool}};
    vouch_arena arena = {0};
    layout_guesser(g, n_vocab, &arena);
    vouch_status status = vouch_arena_allocate(&arena, "the head's logits (use a smaller n_draft)", err);
    if (status == VOUCH_OK) {
        layout_guesser(g, n_vocab, &arena);
        g->arena = arena;
        if (has_confidence(g)) vouch_matrix_get_row(&block->confidence, 0, g->confidence);
        vouch_depths_open(&g->depths);
        for (int32_t t = 0; t < n_vocab; t++) g->logits[t] = -INFINITY;
        status = open_passes(g, passes, vouch_head_kv_type(setup), err);
    }
    if (status == VOUCH_OK) *out = (vouch_guesser){.ops = &guesser_ops, .self = g};
    else block_close(g);
    return status;
}
