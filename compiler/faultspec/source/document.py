"""A document and the places of its parts."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from faultspec.diagnostics.model import Diagnostic, Edit, Fix, Path, Related, Remedy, Severity, Span
from faultspec.source.readers import ALIAS


class UnreadableValue:
    """The type of `UNREADABLE`, which replaces data that could not be read, such as an alias.

    As a key of a mapping, it replaces further keys. Only a document with diagnostics has it.
    """

    def __repr__(self) -> str:
        return "UNREADABLE"


UNREADABLE = UnreadableValue()


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its text, its data (dict, list, str, int, float, bool, None) and places.

    `path` is the file as the user wrote it. A text with mistakes may have `UNREADABLE` in its data.
    If it repeats keys, `others` are the same document with their second, third, … values. If the
    file extends another one, `data` is the merged data, and `base` the document of that file.
    `moved`: where values are written that are not at their own path, by that path.
    """

    path: str
    text: str = field(repr=False)
    data: Any = field(repr=False)
    others: tuple["Document", ...] = field(default=(), repr=False)
    _root: Node | None = field(default=None, repr=False, compare=False)
    _occurrence: int = field(default=0, repr=False, compare=False)
    _children: dict[int, dict[str | int, tuple[Node, Node]]] = field(
        default_factory=dict, repr=False, compare=False
    )
    base: "Document | None" = field(default=None, repr=False)
    moved: Mapping[Path, Path] = field(default_factory=dict, repr=False, compare=False)

    def without_places(self) -> "Document":
        """The document without its text and the nodes of its parse, which take three quarters of
        its memory. Its diagnostics have a pointer, and no span.
        """
        return replace(self, text="", _root=None, _children={})

    def span(self, path: Path, *, key: bool = True) -> Span:
        """The place of `path`: its key, or with `key=False` its value.

        A list item has no key; its span is the whole of a scalar or a flow collection, and the
        first key of a block mapping. A missing part has the place of its nearest ancestor.
        """
        path = self._written_path(path)
        node = self._root
        if node is None:
            return Span(1, 1, 1, 1)
        named: Node | None = None
        for step in path:
            found = self._child(node, step)
            if found is None:
                key = True
                break
            named = found[0] if isinstance(step, str) else None
            node = found[1]
        if not key:
            return span_of(self.text, node)
        return span_of(self.text, head_of(node) if named is None else named)

    def diagnostic(
        self,
        code: str,
        message: str,
        path: Path,
        *,
        key: bool = True,
        severity: Severity = "error",
        hint: str | None = None,
        related: tuple[Related, ...] = (),
        remedy: Remedy | None = None,
    ) -> Diagnostic:
        """A diagnostic of the key, or with `key=False` of the value, at `path`."""
        layer = self.layer_of(path)
        span = layer.span(path, key=key)
        return Diagnostic(
            code=code,
            message=message,
            path=layer.path,
            span=None if layer._root is None else span,
            severity=severity,
            hint=hint,
            related=related,
            pointer=path,
            fix=None if remedy is None else layer.fix(path, span, remedy),
        )

    def fix(self, path: Path, span: Span, remedy: Remedy) -> Fix | None:
        """`remedy` as edits of the key or value at `span`; None if the text leaves a choice."""
        if not self._writes(path):
            return None
        if remedy.kind == "drop":
            return self._drop_item(path)
        lines = _lines(self.text)
        written = lines.text_in(span)
        if remedy.kind == "quote":
            if not re.fullmatch(_PLAIN_NUMBER, written):
                return None
            return Fix(f'write `"{written}"`', (Edit(span, f'"{written}"'),))
        quote = written[:1] if written[:1] in ("'", '"') else ""
        words = (written.strip(quote), remedy.text)
        if not all(re.fullmatch(_PLAIN_WORD, word) for word in words):
            return None
        return Fix(f"write `{remedy.text}`", (Edit(span, quote + remedy.text + quote),))

    def _drop_item(self, path: Path) -> Fix | None:
        """Remove an item from its list, with its separator; None if a comment is next to it."""
        index, above = path[-1], self._node(path[:-1])
        if above is None or not isinstance(index, int) or index == 0:
            return None
        item, before = above.value[index], above.value[index - 1]
        lines = _lines(self.text)
        if above.flow_style:
            start, end = before.end_mark.index, item.end_mark.index
            if not re.fullmatch(r"\s*,\s*", self.text[start : item.start_mark.index]):
                return None
        else:
            number, _ = lines.place(item.start_mark.index)
            written = self.text[item.start_mark.index : item.end_mark.index]
            if lines.line(number).strip() != f"- {written}":
                return None
            start, end = lines.starts[number - 1], (*lines.starts, len(self.text))[number]
        return Fix("remove it", (Edit(lines.span_between(start, end), ""),))

    def _written_path(self, path: Path) -> Path:
        """Where the value at a path is written."""
        for length in range(len(path), 0, -1):
            written = self.moved.get(path[:length])
            if written is not None:
                return (*written, *path[length:])
        return path

    def _node(self, path: Path) -> Any:
        node = self._root
        for step in self._written_path(path):
            found = None if node is None else self._child(node, step)
            if found is None:
                return None
            node = found[1]
        return node

    def related_place(self, message: str, path: Path, *, key: bool = True) -> Related:
        """The key or value at `path` as a second place."""
        layer = self.layer_of(path)
        return Related(message, layer.path, layer.span(path, key=key))

    def layer_of(self, path: Path) -> "Document":
        """The document of this chain of bases that has the key path `path`; this one if none has
        it.
        """
        layer: Document | None = self
        while layer is not None:
            if layer._writes(path):
                return layer
            layer = layer.base
        return self

    def _writes(self, path: Path) -> bool:
        return self._node(path) is not None or not path

    def scalars(self) -> list[tuple[int, int]]:
        """The indices into `text` of the beginning and end of each scalar key and value.

        The text outside is punctuation, blank space, comments and aliases.
        """
        found: list[tuple[int, int]] = []
        left: list[Any] = [] if self._root is None else [self._root]
        while left:
            node = left.pop()
            if isinstance(node, ScalarNode):
                found.append((node.start_mark.index, node.end_mark.index))
            else:
                left += (
                    (part for pair in node.value for part in pair)
                    if isinstance(node, MappingNode)
                    else node.value
                )
        return found

    def _child(self, node: Node, step: str | int) -> tuple[Node, Node] | None:
        if isinstance(node, ScalarNode):
            return None
        children = self._children.get(id(node))
        if children is None:
            children = {}
            if isinstance(node, MappingNode):
                times: dict[str, int] = {}
                for key, value in node.value:
                    if not isinstance(key, ScalarNode) or key.tag is ALIAS:
                        continue
                    times[key.value] = times.get(key.value, -1) + 1
                    if times[key.value] <= self._occurrence:
                        children[key.value] = (key, value)
            else:
                children.update((index, (item, item)) for index, item in enumerate(node.value))
            self._children[id(node)] = children
        return children.get(step)


_LINE_END = r"\r\n|\r|\n"

#: Texts that mean the same with and without quotes.
_PLAIN_WORD = r"[A-Za-z][A-Za-z0-9_-]*"
_PLAIN_NUMBER = r"-?[0-9][0-9.]*"


class Lines:
    """A text and its lines, which are found on first use."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """The index of the first character of each line."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in re.finditer(_LINE_END, self.text))]
        return self._starts

    @staticmethod
    def split(text: str) -> list[str]:
        """The lines of the source, without line terminators; the last line may be empty."""
        return re.split(_LINE_END, text)

    def place(self, index: int) -> tuple[int, int]:
        """The line and column of an index, from 1."""
        line = bisect_right(self.starts, index)
        return line, index - self.starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end; empty if there is no such line."""
        if not 1 <= number <= len(self.starts):
            return ""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end].rstrip("\r\n")

    def text_in(self, span: Span) -> str:
        """The text in a span."""
        start = self.starts[span.line - 1] + span.column - 1
        return self.text[start : self.starts[span.end_line - 1] + span.end_column - 1]

    def span_between(self, start: int, end: int) -> Span:
        """The span of text[start:end], clipped to the text."""
        start = min(start, len(self.text))
        end = max(start, min(end, len(self.text)))
        return Span(*self.place(start), *self.place(end))


@lru_cache(maxsize=4)  # a text with many mistakes has many fixes
def _lines(text: str) -> Lines:
    return Lines(text)


def span_of(text: str, node: Node) -> Span:
    """From the first character of a node to the last one of its last part.

    The end mark of a block collection is after the comments that follow it, and that of a block
    scalar is on the next line.
    """
    last: Any = node
    while not isinstance(last, ScalarNode) and not last.flow_style and last.value:
        last = last.value[-1][1] if isinstance(last, MappingNode) else last.value[-1]
    start = _place(text, node.start_mark)
    if getattr(last, "style", None) not in ("|", ">"):
        return Span(*start, *_place(text, last.end_mark))
    first_line, *more_lines = Lines.split(
        text[last.start_mark.index : last.end_mark.index].rstrip()
    )
    line, column = _place(text, last.start_mark)
    if more_lines:
        return Span(*start, line + len(more_lines), len(more_lines[-1]) + 1)
    return Span(*start, line, column + len(first_line))


def _place(text: str, mark: Any) -> tuple[int, int]:
    if mark.index < len(text):
        return mark.line + 1, mark.column + 1
    # libyaml counts one more line at the end of the source, even if no line terminator ends it.
    lines = Lines.split(text)
    return len(lines), len(lines[-1]) + 1


def head_of(node: Any) -> Any:
    """The part of a node to underline in place of many lines: the first key of a block mapping."""
    while not isinstance(node, ScalarNode) and not node.flow_style and node.value:
        node = node.value[0][0] if isinstance(node, MappingNode) else node.value[0]
    return node
