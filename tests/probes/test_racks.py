"""Books on racks: a list below an item whose items have no path of their own, a log in pages, and
missing racks that are answered like unknown routes.
"""

import json
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import confidential, filters, resources, tenancy
from faultspec_conformance.probes.failed_effects import readable_target
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.http import HttpSession
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: library, version: 1.0.0, title: Library, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error}}
codes:
  no_rack: {summary: No such rack, http: 404, retriable: false}
  no_route: {summary: No such route, http: [404, 405], retriable: false}
  invalid: {summary: Not valid, http: 400, retriable: false}
  broken: {summary: Broken, http: 500, retriable: false, effect: none}
privacy: {conceal: [{across: tenant, answer: no_rack}]}
"""
OK = {"responses": {"200": {"description": "done"}}}


def takes(**members: dict[str, Any]) -> dict[str, Any]:
    """An operation with a body that has these members."""
    schema = {"type": "object", "required": [*members], "properties": members}
    return {**OK, "requestBody": {"content": {"application/json": {"schema": schema}}}}


TEXT = {"type": "string"}
SIZE = {"type": "integer", "maximum": 20}
PAGES = [{"name": name, "in": "query", "schema": SIZE} for name in ("page", "limit")]
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Library", "version": "1"},
    "paths": {
        "/racks": {"post": takes(name=TEXT, pin={**TEXT, "writeOnly": True})},
        "/racks/{id}": {"get": OK},
        "/racks/{id}/books": {"get": OK, "post": takes(pages={"type": "integer"})},
        "/log": {"get": {**OK, "parameters": PAGES}},
    },
}


class Library:
    """Racks and books. ``sin``: what it does wrong."""

    def __init__(self, sin: str = "") -> None:
        self.sin, self.numbers = sin, count(1)
        self.racks: dict[str, tuple[str, dict[str, Any]]] = {}
        self.books: list[dict[str, Any]] = []
        self.log = [f"an old entry {number}" for number in range(30)]

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        parts = urlsplit(request.target)
        caller = dict(request.headers).get("Authorization", "")
        match parts.path.split("/")[1:]:
            case ["racks"] if request.method == "POST":
                return self.make(caller, json.loads(request.body))
            case ["racks", identifier, *below]:
                return self.rack(request, caller, identifier, below=below)
            case ["log"]:
                page = int(dict(parse_qsl(parts.query)).get("page", "1"))
                return answer(200, {"items": self.log[20 * page - 20 : 20 * page]})
        return answer(404, {"code": "no_route"})

    def make(self, caller: str, body: dict[str, Any]) -> Response:
        """Make a rack."""
        rack = {"id": f"rack-{next(self.numbers):08}", "name": body.get("name")}
        self.racks[rack["id"]] = caller, rack
        self.log.append(f"made with {body.get('pin')}" if self.sin == "logs" else "made")
        return answer(201, rack)

    def rack(self, request: Request, caller: str, name: str, *, below: list[str]) -> Response:
        """Answer a request to a rack, or to its books."""
        owner, rack = self.racks.get(name, ("", {}))
        if owner != caller:
            return answer(404, {"code": "no_route" if self.sin == "routes" else "no_rack"})
        if below and request.method == "POST":
            book = {"id": f"book-{next(self.numbers):08}", "rack": name}
            self.books.append(book)
            return answer(201, book)
        books = [one for one in self.books if self.sin == "all" or one["rack"] == name]
        return answer(200, {"items": books} if below else rack)


def session_of(sin: str = "") -> HttpSession:
    """A session with a rack and a book."""
    book = ResourceConfig(
        "book",
        create=ConfiguredCall("POST", "/racks/${rack.id}/books", body={"pages": 3}),
        list=ConfiguredCall("GET", "/racks/{id}/books"),
        id="/id",
    )
    config = ServiceConfig(
        identities={
            name: Identity(name, headers=(("Authorization", name),), tenant=name)
            for name in ("north", "south")
        },
        resources={"rack": ResourceConfig("rack"), "book": book},
        limits=Limits(writes=True, requests=300),
    )
    session = http_session(Library(sin), TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    return session


def outcomes(session: HttpSession, clause: str) -> list[Outcome]:
    """The outcomes of a clause."""
    return [one for one in session.observations.outcomes if one.clause == clause]


@pytest.mark.parametrize("sin", ["", "all"])
def test_a_list_of_what_has_no_path_is_read_below_another_item(sin: str) -> None:
    """The books of another rack are not there, although a book has no path of its own."""
    session = session_of(sin)
    session.record_results(filters.filtered_lists(session))
    found = [one for one in outcomes(session, "lists/filter") if one.kind != "not_exercised"]
    assert [one.kind for one in found] == ["failed" if sin else "passed"]


@pytest.mark.parametrize("sin", ["", "logs"])
def test_a_log_is_searched_page_by_page(sin: str) -> None:
    """A confidential value is found on a later page of a log that has the oldest entries first."""
    session = session_of(sin)
    session.record_results(confidential.confidential_members(session))
    kinds = {one.kind for one in outcomes(session, "leaks/confidential")}
    assert ("failed" in kinds) is (sin == "logs")
    assert "passed" in kinds


@pytest.mark.parametrize("sin", ["", "routes"])
def test_a_missing_item_is_not_answered_like_an_unknown_route(sin: str) -> None:
    """The taxonomy has a code for it, which is the answer also to another tenant."""
    session = session_of(sin)
    session.record_results(tenancy.other_tenants(session))
    found = outcomes(session, "tenancy/concealed")
    messages = [one.finding.message for one in found if one.finding is not None]
    assert bool(messages) is bool(sin)
    assert all("as to an unknown route, and never no_rack" in message for message in messages)
    assert "passed" in {one.kind for one in found} or sin


def test_the_effect_of_a_post_is_read_in_the_list_of_what_it_makes() -> None:
    """It is nearer than the item above, which need not show what lies below it."""
    session = session_of()
    spec = ordinary_request(session, session.operation("POST", "/racks/{id}/books"))
    target = readable_target(session, spec)
    assert target is not None
    assert target.read.template == "/racks/{id}/books"
