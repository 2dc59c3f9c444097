"""Laws of upstreams that fail late, in part, or with a body that cannot be used, and of calls that
are counted.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

import httpx
import pytest

from faultspec.exchange.finding import Finding, Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.config import (
    Behaviour,
    ConfiguredCall,
    Identity,
    ServiceConfig,
    UpstreamCall,
    UpstreamConfig,
    UpstreamFailure,
)
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.drivers.serving import HANG_UP, serving
from faultspec_conformance.probes import upstreams
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.declared_facts import declared_idempotency, may_be_repeated
from faultspec_conformance.session.observation import Observation, failed
from faultspec_conformance.session.observations import Note
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.upstreams import FINE, ScriptedUpstream
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, message?: $message, details?: $details}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
detail_keys: {status: {type: integer}}
retry_policies:
  patient:
    max_attempts: 4
    backoff: {kind: constant, base: 1s}
    eligible: [declined, unavailable]
    eligible_when:
      - {if: {details.status: [5xx]}, then: true}
      - {if: {details.status: 4xx}, then: false}
upstream: {retry: patient, status: status}
idempotency: {key: Idempotency-Key, methods: [POST]}
privacy: {detectors: [canary]}
codes:
  busy: {summary: Come back, http: 503, retriable: true, client_action: retry, retry: patient}
  unreadable: {summary: It cannot be read, http: 400, retriable: false}
  denied: {summary: Not you, http: 401, retriable: false}
  declined: {summary: The bank declined, http: 502, retriable: false, client_action: none, details: {status?: {}}}
  unavailable: {summary: The bank is away, http: 503, retriable: false, client_action: none, details: {status?: {}}}
"""


@dataclass
class Shop:
    """A service that authorises and captures each order at a bank; ``sin`` is what it does wrong.

    ``wait``: the seconds before each retry. ``tries``: those of each call.
    """

    upstream: ScriptedUpstream
    sin: str = ""
    wait: float = 1.0
    tries: int = 4
    now: float = 0.0
    keys: dict[str, Response] = field(default_factory=dict)
    locked: int = 0
    orders: list[dict[str, str]] = field(default_factory=list)
    reads: int = 0

    def __call__(self, request: Request) -> Response | NoAnswer:
        """The answer."""
        headers = dict(request.headers)
        if headers.get("Authorization") != "Bearer ada":
            if self.sin == "charges-anybody":
                self.bank("/capture")
            return answer(401, {"code": "denied"})
        if request.method == "GET":
            self.reads += 1
            moving = {"seen": self.reads} if self.sin == "counts-reads" else {}
            return answer(200, [{**order, **moving} for order in self.orders])
        try:
            json.loads(request.body)
        except ValueError:
            if self.sin == "charges-before-reading":
                self.bank("/capture")
            return answer(400, {"code": "unreadable"})
        key = headers.get("Idempotency-Key", "")
        if key and key in self.keys and self.sin != "charges-a-replay":
            return self.keys[key]
        if self.locked:
            return answer(self.locked, {"code": "declined" if self.locked == 502 else "busy"})
        number = {"id": str(len(self.orders))}
        if self.sin in ("keeps-the-order", "keeps-the-failed-order"):
            self.orders.append(number)
        made = self.order()
        if made.status == 201 and number not in self.orders:
            self.orders.append(number)
        if made.status != 201 and self.sin == "keeps-the-failed-order":
            number["state"] = "failed"
        if made.status == 201 or self.sin == "keeps-the-failure":
            self.keys[key] = made
        if made.status != 201 and self.sin in ("keeps-the-lock", "breaks-the-circuit"):
            self.locked = 502 if self.sin == "keeps-the-lock" else 503
        if made.status == -1:
            return NoAnswer(request, "timeout", "no answer within 15 s")
        return made

    def order(self) -> Response:
        """Authorise and capture; void what was authorised if that fails."""
        for path in ("/authorise", "/capture"):
            found = self.call(path)
            if isinstance(found, Response):
                if path == "/capture":
                    self.bank("/void")
                return found
        if self.sin == "charges-twice":
            self.bank("/capture")
        return answer(201, {"id": "1"})

    def call(self, path: str) -> object:
        """The body of a good answer, after so many tries; else the error."""
        failed = answer(503, {"code": "unavailable"})
        for number in range(self.tries):
            self.now += self.wait if number else 0.0
            status, body = self.bank(path)
            if status is None and self.sin == "waits-for-ever":
                return Response(-1)
            if status is None and self.sin == "crashes-on-silence":
                return Response(500, (("content-type", "text/plain"),), b"Oops")
            if status == 200:
                try:
                    found = json.loads(body)
                except ValueError:
                    found = None
                if isinstance(found, dict):
                    return found
                if self.sin == "takes-garbage":
                    return {}
                if self.sin == "crashes-on-garbage":
                    return Response(500, (("content-type", "text/plain"),), b"Oops")
                return answer(502, {"code": "declined"})
            failed = answer(
                502 if status and status < 500 else 503,
                {
                    "code": "declined" if status and status < 500 else "unavailable",
                    "message": self.describe(body),
                    "details": {"status": status} if status else {},
                },
            )
            again = status is None or status >= 500
            if not again and not (self.sin == "retries-a-timeout" and status == 408):
                break
        return failed

    def describe(self, body: bytes) -> str:
        """The message of a failure."""
        if self.sin == "quotes-the-bank":
            return f"The bank said {body.decode()}"
        return "see http://127.0.0.1:9900/v1" if self.sin == "names-the-bank" else "The bank failed"

    def bank(self, path: str) -> tuple[int | None, bytes]:
        """The answer of the bank."""
        sent: list[Any] = []
        received: list[str] = []

        async def receive() -> dict[str, Any]:
            if (sent and sent[0] == "closed") or received:
                return {"type": "http.disconnect"}
            received.append(path)
            return {"type": "http.request", "body": b"{}"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "headers": [],
            "extensions": {HANG_UP: lambda: sent.insert(0, "closed")},
        }
        asyncio.run(self.upstream(scope, receive, send))
        if sent[0] == "closed":
            return None, b""
        return sent[0]["status"], sent[1]["body"]


KEY = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/orders": {"post": {"parameters": [KEY], "responses": {"201": {"description": "made"}}}}
    },
}

ADA = Identity("ada", (("Authorization", "Bearer ada"),))


def judged(
    *fails: tuple[str, UpstreamFailure],
    taxonomy: str = TAXONOMY,
    extra: Callable[[Any], None] | None = None,
    scale: float = 1.0,
    documented: bool = True,
    document: Mapping[str, Any] | None = None,
    judgements: bool = False,
    **shop: Any,
) -> tuple[set[str], list[Any]]:
    """The clauses that fail, and all results of the probe. ``extra``: requests before it."""
    call = UpstreamCall(ConfiguredCall("POST", "/orders", body={"sku": "tea"}), "ada")
    failures = fails or (("unavailable", UpstreamFailure(503, path="/authorise")),)
    upstream = ScriptedUpstream(UpstreamConfig("bank", (call,), failures, scale=scale))
    service = Shop(upstream, **shop)
    upstream.clock = lambda: service.now
    config = ServiceConfig(
        identities={"ada": ADA},
        upstreams=(upstream.config,),
        limits=Limits(writes=True, requests=400, seconds=10_000),
    )
    session = http_session(
        service, taxonomy, config, (document or DOCUMENT) if documented else None
    )
    session.upstreams = {"bank": upstream}
    session.driver._clock = lambda: service.now
    session.driver._started = 0.0
    if extra is not None:
        extra(session)
    results: list[Any] = [*upstreams.retries(session), *session.observations.outcomes]
    if judgements:
        seen = session.observations.exchanges
        results += [finding for each in seen for finding in each.judgement.findings]
    found = [each for each in results if isinstance(each, Outcome)]
    return {each.clause for each in found if each.kind == "failed"}, results


LATE = ("unavailable", UpstreamFailure(503, path="/capture"))
SECOND = ("unavailable", UpstreamFailure(503, after=1))


@pytest.mark.parametrize("failure", [LATE, SECOND])
def test_a_later_call_may_fail_and_the_earlier_one_be_revoked(
    failure: tuple[str, UpstreamFailure],
) -> None:
    """The tries count from the call that fails, and what follows may revoke the good call before
    it.
    """
    failed, results = judged(failure)
    assert failed == set()
    kinds = {(each.clause, each.kind) for each in results if isinstance(each, Outcome)}
    assert ("upstream/attempts", "passed") in kinds
    assert any("may revoke" in str(each.reason) for each in results if isinstance(each, Outcome))
    assert judged(failure, tries=2)[0] == {"upstream/attempts"}


def test_a_failure_that_no_call_meets_is_not_exercised() -> None:
    """A path that the service does not call, or more good calls than it makes, prove nothing."""
    for failure in (UpstreamFailure(503, path="/refund"), UpstreamFailure(503, after=7)):
        failed, results = judged(("unavailable", failure))
        assert failed == set()
        reasons = [str(each.reason) for each in results if isinstance(each, Outcome)]
        assert any("without one that fails" in reason for reason in reasons)


@pytest.mark.parametrize("fails", [401, "4xx"])
def test_statuses_are_sampled_from_the_rules(fails: Behaviour) -> None:
    """A rule for `4xx` also means 408, whether the configuration names the class or one status of
    it.
    """
    failure = UpstreamFailure(fails, path="/authorise" if fails == "4xx" else "*")
    assert judged(("declined", failure))[0] == set()
    assert judged(("declined", failure), sin="retries-a-timeout")[0] == {"upstream/not-eligible"}


@pytest.mark.parametrize("garbage", ["truncated", "html", "empty", "mistyped"])
def test_a_body_that_cannot_be_used_is_a_failure_upstream(garbage: Behaviour) -> None:
    """The configured code must follow; a service that takes any body, or crashes, fails."""
    eligible = TAXONOMY.replace("[declined, unavailable]", "[unavailable]")
    failure = ("declined", UpstreamFailure(garbage, path="/authorise"))
    assert judged(failure, taxonomy=eligible)[0] == set()
    wrong = {"upstream/surfaces", "upstream/stops"}
    assert judged(failure, taxonomy=eligible, sin="takes-garbage")[0] == wrong
    assert judged(failure, sin="crashes-on-garbage", taxonomy=eligible)[0] == {"upstream/surfaces"}


def test_without_a_code_a_body_that_cannot_be_used_must_not_crash() -> None:
    """A service may do without the body."""
    assert judged(sin="takes-garbage")[0] == set()
    assert judged(sin="crashes-on-garbage")[0] == {"upstream/surfaces"}


@pytest.mark.parametrize(
    "sin", ["charges-twice", "charges-anybody", "charges-before-reading", "charges-a-replay"]
)
def test_calls_are_counted_while_the_upstream_answers_well(sin: str) -> None:
    """A success calls once; a refused request and a replay make no call that writes."""
    assert judged()[0] == set()
    assert judged(sin=sin)[0] == {"upstream/once"}


def test_a_replay_of_an_operation_without_keys_warns() -> None:
    """The document does not say that the operation takes a key."""
    _, results = judged(sin="charges-a-replay", documented=False)
    found = [each.finding for each in results if isinstance(each, Outcome) and each.finding]
    assert [(each.clause, each.level) for each in found] == [("upstream/once", "warning")]


@pytest.mark.parametrize("sin", ["", "charges-twice"])
def test_calls_are_counted_for_every_request(sin: str) -> None:
    """Whatever probe sends the request: the finding has it, and the request that confirmed it."""

    def extra(session: Any) -> None:
        session.call(RequestSpec("POST", "/orders", identity=ADA, body={"sku": "milk"}))

    _, results = judged(sin=sin, extra=extra)
    first = [
        each for each in results if isinstance(each, Outcome) and each.clause == "upstream/once"
    ]
    found = [each.finding for each in first if each.finding is not None]
    assert len(found) == bool(sin)
    assert all(len(each.evidence) == 2 for each in found)


def test_a_call_for_an_earlier_request_is_not_counted_twice() -> None:
    """A service that calls after its answer calls during the next request; a second look clears
    it.
    """
    upstream = ScriptedUpstream(UpstreamConfig("bank", (), ()))
    shop = Shop(upstream)
    late: list[str] = ["/capture"]

    def script(request: Request) -> Response:
        while late:
            shop.bank(late.pop())
        return answer(401, {"code": "denied"})

    session = http_session(script, TAXONOMY)
    session.upstreams = {"bank": upstream}
    upstream.script(FINE)
    session.call(RequestSpec("POST", "/orders", body={}))
    assert [each for each in session.observations.outcomes if each.kind == "failed"] == []


@pytest.mark.parametrize("spread", ["", "jitter: {kind: additive, ratio: 0.2}"])
def test_a_doubled_base_does_not_hide_in_the_tolerance(spread: str) -> None:
    """The service's own time comes from calls that were not retried, so that delays of twice the
    length are too long together.
    """
    taxonomy = TAXONOMY.replace("base: 1s}", f"base: 1s}}\n    {spread}")
    assert judged(taxonomy=taxonomy, scale=0.2, wait=0.21)[0] <= {"upstream/jitter"}
    assert "upstream/delays" in judged(taxonomy=taxonomy, scale=0.2, wait=0.42)[0]


def test_a_scale_at_which_doubled_delays_would_hide_is_named() -> None:
    """The clause is then passed for what it could see, with a note that names a sufficient
    scale.
    """
    failed, results = judged(scale=0.01, wait=0.02)
    assert failed == set()
    (note,) = [each.text for each in results if isinstance(each, Note)]
    assert "twice the length" in note
    assert "use a scale of 0.056" in note


def test_an_undeclared_call_has_one_default() -> None:
    """The probe and the judge agree whether a call may be repeated, if neither file says so."""

    call = UpstreamCall(ConfiguredCall("POST", "/orders"))
    config = ServiceConfig(upstreams=(UpstreamConfig("bank", (call,), ()),))
    defaults: Mapping[str, bool] = {
        "": True,
        "default: idempotent, ": True,
        "default: not_idempotent, ": False,
    }
    for text, expected in defaults.items():
        session = http_session(
            lambda request: answer(200, {}), TAXONOMY.replace("{retry: p", f"{{{text}retry: p")
        )
        assert may_be_repeated(call, session.taxonomy) is expected
        assert declared_idempotency(config, session.taxonomy) == {"POST /orders": expected}


@pytest.mark.parametrize("failing", [FINE, UpstreamFailure(503)])
def test_no_connection_to_a_scripted_upstream_is_used_twice(failing: UpstreamFailure) -> None:
    """A client may repeat a request itself on a connection that it reuses, outside its policy."""
    upstream = ScriptedUpstream(UpstreamConfig("bank", (), ()))
    upstream.script(failing)
    with serving(upstream) as url, httpx.Client() as client:
        assert client.get(url).headers["Connection"] == "close"


SILENT = ("unavailable", UpstreamFailure("silent", path="/authorise"))


@pytest.mark.parametrize("stalling", ["silent", "slow"])
def test_an_upstream_that_stalls_gets_the_declared_code(stalling: Behaviour) -> None:
    """The tries are counted, and their waits are not judged; no answer and a crash fail."""
    failure = ("unavailable", UpstreamFailure(stalling, path="/authorise"))
    rules = TAXONOMY[TAXONOMY.index("    eligible_when") : TAXONOMY.index("upstream: {")]
    plain = TAXONOMY.replace(rules, "")
    found, results = judged(failure, taxonomy=plain, wait=9.0)
    assert found == set()
    kinds = {(each.clause, each.kind) for each in results if isinstance(each, Outcome)}
    assert ("upstream/surfaces", "passed") in kinds
    assert judged(failure, taxonomy=plain, tries=2)[0] == {"upstream/attempts"}
    assert "upstream/surfaces" in judged(failure, sin="crashes-on-silence")[0]
    found, results = judged(failure, sin="waits-for-ever")
    assert found == {"upstream/surfaces"}
    messages = [each.finding.message for each in results if getattr(each, "finding", None)]
    assert all("the service gave no answer" in message for message in messages)


def test_a_stalled_call_ends_with_the_script() -> None:
    """A service that waits for ever gets its connection closed when the next script begins."""
    upstream = ScriptedUpstream(UpstreamConfig("bank", (), ()))
    for stalling in ("silent", "slow"):
        upstream.script(UpstreamFailure(stalling))
        with serving(upstream) as url, httpx.Client(timeout=0.3) as client:
            with pytest.raises(httpx.TimeoutException if stalling == "silent" else httpx.HTTPError):
                client.get(url)
            asked = Thread(target=lambda: upstream.script(FINE))
            asked.start()
            asked.join()
            assert client.get(url).status_code == 200


@pytest.mark.parametrize("refusals", ["", ", refusals: retried"])
def test_the_same_request_succeeds_after_a_failure(refusals: str) -> None:
    """A lock that a failure keeps fails; so does a failure that stays under its key, where the
    taxonomy says that refusals are retried. A circuit breaker without a time warns.
    """
    taxonomy = TAXONOMY.replace("methods: [POST]}", f"methods: [POST]{refusals}}}")
    assert judged(taxonomy=taxonomy)[0] == set()
    found, results = judged(taxonomy=taxonomy, sin="keeps-the-lock")
    assert found == {"upstream/heals"}
    unmet = [one for one in results if isinstance(one, Outcome) and one.kind == "could_not_run"]
    assert all("without a call upstream" in each.reason for each in unmet)
    kept, results = judged(taxonomy=taxonomy, sin="keeps-the-failure")
    assert kept == ({"upstream/heals"} if refusals else set())
    _, results = judged(taxonomy=taxonomy, sin="breaks-the-circuit")
    wrong = [each.finding for each in results if getattr(each, "finding", None)]
    assert {(each.clause, each.level) for each in wrong} == {("upstream/heals", "warning")}


def test_a_named_failure_that_no_call_meets_could_not_run() -> None:
    """A lock that the first failure keeps leaves the second one without a call."""
    both = (("unavailable", UpstreamFailure(503)), ("declined", UpstreamFailure(401)))
    _, results = judged(*both, sin="keeps-the-lock")
    unmet = [one for one in results if isinstance(one, Outcome) and one.kind == "could_not_run"]
    assert ["401" in each.reason and "502 declined" in each.reason for each in unmet] == [True]


def test_failures_that_no_call_meets_for_one_reason_appear_once() -> None:
    """The reason names the first of the failures, and no other one with the same answer."""
    later = [("declined", UpstreamFailure(status)) for status in (401, 402, 403)]
    _, results = judged(("unavailable", UpstreamFailure(503)), *later, sin="keeps-the-lock")
    unmet = [one for one in results if isinstance(one, Outcome) and one.kind == "could_not_run"]
    assert len(unmet) == 3
    assert len({each.reason for each in unmet}) == 1


@pytest.mark.parametrize("sin", ["", "quotes-the-bank", "names-the-bank"])
def test_the_text_and_the_address_of_the_upstream_stay_inside(sin: str) -> None:
    """An error repeats neither, also where the upstream is on loopback."""

    def extra(session: Any) -> None:
        session.upstreams["bank"].url = "http://127.0.0.1:9900"

    _, results = judged(sin=sin, extra=extra, judgements=True)
    found = {each.clause for each in results if isinstance(each, Finding)}
    assert found == ({"leaks/canary"} if sin else set())


def test_a_declared_member_may_have_the_text_of_the_upstream() -> None:
    """`passthrough` names the members with foreign text."""
    taxonomy = TAXONOMY.replace(
        "client_action: none,", "client_action: none, passthrough: [message],"
    )
    _, results = judged(sin="quotes-the-bank", taxonomy=taxonomy, judgements=True)
    assert [each for each in results if isinstance(each, Finding)] == []


def test_late_tries_of_an_unanswered_request_belong_to_no_other() -> None:
    """After a request without an answer the suite waits until the service calls no more."""
    late: list[str] = ["/authorise", "/authorise"]

    def extra(session: Any) -> None:
        def pause(seconds: float) -> None:
            if late:
                session.driver.script.bank(late.pop())

        session.driver._pause = pause

    both = (SILENT, ("declined", UpstreamFailure(401, path="/authorise")))
    assert judged(*both, sin="waits-for-ever", extra=extra)[0] == {"upstream/surfaces"}
    assert late == []


KEYS = TAXONOMY.replace("status: status}", "status: status, keys: [X-Key]}", 1)


def test_a_call_that_is_sent_once_needs_no_key() -> None:
    """`upstream/key` asks for a key only where a call may be sent again."""
    assert judged(taxonomy=KEYS)[0] == {"upstream/key"}
    once = KEYS.replace("{retry: patient", "{default: not_idempotent, retry: patient")
    assert judged(taxonomy=once, tries=1)[0] == set()


def test_two_mistakes_under_one_clause_have_two_fingerprints() -> None:
    """A waiver of the one does not cover the other; the first has that of earlier versions."""
    seen = Observation(
        Exchange(Request("POST", "/orders"), Response(502)), Judgement((), frozenset())
    )
    plain, other = (
        failed("upstream/key", "text", seen, variant=variant).finding for variant in ("", "several")
    )
    assert plain is not None
    assert other is not None
    assert plain.fingerprint == "29b8431edb47"
    assert other.fingerprint != plain.fingerprint


@pytest.mark.parametrize("sin", ["", "counts-reads", "keeps-the-order", "keeps-the-failed-order"])
@pytest.mark.parametrize("effect", ["none", "possible"])
def test_a_failure_without_effect_leaves_no_trace(sin: str, effect: str) -> None:
    """A code with `effect: none` promises that nothing changed. Items that are marked as failed and
    values that change by themselves do not count.
    """
    taxonomy = TAXONOMY.replace(
        "http: 503, retriable: false,", f"http: 503, retriable: false, effect: {effect},"
    )
    listing = {"responses": {"200": {"description": "all"}}}
    document = {**DOCUMENT, "paths": {"/orders": {**DOCUMENT["paths"]["/orders"], "get": listing}}}
    failure = ("unavailable", UpstreamFailure(503, path="/authorise"))
    found, results = judged(failure, taxonomy=taxonomy, sin=sin, document=document)
    wrong = sin == "keeps-the-order" and effect == "none"
    assert found == ({"writes/refused"} if wrong else set())
    kinds = {each.kind for each in results if getattr(each, "clause", "") == "writes/refused"}
    expected = {"": "passed", "counts-reads": "passed", "keeps-the-failed-order": "passed"}
    assert kinds == ({"failed" if wrong else expected[sin]} if effect == "none" else set())
