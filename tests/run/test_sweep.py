"""The sweep: requests of schemathesis, sent by our driver and judged by our judge."""

import json
import logging
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from faultspec.contract.model import build_contract
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Request, Response
from faultspec.language import load
from faultspec.language.model import Taxonomy
from faultspec.openapi import service as openapi
from faultspec.openapi.service import Description
from faultspec_conformance.config import (
    Identity,
    OperationPattern,
    ServiceConfig,
    SweepConfig,
    read_config,
)
from faultspec_conformance.drivers import Limits
from faultspec_conformance.drivers.http import SAFE_METHODS, HttpDriver
from faultspec_conformance.orders import demo
from faultspec_conformance.probes.resources import fixtures
from faultspec_conformance.results.model import Report
from faultspec_conformance.run import sweep
from faultspec_conformance.run.generation import (
    GatewayAnswer,
    Generated,
    GeneratedRequest,
    GenerationPlan,
    generate,
)
from faultspec_conformance.run.service import run
from faultspec_conformance.run.sweep import Swept
from faultspec_conformance.session.discovery import fetch_description, without_skipped
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.requests import RequestSpec
from miniatures.core_platform import ENVIRONMENT
from miniatures.serve import serving
from miniatures.sins import sinning
from paths import ROOT

TAXONOMY = str(ROOT / "taxonomy.yaml")
NOTEBOOKS = str(ROOT / "tests" / "miniatures" / "notebooks.yaml")
ORDERS = str(ROOT / "conformance" / "faultspec_conformance" / "orders" / "conformance.yaml")

OPERATION = {"responses": {"200": {"description": "fine"}}}
SMALL: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Small", "version": "1"},
    "paths": {
        "/things": {
            "get": {
                **OPERATION,
                "parameters": [
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}}
                ],
            },
            "post": {
                **OPERATION,
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["n"],
                                "properties": {"n": {"type": "integer"}},
                            }
                        }
                    }
                },
            },
        },
        "/things/{id}": {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
            ],
            "get": OPERATION,
            "delete": OPERATION,
        },
    },
}


@cache
def platform() -> Taxonomy:
    """The Core Platform taxonomy."""
    taxonomy = load(TAXONOMY).taxonomy
    assert taxonomy is not None
    return taxonomy


@pytest.fixture
def written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generate requests once a document, against a service that answers yes: the gateway is what is
    tested, and generation takes seconds.
    """

    def replay(
        plan: GenerationPlan,
        answer: Callable[[GeneratedRequest], GatewayAnswer],
        is_over: Callable[[], bool],
    ) -> Generated:
        names = {operation.name for operation in plan.operations}
        sent = 0
        for generated in _write_once(plan.description):
            operation = plan.description.operation_at(
                generated.request.method, generated.request.target.partition("?")[0]
            )
            if operation is not None and operation.name not in names:
                continue
            sent += 1
            answer(generated)
            if is_over():
                break
        return Generated(sent)

    monkeypatch.setattr(sweep, "generate", replay)


_WRITTEN: dict[str, list[GeneratedRequest]] = {}


def plan_for(description: Description, seconds: float = 120) -> GenerationPlan:
    """A plan for all operations of a document. A machine under load must not thin it."""
    return GenerationPlan(description, description.operations, 0, seconds, examples=5, scenarios=2)


def written(description: Description) -> list[GeneratedRequest]:
    """The requests that schemathesis writes for a service that answers yes to everything."""
    found: list[GeneratedRequest] = []

    def accept(generated: GeneratedRequest) -> GatewayAnswer:
        found.append(generated)
        headers = (("Content-Type", "application/json"),)
        return GatewayAnswer(Response(200, headers, b"{}"))

    result = generate(plan_for(description), accept, lambda: False)
    assert result.trouble is None
    assert result.requests == len(found)
    return found


def _write_once(description: Description) -> list[GeneratedRequest]:
    key = json.dumps(description.document, sort_keys=True)
    if key not in _WRITTEN:
        _WRITTEN[key] = written(description)
    return _WRITTEN[key]


@dataclass
class Recorder:
    """An application that answers every request as it should be answered, with an empty success,
    and remembers it.
    """

    seen: list[Request] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """GatewayAnswer one request."""
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        query = scope["query_string"].decode()
        target = scope["raw_path"].decode() + (f"?{query}" if query else "")
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        )
        self.seen.append(Request(scope["method"], target, headers, body))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@contextmanager
def session(
    url: str, description: Description, limits: Limits, **more: object
) -> Iterator[HttpSession]:
    """A session with a service, before anything was asked."""
    target = replace(ServiceConfig(http=url, limits=limits), **more)  # type: ignore[arg-type]  # keywords of Target, passed on
    with HttpDriver(url, limits) as driver:
        yield HttpSession(build_contract(platform()), target, driver, description)


def recorded(
    limits: Limits, *, seed: int = 0, **more: object
) -> tuple[Swept, list[Request], HttpSession]:
    """The sweep of the small document against the recorder."""
    recorder = Recorder()
    with serving(recorder) as url, session(url, openapi.read(SMALL), limits, **more) as here:
        return sweep.sweep(here, seed=seed), recorder.seen, here


def swept(
    app: ASGIApp, config: str, environment: Mapping[str, str], variable: str
) -> tuple[Swept, HttpSession]:
    """The sweep alone, after resources were made, on a service that its file describes."""
    with serving(app) as url:
        target = read_config(config, {**environment, variable: url}).target
        assert target is not None
        limits = replace(target.limits, requests=330)
        with HttpDriver(url, limits) as driver:
            described = fetch_description(target, driver, "")
            assert isinstance(described, tuple)
            here = HttpSession(build_contract(platform()), target, driver, described[0])
            here.turn = here.kinds
            list(fixtures(here))
            assert here.knowledge.created, "nothing exists that generated requests could go to"
            return sweep.sweep(here, seed=0), here


def notebooks(*sins: str) -> tuple[Swept, HttpSession]:
    """The sweep of the notebooks."""
    return swept(sinning(*sins), NOTEBOOKS, ENVIRONMENT, "BASE_URL")


def findings(here: HttpSession) -> list[Finding]:
    """Everything found, by the judge and by the relations that ride on every exchange."""
    judged = [each for sent in here.observations.exchanges for each in sent.judgement.findings]
    return judged + [
        each.finding for each in here.observations.outcomes if each.finding is not None
    ]


@pytest.mark.usefixtures("written_once")
def test_the_notebooks_have_nothing_to_fear() -> None:
    """On a service that keeps its contract the sweep finds nothing, and it does reach codes of
    every class.
    """
    outcome, here = notebooks()
    assert outcome == Swept(complete=True)
    assert findings(here) == []
    assert len(here.observations.exchanges) > 150
    codes = {sent.code for sent in here.observations.exchanges}
    assert {
        "validation_failed",
        "unauthenticated",
        "forbidden",
        "not_found",
        "rate_limited",
    } <= codes
    assert codes & {"internal_error", "dependency_unavailable"}, (
        "an error of the server is not a finding by itself"
    )


@pytest.mark.full  # `test_orders.py` sweeps them as well
@pytest.mark.usefixtures("written_once")
def test_the_orders_have_nothing_to_fear() -> None:
    """The shipped reference service keeps its contract under generated traffic."""
    logging.getLogger("faultspec_conformance.orders").setLevel(
        logging.CRITICAL
    )  # it logs what is provoked
    outcome, here = swept(
        demo.service(None), ORDERS, demo.service_environment("", TAXONOMY), "ORDERS_URL"
    )
    assert outcome == Swept(complete=True)
    assert findings(here) == []
    assert {"validation_failed", "unauthenticated", "not_found", "stale_read"} <= {
        sent.code for sent in here.observations.exchanges
    }


@pytest.mark.parametrize(
    ("sin", "clause"),
    [
        pytest.param("no-store-missing-on-401", "headers/cache-control", marks=pytest.mark.full),
        ("envelope-nested-on-5xx", "envelope/shape"),
        ("plain-405", "envelope/json"),
        pytest.param("challenge-missing", "headers/www-authenticate", marks=pytest.mark.full),
        pytest.param("retryable-as-text", "details/schema", marks=pytest.mark.full),
        pytest.param("detail-key-invented", "details/registered", marks=pytest.mark.full),
        pytest.param("code-upper-case", "code/declared", marks=pytest.mark.full),
        pytest.param("timeout-as-500", "code/status", marks=pytest.mark.full),
        pytest.param("correlation-not-echoed", "correlation/echo", marks=pytest.mark.full),
        ("correlation-constant", "correlation/unique"),
        pytest.param("stack-trace-in-details", "leaks/stack-trace", marks=pytest.mark.full),
    ],
)
@pytest.mark.usefixtures("written_once")
def test_the_sweep_judges(sin: str, clause: str) -> None:
    """Generated traffic alone catches a sin that single answers show, and names the operation that
    committed it.
    """
    _, here = notebooks(sin)
    caught = [each for each in findings(here) if each.clause == clause]
    assert caught, sorted({each.clause for each in findings(here)})
    declared = {each.template for each in here.description.operations}
    assert all(each.operation and each.operation.partition(" ")[2] in declared for each in caught)


@pytest.mark.usefixtures("written_once")
def test_nothing_is_written_without_leave() -> None:
    """Unless the limits allow writes, the service gets nothing but GET, HEAD and OPTIONS."""
    outcome, seen, _ = recorded(Limits(writes=False))
    assert outcome == Swept(complete=True)
    assert len(seen) > 5
    assert {each.method for each in seen} <= SAFE_METHODS


def gateway(here: HttpSession, requests: int = 100, operations: int = 4) -> sweep.Gateway:
    """The gateway of a sweep with so many requests."""
    return sweep.Gateway(here, sweep.Shares(requests, operations), Random(0))


@pytest.mark.parametrize("writes", [True, False])
def test_the_gateway_lets_no_write_through(writes: bool) -> None:
    """The gateway sends unsafe requests with permission to write only, undeclared methods too."""
    recorder = Recorder()
    methods = ("GET", "POST", "TRACE", "QUERY", "PUT", "DELETE", "HEAD")
    with (
        serving(recorder) as url,
        session(url, openapi.read(SMALL), Limits(writes=writes)) as here,
    ):
        passing = gateway(here)
        answers = [passing.answer(GeneratedRequest(Request(each, "/things"))) for each in methods]
    sent = {each.method for each in recorder.seen}
    assert {"GET", "POST"} < sent if writes else sent == {"GET", "HEAD"}
    assert [answer.sent for answer in answers].count(True) == len(recorder.seen)


@pytest.mark.parametrize(
    ("phases", "words"),
    [
        ((), "no generated request was answered"),
        (("coverage",), "the sweep ended before the stateful phase"),
        (("coverage", "stateful", "stateful"), "none of 2 requests of the stateful phase"),
    ],
)
def test_the_clause_about_sequences_has_a_reason(phases: tuple[str, ...], words: str) -> None:
    """Without a read after a deletion the clause about sequences says how far the sweep came."""
    with (
        serving(Recorder()) as url,
        session(url, openapi.read(SMALL), Limits()) as here,
    ):
        passing = gateway(here)
        for phase in phases:
            passing.answer(GeneratedRequest(Request("GET", "/things"), phase=phase))
        [outcome] = passing.judge_failures(())
    assert outcome.kind == "not_exercised"
    assert words in outcome.reason


def test_what_an_operation_leaves_over_is_shared() -> None:
    """No operation takes the share of another one; later ones get what earlier ones leave."""
    shares = sweep.Shares(80, 4)
    for _ in range(100):
        if shares.has("coverage", "a"):
            shares.spend("coverage", "a", 1)
    assert shares.spent == 10
    assert shares.share("coverage", "b") == 10
    shares.spend("coverage", "b", 1)
    assert shares.share("coverage", "c") == (40 - 11) // 2
    assert shares.share("fuzzing", "a") == (64 - 11) // 4
    assert shares.share("stateful", "a") == 80 - 11


def test_requests_of_the_coverage_phase_are_thinned_evenly() -> None:
    """If an operation has more requests than its share, those that are sent are spread over all."""
    recorder = Recorder()
    with serving(recorder) as url, session(url, openapi.read(SMALL), Limits()) as here:
        passing = gateway(here, requests=80)
        for number in range(50):
            request = Request("GET", f"/things?limit={number}")
            passing.answer(GeneratedRequest(request, phase="coverage", planned=50))
    numbers = [int(each.target.rpartition("=")[2]) for each in recorder.seen]
    assert len(numbers) == 10
    assert {later - earlier for earlier, later in pairwise(numbers)} == {5}


ACCOUNT: Mapping[str, object] = {
    **SMALL,
    "paths": {
        "/things": {"get": OPERATION},
        "/logout": {"post": OPERATION},
        "/me": {"get": OPERATION, "delete": OPERATION, "patch": OPERATION},
        "/me/password": {"put": OPERATION},
        "/auth/token/revoke": {"post": OPERATION},
        "/sessions/current": {"delete": {**OPERATION, "operationId": "signOut"}},
        "/passwords": {"get": OPERATION},
    },
}
ADA = Identity("ada", headers=(("Authorization", "Bearer of-ada"), ("X-Tenant", "t1")))


def kept(here: HttpSession) -> set[str]:
    """The operations that generated requests are sent to."""
    return {operation.name for operation in sweep.take_part(here)[0]}


def test_the_caller_is_not_logged_out() -> None:
    """Operations that end a session, remove the caller or change credentials get no generated
    request, with a note; without credentials nothing can be ended.
    """
    description = openapi.read(ACCOUNT)
    limits = Limits(writes=True)
    with session("http://127.0.0.1:1", description, limits, identities={"ada": ADA}) as here:
        assert kept(here) == {"GET /things", "GET /me", "PATCH /me", "GET /passwords"}
        assert "POST /logout" in sweep.take_part(here)[1][0]
        passing = gateway(here)
        assert not passing.answer(GeneratedRequest(Request("POST", "/logout"))).sent
    with session("http://127.0.0.1:1", description, limits) as here:
        assert len(kept(here)) == len(description.operations)
        assert sweep.take_part(here)[1] == ()


def test_the_file_says_what_is_left_out() -> None:
    """`sweep: leave_out` replaces what the suite recognises by names."""
    chosen = SweepConfig(leave_out=(OperationPattern("GET /me*"), OperationPattern("/things")))
    with session(
        "http://127.0.0.1:1",
        openapi.read(ACCOUNT),
        Limits(writes=True),
        identities={"ada": ADA},
        sweep=chosen,
    ) as here:
        assert {"POST /logout", "DELETE /me"} <= kept(here)
        assert not {"GET /me", "GET /things"} & kept(here)


def test_nothing_is_sent_to_what_is_skipped() -> None:
    """`skip` holds for every request of the session."""
    recorder = Recorder()
    skip = (OperationPattern("* /things/{id}", "it is slow"),)
    with serving(recorder) as url, session(url, openapi.read(SMALL), Limits(), skip=skip) as here:
        with pytest.raises(Unanswered, match="it is slow"):
            here.call(RequestSpec("GET", "/things/{id}", values={"id": "1"}))
        assert not gateway(here).answer(GeneratedRequest(Request("GET", "/things/1"))).sent
        assert here.call(RequestSpec("GET", "/things")).status == 204
        described, notes = without_skipped(here.config, here.description, ())
    assert [each.target for each in recorder.seen] == ["/things"]
    assert {each.template for each in described.operations} == {"/things"}
    assert notes == (
        "the configuration skips 2 operations of 4: GET /things/{id} (it is slow); "
        "DELETE /things/{id} (it is slow)",
    )


def test_the_answer_goes_back_without_secrets() -> None:
    """The generator gets the answer of the service; credentials that it repeats are masked, those
    that a login saved too.
    """
    token, saved = "sk-of-ada-0123456789", "token-of-a-login-0123"
    ada = replace(
        ADA, headers=(("Authorization", f"Bearer {token}"),), secrets=((token, "${TOKEN}"),)
    )

    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        sent = dict(scope["headers"])
        headers = [(b"content-type", b"text/plain"), (b"x-kept", b"yes")]
        await send({"type": "http.response.start", "status": 418, "headers": headers})
        body = sent[b"authorization"] + b" " + saved.encode()
        await send({"type": "http.response.body", "body": body})

    with (
        serving(echo) as url,
        session(url, openapi.read(SMALL), Limits(), identities={"ada": ada}) as here,
    ):
        here.observations.credentials[saved] = None
        answer = gateway(here).answer(GeneratedRequest(Request("GET", "/things")))
    assert answer.response is not None
    assert answer.response.status == 418
    assert answer.response.body == b"Bearer ${TOKEN} ***"
    assert ("x-kept", "yes") in answer.response.headers
    assert answer.findings


@pytest.mark.usefixtures("written_once")
def test_the_same_seed_sends_the_same_requests() -> None:
    """The document and the seed decide what is sent, except for correlation ids, which are
    always new.
    """

    def lasting(requests: list[Request]) -> list[object]:
        fleeting = {"host", "x-correlation-id"}
        return [
            (r.method, r.target, [h for h in r.headers if h[0] not in fleeting], r.body)
            for r in requests
        ]

    limits = Limits(requests=40, writes=True)
    _, first, _ = recorded(limits, seed=1)
    _, again, _ = recorded(limits, seed=1)
    _, other, _ = recorded(limits, seed=2)
    assert lasting(first) == lasting(again) != lasting(other)


def test_the_same_document_writes_the_same_requests(capfd: pytest.CaptureFixture[str]) -> None:
    """Generation depends on the document and the answers only, not on clock or hash order. The
    output of schemathesis is not shown.
    """
    description = openapi.read(SMALL)
    first, again = _write_once(description), written(description)
    assert [each.request for each in first] == [each.request for each in again]
    assert {each.phase for each in first} == {"coverage", "fuzzing"}
    assert all(each.case for each in first)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("written_once")
def test_the_budget_is_shared() -> None:
    """The sweep sends no more than is left of the limit, shares it among the operations, and counts
    in the total.
    """
    _, seen, here = recorded(Limits(requests=12, writes=True))
    assert 8 <= len(seen) <= 12
    assert len(seen) == here.driver.requests == len(here.observations.exchanges)
    assert {"GET /things", "POST /things", "GET /things/{id}", "DELETE /things/{id}"} <= {
        each.exchange.operation for each in here.observations.exchanges
    }


def test_a_spent_budget_is_reported() -> None:
    """A sweep that was asked for and had nothing left to send is a run that did not take place, not
    a clean one.
    """
    outcome, seen, _ = recorded(Limits(requests=0))
    assert outcome.not_run
    assert not seen


def test_the_generator_is_ended_when_time_is_up() -> None:
    """Generation ends when its time is up."""
    plan = plan_for(openapi.read(SMALL), seconds=0.2)
    result = generate(plan, lambda _: GatewayAnswer(Response(200)), lambda: False)
    assert result.trouble is not None
    assert "ended at its limit" in result.trouble


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound data")
def test_the_generator_is_ended_when_it_takes_too_much_memory() -> None:
    """A schema of few words whose values take gigabytes ends the sweep, with the reason."""
    schema: dict[str, object] = {"type": "integer"}
    for _ in range(3):
        schema = {"type": "array", "minItems": 300, "items": schema}
    content = {"application/json": {"schema": schema}}
    body = {"required": True, "content": content}
    operation = {**OPERATION, "requestBody": body}
    document = openapi.read({**SMALL, "paths": {"/a": {"post": operation}}})
    result = generate(plan_for(document), lambda _: GatewayAnswer(Response(200)), lambda: False)
    assert result.trouble is not None
    assert result.trouble.startswith("schemathesis ended with")


@pytest.mark.usefixtures("written_once")
def test_requests_speak_for_a_caller_or_for_nobody() -> None:
    """The caller's credentials go with every generated request, and none with copies of some;
    nothing generated stands in their place.
    """
    _, seen, here = recorded(Limits(writes=True), identities={"ada": ADA})
    tokens = [dict(each.headers).get("authorization") for each in seen]
    assert set(tokens) == {"Bearer of-ada", None}
    assert tokens.count(None) < len(tokens) / 3
    lines = [(each.method, each.target, each.body) for each in seen]
    for index, token in enumerate(tokens):
        assert token is not None or lines[index] == lines[index - 1], "a copy follows its original"
    assert {each.exchange.identity for each in here.observations.exchanges} == {"ada", None}
    names = {name for each in seen for name, _ in each.headers}
    assert not any(name.startswith("x-schemathesis-testcase") for name in names)
    assert {value for each in seen for name, value in each.headers if name == "user-agent"} == {
        "faultspec-conform"
    }


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"paths": {"/a": {"get": OPERATION}}}, "version"),
        ({"openapi": "9.9.0", "info": {}, "paths": {"/a": {"get": OPERATION}}}, "9.9"),
    ],
)
def test_a_document_that_cannot_be_loaded_is_a_reason(
    document: Mapping[str, object], reason: str
) -> None:
    """A document that schemathesis cannot load leads to a sentence, not to an exception or
    silence.
    """
    with serving(Recorder()) as url, session(url, openapi.read(document), Limits()) as here:
        outcome = sweep.sweep(here, seed=0)
    assert len(outcome.not_run) == 1
    assert reason in outcome.not_run[0]


def test_part_of_a_document_is_a_note() -> None:
    """Where some operations can be read the sweep takes place, and says that it is not complete."""
    paths = {
        "/b": {"get": OPERATION},
        "/c/{x}": {
            "get": {
                **OPERATION,
                "parameters": [{"name": "x", "in": "path", "required": True, "schema": 7}],
            }
        },
    }
    recorder = Recorder()
    with (
        serving(recorder) as url,
        session(url, openapi.read({**SMALL, "paths": paths}), Limits()) as here,
    ):
        outcome = sweep.sweep(here, seed=0)
    assert not outcome.not_run
    assert len(outcome.notes) == 1
    assert any(each.target.startswith("/b") for each in recorder.seen)


def test_without_a_document_there_is_a_note() -> None:
    """A service without an OpenAPI document has no sweep, and the run does not fail for that."""
    with serving(Recorder()) as url, session(url, Description(), Limits()) as here:
        outcome = sweep.sweep(here, seed=0)
    assert not outcome.not_run
    assert outcome.notes == ("no sweep: no operation is described",)


def test_without_schemathesis_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where schemathesis is not installed the sweep says so."""
    monkeypatch.setattr(sweep, "find_spec", lambda name: None)
    outcome, seen, _ = recorded(Limits())
    assert "not installed" in outcome.not_run[0]
    assert not seen


@pytest.mark.usefixtures("written_once")
def test_a_service_that_dies_is_a_reason() -> None:
    """When the service has died, the sweep ends at once with a reason."""
    with serving(Recorder()) as url:
        pass
    with session(url, openapi.read(SMALL), Limits()) as here:
        outcome = sweep.sweep(here, seed=0)
    assert len(outcome.not_run) == 1
    assert "cannot connect" in outcome.not_run[0]
    assert here.driver.requests == 1


@pytest.mark.usefixtures("written_once")
def test_a_service_that_hangs_up_is_a_finding() -> None:
    """A connection closed without an answer, and closed again on a second try, is a finding that
    names the operation.
    """

    class HangsUp(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)

    with socketserver.TCPServer(("127.0.0.1", 0), HangsUp) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        with session(
            f"http://127.0.0.1:{server.server_address[1]}", openapi.read(SMALL), Limits()
        ) as here:
            outcome = sweep.sweep(here, seed=0)
        server.shutdown()
        thread.join()
    assert outcome.not_run
    assert {each.clause for each in findings(here)} == {"service/alive"}
    assert all(each.operation for each in findings(here))
    assert here.driver.requests < 10, "it is not asked for ever"


def test_the_base_path_is_kept() -> None:
    """Requests go to the paths of the document's server, and their operations are named with it."""
    description = openapi.read({**SMALL, "servers": [{"url": "https://api.example.com/v2/"}]})
    requests = [each.request for each in _write_once(description)]
    assert requests
    assert all(each.target.startswith("/v2/things") for each in requests)
    templates = {sweep.template_of(description, each) for each in requests}
    assert templates == {"/v2/things", "/v2/things/{id}"}


@pytest.mark.full
@pytest.mark.usefixtures("written_once")
def test_a_run_counts_the_sweep(tmp_path: Path) -> None:
    """The totals of a run include the requests of the sweep, and its verdicts include their
    answers.
    """
    logging.getLogger("faultspec_conformance.orders").setLevel(logging.CRITICAL)
    with serving(demo.service(None)) as url:
        target = read_config(ORDERS, demo.service_environment(url, TAXONOMY)).target
        assert target is not None
        probed = run(target, platform(), RunOptions(sweep=False))
        both = run(target, platform(), RunOptions(sweep=True))
    assert isinstance(probed, Report)
    assert isinstance(both, Report)
    assert both.result.requests > probed.result.requests + 50
    assert both.result.not_run == ()
    clause = "headers/cache-control"
    assert both.result.clauses[clause].occasions > probed.result.clauses[clause].occasions


def test_the_suite_does_not_import_schemathesis() -> None:
    """Not even the sweep imports it: its second of import time is paid in its own process, and only
    by a sweep.
    """
    code = (
        "import sys, faultspec_conformance.run.service, faultspec_conformance.run.sweep;"
        "sys.exit(any(name.split('.')[0] in ('schemathesis', 'hypothesis') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
