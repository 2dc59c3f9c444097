"""Which surfaces and operations have requests with an idempotency key."""

from datetime import date

import pytest

from faultspec.language import read
from faultspec.lint import BY_ID, lint

TEXT = """
faultspec: 1
taxonomy: {name: pays, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces:
  api: {transport: http, match: %s, envelope: error, idempotency_key: X-Token}
idempotency: {key: Idempotency-Key, methods: [POST], mismatch: unspecified}
codes: {lost: {summary: It is lost., http: 503}}
"""


@pytest.mark.parametrize(
    ("match", "used"),
    [
        ("{}", True),
        ("{methods: [GET, HEAD]}", False),
        ("{methods: [GET, POST]}", True),
        ("{routes: [GET /a]}", False),
        ("{routes: [GET /a, POST /b]}", True),
        ("{routes: [/a]}", True),
        ("{routes: [/a], methods: [PUT]}", False),
        ("{routes: [GET /a], methods: [GET, POST]}", False),
    ],
)
def test_a_place_is_used_if_a_request_may_have_it(match: str, used: bool) -> None:
    """A match claims requests with the methods of its routes that it allows, or any method."""
    loaded = read(TEXT % match, "pays.yaml")
    assert loaded.document is not None
    assert loaded.taxonomy is not None, loaded.diagnostics
    rules = [BY_ID["unused-key-place"]]
    found = [*lint(loaded.document, loaded.taxonomy, rules, date(2026, 1, 1))]
    assert (found == []) is used
