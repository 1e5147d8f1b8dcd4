/* SPDX-License-Identifier: MIT */
#include "train/network/head.h"

#include <math.h>
#include <string.h>

#include "train/network/ops.h"

int64_t train_head_size(const train_head_shape *shape)
{
    return shape->width * (shape->n_features + 3 + 2 * shape->width) +
           shape->n_layers * train_layer_size(&shape->layer);
}

train_head train_head_at(const train_head_shape *shape, real *block)
{
    train_head head = {.fc = block};
    head.fc_bias = head.fc + shape->width * shape->n_features;
    head.token = head.fc_bias + shape->width;
    head.token_bias = head.token + shape->width * shape->width;
    head.leave = head.token_bias + shape->width;
    head.output_norm = head.leave + shape->width * shape->width;
    real *at = head.output_norm + shape->width;
    for (int32_t l = 0; l < shape->n_layers; l++, at += train_layer_size(&shape->layer))
        head.layers[l] = train_layer_at(&shape->layer, at);
    return head;
}

static real *take(vouch_arena *arena, int64_t rows, int64_t n)
{
    return vouch_arena_take(arena, (size_t)rows * (size_t)n, sizeof(real));
}

void train_head_values_take(train_head_values *values, vouch_arena *arena, const train_head_shape *shape,
                            int64_t max_rows, int64_t max_length)
{
    for (int32_t g = 0; g < shape->n_generations; g++) {
        train_generation *generation = &values->generations[g];
        generation->before = take(arena, max_rows, shape->width);
        generation->x = take(arena, max_rows, shape->width);
        generation->s = take(arena, max_rows, shape->width);
        generation->ds = take(arena, max_rows, shape->width);
        generation->normed = take(arena, max_rows, shape->width);
        generation->factors = take(arena, max_rows, 1);
        generation->hits = vouch_arena_take(arena, (size_t)max_rows, 1);
        for (int32_t l = 0; l < shape->n_layers; l++)
            train_layer_values_take(&values->layers[l][g], arena, &shape->layer, max_rows, max_length);
    }
    if (shape->n_layers > 0) train_layer_space_take(&values->space, arena, &shape->layer, max_rows, max_length);
    values->logits = take(arena, TRAIN_LOSS_ROWS, shape->n_draft);
    values->p = take(arena, 1, shape->n_draft);
    values->slope = take(arena, 1, shape->n_draft);
    values->dnormed = take(arena, TRAIN_LOSS_ROWS, shape->width);
    values->dbefore = take(arena, max_rows, shape->width);
    values->embedded = take(arena, max_rows, shape->width);
    values->tokens = take(arena, max_rows, shape->width);
    values->dtokens = take(arena, max_rows, shape->width);
}

static void clear(real *x, int64_t n)
{
    memset(x, 0, (size_t)n * sizeof *x);
}

static int32_t sequence_first(const train_packing *packing, int32_t s)
{
    return s ? packing->ends[s - 1] : 0;
}

/* ------------------------------------------------------------------- forward */

/* x = f of a generation: projected taps, or the projected results of the rows before in the generation before. */
static void features_run(train_head_values *values, const train_head *head, const train_head_shape *shape,
                         const train_batch *batch, int32_t g)
{
    const int64_t width = shape->width;
    const train_packing *packing = &batch->rows.packing;
    train_generation *a = &values->generations[g];
    if (g == 0) {
        train_linear(a->x, batch->features, head->fc, batch->rows.n, width, shape->n_features);
        for (int64_t i = 0; i < batch->rows.n; i++) train_add(a->x + i * width, head->fc_bias, width);
        return;
    }
    const real *s = values->generations[g - 1].s;
    for (int32_t q = 0; q < packing->n; q++) {
        const int64_t first = sequence_first(packing, q), n = packing->ends[q] - first;
        clear(a->before + first * width, width);
        memcpy(a->before + (first + 1) * width, s + first * width, (size_t)((n - 1) * width) * sizeof *s);
    }
    train_linear(a->x, a->before, head->leave, batch->rows.n, width, width);
}

/* The tokens' part of x. */
static void tokens_run(train_head_values *values, const train_head *head, const train_head_shape *shape,
                       const train_batch *batch)
{
    const int64_t n = batch->rows.n, width = shape->width;
    for (int64_t i = 0; i < n; i++)
        memcpy(values->embedded + i * width, head->embedding + batch->tokens[i] * width, (size_t)width * sizeof(real));
    train_linear(values->tokens, values->embedded, head->token, n, width, width);
    for (int64_t i = 0; i < n; i++) train_add(values->tokens + i * width, head->token_bias, width);
}

/* s of a generation, and its norm. */
static void generation_run(train_head_values *values, const train_head *head, const train_head_shape *shape,
                           const train_batch *batch, int32_t g)
{
    const int64_t n = batch->rows.n, width = shape->width;
    train_generation *a = &values->generations[g];
    features_run(values, head, shape, batch, g);
    train_add(a->x, values->tokens, n * width);
    memcpy(a->s, a->x, (size_t)(n * width) * sizeof *a->s);
    for (int32_t l = 0; l < shape->n_layers; l++) {
        memcpy(values->layers[l][g].x, a->s, (size_t)(n * width) * sizeof *a->s);
        train_layer_run(a->s, values->layers[l], g, &head->layers[l], &shape->layer, &batch->rows);
    }
    train_norm(a->normed, a->factors, a->s, head->output_norm, n, width, shape->eps);
}

/* p of a row over the draft's tokens. */
static void lesson_spread(real *p, const train_lessons *lessons, int64_t row, train_loss loss, int64_t n_draft)
{
    clear(p, n_draft);
    if (loss == TRAIN_CROSS_ENTROPY) {
        if (lessons->labels[row] >= 0) p[lessons->labels[row]] = 1;
        return;
    }
    for (int32_t i = 0; i < lessons->n_top; i++) {
        const int32_t id = lessons->ids[row * lessons->n_top + i];
        if (id >= 0) p[id] += (real)lessons->p[row * lessons->n_top + i];
    }
}

static int64_t largest(const real *z, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (z[i] > z[best]) best = i;
    return best;
}

/* z = the logits of y, in place. slope: dz / dy. */
static void logits_shape(real *z, real *slope, const train_head_shape *shape)
{
    const real scale = shape->logit_scale != 0 ? shape->logit_scale : 1, cap = shape->logit_softcap;
    for (int64_t i = 0; i < shape->n_draft; i++) {
        const real capped = cap > 0 ? (real)tanh((double)(scale * z[i] / cap)) : 0;
        z[i] = cap > 0 ? cap * capped : scale * z[i];
        slope[i] = scale * (1 - capped * capped);
    }
}

/* The rows [begin, end) of a generation: hits, losses and, in values->logits, their gradients. `counted` tells which
 * rows count. */
static void losses_run(train_head_values *values, const train_head_shape *shape, const train_batch *batch,
                       const train_goal *goal, int32_t g, int64_t begin, int64_t end, const bool *counted)
{
    const train_lessons *lessons = &batch->lessons;
    const bool is_shaped = shape->logit_scale != 0 || shape->logit_softcap > 0;
    train_generation *a = &values->generations[g];
    for (int64_t row = begin; row < end; row++) {
        real *z = values->logits + (row - begin) * shape->n_draft, *p = values->p, *slope = values->slope;
        const bool counts = counted[row - begin];
        a->hits[row] = largest(z, shape->n_draft) == lessons->labels[row];
        if (counts) {
            values->sums[g].rows++;
            values->sums[g].hits += a->hits[row];
        }
        if (!goal) continue;
        if (!counts) {
            clear(z, shape->n_draft);
            continue;
        }
        lesson_spread(p, lessons, row, goal->loss, shape->n_draft);
        if (is_shaped) logits_shape(z, slope, shape);
        values->sums[g].loss += train_loss_row(goal->loss, goal->beta, goal->weights[g], p, z, shape->n_draft);
        for (int64_t i = 0; is_shaped && i < shape->n_draft; i++) z[i] *= slope[i];
    }
}

/* Logits and losses of a generation, some rows at a time, so that the logits of all rows need no memory. */
static void output_run(train_head_values *values, const train_head *head, train_head *grads,
                       const train_head_shape *shape, const train_batch *batch, const train_goal *goal, int32_t g)
{
    const int64_t width = shape->width, n_draft = shape->n_draft;
    train_generation *a = &values->generations[g];
    int32_t sequence = 0;
    if (grads) clear(a->ds, batch->rows.n * width);
    for (int64_t begin = 0; begin < batch->rows.n; begin += TRAIN_LOSS_ROWS) {
        const int64_t left = batch->rows.n - begin, n = left < TRAIN_LOSS_ROWS ? left : TRAIN_LOSS_ROWS;
        const real *normed = a->normed + begin * width;
        bool counted[TRAIN_LOSS_ROWS], any = false;
        for (int64_t i = 0; i < n; i++) {
            while (batch->rows.packing.ends[sequence] <= begin + i) sequence++;
            counted[i] =
                batch->lessons.counts[begin + i] && begin + i - sequence_first(&batch->rows.packing, sequence) >= g;
            any |= counted[i];
        }
        if (!any) {
            memset(a->hits + begin, 0, (size_t)n);
            continue;
        }
        train_linear(values->logits, normed, head->output, n, n_draft, width);
        for (int64_t i = 0; head->output_bias && i < n; i++)
            train_add(values->logits + i * n_draft, head->output_bias, n_draft);
        losses_run(values, shape, batch, goal, g, begin, begin + n, counted);
        if (!grads) continue;
        clear(values->dnormed, n * width);
        train_linear_back(values->dnormed, grads->output, values->logits, normed, head->output, n, n_draft, width);
        train_norm_back(a->ds + begin * width, grads->output_norm, values->dnormed, a->s + begin * width,
                        head->output_norm, a->factors + begin, n, width);
    }
}

void train_head_run(train_head_values *values, const train_head *head, train_head *grads, const train_head_shape *shape,
                    const train_batch *batch, const train_goal *goal)
{
    memset(values->sums, 0, sizeof values->sums);
    tokens_run(values, head, shape, batch);
    for (int32_t g = 0; g < shape->n_generations; g++) {
        generation_run(values, head, shape, batch, g);
        output_run(values, head, grads, shape, batch, goal, g);
    }
}

/* ------------------------------------------------------------------ backward */

/* The gradient of a generation's x goes through f to the taps' projection, or to the results of the rows before. */
static void features_back(train_head_values *values, train_head *grads, const train_head *head,
                          const train_head_shape *shape, const train_batch *batch, int32_t g)
{
    const int64_t width = shape->width, n = batch->rows.n;
    const train_packing *packing = &batch->rows.packing;
    const train_generation *a = &values->generations[g];
    if (g == 0) {
        if (!grads->fc) return;
        train_linear_back(NULL, grads->fc, a->ds, batch->features, head->fc, n, width, shape->n_features);
        for (int64_t i = 0; i < n; i++) train_add(grads->fc_bias, a->ds + i * width, width);
        return;
    }
    real *ds = values->generations[g - 1].ds;
    clear(values->dbefore, n * width);
    train_linear_back(values->dbefore, grads->leave, a->ds, a->before, head->leave, n, width, width);
    for (int32_t q = 0; q < packing->n; q++) {
        const int64_t first = sequence_first(packing, q), m = packing->ends[q] - first;
        train_add(ds + first * width, values->dbefore + (first + 1) * width, (m - 1) * width);
    }
}

void train_head_back(train_head_values *values, const train_head *head, train_head *grads,
                     const train_head_shape *shape, const train_batch *batch)
{
    const int64_t n = batch->rows.n, width = shape->width;
    clear(values->dtokens, n * width);
    for (int32_t l = 0; l < shape->n_layers; l++)
        train_layer_clear(values->layers[l], shape->n_generations, &shape->layer, n);
    for (int32_t g = shape->n_generations - 1; g >= 0; g--) {
        train_generation *a = &values->generations[g];
        for (int32_t l = shape->n_layers - 1; l >= 0; l--)
            train_layer_back(a->ds, &grads->layers[l], values->layers[l], g, &head->layers[l], &shape->layer,
                             &batch->rows, &values->space);
        train_add(values->dtokens, a->ds, n * width);
        features_back(values, grads, head, shape, batch, g);
    }
    train_linear_back(NULL, grads->token, values->dtokens, values->embedded, head->token, n, width, width);
    for (int64_t i = 0; i < n; i++) train_add(grads->token_bias, values->dtokens + i * width, width);
}
