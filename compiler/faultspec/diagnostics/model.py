"""A diagnostic as a value: what is wrong, where, and what to do about it.

`faultspec.diagnostics.printers` prints diagnostics.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]

#: The place of a value in a document: mapping keys as text, sequence positions from 0.
Path = tuple[str | int, ...]


class Span(NamedTuple):
    """A stretch of text.

    Lines and columns count from 1. Columns count code points, not bytes and not terminal cells.
    The end is exclusive: `end_column` is the column after the last character. A span whose end
    is its start is a place between two characters (an absent value, the end of the file).
    """

    line: int
    column: int
    end_line: int
    end_column: int


class Related(NamedTuple):
    """A second place that explains a diagnostic, as “first declared here”; `path` is its file."""

    message: str
    path: str
    span: Span | None = None


class Remedy(NamedTuple):
    """The certain repair of a key or a value whose place in the text is not known yet.

    ``write`` replaces it by `text`, ``quote`` puts it in quotes, ``drop`` removes the list item.
    """

    kind: Literal["write", "quote", "drop"]
    text: str = ""


class Edit(NamedTuple):
    """Replaces the text at `span` by `text`."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A certain repair: a description, and edits of one file that do not overlap."""

    what: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake.

    `code` is stable and in kebab case. `path` is the file as the user wrote it. `span` is None for
    a mistake of the whole file (it is missing, it is not text). `hint` names the remedy. `pointer`
    is the place in the document. `fix` is present if only one repair is possible.

    Diagnostics sort by file, place, code and message, then by all other fields: a total order.
    """

    code: str
    message: str
    path: str
    span: Span | None = None
    severity: Severity = "error"
    hint: str | None = None
    related: tuple[Related, ...] = ()
    pointer: Path = ()
    fix: Fix | None = None

    def __lt__(self, other: "Diagnostic") -> bool:
        return _sort_key(self) < _sort_key(other)


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sorted, with one diagnostic of those that have the same file, place, code and message.

    Where there is no span, the pointer is the place.
    """
    kept: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in sorted(diagnostics):
        place = diagnostic.span or diagnostic.pointer
        kept.setdefault((diagnostic.path, place, diagnostic.code, diagnostic.message), diagnostic)
    return tuple(kept.values())


#: Sorts before every real span, so that diagnostics of a whole file come first.
_WHOLE_FILE = Span(0, 0, 0, 0)


def _sort_key(diagnostic: Diagnostic) -> tuple[object, ...]:
    return (
        diagnostic.path,
        diagnostic.span or _WHOLE_FILE,
        diagnostic.code,
        diagnostic.message,
        diagnostic.severity,
        diagnostic.hint or "",
        tuple(
            (related.path, related.span or _WHOLE_FILE, related.message)
            for related in diagnostic.related
        ),
        tuple(
            (0, step, "") if isinstance(step, int) else (1, 0, step) for step in diagnostic.pointer
        ),
    )
