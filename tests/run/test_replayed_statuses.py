"""Conclusions of a replay from an answer with another code or another status."""

import json

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.results.model import ReportedFinding
from faultspec_conformance.run.replay import replay

TAXONOMY = """
faultspec: 1
taxonomy: {name: books, version: 1.0.0, title: Books, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  unbalanced: {summary: Sums differ, http: 422, retriable: false}
  invalid: {summary: Not valid, http: 422, retriable: false}
  unclear: {summary: Not readable, http: 400, retriable: false}
"""


def answered(status: int, code: str) -> Exchange:
    """An exchange with an error."""
    body = json.dumps({"code": code}).encode()
    answer = Response(status, (("content-type", "application/json"),), body)
    return Exchange(Request("POST", "/entries", (), b"{}"), answer, "http", route="/entries")


@pytest.mark.parametrize(
    ("status", "code", "verdict"),
    [
        (400, "unbalanced", "reproduced"),
        (422, "unbalanced", "gone"),
        (400, "unclear", "gone"),
        (422, "invalid", "undecided"),
    ],
)
def test_another_code_under_another_status_proves_nothing(
    status: int, code: str, verdict: str
) -> None:
    """A wrong status is mended by the right one of the code, or by another code under it; if both
    are others, something else was refused.
    """
    taxonomy = read(TAXONOMY, "taxonomy.yaml").taxonomy
    assert taxonomy is not None
    contract, config = build_contract(taxonomy), ServiceConfig(http="http://127.0.0.1:1")
    found = judge(contract, answered(400, "unbalanced")).findings
    reported = ReportedFinding(next(one for one in found if one.clause == "code/status"))
    again = replay(reported, contract, config, lambda asked: answered(status, code))
    assert again.verdict == verdict, again.reason
