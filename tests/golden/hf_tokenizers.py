#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes hf_tokenizers.h: tiny tokenizer files, texts, and the ids that the packages `tokenizers` and `sentencepiece`
give them. Training is not the same twice: the files and the ids belong together.

    tests/golden/hf_tokenizers.py > tests/golden/hf_tokenizers.h

tokenizers 0.23 and sentencepiece 0.2 made the table in the repository. Each tokenizer is trained on the texts. Those of
byte-level BPE know the bytes of the texts only.
"""
import json
import os
import tempfile

import sentencepiece
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

TEXTS = [
    "Hello world", " Hello, world!  It's 1234567 days.", "I'LL say: 'tis\n\n\tthe  end ", "x=3.14;  y = x*2\r\n",
    "d\u00e9j\u00e0 vu, e\u0301 too", "\u6211\u60f3\u5728apple\u5de5\u4f5c1314\u5929\uff5e", "HELLO HelloWorld hELLO", "aaaa  bbbb   aaaa",
    "<s>a<think> b</think>", "a <L> b <L>", "a<R>  \n b <R>x", "word words a word, sword", "un <W>\u00e9 <W> <W>",
    "a \u00a0<LR>\u3000 b",
]
SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def llama3(digits):
    return SUFFIX + r"|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES


GPT4O = (f"[^\\r\\n\\p{{L}}\\p{{N}}]?{UPPER}*{LOWER}+{SUFFIX}?|[^\\r\\n\\p{{L}}\\p{{N}}]?{UPPER}+{LOWER}*{SUFFIX}?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES)
DEEPSEEK = [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
            " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"]
ADDED = [AddedToken("<think>", normalized=False), AddedToken("</think>", normalized=True),
         AddedToken("<L>", lstrip=True, normalized=False, special=True), AddedToken("<R>", rstrip=True, normalized=False),
         AddedToken("<LR>", lstrip=True, rstrip=True, normalized=False, special=True),
         AddedToken("word", single_word=True, normalized=False),
         AddedToken("<W>", single_word=True, lstrip=True, normalized=False, special=True)]


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(use_regex=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)


def byte_level_bpe(steps, normalizer=None, ignore_merges=False):
    t = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizers.Sequence(steps) if len(steps) > 1 else steps[0]
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=190, special_tokens=["<s>"], show_progress=False))
    t.add_tokens(ADDED)
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 0)])
    return t


def train_sentencepiece(**options):
    """In the current folder: the file names its options."""
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(TEXTS * 3), model_prefix="m", minloglevel=2,
                                             num_threads=1, hard_vocab_limit=False, **options)
    with open("m.model", "rb") as f:
        return f.read()


def merges_of(model):
    """All the ways to cut each piece into two others, the best piece first."""
    ids = {model.id_to_piece(i): i for i in range(model.get_piece_size())}
    cuts = [(piece, piece[:i], piece[i:]) for piece in ids for i in range(1, len(piece))]
    cuts = [c for c in cuts if c[1] in ids and c[2] in ids]
    cuts.sort(key=lambda c: (-model.get_score(ids[c[0]]), ids[c[0]], ids[c[1]], ids[c[2]]))
    return ids, [c[1:] for c in cuts]


def sentencepiece_bpe(model, metaspace):
    """tokenizer.json of a SentencePiece model: without a space before the text, or with one from the normaliser."""
    ids, merges = merges_of(model)
    t = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if metaspace:
        t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    else:
        t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in ("<unk>", "<s>", "</s>")])
    return t


def field(message, number):
    """The bytes of a field of a protocol buffer."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            at += 1
            value |= (message[at - 1] & 127) << shift
            shift += 7
            if message[at - 1] < 128:
                return value
    at = 0
    while at < len(message):
        key = varint()
        n = 4 if key & 7 == 5 else 8 if key & 7 == 1 else varint() if key & 7 == 2 else 0 * varint()
        if key >> 3 == number:
            return message[at:at + n]
        at += n


def unigram(charsmap):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap), normalizers.Strip(),
                                         normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.train_from_iterator(TEXTS * 3, trainers.UnigramTrainer(vocab_size=120, special_tokens=["<unk>", "<s>"],
                                                             unk_token="<unk>", show_progress=False))
    return t


def c_string(data):
    return '"' + "".join("\\" + chr(b) if b in b'"\\' else chr(b) if 32 <= b < 127 and b != ord("?") else f"\\{b:03o}"
                         for b in data) + '"'


def show(name, file, data, lists):
    """Compilers need to take no string of more than 4095 bytes, so the file comes in parts."""
    print(f'    {{"{name}", "{file}", {{')
    while data:
        n = 96
        while len(c_string(data[:n])) > 104:
            n -= 1
        print(f"         {{{len(data[:n])}, {c_string(data[:n])}}},")
        data = data[n:]
    print("     }, {", end="")
    column = 8
    for part in ", ".join(str(i) for ids in lists for i in ids + [-1]).split(" "):
        if column + len(part) > 112:
            print("\n      ", end="")
            column = 6
        print(part, end=" " if part.endswith(",") else "")
        column += len(part) + 1
    print("}},")


def main():
    cases = {"gpt-2": byte_level_bpe([byte_level(True)]),
             "smollm": byte_level_bpe([pre_tokenizers.Digits(individual_digits=True), byte_level(True)]),
             "llama-bpe": byte_level_bpe([split(llama3(r"\p{N}{1,3}")), byte_level()], ignore_merges=True),
             "qwen2": byte_level_bpe([split(llama3(r"\p{N}")), byte_level()], normalizers.NFC()),
             "gpt-4o": byte_level_bpe([split(GPT4O, "removed", True), byte_level()]),
             "deepseek-v3": byte_level_bpe([split(p) for p in DEEPSEEK] + [byte_level()])}
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Written by hf_tokenizers.py: tokenizer files, and the ids of each text, each list with -1 at its end. */")
    print("static const struct {\n    const char *text;\n    size_t n;\n} hf_texts[] = {")
    for text in TEXTS:
        print(f"    {{{c_string(text.encode())}, {len(text.encode())}}},")
    print("};\n\nstatic const struct {\n    const char *name, *file;\n    struct {\n        size_t n;\n"
          "        const char *bytes;\n    } parts[400];\n    int32_t ids[700];\n} hf_golden[] = {")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        bpe = train_sentencepiece(model_type="bpe", vocab_size=400, byte_fallback=True, character_coverage=0.98,
                                  normalization_rule_name="identity", remove_extra_whitespaces=False)
        with open("rules.tsv", "w", encoding="utf8") as f:
            f.write("FF5E\t7E\n65 301\tE9\n3000\t20\n9\t20\nA\t20\nD\t20\n")
        normalised = {kind: train_sentencepiece(model_type=kind, vocab_size=size, normalization_rule_tsv="rules.tsv",
                                                byte_fallback=kind == "bpe", character_coverage=0.98)
                      for kind, size in (("unigram", 110), ("bpe", 380))}
        os.chdir("/")
    model = sentencepiece.SentencePieceProcessor(model_proto=bpe)
    cases["spm"] = sentencepiece_bpe(model, True)
    cases["spm-prefix"] = sentencepiece_bpe(model, False)
    cases["unigram"] = unigram(field(field(normalised["unigram"], 3), 2))
    for name, t in cases.items():
        data = json.dumps(json.loads(t.to_str()), ensure_ascii=False, separators=(",", ":")).encode()
        show(name, "tokenizer.json", data, [t.encode(text, add_special_tokens=False).ids for text in TEXTS])
    for name, data in [("model-bpe", bpe)] + [(f"model-{kind}-normalised", data) for kind, data in normalised.items()]:
        model = sentencepiece.SentencePieceProcessor(model_proto=data)
        show(name, "tokenizer.model", data, [model.encode(text) for text in TEXTS])
    print("};")


if __name__ == "__main__":
    main()
