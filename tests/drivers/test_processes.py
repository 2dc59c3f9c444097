"""The process that `target: command` starts is the one that is judged, from the first request to
the last.
"""

import socket
import tracemalloc
from pathlib import Path

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.drivers.processes import (
    Running,
    StartFailed,
    refuse_taken_address,
    run_process,
)
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.upstreams import run_upstreams
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0, title: T, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes: {absent: {summary: Not there, http: 404, retriable: false}}
"""


class Mortal(Running):
    """A command that has ended once a number of questions was asked."""

    def __init__(self, questions: int) -> None:
        object.__setattr__(self, "questions", [None] * questions)

    __slots__ = ("questions",)

    def describe_end(self, *, lost: bool = False) -> str | None:
        """Nothing, until the questions are used up."""
        if self.questions:
            self.questions.pop()
            return None
        return "the command ended with exit code 3: no memory"


def test_an_address_that_answers_before_the_start_is_refused(tmp_path: Path) -> None:
    """A service that listens already is never judged in place of the command, which is not
    started.
    """
    mark = tmp_path / "started"
    with socket.create_server(("127.0.0.1", 0)) as other:
        url = f"http://127.0.0.1:{other.getsockname()[1]}"
        target = ServiceConfig(http=url, command=("touch", str(mark)), limits=Limits())
        with (
            pytest.raises(StartFailed, match="before the command starts") as failed,
            run_upstreams(target),
        ):
            pass
        assert "target.command" in str(failed.value)
        assert "stop what listens" in (failed.value.hint or "")
    assert not mark.exists()
    refuse_taken_address(url, "here")  # nobody listens any more


@pytest.mark.parametrize(
    ("script", "ended"),
    [
        ("echo no database; exit 3", "the command ended with exit code 3: no database"),
        ("kill -9 $$", "the command was ended by signal 9: it printed nothing"),
        (
            "printf 'a\\033]0;title\\007b\\000c'; exit 3",
            "the command ended with exit code 3: a\\x1b]0;title\\x07b\\x00c",
        ),
    ],
)
def test_how_a_command_ended_is_reported(tmp_path: Path, script: str, ended: str) -> None:
    """The exit code, or the signal, and the end of the output."""
    with run_process(("sh", "-c", script), {}, tmp_path, 60) as started:
        started.process.wait(10)
        assert started.describe_end() == ended


def test_a_command_that_floods_its_output_keeps_the_end(tmp_path: Path) -> None:
    """Of 200 MiB of output the end is kept in memory, nothing on disk, and the command does not
    wait.
    """
    script = "head -c 209715200 /dev/zero | tr '\\0' x; echo; echo the end; exit 3"
    tracemalloc.start()
    try:
        with run_process(("sh", "-c", script), {}, tmp_path, 60) as started:
            assert started.process.wait(60) == 3
            assert str(started.describe_end()).endswith("the end")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024 * 1024


@pytest.mark.parametrize("script", ["exec sleep 60", "sleep 60 & exit 0"])
def test_a_command_runs_as_long_as_what_it_launched(tmp_path: Path, script: str) -> None:
    """A launcher may end with success while the processes that it started go on."""
    with run_process(("sh", "-c", script), {}, tmp_path, 60) as started:
        if "&" in script:
            started.process.wait(10)
        assert started.describe_end() is None


@pytest.mark.parametrize("requests", [1, 3])
def test_a_command_that_ends_during_the_run_is_a_failure_after_its_request(requests: int) -> None:
    """The answers of another service at the same address do not hide that the command ended."""

    def script(request: Request) -> Response:
        return answer(200, {})

    session = http_session(script, TAXONOMY)
    session.started = Mortal(requests - 1)
    for number in range(1, requests + 1):
        session.call(RequestSpec("GET", f"/{number}"))
    (failure,) = session.observations.outcomes
    assert failure.clause == "service/alive"
    assert failure.finding is not None
    assert failure.finding.evidence[0].request.target == f"/{requests}"
    assert "exit code 3: no memory" in failure.finding.message
    with pytest.raises(Unanswered):
        session.call(RequestSpec("GET", "/after"))


def test_a_command_that_ends_after_the_last_request_is_a_failure() -> None:
    """The command lives until the run ends."""

    def script(request: Request) -> Response:
        return answer(200, {})

    session = http_session(script, TAXONOMY)
    session.started = Mortal(1)
    session.call(RequestSpec("GET", "/last"))
    assert session.observations.outcomes == []
    session.check_process()
    assert [outcome.clause for outcome in session.observations.outcomes] == ["service/alive"]
    session.check_process()
    assert len(session.observations.outcomes) == 1
