# SPDX-License-Identifier: MIT
"""The structs of _abi.py against the C compiler's: sizes, offsets, and the constants."""
import ctypes
import os
import pathlib
import shutil
import subprocess

import pytest
from vouch import _abi

HEADER = pathlib.Path(__file__).parents[2] / "include"
COMPILER = os.environ.get("CC", "cc").split()


def layout():
    """{C expression: value in _abi}"""
    values = {name: value for name, value in vars(_abi).items() if name.startswith("VOUCH_")}
    for name, struct in vars(_abi).items():
        if not (isinstance(struct, type) and issubclass(struct, ctypes.Structure) and name.startswith("vouch_")):
            continue
        values[f"sizeof({name})"] = ctypes.sizeof(struct)
        for field, kind in struct._fields_:
            values[f"offsetof({name}, {field})"] = getattr(struct, field).offset
            values[f"sizeof((({name} *)0)->{field})"] = ctypes.sizeof(kind)
    return values


def differences(expected, folder):
    """The expressions that have another value in C."""
    lines = "".join(f'    printf("%lld\\n", (long long){expression});\n' for expression in expected)
    (folder / "layout.c").write_text('#include <stddef.h>\n#include <stdio.h>\n#include "vouch.h"\n'
                                     f"int main(void) {{\n{lines}    return 0;\n}}\n")
    subprocess.run([*COMPILER, "-I", HEADER, folder / "layout.c", "-o", folder / "layout"], check=True)
    output = subprocess.run([folder / "layout"], check=True, capture_output=True, text=True).stdout
    return {e: (v, int(c)) for (e, v), c in zip(expected.items(), output.split(), strict=True) if v != int(c)}


@pytest.mark.skipif(not shutil.which(COMPILER[0]), reason="no C compiler")
def test_layouts_and_constants_are_the_compilers(tmp_path):
    expected = layout()
    assert len(expected) > 300
    assert differences(expected, tmp_path) == {}
    wrong = {"offsetof(vouch_step, finish)": expected["offsetof(vouch_step, finish)"] + 4}
    assert len(differences({**expected, **wrong}, tmp_path)) == 1


def test_every_struct_of_the_header_is_there():
    text = (HEADER / "vouch.h").read_text()
    names = [line.split()[-1].rstrip(";") for line in text.splitlines() if line.startswith("} vouch_")]
    constants = set(_abi.__dict__)
    missing = [n for n in names if n not in constants and f"}} {n};" in text and f"typedef struct {n} {{" in text]
    assert len(names) > 20 and missing == []
