"""Unusual writes: members of the service that a caller sets, and null that ruins a resource, are
found; a service that refuses or ignores them is not blamed.
"""

import json
from itertools import count
from typing import Any

import pytest

from faultspec.exchange.model import Request
from faultspec_conformance.config import Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources, unusual_writes
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: library, version: 1.0.0, title: Library, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  invalid: {summary: Not valid, http: 400, retriable: false}
  failed: {summary: Crashed, http: 500, retriable: false}
"""
TEXT = {"type": "string"}
NEW = {"type": "object", "properties": {"title": TEXT, "note": {"type": ["string", "null"]}}}
BOOK = {
    "type": "object",
    "properties": {
        "id": {**TEXT, "readOnly": True},
        "title": TEXT,
        "tenant": TEXT,
        "stars": {},
        "state": {"enum": ["draft", "approved"], "readOnly": True},
        "shelf": {"enum": ["new", "old", "lost"], "readOnly": True},
    },
}
DEFAULTS = {"tenant": "north", "role": "reader", "stars": 3, "due": "2026-01-31T10:00:00Z"}


class Library:
    """Books. ``sets``: the members that a caller can set although they are the service's.
    ``habits``: what the service does in its own way.
    """

    def __init__(self, sets: tuple[str, ...], habits: tuple[str, ...]) -> None:
        self.sets, self.habits, self.numbers = sets, habits, count(1)
        self.books: dict[str, dict[str, Any]] = {}

    def __call__(self, request: Request) -> Any:
        """Answer one request."""
        name = request.target.removeprefix("/books").removeprefix("/")
        body = json.loads(request.body) if request.body else {}
        own = {"title", "note"}
        if "refuses" in self.habits and set(body) - own - set(self.sets):
            return answer(400, {"code": "invalid"})
        if "no-role" in self.habits and "role" in body:
            return answer(400, {"code": "invalid"})
        stores_null = {"crashes", "hides", "list-crashes", "removes"} & {*self.habits}
        if "title" in body and body["title"] is None and not stores_null:
            return answer(400, {"code": "invalid"})
        kept = {key: value for key, value in body.items() if key in own | {*self.sets}}
        if "removes" in self.habits:
            kept = {key: value for key, value in kept.items() if value is not None}
        if request.method == "POST":
            first = {"state": "draft", "shelf": "new"} if "moves" in self.habits else {}
            book = {"id": f"book-{next(self.numbers):04}", **DEFAULTS, **first, **kept}
            self.books[book["id"]] = book
            return answer(201, book)
        if request.method == "PATCH" and name in self.books:
            later = {"state": "approved", "shelf": "old"} if "moves" in self.habits else {}
            self.books[name] |= later | kept
            return answer(200, {"id": name})
        return self.shown(name)

    def shown(self, name: str) -> Any:
        """Answer a read of a book, or of the list."""
        ruined = [book for book in self.books.values() if book.get("title", "") is None]
        if not name:
            if ruined and "list-crashes" in self.habits:
                return answer(500, {"code": "failed"})
            return answer(200, [*self.books.values()])
        if name not in self.books:
            return answer(404, {"code": "absent"})
        if self.books[name] in ruined and "crashes" in self.habits:
            return answer(500, {"code": "failed"})
        if self.books[name] in ruined and "hides" in self.habits:
            return answer(404, {"code": "absent"})
        return answer(200, self.books[name])


def outcomes_of(
    *habits: str, sets: tuple[str, ...] = (), owned: tuple[str, ...] = ()
) -> list[Outcome]:
    """The outcomes of the probe. ``owned``: the members that the configuration declares."""

    def done(schema: object) -> dict[str, object]:
        return {"description": "done", "content": {"application/json": {"schema": schema}}}

    body = {"requestBody": {"content": {"application/json": {"schema": NEW}}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Library", "version": "1"},
        "paths": {
            "/books": {
                "get": {"responses": {"200": done({"type": "array"})}},
                "post": {"responses": {"201": done(BOOK)}, **body},
            },
            "/books/{id}": {
                "get": {"responses": {"200": done(BOOK)}},
                "patch": {"responses": {"200": done({})}, **body},
            },
        },
    }
    config = ServiceConfig(
        identities={
            name: Identity(name, headers=(("Authorization", name),), tenant=name)
            for name in ("north", "south")
        },
        resources={"book": ResourceConfig("book", server_owned=owned)},
        limits=Limits(writes=True),
    )
    session = http_session(Library(sets, habits), TAXONOMY, config, document)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.call(RequestSpec("PATCH", "/books/book-0001", identity=session.caller, body={}))
    session.record_results(unusual_writes.unusual_writes(session))
    found = session.observations.outcomes
    return [one for one in found if one.clause in unusual_writes.CLAUSES]


def findings_of(outcomes: list[Outcome]) -> set[tuple[str, str, str | None]]:
    """The clause, the level and the place of each finding."""
    found = [one.finding for one in outcomes if one.finding is not None]
    return {(one.clause, one.level, one.pointer) for one in found}


@pytest.mark.parametrize("habit", ["refuses", "ignores"])
def test_a_service_that_refuses_or_ignores_its_own_members_passes(habit: str) -> None:
    """Both are right, also for members that the configuration declares."""
    outcomes = outcomes_of(habit, owned=("/tenant", "/role", "/stars", "/due"))
    assert {one.kind for one in outcomes} == {"passed"}


@pytest.mark.parametrize("habit", ["refuses", "ignores"])
@pytest.mark.parametrize("name", ["tenant", "role", "stars", "due"])
def test_a_declared_member_that_a_caller_sets_is_found(name: str, habit: str) -> None:
    """Of any type, by creation and by update, also if other members are refused."""
    outcomes = outcomes_of(habit, sets=(name,), owned=(f"/{name}",))
    assert findings_of(outcomes) == {("writes/server-owned", "error", f"/{name}")}


def test_a_member_that_the_document_marks_is_found() -> None:
    """A `readOnly` member needs no configuration."""
    outcomes = outcomes_of("ignores", sets=("id",))
    assert ("writes/server-owned", "error", "/id") in findings_of(outcomes)


def test_the_state_of_a_new_resource_is_not_a_value_of_the_caller() -> None:
    """A creation that sends the state which every new resource has is not blamed, though the state
    of the first one is another by now. Where there is a third one, that is sent.
    """
    assert findings_of(outcomes_of("ignores", "moves")) == set()
    outcomes = outcomes_of("ignores", "moves", sets=("shelf",))
    assert findings_of(outcomes) == {("writes/server-owned", "error", "/shelf")}


def test_a_member_of_power_that_no_request_has_is_a_warning() -> None:
    """Of a member that the document has in no request, and whose name is about owners and rights,
    the suite only guesses whose it is. Of other members it guesses nothing.
    """
    outcomes = outcomes_of("ignores", sets=("tenant", "stars"))
    assert findings_of(outcomes) == {("writes/server-owned", "warning", "/tenant")}


@pytest.mark.parametrize("habit", ["crashes", "hides", "list-crashes"])
def test_a_null_that_ruins_a_resource_or_its_list_is_found(habit: str) -> None:
    """After an accepted null the resource and the list must be readable."""
    assert ("writes/readable", "error", None) in findings_of(outcomes_of(habit))


def test_a_null_that_removes_a_member_passes() -> None:
    """As in a JSON Merge Patch (RFC 7396)."""
    assert findings_of(outcomes_of("removes")) == set()


OWNED = ("/created_at", "/due", "/stars", "/seen_at", "/version", "/status", "/role", "/tenant")


def test_members_are_tried_one_by_one_in_the_order_of_their_risk() -> None:
    """After all together were refused, a member that comes late in the file is still tried, and
    rights, owners and states come before times. A harmless success does not end the search.
    """
    for name in ("stars", "role", "tenant"):
        outcomes = outcomes_of("refuses", sets=(name, "due"), owned=OWNED)
        found = findings_of(outcomes)
        assert {place for _, _, place in found} == {f"/{name}"}


def test_an_ignored_member_alone_does_not_end_the_search() -> None:
    """Where one member is refused and another one ignored, the others are tried all the same."""
    outcomes = outcomes_of("no-role", sets=("stars",), owned=("/role", "/tenant", "/stars"))
    assert findings_of(outcomes) == {("writes/server-owned", "error", "/stars")}
