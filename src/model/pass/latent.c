/* SPDX-License-Identifier: MIT */
/*
 * Latent attention: the queries are absorbed through W_uk, and the results come back through W_uv (layer.h). A head's
 * matrices are small, so a thread computes whole heads.
 *
 *   low, kv  = W_low x, W_k x                            [n, q_rank], [n, rank + n_rot]
 *   heads    = W_q norm(low)                             [n, n_heads * (n_plain + n_rot)]
 *   q        = W_uk^T heads[plain] | rotate(heads[rot])  [n, n_heads * (rank + n_rot)]
 *   mixed    = softmax(q kv) kv[0, rank)                 [n, n_heads * rank]    (attention.c)
 *   heads    = W_uv mixed                                [n, n_heads * value_dim]
 */
#include <string.h>

#include "model/pass/latent.h"
#include "model/stage/rows.h"
#include "model/stage/stream.h"

static const vouch_attention *attention_of(const vouch_workspace *c, int32_t layer)
{
    return &c->weights->layers[layer].attention;
}

/* Computes W_k x, W_low x (or W_q x where there is no W_low), and the gates, if there are any. Threads share the tiles.
 * A head's one gate multiplies its mixed latent vector, which is the same as the vector's product with W_uv. */
static void compress(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_attention *a = attention_of(c, layer);
    const bool has_low = a->latent.low.n_out > 0;
    const vouch_matrix *q = has_low ? &a->latent.low : &a->q;
    const stream_reader me = vouch_stream_reader_mix(c, layer);
    const vouch_acts acts = vouch_stream_receive(c, team, my, &me);
    const int64_t n = q->n_tiles;
    vouch_work work = vouch_pool_share(team, my->thread, n + a->k.n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) {
        const int64_t q_end = work.end < n ? work.end : n, k_begin = work.begin > n ? work.begin : n;
        if (work.begin < q_end)
            vouch_stage_multiply(c, q, &acts, has_low ? c->low : c->heads, work.begin, q_end, VOUCH_FROM_ZERO,
                                 my->norms);
        if (k_begin < work.end)
            vouch_stage_multiply(c, &a->k, &acts, c->k, k_begin - n, work.end - n, VOUCH_FROM_ZERO, my->norms);
    }
    if (a->gate.n_out > 0) {
        const vouch_range gates = vouch_pool_divide(team, my->thread, a->gate.n_tiles);
        vouch_stage_multiply(c, &a->gate, &acts, c->gates, gates.begin, gates.end, VOUCH_FROM_ZERO, my->norms);
    }
    vouch_pool_barrier(team, my->thread);
}

/* Makes norm(low) the input of W_q and writes the vectors [c | r] to the cache, row by row. */
static void store_rows(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_attention *a = attention_of(c, layer);
    const int64_t n_low = a->latent.low.n_out;
    const float eps = c->weights->hparams.norm_eps;
    const vouch_norm norm = {.weight = a->latent.norm}, low_norm = {.weight = a->latent.low_norm},
                     rot_norm = {.weight = a->latent.rot_norm};
    const vouch_matrix *const q = &a->q;
    vouch_acts acts = vouch_stage_acts(c, &c->low_acts, c->n_rows, n_low);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        const row_slot *to = &c->slots[r];
        vouch_matrix keys = vouch_page_keys(to->store, to->page, layer, 0);
        vouch_matrix values = vouch_page_values(to->store, to->page, layer, 0);
        float *row = c->k + r * a->head_dim, *low = c->low + r * n_low, *rotated = row + a->latent.rank;
        vouch_row_norm(row, row, &norm, a->latent.rank, eps);
        if (rot_norm.weight) vouch_row_norm(rotated, rotated, &rot_norm, a->head_dim - a->latent.rank, eps);
        vouch_stage_rotate(c, a->rotary, rotated, r);
        c->weights->kernels->set_row(&keys, to->slot, row);
        c->weights->kernels->set_column(&values, to->slot, row);
        if (n_low == 0) continue;
        vouch_row_norm(low, low, &low_norm, n_low, eps);
        vouch_stage_put(c, &acts, vouch_stage_needs(&q, 1), low, n_low, r, r + 1, 0, n_low);
    }
    vouch_pool_barrier(team, my->thread);
}

/* heads = W_q norm(low) */
static void expand_queries(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_attention *a = attention_of(c, layer);
    const vouch_acts acts = vouch_stage_acts(c, &c->low_acts, c->n_rows, a->latent.low.n_out);
    vouch_work work = vouch_pool_share(team, my->thread, a->q.n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work))
        vouch_stage_multiply(c, &a->q, &acts, c->heads, work.begin, work.end, VOUCH_FROM_ZERO, NULL);
    vouch_pool_barrier(team, my->thread);
}

/* Multiplies each row by the matrix of head h: y [ldy] = W x [ldx]. */
static void multiply_head(const vouch_workspace *c, const thread_space *my, const vouch_matrix *stack, int64_t h,
                          const float *x, int64_t ldx, float *y, int64_t ldy)
{
    const vouch_matrix w = vouch_matrix_at(stack, h), *const one = &w;
    vouch_acts acts = vouch_stage_acts(c, &my->latent, c->n_rows, w.n_in);
    vouch_stage_put(c, &acts, vouch_stage_needs(&one, 1), x, ldx, 0, c->n_rows, 0, w.n_in);
    const vouch_result result = {y, ldy, VOUCH_TILE, VOUCH_FROM_ZERO, NULL};
    c->weights->kernels->matmul[w.type](&w, &acts, result, 0, w.n_tiles);
}

static void absorb_queries(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_attention *a = attention_of(c, layer);
    const vouch_latent *m = &a->latent;
    const int64_t n_plain = m->up_k.n_in, n_rot = a->head_dim - m->rank;
    const int64_t ldx = (int64_t)a->n_heads * m->key_dim, ldy = (int64_t)a->n_heads * a->head_dim;
    vouch_work work = vouch_pool_share(team, my->thread, a->n_heads, 1);
    while (vouch_work_next(&work))
        for (int64_t h = work.begin; h < work.end; h++) {
            const float *x = c->heads + h * m->key_dim;
            float *y = c->q + h * a->head_dim;
            if (n_plain > 0) multiply_head(c, my, &m->up_k, h, x, ldx, y, ldy);
            for (int64_t r = 0; r < c->n_rows; r++) {
                float *rotated = y + r * ldy + m->rank;
                if (n_plain == 0) memset(y + r * ldy, 0, (size_t)m->rank * sizeof *y);
                memcpy(rotated, x + r * ldx + n_plain, (size_t)n_rot * sizeof *x);
                vouch_stage_rotate(c, a->rotary, rotated, r);
            }
        }
    vouch_pool_barrier(team, my->thread);
}

void vouch_latent_project(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    compress(c, team, my, layer);
    store_rows(c, team, my, layer);
    if (attention_of(c, layer)->latent.low.n_out > 0) expand_queries(c, team, my, layer);
    absorb_queries(c, team, my, layer);
}

/* Multiplies the results of head h in all rows by sigmoid(gates). Overwrites the gates. */
static void gate_results(const vouch_workspace *c, const vouch_attention *a, int64_t h)
{
    const int64_t n = a->latent.value_dim, step = (int64_t)a->n_heads * n;
    for (int64_t r = 0; r < c->n_rows; r++) {
        float *gates = c->gates + r * step + h * n, *y = c->heads + r * step + h * n;
        c->weights->kernels->exp_weights(gates, gates, n, 0, -1);
        for (int64_t i = 0; i < n; i++) y[i] /= 1 + gates[i];
    }
}

vouch_acts vouch_latent_expand(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_attention *a = attention_of(c, layer);
    const vouch_latent *m = &a->latent;
    const vouch_matrix *const o = &a->o;
    const int64_t ldx = (int64_t)a->n_heads * m->rank, ldy = (int64_t)a->n_heads * m->value_dim;
    vouch_work work = vouch_pool_share(team, my->thread, a->n_heads, 1);
    while (vouch_work_next(&work))
        for (int64_t h = work.begin; h < work.end; h++) {
            multiply_head(c, my, &m->up_v, h, c->mixed + h * m->rank, ldx, c->heads + h * m->value_dim, ldy);
            if (vouch_latent_has_wide_gates(a)) gate_results(c, a, h);
        }
    vouch_pool_barrier(team, my->thread);
    vouch_acts acts = vouch_stage_acts(c, &c->mixed_acts, c->n_rows, ldy);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    if (mine.begin < mine.end)
        vouch_stage_put(c, &acts, vouch_stage_needs(&o, 1), c->heads + mine.begin * ldy, ldy, mine.begin, mine.end, 0,
                        ldy);
    vouch_pool_barrier(team, my->thread);
    return acts;
}
