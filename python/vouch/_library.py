# SPDX-License-Identifier: MIT
"""Loads libvouch and turns its statuses into exceptions."""
from __future__ import annotations

import ctypes
import pathlib
import sys

from . import _abi

FOLDER = pathlib.Path(__file__).parent
LIBRARY = FOLDER / {"win32": "vouch.dll", "darwin": "libvouch.dylib"}.get(sys.platform, "libvouch.so")
COMMAND = FOLDER / "bin" / ("vouch.exe" if sys.platform == "win32" else "vouch")


class Error(Exception):
    """A failure that the library reports. The message names the file, field and value; `status` is the name of the
    status, such as "FORMAT"."""

    status = "ERROR"


class ArgumentError(Error, ValueError):
    """An option or an argument is out of range, or a call isn't possible now."""


class MemoryShort(Error, MemoryError):
    """Not enough memory."""


class FileError(Error, OSError):
    """A file can't be read or written."""


class FormatError(Error, ValueError):
    """A file is damaged or malformed."""


class Unsupported(Error):
    """The library can't do this with this model."""


class Mismatch(Error):
    """Draft model or head belong to another model."""


class ContextFull(Error):
    """The prompt doesn't fit into the context."""


class NumericError(Error):
    """The model gave no finite logits."""


class Cancelled(Error):
    """`Session.cancel` ended the call."""


class GrammarError(Error):
    """The grammar, the biases and min_tokens together ban all tokens."""


ERRORS = {"ARGUMENT": ArgumentError, "MEMORY": MemoryShort, "IO": FileError, "FORMAT": FormatError,
          "UNSUPPORTED": Unsupported, "MISMATCH": Mismatch, "CONTEXT": ContextFull, "NUMERIC": NumericError,
          "CANCELLED": Cancelled, "GRAMMAR": GrammarError}
STATUSES = {value: name[len("VOUCH_E_"):] for name, value in vars(_abi).items() if name.startswith("VOUCH_E_")}


def load() -> ctypes.CDLL:
    """The library beside this file. The structs of _abi.py are those of its version."""
    library = ctypes.CDLL(str(LIBRARY))
    for name, (result, parameters) in _abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    version = library.vouch_version().decode()
    if version != _abi.VERSION:
        raise ImportError(f"{LIBRARY} is version {version}, expected {_abi.VERSION}: build the "
                          "package again")
    return library


library = load()


def exception(status: int, message: str = "") -> Error:
    """The exception for a status other than OK."""
    name = STATUSES.get(status, "ERROR")
    error = ERRORS.get(name, Error)(message or library.vouch_status_text(status).decode())
    error.status = name
    return error


def check(status: int, error: _abi.vouch_error) -> None:
    """Raises the exception for `status` unless it is OK."""
    if status:
        raise exception(status, error.message.decode("utf-8", "replace"))


def call(name: str, *arguments) -> None:
    """Calls a function of the library whose last parameter is a vouch_error."""
    error = _abi.vouch_error()
    check(getattr(library, name)(*arguments, ctypes.byref(error)), error)


def names_of(prefix: str) -> list[str]:
    """The names of an enum without gaps, in lower case: ["none", "eos", ...] for "VOUCH_FINISH_"."""
    return [name[len(prefix):].lower() for name in vars(_abi) if name.startswith(prefix)]
