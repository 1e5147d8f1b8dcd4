/* SPDX-License-Identifier: MIT */
/* A model's hyperparameters, as its file states them. Layers have their own numbers (layer.h). */
#ifndef VOUCH_MODEL_HPARAMS_H
#define VOUCH_MODEL_HPARAMS_H

#include <stdint.h>

typedef struct vouch_hparams {
    const char *arch; /* general.architecture, and the prefix of the file's keys */
    int32_t n_vocab, n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_rot, n_ff, n_ctx_train;
    float norm_eps;
    double rope_base;
    double rope_scale; /* linear scaling: angles are divided by it */
} vouch_hparams;

#endif
