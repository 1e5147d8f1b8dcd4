"""Sends a running `vouch serve` what the clients of two benchmarks send, and reads the answers as they do:

    benchmarks.py http://127.0.0.1:PORT VOUCH MODEL

The server runs MODEL with --spec ngram -k 4 --metrics-prefix vllm. The clients are llama.cpp's for SPEED-Bench
(tools/server/bench/speed-bench of b11434) and vLLM's for servers (vllm/benchmarks of 0.33). The questions are those of
bench/speed-data. The clients' sums must equal those of /metrics, and `vouch bench` must draft and accept as much.
Needs Python alone. Prints each check that fails, and exits with 1 if one did.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIELDS = ["question_id", "category", "sub_category", "turns", "source", "src_id", "difficulty", "multiturn"]
CATEGORIES = ["coding", "humanities", "math", "multilingual", "qa", "rag", "reasoning", "roleplay", "stem",
              "summarization", "writing"]
TOKENS = 12
url, failed = sys.argv[1], []


def check(name, good, seen=""):
    if not good:
        failed.append(name)
        print(f"failed: {name} {seen}")


def near(a, b, least=0.0):
    """Equal to 3 %, or to `least`."""
    return abs(a - b) <= max(least, 0.03 * max(abs(a), abs(b)))


def post(path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return urllib.request.urlopen(request, timeout=600)


def metrics():
    """The counters without labels but the model's."""
    text = urllib.request.urlopen(url + "/metrics", timeout=60).read().decode()
    return {name: float(value) for name, value in re.findall(r'^vllm:(\w+)\{model_name="[^",]*"\} (\S+)$', text, re.M)}


def difference(before, after):
    return {name: value - before.get(name, 0) for name, value in after.items()}


# -------------------------------------------------------------------- questions


def questions(folder):
    """One question of each category. The script writes the same bytes twice, and the same texts as messages."""
    for name, flags in [("a", []), ("b", []), ("prepared", ["--prepared"])]:
        command = [sys.executable, ROOT / "bench" / "speed-data", folder / name, "--each", "1", *flags]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for path in sorted((folder / "a").iterdir()):
        check(f"speed-data: {path.name} twice", path.read_bytes() == (folder / "b" / path.name).read_bytes())
    rows = [json.loads(line) for line in (folder / "a" / "qualitative.jsonl").open(encoding="utf-8")]
    prepared = [json.loads(line) for line in (folder / "prepared" / "qualitative.jsonl").open(encoding="utf-8")]
    check("speed-data: fields", all(list(row) == FIELDS for row in rows))
    check("speed-data: categories", [row["category"] for row in rows] == CATEGORIES)
    check("speed-data: ids", all(re.fullmatch("[0-9a-f]{32}", row["question_id"]) for row in rows))
    check("speed-data: turns", any(row["multiturn"] for row in rows)
          and all(row["multiturn"] == (len(row["turns"]) > 1) for row in rows))
    check("speed-data: messages", [[{"role": "user", "content": t} for t in row["turns"]] for row in rows]
          == [row["messages"] for row in prepared])
    return rows


# ------------------------------------------------------------ llama.cpp's client


def ask_turns(row, sums):
    """Asks all turns, as the client does, and adds up what it reads."""
    messages = []
    for turn in row["turns"]:
        messages.append({"role": "user", "content": turn})
        body = {"messages": messages, "max_tokens": TOKENS, "stream": False, "temperature": 0}
        with post("/v1/chat/completions", body) as response:
            answer = json.load(response)
        usage, timings, choice = answer["usage"], answer["timings"], answer["choices"][0]
        name = f"llama.cpp: {row['category']}: "
        for field in ("prompt_ms", "predicted_ms", "prompt_per_second", "predicted_per_second"):
            check(name + field, isinstance(timings[field], (int, float)) and timings[field] >= 0, timings)
        check(name + "predicted_n", timings["predicted_n"] == usage["completion_tokens"], answer)
        check(name + "prompt_n", timings["prompt_n"] + timings["cache_n"] == usage["prompt_tokens"], answer)
        check(name + "total_tokens",
              usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"], usage)
        check(name + "draft_n_accepted", 0 <= timings["draft_n_accepted"] <= timings["draft_n"], timings)
        check(name + "content", isinstance(choice["message"]["content"], str))
        check(name + "finish_reason", choice["finish_reason"] in ("stop", "length"))
        for field in sums:
            sums[field] += timings[field]
        messages.append({"role": "assistant", "content": choice["message"]["content"]})


def llama_client(rows):
    sums = dict.fromkeys(("predicted_n", "draft_n", "draft_n_accepted", "predicted_ms"), 0)
    before = metrics()
    for row in rows:
        ask_turns(row, sums)
    seen = difference(before, metrics())
    check("llama.cpp: tokens", sums["predicted_n"] == seen["generation_tokens_total"], (sums, seen))
    check("llama.cpp: guesses", 0 < sums["draft_n"] == seen["spec_decode_num_draft_tokens_total"], (sums, seen))
    check("llama.cpp: accepted", 0 < sums["draft_n_accepted"] == seen["spec_decode_num_accepted_tokens_total"],
          (sums, seen))
    check("llama.cpp: seconds", near(sums["predicted_ms"] / 1e3, seen["request_decode_time_seconds_sum"]),
          (sums, seen))
    return sums


def bench(rows, folder, sums):
    """`vouch bench` answers the same questions with the same drafter."""
    prompts, report = folder / "a" / "qualitative.jsonl", folder / "report.json"
    subprocess.run([sys.argv[2], "bench", sys.argv[3], "--prompts", prompts, "-n", str(TOKENS), "--temp", "0", "--spec",
                    "ngram", "-k", "4", "--json", report], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    config = json.loads(report.read_text(encoding="utf-8"))["configs"][1]
    ours = config["all"]
    check("vouch bench: turns", ours["turns"] == sum(len(row["turns"]) for row in rows), ours)
    check("vouch bench: categories", list(config["categories"]) == CATEGORIES)
    check("vouch bench: tokens", near(ours["generated_tokens"], sums["predicted_n"]), (ours, sums))
    check("vouch bench: guesses", near(ours["drafted"], sums["draft_n"], least=3), (ours, sums))
    check("vouch bench: accepted", near(ours["accepted"], sums["draft_n_accepted"], least=3), (ours, sums))


# ----------------------------------------------------------------- vLLM's client


def stream(path, body):
    """The objects of a stream, in their order."""
    with post(path, body) as response:
        lines = response.read().decode().split("\n")
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return [json.loads(text) for text in data if text != "[DONE]"]


def usage_of(path, events):
    """The usage as the client finds it: in an object without choices, or in the response that is over."""
    if path == "/v1/responses":
        return events[-1]["response"]["usage"]["output_tokens"]
    check(f"vLLM: {path}: text", any(event["choices"] for event in events))
    last = [event["usage"] for event in events if not event["choices"] and event.get("usage")]
    check(f"vLLM: {path}: usage", len(last) == 1 and last[0]["prompt_tokens"] > 0, events[-1])
    check(f"vLLM: {path}: timings", "timings" in events[-1] and "timings" not in events[0], events[-1])
    return last[0]["completion_tokens"] if last else 0


def vllm_client(rows):
    with urllib.request.urlopen(url + "/v1/models", timeout=60) as response:
        first = json.load(response)["data"][0]
    check("vLLM: the first model", isinstance(first["id"], str) and isinstance(first["root"], str), first)
    with post("/tokenize", {"model": first["root"], "prompt": "hello you", "add_special_tokens": False}) as response:
        tokens = json.load(response)["tokens"]
    with post("/detokenize", {"model": first["root"], "tokens": tokens}) as response:
        check("vLLM: /detokenize", json.load(response)["prompt"] == "hello you")
    text = rows[0]["turns"][0]
    usual = {"model": first["id"], "stream": True, "stream_options": {"include_usage": True}}
    chat = {**usual, "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
            "max_completion_tokens": TOKENS}
    completions = {**usual, "prompt": text, "repetition_penalty": 1.0, "max_tokens": TOKENS, "logprobs": None}
    responses = {"model": first["id"], "input": text, "max_output_tokens": TOKENS, "stream": True, "store": False}
    sampling = {"top_p": 0.9, "top_k": 40, "min_p": 0.05, "temperature": 0.7, "frequency_penalty": 0.1,
                "presence_penalty": 0.1, "repetition_penalty": 1.1}
    bodies = [("/v1/chat/completions", chat), ("/v1/completions", completions), ("/v1/responses", responses)]
    changes = [{}, {"ignore_eos": True, "min_tokens": 1}, {"ignore_eos": True, **sampling}]
    for path, body in bodies + [("/v1/completions", {**completions, "logprobs": 2})]:
        for change in changes:
            before = metrics()
            n = usage_of(path, stream(path, {**body, **change}))
            seen = difference(before, metrics())
            check(f"vLLM: {path}: tokens", n == seen["generation_tokens_total"], (n, seen))
            check(f"vLLM: {path}: length", n == TOKENS or "ignore_eos" not in change, n)
    names = urllib.request.urlopen(url + "/metrics", timeout=60).read().decode()
    check("vLLM: accepted by position", 'spec_decode_num_accepted_tokens_per_pos_total{' in names)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = questions(folder)
        sums = llama_client(rows)
        bench(rows, folder, sums)
        vllm_client(rows)
    sys.exit(1 if failed else 0)


main()
