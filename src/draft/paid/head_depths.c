/* SPDX-License-Identifier: MIT */
#include "draft/paid/head_depths.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "model/rows.h"

void vouch_depths_layout(vouch_depths *d, vouch_arena *arena)
{
    d->values = vouch_arena_take(arena, (size_t)d->n_depths * (size_t)d->n_draft, sizeof *d->values);
    d->nothing = vouch_arena_take(arena, (size_t)d->n_draft, sizeof *d->nothing);
}

void vouch_depths_open(vouch_depths *d)
{
    for (int64_t t = 0; t < d->n_draft; t++) d->nothing[t] = NAN;
}

void vouch_depths_begin(vouch_depths *d)
{
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

static float *values_at(const vouch_depths *d, int32_t depth)
{
    return d->values + depth * d->n_draft;
}

void vouch_depths_keep(vouch_depths *d, vouch_pass *pass, int32_t first)
{
    for (int32_t i = 0; i < d->n_depths; i++)
        memcpy(values_at(d, i), vouch_pass_logits(pass, first + i), (size_t)d->n_draft * sizeof *d->values);
}

const float *vouch_depths_logits(const vouch_depths *d, int32_t i)
{
    return d->asked[i] < d->n_depths ? values_at(d, d->asked[i]) : d->nothing;
}

/* ------------------------------------------------------------------- Medusa */

static int64_t width(const vouch_medusa *m)
{
    return m->head->body->hparams.n_embd;
}

void vouch_medusa_open(vouch_medusa *m, const vouch_head_weights *head, vouch_pool *pool)
{
    const vouch_kernels *kernels = head->body->kernels;
    *m = (vouch_medusa){.head = head,
                        .block = {.w = &head->depths[0].block, .kernels = kernels, .pool = pool},
                        .output = {.w = &head->depths[0].output, .kernels = kernels, .pool = pool}};
}

void vouch_medusa_layout(vouch_medusa *m, vouch_arena *arena)
{
    m->hidden = vouch_arena_take(arena, (size_t)width(m), sizeof *m->hidden);
    m->added = vouch_arena_take(arena, (size_t)width(m), sizeof *m->added);
    vouch_projection_layout(&m->block, 1, arena);
    vouch_projection_layout(&m->output, 1, arena);
}

void vouch_medusa_begin(vouch_medusa *m, const float *feature)
{
    m->feature = feature;
    memset(m->is_computed, 0, sizeof m->is_computed);
}

static void compute(vouch_medusa *m, int32_t depth, float *logits)
{
    const vouch_head_depth *at = &m->head->depths[depth];
    const vouch_feed_forward silu = {.activation = VOUCH_SILU};
    const int64_t n = width(m);
    memcpy(m->hidden, m->feature, (size_t)n * sizeof *m->hidden);
    for (int32_t b = 0; b < m->head->n_blocks; b++) {
        const vouch_matrix block = vouch_matrix_at(&at->block, b);
        m->block.w = &block;
        m->block.bias = at->bias ? at->bias + b * n : NULL;
        vouch_projection_run(&m->block, m->hidden, m->added, 1);
        vouch_row_activate(m->head->body->kernels, &silu, m->added, NULL, n);
        for (int64_t i = 0; i < n; i++) m->hidden[i] += m->added[i];
    }
    m->output.w = &at->output;
    vouch_projection_run(&m->output, m->hidden, logits, 1);
}

double vouch_medusa_run(vouch_medusa *m, const vouch_depths *depths)
{
    const double start = vouch_now();
    for (int32_t i = 0; i < depths->n_asked; i++) {
        const int32_t depth = depths->asked[i];
        if (depth >= depths->n_depths || m->is_computed[depth]) continue;
        compute(m, depth, values_at(depths, depth));
        m->is_computed[depth] = true;
    }
    return vouch_now() - start;
}
