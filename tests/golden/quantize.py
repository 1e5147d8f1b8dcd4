#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes quantize.h: values, and the blocks that ggml makes of them, for each type.

    tests/golden/quantize.py LIBGGML_BASE > tests/golden/quantize.h

LIBGGML_BASE is ggml's shared library libggml-base.so, built without -march and without -ffast-math. Its function
ggml_quantize_chunk makes the blocks, without an importance matrix. That of llama-cpp-python 0.3.36 made the table in
the repository.
"""
import ctypes
import math
import random
import struct
import sys

# name: (GGUF id, values in a block, bytes in a block)
TYPES = {"F16": (1, 1, 2), "BF16": (30, 1, 2), "Q8_0": (8, 32, 34), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20),
         "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q2_K": (10, 256, 84), "Q3_K": (11, 256, 110),
         "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "IQ4_NL": (20, 32, 18),
         "IQ4_XS": (23, 256, 136), "TQ1_0": (34, 256, 54), "TQ2_0": (35, 256, 66), "MXFP4": (39, 32, 17)}
N = 256


def values() -> list[float]:
    """Blocks of 256 values of every kind: as weights are, with outliers, of one sign, sparse and constant, huge, and so
    small that f16 scales become 0 and inverse scales infinite."""
    r = random.Random(1)
    kinds = [lambda i: r.gauss(0, 0.02), lambda i: r.gauss(0, 1) * (30 if r.random() < 0.02 else 0.05),
             lambda i: r.random(), lambda i: -math.exp(r.gauss(0, 2)),
             lambda i: [0.0, 0.25, -0.5, 1.0][i // 16 % 4] if i % 5 else 0.0, lambda i: r.uniform(-65504, 65504),
             lambda i: r.gauss(0, 1) * 10.0 ** -(i // 8)]
    return [struct.unpack("<f", struct.pack("<f", kind(i)))[0] for kind in kinds for i in range(N)]


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
    quantize = ctypes.CDLL(sys.argv[1]).ggml_quantize_chunk
    quantize.restype = ctypes.c_size_t
    quantize.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64,
                         ctypes.c_void_p]
    x = values()
    source = (ctypes.c_float * len(x))(*x)
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Written by quantize.py: values as the bits of floats, and the blocks that ggml makes of them. */")
    print("#include <stdint.h>\n")
    table("uint32_t", "quantize_values", [f"0x{struct.unpack('<I', struct.pack('<f', v))[0]:x}" for v in x])
    for name, (kind, length, size) in TYPES.items():
        blocks = (ctypes.c_ubyte * (len(x) // length * size))()
        if quantize(kind, source, blocks, 0, 1, len(x), None) != len(blocks):
            sys.exit(f"{name}: a wrong number of bytes")
        table("unsigned char", f"quantize_{name}", [str(byte) for byte in blocks])


if __name__ == "__main__":
    main()
