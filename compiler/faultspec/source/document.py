"""A document and the places of its parts."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from faultspec.diagnostics.model import Diagnostic, Edit, Fix, Path, Related, Remedy, Severity, Span
from faultspec.source.readers import ALIAS


class UnreadableValue:
    """Stands for data that a broken text does not tell, such as the value of an alias.

    As a key of a mapping it says that the mapping has more keys than those that can be read. There is one such value,
    `UNREADABLE`, and only a document that comes with diagnostics has it.
    """

    def __repr__(self) -> str:
        return "UNREADABLE"


UNREADABLE = UnreadableValue()


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: its text, its data (dict, list, str, int, float, bool, None) and the place of each part.

    `path` is the file as the user wrote it. A text with mistakes may have `UNREADABLE` in its data, and where it repeats a key
    `others`: the same file read with the second, the third, … of each repeated key in place of the first. Where the file
    is laid over another one, `data` is that of both, and `base` is where what is not written here is written.
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
        remedy: Remedy | None = None,
    ) -> Diagnostic:
        """Say something of the key, or with `key=False` of the value, at `path`."""
        home = self.home(path)
        span = home.span(path, key=key)
        fix = None if remedy is None else home.fix(path, span, remedy)
        return Diagnostic(code, message, home.path, span, severity, hint, related, path, fix)

    def fix(self, path: Path, span: Span, remedy: Remedy) -> Fix | None:
        """`remedy` as edits of the text; `span` is the key or value that it is for. None where the text leaves a choice."""
        if not self._writes(path):
            return None
        if remedy.kind == "drop":
            return self._dropped(path)
        lines = Lines(self.text)
        there = lines.within(span)
        if remedy.kind == "quote":
            if not re.fullmatch(_PLAIN_NUMBER, there):
                return None
            return Fix(f'write `"{there}"`', (Edit(span, f'"{there}"'),))
        quote = there[:1] if there[:1] in ("'", '"') else ""
        if not all(re.fullmatch(_PLAIN_WORD, each) for each in (there.strip(quote), remedy.text)):
            return None
        return Fix(f"write `{remedy.text}`", (Edit(span, quote + remedy.text + quote),))

    def _dropped(self, path: Path) -> Fix | None:
        """An item out of its list, with what joins it to the one before; a comment beside it stays whose it is."""
        index, above = path[-1], self._node(path[:-1])
        if above is None or not isinstance(index, int) or index == 0:
            return None
        item, before = above.value[index], above.value[index - 1]
        lines = Lines(self.text)
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
        return Fix("remove it", (Edit(lines.between(start, end), ""),))

    def _node(self, path: Path) -> Any:
        node = self._root
        for step in path:
            found = None if node is None else self._child(node, step)
            if found is None:
                return None
            node = found[1]
        return node

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
        return self._node(path) is not None or not path

    def scalars(self) -> list[tuple[int, int]]:
        """Where the text of each key and value without parts begins and ends, as indices into `text`; an alias is none.

        What is outside all of them is punctuation, blank space or a comment.
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

#: What means the same with and without quotes, and may be replaced by such.
_PLAIN_WORD = r"[A-Za-z][A-Za-z0-9_-]*"
_PLAIN_NUMBER = r"-?[0-9][0-9.]*"


class Lines:
    """A text and its line ends; found only when someone asks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """The index of the first character of each line."""
        if self._starts is None:
            self._starts = [0, *(each.end() for each in re.finditer(_LINE_END, self.text))]
        return self._starts

    @staticmethod
    def split(text: str) -> list[str]:
        """The lines of a text, without their ends; the last one may be empty."""
        return re.split(_LINE_END, text)

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

    def within(self, span: Span) -> str:
        """The text that a span holds."""
        start = self.starts[span.line - 1] + span.column - 1
        return self.text[start : self.starts[span.end_line - 1] + span.end_column - 1]

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
    # libyaml puts the end of a text on a line of its own, whether or not there is one.
    lines = Lines.split(text)
    return len(lines), len(lines[-1]) + 1


def head_of(node: Any) -> Any:
    """The part of a node to point at when the whole would be many lines: the first key of a block mapping."""
    while not isinstance(node, ScalarNode) and not node.flow_style and node.value:
        node = node.value[0][0] if isinstance(node, MappingNode) else node.value[0]
    return node
