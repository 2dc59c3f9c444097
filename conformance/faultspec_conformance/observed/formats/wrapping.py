"""From a line of a log to the records in it, and to the values in a record."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache, reduce
from typing import Any, NamedTuple, TypeGuard

from faultspec.exchange.expressions import UncheckableExpression, search
from faultspec.language.line_formats import LINE_FORMATS
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import steps
from faultspec_conformance.observed.formats.items import ItemTooLarge, check_json_size

#: The members of a value of OpenTelemetry (`AnyValue` of its protocol); each has one of them.
TYPED = frozenset(
    {
        "stringValue",
        "boolValue",
        "intValue",
        "doubleValue",
        "arrayValue",
        "kvlistValue",
        "bytesValue",
    }
)

#: What text formats write for a part that is missing.
_MISSING = "-"


class Wrapped(NamedTuple):
    """A value, and what it was taken out of."""

    value: object
    around: "Wrapped | None" = None


class Cause(Enum):
    """Why something is not a record. ``FORM``: it is a text of another form. ``TEXT``: it is a
    text where JSON is expected. ``TORN``: it begins as JSON, which it is not, since Docker splits
    lines of more than 16 kB, or is JSON beyond the bounds.
    """

    FORM = "form"
    TEXT = "text"
    TORN = "torn"


class NoRecord(NamedTuple):
    """A part of a line that is not a record where one is expected. ``depth``: the steps from the
    line to it. ``reason``: a sentence about it.
    """

    cause: Cause
    reason: str
    depth: int


def unwrap(line: object, path: Sequence[str]) -> Iterator[Wrapped | NoRecord]:
    """The records of a line, by the steps from it, and what it has in place of others. ``line``:
    its text, or a value that is read.
    """
    found: list[Wrapped | NoRecord] = [Wrapped(line)]
    for depth, step in enumerate(path):
        found = [inner for one in found for inner in _take(one, step, depth)]
    yield from (_read_text(one, len(path)) for one in found)


def look_up(record: Wrapped, pointer: str) -> tuple[bool, object]:
    """Follow a pointer from a record: whether it resolves, and the plain value there.

    `..` leads to what the record was taken out of. A key leads into a list of pairs of a key and a
    value as well. A value of OpenTelemetry stands for what it contains.
    """
    place: Wrapped | None = record
    levels, keys = _split(pointer)
    for _ in range(levels):
        place = place.around if place is not None else None
    if place is None:
        return False, None
    value = place.value
    for key in keys:
        exists, value = _enter(value, key)
        if not exists:
            return False, None
    return True, read_plain(value)


@lru_cache(maxsize=1024)  # the pointers of a taxonomy, for each of any number of records
def _split(pointer: str) -> tuple[int, tuple[str, ...]]:
    """How many steps a pointer leads out, and the keys behind them."""
    keys = steps(pointer)
    levels = next((number for number, key in enumerate(keys) if key != ".."), len(keys))
    return levels, tuple(keys[levels:])


def _take(place: Wrapped | NoRecord, step: str, depth: int) -> Iterator[Wrapped | NoRecord]:
    if not step.startswith("/"):
        yield _match(place, step, depth) if isinstance(place, Wrapped) else place
        return
    place = _read_text(place, depth)
    if isinstance(place, NoRecord):
        yield place
        return
    around, value = place, place.value
    keys = steps(step)
    for number, key in enumerate(keys):
        if key == "*":
            rest = reduce(child, keys[number + 1 :], "")
            for item in _items(value):
                inner = Wrapped(item, around)
                yield from _take(inner, rest, depth) if rest else (inner,)
            return
        exists, value = _enter(value, key)
        if not exists:
            return
    yield Wrapped(read_plain(value), around)


def _items(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _match(place: Wrapped, step: str, depth: int) -> Wrapped | NoRecord:
    """The parts of a text by a format or an expression; missing ones are left out."""
    if not isinstance(place.value, str):
        return NoRecord(Cause.FORM, "it has no text where one of a format is expected", depth)
    text = place.value.strip("\r\n")
    try:
        known = LINE_FORMATS.get(step)
        found = known.fullmatch(text) if known else search(rf"\A(?:{step})\Z", text, re.DOTALL)
    except UncheckableExpression as error:
        return NoRecord(Cause.FORM, f"the expression of a text {error}", depth)
    if found is None:
        return NoRecord(Cause.FORM, "it has another form", depth)
    return Wrapped(present_parts(found), place)


def present_parts(found: re.Match[str]) -> Mapping[str, str]:
    """The named parts of a line of text, without those that are missing."""
    return {name: part for name, part in found.groupdict().items() if part not in (None, _MISSING)}


def _read_text(place: Wrapped | NoRecord, depth: int) -> Wrapped | NoRecord:
    """The JSON in a text; anything else as it is."""
    if isinstance(place, NoRecord) or not isinstance(place.value, str):
        return place
    text = place.value
    try:
        check_json_size(text)
        return Wrapped(json.loads(text), place.around)
    except ItemTooLarge as error:
        return NoRecord(Cause.TORN, str(error), depth)
    except (ValueError, RecursionError):
        cause = Cause.TORN if text.lstrip().startswith("{") else Cause.TEXT
        return NoRecord(cause, "the text in the line is not JSON", depth)


def _enter(value: object, key: str) -> tuple[bool, object]:
    """The member of an object, the item of a list, or the value of a key in a list of pairs."""
    value = read_plain(value)
    if isinstance(value, dict):
        return key in value, value.get(key)
    if not isinstance(value, list):
        return False, None
    if key.isascii() and key.isdigit() and len(key) < 10:
        return (True, value[int(key)]) if int(key) < len(value) else (False, None)
    for item in value:
        if isinstance(item, dict) and "value" in item and key == item.get("key", item.get("name")):
            return True, item["value"]
    return False, None


def is_typed(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is one of OpenTelemetry, which stands for what it contains."""
    return type(value) is dict and len(value) == 1 and not TYPED.isdisjoint(value)


def read_plain(value: object) -> object:
    """The content of a value of OpenTelemetry; any other value as it is."""
    while is_typed(value):
        ((name, value),) = value.items()
        if name in ("arrayValue", "kvlistValue") and isinstance(value, dict):
            value = value.get("values", [])
    return value
