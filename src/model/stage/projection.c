/* SPDX-License-Identifier: MIT */
#include "model/stage/projection.h"

#include "model/stage/stream.h"

void vouch_projection_layout(vouch_projection *projection, int32_t max_rows, vouch_arena *arena)
{
    const vouch_matrix *w = projection->w;
    vouch_acts_layout(&projection->acts, (size_t)max_rows, (size_t)w->n_in, vouch_type_needs(w->type), arena);
}

/* The rows become the matrix's input, each by one thread. */
static void take_input(vouch_projection *p, vouch_pool *team, int32_t thread)
{
    const vouch_matrix *w = p->w;
    vouch_acts acts = p->acts;
    const vouch_range mine = vouch_pool_divide(team, thread, acts.n_rows);
    for (int64_t i = mine.begin; i < mine.end; i++) {
        const float *x = p->x + i * w->n_in;
        if (acts.needs & VOUCH_NEEDS_QUANTS) p->kernels->quantize(&acts, x, w->n_in, i, i + 1, 0, w->n_in);
        if (acts.needs & VOUCH_NEEDS_FLOATS) p->kernels->interleave(&acts, x, w->n_in, i, i + 1, 0, w->n_in);
    }
    vouch_pool_barrier(team, thread);
}

/* Then the threads share the tiles. */
static void project(void *arg, vouch_pool *team, int32_t thread)
{
    vouch_projection *p = arg;
    const vouch_matrix *w = p->w;
    const vouch_result result = {p->y, w->n_out, VOUCH_TILE, VOUCH_FROM_ZERO, NULL};
    const vouch_acts acts = p->acts;
    take_input(p, team, thread);
    vouch_work work = vouch_pool_share(team, thread, w->n_tiles, VOUCH_STAGE_TILES);
    while (vouch_work_next(&work)) {
        p->kernels->matmul[w->type](w, &acts, result, work.begin, work.end);
        const int64_t first = work.begin * VOUCH_TILE;
        const int64_t last = work.end * VOUCH_TILE < w->n_out ? work.end * VOUCH_TILE : w->n_out;
        for (int64_t i = 0; p->bias && i < acts.n_rows; i++)
            for (int64_t o = first; o < last; o++) p->y[i * w->n_out + o] += p->bias[o];
    }
}

/* The threads share the parts. */
static void project_parts(void *arg, vouch_pool *team, int32_t thread)
{
    vouch_projection *p = arg;
    const vouch_matrix *w = p->w;
    const vouch_result result = {p->y, w->n_out, VOUCH_TILE, VOUCH_FROM_ZERO, NULL};
    const int64_t n_tiles = p->n_each / VOUCH_TILE;
    take_input(p, team, thread);
    const vouch_range mine = vouch_pool_divide(team, thread, p->n_parts);
    for (int64_t i = mine.begin; i < mine.end; i++)
        p->kernels->matmul[w->type](w, &p->acts, result, p->parts[i] * n_tiles, (p->parts[i] + 1) * n_tiles);
}

static void begin(vouch_projection *p, const float *x, float *y, int32_t n)
{
    p->acts.n_rows = n;
    p->acts.n_in = p->w->n_in;
    p->acts.group_rows = p->kernels->group_rows;
    p->acts.needs = vouch_type_needs(p->w->type);
    p->x = x;
    p->y = y;
}

void vouch_projection_run(vouch_projection *projection, const float *x, float *y, int32_t n)
{
    begin(projection, x, y, n);
    vouch_pool_run(projection->pool, project, projection);
}

void vouch_projection_run_parts(vouch_projection *projection, const float *x, float *y, const int32_t *parts, int32_t n,
                                int32_t n_each)
{
    vouch_projection *p = projection;
    begin(p, x, y, 1);
    p->parts = parts;
    p->n_parts = n;
    p->n_each = n_each;
    vouch_pool_run(p->pool, n_each % VOUCH_TILE == 0 ? project_parts : project, p);
}
