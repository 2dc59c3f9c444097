"""Laws of upstreams that fail late, in part, or with a body that cannot be used, and of calls that
are counted.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import (
    Behaviour,
    ConfiguredCall,
    Identity,
    ServiceConfig,
    UpstreamCall,
    UpstreamConfig,
    UpstreamFailure,
)
from faultspec_conformance.drivers import Limits
from faultspec_conformance.drivers.serving import HANG_UP, serving
from faultspec_conformance.probes import upstreams
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.declared_facts import declared_idempotency, may_be_repeated
from faultspec_conformance.session.observations import Note
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.upstreams import FINE, ScriptedUpstream
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, details?: $details}}}
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
codes:
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

    def __call__(self, request: Request) -> Response:
        """The answer."""
        headers = dict(request.headers)
        if headers.get("Authorization") != "Bearer ada":
            if self.sin == "charges-anybody":
                self.bank("/capture")
            return answer(401, {"code": "denied"})
        try:
            json.loads(request.body)
        except ValueError:
            if self.sin == "charges-before-reading":
                self.bank("/capture")
            return answer(400, {"code": "unreadable"})
        key = headers.get("Idempotency-Key", "")
        if key and key in self.keys and self.sin != "charges-a-replay":
            return self.keys[key]
        self.keys[key] = self.order()
        return self.keys[key]

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
                    "details": {"status": status} if status else {},
                },
            )
            again = status is None or status >= 500
            if not again and not (self.sin == "retries-a-timeout" and status == 408):
                break
        return failed

    def bank(self, path: str) -> tuple[int | None, bytes]:
        """The answer of the bank."""
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            if sent and sent[0] == "closed":
                return {"type": "http.disconnect"}
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
DOCUMENT = {
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
    session = http_session(service, taxonomy, config, DOCUMENT if documented else None)
    session.upstreams = {"bank": upstream}
    session.driver._clock = lambda: service.now
    session.driver._started = 0.0
    if extra is not None:
        extra(session)
    results = [*upstreams.retries(session), *session.observations.outcomes]
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
