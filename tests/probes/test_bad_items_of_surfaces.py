"""The list of bad items of a batch belongs to a surface."""

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.probes import batch
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shelf, version: 1.0.0}
detail_keys: {bad: {type: array, items: {type: integer}}}
envelopes:
  error: {shape: {code: $code, "details?": $details}}
surfaces:
  results: {transport: http, match: {statuses: 207}, envelope: error, items: [/results], status: [/status]}
  batches: {transport: http, match: {routes: [/boxes/batch]}, error_when: {status: [4xx, 5xx]}, envelope: error, bad_items: bad}
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}
codes:
  invalid: {summary: It is wrong., http: 422, retriable: false, details: {"bad?": {}}}
"""


def document(path: str) -> dict[str, object]:
    """The document of an operation that takes several items."""
    item = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    operation = {
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "responses": {"207": {"description": "some"}, "422": {"description": "none"}},
    }
    return {"openapi": "3.1.0", "paths": {path: {"post": operation}}}


def refuse(request: Request) -> Response:
    """Refuse every batch without a list of bad items."""
    return answer(422, {"code": "invalid"})


@pytest.mark.parametrize(("path", "fails"), [("/boxes/batch", True), ("/boxes/removal", False)])
def test_a_surface_without_bad_items_promises_none(path: str, *, fails: bool) -> None:
    """A refused batch lists its bad items where the surface of the answer says so, and only
    there.
    """
    session = http_session(refuse, TAXONOMY, document=document(path))
    session.record_results(batch.batches(session))
    kinds = [one.kind for one in session.observations.outcomes if one.clause == "batch/bad-items"]
    assert ("failed" in kinds) == fails
    assert kinds
