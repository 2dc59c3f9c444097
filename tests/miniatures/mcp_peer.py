"""An MCP server on standard streams, with one tool and one habit: `python mcp_peer.py HABIT`."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

HABIT = next(iter(sys.argv[1:]), "")


def send(value: object) -> None:
    """Send one message."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def result_of(message: Any) -> object:
    """The result of a request."""
    if message["method"] == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
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
        send({"jsonrpc": "2.0", "id": message["id"], "result": result_of(message)})


if __name__ == "__main__":
    main()
