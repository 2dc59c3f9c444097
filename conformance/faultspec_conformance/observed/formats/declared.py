"""Records of the kinds that a taxonomy declares under `telemetry: records:`."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import groupby

from faultspec.contract.model import Claim, Contract, Numbering
from faultspec.exchange.model import ABOUT_BODY, Exchange, Headers, Request, Response, first_header
from faultspec.exchange.numerals import whole_number
from faultspec.language.model import RecordingRule
from faultspec.language.values import are_equal
from faultspec.runtime.checking import Check
from faultspec.runtime.nodes import Array, Literal, Node, Object, Slot, Template
from faultspec.runtime.pointers import steps
from faultspec.runtime.text_values import ANY, convert_text
from faultspec_conformance.observed.formats.record import (
    ABOUT_HEADERS,
    ALWAYS,
    BODILESS,
    METHODS,
    Item,
    RecordedExchange,
    Skipped,
    decompress,
    encode_body,
    header_fields,
    is_unanswered,
    parse_seconds,
    parse_status,
    read_stamp,
    redacted_facts,
    skip_unreadable,
)
from faultspec_conformance.observed.formats.wrapping import (
    Cause,
    NoRecord,
    Wrapped,
    look_up,
    unwrap,
)

#: The facts that a single slot gives.
_SLOT_FACTS = {
    "code": ("code",),
    "retriable": ("flag",),
    "boundary": ("boundary",),
    "domain": ("boundary",),
    "message": ("message",),
    "details": ("details", "detail-values", "flag"),
}

#: The facts that a record lacks until it gives them.
_ALL = ALWAYS | ABOUT_BODY | ABOUT_HEADERS | {"request", "elapsed", "method", "operation"}

_MISSING = object()

#: Lines by which a log of text is recognized: the program that writes it may print others first.
_TRIED = 20

#: Characters of the JSON of details, as columns of tables have it.
_DETAILS = 1024 * 1024

#: Why a record is not judged.
UNDECLARED = "`telemetry: records:` declares no such kind of line"


RecordReader = Callable[[str | None, object, str], Iterator[Item]]
"""A function of the text of a line, its value as JSON, and its place. None: there is no such."""


def record_reader(contract: Contract) -> RecordReader:
    """A function that reads the declared records of a line.

    It yields nothing if no kind matches a record of the line. Otherwise a record of no kind is
    skipped.
    """
    telemetry = contract.taxonomy.telemetry
    kinds = telemetry.records.values() if telemetry is not None else ()
    groups = [(path, tuple(same)) for path, same in groupby(kinds, lambda kind: kind.unwrap)]

    def read(text: str | None, value: object, place: str) -> Iterator[Item]:
        others: list[NoRecord | Wrapped] = []
        for path, same in groups:
            found = list(_find_records(path, same, text, value))
            if not any(isinstance(kind, RecordingRule) for kind, _ in found):
                others += [record for _, record in found if path]
                continue
            for kind, record in found:
                if isinstance(record, NoRecord):
                    yield _skip_other(place, record)
                elif kind is None:
                    yield Skipped(place, UNDECLARED, broken=False)
                else:
                    build = partial(_read_record, kind, record, place=place, contract=contract)
                    yield skip_unreadable(place, build)
            return
        is_text = not isinstance(value, dict) and not (text or "").startswith("{")
        yield from _skip_line(place, others, is_text=is_text)

    return read


def _skip_line(
    place: str, others: Sequence[NoRecord | Wrapped], *, is_text: bool
) -> Iterator[Skipped]:
    """The reason why a line lacks a record of a declared kind, if its forms tell. ``others``: what
    the kinds that unwrap lines find in it.
    """
    missing = [other for other in others if isinstance(other, NoRecord)]
    torn = next((other for other in missing if other.cause is Cause.TORN), None)
    is_read = len(missing) < len(others)
    inner = [other for other in missing if other.depth]
    if torn is not None:
        yield _skip_other(place, torn)
    elif is_read:
        if is_text:
            yield Skipped(place, UNDECLARED, broken=False)
    elif inner:
        yield _skip_other(place, min(inner, key=lambda other: other.cause is not Cause.FORM))
    elif missing and is_text:
        yield _skip_other(place, missing[0])


def _skip_other(place: str, other: NoRecord) -> Skipped:
    """A wrapping collects all that a program prints: a text where JSON is expected is not a record.
    Others should be one.
    """
    if other.cause is Cause.TEXT:
        return Skipped(place, f"it is not a record: {other.reason}", broken=False)
    return Skipped(place, f"it cannot be read: {other.reason}")


def reads_text(contract: Contract, head: bytes) -> bool:
    """Whether a line at the head of a file is text of a declared form."""
    telemetry = contract.taxonomy.telemetry
    paths = {kind.unwrap for kind in telemetry.records.values()} if telemetry is not None else ()
    lines = head.decode("utf-8", "replace").splitlines()[:_TRIED]
    return any(
        _is_readable(line, path)
        for path in paths
        if path and not path[0].startswith("/")
        for line in lines
    )


def _is_readable(line: str, path: tuple[str, ...]) -> bool:
    return any(isinstance(found, Wrapped) for found in unwrap(line, path))


def _find_records(
    path: tuple[str, ...], kinds: tuple[RecordingRule, ...], text: str | None, value: object
) -> Iterator[tuple[RecordingRule | None, Wrapped | NoRecord]]:
    """The records of a line, each with its kind, and what stands in place of others."""
    line = value if not path or path[0].startswith("/") else text
    if line is None or (not path and not isinstance(line, dict)):
        return
    for record in unwrap(line, path):
        kind = None
        if isinstance(record, Wrapped):
            kind = next((kind for kind in kinds if _is_of(kind, record)), None)
        yield kind, record


def _is_of(kind: RecordingRule, record: Wrapped) -> bool:
    for pointer, wanted in kind.when.items():
        exists, found = look_up(record, pointer)
        if not exists or not are_equal(found, wanted):
            return False
    return look_up(record, kind.status)[0] and look_up(record, kind.url)[0]


def _read_record(kind: RecordingRule, record: Wrapped, *, place: str, contract: Contract) -> Item:
    """The exchange of a record of a declared kind."""
    found_status = _value_at(record, kind.status)
    status = parse_status(found_status)
    if status is None:
        is_broken = not is_unanswered(found_status)
        reason = f"`{kind.status}` is not the status of an answer"
        return Skipped(place, reason, broken=is_broken)
    request, known = _read_request(kind, record)
    received = header_fields(_value_at(record, kind.response.headers))
    known |= ABOUT_HEADERS if received is not None else set()
    elapsed = None
    if kind.elapsed:
        elapsed = parse_seconds(_value_at(record, kind.elapsed[0]), kind.elapsed[1])
    known |= {"elapsed"} if elapsed is not None else set()
    route = _value_at(record, kind.route)
    route = route if isinstance(route, str) else None
    exchange = Exchange(
        request,
        Response(status, received or (), b"", elapsed or 0.0),
        route=route,
        operation=f"{request.method} {route}" if request.method and route is not None else None,
    )
    body = _complete_body(_value_at(record, kind.response.body), received or ())
    if body is not None:
        known |= ABOUT_BODY
    else:
        found = {slot: _value_at(record, pointer) for slot, pointer in kind.slots.items()}
        slots = {slot: item for slot, item in found.items() if item is not None}
        claim = contract.claim(exchange)
        body = _render_envelope(contract, claim, slots) if slots else None
        if body is not None:
            known |= {"ids", *(fact for slot in slots for fact in _SLOT_FACTS.get(slot, ()))}
    response = replace(exchange.response, body=body or b"")
    lacks = (_ALL - known) | redacted_facts(received or ())
    stamp = read_stamp(_value_at(record, kind.time), _value_at(record, kind.service))
    return RecordedExchange(replace(exchange, response=response, lacks=lacks), place, stamp)


def _read_request(kind: RecordingRule, record: Wrapped) -> tuple[Request, set[str]]:
    """The request of a record, and the facts that it gives."""
    url, method = str(_value_at(record, kind.url)), _value_at(record, kind.method)
    before, blank, after = url.partition(" ")
    if blank and before in METHODS:
        url, method = after.partition(" ")[0], method or before
    known: set[str] = set()
    verb = ""
    if isinstance(method, str):
        known |= {"method", "operation"}
        verb = method.upper()
    headers = header_fields(_value_at(record, kind.request.headers))
    body = _value_at(record, kind.request.body)
    if headers is not None and (body is not None or verb in BODILESS):
        known.add("request")
    return Request(verb, url, headers or (), encode_body(body)), known


def _value_at(record: Wrapped, pointer: str | None) -> object:
    return look_up(record, pointer)[1] if pointer is not None else None


def _complete_body(found: object, headers: Headers) -> bytes | None:
    """A recorded body; None if it is missing or truncated."""
    if found is None:
        return None
    body = decompress(encode_body(found), headers)
    length = whole_number(first_header(headers, "content-length") or "")
    coded = first_header(headers, "content-encoding")
    if body is not None and isinstance(found, str) and length is not None and coded is None:
        # Logs truncate long bodies.
        return body if len(body) >= length else None
    return body


def _render_envelope(
    contract: Contract, claim: Claim | None, slots: Mapping[str, object]
) -> bytes | None:
    """The part of the envelope that the slots fill; None if there is no envelope."""
    if claim is None or not claim.envelopes:
        return None
    envelope = claim.envelopes[0]
    types = contract.text_types[envelope.name]
    slots = {slot: _typed_text(found, types.get(slot, ANY)) for slot, found in slots.items()}
    if "code" in slots:
        slots = {**slots, "code": _typed_code(contract.numbering_in(envelope), slots["code"])}
    body = _fill(envelope.shape, slots)
    if body is _MISSING:
        return None
    for step in reversed(steps(claim.surface.at)):
        body = {step: body}
    return json.dumps(body).encode()


def _typed_text(found: object, type_: Check) -> object:
    """The value of a slot with the type that it has in bodies: tables and lines of text have only
    texts, and of details those of JSON.
    """
    if "object" in type_.types and isinstance(found, str) and len(found) <= _DETAILS:
        with suppress(ValueError, RecursionError):
            found = json.loads(found)
    return convert_text(found, type_)


def _typed_code(numbering: Numbering, found: object) -> object:
    """A code as the taxonomy spells it: tables have only texts, logs may turn them into numbers."""
    if isinstance(found, str):
        return numbering.texts.get(found, found)
    if isinstance(found, int) and not isinstance(found, bool) and not numbering.declares(found):
        return str(found) if numbering.declares(str(found)) else found
    return found


def _fill(node: Node, slots: Mapping[str, object]) -> object:
    match node:
        case Slot(name=name):
            return slots.get(name, _MISSING)
        case Literal(value=value):
            return value
        case Template(texts=texts, slots=names) if all(name in slots for name in names):
            parts = zip(names, texts[1:], strict=True)
            return texts[0] + "".join(str(slots[name]) + text for name, text in parts)
        case Array(item=item):
            inner = _fill(item, slots)
            return _MISSING if inner is _MISSING else [inner]
        case Object(members=members, spread=spread):
            filled = {member.name: _fill(member.node, slots) for member in members}
            found = {name: value for name, value in filled.items() if value is not _MISSING}
            beside = slots.get(spread) if spread is not None else None
            return {**(beside if isinstance(beside, dict) else {}), **found}
    return _MISSING
