"""TypeScript source laid out as prettier would by default, so that nothing has to format what a template made.

An object is always one member a line, which prettier leaves so; a list stays on its line while it fits.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from faultspec.targets.filters import TYPESCRIPT_WIDTH as WIDTH
from faultspec.targets.filters import columns, string
from faultspec.targets.layout import Raw

#: Columns of a key from which on prettier breaks the line behind it.
_WORTH_A_LINE = 5

_SCALARS = (str, int, float, type(None))

#: What is one nearly always comes first: whether anything else is a mapping takes long to tell.
_OBJECTS = (dict, Mapping)

_ESCAPE_BEYOND = "\\u{{{:x}}}"
"""How a character of more than 16 bits is escaped."""


def literal(value: object) -> str:
    """A scalar as prettier writes it: double quotes, unless that takes more escapes."""
    if isinstance(value, str):
        return str(value) if isinstance(value, Raw) else string(value, _ESCAPE_BEYOND)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return (
            str(int(value))
            if value == int(value) and abs(value) < 2**53
            else repr(value).replace("e+", "e")
        )
    raise TypeError(f"{type(value).__name__} has no TypeScript literal here")


def key(name: str) -> str:
    """A name as the key of an object or the member of an interface; `__proto__` would set the prototype, so it is computed."""
    if name == "__proto__":
        return '["__proto__"]'
    plain = name.isascii() and name.replace("$", "_").isidentifier()
    return name if plain else literal(name)


def source(value: object, indent: int = 0, before: int = 0, after: int = 1) -> str:
    """``value`` as source. ``before``: columns of the line already taken; ``after``: columns that follow, such as a
    comma.
    """
    if isinstance(value, _SCALARS):
        return literal(value)
    if isinstance(value, _OBJECTS):
        return _object(value, indent)
    if isinstance(value, (list, tuple)):
        return _array(value, indent, before, after)
    return literal(value)


def _object(value: Mapping[str, object], indent: int) -> str:
    if not value:
        return "{}"
    return f"{{\n{body(value.items(), indent + 2)}{' ' * indent}}}"


def body(given: Iterable[tuple[str, object]], indent: int) -> str:
    """The lines of an object's members."""
    pad = " " * indent
    return "".join([f"{pad}{member(name, each, indent)},\n" for name, each in given])


def member(name: str, value: object, indent: int) -> str:
    """``name: value`` as it stands in an object, without the comma."""
    lead = f"{key(name)}: "
    before = indent + columns(lead)
    text = source(value, indent, before)
    # A string, or a name, that is too long goes to a line of its own, unless the key is so short that this would win nothing.
    if (
        isinstance(value, str)
        and before + columns(text) + 1 > WIDTH
        and before - indent >= _WORTH_A_LINE + len(": ")
    ):
        return f"{lead.rstrip()}\n{' ' * (indent + 2)}{text}"
    return lead + text


def _array(value: Sequence[object], indent: int, before: int, after: int) -> str:
    if not value:
        return "[]"
    inner = indent + 2
    flat = None if any(isinstance(each, _OBJECTS) and each for each in value) else _flat(value)
    if flat is not None and before + columns(flat) + after <= WIDTH:
        return flat
    items = [source(each, inner, inner) for each in value]
    pad = " " * inner
    if all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in value):
        # Prettier fills lines with numbers.
        lines = textwrap.wrap(", ".join(items) + ",", WIDTH - inner)
        return "[\n" + "".join(f"{pad}{line}\n" for line in lines) + " " * indent + "]"
    return "[\n" + "".join(f"{pad}{item},\n" for item in items) + " " * indent + "]"


def _flat(value: Sequence[object]) -> str:
    return f"[{', '.join(_flat(each) if isinstance(each, (list, tuple)) else source(each) for each in value)}]"


def union(parts: Sequence[str]) -> str:
    """The parts of a type, each once."""
    return " | ".join(dict.fromkeys(parts))


def typed(lead: str, parts: Sequence[str], indent: int) -> str:
    """``lead`` with a type behind it, which is a union of the parts; a line for each where they do not fit."""
    flat = f"{lead} {union(parts)};"
    if len(parts) == 1 or "\n" in flat or indent + columns(flat) <= WIDTH:
        return flat
    pad = " " * (indent + 2)
    return lead + "".join(f"\n{pad}| {part}" for part in parts) + ";"


def alias(name: str, parts: Sequence[str]) -> str:
    """``export type Name = …;``, a line for each part where they do not fit."""
    flat = f"export type {name} = {union(parts)};"
    if columns(flat) <= WIDTH or "\n" in flat:
        return flat
    if len(parts) == 1:
        return f"export type {name} =\n  {parts[0]};"
    return (
        f"export type {name} =\n" + "\n".join(f"  | {each}" for each in dict.fromkeys(parts)) + ";"
    )


def extending(name: str, base: str) -> str:
    """The first line of an interface that extends another one."""
    flat = f"export interface {name} extends {base} {{"
    return flat if columns(flat) <= WIDTH else f"export interface {name}\n  extends {base} {{"
