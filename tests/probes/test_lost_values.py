"""Values that an accepted write sent and that no read shows: lists, flags, and what was emptied."""

import json
from itertools import count
from typing import Any

import pytest

from faultspec.exchange.model import Request
from faultspec_conformance.config import ABSENT, ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import accepted_writes, resources
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: wiki, version: 1.0.0, title: Wiki, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
"""

OK = {"responses": {"200": {"description": "done"}}}
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}
PAGE = {
    "type": "object",
    "required": ["title", "labels", "due", "pinned", "secret"],
    "properties": {
        "title": TEXT,
        "labels": TEXTS,
        "due": {"type": ["string", "null"], "format": "date"},
        "pinned": {"type": "boolean"},
        "secret": {**TEXT, "writeOnly": True},
    },
}
BODY = {"requestBody": {"content": {"application/json": {"schema": PAGE}}}}
PART = {key: value for key, value in PAGE.items() if key != "required"}
PATCH = {"requestBody": {"content": {"application/json": {"schema": PART}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Wiki", "version": "1"},
    "paths": {
        "/pages": {"get": OK, "post": {**OK, **BODY}},
        "/pages/{id}": {"get": OK, "put": {**OK, **BODY}, "patch": {**OK, **PATCH}, "delete": OK},
    },
}
NEW = {
    "title": "T ${unique}",
    "labels": ["b", "a", "a"],
    "due": "2026-01-02",
    "pinned": True,
    "secret": "s-${unique}",
}
NEXT = {**NEW, "labels": ["c"], "due": "2026-03-04", "pinned": False}


class Wiki:
    """Pages. ``habit``: what the service does in its own way."""

    def __init__(self, habit: str = "") -> None:
        self.habit, self.numbers = habit, count(1)
        self.pages: dict[str, dict[str, Any]] = {}

    def __call__(self, request: Request) -> Any:
        """Answer one request."""
        name = request.target.partition("?")[0].removeprefix("/pages").removeprefix("/")
        body = json.loads(request.body) if request.body else {}
        body |= {"secret": None} if "secret" in body else {}
        if not name and request.method == "GET":
            return answer(200, [*self.pages.values()])
        if not name:
            return answer(201, self.make(body))
        if name not in self.pages:
            return answer(404, {"code": "absent"})
        if request.method == "DELETE":
            del self.pages[name]
            return answer(204)
        if request.method in ("PUT", "PATCH"):
            self.change(self.pages[name], dict(body), request.method)
        return answer(200, self.pages[name])

    def make(self, body: dict[str, Any]) -> dict[str, Any]:
        """Make a page."""
        page = {**body, "id": f"p-{next(self.numbers)}"}
        if "sorts" in self.habit:
            page["labels"] = sorted(set(page["labels"]))
        if "post-drops-list" in self.habit:
            page["labels"] = []
        if "post-drops-date" in self.habit:
            page["due"] = None
        self.pages[page["id"]] = page
        if "post-drops-flag" in self.habit:
            self.pages[page["id"]] = {**page, "pinned": not page["pinned"]}
        return page

    def change(self, page: dict[str, Any], body: dict[str, Any], method: str) -> None:
        """Change a page."""
        if method == "PATCH" and "patch-empties-list" in self.habit and "labels" not in body:
            body["labels"] = []
        if method == "PUT" and "put-keeps-list" in self.habit:
            body.pop("labels")
        if method == "PUT" and "put-keeps-date" in self.habit:
            body.pop("due")
        if method == "PUT" and "put-drops-date" in self.habit:
            body["due"] = None
        page.update(body)


def judge(habit: str, *, configured: bool = True) -> list[tuple[str, str, str]]:
    """The clause, level and pointer of the findings."""
    create = ConfiguredCall("POST", "/pages", body=NEW if configured else ABSENT)
    update = ConfiguredCall("PUT", "/pages/{id}", body=NEXT if configured else ABSENT)
    page = ResourceConfig("page", create=create, update=update)
    config = ServiceConfig(limits=Limits(writes=True), resources={"page": page})
    session = http_session(Wiki(habit), TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(accepted_writes.accepted_writes(session))
    return [
        (one.clause, one.finding.level, str(one.finding.pointer))
        for one in session.observations.outcomes
        if one.clause in accepted_writes.CLAUSES and one.finding is not None
    ]


@pytest.mark.parametrize(
    ("habit", "clause", "pointer"),
    [
        ("post-drops-list", "writes/created", "/labels"),
        ("post-drops-date", "writes/created", "/due"),
        ("post-drops-flag", "writes/created", "/pinned"),
        ("put-keeps-list", "writes/updated", "/labels"),
        ("put-keeps-date", "writes/updated", "/due"),
        ("put-drops-date", "writes/updated", "/due"),
        ("patch-empties-list", "writes/updated", "/labels"),
    ],
)
def test_a_value_that_a_write_loses_is_found(habit: str, clause: str, pointer: str) -> None:
    """A list, a date or a flag that a write sent is not emptied, kept or reset, although the
    answer shows the same wrong value as a read.
    """
    assert (clause, "error", pointer) in judge(habit)
    assert {(one, where) for one, _, where in judge(habit)} == {(clause, pointer)}


@pytest.mark.parametrize("habit", ["", "sorts"])
@pytest.mark.parametrize("configured", [True, False])
def test_a_value_in_another_form_is_not_lost(habit: str, *, configured: bool) -> None:
    """A list that is sorted and without doubles, and a member that is only written, pass."""
    assert judge(habit, configured=configured) == []


def test_a_made_up_value_that_is_dropped_is_a_warning() -> None:
    """Where the configuration does not have the body, the member may depend on another one."""
    assert ("writes/created", "warning", "/due") in judge("post-drops-date", configured=False)
