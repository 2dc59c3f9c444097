"""Each documented bound is met once on each operation, by a request that differs from an accepted
one in that value alone.
"""

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes.constraints import constraints
from faultspec_conformance.session import sampling
from probes.test_constraints import DOCUMENT as DOCUMENT_OF_BODIES
from probes.test_constraints import SCHEMA, TAXONOMY, findings, problem_of, service, session_of
from support.scripted import ScriptedDriver, answer, http_session

OPTIONAL: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "note": {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]},
        "rate": {"type": "number", "exclusiveMinimum": 0, "maximum": 2.5, "multipleOf": 0.5},
        "big": {"type": "integer", "format": "int64"},
        "kinds": {
            "type": "array",
            "uniqueItems": True,
            "maxItems": 2,
            "items": {"enum": ["a", "b"]},
        },
        "id": {"type": "integer", "readOnly": True, "maximum": 5},
        "lines": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Line"}},
    },
}
DOCUMENT = {
    "components": {
        "schemas": {
            "Line": {
                "type": "object",
                "required": ["count"],
                "properties": {"count": {"type": "integer", "minimum": 2, "maximum": 4}},
            }
        }
    }
}


def bodies(schema: dict[str, Any], valid: object) -> list[tuple[sampling.ValueAtBound, object]]:
    """Return the values at the bounds of a schema, each with the body that has it."""
    source = sampling.ValueSource(DOCUMENT, Random(0))
    found = sampling.values_at_bounds(source, schema, valid)
    return [(one, one.put_into(valid)) for one in found]


@pytest.mark.parametrize(
    ("schema", "valid"),
    [
        (SCHEMA, {"name": "any", "count": 3, "tags": ["a"], "place": {"row": 1}}),
        (OPTIONAL, {"name": "any"}),
        (OPTIONAL, {"name": "any", "note": "n", "lines": [{"count": 3}]}),
    ],
)
def test_each_value_is_allowed(schema: dict[str, Any], valid: object) -> None:
    """Each body, and each with the next value within, is valid by JSON Schema; it differs from the
    base; no member is one that only the service sets.
    """
    whole = {**schema, **DOCUMENT}
    found = bodies(schema, valid)
    for one, body in found:
        assert problem_of(body, whole) is None, (one, body)
        assert body != valid
        assert "id" not in body  # type: ignore[operator]
        if one.neighbour is not None:
            assert problem_of(one.neighbour.put_into(valid), whole) is None, one


def test_every_kind_of_bound_is_met() -> None:
    """Lengths, ranges, steps, choices, null, empty texts, and optional members, at any depth."""
    valid = {"name": "any", "note": "n", "lines": [{"count": 3}]}
    found = [body for _, body in bodies(OPTIONAL, valid)]
    assert isinstance(found[0], dict)
    assert found[0].keys() == OPTIONAL["properties"].keys() - {"id"}
    for member in (
        {"note": None},
        {"note": ""},
        {"name": ""},
        {"rate": 2.5},
        {"big": 2**63 - 1},
        {"big": -(2**63)},
        {"kinds": ["a", "b"]},
        {"kinds": []},
        {"lines": [{"count": 2}]},
        {"lines": [{"count": 4}]},
    ):
        assert {**valid, **member} in found, member
    assert {"name": "any"} in found
    notes = [body["note"] for body in found if isinstance(body, dict) and "note" in body]
    assert any(isinstance(note, str) and len(note) == 9 for note in notes)


def test_a_text_that_the_schema_pins_down_keeps_its_form() -> None:
    """A length that the pattern or the format of a text leaves no room for is left out."""
    schema = {"type": "string", "pattern": "^[a-z]+-[0-9]+$", "maxLength": 1, "minLength": 1}
    assert bodies(schema, "a-1") == []
    dated = {"type": "string", "format": "date", "maxLength": 40}
    assert bodies(dated, "2024-02-29") == []


def refusing(*limits: int) -> Any:
    """Return a service that refuses these limits of a page, which its document allows."""

    def refuse(path: str, value: object) -> Response | None:
        refused = path == "/pages" and value in limits
        return answer(400, {"code": "malformed"}) if refused else None

    return service(refuse)


def test_a_bound_that_is_refused_is_a_warning() -> None:
    """A service that refuses a value at its bound and accepts the next one within warns; one that
    refuses both may have another reason.
    """
    session = session_of(refusing(50))
    found = findings(session, constraints(session))
    assert found == {("document/bounds", "GET /pages")}
    outcomes = [one.finding for one in session.observations.outcomes if one.finding is not None]
    assert [finding.level for finding in outcomes] == ["warning"]
    session = session_of(refusing(49, 50))
    assert findings(session, constraints(session)) == set()


@pytest.mark.parametrize(("field", "blamed"), [("sku", False), ("name", True), (None, True)])
def test_a_bound_is_not_blamed_for_another_input(field: str | None, blamed: bool) -> None:
    """A refusal of a body at a bound that names another input says nothing of the bound."""

    def refuse(path: str, value: object) -> Response | None:
        if path == "/first" and isinstance(value, dict) and len(str(value.get("name"))) == 60:
            details = {"code": "malformed"} | ({"field": field} if field else {})
            return answer(400, details)
        return None

    session = session_of(service(refuse))
    found = findings(session, constraints(session))
    assert (("document/bounds", "POST /first") in found) == blamed


def test_a_bound_is_not_blamed_beside_a_value_that_is_forbidden() -> None:
    """A refusal of a body whose configured text breaks its pattern says nothing of a bound."""

    def refuse(path: str, value: object) -> Response | None:
        long = isinstance(value, dict) and len(str(value.get("name"))) == 60
        if path == "/first" and isinstance(value, dict) and value.get("sku") == "wrong":
            return answer(400, {"code": "malformed"}) if long else answer(200, {})
        return None

    body = {"name": "any", "sku": "wrong"}
    create = ConfiguredCall("POST", "/first", body=body)
    config = ServiceConfig(
        limits=Limits(writes=True, requests=300),
        resources={"first": ResourceConfig("first", create=create)},
    )
    session = http_session(service(refuse), TAXONOMY, config, DOCUMENT_OF_BODIES)
    session.turn = session.kinds
    assert ("document/bounds", "POST /first") not in findings(session, constraints(session))


def test_each_request_has_one_value_at_a_bound() -> None:
    """Of the bodies that the service accepts none has two members at bounds, but for the one with
    all optional members; each has new texts.
    """
    session = session_of(service())
    session.record_results(constraints(session))
    assert isinstance(session.driver, ScriptedDriver)
    sent = [json.loads(request.body) for request in session.driver.sent if accepts(request)]
    assert len(sent) > 10
    for body in sent:
        ends = [
            len(body["name"]) in (2, 60),
            body.get("count") == 9,
            len(body.get("tags", [])) == 3,
        ]
        assert sum(ends) <= 1
    names = [body["name"] for body in sent]
    assert len(set(names)) == len(names)


def accepts(request: Request) -> bool:
    """Whether the request has a body that the schema allows."""
    if not request.body:
        return False
    return problem_of(json.loads(request.body), SCHEMA) is None


def test_a_write_gets_no_id_that_may_name_something() -> None:
    """The least number of an id is read, and never deleted."""
    where = {"name": "id", "in": "path", "required": True}
    number = {**where, "schema": {"type": "integer", "minimum": 1}}
    done = {"responses": {"200": {"description": "done"}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "House", "version": "1"},
        "paths": {"/rooms/{id}": {"parameters": [number], "get": done, "delete": done}},
    }
    session = session_of(lambda request: answer(200, {}), document)
    session.record_results(constraints(session))
    assert isinstance(session.driver, ScriptedDriver)
    assert [(one.method, one.target) for one in session.driver.sent] == [("GET", "/rooms/1")]


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("refuses", ["bounds", "nothing"])
def test_a_learned_description_promises_nothing(learned: bool, refuses: str) -> None:
    """A refusal of a value at its bound, and the acceptance of one beyond, is a finding where a
    document says so, and none where its text was made from answers.
    """

    def script(request: Request) -> Response:
        value = request.target.partition("=")[2]
        at_bound = refuses == "bounds" and value in ("1", "50")
        return answer(400, {"code": "malformed"}) if at_bound else answer(200, {"done": True})

    session = session_of(script)
    session.description = replace(session.description, learned=learned)
    found = {clause for clause, at in findings(session, constraints(session)) if at == "GET /pages"}
    expected = {"document/bounds", "framework/invalid-input"}
    if refuses == "nothing":
        expected -= {"document/bounds"}
    assert found == (set() if learned else expected)
