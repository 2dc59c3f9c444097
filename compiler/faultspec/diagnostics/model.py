"""A diagnostic is a value: what is wrong, where, and what to do about it.

Nothing here knows how a diagnostic looks; `faultspec.diagnostics.printers` does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]

#: The place of a value in a document: mapping keys as text, sequence positions from 0.
Path = tuple[str | int, ...]


class Span(NamedTuple):
    """A stretch of text.

    Lines and columns are counted from 1 and columns count characters (code points), not bytes and not terminal cells.
    The end is exclusive: `end_column` is the column after the last character. A span whose end is its start is a place
    between two characters (an absent value, the end of the file).
    """

    line: int
    column: int
    end_line: int
    end_column: int


class Related(NamedTuple):
    """A second place that explains a diagnostic, such as “first declared here”; `path` is its file."""

    message: str
    path: str
    span: Span | None = None


class Remedy(NamedTuple):
    """The one thing that can be meant, said of a key or a value whose place in the text is not known yet.

    ``write``: `text` stands there instead. ``quote``: what stands there, in quotes. ``drop``: this item of a list goes.
    """

    kind: Literal["write", "quote", "drop"]
    text: str = ""


class Edit(NamedTuple):
    """`text` in place of what stands at `span`."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A certain repair: what it does, in words, and the edits of one file, which do not overlap."""

    what: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong.

    `code` is stable and in kebab case; `path` is the file as the user wrote it; `span` is None when the file as a whole
    is meant (it is missing, it is not text); `hint` says what to do; `pointer` is the place in the document; `fix` is there
    where nothing else can be meant.
    Diagnostics sort by file, place, code and message, and then by all the rest, so that the order is total.
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
        return _key(self) < _key(other)


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort, and keep one of those that say the same (code, message) of the same place."""
    kept: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in sorted(diagnostics):
        kept.setdefault(
            (diagnostic.path, diagnostic.span, diagnostic.code, diagnostic.message), diagnostic
        )
    return tuple(kept.values())


#: Sorts before every real span: what concerns a file as a whole comes first.
_WHOLE_FILE = Span(0, 0, 0, 0)


def _key(diagnostic: Diagnostic) -> tuple[object, ...]:
    return (
        diagnostic.path,
        diagnostic.span or _WHOLE_FILE,
        diagnostic.code,
        diagnostic.message,
        diagnostic.severity,
        diagnostic.hint or "",
        tuple((each.path, each.span or _WHOLE_FILE, each.message) for each in diagnostic.related),
        tuple(
            (0, step, "") if isinstance(step, int) else (1, 0, step) for step in diagnostic.pointer
        ),
    )
