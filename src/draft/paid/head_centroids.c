/* SPDX-License-Identifier: MIT */
#include "draft/paid/head_centroids.h"

#include <math.h>
#include <string.h>

void vouch_centroids_open(vouch_centroids *c, const vouch_head_weights *head, vouch_pool *pool)
{
    const vouch_kernels *kernels = head->body->kernels;
    *c = (vouch_centroids){.head = head,
                           .scores = {.w = &head->centroids.matrix, .kernels = kernels, .pool = pool},
                           .output = {.w = head->body->output, .kernels = kernels, .pool = pool},
                           .shown = -1};
}

void vouch_centroids_layout(vouch_centroids *c, int32_t max_rows, vouch_arena *arena)
{
    const vouch_head_weights *h = c->head;
    const size_t rows = (size_t)max_rows, n_draft = (size_t)h->n_draft;
    c->score = vouch_arena_take(arena, (size_t)h->centroids.matrix.n_out, sizeof *c->score);
    c->best = vouch_arena_take(arena, rows * (size_t)h->centroids.n_best, sizeof *c->best);
    c->n_found = vouch_arena_take(arena, rows, sizeof *c->n_found);
    c->values = vouch_arena_take(arena, rows * n_draft, sizeof *c->values);
    c->logits = vouch_arena_take(arena, n_draft, sizeof *c->logits);
    vouch_projection_layout(&c->scores, 1, arena);
    vouch_projection_layout(&c->output, 1, arena);
}

void vouch_centroids_clear(vouch_centroids *c)
{
    for (int32_t t = 0; t < c->head->n_draft; t++) c->logits[t] = -INFINITY;
}

/* Finds the `most` best scores, the best first; of equal ones the first. Returns their number: fewer, where scores are
 * not numbers. */
static int32_t find_best(const float *score, int64_t n, int32_t most, int32_t *best)
{
    int32_t n_found = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t at = n_found;
        if (isnan(score[i])) continue;
        while (at > 0 && score[best[at - 1]] < score[i]) at--;
        if (at == most) continue;
        if (n_found < most) n_found++;
        memmove(best + at + 1, best + at, (size_t)(n_found - 1 - at) * sizeof *best);
        best[at] = i;
    }
    return n_found;
}

/* Writes to the target's tokens of row i's centroids: their logits, or that they have no chance. */
static void show(vouch_centroids *c, int32_t i, bool has_chance)
{
    const vouch_head_weights *h = c->head;
    const int32_t n_each = h->centroids.n_each, *best = c->best + (int64_t)i * h->centroids.n_best;
    const float *values = c->values + (int64_t)i * h->n_draft;
    for (int32_t b = 0; b < c->n_found[i]; b++)
        for (int32_t d = best[b] * n_each; d < (best[b] + 1) * n_each; d++)
            c->logits[h->tokens[d]] = has_chance ? values[d] : -INFINITY;
}

void vouch_centroids_run(vouch_centroids *c, const float *s, int32_t n)
{
    const vouch_head_weights *h = c->head;
    const vouch_head_centroids *centroids = &h->centroids;
    if (c->shown >= 0) show(c, c->shown, false);
    c->shown = -1;
    for (int32_t i = 0; i < n; i++) {
        const float *x = s + i * h->body->hparams.n_embd;
        int32_t *best = c->best + (int64_t)i * centroids->n_best;
        vouch_projection_run(&c->scores, x, c->score, 1);
        c->n_found[i] = find_best(c->score, centroids->matrix.n_out, centroids->n_best, best);
        vouch_projection_run_parts(&c->output, x, c->values + (int64_t)i * h->n_draft, best, c->n_found[i],
                                   centroids->n_each);
    }
}

const float *vouch_centroids_logits(vouch_centroids *c, int32_t i)
{
    if (c->shown == i) return c->logits;
    if (c->shown >= 0) show(c, c->shown, false);
    show(c, i, true);
    c->shown = i;
    return c->logits;
}
