"""Dates that have the form of one and do not exist: parsers raise at them."""

import json
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from faultspec.exchange.model import Request
from faultspec_conformance.probes import bodies, limits
from faultspec_conformance.results.model import Outcome
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: days, version: 1.0.0, title: Days, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  wrong: {summary: Not so, http: 422, retriable: false}
  broken: {summary: A defect, http: 500, retriable: false}
undeclared: {becomes: broken}
"""

OK = {"responses": {"200": {"description": "done"}}}
DAY = {"type": "string", "format": "date-time"}
BODY = {"schema": {"type": "object", "properties": {"at": DAY}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/days": {
            "get": {**OK, "parameters": [{"name": "since", "in": "query", "schema": DAY}]},
            "post": {**OK, "requestBody": {"content": {"application/json": BODY}}},
        }
    },
}


def outcomes(at_impossible: int) -> tuple[set[str], list[Request]]:
    """The clauses that fail if a date that does not exist gets a status, and what was sent."""

    def service(request: Request) -> Any:
        query = parse_qs(urlsplit(request.target).query)
        try:
            body = json.loads(request.body or b"{}")
        except ValueError:
            return answer(422, {"code": "wrong"})
        days = [body.get("at") if isinstance(body, dict) else None, *query.get("since", [])]
        for day in days:
            try:
                datetime.fromisoformat(day or "2024-02-29")
            except (TypeError, ValueError):
                if not isinstance(day, str) or "02-30" not in day:
                    return answer(422, {"code": "wrong"})
                codes = {200: None, 422: "wrong", 500: "broken"}
                return answer(at_impossible, {"code": codes[at_impossible]})
        return answer(200, [])

    session = http_session(service, TAXONOMY, document=DOCUMENT)
    results = [*bodies.invalid_bodies(session), *limits.invalid_queries(session)]
    failed = {one.clause for one in results if isinstance(one, Outcome) and one.kind == "failed"}
    found = [
        finding for seen in session.observations.exchanges for finding in seen.judgement.findings
    ]
    sent = [seen.exchange.request for seen in session.observations.exchanges]
    return failed | {finding.clause for finding in found}, sent


@pytest.mark.parametrize("status", [200, 422])
def test_a_date_that_does_not_exist_may_be_refused_or_accepted(status: int) -> None:
    """A service need not check the format of a text."""
    failed, sent = outcomes(status)
    assert failed == set()
    assert any(b"2023-02-30" in request.body for request in sent)
    assert any("2023-02-30" in request.target for request in sent)


def test_a_date_that_does_not_exist_crashes_nothing() -> None:
    """A crash at it fails."""
    assert "service/no-crash" in outcomes(500)[0]
