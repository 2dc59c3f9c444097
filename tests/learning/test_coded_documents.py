"""Drafts of services whose documents describe the bodies of their errors, and not their codes."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from faultspec.language import read as read_taxonomy
from faultspec.lint import check
from faultspec.openapi.service import read
from faultspec_conformance.learning.answers import ErrorAnswer, group_shapes
from faultspec_conformance.learning.draft import draft_taxonomy, write_draft

JSON, PROBLEM = "application/json", "application/problem+json"

#: The errors that a service answered: operation, status and code.
SEEN = (
    ("GET /cups", 401, "who"),
    ("GET /cups/{id}", 401, "who"),
    ("GET /cups/{id}", 404, "no_cup"),
    ("GET /cups", 400, "bad_limit"),
    ("GET /cups/{id}", 400, "bad_id"),
    ("GET /cups", 400, "bad_trace"),
    ("GET /cups/{id}", 400, "bad_trace"),
    ("GET /cups", 406, "no_such_form"),
    (None, 406, "no_such_form"),
    (None, 404, "no_route"),
)

TEXT: Mapping[str, Any] = {"type": "string"}

#: By style, the media type, the body of an error, and the documented schema of all of them.
Style = tuple[str, Callable[[int, str], Mapping[str, Any]], Mapping[str, Any]]

STYLES: Mapping[str, Style] = {
    "problems": (
        PROBLEM,
        lambda status, code: {
            "type": f"https://e.example/{code}",
            "title": "A problem",
            "status": status,
            "retriable": False,
        },
        {
            "type": "object",
            "required": ["type", "title", "status", "retriable"],
            "properties": {
                "type": TEXT,
                "title": TEXT,
                "status": {"type": "integer"},
                "retriable": {"type": "boolean"},
                "errors": {"type": "array", "items": {"type": "object"}},
            },
        },
    ),
    "a list beside an id and a flag": (
        JSON,
        lambda _, code: {
            "errors": [{"code": code, "message": "It failed"}],
            "trace": "4f7a91c2",
            "retry": False,
        },
        {
            "type": "object",
            "required": ["errors", "trace", "retry"],
            "properties": {
                "errors": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["code", "message"],
                        "properties": {"code": TEXT, "message": TEXT, "field": TEXT},
                    },
                },
                "trace": TEXT,
                "retry": {"type": "boolean"},
            },
        },
    ),
    "members that the document does not require": (
        JSON,
        lambda _, code: {"code": code, "message": "It failed"},
        {"type": "object", "properties": {"code": TEXT, "message": TEXT}},
    ),
}

#: The statuses that the document lists for each operation.
DOCUMENTED = {
    "GET /cups": ("400", "401", "429"),
    "GET /cups/{id}": ("400", "401", "404"),
    "PUT /cups/{id}": ("400", "401", "404", "409"),
    "POST /cups": ("400", "401", "409"),
}


def described(media: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A document whose failures all have one schema."""
    paths: dict[str, dict[str, Any]] = {}
    for name, statuses in DOCUMENTED.items():
        method, path = name.split()
        failure = {"$ref": "#/components/responses/Failure"}
        responses = {"200": {"description": "d"}, **dict.fromkeys(statuses, failure)}
        paths.setdefault(path, {})[method.lower()] = {"responses": responses}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Cups", "version": "1"},
        "components": {
            "schemas": {"Failure": schema},
            "responses": {
                "Failure": {
                    "description": "d",
                    "content": {media: {"schema": {"$ref": "#/components/schemas/Failure"}}},
                }
            },
        },
        "paths": paths,
    }


def draft(style: Style) -> tuple[Mapping[str, Any], str]:
    """The data of a draft and its text."""
    media, body, schema = style
    seen = [ErrorAnswer(name, status, media, body(status, code)) for name, status, code in SEEN]
    drafted = draft_taxonomy(read(described(media, schema)), group_shapes(seen), {})
    return drafted.data, write_draft(drafted, seen, "here", "s.json")


def listed(data: Mapping[str, Any]) -> dict[str, set[str]]:
    """The codes that each operation of a draft lists, as bodies write them."""
    last = {name: str(code.get("wire", name)) for name, code in data["codes"].items()}
    return {
        route: {last[name].rpartition("/")[2] for name in operation["codes"]}
        for operation in data["operations"].values()
        for route in operation["match"]["routes"]
    }


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_one_body_is_one_code(style: Style) -> None:
    """The draft has one envelope, and each code that was seen once. A status that nobody saw has no
    code: its bodies name one that nobody knows.
    """
    data, _ = draft(style)
    assert len(data["envelopes"]) == 1
    wires = [str(code.get("wire", name)).rpartition("/")[2] for name, code in data["codes"].items()]
    added = {"invalid_request", "internal_error"}
    assert sorted(set(wires) - added) == sorted({code for _, _, code in SEEN})
    assert len(wires) == len(set(wires))


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_an_operation_lists_what_it_may_answer(style: Style) -> None:
    """Each operation lists the codes that it answered, and those that several had under a status
    that it documents, or by which any operation refuses. Where it answered none with a documented
    status, it lists all codes of that status.
    """
    data, _ = draft(style)
    missing = {"no_cup", "no_route"}
    bad = {"bad_limit", "bad_id", "bad_trace"}
    assert listed(data) == {
        "GET /cups": {"who", "no_such_form", "bad_limit", "bad_trace"},
        "GET /cups/{id}": {"who", "no_such_form", "bad_id", "bad_trace", "no_cup"},
        "PUT /cups/{id}": {"who", "no_such_form", *missing, *bad},
        "POST /cups": {"who", "no_such_form", *bad},
    }


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_a_draft_of_answers_is_complete(style: Style) -> None:
    """Lint finds no example that lacks a value which all answers had."""
    _, text = draft(style)
    loaded = read_taxonomy(text, "taxonomy.yaml")
    assert loaded.taxonomy is not None
    assert not [each for each in check(loaded) if each.code == "example-incomplete"]
