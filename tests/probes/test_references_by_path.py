"""References of errors to resources by a path or a URL, in place of an id."""

import json

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources
from faultspec_conformance.probes.references import http_references
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import Script, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: shelf, version: 1.0.0}
detail_keys: {existing: {type: string, refers_to: resource}}
envelopes: {error: {shape: {code: $code, "details?": $details}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}
codes:
  absent: {summary: Not there., http: [404, 405], retriable: false}
  taken: {summary: The name is taken., http: 409, retriable: false, details: {existing: {}}}
"""


def shelf(named: str) -> Script:
    """A shelf of boxes with unique names. ``named``: what a refusal names as the existing box."""
    boxes: dict[str, str] = {}

    def script(request: Request) -> Response:
        number = request.target.removeprefix("/boxes/")
        if request.method == "POST" and number == "bulk-delete":
            return answer(200, [boxes.pop(one) for one in json.loads(request.body)["ids"]])
        if request.method == "POST":
            name = json.loads(request.body)["name"]
            there = next((one for one, other in boxes.items() if other == name), None)
            if there is not None:
                details = {"existing": named.replace("ID", there)}
                return answer(409, {"code": "taken", "details": details})
            number = f"box-{len(boxes)}-{name}"
            boxes[number] = name
            return answer(201, {"id": number})
        if number not in boxes:
            return answer(404, {"code": "absent"})
        if request.method == "DELETE":
            boxes.pop(number)
            return answer(204)
        return answer(200, {"id": number, "name": boxes[number]})

    return script


BOX = ResourceConfig(
    "box",
    create=ConfiguredCall("POST", "/boxes", body={"name": "box-${unique}"}),
    read=ConfiguredCall("GET", "/boxes/{id}"),
    delete=ConfiguredCall("DELETE", "/boxes/{id}"),
    id="/id",
    unique=("name",),
)
CONFIG = ServiceConfig(resources={"box": BOX}, limits=Limits(writes=True))


@pytest.mark.parametrize(
    ("named", "verdict"),
    [
        ("ID", "passed"),
        ("/boxes/ID", "passed"),
        ("http://scripted.example/boxes/ID", "passed"),
        ("/boxes/box-none", "failed"),
        ("/ID", "failed"),
        ("http://elsewhere.example/boxes/ID", "failed"),
    ],
)
def test_a_refusal_names_what_exists_by_id_or_path(named: str, verdict: str) -> None:
    """A path or a URL of the service leads to the item as its id does; one that leads nowhere, or
    to another service, does not.
    """
    session = http_session(shelf(named), TAXONOMY, CONFIG)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(resources.duplicates(session))
    kinds = [
        one.kind for one in session.observations.outcomes if one.clause == "duplicates/existing-id"
    ]
    assert set(kinds) == {verdict}


@pytest.mark.parametrize(
    ("removal", "kind"),
    [
        (None, "passed"),
        (RequestSpec("DELETE", "/boxes/{id}"), "not_exercised"),
        (RequestSpec("POST", "/boxes/bulk-delete"), "not_exercised"),
    ],
)
def test_what_the_run_removed_later_is_not_missing(removal: RequestSpec | None, kind: str) -> None:
    """A reference is followed at the end of a run. An item that the run deleted since is not one
    that the error named in vain.
    """
    session = http_session(shelf("/boxes/ID"), TAXONOMY, CONFIG)
    twice = [session.call(RequestSpec("POST", "/boxes", body={"name": "a"})) for _ in range(2)]
    assert [one.status for one in twice] == [201, 409]
    if removal is not None:
        number = "box-0-a"
        body = {"ids": [number]} if removal.method == "POST" else None
        session.call(
            RequestSpec(removal.method, removal.template, values={"id": number}, body=body)
        )
    session.record_results(http_references(session))
    found = [one.kind for one in session.observations.outcomes if one.clause == "references/exist"]
    assert found == [kind]


def test_what_was_gone_before_is_missing() -> None:
    """An error that names what was deleted before it leads nowhere."""
    session = http_session(shelf("/boxes/box-0-old"), TAXONOMY, CONFIG)
    for name in ("old", "a"):
        session.call(RequestSpec("POST", "/boxes", body={"name": name}))
    session.call(RequestSpec("DELETE", "/boxes/{id}", values={"id": "box-0-old"}))
    session.call(RequestSpec("POST", "/boxes", body={"name": "a"}))
    session.record_results(http_references(session))
    found = [one.kind for one in session.observations.outcomes if one.clause == "references/exist"]
    assert found == ["failed"]


@pytest.mark.parametrize("value", ["http://[", "http://a]b/", "//[", "/boxes/%"])
def test_a_reference_that_is_not_a_url_is_judged(value: str) -> None:
    """It leads nowhere, and ends no probe."""
    taxonomy = TAXONOMY.replace("refers_to: resource", "refers_to: url")
    session = http_session(shelf(value), taxonomy, CONFIG)
    for name in ("a", "a"):
        session.call(RequestSpec("POST", "/boxes", body={"name": name}))
    session.record_results(http_references(session))
    found = [one.kind for one in session.observations.outcomes if one.clause == "references/exist"]
    assert found == ["failed"]
