/* SPDX-License-Identifier: MIT */
/*
 * The forward pass of a decoder-only transformer, for n rows at once. One run of the thread team; every thread
 * executes forward_on_thread, taking pieces of each stage, with a barrier between stages:
 *
 *   x = embedding[token]                                              [n, n_embd]
 *   for each layer
 *     1 heads    q, k, v = W norm(x); k normalised and rotated; k, v into the cache
 *     2 attend   q normalised and rotated; mixed = softmax(q k) v, by queries (a row and a head)
 *     3 output   x += W_o mixed
 *     4 ffn      gate = silu(W_gate norm(x)) * W_up norm(x)
 *     5 down     x += W_down gate
 *   logits = W_head norm(x), of the rows asked for
 *
 * Every stage leaves its result in the form that the next one multiplies with (quantised where its weights are), made
 * by the thread that computed it: what travels between the processors' caches is a quarter of the floats, and nobody
 * prepares an input twice. Of a norm, factor * x * weight, only the factor needs a whole row, so x * weight is left
 * together with its squares' sums, and the reader multiplies its finished sums by the factor.
 *
 * Law L1 holds because no kernel mixes rows and every row is given the same operations in the same order:
 * attention walks a row's keys by their place in its sequence, first the cache's slots, then its ancestors
 * among the rows of this pass, itself last, whichever rows share the pass.
 *
 * RMSNorm: arXiv 1910.07467. RoPE: 2104.09864. Grouped queries: 2305.13245. SwiGLU: 2002.05202.
 */
#include <string.h>

#include "base/angle.h"
#include "model/context.h"
#include "model/context_internal.h"

/* Smallest piece of a matmul, in tiles: an even number, for kernels that take them in pairs. */
enum { TILES = 2 };

/* ------------------------------------------------------------- activations */

/* Which forms of its input a stage's matrices need. */
static vouch_needs needs_of(const vouch_matrix *const *matrices, int n)
{
    vouch_needs all = 0;
    for (int i = 0; i < n; i++) all |= vouch_type_needs(matrices[i]->type);
    return all;
}

static vouch_acts shaped(const vouch_context *c, const vouch_acts *memory, int64_t n_rows, int64_t n_in)
{
    vouch_acts acts = *memory;
    acts.n_rows = n_rows;
    acts.n_in = n_in;
    acts.group_rows = c->weights->kernels->group_rows;
    return acts;
}

/* The inputs [first, last) of the rows [begin, end), where x[i * ldx + k] is input k of row begin + i. */
static void put_inputs(const vouch_context *c, vouch_acts *acts, vouch_needs need, const float *x, int64_t ldx,
                       int64_t begin, int64_t end, int64_t first, int64_t last)
{
    acts->needs = need;
    if (need & VOUCH_NEEDS_QUANTS) c->weights->kernels->quantize(acts, x, ldx, begin, end, first, last);
    if (need & VOUCH_NEEDS_FLOATS) c->weights->kernels->interleave(acts, x, ldx, begin, end, first, last);
}

/* The next stage that reads the residual stream. */
typedef struct reader {
    const float *norm;
    vouch_needs need;
    int64_t first_row; /* rows before it aren't read any more */
} reader;

static reader reader_heads(const vouch_context *c, int32_t l)
{
    const vouch_layer *layer = &c->weights->layers[l];
    return (reader){layer->attn_norm, needs_of((const vouch_matrix *const[]){&layer->q, &layer->k, &layer->v}, 3), 0};
}

static reader reader_ffn(const vouch_context *c, int32_t l)
{
    const vouch_layer *layer = &c->weights->layers[l];
    return (reader){layer->ffn_norm, needs_of((const vouch_matrix *const[]){&layer->gate, &layer->up}, 2), 0};
}

static reader reader_head(const vouch_context *c)
{
    return (reader){c->weights->output_norm, needs_of(&c->head, 1), c->n_rows - c->n_logits};
}

static float *squares_of(const vouch_context *c, int64_t row)
{
    return c->squares + row * ((c->weights->hparams.n_embd + 15) / 16);
}

static vouch_acts stream_acts(const vouch_context *c, const reader *to)
{
    return shaped(c, &c->acts, c->n_rows - to->first_row, c->weights->hparams.n_embd);
}

/* The tiles [tile, tile_end) of x, rows [begin, end), are ready: leaves them for the stage that reads them. */
static void publish(const vouch_context *c, thread_memory *my, const reader *to, int64_t begin, int64_t end,
                    int64_t tile, int64_t tile_end)
{
    const int64_t n_embd = c->weights->hparams.n_embd, first = tile * VOUCH_TILE;
    const int64_t last = tile_end * VOUCH_TILE < n_embd ? tile_end * VOUCH_TILE : n_embd;
    vouch_acts acts = stream_acts(c, to);
    for (int64_t r = begin < to->first_row ? to->first_row : begin; r < end; r += VOUCH_FEW_ROWS) {
        const int64_t past = r + VOUCH_FEW_ROWS < end ? r + VOUCH_FEW_ROWS : end;
        for (int64_t i = r; i < past; i++)
            c->weights->kernels->norm_part(my->rows + (i - r) * n_embd + first, squares_of(c, i) + tile,
                                           c->x + i * n_embd + first, to->norm + first, last - first);
        put_inputs(c, &acts, to->need, my->rows, n_embd, r - to->first_row, past - to->first_row, first, last);
    }
}

/* What was published for this reader; the factors of the rows' norms to my->norms. */
static vouch_acts receive(const vouch_context *c, thread_memory *my, const reader *to)
{
    const vouch_hparams *h = &c->weights->hparams;
    for (int64_t r = to->first_row; r < c->n_rows; r++)
        my->norms[r - to->first_row] = c->weights->kernels->norm_factor(squares_of(c, r), h->n_embd, h->norm_eps);
    return stream_acts(c, to);
}

/* y = W acts, or y += W acts; times a row's factor where factors isn't NULL. */
static void multiply(const vouch_context *c, const vouch_matrix *w, const vouch_acts *x, float *y, int64_t begin,
                     int64_t end, vouch_start start, const float *factors)
{
    const vouch_result result = {y, w->n_out, VOUCH_TILE, start, factors};
    c->weights->kernels->matmul[w->type](w, x, result, begin, end);
}

/* ------------------------------------------------------------------- heads */

static vouch_matrix *cache_of(vouch_matrix *all, const vouch_context *c, int32_t layer, int32_t kv_head)
{
    return &all[layer * c->weights->hparams.n_kv_heads + kv_head];
}

static void rotate_head(const vouch_context *c, thread_memory *my, float *head, const float *norm, int64_t row)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_kernels *kernels = c->weights->kernels;
    if (norm) {
        kernels->norm_part(head, my->squares, head, norm, h->head_dim);
        kernels->scale(head, kernels->norm_factor(my->squares, h->head_dim, h->norm_eps), h->head_dim);
    }
    kernels->rope(head, c->cosines + row * h->n_rot, c->sines + row * h->n_rot, h->n_rot, h->arch->rope_half_split);
}

static void finish_keys(vouch_context *c, thread_memory *my, int32_t index, const vouch_layer *layer, int64_t begin,
                        int64_t end)
{
    const vouch_hparams *h = &c->weights->hparams;
    for (int64_t i = begin; i < end; i++)
        for (int64_t r = 0; r < c->n_rows; r++) {
            float *head = c->k + (r * h->n_kv_heads + i) * h->head_dim;
            rotate_head(c, my, head, layer->k_norm, r);
            c->weights->kernels->set_row(cache_of(c->keys, c, index, (int32_t)i), c->n_cached + c->first + r, head);
        }
}

static void finish_values(vouch_context *c, int32_t index, int64_t begin, int64_t end)
{
    const vouch_hparams *h = &c->weights->hparams;
    for (int64_t i = begin; i < end; i++)
        for (int64_t r = 0; r < c->n_rows; r++)
            c->weights->kernels->set_column(cache_of(c->values, c, index, (int32_t)i), c->n_cached + c->first + r,
                                            c->v + (r * h->n_kv_heads + i) * h->head_dim);
}

/* Fewest heads that fill whole tiles, so that no two threads meet in one. */
static int64_t heads_per_unit(int32_t head_dim)
{
    int64_t heads = 1;
    while (heads * head_dim % VOUCH_TILE != 0) heads *= 2;
    return heads;
}

/* Units of heads [begin, end) of k or of v, if any, into the cache. */
static void compute_kv(vouch_context *c, thread_memory *my, const vouch_acts *acts, int32_t index, bool is_key,
                       int64_t begin, int64_t end)
{
    if (begin >= end) return;
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_layer *layer = &c->weights->layers[index];
    const int64_t per_unit = heads_per_unit(h->head_dim), first = begin * per_unit;
    const int64_t past = end * per_unit < h->n_kv_heads ? end * per_unit : h->n_kv_heads;
    multiply(c, is_key ? &layer->k : &layer->v, acts, is_key ? c->k : c->v, first * h->head_dim / VOUCH_TILE,
             (past * h->head_dim + VOUCH_TILE - 1) / VOUCH_TILE, VOUCH_FROM_ZERO, my->norms);
    if (is_key) finish_keys(c, my, index, layer, first, past);
    else finish_values(c, index, first, past);
}

/* Of k and v each thread has an even part; its tiles of q, which attention finishes, others can take meanwhile. */
static void stage_heads(vouch_context *c, vouch_pool *team, thread_memory *my, int32_t index)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_matrix *q = &c->weights->layers[index].q;
    const int64_t per_unit = heads_per_unit(h->head_dim), n_units = (h->n_kv_heads + per_unit - 1) / per_unit;
    const reader me = reader_heads(c, index);
    vouch_work work = vouch_pool_share(team, my->thread, q->n_tiles, TILES);
    const vouch_acts acts = receive(c, my, &me);
    const vouch_range mine = vouch_pool_divide(team, my->thread, 2 * n_units);
    compute_kv(c, my, &acts, index, true, mine.begin, mine.end < n_units ? mine.end : n_units);
    compute_kv(c, my, &acts, index, false, mine.begin < n_units ? 0 : mine.begin - n_units, mine.end - n_units);
    while (vouch_work_next(&work))
        multiply(c, q, &acts, c->q, work.begin, work.end, VOUCH_FROM_ZERO, my->norms);
    vouch_pool_barrier(team, my->thread);
}

/* --------------------------------------------------------------- attention */

/* One unit of attention: the queries [begin, end) of one KV head, at most `group_rows` of them. Query i is of row
 * i / group and head i % group of the KV head's group. What the kernels see is a group of activations:
 *
 *     scores [n_slots / 16][queries][16]   score of query i and key j, later its softmax weight
 */
typedef struct unit {
    int64_t begin, end, group;
    int32_t layer, kv_head;
    int64_t n_shared; /* keys that all its rows see: slots [0, n_shared) */
    float *scores;
    int64_t chunk;    /* floats of 16 slots of all its queries */
} unit;

static float *score_at(const unit *u, int64_t query, int64_t key)
{
    return u->scores + key / 16 * u->chunk + (query - u->begin) * 16 + key % 16;
}

/* A query's place in c->q and c->mixed, [n_rows][n_heads * head_dim]. */
static int64_t place_of(const vouch_context *c, const unit *u, int64_t query)
{
    const vouch_hparams *h = &c->weights->hparams;
    return (query / u->group * h->n_heads + u->kv_head * u->group + query % u->group) * h->head_dim;
}

/* Slots of this tree or chain that row r sees beyond the shared ones, in ascending order; the row's own is last. */
static int64_t own_slots(const vouch_context *c, const unit *u, int64_t r, int32_t *slots)
{
    if (!c->is_tree) {
        const int64_t n = c->n_cached + r + 1 - u->n_shared;
        for (int64_t j = 0; j < n; j++) slots[j] = (int32_t)(u->n_shared + j);
        return n;
    }
    const int64_t n = c->depths[c->first + r] + 1;
    int64_t at = n;
    for (int32_t row = c->first + (int32_t)r; row >= 0; row = c->parents[row]) slots[--at] = c->n_cached + row;
    return n;
}

/* Scores of all slots that some row of the unit sees. The queries are normalised and rotated here, by the one unit
 * that uses them, and take the factor 1 / sqrt(head_dim). */
static void score_keys(const vouch_context *c, thread_memory *my, const unit *u)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_kernels *kernels = c->weights->kernels;
    const float factor = 1.0f / sqrtf((float)h->head_dim);
    const vouch_matrix *const keys = cache_of(c->keys, c, u->layer, u->kv_head);
    const vouch_needs need = needs_of(&keys, 1);
    vouch_acts queries = shaped(c, &my->queries, u->end - u->begin, h->head_dim);
    for (int64_t i = u->begin; i < u->end; i++) {
        float *query = c->q + place_of(c, u, i);
        rotate_head(c, my, query, c->weights->layers[u->layer].q_norm, i / u->group);
        kernels->scale(query, factor, h->head_dim);
        put_inputs(c, &queries, need, query, 0, i - u->begin, i - u->begin + 1, 0, h->head_dim);
    }
    const int64_t n_keys = c->n_cached + c->first + (u->end - 1) / u->group + 1;
    const vouch_result scores = {u->scores, 16, u->chunk, VOUCH_FROM_ZERO, NULL};
    kernels->matmul[keys->type](keys, &queries, scores, 0, (n_keys + VOUCH_TILE - 1) / VOUCH_TILE);
}

/* The softmax of each query's scores, in its row's order of keys; 1 / its sum to my->factors. */
static void weigh_keys(const vouch_context *c, thread_memory *my, const unit *u)
{
    int64_t n_own = 0;
    for (int64_t i = u->begin; i < u->end; i++) {
        if (i == u->begin || i % u->group == 0) n_own = own_slots(c, u, i / u->group, my->slots);
        for (int64_t j = 0; j < n_own; j++) *score_at(u, i, u->n_shared + j) = *score_at(u, i, my->slots[j]);
        const float sum = c->weights->kernels->softmax(score_at(u, i, 0), u->chunk, u->n_shared + n_own);
        my->factors[i - u->begin] = 1.0f / sum;
    }
}

/* The values' sums: of the shared slots for all queries at once, then each row's own. */
static void mix_values(const vouch_context *c, thread_memory *my, const unit *u)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const int64_t width = c->weights->hparams.head_dim;
    const vouch_matrix *values = cache_of(c->values, c, u->layer, u->kv_head);
    vouch_matrix part = *values;
    part.n_in = u->n_shared;
    vouch_acts weights = shaped(c, &my->scores, u->end - u->begin, u->n_shared);
    const vouch_result mixed = {my->mixed, width, VOUCH_TILE, VOUCH_FROM_ZERO, NULL};
    kernels->mix[part.type](&part, &weights, mixed, 0, part.n_tiles);
    for (int64_t i = u->begin, past; i < u->end; i = past) {
        past = (i / u->group + 1) * u->group < u->end ? (i / u->group + 1) * u->group : u->end;
        const int64_t n_own = own_slots(c, u, i / u->group, my->slots);
        for (int64_t j = 0; j < n_own; j++)
            kernels->add_column(values, my->slots[j], score_at(u, i, u->n_shared + j), 16,
                                my->mixed + (i - u->begin) * width, width, past - i);
    }
}

static int64_t attention_width(const vouch_context *c)
{
    return (int64_t)c->weights->hparams.n_heads * c->weights->hparams.head_dim;
}

/* True where a head is whole blocks of W_o's input, so that whoever mixed it can put it there. */
static bool heads_are_blocks(const vouch_context *c, vouch_needs need)
{
    return c->weights->hparams.head_dim % (need & VOUCH_NEEDS_QUANTS ? VOUCH_BLOCK : 16) == 0;
}

/* The columns [first, last) of mixed rows [begin, end) into the input of W_o. */
static void put_mixed(const vouch_context *c, int32_t layer, int64_t begin, int64_t end, int64_t first, int64_t last)
{
    const vouch_matrix *const o = &c->weights->layers[layer].o;
    const int64_t width = attention_width(c);
    vouch_acts acts = shaped(c, &c->mixed_acts, c->n_rows, width);
    put_inputs(c, &acts, needs_of(&o, 1), c->mixed + begin * width, width, begin, end, first, last);
}

static void attend(vouch_context *c, thread_memory *my, const unit *u)
{
    const int64_t width = c->weights->hparams.head_dim, all = attention_width(c);
    const vouch_matrix *const o = &c->weights->layers[u->layer].o;
    score_keys(c, my, u);
    weigh_keys(c, my, u);
    mix_values(c, my, u);
    for (int64_t i = u->begin; i < u->end; i++) {
        float *mixed = my->mixed + (i - u->begin) * width;
        c->weights->kernels->scale(mixed, my->factors[i - u->begin], width);
        memcpy(c->mixed + place_of(c, u, i), mixed, (size_t)width * sizeof *mixed);
    }
    if (!heads_are_blocks(c, needs_of(&o, 1))) return;
    /* All whole rows at once, and what there is of others. */
    for (int64_t i = u->begin, past; i < u->end; i = past) {
        const int64_t row = i / u->group, left = (row + 1) * u->group - i;
        const int64_t n_rows = left == u->group && u->end - i > left ? (u->end - i) / u->group : 1;
        past = i + n_rows * left < u->end ? i + n_rows * left : u->end;
        const int64_t first = place_of(c, u, i) - row * all;
        put_mixed(c, u->layer, row, row + n_rows, first, first + (past - i) / n_rows * width);
    }
}

/* All queries are in a line, by KV head, row and head; these are [begin, end) of them. */
static void attend_range(vouch_context *c, thread_memory *my, int32_t layer, int64_t begin, int64_t end)
{
    const vouch_hparams *h = &c->weights->hparams;
    const int64_t group = h->n_heads / h->n_kv_heads, per_head = c->n_rows * group;
    while (begin < end) {
        const int64_t first = begin / per_head * per_head, past = first + per_head < end ? first + per_head : end;
        const int64_t n_units = (past - begin + c->weights->kernels->group_rows - 1) / c->weights->kernels->group_rows;
        const int64_t unit_end = begin + (past - begin + n_units - 1) / n_units;
        unit u = {.begin = begin - first, .end = unit_end - first, .group = group, .layer = layer};
        u.kv_head = (int32_t)(first / per_head);
        u.n_shared = c->n_cached + (c->is_tree ? 0 : u.begin / group);
        u.scores = my->scores.x;
        u.chunk = (u.end - u.begin) * 16;
        attend(c, my, &u);
        begin = unit_end;
    }
}

/* A key is loaded once for all queries of a unit: where there are few, each thread takes one range of them. */
static void stage_attend(vouch_context *c, vouch_pool *team, thread_memory *my, int32_t layer)
{
    const int64_t n_queries = (int64_t)c->n_rows * c->weights->hparams.n_heads;
    if (c->n_rows <= VOUCH_FEW_ROWS) {
        const vouch_range mine = vouch_pool_divide(team, my->thread, n_queries);
        attend_range(c, my, layer, mine.begin, mine.end);
    } else {
        vouch_work work = vouch_pool_share(team, my->thread, n_queries, c->weights->kernels->group_rows);
        while (vouch_work_next(&work)) attend_range(c, my, layer, work.begin, work.end);
    }
    vouch_pool_barrier(team, my->thread);
    const vouch_matrix *const o = &c->weights->layers[layer].o;
    if (heads_are_blocks(c, needs_of(&o, 1))) return;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    put_mixed(c, layer, mine.begin, mine.end, 0, attention_width(c));
    vouch_pool_barrier(team, my->thread);
}

/* --------------------------------------------------------------- the others */

/* x += W acts, for the next reader */
static void stage_add(vouch_context *c, vouch_pool *team, thread_memory *my, const vouch_matrix *w, vouch_acts acts,
                      reader next)
{
    vouch_work work = vouch_pool_share(team, my->thread, w->n_tiles, TILES);
    while (vouch_work_next(&work)) {
        multiply(c, w, &acts, c->x, work.begin, work.end, VOUCH_FROM_Y, NULL);
        publish(c, my, &next, 0, c->n_rows, work.begin, work.end);
    }
    vouch_pool_barrier(team, my->thread);
}

/* The tiles [begin, end) of the hidden layer, for all rows, and at once as the input of W_down: whoever computed
 * them has them at hand, and less is carried between the threads' caches. */
static void compute_hidden(vouch_context *c, const thread_memory *my, const vouch_layer *layer, const vouch_acts *in,
                           vouch_acts *hidden, int64_t begin, int64_t end)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const vouch_matrix *const down = &layer->down;
    const int64_t n_ff = c->weights->hparams.n_ff, first = begin * VOUCH_TILE;
    const int64_t last = end * VOUCH_TILE < n_ff ? end * VOUCH_TILE : n_ff;
    multiply(c, &layer->gate, in, c->gate, begin, end, VOUCH_FROM_ZERO, my->norms);
    multiply(c, &layer->up, in, c->up, begin, end, VOUCH_FROM_ZERO, my->norms);
    for (int64_t r = 0; r < c->n_rows; r++)
        kernels->swiglu(c->gate + r * n_ff + first, c->up + r * n_ff + first, last - first);
    put_inputs(c, hidden, needs_of(&down, 1), c->gate, n_ff, 0, c->n_rows, first, last);
}

/* The pieces' limits are multiples of a block of activations. */
_Static_assert(TILES * VOUCH_TILE % VOUCH_BLOCK == 0, "a piece of the hidden layer is whole blocks");

static vouch_acts stage_ffn(vouch_context *c, vouch_pool *team, thread_memory *my, int32_t index)
{
    const vouch_layer *layer = &c->weights->layers[index];
    const reader me = reader_ffn(c, index);
    const vouch_acts in = receive(c, my, &me);
    vouch_acts hidden = shaped(c, &c->hidden, c->n_rows, c->weights->hparams.n_ff);
    vouch_work work = vouch_pool_share(team, my->thread, layer->gate.n_tiles, TILES);
    while (vouch_work_next(&work)) compute_hidden(c, my, layer, &in, &hidden, work.begin, work.end);
    vouch_pool_barrier(team, my->thread);
    return hidden;
}

static void stage_logits(vouch_context *c, vouch_pool *team, thread_memory *my)
{
    const vouch_matrix *head = c->head;
    const reader me = reader_head(c);
    const vouch_acts acts = receive(c, my, &me);
    vouch_work work = vouch_pool_share(team, my->thread, head->n_tiles, TILES);
    while (vouch_work_next(&work))
        multiply(c, head, &acts, c->logits, work.begin, work.end, VOUCH_FROM_ZERO, my->norms);
}

/* What a row begins with: its token's embedding and the angles of its position. */
static void begin_row(vouch_context *c, int64_t r)
{
    const vouch_hparams *h = &c->weights->hparams;
    float *cosines = c->cosines + r * h->n_rot, *sines = c->sines + r * h->n_rot;
    vouch_matrix_get_row(&c->weights->embedding, c->tokens[c->first + r], c->x + r * h->n_embd);
    for (int32_t i = 0; i < h->n_rot / 2; i++) {
        const int32_t a = h->arch->rope_half_split ? i : 2 * i, b = h->arch->rope_half_split ? i + h->n_rot / 2 : a + 1;
        double sine, cosine;
        vouch_sine_cosine((double)(c->n_cached + c->depths[c->first + r]) * c->frequencies[i], &sine, &cosine);
        cosines[a] = cosines[b] = (float)cosine;
        sines[a] = -(float)sine;
        sines[b] = (float)sine;
    }
}

static void forward_on_thread(void *arg, vouch_pool *team, int32_t thread)
{
    vouch_context *c = arg;
    thread_memory *my = &c->threads[thread];
    my->thread = thread;
    const reader first = reader_heads(c, 0);
    vouch_work work = vouch_pool_share(team, my->thread, c->n_rows, 1);
    while (vouch_work_next(&work))
        for (int64_t r = work.begin; r < work.end; r++) {
            begin_row(c, r);
            publish(c, my, &first, r, r + 1, 0, (c->weights->hparams.n_embd + VOUCH_TILE - 1) / VOUCH_TILE);
        }
    vouch_pool_barrier(team, my->thread);
    const int32_t n_layers = c->weights->hparams.n_layers;
    for (int32_t l = 0; l < n_layers; l++) {
        const vouch_layer *layer = &c->weights->layers[l];
        stage_heads(c, team, my, l);
        stage_attend(c, team, my, l);
        stage_add(c, team, my, &layer->o, shaped(c, &c->mixed_acts, c->n_rows, attention_width(c)), reader_ffn(c, l));
        const vouch_acts hidden = stage_ffn(c, team, my, l);
        stage_add(c, team, my, &layer->down, hidden, l + 1 < n_layers ? reader_heads(c, l + 1) : reader_head(c));
    }
    if (c->n_logits > 0) stage_logits(c, team, my);
}

static void run_pass(vouch_context *c, const int32_t *tokens, const int32_t *parents, int32_t first, int32_t n,
                     int32_t n_logits)
{
    assert(n >= 1 && first + n <= c->max_rows && first + n <= c->n_ctx - c->n_cached);
    assert(n_logits >= 0 && n_logits <= n && n_logits <= c->max_logits);
    c->first = first;
    c->n_rows = n;
    c->n_logits = n_logits;
    c->is_tree = parents != NULL;
    for (int32_t r = first; r < first + n; r++) {
        const int32_t token = tokens[r - first], parent = parents ? parents[r - first] : r - 1;
        assert(token >= 0 && token < c->weights->hparams.n_vocab && parent >= -1 && parent < r);
        c->tokens[r] = token;
        c->parents[r] = parent;
        c->depths[r] = parent < 0 ? 0 : c->depths[parent] + 1;
    }
    vouch_pool_run(c->pool, forward_on_thread, c);
    if (!parents) c->n_cached += n;
}

void vouch_context_forward(vouch_context *context, const int32_t *tokens, const int32_t *parents, int32_t n,
                           int32_t n_logits)
{
    run_pass(context, tokens, parents, 0, n, n_logits);
}

void vouch_context_grow(vouch_context *context, const int32_t *tokens, const int32_t *parents, int32_t n,
                        int32_t n_logits)
{
    assert(context->is_tree);
    run_pass(context, tokens, parents, context->first + context->n_rows, n, n_logits);
}
