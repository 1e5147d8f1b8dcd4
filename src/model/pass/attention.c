/* SPDX-License-Identifier: MIT */
/*
 * Attention over paged keys and values.
 *
 * A row sees the tokens of its sequence and its own path among the provisional rows:
 *
 *   slot    0 .......................... n_tokens ........................ n_tokens + n_rows
 *           tokens: every row sees all   provisional rows: a row sees its path, itself last
 *   page    |   0   |   1   |   2   |   3   |
 *
 * Law L1 holds because a row's keys are walked in this order, whichever rows share the pass and wherever the pages lie:
 *
 *   scores   a score is one dot product of a query and a key
 *   softmax  over the row's own keys, side by side
 *   values   each output is one ascending chain of additions over the row's keys. A page continues the sum that the
 *            page before it left (VOUCH_FROM_Y), so a chain is the same whatever the size of a page.
 *
 * A window hides a row's first keys. Their weight is 0, which changes no sum, so whole pages that no row of a unit sees
 * are left out.
 *
 * Softmax, scaled dot products: Vaswani et al., arXiv 1706.03762.
 */
#include "model/pass/attention.h"

#include <string.h>

#include "base/angle.h"
#include "model/pass/latent.h"
#include "model/stage/affine.h"
#include "model/stage/rows.h"
#include "model/stage/stream.h"

/* The score of a key outside the window: its weight is 0. */
#define VOUCH_UNSEEN -1e30f

static const vouch_attention *attention_of(const vouch_workspace *c, int32_t layer)
{
    return &c->weights->layers[layer].attention;
}

/* Columns of attention's result in a row. */
static int64_t mixed_width(const vouch_attention *a)
{
    return (int64_t)a->n_heads * a->value_dim;
}

static bool is_joint(vouch_head_norm norm)
{
    return norm == VOUCH_HEADS_RMS || norm == VOUCH_HEADS_LAYER;
}

static bool has_joint_norm(const vouch_attention *a)
{
    return is_joint(a->head_norm) && (a->q_norm || a->k_norm);
}

/* -------------------------------------------------------------- keys and values */

static void normalise_head(const vouch_workspace *c, thread_space *my, const vouch_attention *a, float *head,
                           const float *norm, int64_t i)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const float eps = c->weights->hparams.norm_eps;
    if (vouch_head_norm_is_own(a->head_norm)) norm += i * a->head_dim;
    if (a->head_norm == VOUCH_HEAD_LAYER) {
        const vouch_norm layer_norm = {.kind = VOUCH_NORM_LAYER, .weight = norm};
        vouch_row_norm(head, head, &layer_norm, a->head_dim, eps);
    } else {
        kernels->norm_part(head, my->squares, head, norm, a->head_dim);
        kernels->scale(head, kernels->norm_factor(my->squares, a->head_dim, eps), a->head_dim);
    }
}

/* Normalises head i of a row, where the layer has a norm for single heads, and rotates it. */
static void rotate_head(const vouch_workspace *c, thread_space *my, const vouch_attention *a, float *head,
                        const float *norm, int64_t i, int64_t row)
{
    const bool is_late = a->head_norm == VOUCH_HEAD_RMS_LATE;
    if (a->head_norm == VOUCH_HEAD_RMS_GAIN) {
        const vouch_norm bare = {.kind = VOUCH_NORM_RMS};
        vouch_stage_rotate(c, a->rotary, head, row);
        vouch_row_norm(head, head, &bare, a->head_dim, c->weights->hparams.norm_eps);
        if (norm) c->weights->kernels->scale(head, norm[i], a->head_dim);
        return;
    }
    if (is_joint(a->head_norm)) norm = NULL; /* done by normalise_heads */
    if (norm && !is_late) normalise_head(c, my, a, head, norm, i);
    vouch_stage_rotate(c, a->rotary, head, row);
    if (norm && is_late) normalise_head(c, my, a, head, norm, i);
}

/* Writes the keys of the KV heads [begin, end) of all rows to the cache. */
static void store_keys(vouch_workspace *c, thread_space *my, int32_t layer, int64_t begin, int64_t end)
{
    const vouch_attention *a = attention_of(c, layer);
    for (int64_t i = begin; i < end; i++)
        for (int64_t r = 0; r < c->n_rows; r++) {
            const row_slot *to = &c->slots[r];
            vouch_matrix keys = vouch_page_keys(to->store, to->page, layer, (int32_t)i);
            float *head = c->k + (r * a->n_kv_heads + i) * a->head_dim;
            rotate_head(c, my, a, head, a->k_norm, i, r);
            c->weights->kernels->set_row(&keys, to->slot, head);
        }
}

static void store_values(vouch_workspace *c, int32_t layer, int64_t begin, int64_t end)
{
    const vouch_attention *a = attention_of(c, layer);
    const vouch_norm norm = {.kind = VOUCH_NORM_RMS};
    for (int64_t i = begin; i < end; i++)
        for (int64_t r = 0; r < c->n_rows; r++) {
            const row_slot *to = &c->slots[r];
            vouch_matrix values = vouch_page_values(to->store, to->page, layer, (int32_t)i);
            float *value = c->v + (r * a->n_kv_heads + i) * a->value_dim;
            if (a->has_value_norm) vouch_row_norm(value, value, &norm, a->value_dim, c->weights->hparams.norm_eps);
            c->weights->kernels->set_column(&values, to->slot, value);
        }
}

/* The smallest number of heads whose keys and values fill whole tiles, so that no two threads write to one tile. */
static int64_t heads_per_unit(const vouch_attention *a)
{
    int64_t heads = 1;
    while (heads * a->head_dim % VOUCH_TILE != 0 || heads * a->value_dim % VOUCH_TILE != 0) heads *= 2;
    return heads;
}

/* Computes the tiles [begin, end) of q, k or v. */
static void project(const vouch_workspace *c, const thread_space *my, const vouch_attention *a, const vouch_matrix *w,
                    const vouch_affine *after, const vouch_acts *acts, float *y, int64_t begin, int64_t end)
{
    const int64_t first = begin * VOUCH_TILE, last = end * VOUCH_TILE < w->n_out ? end * VOUCH_TILE : w->n_out;
    vouch_stage_multiply(c, w, acts, y, begin, end, VOUCH_FROM_ZERO, my->norms);
    vouch_stage_affine(c, my, after, y, w->n_out, begin, end);
    for (int64_t r = 0; a->clamp > 0 && r < c->n_rows; r++)
        vouch_row_clamp(y + r * w->n_out + first, a->clamp, last - first);
}

/* Computes the units [begin, end) of k or v, of heads_per_unit heads each, and stores them in the cache. */
static void compute_kv(vouch_workspace *c, thread_space *my, const vouch_acts *acts, int32_t layer, bool is_key,
                       int64_t begin, int64_t end)
{
    if (begin >= end) return;
    const vouch_attention *a = attention_of(c, layer);
    const int64_t width = is_key ? a->head_dim : a->value_dim, per_unit = heads_per_unit(a), first = begin * per_unit;
    const int64_t past = end * per_unit < a->n_kv_heads ? end * per_unit : a->n_kv_heads;
    project(c, my, a, is_key ? &a->k : &a->v, is_key ? &a->k_after : &a->v_after, acts, is_key ? c->k : c->v,
            first * width / VOUCH_TILE, (past * width + VOUCH_TILE - 1) / VOUCH_TILE);
    if (!is_key) store_values(c, layer, first, past);
    else if (!has_joint_norm(a)) store_keys(c, my, layer, first, past);
}

/* Normalises all heads of a row together. This needs whole rows of q and k, so keys are stored only afterwards. */
static void normalise_heads(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_attention *a = attention_of(c, layer);
    const int64_t n_q = a->q.n_out, n_k = a->k.n_out;
    const float eps = c->weights->hparams.norm_eps;
    const vouch_norm_kind kind = a->head_norm == VOUCH_HEADS_LAYER ? VOUCH_NORM_LAYER : VOUCH_NORM_RMS;
    const vouch_norm q_norm = {.kind = kind, .weight = a->q_norm}, k_norm = {.kind = kind, .weight = a->k_norm};
    vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        if (a->q_norm) vouch_row_norm(c->q + r * n_q, c->q + r * n_q, &q_norm, n_q, eps);
        if (a->k_norm) vouch_row_norm(c->k + r * n_k, c->k + r * n_k, &k_norm, n_k, eps);
    }
    vouch_pool_barrier(team, my->thread);
    mine = vouch_pool_divide(team, my->thread, a->n_kv_heads);
    store_keys(c, my, layer, mine.begin, mine.end);
    vouch_pool_barrier(team, my->thread);
}

/* Each thread computes an even part of k and v. Tiles of q may go to any thread, because the next stage finishes q. */
void vouch_attention_project(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_attention *a = attention_of(c, layer);
    if (a->latent.rank > 0) {
        vouch_latent_project(c, team, my, layer);
        return;
    }
    const int64_t per_unit = heads_per_unit(a), n_kv_heads = vouch_attention_has_keys(a) ? a->n_kv_heads : 0;
    const int64_t n_units = (n_kv_heads + per_unit - 1) / per_unit;
    const stream_reader me = vouch_stream_reader_mix(c, layer);
    vouch_work work = vouch_pool_share(team, my->thread, a->q.n_tiles, VOUCH_STAGE_TILES);
    const vouch_acts acts = vouch_stream_receive(c, team, my, &me);
    const vouch_affine *const after[] = {&a->q_after, &a->k_after, &a->v_after};
    vouch_lora_reduce(c, team, my, after, 3, &acts, my->norms);
    const vouch_range mine = vouch_pool_divide(team, my->thread, 2 * n_units);
    compute_kv(c, my, &acts, layer, true, mine.begin, mine.end < n_units ? mine.end : n_units);
    compute_kv(c, my, &acts, layer, false, mine.begin < n_units ? 0 : mine.begin - n_units, mine.end - n_units);
    while (vouch_work_next(&work)) project(c, my, a, &a->q, &a->q_after, &acts, c->q, work.begin, work.end);
    if (a->gate.n_out > 0) {
        const vouch_range gates = vouch_pool_divide(team, my->thread, a->gate.n_tiles);
        vouch_stage_multiply(c, &a->gate, &acts, c->gates, gates.begin, gates.end, VOUCH_FROM_ZERO, my->norms);
    }
    vouch_pool_barrier(team, my->thread);
    if (has_joint_norm(a)) normalise_heads(c, team, my, layer);
}

/* --------------------------------------------------------------------- attention */

/* A unit: the queries [begin, end) of one KV head and one sequence's rows, at most `group_rows` of them. Query i is of
 * row run->begin + i / group and head i % group of the KV head's group. The kernels see one group of activations:
 *
 *     scores [slots / 16][queries][16]   score of query i and slot j, later its softmax weight
 */
typedef struct unit {
    const vouch_attention *a;
    const row_run *run;
    int64_t begin, end, group;
    int32_t layer, kv_head; /* of its keys and values */
    int64_t n_shared;       /* slots [0, n_shared): all its rows see them */
    int64_t n_hidden;       /* slots [0, n_hidden), whole pages: no row sees them through its window */
    float *scores;
    int64_t chunk; /* floats of 16 slots of all its queries */
} unit;

static float *score_at(const unit *u, int64_t query, int64_t slot)
{
    return u->scores + slot / 16 * u->chunk + (query - u->begin) * 16 + slot % 16;
}

/* The number of a query in its pass; c->mixed is [queries][value_dim]. */
static int64_t number_of(const unit *u, int64_t query)
{
    const int64_t row = u->run->begin + query / u->group;
    return row * u->a->n_heads + u->kv_head * u->group + query % u->group;
}

/* A query; its gate lies after it where there is one. */
static float *query_of(const vouch_workspace *c, const unit *u, int64_t query)
{
    return c->q + number_of(u, query) * u->a->head_dim * (u->a->is_gated ? 2 : 1);
}

/* Slots that row i of the run sees beyond the shared ones, ascending; its own is the last. */
static int64_t own_slots(const unit *u, int64_t i, int32_t *slots)
{
    if (u->run->n_open > 0) return 0;
    const vouch_memory *m = u->run->memory;
    const int32_t row = u->run->first + (int32_t)i;
    const int64_t last = m->n_tokens + (row < 0 || u->run->is_chain ? row : m->depths[row]); /* its position */
    const int64_t n = last + 1 - u->n_shared;
    int32_t r = row;
    for (int64_t at = n - 1; at >= 0; at--, r = u->run->is_chain ? r - 1 : row_run_parent(u->run, r))
        slots[at] = m->n_tokens + r;
    return n;
}

/* Factor of the queries at a position: attention temperature (layer.h, `heat`). */
static float heat_of(const vouch_attention *a, int32_t position)
{
    if (a->heat == 0) return 1;
    const int64_t lengths = ((int64_t)position + a->heat_shift) / a->heat_length;
    return (float)(1 + (double)a->heat * vouch_ln(1 + (double)lengths));
}

/* Computes the scores of all slots that some row of the unit sees. The unit alone uses its queries, so it normalises,
 * rotates and scales them. Queries of latent attention are rotated already (latent.c). */
static void score_keys(const vouch_workspace *c, thread_space *my, const unit *u)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const vouch_memory *m = u->run->read;
    const int64_t page_size = m->store->page_size;
    const vouch_matrix *const shape = &m->store->layers[u->layer].keys;
    const vouch_needs need = vouch_stage_needs(&shape, 1);
    vouch_acts queries = vouch_stage_acts(c, &my->queries, u->end - u->begin, u->a->head_dim);
    for (int64_t i = u->begin; i < u->end; i++) {
        float *query = query_of(c, u, i);
        const int64_t row = u->run->begin + i / u->group;
        if (u->a->latent.rank == 0)
            rotate_head(c, my, u->a, query, u->a->q_norm, u->kv_head * u->group + i % u->group, row);
        kernels->scale(query, u->a->scale * heat_of(u->a, c->slots[row].position), u->a->head_dim);
        vouch_stage_put(c, &queries, need, query, 0, i - u->begin, i - u->begin + 1, 0, u->a->head_dim);
    }
    const int64_t n_own = m->n_tokens + u->run->first + (u->end - 1) / u->group + 1;
    const int64_t n_slots = u->run->n_open > 0 ? u->run->n_open : n_own;
    for (int64_t slot = u->n_hidden; slot < n_slots; slot += page_size) {
        const vouch_matrix keys = vouch_page_keys(m->store, m->pages[slot / page_size], u->layer, u->kv_head);
        const int64_t n = n_slots - slot < page_size ? n_slots - slot : page_size;
        const vouch_result scores = {u->scores + slot / 16 * u->chunk, 16, u->chunk, VOUCH_FROM_ZERO, NULL};
        kernels->matmul[keys.type](&keys, &queries, scores, 0, (n + VOUCH_TILE - 1) / VOUCH_TILE);
    }
}

/* The window of a row at this position hides this many of the first keys. */
static int64_t n_hidden_of(const vouch_attention *a, int64_t position)
{
    if (a->window == 0) return 0;
    if (a->has_chunks) return position / a->window * a->window;
    return position >= a->window ? position + 1 - a->window : 0;
}

/* ALiBi's slope of a head. n is the largest power of two up to the number of heads. Heads below n have powers of
 * 2^(-alibi / n); the slopes of the others lie between these. */
static float slope_of(const vouch_attention *a, int64_t head)
{
    int64_t n = 1;
    while (2 * n <= a->n_heads) n *= 2;
    return (float)(head < n ? vouch_power(2, -(double)a->alibi * (double)(head + 1) / (double)n)
                            : vouch_power(2, -(double)a->alibi / 2 * (double)(2 * (head - n) + 1) / (double)n));
}

/* Applies softcap, ALiBi, window and sink to a query's scores, one for each of n keys in the order of positions. */
static void shape_scores(const vouch_workspace *c, const unit *u, int64_t query, int64_t n)
{
    const vouch_attention *a = u->a;
    const int64_t position = c->slots[u->run->begin + query / u->group].position;
    const int64_t head = u->kv_head * u->group + query % u->group, hidden = n_hidden_of(a, position);
    const float slope = a->alibi > 0 ? slope_of(a, head) : 0;
    for (int64_t at = u->n_hidden; at < n; at += 16) {
        float *scores = score_at(u, query, at);
        const int64_t part = n - at < 16 ? n - at : 16;
        if (a->softcap > 0) vouch_row_softcap(c->weights->kernels, scores, a->softcap, part);
        for (int64_t i = 0; slope > 0 && i < part; i++) scores[i] -= slope * (float)(position - at - i);
        for (int64_t i = 0; i < part && at + i < hidden; i++) scores[i] = VOUCH_UNSEEN;
    }
    if (a->sinks) *score_at(u, query, n) = a->sinks[head];
}

/* Sorts each query's scores by the positions of its keys, and replaces them by exp(score - maximum). my->factors gets
 * 1 / their sum, so the product is the softmax. A sink counts as one more key. */
static void weigh_keys(const vouch_workspace *c, thread_space *my, const unit *u)
{
    const vouch_attention *a = u->a;
    const bool is_shaped = a->softcap > 0 || a->alibi > 0 || a->window > 0 || a->sinks;
    int64_t n_own = 0;
    for (int64_t i = u->begin; i < u->end; i++) {
        if (i == u->begin || i % u->group == 0) n_own = own_slots(u, i / u->group, my->slots);
        for (int64_t j = 0; !u->run->is_chain && j < n_own; j++) /* a chain's slots are sorted */
            *score_at(u, i, u->n_shared + j) = *score_at(u, i, my->slots[j]);
        const int64_t n = u->n_shared + n_own;
        if (is_shaped) shape_scores(c, u, i, n);
        const float sum =
            c->weights->kernels->softmax(score_at(u, i, u->n_hidden), u->chunk, n - u->n_hidden + (a->sinks != NULL));
        my->factors[i - u->begin] = 1.0f / sum;
    }
}

/* Computes the weighted sums of values: over the shared slots for all queries at once, page by page, then over each
 * row's own slots. */
static void mix_values(const vouch_workspace *c, thread_space *my, const unit *u)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const vouch_memory *m = u->run->read;
    const int64_t width = u->a->value_dim, page_size = m->store->page_size;
    int64_t slot = u->n_hidden;
    do {
        vouch_matrix values = vouch_page_values(m->store, m->pages[slot / page_size], u->layer, u->kv_head);
        values.n_in = u->n_shared - slot < page_size ? u->n_shared - slot : page_size;
        vouch_acts weights = vouch_stage_acts(c, &my->scores, u->end - u->begin, values.n_in);
        weights.x += slot / 16 * u->chunk;
        const vouch_start start = slot == u->n_hidden ? VOUCH_FROM_ZERO : VOUCH_FROM_Y;
        const vouch_result mixed = {my->mixed, width, VOUCH_TILE, start, NULL};
        kernels->mix[values.type](&values, &weights, mixed, 0, values.n_tiles);
        slot += page_size;
    } while (slot < u->n_shared);
    vouch_matrix values;
    int64_t page = -1; /* of `values` */
    for (int64_t i = u->begin, past; i < u->end; i = past) {
        past = (i / u->group + 1) * u->group < u->end ? (i / u->group + 1) * u->group : u->end;
        const int64_t n_own = own_slots(u, i / u->group, my->slots);
        for (int64_t j = 0; j < n_own; j++) {
            const int64_t own = my->slots[j];
            if (own / page_size != page) {
                page = own / page_size;
                values = vouch_page_values(m->store, m->pages[page], u->layer, u->kv_head);
            }
            kernels->add_column(&values, own - page * page_size, score_at(u, i, u->n_shared + j), 16,
                                my->mixed + (i - u->begin) * width, width, past - i);
        }
    }
}

/* True where a head is whole blocks of W_o's input, so that the thread that mixed it can put it there. A norm has to
 * see all heads first. */
static bool heads_are_blocks(const vouch_attention *a)
{
    const vouch_matrix *const o = &a->o;
    return !a->o_norm && a->value_dim % (vouch_stage_needs(&o, 1) & VOUCH_NEEDS_QUANTS ? VOUCH_BLOCK : 16) == 0;
}

/* Puts the columns [first, last) of mixed rows [begin, end) into the input of W_o. */
static void put_mixed(const vouch_workspace *c, const vouch_attention *a, int64_t begin, int64_t end, int64_t first,
                      int64_t last)
{
    const int64_t width = mixed_width(a);
    vouch_acts acts = vouch_stage_acts(c, &c->mixed_acts, c->n_rows, width);
    vouch_stage_put(c, &acts, vouch_stage_end_needs(&a->o, &a->o_after), c->mixed + begin * width, width, begin, end,
                    first, last);
}

/* mixed = mixed * sigmoid(gates), or softplus(gates), in the result of a query; overwrites the gates. */
static void gate_head(const vouch_workspace *c, const unit *u, int64_t query, float *mixed)
{
    const vouch_attention *a = u->a;
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n = a->is_gated ? a->value_dim : a->gate.n_out / a->n_heads, step = n > 1;
    float *gates = a->is_gated ? query_of(c, u, query) + a->head_dim : c->gates + number_of(u, query) * n;
    if (a->has_softplus) kernels->softplus(gates, n);
    else kernels->exp_weights(gates, gates, n, 0, -1);
    for (int64_t i = 0; i < a->value_dim; i++)
        mixed[i] = a->has_softplus ? mixed[i] * gates[i * step] : mixed[i] / (1.0f + gates[i * step]);
}

static void attend(vouch_workspace *c, thread_space *my, const unit *u)
{
    const int64_t width = u->a->value_dim, all = mixed_width(u->a);
    score_keys(c, my, u);
    weigh_keys(c, my, u);
    mix_values(c, my, u);
    for (int64_t i = u->begin; i < u->end; i++) {
        float *mixed = my->mixed + (i - u->begin) * width;
        c->weights->kernels->scale(mixed, my->factors[i - u->begin], width);
        if (u->a->is_gated || (u->a->gate.n_out > 0 && !vouch_latent_has_wide_gates(u->a))) gate_head(c, u, i, mixed);
        memcpy(c->mixed + number_of(u, i) * width, mixed, (size_t)width * sizeof *mixed);
    }
    if (u->a->latent.rank > 0 || !heads_are_blocks(u->a)) return;
    /* Complete rows together, partial rows one by one. */
    for (int64_t i = u->begin, past; i < u->end; i = past) {
        const int64_t row = u->run->begin + i / u->group, left = (i / u->group + 1) * u->group - i;
        const int64_t n_rows = left == u->group && u->end - i > left ? (u->end - i) / u->group : 1;
        past = i + n_rows * left < u->end ? i + n_rows * left : u->end;
        const int64_t first = number_of(u, i) * width - row * all;
        put_mixed(c, u->a, row, row + n_rows, first, first + (past - i) / n_rows * width);
    }
}

/* Slots in whole pages that the window hides from every row of the unit, which are those that it hides from the unit's
 * lowest position. Where all rows see the same slots, that is the first row's position, otherwise n_shared. */
static int64_t hidden_slots(const vouch_workspace *c, const unit *u)
{
    const int64_t page_size = u->run->read->store->page_size;
    const int64_t first = u->run->n_open > 0 ? c->slots[u->run->begin + u->begin / u->group].position : u->n_shared;
    return n_hidden_of(u->a, first) / page_size * page_size;
}

/* Computes attention for the queries [begin, end) of one sequence, which are ordered by KV head, then row, then
 * head. */
static void attend_run(vouch_workspace *c, thread_space *my, int32_t layer, const row_run *run, int64_t begin,
                       int64_t end)
{
    const vouch_attention *a = attention_of(c, layer);
    const int64_t group = a->n_heads / a->n_kv_heads, per_head = (run->end - run->begin) * group;
    const int64_t most = c->weights->kernels->group_rows;
    while (begin < end) {
        const int64_t first = begin / per_head * per_head, past = first + per_head < end ? first + per_head : end;
        const int64_t n_units = (past - begin + most - 1) / most;
        const int64_t unit_end = begin + (past - begin + n_units - 1) / n_units;
        unit u = {.a = a,
                  .run = run,
                  .begin = begin - first,
                  .end = unit_end - first,
                  .group = group,
                  .layer = a->lender > 0 ? a->lender - 1 : layer - a->shared_back};
        u.kv_head = (int32_t)(first / per_head);
        u.n_shared = run->memory->n_tokens - row_run_n_kept(run);
        if (run->is_chain) u.n_shared = run->memory->n_tokens + run->first + u.begin / group;
        if (run->n_open > 0) u.n_shared = run->n_open;
        u.n_hidden = hidden_slots(c, &u);
        u.scores = my->scores.x;
        u.chunk = (u.end - u.begin) * 16;
        attend(c, my, &u);
        begin = unit_end;
    }
}

static void attend_range(vouch_workspace *c, thread_space *my, int32_t layer, int64_t begin, int64_t end)
{
    const int64_t n_heads = attention_of(c, layer)->n_heads;
    for (const row_run *run = c->runs; run < c->runs + c->n_runs; run++) {
        const int64_t first = run->begin * n_heads, past = run->end * n_heads;
        if (first < end && past > begin)
            attend_run(c, my, layer, run, (begin > first ? begin : first) - first, (end < past ? end : past) - first);
    }
}

/* A key is loaded once for all queries of a unit, so units are as large as possible. With few rows of one sequence each
 * thread takes one range of queries. With several sequences the pieces are whole groups. */
static void attend_all(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_attention *a = attention_of(c, layer);
    const int64_t n_queries = (int64_t)c->n_rows * a->n_heads, group = a->n_heads / a->n_kv_heads;
    int64_t grain = c->weights->kernels->group_rows;
    if (c->n_runs == 1 && c->n_rows <= VOUCH_FEW_ROWS) {
        const vouch_range mine = vouch_pool_divide(team, my->thread, n_queries);
        attend_range(c, my, layer, mine.begin, mine.end);
        return;
    }
    if (c->n_runs > 1 && group < grain) grain -= grain % group;
    vouch_work work = vouch_pool_share(team, my->thread, n_queries, grain);
    while (vouch_work_next(&work)) attend_range(c, my, layer, work.begin, work.end);
}

vouch_acts vouch_attention_mix(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_attention *a = attention_of(c, layer);
    attend_all(c, team, my, layer);
    vouch_pool_barrier(team, my->thread);
    if (a->latent.rank > 0) return vouch_latent_expand(c, team, my, layer);
    if (!heads_are_blocks(a)) {
        const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
        const vouch_norm norm = {.kind = VOUCH_NORM_RMS, .weight = a->o_norm};
        for (int64_t r = mine.begin; a->o_norm && r < mine.end; r++) {
            float *mixed = c->mixed + r * mixed_width(a);
            vouch_row_norm(mixed, mixed, &norm, mixed_width(a), c->weights->hparams.norm_eps);
        }
        put_mixed(c, a, mine.begin, mine.end, 0, mixed_width(a));
        vouch_pool_barrier(team, my->thread);
    }
    return vouch_stage_acts(c, &c->mixed_acts, c->n_rows, mixed_width(a));
}
