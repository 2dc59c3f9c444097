"""A line of a source text as a terminal shows it, and the underline of a span in it."""

import re
import unicodedata
from collections.abc import Mapping

from faultspec.diagnostics.formats.escaping import escape_at
from faultspec.diagnostics.model import Span

#: The width of a tab in spaces; constant, so that the underline does not depend on its column.
_TAB = 4

#: A longer line is cut around the span: twice what a narrow terminal shows.
_LINE_LIMIT = 160

#: Sources whose lines are kept. Lines take up to 60 times the memory of their text.
_KEPT = 4

#: Characters of a cut line before the span, and in all.
_BEFORE, _WINDOW = 40, 120


class Snippets:
    """Lines of the sources. Those of the last few are kept: diagnostics are sorted by file."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._lines: dict[str, list[str]] = {}

    def find(self, path: str, span: Span | None) -> tuple[str, str, str] | None:
        """The line number, the line and its underline; None if the text or the line is missing."""
        if span is None or path not in self._sources:
            return None
        if path not in self._lines:
            if len(self._lines) == _KEPT:
                self._lines.clear()
            text = self._sources[path].removeprefix("\ufeff")
            self._lines[path] = re.split(r"\r\n|\r|\n", text)
        lines = self._lines[path]
        if not 1 <= span.line <= len(lines):
            return None
        line, underline = _underline(lines[span.line - 1], span)
        return str(span.line), line, underline


def _underline(line: str, span: Span) -> tuple[str, str]:
    start = min(span.column - 1, len(line))
    end = min(span.end_column - 1, len(line)) if span.end_line == span.line else len(line)
    first, last = 0, len(line)
    if len(line) > _LINE_LIMIT:
        first = max(0, min(start - _BEFORE, len(line) - _WINDOW))
        last = min(len(line), first + _WINDOW)
    cells = _cells(line[first:last])
    before, after = "…" if first else "", "…" if last < len(line) else ""
    margin = len(before) + sum(width for _, width in cells[: start - first])
    width = sum(width for _, width in cells[start - first : end - first])
    shown = "".join(shown for shown, _ in cells)
    return f"{before}{shown}{after}", " " * margin + "^" * max(1, width)


def _cells(line: str) -> list[tuple[str, int]]:
    """The text to show for each character, and its width in terminal cells.

    Terminals disagree about emoji of several characters. A sequence joined by U+200D, or with a
    skin tone, has the width of its first character here.
    """
    cells: list[tuple[str, int]] = []
    joined = False
    for index, char in enumerate(line):
        if char == "\t":
            cells.append((" " * _TAB, _TAB))
        elif shown := escape_at(line, index):
            cells.append((shown, len(shown)))
        elif char == "\ufe0f" and cells and cells[-1][1] == 1:
            cells.append((char, 1))  # asks for the wide form of a narrow sign
        elif joined or _has_no_width(char):
            cells.append((char, 0))
        else:
            cells.append((char, 2 if unicodedata.east_asian_width(char) in "WF" else 1))
        joined = char == "\u200d"
    return cells


def _has_no_width(char: str) -> bool:
    skin_tone = 0x1F3FB <= ord(char) <= 0x1F3FF
    return skin_tone or unicodedata.category(char) in ("Mn", "Me", "Cf")
