"""From a JSON Pointer to line and column of the key or item in the text, JSON or YAML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]  # not in the stubs
from typing import Any, Protocol

from faultspec import source
from faultspec.diagnostics.model import Span
from faultspec.openapi.pointers import steps
from faultspec.openapi.text import is_json_text, replace_surrogates
from faultspec.source import Document
from faultspec.source.document import Lines


class SourceMap(Protocol):
    """The places of one text."""

    def span(self, pointer: str) -> Span:
        """The key or item at the pointer, or the last one on the way to it that exists."""


def source_map(text: str, path: str) -> SourceMap | None:
    """The positions of the values in a source that was parsed before; None for plain text."""
    if is_json_text(text):
        return _JsonPlaces(text.removeprefix("\ufeff"))
    document, _ = source.parse(text, path)
    return None if document is None else _YamlPlaces(document)


@dataclass(frozen=True, slots=True)
class _YamlPlaces:
    document: Document

    def span(self, pointer: str) -> Span:
        path: list[str | int] = []
        value: Any = self.document.data
        for step in steps(pointer):
            if isinstance(value, dict) and step in value:
                path.append(step)
            elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
                path.append(int(step))
            else:
                break
            value = value[path[-1]]
        return self.document.span(tuple(path))


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdigit()


_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = JSONDecoder()


_Part = tuple[int, int, int]
"""Indices into the text: where a key or item begins and ends, and where its value begins."""


@dataclass(slots=True)
class _JsonPlaces:
    """Scans the containers on the way to a pointer, and skips other members with the C decoder.

    The YAML reader refuses texts that JSON allows, such as lone surrogates, and is slow on
    megabytes.
    """

    text: str
    lines: Lines = field(init=False)
    scanned: dict[int, dict[str, _Part]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = Lines(self.text)

    def span(self, pointer: str) -> Span:
        at = self._skip_blank(0)
        start, end = at, at + 1
        for step in steps(pointer):
            if self.text[at] not in "{[":
                break
            if at not in self.scanned:
                self.scanned[at] = dict(self._parts(at))
            if step not in self.scanned[at]:
                break
            start, end, at = self.scanned[at][step]
        return self.lines.span_between(start, end)

    def _parts(self, at: int) -> Iterator[tuple[str, _Part]]:
        """The members or items of the container at an index, by key or number."""
        is_object, number = self.text[at] == "{", 0
        at = self._skip_blank(at + 1)
        while self.text[at] not in "}]":
            start, name = at, str(number)
            if is_object:
                name, end = scanstring(self.text, at + 1, False)
                at = self._skip_blank(self._skip_blank(end) + 1)
            after = _DECODER.raw_decode(self.text, at)[1]
            if not is_object:
                end = at + 1 if self.text[at] in "{[" else after
            yield replace_surrogates(name), (start, end, at)
            number += 1
            at = self._skip_blank(after)
            if self.text[at] == ",":
                at = self._skip_blank(at + 1)

    def _skip_blank(self, at: int) -> int:
        """The first index from here without blank space."""
        found = _BLANK.match(self.text, at)
        assert found is not None
        return found.end()
