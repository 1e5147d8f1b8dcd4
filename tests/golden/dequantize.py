#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes dequantize.h: what gguf-py says random blocks of each type are worth.

    tests/golden/dequantize.py > tests/golden/dequantize.h

Needs the packages numpy and gguf. Every bit of a block is random, but those of its f16 and bf16 numbers,
which are any that are finite. The table in the repository was made with gguf 0.19.0.
"""
import sys

import numpy
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize

TYPES = "F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS".split()
N_BLOCKS = {1: 256, 32: 8, 256: 2}  # by their length
# Where a block's f16 numbers begin, how many there are.
HALVES = {"F16": (0, 1), "Q8_0": (0, 1), "Q4_0": (0, 1), "Q4_1": (0, 2), "Q5_0": (0, 1), "Q5_1": (0, 2),
          "Q2_K": (80, 2), "Q3_K": (108, 1), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208, 1),
          "IQ4_NL": (0, 1), "IQ4_XS": (0, 1)}


def random_blocks(name: str, size: int, n: int, random: numpy.random.Generator) -> numpy.ndarray:
    """[n, size] bytes."""
    blocks = random.integers(0, 256, (n, size), numpy.uint8)
    at, count = HALVES.get(name, (0, 0))
    for i in range(at, at + 2 * count, 2):  # no exponent of 31
        blocks[:, i + 1] = numpy.where(blocks[:, i + 1] & 0x7C == 0x7C, blocks[:, i + 1] ^ 0x40, blocks[:, i + 1])
    if name == "BF16":  # no exponent of 255
        blocks[:, 1] = numpy.where(blocks[:, 1] & 0x7F == 0x7F, blocks[:, 1] ^ 0x40, blocks[:, 1])
    return blocks


def table(of: str, name: str, numbers: list[str]) -> None:
    """A C array, filled to 108 columns."""
    print(f"static const {of} {name}[] = {{", end="")
    column = 108
    for number in numbers:
        if column + len(number) + 2 > 108:
            print("\n   ", end="")
            column = 3
        print(f" {number},", end="")
        column += len(number) + 2
    print("\n};")


def main() -> None:
    """The whole file."""
    random = numpy.random.Generator(numpy.random.PCG64(1))
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Written by dequantize.py: random blocks, and the bits of their values as floats. */")
    print("#include <stdint.h>\n")
    for name in TYPES:
        kind = GGMLQuantizationType[name]
        length, size = GGML_QUANT_SIZES[kind]
        blocks = random_blocks(name, size, N_BLOCKS[length], random)
        values = dequantize(blocks.reshape(-1), kind).astype(numpy.float32)
        if values.size != length * N_BLOCKS[length]:
            sys.exit(f"{name}: {values.size} values")
        table("unsigned char", f"blocks_{name}", [str(byte) for byte in blocks.reshape(-1)])
        table("uint32_t", f"values_{name}", [f"0x{bits:x}" for bits in values.reshape(-1).view(numpy.uint32)])


if __name__ == "__main__":
    main()
