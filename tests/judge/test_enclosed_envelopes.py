"""Envelopes that are a part of a larger body, such as the error of a job that failed."""

import json

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read

TAXONOMY = """
faultspec: 1
taxonomy: {name: jobs, version: 1.0.0, title: Jobs, owner: nobody}
envelopes: {problem: {media_type: application/problem+json, shape: {code: $code}}}
surfaces:
  jobs:
    transport: http
    match: {routes: ["GET /jobs/{id}"]}
    error_when: {equals: {/state: failed}}
    at: /error
    envelope: problem
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: problem}
codes: {lost: {summary: It is lost, http: [200, 404], retriable: false}}
"""


def clauses(media_type: str, status: int, body: object, route: str = "/jobs/{id}") -> set[str]:
    """The clauses that an answer breaks."""
    taxonomy = read(TAXONOMY, "taxonomy.yaml").taxonomy
    assert taxonomy is not None
    answer = Response(status, (("content-type", media_type),), json.dumps(body).encode())
    exchange = Exchange(Request("GET", route), answer, "http", route=route)
    return {finding.clause for finding in judge(build_contract(taxonomy), exchange).findings}


FAILED = {"state": "failed", "error": {"code": "lost"}}


@pytest.mark.parametrize("media_type", ["application/json", "application/problem+json"])
def test_the_body_around_an_envelope_has_a_type_of_its_own(media_type: str) -> None:
    """A problem in the object of a job is sound whatever JSON the object is."""
    assert clauses(media_type, 200, FAILED) == set()


def test_the_body_around_an_envelope_has_its_format() -> None:
    """An object that is declared as text is not."""
    assert "envelope/media-type" in clauses("text/plain", 200, FAILED)


def test_an_envelope_alone_has_its_media_type() -> None:
    """A problem that is the whole body is not plain JSON."""
    assert clauses("application/json", 404, {"code": "lost"}, "/users") == {"envelope/media-type"}
