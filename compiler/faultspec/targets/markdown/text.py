"""Text as Markdown: a reader sees exactly the text, and no part of it becomes a tag, a link or a
column.
"""

import json
import re
from collections.abc import Iterable, Sequence

from faultspec.targets.filters import visible

#: The syntax of CommonMark, of GitHub's tables and formulas and of Jekyll's tags, and, at the start
#: of a text, of lists and headings. An underscore inside a word stays, because it does not
#: emphasise there.
_SPECIAL = re.compile(
    r"[\\`*\[\]<>&|~#$!{}]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[-+=](?=[-= ]|$)|^\d+(?=[.)]( |$))"
)


def inline(text: str) -> str:
    """The text on one line, in a paragraph, a list, a heading or a cell."""
    return _SPECIAL.sub(lambda each: _escaped(each[0]), visible(text))


def _escaped(text: str) -> str:
    # A number begins a list only with the sign behind it, so that sign becomes an entity.
    return f"\\{text}" if not text.isdigit() else f"{text[:-1]}&#{ord(text[-1])};"


_UNQUOTABLE = re.compile(r"[`|]|\{[{%]")


def code(text: str) -> str:
    """The text in the type of code; as entities in a tag if backticks cannot quote it."""
    shown = visible(text)
    if shown and not _UNQUOTABLE.search(shown):
        return f"`{shown}`"
    return (
        "<code>"
        + "".join(e if e.isalnum() or e == " " else f"&#{ord(e)};" for e in shown)
        + "</code>"
    )


def data(value: object) -> str:
    """A JSON value on one line, in the type of code."""
    return code(json.dumps(value, ensure_ascii=False))


def link(text: str, anchor: str) -> str:
    """A link to an anchor of the page; ``text`` is Markdown."""
    return f"[{text}](#{anchor})"


def heading(level: int, text: str, anchor: str) -> list[str]:
    """A heading with its own anchor, which is the same in every renderer; ``text`` is Markdown."""
    return [f'<a id="{anchor}"></a>', "", f"{'#' * level} {text}", ""]


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of Markdown cells, one row a line; nothing without rows."""
    lines = [f"| {' | '.join(cell or '—' for cell in row)} |" for row in rows]
    if not lines:
        return []
    return [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *lines, ""]


def bullets(items: Iterable[str]) -> list[str]:
    """A list of Markdown lines, one item a line."""
    lines = [f"* {item}" for item in items]
    return [*lines, ""] if lines else []


def fence(text: str, language: str) -> list[str]:
    """A block of JSON, or of another text without a line that is a fence."""
    return [f"```{language}", *text.split("\n"), "```", ""]


def comment(text: str) -> str:
    """A comment that the text cannot end."""
    return f"<!-- {re.sub('-(?=-)', '- ', visible(text))} -->"
