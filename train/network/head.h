/* SPDX-License-Identifier: MIT */
/*
 * A head, forward and backward, unrolled over the depths at which it will guess (attention.h).
 *
 * A row stands for token x[t + 1] of a sequence. It reads the target's hidden states at t, and predicts x[t + 2], as in
 * EAGLE (Li et al., arXiv 2401.15077):
 *
 *   generation 0   f(t) = fc . standardised taps(t) + fc_bias
 *   generation g   f(t) = leave . s of the row before, in generation g - 1
 *
 *   x = token . embedding[x[t + 1]] + token_bias + f(t)
 *   s = layers(x)                                without layers: x
 *   y = output . norm(s) + output_bias           norm's weights NULL: 1; output_bias NULL: 0
 *   z = softcap tanh(scale y / softcap)          softcap 0: scale y
 *
 * The embedding is the target's, each row divided by its root mean square. In the file, token is `join`
 * (head_weights.h).
 *
 * Weights and gradients are structs of pointers of the same type. A gradient that is NULL belongs to frozen weights.
 */
#ifndef VOUCH_TRAIN_HEAD_H
#define VOUCH_TRAIN_HEAD_H

#include "train/network/layer.h"
#include "train/network/loss.h"

enum { TRAIN_HEAD_LAYERS = 4, TRAIN_LOSS_ROWS = 64 };

typedef struct train_head_shape {
    int64_t n_features; /* taps times the target's width */
    int64_t width;
    int64_t n_draft;
    int32_t n_layers, n_generations;
    train_layer_shape layer;         /* of all layers; n_embd is `width` */
    real eps;                        /* of the output norm */
    real logit_scale, logit_softcap; /* the target's; 0: none */
} train_head_shape;

typedef struct train_head {
    real *fc;          /* [width, n_features] */
    real *fc_bias;     /* [width] */
    real *token;       /* [width, width] */
    real *token_bias;  /* [width] */
    real *leave;       /* [width, width] */
    real *output_norm; /* [width], or NULL */
    real *output;      /* [n_draft, width] */
    real *output_bias; /* [n_draft], or NULL; frozen */
    real *embedding;   /* [n_vocab, width]; frozen */
    train_layer layers[TRAIN_HEAD_LAYERS];
} train_head;

/* Floats of fc, fc_bias, token, token_bias, leave, output_norm and the layers. One block holds them in this order. */
int64_t train_head_size(const train_head_shape *shape);
/* Sets these pointers into the block. The others are NULL. */
train_head train_head_at(const train_head_shape *shape, real *block);

/* The targets of the head's predictions at the rows of a batch. */
typedef struct train_lessons {
    int32_t n_top;         /* tokens of a row's p that are kept */
    const int32_t *ids;    /* [rows, n_top] draft ids; -1: not in the draft's vocabulary, or none */
    const float *p;        /* [rows, n_top] */
    const int32_t *labels; /* [rows] draft id of the token that followed, or -1 */
    const uint8_t *counts; /* [rows] 1: the loss counts the row */
} train_lessons;

typedef struct train_batch {
    train_rows rows;
    const real *features;  /* [rows, n_features] standardised */
    const int32_t *tokens; /* [rows] */
    train_lessons lessons;
} train_batch;

typedef struct train_goal {
    train_loss loss;
    double beta;
    real weights[TRAIN_GENERATIONS]; /* of a row's loss in each generation */
} train_goal;

/* One generation's values. */
typedef struct train_generation {
    real *before;     /* [rows, width] s of the rows before, which f reads; of generation 0 unused */
    real *x, *s, *ds; /* [rows, width] */
    real *normed, *factors;
    uint8_t *hits; /* [rows] the head's likeliest token is the label */
} train_generation;

typedef struct train_head_values {
    train_generation generations[TRAIN_GENERATIONS];
    train_layer_values layers[TRAIN_HEAD_LAYERS][TRAIN_GENERATIONS];
    train_layer_space space;
    real *logits;           /* [TRAIN_LOSS_ROWS, n_draft] */
    real *p, *slope;        /* [n_draft] of a row */
    real *dnormed;          /* [TRAIN_LOSS_ROWS, width] */
    real *dbefore;          /* [rows, width] */
    real *embedded;         /* [rows, width] of the rows' tokens */
    real *tokens, *dtokens; /* [rows, width] their part of x, in all generations; its gradient */
    train_sums sums[TRAIN_GENERATIONS];
} train_head_values;

/* Room for batches of max_rows rows in sequences of at most max_length. */
void train_head_values_take(train_head_values *values, vouch_arena *arena, const train_head_shape *shape,
                            int64_t max_rows, int64_t max_length);

/* Runs all generations. goal NULL: only the hits. With grads, also computes the gradient of each generation's s, and
 * adds that of the output matrix. */
void train_head_run(train_head_values *values, const train_head *head, train_head *grads, const train_head_shape *shape,
                    const train_batch *batch, const train_goal *goal);
/* After a run with grads: adds all other gradients. */
void train_head_back(train_head_values *values, const train_head *head, train_head *grads,
                     const train_head_shape *shape, const train_batch *batch);

#endif
