# SPDX-License-Identifier: MIT
"""vouch: speculative decoding for language models, on processors.

    import vouch

    with vouch.Model("model.gguf") as model, vouch.Session(model, max_tokens=100) as session:
        for step in session.generate([{"role": "user", "content": "Name three rivers."}]):
            print(step.text, end="", flush=True)

docs/python.md is the manual; include/vouch.h says what each option means.
"""
from . import _abi
from ._library import (ArgumentError, Cancelled, ContextFull, Error, FileError, FormatError, GrammarError, MemoryShort,
                       Mismatch, NumericError, Unsupported)
from .engine import Answer, Engine, EngineSession
from .model import DraftFile, DraftMemory, Grammar, Head, Model, PromptCache, Table
from .session import Guess, Logprob, Session, Step

__version__ = _abi.VERSION
__all__ = ["Answer", "ArgumentError", "Cancelled", "ContextFull", "Engine", "EngineSession", "Error", "FileError",
           "FormatError", "Grammar", "GrammarError", "Guess", "Head", "Logprob", "MemoryShort", "Mismatch", "Model",
           "DraftFile", "DraftMemory", "NumericError", "PromptCache", "Session", "Step", "Table", "Unsupported"]
