"""Drafts of services whose codes are URIs, as the `type` of RFC 9457."""

from collections.abc import Mapping
from typing import Any

import pytest

from faultspec.importers.bodies import BodyFamily, CodedBody
from faultspec.importers.code_uris import shorten_codes
from faultspec.language import read as read_taxonomy
from faultspec.lint import check
from faultspec.openapi.service import Description
from faultspec.openapi.service import read as read_document
from faultspec_conformance.learning.answers import ErrorAnswer, group_shapes
from faultspec_conformance.learning.draft import draft_taxonomy, write_draft

LEARNED = Description(learned=True, document={"paths": {"/cups/{id}": {"get": {}}}})


def problem(operation: str | None, status: int, kind: str, title: str) -> ErrorAnswer:
    """An answer as frameworks for RFC 9457 write it: the detail repeats the title."""
    body = {"type": kind, "title": title, "status": status, "detail": title}
    return ErrorAnswer(operation, status, "application/problem+json", body)


def seen_by(start: str) -> list[ErrorAnswer]:
    """The answers of a service whose codes begin like this. Unknown routes come first."""
    return [
        problem(None, 404, f"{start}no-route", "Not Found"),
        problem("GET /cups/{id}", 404, f"{start}no-cup", "There is no such cup"),
        problem("GET /cups/{id}", 404, f"{start}no-cup", "There is no such cup"),
        problem("GET /cups/{id}", 405, f"{start}wrong-method", "Method Not Allowed"),
    ]


def draft(answers: list[ErrorAnswer]) -> tuple[Mapping[str, Any], str]:
    """The data of a draft and its text."""
    drafted = draft_taxonomy(LEARNED, group_shapes(answers), {})
    return drafted.data, write_draft(drafted, answers, "here", "s.json")


STARTS = (
    "https://docs.company.example/en/developers/reference/v2/errors-of-the-api/by-their-name/",
    "https://e.example/errors#",
    "https://e.example/~cups/$errors?code=",
    "urn:problem:cups:",
)


@pytest.mark.parametrize("start", STARTS)
def test_the_shape_has_the_beginning_of_all_codes(start: str) -> None:
    """The beginning that all codes have stands once, in the shape; each code has its end."""
    data, text = draft(seen_by(start))
    wires = {str(code.get("wire", name)) for name, code in data["codes"].items()}
    shape = data["envelopes"]["error"]["shape"]
    assert shape["type"] == f"{start.replace('$', '$$')}${{code}}"
    assert {"no-route", "no-cup", "wrong-method"} <= wires
    assert read_taxonomy(text, "t.yaml").taxonomy is not None


def test_codes_without_a_common_beginning_are_whole() -> None:
    """A code that is not like the others, such as `about:blank`, leaves all of them whole."""
    seen = [*seen_by("https://e.example/"), problem(None, 406, "about:blank", "Not Acceptable")]
    data, _ = draft(seen)
    assert data["envelopes"]["error"]["shape"]["type"] == "$code"
    assert {"https://e.example/no-cup", "about:blank"} <= {
        code.get("wire") for code in data["codes"].values()
    }


def test_an_end_that_is_a_code_of_others_is_not_taken() -> None:
    """Two codes never become one: an end that another family has as its code is not taken."""
    uris = [CodedBody(f"https://e.example/{end}", {}, "") for end in ("gone", "busy")]
    plain = [CodedBody("gone", {}, "")]
    families = [
        BodyFamily(name=None, pointer="", wrapper_path=[], code_pointer="/type", bodies=bodies)
        for bodies in (uris, plain)
    ]
    shorten_codes(families)
    assert [body.wire for body in uris] == ["https://e.example/gone", "https://e.example/busy"]


def test_a_comment_counts_the_answers_of_its_code() -> None:
    """The comment of a code has the number of answers with that code, not with its status."""
    _, text = draft(seen_by("https://e.example/"))
    lines = text.splitlines()
    counted = {lines[at + 1].strip(): line for at, line in enumerate(lines) if "observed: " in line}
    assert "404, in 2 answers" in counted["no_cup:"]
    assert "404, in 1 answer;" in counted["no_route:"]


def test_the_missing_resource_conceals() -> None:
    """Another tenant's resource answers as a missing one, not as an unknown route."""
    data, _ = draft(seen_by("https://e.example/"))
    assert data["privacy"]["conceal"] == [{"across": "tenant", "answer": "no_cup"}]


def test_the_title_of_a_problem_is_its_summary() -> None:
    """A code is summed up by the title that all its problems have, and its examples keep the
    message even where that repeats it.
    """
    data, text = draft(seen_by("https://e.example/"))
    code = data["codes"]["no_cup"]
    assert code["summary"] == "There is no such cup"
    assert code["example"]["message"] == "There is no such cup"
    found = {each.code for each in check(read_taxonomy(text, "t.yaml"))}
    assert "example-incomplete" not in found


def test_a_refusal_that_no_operation_documents_is_one_of_all() -> None:
    """Where several operations refuse with a code whose status they do not document, as for an
    address that cannot be read, the other operations list the code too.
    """
    failure = {"description": "d", "content": {"application/problem+json": {}}}
    names = ("GET /cups/{id}", "PUT /cups/{id}", "DELETE /cups/{id}")
    methods = {name.split()[0].lower(): {"responses": {"404": failure}} for name in names}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Cups", "version": "1"},
        "paths": {"/cups/{id}": methods},
    }
    start = "https://e.example/"
    seen = [
        *(problem(name, 400, f"{start}bad-address", "Bad address") for name in names[:2]),
        *(problem(name, 404, f"{start}no-cup", "No cup") for name in names[:2]),
        problem(None, 404, f"{start}no-route", "Not Found"),
    ]
    drafted = draft_taxonomy(read_document(document), group_shapes(seen), {}).data
    codes = {
        route: set(operation["codes"])
        for operation in drafted["operations"].values()
        for route in operation["match"]["routes"]
    }
    assert all("bad_address" in codes[name] for name in names)
