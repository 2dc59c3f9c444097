"""Python source laid out as ruff would, so that nothing has to format what a template made.

A mapping, and a call with keywords, is always one element a line with a comma after the last; a list, a tuple and a
call of one line stay on it while they fit.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from faultspec.targets.filters import WIDTH, columns, literal
from faultspec.targets.filters import string as string_literal

_SCALARS = (str, int, float, type(None))


class Raw(str):
    """Source that is already written, and stays on its line."""

    __slots__ = ()


class Laid(NamedTuple):
    """A value that is no scalar, laid out as far as its place does not matter: its brackets, each element with what stands in
    front of it, and the whole on one line, or None where it is always broken.
    """

    opened: str
    elements: list[tuple[str, "str | Laid"]]
    closed: str
    flat: str | None


def laid(value: Any) -> str | Laid:
    """``value`` for any place; what stands in many is laid out once."""
    if isinstance(value, _SCALARS):
        return _scalar(value)
    if isinstance(value, Laid):
        return value
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            elements = [(f"{name}=", laid(each)) for name, each in given(value)]
            return Laid(
                f"{type(value).__name__}(",
                elements,
                ")",
                _flat(f"{type(value).__name__}(", elements, ")"),
            )
        elements = [("", laid(each)) for each in value]
        return Laid("(", elements, ")", _flat("(", elements, ",)" if len(elements) == 1 else ")"))
    if isinstance(value, list):
        elements = [("", laid(each)) for each in value]
        return Laid("[", elements, "]", _flat("[", elements, "]"))
    elements = [(f"{_scalar(key)}: ", laid(each)) for key, each in value.items()]
    return Laid("{", elements, "}", None if elements else "{}")


def _flat(opened: str, elements: Sequence[tuple[str, str | Laid]], closed: str) -> str | None:
    items = []
    for lead, each in elements:
        flat = each if isinstance(each, str) else each.flat
        if flat is None:
            return None
        items.append(lead + flat)
    return f"{opened}{', '.join(items)}{closed}"


def source(value: object, indent: int = 0, before: int = 0, after: int = 1) -> str:
    """``value`` as source. ``before``: columns of the line already taken; ``after``: columns that follow, such as a
    comma.
    """
    return _placed(laid(value), indent, before, after)


def _placed(found: str | Laid, indent: int, before: int, after: int) -> str:
    if isinstance(found, str):
        return found
    if found.flat is not None and before + columns(found.flat) + after <= WIDTH:
        return found.flat
    return _broken(found, indent)


def broken(value: object, indent: int = 0) -> str:
    """``value`` with each element on a line of its own, whether or not it would fit on one."""
    found = laid(value)
    return found if isinstance(found, str) else _broken(found, indent)


def _broken(found: Laid, indent: int) -> str:
    inner = indent + 4
    pad = " " * inner
    lines = [
        f"{pad}{lead}{_placed(each, inner, inner + columns(lead), 1)},\n"
        for lead, each in found.elements
    ]
    return f"{found.opened}\n{''.join(lines)}{' ' * indent}{found.closed}"


_UNLIKE_ANY = object()
"""In place of the default of a field that has none."""


def given(record: Any) -> list[tuple[str, object]]:
    """The fields of a named tuple that differ from their default."""
    default = record._field_defaults.get
    fields = zip(record._fields, record, strict=True)
    return [(name, each) for name, each in fields if default(name, _UNLIKE_ANY) != each]


def _scalar(value: object) -> str:
    if type(value) is str:  # as nearly always
        return string_literal(value)
    return str(value) if isinstance(value, Raw) else literal(value)


def string(text: str, indent: int, before: int, after: int = 0) -> str:
    """A string that may be too long for its line: then in pieces, in parentheses."""
    flat = literal(text)
    if before + columns(flat) + after <= WIDTH:
        return flat
    if indent + 4 + columns(flat) <= WIDTH:
        return "(\n" + " " * (indent + 4) + flat + "\n" + " " * indent + ")"
    pieces, piece = [], ""
    for word in text.split(" "):
        longer = f"{piece}{word} "
        if piece and columns(literal(longer)) + indent + 4 > WIDTH:
            pieces.append(piece)
            longer = f"{word} "
        piece = longer
    pieces.append(piece[:-1])
    if len(pieces) == 1:
        return flat  # a single word that no line has room for
    pad = " " * (indent + 4)
    return "(\n" + "".join(f"{pad}{literal(each)}\n" for each in pieces) + " " * indent + ")"


def name(text: str, indent: int, before: int) -> str:
    """A name as the right side of an assignment: in parentheses where only they make room for it."""
    if before + columns(text) <= WIDTH or indent + 4 + columns(text) > WIDTH:
        return text
    return "(\n" + " " * (indent + 4) + text + "\n" + " " * indent + ")"


def bracketed(opened: str, items: Sequence[str], closed: str, indent: int) -> str:
    """``opened``, items and ``closed`` on one line; else the items on a line of their own; else a line for each."""
    flat = ", ".join(items)
    if indent + columns(opened) + columns(flat) + columns(closed) <= WIDTH:
        return f"{opened}{flat}{closed}"
    pad, inner = " " * indent, " " * (indent + 4)
    if len(inner) + columns(flat) <= WIDTH or len(items) == 1:
        return f"{opened}\n{inner}{flat}\n{pad}{closed}"
    return f"{opened}\n" + "".join(f"{inner}{item},\n" for item in items) + f"{pad}{closed}"


def typed(lead: str, annotation: str, tail: str, indent: int, *, statement: bool = False) -> str:
    """``lead`` with a type behind it, and ``tail``; a type that is too long is broken at its bracket or its bars.

    ``statement``: it is a statement of its own, where parentheses go round what is long.
    """
    if indent + columns(lead) + columns(annotation) + columns(tail) <= WIDTH:
        return f"{lead}{annotation}{tail}"
    pad = " " * indent
    parts = _bars(annotation)
    if len(parts) > 1 and not statement:
        return f"{lead}{parts[0]}" + "".join(f"\n{pad}| {part}" for part in parts[1:]) + tail
    if statement and "[" not in annotation and indent + 4 + columns(annotation) <= WIDTH:
        return f"{lead}(\n{pad}    {annotation}\n{pad}){tail}"
    outer, bracket, inner = annotation.partition("[")
    if bracket and inner.endswith("]"):
        return f"{lead}{outer}[\n{pad}    {inner[:-1]}\n{pad}]{tail}"
    return f"{lead}{annotation}{tail}"


def _bars(annotation: str) -> list[str]:
    """The members of a union; one whose bars stand in brackets is a single member. No string of a Literal is long enough
    to come here.
    """
    parts: list[str] = []
    for piece in annotation.split(" | "):
        if parts and parts[-1].count("[") > parts[-1].count("]"):
            parts[-1] += f" | {piece}"
        else:
            parts.append(piece)
    return parts


def subscript(name: str, items: Sequence[str], indent: int, before: int, after: int) -> str:
    """``Literal["a", "b"]``, broken where it does not fit."""
    flat = f"{name}[{', '.join(items)}]"
    if before + columns(flat) + after <= WIDTH:
        return flat
    pad = " " * (indent + 4)
    return f"{name}[\n" + "".join(f"{pad}{item},\n" for item in items) + " " * indent + "]"
