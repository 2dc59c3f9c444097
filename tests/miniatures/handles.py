"""A service with one handle over standard streams, with its habits: `python handles.py [HABIT]…`.

`asks`: it asks for its options after `ready`, and refuses to open anything before the reply.
`late-events`: it sends the notification of an error a moment after the answer. `reads-closed`: it
reads after the handle was closed. `silent-params`: it gives no answer to bad params.
`ends-on-mistakes`: it ends on a message that is not a request. `ends`: it ends on any message.
`needs-ready`: it refuses each call before `ready`. `no-text`: the error of a handle that is not
open has no message. `infinity`: it answers a ping with Infinity. `twice`: with two results.
"""

import json
import sys
import time
from typing import Any

HABITS = frozenset(sys.argv[1:])

#: The numbers of the codes, with their texts.
TEXTS = {
    -32700: "not JSON",
    -32600: "not a request",
    -32601: "no such method",
    -32602: "bad params",
    -32050: "it is open already",
    -32051: "nothing is open",
    -32052: "there are no options",
}


class Handles:
    """The state of one process."""

    def __init__(self) -> None:
        self.is_open = False
        self.was_open = False
        self.has_options = "asks" not in HABITS
        self.is_ready = "needs-ready" not in HABITS

    def answer(self, message: Any) -> None:
        """Answer one message."""
        if isinstance(message, dict) and message.get("id") == "options" and "result" in message:
            self.has_options = True
            return
        id = message.get("id") if isinstance(message, dict) else None
        is_request = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
        if not is_request or not isinstance(message.get("method"), str):
            refuse(id, -32600)
        elif message["method"] == "ready":
            self.begin()
        elif not self.is_ready:
            refuse(id, -32052)
        elif "id" in message:
            self.call(id, message["method"], message.get("params"))

    def begin(self) -> None:
        """Begin the session."""
        self.is_ready = True
        if "asks" in HABITS:
            send({"id": "options", "method": "options"})

    def call(self, id: object, method: str, params: Any) -> None:
        """Answer a call."""
        named = isinstance(params, dict) and isinstance(params.get("name"), str)
        if method not in ("open", "read", "close", "ping"):
            refuse(id, -32601)
        elif isinstance(params, str):
            refuse(id, -32602)
        elif method == "ping":
            send({"id": id, "result": float("inf") if "infinity" in HABITS else "pong"})
        elif method == "open":
            self.open(id, named=named)
        elif not self.is_open and not (self.was_open and "reads-closed" in HABITS):
            refuse(id, -32051)
        elif method == "close":
            self.is_open = False
            send({"id": id, "result": True})
        elif isinstance(params, dict) and params.get("handle") == "h-1":
            send({"id": id, "result": "text"})
        else:
            refuse(id, -32602)

    def open(self, id: object, *, named: bool) -> None:
        """Open the handle."""
        if not named:
            refuse(id, -32602)
        elif not self.has_options:
            refuse(id, -32052)
        elif self.is_open:
            refuse(id, -32050)
        else:
            self.is_open = self.was_open = True
            send({"id": id, "result": {"handle": "h-1"}})


def refuse(id: object, number: int) -> None:
    """Answer with an error; one of the service's own codes is repeated in a notification."""
    if number == -32602 and "silent-params" in HABITS:
        return
    if number in (-32700, -32600) and "ends-on-mistakes" in HABITS:
        sys.exit(3)
    error: dict[str, object] = {"code": number, "message": TEXTS[number]}
    if number == -32051 and "no-text" in HABITS:
        error["message"] = None
    send({"id": id, "error": error})
    if number > -32100:
        if "late-events" in HABITS:
            time.sleep(0.05)
        send({"method": "failure", "params": error})


def send(message: dict[str, Any]) -> None:
    """Send a message."""
    line = json.dumps({"jsonrpc": "2.0", **message})
    if "twice" in HABITS:
        line = line.replace('"result": "pong"', '"result": "ping", "result": "pong"')
    print(line, flush=True)


def serve() -> None:
    """Answer until the input ends."""
    handles = Handles()
    for line in sys.stdin:
        if "ends" in HABITS:
            sys.exit(3)
        try:
            message = json.loads(line)
        except ValueError:
            refuse(None, -32700)
        else:
            handles.answer(message)


serve()
