# SPDX-License-Identifier: MIT
"""A hub for models on this machine, which answers as the documented API of huggingface.co does, and misbehaves on
request. Two servers: the hub, and one that large files are redirected to.

    hub = Hub()
    hub.add("owner/name", {"m-Q4_K_M.gguf": b"..."})
    hub.faults.append({"where": "storage", "do": "drop", "at": 1000})
    ... HF_ENDPOINT=hub.address ...
    hub.log, hub.close()

A fault is used up by the first request of its kind that meets it. `where`: list, file (the hub's answer for a file) or
storage. `do`: see Handler.misbehave.
"""

import hashlib
import http.server
import json
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse

LARGE = 10000  # bytes from which a file lies in the storage


def git_digest(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def tree_entry(path, content):
    entry = {"type": "file", "path": path, "size": len(content), "oid": git_digest(content)}
    if len(content) >= LARGE:
        entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return entry


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub, is_storage = None, False

    def log_message(self, *args):
        pass

    def handle(self):
        # With a small buffer, nearly all bytes that are counted as sent have reached the client.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        try:
            super().handle()
        except (ConnectionError, socket.timeout, ValueError):
            pass  # the client has gone

    def answer(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.send(body)

    def send(self, body):
        step = 16384
        for at in range(0, len(body), step):
            self.wfile.write(body[at : at + step])
            self.entry["sent"] += len(body[at : at + step])
            if self.hub.seconds_per_step:
                time.sleep(self.hub.seconds_per_step)

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        raise ConnectionError

    def refuse(self, status, code, message):
        self.answer(
            status,
            json.dumps({"error": message}).encode(),
            [("X-Error-Code", code), ("X-Error-Message", message), ("Content-Type", "application/json")],
        )

    # ------------------------------------------------------------------ faults

    def fault(self, where):
        with self.hub.lock:
            for i, fault in enumerate(self.hub.faults):
                if fault["where"] == where and fault.get("path", self.path) in self.path:
                    return fault if fault.get("always") else self.hub.faults.pop(i)
        return None

    def misbehave(self, fault, body):
        """True: the request is answered, or won't be."""
        do = fault["do"]
        if do == "status":
            self.answer(fault["status"], b"busy", [("Retry-After", str(fault["wait"]))] if "wait" in fault else [])
        elif do == "refuse":
            self.refuse(fault["status"], fault["code"], "as asked")
        elif do == "drop":  # after some bytes, with or without a reset
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.send(body[: fault["at"]])
            self.wfile.flush()
            if fault.get("hard"):
                self.reset()
            self.close_connection = True
        elif do == "silence":  # until the client gives up
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.send(body[: fault["at"]])
            self.wfile.flush()
            self.connection.settimeout(30)
            self.connection.recv(1)
            self.close_connection = True
        elif do == "page":
            self.answer(200, b"<!DOCTYPE html><html><body>sign in</body></html>", [("Content-Type", "text/html")])
        elif do == "pointer":
            self.answer(200, b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n")
        elif do == "garbage":
            self.answer(200, fault["body"])
        elif do == "wrong":  # one byte is another
            at = fault["at"] % len(body)
            self.answer(200, body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :])
        elif do == "longer":
            self.answer(200, body + b"more")
        elif do == "shorter":  # and says so
            self.answer(200, body[: fault["at"] % len(body)])
        elif do == "circle":
            self.answer(302, headers=[("Location", self.path)])
        elif do == "elsewhere":
            self.answer(302, headers=[("Location", fault["to"])])
        elif do == "no_ranges":
            self.answer(200, body)
        elif do == "other_range":
            self.answer(206, body[1:], [("Content-Range", f"bytes 1-{len(body) - 1}/{len(body)}")])
        elif do == "no_more_range":
            self.answer(416, headers=[("Content-Range", f"bytes */{len(body)}")])
        else:
            raise ValueError(do)

    # ----------------------------------------------------------------- answers

    def content(self, body, headers=(), ranges="if", part_headers=None, status=None, chunked=False, cut=None):
        """ranges: "if" as RFC 9110 says, "always" without a look at If-Range, "never". part_headers: those of a 206,
        where they are others. status: whatever was asked for, with the body as it is. cut: the connection ends after so
        many bytes of the body."""
        if cut is not None and len(body) > cut:
            self.answer(200, body[:cut], headers, length=len(body))
            self.close_connection = True
            return
        if chunked and not self.headers.get("Range"):
            self.send_response(200)
            for name, value in [*headers, ("Transfer-Encoding", "chunked")]:
                self.send_header(name, value)
            self.end_headers()
            for at in range(0, len(body), 16384):
                piece = body[at : at + 16384]
                self.wfile.write(b"%x\r\n" % len(piece))
                self.send(piece)
                self.wfile.write(b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
            return
        if status is not None:
            self.answer(status, body, headers)
            return
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range")
        is_same = condition is None or condition in dict(headers).values()
        if not match or ranges == "never" or (ranges == "if" and not is_same):
            self.answer(200, body, headers)
        elif int(match[1]) >= len(body):
            self.answer(416, headers=[("Content-Range", f"bytes */{len(body)}")])
        else:
            begin, end = int(match[1]), int(match[2] or len(body) - 1) + 1
            more = headers if part_headers is None else part_headers
            self.answer(206, body[begin:end], [("Content-Range", f"bytes {begin}-{end - 1}/{len(body)}"), *more])

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.entry = {
            "storage": self.is_storage,
            "path": self.path,
            "sent": 0,
            "method": self.command,
            "token": self.headers.get("Authorization"),
            "range": self.headers.get("Range"),
            "if_range": self.headers.get("If-Range"),
        }
        self.hub.log.append(self.entry)
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        if self.is_storage and self.path in self.hub.by_query:
            self.answer(200, self.hub.by_query[self.path])
        elif self.is_storage:
            self.storage(path.strip("/"))
        elif path.startswith("/api/models/"):
            self.list(path[len("/api/models/") :])
        else:
            self.file(path[1:])

    def allowed(self, repository):
        """The repository's dictionary; None: the request is answered."""
        found = self.hub.repositories.get(repository)
        token = self.headers.get("Authorization")
        if found is None or (found["private"] and token != "Bearer " + self.hub.token):
            self.refuse(401, "RepoNotFound", "Repository not found")
        elif found["gated"] and token is None:
            self.refuse(401, "GatedRepo", "Access to this model is restricted")
        elif found["gated"] and token != "Bearer " + self.hub.token:
            self.refuse(403, "GatedRepo", "You are not in the list of users")
        else:
            return found
        return None

    def list(self, rest):
        tree = "/tree/" in rest  # the same list as huggingface_hub asks for it
        repository, _, revision = rest.partition("/tree/" if tree else "/revision/")
        found = self.allowed(repository)
        if found is None:
            return
        if revision not in ("", "main", found["commit"]):
            self.refuse(404, "RevisionNotFound", "Invalid rev id")
            return
        if tree:
            self.answer(200, json.dumps([tree_entry(*file) for file in found["files"].items()]).encode(),
                        [("Content-Type", "application/json")])
            return
        siblings = []
        for name, content in found["files"].items():
            sibling = {"rfilename": name, "size": len(content), "blobId": git_digest(content)}
            if len(content) >= LARGE:
                sibling["lfs"] = {
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "size": len(content),
                    "pointerSize": 130,
                }
            siblings.append(sibling)
        body = json.dumps(
            {
                "id": repository,
                "sha": found["commit"],
                "gated": found["gated"],
                "private": found["private"],
                "siblings": siblings,
            }
        ).encode()
        fault = self.fault("list")
        if fault:
            self.misbehave(fault, body)
        else:
            self.answer(200, body, [("Content-Type", "application/json")])

    def file(self, path):
        match = re.fullmatch(r"([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        found = self.allowed(match[1]) if match else None
        if not match:
            self.refuse(404, "EntryNotFound", "Entry not found")
        if found is None:
            return
        if match[3] not in found["files"]:
            self.refuse(404, "EntryNotFound", "Entry not found")
            return
        content = found["files"][match[3]]
        fault = self.fault("file")
        if fault:
            self.misbehave(fault, content)
        elif len(content) >= LARGE:
            digest = hashlib.sha256(content).hexdigest()
            address = f"http://127.0.0.1:{self.hub.storage_port}/{digest}?signature={self.hub.signature()}"
            self.answer(
                302,
                headers=[
                    ("Location", address),
                    ("X-Repo-Commit", found["commit"]),
                    ("X-Linked-Etag", f'"{digest}"'),
                    ("X-Linked-Size", str(len(content))),
                ],
            )
        else:
            self.content(content, [("ETag", f'"{git_digest(content)}"'), ("X-Repo-Commit", found["commit"])])

    def storage(self, digest):
        if digest in self.hub.plain:
            answers = self.hub.plain[digest]
            if isinstance(answers, list):
                answers = answers.pop(0) if len(answers) > 1 else answers[0]
            self.content(**answers)
            return
        content = self.hub.blobs.get(digest)
        if content is None:
            self.answer(404)
            return
        fault = self.fault("storage")
        if fault:
            self.misbehave(fault, content)
        else:
            self.content(content, [("ETag", f'"{digest}"')])


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


class Hub:
    token = "hf_the_token_of_the_tests"

    def __init__(self, certificate=None):
        """certificate: (file, its key) of the hub's server; None: plain HTTP."""
        self.repositories, self.blobs, self.faults, self.log = {}, {}, [], []
        self.plain = {}  # {path: arguments of Handler.content, or a list of one for each request, whose last stays} of
        # the storage's server
        self.by_query = {}  # {path with its query: bytes} likewise
        self.lock = threading.Lock()
        self.n_signatures = 0
        self.seconds_per_step = 0  # a slow network
        self.servers = []
        for is_storage in (False, True):
            handler = type("Own", (Handler,), {"hub": self, "is_storage": is_storage})
            server = Server(("127.0.0.1", 0), handler)
            if certificate and not is_storage:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(*certificate)
                server.socket = context.wrap_socket(server.socket, server_side=True)
            threading.Thread(target=server.serve_forever, daemon=True, args=(0.05,)).start()
            self.servers.append(server)
        self.storage_port = self.servers[1].server_port
        self.address = f"http{'s' if certificate else ''}://127.0.0.1:{self.servers[0].server_port}"

    def signature(self):
        """Addresses that one is redirected to differ each time."""
        with self.lock:
            self.n_signatures += 1
            return self.n_signatures

    def add(self, repository, files, gated=False, private=False):
        """Adds a repository, or another commit of one."""
        commit = hashlib.sha1(repr(sorted((n, git_digest(c)) for n, c in files.items())).encode()).hexdigest()
        self.repositories[repository] = {"files": files, "commit": commit, "gated": gated, "private": private}
        for content in files.values():
            if len(content) >= LARGE:
                self.blobs[hashlib.sha256(content).hexdigest()] = content

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
