/* SPDX-License-Identifier: MIT */
#include "train/teach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/hash.h"
#include "base/philox.h"
#include "train/checkpoint.h"
#include "train/ops.h"

static const double MOST_NORM = 1; /* of a step's gradient */
enum {
    HELD_TOKENS = 1500, /* tokens of answers held back, on which the progress is measured */
    LEAST_WARM = 20     /* steps of the warm-up, unless half of the training is shorter */
};

typedef struct worker {
    train_head_values *values;
    real *grads;        /* [n_dense] */
    train_sums sums[TRAIN_GENERATIONS];
} worker;

typedef struct teacher {
    train_course *course;
    train_head *head;
    real *block;             /* [n_dense] weights */
    real *m, *v;             /* [n_dense] */
    int64_t n_dense;
    real *cosines, *sines;
    int32_t n_workers;
    worker workers[VOUCH_MAX_THREADS];
    train_space shards[TRAIN_SHARDS];
    train_goal goal;         /* of the running step: weights divided by the number of rows */
    train_schedule schedule;
    int64_t step;
    vouch_arena arena;
} teacher;

/* ---------------------------------------------------------------------- memory */

static real *take(vouch_arena *arena, int64_t rows, int64_t n)
{
    return vouch_arena_take(arena, (size_t)rows * (size_t)n, sizeof(real));
}

static void lay_out(teacher *t, int64_t n_positions)
{
    const train_head_shape *s = &t->course->shape;
    const int64_t half = s->layer.heads.head_dim / 2;
    t->m = take(&t->arena, 1, t->n_dense);
    t->v = take(&t->arena, 1, t->n_dense);
    t->cosines = take(&t->arena, n_positions, half);
    t->sines = take(&t->arena, n_positions, half);
    for (int i = 0; i < TRAIN_SHARDS; i++) train_space_take(&t->shards[i], &t->arena, s->n_features, TRAIN_ROWS);
    for (int32_t i = 0; i < t->n_workers; i++) {
        worker *w = &t->workers[i];
        train_head_values scratch;
        w->grads = take(&t->arena, 1, t->n_dense);
        w->values = vouch_arena_take(&t->arena, 1, sizeof *w->values);
        train_head_values_take(w->values ? w->values : &scratch, &t->arena, s, TRAIN_ROWS, TRAIN_ROWS);
    }
}

double train_teach_bytes(const train_course *course, int64_t longest)
{
    teacher *t = calloc(1, sizeof *t);
    if (!t) return 0;
    t->course = (train_course *)(uintptr_t)course; /* only read */
    t->n_dense = train_head_size(&course->shape);
    t->n_workers = vouch_min(vouch_pool_size(course->pool), TRAIN_SHARDS);
    lay_out(t, longest + 1);
    const double bytes = (double)t->arena.used;
    free(t);
    return bytes;
}

static vouch_status teacher_open(teacher *t, vouch_error *err)
{
    const train_course *c = t->course;
    const int64_t n_positions = c->set->longest + 1;
    lay_out(t, n_positions);
    VOUCH_TRY(vouch_arena_allocate(&t->arena, "training", err));
    lay_out(t, n_positions);
    train_angles(t->cosines, t->sines, n_positions, c->shape.layer.heads.head_dim, c->rope_base);
    return train_schedule_open(&t->schedule, c->set, c->seed, TRAIN_ROWS, err);
}

/* ------------------------------------------------------------------ checkpoints */

static uint64_t settings_hash(const teacher *t)
{
    const train_course *c = t->course;
    uint64_t hash = vouch_hash_bytes(VOUCH_HASH_START, c->set->header, sizeof *c->set->header);
    const double numbers[] = {(double)c->shape.width,     (double)c->shape.n_draft,     (double)c->shape.n_layers,
                              (double)c->shape.n_generations, (double)c->shape.layer.n_ff,
                              (double)c->goal.loss,       c->goal.beta,                 c->adam.rate,
                              c->adam.decay,              (double)c->adam.n_steps,      (double)c->seed,
                              (double)c->set->n_rows,     (double)c->set->n_taught,     (double)t->n_workers};
    hash = vouch_hash_bytes(hash, numbers, sizeof numbers);
    return vouch_hash_bytes(hash, c->goal.weights, sizeof c->goal.weights);
}

enum { N_ARRAYS = 3 };
static void arrays_of(const teacher *t, train_array arrays[N_ARRAYS])
{
    const size_t dense = (size_t)t->n_dense * sizeof(real);
    const train_array all[N_ARRAYS] = {{t->block, dense}, {t->m, dense}, {t->v, dense}};
    memcpy(arrays, all, sizeof all);
}

static vouch_status checkpoint_write(const teacher *t, vouch_error *err)
{
    train_array arrays[N_ARRAYS];
    const train_checkpoint header = {settings_hash(t), t->step, t->schedule.epoch, t->schedule.at};
    arrays_of(t, arrays);
    return train_checkpoint_write(t->course->checkpoint, &header, arrays, N_ARRAYS, err);
}

static vouch_status checkpoint_read(teacher *t, vouch_error *err)
{
    train_array arrays[N_ARRAYS];
    train_checkpoint header = {.settings = settings_hash(t)};
    bool found;
    arrays_of(t, arrays);
    VOUCH_TRY(train_checkpoint_read(t->course->checkpoint, &header, arrays, N_ARRAYS, &found, err));
    if (!found) return VOUCH_OK;
    t->step = header.step;
    t->schedule.epoch = header.epoch;
    t->schedule.at = header.at;
    return VOUCH_OK;
}

/* ------------------------------------------------------------------------ steps */

static vouch_status shards_fill(teacher *t, vouch_error *err)
{
    const train_lessons_set *set = t->course->set;
    train_step_plan plan;
    int64_t counted = 0;
    train_schedule_next(&t->schedule, &plan);
    for (int i = 0; i < TRAIN_SHARDS; i++) {
        train_space *space = &t->shards[i];
        train_space_clear(space, t->cosines, t->sines);
        for (int32_t k = 0; k < plan.n[i]; k++) {
            train_sequence s;
            VOUCH_TRY(train_states_read(set->states, (size_t)set->order[plan.answers[i][k]], set->header, &s, err));
            train_space_add(space, set, &s, t->course->drafts, TRAIN_ROWS);
            free(s.tokens);
        }
        for (int64_t r = 0; r < space->batch.rows.n; r++) counted += space->counts[r];
    }
    t->goal = t->course->goal;
    for (int g = 0; g < TRAIN_GENERATIONS; g++) t->goal.weights[g] /= (real)(counted > 0 ? counted : 1);
    return VOUCH_OK;
}

/* One worker's shards. */
static void shards_run(void *arg, vouch_pool *team, int32_t thread)
{
    teacher *t = arg;
    (void)team;
    if (thread >= t->n_workers) return;
    worker *w = &t->workers[thread];
    const train_head_shape *shape = &t->course->shape;
    train_head grads = train_head_at(shape, w->grads);
    memset(w->grads, 0, (size_t)t->n_dense * sizeof *w->grads);
    memset(w->sums, 0, sizeof w->sums);
    for (int i = thread; i < TRAIN_SHARDS; i += t->n_workers) {
        const train_batch *batch = &t->shards[i].batch;
        if (batch->rows.n == 0) continue;
        train_head_run(w->values, t->head, &grads, shape, batch, &t->goal);
        train_head_back(w->values, t->head, &grads, shape, batch);
        for (int32_t g = 0; g < shape->n_generations; g++) {
            w->sums[g].rows += w->values->sums[g].rows;
            w->sums[g].hits += w->values->sums[g].hits;
            w->sums[g].loss += w->values->sums[g].loss;
        }
    }
}

/* Sums the gradients of the workers into the first one's. Returns the gradient's norm. */
static double gradients_gather(teacher *t)
{
    double square = 0;
    for (int32_t i = 1; i < t->n_workers; i++) train_add(t->workers[0].grads, t->workers[i].grads, t->n_dense);
    for (int64_t i = 0; i < t->n_dense; i++) square += (double)(t->workers[0].grads[i] * t->workers[0].grads[i]);
    return sqrt(square);
}

/* A thread's part of the AdamW update. */
static void update_run(void *arg, vouch_pool *team, int32_t thread)
{
    teacher *t = arg;
    const train_adam *adam = &t->course->adam;
    const vouch_range dense = vouch_pool_divide(team, thread, t->n_dense);
    train_adam_step(adam, t->step, t->block + dense.begin, t->m + dense.begin, t->v + dense.begin,
                    t->workers[0].grads + dense.begin, dense.end - dense.begin, adam->decay);
}

static void scale(real *x, int64_t n, double factor)
{
    for (int64_t i = 0; i < n; i++) x[i] *= (real)factor;
}

static vouch_status step_run(teacher *t, train_sums sums[TRAIN_GENERATIONS], vouch_error *err)
{
    VOUCH_TRY(shards_fill(t, err));
    vouch_pool_run(t->course->pool, shards_run, t);
    memset(sums, 0, TRAIN_GENERATIONS * sizeof *sums);
    for (int32_t i = 0; i < t->n_workers; i++)
        for (int32_t g = 0; g < t->course->shape.n_generations; g++) {
            sums[g].rows += t->workers[i].sums[g].rows;
            sums[g].hits += t->workers[i].sums[g].hits;
            sums[g].loss += t->workers[i].sums[g].loss;
        }
    const double norm = gradients_gather(t);
    if (!isfinite(norm) || !isfinite(sums[0].loss))
        return vouch_fail(err, VOUCH_E_NUMERIC,
                          "step %lld: the loss is %g and the gradient's norm %g; the last checkpoint remains. Lower "
                          "the learning rate, or delete the checkpoint",
                          (long long)t->step + 1, sums[0].loss, norm);
    if (norm > MOST_NORM) scale(t->workers[0].grads, t->n_dense, MOST_NORM / norm);
    t->step++;
    vouch_pool_run(t->course->pool, update_run, t);
    return VOUCH_OK;
}

/* ----------------------------------------------------------------------- course */

static vouch_status report(teacher *t, const train_sums *sums, bool measures, vouch_error *err)
{
    const train_course *c = t->course;
    const train_taught taught = {t->head, &c->shape, c->drafts, t->cosines, t->sines};
    train_score held = {0};
    if (measures)
        VOUCH_TRY(train_measure(&held, &taught, c->set, c->set->n_taught, c->set->n, HELD_TOKENS, err));
    if (c->report) c->report(c->user, t->step, c->adam.n_steps, sums, measures ? &held : NULL);
    return VOUCH_OK;
}

static vouch_status teach(teacher *t, vouch_error *err)
{
    train_course *c = t->course;
    train_sums sums[TRAIN_GENERATIONS] = {{0}};
    double saved = vouch_now();
    c->adam.n_steps = train_schedule_steps(&t->schedule, c->n_epochs);
    /* Large first steps destroy the linear head: Adam moves all weights alike, and its means are still noise. */
    c->adam.n_warm = c->adam.n_steps / 20 > LEAST_WARM ? c->adam.n_steps / 20 : LEAST_WARM;
    if (c->adam.n_warm > c->adam.n_steps / 2) c->adam.n_warm = 1 + c->adam.n_steps / 2;
    VOUCH_TRY(checkpoint_read(t, err));
    const int64_t between = 1 + c->adam.n_steps / 10;
    while (t->step < c->adam.n_steps) {
        VOUCH_TRY(step_run(t, sums, err));
        VOUCH_TRY(report(t, sums, t->step % between == 0, err));
        if (c->is_cancelled && c->is_cancelled(c->user)) {
            VOUCH_TRY(checkpoint_write(t, err));
            return vouch_fail(err, VOUCH_E_CANCELLED, "cancelled");
        }
        if (vouch_now() - saved < c->checkpoint_seconds) continue;
        VOUCH_TRY(checkpoint_write(t, err));
        saved = vouch_now();
    }
    return checkpoint_write(t, err);
}

vouch_status train_teach(train_course *course, train_head *head, real *block, vouch_error *err)
{
    teacher *t = calloc(1, sizeof *t);
    if (!t) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for training");
    t->course = course;
    t->head = head;
    t->block = block;
    t->n_dense = train_head_size(&course->shape);
    t->n_workers = vouch_min(vouch_pool_size(course->pool), TRAIN_SHARDS);
    vouch_status status = teacher_open(t, err);
    if (!status) status = teach(t, err);
    train_schedule_close(&t->schedule);
    vouch_arena_free(&t->arena);
    free(t);
    return status;
}

/* A normal number with deviation 1 (Box and Muller). */
static real normal(uint64_t seed, int64_t i)
{
    const double u = 1 - vouch_uniform_of(seed, i, VOUCH_PURPOSE_DRAFT, 0);
    return (real)(sqrt(-2 * log(u)) * cos(6.283185307179586 * vouch_uniform_of(seed, i, VOUCH_PURPOSE_DRAFT, 1)));
}

void train_layers_begin(const train_head *head, const train_head_shape *shape, uint64_t seed)
{
    const train_layer_shape *s = &shape->layer;
    for (int32_t l = 0; l < shape->n_layers; l++) {
        const train_layer *layer = &head->layers[l];
        const int64_t n = train_layer_size(s), q = s->heads.n_heads * s->heads.head_dim;
        for (int64_t i = 0; i < n; i++)
            layer->attn_norm[i] = normal(seed, l * n + i) / real_sqrt((real)s->n_embd);
        for (int64_t i = 0; i < s->n_embd; i++) layer->attn_norm[i] = layer->ffn_norm[i] = 1;
        memset(layer->o, 0, (size_t)(s->n_embd * q) * sizeof *layer->o);
        memset(layer->down, 0, (size_t)(s->n_embd * s->n_ff) * sizeof *layer->down);
    }
}
