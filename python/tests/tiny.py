# SPDX-License-Identifier: MIT
"""Writes a tiny random Llama as GGUF, so that the tests need no download:  tiny.py PATH [SEED]

The vocabulary is SentencePiece's with a token for each byte and some words. Weights are F32. The layers outweigh the
embedding, so that the next token depends on the context, and logits have a standard deviation of about 4.
"""
import random
import struct
import sys

WORDS = ["\u2581the", "\u2581a", "\u2581river", "\u2581sea", "th", "he", "in", "er", "an", "\u2581t", "\u2581"]
TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256)), *WORDS, *map(chr, range(97, 123))]
KINDS = [2, 3, 3, *[6] * 256, *[1] * (len(TOKENS) - 259)]
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}" \
    "{% if add_generation_prompt %}assistant:{% endif %}"
WIDTH, HEADS, LAYERS, HIDDEN, CONTEXT = 64, 4, 2, 96, 512
U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def array(kind, items):
    return struct.pack("<IIQ", ARRAY, kind, len(items)) + b"".join(items)


def keys():
    number = lambda value: struct.pack("<II", U32, value)
    string = lambda value: struct.pack("<I", STRING) + text(value)
    return {
        "general.architecture": string("llama"), "general.name": string("tiny"),
        "llama.block_count": number(LAYERS), "llama.context_length": number(CONTEXT),
        "llama.embedding_length": number(WIDTH), "llama.feed_forward_length": number(HIDDEN),
        "llama.attention.head_count": number(HEADS), "llama.attention.head_count_kv": number(HEADS // 2),
        "llama.attention.layer_norm_rms_epsilon": struct.pack("<If", F32, 1e-5),
        "tokenizer.ggml.model": string("llama"),
        "tokenizer.ggml.tokens": array(STRING, list(map(text, TOKENS))),
        "tokenizer.ggml.scores": array(F32, [struct.pack("<f", -i) for i in range(len(TOKENS))]),
        "tokenizer.ggml.token_type": array(5, [struct.pack("<i", kind) for kind in KINDS]),
        "tokenizer.ggml.bos_token_id": number(1), "tokenizer.ggml.eos_token_id": number(2),
        "tokenizer.ggml.unknown_token_id": number(0), "tokenizer.ggml.add_bos_token": struct.pack("<IB", BOOL, 1),
        "tokenizer.chat_template": string(TEMPLATE),
    }


def tensors():
    """(name, dimensions, standard deviation of the weights; None: ones)"""
    yield "token_embd.weight", (WIDTH, len(TOKENS)), 0.2
    yield "output_norm.weight", (WIDTH,), None
    yield "output.weight", (WIDTH, len(TOKENS)), 4 / WIDTH**0.5
    for i in range(LAYERS):
        for name, n_out, n_in, gain in (("attn_q", WIDTH, WIDTH, 1.7), ("attn_k", WIDTH // 2, WIDTH, 1.7),
                                        ("attn_v", WIDTH // 2, WIDTH, 1), ("attn_output", WIDTH, WIDTH, 1),
                                        ("ffn_gate", HIDDEN, WIDTH, 1), ("ffn_up", HIDDEN, WIDTH, 1),
                                        ("ffn_down", WIDTH, HIDDEN, 2)):
            yield f"blk.{i}.{name}.weight", (n_in, n_out), gain / n_in**0.5
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{i}.{name}.weight", (WIDTH,), None


def write(path, seed=0):
    draw = random.Random(seed)
    infos, data = [], bytearray()
    for name, dimensions, deviation in tensors():
        n = dimensions[0] * (dimensions[1] if len(dimensions) > 1 else 1)
        values = [1.0] * n if deviation is None else [draw.gauss(0, deviation) for _ in range(n)]
        infos.append(text(name) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, 0, len(data)))
        data += struct.pack(f"<{n}f", *values)
        data += bytes(-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(keys()))
    head += b"".join(text(key) + value for key, value in keys().items()) + b"".join(infos)
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32) + data)


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
