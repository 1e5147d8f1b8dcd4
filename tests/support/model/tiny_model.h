/* SPDX-License-Identifier: MIT */
/*
 * Writes tiny models for tests from a seed. The same options give the same file on every machine.
 *
 * The weights are random, but the text varies as a real model's does. The layers outweigh the embedding, so the next
 * token depends on the whole context. The logits have a standard deviation of about 4, so near-ties are rare, and the
 * entropy of a row varies from 0.1 nats to several.
 *
 * A draft model is its target plus `noise`. The acceptance rate is 1 at noise 0, somewhat above 0.5 at 0.02, 0.25 at
 * 0.05 and 0 at 1. With Q4_0 and Q4_1 it is lower: 0.2 at 0.02. Q5_0, Q5_1, K and IQ types get random blocks, so any
 * noise makes an unrelated model.
 */
#ifndef VOUCH_TESTS_TINY_MODEL_H
#define VOUCH_TESTS_TINY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "format/gguf.h"

/* 0 and NULL select the default. Each comment begins with the default. */
typedef struct tiny_model_options {
    const char *arch;     /* "llama"; or another of tiny_model_family */
    int32_t n_vocab;      /* 400; below TINY_MERGES the file has no tokenizer */
    int32_t n_embd;       /* 64 */
    int32_t n_layers;     /* 2 */
    int32_t n_heads;      /* 4 */
    int32_t n_kv_heads;   /* n_heads / 2, or n_heads if that is odd */
    int32_t head_dim;     /* n_embd / n_heads; by default the file has no key for it */
    int32_t n_ff;         /* 96 */
    int32_t n_ctx;        /* 512 */
    vouch_type type;      /* F32; type of the matrices. A matrix whose rows aren't whole blocks of it is F16 */
    vouch_type other;     /* `type`; type of every second matrix */
    bool tied;            /* false; true: no output.weight */
    uint64_t seed;        /* 0; of the weights */
    uint64_t vocab_seed;  /* 0; of the token table */
    float noise;          /* 0; standard deviation of the added noise, relative to that of the weights */
    uint64_t noise_seed;  /* 0 */
    float rope_base;      /* 10000 */
    float rope_scale;     /* none; factor of linear position scaling */
    bool rope_freqs;      /* false; true: adds rope_freqs.weight, the divisors of the RoPE frequencies */
    float last_rope_freq; /* as in Llama 3; the last of these divisors */
    int32_t n_experts;    /* the family's; if set, each layer from n_dense on has a mixture of so many experts */
    int32_t n_used;       /* 1; experts of a row */
    int32_t n_ff_expert;  /* n_ff; the experts' width */
    int32_t n_ff_shared;  /* none; width of the shared network */
    int32_t n_dense;      /* 0; leading dense layers */
    bool shared_gate;     /* false; adds ffn_gate_inp_shexp */
    bool selection_bias;  /* false; adds exp_probs_b */
    bool up_together;     /* false; W_uk and W_uv of latent attention are one tensor, as in older files */
    bool fused;           /* false; the experts' gate and up are one tensor */
    int32_t nextn;        /* 0; adds so many heads after the layers (model/head/mtp.c), with attention */
    bool nextn_own;       /* false; true: a head has an embedding, an output matrix and a norm of its own */
    bool nextn_alone;     /* false; true: the file has no layers, as those that converters write as mtp-*.gguf */
    float embedding;  /* 1; factor of the embedding. Far above 1, the next token depends on the last one above all */
    int32_t poison;   /* none; a token whose embedding has a NaN (F32 and F16 only) */
    const char *omit; /* none; a key (not of the tokenizer) or tensor to leave out */
    void (*add)(vouch_gguf_writer *writer, void *user); /* none; adds keys and tensors before all others */
    void *user;
} tiny_model_options;

/* Arguments for `vouch run` that ban the four control tokens, so that the answer has the requested length. */
#define NO_CONTROL                                                                                           \
    "--ignore-eos", "--logit-bias", "0=-inf", "--logit-bias", "1=-inf", "--logit-bias", "2=-inf",            \
        "--logit-bias", "3=-inf"

/* Writes the model. Aborts on failure. */
void tiny_model_write(const char *path, const tiny_model_options *options);

/* The i-th family that the writer knows; NULL past the last. */
const char *tiny_model_family(int32_t i);

/* Quantises n values. n is a multiple of the block length; `out` receives n / block length * block bytes. F32, F16,
 * BF16, Q8_0, Q4_0 and Q4_1 round as llama.cpp's reference does. Other types, whose scales llama.cpp finds by
 * search, get random blocks with the standard deviation of the values. */
void tiny_model_pack(vouch_type type, const float *values, int64_t n, unsigned char *out);

#endif
