"""YAML text → `Document`: data, and a span for every key and value, from one parse.

The dialect is deliberately smaller than YAML, so that what a person reads is what the compiler gets:

- A plain scalar is null (`null`, `~` or nothing at all), a boolean (`true`, `false`), a number when JSON would read it
  as one (`12`, `-0.5`, `1e3`), and otherwise text. So `NO`, `on`, `012`, `0x1F`, `1:30`, `4_29`, `.5`, `.inf`, `.nan`
  and dates are text. Integers end at 64 bits and floats at the finite ones; beyond is a diagnostic.
- A plain mapping key is always text: `404:` is `"404"`, `NO:` is `"NO"`, `<<:` is an ordinary key.
- Tags, anchors, aliases, directives, collections as keys and a second document in the file are refused.
- Lines end in LF, CRLF or CR. U+0085, U+2028 and U+2029, which YAML 1.1 takes for line ends and editors do not, must be
  escaped, as must control characters.
"""

import gc
import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.composer import Composer, ComposerError
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import AliasEvent, CollectionStartEvent, ScalarEvent
from yaml.nodes import MappingNode, Node, ScalarNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from faultspec.diagnostic import Diagnostic, Path, Related, Severity, Span, ordered

#: A taxonomy of 10,000 codes is about 4 MB; what is four times that is a mistake, such as a data dump or a binary.
MAX_BYTES = 16 * 1024 * 1024

#: Deeper than anyone can read, and shallow enough that no recursion over a document can exhaust the stack.
MAX_DEPTH = 100

#: What every reader of the data, in whatever language, can hold exactly as an integer of some native type.
_INT64 = range(-(2**63), 2**63)

#: Every code that this module reports, with the condition for it.
CODES: Mapping[str, str] = {
    "file-not-found": "The file does not exist.",
    "not-a-file": "The path is a directory, a device, a pipe or a socket.",
    "file-unreadable": "The file exists and could not be read.",
    "file-too-large": f"The file is larger than {MAX_BYTES // 1024**2} MiB.",
    "not-utf-8": "The file is text in another encoding than UTF-8, or no text at all.",
    "empty-document": "The file holds nothing but blank space and comments.",
    "yaml-character": "The text holds a character that must be escaped: a control character, or an invisible line end.",
    "yaml-syntax": "The text is not YAML.",
    "yaml-directive": "A line such as `%YAML 1.1`.",
    "yaml-tag": "An explicit tag such as `!!str`.",
    "yaml-alias": "An anchor such as `&a`, or an alias such as `*a`.",
    "yaml-documents": "A second document in one file.",
    "yaml-key": "A mapping key that is itself a mapping or a list.",
    "duplicate-key": "A key that the same mapping has already.",
    "number-out-of-range": "A number that does not fit 64 bits.",
    "nested-too-deeply": f"More than {MAX_DEPTH} levels of nesting.",
}


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: its text, its data (dict, list, str, int, float, bool, None) and the place of each part.

    `path` is the file as the user wrote it.
    """

    path: str
    text: str = field(repr=False)
    data: Any = field(repr=False)
    _root: Node | None = field(default=None, repr=False, compare=False)
    _children: dict[int, dict[str | int, tuple[Node, Node]]] = field(default_factory=dict, repr=False, compare=False)

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
            return _span(self.text, node)
        return _span(self.text, _head(node) if named is None else named)

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
        return Diagnostic(code, message, self.path, self.span(path, key=key), severity, hint, related, path)

    def related(self, message: str, path: Path, *, key: bool = True) -> Related:
        """Point at the key or value at `path` as a second place."""
        return Related(message, self.path, self.span(path, key=key))

    def _child(self, node: Node, step: str | int) -> tuple[Node, Node] | None:
        if isinstance(node, ScalarNode):
            return None
        children = self._children.get(id(node))
        if children is None:
            children = {}
            if isinstance(node, MappingNode):
                for key, value in node.value:
                    if isinstance(key, ScalarNode):
                        children.setdefault(key.value, (key, value))
            else:
                children.update((index, (item, item)) for index, item in enumerate(node.value))
            self._children[id(node)] = children
        return children.get(step)


class SourceError(Exception):
    """A file that could not be read, or not without complaint.

    `diagnostics` has at least one element. `document` is there when the text has a structure in spite of them (a key
    twice, a tag), so that a caller may go on and report the rest in the same run; it is not to be compiled.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...], document: Document | None = None) -> None:
        super().__init__(diagnostics, document)
        self.diagnostics = diagnostics
        self.document = document

    def __str__(self) -> str:
        return "; ".join(f"{each.path}: {each.message}" for each in self.diagnostics)


def load(path: str | os.PathLike[str]) -> Document:
    """Read and parse one file.

    Raises SourceError, and nothing else, whatever the path and the file are.
    """
    name = os.fspath(path)
    content = _read(name)
    text, found = decode(content, name)
    if text is None:
        raise SourceError(tuple(found))
    document, found = parse(text, name)
    if found or document is None:
        raise SourceError(tuple(found), document)
    return document


def _read(path: str) -> bytes:
    def refuse(code: str, message: str, hint: str | None = None) -> SourceError:
        return SourceError((Diagnostic(code, message, path, hint=hint),))

    too_large = refuse(
        "file-too-large",
        f"the file is larger than {MAX_BYTES // 1024**2} MiB, which no taxonomy is",
        "split it, or check that this is the file you meant",
    )
    try:
        # Looked at before it is opened: opening a pipe waits for someone to write.
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise refuse("not-a-file", "this is a directory", "name the file in it, such as taxonomy.yaml")
        if not stat.S_ISREG(status.st_mode):
            raise refuse("not-a-file", "this is a device, a pipe or a socket", "write its content to a file first")
        if status.st_size > MAX_BYTES:
            raise too_large
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise refuse("file-not-found", "there is no such file", "check the spelling and the directory") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        reason = error.strerror if isinstance(error, OSError) else None
        raise refuse("file-unreadable", f"the file cannot be read: {reason or error}") from None
    if len(content) > MAX_BYTES:  # it grew, or its size is not known beforehand, as under /proc
        raise too_large
    return content


#: The longer marks first: that of UTF-32 begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)

_SAVE_AS_UTF8 = "save the file as UTF-8"


def decode(content: bytes, path: str) -> tuple[str | None, list[Diagnostic]]:
    """Bytes → text without a byte order mark, or the reason why these are no UTF-8 text."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            message = f"the file is encoded in {encoding}, not in UTF-8"
            return None, [Diagnostic("not-utf-8", message, path, hint=_SAVE_AS_UTF8)]
    if b"\0" in content:
        return None, [_nul(content, path)]
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        return content.decode("utf-8"), []
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line, column = _Lines(before).place(len(before))
        byte = content[error.start]
        hint = _SAVE_AS_UTF8
        if byte >= 0xA0:  # below, Latin-1 has only control characters
            hint += f"; in Latin-1 this byte is {chr(byte)!r}"
        message = f"byte 0x{byte:02X} is not valid UTF-8 here"
        return None, [Diagnostic("not-utf-8", message, path, Span(line, column, line, column), hint=hint)]


def _nul(content: bytes, path: str) -> Diagnostic:
    # Text of mostly ASCII in UTF-16 has a zero in every second byte, and in the others none.
    sample = content[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if min(even, odd) == 0 and max(even, odd) * 4 >= len(sample):
        order = "little" if odd else "big"
        message = f"the file looks like UTF-16 ({order}-endian, without a byte order mark), not UTF-8"
        return Diagnostic("not-utf-8", message, path, hint=_SAVE_AS_UTF8)
    message = f"the file is not text: byte {content.index(0)} is zero"
    return Diagnostic("not-utf-8", message, path, hint="check that this is the file you meant")


def parse(text: str, path: str) -> tuple[Document | None, list[Diagnostic]]:
    """Text → a document and everything that is wrong with it as YAML, in order.

    There is no document when the text has no one structure: it is not YAML, is empty, uses aliases, is nested too
    deeply. `path` only names the text in diagnostics.
    """
    with _no_cyclic_gc():
        document, found = _parse(text.removeprefix("\ufeff"), path, _READER)
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


#: Stand in for tags in the node tree; the text of a node tells whether it carries a real one.
_PLAIN, _TEXT = "plain", "text"


class _TooDeep(Exception):
    """The first node nested more than MAX_DEPTH levels deep, known by its parent."""

    def __init__(self, parent: Node) -> None:
        super().__init__(parent)
        self.parent = parent


class _Resolver:
    """What both composers ask of a resolver. They descend and ascend around every node, so depth is known here."""

    _depth = 0

    def descend_resolver(self, parent: Node | None, index: object) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH and parent is not None:
            raise _TooDeep(parent)

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: object, value: object, implicit: object) -> str:
        return _PLAIN if kind is ScalarNode and implicit == (True, False) else _TEXT


class _PureReader(Reader, Scanner, Parser, Composer, _Resolver):
    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)


_READER: Any = _PureReader
if yaml.__with_libyaml__:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs do not re-export it

    class _CReader(_Resolver, CParser):
        """The same tree from libyaml, ten times as fast."""

    _READER = _CReader


def _parse(text: str, path: str, reader_type: Any) -> tuple[Document | None, list[Diagnostic]]:
    lines = _Lines(text)
    found = [*_forbidden_characters(lines, path), *_directives(lines, path)]
    if found:
        return None, found
    reader = reader_type(text)
    try:
        root = reader.get_node() if reader.check_node() else None
        if root is None or (isinstance(root, ScalarNode) and _is_nothing(root, text)):
            return None, [_empty(lines, path)]
        if reader.check_node():
            found.append(_second_document(root, lines, path))
    except _TooDeep as error:
        return None, [_too_deep(error.parent, lines, path)]
    except ComposerError:  # an alias without its anchor, or the same anchor twice
        return None, _properties(reader_type(text), lines, path)
    except MarkedYAMLError as error:
        return None, [_syntax(error, lines, path)]
    except (YAMLError, ValueError, OverflowError) as error:
        # The pure loader lets chr() complain of "\UFFFFFFFF".
        return None, [_escape_out_of_range(error, reader, lines, path)]
    finally:
        reader.dispose()
    builder = _Builder(lines, path)
    data = builder.build(root)
    found += builder.found
    if builder.has_properties:
        found += _properties(reader_type(text), lines, path)
        if any(each.code == "yaml-alias" for each in found):
            return None, found
    return Document(path, text, data, root), found


def _is_nothing(root: ScalarNode, text: str) -> bool:
    return root.tag == _PLAIN and not root.value and text[root.start_mark.index : root.end_mark.index] == ""


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")

_ABSENT = object()


class _Builder:
    """One walk over the node tree: data out, and what is wrong on the way."""

    def __init__(self, lines: "_Lines", path: str) -> None:
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
            if node.tag is not _PLAIN:
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
        first = next(each for each, _ in mapping.value if isinstance(each, ScalarNode) and each.value == key.value)
        related = Related("first written here", self._path, _span(self._lines.text, first))
        self._report(
            "duplicate-key", f"the key {_quoted(key.value)} is here twice", key, "keep one of the two", (related,)
        )

    def _report(
        self, code: str, message: str, node: Node, hint: str | None = None, related: tuple[Related, ...] = ()
    ) -> None:
        span = _span(self._lines.text, node)
        self.found.append(
            Diagnostic(code, message, self._path, span, hint=hint, related=related, pointer=tuple(self._pointer))
        )


class _Lines:
    """A text and its line ends; found only when someone asks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """The index of the first character of each line."""
        if self._starts is None:
            self._starts = [0, *(each.end() for each in re.finditer(r"\r\n|\r|\n", self.text))]
        return self._starts

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


def _span(text: str, node: Node) -> Span:
    """From the first character of a node to its last.

    The end mark of a block collection lies behind the comments that follow it, and that of a block scalar on the next
    line: the end is that of the last thing in it.
    """
    last: Any = node
    while not isinstance(last, ScalarNode) and not last.flow_style and last.value:
        last = last.value[-1][1] if isinstance(last, MappingNode) else last.value[-1]
    start, end = node.start_mark, last.end_mark
    if getattr(last, "style", None) in ("|", ">"):
        index = last.start_mark.index
        written = text[index : end.index].rstrip()
        line_ends = re.findall(r"\r\n|\r|\n", written)
        if not line_ends:
            return Span(
                start.line + 1, start.column + 1, last.start_mark.line + 1, last.start_mark.column + len(written) + 1
            )
        last_line = re.split(r"\r\n|\r|\n", written)[-1]
        return Span(start.line + 1, start.column + 1, last.start_mark.line + 1 + len(line_ends), len(last_line) + 1)
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _head(node: Any) -> Any:
    """The part of a node to point at when the whole would be many lines: the first key of a block mapping."""
    while not isinstance(node, ScalarNode) and not node.flow_style and node.value:
        node = node.value[0][0] if isinstance(node, MappingNode) else node.value[0]
    return node


def _quoted(text: str) -> str:
    """A piece of the user's text for use in a message: no longer than a message can bear."""
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}…`"


#: What YAML calls non-printable, the three line ends that only YAML 1.1 knows, and a byte order mark inside the text.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def _forbidden_characters(lines: _Lines, path: str) -> Iterator[Diagnostic]:
    for each in _FORBIDDEN.finditer(lines.text):
        number = ord(each[0])
        escape = f"\\x{number:02X}" if number < 0x100 else f"\\u{number:04X}"
        message = f"the invisible character U+{number:04X} cannot stand in a file as it is"
        if 0xD800 <= number <= 0xDFFF or number in (0xFFFE, 0xFFFF):
            hint = "delete it"
        else:
            hint = f'delete it, or write "{escape}" in double quotes if it is meant'
        yield Diagnostic("yaml-character", message, path, lines.between(each.start(), each.end()), hint=hint)


_DIRECTIVES = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*(%[^\r\n]*)")


def _directives(lines: _Lines, path: str) -> Iterator[Diagnostic]:
    matched = _DIRECTIVES.match(lines.text)
    if matched:
        span = lines.between(*matched.span(1))
        yield Diagnostic("yaml-directive", "YAML directives are not used here", path, span, hint="delete this line")


def _empty(lines: _Lines, path: str) -> Diagnostic:
    message = "the file holds only comments" if lines.text.strip() else "the file is empty"
    return Diagnostic(
        "empty-document", message, path, Span(1, 1, 1, 1), hint="`faultspec init` writes a taxonomy to start from"
    )


_DOCUMENT_START = re.compile(r"^---", re.MULTILINE)


def _second_document(first: Any, lines: _Lines, path: str) -> Diagnostic:
    # Looked up in the text, since the two parsers give its event different marks.
    matched = _DOCUMENT_START.search(lines.text, first.end_mark.index)
    start, end = matched.span() if matched else (first.end_mark.index, first.end_mark.index)
    message = "a second document begins here; a file holds one"
    hint = "move it to a file of its own, or delete this line"
    return Diagnostic("yaml-documents", message, path, lines.between(start, end), hint=hint)


def _too_deep(parent: Any, lines: _Lines, path: str) -> Diagnostic:
    mark = parent.start_mark
    message = f"nested more than {MAX_DEPTH} levels deep from here"
    return Diagnostic(
        "nested-too-deeply",
        message,
        path,
        lines.between(mark.index, mark.index + 1),
        hint="check for a repeated bracket",
    )


def _escape_out_of_range(error: Exception, reader: Any, lines: _Lines, path: str) -> Diagnostic:
    index = reader.index if isinstance(reader, _PureReader) else 0
    return Diagnostic("yaml-syntax", f"this escape names no character ({error})", path, lines.between(index, index + 1))


_SIGIL = {"&": re.compile(r"&[^\s,\[\]{}]*"), "!": re.compile(r"![^\s,\[\]{}]*"), "*": re.compile(r"\*[^\s,\[\]{}]*")}


def _properties(reader: Any, lines: _Lines, path: str) -> list[Diagnostic]:
    """Every tag, anchor and alias in the text, found in the events, since the tree no longer shows them."""

    def place(sigil: str, start: int) -> Span:
        matched = _SIGIL[sigil].search(lines.text, start)
        return lines.between(*matched.span()) if matched else lines.between(start, start + 1)

    found: list[Diagnostic] = []
    anchors: dict[str, Span] = {}
    used: set[str] = set()
    try:
        while reader.check_event():
            event: Any = reader.get_event()
            if isinstance(event, AliasEvent):
                span = place("*", event.start_mark.index)
                if event.anchor in anchors:
                    used.add(event.anchor)
                    related: tuple[Related, ...] = (Related(f"`&{event.anchor}` is here", path, anchors[event.anchor]),)
                    hint = "write the value out; to share details between codes, use the language's own means"
                else:
                    related = ()
                    hint = f"put it in quotes if it is text: '*{event.anchor}'"
                found.append(
                    Diagnostic(
                        "yaml-alias",
                        f"the alias `*{event.anchor}` is not allowed",
                        path,
                        span,
                        hint=hint,
                        related=related,
                    )
                )
            elif isinstance(event, ScalarEvent | CollectionStartEvent):
                if event.tag is not None:
                    found.append(
                        Diagnostic(
                            "yaml-tag",
                            "explicit tags are not allowed",
                            path,
                            place("!", event.start_mark.index),
                            hint="delete the tag; quote the value if it is text",
                        )
                    )
                if event.anchor is not None:
                    span = place("&", event.start_mark.index)
                    if event.anchor in anchors:
                        found.append(_anchor(event.anchor, span, path))
                    else:
                        anchors[event.anchor] = span
    except YAMLError as error:
        if isinstance(error, MarkedYAMLError):
            found.append(_syntax(error, lines, path))
    finally:
        reader.dispose()
    found += [_anchor(name, span, path) for name, span in anchors.items() if name not in used]
    return found


def _anchor(name: str, span: Span, path: str) -> Diagnostic:
    return Diagnostic(
        "yaml-alias",
        f"the anchor `&{name}` is not allowed",
        path,
        span,
        hint="delete it; put it in quotes if it is text",
    )


def _syntax(error: MarkedYAMLError, lines: _Lines, path: str) -> Diagnostic:
    mark: Any = error.problem_mark or error.context_mark
    index = mark.index if mark is not None else 0
    return Diagnostic("yaml-syntax", error.problem or "this is not YAML", path, lines.between(index, index + 1))
