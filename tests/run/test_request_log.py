"""The requests in a report: each once, with its probe, its purpose and what it decided."""

import os
from collections import Counter
from collections.abc import Iterator
from importlib import resources

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import faultspec_conformance.orders
from faultspec import language
from faultspec_conformance.config import read_config
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.orders import demo
from faultspec_conformance.results.model import Outcome, Report, SentRequest
from faultspec_conformance.run.service import run
from faultspec_conformance.session.observations import Note
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = "taxonomy.yaml"

SHOP = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes: {absent: {summary: Not there, http: 404, retriable: false}}
"""


def test_an_outcome_is_decided_by_the_requests_since_the_last_one() -> None:
    """Several outcomes may rest on the same requests. An outcome that decides nothing, and requests
    after the last outcome of a probe, add nothing.
    """
    session = http_session(lambda request: answer(404, {"code": "absent"}), SHOP)

    def ask(path: str) -> Note:
        session.call(RequestSpec("GET", path))
        return Note(path)

    def first() -> Iterator[Outcome | Note]:
        yield from (ask("/a"), ask("/b"))
        yield from (Outcome("x/y", "passed"), Outcome("x/z", "failed"))
        yield ask("/c")

    def second() -> Iterator[Outcome | Note]:
        yield Outcome("x/before", "passed")
        yield ask("/d")
        yield Outcome("v/w", "not_exercised", "no reason")
        yield ask("/e")
        yield Outcome("v/w", "passed")

    for name, probe in (("first", first), ("second", second)):
        session.begin(name, 1)
        session.record_results(probe())
    log = [(entry.part, entry.operation, tuple(entry.decided)) for entry in session.driver.log]
    assert log == [
        ("first", "GET /a", ("x/y", "x/z")),
        ("first", "GET /b", ("x/y", "x/z")),
        ("first", "GET /c", ()),
        ("second", "GET /d", ()),
        ("second", "GET /e", ("v/w",)),
    ]
    assert all("code/declared" in entry.exercised for entry in session.driver.log)


def test_the_log_has_targets_without_the_values_of_queries() -> None:
    """The path is as it was sent; of a query the names are shown, and a long target is cut."""
    session = http_session(lambda request: answer(404, {"code": "absent"}), SHOP)
    session.call(RequestSpec("GET", "/a/{id}", values={"id": "7"}, query={"q": "O'N", "limit": 2}))
    session.call(RequestSpec("POST", "/b"))
    session.call(RequestSpec("GET", f"/{'long' * 100}"))
    targets = [entry.target for entry in session.driver.log]
    assert targets[:2] == ["GET /a/7?q&limit", "POST /b"]
    assert str(targets[2]).startswith("GET /longlong")
    assert str(targets[2]).endswith("…")
    assert len(str(targets[2])) <= 210


class Recording:
    """An application that notes method and status of each request. Its first answer to a
    ``defective`` method breaks off.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.seen: list[tuple[str, int]] = []
        self.spoilt = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] == 415 and not self.spoilt:
                    # A defect that occurs once, so that the run asks again.
                    self.spoilt = True
                    message = {**message, "status": 400}
                self.seen.append((scope["method"], message["status"]))
            await send(message)

        await self.app(scope, receive, note)


@pytest.fixture(scope="module")
def recorded() -> tuple[Report, Recording]:
    """A run over a connection, on a service with one failure that does not occur again."""
    taxonomy = language.load(TAXONOMY).taxonomy
    assert taxonomy is not None
    app = Recording(demo.service(None))
    folder = resources.files(faultspec_conformance.orders)
    with serving(app) as url, resources.as_file(folder / demo.CONFIG) as config:
        loaded = read_config(str(config), demo.service_environment(url, TAXONOMY))
        assert loaded.target is not None
        report = run(loaded.target, taxonomy, RunOptions(sweep=False))
    assert isinstance(report, Report)
    return report, app


def test_every_request_of_a_run_is_in_its_report_once(recorded: tuple[Report, Recording]) -> None:
    """The service got the requests of the report: as many, with the same methods and statuses,
    repeats of failures among them.
    """
    report, app = recorded
    sent = report.result.sent
    assert report.result.requests == len(sent)
    methods = [entry.operation.partition(" ")[0] for entry in sent if entry.operation]
    assert Counter(zip(methods, (entry.status for entry in sent), strict=True)) == Counter(app.seen)
    assert methods == [method for method, _ in app.seen]
    assert app.spoilt
    assert all(
        str(entry.target).startswith(f"{entry.operation.split()[0]} /")
        for entry in sent
        if entry.operation
    )
    assert "confirm" in {entry.purpose for entry in sent}


def test_no_request_of_a_run_decides_nothing(recorded: tuple[Report, Recording]) -> None:
    """Each request but that for the document has its part, and an answer that is judged or decides
    a relation.
    """

    def decides(entry: SentRequest) -> bool:
        return bool(entry.part) and bool(entry.judged or entry.decided)

    idle = [entry for entry in recorded[0].result.sent if not decides(entry)]
    assert [entry.purpose for entry in idle] == ["document"]
    assert os.path.basename(str(idle[0].operation)) == "openapi.json"


def test_a_probe_decides_its_clause_with_its_own_requests(
    recorded: tuple[Report, Recording],
) -> None:
    """Outcomes about the correlation id of each answer do not take requests from the outcome of
    their probe.
    """
    burst = [entry for entry in recorded[0].result.sent if entry.part.startswith("replays")][:4]
    assert all({"correlation/echo", "idempotency/concurrent"} <= {*one.decided} for one in burst)
