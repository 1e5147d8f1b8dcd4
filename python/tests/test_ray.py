# SPDX-License-Identifier: MIT
"""vouch.ray with two replicas in processes of their own, one of which is killed under load."""
import asyncio
import json
import os
import signal
import urllib.error
import urllib.request

import pytest
import vouch

ray = pytest.importorskip("ray", reason="no ray: pip install 'ray[data,serve]'")
pytest.importorskip("ray.serve")
pytest.importorskip("ray.data")
OPTIONS = {"temperature": 0, "max_tokens": 60, "ignore_eos": True}
PROMPTS = [f"{beginning} {i}" for i in range(10) for beginning in ("the river " * 30, "a sea in the " * 30, "th")]


@pytest.fixture(scope="module")
def cluster():
    folder = os.path.dirname(os.path.dirname(vouch.__file__))
    tests = os.path.dirname(__file__)
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False,
             runtime_env={"env_vars": {"PYTHONPATH": f"{folder}:{tests}"}})
    yield
    ray.serve.shutdown()
    ray.shutdown()


@pytest.fixture(scope="module")
def expected(path):
    """The answers of one process."""
    with vouch.Model(path) as model, vouch.Engine(model, n_sessions=4, n_threads=1) as engine:
        return [answer.text for answer in engine.run([model.tokenize(p, bos=True) for p in PROMPTS], **OPTIONS)]


def ask(body):
    request = urllib.request.Request("http://127.0.0.1:8765/", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def test_replicas_answer_though_one_is_killed(cluster, path, expected):
    from vouch.ray import application
    ray.serve.start(http_options={"host": "127.0.0.1", "port": 8765})
    handle = ray.serve.run(application(path, engine={"n_sessions": 4, "n_threads": 1}, options=OPTIONS))

    calm = [ask({"prompt": prompt}) for prompt in PROMPTS]
    assert [reply["text"] for reply in calm] == expected
    by_beginning = {}
    for prompt, reply in zip(PROMPTS, calm):
        if len(prompt) > 100:  # of a prompt shorter than a page, all tokens choose
            by_beginning.setdefault(prompt[:50], set()).add(reply["process"])
    assert [len(processes) for processes in by_beginning.values()] == [1, 1]
    processes = {reply["process"] for reply in calm}
    assert len(processes) == 2

    replies = [handle.answer.remote({"prompt": prompt}) for prompt in PROMPTS * 8]
    replies[0].result(timeout_s=120)
    victim = calm[0]["process"]
    os.kill(victim, signal.SIGKILL)
    late = [handle.answer.remote({"prompt": prompt}) for prompt in PROMPTS]
    answers = [r.result(timeout_s=120) for r in replies]
    assert [answer["text"] for answer in answers] == expected * 8
    # The victim died before it had answered its share: without a second try, requests inside it are lost.
    assert sum(a["process"] == victim for a in answers) < 8 * sum(c["process"] == victim for c in calm)
    assert [r.result(timeout_s=120)["text"] for r in late] == expected

    for body, what in (({"prompt": "the", "temperature": -1}, "temperature"), ({}, "prompt"), ([], "request"),
                       ({"prompt": "the", "grammar": "x"}, "grammar"), ({"prompt": "the", "hot": 1}, "hot")):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(body)
        assert refused.value.code == 400 and what in json.load(refused.value)["error"]


def test_a_batch_resumes_and_has_the_bytes_of_one_process(cluster, path, tmp_path):
    from vouch.ray import Batcher, batch, block_path
    prompts = [*PROMPTS, [5] * 600, [{"role": "user", "content": "the sea"}]]
    alone = Batcher(str(path), str(tmp_path), {"n_threads": 2, "n_sessions": 3}, OPTIONS)
    alone({"block": 0, "first": 0, "prompts": json.dumps(prompts)})
    expected = block_path(tmp_path, 0).read_bytes()
    assert expected.count(b"\n") == len(prompts) and expected.count(b'"error"') == 1

    folder = tmp_path / "batch"
    result = batch(path, prompts, folder, block=5, engine={"n_threads": 1}, **OPTIONS)
    assert result.read_bytes() == expected

    kept, lost = block_path(folder, 0), block_path(folder, 3)
    before = kept.stat().st_mtime_ns
    lost.unlink()
    result.unlink()
    assert batch(path, prompts, folder, block=5, engine={"n_threads": 1}, **OPTIONS).read_bytes() == expected
    assert kept.stat().st_mtime_ns == before and lost.exists()
    with pytest.raises(ValueError, match="another batch"):
        batch(path, prompts[1:], folder, block=5, **OPTIONS)


def test_keys_are_of_whole_pages():
    from vouch.ray import PAGE, prefix_key, score
    ids = list(range(3 * PAGE))
    assert prefix_key(ids, 2) == prefix_key([*ids[:2 * PAGE], 7, 7], 2) != prefix_key([1, *ids[1:]], 2)
    assert prefix_key(ids[:PAGE + 5], 2) == prefix_key(ids[:PAGE], 2)
    # A replica that goes takes only its own keys along.
    replicas, keys = ["a", "b", "c"], [str(i) for i in range(300)]
    chosen = [min(replicas, key=lambda r: score(k, r)) for k in keys]
    assert [min("ab", key=lambda r: score(k, r)) for k, c in zip(keys, chosen) if c != "c"] == \
        [c for c in chosen if c != "c"]
    assert all(chosen.count(r) > 60 for r in replicas)


def test_a_caller_that_goes_away_frees_its_sequence(model):
    from vouch.ray import EngineThread

    async def scenario():
        worker = EngineThread(model, {"n_sessions": 1, "n_ctx": 512, "n_threads": 1})
        task = asyncio.create_task(worker.answer([5, 6], {"max_tokens": 400, "ignore_eos": True, "temperature": 0}))
        while not worker.running:
            await asyncio.sleep(0.001)
        task.cancel()
        reply = await worker.answer([5, 6], {"max_tokens": 3, "ignore_eos": True, "temperature": 0})
        assert len(reply["tokens"]) == 3 and not worker.running
        assert "max_tokens" in (await worker.answer([5], {"max_tokens": "x"}))["error"]
        worker.close()
        assert worker.engine.closed and not worker.thread.is_alive()

    asyncio.run(scenario())
