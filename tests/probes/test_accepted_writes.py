"""Accepted writes: a lost, doubled or misplaced effect is found, and a soft, late or repeated one
is not blamed.
"""

import json
from collections.abc import Mapping
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from faultspec.exchange.model import Request
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import accepted_writes, resources
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import RequestSpec
from support.scripted import Script, ScriptedDriver, answer, http_session

TAXONOMY = """
faultspec: 1
taxonomy: {name: garage, version: 1.0.0, title: Garage, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, http: [404, 405, 410], retriable: false}
  locked: {summary: In use, http: 409, retriable: false}
"""

OK = {"responses": {"200": {"description": "done"}}}
TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "required": ["plate", "owner", "extras"],
    "properties": {
        "plate": TEXT,
        "owner": TEXT,
        "doors": {"type": "integer"},
        "extras": {"type": "array", "items": TEXT, "maxItems": 0},
    },
}
WHOLE = {**OK, "requestBody": {"content": {"application/json": {"schema": SCHEMA}}}}
PART_SCHEMA = {key: value for key, value in SCHEMA.items() if key != "required"}
PART = {**OK, "requestBody": {"content": {"application/json": {"schema": PART_SCHEMA}}}}
DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Garage", "version": "1"},
    "paths": {
        "/cars": {"get": OK, "post": WHOLE},
        "/cars/{id}": {"get": OK, "put": WHOLE, "patch": PART, "delete": OK},
    },
}

INTEGER = {"type": "integer", "minimum": 1, "maximum": 2}
PAGES = [
    {"name": name, "in": "query", "schema": INTEGER if name == "limit" else {"type": "integer"}}
    for name in ("limit", "page")
]
PAGED = {
    **DOCUMENT,
    "paths": {
        **DOCUMENT["paths"],  # type: ignore[dict-item]
        "/cars": {"get": {**OK, "parameters": PAGES}, "post": WHOLE},
    },
}

#: The start of the schema of the member `plate` that makes it a choice.
CHOICE = '"plate": {"enum": ["roadworthy", "certificate", "certified abroad"], '

#: Deletions that remove nothing: the habit, the status and the body.
UNDONE = (
    ("locked", 409, {"code": "locked"}),
    ("deletion-lost", 204, None),
    ("deletion-pending", 202, None),
    ("deletion-announced", 200, {"deletion": "scheduled"}),
)


class Garage:
    """Cars. ``habits``: what the service does in its own way."""

    def __init__(self, *habits: str) -> None:
        self.habits, self.numbers, self.reads = habits, count(1), count(1)
        self.cars: dict[str, dict[str, Any]] = {}
        self.gone: dict[str, dict[str, Any]] = {}
        self.later: dict[str, int] = {}
        if "short-pages" in habits:
            for _ in range(5):
                self.make({"plate": "OLD"})

    def __call__(self, request: Request) -> Any:
        """Answer one request."""
        name = request.target.partition("?")[0].removeprefix("/cars").removeprefix("/")
        body = json.loads(request.body) if request.body else {}
        if not name:
            return self.make(body) if request.method == "POST" else self.page(request.target)
        handle = {"GET": self.read, "DELETE": self.remove}.get(request.method)
        return handle(name) if handle else self.change(name, body, whole=request.method == "PUT")

    def make(self, body: dict[str, Any]) -> Any:
        """Make a car."""
        identifier = f"car-{next(self.numbers):04}"
        car = {"owner": None, "doors": 4, "status": "new", **body, "id": identifier}
        stored = {**car, "owner": "someone else"} if "creation-differs" in self.habits else car
        if "read-names-another" in self.habits:
            stored = {**car, "id": "car-9999"}
        if "creation-lost" not in self.habits:
            self.cars[identifier] = stored
        if "creation-doubled" in self.habits:
            twin = f"car-{next(self.numbers):04}"
            self.cars[twin] = {**car, "id": twin}
        if "creation-late" in self.habits:
            self.later[identifier] = 1
        if "creation-pending" in self.habits:
            del self.cars[identifier]
            return answer(202, {"id": identifier})
        return answer(201, car)

    def page(self, target: str) -> Any:
        """The list, or one of its pages."""
        shown = [*self.cars.values()]
        if "list-keeps-deleted" in self.habits:
            shown += self.gone.values()
        if "list-marks-deleted" in self.habits:
            shown += [{**car, "status": "deleted"} for car in self.gone.values()]
        if "short-pages" in self.habits:
            number = int(dict(parse_qsl(urlsplit(target).query)).get("page", "1"))
            shown = shown[2 * number - 2 : 2 * number]
        return answer(200, shown)

    def read(self, name: str) -> Any:
        """One car."""
        if self.later.get(name, 0) > 0:
            self.later[name] -= 1
            if name in self.gone:
                return answer(200, self.gone[name])
            return answer(404, {"code": "absent"})
        if name not in self.cars:
            return answer(410 if "gone-is-410" in self.habits else 404, {"code": "absent"})
        views = {"views": next(self.reads)} if "counts-reads" in self.habits else {}
        return answer(200, self.cars[name] | views)

    def change(self, name: str, body: dict[str, Any], *, whole: bool) -> Any:
        """Change a car."""
        if name in self.gone and not whole and "patches-deleted" in self.habits:
            return answer(204)
        if name not in self.cars:
            return answer(404, {"code": "absent"})
        before = self.cars[name]
        changed = before | body
        if "keeps-status" in self.habits:
            changed["status"] = before["status"]
        if whole and "confirms-and-keeps" in self.habits:
            self.cars[name] = changed | {"owner": before["owner"]}
            return answer(200, changed)
        if "patch-resets" in self.habits and not whole:
            changed = {"owner": None, "plate": "", **body, "id": name}
        if "shouts" in self.habits:
            changed |= {key: str(value).upper() for key, value in body.items()}
        if "clock" in self.habits:
            changed["updated_at"] = next(self.reads)
        if "change-pending" in self.habits:
            return answer(202)
        if (
            not {"put-lost", "patch-lost"}
            & {*self.habits}
            & {"put-lost" if whole else "patch-lost"}
        ):
            self.cars[name] = changed
        return answer(204) if "silent" in self.habits else answer(200, changed)

    def remove(self, name: str) -> Any:
        """Remove a car."""
        if name not in self.cars and "deletes-again" in self.habits:
            return answer(204)
        if name not in self.cars:
            return answer(404, {"code": "absent"})
        for habit, status, body in UNDONE:
            if habit in self.habits:
                return answer(status, body)
        if "soft" in self.habits:
            self.cars[name]["status"] = "deleted"
            return answer(204)
        if "dated" in self.habits:
            self.cars[name]["deleted_at"] = "2026-01-01T00:00:00Z"
            return answer(200, self.cars[name])
        if "others-too" in self.habits:
            self.gone |= self.cars
            self.cars.clear()
        if "oldest-too" in self.habits:
            self.cars.pop(next(iter(self.cars)))
        self.gone |= {name: self.cars.pop(name)} if name in self.cars else {}
        if "deletion-late" in self.habits:
            self.later[name] = 1
        return answer(204)


def judge(script: Script) -> tuple[list[tuple[str, str, str]], HttpSession]:
    """Return the clause, kind and text of the outcomes about accepted writes, and the session."""
    config = ServiceConfig(limits=Limits(writes=True))
    document = PAGED if "short-pages" in getattr(script, "habits", ()) else DOCUMENT
    session = http_session(script, TAXONOMY, config, document)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(accepted_writes.accepted_writes(session))
    found = [
        (one.clause, one.kind, one.finding.message if one.finding else str(one.reason))
        for one in session.observations.outcomes
        if one.clause in accepted_writes.CLAUSES
    ]
    return found, session


@pytest.mark.parametrize(
    ("habit", "clause", "words"),
    [
        ("creation-lost", "writes/created", "no `car` is stored"),
        ("creation-doubled", "writes/created", "stored 2 of `car`"),
        ("creation-differs", "writes/created", "but a read shows `someone else`"),
        ("read-names-another", "writes/created", "as `id` (201), but a read shows `car-9999`"),
        ("confirms-and-keeps", "writes/updated", "confirms a new `owner`"),
        ("put-lost", "writes/updated", "is as before"),
        ("patch-lost", "writes/updated", "is as before"),
        ("patch-resets", "writes/updated", "which it did not send"),
        ("deletion-lost", "writes/deleted", "but the car can be read"),
        ("others-too", "writes/deleted", "removed another one"),
        ("list-keeps-deleted", "writes/deleted", "GET /cars shows the car"),
        ("patches-deleted", "writes/deleted", "and then PATCH /cars/{id} (204)"),
    ],
)
@pytest.mark.parametrize("others", [(), ("counts-reads", "silent", "clock"), ("short-pages",)])
def test_a_wrong_effect_is_found(
    habit: str, clause: str, words: str, others: tuple[str, ...]
) -> None:
    """A lost, doubled or misplaced effect fails its clause alone, also where a car counts its reads
    and updates answer without a body.
    """
    found, _ = judge(Garage(habit, *others))
    [(failing, message)] = {(one, text) for one, kind, text in found if kind == "failed"}
    assert failing == clause
    assert words in message


@pytest.mark.parametrize("habits", [(), ("creation-doubled",)])
@pytest.mark.parametrize(
    ("earlier", "owner"),
    [
        ("of-the-run", "Owner ${unique}"),
        ("of-the-run", "Fleet office"),
        ("before-the-run", "Owner ${unique}"),
    ],
)
def test_an_item_with_one_equal_text_is_not_a_second_resource(
    earlier: str, owner: str, habits: tuple[str, ...]
) -> None:
    """An item that a creation stored has all values that it sent, and no other request sent them:
    an update may have set the same choice, with the same fixed texts. Two items with all values of
    one creation are a second resource.
    """
    body = {"plate": "roadworthy", "owner": owner, "extras": []}
    car = ResourceConfig("car", create=ConfiguredCall("POST", "/cars", body=body))
    config = ServiceConfig(limits=Limits(writes=True), resources={"car": car})
    document = json.loads(json.dumps(DOCUMENT).replace('"plate": {', CHOICE))
    script = Garage(*habits)
    if earlier == "before-the-run":
        for plate in ("certificate", "certified abroad"):
            script.cars[plate] = {"id": plate, "plate": plate, "owner": "Mara"}
    session = http_session(script, TAXONOMY, config, document)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    if earlier == "of-the-run":
        values = {"id": session.knowledge.created["car"].id}
        changed = {"plate": "certificate", "owner": "Fleet office", "extras": []}
        session.call(RequestSpec("PUT", "/cars/{id}", values=values, body=changed))
    found = list(accepted_writes.accepted_writes(session))
    outcomes = [one for one in found if isinstance(one, Outcome) and one.clause == "writes/created"]
    twice = [one for one in outcomes if one.finding and " stored " in one.finding.message]
    assert bool(twice) == bool(habits)
    reasons = [one.reason for one in outcomes if one.kind == "not_exercised"]
    assert any("may be there twice" in str(one) for one in reasons) == ("unique" not in owner)


@pytest.mark.parametrize(
    "habits",
    [
        (),
        ("counts-reads",),
        ("gone-is-410",),
        ("deletes-again",),
        ("soft",),
        ("dated", "counts-reads"),
        ("deletion-late",),
        ("creation-late",),
        ("list-marks-deleted",),
        ("shouts",),
        ("silent", "clock"),
        ("short-pages",),
    ],
)
def test_another_way_to_keep_the_contract_passes(habits: tuple[str, ...]) -> None:
    """Soft deletions, 410, repeated 204s, late effects and changed notation pass or decide
    nothing.
    """
    found, _ = judge(Garage(*habits))
    assert not [one for one in found if one[1] == "failed"]
    if "creation-late" not in habits:  # else it was not read in time for the rest
        assert {clause for clause, kind, _ in found if kind == "passed"} == {
            *accepted_writes.CLAUSES
        }


@pytest.mark.parametrize(
    ("habit", "clause"),
    [
        ("creation-pending", "writes/created"),
        ("change-pending", "writes/updated"),
        ("deletion-pending", "writes/deleted"),
        ("deletion-announced", "writes/deleted"),
        ("locked", "writes/deleted"),
    ],
)
def test_what_was_not_done_yet_decides_nothing(habit: str, clause: str) -> None:
    """A write that is only accepted for later, or refused, leaves its clause not exercised."""
    found, _ = judge(Garage(habit))
    assert {kind for one, kind, _ in found if one == clause} == {"not_exercised"}
    assert not [one for one in found if one[1] == "failed"]


@pytest.mark.parametrize("habits", [(), ("oldest-too",)])
def test_another_car_is_missed_also_where_the_first_is_gone(habits: tuple[str, ...]) -> None:
    """The first car of the run was deleted before. The list has others, which must stay."""
    script = Garage(*habits)
    for _ in range(3):
        script.make({"plate": "OLD"})
    session = http_session(script, TAXONOMY, ServiceConfig(limits=Limits(writes=True)), DOCUMENT)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    script.cars.pop(str(session.knowledge.created["car"].id))
    session.record_results(accepted_writes.accepted_writes(session))
    found = [one.finding for one in session.observations.outcomes if one.finding is not None]
    assert [one.clause for one in found] == ["writes/deleted"] * len(habits)
    assert all("removed another one" in one.message for one in found)


def test_the_declared_time_to_settle_is_waited() -> None:
    """A read that contradicts a write is repeated after `settle`, and never before."""
    script, waits = Garage("deletion-late"), list[float]()
    config = ServiceConfig(limits=Limits(writes=True, settle=7.0))
    session = http_session(script, TAXONOMY, config, DOCUMENT)
    session.driver = ScriptedDriver(script, config.limits)
    session.driver.pause = lambda seconds: waits.append(seconds) is None  # type: ignore[method-assign]
    session.turn = session.kinds
    session.record_results(accepted_writes.accepted_writes(session))
    assert waits == [7.0]


def test_an_update_between_two_reads_is_not_sent_again() -> None:
    """An update that the run has read before and after is judged without another request. Two
    others fill what the creation leaves out, and update a member beside it; one follows the
    deletion.
    """
    script = Garage()
    config = ServiceConfig(limits=Limits(writes=True))
    document = PAGED if "short-pages" in getattr(script, "habits", ()) else DOCUMENT
    session = http_session(script, TAXONOMY, config, document)
    session.turn = session.kinds
    session.record_results(accepted_writes.accepted_writes(session))
    sent = len(session.observations.exchanges)
    session.record_results(accepted_writes.accepted_writes(session))
    again = [one.exchange.operation for one in session.observations.exchanges[sent:]]
    assert "PUT /cars/{id}" not in again
    assert again.count("PATCH /cars/{id}") <= 3


def test_nothing_is_written_without_permission() -> None:
    """A run without writes exercises none of the clauses."""
    session = http_session(Garage(), TAXONOMY, ServiceConfig(), DOCUMENT)
    session.turn = session.kinds
    session.record_results(accepted_writes.accepted_writes(session))
    kinds = {(one.clause, one.kind) for one in session.observations.outcomes}
    assert {(clause, "not_exercised") for clause in accepted_writes.CLAUSES} <= kinds
