"""Observed errors are grouped by the shape of their bodies, and become examples of a document."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.exchange.model import Exchange, Request, Response
from faultspec.openapi.service import read
from faultspec_conformance.learning.answers import ErrorAnswer, group_shapes, read_errors
from faultspec_conformance.learning.document import document_errors
from faultspec_conformance.learning.draft import draft_taxonomy
from faultspec_conformance.learning.first import one_shape
from faultspec_conformance.learning.sightings import describe_errors

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(("code", "message", "details", "e")), VALUES, max_size=4)


def answer(status: int, body: object, operation: str | None = "GET /things") -> ErrorAnswer:
    """A JSON answer."""
    return ErrorAnswer(operation, status, "application/json", body)


def exchange(status: int, media_type: str, body: bytes) -> Exchange:
    """An answer to GET /things."""
    response = Response(status, (("Content-Type", media_type),), body)
    return Exchange(Request("GET", "/things"), response, operation="GET /things")


@given(st.lists(st.tuples(st.sampled_from((400, 404, 409)), OBJECTS), max_size=8))
def test_every_body_fits_the_schema_of_its_shape(seen: list[tuple[int, Any]]) -> None:
    """Each object with members is in one shape, whose schema it fits. The most common is first."""
    shapes = group_shapes([answer(status, body) for status, body in seen])
    grouped = [each for shape in shapes for each in shape.answers]
    assert len(grouped) == sum(bool(body) for _, body in seen)
    for shape in shapes:
        for each in shape.answers:
            jsonschema.validate(each.body, dict(shape.schema))
    common = [len(shape.places) for shape in shapes]
    assert common == sorted(common, reverse=True)


@given(st.lists(st.tuples(st.sampled_from((400, 404, 409)), OBJECTS), min_size=1, max_size=6))
def test_any_observed_shape_is_a_taxonomy(seen: list[tuple[int, Any]]) -> None:
    """Whatever a service answers, the language has a taxonomy for it, or none; no error escapes."""
    shapes = group_shapes([answer(status, body) for status, body in seen])
    for shape in shapes:
        taxonomy = one_shape(shape, {})
        assert taxonomy is None or taxonomy.surfaces["api"].codes is None
    described = read({"openapi": "3.1.0", "paths": {"/things": {"get": {"responses": {}}}}})
    if shapes:
        assert draft_taxonomy(described, shapes, {}).data["codes"]


def test_of_equally_common_shapes_the_richest_comes_first() -> None:
    """An error with a code in it comes before a text, in whatever order they were seen."""
    seen = [answer(403, {"error": "no"}), answer(404, {"error": {"code": "gone", "message": "m"}})]
    for order in (seen, seen[::-1]):
        (first, _) = group_shapes(order)
        assert first.answers == (seen[1],)


def test_errors_with_a_body_are_read() -> None:
    """4xx and 5xx with a body count; what is not JSON has no value, and a leak is not quotable."""
    seen = [
        (exchange(200, "application/json", b"{}"), False),
        (exchange(404, "application/json", b""), False),
        (exchange(404, "application/problem+json; charset=utf-8", b'{"title": "x"}'), False),
        (exchange(500, "text/html", b"<p>"), False),
        (exchange(500, "application/json", b'{"detail": "Traceback"}'), True),
    ]
    found = list(read_errors(seen))
    assert [(each.status, each.media_type, each.body, each.quotable) for each in found] == [
        (404, "application/problem+json", {"title": "x"}, True),
        (500, "text/html", None, True),
        (500, "application/json", {"detail": "Traceback"}, False),
    ]


def test_codes_that_bodies_show_are_codes() -> None:
    """A member that is called like a code, with several values, names the codes of a draft."""
    bodies = {401: "who_are_you", 404: "no_such_thing", 409: "taken"}
    answers = [answer(status, {"code": code, "text": "t"}) for status, code in bodies.items()]
    described = read({"openapi": "3.1.0", "paths": {"/things": {"get": {"responses": {}}}}})
    data = draft_taxonomy(described, group_shapes(answers), {}).data
    observed = {name: code["http"] for name, code in data["codes"].items()}
    assert {status: name for name, status in observed.items() if name in bodies.values()} == bodies
    assert data["operations"]["get_things"]["codes"] == [*bodies.values()]


def test_a_leak_is_never_an_example() -> None:
    """The status of an answer that leaks is documented, and its body is not."""
    secret = ErrorAnswer("GET /things", 500, "application/json", {"why": "s3cr3t"}, quotable=False)
    described = read({"openapi": "3.1.0", "paths": {"/things": {"get": {}}}})
    document = document_errors(described, group_shapes([secret]))
    assert "500" in document["paths"]["/things"]["get"]["responses"]
    assert "s3cr3t" not in str(document)


def test_the_document_of_a_service_stays() -> None:
    """A documented schema is not replaced, and the given document does not change."""
    schema = {"type": "object", "properties": {"code": {"const": "gone"}}}
    responses = {"404": {"description": "d", "content": {"application/json": {"schema": schema}}}}
    given_document = {
        "openapi": "3.1.0",
        "paths": {"/things": {"get": {"responses": {"404": {"$ref": "#/components/responses/N"}}}}},
        "components": {"responses": {"N": responses["404"]}, "schemas": {"Error": {}}},
    }
    before = repr(given_document)
    shapes = group_shapes([answer(404, {"code": "gone"}), answer(410, {"code": "old"})])
    document = document_errors(read(given_document), shapes)
    assert repr(given_document) == before
    found = document["paths"]["/things"]["get"]["responses"]
    assert found["404"]["content"]["application/json"]["schema"] == schema
    reference = {"$ref": "#/components/schemas/Error2"}
    assert found["410"]["content"]["application/json"]["schema"] == reference
    assert document["components"]["schemas"]["Error"] == {}


@pytest.mark.parametrize("shape", ["members", "items", "levels"])
def test_a_body_of_many_values_is_not_learned(shape: str) -> None:
    """A shape has at most five hundred values, wherever they stand; the first look says so."""
    bodies = {
        size: {
            "members": {f"m{n}": n for n in range(size)},
            "items": {"errors": [{"code": f"c{n}"} for n in range(size // 2)]},
            "levels": {f"m{n}": {"a": {"b": n}} for n in range(size // 3)},
        }[shape]
        for size in (480, 2_500)
    }
    seen = [
        (exchange(404, "application/json", json.dumps(body).encode()), False)
        for body in bodies.values()
    ]
    answers = [*read_errors(seen)]
    assert [each.too_large for each in answers] == [False, True]
    shapes = group_shapes(answers)
    assert [len(each.answers) for each in shapes] == [1]
    shown = " ".join(describe_errors(answers, shapes))
    assert (
        "no shape is learned from 1 of them, of more than 500 values; 404 of GET /things" in shown
    )
    assert "no JSON object" not in shown


#: Bodies of one service, the envelope that a draft has for them, and its codes.
STYLES: dict[str, tuple[list[tuple[int, Any]], Any, set[str]]] = {
    "a word beside a constant": (
        [(404, {"status": "error", "reason": "no_slot", "text": "No slot 3"})],
        {"status": "error", "reason": "$code", "text": "$message"},
        {"no_slot"},
    ),
    "in a list": (
        [
            (404, {"success": False, "errors": [{"code": "NO_PARCEL", "detail": "None"}]}),
            (400, {"success": False, "errors": [{"code": "BAD_INPUT", "detail": "No number"}]}),
        ],
        {"success": False, "errors": [{"code": "$code", "detail": "$message"}]},
        {"NO_PARCEL", "BAD_INPUT"},
    ),
    "with dots": (
        [(404, {"error": {"type": "game.missing", "message": "There is no such game"}})],
        {"error": {"type": "$code", "message": "$message"}},
        {"game_missing"},
    ),
    "abbreviated": (
        [(404, {"err": "no_sensor", "msg": "There is none"})],
        {"err": "$code", "msg": "$message"},
        {"no_sensor"},
    ),
    "of one word alone": (
        [(404, {"error": "missing", "message": "There is none"})],
        {"error": "$error", "message": "$message"},
        {"not_found"},
    ),
    "of items beside a message": (
        [(400, {"message": "It failed", "errors": [{"code": "no_field", "field": "x"}]})],
        {"message": "$message", "errors": "$errors"},
        {"bad_request"},
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_draft_finds_the_code_in_what_was_answered(style: str) -> None:
    """A member that is called and spelt like a code is one, also if only one value was seen and in
    items of a list that stands alone; marks of an error are constants, and not slots.
    """
    seen, shape, codes = STYLES[style]
    described = read({"openapi": "3.1.0", "paths": {"/things": {"get": {"responses": {}}}}})
    answers = [answer(status, body) for status, body in seen]
    data = draft_taxonomy(described, group_shapes(answers), {}).data
    assert data["envelopes"]["error"]["shape"] == shape
    assert codes <= set(data["codes"])
    assert [*data["envelopes"]] == ["error"]


def test_an_answer_that_leaks_gives_its_code_alone() -> None:
    """The code of a crash that shows its trace is in the draft; neither the trace, nor a canary,
    nor a number is.
    """
    described = read({"openapi": "3.1.0", "paths": {"/things": {"get": {"responses": {}}}}})
    body = {
        "code": "it_broke",
        "message": "Traceback of hunter2",
        "id": 4111,
        "kind": "faultspec-ab",
    }
    leak = ErrorAnswer("GET /things", 500, "application/json", body, quotable=False)
    other = answer(404, {**body, "code": "no_thing", "message": "None", "kind": "x", "id": 1})
    drafted = draft_taxonomy(described, group_shapes([leak, other]), {}).data
    assert {"it_broke", "no_thing"} <= set(drafted["codes"])
    assert not any(part in json.dumps(drafted) for part in ("hunter2", "4111", "faultspec-ab"))


def with_header(status: int, value: str, name: str = "X-Error-Code") -> Exchange:
    """An error with a message in its body and a value in a header."""
    fields = (("Content-Type", "application/json"), (name, value))
    response = Response(status, fields, b'{"text": "No."}')
    return Exchange(Request("GET", "/things"), response, operation="GET /things")


def test_codes_in_a_header_are_drafted() -> None:
    """Where a header names the code, each of its values is one, at that place; two of one status
    are two. The header of a leak, a value with blanks and another header name none.
    """
    seen = [
        (with_header(404, "USR-404"), False),
        (with_header(404, "GEN-404"), False),
        (with_header(403, "usr.denied"), False),
        (with_header(409, "not a code"), False),
        (with_header(500, "SECRET-1"), True),
        (with_header(410, "v1", "X-Version"), False),
    ]
    described = read({"openapi": "3.1.0", "paths": {"/things": {"get": {"responses": {}}}}})
    data = draft_taxonomy(described, group_shapes(read_errors(seen)), {}).data
    wires = {code.get("wire", name) for name, code in data["codes"].items()}
    assert {"USR-404", "GEN-404", "usr.denied"} <= wires
    assert not {"not a code", "SECRET-1", "v1"} & wires
    places = [envelope["fields"]["code"]["places"] for envelope in data["envelopes"].values()]
    assert [{"header": "X-Error-Code"}] in places
