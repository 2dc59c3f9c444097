"""Values as source of Python and of TypeScript, laid out so that ruff and prettier leave them as
they are.

An object, a call with keywords and a list are exploded: one element a line, with a comma after the
last. The formatters keep that at any width. A few constructs have no such form, and the formatters
join or break them by width alone. Only these need arithmetic, each in its function: a tuple of one
scalar (``py``), an array (``_ts_array``), a long string behind its key (``member``), and a name, a
string or a type that is too long for its line (``assigned``, ``annotated``, ``fold``,
``declared``).
"""

import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

WIDTH = 88
"""Columns of generated Python, ruff's default."""

TYPESCRIPT_WIDTH = 80
"""Columns of generated TypeScript, prettier's default."""

_SCALARS = (str, int, float, type(None))

_NAMED_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


class Verbatim(str):
    """Source that is printed as it is, such as a name."""

    __slots__ = ()


def columns(text: str) -> int:
    """The width of a text as ruff counts it: two columns for a wide character, none for a combining
    one.
    """
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(character)
        else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def string(text: str, beyond: str = "\\U{:08x}") -> str:
    """A literal of Python or TypeScript; ``beyond`` is the escape of a character of more than 16
    bits.
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(escaped(character, quote, beyond) for character in text) + quote


def escaped(character: str, quote: str, beyond: str = "\\U{:08x}") -> str:
    """One character of a string literal; those that are invisible are escaped."""
    if character == quote:
        return "\\" + quote
    if character in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[character]
    if character.isprintable():
        return character
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else beyond.format(number)


# Python


def literal(value: Any) -> str:
    """``value`` as Python on one line; raises TypeError."""
    if isinstance(value, Mapping):
        members = (f"{literal(key)}: {literal(member)}" for key, member in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    return _py_scalar(value)


def py(value: Any, indent: int = 0, before: int = 0) -> str:
    """``value`` as Python; the lines after the first are indented by ``indent``. Raises TypeError.

    A named tuple becomes a call with those of its fields that differ from their default.
    ``before``: columns of the first line in front of the value.
    """
    if isinstance(value, _SCALARS):
        return _py_scalar(value)
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            opened, closed = f"{type(value).__name__}(", ")"
            elements = [(f"{name}=", member) for name, member in given(value)]
        else:
            opened, closed = "(", ")"
            if len(value) == 1 and isinstance(value[0], _SCALARS):
                # ruff joins a tuple of one element where it fits, whatever its comma.
                flat = f"({_py_scalar(value[0])},)"
                if before + columns(flat) < WIDTH:
                    return flat
            elements = [("", element) for element in value]
    elif isinstance(value, list):
        opened, closed = "[", "]"
        elements = [("", element) for element in value]
    elif isinstance(value, Mapping):
        opened, closed = "{", "}"
        elements = [(f"{_py_scalar(key)}: ", element) for key, element in value.items()]
    else:
        raise TypeError(f"{type(value).__name__} has no Python literal here")
    if not elements:
        return opened + closed
    inner = indent + 4
    pad = " " * inner
    lines = [f"{pad}{lead}{py(element, inner, inner + len(lead))},\n" for lead, element in elements]
    return f"{opened}\n{''.join(lines)}{' ' * indent}{closed}"


def _py_scalar(value: object) -> str:
    if isinstance(value, str):
        return str(value) if isinstance(value, Verbatim) else string(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    raise TypeError(f"{type(value).__name__} has no Python literal here")


def given(record: Any) -> list[tuple[str, object]]:
    """The fields of a named tuple that differ from their default."""
    defaults = record._field_defaults
    return [
        (name, value)
        for name, value in zip(record._fields, record, strict=True)
        if name not in defaults or defaults[name] != value
    ]


def fold(opened: str, inner: str, closed: str, indent: int = 0) -> str:
    """The three parts on one line, or ``inner`` on a line of its own where they do not fit."""
    if indent + columns(opened) + columns(inner) + columns(closed) <= WIDTH:
        return f"{opened}{inner}{closed}"
    pad = " " * indent
    return f"{opened}\n{pad}    {inner}\n{pad}{closed}"


def assigned(value: str, target: str, indent: int = 0) -> str:
    """``target = value`` for a string or a name; in parentheses if it fits only so."""
    source = _py_scalar(value)
    line = f"{target} = {source}"
    if indent + columns(line) <= WIDTH or indent + 4 + columns(source) > WIDTH:
        return line
    return fold(f"{target} = (", source, ")", indent)


def annotated(lead: str, annotation: str, tail: str, indent: int) -> str:
    """``lead``, a type and ``tail``; a type that is too long is broken at its bars or in its
    brackets.

    Without a ``tail`` it is a statement, in which parentheses go around a union or a name.
    """
    if indent + columns(lead) + columns(annotation) + columns(tail) <= WIDTH:
        return f"{lead}{annotation}{tail}"
    parts: list[str] = []
    for piece in annotation.split(" | "):
        if parts and parts[-1].count("[") > parts[-1].count("]"):
            parts[-1] += f" | {piece}"  # a bar inside brackets
        else:
            parts.append(piece)
    if len(parts) > 1 and tail:
        return lead + f"\n{' ' * indent}| ".join(parts) + tail
    if not tail and "[" not in annotation and indent + 4 + columns(annotation) <= WIDTH:
        return fold(f"{lead}(", annotation, ")", indent)
    outer, bracket, inner = annotation.partition("[")
    if bracket and inner.endswith("]"):
        return fold(f"{lead}{outer}[", inner[:-1], f"]{tail}", indent)
    return f"{lead}{annotation}{tail}"


# TypeScript


class Call(NamedTuple):
    """A call of TypeScript with an array, such as ``new Set([…])``."""

    name: str
    items: Sequence[object]


#: Columns of a key from which on prettier breaks the line behind it.
_WORTH_A_LINE = 5


def ts(value: object, indent: int = 0, before: int = 0) -> str:
    """``value`` as TypeScript; the lines after the first are indented by ``indent``. Raises
    TypeError.

    ``before``: columns of the first line in front of the value, with those of a comma behind it.
    """
    if isinstance(value, str):
        return str(value) if isinstance(value, Verbatim) else string(value, "\\u{{{:x}}}")
    if isinstance(value, (dict, Mapping)):  # nearly all are the first, which is quicker to find out
        pad = " " * (indent + 2)
        inner = indent + 2
        members = "".join([f"{pad}{member(key, each, inner)},\n" for key, each in value.items()])
        return f"{{\n{members}{' ' * indent}}}" if value else "{}"
    if isinstance(value, Call):
        inside = before + columns(value.name) + len("()")
        return f"{value.name}({ts(value.items, indent, inside) if value.items else ''})"
    if isinstance(value, (list, tuple)):
        return _ts_array(value, indent, before)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        whole = value == int(value) and abs(value) < 2**53
        return str(int(value)) if whole else repr(value).replace("e+", "e")
    raise TypeError(f"{type(value).__name__} has no TypeScript literal here")


def member(name: str, value: object, indent: int = 0) -> str:
    """``name: value`` as it stands in an object, without the comma."""
    lead = f"{key(name)}:"
    before = indent + columns(lead) + len(" ,")
    text = ts(value, indent, before)
    # prettier moves a long string or name below its key, unless the key is so short that this gains
    # nothing.
    long = isinstance(value, str) and before + columns(text) > TYPESCRIPT_WIDTH
    if long and len(lead) > _WORTH_A_LINE:
        return f"{lead}\n{' ' * (indent + 2)}{text}"
    return f"{lead} {text}"


@cache  # a name stands in many files
def key(name: str | int) -> str:
    """A name as the key of an object; ``__proto__`` would set the prototype, so it is computed."""
    if isinstance(name, int):
        return str(name)
    if name == "__proto__":
        return '["__proto__"]'
    plain = name.isascii() and name.replace("$", "_").isidentifier()
    return str(name) if plain else ts(name)


def _ts_array(value: Sequence[object], indent: int, before: int) -> str:
    """prettier joins an array that fits on its line, unless its items are arrays, and fills lines
    with numbers.
    """
    exploded = any(isinstance(item, (dict, Mapping)) and item for item in value) or (
        len(value) > 1 and all(isinstance(item, (list, tuple)) and len(item) > 1 for item in value)
    )
    flat = "" if exploded else f"[{', '.join([_ts_flat(item) for item in value])}]"
    if flat and before + columns(flat) <= TYPESCRIPT_WIDTH:
        return flat
    inner = indent + 2
    pad = " " * inner
    if all(type(item) in (int, float) for item in value):
        lines = textwrap.wrap(f"{flat[1:-1]},", TYPESCRIPT_WIDTH - inner)
    else:
        lines = [f"{ts(item, inner, inner + 1)}," for item in value]
    return "[\n" + "".join(f"{pad}{line}\n" for line in lines) + " " * indent + "]"


def _ts_flat(value: object) -> str:
    return f"[{', '.join(map(_ts_flat, value))}]" if isinstance(value, (list, tuple)) else ts(value)


def union(parts: Iterable[str]) -> str:
    """The parts of a type, each once."""
    return " | ".join(dict.fromkeys(parts))


def declared(parts: Sequence[str], lead: str, indent: int = 0) -> str:
    """``lead``, a type that is the union of the parts, and a semicolon.

    A union that is too long goes to a line of its own, and if it is too long even for that, each
    part does.
    """
    flat = union(parts)
    pad = " " * (indent + 2)
    single = len(parts) == 1 and not lead.endswith("=")
    if single or "\n" in flat or indent + columns(f"{lead} {flat};") <= TYPESCRIPT_WIDTH:
        return f"{lead} {flat};"
    if len(parts) == 1 or columns(f"{pad}{flat};") <= TYPESCRIPT_WIDTH:
        return f"{lead}\n{pad}{flat};"
    return lead + "".join(f"\n{pad}| {part}" for part in dict.fromkeys(parts)) + ";"


def keyof(values: Iterable[str | int], name: str) -> str:
    """A type ``name`` that is one of the values: the keys of an object type, which prettier leaves
    exploded.
    """
    lead, pad = f"export type {name} = keyof {{", ""
    if columns(lead) > TYPESCRIPT_WIDTH:
        lead, pad = f"export type {name} =\n  keyof {{", "  "
    members = "".join(f"{pad}  {key(value)}: never;\n" for value in values)
    return f"{lead}\n{members}{pad}}};"
