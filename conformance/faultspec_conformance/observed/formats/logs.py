"""Logs of one JSON object a line: the kinds that the taxonomy declares, and the events of schemathesis."""

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import BinaryIO

from faultspec.contract.model import Claim, Contract
from faultspec.exchange.body import resolve, steps
from faultspec.exchange.model import Exchange, Headers, Request, Response, first
from faultspec.language.model import RecordingRule
from faultspec.language.values import same
from faultspec.runtime.nodes import Array, Literal, Node, Object, Slot, Template
from faultspec_conformance.observed.formats import cassettes
from faultspec_conformance.observed.formats.record import (
    ABOUT_BODY,
    ABOUT_HEADERS,
    ALWAYS,
    Item,
    RecordedExchange,
    Skipped,
    as_bytes,
    left_out,
    pairs,
    seconds_of,
    status_of,
    unpacked,
)

LONGEST = 16 * 1024 * 1024
"""Bytes of a line that is read: longer ones are no record of an exchange, and none is held whole."""

_TOLD_BY = {
    "code": ("code",),
    "retriable": ("flag",),
    "boundary": ("boundary",),
    "domain": ("boundary",),
    "message": ("message",),
    "details": ("details", "detail-values", "flag"),
}
"""The facts that a single slot tells."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})

_BODILESS = frozenset({"GET", "HEAD", "OPTIONS", "DELETE", "TRACE"})
"""Methods whose request is known without its body."""

_MISSING = object()


def read(stream: BinaryIO, name: str, contract: Contract) -> Iterator[Item]:
    """The exchanges of a log, line after line. A line of no declared kind that some surface calls a log is judged as it is."""
    telemetry = contract.taxonomy.telemetry
    kinds = tuple(telemetry.records.values()) if telemetry is not None else ()
    sink = _sink(name, contract)
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
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            why = (
                error.msg
                if isinstance(error, json.JSONDecodeError)
                else "it is nested too deep or not UTF-8"
            )
            yield Skipped(place, f"the line is not JSON: {why}")
            continue
        if not isinstance(value, dict):
            yield Skipped(place, "the line is JSON, and no object")
            continue
        yield from _items(value, text, place, kinds, sink, contract)


def _items(
    value: dict[str, object],
    text: bytes,
    place: str,
    kinds: tuple[RecordingRule, ...],
    sink: str,
    contract: Contract,
) -> Iterator[Item]:
    kind = next((each for each in kinds if _is_of(each, value)), None)
    if kind is not None:
        yield _item(kind, value, place, contract)
    elif (interactions := _of_schemathesis(value)) is not None:
        for each in interactions:
            yield cassettes.item(each, place)
    else:
        line = Exchange(Request("", sink), Response(None, body=text), "log", lacks=ALWAYS)
        if contract.claim(line) is not None:
            yield RecordedExchange(line, place)
        else:
            yield Skipped(
                place, "no kind of line that `telemetry: records:` declares", broken=False
            )


def _sink(name: str, contract: Contract) -> str:
    """The declared sink that a file is, told by the end of its path, or by its own name where it lies elsewhere now."""
    sinks = [
        surface.sink for surface in contract.taxonomy.surfaces.values() if surface.sink is not None
    ]
    parts = PurePath(name).parts
    whole = (each for each in sinks if parts[-len(PurePath(each).parts) :] == PurePath(each).parts)
    return next(whole, next((each for each in sinks if PurePath(each).name == parts[-1]), name))


def _is_of(kind: RecordingRule, value: object) -> bool:
    if any(
        not (found := resolve(value, pointer))[0] or not same(found[1], want)
        for pointer, want in kind.when.items()
    ):
        return False
    return resolve(value, kind.status)[0] and resolve(value, kind.url)[0]


def _of_schemathesis(value: dict[str, object]) -> list[object] | None:
    """The interactions in an event of schemathesis; None: it is no such event."""
    match value:
        case {"ScenarioFinished": {"recorder": {"interactions": dict(interactions)}}}:
            return list(interactions.values())
        case _ if len(value) == 1 and isinstance(each := next(iter(value.values())), dict):
            return [] if _is_event(next(iter(value)), each) else None
    return None


def _is_event(name: str, data: dict[str, object]) -> bool:
    return name == "Initialize" or (name.endswith(("Started", "Finished")) and "timestamp" in data)


def _item(kind: RecordingRule, value: object, place: str, contract: Contract) -> Item:
    status = status_of(_at(value, kind.status))
    if status is None:
        return Skipped(place, f"`{kind.status}` is no status of an answer", broken=False)
    url, method = str(_at(value, kind.url)), _at(value, kind.method)
    before, blank, after = url.partition(" ")
    if blank and before in _METHODS:
        url, method = after.partition(" ")[0], method or before
    lacks = set(ALWAYS | ABOUT_BODY | ABOUT_HEADERS | {"request", "elapsed"})
    if not isinstance(method, str):
        lacks |= {"method", "operation"}
    verb = method.upper() if isinstance(method, str) else ""
    sent = pairs(_at(value, kind.request.headers))
    asked = _at(value, kind.request.body)
    if sent is not None and (asked is not None or verb in _BODILESS):
        lacks.discard("request")
    received = pairs(_at(value, kind.response.headers))
    if received is not None:
        lacks -= ABOUT_HEADERS
        lacks |= left_out(received)
    elapsed = seconds_of(_at(value, kind.elapsed[0]), kind.elapsed[1]) if kind.elapsed else None
    if elapsed is not None:
        lacks.discard("elapsed")
    route = _at(value, kind.route)
    exchange = Exchange(
        Request(verb, url, sent or (), as_bytes(asked) if asked is not None else b""),
        Response(status, received or (), b"", elapsed or 0.0),
        route=route if isinstance(route, str) else None,
        operation=f"{verb} {route}" if verb and isinstance(route, str) else None,
    )
    body = _whole(_at(value, kind.response.body), received or ())
    if body is not None:
        lacks -= ABOUT_BODY
    elif slots := {
        slot: found for slot, at in kind.slots.items() if (found := _at(value, at)) is not None
    }:
        claim = contract.claim(exchange)
        body = _rendered(claim, slots) if claim is not None else None
        if body is not None:
            lacks -= {"ids", *(fact for slot in slots for fact in _TOLD_BY.get(slot, ()))}
    return RecordedExchange(_with(exchange, body or b"", frozenset(lacks)), place)


def _with(exchange: Exchange, body: bytes, lacks: frozenset[str]) -> Exchange:
    answer = exchange.response
    whole = Response(answer.status, answer.headers, body, answer.elapsed)
    return Exchange(
        exchange.request, whole, route=exchange.route, operation=exchange.operation, lacks=lacks
    )


def _at(value: object, pointer: str | None) -> object:
    return resolve(value, pointer)[1] if pointer is not None else None


def _whole(found: object, headers: Headers) -> bytes | None:
    """A recorded body; None where there is none, or only a part of it."""
    if found is None:
        return None
    body = unpacked(as_bytes(found), headers)
    length = first(headers, "content-length")
    coded = first(headers, "content-encoding")
    if body is not None and isinstance(found, str) and length is not None and coded is None:
        # Logs cut what is long.
        return body if not length.isdigit() or len(body) >= int(length) else None
    return body


def _rendered(claim: Claim, slots: Mapping[str, object]) -> bytes | None:
    """As much of an envelope as the slots fill."""
    if not claim.envelopes:
        return None
    body = _filled(claim.envelopes[0].shape, slots)
    if body is _MISSING:
        return None
    for step in reversed(steps(claim.surface.at)):
        body = {step: body}
    return json.dumps(body).encode()


def _filled(node: Node, slots: Mapping[str, object]) -> object:
    match node:
        case Slot(name=name):
            return slots.get(name, _MISSING)
        case Literal(value=value):
            return value
        case Template(texts=texts, slots=names) if all(name in slots for name in names):
            return texts[0] + "".join(
                str(slots[name]) + text for name, text in zip(names, texts[1:], strict=True)
            )
        case Array(item=item):
            inner = _filled(item, slots)
            return _MISSING if inner is _MISSING else [inner]
        case Object(members=members, spread=spread):
            filled = {member.name: _filled(member.node, slots) for member in members}
            found = {name: each for name, each in filled.items() if each is not _MISSING}
            beside = slots.get(spread) if spread is not None else None
            return {**(beside if isinstance(beside, dict) else {}), **found}
    return _MISSING
