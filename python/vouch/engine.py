# SPDX-License-Identifier: MIT
"""Engines: many sessions in shared passes of one model."""
from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator

from . import _abi
from ._library import Error, call, exception, library
from .model import Handle, Model
from .options import Options, wrong
from .session import Prompt, Session, Step, Turn, struct_values


@dataclass
class Answer:
    """An answer of Engine.answers. text and tokens of a failed one are what came before `error`."""

    index: int  # of its prompt
    text: str = ""
    tokens: list[int] = field(default_factory=list)
    finish: str | None = None  # "eos", "stop", "length", "context"; None: failed
    error: Error | None = None


class EngineSession(Session):
    """A session of an engine: `prompt` only stores the prompt, and Engine.step runs it."""

    def __init__(self, engine: Engine, **options: Any) -> None:
        self._begin(engine.model, "vouch_engine_session_open", engine, engine._turn.lock, options)


class Engine(Handle):
    """Runs many sequences in shared passes, which read the weights once. Each gets the bytes that it gets alone (law
    L7). One thread at a time uses an engine and its sessions.

    n_sessions: most sessions at once, 1 to 256; 0: 8. n_ctx: most tokens of a sequence; 0: the model's, at most 4096.
    n_cache: tokens that the cache holds; 0: n_sessions * n_ctx. page_size, no_sharing, prompt_cache, n_threads,
    prefill_chunk, kv_type, inter_token_seconds: as vouch_engine_options has them.

    Raises ArgumentError (names the option), TypeError (its type), MemoryShort, Unsupported."""

    _close_function = "vouch_engine_close"

    def __init__(self, model: Model, **options: Any) -> None:
        if not isinstance(model, Model):
            raise wrong("model", "a Model", model)
        parsed = Options(library.vouch_engine_options_default(), options)
        out = ctypes.c_void_p()
        call("vouch_engine_open", ctypes.byref(out), model._pointer(), ctypes.byref(parsed.struct))
        self.model, self._turn = model, Turn(threading.Lock())
        self.n_sessions: int = parsed.struct.n_sessions or 8
        self._events, self._n_events = ctypes.POINTER(_abi.vouch_engine_event)(), ctypes.c_size_t()
        self._open(out, model)

    def close(self) -> None:
        with self._turn:
            super().close()

    def session(self, **options: Any) -> EngineSession:
        """Opens a session of this engine. Options as of Session. Raises as Session does, and ArgumentError where
        n_sessions are open."""
        return EngineSession(self, **options)

    def forget(self) -> None:
        """Drops the pages of prompts that no session uses."""
        with self._turn:
            library.vouch_engine_forget(self._pointer())

    def step(self) -> list[tuple[EngineSession, Step | Error]] | None:
        """Runs one pass for all sessions that have something to do, and returns what it gave: a step, or the failure
        that ended the answer. None: no session has anything to do."""
        with self._turn:
            if not library.vouch_engine_step(self._pointer(), ctypes.byref(self._events), ctypes.byref(self._n_events)):
                return None
            sessions = {user._handle.value: user for user in self._users if not user.closed}
            results = []
            for event in self._events[:self._n_events.value]:
                session = sessions[event.session]
                result = exception(event.status) if event.status else Step(event.step, session._n_top)
                results.append((session, result))
            return results

    def answers(self, prompts: Iterable[Prompt], **options: Any) -> Iterator[Answer]:
        """Answers prompts, n_sessions at a time, in the order in which they end. Each answer is the one that a new
        session with these options gives to its prompt. A prompt that fails gives an answer with `error`; the others go
        on."""
        waiting, running = enumerate(prompts), {}
        idle: list[EngineSession] = []
        everyone: list[EngineSession] = []
        seed = options.get("seed") or 0
        try:
            while True:
                while len(running) < self.n_sessions and (item := next(waiting, None)) is not None:
                    answer = Answer(item[0])
                    if not idle:
                        everyone.append(self.session(**options))
                        idle.append(everyone[-1])
                    try:
                        idle[-1].set_seed(seed)
                        idle[-1].prompt(item[1])
                        running[idle.pop()] = answer
                    except Error as error:
                        answer.error = error
                        yield answer
                if not running:
                    return
                for session, result in self.step() or ():
                    answer = running[session]
                    if isinstance(result, Error):
                        answer.error = result
                    else:
                        answer.text += result.text
                        answer.tokens += result.tokens
                        answer.finish = result.finish
                    if answer.finish or answer.error:
                        idle.append(session)
                        yield running.pop(session)
        finally:
            for session in everyone:
                session.close()

    def run(self, prompts: Iterable[Prompt], **options: Any) -> list[Answer]:
        """All answers, in the order of the prompts."""
        return sorted(self.answers(prompts, **options), key=lambda answer: answer.index)

    @property
    def stats(self) -> dict[str, Any]:
        """Sums since open, as vouch_engine_stats has them."""
        with self._turn:
            return struct_values(library.vouch_engine_get_stats(self._pointer()).contents)

    @property
    def memory(self) -> int:
        """Bytes allocated for the engine, without its sessions."""
        return library.vouch_engine_memory(self._pointer())
