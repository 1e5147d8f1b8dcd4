#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes head_folders.h: draft logits of published heads in folders, which their authors' own code computes.

    tests/golden/head_folders.py EAGLE MEDUSA DFLASH DEEPSPEC SPECULATORS > tests/golden/head_folders.h

The arguments are checkouts of github.com/SafeAILab/EAGLE, github.com/FasterDecoding/Medusa, github.com/z-lab/dflash and
github.com/deepseek-ai/DeepSpec, and the folder that has the package speculators. Needs the packages torch,
transformers, pydantic, pydantic-settings and loguru. transformers 5.23.0, torch 2.15.0 and speculators 0.9.0 made the
table in the repository.

The target is a Llama of transformers. Its weights and the heads' follow from the tensors' names (hf_folders.py). A head
drafts 5 tokens after 12, the likeliest each time, and 5 more after 3 other tokens.
"""
import ast
import json
import pathlib
import sys
import types

import torch
import transformers as hf

from hf_folders import weights

N_DRAFT, N_KEPT, VOCABULARY = 5, 16, 160
TARGET = {"model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": 48, "intermediate_size": 40,
          "num_hidden_layers": 8, "num_attention_heads": 6, "num_key_value_heads": 3, "max_position_embeddings": 64,
          "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "pad_token_id": 0}
HEAD = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "vocab_size": VOCABULARY,
        "hidden_size": 48, "intermediate_size": 56, "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "tie_word_embeddings": False,
        "pad_token_id": 0}
# name, dtype of the folder, EAGLE-3?, where the configuration differs, streams before layers
EAGLE = [
    ("EAGLE-3, few tokens", "BF16", True, {"draft_vocab_size": 48}, [2, 4, 5]),
    ("EAGLE-3, narrow, all tokens", "F32", True,
     {"draft_vocab_size": VOCABULARY, "hidden_size": 32, "target_hidden_size": 48, "rope_theta": 500000.0,
      "eagle_config": {"eagle_aux_hidden_state_layer_ids": [0, 3, 6]}}, [1, 4, 7]),
    ("EAGLE-1", "F16", False, {}, None),
    ("EAGLE-2, two layers, no bias", "BF16", False, {"num_hidden_layers": 2, "bias": False}, None),
]
# Heads with Qwen3's layers, whose queries and keys have norms.
QWEN = {**HEAD, "model_type": "qwen3", "head_dim": 12, "num_hidden_layers": 2, "rope_theta": 1000000.0,
        "attention_bias": False, "layer_types": ["full_attention"] * 2, "use_sliding_window": False,
        "sliding_window": None}
DFLASH = [("DFlash", "BF16", {"block_size": 6, "num_target_layers": 8,
                              "dflash_config": {"mask_token_id": 5, "target_layer_ids": [0, 3, 6]}})]
MASKED = [("DFlash, an embedding for masks", "F32",
           {"block_size": 6, "num_target_layers": 8,
            "dflash_config": {"mask_token_id": 159, "target_layer_ids": [2, 5]}})]
DSPARK = [("DSpark", "F32", {"block_size": 5, "mask_token_id": 9, "target_layer_ids": [1, 5], "num_anchors": 4,
                             "enable_confidence_head": True, "confidence_head_with_markov": True, "markov_rank": 16,
                             "markov_head_type": "vanilla"})]
UNMARKED = [("DSpark, confidence by states alone", "BF16",
             {"block_size": 5, "mask_token_id": 7, "target_layer_ids": [0, 4, 6], "num_anchors": 4,
              "enable_confidence_head": True, "confidence_head_with_markov": False, "markov_rank": 8,
              "markov_head_type": "vanilla"})]
NORMED = [("EAGLE-3, norms of queries and keys", "F16",
           {"num_hidden_layers": 1, "layer_types": ["full_attention"], "target_layer_ids": [0, 2, 3, 5, 6],
            "ttt_length": 3, "step_loss_decay": 0.8})]
# name, dtype, the layer's settings, settings of vLLM's speculators
PEAGLE = [
    ("P-EAGLE, few tokens", "F32", {"num_hidden_layers": 2},
     {"draft_vocab_size": 48, "mask_token_id": 9, "eagle_aux_hidden_state_layer_ids": [1, 4, 7],
      "norm_before_residual": False}),
    ("P-EAGLE, norms", "BF16", {"num_key_value_heads": 4},
     {"draft_vocab_size": VOCABULARY, "mask_token_id": 150, "eagle_aux_hidden_state_layer_ids": [2, 5],
      "norm_before_residual": True, "fc_norm": True}),
]
MEDUSA = [("Medusa", "BF16", 5, 1), ("Medusa, two blocks", "F32", 5, 2)]


def steps(n: int) -> torch.Tensor:
    """d2t: draft token i is token 3 i."""
    return 2 * torch.arange(n)


def fill(module: torch.nn.Module, prefix: str = "") -> list[tuple[str, list[int]]]:
    """Gives the module its weights, and returns their names in the folder and their shapes."""
    found = []
    with torch.no_grad():
        for name, tensor in module.state_dict(keep_vars=True).items():
            if name == "d2t":
                tensor.copy_(steps(len(tensor)))
            elif name == "t2d":
                tensor.copy_(torch.isin(torch.arange(len(tensor)), 3 * torch.arange(len(tensor) // 3)))
            elif "inv_freq" in name or "_cached" in name:
                continue
            else:
                tensor.copy_(weights(prefix + name, tensor.shape))
            found.append((prefix + name, list(tensor.shape)))
    return found


def print_row(logits: torch.Tensor, ids: torch.Tensor) -> int:
    """logits: of the tokens that the head may guess, whose ids are in `ids`."""
    best = int(ids[logits.argmax()])
    kept = logits[::len(logits) // N_KEPT][:N_KEPT].tolist()
    lines = [", ".join(f"{value:.7e}f" for value in kept[i:i + 5]) for i in range(0, N_KEPT, 5)]
    print(f"      {{{best}, {logits.std(unbiased=False):.9e}f, {{" + ",\n        ".join(lines) + "}},")
    return best


def rounds(target: hf.PreTrainedModel):
    """For both rounds the tokens and the target's streams before each layer; the last one is after its norm."""
    for n in (12, 15):
        tokens = [(7 + 31 * i) % VOCABULARY for i in range(n)]
        with torch.no_grad():
            yield tokens, target.model(torch.tensor([tokens]), output_hidden_states=True).hidden_states


def run_eagle(model: torch.nn.Module, target: hf.PreTrainedModel, layers: list[int] | None) -> None:
    """Prints the rows of an EAGLE head. As in its topK_genrate, with one guess each time."""
    trimmed = hasattr(model, "d2t")
    ids = torch.arange(len(model.d2t)) + model.d2t if trimmed else torch.arange(VOCABULARY)
    for tokens, streams in rounds(target):
        f = torch.cat([streams[i] for i in layers], -1) if layers else streams[-1]
        f, past, row, place = f[:, :-1], None, tokens[1:], 0
        for _ in range(N_DRAFT):
            with torch.no_grad():
                s, past = model(f, input_ids=torch.tensor([row]), past_key_values=past, use_cache=True,
                                position_ids=torch.arange(place, place + len(row))[None])
                f, place = s[:, -1:], place + len(row)
                logits = model.lm_head(model.norm(f)) if layers else target.lm_head(f)
            row = [print_row(logits[0, -1].double(), ids)]


def run_medusa(heads: torch.nn.ModuleList, target: hf.PreTrainedModel) -> None:
    """Prints the rows of Medusa heads: all from the state before the last token."""
    for _, streams in rounds(target):
        for number in range(N_DRAFT):
            if number < len(heads):
                with torch.no_grad():
                    print_row(heads[number](streams[-1][0, -2]).double(), torch.arange(VOCABULARY))


def block_of(tokens: list[int], streams, layers: list[int], mask: int, n_rows: int) -> tuple:
    """The input of a block's head: the target's states before the last token, that token and masks, their positions."""
    states = torch.cat([streams[i + 1] for i in layers], -1)[:, :-1]
    return states, torch.tensor([[tokens[-1]] + [mask] * (n_rows - 1)]), torch.arange(len(tokens) - 1 + n_rows)[None]


def run_dflash(model: torch.nn.Module, target: hf.PreTrainedModel, layers: list[int]) -> None:
    """Prints the rows of a block. As in dflash_generate. mask_embedding takes the place of the mask's embedding."""
    for tokens, streams in rounds(target):
        states, ids, places = block_of(tokens, streams, layers, model.mask_token_id, model.block_size)
        with torch.no_grad():
            noise = target.model.embed_tokens(ids)
            if hasattr(model, "mask_embedding"):
                noise[0, 1:] = model.mask_embedding
            logits = target.lm_head(model(target_hidden=states, noise_embedding=noise, position_ids=places,
                                          is_causal=False))
        for row in logits[0, 1:1 + N_DRAFT]:
            print_row(row.double(), torch.arange(VOCABULARY))


def run_dspark(model: torch.nn.Module, target: hf.PreTrainedModel, layers: list[int]) -> None:
    """Prints the rows of a block, each with the bias of the guess before it."""
    for tokens, streams in rounds(target):
        states, ids, places = block_of(tokens, streams, layers, model.mask_token_id, model.block_size)
        with torch.no_grad():
            hidden = model._forward_backbone(target_hidden_states=states, noise_embedding=model.embed_tokens(ids),
                                             position_ids=places, is_causal=False)
            _, logits = model.sample_draft_tokens(model.compute_logits(hidden), first_prev_token_ids=ids[:, 0],
                                                  hidden_states=hidden)
        for row in logits[0, :N_DRAFT]:
            print_row(row.double(), torch.arange(VOCABULARY))


def run_normed(model: torch.nn.Module, target: hf.PreTrainedModel, layers: list[int]) -> None:
    """Prints the rows of DeepSpec's EAGLE-3."""
    for tokens, streams in rounds(target):
        f = model.project_hidden_states(torch.cat([streams[i + 1] for i in layers], -1)[:, :-1])
        cache, row, place = hf.DynamicCache(), tokens[1:], 0
        for _ in range(N_DRAFT):
            with torch.no_grad():
                f = model.extend_draft_cache(f, torch.tensor([row]), torch.arange(place, place + len(row))[None], cache)
                place += len(row)
                row = [print_row(model.compute_logits(f)[0, -1].double(), torch.arange(VOCABULARY))]


def load_peagle(folder: str) -> types.ModuleType:
    """P-EAGLE's module. The package imports what only its training needs; empty modules take their places."""
    class Empty(types.ModuleType):
        def __getattr__(self, name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    sys.path.insert(0, folder)
    while True:
        try:
            from speculators.models.peagle import core
            return core
        except ModuleNotFoundError as error:
            sys.modules[error.name] = Empty(error.name)
            for name in [name for name in sys.modules if name.startswith("speculators")]:
                del sys.modules[name]


def run_peagle(core: types.ModuleType, model: torch.nn.Module, target: hf.PreTrainedModel, layers: list[int]) -> None:
    """Prints the rows of P-EAGLE: its forward with all rows of the text, and N_DRAFT - 1 masks after the last one."""
    ids = torch.arange(len(model.d2t)) + model.d2t if model.d2t is not None else torch.arange(VOCABULARY)
    for tokens, streams in rounds(target):
        n, more, found = len(tokens) - 1, N_DRAFT - 1, {}
        anchors = torch.cat([torch.arange(n), torch.full((more,), n - 1)])
        depths = torch.cat([torch.zeros(n, dtype=torch.long), torch.arange(1, N_DRAFT)])
        core.generate_cod_sample_indices = lambda a=anchors, d=depths, **_: (a, d)
        core.compute_metrics = lambda logits, found=found, **_: (found.update(logits=logits), {})
        states = torch.cat([streams[i] for i in layers], -1)[:, :n]
        padded = torch.nn.functional.pad(states, (0, 0, 0, more))
        with torch.no_grad():
            model(padded, torch.tensor([tokens[1:] + [0] * more]), torch.zeros(1, n + more, dtype=torch.long),
                  verifier_last_hidden_states=padded[:, :, :HEAD["hidden_size"]])
        for row in found["logits"][0, -N_DRAFT:]:
            print_row(row.double(), ids)


def peagle_models(folder: str):
    """Yields name, dtype, configuration, tensors, module and function of each P-EAGLE head."""
    core = load_peagle(folder)
    from speculators.models.peagle.config import PEagleSpeculatorConfig
    for name, dtype, layer, own in PEAGLE:
        members = {"model_type": "llama", **HEAD, **layer, "head_dim": 12}
        method = {"proposal_type": "greedy", "speculative_tokens": N_DRAFT}
        config = {"speculators_model_type": "peagle", **own, "transformer_layer_config": members,
                  "speculators_config": {"algorithm": "peagle", "proposal_methods": [method]}}
        inner = hf.LlamaConfig(**members)
        inner._attn_implementation = "eager"
        model = core.PEagleDraftModel(PEagleSpeculatorConfig(transformer_layer_config=inner, **own)).eval()
        tensors = [t for t in fill(model) if not t[0].startswith("verifier")]
        yield name, dtype, config, tensors, model, lambda model, target, layers: run_peagle(core, model, target, layers)


def qwen_models(dflash: str, deepspec: str):
    """Yields name, dtype, configuration, module and function of each head with Qwen3's layers."""
    sys.path[:0] = [dflash, deepspec]
    from deepspec.modeling.dspark.qwen3.modeling import Qwen3DSparkModel
    from deepspec.modeling.eagle3.qwen3.modeling import Qwen3Eagle3Model
    from dflash.model import DFlashDraftModel
    kinds = ((DFLASH, DFlashDraftModel, run_dflash), (DSPARK, Qwen3DSparkModel, run_dspark),
             (NORMED, Qwen3Eagle3Model, run_normed), (MASKED, DFlashDraftModel, run_dflash),
             (UNMARKED, Qwen3DSparkModel, run_dspark))
    for cases, kind, run in kinds:
        for name, dtype, own in cases:
            members = {**QWEN, **own}
            model = kind(hf.Qwen3Config(**members, attn_implementation="eager")).eval()
            if cases is MASKED:
                model.mask_embedding = torch.nn.Parameter(torch.empty(members["hidden_size"]))
            yield name, dtype, members, model, run


def res_block(checkout: str) -> type:
    """Medusa's ResBlock. Its file imports what newer versions of transformers lack."""
    text = pathlib.Path(checkout, "medusa/model/medusa_model.py").read_text()
    found = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == "ResBlock"]
    space = {"torch": torch, "nn": torch.nn}
    exec(compile(ast.Module(found, []), "medusa_model.py", "exec"), space)
    return space["ResBlock"]


def print_case(number: int, config: dict, tensors: list[tuple[str, list[int]]]) -> None:
    """Prints a folder's config.json and tensors."""
    text = json.dumps(config)
    lines = [text[i:i + 90].replace('"', '\\"') for i in range(0, len(text), 90)]
    print(f"static const char head_config_{number}[] =\n" + "\n".join(f'    "{line}"' for line in lines) + ";")
    print(f"static const hf_tensor head_tensors_{number}[] = {{")
    for name, shape in tensors:
        print(f'    {{"{name}", {{{", ".join(map(str, shape))}}}, {len(shape)}, 1, 1}},')
    print("    {0},\n};")


def main() -> None:
    """Prints the header."""
    sys.path.insert(0, sys.argv[1])
    from eagle.model import cnets, cnets1
    config = hf.LlamaConfig(**TARGET, attn_implementation="eager")
    target = hf.LlamaForCausalLM(config).eval()
    print("/* SPDX-License-Identifier: MIT */\n/* Written by head_folders.py. Folder 0 is the target. */")
    print('#include "golden/head_row.h"')
    print_case(0, TARGET, fill(target))
    blocks, cases, names = res_block(sys.argv[2]), [], []
    for number, (name, dtype, is_third, own, layers) in enumerate(EAGLE, 1):
        members = {**HEAD, **own}
        settings = types.SimpleNamespace(**{"rope_scaling": None, "pretraining_tp": 1, **members})
        model = (cnets if is_third else cnets1).Model(settings, bias=members.get("bias", True)).eval()
        if members.get("draft_vocab_size") == VOCABULARY:
            del model.d2t, model.t2d
        tensors = [t for t in fill(model) if is_third or not t[0].startswith("embed_tokens")]
        if not is_third:  # it has the target's
            model.embed_tokens.weight.data = target.model.embed_tokens.weight.data
        print_case(number, members, tensors)
        cases.append((name, dtype, number, lambda model=model, layers=layers: run_eagle(model, target, layers)))
    for number, (name, dtype, n_heads, n_blocks) in enumerate(MEDUSA, len(EAGLE) + 1):
        heads = torch.nn.ModuleList(
            torch.nn.Sequential(*(blocks(48) for _ in range(n_blocks)), torch.nn.Linear(48, VOCABULARY, False))
            for _ in range(n_heads))
        tensors = fill(heads)
        print_case(number, {"medusa_num_heads": n_heads, "medusa_num_layers": n_blocks}, tensors)
        cases.append((name, dtype, number, lambda heads=heads: run_medusa(heads, target)))
    for number, (name, dtype, members, model, run) in enumerate(qwen_models(*sys.argv[3:5]),
                                                                len(EAGLE) + len(MEDUSA) + 1):
        print_case(number, members, fill(model))
        layers = members.get("target_layer_ids") or members["dflash_config"]["target_layer_ids"]
        cases.append((name, dtype, number, lambda model=model, run=run, layers=layers: run(model, target, layers)))
    for number, (name, dtype, members, tensors, model, run) in enumerate(peagle_models(sys.argv[5]), len(cases) + 1):
        print_case(number, members, tensors)
        layers = members["eagle_aux_hidden_state_layer_ids"]
        cases.append((name, dtype, number, lambda model=model, run=run, layers=layers: run(model, target, layers)))
    print("static const struct {\n    const char *name, *dtype, *config;\n    const hf_tensor *tensors;")
    print("    head_row rows[HEAD_ROUNDS * HEAD_DRAFT];\n} head_folders[] = {")
    for name, dtype, number, run in cases:
        print(f'    {{"{name}", "{dtype}", head_config_{number}, head_tensors_{number}, {{')
        run()
        print("    }},")
    print("};")


if __name__ == "__main__":
    main()
