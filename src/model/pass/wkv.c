/* SPDX-License-Identifier: MIT */
/*
 * RWKV's mixer before its scan, and the input of its channel mix (layer.h):
 *
 *   norm       u = norm(x)                                           rows                      barrier
 *   amounts    RWKV-6: W_i tanh(W_low (u + first_amount shift))      tiles                     barriers
 *   mix        m(i) = u + amount(i) shift,  shift = u_before - u     a piece: an input i of a row   barrier
 *   project    W_r, W_k, W_v, and the matrices of decay, gate, rate and value residual   tiles      barrier
 *   expand     those that are products of two narrow matrices        tiles                     barrier
 *   assemble   q, k, v, decays and the rest                          rows                      barrier
 *
 * u of the token before the first is zero. A row of c->recurrent begins with u, then the channel mix's own u, so both
 * go through the memory in the way of a convolution's inputs (states.h).
 */
#include "model/pass/wkv.h"

#include <math.h>
#include <string.h>

#include "model/stage/stream.h"
#include "model/stage/rows.h"

/* Of a head's LayerNorm, in all models. */
static const float head_eps = 64e-5f;

/* A matrix, its input, and its result: row r begins at y[r * row]. */
typedef struct product {
    const vouch_matrix *w;
    vouch_acts in;
    float *y;
    int64_t row;
} product;

enum { MOST_PRODUCTS = 8 };

/* The threads share the tiles of all products. */
static void multiply(vouch_workspace *c, vouch_pool *team, const thread_space *my, const product *all, int n)
{
    const vouch_matrix *matrices[MOST_PRODUCTS];
    for (int i = 0; i < n; i++) matrices[i] = all[i].w;
    vouch_work work = vouch_pool_share(team, my->thread, vouch_stage_n_pieces(matrices, n), 1);
    while (vouch_work_next(&work))
        for (int64_t at = work.begin; at < work.end;) {
            int i;
            vouch_range tiles;
            at = vouch_stage_piece(matrices, n, at, work.end, &i, &tiles);
            const vouch_result y = {all[i].y, all[i].row, VOUCH_TILE, VOUCH_FROM_ZERO, NULL};
            c->weights->kernels->matmul[all[i].w->type](all[i].w, &all[i].in, y, tiles.begin, tiles.end);
        }
    vouch_pool_barrier(team, my->thread);
}

/* --------------------------------------------------------------- token shift */

/* Normalises the rows into u, which begins at the float `first` of a row. */
static void stage_norm(vouch_workspace *c, vouch_pool *team, const thread_space *my, const vouch_recurrent *r,
                       const vouch_norm *norm, int64_t first)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t row = mine.begin; row < mine.end; row++)
        vouch_row_norm(vouch_workspace_row(c, r, row) + first, c->x + row * h->n_embd, norm, h->n_embd, h->norm_eps);
    vouch_pool_barrier(team, my->thread);
}

/* y = u + (amounts + more) (u_before - u); `more` NULL: 0. */
static void mix_row(const vouch_workspace *c, int32_t layer, int64_t row, int64_t first, const float *amounts,
                    const float *more, float *y)
{
    const row_run *run = vouch_workspace_run(c, row);
    const int32_t number = run->first + (int32_t)(row - run->begin);
    const float *u = vouch_workspace_input(c, run, layer, number) + first;
    const float *before = vouch_workspace_input(c, run, layer, row_run_parent(run, number)) + first;
    for (int64_t i = 0; i < c->weights->hparams.n_embd; i++) {
        const float amount = more ? more[i] + amounts[i] : amounts[i];
        y[i] = u[i] + amount * (before[i] - u[i]);
    }
}

/* Puts a mixed row into the input of the matrix or the two matrices that read it. */
static void put_mixed(const vouch_workspace *c, const thread_space *my, const vouch_acts *room,
                      const vouch_matrix *const *readers, int64_t row)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    vouch_acts acts = vouch_stage_acts(c, room, c->n_rows, n_embd);
    vouch_stage_put(c, &acts, vouch_stage_needs(readers, 2), my->rows, n_embd, row, row + 1, 0, n_embd);
}

static vouch_acts input_of(const vouch_workspace *c, vouch_wkv_input i)
{
    return vouch_stage_acts(c, &c->wkv.inputs[i], c->n_rows, c->weights->hparams.n_embd);
}

static vouch_acts low_of(const vouch_workspace *c, vouch_wkv_input i, const vouch_matrix *w)
{
    return vouch_stage_acts(c, &c->wkv.lows[i], c->n_rows, w->n_in);
}

/* The amounts that depend on the row, to c->wkv.amounts [n_rows][VOUCH_WKV6_INPUTS][n_embd]. */
static void stage_amounts(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_wkv *v = &c->weights->layers[layer].recurrent.wkv;
    const int64_t n_embd = c->weights->hparams.n_embd, n_low = v->amount_low.n_out, rank = v->amount.n_in;
    const vouch_matrix *const readers[] = {&v->amount_low, &v->amount_low}, *const reader = &v->amount;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t row = mine.begin; row < mine.end; row++) {
        mix_row(c, layer, row, 0, v->first_amount, NULL, my->rows);
        put_mixed(c, my, &c->wkv.inputs[0], readers, row);
    }
    vouch_pool_barrier(team, my->thread);
    const product low = {&v->amount_low, input_of(c, 0), c->low, n_low};
    multiply(c, team, my, &low, 1);
    for (int64_t row = mine.begin; row < mine.end; row++)
        for (int i = 0; i < VOUCH_WKV6_INPUTS; i++) {
            float *z = c->low + row * n_low + i * rank;
            vouch_acts acts = low_of(c, i, &v->amount);
            vouch_row_softcap(c->weights->kernels, z, 1, rank); /* tanh */
            vouch_stage_put(c, &acts, vouch_stage_needs(&reader, 1), z, n_low, row, row + 1, 0, rank);
        }
    vouch_pool_barrier(team, my->thread);
    vouch_matrix each[VOUCH_WKV6_INPUTS];
    product up[VOUCH_WKV6_INPUTS];
    for (int i = 0; i < VOUCH_WKV6_INPUTS; i++) {
        each[i] = vouch_matrix_at(&v->amount, i);
        up[i] = (product){&each[i], low_of(c, i, &v->amount), c->wkv.amounts + i * n_embd, VOUCH_WKV6_INPUTS * n_embd};
    }
    multiply(c, team, my, up, VOUCH_WKV6_INPUTS);
}

/* m(i) of all inputs, as the inputs of the matrices. */
static void stage_mix(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_recurrent *r = &c->weights->layers[layer].recurrent;
    const vouch_wkv *v = &r->wkv;
    const int64_t n_embd = c->weights->hparams.n_embd;
    const vouch_matrix *const gate = r->gate_low.n_out > 0 ? &r->gate_low : &r->gate;
    const vouch_matrix *const readers[VOUCH_WKV_INPUTS][2] = {[VOUCH_WKV_DECAY] = {&r->decay_low, &r->decay_low},
                                                              [VOUCH_WKV_KEY] = {&r->in[1], &r->in[1]},
                                                              [VOUCH_WKV_VALUE] = {&r->in[2], &v->value_low},
                                                              [VOUCH_WKV_QUERY] = {&r->in[0], &r->in[0]},
                                                              [VOUCH_WKV_GATE] = {gate, gate},
                                                              [VOUCH_WKV_RATE] = {&v->rate_low, &v->rate_low}};
    vouch_work work = vouch_pool_share(team, my->thread, c->n_rows * VOUCH_WKV_INPUTS, 1);
    while (vouch_work_next(&work))
        for (int64_t at = work.begin; at < work.end; at++) {
            const int64_t row = at / VOUCH_WKV_INPUTS, i = at % VOUCH_WKV_INPUTS;
            if (!v->amounts[i]) continue;
            const float *more =
                v->amount_low.n_out > 0 ? c->wkv.amounts + (row * VOUCH_WKV6_INPUTS + i) * n_embd : NULL;
            mix_row(c, layer, row, 0, v->amounts[i], more, my->rows);
            put_mixed(c, my, &c->wkv.inputs[i], readers[i], row);
        }
    vouch_pool_barrier(team, my->thread);
}

/* ------------------------------------------------------------------ matrices */

/* A product of two narrow matrices, which reads input i: its first result begins at the float `first` of c->low. */
typedef struct narrow {
    const vouch_matrix *low, *up;
    vouch_wkv_input i;
    int64_t first;
    float *y; /* the second result, and the floats between its rows */
    int64_t row;
} narrow;

/* Floats of a row of c->low. */
static int64_t low_row(const vouch_recurrent *r)
{
    return r->decay_low.n_out + r->gate_low.n_out + r->wkv.rate_low.n_out + r->wkv.value_low.n_out;
}

/* The narrow products that the mixer has. RWKV-7's rates and value residuals wait where `write` and `erase` will be. */
static int list_narrow(const vouch_workspace *c, const vouch_recurrent *r, narrow *all)
{
    const int64_t row = vouch_recurrent_row(r), n = (int64_t)r->n_heads * r->n_keys;
    float *results = c->recurrent + r->conv.n_channels, *decays = c->recurrent + vouch_recurrent_rates(r) + r->n_heads;
    const narrow every[] = {
        {&r->decay_low, &r->decay, VOUCH_WKV_DECAY, 0, decays, row},
        {&r->gate_low, &r->gate, VOUCH_WKV_GATE, r->decay_low.n_out, c->inner, n},
        {&r->wkv.rate_low, &r->rate, VOUCH_WKV_RATE, r->decay_low.n_out + r->gate_low.n_out, results + 4 * n, row},
        {&r->wkv.value_low, &r->wkv.value, VOUCH_WKV_VALUE,
         r->decay_low.n_out + r->gate_low.n_out + r->wkv.rate_low.n_out, results + 3 * n, row}};
    int count = 0;
    for (size_t i = 0; i < sizeof every / sizeof every[0]; i++)
        if (every[i].low->n_out > 0) all[count++] = every[i];
    return count;
}

/* Multiplies all m(i) by their matrices. */
static void stage_project(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_recurrent *r)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t row = vouch_recurrent_row(r), n_low = low_row(r), n = (int64_t)r->n_heads * r->n_keys;
    float *results = c->recurrent + r->conv.n_channels;
    narrow lows[4];
    const int n_narrow = list_narrow(c, r, lows);
    product all[MOST_PRODUCTS] = {{&r->in[0], input_of(c, VOUCH_WKV_QUERY), results + r->q, row},
                                  {&r->in[1], input_of(c, VOUCH_WKV_KEY), results + r->k, row},
                                  {&r->in[2], input_of(c, VOUCH_WKV_VALUE), results + r->v, row}};
    int count = 3;
    if (r->gate_low.n_out == 0 && r->gate.n_out > 0)
        all[count++] = (product){&r->gate, input_of(c, VOUCH_WKV_GATE), c->inner, n};
    for (int i = 0; i < n_narrow; i++)
        all[count++] = (product){lows[i].low, input_of(c, lows[i].i), c->low + lows[i].first, n_low};
    multiply(c, team, my, all, count);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int i = 0; i < n_narrow; i++) {
        const narrow *one = &lows[i];
        vouch_acts acts = low_of(c, one->i, one->up);
        for (int64_t at = mine.begin; at < mine.end; at++) {
            float *z = c->low + at * n_low + one->first;
            if (one->i == VOUCH_WKV_DECAY) vouch_row_softcap(kernels, z, 1, one->up->n_in); /* tanh */
            if (one->i == VOUCH_WKV_GATE) vouch_row_sigmoid(kernels, z, one->up->n_in);
            vouch_stage_put(c, &acts, vouch_stage_needs(&one->up, 1), z, n_low, at, at + 1, 0, one->up->n_in);
        }
        all[i] = (product){one->up, acts, one->y, one->row};
    }
    vouch_pool_barrier(team, my->thread);
    multiply(c, team, my, all, n_narrow);
}

/* ------------------------------------------------------------------ assembly */

static void add(float *y, const float *x, int64_t n)
{
    for (int64_t i = 0; x && i < n; i++) y[i] += x[i];
}

/* Gives each head the keys or values x [n_kv_heads][n_keys] of its KV head, in place. */
static void spread_heads(float *x, const vouch_recurrent *r)
{
    const int32_t group = r->n_heads / r->wkv.n_kv_heads;
    for (int32_t h = r->n_heads - 1; h >= 0 && group > 1; h--) /* downwards: a KV head comes before its heads */
        memmove(x + (int64_t)h * r->n_keys, x + (int64_t)(h / group) * r->n_keys, (size_t)r->n_keys * sizeof *x);
}

/* The keys and queries with which RWKV-6 without a bonus is linear attention. */
static void assemble_linear(const vouch_kernels *kernels, float *q, float *k, const float *decays, int64_t n,
                            int32_t n_keys)
{
    for (int64_t i = 0; i < n; i++) k[i] -= k[i] * decays[i];
    kernels->scale(q, 1.0f / sqrtf((float)n_keys), n);
}

/* RWKV-7's values, keys, `erase` and `write`; the latter two begin as the raw value residual and rate. first [n]: the
 * values of the first layer, which stores them there. */
static void assemble_seventh(const vouch_kernels *kernels, const vouch_recurrent *r, float *k, float *v, float *erase,
                             float *write, float *first)
{
    const vouch_wkv *w = &r->wkv;
    const int64_t n = (int64_t)r->n_heads * r->n_keys;
    if (w->value.n_out == 0) memcpy(first, v, (size_t)n * sizeof *first);
    else {
        add(erase, w->value_bias_low, n);
        vouch_row_sigmoid(kernels, erase, n);
        for (int64_t i = 0; i < n; i++) v[i] += (first[i] - v[i]) * erase[i];
    }
    add(write, w->rate_bias, n);
    vouch_row_sigmoid(kernels, write, n);
    for (int64_t i = 0; i < n; i++) erase[i] = -(k[i] * w->key_norm_scale[i]);
    for (int64_t at = 0; at < n; at += r->n_keys) kernels->l2_norm(erase + at, r->n_keys, 1e-24f);
    for (int64_t i = 0; i < n; i++) {
        const float part = k[i] * w->key_scale[i];
        k[i] += write[i] * part - part;
        write[i] *= -erase[i];
    }
}

/* Turns the products of a row into what the scan reads. */
static void assemble(const vouch_workspace *c, thread_space *my, const vouch_recurrent *r, int64_t row)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const vouch_wkv *w = &r->wkv;
    const int64_t n = (int64_t)r->n_heads * r->n_keys, n_kv = (int64_t)w->n_kv_heads * r->n_keys;
    float *x = vouch_workspace_row(c, r, row), *rates = x + vouch_recurrent_rates(r), *decays = rates + r->n_heads;
    float *results = x + r->conv.n_channels, *q = results + r->q, *k = results + r->k, *v = results + r->v;
    add(q, w->query_bias, n);
    add(k, w->key_bias, n_kv);
    add(v, w->value_bias, n_kv);
    spread_heads(k, r);
    spread_heads(v, r);
    add(decays, r->decay_bias, n);
    if (r->kind == VOUCH_WKV7) {
        vouch_row_sigmoid(kernels, decays, n);
        kernels->exp_weights(decays, decays, n, 0, -0.60653066f); /* exp(-1/2) */
        assemble_seventh(kernels, r, k, v, results + 3 * n, results + 4 * n, c->wkv.first_values + row * n);
    } else {
        kernels->exp_weights(decays, decays, n, 0, 1);
        kernels->exp_weights(decays, decays, n, 0, -1);
        if (!w->bonus) assemble_linear(kernels, q, k, decays, n, r->n_keys);
    }
    for (int32_t h = 0; h < r->n_heads; h++) {
        const int64_t first = (int64_t)h * r->n_keys;
        for (int64_t i = 0; w->bonus && i < r->n_keys; i++) my->y[i] = k[first + i] * w->bonus[first + i];
        rates[h] = w->bonus ? vouch_row_dot(my->y, q + first, r->n_keys) : 0;
    }
}

void vouch_wkv_prepare(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_recurrent *r = &l->recurrent;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    stage_norm(c, team, my, r, &l->mix.norm, 0);
    if (r->wkv.amount_low.n_out > 0) stage_amounts(c, team, my, layer);
    stage_mix(c, team, my, layer);
    stage_project(c, team, my, r);
    for (int64_t row = mine.begin; row < mine.end; row++) assemble(c, my, r, row);
    vouch_pool_barrier(team, my->thread);
}

/* ---------------------------------------------------------- after the scan */

void vouch_wkv_finish(const vouch_workspace *c, const vouch_recurrent *r, int64_t row, int32_t head, float *y)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n = r->n_values, first = head * n;
    float *inner = c->inner + row * r->out.n_in + first;
    if (r->norm) {
        const vouch_norm norm = {VOUCH_NORM_LAYER, r->norm + first, r->wkv.norm_bias + first};
        vouch_row_norm(y, y, &norm, n, head_eps);
    }
    if (r->kind == VOUCH_WKV7) {
        const float *x = vouch_workspace_row(c, r, row), *v = x + r->conv.n_channels + r->v + first;
        const float bonus = x[vouch_recurrent_rates(r) + head];
        for (int64_t i = 0; i < n; i++) y[i] += v[i] * bonus;
        if (r->gate.n_out == 0) memcpy(inner, y, (size_t)n * sizeof *inner);
        for (int64_t i = 0; r->gate.n_out > 0 && i < n; i++) inner[i] *= y[i];
    } else if (r->has_sigmoid_gate) {
        vouch_row_sigmoid(kernels, inner, n);
        for (int64_t i = 0; i < n; i++) inner[i] *= y[i];
    } else {
        kernels->swiglu(inner, y, n);
    }
}

/* --------------------------------------------------------------- channel mix */

vouch_acts vouch_wkv_receive_feed(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer,
                                  vouch_acts *gate)
{
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_channel_mix *mix = &l->channel_mix;
    const int64_t n_embd = c->weights->hparams.n_embd;
    const vouch_matrix *const ups[] = {&l->ffn.up, &l->ffn.gate}, *const gates[] = {&mix->gate, &mix->gate};
    stage_norm(c, team, my, &l->recurrent, &l->feed.norm, n_embd);
    const int64_t n_inputs = mix->gate.n_out > 0 ? 2 : 1;
    vouch_work work = vouch_pool_share(team, my->thread, c->n_rows * n_inputs, 1);
    while (vouch_work_next(&work))
        for (int64_t at = work.begin; at < work.end; at++) {
            const int64_t row = at / n_inputs;
            const bool is_gate = at % n_inputs > 0;
            mix_row(c, layer, row, n_embd, is_gate ? mix->gate_amount : mix->up_amount, NULL, my->rows);
            put_mixed(c, my, is_gate ? &c->wkv.inputs[0] : &c->acts, is_gate ? gates : ups, row);
        }
    vouch_pool_barrier(team, my->thread);
    for (int64_t row = 0; row < c->n_rows; row++) my->norms[row] = 1;
    *gate = input_of(c, 0);
    return vouch_stage_acts(c, &c->acts, c->n_rows, n_embd);
}
