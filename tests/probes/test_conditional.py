"""A read of what the caller has already: 304 with the headers of the 200, or the whole again."""

from collections.abc import Callable

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.probes.conditional import conditional_reads
from faultspec_conformance.session.http import HttpSession
from support.scripted import ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shelf, version: 1.0.0, title: Shelf, owner: nobody}
profile: rfc9110
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes: {absent: {summary: Not there, http: 404, retriable: false}}
"""
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Shelf", "version": "1"},
    "paths": {"/books": {"get": {"responses": {"200": {"description": "books"}}}}},
}
SINCE = "Mon, 23 Nov 2026 15:00:00 GMT"
HEADERS = {"ETag": '"v1"', "Last_Modified": SINCE, "Vary": "Accept", "Date": SINCE}
KEPT = {"ETag": '"v1"', "Vary": "Accept", "Date": SINCE}


def sent(request: Request, name: str) -> str | None:
    """Return the value of a request header."""
    return next((value for key, value in request.headers if key == name), None)


def judged(again: Callable[[Request], Response | None]) -> tuple[HttpSession, list[str]]:
    """Return a session with a service, and the pointers of what it does wrong. ``again``: the
    answer to a request with a condition; None: the whole.
    """

    def script(request: Request) -> Response:
        conditional = sent(request, "If-None-Match") or sent(request, "If-Modified-Since")
        return (again(request) if conditional else None) or answer(200, [], **HEADERS)

    session = http_session(script, TAXONOMY, document=DOCUMENT)
    session.record_results(conditional_reads(session))
    found = [one.finding for one in session.observations.outcomes if one.finding is not None]
    assert {finding.clause for finding in found} <= {"http/not-modified"}
    return session, [finding.pointer or finding.message for finding in found]


def unchanged(request: Request, **headers: str) -> Response | None:
    """Return a 304 if the caller has the current representation."""
    current = sent(request, "If-None-Match") in (None, '"v1"')
    return answer(304, None, **headers) if current else None


def test_a_304_with_the_headers_of_the_200_is_right() -> None:
    """Both conditions are asked with GET and HEAD, and an ETag that the service never gave."""
    session, found = judged(lambda request: unchanged(request, **KEPT))
    assert found == []
    assert isinstance(session.driver, ScriptedDriver)
    methods = [request.method for request in session.driver.sent]
    assert methods == ["GET", "GET", "HEAD", "GET", "HEAD", "GET"]
    passed = [one for one in session.observations.outcomes if one.kind == "passed"]
    assert len(passed) == 4


def test_a_service_that_always_sends_the_whole_is_right() -> None:
    """A 200 in place of a 304 breaks nothing, and passes nothing."""
    session, found = judged(lambda request: None)
    assert found == []
    assert {one.kind for one in session.observations.outcomes} == {"not_exercised"}


@pytest.mark.parametrize("name", list(KEPT))
def test_a_header_that_the_304_lacks_is_found(name: str) -> None:
    """Each header of the 200 that RFC 9110 names must be in the 304."""
    kept = {key: value for key, value in KEPT.items() if key != name}
    _, found = judged(lambda request: unchanged(request, **kept))
    assert set(found) == {name}


def test_a_304_for_another_copy_is_found() -> None:
    """A 304 to an ETag that the service never gave, or with another ETag, keeps an old copy."""
    _, found = judged(lambda request: answer(304, None, **KEPT))
    assert any("never gave" in one for one in found)
    _, found = judged(lambda request: unchanged(request, **{**KEPT, "ETag": '"v2"'}))
    assert set(found) == {"ETag"}
    _, found = judged(lambda request: unchanged(request, **{**KEPT, "ETag": 'W/"v1"'}))
    assert found == []


def test_a_read_is_never_refused_for_its_condition() -> None:
    """412 is for writes alone."""
    _, found = judged(lambda request: answer(412, {"code": "absent"}))
    assert len(found) == 4
