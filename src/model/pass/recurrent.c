/* SPDX-License-Identifier: MIT */
/*
 * A recurrent mixer (layer.h) in a pass:
 *
 *   project    u, rates, decays, gate                  all rows                              barrier
 *   expand     decays and gate of narrow matrices      all rows                              barrier
 *   convolve   c = conv(u) along each row's path       a piece: some channels of a row       barrier
 *   select     Mamba's keys, queries and rates         W_select c, then W_step z             barriers
 *   scan       y, head by head                         a piece: a head of one sequence       barrier
 *   keep       inputs of provisional rows into their memory, the convolution's last inputs
 *
 * RWKV's mixer has stages of its own (wkv.c) before the scan.
 *
 * One head of one sequence stays in a processor's cache while it takes all rows in turn:
 *
 *   state ── replay pending tokens ── tokens of this pass ──┐ the memory's state
 *                                                           └─ copy ── provisional rows, depth first
 *
 * Law L1 holds because a row's update sees the state after its parent, whichever rows run beside it; law L3, because
 * provisional rows update copies only (states.h).
 */
#include "model/pass/recurrent.h"

#include <math.h>
#include <string.h>

#include "model/pass/wkv.h"
#include "model/stage/rows.h"
#include "model/stage/stream.h"

enum { CONV_PIECE = 64 }; /* channels of a piece; where queries and keys are normalised, a piece is a head */

static const vouch_recurrent *recurrent_of(const vouch_workspace *c, int32_t layer)
{
    return &c->weights->layers[layer].recurrent;
}

static const vouch_layer_state *state_of(const row_run *run, int32_t layer)
{
    return &run->memory->states.layers[layer];
}

/* ------------------------------------------------------------------- project */

/* Row r of a result begins at y[r * row]. */
typedef struct projection {
    const vouch_matrix *w, *factor; /* factor NULL: none */
    const vouch_affine *after;      /* NULL: none */
    float *y;
    int64_t row;
    const vouch_matrix *reader; /* the matrix whose input the result becomes, in `room`; NULL: none */
    const vouch_acts *room;
} projection;

static void compute_projection(const vouch_workspace *c, const thread_space *my, const vouch_acts *in,
                               const float *factors, const projection *to, int64_t begin, int64_t end)
{
    const vouch_matrix *w = to->w;
    const int64_t first = begin * VOUCH_TILE, last = end * VOUCH_TILE < w->n_out ? end * VOUCH_TILE : w->n_out;
    const vouch_result y = {to->y, to->row, VOUCH_TILE, VOUCH_FROM_ZERO, factors};
    c->weights->kernels->matmul[w->type](w, in, y, begin, end);
    for (int64_t r = 0; to->after && r < c->n_rows; r++)
        vouch_row_affine(to->y + r * to->row + first, to->after, first, last - first);
    if (to->reader) {
        vouch_acts acts = vouch_stage_acts(c, to->room, c->n_rows, w->n_out);
        vouch_stage_put(c, &acts, vouch_stage_needs(&to->reader, 1), to->y, to->row, 0, c->n_rows, first, last);
    }
    if (!to->factor) return;
    /* The convolution's results have not been computed yet: the factor lies in their buffer. */
    const vouch_result factor = {to->y + w->n_out, to->row, VOUCH_TILE, VOUCH_FROM_ZERO, my->norms};
    c->weights->kernels->matmul[to->factor->type](to->factor, in, factor, begin, end);
    for (int64_t r = 0; r < c->n_rows; r++) {
        float *u = to->y + r * to->row;
        for (int64_t i = first; i < last; i++) u[i] *= u[w->n_out + i];
    }
}

/* Floats of a row of c->rates: rates, then decays. */
static int64_t rates_row(const vouch_recurrent *r)
{
    return r->n_heads + vouch_recurrent_n_decays(r);
}

static void stage_project(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    const int64_t row = vouch_recurrent_row(r), n = rates_row(r), n_low = r->decay_low.n_out + r->gate_low.n_out;
    const projection gate = {.w = &r->gate, .after = &r->gate_after, .y = c->inner, .row = r->gate.n_out},
                     decay = {.w = &r->decay, .after = &r->decay_after, .y = c->rates + r->n_heads, .row = n},
                     gate_low = {.w = &r->gate_low,
                                 .y = c->low + r->decay_low.n_out,
                                 .row = n_low,
                                 .reader = &r->gate,
                                 .room = &c->inner_acts},
                     decay_low = {
                         .w = &r->decay_low, .y = c->low, .row = n_low, .reader = &r->decay, .room = &c->low_acts};
    const projection all[] = {{.w = &r->in[0],
                               .factor = r->factor.n_out ? &r->factor : NULL,
                               .after = &r->in_after,
                               .y = c->recurrent,
                               .row = row},
                              {.w = &r->in[1], .y = c->recurrent + r->in[0].n_out, .row = row},
                              {.w = &r->in[2], .y = c->recurrent + r->in[0].n_out + r->in[1].n_out, .row = row},
                              r->gate_low.n_out > 0 ? gate_low : gate,
                              {.w = &r->rate, .after = &r->rate_after, .y = c->rates, .row = n},
                              r->decay_low.n_out > 0 ? decay_low : decay};
    enum { N = sizeof all / sizeof all[0] };
    const stream_reader me = vouch_stream_reader_mix(c, layer);
    const vouch_acts in = vouch_stream_receive(c, team, my, &me);
    const vouch_matrix *matrices[N];
    for (int i = 0; i < N; i++) matrices[i] = all[i].w;
    vouch_work work = vouch_pool_share(team, my->thread, vouch_stage_n_pieces(matrices, N), 1);
    while (vouch_work_next(&work))
        for (int64_t at = work.begin; at < work.end;) {
            int i;
            vouch_range tiles;
            at = vouch_stage_piece(matrices, N, at, work.end, &i, &tiles);
            compute_projection(c, my, &in, my->norms, &all[i], tiles.begin, tiles.end);
        }
    vouch_pool_barrier(team, my->thread);
}

/* Multiplies the narrow results by W_decay and W_gate. */
static void stage_expand(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    const projection both[] = {{.w = &r->decay, .y = c->rates + r->n_heads, .row = rates_row(r)},
                               {.w = &r->gate, .y = c->inner, .row = r->gate.n_out}};
    const vouch_acts in[] = {vouch_stage_acts(c, &c->low_acts, c->n_rows, r->decay.n_in),
                             vouch_stage_acts(c, &c->inner_acts, c->n_rows, r->gate.n_in)};
    for (int i = 0; i < 2; i++) {
        const vouch_range mine = vouch_pool_divide(team, my->thread, both[i].w->n_tiles);
        if ((i == 0 ? r->decay_low.n_out : r->gate_low.n_out) > 0 && mine.begin < mine.end)
            compute_projection(c, my, &in[i], NULL, &both[i], mine.begin, mine.end);
    }
    vouch_pool_barrier(team, my->thread);
}

/* ------------------------------------------------------------------ convolve */

/* rate = softplus(rate + bias), decay = exp(a rate) of a row's rates [begin, end). */
static void finish_mamba_rates(const vouch_workspace *c, const vouch_recurrent *r, int64_t row, int64_t begin,
                               int64_t end)
{
    const vouch_kernels *kernels = c->weights->kernels;
    float *rates = vouch_workspace_row(c, r, row) + vouch_recurrent_rates(r), *decays = rates + r->n_heads;
    for (int64_t i = begin; i < end; i++) rates[i] += r->decay_bias[i];
    kernels->softplus(rates + begin, end - begin);
    if (r->kind == VOUCH_MAMBA) return;
    for (int64_t i = begin; i < end; i++) decays[i] = rates[i] * r->a[i];
    kernels->exp_weights(decays + begin, decays + begin, end - begin, 0, 1);
}

/* decay = exp(a softplus(W x + bias)), rate = sigmoid(W x) of all heads of a row. */
static void compute_delta_rates(const vouch_workspace *c, const vouch_recurrent *r, int64_t row)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n = r->n_heads, fused = r->decay.n_out > 0 ? n : n / r->n_key_heads; /* heads of a run of rates */
    float *rates = vouch_workspace_row(c, r, row) + vouch_recurrent_rates(r), *decays = rates + n;
    const float *from = c->rates + row * rates_row(r);
    for (int64_t h = 0; h < n; h++) {
        const float *rate = from + h / fused * 2 * fused + h % fused;
        rates[h] = rate[0];
        decays[h] = rate[fused] + r->decay_bias[h];
    }
    kernels->softplus(decays, n);
    for (int64_t h = 0; h < n; h++) decays[h] *= r->a[h];
    kernels->exp_weights(decays, decays, n, 0, 1);
    vouch_row_sigmoid(kernels, rates, n);
}

/* Computes a head's rate and the decays of its keys (layer.h). */
static void compute_key_decays(const vouch_workspace *c, const vouch_recurrent *r, int64_t row, int64_t head)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n = r->n_keys;
    const float *from = c->rates + row * rates_row(r), *raw = from + r->n_heads + head * n;
    float *rates = vouch_workspace_row(c, r, row) + vouch_recurrent_rates(r), *decays = rates + r->n_heads + head * n;
    rates[head] = from[head];
    vouch_row_sigmoid(kernels, rates + head, 1);
    for (int64_t i = 0; i < n; i++) decays[i] = raw[i] + r->decay_bias[head * n + i];
    if (r->decay_floor != 0) {
        kernels->exp_weights(decays, decays, n, 0, r->is_a_negated ? r->a[head] : -r->a[head]);
        for (int64_t i = 0; i < n; i++) decays[i] = r->decay_floor / (1.0f + decays[i]);
    } else {
        kernels->softplus(decays, n);
        kernels->scale(decays, r->a[head], n);
    }
    kernels->exp_weights(decays, decays, n, 0, 1);
}

/* Computes the rates and decays of a row, where they follow from its input alone. */
static void compute_rates(const vouch_workspace *c, const vouch_recurrent *r, int64_t row)
{
    const int64_t n = r->n_heads;
    if (r->kind == VOUCH_DELTA_NET && !r->has_key_decays) {
        compute_delta_rates(c, r, row);
    } else if (r->kind == VOUCH_MAMBA2 && r->select.n_out == 0) {
        memcpy(vouch_workspace_row(c, r, row) + vouch_recurrent_rates(r), c->rates + row * 2 * n + n,
               (size_t)n * sizeof(float));
        finish_mamba_rates(c, r, row, 0, n);
    } else if (r->kind == VOUCH_LIGHTNING) {
        float *rates = vouch_workspace_row(c, r, row) + vouch_recurrent_rates(r);
        for (int64_t h = 0; h < n; h++) rates[h] = 1;
        memcpy(rates + n, r->a, (size_t)n * sizeof *rates);
    }
}

/* Computes the channels [begin, end) of a row's c. */
static void convolve(const vouch_workspace *c, const row_run *run, int32_t layer, int64_t row, int64_t begin,
                     int64_t end)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    const vouch_kernels *kernels = c->weights->kernels;
    const float *inputs[VOUCH_MAX_CONV];
    int32_t number = run->first + (int32_t)(row - run->begin);
    for (int64_t i = r->conv.width - 1; i >= 0; i--, number = row_run_parent(run, number))
        inputs[i] = vouch_workspace_input(c, run, layer, number);
    float *y = vouch_workspace_row(c, r, row) + r->conv.n_channels;
    kernels->conv(y, &r->conv, inputs, begin, end);
    if (r->kind != VOUCH_DELTA_NET) return;
    /* Queries become q / |q| / sqrt(n_keys), keys k / |k|. */
    const int64_t all_keys = (int64_t)r->n_key_heads * r->n_keys;
    const float eps = c->weights->hparams.norm_eps;
    const bool is_query = begin >= r->q && begin < r->q + all_keys, is_key = begin >= r->k && begin < r->k + all_keys;
    if (is_query || is_key) kernels->l2_norm(y + begin, end - begin, eps);
    if (is_query) kernels->scale(y + begin, 1.0f / sqrtf((float)r->n_keys), end - begin);
}

/* Puts the columns [first, last) of the rows [begin, end) of y [n_rows][ldy] into the input of W_out or W_select. */
static void put_input(const vouch_workspace *c, const vouch_matrix *w, const float *y, int64_t ldy, int64_t begin,
                      int64_t end, int64_t first, int64_t last)
{
    vouch_acts acts = vouch_stage_acts(c, &c->inner_acts, c->n_rows, w->n_in);
    vouch_stage_put(c, &acts, vouch_stage_needs(&w, 1), y + begin * ldy, ldy, begin, end, first, last);
}

/* Puts the columns [first, last) of the mixer's result into the input of W_out. */
static void put_inner(const vouch_workspace *c, const vouch_recurrent *r, int64_t begin, int64_t end, int64_t first,
                      int64_t last)
{
    put_input(c, &r->out, c->inner, r->out.n_in, begin, end, first, last);
}

static void stage_convolve(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    const int64_t piece = r->kind == VOUCH_DELTA_NET ? r->n_keys : CONV_PIECE, n = r->conv.n_channels;
    const int64_t per_row = (n + piece - 1) / piece, size = vouch_recurrent_row(r);
    vouch_work work = vouch_pool_share(team, my->thread, c->n_rows * per_row, 1);
    while (vouch_work_next(&work))
        for (int64_t i = work.begin; i < work.end; i++) {
            const int64_t row = i / per_row, begin = i % per_row * piece, end = begin + piece < n ? begin + piece : n;
            convolve(c, vouch_workspace_run(c, row), layer, row, begin, end);
            if (begin == 0) compute_rates(c, r, row);
            if (r->has_key_decays && begin < r->n_heads * piece) compute_key_decays(c, r, row, begin / piece);
            if (r->select.n_out > 0) put_input(c, &r->select, c->recurrent + n, size, row, row + 1, begin, end);
            if (r->kind != VOUCH_SHORT_CONVOLUTION) continue;
            float *inner = c->inner + row * n;
            const float *y = vouch_workspace_row(c, r, row) + n;
            for (int64_t j = begin; j < end; j++) inner[j] *= y[j];
            put_inner(c, r, row, row + 1, begin, end);
        }
    vouch_pool_barrier(team, my->thread);
}

/* -------------------------------------------------------------------- select */

/* Splits W_select c of a row into keys, queries and z. z becomes the input of W_step. */
static void split_selected(const vouch_workspace *c, const vouch_recurrent *r, int64_t row)
{
    const float eps = c->weights->hparams.norm_eps;
    const int64_t n = r->select.n_out, rank = r->has_rank_last ? 2 * r->n_keys : 0;
    float *from = c->rates + row * n, *z = from + rank, *after = vouch_workspace_row(c, r, row) + r->conv.n_channels;
    const float *keys = from + (r->has_rank_last ? 0 : r->n_rank), *queries = keys + r->n_keys;
    vouch_row_norm(after + r->k, keys, &r->key_norm, r->n_keys, eps);
    vouch_row_norm(after + r->q, queries, &r->query_norm, r->n_keys, eps);
    vouch_row_norm(z, z, &r->rank_norm, r->n_rank, eps);
    put_input(c, &r->step, c->rates + rank, n, row, row + 1, 0, r->n_rank);
}

/* Mamba's keys, queries and rates depend on the convolution's result. */
static void stage_select(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    const int64_t n_rates = vouch_recurrent_n_rates(r);
    vouch_acts in = vouch_stage_acts(c, &c->inner_acts, c->n_rows, r->select.n_in);
    vouch_work work = vouch_pool_share(team, my->thread, r->select.n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work))
        vouch_stage_multiply(c, &r->select, &in, c->rates, work.begin, work.end, VOUCH_FROM_ZERO, NULL);
    vouch_pool_barrier(team, my->thread);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t row = mine.begin; row < mine.end; row++) split_selected(c, r, row);
    vouch_pool_barrier(team, my->thread);
    in = vouch_stage_acts(c, &c->inner_acts, c->n_rows, r->n_rank);
    work = vouch_pool_share(team, my->thread, r->step.n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) {
        const int64_t first = work.begin * VOUCH_TILE, last = work.end * VOUCH_TILE;
        const vouch_result rates = {c->recurrent + vouch_recurrent_rates(r), vouch_recurrent_row(r), VOUCH_TILE,
                                    VOUCH_FROM_ZERO, NULL};
        c->weights->kernels->matmul[r->step.type](&r->step, &in, rates, work.begin, work.end);
        for (int64_t row = 0; row < c->n_rows; row++)
            finish_mamba_rates(c, r, row, first, last < n_rates ? last : n_rates);
    }
    vouch_pool_barrier(team, my->thread);
}

/* ---------------------------------------------------------------------- scan */

/* inner = y * sigmoid(inner) */
static void gate_by_sigmoid(const vouch_workspace *c, float *inner, const float *y, int64_t n)
{
    c->weights->kernels->exp_weights(inner, inner, n, 0, -1);
    for (int64_t i = 0; i < n; i++) inner[i] = y[i] / (1.0f + inner[i]);
}

/* Overwrites a head's gate in a row of the pass with the gated result: y * silu(gate), in delta nets norm(y) *
 * silu(gate), and in some layers with sigmoid(gate) instead of silu(gate). Lightning attention keeps y in c->mixed. */
static void gate_result(const vouch_workspace *c, thread_space *my, const vouch_recurrent *r, int64_t row, int32_t head)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n = r->n_values, first = head * n;
    float *inner = c->inner + row * r->out.n_in + first;
    if (vouch_recurrent_is_wkv(r)) {
        vouch_wkv_finish(c, r, row, head, my->y);
        return;
    }
    if (r->kind == VOUCH_LIGHTNING) {
        memcpy(c->mixed + row * r->out.n_in + first, my->y, (size_t)n * sizeof *inner);
        return;
    }
    if (r->kind == VOUCH_DELTA_NET) {
        kernels->norm_part(my->y, my->squares, my->y, r->norm, n);
        kernels->scale(my->y, kernels->norm_factor(my->squares, n, c->weights->hparams.norm_eps), n);
    }
    if (r->has_sigmoid_gate) gate_by_sigmoid(c, inner, my->y, n);
    else kernels->swiglu(inner, my->y, n);
}

/* Normalises a row's groups of gated results. */
static void norm_groups(const vouch_workspace *c, thread_space *my, const vouch_recurrent *r, int64_t row)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n = r->out.n_in / r->n_key_heads;
    for (int64_t first = 0; first < r->out.n_in; first += n) {
        float *y = c->inner + row * r->out.n_in + first;
        kernels->norm_part(y, my->squares, y, r->norm + first, n);
        kernels->scale(y, kernels->norm_factor(my->squares, n, c->weights->hparams.norm_eps), n);
    }
}

/* Normalises a row's results, and gates them. */
static void norm_and_gate(const vouch_workspace *c, const vouch_recurrent *r, int64_t row)
{
    const int64_t n = r->out.n_in;
    const vouch_norm norm = {.kind = VOUCH_NORM_RMS, .weight = r->norm};
    float *y = c->mixed + row * n;
    vouch_row_norm(y, y, &norm, n, c->weights->hparams.norm_eps);
    gate_by_sigmoid(c, c->inner + row * n, y, n);
}

/* Updates a head's state by the row with this number. Rows of this pass get their result. */
static void step(const vouch_workspace *c, thread_space *my, const row_run *run, int32_t layer, int32_t head,
                 int32_t number, float *state)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    vouch_state_step(c->weights->kernels, r, head, state, vouch_workspace_input(c, run, layer, number), my->y);
    if (number >= run->first) gate_result(c, my, r, run->begin + (number - run->first), head);
}

/* Runs all rows of a run through one head. */
static void scan_head(const vouch_workspace *c, thread_space *my, const row_run *run, int32_t layer, int32_t head)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    const vouch_memory *m = run->memory;
    const vouch_layer_state *of = state_of(run, layer);
    const int64_t size = vouch_recurrent_head(r);
    const size_t bytes = (size_t)size * sizeof(float);
    float *state = vouch_layer_state_head(of, head);
    for (int32_t i = 0; i < m->states.n_pending; i++)
        vouch_state_step(c->weights->kernels, r, head, state, of->inputs + i * vouch_recurrent_inputs(r), my->y);
    for (int32_t number = run->first; number < 0; number++) step(c, my, run, layer, head, number, state);
    if (m->n_rows == 0) return;
    memcpy(my->states, state, bytes);
    for (int32_t i = 0; i < m->n_rows; i++) {
        const int32_t row = m->states.order[i], parent = m->parents[row], level = m->states.levels[row];
        float *mine = my->states + level * size;
        if (level > (parent < 0 ? 0 : m->states.levels[parent])) memcpy(mine, mine - size, bytes);
        step(c, my, run, layer, head, row, mine);
    }
}

/* Whether a norm sees several heads. */
static bool has_wide_norm(const vouch_recurrent *r)
{
    return (r->kind == VOUCH_MAMBA2 && r->norm) || r->kind == VOUCH_LIGHTNING;
}

/* True where a head is whole blocks of W_out's input, so that the thread that computed it can put it there. */
static bool heads_are_blocks(const vouch_recurrent *r)
{
    if (has_wide_norm(r)) return false;
    const vouch_matrix *const out = &r->out;
    return r->n_values % (vouch_stage_needs(&out, 1) & VOUCH_NEEDS_QUANTS ? VOUCH_BLOCK : 16) == 0;
}

static void stage_scan(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    const int64_t n_heads = r->n_heads, n_values = r->n_values;
    vouch_work work = vouch_pool_share(team, my->thread, c->n_runs * n_heads, 1);
    while (vouch_work_next(&work))
        for (int64_t i = work.begin; i < work.end; i++) {
            const row_run *run = &c->runs[i / n_heads];
            const int64_t head = i % n_heads;
            scan_head(c, my, run, layer, (int32_t)head);
            if (heads_are_blocks(r)) put_inner(c, r, run->begin, run->end, head * n_values, (head + 1) * n_values);
        }
    vouch_pool_barrier(team, my->thread);
    if (heads_are_blocks(r)) return;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t row = mine.begin; row < mine.end && has_wide_norm(r); row++) {
        if (r->kind == VOUCH_LIGHTNING) norm_and_gate(c, r, row);
        else norm_groups(c, my, r, row);
    }
    put_inner(c, r, mine.begin, mine.end, 0, r->out.n_in);
    vouch_pool_barrier(team, my->thread);
}

/* ---------------------------------------------------------------------- keep */

/* The floats [begin, end) of the last tokens' u become the convolution's last inputs. */
static void keep_tail(const vouch_workspace *c, const row_run *run, int32_t layer, int64_t begin, int64_t end)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    float *tail = state_of(run, layer)->state + r->n_heads * vouch_recurrent_head(r);
    if (run->memory->states.n_pending + row_run_n_kept(run) == 0) return;
    for (int32_t back = (int32_t)r->conv.width - 1; back >= 1; back--, tail += r->conv.n_channels) {
        const float *from = vouch_workspace_input(c, run, layer, -back);
        if (from != tail && begin < end) memmove(tail + begin, from + begin, (size_t)(end - begin) * sizeof *tail);
    }
}

void vouch_recurrent_keep(vouch_workspace *c, vouch_pool *team, const thread_space *my, int32_t layer)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    const int64_t n = vouch_recurrent_inputs(r), n_channels = r->conv.n_channels;
    const vouch_range mine = vouch_pool_divide(team, my->thread, n);
    for (const row_run *run = c->runs; run < c->runs + c->n_runs; run++) {
        keep_tail(c, run, layer, mine.begin, mine.end < n_channels ? mine.end : n_channels);
        for (int32_t number = run->first > 0 ? run->first : 0; number < run->memory->n_rows; number++)
            memcpy(state_of(run, layer)->inputs + number * n + mine.begin,
                   vouch_workspace_row(c, r, run->begin + (number - run->first)) + mine.begin,
                   (size_t)(mine.end - mine.begin) * sizeof(float));
    }
}

vouch_acts vouch_recurrent_mix(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_recurrent *r = recurrent_of(c, layer);
    if (vouch_recurrent_is_wkv(r)) {
        vouch_wkv_prepare(c, team, my, layer);
        stage_scan(c, team, my, layer);
        if (!c->weights->layers[layer].channel_mix.up_amount) vouch_recurrent_keep(c, team, my, layer);
        return vouch_stage_acts(c, &c->inner_acts, c->n_rows, r->out.n_in);
    }
    stage_project(c, team, my, layer);
    if (r->decay_low.n_out + r->gate_low.n_out > 0) stage_expand(c, team, my, layer);
    stage_convolve(c, team, my, layer);
    if (r->select.n_out > 0) stage_select(c, team, my, layer);
    if (r->n_heads > 0) stage_scan(c, team, my, layer);
    vouch_recurrent_keep(c, team, my, layer);
    return vouch_stage_acts(c, &c->inner_acts, c->n_rows, r->out.n_in);
}
