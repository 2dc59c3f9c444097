"""The correlation id of a request comes back where the envelope of the answer declares it."""

from collections.abc import Mapping

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: jobs, version: 1.0.0, title: Jobs, owner: nobody}
envelopes:
  error: {shape: {code: $code, trace: $request_id}, fields: {request_id: {type: string, echo: X-Trace}}}
  outcome: {shape: {code: $code, trace: $request_id}, fields: {request_id: {type: string}}}
  other: {shape: {code: $code, own: $own_id}, fields: {own_id: {type: string, echo: X-Trace}}}
surfaces:
  jobs: {transport: http, match: {routes: [/jobs], statuses: 200}, error_when: {present: /error}, at: /error, envelope: outcome, codes: closed}
  others: {transport: http, match: {routes: [/others]}, envelope: other, codes: closed}
  api: {transport: http, match: {routes: ["/**"]}, envelope: error, codes: closed}
codes:
  lost: {summary: It failed., http: [200, 500], retriable: false}
"""

Members = Mapping[str, object]


def decided(path: str, members: Members, correlation: str, **headers: str) -> set[tuple[str, str]]:
    """Return the clauses about the id of one request and their outcomes."""

    def script(request: Request) -> Response:
        error = {"code": "lost", **members}
        if path == "/jobs":
            return answer(200, {"error": error}, **headers)
        return answer(500, error, **headers)

    session = http_session(script, TAXONOMY)
    session.call(RequestSpec("GET", path, correlation=correlation))
    outcomes = session.observations.outcomes
    return {(one.clause, one.kind) for one in outcomes if one.clause.startswith("correlation/")}


@pytest.mark.parametrize("correlation", ["valid", "none"])
def test_an_envelope_without_an_echo_may_have_an_id_of_its_own(correlation: str) -> None:
    """The id of a failure in an envelope whose field has no `echo` is not that of the request."""
    assert decided("/jobs", {"trace": "an-own-id"}, correlation) == set()
    assert decided("/jobs", {}, correlation) == set()


@pytest.mark.parametrize(("path", "member"), [("/errors", "trace"), ("/others", "own")])
def test_an_envelope_with_an_echo_returns_the_id(path: str, member: str) -> None:
    """An envelope whose field has `echo` returns the id, under the name that the slot has there."""
    assert decided(path, {member: "another"}, "valid") == {("correlation/echo", "failed")}
    assert decided(path, {member: "new"}, "none") == {("correlation/generated", "passed")}
    assert decided(path, {}, "none") == {("correlation/generated", "failed")}


def test_a_header_returns_the_id_beside_any_envelope() -> None:
    """A header with another id fails, also beside an envelope without `echo`."""
    members = {"trace": "an-own-id"}
    wrong = decided("/jobs", members, "valid", x_trace="another")
    assert wrong == {("correlation/echo", "failed")}
