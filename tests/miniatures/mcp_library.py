"""An MCP server of a library that sends log messages, and asks: `python mcp_library.py HABIT
[PORT]`, on standard streams or over HTTP.

It notifies each refusal, once its client has set a level. The tool `remove` asks its user before.
"""

import json
import queue
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HABIT, PORT = (*sys.argv[1:], "", "")[:2]

Send = Callable[[dict[str, Any]], None]

#: The level of log messages, and the answers to requests of the server.
LEVEL: list[str] = []
REPLIES: queue.Queue[dict[str, Any]] = queue.Queue()

ISBN = {"type": "object", "properties": {"isbn": {"type": "string"}}, "required": ["isbn"]}
TOOLS = [{"name": name, "inputSchema": ISBN} for name in ("lend", "remove")]


def log(send: Send, data: object) -> None:
    """Send a log message, unless nobody has set a level."""
    if LEVEL:
        params = {"level": "error", "logger": "library", "data": data}
        send({"jsonrpc": "2.0", "method": "notifications/message", "params": params})


def refuse(send: Send, code: str) -> dict[str, object]:
    """The result of a tool that refuses a call."""
    if HABIT != "mute":
        log(send, {"code": "taken" if HABIT == "mistaken" else code})
    text = {"type": "text", "text": f"The library refuses it: {code}"}
    return {"isError": True, "content": [text], "structuredContent": {"code": code}}


def take_call(send: Send, name: str, given: dict[str, Any], token: str) -> dict[str, object] | None:
    """The result of a tool; None if it answers nothing."""
    if HABIT == "pin":
        log(send, f"a call with {given.get('pin')}")
    if HABIT == "token":
        log(send, {"code": "taken", "by": token})
    isbn = given.get("isbn")
    if not isinstance(isbn, str):
        return None if HABIT == "silent" else refuse(send, "unreadable")
    if isbn.startswith("none"):
        return refuse(send, "unknown_book")
    for method in ("elicitation/create", "sampling/createMessage", "roots/list"):
        if name == "remove" and isbn == method:
            send({"jsonrpc": "2.0", "id": "own", "method": method, "params": {}})
            reply = REPLIES.get(timeout=10)
            return refuse(send, "declined" if "result" in reply else "unheard")
    return {"content": [{"type": "text", "text": "done"}]}


def answer(send: Send, asked: dict[str, Any], token: str = "") -> None:
    """Send the answer to a request."""
    method, params = asked["method"], asked.get("params") or {}
    result: dict[str, object] | None = {}
    if method == "initialize":
        names = ["elicitation", "roots", "sampling"]
        if HABIT == "shy" and sorted(params["capabilities"]) != names:
            return
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "library", "version": "1"},
        }
    elif method == "logging/setLevel":
        LEVEL.append(params["level"])
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call" and params["name"] in ("lend", "remove"):
        result = take_call(send, params["name"], params.get("arguments") or {}, token)
    elif method != "ping":
        error = {"code": -32602, "message": "There is no such thing"}
        send({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        return
    if result is not None:
        send({"jsonrpc": "2.0", "id": asked["id"], "result": result})


def on_streams() -> None:
    """Answer each message of the standard input, until it ends."""

    def send(message: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            REPLIES.put(message)
        elif "id" in message:
            threading.Thread(target=answer, args=(send, message), daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    """Streamable HTTP: each answer is a stream of events."""

    def do_POST(self) -> None:
        """Answer a message."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "method" not in message:
            REPLIES.put(message)
        if "method" not in message or "id" not in message:
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Mcp-Session-Id", "one")
        self.send_header("Connection", "close")
        self.end_headers()
        answer(self.send_event, message, self.headers.get("Authorization", ""))

    def send_event(self, message: dict[str, Any]) -> None:
        """Send a message of the stream."""
        self.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
        self.wfile.flush()

    def do_DELETE(self) -> None:
        """End a session."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        """Refuse a stream of its own."""
        self.send_error(405)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


if PORT:
    ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler).serve_forever()
else:
    on_streams()
