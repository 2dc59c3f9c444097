"""Where a JSON Pointer leads in the text of a document, JSON or YAML: the line and column of the key, or of the item."""

import re
from collections.abc import Iterator
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]  # the stubs do not have the second
from typing import Any, Protocol

from faultspec import source
from faultspec.diagnostics.model import Span
from faultspec.importers.places import steps
from faultspec.importers.reading import is_json_text, readable
from faultspec.source import Document
from faultspec.source.document import Lines


class SourceMap(Protocol):
    """Knows the places of one text."""

    def span(self, pointer: str) -> Span:
        """The key or item at the pointer; of what is not there, the deepest part on the way that is."""


def source_map(text: str, path: str) -> SourceMap | None:
    """The places of a text that was read before. None for a text that has no structure."""
    if is_json_text(text):
        return _Json(text.removeprefix("\ufeff"))
    document, _ = source.parse(text, path)
    return None if document is None else _Yaml(document)


class _Yaml:
    def __init__(self, document: Document) -> None:
        self.document = document

    def span(self, pointer: str) -> Span:
        path: list[str | int] = []
        value: Any = self.document.data
        for step in steps(pointer):
            if (
                isinstance(value, list)
                and step.isascii()
                and step.isdigit()
                and int(step) < len(value)
            ):
                path.append(int(step))
            elif isinstance(value, dict) and step in value:
                path.append(step)
            else:
                break
            value = value[path[-1]]
        return self.document.span(tuple(path))


_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = JSONDecoder()


class _Json:
    """By a scan of the containers on the way alone, each once: what stands beside is passed over by the decoder in C.

    The reader of YAML would refuse what JSON takes, such as half a surrogate, and is slow with the megabytes that JSON has.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.scanned: dict[int, dict[str, tuple[int, int, int]]] = {}

    def span(self, pointer: str) -> Span:
        at = self._blank(0)
        start, end = at, at + 1
        for step in steps(pointer):
            if self.text[at] not in "{[":
                break
            if at not in self.scanned:
                self.scanned[at] = dict(self._parts(at))
            if step not in self.scanned[at]:
                break
            start, end, at = self.scanned[at][step]
        return self.lines.between(start, end)

    def _parts(self, at: int) -> Iterator[tuple[str, tuple[int, int, int]]]:
        """The parts of a container: the name of each, where its key or item begins and ends, and where its value begins."""
        keyed, number = self.text[at] == "{", 0
        at = self._blank(at + 1)
        while self.text[at] not in "}]":
            start, name = at, str(number)
            if keyed:
                name, end = scanstring(self.text, at + 1, False)
                at = self._blank(self._blank(end) + 1)
            after = _DECODER.raw_decode(self.text, at)[1]
            if not keyed:
                end = at + 1 if self.text[at] in "{[" else after
            yield readable(name), (start, end, at)
            number += 1
            at = self._blank(after)
            if self.text[at] == ",":
                at = self._blank(at + 1)

    def _blank(self, at: int) -> int:
        """The first index from here that is no blank space."""
        found = _BLANK.match(self.text, at)
        assert found is not None
        return found.end()
