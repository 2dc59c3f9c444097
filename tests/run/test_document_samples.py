"""Answers and the taxonomy, compared with the document."""

import pytest

from faultspec.exchange.model import Exchange, Request
from faultspec.judge import judge
from faultspec_conformance.run.document import hold_to_document
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes:
  error: {media_type: application/json, shape: {code: $code, details?: $details}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: [/**]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent:
    summary: Not there
    http: 404
    retriable: false
    details: {name?: {type: string}}
    example: {message: Not there}
"""


@pytest.mark.parametrize(
    ("required", "agrees"),
    [(["code"], True), (["code", "details"], True), (["code", "trace"], False)],
)
def test_a_document_may_require_what_the_taxonomy_allows(required: list[str], agrees: bool) -> None:
    """A contradiction needs a form that no error of the taxonomy has, not even a complete one."""
    schema = {"type": "object", "required": required}
    responses = {
        "404": {"description": "none", "content": {"application/json": {"schema": schema}}},
        "200": {"description": "all"},
    }
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "paths": {"/things": {"get": {"responses": responses}}},
    }
    hold = hold_to_document(http_session(lambda _: answer(200), TAXONOMY, document=document))
    assert hold is not None
    found = [item.finding for item in hold.contradictions() if item.finding is not None]
    assert (not found) is agrees


BEARER, BASIC = {"type": "http", "scheme": "bearer"}, {"type": "http", "scheme": "Basic"}
KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}


@pytest.mark.parametrize(
    ("schemes", "challenge", "verdict"),
    [
        ([BEARER], 'Bearer realm="Basic, all"', True),
        ([BEARER], 'Basic realm="Bearer, all"', False),
        ([BEARER], 'Digest realm="a", nonce="b"', False),
        ([BEARER], 'Basic realm="a", Bearer', True),
        ([BEARER, BASIC], "BASIC", True),
        ([BEARER, KEY], "Basic", None),
        ([KEY], "Basic", None),
        ([{"type": "oauth2", "flows": {}}], "DPoP", None),
        ([], "Basic", None),
        ([BEARER], None, None),
    ],
)
def test_a_challenge_names_a_declared_scheme(
    schemes: list[dict[str, str]], challenge: str | None, verdict: bool | None
) -> None:
    """A 401 names one of the HTTP schemes of the operation. If it also accepts other credentials,
    or the answer has no challenge, nothing is judged.
    """
    names = {str(index): scheme for index, scheme in enumerate(schemes)}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "security": [{name: []} for name in names],
        "components": {"securitySchemes": names},
        "paths": {"/things": {"get": {"responses": {"200": {"description": "all"}}}}},
    }
    session = http_session(lambda _: answer(200), TAXONOMY, document=document)
    hold = hold_to_document(session)
    assert hold is not None
    headers = {} if challenge is None else {"WWW_Authenticate": challenge}
    refused = answer(401, {"code": "absent"}, **headers)
    exchange = Exchange(Request("GET", "/things"), refused, operation="GET /things")
    held = hold(exchange, judge(session.contract, exchange))
    broken = any(finding.clause == "document/challenge" for finding in held.findings)
    exercised = "document/challenge" in held.exercised
    assert (None if not exercised else not broken) is verdict
