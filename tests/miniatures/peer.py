"""A JSON-RPC peer on standard streams, by itself or with one bad habit: `python peer.py [HABIT]
[--content-length]`.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

HEADED = "--content-length" in sys.argv
HABIT = next((each for each in sys.argv[1:] if not each.startswith("--")), "")


def say(value: object) -> None:
    """Send one message."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    out = b"Content-Length: %d\r\n\r\n" % len(body) + body if HEADED else body + b"\n"
    sys.stdout.buffer.write(out)
    sys.stdout.buffer.flush()


def messages() -> Iterator[bytes]:
    """Yield the received messages, until the input ends."""
    while line := sys.stdin.buffer.readline():
        if not HEADED:
            yield line
            continue
        size = int(line.partition(b":")[2])
        sys.stdin.buffer.readline()
        yield sys.stdin.buffer.read(size)


def answer(message: Any) -> object:
    """`echo` gives its params back; nothing else is known."""
    if not isinstance(message, dict) or "method" not in message:
        return {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no request"}}
    if "id" not in message:
        return None
    head = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] != "echo":
        return {**head, "error": {"code": -32601, "message": "no such method"}}
    return {**head, "result": message.get("params")}


def main() -> None:
    """Answer, each habit in its own way."""
    if HABIT == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        sys.stderr.write(f"child {child.pid}\n")
        sys.stderr.flush()
    if HABIT == "deaf":
        time.sleep(600)
    for count, raw in enumerate(messages()):
        if HABIT == "silent":
            continue
        if HABIT == "dies":
            sys.stderr.write("panic: out of luck\n")
            sys.stderr.flush()
            os._exit(3)
        if HABIT == "flood":
            while True:
                say({"jsonrpc": "2.0", "method": "tick", "params": {}})
        if HABIT == "long":
            sys.stdout.buffer.write(b"x" * 5_000_000 + b"\n")
            sys.stdout.buffer.flush()
        if HABIT == "chatty" and b'"mine"' not in raw:
            say({"jsonrpc": "2.0", "method": "progress", "params": {"n": count}})
            say({"jsonrpc": "2.0", "id": "mine", "method": "ask", "params": {}})
        if HABIT == "late" and count == 0:
            time.sleep(0.7)
        try:
            message = json.loads(raw)
        except ValueError:
            say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no JSON"}})
            continue
        if isinstance(message, dict) and message.get("id") == "mine" and "method" not in message:
            continue
        if isinstance(message, list) and message:
            answers = [each for each in map(answer, message) if each is not None]
            if answers:
                say(answers)
        elif (reply := answer(message)) is not None:
            say(reply)
    if HABIT == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main()
