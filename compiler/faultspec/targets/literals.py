"""Values as source of Python and of TypeScript, laid out so that ruff and prettier leave them as
they are.

An object, a call with keywords and a list are exploded: one element a line, with a comma after the
last. The formatters join a few constructs again where they fit on one line. Each has its helper
here: a tuple of one scalar (``py``), a name, a string or a type that is too long for its line
(``assigned``, ``annotated``, ``fold``), an array and a union of TypeScript (``ts``, ``union``).
"""

import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

WIDTH = 88
"""Columns of generated Python, ruff's default."""

TYPESCRIPT_WIDTH = 80
"""Columns of generated TypeScript, prettier's default."""

_SCALARS = (str, int, float, type(None))

_HASHED = frozenset((str, int, bool, type(None)))
"""The types of scalars whose source is remembered by value and type.

Codes share most of their facts: without this, 10,000 codes take 0.1 s more of CPU. A float is left
out, for 0.0 equals -0.0.
"""

_REMEMBERED = 4096
"""The sources of each kind that are remembered, about a megabyte."""

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


def _shown(element: Any, indent: int, lead: str) -> str:
    if type(element) is str:
        return string(element)
    return _element(element, indent, indent + len(lead))


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
    lines = [f"{pad}{lead}{_shown(element, inner, lead)},\n" for lead, element in elements]
    return f"{opened}\n{''.join(lines)}{' ' * indent}{closed}"


def _element(value: Any, indent: int, before: int) -> str:
    """``py`` of an element, remembered if it is a scalar or a tuple of scalars."""
    kind = type(value)
    if kind is Verbatim:
        return str(value)
    if kind in _HASHED:
        return _shared_scalar(value)
    if kind is tuple and _HASHED.issuperset(kinds := tuple(map(type, value))):
        return _shared_tuple(value, kinds, indent, before)
    return py(value, indent, before)


@lru_cache(_REMEMBERED, typed=True)  # 1 and True are equal, and have sources of their own
def _shared_scalar(value: Any) -> str:
    return _py_scalar(value)


@lru_cache(_REMEMBERED)
def _shared_tuple(value: tuple[Any, ...], kinds: tuple[type, ...], indent: int, before: int) -> str:
    """``py`` of a tuple; ``kinds``: the types of its elements, for 1 and True are equal."""
    return py(value, indent, before)


def _py_scalar(value: object) -> str:
    if isinstance(value, str):
        return str(value) if isinstance(value, Verbatim) else string(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    raise TypeError(f"{type(value).__name__} has no Python literal here")


_NO_DEFAULT = object()
"""In place of the default of a field that has none."""


def given(record: Any) -> list[tuple[str, object]]:
    """The fields of a named tuple that differ from their default."""
    fields = _defaults(type(record))  # type: ignore[arg-type]  # a type has a hash
    return [
        (name, value)
        for (name, default), value in zip(fields, record, strict=True)
        if default is not value and default != value
    ]


@cache
def _defaults(kind: Any) -> tuple[tuple[str, object], ...]:
    """The fields of a type of named tuples, each with its default."""
    return tuple((name, kind._field_defaults.get(name, _NO_DEFAULT)) for name in kind._fields)


def fold(opened: str, inner: str, closed: str, indent: int = 0) -> str:
    """The three parts on one line, or ``inner`` on a line of its own where they do not fit."""
    if indent + columns(opened) + columns(inner) + columns(closed) <= WIDTH:
        return f"{opened}{inner}{closed}"
    pad = " " * indent
    return f"{opened}\n{pad}    {inner}\n{pad}{closed}"


def assigned(value: str, target: str, indent: int = 0) -> str:
    """``target = value`` for a string or a name; in parentheses where only they make room for it.

    A string that is too long even then is cut at its spaces.
    """
    source = _py_scalar(value)
    room = WIDTH - indent - 4
    if indent + columns(f"{target} = {source}") <= WIDTH:
        return f"{target} = {source}"
    if columns(source) <= room:
        return fold(f"{target} = (", source, ")", indent)
    pieces, piece = [], ""
    for word in [] if isinstance(value, Verbatim) else value.split(" "):
        longer = f"{piece}{word} "
        if piece and columns(string(longer)) > room:
            pieces.append(piece)
            longer = f"{word} "
        piece = longer
    pieces.append(piece[:-1])
    if len(pieces) == 1:
        return f"{target} = {source}"  # a single word that no line has room for
    pad = " " * indent
    lines = "".join(f"{pad}    {string(piece)}\n" for piece in pieces)
    return f"{target} = (\n{lines}{pad})"


def annotated(lead: str, annotation: str, tail: str, indent: int) -> str:
    """``lead``, a type and ``tail``; a type that is too long is broken at its bars or in its
    brackets.

    Without a ``tail`` it is a statement, in which parentheses go around a union.
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
    if len(parts) > 1 and "[" not in annotation and indent + 4 + columns(annotation) <= WIDTH:
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
        members = "".join(
            [f"{pad}{_shared_member(key, each, inner)},\n" for key, each in value.items()]
        )
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


def _shared_member(name: str, value: object, indent: int) -> str:
    """``member``, remembered if its value is a scalar or a tuple of scalars."""
    if type(value) in _HASHED:
        return _scalar_member(name, value, indent)
    if type(value) is tuple and _HASHED.issuperset(kinds := tuple(map(type, value))):
        return _tuple_member(name, value, kinds, indent)
    return member(name, value, indent)


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


@lru_cache(_REMEMBERED, typed=True)
def _scalar_member(name: str, value: Any, indent: int) -> str:
    return member(name, value, indent)


@lru_cache(_REMEMBERED, typed=True)
def _tuple_member(name: str, value: tuple[Any, ...], kinds: tuple[type, ...], indent: int) -> str:
    return member(name, value, indent)


@lru_cache(_REMEMBERED, typed=True)
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
