"""The scope of a limit: who else is refused when one caller has reached it."""

from collections import Counter
from collections.abc import Mapping

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, Identity, Recipe, ServiceConfig, Step
from faultspec_conformance.config.model import LimitScope
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import limit_scope, provoke
from faultspec_conformance.results.model import Outcome
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: search, version: 1.0.0, title: Search, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
headers: {Retry-After: {on: [429]}}
codes:
  limited: {summary: Too many, http: 429, retriable: true}
  denied: {summary: Not allowed, http: 403, retriable: false}
"""
TENANTS = {"ann": "north", "art": "north", "ben": "south"}


#: Seconds of the window of a limit.
WINDOW = 10


def outcome_of(
    scope: LimitScope | None,
    counted: str,
    *,
    limit: int = 5,
    denied: str = "",
    used: Mapping[str, int] | None = None,
) -> Outcome:
    """The outcome of a limit that counts by ``counted``: a caller, a tenant or all. ``used``: what
    counts already in the first window.
    """
    sent: Counter[tuple[str, int]] = Counter()
    waits: list[float] = []
    sent.update({(key, 0): number for key, number in (used or {}).items()})

    def script(request: Request) -> Response:
        name = dict(request.headers)["Authorization"]
        if name == denied:
            return answer(403, {"code": "denied"})
        key = {"caller": name, "tenant": TENANTS[name], "service": "all"}[counted]
        window = int(sum(waits) // WINDOW)
        sent[key, window] += 1
        if sent[key, window] > limit:
            return answer(429, {"code": "limited"}, Retry_After=str(WINDOW))
        return answer(200, {})

    call = ConfiguredCall("GET", "/search")
    step = Step(call, identity="ann", until=429, at_most=20, scope=scope)
    config = ServiceConfig(
        identities={
            name: Identity(name, headers=(("Authorization", name),), tenant=tenant)
            for name, tenant in TENANTS.items()
        },
        recipes=(Recipe("limited", (step,)),),
        limits=Limits(writes=True),
    )
    session = http_session(script, TAXONOMY, config)
    session.driver._pause = waits.append
    session.record_results(provoke.limits(session))
    found = session.observations.outcomes
    (outcome,) = [one for one in found if one.clause == limit_scope.CLAUSE]
    return outcome


@pytest.mark.parametrize(
    ("scope", "counted"),
    [("caller", "caller"), ("tenant", "tenant"), ("tenant", "caller")],
)
def test_a_limit_that_keeps_to_its_scope_passes(scope: LimitScope, counted: str) -> None:
    """Nobody beyond the scope is refused; a narrower limit refuses fewer."""
    assert outcome_of(scope, counted).kind == "passed"


@pytest.mark.parametrize(
    ("scope", "counted"),
    [("caller", "tenant"), ("caller", "service"), ("tenant", "service")],
)
def test_a_limit_that_refuses_others_is_found(scope: LimitScope, counted: str) -> None:
    """A colleague, or another tenant, who sent one request is not refused."""
    assert outcome_of(scope, counted).kind == "failed"


def test_what_decides_nothing() -> None:
    """Without a declared scope, for a limit of all, after a single request, and where the other
    caller may not ask.
    """
    outcomes = (
        outcome_of(None, "service"),
        outcome_of("service", "service"),
        outcome_of("tenant", "tenant", limit=1),
        outcome_of("tenant", "service", denied="ben"),
    )
    assert {outcome.kind for outcome in outcomes} == {"not_exercised"}


@pytest.mark.parametrize("used", range(1, 7))
def test_a_limit_that_was_used_before_is_judged_after_the_wait(used: int) -> None:
    """Earlier requests hide no limit that all tenants share: it is exhausted again after the wait.
    A limit of each tenant passes, also if the outsider has used its own.
    """
    assert outcome_of("tenant", "service", used={"all": used}).kind == "failed"
    own = {"north": used, "south": used}
    assert outcome_of("tenant", "tenant", used=own).kind == "passed"
