/* SPDX-License-Identifier: MIT */
#include "support/shapes.h"

static const bench_shape shapes[] = {
    {.name = "smollm2-135m", .arch = "llama", .pre = "smollm", .n_layers = 30, .n_embd = 576, .n_heads = 9,
     .n_kv_heads = 3, .head_dim = 64, .n_ff = 1536, .n_vocab = 49152, .n_ctx = 8192, .rope_base = 1e5f,
     .norm_eps = 1e-5f, .tied = true},
    {.name = "qwen3-0.6b", .arch = "qwen3", .pre = "qwen2", .n_layers = 28, .n_embd = 1024, .n_heads = 16,
     .n_kv_heads = 8, .head_dim = 128, .n_ff = 3072, .n_vocab = 151936, .n_ctx = 40960, .rope_base = 1e6f,
     .norm_eps = 1e-6f, .tied = true},
    {.name = "qwen3-4b", .arch = "qwen3", .pre = "qwen2", .n_layers = 36, .n_embd = 2560, .n_heads = 32,
     .n_kv_heads = 8, .head_dim = 128, .n_ff = 9728, .n_vocab = 151936, .n_ctx = 40960, .rope_base = 1e6f,
     .norm_eps = 1e-6f, .tied = true},
    {.name = "llama-8b", .arch = "llama", .pre = "llama-bpe", .n_layers = 32, .n_embd = 4096, .n_heads = 32,
     .n_kv_heads = 8, .head_dim = 128, .n_ff = 14336, .n_vocab = 128256, .n_ctx = 8192, .rope_base = 5e5f,
     .norm_eps = 1e-5f},
};

const bench_shape *bench_shape_at(size_t i)
{
    return i < sizeof shapes / sizeof shapes[0] ? &shapes[i] : NULL;
}

void bench_layer_matrices(const bench_shape *shape, bench_matrix out[BENCH_LAYER_MATRICES])
{
    const int64_t n_embd = shape->n_embd, n_ff = shape->n_ff;
    const int64_t n_q = (int64_t)shape->n_heads * shape->head_dim, n_kv = (int64_t)shape->n_kv_heads * shape->head_dim;
    const bench_matrix all[BENCH_LAYER_MATRICES] = {
        {"attn_q", n_q, n_embd},    {"attn_k", n_kv, n_embd}, {"attn_v", n_kv, n_embd},  {"attn_output", n_embd, n_q},
        {"ffn_gate", n_ff, n_embd}, {"ffn_up", n_ff, n_embd}, {"ffn_down", n_embd, n_ff}};
    for (int i = 0; i < BENCH_LAYER_MATRICES; i++) out[i] = all[i];
}
