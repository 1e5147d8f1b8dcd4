#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes config.json of tiny Hugging Face folders key by key, and compares vouch's logits with those of transformers.

    tests/golden/hf_keys.py [--vouch build/release/vouch] [--case REGEX] [--key REGEX] [--cover] [--out FILE]

For each family that vouch reads from folders, each key of its configuration class (and of rope_parameters, in the old
spelling and in the new one) is left out, and set to values of its own. Then vouch must give the logits of transformers,
or refuse the folder and name the key. The folder has the tensors of the changed model. Where their names or shapes
differ from the unchanged ones, a second folder keeps the unchanged tensors: vouch must refuse it, or give the logits of
transformers where transformers has all tensors that it needs. Keys that only other families have must change nothing.

Where large scores round much, float32 is no reference. So logits further apart than LIMIT are compared with those that
transformers computes in float64. The error of vouch's may be LIMIT, or ROUNDING times the largest error of those that
transformers computes in float32, also with the last bit of each weight disturbed, but never MOST_ROUNDING.

--cover compares no logits: it lists the keys of the configuration classes that `vouch info` doesn't know.
--out FILE gets a line for each change. A run with the same FILE goes on after the last line.

Prints one line for each wrong folder, and the counts. Exit status 1: some folder is wrong, or some key isn't covered.
Needs the packages torch and transformers (5.24.0).
"""
import argparse
import collections
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
import transformers as hf
from safetensors.torch import save_file
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

import hf_folders as golden

VOCABULARY, TOKENS, COMMON = golden.VOCABULARY, golden.TOKENS, golden.COMMON
IDS = [i * 7 % VOCABULARY for i in range(TOKENS)]
LIMIT = 1e-5  # largest difference, in standard deviations of the logits
MOST_ROUNDING = 5e-4  # where float32 rounds more
ROUNDING = 3  # largest error of vouch's, in errors of transformers' own in float32; 0.5 to 3.1 in unchanged models
VISION = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "head_dim": 4,
          "image_size": 16, "patch_size": 8, "depth": 1, "num_heads": 2, "out_hidden_size": 48,
          "num_position_embeddings": 4}
GEMMA4_VISION = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
                 "num_key_value_heads": 2, "head_dim": 8}
FAMILY = re.compile(r'FAMILY\("([a-z0-9_]+)"')
SOURCE = pathlib.Path(__file__).parents[2] / "src/format/hf/hf_family.c"
UNKNOWN = re.compile("ignored metadata|which vouch doesn.t know")
OTHER_INPUTS = re.compile(r"(model\.)?(vision_tower|visual|multi_modal_projector|embed_(vision|audio)|audio_tower)\.")

# Cases beside those of hf_folders.py: the families that it lacks.
MORE = [
    ("mistral3", hf.Mistral3Config,
     {"text_config": {**COMMON, "model_type": "mistral", "head_dim": 16, "sliding_window": None},
      "vision_config": {**VISION, "model_type": "pixtral"}}),
    ("mistral3 ministral3", hf.Mistral3Config,
     {"text_config": {**COMMON, "model_type": "ministral3", "head_dim": 16, "rope_parameters": {
         "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 8,
         "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}},
      "vision_config": {**VISION, "model_type": "pixtral"}}),
    ("gemma4_unified", hf.Gemma4UnifiedConfig,
     {"text_config": {**COMMON, **golden.GEMMA4, "num_hidden_layers": 3}, "vision_config": None,
      "audio_config": None}),
    ("qwen3_5", hf.Qwen3_5Config, {"text_config": {**COMMON, **golden.DELTA}, "vision_config": VISION}),
    ("qwen3_5_moe", hf.Qwen3_5MoeConfig,
     {"text_config": {**COMMON, **golden.DELTA, **golden.DELTA_EXPERTS}, "vision_config": VISION}),
    ("gpt_oss yarn", hf.GptOssConfig,
     {**COMMON, "head_dim": 16, "sliding_window": 7, "num_hidden_layers": 3, "num_local_experts": 5,
      "num_experts_per_tok": 3, "tie_word_embeddings": False, "rope_parameters": {
          "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16,
          "truncate": False, "beta_fast": 4.0, "beta_slow": 1.0}}),
]

# Keys that no model reads when it computes logits, or whose other values only change what is stored.
ACTIVATIONS = ["gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_10", "quick_gelu", "relu", "relu2", "silu",
               "swish", "tanh", "sigmoid"]
WIDTHS = {"hidden_size": [96], "n_embd": [96], "n_embed": [96], "intermediate_size": [56], "n_inner": [56, None],
          "ffn_hidden_size": [56, None], "moe_intermediate_size": [40], "shared_expert_intermediate_size": [48],
          "shared_intermediate_size": [48], "vocab_size": [48, 77], "num_hidden_layers": [1, 3, 4, 8],
          "n_layer": [1, 3], "num_attention_heads": [3, 12], "n_head": [1, 12], "num_key_value_heads": [1, 2, 6, None],
          "num_kv_heads": [1, 2, 6], "head_dim": [8, 32, 20, None], "global_head_dim": [16, 64],
          "num_experts": [4, 1], "num_local_experts": [4, 1], "num_experts_per_tok": [1, 2], "top_k_experts": [1, 2],
          "n_positions": [96], "max_position_embeddings": [96, 16, 24], "sliding_window": [3, 5, 100, None, 0, 24],
          "max_window_layers": [0, 1], "decoder_sparse_step": [2], "mlp_only_layers": [[0], [1]],
          "no_rope_layers": [[0, 1, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], None], "no_rope_layer_interval": [2, 3],
          "attn_layer_period": [3, 1], "attn_layer_offset": [0], "expert_layer_period": [1, 3],
          "expert_layer_offset": [0], "mamba_d_state": [8], "mamba_d_conv": [3, 5], "mamba_expand": [1, 4],
          "mamba_dt_rank": ["auto", 3], "mamba_n_groups": [1, 3], "mamba_n_heads": [3, 12], "mamba_d_head": [32, 8],
          "mamba_chunk_size": [4], "chunk_size": [4], "n_groups": [1, 3], "num_heads": [3, 12], "state_size": [8],
          "conv_kernel": [3, 5], "expand": [1, 4],
          "time_step_limit": [[0.0, 0.05], [0.5, 1e9], [0.0, 1e9], [0.0, "BARE Infinity"],
                              [0.0, {"__float__": "Infinity"}], ["BARE -Infinity", "BARE Infinity"],
                              ["BARE NaN", 1e9]],
          "conv_L_cache": [4, 2], "num_dense_layers": [0, 2], "block_multiple_of": [16],
          "full_attn_idxs": [[0], [0, 2]], "block_ffn_dim_multiplier": [2.0, 0.5], "linear_num_key_heads": [1, 3],
          "linear_num_value_heads": [2, 8], "linear_key_head_dim": [8], "linear_value_head_dim": [8],
          "linear_conv_kernel_dim": [3, 2],
          "full_attention_interval": [3, 1], "sliding_window_pattern": [2, 3, "LLG", None],
          "query_pre_attn_scalar": [64, 9, 16], "clip_qkv": [0.05, 0.5, None], "swiglu_limit": [1.0, 0.25],
          "swiglu_alpha": [1.0], "position_embedding_type": ["rope", "nope", "alibi", None],
          "num_ln_in_parallel_attn": [1, 2], "num_kv_shared_layers": [0, 1, 2], "per_layer_config": [None],
          "num_global_key_value_heads": [1, 3], "hidden_size_per_layer_input": [0, 16],
          "vocab_size_per_layer_input": [48], "use_bidirectional_attention": [True, False, "all", "vision"],
          "attn_logit_softcapping": [2.0, 50.0, None], "final_logit_softcapping": [1.0, 30.0, None],
          "logit_scale": [0.5, 2.0, 1.0], "pretraining_tp": [2], "time_step_rank": [7],
          "num_logits_to_keep": [1], "chunk_size_feed_forward": [4], "layer_norm_eps": [0.1], "rms_norm_eps": [0.1],
          "layer_norm_epsilon": [0.1], "norm_epsilon": [0.1], "norm_eps": [0.1],
          "layers_block_type": [["attention", "attention", "attention"], ["mamba", "mamba", "mamba"]],
          "model_max_length": [32], "rotary_pct": [0.5, 1.0], "rotary_emb_base": [500.0], "rope_theta": [500.0],
          "rope_local_base_freq": [500.0], "partial_rotary_factor": [0.5, 0.25, 1.0], "rotary_dim": [4],
          "original_max_position_embeddings": [8, 32], "attention_bias": [True, False], "mlp_bias": [True, False],
          "layer_types": [], "id2label": [{"0": "x"}], "label2id": [{"x": 0}], "architectures": [["X"], None],
          "dtype": ["bfloat16", "float16"], "torch_dtype": ["bfloat16"], "problem_type": ["regression"],
          "quantization_config": [{"quant_method": "gptq", "bits": 4}, {"quant_method": "fp8"}, None],
          "transformers_version": ["4.0.0", None], "residual_in_fp32": [True, False], "rope_alpha": [3.0],
          "embedding_multiplier": [3.0, 1.0], "residual_multiplier": [0.25, 1.0], "attention_multiplier": [0.5, 1.0],
          "logits_scaling": [2.0, 1.0], "routed_scaling_factor": [2.5, 1.0], "alpha": [10.0], "hidden_dim": [96]}
# A model with other values of these needs gigabytes, or isn't the same kind of object.
SKIPPED = re.compile("^(vision_config|audio_config|sub_configs.*|base_.*|attribute_map|extra_.*|_.*|model_type|"
                     "text_config|auto_map)$")
ROPES = {
    "default": {"rope_type": "default"},
    "linear": {"rope_type": "linear", "factor": 3.0},
    "dynamic": {"rope_type": "dynamic", "factor": 3.0},
    "dynamic beyond": {"rope_type": "dynamic", "factor": 3.0, "max_position_embeddings": 16},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 32},
    "longrope": {"rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": 16},
    "proportional": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "factor": 2.0},
    "axial": {"rope_type": "axial"},
}
ROPE_CHANGES = {
    "default": {"rope_theta": [500.0, 500], "partial_rotary_factor": [0.5, 1.0, 0.25], "factor": [3.0],
                "attention_factor": [2.0], "mrope_section": [[2, 1, 1]], "mrope_interleaved": [True],
                "beta_fast": [8.0], "truncate": [False], "type": ["linear"], "made_up": [1], "alpha": [10.0]},
    "linear": {"factor": [0.5, 1.0, 3, None], "rope_theta": [500.0], "attention_factor": [2.0], "beta_slow": [2.0],
               "partial_rotary_factor": [0.5], "mscale": [2.0], "original_max_position_embeddings": [8]},
    "yarn": {"factor": [2.0, 1.0, 0.5, None], "rope_theta": [500.0], "attention_factor": [2.0, 0.5, 1.0, None],
             "beta_fast": [8.0, 2.0, 0, None], "beta_slow": [0.5, 0.25, 0, None], "truncate": [False, True, None],
             "mscale": [2.0, None], "mscale_all_dim": [2.0, 0.5],
             "mscale+mscale_all_dim": [(1.0, 1.0), (0.5, 2.0), (0, 1.0)],
             "original_max_position_embeddings": [8, 24, 64, None], "partial_rotary_factor": [0.5],
             "extrapolation_factor": [0.5, 1.0], "attn_factor": [2.0], "low_freq_factor": [2.0], "finetuned": [True],
             "truncate+beta_fast": [(False, 3.0), (False, 1.0)], "llama_4_scaling_beta": [0.1], "long_factor": [[1.0]],
             "max_position_embeddings": [128], "log_multiplier": [2.0]},
    "llama3": {"factor": [2.0, None], "low_freq_factor": [0.5, None], "high_freq_factor": [2.0, None],
               "original_max_position_embeddings": [16, 64, None], "attention_factor": [2.0], "rope_theta": [500.0],
               "partial_rotary_factor": [0.5]},
    "longrope": {"factor": [2.0, 1.0, 0.5, None], "attention_factor": [2.0, None], "short_factor": [[1.0]],
                 "original_max_position_embeddings": [32, 8, None], "short_mscale": [2.0], "long_mscale": [2.0],
                 "rope_theta": [500.0], "partial_rotary_factor": [0.5], "type": ["su"]},
    "proportional": {"factor": [1.0, None], "partial_rotary_factor": [0.25, 1.0, None]},
}
FOREIGN = ["attention_multiplier", "embedding_multiplier", "residual_multiplier", "logits_scaling", "logit_scale",
           "clip_qkv", "attn_logit_softcapping", "final_logit_softcapping", "query_pre_attn_scalar", "sliding_window",
           "layer_types", "partial_rotary_factor", "rotary_pct", "rope_theta", "rope_local_base_freq", "head_dim",
           "no_rope_layers", "attention_bias", "mlp_bias", "use_qk_norm", "qk_layernorm", "norm_topk_prob",
           "swiglu_limit", "num_experts", "num_local_experts", "num_experts_per_tok", "rms_norm_eps",
           "layer_norm_eps", "norm_eps", "num_key_value_heads", "num_kv_heads", "multi_query",
           "new_decoder_architecture", "use_parallel_residual", "use_sliding_window", "routed_scaling_factor",
           "shared_expert_intermediate_size", "moe_intermediate_size", "model_max_length", "n_ctx", "seq_length",
           "rotary_emb_base", "original_max_position_embeddings", "block_auto_adjust_ff_dim", "alibi",
           "embedding_scale", "hidden_activation", "activation_function", "hidden_act", "sliding_window_pattern",
           "full_attention_interval", "time_step_limit", "per_layer_config", "num_dense_layers", "rope_scaling",
           "n_layer", "n_embd", "n_head", "n_inner", "ffn_hidden_size", "n_embed", "n_head_kv", "max_seq_len",
           "shared_intermediate_size", "attention_k_eq_v", "hidden_size_per_layer_input", "num_kv_shared_layers",
           "use_double_wide_mlp", "made_up_key"]


def is_number(value) -> bool:
    """Whether a value of config.json is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text_of(members: dict) -> dict:
    """The object with the text model's members."""
    return members["text_config"] if isinstance(members.get("text_config"), dict) else members


def class_keys(config_class) -> set[str]:
    """All keys that a configuration class has, under each of their names."""
    own = {key for key in config_class.__dataclass_fields__ if not SKIPPED.match(key)}
    rope = {"rope_theta", "rope_scaling", "partial_rotary_factor"} if "rope_parameters" in own else set()
    if config_class.model_type == "gpt_neox":
        rope.remove("partial_rotary_factor")  # its class reads rotary_pct
    return own | set(config_class.attribute_map) | rope


def values_of(key: str, value, text: dict) -> list:
    """Other values of a key."""
    n = text.get("num_hidden_layers") or text.get("n_layer") or 2
    if re.search("hidden_act|^activation", key):
        return ACTIVATIONS
    if key in ("layer_types",):
        kinds = sorted(set(value or ["full_attention", "sliding_attention"]) | {"full_attention"})
        other = kinds[-1]
        return [["full_attention"] * n, [other] * n, [kinds[i % len(kinds)] for i in range(n)],
                [kinds[(i + 1) % len(kinds)] for i in range(n)], ["sliding_attention"] * n,
                ["sliding_attention", "full_attention"] * n, ["chunked_attention"] * n, ["made_up"] * n]
    if key in WIDTHS:
        return WIDTHS[key]
    if isinstance(value, bool):
        return [not value]
    if is_number(value):
        return [value + 1 if isinstance(value, int) else value * 1.5 + 0.1]
    if value is None:
        return [True, 3, 0.5, "x"]
    if isinstance(value, str):
        return ["x"]
    return [None]


def rope_changes(text: dict) -> list[tuple[str, dict]]:
    """(words, members to set) for the rotation, in both spellings."""
    found = []
    base = text.get("rope_parameters")
    theta = (base or {}).get("rope_theta", 10000.0)
    heads = text.get("num_attention_heads", 6)
    share = (base or {}).get("partial_rotary_factor", 1.0)
    share = share if isinstance(share, float) else 1.0
    width = text.get("head_dim") or text["hidden_size"] // heads

    def with_factors(rope):
        pairs = range(int(width * (rope.get("partial_rotary_factor") or share)) // 2)
        if rope.get("rope_type", rope.get("type")) in ("longrope", "su"):
            rope = {"short_factor": [1 + i / 8 for i in pairs], "long_factor": [1.5 + i / 4 for i in pairs], **rope}
        return rope

    for kind, rope in ROPES.items():
        variants = [("", {})]
        for key, values in ROPE_CHANGES.get(kind, {}).items():
            for value in values:
                parts = dict(zip(key.split("+"), value)) if "+" in key else {key: value}
                variants += [(f".{key}={value}", parts)]
        for words, parts in variants:
            changed = {**rope, **parts}
            outer = {"max_position_embeddings": changed.pop("max_position_embeddings")} if "beyond" in kind else {}
            keep = {"partial_rotary_factor": share} if share != 1.0 else {}
            changed = with_factors({**keep, **changed})
            if isinstance(base, dict) and "full_attention" in base:
                for layer in ("full_attention", "sliding_attention"):
                    new = copy.deepcopy(base)
                    new[layer] = {"rope_theta": base[layer].get("rope_theta", theta), **changed}
                    found.append((f"rope_parameters.{layer}.{kind}{words}", {"rope_parameters": new, **outer}))
                continue
            new = {"rope_theta": theta, **changed}
            old = {("type" if key == "rope_type" else key): value for key, value in changed.items()}
            found += [(f"rope_parameters.{kind}{words}", {"rope_parameters": new, **outer}),
                      (f"rope_scaling.{kind}{words}",
                       {"rope_parameters": ..., "rope_theta": theta, "rope_scaling": old, **outer})]
    found += [("rope_scaling=None", {"rope_parameters": ..., "rope_theta": theta, "rope_scaling": None}),
              ("rope_theta alone", {"rope_parameters": ..., "rope_theta": 500.0}),
              ("rope_parameters={}", {"rope_parameters": {}}),
              ("rope_parameters={rope_theta}", {"rope_parameters": {"rope_theta": 500.0}}),
              ("both spellings", {"rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 2.0}}),
              ("partial_rotary_factor outside",
               {"rope_parameters": ..., "partial_rotary_factor": 0.5, "rope_theta": 500.0}),
              ("layer kinds", {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                                                   "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}}}),
              ("layer kinds with another", {"rope_parameters": {
                  "full_attention": {"rope_type": "default", "rope_theta": 500.0},
                  "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}, "made_up": {"rope_theta": 5.0}}}),
              ("yarn with outer original",
               {"rope_parameters": {"rope_type": "yarn", "rope_theta": theta, "factor": 4.0},
                "original_max_position_embeddings": 8})]
    return found


def changes_of(case: "Case") -> list[tuple[str, str, dict, bool]]:
    """(key, words, members to set, whether they belong to the text model)."""
    found = []
    for is_text in (True, False):
        if not is_text and case.text is case.members:
            continue
        config_class = case.text_class if is_text else case.config_class
        place = case.text if is_text else case.members
        keys = class_keys(config_class) | {key for key in place if not SKIPPED.match(key)}
        foreign = [key for key in FOREIGN if key not in keys] if is_text else []
        for key in sorted(keys) + foreign:
            if key in place:
                found.append((key, f"{key} left out", {key: ...}, is_text))
            if key in ("rope_parameters", "rope_scaling"):
                continue
            for value in values_of(key, place.get(key), case.text):
                if key not in place or value != place[key] or type(value) is not type(place[key]):
                    found.append((key, f"{key}={value}", {key: value}, is_text))
    if "rope_parameters" in case.text or "rope_parameters" in case.text_class.__dataclass_fields__:
        found += [(words.split("=")[0], words, members, True) for words, members in rope_changes(case.text)]
    return found


class Case:
    """A family's unchanged folder."""

    def __init__(self, name: str, config):
        self.name = name
        self.config_class = type(config)
        with tempfile.TemporaryDirectory() as folder:
            config.save_pretrained(folder)
            self.members = json.loads(pathlib.Path(folder, "config.json").read_text())
        self.text = text_of(self.members)
        self.text_class = type(config.get_text_config())
        if "mxfp4" in name:
            self.members["quantization_config"] = {"quant_method": "mxfp4"}
        self.shapes, self.file = None, None

    def changed(self, members: dict, is_text: bool) -> dict:
        """config.json with other members; ... leaves one out."""
        new = copy.deepcopy(self.members)
        place = text_of(new) if is_text else new
        for key, value in members.items():
            if value is ...:
                place.pop(key, None)
            else:
                place[key] = value
        return new


def write_config(folder: str, members: dict) -> None:
    """Writes config.json."""
    text = re.sub('"BARE (.*?)"', r"\1", json.dumps(members))
    pathlib.Path(folder, "config.json").write_text(text)


def auto(config):
    """The class of transformers that makes the model of a configuration."""
    texts = hf.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING
    return hf.AutoModelForCausalLM if type(config) in texts else hf.AutoModelForImageTextToText


def outline(folder: str):
    """The configuration of a folder, its model without the folder's weights, and {name: shape}; None if it is large."""
    config = hf.AutoConfig.from_pretrained(folder)
    text = config.get_text_config()
    widths = ("hidden_size", "intermediate_size", "vocab_size", "moe_intermediate_size")
    size = max(getattr(text, key, 0) or 0 for key in widths)
    if size > 1024 or (getattr(text, "num_hidden_layers", 0) or 0) > 16 or (vars(text).get("head_dim") or 0) > 256:
        return None, None, None
    model = auto(config).from_config(config, attn_implementation="eager", dtype=torch.float32)
    return config, model, {name: tuple(t.shape) for name, t in model.state_dict().items()}


def save_weights(folder: str, model) -> None:
    """Writes the tensors of a model as save_pretrained would name them."""
    tensors = golden.tensors_of(model)
    save_file({name: golden.weights(name, torch.Size(shape)) for name, shape in tensors}, folder + "/model.safetensors",
              metadata={"format": "pt"})


def logits_of_model(model) -> numpy.ndarray:
    """Logits of all tokens."""
    with torch.no_grad():
        return model.eval()(torch.tensor([IDS])).logits[0].numpy()


def model_of_folder(folder: str):
    """The model, and whether the folder has all tensors that the text model needs."""
    kind = auto(hf.AutoConfig.from_pretrained(folder))
    model, info = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager",
                                       output_loading_info=True, ignore_mismatched_sizes=True)
    lacking = [*info["missing_keys"], *(name for name, *_ in info["mismatched_keys"])]
    return model, all(OTHER_INPUTS.match(name) for name in lacking)


def logits_of_float64(model) -> numpy.ndarray:
    """Logits of all tokens, computed in float64 where transformers asks for float32, in norms and rotations, too."""
    usual = torch.float32, torch.float, torch.Tensor.float
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    torch.set_default_dtype(torch.float64)
    try:
        exact = auto(model.config).from_config(model.config, attn_implementation="eager", dtype=torch.float64,
                                               experts_implementation="eager")
        exact.load_state_dict(model.state_dict())
        return logits_of_model(exact)
    finally:
        torch.float32, torch.float, torch.Tensor.float = usual
        torch.set_default_dtype(torch.float32)


def disturbed(tensor: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Floats times 1 and at most half of float32's last bit."""
    if not tensor.is_floating_point():
        return tensor
    noise = torch.rand(tensor.shape, generator=random, dtype=torch.float64) - 0.5
    return (tensor.double() * (1 + noise * 2**-23)).float()


def is_equal(ours: numpy.ndarray, theirs: numpy.ndarray, model) -> bool:
    """Whether vouch's logits are those of transformers, up to rounding."""
    far = difference(ours, theirs)
    if not LIMIT <= far < MOST_ROUNDING:
        return far < LIMIT
    exact, other = logits_of_float64(model), copy.deepcopy(model)
    errors = [difference(theirs, exact)]
    random = torch.Generator().manual_seed(1)
    for _ in range(4):
        other.load_state_dict({name: disturbed(tensor, random) for name, tensor in model.state_dict().items()})
        errors.append(difference(logits_of_model(other), exact))
    return difference(ours, exact) <= min(max(ROUNDING * max(errors), LIMIT), MOST_ROUNDING)


def logits_of_vouch(vouch: str, folder: str) -> tuple[numpy.ndarray | None, str]:
    """Logits of all tokens, or None and the message."""
    out = folder + "/logits.npy"
    run = subprocess.run([vouch, "logits", folder, "--tokens", ",".join(map(str, IDS)), "--out", out, "--kv-type",
                          "f32", "--threads", "1"], capture_output=True, text=True, timeout=60)
    if run.returncode == 0:
        return numpy.load(out), ""
    return None, run.stderr.strip().replace(folder, "").replace("/config.json: ", "")


def difference(ours: numpy.ndarray, theirs: numpy.ndarray) -> float:
    """The largest, in standard deviations."""
    if ours.shape != theirs.shape:
        return float("inf")
    worst = numpy.abs(ours.astype("f8") - theirs).max() / theirs.astype("f8").std()
    return float(worst) if numpy.isfinite(worst) else float("inf")


def names_key(message: str, key: str, members: dict) -> bool:
    """Whether a refusal names the key, one of the changed members, or one of the keys that say the same."""
    words = set(members) | set(re.split(r"[.+ ]", re.sub(r"_(?=\d)", "_", key)))
    is_rope = any(word in key for word in ("rope", "layer kinds", "yarn", "spellings"))
    words |= {"rope_type", "type", "rotation"} if is_rope else set()
    words |= {"layer_types", "no_rope_layers", "per_layer_config"} if "layers" in key or key == "n_layer" else set()
    words |= {"short_factor", "long_factor"} if "head" in key or "hidden" in key or "partial" in key else set()
    words |= {"sliding_window_pattern"} if key == "layer_types" else set()
    words |= {"num_experts"} if "experts" in key else set()
    message = message.replace("model_type", "")
    return any(word and word in message for word in words)


def judge(options, case: Case, key: str, members: dict, is_text: bool) -> list[tuple[str, str]]:
    """(verdict, detail) of a change: one for each folder that is tried."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        write_config(folder, case.changed(members, is_text))
        problem, config, model, shapes = "", None, None, None
        try:
            config, model, shapes = outline(folder)
        except Exception as error:  # transformers raises whatever it likes
            problem = f"{type(error).__name__}: {error}".replace("\n", " ")[:120]
        is_other = shapes is not None and shapes != case.shapes
        for keeps in ([False, True] if is_other else [True]):
            if keeps or "mxfp4" in case.name:
                if not os.path.exists(folder + "/model.safetensors"):
                    os.link(case.file, folder + "/model.safetensors")
            else:
                try:
                    save_weights(folder, model)
                except Exception as error:
                    found.append(("no reference", f"{type(error).__name__}: {error}"[:120]))
                    continue
            ours, message = logits_of_vouch(options.vouch, folder)
            if ours is None:
                verdict = "refused" if names_key(message, key, members) else "refused without the name"
                found.append((verdict, message))
            elif problem or config is None:
                found.append(("no reference", problem or "the model is large"))
            else:
                try:
                    is_whole = True
                    if is_other or "tie" in key:
                        model, is_whole = model_of_folder(folder)
                    else:
                        model.load_state_dict(case.state)
                    theirs = logits_of_model(model)
                    verdict = "equal" if is_equal(ours, theirs, model) else "wrong"
                    far = difference(ours, theirs)
                    if keeps and is_other and not is_whole:
                        verdict = "wrong"
                        problem = "tensors are missing; "
                    is_same = theirs.shape == case.logits.shape
                    moved = f", changed by {difference(case.logits, theirs):.1e}" if is_same else ""
                    kept = " with the tensors kept" if keeps and is_other else ""
                    found.append((verdict, f"{problem}{far:.1e} deviations{moved}{kept}"))
                except Exception as error:
                    found.append(("no reference", f"{type(error).__name__}: {error}".replace("\n", " ")[:120]))
            os.unlink(folder + "/model.safetensors")
    return found


def prepare(options, case: Case, folder: str) -> str:
    """Writes the unchanged folder and checks it. Returns its verdict."""
    write_config(folder, case.members)
    _, model, case.shapes = outline(folder)
    case.file = folder + "/model.safetensors"
    save_weights(folder, model)
    if "mxfp4" in case.name:
        return "skipped"
    model, _ = model_of_folder(folder)
    case.state, case.logits = model.state_dict(), logits_of_model(model)
    ours, message = logits_of_vouch(options.vouch, folder)
    if ours is None:
        return f"wrong: {message}"
    return "equal" if is_equal(ours, case.logits, model) else f"wrong: {difference(ours, case.logits):.1e} deviations"


def cases(pattern: str) -> list[Case]:
    """The families' unchanged folders."""
    all_cases = [(name, kind, {**common, **own}) for name, _, kind, common, own in golden.CASES
                 if "mxfp4" not in name and "fused" not in name] + MORE
    return [Case(name, kind(**members)) for name, kind, members in all_cases if re.search(pattern, name)]


def probe(key: str, usual, place: dict, text: dict):
    """A value for a key that isn't null."""
    value = place.get(key) if place.get(key) is not None else getattr(usual, key, None)
    if value is None or not isinstance(value, (bool, int, float, str, list, dict)):
        value = next((other for other in values_of(key, None, text) if other is not None), 1)
    return value


def uncovered(options) -> int:
    """Lists the keys of the configuration classes that `vouch info` doesn't know. Returns their number."""
    n = n_keys = 0
    left = set(FAMILY.findall(SOURCE.read_text()))
    for case in cases(options.case):
        left -= {case.members["model_type"], case.text.get("model_type")}
        unknown = []
        with tempfile.TemporaryDirectory() as folder:
            write_config(folder, case.members)
            save_weights(folder, outline(folder)[1])
            for is_text in (True, False)[:1 + (case.text is not case.members)]:
                config_class, place = (case.text_class, case.text) if is_text else (case.config_class, case.members)
                usual = config_class()
                keys = class_keys(config_class)
                n_keys += len(keys)
                for key in sorted(keys):
                    write_config(folder, case.changed({key: probe(key, usual, place, case.text)}, is_text))
                    run = subprocess.run([options.vouch, "info", folder], capture_output=True, text=True)
                    if UNKNOWN.search(run.stdout + run.stderr):
                        unknown.append(key)
        n += len(unknown)
        if unknown:
            print(f"{case.name}: {', '.join(unknown)}", flush=True)
    if left and not options.case:
        print(f"no case: {', '.join(sorted(left))}")
    print(f"{n_keys} keys, {n} not covered")
    return n + len(left)


def main() -> int:
    """Runs the sweep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vouch", default="build/release/vouch")
    parser.add_argument("--case", default="")
    parser.add_argument("--key", default="")
    parser.add_argument("--cover", action="store_true")
    parser.add_argument("--out", help="a file that gets a line of JSON for each change; what it has isn't tried again")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    hf.logging.set_verbosity(hf.logging.CRITICAL)
    hf.logging.disable_progress_bar()
    torch.set_num_threads(1)
    if options.cover:
        return min(uncovered(options), 1)
    total = collections.Counter()
    known = {}
    if options.out and os.path.exists(options.out):
        for line in open(options.out):
            *change, verdicts = json.loads(line)
            known[tuple(change)] = verdicts
    out = open(options.out, "a") if options.out else None
    for case in cases(options.case):
        counts = collections.Counter()
        with tempfile.TemporaryDirectory() as folder:
            verdict = prepare(options, case, folder)
            if verdict.startswith("wrong"):
                print(f"{case.name}: unchanged: {verdict}", flush=True)
                counts["wrong"] += 1
                continue
            for key, words, members, is_text in changes_of(case):
                if not re.search(options.key, words):
                    continue
                verdicts = known.get((case.name, is_text, words))
                if verdicts is None:
                    verdicts = judge(options, case, key, members, is_text)
                    if out:
                        print(json.dumps([case.name, is_text, words, verdicts]), file=out, flush=True)
                for verdict, detail in verdicts:
                    counts[verdict] += 1
                    if verdict in ("wrong", "refused without the name"):
                        print(f"{case.name}: {words}: {verdict}: {detail}", flush=True)
        print(f"{case.name}: " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())), flush=True)
        total += counts
    print("in all: " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(total.items())))
    return 1 if total["wrong"] or total["refused without the name"] else 0


if __name__ == "__main__":
    sys.exit(main())
