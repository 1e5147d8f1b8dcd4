/* SPDX-License-Identifier: MIT */
/* A model's hyperparameters, as its file states them. Layers have their own numbers (layer.h). */
#ifndef VOUCH_MODEL_HPARAMS_H
#define VOUCH_MODEL_HPARAMS_H

#include "model/layer.h"

/* Of a family with mixtures of experts (mixture.h). */
typedef struct vouch_expert_hparams {
    bool are_allowed; /* the family may have experts */
    int32_t n_experts, n_used, n_ff, n_ff_shared, n_groups, n_groups_used;
    int32_t n_dense;  /* the first layers, which have a feed-forward network instead */
    int32_t step;     /* of the others, layers `step`, 2 step, ... (counted from 1) have experts */
    vouch_gating gating;
    bool normalised, has_shared_gate, biases_choice, has_scales;
    float scale;
} vouch_expert_hparams;

typedef struct vouch_hparams {
    const char *arch; /* general.architecture, and the prefix of the file's keys */
    int32_t n_vocab, n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_rot, n_ff, n_ctx_train;
    float norm_eps;
    double rope_base;
    double rope_scale; /* linear scaling: angles are divided by it */
    vouch_expert_hparams experts;
} vouch_hparams;

#endif
