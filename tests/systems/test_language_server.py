"""A language server in small: its session, states and ends are judged, and each of its sins is
found; a run ends in its time whatever the process does.
"""

import os
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from faultspec.language import load
from faultspec.language.model import Taxonomy
from faultspec_conformance import drivers
from faultspec_conformance.config import ServiceConfig, read_config
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from paths import TESTS

HERE = TESTS / "miniatures"

#: The clause that each sin breaks.
BROKEN = {
    "parse-silent": "rpc/parse-error",
    "request-silent": "rpc/invalid-request",
    "early": "rpc/state",
    "twice": "rpc/state",
    "late": "rpc/state",
    "prints": "rpc/output",
    "logs": "rpc/output",
    "exit-code": "rpc/end",
    "exit-child": "rpc/end",
    "exit-daemon": "rpc/end",
    "uncancelled": "provoke/code",
    "not-busy": "provoke/code",
    "no-progress": "provoke/expected",
    "wrong-number": "rpc/invalid-params",
}

#: A variable that marks the processes of a test.
MARK = "FAULTSPEC_EDITOR"


@cache
def declared() -> tuple[Taxonomy, ServiceConfig]:
    """The taxonomy and the configuration of the editor."""
    taxonomy = load(str(HERE / "editor-taxonomy.yaml")).taxonomy
    read = read_config(str(HERE / "editor.yaml"), {"PYTHON": sys.executable})
    assert taxonomy is not None
    assert read.target is not None, read.diagnostics
    return taxonomy, read.target


def judge(*sins: str, only: str | None = None, seconds: float = 60.0, **changes: object) -> Report:
    """The report of a run against the editor."""
    taxonomy, target = declared()
    target = replace(
        target,
        stdio=(*target.stdio, *sins),
        **{"limits": replace(target.limits, seconds=seconds), **changes},  # type: ignore[arg-type]  # each test changes other fields
    )
    report = run(target, taxonomy, RunOptions(only=only))
    assert isinstance(report, Report), report
    return report


def failing(report: Report) -> set[str]:
    """The clauses that failed."""
    return {name for name, clause in report.result.clauses.items() if clause.verdict == "failed"}


def promising_batches(taxonomy: Taxonomy) -> Taxonomy:
    """The taxonomy with a promise to take batches."""
    surface = taxonomy.surfaces["rpc"]
    assert surface.protocol is not None
    surface = surface._replace(protocol=surface.protocol._replace(batches=True))
    return taxonomy._replace(surfaces={"rpc": surface})


def test_a_behaving_server_is_judged_to_the_end() -> None:
    """Nothing fails, nothing could not run, and the clauses of sessions are decided."""
    report = judge()
    verdicts = {name: clause.verdict for name, clause in report.result.clauses.items()}
    assert failing(report) == set()
    assert "could_not_run" not in verdicts.values()
    assert {
        clause
        for clause in {*BROKEN.values(), "rpc/unknown-method"}
        if verdicts[clause] != "passed"
    } == set()


@pytest.mark.parametrize(("sin", "clause"), BROKEN.items(), ids=BROKEN)
def test_a_sin_is_found(sin: str, clause: str) -> None:
    """The clause of a sin fails, and the run goes on to its end: no other clause could not run."""
    report = judge(sin, only=clause)
    assert clause in failing(report)
    others = {name: other for name, other in report.result.clauses.items() if name != clause}
    assert "could_not_run" not in {other.verdict for other in others.values()}


def test_a_call_that_is_cancelled_and_answered_is_found() -> None:
    """A second answer to a request is found, although nobody waits for it."""
    report = judge("built-and-cancelled", seconds=30.0)
    findings = [each.finding for each in report.result.findings]
    assert any(
        found.clause == "rpc/id" and "a second answer to build" in found.message
        for found in findings
    )


def test_a_call_that_is_cancelled_into_silence_fails_its_recipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The service is asked whether it still answers. Then the recipe failed, and the service does
    not hang.
    """
    monkeypatch.setattr(drivers, "TIMEOUT", 1.5)
    report = judge("cancel-silent", only="provoke/code")
    assert failing(report) == {"provoke/code"}
    (found, *_) = report.result.findings
    assert "though the service answered the request after it" in found.finding.message


def test_without_writes_each_recipe_says_why_it_was_not_sent() -> None:
    """A read-only run undoes nothing, so a recipe with steps to undo hides no other one."""
    _, target = declared()
    limits = replace(target.limits, writes=False)
    report = judge(only="provoke/code", limits=limits, recipes=target.recipes[::-1])
    coverage = report.result.coverage
    reasons = {code: coverage[code].reason or "" for code in ("busy", "cancelled", "modified")}
    assert {code for code, why in reasons.items() if "is not sent without" not in why} == set()


@pytest.mark.full
def test_a_silence_to_unknown_methods_ends_no_run() -> None:
    """A service that gives no answer to unknown methods is asked everything else."""
    report = judge("unknown-silent")
    assert failing(report) == {"rpc/unknown-method", "rpc/id", "provoke/code"}


def test_a_service_without_batches_is_blamed_only_if_it_promises_them() -> None:
    """Neither a refusal nor a silence to a batch fails, unless the taxonomy promises batches."""
    taxonomy, target = declared()
    surface = taxonomy.surfaces["rpc"]
    assert surface.protocol is not None
    open_surface = surface._replace(protocol=surface.protocol._replace(batches=None))
    for sin in ("batch-silent", "none"):
        service = replace(target, stdio=(*target.stdio, sin))
        for known, clauses in (
            (taxonomy._replace(surfaces={"rpc": open_surface}), set[str]()),
            (promising_batches(taxonomy), {"rpc/batch"}),
        ):
            report = run(service, known, RunOptions(only="rpc/batch"))
            assert isinstance(report, Report)
            assert failing(report) == clauses, sin


def marked() -> list[int]:
    """The running processes with the mark of this test in their environment."""
    mark = f"{MARK}={os.getpid()}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            running = "State:\tZ" not in (path / "status").read_text()
            if running and mark in (path / "environ").read_bytes().split(b"\0"):
                found.append(int(path.name))
        except OSError:
            continue
    return found


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are read in /proc")
@pytest.mark.parametrize(
    "habit",
    ["silent", "deaf", "floods", "forks", "exit-ignored", *(f"dies-{n}" for n in range(1, 40, 6))],
)
def test_a_run_ends_in_its_time(habit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the process does, the run ends soon after its limit with a report that is not a pass
    of everything, and no process is left.
    """
    monkeypatch.setenv(MARK, str(os.getpid()))
    began = time.monotonic()
    report = judge(habit, seconds=4.0)
    assert time.monotonic() - began < 4.0 + 8.0  # two seconds on a quiet machine
    assert failing(report) or not report.result.complete
    deadline = time.monotonic() + 5
    while marked() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked() == []
