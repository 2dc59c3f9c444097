"""Walk a value along a ``Schema`` of the language's closed subset, with the meaning JSON Schema 2020-12 gives it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from faultspec.finding import Level
from faultspec.language.model import Presence, Schema
from faultspec.runtime import ids
from faultspec.runtime.nodes import child

Kind = Literal["value", "format", "required", "expected", "additional"]


@dataclass(frozen=True, slots=True)
class Departure:
    """A value at ``pointer`` that is not what the schema wants; ``message`` is a sentence about it."""

    pointer: str
    kind: Kind
    message: str


Terms = Mapping[str, tuple[str, ...]]


def departures(schema: Schema, value: object, pointer: str, terms: Terms) -> Iterator[Departure]:
    """Where ``value`` leaves ``schema``, imported ones not looked into. A value of the wrong type is only that."""
    if schema.types and not any(_is(each, value) for each in schema.types):
        yield Departure(pointer, "value", f"{place(pointer)} is {shown(value)}; expected {_or(schema.types)}")
        return
    allowed = terms.get(schema.vocabulary, ()) if schema.vocabulary is not None else schema.enum
    if (allowed or schema.vocabulary is not None) and not any(same(value, each) for each in allowed):
        yield Departure(pointer, "value", f"{place(pointer)} is {shown(value)}; expected {_one_of(allowed)}")
    if isinstance(value, str):
        yield from _string(schema, value, pointer)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if schema.minimum is not None and value < schema.minimum:
            yield Departure(pointer, "value", f"{place(pointer)} is {shown(value)}; expected at least {schema.minimum}")
        if schema.maximum is not None and value > schema.maximum:
            yield Departure(pointer, "value", f"{place(pointer)} is {shown(value)}; expected at most {schema.maximum}")
    elif isinstance(value, list) and schema.items is not None:
        for index, each in enumerate(value):
            yield from departures(schema.items, each, child(pointer, index), terms)
    elif isinstance(value, dict):
        yield from _object(schema, value, pointer, terms)


def absent(presence: Presence, pointer: str, why: str) -> Departure | None:
    """What there is to say of a member that isn't there."""
    if presence == "required":
        return Departure(pointer, "required", f"{place(pointer)} is missing; {why}")
    if presence == "expected":
        return Departure(pointer, "expected", f"{place(pointer)} is missing; {why.replace('requires', 'should have')}")
    return None


def level_of(departure: Departure) -> Level:
    """How bad it is: what should be there, and what is merely undeclared, is a warning."""
    return "warning" if departure.kind in ("expected", "additional") else "error"


def _object(schema: Schema, value: Mapping[str, object], pointer: str, terms: Terms) -> Iterator[Departure]:
    for name, member in schema.properties.items():
        here = child(pointer, name)
        if name not in value:
            missing = absent(member.presence, here, f"{place(pointer)} requires it")
            if missing:
                yield missing
        elif member.presence == "forbidden":
            yield Departure(here, "value", f"{place(here)} must not be there")
        else:
            yield from departures(member.schema, value[name], here, terms)
    if schema.additional != "allow" and (schema.properties or "object" in schema.types):
        for name in value:
            if name not in schema.properties:
                kind: Kind = "value" if schema.additional == "forbid" else "additional"
                here = child(pointer, name)
                yield Departure(here, kind, f"{place(here)} is not declared")


def _string(schema: Schema, value: str, pointer: str) -> Iterator[Departure]:
    known = [each for each in schema.format if each in ids.FORMATS]
    # A format outside the identifiers is an annotation, as in JSON Schema; beside one it makes the choice free.
    if known and len(known) == len(schema.format) and not ids.matches(known, value):
        yield Departure(pointer, "format", f"{place(pointer)} is {shown(value)}; expected {_a(known)}")
    if schema.pattern is not None and not _pattern(schema.pattern).search(value):
        yield Departure(
            pointer, "format", f"{place(pointer)} is {shown(value)}; expected it to match `{schema.pattern}`"
        )
    if schema.min_length is not None and len(value) < schema.min_length:
        yield Departure(
            pointer, "value", f"{place(pointer)} has {len(value)} characters; expected at least {schema.min_length}"
        )
    if schema.max_length is not None and len(value) > schema.max_length:
        yield Departure(
            pointer, "value", f"{place(pointer)} has {len(value)} characters; expected at most {schema.max_length}"
        )


@lru_cache(maxsize=512)
def _pattern(pattern: str) -> re.Pattern[str]:
    # In ECMA-262 `$` is the very end; Python's also stands before a last newline.
    anchored = re.sub(r"(?<!\\)((?:\\\\)*)\$$", r"\1\\Z", pattern)
    return re.compile(anchored)


def _is(type: str, value: object) -> bool:
    match type:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            if isinstance(value, float):
                return value.is_integer()
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "null":
            return value is None
    return False


def same(a: object, b: object) -> bool:
    """Equality of scalars as JSON has it: 1 is 1.0, but neither is true."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def place(pointer: str) -> str:
    """A pointer as a sentence names it."""
    return f"`{pointer}`" if pointer else "the body"


_SHOWN = 60
"""Characters of a value that a message shows."""


def shown(value: object) -> str:
    """A value in a sentence: scalars as they are, cut where they are long; containers by name."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() if abs(value) >= 10**_SHOWN:
            return "a very large number"
        case int() | float():
            return str(value)
        case str():
            text = value.encode("utf-8", "backslashreplace").decode()
            text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[: _SHOWN + 1])
            return f'"{text[:_SHOWN]}…"' if len(text) > _SHOWN else f'"{text}"'
        case list():
            return "a list"
        case dict():
            return "an object"
    return "a value"


_NAMES = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def _or(types: tuple[str, ...]) -> str:
    return " or ".join(_NAMES.get(each, each) for each in types)


def _one_of(values: tuple[object, ...]) -> str:
    return shown(values[0]) if len(values) == 1 else f"one of {', '.join(map(shown, values))}"


def _a(formats: list[str]) -> str:
    return " or ".join(f"a {each}" for each in formats)
