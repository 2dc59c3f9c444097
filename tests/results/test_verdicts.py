"""Verdicts: an unexercised clause never passes, shards merge to one run, waivers expire."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec import source
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.results import waivers
from faultspec_conformance.results.merge import merge_results
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    ReportedFinding,
    Result,
    Shard,
    exit_code,
)
from faultspec_conformance.results.required_coverage import (
    RequiredCoverage,
    missing_coverage,
    parse_required_coverage,
)

ADDRESSES = ("headers/retry-after", "code/declared", "tenancy/concealed")
REASONS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True).map(tuple)
CLAUSES = st.builds(
    ClauseResult,
    st.sampled_from(ADDRESSES),
    occasions=st.integers(0, 3),
    failures=st.integers(0, 2),
    not_run=REASONS,
    not_exercised=REASONS,
    not_checkable=REASONS,
)
FINDINGS = st.builds(
    lambda clause, status, count: ReportedFinding(Finding(clause, "m", status=status), count),
    st.sampled_from(ADDRESSES),
    st.sampled_from([404, 500]),
    st.integers(1, 3),
)
COVERAGES = st.builds(
    lambda count: Coverage(
        "not_found",
        count,
        (404,) * bool(count),
        ("GET /a",) * bool(count),
        None if count else "why",
    ),
    st.integers(0, 2),
)
RESULTS = st.builds(
    lambda clauses, findings, coverage, requests: Result(
        "t",
        "x",
        {each.address: each for each in clauses},
        tuple({each.finding.fingerprint: each for each in findings}.values()),
        {"not_found": coverage},
        requests,
    ),
    st.lists(CLAUSES, max_size=3),
    st.lists(FINDINGS, max_size=3),
    COVERAGES,
    st.integers(0, 9),
)


def clause(**given: object) -> Result:
    """A result of one clause."""
    return Result("t", "x", {"a/b": ClauseResult("a/b", **given)})  # type: ignore[arg-type]


@given(index=st.integers(0, 50), of=st.integers(1, 7))
def test_each_item_belongs_to_one_shard(index: int, of: int) -> None:
    """The shards of a run partition its items; the first item belongs to the first shard."""
    owners = [number for number in range(1, of + 1) if Shard(number, of).has(index)]
    assert len(owners) == 1
    assert Shard(1, of).has(0)


def test_generated_requests_add_up() -> None:
    """A merged result counts the generated requests of both parts."""
    parts = [replace(clause(occasions=1), generated=number) for number in (5, 7)]
    assert merge_results(*parts).generated == 12


@pytest.mark.parametrize(("text", "percent"), [("100%", 100.0), ("101%", None), ("0%", 0.0)])
def test_a_percentage_ends_at_a_hundred(text: str, percent: float | None) -> None:
    """Required coverage takes 0 % to 100 %."""
    expected = None if percent is None else RequiredCoverage(percent)
    assert parse_required_coverage(text) == expected


@pytest.mark.parametrize(
    ("result", "verdict", "code"),
    [
        (clause(occasions=1), "passed", 0),
        (clause(occasions=2, failures=1), "failed", 1),
        (clause(), "not_exercised", 2),
        (clause(not_checkable=("said nowhere",)), "not_checkable", 2),
        (clause(not_checkable=("said nowhere",), not_exercised=("nobody",)), "not_exercised", 2),
        (clause(not_run=("refused",)), "could_not_run", 2),
        (clause(occasions=1, not_run=("refused",)), "passed", 0),
        (clause(occasions=1, known=1), "passed", 0),
    ],
)
def test_one_word_a_clause(result: Result, verdict: str, code: int) -> None:
    """A clause without an occasion is not passed, and a run without one is not clean."""
    assert result.clauses["a/b"].verdict == verdict
    assert exit_code(result) == code


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"occasions": 1}, ""),
        ({"occasions": 1, "failures": 1}, ""),
        ({"not_run": ("refused",)}, "refused"),
        ({"not_checkable": ("never sent",)}, "never sent"),
        ({"not_exercised": ("no route", "no body")}, "no route; no body"),
        ({}, "idle"),
    ],
)
def test_only_an_undecided_clause_has_a_reason(given: dict[str, object], reason: str) -> None:
    """A clause that passed or failed has no reason, whatever other reasons were collected."""
    decided = "occasions" in given
    reasons = dict.fromkeys(("not_run", "not_exercised", "not_checkable"), ("other",))
    result = clause(**{**(reasons if decided else {}), "idle": "idle", **given})
    assert result.clauses["a/b"].reason == reason


def test_what_could_not_run_is_not_clean_but_a_failure_outweighs_it() -> None:
    """2 when something asked for could not run, 1 as soon as anything failed."""
    passed = clause(occasions=1)
    assert exit_code(replace(passed, not_run=("the sweep",))) == 2
    assert exit_code(replace(passed, failures=("a waiver expired",))) == 1
    assert exit_code(replace(clause(occasions=1, failures=1), not_run=("the sweep",))) == 1


def test_coverage_is_required_when_asked() -> None:
    """A code that is neither observed nor explained fails only a run that requires coverage."""
    result = replace(clause(occasions=1), coverage={"a": Coverage("a", reason="no recipe")})
    assert exit_code(result) == 0
    assert "no recipe" in next(missing_coverage(result, RequiredCoverage(100.0)))
    explained = replace(result, coverage={"a": Coverage("a", reason="cannot be", explained=True)})
    assert list(missing_coverage(explained, RequiredCoverage(100.0))) == []


@given(RESULTS, RESULTS, RESULTS)
def test_shards_merge_in_any_grouping(first: Result, second: Result, third: Result) -> None:
    """Merging shards is associative, so the order of merging does not matter."""
    assert merge_results(merge_results(first, second), third) == merge_results(
        first, merge_results(second, third)
    )


@given(RESULTS, RESULTS)
def test_merging_keeps_the_stronger_verdict(first: Result, second: Result) -> None:
    """A clause that failed in one shard fails in the whole; one that passed in any and failed in
    none passed.
    """
    whole = merge_results(first, second)
    for address, each in whole.clauses.items():
        verdicts = {
            shard.clauses[address].verdict for shard in (first, second) if address in shard.clauses
        }
        assert ("failed" in verdicts) <= (each.verdict == "failed")
        if verdicts == {"passed"}:
            assert each.verdict == "passed"
    assert whole.requests == first.requests + second.requests
    fingerprints = {
        each.finding.fingerprint for shard in (first, second) for each in shard.findings
    }
    assert {each.finding.fingerprint for each in whole.findings} == fingerprints
    assert len(whole.findings) == len(fingerprints)


EXCHANGE = Exchange(Request("GET", "/a"), Response(404))
FINDING = Finding(
    "headers/cache-control",
    "m",
    operation="GET /a",
    code="not_found",
    status=404,
    evidence=(EXCHANGE,),
)
WAIVER = waivers.Waiver("headers/*", "known", "team", date(2030, 1, 1))


@pytest.mark.parametrize(
    ("changes", "covers"),
    [
        ({}, True),
        ({"operation": "GET /*"}, True),
        ({"operation": "GET /b"}, False),
        ({"code": "conflict"}, False),
        ({"status": 404}, True),
        ({"status": 500}, False),
        ({"clause": "leaks/*"}, False),
    ],
)
def test_a_waiver_covers_what_it_names(changes: dict[str, object], covers: bool) -> None:
    """All that a waiver says must hold of the finding."""
    assert replace(WAIVER, **changes).covers(FINDING) is covers  # type: ignore[arg-type]


def test_waivers_do_not_rot() -> None:
    """Expired waivers, and unused waivers of exercised clauses, are reported. Waivers of
    unexercised clauses are not.
    """
    exercised = {"headers/cache-control"}

    def sentences(waiver: waivers.Waiver, used: int, today: date) -> list[str]:
        return [
            *waivers.expired_waivers({waiver: used}, today),
            *waivers.unused_waivers({waiver: used}, exercised),
        ]

    assert sentences(WAIVER, 1, date(2029, 1, 1)) == []
    assert "expired on 2030-01-01" in sentences(WAIVER, 1, date(2030, 1, 2))[0]
    assert "no longer needed" in sentences(WAIVER, 0, date(2029, 1, 1))[0]
    assert sentences(replace(WAIVER, clause="leaks/*"), 0, date(2029, 1, 1)) == []
    assert list(
        waivers.unknown_clauses(
            [replace(WAIVER, clause="headers/cache-contol")], ["headers/cache-control"]
        )
    ) == [
        "the waiver headers/cache-contol names an unknown clause; did you mean `headers/cache-control`?"
    ]


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("- {clause: a/b, reason: r, owner: o}\n", "a waiver lacks `expires`"),
        (
            "- {clause: a/b, reason: r, owner: o, expires: soon}\n",
            "`soon` is not a day such as 2026-12-31",
        ),
        (
            "- {clause: a/b, reason: r, owner: o, expires: 2026-02-30}\n",
            "`2026-02-30` is not a day of the calendar",
        ),
        (
            "- {clause: a/b, reason: r, owner: o, expires: 2026-02-03, operaton: x}\n",
            "a waiver has no key `operaton`",
        ),
    ],
)
def test_mistakes_in_waivers_are_reported(text: str, phrase: str) -> None:
    """A waiver needs a clause, a reason, an owner and a day."""
    document, _ = source.parse(text, "waivers.yaml")
    assert document is not None
    found, diagnostics = waivers.parse_waivers(document, document.data, ())
    assert found == ()
    assert [each.message for each in diagnostics] == [phrase]
    assert diagnostics[0].span is not None
