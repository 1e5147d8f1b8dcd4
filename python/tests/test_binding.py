# SPDX-License-Identifier: MIT
import gc
import math
import os
import shutil
import subprocess
import sys
import threading

import pytest
import vouch
from vouch.model import path_of

PROMPTS = ["the river", "a sea", "the the the the the the", "x", [{"role": "user", "content": "the sea"}]]
GREEDY = {"temperature": 0, "max_tokens": 40, "ignore_eos": True}


def text_of(session, prompt):
    return "".join(step.text for step in session.generate(prompt))


def plain(model, prompt, **options):
    with vouch.Session(model, drafters="none", **options) as session:
        return text_of(session, prompt)


# ---------------------------------------------------------------- the same text

@pytest.mark.parametrize("prompt", ["the river", "a sea of the river"])
def test_greedy_text_is_the_commands(model, path, command, prompt):
    output = subprocess.run([command, "run", "--model", path, "--raw", "--temp", "0", "-n", "40", "--ignore-eos",
                             "--prompt", prompt], check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout
    with vouch.Session(model, **GREEDY) as session:
        ours = text_of(session, prompt)
    assert output.decode().rstrip("\n") == ours.rstrip("\n")
    assert len(ours) > 10


def test_without_a_temperature_text_is_greedy(model):
    assert plain(model, "the river", max_tokens=40, ignore_eos=True) == plain(model, "the river", **GREEDY)


@pytest.mark.parametrize("drafters", ["auto", "ngram", "suffix,recycle", "draft"])
@pytest.mark.parametrize("options", [GREEDY, {**GREEDY, "temperature": 1, "seed": 7, "accept": "match"},
                                     {**GREEDY, "temperature": 1, "seed": 7, "accept": "match", "typical_p": 0.9,
                                      "top_n_sigma": 2, "xtc_probability": 0.5, "dry_multiplier": 0.8,
                                      "dry_sequence_breakers": ["\n", "the"]}])
def test_drafters_change_no_byte(model, drafters, options):
    """Law L2, and its check: another seed gives another text."""
    draft = {"draft_model": model} if drafters == "draft" else {}
    with vouch.Session(model, drafters=drafters, n_draft=4, **draft, **options) as session:
        for prompt in PROMPTS:
            session.set_seed(options.get("seed", 0))
            assert text_of(session, prompt) == plain(model, prompt, **options)
        assert session.stats["accepted"] > 0 or drafters != "draft"
    if options["temperature"]:
        assert plain(model, PROMPTS[0], **options) != plain(model, PROMPTS[0], **{**options, "seed": 8})


def test_engine_gives_each_prompt_its_own_answer(model):
    """Law L7: eleven prompts, three at a time."""
    prompts = (PROMPTS + ["sea", "an inner river", "t"]) + ["the"] * 3
    with vouch.Engine(model, n_sessions=3, n_ctx=128) as engine:
        answers = engine.run(iter(prompts), **GREEDY)
        assert engine.stats["generated_tokens"] == 40 * len(prompts)
    assert [a.index for a in answers] == list(range(len(prompts)))
    assert [a.text for a in answers] == [plain(model, p, **GREEDY) for p in prompts]
    assert {a.finish for a in answers} == {"length"}


def test_engine_goes_on_beside_a_prompt_that_fails(model):
    with vouch.Engine(model, n_sessions=2, n_ctx=64) as engine:
        good, long, empty = engine.run(["the", [5] * 100, []], temperature=0, max_tokens=5, ignore_eos=True)
        assert len(good.tokens) == 5 and good.error is None
        assert isinstance(long.error, vouch.ContextFull) and "100" in str(long.error)
        assert isinstance(empty.error, vouch.ArgumentError)
        assert engine.step() is None


# ----------------------------------------------------------------------- steps

def test_steps_tell_the_guesses(model):
    with vouch.Session(model, drafters="draft", draft_model=model, n_draft=3, **GREEDY) as session:
        steps = list(session.generate("the river"))
        assert session.tokens[-40:] == [t for s in steps for t in s.tokens]
        assert session.drafters == "draft"
    assert [s.finish for s in steps[:-1]] == [None] * (len(steps) - 1) and steps[-1].finish == "length"
    guesses = steps[0].guesses
    assert [g.depth for g in guesses] == [0, 1, 2] and guesses[0].parent == -1
    assert steps[0].n_accepted == 3 and steps[0].last == "bonus" and steps[0].tokens[:3] == [g.token for g in guesses]
    assert all(g.verdict == "accepted" and g.drafters == ("draft",) for g in guesses)


def test_log_probabilities_and_logits_agree(model):
    numpy = pytest.importorskip("numpy")
    with vouch.Session(model, logprobs=True, top_logprobs=2, drafters="none", **GREEDY) as session:
        steps = list(session.generate("the river"))
        tokens = session.tokens
        first = len(tokens) - 40
        logits = session.logits(first - 1, 40)
        assert logits.dtype == numpy.float32 and logits.shape == (40, model.n_vocab)
        assert logits.argmax(1).tolist() == tokens[first:]
        out = numpy.empty((2, model.n_vocab), numpy.float32)
        assert session.logits(first - 1, 2, out=out) is out and (out == logits[:2]).all()
        total = numpy.log(numpy.exp(logits[0].astype(numpy.float64)).sum())
        own, best, second = steps[0].logprobs[0]
        assert own == best and own.token == tokens[first] and best.logprob >= second.logprob
        assert math.isclose(own.logprob, float(logits[0].max()) - total, abs_tol=1e-5)
        assert session.logprobs(first, 1, top=2)[0] == [own, best, second]
        p = session.probabilities(first - 1, 1)
        assert p[0, tokens[first]] == 1 and p.sum() == 1


def test_logits_without_numpy(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    with vouch.Session(model, **GREEDY) as session:
        session.prompt("the")
        logits = session.logits()
    assert isinstance(logits, memoryview) and logits.shape[1] == model.n_vocab
    assert all(map(math.isfinite, logits.cast("B").cast("f")))


def test_grammars_bind_answers(model):
    with vouch.Grammar('root ::= "sea" | "river"') as grammar:
        with vouch.Session(model, grammar=grammar, temperature=1) as session:
            for seed in range(5):
                session.set_seed(seed)
                assert text_of(session, "the") in ("sea", "river")
            with pytest.raises(vouch.ArgumentError, match="close the session before its grammar"):
                grammar.close()
    with pytest.raises(vouch.ArgumentError, match="line 1"):
        vouch.Grammar("root ::= (")
    number = {"type": "number", "multipleOf": 0.01}
    with pytest.raises(vouch.Unsupported, match="/multipleOf"):
        vouch.Grammar(schema=number)
    with vouch.Grammar(schema=number, closed=True, lenient=True) as grammar:
        assert [note.split(":")[0] for note in grammar.unbound] == ['"/multipleOf"']
    assert vouch.Grammar(schema={"const": 10**30}).unbound == []


# ------------------------------------------------------------------------ text

def test_text_and_tokens(model):
    ids = model.tokenize("the river", bos=True)
    assert ids[0] == 1 and model.detokenize(ids[1:]).strip("\u2581 ") != ""
    assert model.tokenize(b"\xff\xfe") == model.tokenize(b"\xff") + model.tokenize(b"\xfe")[-1:]
    turn = [{"role": "user", "content": "the </s>"}]
    assert model.render_chat(turn) == "user: the </s>\nassistant:"
    assert 2 not in model.tokenize_chat(turn)
    assert model.tokenize("</s>", special=True)[-1] == 2


# ---------------------------------------------------------------- bad arguments

@pytest.mark.parametrize("options, error, field", [
    ({"temperature": -1}, ValueError, "temperature"), ({"temperature": "hot"}, TypeError, "temperature"),
    ({"top_p": 2}, ValueError, "top_p"), ({"max_tokens": 2**40}, ValueError, "max_tokens"),
    ({"max_tokens": 1.5}, TypeError, "max_tokens"), ({"n_ctx": -5}, ValueError, "ctx"),
    ({"drafters": "magic"}, ValueError, "drafters.*magic"), ({"drafters": 3}, TypeError, "drafters"),
    ({"accept": "always"}, ValueError, "accept.*always"), ({"kv_type": "q2"}, ValueError, "kv_type.*q2"),
    ({"stop": [3]}, TypeError, r"stop\[0\]"), ({"stop": ["a\0"]}, ValueError, r"stop\[0\]"),
    ({"bias": {"a": 1}}, TypeError, "bias"), ({"bias": {10**6: 1.0}}, ValueError, "bias"),
    ({"grammar": "root"}, TypeError, "grammar"), ({"draft_model": object()}, TypeError, "draft_model"),
    ({"ignore_eos": 1}, TypeError, "ignore_eos"), ({"temprature": 1}, TypeError, "temprature"),
    ({"lenience": 0}, ValueError, "lenience"), ({"n_draft": 65}, ValueError, "draft"),
    ({"seed": -1}, ValueError, "seed"), ({"typical_p": 0}, ValueError, "typical_p is 0"),
    ({"xtc_probability": 2}, ValueError, "xtc_probability"), ({"dry_base": 0.5}, ValueError, "dry_base"),
    ({"dry_sequence_breakers": [""]}, ValueError, r"dry_sequence_breakers\[0\]"),
    ({"dry_sequence_breakers": 3}, TypeError, "dry_sequence_breakers"),
])
def test_bad_options_name_the_field(model, options, error, field):
    with pytest.raises(error, match=field):
        vouch.Session(model, **options)


def test_paths_have_slashes(path, tmp_path, monkeypatch):
    own = tmp_path / "a\\b.gguf"  # one name, unless this is Windows
    shutil.copy(path, own)
    vouch.Model(own).close()
    monkeypatch.setattr(os, "sep", "\\")
    assert path_of("C:\\models\\a.gguf") == b"C:/models/a.gguf"


def test_bad_calls_are_refused(model, tmp_path):
    with pytest.raises(vouch.FileError, match="nowhere.gguf"):
        vouch.Model(tmp_path / "nowhere.gguf")
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(vouch.Error, match="bad.gguf"):
        vouch.Model(tmp_path / "bad.gguf")
    with pytest.raises(vouch.ArgumentError, match="path"):
        vouch.Model("a\0b")
    with pytest.raises(TypeError, match="model"):
        vouch.Session("model.gguf")
    with vouch.Session(model, **GREEDY) as session:
        with pytest.raises(vouch.ArgumentError):
            session.step()
        for prompt, error in (([], ValueError), ([10**6], ValueError), ([1.5], TypeError), (3, TypeError),
                              ([2**40], ValueError), ([{"role": "user"}, 3], Exception), ([5] * 600, vouch.Error)):
            with pytest.raises(error):
                session.prompt(prompt)
        session.prompt([5, 6])
        for first, n in ((-1, 1), (0, 3), (2, 1), (0, 0), (0, 2**31 - 1)):
            with pytest.raises(vouch.ArgumentError, match="sequence of 2 tokens"):
                session.logits(first, n)
        with pytest.raises(vouch.ArgumentError, match="out"):
            session.logits(0, 1, out=bytearray(8))
    with pytest.raises(vouch.ArgumentError, match="closed"):
        session.step()
    with pytest.raises(vouch.ArgumentError, match="token"):
        model.token_bytes(10**6)


# -------------------------------------------------------------------- lifetimes

def test_what_is_used_cannot_be_closed(path):
    model = vouch.Model(path)
    engine = vouch.Engine(model, n_sessions=1, n_ctx=64)
    session = engine.session(**GREEDY)
    with pytest.raises(vouch.ArgumentError, match="n_sessions|sessions"):
        engine.session()
    for owner in (model, engine):
        with pytest.raises(vouch.ArgumentError, match="before its"):
            owner.close()
    session.close()
    engine.close()
    model.close()
    model.close()


def test_the_collector_closes_in_order(path):
    for _ in range(3):
        session = vouch.Session(vouch.Model(path), **GREEDY)
        gc.collect()
        assert text_of(session, "the")
        del session
        gc.collect()


def test_cancel_from_another_thread(model):
    with vouch.Session(model, temperature=0, ignore_eos=True) as session:
        whole = text_of(session, "the")
        steps = session.generate("the")
        text = next(steps).text
        thread = threading.Thread(target=session.cancel)
        thread.start()
        thread.join()
        with pytest.raises(vouch.Cancelled):
            session.step()
        while (step := session.step()).finish is None:
            text += step.text
        assert text + step.text == whole


def test_two_threads_in_one_session_are_refused(model):
    with vouch.Session(model, **GREEDY) as session:
        session.prompt("the")
        with session._turn, pytest.raises(vouch.ArgumentError, match="another thread"):
            session.step()
        assert session.step().tokens


def test_the_module_runs_the_command(command):
    ours = subprocess.run([sys.executable, "-m", "vouch", "--version"], check=True, capture_output=True).stdout
    assert ours.decode() == f"vouch {vouch.__version__}\n"
    assert subprocess.run([sys.executable, "-m", "vouch", "--no-such-flag"], capture_output=True).returncode == 2


def test_a_name_stands_for_a_fetched_model(path, tmp_path, monkeypatch):
    commit = "0123456789" * 4
    folder = tmp_path / "models--owner--name"
    (folder / "refs").mkdir(parents=True)
    (folder / "snapshots" / commit).mkdir(parents=True)
    (folder / "refs" / "main").write_text(commit)
    (folder / "snapshots" / commit / "tiny-F32.gguf").symlink_to(path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("owner/name", "hf:owner/name:F32"):
        with vouch.Model(name) as model:
            assert model.path.endswith(f"{commit}/tiny-F32.gguf")
    with pytest.raises(vouch.FileError, match="owner/other isn't in .* HF_HUB_OFFLINE"):
        vouch.Model("owner/other")
    with pytest.raises(vouch.FileError, match="gone.gguf"):
        vouch.Model("owner/gone.gguf")


def test_answers_are_remembered(model, tmp_path):
    options = {"drafters": "history", "n_draft": 6, "max_tokens": 40, "ignore_eos": True}
    folder = tmp_path / "answers"
    with vouch.DraftMemory(model, folder, n_bytes=1 << 20) as memory:
        texts, accepted = [], []
        for scope in (1, 1, 2):
            with vouch.Session(model, draft_memory=memory, scope=scope, **options) as session:
                texts.append(text_of(session, "the river"))
                accepted.append(session.stats["accepted"])
        assert texts[0] == texts[1] == texts[2]
        assert accepted[0] == accepted[2] == 0 < accepted[1]
        assert memory.info["n_tokens"] > 0
    with vouch.DraftMemory(model, folder, n_bytes=1 << 20) as memory:
        assert memory.info["n_kept"] == 3
        memory.add([1, 2, 3], scope=7)
        with pytest.raises(vouch.ArgumentError, match="token 0 of the answer is -1"):
            memory.add([-1])
        memory.clear()
        assert memory.info["n_tokens"] == 0
    with pytest.raises(vouch.ArgumentError, match="n_bytes is 9"):
        vouch.DraftMemory(model, n_bytes=9)
    with pytest.raises(TypeError, match="draft_memory: expected a DraftMemory"):
        vouch.Session(model, draft_memory=model)


def test_sessions_are_saved(model, tmp_path):
    path, prompt = tmp_path / "session", list(range(100, 140))
    options = {"max_tokens": 6, "ignore_eos": True}
    with vouch.Session(model, **options) as session:
        with pytest.raises(vouch.ArgumentError, match="no tokens to save"):
            session.save(path)
        first = [token for step in session.generate(prompt) for token in step.tokens]
        session.save(path)
        expected = text_of(session, prompt + first + [7, 8])
    with vouch.Session(model, **options) as session:
        session.load(path)
        assert text_of(session, prompt + first + [7, 8]) == expected
        assert session.stats["prompt_tokens"] == 3
        with pytest.raises(vouch.FileError):
            session.load(tmp_path / "nowhere")
    with vouch.Session(model, kv_type="f32", **options) as session:
        with pytest.raises(vouch.FormatError, match="no session of this model with these options"):
            session.load(path)


def test_adapter_options(path, tmp_path):
    with pytest.raises(vouch.FileError, match="no such adapter"):
        vouch.Model(path, adapters=[tmp_path / "no such adapter.gguf"])
    with pytest.raises(vouch.FormatError, match="is no LoRA adapter"):
        vouch.Model(path, adapters=[path])
    with pytest.raises(TypeError, match="adapters: expected a list of paths"):
        vouch.Model(path, adapters=path)


def test_adapter_scales(model):
    assert model.info["n_adapters"] == 0
    with pytest.raises(vouch.ArgumentError, match="n_adapter_scales is 1, must be 0"):
        vouch.Session(model, adapter_scales=[0.5])
    with pytest.raises(TypeError, match=r"adapter_scales\[0\]: expected a number"):
        vouch.Session(model, adapter_scales=["1"])


def test_prompts_are_kept(model, tmp_path):
    folder, prompt = tmp_path / "prompts", list(range(100, 200))
    texts, n_run = [], []
    for scope in (1, 1, 2):
        with vouch.PromptCache(folder) as cache:
            with vouch.Session(model, prompt_cache=cache, scope=scope, max_tokens=8, ignore_eos=True) as session:
                texts.append(text_of(session, prompt))
                n_run.append(session.stats["prompt_tokens"])
            cache.check()
    assert texts[0] == texts[1] == texts[2]
    assert n_run == [100, 36, 100]
    with vouch.PromptCache(folder, n_bytes=1 << 20) as cache:
        assert cache.info["n_records"] == 2
        with vouch.Engine(model, prompt_cache=cache, n_sessions=2) as engine:
            with engine.session(scope=2, max_tokens=1) as session:
                session.prompt(prompt)
                while engine.step():
                    pass
                assert session.stats["prompt_tokens"] == 36
            engine.forget()
        cache.clear()
        assert cache.info["n_records"] == 0
    with pytest.raises(vouch.ArgumentError, match="n_bytes is 9"):
        vouch.PromptCache(folder, n_bytes=9)


def test_texts_become_vectors(model):
    tokens = model.tokenize("the river")
    with vouch.Session(model, drafters="none") as session:
        last = session.embed(tokens, "last")
        assert len(last) == model.info["n_embd"] and session.embed(tokens, "last") == last
        assert session.embed(tokens, "mean") != last
        with pytest.raises(vouch.ArgumentError, match="pooling"):
            session.embed(tokens)  # the file names none
        with pytest.raises(vouch.ArgumentError, match="at least one token"):
            session.embed([], "mean")
        assert text_of(session, "the river")
