"""Writes that ask for the version of an item before they look at the caller: each test states a law
about who may send them.
"""

from dataclasses import replace

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.config.model import OperationPattern
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import auth, resources
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: notes, version: 1.0.0, title: Notes, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes:
  unknown: {summary: Say who, http: 401, retriable: false}
  forbidden: {summary: Not yours, http: 403, retriable: false}
  wrong: {summary: Not so, http: 400, retriable: false}
  full: {summary: Not empty, http: 409, retriable: false}
  stale: {summary: Changed, http: 412, retriable: false}
  needed: {summary: Say which, http: 428, retriable: false}
"""
CODES = {
    400: "wrong",
    401: "unknown",
    403: "forbidden",
    409: "full",
    412: "stale",
    428: "needed",
}
WRITES = ("PUT /notes/{id}", "DELETE /notes/{id}", "POST /notes/{id}/close")


def document(*, is_required: bool) -> dict[str, object]:
    """The document of the service; ``is_required``: whether writes require `If-Match`."""
    text = {"type": "string"}
    header = {"name": "If-Match", "in": "header", "required": is_required, "schema": text}
    write = {
        "responses": {"200": {"description": "done"}},
        "parameters": [header],
        "security": [{"key": []}],
    }
    named = [{"name": "id", "in": "path", "required": True, "schema": text}]
    done = {"responses": {"200": {"description": "done"}}, "security": []}
    return {
        "openapi": "3.1.0",
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
        },
        "paths": {
            "/notes": {"post": {"responses": {"201": {"description": "made"}}, "security": []}},
            "/notes/{id}": {"parameters": named, "get": done, "put": write, "delete": write},
            "/notes/{id}/close": {"parameters": named, "post": write},
        },
    }


class Notes:
    """Notes with versions. ``refusal``: the status of a write without one. ``open_to``: the callers
    whose writes it accepts, beside its owner's. ``full``: no note but the last may be written to.
    """

    def __init__(self, refusal: int, *open_to: str | None, full: bool = False) -> None:
        self.refusal, self.open_to, self.full = refusal, open_to, full
        self.made = 0

    def __call__(self, request: Request) -> Response:
        """The answer."""
        headers = {name.lower(): value for name, value in request.headers}
        who = headers.get("x-key")
        if request.target == "/notes":
            self.made += 1
            return answer(201, {"id": f"n{self.made}"})
        if request.method in ("GET", "HEAD"):
            return answer(200, {"id": "n1"}, ETag='"v1"')
        status = self.refusal if headers.get("if-match") is None else 200
        if status == 200 and headers["if-match"] != '"v1"':
            status = 412
        if status == 200 and self.full and f"/n{max(2, self.made)}" not in request.target:
            status = 409
        if status == 200 and who != "ann" and who not in self.open_to:
            status = 403 if who else 401
        return answer(status, {"code": CODES[status]} if status >= 400 else {"id": "n1"})


CONFIG = ServiceConfig(
    identities={
        "ann": Identity("ann", (("X-Key", "ann"),), tenant="acme"),
        "ben": Identity(
            "ben",
            (("X-Key", "ben"),),
            tenant="acme",
            forbidden=tuple(map(OperationPattern, WRITES)),
        ),
    },
    resources={
        "note": ResourceConfig(
            "note",
            create=ConfiguredCall("POST", "/notes"),
            read=ConfiguredCall("GET", "/notes/{id}"),
            id="/id",
        )
    },
    limits=Limits(writes=True),
)


def outcomes(service: Notes, *, is_required: bool = False) -> list[Outcome]:
    """The outcomes about scopes and missing credentials."""
    session = http_session(service, TAXONOMY, CONFIG, document(is_required=is_required))
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    for probe in (auth.scopes, auth.missing_credentials):
        session.record_results(probe(session))
    return list(session.observations.outcomes)


def failures(found: list[Outcome], clause: str) -> set[str | None]:
    """The operations that fail a clause."""
    broken = [each.finding for each in found if each.finding is not None]
    return {each.operation for each in broken if each.clause == clause}


_FIRST = [(428, False), (412, False), (428, True), (400, True)]


@pytest.mark.parametrize(("refusal", "is_required"), _FIRST)
def test_a_precondition_that_is_checked_first_hides_no_missing_check(
    refusal: int, is_required: bool
) -> None:
    """A write that is refused for want of `If-Match` is sent again with the current ETag."""
    found = outcomes(Notes(refusal, "ben"), is_required=is_required)
    assert failures(found, "auth/scope") == set(WRITES)
    assert failures(found, "auth/missing") == set()
    found = outcomes(Notes(refusal, None), is_required=is_required)
    assert failures(found, "auth/scope") == set()
    assert failures(found, "auth/missing") == set(WRITES)


@pytest.mark.parametrize(("refusal", "is_required"), _FIRST)
def test_a_refusal_after_the_precondition_is_right(refusal: int, is_required: bool) -> None:
    """The order of the checks is free, and the second answer counts."""
    found = outcomes(Notes(refusal), is_required=is_required)
    assert not failures(found, "auth/scope")
    assert not failures(found, "auth/missing")
    assert {each.kind for each in found if each.clause == "auth/scope"} == {"passed"}


def test_the_state_of_an_item_hides_no_missing_check() -> None:
    """A write that is refused for the state of the item is sent again on a new one."""
    found = outcomes(Notes(428, "ben", full=True))
    assert failures(found, "auth/scope") == set(WRITES)
    found = outcomes(Notes(428, None, full=True))
    assert failures(found, "auth/missing") == set(WRITES)
    found = outcomes(Notes(428, full=True))
    assert not failures(found, "auth/scope") | failures(found, "auth/missing")


def test_a_forbidden_success_fails_whatever_it_was_for() -> None:
    """Any success of an operation that is forbidden to its caller is judged, also in another
    probe.
    """
    session = http_session(Notes(428, "ben"), TAXONOMY, CONFIG, document(is_required=False))
    spec = RequestSpec("DELETE", "/notes/{id}", values={"id": "n1"}, headers={"If-Match": '"v1"'})
    for name in ("ann", "ben"):
        assert session.call(replace(spec, identity=CONFIG.identities[name])).ok
    assert failures(list(session.observations.outcomes), "auth/scope") == {"DELETE /notes/{id}"}
    assert len(session.observations.outcomes) == 1


class Shelves:
    """Shelves that three writes change. ``forgotten``: the one that does not look at scopes."""

    def __init__(self, forgotten: str) -> None:
        self.forgotten = forgotten
        self.made = 0

    def __call__(self, request: Request) -> Response:
        """The answer."""
        who = next((value for name, value in request.headers if name.lower() == "x-key"), None)
        if who == "ben" and request.method == "POST" and request.target != self.forgotten:
            return answer(403, {"code": "forbidden"})
        return answer(200, {"id": "s1"})


@pytest.mark.parametrize("forgotten", ["", "/sort", "/clear"])
def test_every_operation_looks_at_scopes(forgotten: str) -> None:
    """Of several operations with one method the first is called by every run, and the others by
    those that have generated traffic.
    """
    write = {"responses": {"200": {"description": "done"}}, "security": [{"key": ["write"]}]}
    described = {
        **document(is_required=False),
        "paths": {path: {"post": write} for path in ("/fill", "/sort", "/clear")},
    }
    people = {
        "ann": Identity("ann", (("X-Key", "ann"),), scopes=("read", "write")),
        "ben": Identity("ben", (("X-Key", "ben"),), scopes=("read",)),
    }
    config = ServiceConfig(identities=people, limits=Limits(writes=True))
    session = http_session(Shelves(forgotten), TAXONOMY, config, described)
    session.record_results(auth.scopes(session))
    assert not failures(list(session.observations.outcomes), "auth/scope")
    session.record_results(auth.scopes_of_others(session))
    found = failures(list(session.observations.outcomes), "auth/scope")
    assert found == ({f"POST {forgotten}"} if forgotten else set())
