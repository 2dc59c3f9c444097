"""The behaving services of the five systems: the suite finds nothing, over whatever they are spoken
to.
"""

import pytest

from faultspec_conformance.drivers import Limits
from faultspec_conformance.results.model import Result, exit_code
from faultspec_conformance.session.options import RunOptions
from support.services import SYSTEMS, judged

#: Clauses that a system cannot be without: what it is an example of.
SHOWN = {
    "aileron": {
        "audit/recorded",
        "ids/format",
        "boundary/allowed",
        "retriable/agrees",
        "framework/unknown-id",
    },
    "alknet": {"discovery/agrees", "code/status", "retry/recovers", "auth/missing"},
    "theodosia": {
        *(
            "mcp/is-error",
            "mcp/unknown-tool",
            "mcp/invalid-arguments",
            "success/requires",
            "deadline/kept",
        ),
        *("navigation/offered", "navigation/not-offered", "audit/recorded", "discovery/agrees"),
    },
    "keenbench": {
        *("rpc/response", "rpc/id", "rpc/unknown-method", "rpc/parse-error", "rpc/invalid-request"),
        *("rpc/invalid-params", "rpc/batch", "rpc/notification", "leaks/canary"),
        "surface/repeated",
    },
}


@pytest.fixture(scope="module", params=SYSTEMS)
def run(request: pytest.FixtureRequest) -> tuple[str, Result]:
    """A system, and the run on its service."""
    return request.param, judged(request.param)


def test_the_suite_finds_nothing(run: tuple[str, Result]) -> None:
    """No finding, not even a warning; all that was asked for ran, and every code was seen, except
    those that the service cannot produce.
    """
    system, result = run
    assert [each.finding.message for each in result.findings] == []
    assert result.not_run == ()
    assert exit_code(result) == 0
    assert all(each.observed or each.explained for each in result.coverage.values()), system
    assert {each: result.clauses[each].verdict for each in SHOWN[system]} == dict.fromkeys(
        SHOWN[system], "passed"
    )


@pytest.mark.full
def test_the_verdicts_are_the_same_every_time(run: tuple[str, Result]) -> None:
    """Judged again, a fresh service has the same verdicts and the same coverage."""
    system, first = run
    again = judged(system)
    assert {each.address: each.verdict for each in again.clauses.values()} == {
        each.address: each.verdict for each in first.clauses.values()
    }
    assert {each.code: each.observed for each in again.coverage.values()} == {
        each.code: each.observed for each in first.coverage.values()
    }


def test_only_what_is_asked_for_is_exercised() -> None:
    """`--only` sends what its clauses take, and no more."""
    result = judged("keenbench", RunOptions(only="rpc/batch"))
    assert result.clauses["rpc/batch"].verdict == "passed"
    assert result.requests < 8
    assert set(result.clauses) == {"rpc/batch"}


def test_without_leave_nothing_is_called_that_may_write() -> None:
    """Only calls that are safe, and what reaches no method; what is therefore not exercised is
    reported.
    """
    from dataclasses import replace

    from faultspec_conformance.results.model import Report
    from faultspec_conformance.run.service import run
    from support.services import started, target, taxonomy

    with started("keenbench") as environment:
        described = replace(target("keenbench", environment), limits=Limits(writes=False))
        report = run(described, taxonomy("keenbench"), RunOptions())
    assert isinstance(report, Report)
    assert not any(each.observed for each in report.result.coverage.values())
    assert report.result.clauses["rpc/unknown-method"].verdict == "passed"
    assert report.result.clauses["rpc/batch"].verdict == "passed"
    assert report.result.clauses["provoke/code"].verdict == "not_exercised"
    assert "without `limits: {writes: true}`" in report.result.clauses["provoke/code"].reason
