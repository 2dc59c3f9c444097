"""Values that a recipe expects of the error that it provokes."""

import json
from collections.abc import Iterator, Mapping

from faultspec.language.values import are_equal
from faultspec_conformance.config import Recipe
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.observation import (
    Observation,
    error_details,
    failed,
    passed,
    slot_value,
)
from faultspec_conformance.session.placeholders import fill_in

CLAUSE = "provoke/expected"


def error_values(
    session: Session, recipe: Recipe, seen: Observation
) -> Mapping[str, tuple[object, object]]:
    """The slots and details that a recipe expects, in words, each with the expected value and that
    of the error.
    """
    expect = recipe.expect
    found: dict[str, tuple[object, object]] = {}
    for name, value in expect.slots.items():
        found[f"the slot `{name}`"] = value, slot_value(session.contract, seen, name)
    details = error_details(session.contract, seen)
    for name, value in expect.details.items():
        found[f"the detail `{name}`"] = value, details.get(name)
    return found


def compare_values(
    session: Session,
    recipe: Recipe,
    answer: Observation,
    expected: Mapping[str, tuple[object, object]],
    *,
    saved: Mapping[str, object],
) -> Iterator[Outcome]:
    """Compare the values of an answer with the expected ones. ``saved``: the values of the recipe,
    by name.
    """
    for place, (value, found) in expected.items():
        wanted = fill_in(session.source, value, saved)
        if are_equal(wanted, found):
            yield passed(CLAUSE)
            continue
        # The value itself may be a secret of the service.
        shown = "is missing" if found is None else "is another value"
        line = f"{place} {shown}; expected {json.dumps(wanted)}"
        message = f"the service answered {answer} to the recipe for {recipe.code}, but {line}"
        yield failed(CLAUSE, message, answer)
