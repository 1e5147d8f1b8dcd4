/* SPDX-License-Identifier: MIT */
#include "support/shapes.h"

#include <string.h>

/* Columns: name, architecture, pre-tokenizer, layers, width, heads, KV heads, head width, feed-forward width,
 * vocabulary; context, RoPE base, norm epsilon, tied, experts, used experts, window, RoPE scaling and its factor, delta
 * nets. */
static const bench_shape shapes[] = {
    {"smollm2-135m", "llama", "smollm", 30, 576, 9, 3, 64, 1536, 49152, 8192, 1e5f, 1e-5f, true, 0, 0, 0, NULL, 0, {0}},
    {"qwen3-0.6b", "qwen3", "qwen2", 28,   1024, 16, 8, 128,  3072, 151936,
     40960,        1e6f,    1e-6f,   true, 0,    0,  0, NULL, 0,    {0}},
    {"qwen3-4b", "qwen3", "qwen2", 36, 2560, 32, 8, 128, 9728, 151936, 40960, 1e6f, 1e-6f, true, 0, 0, 0, NULL, 0, {0}},
    {"llama-3.2-3b", "llama", "llama-bpe", 28,   3072, 24, 8, 128,  8192, 128256,
     131072,         5e5f,    1e-5f,       true, 0,    0,  0, NULL, 0,    {0}},
    {"llama-8b", "llama", "llama-bpe", 32,    4096, 32, 8, 128,  14336, 128256,
     8192,       5e5f,    1e-5f,       false, 0,    0,  0, NULL, 0,     {0}},
    {"gemma-3-4b", "gemma3", "llama-bpe", 34,   2560, 8, 4,    256,      10240, 262144,
     131072,       1e6f,     1e-6f,       true, 0,    0, 1024, "linear", 8,     {0}},
    {"qwen3.5-4b", "qwen35", "qwen2", 32,   2560, 16, 4, 256,  9216, 248320,
     262144,       1e7f,     1e-6f,   true, 0,    0,  0, NULL, 0,    {4, 16, 32, 128}},
    {"qwen3-30b-a3b", "qwen3moe", "qwen2", 48,    2048, 32, 4, 128,  768, 151936,
     40960,           1e6f,       1e-6f,   false, 128,  8,  0, NULL, 0,   {0}},
    {"gpt-oss-20b", "gpt-oss", "gpt-4o", 24,    2880, 64, 8,   64,     2880, 201088,
     131072,        1.5e5f,    1e-5f,    false, 32,   4,  128, "yarn", 32,   {0}},
};

const bench_shape *bench_shape_at(size_t i)
{
    return i < sizeof shapes / sizeof shapes[0] ? &shapes[i] : NULL;
}

bool bench_layer_is_delta(const bench_shape *shape, int32_t layer)
{
    return shape->delta.every && (layer + 1) % shape->delta.every != 0;
}

static int64_t delta_channels(const bench_shape *s)
{
    return (2 * (int64_t)s->delta.n_keys + s->delta.n_values) * s->delta.width;
}

int bench_layer_matrices(const bench_shape *s, int32_t layer, bench_matrix out[BENCH_LAYER_MATRICES])
{
    const bool delta = bench_layer_is_delta(s, layer), attention = !delta;
    const int64_t n_embd = s->n_embd, n_ff = s->n_ff, n = s->n_experts;
    const int64_t n_q = (int64_t)s->n_heads * s->head_dim, n_kv = (int64_t)s->n_kv_heads * s->head_dim;
    const int64_t n_values = (int64_t)s->delta.n_values * s->delta.width;
    const struct {
        bench_matrix matrix;
        bool wanted;
    } all[] = {{{"attn_q", n_q * (s->delta.every ? 2 : 1), n_embd, 0}, attention}, /* with the heads' gates */
               {{"attn_k", n_kv, n_embd, 0}, attention},
               {{"attn_v", n_kv, n_embd, 0}, attention},
               {{"attn_output", n_embd, n_q, 0}, attention},
               {{"attn_qkv", delta_channels(s), n_embd, 0}, delta},
               {{"attn_gate", n_values, n_embd, 0}, delta},
               {{"ssm_alpha", s->delta.n_values, n_embd, 0}, delta},
               {{"ssm_beta", s->delta.n_values, n_embd, 0}, delta},
               {{"ssm_out", n_embd, n_values, 0}, delta},
               {{n ? "ffn_gate_exps" : "ffn_gate", n_ff, n_embd, n}, true},
               {{n ? "ffn_up_exps" : "ffn_up", n_ff, n_embd, n}, true},
               {{n ? "ffn_down_exps" : "ffn_down", n_embd, n_ff, n}, true},
               {{"ffn_gate_inp", n, n_embd, 0}, n > 0}};
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].wanted) out[count++] = all[i].matrix;
    return count;
}

int bench_layer_vectors(const bench_shape *s, int32_t layer, bench_vector out[BENCH_LAYER_VECTORS])
{
    const bool qwen = strncmp(s->arch, "qwen3", 5) == 0, gemma = strcmp(s->arch, "gemma3") == 0,
               gpt = strcmp(s->arch, "gpt-oss") == 0, delta = bench_layer_is_delta(s, layer);
    const int64_t n_q = (int64_t)s->n_heads * s->head_dim, n_kv = (int64_t)s->n_kv_heads * s->head_dim;
    const struct {
        bench_vector vector;
        bool wanted;
    } all[] = {{{"attn_norm.weight", s->n_embd, 0}, true},
               {{"ffn_norm.weight", s->n_embd, 0}, !gpt && !s->delta.every},
               {{"post_attention_norm.weight", s->n_embd, 0}, gemma || gpt || s->delta.every},
               {{"post_ffw_norm.weight", s->n_embd, 0}, gemma},
               {{"attn_q_norm.weight", s->head_dim, 0}, (qwen || gemma) && !delta},
               {{"attn_k_norm.weight", s->head_dim, 0}, (qwen || gemma) && !delta},
               {{"ssm_norm.weight", s->delta.width, 0}, delta},
               {{"ssm_conv1d.weight", BENCH_DELTA_CONV, delta_channels(s)}, delta},
               {{"ssm_dt.bias", s->delta.n_values, 0}, delta},
               {{"ssm_a", s->delta.n_values, 0}, delta},
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
