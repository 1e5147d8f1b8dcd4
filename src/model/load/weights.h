/* SPDX-License-Identifier: MIT */
/* The weights of a model: its numbers, layers and packed matrices. */
#ifndef VOUCH_MODEL_WEIGHTS_H
#define VOUCH_MODEL_WEIGHTS_H

#include "base/cost.h"
#include "base/memory.h"
#include "base/pool.h"
#include "format/gguf.h"
#include "kernels/kernels.h"
#include "model/load/arch.h"

/* The adapters of a model's matrices (layer.h, vouch_lora). */
typedef struct vouch_adapters {
    int32_t n;         /* 0: there are none */
    int32_t n_slots;   /* 1: a row has at most one of them; otherwise n */
    int32_t most_rank; /* of a matrix A */
} vouch_adapters;

typedef struct vouch_weights {
    vouch_hparams hparams;
    vouch_adapters adapters;
    vouch_matrix embedding;     /* [n_vocab, n_embd] */
    const vouch_matrix *output; /* the output matrix, or the embedding where tied */
    vouch_matrix own_output;    /* n_out 0: tied */
    vouch_norm output_norm;
    vouch_depth output_depth;      /* of the output norm's input; n_kept: all kept streams of a row */
    const float *output_bias;      /* [n_vocab] of the logits; NULL: none */
    vouch_norm embedding_norm;     /* of an embedding; NONE as a rule */
    vouch_matrix positions;        /* [n_ctx_train, n_embd] embeddings of positions; n_out 0: none */
    vouch_matrix layer_tokens;     /* [n_vocab, n_layers * n_layer_input] embeddings for each layer; n_out 0: none */
    vouch_matrix layer_projection; /* [n_layers * n_layer_input, n_embd] */
    const float *layer_norm;       /* [n_layer_input] */
    vouch_matrix spread, gather;   /* [n_embd, n_embd] of version 1 of the stream; the others follow (altup.h) */
    vouch_hyper last_read;         /* of the output, in models with hyper-connections */
    const float *first_low;        /* [n_embd] the low state that a row begins with, in models with stacks */
    vouch_layer *layers;           /* [n_layers] */
    vouch_rotary *rotaries;        /* [n_rotaries] that the layers name */
    int32_t n_rotaries;
    const vouch_kernels *kernels;
    vouch_arena arena;   /* holds all of the above */
    vouch_tuning tuning; /* how the kernels read the matrices */
} vouch_weights;

/* How weights are packed. */
typedef struct vouch_packing {
    const vouch_kernels *kernels;
    vouch_pool *pool; /* its threads pack; NULL: the file is only checked, and the arena counts its bytes */
    bool is_tuned;    /* measures the readings (tune.h) */
    const vouch_tuning *readings_of;   /* has the readings where they aren't measured; NULL: the usual ones */
    const vouch_gguf *const *adapters; /* [n_adapters] files (lora_files.h) */
    int32_t n_adapters;
    vouch_progress_fn progress; /* may be NULL */
    void *user;
} vouch_packing;

/* For a head, which reads as its target does. */
static inline vouch_packing vouch_packing_beside(const vouch_weights *target, vouch_pool *pool)
{
    return (vouch_packing){.kernels = target->kernels, .pool = pool, .readings_of = &target->tuning};
}

/* Checks every hyperparameter and tensor of the file and packs the weights. n_tokens: size of the token table, 0 where
 * the file has none. All is copied: the file can be closed. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_weights_open(vouch_weights **out, const vouch_gguf *gguf, int32_t n_tokens,
                                const vouch_packing *packing, vouch_error *err);
/* The same for a part of a file, such as a head (head_weights.h). */
typedef struct vouch_weights_plan {
    const vouch_arch *arch; /* reads n_vocab, too */
    /* Takes the tensors before and after the layers, and sets weights->head unless the file has output.weight. NULL:
     * as a model's. */
    vouch_status (*take_ends)(vouch_weights *weights, vouch_loader *loader, void *user);
    void *user;
    int32_t n_tokens; /* of a model: size of the token table, 0 where the file has none */
    bool is_part;     /* the file has other tensors, too */
    int32_t nextn;    /* the only layer is this block after the file's layers, from 1 on; 0: all layers */
} vouch_weights_plan;
vouch_status vouch_weights_open_plan(vouch_weights **out, const vouch_gguf *gguf, const vouch_weights_plan *plan,
                                     const vouch_packing *packing, vouch_error *err);
/* Does the file have tensors? Errors: FORMAT (a vocabulary or a header alone). */
vouch_status vouch_weights_check_any(const vouch_gguf *gguf, vouch_error *err);
void vouch_weights_close(vouch_weights *weights);

/* Bytes of packed matrices that a pass of n rows reads; with experts the expected number, for rows that choose
 * independently. */
double vouch_weights_pass_bytes(const vouch_weights *weights, int32_t n_rows);
/* The same relative to one row: 1 without experts. */
double vouch_weights_reads(const vouch_weights *weights, int32_t n_rows);
/* The cost curve of passes with these weights, before the first pass. */
void vouch_weights_cost(const vouch_weights *weights, vouch_cost *cost);

#endif
