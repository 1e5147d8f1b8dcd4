#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes smollm_tokens.h: texts, and the ids that llama.cpp's tokenizer gives them for SmolLM2-135M-Instruct.

    tests/golden/smollm_tokens.py LLAMA_TOKENIZE MODEL.gguf > tests/golden/smollm_tokens.h

llama.cpp v0.5.0 made the table in the repository. llama.cpp drops a byte without a token, where vouch writes U+FFFD. So
no text here has one of the 21 bytes that the model lacks.
"""
import ast
import subprocess
import sys

TEXTS = [
    "a", " ", "  ", "   ", "\n", "\n\n", "\n\n\n", "\t", "\t\n", " \n ", "\r\n",
    "Hello world", " Hello, world!", "HELLO hello HeLLo", "The year 2024 had 366 days, not 365.25",
    "3.14159265358979", "a1b22c333", "x  5", "x   5y", "5  x", "Hello  5 world", " 7", "  7  ",
    "I'm sure you'll see they've said it's John's, we'd say; 'RE 'S", "don't can't 'tis '90s '5",
    "for (int i = 0; i < 10; i++) {\n\tprintf(\"%d\\n\", i);\n}\n", "    indented\n        more\n",
    "trailing spaces   ", "   leading spaces", "a \n b", "tab\tseparated\tvalues",
    "!!!!!!...???---___", "\"quoted\" (bracketed) [list] {dict} <tag/>", "http://example.org/a?b=c&d=%20",
    "Äpfel und Öl, größer als die Maße", "déjà vu — naïve café…", "e\u0301 is not é", "нещо на Български",
    "我想在apple工作1314151天～", "こんにちは、世界。カタカナ", "안녕하세요 세계", "שלום עולם مرحبا", "កាន់តែពិសេសអាច",
    "🚀 (normal) 😶‍🌫️ (joined) ✅", "½ ² ³ Ⅷ ٣٤٥ १२३ 五", "\u00a0nbsp\u2003em\u3000wide\u200bzero\u180emvs",
    "\u2028line\u2029para\u0085next", "b\u007fc", "<|im_start|>user\nhi<|im_end|>", "<|endoftext|>",
    "supercalifragilisticexpialidocious", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "= = == === ====", "'", "''s",
    "\u017f's \u212a",
]


def wrapped(pieces: list[str], indent: str, joint: str) -> str:
    """Joins the pieces into lines of at most 100 characters."""
    lines = [indent]
    for piece in pieces:
        if len(lines[-1]) + len(piece) > 100:
            lines[-1] = (lines[-1] + joint).rstrip()
            lines.append(indent)
        lines[-1] += piece
    return "\n".join(lines)


def c_string(data: bytes) -> str:
    letters = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in data]
    return wrapped(letters, '     "', '"').replace('     "', '    {"', 1) + '"'


def main() -> None:
    tool, model = sys.argv[1:3]
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Written by smollm_tokens.py: ids for SmolLM2-135M-Instruct, without special tokens and without BOS. */")
    print("static const struct {\n    const char *text;\n    size_t n_text;")
    print("    int32_t ids[64];\n    size_t n_ids;")
    print("} smollm_golden[] = {")
    for text in TEXTS:
        command = [tool, "-m", model, "--ids", "--no-bos", "--no-parse-special", "--no-escape", "-p", text]
        out = subprocess.run(command, check=True, capture_output=True).stdout
        ids = ast.literal_eval(out.decode().strip().splitlines()[-1])
        assert len(ids) <= 64, text
        data = text.encode()
        print(f"{c_string(data)}, {len(data)},")
        list_text = wrapped([f"{i}, " for i in ids], "      ", "").lstrip().rstrip(", ")
        print(f"     {{{list_text}}}, {len(ids)}}},")
    print("};")


main()
