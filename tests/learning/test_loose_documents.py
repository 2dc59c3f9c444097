"""Drafts of services whose documents leave the bodies of their errors open."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from faultspec.openapi.service import read
from faultspec_conformance.learning.answers import ErrorAnswer, group_shapes
from faultspec_conformance.learning.document import document_errors
from faultspec_conformance.learning.draft import draft_taxonomy
from faultspec_conformance.learning.loose_schemas import is_loose, is_looser

#: The errors that a service answered: operation, status, code and message. Nobody saw the 409.
SEEN = (
    ("GET /books/{id}", 404, "no_book", "There is no such book"),
    ("GET /authors/{id}", 404, "no_author", "There is no such author"),
    ("POST /books", 400, "bad_title", "The title is empty"),
    (None, 404, "no_route", "There is nothing here"),
)


def problem(status: int, code: str, message: str) -> Mapping[str, Any]:
    """A problem of RFC 9457."""
    return {"type": f"https://e.example/{code}", "status": status, "detail": message}


def nested(status: int, code: str, message: str) -> Mapping[str, Any]:
    """A code and its message in an object."""
    return {"error": {"code": code, "message": message}}


def listed(status: int, code: str, message: str) -> Mapping[str, Any]:
    """A list of errors, as in JSON:API."""
    return {"errors": [{"status": str(status), "code": code, "detail": message}]}


def flat(status: int, code: str, message: str) -> Mapping[str, Any]:
    """Members of the body itself."""
    return {"code": code, "message": message}


def plain(status: int, code: str, message: str) -> Mapping[str, Any]:
    """A message alone: the status decides the code."""
    return {"message": message}


STYLES = (problem, nested, listed, flat, plain)

#: Contents of an error response that say little of its body.
LOOSE: Mapping[str, Mapping[str, Any]] = {
    "an open object": {"application/json": {"schema": {"type": "object"}}},
    "any value": {"application/json": {"schema": {}}},
    "no content": {},
    "no schema": {"application/json": {}},
    "a reference": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
    "all of an open object": {
        "application/json": {"schema": {"allOf": [{"$ref": "#/components/schemas/Failure"}]}}
    },
    "another media type": {
        "application/problem+json": {"schema": {"type": "object"}},
        "*/*": {"schema": {"type": "object"}},
    },
}


def document(content: Mapping[str, Any]) -> dict[str, Any]:
    """A document of three operations whose errors have this content."""
    failure = {"description": "It failed", "content": content}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Books", "version": "1"},
        "components": {"schemas": {"Failure": {"type": "object", "additionalProperties": True}}},
        "paths": {
            "/books/{id}": {"get": {"operationId": "readBook", "responses": {"404": failure}}},
            "/authors/{id}": {"get": {"operationId": "readAuthor", "responses": {"404": failure}}},
            "/books": {
                "post": {
                    "operationId": "createBook",
                    "responses": {"400": failure, "409": failure},
                }
            },
        },
    }


def answers(style: Callable[[int, str, str], Mapping[str, Any]]) -> list[ErrorAnswer]:
    """The answers of the service in one style."""
    return [
        ErrorAnswer(operation, status, "application/json", style(status, code, message))
        for operation, status, code, message in SEEN
    ]


@pytest.mark.parametrize("content", LOOSE.values(), ids=LOOSE)
@pytest.mark.parametrize("style", STYLES)
def test_a_loose_document_changes_no_draft(
    style: Callable[[int, str, str], Mapping[str, Any]], content: Mapping[str, Any]
) -> None:
    """The draft has one envelope, and the codes that were seen, each once. A status that nobody saw
    has a code only if the status decides the code.
    """
    shapes = group_shapes(answers(style))
    data = draft_taxonomy(read(document(content)), shapes, {}).data
    assert len(data["envelopes"]) == 1
    wires = {str(code.get("wire", name)).rpartition("/")[2] for name, code in data["codes"].items()}
    by_status = {"not_found", "bad_request", "conflict", "internal_error"}
    by_member = {code for _, _, code, _ in SEEN} | {"invalid_request", "internal_error"}
    assert wires == (by_status if style is plain else by_member)


def test_two_shapes_leave_what_is_undescribed_open() -> None:
    """Where operations answer in two shapes, nobody knows which one a response without content has:
    it keeps an envelope of its own, which holds any body.
    """
    seen = [
        ErrorAnswer("GET /books/{id}", 404, "application/json", flat(404, "no_book", "m")),
        ErrorAnswer("GET /authors/{id}", 404, "application/json", {"fault": "none", "at": "x"}),
    ]
    data = draft_taxonomy(read(document({})), group_shapes(seen), {}).data
    (match,) = (
        surface["match"] for name, surface in data["surfaces"].items() if "undescribed" in name
    )
    assert match["statuses"] == [400, 409]
    elsewhere = [replace(answer, operation=None) for answer in seen[1:]]
    data = draft_taxonomy(read(document({})), group_shapes([*seen[:1], *elsewhere]), {}).data
    assert [name for name in data["surfaces"] if "undescribed" in name] == []


def test_a_precise_schema_is_kept() -> None:
    """A documented schema that lists codes stays, also where an answer has further members, and so
    does one that describes another body.
    """
    precise = {"type": "object", "properties": {"code": {"enum": ["no_book", "gone"]}}}
    other = {"type": "object", "properties": {"fault": {"type": "string"}}}
    described = document({"application/json": {"schema": precise}})
    post = described["paths"]["/books"]["post"]["responses"]
    post["409"] = {"description": "d", "content": {"application/json": {"schema": other}}}
    seen = [ErrorAnswer("GET /books/{id}", 404, "application/json", flat(404, "no_book", "m"))]
    found = document_errors(read(described), group_shapes(seen), place="/code")["paths"]
    content = found["/books/{id}"]["get"]["responses"]["404"]["content"]["application/json"]
    assert content["schema"] == precise
    assert content["examples"] == {"observed1": {"value": flat(404, "no_book", "m")}}
    assert found["/books"]["post"]["responses"] == post


@pytest.mark.parametrize(
    ("schema", "loose", "looser"),
    [
        ({}, True, True),
        (None, True, True),
        ({"type": "object"}, True, True),
        ({"properties": {"error": {}}}, True, True),
        ({"properties": {"error": {"type": "object"}}}, True, True),
        ({"properties": {"error": {"properties": {"code": {"type": "string"}}}}}, True, True),
        ({"properties": {"error": {"type": ["object", "null"]}}}, True, True),
        ({"properties": {"error": {"type": "string"}}}, True, False),
        ({"properties": {"message": {}}}, True, False),
        ({"type": "array"}, True, False),
        ({"$ref": "#/nowhere"}, True, True),
        ({"$ref": "#/again"}, True, True),
        ({"allOf": [{"$ref": "#/both"}]}, True, True),
        ({"properties": {"error": {"properties": {"code": {}, "message": {}}}}}, False, False),
        ({"properties": {"error": {"properties": {"code": {"enum": ["a"]}}}}}, False, False),
        ({"oneOf": [{"type": "object"}]}, False, False),
    ],
    ids=json.dumps,
)
def test_a_schema_is_loose_that_does_not_name_a_member(
    schema: object, *, loose: bool, looser: bool
) -> None:
    """A schema is loose if it does not name each member of a body and lists no values. It is looser
    than the body if it names no other members, of other kinds. References in circles end.
    """
    around = {"again": {"$ref": "#/again"}, "both": {"allOf": [{"$ref": "#/both"}]}}
    body = nested(404, "no_book", "m")
    assert is_loose(around, schema, body) is loose
    assert is_looser(around, schema, body) is looser
