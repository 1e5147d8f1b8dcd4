/* SPDX-License-Identifier: MIT */
/*
 * Shapes of well-known models, from their published configurations. Benchmarks use them with random weights: speed does
 * not depend on the values of weights.
 */
#ifndef VOUCH_BENCH_SHAPES_H
#define VOUCH_BENCH_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Gated delta nets (arXiv 2412.06464) in all layers but each `every`-th, which is attention; 0: no delta nets. */
typedef struct bench_delta {
    int32_t every, n_keys, n_values, width; /* heads of keys and of values, and their width */
} bench_delta;

typedef struct bench_shape {
    const char *name;       /* "qwen3-0.6b" */
    const char *arch, *pre; /* architecture and pre-tokenizer, as in a GGUF file */
    int32_t n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_ff, n_vocab, n_ctx;
    float rope_base, norm_eps;
    bool tied;                 /* token embedding and output matrix are one tensor */
    int32_t n_experts, n_used; /* 0: no experts; with them, n_ff is an expert's width */
    int32_t window;            /* of the layers that have one; 0: none */
    const char *rope_scaling;  /* "linear", "yarn"; NULL: none */
    float rope_factor;
    bench_delta delta;
} bench_shape;

enum { BENCH_DELTA_CONV = 4 }; /* width of a delta net's convolution */

/* A matrix of a layer. */
typedef struct bench_matrix {
    const char *name; /* as in a GGUF file: "attn_q", ... */
    int64_t n_out, n_in;
    int64_t n_stack; /* matrices of this shape in the tensor, one for each expert; 0: one matrix */
} bench_matrix;

/* A norm's weights, which are ones, or biases, which are zeros. */
typedef struct bench_vector {
    const char *name; /* as in a GGUF file: "attn_norm.weight", ... */
    int64_t n;
    int64_t n_stack; /* as above */
} bench_vector;

enum { BENCH_LAYER_MATRICES = 8, BENCH_LAYER_VECTORS = 11 };

/* The i-th shape; NULL past the last. */
const bench_shape *bench_shape_at(size_t i);
/* "smollm2-135m, ...": all shapes, for help and messages. */
#define BENCH_SHAPE_NAMES \
    "smollm2-135m, qwen3-0.6b, qwen3-4b, llama-3.2-3b, llama-8b, gemma-3-4b, qwen3.5-4b, qwen3-30b-a3b, gpt-oss-20b"
bool bench_layer_is_delta(const bench_shape *shape, int32_t layer);
/* Write the layer's matrices or vectors to `out` and return their number. */
int bench_layer_matrices(const bench_shape *shape, int32_t layer, bench_matrix out[BENCH_LAYER_MATRICES]);
int bench_layer_vectors(const bench_shape *shape, int32_t layer, bench_vector out[BENCH_LAYER_VECTORS]);

#endif
