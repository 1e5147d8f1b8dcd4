/* SPDX-License-Identifier: MIT */
/*
 * What comes after a product. Adapters of low rank (Hu et al., arXiv 2106.09685):
 *
 *   reduce    low = A x, for each adapter that some row has                        barrier
 *   add       y += B low, beside the matrix that the adapter belongs to
 *
 * Law L1 holds because a row's sums don't depend on the adapters of the other rows.
 */
#include "model/stage/affine.h"

#include <string.h>

#include "model/stage/rows.h"
#include "model/stage/stream.h"

enum { UNIT = VOUCH_EXPERT_UNIT };

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
void vouch_lora_reduce(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_affine *const *matrices,
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

/* y += B A x of each row's adapter, in the tiles [begin, end) of y [n_rows, n_out]. */
static void add_lora(const vouch_workspace *c, const thread_space *my, const vouch_lora *lora, float *y, int64_t n_out,
                     int64_t begin, int64_t end)
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

void vouch_stage_affine(const vouch_workspace *c, const thread_space *my, const vouch_affine *affine, float *y,
                        int64_t n_out, int64_t begin, int64_t end)
{
    const int64_t first = begin * VOUCH_TILE, last = end * VOUCH_TILE < n_out ? end * VOUCH_TILE : n_out;
    if (affine->lora) add_lora(c, my, affine->lora, y, n_out, begin, end);
    if (!affine->scale && !affine->bias) return;
    for (int64_t r = 0; r < c->n_rows; r++) vouch_row_affine(y + r * n_out + first, affine, first, last - first);
}
