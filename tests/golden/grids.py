#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes grids.h: the codebooks of IQ1, IQ2 and IQ3, from the tables of gguf-py.

    tests/golden/grids.py > src/kernels/grids.h

Needs the packages numpy and gguf. gguf 0.19.0 made the file in the repository.
"""
import sys

import numpy
from gguf import quants

GRIDS = {"iq1": "IQ1_S", "iq2_xxs": "IQ2_XXS", "iq2_xs": "IQ2_XS", "iq2_s": "IQ2_S", "iq3_xxs": "IQ3_XXS",
         "iq3_s": "IQ3_S"}
HEAD = """/* SPDX-License-Identifier: MIT */
/*
 * Written by tests/golden/grids.py: the codebooks of IQ1, IQ2 and IQ3. They were chosen by measurement when the format
 * was designed and are part of it (ggml-common.h of llama.cpp). A codebook is a set of points in ascending order. A
 * point is a number of 8 digits to base 3, or of 4 digits to base 8 (IQ3). Bit n of the set says whether n is a point.
 */
#ifndef VOUCH_KERNELS_GRIDS_H
#define VOUCH_KERNELS_GRIDS_H

#include <stdint.h>
"""


def main() -> None:
    """Prints the header."""
    print(HEAD)
    for name, of in GRIDS.items():
        kind = getattr(quants, of)
        kind.init_grid()
        values = numpy.array(kind.grid_map, numpy.float32)
        digits = numpy.searchsorted(values, kind.grid.reshape(kind.grid_shape)).astype(object)
        base = len(values)
        numbers = [sum(int(digit) * base**i for i, digit in enumerate(point)) for point in digits]
        if numbers != sorted(set(numbers)):
            sys.exit(f"{of}: the points are not in ascending order")
        words = [0] * ((base ** digits.shape[1] + 63) // 64)
        for number in numbers:
            words[number // 64] |= 1 << number % 64
        print(f"static const uint64_t grid_{name}[{len(words)}] = {{ /* {len(numbers)} points */")
        for i in range(0, len(words), 5):
            print("    " + " ".join(f"0x{word:016x}," for word in words[i:i + 5]))
        print("};\n")
    print("#endif")


if __name__ == "__main__":
    main()
