/* SPDX-License-Identifier: MIT */
/* The residual stream between the stages of a pass (stream.h). */
#include "model/stage/stream.h"

#include <math.h>
#include <string.h>

#include "model/stage/rows.h"

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

static int64_t pieces_of(const vouch_matrix *w)
{
    return (w->n_tiles + VOUCH_STAGE_TILES - 1) / VOUCH_STAGE_TILES;
}

int64_t vouch_stage_n_pieces(const vouch_matrix *const *matrices, int n)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++) total += pieces_of(matrices[i]);
    return total;
}

int64_t vouch_stage_piece(const vouch_matrix *const *matrices, int n, int64_t at, int64_t end, int *i,
                          vouch_range *tiles)
{
    int64_t first = 0;
    for (*i = 0; *i < n - 1 && at >= first + pieces_of(matrices[*i]); ++*i) first += pieces_of(matrices[*i]);
    const vouch_matrix *w = matrices[*i];
    const int64_t past = first + pieces_of(w), stop = end < past ? end : past;
    const int64_t last = (stop - first) * VOUCH_STAGE_TILES;
    *tiles = (vouch_range){(at - first) * VOUCH_STAGE_TILES, last < w->n_tiles ? last : w->n_tiles};
    return stop;
}

void vouch_stage_multiply_piece(const vouch_workspace *c, const vouch_matrix *w, const vouch_acts *x, float *y,
                                int64_t begin, int64_t end, const float *factors)
{
    vouch_matrix few = *w;
    few.data += (size_t)begin * few.tile_bytes;
    few.n_out = (end * VOUCH_TILE < w->n_out ? end * VOUCH_TILE : w->n_out) - begin * VOUCH_TILE;
    const vouch_result to = {y, VOUCH_EXPERT_UNIT, VOUCH_TILE, VOUCH_FROM_ZERO, factors};
    c->weights->kernels->matmul[few.type](&few, x, to, 0, end - begin);
}

vouch_needs vouch_stage_end_needs(const vouch_matrix *w, const vouch_affine *after)
{
    return vouch_stage_needs(&w, 1) | (after->lora ? after->lora->needs : 0);
}

void vouch_stage_rotate(const vouch_workspace *c, int32_t rotary, float *x, int64_t row)
{
    const vouch_rotary *r = &c->weights->rotaries[rotary];
    const angle_table *angles = &c->angles[rotary];
    if (r->kind == VOUCH_ROTARY_NONE) return;
    c->weights->kernels->rope(x, angles->cosines + row * r->n_rot, angles->sines + row * r->n_rot, r->n_rot,
                              r->kind == VOUCH_ROTARY_HALF_SPLIT);
}

/* ------------------------------------------------------------------- readers */

static stream_reader reader_of(const vouch_workspace *c, const vouch_norm *norm, const vouch_matrix *const *inputs,
                               int n_inputs)
{
    return (stream_reader){.norm = norm,
                           .x = c->x,
                           .is_whole = norm->kind != VOUCH_NORM_RMS || norm->bias || !norm->weight ||
                                       c->weights->hparams.n_versions > 0 || c->weights->hparams.hyper.n > 0,
                           .need = vouch_stage_needs(inputs, n_inputs),
                           .n_rows = c->n_rows};
}

static void read_depth(stream_reader *reader, const vouch_depth *depth)
{
    if (!depth->query) return;
    reader->depth = depth;
    reader->is_whole = true;
}

static void read_through(stream_reader *reader, const vouch_block_conv *conv)
{
    if (conv->weights.n_out == 0) return;
    reader->conv = conv;
    reader->is_whole = true;
}

stream_reader vouch_stream_reader_mix(const vouch_workspace *c, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_attention *a = &l->attention;
    const vouch_recurrent *s = &l->recurrent;
    const vouch_matrix *const q = a->latent.low.n_out > 0 ? &a->latent.low : &a->q;
    const vouch_matrix *const decay = s->decay_low.n_out > 0 ? &s->decay_low : &s->decay;
    const vouch_matrix *const gate = s->gate_low.n_out > 0 ? &s->gate_low : &s->gate;
    const vouch_matrix *const inputs[] = {q,         &a->k,      &a->v,    &a->gate, &s->in[0], &s->in[1],
                                          &s->in[2], &s->factor, &s->rate, decay,    gate};
    enum { N = sizeof inputs / sizeof inputs[0] };
    const bool is_kept = l->is_parallel || l->experts.routes_early || l->beside.reads_input;
    stream_reader reader = reader_of(c, &l->mix.norm, inputs, N);
    reader.need |= vouch_stage_end_needs(&a->q, &a->q_after) | vouch_stage_end_needs(&a->k, &a->k_after) |
                   vouch_stage_end_needs(&a->v, &a->v_after);
    if (a->reads_pairs) reader.seconds = c->seconds;
    read_through(&reader, &l->mix.conv);
    reader.is_whole |= is_kept || a->reads_pairs || l->mix.carry != 0 || vouch_recurrent_is_wkv(s);
    reader.carry = l->mix.carry;
    reader.kept = is_kept ? c->kept : NULL;
    read_depth(&reader, &l->mix.depth);
    return reader;
}

stream_reader vouch_stream_reader_feed(const vouch_workspace *c, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_matrix *const dense[] = {&l->ffn.up, &l->ffn.gate};
    if (l->ffn.n_ff == 0) return vouch_stream_reader_experts(c, layer);
    stream_reader reader = reader_of(c, &l->feed.norm, dense, l->ffn.gate.n_out ? 2 : 1);
    reader.need |=
        vouch_stage_end_needs(&l->ffn.gate, &l->ffn.gate_after) | vouch_stage_end_needs(&l->ffn.up, &l->ffn.up_after);
    read_through(&reader, &l->feed.conv);
    read_depth(&reader, &l->feed.depth);
    reader.is_whole |= l->is_parallel || l->feed.carry != 0 || l->channel_mix.up_amount;
    reader.carry = l->feed.carry;
    if (l->is_parallel) reader.x = c->kept;
    return reader;
}

/* Beside a dense network the experts have a norm of their own. */
stream_reader vouch_stream_reader_experts(const vouch_workspace *c, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const bool is_beside = vouch_layer_has_both(l);
    const vouch_experts *e = &l->experts;
    const bool is_narrow = e->narrow.n_out > 0;
    const vouch_matrix *const sparse[] = {&e->router,      is_narrow ? &e->narrow : &e->gate,
                                          &e->shared.gate, is_narrow ? &e->narrow : &e->up,
                                          &e->shared.up,   &e->shared_gate};
    stream_reader reader = reader_of(c, is_beside ? &l->beside.norm : &l->feed.norm, sparse, 6);
    read_depth(&reader, &l->feed.depth);
    reader.is_whole |= l->is_parallel || is_beside || l->feed.carry != 0;
    reader.carry = l->feed.carry;
    if (l->is_parallel || l->beside.reads_input) reader.x = c->kept;
    return reader;
}

/* The layer's input is still the guess at version 0. */
stream_reader vouch_stream_reader_laurel(const vouch_workspace *c, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_matrix *const left = &l->laurel.left;
    stream_reader reader = reader_of(c, &l->mix.norm, &left, 1);
    reader.x = c->versions;
    return reader;
}

/* The extra branch has no norm before it. */
stream_reader vouch_stream_reader_extra(const vouch_workspace *c, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_matrix *const gate = &l->extra_ffn.gate;
    return reader_of(c, &l->extra.norm, &gate, 1);
}

stream_reader vouch_stream_reader_head(const vouch_workspace *c)
{
    stream_reader reader = reader_of(c, &c->weights->output_norm, &c->output, 1);
    reader.rows = c->logits_rows;
    reader.n_rows = c->n_logits;
    read_depth(&reader, &c->weights->output_depth);
    return reader;
}

stream_reader vouch_stream_reader_from(const vouch_workspace *c, int32_t branch)
{
    for (; branch < 3 * c->weights->hparams.n_layers; branch++) {
        const vouch_layer *layer = &c->weights->layers[branch / 3];
        if (branch % 3 == 0 && vouch_layer_has_mix(layer)) return vouch_stream_reader_mix(c, branch / 3);
        if (branch % 3 == 1 && vouch_layer_has_feed(layer)) return vouch_stream_reader_feed(c, branch / 3);
        if (branch % 3 == 2 && layer->extra_ffn.n_ff > 0) return vouch_stream_reader_extra(c, branch / 3);
    }
    return vouch_stream_reader_head(c);
}

static int64_t row_of(const stream_reader *reader, int64_t i)
{
    return reader->rows ? reader->rows[i] : i;
}

/* The sums of squares of a row of x, [n_embd / 16, rounded up]. */
static float *squares_of(const vouch_workspace *c, int64_t row)
{
    return c->squares + row * ((c->weights->hparams.n_embd + 15) / 16);
}

static vouch_acts acts_for(const vouch_workspace *c, const stream_reader *to)
{
    return vouch_stage_acts(c, &c->acts, to->n_rows, (int64_t)c->weights->hparams.n_embd * (to->seconds ? 2 : 1));
}

void vouch_stream_publish(const vouch_workspace *c, thread_space *my, const stream_reader *to, int64_t begin,
                          int64_t end, int64_t tile, int64_t tile_end)
{
    const int64_t n_embd = c->weights->hparams.n_embd, first = tile * VOUCH_TILE;
    const int64_t last = tile_end * VOUCH_TILE < n_embd ? tile_end * VOUCH_TILE : n_embd;
    vouch_acts acts = acts_for(c, to);
    if (to->is_whole) return;
    for (int64_t r = begin; r < end; r += VOUCH_FEW_ROWS) {
        const int64_t past = r + VOUCH_FEW_ROWS < end ? r + VOUCH_FEW_ROWS : end;
        for (int64_t i = r; i < past; i++) {
            const int64_t row = row_of(to, i);
            c->weights->kernels->norm_part(my->rows + (i - r) * n_embd + first, squares_of(c, row) + tile,
                                           c->x + row * n_embd + first, to->norm->weight + first, last - first);
        }
        vouch_stage_put(c, &acts, to->need, my->rows, n_embd, r, past, first, last);
    }
}

/* y [n_embd] = the mixture of streams of a row, before a branch that may keep x. */
static void mix_depth(const vouch_workspace *c, const vouch_depth *depth, int64_t row, float *y)
{
    const vouch_hparams *h = &c->weights->hparams;
    const int64_t n = h->n_embd, step = c->max_rows * n;
    float weights[VOUCH_MOST_LAYERS + 1], most = -INFINITY, sum = 0;
    float *x = c->x + row * n, *kept = c->kept_streams + row * n; /* stream i of the row is kept + i * step */
    for (int32_t i = 0; i <= depth->n_kept; i++) {
        const float *s = i < depth->n_kept ? kept + i * step : x;
        const float size = sqrtf(vouch_row_dot(s, s, n) / (float)n + h->norm_eps);
        weights[i] = vouch_row_dot(depth->query, s, n) / size;
        if (weights[i] > most) most = weights[i];
    }
    c->weights->kernels->exp_weights(weights, weights, depth->n_kept + 1, most, 1);
    for (int32_t i = 0; i <= depth->n_kept; i++) sum += weights[i];
    memset(y, 0, (size_t)n * sizeof *y);
    for (int32_t i = 0; i <= depth->n_kept; i++) {
        const float *s = i < depth->n_kept ? kept + i * step : x, weight = weights[i] / sum;
        for (int64_t k = 0; k < n; k++) y[k] += weight * s[k];
    }
    if (!depth->keeps) return;
    memcpy(kept + depth->n_kept * step, x, (size_t)n * sizeof *x);
    memset(x, 0, (size_t)n * sizeof *x); /* the branch is added to 0 */
}

/* Each thread normalises some rows. */
static void receive_whole(const vouch_workspace *c, vouch_pool *team, thread_space *my, const stream_reader *reader)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_range mine = vouch_pool_divide(team, my->thread, reader->n_rows);
    vouch_acts acts = acts_for(c, reader);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        const float *x = reader->x + row_of(reader, i) * h->n_embd;
        if (reader->kept) memcpy(reader->kept + i * h->n_embd, x, (size_t)h->n_embd * sizeof *x);
        float *to = my->rows;
        if (reader->depth) mix_depth(c, reader->depth, row_of(reader, i), to);
        if (reader->seconds) {
            memcpy(to, reader->seconds[row_of(reader, i)], (size_t)h->n_embd * sizeof *to);
            to += h->n_embd;
        }
        vouch_row_norm(to, reader->depth ? to : x, reader->norm, h->n_embd, h->norm_eps);
        if (reader->carry != 0) {
            float *carried = c->x + row_of(reader, i) * h->n_embd;
            for (int32_t k = 0; k < h->n_embd; k++) carried[k] = reader->carry * to[k];
        }
        vouch_stage_put(c, &acts, reader->need, my->rows, acts.n_in, i, i + 1, 0, acts.n_in);
    }
    for (int64_t i = 0; i < reader->n_rows; i++) my->norms[i] = 1;
    vouch_pool_barrier(team, my->thread);
}

void vouch_stream_convolve(const vouch_workspace *c, const vouch_block_conv *conv, int side, const float *x,
                           int64_t row, float *y)
{
    const int64_t n_embd = c->weights->hparams.n_embd, group = n_embd / conv->n_groups;
    const float *own = c->own_weights + row * conv->weights.n_out + (int64_t)side * conv->width * conv->n_groups;
    const float *base = conv->base + (int64_t)side * conv->width * n_embd;
    const row_run *run = vouch_workspace_run(c, row);
    for (int64_t i = 0; i < n_embd; i++) y[i] = 0;
    for (int64_t t = 0; t < conv->width && row - t >= run->begin; t++)
        for (int64_t g = 0; g < conv->n_groups; g++)
            for (int64_t i = g * group; i < (g + 1) * group; i++)
                y[i] += (base[t * n_embd + i] + own[t * conv->n_groups + g]) * x[(row - t) * n_embd + i];
}

/* Normalises the rows, and convolves them. c->branch has the normalised rows. */
static void receive_convolved(const vouch_workspace *c, vouch_pool *team, thread_space *my, const stream_reader *reader)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_matrix *const weights = &reader->conv->weights;
    const vouch_range mine = vouch_pool_divide(team, my->thread, reader->n_rows);
    vouch_acts acts = acts_for(c, reader);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        float *normed = c->branch + i * h->n_embd;
        vouch_row_norm(normed, reader->x + i * h->n_embd, reader->norm, h->n_embd, h->norm_eps);
        vouch_stage_put(c, &acts, vouch_stage_needs(&weights, 1), normed, h->n_embd, i, i + 1, 0, h->n_embd);
    }
    vouch_pool_barrier(team, my->thread);
    /* Not shared by pieces: the caller may have begun to share its own. */
    const vouch_range tiles = vouch_pool_divide(team, my->thread, weights->n_tiles);
    if (tiles.begin < tiles.end)
        vouch_stage_multiply(c, weights, &acts, c->own_weights, tiles.begin, tiles.end, VOUCH_FROM_ZERO, NULL);
    vouch_pool_barrier(team, my->thread);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        vouch_stream_convolve(c, reader->conv, 0, c->branch, i, my->rows);
        vouch_stage_put(c, &acts, reader->need, my->rows, h->n_embd, i, i + 1, 0, h->n_embd);
    }
    for (int64_t i = 0; i < reader->n_rows; i++) my->norms[i] = 1;
    vouch_pool_barrier(team, my->thread);
}

vouch_acts vouch_stream_receive(const vouch_workspace *c, vouch_pool *team, thread_space *my,
                                const stream_reader *reader)
{
    const vouch_hparams *h = &c->weights->hparams;
    if (reader->conv) receive_convolved(c, team, my, reader);
    else if (reader->is_whole) receive_whole(c, team, my, reader);
    else
        for (int64_t i = 0; i < reader->n_rows; i++)
            my->norms[i] = c->weights->kernels->norm_factor(squares_of(c, row_of(reader, i)), h->n_embd, h->norm_eps);
    return acts_for(c, reader);
}
