/* SPDX-License-Identifier: MIT */
#include "draft/head_depths.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "model/rows.h"

static int64_t width(const vouch_depths *d)
{
    return d->head->body->hparams.n_embd;
}

void vouch_depths_layout(vouch_depths *d, vouch_arena *arena)
{
    const size_t n_embd = (size_t)width(d), n_vocab = (size_t)d->head->n_draft;
    d->hidden = vouch_arena_take(arena, n_embd, sizeof *d->hidden);
    d->added = vouch_arena_take(arena, n_embd, sizeof *d->added);
    d->logits = vouch_arena_take(arena, (size_t)d->head->n_depths * n_vocab, sizeof *d->logits);
    d->nothing = vouch_arena_take(arena, n_vocab, sizeof *d->nothing);
    vouch_projection_layout(&d->block, 1, arena);
    vouch_projection_layout(&d->output, 1, arena);
}

void vouch_depths_open(vouch_depths *d)
{
    for (int32_t t = 0; t < d->head->n_draft; t++) d->nothing[t] = NAN;
}

void vouch_depths_begin(vouch_depths *d, const float *feature)
{
    d->feature = feature;
    memset(d->is_computed, 0, sizeof d->is_computed);
    d->asked[0] = 0;
    d->n_asked = 1;
}

void vouch_depths_ask(vouch_depths *d, int32_t n_fed, const int32_t *parents, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t number = n_fed + i, parent = parents ? parents[i] : number - 1;
        d->depths[number] = parent < 0 ? 0 : d->depths[parent] + 1;
        d->asked[i] = d->depths[number] + 1;
    }
    d->n_asked = n;
}

static void compute(vouch_depths *d, int32_t depth)
{
    const vouch_head_depth *at = &d->head->depths[depth];
    const vouch_feed_forward silu = {.activation = VOUCH_SILU};
    const int64_t n = width(d);
    memcpy(d->hidden, d->feature, (size_t)n * sizeof *d->hidden);
    for (int32_t b = 0; b < d->head->n_blocks; b++) {
        const vouch_matrix block = vouch_matrix_at(&at->block, b);
        d->block.w = &block;
        d->block.bias = at->bias ? at->bias + b * n : NULL;
        vouch_projection_run(&d->block, d->hidden, d->added, 1);
        vouch_row_activate(d->head->body->kernels, &silu, d->added, NULL, n);
        for (int64_t i = 0; i < n; i++) d->hidden[i] += d->added[i];
    }
    d->output.w = &at->output;
    vouch_projection_run(&d->output, d->hidden, d->logits + (int64_t)depth * d->head->n_draft, 1);
}

double vouch_depths_run(vouch_depths *d)
{
    const double start = vouch_now();
    for (int32_t i = 0; i < d->n_asked; i++) {
        const int32_t depth = d->asked[i];
        if (depth >= d->head->n_depths || d->is_computed[depth]) continue;
        compute(d, depth);
        d->is_computed[depth] = true;
    }
    return vouch_now() - start;
}

const float *vouch_depths_logits(const vouch_depths *d, int32_t i)
{
    return d->asked[i] < d->head->n_depths ? d->logits + (int64_t)d->asked[i] * d->head->n_draft : d->nothing;
}
