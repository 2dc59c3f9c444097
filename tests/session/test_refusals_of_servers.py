"""Refusals that a server may give before its application sees a request."""

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes:
  unreadable: {summary: Not readable, http: 400, retriable: false}
privacy: {detectors: [stack-trace]}
"""

TRACE = 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in f\nKeyError: 1'


def text(status: int, body: str) -> Response:
    """An answer in plain text."""
    return Response(status, (("Content-Type", "text/plain"),), body.encode())


#: An envelope with the correlation id of the request.
ECHO = """
envelopes:
  error:
    media_type: application/json
    shape: {code: $code, id?: $id}
    fields: {id: {type: string, format: uuid4, echo: X-Id}}
"""


def asked(response: Response, taxonomy: str = TAXONOMY) -> HttpSession:
    """The session after one request that the server may refuse."""

    def script(_: Request) -> Response:
        return response

    session = http_session(script, taxonomy)
    spec = RequestSpec("GET", "/x?limit=%zz", server_may_refuse=True, correlation="valid")
    session.call(spec)
    return session


@pytest.mark.parametrize("status", [400, 414, 431, 501])
def test_a_refusal_of_the_server_is_not_judged(status: int) -> None:
    """No application can give it a form."""
    session = asked(text(status, "Bad Request"))
    assert session.observations.exchanges == []
    assert [entry.status for entry in session.driver.log] == [status]


def test_a_hook_of_the_server_cannot_read_the_id() -> None:
    """An error in the declared form, without the id of the request, may come from such a hook."""
    plain = "envelopes: {error: {media_type: application/json, shape: {code: $code}}}"
    session = asked(answer(431, {"code": "unreadable"}), TAXONOMY.replace(plain, ECHO))
    assert session.echo is not None
    assert session.observations.exchanges == []


@pytest.mark.parametrize(
    ("response", "clause"),
    [
        (text(500, "Internal Server Error"), "service/no-crash"),
        (text(502, "Bad Gateway"), "surface/known"),
        (text(400, TRACE), "leaks/stack-trace"),
        (answer(422, {"code": "unreadable"}), "code/status"),
    ],
)
def test_a_failure_of_the_application_is_not_excused(response: Response, clause: str) -> None:
    """A crash, a stack trace and an error with a code are the application's, also for a target that
    a server may refuse.
    """
    session = asked(response)
    (observation,) = session.observations.exchanges
    found = {finding.clause for finding in observation.judgement.findings}
    assert clause in found or (clause == "surface/known" and found)
