"""Probes without a service: scripted answers in, outcomes out, and nothing recorded."""

from collections.abc import Iterable

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Recipe, ResourceConfig, ServiceConfig, Step
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.probes import concurrency, provoke, routes
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered, not_exercised
from faultspec_conformance.session.observations import (
    NotRun,
    ProbeResult,
    UnmetRecipe,
    attempt,
)
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import CreatedResource
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


def recorded(session: HttpSession) -> list[object]:
    """Return everything but exchanges that the session has recorded."""
    seen = session.observations
    return [*seen.outcomes, *seen.notes, *seen.not_run, *seen.unmet]


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
    """The verdict follows from the answers alone, and the probe records nothing but its exchanges."""
    session = http_session(lambda request: answer(status, body), TAXONOMY)
    results = list(routes.unknown_routes(session))
    assert verdicts(results)[0] == ("framework/unknown-route", verdict)
    assert recorded(session) == []
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
    session.knowledge.keep_spare(resource)
    return session


def test_a_stale_write_must_be_refused() -> None:
    """A service that compares validators passes both clauses; one that ignores them fails the first."""
    both = [("preconditions/stale", "passed"), ("preconditions/recovers", "passed")]
    session = versions(checks=True)
    assert verdicts(concurrency.stale_writes(session)) == both
    assert recorded(session) == []
    session = versions(checks=False)
    assert verdicts(concurrency.stale_writes(session)) == [("preconditions/stale", "failed")]


def test_a_recipe_yields_why_it_could_not_be_carried_out() -> None:
    """A step without the value that a later one needs makes the recipe unmet, by results that the probe yields."""
    first = Step(ConfiguredCall("POST", "/articles"), save={"id": "/id"})
    recipe = Recipe("absent", (first, Step(ConfiguredCall("GET", "/articles/${id}"))))
    config = ServiceConfig(recipes=(recipe,), limits=WRITES)
    session = http_session(lambda request: answer(404, {"code": "absent"}), TAXONOMY, config)
    results = list(provoke.recipes(session))
    reason = "the service answered step 1 of the recipe for absent with 404 absent"
    assert [type(item) for item in results] == [UnmetRecipe, NotRun, Outcome]
    assert all(reason in getattr(item, "reason") for item in results)  # noqa: B009 (a union)
    assert recorded(session) == []


def test_a_recipe_is_met_by_its_code() -> None:
    """The last answer decides: its code passes, another one fails."""
    recipe = Recipe("absent", (Step(ConfiguredCall("GET", "/articles/none")),))
    config = ServiceConfig(recipes=(recipe,), limits=WRITES)
    for body, verdict in (({"code": "absent"}, "passed"), ({"code": "stale"}, "failed")):
        session = http_session(lambda request, body=body: answer(404, body), TAXONOMY, config)
        assert verdicts(provoke.recipes(session)) == [("provoke/code", verdict)]


def test_a_missing_answer_ends_one_attempt_of_a_series() -> None:
    """After a timeout the clause could not run and the series goes on; a spent budget ends the series."""

    def series(kind: str) -> Iterable[ProbeResult]:
        yield not_exercised("a/b", "first")
        request = Request("GET", "/")
        raise Unanswered(NoAnswer(request, kind, "no answer"))  # type: ignore[arg-type]

    results = list(attempt(series("timeout"), "a/b", "a/c"))
    assert verdicts(results)[1:] == [("a/b", "could_not_run"), ("a/c", "could_not_run")]
    for kind in ("budget", "read-only", "refused"):
        with pytest.raises(Unanswered):
            list(attempt(series(kind), "a/b"))
