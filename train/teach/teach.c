/* SPDX-License-Identifier: MIT */
#include "train/teach/teach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/philox.h"
#include "train/network/ops.h"

enum { HELD_TOKENS = 1500 }; /* tokens of answers held back, on which the progress is measured */

typedef struct teacher {
    const train_course *course;
    train_head *head;
    real *cosines, *sines;
    train_head_values *values[TRAIN_SHARDS]; /* of the workers */
    train_space shards[TRAIN_SHARDS];
} teacher;

static void lay_out(void *user, vouch_arena *arena, int32_t n_workers)
{
    teacher *t = user;
    const train_head_shape *s = &t->course->shape;
    const int64_t half = s->layer.heads.head_dim / 2, n_positions = t->course->set->longest + 1;
    t->cosines = vouch_arena_take(arena, (size_t)(n_positions * half), sizeof *t->cosines);
    t->sines = vouch_arena_take(arena, (size_t)(n_positions * half), sizeof *t->sines);
    for (int i = 0; i < TRAIN_SHARDS; i++) train_space_take(&t->shards[i], arena, s->n_features, TRAIN_ROWS);
    for (int32_t i = 0; i < n_workers; i++) {
        train_head_values scratch;
        t->values[i] = vouch_arena_take(arena, 1, sizeof *t->values[i]);
        train_head_values_take(t->values[i] ? t->values[i] : &scratch, arena, s, TRAIN_ROWS, TRAIN_ROWS);
    }
    if (t->cosines) train_angles(t->cosines, t->sines, n_positions, s->layer.heads.head_dim, t->course->rope_base);
}

static train_space *clear(void *user, int32_t shard)
{
    teacher *t = user;
    train_space_clear(&t->shards[shard], t->cosines, t->sines);
    return &t->shards[shard];
}

static void add(void *user, const train_lessons_set *set, train_space *shard, const train_sequence *answer)
{
    const teacher *t = user;
    train_space_add(shard, set, answer, t->course->drafts, TRAIN_ROWS);
}

static void run(void *user, int32_t worker, int32_t shard, int64_t counted, real *grads, train_sums *sums)
{
    teacher *t = user;
    const train_head_shape *shape = &t->course->shape;
    const train_batch *batch = &t->shards[shard].batch;
    train_head_values *values = t->values[worker];
    train_head gradients = train_head_at(shape, grads);
    train_goal goal = t->course->goal;
    if (batch->rows.n == 0) return;
    for (int g = 0; g < TRAIN_GENERATIONS; g++) goal.weights[g] /= (real)counted;
    train_head_run(values, t->head, &gradients, shape, batch, &goal);
    train_head_back(values, t->head, &gradients, shape, batch);
    for (int32_t g = 0; g < shape->n_generations; g++) train_sums_add(&sums[g], &values->sums[g]);
}

static vouch_status measure(void *user, train_score *held, vouch_error *err)
{
    const teacher *t = user;
    const train_course *c = t->course;
    const train_taught taught = {t->head, &c->shape, c->drafts, t->cosines, t->sines};
    return train_measure(held, NULL, &taught, c->set, c->set->n_taught, c->set->n, HELD_TOKENS, err);
}

static uint64_t settings_hash(const train_course *c)
{
    uint64_t hash = vouch_hash_bytes(VOUCH_HASH_START, c->set->header, sizeof *c->set->header);
    const double numbers[] = {(double)c->shape.width,
                              (double)c->shape.n_draft,
                              (double)c->shape.n_layers,
                              (double)c->shape.n_generations,
                              (double)c->shape.layer.n_ff,
                              (double)c->goal.loss,
                              c->goal.beta};
    hash = vouch_hash_bytes(hash, numbers, sizeof numbers);
    return vouch_hash_bytes(hash, c->goal.weights, sizeof c->goal.weights);
}

static train_descent descent_of(const train_course *c, teacher *t, real *block)
{
    const train_network network = {.weights = block,
                                   .n_weights = train_head_size(&c->shape),
                                   .n_sums = c->shape.n_generations,
                                   .settings = settings_hash(c),
                                   .lay_out = lay_out,
                                   .clear = clear,
                                   .add = add,
                                   .run = run,
                                   .measure = measure,
                                   .user = t};
    return (train_descent){.network = network,
                           .set = c->set,
                           .adam = c->adam,
                           .n_epochs = c->n_epochs,
                           .n_rounds = 1,
                           .n_rowless = 2,
                           .seed = c->seed,
                           .checkpoint = c->checkpoint,
                           .checkpoint_seconds = c->checkpoint_seconds,
                           .pool = c->pool,
                           .report = c->report,
                           .is_cancelled = c->is_cancelled,
                           .user = c->user};
}

double train_teach_bytes(const train_course *course)
{
    teacher t = {.course = course};
    const train_descent descent = descent_of(course, &t, NULL);
    return train_descent_bytes(&descent);
}

vouch_status train_teach(const train_course *course, train_head *head, real *block, vouch_error *err)
{
    teacher t = {.course = course, .head = head};
    train_descent descent = descent_of(course, &t, block);
    return train_descend(&descent, err);
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
        for (int64_t i = 0; i < n; i++) layer->attn_norm[i] = normal(seed, l * n + i) / real_sqrt((real)s->n_embd);
        for (int64_t i = 0; i < s->n_embd; i++) layer->attn_norm[i] = layer->ffn_norm[i] = 1;
        memset(layer->o, 0, (size_t)(s->n_embd * q) * sizeof *layer->o);
        memset(layer->down, 0, (size_t)(s->n_embd * s->n_ff) * sizeof *layer->down);
    }
}
