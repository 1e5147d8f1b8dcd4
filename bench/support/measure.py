# SPDX-License-Identifier: MIT
"""What the programs of bench share that measure in many steps and write a page: prompts, points that survive a kill,
runs of the command with their reports, and the text between two marks of a page. A program that imports it ends with
the commands that it runs: at Ctrl-C, and where it is told to end."""
import functools
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / os.environ.get("BUILD", "release")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "vouch"
MODEL = CACHE / "SmolLM2-135M-Instruct.Q4_1.gguf"
PUBLIC = "spec_bench.jsonl"
OWN = ROOT / "bench" / "support" / "questions.jsonl"
running: set[subprocess.Popen] = set()
stopped = False  # run() starts no further command


def stop(number: int, _frame: object) -> None:
    """Ends this program and the commands that it runs, in threads, too."""
    global stopped
    stopped = True
    for process in list(running):
        process.kill()
    sys.exit(128 + number)


signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)


def run(command: list) -> None:
    """Runs a command without its output, but with its warnings. Exits with all its messages where it fails."""
    words = [str(word) for word in command]
    if stopped:
        sys.exit("stopped")
    try:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except OSError as error:
        hint = "; `make benches` builds it" if isinstance(error, FileNotFoundError) else ""
        sys.exit(f"{words[0]}: {error.strerror}{hint}")
    with process:
        running.add(process)
        _, said = process.communicate()
        running.discard(process)
    messages = said.decode(errors="replace")
    if process.returncode != 0:
        sys.exit(f"{messages}`{' '.join(words)}`: exit status {process.returncode}")
    sys.stderr.writelines(line for line in messages.splitlines(True) if line.startswith("vouch: "))


def write(path: pathlib.Path, text: str) -> None:
    """Writes the whole file or nothing, whenever the process is killed. Exits where it can't."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        if part.is_file():
            part.unlink()
        sys.exit(f"{path}: {error.strerror}")


def check_output(path: pathlib.Path | None, flag: str) -> None:
    """Exits where a file can't be written, before anything is measured."""
    if path and (path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK)):
        sys.exit(f"{flag} {path}: expected a file in a folder that can be written")


def read(path: pathlib.Path, remedy: str) -> typing.Any:
    """The JSON value in a file. Exits with the remedy where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: no JSON ({error}): {remedy}")


def report(command: list, flag: str = "--json") -> dict:
    """Runs a command that writes a report to the file that the flag names. Returns the report."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        run([*command, flag, path])
        return read(path, "the command wrote no report")


def replace_text(page: str, name: str, text: str, path: pathlib.Path) -> str:
    """The page with this text between the lines `<!-- NAME begins -->` and `<!-- NAME ends -->`."""
    begin, end = f"<!-- {name} begins -->", f"<!-- {name} ends -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        sys.exit(f"{path}: expected the lines {begin} and {end} once each")
    return f"{page[:page.index(begin)]}{begin}\n{text}\n{page[page.index(end):]}"


def table(rows: list[list[str]], numbers: int) -> str:
    """Rows as Markdown, the first one as the heading. The last `numbers` columns are numbers."""
    rule = ["---"] * (len(rows[0]) - numbers) + ["---:"] * numbers
    cells = [[cell.replace("|", "\\|") for cell in row] for row in [rows[0], rule, *rows[1:]]]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


@functools.cache
def digest(path: pathlib.Path) -> str:
    """16 digits of the file's SHA-256."""
    state = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                state.update(block)
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    return state.hexdigest()[:16]


# -------------------------------------------------------------------- prompts

class Prompts(typing.NamedTuple):
    """Questions as `vouch bench --prompts` reads them, and where they come from."""
    questions: list[dict]
    source: str

    def file(self, folder: pathlib.Path) -> pathlib.Path:
        """A file of them."""
        path = folder / "prompts.jsonl"
        write(path, "".join(json.dumps(question) + "\n" for question in self.questions))
        return path


def prompts(kind: str, data: pathlib.Path, each: int) -> Prompts:
    """The first `each` prompts of each category of the public file, or of the repository's own."""
    path = data / "prompts" / PUBLIC if kind == "public" else OWN
    if not path.exists():
        sys.exit(f"{path}: no such file; name the folder that has prompts/ with --data, or give --prompts own")
    seen: dict[str, int] = {}
    questions = []
    for line in path.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        category = question["category"]
        seen[category] = seen.get(category, 0) + 1
        if seen[category] <= each:
            questions.append({"id": f"{category} {seen[category]}", "category": category,
                              "prompt": question.get("prompt") or question["turns"][0]})
    name = f"Spec-Bench ({PUBLIC})" if kind == "public" else "the repository's own (bench/support/questions.jsonl)"
    first = "the first one" if each == 1 else f"the first {each}"
    return Prompts(questions, f"{len(questions)} prompts of {name}, {first} of each of {len(seen)} categories")


def data_folder() -> pathlib.Path:
    """The folder of public data that the environment names."""
    return pathlib.Path(os.environ.get("VOUCH_DATA") or ROOT.parent / "shared" / "data")


# --------------------------------------------------------------------- points

class Points:
    """Results in a folder, one file for each, named by a digest of all that decides it: a run that is killed goes on at
    the point where it stood, and a point that would come out otherwise is measured again."""

    def __init__(self, folder: pathlib.Path, vouch: pathlib.Path) -> None:
        self.folder, self.vouch = folder, vouch
        if not vouch.is_file():
            sys.exit(f"{vouch}: no such file; `make benches` builds it")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            sys.exit(f"{folder}: {error.strerror}")
        self.n_measured = self.n_kept = 0

    def get(self, name: str, facts: list, measure: typing.Callable[[], dict]) -> dict:
        """The point's result, kept or measured now."""
        decisive = json.dumps([name, digest(self.vouch), *map(str, facts)])
        path = self.folder / f"{name}-{hashlib.sha256(decisive.encode()).hexdigest()[:12]}.json"
        if path.exists():
            self.n_kept += 1
            return read(path, "remove the file to measure this point again")
        print(f"measuring {name}", file=sys.stderr, flush=True)
        result = measure()
        write(path, json.dumps(result, indent=1))
        self.n_measured += 1
        return result

    def bench(self, name: str, flags: list, files: list[pathlib.Path]) -> dict:
        """The report of `vouch bench` with these flags, which name these files."""
        placed = [flag.name if isinstance(flag, pathlib.Path) else flag for flag in flags]
        return self.get(name, placed + [digest(file) for file in files],
                        lambda: report([self.vouch, "bench", *flags]))

    def forget(self) -> None:
        """Removes all points."""
        for path in self.folder.glob("*.json"):
            path.unlink()


def configs(report: dict) -> dict[str, dict]:
    """The configurations of a report that draft, by name."""
    return {c["name"]: c for c in report["configs"] if c["name"] not in ("target only", "draft only")}


# --------------------------------------------------------------------- models

def synthetic(folder: pathlib.Path, shape: str, weights: str, layers: int | None) -> pathlib.Path:
    """A model with random weights in the true shapes of a known one, all layers of it or so many."""
    path = folder / f"{shape}-{weights}{f'-{layers}' if layers else ''}.gguf"
    if not path.exists():
        part = path.with_suffix(f".{os.getpid()}.part")
        folder.mkdir(parents=True, exist_ok=True)
        run([BUILD / "bench" / "synthetic", "--shape", shape, "--type", weights, "--out", part,
             *(["--layers", layers] if layers else [])])
        os.replace(part, path)
    return path


def draft_of(vouch: pathlib.Path, model: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The model with its matrices in Q2_K, which drafts for it: the same bytes on every machine."""
    path = folder / f"{model.stem}-{digest(model)}-Q2_K.gguf"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        run([vouch, "quantize", model, path, "Q2_K", "--allow-requantize"])
    return path
