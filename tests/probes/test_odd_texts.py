"""Odd texts in queries and bodies: a crash is found wherever it happens; a refusal is none."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import odd_texts, resources
from support.scripted import ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: house, version: 1.0.0, title: House, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  malformed: {summary: Not valid, http: 400, retriable: false}
  broken: {summary: A mistake, http: 500, retriable: false}
"""
OK = {"responses": {"200": {"description": "done"}}}
TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "note": {"type": "string", "maxLength": 12},
        "code": {"type": "string", "pattern": "^[a-z0-9-]+$"},
    },
}
WRITE = {**OK, "requestBody": {"content": {"application/json": {"schema": SCHEMA}}}}


def query(name: str, schema: object = TEXT) -> dict[str, object]:
    """Return a parameter of a query."""
    return {"name": name, "in": "query", "schema": schema}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/rooms": {"get": {**OK, "parameters": [query("q"), query("sort")]}, "post": WRITE},
        "/rooms/{id}": {"get": OK, "patch": WRITE},
        "/logs": {"get": {**OK, "parameters": [query("q"), query("n", {"type": "integer"})]}},
    },
}


def house(
    crashes: Callable[[str, str], bool], refuses: Callable[[str], bool] = lambda text: False
) -> Callable[[Request], Response]:
    """Return a service. ``crashes``: at which operation a text makes it fail. ``refuses``: which
    texts are invalid.
    """
    kept: dict[str, dict[str, object]] = {}

    def script(request: Request) -> Response:
        parts = urlsplit(request.target)
        body = json.loads(request.body) if request.body else {}
        number = parts.path.removeprefix("/logs").removeprefix("/rooms").strip("/")
        shown = kept.get(number, {}) if request.method == "GET" else body
        texts = [*map(str, shown.values()), *(text for _, text in parse_qsl(parts.query))]
        name = f"{request.method} {'item' if number else parts.path}"
        if any(crashes(name, text) for text in texts):
            return answer(500, {"code": "broken"})
        if any(map(refuses, texts)):
            return answer(400, {"code": "malformed"})
        if request.method == "GET" and not number:
            return answer(200, [])
        if request.method == "POST":
            number = f"room-{len(kept)}"
        elif number not in kept:
            return answer(404, {"code": "absent"})
        kept[number] = {**kept.get(number, {}), **body, "id": number}
        return answer(200, kept[number])

    return script


def crashed(script: Callable[[Request], Response]) -> tuple[set[str | None], list[Request]]:
    """Return the operations that crashed, and what was sent."""
    config = ServiceConfig(limits=Limits(writes=True, requests=300))
    session = http_session(script, TAXONOMY, config, DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(odd_texts.odd_queries(session))
    session.record_results(odd_texts.odd_bodies(session))
    assert isinstance(session.driver, ScriptedDriver)
    found = {
        one.exchange.operation
        for one in session.observations.exchanges
        if any(finding.clause == "service/no-crash" for finding in one.judgement.findings)
    }
    return found, session.driver.sent


@pytest.mark.parametrize("character", ["'", '"', "%", "\\", "\U0001f600", "\x01"])
@pytest.mark.parametrize("operation", ["GET /logs", "GET /rooms", "POST /rooms", "PATCH item"])
def test_a_crash_by_one_character_is_found(character: str, operation: str) -> None:
    """Each character reaches the queries of all operations and the texts of all bodies."""
    found, _ = crashed(house(lambda name, text: name == operation and character in text))
    assert found == {operation.replace("item", "/rooms/{id}")}


def test_a_text_that_cannot_be_shown_is_found() -> None:
    """A service that stores an emoji and crashes when it shows the item is found."""
    found, _ = crashed(house(lambda name, text: name == "GET item" and "\U0001f600" in text))
    assert found == {"GET /rooms/{id}"}


def test_where_all_together_are_refused_each_is_tried_alone() -> None:
    """A service that refuses double quotes is found to crash by a single one."""
    script = house(
        lambda name, text: text.startswith("O'Neil") and name in ("GET /logs", "POST /rooms"),
        refuses=lambda text: '"' in text,
    )
    assert crashed(script)[0] == {"GET /logs", "POST /rooms"}


def test_texts_keep_to_their_schema() -> None:
    """A service that accepts every text is silent; texts keep their lengths and patterns, and the
    parameters of all operations take turns.
    """
    found, sent = crashed(house(lambda name, text: False))
    assert found == set()
    bodies = [json.loads(one.body) for one in sent if one.body]
    assert all(
        len(body.get("name", "")) <= 30 and len(body.get("note", "")) <= 12 for body in bodies
    )
    assert not any(set(body.get("code", "a")) & set("'\x01") for body in bodies)
    odd = [one.target.partition("=")[0] for one in sent if "%27" in one.target]
    assert odd == ["/rooms?q", "/logs?q", "/rooms?sort"]
