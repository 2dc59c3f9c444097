"""Laws of growth: a list of twice as many errors is about twice the work of the judge."""

import json
import sys

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read

TAXONOMY = """
faultspec: 1
taxonomy: {name: lists, version: 1.0.0}
envelopes: {error: {shape: {errors: [{code: $code, status?: $status}]}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes:
  missing: {summary: It is missing., http: 404}
  taken: {summary: It is taken., http: 409}
"""

#: Twice the work, and room for what the dictionaries of Python do when they grow.
MOST = 2.5


def calls_for(size: int, code: str) -> int:
    """The calls of functions in a judgement of so many errors."""
    taxonomy = read(TAXONOMY, "t.yaml").taxonomy
    assert taxonomy is not None
    contract = build_contract(taxonomy)
    errors = [{"code": code, "status": "404"}, *[{"code": "missing", "status": "404"}] * size]
    headers = (("Content-Type", "application/json"),)
    body = json.dumps({"errors": errors}).encode()
    exchange = Exchange(Request("GET", "/"), Response(404, headers, body))
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    judge(contract, exchange)  # imports and caches
    sys.setprofile(count)
    try:
        judge(contract, exchange)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("code", ["missing", "taken", "unknown"])
def test_twice_the_errors_are_twice_the_work(code: str) -> None:
    """A list of half the size counts the work that the size does not change, and it is left out."""
    half, one, two = (calls_for(size, code) for size in (100, 200, 400))
    assert two - one <= MOST * (one - half)
