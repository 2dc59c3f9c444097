"""Text as Markdown: whatever it holds, a reader sees that text, and nothing of it is a tag, a link or a column."""

import json
import re
from collections.abc import Iterable, Sequence

from faultspec.targets.filters import visible

#: What CommonMark, tables of GitHub, its formulas and Jekyll's tags would take for something else, and at the start of a
#: text what would begin a list or underline a heading. An underscore inside a word stays: it emphasises nothing there.
_SPECIAL = re.compile(
    r"[\\`*\[\]<>&|~#$!{}]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[-+=](?=[-= ]|$)|^\d+(?=[.)]( |$))"
)


def inline(text: str) -> str:
    """The text on one line, in a paragraph, a list, a heading or a cell."""
    return _SPECIAL.sub(lambda each: _escaped(each[0]), visible(text))


def _escaped(text: str) -> str:
    # A number that would begin a list is told by the sign behind it, which is escaped by an entity.
    return f"\\{text}" if not text.isdigit() else f"{text[:-1]}&#{ord(text[-1])};"


_UNQUOTABLE = re.compile(r"[`|]|\{[{%]")


def code(text: str) -> str:
    """The text in the type of code; where backticks can't quote it, as entities in a tag."""
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
    """A heading with an anchor of its own, which no renderer changes; ``text`` is Markdown."""
    return [f'<a id="{anchor}"></a>', "", f"{'#' * level} {text}", ""]


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of Markdown cells, one row a line, and nothing where there is no row."""
    lines = [f"| {' | '.join(cell or '—' for cell in row)} |" for row in rows]
    if not lines:
        return []
    return [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *lines, ""]


def bullets(items: Iterable[str]) -> list[str]:
    """A list of Markdown lines, one item a line."""
    lines = [f"* {item}" for item in items]
    return [*lines, ""] if lines else []


def fence(text: str, language: str) -> list[str]:
    """A block of JSON, or of another text no line of which is a fence."""
    return [f"```{language}", *text.split("\n"), "```", ""]


def comment(text: str) -> str:
    """A comment that nothing in the text ends."""
    return f"<!-- {re.sub('-(?=-)', '- ', visible(text))} -->"
