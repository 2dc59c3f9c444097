"""Each constraint of the OpenAPI document, broken once and met exactly at its bound.

The two kinds of request share one budget.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from faultspec.exchange.model import Canary
from faultspec.openapi.service import OperationParameter, ServiceOperation
from faultspec_conformance.config.context import wire_text
from faultspec_conformance.probes.bounds import (
    AllowedInput,
    allowed_inputs,
    is_free_header,
    send_allowed,
)
from faultspec_conformance.probes.fresh_items import FreshItems
from faultspec_conformance.probes.named_inputs import WrongInput, check_named_input
from faultspec_conformance.probes.operations import json_writes
from faultspec_conformance.probes.refusals import check_invalid_input, is_checked_first
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import body_for, ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import not_exercised
from faultspec_conformance.session.observations import Note, ProbeResult, attempt
from faultspec_conformance.session.parameters import likely_values
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.sampling import BrokenConstraint

_CLAUSE, _BOUNDS = "framework/invalid-input", "document/bounds"

#: Requests of all operations together, if the run has no more than it needs, and of one of them.
_REQUESTS, _OF_ONE = 120, 40

#: Lower bounds of a value.
_LOWER = frozenset({"minLength", "minimum"})

#: Constraints that an unknown member breaks. A refusal may name what it would have in its place.
_CLOSED = frozenset(sampling.CLOSING)

#: Constraints that a wrong text breaks.
_TEXTS = frozenset({"maxLength", "pattern", "enum", *_CLOSED})

#: The part of the requests of a run that probes may spend, the fewest of a sweep, and the fewest
#: that break constraints.
_OF_PROBES, _OF_SWEEP, _LEAST = 0.9, 60, 24

#: Refusals for another reason in a row, after which an operation is left alone.
_FUTILE = 3


@dataclass(frozen=True, slots=True)
class _ForbiddenInput:
    """A request with one broken constraint. ``known``: the names of the inputs.

    ``valid``: the same request without it.
    """

    constraint: BrokenConstraint
    spec: RequestSpec
    valid: RequestSpec
    known: frozenset[str]


def constraints(session: HttpSession) -> Iterator[ProbeResult]:
    """Break each constraint of each operation in a request of its own, with a canary in each wrong
    text, and send each value at a bound in another one; the operations take turns.
    """
    operations = [
        operation
        for operation in session.inventory.operations
        if session.writable or not operation.writes
    ]
    most = _count_requests(session)
    left, refused = most, Counter[tuple[str, type]]()
    items = FreshItems(session)
    rounds = zip_longest(*(islice(_inputs(session, one), _OF_ONE) for one in operations))
    for sent in (one for turn in rounds for one in turn if one is not None):
        key = f"{sent.spec.method} {sent.spec.template}", type(sent)
        if refused[key] >= _FUTILE:
            continue
        if not left:
            yield Note(f"the constraints beyond {most} requests are left out")
            return
        left -= 1
        outcomes = _send_input(session, items, sent)
        if _is_early(outcomes) and items.renew(sent.spec):
            left = max(left - 1, 0)
            outcomes = _send_input(session, items, sent)
        early = _is_early(outcomes)
        # What is refused early of one kind is refused early of both; an acceptance counts alone.
        for kind in (_ForbiddenInput, AllowedInput) if early else ():
            refused[key[0], kind] += 1
        if not early:
            refused[key] = 0
        yield from outcomes
    if left == most:
        yield not_exercised(_CLAUSE, "no schema of a body or a query has a constraint")


def _count_requests(session: HttpSession) -> int:
    """Return how many requests may break constraints: what the run has beyond its sweep, or a fixed
    number as far as a small sweep is left.
    """
    limits, spent = session.driver.limits, session.driver.requests
    beyond = limits.requests - spent - session.config.sweep.requests
    room = int(limits.requests * _OF_PROBES) - spent - _OF_SWEEP
    return max(beyond, min(_REQUESTS, room), _LEAST)


def _send_input(
    session: HttpSession, items: FreshItems, sent: "_ForbiddenInput | AllowedInput"
) -> tuple[ProbeResult, ...]:
    """Send a request on the item that its operation was last given."""
    if isinstance(sent, _ForbiddenInput):
        placed = replace(sent, spec=items.place(sent.spec), valid=items.place(sent.valid))
        return tuple(attempt(_send(session, placed), _CLAUSE))
    inside = items.place(sent.inside) if sent.inside is not None else None
    return tuple(
        attempt(
            send_allowed(session, replace(sent, spec=items.place(sent.spec), inside=inside)),
            _BOUNDS,
        )
    )


def _is_early(outcomes: tuple[ProbeResult, ...]) -> bool:
    """Whether the service checked something else before the input."""
    return any(isinstance(one, Outcome) and is_checked_first(one) for one in outcomes)


def _inputs(
    session: HttpSession, operation: ServiceOperation
) -> Iterator[_ForbiddenInput | AllowedInput]:
    """Yield the requests of an operation: a forbidden and an allowed one in turn."""
    for pair in zip_longest(_forbidden(session, operation), allowed_inputs(session, operation)):
        yield from (one for one in pair if one is not None)


def _forbidden(session: HttpSession, operation: ServiceOperation) -> Iterator[_ForbiddenInput]:
    """Yield requests that each break a constraint: the few of headers first, then those of the
    body.
    """
    for parameter in operation.parameters:
        if is_free_header(session, parameter) or _is_key(session, operation, parameter):
            yield from _headers(session, operation, parameter)
    if operation.writes and operation.name in {one.name for one in json_writes(session)}:
        yield from _bodies(session, operation)
    for parameter in operation.parameters:
        if parameter.where == "query":
            yield from _queries(session, operation, parameter)


def _is_key(
    session: HttpSession, operation: ServiceOperation, parameter: OperationParameter
) -> bool:
    """Whether a parameter is the idempotency key of an operation."""
    rule = session.key_rule(operation)
    if rule is None or operation.method not in rule.methods or rule.key.kind != "header":
        return False
    return parameter.where == "header" and parameter.name.lower() == rule.key.at.lower()


def _bodies(session: HttpSession, operation: ServiceOperation) -> Iterator[_ForbiddenInput]:
    assert operation.body is not None
    mark, schema = session.canary("value"), operation.body.schema
    body = body_for(session, operation)
    node = sampling.merge_all_of(session.description.document, schema)
    known = frozenset({*sampling.properties_of(node), *(body if isinstance(body, dict) else ())})
    for constraint in sampling.broken_constraints(session.source, schema, body, mark.value):
        spec = ordinary_request(session, operation)
        value = _renew_members(spec.body, constraint)
        wrong = replace(spec, body=value, canaries=_canaries(constraint, mark))
        yield _ForbiddenInput(constraint, wrong, spec, known)


def _renew_members(body: object, constraint: BrokenConstraint) -> object:
    """Return a new body with the member that breaks a constraint: values that must be unique are
    those of no other request.
    """
    first = constraint.path[0] if constraint.path else None
    value = constraint.value
    if not isinstance(body, dict) or not isinstance(value, dict) or first is None:
        return value
    if first not in value:
        return {name: member for name, member in body.items() if name != first}
    return {**body, first: value[first]}


def _queries(
    session: HttpSession, operation: ServiceOperation, parameter: OperationParameter
) -> Iterator[_ForbiddenInput]:
    mark = session.canary("value")
    node = sampling.merge_all_of(session.description.document, parameter.schema)
    if sampling.kind(node) in ("array", "object"):
        return  # documents differ in how they write these
    valid = sampling.sample_value(session.source, node)
    known = frozenset(one.name for one in operation.parameters if one.where == "query")
    for constraint in sampling.broken_constraints(session.source, node, valid, mark.value):
        spec = ordinary_request(session, operation, likely_values(session, operation))
        query = {**spec.query, parameter.name: constraint.value}
        # Many services reduce a page size that is too large.
        reduced = constraint.keyword == "maximum" and "minimum" in node
        constraint = replace(
            constraint, path=(parameter.name,), sure=constraint.sure and not reduced
        )
        wrong = replace(spec, query=query, canaries=_canaries(constraint, mark))
        yield _ForbiddenInput(constraint, wrong, spec, known)


def _headers(
    session: HttpSession, operation: ServiceOperation, parameter: OperationParameter
) -> Iterator[_ForbiddenInput]:
    """Yield requests with a header below its bound. An empty header may count as none."""
    node = sampling.merge_all_of(session.description.document, parameter.schema)
    if sampling.kind(node) in ("array", "object"):
        return
    valid = sampling.sample_value(session.source, node)
    known = frozenset(one.name for one in operation.parameters if one.where == "header")
    for constraint in sampling.broken_constraints(session.source, node, valid, ""):
        if constraint.keyword in _LOWER:
            spec = ordinary_request(session, operation, likely_values(session, operation))
            value = wire_text(constraint.value)
            sure = constraint.sure and value != ""
            constraint = replace(constraint, path=(parameter.name,), sure=sure)
            wrong = replace(spec, headers={**spec.headers, parameter.name: value})
            yield _ForbiddenInput(constraint, wrong, spec, known)


def _canaries(constraint: BrokenConstraint, mark: Canary) -> tuple[Canary, ...]:
    return (mark,) if constraint.keyword in _TEXTS else ()


def _send(session: HttpSession, forbidden: _ForbiddenInput) -> Iterator[Outcome]:
    constraint = forbidden.constraint
    name = constraint.path[-1] if constraint.path else "the body"
    what = f"`{name}` with {constraint.what}"
    answer = session.call(replace(forbidden.spec, trigger=what))
    if answer.ok and not constraint.sure:
        yield not_exercised(_CLAUSE, f"{answer.exchange.operation} accepts {what}")
        return
    yield check_invalid_input(session, answer, what, in_item=constraint.in_item)
    if constraint.path and constraint.keyword not in _CLOSED:
        known, above = forbidden.known | {*constraint.path}, constraint.path[:-1]
        wrong = WrongInput(name, known, what, above)
        yield from check_named_input(session, answer, wrong, forbidden.valid)
