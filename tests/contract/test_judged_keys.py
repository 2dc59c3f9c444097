"""Each key of the language is judged by a clause that depends on it, or is listed with the reason
why nothing judges it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from faultspec.contract.clauses import CLAUSES
from faultspec.contract.judged_keys import HEADERS, JUDGED, NOT_JUDGED
from faultspec.exchange.model import Canary, Exchange, Request, Response
from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.language.reference import constructs
from faultspec.runtime.retry import Failure, Policy, plan, start
from faultspec_conformance.faults.retry_observer import Try, observe_retries
from faultspec_conformance.run.clients import _CLAUSES
from paths import ROOT, TESTS
from support.full_taxonomy import FULL
from support.key_changes import applicable, changes, differences, loaded, places
from support.kill_matrix import KILLS, MINIATURES

ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
GOOD: dict[str, Any] = {
    "text": "abc",
    "number": 2,
    "word": "one",
    "term": "start",
    "list": [1],
    "object": {"known": 1},
}
BAD: dict[str, list[Any]] = {
    "text": ["zbc", "a", "abcd", 1],
    "number": [0, 4, "2"],
    "word": ["three"],
    "term": ["end", "never"],
    "list": [["x"]],
    "object": [{"known": "x"}, {"known": 1, "more": 1}, {}],
}
TRACE = 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in f\nKeyError: 1'


def variants() -> Iterator[dict[str, Any]]:
    """Members that keep their schemas, and members of which one does not."""
    yield GOOD
    yield from ({**GOOD, name: value} for name, values in BAD.items() for value in values)


def http(target: str, status: int, body: object, method: str = "GET", **other: Any) -> Exchange:
    """An exchange over HTTP. A header has underscores in place of hyphens."""
    sent, asked = other.pop("sent", None), other.pop("asked", ())
    request = Request(method, target, asked, json.dumps(sent).encode() if sent else b"")
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store", "X-Id": ID}
    headers |= {name.replace("_", "-"): value for name, value in other.pop("headers", {}).items()}
    elapsed = other.pop("elapsed", 0.0)
    answer = Response(status, tuple(headers.items()), json.dumps(body).encode(), elapsed)
    return Exchange(request, answer, **other)


def plain(**members: object) -> dict[str, object]:
    """A sound error with the code `plain`."""
    known = {"code": "simple", "layer": "door", "domain": "shop", "phase": "start"}
    return known | {"actions": ["call"], "id": ID} | members


MORE = {"X_More": "1", "X_Plain": "1"}


def exchanges() -> Iterator[Exchange]:
    """Sound answers of every surface, and answers with one mistake."""
    for members in variants():
        yield http("/api/x", 400, plain(**members), headers=MORE)
        details = {"needed": 1, "stamp": ID, "hint": "x", **members}
        yield http("/api/x", 422, {"code": "rich", "id": ID, "details": details})
        yield http("/api/x", 200, {"stamp": ID, "hint": "x", **members})
    rich = {"code": "rich", "id": ID}
    yield http("/api/x", 422, rich | {"details": {"needed": 1, "stamp": "x"}})
    yield http("/api/x", 422, rich | {"details": {}})
    yield http("/api/x", 422, rich | {"details": {"needed": 1, "shared": 1, "more": 1}})
    yield http("/api/x", 422, rich | {"details": {"needed": 1, "flag": False, "shared": "x"}})
    yield http("/api/x", 200, {**GOOD, "stamp": "x"})
    yield from of_codes()
    yield from of_surfaces()
    yield from of_other_transports()


def of_codes() -> Iterator[Exchange]:
    """Errors whose codes decide what they have."""
    for wrong in (
        {},
        {"layer": "desk"},
        {"domain": "bank"},
        {"phase": "end"},
        {"phase": "middle"},
        {"more": 1},
        {"grpc": "OK"},
    ):
        yield http("/api/x", 400, plain(**wrong), headers=MORE)
    yield http("/api/x", 422, {"code": "rich", "text": "abc"}, headers={"X_Copy": "abd"})
    for part in ({"wing": "attic"}, {"home": "mill"}, {"term": "middle"}):
        yield http("/api/x", 422, {"code": "rich", "id": ID} | part)
    yield http("/api/x", 422, {"code": "rich", "details": {"term": "middle"}})
    yield http("/api/x", 422, {"code": "rich"}, headers={"X_Stamp": "x"})
    yield http("/api/x", 420, {"code": "spare"})
    yield http("/api/x", 500, {"code": "known"})
    yield http("/api/x", 400, plain(actions=["again"]), headers=MORE)
    yield http("/api/x", 400, plain(status=409), headers={**MORE, "X_Id": ID.replace("0", "1")})
    yield http("/api/x", 400, plain(id="x"), headers={"X_Id": "x", "Cache_Control": "public"})
    yield http("/api/x", 404, plain(), headers={**MORE, "Content_Type": "text/html"})
    for left in ("0", "1", "9", "10", "9x"):
        yield http("/api/x", 400, plain(), headers={**MORE, "X_Left": left})
    for status in (503, 429):
        yield http("/api/x", status, {"code": "busy", "details": {"flag": False}})
        busy = {"code": "busy", "actions": [], "details": {"flag": True}}
        yield http("/api/quiet", status, busy, authenticated=True)
        yield http("/api/x", status, busy, authenticated=status == 503)
        yield http("/api/x", status, busy, "POST", authenticated=False)
    for ways in (["call"], [], ["call", "again"]):
        yield http("/api/x", 419, {"code": "sole", "actions": ways})
    late = {"code": "late", "details": {"wait": 3, "offset": 9}}
    yield http("/api/x", 408, late, elapsed=3.5, headers={"Retry_After": "4"})
    yield http("/api/x", 408, late, elapsed=4.5, headers={"Retry_After": "3"})
    paused = {"code": "late", "details": {"wait": 3, "offset": 9, "pause": 3000}}
    yield http("/api/x", 408, paused, elapsed=3.5, headers={"Retry_After": "3"})
    yield http("/api/x", 425, {"code": "imported", "details": {}})
    yield http("/two", 426, {"code": "enveloped", "id": ID})
    yield http("/api/x", 410, {"code": "ended"})
    for day in ("Sat, 01 Feb 2020 11:00:00 GMT", "Sun, 02 Feb 2020 00:00:01 GMT"):
        yield http("/api/x", 427, {"code": "fading"}, headers={"Date": day})
    for text in ("said", "gesagt", "dit", "else"):
        spoken = {"code": "spoken", "message": text}
        yield http("/api/x", 428, spoken, headers={"Content_Language": "de-AT"})
    yield http("/api/x", 418, {"code": "teapot"})
    yield http("/loose", 418, {"code": "free"})
    yield http("/api/x", 404, {"code": "unheard-of"})
    personal = ("ada@lovelace.org", "DE89 3704 0044 0532 0130 00")
    query = "SELECT name FROM users WHERE id = 1"
    for text in (TRACE, query, "zeus-17", "/srv/app/x.py", *personal):
        body = {"code": "foreign", "details": {"text": text}}
        yield http("/api/x", 502, body)
    forbidden = (Canary("tenant", "tenant-seven"), Canary("value", "planted-value"))
    body = {"code": "foreign", "details": {"text": "planted-value"}}
    yield http("/api/x", 502, body, forbidden=forbidden)
    for code in ("simple", "E9", "own"):
        body = {"code": "internal", "details": {"original": code}}
        yield http("/api/order", 500, body, "POST")
        yield http("/api/x", 500, body)
    for shared in (2, 3):
        body = plain(word="two", details={"shared": shared})
        yield http("/api/order", 402, body, "POST", headers=MORE)
    yield http("/api/order", 402, plain(), "POST", headers=MORE)
    for code, status in (("simple", 400), ("own", 409), ("rich", 422)):
        yield http("/api/order", status, {"code": code}, "POST")
        yield http("/api/y", status, {"code": code}, "POST", operation="place-order")
        yield http("/api/order", status, {"code": code})


def of_surfaces() -> Iterator[Exchange]:
    """Answers that a surface claims, or another one if the surface changes."""
    for kind in ("odd", "even", "other"):
        yield http("/asked", 400, {"failure": "simple"}, "POST", sent={"kind": kind})
    for name in ("Tables.Put", "Rows.Put", "Rows.Get"):
        yield http("/targeted", 400, {"failure": "simple"}, asked=(("X-Target", name),))
    for name in ("Put", "Get"):
        yield http(f"/queried?Action={name}", 400, {"failure": "simple"})
    for name, code in (("Send", "unsent"), ("Other", "unsent")):
        yield http("/api/calls", 409, {"code": code}, asked=(("X-Target", name),))
    for name in ("Fetch", "Other"):
        yield http(f"/api/calls?Action={name}", 409, {"code": "unfetched"})
    yield http("/written", 400, {"failure": "simple"}, "POST")
    yield http("/written", 400, {"failure": "simple"})
    yield http("/refused", 410, {"failure": "simple"})
    yield http("/refused", 400, {"failure": "simple"})
    yield http("/elsewhere", 400, plain())
    for status in (400, 499):
        for headers in ({}, {"X_Code": "simple"}, {"X_Code": "Simple"}, {"X_Code": "unheard"}):
            yield http("/placed", status, {"note": "x"}, headers=headers)
    for surface in ("/marked", "/said"):
        yield http(surface, 200, {"ok": False, "error": plain()})
        yield http(surface, 200, {"ok": False, "error": {}})
        yield http(surface, 200, {"ok": True, "text": "x"})
    yield http("/foreign", 502, {"other": True})
    for failure in ("shop.new", "mall.new", "other.new"):
        yield http("/part-closed", 400, {"failure": failure})
    yield http("/narrow", 422, {"code": "rich", "details": {"needed": 1, "hint": "x"}})
    yield http("/narrow", 400, plain(details={"offset": 1}))
    yield http("/api/x", 204, None)
    for items in (
        [{"status": 400, "error": plain()}, {"status": 200}],
        [{"status": 400, "error": plain()}],
        [{"error": plain()}, {"status": 400}],
    ):
        yield http("/several", 207, {"items": items})
    for lines in (["Failed with simple", "call 3"], ["Failed with simple"]):
        yield http("/api/x", 200, {"log": [{"role": "tool", "content": "\n".join(lines)}]})


def of_other_transports() -> Iterator[Exchange]:
    """JSON-RPC, MCP and streams."""

    def over(transport: str, target: str, body: object) -> Exchange:
        content = json.dumps(body).encode()
        return Exchange(Request("POST", target), Response(None, (), content), transport)

    for error in (
        {"code": "simple"},
        {"code": -32601, "message": "m"},
        {"code": -32602, "message": "m"},
        {},
    ):
        yield over("jsonrpc", "call", {"jsonrpc": "2.0", "id": 1, "error": error})
    for tool in ("good", "other"):
        for code in ("marked", "lenient", "rich"):
            for is_error in (True, False):
                content = {"code": code}
                body = {"isError": is_error, "structuredContent": content}
                yield over("mcp", tool, body)
    text = {"type": "text", "text": '{"code": "simple"}'}
    content = {"code": "marked"}
    yield over("mcp", "good", {"isError": True, "structuredContent": content, "content": [text]})
    yield over("stream", "/feed", plain())
    yield http("/numbered", 400, {"number": 1})
    transports = ("jsonrpc", "mcp", "event", "stream", "tool_message", "log")
    for number, transport in enumerate(transports, 2):
        yield over(transport, "numbered", {"number": number, "isError": True})


@cache
def corpora() -> tuple[tuple[dict[str, Any], Taxonomy, tuple[Exchange, ...]], ...]:
    """Documents with every judged key, their taxonomies, and exchanges."""
    judged = load(str(TESTS / "fixtures" / "judged.yaml")).document
    full = read(FULL, "full.yaml").document
    found = []
    for document, seen in ((judged, tuple(exchanges())), (full, ())):
        assert document is not None
        data = json.loads(json.dumps(document.data))
        taxonomy = loaded(data)
        assert taxonomy is not None
        found.append((data, taxonomy, seen))
    return tuple(found)


def dependent(address: str, wanted: frozenset[str]) -> frozenset[str]:
    """The wanted clauses whose applicability or verdict depends on a key, or on one below it."""
    left = set(wanted)
    for data, taxonomy, seen in corpora():
        for key, place, type in places(data):
            if key != address and not key.startswith(f"{address}."):
                continue
            for other in filter(None, map(loaded, changes(data, place, type))):
                for clause in differences(taxonomy, other, seen):
                    left.discard(HEADERS if clause.startswith("headers/") else clause)
                    if not left:
                        return wanted
    return wanted - left


def is_relation(clause: str) -> bool:
    """Whether a probe judges the clause, not the judge alone."""
    return clause != HEADERS and CLAUSES[clause].relation


OF_ONE_EXCHANGE = [
    (address, frozenset(clause for clause in clauses if not is_relation(clause)))
    for address, clauses in JUDGED.items()
]
"""The keys that the judge reads, with their clauses."""


def cases() -> Iterator[Any]:
    """Each key with its clauses. The first key of each clause is in `make test`, the others in
    `make full`.
    """
    known: set[str] = set()
    for address, clauses in OF_ONE_EXCHANGE:
        if clauses:
            marks = [] if clauses - known else [pytest.mark.full]
            known |= clauses
            yield pytest.param(address, clauses, id=address, marks=marks)


@pytest.mark.parametrize(("address", "clauses"), [*cases()])
def test_a_judged_key_decides(address: str, clauses: frozenset[str]) -> None:
    """Some change of the key changes whether each of its clauses applies, or what the clause says
    of some answer.
    """
    assert dependent(address, clauses) == clauses


def test_every_key_of_the_language_is_judged_or_listed() -> None:
    """A key without a clause has a reason; no key has both, and no entry is without a key."""
    keys = {construct.shared_address for construct in constructs().values()}
    assert keys - JUDGED.keys() - NOT_JUDGED.keys() == set()
    assert (JUDGED.keys() | NOT_JUDGED.keys()) - keys == set()
    assert JUDGED.keys() & NOT_JUDGED.keys() == set()
    assert all(NOT_JUDGED.values())
    assert {clause for clauses in JUDGED.values() for clause in clauses} - CLAUSES.keys() == {
        HEADERS
    }


SCENARIOS = (
    [Failure(True)] * 9,
    [Failure(True, kind="slow")] * 3,
    [Failure(True, retry_after=3.0)] * 3,
    [Failure(True, retry_after=7.0), Failure(True, retry_after=60.0)],
)


def tries(policy: Policy, failures: Sequence[Failure], chance: float) -> list[Try]:
    """The tries of a caller that follows the planner; ``chance``: where in the jitter it waits."""
    state, now, found = start(policy), 0.0, list[Try]()
    for failure in failures:
        found.append(Try(now, now, failure))
        planned = plan(policy, state, failure, now=0.0, random=lambda: chance)
        if planned.delay is None:
            return found
        state, now = planned.state, now + planned.delay
    return [*found, Try(now, now, None)]


def breaches(one: Policy, other: Policy) -> set[str]:
    """The kinds of breach of one policy by a caller that follows the other."""
    return {
        breach.kind
        for failures in SCENARIOS
        for chance in (0.0, 0.999)
        for breach in observe_retries(one, tries(other, failures, chance)).breaches
    }


TIMED = [
    address
    for address, clauses in JUDGED.items()
    if address.startswith("retry_policies")
    and {*clauses} & {"client/waits", "client/attempts", "client/retry-after"}
    and address
    != "retry_policies.kinds.codes"  # the clients and services of other tests have codes
]


@pytest.mark.parametrize("address", TIMED)
def test_a_key_of_a_retry_policy_decides(address: str) -> None:
    """A caller that follows a policy breaks the policy in which only that key differs; the kind of
    the breach is that of a clause of the key.
    """
    document = read(POLICY, "policy.yaml").document
    assert document is not None
    data = json.loads(json.dumps(document.data))
    before = policy_of(data)
    kinds: set[str] = set()
    for key, place, type in places(data):
        if key == address:
            others = filter(None, map(policy_of, changes(data, place, type)))
            kinds |= {kind for other in others for kind in breaches(before, other)}
            kinds |= {
                kind
                for other in filter(None, map(policy_of, changes(data, place, type)))
                for kind in breaches(other, before)
            }
    found = {_CLAUSES[kind] for kind in kinds}
    assert found & {*JUDGED[address]}


def policy_of(data: dict[str, Any]) -> Policy | None:
    """The policy of a document, if it is valid."""
    taxonomy = loaded(data)
    policy = taxonomy and taxonomy.retry_policies.get("patient")
    return policy.policy if policy else None


POLICY = """
faultspec: 1
taxonomy: {name: retries, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error}}
codes: {busy: {summary: It is busy., http: 503, retriable: true}}
retry_policies:
  patient:
    max_attempts: 9
    backoff:
      - {kind: exponential, base: 1s, factor: 3, max: 4s, for: 5s}
      - {kind: linear, base: 2s, step: 3s}
    jitter: {kind: ratio, ratio: 0.5}
    retry_after: {honor: true, max: 10s, beyond: cap, over: 5s, at_least_computed: true}
    kinds: {slow: {base: 3s, codes: [busy]}}
    max_elapsed: 90s
"""

LAWS: Mapping[str, str] = {
    "retry_policies.kinds.codes": "tests/run/test_clients.py",
    "codes.client_action": "tests/run/test_clients.py",
    "codes.retry": "tests/run/test_clients.py",
    "codes.effect": "tests/run/test_clients.py",
    "surfaces.level": "tests/probes/test_repeated_errors.py",
    "codes.summary": "tests/probes/test_declared_and_judged.py",
    "operations.wire": "tests/probes/test_declared_and_judged.py",
    "operations.errors": "tests/probes/test_declared_and_judged.py",
    "operations": "tests/probes/test_declared_and_judged.py",
    "discovery": "tests/probes/test_declared_and_judged.py",
    "navigation.unknown": "tests/systems/test_services.py",
    "navigation.all": "tests/systems/test_services.py",
    "audit": "tests/systems/test_services.py",
    "retry_policies.eligible": "tests/run/test_clients.py",
    "retry_policies.eligible_when": "tests/language/test_conditions.py",
    "upstream": "tests/probes/test_upstreams.py",
    "upstream.codes": "tests/probes/test_upstream_codes.py",
    **{
        f"{key}.{place}": "tests/systems/test_key_places.py"
        for key in ("idempotency.key", "surfaces.idempotency_key", "operations.idempotency_key")
        for place in ("header", "path", "query", "body")
    },
    "surfaces.idempotency_key": "tests/systems/test_key_places.py",
    "operations.idempotency_key": "tests/systems/test_key_places.py",
    "idempotency.refusals": "tests/probes/test_refused_replays.py",
    "envelopes.fields.refers_to": "tests/probes/test_references.py",
    "surfaces.states": "tests/systems/test_language_server.py",
    "surfaces.protocol.batches": "tests/systems/test_language_server.py",
}
"""Tests of relations that depend on a key and on those below it, where no sin shows it."""


@cache
def keys_of(miniature: str) -> frozenset[str]:
    """The keys in the taxonomy of a miniature."""
    document = load(str(MINIATURES[miniature].taxonomy)).document
    assert document is not None
    return frozenset(key for key, _, _ in places(document.data))


def test_relations_depend_on_their_keys() -> None:
    """A relation that lists a key applies to taxonomies with the key alone, or catches a sin of a
    service whose taxonomy has it, or a law of its own is named here.
    """
    killed: dict[str, set[str]] = {}
    for kill in KILLS.values():
        killed.setdefault(kill.clause, set()).add(kill.miniature)
    unproven = {
        (address, clause)
        for address, clauses in JUDGED.items()
        for clause in filter(is_relation, clauses)
        if address not in TIMED
        and not any(address in keys_of(miniature) for miniature in killed.get(clause, ()))
        and not any(address == law or address.startswith(f"{law}.") for law in LAWS)
        and clause not in applies_by(address)
    }
    assert unproven == set()
    assert all((ROOT / path).is_file() for path in LAWS.values())


@cache
def applies_by(address: str) -> frozenset[str]:
    """The clauses whose applicability to a taxonomy with all constructs depends on a key."""
    data, taxonomy, _ = corpora()[1]
    others = (
        other
        for key, place, type in places(data)
        if key == address
        for other in filter(None, map(loaded, changes(data, place, type)))
    )
    return frozenset(
        clause for other in others for clause in applicable(taxonomy) ^ applicable(other)
    )
