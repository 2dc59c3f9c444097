"""A failure is flaky only if the same request met the same occasion, and the answer was right."""

from collections.abc import Iterator

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import NOBODY, Identity, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import Probe
from faultspec_conformance.run.flakiness import flaky_places
from faultspec_conformance.run.schedule import ProbeRun, run_probe
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import failed, not_exercised, passed
from faultspec_conformance.session.observations import ProbeResult
from faultspec_conformance.session.options import RunOptions
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0, title: T, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  denied: {summary: Not you, http: [401, 403], retriable: false}
  slow: {summary: Too many, http: 429, retriable: true}
"""

WRONG = answer(404, {"kode": "absent"})
RIGHT = answer(404, {"code": "absent"})


def ask(session: HttpSession) -> Iterator[ProbeResult]:
    """Ask for one resource as the caller."""
    session.call(RequestSpec("GET", "/things/1", wait_when_limited=False))
    yield from ()


def after(first: Response, then: Response, requests: int = 400, spent: int = 0) -> list[str]:
    """The clauses whose failures are flaky if the service answers first one and then the other."""
    answers = iter([first])

    def script(request: Request) -> Response:
        return next(answers, then)

    caller = Identity("ada", (("Authorization", "Bearer ada"),))
    session = http_session(
        script,
        TAXONOMY,
        ServiceConfig(identities={"ada": caller}, limits=Limits(requests=requests)),
    )
    session.driver.requests = spent
    run = run_probe(session, Probe("asks", ask), RunOptions())
    return sorted(clause for clause, _ in flaky_places(session, [run], RunOptions()))


@pytest.mark.parametrize(
    ("then", "flaky"),
    [
        (RIGHT, ["envelope/shape"]),
        (WRONG, []),
        (answer(200, {"id": 1}), []),
        (answer(401, {"code": "denied"}), []),
        (answer(429, {"code": "slow"}), []),
        (answer(503, {"code": "absent"}), []),
    ],
)
def test_only_the_same_occasion_proves_that_a_failure_is_flaky(
    then: Response, flaky: list[str]
) -> None:
    """The right answer of the same class does. A success, a refusal of the caller or of the moment
    proves nothing.
    """
    assert after(WRONG, then) == flaky


@pytest.mark.parametrize("spent", [0, 50, 89])
def test_the_verdict_does_not_depend_on_the_requests_that_are_left(spent: int) -> None:
    """A tenth of the limit is kept for asking again."""
    assert after(WRONG, RIGHT, 100, spent) == ["envelope/shape"]


@pytest.mark.parametrize(("fixture", "flaky"), [(True, ["auth/missing"]), (False, [])])
def test_a_used_up_fixture_proves_nothing(fixture: bool, flaky: list[str]) -> None:
    """A relation that is not exercised the second time stays a failure."""
    turns = iter([False, True])

    def probe(session: HttpSession) -> Iterator[ProbeResult]:
        observation = session.call(RequestSpec("GET", "/things", identity=NOBODY))
        if not next(turns):
            yield failed("auth/missing", "it is open", observation)
        elif fixture:
            yield passed("auth/missing")
        else:
            yield not_exercised("auth/missing", "nothing is left to ask for")

    session = http_session(lambda request: answer(200, {}), TAXONOMY)
    run: ProbeRun = run_probe(session, Probe("asks", probe), RunOptions())
    assert [clause for clause, _ in flaky_places(session, [run], RunOptions())] == flaky


@pytest.mark.parametrize(("decides", "flaky"), [(True, ["auth/missing"]), (False, [])])
def test_what_another_operation_passes_proves_nothing(decides: bool, flaky: list[str]) -> None:
    """A relation must be decided on the operation that failed. As many decisions on others do not
    count.
    """
    turns = iter([False, True])

    def probe(session: HttpSession) -> Iterator[ProbeResult]:
        again = next(turns)
        asked = session.call(RequestSpec("GET", "/things", identity=NOBODY))
        if not again:
            yield failed("auth/missing", "it is open", asked)
        elif decides:
            yield passed("auth/missing")
        else:
            yield not_exercised("auth/missing", "the service checked something else first")
        for _ in range(3 if again else 1):
            session.call(RequestSpec("GET", "/others", identity=NOBODY))
            yield passed("auth/missing")

    session = http_session(lambda request: answer(200, {}), TAXONOMY)
    run: ProbeRun = run_probe(session, Probe("asks", probe), RunOptions())
    assert [clause for clause, _ in flaky_places(session, [run], RunOptions())] == flaky


@pytest.mark.parametrize(("first", "flaky"), [(200, []), (422, ["framework/invalid-input"])])
def test_input_that_was_accepted_once_is_accepted(first: int, flaky: list[str]) -> None:
    """A refusal of another body does not take back that a forbidden one was accepted. A refusal in
    the wrong form may be flaky.
    """
    statuses = iter([first, 400])

    def probe(session: HttpSession) -> Iterator[ProbeResult]:
        asked = session.call(RequestSpec("POST", "/things", body={}))
        clause = "framework/invalid-input"
        yield passed(clause) if asked.status == 400 else failed(clause, "wrong", asked)

    session = http_session(lambda request: answer(next(statuses), {}), TAXONOMY)
    run: ProbeRun = run_probe(session, Probe("asks", probe), RunOptions())
    found = [clause for clause, _ in flaky_places(session, [run], RunOptions())]
    assert [clause for clause in found if clause.startswith("framework")] == flaky
