"""Placeholders in configured requests: new values, saved names, and members of resources."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from faultspec.exchange.model import Request
from faultspec.openapi.nodes import Json
from faultspec_conformance.config.requests import MOST_BYTES, NAMES
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.session import sampling
from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.sampling import ValueSource

T = TypeVar("T")

Schema = object
"""A schema of the OpenAPI document, or an empty one."""


class Room:
    """The characters that may still be filled in. A few words can ask for any number: a saved value
    may stand in a thousand places, and a made up one twice in the next.
    """

    def __init__(self) -> None:
        self._left = MOST_BYTES

    def take(self, value: T) -> T:
        """The value. Raises Unanswered if the request would be too long with it."""
        self._left -= len(value if isinstance(value, str) else str(value))
        if self._left < 0:
            request = Request("", "", (), b"")
            reason = f"it would have more than {MOST_BYTES // 1024**2} MiB of values filled in"
            raise Unanswered(NoAnswer(request, "unsendable", reason))
        return value


def fill_in(
    source: ValueSource,
    value: object,
    saved: Mapping[str, object] | None = None,
    schema: Schema = None,
    room: Room | None = None,
) -> object:
    """Return a configured value with new values and saved names filled in.

    A text that consists of one placeholder takes the type of its value. ``schema``: what new values
    have to fit. ``room``: for them; default that of one request. Raises Unanswered.
    """
    room = room or Room()
    if isinstance(value, str):
        return _fill_in_leaf(source, value, saved or {}, schema, room=room)
    if isinstance(value, dict | list):
        node = sampling.merge_all_of(source.document, schema or {})
        if isinstance(value, list):
            return [fill_in(source, item, saved, node.get("items"), room=room) for item in value]
        inner = sampling.properties_of(node)
        return {
            key: fill_in(source, member, saved, inner.get(key), room=room)
            for key, member in value.items()
        }
    return value


def fill_in_text(
    source: ValueSource,
    text: str,
    saved: Mapping[str, object] | None = None,
    room: Room | None = None,
) -> str:
    """Return a configured text with new values and saved names filled in. Raises Unanswered."""
    known, room = saved or {}, room or Room()

    def replacement(found: re.Match[str]) -> str:
        name = found[1]
        return room.take(str(_NEW[name](source)) if name in _NEW else _known_text(found, known))

    return NAMES.sub(replacement, text)


def fill_in_texts(
    source: ValueSource, pairs: Mapping[str, str], saved: Mapping[str, object] | None = None
) -> dict[str, str]:
    """Return configured headers or a query with new values and saved names filled in. Raises
    Unanswered.
    """
    room = Room()
    return {name: fill_in_text(source, value, saved, room) for name, value in pairs.items()}


#: The placeholders of new values. `config.form` describes them.
_NEW: Mapping[str, Callable[[ValueSource], object]] = {
    "unique": lambda source: source.token(),
    "unique:int": lambda source: sampling.new_value(source, {"type": "integer"}),
    "unique:date": lambda source: source.tokens.day(),
    "unique:datetime": lambda source: f"{source.tokens.day()}T12:00:00Z",
}


def _known_text(found: re.Match[str], known: Mapping[str, object]) -> str:
    kind, colon, number = found[1].partition(":")
    if kind == "bytes" and colon:
        return "x" * int(number)
    return str(known.get(found[1], found[0]))


def _fill_in_leaf(
    source: ValueSource, text: str, saved: Mapping[str, object], schema: Schema, *, room: Room
) -> object:
    whole = NAMES.fullmatch(text)
    if whole is not None and whole[1] in saved:
        return room.take(saved[whole[1]])
    if whole is not None and whole[1] == "unique:int":
        return sampling.new_value(source, {"type": "integer", **_limits(source, schema)})
    if schema is None or "${unique}" not in text:
        return fill_in_text(source, text, saved, room)
    if whole is not None:
        return sampling.new_value(source, {"type": "string", **_limits(source, schema)})
    pieces = (fill_in_text(source, piece, saved, room) for piece in text.split("${unique}"))
    return sampling.new_text(source, schema, "{}".join(pieces))


def _limits(source: ValueSource, schema: Schema) -> Json:
    """Return the schema without what fixes the value, which is to be new."""
    return sampling.merge_all_of(source.document, schema or {})
