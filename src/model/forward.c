/* SPDX-License-Identifier: MIT */
/*
 * The forward pass of a decoder-only transformer, for n rows at once. One run of the thread team; every thread
 * executes forward_on_thread, taking pieces of each stage, with a barrier between stages:
 *
 *   x = embedding[token]                                              [n, n_embd]
 *   for each layer
 *     1 heads    q, k, v = W norm(x); k normalised and rotated; k, v into the cache
 *     2 attend   q normalised and rotated; mixed = softmax(q k) v, by rows and heads
 *     3 output   x += W_o mixed
 *     4 ffn      gate = silu(W_gate norm(x)) * W_up norm(x)
 *     5 down     x += W_down gate
 *   logits = W_head norm(x), of the rows asked for
 *
 * Law L1 holds because no kernel mixes rows and every row is given the same operations in the same order:
 * attention walks a row's keys by their place in its sequence, first the cache's slots, then its ancestors
 * among the rows of this pass, itself last, whichever rows share the pass.
 *
 * RMSNorm: arXiv 1910.07467. RoPE: 2104.09864. Grouped queries: 2305.13245. SwiGLU: 2002.05202.
 */
#include <string.h>

#include "base/angle.h"
#include "model/context_internal.h"

/* Smallest piece of a matmul, in tiles. */
enum { TILES = 2 };

/* ------------------------------------------------------------- activations */

/* Which forms of its input a stage's matrices need. */
typedef struct needs {
    bool quantized, floats;
} needs;

static needs needs_of(const vouch_matrix *const *matrices, int n)
{
    needs all = {0};
    for (int i = 0; i < n; i++) {
        if (vouch_type_is_quantized(matrices[i]->type)) all.quantized = true;
        else all.floats = true;
    }
    return all;
}

/* The rows [begin, end) of x, normalised where norm isn't NULL, into acts. */
static void prepare_rows(vouch_context *c, vouch_acts *acts, float *row, const float *x, const float *norm,
                         needs need, int64_t begin, int64_t end)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n_in = acts->n_in;
    for (int64_t r = begin; r < end; r++) {
        const float *from = x + r * n_in;
        if (norm) {
            kernels->rms_norm(row, from, norm, n_in, c->weights->hparams.norm_eps);
            from = row;
        }
        if (need.quantized) kernels->quantize(acts, from, 0, r, r + 1, 0, n_in);
        if (need.floats) kernels->interleave(acts, from, 0, r, r + 1, 0, n_in);
    }
}

static vouch_acts shaped(const vouch_context *c, const vouch_acts *memory, int64_t n_rows, int64_t n_in)
{
    vouch_acts acts = *memory;
    acts.n_rows = n_rows;
    acts.n_in = n_in;
    acts.group_rows = c->weights->kernels->group_rows;
    return acts;
}

/* The input of a stage, x [n_rows][n_in], ready for its matrices: by each thread for itself where rows are
 * few, otherwise shared, with a barrier. */
static const vouch_acts *prepare(vouch_context *c, vouch_pool *team, thread_memory *my, const float *x,
                                 int64_t n_rows, int64_t n_in, const float *norm, needs need)
{
    const bool alone = n_rows <= VOUCH_ALONE_ROWS;
    my->prepared = shaped(c, alone ? &my->acts : &c->acts, n_rows, n_in);
    if (alone) {
        prepare_rows(c, &my->prepared, my->row, x, norm, need, 0, n_rows);
        return &my->prepared;
    }
    vouch_work work = vouch_pool_share(team, my->thread, n_rows, 1);
    while (vouch_work_next(&work))
        prepare_rows(c, &my->prepared, my->row, x, norm, need, work.begin, work.end);
    vouch_pool_barrier(team);
    return &my->prepared;
}

static void multiply(const vouch_context *c, const vouch_matrix *w, const vouch_acts *x, float *y, int64_t begin,
                     int64_t end, vouch_start start)
{
    c->weights->kernels->matmul[w->type](w, x, y, w->n_out, begin, end, start);
}

/* ------------------------------------------------------------------- heads */

static vouch_matrix *cache_of(vouch_matrix *all, const vouch_context *c, int32_t layer, int32_t kv_head)
{
    return &all[layer * c->weights->hparams.n_kv_heads + kv_head];
}

static void rotate_head(const vouch_context *c, float *head, const float *norm, int64_t row)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t pairs = h->n_rot / 2;
    if (norm) kernels->rms_norm(head, head, norm, h->head_dim, h->norm_eps);
    kernels->rope(head, c->cosines + row * pairs, c->sines + row * pairs, h->n_rot, h->arch->rope_half_split);
}

static void finish_keys(vouch_context *c, int32_t index, const vouch_layer *layer, int64_t begin, int64_t end)
{
    const vouch_hparams *h = &c->weights->hparams;
    for (int64_t i = begin; i < end; i++)
        for (int64_t r = 0; r < c->n_rows; r++) {
            float *head = c->k + (r * h->n_kv_heads + i) * h->head_dim;
            rotate_head(c, head, layer->k_norm, r);
            c->weights->kernels->set_row(cache_of(c->keys, c, index, (int32_t)i), c->n_cached + r, head);
        }
}

static void finish_values(vouch_context *c, int32_t index, int64_t begin, int64_t end)
{
    const vouch_hparams *h = &c->weights->hparams;
    for (int64_t i = begin; i < end; i++)
        for (int64_t r = 0; r < c->n_rows; r++)
            c->weights->kernels->set_column(cache_of(c->values, c, index, (int32_t)i), c->n_cached + r,
                                            c->v + (r * h->n_kv_heads + i) * h->head_dim);
}

/* Fewest heads that fill whole tiles, so that no two threads meet in one. */
static int64_t heads_per_unit(int32_t head_dim)
{
    int64_t heads = 1;
    while (heads * head_dim % VOUCH_TILE != 0) heads *= 2;
    return heads;
}

static int64_t units_of(int64_t n_heads, int64_t per_unit)
{
    return (n_heads + per_unit - 1) / per_unit;
}

/* Piece i of the stage: some heads of k or of v, whole, into the cache; or some tiles of q, which attention
 * finishes. */
static void compute_heads(vouch_context *c, const vouch_acts *acts, int32_t index, int64_t i)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_layer *layer = &c->weights->layers[index];
    const int64_t per_unit = heads_per_unit(h->head_dim), kv_units = units_of(h->n_kv_heads, per_unit);
    if (i >= 2 * kv_units) {
        const int64_t tile = (i - 2 * kv_units) * TILES, past = tile + TILES;
        multiply(c, &layer->q, acts, c->q, tile, past < layer->q.n_tiles ? past : layer->q.n_tiles, VOUCH_FROM_ZERO);
        return;
    }
    const bool is_key = i < kv_units;
    const int64_t begin = (is_key ? i : i - kv_units) * per_unit;
    const int64_t end = begin + per_unit < h->n_kv_heads ? begin + per_unit : h->n_kv_heads;
    multiply(c, is_key ? &layer->k : &layer->v, acts, is_key ? c->k : c->v, begin * h->head_dim / VOUCH_TILE,
             (end * h->head_dim + VOUCH_TILE - 1) / VOUCH_TILE, VOUCH_FROM_ZERO);
    if (is_key) finish_keys(c, index, layer, begin, end);
    else finish_values(c, index, begin, end);
}

static void stage_heads(vouch_context *c, vouch_pool *team, thread_memory *my, int32_t index)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_layer *layer = &c->weights->layers[index];
    const vouch_matrix *const matrices[] = {&layer->q, &layer->k, &layer->v};
    const int64_t kv_units = units_of(h->n_kv_heads, heads_per_unit(h->head_dim));
    const int64_t n_pieces = 2 * kv_units + (layer->q.n_tiles + TILES - 1) / TILES;
    const vouch_acts *acts = prepare(c, team, my, c->x, c->n_rows, h->n_embd, layer->attn_norm, needs_of(matrices, 3));
    vouch_work work = vouch_pool_share(team, my->thread, n_pieces, 1);
    while (vouch_work_next(&work))
        for (int64_t i = work.begin; i < work.end; i++) compute_heads(c, acts, index, i);
    vouch_pool_barrier(team);
}

/* --------------------------------------------------------------- attention */

/* One unit of attention: rows [row, row_end) and query heads [head, head_end) of one KV head. Vector
 * i = (r - row) * n_heads + (head's place) is one query. */
typedef struct unit {
    int64_t row, row_end, head, head_end;
    int32_t layer, kv_head;
    int64_t n_shared; /* keys that all rows of the unit see: slots [0, n_shared) */
} unit;

/* Slots of this pass that row r sees beyond the shared ones, in ascending order; the row's own is last. */
static int64_t own_slots(const vouch_context *c, const unit *u, int64_t r, int32_t *slots)
{
    if (!c->is_tree) {
        const int64_t n = c->n_cached + r + 1 - u->n_shared;
        for (int64_t j = 0; j < n; j++) slots[j] = (int32_t)(u->n_shared + j);
        return n;
    }
    const int64_t n = c->depths[r] + 1;
    int64_t at = n;
    for (int32_t row = (int32_t)r; row >= 0; row = c->parents[row]) slots[--at] = c->n_cached + row;
    return n;
}

/* scores [vectors][n_slots] of all slots that some row of the unit sees. The queries are normalised and rotated
 * here, by the one unit that uses them, and take the factor 1 / sqrt(head_dim). */
static void score_keys(const vouch_context *c, thread_memory *my, const unit *u)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n_heads = u->head_end - u->head, n_vectors = (u->row_end - u->row) * n_heads;
    const float factor = 1.0f / sqrtf((float)h->head_dim);
    vouch_acts queries = shaped(c, &my->queries, n_vectors, h->head_dim);
    for (int64_t i = 0; i < n_vectors; i++) {
        const int64_t r = u->row + i / n_heads;
        float *query = c->q + (r * h->n_heads + u->head + i % n_heads) * h->head_dim;
        rotate_head(c, query, c->weights->layers[u->layer].q_norm, r);
        kernels->scale(query, factor, h->head_dim);
        kernels->interleave(&queries, query, 0, i, i + 1, 0, h->head_dim);
    }
    const vouch_matrix *keys = cache_of(c->keys, c, u->layer, u->kv_head);
    const int64_t n_keys = c->n_cached + u->row_end;
    kernels->matmul[keys->type](keys, &queries, my->scores, c->n_slots, 0, (n_keys + VOUCH_TILE - 1) / VOUCH_TILE,
                                VOUCH_FROM_ZERO);
}

/* Mixes the values of n neighbouring slots into mixed [vectors][head_dim] of the unit's vectors [begin, end);
 * their weights [n_slots] for them begin at place `first`. */
static void mix_run(const vouch_context *c, thread_memory *my, const vouch_matrix *values, int64_t begin, int64_t end,
                    int64_t first, int64_t slot, int64_t n, vouch_start start)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t width = c->weights->hparams.head_dim;
    const vouch_matrix part = vouch_matrix_columns(values, slot, n);
    vouch_acts shares = shaped(c, &my->shares, end - begin, n);
    kernels->interleave(&shares, my->scores + begin * c->n_slots + first, c->n_slots, 0, end - begin, 0, n);
    kernels->matmul[part.type](&part, &shares, my->mixed + begin * width, width, 0, part.n_tiles, start);
}

static void attend(vouch_context *c, thread_memory *my, const unit *u)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t n_heads = u->head_end - u->head, n_vectors = (u->row_end - u->row) * n_heads;
    const vouch_matrix *values = cache_of(c->values, c, u->layer, u->kv_head);
    int32_t *slots = my->slots;

    score_keys(c, my, u);
    for (int64_t i = 0; i < n_vectors; i++) {
        float *scores = my->scores + i * c->n_slots;
        const int64_t n_own = own_slots(c, u, u->row + i / n_heads, slots);
        for (int64_t j = 0; j < n_own; j++) scores[u->n_shared + j] = scores[slots[j]];
        my->factors[i] = 1.0f / kernels->softmax(scores, u->n_shared + n_own);
    }

    /* The shared slots for all rows at once, then each row's own. */
    mix_run(c, my, values, 0, n_vectors, 0, 0, u->n_shared, VOUCH_FROM_ZERO);
    for (int64_t r = u->row; r < u->row_end; r++) {
        const int64_t begin = (r - u->row) * n_heads, n_own = own_slots(c, u, r, slots);
        for (int64_t j = 0, run; j < n_own; j += run) {
            for (run = 1; j + run < n_own && slots[j + run] == slots[j] + run;) run++;
            mix_run(c, my, values, begin, begin + n_heads, u->n_shared + j, slots[j], run, VOUCH_FROM_Y);
        }
        for (int64_t i = begin; i < begin + n_heads; i++)
            kernels->scale(my->mixed + i * h->head_dim, my->factors[i], h->head_dim);
        memcpy(c->mixed + (r * h->n_heads + u->head) * h->head_dim, my->mixed + begin * h->head_dim,
               (size_t)(n_heads * h->head_dim) * sizeof *my->mixed);
    }
}

/* Work is divided by rows and query heads; a unit takes as many heads of one KV head as a piece of work has,
 * so that a key is loaded once for all of them. */
static void stage_attend(vouch_context *c, vouch_pool *team, thread_memory *my, int32_t layer)
{
    const vouch_hparams *h = &c->weights->hparams;
    const int64_t group = h->n_heads / h->n_kv_heads;
    const int64_t most = VOUCH_UNIT_VECTORS / group > 0 ? VOUCH_UNIT_VECTORS / group : 1;
    const int64_t n_row_units = (c->n_rows + most - 1) / most, rows = (c->n_rows + n_row_units - 1) / n_row_units;
    vouch_work work = vouch_pool_share(team, my->thread, n_row_units * h->n_heads, 1);
    while (vouch_work_next(&work))
        for (int64_t i = work.begin; i < work.end;) {
            unit u = {.row = i / h->n_heads * rows, .head = i % h->n_heads, .layer = layer};
            const int64_t group_end = (u.head / group + 1) * group, past = u.head + work.end - i;
            u.head_end = past < group_end ? past : group_end;
            u.row_end = u.row + rows < c->n_rows ? u.row + rows : c->n_rows;
            u.kv_head = (int32_t)(u.head / group);
            u.n_shared = c->n_cached + (c->is_tree ? 0 : u.row);
            if (u.row < u.row_end) attend(c, my, &u);
            i += u.head_end - u.head;
        }
    vouch_pool_barrier(team);
}

/* --------------------------------------------------------------- the others */

/* x += W acts */
static void stage_add(vouch_context *c, vouch_pool *team, thread_memory *my, const vouch_matrix *w,
                      const vouch_acts *acts)
{
    vouch_work work = vouch_pool_share(team, my->thread, w->n_tiles, TILES);
    while (vouch_work_next(&work)) multiply(c, w, acts, c->x, work.begin, work.end, VOUCH_FROM_Y);
    vouch_pool_barrier(team);
}

/* The tiles [begin, end) of the hidden layer, for all rows, and at once as the input of W_down: whoever computed
 * them has them at hand, and less is carried between the threads' caches. */
static void compute_hidden(vouch_context *c, const vouch_layer *layer, const vouch_acts *in, vouch_acts *hidden,
                           int64_t begin, int64_t end)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const vouch_matrix *const down = &layer->down;
    const needs need = needs_of(&down, 1);
    const int64_t n_ff = c->weights->hparams.n_ff, first = begin * VOUCH_TILE;
    const int64_t last = end * VOUCH_TILE < n_ff ? end * VOUCH_TILE : n_ff;
    multiply(c, &layer->gate, in, c->gate, begin, end, VOUCH_FROM_ZERO);
    multiply(c, &layer->up, in, c->up, begin, end, VOUCH_FROM_ZERO);
    for (int64_t r = 0; r < c->n_rows; r++)
        kernels->swiglu(c->gate + r * n_ff + first, c->up + r * n_ff + first, last - first);
    if (need.quantized) kernels->quantize(hidden, c->gate, n_ff, 0, c->n_rows, first, last);
    if (need.floats) kernels->interleave(hidden, c->gate, n_ff, 0, c->n_rows, first, last);
}

/* The pieces' limits are multiples of a block of activations. */
_Static_assert(TILES * VOUCH_TILE % VOUCH_BLOCK == 0, "a piece of the hidden layer is whole blocks");

static const vouch_acts *stage_ffn(vouch_context *c, vouch_pool *team, thread_memory *my, const vouch_layer *layer)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_matrix *const matrices[] = {&layer->gate, &layer->up};
    const vouch_acts *in = prepare(c, team, my, c->x, c->n_rows, h->n_embd, layer->ffn_norm, needs_of(matrices, 2));
    my->hidden = shaped(c, &c->hidden, c->n_rows, h->n_ff);
    vouch_work work = vouch_pool_share(team, my->thread, layer->gate.n_tiles, TILES);
    while (vouch_work_next(&work)) compute_hidden(c, layer, in, &my->hidden, work.begin, work.end);
    vouch_pool_barrier(team);
    return &my->hidden;
}

static void stage_logits(vouch_context *c, vouch_pool *team, thread_memory *my)
{
    const vouch_weights *w = c->weights;
    const float *x = c->x + (int64_t)(c->n_rows - c->n_logits) * w->hparams.n_embd;
    const vouch_acts *acts = prepare(c, team, my, x, c->n_logits, w->hparams.n_embd, w->output_norm, needs_of(&w->head, 1));
    vouch_work work = vouch_pool_share(team, my->thread, w->head->n_tiles, TILES);
    while (vouch_work_next(&work))
        multiply(c, w->head, acts, c->logits, work.begin, work.end, VOUCH_FROM_ZERO);
}

static void forward_on_thread(void *arg, vouch_pool *team, int32_t thread)
{
    vouch_context *c = arg;
    thread_memory *my = &c->threads[thread];
    my->thread = thread;
    vouch_work work = vouch_pool_share(team, my->thread, c->n_rows, 1);
    while (vouch_work_next(&work))
        for (int64_t r = work.begin; r < work.end; r++)
            vouch_matrix_get_row(&c->weights->embedding, c->tokens[r], c->x + r * c->weights->hparams.n_embd);
    vouch_pool_barrier(team);
    for (int32_t l = 0; l < c->weights->hparams.n_layers; l++) {
        const vouch_layer *layer = &c->weights->layers[l];
        stage_heads(c, team, my, l);
        stage_attend(c, team, my, l);
        const vouch_matrix *const o = &layer->o;
        stage_add(c, team, my, o, prepare(c, team, my, c->mixed, c->n_rows, o->n_in, NULL, needs_of(&o, 1)));
        stage_add(c, team, my, &layer->down, stage_ffn(c, team, my, layer));
    }
    if (c->n_logits > 0) stage_logits(c, team, my);
}

/* The angles of every row's position. */
static void fill_angles(vouch_context *c)
{
    const int32_t pairs = c->weights->hparams.n_rot / 2;
    for (int32_t r = 0; r < c->n_rows; r++)
        for (int32_t i = 0; i < pairs; i++) {
            const double angle = (double)(c->n_cached + c->depths[r]) * c->frequencies[i];
            double sine, cosine;
            vouch_sine_cosine(angle, &sine, &cosine);
            c->cosines[r * pairs + i] = (float)cosine;
            c->sines[r * pairs + i] = (float)sine;
        }
}

void vouch_context_forward(vouch_context *context, const int32_t *tokens, const int32_t *parents, int32_t n,
                           int32_t n_logits)
{
    vouch_context *c = context;
    assert(n >= 1 && n <= c->max_rows && n <= c->n_ctx - c->n_cached);
    assert(n_logits >= 0 && n_logits <= n && n_logits <= c->max_logits);
    c->n_rows = n;
    c->n_logits = n_logits;
    c->is_tree = parents != NULL;
    for (int32_t r = 0; r < n; r++) {
        const int32_t parent = parents ? parents[r] : r - 1;
        assert(tokens[r] >= 0 && tokens[r] < c->weights->hparams.n_vocab && parent >= -1 && parent < r);
        c->tokens[r] = tokens[r];
        c->parents[r] = parent;
        c->depths[r] = parent < 0 ? 0 : c->depths[parent] + 1;
    }
    fill_angles(c);
    vouch_pool_run(c->pool, forward_on_thread, c);
    if (!parents) c->n_cached += n;
}
