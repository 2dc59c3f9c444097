"""Confidential members of requests: each gets made-up values, which no answer may contain."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.operations import MOST_OPERATIONS, json_writes
from faultspec_conformance.probes.preconditions import call_past_condition
from faultspec_conformance.probes.whole_lists import pages_config, read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.confidential import searchable
from faultspec_conformance.session.fixtures import confidential_body, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    failed,
    not_exercised,
    passed,
    point,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import required_query
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import created_path

_CLAUSE = "leaks/confidential"

#: Operations that are read after a creation with confidential members.
_READS = 8

#: Seconds in which the output of the service arrives.
_MOMENT = 0.1


def confidential_members(session: HttpSession) -> Iterator[ProbeResult]:
    """Send made-up values in confidential members: in a body that the service should accept, in one
    that its schema forbids, and below the member itself. Then search the output of the service.

    The session searches every answer, also those of later probes.
    """
    operations = [
        operation
        for operation in json_writes(session)
        if any(session.confidential.places(operation, confidential_body(session, operation)))
    ]
    for operation in operations[:MOST_OPERATIONS]:
        yield from attempt(_send_members(session, operation), _CLAUSE)
    if not operations and not session.confidential.sent_values():
        yield not_exercised(
            _CLAUSE,
            "no member of a request is confidential: the document has neither `writeOnly` nor "
            "`format: password`, and the configuration no `confidential`",
        )
    for pointer in session.confidential.find_untracked():
        yield not_exercised(
            _CLAUSE,
            f"the values that `{pointer}` takes are too short to be recognised in an answer",
        )
    yield from search_output(session)


def _send_members(session: HttpSession, operation: ServiceOperation) -> Iterator[Outcome]:
    """Send the bodies with the values. The session records the outcomes; a sound body that is
    refused is left out: the service stores no value of it.
    """
    for spoilt in ("none", "another member", "the member"):
        body = confidential_body(session, operation)
        places = [one.pointer for one in session.confidential.places(operation, body)]
        if spoilt == "the member" and isinstance(body, dict):
            # A service that looks at the type quotes what it got.
            name = places[0].split("/")[1]
            body = {**body, name: {"unexpected": body[name]}}
        elif spoilt == "another member":
            body = _spoil(session, operation, body, places)
        if body is None:
            continue
        spec = replace(request_to(session, operation), body=body)
        answer = call_past_condition(session, operation, spec)
        if answer.ok and spoilt == "none":
            _read_after(session, operation, answer)
        elif spoilt == "none":
            line = f"the service answered {answer} to {operation.name} with `{places[0]}`"
            yield not_exercised(_CLAUSE, line)


def _read_after(session: HttpSession, operation: ServiceOperation, answer: Observation) -> None:
    """Read what may show a value directly after it was stored: the item, then the lists, reports
    and logs that need no id.
    """
    caller = session.config.identity(answer.exchange.identity)
    item = created_path(session.kinds, answer)
    if item is not None:
        session.try_call(RequestSpec("GET", item, identity=caller))
    reads = [
        one
        for one in session.description.operations
        if one.method == "GET" and not one.placeholders
    ]
    own = operation.template.rstrip("/")
    for one in sorted(reads, key=lambda one: one.template != own)[:_READS]:
        query = required_query(session, one)
        spec = RequestSpec("GET", one.template, identity=caller, query=query)
        with suppress(Unanswered):  # a log may show the oldest first
            read_pages(
                session, one, pages_config(session, one), replace(spec, wait_when_limited=False)
            )


def _spoil(
    session: HttpSession, operation: ServiceOperation, body: object, places: list[str]
) -> object:
    """Return a body that the schema forbids, with its confidential members as they are; None if
    there is none.
    """
    assert operation.body is not None
    schema = operation.body.schema
    found = (
        violation.body
        for violation in sampling.violations(session.source, schema, body, "faultspec")
        if all(point(violation.body, place) == point(body, place) for place in places)
    )
    return next(found, None)


def search_sinks(session: Session) -> Iterator[Outcome]:
    """Search the records of sinks for the values that were sent. One of a sink is reported."""
    session.read_sinks()
    records = [one for one in session.observations.exchanges if one.exchange.transport == "log"]
    leaky: set[str] = set()
    for record in records if session.confidential.sent_values() else ():
        name = record.exchange.request.target
        where, text = f"a record of `{name}`", searchable(record)
        outcome = _search_log(session, where, text, record, variant=name)
        if outcome.finding is None or name not in leaky:
            yield outcome
        if outcome.finding is not None:
            leaky.add(name)


def search_output(session: Session) -> Iterator[Outcome]:
    """Search the output of the service, if the suite started it, a moment after its last answer."""
    text = session.output_text()
    if text is None or not session.confidential.sent_values():
        return
    if session.driver.pause(_MOMENT):
        text = session.output_text() or text
    yield _search_log(session, "the output of the service", text, variant="log")


def _search_log(
    session: Session, where: str, text: str, *evidence: Observation, variant: str
) -> Outcome:
    """The outcome for a text that the service logged. ``evidence``: where it stands, beside the
    exchange that sent the value.
    """
    found = session.confidential.find(text, success=False)
    if found is None:
        return passed(_CLAUSE)
    planted, what = found
    message = (
        f"{where} contains {what} of the confidential member "
        f"`{planted.place.pointer}`; no log may contain it"
    )
    assert planted.sent is not None
    return failed(_CLAUSE, message, planted.sent, *evidence, variant=variant)
