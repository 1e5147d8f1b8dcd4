# SPDX-License-Identifier: MIT
"""Models, heads and grammars: what is immutable once open, and may be shared by threads."""
from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
import weakref
from typing import Any, Iterable, Mapping, Sequence

from . import _abi
from ._library import COMMAND, ArgumentError, call, exception, library
from .options import FILES, Options, integer_of, path_of, text_of, tokens_of, wrong


# What the command takes for a name where no such file exists.
NAME = re.compile(r"(hf:|ollama:|https?://).|[A-Za-z0-9_][\w.-]*/[A-Za-z0-9_][\w.-]*([:@].*)?$", re.ASCII)


def found(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The path that a model's name stands for. The command fetches what is missing, and shows its progress."""
    text = os.fspath(path)
    if not isinstance(text, str) or "\0" in text or not NAME.match(text) or os.path.exists(text):
        return path
    done = subprocess.run([COMMAND, "pull", "--print-path", text], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE if not sys.stderr.isatty() else None, check=False)
    if done.returncode == 0:
        return os.fsdecode(done.stdout.rstrip(b"\n"))
    lines = (done.stderr or b"").decode("utf-8", "replace").strip().splitlines()
    raise exception(_abi.VOUCH_E_IO, lines[-1].removeprefix("vouch: ") if lines else f"{text} can't be fetched")


class Handle:
    """Something of the library's that is open. `close`, the end of a `with` block, or the garbage collector closes it;
    it stays open as long as something else that is open uses it."""

    _close_function: str

    def _open(self, handle: ctypes.c_void_p, *uses: object) -> None:
        """Takes over the handle. `uses` are what must outlive it, such as the model of a session."""
        self._users: weakref.WeakSet[Handle] = weakref.WeakSet()
        self._handle = handle
        owners = [use for use in uses if isinstance(use, Handle)]
        for owner in owners:
            owner._users.add(self)
        # The finalizer holds the owners, so that the garbage collector closes them later.
        self._finalizer = weakref.finalize(self, Handle._finalize, self._close_function, handle, uses)

    @staticmethod
    def _finalize(function: str, handle: ctypes.c_void_p, uses: tuple) -> None:
        getattr(library, function)(handle)

    def _pointer(self) -> ctypes.c_void_p:
        if self.closed:
            raise ArgumentError(f"the {type(self).__name__.lower()} is closed")
        return self._handle

    @property
    def closed(self) -> bool:
        finalizer = getattr(self, "_finalizer", None)
        return finalizer is None or not finalizer.alive

    def close(self) -> None:
        """Frees everything; a second call does nothing. Raises ArgumentError while sessions or engines use it."""
        if self.closed:
            return
        open_users = [user for user in self._users if not user.closed]
        if open_users:
            raise ArgumentError(f"close the {type(open_users[0]).__name__.lower()} before its "
                                f"{type(self).__name__.lower()}: {len(open_users)} still open")
        self._finalizer()

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.close()


class Model(Handle):
    """A model's weights and tokenizer, packed for this processor. Immutable: any number of sessions and threads may use
    it at once.

    path: a GGUF file, the first part of a split one, a Hugging Face folder, or a name such as "OWNER/NAME:Q4_K_M",
    which the command finds, and fetches where it is missing (`vouch pull --help`).
    cpu: instruction set, such as "avx2"; by default the widest of this machine.
    n_threads: threads that pack the weights; 0: all processors.
    chat_template: the text of a Jinja template, or "chatml"; by default the file's.
    chat_variables: variables of the template, such as {"enable_thinking": False}.
    text_only: opens the tokenizer and the facts alone, in milliseconds.
    adapters: GGUF files of LoRA adapters; a session's `adapter_scales` say how much it takes of each (default 1).

    Raises FileError, FormatError, Unsupported, MemoryShort, ArgumentError (`cpu`, the template)."""

    _close_function = "vouch_model_close"

    def __init__(self, path: str | os.PathLike[str], *, cpu: str | None = None, n_threads: int = 0,
                 chat_template: str | None = None, chat_variables: Mapping[str, Any] | None = None,
                 text_only: bool = False, adapters: Sequence[str | os.PathLike[str]] = ()) -> None:
        variables = None if chat_variables is None else json.dumps(chat_variables)
        options = Options(library.vouch_model_options_default(), {
            "cpu": cpu, "n_threads": n_threads, "chat_template": chat_template, "chat_variables": variables,
            "text_only": text_only, "adapters": adapters})
        out = ctypes.c_void_p()
        path = found(path)
        call("vouch_model_open", ctypes.byref(out), path_of(path), ctypes.byref(options.struct))
        self.path = os.fspath(path)
        self._open(out)

    @property
    def info(self) -> dict[str, Any]:
        """Names and sizes of the model, as vouch_model_info has them: architecture, n_vocab, n_ctx_train, digest..."""
        struct = library.vouch_model_get_info(self._pointer()).contents
        values = ((name, getattr(struct, name)) for name, _ in struct._fields_)
        return {name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                for name, value in values}

    @property
    def n_vocab(self) -> int:
        """Number of tokens: the width of a row of logits."""
        return library.vouch_model_get_info(self._pointer()).contents.n_vocab

    def tokenize(self, text: str | bytes, *, special: bool = False, bos: bool = False) -> list[int]:
        """Ids of a text. special: the text of a special token becomes its id. bos: begin as the model's file asks.
        Raises Unsupported for a model without a tokenizer."""
        flags = special * 1 | bos * 2
        if not isinstance(text, (str, bytes)):
            raise wrong("text", "a string or bytes", text)
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        return self._ids("vouch_tokenize", data, len(data), flags, most=len(data) + 8)

    def tokenize_chat(self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = (),
                      **variables: Any) -> list[int]:
        """Ids of a conversation, ready for the assistant's turn, through the model's chat template. Messages are as the
        OpenAI API has them; `variables` go to the template. No text of a message becomes a special token. Raises
        ArgumentError (names the path, such as messages[2].role) and Unsupported (no template)."""
        data = self._chat(messages, tools, variables)
        return self._ids("vouch_tokenize_chat_json", data, len(data), most=len(data) + 256)

    def render_chat(self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = (),
                    **variables: Any) -> str:
        """The text that the chat template writes for the conversation."""
        data = self._chat(messages, tools, variables)
        n, error = ctypes.c_size_t(), _abi.vouch_error()
        capacity = 2 * len(data) + 4096
        while True:
            buffer = ctypes.create_string_buffer(capacity)
            status = library.vouch_render_chat(self._pointer(), data, len(data), ctypes.addressof(buffer), capacity,
                                               ctypes.byref(n), ctypes.byref(error))
            if status == _abi.VOUCH_E_BUFFER and n.value > capacity:
                capacity = n.value
                continue
            if status:
                raise exception(status, error.message.decode("utf-8", "replace"))
            return ctypes.string_at(buffer, n.value).decode("utf-8", "replace")

    @staticmethod
    def _chat(messages: object, tools: object, variables: dict[str, Any]) -> bytes:
        if isinstance(messages, (str, bytes)) or not isinstance(messages, Iterable):
            raise wrong("messages", "a list of messages", messages)
        request = {**variables, "messages": list(messages)}
        if tools:
            request["tools"] = list(tools)
        return json.dumps(request).encode()

    def _ids(self, function: str, *arguments: object, most: int) -> list[int]:
        n, error = ctypes.c_size_t(), _abi.vouch_error()
        while True:
            buffer = (ctypes.c_int32 * most)()
            status = getattr(library, function)(self._pointer(), *arguments, buffer, most, ctypes.byref(n),
                                                ctypes.byref(error))
            if status == _abi.VOUCH_E_BUFFER and n.value > most:
                most = n.value
                continue
            if status:
                raise exception(status, error.message.decode("utf-8", "replace"))
            return buffer[:n.value]

    def token_bytes(self, token: int) -> bytes:
        """The bytes of a token, which may be part of a character. Special tokens give their name. Raises ArgumentError
        for an id outside the vocabulary."""
        n = ctypes.c_size_t()
        (id_,), _ = tokens_of("token", [token])
        pointer = library.vouch_token_bytes(self._pointer(), id_, ctypes.byref(n))
        if pointer is None and not 0 <= id_ < self.n_vocab:
            raise ArgumentError(f"token: expected an id from 0 to {self.n_vocab - 1}, got {id_}")
        return ctypes.string_at(pointer, n.value) if pointer else b""

    def detokenize(self, tokens: Iterable[int]) -> str:
        """The text of tokens. Special tokens give their name, malformed bytes U+FFFD."""
        return b"".join(map(self.token_bytes, tokens)).decode("utf-8", "replace")


class DraftFile(Handle):
    """The content of the file of the drafter `drafter`, for the option with the drafter's name. Raises ArgumentError (a
    drafter without a file), FileError, FormatError, Unsupported, Mismatch."""

    _close_function = "vouch_draft_file_close"
    drafter = ""

    def __init__(self, path: str | os.PathLike[str], target: Model, *, drafter: str = "",
                 allow_other_target: bool = False) -> None:
        if not isinstance(target, Model):
            raise wrong("target", "a Model", target)
        self.drafter = drafter or self.drafter
        if self.drafter not in FILES:
            raise ArgumentError(f"drafter: expected one of {', '.join(FILES)}, got {self.drafter!r}")
        out = ctypes.c_void_p()
        call("vouch_draft_file_open", ctypes.byref(out), FILES[self.drafter], path_of(found(path)), target._pointer(),
             allow_other_target)
        self._open(out, target)


class Head(DraftFile):
    """A tiny model that guesses from the target's hidden states, for the option `head` (docs/heads.md)."""

    drafter = "head"


class Table(DraftFile):
    """Counts of what the target says after one to three tokens, for the option and drafter `table`: `vouch distill
    --table` makes the file."""

    drafter = "table"


class DraftMemory(Handle):
    """Earlier answers of a model, for the option `draft_memory`: guesses are copied from them, and each answer of a
    session with this memory is added. Sessions in any threads may share it; with `scope`, an integer, a session
    sees only answers of the same scope. n_bytes: of memory; 0: 64 MiB. folder: answers are kept there, and read when
    it opens. Raises ArgumentError, MemoryShort, FileError."""

    _close_function = "vouch_draft_memory_close"

    def __init__(self, model: Model, folder: str | os.PathLike[str] | None = None, *, n_bytes: int = 0) -> None:
        if not isinstance(model, Model):
            raise wrong("model", "a Model", model)
        out = ctypes.c_void_p()
        call("vouch_draft_memory_open", ctypes.byref(out), model._pointer(), folder and path_of(folder),
             integer_of("n_bytes", n_bytes, ctypes.c_size_t))
        self._open(out, model)

    def add(self, tokens: Iterable[int], scope: int = 0) -> None:
        """Adds an answer that no session wrote."""
        array, n = tokens_of("tokens", tokens)
        call("vouch_draft_memory_add", self._pointer(), integer_of("scope", scope, ctypes.c_uint64), array, n)

    def keep(self) -> None:
        """Writes to the folder what it doesn't have yet; `close` does so, too. Raises FileError, MemoryShort."""
        call("vouch_draft_memory_keep", self._pointer())

    def clear(self) -> None:
        """Forgets all answers and removes their files. Raises FileError."""
        call("vouch_draft_memory_clear", self._pointer())

    @property
    def info(self) -> dict[str, Any]:
        """n_bytes, n_tokens, n_most, n_kept, n_damaged, as vouch_draft_memory_info has them."""
        info = library.vouch_draft_memory_get_info(self._pointer())
        return {name: getattr(info, name) for name, _ in info._fields_}


class PromptCache(Handle):
    """Keys, values and recurrent states of prompts and answers in the files of a folder, for the option `prompt_cache`
    of engines and of sessions by themselves: a prompt that begins with the same tokens goes on from there, in another
    process, too. Models, threads and processes may share a folder; with `scope`, an integer, a session finds only what
    its scope has written. n_bytes: most bytes of the files; 0: 8 GiB. Raises ArgumentError, MemoryShort, FileError."""

    _close_function = "vouch_prompt_cache_close"

    def __init__(self, folder: str | os.PathLike[str], *, n_bytes: int = 0) -> None:
        out = ctypes.c_void_p()
        call("vouch_prompt_cache_open", ctypes.byref(out), path_of(folder),
             integer_of("n_bytes", n_bytes, ctypes.c_int64))
        self._open(out)

    def check(self) -> None:
        """Raises FileError or MemoryShort, once, where something could not be written since the last call."""
        call("vouch_prompt_cache_check", self._pointer())

    def clear(self) -> None:
        """Removes the files. Engines may still hold pages (Engine.forget). Raises FileError."""
        call("vouch_prompt_cache_clear", self._pointer())

    @property
    def info(self) -> dict[str, Any]:
        """n_bytes, n_most, n_records, n_read, n_written, n_damaged, as vouch_prompt_cache_info has them."""
        info = library.vouch_prompt_cache_get_info(self._pointer())
        return {name: getattr(info, name) for name, _ in info._fields_}


class Grammar(Handle):
    """A set of texts to which answers are bound, for the option `grammar`: one of `gbnf` (llama.cpp's notation),
    `schema` (a JSON Schema as a dictionary or text), or neither: any JSON object. `closed`: an object whose schema
    lists properties has no others, unless the schema opens it. `lenient`: keywords that can't be bound are let pass,
    and `unbound` lists them. Raises ArgumentError with line and column or JSON pointer, Unsupported for a keyword that
    isn't supported."""

    _close_function = "vouch_grammar_close"

    def __init__(self, gbnf: str | None = None, *, schema: Mapping[str, Any] | bool | str | None = None,
                 closed: bool = False, lenient: bool = False) -> None:
        if gbnf is not None and schema is not None:
            raise TypeError("gbnf, schema: give one of them")
        kind, text = _abi.VOUCH_GRAMMAR_JSON, None
        if gbnf is not None:
            kind, text = _abi.VOUCH_GRAMMAR_GBNF, text_of("gbnf", gbnf)
        elif schema is not None:
            kind = _abi.VOUCH_GRAMMAR_JSON_SCHEMA
            text = text_of("schema", schema if isinstance(schema, str) else json.dumps(schema))
        out = ctypes.c_void_p()
        kind |= closed * _abi.VOUCH_GRAMMAR_CLOSED | lenient * _abi.VOUCH_GRAMMAR_LENIENT
        call("vouch_grammar_open", ctypes.byref(out), kind, text, len(text or b""))
        self._open(out)
        self.unbound: list[str] = []
        while note := library.vouch_grammar_unbound(self._pointer(), len(self.unbound)):
            self.unbound.append(note.decode())
