/* SPDX-License-Identifier: MIT */
#include "format/hf/hf_family.h"

#include <stdio.h>
#include <string.h>

#include "format/hf/hf_shape.h"

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
    {LAYER "experts.gate_up_proj", "blk.#.ffn_gate_up_exps.weight", VOUCH_HF_WHOLE},
    {LAYER "experts.down_proj", "blk.#.ffn_down_exps.weight", VOUCH_HF_WHOLE},
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

static const vouch_hf_rule gptj[] = {
    {"transformer.wte", "token_embd", VOUCH_HF_AS_IS},
    {"transformer.ln_f", "output_norm", VOUCH_HF_AS_IS},
    {"lm_head", "output", VOUCH_HF_AS_IS},
    {"transformer.h.#.ln_1", "blk.#.attn_norm", VOUCH_HF_AS_IS},
    {"transformer.h.#.attn.q_proj", "blk.#.attn_q", VOUCH_HF_AS_IS},
    {"transformer.h.#.attn.k_proj", "blk.#.attn_k", VOUCH_HF_AS_IS},
    {"transformer.h.#.attn.v_proj", "blk.#.attn_v", VOUCH_HF_AS_IS},
    {"transformer.h.#.attn.out_proj", "blk.#.attn_output", VOUCH_HF_AS_IS},
    {"transformer.h.#.attn", NULL, VOUCH_HF_DROPPED},
    {"transformer.h.#.attn.masked_bias", NULL, VOUCH_HF_DROPPED},
    {"transformer.h.#.mlp.fc_in", "blk.#.ffn_up", VOUCH_HF_AS_IS},
    {"transformer.h.#.mlp.fc_out", "blk.#.ffn_down", VOUCH_HF_AS_IS},
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
    {LAYER "block_sparse_moe.input_linear", "blk.#.ffn_gate_up_exps.weight", VOUCH_HF_WHOLE},
    {LAYER "block_sparse_moe.output_linear", "blk.#.ffn_down_exps.weight", VOUCH_HF_WHOLE},
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
    {LAYER "mlp.experts.gate_up_proj", "blk.#.ffn_gate_up_exps.weight", VOUCH_HF_WHOLE},
    {LAYER "mlp.experts.down_proj", "blk.#.ffn_down_exps.weight", VOUCH_HF_WHOLE},
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
/* "gelu" is the exact one, the others are by tanh. */
#define GELU "gelu|gelu_new|gelu_fast|gelu_pytorch_tanh"

#define FAMILY(from, to, accepted, ...) {.model_type = from, .arch = to, .activations = accepted, __VA_ARGS__}
#define RULES(...)                      .rules = {__VA_ARGS__}
#define LLAMA                           RULES(llama, norms_before)
#define RELU2                           "relu2"

/* Members of config.json; hf_keys.h has the language of the lists. */
#define KEYS(...)  .keys = "tie_word_embeddings quantization_config " __VA_ARGS__
#define SIZES      "vocab_size! hidden_size! num_hidden_layers! num_attention_heads! max_position_embeddings! " \
                   "num_key_value_heads hidden_act "
#define DENSE      SIZES "intermediate_size! "
#define RMS        "rms_norm_eps! "
/* The delta nets of transformers add 1e-6 to the lengths of queries and keys; those of llama.cpp add rms_norm_eps. */
#define DELTA_RMS  "rms_norm_eps=1e-6 "
#define PART_ROPE  "rope_theta rope_scaling rope_parameters original_max_position_embeddings partial_rotary_factor "
#define ROPE       "rope_theta rope_scaling rope_parameters original_max_position_embeddings partial_rotary_factor=1 "
#define LLAMA_KEYS DENSE RMS ROPE "head_dim "
/* Without windows. */
#define QWEN       "use_sliding_window=false sliding_window max_window_layers layer_types "
/* All layers have experts. */
#define EXPERTS    "num_experts|num_local_experts! num_experts_per_tok! moe_intermediate_size! intermediate_size " \
                   "decoder_sparse_step=1 mlp_only_layers=[] "
#define DELTA_NETS "layer_types full_attention_interval linear_conv_kernel_dim! linear_num_key_heads! " \
                   "linear_num_value_heads! linear_key_head_dim! linear_value_head_dim! attn_output_gate=true "
#define GRANITE    "attention_multiplier embedding_multiplier residual_multiplier logits_scaling "
#define MAMBA_KEYS "mamba_d_conv! mamba_d_state! mamba_expand mamba_conv_bias mamba_proj_bias=false "
#define GEMMA2_KEYS LLAMA_KEYS "attention_bias hidden_activation query_pre_attn_scalar sliding_window layer_types "
#define GEMMA3_KEYS GEMMA2_KEYS "attn_logit_softcapping=null sliding_window_pattern rope_local_base_freq "
#define GEMMA4_KEYS LLAMA_KEYS "attention_bias=false hidden_activation sliding_window layer_types " \
                   "final_logit_softcapping attention_k_eq_v global_head_dim num_global_key_value_heads " \
                   "per_layer_config num_kv_shared_layers use_double_wide_mlp use_bidirectional_attention "
#define GEMMA4_MORE "enable_moe_block num_experts top_k_experts moe_intermediate_size hidden_size_per_layer_input " \
                   "vocab_size_per_layer_input "
#define GPT2       "vocab_size! n_embd|hidden_size! n_head|num_attention_heads! n_layer|num_hidden_layers! " \
                   "n_positions|max_position_embeddings! n_inner activation_function layer_norm_epsilon " \
                   "scale_attn_weights=true "
#define LFM2       "vocab_size! hidden_size! num_hidden_layers! num_attention_heads! max_position_embeddings! " \
                   "num_key_value_heads intermediate_size! head_dim norm_eps layer_types conv_L_cache! " \
                   "conv_bias=false " ROPE

/* Tensors that a member of config.json says the layers have. */
#define SWITCHES(...)  .switches = {__VA_ARGS__}
#define QKV_BIASES     ".self_attn.q_proj.bias|.self_attn.k_proj.bias|.self_attn.v_proj.bias"
#define MLP_BIASES     ".mlp.up_proj.bias|.mlp.down_proj.bias"
#define HAS_QKV(is_it) {"attention_bias", is_it, QKV_BIASES}
#define HAS_QKVO(is_it) {"attention_bias", is_it, QKV_BIASES "|.self_attn.o_proj.bias"}
#define HAS_MLP        {"mlp_bias", false, MLP_BIASES "|.mlp.gate_proj.bias"}

/* JSON of members that files may leave out, with the defaults of transformers' classes. */
#define HALF_ROTATED   "\"partial_rotary_factor\": 0.5"
#define QUARTER_ROTATED "\"partial_rotary_factor\": 0.25, \"full_attention_interval\": 4, \"rms_norm_eps\": 1e-6"
#define GRANITE_SCALES "\"attention_multiplier\": 1, \"embedding_multiplier\": 1, \"residual_multiplier\": 1, " \
                       "\"logits_scaling\": 1"
#define GEMMA2_SIZES   "\"num_key_value_heads\": 4, \"head_dim\": 256, \"query_pre_attn_scalar\": 256, " \
                       "\"sliding_window\": 4096, \"tie_word_embeddings\": true"
#define GEMMA3 \
    "{\"vocab_size\": 262208, \"max_position_embeddings\": 131072, \"num_attention_heads\": 8, " GEMMA2_SIZES \
    ", \"rms_norm_eps\": 1e-6, \"rope_theta\": 1e6, \"rope_local_base_freq\": 1e4, \"sliding_window_pattern\": 6}"
#define GEMMA4_SHAPE \
    "\"vocab_size\": 262144, \"num_attention_heads\": 8, \"num_key_value_heads\": 4, \"head_dim\": 256, " \
    "\"rms_norm_eps\": 1e-6, \"tie_word_embeddings\": true, "
#define GEMMA4 \
    "{" GEMMA4_SHAPE "\"max_position_embeddings\": 131072, \"sliding_window\": 512, " \
    "\"hidden_size_per_layer_input\": 256}"
#define GEMMA4_UNIFIED "{" GEMMA4_SHAPE "\"max_position_embeddings\": 262144, \"sliding_window\": 1024}"
#define GPT_OSS \
    "{\"num_key_value_heads\": 8, \"head_dim\": 64, \"sliding_window\": 128, \"num_experts_per_tok\": 4, " \
    "\"rope_theta\": 150000, \"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 32, \"beta_fast\": 32, " \
    "\"beta_slow\": 1, \"truncate\": false, \"original_max_position_embeddings\": 4096}}"

#define GEMMA4_FAMILY(from, defaults_json, ...)                                                              \
    FAMILY(from, "gemma4", "gelu_pytorch_tanh", RULES(llama, norms_after, gemma4), .has_two_rotations = true, \
           .window_period = VOUCH_HF_MOST_LAYERS, .defaults = defaults_json, KEYS(GEMMA4_KEYS __VA_ARGS__))
#define GEMMA3_FAMILY(from, ...) \
    FAMILY(from, "gemma3", GELU, RULES(llama, norms_after), .adds_one = true, .window_period = 6, \
           .has_rope_kinds = true, .defaults = GEMMA3, KEYS(GEMMA3_KEYS __VA_ARGS__), SWITCHES(HAS_QKVO(false)))
#define QWEN3_5_FAMILY(from) \
    FAMILY(from, "qwen35", SILU, RULES(llama, qwen3_5), .is_recurrent = true, .adds_one = true, \
           .defaults = "{" QUARTER_ROTATED ", \"num_key_value_heads\": 4, \"head_dim\": 256}", \
           KEYS(DENSE DELTA_RMS PART_ROPE "head_dim attention_bias " DELTA_NETS), SWITCHES(HAS_QKVO(false)))
#define QWEN3_5_MOE_FAMILY(from) \
    FAMILY(from, "qwen35moe", SILU, RULES(llama, qwen_experts, qwen3_5), .is_recurrent = true, .adds_one = true, \
           .defaults = "{" QUARTER_ROTATED ", \"num_key_value_heads\": 2, \"head_dim\": 256}", \
           KEYS(SIZES DELTA_RMS PART_ROPE EXPERTS "head_dim attention_bias shared_expert_intermediate_size! " \
                DELTA_NETS), \
           SWITCHES(HAS_QKVO(false)))
#define LLAMA_BIASES SWITCHES(HAS_QKVO(false), HAS_MLP)

static const vouch_hf_family families[] = {
    FAMILY("llama", "llama", SILU, LLAMA, .rotates_adjacent = true, KEYS(LLAMA_KEYS "attention_bias mlp_bias"),
           LLAMA_BIASES),
    FAMILY("mistral", "llama", SILU, LLAMA, .rotates_adjacent = true, .window_period = 1,
           KEYS(LLAMA_KEYS "sliding_window"), .defaults = "{\"num_key_value_heads\": 8, \"sliding_window\": 4096}"),
    FAMILY("mistral3", "mistral3", SILU, LLAMA, .rotates_adjacent = true, .window_period = 1,
           .texts = "mistral|ministral3", KEYS(LLAMA_KEYS "sliding_window"),
           .defaults = "{\"num_key_value_heads\": 8, \"sliding_window\": 4096}"),
    FAMILY("ministral3", "mistral3", SILU, LLAMA, .rotates_adjacent = true, .window_period = 1,
           KEYS(LLAMA_KEYS "sliding_window rope_parameters!"),
           .defaults = "{\"num_key_value_heads\": 8, \"head_dim\": 128}"),
    FAMILY("mixtral", "llama", SILU, RULES(llama, norms_before, mixtral), .rotates_adjacent = true, .window_period = 1,
           KEYS(LLAMA_KEYS "sliding_window num_local_experts|num_experts! num_experts_per_tok"),
           .defaults = "{\"num_key_value_heads\": 8, \"num_experts_per_tok\": 2, \"rope_theta\": 1e6}"),
    FAMILY("smollm3", "smollm3", SILU, LLAMA, .rotates_adjacent = true,
           KEYS(LLAMA_KEYS QWEN "attention_bias mlp_bias no_rope_layers no_rope_layer_interval"), LLAMA_BIASES,
           .defaults = "{\"num_key_value_heads\": 4, \"rope_theta\": 2e6, \"tie_word_embeddings\": true}"),
    FAMILY("granite", "granite", SILU, LLAMA, .rotates_adjacent = true,
           KEYS(LLAMA_KEYS GRANITE "attention_bias mlp_bias"), LLAMA_BIASES, .defaults = "{" GRANITE_SCALES "}"),
    FAMILY("arcee", "arcee", RELU2, LLAMA, .rotates_adjacent = true, KEYS(LLAMA_KEYS "attention_bias mlp_bias"),
           SWITCHES(HAS_QKVO(false), {"mlp_bias", false, MLP_BIASES})),
    FAMILY("seed_oss", "seed_oss", SILU, RULES(llama, norms_after),
           KEYS(LLAMA_KEYS "attention_bias attention_out_bias mlp_bias"),
           SWITCHES(HAS_QKV(true), {"attention_out_bias", false, ".self_attn.o_proj.bias"}, HAS_MLP),
           .defaults = "{\"num_key_value_heads\": 8, \"head_dim\": 128}"),
    FAMILY("qwen2", "qwen2", SILU, LLAMA, KEYS(LLAMA_KEYS QWEN), .defaults = "{\"num_key_value_heads\": 32}"),
    FAMILY("qwen3", "qwen3", SILU, LLAMA, KEYS(LLAMA_KEYS QWEN "attention_bias"), SWITCHES(HAS_QKVO(false)),
           .defaults = "{\"num_key_value_heads\": 32, \"head_dim\": 128}"),
    FAMILY("qwen3_moe", "qwen3moe", SILU, RULES(llama, norms_before, qwen_experts),
           KEYS(SIZES RMS ROPE QWEN EXPERTS "head_dim attention_bias norm_topk_prob=true"), SWITCHES(HAS_QKVO(false)),
           .defaults = "{\"num_key_value_heads\": 4, \"norm_topk_prob\": false}"),
    FAMILY("qwen2_moe", "qwen2moe", SILU, RULES(llama, norms_before, qwen_experts),
           KEYS(SIZES RMS ROPE QWEN EXPERTS
                "head_dim qkv_bias=true norm_topk_prob=false shared_expert_intermediate_size!"),
           .defaults = "{\"num_key_value_heads\": 16}"),
    FAMILY("olmoe", "olmoe", SILU, RULES(llama, norms_before, qwen_experts),
           KEYS(LLAMA_KEYS "num_experts|num_local_experts! num_experts_per_tok! clip_qkv=null attention_bias "
                           "norm_topk_prob=false"),
           SWITCHES(HAS_QKVO(false))),
    FAMILY("gemma", "gemma", GELU, LLAMA, .adds_one = true, KEYS(LLAMA_KEYS "hidden_activation attention_bias"),
           SWITCHES(HAS_QKVO(false)),
           .defaults = "{\"num_key_value_heads\": 16, \"head_dim\": 256, \"tie_word_embeddings\": true}"),
    FAMILY("gemma2", "gemma2", GELU, RULES(llama, norms_after), .adds_one = true, .window_period = 2,
           KEYS(GEMMA2_KEYS "attn_logit_softcapping final_logit_softcapping"), SWITCHES(HAS_QKVO(false)),
           .defaults = "{" GEMMA2_SIZES ", \"attn_logit_softcapping\": 50, \"final_logit_softcapping\": 30}"),
    GEMMA3_FAMILY("gemma3_text", "final_logit_softcapping"),
    GEMMA3_FAMILY("gemma3", "final_logit_softcapping=null"),
    GEMMA4_FAMILY("gemma4_text", GEMMA4, GEMMA4_MORE),
    GEMMA4_FAMILY("gemma4", GEMMA4, GEMMA4_MORE),
    GEMMA4_FAMILY("gemma4_unified_text", GEMMA4_UNIFIED, ""),
    GEMMA4_FAMILY("gemma4_unified", GEMMA4_UNIFIED, ""),
    FAMILY("olmo", "olmo", SILU, RULES(llama), .rotates_adjacent = true,
           KEYS(DENSE ROPE "head_dim attention_bias clip_qkv layer_norm_eps=1e-5"), SWITCHES(HAS_QKVO(false)),
           .defaults = "{\"layer_norm_eps\": 1e-5}"),
    FAMILY("olmo2", "olmo2", SILU, RULES(llama, norms_after), KEYS(LLAMA_KEYS "attention_bias"),
           SWITCHES(HAS_QKVO(false))),
    FAMILY("olmo3", "olmo2", SILU, RULES(llama, norms_after), .window_period = 4, .has_rope_kinds = true,
           KEYS(LLAMA_KEYS "attention_bias sliding_window layer_types rope_local_base_freq=500000"),
           SWITCHES(HAS_QKVO(false)),
           .defaults = "{\"sliding_window\": 4096, \"rope_theta\": 500000, \"rope_local_base_freq\": 500000}"),
    FAMILY("exaone4", "exaone4", SILU, RULES(llama, norms_after), .window_period = 4,
           KEYS(LLAMA_KEYS "sliding_window layer_types sliding_window_pattern"),
           .defaults = "{\"num_key_value_heads\": 32, \"sliding_window\": 4096}"),
    FAMILY("hunyuan_v1_dense", "hunyuan-dense", SILU, RULES(llama, norms_before, hunyuan),
           KEYS(LLAMA_KEYS "attention_bias"), SWITCHES(HAS_QKVO(false))),
    FAMILY("glm4", "glm4", SILU, RULES(llama, glm4), KEYS(DENSE RMS PART_ROPE "head_dim attention_bias"),
           SWITCHES(HAS_QKV(false)), .defaults = "{" HALF_ROTATED ", \"num_key_value_heads\": 2, \"head_dim\": 128}"),
    FAMILY("cohere", "command-r", SILU, RULES(llama),
           KEYS(DENSE ROPE "head_dim layer_norm_eps logit_scale use_qk_norm attention_bias"),
           SWITCHES(HAS_QKVO(false), {"use_qk_norm", false, ".q_norm.weight|.k_norm.weight"}),
           .defaults = "{\"logit_scale\": 0.0625, \"layer_norm_eps\": 1e-5, \"rope_theta\": 500000, "
                       "\"tie_word_embeddings\": true}"),
    FAMILY("cohere2", "cohere2", SILU, RULES(llama), .window_period = 4,
           KEYS(DENSE ROPE "head_dim layer_norm_eps logit_scale attention_bias sliding_window layer_types "
                           "sliding_window_pattern"),
           SWITCHES(HAS_QKVO(false)),
           .defaults = "{\"logit_scale\": 0.0625, \"layer_norm_eps\": 1e-5, \"sliding_window\": 4096, "
                       "\"tie_word_embeddings\": true}"),
    FAMILY("nemotron", "nemotron", RELU2, LLAMA, .adds_one = true,
           KEYS(DENSE PART_ROPE "head_dim norm_eps attention_bias mlp_bias"),
           SWITCHES(HAS_QKVO(false), {"mlp_bias", false, MLP_BIASES}),
           .defaults = "{" HALF_ROTATED ", \"norm_eps\": 1e-5}"),
    FAMILY("phi", "phi2", GELU, RULES(llama, phi), KEYS(DENSE PART_ROPE "head_dim layer_norm_eps qk_layernorm=false"),
           .defaults = "{" HALF_ROTATED ", \"layer_norm_eps\": 1e-5}"),
    FAMILY("phi3", "phi3", SILU, RULES(llama, norms_before, phi3), .window_period = 1,
           KEYS(DENSE RMS PART_ROPE "head_dim sliding_window"),
           .defaults = "{\"original_max_position_embeddings\": 4096}"),
    FAMILY("stablelm", "stablelm", SILU, RULES(llama, norms_before, stablelm),
           KEYS(DENSE PART_ROPE "layer_norm_eps use_qkv_bias qk_layernorm use_parallel_residual"),
           SWITCHES({"use_qkv_bias", false, QKV_BIASES},
                    {"qk_layernorm", false, ".q_layernorm.norms.0.weight|.k_layernorm.norms.0.weight"},
                    {"!use_parallel_residual", false, ".post_attention_layernorm.weight"}),
           .defaults = "{\"partial_rotary_factor\": 0.25, \"use_parallel_residual\": false, \"layer_norm_eps\": 1e-5, "
                       "\"num_key_value_heads\": 32}"),
    FAMILY("starcoder2", "starcoder2", GELU, RULES(llama, norms_before, starcoder2), .window_period = 1,
           KEYS(DENSE ROPE "head_dim norm_epsilon use_bias sliding_window"),
           SWITCHES({"use_bias", true, QKV_BIASES "|.self_attn.o_proj.bias|.mlp.c_fc.bias|.mlp.c_proj.bias"}),
           .defaults = "{\"norm_epsilon\": 1e-5, \"num_key_value_heads\": 2, \"tie_word_embeddings\": true}"),
    FAMILY("gpt2", "gpt2", GELU, RULES(gpt2), .has_positions = true, KEYS(GPT2 "scale_attn_by_inverse_layer_idx=false"),
           .defaults = "{\"layer_norm_epsilon\": 1e-5, \"tie_word_embeddings\": true}"),
    FAMILY("gpt_bigcode", "starcoder", GELU, RULES(gpt_bigcode, gpt2), .has_positions = true,
           KEYS(GPT2 "multi_query=true num_key_value_heads=1"),
           .defaults = "{\"layer_norm_epsilon\": 1e-5, \"multi_query\": true, \"tie_word_embeddings\": true}"),
    FAMILY("gptj", "gptj", GELU, RULES(gptj),
           KEYS("vocab_size! n_embd|hidden_size! n_head|num_attention_heads! n_layer|num_hidden_layers! "
                "n_positions|max_position_embeddings! n_inner activation_function layer_norm_epsilon rotary_dim "
                "rotary scale_attn_weights=true"),
           .defaults = "{\"layer_norm_epsilon\": 1e-5, \"rotary_dim\": 64, \"tie_word_embeddings\": false}"),
    FAMILY("gpt_neox", "gptneox", GELU, RULES(gpt_neox),
           KEYS("vocab_size! hidden_size! num_hidden_layers! num_attention_heads! max_position_embeddings! hidden_act "
                "intermediate_size! head_dim layer_norm_eps rotary_pct rotary_emb_base rope_theta rope_scaling "
                "rope_parameters original_max_position_embeddings use_parallel_residual attention_bias"),
           SWITCHES({"attention_bias", true, ".attention.query_key_value.bias|.attention.dense.bias"}),
           .defaults = "{\"rotary_pct\": 0.25, \"hidden_act\": \"gelu\", \"layer_norm_eps\": 1e-5}"),
    FAMILY("bloom", "bloom", GELU, RULES(falcon, bloom), .has_positions = true,
           KEYS("vocab_size! hidden_size n_embed n_layer n_head num_hidden_layers num_attention_heads seq_length "
                "layer_norm_epsilon apply_residual_connection_post_layernorm=false"),
           .defaults = "{\"seq_length\": 2048, \"layer_norm_epsilon\": 1e-5, \"tie_word_embeddings\": true}"),
    FAMILY("gpt_oss", "gpt-oss", SILU, RULES(llama, gpt_oss), .window_period = 2, .quantised = "mxfp4",
           KEYS(LLAMA_KEYS "sliding_window layer_types num_local_experts|num_experts! num_experts_per_tok "
                           "experts_per_token swiglu_limit=7 swiglu_alpha=1.702 attention_bias initial_context_length"),
           SWITCHES(HAS_QKVO(true)), .defaults = GPT_OSS),
    FAMILY("qwen3_next", "qwen3next", SILU, RULES(llama, qwen_experts, qwen3_next), .is_recurrent = true,
           .adds_one = true,
           KEYS(SIZES DELTA_RMS PART_ROPE EXPERTS DELTA_NETS
                "head_dim attention_bias norm_topk_prob=true shared_expert_intermediate_size!"),
           SWITCHES(HAS_QKVO(false)),
           .defaults = "{" QUARTER_ROTATED ", \"num_key_value_heads\": 2, \"head_dim\": 256}"),
    QWEN3_5_FAMILY("qwen3_5"),
    QWEN3_5_FAMILY("qwen3_5_text"),
    QWEN3_5_MOE_FAMILY("qwen3_5_moe"),
    QWEN3_5_MOE_FAMILY("qwen3_5_moe_text"),
    FAMILY("jamba", "jamba", SILU, RULES(llama, jamba), .is_recurrent = true, .has_positions = true,
           KEYS(DENSE RMS MAMBA_KEYS
                "head_dim mamba_dt_rank attn_layer_period! attn_layer_offset! "
                "expert_layer_period! expert_layer_offset! num_experts num_local_experts num_experts_per_tok"),
           SWITCHES({"mamba_conv_bias", true, ".mamba.conv1d.bias"}),
           .defaults = "{\"num_key_value_heads\": 8, \"num_experts_per_tok\": 2}"),
    FAMILY("lfm2", "lfm2", SILU, RULES(llama, lfm2), .is_recurrent = true,
           KEYS(LFM2 "full_attn_idxs block_auto_adjust_ff_dim block_ffn_dim_multiplier block_multiple_of "
                     "tie_embedding block_ff_dim"),
           .defaults = "{\"num_key_value_heads\": 8, \"norm_eps\": 1e-5, \"rope_theta\": 1e6, "
                       "\"tie_word_embeddings\": true, \"block_auto_adjust_ff_dim\": true}"),
    FAMILY("lfm2_moe", "lfm2moe", SILU, RULES(llama, lfm2), .is_recurrent = true,
           KEYS(LFM2 "num_dense_layers! num_experts! num_experts_per_tok! moe_intermediate_size! use_expert_bias "
                     "routed_scaling_factor norm_topk_prob=true tie_embedding"),
           SWITCHES({"use_expert_bias", true, ".feed_forward.expert_bias"}),
           .defaults = "{\"num_key_value_heads\": 8, \"norm_eps\": 1e-5, \"rope_theta\": 1e6, "
                       "\"tie_word_embeddings\": true}"),
    FAMILY("mamba2", "mamba2", SILU, RULES(mamba2), .is_recurrent = true, .has_no_attention = true,
           .has_positions = true,
           KEYS("vocab_size! hidden_size! num_hidden_layers! num_heads! head_dim! state_size! n_groups expand "
                "conv_kernel! hidden_act layer_norm_epsilon use_bias=false use_conv_bias time_step_limit "
                "time_step_rank"),
           SWITCHES({"use_conv_bias", true, ".mixer.conv1d.bias"}),
           .defaults = "{\"n_groups\": 8, \"layer_norm_epsilon\": 1e-5}"),
    FAMILY("granitemoehybrid", "granitehybrid", SILU, RULES(llama, norms_before, granite_hybrid), .is_recurrent = true,
           .rotates_adjacent = true,
           KEYS(LLAMA_KEYS MAMBA_KEYS GRANITE
                "attention_bias layer_types layers_block_type mamba_n_heads! "
                "mamba_d_head! mamba_n_groups num_local_experts num_experts_per_tok position_embedding_type "
                "shared_intermediate_size! time_step_limit"),
           SWITCHES(HAS_QKVO(false), {"mamba_conv_bias", true, ".mamba.conv1d.bias"}),
           .defaults = "{" GRANITE_SCALES ", \"mamba_n_groups\": 1, \"num_local_experts\": 8, "
                       "\"num_experts_per_tok\": 2}"),
    FAMILY("falcon", "falcon", GELU, RULES(falcon),
           KEYS("vocab_size! hidden_size|n_embed! num_hidden_layers! num_attention_heads! max_position_embeddings "
                "num_kv_heads ffn_hidden_size activation layer_norm_epsilon bias multi_query new_decoder_architecture "
                "num_ln_in_parallel_attn alibi=false parallel_attn=true " ROPE),
           SWITCHES({"bias", false, ".query_key_value.bias|.dense.bias|.dense_h_to_4h.bias|.dense_4h_to_h.bias"},
                    {"?num_ln_in_parallel_attn", false, ".ln_attn.weight|.ln_mlp.weight"}),
           .defaults = "{\"max_position_embeddings\": 2048, \"activation\": \"gelu\", \"multi_query\": true, "
                       "\"layer_norm_epsilon\": 1e-5, \"tie_word_embeddings\": true}"),
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
                      "use a GGUF file of it",
                      path, model_type);
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

/* Is `name` "PREFIX..." or "model.PREFIX..."? *rest: the name after PREFIX. */
static bool has_prefix(const char *name, const char *prefix, const char **rest)
{
    const size_t n = strlen(prefix);
    if (strncmp(name, "model.", 6) == 0) name += 6;
    *rest = name + n;
    return strncmp(name, prefix, n) == 0;
}

bool vouch_hf_family_is_other(const char *name)
{
    static const char *const other_inputs[] = {"vision_tower.",    "visual.",      "multi_modal_projector.",
                                               "embed_vision.",    "embed_audio.", "audio_tower.",
                                               "vision_embedder.", "vision_model."};
    const char *rest;
    for (size_t i = 0; i < sizeof other_inputs / sizeof other_inputs[0]; i++)
        if (has_prefix(name, other_inputs[i], &rest)) return true;
    return strncmp(name, "mtp.", 4) == 0;
}

/* The rule for a name that lacks the first `skipped` bytes of "model.". */
static const vouch_hf_rule *find_rule(const vouch_hf_family *family, const char *name, size_t skipped,
                                      const char *suffix, int32_t *layer, int32_t *index)
{
    for (size_t i = 0; i < VOUCH_HF_MOST_RULES && family->rules[i]; i++)
        for (const vouch_hf_rule *rule = family->rules[i]; rule->from; rule++)
            if (strncmp(rule->from, "model.", skipped) == 0 &&
                name_matches(rule->from + skipped, name, (size_t)(suffix - name), layer, index))
                return rule;
    return NULL;
}

const vouch_hf_rule *vouch_hf_family_rule(const vouch_hf_family *family, const char *name, bool may_be_bare,
                                          int32_t *layer, int32_t *index, const char **suffix)
{
    static const vouch_hf_rule dropped = {.layout = VOUCH_HF_DROPPED};
    const char *dot = strrchr(name, '.'), *rest;
    *suffix = dot && (strcmp(dot, ".weight") == 0 || strcmp(dot, ".bias") == 0) ? dot : name + strlen(name);
    *layer = *index = 0;
    if (vouch_hf_family_is_other(name)) return &dropped;
    /* "language_model.model.norm", or "model.language_model.norm" */
    const bool is_nested = has_prefix(name, "language_model.", &rest);
    const size_t skipped = is_nested && strncmp(name, "model.", 6) == 0 ? 6 : 0;
    if (is_nested) name = rest;
    const vouch_hf_rule *rule = find_rule(family, name, skipped, *suffix, layer, index);
    return rule || is_nested || !may_be_bare ? rule : find_rule(family, name, 6, *suffix, layer, index);
}
