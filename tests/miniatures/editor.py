"""A language server in small, with its sins: `python editor.py [SIN]…`.

Its messages have a header with their length. Its life is that of LSP 3.17: nothing before
`initialize`, nothing but `exit` after `shutdown`.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

SINS = frozenset(sys.argv[1:])

PARSE, INVALID, NO_METHOD, PARAMS = -32700, -32600, -32601, -32602
EARLY, CANCELLED, MODIFIED, BUSY = -32002, -32800, -32801, -32010

#: Seconds that a build takes.
BUILDING = 0.2

writing = threading.Lock()


def send(value: object) -> None:
    """Send one message."""
    body = json.dumps(value).encode()
    with writing:
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sys.stdout.buffer.flush()


def refuse(id: object, code: int, message: str) -> None:
    """Answer with an error."""
    send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})


class Editor:
    """The state of a session."""

    def __init__(self) -> None:
        self.state = "new"
        self.documents: dict[str, str] = {}
        self.building: dict[object, threading.Timer] = {}
        self.folder: object = None

    def receive(self, message: Any) -> None:
        """Act on one message."""
        if isinstance(message, list):
            self.receive_batch(message)
            return
        if isinstance(message, dict) and message.get("id") == "folder" and "result" in message:
            self.folder = message["result"]
            return
        id = message.get("id") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if "request-silent" not in SINS:
                refuse(id, INVALID, "no request")
            return
        params = message.get("params", {})
        if "id" not in message:
            self.take_note(message["method"], params)
        else:
            self.answer(message["method"], params, id)

    def receive_batch(self, messages: list[Any]) -> None:
        """Take no batches, as LSP."""
        if "batches" in SINS:
            for message in messages:
                self.receive(message)
        elif "batch-silent" not in SINS:
            refuse(None, INVALID, "no batches")

    def take_note(self, method: str, params: Any) -> None:
        """Act on a notification."""
        if method == "exit":
            if "exit-ignored" in SINS:
                return
            if SINS & {"exit-child", "exit-daemon"}:
                sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
                subprocess.Popen(sleep, start_new_session="exit-daemon" in SINS)
            clean = self.state == "ended"
            sys.stdout.flush()
            raise SystemExit(3 if "exit-code" in SINS else 0 if clean else 1)
        if method == "initialized":
            send({"jsonrpc": "2.0", "id": "folder", "method": "workspace/folder"})
        elif method == "document/open":
            self.documents[params["uri"]] = params["text"]
        elif method == "document/close":
            self.documents.pop(params["uri"], None)
        elif method == "document/change":
            for id in list(self.building):
                self.stop(id, MODIFIED, "the document has changed")
        elif method == "$/cancel":
            self.stop(params["id"], CANCELLED, "cancelled")

    def stop(self, id: object, code: int, message: str) -> None:
        """End a build without a result."""
        if "uncancelled" in SINS and code == CANCELLED:
            return
        if "built-and-cancelled" in SINS and id in self.building:
            refuse(id, code, message)
            return
        timer = self.building.pop(id, None)
        if timer is not None:
            timer.cancel()
            if "cancel-silent" not in SINS:
                refuse(id, code, message)

    def answer(self, method: str, params: Any, id: object) -> None:
        """Answer a request."""
        if self.state == "new" and method != "initialize" and "early" not in SINS:
            refuse(id, EARLY, "not initialized")
        elif (self.state == "ended" and "late" not in SINS) or (
            self.state == "ready" and method == "initialize" and "twice" not in SINS
        ):
            refuse(id, INVALID, "out of order")
        elif not isinstance(params, dict | list):
            refuse(id, INVALID, "params are an object")
        elif method == "initialize":
            self.state = "ready"
            self.succeed(id, {"name": "editor"})
        elif method == "shutdown":
            self.state = "ended"
            self.succeed(id, None)
        elif method == "folder":
            self.succeed(id, self.folder)
        elif method == "hover":
            self.hover(params, id)
        elif method == "build":
            self.build(params, id)
        elif "unknown-silent" not in SINS:
            refuse(id, NO_METHOD, "no such method")

    def hover(self, params: Any, id: object) -> None:
        """Describe a document that is open."""
        if "prints" in SINS:
            print("hovering", flush=True)
        if "logs" in SINS:
            print(json.dumps({"level": "info", "text": "hovering"}), flush=True)
        if not isinstance(params, dict) or not isinstance(params.get("uri"), str):
            refuse(id, INVALID if "wrong-number" in SINS else PARAMS, "a uri is due")
        elif params["uri"] not in self.documents:
            refuse(id, -32001, "no such document")
        else:
            self.succeed(id, self.documents[params["uri"]])

    def build(self, params: Any, id: object) -> None:
        """Build all documents, one build at a time."""
        if self.building and "not-busy" not in SINS:
            refuse(id, BUSY, "a build is under way")
            return
        if "no-progress" not in SINS:
            send({"jsonrpc": "2.0", "method": "$/progress", "params": {"done": 0}})
        timer = threading.Timer(BUILDING, self.finish, [id])
        self.building[id] = timer
        timer.start()

    def finish(self, id: object) -> None:
        """End a build with a result."""
        if self.building.pop(id, None) is not None:
            self.succeed(id, {"built": len(self.documents)})

    def succeed(self, id: object, result: object) -> None:
        """Answer with a result."""
        send({"jsonrpc": "2.0", "id": id, "result": result})


def misbehave(count: int) -> None:
    """Break off in one of the ways that end a conversation."""
    if "silent" in SINS or "deaf" in SINS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while "deaf" in SINS or sys.stdin.buffer.read(1):
            time.sleep(0 if "silent" in SINS else 60)
        time.sleep(60)
    if "forks" in SINS and count == 1:
        command = (
            "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
        )
        subprocess.Popen([sys.executable, "-c", command])
    while "floods" in SINS and count == 3:
        send({"jsonrpc": "2.0", "method": "tick", "params": {}})
    if f"dies-{count}" in SINS:
        os._exit(3)


def main() -> None:
    """Answer each message of the standard input, until it ends."""
    editor = Editor()
    for count in itertools.count(1):
        misbehave(count)
        if not (line := sys.stdin.buffer.readline()):
            break
        size = int(line.partition(b":")[2])
        sys.stdin.buffer.readline()
        try:
            message = json.loads(sys.stdin.buffer.read(size))
        except ValueError:
            if "parse-silent" not in SINS:
                refuse(None, PARSE, "no JSON")
            continue
        editor.receive(message)


if __name__ == "__main__":
    main()
