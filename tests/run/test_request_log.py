"""The requests in a report: each has its probe, and the clauses that it decided."""

from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.run.request_log import request_log
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.observations import Observations


def answer(operation: str) -> Observation:
    """A judged answer with status 200."""
    exchange = Exchange(Request("GET", "/"), Response(200), operation=operation)
    return Observation(exchange, Judgement((), frozenset({"surface/known"})))


def test_a_request_has_the_clauses_that_the_next_outcomes_decide() -> None:
    """An outcome rests on the requests since those of the last one. Requests after the last outcome
    of a probe decide nothing.
    """
    observations = Observations()
    observations.begin("first")
    observations.record(answer("GET /a"), answer("GET /b"))
    observations.add([Outcome("x/y", "passed"), Outcome("x/z", "passed")])
    observations.record(answer("GET /c"))
    observations.begin("second")
    observations.record(answer("GET /d"))
    observations.add([Outcome("v/w", "not_exercised", "no reason")])
    log = [(sent.part, sent.operation, sent.decided) for sent in request_log(observations)]
    assert log == [
        ("first", "GET /a", ("x/y", "x/z")),
        ("first", "GET /b", ("x/y", "x/z")),
        ("first", "GET /c", ()),
        ("second", "GET /d", ("v/w",)),
    ]
    assert {sent.judged for sent in request_log(observations)} == {1}
