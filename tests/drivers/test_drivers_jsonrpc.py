"""JSON-RPC drivers: every answer finds its request, every deadline is kept, and nothing is left
behind.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from faultspec_conformance.drivers import ALL_BODIES, BODY_LIMIT, Limits, NoAnswer
from faultspec_conformance.drivers.jsonrpc import Message, ReceivedMessage, Remote
from faultspec_conformance.drivers.stdio import Process
from paths import ROOT

PEER = ROOT / "tests" / "miniatures" / "peer.py"
WRITES = Limits(writes=True)


def peer(*habits: str, limits: Limits = WRITES, timeout: float = 5.0) -> Process:
    """A driver of the scripted peer."""
    framing: Any = "content-length" if "--content-length" in habits else "lines"
    return Process([sys.executable, str(PEER), *habits], limits, framing=framing, timeout=timeout)


def request(id: object, method: str = "echo", **more: Any) -> Message:
    """A request."""
    return Message(
        method,
        json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": {"n": id}}).encode(),
        (id,),
        **more,
    )


def body_of(heard: ReceivedMessage | NoAnswer) -> Any:
    """The JSON of an answer."""
    assert isinstance(heard, ReceivedMessage), heard
    return json.loads(heard.response.body)


@pytest.mark.parametrize("framing", [(), ("--content-length",)])
@pytest.mark.parametrize("habit", [(), ("chatty",)])
def test_an_answer_finds_its_request(framing: tuple[str, ...], habit: tuple[str, ...]) -> None:
    """With either framing, an answer is found between other messages, and unprompted messages
    are kept with it.
    """
    with peer(*habit, *framing) as driver:
        for id in (1, "two", 3):
            heard = driver.send(request(id))
            assert body_of(heard) == {"jsonrpc": "2.0", "id": id, "result": {"n": id}}
            assert isinstance(heard, ReceivedMessage)
            assert [json.loads(each)["method"] for each in heard.between] == (
                ["progress", "ask"] if habit else []
            )
        assert body_of(driver.send(Message("x", b'{"jsonrpc": ')))["error"]["code"] == -32700
        assert driver.requests == 4


def test_a_notification_waits_for_silence_only() -> None:
    """Nothing is due, so nothing is waited for longer than a moment; the next answer is not
    confused by it.
    """
    with peer(timeout=600) as driver:
        began = time.monotonic()
        heard = driver.send(Message("echo", b'{"jsonrpc": "2.0", "method": "echo"}', due=False))
        assert isinstance(heard, ReceivedMessage)
        assert heard.response.body == b""
        assert time.monotonic() - began < 60
        assert body_of(driver.send(request(2)))["id"] == 2


@pytest.mark.parametrize(
    ("habit", "kind", "pattern"),
    [
        ("silent", "timeout", r"no answer within 0\.5 s"),
        ("flood", "timeout", r"no answer within 0\.5 s, and \d+ messages that are not answers"),
        (
            "dies",
            "closed",
            r"the process ended with exit code 3; its last line on standard error: panic: out of luck",
        ),
        ("long", "garbled", r"a line is longer than \d+ bytes"),
    ],
)
def test_missing_answers_of_a_peer_are_classified(habit: str, kind: str, pattern: str) -> None:
    """Silence, a flood, an end and a line without end are four things, each within the deadline."""
    with peer(habit, timeout=5.0 if habit in ("dies", "long") else 0.5) as driver:
        answer = driver.send(request(1))
        assert isinstance(answer, NoAnswer)
        assert (answer.kind, re.fullmatch(pattern, answer.reason) is not None) == (kind, True), (
            answer.reason
        )
        assert driver.listens() == (habit in ("silent", "flood"))


def test_a_peer_that_does_not_read_is_not_waited_for() -> None:
    """A pipe is full after some kilobytes; writing has a deadline too."""
    with peer("deaf", timeout=0.3) as driver:
        answer = driver.send(Message("echo", b"x" * 1_000_000, (1,)))
        assert isinstance(answer, NoAnswer)
        assert answer.kind == "timeout"


def test_a_late_answer_is_nobody_elses() -> None:
    """An answer after its deadline is dropped, not taken for the answer to the next request."""
    with peer("late", timeout=0.3) as driver:
        assert isinstance(driver.send(request(1)), NoAnswer)
        driver.timeout = 60
        assert body_of(driver.send(request(2)))["id"] == 2


def test_the_budgets_hold() -> None:
    """No more requests than allowed, and nothing that may write without leave."""
    with peer(limits=Limits(requests=1, writes=False)) as driver:
        first, second, third = (
            driver.send(request(1)),
            driver.send(request(2, harmless=True)),
            driver.send(request(3, harmless=True)),
        )
    assert isinstance(first, NoAnswer)
    assert first.reason == "`echo` is not sent without `limits: {writes: true}`"
    assert body_of(second)["id"] == 2
    assert isinstance(third, NoAnswer)
    assert third.kind == "budget"


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="processes are looked up in /proc"
)
def test_nothing_is_left_of_a_process_that_will_not_end() -> None:
    """A process that ignores the end of its input and SIGTERM is killed, with its children."""
    with peer("stubborn") as driver:
        driver.send(request(1))
        process = driver._running
        deadline = (
            time.monotonic() + 60
        )  # what it says of its child comes by another stream than its answer
        while (
            not (found := re.findall(rb"child (\d+)\n", process._stderr))
            and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        child = int(found[0])
        assert alive(child)
    deadline = time.monotonic() + 60
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(child)
    assert not alive(process._process.pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="processes are looked up in /proc"
)
def test_nothing_is_left_of_an_interrupted_run(tmp_path: Path, number: int) -> None:
    """An interrupted run ends its service and reports what it observed."""
    config = tmp_path / "conformance.yaml"
    taxonomy = ROOT / "examples" / "keenbench" / "taxonomy.yaml"
    command = [
        sys.executable,
        "-c",
        f"import os, sys; open('pid', 'w').write(str(os.getpid())); os.execv(sys.executable, [sys.executable, {str(PEER)!r}, 'silent'])",
    ]
    config.write_text(
        f"taxonomy: {taxonomy}\ntarget: {{stdio: {json.dumps(command)}}}\nlimits: {{writes: true}}\n"
    )
    suite = subprocess.Popen(
        [sys.executable, "-c", "from faultspec.cli import main; main()", "conform", str(config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_DFL
        ),  # nohup has it ignored, and that is respected
    )
    try:
        deadline = time.monotonic() + 300
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        pid = int((tmp_path / "pid").read_text())
        time.sleep(0.3)
        suite.send_signal(number)
        out, err = suite.communicate(timeout=300)
    finally:
        suite.kill()
    assert suite.returncode == 130, (out, err)
    assert b"the run was interrupted" in out
    assert not alive(pid)


def test_a_missing_command_is_reported(tmp_path: Path) -> None:
    """No traceback, and nothing judged."""
    from faultspec import language
    from faultspec_conformance.config import ServiceConfig
    from faultspec_conformance.run.service import run
    from faultspec_conformance.session.options import RunOptions, Unreachable

    loaded = language.load(str(ROOT / "examples" / "keenbench" / "taxonomy.yaml"))
    assert loaded.taxonomy is not None
    for command in (("no-such-command-anywhere",), (str(tmp_path),)):
        found = run(ServiceConfig(stdio=command), loaded.taxonomy, RunOptions())
        assert isinstance(found, Unreachable)
        assert "cannot be started" in found.reason


def test_nobody_listens_on_http() -> None:
    """A port without a listener is refused, as over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Remote(f"http://127.0.0.1:{port}/rpc", WRITES) as driver:
        answer = driver.send(request(1))
    assert isinstance(answer, NoAnswer)
    assert answer.kind == "refused"
    assert os.path.basename(answer.request.target) == "echo"


def scripted(text: str) -> Process:
    """A driver of a program that has ``json``, ``lines`` of its input, and ``put`` for messages."""
    start = (
        "import json, sys\n"
        "lines = sys.stdin\n"
        "def put(**message): print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)\n"
    )
    return Process([sys.executable, "-c", start + text], WRITES, timeout=20)


def test_a_refusal_repeats_a_short_id_only() -> None:
    """Refusals wait in memory until the process reads them, so a request with a long id, or with a
    list or an object as its id, gets none.
    """
    ids = "for id in ('a' * 1_000_000, [[]] * 1_000, {'a': 1}, 'short'): put(method='ask', id=id)\n"
    with scripted(
        f"lines.readline()\n{ids}put(id=1, result=json.loads(lines.readline())['id'])"
    ) as driver:
        assert body_of(driver.send(request(1)))["result"] == "short"


def test_unprompted_messages_are_kept_within_the_bytes_of_a_body() -> None:
    """Fifty messages of the size of a body would be 200 MB for each answer."""
    with scripted(
        "lines.readline()\n"
        "for _ in range(6): put(method='x', params=['a' * 1_500_000])\n"
        "put(id=1, result=1)"
    ) as driver:
        heard = driver.send(request(1))
        assert isinstance(heard, ReceivedMessage)
        assert sum(map(len, heard.between)) <= BODY_LIMIT
        assert (len(heard.between), heard.unkept) == (2, 4)
        assert driver.received > 3_000_000


def test_late_answers_of_a_long_run_are_short() -> None:
    """When a run has received much, it keeps no more long answers, as over HTTP."""
    with scripted("lines.readline()\nput(id=1, result='a' * 100_000)") as driver:
        driver.received = ALL_BODIES
        answer = driver.send(request(1))
        assert isinstance(answer, NoAnswer)
        assert (answer.kind, answer.reason) == ("garbled", "the answer is longer than 65536 bytes")
