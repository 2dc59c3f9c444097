"""Declared errors as answers: the envelope of the surface that a request is on, ids that are new or come back, headers as
declared. And good answers, as far as a taxonomy, or an OpenAPI document beside it, tells what they are.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from faultspec.contract.model import Contract
from faultspec.exchange.body import steps
from faultspec.exchange.model import Exchange, Headers, Request, Response, first
from faultspec.judge.facts import facts_of
from faultspec.language import formats
from faultspec.language.carriers import reaches, uses_envelope
from faultspec.language.conditions import possible_outcomes
from faultspec.language.model import Code, Envelope, Example, HeaderRule, Operation, Taxonomy
from faultspec.openapi.service import Description, documented_success
from faultspec.runtime import ids
from faultspec.runtime import shape as shapes
from faultspec.targets import openapi as samples
from faultspec_conformance import sampling
from faultspec_conformance.config import CREDENTIALS
from faultspec_conformance.faults.script import Fault

#: Who may be asked in place of a caller without credentials (RFC 9110 section 11.6.1).
_CHALLENGE = 'Bearer realm="api"'

#: Methods that an `Allow` may list; the refused one is left out.
_METHODS = ("GET", "HEAD", "OPTIONS", "POST")

#: Seconds to wait, where a header must say so and nobody has chosen.
_WAIT = "1"


class Unanswerable(Exception):
    """The error does not travel here; the text says where it does."""


class _Case(NamedTuple):
    """What is to be answered: a code under a status, in an envelope that stands ``at`` a pointer."""

    contract: Contract
    asked: Exchange
    operation: Operation | None
    code: Code
    status: int
    envelope: Envelope
    at: str
    retry_after: str | None
    validator: str


def failure(contract: Contract, request: Request, fault: Fault, validator: str) -> Response:
    """The answer with the error, on the surface that the request is on; ``validator``: the ETag of what is there, unquoted.

    Raises Unanswerable where the taxonomy sends no such error in answer to such a request.
    """
    for case in _cases(contract, request, fault, validator):
        return _rendered(case)
    where = ", ".join(_travels(contract, fault.code)) or "no surface"
    raise Unanswerable(
        f"`{fault}` is no answer to {request.method} {request.target[:100]}: it travels on {where}"
    )


def _cases(contract: Contract, request: Request, fault: Fault, validator: str) -> Iterator[_Case]:
    taxonomy = contract.taxonomy
    asked = Exchange(request, Response(None), identity="caller" if _credentials(request) else None)
    operation = contract.operation(asked)
    own = operation.errors.get(fault.code) if operation is not None else None
    code = own or taxonomy.codes.get(fault.code)
    if code is None or not _allowed(code, operation, own):
        return
    for status in _statuses(code, fault, asked, operation, taxonomy):
        claim = contract.claim(replace(asked, response=Response(status)))
        if claim is None or not reaches(claim.surface, code, of_operation=own is not None):
            continue
        if claim.surface.error_when and not any(
            status in each for each in claim.surface.error_when
        ):
            continue  # here that status is no error
        for envelope in claim.envelopes:
            if uses_envelope(code, envelope.name):
                at = claim.surface.at
                yield _Case(
                    contract,
                    asked,
                    operation,
                    code,
                    status,
                    envelope,
                    at,
                    fault.retry_after,
                    validator,
                )


def good(
    contract: Contract, request: Request, description: Description | None, validator: str
) -> Response:
    """A success: what the document has for the operation, else a small object with what the surface owes."""
    taxonomy = contract.taxonomy
    path = request.target.partition("?")[0]
    operation = description.at(request.method, path) if description is not None else None
    promised = (
        documented_success(description, operation)
        if description is not None and operation is not None
        else None
    )
    status, body = 204 if request.method == "DELETE" else 200, _owed(contract, request)
    if promised is not None and description is not None:
        source = sampling.ValueSource(description.document, Random(0))
        status = promised.status
        if promised.example is not None or promised.schema is not None:
            body = promised.example or sampling.value(source, promised.schema, fresh=False)
    headers: dict[str, tuple[str, str]] = {}
    for name, value in _repeated(taxonomy.envelopes.values(), request, {}):
        headers.setdefault(name.lower(), (name, value))
    for name, rules in contract.headers(None, status).items():
        if rules[-1].presence in ("required", "expected"):
            headers.setdefault(name, (rules[-1].name, _value(rules, request, {}, None, validator)))
    if validated(taxonomy) or first(request.headers, "If-Match") is not None:
        headers["etag"] = ("ETag", f'"{validator}"')
    if status in (204, 205):
        return Response(status, tuple(headers.values()))
    return Response(status, (("Content-Type", "application/json"), *headers.values()), _json(body))


def validated(taxonomy: Taxonomy) -> bool:
    """Whether the taxonomy speaks of entity tags, or of what is to be read again, so that successes have one."""
    codes = tuple(each for each in taxonomy.every_code() if each.live)
    rules = (*taxonomy.headers, *(rule for code in codes for rule in code.headers))
    keys = taxonomy.detail_keys.values()
    spoken = any(_is_etag(each.name) for each in rules) or any(
        _is_etag(key.equals_header) for key in keys
    )
    return spoken or any(each.client_action == "refetch" for each in codes)


def renewed(contract: Contract, request: Request, fault: Fault) -> bool:
    """Whether the error says that somebody else has written, so that what the caller has read is old."""
    operation = contract.operation(Exchange(request, Response(None)))
    own = operation.errors.get(fault.code) if operation is not None else None
    code = own or contract.taxonomy.codes.get(fault.code)
    return code is not None and code.client_action == "refetch"


def _allowed(code: Code, operation: Operation | None, own: Code | None) -> bool:
    if own is not None or operation is None or operation.codes is None:
        return code.live
    return code.live and code.name in operation.codes


def _credentials(request: Request) -> bool:
    return any(name.lower() in CREDENTIALS for name, _ in request.headers)


def _statuses(
    code: Code, fault: Fault, asked: Exchange, operation: Operation | None, taxonomy: Taxonomy
) -> tuple[int, ...]:
    """The statuses to try: the one asked for; else what the code's conditions say, its default, and the others."""
    if fault.status is not None:
        allowed = code.http.allows(fault.status) or code.name in taxonomy.codes_for(fault.status)
        return (fault.status,) if allowed else ()
    chosen = possible_outcomes(code.http.rules, facts_of(asked, operation, None, None))
    if len(chosen) == 1:
        return tuple(each for each in chosen if isinstance(each, int))
    own = tuple(
        dict.fromkeys((*((code.http.default,) if code.http.default else ()), *code.http.all()))
    )
    return own or tuple(each.low for each in code.http.carried)


def _travels(contract: Contract, name: str) -> Iterator[str]:
    """The surfaces and operations on which a code is an answer."""
    code = contract.taxonomy.codes.get(name)
    for claim in contract.claims if code is not None else ():
        surface = claim.surface
        plain = surface.transport == "http" and claim.envelopes and surface.batch is None
        if plain and code is not None and reaches(surface, code, of_operation=False):
            yield f"the surface {surface.name} ({', '.join(surface.match.routes) or 'any route'})"
    for operation, _ in contract.operations:
        if name in operation.errors:
            yield f"the operation {operation.wire}"


# the error


def _rendered(case: _Case) -> Response:
    for example, details in _examples(case.code, case.status, case.contract.taxonomy):
        known = None if details is None else {**details, **_repeating(details, example, case)}
        given = example._replace(details=known, status=case.status)
        try:
            slots = samples.slots(case.envelope, case.code, given, case.contract.taxonomy)
            slots |= _flags(slots, known, case) | dict(
                _identifiers(case.envelope, case.asked.request)
            )
            body = shapes.render(case.envelope.shape, slots)
        except (KeyError, ValueError):
            continue  # an envelope that this example was not written for, or a value that nobody can make up
        for step in reversed(steps(case.at)):
            body = {step: body}
        headers = _headers(case, slots, example)
        return Response(
            case.status, (("Content-Type", case.envelope.media_types[0]), *headers), _json(body)
        )
    name = case.code.name
    raise Unanswerable(
        f"nobody can make up `{name}` in the envelope {case.envelope.name}: give it an example there"
    )


def _examples(
    code: Code, status: int, taxonomy: Taxonomy
) -> Iterator[tuple[Example, Mapping[str, object] | None]]:
    """The examples of a code, those of this status first; then one that is made up."""
    for each in sorted(code.examples, key=lambda each: each.status != status):
        yield each, each.details
    try:
        yield Example(), samples.sample_details(code, taxonomy) or None
    except ValueError:
        return


def _repeating(details: Mapping[str, object], example: Example, case: _Case) -> dict[str, object]:
    """The details that repeat a header: the validator, or the wait."""
    waits = (value for name, value in example.headers.items() if name.lower() == "retry-after")
    wait = case.retry_after or next(waits, _WAIT)
    found: dict[str, object] = {}
    for key in details.keys() & case.contract.taxonomy.detail_keys.keys():
        repeats = case.contract.taxonomy.detail_keys[key].equals_header
        if _is_etag(repeats):
            found[key] = case.validator
        elif repeats is not None and repeats.lower() == "retry-after" and wait.isdecimal():
            found[key] = int(wait)
    return found


def _flags(
    slots: Mapping[str, object], details: Mapping[str, object] | None, case: _Case
) -> dict[str, object]:
    """The retry flag, as far as what is known of the exchange decides it, and the same flag among the details."""
    facts = facts_of(case.asked, case.operation, case.status, details)
    decided = case.code.retriable.decide(facts)
    flag = decided[0] if len(decided) == 1 else slots["retriable"]
    named = {
        key.name for key in case.contract.taxonomy.detail_keys.values() if key.role == "retriable"
    }
    repeated = dict.fromkeys(named.intersection(details or ()), flag)
    if not repeated or not isinstance(slots["details"], dict):
        return {"retriable": flag}
    return {"retriable": flag, "details": {**slots["details"], **repeated}}


def _identifiers(envelope: Envelope, request: Request) -> Iterator[tuple[str, str]]:
    """The slots that come back from the request, or are new in every answer."""
    for slot, field in envelope.fields.items():
        known = [each for each in field.schema.format if each in ids.FORMATS]
        if field.echo is None or not known:
            continue
        inbound = first(request.headers, field.echo)
        yield (
            slot,
            inbound if inbound is not None and ids.matches(known, inbound) else ids.new(known[0]),
        )


# headers


def _headers(case: _Case, slots: Mapping[str, object], example: Example) -> Headers:
    request = case.asked.request
    shown = {name.lower(): (name, value) for name, value in example.headers.items()}
    if case.retry_after is not None:
        shown.pop("retry-after", None)
    if case.retry_after:
        shown["retry-after"] = ("Retry-After", case.retry_after)
    found = {
        name.lower(): (name, value) for name, value in _repeated((case.envelope,), request, slots)
    }
    for name, rules in case.contract.headers(case.code, case.status).items():
        given = shown.pop(name, (None, None))[1]
        if rules[-1].presence == "forbidden":
            found.pop(name, None)
        elif given is not None or rules[-1].presence in ("required", "expected"):
            found.setdefault(
                name, (rules[-1].name, _value(rules, request, slots, given, case.validator))
            )
    return (*found.values(), *(each for name, each in shown.items() if name not in found))


def _repeated(
    envelopes: Iterable[Envelope], request: Request, slots: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    """The response headers that repeat a slot; the request's id, or a new one, where there is no envelope."""
    for envelope in envelopes:
        made = slots or dict(_identifiers(envelope, request))
        for slot, field in envelope.fields.items():
            for header in (field.echo, field.mirror):
                if header is not None and isinstance(made.get(slot), str | int):
                    yield header, str(made[slot])


def _value(
    rules: Sequence[HeaderRule],
    request: Request,
    slots: Mapping[str, object],
    given: str | None,
    validator: str,
) -> str:
    """A value that every rule for one header allows; the most specific rule stands last."""
    for rule in reversed(rules):
        if rule.equals is not None and slots.get(rule.equals) is not None:
            return str(slots[rule.equals])
        if "etag" in rule.format or _is_etag(rule.name):
            return f'"{validator}"'
        if "methods" in rule.format:
            return ", ".join(each for each in _METHODS if each != request.method)
    if given is not None:
        return given
    for rule in reversed(rules):
        if rule.token is not None:
            return rule.token
        for each in rule.format:
            if each in ids.FORMATS:
                return ids.new(each)
            if each in _SAMPLES:
                return _SAMPLES[each]
    return _WAIT if rules[-1].name.lower() == "retry-after" else "text"


_SAMPLES: Mapping[str, str] = {
    "retry-after": _WAIT,
    "challenge": _CHALLENGE,
    "http-date": "Thu, 01 Jan 2026 00:00:00 GMT",
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "uri": "https://example.com/",
    "uri-reference": "https://example.com/",
    "email": "someone@example.com",
}
assert _SAMPLES.keys() <= formats.FORMATS.keys()


def _is_etag(header: str | None) -> bool:
    return header is not None and header.lower() == "etag"


# successes


def _owed(contract: Contract, request: Request) -> object:
    """A small object with the members that every success on the surface has."""
    claim = contract.claim(Exchange(request, Response(200)))
    body: dict[str, object] = {}
    for pointer, member in claim.surface.success.items() if claim is not None else ():
        *above, last = steps(pointer)
        node = body
        for step in above:
            node = node.setdefault(step, {})  # type: ignore[assignment]  # pointers of one surface do not contradict
        node[last] = samples.sample_error(member.schema, contract.taxonomy)
    return body or {"id": "1"}


def _json(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
