/* SPDX-License-Identifier: MIT */
/*
 * Tiny models for tests, made from a seed: the same file for the same options, on every machine.
 *
 * Their weights are random but their logits aren't bland: the layers outweigh the embedding, so that the next
 * token hangs on the whole context, and the logits have a standard deviation of about 4. Greedy text wanders
 * over the vocabulary, near-ties are rare, and entropy varies from a tenth of a nat to several.
 *
 * A draft is made from its target by `noise`: at 0 it is the target and every guess holds, at 0.02 somewhat
 * more than half of them, at 0.05 a quarter, at 1 none. (Types of 4 bits amplify it: there 0.02 leaves a
 * fifth. Q5_0, Q5_1, K and IQ types make another model of any.)
 */
#ifndef VOUCH_TESTS_TINY_MODEL_H
#define VOUCH_TESTS_TINY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "format/gguf.h"

/* 0 and NULL mean the default, which stands beside the field. */
typedef struct tiny_model_options {
    const char *arch;    /* "llama" or "qwen3"; "llama" */
    int32_t n_vocab;     /* 400; below TINY_MERGES the file has no tokenizer */
    int32_t n_embd;      /* 64 */
    int32_t n_layers;    /* 2 */
    int32_t n_heads;     /* 4 */
    int32_t n_kv_heads;  /* n_heads / 2, or n_heads where that is odd */
    int32_t head_dim;    /* n_embd / n_heads, and then the file doesn't say */
    int32_t n_ff;        /* 96 */
    int32_t n_ctx;       /* 512 */
    vouch_type type;     /* of the matrices; F32. Rows that aren't whole blocks are F16 */
    vouch_type other;    /* of every second one; type */
    bool tied;           /* no output.weight */
    uint64_t seed;       /* of the weights */
    uint64_t vocab_seed; /* of the token table */
    float noise;         /* standard deviation of what is added, in that of the weights; 0 */
    uint64_t noise_seed;
    float rope_base;  /* 10000 */
    float rope_scale; /* linear scaling of the positions; none */
    bool rope_freqs;  /* a tensor of divisors of the frequencies */
    float last_rope_freq; /* the last of them; 0: as a model would have it */
    int32_t poison;   /* a token whose embedding is no number (F32 and F16 only); 0: none */
    const char *omit; /* a key (not of the tokenizer) or tensor to leave out */
    void (*add)(vouch_gguf_writer *writer, void *user); /* adds keys and tensors, first of all */
    void *user;
} tiny_model_options;

/* For `vouch run`: none of their four control tokens, so that an answer is as long as asked for. */
#define NO_CONTROL                                                                                           \
    "--ignore-eos", "--logit-bias", "0=-inf", "--logit-bias", "1=-inf", "--logit-bias", "2=-inf",            \
        "--logit-bias", "3=-inf"

/* Aborts on failure. */
void tiny_model_write(const char *path, const tiny_model_options *options);

/* Rounds n values to the type, as llama.cpp's reference does: n is a multiple of the block length, and
 * the result has n / block length * block bytes. Types that llama.cpp searches for get random blocks of about the
 * values' size instead. */
void tiny_model_pack(vouch_type type, const float *values, int64_t n, unsigned char *out);

#endif
