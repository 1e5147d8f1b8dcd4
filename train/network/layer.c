/* SPDX-License-Identifier: MIT */
#include "train/network/layer.h"

#include <string.h>

#include "train/network/ops.h"

static int64_t q_width(const train_layer_shape *shape)
{
    return shape->heads.n_heads * shape->heads.head_dim;
}

static int64_t kv_width(const train_layer_shape *shape)
{
    return shape->heads.n_kv_heads * shape->heads.head_dim;
}

int64_t train_layer_size(const train_layer_shape *shape)
{
    return shape->n_embd * (2 + 2 * q_width(shape) + 2 * kv_width(shape) + 3 * shape->n_ff);
}

train_layer train_layer_at(const train_layer_shape *shape, real *block)
{
    const int64_t n = shape->n_embd;
    train_layer layer;
    layer.attn_norm = block;
    layer.ffn_norm = layer.attn_norm + n;
    layer.q = layer.ffn_norm + n;
    layer.k = layer.q + n * q_width(shape);
    layer.v = layer.k + n * kv_width(shape);
    layer.o = layer.v + n * kv_width(shape);
    layer.gate = layer.o + n * q_width(shape);
    layer.up = layer.gate + n * shape->n_ff;
    layer.down = layer.up + n * shape->n_ff;
    return layer;
}

static real *take(vouch_arena *arena, int64_t rows, int64_t n)
{
    return vouch_arena_take(arena, (size_t)rows * (size_t)n, sizeof(real));
}

/* Floats of the softmax, where no sequence is longer than max_length: n_heads * (sum of n^2 + n * generations). */
static real *take_softmax(vouch_arena *arena, const train_layer_shape *shape, int64_t rows, int64_t max_length)
{
    return take(arena, rows * shape->heads.n_heads, max_length + TRAIN_GENERATIONS);
}

void train_layer_values_take(train_layer_values *values, vouch_arena *arena, const train_layer_shape *shape,
                             int64_t max_rows, int64_t max_length)
{
    const int64_t n = shape->n_embd;
    values->x = take(arena, max_rows, n);
    values->h = take(arena, max_rows, n);
    values->h2 = take(arena, max_rows, n);
    values->x2 = take(arena, max_rows, n);
    values->factors = take(arena, max_rows, 1);
    values->factors2 = take(arena, max_rows, 1);
    values->q = take(arena, max_rows, q_width(shape));
    values->mixed = take(arena, max_rows, q_width(shape));
    values->k = take(arena, max_rows, kv_width(shape));
    values->v = take(arena, max_rows, kv_width(shape));
    values->dk = take(arena, max_rows, kv_width(shape));
    values->dv = take(arena, max_rows, kv_width(shape));
    values->gate = take(arena, max_rows, shape->n_ff);
    values->up = take(arena, max_rows, shape->n_ff);
    values->gated = take(arena, max_rows, shape->n_ff);
    values->p = take_softmax(arena, shape, max_rows, max_length);
}

void train_layer_space_take(train_layer_space *space, vouch_arena *arena, const train_layer_shape *shape,
                            int64_t max_rows, int64_t max_length)
{
    space->dh = take(arena, max_rows, shape->n_embd);
    space->dq = take(arena, max_rows, q_width(shape));
    space->dmixed = take(arena, max_rows, q_width(shape));
    space->dgate = take(arena, max_rows, shape->n_ff);
    space->dup = take(arena, max_rows, shape->n_ff);
    space->dgated = take(arena, max_rows, shape->n_ff);
    space->ds = take_softmax(arena, shape, max_rows, max_length);
}

/* The keys and values of all generations of a layer, as attention wants them. */
typedef struct generations {
    const real *keys[TRAIN_GENERATIONS], *values[TRAIN_GENERATIONS];
    real *dkeys[TRAIN_GENERATIONS], *dvalues[TRAIN_GENERATIONS];
} generations;

static generations generations_of(const train_layer_values *values, int32_t g)
{
    generations all;
    for (int32_t j = 0; j <= g; j++) {
        all.keys[j] = values[j].k;
        all.values[j] = values[j].v;
        all.dkeys[j] = values[j].dk;
        all.dvalues[j] = values[j].dv;
    }
    return all;
}

static void rotate(real *x, const train_rows *rows, int64_t n_heads, int64_t head_dim, bool back)
{
    train_rotate(x, rows->cosines, rows->sines, rows->positions, rows->n, n_heads, head_dim, back);
}

void train_layer_run(real *y, train_layer_values *values, int32_t g, const train_layer *layer,
                     const train_layer_shape *shape, const train_rows *rows)
{
    const int64_t n = rows->n, width = shape->n_embd;
    const train_heads *heads = &shape->heads;
    train_layer_values *a = &values[g];
    train_norm(a->h, a->factors, a->x, layer->attn_norm, n, width, shape->eps);
    train_linear(a->q, a->h, layer->q, n, q_width(shape), width);
    train_linear(a->k, a->h, layer->k, n, kv_width(shape), width);
    train_linear(a->v, a->h, layer->v, n, kv_width(shape), width);
    rotate(a->q, rows, heads->n_heads, heads->head_dim, false);
    rotate(a->k, rows, heads->n_kv_heads, heads->head_dim, false);
    const generations all = generations_of(values, g);
    train_attention(a->mixed, a->p, a->q, all.keys, all.values, g, &rows->packing, heads);
    train_linear(a->x2, a->mixed, layer->o, n, width, q_width(shape));
    train_add(a->x2, a->x, n * width);

    train_norm(a->h2, a->factors2, a->x2, layer->ffn_norm, n, width, shape->eps);
    train_linear(a->gate, a->h2, layer->gate, n, shape->n_ff, width);
    train_linear(a->up, a->h2, layer->up, n, shape->n_ff, width);
    train_swiglu(a->gated, a->gate, a->up, n * shape->n_ff);
    train_linear(y, a->gated, layer->down, n, width, shape->n_ff);
    train_add(y, a->x2, n * width);
}

static void clear(real *x, int64_t n)
{
    memset(x, 0, (size_t)n * sizeof *x);
}

void train_layer_clear(train_layer_values *values, int32_t n_generations, const train_layer_shape *shape,
                       int64_t n_rows)
{
    for (int32_t g = 0; g < n_generations; g++) {
        clear(values[g].dk, n_rows * kv_width(shape));
        clear(values[g].dv, n_rows * kv_width(shape));
    }
}

/* Backward pass of the feed-forward: dy holds the gradient of the layer's result before, and that of x2 afterwards. */
static void feed_back(real *dy, train_layer *grads, const train_layer_values *a, const train_layer *layer,
                      const train_layer_shape *shape, int64_t n, const train_layer_space *space)
{
    const int64_t width = shape->n_embd, n_ff = shape->n_ff;
    clear(space->dgated, n * n_ff);
    clear(space->dgate, n * n_ff);
    clear(space->dup, n * n_ff);
    clear(space->dh, n * width);
    train_linear_back(space->dgated, grads->down, dy, a->gated, layer->down, n, width, n_ff);
    train_swiglu_back(space->dgate, space->dup, space->dgated, a->gate, a->up, n * n_ff);
    train_linear_back(space->dh, grads->gate, space->dgate, a->h2, layer->gate, n, n_ff, width);
    train_linear_back(space->dh, grads->up, space->dup, a->h2, layer->up, n, n_ff, width);
    train_norm_back(dy, grads->ffn_norm, space->dh, a->x2, layer->ffn_norm, a->factors2, n, width);
}

void train_layer_back(real *dy, train_layer *grads, train_layer_values *values, int32_t g, const train_layer *layer,
                      const train_layer_shape *shape, const train_rows *rows, const train_layer_space *space)
{
    const int64_t n = rows->n, width = shape->n_embd;
    const train_heads *heads = &shape->heads;
    const train_layer_values *a = &values[g];
    feed_back(dy, grads, a, layer, shape, n, space);

    clear(space->dmixed, n * q_width(shape));
    clear(space->dq, n * q_width(shape));
    clear(space->dh, n * width);
    train_linear_back(space->dmixed, grads->o, dy, a->mixed, layer->o, n, width, q_width(shape));
    const generations all = generations_of(values, g);
    train_attention_back(space->dq, all.dkeys, all.dvalues, space->dmixed, a->p, space->ds, a->q, all.keys, all.values,
                         g, &rows->packing, heads);
    rotate(space->dq, rows, heads->n_heads, heads->head_dim, true);
    rotate(a->dk, rows, heads->n_kv_heads, heads->head_dim, true);
    train_linear_back(space->dh, grads->q, space->dq, a->h, layer->q, n, q_width(shape), width);
    train_linear_back(space->dh, grads->k, a->dk, a->h, layer->k, n, kv_width(shape), width);
    train_linear_back(space->dh, grads->v, a->dv, a->h, layer->v, n, kv_width(shape), width);
    train_norm_back(dy, grads->attn_norm, space->dh, a->x, layer->attn_norm, a->factors, n, width);
}
