"""Each choice of a creation is created: a service may store one of them in a wrong way."""

from typing import Any

import pytest

from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import accepted_writes, resources
from probes.test_accepted_writes import DOCUMENT, OK, SCHEMA, TAXONOMY, Garage
from support.scripted import ScriptedDriver, answer, http_session

PROPERTIES: Any = SCHEMA["properties"]
FUELS = {"type": "string", "enum": ["petrol", "gas", "electric"]}
PATHS: Any = DOCUMENT["paths"]


def document(member: str) -> dict[str, object]:
    """The document of the garage, whose cars have fuels under this name."""
    schema = {**SCHEMA, "properties": {**PROPERTIES, member: FUELS}}
    write = {**OK, "requestBody": {"content": {"application/json": {"schema": schema}}}}
    return {**DOCUMENT, "paths": {**PATHS, "/cars": {"get": OK, "post": write}}}


class FuelledGarage(Garage):
    """Cars with a fuel. A habit names the fuel whose cars are stored wrongly."""

    member = "fuel"

    def make(self, body: dict[str, Any]) -> Any:
        """Make a car, or two."""
        made, fuel = super().make(body), body.get(self.member)
        if fuel == "electric" and "electric-hidden" in self.habits:
            self.cars.popitem()
        elif f"{fuel}-doubled" in self.habits:
            super().make(body)
        elif f"{fuel}-refused" in self.habits:
            self.cars.popitem()
            return answer(409, {"code": "locked"})
        return made


def findings(habit: str, member: str = "fuel") -> tuple[set[tuple[str, str]], ScriptedDriver]:
    """Return the clauses and messages of failures, and the driver."""
    config = ServiceConfig(limits=Limits(writes=True))
    garage = FuelledGarage(habit)
    garage.member = member
    session = http_session(garage, TAXONOMY, config, document(member))
    session.turn = session.kinds
    session.record_results(resources.fixtures(session))
    session.record_results(accepted_writes.accepted_writes(session))
    assert isinstance(session.driver, ScriptedDriver)
    found = session.observations.outcomes
    return {(one.clause, one.finding.message) for one in found if one.finding}, session.driver


@pytest.mark.parametrize("fuel", ["gas", "electric"])
def test_a_choice_that_is_stored_twice_is_found(fuel: str) -> None:
    """A creation of one choice that stores two resources fails."""
    [(clause, message)] = findings(f"{fuel}-doubled")[0]
    assert clause == "writes/created"
    assert "stored 2 of `car`" in message


def test_a_choice_that_is_not_stored_is_found() -> None:
    """A creation of one choice that succeeds and stores nothing fails."""
    [(clause, message)] = findings("electric-hidden")[0]
    assert clause == "writes/created"
    assert "no `car` is stored" in message


@pytest.mark.parametrize(
    ("habit", "member"), [("", "fuel"), ("electric-hidden", "visibility"), ("gas-refused", "fuel")]
)
def test_a_choice_that_is_hidden_or_refused_is_not_blamed(habit: str, member: str) -> None:
    """A state may hide a resource, and a choice may be refused; each is created once or twice at
    most.
    """
    found, driver = findings(habit, member)
    assert found == set()
    created = [one for one in driver.sent if b'"electric"' in one.body and one.method == "POST"]
    assert 1 <= len(created) <= 2
