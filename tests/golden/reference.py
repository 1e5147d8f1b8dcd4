#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes reference.h: log-probabilities that transformers computes in float32 for the tiny models of test_reference.
With the word vectors it writes vectors.h: the last hidden states, pooled and of length 1.

    tests/golden/reference.py build/release/tests/test_reference > tests/golden/reference.h
    tests/golden/reference.py build/release/tests/test_reference vectors > tests/golden/vectors.h

Needs the packages torch, transformers and gguf. The test program writes the models as GGUF files, and this script
reads their weights. RWKV's models, which transformers lacks, are computed by rwkv.py. transformers 5.24.0 and torch 2.15.0 made the table in the repository.
"""
import pathlib
import subprocess
import sys
import tempfile

import torch
from gguf import GGUFReader
from transformers import (Gemma3nForCausalLM, Gemma3nTextConfig, LlamaConfig, LlamaForCausalLM, Qwen3Config,
                          Qwen3ForCausalLM)

from rwkv import Rwkv

N_TOKENS = 120
POSITIONS = [0, 1, 2, 31, 64, 119]
LAYER = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}
OTHER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
GEMMA3N_LAYER = {
    "post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm", "inp_gate": "per_layer_input_gate", "proj": "per_layer_projection",
    "post_norm": "post_per_layer_input_norm", "laurel_l": "laurel.linear_left", "laurel_r": "laurel.linear_right",
    "laurel_post_norm": "laurel.post_laurel_norm", "altup_router": "altup.modality_router",
    "altup_router_norm": "altup.router_norm", "altup_predict_coef": "altup.prediction_coefs",
    "altup_correct_coef": "altup.correction_coefs", "altup_correct_scale": "altup.correct_output_scale",
}
GEMMA3N_OTHER = {
    "per_layer_token_embd": "model.embed_tokens_per_layer", "per_layer_model_proj": "model.per_layer_model_projection",
    "per_layer_proj_norm": "model.per_layer_projection_norm",
}


def halves(weight: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Reorders the rows of each head: GGUF's llama rotates the pairs (2i, 2i + 1), transformers (i, i + n / 2)."""
    n_out, n_in = weight.shape
    pairs = weight.reshape(n_heads, n_out // n_heads // 2, 2, n_in)
    return pairs.swapaxes(1, 2).reshape(n_out, n_in)


def load_gemma3n(keys: dict, tensors: dict) -> torch.nn.Module:
    """The model of a GGUF file of Gemma 3n."""

    def get(key: str):
        return keys[f"gemma3n.{key}"]

    n_layers, n_shared = get("block_count"), get("attention.shared_kv_layers")
    windows = get("attention.sliding_window_pattern")
    config = Gemma3nTextConfig(
        vocab_size=len(tensors["token_embd"]), vocab_size_per_layer_input=len(tensors["token_embd"]),
        hidden_size=get("embedding_length"), hidden_size_per_layer_input=get("embedding_length_per_layer_input"),
        intermediate_size=[get("feed_forward_length")] * n_layers, num_hidden_layers=n_layers,
        num_attention_heads=get("attention.head_count"), num_key_value_heads=get("attention.head_count_kv"),
        head_dim=get("attention.key_length"), max_position_embeddings=get("context_length"),
        rms_norm_eps=float(get("attention.layer_norm_rms_epsilon")), sliding_window=get("attention.sliding_window"),
        layer_types=["sliding_attention" if w else "full_attention" for w in windows],
        num_kv_shared_layers=n_shared, laurel_rank=len(tensors["blk.0.laurel_l"]),
        final_logit_softcapping=float(get("final_logit_softcapping")),
        activation_sparsity_pattern=[0.95] * min(n_layers, 10) + [0.0] * max(n_layers - 10, 0),
        rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": float(get("rope.freq_base"))},
                         "sliding_attention": {"rope_type": "default", "rope_theta": float(get("rope.freq_base_swa"))}},
        tie_word_embeddings="output" not in tensors, attn_implementation="eager", dtype=torch.float32)
    model = Gemma3nForCausalLM(config).eval()
    state = {}
    for i in range(3):
        state[f"model.altup_projections.{i}.weight"] = tensors["altup_proj"][i]
        state[f"model.altup_unembed_projections.{i}.weight"] = tensors["altup_unembd_proj"][i]
    for name, values in tensors.items():
        if name.startswith("blk."):
            _, index, part = name.split(".")
            place = GEMMA3N_LAYER.get(part) or LAYER[part]
            end = "" if part == "altup_correct_scale" else ".weight"
            state[f"model.layers.{index}.{place}{end}"] = values
        elif name in OTHER or name in GEMMA3N_OTHER:
            state[f"{OTHER.get(name) or GEMMA3N_OTHER[name]}.weight"] = values
    if "output" not in tensors:
        state["lm_head.weight"] = tensors["token_embd"]
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected, unexpected
    assert all(name.split(".")[2:] and int(name.split(".")[2]) >= n_layers - n_shared for name in missing), missing
    return model


def load(path: pathlib.Path) -> torch.nn.Module | Rwkv:
    """The model of a GGUF file."""
    reader = GGUFReader(path)
    keys = {name: field.contents() for name, field in reader.fields.items()}
    tensors = {t.name.removesuffix(".weight"): torch.from_numpy(t.data.copy()) for t in reader.tensors}
    arch = keys["general.architecture"]
    if "rwkv" in arch:
        return Rwkv(keys, tensors)
    if arch == "gemma3n":
        return load_gemma3n(keys, tensors)

    def get(key: str, default=None):
        return keys.get(f"{arch}.{key}", default)

    n_heads, n_kv_heads = get("attention.head_count"), get("attention.head_count_kv")
    n_embd = get("embedding_length")
    rope = {"rope_type": "default", "rope_theta": float(get("rope.freq_base"))}
    if get("rope.scaling.type") == "linear":
        rope |= {"rope_type": "linear", "factor": float(get("rope.scaling.factor"))}
    config = (LlamaConfig if arch == "llama" else Qwen3Config)(
        vocab_size=len(tensors["token_embd"]), hidden_size=n_embd,
        intermediate_size=get("feed_forward_length"), num_hidden_layers=get("block_count"),
        num_attention_heads=n_heads, num_key_value_heads=n_kv_heads,
        head_dim=get("attention.key_length", n_embd // n_heads),
        max_position_embeddings=get("context_length"),
        rms_norm_eps=float(get("attention.layer_norm_rms_epsilon")),
        tie_word_embeddings="output" not in tensors, rope_parameters=rope, attn_implementation="eager",
        dtype=torch.float32)
    model = (LlamaForCausalLM if arch == "llama" else Qwen3ForCausalLM)(config).eval()
    freqs = tensors.pop("rope_freqs", None)
    state = {}
    for name, values in tensors.items():
        if name.startswith("blk."):
            _, index, part = name.split(".")
            if arch == "llama" and part in ("attn_q", "attn_k"):
                values = halves(values, n_heads if part == "attn_q" else n_kv_heads)
            state[f"model.layers.{index}.{LAYER[part]}.weight"] = values
        else:
            state[f"{OTHER[name]}.weight"] = values
    if "output" not in tensors:
        state["lm_head.weight"] = tensors["token_embd"]
    model.load_state_dict(state, strict=True)
    if freqs is not None:
        model.model.rotary_emb.inv_freq /= freqs
    return model


def tokens_of(model: torch.nn.Module | Rwkv) -> torch.Tensor:
    n_vocab = model.config.vocab_size
    return torch.tensor([[(7 * i * i + 3 * i + 1) % n_vocab for i in range(N_TOKENS)]])


def log_probabilities(model: torch.nn.Module | Rwkv) -> torch.Tensor:
    """[positions, n_vocab]"""
    with torch.no_grad():
        logits = model(tokens_of(model)).logits[0, POSITIONS]
    return torch.log_softmax(logits.double(), dim=-1)


def vectors(model: torch.nn.Module) -> torch.Tensor:
    """[2, n_embd]: the mean over the tokens, and the last token's."""
    with torch.no_grad():
        states = model.model(tokens_of(model)).last_hidden_state[0].double()
    return torch.nn.functional.normalize(torch.stack([states.mean(dim=0), states[-1]]), dim=-1)


def print_tables(tables: list[torch.Tensor], decimals: int) -> None:
    """The values of an array, and its end."""
    for table in tables:
        print("    {")
        for row in table.tolist():
            numbers = [f"{x:.{decimals}f}f" for x in row]
            lines = [", ".join(numbers[i:i + 7]) for i in range(0, len(numbers), 7)]
            print("        {" + ",\n         ".join(lines) + "},")
        print("    },")
    print("};")


def print_vectors(models: list) -> None:
    """Of the models with one stream, which stand before the others."""
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Written by reference.py: [model][mean, last][n_embd] of the same tokens as in reference.h. */\n")
    tables = [vectors(model) for model in models if isinstance(model, (LlamaForCausalLM, Qwen3ForCausalLM))]
    print(f"enum {{ REFERENCE_VECTORS = {len(tables)}, REFERENCE_MOST_EMBD = {max(t.shape[1] for t in tables)} }};")
    print("static const float reference_vectors[REFERENCE_VECTORS][2][REFERENCE_MOST_EMBD] = {")
    print_tables(tables, 8)


def main() -> None:
    """Prints the header."""
    if sys.argv[2:] == ["vectors"]:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.argv[1], folder], check=True)
            print_vectors([load(path) for path in sorted(pathlib.Path(folder).glob("*.gguf"))])
        return
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Written by reference.py: log-probabilities [model][position][token]. Token i of the sequence is "
          "(7 i i + 3 i + 1) mod n_vocab. */")
    print("#include <stdint.h>\n")
    print(f"enum {{ REFERENCE_TOKENS = {N_TOKENS}, REFERENCE_POSITIONS = {len(POSITIONS)} }};")
    print(f"static const int32_t reference_positions[] = {{{', '.join(map(str, POSITIONS))}}};")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        tables = [log_probabilities(load(path)) for path in sorted(pathlib.Path(folder).glob("*.gguf"))]
    n_vocab = tables[0].shape[1]
    print(f"static const float reference_values[{len(tables)}][REFERENCE_POSITIONS][{n_vocab}] = {{")
    print_tables(tables, 6)


if __name__ == "__main__":
    main()
