"""Laws of header rules of a surface: they count on that surface alone, after the general rules and
before those of the code.
"""

import json

import pytest

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec_conformance.faults.replies import render_failure
from faultspec_conformance.faults.script import parse_fault

TAXONOMY = """
faultspec: 1
taxonomy: {name: two_doors, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
headers:
  X-Trace: required
surfaces:
  public:
    transport: http
    match: {routes: [/public/**]}
    envelope: error
    headers:
      X-Trace: forbidden
      Cache-Control: {token: no-store}
  internal: {transport: http, envelope: error}
codes:
  busy: {summary: Too much to do., http: 503}
  open: {summary: Everybody may know., http: 404, headers: {X-Trace: optional}}
"""


def taxonomy(text: str = TAXONOMY) -> Taxonomy:
    """The taxonomy in a text without errors."""
    loaded = read(text, "two-doors.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


@pytest.fixture(scope="module")
def contract() -> Contract:
    """The taxonomy, prepared for judging."""
    return build_contract(taxonomy())


@pytest.mark.parametrize(
    ("path", "code", "headers", "broken"),
    [
        ("/public/x", "busy", {"Cache-Control": "no-store"}, set()),
        ("/public/x", "busy", {}, {"headers/cache-control"}),
        ("/public/x", "busy", {"Cache-Control": "no-store", "X-Trace": "1"}, {"headers/x-trace"}),
        ("/public/x", "open", {"Cache-Control": "no-store", "X-Trace": "1"}, set()),
        ("/x", "busy", {"X-Trace": "1"}, set()),
        ("/x", "busy", {}, {"headers/x-trace"}),
    ],
)
def test_the_judge_keeps_the_rules_of_the_surface(
    contract: Contract, path: str, code: str, headers: dict[str, str], broken: set[str]
) -> None:
    """The rules of the surface replace general ones, and those of the code replace both; twice, for
    judgements are cached.
    """
    status = {"busy": 503, "open": 404}[code]
    lines = (("Content-Type", "application/json"), *headers.items())
    answer = Response(status, lines, json.dumps({"code": code}).encode())
    for _ in range(2):
        found = judge(contract, Exchange(Request("GET", path), answer))
        assert {each.clause for each in found.findings} == broken


@pytest.mark.parametrize("path", ["/public/x", "/x"])
def test_the_fault_server_keeps_them(contract: Contract, path: str) -> None:
    """Its answers break no rule, on either surface."""
    asked = Request("GET", path)
    answer = render_failure(contract, asked, parse_fault("busy"), "v")
    assert judge(contract, Exchange(asked, answer)).findings == ()


def test_a_surface_without_http_has_none() -> None:
    """Response headers of a surface on another transport are an error of the taxonomy."""
    text = TAXONOMY.replace("internal: {transport: http", "internal: {transport: log")
    loaded = read(text.replace("  internal: {", "  internal: {headers: {A: optional}, "), "x.yaml")
    assert [each.code for each in loaded.diagnostics if each.severity == "error"] == [
        "misplaced-key"
    ]
