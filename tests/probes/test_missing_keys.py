"""A write without its idempotency key: what the taxonomy declares decides what is right."""

import json
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import missing_keys, resources
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: tools, version: 1.0.0, title: Tools, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx]}, envelope: error}}
codes:
  absent: {summary: Not there, http: 404, retriable: false}
  invalid: {summary: Not valid, http: 400, retriable: false}
  keyless: {summary: No key, http: 400, retriable: false}
idempotency: {key: Idempotency-Key, methods: [POST], missing: MISSING}
"""
TEXT = {"type": "string"}
NEW = {"type": "object", "required": ["name"], "properties": {"name": TEXT}}
OK = {"responses": {"200": {"description": "done"}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/tools": {
            "post": {
                "responses": {"201": {"description": "done"}},
                "requestBody": {"content": {"application/json": {"schema": NEW}}},
            },
        },
        "/tools/{id}": {"get": OK},
    },
}


def verdicts(missing: str, refusal: str | None, *, always: bool = False) -> list[str]:
    """Return the kinds of the outcomes. ``refusal``: the code of a write without its key; None
    accepts it. ``always``: after the first tool any is refused.
    """
    kept: list[object] = []

    def script(request: Request) -> Response:
        if request.method == "GET":
            return answer(200, {"id": "tool-1"})
        keyed = "Idempotency-Key" in dict(request.headers)
        if refusal is not None and (not keyed or (always and kept)):
            return answer(400, {"code": refusal})
        kept.append(json.loads(request.body))
        return answer(201, {"id": f"tool-{len(kept)}"})

    config = ServiceConfig(limits=Limits(writes=True))
    text = TAXONOMY.replace("MISSING", missing)
    session = http_session(script, text, config, document=DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(missing_keys.missing_keys(session))
    outcomes = session.observations.outcomes
    return [one.kind for one in outcomes if one.clause == missing_keys.CLAUSE]


@pytest.mark.parametrize(
    ("missing", "refusal", "kind"),
    [
        ("keyless", "keyless", "passed"),
        ("keyless", None, "failed"),
        ("keyless", "invalid", "failed"),
        ("accepted", None, "passed"),
        ("accepted", "keyless", "failed"),
    ],
)
def test_the_answer_is_the_declared_one(missing: str, refusal: str | None, kind: str) -> None:
    """A required key is asked for with its code, and an optional one is not asked for."""
    assert verdicts(missing, refusal) == [kind]


def test_a_write_that_is_refused_with_a_key_too_decides_nothing() -> None:
    """The refusal of a write is not about its key if the write with a key is refused too."""
    assert verdicts("accepted", "invalid", always=True) == ["not_exercised"]


def test_nothing_is_sent_where_nothing_is_declared() -> None:
    """A taxonomy that leaves open what a missing key gets is not judged by it."""
    assert verdicts("unspecified", None) == []


STATE = "codes:\n  state: {summary: Wrong state, http: 409, retriable: false}"
ACTIONS = TAXONOMY.replace("codes:", STATE)
KEY = {"name": "Idempotency-Key", "in": "header", "schema": TEXT}
ACTION_DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        **DOCUMENT["paths"],
        "/tools/{id}/lend": {"post": {"parameters": [KEY], **OK}},
    },
}


def verdicts_of_actions(*, needs_key: bool, is_open: bool = True) -> list[str]:
    """Return the kinds of the outcomes about an action that succeeds once for each tool, the first
    of which is lent already. ``is_open``: a new tool may be lent.
    """
    lent, made = {"tool-1"}, ["tool"]

    def script(request: Request) -> Response:
        if request.method == "GET":
            return answer(200, {"id": "tool-1"})
        if not request.target.endswith("/lend"):
            made.append("tool")
            return answer(201, {"id": f"tool-{len(made) - 1}"})
        tool = request.target.split("/")[-2]
        keyed = "Idempotency-Key" in dict(request.headers)
        if tool in lent or not is_open or (needs_key and not keyed):
            return answer(409, {"code": "state"})
        lent.add(tool)
        return answer(200, {"id": tool})

    config = ServiceConfig(limits=Limits(writes=True))
    text = ACTIONS.replace("MISSING", "accepted")
    session = http_session(script, text, config, document=ACTION_DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(missing_keys.missing_keys(session))
    outcomes = session.observations.outcomes
    return [one.kind for one in outcomes if one.clause == missing_keys.CLAUSE]


@pytest.mark.parametrize(
    ("needs_key", "is_open", "kind"),
    [(False, True, "passed"), (True, True, "failed"), (False, False, "not_exercised")],
)
def test_an_action_that_succeeds_once_is_compared_on_new_items(
    needs_key: bool, is_open: bool, kind: str
) -> None:
    """A refusal because of what happened to the item before is not about the key: the action is
    tried on a new item without the key, and on another one with it.
    """
    assert verdicts_of_actions(needs_key=needs_key, is_open=is_open) == [kind]
