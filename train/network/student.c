/* SPDX-License-Identifier: MIT */
#include "train/network/student.h"

#include <assert.h>
#include <string.h>

#include "train/network/ops.h"

int64_t train_student_size(const train_student_shape *shape)
{
    return shape->layer.n_embd + shape->n_layers * train_layer_size(&shape->layer);
}

train_layer train_student_layer(const train_student_shape *shape, real *block, int32_t layer)
{
    return train_layer_at(&shape->layer, block + shape->layer.n_embd + layer * train_layer_size(&shape->layer));
}

vouch_status train_student_adapt(train_student *student, int64_t rank, uint64_t seed, vouch_error *err)
{
    const train_student_shape *shape = &student->shape;
    return train_lora_open(&student->lora, &shape->layer, shape->n_layers, student->block + shape->layer.n_embd, rank,
                           seed, err);
}

real *train_student_learned(const train_student *student)
{
    return student->lora.rank > 0 ? student->lora.factors : student->block;
}

int64_t train_student_n_learned(const train_student *student)
{
    const train_lora *lora = &student->lora;
    return lora->rank > 0 ? lora->n_layers * train_lora_size(lora) : train_student_size(&student->shape);
}

void train_student_merge(const train_student *student)
{
    if (student->lora.rank > 0) train_lora_merge(&student->lora, student->block + student->shape.layer.n_embd);
}

static real *take(vouch_arena *arena, int64_t rows, int64_t n)
{
    return vouch_arena_take(arena, (size_t)rows * (size_t)n, sizeof(real));
}

void train_student_values_take(train_student_values *values, vouch_arena *arena, const train_student *student,
                               int64_t max_rows, int64_t max_length, int64_t n_outputs)
{
    const train_student_shape *shape = &student->shape;
    const int64_t n = shape->layer.n_embd;
    train_layer_values scratch;
    values->layers = vouch_arena_take(arena, (size_t)shape->n_layers, sizeof *values->layers);
    for (int32_t l = 0; l < shape->n_layers; l++)
        train_layer_values_take(values->layers ? &values->layers[l] : &scratch, arena, &shape->layer, max_rows,
                                max_length);
    train_layer_space_take(&values->space, arena, &shape->layer, max_rows, max_length);
    values->s = take(arena, max_rows, n);
    values->ds = take(arena, max_rows, n);
    values->hits = vouch_arena_take(arena, (size_t)max_rows, 1);
    values->logits = take(arena, TRAIN_LOSS_ROWS, n_outputs);
    values->picked = take(arena, TRAIN_LOSS_ROWS, n);
    values->normed = take(arena, TRAIN_LOSS_ROWS, n);
    values->dpicked = take(arena, TRAIN_LOSS_ROWS, n);
    values->dnormed = take(arena, TRAIN_LOSS_ROWS, n);
    values->dlayer = student->lora.rank > 0 ? take(arena, 1, train_layer_size(&shape->layer)) : NULL;
}

static void clear(real *x, int64_t n)
{
    memset(x, 0, (size_t)n * sizeof *x);
}

static void layers_run(train_student_values *values, const train_student *student, const train_batch *batch)
{
    const train_student_shape *shape = &student->shape;
    const int64_t n = shape->layer.n_embd;
    for (int64_t i = 0; i < batch->rows.n; i++)
        memcpy(values->layers[0].x + i * n, student->embedding + batch->tokens[i] * n, (size_t)n * sizeof(real));
    for (int32_t l = 0; l < shape->n_layers; l++) {
        const train_layer layer = train_student_layer(shape, student->block, l);
        real *y = l + 1 < shape->n_layers ? values->layers[l + 1].x : values->s;
        train_layer_run(y, &values->layers[l], 0, &layer, &shape->layer, &batch->rows);
    }
}

/* A layer's gradients go into `grads`, or through `values` into those of its factors. */
static void layers_back(train_student_values *values, const train_student *student, real *grads,
                        const train_batch *batch)
{
    const train_student_shape *shape = &student->shape;
    const bool has_factors = student->lora.rank > 0;
    for (int32_t l = shape->n_layers - 1; l >= 0; l--) {
        const train_layer layer = train_student_layer(shape, student->block, l);
        train_layer dlayer =
            has_factors ? train_layer_at(&shape->layer, values->dlayer) : train_student_layer(shape, grads, l);
        if (has_factors) clear(values->dlayer, train_layer_size(&shape->layer));
        train_layer_clear(&values->layers[l], 1, &shape->layer, batch->rows.n);
        train_layer_back(values->ds, &dlayer, &values->layers[l], 0, &layer, &shape->layer, &batch->rows,
                         &values->space);
        if (has_factors) train_lora_back(&student->lora, grads, l, &dlayer);
    }
}

/* The probabilities that a lesson tells, without tokens that the outputs lack. They are halves, so their sum is known
 * to 2e-4 or so; the other tokens together have 1e-4 at least. */
typedef struct lesson {
    int32_t n, ids[TRAIN_MOST_CLASSES];
    real p[TRAIN_MOST_CLASSES], others;
} lesson;

static lesson lesson_of(const train_lessons *lessons, int64_t row, train_loss loss)
{
    const real least = (real)1e-4;
    lesson l = {.others = 1};
    if (loss == TRAIN_CROSS_ENTROPY) { /* the label has the whole probability */
        l.n = lessons->labels[row] >= 0;
        l.ids[0] = lessons->labels[row];
        l.p[0] = 1;
        l.others = (real)!l.n;
        return l;
    }
    for (int32_t k = 0; k < lessons->n_top; k++) {
        const int32_t id = lessons->ids[row * lessons->n_top + k];
        const real p = (real)lessons->p[row * lessons->n_top + k];
        if (id < 0 || p <= 0) continue;
        l.ids[l.n] = id;
        l.p[l.n++] = p;
        l.others -= p;
    }
    if (l.others < least) l.others = least;
    real sum = l.others;
    for (int32_t k = 0; k < l.n; k++) sum += l.p[k];
    for (int32_t k = 0; k < l.n; k++) l.p[k] /= sum;
    l.others /= sum;
    return l;
}

static int64_t largest(const real *z, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (z[i] > z[best]) best = i;
    return best;
}

/* Hits and loss of a row; its logits z become their gradient. */
static void row_judge(train_student_values *values, real *z, int64_t n, const train_batch *batch,
                      const train_goal *goal, int64_t row)
{
    const lesson l = lesson_of(&batch->lessons, row, goal->loss);
    values->hits[row] = largest(z, n) == batch->lessons.labels[row];
    values->sums.rows++;
    values->sums.hits += values->hits[row];
    values->sums.loss += train_loss_classes(goal->loss, goal->beta, goal->weights[0], l.ids, l.p, l.n, l.others, z, n);
}

/* Logits and losses of up to TRAIN_LOSS_ROWS rows that count, so that the logits of all rows need no memory. */
static void rows_judge(train_student_values *values, const train_student *student, real *grads,
                       const train_outputs *outputs, const train_batch *batch, const train_goal *goal,
                       const int64_t *rows, int64_t n_rows)
{
    const int64_t n = student->shape.layer.n_embd;
    const real *norm = student->block;
    real *dnorm = student->lora.rank > 0 ? NULL : grads;
    for (int64_t i = 0; i < n_rows; i++)
        memcpy(values->picked + i * n, values->s + rows[i] * n, (size_t)n * sizeof(real));
    train_norm(values->normed, values->factors, values->picked, norm, n_rows, n, student->shape.layer.eps);
    train_linear(values->logits, values->normed, outputs->rows, n_rows, outputs->n, n);
    for (int64_t i = 0; i < n_rows; i++) {
        real *z = values->logits + i * outputs->n;
        if (outputs->bias) train_add(z, outputs->bias, outputs->n);
        row_judge(values, z, outputs->n, batch, goal, rows[i]);
    }
    if (!grads) return;
    clear(values->dnormed, n_rows * n);
    clear(values->dpicked, n_rows * n);
    train_linear_back(values->dnormed, NULL, values->logits, values->normed, outputs->rows, n_rows, outputs->n, n);
    train_norm_back(values->dpicked, dnorm, values->dnormed, values->picked, norm, values->factors, n_rows, n);
    for (int64_t i = 0; i < n_rows; i++)
        memcpy(values->ds + rows[i] * n, values->dpicked + i * n, (size_t)n * sizeof(real));
}

void train_student_run(train_student_values *values, const train_student *student, real *grads,
                       const train_outputs *outputs, const train_batch *batch, const train_goal *goal)
{
    assert(batch->lessons.n_top <= TRAIN_MOST_CLASSES);
    int64_t rows[TRAIN_LOSS_ROWS], n_rows = 0;
    values->sums = (train_sums){0};
    layers_run(values, student, batch);
    memset(values->hits, 0, (size_t)batch->rows.n);
    if (grads) clear(values->ds, batch->rows.n * student->shape.layer.n_embd);
    for (int64_t i = 0; i < batch->rows.n; i++) {
        if (batch->lessons.counts[i]) rows[n_rows++] = i;
        if (n_rows < TRAIN_LOSS_ROWS && (i + 1 < batch->rows.n || n_rows == 0)) continue;
        rows_judge(values, student, grads, outputs, batch, goal, rows, n_rows);
        n_rows = 0;
    }
    if (grads) layers_back(values, student, grads, batch);
}
