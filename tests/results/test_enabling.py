"""Lines that switch clauses on: they are valid YAML of known keys, and a clean run names some."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from faultspec import source
from faultspec.contract.clauses import CLAUSES
from faultspec.contract.clauses.enabling import LINES, enabling_line
from faultspec.language import constructs, grammar
from faultspec_conformance.config.form import CONFIGURATION
from faultspec_conformance.reports import FORMATS
from faultspec_conformance.results.enabling import _BY_REASON, enablings, find_enabling, next_steps
from faultspec_conformance.results.model import ClauseResult, Coverage, Report, Result

#: Problems of a fragment that a whole file would not have.
_OF_FRAGMENTS = {"missing-key"}


def problems(line: str, wanted: grammar.Type) -> Iterator[str]:
    """The fault of a line as a part of a file."""
    document, diagnostics = source.parse(line + "\n", "line.yaml")
    assert document is not None, line
    assert not diagnostics, line
    for problem in grammar.check_data(wanted, document.data):
        if problem.code not in _OF_FRAGMENTS:
            yield f"{problem.code}: {problem.message}"


UNMET = sorted({each.unmet for clause in CLAUSES.values() for each in clause.requires})


INSTALLED = frozenset(unmet for unmet in UNMET if "is not installed" in unmet)
"""Requirements of this machine, which no line of a taxonomy meets."""


@pytest.mark.parametrize("unmet", sorted({*UNMET} - INSTALLED))
def test_each_requirement_has_a_line(unmet: str) -> None:
    """Each requirement of a clause has a line, and the language knows all of its keys."""
    line = enabling_line(unmet)
    assert line is not None
    assert list(problems(line, constructs.DOCUMENT)) == []


def test_no_line_is_for_nothing() -> None:
    """Each line belongs to a requirement of a clause."""
    assert set(LINES) <= set(UNMET)


@pytest.mark.parametrize("line", [line for _, line in _BY_REASON])
def test_each_line_of_the_configuration_is_valid(line: str) -> None:
    """The conformance file knows all keys of the lines for reasons of probes."""
    assert list(problems(line, CONFIGURATION)) == []


def result(*clauses: ClauseResult, **coverage: Coverage) -> Result:
    """A result of clauses and of the coverage of codes."""
    return Result("t", "x 1", {clause.address: clause for clause in clauses}, coverage=coverage)


PASSED = ClauseResult("code/declared", occasions=1)
READ_ONLY = "nothing may be written (`limits: {writes: true}` allows it)"
UNWRITTEN = ClauseResult("idempotency/replay", not_exercised=(READ_ONLY,))
HEADER = ClauseResult("correlation/echo", not_checkable=("no field of an envelope has `echo`",))
ELSEWHERE = ClauseResult(
    "rpc/id", not_checkable=("it applies to JSON-RPC only; this service speaks HTTP",)
)


def test_a_run_that_checked_all_has_no_next_steps() -> None:
    """Clauses that passed, clauses of other transports and observed or explained codes suggest
    nothing.
    """
    seen, known = Coverage("a", 1), Coverage("b", reason="cannot be", explained=True)
    whole = result(PASSED, ELSEWHERE, a=seen, b=known)
    assert next_steps(whole) == ()
    assert "next:" not in FORMATS["text"](Report(whole, "http://h"))


def test_a_clean_run_names_the_worst_gap_first() -> None:
    """At most three steps, by the severity of what they would find, each with its line."""
    whole = result(PASSED, HEADER, UNWRITTEN, a=Coverage("a", reason="no recipe"))
    steps = next_steps(whole)
    assert [str(step.enabling) for step in steps] == [
        "conformance.yaml: limits: {writes: true}",
        "conformance.yaml: provoke: {a: {request: GET /path}}",
        "taxonomy.yaml: envelopes: {error: {fields: {request_id: {echo: X-Request-Id}}}}",
    ]
    shown = FORMATS["text"](Report(whole, "http://h"))
    assert "next:\n  check 1 clause: idempotency/replay\n    conformance.yaml: limits:" in shown


def test_a_run_that_may_not_write_says_so_for_all_writes() -> None:
    """In a run without writes, relations between writes name `limits`, whatever their own
    reason.
    """
    idle = ClauseResult("duplicates/refused", not_exercised=("no resource could be made",))
    found = enablings(result(UNWRITTEN, idle))
    assert {each.line for each in found.values()} == {"limits: {writes: true}"}
    (line,) = enablings(result(idle)).values()
    assert line.line.startswith("resources:")


def test_a_failed_run_has_no_next_steps() -> None:
    """A run with failures reports those alone."""
    failed = replace(PASSED, failures=1)
    assert "next:" not in FORMATS["text"](Report(result(failed, UNWRITTEN), "http://h"))


def test_other_transports_are_one_line() -> None:
    """The clauses of another transport have one line together, and no remedy."""
    others = (ELSEWHERE, replace(ELSEWHERE, address="rpc/batch"))
    shown = FORMATS["text"](Report(result(PASSED, *others), "http://h"))
    assert "not checkable  2 clauses apply to JSON-RPC only" in shown
    assert "rpc/id" not in shown
    assert find_enabling(ELSEWHERE) is None


def test_a_passed_clause_names_what_was_left_out() -> None:
    """A clause that passed on one resource says on which others it was not checked."""
    partly = replace(PASSED, not_exercised=("book: no operation reads it",))
    shown = FORMATS["text"](Report(result(partly), "http://h"))
    assert "1; left out: book: no operation reads it" in shown
