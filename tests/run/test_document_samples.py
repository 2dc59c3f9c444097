"""The forms of errors in a document, compared with those of the taxonomy."""

import pytest

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
