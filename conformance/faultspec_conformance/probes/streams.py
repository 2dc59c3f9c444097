"""Streams: one that breaks off says so, in an event of its own."""

from collections.abc import Iterator

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import Recipe
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    ERROR_EVENTS,
    STREAM,
    Observation,
    events,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.parameters import values_for

_CLAUSE = "stream/announced"


def broken_streams(world: HttpSession) -> Iterator[Outcome]:
    """Every stream of the document, made to fail by a header that it declares and that a recipe uses elsewhere."""
    if not any(surface.transport == "stream" for surface in world.taxonomy.surfaces.values()):
        return
    streams = [
        each
        for each in world.description.operations
        if each.method == "GET" and STREAM in each.media_types
    ]
    if not streams:
        yield not_exercised(
            _CLAUSE, "the OpenAPI document has no operation that answers with text/event-stream"
        )
    for operation in streams:
        recipe = _switch(world, operation)
        if recipe is None:
            yield not_exercised(
                _CLAUSE,
                f"nothing is known to break {operation.name}: no recipe sets a header that it declares",
            )
            continue
        sent = world.call(
            "GET",
            operation.template,
            values=values_for(world, operation),
            headers=dict(recipe.steps[0].call.headers),
            accept=STREAM,
            correlation="valid",
        )
        yield _announced(world, operation, recipe, sent)


def _switch(world: HttpSession, operation: ServiceOperation) -> Recipe | None:
    """The first recipe of one request all of whose headers the operation declares."""
    return next(
        (
            recipe
            for recipe in world.target.recipes
            if len(recipe.steps) == 1
            and recipe.steps[0].call.headers
            and all(
                operation.parameter(name, "header") is not None
                for name in recipe.steps[0].call.headers
            )
        ),
        None,
    )


def _announced(
    world: HttpSession, operation: ServiceOperation, recipe: Recipe, sent: Observation
) -> Outcome:
    said = f"{operation.name}, made to fail with {recipe.code},"
    if not sent.ok:
        return not_exercised(_CLAUSE, f"{said} fails before the stream begins ({sent})")
    told = [event for event in events(sent.exchange) if event.tells(world.wires)]
    if not told:
        whole = world.call(
            "GET", operation.template, values=values_for(world, operation), accept=STREAM
        )
        if not whole.ok:
            return not_exercised(_CLAUSE, f"{operation.name} is answered {whole}")
        if len(list(events(sent.exchange))) == len(list(events(whole.exchange))):
            return not_exercised(_CLAUSE, f"{said} does not fail")
        return failed(_CLAUSE, f"{said} just ends: no event tells an error", whole, sent)
    hidden = next((each for each in told if each.name not in ERROR_EVENTS), None)
    if hidden is not None:
        return failed(
            _CLAUSE, f"{said} tells it among the data, in an event called `{hidden.name}`", sent
        )
    shapeless = next(
        (each for each in sent.inner if not each.judgement.is_error and each.code is None), None
    )
    if shapeless is not None:
        return failed(
            _CLAUSE, f"{said} has an error event that is not in the declared form", sent, shapeless
        )
    return passed(_CLAUSE)
