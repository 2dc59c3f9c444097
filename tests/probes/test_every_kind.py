"""Replays on every kind of resource: each test states a law about which kinds are tried."""

import json
from collections import Counter

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import Identity, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import idempotency, resources
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from support.scripted import Script, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: post, version: 1.0.0, title: Post, owner: nobody}
domains: {request: What the caller can fix}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [404, 405], retriable: none, client_action: none, effect: none}
  full: {summary: No room, domain: request, http: 409, retriable: none, client_action: none, effect: none}
idempotency: {key: Idempotency-Key, methods: [POST], replay: {equal: [status, body]}, mismatch: unspecified}
"""
KINDS = ("parcels", "letters")


def post_office(*sins: str) -> Script:
    """A post office that has room for one parcel, and for many letters. Sins: `letters-race`: two
    requests at the same time post two letters; `no-letters`: there is no room for letters either.
    """
    posted: Counter[str] = Counter()
    answers: dict[str, list[Response]] = {}

    def script(request: Request) -> Response:
        path = request.target
        key = dict(request.headers).get("Idempotency-Key", "")
        if request.method == "GET":
            exists = any(path == f"/{kind}/{n}" for kind in KINDS for n in range(posted[kind]))
            return answer(200, {"id": path}) if exists else answer(404, {"code": "absent"})
        kind = path.removeprefix("/")
        known = answers.setdefault(key, [])
        if kind == "letters" and "letters-race" in sins and len(known) == 1 and posted[kind] > 1:
            known.append(answer(201, {"id": f"letter-{posted[kind]}-second"}))
            posted[kind] += 1
            return known[-1]
        if known:
            return known[0]
        if posted[kind] and (kind == "parcels" or "no-letters" in sins):
            return answer(409, {"code": "full"})
        known.append(answer(201, {"id": f"{kind}-number-{posted[kind]}"}))
        posted[kind] += 1
        return known[0]

    return script


def session_of(*sins: str, rate: float | None = None) -> HttpSession:
    """A session whose shared resources exist."""
    body = {"content": {"application/json": {"schema": {"type": "object"}}}}
    key = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}
    made = {"responses": {"201": {"description": "made"}}}
    name = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    paths = {
        path: item
        for kind in KINDS
        for path, item in (
            (f"/{kind}", {"post": {"requestBody": body, "parameters": [key], **made}}),
            (f"/{kind}/{{id}}", {"parameters": [name], "get": {"responses": {}}}),
        )
    }
    identity = Identity("ann", headers=(("Authorization", "ann"),), tenant="north")
    config = ServiceConfig(identities={"ann": identity}, limits=Limits(writes=True, rate=rate))
    document = {"openapi": "3.1.0", "paths": json.loads(json.dumps(paths))}
    session = http_session(post_office(*sins), TAXONOMY, config, document)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    return session


def outcomes_of(session: HttpSession) -> list[Outcome]:
    """The outcomes about writes at the same time."""
    session.record_results(idempotency.replays(session))
    found = session.observations.outcomes
    return [outcome for outcome in found if outcome.clause == "idempotency/concurrent"]


def test_a_kind_that_decides_nothing_is_followed_by_the_next() -> None:
    """If the creation of one kind is refused, equal requests at the same time create the next."""
    kinds = [outcome.kind for outcome in outcomes_of(session_of())]
    assert kinds == ["not_exercised", "passed"]


def test_a_race_of_a_later_kind_is_found() -> None:
    """Two requests at the same time that create two resources of a later kind fail."""
    assert [outcome.kind for outcome in outcomes_of(session_of("letters-race"))][-1] == "failed"


def test_every_kind_is_created_at_once() -> None:
    """A race of a later kind fails, also after an earlier kind has passed."""
    session = session_of("letters-race")
    session.observations.add([Outcome("idempotency/concurrent", "passed")])
    kinds = [outcome.kind for outcome in outcomes_of(session)]
    assert kinds == ["passed", "not_exercised", "failed"]


def test_what_no_kind_decides_has_a_reason_of_the_run() -> None:
    """If no kind decides, each reason names the answer of the service, or the rate of the run."""
    refused = outcomes_of(session_of("no-letters"))
    assert {outcome.kind for outcome in refused} == {"not_exercised"}
    assert all("409 full" in outcome.reason for outcome in refused)
    (limited, *_) = outcomes_of(session_of(rate=100.0))
    assert "rate" in limited.reason
