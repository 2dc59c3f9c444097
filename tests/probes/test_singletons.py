"""Resources without an id: each test states a law about what an update of one leaves behind."""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes.singletons import singletons
from faultspec_conformance.results.model import Outcome
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  stale: {summary: It has changed., http: 412, retriable: false}
  wrong: {summary: It is wrong., http: 422, retriable: false}
"""

BODY = {"title": "My shop", "limit": 7}
PROPERTIES = {
    "title": {"type": "string"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 99},
    "banner": {"type": "string"},
}
SCHEMA = {"type": "object", "required": ["title", "limit"], "properties": PROPERTIES}
CALLERS = {name: Identity(name, (("X-Key", name),), tenant=name.upper()) for name in ("ann", "bob")}


class Shop:
    """A shop whose settings each tenant has for itself. ``sin``: what is wrong with it."""

    def __init__(self, sin: str) -> None:
        self.sin = sin
        self.settings = {
            name: {"title": "None yet", "limit": 3, "banner": "Hello"} for name in CALLERS
        }
        self.version, self.unconditional, self.stale = 1, 0, 0

    def __call__(self, request: Request) -> Response:
        """The answer."""
        headers = dict(request.headers)
        tenant = "ann" if self.sin == "shared" else headers["X-Key"]
        tag = f'"{self.version}"'
        if request.method == "GET":
            return answer(200, self.settings[tenant], ETag=tag)
        is_stale = headers.get("If-Match") != tag
        if is_stale and self.sin == "stale-applied":
            self.settings[tenant] = json.loads(request.body)
        self.unconditional += "If-Match" not in headers
        self.stale += is_stale
        racing = self.sin == "racing" and self.stale > 1
        if is_stale and self.sin != "stale-accepted" and not racing:
            return answer(412, {"code": "stale"})
        body = json.loads(request.body)
        if self.sin == "strict" and body["title"] != BODY["title"]:
            return answer(422, {"code": "wrong"})
        if self.sin == "keeps-limit":
            body["limit"] = self.settings[tenant]["limit"]
        self.version += self.sin != "tag-kept"
        if self.sin != "lost":
            self.settings[tenant] = body
        if self.sin == "stored-500" and body["title"] != "None yet":
            return answer(500)
        return answer(200, body, ETag=f'"{self.version}"')


def document() -> dict[str, Any]:
    """The document of the settings."""
    tag = {"name": "If-Match", "in": "header", "required": True, "schema": {"type": "string"}}
    content = {"application/json": {"schema": SCHEMA}}
    ok = {"200": {"description": "done"}}
    put = {"parameters": [tag], "requestBody": {"content": content}, "responses": ok}
    shown = {"type": "object", "properties": {**PROPERTIES, "since": {"type": "string"}}}
    read = {"200": {"description": "all", "content": {"application/json": {"schema": shown}}}}
    return {"openapi": "3.1.0", "paths": {"/settings": {"get": {"responses": read}, "put": put}}}


def outcomes_of(
    shop: Shop, *, configured: bool = True, service: dict[str, Any] | None = None
) -> list[Outcome]:
    """The outcomes of the probe. ``service``: the document."""
    kind = ResourceConfig(
        "setting",
        read=ConfiguredCall("GET", "/settings"),
        update=ConfiguredCall("PUT", "/settings", body=BODY),
    )
    config = ServiceConfig(
        identities=CALLERS,
        resources={"setting": kind} if configured else {},
        limits=Limits(writes=True),
    )
    session = http_session(shop, TAXONOMY, config, service or document())
    session.turn = session.kinds
    session.record_results(singletons(session))
    return session.observations.outcomes


@pytest.mark.parametrize("configured", [True, False])
@pytest.mark.parametrize(
    ("sin", "clause"),
    [
        ("", None),
        ("lost", "writes/updated"),
        ("keeps-limit", "writes/updated"),
        ("shared", "tenancy/concealed"),
        ("stale-accepted", "preconditions/stale"),
        ("stale-applied", "preconditions/stale"),
        ("tag-kept", "preconditions/stale"),
        ("racing", "preconditions/concurrent"),
    ],
)
def test_an_update_is_stored_for_its_tenant(
    sin: str, clause: str | None, *, configured: bool
) -> None:
    """A read shows what an accepted update changes, and another tenant's read does not. A stale
    update is refused and changes nothing. What was there is written back. Of what only the document
    has, a shared one is a warning.
    """
    shop = Shop(sin)
    found = [one for one in outcomes_of(shop, configured=configured) if one.finding is not None]
    assert {one.clause for one in found} == ({clause} if clause else set())
    levels = {one.finding.level for one in found if one.finding is not None}
    assert levels <= {"error" if configured or sin != "shared" else "warning"}
    assert shop.settings["ann"] == {"title": "None yet", "limit": 3, "banner": "Hello"}
    assert shop.unconditional == 0


def test_a_service_that_takes_the_known_body_alone_gets_it() -> None:
    """New texts may be refused. Then the update has no text by which its tenant is recognised, and
    what cannot be written back cannot be sent with a validator either.
    """
    found = outcomes_of(Shop("strict"))
    assert {(one.clause, one.kind) for one in found} == {
        ("writes/updated", "passed"),
        ("tenancy/concealed", "not_exercised"),
        ("preconditions/stale", "not_exercised"),
    }


def test_a_singleton_without_validators_is_not_asked_for_them() -> None:
    """Where the document names `If-Match` for other operations alone, none is tried."""
    plain = document()
    [tag] = plain["paths"]["/settings"]["put"].pop("parameters")
    delete = {"parameters": [tag], "responses": {"204": {"description": "gone"}}}
    plain["paths"]["/rooms/{id}"] = {"delete": delete}
    clauses = {one.clause for one in outcomes_of(Shop(""), service=plain)}
    assert clauses == {"writes/updated", "tenancy/concealed"}


def test_what_lets_a_caller_in_is_left_alone() -> None:
    """An undeclared singleton with a member such as `email` may be the account of the caller."""
    shop = Shop("")
    shop.settings = {name: {"email": "ann@shop.example"} for name in CALLERS}
    account = document()
    schema = {"type": "object", "required": ["email"], "properties": {"email": {"type": "string"}}}
    put = account["paths"]["/settings"]["put"]
    put["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    config = ServiceConfig(identities=CALLERS, limits=Limits(writes=True))
    session = http_session(shop, TAXONOMY, config, account)
    session.turn = session.kinds
    session.record_results(singletons(session))
    [outcome] = session.observations.outcomes
    assert "`email` may let its caller in" in str(outcome.reason)
    assert shop.version == 1


@pytest.mark.parametrize("configured", [True, False])
def test_a_list_of_items_is_not_replaced(*, configured: bool) -> None:
    """A PUT that the document alone has may replace all items of a list, of which a read shows a
    page. A configured one is updated.
    """
    shop = Shop("")
    shop.settings = {name: {**BODY, "limit": 3, "items": [{"id": 1}]} for name in CALLERS}
    found = outcomes_of(shop, configured=configured)
    assert (shop.version > 1) == configured
    assert configured or "shows a list of items" in str(found[0].reason)


def test_what_cannot_be_written_back_is_noted() -> None:
    """The report says so if the service refuses what it had before."""
    shop = Shop("strict")
    kind = ResourceConfig(
        "setting",
        read=ConfiguredCall("GET", "/settings"),
        update=ConfiguredCall("PUT", "/settings", body=BODY),
    )
    config = ServiceConfig(
        identities=CALLERS, resources={"setting": kind}, limits=Limits(writes=True)
    )
    session = http_session(shop, TAXONOMY, config, document())
    session.turn = session.kinds
    session.record_results(singletons(session))
    [note] = session.observations.notes
    assert "could not be written back: the answer was 422" in note


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        ({"data": {**BODY, "items": [{"id": 1}]}}, "shows a list of items"),
        ({**BODY, "title": "DE****1234"}, "masks a value"),
        ({"limit": 7}, "does not show `title`"),
    ],
)
def test_what_could_not_be_written_back_is_left_alone(
    shown: dict[str, object], reason: str
) -> None:
    """A page of a list, a mask, and a value that no read shows cannot be written back."""
    shop = Shop("")
    shop.settings = dict.fromkeys(CALLERS, shown)
    [outcome] = outcomes_of(shop, configured=False)
    assert reason in str(outcome.reason)
    assert shop.version == 1


def test_an_update_that_fails_is_undone_too() -> None:
    """A service may store what it answers with a crash."""
    shop = Shop("stored-500")
    outcomes_of(shop)
    assert shop.settings["ann"]["title"] == "None yet"
    assert shop.version > 2


@pytest.mark.parametrize("value", [[], {}, [[]], None, ""])
def test_an_empty_value_that_no_read_shows_is_left_alone(value: object) -> None:
    """An empty list or object has no value inside, and is not shown either."""
    account = document()
    schema = {"type": "object", "properties": {"tags": {"example": value}, "limit": {}}}
    put = account["paths"]["/settings"]["put"]
    put["requestBody"]["content"]["application/json"] |= {
        "schema": schema,
        "example": {"tags": value, "limit": 7},
    }
    shop = Shop("")
    shop.settings = {name: {"limit": 3} for name in CALLERS}
    config = ServiceConfig(identities=CALLERS, limits=Limits(writes=True))
    session = http_session(shop, TAXONOMY, config, account)
    session.turn = session.kinds
    session.record_results(singletons(session))
    [outcome] = session.observations.outcomes
    assert "does not show" in str(outcome.reason)
    assert shop.version == 1
