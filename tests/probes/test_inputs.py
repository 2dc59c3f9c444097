"""Requests of the suite: examples as they are, new values, malformed targets, confidential
members.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import (
    ConfiguredCall,
    Recipe,
    ResourceConfig,
    SavedPart,
    ServiceConfig,
    Step,
)
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import confidential, malformed_targets, media, provoke, resources
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.configured import fill_in_call
from faultspec_conformance.session.fixtures import fixture, make, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import wire_request
from support.scripted import ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: house, version: 1.0.0, title: House, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, message?: $message}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  taken: {summary: It exists, http: 409, retriable: false}
  malformed: {summary: Unreadable, http: [400, 415, 422], retriable: false}
"""

WRITES = Limits(writes=True)
TEXT = {"type": "string"}
Script = Callable[[Request], Response]


def operation(body: object = None, *parameters: Mapping[str, Any], status: str = "201") -> Any:
    """Return an operation of a document."""
    found: dict[str, Any] = {
        "parameters": list(parameters),
        "responses": {status: {"description": "made"}},
    }
    if body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": body}}
    return found


def document(**paths: Any) -> Mapping[str, Any]:
    """Return a document; `_` in a name stands for `/`, and `ID` for a placeholder."""
    named = {
        f"/{name.replace('_', '/').replace('ID', '{id}')}": each for name, each in paths.items()
    }
    return {"openapi": "3.1.0", "info": {"title": "House", "version": "1"}, "paths": named}


def session_of(
    script: Script,
    described: Mapping[str, Any] | None = None,
    taxonomy: str = TAXONOMY,
    **config: Any,
) -> HttpSession:
    """Return a session with a scripted service."""
    whole = ServiceConfig(**{"limits": WRITES, "http": "http://127.0.0.1:8080", **config})
    session = http_session(script, taxonomy, whole, described)
    session.turn = session.kinds
    return session


def sent(session: HttpSession, method: str, path: str) -> list[Any]:
    """Return the bodies of the requests to a path."""
    assert isinstance(session.driver, ScriptedDriver)
    return [
        json.loads(request.body or b"null")
        for request in session.driver.sent
        if (request.method, request.target.partition("?")[0]) == (method, path)
    ]


def failures(session: HttpSession, results: Any) -> set[str]:
    """Return the clauses that fail by the results of a probe or by its answers."""
    session.record_results(results)
    answers = (one for seen in session.observations.exchanges for one in seen.judgement.findings)
    outcomes = (each.finding for each in session.observations.outcomes if each.finding is not None)
    return {finding.clause for finding in (*answers, *outcomes)}


# ---- examples of the document

BOOKING = {"room_id": "blue", "note": "for two", "guests": 2}
ITEM = {"get": operation(status="200")}


def bookings(example: object = BOOKING) -> Mapping[str, Any]:
    """Return a document with bookings of rooms."""
    properties = {"room_id": TEXT, "note": TEXT, "guests": {"type": "integer"}}
    schema = {"type": "object", "required": ["room_id", "note"], "properties": properties}
    body = {"schema": schema, **({"example": example} if example else {})}
    rooms = operation({"schema": {"type": "object", "properties": {"name": TEXT}}})
    return document(
        bookings={"post": operation(body)}, bookings_ID=ITEM, rooms={"post": rooms}, rooms_ID=ITEM
    )


def house(knows: Callable[[Any], int]) -> Script:
    """Return a service that makes rooms, and bookings with the status that ``knows`` returns."""
    made: list[Any] = []

    def script(request: Request) -> Response:
        if request.target == "/rooms":
            return answer(201, {"id": "room-77"})
        body = json.loads(request.body or b"null")
        status = knows(body)
        made.append(body)
        codes = {404: "absent", 409: "taken", 422: "malformed"}
        return answer(status, {"id": len(made)} if status == 201 else {"code": codes[status]})

    return script


def test_an_example_of_the_document_is_sent_as_it_is_first() -> None:
    """The first creation sends the example. The second one needs other texts."""
    session = session_of(house(lambda body: 201), bookings())
    kind = next(kind for kind in session.kinds if kind.name == "booking")
    fixture(session, kind)
    make(session, kind)
    first, second = sent(session, "POST", "/bookings")
    assert first == BOOKING
    assert second["note"].startswith("for two-")


def test_a_conflict_makes_the_example_new() -> None:
    """An example that exists already is changed; a service that accepts it only as it is gets it so
    again.
    """
    session = session_of(house(lambda body: 409 if body == BOOKING else 201), bookings())
    kind = next(kind for kind in session.kinds if kind.name == "booking")
    assert not isinstance(fixture(session, kind), str)
    picky = session_of(house(lambda body: 201 if body == BOOKING else 404), bookings())
    kind = next(kind for kind in picky.kinds if kind.name == "booking")
    assert not isinstance(fixture(picky, kind), str)
    assert not isinstance(make(picky, kind), str)
    assert not isinstance(make(picky, kind), str)
    notes = [body["note"] == "for two" for body in sent(picky, "POST", "/bookings")]
    assert notes == [True, False, True, True]


def test_a_reference_gets_the_id_of_the_resource_of_its_name() -> None:
    """`room_id` in a body without an example is the id of a created room."""
    session = session_of(house(lambda body: 201), bookings(None))
    kind = next(kind for kind in session.kinds if kind.name == "booking")
    assert not isinstance(fixture(session, kind), str)
    assert [body["room_id"] for body in sent(session, "POST", "/bookings")] == ["room-77"]


def test_examples_of_parameters_are_sent_as_they_are() -> None:
    """Path, query and header take the values of the document. Nothing that an example names is
    deleted.
    """
    described = document(
        things_ID={
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": TEXT, "example": "blue"},
                {
                    "name": "unit",
                    "in": "query",
                    "required": True,
                    "schema": {"type": "string", "example": "metre"},
                },
                {
                    "name": "X-Level",
                    "in": "header",
                    "required": True,
                    "schema": {"type": "integer", "default": 3},
                },
                {
                    "name": "X-Token",
                    "in": "header",
                    "required": True,
                    "schema": {**TEXT, "example": "t"},
                },
            ],
            "get": operation(status="200"),
            "delete": operation(status="204"),
        }
    )
    session = session_of(lambda request: answer(200, {}), described)
    read, delete = (session.operation(method, "/things/{id}") for method in ("GET", "DELETE"))
    request = wire_request(request_to(session, read), session.caller, None)
    assert request.target == "/things/blue?unit=metre"
    headers = {name: value for name, value in request.headers if name.startswith("X-")}
    assert headers == {"X-Level": "3"}
    assert request_to(session, delete).values != {"id": "blue"}


# ---- placeholders of the configuration


def body_of(call: ConfiguredCall, schema: Mapping[str, Any] | None = None, **config: Any) -> Any:
    """Return the body of a call with its placeholders filled in."""
    described = document(things={"post": operation({"schema": schema or {}})})
    return fill_in_call(session_of(lambda request: answer(201, {}), described, **config), call).body


def test_new_values_have_their_kind() -> None:
    """Numbers are numbers, days follow one another, and texts have their size."""
    body = {
        "number": "${unique:int}",
        "from": "${unique:date}",
        "to": "${unique:date}",
        "at": "${unique:datetime}",
        "text": "${bytes:11000}",
        "region": "${region}",
    }
    made = body_of(ConfiguredCall("POST", "/things", body=body), values={"region": "north"})
    assert isinstance(made["number"], int)
    assert made["from"] < made["to"] < made["at"][:10]
    assert made["at"].endswith("T12:00:00Z")
    assert (len(made["text"]), made["region"]) == (11000, "north")


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"pattern": "^[A-Z]{3}-[0-9]{4}$"}, "${unique}"),
        ({"pattern": "^A-[0-9]{4,6}$"}, "A-${unique}"),
        ({"pattern": "^[A-Z]{2,8}$"}, "${unique}"),
        ({"maxLength": 6}, "x-${unique}"),
        ({"minLength": 40, "maxLength": 41}, "${unique}"),
        ({"format": "uuid"}, "${unique}"),
        ({"format": "date"}, "${unique}"),
        ({"type": "integer", "minimum": 5, "maximum": 900}, "${unique:int}"),
    ],
)
def test_unique_values_fit_the_schema(schema: Mapping[str, Any], text: str) -> None:
    """Pattern, lengths, format and bounds of the document hold for new values."""
    whole = {"type": "object", "properties": {"name": {"type": "string", **schema}}}
    call = ConfiguredCall("POST", "/things", body={"name": text})
    first, second = (body_of(call, whole)["name"] for _ in range(2))
    assert first != second
    for value in (first, second):
        assert re.search(schema.get("pattern", ""), str(value))
        assert schema.get("minLength", 0) <= len(str(value)) <= schema.get("maxLength", 100)
        assert schema.get("minimum", 0) <= (value if isinstance(value, int) else 5)


def recipe(*steps: Step, **more: Any) -> dict[str, Any]:
    """Return a configuration with one recipe for `absent`."""
    return {"recipes": (Recipe("absent", steps, **more),)}


def kinds(session: HttpSession) -> list[str]:
    """Return the outcomes of the recipes."""
    results = list(provoke.recipes(session))
    return [
        one.kind for one in results if isinstance(one, Outcome) and one.clause == "provoke/code"
    ]


@pytest.mark.parametrize(
    ("status", "verdict"), [(None, "could_not_run"), (404, "passed"), (409, "could_not_run")]
)
def test_a_step_before_the_last_succeeds_or_has_its_status(status: int, verdict: str) -> None:
    """A step without `status` that is refused is not a step, though its code is that of the recipe:
    the service refuses too early.
    """
    call = ConfiguredCall("POST", "/things")
    config = recipe(Step(call, status=status), Step(call))
    session = session_of(lambda request: answer(404, {"code": "absent"}), None, **config)
    assert kinds(session) == [verdict]


def test_a_value_is_made_up_once_a_recipe() -> None:
    """Every step of a recipe gets the same value; the next recipe gets another."""
    call = ConfiguredCall("POST", "/things/{name}", body={"name": "${name}"})
    config = recipe(Step(call, status=404), Step(call), values={"name": "n-${unique}"})
    config["recipes"] *= 2
    session = session_of(lambda request: answer(404, {"code": "absent"}), None, **config)
    assert kinds(session) == ["passed", "passed"]
    assert isinstance(session.driver, ScriptedDriver)
    targets = [request.target for request in session.driver.sent]
    names = [json.loads(request.body)["name"] for request in session.driver.sent]
    assert targets == [f"/things/{name}" for name in names]
    assert names[0] == names[1] != names[2] == names[3]


@pytest.mark.parametrize(
    ("location", "target", "kind"),
    [
        ("/jobs/7?part=1", "/jobs/7?part=1", "passed"),
        ("http://localhost:8080/jobs/7", "/jobs/7", "passed"),
        ("7", "/v1/7", "passed"),
        ("http://elsewhere.example/jobs/7", None, "could_not_run"),
        ("http://127.0.0.1:9090/jobs/7", None, "could_not_run"),
    ],
)
def test_a_saved_url_is_followed_on_the_service_alone(
    location: str, target: str | None, kind: str
) -> None:
    """A URL of a header is asked as it is; one of another origin is not."""
    saved = {"job": SavedPart("header Location"), "number": SavedPart("/id", match="[0-9]+")}
    config = recipe(
        Step(ConfiguredCall("POST", "/v1/jobs"), save=saved),
        Step(ConfiguredCall("GET", "${job}", headers={"X-Number": "${number}"})),
    )

    def script(request: Request) -> Response:
        if request.method == "POST":
            return answer(201, {"id": "job-7"}, location=location)
        return answer(404, {"code": "absent"})

    session = session_of(script, None, **config)
    assert kinds(session) == [kind]
    assert isinstance(session.driver, ScriptedDriver)
    asked = session.driver.sent[1:]
    assert [request.target for request in asked] == ([target] if target else [])
    assert all(("X-Number", "7") in request.headers for request in asked)


def test_members_of_resources_stand_in_requests() -> None:
    """`${room.id}` is the id of a created room; a name without a resource leaves the recipe
    unmet.
    """
    steps = Step(ConfiguredCall("POST", "/bookings", body={"room": "${room.id}"}))
    session = session_of(house(lambda body: 404), bookings(), **recipe(steps))
    assert kinds(session) == ["passed"]
    assert sent(session, "POST", "/bookings") == [{"room": "room-77"}]
    steps = Step(ConfiguredCall("POST", "/bookings", body={"room": "${attic.id}"}))
    assert kinds(session_of(house(lambda body: 404), bookings(), **recipe(steps))) == [
        "could_not_run"
    ]


# ---- malformed targets

LIST = operation(
    None,
    {"name": "limit", "in": "query", "schema": {"type": "integer"}},
    {"name": "cursor", "in": "query", "schema": TEXT},
    status="200",
)
THINGS = document(things={"get": LIST}, things_ID=ITEM, shelves={"get": LIST}, shelves_ID=ITEM)
FORMS = (
    *(r"%zz", r"%c3%28", "__proto__", r"1\.5", "9{30}", r"a%00b"),
    *(r"limit=1&limit=", r"cursor=%zz", r"=a%00b", r"\[a\]=1", r"cursor=e30", r"cursor=faultspec"),
)


@pytest.mark.parametrize("crash", [None, *FORMS])
def test_each_form_of_a_target_is_tried(crash: str | None) -> None:
    """A service that crashes over any form fails; one that accepts or refuses it is silent."""

    def script(request: Request) -> Response:
        if crash is not None and re.search(crash, request.target):
            return answer(500, {"detail": "x"})
        if request.target.startswith("/shelves"):
            return answer(401, {"code": "absent"})
        return (
            answer(200, [])
            if request.target.startswith("/things?")
            else answer(404, {"code": "absent"})
        )

    session = session_of(script, THINGS)
    found = failures(session, malformed_targets.malformed_targets(session))
    assert ("service/no-crash" in found) == (crash is not None)
    assert found & {"framework/unknown-id", "framework/invalid-input"} or crash is None


@pytest.mark.parametrize("echoes", [False, True])
def test_a_page_position_does_not_come_back(echoes: bool) -> None:
    """A refusal that repeats a made-up cursor is found as one that repeats another input."""

    def script(request: Request) -> Response:
        named = re.search(r"cursor=([^&]*)", request.target)
        if named is None:
            return answer(404, {"code": "absent"})
        message = f"{named[1]} is not a position" if echoes else "not a position"
        return answer(400, {"code": "malformed", "message": message})

    taxonomy = f"{TAXONOMY}privacy: {{detectors: [canary]}}\n"
    session = session_of(script, THINGS, taxonomy)
    found = failures(session, malformed_targets.malformed_targets(session))
    assert ("leaks/canary" in found) == echoes


# ---- confidential members

_CONFIDENTIAL = "leaks/confidential"
CARD = {"type": "object", "properties": {"number": TEXT}}
PROPERTIES = {
    "name": {"type": "string", "maxLength": 10},
    "pin": {"type": "string", "writeOnly": True},
    "card": CARD,
}
READERS = document(
    readers={
        "post": operation(
            {"schema": {"type": "object", "required": ["name"], "properties": PROPERTIES}}
        )
    }
)


def reader(lapse: str) -> Script:
    """Return a service of readers. ``lapse``: where a confidential value comes back."""
    known: list[str] = []

    def script(request: Request) -> Response:
        try:
            body = json.loads(request.body or b"null")
        except (ValueError, RecursionError):
            body = None
        if request.method != "POST" or not isinstance(body, dict):
            message = known[0] if lapse == "later" and known else "no"
            return answer(404, {"code": "absent", "message": message})
        pin, number = body.get("pin"), (body.get("card") or {}).get("number")
        known.extend([pin] if isinstance(pin, str) else [])
        shown = {"name": body.get("name")}
        if lapse == "success":
            shown["pin"] = pin
        if lapse == "tail" and isinstance(pin, str):
            shown["pin"] = f"...{pin[-10:]}"
        if lapse == "four" and isinstance(pin, str):
            shown["pin"] = f"...{pin[-4:]}"
        if lapse == "card":
            shown["card"] = number
        if not isinstance(pin, str) or len(str(body.get("name"))) > 10:
            text = json.dumps(body) if lapse == "refusal" else "no"
            return answer(422, {"code": "malformed", "message": text})
        return answer(201, shown)

    return script


@pytest.mark.parametrize(
    ("lapse", "fails"),
    [
        *(("", False), ("four", False), ("success", True), ("tail", True), ("refusal", True)),
        *(("card", True), ("later", True)),
    ],
)
def test_confidential_values_come_back_nowhere(lapse: str, fails: bool) -> None:
    """A value of a `writeOnly` or declared member fails in a success, a refusal or a later answer,
    whole or in part; the last four characters may be shown.
    """
    session = session_of(reader(lapse), READERS, confidential=("/card/number",))
    found = failures(session, confidential.confidential_members(session))
    list(resources.unknown_ids(session))
    session.call(request_to(session, session.operation("GET", "/readers/1")))
    found = failures(session, ())
    assert ("leaks/confidential" in found) == fails
    assert any(outcome.clause == "leaks/confidential" for outcome in session.observations.outcomes)


@pytest.mark.parametrize(("shown", "fails"), [(13, False), (23, True)])
def test_the_fixed_part_of_a_configured_value_is_not_a_secret(shown: int, fails: bool) -> None:
    """The fixed part of `secret-words-${unique}` may come back; the new part may not."""
    create = ConfiguredCall("POST", "/readers", body={"name": "x", "pin": "secret-words-${unique}"})

    def script(request: Request) -> Response:
        return answer(201, {"id": "1", "hint": json.loads(request.body)["pin"][:shown]})

    things = {"reader": ResourceConfig("reader", create=create)}
    session = session_of(script, READERS, resources=things)
    # One new part in a hundred begins with ten decimal digits, which may be there by chance.
    session.begin_part("resources", 1)
    make(session, session.kinds[0])
    assert (failures(session, ()) == {"leaks/confidential"}) == fails


SHORT = {"type": "string", "writeOnly": True, "minLength": 6, "maxLength": 20}


@pytest.mark.parametrize(
    ("schema", "fails"),
    [
        ({**SHORT, "pattern": "^[A-Z0-9]+$"}, {"leaks/confidential"}),
        ({**SHORT, "pattern": "^[0-9]+$"}, {"leaks/confidential"}),
        ({**SHORT, "pattern": "^[0-9]+$", "maxLength": 8}, set()),
    ],
)
def test_planted_values_are_recognised(schema: object, fails: set[str]) -> None:
    """A configured `${unique}` that is digits only is planted longer, as far as its schema allows,
    and found in a log that is read directly after it was sent. Without room, the clause says so.
    """
    body = {"type": "object", "required": ["tax"], "properties": {"tax": schema}}
    described = document(firms={"post": operation({"schema": body})}, log={"get": operation()})
    create = ConfiguredCall("POST", "/firms", body={"tax": "${unique}"})
    log: list[object] = []

    def script(request: Request) -> Response:
        if request.method == "GET":
            return answer(200, {"entries": log[-1:]})
        received = json.loads(request.body or b"null")
        if not isinstance(received, dict) or not isinstance(received.get("tax"), str):
            return answer(422, {"code": "malformed"})
        log.append(received["tax"])
        return answer(201, {"id": "1"})

    firm = {"firm": ResourceConfig("firm", create=create)}
    session = session_of(script, described, resources=firm)
    results = list(confidential.confidential_members(session))
    assert failures(session, results) == fails
    kinds = {one.kind for one in session.observations.outcomes if one.clause == _CONFIDENTIAL}
    assert ("passed" in kinds, "not_exercised" in kinds) == (bool(fails), not fails)


def test_a_success_may_show_what_its_document_shows() -> None:
    """A success may contain a `format: password` that the document has in its schema."""
    key = {"type": "object", "properties": {"key": {"type": "string", "format": "password"}}}
    post = operation({"schema": key})
    post["responses"] = {
        "201": {"description": "made", "content": {"application/json": {"schema": key}}}
    }

    def script(request: Request) -> Response:
        body = json.loads(request.body)
        if isinstance(body.get("key"), str):
            return answer(201, body)
        return answer(422, {"code": "malformed"})

    session = session_of(script, document(keys={"post": post}))
    assert failures(session, confidential.confidential_members(session)) == set()


def test_nothing_confidential_is_not_exercised() -> None:
    """Without a confidential member the clause is not exercised, and says what would exercise
    it.
    """
    session = session_of(house(lambda body: 201), bookings())
    [outcome] = list(confidential.confidential_members(session))
    assert isinstance(outcome, Outcome)
    assert outcome.kind == "not_exercised"
    assert "writeOnly" in (outcome.reason or "")


@pytest.mark.parametrize(
    ("statuses", "answered", "fails"),
    [
        ("[400, 415, 422]", 422, False),
        ("4xx", 400, False),
        ("415", 422, True),
        ("[406, 415]", 422, True),
        ("415", 415, False),
    ],
)
def test_a_code_of_other_statuses_asks_for_no_415(
    statuses: str, answered: int, fails: bool
) -> None:
    """A body in another media type may be refused by any client error; 415 is due only where a code
    says nothing else. The code of a fallback lists 415 beside others.
    """
    taxonomy = TAXONOMY.replace("[400, 415, 422]", statuses).replace(
        "codes:\n", "codes:\n  odd: {summary: Odd, http: [400, 422], retriable: false}\n"
    )
    wire = "odd" if answered == 422 and fails else "malformed"
    session = session_of(
        lambda request: answer(answered, {"code": wire}),
        document(things={"post": operation({"schema": {"type": "object"}})}),
        taxonomy=taxonomy,
    )
    found = {one.clause for one in media.media_types(session) if one.kind == "failed"}
    assert found == ({"framework/media-type"} if fails else set())
