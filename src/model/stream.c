/* SPDX-License-Identifier: MIT */
/* What the stages of a pass hand to each other (stream.h). */
#include "model/stream.h"

vouch_needs vouch_stage_needs(const vouch_matrix *const *matrices, int n)
{
    vouch_needs all = 0;
    for (int i = 0; i < n; i++)
        if (matrices[i]->n_out > 0) all |= vouch_type_needs(matrices[i]->type);
    return all;
}

vouch_acts vouch_stage_acts(const vouch_workspace *c, const vouch_acts *room, int64_t n_rows, int64_t n_in)
{
    vouch_acts acts = *room;
    acts.n_rows = n_rows;
    acts.n_in = n_in;
    acts.group_rows = c->weights->kernels->group_rows;
    return acts;
}

void vouch_stage_put(const vouch_workspace *c, vouch_acts *acts, vouch_needs need, const float *x, int64_t ldx,
                     int64_t begin, int64_t end, int64_t first, int64_t last)
{
    acts->needs = need;
    if (need & VOUCH_NEEDS_QUANTS) c->weights->kernels->quantize(acts, x, ldx, begin, end, first, last);
    if (need & VOUCH_NEEDS_FLOATS) c->weights->kernels->interleave(acts, x, ldx, begin, end, first, last);
}

void vouch_stage_multiply(const vouch_workspace *c, const vouch_matrix *w, const vouch_acts *x, float *y, int64_t begin,
                          int64_t end, vouch_start start, const float *factors)
{
    const vouch_result result = {y, w->n_out, VOUCH_TILE, start, factors};
    c->weights->kernels->matmul[w->type](w, x, result, begin, end);
}

/* ------------------------------------------------------------------- readers */

stream_reader vouch_stream_reader_mix(const vouch_workspace *c, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_matrix *const inputs[] = {&l->attention.q, &l->attention.k, &l->attention.v};
    return (stream_reader){l->mix.norm, vouch_stage_needs(inputs, 3), NULL, c->n_rows};
}

stream_reader vouch_stream_reader_feed(const vouch_workspace *c, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_experts *e = &l->experts;
    const vouch_matrix *const dense[] = {&l->ffn.gate, &l->ffn.up};
    const vouch_matrix *const sparse[] = {&e->router,      &e->gate,      &e->up,
                                          &e->shared.gate, &e->shared.up, &e->shared_gate};
    const vouch_needs need = e->n_experts > 0 ? vouch_stage_needs(sparse, 6) : vouch_stage_needs(dense, 2);
    return (stream_reader){l->feed.norm, need, NULL, c->n_rows};
}

stream_reader vouch_stream_reader_head(const vouch_workspace *c)
{
    return (stream_reader){c->weights->output_norm, vouch_stage_needs(&c->head, 1), c->logits_rows, c->n_logits};
}

static int64_t row_of(const stream_reader *reader, int64_t i)
{
    return reader->rows ? reader->rows[i] : i;
}

/* [n_embd / 16, rounded up] */
static float *squares_of(const vouch_workspace *c, int64_t row)
{
    return c->squares + row * ((c->weights->hparams.n_embd + 15) / 16);
}

static vouch_acts acts_for(const vouch_workspace *c, const stream_reader *to)
{
    return vouch_stage_acts(c, &c->acts, to->n_rows, c->weights->hparams.n_embd);
}

void vouch_stream_publish(const vouch_workspace *c, thread_space *my, const stream_reader *to, int64_t begin,
                          int64_t end, int64_t tile, int64_t tile_end)
{
    const int64_t n_embd = c->weights->hparams.n_embd, first = tile * VOUCH_TILE;
    const int64_t last = tile_end * VOUCH_TILE < n_embd ? tile_end * VOUCH_TILE : n_embd;
    vouch_acts acts = acts_for(c, to);
    for (int64_t r = begin; r < end; r += VOUCH_FEW_ROWS) {
        const int64_t past = r + VOUCH_FEW_ROWS < end ? r + VOUCH_FEW_ROWS : end;
        for (int64_t i = r; i < past; i++) {
            const int64_t row = row_of(to, i);
            c->weights->kernels->norm_part(my->rows + (i - r) * n_embd + first, squares_of(c, row) + tile,
                                           c->x + row * n_embd + first, to->norm + first, last - first);
        }
        vouch_stage_put(c, &acts, to->need, my->rows, n_embd, r, past, first, last);
    }
}

vouch_acts vouch_stream_receive(const vouch_workspace *c, thread_space *my, const stream_reader *reader)
{
    const vouch_hparams *h = &c->weights->hparams;
    for (int64_t i = 0; i < reader->n_rows; i++)
        my->norms[i] =
            c->weights->kernels->norm_factor(squares_of(c, row_of(reader, i)), h->n_embd, h->norm_eps);
    return acts_for(c, reader);
}
