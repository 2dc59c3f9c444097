"""Laws of a slot that a header mirrors."""

import pytest

from faultspec.exchange.model import Exchange, Response
from faultspec.judge import judge
from judge.test_judge import broken, exchange, of

ID = "7d1c2f40-8a51-4f0e-9d3b-5a6e7c8d9e0f"
TAXONOMY = """
envelopes:
  error: {shape: {code: $code, id?: $id}, fields: {id: {type: string, KEYS}}}
surfaces: {api: {transport: http, envelope: error}}
codes: {gone: {summary: Gone., http: 410}}
"""
CLAUSE = "correlation/header-equals-body"


@pytest.mark.parametrize("keys", ["mirror: X-Id", "echo: X-Id, mirror: X-Id"])
def test_a_mirrored_slot_has_its_header(keys: str) -> None:
    """An error with the slot has the header, with the same value; one without the slot need not."""
    contract = of(TAXONOMY.replace("KEYS", keys))
    body = {"code": "gone", "id": ID}
    assert broken(judge(contract, exchange(410, body, ("X-Id", ID)))) == {}
    assert broken(judge(contract, exchange(410, body))) == {CLAUSE: "/id"}
    assert broken(judge(contract, exchange(410, body, ("X-Id", "other")))) == {CLAUSE: "/id"}
    bare = judge(contract, exchange(410, {"code": "gone"}))
    assert broken(bare) == {}
    assert CLAUSE not in bare.exercised


def test_a_missing_header_is_reported_once() -> None:
    """A rule that requires the header reports it."""
    rule = "headers: {X-Id: {on: 410, presence: required}}\n"
    contract = of(TAXONOMY.replace("KEYS", "mirror: X-Id") + rule)
    assert broken(judge(contract, exchange(410, {"code": "gone", "id": ID}))) == {
        "headers/x-id": None
    }


def test_a_header_is_not_missed_where_none_is_known() -> None:
    """A recording without headers, and an event of a stream, have none to show."""
    contract = of(TAXONOMY.replace("KEYS", "mirror: X-Id"))
    whole = exchange(410, {"code": "gone", "id": ID})
    slim = Exchange(
        whole.request,
        Response(410, (), whole.response.body),
        lacks=frozenset({"headers", "header-values"}),
    )
    assert CLAUSE not in broken(judge(contract, slim))
    echoed = of(TAXONOMY.replace("KEYS", "echo: X-Id"))
    assert broken(judge(echoed, whole)) == {}
