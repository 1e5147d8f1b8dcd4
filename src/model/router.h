/* SPDX-License-Identifier: MIT */
/* The choice of a row's experts. */
#ifndef VOUCH_MODEL_ROUTER_H
#define VOUCH_MODEL_ROUTER_H

#include "model/layer.h"

/* Chooses the experts of one row: chosen [n_used], best first, and their weights [n_used]. Of equal experts the one
 * with the lower number is better. The ids are different and valid whatever the scores are, NaN included.
 * scores [n_experts]: the router's logits, overwritten. room [n_experts]. */
void vouch_router_choose(const vouch_experts *experts, const vouch_kernels *kernels, float *scores, float *room,
                         int32_t *chosen, float *weights);
/* 1 / (1 + exp(-x)) */
float vouch_router_sigmoid(const vouch_kernels *kernels, float x);

#endif
