/* SPDX-License-Identifier: MIT */
/*
 * A decoder layer as Llama has it, forward and backward:
 *
 *   x ──┬── norm ── q, k, v ── rotate ── attention ── o ── + ──┬── norm ── gate, up ── swiglu ── down ── + ──► y
 *       └──────────────────────────────────────────────────┘   └───────────────────────────────────────┘
 *
 * Weights are one block of floats. Gradients are a block of the same layout, so one struct of pointers serves both.
 */
#ifndef VOUCH_TRAIN_LAYER_H
#define VOUCH_TRAIN_LAYER_H

#include "base/memory.h"
#include "train/network/attention.h"

typedef struct train_layer_shape {
    int64_t n_embd, n_ff;
    train_heads heads;
    real eps;
} train_layer_shape;

/* Matrices are [outputs, inputs]. */
typedef struct train_layer {
    real *attn_norm, *ffn_norm; /* [n_embd] */
    real *q, *k, *v;            /* [heads * head_dim, n_embd] */
    real *o;                    /* [n_embd, n_heads * head_dim] */
    real *gate, *up;            /* [n_ff, n_embd] */
    real *down;                 /* [n_embd, n_ff] */
} train_layer;

/* Floats of a layer. */
int64_t train_layer_size(const train_layer_shape *shape);
/* The layer whose floats begin at `block`. */
train_layer train_layer_at(const train_layer_shape *shape, real *block);

/* The rows of a batch, and the angles of their positions. */
typedef struct train_rows {
    int64_t n;
    train_packing packing;
    const int32_t *positions;    /* [n] */
    const real *cosines, *sines; /* [positions][head_dim / 2] (train_angles) */
} train_rows;

/* Values of one generation that the backward pass needs, and gradients of its keys and values, which later generations
 * add to. Room for max_rows rows, and for sequences of at most max_length rows. */
typedef struct train_layer_values {
    real *x, *h, *h2, *x2;    /* [rows, n_embd]; x is the layer's input */
    real *factors, *factors2; /* [rows] of the norms */
    real *q, *mixed;          /* [rows, n_heads * head_dim] */
    real *k, *v, *dk, *dv;    /* [rows, n_kv_heads * head_dim] */
    real *gate, *up, *gated;  /* [rows, n_ff] */
    real *p;                  /* softmax */
} train_layer_values;

/* Buffers of the backward pass, shared by all layers and generations. */
typedef struct train_layer_space {
    real *dh;                   /* [rows, n_embd] */
    real *dq, *dmixed;          /* [rows, n_heads * head_dim] */
    real *dgate, *dup, *dgated; /* [rows, n_ff] */
    real *ds;                   /* as p */
} train_layer_space;

void train_layer_values_take(train_layer_values *values, vouch_arena *arena, const train_layer_shape *shape,
                             int64_t max_rows, int64_t max_length);
void train_layer_space_take(train_layer_space *space, vouch_arena *arena, const train_layer_shape *shape,
                            int64_t max_rows, int64_t max_length);

/* y [rows, n_embd] = layer(values[g].x). values[j], j < g, hold this layer's earlier generations. */
void train_layer_run(real *y, train_layer_values *values, int32_t g, const train_layer *layer,
                     const train_layer_shape *shape, const train_rows *rows);
/* Clears the gradients of keys and values, before the backward pass of the last generation. */
void train_layer_clear(train_layer_values *values, int32_t generations, const train_layer_shape *shape, int64_t n_rows);
/* dy becomes the gradient of values[g].x. Adds to the weights' gradients. Generations go back from the last to the
 * first. */
void train_layer_back(real *dy, train_layer *grads, train_layer_values *values, int32_t g, const train_layer *layer,
                      const train_layer_shape *shape, const train_rows *rows, const train_layer_space *space);

#endif
