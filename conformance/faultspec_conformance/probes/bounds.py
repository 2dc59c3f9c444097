"""Values that the OpenAPI document allows, each exactly at a bound.

An ordinary request is the base, and one value of it is replaced. What every answer is judged by
finds the crashes. A refusal is a warning at most, and only if the next value within the bounds is
accepted: a service may have reasons that no document can express.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

from faultspec.openapi.nodes import Json
from faultspec.openapi.service import OperationParameter, ServiceOperation
from faultspec.runtime.nodes import child
from faultspec_conformance.config.context import wire_text
from faultspec_conformance.probes.named_inputs import names_another_input
from faultspec_conformance.probes.operations import json_writes
from faultspec_conformance.probes.refusals import CHECKED_FIRST, checked_first
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fault_switches import STANDARD
from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import accepts_key
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.parameters import CREDENTIAL, likely_values
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.sampling import ValueAtBound

_CLAUSE = "document/bounds"

#: Characters of a value in the head of a request. Many servers accept 8 KiB for the whole head.
_LONGEST = 2_000

#: Characters of an id that names nothing which a write might change.
_UNKNOWN = 12


@dataclass(frozen=True, slots=True)
class AllowedInput:
    """A request with one value at its bound. ``what``: the value in words.

    ``inside``: the same request with the next value within the bounds, or None. ``may_be_absent``:
    the value is an id, which need not exist. ``name``: the input at its bound; ``known``: the names
    of all inputs. ``others``: what else of the request its schema forbids.
    """

    what: str
    spec: RequestSpec
    inside: RequestSpec | None = None
    may_be_absent: bool = False
    name: str = ""
    known: frozenset[str] = frozenset()
    others: tuple[str, ...] = ()


def allowed_inputs(session: HttpSession, operation: ServiceOperation) -> Iterator[AllowedInput]:
    """Yield requests with one value at a bound each, those of the body first.

    Each is made when it is asked for, so that values of the base are new.
    """
    if operation.writes and operation.name in {one.name for one in json_writes(session)}:
        yield from _bodies(session, operation)
    yield from _whole_query(session, operation)
    for parameter in operation.parameters:
        if parameter.where != "header" and _is_key_at(session, operation, parameter.name):
            continue
        if parameter.where == "query" or is_free_header(session, parameter):
            yield from _parameter(session, operation, parameter)
        elif parameter.where == "path":
            yield from _ids(session, operation, parameter)


def send_allowed(session: HttpSession, allowed: AllowedInput) -> Iterator[Outcome]:
    """Send a value at a bound; if it is refused as invalid, send the next value within as well. A
    description that was learned from answers promises nothing, so a refusal shows nothing there.
    """
    answer = session.call(replace(allowed.spec, trigger=allowed.what))
    line = f"the service answered {answer} to {answer.exchange.operation} with {allowed.what}"
    if answer.ok or (allowed.may_be_absent and answer.status in (404, 410)):
        yield passed(_CLAUSE)
    elif answer.status in CHECKED_FIRST and not allowed.may_be_absent:
        yield checked_first(_CLAUSE, answer)
    elif (
        answer.status not in INVALID_INPUT or allowed.inside is None or session.description.learned
    ):
        yield not_exercised(_CLAUSE, line)
    elif allowed.others:
        reason = f"the request has other values that its schema forbids: {allowed.others[0]}"
        yield not_exercised(_CLAUSE, f"{line}; {reason}")
    elif allowed.name and names_another_input(answer, allowed.name, allowed.known):
        yield not_exercised(_CLAUSE, f"{line}, and the refusal names another input")
    else:
        nearest = session.call(allowed.inside)
        if nearest.ok:
            message = f"{line}, which the document allows; the next value within is accepted"
            yield failed(_CLAUSE, message, nearest, answer, level="warning")
        else:
            yield not_exercised(_CLAUSE, line)


def _bodies(session: HttpSession, operation: ServiceOperation) -> Iterator[AllowedInput]:
    assert operation.body is not None
    first = ordinary_request(session, operation)
    node = sampling.merge_all_of(session.description.document, operation.body.schema)
    for found in sampling.values_at_bounds(session.source, operation.body.schema, first.body):
        if _is_key_at(session, operation, reduce(child, found.path, "")):
            continue
        spec, inside = (
            None if value is None else _with_body(ordinary_request(session, operation), value)
            for value in (found, found.neighbour)
        )
        assert spec is not None
        names = [str(one) for one in found.path if isinstance(one, str)]
        name = f"`{names[-1]}`" if names else "the body"
        yield AllowedInput(
            f"{name} of {found.what}",
            spec,
            inside,
            name=names[-1] if names else "",
            known=_names_in(spec.body, node),
            others=_others(session, operation, spec.body, found),
        )


def _is_key_at(session: HttpSession, operation: ServiceOperation, at: str) -> bool:
    """Whether a member or parameter is the key of idempotency: a value at its bound, sent once
    more with another body, is not refused for the bound.
    """
    rule = session.key_rule(operation)
    return rule is not None and accepts_key(session, operation) and rule.key.at == at


def _names_in(body: object, node: Json) -> frozenset[str]:
    members = body if isinstance(body, dict) else {}
    return frozenset({*sampling.properties_of(node), *map(str, members)})


def _others(
    session: HttpSession, operation: ServiceOperation, body: object, found: ValueAtBound
) -> tuple[str, ...]:
    """The members of a body, but for the one at its bound, whose values the schema forbids."""
    schema = operation.body.schema if operation.body is not None else {}
    document = session.description.document
    wrong = sampling.invalid_members(document, schema, body)
    return tuple(
        f"`{path[-1]}`" for path in wrong if path and path[: len(found.path)] != found.path
    )


def _with_body(spec: RequestSpec, value: ValueAtBound) -> RequestSpec:
    return replace(spec, body=value.put_into(spec.body))


def _whole_query(session: HttpSession, operation: ServiceOperation) -> Iterator[AllowedInput]:
    """Yield the request with all optional parameters of its query."""
    spec = _ordinary(session, operation)
    added = {
        parameter.name: sampling.sample_value(session.source, node)
        for parameter in operation.parameters
        if parameter.where == "query" and parameter.name not in spec.query
        for node in [sampling.merge_all_of(session.description.document, parameter.schema)]
        if sampling.kind(node) not in ("array", "object")
    }
    if len(added) > 1:
        query = {**added, **spec.query}
        yield AllowedInput("all parameters of the query", replace(spec, query=query))


def _parameter(
    session: HttpSession, operation: ServiceOperation, parameter: OperationParameter
) -> Iterator[AllowedInput]:
    """Yield the values at the bounds of a parameter of the query, or of a header."""
    for found in _values(session, operation, parameter):
        near = found.neighbour
        yield AllowedInput(
            f"`{parameter.name}` of {found.what}",
            _with_parameter(session, operation, parameter, found.value),
            None if near is None else _with_parameter(session, operation, parameter, near.value),
            name=parameter.name,
            known=frozenset(one.name for one in operation.parameters),
        )


def _with_parameter(
    session: HttpSession, operation: ServiceOperation, parameter: OperationParameter, value: object
) -> RequestSpec:
    """The ordinary request with this value of a parameter."""
    spec = _ordinary(session, operation)
    match parameter.where:
        case "query":
            return replace(spec, query={**spec.query, parameter.name: value})
        case "path":
            return replace(spec, values={**spec.values, parameter.name: value})
    return replace(spec, headers={**spec.headers, parameter.name: wire_text(value)})


def _ids(
    session: HttpSession, operation: ServiceOperation, parameter: OperationParameter
) -> Iterator[AllowedInput]:
    """Yield the values at the bounds of an id. A write gets long texts, which name nothing: the
    suite did not make what another id names.
    """
    for found in _values(session, operation, parameter):
        long = found.keyword == "maxLength" and len(str(found.value)) >= _UNKNOWN
        if found.value == "" or (operation.writes and not long):
            continue
        spec = _with_parameter(session, operation, parameter, found.value)
        yield AllowedInput(f"`{parameter.name}` of {found.what}", spec, may_be_absent=True)


def _values(
    session: HttpSession, operation: ServiceOperation, parameter: OperationParameter
) -> Iterator[ValueAtBound]:
    """Yield the values at the bounds of a parameter that the ordinary request lacks. Documents
    differ in how they write lists and objects there, and null.
    """
    node = sampling.merge_all_of(session.description.document, parameter.schema)
    if sampling.kind(node) in ("array", "object"):
        return
    spec = _ordinary(session, operation)
    sent = {**spec.query, **spec.values}.get(parameter.name)
    for found in sampling.values_at_bounds(session.source, node, sent):
        written = isinstance(found.value, str | int | float)
        empty = found.value == "" and parameter.where == "header"
        if written and not empty and len(str(found.value)) <= _LONGEST:
            yield found


def _ordinary(session: HttpSession, operation: ServiceOperation) -> RequestSpec:
    return ordinary_request(session, operation, likely_values(session, operation))


def is_free_header(session: HttpSession, parameter: OperationParameter) -> bool:
    """Whether a header is input of the operation: no credential, no switch of faults, and nothing
    that HTTP or the taxonomy gives a meaning.
    """
    name = parameter.name.lower()
    own = {session.echo.header.lower()} if session.echo is not None else set()
    own |= {key.at.lower() for key in session.taxonomy.key_places if key.kind == "header"}
    own |= {switch.header for switch in session.switches if switch.header is not None}
    free = name not in STANDARD | own and not CREDENTIAL.search(name)
    return parameter.where == "header" and free
