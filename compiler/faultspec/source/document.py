"""A document and the places of its parts."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from faultspec.diagnostic import Diagnostic, Path, Related, Severity, Span
from faultspec.source.readers import ALIAS


class Untold:
    """Stands for data that a broken text does not tell, such as the value of an alias.

    As a key of a mapping it says that the mapping has more keys than those that can be read. There is one such value,
    `UNTOLD`, and only a document that comes with diagnostics has it.
    """

    def __repr__(self) -> str:
        return "UNTOLD"


UNTOLD = Untold()


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: its text, its data (dict, list, str, int, float, bool, None) and the place of each part.

    `path` is the file as the user wrote it. A text with mistakes may have `UNTOLD` in its data, and where it repeats a key
    `others`: the same file read with the second, the third, … of each repeated key in place of the first. Where the file
    is laid over another one, `data` is that of both, and `base` is where what is not written here is written.
    """

    path: str
    text: str = field(repr=False)
    data: Any = field(repr=False)
    others: tuple["Document", ...] = field(default=(), repr=False)
    _root: Node | None = field(default=None, repr=False, compare=False)
    _occurrence: int = field(default=0, repr=False, compare=False)
    _children: dict[int, dict[str | int, tuple[Node, Node]]] = field(default_factory=dict, repr=False, compare=False)
    base: "Document | None" = field(default=None, repr=False)

    def span(self, path: Path, *, key: bool = True) -> Span:
        """Where `path` is written: its key, or with `key=False` its value.

        An item of a list has no key: its own beginning stands for it (all of it for a scalar or a flow collection, its
        first key for a block mapping). What does not exist is placed at the nearest ancestor that does.
        """
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
    ) -> Diagnostic:
        """Say something of the key, or with `key=False` of the value, at `path`."""
        home = self.home(path)
        return Diagnostic(code, message, home.path, home.span(path, key=key), severity, hint, related, path)

    def related(self, message: str, path: Path, *, key: bool = True) -> Related:
        """Point at the key or value at `path` as a second place."""
        home = self.home(path)
        return Related(message, home.path, home.span(path, key=key))

    def home(self, path: Path) -> "Document":
        """The document in which `path` is written, be it this one or one of those below; this one where none has it."""
        layer: Document | None = self
        while layer is not None:
            if layer._writes(path):
                return layer
            layer = layer.base
        return self

    def _writes(self, path: Path) -> bool:
        node = self._root
        for step in path:
            found = None if node is None else self._child(node, step)
            if found is None:
                return False
            node = found[1]
        return True

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


_LINE_END = re.compile(r"\r\n|\r|\n")


class Lines:
    """A text and its line ends; found only when someone asks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """The index of the first character of each line."""
        if self._starts is None:
            self._starts = [0, *(each.end() for each in _LINE_END.finditer(self.text))]
        return self._starts

    @staticmethod
    def split(text: str) -> list[str]:
        """The lines of a text, without their ends; the last one may be empty."""
        return _LINE_END.split(text)

    def place(self, index: int) -> tuple[int, int]:
        """Index into the text → line and column, from 1."""
        line = bisect_right(self.starts, index)
        return line, index - self.starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line counted from 1, without its end; empty when there is no such line."""
        if not 1 <= number <= len(self.starts):
            return ""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end].rstrip("\r\n")

    def between(self, start: int, end: int) -> Span:
        """The span of text[start:end], as far as it lies in the text."""
        start = min(start, len(self.text))
        end = max(start, min(end, len(self.text)))
        return Span(*self.place(start), *self.place(end))


def span_of(text: str, node: Node) -> Span:
    """From the first character of a node to its last.

    The end mark of a block collection lies behind the comments that follow it, and that of a block scalar on the next
    line: the end is that of the last thing in it.
    """
    last: Any = node
    while not isinstance(last, ScalarNode) and not last.flow_style and last.value:
        last = last.value[-1][1] if isinstance(last, MappingNode) else last.value[-1]
    start = _place(text, node.start_mark)
    if getattr(last, "style", None) not in ("|", ">"):
        return Span(*start, *_place(text, last.end_mark))
    first_line, *more_lines = Lines.split(text[last.start_mark.index : last.end_mark.index].rstrip())
    line, column = _place(text, last.start_mark)
    if more_lines:
        return Span(*start, line + len(more_lines), len(more_lines[-1]) + 1)
    return Span(*start, line, column + len(first_line))


def _place(text: str, mark: Any) -> tuple[int, int]:
    if mark.index < len(text):
        return mark.line + 1, mark.column + 1
    # libyaml puts the end of a text on a line of its own, whether or not there is one.
    lines = Lines.split(text)
    return len(lines), len(lines[-1]) + 1


def head_of(node: Any) -> Any:
    """The part of a node to point at when the whole would be many lines: the first key of a block mapping."""
    while not isinstance(node, ScalarNode) and not node.flow_style and node.value:
        node = node.value[0][0] if isinstance(node, MappingNode) else node.value[0]
    return node
