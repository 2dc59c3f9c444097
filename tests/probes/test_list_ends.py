"""Pages that a list gives without a size, and pages of a filtered list."""

import json
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from faultspec.exchange.model import Request
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import filters, pages, resources
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shelf, version: 1.0.0, title: Shelf, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes:
  invalid: {summary: Not valid, http: [400, 404], retriable: false}
"""
OK = {"responses": {"200": {"description": "done"}}}
COLOURS = {"type": "string", "enum": ["red", "blue"]}
SIZE = {"type": "integer", "minimum": 1, "maximum": 50, "default": 7}
PARAMETERS = [
    {"name": "limit", "in": "query", "schema": SIZE},
    {"name": "cursor", "in": "query", "schema": {"type": "string"}},
    {"name": "colour", "in": "query", "schema": COLOURS},
]
NEW = {"type": "object", "properties": {"colour": COLOURS}}
BODY = {"requestBody": {"content": {"application/json": {"schema": NEW}}}}
PAGE = {"type": "object", "properties": {"items": {"type": "array"}, "next_cursor": {}}}
LISTED = {"200": {"description": "a page", "content": {"application/json": {"schema": PAGE}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/books": {
            "get": {"responses": LISTED, "parameters": PARAMETERS},
            "post": {**OK, **BODY},
        },
        "/books/{id}": {"get": OK},
    },
}


class Shelf:
    """Books, half of them red. ``sin``: what the service does wrong."""

    def __init__(self, sin: str = "") -> None:
        self.sin, self.numbers = sin, count(1)
        self.books: list[dict[str, Any]] = []

    def __call__(self, request: Request) -> Any:
        """Answer one request."""
        if request.method == "POST":
            json.loads(request.body)
            number = next(self.numbers)
            self.books.append({"id": f"book-{number:04}", "colour": ("red", "blue")[number % 2]})
            return answer(201, self.books[-1])
        found = [one for one in self.books if request.target.endswith(one["id"])]
        if found:
            return answer(200, found[0])
        if request.target.partition("?")[0] != "/books":
            return answer(404, {"code": "invalid"})
        return self.page(dict(parse_qsl(urlsplit(request.target).query)))

    def page(self, query: dict[str, str]) -> Any:
        """A page of the list."""
        size, start = query.get("limit", "7"), query.get("cursor", "0")
        if not size.isdigit() or not start.isdigit():
            return answer(400, {"code": "invalid"})
        colour = query.get("colour")
        if self.sin == "filter-ends-with-the-page" and start != "0":
            colour = None
        shown = [one for one in self.books if colour in (None, one["colour"])]
        begin = int(start)
        if self.sin == "filter-skips-on-pages" and query.get("colour") and start != "0":
            begin += 1
        end = begin + int(size)
        following = str(end) if end < len(shown) else None
        if self.sin == "default-page-is-silent" and "limit" not in query:
            following = None
        if self.sin == "default-page-is-whole" and "limit" not in query:
            return answer(200, {"items": shown, "next_cursor": None})
        return answer(200, {"items": shown[begin:end], "next_cursor": following})


def judged(sin: str, *, requests: int = 400) -> tuple[set[tuple[str, str]], int]:
    """Return the clauses with their verdicts, and the number of books."""
    shelf = Shelf(sin)
    create = ConfiguredCall("POST", "/books", body={"colour": "red"})
    config = ServiceConfig(
        resources={"book": ResourceConfig("book", create=create, id="/id")},
        limits=Limits(writes=True, requests=requests),
    )
    session = http_session(shelf, TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    for probe in (resources.fixtures, pages.paged_lists, filters.filtered_lists):
        session.record_results(probe(session))
    found = {(one.clause, one.kind) for one in session.observations.outcomes}
    return found, len(shelf.books)


@pytest.mark.parametrize("sin", ["", "default-page-is-whole"])
def test_a_behaving_list_passes(sin: str) -> None:
    """The list is made longer than a page without a size, as the document has it."""
    found, books = judged(sin)
    assert {("lists/pages", "passed"), ("lists/filter", "passed")} <= found
    assert not [one for one in found if one[1] == "failed"]
    assert books == 8


@pytest.mark.parametrize(
    ("sin", "clause"),
    [
        ("default-page-is-silent", "lists/pages"),
        ("filter-ends-with-the-page", "lists/filter"),
        ("filter-skips-on-pages", "lists/filter"),
    ],
)
def test_an_end_that_is_not_one_is_found(sin: str, clause: str) -> None:
    """A page that names no next one is the last; a filter holds for all pages."""
    found, _ = judged(sin)
    assert {one for one, kind in found if kind == "failed"} == {clause}


def test_a_small_budget_is_not_spent_on_items() -> None:
    """Creations are a small part of the requests that are left."""
    assert judged("", requests=30)[1] < 8
