# SPDX-License-Identifier: MIT
"""Tests of `vouch check --server` against a real `vouch serve`, with proxies that break laws:

drive.py VOUCH FOLDER MODEL CASE [NAME...]
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import time

from proxy import FAULTS, WRECKS, Proxy

VOUCH, FOLDER, MODEL, CASE = sys.argv[1:5]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("OPENAI_API_KEY", "http_proxy")}


class Served:
    """`vouch serve` with a model, until it is closed or the case ends."""

    def __init__(self, *flags):
        path = os.path.join(FOLDER, f"out{id(self)}")
        with open(path, "w") as out, open(path + ".err", "w") as err:
            self.process = subprocess.Popen(
                [VOUCH, "serve", MODEL, "--port", "0", "--ctx", "1024", "--draft-model", "none", *flags],
                stdout=out,
                stderr=err,
            )
        atexit.register(self.close)
        for _ in range(600):
            with open(path) as out:
                line = out.readline()
            if line.endswith("\n"):
                self.address = line.split()[-1]
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        with open(path + ".err") as err:
            sys.exit(f"vouch serve: {err.read()}")

    def close(self):
        self.process.terminate()  # nothing where it has ended
        self.process.wait(60)


def check(*flags, code=0, **more):
    """Standard output and standard error of the command, which has to end with this exit status."""
    done = subprocess.run(
        [VOUCH, "check", *flags],
        env={**ENVIRONMENT, **more},
        capture_output=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    if done.returncode != code:
        sys.exit(f"check {flags}: exit status {done.returncode}, expected {code}\n{out}{err}")
    return out, err


def report(path):
    with open(path) as file:
        return json.load(file)


def says(text, *words):
    for word in words:
        if word not in text:
            sys.exit(f"{word!r} isn't in: {text}")


def broken_laws(found):
    return {f"{law['law']} {law['name']}" for law in found["laws"] if law["verdict"] == "broken"}


def reproduces(failure):
    """The command lines of a failure run, and give answers."""
    for line in failure["commands"]:
        line = line.replace("$(seq 1 500)", "1 2")
        done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60, env=ENVIRONMENT)
        if done.returncode or not done.stdout:
            sys.exit(f"{line}: {done.returncode} {done.stderr.decode()}")


def body_of(command):
    """The body that a command line with one curl sends."""
    body = command.split("-d '")[1]
    return json.loads(body[: body.rindex("'")].replace("'\\''", "'"))


def fault_is_found(upstream, fault):
    """A law of sampled text ends when its draws suffice, long before its time does."""
    law = FAULTS[fault]
    seconds = 100 if "sampled" in law else 1
    path = os.path.join(FOLDER, "report.json")
    proxy = Proxy(upstream, fault)
    out, _ = check(
        "--server", proxy.address, "--law", law[:2], "--seconds", str(seconds), "--seed", "1", "--json", path, code=1
    )
    found = report(path)
    if broken_laws(found) != {law}:
        sys.exit(f"{fault}: expected {law}, found {broken_laws(found)}\n{out}")
    says(out, "Broken there: " + law[:2], "curl -s")
    failures = [failure for entry in found["laws"] for failure in entry["failures"]]
    if not failures or not failures[0]["commands"] or not failures[0]["difference"]:
        sys.exit(f"{fault}: no failure with command lines: {failures}")
    if not fault.startswith("refused"):
        reproduces(failures[0])
    proxy.close()
    print(f"{fault}: {failures[0]['case']}: {failures[0]['difference']}")
    return failures[0]


def faults_are_found(*names):
    server = Served("--parallel", "16")
    for name in names or FAULTS:
        fault_is_found(server.address, name)
    server.close()


def sound_servers_hold(runs, seconds):
    """Without false alarms, with drafters and without. Speculation that can't be asked isn't said to hold."""
    path = os.path.join(FOLDER, "report.json")
    for flags in (("--parallel", "4"), ("--spec", "none", "--parallel", "2")):
        server = Served(*flags)
        for seed in range(1, runs + 1):
            out, _ = check(
                "--server", server.address + "/v1/", "--seconds", str(seconds), "--seed", str(seed), "--json", path
            )
            says(out, "Every law that was tried holds there.")
            found = report(path)
            for law in found["laws"]:
                if law["verdict"] != "holds":
                    sys.exit(f"{flags}, seed {seed}: {law}")
            if found["drafted"] == 0 or found["accepted"] == 0:
                sys.exit(f"{flags}: nothing was drafted: {found}")
        server.close()


def failures_are_small(*_):
    """Company, tokens and the prompt shrink as far as the failure allows."""
    server = Served("--parallel", "4")
    failure = fault_is_found(server.address, "greedy_differs")
    bodies = [body_of(line) for line in failure["commands"]]
    if len(bodies) != 2 or bodies[0]["speculative"] != {"drafters": "none"} or "speculative" in bodies[1]:
        sys.exit(f"expected a plain request and one with speculation: {bodies}")
    if bodies[0]["max_tokens"] > 32 or len(bodies[0]["prompt"]) > 16 or failure["seen"] != "3 of 3":
        sys.exit(f"not small: {failure}")
    if failure["texts"][0] == failure["texts"][1]:
        sys.exit(f"the texts don't differ: {failure}")
    failure = fault_is_found(server.address, "changed_in_a_crowd")
    if failure["commands"][1].count("curl ") != 2:
        sys.exit(f"one beside it is enough: {failure}")
    alone, beside, again = (body_of(part) for part in "& ".join(failure["commands"]).split("& "))
    if alone["max_tokens"] != again["max_tokens"] or beside["max_tokens"] not in range(12, 33, 5):
        sys.exit(f"company keeps its own number of tokens: {failure}")
    server.close()


def wrecks_are_named(*_):
    server = Served()
    for wreck, words in WRECKS.items():
        proxy = Proxy(server.address, wreck=wreck)
        if wreck == "nothing_listens":
            proxy.close()
        timeout = {"hangs": "1", "hangs_later": "6"}.get(wreck, "60")
        out, err = check("--server", proxy.address, "--timeout", timeout, "--seconds", "2", code=1)
        says(out + err, words)
        if wreck == "hangs_later" and "broken" in out:
            sys.exit(f"an answer that doesn't come breaks no law: {out}")
        if wreck != "nothing_listens":
            proxy.close()
    server.close()


def usage_is_checked(*_):
    for flags, words in (
        (("--server", "ftp://x"), "--server 'ftp://x': expected an address such as http://127.0.0.1:8080"),
        (("--server", "http://"), "expected an address"),
        (("--server", "http://a'b"), "expected an address"),
        (("--server", "http://a", "--plain-server", "b"), "--plain-server 'b': expected an address"),
        (("--server", "http://a", "-m", MODEL), "--server and --model exclude each other"),
        (("--server", "http://a", MODEL), "--server takes no model file"),
        (("--server", "http://a", "--threads", "2"), "--server and --threads exclude each other"),
        (("--server", "http://a", "--system"), "--system"),
        (("--server", "http://me:secret@a"), "expected an address without a user or a password"),
        (("--server", "http://a", "--plain-server", "http://a/v1/"), "is --server itself"),
        (("--server", "http://a", "--api-key", "a\r\nX: b"), "--api-key: expected a key without control characters"),
        (("--server", "http://a", "--law", "S1,L3"), "L3 and L4 can't be seen from outside a server"),
        (("--server", "http://a", "--law", "L3"), "L3 and L4 can't be seen from outside a server"),
        (("-m", MODEL, "--law", "L7"), "L7, S1 and S2 are asked of a server"),
        (("-m", MODEL, "--plain-server", "http://a"), "--plain-server belongs to --server URL"),
        (("--server", "http://a", "--timeout", "0"), "--timeout '0': outside"),
    ):
        says(check(*flags, code=2)[1], words)


def two_addresses_serve(*_):
    """Another server without speculation stands in for a switch; a server with a key gets it, and no report has it."""
    path = os.path.join(FOLDER, "report.json")
    fast, plain = Served("--api-key", "s3cret"), Served("--spec", "none", "--api-key", "s3cret")
    flags = ("--server", fast.address, "--plain-server", plain.address, "--seconds", "1", "--law", "L1,L2")
    check(*flags, "--json", path, OPENAI_API_KEY="s3cret")
    says(json.dumps(report(path)), plain.address)
    says(check(*flags, "--api-key", "s3cret")[0], "plain server", "Every law that was tried holds there.")
    says(check(*flags, code=1)[1], "give a key with --api-key or OPENAI_API_KEY")
    flags = ("--server", plain.address, "--plain-server", fast.address, "--api-key", "s3cret")
    says(check(*flags, code=1)[1], "drafts tokens; start it without speculation")
    fast.close()
    plain.close()


def one_api_is_enough(*_):
    """A server without completions is asked in chat alone, and the report says what couldn't be asked."""
    server = Served("--parallel", "16")
    proxy = Proxy(server.address, "chat_alone")
    path = os.path.join(FOLDER, "report.json")
    out, _ = check("--server", proxy.address, "--seconds", "2", "--json", path)
    says(out, "asked         chat\n", "can't ask     /v1/completions: status 404: no such path")
    for law in report(path)["laws"]:
        if law["verdict"] != "holds":
            sys.exit(f"{law}")
    proxy.close()
    server.close()


def nothing_is_claimed(*_):
    """No law holds by itself: of speculation where nothing was drafted, of seeds where one text may be chance."""
    server, path = Served("--spec", "none"), os.path.join(FOLDER, "report.json")
    proxy = Proxy(server.address, "drafts_nothing")
    flags = ("--server", proxy.address, "--plain-server", server.address, "--seconds", "1", "--json", path)
    says(check(*flags, "--law", "L1,L2")[0], "software      vLLM", "0 tokens drafted")
    verdicts = {law["name"]: law["verdict"] for law in report(path)["laws"]}
    if verdicts["log probabilities"] != "not covered" or verdicts["lossless, greedy"] != "not covered":
        sys.exit(f"nothing was drafted: {verdicts}")
    proxy.close()
    proxy = Proxy(server.address, "tells_no_chances")
    check("--server", proxy.address, "--law", "S2", "--seconds", "1", "--json", path)
    seeds = report(path)["laws"][-1]
    if seeds["verdict"] != "holds" or not seeds["covered"].startswith(f"{seeds['comparisons']} prompts"):
        sys.exit(f"one text of all seeds may be chance: {seeds}")
    proxy.close()
    server.close()


def interrupts_report(*_):
    server = Served()
    proxy = Proxy(server.address)
    path = os.path.join(FOLDER, "report.json")
    process = subprocess.Popen(
        [VOUCH, "check", "--server", proxy.address, "--seconds", "3600", "--json", path],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while proxy.n_posts < 30 and process.poll() is None:  # the first questions find out what the server is
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if process.returncode != 1:
        sys.exit(f"exit status {process.returncode}")
    says(err.decode(), "interrupted: the report covers what was tried by then")
    says(out.decode(), "L1  log probabilities")
    if not report(path)["interrupted"]:
        sys.exit("the report doesn't say that it was interrupted")
    server.close()


CASES = {
    "faults_are_found": faults_are_found,
    "sound_servers_hold": lambda runs, seconds: sound_servers_hold(int(runs), float(seconds)),
    "failures_are_small": failures_are_small,
    "wrecks_are_named": wrecks_are_named,
    "usage_is_checked": usage_is_checked,
    "two_addresses_serve": two_addresses_serve,
    "one_api_is_enough": one_api_is_enough,
    "nothing_is_claimed": nothing_is_claimed,
    "interrupts_report": interrupts_report,
}
CASES[CASE](*sys.argv[5:])
