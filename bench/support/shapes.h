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

typedef struct bench_shape {
    const char *name;       /* "qwen3-0.6b" */
    const char *arch, *pre; /* architecture and pre-tokenizer, as in a GGUF file */
    int32_t n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_ff, n_vocab, n_ctx;
    float rope_base, norm_eps;
    bool tied; /* token embedding and output matrix are one tensor */
    int32_t n_experts, n_used; /* 0: no experts; with them, n_ff is an expert's width */
} bench_shape;

/* A matrix of a layer. */
typedef struct bench_matrix {
    const char *name; /* as in a GGUF file: "attn_q", ... */
    int64_t n_out, n_in;
    int64_t n_stack; /* matrices of this shape in the tensor, one for each expert; 0: one matrix */
} bench_matrix;

enum { BENCH_LAYER_MATRICES = 8 };

/* The i-th shape; NULL past the last. */
const bench_shape *bench_shape_at(size_t i);
/* Returns how many there are. */
int bench_layer_matrices(const bench_shape *shape, bench_matrix out[BENCH_LAYER_MATRICES]);

#endif
