# SPDX-License-Identifier: MIT
"""A proxy before a server with the OpenAI API, which breaks one law on purpose:

    proxy = Proxy(address_of_the_server, "greedy_differs")
    ... proxy.address ...
    proxy.close()

FAULTS names the faults, each with the law that `vouch check --server` must find broken.
"""

import http.client
import http.server
import json
import random
import socket
import threading
import time
import urllib.parse

FAULTS = {
    # greedy text
    "greedy_differs": "L2 lossless, greedy",
    "greedy_ends_early": "L2 lossless, greedy",
    # log probabilities of drafted tokens
    "logprobs_shifted": "L1 log probabilities",
    "likely_ones_shifted": "L1 log probabilities",
    # the distribution of sampled tokens
    "likeliest_too_often": "L2 lossless, sampled",
    "temperature_lower": "L2 lossless, sampled",
    "temperature_higher": "L2 lossless, sampled",
    "a_token_never": "L2 lossless, sampled",
    "second_token_biased": "L2 lossless, sampled",
    # company
    "changed_in_a_crowd": "L7 alone or beside",
    "answers_swapped": "L7 alone or beside",
    "refused_in_a_crowd": "L7 alone or beside",
    # the prefix cache
    "changed_on_a_hit": "L7 prefix cache",
    "changed_on_a_part": "L7 prefix cache",
    # streams
    "stream_lacks_a_byte": "S1 streams",
    "stream_finish": "S1 streams",
    "stream_usage": "S1 streams",
    "stream_without_usage": "S1 streams",
    "stream_logprobs": "S1 streams",
    "stream_cut": "S1 streams",
    "stream_garbage": "S1 streams",
    # seeds
    "seed_ignored": "S2 seeds",
    "seed_constant": "S2 seeds",
    "seeds_refused_in_a_crowd": "S2 seeds",
}

# Servers that can't be checked, each with what vouch has to say.
WRECKS = {
    "nothing_listens": "onnect",
    "redirects": "it redirects to http://127.0.0.1:1/v1/models; give that address to --server",
    "isnt_json": "no JSON object",
    "closes": "mpty reply",
    "hangs": "no whole answer in 1 s (--timeout)",
    "is_endless": "larger than 8 MiB",
    "wants_a_key": "give a key with --api-key or OPENAI_API_KEY",
    "fails": "status 500: out of order",
    "hangs_later": "The server stopped to answer",
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy = None

    def log_message(self, *args):
        pass

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, socket.timeout, ValueError):
            pass  # the client has gone

    def send(self, status, body, kind="application/json", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.proxy.wreck and self.wreck(self.proxy.wreck):
            return
        status, content, kind = self.proxy.fetch("GET", self.path, None)
        if self.proxy.fault == "drafts_nothing":
            content = content.replace(b'"owned_by":"vouch"', b'"owned_by":"vllm"')
        self.send(status, content, kind)

    def wreck(self, how):
        """Misbehaves; False: not at this request."""
        if how == "redirects":
            self.send(302, b"", headers=[("Location", "http://127.0.0.1:1/v1/models")])
        elif how == "isnt_json":
            self.send(200, b"<html>welcome</html>", "text/html")
        elif how == "closes":
            self.close_connection = True
        elif how == "hangs":
            time.sleep(4)
            self.close_connection = True
        elif how == "is_endless":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while True:
                self.wfile.write(b"10000\r\n" + b"[" * 65536 + b"\r\n")
        elif how == "wants_a_key":
            self.send(401, b"{}")
        elif how == "fails" and self.command == "POST":
            self.send(500, b'{"error": {"message": "out of order"}}')
        elif how == "hangs_later" and self.command == "POST" and self.proxy.n_posts > 8:
            time.sleep(12)
            self.close_connection = True
        else:
            return False
        return True

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.proxy.n_posts += 1
        if self.proxy.wreck and self.wreck(self.proxy.wreck):
            return
        self.send(*self.proxy.answer(self.path, body))


def events_of(kind, body):
    """The JSON values of an answer, which is a stream or one value."""
    if "event-stream" not in kind:
        return [json.loads(body)]
    return [json.loads(line[5:]) for line in body.decode().split("\n") if line.startswith("data: {")]


def choice_of(event):
    return event["choices"][0] if event.get("choices") else {}


def text_of(event):
    choice = choice_of(event)
    message = choice.get("message") or choice.get("delta") or {}
    return choice.get("text") or message.get("content") or ""


def set_text(event, text):
    choice = choice_of(event)
    if "text" in choice:
        choice["text"] = text
    else:
        (choice.get("message") or choice.get("delta"))["content"] = text


def tokens_of(event):
    """The texts of the tokens, from log probabilities in either form."""
    logprobs = choice_of(event).get("logprobs") or {}
    return logprobs.get("tokens") or [token["token"] for token in logprobs.get("content") or []]


def shift(event, by, likely_only=False):
    """Changes all log probabilities."""
    logprobs = choice_of(event).get("logprobs") or {}
    if not likely_only and logprobs.get("token_logprobs"):
        logprobs["token_logprobs"] = [x + by for x in logprobs["token_logprobs"]]
    for top in logprobs.get("top_logprobs") or []:
        for key in top:
            top[key] += by
    for token in logprobs.get("content") or []:
        for entry in token["top_logprobs"] if likely_only else [token] + token["top_logprobs"]:
            entry["logprob"] += by


class Proxy:
    def __init__(self, upstream, fault=None, wreck=None):
        self.upstream, self.fault, self.wreck = urllib.parse.urlsplit(upstream), fault, wreck
        self.n_posts, self.n_running, self.previous = 0, 0, {}
        self.seen, self.lock, self.random = set(), threading.Lock(), random.Random(5)
        self.threads = threading.local()
        self.likeliest = {}  # {prompt: first token of the greedy answer}
        handler = type("Handler", (Handler,), {"proxy": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def fetch(self, method, path, body):
        """Status, body and content type of the server's answer. Each thread keeps a connection."""
        if not hasattr(self.threads, "connection"):
            self.threads.connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=60)
        connection = self.threads.connection
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return reply.status, reply.read(), reply.getheader("Content-Type")

    def answer(self, path, body):
        with self.lock:
            self.n_running += 1
        if self.fault and ("crowd" in self.fault or "swapped" in self.fault):
            time.sleep(0.03)  # so that all of a crowd are here
        try:
            return self.faulty_answer(path, body)
        finally:
            with self.lock:
                self.n_running -= 1

    def faulty_answer(self, path, body):
        fault = self.fault or ""
        if fault == "chat_alone" and "chat" not in path:
            return 404, b'{"error": {"message": "no such path"}}', "application/json"
        plain = body.get("speculative", {}).get("drafters") == "none"
        greedy = body.get("temperature") == 0
        prompt = body.get("prompt") or body["messages"][0]["content"]
        with self.lock:
            crowded = self.n_running > 1
            known = (path, prompt) in self.seen
            part = not known and any(prompt[:200] == other[:200] for _, other in self.seen if len(other) > 200)
            self.seen.add((path, prompt))
        if crowded and (fault == "refused_in_a_crowd" or (fault == "seeds_refused_in_a_crowd" and not greedy)):
            return 503, b'{"error": {"message": "too many"}}', "application/json"
        if not greedy:
            body = self.change_sampling(fault, path, body, plain)
        status, content, kind = self.fetch("POST", path, body)
        if status != 200:
            return status, content, kind
        if not greedy and not plain:
            status, content, kind = self.choose(fault, path, body, status, content, kind, prompt)
        if not greedy and FAULTS.get(fault) == "L2 lossless, sampled":
            return status, content, kind
        events = events_of(kind, content)
        for event in events:
            self.quirk(fault, event)
        changed = fault == "greedy_differs" and greedy and not plain
        changed |= fault == "changed_in_a_crowd" and crowded
        changed |= fault == "changed_on_a_hit" and known and greedy
        changed |= fault == "changed_on_a_part" and part and greedy
        if changed:
            self.change_text(events)
        if fault == "greedy_ends_early" and greedy and not plain:
            for event in events:
                if choice_of(event).get("finish_reason"):
                    choice_of(event)["finish_reason"] = "stop"
        if fault in ("logprobs_shifted", "likely_ones_shifted") and not plain:
            for event in events:
                shift(event, 1e-5, fault == "likely_ones_shifted")
        if "event-stream" in kind:
            return self.stream(fault, events, status, kind, body)
        content = json.dumps(events[0]).encode()
        if fault == "answers_swapped" and crowded and path in self.previous:
            content, self.previous[path] = self.previous[path], content
        self.previous[path] = self.previous.get(path, content)
        return status, content, kind

    @staticmethod
    def quirk(fault, event):
        """Not faults: vLLM's way to tell that nothing was drafted; no log probabilities."""
        if fault == "drafts_nothing":
            event.pop("timings", None)
            event["metrics"] = {"speculative_decoding": {"num_draft_tokens": 0, "num_accepted_draft_tokens": 0}}
        if fault == "tells_no_chances":
            choice_of(event).pop("logprobs", None)

    @staticmethod
    def change_text(events):
        """Changes the eleventh character."""
        at = 10
        for event in events:
            text = text_of(event)
            if at < len(text):
                set_text(event, text[:at] + ("~" if text[at] != "~" else "_") + text[at + 1 :])
                return
            at -= len(text)

    def change_sampling(self, fault, path, body, plain):
        body = dict(body)
        if fault == "seed_ignored":
            body["seed"] = self.random.randrange(1 << 30)
        if fault in ("seed_constant", "tells_no_chances"):
            body["seed"] = 7
        if fault == "temperature_lower":
            body["temperature"] = 0.9
        if fault == "temperature_higher":
            body["temperature"] = 1.2
        if fault == "likeliest_too_often" and not plain and random.Random(body["seed"]).random() < 0.1:
            body["temperature"] = 0
        return body

    def choose(self, fault, path, body, status, content, kind, prompt):
        """Asks again with other seeds, until the answer is one of those that the fault leaves."""
        if fault not in ("a_token_never", "second_token_biased"):
            return status, content, kind
        if prompt not in self.likeliest:
            greedy = self.fetch("POST", path, {**body, "temperature": 0, "stream": False})
            self.likeliest[prompt] = tokens_of(json.loads(greedy[1]))[:2]
        first, second = (self.likeliest[prompt] + ["", ""])[:2]
        for i in range(30):
            tokens = [token for event in events_of(kind, content) for token in tokens_of(event)]
            bad = tokens[:1] == [first] if fault == "a_token_never" else tokens[:2] == [first, second]
            if not bad:
                break
            status, content, kind = self.fetch("POST", path, {**body, "seed": body["seed"] + 1000003 * (i + 1)})
        return status, content, kind

    def stream(self, fault, events, status, kind, body):
        if fault == "stream_lacks_a_byte":
            for event in reversed(events):
                if len(text_of(event)) > 0:
                    set_text(event, text_of(event)[:-1])
                    break
        for event in events:
            choice, usage = choice_of(event), event.get("usage")
            if fault == "stream_finish" and choice.get("finish_reason"):
                choice["finish_reason"] = "stop" if choice["finish_reason"] == "length" else "length"
            if fault == "stream_usage" and usage:
                usage["completion_tokens"] += 1
            if fault == "stream_without_usage":
                event.pop("usage", None)
            if fault == "stream_logprobs":
                shift(event, 1e-5)
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        if fault == "stream_garbage":
            lines.insert(1, 'data: {"choices": [\n\n')
        if fault != "stream_cut":
            lines.append("data: [DONE]\n\n")
        return status, "".join(lines).encode(), kind
