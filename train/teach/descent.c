/* SPDX-License-Identifier: MIT */
#include "train/teach/descent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/hash.h"
#include "train/teach/checkpoint.h"
#include "train/network/ops.h"

static const double MOST_NORM = 1; /* of a step's gradient */
enum { LEAST_WARM = 20 };          /* steps of the warm-up, unless half of the training is shorter */

typedef struct worker {
    real *grads; /* [n_weights] */
    train_sums sums[TRAIN_GENERATIONS];
} worker;

typedef struct descender {
    train_descent *descent;
    const train_network *network;
    real *m, *v; /* [n_weights] */
    int32_t n_workers;
    worker workers[VOUCH_MAX_THREADS];
    const train_lessons_set *set; /* of the running round */
    train_schedule schedule;
    int64_t step, counted;
    uint64_t settings; /* of the checkpoints */
    vouch_arena arena;
} descender;

/* ---------------------------------------------------------------------- memory */

static void lay_out(descender *d)
{
    const train_network *n = d->network;
    const size_t size = (size_t)n->n_weights;
    d->m = vouch_arena_take(&d->arena, size, sizeof(real));
    d->v = vouch_arena_take(&d->arena, size, sizeof(real));
    for (int32_t i = 0; i < d->n_workers; i++) d->workers[i].grads = vouch_arena_take(&d->arena, size, sizeof(real));
    n->lay_out(n->user, &d->arena, d->n_workers);
}

static descender *descender_new(train_descent *descent)
{
    descender *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->descent = descent;
    d->network = &descent->network;
    d->n_workers = vouch_min(vouch_pool_size(descent->pool), TRAIN_SHARDS);
    lay_out(d);
    return d;
}

double train_descent_bytes(const train_descent *descent)
{
    descender *d = descender_new((train_descent *)(uintptr_t)descent); /* only read */
    const double bytes = d ? (double)d->arena.used : 0;
    free(d);
    return bytes;
}

/* ------------------------------------------------------------------ checkpoints */

static uint64_t settings_hash(const descender *d)
{
    const train_descent *c = d->descent;
    const double numbers[] = {c->adam.rate,    c->adam.decay,          (double)c->adam.n_steps,  (double)c->n_epochs,
                              (double)c->seed, (double)d->set->n_rows, (double)d->set->n_taught, (double)d->n_workers};
    return vouch_hash_bytes(vouch_hash_word(VOUCH_HASH_START, d->network->settings), numbers, sizeof numbers);
}

enum { N_ARRAYS = 3 };
static void arrays_of(const descender *d, train_array arrays[N_ARRAYS])
{
    const size_t size = (size_t)d->network->n_weights * sizeof(real);
    const train_array all[N_ARRAYS] = {{d->network->weights, size}, {d->m, size}, {d->v, size}};
    memcpy(arrays, all, sizeof all);
}

static vouch_status checkpoint_write(const descender *d, vouch_error *err)
{
    train_array arrays[N_ARRAYS];
    const train_checkpoint header = {d->settings, d->step, d->schedule.epoch, d->schedule.at};
    arrays_of(d, arrays);
    return train_checkpoint_write(d->descent->checkpoint, &header, arrays, N_ARRAYS, err);
}

static vouch_status checkpoint_read(descender *d, vouch_error *err)
{
    train_array arrays[N_ARRAYS];
    train_checkpoint header = {.settings = d->settings};
    bool found;
    arrays_of(d, arrays);
    VOUCH_TRY(train_checkpoint_read(d->descent->checkpoint, &header, arrays, N_ARRAYS, &found, err));
    if (!found) return VOUCH_OK;
    d->step = header.step;
    d->schedule.epoch = header.epoch;
    d->schedule.at = header.at;
    if (d->network->follow) d->network->follow(d->network->user);
    return VOUCH_OK;
}

/* ------------------------------------------------------------------------ steps */

/* Turns n answers, indices into set->order, into a shard. Adds the rows that the loss counts to d->counted. */
static vouch_status shard_fill(descender *d, int32_t shard, const int32_t *answers, int32_t n, vouch_error *err)
{
    const train_network *network = d->network;
    const train_lessons_set *set = d->set;
    train_space *space = network->clear(network->user, shard);
    for (int32_t k = 0; k < n; k++) {
        train_sequence answer;
        VOUCH_TRY(train_states_read(set->states, (size_t)set->order[answers[k]], set->header, &answer, err));
        network->add(network->user, set, space, &answer);
        free(answer.tokens);
    }
    for (int64_t r = 0; r < space->batch.rows.n; r++) d->counted += space->counts[r];
    return VOUCH_OK;
}

static vouch_status shards_fill(descender *d, vouch_error *err)
{
    const train_network *n = d->network;
    train_step_plan plan;
    d->counted = 0;
    train_schedule_next(&d->schedule, &plan);
    for (int i = 0; i < TRAIN_SHARDS; i++) VOUCH_TRY(shard_fill(d, i, plan.answers[i], plan.n[i], err));
    if (d->counted == 0) d->counted = 1;
    if (n->begin) n->begin(n->user, d->step);
    return VOUCH_OK;
}

/* One worker's shards. */
static void shards_run(void *arg, vouch_pool *team, int32_t thread)
{
    descender *d = arg;
    const train_network *n = d->network;
    (void)team;
    if (thread >= d->n_workers) return;
    worker *w = &d->workers[thread];
    memset(w->grads, 0, (size_t)n->n_weights * sizeof *w->grads);
    memset(w->sums, 0, sizeof w->sums);
    for (int i = thread; i < TRAIN_SHARDS; i += d->n_workers) n->run(n->user, thread, i, d->counted, w->grads, w->sums);
}

/* Sums the gradients of the workers into the first one's. Returns the gradient's norm. */
static double gradients_gather(descender *d)
{
    const int64_t n = d->network->n_weights;
    double square = 0;
    for (int32_t i = 1; i < d->n_workers; i++) train_add(d->workers[0].grads, d->workers[i].grads, n);
    for (int64_t i = 0; i < n; i++) square += (double)(d->workers[0].grads[i] * d->workers[0].grads[i]);
    return sqrt(square);
}

/* A thread's part of the AdamW update. */
static void update_run(void *arg, vouch_pool *team, int32_t thread)
{
    descender *d = arg;
    const train_adam *adam = &d->descent->adam;
    const vouch_range part = vouch_pool_divide(team, thread, d->network->n_weights);
    train_adam_step(adam, d->step, d->network->weights + part.begin, d->m + part.begin, d->v + part.begin,
                    d->workers[0].grads + part.begin, part.end - part.begin, adam->decay);
}

static void scale(real *x, int64_t n, double factor)
{
    for (int64_t i = 0; i < n; i++) x[i] *= (real)factor;
}

/* The steps of rounds to come aren't known. So the learning rate supposes that they will be as many for each round as
 * they have been so far. */
static void steps_foresee(descender *d)
{
    train_descent *c = d->descent;
    const double rounds = (double)c->n_epochs * c->n_rounds;
    const double done = (double)d->schedule.epoch + (double)d->schedule.at / (double)d->set->n_taught;
    if (c->lessons) c->adam.n_steps = llround((double)d->step * rounds / done);
}

static vouch_status step_run(descender *d, train_sums sums[TRAIN_GENERATIONS], vouch_error *err)
{
    VOUCH_TRY(shards_fill(d, err));
    vouch_pool_run(d->descent->pool, shards_run, d);
    memset(sums, 0, TRAIN_GENERATIONS * sizeof *sums);
    for (int32_t i = 0; i < d->n_workers; i++)
        for (int32_t g = 0; g < d->network->n_sums; g++) train_sums_add(&sums[g], &d->workers[i].sums[g]);
    const double norm = gradients_gather(d);
    if (!isfinite(norm) || !isfinite(sums[0].loss))
        return vouch_fail(err, VOUCH_E_NUMERIC,
                          "step %lld: the loss is %g and the gradient's norm %g; the last checkpoint remains. Lower "
                          "the learning rate, or delete the checkpoint",
                          (long long)d->step + 1, sums[0].loss, norm);
    if (norm > MOST_NORM) scale(d->workers[0].grads, d->network->n_weights, MOST_NORM / norm);
    d->step++;
    steps_foresee(d);
    vouch_pool_run(d->descent->pool, update_run, d);
    if (d->network->follow) d->network->follow(d->network->user);
    return VOUCH_OK;
}

/* ----------------------------------------------------------------------- rounds */

/* Opens the schedule over a set, at the position (epoch, at). */
static vouch_status schedule_open(descender *d, const train_lessons_set *set, vouch_error *err)
{
    const int64_t epoch = d->schedule.epoch, at = d->schedule.at;
    train_schedule_close(&d->schedule);
    VOUCH_TRY(train_schedule_open(&d->schedule, set, d->descent->seed, TRAIN_ROWS, d->descent->n_rowless, err));
    d->schedule.epoch = epoch;
    d->schedule.at = at;
    d->set = set;
    return VOUCH_OK;
}

/* Opens the lessons of the round that the schedule has reached. They may come from the network itself, so a checkpoint
 * keeps its weights first. */
static vouch_status round_open(descender *d, vouch_error *err)
{
    const train_descent *c = d->descent;
    const train_lessons_set *set = c->set;
    if (!c->lessons) return VOUCH_OK;
    const bool begins = d->schedule.at == 0;
    if (begins && d->step > 0) VOUCH_TRY(checkpoint_write(d, err));
    VOUCH_TRY(c->lessons(c->user, d->schedule.epoch, begins, &set, err));
    return schedule_open(d, set, err);
}

static vouch_status report(descender *d, const train_sums *sums, bool measures, vouch_error *err)
{
    const train_descent *c = d->descent;
    train_score held = {0};
    if (measures) VOUCH_TRY(d->network->measure(d->network->user, &held, err));
    if (c->report) c->report(c->user, d->step, c->adam.n_steps, sums, measures ? &held : NULL);
    return VOUCH_OK;
}

static vouch_status begin(descender *d, vouch_error *err)
{
    train_descent *c = d->descent;
    VOUCH_TRY(vouch_arena_allocate(&d->arena, "training", err));
    lay_out(d);
    VOUCH_TRY(schedule_open(d, c->set, err));
    c->adam.n_steps = train_schedule_steps(&d->schedule, c->n_epochs);
    /* Large first steps destroy what the network begins with: Adam moves all weights alike, and its means are still
     * noise. */
    c->adam.n_warm = c->adam.n_steps / 20 > LEAST_WARM ? c->adam.n_steps / 20 : LEAST_WARM;
    if (c->adam.n_warm > c->adam.n_steps / 2) c->adam.n_warm = 1 + c->adam.n_steps / 2;
    d->settings = settings_hash(d);
    return checkpoint_read(d, err);
}

static vouch_status descend(descender *d, vouch_error *err)
{
    train_descent *c = d->descent;
    train_sums sums[TRAIN_GENERATIONS] = {{0}};
    double saved = vouch_now();
    VOUCH_TRY(begin(d, err));
    const int64_t between = 1 + c->adam.n_steps / 10;
    for (int64_t round = -1; d->schedule.epoch < (int64_t)c->n_epochs * c->n_rounds;) {
        if (round != d->schedule.epoch) VOUCH_TRY(round_open(d, err));
        round = d->schedule.epoch;
        VOUCH_TRY(step_run(d, sums, err));
        VOUCH_TRY(report(d, sums, d->step % between == 0, err));
        if (c->is_cancelled && c->is_cancelled(c->user)) {
            VOUCH_TRY(checkpoint_write(d, err));
            return vouch_fail(err, VOUCH_E_CANCELLED, "cancelled");
        }
        if (vouch_now() - saved < c->checkpoint_seconds) continue;
        VOUCH_TRY(checkpoint_write(d, err));
        saved = vouch_now();
    }
    return checkpoint_write(d, err);
}

vouch_status train_descend(train_descent *descent, vouch_error *err)
{
    descender *d = descender_new(descent);
    if (!d) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for training");
    const vouch_status status = descend(d, err);
    train_schedule_close(&d->schedule);
    vouch_arena_free(&d->arena);
    free(d);
    return status;
}
