"""A run that judged next to nothing is not a success, and undecided answers are counted."""

from datetime import date

import pytest

from faultspec.exchange.finding import Finding, Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.reports.console import text
from faultspec_conformance.reports.data import json as write_json
from faultspec_conformance.reports.page import html
from faultspec_conformance.reports.reading import read_report
from faultspec_conformance.results.conclusion import conclude
from faultspec_conformance.results.merge import merge_reports, merge_results
from faultspec_conformance.results.model import (
    ClauseResult,
    Report,
    ReportedFinding,
    Result,
    Shard,
    exit_code,
)
from faultspec_conformance.run.summarize import count_judged
from faultspec_conformance.session.observation import Observation

DAY = date(2026, 1, 1)
PASSED = {"service/alive": ClauseResult("service/alive", occasions=1)}


def result(errors: int | None, held: int) -> Result:
    """A run in which a clause passed."""
    return Result("http://x", "t 1", clauses=PASSED, errors=errors, held=held)


@pytest.mark.parametrize(
    ("errors", "held", "code"),
    [(0, 0, 2), (17, 0, 2), (100, 9, 2), (100, 10, 0), (1, 1, 0), (None, 0, 0)],
)
def test_a_run_that_judged_hardly_any_error_could_not_run(
    errors: int | None, held: int, code: int
) -> None:
    """Fewer than a tenth of the errors held to an envelope or a code: exit code 2, one sentence
    with both numbers.
    """
    concluded = conclude(result(errors, held), DAY)
    assert exit_code(concluded) == code
    assert len(concluded.not_run) == (code == 2)
    if errors and code:
        assert f"only {held} of {errors} error answers" in concluded.not_run[0]
        assert "declare the `envelope`" in concluded.not_run[0]


def test_a_selection_of_clauses_need_not_judge_errors() -> None:
    """A run with `--only` is asked for less."""
    assert exit_code(conclude(result(0, 0), DAY, only="service/*")) == 0


def test_what_fails_stays_a_failure() -> None:
    """Exit code 1 comes before 2."""
    failed = {"a": ClauseResult("a", occasions=1, failures=1)}
    assert exit_code(conclude(Result("x", "t 1", clauses=failed, errors=17), DAY)) == 1


def test_shards_are_added_up_before_it_is_decided() -> None:
    """A shard that met no error proves nothing, and the JSON report carries the numbers."""
    shards = [
        Report(merge_results(result(0, 0), Result("http://x", "t 1", shards=(Shard(1, 2),))), ""),
        Report(merge_results(result(20, 20), Result("http://x", "t 1", shards=(Shard(2, 2),))), ""),
    ]
    read = {str(number): read_report(write_json(each)) for number, each in enumerate(shards)}
    whole = merge_reports(read, DAY)
    assert (whole.result.errors, whole.result.held) == (20, 20)
    assert exit_code(whole.result) == 0


def observed(
    status: int, *exercised: str, lacks: tuple[str, ...] = (), found: str = ""
) -> Observation:
    """An error answer that exercised these clauses."""
    exchange = Exchange(Request("GET", "/x"), Response(status), lacks=frozenset(lacks))
    findings = (Finding(found, "it is broken"),) if found else ()
    return Observation(exchange, Judgement(findings, frozenset(exercised), is_error=True))


def test_what_counts_as_held() -> None:
    """An envelope, a code, or a finding that no surface claims the answer; not an answer without a
    body.
    """
    known = observed(404, "surface/known", "envelope/json")
    foreign = observed(404, "surface/known")
    unclaimed = observed(404, "surface/known", found="surface/known")
    head = observed(404, "surface/known", "http/head-body")
    cut = observed(404, "surface/known", lacks=("http/head-body",))
    log = observed(404, "surface/known", lacks=("body",))
    assert count_judged([known, foreign, unclaimed, head, cut, log]) == (3, 2)


def test_every_report_shows_what_was_undecided() -> None:
    """The number of answers and the fact that is missing, beside the verdict."""
    why = {"`operation.idempotent` is unknown: nobody declares it": 27}
    clause = ClauseResult("retriable/agrees", occasions=4, undecided=why)
    report = Report(Result("http://x", "t 1", clauses={"retriable/agrees": clause}), "http://x")
    for shown in (text(report), html(report), write_json(report)):
        assert "27" in shown
        assert "operation.idempotent" in shown
    assert read_report(write_json(report)).result == report.result
    only_undecided = ClauseResult("retriable/agrees", undecided=why, idle="needed: an error")
    assert only_undecided.verdict == "not_exercised"
    assert "undecided 27 times" in only_undecided.reason


def test_what_another_clause_reports_is_undecided() -> None:
    """If most errors break the form, a refusal that breaks it does not look as if it had passed:
    its clause counts it as undecided, by the clause that reports it.
    """
    finding = Finding("framework/unknown-route", "the form is broken")
    clause = ClauseResult(finding.clause, occasions=3, failures=2)
    seen = Result(
        "http://x",
        "t 1",
        clauses={finding.clause: clause},
        findings=(ReportedFinding(finding, count=2, form="envelope/json"),),
        ordinary=10,
        forms={"envelope/json": 8},
    )
    concluded = conclude(seen, DAY).clauses[finding.clause]
    assert (concluded.verdict, concluded.occasions) == ("passed", 1)
    assert "undecided 2 times" in concluded.reason
    assert "`envelope/json` reports" in concluded.reason
