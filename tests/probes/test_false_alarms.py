"""Harmless answers cause no finding; beside each case stands the mistake that it resembles."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import httpx
import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read
from faultspec_conformance.config import (
    ConfiguredCall,
    Identity,
    Recipe,
    ResourceConfig,
    ServiceConfig,
    Step,
)
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.observed.middleware import Watching
from faultspec_conformance.probes import PROBES, auth, provoke, routes
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.credentials import loss
from faultspec_conformance.session.fixtures import fixture
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.observations import ProbeResult
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  pages: {transport: http, match: {routes: [/pages/**]}, envelope: none, reason: Pages of the gateway.}
  api: {transport: http, match: {routes: [/v1/**]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  taken: {summary: It exists, http: 409, retriable: false}
  slow: {summary: Too many requests, http: 429, retriable: true}
  denied: {summary: Not you, http: 401, retriable: false}
headers:
  X-Trace: {on: [4xx], presence: required}
idempotency: {key: Idempotency-Key, methods: [POST], replay: {equal: [status]}}
"""

LIMITED = answer(429, {"code": "slow"}, retry_after="1")
TRACED = {"x_trace": "1"}


def outcomes(results: Iterator[ProbeResult], clause: str) -> list[Outcome]:
    """The outcomes of a clause among the results of a probe."""
    return [each for each in results if isinstance(each, Outcome) and each.clause == clause]


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_an_application_in_process_may_leave_the_body_to_the_server(method: str) -> None:
    """The server cuts the body of an answer to HEAD; on the wire a body is a mistake."""
    seen: list[Exchange] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/json"), (b"x-trace", b"1")]
        await send({"type": "http.response.start", "status": 404, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"code": "absent"}'})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        pass

    scope = {"type": "http", "method": method, "path": "/v1/x", "headers": []}
    asyncio.run(Watching(app, seen.append)(scope, receive, send))
    rules = build_contract(loaded())
    assert "http/head-body" not in clauses(judge(rules, seen[0]))
    sent = Response(404, seen[0].response.headers, b'{"code": "absent"}')
    assert (seen[0].response.body == b"") == (method == "HEAD")
    wire = Exchange(Request(method, "/v1/x"), sent)
    assert ("http/head-body" in clauses(judge(rules, wire))) == (method == "HEAD")


def loaded() -> Any:
    """The taxonomy."""
    found = read(TAXONOMY, "t.yaml")
    assert found.taxonomy is not None, found.diagnostics
    return found.taxonomy


def clauses(judgement: Any) -> set[str]:
    """The clauses that are broken."""
    return {finding.clause for finding in judgement.findings}


def recipe(code: str, until: int | None = None, at_most: int = 1) -> ServiceConfig:
    """A configuration with one recipe."""
    step = Step(ConfiguredCall("GET", "/v1/things"), until=until, at_most=at_most)
    return ServiceConfig(recipes=(Recipe(code, (step,)),), limits=Limits())


BARE = answer(429, {"code": "slow"})
OTHER = answer(429, {"code": "queue"}, retry_after="1")


@pytest.mark.parametrize(
    ("code", "answers", "kind"),
    [
        ("taken", [BARE, BARE, BARE, answer(409, {"code": "taken"})], "passed"),
        ("taken", [BARE] * 9, "could_not_run"),
        ("taken", [BARE, answer(200, {})], "failed"),
        ("slow", [BARE], "passed"),
        ("slow", [OTHER, BARE], "passed"),
        ("slow", [OTHER] * 3, "could_not_run"),
        ("slow", [answer(409, {"code": "taken"})], "failed"),
    ],
)
def test_a_throttle_that_names_no_wait_is_waited_out_too(
    code: str, answers: list[Response], kind: str
) -> None:
    """Without `Retry-After`, waits grow from one second, three times at most. A limit with another
    code than that of the recipe proves nothing either.
    """
    text = TAXONOMY.replace(
        "  denied:", "  queue: {summary: A queue, http: 429, retriable: true}\n  denied:"
    )
    script = iter(answers)
    session = http_session(lambda request: next(script), text, recipe(code))
    assert [each.kind for each in outcomes(provoke.recipes(session), "provoke/code")] == [kind]


def test_waits_that_prove_futile_are_not_repeated() -> None:
    """After three requests that every wait left refused, a 429 is not waited out any more."""
    session = http_session(lambda request: BARE, TAXONOMY, recipe("taken"))
    before = [session.driver.requests]
    for _ in range(5):
        with pytest.raises(Unanswered, match="without Retry-After"):
            session.call(RequestSpec("GET", "/v1/things"))
        before.append(session.driver.requests)
    assert [after - earlier for earlier, after in pairwise(before)] == [4, 4, 4, 1, 1]


@pytest.mark.parametrize("until", [None, 429])
def test_another_code_of_a_limit_that_a_recipe_exhausts_is_a_failure(until: int | None) -> None:
    """A recipe that repeats its request until 429 asks for that limit alone."""
    script = iter([answer(200, {}), answer(429, {"code": "slow"}), *[BARE] * 9])
    session = http_session(lambda request: next(script), TAXONOMY, recipe("taken", until, 5))
    probe = provoke.limits if until else provoke.recipes
    found = outcomes(probe(session), "provoke/code")
    assert [each.kind for each in found] == ["failed"]


@pytest.mark.parametrize(
    ("code", "answers", "kind"),
    [
        ("taken", [LIMITED, answer(409, {"code": "taken"})], "passed"),
        ("taken", [LIMITED, answer(200, {})], "failed"),
        ("slow", [LIMITED], "passed"),
        ("taken", [LIMITED] * 4, "could_not_run"),
    ],
)
def test_a_throttle_in_place_of_a_code_is_waited_out(
    code: str, answers: list[Response], kind: str
) -> None:
    """A recipe for another code waits as long as the 429 asks; the code of the 429 itself needs no
    wait.
    """
    script = iter(answers)
    session = http_session(lambda request: next(script), TAXONOMY, recipe(code))
    assert [each.kind for each in outcomes(provoke.recipes(session), "provoke/code")] == [kind]


@pytest.mark.parametrize(
    ("delay", "burst", "limiter", "kind"),
    [
        (0.25, 0.25, True, "passed"),
        (0.25, 3.0, True, "could_not_run"),
        (0.25, 0.25, False, "failed"),
        (0.01, 0.25, True, "passed"),
        (0.01, 0.25, False, "failed"),
    ],
)
def test_a_slow_network_is_not_a_missing_limit(
    delay: float, burst: float, limiter: bool, kind: str
) -> None:
    """A repeated request that is too slow goes out at once; if that is too slow too, the recipe
    could not run, with the rate.
    """
    now = [0.0]
    times: list[float] = []

    def script(request: Request) -> Response:
        now[0] += delay
        times.append(now[0])
        full = sum(now[0] - each < 1 for each in times) > 5
        return answer(429, {"code": "slow"}) if limiter and full else answer(200, {})

    def together(requests: Sequence[Request]) -> list[Response | NoAnswer]:
        began = now[0]
        times.clear()
        answers: list[Response | NoAnswer] = []
        for number, request in enumerate(requests):
            now[0] = began + number * burst / len(requests) - delay
            answers.append(script(request))
        now[0] = began + burst
        return answers

    config = recipe("slow", 429, 12)
    session = http_session(script, TAXONOMY, config)
    session.driver = TimedDriver(script, config.limits, lambda: now[0], together)
    found = outcomes(provoke.limits(session), "provoke/code")
    assert [each.kind for each in found] == [kind]
    if kind == "could_not_run":
        assert "12 at once took 3.0 s, which is 4.0 a second" in found[0].reason


class TimedDriver(ScriptedDriver):
    """A scripted driver with a clock of its own, and a function for requests at the same time."""

    def __init__(
        self,
        script: Callable[[Request], Response],
        limits: Limits,
        clock: Callable[[], float],
        together: Callable[[Sequence[Request]], list[Response | NoAnswer]],
    ) -> None:
        super().__init__(script, limits)
        self._clock, self._started, self._at_once = clock, clock(), together

    def send_together(self, requests: Sequence[Request]) -> list[Response | NoAnswer]:
        """Answer all of them at once."""
        return self._at_once(requests)


SECURED = {
    "openapi": "3.1.0",
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "security": [{"token": []}],
    "paths": {"/v1/things": {"get": {"responses": {"200": {"description": "things"}}}}},
}


@pytest.mark.parametrize(("known", "kind"), [(False, "not_exercised"), (True, "failed")])
def test_where_nobody_has_credentials_none_can_be_missing(known: bool, kind: str) -> None:
    """A service may run without authentication; an open operation is a mistake if a caller has
    credentials.
    """
    caller = Identity("ada", (("Authorization", "Bearer ada"),))
    config = ServiceConfig(identities={"ada": caller} if known else {}, limits=Limits())
    session = http_session(lambda request: answer(200, []), TAXONOMY, config, SECURED)
    found = {each.kind for each in outcomes(auth.missing_credentials(session), "auth/missing")}
    assert found == {kind}


INPUT = {
    **SECURED,
    "paths": {
        "/v1/things": {
            "post": {
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {"name": {"type": "string"}},
                            }
                        }
                    }
                },
                "responses": {"201": {"description": "made"}},
            }
        },
        "/v1/things/{id}": {
            "get": {
                "parameters": [
                    {
                        "name": "id",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "string"},
                        "example": "thing-1",
                    }
                ],
                "responses": {"200": {"description": "a thing"}},
            }
        },
    },
}


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("credentials", set()),
        ("body", {"POST /v1/things"}),
        ("id", {"GET /v1/things/{id}"}),
        ("body of everyone", set()),
    ],
)
def test_an_unknown_caller_learns_nothing_about_its_input(first: str, found: set[str]) -> None:
    """Where sound input without credentials gets 401, a wrong body and an unknown id get it too. A
    service that refuses both for another reason decides nothing.
    """

    def script(request: Request) -> Response:
        if request.method == "POST" and first.startswith("body"):
            sound = isinstance(json.loads(request.body).get("name"), str)
            if first == "body of everyone" or not sound:
                return answer(422, {"code": "invalid"}, **TRACED)
        if first == "id" and request.target not in ("/v1/things", "/v1/things/thing-1"):
            return answer(404, {"code": "absent"}, **TRACED)
        return answer(401, {"code": "denied"}, **TRACED)

    caller = Identity("ada", (("Authorization", "Bearer ada"),))
    config = ServiceConfig(identities={"ada": caller}, limits=Limits(writes=True))
    session = http_session(script, TAXONOMY, config, INPUT)
    results = outcomes(auth.wrong_input_without_credentials(session), "auth/missing")
    assert {one.finding.operation for one in results if one.finding is not None} == found


@pytest.mark.parametrize(("path", "broken"), [("/pages/x", False), ("/v1/x", True)])
def test_header_rules_are_for_errors_in_an_envelope(path: str, broken: bool) -> None:
    """A surface with `envelope: none` belongs to another system, and so do its headers."""
    exchange = Exchange(Request("GET", path), answer(404, {"code": "absent"}))
    found = clauses(judge(build_contract(loaded()), exchange))
    assert ("headers/x-trace" in found) == broken


@pytest.mark.parametrize("prefix", ["/other", "/v1"])
def test_unknown_routes_are_asked_where_a_surface_claims_them(prefix: str) -> None:
    """The taxonomy says nothing about routes outside all its surfaces."""
    paths = {f"{prefix}/{name}": {"get": {"responses": {}}} for name in ("a", "b")}
    session = http_session(
        lambda request: answer(404, {"code": "absent"}, **TRACED),
        TAXONOMY,
        ServiceConfig(limits=Limits()),
        {"openapi": "3.1.0", "paths": paths},
    )
    found = [
        each.kind for each in outcomes(routes.unknown_routes(session), "framework/unknown-route")
    ]
    assert set(found) <= {"passed", "not_exercised"}
    targets = {seen.exchange.request.target for seen in session.observations.exchanges}
    assert all(target.startswith(("/v1/", "/pages/")) for target in targets)


@pytest.mark.parametrize(
    ("media_type", "answered"),
    [("text/event-stream; charset=utf-8", True), ("application/json", False)],
)
def test_a_stream_that_does_not_end_has_answered(media_type: str, answered: bool) -> None:
    """A stream may wait for its next event; a body of JSON that stops halfway hangs."""

    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield b"data: 1\n\n"
            raise httpx.ReadTimeout("nothing more")

    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": media_type}, stream=Endless())

    transport = httpx.MockTransport(handle)
    with HttpDriver("http://scripted.example", Limits(), transport=transport) as driver:
        found = driver.send(Request("GET", "/events"))
    assert isinstance(found, Response) == answered
    if isinstance(found, Response):
        assert found.body == b"data: 1\n\n"


def test_a_burst_that_hangs_is_reported_as_a_burst() -> None:
    """The finding says how many requests were sent at once, and how to send them so."""

    def script(request: Request) -> NoAnswer:
        return NoAnswer(request, "timeout", "no answer within 15 s")

    session = http_session(script, TAXONOMY)
    with pytest.raises(Unanswered):
        session.call_together(*[RequestSpec("GET", "/v1/things")] * 3)
    (outcome,) = session.observations.outcomes
    assert outcome.finding is not None
    assert "3 requests were sent at once" in outcome.finding.message
    assert "`wait`" in outcome.finding.message


_REF = {
    "type": "object",
    "required": ["room_id", "title"],
    "properties": {"room_id": {"type": "string"}, "title": {"type": "string", "minLength": 10}},
}
_ID = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
BOOKINGS = {
    "openapi": "3.1.0",
    "paths": {
        "/v1/bookings": {
            "get": {"responses": {"200": {"description": "all"}}},
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": _REF,
                            "example": {"room_id": "room-0001", "title": "a meeting of all"},
                        }
                    },
                },
                "responses": {"201": {"description": "made"}},
            },
        },
        "/v1/bookings/{id}": {
            "get": {"parameters": _ID, "responses": {"200": {"description": "one"}}}
        },
    },
}


def booked(*, forgets_keys: bool, loses_races: bool) -> list[Outcome]:
    """The outcomes of replays on a service of bookings of one room.

    ``forgets_keys``: a replay creates again. ``loses_races``: it answers other ids to requests at
    the same time, of which only the first names a booking.
    """
    made: dict[str, Any] = {}
    keys: dict[str, str] = {}

    def script(request: Request) -> Response:
        key = dict(request.headers).get("Idempotency-Key", "")
        name = request.target.removeprefix("/v1/bookings").strip("/")
        if request.method == "GET" and not name:
            return answer(200, list(made.values()))
        if request.method == "GET":
            return (
                answer(200, made[name])
                if name in made
                else answer(404, {"code": "absent"}, **TRACED)
            )
        if key in keys and not forgets_keys:
            return answer(201, made[keys[key]])
        identifier = f"b{len(made) + 1}"
        made[identifier] = {**json.loads(request.body), "room_id": "room-0001", "id": identifier}
        keys[key] = identifier
        return answer(201, made[identifier])

    class Racing(ScriptedDriver):
        def send_together(self, requests: Sequence[Request]) -> list[Response | NoAnswer]:
            answers = [self.send(request) for request in requests]
            if loses_races:
                body = json.loads(answers[1].body)  # type: ignore[union-attr]
                answers[1] = answer(201, {**body, "id": "b-lost"})
            return answers

    body = {"room_id": "room-0001", "title": "a meeting ${unique}"}
    bookings = ResourceConfig("bookings", create=ConfiguredCall("POST", "/v1/bookings", body=body))
    config = ServiceConfig(resources={"bookings": bookings}, limits=Limits(writes=True))
    session: HttpSession = http_session(script, TAXONOMY, config, BOOKINGS)
    session.driver = Racing(script, config.limits)
    session.turn = session.kinds
    assert not isinstance(fixture(session, session.kinds[0]), str)
    probe = next(each for each in PROBES if each.name == "replays")
    return [each for each in probe.run(session) if isinstance(each, Outcome)]


def test_the_id_of_a_parent_does_not_identify_what_was_created() -> None:
    """Bookings of one room all have its id; a second booking with the same new text is a
    mistake.
    """
    kinds = {each.kind for each in booked(forgets_keys=False, loses_races=False)}
    assert "failed" not in kinds
    lost = booked(forgets_keys=True, loses_races=False)
    assert {"idempotency/replay", "idempotency/concurrent"} & {
        each.clause for each in lost if each.kind == "failed"
    }


def test_an_id_that_names_nothing_is_not_a_second_resource() -> None:
    """Each id is read before the suite says that one key created two resources."""
    harmless = booked(forgets_keys=False, loses_races=True)
    assert "idempotency/concurrent" not in {
        each.clause for each in harmless if each.kind == "failed"
    }
    twice = booked(forgets_keys=True, loses_races=False)
    assert "idempotency/concurrent" in {each.clause for each in twice if each.kind == "failed"}


@pytest.mark.parametrize(
    ("answers", "lost"),
    [
        ([200, 204, 401, 401], "POST /v1/logout"),
        ([200, 204, 401, 200], None),
        ([401, 401, 401, 401], None),
        ([200, 204, 200, 401], None),
    ],
)
def test_a_session_that_ends_during_the_run_is_reported(
    answers: list[int], lost: str | None
) -> None:
    """An identity that was accepted, and is refused everywhere afterwards, with the request that
    came before.
    """
    caller = Identity("ada", (("Authorization", "Bearer ada"),))
    script = iter(answers)

    def respond(request: Request) -> Response:
        status = next(script)
        return answer(status, {"code": "denied"} if status == 401 else {}, **TRACED)

    config = ServiceConfig(identities={"ada": caller}, limits=Limits(writes=True))
    session = http_session(respond, TAXONOMY, config)
    for method, path in (
        ("GET", "/v1/a"),
        ("POST", "/v1/logout"),
        ("GET", "/v1/b"),
        ("GET", "/v1/c"),
    ):
        session.call(RequestSpec(method, path))
    reason = loss(session, caller, session.observations.exchanges)
    assert (reason is None) == (lost is None)
    if lost is not None:
        assert f"refused since {lost}" in str(reason)


_PARAMETER = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
_NEW = {"content": {"application/json": {"schema": {"type": "object"}}}}
HOLDS = {
    "openapi": "3.1.0",
    "paths": {
        "/v1/items": {"post": {"requestBody": _NEW, "responses": {"201": {"description": "new"}}}},
        "/v1/items/{id}": {
            "get": {"parameters": _PARAMETER, "responses": {"200": {"description": "one"}}}
        },
        "/v1/items/{id}/holds": {
            "post": {
                "parameters": [
                    *_PARAMETER,
                    {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}},
                ],
                "requestBody": _NEW,
                "responses": {"201": {"description": "new"}},
            }
        },
        "/v1/holds/{id}": {
            "delete": {"parameters": _PARAMETER, "responses": {"204": {"description": "gone"}}}
        },
    },
}


@pytest.mark.parametrize(
    ("path", "sent"),
    [("/v1/items/own%2F7/holds", "own%2F7"), ("/v1/items/{id}/holds", "i1")],
)
def test_an_id_in_the_path_of_a_configured_creation_is_sent_as_written(
    path: str, sent: str
) -> None:
    """A literal id is obeyed by the creation and all its replays; a placeholder gets a made id.

    The child and its parent may both call their ids `{id}`.
    """
    keys: dict[str, str] = {}

    def script(request: Request) -> Response:
        kind = "h" if request.target.endswith("holds") else "i"
        key = dict(request.headers).get("Idempotency-Key", f"none{len(keys)}") + kind
        count = sum(1 for name in keys if name.endswith(kind)) + 1
        return answer(201, {"id": keys.setdefault(key, f"{kind}{count}")})

    config = ServiceConfig(
        resources={
            "hold": ResourceConfig(
                "hold",
                create=ConfiguredCall("POST", path, body={"n": 1}),
                delete=ConfiguredCall("DELETE", "/v1/holds/{id}"),
            )
        },
        limits=Limits(writes=True),
    )
    session = http_session(script, TAXONOMY, config, HOLDS)
    session.turn = session.kinds
    assert not isinstance(fixture(session, session.kinds[0]), str)
    probe = next(each for each in PROBES if each.name == "replays")
    assert [*probe.run(session)]
    targets = [each.target for each in session.driver.sent if each.target.endswith("holds")]
    assert len(targets) > 4
    assert set(targets) == {f"/v1/items/{sent}/holds"}
