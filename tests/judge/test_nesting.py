"""Errors inside errors: a layer that wraps one, and texts that only quote JSON."""

import json

import pytest

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read

TAXONOMY = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
detail_keys: {cause: {type: object}, hint: {type: string}}
envelopes:
  error:
    shape: {error: {code: $code, message: $message, id: $id, details?: $details}}
    fields: {id: {type: string}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes:
  shut: {summary: It is shut., http: 403, retriable: false, details: {cause?: {}, hint?: {}}}
  full: {summary: It is full., http: 403, retriable: false}
"""

INNER = {"error": {"code": "full", "message": "No seat", "id": "1"}}


@pytest.fixture(scope="module")
def rules() -> Contract:
    """The contract of the taxonomy."""
    loaded = read(TAXONOMY, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def nested(rules: Contract, **members: object) -> list[str | None]:
    """The places of errors inside an error with these members."""
    error = {"code": "shut", "message": "Locked", "id": "2", **members}
    head = (("Content-Type", "application/json"),)
    answer = Response(403, head, json.dumps({"error": error}).encode())
    found = judge(rules, Exchange(Request("GET", "/x"), answer))
    assert "envelope/nested" in found.exercised
    return [one.pointer for one in found.findings if one.clause == "envelope/nested"]


def test_an_error_in_a_message_or_in_undeclared_details_is_found(rules: Contract) -> None:
    """The inner error has a declared code in a whole envelope."""
    text = json.dumps(INNER)
    assert nested(rules, message=f"upstream said {{}} {text} and stopped") == ["/error/message"]
    assert nested(rules, details={"hint": text}) == ["/error/details/hint"]
    assert nested(rules, details={"inner": INNER}) == ["/error/details/inner"]


def test_other_json_and_declared_members_are_left_alone(rules: Contract) -> None:
    """A foreign body may be quoted, and a declared detail may hold an error."""
    assert nested(rules) == []
    foreign = {"error": {"code": "E17", "message": "No", "id": "1"}}
    partial = {"error": {"code": "full"}}
    for quoted in (foreign, partial, {"code": "full"}):
        assert nested(rules, message=f"it said {json.dumps(quoted)}") == []
        assert nested(rules, details={"inner": quoted}) == []
    assert nested(rules, details={"cause": INNER}) == []
    assert nested(rules, message="a { b { c") == []
