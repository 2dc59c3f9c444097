"""Logs of one JSON object a line: the records that the taxonomy declares, and the events of
schemathesis.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import BinaryIO

from faultspec.contract.model import Claim, Contract
from faultspec.exchange.model import ABOUT_BODY, Exchange, Headers, Request, Response, first_header
from faultspec.exchange.numerals import whole_number
from faultspec.language.model import RecordingRule
from faultspec.language.values import are_equal
from faultspec.runtime.nodes import Array, Literal, Node, Object, Slot, Template
from faultspec.runtime.pointers import resolve, steps
from faultspec_conformance.observed.formats.cassettes import read_interaction
from faultspec_conformance.observed.formats.items import ItemTooLarge, check_json_size
from faultspec_conformance.observed.formats.record import (
    ABOUT_HEADERS,
    ALWAYS,
    Item,
    RecordedExchange,
    Skipped,
    decompress,
    encode_body,
    header_fields,
    parse_seconds,
    parse_status,
    redacted_facts,
    skip_unreadable,
)

#: Bytes of the longest line that is read. Longer ones are not records, and none is held whole.
LONGEST = 16 * 1024 * 1024

#: The facts that a single slot gives.
_SLOT_FACTS = {
    "code": ("code",),
    "retriable": ("flag",),
    "boundary": ("boundary",),
    "domain": ("boundary",),
    "message": ("message",),
    "details": ("details", "detail-values", "flag"),
}

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})

#: Methods whose requests are known without a body.
_BODILESS = frozenset({"GET", "HEAD", "OPTIONS", "DELETE", "TRACE"})

#: The facts that a record lacks until it gives them.
_ALL = ALWAYS | ABOUT_BODY | ABOUT_HEADERS | {"request", "elapsed", "method", "operation"}

_MISSING = object()


def read_log(stream: BinaryIO, name: str, contract: Contract) -> Iterator[Item]:
    """The exchanges of a log. A line of no declared kind is judged itself, if a surface declares
    the log.
    """
    telemetry = contract.taxonomy.telemetry
    kinds = tuple(telemetry.records.values()) if telemetry is not None else ()
    sink = _find_sink(name, contract)
    number = 0
    while line := stream.readline(LONGEST):
        number += 1
        place = f"{name}:{number}"
        if len(line) == LONGEST and not line.endswith(b"\n"):
            while (rest := stream.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            yield Skipped(place, f"the line is longer than {LONGEST // 1024 // 1024} MiB")
            continue
        text = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
        if not text:
            continue
        try:
            content = text.decode(json.detect_encoding(text), "surrogatepass")
            check_json_size(content)
            value = json.loads(content)
        except ItemTooLarge as error:
            yield Skipped(place, f"the line cannot be read: {error}")
            continue
        except json.JSONDecodeError as error:
            yield Skipped(place, f"the line is not JSON: {error.msg}")
            continue
        except (ValueError, RecursionError):
            yield Skipped(place, "the line is not JSON: it is nested too deeply or not UTF-8")
            continue
        if not isinstance(value, dict):
            yield Skipped(place, "the line is JSON, but not an object")
            continue
        kind = next((kind for kind in kinds if _is_of(kind, value)), None)
        interactions = _schemathesis_interactions(value) if kind is None else None
        if kind is not None:
            read_kind = partial(_read_record, kind=kind, contract=contract)
            yield skip_unreadable(place, partial(read_kind, value=value, place=place))
        elif interactions is not None:
            yield from (read_interaction(interaction, place) for interaction in interactions)
        else:
            yield _read_line(sink, text, place, contract)


def _read_line(sink: str, text: bytes, place: str, contract: Contract) -> Item:
    """A line of no declared kind, as an entry of a log that a surface declares."""
    entry = Exchange(Request("", sink), Response(None, body=text), "log", lacks=ALWAYS)
    if contract.claim(entry) is not None:
        return RecordedExchange(entry, place)
    reason = "`telemetry: records:` declares no such kind of line"
    return Skipped(place, reason, broken=False)


def _find_sink(name: str, contract: Contract) -> str:
    """The declared sink of a file, by the end of its path, or by its name if the file was moved."""
    surfaces = contract.taxonomy.surfaces.values()
    sinks = [surface.sink for surface in surfaces if surface.sink is not None]
    path = PurePath(name)
    for sink in sinks:
        parts = PurePath(sink).parts
        if path.parts[-len(parts) :] == parts:
            return sink
    return next((sink for sink in sinks if PurePath(sink).name == path.parts[-1]), name)


def _is_of(kind: RecordingRule, value: object) -> bool:
    for pointer, wanted in kind.when.items():
        exists, found = resolve(value, pointer)
        if not exists or not are_equal(found, wanted):
            return False
    return resolve(value, kind.status)[0] and resolve(value, kind.url)[0]


def _schemathesis_interactions(value: dict[str, object]) -> list[object] | None:
    """The interactions in an event of schemathesis; None if the value is not an event."""
    match value:
        case {"ScenarioFinished": {"recorder": {"interactions": dict(interactions)}}}:
            return list(interactions.values())
        case _ if len(value) == 1:
            ((name, data),) = value.items()
            is_step = name.endswith(("Started", "Finished"))
            if isinstance(data, dict) and (
                name == "Initialize" or (is_step and "timestamp" in data)
            ):
                return []
    return None


def _read_record(kind: RecordingRule, value: object, place: str, contract: Contract) -> Item:
    """The exchange of a record of a declared kind."""
    status = parse_status(_value_at(value, kind.status))
    if status is None:
        return Skipped(place, f"`{kind.status}` is not the status of an answer", broken=False)
    request, known = _read_request(kind, value)
    received = header_fields(_value_at(value, kind.response.headers))
    known |= ABOUT_HEADERS if received is not None else set()
    elapsed = None
    if kind.elapsed:
        elapsed = parse_seconds(_value_at(value, kind.elapsed[0]), kind.elapsed[1])
    known |= {"elapsed"} if elapsed is not None else set()
    route = _value_at(value, kind.route)
    route = route if isinstance(route, str) else None
    exchange = Exchange(
        request,
        Response(status, received or (), b"", elapsed or 0.0),
        route=route,
        operation=f"{request.method} {route}" if request.method and route is not None else None,
    )
    body = _complete_body(_value_at(value, kind.response.body), received or ())
    if body is not None:
        known |= ABOUT_BODY
    else:
        found = {slot: _value_at(value, pointer) for slot, pointer in kind.slots.items()}
        slots = {slot: item for slot, item in found.items() if item is not None}
        body = _render_envelope(contract.claim(exchange), slots) if slots else None
        if body is not None:
            known |= {"ids", *(fact for slot in slots for fact in _SLOT_FACTS.get(slot, ()))}
    response = replace(exchange.response, body=body or b"")
    lacks = (_ALL - known) | redacted_facts(received or ())
    return RecordedExchange(replace(exchange, response=response, lacks=lacks), place)


def _read_request(kind: RecordingRule, value: object) -> tuple[Request, set[str]]:
    """The request of a record, and the facts that it gives."""
    url, method = str(_value_at(value, kind.url)), _value_at(value, kind.method)
    before, blank, after = url.partition(" ")
    if blank and before in _METHODS:
        url, method = after.partition(" ")[0], method or before
    known: set[str] = set()
    verb = ""
    if isinstance(method, str):
        known |= {"method", "operation"}
        verb = method.upper()
    headers = header_fields(_value_at(value, kind.request.headers))
    body = _value_at(value, kind.request.body)
    if headers is not None and (body is not None or verb in _BODILESS):
        known.add("request")
    return Request(verb, url, headers or (), encode_body(body)), known


def _value_at(value: object, pointer: str | None) -> object:
    return resolve(value, pointer)[1] if pointer is not None else None


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


def _render_envelope(claim: Claim | None, slots: Mapping[str, object]) -> bytes | None:
    """The part of the envelope that the slots fill; None if there is no envelope."""
    if claim is None or not claim.envelopes:
        return None
    body = _fill(claim.envelopes[0].shape, slots)
    if body is _MISSING:
        return None
    for step in reversed(steps(claim.surface.at)):
        body = {step: body}
    return json.dumps(body).encode()


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
