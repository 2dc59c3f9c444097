"""Lines that switch clauses on: they are valid YAML of known keys, and a clean run names some."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faultspec import language, source
from faultspec.contract.clauses import CLAUSES
from faultspec.contract.clauses.enabling import LINES, enabling_line
from faultspec.language import constructs, grammar
from faultspec_conformance.config import read_config
from faultspec_conformance.config.form import CONFIGURATION
from faultspec_conformance.config.reading import check_config
from faultspec_conformance.reports import FORMATS
from faultspec_conformance.results.enabling import (
    _BY_ADDRESS,
    _BY_REASON,
    _NAMED_RECIPE,
    enablings,
    find_enabling,
    next_steps,
)
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


TAXONOMY = """
faultspec: 1
taxonomy: {name: base, version: 1.0.0}
boundaries: {service: The service.}
actions: {bind: {summary: Bind it.}}
detail_keys:
  field: {type: string}
  bad_items: {type: array}
  offset: {type: integer}
  retries: {type: integer}
  timeout_sec: {type: number}
  upstream_status: {type: integer}
envelopes:
  error:
    shape:
      code: $code
      message?: $message
      request_id?: $request_id
      boundary?: $boundary
      actions?: $actions
      details?: $details
    fields: {request_id: {type: string}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}
retry_policies: {patient: {max_attempts: 3, backoff: {kind: constant, base: 1s}}}
upstream: {retry: patient}
codes:
  not_found: {summary: It is not there., http: 404, retriable: caller}
  invalid_request: {summary: It is wrong., http: 400, retriable: caller}
  key_reused: {summary: The key is taken., http: 422, retriable: caller}
  timeout: {summary: It took too long., http: 504, retriable: true, retry: patient}
"""
"""A taxonomy with the names that the lines stand for."""


def parsed(text: str) -> object:
    """The data of a YAML text without mistakes."""
    document, diagnostics = source.parse(text + "\n", "text.yaml")
    assert document is not None, diagnostics
    return document.data


def merged(data: object, more: object) -> object:
    """Data with the members of other data: objects are merged, everything else is replaced."""
    if not isinstance(data, dict) or not isinstance(more, dict):
        return more
    return {**data, **{key: merged(data.get(key), value) for key, value in more.items()}}


@pytest.mark.parametrize("unmet", sorted(LINES))
def test_each_line_pasted_into_a_taxonomy_meets_its_requirement(unmet: str) -> None:
    """With the line the taxonomy has no errors, and the clause applies as far as the line goes."""
    text = json.dumps(merged(parsed(TAXONOMY), parsed(LINES[unmet])))
    loaded = language.read(text, "taxonomy.yaml")
    assert loaded.taxonomy is not None, [str(found.message) for found in loaded.diagnostics]
    requirements = [one for clause in CLAUSES.values() for one in clause.requires]
    assert all(one.is_met(loaded.taxonomy) for one in requirements if one.unmet == unmet)


CONFIGURATION_LINES = sorted(
    {line for _, line in _BY_REASON}
    | {_NAMED_RECIPE}
    | {line for line in _BY_ADDRESS.values() if line is not None}
)

BASE = {
    "http": {"target": {"http": "http://127.0.0.1:1", "openapi": "none"}},
    "jsonrpc": {"target": {"jsonrpc": "http://127.0.0.1:1"}},
}
TOKENS = dict.fromkeys(
    ("TOKEN", "FIRST_TOKEN", "SECOND_TOKEN", "READER_TOKEN", "PASSWORD"), "long-enough-a-secret"
)


@pytest.mark.parametrize("line", CONFIGURATION_LINES)
def test_each_line_pasted_into_a_configuration_is_accepted(line: str, tmp_path: Path) -> None:
    """With the line the conformance file has no errors, also by its taxonomy."""
    more = "codes: {not_found: {retriable: {until: bind, else: false}, actions: [bind]}}"
    rendering = "renderings: {tool_text: {shape: {role: tool, content: '${code}: ${message}'}}}"
    data = merged(merged(parsed(TAXONOMY), parsed(more)), parsed(rendering))
    loaded_taxonomy = language.read(json.dumps(data), "taxonomy.yaml").taxonomy
    assert loaded_taxonomy is not None
    (tmp_path / "taxonomy.yaml").write_text(json.dumps(data))
    base = BASE["jsonrpc" if "request: METHOD" in line else "http"]
    pasted = parsed(line.replace("CODE", "not_found"))
    whole = merged({"taxonomy": "taxonomy.yaml", **base}, pasted)
    (tmp_path / "conformance.yaml").write_text(json.dumps(whole))
    (tmp_path / "openapi.json").write_text("{}")
    loaded = read_config(str(tmp_path / "conformance.yaml"), TOKENS)
    assert loaded.target is not None, [found.message for found in loaded.diagnostics]
    assert not loaded.diagnostics
    assert loaded.document is not None
    assert not check_config(loaded.target, loaded_taxonomy, loaded.document)


IDLE = [
    ("upstream/jitter", "needed: Enough waits for a statistical test.", "upstreams:"),
    ("retry/recovers", "needed: A refused request, a wait, and the request again.", "provoke: {a"),
    ("fault/recovers", "the configuration declares no `faults`", "faults:"),
    ("document/sequences", "needed: Generated traffic", "sweep:"),
    ("document/schema", "needed: An answer with a body that has a documented schema.", None),
    ("framework/large-head", "needed: A large header section that is refused.", None),
    (
        "preconditions/recovers",
        "needed: A refused write, a read, and the write again.",
        "resources",
    ),
    ("preconditions/recovers", READ_ONLY, "limits:"),
    (
        "code/language",
        "needed: An error with one `Content-Language`, in which its code has a message.",
        "provoke: {a: {request: GET /path, headers: {Accept-Language: ",
    ),
    ("details/schema", "needed: An error with details and a declared code.", "provoke: {a: "),
]


@pytest.mark.parametrize(("address", "reason", "beginning"), IDLE)
def test_a_line_is_about_its_clause(address: str, reason: str, beginning: str | None) -> None:
    """A recipe is named only where a recipe gives the occasion, with a code of the taxonomy."""
    clause = ClauseResult(address, not_exercised=(reason,))
    line = enablings(result(clause, a=Coverage("a", reason="no recipe"))).get(address)
    assert (line is None) == (beginning is None)
    assert line is None or line.line.startswith(str(beginning))


def test_services_that_are_called_by_name_get_no_line_of_http() -> None:
    """Over JSON-RPC and MCP a recipe names a method, and a success needs a call."""
    other = ClauseResult(
        "http/head", not_checkable=("it applies to HTTP only; this service speaks MCP",)
    )
    error = ClauseResult("envelope/json", not_exercised=("needed: An error with a body.",))
    success = ClauseResult("success/requires", not_exercised=("needed: A success.",))
    found = enablings(result(other, error, success, a=Coverage("a", reason="no recipe")))
    assert found["envelope/json"].line == "provoke: {a: {request: METHOD, params: {}}}"
    assert found["success/requires"].line.startswith("calls:")


def test_what_is_declared_is_not_suggested_anew() -> None:
    """Where upstreams are declared, no line suggests others; the line of a limit has its code."""
    idle = {
        name: ClauseResult(name, "", idle="needed: A call upstream that writes.")
        for name in ("upstream/key", "retry/limit")
    }
    coverage = {
        "invalid": Coverage("invalid", 1, (400,)),
        "limited": Coverage("limited", 1, (429,)),
    }
    seen = {"upstream/once": ClauseResult("upstream/once", "", occasions=1)}
    result = Result("http://service", "shop 1.0.0", clauses={**idle}, coverage=coverage)
    assert "upstream/key" in enablings(result)
    assert "{limited: " in enablings(result)["retry/limit"].line
    assert "upstream/key" not in enablings(replace(result, clauses={**idle, **seen}))
