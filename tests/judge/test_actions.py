"""Laws of the actions that errors suggest."""

import json
from collections.abc import Mapping
from itertools import permutations
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec.targets.schema import body_schema

Transport = Literal["http", "event"]

ACTIONS = ("fix", "ask", "wait")

TAXONOMY = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
actions: {fix: Fix it., ask: Ask for help., wait: Wait.}
envelopes: {error: {shape: {code: $code, message: $message, actions?: $actions}}}
surfaces: {api: {transport: http, envelope: error}, bus: {transport: event, error_when: {present: /code}, envelope: error}}
codes:
  all: {summary: S., http: 400, retriable: false, actions: {exactly: [fix, ask]}}
  none: {summary: S., http: 400, retriable: false, actions: {exactly: []}}
  some: {summary: S., http: 400, retriable: false, actions: [fix, ask]}
  any: {summary: S., http: 400, retriable: false}
"""


def _contract(text: str = TAXONOMY) -> Contract:
    known = read(text, "t.yaml").taxonomy
    assert known is not None
    return build_contract(known)


CONTRACT = _contract()


def _body(code: str, actions: object) -> dict[str, object]:
    shown = {} if actions is None else {"actions": actions}
    return {"code": code, "message": "m", **shown}


def _broken(body: Mapping[str, object], transport: Transport = "http") -> bool:
    exchange = Exchange(
        request=Request("GET", "/things"),
        response=Response(
            400 if transport == "http" else None,
            (("Content-Type", "application/json"),),
            json.dumps(body).encode(),
        ),
        transport=transport,
    )
    found = judge(CONTRACT, exchange)
    return any(finding.clause == "actions/agree" for finding in found.findings)


@pytest.mark.parametrize("transport", ["http", "event"])
@given(actions=st.none() | st.lists(st.sampled_from(ACTIONS), max_size=4))
def test_a_list_is_exact_or_a_limit(transport: Transport, actions: list[str] | None) -> None:
    """An exact list has each action once, in any order; no list is an empty one. Any other list
    says which actions are allowed, and a code without one allows all."""
    given_ = actions or []
    exact = sorted(given_) == ["ask", "fix"]
    assert _broken(_body("all", actions), transport) is not exact
    assert _broken(_body("none", actions), transport) is bool(given_)
    assert _broken(_body("some", actions), transport) is ("wait" in given_)
    assert not _broken(_body("any", actions), transport)


def test_an_exact_list_of_an_envelope_without_actions_is_not_judged() -> None:
    """Where the envelope has no place for actions, none are missing."""
    contract = _contract(TAXONOMY.replace(", actions?: $actions", ""))
    body = json.dumps({"code": "all", "message": "m"}).encode()
    headers = (("Content-Type", "application/json"),)
    found = judge(contract, Exchange(Request("GET", "/x"), Response(400, headers, body)))
    assert "actions/agree" not in found.exercised


def test_schemas_say_what_the_judge_says() -> None:
    """The schema of an envelope accepts exactly the lists of actions that the judge does."""
    taxonomy = CONTRACT.taxonomy
    envelope = taxonomy.envelopes["error"]
    lists = [None, *(list(each) for size in range(4) for each in permutations(ACTIONS, size))]
    for code in taxonomy.codes:
        validator = Draft202012Validator(body_schema(envelope, taxonomy.codes[code], taxonomy))
        for actions in (*lists, ["fix", "fix", "ask"], ["fix", "fix"]):
            body = _body(code, actions)
            assert validator.is_valid(body) is not _broken(body), body
