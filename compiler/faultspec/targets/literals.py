"""Values as source of Python and of TypeScript: one element a line, with a comma after the last.

Width decides nothing here; see docs/adr/0006-templates-own-the-layout.md.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

_SCALARS = (str, int, float, type(None))

_NAMED_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


class Verbatim(str):
    """Source that is printed as it is, such as a name."""

    __slots__ = ()


def string(text: str, beyond: str = "\\U{:08x}") -> str:
    """A literal of Python or TypeScript; ``beyond`` is the escape of a character of more than 16
    bits.
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(escape_character(character, quote, beyond) for character in text) + quote


def escape_character(character: str, quote: str, beyond: str = "\\U{:08x}") -> str:
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
    if isinstance(value, _SCALARS):
        return _py_scalar(value)
    if isinstance(value, Mapping):
        members = (f"{literal(key)}: {literal(member)}" for key, member in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    raise _no_literal(value, "Python")


def py(value: Any, indent: int = 0) -> str:
    """``value`` as Python; the lines after the first are indented by ``indent``. Raises TypeError.

    A named tuple becomes a call with those of its fields that differ from their default. A tuple of
    one scalar stays on its line: ruff takes its comma for part of the tuple.
    """
    if type(value) is str:
        return string(value)  # as nearly all are
    if isinstance(value, _SCALARS):
        return _py_scalar(value)
    inner = indent + 4
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            opened, closed = f"{type(value).__name__}(", ")"
            elements = [f"{name}={py(member, inner)}" for name, member in changed_fields(value)]
        else:
            opened, closed = "(", ")"
            if len(value) == 1 and isinstance(value[0], _SCALARS):
                return f"({_py_scalar(value[0])},)"
            elements = [py(element, inner) for element in value]
    elif isinstance(value, list):
        opened, closed = "[", "]"
        elements = [py(element, inner) for element in value]
    elif isinstance(value, (dict, Mapping)):
        opened, closed = "{", "}"
        elements = [f"{_py_scalar(key)}: {py(element, inner)}" for key, element in value.items()]
    else:
        raise _no_literal(value, "Python")
    return _explode(opened, elements, closed, indent=indent, inner=inner)


def _explode(opened: str, elements: Sequence[str], closed: str, *, indent: int, inner: int) -> str:
    """The elements between brackets, one a line; brackets alone if there are none."""
    if not elements:
        return opened + closed
    pad = f",\n{' ' * inner}"
    return f"{opened}{pad[1:]}{pad.join(elements)},\n{' ' * indent}{closed}"


def _py_scalar(value: object) -> str:
    if isinstance(value, str):
        return str(value) if isinstance(value, Verbatim) else string(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    raise _no_literal(value, "Python")


def changed_fields(record: Any) -> list[tuple[str, object]]:
    """The fields of a named tuple that differ from their default."""
    defaults = record._field_defaults
    return [
        (name, value)
        for name, value in zip(record._fields, record, strict=True)
        if name not in defaults or defaults[name] != value
    ]


# TypeScript


class Call(NamedTuple):
    """A call of TypeScript with one array or object, such as ``new Set([…])``.

    Without an argument if that is empty.
    """

    name: str
    argument: Sequence[object] | Mapping[str, object]


def ts(value: object, indent: int = 0) -> str:
    """``value`` as TypeScript; the lines after the first are indented by ``indent``. Raises
    TypeError.
    """
    if isinstance(value, str):
        return str(value) if isinstance(value, Verbatim) else string(value, "\\u{{{:x}}}")
    inner = indent + 2
    if isinstance(value, (dict, Mapping)):  # nearly all are the first, which is quicker to find out
        members = [f"{key(name)}: {ts(member, inner)}" for name, member in value.items()]
        return _explode("{", members, "}", indent=indent, inner=inner)
    if isinstance(value, Call):
        return f"{value.name}({ts(value.argument, indent) if value.argument else ''})"
    if isinstance(value, (list, tuple)):
        return _explode("[", [ts(item, inner) for item in value], "]", indent=indent, inner=inner)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        whole = value == int(value) and abs(value) < 2**53
        return str(int(value)) if whole else repr(value).replace("e+", "e")
    raise _no_literal(value, "TypeScript")


def _no_literal(value: object, language: str) -> TypeError:
    return TypeError(f"{type(value).__name__} has no {language} literal here")


@cache  # a name stands in many files
def key(name: str | int) -> str:
    """A name as the key of an object. ``__proto__``, which would set the prototype, and a negative
    number, which is not a name, are computed.
    """
    if isinstance(name, int):
        return str(name) if name >= 0 else f"[{name}]"
    if name == "__proto__":
        return '["__proto__"]'
    plain = name.isascii() and name.replace("$", "_").isidentifier()
    return str(name) if plain else ts(name)
