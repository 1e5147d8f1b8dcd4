# SPDX-License-Identifier: MIT
"""Tests of models by their names, against the hub of hub.py:  drive.py VOUCH CASE [FOLDER [MODEL]]

FOLDER is empty, MODEL a small GGUF file. Exit status 77: something optional is missing.
"""

import base64
import concurrent.futures
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time

from hub import Hub

VOUCH, CASE, FOLDER = sys.argv[1], sys.argv[2], sys.argv[3]
MODEL = sys.argv[4] if len(sys.argv) > 4 else None
QUICK = os.environ.get("VOUCH_TEST_TIER", "test") != "test"
WINDOWS = os.environ.get("VOUCH_TEST_TIER") == "windows"


def environment(hub, folder, token=None, **more):
    kept = {
        name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TMPDIR") if name in os.environ
    }
    kept.update(HOME=folder, HF_ENDPOINT=hub.address, HF_HUB_DOWNLOAD_TIMEOUT="1")
    if WINDOWS:  # where homes are folders of Wine's own
        kept.update(XDG_CACHE_HOME=folder + "/.cache", OLLAMA_MODELS=folder + "/.ollama/models")
    kept.update(more)
    if token:
        kept["HF_TOKEN"] = token
    return kept


def run(hub, folder, *arguments, code=0, timeout=60, token=None, **more):
    """Standard output and standard error of the command, which has to end with this exit status."""
    done = subprocess.run(
        [VOUCH, *arguments],
        env=environment(hub, folder, token, **more),
        capture_output=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    if code is not None and done.returncode != code:
        sys.exit(f"{arguments}: exit status {done.returncode}, expected {code}\n{out}{err}")
    return (out, err) if code is not None else (done.returncode, out, err)


def needs_links():
    if WINDOWS:
        print("skipped: Wine makes and sees no links")
        sys.exit(77)


def says(text, *words):
    for word in words:
        if word not in text:
            sys.exit(f"{word!r} isn't in: {text}")


def same(a, b):
    if a != b:
        sys.exit(f"{a!r} is not {b!r}")


def files_below(folder):
    """{path: content, or what a link leads to}"""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if os.path.islink(path):
                found[os.path.relpath(path, folder)] = "-> " + os.readlink(path)
            else:
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found


def cache_of(folder):
    return os.path.join(folder, ".cache", "huggingface", "hub")


def noise(seed, n):
    return random.Random(seed).randbytes(n)


def model_noise(seed, n):
    """What is taken for a GGUF file by its first bytes."""
    return b"GGUF" + noise(seed, n - 4)


def expect_cache(hub, folder, repository, names):
    """The cache holds these files of the repository, and nothing else but locks. Wine makes no links, so there the
    files lie in the snapshot."""
    found = hub.repositories[repository]
    base = "models--" + repository.replace("/", "--")
    expected = {f"{base}/refs/main": found["commit"].encode()}
    for name in names:
        content = found["files"][name]
        digest = hashlib.sha256(content).hexdigest()
        if len(content) < 10000:
            digest = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        link = "-> " + "../" * (2 + name.count("/")) + "blobs/" + digest
        expected[f"{base}/snapshots/{found['commit']}/{name}"] = content if WINDOWS else link
        if not WINDOWS:
            expected[f"{base}/blobs/{digest}"] = content
    got = {path: content for path, content in files_below(cache_of(folder)).items() if not path.startswith(".locks/")}
    same(sorted(got), sorted(expected))
    for path, content in expected.items():
        if got[path] != content:
            sys.exit(f"{path} has other bytes")


# ------------------------------------------------------------------------- cases


def names_choose_files(hub):
    files = {
        name: name.encode()
        for name in (
            "m-Q8_0.gguf",
            "m-Q4_K_M.gguf",
            "m-Q4_0.gguf",
            "mmproj-F16.gguf",
            "mtp-m-Q4_K_M.gguf",
            "README.md",
            "big/m-BF16-00001-of-00002.gguf",
            "big/m-BF16-00002-of-00002.gguf",
        )
    }
    hub.add("a/m", files)
    hub.add("a/only", {"weights.gguf": b"one"})
    hub.add("a/two", {"x-Q4_K_M.gguf": b"x", "y-Q4_K_M.gguf": b"y"})
    hub.add("a/part", {"m-Q4_K_M-00001-of-00002.gguf": b"one"})
    hub.add(
        "a/folder",
        {
            "config.json": b"{}",
            "model.safetensors": b"w",
            "tokenizer.json": b"{}",
            "run.py": b"",
            "onnx/model.onnx": b"",
            "README.md": b"",
        },
    )
    hub.add("a/none", {"README.md": b""})
    for word, expected in (
        ("a/m", "m-Q4_K_M.gguf"),
        ("a/m:q8_0", "m-Q8_0.gguf"),
        ("hf:a/m:Q4_0", "m-Q4_0.gguf"),
        ("a/m:mtp-m-Q4_K_M.gguf", "mtp-m-Q4_K_M.gguf"),
        ("hf://a/m/m-Q8_0.gguf", "m-Q8_0.gguf"),
        ("a/m:BF16", "big/m-BF16-00001-of-00002.gguf"),
        ("a/only", "weights.gguf"),
        (hub.address + "/a/m/resolve/main/m-Q4_0.gguf", "m-Q4_0.gguf"),
        (hub.address + "/a/m/blob/main/m-Q4_0.gguf?download=true", "m-Q4_0.gguf"),
        ("a/m@" + hub.repositories["a/m"]["commit"], "m-Q4_K_M.gguf"),
    ):
        out, _ = run(hub, FOLDER, "pull", "--print-path", word)
        path = out.strip()
        says(path, "/snapshots/" + hub.repositories["a/only" if "only" in word else "a/m"]["commit"] + "/" + expected)
        with open(path, "rb") as file:
            same(file.read().decode(), "one" if "only" in word else expected)
    same(os.path.exists(path.replace("m-Q4_K_M.gguf", "big/m-BF16-00002-of-00002.gguf")), True)
    folder = run(hub, FOLDER, "pull", "--print-path", "a/folder")[0].strip()
    same(sorted(os.listdir(folder)), ["config.json", "model.safetensors", "tokenizer.json"])
    for word, words in (
        ("a/m:Q9", ("no file of this type", "m-Q8_0.gguf")),
        ("a/two", ("several files", "x-Q4_K_M")),
        ("a/part", ("part of the file is missing",)),
        ("a/none", ("neither a GGUF file nor",)),
        ("a/m:gone.gguf", ("no such file",)),
        ("a/m@v9", ("no such revision", "404")),
    ):
        says(run(hub, FOLDER, "pull", word, code=2)[1], word.split(":")[0].split("@")[0], *words)


def wrong_names_are_refused(hub):
    for word in (
        "a/b:c:d",
        "a/b@",
        "a/b:",
        "hf:a",
        "hf:a/../b",
        "hf:a/b/../../c.gguf",
        "hf:-a/b",
        "ollama:",
        "a/b:x y",
        hub.address + "/a",
        hub.address + "/a/b/tree/main",
        "https://host",
        "https://host/",
        "hf:" + "a" * 300 + "/b",
        "a/b:%2e%2e/x.gguf",
    ):
        _, err = run(hub, FOLDER, "pull", word, code=2)
        says(err, "expected")
    same(files_below(FOLDER), {})
    same(len(hub.log), 0)
    says(run(hub, FOLDER, "pull", code=2)[1], "NAME is missing")
    says(run(hub, FOLDER, "pull", "gone.gguf", code=2)[1], "gone.gguf", "neither a file nor a name")
    says(run(hub, FOLDER, "run", "models/gone.gguf", "hello", code=2)[1], "No such file")
    for arguments in (["=a/m"], ["x=a/m", "x=b/m"], ["x="]):
        words = [word for one in arguments for word in ("--model", one)]
        _, err = run(hub, FOLDER, "serve", *words, code=2)
        says(err, f"--model '{arguments[-1]}'")
    same(len(hub.log), 0)
    for name, value, words in (
        ("HF_ENDPOINT", "ftp://x", "HF_ENDPOINT"),
        ("HF_HUB_DOWNLOAD_TIMEOUT", "0", "[1, 86400]"),
        ("HF_HUB_DOWNLOAD_TIMEOUT", "10x", "HF_HUB_DOWNLOAD_TIMEOUT"),
        ("HF_HUB_DOWNLOAD_TIMEOUT", "1.5", "HF_HUB_DOWNLOAD_TIMEOUT"),
        ("HF_HUB_DOWNLOAD_TIMEOUT", " ", "HF_HUB_DOWNLOAD_TIMEOUT"),
        ("HF_TOKEN", "two words", "HF_TOKEN"),
    ):
        done = subprocess.run(
            [VOUCH, "pull", "a/b"], env={**environment(hub, FOLDER), name: value}, capture_output=True
        )
        same(done.returncode, 2)
        says(done.stderr.decode(), words)


def a_name_runs(hub):
    with open(MODEL, "rb") as file:
        content = file.read()
    hub.add("a/m", {"m-Q4_0.gguf": content})
    plain, _ = run(hub, FOLDER, "run", MODEL, "--temp", "0", "-n", "8", "--raw", "--prompt", "Hello")
    first = ["run", "a/m", "--temp", "0"]
    for arguments in (
        first,
        ["run", "-hf", "a/m:Q4_0", "--temp", "0"],
        ["a/m", "--temp", "0"],
        ["run", "a/m", "--temp", "0", "--draft-model", "hf:a/m"],
    ):
        out, err = run(hub, FOLDER, *arguments, "-n", "8", "--raw", "--prompt", "Hello", HF_HUB_OFFLINE="")
        same(out, plain)
        if arguments is first:
            says(err, "fetching a/m", "kB")
    same(len([e for e in hub.log if e["storage"]]), 1)
    n = len(hub.log)
    run(hub, FOLDER, "run", "a/m", "-n", "2", "--raw", "--prompt", "Hello", HF_HUB_OFFLINE="1")
    same(len(hub.log), n)  # what is here needs no hub
    _, err = run(hub, FOLDER, "run", "a/other", "-n", "2", "--prompt", "Hello", HF_HUB_OFFLINE="1", code=1)
    says(err, "a/other", "HF_HUB_OFFLINE")
    expect_cache(hub, FOLDER, "a/m", ["m-Q4_0.gguf"])
    out, _ = run(hub, FOLDER, "list")
    says(out, "a/m:Q4_0", "qwen35")
    run(hub, FOLDER, "list", "--json", FOLDER + "/list.json")
    with open(FOLDER + "/list.json", encoding="utf-8") as file:
        listed = json.load(file)
    same((listed[0]["name"], listed[0]["bytes"], listed[0]["family"]), ("a/m:Q4_0", len(content), "qwen35"))
    # another commit: pull sees it, run goes on with what is here
    hub.add("a/m", {"m-Q4_0.gguf": content, "new.txt": b""})
    n = len(hub.log)
    run(hub, FOLDER, "run", "a/m", "-n", "2", "--raw", "--prompt", "Hello")
    same(len(hub.log), n)
    run(hub, FOLDER, "pull", "a/m")
    same(len([e for e in hub.log if e["storage"]]), 2 if WINDOWS else 1)  # the blob was here, if links share it
    out, _ = run(hub, FOLDER, "pull", "--print-path", "a/m")
    says(out, hub.repositories["a/m"]["commit"])
    says(run(hub, FOLDER, "rm", "a/m:Q8_0", code=2)[1], "no file of this type")
    says(run(hub, FOLDER, "rm", "a/m")[1], "removed a/m")
    same(files_below(cache_of(FOLDER)), {})
    same(run(hub, FOLDER, "list")[0], "")


def a_drafter_is_found(hub):
    """MODEL, a layer of random weights, drafts for FOLDER/../target.gguf, which has the same tokens and more layers."""
    target = os.path.join(os.path.dirname(MODEL), "target", "target.gguf")
    with open(MODEL, "rb") as file:
        hub.add("a/small", {"small-Q4_0.gguf": file.read()})
    with open(target, "rb") as file:
        hub.add("a/large", {"large-F16.gguf": file.read()})
    asked = ["--temp", "0.8", "--seed", "7", "-n", "24", "--raw", "--prompt", "Hello", "--stats"]
    plain, err = run(hub, FOLDER, "run", target, *asked)
    same("draft" in err.split("rule")[0].split("drafter")[1].split(":")[0].split(","), False)
    run(hub, FOLDER, "pull", "a/small")
    for arguments, is_found in (
        ([], True),
        (["--draft-model", "auto"], True),
        (["--draft-model", "none"], False),
        (["--spec", "none"], False),
        (["--spec", "ngram"], False),
    ):
        out, err = run(hub, FOLDER, "run", target, *asked, *arguments)
        same(out, plain)
        same("drafting with a/small:Q4_0" in err, is_found)
        if is_found:
            says(err, "drafter   draft,", "rule      match, lossless")
    out, err = run(hub, FOLDER, "run", "a/large", *asked)
    same(out, plain)
    says(err, "fetching a/large", "drafting with a/small:Q4_0")
    says(run(hub, FOLDER, "list")[0], "a/small:Q4_0   ")
    says(run(hub, FOLDER, "run", target, *asked, "--spec", "ngram", "--draft-model", "auto", code=2)[1], "exclude")
    # beside the model: what belongs to another model is named and left
    beside = os.path.dirname(target)
    for name in ("SmolLM2-135M-Instruct.head.gguf", "SmolLM2-135M-Instruct.table.gguf"):
        os.symlink(os.path.abspath(os.path.join("models", name)), os.path.join(beside, name))
    with open(os.path.join(beside, "mtp-damaged.gguf"), "wb") as file:
        file.write(b"GGUF damaged")
    out, err = run(hub, FOLDER, "run", target, *asked)
    same(out, plain)
    says(
        err,
        "head.gguf is beside the model, and is left",
        "table.gguf is beside the model, and is left",
        "mtp-damaged.gguf is beside the model, and is left",
        "drafting with a/small:Q4_0",
    )
    run(hub, FOLDER, "rm", "a/small")
    out, err = run(hub, FOLDER, "run", target, *asked, "--draft-model", "auto")
    same(out, plain)
    says(err, "nothing on this machine drafts for the model")


def a_companion_is_found(hub):
    """MODEL's folder has a target and its head, mtp-target.gguf. A head of another model is beside them."""
    beside = os.path.dirname(MODEL)
    target = os.path.join(beside, "target.gguf")
    os.symlink(os.path.abspath("models/SmolLM2-135M-Instruct.head.gguf"), os.path.join(beside, "a.head.gguf"))
    for draw in (["--temp", "0"], ["--temp", "0.8", "--seed", "7"]):
        asked = ["run", target, *draw, "-n", "40", "--raw", "--prompt", "the quick brown", "--ignore-eos", "--stats"]
        plain, err = run(hub, FOLDER, *asked, "--draft-model", "none")
        same("drafting" in err, False)
        out, err = run(hub, FOLDER, *asked)
        same(out, plain)
        says(err, "drafting with mtp-target.gguf", "a.head.gguf is beside the model, and is left", "head:")
        out, err = run(hub, FOLDER, *asked, "--head", os.path.join(beside, "mtp-target.gguf"))
        same("lies beside" in err, False)
        same(run(hub, FOLDER, *asked, "--spec", "none")[0], plain)


def heads_are_chosen_by_name(hub):
    """MODEL's folder has a target and its head, mtp-target.gguf. Where a head is wanted, it is a candidate."""
    beside = os.path.dirname(MODEL)
    target = os.path.join(beside, "target.gguf")
    with open(os.path.join(beside, "mtp-target.gguf"), "rb") as file:
        head = file.read()
    with open(target, "rb") as file:
        model = file.read()
    asked = ["run", target, "--temp", "0", "-n", "20", "--raw", "--prompt", "the quick brown", "--ignore-eos"]
    asked += ["--stats"]
    plain, _ = run(hub, FOLDER, *asked, "--draft-model", "none")
    for i, name in enumerate(("Qwen3-EAGLE3-F16.gguf", "mtp-m-F16.gguf", "m.head.gguf", "any-F16.gguf")):
        repository = f"a/head{i}"
        hub.add(repository, {name: head, "README.md": b"", "imatrix.gguf": b"no head"})
        n = len(hub.log)
        for word in [repository, repository, repository + ":" + name] + [repository + ":F16"] * ("F16" in name):
            out, err = run(hub, FOLDER, *asked, "--head", word)
            same(out, plain)
            says(err, "head:")
        n_lists = len([e for e in hub.log[n:] if "/api/models/" in e["path"]])
        same(n_lists > 1, name.startswith("any"))
        run(hub, FOLDER, *asked, "--head", repository, HF_HUB_OFFLINE="1")
        if not name.startswith("any"):
            for word in (repository, repository + ":F16"):
                says(run(hub, FOLDER, "pull", word, code=2)[1], "no model's", name, "--head")
        says(run(hub, FOLDER, "rm", repository + (":F16" if "F16" in name else ":" + name))[1], "removed")
        same(os.path.exists(os.path.join(cache_of(FOLDER), "models--" + repository.replace("/", "--"))), False)
    # beside a model, which is here already
    hub.add("a/both", {"m-F16.gguf": model, "mtp-m-F16.gguf": head, "m.table.gguf": b"GGUF damaged"})
    run(hub, FOLDER, "pull", "a/both")
    expect_cache(hub, FOLDER, "a/both", ["m-F16.gguf"])
    same(run(hub, FOLDER, *asked, "--head", "a/both:F16")[0], plain)
    expect_cache(hub, FOLDER, "a/both", ["m-F16.gguf", "mtp-m-F16.gguf"])
    says(run(hub, FOLDER, *asked, "--draft-table", "a/both", code=None)[2], "m.table.gguf")
    run(hub, FOLDER, "rm", "a/both:F16")
    expect_cache(hub, FOLDER, "a/both", ["mtp-m-F16.gguf", "m.table.gguf"])
    # a model whose name has a companion's mark
    hub.add("a/my", {"my-assistant-7b-Q4_K_M.gguf": model})
    hub.add("a/pair", {"m-Q8_0.gguf": model, "m-assistant-Q4_K_M.gguf": head})
    for word in ("a/my", "a/my:Q4_K_M"):
        same("left" in run(hub, FOLDER, "run", word, *asked[2:])[1], False)
    row = [line for line in run(hub, FOLDER, "list")[0].splitlines() if line.startswith("a/my")][0]
    same("assistant" in row.split("/snapshots/")[0], False)
    says(row, "a/my:Q4_K_M", "assistant-7b")
    says(run(hub, FOLDER, "pull", "--print-path", "a/pair")[0], "m-Q8_0.gguf")


def a_draft_is_pulled(hub):
    hub.add(
        "a/with",
        {"m-Q4_0.gguf": noise(1, 20000), "mtp-m-Q8_0.gguf": noise(2, 20000), "mtp-m-Q4_0.gguf": noise(3, 15000)},
    )
    hub.add("a/Qwen3-8B-GGUF", {"Qwen3-8B-Q4_K_M.gguf": noise(4, 20000)})
    hub.add("Qwen/Qwen3-0.6B-GGUF", {"Qwen3-0.6B-Q8_0.gguf": noise(5, 20000)})
    hub.add("a/none", {"m.gguf": noise(6, 20000)})
    run(hub, FOLDER, "pull", "a/with", "--with-draft")
    expect_cache(hub, os.path.join(FOLDER), "a/with", ["m-Q4_0.gguf", "mtp-m-Q4_0.gguf"])
    run(hub, FOLDER, "rm", "a/with")
    _, err = run(hub, FOLDER, "pull", "a/Qwen3-8B-GGUF", "--with-draft")
    says(err, "fetching a/Qwen3-8B-GGUF", "fetching Qwen/Qwen3-0.6B-GGUF")
    says(run(hub, FOLDER, "list")[0], "Qwen/Qwen3-0.6B-GGUF:Q8_0", "a/Qwen3-8B-GGUF:Q4_K_M")
    _, err = run(hub, FOLDER, "pull", "Qwen/Qwen3-0.6B-GGUF", "--with-draft")
    says(err, "no small model of its family is known")
    _, err = run(hub, FOLDER, "pull", "a/none", "--with-draft")
    says(err, "no small model of its family is known")


def one_type_is_removed(hub):
    hub.add("a/m", {"m-Q4_0.gguf": noise(1, 20000), "m-Q8_0.gguf": noise(2, 30000)})
    run(hub, FOLDER, "pull", "a/m:Q4_0")
    run(hub, FOLDER, "pull", "a/m:Q8_0")
    expect_cache(hub, FOLDER, "a/m", ["m-Q4_0.gguf", "m-Q8_0.gguf"])
    says(run(hub, FOLDER, "rm", "a/m:Q8_0")[1], "30 kB")
    expect_cache(hub, FOLDER, "a/m", ["m-Q4_0.gguf"])


def one_revision_is_removed(hub):
    """Other revisions stay, and so do blobs that they need."""
    needs_links()
    shared, first, second = noise(1, 20000), noise(2, 15000), noise(3, 30000)
    hub.add("a/m", {"m-Q4_0.gguf": shared, "m-Q8_0.gguf": first})
    old = hub.repositories["a/m"]["commit"]
    for part in ("Q4_0", "Q8_0"):
        run(hub, FOLDER, "pull", "a/m:" + part)
    hub.add("a/m", {"m-Q4_0.gguf": shared, "m-Q8_0.gguf": second})
    for part in ("Q4_0", "Q8_0"):
        run(hub, FOLDER, "pull", "a/m:" + part)
    before = files_below(FOLDER)
    for word in ("a/m@nosuchrevision", "a/m@" + "0" * 40, "a/m@nosuchrevision:Q4_0"):
        says(run(hub, FOLDER, "rm", word, code=2)[1], word, "no such revision is here")
    same(files_below(FOLDER) == before, True)
    says(run(hub, FOLDER, "rm", "a/m@" + old)[1], "15 kB")
    expect_cache(hub, FOLDER, "a/m", ["m-Q4_0.gguf", "m-Q8_0.gguf"])
    says(run(hub, FOLDER, "rm", "a/m@main:Q8_0")[1], "30 kB")
    expect_cache(hub, FOLDER, "a/m", ["m-Q4_0.gguf"])
    says(run(hub, FOLDER, "rm", "a/m@main")[1], "20 kB")
    same(files_below(cache_of(FOLDER)), {})
    says(run(hub, FOLDER, "rm", "a/m", code=2)[1], "not here")


def failed_updates_hide_nothing(hub):
    with open(MODEL, "rb") as file:
        content = file.read()
    asked = ("-n", "2", "--raw", "--prompt", "Hello")
    hub.add("a/m", {"m-Q4_0.gguf": content})
    run(hub, FOLDER, "pull", "a/m")
    before, n = files_below(cache_of(FOLDER)), len(content)
    hub.add("a/m", {"m-Q4_0.gguf": content + bytes(32)})
    hub.faults.append({"where": "storage", "do": "status", "status": 500, "always": True})
    for kill in (False, True):
        if kill:
            hub.faults[0] = {"where": "storage", "do": "silence", "at": n // 2}
            kill_in_mid_pull(hub, "a/m")
        else:
            run(hub, FOLDER, "pull", "a/m", code=1)
        found = files_below(cache_of(FOLDER))
        same({path for path in before if found.get(path) != before[path]}, set())
        run(hub, FOLDER, "run", "a/m", *asked, HF_HUB_OFFLINE="1")
        run(hub, FOLDER, "run", "a/m", *asked)
        says(run(hub, FOLDER, "list")[0], "a/m:Q4_0")
    # a snapshot that no ref names, as other programs and earlier versions leave it
    base = os.path.join(cache_of(FOLDER), "models--a--m")
    with open(os.path.join(base, "refs/main"), "w", encoding="ascii") as file:
        file.write(hub.repositories["a/m"]["commit"])
    run(hub, FOLDER, "run", "a/m", *asked, HF_HUB_OFFLINE="1")
    says(run(hub, FOLDER, "list")[0], "a/m:Q4_0")
    hub.faults.clear()
    run(hub, FOLDER, "pull", "a/m")
    says(run(hub, FOLDER, "list")[0], hub.repositories["a/m"]["commit"])


def all_snapshots_are_searched(hub):
    with open(MODEL, "rb") as file:
        content = file.read()
    files = {"m-Q4_0.gguf": content, "m-Q8_0.gguf": content + bytes(32)}
    hub.add("a/m", files)
    run(hub, FOLDER, "pull", "a/m:Q4_0")
    hub.add("a/m", {**files, "README.md": b"edited"})
    run(hub, FOLDER, "pull", "a/m:Q8_0")
    out, _ = run(hub, FOLDER, "list")
    same([line.split()[0] for line in out.splitlines()], ["name", "a/m:Q8_0", "a/m:Q4_0"])
    run(hub, FOLDER, "run", "a/m:Q4_0", "-n", "2", "--raw", "--prompt", "Hello", HF_HUB_OFFLINE="1")
    says(run(hub, FOLDER, "rm", "a/m:Q4_0")[1], "removed a/m:Q4_0", f"{(len(content) + 999) // 1000} kB")
    expect_cache(hub, FOLDER, "a/m", ["m-Q8_0.gguf"])
    says(run(hub, FOLDER, "rm", "a/m:Q4_0", code=2)[1], "no file of this type")
    # a branch that isn't main stands in its models' names
    base = os.path.join(cache_of(FOLDER), "models--a--m")
    os.rename(os.path.join(base, "refs/main"), os.path.join(base, "refs/v1"))
    names = [line.split()[0] for line in run(hub, FOLDER, "list")[0].splitlines()]
    same(names, ["name", "a/m:Q8_0@v1"])
    n = len(hub.log)
    run(hub, FOLDER, "run", names[1], "-n", "2", "--raw", "--prompt", "Hello")
    same(len(hub.log), n)
    run(hub, FOLDER, "rm", names[1])
    same(files_below(cache_of(FOLDER)), {})


def a_fetch_outlives_rm(hub):
    """rm removes what was named, and leaves what another process is fetching."""
    hub.add("a/m", {"m-Q4_0.gguf": noise(1, 20000), "m-Q8_0.gguf": noise(2, 3000000)})
    run(hub, FOLDER, "pull", "a/m:Q4_0")
    base = os.path.join(cache_of(FOLDER), "models--a--m")
    foreign = os.path.join(base, "blobs", "0" * 64 + ".incomplete")
    hub.seconds_per_step = 0.01
    for word, words in (("a/m:Q4_0", ["20 kB"]), ("a/m", ["another process fetches a file of a/m", "stays"])):
        os.makedirs(os.path.dirname(foreign), exist_ok=True)
        with open(foreign, "wb") as file:
            file.write(b"few")
        process = subprocess.Popen([VOUCH, "pull", "a/m:Q8_0"], env=environment(hub, FOLDER), stderr=subprocess.PIPE)
        wait_for(lambda: [p for p in files_below(base) if p.endswith("incomplete") and "0" * 64 not in p])
        says(run(hub, FOLDER, "rm", word)[1], *words)
        same(os.path.exists(foreign), word != "a/m")
        err = process.communicate(timeout=60)[1].decode()
        if process.returncode != 0:
            sys.exit(f"the fetch has ended with {process.returncode}: {err}")
        if word != "a/m":
            os.unlink(foreign)
        expect_cache(hub, FOLDER, "a/m", ["m-Q8_0.gguf"])
        run(hub, FOLDER, "rm", "a/m")
        same(files_below(cache_of(FOLDER)), {})


def other_stores_are_seen(hub):
    with open(MODEL, "rb") as file:
        content = file.read()
    digest = hashlib.sha256(content).hexdigest()
    blobs = os.path.join(FOLDER, ".ollama/models/blobs")
    os.makedirs(blobs)
    with open(os.path.join(blobs, "sha256-" + digest), "wb") as file:
        file.write(content)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:" + digest, "size": len(content)}
    manifests = {
        "registry.ollama.ai/library/tiny/1b": {"layers": [{"mediaType": "text", "digest": "x"}, layer]},
        "registry.ollama.ai/library/tiny/latest": {"layers": [layer]},
        "hf.co/o/n/Q4": {"layers": [layer]},
        "registry.ollama.ai/me/mine/x": {"layers": [layer]},
        "registry.ollama.ai/library/bad/x": {"layers": [5]},
        "registry.ollama.ai/library/out/x": {"layers": [{**layer, "digest": "sha256:../../../x"}]},
    }
    for path, manifest in manifests.items():
        path = os.path.join(FOLDER, ".ollama/models/manifests", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(manifest, file)
    for path in (".lmstudio/models/o/n/studio.gguf", ".cache/llama.cpp/o_n_m.gguf"):
        os.makedirs(os.path.dirname(os.path.join(FOLDER, path)))
        os.symlink(os.path.abspath(MODEL), os.path.join(FOLDER, path))
    out, _ = run(hub, FOLDER, "list")
    says(
        out,
        "ollama:tiny:1b",
        "ollama:tiny:latest",
        "ollama:me/mine:x",
        "ollama:hf.co/o/n:Q4",
        "o_n_m.gguf",
        *([] if WINDOWS else ["studio.gguf"]),
    )
    plain, _ = run(hub, FOLDER, "run", MODEL, "--temp", "0", "-n", "8", "--raw", "--prompt", "Hello")
    for word in ("ollama:tiny:1b", "ollama:tiny", "ollama:hf.co/o/n:Q4", "ollama:me/mine:x"):
        same(run(hub, FOLDER, "run", word, "--temp", "0", "-n", "8", "--raw", "--prompt", "Hello")[0], plain)
    says(run(hub, FOLDER, "pull", "ollama:gone:1b", code=2)[1], "Ollama holds no such model", "ollama:tiny:1b")
    says(run(hub, FOLDER, "pull", "ollama:bad:x", code=1)[1], "no layer")
    says(run(hub, FOLDER, "pull", "ollama:out:x", code=1)[1], "no layer")
    says(run(hub, FOLDER, "rm", "ollama:tiny:1b", code=2)[1], "ollama rm")
    same(len(hub.log), 0)


def tokens_open_what_is_closed(hub):
    hub.add("a/gated", {"m.gguf": noise(1, 20000)}, gated="auto")
    hub.add("a/private", {"m.gguf": noise(2, 20000)}, private=True)
    _, err = run(hub, FOLDER, "pull", "a/gated", code=2)
    says(err, "a/gated", "401", "accept the terms at " + hub.address + "/a/gated", "HF_TOKEN")
    _, err = run(hub, FOLDER, "pull", "a/gated", code=2, token="hf_wrong")
    says(err, "403", "accept the terms", "HF_TOKEN")
    says(
        run(hub, FOLDER, "pull", "a/private", code=2)[1],
        "a/private",
        "no such repository, or it is private",
        "HF_TOKEN",
    )
    says(run(hub, FOLDER, "pull", "a/gone", code=2)[1], "a/gone", "no such repository")
    run(hub, FOLDER, "pull", "a/gated", token=hub.token)
    os.makedirs(os.path.join(FOLDER, ".cache/huggingface"), exist_ok=True)
    with open(os.path.join(FOLDER, ".cache/huggingface/token"), "w", encoding="ascii") as file:
        file.write(hub.token + "\n")
    run(hub, FOLDER, "pull", "a/private")
    same({e["token"] for e in hub.log if e["storage"]}, {None})


def each_failure_has_its_sentence(hub):
    content = noise(3, 50000)
    hub.add("a/m", {"m.gguf": content})
    always = {"always": True}
    cases = (
        ({"where": "storage", "do": "page", **always}, 1, ("a/m/m.gguf", "web page")),
        ({"where": "storage", "do": "pointer", **always}, 1, ("a/m/m.gguf", "Git LFS pointer")),
        ({"where": "list", "do": "page", **always}, 1, ("a/m", "no JSON")),
        ({"where": "list", "do": "garbage", "body": b'{"siblings": []}'}, 1, ("a/m", "`sha`")),
        ({"where": "list", "do": "garbage", "body": b'{"sha": "' + b"0" * 40 + b'"}'}, 1, ("a/m", "`siblings`")),
        (
            {
                "where": "list",
                "do": "garbage",
                "body": json.dumps(
                    {
                        "sha": "0" * 40,
                        "siblings": [{"rfilename": "../../../../evil.gguf", "size": 1, "blobId": "0" * 40}],
                    }
                ).encode(),
            },
            1,
            ("a/m", "rfilename"),
        ),
        (
            {
                "where": "list",
                "do": "garbage",
                "body": json.dumps(
                    {"sha": "0" * 40, "siblings": [{"rfilename": "m.gguf", "size": 1, "blobId": "../../x"}]}
                ).encode(),
            },
            1,
            ("m.gguf", "digest"),
        ),
        (
            {"where": "storage", "do": "wrong", "at": 777, **always},
            1,
            ("a/m/m.gguf", hashlib.sha256(content).hexdigest()),
        ),
        ({"where": "storage", "do": "longer", **always}, 1, ("a/m/m.gguf", "more bytes")),
        ({"where": "file", "do": "circle", **always}, 1, ("a/m/m.gguf", "circle")),
        ({"where": "file", "do": "elsewhere", "to": "file:///etc/passwd", **always}, 1, ("a/m/m.gguf", "isn't safe")),
        ({"where": "storage", "do": "status", "status": 500, **always}, 1, ("a/m/m.gguf", "500", "later")),
        ({"where": "list", "do": "status", "status": 429, "wait": 4000}, 1, ("a/m", "429", "wait 4000 s")),
        ({"where": "file", "do": "refuse", "status": 403, "code": "Blocked"}, 2, ("a/m/m.gguf", "403", "consent")),
        ({"where": "file", "do": "refuse", "status": 410, "code": "Gone"}, 1, ("a/m/m.gguf", "410", "as asked")),
        ({"where": "storage", "do": "silence", "at": 0, **always}, 1, ("a/m/m.gguf", "sent nothing for 1 s")),
        ({"where": "storage", "do": "drop", "at": 100, "hard": True, **always}, 1, ("a/m/m.gguf", "127.0.0.1")),
    )

    def one(i):
        fault, code, words = cases[i]
        own = Hub()
        own.add("a/m", {"m.gguf": content})
        own.faults.append(fault)
        folder = os.path.join(FOLDER, str(i))
        os.makedirs(folder)
        _, err = run(own, folder, "pull", "a/m", code=code, token=own.token)
        says(err, *words)
        same([path for path in files_below(folder) if "/snapshots/" in path or path.endswith("evil.gguf")], [])
        same({e["token"] for e in own.log if e["storage"]} <= {None}, True)
        own.faults.clear()
        run(own, folder, "pull", "a/m", token=own.token)
        expect_cache(own, folder, "a/m", ["m.gguf"])
        own.close()

    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        list(pool.map(one, range(len(cases))))
    hub.close()
    says(run(hub, FOLDER, "pull", "a/m", code=1)[1], "a/m", "connect")


def faults_pass(hub):
    """One fault each, which the next try mends."""
    content = noise(4, 3000000)
    hub.add("a/m", {"m.gguf": content})
    faults = [
        {"where": "storage", "do": "drop", "at": 1234567},
        {"where": "storage", "do": "drop", "at": 99, "hard": True},
        {"where": "storage", "do": "status", "status": 503},
        {"where": "storage", "do": "status", "status": 429, "wait": 1},
        {"where": "list", "do": "status", "status": 502},
        {"where": "storage", "do": "silence", "at": 2000000},
        {"where": "storage", "do": "wrong", "at": 5},
        {"where": "file", "do": "status", "status": 500},
    ]

    def one(i):
        own = Hub()
        own.add("a/m", {"m.gguf": content})
        own.faults.append(faults[i])
        folder = os.path.join(FOLDER, str(i))
        os.makedirs(folder)
        run(own, folder, "pull", "a/m")
        expect_cache(own, folder, "a/m", ["m.gguf"])
        at = faults[i].get("at", 0)
        if faults[i]["do"] == "drop":
            same([e["range"] for e in own.log if e["storage"]], [None, f"bytes={at}-"])
        own.close()

    with concurrent.futures.ThreadPoolExecutor(len(faults)) as pool:
        list(pool.map(one, range(len(faults))))


# Bytes per second of the fetches that are killed: so slow that 1 MiB can't wait in the sockets of a busy machine.
SLOW = 5e6


def a_killed_fetch_goes_on(hub):
    content = noise(5, 3000000 if QUICK else 15000000)
    hub.add("a/m", {"m-Q4_0.gguf": content, "README.md": b"text"})
    chance = random.Random(5)
    n_kills = 4 if QUICK else 20
    hub.seconds_per_step = 16384 / SLOW
    for _ in range(n_kills):
        process = subprocess.Popen([VOUCH, "pull", "a/m"], env=environment(hub, FOLDER), stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 1.5 * len(content) / n_kills / SLOW + 0.05))
        process.kill()
        process.wait()
    run(hub, FOLDER, "pull", "a/m")
    expect_cache(hub, FOLDER, "a/m", ["m-Q4_0.gguf"])
    time.sleep(0.2)
    sent = [e for e in hub.log if e["storage"]]
    n_more = sum(e["sent"] for e in sent) - len(content)
    print(f"{n_kills} kills, {len(sent)} requests, {n_more} bytes sent twice")
    same(n_more <= (1 << 20) * max(1, len(sent) - 1), True)
    # each request begins where the file ended: what was received is never asked for again
    begins = [int(e["range"][6:-1]) if e["range"] else 0 for e in sent]
    same(begins, sorted(begins))
    for first, second, entry in zip(begins, begins[1:], sent):
        same(first + entry["sent"] - second <= 1 << 20, True)


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            sys.exit("30 s have passed")
        time.sleep(0.01)


def kill_in_mid_pull(hub, word):
    """Kills a fetch of a repository that has brought some bytes."""
    process = subprocess.Popen([VOUCH, "pull", word], env=environment(hub, FOLDER), stderr=subprocess.DEVNULL)
    wait_for(lambda: [p for p, got in files_below(cache_of(FOLDER)).items() if p.endswith("incomplete") and got])
    process.kill()
    process.wait()


def bytes_on_disk(folder):
    found = files_below(os.path.join(folder, ".cache/vouch/files"))
    return sum(len(content) for path, content in found.items() if not path.endswith((".origin", ".lock")))


def kill_in_mid_fetch(hub, address, wait, folder=FOLDER):
    """Returns the bytes that are on disk afterwards."""
    process = subprocess.Popen([VOUCH, "pull", address], env=environment(hub, folder), stderr=subprocess.DEVNULL)
    wait()
    process.kill()
    process.wait()
    return bytes_on_disk(folder)


def kill_with_bytes_on_disk(hub, address, folder=FOLDER):
    """Kills a fetch that has brought some of the bytes, and not all; the number on disk."""
    return kill_in_mid_fetch(hub, address, lambda: wait_for(lambda: bytes_on_disk(folder)), folder)


def expect_files(hub, path, content, folder=FOLDER):
    """The file is there with these bytes, and nothing beside it."""
    found = files_below(os.path.join(folder, ".cache/vouch/files"))
    same(sorted(found), [f"http#/127.0.0.1#{hub.storage_port}/{path}"])
    same(list(found.values())[0] == content, True)


def a_killed_address_goes_on(hub):
    """By an entity tag, and by a date: no more than 1 MiB of a killed fetch is fetched twice."""
    content = model_noise(15, 3000000 if QUICK else 10000000)
    old = "Mon, 05 Jan 2026 10:00:00 GMT"
    repr_digest = "sha-256=:" + base64.b64encode(hashlib.sha256(content).digest()).decode() + ":"
    chance = random.Random(15)
    for name, headers, condition in (
        ("tag.gguf", [("ETag", '"v1"'), ("Last-Modified", old), ("Repr-Digest", repr_digest)], '"v1"'),
        ("date.gguf", [("Last-Modified", old)], old),
    ):
        hub.plain[name] = {"body": content, "headers": headers}
        address = f"http://127.0.0.1:{hub.storage_port}/{name}"
        hub.seconds_per_step = 16384 / SLOW
        n_kills = 4 if QUICK else 12
        before = len(hub.log)
        for _ in range(n_kills):
            seconds = chance.uniform(0, 1.5 * len(content) / n_kills / SLOW + 0.05)
            kill_in_mid_fetch(hub, address, lambda seconds=seconds: time.sleep(seconds))
        run(hub, FOLDER, "pull", address)
        expect_files(hub, name, content)
        time.sleep(0.2)
        sent = hub.log[before:]
        n_more = sum(e["sent"] for e in sent) - len(content)
        print(f"{name}: {n_kills} kills, {len(sent)} requests, {n_more} bytes sent twice")
        begins = [int(e["range"][6:-1]) if e["range"] else 0 for e in sent]
        same(begins, sorted(begins))
        same({e["if_range"] for e, begin in zip(sent, begins) if begin} <= {condition}, True)
        same(begins[-1] > 0 or len(sent) == 1, True)
        for first, second, entry in zip(begins, begins[1:], sent):
            same(first + entry["sent"] - second <= 1 << 20, True)
        run(hub, FOLDER, "rm", address)


def addresses_begin_anew_where_they_must(hub):
    """Each server's second answer belongs to another file, or to no part of one."""
    first, second = model_noise(16, 3000000), model_noise(17, 3000000)
    tag, other = [("ETag", '"v1"')], [("ETag", '"v2"')]
    old = [("Last-Modified", "Mon, 05 Jan 2026 10:00:00 GMT")]
    new = [("Last-Modified", "Tue, 06 Jan 2026 10:00:00 GMT")]
    for name, before, after, n_ranges in (
        ("another_tag", {"headers": tag}, {"headers": other}, 1),
        ("another_date", {"headers": old}, {"headers": new}, 1),
        ("if_range_is_ignored", {"headers": tag}, {"headers": other, "ranges": "always"}, 1),
        ("a_date_is_ignored", {"headers": old}, {"headers": new, "ranges": "always"}, 1),
        ("another_size", {"headers": tag}, {"headers": [], "ranges": "always", "body": second[:-5]}, 1),
        ("ranges_are_unknown", {"headers": tag, "ranges": "never"}, {"headers": tag, "ranges": "never"}, 1),
        ("shorter_than_what_is_here", {"headers": tag}, {"headers": other, "ranges": "always", "body": b"GGUF"}, 1),
        ("weak_tag", {"headers": [("ETag", 'W/"v1"')]}, {"headers": [("ETag", 'W/"v1"')]}, 0),
        ("nothing_tells_them_apart", {"headers": []}, {"headers": []}, 0),
        ("too_long_a_tag", {"headers": [("ETag", '"' + "x" * 300 + '"')]}, {"headers": []}, 0),
    ):
        path = name + ".gguf"
        address = f"http://127.0.0.1:{hub.storage_port}/{path}"
        hub.plain[path] = {"body": first, **before}
        hub.seconds_per_step = 0.005
        n = kill_with_bytes_on_disk(hub, address)
        same(0 < n < len(first), True)
        hub.plain[path] = {"body": second, **after}
        hub.seconds_per_step = 0
        n = len(hub.log)
        run(hub, FOLDER, "pull", address)
        same(len([e for e in hub.log[n:] if e["range"]]), n_ranges)
        expect_files(hub, path, hub.plain[path]["body"])
        run(hub, FOLDER, "rm", address)
        same(files_below(os.path.join(FOLDER, ".cache/vouch/files")), {})


def parts_are_never_taken_for_the_whole(hub):
    """A 206 that nobody asked for; and one that tells the size after a first answer that did not."""
    content = model_noise(19, 3000000)
    tag, part = [("ETag", '"v1"')], [("Content-Range", "bytes 0-999/3000000")]
    address = f"http://127.0.0.1:{hub.storage_port}/m.gguf"
    hub.plain["m.gguf"] = {"body": content[:1000], "headers": [*tag, *part], "status": 206}
    says(run(hub, FOLDER, "pull", address, code=1)[1], "m.gguf", "206", "asked for the whole")
    same(files_below(os.path.join(FOLDER, ".cache/vouch/files")), {})
    hub.plain["m.gguf"] = {"body": content, "headers": tag, "chunked": True}
    hub.seconds_per_step = 0.005
    n = kill_with_bytes_on_disk(hub, address)
    hub.seconds_per_step = 0
    part = [("Content-Range", f"bytes {n}-{n + 999}/{len(content)}")]
    hub.plain["m.gguf"] = [
        {"body": content[n : n + 1000], "headers": [*tag, *part], "status": 206},
        {"body": content, "headers": tag},
    ]
    before = len(hub.log)
    run(hub, FOLDER, "pull", address)
    same([e["range"] for e in hub.log[before:]], [f"bytes={n}-", f"bytes={n + 1000}-"])
    expect_files(hub, "m.gguf", content)
    run(hub, FOLDER, "rm", address)
    # an answer of no bytes isn't the rest of those that are here
    hub.plain["m.gguf"] = {"body": content, "headers": tag, "chunked": True}
    hub.seconds_per_step = 0.005
    kill_with_bytes_on_disk(hub, address)
    hub.seconds_per_step = 0
    hub.plain["m.gguf"] = [{"body": b"", "status": 206, "headers": tag}, {"body": content, "headers": tag}]
    run(hub, FOLDER, "pull", address)
    expect_files(hub, "m.gguf", content)


def a_retry_splices_no_files(hub):
    """The connection ends after 2 MB, and the server's file is another one when the same run asks again."""
    first, second = model_noise(20, 3000000), model_noise(21, 3000000)
    tag, date = [("ETag", '"v1"')], [("Last-Modified", "Mon, 05 Jan 2099 10:00:00 GMT")]
    sha = [("Digest", "sha-256=" + base64.b64encode(hashlib.sha256(first).digest()).decode())]
    cases = (
        ("nothing", {"headers": []}, {"headers": []}, [0, 0]),
        ("weak", {"headers": [("ETag", 'W/"v1"')]}, {"headers": [("ETag", 'W/"v1"')]}, [0, 0]),
        ("long", {"headers": [("ETag", '"' + "x" * 300 + '"')]}, {"headers": []}, [0, 0]),
        ("young", {"headers": date}, {"headers": date}, [0, 0]),
        ("no_tag", {"headers": tag}, {"headers": tag, "part_headers": []}, [0, 2000000, 0]),
        ("other_tag", {"headers": tag}, {"headers": tag, "part_headers": [("ETag", '"v2"')]}, [0, 2000000, 0]),
        ("digest", {"headers": sha}, {"headers": [], "body": first}, [0, 2000000]),
    )

    def one(case):
        name, before, after, begins = case
        path, folder = name + ".gguf", os.path.join(FOLDER, name)
        os.makedirs(folder)
        hub.plain[path] = [{"body": first, "cut": 2000000, **before}, {"body": second, "ranges": "always", **after}]
        run(hub, folder, "pull", f"http://127.0.0.1:{hub.storage_port}/{path}")
        asked = [e["range"] for e in hub.log if e["path"] == "/" + path]
        same([int(text[6:-1]) if text else 0 for text in asked], begins)
        expect_files(hub, path, hub.plain[path][-1]["body"], folder)

    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        list(pool.map(one, cases))
    if QUICK:
        return
    # where each try begins anew, the tries end
    hub.plain["m.gguf"] = {"body": first, "cut": 2000000}
    address = f"http://127.0.0.1:{hub.storage_port}/m.gguf"
    n = len(hub.log)
    run(hub, FOLDER, "pull", address, code=1)
    same(2 <= len(hub.log) - n <= 6, True)


def a_page_leaves_what_is_here(hub):
    """A page in the file's place ends a fetch; the bytes on disk stay, and the next fetch goes on from them."""
    content, page = model_noise(18, 3000000), b"<html>sign in</html>"
    address = f"http://127.0.0.1:{hub.storage_port}/m.gguf"
    right = {"body": content, "headers": [("ETag", '"v1"')]}
    hub.plain["m.gguf"] = {"body": page, "headers": [("Content-Type", "text/html")]}
    says(run(hub, FOLDER, "pull", address, code=1)[1], "m.gguf", "web page")
    same(files_below(os.path.join(FOLDER, ".cache/vouch/files")), {})
    hub.plain["m.gguf"], hub.seconds_per_step = right, 0.005
    n = kill_with_bytes_on_disk(hub, address)
    hub.plain["m.gguf"], hub.seconds_per_step = {"body": page, "headers": [("Content-Type", "text/html")]}, 0
    says(run(hub, FOLDER, "pull", address, code=1)[1], "m.gguf", "web page")
    hub.plain["m.gguf"] = right
    run(hub, FOLDER, "pull", address)
    same((hub.log[-1]["range"], hub.log[-1]["sent"]), (f"bytes={n}-", len(content) - n))
    expect_files(hub, "m.gguf", content)
    run(hub, FOLDER, "rm", address)
    # what is beside the bytes may be damaged, or gone; an ended fetch can be removed
    base = os.path.join(FOLDER, ".cache/vouch/files/http#", f"127.0.0.1#{hub.storage_port}", "m.gguf")
    for text in (b"", b'"v1"', b'"v1"\n3000000\n', b'"v1"\n-7\n-\n', b'"v1"\n9e9\n-\n', b"\0" * 500, None):
        hub.seconds_per_step = 0.005
        kill_with_bytes_on_disk(hub, address)
        hub.seconds_per_step = 0
        if text is None:
            says(run(hub, FOLDER, "rm", address)[1], "removed")
            same(files_below(os.path.join(FOLDER, ".cache/vouch/files")), {})
            continue
        with open(base + ".origin", "wb") as file:
            file.write(text)
        run(hub, FOLDER, "pull", address)
        same(hub.log[-1]["range"], None)
        expect_files(hub, "m.gguf", content)
        run(hub, FOLDER, "rm", address)
    # a digest that the server gives is checked, once more from the beginning
    wrong = "sha-256=" + base64.b64encode(bytes(32)).decode()
    hub.plain["m.gguf"] = {"body": content, "headers": [("ETag", '"v1"'), ("Digest", wrong)]}
    says(run(hub, FOLDER, "pull", address, code=1)[1], hashlib.sha256(content).hexdigest(), "and not " + "0" * 64)
    same(files_below(os.path.join(FOLDER, ".cache/vouch/files")), {})


def two_processes_share_a_fetch(hub):
    content = noise(6, 5000000)
    hub.add("a/m", {"m.gguf": content})
    hub.seconds_per_step = 0.002
    processes = [
        subprocess.Popen([VOUCH, "pull", "a/m"], env=environment(hub, FOLDER), stderr=subprocess.PIPE) for _ in range(3)
    ]
    errors = [process.communicate(timeout=60)[1].decode() for process in processes]
    same([process.returncode for process in processes], [0, 0, 0])
    same(len([e for e in hub.log if e["storage"]]), 1)
    says("".join(errors), "another process fetches a/m/m.gguf")
    expect_cache(hub, FOLDER, "a/m", ["m.gguf"])


def certificates_are_checked(hub):
    def certificate(name, subject):
        paths = os.path.join(FOLDER, name + ".pem"), os.path.join(FOLDER, name + ".key")
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext"]
            + ["subjectAltName=" + subject, "-out", paths[0], "-keyout", paths[1]],
            capture_output=True,
        )
        same(made.returncode, 0)
        return paths

    right, wrong = certificate("right", "IP:127.0.0.1"), certificate("wrong", "DNS:other.example")
    for own, trusted, code, words in (
        (right, right, 1, ("isn't safe",)),  # its storage is http
        (right, wrong, 1, ("a/m", "certificate of 127.0.0.1")),
        (wrong, wrong, 1, ("a/m", "certificate of 127.0.0.1")),
    ):
        secure = Hub(own)
        secure.add("a/m", {"m.gguf": noise(1, 20000)})
        secure.add("a/few", {"m.gguf": noise(1, 2000)})
        _, err = run(secure, FOLDER, "pull", "a/m", code=code, SSL_CERT_FILE=trusted[0])
        says(err, *words)
        run(secure, FOLDER, "pull", "a/few", code=0 if trusted is own is right else 1, CURL_CA_BUNDLE=trusted[0])
        secure.close()


def addresses_are_fetched(hub):
    content = model_noise(7, 100000)
    digest = hashlib.sha256(content).hexdigest()
    hub.blobs[digest] = content
    address = f"http://127.0.0.1:{hub.storage_port}/{digest}"
    hub.faults.append({"where": "storage", "do": "drop", "at": 5000})
    out, _ = run(hub, FOLDER, "pull", "--print-path", address, token=hub.token)
    expect_files(hub, digest, content)
    with open(out.strip(), "rb") as file:
        same(file.read() == content, True)
    n = len(hub.log)
    run(hub, FOLDER, "pull", address)
    same(len(hub.log), n)
    same({e["token"] for e in hub.log}, {None})
    says(run(hub, FOLDER, "pull", address + "x.gguf", code=2)[1], "404")
    says(run(hub, FOLDER, "rm", address)[1], "removed")
    says(run(hub, FOLDER, "rm", address, code=2)[1], "not here")
    same(files_below(os.path.join(FOLDER, ".cache/vouch/files")), {})


def no_addresses_share_a_file(hub):
    """Neither by their queries nor by the ways to write a path."""
    with open(MODEL, "rb") as file:
        content = file.read()
    server, found = f"http://127.0.0.1:{hub.storage_port}/", {}
    bodies = {address: content + address.encode() for address in (
        "dl?f=a.gguf", "dl?f=b.gguf", "dl?id=1", "dl?id=2", "dl", "m.gguf", "m.gguf?v=1", "a/m.gguf", "a//m.gguf",
        "m.gguf.incomplete", "a/m.gguf.lock", "a/m.gguf.origin", "a:b/m.gguf", "a*b/m.gguf", "c./m.gguf", "c/m.gguf",
        "d|m.gguf")}
    hub.by_query = {"/" + address: body for address, body in bodies.items()}
    for address, body in bodies.items():
        found[address] = run(hub, FOLDER, "pull", "--print-path", server + address)[0].strip()
    same(len(set(found.values())), len(bodies))
    n = len(hub.log)
    for address, body in bodies.items():
        same(run(hub, FOLDER, "pull", "--print-path", server + address + "#part")[0].strip(), found[address])
        with open(found[address], "rb") as file:
            same(file.read() == body, True)
    same(len(hub.log), n)
    listed, _ = run(hub, FOLDER, "list")
    says(listed, *[f"{server}{a}" if a in ("m.gguf", "a/m.gguf", "c/m.gguf") else os.path.normpath(found[a])
                   for a in bodies if a != "dl"])
    same(found["m.gguf"].endswith(f"/http#/127.0.0.1#{hub.storage_port}/m.gguf"), True)
    for address in bodies:
        run(hub, FOLDER, "rm", server + address)
        same(os.path.exists(found.pop(address)), False)
        same([path for path in found.values() if not os.path.exists(path)], [])
    for address in ("..", "a/..", ".", "../m.gguf", "a/./m.gguf", "..?f=m.gguf"):
        says(run(hub, FOLDER, "pull", server + address, code=2)[1], address, "without them")
    says(run(hub, FOLDER, "pull", "https://../m.gguf", code=2)[1], "without them")
    run(hub, FOLDER, "pull", server + "a/m.gguf")
    says(run(hub, FOLDER, "pull", server + "a", code=2)[1], "addresses below this one", "vouch rm")


def addresses_are_listed_and_removed(hub):
    """Under their addresses, which run and rm take, too."""
    with open(MODEL, "rb") as file:
        content = file.read()
    hub.plain["deep/m.gguf"] = {"body": content, "headers": [("ETag", '"v1"')]}
    address = f"http://127.0.0.1:{hub.storage_port}/deep/m.gguf"
    folder = os.path.join(FOLDER, f".cache/vouch/files/http#/127.0.0.1#{hub.storage_port}/deep")
    for by_path in (False, True):
        run(hub, FOLDER, "pull", address)
        name = run(hub, FOLDER, "list")[0].splitlines()[1].split()[0]
        same(name, address)
        run(hub, FOLDER, "run", name, "-n", "2", "--raw", "--prompt", "Hello", HF_HUB_OFFLINE="1")
        says(run(hub, FOLDER, "rm", os.path.join(folder, "m.gguf") if by_path else name)[1], "removed")
        same(files_below(folder), {})
    # what can't be removed is told with its reason, and stays
    os.makedirs(os.path.join(folder, "m.gguf/sub"))
    says(run(hub, FOLDER, "rm", address, code=1)[1], os.path.join(folder, "m.gguf"), "Is a directory")
    os.removedirs(os.path.join(folder, "m.gguf/sub"))
    if os.getuid() != 0:
        run(hub, FOLDER, "pull", address)
        os.chmod(folder, 0o500)
        says(run(hub, FOLDER, "rm", address, code=1)[1], os.path.join(folder, "m.gguf"), "Permission denied")
        os.chmod(folder, 0o700)
        run(hub, FOLDER, "rm", address)
    # another process fetches it
    hub.plain["deep/m.gguf"]["body"] = content * 10
    hub.seconds_per_step = 0.01
    process = subprocess.Popen([VOUCH, "pull", address], env=environment(hub, FOLDER), stderr=subprocess.PIPE)
    wait_for(lambda: [p for p in files_below(folder) if p.endswith("incomplete")])
    says(run(hub, FOLDER, "rm", address, code=1)[1], address, "another process fetches it")
    err = process.communicate(timeout=60)[1].decode()
    if process.returncode != 0:
        sys.exit(f"the fetch has ended with {process.returncode}: {err}")
    same({path: len(got) for path, got in files_below(folder).items()}, {"m.gguf": 10 * len(content)})


def bodies_that_are_no_model_are_refused(hub):
    """Nothing stays of them, also where bytes of the right file are here already."""
    header = b"{}      "
    tensors = len(header).to_bytes(8, "little") + header
    files = os.path.join(FOLDER, ".cache/vouch/files")
    for name, body, headers, words in (
        ("m.gguf", b"", [], ("the answer is empty",)),
        ("m.gguf", b'{"error": "quota"}', [], ("no GGUF file", '{"error": "quota"}')),
        ("m.gguf", b"sorry", [("Content-Type", "text/plain")], ("no GGUF file", "'sorry'")),
        ("m.gguf", b"GGU", [], ("no GGUF file", "'GGU'")),
        ("m.gguf", b"\x1f\x8b\x08" + bytes(40), [("Content-Encoding", "gzip")], ("'<1f><8b><08>", "gzip")),
        ("dl", b"sorry", [], ("no GGUF file", "'sorry'")),
        ("m.safetensors", b'{"error": "quota"}', [], ("no safetensors file", '{"error": "quota"}')),
        ("m.json", b"sorry", [], ("no JSON file", "'sorry'")),
    ):
        for chunked in (False, True):
            hub.plain[name] = {"body": body, "headers": headers, "chunked": chunked}
            address = f"http://127.0.0.1:{hub.storage_port}/{name}"
            says(run(hub, FOLDER, "pull", address, code=1)[1], address, "check the address", *words)
            same(files_below(files), {})
    for name, body in (("m.safetensors", tensors), ("m.json", b' {"a": 1}'), ("m.gguf", b"GGUF")):
        hub.plain[name] = {"body": body}
        address = f"http://127.0.0.1:{hub.storage_port}/{name}"
        run(hub, FOLDER, "pull", address)
        expect_files(hub, name, body)
        run(hub, FOLDER, "rm", address)
    content, address = model_noise(22, 3000000), f"http://127.0.0.1:{hub.storage_port}/m.gguf"
    right = {"body": content, "headers": [("ETag", '"v1"')]}
    hub.plain["m.gguf"], hub.seconds_per_step = right, 0.005
    n = kill_with_bytes_on_disk(hub, address)
    hub.plain["m.gguf"], hub.seconds_per_step = {"body": b'{"error": "quota"}'}, 0
    says(run(hub, FOLDER, "pull", address, code=1)[1], "quota")
    hub.plain["m.gguf"] = right
    run(hub, FOLDER, "pull", address)
    same(hub.log[-1]["range"], f"bytes={n}-")
    expect_files(hub, "m.gguf", content)


def digests_are_those_of_the_last_answer(hub):
    """A redirect's digest is of its own body; a hub that redirects names the file's in X-Linked-Etag."""
    content, moved = model_noise(23, 20000), b"moved"
    address = f"http://127.0.0.1:{hub.storage_port}/r.gguf"
    hub.plain["m.gguf"] = {"body": content}
    own = "sha-256=:" + base64.b64encode(hashlib.sha256(moved).digest()).decode() + ":"
    redirect = [("Location", "/m.gguf"), ("Repr-Digest", own)]
    hub.plain["r.gguf"] = {"body": moved, "status": 302, "headers": redirect}
    run(hub, FOLDER, "pull", address)
    expect_files(hub, "r.gguf", content)
    run(hub, FOLDER, "rm", address)
    for digest, code in ((hashlib.sha256(content).hexdigest(), 0), ("0" * 64, 1)):
        hub.plain["r.gguf"]["headers"] = [*redirect, ("X-Linked-Etag", f'"{digest}"')]
        run(hub, FOLDER, "pull", address, code=code)
        run(hub, FOLDER, "rm", address, code=2 if code else 0)


def no_link_is_written_through(hub):
    """Files in the making that are links, pipes or folders."""
    needs_links()
    content, precious = model_noise(24, 20000), os.path.join(FOLDER, "precious")
    hub.plain["m.gguf"] = {"body": content, "headers": [("ETag", '"v1"')]}
    hub.add("a/m", {"m.gguf": content})
    address = f"http://127.0.0.1:{hub.storage_port}/m.gguf"
    folder = os.path.join(FOLDER, f".cache/vouch/files/http#/127.0.0.1#{hub.storage_port}")
    blobs = os.path.join(cache_of(FOLDER), "models--a--m/blobs")
    os.makedirs(folder)
    os.makedirs(blobs)
    with open(precious, "wb") as file:
        file.write(b"precious")
    for word, path in (
        (address, os.path.join(folder, "m.gguf.incomplete")),
        ("a/m", os.path.join(blobs, hashlib.sha256(content).hexdigest() + ".incomplete")),
    ):
        for make, words in (
            (lambda path: os.symlink(precious, path), "a link is in the place of the file to write; remove it"),
            (os.mkfifo, "no file that can be written; remove it"),
            (os.mkdir, "Is a directory"),
        ):
            make(path)
            says(run(hub, FOLDER, "pull", word, code=1)[1], path + ": ", words)
            if os.path.isdir(path):
                os.rmdir(path)
            elif os.path.lexists(path):
                os.unlink(path)
    origin = os.path.join(folder, "m.gguf.origin")
    os.mkdir(origin)
    says(run(hub, FOLDER, "pull", address, code=1)[1], origin + ": Is a directory; remove this folder")
    os.rmdir(origin)
    for make in (lambda path: os.symlink(precious, path), os.mkfifo):
        for end in (".origin", ".lock"):
            make(os.path.join(folder, "m.gguf") + end)
        run(hub, FOLDER, "pull", address, timeout=10)
        expect_files(hub, "m.gguf", content)
        run(hub, FOLDER, "rm", address)
    with open(precious, "rb") as file:
        same(file.read(), b"precious")


def a_full_disk_is_told(hub):
    hub.add("a/m", {"m.gguf": noise(8, 20000)})
    folder = os.path.join(FOLDER, "cache")
    with open(folder, "w", encoding="ascii"):
        pass
    missing = "No such file or directory" if WINDOWS else "Not a directory"
    says(run(hub, FOLDER, "pull", "a/m", code=1, HF_HUB_CACHE=folder)[1], folder, missing)
    hub.repositories["a/m"]["files"] = {
        "m.gguf": type("Huge", (bytes,), {"__len__": lambda self: 1 << 60})(noise(8, 20000))
    }
    _, err = run(hub, FOLDER, "pull", "a/m", code=1)
    says(err, "a/m needs", "GB", "HF_HUB_CACHE")
    same([e for e in hub.log if e["storage"]], [])
    # an address tells its size when it answers
    content, tag = model_noise(25, 3000000), [("ETag", '"v1"')]
    address = f"http://127.0.0.1:{hub.storage_port}/m.gguf"
    huge = type("Huge", (bytes,), {"__len__": lambda self: 1 << 60})(content)
    hub.plain["m.gguf"] = {"body": huge, "cut": 50000}
    says(run(hub, FOLDER, "pull", address, code=1)[1], address + " needs", "GB", "XDG_CACHE_HOME")
    same(files_below(os.path.join(FOLDER, ".cache/vouch/files")), {})
    hub.plain["m.gguf"], hub.seconds_per_step = {"body": content, "headers": tag, "chunked": True}, 0.005
    n = kill_with_bytes_on_disk(hub, address)
    hub.seconds_per_step = 0
    part = [("Content-Range", f"bytes {n}-{n + 999}/{1 << 60}")]
    hub.plain["m.gguf"] = {"body": content[n : n + 1000], "headers": [*tag, *part], "status": 206}
    says(run(hub, FOLDER, "pull", address, code=1)[1], address + " needs", "GB", "XDG_CACHE_HOME")


def random_faults_leave_nothing_wrong(hub):
    """Faults drawn at random: right bytes or a message, never a wrong file, a hang or a token elsewhere."""
    hub.close()
    content, small = noise(9, 300000), b'{"model_type": "none"}'

    def one(seed):
        chance = random.Random(seed)
        own = Hub()
        own.add("a/m", {"config.json": small, "model.safetensors": content, "tokenizer.json": b"{}" * 100})
        n_faults = chance.choice((1, 1, 2, 3, 5))
        for _ in range(n_faults):
            do = chance.choice(
                (
                    "status",
                    "status",
                    "refuse",
                    "drop",
                    "drop",
                    "silence",
                    "page",
                    "pointer",
                    "garbage",
                    "wrong",
                    "longer",
                    "shorter",
                    "circle",
                    "elsewhere",
                    "no_ranges",
                    "other_range",
                    "no_more_range",
                )
            )
            own.faults.append(
                {
                    "where": chance.choice(("list", "file", "storage", "storage", "storage")),
                    "do": do,
                    "at": chance.randrange(300000),
                    "hard": chance.random() < 0.5,
                    "status": chance.choice((500, 502, 503, 504, 429, 408, 400, 418)),
                    "wait": chance.choice((0, 1)),
                    "code": chance.choice(("GatedRepo", "RepoNotFound", "EntryNotFound", "")),
                    "body": chance.choice((b"", b"{", b"[]", b'{"sha": 5}', b"\0\1\2", small)),
                    "to": chance.choice((own.address + "/nowhere", "http://127.0.0.1:1/x", "gopher://x/y", "//", "")),
                }
            )
        if chance.random() < 0.15:
            own.faults[0]["always"] = True
        folder = os.path.join(FOLDER, str(seed))
        os.makedirs(folder)
        for attempt in range(3):
            begin = time.monotonic()
            code, _, err = run(own, folder, "pull", "a/m", code=None, token=own.token, timeout=90)
            if time.monotonic() - begin > 60:
                return f"seed {seed}: {time.monotonic() - begin:.0f} s"
            if code not in (0, 1, 2):
                return f"seed {seed}: exit status {code}: {err}"
            if code and not ("a/m" in err or "m.safetensors" in err or ".json" in err):
                return f"seed {seed}: the message names no file: {err}"
            for path, got in files_below(cache_of(folder)).items():
                name = os.path.basename(path)
                if "/blobs/" in path and "." not in name:
                    digest = hashlib.sha256(got) if len(name) == 64 else hashlib.sha1(b"blob %d\0" % len(got) + got)
                    if digest.hexdigest() != name:
                        return f"seed {seed}: wrong bytes in {path}"
            if code == 0:
                break
            if attempt == 1:
                own.faults.clear()
        if code:
            return f"seed {seed}: without faults it still fails: {err}"
        if any(e["token"] for e in own.log if e["storage"]):
            return f"seed {seed}: the token went to the storage"
        expect_cache(own, folder, "a/m", ["config.json", "model.safetensors", "tokenizer.json"])
        own.close()
        return None

    with concurrent.futures.ThreadPoolExecutor(8 if QUICK else 24) as pool:
        found = [problem for problem in pool.map(one, range(8 if QUICK else 500)) if problem]
    if found:
        sys.exit("\n".join(found[:10]))


hub = Hub()
globals()[CASE](hub)
os._exit(0)  # threads of servers may still wait for clients
