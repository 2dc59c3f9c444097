"""Tables in CSV and XML as data with places, for registries that are published so."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from faultspec import source
from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.openapi.pointers import steps
from faultspec.openapi.source_map import SourceMap
from faultspec.runtime.reading import UnreadableBody
from faultspec.runtime.xml_codec import read_xml

Parsed = tuple[object, SourceMap | None, tuple[Diagnostic, ...]]
"""The data, its places, and the reasons why there is none."""


def parse_csv(text: str, path: str) -> Parsed:
    """The rows below the header, as a list of objects (RFC 4180)."""
    lines: list[int] = []
    rows: list[dict[str, str]] = []
    reader = csv.reader(text.removeprefix("\ufeff").splitlines(keepends=True), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        begin, count = reader.line_num + 1, len(header)
        for row in reader:
            count += len(row)
            if count > source.MAX_NODES:
                message = f"the table has more than {source.MAX_NODES:,} values"
                return None, None, (Diagnostic("file-too-large", message, path),)
            if any(row):
                rows.append(dict(zip(header, row, strict=False)))
                lines.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        span = Span(reader.line_num, 1, reader.line_num, 1)
        message = f"the text is not CSV: {error}"
        return None, None, (Diagnostic("csv-syntax", message, path, span),)
    return rows, _RowPlaces(tuple(lines)), ()


def parse_xml(text: str, path: str) -> Parsed:
    """The document as nested objects; elements of one name are a list."""
    body = text.encode("utf-8", "surrogatepass")
    root = _ElementPlace(Span(1, 1, 1, 1))
    open_elements = [root]
    parser = expat.ParserCreate("utf-8", namespace_separator=" ")

    def start(name: str, _: object) -> None:
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        place = _ElementPlace(Span(line, column, line, column))
        open_elements[-1].children.setdefault(name.rpartition(" ")[2], []).append(place)
        open_elements.append(place)

    try:
        data = read_xml(body)
        parser.StartElementHandler = start
        parser.EndElementHandler = lambda _: open_elements.pop()
        parser.Parse(body, True)
    except UnreadableBody as problem:
        return None, None, (_refuse_xml(body, path, str(problem)),)
    return data, root, ()


def _refuse_xml(body: bytes, path: str, problem: str) -> Diagnostic:
    """The diagnostic of a text that is not read. A refused document is XML, so it has no place."""
    try:
        expat.ParserCreate("utf-8").Parse(body, True)
    except expat.ExpatError as error:
        span = Span(error.lineno, error.offset + 1, error.lineno, error.offset + 1)
        message = f"the text is not XML: {expat.ErrorString(error.code)}"
        return Diagnostic("xml-syntax", message, path, span)
    return Diagnostic("xml-syntax", f"the text {problem}", path, Span(1, 1, 1, 1))


@dataclass(frozen=True, slots=True)
class _RowPlaces:
    """``lines``: the first line of each row."""

    lines: tuple[int, ...]

    def span(self, pointer: str) -> Span:
        index = next(iter(steps(pointer)), "")
        line = self.lines[int(index)] if index.isdecimal() and int(index) < len(self.lines) else 1
        return Span(line, 1, line, 1)


@dataclass(slots=True)
class _ElementPlace:
    """An element, and those in it by their names."""

    place: Span
    children: dict[str, list["_ElementPlace"]] = field(default_factory=dict)

    def span(self, pointer: str) -> Span:
        found = [self]
        for step in steps(pointer):
            inner = list(self._inner_elements(found, step))
            if not inner:
                break
            found = inner
        return found[0].place

    @staticmethod
    def _inner_elements(elements: list["_ElementPlace"], step: str) -> Iterator["_ElementPlace"]:
        """The elements behind a step: those of a name, or one of them by its number."""
        if step in elements[0].children:
            yield from elements[0].children[step]
        elif step.isdecimal() and int(step) < len(elements):
            yield elements[int(step)]
