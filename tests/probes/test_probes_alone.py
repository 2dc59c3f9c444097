"""Probes without a service: scripted answers in, outcomes out, and nothing recorded."""

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Request, Response
from faultspec.language import read
from faultspec_conformance.config import (
    ConfiguredCall,
    Identity,
    Recipe,
    ResourceConfig,
    SampleCall,
    SavedPart,
    ServiceConfig,
    Step,
)
from faultspec_conformance.drivers import Driver, Limits, NoAnswer
from faultspec_conformance.drivers.jsonrpc import Message, Peer, ReceivedMessage
from faultspec_conformance.drivers.mcp import Tool, ToolAnswer
from faultspec_conformance.probes import (
    OF_CALLS,
    OF_FAILURES,
    OF_JSONRPC,
    OF_MCP,
    PROBES,
    Probe,
    concurrency,
    provoke,
    routes,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.run.schedule import play
from faultspec_conformance.session.calls import RpcSession, ToolSession
from faultspec_conformance.session.fixtures import fixture
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered, not_exercised
from faultspec_conformance.session.observations import (
    AbsentIdRequest,
    Note,
    NotRun,
    ProbeResult,
    SharedKnowledge,
    SpareResource,
    UnmetRecipe,
    attempt,
)
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import CreatedResource
from support.guards import ProbeChange, guarded
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [404, 405], retriable: none, client_action: none, effect: none}
  stale: {summary: Changed, domain: request, http: 412, retriable: none, client_action: refetch, effect: none}
"""

WRITES = Limits(writes=True)


def verdicts(results: Iterable[ProbeResult]) -> list[tuple[str, str]]:
    """Return the clause and the kind of each outcome."""
    return [(item.clause, item.kind) for item in results if isinstance(item, Outcome)]


def records(session: HttpSession) -> dict[str, object]:
    """Return what the session has recorded, but for what it learns from every exchange.

    A resource that a probe takes out of `spare` is the act of the session that hands it out.
    """
    seen, knowledge = session.observations, session.knowledge
    own = {field.name: getattr(knowledge.own, field.name) for field in fields(knowledge.own)}
    values = {
        **{name: own[name] for name in ("spare", "absent", "keyless")},
        "created": knowledge.created,
        "uncreated": knowledge.uncreated,
        "outcomes": seen.outcomes,
        "notes": seen.notes,
        "not_run": seen.not_run,
        "unmet": seen.unmet,
        "turn": session.turn,
    }
    return {name: _copy(value) for name, value in values.items()}


def _copy(value: object) -> object:
    return type(value)(value) if isinstance(value, list | dict | set | tuple) else value  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (404, {"code": "absent"}, "passed"),
        (404, "Not Found", "failed"),
        (200, {}, "failed"),
        (500, {"code": "absent"}, "failed"),
    ],
)
def test_an_unknown_route_is_refused_in_the_declared_form(
    status: int, body: object, verdict: str
) -> None:
    """The verdict follows from the answers alone, and the probe records nothing but its
    exchanges.
    """
    session = http_session(lambda request: answer(status, body), TAXONOMY)
    before = records(session)
    results = list(routes.unknown_routes(session))
    assert verdicts(results)[0] == ("framework/unknown-route", verdict)
    assert records(session) == before
    assert len(session.observations.exchanges) == session.driver.requests


def versions(*, checks: bool) -> HttpSession:
    """Return a session with one article. ``checks``: whether the service compares validators."""
    state = {"version": 1}

    def script(request: Request) -> Response:
        sent = dict(request.headers).get("If-Match")
        if request.method == "PUT":
            if checks and sent != f'"{state["version"]}"':
                return answer(412, {"code": "stale"})
            state["version"] += 1
        return answer(200, {"id": "a", "size": state["version"]}, ETag=f'"{state["version"]}"')

    article = ResourceConfig(
        "article",
        read=ConfiguredCall("GET", "/articles/{id}"),
        update=ConfiguredCall("PUT", "/articles/{id}", body={"size": 3}),
    )
    config = ServiceConfig(resources={"article": article}, limits=WRITES)
    session = http_session(script, TAXONOMY, config)
    session.turn = session.kinds
    creation = session.call(RequestSpec("GET", "/articles/{id}", values={"id": "a"}))
    resource = CreatedResource(session.kinds[0], "a", {"id": "a"}, session.caller, {}, creation)
    session.knowledge.share(session.kinds[0], resource)
    session.knowledge.learn_shared(SpareResource(resource))
    return session


def test_a_stale_write_must_be_refused() -> None:
    """A service that compares validators passes both clauses; one that ignores them fails the
    first.
    """
    both = [("preconditions/stale", "passed"), ("preconditions/recovers", "passed")]
    session = versions(checks=True)
    before = records(session) | {"spare": {}}  # the session hands the spare resource out
    assert verdicts(concurrency.stale_writes(session)) == both
    assert records(session) == before
    session = versions(checks=False)
    assert verdicts(concurrency.stale_writes(session)) == [("preconditions/stale", "failed")]


def test_a_recipe_yields_why_it_could_not_be_carried_out() -> None:
    """A step without the value that a later one needs makes the recipe unmet, by results that the
    probe yields.
    """
    first = Step(ConfiguredCall("POST", "/articles"), save={"id": SavedPart("/id")})
    recipe = Recipe("absent", (first, Step(ConfiguredCall("GET", "/articles/${id}"))))
    config = ServiceConfig(recipes=(recipe,), limits=WRITES)
    session = http_session(lambda request: answer(404, {"code": "absent"}), TAXONOMY, config)
    before = records(session)
    results = list(provoke.recipes(session))
    reason = "the service answered step 1 of the recipe for absent with 404 absent"
    assert [type(item) for item in results] == [UnmetRecipe, NotRun, Outcome]
    assert all(reason in getattr(item, "reason") for item in results)  # noqa: B009 (a union)
    assert records(session) == before


def test_a_recipe_is_met_by_its_code() -> None:
    """The last answer decides: its code passes, another one fails."""
    recipe = Recipe("absent", (Step(ConfiguredCall("GET", "/articles/none")),))
    config = ServiceConfig(recipes=(recipe,), limits=WRITES)
    for body, verdict in (({"code": "absent"}, "passed"), ({"code": "stale"}, "failed")):
        session = http_session(lambda request, body=body: answer(404, body), TAXONOMY, config)
        assert verdicts(provoke.recipes(session)) == [("provoke/code", verdict)]


def test_a_missing_answer_ends_one_attempt_of_a_series() -> None:
    """After a timeout the clause could not run and the series goes on; a spent budget ends the
    series.
    """

    def series(kind: str) -> Iterable[ProbeResult]:
        yield not_exercised("a/b", "first")
        request = Request("GET", "/")
        raise Unanswered(NoAnswer(request, kind, "no answer"))  # type: ignore[arg-type]

    results = list(attempt(series("timeout"), "a/b", "a/c"))
    assert verdicts(results)[1:] == [("a/b", "could_not_run"), ("a/c", "could_not_run")]
    for kind in ("budget", "read-only", "refused"):
        with pytest.raises(Unanswered):
            list(attempt(series(kind), "a/b"))


SHELF = (
    TAXONOMY
    + """
  taken: {summary: It exists, domain: request, http: 409, retriable: none, client_action: none, effect: none}
  malformed: {summary: Not valid, domain: request, http: [400, 413, 415], retriable: none, client_action: none, effect: none}
idempotency: {key: Idempotency-Key, methods: [POST, PUT], replay: {equal: [status, body]}, mismatch: taken}
privacy:
  conceal: [{across: tenant, answer: absent, never: [taken]}]
"""
)

_THING = {
    "type": "object",
    "required": ["title"],
    "properties": {"title": {"type": "string", "minLength": 10, "maxLength": 40}},
}
_BODY = {"required": True, "content": {"application/json": {"schema": _THING}}}
_ID = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
_READ = {"responses": {"200": {"description": "a thing"}, "404": {"description": "none"}}}
_LIST = [{"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 9}}]

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Shelf", "version": "1"},
    "paths": {
        "/things": {
            "get": {"parameters": _LIST, "responses": {"200": {"description": "things"}}},
            "post": {
                "requestBody": _BODY,
                "responses": {"201": {"description": "made"}, "409": {"description": "taken"}},
            },
        },
        "/things/{id}": {
            "get": {"parameters": _ID, **_READ},
            "put": {"parameters": _ID, "requestBody": _BODY, **_READ},
            "delete": {"parameters": _ID, **_READ},
        },
    },
}


def shelf(request: Request, things: dict[str, Any], keys: dict[str, str]) -> Response:
    """Answer as a service with things of tenants does."""
    sent = dict(request.headers)
    owner, key = sent.get("Authorization", ""), sent.get("Idempotency-Key") or ""
    path, _, name = request.target.partition("?")[0].removeprefix("/things").partition("/")
    if path or not request.target.startswith("/things"):
        return answer(404, {"code": "absent"})
    body = None
    if request.method in ("POST", "PUT"):
        try:
            body = json.loads(request.body)
            assert len(body["title"]) >= 10
        except (ValueError, TypeError, KeyError, AssertionError, RecursionError):
            return answer(400, {"code": "malformed"})
    if not name and request.method == "GET":
        return answer(200, [thing for whose, thing in things.values() if whose == owner])
    if not name and request.method == "POST":
        place = f"{owner} {key}"
        if key and place in keys:
            thing = things[keys[place]][1]
            same = thing["title"] == body["title"]
            return answer(201, thing) if same else answer(409, {"code": "taken"})
        name = f"thing-{len(things) + 1:08}"
        things[name] = owner, {**body, "id": name}
        keys[place] = name
        return answer(201, things[name][1])
    whose, thing = things.get(name, (None, None))
    if whose != owner or request.method not in ("GET", "PUT", "DELETE"):
        return answer(404, {"code": "absent"})
    if request.method == "PUT":
        thing["title"] = body["title"]
    return answer(200, thing)


def shelf_session() -> HttpSession:
    """Return a session with a shelf of two tenants, each kind of resource in turn and shared."""
    recipe = Recipe("absent", (Step(ConfiguredCall("GET", "/things/none")),))
    config = ServiceConfig(
        recipes=(recipe,),
        limits=WRITES,
        identities={
            name: Identity(name, (("Authorization", name),), tenant=name) for name in ("ann", "ben")
        },
    )
    things: dict[str, Any] = {}
    keys: dict[str, str] = {}
    session = http_session(lambda request: shelf(request, things, keys), SHELF, config, DOCUMENT)
    session.turn = session.kinds
    for kind in session.kinds:
        assert not isinstance(fixture(session, kind), str)
    return session


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_a_probe_of_http_reads_the_session(probe: Probe[HttpSession]) -> None:
    """No probe changes a record, neither itself nor by a method of one; the session does it all."""
    session = shelf_session()
    before = records(session)
    with guarded(session):
        list(probe.run(session))
    assert records(session) == before
    assert len(session.observations.exchanges) <= session.driver.requests


def test_facts_of_a_probe_reach_other_probes() -> None:
    """The session records facts that probes yield: a spare resource, and operations that were
    asked.
    """
    probes = {probe.name: probe for probe in PROBES}
    for name, kind in (("replays", SpareResource), ("other-tenants", AbsentIdRequest)):
        session = shelf_session()
        facts = [item for item in probes[name].run(session) if isinstance(item, SharedKnowledge)]
        assert kind in {type(fact) for fact in facts}, name
    session = shelf_session()
    play(session, probes["other-tenants"])
    assert "GET /things/{id}" in session.knowledge.own.absent
    asked = len(session.driver.log)
    play(session, probes["unknown-ids"])
    # A deletion that other callers are refused may still succeed for an id without a resource.
    assert {entry.operation for entry in session.driver.log[asked:]} <= {"DELETE /things/{id}"}


class ScriptedPeer(Peer):
    """A JSON-RPC service that has no method."""

    def close(self) -> None:
        """Do nothing."""

    def listens(self) -> bool:
        """Whether the service would accept another message."""
        return True

    def transmit(self, message: Message) -> ReceivedMessage:
        """Answer that the method does not exist."""
        error = {"code": -32601, "message": "absent"}
        body = {"jsonrpc": "2.0", "id": next(iter(message.ids), None), "error": error}
        return ReceivedMessage(Response(None, (), json.dumps(body).encode()))


class ScriptedTools(Driver):
    """An MCP server with one tool, which refuses every call."""

    protocol_methods = frozenset[str]()
    spoken = strays = None
    hears = False

    def close(self) -> None:
        """Do nothing."""

    def take_unprompted(self) -> tuple[tuple[bytes, ...], int]:
        """Return no message."""
        return (), 0

    def begin(self) -> None:
        """Do nothing: no call has a state."""

    def call(
        self,
        tool: str,
        arguments: object,
        headers: object,
        *,
        harmless: bool = False,
        patience: float | None = None,
    ) -> ToolAnswer:
        """Answer with an error of the tool."""
        text = {"type": "text", "text": json.dumps({"code": "absent"})}
        body = {"isError": True, "content": [text]}
        return ToolAnswer(Response(None, (), json.dumps(body).encode()))

    def tools(self, headers: object) -> tuple[Tool, ...]:
        """Return the one tool."""
        return (Tool("ping", {"type": "object", "properties": {"a": {"type": "integer"}}}),)

    def read(self, uri: str, headers: object) -> ToolAnswer:
        """Answer with an empty text."""
        return ToolAnswer(Response(None, (), b""))


def call_session(kind: type[RpcSession] | type[ToolSession]) -> RpcSession | ToolSession:
    """Return a session over JSON-RPC or MCP, after one call, whose service refuses everything."""
    taxonomy = read(TAXONOMY, "taxonomy.yaml").taxonomy
    assert taxonomy is not None
    ping = SampleCall("ping", ConfiguredCall("", "ping", body={"a": 1}), safe=True)
    recipe = Recipe("absent", (Step(ConfiguredCall("", "ping", body={"a": 2})),))
    config = ServiceConfig(limits=WRITES, samples=(ping,), recipes=(recipe,))
    driver = ScriptedPeer if kind is RpcSession else ScriptedTools
    session = kind(build_contract(taxonomy), config, driver(WRITES, pause=lambda _: None))  # type: ignore[arg-type]
    session.call("ping", {})
    return session


@pytest.mark.parametrize(
    ("kind", "probe"),
    [
        *((RpcSession, probe) for probe in (*OF_CALLS, *OF_JSONRPC, *OF_FAILURES)),
        *((ToolSession, probe) for probe in (*OF_CALLS, *OF_MCP)),
    ],
    ids=lambda value: value.name if isinstance(value, Probe) else value.__name__,
)
def test_a_probe_of_calls_reads_the_session(kind: type[Any], probe: Probe[Any]) -> None:
    """No probe of a service that is called by name changes a record."""
    session = call_session(kind)
    seen = session.observations
    with guarded(session):
        results = list(probe.run(session))
    assert not any(result is outcome for result in results for outcome in seen.outcomes)
    assert (seen.notes, seen.not_run, seen.unmet) == ([], [], {})


@pytest.mark.parametrize(
    "statement",
    [
        "session.turn = ()",
        "session.knowledge.own.absent.add('GET /')",
        "session.knowledge.touched |= {'thing'}",
        "session.knowledge.refuse_keys()",
        "session.knowledge.created['thing'] = None",
        "session.knowledge.generated['id'] = None",
        "session.observations.mark_incomplete()",
        "session.observations.add([note])",
        "session.observations.current.outcomes.append(note)",
    ],
)
def test_the_guard_sees_what_it_forbids(statement: str) -> None:
    """A planted probe that changes a record is found, so silence above means something."""
    planted = {"__name__": "faultspec_conformance.probes.planted", "note": Note("planted")}
    session = shelf_session()
    with guarded(session), pytest.raises(ProbeChange):
        exec(statement, planted | {"session": session})
