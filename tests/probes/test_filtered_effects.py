"""Filtered lists after writes: a deleted resource leaves them, and an updated one leaves those that
it no longer fits.
"""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import accepted_writes, resources
from probes.test_accepted_writes import DOCUMENT, OK, PART_SCHEMA, TAXONOMY, WHOLE, Garage
from support.scripted import answer, http_session

STATUS = {"type": "string", "enum": ["new", "used"]}
FILTERS = [
    {"name": "status", "in": "query", "schema": STATUS},
    {"name": "plate", "in": "query", "schema": {"type": "string"}},
]
PROPERTIES: Any = PART_SCHEMA["properties"]
CHANGE = {**PART_SCHEMA, "properties": {**PROPERTIES, "status": STATUS}}
PART = {**OK, "requestBody": {"content": {"application/json": {"schema": CHANGE}}}}
SHOWN = {"type": "object", "properties": {**CHANGE["properties"], "id": {"type": "string"}}}
READ = {
    "responses": {"200": {"description": "one", "content": {"application/json": {"schema": SHOWN}}}}
}
FILTERED = {
    **DOCUMENT,
    "paths": {
        "/cars": {"get": {**OK, "parameters": FILTERS}, "post": WHOLE},
        "/cars/{id}": {"get": READ, "put": WHOLE, "patch": PART, "delete": OK},
    },
}


class FilteredGarage(Garage):
    """Cars with a list by their status."""

    def page(self, target: str) -> Any:
        """The list, or the cars of one status."""
        wanted = dict(parse_qsl(urlsplit(target).query)).get("status")
        if wanted is None:
            return super().page(target)
        shown = [*self.cars.values()]
        if "filter-keeps-updated" in self.habits:
            shown = [{**car, "status": "new"} for car in shown]
        if "filter-keeps-deleted" in self.habits:
            shown += self.gone.values()
        if "filter-is-late" in self.habits and next(self.reads) % 2:
            shown += [{**car, "status": wanted} for car in self.gone.values()]
        return answer(200, [car for car in shown if car["status"] == wanted])


def findings(*habits: str) -> set[tuple[str, str]]:
    """Return the clause and the message of each failure about accepted writes."""
    config = ServiceConfig(limits=Limits(writes=True))
    session = http_session(FilteredGarage(*habits), TAXONOMY, config, FILTERED)
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(accepted_writes.accepted_writes(session))
    return {
        (one.clause, one.finding.message)
        for one in session.observations.outcomes
        if one.finding is not None
    }


@pytest.mark.parametrize(
    ("habit", "clause", "words"),
    [
        ("filter-keeps-deleted", "writes/deleted", "with `status=new` shows the car"),
        ("filter-keeps-updated", "writes/updated", "shows the car, whose `status` is used"),
        ("keeps-status", "writes/updated", "but `status` of the car stays as it was"),
    ],
)
def test_what_a_filtered_list_keeps_is_found(habit: str, clause: str, words: str) -> None:
    """A list by a value shows the resource no longer when it is deleted or has another value."""
    [(failing, message)] = findings(habit)
    assert failing == clause
    assert words in message


@pytest.mark.parametrize("habits", [(), ("soft",), ("filter-is-late",), ("counts-reads",)])
def test_a_filtered_list_that_follows_its_resources_passes(habits: tuple[str, ...]) -> None:
    """A list that follows at once or after a while, and a soft deletion, are not blamed."""
    assert findings(*habits) == set()
