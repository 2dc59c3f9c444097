"""Diagnostics for valid YAML outside our dialect. `syntax` has those for invalid YAML."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from yaml.events import AliasEvent

from faultspec.diagnostics.model import Diagnostic, Related, Span
from faultspec.source.document import Lines
from faultspec.source.readers import MAX_DEPTH, MAX_NODES, Property

#: The most diagnostics for one file, so that a file full of mistakes does not exhaust the memory.
MAX_REPORTED = 1000


def quote(text: str) -> str:
    """A piece of the user's text for a message, cut if it is long."""
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}…`"


#: Non-printable characters, the three line ends of YAML 1.1 only, and byte order marks in the text.
_FORBIDDEN = (
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def find_forbidden_characters(lines: Lines, path: str) -> Iterator[Diagnostic]:
    """Each character that must be written as an escape."""
    if lines.text.replace("\n", "").isprintable():
        return  # the usual case, which saves compiling the expression
    for match in islice(re.finditer(_FORBIDDEN, lines.text), MAX_REPORTED):
        number = ord(match[0])
        escape = f"\\x{number:02X}" if number < 0x100 else f"\\u{number:04X}"
        message = f"the invisible character U+{number:04X} is not allowed in a file"
        if 0xD800 <= number <= 0xDFFF or number in (0xFFFE, 0xFFFF):
            hint = "delete it"
        else:
            hint = f'delete it, or write "{escape}" in double quotes if it is intended'
        yield Diagnostic(
            "yaml-character", message, path, lines.span_between(*match.span()), hint=hint
        )


# Expressions for mistakes are compiled on use.
_DIRECTIVES = r"(?>[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+(%[^\r\n]*)"


def find_directives(lines: Lines, path: str) -> Iterator[Diagnostic]:
    """The first line, if it begins with `%`; a later one belongs to a second document."""
    matched = re.match(_DIRECTIVES, lines.text) if "%" in lines.text else None
    if matched:
        span, message = lines.span_between(*matched.span(1)), "YAML directives are not allowed"
        yield Diagnostic("yaml-directive", message, path, span, hint="delete this line")


def empty_document(lines: Lines, path: str) -> Diagnostic:
    """The file has no content."""
    message = "the file holds only comments" if lines.text.strip() else "the file is empty"
    hint = "check that this is the file you meant"
    return Diagnostic("empty-document", message, path, Span(1, 1, 1, 1), hint=hint)


_DOCUMENT_START = r"(?<![^\r\n])---"


def second_document(first: Any, lines: Lines, path: str) -> Diagnostic:
    """The `---` after the node `first`, which ends the first document."""
    # Found in the text, because the two parsers give its event different marks.
    matched = re.compile(_DOCUMENT_START).search(lines.text, first.end_mark.index)
    start, end = matched.span() if matched else (first.end_mark.index, first.end_mark.index)
    message = "a second document begins here; a file holds one"
    hint = "move it to a file of its own, or delete this line"
    return Diagnostic("yaml-documents", message, path, lines.span_between(start, end), hint=hint)


def too_deep(parent: Any, lines: Lines, path: str) -> Diagnostic:
    """The children of the node `parent` are nested too deeply."""
    mark = parent.start_mark
    message = f"nested more than {MAX_DEPTH} levels deep from here"
    span = lines.span_between(mark.index, mark.index + 1)
    hint = "check for a repeated bracket or dash"
    return Diagnostic("nested-too-deeply", message, path, span, hint=hint)


def too_many(path: str) -> Diagnostic:
    """The document has more keys and values than are read."""
    message = f"the document has more than {MAX_NODES:,} keys and values"
    hint = "split it, or check that this is the file you meant"
    return Diagnostic("file-too-large", message, path, hint=hint)


_PROPERTY = {"&": r"&[^\s,\[\]{}]*", "!": r"!(?:<[^>\s]*>|[^\s,\[\]{}]*)"}
_ALIAS = r"\*[^\s,\[\]{}]*"


def find_properties(properties: Iterable[Property], lines: Lines, path: str) -> list[Diagnostic]:
    """Every tag, alias and unused anchor of a source, in order."""

    def place(pattern: str, event: Any) -> Span:
        start = event.start_mark.index
        matched = re.compile(pattern).search(lines.text, start)
        return lines.span_between(*(matched.span() if matched else (start, start + 1)))

    found: list[Diagnostic] = []
    anchors: dict[str, Span] = {}
    unused: dict[str, Span] = {}
    for event, anchor, tag in islice(properties, MAX_REPORTED):
        if isinstance(event, AliasEvent):
            assert anchor is not None
            span, target = place(_ALIAS, event), anchors.get(anchor)
            found.append(_alias(anchor, span, target, lines=lines, path=path))
            unused.pop(anchor, None)
            continue
        if tag is not None:
            span, hint = (
                place(_PROPERTY["!"], event),
                "delete the tag; quote the value if it is text",
            )
            message = "explicit tags are not allowed"
            found.append(Diagnostic("yaml-tag", message, path, span, hint=hint))
        if anchor is not None:
            span = place(_PROPERTY["&"], event)
            if anchor in anchors:
                found.append(_anchor(anchor, span, path))
            else:
                anchors[anchor] = unused[anchor] = span
    found += [_anchor(name, span, path) for name, span in unused.items()]
    return found[:MAX_REPORTED]


#: The text before the alias of a merge key on its line.
_MERGE = r"<<[ \t]*:[ \t]*(?:\[[^\]]*)?"


def _alias(name: str, span: Span, anchor: Span | None, *, lines: Lines, path: str) -> Diagnostic:
    if anchor is None:
        message = f"the alias {quote('*' + name)} is not allowed"
        return Diagnostic("yaml-alias", message, path, span, hint="put it in quotes if it is text")
    before = lines.line(span.line)[: span.column - 1]
    merge = any(match.end() == len(before) for match in re.finditer(_MERGE, before))
    what, content = ("merge of", "keys") if merge else ("alias", "value")
    message = f"the {what} {quote('*' + name)} is not allowed"
    hint = f"repeat the {content} here"
    related = (Related("its anchor is here", path, anchor),)
    return Diagnostic("yaml-alias", message, path, span, hint=hint, related=related)


def _anchor(name: str, span: Span, path: str) -> Diagnostic:
    message = f"the anchor {quote('&' + name)} is not allowed"
    hint = "delete it, or put it in quotes if it is text"
    return Diagnostic("yaml-alias", message, path, span, hint=hint)
