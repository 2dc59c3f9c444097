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


def parts(change: Change, *, moving: bool = False, racing: bool = False) -> Script:
    """Return a store of parts. ``change``: what a stale write does to a part, whose ETag stays.

    ``moving``: a part counts its reads. ``racing``: the fourth change is accepted whatever its tag
    is, as if it came at the same time as the third.
    """
    kept: dict[str, dict[str, Any]] = {}
    versions: dict[str, int] = {}
    ticks, tries = count(), count(1)

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
            if tag != f'"{versions[name]}"' and not (next(tries) >= 2 and racing):
                change(part)
                return answer(412, {"code": "stale"})
            part |= json.loads(request.body)
            versions[name] += 1
        views = {"views": next(ticks)} if moving else {}
        return answer(200, part | views, etag=f'"{versions[name]}"')

    return script


def outcomes(
    script: Script, qty: object = "${unique:int}", **others: object
) -> list[tuple[str, str]]:
    """Return the clauses and kinds of the outcomes about stale writes. ``qty``: what a change
    sends, beside ``others``; a creation sends 5 and "old" for each of those.
    """
    part = ResourceConfig(
        "part",
        create=ConfiguredCall("POST", "/parts", body={"qty": 5, **dict.fromkeys(others, "old")}),
        read=ConfiguredCall("GET", "/parts/{id}"),
        update=ConfiguredCall("PATCH", "/parts/{id}", body={"qty": qty, **others}),
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
        ("preconditions/concurrent", "passed"),
    ]


def test_what_changes_once_by_itself_is_not_blamed() -> None:
    """A member that the write does not send, and that changes once, is not its effect."""
    assert outcomes(parts(lambda part: part.update(state="ready"))) == [
        ("preconditions/stale", "passed"),
        ("preconditions/recovers", "passed"),
        ("preconditions/concurrent", "passed"),
    ]


@pytest.mark.parametrize(("racing", "kind"), [(True, "failed"), (False, "passed")])
def test_of_two_changes_at_once_one_is_refused(racing: bool, kind: str) -> None:
    """Two different changes at once with one validator fail if both are accepted."""
    assert outcomes(parts(lambda part: None, racing=racing)) == [
        ("preconditions/stale", "passed"),
        ("preconditions/recovers", "passed"),
        ("preconditions/concurrent", kind),
    ]


def test_alike_changes_at_once_are_not_sent() -> None:
    """Two changes that are alike may both be accepted (RFC 9110, 13.1.1)."""
    assert outcomes(parts(lambda part: None, racing=True), 6) == [
        ("preconditions/stale", "passed"),
        ("preconditions/recovers", "passed"),
    ]


@pytest.mark.parametrize(("racing", "kind"), [(True, "failed"), (False, "passed")])
def test_values_of_the_creation_make_changes_differ(racing: bool, kind: str) -> None:
    """A configured update without new values is sent as two: each member as it was created."""
    found = outcomes(parts(lambda part: None, racing=racing), 6, colour="new")
    assert found[2:] == [("preconditions/concurrent", kind)]


@pytest.mark.parametrize(("careless", "kind"), [(True, "failed"), (False, "passed")])
def test_a_stale_deletion_is_tried_on_what_nothing_refers_to(careless: bool, kind: str) -> None:
    """An item that is in use is refused for that; a new one shows whether the tag counts."""
    kept: dict[str, dict[str, Any]] = {}
    change = parts(lambda part: None)

    def script(request: Request) -> Any:
        name = request.target.removeprefix("/parts").removeprefix("/")
        made = change(request)
        if request.method == "POST":
            kept[json.loads(made.body)["id"]] = {}
        if request.method != "DELETE" or name not in kept:
            return made
        if not careless:
            return answer(412, {"code": "stale"})
        if name == "part-0":  # what others refer to
            return answer(409, {"code": "used"})
        return answer(204)

    taxonomy = TAXONOMY + "  used: {summary: In use, http: 409, retriable: false}\n"
    part = ResourceConfig(
        "part",
        create=ConfiguredCall("POST", "/parts", body={"qty": 5}),
        read=ConfiguredCall("GET", "/parts/{id}"),
        delete=ConfiguredCall("DELETE", "/parts/{id}"),
        id="/id",
    )
    config = ServiceConfig(resources={"part": part}, limits=Limits(writes=True))
    session = http_session(script, taxonomy, config)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(concurrency.stale_writes(session))
    found = [
        one.kind for one in session.observations.outcomes if one.clause == "preconditions/stale"
    ]
    assert kind in found


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("careless", [True, False])
def test_a_write_without_its_required_validator_is_found(
    method: str, *, required: bool, careless: bool
) -> None:
    """Where the document requires `If-Match` and 428 is declared, a write that succeeds without it
    fails; where the header is optional, it may be left out.
    """
    store = parts(lambda part: None)

    def script(request: Request) -> Any:
        if request.method == method and "If-Match" not in dict(request.headers):
            return answer(200, {}) if careless else answer(428, {"code": "bare"})
        if request.method == "DELETE":
            return answer(412, {"code": "stale"})
        return store(request)

    part = ResourceConfig(
        "part",
        create=ConfiguredCall("POST", "/parts", body={"qty": 5}),
        read=ConfiguredCall("GET", "/parts/{id}"),
        update=ConfiguredCall("PATCH", "/parts/{id}", body={"qty": "${unique:int}"}),
        delete=ConfiguredCall("DELETE", "/parts/{id}"),
        id="/id",
    )
    header = {
        "name": "If-Match",
        "in": "header",
        "required": required,
        "schema": {"type": "string"},
    }
    done = {"responses": {"200": {"description": "done"}}}
    body = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}
    item = {"get": done, method.lower(): {**done, **body, "parameters": [header]}}
    document = {"openapi": "3.1.0", "paths": {"/parts": {"post": {**done, **body}}}}
    document["paths"]["/parts/{id}"] = item  # type: ignore[index]
    taxonomy = TAXONOMY + "  bare: {summary: No validator, http: 428, retriable: false}\n"
    config = ServiceConfig(resources={"part": part}, limits=Limits(writes=True))
    session = http_session(script, taxonomy, config, document)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(concurrency.stale_writes(session))
    found = [one.finding for one in session.observations.outcomes if one.finding is not None]
    absent = [one for one in found if one.variant == "absent"]
    assert bool(absent) is (required and careless)
    assert bool(found) is (required and careless)
