# SPDX-License-Identifier: MIT
"""vouch on several processes or machines, on Ray: a Ray Serve deployment of replicas, and batches over Ray Data.

                    ┌─ Replica: an engine in its process ─┐
    request ─► Front ─► PrefixRouter ─► Replica           │ each answer has the bytes that it has alone (law L7),
                    └─ Replica                           ─┘ so a lost replica's requests are asked again elsewhere

    python -m vouch.ray batch MODEL --prompts FILE --out FOLDER     docs/deploy.md has examples

Needs ray[serve,data] (pip install "vouch[ray]").
"""
from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import pathlib
import queue
import threading
from typing import Any, Iterable, Sequence

import ray
import ray.data
from ray import serve
from ray.exceptions import RayActorError
from ray.serve.config import RequestRouterConfig
from ray.serve.request_router import RequestRouter

from . import Engine, Error, Model
from .options import FILES, HANDLES, wrong

PAGE = 64  # tokens of a page of the engine's cache, which equal prefixes share

# ------------------------------------------------------------------------ replicas


class EngineThread:
    """An engine with the thread that runs it. Requests come from an event loop, and wait while n_sessions run."""

    def __init__(self, model: Model, options: dict[str, Any]) -> None:
        self.engine = Engine(model, **options)
        self.requests: queue.SimpleQueue = queue.SimpleQueue()
        self.running: dict[Any, list] = {}  # session -> [loop, future, text, tokens]
        self.thread = threading.Thread(target=self._run, name="vouch engine", daemon=True)
        self.thread.start()

    async def answer(self, ids: Sequence[int], options: dict[str, Any]) -> dict[str, Any]:
        """{"text", "tokens", "finish"}, or {"error"}. A caller that goes away frees its sequence within one pass."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self.requests.put((loop, future, ids, options))
        return await future

    def close(self) -> None:
        """Ends the thread and closes the engine. Running answers fail."""
        self.requests.put(None)
        self.thread.join()

    def _run(self) -> None:
        while self._admit():
            for session in [s for s, request in self.running.items() if request[1].cancelled()]:
                self._end(session, None)
            for session, result in self.engine.step() or ():
                request = self.running[session]
                if isinstance(result, Error):
                    self._end(session, {"error": str(result)})
                    continue
                request[2] += result.text
                request[3] += result.tokens
                if result.finish:
                    self._end(session, {"text": request[2], "tokens": request[3], "finish": result.finish})
        for session in list(self.running):
            self._end(session, {"error": "the engine was closed"})
        self.engine.close()

    def _admit(self) -> bool:
        """Takes waiting requests while there is room. Sleeps where nothing runs and nothing waits. False: close."""
        while len(self.running) < self.engine.n_sessions and not (self.running and self.requests.empty()):
            request = self.requests.get()
            if request is None:
                return False
            loop, future, ids, options = request
            session = None
            try:
                session = self.engine.session(**options)
                session.prompt(ids)
                self.running[session] = [loop, future, "", []]
            except (Error, TypeError) as error:
                if session is not None:
                    session.close()
                self._reply(loop, future, {"error": str(error)})
        return True

    def _end(self, session: Any, reply: dict[str, Any] | None) -> None:
        loop, future, *_ = self.running.pop(session)
        session.close()
        if reply is not None:
            self._reply(loop, future, reply)

    @staticmethod
    def _reply(loop: asyncio.AbstractEventLoop, future: asyncio.Future, reply: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(lambda: future.done() or future.set_result(reply))


class Replica:
    """One engine in one process."""

    def __init__(self, model: str, engine: dict[str, Any]) -> None:
        self.worker = EngineThread(Model(model), engine)

    async def answer(self, key: str, ids: Sequence[int], options: dict[str, Any]) -> dict[str, Any]:
        """`key` is the router's. The reply says who answered."""
        reply = await self.worker.answer(ids, options)
        return {**reply, "process": os.getpid()}

    def check_health(self) -> None:
        if not self.worker.thread.is_alive():
            raise RuntimeError("the engine's thread has ended")


class PrefixRouter(RequestRouter):
    """Sends a request to the replica that its key prefers (rendezvous hashing): equal beginnings of prompts meet their
    pages in one replica's cache. When a replica comes or goes, only its own keys move. A full replica's requests go to
    the next in the key's order."""

    async def choose_replicas(self, candidate_replicas, pending_request=None):
        key = pending_request.args[0] if pending_request is not None and pending_request.args else ""
        return [[replica] for replica in sorted(candidate_replicas, key=lambda r: score(key, r.replica_id.unique_id))]


def score(key: str, replica: str) -> bytes:
    return hashlib.blake2b(f"{key} {replica}".encode(), digest_size=8).digest()


def prefix_key(ids: Sequence[int], pages: int) -> str:
    """A hash of the first pages of a prompt, as far as they are whole; of all of it if it is shorter than a page."""
    n = min(pages, len(ids) // PAGE) * PAGE or len(ids)
    return hashlib.blake2b(json.dumps(list(ids[:n])).encode(), digest_size=8).hexdigest()


class Front:
    """Takes requests, turns prompts into tokens, and asks the replicas. It holds the tokenizer only."""

    def __init__(self, replicas: Any, model: str, options: dict[str, Any], pages: int, tries: int) -> None:
        self.replicas, self.options, self.pages, self.tries = replicas, options, pages, tries
        self.model = Model(model, text_only=True)

    async def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answers {"prompt": text or ids} or {"messages": [...]}, with options of a session beside them."""
        try:
            ids, options = self.read(request)
        except (Error, TypeError, ValueError) as error:
            return {"error": str(error)}
        for attempt in range(self.tries):
            try:
                return await self.replicas.answer.remote(prefix_key(ids, self.pages), ids, options)
            except RayActorError:  # the replica is gone: another one gives the same bytes
                await asyncio.sleep(min(0.1 * 2**attempt, 5))
        return {"error": f"no replica answered in {self.tries} tries", "status": 503}

    def read(self, request: object) -> tuple[list[int], dict[str, Any]]:
        if not isinstance(request, dict):
            raise wrong("request", "an object", request)
        options = {**self.options, **request}
        prompt, messages = options.pop("prompt", None), options.pop("messages", None)
        if (prompt is None) == (messages is None):
            raise ValueError("prompt, messages: expected one of them")
        for name in (*HANDLES, *FILES):
            if name in request:
                raise ValueError(f"{name}: not supported in a request")
        if messages is not None:
            return self.model.tokenize_chat(messages), options
        return self.model.tokenize(prompt, bos=True) if isinstance(prompt, str) else list(prompt), options

    async def __call__(self, request: Any) -> Any:
        from starlette.responses import JSONResponse
        try:
            body = await request.json()
        except ValueError as error:
            return JSONResponse({"error": f"expected JSON: {error}"}, 400)
        reply = await self.answer(body)
        return JSONResponse(reply, reply.pop("status", 400) if "error" in reply else 200)


def application(model: str, *, n_replicas: int = 2, engine: dict[str, Any] | None = None,
                options: dict[str, Any] | None = None, pages: int = 2, tries: int = 10, n_cpus: float = 1) -> Any:
    """A Ray Serve application: serve.run(application("m.gguf")). POST / takes {"prompt": ...} or {"messages": [...]}
    with options of vouch.Session and returns {"text", "tokens", "finish"}.

    model: a path on every node. engine: options of vouch.Engine. options: defaults of requests. pages: pages of a
    prompt's beginning, of 64 tokens, that choose the replica. tries: replicas that a request may lose.
    n_cpus: processors that Ray reserves for a replica; set n_threads in `engine` to the same number."""
    engine = dict(engine or {})
    replicas = serve.deployment(Replica).options(
        name="vouch", num_replicas=n_replicas, ray_actor_options={"num_cpus": n_cpus},
        max_ongoing_requests=4 * (engine.get("n_sessions") or 8),
        request_router_config=RequestRouterConfig(request_router_class=PrefixRouter)).bind(str(model), engine)
    front = serve.deployment(Front).options(name="front", max_ongoing_requests=1000, ray_actor_options={"num_cpus": 0})
    return front.bind(replicas, str(model), dict(options or {}), pages, tries)


# ------------------------------------------------------------------------- batches


class Batcher:
    """Answers the prompts of a block and writes the block's file, completely or not at all."""

    def __init__(self, model: str, folder: str, engine: dict[str, Any], options: dict[str, Any]) -> None:
        self.folder, self.options = pathlib.Path(folder), options
        self.engine = Engine(Model(model), **engine)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        first, prompts = int(row["first"]), json.loads(row["prompts"])
        answers = self.engine.run(prompts, **self.options)
        lines = [json.dumps({"index": first + a.index, **result_of(a)}, ensure_ascii=False) + "\n" for a in answers]
        path = block_path(self.folder, int(row["block"]))
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text("".join(lines), encoding="utf-8")
        temporary.rename(path)
        return {"block": int(row["block"])}


def result_of(answer: Any) -> dict[str, Any]:
    if answer.error is not None:
        return {"error": str(answer.error)}
    return {"text": answer.text, "finish": answer.finish, "tokens": len(answer.tokens)}


def block_path(folder: pathlib.Path, block: int) -> pathlib.Path:
    return folder / f"block-{block:06d}.jsonl"


def batch(model: str, prompts: Iterable[Any], folder: str | os.PathLike[str], *, n_replicas: int = 2, block: int = 64,
          engine: dict[str, Any] | None = None, n_cpus: float = 1, **options: Any) -> pathlib.Path:
    """Answers prompts (as of vouch.Session.prompt) with replicas over Ray Data, and returns folder/answers.jsonl: a
    line {"index", "text", "finish", "tokens"} or {"index", "error"} for each, in order. The bytes are those of one
    process.

    folder: seen by all nodes. Blocks of prompts are its files; a batch that is begun again does only the blocks that
    are missing. Raises ValueError if the folder has another batch: other prompts, options or another model."""
    target, prompts = pathlib.Path(folder), list(prompts)
    target.mkdir(parents=True, exist_ok=True)
    with Model(model, text_only=True) as facts:
        claim_folder(target, {"model": facts.info["digest"], "options": options, "block": block, "prompts":
                              hashlib.blake2b(json.dumps(prompts).encode(), digest_size=16).hexdigest()})
    rows = [{"block": i // block, "first": i, "prompts": json.dumps(prompts[i:i + block])}
            for i in range(0, len(prompts), block)]
    missing = [row for row in rows if not block_path(target, row["block"]).exists()]
    if missing:
        data = ray.data.from_items(missing, override_num_blocks=len(missing))
        done = data.map(Batcher, compute=ray.data.ActorPoolStrategy(size=n_replicas), num_cpus=n_cpus,
                        fn_constructor_args=(str(model), str(target.resolve()), dict(engine or {}), options))
        done.take_all()
    result = target / "answers.jsonl"
    temporary = target / "answers.tmp"
    with open(temporary, "wb") as file:
        for row in rows:
            file.write(block_path(target, row["block"]).read_bytes())
    temporary.rename(result)
    return result


def claim_folder(folder: pathlib.Path, batch: dict[str, Any]) -> None:
    """Writes what the batch is, or compares with the batch that was begun here."""
    path = folder / "batch.json"
    text = json.dumps(batch, sort_keys=True)
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != text:
        raise ValueError(f"{path}: the folder has another batch (model, options or prompts differ): "
                         "choose another folder")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m vouch.ray", description="vouch over Ray")
    commands = parser.add_subparsers(required=True)
    parse = commands.add_parser("batch", help="answer many prompts, resumable")
    parse.add_argument("model")
    parse.add_argument("--prompts", required=True, help='a file of lines: {"prompt": ...} or {"messages": [...]}')
    parse.add_argument("--out", required=True, help="the folder of the answers")
    parse.add_argument("--replicas", type=int, default=2)
    parse.add_argument("--options", type=json.loads, default={}, help='options of a session: {"max_tokens": 100}')
    given = parser.parse_args(arguments)
    prompts = []
    with open(given.prompts, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                item = json.loads(line)
                prompts.append(item["messages"] if "messages" in item else item["prompt"])
            except (ValueError, KeyError, TypeError) as error:
                parser.error(f'{given.prompts}:{number}: expected {{"prompt": ...}} or {{"messages": [...]}}: '
                             f'{error!r}')
    print(batch(given.model, prompts, given.out, n_replicas=given.replicas, **given.options))


if __name__ == "__main__":
    main()
