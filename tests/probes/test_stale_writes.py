"""Stale writes: what they changed is found, whether or not the ETag shows it."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from faultspec.exchange.model import Request
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import concurrency, resources
from support.scripted import Script, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shelf, version: 1.0.0, title: Shelf, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  stale: {summary: It has changed, http: 412, retriable: false}
"""

Change = Callable[[dict[str, Any]], object]


def parts(change: Change, *, moving: bool = False) -> Script:
    """Return a store of parts. ``change``: what a stale write does to a part, whose ETag stays.

    ``moving``: a part counts its reads.
    """
    kept: dict[str, dict[str, Any]] = {}
    versions: dict[str, int] = {}
    ticks = count()

    def script(request: Request) -> Any:
        name = request.target.removeprefix("/parts").removeprefix("/")
        if request.method == "POST":
            name = f"part-{len(kept)}"
            kept[name] = {**json.loads(request.body), "id": name}
            versions[name] = 1
            return answer(201, kept[name], etag='"1"')
        if name not in kept:
            return answer(404, {"code": "absent"})
        part, tag = kept[name], dict(request.headers).get("If-Match")
        if request.method == "PATCH":
            if tag != f'"{versions[name]}"':
                change(part)
                return answer(412, {"code": "stale"})
            part |= json.loads(request.body)
            versions[name] += 1
        views = {"views": next(ticks)} if moving else {}
        return answer(200, part | views, etag=f'"{versions[name]}"')

    return script


def outcomes(script: Script) -> list[tuple[str, str]]:
    """Return the clauses and kinds of the outcomes about stale writes."""
    part = ResourceConfig(
        "part",
        create=ConfiguredCall("POST", "/parts", body={"qty": 5}),
        read=ConfiguredCall("GET", "/parts/{id}"),
        update=ConfiguredCall("PATCH", "/parts/{id}", body={"qty": 6}),
        id="/id",
    )
    config = ServiceConfig(resources={"part": part}, limits=Limits(writes=True))
    session = http_session(script, TAXONOMY, config)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(concurrency.stale_writes(session))
    return [
        (one.clause, one.kind)
        for one in session.observations.outcomes
        if one.clause.startswith("preconditions/")
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda part: part.update(qty=part["qty"] + 1),
        lambda part: part.update(tries=part.get("tries", 0) + 1),
    ],
)
def test_a_stale_write_that_keeps_the_etag_is_found(change: Change) -> None:
    """A write that is refused with 412 and changes a member fails, even if the ETag stays."""
    assert outcomes(parts(change)) == [("preconditions/stale", "failed")]


@pytest.mark.parametrize("moving", [False, True])
def test_what_changes_with_every_read_is_not_blamed(moving: bool) -> None:
    """A refused write that changes nothing passes, even if the resource counts its reads."""
    assert outcomes(parts(lambda part: None, moving=moving)) == [
        ("preconditions/stale", "passed"),
        ("preconditions/recovers", "passed"),
    ]


def test_what_changes_once_by_itself_is_not_blamed() -> None:
    """A member that the write does not send, and that changes once, is not its effect."""
    assert outcomes(parts(lambda part: part.update(state="ready"))) == [
        ("preconditions/stale", "passed"),
        ("preconditions/recovers", "passed"),
    ]
