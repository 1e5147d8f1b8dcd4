/* SPDX-License-Identifier: MIT */
#include "draft/paid/head_inputs.h"

#include <assert.h>
#include <string.h>

#include "model/stage/rows.h"

static int64_t width(const vouch_head_inputs *in)
{
    return in->head->body->hparams.n_embd;
}

void vouch_head_inputs_open(vouch_head_inputs *in, const vouch_head_weights *head, vouch_pool *pool)
{
    const vouch_kernels *kernels = head->body->kernels;
    *in = (vouch_head_inputs){.head = head};
    if (head->fc.n_out > 0)
        in->fc = (vouch_projection){.w = &head->fc, .bias = head->fc_bias, .kernels = kernels, .pool = pool};
    if (head->join.n_out > 0)
        in->join = (vouch_projection){.w = &head->join, .bias = head->join_bias, .kernels = kernels, .pool = pool};
}

void vouch_head_inputs_layout(vouch_head_inputs *in, int32_t n_states, int32_t n_rows, vouch_arena *arena)
{
    const vouch_head_weights *h = in->head;
    const size_t rows = (size_t)n_rows, n_embd = (size_t)width(in);
    in->features = vouch_arena_take(arena, rows * (size_t)vouch_head_state_width(h), sizeof *in->features);
    in->inputs = vouch_arena_take(arena, rows * n_embd, sizeof *in->inputs);
    if (in->fc.w) {
        in->scaled = vouch_arena_take(arena, (size_t)n_states * (size_t)h->n_features, sizeof *in->scaled);
        vouch_projection_layout(&in->fc, n_states, arena);
    }
    if (h->has_pairs) in->seconds = vouch_arena_take(arena, rows * n_embd, sizeof *in->seconds);
    if (!in->join.w) return;
    in->joined = vouch_arena_take(arena, rows * (size_t)h->join.n_in, sizeof *in->joined);
    vouch_projection_layout(&in->join, n_rows, arena);
}

/* scaled = the states of a position as W_fc reads them: standardised, after norms, or as they are. */
static void scale_states(const vouch_head_weights *h, const float *states, float *scaled)
{
    if (h->mean)
        for (int64_t i = 0; i < h->n_features; i++) scaled[i] = (states[i] - h->mean[i]) * h->inv_scale[i];
    else if (h->taps_norm)
        for (int64_t i = 0; i < h->n_features; i += h->taps_norm_width)
            vouch_row_norm(scaled + i, states + i, &(vouch_norm){.weight = h->taps_norm + i}, h->taps_norm_width,
                           h->body->hparams.norm_eps);
    else memcpy(scaled, states, (size_t)h->n_features * sizeof *scaled);
}

void vouch_head_inputs_read(vouch_head_inputs *in, int32_t first, const float *states, int32_t n)
{
    const vouch_head_weights *h = in->head;
    const int64_t n_features = h->n_features;
    float *features = in->features + first * vouch_head_state_width(h);
    if (in->fc.w) {
        for (int64_t at = 0; at < n * n_features; at += n_features) scale_states(h, states + at, in->scaled + at);
        vouch_projection_run(&in->fc, in->scaled, features, n);
        return;
    }
    memcpy(features, states, (size_t)(n * n_features) * sizeof *states);
    for (int32_t i = 0; i < n && h->is_normed; i++) {
        float *f = features + i * n_features;
        vouch_row_norm(f, f, &h->target->output_norm, n_features, h->target->hparams.norm_eps);
    }
}

/* input = f, or its norm, and second = norm(embedding[token]), of row i. */
static void pair(vouch_head_inputs *in, int32_t i, int32_t token)
{
    const vouch_head_weights *h = in->head;
    const int64_t at = i * width(in);
    const float eps = h->body->hparams.norm_eps;
    vouch_matrix_get_row(h->embedding, token, in->seconds + at);
    vouch_row_norm(in->seconds + at, in->seconds + at, &h->token_norm, width(in), eps);
    vouch_row_norm(in->inputs + at, in->features + at, &h->state_norm, width(in), eps);
}

/* joined = [norm(embedding[token]) | f, or norm(f)] of row i; without f where it is added later. */
static void join(vouch_head_inputs *in, int32_t i, int32_t token)
{
    const vouch_head_weights *h = in->head;
    const int64_t n_token = h->embedding->n_in, n_state = vouch_head_state_width(h);
    const float eps = h->body->hparams.norm_eps, scale = h->embedding_scale;
    float *z = in->joined + i * h->join.n_in;
    vouch_matrix_get_row(h->embedding, token, z);
    if (scale != 0) h->body->kernels->scale(z, scale, n_token);
    vouch_row_norm(z, z, &h->token_norm, n_token, eps);
    if (h->adds_state) return;
    vouch_row_norm(z + n_token, in->features + i * n_state, &h->state_norm, n_state, eps);
}

void vouch_head_inputs_make(vouch_head_inputs *in, int32_t first, const int32_t *tokens, vouch_row *rows, int32_t n)
{
    const vouch_head_weights *h = in->head;
    float *inputs = in->inputs + first * width(in);
    for (int32_t i = 0; i < n; i++)
        if (h->has_pairs) pair(in, first + i, tokens[i]);
        else join(in, first + i, tokens[i]);
    if (!h->has_pairs && n > 0) vouch_projection_run(&in->join, in->joined + first * h->join.n_in, inputs, n);
    const float *f = in->features + first * vouch_head_state_width(h);
    for (int64_t i = 0; h->adds_state && i < n * width(in); i++) inputs[i] += f[i];
    for (int32_t i = 0; i < n; i++) {
        rows[i].input = inputs + i * width(in);
        if (h->has_pairs) rows[i].second = in->seconds + (first + i) * width(in);
    }
}

const float *vouch_head_spread(const vouch_head_weights *head, const float *logits, float *out)
{
    if (!head->tokens) return logits;
    for (int32_t d = 0; d < head->n_draft; d++) out[head->tokens[d]] = logits[d];
    return out;
}

/* ------------------------------------------------------------ the last position */

int32_t vouch_head_last_taps(const void *self, const int32_t **layers)
{
    const vouch_head_last *last = self;
    *layers = last->head->taps;
    return last->head->n_taps;
}

int32_t vouch_head_last_n_hidden(const void *self)
{
    return ((const vouch_head_last *)self)->n_given;
}

void vouch_head_last_hidden(void *self, const int32_t *tokens, int32_t position, const float *const *states)
{
    vouch_head_last *last = self;
    (void)tokens;
    assert(position == last->n_given);
    for (int32_t i = 0; i < last->head->n_taps; i++)
        memcpy(last->states + i * last->n_embd, states[i], (size_t)last->n_embd * sizeof *last->states);
    last->n_given++;
}

int32_t vouch_head_last_known(const void *self, const int32_t *tokens, int32_t n_tokens)
{
    (void)self;
    (void)tokens;
    return n_tokens;
}

/* The states of an earlier position are gone, so the target gives them again. */
void vouch_head_last_rewind(void *self, int32_t n)
{
    vouch_head_last *last = self;
    if (n < last->n_given) last->n_given = n > 0 ? n - 1 : 0;
}
