"""Rendering answers: declared errors with the envelope of their surface, ids and headers; and
successes.

Successes follow the taxonomy, and the OpenAPI document if it is known.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from time import time
from typing import NamedTuple

from faultspec.contract.model import Contract
from faultspec.exchange.model import Exchange, Headers, Request, Response, first_header
from faultspec.judge.facts import facts_of
from faultspec.judge.lines import marks_error
from faultspec.language.carriers import reaches, uses_envelope
from faultspec.language.model import (
    Code,
    DetailKey,
    Envelope,
    Example,
    HeaderRule,
    Operation,
    Surface,
    Taxonomy,
)
from faultspec.language.values import shorten
from faultspec.openapi.service import Description
from faultspec.runtime import ids, retry_after
from faultspec.runtime import shape as shapes
from faultspec.runtime.codecs import is_written_as_json, write_error_body
from faultspec.runtime.nodes import lists_errors, walk
from faultspec.runtime.places import sent_headers
from faultspec.runtime.pointers import steps
from faultspec.targets import openapi as samples
from faultspec_conformance.config import CREDENTIALS
from faultspec_conformance.faults.script import Fault
from faultspec_conformance.session import sampling

#: The challenge to a caller without credentials (RFC 9110, 11.6.1).
_CHALLENGE = 'Bearer realm="api"'

#: Methods that an `Allow` may list; the refused one is left out.
_METHODS = ("GET", "HEAD", "OPTIONS", "POST")

#: Seconds of a required `Retry-After` that neither the fault nor the example gives.
_WAIT = "1"


class Unanswerable(Exception):
    """The error cannot answer the request; the text says where it can."""


class _Case(NamedTuple):
    """An answer to render: a code with a status, in an envelope at the pointer ``at``.

    ``others``: the codes of further errors of its list, each with its status.
    """

    contract: Contract
    asked: Exchange
    operation: Operation | None
    code: Code
    status: int
    envelope: Envelope
    at: str
    surface: Surface
    retry_after: str | None
    validator: str
    complete: bool = False
    others: tuple[tuple[Code, int], ...] = ()

    @property
    def sent_status(self) -> int:
        """The status of the answer: that of its errors, or the general one of their class."""
        statuses = {self.status, *(status for _, status in self.others)}
        if len(statuses) == 1:
            return self.status
        return 400 if max(statuses) < 500 else 500


def render_failure(
    contract: Contract, request: Request, fault: Fault, validator: str, *, complete: bool = False
) -> Response:
    """The answer with the error, on the surface of the request. ``validator``: the current ETag,
    unquoted. ``complete``: with all optional members and details.

    Raises Unanswerable if the taxonomy does not allow the error as an answer to the request.
    """
    for case in _cases(contract, request, fault, validator):
        return _render(case._replace(complete=complete))
    where = ", ".join(_surfaces_of(contract, fault.code)) or "no surface"
    raise Unanswerable(
        f"`{fault}` cannot occur on {request.method} {shorten(request.target, 100)};"
        f" it can occur on {where}"
    )


def _cases(contract: Contract, request: Request, fault: Fault, validator: str) -> Iterator[_Case]:
    taxonomy = contract.taxonomy
    asked = Exchange(request, Response(None), identity="caller" if _credentials(request) else None)
    operation = contract.operation(asked)
    code = taxonomy.code_of(operation, fault.code)
    others = tuple(_others(taxonomy, operation, fault.others))
    if code is None or not is_allowed(code, operation) or len(others) != len(fault.others):
        return
    is_own = _is_own(code, operation)
    for status in _statuses(code, fault, asked, operation=operation, contract=contract):
        claim = contract.claim(replace(asked, response=Response(status)))
        if claim is None or not reaches(claim.surface, code, of_operation=is_own):
            continue
        if not (claim.surface.is_error_status(status) or claim.surface.marks_bodies):
            continue  # on this surface the status is not an error
        for envelope in claim.envelopes:
            if others and not any(lists_errors(place.node) for place in walk(envelope.shape)):
                continue
            if all(uses_envelope(each, envelope) for each in (code, *(one for one, _ in others))):
                yield _Case(
                    contract=contract,
                    asked=asked,
                    operation=operation,
                    code=code,
                    status=status,
                    envelope=envelope,
                    at=claim.surface.at,
                    surface=claim.surface,
                    retry_after=fault.retry_after,
                    validator=validator,
                    others=others,
                )


def _others(
    taxonomy: Taxonomy, operation: Operation | None, names: Iterable[str]
) -> Iterator[tuple[Code, int]]:
    """The further codes that an answer of the operation may have, each with its status."""
    for name in names:
        code = taxonomy.code_of(operation, name)
        if code is not None and code.http.default and is_allowed(code, operation):
            yield code, code.http.default


def render_success(
    contract: Contract, request: Request, description: Description | None, validator: str
) -> Response:
    """A success: the document's answer of the operation, or a small object with the members that
    the surface requires.
    """
    taxonomy = contract.taxonomy
    path = request.target.partition("?")[0]
    operation = description.operation_at(request.method, path) if description is not None else None
    promised = operation.success if operation is not None else None
    status, body = 204 if request.method == "DELETE" else 200, _required_body(contract, request)
    if promised is not None and description is not None:
        source = sampling.ValueSource(description.document, Random(0))
        status = promised.status
        if promised.example is not None or promised.schema is not None:
            body = promised.example or sampling.sample_value(source, promised.schema, fresh=False)
    headers: dict[str, tuple[str, str]] = {}
    for name, value in _repeating_headers(taxonomy.envelopes.values(), request, {}):
        headers.setdefault(name.lower(), (name, value))
    claim = contract.claim(Exchange(request, Response(status)))
    surface = claim.surface if claim is not None else None
    for name, rules in contract.headers(None, status, surface).items():
        if rules[-1].presence in ("required", "expected"):
            headers.setdefault(
                name,
                (
                    rules[-1].name,
                    _header_value(
                        rules, request, {}, given=None, validator=validator, taxonomy=taxonomy
                    ),
                ),
            )
    if uses_validators(taxonomy) or first_header(request.headers, "If-Match") is not None:
        headers["etag"] = ("ETag", f'"{validator}"')
    if status in (204, 205):
        return Response(status, tuple(headers.values()))
    return Response(status, (("Content-Type", "application/json"), *headers.values()), _json(body))


def uses_validators(taxonomy: Taxonomy) -> bool:
    """Whether successes need an entity tag: headers, details or client actions of the taxonomy
    refer to one.
    """
    codes = tuple(code for code in taxonomy.every_code() if code.live)
    rules = tuple(taxonomy.every_header_rule())
    headers = (
        *(rule.name for rule in rules),
        *(key.equals_header for key in taxonomy.detail_keys.values()),
    )
    return any(map(_is_etag, headers)) or any(code.client_action == "refetch" for code in codes)


def outdates_validator(contract: Contract, request: Request, fault: Fault) -> bool:
    """Whether the error means that the resource has changed, so that the caller's validator is out
    of date.
    """
    operation = contract.operation(Exchange(request, Response(None)))
    code = contract.taxonomy.code_of(operation, fault.code)
    return code is not None and code.client_action == "refetch"


def _is_own(code: Code, operation: Operation | None) -> bool:
    """Whether the operation alone has the code."""
    return operation is not None and code.name in operation.errors


def is_allowed(code: Code, operation: Operation | None) -> bool:
    """Whether a live code is one of those that an operation may return."""
    if _is_own(code, operation) or operation is None or operation.codes is None:
        return code.live
    return code.live and code.name in operation.codes


def may_have_status(taxonomy: Taxonomy, code: Code, status: int) -> bool:
    """Whether an answer with the status may have the code: by itself, or as what the status
    means.
    """
    return code.http.allows(status) or code.name in taxonomy.codes_for(status)


def _credentials(request: Request) -> bool:
    return any(name.lower() in CREDENTIALS for name, _ in request.headers)


def _statuses(
    code: Code, fault: Fault, asked: Exchange, operation: Operation | None, contract: Contract
) -> tuple[int, ...]:
    """The statuses to try: the requested one, else the one of the code's conditions, else all with
    the default first.
    """
    if fault.status is not None:
        return (fault.status,) if may_have_status(contract.taxonomy, code, fault.status) else ()
    chosen = code.http.decide(
        facts_of(asked, operation, keys=contract.key_rule(asked), status=None, details=None)
    )
    if len(chosen) == 1:
        return chosen
    default = (code.http.default,) if code.http.default else ()
    own = tuple(dict.fromkeys((*default, *code.http.allowed_statuses())))
    return own or tuple(statuses.low for statuses in code.http.carried_statuses)


def _surfaces_of(contract: Contract, name: str) -> Iterator[str]:
    """The surfaces and operations that send a code, in words."""
    code = contract.taxonomy.codes.get(name)
    for claim in contract.claims if code is not None else ():
        surface = claim.surface
        plain = surface.transport == "http" and surface.batch is None
        if code is None or not any(uses_envelope(code, each) for each in claim.envelopes):
            continue
        if plain and reaches(surface, code, of_operation=False):
            yield f"the surface {surface.name} ({', '.join(surface.match.routes) or 'any route'})"
    for operation, _ in contract.operations:
        if name in operation.errors:
            yield f"the operation {operation.wire}"


def _render(case: _Case) -> Response:
    for example, details in _complete_examples(case) if case.complete else _examples(case):
        known = (
            None if details is None else {**details, **_repeating_details(details, example, case)}
        )
        given = example._replace(details=known, status=case.status)
        try:
            slots = samples.slots(case.envelope, case.code, given, case.contract.taxonomy)
            slots |= _optional_slots(case, slots) if case.complete else {}
            slots |= _flags(slots, known, case) | dict(
                _identifiers(case.envelope, case.asked.request)
            )
            further = list(_further_errors(case, slots))
            body = shapes.render(case.envelope.sent, slots, [values for values, _ in further])
        except (KeyError, ValueError):
            continue  # the example is for another envelope, or a value cannot be generated
        for step in reversed(steps(case.at)):
            body = {step: body}
        if not (case.surface.is_error_status(case.sent_status) or marks_error(case.surface, body)):
            continue  # neither the status nor the body tells an error
        headers = (*_headers(case, slots, example), *sent_headers(case.envelope.places, slots))
        for _, own in further:
            present = {name.lower() for name, _ in headers}
            headers += tuple(field for field in own if field[0].lower() not in present)
        media_type = case.envelope.media_types[0]
        try:
            content = _content(media_type, body)
        except ImportError as error:
            raise Unanswerable(f"`{media_type}` cannot be sent: {error}") from None
        except ValueError:
            continue  # the format of the envelope has no way to write a value
        return Response(case.sent_status, (("Content-Type", media_type), *headers), content)
    name = case.code.name
    raise Unanswerable(
        f"`{name}` cannot be generated in the envelope {case.envelope.name}: give it an "
        "example there"
    )


def _further_errors(
    case: _Case, first: Mapping[str, object]
) -> Iterator[tuple[Mapping[str, object], Headers]]:
    """The slots of the further errors of a list, and the headers of their codes.

    Raises KeyError or ValueError if a value cannot be generated.
    """
    for code, status in case.others:
        own = case._replace(code=code, status=status, others=())
        example, details = next(iter(_examples(own)), (Example(), None))
        given = example._replace(details=details, status=status)
        values = samples.slots(case.envelope, code, given, case.contract.taxonomy)
        values |= _flags(values, details, own)
        echoed = (slot for slot, field in case.envelope.fields.items() if field.echo is not None)
        values |= {slot: first[slot] for slot in echoed if slot in first}
        yield values, _headers(own, values, example)


def _complete_examples(case: _Case) -> Iterator[tuple[Example, Mapping[str, object]]]:
    """A generated example with all details of the code."""
    with suppress(ValueError):
        yield (
            Example(),
            {
                name: samples.sample_error(member.schema, case.contract.taxonomy)
                for name, member in case.code.details.items()
            },
        )


def _optional_slots(case: _Case, slots: Mapping[str, object]) -> dict[str, object]:
    """Values for the slots of the envelope that have none."""
    return {
        name: samples.sample_error(field.schema, case.contract.taxonomy)
        for name, field in case.envelope.fields.items()
        if slots.get(name) is None
    }


def _examples(case: _Case) -> Iterator[tuple[Example, Mapping[str, object] | None]]:
    """The examples of a code with their details, those of the status first; then a generated
    one.
    """
    code, status, taxonomy = case.code, case.status, case.contract.taxonomy
    for example in sorted(code.examples, key=lambda example: example.status != status):
        yield example, example.details
    try:
        yield Example(), samples.sample_details(code, taxonomy) or None
    except ValueError:
        return


def _repeating_details(
    details: Mapping[str, object], example: Example, case: _Case
) -> dict[str, object]:
    """The details that repeat a header: the validator, or the seconds of `Retry-After`."""
    waits = (value for name, value in example.headers.items() if name.lower() == "retry-after")
    wait = case.retry_after or next(waits, _WAIT)
    found: dict[str, object] = {}
    for key in details.keys() & case.contract.taxonomy.detail_keys.keys():
        repeats = case.contract.taxonomy.detail_keys[key].equals_header
        if _is_etag(repeats):
            found[key] = case.validator
        elif repeats is not None and repeats.lower() == "retry-after" and wait.isdecimal():
            found[key] = int(wait)
    given = case.retry_after or next(
        (value for name, value in example.headers.items() if name.lower() == "retry-after"), ""
    )
    for hint in case.contract.taxonomy.retry_hints:
        if hint.name in details and given.isdecimal():
            found[hint.name] = _hint(hint, int(given))
    return found


def _hint(key: DetailKey, seconds: int) -> object:
    """A wait as the details have it."""
    if "string" not in key.schema.types:
        return seconds * 1000 if key.unit == "ms" else seconds
    if "date-time" in key.schema.format:
        moment = datetime.now(UTC) + timedelta(seconds=seconds)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{seconds}s"


def _hinted_wait(case: _Case, details: Mapping[str, object]) -> str | None:
    """The seconds of `Retry-After` that agree with the wait among the details."""
    for key in case.contract.taxonomy.retry_hints:
        seconds = retry_after.hint_seconds(details.get(key.name), key.unit, now=time())
        if seconds is not None and seconds >= 0:
            return retry_after.render(seconds)
    return None


def _flags(
    slots: Mapping[str, object], details: Mapping[str, object] | None, case: _Case
) -> dict[str, object]:
    """The retry flag, if the facts of the exchange decide it, and its copy among the details."""
    facts = facts_of(
        case.asked,
        case.operation,
        keys=case.contract.key_rule(case.asked),
        status=case.status,
        details=details,
    )
    decided = case.code.retriable.decide(facts)
    flag = decided[0] if len(decided) == 1 else slots["retriable"]
    flag_keys = case.contract.taxonomy.flag_keys
    repeated = {key: flag for key in flag_keys if key in (details or ())}
    if not repeated or not isinstance(slots["details"], dict):
        return {"retriable": flag}
    return {"retriable": flag, "details": {**slots["details"], **repeated}}


def _identifiers(envelope: Envelope, request: Request) -> Iterator[tuple[str, str]]:
    """The slots that echo an id of the request, or have a new one."""
    for slot, field in envelope.fields.items():
        known = [name for name in field.schema.format if name in ids.FORMATS]
        if field.echo is None or not known:
            continue
        inbound = first_header(request.headers, field.echo)
        yield (
            slot,
            inbound if inbound is not None and ids.matches(known, inbound) else ids.new(known[0]),
        )


def _headers(case: _Case, slots: Mapping[str, object], example: Example) -> Headers:
    request = case.asked.request
    shown = {name.lower(): (name, value) for name, value in example.headers.items()}
    if case.retry_after is not None:
        shown.pop("retry-after", None)
    if case.retry_after:
        shown["retry-after"] = ("Retry-After", case.retry_after)
    found = {
        name.lower(): (name, value)
        for name, value in _repeating_headers((case.envelope,), request, slots)
    }
    for name, rules in case.contract.headers(case.code, case.status, case.surface).items():
        given = shown.pop(name, (None, None))[1]
        details = slots.get("details")
        is_open = case.retry_after is None or rules[-1].presence == "required"
        if name == "retry-after" and is_open and isinstance(details, dict):
            given = given or _hinted_wait(case, details)
        if rules[-1].presence == "forbidden":
            found.pop(name, None)
        elif given is not None or rules[-1].presence in ("required", "expected"):
            found.setdefault(
                name,
                (
                    rules[-1].name,
                    _header_value(
                        rules,
                        request,
                        slots,
                        given=given,
                        validator=case.validator,
                        taxonomy=case.contract.taxonomy,
                    ),
                ),
            )
    return (*found.values(), *(field for name, field in shown.items() if name not in found))


def _repeating_headers(
    envelopes: Iterable[Envelope], request: Request, slots: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    """The response headers that repeat a slot. Without slots: an echoed or new id."""
    for envelope in envelopes:
        made = slots or dict(_identifiers(envelope, request))
        for slot, field in envelope.fields.items():
            for header in (field.echo, field.mirror):
                if header is not None and isinstance(made.get(slot), str | int):
                    yield header, str(made[slot])


def _header_value(
    rules: Sequence[HeaderRule],
    request: Request,
    slots: Mapping[str, object],
    given: str | None,
    validator: str,
    *,
    taxonomy: Taxonomy,
) -> str:
    """A value that all rules for a header allow. The most specific rule comes last."""
    for rule in reversed(rules):
        if rule.equals is not None and slots.get(rule.equals) is not None:
            return str(slots[rule.equals])
        if "etag" in rule.format or _is_etag(rule.name):
            return f'"{validator}"'
        if "methods" in rule.format:
            return ", ".join(method for method in _METHODS if method != request.method)
    if given is not None:
        return given
    for rule in reversed(rules):
        if rule.constant is not None:
            return rule.constant
        if rule.value is not None:
            return str(samples.sample_error(rule.value, taxonomy))
        for name in rule.format:
            if name in ids.FORMATS or name in _SAMPLES:
                return ids.new(name) if name in ids.FORMATS else _SAMPLES[name]
    return _WAIT if rules[-1].name.lower() == "retry-after" else "text"


#: Texts of formats; a client waits only a second.
_SAMPLES: Mapping[str, str] = {**samples.SAMPLES, "retry-after": _WAIT, "challenge": _CHALLENGE}


def _is_etag(header: str | None) -> bool:
    return header is not None and header.lower() == "etag"


def _required_body(contract: Contract, request: Request) -> object:
    """A small object with the members that successes on the surface require."""
    claim = contract.claim(Exchange(request, Response(200)))
    body: dict[str, object] = {}
    for pointer, member in claim.surface.success.items() if claim is not None else ():
        *above, last = steps(pointer)
        node = body
        for step in above:
            node = node.setdefault(step, {})  # type: ignore[assignment]  # pointers of one surface do not conflict
        node[last] = samples.sample_error(member.schema, contract.taxonomy)
    return body or {"id": "1"}


def _content(media_type: str, body: object) -> bytes:
    return _json(body) if is_written_as_json(media_type) else write_error_body(media_type, body)


def _json(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
