"""Python source laid out as ruff would, so that nothing has to format what a template made.

A mapping, and a call with keywords, is always one element a line with a comma after the last; a list, a tuple and a
call of one line stay on it while they fit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from faultspec.targets.filters import WIDTH, literal


class Raw(str):
    """Source that is already written, and stays on its line."""

    __slots__ = ()


def source(value: object, indent: int = 0, before: int = 0, after: int = 1) -> str:
    """``value`` as source. ``before``: columns of the line already taken; ``after``: columns that follow, such as a
    comma.
    """
    flat = _flat(value)
    if flat is not None and before + len(flat) + after <= WIDTH:
        return flat
    return broken(value, indent)


def broken(value: object, indent: int = 0) -> str:
    """``value`` with each element on a line of its own, whether or not it would fit on one."""
    pad = " " * (indent + 4)
    inner = indent + 4
    if isinstance(value, Mapping):
        items = [(f"{literal(key)}: ", each) for key, each in value.items()]
    elif _is_record(value):
        items = [(f"{name}=", each) for name, each in given(value)]
    elif isinstance(value, list | tuple):
        items = [("", each) for each in value]
    else:
        return str(value) if isinstance(value, Raw) else literal(value)
    lines = [f"{pad}{lead}{source(each, inner, inner + len(lead))},\n" for lead, each in items]
    opened, closed = _brackets(value)
    return opened + "\n" + "".join(lines) + " " * indent + closed


def _is_record(value: object) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def given(record: Any) -> list[tuple[str, object]]:
    """The fields of a named tuple that differ from their default."""
    defaults = record._field_defaults
    return [
        (name, each)
        for name, each in zip(record._fields, record, strict=True)
        if name not in defaults or defaults[name] != each
    ]


def _brackets(value: object) -> tuple[str, str]:
    if isinstance(value, Mapping):
        return "{", "}"
    if _is_record(value):
        return f"{type(value).__name__}(", ")"
    return ("[", "]") if isinstance(value, list) else ("(", ")")


def _flat(value: object) -> str | None:
    """The value on one line, or None where it is always broken."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Mapping):
        return None if value else "{}"
    if _is_record(value):
        parts = [(name, _flat(each)) for name, each in given(value)]
        if any(each is None for _, each in parts):
            return None
        return f"{type(value).__name__}({', '.join(f'{name}={each}' for name, each in parts)})"
    if isinstance(value, list | tuple):
        items = [_flat(each) for each in value]
        if any(each is None for each in items):
            return None
        opened, closed = _brackets(value)
        comma = "," if isinstance(value, tuple) and len(items) == 1 else ""
        return opened + ", ".join(each for each in items if each is not None) + comma + closed
    return literal(value)


def string(text: str, indent: int, before: int, after: int = 0) -> str:
    """A string that may be too long for its line: then in pieces, in parentheses."""
    flat = literal(text)
    if before + len(flat) + after <= WIDTH:
        return flat
    pieces, piece = [], ""
    for word in text.split(" "):
        longer = f"{piece}{word} "
        if piece and len(literal(longer)) + indent + 4 > WIDTH:
            pieces.append(piece)
            longer = f"{word} "
        piece = longer
    pieces.append(piece[:-1])
    if len(pieces) == 1:
        return flat  # a single word: parentheses would not make it any shorter
    pad = " " * (indent + 4)
    return "(\n" + "".join(f"{pad}{literal(each)}\n" for each in pieces) + " " * indent + ")"


def subscript(name: str, items: Sequence[str], indent: int, before: int, after: int) -> str:
    """``Literal["a", "b"]``, broken where it does not fit."""
    flat = f"{name}[{', '.join(items)}]"
    if before + len(flat) + after <= WIDTH:
        return flat
    pad = " " * (indent + 4)
    return f"{name}[\n" + "".join(f"{pad}{each},\n" for each in items) + " " * indent + "]"
