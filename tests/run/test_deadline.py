"""The end of a run, whatever it is busy with."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from faultspec.cli.supervision import supervise
from faultspec.language import read
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers.http import Limits
from faultspec_conformance.reports import FORMATS
from faultspec_conformance.reports.reading import latest_report
from faultspec_conformance.results.defects import describe_defect
from faultspec_conformance.results.model import Report, Result
from faultspec_conformance.run import service
from faultspec_conformance.run.deadline import DeadlineReached, ResultLate, RunDeadline
from faultspec_conformance.session.options import RunOptions
from run.test_misbehaving_services import TAXONOMY, serving


def test_a_search_is_interrupted() -> None:
    """A regular expression that takes years ends in time."""
    began = time.monotonic()
    with pytest.raises(DeadlineReached), RunDeadline(0.1):
        re.search(r"^(a+)+$", "a" * 60 + "b")
    assert time.monotonic() - began < 5


def test_a_block_in_time_is_not_interrupted() -> None:
    """Neither then nor later; the handler and the timer of before are back."""
    before = signal.getsignal(signal.SIGALRM)
    with RunDeadline(0.0):
        pass
    time.sleep(0.6)
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_defect_names_our_frames_and_no_value() -> None:
    """The text of an exception may come from the service, so it stays out."""
    try:
        RunDeadline("secret of the service")  # type: ignore[arg-type]  # the defect
    except TypeError as error:
        text = describe_defect(error, "sweep")
    assert "TypeError at deadline:" in text
    assert "sweep" in text
    assert "secret" not in text


def lose(reason: str, kept: Iterable[str]) -> int:
    """Write the reason down, as a report would."""
    return 70 + ("without end" in reason) + 2 * ("SIGKILL" in reason)


def test_a_process_that_computes_without_end_is_ended() -> None:
    """Its report is written by the process that waited."""

    def work(announce: object, keep: object) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        announce("deadline", 0.1)  # type: ignore[operator]  # a function
        while True:
            pass

    assert supervise(work, lose, isolated=True) == 71


def test_a_process_that_is_killed_has_a_report() -> None:
    """As when memory runs out."""

    def work(announce: object, keep: object) -> int:
        signal.raise_signal(signal.SIGKILL)
        return 0

    assert supervise(work, lose, isolated=True) == 72


def test_a_defect_of_the_suite_has_a_report() -> None:
    """An exception outside of all probes still ends with a report."""

    def work(announce: object, keep: object) -> int:
        raise RuntimeError("value of the service")

    reasons: list[str] = []
    assert supervise(work, lambda reason, kept: reasons.append(reason) or 2, isolated=False) == 2  # type: ignore[func-returns-value]  # on purpose
    assert "RuntimeError" in reasons[0]
    assert "value" not in reasons[0]


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_exit_code_of_the_run_is_kept(code: int) -> None:
    """The process that waits adds nothing."""
    assert supervise(lambda announce, keep: code, lose, isolated=True) == code


@pytest.mark.parametrize("isolated", [True, False])
def test_what_was_kept_outlives_its_process(isolated: bool) -> None:
    """The report of a loss gets the last texts that were kept, also that of an exception."""
    found: list[str] = []

    def work(announce: object, keep: Callable[[str], None]) -> int:
        for number in range(5):
            keep(f"report {number}")
        if isolated:
            signal.raise_signal(signal.SIGKILL)
        raise RuntimeError

    def lose(reason: str, kept: Iterable[str]) -> int:
        found.extend(kept)
        return 2

    assert supervise(work, lose, isolated=isolated) == 2
    assert sorted(found) == ["report 3", "report 4"]


def test_of_kept_texts_the_latest_whole_one_is_read() -> None:
    """Of two texts the one is read that is whole, and of two whole ones the later one."""
    early, late = (
        FORMATS["json"](Report(Result("t", "shop 1.0.0", requests=requests), base="t"))
        for requests in (1, 2)
    )
    latest = latest_report([late, early])
    assert latest is not None
    assert latest.result.requests == 2
    cut = latest_report([late[:-20], early])
    assert cut is not None
    assert cut.result.requests == 1
    assert latest_report(["", late[:40]]) is None


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems pass orphans to the first process"
)
@pytest.mark.parametrize("end", ["return", "signal"])
@pytest.mark.parametrize("deaf", [False, True])
def test_a_daemon_does_not_outlive_the_run(tmp_path: Path, end: str, deaf: bool) -> None:
    """A process that left its parent, its session and its environment ends with the run, though it
    ignores SIGTERM; a child of before stays.
    """
    mark = tmp_path / "pid"
    trap = "trap '' TERM; " if deaf else ""
    daemon = f"{trap}echo $$ > {mark}.new; mv {mark}.new {mark}; while :; do sleep 0.1; done"

    def work(announce: object, keep: object) -> int:
        subprocess.run(["setsid", "--fork", "env", "-i", "/bin/sh", "-c", daemon], check=True)
        while not mark.exists():
            time.sleep(0.01)
        if end == "signal":
            os.kill(os.getpid(), signal.SIGKILL)
        return 5

    earlier = subprocess.Popen(["sleep", "60"])
    try:
        assert supervise(work, lose, isolated=True) == (5 if end == "return" else 72)
        assert not Path(f"/proc/{int(mark.read_text())}").exists()
        assert earlier.poll() is None
    finally:
        earlier.kill()
        earlier.wait()


def test_a_result_that_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a run computes after its last request ends soon after the limit, too. The caller
    gets an error, not the interruption of its program.
    """

    def compute(*_: object, **__: object) -> None:
        while True:
            pass

    monkeypatch.setattr(service, "conclude", compute)
    taxonomy = read(TAXONOMY, "chaos.yaml").taxonomy
    assert taxonomy is not None
    began = time.monotonic()
    with serving(None, 1_000) as url:
        config = ServiceConfig(http=url, limits=Limits(requests=5, seconds=0.3))
        with pytest.raises(ResultLate):
            service.run(config, taxonomy, RunOptions(sweep=False))
    assert time.monotonic() - began < 5


def test_only_the_writing_of_reports_outlives_the_limit() -> None:
    """A run that still computes then is ended, and one that writes its reports is not."""

    def work(announce: Callable[[str, float], None], keep: object) -> int:
        announce("deadline", 0.1)
        announce("report", 0)
        time.sleep(2.5)
        return 5

    assert supervise(work, lose, isolated=True) == 5
