/* SPDX-License-Identifier: MIT */
/* The weights of a model: what its file says it is (vouch_hparams), and its packed matrices. */
#ifndef VOUCH_MODEL_WEIGHTS_H
#define VOUCH_MODEL_WEIGHTS_H

#include "base/memory.h"
#include "base/pool.h"
#include "format/gguf.h"
#include "kernels/kernels.h"
#include "model/layer.h"

/* An architecture, described by data. */
typedef struct vouch_arch {
    const char *name;       /* general.architecture and prefix of its keys */
    bool rope_half_split;   /* pairs (i, i + n/2) instead of (2i, 2i + 1) */
    bool qk_norm;           /* RMSNorm of each query and key head before RoPE */
} vouch_arch;

typedef struct vouch_hparams {
    const vouch_arch *arch;
    int32_t n_vocab, n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_rot, n_ff, n_ctx_train;
    float norm_eps;
    double rope_base;
    double rope_scale; /* linear scaling: angles are divided by it */
} vouch_hparams;

typedef struct vouch_weights {
    vouch_hparams hparams;
    vouch_matrix embedding;          /* [n_vocab, n_embd] */
    const vouch_matrix *head;        /* the output matrix, or the embedding where tied */
    vouch_matrix output;
    const float *output_norm;        /* [n_embd] */
    vouch_layer *layers;             /* [n_layers] */
    vouch_rotary *rotaries;          /* [n_rotaries] that the layers name */
    int32_t n_rotaries;
    const vouch_kernels *kernels;
    vouch_arena arena;               /* holds all of the above */
} vouch_weights;

/* Checks every hyperparameter and tensor of the file and packs the weights with the threads of `pool`.
 * n_tokens: size of the token table, 0 where the file has none. All is copied: the file can be closed.
 * pool NULL: checks only; of the arena there is what it would use, and no memory.
 * Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_weights_open(vouch_weights **out, const vouch_gguf *gguf, int32_t n_tokens,
                                const vouch_kernels *kernels, vouch_pool *pool,
                                vouch_progress_fn progress, void *user, vouch_error *err);
void vouch_weights_close(vouch_weights *weights);

#endif
