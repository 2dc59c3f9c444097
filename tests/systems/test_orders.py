"""The reference service keeps the contract it is generated from, and the suite says so cheaply and
every time alike.
"""

import pytest

from faultspec import language
from faultspec.language.model import Taxonomy
from faultspec_conformance.orders import demo
from faultspec_conformance.orders.sins import SINS
from faultspec_conformance.results.model import Report, exit_code
from faultspec_conformance.results.required_coverage import RequiredCoverage, missing_coverage

TAXONOMY = "taxonomy.yaml"


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    """The flagship."""
    loaded = language.load(TAXONOMY)
    assert loaded.taxonomy is not None
    return loaded.taxonomy


@pytest.fixture(scope="module")
def clean(taxonomy: Taxonomy) -> Report:
    """The behaving service, judged by probes."""
    return judged(None, taxonomy)


def judged(sin: str | None, taxonomy: Taxonomy, *, sweep: bool = False) -> Report:
    """A run on a fresh service."""
    report = demo.judge_orders(sin, taxonomy, TAXONOMY, sweep=sweep)
    assert isinstance(report, Report), report
    return report


def test_the_reference_service_has_no_finding(clean: Report) -> None:
    """Nothing is found, not even a warning, and nothing that was asked for could not run."""
    assert [each.finding.message for each in clean.result.findings] == []
    assert clean.result.not_run == ()
    assert exit_code(clean.result) == 0
    assert list(missing_coverage(clean.result, RequiredCoverage(100.0))) == []


def test_every_code_is_observed(clean: Report) -> None:
    """All sixteen codes come about, each under a status that the map gives it."""
    assert all(each.observed for each in clean.result.coverage.values())
    assert len(clean.result.coverage) == 16


def test_every_clause_but_the_uncheckable_is_exercised(clean: Report) -> None:
    """On the reference service probes exercise every clause but that of generated traffic: it is
    there to show all of them.
    """
    idle = {
        address
        for address, clause in clean.result.clauses.items()
        if clause.verdict == "not_exercised"
    }
    # No fault switch is declared, no recipe expects more than its code, is sent at once or waits,
    # nothing is generated, no member of a request is confidential, no identity has a login,
    # no look-up of audit records is declared, and no slot has the id of a failure besides the
    # request's.
    assert idle == {
        *("document/sequences", "document/bounds", "fault/recovers", "idempotency/after-failure"),
        *("provoke/expected", "provoke/parallel", "provoke/state"),
        *("leaks/confidential", "auth/renewed"),
        *("audit/resolves", "audit/concealed", "ids/unique"),
        "preconditions/concurrent",  # its only update sends one quantity
        *("lists/pages", "lists/cursor", "lists/filter"),  # its lists have no parameters
        *("writes/server-owned", "retry/scope"),  # its file declares no such members, and no scope
        "references/exist",  # its details refer to resources, and its file names no root
    }


def test_the_run_costs_few_requests(clean: Report) -> None:
    """The budget of a run without the sweep, of a service with ten operations, each of which gets
    worthless credentials; a probe that needs more has to share its requests with another.
    """
    assert clean.result.requests <= 181


@pytest.mark.full
def test_the_verdicts_are_the_same_every_time(clean: Report, taxonomy: Taxonomy) -> None:
    """Five runs on fresh services, five times the same verdicts and the same coverage."""
    first = verdicts(clean)
    for _ in range(4):
        assert verdicts(judged(None, taxonomy)) == first


def verdicts(report: Report) -> dict[str, object]:
    """The parts of a report that must not vary from run to run."""
    coverage = {
        name: (each.observed, each.statuses) for name, each in report.result.coverage.items()
    }
    return {
        **{each.address: each.verdict for each in report.result.clauses.values()},
        "coverage": coverage,
    }


def test_the_sweep_finds_nothing(taxonomy: Taxonomy) -> None:
    """Generated traffic on the behaving service breaks no clause either."""
    report = judged(None, taxonomy, sweep=True)
    assert [each.finding.message for each in report.result.findings] == []
    assert report.result.generated > 0
    assert report.result.not_run == ()


@pytest.mark.full
@pytest.mark.parametrize("sin", SINS)
def test_every_sin_is_caught_by_its_clause(sin: str, taxonomy: Taxonomy) -> None:
    """The demo shows every sin that it offers."""
    report = judged(sin, taxonomy)
    assert SINS[sin].clause in {
        each.finding.clause for each in report.result.findings if each.level == "error"
    }
    assert exit_code(report.result) == 1


def test_the_tokens_stay_out_of_the_report(taxonomy: Taxonomy) -> None:
    """A finding shows the exchange with every credential masked."""
    report = judged("leaks-stack-trace", taxonomy)
    from faultspec_conformance.reports import FORMATS

    for name, form in FORMATS.items():
        shown = form(report)
        assert "leaks/stack-trace" in shown
        assert "demo-alice" not in shown, name
        assert "demo-bob" not in shown, name
