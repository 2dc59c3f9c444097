"""JSON text, two spaces a level."""

import json as _json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

#: The quoting of ``json.dumps`` without ``ensure_ascii``.
_quoted: Callable[[str], str] = _json.encoder.encode_basestring


class Fragment(dict[str, Any]):
    """An object that stands in several JSON documents: its text is made once, so nothing may change
    it any more.

    ``old``: the same as a schema in the dialect of OpenAPI 3.0, once it was asked for.
    """

    __slots__ = ("_refers", "_text", "old")

    def __init__(self, *members: Any, **more: Any) -> None:
        super().__init__(*members, **more)
        self.old: Fragment | None = None
        self._text: str | None = None
        self._refers: bool | None = None

    @property
    def text(self) -> str:
        """The JSON text, not indented."""
        text = self._text
        if text is None:
            text = self._text = _members(self, "")
        return text

    @property
    def refers(self) -> bool:
        """Whether a component of OpenAPI is referred to in it; the overlays ask four times."""
        if self._refers is None:
            self._refers = '"#/components/' in self.text
        return self._refers


def json(value: object, indent: int = 0) -> str:
    """JSON text, its lines after the first indented by ``indent`` columns.

    Characters that are invisible, change the direction of a line or are half of a surrogate pair
    become escapes.
    """
    return _visible(_pretty(value, " " * indent))


def json_pieces(value: object, deepest: int = 2) -> Iterator[str]:
    """The same text in pieces, so that no large document is held as a whole.

    ``deepest``: columns of indentation beyond which an object or a list is one piece.
    """
    return map(_visible, _pieces(value, "", deepest))


def _pieces(value: object, pad: str, deepest: int) -> Iterator[str]:
    if type(value) not in (dict, list) or not value or len(pad) > deepest:
        yield _pretty(value, pad)
        return
    inner = f"{pad}  "
    named: Iterable[tuple[str, object]]
    if isinstance(value, dict):
        named, opening, closing = (
            ((f"{_quoted(_key(key))}: ", value[key]) for key in value),
            "{",
            "}",
        )
    else:
        named, opening, closing = (("", item) for item in cast("list[object]", value)), "[", "]"
    for lead, member in named:
        yield f"{opening}\n{inner}{lead}"
        yield from _pieces(member, inner, deepest)
        opening = ","
    yield f"\n{pad}{closing}"


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return re.sub(
        r"[^\n -~]",
        lambda found: found[0] if found[0].isprintable() else _json.dumps(found[0])[1:-1],
        text,
    )


# ``json.dumps`` takes three times as long with an indentation, for the encoder in C has none: 0.5 s
# of CPU at 1,000 codes, all targets.
def _pretty(value: object, pad: str) -> str:
    if type(value) is Fragment:
        return value.text.replace("\n", f"\n{pad}")
    if type(value) is int:
        return str(value)
    if isinstance(value, dict):
        return _members(value, pad)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (list, tuple)):
        inner = f"{pad}  "
        items = f",\n{inner}".join(
            [_quoted(item) if type(item) is str else _pretty(item, inner) for item in value]
        )
        return f"[\n{inner}{items}\n{pad}]" if value else "[]"
    if type(value) is bool:
        return "true" if value else "false"
    return "null" if value is None else _json.dumps(value)


def _members(value: dict[Any, Any], pad: str) -> str:
    if not value:
        return "{}"
    inner = f"{pad}  "
    members = f",\n{inner}".join(
        [
            f"{_quoted(key if type(key) is str else _key(key))}: "
            f"{_quoted(member) if type(member) is str else _pretty(member, inner)}"
            for key, member in value.items()
        ]
    )
    return f"{{\n{inner}{members}\n{pad}}}"


def _key(key: Any) -> str:
    return key if isinstance(key, str) else _json.dumps(key)
