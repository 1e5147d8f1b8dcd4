/* SPDX-License-Identifier: MIT */
/*
 * Hyper-connections. The versions of a row lie one after the other, as the matrix of the connections reads them.
 * Sums of versions are cheap and run over pieces of rows, so that all threads have work in a pass of one row.
 */
#include "model/pass/hyper.h"

#include <string.h>

#include "model/stage/stream.h"
#include "model/stage/rows.h"

_Static_assert((int)VOUCH_MOST_VERSIONS <= (int)VOUCH_FEW_ROWS, "a thread's rows hold all versions of a row");
_Static_assert((int)VOUCH_MOST_VERSIONS <= (int)VOUCH_TILE, "a row of mix is one vector");

enum { PIECE = 64 }; /* elements of a version that are computed together */

static float *versions_of(const vouch_workspace *c, int64_t row)
{
    const vouch_hparams *h = &c->weights->hparams;
    return c->hyper.versions + row * h->hyper.n * h->n_embd;
}

void vouch_hyper_spread(vouch_workspace *c, vouch_pool *team, thread_space *my)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++)
        for (int32_t j = 0; j < c->weights->hparams.hyper.n; j++)
            memcpy(versions_of(c, r) + j * n_embd, c->x + r * n_embd, (size_t)n_embd * sizeof *c->x);
    vouch_pool_barrier(team, my->thread);
}

/* ------------------------------------------------------------------- weights */

/* connections = W RMSNorm(versions) */
static void multiply(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_hyper *hyper)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_norm bare = {.kind = VOUCH_NORM_RMS};
    const vouch_matrix *const w = &hyper->weights;
    const int64_t width = w->n_in;
    vouch_acts acts = vouch_stage_acts(c, &c->hyper.acts, c->n_rows, width);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        vouch_row_norm(my->rows, versions_of(c, r), &bare, width, h->norm_eps);
        vouch_stage_put(c, &acts, vouch_type_needs(w->type), my->rows, width, r, r + 1, 0, width);
    }
    acts.needs = vouch_type_needs(w->type);
    vouch_pool_barrier(team, my->thread);
    vouch_work work = vouch_pool_share(team, my->thread, w->n_tiles, 1);
    while (vouch_work_next(&work))
        vouch_stage_multiply(c, w, &acts, c->hyper.connections, work.begin, work.end, VOUCH_FROM_ZERO, NULL);
    vouch_pool_barrier(team, my->thread);
}

/* z [n] = most * sigmoid(scale * z + base) + eps */
static void squash(const vouch_kernels *kernels, float *z, float scale, const float *base, int32_t n, float most,
                   float eps)
{
    for (int32_t i = 0; i < n; i++) z[i] = z[i] * scale + base[i];
    kernels->exp_weights(z, z, n, 0, -1);
    for (int32_t i = 0; i < n; i++) z[i] = most / (1 + z[i]) + eps;
}

/* Divides n elements, `step` apart, by their sum plus eps. */
static void divide_by_sum(float *m, int32_t n, int32_t step, float eps)
{
    float sum = 0;
    for (int32_t i = 0; i < n; i++) sum += m[i * step];
    for (int32_t i = 0; i < n; i++) m[i * step] /= sum + eps;
}

/* m [n, n] = balance(scale * m + base) */
static void balance(const vouch_workspace *c, float *m, float scale, const float *base)
{
    const vouch_hyper_hparams *h = &c->weights->hparams.hyper;
    const int32_t n = h->n;
    for (int32_t i = 0; i < n * n; i++) m[i] = m[i] * scale + base[i];
    for (int32_t i = 0; i < n; i++) {
        float row[VOUCH_TILE] = {0};
        memcpy(row, m + i * n, (size_t)n * sizeof *row);
        const float sum = c->weights->kernels->softmax(row, VOUCH_TILE, n);
        for (int32_t j = 0; j < n; j++) m[i * n + j] = row[j] / sum + h->eps;
    }
    for (int32_t j = 0; j < n; j++) divide_by_sum(m + j, n, n, h->eps);
    for (int32_t round = 1; round < h->n_rounds; round++) {
        for (int32_t i = 0; i < n; i++) divide_by_sum(m + i * n, n, 1, h->eps);
        for (int32_t j = 0; j < n; j++) divide_by_sum(m + j, n, n, h->eps);
    }
}

/* Makes the connections of all rows weights. */
static void weigh(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_hyper *hyper)
{
    const vouch_kernels *kernels = c->weights->kernels;
    const vouch_hyper_hparams *h = &c->weights->hparams.hyper;
    const int32_t n = h->n;
    const int64_t n_out = hyper->weights.n_out;
    const float *base = hyper->base, *scale = hyper->scale;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float *z = c->hyper.connections + r * n_out;
        squash(kernels, z, scale[0], base, n, 1, h->eps);
        if (n_out > n) squash(kernels, z + n, scale[1], base + n, n, h->most, h->write_eps);
        if (n_out > 2 * n) balance(c, z + 2 * n, scale[2], base + 2 * n);
    }
    vouch_pool_barrier(team, my->thread);
}

/* ---------------------------------------------------------------------- sums */

/* A piece of a row: the elements [first, first + size) of each version. */
typedef struct piece {
    int64_t row, first, size;
} piece;

static int64_t n_pieces(const vouch_workspace *c)
{
    return (c->weights->hparams.n_embd + PIECE - 1) / PIECE;
}

static piece piece_at(const vouch_workspace *c, int64_t index)
{
    const int64_t n = n_pieces(c), first = index % n * PIECE, left = c->weights->hparams.n_embd - first;
    return (piece){index / n, first, left < PIECE ? left : PIECE};
}

void vouch_hyper_read(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_hyper *hyper)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    multiply(c, team, my, hyper);
    weigh(c, team, my, hyper);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows * n_pieces(c));
    for (int64_t i = mine.begin; i < mine.end; i++) {
        const piece p = piece_at(c, i);
        const float *read = c->hyper.connections + p.row * hyper->weights.n_out,
                    *from = versions_of(c, p.row) + p.first;
        float *x = c->x + p.row * n_embd + p.first;
        for (int64_t k = 0; k < p.size; k++) x[k] = from[k] * read[0];
        for (int32_t j = 1; j < c->weights->hparams.hyper.n; j++)
            for (int64_t k = 0; k < p.size; k++) x[k] += from[j * n_embd + k] * read[j];
    }
    vouch_pool_barrier(team, my->thread);
}

/* to [n][PIECE] = the sums of a piece's versions: version i counts mix[i][j] times in sum j. */
static void mix_versions(const vouch_workspace *c, const piece *p, const float *mix, float *to)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    const int32_t n = c->weights->hparams.hyper.n;
    const float *from = versions_of(c, p->row) + p->first;
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++)
            for (int64_t k = 0; k < p->size; k++) to[j * PIECE + k] += from[i * n_embd + k] * mix[i * n + j];
}

void vouch_hyper_write(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_hyper *hyper)
{
    const int64_t n_embd = c->weights->hparams.n_embd, n_out = hyper->weights.n_out;
    const int32_t n = c->weights->hparams.hyper.n;
    float sums[VOUCH_MOST_VERSIONS * PIECE];
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows * n_pieces(c));
    for (int64_t i = mine.begin; i < mine.end; i++) {
        const piece p = piece_at(c, i);
        const float *write = c->hyper.connections + p.row * n_out + n, *y = c->branch + p.row * n_embd + p.first;
        float *to = versions_of(c, p.row) + p.first;
        for (int32_t j = 0; j < n; j++)
            for (int64_t k = 0; k < p.size; k++) sums[j * PIECE + k] = y[k] * write[j];
        if (n_out > 2 * n) mix_versions(c, &p, write + n, sums);
        for (int32_t j = 0; j < n; j++)
            for (int64_t k = 0; k < p.size; k++)
                to[j * n_embd + k] = n_out > 2 * n ? sums[j * PIECE + k] : to[j * n_embd + k] + sums[j * PIECE + k];
    }
    vouch_pool_barrier(team, my->thread);
}

void vouch_hyper_average(const vouch_workspace *c, int64_t row, float *y)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    const int32_t n = c->weights->hparams.hyper.n;
    const float *from = versions_of(c, row);
    memcpy(y, from, (size_t)n_embd * sizeof *y);
    for (int32_t j = 1; j < n; j++)
        for (int64_t k = 0; k < n_embd; k++) y[k] += from[j * n_embd + k];
    c->weights->kernels->scale(y, 1 / (float)n, n_embd);
}

void vouch_hyper_gather(vouch_workspace *c, vouch_pool *team, thread_space *my)
{
    if (!c->weights->hparams.hyper.ends_in_mean) {
        vouch_hyper_read(c, team, my, &c->weights->last_read);
        return;
    }
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) vouch_hyper_average(c, r, c->x + r * c->weights->hparams.n_embd);
    vouch_pool_barrier(team, my->thread);
}
