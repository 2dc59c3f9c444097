"""Streams of events: a stream that fails announces the error in an event."""

from collections.abc import Iterator
from dataclasses import replace

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
from faultspec_conformance.session.requests import RequestSpec

_CLAUSE = "stream/announced"


def broken_streams(session: HttpSession) -> Iterator[Outcome]:
    """Make every stream of the document fail, by a header that it declares and that a recipe uses
    elsewhere.
    """
    surfaces = session.taxonomy.surfaces.values()
    if not any(surface.transport == "stream" for surface in surfaces):
        return
    streams = [
        operation
        for operation in session.description.operations
        if operation.method == "GET" and STREAM in operation.media_types
    ]
    if not streams:
        reason = "the OpenAPI document has no operation that answers with text/event-stream"
        yield not_exercised(_CLAUSE, reason)
    for operation in streams:
        recipe = _switch(session, operation)
        if recipe is None:
            reason = f"no request is known that makes {operation.name} fail"
            yield not_exercised(_CLAUSE, f"{reason}: no recipe sets a header that it declares")
        else:
            yield _broken_stream(session, operation, recipe)


def _switch(session: HttpSession, operation: ServiceOperation) -> Recipe | None:
    """Return the first recipe of one request whose headers the operation declares."""
    for recipe in session.config.recipes:
        headers = recipe.steps[0].call.headers if len(recipe.steps) == 1 else {}
        if headers and all(operation.parameter(name, "header") is not None for name in headers):
            return recipe
    return None


def _broken_stream(session: HttpSession, operation: ServiceOperation, recipe: Recipe) -> Outcome:
    plain = RequestSpec(
        "GET", operation.template, values=values_for(session, operation), accept=STREAM
    )
    headers = dict(recipe.steps[0].call.headers)
    broken = session.call(replace(plain, headers=headers, correlation="valid"))
    what = f"{operation.name}, made to fail with {recipe.code},"
    if not broken.ok:
        return not_exercised(_CLAUSE, f"{what} fails before the stream begins ({broken})")
    codes = session.wire_codes
    announced = [event for event in events(broken.exchange) if event.is_error(codes)]
    if not announced:
        return _judge_unannounced(session, plain, broken, what)
    misnamed = next((event for event in announced if event.name not in ERROR_EVENTS), None)
    if misnamed is not None:
        message = f"{what} sends the error as data, in an event called `{misnamed.name}`"
        return failed(_CLAUSE, message, broken, variant="name")
    for event in broken.inner:
        if not event.judgement.is_error and event.code is None:
            message = f"{what} has an error event that is not in the declared form"
            return failed(_CLAUSE, message, broken, event, variant="form")
    return passed(_CLAUSE)


def _judge_unannounced(
    session: HttpSession, plain: RequestSpec, broken: Observation, what: str
) -> Outcome:
    """Return the outcome of a stream without an error event: it failed if the whole stream has more
    events.
    """
    whole = session.call(plain)
    if not whole.ok:
        return not_exercised(_CLAUSE, f"the service answered {whole} to {plain.operation}")
    if len(list(events(broken.exchange))) == len(list(events(whole.exchange))):
        return not_exercised(_CLAUSE, f"{what} does not fail")
    return failed(_CLAUSE, f"{what} ends without an error event", whole, broken)
