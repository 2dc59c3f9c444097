"""Replays of refused creations: each test states a law about refusals, stored or retried."""

import json

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import idempotency, resources
from faultspec_conformance.results.model import Outcome
from support.scripted import Script, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {{name: shelf, version: 1.0.0, title: Shelf, owner: nobody}}
domains: {{request: What the caller can fix}}
envelopes:
  error: {{media_type: application/json, shape: {{code: $code}}, additional: forbid}}
surfaces:
  api: {{transport: http, match: {{routes: ["/**"]}}, error_when: {{status: [4xx, 5xx]}}, envelope: error, codes: closed}}
codes:
  absent: {{summary: Not there, domain: request, http: [404, 405], retriable: none, client_action: none, effect: none}}
  taken: {{summary: The name is taken, domain: request, http: 409, retriable: none, client_action: none, effect: none}}
idempotency: {{key: Idempotency-Key, methods: [POST], mismatch: unspecified, refusals: {refusals}}}
"""


def shelf(*, forgets: bool) -> Script:
    """A shelf of boxes with unique names. ``forgets``: refusals are not stored under their key."""
    boxes: dict[str, str] = {}
    answers: dict[str, Response] = {}

    def script(request: Request) -> Response:
        key = dict(request.headers).get("Idempotency-Key")
        number = request.target.removeprefix("/boxes/")
        if request.method == "DELETE":
            known = boxes.pop(number, None)
            return answer(204) if known else answer(404, {"code": "absent"})
        if request.method == "GET":
            return (
                answer(200, {"id": number}) if number in boxes else answer(404, {"code": "absent"})
            )
        if key in answers:
            return answers[key]
        name = json.loads(request.body)["name"]
        if name in boxes.values():
            found = answer(409, {"code": "taken"})
        else:
            boxes[f"box-number-{len(answers)}-{name}"] = name
            found = answer(201, {"id": f"box-number-{len(answers)}-{name}"})
        if key is not None and not (forgets and found.status == 409):
            answers[key] = found
        return found

    return script


def refusals(*, declared: str, forgets: bool, unique: bool = True) -> list[Outcome]:
    """The outcomes about replays of refusals."""
    box = ResourceConfig(
        "box",
        create=ConfiguredCall("POST", "/boxes", body={"name": "box-${unique}"}),
        read=ConfiguredCall("GET", "/boxes/{id}"),
        delete=ConfiguredCall("DELETE", "/boxes/{id}"),
        id="/id",
        unique=("name",) if unique else (),
    )
    config = ServiceConfig(resources={"box": box}, limits=Limits(writes=True))
    taxonomy = TAXONOMY.format(refusals=declared)
    session = http_session(shelf(forgets=forgets), taxonomy, config)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(idempotency.replays(session))
    return [
        outcome
        for outcome in session.observations.outcomes
        if outcome.clause == "idempotency/replay"
    ]


@pytest.mark.parametrize(
    ("declared", "forgets", "broken"),
    [
        ("stored", True, True),
        ("stored", False, False),
        ("retried", True, False),
        ("retried", False, True),
        ("unspecified", True, False),
        ("unspecified", False, False),
    ],
)
def test_only_a_stored_refusal_outlives_its_reason(
    declared: str, forgets: bool, broken: bool
) -> None:
    """If refusals are declared as stored, the replay of one is refused after its reason is gone; if
    they are retried, it succeeds. Without the declaration either is right.
    """
    found = refusals(declared=declared, forgets=forgets)
    assert any(outcome.kind == "failed" for outcome in found) == broken
    assert any(outcome.kind == "passed" for outcome in found)


def test_without_unique_values_no_refusal_can_be_replayed() -> None:
    """The reason names what the configuration lacks."""
    found = refusals(declared="stored", forgets=True, unique=False)
    assert any("no `unique` members" in outcome.reason for outcome in found)
    assert not any(outcome.kind == "failed" for outcome in found)
