"""From an error to an answer in its envelope, and from an answer to an error."""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml

import json
import re
import time
import typing as t
from collections.abc import Mapping, Sequence

from ._runtime import retry_after
from ._runtime.shape import Extraction, Node, compile_shape, extract
from ._runtime.shape import render as render_shape
from .errors import (
    REMOVED,
    AlknetError,
    AnyError,
    EnvelopeName,
    UnknownError,
    default_message,
    error_class,
    error_classes,
    replacement,
    restored,
)


class Envelope(t.NamedTuple):
    """A shape on the wire. ``listed``: its details are a list with one object.
    ``shown``: they are present even if they are empty.
    """

    media_type: str
    shape: Node
    listed: bool = False
    shown: bool = False


ENVELOPES: Mapping[EnvelopeName, Envelope] = {
    "error": Envelope(
        media_type="application/json",
        shape=compile_shape(
            {
                "code": "$code",
                "message": "$message",
                "retryable": "$retriable",
                "details?": "$details",
            },
        ),
    ),
    "call_error": Envelope(
        media_type="application/json",
        shape=compile_shape(
            {
                "type": "call.error",
                "id": "$request_id",
                "payload": {
                    "code": "$code",
                    "message": "$message",
                    "retryable": "$retriable",
                    "details?": "$details",
                },
            },
        ),
    ),
}

HEADERS: Sequence[tuple[str, str, Sequence[range]]] = ()
"""Headers that every answer under these statuses has, with any code."""


CARRIED = frozenset(
    {
        "retry-after",
    }
)
"""Headers, in lower case, that are kept with an error; the others belong to the one
answer it came with.
"""


class Place(t.NamedTuple):
    """The place of an attribute of errors on the wire: the slot of the envelope, the
    types of its values, and the header that repeats it.
    """

    attribute: str
    slot: str
    kinds: type | tuple[type, ...]
    header: str | None = None


PLACES: Sequence[Place] = [
    Place(
        attribute="request_id",
        slot="request_id",
        kinds=str,
    ),
]

NEEDED: Mapping[str, str] = {
    "request_id": "request_id",
}
"""Slots that are never null in an envelope that requires them, each with the attribute
of errors that fills it.
"""


_REMOVED = frozenset(wire for _, wire in REMOVED)
_BREAK = re.compile(r"[\r\n\0]")
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Rendered(t.NamedTuple):
    """An answer, ready to send. ``headers`` have Content-Type, not Content-Length."""

    status: int
    headers: dict[str, str]
    body: bytes


def slot_values(error: AlknetError) -> dict[str, object]:
    """The value of each slot of an error, None if it has none."""
    values: dict[str, object] = {
        "code": error.facts.wire,
        "message": error.message,
        "summary": error.summary,
        "status": error.status,
        "retriable": error.retriable,
        "boundary": error.boundary,
        "domain": error.facts.domain,
        "details": dict(error.details) or None,
        **{place.slot: getattr(error, place.attribute) for place in PLACES},
    }
    return values


def to_envelope(
    error: AlknetError,
    *,
    envelope: EnvelopeName | None = None,
    slots: Mapping[str, object] | None = None,
) -> object:
    """The body of an error, as JSON data; ``slots`` are values for slots that the error
    does not know.

    ``envelope``: by default that of its code.
    Raises ``MissingSlot`` if the envelope requires a value that was not given.
    """
    chosen = ENVELOPES[envelope or error.envelope]
    values = slot_values(error)
    if chosen.shown and values["details"] is None:
        values["details"] = {}
    if chosen.listed and values["details"] is not None:
        values["details"] = [values["details"]]
    for slot in NEEDED:
        if values[slot] is None:
            del values[slot]
    return render_shape(chosen.shape, {**values, **(slots or {})})


def render(
    error: AlknetError,
    *,
    envelope: EnvelopeName | None = None,
    slots: Mapping[str, object] | None = None,
) -> Rendered:
    """The whole answer: status, headers and body. A code without an HTTP status is sent
    as 500.
    """
    content = to_envelope(error, envelope=envelope, slots=slots)
    status = error.status or 500
    headers = {"Content-Type": ENVELOPES[envelope or error.envelope].media_type}
    for name, value, on in (*HEADERS, *error.facts.constants):
        if any(status in span for span in on):
            _put(headers, name, value)
    for name, value in error.headers.items():
        _put(headers, name, value)
    if error.retry_after is not None:
        _put(headers, "Retry-After", retry_after.render(error.retry_after))
    for place in PLACES:
        repeated = getattr(error, place.attribute)
        if place.header is not None and repeated is not None:
            _put(headers, place.header, str(repeated))
    # RFC 9110 section 5.5: these characters would end the field or start another.
    for name, value in headers.items():
        if not value.isprintable():
            headers[name] = _BREAK.sub(" ", value)
    body = _JSON.encode(content).encode("utf-8", "backslashreplace")
    return Rendered(status, headers, body)


def _put(headers: dict[str, str], name: str, value: str | None) -> None:
    """Set the one value of a header, or remove it for None. Names have no case
    (RFC 9110 section 5.1).
    """
    for same in [key for key in headers if key.lower() == name.lower()]:
        del headers[same]
    if value is not None:
        headers[name] = value


def parse(
    body: bytes | str | Mapping[str, object],
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    operation: str | None = None,
) -> AnyError:
    """The error in an answer; never raises, whatever the body.

    An undeclared error becomes an ``UnknownError``, which keeps the body and names the
    replacement of a removed code. No deprecated code causes a warning here. ``status``
    and ``headers`` are those of the answer. ``operation`` matters if operations have
    codes of their own: its name, or its tool, method or route as the taxonomy writes
    it.
    """
    headers = headers or {}
    found, raw = _read(body)
    values: Mapping[str, object] = {} if found is None else found.slots
    code = _code(values)
    kind = None if code is None else error_class(code, operation)
    known = _members(values.get("details"))
    message = _typed(values.get("message"), str)
    carried = {name: text for name, text in headers.items() if name.lower() in CARRIED}
    state: dict[str, object] = {
        "_details": known,
        "_other_facts": {},
        "_retriable": _flag(values.get("retriable"), known, kind),
        "boundary": _typed(values.get("boundary"), str),
        "headers": carried,
        "message": message,
        "raw": raw,
        "retry_after": _retry_after(headers),
        "status": _typed(values.get("status"), int) if status is None else status,
    }
    if message is None:
        state["message"] = default_message(kind or UnknownError, known)
    for place in PLACES:
        value = _typed(values.get(place.slot), place.kinds)
        if not value and place.header is not None and place.kinds is str:
            value = _header(headers, place.header)
        state[place.attribute] = value
    if kind is None:
        state["_retriable"] = False
        state["original_code"] = code
        state["replaced_by"] = None if code is None else replacement(code, operation)
    elif state["status"] is None:
        state["status"] = kind.facts.status
    return t.cast(AnyError, restored(kind or UnknownError, state))


def parse_own(
    body: bytes,
    status: int,
) -> AlknetError | None:
    """The error in an envelope that a service filled itself: a declared code, under a
    status that it may have; None for anything else.
    """
    found, _ = _read(body)
    wire = None if found is None or not found.fits else _code(found.slots)
    if wire is None:
        return None
    for kind in error_classes(wire):
        if kind.facts.allows(status):
            return parse(body, status=status, operation=kind.operation)
    return None


def _read(
    body: bytes | str | Mapping[str, object],
) -> tuple[Extraction | None, object]:
    """The content of the body by an envelope that fits, else by one that finds a code:
    the first whose code is declared, else the first; and the body, decoded if it could
    be.
    """
    data: object = body
    if isinstance(body, bytes | bytearray | str):
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            return None, body
    readings: list[Extraction] = []
    for envelope in ENVELOPES.values():
        read = extract(envelope.shape, data)
        if read.fits and _declared(read):  # nearly always
            return read, data
        readings.append(read)
    fitting = [read for read in readings if read.fits]
    coded = [read for read in readings if "code" in read.slots]
    likely = fitting or coded
    declared = (read for read in likely if _declared(read))
    return next(declared, next(iter(likely), None)), data


def _code(slots: Mapping[str, object]) -> str | int | None:
    wire = _whole(slots.get("code"))
    return wire if isinstance(wire, str | int) and not isinstance(wire, bool) else None


def _declared(read: Extraction) -> bool:
    code = _code(read.slots)
    if code is None:
        return False
    return bool(error_classes(code)) or str(code) in _REMOVED


def _whole(value: object) -> object:
    """JSON has one kind of number: 1001.0 is 1001 (RFC 8259 section 6)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _flag(
    slot: object,
    details: Mapping[str, object],
    kind: type[AlknetError] | None,
) -> bool | None:
    key = None if kind is None else kind.flag_key
    value = slot if key is None or isinstance(slot, bool) else details.get(key)
    return value if isinstance(value, bool) else None


def _typed(value: object, kind: type | tuple[type, ...]) -> t.Any:
    """The value if it is of the kind; else None, as a body may hold anything."""
    if kind is int:
        value = _whole(value)
    if isinstance(value, bool) and kind in (int, (int, float)):
        return None
    return value if isinstance(value, kind) else None


def _header(headers: Mapping[str, str], name: str) -> str | None:
    wanted = name.lower()
    return next((text for key, text in headers.items() if key.lower() == wanted), None)


def _members(value: object) -> dict[str, object]:
    """The members of an object, or of the only object in a list; none of others."""
    if isinstance(value, list):
        items = t.cast(Sequence[object], value)
        value = items[0] if len(items) == 1 else None
    if not isinstance(value, Mapping):
        return {}
    return dict(t.cast(Mapping[str, object], value))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = _header(headers, "Retry-After")
    if value is None:
        return None
    return retry_after.parse(value, now=time.time(), lenient=True).seconds
