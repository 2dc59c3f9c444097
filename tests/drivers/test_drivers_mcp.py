"""The MCP driver: the same answers in process, over HTTP and over standard streams, each deadline
kept, and no thread or process left behind.
"""

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.drivers.mcp import McpDriver, ToolAnswer
from faultspec_conformance.drivers.processes import find_left
from miniatures.serve import serving
from paths import ROOT
from support.services import service

WRITES = Limits(writes=True)


@contextmanager
def driver(way: str, timeout: float = 5.0, limits: Limits = WRITES) -> Iterator[McpDriver]:
    """A driver of the coffee order, in process, over HTTP or over standard streams."""
    if way == "process":
        command = (sys.executable, "-c", _COFFEE)
        with McpDriver(command, limits, cwd=str(ROOT / "tests"), timeout=timeout) as opened:
            yield opened
        return
    if way == "in-process":
        with McpDriver(service("theodosia").server(), limits, timeout=timeout) as opened:
            yield opened
        return
    with (
        serving(service("theodosia").app(), lifespan="on") as base,
        McpDriver(f"{base}/mcp", limits, timeout=timeout) as opened,
    ):
        yield opened


def body_of(answer: ToolAnswer | NoAnswer) -> Any:
    """The JSON of an answer."""
    assert isinstance(answer, ToolAnswer), answer
    return json.loads(answer.response.body)


WAYS = pytest.mark.parametrize("way", ["in-process", "http", "process"])

#: The coffee order on standard streams.
_COFFEE = """
import anyio
from mcp.server.stdio import stdio_server
from support.services import service

async def main():
    server = service("theodosia").server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""

PEER = ROOT / "tests" / "miniatures" / "mcp_peer.py"


@WAYS
def test_a_result_comes_as_it_is(way: str) -> None:
    """The result of a tool is unchanged, with unknown members. An error of the protocol is
    marked as such.
    """
    with driver(way) as opened:
        taken = body_of(opened.call("step", {"action": "take_order"}))
        assert taken["structuredContent"]["valid_next_actions"] == [
            "add_modifier",
            "pay",
            "fetch_report",
            "cancel",
        ]
        refused = body_of(opened.call("step", {"action": "fulfill"}))
        assert refused["structuredContent"]["error"] == "invalid_transition"
        assert refused["isError"] is False
        unknown = opened.call("none", {})
        assert isinstance(unknown, ToolAnswer)
        assert unknown.protocol
        assert body_of(unknown)["error"]["code"] == -32602
        assert [each.name for each in opened.tools() or ()] == ["step"]  # type: ignore[union-attr]
        assert [each["action"] for each in body_of(opened.read("theodosia://history"))] == [
            "take_order",
            "fulfill",
        ]


@WAYS
def test_a_session_begins_anew(way: str) -> None:
    """A new session does not know what an earlier one did."""
    with driver(way) as opened:
        body_of(opened.call("step", {"action": "take_order"}))
        opened.begin()
        assert (
            body_of(opened.call("step", {"action": "pay"}))["structuredContent"]["error"]
            == "invalid_transition"
        )


@WAYS
def test_a_deadline_is_kept(way: str) -> None:
    """A tool that takes longer than an answer may is not waited for, and the next is answered."""
    with driver(way, timeout=60) as opened:
        body_of(opened.call("step", {"action": "take_order"}))
        usual, opened.timeout = opened.timeout, 0.15
        answer = opened.call("step", {"action": "fetch_report", "inputs": {"seconds": 9}})
        opened.timeout = usual
        assert isinstance(answer, NoAnswer)
        assert answer.kind == "timeout"
        assert (
            body_of(opened.call("step", {"action": "cancel"}))["structuredContent"]["state"]
            == "empty"
        )


@WAYS
def test_nothing_is_left_behind(way: str) -> None:
    """Neither a thread nor a socket, even where a call was under way."""
    before = set(threading.enumerate())
    with driver(way, timeout=60) as opened:
        body_of(opened.call("step", {"action": "take_order"}))
        opened.timeout = 0.1
        opened.call("step", {"action": "fetch_report", "inputs": {"seconds": 9}})
    deadline = time.monotonic() + 60
    while (
        left := {each for each in threading.enumerate() if each not in before and not each.daemon}
    ) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left


def test_nobody_listens() -> None:
    """Told as it is over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with McpDriver(f"http://127.0.0.1:{port}/mcp", WRITES) as opened:
        answer = opened.call("step", {})
    assert isinstance(answer, NoAnswer)
    assert answer.kind == "refused"


def test_the_budgets_hold() -> None:
    """No more requests than allowed, and nothing that may write without leave."""
    with driver("in-process", limits=Limits(requests=1)) as opened:
        first = opened.call("step", {"action": "take_order"})
        assert isinstance(first, NoAnswer)
        assert first.kind == "read-only"
        body_of(opened.call("step", {"action": "take_order"}, harmless=True))
        last = opened.tools()
        assert isinstance(last, NoAnswer)
        assert last.kind == "budget"


@pytest.mark.parametrize(
    ("habit", "kind", "words"),
    [
        ("dies", "closed", "exit code 3; its last line on standard error: panic: out of luck"),
        ("long", "closed", "a line is longer than"),
        ("silent", "timeout", "no answer within 0.5 s"),
        ("stubborn", "timeout", "no answer within 0.5 s"),
        ("floods", "timeout", "no answer within 0.5 s"),
    ],
)
def test_a_process_that_misbehaves_is_ended(habit: str, kind: str, words: str) -> None:
    """A process that ends, writes without end, floods or is silent is a value in time, and nothing
    is left of it.
    """
    with McpDriver((sys.executable, str(PEER), habit), WRITES) as opened:
        assert isinstance(opened.tools(), tuple)
        opened.timeout = 0.5 if kind == "timeout" else 10.0
        answer = opened.call("echo", {})
        leader = opened._processes[-1]._process.pid
        began = time.monotonic()
    assert isinstance(answer, NoAnswer), answer
    assert (answer.kind, words in answer.reason) == (kind, True), answer.reason
    assert time.monotonic() - began < 20  # all habits last for minutes
    deadline = time.monotonic() + 5
    while find_left(leader, "NO=MARK") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert find_left(leader, "NO=MARK") == ()


def test_other_output_of_a_process_is_counted() -> None:
    """A line besides the messages is not taken for an answer, and is kept."""
    with McpDriver((sys.executable, str(PEER), "prints"), WRITES) as opened:
        assert isinstance(opened.call("echo", {}), ToolAnswer)
        assert (opened.stray, opened.strays) == ((b"working on it",), 1)


def test_a_command_that_is_missing_is_an_error_of_the_system() -> None:
    """It raises OSError, as a service on standard streams does."""
    with pytest.raises(OSError, match="no-such-command"), McpDriver(("no-such-command",), WRITES):
        pass


def test_a_process_is_ended_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later session, and the end of the run, signal no process that was ended before: its number
    may be that of another one.
    """
    signalled: list[int] = []
    kill = os.killpg

    def count(leader: int, number: int) -> None:
        signalled.append(leader)
        kill(leader, number)

    monkeypatch.setattr("os.killpg", count)
    with McpDriver((sys.executable, str(PEER), "none"), WRITES) as opened:
        for _ in range(3):
            assert isinstance(opened.call("echo", {}), ToolAnswer)
            opened.begin()
        assert len(opened._processes) == 3
    assert len(signalled) == len(set(signalled)) == 3
