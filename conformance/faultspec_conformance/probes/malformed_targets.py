"""Paths and queries that cannot be read, and ids and values of every other form.

The judge decides: an answer must not be a crash, and an error has the declared form and a declared
code. Which status is right is not decided here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote, quote_plus

from faultspec.openapi.service import OperationParameter, ServiceOperation
from faultspec_conformance.probes.operations import MOST_OPERATIONS, first_conclusive
from faultspec_conformance.probes.refusals import check_refusal, checked_first
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import not_exercised
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.pagination import position_parameters
from faultspec_conformance.session.parameters import likely_values
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import path_of

_UNKNOWN_ID, _INVALID = "framework/unknown-id", "framework/invalid-input"

#: How a reason says that a request had no error.
_ACCEPTED = "accepted"

#: Statuses of a service that looked at something else before the target.
_BEFORE_TARGET = frozenset({401, 403, 405, 412, 428, 429})


@dataclass(frozen=True, slots=True)
class _TargetForm:
    """A form of an id or of a query parameter. ``text``: as it stands in the target, with its
    escapes; ``{name}`` is the name of the parameter, ``{canary}`` a text that must not come back.
    """

    what: str
    text: str


_BROKEN_ESCAPE = "%zz"

#: Ids that no service gives, the likeliest to be forgotten first.
_IDS = (
    _TargetForm("an id with a quote and letters beyond ASCII", quote("'\"\u00e9\u2603", safe="")),
    _TargetForm("an id with a broken percent escape", _BROKEN_ESCAPE),
    _TargetForm("an id of 30 digits", "9" * 30),
    _TargetForm("an id whose escapes are not UTF-8", "%c3%28"),
    _TargetForm("the id `__proto__`", "__proto__"),
    _TargetForm("an id of another type", "*"),
    _TargetForm("an id with an encoded slash", "a%2Fb"),
    _TargetForm("an id with NUL in it", "a%00b"),
    _TargetForm("an id with a fraction", "1.5"),
)

#: Ids that are numbers, of reads: a service may take a number for a place from the end of a list,
#: so a write could change what is there.
_NUMBERS = (_TargetForm("a negative id", "-1"), _TargetForm("the id 0", "0"))

#: Numbers for all query parameters that are numbers, together.
_NUMBER_VALUES = (
    _TargetForm("a query with the number 0", "0"),
    _TargetForm("a query with a negative number", "-1"),
)

#: Values of query parameters.
_VALUES = (
    _TargetForm("a repeated query parameter", "{name}=1&{name}=faultspec"),
    _TargetForm("a query with a broken percent escape", "{name}=" + _BROKEN_ESCAPE),
    _TargetForm("a query whose escapes are not UTF-8", "{name}=%c3%28"),
    _TargetForm("a query with NUL in it", "{name}=a%00b"),
    _TargetForm("a query parameter as an object", "{name}[a]=1&{name}[]=2"),
)

#: Values of parameters that say where a page begins: a word, and base64 of what is not a position.
_POSITIONS = (
    _TargetForm("a page position that no answer gave", "{name}={canary}"),
    _TargetForm("a page position that is base64 of an empty object", "{name}=e30%3D"),
    _TargetForm("a page position that is base64 of bytes", "{name}=%2F%2F79%2FA%3D%3D"),
    _TargetForm("a page position that is base64 of a number", "{name}=LTE%3D"),
)


def malformed_targets(session: HttpSession) -> Iterator[ProbeResult]:
    """Ask for ids of every other form, and with queries of every other form; each form is dealt out
    to the operations in turn, and goes on to the next one if an operation checked something else
    first.
    """
    operations = [
        operation
        for operation in session.inventory.operations
        if session.writable or not operation.writes
    ]
    operations.sort(key=lambda operation: (not session.inventory.has(operation), operation.writes))
    with_ids = [operation for operation in operations if operation.placeholders]
    reads = [operation for operation in operations if not operation.writes]
    yield from _deal(_IDS, with_ids, partial(_ask_id, session), _UNKNOWN_ID)
    read_by_id = [one for one in with_ids if not one.writes and _has_numeric_id(session, one)]
    yield from _deal_all(_NUMBERS, read_by_id, partial(_ask_id, session), _UNKNOWN_ID)
    numbered = [one for one in reads if _numeric_names(session, one)]
    yield from _deal_all(_NUMBER_VALUES, numbered, partial(_ask_number, session), _INVALID)
    queried = [one for one in reads if _query_names(one)]
    if queried:
        yield from _deal(_VALUES, queried, partial(_ask_query, session), _INVALID)
    else:
        yield from _deal_together(session, [one for one in reads if session.inventory.has(one)])
    paged = [one for one in reads if position_parameters(one)]
    yield from _deal(_POSITIONS, paged, partial(_ask_position, session), _INVALID)


def _deal_together(
    session: HttpSession, operations: Sequence[ServiceOperation]
) -> Iterator[ProbeResult]:
    """Send all forms of a query at once to an operation without parameters, whose query a framework
    reads as well; then one by one, if the answer is an error.
    """
    named = (form.text.replace("{name}", f"faultspec{turn}") for turn, form in enumerate(_VALUES))
    together = _TargetForm("a query of all forms", "&".join(named))
    outcomes = [_ask(session, together, operation, ("faultspec",)) for operation in operations[:1]]
    if all(_ACCEPTED in (outcome.reason or "") for outcome in outcomes):
        yield from outcomes
    else:
        yield from _deal(_VALUES, operations[:1], partial(_ask_query, session), _INVALID)


def _deal(
    forms: Sequence[_TargetForm],
    operations: Sequence[ServiceOperation],
    ask: Callable[[_TargetForm, ServiceOperation], Outcome],
    clause: str,
) -> Iterator[ProbeResult]:
    """Send each form to an operation at least, and to each operation a form, as far as there are
    not too many operations.
    """
    for turn in range(max(len(forms), min(len(operations), MOST_OPERATIONS)) if operations else 0):
        form, start = forms[turn % len(forms)], turn % len(operations)
        dealt = [*operations[start:], *operations[:start]]
        yield from attempt(first_conclusive(dealt, partial(ask, form)), clause)


def _deal_all(
    forms: Sequence[_TargetForm],
    operations: Sequence[ServiceOperation],
    ask: Callable[[_TargetForm, ServiceOperation], Outcome],
    clause: str,
) -> Iterator[ProbeResult]:
    """Send every form to every operation, as far as there are not too many operations."""
    for operation in operations[:MOST_OPERATIONS]:
        for form in forms:
            yield from attempt(first_conclusive([operation], partial(ask, form)), clause)


def _ask_id(session: HttpSession, form: _TargetForm, operation: ServiceOperation) -> Outcome:
    """Ask for an id of another form in place of the last placeholder."""
    text = form.text if form.text != "*" else _mistyped_id(session, operation)
    values = likely_values(session, operation)
    last = operation.placeholders[-1]
    before, _, after = operation.template.rpartition("{" + last + "}")
    spec = ordinary_request(session, operation, values)
    template = path_of(before, values) + text + path_of(after, values)
    spec = replace(spec, template=template, values={}, route=operation.template)
    return _check(session, _UNKNOWN_ID, spec, form.what)


def _mistyped_id(session: HttpSession, operation: ServiceOperation) -> str:
    """Return a word where the document has a number for an id, else a number that no service has
    counted to.
    """
    parameter = operation.parameter(operation.placeholders[-1], "path")
    schema = parameter.schema if parameter is not None else {}
    numeric = sampling.kind(session.description.schema(schema)) in ("integer", "number")
    return "faultspec" if numeric else str(sampling.other_identifier(session.source, 0))


def _ask_query(session: HttpSession, form: _TargetForm, operation: ServiceOperation) -> Outcome:
    """Ask with a query of another form, in the parameter whose turn it is."""
    names = _query_names(operation) or ("faultspec",)
    return _ask(session, form, operation, (names[_VALUES.index(form) % len(names)],))


def _ask_number(session: HttpSession, form: _TargetForm, operation: ServiceOperation) -> Outcome:
    names = _numeric_names(session, operation)
    text = "&".join(f"{quote_plus(name)}={form.text}" for name in names)
    return _ask(session, replace(form, text=text), operation, names)


def _ask_position(session: HttpSession, form: _TargetForm, operation: ServiceOperation) -> Outcome:
    names = position_parameters(operation)
    return _ask(session, form, operation, (names[_POSITIONS.index(form) % len(names)],))


def _ask(
    session: HttpSession, form: _TargetForm, operation: ServiceOperation, names: Sequence[str]
) -> Outcome:
    spec = ordinary_request(session, operation, likely_values(session, operation))
    query = {key: value for key, value in spec.query.items() if key not in names}
    path = path_of(operation.template, spec.values)
    text = form.text.replace("{name}", quote_plus(names[0]))
    if "{canary}" in text:
        mark = session.canary("value")
        text = text.replace("{canary}", mark.value)
        spec = replace(spec, canaries=(mark,))
    target = f"{path}?{text}"
    spec = replace(spec, template=target, values={}, query=query, route=operation.template)
    listed = ", ".join(f"`{name}`" for name in names)
    return _check(session, _INVALID, spec, f"{form.what} ({listed})")


def _numeric_names(session: HttpSession, operation: ServiceOperation) -> tuple[str, ...]:
    """The query parameters that are numbers, by their schema or by the example that was seen."""
    return tuple(
        one.name
        for one in operation.parameters
        if one.where == "query" and _is_numeric(session, one)
    )


def _has_numeric_id(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether the last placeholder is a number, or may be one for all that is known."""
    parameter = operation.parameter(operation.placeholders[-1], "path")
    return parameter is None or not parameter.schema or _is_numeric(session, parameter)


def _is_numeric(session: HttpSession, parameter: OperationParameter) -> bool:
    schema = sampling.only_branch(session.description.document, parameter.schema)
    is_seen = isinstance(parameter.example, str) and parameter.example.isdecimal()
    return sampling.kind(schema) in ("integer", "number") or is_seen


def _query_names(operation: ServiceOperation) -> tuple[str, ...]:
    return tuple(one.name for one in operation.parameters if one.where == "query")


def _check(session: HttpSession, clause: str, spec: RequestSpec, what: str) -> Outcome:
    """Send a request with a target of an odd form, which a service may accept; check the answer.

    A target with a broken escape is not a URL (RFC 3986, 2.1), so the server may refuse it before
    the application sees it.
    """
    broken = _BROKEN_ESCAPE in spec.template
    spec = replace(spec, trigger=what)
    answer = session.call(replace(spec, server_may_refuse=broken))
    if broken and session.is_from_server(answer.exchange):
        if answer.status == 400:
            name = answer.exchange.operation
            return not_exercised(clause, f"the server answered {answer} to {name} with {what}")
        answer = session.call(spec)
    if answer.status < 400:
        reason = f"{answer.exchange.operation} {_ACCEPTED} {what} and answered {answer}"
        return not_exercised(clause, reason)
    if answer.status in _BEFORE_TARGET:
        return checked_first(clause, answer)
    return check_refusal(session, clause, answer, what)
