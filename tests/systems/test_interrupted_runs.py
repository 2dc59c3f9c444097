"""A run that is interrupted in any phase ends with its report. A second signal ends it at once."""

import json
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

PROGRAM = (sys.executable, "-c", "from faultspec.cli import main; main()")

TAXONOMY = """
faultspec: 1
taxonomy: {name: odd, version: 1.0.0, title: Odd, owner: nobody}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes: {absent: {summary: Not there, http: 404, retriable: none, client_action: none, effect: none}}
"""

#: Seconds within which an interrupted run ends, on a busy machine.
SOON = 30

DOCUMENT = json.dumps(
    {
        "openapi": "3.1.0",
        "info": {"title": "Odd", "version": "1"},
        "paths": {f"/a{number}": {"get": {"responses": {}}} for number in range(20)},
    }
)


def _message(status: str, body: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


class Phase(NamedTuple):
    """A way to answer: ``document`` and ``others`` yield the parts of an answer. ``asked``: the
    requests after which the run is in the phase.
    """

    document: Callable[[], Iterator[bytes]]
    others: Callable[[], Iterator[bytes]]
    asked: int


def _hang() -> Iterator[bytes]:
    time.sleep(SOON * 2)
    yield b""


def _drip() -> Iterator[bytes]:
    yield b"HTTP/1.1 404 N\r\nContent-Length: 100000\r\n\r\n"
    while True:
        time.sleep(0.1)
        yield b"x"


def _refuse() -> Iterator[bytes]:
    time.sleep(0.1)
    yield _message("404 N", '{"code": "surprise"}')


def _describe() -> Iterator[bytes]:
    yield _message("200 OK", DOCUMENT)


PHASES = {
    "it hangs": Phase(_hang, _hang, 1),
    "it drips": Phase(_drip, _drip, 1),
    "the document hangs": Phase(_hang, _refuse, 1),
    "the first answers hang": Phase(_describe, _hang, 2),
    "it probes": Phase(_describe, _refuse, 8),
    "it judges what it learned": Phase(_describe, _refuse, 26),
}


@contextmanager
def serving(phase: Phase) -> Iterator[tuple[str, threading.Event]]:
    """The address of such a service, and what is set once the run is in the phase."""
    reached = threading.Event()
    counts = iter(range(1, sys.maxsize))

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                head = self.request.recv(65536)
                if next(counts) >= phase.asked:
                    reached.set()
                parts = phase.document if b"openapi" in head.split(b"\r\n")[0] else phase.others
                for part in parts():
                    self.request.sendall(part)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", reached
        server.shutdown()


@contextmanager
def running(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """The command line in a process."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    run = subprocess.Popen([*PROGRAM, *arguments], cwd=cwd, text=True, **pipes)
    try:
        yield run
    finally:
        run.kill()
        run.wait()


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "with_taxonomy"),
    [(name, with_taxonomy) for name in PHASES for with_taxonomy in (False, True)][:-1],
)
def test_an_interrupted_run_reports_in_every_phase(
    name: str, with_taxonomy: bool, tmp_path: Path
) -> None:
    """Exit code 130, the report on standard output and in the file, both saying that the run was
    interrupted.
    """
    if with_taxonomy:
        (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    number = signal.SIGTERM if with_taxonomy else signal.SIGINT
    arguments = ("--seconds", "300", "--report", "json=report.json")
    with (
        serving(PHASES[name]) as (base, reached),
        running("conform", base, *arguments, cwd=tmp_path) as run,
    ):
        assert reached.wait(SOON)
        time.sleep(0.3)
        run.send_signal(number)
        out, err = run.communicate(timeout=SOON)
    assert run.returncode == 130, err
    assert "Traceback" not in err
    assert "the run was interrupted" in out
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["run"]["interrupted"]
    assert "the run was interrupted" in report["not_run"]


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    """A program that computes without end does not hold the command, and nothing stays behind."""
    code = (
        "from faultspec.cli.supervision import supervise\n"
        "import os, time\n"
        "import signal\n"
        "def work(announce, keep):\n"
        "    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "    print(os.getpid(), flush=True)\n"
        "    while True: time.sleep(60)\n"
        "raise SystemExit(supervise(work, lambda reason, kept: 2, isolated=True))\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        assert run.stdout is not None
        child = int(run.stdout.readline())
        run.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert run.poll() is None
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=3) == 130
    finally:
        run.kill()
        run.wait()
    for _ in range(50):
        if not Path(f"/proc/{child}").exists() or "Z" in _state(child):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the process of the run is still there")


def _state(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    return "Z"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("module", ["click", "gc", "faultspec.cli.interruption"])
def test_a_signal_while_modules_are_imported_ends_the_command_with_a_line(
    module: str, number: signal.Signals, tmp_path: Path
) -> None:
    """The first moments of a command end as all others do: with 130, and without a traceback."""
    program = (
        "import builtins, os, signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # nohup has it ignored
        "load = builtins.__import__\n"
        "def interrupt(name, *rest):\n"
        f"    if name == {module!r}:\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "    return load(name, *rest)\n"
        "from importlib.metadata import entry_points\n"
        "(entry,) = entry_points(group='console_scripts', name='faultspec')\n"
        "main = entry.load()\n"
        "builtins.__import__ = interrupt\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SOON,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_run_ends_the_command_with_a_line(
    number: signal.Signals, tmp_path: Path
) -> None:
    """While arguments and files are read, a signal ends the command with 130 and one line."""
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # nohup has it ignored
        "from faultspec.cli import main\n"
        "import faultspec.language as language\n"
        "def slow(path):\n"
        "    print('reading', flush=True)\n"
        # A signal that comes just before one long sleep waits for its end.
        "    while True: time.sleep(0.05)\n"
        "language.load = slow\n"
        "sys.argv = ['faultspec', 'conform', 'http://127.0.0.1:1', '--taxonomy', 'x.yaml']\n"
        "main()\n"
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    run = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, text=True, **pipes)
    try:
        assert run.stdout is not None
        assert run.stdout.readline() == "reading\n"
        run.send_signal(number)
        _, err = run.communicate(timeout=SOON)
    finally:
        run.kill()
        run.wait()
    assert run.returncode == 130
    assert err.strip() == "interrupted"
