/* SPDX-License-Identifier: MIT */
/*
 * Per-layer embeddings (Gemma 3n and Gemma 4): for each layer, a token has a narrow embedding of its own, to which a
 * projection of its common embedding x is added:
 *
 *   inputs[layer] = (sqrt(n) * layer_tokens[token][layer] + norm(W x / sqrt(n_embd))[layer]) / sqrt(2)
 *
 * n is the width of an input. The norm is of each layer's n elements.
 */
#include "model/pass/layer_inputs.h"

#include <math.h>

#include "model/stage/rows.h"
#include "model/stage/stream.h"

static void finish_row(const vouch_workspace *c, thread_space *my, int64_t row)
{
    const vouch_weights *w = c->weights;
    const vouch_kernels *kernels = w->kernels;
    const int64_t n_all = w->layer_projection.n_out, n = w->hparams.n_layer_input;
    const vouch_norm norm = {.kind = VOUCH_NORM_RMS, .weight = w->layer_norm};
    float *all = c->layer_inputs + row * n_all;
    vouch_matrix_get_row(&w->layer_tokens, c->tokens[row], my->wide);
    kernels->scale(my->wide, sqrtf((float)n), n_all);
    kernels->scale(all, 1 / sqrtf((float)w->hparams.n_embd), n_all);
    for (int64_t at = 0; at < n_all; at += n) vouch_row_norm(all + at, all + at, &norm, n, w->hparams.norm_eps);
    for (int64_t i = 0; i < n_all; i++) all[i] += my->wide[i];
    kernels->scale(all, 1 / sqrtf(2), n_all);
}

void vouch_layer_inputs_compute(vouch_workspace *c, vouch_pool *team, thread_space *my)
{
    const vouch_matrix *const projection = &c->weights->layer_projection;
    const int64_t n_embd = projection->n_in;
    vouch_acts acts = vouch_stage_acts(c, &c->layer_acts, c->n_rows, n_embd);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    if (mine.begin < mine.end)
        vouch_stage_put(c, &acts, vouch_stage_needs(&projection, 1), c->x + mine.begin * n_embd, n_embd, mine.begin,
                        mine.end, 0, n_embd);
    vouch_pool_barrier(team, my->thread);
    vouch_work work = vouch_pool_share(team, my->thread, projection->n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work))
        vouch_stage_multiply(c, projection, &acts, c->layer_inputs, work.begin, work.end, VOUCH_FROM_ZERO, NULL);
    vouch_pool_barrier(team, my->thread);
    for (int64_t r = mine.begin; r < mine.end; r++) finish_row(c, my, r);
    vouch_pool_barrier(team, my->thread);
}
