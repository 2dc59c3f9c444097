"""YAML text → node tree → data, and what is wrong on the way."""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from yaml.composer import ComposerError
from yaml.error import MarkedYAMLError
from yaml.nodes import MappingNode, Node, ScalarNode

from faultspec.diagnostic import Diagnostic, Related, ordered
from faultspec.source import mistakes
from faultspec.source.document import Document, Lines, span_of
from faultspec.source.readers import PLAIN, READER, TooDeep
from faultspec.source.syntax import syntax

#: What every reader of the data, in whatever language, can hold exactly as an integer of some native type.
_INT64 = range(-(2**63), 2**63)


def parse(text: str, path: str) -> tuple[Document | None, list[Diagnostic]]:
    """Text → a document and everything that is wrong with it as YAML, in order.

    There is no document when the text has no one structure: it is not YAML, is empty, uses aliases, is nested too
    deeply. `path` only names the text in diagnostics.
    """
    with _no_cyclic_gc():
        document, found = parse_with(text.removeprefix("\ufeff"), path, READER)
    return document, list(ordered(found))


@contextmanager
def _no_cyclic_gc() -> Iterator[None]:
    """Hold the cyclic collector: half the time of a large load is spent in looking for cycles that are not there."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def parse_with(text: str, path: str, reader_type: Any) -> tuple[Document | None, list[Diagnostic]]:
    """Like `parse`, by a named reader, of a text without a byte order mark, unordered."""
    lines = Lines(text)
    found = [*mistakes.forbidden_characters(lines, path), *mistakes.directives(lines, path)]
    if found:
        return None, found
    reader = reader_type(text)
    try:
        root = reader.get_node() if reader.check_node() else None
        if root is None or (isinstance(root, ScalarNode) and _is_nothing(root, text)):
            return None, [mistakes.empty(lines, path)]
        if reader.check_node():
            found.append(mistakes.second_document(root, lines, path))
    except TooDeep as error:
        return None, [mistakes.too_deep(error.parent, lines, path)]
    except ComposerError:  # an alias without its anchor, or the same anchor twice
        return None, mistakes.properties(reader_type(text), lines, path)
    except MarkedYAMLError as error:
        return None, [syntax(error, lines, path)]
    finally:
        reader.dispose()
    builder = _Builder(lines, path)
    data = builder.build(root)
    found += builder.found
    if builder.has_properties:
        found += mistakes.properties(reader_type(text), lines, path)
        if any(each.code == "yaml-alias" for each in found):
            return None, found
    return Document(path, text, data, root), found


def _is_nothing(root: ScalarNode, text: str) -> bool:
    return root.tag == PLAIN and not root.value and text[root.start_mark.index : root.end_mark.index] == ""


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")

_ABSENT = object()


class _Builder:
    """One walk over the node tree: data out, and what is wrong on the way."""

    def __init__(self, lines: "Lines", path: str) -> None:
        self.found: list[Diagnostic] = []
        self.has_properties = False
        self._lines = lines
        self._path = path
        self._text = lines.text + "\0"  # so that an empty value at the very end has a character to look at
        self._pointer: list[str | int] = []
        self._plain: dict[str, object] = {"": None, "~": None, "null": None, "true": True, "false": False}
        self._shared: dict[int, object] = {}

    def build(self, node: Node) -> object:
        if self._text[node.start_mark.index] in "&!":
            # An alias gives the very node of its anchor: built once, or a small text could ask for endless work.
            self.has_properties = True
            if id(node) in self._shared:
                return self._shared[id(node)]
            self._shared[id(node)] = None
            data = self._shared[id(node)] = self._build(node)
            return data
        return self._build(node)

    def _build(self, node: Node) -> object:
        if isinstance(node, ScalarNode):
            if node.tag is not PLAIN:
                return node.value
            value = self._plain.get(node.value, _ABSENT)
            return self._scalar(node) if value is _ABSENT else value
        if isinstance(node, MappingNode):
            return self._mapping(node)
        items: list[object] = []
        for index, item in enumerate(node.value):
            self._pointer.append(index)
            items.append(self.build(item))
            self._pointer.pop()
        return items

    def _mapping(self, node: MappingNode) -> dict[str, object]:
        data: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._report(
                    "yaml-key",
                    "a mapping or a list cannot be a key",
                    key,
                    "quote it if the key is text that looks like one",
                )
                self.build(key)
                self.build(value)
                continue
            if self._text[key.start_mark.index] in "&!":
                self.has_properties = True
            self._pointer.append(key.value)
            if key.value in data:
                self._duplicate(node, key)
                self.build(value)
            else:
                data[key.value] = self.build(value)
            self._pointer.pop()
        return data

    def _scalar(self, node: ScalarNode) -> object:
        text: str = node.value
        matched = _NUMBER.fullmatch(text)
        value: object = text
        if matched:
            if matched[1] or matched[2]:
                value = float(text)
                in_range = value not in (float("inf"), float("-inf"))
            else:
                # int() refuses thousands of digits; 20 are a sign and the longest that fits.
                in_range = len(text) <= 20 and int(text) in _INT64
                value = int(text) if in_range else text
            if not in_range:
                self._report("number-out-of-range", "this number does not fit 64 bits", node, "quote it if it is text")
                return text
        self._plain[text] = value
        return value

    def _duplicate(self, mapping: MappingNode, key: ScalarNode) -> None:
        if len(self.found) >= mistakes.MAX_REPORTED:
            return
        first = next(each for each, _ in mapping.value if isinstance(each, ScalarNode) and each.value == key.value)
        related = Related("first written here", self._path, span_of(self._lines.text, first))
        self._report(
            "duplicate-key",
            f"the key {mistakes.quoted(key.value)} is here twice",
            key,
            "keep one of the two",
            (related,),
        )

    def _report(
        self, code: str, message: str, node: Node, hint: str | None = None, related: tuple[Related, ...] = ()
    ) -> None:
        if len(self.found) >= mistakes.MAX_REPORTED:
            return
        span = span_of(self._lines.text, node)
        self.found.append(
            Diagnostic(code, message, self._path, span, hint=hint, related=related, pointer=tuple(self._pointer))
        )
