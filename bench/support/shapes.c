/* SPDX-License-Identifier: MIT */
#include "support/shapes.h"

#include <string.h>

/* Columns: name, architecture, pre-tokenizer; layers, width, heads, KV heads, head width, feed-forward width,
 * vocabulary, context; RoPE base, norm epsilon, tied; experts, used experts; window; RoPE scaling and its factor. */
static const bench_shape shapes[] = {
    {"smollm2-135m", "llama", "smollm", 30, 576, 9, 3, 64, 1536, 49152, 8192, 1e5f, 1e-5f, true, 0, 0, 0, NULL, 0},
    {"qwen3-0.6b", "qwen3", "qwen2", 28, 1024, 16, 8, 128, 3072, 151936, 40960, 1e6f, 1e-6f, true, 0, 0, 0, NULL, 0},
    {"qwen3-4b", "qwen3", "qwen2", 36, 2560, 32, 8, 128, 9728, 151936, 40960, 1e6f, 1e-6f, true, 0, 0, 0, NULL, 0},
    {"llama-3.2-3b", "llama", "llama-bpe", 28, 3072, 24, 8, 128, 8192, 128256, 131072, 5e5f, 1e-5f, true, 0, 0, 0, NULL,
     0},
    {"llama-8b", "llama", "llama-bpe", 32, 4096, 32, 8, 128, 14336, 128256, 8192, 5e5f, 1e-5f, false, 0, 0, 0, NULL, 0},
    {"gemma-3-4b", "gemma3", "llama-bpe", 34, 2560, 8, 4, 256, 10240, 262144, 131072, 1e6f, 1e-6f, true, 0, 0, 1024,
     "linear", 8},
    {"qwen3-30b-a3b", "qwen3moe", "qwen2", 48, 2048, 32, 4, 128, 768, 151936, 40960, 1e6f, 1e-6f, false, 128, 8, 0,
     NULL, 0},
    {"gpt-oss-20b", "gpt-oss", "gpt-4o", 24, 2880, 64, 8, 64, 2880, 201088, 131072, 1.5e5f, 1e-5f, false, 32, 4, 128,
     "yarn", 32},
};

const bench_shape *bench_shape_at(size_t i)
{
    return i < sizeof shapes / sizeof shapes[0] ? &shapes[i] : NULL;
}

int bench_layer_matrices(const bench_shape *shape, bench_matrix out[BENCH_LAYER_MATRICES])
{
    const int64_t n_embd = shape->n_embd, n_ff = shape->n_ff, n = shape->n_experts;
    const int64_t n_q = (int64_t)shape->n_heads * shape->head_dim,
                  n_kv = (int64_t)shape->n_kv_heads * shape->head_dim;
    const bench_matrix all[BENCH_LAYER_MATRICES] = {{"attn_q", n_q, n_embd, 0},
                                                    {"attn_k", n_kv, n_embd, 0},
                                                    {"attn_v", n_kv, n_embd, 0},
                                                    {"attn_output", n_embd, n_q, 0},
                                                    {n ? "ffn_gate_exps" : "ffn_gate", n_ff, n_embd, n},
                                                    {n ? "ffn_up_exps" : "ffn_up", n_ff, n_embd, n},
                                                    {n ? "ffn_down_exps" : "ffn_down", n_embd, n_ff, n},
                                                    {"ffn_gate_inp", n, n_embd, 0}};
    const int count = n ? BENCH_LAYER_MATRICES : BENCH_LAYER_MATRICES - 1;
    for (int i = 0; i < count; i++) out[i] = all[i];
    return count;
}

int bench_layer_vectors(const bench_shape *s, bench_vector out[BENCH_LAYER_VECTORS])
{
    const bool qwen = strncmp(s->arch, "qwen3", 5) == 0, gemma = strcmp(s->arch, "gemma3") == 0,
               gpt = strcmp(s->arch, "gpt-oss") == 0;
    const int64_t n_q = (int64_t)s->n_heads * s->head_dim, n_kv = (int64_t)s->n_kv_heads * s->head_dim;
    const struct {
        bench_vector vector;
        bool wanted;
    } all[] = {{{"attn_norm.weight", s->n_embd, 0}, true},
               {{"ffn_norm.weight", s->n_embd, 0}, !gpt},
               {{"post_attention_norm.weight", s->n_embd, 0}, gemma || gpt},
               {{"post_ffw_norm.weight", s->n_embd, 0}, gemma},
               {{"attn_q_norm.weight", s->head_dim, 0}, qwen || gemma},
               {{"attn_k_norm.weight", s->head_dim, 0}, qwen || gemma},
               {{"attn_sinks.weight", s->n_heads, 0}, gpt},
               {{"attn_q.bias", n_q, 0}, gpt},
               {{"attn_k.bias", n_kv, 0}, gpt},
               {{"attn_v.bias", n_kv, 0}, gpt},
               {{"attn_output.bias", s->n_embd, 0}, gpt},
               {{"ffn_gate_inp.bias", s->n_experts, 0}, gpt},
               {{"ffn_gate_exps.bias", s->n_ff, s->n_experts}, gpt},
               {{"ffn_up_exps.bias", s->n_ff, s->n_experts}, gpt},
               {{"ffn_down_exps.bias", s->n_embd, s->n_experts}, gpt}};
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].wanted) out[count++] = all[i].vector;
    return count;
}
