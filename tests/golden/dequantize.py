#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes dequantize.h: random blocks of each type, and the values that gguf-py gives them.

    tests/golden/dequantize.py > tests/golden/dequantize.h

Needs the packages numpy and gguf. All bits of a block are random, except that its f16 and bf16 numbers are
finite. gguf 0.19.0 made the table in the repository.
"""
import sys

import numpy
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize

TYPES = """F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4 NVFP4 TQ1_0 TQ2_0 IQ1_S IQ1_M
IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S""".split()
N_BLOCKS = {1: 256, 32: 8, 64: 4, 256: 2}  # by block length
# The f16 numbers in a block: byte offset of the first, and their count.
HALVES = {"F16": (0, 1), "Q8_0": (0, 1), "Q4_0": (0, 1), "Q4_1": (0, 2), "Q5_0": (0, 1), "Q5_1": (0, 2),
          "Q2_K": (80, 2), "Q3_K": (108, 1), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208, 1),
          "IQ4_NL": (0, 1), "IQ4_XS": (0, 1), "TQ1_0": (52, 1), "TQ2_0": (64, 1), "IQ1_S": (0, 1), "IQ2_XXS": (0, 1),
          "IQ2_XS": (0, 1), "IQ2_S": (0, 1), "IQ3_XXS": (0, 1), "IQ3_S": (0, 1)}


def random_blocks(name: str, size: int, n: int, random: numpy.random.Generator) -> numpy.ndarray:
    """[n, size] bytes."""
    blocks = random.integers(0, 256, (n, size), numpy.uint8)
    at, count = HALVES.get(name, (0, 0))
    for i in range(at, at + 2 * count, 2):  # flips a bit of exponent 31: no infinity, no NaN
        blocks[:, i + 1] = numpy.where(blocks[:, i + 1] & 0x7C == 0x7C, blocks[:, i + 1] ^ 0x40, blocks[:, i + 1])
    if name == "IQ1_M":  # the highest 4 bits of its f16 number, spread over 4 words
        blocks[:, 55] = numpy.where(blocks[:, 55] & 0x70 == 0x70, blocks[:, 55] ^ 0x40, blocks[:, 55])
    if name == "BF16":  # flips a bit of exponent 255
        blocks[:, 1] = numpy.where(blocks[:, 1] & 0x7F == 0x7F, blocks[:, 1] ^ 0x40, blocks[:, 1])
    return blocks


def table(of: str, name: str, numbers: list[str]) -> None:
    """Prints a C array in lines of at most 108 columns."""
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
    """Prints the header."""
    random = numpy.random.Generator(numpy.random.PCG64(1))
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Written by dequantize.py: random blocks, and their values as the bits of floats. */")
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
