"""Requests that a limit refuses: they wait as long as the answer asks."""

from collections.abc import Sequence

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
headers: {Retry-After: {on: 429, presence: optional}}
codes: {limited: {summary: Too many requests, http: 429, retriable: true}}
"""


def session_with(statuses: Sequence[int], **headers: str) -> HttpSession:
    """A session with a service that gives these answers in turn."""
    left = list(statuses)

    def script(_: Request) -> Response:
        status = left.pop(0)
        return answer(status, {"code": "limited"} if status == 429 else {}, **headers)

    return http_session(script, TAXONOMY)


def verdicts(session: HttpSession) -> list[str]:
    """The verdicts about waits."""
    outcomes = session.observations.outcomes
    return [one.kind for one in outcomes if one.clause == "retry/recovers"]


@pytest.mark.parametrize("statuses", [[429, 200], [429, 429, 200]])
def test_a_wait_that_is_long_enough_passes(statuses: list[int]) -> None:
    """A second limit may refuse the request once more."""
    session = session_with(statuses, retry_after="1")
    assert session.call(RequestSpec("GET", "/x")).status == 200
    assert verdicts(session) == ["passed"]
    purposes = [entry.purpose for entry in session.driver.log]
    assert purposes == ["test", *["again"] * (len(statuses) - 1)]


def test_two_waits_in_vain_fail() -> None:
    """A service that refuses after each wait that it asked for asks for too little."""
    session = session_with([429, 429, 429], retry_after="1")
    with pytest.raises(Unanswered, match="limits the rate"):
        session.call(RequestSpec("GET", "/x"))
    assert verdicts(session) == ["failed"]


def test_without_a_stated_wait_nothing_is_concluded() -> None:
    """A 429 without `Retry-After` promises nothing."""
    session = session_with([429] * 4)
    with pytest.raises(Unanswered, match="without Retry-After"):
        session.call(RequestSpec("GET", "/x"))
    assert verdicts(session) == []


def test_a_wait_beyond_the_end_of_the_run_ends_the_probe() -> None:
    """A read that is repeated without its wait shows a write that is not yet stored as lost."""
    session = session_with([200, 200])
    read = session.call(RequestSpec("GET", "/x"))
    with pytest.raises(Unanswered, match="seconds left to wait") as caught:
        session.wait(session.driver.limits.seconds + 1, after=read)
    assert caught.value.no_answer.kind == "budget"
