"""Requests beyond a limit: values out of bounds, long queries, large heads, oversized bodies."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial

from faultspec.openapi.service import OperationParameter, ServiceOperation
from faultspec_conformance.config import ABSENT
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.probes.named_inputs import WrongInput, check_named_input
from faultspec_conformance.probes.operations import (
    MOST_OPERATIONS,
    creates,
    json_writes,
    needs_members,
)
from faultspec_conformance.probes.refusals import (
    CHECKED_FIRST,
    ask_after_failure,
    broken_form,
    check_invalid_input,
    check_refusal,
    checked_first,
    is_checked_first,
    is_transient,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import body_for, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import renew_key
from faultspec_conformance.session.observation import Observation, failed, not_exercised, passed
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import readable_operation, required_query
from faultspec_conformance.session.requests import RequestSpec

_INVALID, _OVERSIZED, _HEAD = (
    "framework/invalid-input",
    "framework/oversized",
    "framework/large-head",
)

_BROKEN = "a query that lacks a required parameter, or has one of another type"

#: Operations that get an oversized body, until one of them looks at it.
_CANDIDATES = 3

#: Other operations that get the largest body.
_OTHERS = 6

#: Lists whose query is broken.
_QUERIES = MOST_OPERATIONS // 3

#: Query parameters that get a value beyond their bounds.
_BOUNDS = 6

#: Bytes of body: just over common limits of frameworks, of proxies, and of gateways.
_SIZES = (128 * 1024 + 1, 1024 * 1024 + 65_537, 11 * 1024 * 1024)

#: The status of a body that is too large (RFC 9110, 15.5.14).
_TOO_LARGE = 413

#: Characters of a query: over the usual 8 KiB, under the 16 and 64 KiB at which servers close the
#: connection.
_LONG = 9_000

#: Bytes of a header section: the limit of Node and of proxies, and more than uvicorn or Go's
#: proxies accept.
_HEADS = (16 * 1024, 128 * 1024)


def invalid_queries(session: HttpSession) -> Iterator[ProbeResult]:
    """Leave out query parameters or break their type, with canaries in others; then exceed each
    bound.
    """
    if session.description.learned:
        yield not_exercised(_INVALID, "no document says which query is forbidden")
        return
    asked = 0
    for operation in session.description.operations:
        if operation.method != "GET" or operation.placeholders or asked >= _QUERIES:
            continue
        mark = session.canary("value")
        broken = _broken_query(session, operation, mark.value)
        if broken is None:
            continue
        asked += 1
        email, secret = session.canary("email"), session.canary("secret")
        answer = session.call(
            RequestSpec(
                "GET",
                operation.template,
                query={**broken, "contact": email.value, "access_key": secret.value},
                canaries=(mark, email, secret),
                trigger=_BROKEN,
            )
        )
        yield check_invalid_input(session, answer, _BROKEN)
    for operation, parameter in _bounded_parameters(session)[:_BOUNDS]:
        yield from attempt(_send_beyond(session, operation, parameter), _INVALID)
    for operation, parameter in _dates(session)[:_BOUNDS]:
        yield from attempt(_send_impossible_day(session, operation, parameter), _INVALID)


def _broken_query(
    session: HttpSession, operation: ServiceOperation, mark: str
) -> dict[str, object] | None:
    """Return a query that the document forbids: without required parameters, or with one of
    another type; else None.
    """
    parameters = [parameter for parameter in operation.parameters if parameter.where == "query"]
    if any(parameter.required for parameter in parameters):
        return {}
    for parameter in parameters:
        schema = sampling.only_branch(session.description.document, parameter.schema)
        kind = sampling.kind(schema)
        if kind in ("integer", "number", "boolean") or (
            kind == "string" and isinstance(schema.get("enum"), list)
        ):
            return {parameter.name: mark}
    return None


def _bounded_parameters(session: HttpSession) -> list[tuple[ServiceOperation, OperationParameter]]:
    """Return the bounded query parameters of lists: each name once before its repetitions, which
    one framework reads alike.
    """
    found = [
        (operation, parameter)
        for operation in session.description.operations
        if operation.method == "GET" and not operation.placeholders
        for parameter in operation.parameters
        if parameter.where == "query"
        and sampling.value_out_of_bounds(
            sampling.only_branch(session.description.document, parameter.schema), "faultspec"
        )
        is not None
    ]
    first = {parameter.name: parameter for _, parameter in reversed(found)}
    return sorted(found, key=lambda pair: first[pair[1].name] is not pair[1])


def _send_beyond(
    session: HttpSession, operation: ServiceOperation, parameter: OperationParameter
) -> Iterator[Outcome]:
    """Send a value just beyond a bound: the lower one if there is one, for many services reduce a
    value that is too large.
    """
    mark = session.canary("value")
    schema = sampling.only_branch(session.description.document, parameter.schema)
    lower = {name: value for name, value in schema.items() if name != "maximum"}
    value = sampling.value_out_of_bounds(lower if "minimum" in lower else schema, mark.value)
    if value is None:
        return
    spec = RequestSpec(
        "GET",
        operation.template,
        query={**required_query(session, operation), parameter.name: value},
        canaries=(mark,) if isinstance(value, str) else (),
    )
    shown = f"{value}" if isinstance(value, int) else "text"
    what = f"`{parameter.name}` beyond its bounds ({shown})"
    answer = session.call(replace(spec, trigger=what))
    yield check_invalid_input(session, answer, what)
    names = {other.name for other in operation.parameters if other.where == "query"}
    wrong = WrongInput(parameter.name, frozenset(names), what)
    yield from check_named_input(
        session, answer, wrong, replace(spec, query=required_query(session, operation))
    )


def _dates(session: HttpSession) -> list[tuple[ServiceOperation, OperationParameter]]:
    """Return the query parameters of lists that are dates, each name once."""
    document = session.description.document
    found = {
        parameter.name: (operation, parameter)
        for operation in reversed(session.description.operations)
        if operation.method == "GET" and not operation.placeholders
        for parameter in operation.parameters
        if parameter.where == "query"
        and sampling.impossible_day(sampling.only_branch(document, parameter.schema)) is not None
    }
    return [*found.values()]


def _send_impossible_day(
    session: HttpSession, operation: ServiceOperation, parameter: OperationParameter
) -> Iterator[Outcome]:
    """Send a date that does not exist. A service need not check the format of a text."""
    schema = sampling.only_branch(session.description.document, parameter.schema)
    day = sampling.impossible_day(schema)
    query = {**required_query(session, operation), parameter.name: day}
    what = f"a {schema['format']} as `{parameter.name}` that does not exist"
    answer = session.call(RequestSpec("GET", operation.template, query=query, trigger=what))
    if answer.ok:
        yield not_exercised(_INVALID, f"{operation.name} accepts {what}")
    else:
        yield check_refusal(session, _INVALID, answer, what)


def searches(session: HttpSession) -> Iterator[ProbeResult]:
    """Search for a string that occurs nowhere: an empty result is a success."""
    answered = {seen.exchange.operation for seen in session.knowledge.exchanges if seen.ok}
    for operation in session.description.operations:
        texts = {
            parameter.name: session.tokens.hex(8)
            for parameter in operation.parameters
            if parameter.where == "query" and _is_free_text(session, parameter)
        }
        asks = operation.method == "GET" and not operation.placeholders
        if asks and texts and operation.name not in answered:
            yield from attempt(_search(session, operation, texts))


def _search(
    session: HttpSession, operation: ServiceOperation, texts: Mapping[str, object]
) -> Iterator[Outcome]:
    query = {**required_query(session, operation), **texts}
    searched = "a string that occurs nowhere"
    spec = RequestSpec("GET", operation.template, query=query, trigger=searched)
    first = session.call(spec)
    answer = ask_after_failure(session, first) if is_transient(session, first) else first
    if isinstance(answer, NoAnswer):
        yield not_exercised(_INVALID, answer.reason)
    elif answer.status >= 500:
        what = f"{operation.name} for {searched}"
        message = f"the service answered {answer} to {what}; expected a status below 500"
        yield failed(_INVALID, message, answer, variant="search")


def _is_free_text(session: HttpSession, parameter: OperationParameter) -> bool:
    schema = sampling.only_branch(session.description.document, parameter.schema)
    limits = {"enum", "const", "format", "pattern", "default"}
    return sampling.kind(schema) == "string" and limits.isdisjoint(schema)


def long_requests(session: HttpSession) -> Iterator[Outcome]:
    """Send a long query, and header sections that some servers refuse before the application sees
    them.
    """
    operation = readable_operation(session)
    if operation is None:
        yield not_exercised(_OVERSIZED, "no operation can be read without an id")
        return
    query = required_query(session, operation)
    plain = RequestSpec("GET", operation.template, query=query)
    padded = {**query, "padding": "x" * _LONG}
    what = f"a query of {_LONG} characters"
    spec = replace(plain, query=padded, may_disconnect=True, trigger=what, correlation="valid")
    answer = session.try_call(replace(spec, server_may_refuse=True))
    if isinstance(answer, NoAnswer) or answer.ok:
        yield not_exercised(_OVERSIZED, f"the service accepts {what}")
    elif session.is_from_server(answer.exchange) and broken_form(answer) is not None:
        message = f"the server answers {what} with {answer}, not in the declared form"
        yield failed(_HEAD, message, answer, level="warning", variant="query")
    elif answer.status not in CHECKED_FIRST:
        yield check_refusal(session, _OVERSIZED, answer, what)
    for size in _HEADS:
        outcomes = tuple(_large_head(session, plain, size))
        yield from outcomes
        if any(outcome.kind != "not_exercised" for outcome in outcomes):
            break  # a larger one is refused as well, most likely in the same words


def _large_head(session: HttpSession, plain: RequestSpec, size: int) -> Iterator[Outcome]:
    """Send a large header section.

    A refusal by the server is a warning at most, for no application can give it a form.
    """
    what = f"a header section of {size // 1024} KiB"
    headers = {"X-Padding": "x" * size}
    spec = replace(plain, headers=headers, correlation="valid", server_may_refuse=True)
    answer = session.try_call(replace(spec, trigger=what))
    if isinstance(answer, NoAnswer):
        yield not_exercised(_HEAD, f"{what}: {answer.reason}")
    elif answer.ok:
        yield not_exercised(_HEAD, f"the service accepts {what}")
    elif session.is_from_server(answer.exchange) and broken_form(answer) is not None:
        message = f"the server answers {what} with {answer}, not in the declared form"
        yield failed(_HEAD, message, answer, level="warning")
    elif answer.status not in CHECKED_FIRST:
        yield passed(_HEAD)
        if not session.is_from_server(answer.exchange):
            yield check_refusal(session, _OVERSIZED, answer, what)


def oversized_bodies(session: HttpSession) -> Iterator[Outcome]:
    """Send bodies that grow until one is too large, made of blanks, so that none is valid."""
    operations = json_writes(session)
    if not operations:
        yield not_exercised(_OVERSIZED, "no operation takes a body")
    for operation in operations[:_CANDIDATES]:
        outcome = _send_oversized(session, operation, _SIZES)
        yield outcome
        if not is_checked_first(outcome):
            return


def oversized_bodies_of_others(session: HttpSession) -> Iterator[ProbeResult]:
    """Send the largest body to the operations that got none."""
    send = partial(_send_oversized, session, sizes=_SIZES[-1:])
    for operation in json_writes(session)[1 : 1 + _OTHERS]:
        yield from attempt(map(send, [operation]), _OVERSIZED)


def _send_oversized(
    session: HttpSession, operation: ServiceOperation, sizes: tuple[int, ...]
) -> Outcome:
    """Return the outcome of the first size that is too large for an operation.

    If each size is refused for another reason, blanks before a valid body show the limit.
    """
    for size in sizes:
        spec = replace(request_to(session, operation), raw=_pad(b"", size), may_disconnect=True)
        outcome = _too_large(session, operation, spec, size)
        if outcome is not None:
            return outcome
    body = body_for(session, operation)
    valid = b"" if body is ABSENT else json.dumps(body).encode()
    spec = replace(request_to(session, operation), raw=_pad(valid, size), may_disconnect=True)
    outcome = _too_large(session, operation, spec, size)
    if outcome is not None:
        return outcome
    answer = session.observations.last
    if answer is not None and answer.status in CHECKED_FIRST:
        return checked_first(_OVERSIZED, answer)
    declared = session.contract.codes_for(_TOO_LARGE) if creates(operation) else ()
    if answer is not None and declared and answer.code not in declared:
        small = renew_key(session, operation, replace(spec, raw=valid))
        if not session.call(small).ok:
            return _read_to_end(answer, size)
        message = f"the service answered {answer} to a valid body of {size // 1024} KiB and accepts"
        return failed(_OVERSIZED, f"{message} a small one; expected {_TOO_LARGE}", answer)
    return _read_to_end(answer, size)


@lru_cache(maxsize=_OTHERS)
def _pad(body: bytes, size: int) -> bytes:
    """Blanks before a body; the same object each time, as the run keeps every request."""
    return body.rjust(size)


def _too_large(
    session: HttpSession, operation: ServiceOperation, spec: RequestSpec, size: int
) -> Outcome | None:
    """Return the outcome of a large body; None if it was refused for another reason."""
    what = f"a body of {size // 1024} KiB"
    answer = session.try_call(replace(spec, trigger=what))
    if isinstance(answer, NoAnswer):
        return not_exercised(_OVERSIZED, f"{what}: {answer.reason}")
    if answer.status in (400, 415, 422, *CHECKED_FIRST):
        return None
    if answer.ok and spec.raw is not None and spec.raw.strip():
        return _read_to_end(answer, size)
    if answer.ok and not needs_members(session, operation):
        return not_exercised(_OVERSIZED, f"{operation.name} needs no body")
    return check_refusal(session, _OVERSIZED, answer, what)


def _read_to_end(answer: Observation | None, size: int) -> Outcome:
    """Return the outcome of a service that reads the largest body."""
    largest = f"{size // 1024 // 1024} MiB"
    reason = f"the service read a body of {largest} to its end and answered {answer}"
    remedy = f"a service, or a proxy before it, has to refuse {largest} or less"
    return not_exercised(_OVERSIZED, f"{reason}: {remedy}")
