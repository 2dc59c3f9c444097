# Copied from faultspec; do not edit
# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""Does a detail fit what was declared of it? What an exception asks before it exists.

The meaning of each word is that of JSON Schema 2020-12, but for an infinite number and
one that is none, which JSON has no way to write.
"""

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

# Characters of a value that a message shows
_SHOWN = 60

# Characters of a value with a pattern: `re` takes quadratic time
SEARCHED = 4096

_NAMES = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "a whole number",
    "number": "a number",
    "object": "a mapping",
    "array": "a list",
    "null": "None",
}


class Check(NamedTuple):
    """The requirements of a value; what is not set is free.

    `types` are JSON type names. `pattern` is an expression of Python's. `format` are
    names of `ids.PATTERNS`, one of which has to match. An object has all `required`
    members, and where it is `closed` none beside `members`. Messages show no
    `sensitive` value, and nothing inside it.
    """

    types: tuple[str, ...] = ()
    enum: tuple[object, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: tuple[str, ...] = ()
    items: "Check | None" = None
    members: "Mapping[str, Check]" = MappingProxyType({})
    required: tuple[str, ...] = ()
    closed: bool = False
    sensitive: bool = False


def refuse(check: Check, value: object, name: str) -> None:
    """Raises TypeError for a value of another type, and ValueError for one that is not
    allowed; `name` is what the message calls it.
    """
    if check.sensitive:
        try:
            refuse(check._replace(sensitive=False), value, name)
        except (TypeError, ValueError) as error:
            message = f"{name} is not allowed; its value is sensitive"
            raise type(error)(message) from None
        return
    if check.types and not any(_is(value, type_) for type_ in check.types):
        wanted = " or ".join(_NAMES[type_] for type_ in check.types)
        raise TypeError(f"{name} is {_shown(value)}; expected {wanted}")
    if check.enum and not any(_same(value, each) for each in check.enum):
        allowed = ", ".join(map(repr, check.enum))
        raise ValueError(f"{name} is {_shown(value)}; expected one of {allowed}")
    if isinstance(value, str):
        _refuse_text(check, value, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _refuse_number(check, value, name)
    elif isinstance(value, list | tuple) and check.items is not None:
        for index, each in enumerate(value):
            refuse(check.items, each, f"{name}[{index}]")
    elif isinstance(value, Mapping):
        _refuse_members(check, value, name)


def _refuse_text(check: Check, value: str, name: str) -> None:
    length = len(value)
    if check.min_length is not None and length < check.min_length:
        wanted = f"at least {check.min_length} characters"
        raise ValueError(f"{name} has {length}; expected {wanted}")
    if check.max_length is not None and length > check.max_length:
        wanted = f"at most {check.max_length} characters"
        raise ValueError(f"{name} has {length}; expected {wanted}")
    if check.pattern is not None and length > SEARCHED:
        wanted = f"at most {SEARCHED} characters, since it has a pattern"
        raise ValueError(f"{name} has {length}; expected {wanted}")
    if check.pattern is not None and not re.search(check.pattern, value):
        raise ValueError(f"{name} is {_shown(value)}; expected {check.pattern!r}")
    if check.format:
        from . import ids  # here, since few details are ids

        if not ids.matches(check.format, value):
            wanted = " or ".join(check.format)
            raise ValueError(f"{name} is {_shown(value)}; expected {wanted}")


def _refuse_number(check: Check, value: float, name: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}, which JSON cannot write")
    if check.minimum is not None and value < check.minimum:
        raise ValueError(f"{name} is {value}; expected at least {check.minimum}")
    if check.maximum is not None and value > check.maximum:
        raise ValueError(f"{name} is {value}; expected at most {check.maximum}")


def _refuse_members(check: Check, value: Mapping[str, object], name: str) -> None:
    for key in check.required:
        if key not in value:
            raise ValueError(f"{name} lacks {key!r}")
    for key, each in value.items():
        if key in check.members:
            refuse(check.members[key], each, f"{name}[{key!r}]")
        elif check.closed:
            raise ValueError(f"{name} has {key!r}, which is not declared")


def _is(value: object, kind: str) -> bool:
    match value:
        case None:
            return kind == "null"
        case bool():
            return kind == "boolean"
        case int():
            return kind in ("integer", "number")
        case float():
            return kind == "number" or (kind == "integer" and value.is_integer())
        case str():
            return kind == "string"
        case list() | tuple():
            return kind == "array"
        case Mapping():
            return kind == "object"
    return False


def _same(a: object, b: object) -> bool:
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
