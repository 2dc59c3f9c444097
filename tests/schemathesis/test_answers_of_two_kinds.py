"""Answers that a validator alone would accept."""

import json

from faultspec.exchange.model import Exchange, Headers, Request, Response
from faultspec.openapi.service import read
from faultspec_conformance.schemathesis.document import DocumentJudge

KIND = {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}}
PET = {
    "oneOf": [{"$ref": "#/components/schemas/Cat"}],
    "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}},
}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        "/pet": {
            "get": {
                "responses": {
                    "200": {"description": "d", "content": {"application/json": {"schema": PET}}}
                }
            }
        }
    },
    "components": {"schemas": {"Cat": KIND}},
}


def broken(body: object, headers: Headers) -> set[str]:
    """The clauses that an answer breaks."""
    exchange = Exchange(
        Request("GET", "/pet"),
        Response(200, headers, json.dumps(body).encode()),
        operation="GET /pet",
    )
    found = DocumentJudge(read(DOCUMENT)).violations(exchange)
    return {clause for clause, violations in found if violations}


def test_an_unknown_kind_does_not_fit() -> None:
    """A value of the discriminator that leads nowhere breaks the schema, whatever its form."""
    headers = (("Content-Type", "application/json"),)
    assert broken({"kind": "cat"}, headers) == set()
    assert broken({"kind": "cow"}, headers) == {"document/schema"}


def test_two_media_types_are_not_one_of_them() -> None:
    """An answer with two media types has none that the document lists."""
    headers = (("Content-Type", "application/json"), ("content-type", "text/html"))
    assert "document/media-type" in broken({"kind": "cat"}, headers)
