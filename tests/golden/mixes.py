#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes mixes.h: the types that llama-quantize gives the tensors of the files that test_quantize writes.

    tests/golden/mixes.py build/release/tests/test_quantize LLAMA_QUANTIZE > tests/golden/mixes.h

The llama-quantize of llama-cpp-python 0.3.36 made the table in the repository.
"""
import itertools
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

MIXES = ("F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M Q5_K_S Q5_K_M Q6_K IQ4_NL "
         "IQ4_XS TQ1_0 TQ2_0 MXFP4_MOE").split()
PURE = "Q4_K_M Q2_K IQ4_XS MXFP4_MOE".split()
LINE = re.compile(r"^\[ *\d+/ *\d+\] +(\S+) +- \[.*\], type = +(\w+), size =.*?(?:\((\w+)\))?$", re.M)
SCALARS = {4: "I", 6: "f"}


def names(path: pathlib.Path) -> list[str]:
    """The tensors of a file in its order."""
    data, at = path.read_bytes(), 4

    def number(kind: str) -> int:
        nonlocal at
        at += struct.calcsize(kind)
        return struct.unpack_from("<" + kind, data, at - struct.calcsize(kind))[0]

    def text() -> str:
        nonlocal at
        size = number("Q")
        at += size
        return data[at - size:at].decode()

    number("I")
    n_tensors, n_keys = number("Q"), number("Q")
    for _ in range(n_keys):
        text()
        kind = number("I")
        text() if kind == 8 else number(SCALARS[kind])
    found = []
    for _ in range(n_tensors):
        found.append(text())
        for _ in range(number("I")):
            number("Q")
        number("I"), number("Q")
    return found


def types(program: str, path: pathlib.Path, mix: str, pure: bool) -> str:
    """The tensors' types, with runs as TYPE*COUNT."""
    command = [program, "--dry-run", *(["--pure"] if pure else []), path, mix]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    chosen = {name: (new or old).upper() for name, old, new in LINE.findall(done.stdout)}
    runs = [(name, len(list(run))) for name, run in itertools.groupby(chosen[name] for name in names(path))]
    return "".join(name + (f"*{n} " if n > 1 else " ") for name, n in runs)


def main() -> None:
    """Prints the header."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        files = sorted(pathlib.Path(folder).glob("*.gguf"))
        print("/* SPDX-License-Identifier: MIT */")
        print("/* Written by mixes.py: the types that llama-quantize gives the tensors of the shapes in test_quantize.c, "
              "in the\n * order of the file. \"Q6_K*3 \" means three of Q6_K. */")
        print(f"enum {{ N_GOLDEN_SHAPES = {len(files)} }};\n")
        print("static const struct {\n    int shape;\n    const char *mix;\n    int pure;\n    const char *types;\n"
              "} golden_mixes[] = {")
        for i, path in enumerate(files):
            for mix, pure in [(mix, False) for mix in MIXES] + [(mix, True) for mix in PURE]:
                line = types(sys.argv[2], path, mix, pure)
                parts = re.findall(r".{1,100}(?: |$)", line)
                print(f'    {{{i}, "{mix}", {int(pure)},')
                print("\n".join(f'     "{part}"' for part in parts) + "},")
        print("};")


if __name__ == "__main__":
    main()
