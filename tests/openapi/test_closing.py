"""Closed documents: no reference leaves them, and those that stay mean what they meant."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from faultspec.openapi.closing import close, describe_cuts
from faultspec.openapi.pointers import value_at, walk
from faultspec.openapi.service import read
from support.hostile_documents import INFO, documents, openapi

HOST, FILE = "http://far.example:1", "/etc/hostname"


def references(document: object) -> Iterator[tuple[str, str]]:
    """The references in a document, each with its pointer."""
    for pointer, value in walk(document):
        if isinstance(value, str) and pointer.rpartition("/")[2] in (
            "$ref",
            "$dynamicRef",
            "$recursiveRef",
            "operationRef",
            "externalValue",
        ):
            yield pointer, value


def schema_of(name: str, schemas: dict[str, Any]) -> Any:
    """A schema of a closed document."""
    document = {"openapi": "3.1.0", "info": INFO, "paths": {}, "components": {"schemas": schemas}}
    return value_at(close(document).document, f"/components/schemas/{name}")


@pytest.mark.parametrize("version", ["3.1", "3.0", "2.0"])
def test_no_reference_leaves_a_closed_document(version: str) -> None:
    """References, addresses and dialects of other places are gone; links for readers stay."""
    document = documents(HOST, FILE)[version]
    closed = close(document)
    assert [text for _, text in references(closed.document) if not text.startswith("#")] == []
    rest = json.dumps(closed.document).replace(f'{{"url": "{HOST}/docs.html"}}', "")
    left = {pointer for pointer, value in walk(closed.document) if value == HOST}
    assert left <= {"/components/examples/data/value/id"}, "data keeps its members"
    assert f"{HOST}/" not in rest
    assert FILE not in rest
    assert describe_cuts(closed.cuts)
    assert close(closed.document).cuts == (), "closing again removes nothing"


@pytest.mark.parametrize("version", ["3.1", "3.0", "2.0"])
def test_a_removed_reference_is_named_with_its_place(version: str) -> None:
    """Each cut has the pointer of a reference in the document."""
    document = documents(HOST, FILE)[version]
    known = {pointer for pointer, _ in walk(document)}
    cuts = close(document).cuts
    assert cuts
    assert {cut.pointer for cut in cuts} <= known


def test_a_document_without_such_references_is_not_copied() -> None:
    """The document itself is returned."""
    document = {"paths": {"/a": {"get": {"responses": {"default": {"$ref": "#/x"}}}}}, "x": {}}
    assert close(document).document is document


def test_a_property_may_have_the_name_of_a_keyword() -> None:
    """Members of `properties` are names, not keywords."""
    schema = {"properties": {"$ref": {"type": "string"}, "$id": {}, "enum": {"type": "integer"}}}
    assert schema_of("a", {"a": schema}) == schema


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        ({"allOf": [{"$ref": "b.json"}, {"type": "object"}]}, {"allOf": [{}, {"type": "object"}]}),
        ({"anyOf": [{"$ref": "b.json"}, {"type": "object"}]}, {"anyOf": [{}, {"type": "object"}]}),
        ({"oneOf": [{"$ref": "b.json"}, {"type": "object"}], "minimum": 1}, {"minimum": 1}),
        ({"not": {"$ref": "b.json"}}, {}),
        ({"enum": [1, {"$ref": "b.json"}]}, {}),
        ({"$ref": "b.json", "unevaluatedProperties": False}, {}),
        ({"if": {"$ref": "b.json"}, "then": False}, {"then": False}),
        ({"properties": {"a": {"$ref": "b.json"}}}, {"properties": {"a": {}}}),
    ],
)
def test_a_closed_schema_accepts_whatever_the_schema_accepts(
    schema: object, closed: object
) -> None:
    """Without the target of a reference, a keyword that would become stricter is removed."""
    assert schema_of("a", {"a": schema}) == closed


def test_addresses_and_anchors_become_pointers() -> None:
    """A reference by URL or anchor to a part of the document still leads there."""
    schemas = {
        "a": {"$id": "https://x.example/a", "$defs": {"n": {"$anchor": "n", "type": "null"}}},
        "b": {"$ref": "https://x.example/a"},
        "c": {"$ref": "https://x.example/a#n"},
        "d": {"$ref": "https://x.example/a#/$defs/n"},
    }
    assert schema_of("b", schemas) == {"$ref": "#/components/schemas/a"}
    assert schema_of("c", schemas) == {"$ref": "#/components/schemas/a/$defs/n"}
    assert schema_of("d", schemas) == {"$ref": "#/components/schemas/a/$defs/n"}


def test_listed_files_become_a_part_of_the_document() -> None:
    """References to listed files lead to their parts, also among the files; others are cut."""
    document = {
        "openapi": "3.0.3",
        "paths": {
            "/a": {
                "get": {
                    "parameters": [{"$ref": "parts/common.yaml#/parameters/limit"}],
                    "responses": {"404": {"$ref": "./openapi.yaml#/components/responses/none"}},
                }
            }
        },
        "components": {"responses": {"none": {"description": "none"}}},
    }
    common = {
        "parameters": {
            "limit": {"name": "limit", "in": "query", "schema": {"$ref": "types.yaml#/limit"}}
        }
    }
    types = {"limit": {"type": "integer"}, "far": {"$ref": "unlisted.yaml"}}
    files = {"file:///d/parts/common.yaml": common, "file:///d/parts/types.yaml": types}
    found = read(document, address="file:///d/openapi.yaml", files=files)
    (operation,) = found.operations
    assert [parameter.name for parameter in operation.parameters] == ["limit"]
    assert operation.parameters[0].schema == {"type": "integer"}
    assert [cut.reason for cut in found.cuts] == ["unlisted.yaml"]


def test_operations_of_a_hostile_document_are_read() -> None:
    """Everything but the parts behind removed references is read as before."""
    document = openapi(HOST, FILE)
    found = read(document)
    assert len(found.operations) == len(document["paths"])
