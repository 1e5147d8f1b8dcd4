# SPDX-License-Identifier: MIT
"""vouch and huggingface_hub on one cache, against the hub of hub.py:  exchange.py VOUCH FOLDER

Exit status 77: huggingface_hub isn't installed.
"""
import contextlib
import io
import os
import subprocess
import sys
import threading

VOUCH, FOLDER = sys.argv[1:]

from hub import Hub  # noqa: E402

hub = Hub()
os.environ.update(
    HOME=FOLDER,
    HF_ENDPOINT=hub.address,
    HF_HOME=os.path.join(FOLDER, "home"),
    HF_HUB_DISABLE_TELEMETRY="1",
    HF_HUB_DISABLE_XET="1",
    HF_HUB_DISABLE_PROGRESS_BARS="1",
)
for name in ("HF_TOKEN", "HF_HUB_OFFLINE", "HF_HUB_CACHE", "XDG_CACHE_HOME"):
    os.environ.pop(name, None)
try:
    import huggingface_hub
except ImportError:
    sys.exit(77)


def vouch(*arguments, **more):
    done = subprocess.run([VOUCH, *arguments], env={**os.environ, **more}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{arguments}: {done.stderr}")
    return done.stdout.strip()


def same(a, b):
    if a != b:
        sys.exit(f"{a!r} is not {b!r}")


def requests(word):
    return [entry for entry in hub.log if word in entry["path"] and entry["method"] == "GET"]


def cache_is_sound(n_repositories):
    """huggingface_hub's own reading of the cache finds nothing odd."""
    found = huggingface_hub.scan_cache_dir()
    same([str(warning) for warning in found.warnings], [])
    same(len(found.repos), n_repositories)
    for repository in found.repos:
        for revision in repository.revisions:
            same(sorted(revision.refs), ["main"])
    return found


content = {name: os.urandom(400000) for name in ("one", "two", "three", "four")}
hub.add("a/vouch", {"m-Q4_K_M.gguf": content["one"], "sub/n.gguf": content["two"], "config.json": b"{}"})
hub.add("a/python", {"m-Q4_K_M.gguf": content["three"], "config.json": b"{}", "model.safetensors": content["one"]})
hub.add("a/both", {"m-Q4_K_M.gguf": os.urandom(8000000)})

# what vouch fetched, huggingface_hub opens without a hub
path = vouch("pull", "--print-path", "a/vouch:m-Q4_K_M.gguf")
vouch("pull", "a/vouch:sub/n.gguf")
same(huggingface_hub.hf_hub_download("a/vouch", "m-Q4_K_M.gguf", local_files_only=True), path)
nested = huggingface_hub.hf_hub_download("a/vouch", "sub/n.gguf", local_files_only=True)
with open(nested, "rb") as file:
    same(file.read() == content["two"], True)
same(huggingface_hub.try_to_load_from_cache("a/vouch", "m-Q4_K_M.gguf"), path)
n = len(requests(""))
same(huggingface_hub.hf_hub_download("a/vouch", "m-Q4_K_M.gguf"), path)  # asks, and fetches nothing
same(len(requests("signature")), 2)

# and the reverse, a folder and a file
folder = huggingface_hub.snapshot_download("a/python")
n = len(hub.log)
same(vouch("pull", "--print-path", "a/python"), os.path.join(folder, "m-Q4_K_M.gguf"))
same(vouch("pull", "--print-path", "a/python:safetensors"), folder)
same(len(hub.log), n)
same(vouch("pull", "--print-path", "a/python", HF_HUB_OFFLINE="1"), os.path.join(folder, "m-Q4_K_M.gguf"))
cache_is_sound(2)

# at once
hub.seconds_per_step = 0.002
got = []
thread = threading.Thread(target=lambda: got.append(huggingface_hub.hf_hub_download("a/both", "m-Q4_K_M.gguf")))
before = len(requests("signature"))
thread.start()
own = vouch("pull", "--print-path", "a/both")
thread.join()
same(got, [own])
same(len(requests("signature")) - before, 1)
hub.seconds_per_step = 0

# both programs' commands to remove
found = cache_is_sound(3)
commit = hub.repositories["a/vouch"]["commit"]
same(found.delete_revisions(commit).expected_freed_size, 800000)
found.delete_revisions(commit).execute()
cache_is_sound(2)
vouch("rm", "a/python")
cache_is_sound(1)
same(vouch("list").count("a/both:Q4_K_M"), 1)
command = os.path.join(os.path.dirname(sys.executable), "hf")
if os.path.exists(command):
    with contextlib.redirect_stdout(io.StringIO()):
        listed = subprocess.run([command, "cache", "ls"], capture_output=True, text=True)
    same(listed.returncode, 0)
    same("a/both" in listed.stdout, True)
os._exit(0)
