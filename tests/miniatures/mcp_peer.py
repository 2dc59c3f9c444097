"""An MCP server on standard streams, with one tool and one habit: `python mcp_peer.py HABIT
REVISION`.

It refuses calls with the argument `bad`: by a text, or as the habit says.
"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

HABIT, REVISION = (*sys.argv[1:], "", "")[:2]


def send(value: object) -> None:
    """Send one message."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def is_bad(message: Any) -> bool:
    """Whether a call has the argument that is refused."""
    return "bad" in (message["params"].get("arguments") or {})


def outcome_of(message: Any) -> dict[str, object]:
    """The result of a request, or its error."""
    numbers = {"invalid": -32602, "internal": -32603}
    if message["method"] == "tools/call" and is_bad(message) and HABIT in numbers:
        return {"error": {"code": numbers[HABIT], "message": "bad is bad"}}
    if message["method"] == "prompts/get":  # shows what it got
        return {"error": {"code": -32602, "message": json.dumps(message["params"])}}
    return {"result": result_of(message)}


def result_of(message: Any) -> object:
    """The result of a request."""
    if message["method"] == "initialize":
        return {
            "protocolVersion": REVISION or message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "peer", "version": "1"},
        }
    if message["method"] == "tools/list":
        count = {"type": "object", "properties": {"count": {"type": "integer"}}}
        return {
            "tools": [
                {"name": "echo", "inputSchema": {"type": "object"}},
                {
                    "name": "count",
                    "inputSchema": {"type": "object"},
                    "outputSchema": {**count, "required": ["count"]},
                },
            ]
        }
    if message["method"] == "resources/read":
        return {"contents": [{"uri": message["params"]["uri"], "text": "a note"}]}
    if is_bad(message):
        text = "" if HABIT == "wordless" else "bad is bad"
        return {"content": [{"type": "text", "text": text}], "isError": HABIT != "accepting"}
    result: dict[str, object] = {"content": [{"type": "text", "text": "done"}], "isError": False}
    if message["params"]["name"] == "count" and HABIT != "unstructured":
        result["structuredContent"] = {"count": "one" if HABIT == "mistyped" else 1}
    return result


def misbehave() -> None:
    """Act on a call of a tool in the way of the habit."""
    if HABIT == "prints":
        print("working on it", flush=True)
    if HABIT == "dies":
        sys.stderr.write("panic: out of luck\n")
        sys.stderr.flush()
        os._exit(3)
    if HABIT == "long":
        sys.stdout.write("x" * 5_000_000 + "\n")
        sys.stdout.flush()
    while HABIT == "floods":
        send(
            {
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "info", "data": 1},
            }
        )
    if HABIT in ("silent", "stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if HABIT == "stubborn":
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        time.sleep(60)


def main() -> None:
    """Answer each request of the standard input, until it ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if message["method"] == "tools/call":
            misbehave()
        send({"jsonrpc": "2.0", "id": message["id"], **outcome_of(message)})


if __name__ == "__main__":
    main()
