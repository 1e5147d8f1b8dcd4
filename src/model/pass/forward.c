/* SPDX-License-Identifier: MIT */
/*
 * The forward pass of a decoder-only transformer, n rows at once. One run of the thread team: every thread executes
 * forward(), takes pieces of each stage and meets the others at a barrier after it.
 *
 *   x = embedding[token], or a row's own input                       [n, n_embd]
 *   for each layer
 *     q, k, v = W norm(x)                   k, v into the cache      [n, heads * head_dim]
 *     mixed   = softmax(q k) v              over the row's own keys  [n, n_heads * value_dim]
 *     x      += W_o mixed                   or a recurrent mixer's result, or both
 *     gated   = silu(W_gate norm(x)) * W_up norm(x)                  [n, n_ff]
 *     x      += W_down gated                or a mixture of experts  [n, n_embd]
 *     x      += an extra branch             in models with inputs for single layers
 *   logits = W_head norm(x)                 of the rows that ask     [n_logits, n_vocab]
 *
 * Some models have several versions of x (altup.h, hyper.h), keep some x of before (vouch_depth), have adapters that
 * tokens choose (adapters.h), a channel mix in place of the feed-forward (wkv.h), or stacks of layers that take turns
 * on two states (hparams.h).
 *
 * A norm after a branch and a scale stand between W_o or W_down and the addition, where a layer has them. layer.h has
 * these and the other variants: biases, norms, activations, softcaps, windows.
 *
 * Law L1 holds because no kernel mixes rows, and every row is given the same operations in the same order.
 *
 * RMSNorm: arXiv 1910.07467. RoPE: 2104.09864. Grouped queries: 2305.13245. SwiGLU: 2002.05202.
 */
#include <math.h>
#include <string.h>

#include "base/angle.h"
#include "model/pass/adapters.h"
#include "model/pass/altup.h"
#include "model/pass/attention.h"
#include "model/pass/experts.h"
#include "model/pass/forward.h"
#include "model/pass/hyper.h"
#include "model/pass/layer_inputs.h"
#include "model/pass/recurrent.h"
#include "model/pass/wkv.h"
#include "model/stage/affine.h"
#include "model/stage/rows.h"
#include "model/stage/stream.h"

/* ----------------------------------------------------------- embedding and angles */

/* Writes cos and sin of a position's angles. */
static void fill_angles(const vouch_rotary *rotary, int32_t n_ctx, int32_t position, float *cosines, float *sines)
{
    const bool is_long = rotary->long_frequencies && n_ctx > rotary->n_ctx_short;
    const double *frequencies = is_long ? rotary->long_frequencies : rotary->frequencies;
    const int32_t half = rotary->n_rot / 2;
    const double most = 1 << 30, two_pi = 6.283185307179586;
    for (int32_t i = 0; i < half; i++) {
        const bool is_split = rotary->kind == VOUCH_ROTARY_HALF_SPLIT;
        const int32_t a = is_split ? i : 2 * i, b = is_split ? i + half : a + 1;
        double sine, cosine;
        const double angle = fabs((double)position * frequencies[i]);
        vouch_sine_cosine(angle < most ? angle : fmod(angle, two_pi), &sine, &cosine);
        sine *= frequencies[i] < 0 ? -rotary->magnitude : rotary->magnitude;
        cosine *= rotary->magnitude;
        cosines[a] = cosines[b] = (float)cosine;
        sines[a] = -(float)sine;
        sines[b] = (float)sine;
    }
}

/* x = norm(scale * embedding[token] + positions[position]); most models have the embedding alone. Rows of a drafting
 * head bring their own x (head_weights.h). */
static void embed_row(const vouch_workspace *c, thread_space *my, int64_t row)
{
    const vouch_weights *w = c->weights;
    const int64_t n_embd = w->hparams.n_embd;
    float *x = c->x + row * n_embd;
    if (c->inputs[row]) {
        memcpy(x, c->inputs[row], (size_t)n_embd * sizeof *x);
        return;
    }
    vouch_matrix_get_row(&w->embedding, vouch_adapters_substitute(&w->hparams, c->tokens[row]), x);
    if (w->hparams.embedding_scale != 0) w->kernels->scale(x, w->hparams.embedding_scale, n_embd);
    if (w->positions.n_out > 0) {
        vouch_matrix_get_row(&w->positions, c->slots[row].position, my->rows);
        for (int64_t i = 0; i < n_embd; i++) x[i] += my->rows[i];
    }
    if (w->embedding_norm.kind != VOUCH_NORM_NONE)
        vouch_row_norm(x, x, &w->embedding_norm, n_embd, w->hparams.norm_eps);
}

/* Computes the first layer's input and each row's angles. */
static void stage_embed(vouch_workspace *c, vouch_pool *team, thread_space *my, stream_reader next)
{
    const vouch_weights *w = c->weights;
    const int64_t n_embd = w->hparams.n_embd;
    vouch_work work = vouch_pool_share(team, my->thread, c->n_rows, 1);
    while (vouch_work_next(&work))
        for (int64_t r = work.begin; r < work.end; r++) {
            embed_row(c, my, r);
            if (c->first) memcpy(c->first + r * n_embd, c->x + r * n_embd, (size_t)n_embd * sizeof *c->x);
            for (int32_t i = 0; i < w->n_rotaries; i++) {
                const int64_t at = r * w->rotaries[i].n_rot;
                fill_angles(&w->rotaries[i], c->n_ctx, c->slots[r].position, c->angles[i].cosines + at,
                            c->angles[i].sines + at);
            }
            vouch_stream_publish(c, my, &next, r, r + 1, 0, (n_embd + VOUCH_TILE - 1) / VOUCH_TILE);
        }
    vouch_pool_barrier(team, my->thread);
}

/* ------------------------------------------------------------------ feed-forward */

/* Rows that stand in for W_up x, `step` floats apart; x NULL: none. */
typedef struct given_rows {
    const float *x;
    int64_t step;
} given_rows;

/* Computes the tiles [begin, end) of silu(gate) * up for all rows. The same thread makes them into W_down's input while
 * they are in its cache. */
static void compute_gated(vouch_workspace *c, const thread_space *my, const vouch_feed_forward *ffn, given_rows given,
                          const vouch_acts *in, vouch_acts *gated, int64_t begin, int64_t end)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n_ff = ffn->n_ff, first = begin * VOUCH_TILE;
    const int64_t last = end * VOUCH_TILE < n_ff ? end * VOUCH_TILE : n_ff;
    const bool has_gate = ffn->gate.n_out > 0;
    float *up = has_gate ? c->up : c->gate;
    if (has_gate) {
        vouch_stage_multiply(c, &ffn->gate, in, c->gate, begin, end, VOUCH_FROM_ZERO, my->norms);
        vouch_stage_affine(c, my, &ffn->gate_after, c->gate, n_ff, begin, end);
    }
    if (!given.x) {
        vouch_stage_multiply(c, &ffn->up, in, up, begin, end, VOUCH_FROM_ZERO, my->norms);
        vouch_stage_affine(c, my, &ffn->up_after, up, n_ff, begin, end);
    }
    for (int64_t r = 0; given.x && r < c->n_rows; r++)
        memcpy(up + r * n_ff + first, given.x + r * given.step + first, (size_t)(last - first) * sizeof *up);
    if (ffn->sparsity != 0) return; /* it has to see whole rows first, and so has the norm below */
    for (int64_t r = 0; r < c->n_rows; r++) {
        float *gate = c->gate + r * n_ff + first;
        vouch_row_activate(kernels, ffn, gate, has_gate ? up + r * n_ff + first : NULL, last - first);
        for (int64_t i = 0; ffn->divisors && i < last - first; i++) gate[i] /= ffn->divisors[first + i];
    }
    if (ffn->down_norm) return;
    vouch_stage_put(c, gated, vouch_stage_end_needs(&ffn->down, &ffn->down_after), c->gate, n_ff, 0, c->n_rows, first,
                    last);
}

/* A piece begins and ends at the limit of a block of activations. */
_Static_assert(VOUCH_STAGE_TILES *VOUCH_TILE % VOUCH_BLOCK == 0, "a piece of W_down's input is whole blocks");

/* Makes whole rows into W_down's input, through a sparse activation or its norm. */
static void put_whole(vouch_workspace *c, vouch_pool *team, const thread_space *my, const vouch_feed_forward *ffn,
                      vouch_acts *gated)
{
    const vouch_norm norm = {.kind = VOUCH_NORM_RMS, .weight = ffn->down_norm};
    const vouch_needs needs = vouch_stage_end_needs(&ffn->down, &ffn->down_after);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float *row = c->gate + r * ffn->n_ff;
        if (ffn->sparsity != 0) {
            vouch_row_cut(row, ffn->sparsity, ffn->n_ff);
            vouch_row_activate(c->weights->kernels, ffn, row, c->up + r * ffn->n_ff, ffn->n_ff);
        }
        if (ffn->down_norm) vouch_row_norm(row, row, &norm, ffn->n_ff, c->weights->hparams.norm_eps);
    }
    vouch_stage_put(c, gated, needs, c->gate + mine.begin * ffn->n_ff, ffn->n_ff, mine.begin, mine.end, 0, ffn->n_ff);
    vouch_pool_barrier(team, my->thread);
}

/* gated = silu(W_gate in) * W_up in, as the input of W_down. */
static vouch_acts stage_gated(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_feed_forward *ffn,
                              given_rows given, vouch_acts in)
{
    const vouch_affine *const after[] = {&ffn->gate_after, &ffn->up_after, &ffn->down_after};
    vouch_lora_reduce(c, team, my, after, 2, &in, my->norms);
    vouch_acts gated = vouch_stage_acts(c, &c->gated_acts, c->n_rows, ffn->n_ff);
    vouch_work work = vouch_pool_share(team, my->thread, (ffn->n_ff + VOUCH_TILE - 1) / VOUCH_TILE, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) compute_gated(c, my, ffn, given, &in, &gated, work.begin, work.end);
    vouch_pool_barrier(team, my->thread);
    if (ffn->down_norm || ffn->sparsity != 0) put_whole(c, team, my, ffn, &gated);
    vouch_lora_reduce(c, team, my, after + 2, 1, &gated, NULL);
    return gated;
}

/* ------------------------------------------------------- onto the residual stream */

/* The last matrix of a branch, its bias and scale, and its input; w NULL: the layer's mixture of experts. The result
 * may have a gate, sigmoid(gate gate_acts). */
typedef struct branch_end {
    const vouch_matrix *w;
    const vouch_affine *after;
    vouch_acts acts;
    int32_t layer;
    const vouch_matrix *gate; /* NULL: none */
    vouch_acts gate_acts;
} branch_end;

/* y *= sigmoid(gate gate_acts) in the tiles [begin, end) of all rows. */
static void gate_branch(vouch_workspace *c, const branch_end *from, float *y, int64_t begin, int64_t end)
{
    const int64_t n = from->gate->n_out, first = begin * VOUCH_TILE;
    const int64_t last = end * VOUCH_TILE < n ? end * VOUCH_TILE : n;
    vouch_stage_multiply(c, from->gate, &from->gate_acts, c->inner, begin, end, VOUCH_FROM_ZERO, NULL);
    for (int64_t r = 0; r < c->n_rows; r++) {
        vouch_row_sigmoid(c->weights->kernels, c->inner + r * n + first, last - first);
        for (int64_t i = r * n + first; i < r * n + last; i++) y[i] *= c->inner[i];
    }
}

/* Computes the tiles [begin, end) of a branch's result, in place of y [n_rows, n_embd] or added to it. */
static void compute_branch(vouch_workspace *c, thread_space *my, const branch_end *from, float *y, int64_t begin,
                           int64_t end, vouch_start start)
{
    if (!from->w) {
        vouch_experts_mix(c, my, from->layer, y, begin, end, start);
        return;
    }
    vouch_stage_multiply(c, from->w, &from->acts, y, begin, end, start, NULL);
    vouch_stage_affine(c, my, from->after, y, from->w->n_out, begin, end);
    if (from->gate) gate_branch(c, from, y, begin, end);
}

/* Tiles of a row of the stream. */
static int64_t stream_tiles(const vouch_workspace *c)
{
    return (c->weights->hparams.n_embd + VOUCH_TILE - 1) / VOUCH_TILE;
}

/* x += the branch. Each tile becomes the next reader's input at once. */
static void add_directly(vouch_workspace *c, vouch_pool *team, thread_space *my, const branch_end *from,
                         stream_reader next)
{
    vouch_work work = vouch_pool_share(team, my->thread, stream_tiles(c), VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) {
        compute_branch(c, my, from, c->x, work.begin, work.end, VOUCH_FROM_Y);
        vouch_stream_publish(c, my, &next, 0, next.n_rows, work.begin, work.end);
    }
    vouch_pool_barrier(team, my->thread);
}

/* The tiles [begin, end) of x = stream_scale (x + factor * branch), in one row. */
static void add_tiles(const vouch_workspace *c, int64_t row, int64_t begin, int64_t end, const vouch_branch *how,
                      float factor)
{
    const int64_t n_embd = c->weights->hparams.n_embd, first = begin * VOUCH_TILE;
    const int64_t n = (end * VOUCH_TILE < n_embd ? end * VOUCH_TILE : n_embd) - first;
    float *branch = c->branch + row * n_embd + first, *x = c->x + row * n_embd + first;
    c->weights->kernels->scale(branch, factor, n);
    for (int64_t i = 0; i < n; i++) x[i] += branch[i];
    if (how->stream_scale) c->weights->kernels->scale(x, *how->stream_scale, n);
}

/* x += scale * the branch, tile by tile. */
static void add_scaled(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_branch *branch,
                       const branch_end *from, stream_reader next)
{
    vouch_work work = vouch_pool_share(team, my->thread, stream_tiles(c), VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) {
        compute_branch(c, my, from, c->branch, work.begin, work.end, VOUCH_FROM_ZERO);
        for (int64_t r = 0; r < c->n_rows; r++) add_tiles(c, r, work.begin, work.end, branch, branch->scale);
        vouch_stream_publish(c, my, &next, 0, next.n_rows, work.begin, work.end);
    }
    vouch_pool_barrier(team, my->thread);
}

/* x += scale * norm_after(the branch). The norm's factor needs whole rows, so a barrier comes before the addition. */
static void add_normed(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_branch *branch,
                       const branch_end *from, stream_reader next)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const vouch_hparams *h = &c->weights->hparams;
    const int64_t n_embd = h->n_embd, n_sums = stream_tiles(c);
    const float eps = h->norm_after_eps != 0 ? h->norm_after_eps : h->norm_eps;
    vouch_work work = vouch_pool_share(team, my->thread, n_sums, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) {
        const int64_t first = work.begin * VOUCH_TILE;
        const int64_t last = work.end * VOUCH_TILE < n_embd ? work.end * VOUCH_TILE : n_embd;
        compute_branch(c, my, from, c->branch, work.begin, work.end, VOUCH_FROM_ZERO);
        for (int64_t r = 0; r < c->n_rows; r++) {
            float *y = c->branch + r * n_embd + first;
            kernels->norm_part(y, c->branch_squares + r * n_sums + work.begin, y, branch->norm_after + first,
                               last - first);
        }
    }
    vouch_pool_barrier(team, my->thread);
    work = vouch_pool_share(team, my->thread, n_sums, VOUCH_STAGE_TILES);
    for (int64_t r = 0; r < c->n_rows; r++)
        my->norms[r] = kernels->norm_factor(c->branch_squares + r * n_sums, n_embd, eps) * branch->scale;
    while (vouch_work_next(&work)) {
        for (int64_t r = 0; r < c->n_rows; r++) add_tiles(c, r, work.begin, work.end, branch, my->norms[r]);
        vouch_stream_publish(c, my, &next, 0, next.n_rows, work.begin, work.end);
    }
    vouch_pool_barrier(team, my->thread);
}

/* y [n, n_embd] = a branch's result. */
static void store_branch(vouch_workspace *c, vouch_pool *team, thread_space *my, const branch_end *from, float *y)
{
    vouch_work work = vouch_pool_share(team, my->thread, stream_tiles(c), VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) compute_branch(c, my, from, y, work.begin, work.end, VOUCH_FROM_ZERO);
    vouch_pool_barrier(team, my->thread);
}

/* y = RMSNorm(y); weights NULL: y stays. */
static void norm_row(const vouch_workspace *c, float *y, const float *weights)
{
    const vouch_norm norm = {.kind = VOUCH_NORM_RMS, .weight = weights};
    if (weights) vouch_row_norm(y, y, &norm, c->weights->hparams.n_embd, c->weights->hparams.norm_eps);
}

/* x += scale * norm_after(the branch after its convolution), row by row. */
static void add_convolved(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_branch *branch,
                          const branch_end *from, stream_reader next)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    store_branch(c, team, my, from, c->branch);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float *x = c->x + r * n_embd;
        vouch_stream_convolve(c, &branch->conv, 1, c->branch, r, my->rows);
        norm_row(c, my->rows, branch->norm_after);
        for (int64_t i = 0; i < n_embd; i++) x[i] += branch->scale * my->rows[i];
        if (branch->stream_scale) c->weights->kernels->scale(x, *branch->stream_scale, n_embd);
    }
    vouch_pool_barrier(team, my->thread);
    vouch_work work = vouch_pool_share(team, my->thread, stream_tiles(c), VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) vouch_stream_publish(c, my, &next, 0, next.n_rows, work.begin, work.end);
    vouch_pool_barrier(team, my->thread);
}

/* x = stream_scale * (x + scale * norm_after(the branch)), by the shortest way that the layer allows; or the branch is
 * written to the versions of the stream. */
static void stage_add(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_branch *branch,
                      branch_end from, stream_reader next)
{
    const bool is_scaled = branch->scale != 1 || branch->stream_scale || (from.w && from.after->scale) || from.gate;
    if (branch->hyper.weights.n_out > 0) {
        store_branch(c, team, my, &from, c->branch);
        vouch_hyper_write(c, team, my, &branch->hyper);
    } else if (branch->conv.weights.n_out > 0) add_convolved(c, team, my, branch, &from, next);
    else if (branch->norm_after) add_normed(c, team, my, branch, &from, next);
    else if (is_scaled) add_scaled(c, team, my, branch, &from, next);
    else add_directly(c, team, my, &from, next);
}

/* Finishes the tiles [begin, end) of logits: adds the bias, then applies scale and softcap. */
static void shape_logits(const vouch_workspace *c, int64_t begin, int64_t end)
{
    const vouch_hparams *h = &c->weights->hparams;
    const int64_t n = c->output->n_out, first = begin * VOUCH_TILE, last = end * VOUCH_TILE < n ? end * VOUCH_TILE : n;
    const vouch_affine after = {.bias = c->output_bias};
    for (int64_t i = 0; i < c->n_logits; i++) {
        float *logits = c->logits + i * n + first;
        vouch_row_affine(logits, &after, first, last - first);
        if (h->logit_scale != 0) c->weights->kernels->scale(logits, h->logit_scale, last - first);
        if (h->logit_softcap > 0) vouch_row_softcap(c->weights->kernels, logits, h->logit_softcap, last - first);
    }
}

/* logits = W_head norm(x), of the rows that ask. */
static void stage_logits(vouch_workspace *c, vouch_pool *team, thread_space *my)
{
    if (c->n_logits == 0) return;
    const stream_reader me = vouch_stream_reader_head(c);
    const vouch_acts acts = vouch_stream_receive(c, team, my, &me);
    vouch_work work = vouch_pool_share(team, my->thread, c->output->n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) {
        vouch_stage_multiply(c, c->output, &acts, c->logits, work.begin, work.end, VOUCH_FROM_ZERO, my->norms);
        shape_logits(c, work.begin, work.end);
    }
}

/* ---------------------------------------------------------------------- the pass */

/* The gated values of the feed-forward network, and W_down, which the caller applies. */
static branch_end stage_dense(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    branch_end end = {.w = &l->ffn.down, .after = &l->ffn.down_after, .layer = layer};
    vouch_acts in;
    if (l->channel_mix.up_amount) {
        in = vouch_wkv_receive_feed(c, team, my, layer, &end.gate_acts);
        vouch_recurrent_keep(c, team, my, layer);
    } else {
        const stream_reader me = vouch_stream_reader_feed(c, layer);
        in = vouch_stream_receive(c, team, my, &me);
    }
    if (l->channel_mix.gate.n_out > 0) end.gate = &l->channel_mix.gate;
    end.acts = stage_gated(c, team, my, &l->ffn, (given_rows){0}, in);
    return end;
}

/* The same of the feed-forward network or of the experts. */
static branch_end stage_gated_feed(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    if (c->weights->layers[layer].experts.n_experts == 0) return stage_dense(c, team, my, layer);
    vouch_experts_gate(c, team, my, layer);
    return (branch_end){.layer = layer};
}

/* Runs the feed branch of a layer with both a feed-forward network and experts (vouch_beside). */
static void stage_both(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer, stream_reader next)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const int64_t n_embd = c->weights->hparams.n_embd;
    const branch_end dense = stage_dense(c, team, my, layer), sparse = {.layer = layer};
    store_branch(c, team, my, &dense, c->beside);
    vouch_experts_gate(c, team, my, layer);
    store_branch(c, team, my, &sparse, c->branch);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float *y = c->branch + r * n_embd, *beside = c->beside + r * n_embd;
        norm_row(c, beside, l->beside.dense_after);
        norm_row(c, y, l->beside.experts_after);
        for (int64_t i = 0; i < n_embd; i++) y[i] += beside[i];
        norm_row(c, y, l->feed.norm_after);
    }
    vouch_pool_barrier(team, my->thread);
    vouch_work work = vouch_pool_share(team, my->thread, stream_tiles(c), VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) {
        for (int64_t r = 0; r < c->n_rows; r++) add_tiles(c, r, work.begin, work.end, &l->feed, l->feed.scale);
        vouch_stream_publish(c, my, &next, 0, next.n_rows, work.begin, work.end);
    }
    vouch_pool_barrier(team, my->thread);
}

/* x += the feed-forward network's result, or the experts', or both. */
static void stage_feed(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const stream_reader next = vouch_stream_reader_from(c, 3 * layer + 2);
    if (l->feed.hyper.weights.n_out > 0) vouch_hyper_read(c, team, my, &l->feed.hyper);
    if (vouch_layer_has_both(l)) stage_both(c, team, my, layer, next);
    else stage_add(c, team, my, &l->feed, stage_gated_feed(c, team, my, layer), next);
}

/* x += the results of attention and of a recurrent mixer, where the layer has both; they read the same x. */
static void stage_mix(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    static const stream_reader nobody = {.is_whole = true};
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_attention *a = &l->attention;
    const vouch_recurrent *r = &l->recurrent;
    const stream_reader next = vouch_stream_reader_from(c, 3 * layer + 1);
    branch_end attended = {.w = &a->o, .after = &a->o_after, .layer = layer};
    branch_end recurrent = {.w = &r->out, .after = &r->out_after, .layer = layer};
    if (l->mix.hyper.weights.n_out > 0) vouch_hyper_read(c, team, my, &l->mix.hyper);
    if (a->n_heads > 0) {
        vouch_attention_project(c, team, my, layer); /* q, k, v [n, heads * head_dim] */
        if (a->q.n_out == 0) return;
        attended.acts = vouch_attention_mix(c, team, my, layer); /* [n, n_heads * value_dim] */
        vouch_lora_reduce(c, team, my, &attended.after, 1, &attended.acts, NULL);
    }
    if (r->conv.n_channels > 0) recurrent.acts = vouch_recurrent_mix(c, team, my, layer); /* [n, n_inner] */
    if (a->n_heads > 0) stage_add(c, team, my, &l->mix, attended, r->conv.n_channels > 0 ? nobody : next);
    if (r->conv.n_channels > 0) stage_add(c, team, my, &l->mix, recurrent, next);
}

/* Computes the gated values of the extra branch, in which the layer's own input takes the place of W_up x. Returns them
 * with W_down, which the next stage applies. */
static branch_end stage_extra(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_feed_forward *ffn = &c->weights->layers[layer].extra_ffn;
    const given_rows given = {c->layer_inputs + (int64_t)layer * ffn->n_ff, c->weights->layer_projection.n_out};
    const stream_reader me = vouch_stream_reader_extra(c, layer);
    const vouch_acts in = vouch_stream_receive(c, team, my, &me);
    return (branch_end){
        .w = &ffn->down, .after = &ffn->down_after, .acts = stage_gated(c, team, my, ffn, given, in), .layer = layer};
}

/* x += first_scale * the first layer's input. The next reader's norm sees whole rows. */
static void add_first(const vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    const float scale = *c->weights->layers[layer].first_scale;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t i = mine.begin * n_embd; i < mine.end * n_embd; i++) c->x[i] += scale * c->first[i];
    vouch_pool_barrier(team, my->thread);
}

/* Whether the stack with this layer works on the high state. */
static bool is_high(const vouch_stack_hparams *s, int32_t layer)
{
    return layer / s->n_layers % (s->n_low + 1) == s->n_low;
}

/* Before the first layer of a stack: x becomes the sum of the states. */
static void begin_stack(const vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float *x = c->x + r * n_embd, *low = c->low_state + r * n_embd, *high = c->high_state + r * n_embd;
        if (layer == 0) {
            memcpy(low, c->weights->first_low, (size_t)n_embd * sizeof *low);
            memcpy(high, x, (size_t)n_embd * sizeof *high);
        }
        for (int64_t i = 0; i < n_embd; i++) x[i] = high[i] + low[i];
    }
    vouch_pool_barrier(team, my->thread);
}

/* After the last layer of a stack: its state becomes norm(x). After the last stack, that is the output norm. */
static void end_stack(const vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_norm bare = {.kind = VOUCH_NORM_RMS};
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    float *state = is_high(&h->stacks, layer) ? c->high_state : c->low_state;
    for (int64_t r = mine.begin; r < mine.end; r++)
        vouch_row_norm(state + r * h->n_embd, c->x + r * h->n_embd, &bare, h->n_embd, h->norm_eps);
    vouch_pool_barrier(team, my->thread);
}

/* Where the stream after this layer is wanted, copies the rows that ask for it. */
static void keep_stream(const vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    float *to = c->taps[layer].x;
    if (!to) return;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_hidden);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        const int64_t row = c->hidden_rows[i];
        if (c->weights->hparams.hyper.n > 0) vouch_hyper_average(c, row, to + i * n_embd);
        else memcpy(to + i * n_embd, c->x + row * n_embd, (size_t)n_embd * sizeof *to);
    }
    vouch_pool_barrier(team, my->thread);
}

static void run_layer(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t l)
{
    const vouch_layer *layer = &c->weights->layers[l];
    if (vouch_layer_has_mix(layer)) stage_mix(c, team, my, l);   /* [n, n_embd] */
    if (vouch_layer_has_feed(layer)) stage_feed(c, team, my, l); /* [n, n_ff], [n, n_embd] */
    if (layer->extra_ffn.n_ff == 0) return;
    const branch_end extra = stage_extra(c, team, my, l); /* [n, n_layer_input] */
    stage_add(c, team, my, &layer->extra, extra, vouch_stream_reader_from(c, 3 * l + 3));
}

/* The same in models whose stream has versions (altup.h); every layer has all branches. */
static void run_layer_of_versions(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t l)
{
    vouch_altup_predict(c, team, my, l); /* [n_versions, n, n_embd] */
    stage_mix(c, team, my, l);
    vouch_altup_widen(c, team, my, l);
    stage_feed(c, team, my, l);
    vouch_altup_correct(c, team, my, l);
    const branch_end extra = stage_extra(c, team, my, l);
    store_branch(c, team, my, &extra, c->branch);
    vouch_altup_add(c, team, my, l);
}

static void forward(void *arg, vouch_pool *team, int32_t thread)
{
    vouch_workspace *c = arg;
    thread_space *my = &c->threads[thread];
    const vouch_hparams *h = &c->weights->hparams;
    const bool has_versions = h->n_versions > 0;
    my->thread = thread;
    stage_embed(c, team, my, vouch_stream_reader_from(c, 0));
    if (c->weights->layer_projection.n_out > 0) vouch_layer_inputs_compute(c, team, my);
    if (has_versions) vouch_altup_spread(c, team, my);
    if (h->hyper.n > 0) vouch_hyper_spread(c, team, my);
    if (h->adapters.n > 0) vouch_adapters_find(c, team, my);
    for (int32_t l = 0; l < h->n_layers; l++) {
        const bool is_first = h->stacks.n_layers > 0 && l % h->stacks.n_layers == 0; /* of a stack */
        const bool is_last = h->stacks.n_layers > 0 && (l + 1) % h->stacks.n_layers == 0;
        if (is_first) begin_stack(c, team, my, l);
        if (has_versions) run_layer_of_versions(c, team, my, l);
        else run_layer(c, team, my, l);
        if (is_last) end_stack(c, team, my, l);
        if (c->first) add_first(c, team, my, l);
        keep_stream(c, team, my, l); /* [n_hidden, n_embd] */
    }
    if (has_versions) vouch_altup_gather(c, team, my);
    if (h->hyper.n > 0) vouch_hyper_gather(c, team, my);
    stage_logits(c, team, my); /* [n_logits, n_vocab] */
}

void vouch_forward(vouch_workspace *c)
{
    vouch_pool_run(c->pool, forward, c);
}
