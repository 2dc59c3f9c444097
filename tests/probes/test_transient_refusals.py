"""A failure that a service declares as passing decides nothing about an odd request."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import limits, routes
from faultspec_conformance.session.http import HttpSession
from probes.test_constraints import findings
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: busy, version: 1.0.0, title: Busy, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, message?: $message}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405, 406], retriable: false}
  malformed: {summary: Not valid, http: [400, 413, 414, 415], retriable: false}
  busy: {summary: Come again, http: 503, retriable: true, effect: none}
  broken: {summary: A mistake, http: [500, 503], retriable: false}
"""
READ: dict[str, Any] = {"get": {"responses": {"200": {"description": "the list"}}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Busy", "version": "1"},
    "paths": {"/tasks": READ},
}

Odd = Callable[[Request], bool]
PROBES = {
    "framework/oversized": (limits.long_requests, lambda request: len(request.target) > 1_000),
    "framework/unknown-route": (routes.unknown_routes, lambda request: request.target != "/tasks"),
}


def session_of(is_odd: Odd, failure: Response, *, failures: int) -> HttpSession:
    """Return a session with a service that answers so many odd requests with a failure, and any
    other as its document says.
    """
    seen: list[Request] = []

    def script(request: Request) -> Response:
        if is_odd(request):
            seen.append(request)
            if len(seen) <= failures:
                return failure
        if request.target.partition("?")[0] != "/tasks":
            found = answer(404, {"code": "absent"})
            return replace(found, body=b"") if request.method == "HEAD" else found
        return answer(200, [])

    config = ServiceConfig(limits=Limits(requests=300))
    return http_session(script, TAXONOMY, config, DOCUMENT)


BUSY = answer(503, {"code": "busy"}, Retry_After="1")
BROKEN = answer(503, {"code": "broken"})


@pytest.mark.parametrize("clause", PROBES)
def test_a_passing_failure_decides_nothing(clause: str) -> None:
    """A retriable code under 503 is asked for once more, and the next answer counts."""
    probe, is_odd = PROBES[clause]
    session = session_of(is_odd, BUSY, failures=1)
    assert findings(session, probe(session)) == set()


@pytest.mark.parametrize("clause", PROBES)
@pytest.mark.parametrize(("failure", "failures"), [(BUSY, 10**6), (BROKEN, 1)])
def test_a_failure_that_stays_is_found(clause: str, failure: Response, failures: int) -> None:
    """A service that answers every odd request so, or once with a code that no retry helps, reports
    an error of the caller as its own.
    """
    probe, is_odd = PROBES[clause]
    session = session_of(is_odd, failure, failures=failures)
    assert clause in {found for found, _ in findings(session, probe(session))}


def test_a_crash_at_a_long_query_is_found() -> None:
    """A crash is asked for nowhere again."""
    session = session_of(PROBES["framework/oversized"][1], answer(500, {}), failures=1)
    found = findings(session, limits.long_requests(session))
    assert "service/no-crash" in {clause for clause, _ in found}
