"""Errors among JSON lines under the status of a success."""

import json
from collections.abc import Sequence

import pytest

from faultspec import judge, language
from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.session.observation import Observation

TAXONOMY = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0, title: T}
envelopes:
  line:
    media_type: application/x-ndjson
    shape: {error: {code: $code, message: $message}}
surfaces: {events: {transport: http, error_when: {present: /error}, envelope: line}}
codes: {unauthenticated: {summary: The caller is unknown, http: 200}}
"""

ERROR = {"error": {"code": "unauthenticated", "message": "The caller is unknown"}}


def observed(lines: Sequence[object]) -> Observation:
    """An answer with these lines, and its judgement."""
    body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    headers = (("Content-Type", "application/x-ndjson"),)
    exchange = Exchange(Request("GET", "/events"), Response(200, headers, body))
    taxonomy = language.read(TAXONOMY, "t.yaml").taxonomy
    assert taxonomy is not None
    return Observation(exchange, judge.judge(build_contract(taxonomy), exchange))


@pytest.mark.parametrize(
    ("lines", "refused"),
    [([ERROR], True), ([{"at": 1}, ERROR], False), ([ERROR, {"at": 1}], False), ([{}], False)],
)
def test_an_error_alone_is_a_refusal(lines: Sequence[object], refused: bool) -> None:
    """An answer whose one line is an error is not a success; beside other lines, the error came in
    a success that had begun.
    """
    answer = observed(lines)
    assert answer.ok is not refused
    assert (answer.status >= 400) is refused
