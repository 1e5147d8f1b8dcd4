/* SPDX-License-Identifier: MIT */
/*
 * What comes after a product. Adapters of low rank (Hu et al., arXiv 2106.09685):
 *
 *   reduce    low = s f A x, for each adapter i that some row has                  barrier
 *   add       y += B low, adapter by adapter in ascending order, beside the matrix that they belong to
 *
 * Law L1 holds because a row gets only the sums of its own adapters: those whose scale s is not 0.
 */
#include "model/stage/affine.h"

#include <string.h>

#include "model/stage/rows.h"
#include "model/stage/stream.h"

enum { UNIT = VOUCH_EXPERT_UNIT };

/* The scale that a row has for an adapter; 0: the row doesn't have it. */
static float scale_of(const vouch_workspace *c, int64_t row, int32_t adapter)
{
    return c->adapters.scales[row * c->weights->adapters.n + adapter];
}

static int32_t slot_of(const vouch_workspace *c, int32_t adapter)
{
    return c->weights->adapters.n_slots == 1 ? 0 : adapter;
}

void vouch_adapters_list(vouch_workspace *c)
{
    adapter_space *s = &c->adapters;
    s->n_listed = 0;
    for (int32_t i = 0; i < c->weights->adapters.n; i++) {
        int64_t r = 0;
        while (r < c->n_rows && scale_of(c, r, i) == 0) r++;
        if (r < c->n_rows) s->listed[s->n_listed++] = i;
    }
}

/* A x of an adapter and its slot. */
static float *low_of(const vouch_workspace *c, int32_t part, int32_t adapter)
{
    const size_t each = (size_t)c->max_rows * (size_t)c->weights->adapters.most_rank;
    return c->adapters.low[part] + (size_t)slot_of(c, adapter) * each;
}

static vouch_acts acts_of(const vouch_workspace *c, int32_t part, int32_t adapter, int64_t rank)
{
    return vouch_stage_acts(c, &c->adapters.acts[part][slot_of(c, adapter)], c->n_rows, rank);
}

/* Computes the tiles [begin, end) of s f A x of an adapter, in the rows that have it, as the input of B. */
static void reduce_piece(vouch_workspace *c, thread_space *my, const vouch_lora *lora, int32_t adapter,
                         const vouch_acts *in, const float *factors, int64_t begin, int64_t end)
{
    const vouch_matrix *a = &lora->a[adapter];
    const int64_t rank = a->n_out, first = begin * VOUCH_TILE;
    const int64_t last = end * VOUCH_TILE < rank ? end * VOUCH_TILE : rank;
    float *low = low_of(c, lora->part, adapter);
    vouch_acts acts = acts_of(c, lora->part, adapter, rank);
    vouch_stage_multiply_piece(c, a, in, my->adapted, begin, end, factors);
    for (int64_t r = 0; r < c->n_rows; r++) {
        const float scale = scale_of(c, r, adapter) * lora->factors[adapter];
        const float *from = my->adapted + r * UNIT;
        float *row = low + r * rank;
        if (scale_of(c, r, adapter) == 0) continue; /* in a shared slot the row may be another adapter's */
        for (int64_t i = 0; i < last - first; i++) row[first + i] = scale * from[i];
        vouch_stage_put(c, &acts, lora->low_needs, row, rank, r, r + 1, first, last);
    }
}

/* Not shared by pieces: the caller may have begun to share its own. */
void vouch_lora_reduce(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_affine *const *matrices,
                       int n, const vouch_acts *in, const float *factors)
{
    const adapter_space *s = &c->adapters;
    const int64_t n_tiles = (c->weights->adapters.most_rank + VOUCH_TILE - 1) / VOUCH_TILE;
    const int64_t n_pieces = (n_tiles + VOUCH_STAGE_TILES - 1) / VOUCH_STAGE_TILES, n_each = s->n_listed * n_pieces;
    bool have_any = false;
    for (int i = 0; i < n; i++) have_any |= matrices[i]->lora != NULL;
    if (!have_any || s->n_listed == 0) return;
    const vouch_range mine = vouch_pool_divide(team, my->thread, n * n_each);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        const vouch_lora *lora = matrices[i / n_each]->lora;
        const int32_t adapter = s->listed[i % n_each / n_pieces];
        const int64_t begin = i % n_pieces * VOUCH_STAGE_TILES, end = begin + VOUCH_STAGE_TILES;
        if (!lora || begin >= lora->a[adapter].n_tiles) continue;
        reduce_piece(c, my, lora, adapter, in, factors, begin,
                     end < lora->a[adapter].n_tiles ? end : lora->a[adapter].n_tiles);
    }
    vouch_pool_barrier(team, my->thread);
}

/* y += B low of an adapter, in the rows that have it and the tiles [begin, end) of y [n_rows, n_out]. */
static void add_adapter(const vouch_workspace *c, const thread_space *my, const vouch_lora *lora, int32_t adapter,
                        float *y, int64_t n_out, int64_t begin, int64_t end)
{
    const vouch_matrix *b = &lora->b[adapter];
    const vouch_acts low = acts_of(c, lora->part, adapter, b->n_in);
    for (int64_t tile = begin; tile < end; tile += VOUCH_STAGE_TILES) {
        const int64_t past = tile + VOUCH_STAGE_TILES < end ? tile + VOUCH_STAGE_TILES : end;
        const int64_t first = tile * VOUCH_TILE, last = past * VOUCH_TILE < n_out ? past * VOUCH_TILE : n_out;
        vouch_stage_multiply_piece(c, b, &low, my->adapted, tile, past, NULL);
        for (int64_t r = 0; r < c->n_rows; r++) {
            float *to = y + r * n_out + first;
            if (scale_of(c, r, adapter) == 0) continue;
            for (int64_t i = 0; i < last - first; i++) to[i] += my->adapted[r * UNIT + i];
        }
    }
}

static void add_lora(const vouch_workspace *c, const thread_space *my, const vouch_lora *lora, float *y, int64_t n_out,
                     int64_t begin, int64_t end)
{
    const adapter_space *s = &c->adapters;
    for (int32_t i = 0; i < s->n_listed; i++)
        if (lora->a[s->listed[i]].n_out > 0) add_adapter(c, my, lora, s->listed[i], y, n_out, begin, end);
}

void vouch_stage_affine(const vouch_workspace *c, const thread_space *my, const vouch_affine *affine, float *y,
                        int64_t n_out, int64_t begin, int64_t end)
{
    const int64_t first = begin * VOUCH_TILE, last = end * VOUCH_TILE < n_out ? end * VOUCH_TILE : n_out;
    if (affine->lora) add_lora(c, my, affine->lora, y, n_out, begin, end);
    if (!affine->scale && !affine->bias) return;
    for (int64_t r = 0; r < c->n_rows; r++) vouch_row_affine(y + r * n_out + first, affine, first, last - first);
}
