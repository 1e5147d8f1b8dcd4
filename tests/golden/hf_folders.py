#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes hf_folders.h: logits that transformers computes in float32 for tiny Hugging Face models.

    tests/golden/hf_folders.py > tests/golden/hf_folders.h

Needs the packages torch and transformers. transformers 5.24.0 and torch 2.15.0 made the table in the
repository.

The weights follow from the tensors' names, so that tests/support/model/hf_model.c can write the same folders: config.json and
the safetensors. They have few bits, so that F32, F16 and BF16 hold them exactly.
"""
import json
import pathlib
import re
import sys
import tempfile

import torch
import transformers as hf
from safetensors import safe_open
from safetensors.torch import save_file

VOCABULARY, TOKENS = 40, 24
MASK = (1 << 64) - 1
COMMON = {"vocab_size": VOCABULARY, "hidden_size": 48, "intermediate_size": 40, "num_hidden_layers": 2,
          "num_attention_heads": 6, "num_key_value_heads": 3, "max_position_embeddings": 64,
          "pad_token_id": 0}
GPT = {"vocab_size": VOCABULARY, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 6}
PAIRS = 4
LLAMA3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16}
LONG = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1 + i / 8 for i in range(PAIRS)],
        "long_factor": [1.5 + i / 4 for i in range(PAIRS)], "original_max_position_embeddings": 16}
GEMMA4 = {"head_dim": 16, "global_head_dim": 32, "sliding_window": 7,
          "layer_types": ["sliding_attention", "sliding_attention", "full_attention"]}
DELTA = {"head_dim": 16, "num_hidden_layers": 3, "full_attention_interval": 2, "linear_num_key_heads": 2,
         "layer_types": ["linear_attention", "full_attention", "linear_attention"], "linear_num_value_heads": 6,
         "linear_key_head_dim": 16, "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4}
DELTA_EXPERTS = {"num_experts": 5, "num_experts_per_tok": 3, "moe_intermediate_size": 24,
                 "shared_expert_intermediate_size": 32}

# name, dtype of the folder, configuration, and where it differs from COMMON or GPT
CASES = [
    ("llama", "BF16", hf.LlamaConfig, COMMON, {"head_dim": 80, "attention_bias": True, "mlp_bias": True}),
    ("llama3", "F16", hf.LlamaConfig, COMMON, {"tie_word_embeddings": True, "rope_parameters": LLAMA3}),
    ("mistral", "F32", hf.MistralConfig, COMMON, {"head_dim": 96, "sliding_window": 7}),
    ("mixtral", "BF16", hf.MixtralConfig, COMMON, {"num_local_experts": 5, "num_experts_per_tok": 3}),
    ("smollm3", "F32", hf.SmolLM3Config, COMMON, {"num_hidden_layers": 5, "use_sliding_window": False}),
    ("granite", "BF16", hf.GraniteConfig, COMMON,
     {"attention_multiplier": 0.25, "embedding_multiplier": 6.0, "residual_multiplier": 0.5, "logits_scaling": 4.0}),
    ("qwen2", "F16", hf.Qwen2Config, COMMON, {"tie_word_embeddings": False, "rope_parameters": YARN}),
    ("qwen3", "BF16", hf.Qwen3Config, COMMON, {"head_dim": 96, "tie_word_embeddings": True}),
    ("qwen3_moe", "F32", hf.Qwen3MoeConfig, COMMON,
     {"head_dim": 16, "num_experts": 5, "num_experts_per_tok": 3, "moe_intermediate_size": 24,
      "norm_topk_prob": True}),
    ("gemma", "BF16", hf.GemmaConfig, COMMON, {"head_dim": 16}),
    ("gemma2", "F16", hf.Gemma2Config, COMMON,
     {"head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 7, "num_hidden_layers": 3}),
    ("gemma3_text", "F32", hf.Gemma3TextConfig, COMMON,
     {"head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 7, "num_hidden_layers": 7}),
    ("phi3", "BF16", hf.Phi3Config, COMMON,
     {"sliding_window": 7}),
    ("phi3 long", "F32", hf.Phi3Config, COMMON,
     {"rope_parameters": LONG, "original_max_position_embeddings": 16}),
    ("gemma3", "BF16", hf.Gemma3Config, {},
     {"text_config": {**COMMON, "head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 7,
                      "num_hidden_layers": 3},
      "vision_config": {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
                        "image_size": 16, "patch_size": 8}, "mm_tokens_per_image": 4}),
    ("arcee", "F32", hf.ArceeConfig, COMMON, {}),
    ("seed_oss", "F16", hf.SeedOssConfig, COMMON, {"head_dim": 16, "attention_bias": True}),
    ("qwen2_moe", "BF16", hf.Qwen2MoeConfig, COMMON,
     {"num_experts": 5, "num_experts_per_tok": 3, "moe_intermediate_size": 24,
      "shared_expert_intermediate_size": 32}),
    ("olmoe", "F16", hf.OlmoeConfig, COMMON, {"num_experts": 5, "num_experts_per_tok": 3}),
    ("olmo", "BF16", hf.OlmoConfig, COMMON, {"clip_qkv": 0.5}),
    ("olmo2", "F32", hf.Olmo2Config, COMMON, {}),
    ("olmo3", "BF16", hf.Olmo3Config, COMMON, {"sliding_window": 7, "num_hidden_layers": 5}),
    ("exaone4", "F32", hf.Exaone4Config, COMMON,
     {"sliding_window": None, "layer_types": ["full_attention"] * 2, "sliding_window_pattern": 4}),
    ("hunyuan_v1_dense", "BF16", hf.HunYuanDenseV1Config, COMMON,
     {"head_dim": 16, "rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "alpha": 50.0,
                                          "factor": 1.0}}),
    ("glm4", "BF16", hf.Glm4Config, COMMON, {"head_dim": 16, "partial_rotary_factor": 0.5, "attention_bias": True}),
    ("cohere", "F16", hf.CohereConfig, COMMON, {"logit_scale": 0.5, "use_qk_norm": True}),
    ("cohere2", "F32", hf.Cohere2Config, COMMON, {"logit_scale": 0.5, "sliding_window": 7, "num_hidden_layers": 5}),
    ("nemotron", "F32", hf.NemotronConfig, COMMON, {"partial_rotary_factor": 0.5}),
    ("phi", "F16", hf.PhiConfig, COMMON,
     {"num_key_value_heads": 6, "partial_rotary_factor": 0.5, "hidden_act": "gelu_new"}),
    ("stablelm", "BF16", hf.StableLmConfig, COMMON,
     {"qk_layernorm": True, "use_parallel_residual": True, "partial_rotary_factor": 0.5}),
    ("stablelm 2", "F16", hf.StableLmConfig, COMMON, {"use_qkv_bias": True, "partial_rotary_factor": 0.25}),
    ("starcoder2", "F32", hf.Starcoder2Config, COMMON, {"sliding_window": 7, "tie_word_embeddings": False}),
    ("gpt2", "BF16", hf.GPT2Config,
     {"vocab_size": VOCABULARY, "n_embd": 48, "n_layer": 2, "n_head": 3, "n_positions": 64}, {}),
    ("gpt_bigcode", "F32", hf.GPTBigCodeConfig,
     {"vocab_size": VOCABULARY, "n_embd": 48, "n_layer": 2, "n_head": 3, "n_positions": 64}, {}),
    ("bloom", "F16", hf.BloomConfig, {"vocab_size": VOCABULARY, "hidden_size": 48, "n_layer": 2, "n_head": 6}, {}),
    ("gpt_neox", "F16", hf.GPTNeoXConfig, GPT,
     {"intermediate_size": 40, "rotary_pct": 0.25, "hidden_act": "gelu_new", "max_position_embeddings": 64}),
    ("falcon 7b", "BF16", hf.FalconConfig, GPT, {"multi_query": True, "activation": "gelu_pytorch_tanh"}),
    ("falcon 40b", "F32", hf.FalconConfig, GPT,
     {"num_kv_heads": 3, "new_decoder_architecture": True, "activation": "gelu_pytorch_tanh"}),
    ("lfm2", "BF16", hf.Lfm2Config, COMMON,
     {"num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"], "conv_L_cache": 3,
      "block_multiple_of": 8}),
    ("lfm2_moe", "F32", hf.Lfm2MoeConfig, COMMON,
     {"num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"], "conv_L_cache": 3,
      "num_dense_layers": 1, "num_experts": 5, "num_experts_per_tok": 3, "moe_intermediate_size": 24}),
    ("mamba2", "F16", hf.Mamba2Config, {},
     {"vocab_size": VOCABULARY, "hidden_size": 48, "num_hidden_layers": 2, "num_heads": 6, "head_dim": 16,
      "state_size": 12, "n_groups": 2, "expand": 2, "conv_kernel": 4, "chunk_size": 8,
      "time_step_limit": (0.0, 1e9)}),
    ("granitemoehybrid", "BF16", hf.GraniteMoeHybridConfig, COMMON,
     {"num_hidden_layers": 3, "layer_types": ["mamba", "attention", "mamba"], "num_local_experts": 5,
      "num_experts_per_tok": 3, "shared_intermediate_size": 32, "mamba_n_heads": 6, "mamba_d_head": 16,
      "mamba_d_state": 12, "mamba_n_groups": 2, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_chunk_size": 8,
      "attention_multiplier": 0.25, "embedding_multiplier": 6.0,
      "residual_multiplier": 0.5, "logits_scaling": 4.0}),
    ("gpt_oss", "F32", hf.GptOssConfig, COMMON,
     {"head_dim": 16, "sliding_window": 7, "num_hidden_layers": 3, "num_local_experts": 5, "num_experts_per_tok": 3,
      "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}, "tie_word_embeddings": False}),
    ("gpt_oss mxfp4", "BF16", hf.GptOssConfig, COMMON,
     {"hidden_size": 64, "intermediate_size": 32, "head_dim": 16, "sliding_window": 7, "num_local_experts": 5,
      "num_experts_per_tok": 3, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
      "tie_word_embeddings": False}),
    ("qwen3_next", "BF16", hf.Qwen3NextConfig, COMMON,
     {"head_dim": 16, "num_hidden_layers": 3, "layer_types": ["linear_attention", "full_attention", "linear_attention"],
      "full_attention_interval": 2, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 16,
      "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4, "num_experts": 5, "num_experts_per_tok": 3,
      "moe_intermediate_size": 24, "shared_expert_intermediate_size": 32}),
    ("jamba", "F32", hf.JambaConfig, COMMON,
     {"num_hidden_layers": 3, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2,
      "expert_layer_offset": 1, "num_experts": 5, "num_experts_per_tok": 3, "mamba_d_state": 12, "mamba_d_conv": 4,
      "mamba_expand": 2, "mamba_dt_rank": 5, "use_mamba_kernels": False}),
    ("qwen3_5_text", "BF16", hf.Qwen3_5TextConfig, COMMON, DELTA),
    ("qwen3_5_moe_text", "F32", hf.Qwen3_5MoeTextConfig, COMMON, {**DELTA, **DELTA_EXPERTS}),
    ("qwen3_5_moe_text fused", "F16", hf.Qwen3_5MoeTextConfig, COMMON, {**DELTA, **DELTA_EXPERTS}),
    ("gemma4_text", "BF16", hf.Gemma4TextConfig, {**COMMON, **GEMMA4},
     {"num_hidden_layers": 4, "layer_types": ["sliding_attention", "full_attention"] * 2, "num_kv_shared_layers": 2,
      "use_double_wide_mlp": True, "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": VOCABULARY,
      "final_logit_softcapping": 30.0}),
    ("gemma4_text experts", "F32", hf.Gemma4TextConfig, {**COMMON, **GEMMA4},
     {"num_hidden_layers": 3, "attention_k_eq_v": True, "num_global_key_value_heads": 1, "enable_moe_block": True,
      "num_experts": 5, "top_k_experts": 3, "moe_intermediate_size": 24, "hidden_size_per_layer_input": 0}),
    ("gemma4", "F16", hf.Gemma4Config, {},
     {"text_config": {**COMMON, **GEMMA4, "num_hidden_layers": 3, "hidden_size_per_layer_input": 8,
                      "vocab_size_per_layer_input": VOCABULARY},
      "vision_config": {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
                        "num_key_value_heads": 2, "head_dim": 8}, "audio_config": None}),
    ("gemma4_unified_text", "F16", hf.Gemma4UnifiedTextConfig, {**COMMON, **GEMMA4},
     {"layer_types": ["sliding_attention", "full_attention"],
      "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                          "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25,
                                             "rope_theta": 100.0, "factor": 2.0}}}),
    # Settings that few folders have.
    ("gpt_oss truncate", "BF16", hf.GptOssConfig, COMMON,
     {"head_dim": 16, "sliding_window": 7, "num_hidden_layers": 3, "num_local_experts": 5, "num_experts_per_tok": 3,
      "layer_types": ["full_attention", "sliding_attention", "sliding_attention"],
      "rope_parameters": {**YARN, "beta_fast": 4.0, "truncate": False}, "tie_word_embeddings": False}),
    ("gemma2 scalar", "F32", hf.Gemma2Config, COMMON,
     {"head_dim": 16, "query_pre_attn_scalar": 24, "sliding_window": 5, "num_hidden_layers": 3,
      "num_key_value_heads": 1, "attn_logit_softcapping": 2.0, "final_logit_softcapping": None,
      "hidden_activation": "gelu", "layer_types": ["full_attention", "sliding_attention", "sliding_attention"]}),
    ("gemma3_text scalar", "BF16", hf.Gemma3TextConfig, COMMON,
     {"head_dim": 16, "query_pre_attn_scalar": 9, "sliding_window": 5, "num_hidden_layers": 3,
      "final_logit_softcapping": 3.0, "layer_types": ["sliding_attention", "full_attention", "full_attention"],
      "rope_parameters": {"full_attention": {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.0},
                          "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}}}),
    ("ministral3", "F32", hf.Ministral3Config, COMMON,
     {"head_dim": 16, "rope_parameters": {**YARN, "original_max_position_embeddings": 8, "mscale": 1.0,
                                          "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}}),
    ("gpt_neox gelu", "F32", hf.GPTNeoXConfig, GPT,
     {"intermediate_size": 40, "rotary_pct": 0.5, "hidden_act": "gelu", "max_position_embeddings": 64,
      "use_parallel_residual": False, "attention_bias": False, "layer_norm_eps": 0.01}),
    ("llama yarn", "F16", hf.LlamaConfig, COMMON,
     {"num_key_value_heads": 1, "head_dim": 20, "mlp_bias": True,
      "rope_parameters": {**YARN, "mscale": 0.5, "mscale_all_dim": 2.0, "beta_fast": 2.0, "truncate": None}}),
    ("llama longrope", "F32", hf.LlamaConfig, COMMON, {"rope_parameters": {**LONG, "factor": 2.0}}),
    ("olmo3 yarn", "BF16", hf.Olmo3Config, COMMON,
     {"sliding_window": 7, "num_hidden_layers": 3,
      "layer_types": ["full_attention", "sliding_attention", "full_attention"],
      "rope_parameters": {"full_attention": {**YARN, "attention_factor": 1.5},
                          "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}}),
    ("starcoder2 plain", "F32", hf.Starcoder2Config, COMMON,
     {"use_bias": False, "hidden_act": "gelu", "sliding_window": None, "norm_epsilon": 0.01}),
    ("qwen3 bias", "BF16", hf.Qwen3Config, COMMON,
     {"head_dim": 32, "attention_bias": True, "tie_word_embeddings": False,
      "rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.5}}),
    ("granite plain", "F16", hf.GraniteConfig, COMMON, {"attention_bias": True, "tie_word_embeddings": True}),
    ("phi3 part", "F32", hf.Phi3Config, COMMON,
     {"num_attention_heads": 3, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0,
                                                    "partial_rotary_factor": 0.5}}),
    ("cohere plain", "F32", hf.CohereConfig, COMMON,
     {"logit_scale": 3.0, "use_qk_norm": False, "attention_bias": True, "tie_word_embeddings": True}),
    ("stablelm sequential", "BF16", hf.StableLmConfig, COMMON,
     {"use_parallel_residual": False, "qk_layernorm": True, "partial_rotary_factor": 0.5, "layer_norm_eps": 0.01}),
    ("gptj", "F16", hf.GPTJConfig,
     {"vocab_size": VOCABULARY, "n_embd": 48, "n_layer": 2, "n_head": 3, "n_positions": 64, "rotary_dim": 8}, {}),
]
UNUSED = re.compile("dropout|initializer|transformers_version|use_cache|dtype|architectures|_pdrop|summary|_token_id|"
                    "output_|router_|mm_|_token_index|vision_config|audio_config|add_cross|pretraining|classifier|is_decoder|is_encoder|^_")

SENSES = re.compile("vision_tower|mm_input_projection|audio_tower")


def numbers(name: str, n: int) -> torch.Tensor:
    """The upper 32 bits of splitmix64, seeded with the FNV-1a hash of the tensor's name."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = ((state ^ byte) * 0x100000001B3) & MASK
    values = []
    for _ in range(n):
        state = z = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        values.append((z ^ z >> 31) >> 32)
    return torch.tensor(values, dtype=torch.float64)


def weights(name: str, shape: torch.Size) -> torch.Tensor:
    """Blocks of MXFP4: all bytes; their scales: 2^-9 to 2^-6. Norms from 0.75 to 1.19; others from -1 to 1, matrices of layers and biases divided by 8."""
    x = numbers(name, shape.numel())
    if name.endswith(("_blocks", "_scales")):
        values = torch.floor(x / 2 ** 24) if name.endswith("_blocks") else 118 + torch.floor(x / 2 ** 30)
    elif len(shape) == 1 and name.endswith("weight"):
        values = (12 + torch.floor(x / 2 ** 29)) / 16
    else:
        is_embedding = re.search("embed|wte|wpe|lm_head", name)
        values = (2 * torch.floor(x / 2 ** 25) - 127) / (128 if is_embedding else 1024)
    return values.to(torch.float32).reshape(shape)


def tensors_of(model: hf.PreTrainedModel) -> list[tuple[str, list[int]]]:
    """Names and shapes as a folder has them: save_pretrained undoes what transformers did to the names on loading."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        with safe_open(folder + "/model.safetensors", "pt") as file:
            return [(name, file.get_slice(name).get_shape()) for name in file.keys()]


def packed(tensors: list[tuple[str, list[int]]]) -> list[tuple[str, list[int]]]:
    """The experts' matrices [experts, inputs, outputs] as MXFP4."""
    found = []
    for name, shape in tensors:
        if name.endswith(("gate_up_proj", "down_proj")):
            experts, inputs, outputs = shape
            found += [(name + "_blocks", [experts, outputs, inputs // 32, 16]),
                      (name + "_scales", [experts, outputs, inputs // 32])]
        else:
            found.append((name, shape))
    return found


def unpacked(name: str, shape: list[int]) -> torch.Tensor:
    """The values of packed(): a byte has two, its lower half first."""
    experts, inputs, outputs = shape
    blocks = weights(name + "_blocks", torch.Size([experts, outputs, inputs // 32, 16])).to(torch.int64)
    scales = weights(name + "_scales", torch.Size([experts, outputs, inputs // 32]))
    table = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6])
    values = table[torch.stack((blocks % 16, blocks // 16), -1).flatten(-2)] * 2 ** (scales - 127)[..., None]
    return values.flatten(-2).transpose(1, 2).contiguous()


def rules(tensors: list[tuple[str, list[int]]]) -> list[tuple[str, list[int], int, int]]:
    """(name with '#' for numbers, shape, count of the first number, count of the second). A layer's number stays where
    only some layers have the tensor, or where its shape differs from layer to layer."""
    layers, shapes = {}, {}
    for name, shape in tensors:
        numbers_of = re.findall(r"(?<=\.)\d+(?=\.)", name)
        pattern = re.sub(r"(?<=\.)\d+(?=\.)", "#", name)
        shapes.setdefault(pattern, set()).add(tuple(shape))
        if numbers_of:
            layers.setdefault(pattern, set()).add(int(numbers_of[0]))
    n_layers = max(max(found) for found in layers.values()) + 1
    found = {}
    for name, shape in tensors:
        parts = [int(part) for part in name.split(".") if part.isdecimal()]
        pattern = re.sub(r"(?<=\.)\d+(?=\.)", "#", name)
        if parts and (len(layers[pattern]) < n_layers or len(shapes[pattern]) > 1):
            pattern = pattern.replace("#", str(parts.pop(0)), 1)
        _, first, second = found.get(pattern, (shape, 0, 0))
        found[pattern] = (shape, *(max(count, part + 1) for count, part in zip((first, second), (parts + [0, 0])[:2])))
    return [(name, *rest) for name, rest in sorted(found.items())]


def run(config: hf.PretrainedConfig, is_packed: bool, is_fused: bool) -> tuple[list, dict, torch.Tensor]:
    """The rules of a model's tensors, its config.json, and the logits of its last token. is_fused: the experts lie in
    one tensor, as transformers has them in memory."""
    torch.manual_seed(0)
    model = hf.AutoModelForCausalLM.from_config(config)
    tensors = [(name, list(t.shape)) for name, t in model.state_dict().items()] if is_fused else tensors_of(model)
    with tempfile.TemporaryDirectory() as folder:
        kept = {name for name, _ in packed(tensors)} if is_packed else {name for name, _ in tensors}
        save_file({name: weights(name, torch.Size(shape)) if name in kept else unpacked(name, shape)
                   for name, shape in tensors}, folder + "/model.safetensors",
                  metadata={"format": "pt"})
        config.save_pretrained(folder)
        members = json.loads(pathlib.Path(folder, "config.json").read_text())
        model = hf.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    ids = torch.tensor([[i * 7 % VOCABULARY for i in range(TOKENS)]])
    with torch.no_grad():
        logits = model.eval()(ids).logits[0, -1].double()
    if is_packed:
        tensors, members["quantization_config"] = packed(tensors), {"quant_method": "mxfp4"}
    text = [(name, shape) for name, shape in tensors if not SENSES.search(name)]
    return rules(text), {key: value for key, value in members.items() if not UNUSED.search(key)}, logits


def main() -> None:
    """Prints the header."""
    print("/* SPDX-License-Identifier: MIT */\n/* Written by hf_folders.py. */")
    cases = []
    for number, (name, dtype, config_type, common, own) in enumerate(CASES):
        found, members, logits = run(config_type(**{**common, **own}), "mxfp4" in name, "fused" in name)
        print(f"{name}: deviation {logits.std():.3f}", file=sys.stderr)
        print(f"\nstatic const hf_tensor hf_tensors_{number}[] = {{")
        for pattern, shape, first, second in found:
            print(f'    {{"{pattern}", {{{", ".join(map(str, shape))}}}, {len(shape)}, {first}, {second}}},')
        print("    {0},\n};")
        print(f"static const char hf_config_{number}[] =")
        text = json.dumps(members)
        lines = [text[i:i + 100] for i in range(0, len(text), 100)]
        print("\n".join('    "' + line.replace('"', '\\"') + '"' for line in lines) + ";")
        print(f"static const float hf_logits_{number}[] = {{")
        for i in range(0, VOCABULARY, 8):
            print("    " + ", ".join(f"{value:.7e}f" for value in logits[i:i + 8].tolist()) + ",")
        print("};")
        cases.append(f'    {{"{name}", "{dtype}", hf_config_{number}, hf_tensors_{number}, hf_logits_{number}}},')
    print("\nstatic const hf_case hf_cases[] = {")
    print("\n".join(cases))
    print("};")
    print(f"enum {{ HF_VOCABULARY = {VOCABULARY}, HF_TOKENS = {TOKENS} }};")


if __name__ == "__main__":
    main()
