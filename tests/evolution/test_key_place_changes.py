"""Moved idempotency keys: of all requests, of a surface, of an operation."""

from datetime import date

import pytest

from faultspec.evolution.compare import compare
from faultspec.language import read
from faultspec.language.model import Taxonomy

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces:
  api: {transport: http, envelope: error SURFACE}
operations:
  pay: {match: {routes: ["POST /payments/{id}"]} OPERATION}
idempotency: {key: GENERAL, methods: [POST]}
codes: {failed: {summary: It failed., http: 500}}
"""


def taxonomy_of(general: str, surface: str = "", operation: str = "") -> Taxonomy:
    """A shop with its keys in these places."""
    text = TAXONOMY.replace("GENERAL", general)
    for word, place in (("SURFACE", surface), ("OPERATION", operation)):
        text = text.replace(f" {word}", f", idempotency_key: {place}" if place else "")
    loaded = read(text, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


HEADER, QUERY, BODY = "Idempotency-Key", "{query: request}", "{body: /token}"


@pytest.mark.parametrize(
    ("old", "new", "paths"),
    [
        ((HEADER,), (HEADER, "", BODY), {"operations.pay.key"}),
        ((HEADER,), (HEADER, QUERY), {"surfaces.api.key"}),
        ((HEADER, "", BODY), (HEADER, "", QUERY), {"operations.pay.key"}),
        ((HEADER, "", BODY), (QUERY, "", BODY), {"idempotency.key"}),
        ((HEADER,), (HEADER, "", "idempotency-key"), set()),
    ],
)
def test_a_moved_key_breaks_the_clients_that_send_it(
    old: tuple[str, ...], new: tuple[str, ...], paths: set[str]
) -> None:
    """The report has the change at its place, once; a place that is the general one adds none."""
    found = compare(taxonomy_of(*old), taxonomy_of(*new), date(2026, 1, 1)).changes
    moved = {".".join(map(str, change.path)) for change in found if change.severity == "breaking"}
    assert moved == paths
