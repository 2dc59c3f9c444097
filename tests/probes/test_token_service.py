"""A service that hands out tokens: it takes forms, by Basic, and the tokens at other operations.
Each test states a law about credentials and forms.
"""

import base64
import binascii
import json
from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import Identity, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import auth, forms
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observations import ProbeResult
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.sent_secrets import sent_secrets
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: tokens, version: 1.0.0, title: Tokens, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {error: $code, description?: $message}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  unknown: {summary: Say who, http: 401, retriable: false}
  wrong: {summary: Not so, http: 400, retriable: false}
  media: {summary: Not a form, http: 415, retriable: false}
  broken: {summary: Our fault, http: 500, retriable: false}
undeclared: {becomes: broken}
privacy: {detectors: [secret, canary]}
"""
CODES = {400: "wrong", 401: "unknown", 415: "media", 500: "broken"}

FIELDS = {"grant_type": {"type": "string"}, "scope": {"type": "string"}}
FORM = {"schema": {"type": "object", "required": ["grant_type"], "properties": FIELDS}}
DONE = {"responses": {"200": {"description": "done"}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "components": {
        "securitySchemes": {
            "client": {"type": "http", "scheme": "basic"},
            "token": {"type": "http", "scheme": "bearer"},
        }
    },
    "paths": {
        "/token": {
            "post": {
                **DONE,
                "security": [{"client": []}],
                "requestBody": {
                    "required": True,
                    "content": {"application/x-www-form-urlencoded": FORM},
                },
            }
        },
        "/clients": {"get": {**DONE, "security": [{"token": []}]}},
        "/stats": {"get": {**DONE, "security": [{"token": []}]}},
        "/keys": {"get": {**DONE, "security": [{"token": []}]}},
        "/logs": {"get": {**DONE, "security": [{"token": []}]}},
    },
}
TOKEN, SECRET = "at_4711f00d", "swordfish-4711"
BASIC = base64.b64encode(f"shop:{SECRET}".encode()).decode()


class Tokens:
    """The service. ``habit``: what it gets wrong; empty: nothing."""

    def __init__(self, habit: str = "") -> None:
        self.habit = habit

    def __call__(self, request: Request) -> Response:
        """The answer, without a body to HEAD."""
        found = self.respond(request)
        return replace(found, body=b"") if request.method == "HEAD" else found

    def respond(self, request: Request) -> Response:
        """The answer, with its body."""
        headers = {name.lower(): value for name, value in request.headers}
        scheme, _, credential = headers.get("authorization", "").partition(" ")
        if request.target != "/token":
            open_to_all = self.habit == f"open {request.target}" and credential.startswith("tok_")
            if scheme == "Bearer" and (credential == TOKEN or open_to_all):
                return answer(200, [])
            unsigned = self.habit == "unsigned" and credential.startswith("eyJhbGciOiJub25lIn0.")
            return answer(200, []) if unsigned else self.refuse(401, credential)
        if headers.get("content-type") != "application/x-www-form-urlencoded":
            return self.refuse(200 if self.habit == "any media type" else 415)
        if self.habit != "open to all" and not self.knows(scheme, credential):
            return self.refuse(500 if self.habit == "crash" else 401, credential)
        fields = parse_qs(request.body.decode("latin-1"))
        if self.habit == "any field" or (self.habit == "open to all" and fields):
            return answer(200, {"access_token": TOKEN})
        kind = next(iter(fields.get("grant_type", [])), "")
        return self.refuse(400, kind)

    def knows(self, scheme: str, credential: str) -> bool:
        """Whether the credentials are those of the client."""
        try:
            return scheme == "Basic" and base64.b64decode(credential, validate=True).endswith(
                f":{SECRET}".encode()
            )
        except binascii.Error:
            if self.habit == "unreadable":
                self.habit = "crash"
            return False

    def refuse(self, status: int, named: str = "") -> Response:
        """A refusal, or with 200 a success."""
        if status == 200:
            return answer(200, {"access_token": TOKEN})
        more = {"description": f"not {named}"} if self.habit == "echo" else {}
        return answer(status, {"error": CODES[status], **more})


def failures(habit: str, *probes: str) -> set[str]:
    """The clauses that fail."""
    who = Identity("shop", (("Authorization", f"Basic {BASIC}"),))
    config = ServiceConfig(identities={"shop": who}, limits=Limits(writes=True))
    session = http_session(Tokens(habit), TAXONOMY, config, DOCUMENT)
    results: list[ProbeResult] = []
    for probe in probes or ("auth.missing", "auth.garbage", "forms"):
        results += {
            "auth.missing": auth.missing_credentials,
            "auth.garbage": auth.garbage_credentials,
            "forms": forms.wrong_forms,
        }[probe](session)
    found = {one.clause for one in results if isinstance(one, Outcome) and one.kind == "failed"}
    return found | {
        finding.clause
        for seen in session.observations.exchanges
        for finding in seen.judgement.findings
    }


def test_a_right_service_is_not_blamed() -> None:
    """Without a fault nothing fails."""
    assert failures("") == set()


@pytest.mark.parametrize("path", ["/clients", "/stats", "/keys", "/logs"])
def test_each_operation_gets_a_made_up_token(path: str) -> None:
    """An operation that takes any long token is found, whichever it is."""
    assert failures(f"open {path}") == {"auth/garbage"}


def test_a_token_that_nobody_signed_is_refused() -> None:
    """A service that accepts `alg: none` is found."""
    assert failures("unsigned") == {"auth/garbage"}


def test_credentials_that_cannot_be_read_crash_nothing() -> None:
    """Credentials of Basic that are not base64 are sent."""
    assert "service/no-crash" in failures("unreadable")


def test_a_form_without_credentials_is_refused() -> None:
    """An operation that takes a form gets a sound one, so that its credentials are looked at."""
    assert failures("open to all", "auth.missing") == {"auth/missing"}


@pytest.mark.parametrize(
    ("habit", "clause"),
    [
        ("any media type", "framework/media-type"),
        ("any field", "framework/invalid-input"),
        ("echo", "leaks/canary"),
    ],
)
def test_wrong_forms_are_sent(habit: str, clause: str) -> None:
    """A form as text, one with broken escapes, with a field left out, and with canaries."""
    assert failures(habit, "forms") == {clause}


@pytest.mark.parametrize(
    "spec",
    [
        RequestSpec("GET", "/clients", headers={"Authorization": "Bearer rt_0815beef"}),
        RequestSpec("GET", "/clients", headers={"Cookie": "a=b; sid=rt_0815beef"}),
        RequestSpec("GET", "/clients", headers={"X-Api-Key": "rt_0815beef"}),
        RequestSpec("POST", "/clients", body={"client_secret": "rt_0815beef"}),
        RequestSpec("GET", "/clients", headers={"Authorization": "Basic YTpydF8wODE1YmVlZg=="}),
        RequestSpec("GET", "/clients", headers={"Authorization": "Basic YTpydF8wODE1YmVlZg"}),
        RequestSpec("GET", "/clients", headers={"Cookie": 'a=b;session="rt_0815beef"'}),
        RequestSpec("GET", "/clients?api_key=rt_0815beef"),
        RequestSpec("POST", "/clients", body={"users": [{"password": "rt_0815beef"}]}),
        RequestSpec(
            "POST",
            "/revoke",
            body={"token": "rt_0815beef"},
            content_type="application/x-www-form-urlencoded",
        ),
    ],
)
def test_an_error_does_not_repeat_a_secret_of_its_request(spec: RequestSpec) -> None:
    """Whichever header or member of a request has a secret, an error with it fails."""

    def repeat(request: Request) -> Response:
        return answer(401, {"error": "unknown", "description": "not rt_0815beef"})

    session = http_session(repeat, TAXONOMY)
    found = session.call(spec).judgement.findings
    assert {finding.clause for finding in found} == {"leaks/canary"}


def test_a_session_goes_on_by_its_cookie() -> None:
    """An error may set the cookie of its request again."""
    cookie = "sid=rt_0815beef"

    def renew(request: Request) -> Response:
        return answer(401, {"error": "unknown"}, Set_Cookie=f"{cookie}; Max-Age=60")

    session = http_session(renew, TAXONOMY)
    spec = RequestSpec("GET", "/clients", headers={"Cookie": cookie})
    assert session.call(spec).judgement.findings == ()


def test_words_are_not_secrets() -> None:
    """A plain word, a short value, a public token and a variable may come back."""
    headers = (
        ("Authorization", "Bearer invalid_token"),
        ("X-Api-Key", "k-1"),
        ("X-Auth-Token", "${token1234}"),
        ("Accept", "application/json; v=12345678"),
        ("Cookie", "currency=USD-12345678"),
        ("Mcp-Session-Id", "s-12345678"),
    )
    names = ("page_token", "name", "access_key_id", "secret_name", "resume_token", "session_id")
    body = json.dumps({**dict.fromkeys(names, "n-12345678"), "password": 12345678}).encode()
    assert [*sent_secrets(Request("POST", "/", headers, body))] == []
