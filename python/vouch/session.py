# SPDX-License-Identifier: MIT
"""Sessions: one sequence of tokens, its answers, and the steps that an answer comes in."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Iterator, Mapping, NamedTuple, Sequence, Union

from . import _abi
from ._library import ArgumentError, call, exception, library, names_of
from .model import Handle, Model
from .options import Options, choice_of, integer_of, path_of, text_of, tokens_of, wrong

# A text (no special tokens), token ids, or a conversation for the model's chat template.
Prompt = Union[str, Sequence[int], Sequence[Mapping[str, Any]]]

FINISHES = [None, *names_of("VOUCH_FINISH_")[1:]]
ORIGINS = names_of("VOUCH_ORIGIN_")
RULES = [library.vouch_accept_name(i).decode() for i in range(_abi.VOUCH_ACCEPTS)] + ["auto"]
VERDICTS = ["accepted", "rejected", "not_reached"]
DRAFTERS = [library.vouch_drafter_name(i).decode() for i in range(_abi.VOUCH_DRAFTERS)]


class Guess(NamedTuple):
    """The judgement of one guess (vouch_guess)."""

    token: int
    parent: int  # index of the guess before it in Step.guesses; -1: it follows the sequence
    depth: int  # guesses before it on its path
    drafters: tuple[str, ...]  # who guessed it
    verdict: str  # "accepted", "rejected" or "not_reached"
    q: float  # the draft's probability
    p: float  # the target's probability
    accept: float  # chance of acceptance
    u: float  # the random number it was compared with; NaN where the rule draws none


class Logprob(NamedTuple):
    """A token (-1: none) and the natural logarithm of its probability, before all sampling parameters."""

    token: int
    logprob: float


class Step:
    """The result of one cycle (vouch_step), which stays valid.

    text: whole characters that may be shown now. tokens: committed by this step; the first n_accepted were guesses.
    last: where the last token came from: "accepted", "plain", "residual" or "bonus". accept, lenience: the rule and its
    lenience. finish: None while the answer goes on, else "eos", "stop", "length" or "context"."""

    __slots__ = ("text", "tokens", "n_accepted", "last", "accept", "lenience", "finish", "_guesses", "_logprobs",
                 "_n_top")

    def __init__(self, step: _abi.vouch_step, n_top: int) -> None:
        self.text: str = ctypes.string_at(step.text, step.n_text).decode() if step.n_text else ""
        self.tokens: list[int] = step.tokens[:step.n_tokens]
        self.n_accepted: int = step.n_accepted
        self.last: str = ORIGINS[step.last]
        self.accept: str = RULES[step.accept]
        self.lenience: float = step.lenience
        self.finish: str | None = FINISHES[step.finish]
        # Only their bytes are taken here. They become objects when they are asked for.
        self._guesses = bytes_of(step.guesses, step.n_guesses, _abi.vouch_guess)
        self._logprobs = bytes_of(step.logprobs, step.n_tokens * (1 + n_top), _abi.vouch_logprob)
        self._n_top = n_top

    @property
    def guesses(self) -> list[Guess]:
        """The draft of this cycle with its verdicts. A guess's parent has a lower index."""
        array = (_abi.vouch_guess * (len(self._guesses) // ctypes.sizeof(_abi.vouch_guess))).from_buffer_copy(
            self._guesses)
        return [Guess(g.token, g.parent, g.depth, tuple(n for i, n in enumerate(DRAFTERS) if g.drafters >> i & 1),
                      VERDICTS[g.verdict], g.q, g.p, g.accept, g.u) for g in array]

    @property
    def logprobs(self) -> list[list[Logprob]]:
        """With the option `logprobs`: for each token its own, then those of the likeliest tokens. Otherwise empty."""
        return rows_of_logprobs(self._logprobs, 1 + self._n_top)

    def __repr__(self) -> str:
        return f"Step(text={self.text!r}, tokens={self.tokens}, n_accepted={self.n_accepted}, finish={self.finish!r})"


def bytes_of(pointer: Any, n: int, kind: type) -> bytes:
    return ctypes.string_at(pointer, n * ctypes.sizeof(kind)) if pointer and n else b""


def rows_of_logprobs(data: bytes, width: int) -> list[list[Logprob]]:
    n = len(data) // ctypes.sizeof(_abi.vouch_logprob)
    flat = [Logprob(l.token, l.logprob) for l in (_abi.vouch_logprob * n).from_buffer_copy(data)]
    return [flat[i:i + width] for i in range(0, n, width)]


def struct_values(struct: ctypes.Structure) -> dict[str, Any]:
    values = ((name, getattr(struct, name)) for name, _ in struct._fields_)
    return {name: list(value) if isinstance(value, ctypes.Array) else value for name, value in values}


class Turn:
    """A call into a session: the only one of its kind at a time. Another thread gets an exception at once, because two
    threads that move one sequence are an error of the caller."""

    def __init__(self, lock: Any) -> None:
        self.lock = lock

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            raise ArgumentError("another thread uses this session or its engine: one thread at a time may")

    def __exit__(self, *_) -> None:
        self.lock.release()


class Session(Handle):
    """One sequence of tokens with its cache, drafters, random stream and statistics. One thread at a time uses it;
    `cancel` may come from any.

    Options are the fields of vouch_session_options, vouch_sampling and vouch_speculation, among them n_ctx, n_threads,
    kv_type ("f16", "f32", "q8_0", "q4_0"), max_tokens, stop, grammar, temperature (default 0: greedy), top_k, top_p,
    min_p, typical_p, top_n_sigma, xtc_probability, dry_multiplier, dry_sequence_breakers (a list of texts), seed,
    bias ({token: number}), drafters ("auto", "none", "ngram,suffix", ...), n_draft, accept ("auto", "match", ...),
    lenience, draft_model, head, logprobs, top_logprobs.

    Raises ArgumentError (names the option), TypeError (its type), MemoryShort, Mismatch, Unsupported."""

    _close_function = "vouch_session_close"

    def __init__(self, model: Model, **options: Any) -> None:
        if not isinstance(model, Model):
            raise wrong("model", "a Model", model)
        self._begin(model, "vouch_session_open", model, threading.Lock(), options)

    def _begin(self, model: Model, function: str, owner: Handle, lock: Any, options: dict[str, Any]) -> None:
        parsed = Options(library.vouch_session_options_default(), options)
        out = ctypes.c_void_p()
        self.model, self._turn = model, Turn(lock)
        self._n_top = parsed.struct.top_logprobs
        self._step = _abi.vouch_step()
        with self._turn:
            call(function, ctypes.byref(out), owner._pointer(), ctypes.byref(parsed.struct))
        self._open(out, owner, *parsed.keep)

    def close(self) -> None:
        with self._turn:
            super().close()

    def prompt(self, prompt: Prompt) -> None:
        """Makes the sequence exactly this prompt and begins a new answer. Tokens that the sequence already begins with
        are not run again. Raises ArgumentError (no tokens, an id outside the vocabulary), ContextFull, Cancelled."""
        if isinstance(prompt, str):
            data = prompt.encode("utf-8", "surrogatepass")
            with self._turn:
                call("vouch_session_text", self._pointer(), data, len(data))
            return
        if isinstance(prompt, (list, tuple)) and prompt and isinstance(prompt[0], Mapping):
            prompt = self.model.tokenize_chat(prompt)
        array, n = tokens_of("prompt", prompt)
        with self._turn:
            call("vouch_session_prompt", self._pointer(), array, n)

    def step(self) -> Step:
        """Runs one cycle: draft, score, judge, commit. Raises ArgumentError after the end of the answer, NumericError,
        GrammarError, Cancelled; the sequence then stays at its last commit."""
        with self._turn:
            call("vouch_session_step", self._pointer(), ctypes.byref(self._step))
            return Step(self._step, self._n_top)

    def generate(self, prompt: Prompt) -> Iterator[Step]:
        """The steps of an answer. "".join(step.text for step in ...) is its text."""
        self.prompt(prompt)
        while True:
            step = self.step()
            yield step
            if step.finish:
                return

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the sequence, with what the model has made of it, to a file. Raises ArgumentError (there is nothing to
        save), FileError, MemoryShort."""
        with self._turn:
            call("vouch_session_save", self._pointer(), path_of(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Goes on from a saved session of the same model, kv_type, adapter_scales and scope: a prompt that begins with
        its tokens runs only the others. Raises FileError, FormatError (it doesn't fit), ContextFull, Unsupported."""
        with self._turn:
            call("vouch_session_load", self._pointer(), path_of(path))

    def cancel(self) -> None:
        """The running or the next prompt or step raises Cancelled. Any thread. A cancelled step has changed nothing."""
        library.vouch_session_cancel(self._pointer())

    def pause(self, is_paused: bool = True) -> None:
        """A paused session of an engine takes part in no pass; its answer goes on later with the same bytes."""
        with self._turn:
            library.vouch_session_pause(self._pointer(), bool(is_paused))

    def set_seed(self, seed: int) -> None:
        """The next answer takes its random numbers from this seed, as a new session's first answer does."""
        with self._turn:
            library.vouch_session_set_seed(self._pointer(), integer_of("seed", seed, ctypes.c_uint64))

    def set_lenience(self, lenience: float) -> None:
        """From the next step on. Below 1 the text is lossy. Raises ArgumentError."""
        with self._turn:
            call("vouch_session_set_lenience", self._pointer(), float(lenience))

    def predict(self, text: str | None) -> None:
        """The prediction that the drafter "prediction" copies from, from the next prompt on."""
        data = None if text is None else text_of("text", text)
        with self._turn:
            call("vouch_session_predict", self._pointer(), data, len(data or b""))

    @property
    def tokens(self) -> list[int]:
        """The whole sequence, prompt and answer."""
        n = ctypes.c_size_t()
        with self._turn:
            return library.vouch_session_tokens(self._pointer(), ctypes.byref(n))[:n.value]

    @property
    def stats(self) -> dict[str, Any]:
        """Counters and seconds since open or reset_stats, as vouch_stats has them."""
        with self._turn:
            return struct_values(library.vouch_session_stats(self._pointer()).contents)

    def reset_stats(self) -> None:
        with self._turn:
            library.vouch_session_reset_stats(self._pointer())

    @property
    def rule(self) -> str:
        """The rule in use, such as "match"."""
        return library.vouch_session_rule(self._pointer()).decode()

    @property
    def drafters(self) -> str:
        """The drafters in use, such as "ngram,recycle", or "none"."""
        return library.vouch_session_drafter(self._pointer()).decode()

    @property
    def memory(self) -> int:
        """Bytes allocated for the session."""
        return library.vouch_session_memory(self._pointer())

    def embed(self, tokens: Sequence[int], pooling: str = "") -> list[float]:
        """The tokens as one vector of n_embd numbers, not normalised. pooling: "mean" or "last"; "": as the model's
        file says. They replace the session's sequence. Raises ArgumentError, ContextFull, Cancelled, Unsupported."""
        names = names_of("VOUCH_POOLING_")
        how = choice_of("pooling", pooling, names) if pooling else self.model.info["pooling"]
        array, n = tokens_of("tokens", tokens)
        out = (ctypes.c_float * self.model.info["n_embd"])()
        with self._turn:
            call("vouch_session_embed", self._pointer(), array, n, how, out)
        return list(out)

    def time_pass(self, n_rows: int, reps: int = 5) -> float:
        """Seconds of one pass of n_rows at the end of the sequence, the median of `reps`."""
        seconds = ctypes.c_double()
        n_rows, reps = (integer_of(k, v, ctypes.c_int32) for k, v in (("n_rows", n_rows), ("reps", reps)))
        with self._turn:
            call("vouch_session_time_pass", self._pointer(), n_rows, reps, ctypes.byref(seconds))
        return seconds.value

    def logits(self, first: int = 0, n: int | None = None, out: Any = None) -> Any:
        """Logits of the rows at positions [first, first + n), by default up to the end: row i predicts the token at
        first + i + 1. float32 [n, n_vocab]: a numpy array, or without numpy a memoryview. The library writes into
        `out`, if given, a writable buffer of this shape. The sequence stays as it is. Raises ArgumentError (outside
        the sequence)."""
        return self._rows("vouch_session_logits", first, n, out)

    def probabilities(self, first: int = 0, n: int | None = None, out: Any = None) -> Any:
        """As logits, but rows of p: after the session's sampling parameters and grammar."""
        return self._rows("vouch_session_probabilities", first, n, out)

    def logprobs(self, first: int = 1, n: int | None = None, top: int = 0) -> list[list[Logprob]]:
        """Log probabilities of the sequence's tokens at positions [first, first + n), first >= 1: of each token its
        own, then those of the `top` likeliest. Raises ArgumentError, NumericError."""
        first, n = self._range(first, n)
        top = integer_of("top", top, ctypes.c_int32)
        if not 0 <= top <= 20:
            raise ArgumentError(f"top: expected 0 to 20, got {top}")
        rows = (_abi.vouch_logprob * (n * (1 + top)))()
        with self._turn:
            call("vouch_session_logprobs", self._pointer(), first, n, top, rows)
        return rows_of_logprobs(bytes(rows), 1 + top)

    def _range(self, first: int, n: int | None) -> tuple[int, int]:
        """The rows that are asked for, which lie inside the sequence."""
        length = len(self.tokens)
        first = integer_of("first", first, ctypes.c_int32)
        n = length - first if n is None else integer_of("n", n, ctypes.c_int32)
        if not (0 <= first and 1 <= n <= length - first):
            raise ArgumentError(f"first, n: positions [{first}, {first + n}) are outside the sequence of "
                                f"{length} tokens")
        return first, n

    def _rows(self, function: str, first: int, n: int | None, out: Any) -> Any:
        first, n = self._range(first, n)
        n_vocab = self.model.n_vocab
        if out is None:
            out = floats(n, n_vocab)
        view = memoryview(out)
        if view.format != "f" or view.shape != (n, n_vocab) or not view.c_contiguous or view.readonly:
            raise ArgumentError(f"out: expected a writable contiguous float32 buffer of shape ({n}, {n_vocab}), got "
                                f"format {view.format!r}, shape {view.shape}")
        target = (ctypes.c_float * (n * n_vocab)).from_buffer(view)
        with self._turn:
            call(function, self._pointer(), first, n, target)
        return out


def floats(n: int, width: int) -> Any:
    """Room for [n, width] float32: a numpy array where numpy is there, else a memoryview."""
    try:
        import numpy
    except ImportError:
        return memoryview(bytearray(4 * n * width)).cast("f", (n, width))
    return numpy.empty((n, width), numpy.float32)
