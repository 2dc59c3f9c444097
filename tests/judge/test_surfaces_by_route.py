"""Laws of surfaces that are declared by their routes: each of them has the meaning of a status."""

import json

import pytest

from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec_conformance.session.observation import stream_errors
from judge.test_judge import broken, exchange, of

BATCH = """
envelopes: {error: {shape: {code: $code}}}
surfaces:
  batch:
    {transport: http, match: {routes: [POST /b]}, envelope: error,
     items: /items, body: /error, mixed_only: true}
  api: {transport: http, envelope: error}
codes: {bad: {summary: Bad., http: 422}}
"""
STREAM = """
envelopes: {error: {shape: {code: $code}}}
surfaces:
  frames:
    {transport: stream, match: {routes: [GET /frames], statuses: 200}, envelope: error,
     error_when: {present: /code}}
  api: {transport: http, envelope: error}
codes: {cut: {summary: Cut., http: 500}}
"""
GOOD, FAILED = {"status": 201}, {"status": 422, "error": {"code": "bad"}}


def test_the_whole_refusal_of_a_batch_is_an_error() -> None:
    """4xx and 5xx are errors on every surface over HTTP, also where its successes are batches."""
    found = judge(of(BATCH), exchange(422, {"code": "bad"}, request="POST /b"))
    assert (found.is_error, found.code, broken(found)) == (True, "bad", {})
    odd = judge(of(BATCH), exchange(409, {"code": "bad"}, request="POST /b"))
    assert "code/status" in broken(odd)


@pytest.mark.parametrize("items", [[GOOD], [FAILED], [GOOD, FAILED], []])
def test_multi_status_alone_is_for_outcomes_that_differ(items: list[object]) -> None:
    """A 201 of a batch may have outcomes that are alike. Where a surface names its statuses, these
    are its multi-status.
    """
    alike = len({json.dumps(item) for item in items}) < 2
    for status, match, is_judged in (
        (201, "routes: [POST /b]", False),
        (207, "routes: [POST /b]", True),
        (200, "statuses: 200", True),
    ):
        contract = of(BATCH.replace("routes: [POST /b]", match))
        found = judge(contract, exchange(status, {"items": items}, request="POST /b"))
        assert ("batch/mixed-only" in broken(found)) is (alike and is_judged)


def test_the_events_of_a_stream_have_no_status() -> None:
    """A surface of a stream sees its events, also if it names the status of the stream's answer."""
    body = b'event: error\ndata: {"code": "cut"}\n\n'
    stream = Exchange(
        Request("GET", "/frames", ()), Response(200, (("Content-Type", "text/event-stream"),), body)
    )
    (event,) = stream_errors(stream, frozenset())
    found = judge(of(STREAM), event)
    assert (found.surface, found.code, found.is_error) == ("frames", "cut", True)
