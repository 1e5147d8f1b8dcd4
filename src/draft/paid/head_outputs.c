/* SPDX-License-Identifier: MIT */
#include "draft/paid/head_outputs.h"

#include <string.h>

#include "model/stage/rows.h"

void vouch_head_outputs_open(vouch_head_outputs *out, const vouch_head_weights *head, vouch_pool *pool)
{
    *out = (vouch_head_outputs){0};
    if (head->leave.n_out > 0)
        out->leave = (vouch_projection){.w = &head->leave, .kernels = head->body->kernels, .pool = pool};
}

void vouch_head_outputs_layout(vouch_head_outputs *out, const vouch_head_weights *head, int32_t k, int32_t max_rows,
                               vouch_arena *arena)
{
    out->values = vouch_arena_take(arena, ((size_t)k + 1) * (size_t)vouch_head_state_width(head), sizeof *out->values);
    if (out->leave.w) vouch_projection_layout(&out->leave, max_rows, arena);
}

void vouch_head_outputs_feed(const vouch_head_outputs *out, vouch_head_inputs *in, int32_t n_fed,
                             const int32_t *parents, int32_t n)
{
    const int64_t width = vouch_head_state_width(in->head);
    for (int32_t i = 0; i < n; i++) {
        const int32_t parent = parents ? parents[i] : n_fed + i - 1;
        memcpy(in->features + i * width, out->values + (parent + 1) * width, (size_t)width * sizeof *out->values);
    }
}

const float *vouch_head_outputs_keep(vouch_head_outputs *out, vouch_head_inputs *in, vouch_pass *pass,
                                     int32_t first_hidden, int32_t first, int32_t n)
{
    const vouch_weights *w = in->head->body;
    const int64_t n_embd = w->hparams.n_embd;
    float *values = out->values + first * vouch_head_state_width(in->head), *s = out->leave.w ? in->inputs : values;
    for (int32_t i = 0; i < n; i++) {
        const float *hidden = vouch_pass_hidden(pass, first_hidden + i);
        if (in->head->is_normed) vouch_row_norm(s + i * n_embd, hidden, &w->output_norm, n_embd, w->hparams.norm_eps);
        else memcpy(s + i * n_embd, hidden, (size_t)n_embd * sizeof *s);
    }
    if (out->leave.w) vouch_projection_run(&out->leave, s, values, n);
    return s;
}
