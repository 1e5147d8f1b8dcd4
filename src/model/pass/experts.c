/* SPDX-License-Identifier: MIT */
/*
 * A mixture of experts. Rows are grouped by expert, so an expert's weights are read once for all of its rows. A row and
 * one of its experts make an entry; the entries of an expert are adjacent. The shared network is one more expert, with
 * every row.
 *
 *   chosen    row 0: 7 2    row 1: 2 5              best first
 *   entries   | row 0, row 1 | row 1 | row 0 |  row 0, row 1  |
 *   works     |   expert 2   |   5   |   7   |     shared     |
 *
 *   route     scores = W_router norm(x), then each row's choice               barriers after both
 *   narrow    W_narrow x, where the chosen experts read it instead of x       barrier
 *   gather    the works; their rows of x side by side                         barriers after both
 *   gate      f(W_gate x) * W_up x of each work                               barrier
 *   mix       W_down gated of each work, times the entry's weight; then a row adds its entries, best first and the
 *             shared network last. In a narrow space the chosen experts' entries are added first, with barriers after
 *             the sum and after its norm; then mix adds W_widen of that and the shared network's entry
 *
 * Law L1 holds because an entry's numbers don't depend on the other entries, and a row adds its own in the order of its
 * own ranking.
 */
#include "model/pass/experts.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "model/router.h"
#include "model/stage/rows.h"
#include "model/stage/stream.h"

enum { UNIT = VOUCH_EXPERT_UNIT };
enum { NOBODY = -1 }; /* in the place of a chosen network, and of its entry */
_Static_assert(UNIT == VOUCH_STAGE_TILES * VOUCH_TILE, "a unit is a piece of a stage");

static const vouch_experts *experts_of(const vouch_workspace *c, int32_t layer)
{
    return &c->weights->layers[layer].experts;
}

/* --------------------------------------------------------------------- route */

/* Chooses the adjugates of a row's experts, each with the sum of its experts' weights. In the second half of `chosen`,
 * an adjugate takes the place of the best of its experts, and NOBODY takes the places of its other experts. */
static void choose_adjugates(const vouch_experts *e, int32_t *chosen, float *weights)
{
    for (int32_t k = 0; k < e->n_used; k++) {
        const int32_t adjugate = e->n_experts + chosen[k] / e->adjugates.per_group;
        int32_t at = e->n_used;
        while (at < e->n_used + k && chosen[at] != adjugate) at++;
        chosen[e->n_used + k] = at < e->n_used + k ? NOBODY : adjugate;
        weights[e->n_used + k] = 0;
        weights[at] += e->adjugates.scale * weights[k];
    }
}

/* Chooses each row's experts, best first, and computes the weight of its shared network. */
static void choose_rows(vouch_workspace *c, thread_space *my, const vouch_experts *e, int64_t begin, int64_t end)
{
    expert_space *s = &c->experts;
    for (int64_t r = begin; r < end; r++) {
        int32_t *chosen = s->chosen + r * vouch_experts_per_row(e);
        float *weights = s->weights + r * vouch_experts_per_row(e);
        vouch_router_choose(e, c->weights->kernels, s->scores + r * e->n_experts, my->ranks, chosen, weights);
        if (e->adjugates.per_group > 0) choose_adjugates(e, chosen, weights);
        s->shared[r] = e->shared_gate.n_out ? vouch_router_sigmoid(c->weights->kernels, s->shared[r]) : e->shared_scale;
    }
}

/* Makes the router's input: the layer's input without a norm, or x with the router's own norm. It lies in the buffer
 * that stage_gather fills later. */
static vouch_acts put_router_input(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_experts *e)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    const vouch_matrix *const router = &e->router;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    vouch_acts acts = vouch_stage_acts(c, &c->experts.in, c->n_rows, n_embd);
    const vouch_norm norm = {.kind = e->router_norm ? VOUCH_NORM_RMS : VOUCH_NORM_NONE, .weight = e->router_norm};
    for (int64_t r = mine.begin; r < mine.end; r++) {
        const float *x = (e->routes_early ? c->kept : c->x) + r * n_embd;
        vouch_row_norm(my->rows, x, &norm, n_embd, c->weights->hparams.norm_eps);
        if (e->router_norm) c->weights->kernels->scale(my->rows, 1.0f / sqrtf((float)n_embd), n_embd);
        vouch_stage_put(c, &acts, vouch_stage_needs(&router, 1), my->rows, n_embd, r, r + 1, 0, n_embd);
    }
    vouch_pool_barrier(team, my->thread);
    return acts;
}

static void stage_route(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_experts *e,
                        const vouch_acts *in)
{
    expert_space *s = &c->experts;
    const bool has_own = e->routes_early || e->router_norm;
    const vouch_acts routed = has_own ? put_router_input(c, team, my, e) : *in;
    const float *factors = has_own ? NULL : my->norms;
    vouch_work work = vouch_pool_share(team, my->thread, e->router.n_tiles, VOUCH_STAGE_TILES);
    if (my->thread == 0 && e->shared_gate.n_out)
        vouch_stage_multiply(c, &e->shared_gate, in, s->shared, 0, 1, VOUCH_FROM_ZERO, my->norms);
    while (vouch_work_next(&work))
        vouch_stage_multiply(c, &e->router, &routed, s->scores, work.begin, work.end, VOUCH_FROM_ZERO, factors);
    vouch_pool_barrier(team, my->thread);
    work = vouch_pool_share(team, my->thread, c->n_rows, 1);
    while (vouch_work_next(&work)) choose_rows(c, my, e, work.begin, work.end);
    vouch_pool_barrier(team, my->thread);
}

/* -------------------------------------------------------------------- narrow */

/* Makes W_narrow x the input of the experts. A thread's tiles are whole blocks of it. */
static vouch_acts stage_narrow(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_experts *e,
                               const vouch_acts *in)
{
    const vouch_matrix *const inputs[] = {&e->gate, &e->up};
    const int64_t n = e->narrow.n_out;
    vouch_acts acts = vouch_stage_acts(c, &c->experts.narrow_acts, c->n_rows, n);
    vouch_work work = vouch_pool_share(team, my->thread, e->narrow.n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) {
        const int64_t first = work.begin * VOUCH_TILE, last = work.end * VOUCH_TILE < n ? work.end * VOUCH_TILE : n;
        vouch_stage_multiply(c, &e->narrow, in, c->experts.narrow, work.begin, work.end, VOUCH_FROM_ZERO, my->norms);
        vouch_stage_put(c, &acts, vouch_stage_needs(inputs, 2), c->experts.narrow, n, 0, c->n_rows, first, last);
    }
    vouch_pool_barrier(team, my->thread);
    return acts;
}

/* -------------------------------------------------------------------- gather */

/* The place of n_rows rows of n_in inputs in `room`, whose rows are `width` wide, from row `first` on, as activations
 * of their own. */
static vouch_acts rows_from(const vouch_workspace *c, const vouch_acts *room, int64_t first, int64_t width,
                            int64_t n_rows, int64_t n_in)
{
    vouch_acts acts = vouch_stage_acts(c, room, n_rows, n_in);
    const int64_t blocks = first * (width / VOUCH_BLOCK);
    if (acts.q) acts.q += first * width;
    if (acts.d) acts.d += blocks;
    for (int i = 0; i < VOUCH_SUMS_COUNT; i++)
        if (acts.sums[i]) acts.sums[i] += blocks * vouch_sums_infos[i].runs;
    if (acts.x) acts.x += first * ((width + 15) / 16 * 16);
    return acts;
}

/* Numbers entries by expert: counting sort. */
static void sort_entries(const vouch_workspace *c, const vouch_experts *e)
{
    const expert_space *s = &c->experts;
    const int32_t per_row = vouch_experts_per_row(e), n = c->n_rows * per_row, n_networks = vouch_experts_n_networks(e);
    int32_t next = 0;
    memset(s->counts, 0, (size_t)n_networks * sizeof *s->counts);
    for (int32_t i = 0; i < n; i++)
        if (s->chosen[i] != NOBODY) s->counts[s->chosen[i]]++;
    for (int32_t i = 0; i < n_networks; i++) {
        const int32_t first = next;
        next += s->counts[i];
        s->counts[i] = first;
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t entry = s->chosen[i] == NOBODY ? NOBODY : s->counts[s->chosen[i]]++;
        s->entries[i] = entry;
        if (entry == NOBODY) continue;
        s->rows[entry] = i / per_row;
        s->down_factors[entry] = s->weights[i];
    }
    for (int32_t r = 0; r < c->n_rows; r++) {
        s->rows[n + r] = r;
        s->down_factors[n + r] = s->shared[r];
    }
}

/* The bias of one expert among those of all; NULL: none. */
static const float *bias_at(const float *biases, int32_t expert, int64_t n)
{
    return biases ? biases + expert * n : NULL;
}

/* An expert as a network, or an adjugate where `number` is beyond the experts. */
static vouch_feed_forward network_of(const vouch_experts *e, int32_t number, int64_t n_out)
{
    vouch_feed_forward f = {
        .activation = e->activation, .limit = e->limit, .limits_result = e->limits_result, .situ = e->situ};
    if (number >= e->n_experts) {
        const vouch_adjugates *a = &e->adjugates;
        f.n_ff = a->n_ff;
        f.gate = vouch_matrix_at(&a->gate, number - e->n_experts);
        f.up = vouch_matrix_at(&a->up, number - e->n_experts);
        f.down = vouch_matrix_at(&a->down, number - e->n_experts);
        return f;
    }
    f.n_ff = e->n_ff;
    f.gate = vouch_matrix_at(&e->gate, number);
    f.up = vouch_matrix_at(&e->up, number);
    f.down = vouch_matrix_at(&e->down, number);
    f.gate_after.bias = bias_at(e->gate_biases, number, e->n_ff);
    f.up_after.bias = bias_at(e->up_biases, number, e->n_ff);
    f.down_after.bias = bias_at(e->down_biases, number, n_out);
    return f;
}

/* Adds a work of this network with the entries [first, end). */
static void add_work(vouch_workspace *c, const thread_space *my, const vouch_experts *e, int32_t expert, int32_t first,
                     int32_t end)
{
    expert_space *s = &c->experts;
    expert_work *work = &s->works[s->n_works++];
    const bool is_narrow = e->narrow.n_out > 0;
    const int64_t n_in = is_narrow ? e->narrow.n_out : c->weights->hparams.n_embd, n = end - first;
    const int64_t width = vouch_max(e->n_ff, e->adjugates.n_ff);
    const float gate = e->gate_scales ? e->gate_scales[expert] : 1, up = e->up_scales ? e->up_scales[expert] : 1;
    const vouch_feed_forward ffn = network_of(e, expert, n_in);
    *work = (expert_work){.ffn = ffn,
                          .first = first,
                          .in = c->n_rows == 1 ? vouch_stage_acts(c, is_narrow ? &s->narrow_acts : &c->acts, 1, n_in)
                                               : rows_from(c, &s->in, first, n_in, n, n_in),
                          .gated = rows_from(c, &s->gated, first, width, n, ffn.n_ff),
                          .gate = s->gate + (int64_t)first * width,
                          .up = s->up + (int64_t)first * width,
                          .first_unit = s->n_units};
    s->n_units += (work->ffn.up.n_tiles + VOUCH_STAGE_TILES - 1) / VOUCH_STAGE_TILES;
    for (int32_t i = first; i < end; i++) {
        const float input = (is_narrow ? 1 : my->norms[s->rows[i]]) * (e->weighs_inputs ? s->down_factors[i] : 1);
        s->gate_factors[i] = input * gate;
        s->up_factors[i] = input * up;
        if (e->weighs_inputs) s->down_factors[i] = 1;
        if (e->down_scales) s->down_factors[i] *= e->down_scales[expert];
    }
}

static void add_shared_work(vouch_workspace *c, const thread_space *my, const vouch_experts *e, int32_t first)
{
    expert_space *s = &c->experts;
    s->works[s->n_works++] = (expert_work){.ffn = e->shared,
                                           .first = first,
                                           .in = vouch_stage_acts(c, &c->acts, c->n_rows, c->weights->hparams.n_embd),
                                           .gated = vouch_stage_acts(c, &c->gated_acts, c->n_rows, e->shared.n_ff),
                                           .gate = c->gate,
                                           .up = c->up,
                                           .first_unit = s->n_units};
    s->n_units += (e->shared.up.n_tiles + VOUCH_STAGE_TILES - 1) / VOUCH_STAGE_TILES;
    for (int32_t r = 0; r < c->n_rows; r++) {
        s->gate_factors[first + r] = s->up_factors[first + r] = my->norms[r];
        if (e->shared.down_after.scale) s->down_factors[first + r] *= *e->shared.down_after.scale;
    }
}

/* Lists the works of all experts that have rows. */
static void list_works(vouch_workspace *c, const thread_space *my, const vouch_experts *e)
{
    expert_space *s = &c->experts;
    s->n_works = 0;
    s->n_units = 0;
    sort_entries(c, e);
    for (int32_t i = 0, first = 0; i < vouch_experts_n_networks(e); first = s->counts[i++])
        if (s->counts[i] > first) add_work(c, my, e, i, first, s->counts[i]);
    if (e->shared.n_ff > 0) add_shared_work(c, my, e, c->n_rows * vouch_experts_per_row(e));
}

/* Copies elements of `size` bytes that lie `from_step` and `to_step` bytes apart. */
static inline void copy_steps(void *to, size_t to_step, const void *from, size_t from_step, int64_t n,
                              const size_t size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)to + (size_t)i * to_step, (const char *)from + (size_t)i * from_step, size);
}

/* Copies one row of activations, in the forms that `needs` asks for, from its group to another group. */
static void copy_row(const vouch_acts *to, int64_t to_row, const vouch_acts *from, int64_t from_row, vouch_needs needs)
{
    int64_t t, f;
    const vouch_group a = vouch_group_of(to, to_row, &t), b = vouch_group_of(from, from_row, &f);
    const int64_t blocks = from->n_in / VOUCH_BLOCK;
    if (needs & VOUCH_NEEDS_QUANTS) {
        copy_steps(a.q + t * VOUCH_BLOCK, (size_t)a.rows * VOUCH_BLOCK, b.q + f * VOUCH_BLOCK,
                   (size_t)b.rows * VOUCH_BLOCK, blocks, VOUCH_BLOCK);
        copy_steps(a.d + t, (size_t)a.rows * 4, b.d + f, (size_t)b.rows * 4, blocks, 4);
    }
    for (int i = 0; i < VOUCH_SUMS_COUNT; i++)
        if (needs >> i & 1)
            copy_steps(vouch_group_sums(to, &a, (vouch_sums)i) + t, (size_t)a.rows * 4,
                       vouch_group_sums(from, &b, (vouch_sums)i) + f, (size_t)b.rows * 4,
                       blocks * vouch_sums_infos[i].runs, 4);
    if (needs & VOUCH_NEEDS_FLOATS)
        copy_steps(a.x + t * 16, (size_t)a.rows * 64, b.x + f * 16, (size_t)b.rows * 64, (from->n_in + 15) / 16, 64);
}

static void stage_gather(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_experts *e,
                         const vouch_acts *in)
{
    expert_space *s = &c->experts;
    const vouch_matrix *const inputs[] = {&e->gate, &e->up};
    if (my->thread == 0) list_works(c, my, e);
    vouch_pool_barrier(team, my->thread);
    if (c->n_rows == 1) return;
    vouch_work work = vouch_pool_share(team, my->thread, s->n_works - (e->shared.n_ff > 0), 1);
    while (vouch_work_next(&work))
        for (const expert_work *one = s->works + work.begin; one < s->works + work.end; one++)
            for (int64_t i = 0; i < one->in.n_rows; i++)
                copy_row(&one->in, i, in, s->rows[one->first + i], vouch_stage_needs(inputs, 2));
    vouch_pool_barrier(team, my->thread);
}

/* ---------------------------------------------------------------------- gate */

/* Computes one unit of a work's gated values, as the input of W_down. */
static void compute_unit(const vouch_workspace *c, expert_work *one, int64_t unit)
{
    const expert_space *s = &c->experts;
    const vouch_feed_forward *f = &one->ffn;
    const vouch_matrix *const down = &f->down;
    const int64_t begin = unit * VOUCH_STAGE_TILES, n_tiles = f->up.n_tiles;
    const int64_t end = begin + VOUCH_STAGE_TILES < n_tiles ? begin + VOUCH_STAGE_TILES : n_tiles;
    const int64_t first = begin * VOUCH_TILE, last = end * VOUCH_TILE < f->n_ff ? end * VOUCH_TILE : f->n_ff;
    const bool has_gate = f->gate.n_out > 0;
    float *all_up = has_gate ? one->up : one->gate;
    if (has_gate)
        vouch_stage_multiply(c, &f->gate, &one->in, one->gate, begin, end, VOUCH_FROM_ZERO,
                             s->gate_factors + one->first);
    vouch_stage_multiply(c, &f->up, &one->in, all_up, begin, end, VOUCH_FROM_ZERO, s->up_factors + one->first);
    for (int64_t i = 0; i < one->in.n_rows; i++) {
        float *gate = one->gate + i * f->n_ff + first, *up = all_up + i * f->n_ff + first;
        if (has_gate) vouch_row_affine(gate, &f->gate_after, first, last - first);
        vouch_row_affine(up, &f->up_after, first, last - first);
        vouch_row_activate(c->weights->kernels, f, gate, has_gate ? up : NULL, last - first);
    }
    vouch_acts gated = one->gated;
    vouch_stage_put(c, &gated, vouch_stage_needs(&down, 1), one->gate, f->n_ff, 0, one->in.n_rows, first, last);
}

/* Computes units [begin, end). Units are numbered through all works, one work after the other. */
static void compute_units(const vouch_workspace *c, int64_t begin, int64_t end)
{
    const expert_space *s = &c->experts;
    int32_t i = s->n_works - 1;
    while (s->works[i].first_unit > begin) i--;
    for (int64_t unit = begin; unit < end; unit++) {
        while (i + 1 < s->n_works && s->works[i + 1].first_unit <= unit) i++;
        compute_unit(c, &s->works[i], unit - s->works[i].first_unit);
    }
}

/* ----------------------------------------------------------------------- mix */

/* parts [rows][UNIT] += the bias of the outputs [first, first + n), times each row's factor. */
static void add_biases(const expert_work *one, const float *factors, float *parts, int64_t first, int64_t n)
{
    const float *bias = one->ffn.down_after.bias + first;
    for (int64_t r = 0; r < one->in.n_rows; r++)
        for (int64_t i = 0; i < n; i++) parts[r * UNIT + i] += factors[r] * bias[i];
}

/* The tiles [tile, tile_end) of a branch's result, of at most UNIT outputs: y [rows][n_out]. */
typedef struct piece {
    float *y;
    int64_t tile, tile_end, n_out;
    vouch_start start;
} piece;

static int64_t outputs_of(const piece *p)
{
    return (p->tile_end * VOUCH_TILE < p->n_out ? p->tile_end * VOUCH_TILE : p->n_out) - p->tile * VOUCH_TILE;
}

/* The parts of the works [one, end). */
static void multiply_works(const vouch_workspace *c, const thread_space *my, const expert_work *one,
                           const expert_work *end, const piece *p)
{
    for (; one < end; one++) {
        const float *factors = c->experts.down_factors + one->first;
        float *parts = my->parts + one->first * UNIT;
        vouch_stage_multiply_piece(c, &one->ffn.down, &one->gated, parts, p->tile, p->tile_end, factors);
        if (one->ffn.down_after.bias) add_biases(one, factors, parts, p->tile * VOUCH_TILE, outputs_of(p));
    }
}

static void add_part(float *sum, const float *part)
{
    for (int i = 0; i < UNIT; i++) sum[i] += part[i];
}

/* sum [UNIT] = the parts of a row's chosen experts, best first; then those of their adjugates. */
static void sum_chosen(const vouch_workspace *c, const thread_space *my, const vouch_experts *e, int64_t row,
                       float *sum)
{
    const int32_t n = vouch_experts_per_row(e), *entries = c->experts.entries + row * n;
    memcpy(sum, my->parts + (int64_t)entries[0] * UNIT, UNIT * sizeof *sum);
    for (int32_t k = 1; k < n; k++)
        if (entries[k] != NOBODY) add_part(sum, my->parts + (int64_t)entries[k] * UNIT);
}

static void put_sum(const piece *p, int64_t row, const float *sum)
{
    float *y = p->y + row * p->n_out + p->tile * VOUCH_TILE;
    for (int64_t i = 0, n = outputs_of(p); i < n; i++) y[i] = p->start == VOUCH_FROM_Y ? y[i] + sum[i] : sum[i];
}

/* The works of chosen experts end here; the shared network's is after them. */
static const expert_work *chosen_end(const vouch_workspace *c, const vouch_experts *e)
{
    return c->experts.works + c->experts.n_works - (e->shared.n_ff > 0);
}

/* Makes the norm of the chosen experts' sum the input of W_widen. */
static void stage_widen(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_experts *e)
{
    const vouch_matrix *const widen = &e->widen;
    const int64_t n = e->narrow.n_out;
    float *narrow = c->experts.narrow, sum[UNIT];
    vouch_work work = vouch_pool_share(team, my->thread, e->narrow.n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work))
        for (int64_t tile = work.begin; tile < work.end; tile += VOUCH_STAGE_TILES) {
            const int64_t past = tile + VOUCH_STAGE_TILES < work.end ? tile + VOUCH_STAGE_TILES : work.end;
            const piece p = {.y = narrow, .tile = tile, .tile_end = past, .n_out = n, .start = VOUCH_FROM_ZERO};
            multiply_works(c, my, c->experts.works, chosen_end(c, e), &p);
            for (int64_t r = 0; r < c->n_rows; r++) {
                sum_chosen(c, my, e, r, sum);
                put_sum(&p, r, sum);
            }
        }
    vouch_pool_barrier(team, my->thread);
    vouch_acts acts = vouch_stage_acts(c, &c->experts.narrow_acts, c->n_rows, n);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float *row = narrow + r * n;
        vouch_row_norm(row, row, &e->narrow_norm, n, c->weights->hparams.norm_eps);
        vouch_stage_put(c, &acts, vouch_stage_needs(&widen, 1), row, n, r, r + 1, 0, n);
    }
    vouch_pool_barrier(team, my->thread);
}

void vouch_experts_gate(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_experts *e = experts_of(c, layer);
    const bool is_narrow = e->narrow.n_out > 0;
    const stream_reader me = vouch_stream_reader_experts(c, layer);
    const vouch_acts in = vouch_stream_receive(c, team, my, &me);
    stage_route(c, team, my, e, &in);
    const vouch_acts chosen_in = is_narrow ? stage_narrow(c, team, my, e, &in) : in;
    stage_gather(c, team, my, e, &chosen_in);
    vouch_work work = vouch_pool_share(team, my->thread, c->experts.n_units, 1);
    while (vouch_work_next(&work)) compute_units(c, work.begin, work.end);
    vouch_pool_barrier(team, my->thread);
    if (is_narrow) stage_widen(c, team, my, e);
}

/* y = or += one row's sum of chosen experts and shared network. With a narrow space the former is W_widen's part. */
static void add_entries(const vouch_workspace *c, const thread_space *my, const vouch_experts *e, int64_t row,
                        const piece *p)
{
    float sum[UNIT];
    if (e->narrow.n_out > 0) memcpy(sum, my->parts + row * UNIT, sizeof sum);
    else sum_chosen(c, my, e, row, sum);
    if (e->shared.n_ff > 0) add_part(sum, my->parts + ((int64_t)c->n_rows * vouch_experts_per_row(e) + row) * UNIT);
    put_sum(p, row, sum);
}

void vouch_experts_mix(vouch_workspace *c, thread_space *my, int32_t layer, float *y, int64_t begin, int64_t end,
                       vouch_start start)
{
    const vouch_experts *e = experts_of(c, layer);
    const expert_space *s = &c->experts;
    const bool is_narrow = e->narrow.n_out > 0;
    const vouch_acts narrow = vouch_stage_acts(c, &s->narrow_acts, c->n_rows, e->narrow.n_out);
    for (int64_t tile = begin; tile < end; tile += VOUCH_STAGE_TILES) {
        const int64_t past = tile + VOUCH_STAGE_TILES < end ? tile + VOUCH_STAGE_TILES : end;
        const piece p = {y, tile, past, c->weights->hparams.n_embd, start};
        if (is_narrow) vouch_stage_multiply_piece(c, &e->widen, &narrow, my->parts, tile, past, NULL);
        multiply_works(c, my, is_narrow ? chosen_end(c, e) : s->works, s->works + s->n_works, &p);
        for (int64_t r = 0; r < c->n_rows; r++) add_entries(c, my, e, r, &p);
    }
}
