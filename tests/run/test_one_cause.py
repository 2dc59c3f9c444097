"""A crash is one finding, whatever else its answer breaks; only leaks are reported beside it."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from faultspec.contract.crashes import EXPLAINED
from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.language import read
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.probes import bodies
from faultspec_conformance.results.model import Result
from faultspec_conformance.run.summarize import summarize
from faultspec_conformance.session.options import RunOptions
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, message: $message}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes:
  bad: {summary: Bad input, http: 400, retriable: false}
  internal: {summary: A crash, http: 500, retriable: false}
headers: {Cache-Control: {on: [4xx, 5xx], presence: required}}
privacy: {detectors: [stack-trace]}
undeclared: {becomes: internal}
"""
DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "paths": {
        "/orders": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
                "responses": {"201": {"description": "created"}},
            }
        }
    },
}
TRACE = 'Traceback (most recent call last):\\n  File "/srv/app.py", line 3, in create\\nKeyError: 1'
PAGE = Response(500, (("content-type", "text/html"),), b"<h1>Internal Server Error</h1>")
FORM = replace(PAGE, status=400)


def result(malformed: Response, only: str | None = None) -> Result:
    """The result of malformed bodies, which the service answers in this way."""

    def service(request: Request) -> Response:
        return answer(201, {}) if request.body in (b"", b"{}") else malformed

    session = http_session(service, TAXONOMY, document=DOCUMENT)
    session.record_results(bodies.malformed_bodies(session))
    return summarize(session, session.contract.clauses, RunOptions(only=only), frozenset())


def broken(found: Result) -> set[str]:
    """The clauses of the findings."""
    return {reported.finding.clause for reported in found.findings}


def test_a_crash_on_malformed_input_is_one_finding() -> None:
    """The form of a crash, its headers and the refusal that was expected are not reported again.
    Their clauses neither pass nor fail.
    """
    found = result(PAGE)
    assert broken(found) == {"service/no-crash"}
    for clause in ("framework/malformed-json", "envelope/json", "headers/cache-control"):
        assert found.clauses[clause].verdict == "not_exercised"
        assert EXPLAINED in found.clauses[clause].undecided


def test_a_refusal_in_another_form_is_not_a_crash() -> None:
    """The same page under 400 breaks the declared form."""
    assert broken(result(FORM)) == {"framework/malformed-json", "headers/cache-control"}


def test_a_leak_of_a_crash_is_a_finding_of_its_own() -> None:
    """A stack trace in the answer is reported beside the crash."""
    body = f'{{"code": "internal", "message": "{TRACE.replace(chr(34), "")}"}}'.encode()
    leaking = Response(500, (("content-type", "application/json"),), body)
    assert broken(result(leaking)) == {"service/no-crash", "leaks/stack-trace"}


def test_without_the_clause_of_crashes_the_others_are_reported() -> None:
    """A run that is limited to other clauses is not green over a crash."""
    assert broken(result(PAGE, "framework/*")) == {"framework/malformed-json"}


@pytest.mark.parametrize(
    ("crashes", "clauses"),
    [
        ("error", {"service/no-crash"}),
        ("warning", {"service/no-crash", "envelope/json", "headers/cache-control"}),
    ],
)
def test_recorded_crashes_fold_where_they_fail_the_audit(crashes: str, clauses: set[str]) -> None:
    """A crash that only warns leaves the failures of its answer."""
    loaded = read(TAXONOMY, "t.yaml")
    assert loaded.taxonomy is not None
    accumulator = Accumulator(build_contract(loaded.taxonomy), crashes=crashes)  # type: ignore[arg-type]
    accumulator.add(Exchange(Request("GET", "/orders"), PAGE))
    assert broken(accumulator.result("t")) == clauses
