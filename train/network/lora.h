/* SPDX-License-Identifier: MIT */
/*
 * Low-rank adaptation of decoder layers (Hu et al., LoRA, arXiv 2106.09685). The weights with which the layers began
 * stay fixed. Each matrix runs as the sum of its fixed one and a product of two thin factors, which alone learn:
 *
 *   W = W0 + TRAIN_LORA_SCALE B A      A [rank, inputs] random, B [outputs, rank] 0 at first
 *
 * The layers see only W, [outputs, inputs], which is computed anew after each step. Their backward pass gives the
 * gradient of W, and the factors' gradients follow from it:
 *
 *   dA = scale B^T dW,   dB = scale dW A^T
 *
 * That costs rank / rows of a pass. So the layers don't know about the factors, and a network that has learned is an
 * ordinary one.
 */
#ifndef VOUCH_TRAIN_LORA_H
#define VOUCH_TRAIN_LORA_H

#include "train/network/layer.h"

/* The paper's alpha / rank. It acts as the learning rate does, so it needs no option of its own. */
enum { TRAIN_LORA_SCALE = 2 };

typedef struct train_lora {
    int64_t rank; /* 0: there are no factors, and all weights learn */
    train_layer_shape layer;
    int32_t n_layers;
    real *factors; /* [n_layers][train_lora_size]: of each layer's q, k, v, o, gate, up and down A, then B */
    real *fixed;   /* [n_layers][train_layer_size] the layers as they began */
    vouch_arena arena;
} train_lora;

/* Floats of a layer's factors. */
int64_t train_lora_size(const train_lora *lora);
/* Adapts layers [n_layers][train_layer_size]; the seed decides on A. Errors: ARGUMENT (rank, above n_embd), MEMORY. */
vouch_status train_lora_open(train_lora *lora, const train_layer_shape *shape, int32_t n_layers, const real *layers,
                             int64_t rank, uint64_t seed, vouch_error *err);
void train_lora_close(train_lora *lora);

/* Computes the matrices of all layers from the factors. */
void train_lora_merge(const train_lora *lora, real *layers);
/* Adds the gradients of a layer's factors to `grads`, in the layout of `factors`. Spoils `dlayer`, the gradients of the
 * layer's matrices. */
void train_lora_back(const train_lora *lora, real *grads, int32_t layer, const train_layer *dlayer);

#endif
