"""Refused writes: what they changed is found, and what changes by itself is not blamed on them."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import resources
from faultspec_conformance.probes.refused_writes import refused_writes, refused_writes_since
from faultspec_conformance.session.fixtures import fixture, ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: house, version: 1.0.0, title: House, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  taken: {summary: In the way, http: [409, 412], retriable: false}
  malformed: {summary: Unreadable, http: [400, 415, 422], retriable: false}
"""

OK = {"responses": {"200": {"description": "done"}}}
BODY = {
    "requestBody": {
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string"}},
                }
            }
        }
    }
}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "House", "version": "1"},
    "paths": {
        "/rooms": {"get": OK, "post": {**OK, **BODY}},
        "/rooms/batch": {"post": {**OK, **BODY}},
        "/rooms/{id}": {"get": OK, "put": {**OK, **BODY}, "delete": OK},
        "/rooms/{id}/close": {"post": OK},
    },
}

Script = Callable[[Request], Response]
Change = Callable[[dict[str, Any]], object]


def rooms(change: Change, *, listed: bool = True, moving: str = "") -> Script:
    """Return a service that refuses each change and each batch with 409.

    ``change``: what it does to a room all the same; to the dictionary of all rooms in a batch. The
    room is deleted if it returns "gone", and the change accepted if it returns "done".
    ``listed``: whether its list has what is created. ``moving``: what changes by itself.
    """
    numbers, ticks = count(1), count(1)
    kept: dict[str, dict[str, Any]] = {}

    def shown(room: dict[str, Any]) -> dict[str, Any]:
        if moving == "reads":
            return {**room, "reads": next(ticks)}
        if moving == "once":  # a job that ends after its first read
            room["state"] = {"new": "ready"}.get(room.setdefault("state", "newer"), "new")
        return dict(room)

    def script(request: Request) -> Response:
        parts = request.target.partition("?")[0].split("/")[2:]
        if not parts and request.method == "GET":
            if moving == "list":
                kept[f"other-{next(numbers)}"] = {"id": f"other-{next(numbers)}"}
            return answer(200, list(kept.values()) if listed else [])
        if not parts:
            room = {**json.loads(request.body), "id": f"room-{next(numbers)}"}
            kept[room["id"]] = room
            return answer(201, {"id": room["id"]} if moving else room)
        if parts == ["batch"]:
            change(kept)
            return answer(409, {"code": "taken"})
        if parts[0] not in kept:
            return answer(404, {"code": "absent"})
        if request.method == "GET":
            return answer(200, shown(kept[parts[0]]))
        match change(kept[parts[0]]):
            case "gone":
                del kept[parts[0]]
            case "done":
                return answer(200, shown(kept[parts[0]]))
        return answer(409, {"code": "taken"})

    return script


def outcomes(script: Script, *operations: str) -> list[tuple[str, str | None]]:
    """Return the kinds and messages of the outcomes after one request to each operation."""
    config = ServiceConfig(limits=Limits(writes=True, requests=200))
    session: HttpSession = http_session(script, TAXONOMY, config, DOCUMENT)
    [kind] = session.kinds
    session.turn = session.kinds
    session.call(ordinary_request(session, session.operation("GET", "/rooms")))
    assert not isinstance(fixture(session, kind), str)
    for name in operations:
        session.call(ordinary_request(session, session.operation(*name.split())))
    session.record_results(refused_writes(session))
    return [
        (outcome.kind, outcome.finding.message if outcome.finding is not None else outcome.reason)
        for outcome in session.observations.outcomes
        if outcome.clause == "writes/refused"
    ]


def test_a_change_by_a_refused_write_is_found() -> None:
    """A refused write that changes a member, adds one, or deletes the resource fails; the message
    names the operation and the place.
    """
    for change, words in (
        (lambda room: room.update(name="changed"), "changed the room at `/name`"),
        (lambda room: room.update(closed=True), "changed the room at `/closed`"),
        (lambda room: "gone", "the room is gone"),
    ):
        for name in ("PUT /rooms/{id}", "DELETE /rooms/{id}", "POST /rooms/{id}/close"):
            [(kind, message)] = outcomes(rooms(change), name)
            assert kind == "failed"
            assert f"{name} was refused (409 taken), but" in str(message)
            assert words in str(message)


@pytest.mark.parametrize("reopens", [True, False])
def test_what_an_item_accepted_before_is_repeated(reopens: bool) -> None:
    """A write that is refused only after another one succeeded is sent again in that order: it
    fails if it undoes the other, and passes if it changes nothing.
    """

    def close(room: dict[str, Any]) -> object:
        if room.get("state") != "closed":
            room["state"] = "closed"
            return "done"
        if reopens:
            room["state"] = "open"
        return None

    name = "POST /rooms/{id}/close"
    [(kind, message)] = outcomes(rooms(close), name, name)
    assert kind == ("failed" if reopens else "passed")
    assert ("changed the room at `/state`" in str(message)) == reopens


@pytest.mark.parametrize(
    ("value", "kind"), [("sent", "failed"), ("other", "not_exercised"), ("kept", "passed")]
)
def test_a_value_that_only_the_refused_write_sent_is_proof(value: str, kind: str) -> None:
    """If a write is accepted when it is sent again, the value that it left behind decides; a value
    that it did not send decides nothing.
    """
    turns = count()

    def refuse_once(room: dict[str, Any]) -> object:
        if next(turns) > 0:
            return "done"
        if value != "kept":
            room["name"] = json.loads(sent[-1].body)["name"] if value == "sent" else "other"
        return None

    sent: list[Request] = []
    service = rooms(refuse_once)

    def script(request: Request) -> Response:
        sent.append(request)
        return service(request)

    assert [found for found, _ in outcomes(script, "PUT /rooms/{id}")] == [kind]


def test_an_item_that_a_refused_creation_leaves_is_found() -> None:
    """A refused batch whose items are in the list afterwards fails."""

    def keep(kept: dict[str, Any]) -> None:
        kept[f"left-{len(kept)}"] = {"id": f"left-{len(kept)}"}

    found = outcomes(rooms(keep), "POST /rooms/batch")
    assert [kind for kind, _ in found] == ["failed"]
    assert "GET /rooms has a new item" in str(found[0][1])


def busy_rooms(*, stores: bool) -> Script:
    """Return a service that refuses rooms without a good name, and one name only the first time.
    ``stores``: whether it stores what it refuses for its name.
    """
    kept: list[dict[str, Any]] = []
    seen: set[str] = set()

    def script(request: Request) -> Response:
        if request.method == "GET":
            return answer(200, kept)
        sent = json.loads(request.body)
        is_new = sent["name"] not in seen
        seen.add(sent["name"])
        if sent["name"].startswith("bad"):
            kept.extend([{**sent, "id": f"room-{len(kept)}"}] if stores else [])
            return answer(400, {"code": "malformed"})
        if sent["name"] == "busy" and is_new:
            return answer(400, {"code": "malformed"})
        kept.append({**sent, "id": f"room-{len(kept)}"})
        return answer(201, kept[-1])

    return script


@pytest.mark.parametrize("stores", [True, False])
@pytest.mark.parametrize("order", [("bad 12345abcde", "busy"), ("busy", "bad 12345abcde")])
def test_a_creation_that_is_refused_only_once_hides_no_other(
    stores: bool, order: tuple[str, ...]
) -> None:
    """Of the creations with one status and code, one that is refused again shows whether something
    is left; also if others are accepted then.
    """
    paths = {"/rooms": {"get": OK, "post": {**OK, **BODY}}}
    config = ServiceConfig(limits=Limits(writes=True, requests=200))
    session = http_session(
        busy_rooms(stores=stores), TAXONOMY, config, {**DOCUMENT, "paths": paths}
    )
    session.turn = session.kinds
    session.call(ordinary_request(session, session.operation("POST", "/rooms")))
    session.call(RequestSpec("GET", "/rooms"))
    for name in order:
        body = {"name": name, "note": f"noted 98765{name[-3:]}"}
        session.call(RequestSpec("POST", "/rooms", body=body))
    session.record_results(refused_writes(session))
    found = {one.kind for one in session.observations.outcomes if one.clause == "writes/refused"}
    assert found == {"failed" if stores else "passed"}


@pytest.mark.parametrize("moving", ["", "reads", "once"])
def test_what_changes_by_itself_is_not_blamed(moving: str) -> None:
    """A counter of reads, or a state that follows the creation, is not an effect of a refused
    write.
    """
    script = rooms(lambda room: None, moving=moving)
    found = outcomes(script, "PUT /rooms/{id}", "DELETE /rooms/{id}", "POST /rooms/batch")
    assert {kind for kind, _ in found} == {"passed"}


def test_a_list_that_grows_by_itself_is_not_blamed() -> None:
    """Where items appear without a request, the list shows nothing of a refused creation."""
    found = outcomes(rooms(lambda room: None, moving="list"), "POST /rooms/batch")
    assert {kind for kind, _ in found} == {"not_exercised"}


def test_a_list_without_what_was_created_shows_nothing() -> None:
    """Where a list lacks even what was created, a refused creation is not exercised."""
    script = rooms(lambda kept: kept.update(left={"id": "left"}), listed=False)
    [(kind, reason)] = outcomes(script, "POST /rooms/batch")
    assert kind == "not_exercised"
    assert "shows no resource" in str(reason)


def test_without_a_refused_write_nothing_is_exercised() -> None:
    """A run without a refused write says so."""
    assert outcomes(rooms(lambda room: None)) == [
        ("not_exercised", "no write to a resource that can be read was refused")
    ]


@pytest.mark.parametrize("changes", [True, False])
def test_writes_that_are_refused_late_in_the_run_are_judged_too(changes: bool) -> None:
    """A refused write of generated traffic that changes a resource fails. Writes that were judged
    before are not judged again.
    """
    script = rooms(lambda room: room.update(name="changed") if changes else None)
    config = ServiceConfig(limits=Limits(writes=True, requests=200))
    session: HttpSession = http_session(script, TAXONOMY, config, DOCUMENT)
    [kind] = session.kinds
    session.turn = session.kinds
    assert not isinstance(fixture(session, kind), str)
    session.begin("refused-writes", 0)
    session.record_results(refused_writes(session))
    session.begin("refused-writes-of-all-operations", 0)
    session.record_results(refused_writes_since(session))
    assert not session.observations.decided_clauses() & {"writes/refused"}
    session.begin("sweep", 0)
    put = session.operation("PUT", "/rooms/{id}")
    session.call(ordinary_request(session, put))
    session.begin("refused-writes-of-all-operations", 0)
    session.record_results(refused_writes_since(session))
    kinds = [one.kind for one in session.observations.current.outcomes]
    assert kinds == ["failed" if changes else "passed"]


def test_a_spent_limit_ends_the_look_at_late_writes() -> None:
    """Without requests for the last reads the run has a note, and no clause that could not run."""
    script = rooms(lambda room: room.update(name="changed"))
    config = ServiceConfig(limits=Limits(writes=True, requests=3))
    session: HttpSession = http_session(script, TAXONOMY, config, DOCUMENT)
    [kind] = session.kinds
    session.turn = session.kinds
    assert not isinstance(fixture(session, kind), str)
    put = session.operation("PUT", "/rooms/{id}")
    for _ in range(3 - session.driver.requests):
        session.call(ordinary_request(session, put))
    session.record_results(refused_writes_since(session))
    assert {one.kind for one in session.observations.outcomes} <= {"not_exercised"}
    assert any("refused late in the run" in note for note in session.observations.notes)


def batched_rooms(*, stores: bool) -> Script:
    """Return a service whose rooms have different names, three on a page unless a limit is given.
    ``stores``: whether it stores the good items of a batch that it refuses.
    """
    kept: list[dict[str, Any]] = []

    def script(request: Request) -> Response:
        path, _, query = request.target.partition("?")
        if request.method == "GET":
            limit = int(query.partition("limit=")[2] or 3)
            return answer(200, {"items": kept[:limit]})
        sent = json.loads(request.body)
        if path == "/rooms":
            kept.append({**sent, "id": f"room-{len(kept)}"})
            return answer(201, kept[-1])
        names = {one["name"] for one in kept}
        good = [one for one in sent["items"] if isinstance(one["name"], str)]
        new = [one for one in good if one["name"] not in names]
        kept.extend({**one, "id": f"room-{len(kept)}"} for one in new if stores)
        return answer(400, {"code": "malformed"})

    return script


@pytest.mark.parametrize("stores", [True, False])
def test_a_batch_is_refused_again_with_new_values(stores: bool) -> None:
    """Items that a refused batch has stored are found by another one with new values, in the list
    with its configured query; batches without a good item do not hide them.
    """
    write = {"responses": {"200": {"description": "done"}}, "requestBody": BODY["requestBody"]}
    paths = {"/rooms": {"get": OK, "post": write}, "/rooms/batch": {"post": write}}
    listed = ConfiguredCall("GET", "/rooms", query={"limit": "100"})
    room = ResourceConfig("room", list=listed)
    config = ServiceConfig(limits=Limits(writes=True, requests=200), resources={"room": room})
    session = http_session(
        batched_rooms(stores=stores), TAXONOMY, config, {**DOCUMENT, "paths": paths}
    )
    session.turn = session.kinds
    for _ in range(5):
        session.call(ordinary_request(session, session.operation("POST", "/rooms")))
    session.call(RequestSpec("GET", "/rooms", query={"limit": 100}))
    bad: dict[str, object] = {"name": {"unexpected": True}}
    for items in ([{"name": "room 12345abcde"}, bad], [bad, bad]):
        session.call(RequestSpec("POST", "/rooms/batch", body={"items": items}))
    session.record_results(refused_writes(session))
    found = {one.kind for one in session.observations.outcomes if one.clause == "writes/refused"}
    assert found == {"failed" if stores else "passed"}


def painted_rooms(*, stores: bool) -> Script:
    """Return a service whose rooms have different names. ``stores``: whether it stores the colour
    of a change before it refuses the name.
    """
    kept: dict[str, dict[str, Any]] = {}

    def script(request: Request) -> Response:
        name = request.target.partition("?")[0].removeprefix("/rooms").removeprefix("/")
        if request.method == "GET":
            shown = kept.get(name) if name else list(kept.values())
            return answer(404, {"code": "absent"}) if shown is None else answer(200, shown)
        sent = json.loads(request.body)
        if name and stores:
            kept[name]["colour"] = sent["colour"]
        if any(one["name"] == sent["name"] for one in kept.values() if one["id"] != name):
            return answer(409, {"code": "taken"})
        number = name or f"room-{len(kept)}"
        kept[number] = {**sent, "id": number}
        return answer(200 if name else 201, kept[number])

    return script


@pytest.mark.parametrize("stores", [True, False])
def test_an_update_to_a_taken_name_changes_another_member_too(stores: bool) -> None:
    """A colour that a refused update has stored is found, and a plain refusal is not blamed."""
    both = {"name": {"type": "string"}, "colour": {"type": "string"}}
    schema = {"type": "object", "required": [*both], "properties": both}
    write = {**OK, "requestBody": {"content": {"application/json": {"schema": schema}}}}
    paths = {"/rooms": {"get": OK, "post": write}, "/rooms/{id}": {"get": OK, "put": write}}
    room = ResourceConfig("room", unique=("name",))
    config = ServiceConfig(limits=Limits(writes=True, requests=200), resources={"room": room})
    document = {**DOCUMENT, "paths": paths}
    session = http_session(painted_rooms(stores=stores), TAXONOMY, config, document)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(resources.duplicates(session))
    session.record_results(refused_writes(session))
    found = {one.kind for one in session.observations.outcomes if one.clause == "writes/refused"}
    assert ("failed" in found) == stores


def rooms_of_one_colour(stores: str) -> Script:
    """Return a service that refuses a taken name with 409, a short one with 422 and a stale change
    with 412. ``stores``: what it does with the other members of such a write all the same: it
    stores them for one of these statuses, or, `taken`, in the room that has the name.
    """
    kept: dict[str, dict[str, Any]] = {}

    def script(request: Request) -> Response:
        name = request.target.partition("?")[0].removeprefix("/rooms").removeprefix("/")
        if request.method == "GET":
            shown = kept.get(name) if name else list(kept.values())
            return answer(404, {"code": "absent"}) if shown is None else answer(200, shown)
        sent = json.loads(request.body)
        rest = {key: value for key, value in sent.items() if key in ("colour", "note")}
        others = [one for one in kept.values() if one["id"] != name]
        taken = next((one for one in others if one["name"] == sent["name"]), None)
        status = 422 if len(sent["name"]) < 3 else 409 if taken is not None else 0
        status = status or (412 if dict(request.headers).get("If-Match") == '"old"' else 0)
        if status:
            target = taken if stores == "taken" else kept.get(name)
            if target is not None and stores in (str(status), "taken"):
                target.update(rest)
            return answer(status, {"code": "malformed" if status == 422 else "taken"})
        number = name or f"room-{len(kept)}"
        kept[number] = {"note": "none", **sent, "id": number}
        return answer(200 if name else 201, kept[number])

    return script


@pytest.mark.parametrize("stores", ["409", "422", "412", "taken", ""])
def test_a_refused_write_that_repeats_what_is_there_hides_nothing(stores: str) -> None:
    """Refused writes whose other members are those of the room are sent again with new values,
    also of members that they leave out. What a taken name belongs to stays as it is too.
    """
    members = {"name": {"type": "string"}, "note": {"type": "string"}}
    members["colour"] = {"type": "string", "enum": ["red", "blue"]}  # type: ignore[dict-item]  # a list
    schema = {"type": "object", "required": ["name", "colour"], "properties": members}
    write = {**OK, "requestBody": {"content": {"application/json": {"schema": schema}}}}
    paths = {"/rooms": {"get": OK, "post": write}, "/rooms/{id}": {"get": OK, "put": write}}
    create = ConfiguredCall("POST", "/rooms", body={"name": "${unique}", "colour": "red"})
    room = ResourceConfig("room", create=create, id="/id", unique=("name",))
    config = ServiceConfig(limits=Limits(writes=True, requests=200), resources={"room": room})
    document = {**DOCUMENT, "paths": paths}
    session = http_session(rooms_of_one_colour(stores), TAXONOMY, config, document)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    other = session.call(RequestSpec("POST", "/rooms", body={"name": "other", "colour": "red"}))
    path = f"/rooms/{session.knowledge.created['room'].id}"
    session.call(RequestSpec("GET", path, route="/rooms/{id}"))
    for name, headers in (("other", {}), ("x", {}), ("new name", {"If-Match": '"old"'})):
        body = {"name": name, "colour": "red"}
        spec = RequestSpec("PUT", path, body=body, headers=headers, route="/rooms/{id}")
        assert not session.call(spec).ok
    session.call(RequestSpec("GET", path, route="/rooms/{id}"))
    assert other.ok
    session.record_results(refused_writes(session))
    found = {one.kind for one in session.observations.outcomes if one.clause == "writes/refused"}
    assert ("failed" in found) == bool(stores)
