/* SPDX-License-Identifier: MIT */
/*
 * Shapes of models that people run, for measurements without their weights: speed does not depend on values.
 * The numbers are those of the published configurations.
 */
#ifndef VOUCH_BENCH_SHAPES_H
#define VOUCH_BENCH_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_shape {
    const char *name;       /* "qwen3-0.6b" */
    const char *arch, *pre; /* of the GGUF file: architecture and pre-tokenizer */
    int32_t n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_ff, n_vocab, n_ctx;
    float rope_base, norm_eps;
    bool tied; /* no output.weight */
} bench_shape;

/* A matrix [n_out, n_in] under its name in a layer of a GGUF file. */
typedef struct bench_matrix {
    const char *name; /* "attn_q", ... */
    int64_t n_out, n_in;
} bench_matrix;

enum { BENCH_LAYER_MATRICES = 7 };

/* The names, and one past the last NULL. */
const bench_shape *bench_shape_at(size_t i);
void bench_layer_matrices(const bench_shape *shape, bench_matrix out[BENCH_LAYER_MATRICES]);

#endif
