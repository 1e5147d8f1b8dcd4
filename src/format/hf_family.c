/* SPDX-License-Identifier: MIT */
#include "format/hf_family.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------- rules */

#define LAYER "model.layers.#."

/* Llama and all that name their tensors after it. */
static const vouch_hf_rule llama[] = {
    {"model.embed_tokens", "token_embd", VOUCH_HF_AS_IS},
    {"model.norm", "output_norm", VOUCH_HF_AS_IS},
    {"lm_head", "output", VOUCH_HF_AS_IS},
    {LAYER "self_attn.q_proj", "blk.#.attn_q", VOUCH_HF_QUERIES},
    {LAYER "self_attn.k_proj", "blk.#.attn_k", VOUCH_HF_KEYS},
    {LAYER "self_attn.v_proj", "blk.#.attn_v", VOUCH_HF_AS_IS},
    {LAYER "self_attn.o_proj", "blk.#.attn_output", VOUCH_HF_AS_IS},
    {LAYER "self_attn.q_norm", "blk.#.attn_q_norm", VOUCH_HF_AS_IS},
    {LAYER "self_attn.k_norm", "blk.#.attn_k_norm", VOUCH_HF_AS_IS},
    {LAYER "self_attn.rotary_emb.inv_freq", NULL, VOUCH_HF_DROPPED},
    {LAYER "input_layernorm", "blk.#.attn_norm", VOUCH_HF_AS_IS},
    {LAYER "mlp.gate_proj", "blk.#.ffn_gate", VOUCH_HF_AS_IS},
    {LAYER "mlp.up_proj", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {LAYER "mlp.down_proj", "blk.#.ffn_down", VOUCH_HF_AS_IS},
    {0},
};

/* Norms before the branches alone. */
static const vouch_hf_rule norms_before[] = {
    {LAYER "post_attention_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {0},
};

/* Norms after the branches, and perhaps before them. */
static const vouch_hf_rule norms_after[] = {
    {LAYER "post_attention_layernorm", "blk.#.post_attention_norm", VOUCH_HF_AS_IS},
    {LAYER "pre_feedforward_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {LAYER "post_feedforward_layernorm", "blk.#.post_ffw_norm", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule mixtral[] = {
    {LAYER "block_sparse_moe.gate", "blk.#.ffn_gate_inp", VOUCH_HF_AS_IS},
    {LAYER "block_sparse_moe.experts.#.w1", "blk.#.ffn_gate_exps", VOUCH_HF_STACKED},
    {LAYER "block_sparse_moe.experts.#.w2", "blk.#.ffn_down_exps", VOUCH_HF_STACKED},
    {LAYER "block_sparse_moe.experts.#.w3", "blk.#.ffn_up_exps", VOUCH_HF_STACKED},
    {0},
};

static const vouch_hf_rule qwen_experts[] = {
    {LAYER "mlp.gate", "blk.#.ffn_gate_inp", VOUCH_HF_AS_IS},
    {LAYER "mlp.experts.#.gate_proj", "blk.#.ffn_gate_exps", VOUCH_HF_STACKED},
    {LAYER "mlp.experts.#.down_proj", "blk.#.ffn_down_exps", VOUCH_HF_STACKED},
    {LAYER "mlp.experts.#.up_proj", "blk.#.ffn_up_exps", VOUCH_HF_STACKED},
    {0},
};

static const vouch_hf_rule phi3[] = {
    {LAYER "self_attn.qkv_proj", "blk.#.attn_qkv", VOUCH_HF_AS_IS},
    {LAYER "mlp.gate_up_proj", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule stablelm[] = {
    {LAYER "self_attn.q_layernorm.norms.#", "blk.#.attn_q_norm", VOUCH_HF_STACKED},
    {LAYER "self_attn.k_layernorm.norms.#", "blk.#.attn_k_norm", VOUCH_HF_STACKED},
    {0},
};

static const vouch_hf_rule starcoder2[] = {
    {LAYER "mlp.c_fc", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {LAYER "mlp.c_proj", "blk.#.ffn_down", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule gpt2[] = {
    {"transformer.wte", "token_embd", VOUCH_HF_AS_IS},
    {"transformer.wpe", "position_embd", VOUCH_HF_AS_IS},
    {"transformer.ln_f", "output_norm", VOUCH_HF_AS_IS},
    {"lm_head", "output", VOUCH_HF_AS_IS},
    {"transformer.h.#.ln_1", "blk.#.attn_norm", VOUCH_HF_AS_IS},
    {"transformer.h.#.attn.c_attn", "blk.#.attn_qkv", VOUCH_HF_TRANSPOSED},
    {"transformer.h.#.attn.c_proj", "blk.#.attn_output", VOUCH_HF_TRANSPOSED},
    {"transformer.h.#.attn", NULL, VOUCH_HF_DROPPED},
    {"transformer.h.#.attn.masked_bias", NULL, VOUCH_HF_DROPPED},
    {"transformer.h.#.ln_2", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {"transformer.h.#.mlp.c_fc", "blk.#.ffn_up", VOUCH_HF_TRANSPOSED},
    {"transformer.h.#.mlp.c_proj", "blk.#.ffn_down", VOUCH_HF_TRANSPOSED},
    {0},
};

static const vouch_hf_rule gpt_neox[] = {
    {"gpt_neox.embed_in", "token_embd", VOUCH_HF_AS_IS},
    {"gpt_neox.final_layer_norm", "output_norm", VOUCH_HF_AS_IS},
    {"embed_out", "output", VOUCH_HF_AS_IS},
    {"lm_head", "output", VOUCH_HF_AS_IS},
    {"gpt_neox.layers.#.input_layernorm", "blk.#.attn_norm", VOUCH_HF_AS_IS},
    {"gpt_neox.layers.#.post_attention_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {"gpt_neox.layers.#.attention.query_key_value", "blk.#.attn_qkv", VOUCH_HF_FUSED},
    {"gpt_neox.layers.#.attention.dense", "blk.#.attn_output", VOUCH_HF_AS_IS},
    {"gpt_neox.layers.#.attention", NULL, VOUCH_HF_DROPPED},
    {"gpt_neox.layers.#.attention.masked_bias", NULL, VOUCH_HF_DROPPED},
    {"gpt_neox.layers.#.attention.rotary_emb.inv_freq", NULL, VOUCH_HF_DROPPED},
    {"gpt_neox.layers.#.mlp.dense_h_to_4h", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {"gpt_neox.layers.#.mlp.dense_4h_to_h", "blk.#.ffn_down", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule falcon[] = {
    {"transformer.word_embeddings", "token_embd", VOUCH_HF_AS_IS},
    {"transformer.ln_f", "output_norm", VOUCH_HF_AS_IS},
    {"lm_head", "output", VOUCH_HF_AS_IS},
    {"transformer.h.#.input_layernorm", "blk.#.attn_norm", VOUCH_HF_AS_IS},
    {"transformer.h.#.ln_mlp", "blk.#.attn_norm", VOUCH_HF_AS_IS},
    {"transformer.h.#.ln_attn", "blk.#.attn_norm_2", VOUCH_HF_AS_IS},
    {"transformer.h.#.self_attention.query_key_value", "blk.#.attn_qkv", VOUCH_HF_FUSED},
    {"transformer.h.#.self_attention.dense", "blk.#.attn_output", VOUCH_HF_AS_IS},
    {"transformer.h.#.mlp.dense_h_to_4h", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {"transformer.h.#.mlp.dense_4h_to_h", "blk.#.ffn_down", VOUCH_HF_AS_IS},
    {0},
};

/* ---------------------------------------------------------------- families */

#define SILU "silu|swish"
/* GGUF has one GELU, by tanh. Models with the exact one, "gelu", differ from it by up to 5e-4. */
#define GELU "gelu|gelu_new|gelu_fast|gelu_pytorch_tanh"

#define FAMILY(from, to, accepted, ...) {.model_type = from, .arch = to, .activations = accepted, __VA_ARGS__}
#define RULES(...)                      .rules = {__VA_ARGS__}
#define LLAMA                           RULES(llama, norms_before)
#define NO_WINDOWS                      {"use_sliding_window", false}

static const vouch_hf_family families[] = {
    FAMILY("llama", "llama", SILU, LLAMA, .rotates_adjacent = true),
    FAMILY("mistral", "llama", SILU, LLAMA, .rotates_adjacent = true, .window_period = 1),
    FAMILY("mixtral", "llama", SILU, RULES(llama, norms_before, mixtral), .rotates_adjacent = true, .window_period = 1),
    FAMILY("smollm3", "smollm3", SILU, LLAMA, .rotates_adjacent = true, .demands = {NO_WINDOWS}),
    FAMILY("granite", "granite", SILU, LLAMA, .rotates_adjacent = true),
    FAMILY("qwen2", "qwen2", SILU, LLAMA, .demands = {NO_WINDOWS}),
    FAMILY("qwen3", "qwen3", SILU, LLAMA, .demands = {NO_WINDOWS}),
    FAMILY("qwen3_moe", "qwen3moe", SILU, RULES(llama, norms_before, qwen_experts),
           .demands = {NO_WINDOWS, {"norm_topk_prob", true}}),
    FAMILY("gemma", "gemma", GELU, LLAMA, .adds_one = true),
    FAMILY("gemma2", "gemma2", GELU, RULES(llama, norms_after), .adds_one = true, .window_period = 2),
    FAMILY("gemma3_text", "gemma3", GELU, RULES(llama, norms_after), .adds_one = true, .window_period = 6),
    FAMILY("olmo2", "olmo2", SILU, RULES(llama, norms_after)),
    FAMILY("phi3", "phi3", SILU, RULES(llama, norms_before, phi3), .window_period = 1),
    FAMILY("stablelm", "stablelm", SILU, RULES(llama, norms_before, stablelm)),
    FAMILY("starcoder2", "starcoder2", GELU, RULES(llama, norms_before, starcoder2), .window_period = 1),
    FAMILY("gpt2", "gpt2", GELU, RULES(gpt2),
           .demands = {{"scale_attn_weights", true}, {"scale_attn_by_inverse_layer_idx", false}}),
    FAMILY("gpt_neox", "gptneox", GELU, RULES(gpt_neox)),
    FAMILY("falcon", "falcon", GELU, RULES(falcon), .demands = {{"alibi", false}, {"parallel_attn", true}}),
};
enum { N_FAMILIES = sizeof families / sizeof families[0] };

vouch_status vouch_hf_family_find(const char *model_type, const char *path, const vouch_hf_family **family,
                                  vouch_error *err)
{
    char known[400] = "";
    for (size_t i = 0; i < N_FAMILIES; i++) {
        if (strcmp(families[i].model_type, model_type) == 0) {
            *family = &families[i];
            return VOUCH_OK;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", families[i].model_type);
    }
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: model_type '%.40s' is not supported in a folder (supported: %s); a GGUF file of it may be",
                      path, model_type, known);
}

/* ------------------------------------------------------------------- names */

/* Whether `name` [n] is `pattern`; *first and *second are its numbers. */
static bool name_matches(const char *pattern, const char *name, size_t n, int32_t *first, int32_t *second)
{
    const char *end = name + n;
    int32_t *number = first;
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (name == end || *name++ != *pattern) return false;
            continue;
        }
        const char *digits = name;
        *number = 0;
        while (name < end && *name >= '0' && *name <= '9' && name - digits < 6)
            *number = *number * 10 + (*name++ - '0');
        if (name == digits || (*digits == '0' && name - digits > 1)) return false;
        number = second;
    }
    return name == end;
}

const vouch_hf_rule *vouch_hf_family_rule(const vouch_hf_family *family, const char *name, int32_t *layer,
                                          int32_t *index, const char **suffix)
{
    const char *dot = strrchr(name, '.');
    *suffix = dot && (strcmp(dot, ".weight") == 0 || strcmp(dot, ".bias") == 0) ? dot : name + strlen(name);
    for (size_t i = 0; i < VOUCH_HF_MOST_RULES && family->rules[i]; i++)
        for (const vouch_hf_rule *rule = family->rules[i]; rule->from; rule++) {
            *layer = *index = 0;
            if (name_matches(rule->from, name, (size_t)(*suffix - name), layer, index)) return rule;
        }
    return NULL;
}
