"""Coverage counts the codes of operations too, each at its operation."""

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request
from faultspec.language import read
from faultspec_conformance.config import ResourceConfig, ServiceConfig
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.results.model import Result
from faultspec_conformance.results.required_coverage import (
    missing_coverage,
    parse_required_coverage,
)
from faultspec_conformance.run.summarize import summarize
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes: {absent: {summary: Not there, http: 404, retriable: false}}
operations:
  pay:
    match: {routes: [POST /pay]}
    errors: {refused: {summary: The bank refuses, http: 402, retriable: false}}
  refund:
    match: {routes: [POST /refund]}
    errors:
      refused: {summary: The bank refuses, http: 402, retriable: false}
      gone: {summary: No longer sent, lifecycle: removed, http: 410, retriable: false}
"""


def missed(result: Result) -> list[str]:
    """The codes that `--require-coverage all` misses."""
    required = parse_required_coverage("all")
    assert required is not None
    return [line.split(":")[1].split()[0] for line in missing_coverage(result, required)]


def test_all_codes_are_those_of_operations_too() -> None:
    """A code of one operation is observed at that operation alone. A removed code is not
    required.
    """
    session = http_session(
        lambda request: (
            answer(402, {"code": "refused"})
            if request.target == "/pay"
            else answer(404, {"code": "absent"})
        ),
        TAXONOMY,
    )
    for path in ("/pay", "/refund"):
        session.call(RequestSpec("POST", path))
    found = summarize(session, session.contract.clauses, RunOptions(), frozenset())
    assert [*found.coverage] == ["absent", "pay/refused", "refund/refused"]
    assert found.coverage["pay/refused"].operations == ("POST /pay",)
    assert missed(found) == ["refund/refused"]


def test_a_code_that_a_resource_names_needs_no_recipe() -> None:
    """The reason for a code that no answer had names the resource whose probes should have brought
    it about.
    """
    book = ResourceConfig("book", unique=("title",), unique_code="absent")
    config = ServiceConfig(http="http://127.0.0.1:1", resources={"book": book})
    session = http_session(lambda request: answer(200, {}), TAXONOMY, config)
    found = summarize(session, session.contract.clauses, RunOptions(), frozenset()).coverage
    assert "no repeated value of `book`" in (found["absent"].reason or "")
    assert "no recipe" in (found["pay/refused"].reason or "")


def test_recordings_cover_codes_of_operations() -> None:
    """A recorded code of an operation counts in an audit."""
    loaded = read(TAXONOMY, "t.yaml")
    assert loaded.taxonomy is not None
    accumulator = Accumulator(build_contract(loaded.taxonomy))
    refused = answer(402, {"code": "refused"})
    accumulator.add(Exchange(Request("POST", "/refund"), refused, route="/refund"))
    assert missed(accumulator.result("t")) == ["absent", "pay/refused"]
