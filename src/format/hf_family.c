/* SPDX-License-Identifier: MIT */
#include "format/hf_family.h"

#include <stdio.h>
#include <string.h>

#include "format/hf_shape.h"

/* ------------------------------------------------------------------- rules */

#define LAYER "model.layers.#."

/* Llama, and families with Llama's names of tensors. */
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

/* For families with norms only before attention and feed-forward. */
static const vouch_hf_rule norms_before[] = {
    {LAYER "post_attention_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule phi[] = {
    {"model.final_layernorm", "output_norm", VOUCH_HF_AS_IS},
    {LAYER "self_attn.dense", "blk.#.attn_output", VOUCH_HF_AS_IS},
    {LAYER "mlp.fc1", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {LAYER "mlp.fc2", "blk.#.ffn_down", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule glm4[] = {
    {LAYER "post_self_attn_layernorm", "blk.#.post_attention_norm", VOUCH_HF_AS_IS},
    {LAYER "post_attention_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {LAYER "post_mlp_layernorm", "blk.#.post_ffw_norm", VOUCH_HF_AS_IS},
    {LAYER "mlp.gate_up_proj", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {0},
};

/* For families with norms after attention and feed-forward, and perhaps before them. */
static const vouch_hf_rule norms_after[] = {
    {LAYER "post_attention_layernorm", "blk.#.post_attention_norm", VOUCH_HF_AS_IS},
    {LAYER "pre_feedforward_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {LAYER "post_feedforward_layernorm", "blk.#.post_ffw_norm", VOUCH_HF_AS_IS},
    {0},
};

/* An embedding of each layer's own, and experts beside the feed-forward network, with norms of their own. */
static const vouch_hf_rule gemma4[] = {
    {"model.embed_tokens_per_layer", "per_layer_token_embd", VOUCH_HF_AS_IS},
    {"model.per_layer_model_projection", "per_layer_model_proj", VOUCH_HF_AS_IS},
    {"model.per_layer_projection_norm", "per_layer_proj_norm", VOUCH_HF_AS_IS},
    {LAYER "per_layer_input_gate", "blk.#.inp_gate", VOUCH_HF_AS_IS},
    {LAYER "per_layer_projection", "blk.#.proj", VOUCH_HF_AS_IS},
    {LAYER "post_per_layer_input_norm", "blk.#.post_norm", VOUCH_HF_AS_IS},
    {LAYER "layer_scalar", "blk.#.layer_output_scale", VOUCH_HF_AS_IS},
    {LAYER "router.proj", "blk.#.ffn_gate_inp", VOUCH_HF_AS_IS},
    {LAYER "router.scale", "blk.#.ffn_gate_inp.scale", VOUCH_HF_NAMED},
    {LAYER "router.per_expert_scale", "blk.#.ffn_down_exps.scale", VOUCH_HF_NAMED},
    {LAYER "experts.gate_up_proj", "blk.#.ffn_gate_up_exps", VOUCH_HF_WHOLE},
    {LAYER "experts.down_proj", "blk.#.ffn_down_exps", VOUCH_HF_WHOLE},
    {LAYER "pre_feedforward_layernorm_2", "blk.#.pre_ffw_norm_2", VOUCH_HF_AS_IS},
    {LAYER "post_feedforward_layernorm_1", "blk.#.post_ffw_norm_1", VOUCH_HF_AS_IS},
    {LAYER "post_feedforward_layernorm_2", "blk.#.post_ffw_norm_2", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule hunyuan[] = {
    {LAYER "self_attn.query_layernorm", "blk.#.attn_q_norm", VOUCH_HF_AS_IS},
    {LAYER "self_attn.key_layernorm", "blk.#.attn_k_norm", VOUCH_HF_AS_IS},
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
    {LAYER "mlp.shared_expert.gate_proj", "blk.#.ffn_gate_shexp", VOUCH_HF_AS_IS},
    {LAYER "mlp.shared_expert.down_proj", "blk.#.ffn_down_shexp", VOUCH_HF_AS_IS},
    {LAYER "mlp.shared_expert.up_proj", "blk.#.ffn_up_shexp", VOUCH_HF_AS_IS},
    {LAYER "mlp.shared_expert_gate", "blk.#.ffn_gate_inp_shexp", VOUCH_HF_AS_IS},
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

/* GPTBigCode's own names. The list stands before gpt2's, because the first match counts. */
static const vouch_hf_rule gpt_bigcode[] = {
    {"transformer.h.#.attn.c_attn", "blk.#.attn_qkv", VOUCH_HF_AS_IS},
    {"transformer.h.#.attn.c_proj", "blk.#.attn_output", VOUCH_HF_AS_IS},
    {"transformer.h.#.mlp.c_fc", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {"transformer.h.#.mlp.c_proj", "blk.#.ffn_down", VOUCH_HF_AS_IS},
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
    {"transformer.h.#.post_attention_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {"transformer.h.#.self_attention.query_key_value", "blk.#.attn_qkv", VOUCH_HF_FUSED},
    {"transformer.h.#.self_attention.dense", "blk.#.attn_output", VOUCH_HF_AS_IS},
    {"transformer.h.#.mlp.dense_h_to_4h", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {"transformer.h.#.mlp.dense_4h_to_h", "blk.#.ffn_down", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule bloom[] = {
    {"transformer.word_embeddings_layernorm", "token_embd_norm", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule lfm2[] = {
    {"model.embedding_norm", "token_embd_norm", VOUCH_HF_AS_IS},
    {LAYER "operator_norm", "blk.#.attn_norm", VOUCH_HF_AS_IS},
    {LAYER "ffn_norm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {LAYER "conv.conv", "blk.#.shortconv.conv", VOUCH_HF_CONVOLUTION},
    {LAYER "conv.in_proj", "blk.#.shortconv.in_proj", VOUCH_HF_AS_IS},
    {LAYER "conv.out_proj", "blk.#.shortconv.out_proj", VOUCH_HF_AS_IS},
    {LAYER "self_attn.out_proj", "blk.#.attn_output", VOUCH_HF_AS_IS},
    {LAYER "self_attn.q_layernorm", "blk.#.attn_q_norm", VOUCH_HF_AS_IS},
    {LAYER "self_attn.k_layernorm", "blk.#.attn_k_norm", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.w1", "blk.#.ffn_gate", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.w2", "blk.#.ffn_down", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.w3", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.gate", "blk.#.ffn_gate_inp", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.expert_bias", "blk.#.exp_probs_b.bias", VOUCH_HF_NAMED},
    {LAYER "feed_forward.experts.#.w1", "blk.#.ffn_gate_exps", VOUCH_HF_STACKED},
    {LAYER "feed_forward.experts.#.w2", "blk.#.ffn_down_exps", VOUCH_HF_STACKED},
    {LAYER "feed_forward.experts.#.w3", "blk.#.ffn_up_exps", VOUCH_HF_STACKED},
    {0},
};

/* Rules for Mamba-2's tensors, whose names begin with `mixer`. */
#define MAMBA2(mixer)                                            \
    {mixer "A_log", "blk.#.ssm_a", VOUCH_HF_DECAY_COLUMN},       \
    {mixer "D", "blk.#.ssm_d", VOUCH_HF_COLUMN},                 \
    {mixer "dt_bias", "blk.#.ssm_dt.bias", VOUCH_HF_NAMED},      \
    {mixer "conv1d", "blk.#.ssm_conv1d", VOUCH_HF_CONVOLUTION},  \
    {mixer "in_proj", "blk.#.ssm_in", VOUCH_HF_AS_IS},           \
    {mixer "norm", "blk.#.ssm_norm", VOUCH_HF_GROUPS},           \
    {mixer "out_proj", "blk.#.ssm_out", VOUCH_HF_AS_IS}

static const vouch_hf_rule mamba2[] = {
    {"backbone.embeddings", "token_embd", VOUCH_HF_AS_IS},
    {"backbone.norm_f", "output_norm", VOUCH_HF_AS_IS},
    {"lm_head", "output", VOUCH_HF_AS_IS},
    {"backbone.layers.#.norm", "blk.#.attn_norm", VOUCH_HF_AS_IS},
    MAMBA2("backbone.layers.#.mixer."),
    {0},
};

/* In models without experts, hf_tensors.c drops "_shexp" from these names. */
static const vouch_hf_rule granite_hybrid[] = {
    MAMBA2(LAYER "mamba."),
    {LAYER "block_sparse_moe.router.layer", "blk.#.ffn_gate_inp", VOUCH_HF_AS_IS},
    {LAYER "block_sparse_moe.input_linear", "blk.#.ffn_gate_up_exps", VOUCH_HF_WHOLE},
    {LAYER "block_sparse_moe.output_linear", "blk.#.ffn_down_exps", VOUCH_HF_WHOLE},
    {LAYER "shared_mlp.input_linear", "blk.#.ffn_gate_shexp", VOUCH_HF_FIRST_HALF},
    {LAYER "shared_mlp.input_linear", "blk.#.ffn_up_shexp", VOUCH_HF_SECOND_HALF},
    {LAYER "shared_mlp.output_linear", "blk.#.ffn_down_shexp", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule jamba[] = {
    {"model.final_layernorm", "output_norm", VOUCH_HF_AS_IS},
    {LAYER "pre_ff_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {LAYER "mamba.A_log", "blk.#.ssm_a", VOUCH_HF_DECAY},
    {LAYER "mamba.D", "blk.#.ssm_d", VOUCH_HF_NAMED},
    {LAYER "mamba.conv1d", "blk.#.ssm_conv1d", VOUCH_HF_CONVOLUTION},
    {LAYER "mamba.in_proj", "blk.#.ssm_in", VOUCH_HF_AS_IS},
    {LAYER "mamba.x_proj", "blk.#.ssm_x", VOUCH_HF_AS_IS},
    {LAYER "mamba.dt_proj", "blk.#.ssm_dt", VOUCH_HF_AS_IS},
    {LAYER "mamba.out_proj", "blk.#.ssm_out", VOUCH_HF_AS_IS},
    {LAYER "mamba.b_layernorm", "blk.#.ssm_b_norm", VOUCH_HF_AS_IS},
    {LAYER "mamba.c_layernorm", "blk.#.ssm_c_norm", VOUCH_HF_AS_IS},
    {LAYER "mamba.dt_layernorm", "blk.#.ssm_dt_norm", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.gate_proj", "blk.#.ffn_gate", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.up_proj", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.down_proj", "blk.#.ffn_down", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.router", "blk.#.ffn_gate_inp", VOUCH_HF_AS_IS},
    {LAYER "feed_forward.experts.#.gate_proj", "blk.#.ffn_gate_exps", VOUCH_HF_STACKED},
    {LAYER "feed_forward.experts.#.up_proj", "blk.#.ffn_up_exps", VOUCH_HF_STACKED},
    {LAYER "feed_forward.experts.#.down_proj", "blk.#.ffn_down_exps", VOUCH_HF_STACKED},
    {0},
};

static const vouch_hf_rule qwen3_next[] = {
    {LAYER "linear_attn.in_proj_qkvz", "blk.#.attn_qkv", VOUCH_HF_DELTA},
    {LAYER "linear_attn.in_proj_qkvz", "blk.#.attn_gate", VOUCH_HF_DELTA_GATE},
    {LAYER "linear_attn.in_proj_ba", "blk.#.ssm_ba", VOUCH_HF_AS_IS},
    {LAYER "linear_attn.A_log", "blk.#.ssm_a", VOUCH_HF_DECAY},
    {LAYER "linear_attn.dt_bias", "blk.#.ssm_dt.bias", VOUCH_HF_NAMED},
    {LAYER "linear_attn.conv1d", "blk.#.ssm_conv1d", VOUCH_HF_CONVOLUTION},
    {LAYER "linear_attn.norm", "blk.#.ssm_norm.weight", VOUCH_HF_NAMED}, /* doesn't add one */
    {LAYER "linear_attn.out_proj", "blk.#.ssm_out", VOUCH_HF_AS_IS},
    {LAYER "post_attention_layernorm", "blk.#.post_attention_norm", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule qwen3_5[] = {
    {LAYER "linear_attn.in_proj_qkv", "blk.#.attn_qkv", VOUCH_HF_VALUES_LAST},
    {LAYER "linear_attn.in_proj_z", "blk.#.attn_gate", VOUCH_HF_VALUES},
    {LAYER "linear_attn.in_proj_b", "blk.#.ssm_beta", VOUCH_HF_VALUES},
    {LAYER "linear_attn.in_proj_a", "blk.#.ssm_alpha", VOUCH_HF_VALUES},
    {LAYER "linear_attn.A_log", "blk.#.ssm_a", VOUCH_HF_VALUES_DECAY},
    {LAYER "linear_attn.dt_bias", "blk.#.ssm_dt.bias", VOUCH_HF_VALUES_NAMED},
    {LAYER "linear_attn.conv1d", "blk.#.ssm_conv1d", VOUCH_HF_VALUES_LAST},
    {LAYER "linear_attn.norm", "blk.#.ssm_norm.weight", VOUCH_HF_NAMED}, /* doesn't add one */
    {LAYER "linear_attn.out_proj", "blk.#.ssm_out", VOUCH_HF_VALUES_COLUMNS},
    {LAYER "post_attention_layernorm", "blk.#.post_attention_norm", VOUCH_HF_AS_IS},
    {LAYER "mlp.experts.gate_up_proj", "blk.#.ffn_gate_up_exps", VOUCH_HF_WHOLE},
    {LAYER "mlp.experts.down_proj", "blk.#.ffn_down_exps", VOUCH_HF_WHOLE},
    {0},
};

/* The experts' matrices are floats, or blocks and scales of MXFP4. The outputs of W_gate and W_up alternate. */
static const vouch_hf_rule gpt_oss[] = {
    {LAYER "self_attn.sinks", "blk.#.attn_sinks.weight", VOUCH_HF_NAMED},
    {LAYER "post_attention_layernorm", "blk.#.post_attention_norm", VOUCH_HF_AS_IS},
    {LAYER "mlp.router", "blk.#.ffn_gate_inp", VOUCH_HF_AS_IS},
#define GATE_UP(part, kind)                                                                        \
    {LAYER "mlp.experts.gate_up_proj" part, "blk.#.ffn_gate_exps." kind, VOUCH_HF_EVEN},           \
    {LAYER "mlp.experts.gate_up_proj" part, "blk.#.ffn_up_exps." kind, VOUCH_HF_ODD}
    GATE_UP("", "weight"),
    GATE_UP("_blocks", "weight"),
    GATE_UP("_scales", "weight"),
    GATE_UP("_bias", "bias"),
    {LAYER "mlp.experts.down_proj", "blk.#.ffn_down_exps.weight", VOUCH_HF_EXPERTS},
    {LAYER "mlp.experts.down_proj_blocks", "blk.#.ffn_down_exps.weight", VOUCH_HF_EXPERTS},
    {LAYER "mlp.experts.down_proj_scales", "blk.#.ffn_down_exps.weight", VOUCH_HF_EXPERTS},
    {LAYER "mlp.experts.down_proj_bias", "blk.#.ffn_down_exps.bias", VOUCH_HF_NAMED},
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
#define RELU2                           "relu2"
#define HALF_ROTATED                    "{\"partial_rotary_factor\": 0.5}"
#define QUARTER_ROTATED                 "{\"partial_rotary_factor\": 0.25, \"full_attention_interval\": 4}"
#define QWEN3_5                         .is_recurrent = true, .adds_one = true, .defaults = QUARTER_ROTATED
#define LOGIT_SCALE                     "{\"logit_scale\": 0.0625}"
#define GEMMA3 \
    "{\"vocab_size\": 262208, \"max_position_embeddings\": 131072, \"num_attention_heads\": 8, " \
    "\"num_key_value_heads\": 4, \"head_dim\": 256, \"query_pre_attn_scalar\": 256, \"rms_norm_eps\": 1e-6, " \
    "\"rope_theta\": 1e6, \"rope_local_base_freq\": 1e4, \"sliding_window\": 4096, \"tie_word_embeddings\": true}"

#define GEMMA4_SHAPE \
    "\"vocab_size\": 262144, \"num_attention_heads\": 8, \"num_key_value_heads\": 4, \"head_dim\": 256, " \
    "\"rms_norm_eps\": 1e-6, \"tie_word_embeddings\": true, "
#define GEMMA4 \
    "{" GEMMA4_SHAPE "\"max_position_embeddings\": 131072, \"sliding_window\": 512, " \
    "\"hidden_size_per_layer_input\": 256}"
#define GEMMA4_UNIFIED "{" GEMMA4_SHAPE "\"max_position_embeddings\": 262144, \"sliding_window\": 1024}"
#define GEMMA4_FAMILY(from, defaults_json)                                                                \
    FAMILY(from, "gemma4", "gelu_pytorch_tanh", RULES(llama, norms_after, gemma4), .has_two_rotations = true, \
           .window_period = VOUCH_HF_MOST_LAYERS, .demands = {{"attention_bias", false}}, .defaults = defaults_json)

static const vouch_hf_family families[] = {
    FAMILY("llama", "llama", SILU, LLAMA, .rotates_adjacent = true),
    FAMILY("mistral", "llama", SILU, LLAMA, .rotates_adjacent = true, .window_period = 1),
    FAMILY("mistral3", "mistral3", SILU, LLAMA, .rotates_adjacent = true, .window_period = 1),
    FAMILY("mixtral", "llama", SILU, RULES(llama, norms_before, mixtral), .rotates_adjacent = true, .window_period = 1),
    FAMILY("smollm3", "smollm3", SILU, LLAMA, .rotates_adjacent = true, .demands = {NO_WINDOWS}),
    FAMILY("granite", "granite", SILU, LLAMA, .rotates_adjacent = true),
    FAMILY("arcee", "arcee", RELU2, LLAMA, .rotates_adjacent = true),
    FAMILY("seed_oss", "seed_oss", SILU, RULES(llama, norms_after)),
    FAMILY("qwen2", "qwen2", SILU, LLAMA, .demands = {NO_WINDOWS}),
    FAMILY("qwen3", "qwen3", SILU, LLAMA, .demands = {NO_WINDOWS}),
    FAMILY("qwen3_moe", "qwen3moe", SILU, RULES(llama, norms_before, qwen_experts),
           .demands = {NO_WINDOWS, {"norm_topk_prob", true}}),
    FAMILY("qwen2_moe", "qwen2moe", SILU, RULES(llama, norms_before, qwen_experts),
           .demands = {NO_WINDOWS, {"norm_topk_prob", false}}),
    FAMILY("olmoe", "olmoe", SILU, RULES(llama, norms_before, qwen_experts), .demands = {{"norm_topk_prob", false}}),
    FAMILY("gemma", "gemma", GELU, LLAMA, .adds_one = true),
    FAMILY("gemma2", "gemma2", GELU, RULES(llama, norms_after), .adds_one = true, .window_period = 2),
    FAMILY("gemma3_text", "gemma3", GELU, RULES(llama, norms_after), .adds_one = true, .window_period = 6,
           .defaults = GEMMA3),
    FAMILY("gemma3", "gemma3", GELU, RULES(llama, norms_after), .adds_one = true, .window_period = 6,
           .defaults = GEMMA3),
    GEMMA4_FAMILY("gemma4_text", GEMMA4),
    GEMMA4_FAMILY("gemma4", GEMMA4),
    GEMMA4_FAMILY("gemma4_unified_text", GEMMA4_UNIFIED),
    GEMMA4_FAMILY("gemma4_unified", GEMMA4_UNIFIED),
    FAMILY("olmo", "olmo", SILU, RULES(llama), .rotates_adjacent = true,
           .defaults = "{\"layer_norm_eps\": 1e-5}"),
    FAMILY("olmo2", "olmo2", SILU, RULES(llama, norms_after)),
    FAMILY("olmo3", "olmo2", SILU, RULES(llama, norms_after), .window_period = 4),
    FAMILY("exaone4", "exaone4", SILU, RULES(llama, norms_after)),
    FAMILY("hunyuan_v1_dense", "hunyuan-dense", SILU, RULES(llama, norms_before, hunyuan)),
    FAMILY("glm4", "glm4", SILU, RULES(llama, glm4), .defaults = HALF_ROTATED),
    FAMILY("cohere", "command-r", SILU, RULES(llama), .defaults = LOGIT_SCALE),
    FAMILY("cohere2", "cohere2", SILU, RULES(llama), .window_period = 4, .defaults = LOGIT_SCALE),
    FAMILY("nemotron", "nemotron", RELU2, LLAMA, .adds_one = true, .defaults = HALF_ROTATED),
    FAMILY("phi", "phi2", GELU, RULES(llama, phi), .demands = {{"qk_layernorm", false}}, .defaults = HALF_ROTATED),
    FAMILY("phi3", "phi3", SILU, RULES(llama, norms_before, phi3), .window_period = 1),
    FAMILY("stablelm", "stablelm", SILU, RULES(llama, norms_before, stablelm),
           .defaults = "{\"partial_rotary_factor\": 0.25, \"use_parallel_residual\": false}"),
    FAMILY("starcoder2", "starcoder2", GELU, RULES(llama, norms_before, starcoder2), .window_period = 1),
    FAMILY("gpt2", "gpt2", GELU, RULES(gpt2), .has_positions = true,
           .demands = {{"scale_attn_weights", true}, {"scale_attn_by_inverse_layer_idx", false}}),
    FAMILY("gpt_bigcode", "starcoder", GELU, RULES(gpt_bigcode, gpt2), .has_positions = true,
           .demands = {{"scale_attn_weights", true}, {"multi_query", true}}, .defaults = "{\"multi_query\": true}"),
    FAMILY("gpt_neox", "gptneox", GELU, RULES(gpt_neox), .defaults = "{\"rotary_pct\": 0.25}"),
    FAMILY("bloom", "bloom", GELU, RULES(falcon, bloom), .has_positions = true,
           .demands = {{"apply_residual_connection_post_layernorm", false}},
           .defaults = "{\"seq_length\": 2048, \"layer_norm_epsilon\": 1e-5}"),
    FAMILY("gpt_oss", "gpt-oss", SILU, RULES(llama, gpt_oss), .window_period = 2, .quantised = "mxfp4"),
    FAMILY("qwen3_next", "qwen3next", SILU, RULES(llama, qwen_experts, qwen3_next), .is_recurrent = true,
           .adds_one = true, .demands = {{"norm_topk_prob", true}},
           .defaults = QUARTER_ROTATED),
    FAMILY("qwen3_5", "qwen35", SILU, RULES(llama, qwen3_5), QWEN3_5),
    FAMILY("qwen3_5_text", "qwen35", SILU, RULES(llama, qwen3_5), QWEN3_5),
    FAMILY("qwen3_5_moe", "qwen35moe", SILU, RULES(llama, qwen_experts, qwen3_5), QWEN3_5),
    FAMILY("qwen3_5_moe_text", "qwen35moe", SILU, RULES(llama, qwen_experts, qwen3_5), QWEN3_5),
    FAMILY("jamba", "jamba", SILU, RULES(llama, jamba), .is_recurrent = true, .has_positions = true,
           .demands = {{"mamba_proj_bias", false}}),
    FAMILY("lfm2", "lfm2", SILU, RULES(llama, lfm2), .is_recurrent = true, .demands = {{"conv_bias", false}},
           .defaults = "{\"tie_word_embeddings\": true, \"block_auto_adjust_ff_dim\": true}"),
    FAMILY("lfm2_moe", "lfm2moe", SILU, RULES(llama, lfm2), .is_recurrent = true,
           .demands = {{"conv_bias", false}, {"norm_topk_prob", true}}, .defaults = "{\"tie_word_embeddings\": true}"),
    FAMILY("mamba2", "mamba2", SILU, RULES(mamba2), .is_recurrent = true, .has_no_attention = true,
           .has_positions = true, .demands = {{"use_bias", false}}),
    FAMILY("granitemoehybrid", "granitehybrid", SILU, RULES(llama, norms_before, granite_hybrid), .is_recurrent = true,
           .rotates_adjacent = true, .demands = {{"mamba_proj_bias", false}}),
    FAMILY("falcon", "falcon", GELU, RULES(falcon), .demands = {{"alibi", false}, {"parallel_attn", true}},
           .defaults = "{\"max_position_embeddings\": 2048, \"multi_query\": true}"),
};
enum { N_FAMILIES = sizeof families / sizeof families[0] };

vouch_status vouch_hf_family_find(const char *model_type, const char *path, const vouch_hf_family **family,
                                  vouch_error *err)
{
    for (size_t i = 0; i < N_FAMILIES; i++) {
        *family = &families[i];
        if (strcmp(families[i].model_type, model_type) == 0) return VOUCH_OK;
    }
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: model_type '%.40s' is not supported in a folder (docs/models.md lists the supported ones); "
                      "use a GGUF file of it", path, model_type);
}

/* ------------------------------------------------------------------- names */

/* Whether the n bytes of `name` match `pattern`, in which '#' matches a number. *first and *second get the numbers. */
static bool name_matches(const char *pattern, const char *name, size_t n, int32_t *first, int32_t *second)
{
    const char *end = name + n;
    int32_t *number = first;
    *first = *second = 0;
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

/* Is `name` "PREFIX..." or "model.PREFIX..."? *rest: the name behind PREFIX. */
static bool has_prefix(const char *name, const char *prefix, const char **rest)
{
    const size_t n = strlen(prefix);
    if (strncmp(name, "model.", 6) == 0) name += 6;
    *rest = name + n;
    return strncmp(name, prefix, n) == 0;
}

const vouch_hf_rule *vouch_hf_family_rule(const vouch_hf_family *family, const char *name, int32_t *layer,
                                          int32_t *index, const char **suffix)
{
    static const vouch_hf_rule dropped = {.layout = VOUCH_HF_DROPPED};
    static const char *const other_inputs[] = {"vision_tower.", "visual.",      "multi_modal_projector.",
                                               "embed_vision.", "embed_audio.", "audio_tower.",
                                               "vision_embedder."};
    const char *dot = strrchr(name, '.'), *rest;
    *suffix = dot && (strcmp(dot, ".weight") == 0 || strcmp(dot, ".bias") == 0) ? dot : name + strlen(name);
    *layer = *index = 0;
    for (size_t i = 0; i < sizeof other_inputs / sizeof other_inputs[0]; i++)
        if (has_prefix(name, other_inputs[i], &rest)) return &dropped;
    if (strncmp(name, "mtp.", 4) == 0) return &dropped; /* a layer that guesses further tokens */
    /* "language_model.model.norm", or "model.language_model.norm" */
    const bool is_nested = has_prefix(name, "language_model.", &rest);
    const size_t skipped = is_nested && strncmp(name, "model.", 6) == 0 ? 6 : 0;
    if (is_nested) name = rest;
    for (size_t i = 0; i < VOUCH_HF_MOST_RULES && family->rules[i]; i++)
        for (const vouch_hf_rule *rule = family->rules[i]; rule->from; rule++)
            if (strncmp(rule->from, "model.", skipped) == 0 &&
                name_matches(rule->from + skipped, name, (size_t)(*suffix - name), layer, index))
                return rule;
    return NULL;
}
