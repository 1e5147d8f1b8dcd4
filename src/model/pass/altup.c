/* SPDX-License-Identifier: MIT */
/* Versions of the stream. All but the projections are cheap, so a thread does whole rows. */
#include "model/pass/altup.h"

#include <math.h>
#include <string.h>

#include "model/stage/stream.h"
#include "model/stage/rows.h"

static float *version_of(const vouch_workspace *c, int32_t version, int64_t row)
{
    return c->versions + ((int64_t)version * c->max_rows + row) * c->weights->hparams.n_embd;
}

/* y [rows of w] = W x, by dot products of single rows. `room` has a row of w. */
static void multiply_row(float *y, const vouch_matrix *w, const float *x, float *room)
{
    for (int64_t i = 0; i < w->n_out; i++) {
        vouch_matrix_get_row(w, i, room);
        y[i] = vouch_row_dot(room, x, w->n_in);
    }
}

/* m [n_versions] = tanh(W_router norm(x) / n_embd) */
static void route(const vouch_workspace *c, thread_space *my, const vouch_altup *a, const float *x, float *m)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_norm norm = {.kind = VOUCH_NORM_RMS, .weight = a->router_norm};
    vouch_row_norm(my->rows, x, &norm, h->n_embd, h->norm_eps);
    c->weights->kernels->scale(my->rows, 1 / (float)h->n_embd, h->n_embd);
    multiply_row(m, &a->router, my->rows, my->rows + h->n_embd);
    vouch_row_softcap(c->weights->kernels, m, 1, h->n_versions);
}

/* Scales y to the root mean square of `like`. The mean square of y counts as 1e-5 at least. */
static void scale_like(const vouch_workspace *c, float *y, const float *like)
{
    const int64_t n = c->weights->hparams.n_embd;
    const float target = vouch_row_dot(like, like, n) / (float)n, own = vouch_row_dot(y, y, n) / (float)n;
    c->weights->kernels->scale(y, sqrtf(target) / sqrtf(own > 1e-5f ? own : 1e-5f), n);
}

/* version[j] = W_j x_j for all j > 0, where x_j is x, or version[j] itself. */
static void project(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_matrix *first, bool reads_x)
{
    const int64_t n_embd = c->weights->hparams.n_embd;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    vouch_acts acts = vouch_stage_acts(c, &c->acts, c->n_rows, n_embd);
    for (int32_t j = 1; j < c->weights->hparams.n_versions; j++) {
        const vouch_matrix w = vouch_matrix_at(first, j - 1);
        const float *from = reads_x ? c->x : version_of(c, j, 0);
        if (mine.begin < mine.end && (j == 1 || !reads_x))
            vouch_stage_put(c, &acts, vouch_type_needs(w.type), from + mine.begin * n_embd, n_embd, mine.begin,
                            mine.end, 0, n_embd);
        acts.needs = vouch_type_needs(w.type);
        vouch_pool_barrier(team, my->thread);
        vouch_work work = vouch_pool_share(team, my->thread, w.n_tiles, VOUCH_STAGE_TILES);
        while (vouch_work_next(&work))
            vouch_stage_multiply(c, &w, &acts, version_of(c, j, 0), work.begin, work.end, VOUCH_FROM_ZERO, NULL);
        vouch_pool_barrier(team, my->thread);
    }
}

void vouch_altup_spread(vouch_workspace *c, vouch_pool *team, thread_space *my)
{
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    const int64_t n_embd = c->weights->hparams.n_embd;
    project(c, team, my, &c->weights->spread, true);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        memcpy(version_of(c, 0, r), c->x + r * n_embd, (size_t)n_embd * sizeof *c->x);
        for (int32_t j = 1; j < c->weights->hparams.n_versions; j++)
            scale_like(c, version_of(c, j, r), version_of(c, 0, r));
    }
    vouch_pool_barrier(team, my->thread);
}

/* Makes the versions of a row their guesses. */
static void predict_row(const vouch_workspace *c, thread_space *my, const vouch_altup *a, int64_t row)
{
    const int32_t n = c->weights->hparams.n_versions;
    const int64_t n_embd = c->weights->hparams.n_embd;
    float m[VOUCH_MOST_VERSIONS], shares[VOUCH_MOST_VERSIONS * VOUCH_MOST_VERSIONS], guess[VOUCH_MOST_VERSIONS];
    route(c, my, a, version_of(c, 0, row), m);
    multiply_row(shares, &a->predict, m, my->rows);
    for (int64_t k = 0; k < n_embd; k++) {
        for (int32_t j = 0; j < n; j++) {
            guess[j] = 0;
            for (int32_t i = 0; i < n; i++) guess[j] += shares[j * n + i] * version_of(c, i, row)[k];
        }
        for (int32_t j = 0; j < n; j++) version_of(c, j, row)[k] += guess[j];
    }
}

void vouch_altup_predict(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    const int64_t n_embd = c->weights->hparams.n_embd;
    for (int64_t r = mine.begin; r < mine.end; r++) {
        predict_row(c, my, &c->weights->layers[layer].altup, r);
        memcpy(c->x + r * n_embd, version_of(c, 0, r), (size_t)n_embd * sizeof *c->x);
    }
    vouch_pool_barrier(team, my->thread);
}

/* c->branch = W_right W_left norm(guess[0]) */
static void compute_laurel(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_laurel *l = &c->weights->layers[layer].laurel;
    const vouch_matrix *const right = &l->right;
    const int64_t rank = l->left.n_out;
    const stream_reader me = vouch_stream_reader_laurel(c, layer);
    const vouch_acts in = vouch_stream_receive(c, team, my, &me);
    vouch_acts low = vouch_stage_acts(c, &c->low_acts, c->n_rows, rank);
    vouch_work work = vouch_pool_share(team, my->thread, l->left.n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work))
        vouch_stage_multiply(c, &l->left, &in, c->low, work.begin, work.end, VOUCH_FROM_ZERO, NULL);
    vouch_pool_barrier(team, my->thread);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    if (mine.begin < mine.end)
        vouch_stage_put(c, &low, vouch_stage_needs(&right, 1), c->low + mine.begin * rank, rank, mine.begin, mine.end,
                        0, rank);
    low.needs = vouch_stage_needs(&right, 1);
    vouch_pool_barrier(team, my->thread);
    work = vouch_pool_share(team, my->thread, right->n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work))
        vouch_stage_multiply(c, right, &low, c->branch, work.begin, work.end, VOUCH_FROM_ZERO, NULL);
    vouch_pool_barrier(team, my->thread);
}

void vouch_altup_widen(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_layer *l = &c->weights->layers[layer];
    const vouch_norm norm = {.kind = VOUCH_NORM_RMS, .weight = l->laurel.norm};
    const float half = 1 / sqrtf(2);
    compute_laurel(c, team, my, layer);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float *x = c->x + r * h->n_embd, *y = c->branch + r * h->n_embd;
        vouch_row_norm(my->rows, version_of(c, 0, r), &l->mix.norm, h->n_embd, h->norm_eps);
        vouch_row_norm(y, y, &norm, h->n_embd, h->norm_eps);
        for (int64_t k = 0; k < h->n_embd; k++) x[k] = (x[k] + (y[k] + my->rows[k])) * half;
    }
    vouch_pool_barrier(team, my->thread);
}

void vouch_altup_correct(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_altup *a = &c->weights->layers[layer].altup;
    const int32_t n = c->weights->hparams.n_versions;
    const int64_t n_embd = c->weights->hparams.n_embd;
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float m[VOUCH_MOST_VERSIONS], shares[VOUCH_MOST_VERSIONS];
        float *x = c->x + r * n_embd;
        route(c, my, a, x, m);
        multiply_row(shares, &a->correct, m, my->rows);
        for (int64_t k = 0; k < n_embd; k++) {
            const float error = x[k] - version_of(c, 0, r)[k];
            for (int32_t j = 0; j < n; j++) version_of(c, j, r)[k] += error * (1 + shares[j]);
            x[k] = version_of(c, 0, r)[k] * a->correct_scale[k];
        }
    }
    vouch_pool_barrier(team, my->thread);
}

void vouch_altup_add(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer)
{
    const vouch_hparams *h = &c->weights->hparams;
    const vouch_norm norm = {.kind = VOUCH_NORM_RMS, .weight = c->weights->layers[layer].extra.norm_after};
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float *y = c->branch + r * h->n_embd;
        vouch_row_norm(y, y, &norm, h->n_embd, h->norm_eps);
        for (int32_t j = 1; j < h->n_versions; j++)
            for (int64_t k = 0; k < h->n_embd; k++) version_of(c, j, r)[k] += y[k];
        memcpy(c->x + r * h->n_embd, version_of(c, 0, r), (size_t)h->n_embd * sizeof *c->x);
    }
    vouch_pool_barrier(team, my->thread);
}

void vouch_altup_gather(vouch_workspace *c, vouch_pool *team, thread_space *my)
{
    const int32_t n = c->weights->hparams.n_versions;
    const int64_t n_embd = c->weights->hparams.n_embd;
    project(c, team, my, &c->weights->gather, false);
    const vouch_range mine = vouch_pool_divide(team, my->thread, c->n_rows);
    for (int64_t r = mine.begin; r < mine.end; r++) {
        float *x = c->x + r * n_embd;
        for (int32_t j = 1; j < n; j++) {
            scale_like(c, version_of(c, j, r), version_of(c, 0, r));
            for (int64_t k = 0; k < n_embd; k++) x[k] += version_of(c, j, r)[k];
        }
        c->weights->kernels->scale(x, 1 / (float)n, n_embd);
    }
    vouch_pool_barrier(team, my->thread);
}
