/* SPDX-License-Identifier: MIT */
/*
 * A small draft model of the Llama family, forward and backward, as it learns from a target (Zhou et al., DistillSpec,
 * arXiv 2310.08461). A row stands for token x[t] of a sequence and predicts x[t + 1]:
 *
 *   x = embedding[x[t]]
 *   s = layers(x)
 *   z = output . norm(s) + bias
 *
 * Norm and layers learn, or factors of the layers' matrices alone (lora.h). Embedding and output matrix stay as they
 * are; they are the largest part of a small model, and few of their rows occur in the lessons.
 *
 * The output matrix has a row for each token, and would take most of the time. So the loss sees a part of the
 * vocabulary (train_outputs): the most frequent tokens of the lessons, and others that each step draws at random. A
 * drawn row stands for n_others / n_drawn tokens, and the logarithm of that is its bias, so that the sum of exp(z) has
 * the right expectation (Jean et al., arXiv 1412.2007).
 */
#ifndef VOUCH_TRAIN_STUDENT_H
#define VOUCH_TRAIN_STUDENT_H

#include "train/network/head.h"
#include "train/network/lora.h"

typedef struct train_student_shape {
    int32_t n_layers;
    train_layer_shape layer;
} train_student_shape;

typedef struct train_student {
    train_student_shape shape;
    int64_t n_vocab;
    real *block;              /* [train_student_size] the output norm [n_embd], then the layers */
    train_lora lora;          /* without factors, the whole block learns */
    real *embedding, *output; /* [n_vocab, n_embd]; the same where tied */
    double *frequencies;      /* [head_dim / 2] radians per position */
} train_student;

int64_t train_student_size(const train_student_shape *shape);
train_layer train_student_layer(const train_student_shape *shape, real *block, int32_t layer);
/* From now on only factors of this rank learn. Errors: ARGUMENT, MEMORY. */
vouch_status train_student_adapt(train_student *student, int64_t rank, uint64_t seed, vouch_error *err);
/* The weights that learn, and how many they are. */
real *train_student_learned(const train_student *student);
int64_t train_student_n_learned(const train_student *student);
/* Makes the block follow from the factors. */
void train_student_merge(const train_student *student);

/* The rows of the output matrix that a run sees. A lesson's ids are indices of these rows. */
typedef struct train_outputs {
    int64_t n;
    const real *rows; /* [n, n_embd] */
    const real *bias; /* [n]; NULL: none */
} train_outputs;

typedef struct train_student_values {
    train_layer_values *layers; /* [n_layers] */
    train_layer_space space;
    real *s, *ds;  /* [rows, n_embd] */
    uint8_t *hits; /* [rows] the likeliest token is the label; 0 where the row doesn't count */
    real *logits;  /* [TRAIN_LOSS_ROWS, n_outputs] */
    real *picked, *normed, *dpicked, *dnormed; /* [TRAIN_LOSS_ROWS, n_embd] of rows that count */
    real factors[TRAIN_LOSS_ROWS];
    real *dlayer; /* [train_layer_size] a layer's gradients, where its factors learn; else NULL */
    train_sums sums;
} train_student_values;

/* Room for batches of max_rows rows in sequences of at most max_length, and for n_outputs output rows. */
void train_student_values_take(train_student_values *values, vouch_arena *arena, const train_student *student,
                               int64_t max_rows, int64_t max_length, int64_t n_outputs);

/* Forward: hits and sums of the rows that count. With `grads`, the layout of what learns, also backward: adds the
 * gradients of goal->weights[0] times the sum of losses. The batch has no features. */
void train_student_run(train_student_values *values, const train_student *student, real *grads,
                       const train_outputs *outputs, const train_batch *batch, const train_goal *goal);

#endif
