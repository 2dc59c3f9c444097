"""What is YAML and not our YAML, in words for the person who wrote it. What is no YAML at all: `syntax`."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from yaml.events import AliasEvent

from faultspec.diagnostics.model import Diagnostic, Related, Span
from faultspec.source.document import Lines
from faultspec.source.readers import MAX_DEPTH, Property

#: More than anyone reads at once, and few enough that a file of nothing but mistakes does not exhaust the memory.
MAX_REPORTED = 1000


def quoted(text: str) -> str:
    """A piece of the user's text for use in a message: no longer than a message can bear."""
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}…`"


#: What YAML calls non-printable, the three line ends that only YAML 1.1 knows, and a byte order mark inside the text.
_FORBIDDEN = (
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def forbidden_characters(lines: Lines, path: str) -> Iterator[Diagnostic]:
    """Each character that must be written as an escape."""
    if lines.text.replace("\n", "").isprintable():
        return  # as nearly always; then the expression, which is slow to compile, isn't
    for each in islice(re.finditer(_FORBIDDEN, lines.text), MAX_REPORTED):
        number = ord(each[0])
        escape = f"\\x{number:02X}" if number < 0x100 else f"\\u{number:04X}"
        message = f"the invisible character U+{number:04X} cannot stand in a file as it is"
        if 0xD800 <= number <= 0xDFFF or number in (0xFFFE, 0xFFFF):
            hint = "delete it"
        else:
            hint = f'delete it, or write "{escape}" in double quotes if it is meant'
        yield Diagnostic(
            "yaml-character", message, path, lines.between(each.start(), each.end()), hint=hint
        )


# Expressions about mistakes are compiled where there is one.
_DIRECTIVES = r"(?>[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+(%[^\r\n]*)"


def directives(lines: Lines, path: str) -> Iterator[Diagnostic]:
    """The first `%` line, if the file begins with one; a later one belongs to a second document."""
    matched = re.match(_DIRECTIVES, lines.text) if "%" in lines.text else None
    if matched:
        span = lines.between(*matched.span(1))
        yield Diagnostic(
            "yaml-directive",
            "YAML directives are not used here",
            path,
            span,
            hint="delete this line",
        )


def empty(lines: Lines, path: str) -> Diagnostic:
    """Nothing there to read."""
    message = "the file holds only comments" if lines.text.strip() else "the file is empty"
    hint = "check that this is the file you meant"
    return Diagnostic("empty-document", message, path, Span(1, 1, 1, 1), hint=hint)


_DOCUMENT_START = r"(?<![^\r\n])---"


def second_document(first: Any, lines: Lines, path: str) -> Diagnostic:
    """The `---` after the node `first`, which ends the first document."""
    # Looked up in the text, since the two parsers give its event different marks.
    matched = re.compile(_DOCUMENT_START).search(lines.text, first.end_mark.index)
    start, end = matched.span() if matched else (first.end_mark.index, first.end_mark.index)
    message = "a second document begins here; a file holds one"
    hint = "move it to a file of its own, or delete this line"
    return Diagnostic("yaml-documents", message, path, lines.between(start, end), hint=hint)


def too_deep(parent: Any, lines: Lines, path: str) -> Diagnostic:
    """The node `parent` is the last that was allowed to have children."""
    mark = parent.start_mark
    message = f"nested more than {MAX_DEPTH} levels deep from here"
    span = lines.between(mark.index, mark.index + 1)
    return Diagnostic(
        "nested-too-deeply", message, path, span, hint="check for a repeated bracket or dash"
    )


_PROPERTY = {"&": r"&[^\s,\[\]{}]*", "!": r"!(?:<[^>\s]*>|[^\s,\[\]{}]*)"}
_ALIAS = r"\*[^\s,\[\]{}]*"


def properties(noted: Iterable[Property], lines: Lines, path: str) -> list[Diagnostic]:
    """Every tag, anchor and alias of a text, in its order; an anchor only where no alias points at it anyway."""

    def place(pattern: str, event: Any) -> Span:
        start = event.start_mark.index
        matched = re.compile(pattern).search(lines.text, start)
        return lines.between(*(matched.span() if matched else (start, start + 1)))

    found: list[Diagnostic] = []
    anchors: dict[str, Span] = {}
    unused: dict[str, Span] = {}
    for event, anchor, tag in islice(noted, MAX_REPORTED):
        if isinstance(event, AliasEvent):
            assert anchor is not None
            found.append(_alias(anchor, place(_ALIAS, event), anchors.get(anchor), lines, path))
            unused.pop(anchor, None)
            continue
        if tag is not None:
            message, hint = (
                "explicit tags are not allowed",
                "delete the tag; quote the value if it is text",
            )
            found.append(
                Diagnostic("yaml-tag", message, path, place(_PROPERTY["!"], event), hint=hint)
            )
        if anchor is not None:
            span = place(_PROPERTY["&"], event)
            if anchor in anchors:
                found.append(_anchor(anchor, span, path))
            else:
                anchors[anchor] = unused[anchor] = span
    found += [_anchor(name, span, path) for name, span in unused.items()]
    return found[:MAX_REPORTED]


#: What stands before the alias of a merge key on its line.
_MERGE = r"<<[ \t]*:[ \t]*(?:\[[^\]]*)?"


def _alias(name: str, span: Span, anchor: Span | None, lines: Lines, path: str) -> Diagnostic:
    if anchor is None:
        message = f"the alias {quoted('*' + name)} is not allowed"
        return Diagnostic("yaml-alias", message, path, span, hint="put it in quotes if it is text")
    before = lines.line(span.line)[: span.column - 1]
    merge = any(each.end() == len(before) for each in re.finditer(_MERGE, before))
    message = (
        f"the merge of {quoted('*' + name)} is not allowed"
        if merge
        else f"the alias {quoted('*' + name)} is not allowed"
    )
    hint = "write the keys out here again" if merge else "write the value out here again"
    related = (Related("its anchor is here", path, anchor),)
    return Diagnostic("yaml-alias", message, path, span, hint=hint, related=related)


def _anchor(name: str, span: Span, path: str) -> Diagnostic:
    message = f"the anchor {quoted('&' + name)} is not allowed"
    return Diagnostic(
        "yaml-alias", message, path, span, hint="delete it, or put it in quotes if it is text"
    )
