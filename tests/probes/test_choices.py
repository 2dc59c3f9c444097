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
WITH_FUEL = {**SCHEMA, "properties": {**PROPERTIES, "fuel": FUELS}}
WRITE = {**OK, "requestBody": {"content": {"application/json": {"schema": WITH_FUEL}}}}
PATHS: Any = DOCUMENT["paths"]
FUELLED = {**DOCUMENT, "paths": {**PATHS, "/cars": {"get": OK, "post": WRITE}}}


class FuelledGarage(Garage):
    """Cars with a fuel. A habit names the fuel whose cars are stored wrongly."""

    def make(self, body: dict[str, Any]) -> Any:
        """Make a car, or two."""
        made = super().make(body)
        if body.get("fuel") == "electric" and "electric-hidden" in self.habits:
            self.cars.popitem()
        elif f"{body.get('fuel')}-doubled" in self.habits:
            super().make(body)
        elif f"{body.get('fuel')}-refused" in self.habits:
            self.cars.popitem()
            return answer(409, {"code": "locked"})
        return made


def findings(habit: str) -> tuple[set[tuple[str, str]], ScriptedDriver]:
    """Return the clauses and messages of failures, and the driver."""
    config = ServiceConfig(limits=Limits(writes=True))
    session = http_session(FuelledGarage(habit), TAXONOMY, config, FUELLED)
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


@pytest.mark.parametrize("habit", ["", "electric-hidden", "gas-refused"])
def test_a_choice_that_is_hidden_or_refused_is_not_blamed(habit: str) -> None:
    """A choice may hide a resource or be refused; each is created once or twice at most."""
    found, driver = findings(habit)
    assert found == set()
    created = [one for one in driver.sent if b'"electric"' in one.body and one.method == "POST"]
    assert 1 <= len(created) <= 2
