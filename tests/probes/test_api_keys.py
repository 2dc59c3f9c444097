"""A service with keys: in the query, in a header, in a cookie, or as the document has it for an
operation. Each test states a law about worthless credentials.
"""

import base64
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest

from faultspec.exchange.model import Request, Response
from faultspec.openapi import service as openapi
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import Identity, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import auth
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.credentials import drop_own_parameters
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.worthless_credentials import (
    Carrier,
    altered_credentials,
    carriers_of,
)
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: keys, version: 1.0.0, title: Keys, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {error: $code, description?: $message}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  unknown: {summary: Say who, http: 401, retriable: false}
  broken: {summary: Our fault, http: 500, retriable: false}
undeclared: {becomes: broken}
"""
DONE = {"responses": {"200": {"description": "done"}}}
SCHEMES = {
    "query": {"type": "apiKey", "in": "query", "name": "api_key"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Shop-Key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "shop"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "basic": {"type": "http", "scheme": "basic"},
}
KEY = "shop_4711f00d4711f00d"
SIGNED = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLTQ3MTE"
BASIC = base64.b64encode(b"ann:swordfish-4711").decode()

CALLERS = {
    "query": Identity("shop", query=(("api_key", KEY),)),
    "header": Identity("shop", (("X-Shop-Key", KEY),)),
    "cookie": Identity("shop", (("Cookie", f"shop={KEY}"),)),
    "bearer": Identity("shop", (("Authorization", f"Bearer {SIGNED}"),)),
    "basic": Identity("shop", (("Authorization", f"Basic {BASIC}"),)),
}
REAL = {"bearer": SIGNED, "basic": BASIC}


def credential(request: Request, where: str) -> str | None:
    """The credential that a request has in a place."""
    headers = {name.lower(): value for name, value in request.headers}
    if where == "query":
        query = parse_qsl(urlsplit(request.target).query, keep_blank_values=True)
        return dict(query).get("api_key")
    if where == "header":
        return headers.get("x-shop-key")
    if where == "cookie":
        name, _, value = headers.get("cookie", "").partition("=")
        return value if name == "shop" else None
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value if scheme.lower() == where else None


Accepts = Callable[[str], bool]


def failures(where: str, accepts: Accepts, second: str | None = None) -> list[str]:
    """The failures at a service that accepts credentials in a place. ``second``: another place that
    the document has for them.
    """

    def respond(request: Request) -> Response:
        known = False
        for place in filter(None, (where, second)):
            value = credential(request, place)
            known = known or (
                value is not None and (value == REAL.get(place, KEY) or accepts(value))
            )
        found = answer(200, []) if known else answer(401, {"error": "unknown"})
        return replace(found, body=b"") if request.method == "HEAD" else found

    security = [{name: []} for name in filter(None, (where, second))]
    document = {
        "openapi": "3.1.0",
        "components": {"securitySchemes": SCHEMES},
        "paths": {"/clients": {"get": {**DONE, "security": security}}},
    }
    config = ServiceConfig(identities={"shop": CALLERS[where]}, limits=Limits(writes=True))
    session = http_session(respond, TAXONOMY, config, document)
    assert session.call(RequestSpec("GET", "/clients")).ok
    results = [*auth.missing_credentials(session), *auth.garbage_credentials(session)]
    outcomes = [one for one in results if isinstance(one, Outcome)]
    assert any(one.clause == "auth/garbage" and one.is_decided for one in outcomes)
    return [one.finding.message for one in outcomes if one.finding is not None]


PLACES = sorted(CALLERS)


@pytest.mark.parametrize("where", PLACES)
def test_a_right_service_is_not_blamed(where: str) -> None:
    """Wherever credentials travel, a service that compares them has no finding."""
    assert failures(where, lambda value: False) == []


@pytest.mark.parametrize("where", ["query", "header", "cookie", "bearer"])
def test_a_made_up_key_is_refused(where: str) -> None:
    """A service that accepts any text is found, wherever the key travels."""
    assert any("made-up" in line for line in failures(where, lambda value: value[:4] == "tok_"))


@pytest.mark.parametrize("where", ["query", "header", "cookie"])
def test_an_empty_key_is_refused(where: str) -> None:
    """A key that is there and empty is not a key."""
    assert [line for line in failures(where, lambda value: value == "") if "an empty" in line]


@pytest.mark.parametrize("where", ["query", "header", "cookie"])
def test_a_key_counts_to_its_end(where: str) -> None:
    """A service that looks at the prefix of a key is found."""
    found = failures(where, lambda value: value.startswith("shop_"))
    assert [line for line in found if "altered" in line]


@pytest.mark.parametrize("token", [SIGNED, SIGNED.partition(".")[2]])
def test_a_signature_is_verified(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that reads the claims of a token and not its signature is found."""
    monkeypatch.setitem(REAL, "bearer", token)
    caller = Identity("shop", (("Authorization", f"Bearer {token}"),))
    monkeypatch.setitem(CALLERS, "bearer", caller)
    claims = token.rpartition(".")[0]
    found = failures("bearer", lambda value: value.startswith(claims) and value != claims + ".")
    assert [line for line in found if "altered" in line]


def test_a_password_is_compared() -> None:
    """A service that looks at the user of Basic alone is found."""

    def names_user(value: str) -> bool:
        try:
            return base64.b64decode(value, validate=True).startswith(b"ann:")
        except ValueError:
            return False

    assert [line for line in failures("basic", names_user) if "altered" in line]


@pytest.mark.parametrize("second", [place for place in PLACES if place != "basic"])
def test_each_way_to_send_credentials_is_tried(second: str) -> None:
    """Where the document accepts credentials in two places, both get a made-up one."""
    first = "bearer" if second != "bearer" else "header"
    found = failures(first, lambda value: False, second)
    assert found == []
    found = failures(first, lambda value: value[:4] == "tok_", second)
    assert len([line for line in found if "made-up" in line]) == 2


@pytest.mark.parametrize("key", ["********", "пароль-секретный", "short", "__________"])
def test_an_altered_key_is_another_one(key: str) -> None:
    """Whatever a key consists of, the altered one differs: a right service refuses it."""
    carrier = Carrier("query", "api_key")
    session = http_session(
        lambda request: answer(200),
        TAXONOMY,
        ServiceConfig(identities={"shop": Identity("shop", query=(("api_key", key),))}),
    )
    altered = altered_credentials(session, carrier)
    assert altered is not None
    assert altered[0] != key
    assert key not in altered[1]


@pytest.mark.parametrize("credentials", ["пароль", "====", "YQ==", ""])
def test_basic_that_cannot_be_read_is_not_altered(credentials: str) -> None:
    """A caller whose own credentials have no user and no password gets none altered."""
    who = Identity("shop", (("Authorization", f"Basic {credentials}"),))
    session = http_session(
        lambda request: answer(200), TAXONOMY, ServiceConfig(identities={"shop": who})
    )
    assert altered_credentials(session, Carrier("header", "Authorization", "Basic")) is None


def test_a_parameter_of_the_caller_is_not_made_up() -> None:
    """A required parameter with the key has the caller's value in every request."""
    declared = {"name": "api_key", "in": "query", "required": True, "schema": {"type": "string"}}
    description = openapi.read(
        {"openapi": "3.1.0", "paths": {"/clients": {"get": {**DONE, "parameters": [declared]}}}}
    )
    assert description.operations[0].parameters
    kept = drop_own_parameters(description, [CALLERS["query"]])
    assert kept.operations[0].parameters == ()
    assert drop_own_parameters(description, [CALLERS["header"]]) == description


def test_the_cookie_of_the_session_is_the_one_that_is_tried() -> None:
    """Beside a cookie with a setting, the one that lets in gets worthless values."""
    who = Identity("shop", (("Cookie", f"theme=dark; sid={KEY}"),))
    session = http_session(
        lambda request: answer(200), TAXONOMY, ServiceConfig(identities={"shop": who})
    )
    assert carriers_of(session, ServiceOperation("GET", "/")) == (Carrier("cookie", "sid"),)
