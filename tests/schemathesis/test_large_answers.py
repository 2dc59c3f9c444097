"""Answers that break the document's schema in more ways than anyone reads."""

import json

import pytest

from faultspec.exchange.model import Exchange, Request, Response
from faultspec.openapi.service import Description
from faultspec_conformance.schemathesis.document import DocumentJudge, DocumentViolation


def violations_of(schema: object, body: object, **schemas: object) -> tuple[DocumentViolation, ...]:
    """The violations of the schema by an answer of 200 with the body. ``schemas``: those that the
    schema refers to.
    """
    content = {"application/json": {"schema": schema}}
    answers = {"200": {"description": "things", "content": content}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1"},
        "components": {"schemas": schemas},
        "paths": {"/things": {"get": {"responses": answers}}},
    }
    response = Response(
        200, (("Content-Type", "application/json"),), json.dumps(body).encode(), 0.1
    )
    exchange = Exchange(Request("GET", "/things"), response, operation="GET /things")
    judge = DocumentJudge(Description(document=document))
    return dict(judge.violations(exchange))["document/schema"]


INTEGERS = {"anyOf": [{"type": "integer", "title": str(number)} for number in range(1_000)]}


@pytest.mark.parametrize(
    ("schema", "body", "places"),
    [
        (INTEGERS, "a" * 100_000, [None]),
        ({"type": "array", "items": INTEGERS}, ["a"] * 300, [None]),
        ({"type": "array", "items": {"anyOf": [{"type": "string"}] * 2}}, [1, "a", 2], ["/0"]),
        ({"type": "array", "items": {"type": "string"}}, [1] * 30_000, ["/0"]),
        ({"type": "array", "items": INTEGERS}, [1] * 300, []),
        (INTEGERS, 17, []),
    ],
    ids=["many bytes", "many values", "few", "no branches", "large and right", "right"],
)
def test_a_large_answer_is_held_to_a_large_schema(
    schema: object, body: object, places: list[str | None]
) -> None:
    """A body that breaks its schema is found, however large both are. The place is named where the
    validator can find it without a text for each value and branch.
    """
    assert [violation.pointer for violation in violations_of(schema, body)] == places


FILTER = {"$ref": "#/components/schemas/Filter"}

#: A filter as many services have it: it consists of filters.
FILTERS = {
    "oneOf": [
        {"type": "object", "required": [name], "properties": {name: inner}}
        for name, inner in {
            "and": {"type": "array", "items": FILTER},
            "or": {"type": "array", "items": FILTER},
            "not": FILTER,
            "field": {"type": "string"},
        }.items()
    ]
}


@pytest.mark.parametrize(("levels", "pointer"), [(2, ""), (12, None)])
def test_a_schema_that_refers_to_itself_is_held(levels: int, pointer: str | None) -> None:
    """The texts of branches within branches multiply, so a deep value has none."""
    body: object = {"field": 17}
    for _ in range(levels):
        body = {"and": [body], "or": [body]}
    found = violations_of(FILTER, body, Filter=FILTERS)
    assert [violation.pointer for violation in found] == [pointer]
