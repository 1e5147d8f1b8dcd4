/* SPDX-License-Identifier: MIT */
/*
 * Adapters that tokens choose (Granite Switch, IBM): a token that stands for an adapter turns it on for itself and for
 * all tokens after it. A layer of one head finds the rows' adapters before all others run. It has keys and values like
 * other layers, so the choice follows a row's path, and a rollback undoes it:
 *
 *   key     gain if the token chooses an adapter, else -gain                       query  1
 *   value   1 and the bits of the adapter's number; those of 0 for other tokens
 *   number  round(sum over b of 2^b mixed[1 + b] / mixed[0])
 *
 * The softmax leaves the other tokens a weight of about exp(-2 gain). Two tokens of different adapters give the rounded
 * mean of their numbers, as in llama.cpp. A bit survives any type of the cache, which a number might not.
 *
 *   reduce    low = A x, for each adapter that some row has                        barrier
 *   add       y += B low, beside the matrix that the adapter belongs to (vouch_stage_affine)
 *
 * Law L1 holds because a row's sums don't depend on the adapters of the other rows.
 */
#include <math.h>
#include <string.h>

#include "model/pass/attention.h"
#include "model/stage/stream.h"

enum { UNIT = VOUCH_EXPERT_UNIT, N_BITS = 10, HEAD = VOUCH_ADAPTER_HEAD };
_Static_assert(VOUCH_MOST_ADAPTERS < 1 << N_BITS && 1 + N_BITS <= HEAD, "a value has room for all bits");

/* The number of the adapter that a token chooses; 0: none. The last one of equal tokens counts. */
static int32_t chosen_by(const vouch_hparams *h, int32_t token)
{
    int32_t number = h->adapters.n;
    while (number > 0 && h->adapters.of[number - 1].token != token) number--;
    return number;
}

int32_t vouch_adapters_substitute(const vouch_hparams *h, int32_t token)
{
    const int32_t number = chosen_by(h, token);
    return number > 0 ? h->adapters.of[number - 1].substitute : token;
}

/* ---------------------------------------------------------------------- find */

/* Writes a row's query, and its key and value to the cache. */
static void store_row(const vouch_workspace *c, int32_t layer, int64_t row)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const vouch_hparams *h = &c->weights->hparams;
    const row_slot *to = &c->slots[row];
    const int32_t number = chosen_by(h, c->tokens[row]);
    vouch_matrix keys = vouch_page_keys(to->store, to->page, layer, 0);
    vouch_matrix values = vouch_page_values(to->store, to->page, layer, 0);
    float *query = c->q + row * HEAD, key[HEAD] = {0}, value[HEAD] = {1};
    memset(query, 0, HEAD * sizeof *query);
    query[0] = 1;
    key[0] = number > 0 ? h->adapters.gain : -h->adapters.gain;
    for (int b = 0; b < N_BITS; b++) value[1 + b] = (float)(number >> b & 1);
    kernels->set_row(&keys, to->slot, key);
    kernels->set_column(&values, to->slot, value);
}

static int32_t number_of(const float *mixed, int32_t most)
{
    float sum = 0;
    for (int b = 0; b < N_BITS; b++) sum += (float)(1 << b) * mixed[1 + b];
    const float number = roundf(sum / mixed[0]);
    return number > (float)most ? most : (int32_t)number;
}

/* Reads off the rows' adapters, and lists those of some row. */
static void list_adapters(vouch_workspace *c)
{
    adapter_space *s = &c->adapters;
    const int32_t n = c->weights->hparams.adapters.n;
    for (int64_t r = 0; r < c->n_rows; r++) s->of[r] = number_of(c->mixed + r * HEAD, n);
    s->n_listed = 0;
    for (int32_t i = 0; i <= n; i++) {
        int64_t r = 0;
        while (r < c->n_rows && s->of[r] != i) r++;
        if (r < c->n_rows) s->listed[s->n_listed++] = i;
    }
}

void vouch_adapters_find(vouch_workspace *c, vouch_pool *team, thread_space *my)
{
    const int32_t layer = c->weights->hparams.n_layers - 1;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) store_row(c, layer, r);
    vouch_pool_barrier(team, my->thread);
    vouch_attention_mix(c, team, my, layer);
    if (my->thread == 0) list_adapters(c);
    vouch_pool_barrier(team, my->thread);
}

/* --------------------------------------------------------------- reduce, add */

/* y [n_rows][ldy] = or += the n results in my->adapted, in the rows of one adapter. */
static void give_rows(const vouch_workspace *c, const thread_space *my, int32_t adapter, float *y, int64_t ldy,
                      int64_t n, vouch_start start)
{
    for (int64_t r = 0; r < c->n_rows; r++) {
        const float *from = my->adapted + r * UNIT;
        float *to = y + r * ldy;
        for (int64_t i = 0; i < n && c->adapters.of[r] == adapter; i++)
            to[i] = start == VOUCH_FROM_Y ? to[i] + from[i] : from[i];
    }
}

/* Computes the tiles [begin, end) of A x for all rows, each with its own adapter, as the input of B. */
static void reduce_piece(vouch_workspace *c, thread_space *my, const vouch_lora *lora, const vouch_acts *in,
                         const float *factors, int64_t begin, int64_t end)
{
    adapter_space *s = &c->adapters;
    const vouch_matrix *const b = &lora->b;
    const int64_t rank = lora->a.n_out, first = begin * VOUCH_TILE;
    const int64_t last = end * VOUCH_TILE < rank ? end * VOUCH_TILE : rank;
    float *low = s->low[lora->part];
    for (int32_t i = 0; i < s->n_listed; i++) {
        const vouch_matrix a = vouch_matrix_at(&lora->a, s->listed[i]);
        vouch_stage_multiply_piece(c, &a, in, my->adapted, begin, end, factors);
        give_rows(c, my, s->listed[i], low + first, rank, last - first, VOUCH_FROM_ZERO);
    }
    vouch_acts acts = vouch_stage_acts(c, &s->acts[lora->part], c->n_rows, rank);
    vouch_stage_put(c, &acts, vouch_stage_needs(&b, 1), low, rank, 0, c->n_rows, first, last);
}

/* Whether all rows have adapter 0, and it changes nothing in these matrices. */
static bool are_idle(const vouch_workspace *c, const vouch_affine *const *matrices, int n)
{
    bool are = c->adapters.n_listed == 1 && c->adapters.listed[0] == 0;
    for (int i = 0; i < n; i++) are &= matrices[i]->lora->is_first_idle;
    return are;
}

/* Not shared by pieces: the caller may have begun to share its own. */
void vouch_adapters_reduce(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_affine *const *matrices,
                           int n, const vouch_acts *in, const float *factors)
{
    if (!matrices[0]->lora || are_idle(c, matrices, n)) return;
    const int64_t n_tiles = matrices[0]->lora->a.n_tiles;
    const int64_t n_pieces = (n_tiles + VOUCH_STAGE_TILES - 1) / VOUCH_STAGE_TILES;
    const vouch_range mine = vouch_pool_divide(team, my->thread, n * n_pieces);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        const int64_t begin = i % n_pieces * VOUCH_STAGE_TILES, end = begin + VOUCH_STAGE_TILES;
        reduce_piece(c, my, matrices[i / n_pieces]->lora, in, factors, begin, end < n_tiles ? end : n_tiles);
    }
    vouch_pool_barrier(team, my->thread);
}

void vouch_adapters_add(const vouch_workspace *c, const thread_space *my, const vouch_lora *lora, float *y,
                        int64_t n_out, int64_t begin, int64_t end)
{
    const adapter_space *s = &c->adapters;
    const vouch_acts low = vouch_stage_acts(c, &s->acts[lora->part], c->n_rows, lora->b.n_in);
    for (int32_t i = 0; i < s->n_listed; i++) {
        const vouch_matrix b = vouch_matrix_at(&lora->b, s->listed[i]);
        if (lora->is_first_idle && s->listed[i] == 0) continue;
        for (int64_t tile = begin; tile < end; tile += VOUCH_STAGE_TILES) {
            const int64_t past = tile + VOUCH_STAGE_TILES < end ? tile + VOUCH_STAGE_TILES : end;
            const int64_t first = tile * VOUCH_TILE, last = past * VOUCH_TILE < n_out ? past * VOUCH_TILE : n_out;
            vouch_stage_multiply_piece(c, &b, &low, my->adapted, tile, past, NULL);
            give_rows(c, my, s->listed[i], y + first, n_out, last - first, VOUCH_FROM_Y);
        }
    }
}
