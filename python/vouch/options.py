# SPDX-License-Identifier: MIT
"""Keyword arguments into the option structs of include/vouch.h.

An option has the name of its field; fields of the structs inside (sampling, speculation) are options, too. A
constant of the header has a name here: drafters="ngram,suffix", accept="match", kv_type="q8_0". A struct's strings
and arrays must live until the library has copied them: `Options.keep` holds them.
"""
from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Iterable

from . import _abi
from ._library import ArgumentError, library, names_of

INTEGERS = (ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint, ctypes.c_size_t)


def wrong(name: str, expected: str, value: object) -> TypeError:
    return TypeError(f"{name}: expected {expected}, got {value!r}")


def text_of(name: str, value: object) -> bytes:
    if not isinstance(value, str):
        raise wrong(name, "a string", value)
    data = value.encode("utf-8", "surrogatepass")
    if b"\0" in data:
        raise ArgumentError(f"{name}: expected a text without NUL, got {value!r}")
    return data


def integer_of(name: str, value: object, kind: type) -> int:
    """An integer that fits into the field: ctypes alone would cut it off in silence."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise wrong(name, "an integer", value)
    number = value.__index__()
    bits = 8 * ctypes.sizeof(kind)
    least, most = (0, 2**bits - 1) if kind(-1).value > 0 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not least <= number <= most:
        raise ArgumentError(f"{name}: expected an integer from {least} to {most}, got {number}")
    return number


def choice_of(name: str, value: object, names: list[str]) -> int:
    if value not in names:
        raise ArgumentError(f"{name}: expected one of {', '.join(names)}, got {value!r}")
    return names.index(value)


def drafters_of(name: str, value: object) -> int:
    """The bits of "auto", "none", a comma list such as "ngram,suffix", or a list of names."""
    bits = {library.vouch_drafter_name(i).decode(): 1 << i for i in range(_abi.VOUCH_DRAFTERS)}
    bits["auto"] = _abi.VOUCH_DRAFTER_AUTO
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, Iterable):
        raise wrong(name, "a string or a list of names", value)
    result = 0
    for word in map(lambda w: w.strip() if isinstance(w, str) else w, words):
        if word not in bits:
            raise ArgumentError(f"{name}: expected names of {', '.join(bits)}, got {word!r}")
        result |= bits[word]
    return result


def bias_of(name: str, value: object, keep: list) -> tuple[ctypes.Array, int]:
    if not isinstance(value, dict):
        raise wrong(name, "a dictionary from token to number", value)
    pairs = []
    for token, bias in value.items():
        if not isinstance(bias, (int, float)):
            raise wrong(f"{name}[{token!r}]", "a number", bias)
        pairs.append(_abi.vouch_logit_bias(integer_of(name, token, ctypes.c_int32), bias))
    array = (_abi.vouch_logit_bias * len(pairs))(*pairs)
    keep.append(array)
    return array, len(pairs)


def path_of(path: object) -> bytes:
    data = os.fsencode(path).replace(os.sep.encode(), b"/")  # the library takes / on Windows, too
    if b"\0" in data:
        raise ArgumentError(f"path: expected a path without NUL, got {path!r}")
    return data


def stop_of(name: str, value: object, keep: list) -> tuple[ctypes.Array, int]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise wrong(name, "a string or a list of strings", value)
    texts = [text_of(f"{name}[{i}]", text) for i, text in enumerate(value)]
    array = (ctypes.c_char_p * len(texts))(*texts)
    keep.append(array)
    return array, len(texts)


def paths_of(name: str, value: object, keep: list) -> tuple[ctypes.Array, int]:
    if isinstance(value, (str, os.PathLike)) or not isinstance(value, (list, tuple)):
        raise wrong(name, "a list of paths", value)
    paths = [path_of(path) for path in value]
    array = (ctypes.c_char_p * len(paths))(*paths)
    keep.append(array)
    return array, len(paths)


def floats_of(name: str, value: object, keep: list) -> tuple[ctypes.Array, int]:
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        raise wrong(name, "a list of numbers", value)
    numbers = list(value)
    for i, number in enumerate(numbers):
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise wrong(f"{name}[{i}]", "a number", number)
    array = (ctypes.c_float * len(numbers))(*numbers)
    keep.append(array)
    return array, len(numbers)


def tokens_of(name: str, value: object, keep: list | None = None) -> tuple[ctypes.Array, int]:
    """Ids as a C array. An array of 32-bit integers (numpy, array.array) is used as it is."""
    try:
        view = memoryview(value)
        is_int32 = view.format in ("i", "l") and view.itemsize == 4
        if is_int32 and view.ndim == 1 and view.contiguous and not view.readonly:
            array = (ctypes.c_int32 * len(view)).from_buffer(view)
            if keep is not None:
                keep.append(array)
            return array, len(view)
    except TypeError:
        pass
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        raise wrong(name, "a list of token ids", value)
    ids = [integer_of(f"{name}[{i}]", token, ctypes.c_int32) for i, token in enumerate(value)]
    array = (ctypes.c_int32 * len(ids))(*ids)
    if keep is not None:
        keep.append(array)
    return array, len(ids)


# Options that aren't plain numbers, texts or switches. Each puts a value into its field.
CHOICES = {"kv_type": names_of("VOUCH_KV_"), "draft_sampling": names_of("VOUCH_DRAFT_"),
           "accept": names_of("VOUCH_ACCEPT_")}
ARRAYS: dict[str, Callable] = {"bias": bias_of, "stop": stop_of, "dry_sequence_breakers": stop_of,
                               "draft_vocab": tokens_of, "adapters": paths_of, "adapter_scales": floats_of}
HANDLES = {"draft_model": ("vouch_model_close", "a Model"), "grammar": ("vouch_grammar_close", "a Grammar"),
           "draft_memory": ("vouch_draft_memory_close", "a DraftMemory"),
           "prompt_cache": ("vouch_prompt_cache_close", "a PromptCache")}
# The drafters that have a file, by name: their numbers. The file is the option with the drafter's name.
FILES = {info.name.decode(): i for i in range(_abi.VOUCH_DRAFTERS)
         if (info := library.vouch_drafter_get_info(i)).file}
HIDDEN = {"n_bias", "n_stop", "n_dry_sequence_breakers", "n_draft_vocab", "n_adapters",
          "n_adapter_scales", "custom", "progress", "progress_user"}


class Options:
    """An option struct with its defaults, set from keyword arguments. `keep` holds what its pointers point to."""

    def __init__(self, struct: ctypes.Structure, values: dict[str, Any]) -> None:
        self.struct, self.keep = struct, []
        fields = dict(self.fields(struct))
        for name, value in values.items():
            if name not in fields:
                raise TypeError(f"{name}: no such option; there are: {', '.join(sorted(fields))}")
            if value is not None:
                self.set(name, value, *fields[name])

    def fields(self, struct: ctypes.Structure):
        """(name, (struct, type)) of all options."""
        for name, kind in struct._fields_:
            if name in ("sampling", "speculation"):
                yield from self.fields(getattr(struct, name))
            elif name == "files":
                yield from ((drafter, (struct, kind)) for drafter in FILES)
            elif name not in HIDDEN:
                yield name, (struct, kind)

    def set(self, name: str, value: object, struct: ctypes.Structure, kind: type) -> None:
        if name in ARRAYS:
            array, n = ARRAYS[name](name, value, self.keep)
            setattr(struct, name, ctypes.cast(array, kind))
            setattr(struct, "n_" + name, n)
        elif name in HANDLES:
            close, expected = HANDLES[name]
            if getattr(value, "_close_function", None) != close:
                raise wrong(name, expected, value)
            self.keep.append(value)
            setattr(struct, name, value._pointer())
        elif name in FILES:
            if getattr(value, "drafter", None) != name:
                raise wrong(name, f"a DraftFile of {name}", value)
            self.keep.append(value)
            struct.files[FILES[name]] = value._pointer()
        elif name in CHOICES:
            setattr(struct, name, choice_of(name, value, CHOICES[name]))
        elif name in ("drafters", "auto_with"):
            setattr(struct, name, drafters_of(name, value))
        elif kind is ctypes.c_char_p:
            setattr(struct, name, text_of(name, value))
        elif kind is ctypes.c_bool:
            if not isinstance(value, bool):
                raise wrong(name, "True or False", value)
            setattr(struct, name, value)
        elif kind in INTEGERS:
            setattr(struct, name, integer_of(name, value, kind))
        else:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise wrong(name, "a number", value)
            setattr(struct, name, value)
