"""Reading one list of a large JSON or YAML document item by item, with line numbers."""

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.error import MarkedYAMLError
from yaml.reader import ReaderError
from yaml.resolver import Resolver

from faultspec.exchange.sensitive import MASK
from faultspec.source import MAX_DEPTH, MAX_NODES
from faultspec_conformance.observed.formats.record import describe_error

_SPACE = re.compile(r"[ \t\r\n]*")

#: What PyYAML quotes, but for signs of the grammar: it has the form of Python.
_QUOTED = re.compile(
    r"""(?<!\w)(?:'(?![,:?\[\]{}-]')[^'\\]*(?:\\.[^'\\]*)*(?:'|\Z)|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z))"""
)

_DECODE = json.JSONDecoder().raw_decode


class ListedItem(NamedTuple):
    """An item and its first line. ``problem``: why it cannot be read. ``ends``: nor can anything
    after it.
    """

    line: int
    value: object
    problem: str | None = None
    ends: bool = False


#: Bytes of a stream that are read at once, at least and at most.
_CHUNK, _STEP = 1024**2, 4 * 1024**2

#: Bytes of memory of the text of the longest item of a JSON list. There are several copies of it.
#: Python takes one for each character, two if one is beyond Latin-1, four if one is beyond 16 bits.
_LONGEST = 40 * 1024**2

#: The escape of the first half of a character beyond 16 bits (RFC 8259, section 7).
_PAIR = re.compile(r"\\u[dD][89abAB]")

#: Texts of JSON, also one that is cut off, and the signs that begin, part and end values.
_SIGNS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)

#: Characters of the longest word or escape of JSON that the end of a text may cut.
_WORD = len("-Infinity")


def json_items(stream: BinaryIO, *path: Sequence[str]) -> Iterator[ListedItem]:
    """The items of the list below these keys: each step is one of several. One item at a time is
    held in memory.
    """
    text = _JsonText(stream)
    try:
        text.skip_space()
        for names in path:
            _find_member(text, names)
        text.skip_sign("[")
        while text.sign != "]":
            value, line = text.read_value()
            yield ListedItem(line, value)
            text.skip_space()
            if text.sign != "]":
                text.skip_sign(",")
    except (ValueError, RecursionError, ItemTooLarge) as error:
        reason, line = str(error), text.line
        if isinstance(error, json.JSONDecodeError):
            line, column = text.place(error.pos)
            reason = f"{error.msg} (column {column})"
        problem = f"the rest cannot be read: {reason}"
        yield ListedItem(line, None, problem, ends=True)


class _JsonText:
    """The text of a stream from the next value on. Raises ItemTooLarge if the value is too long."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text = ""
        self._offset = 0
        self._ended = self._dense = False
        self._counted = 0
        #: The line of what is counted, and the characters of that line before the text.
        self.line = 1
        self._before = 0

    @property
    def sign(self) -> str:
        """The next character; empty at the end."""
        return self._text[self._offset : self._offset + 1]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset in the text, which is not before what is counted."""
        offset = max(offset, self._counted)
        self.line += self._text.count("\n", self._counted, offset)
        self._counted = offset
        begin = self._text.rfind("\n", 0, offset)
        return self.line, offset - begin + (self._before if begin < 0 else 0)

    def skip_space(self) -> None:
        """Go to the next character that is not white space."""
        while True:
            found = _SPACE.match(self._text, self._offset)
            self._offset = found.end() if found else self._offset
            if self._offset < len(self._text) or self._ended:
                return
            self._read_more()

    def skip_sign(self, sign: str) -> None:
        """Go behind a character and white space. Raises JSONDecodeError if another one is next."""
        if self.sign != sign:
            raise json.JSONDecodeError(f"Expecting '{sign}'", self._text, self._offset)
        self._offset += 1
        self.skip_space()

    def read_value(self) -> tuple[object, int]:
        """The next value and its line. Raises JSONDecodeError, RecursionError and ItemTooLarge."""
        while True:
            if self._dense:
                _check_value(self._text, self._offset)
            try:
                value, end = _DECODE(self._text, self._offset)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._text) - _WORD or error.msg.startswith("Unterminated")
                if self._ended or not cut:
                    raise
            else:
                # A number may go on: `1` may be the beginning of `1.5e+7`.
                if end <= len(self._text) - _WORD or self._ended:
                    line, _ = self.place(self._offset)
                    self._offset = end
                    return value, line
            self._read_more()

    def missing(self, name: str) -> json.JSONDecodeError:
        """The error of a member that is not there."""
        return json.JSONDecodeError(f"`{name}` is missing", self._text, self._offset)

    def _read_more(self) -> None:
        _, column = self.place(self._offset)
        rest = self._text = self._text[self._offset :]
        self._offset = self._counted = 0
        content = self._stream.read(min(max(_CHUNK, len(rest)), _STEP))
        self._ended = not content
        more = self._decoder.decode(content, self._ended)
        if rest and _is_larger(_LONGEST, rest, more):
            raise ItemTooLarge(f"a value takes more than {_LONGEST // 1024**2} MiB of memory")
        self._text = ""  # there is one copy less
        self._text = rest + more
        self._dense = _has_many_signs(self._text)
        self._before = column - 1


def _is_larger(limit: int, *texts: str) -> bool:
    """Whether texts would take more bytes of memory than the limit, if they were one."""
    length = sum(map(len, texts))
    return length * 4 > limit and length * max(map(_width, texts)) > limit


def _width(text: str) -> int:
    """Bytes of memory that Python takes for each character of a text, and of those that its escapes
    stand for.
    """
    last = "" if text.isascii() else max(text)
    if last > "\uffff" or _PAIR.search(text):
        return 4
    return 1 if last <= "\xff" and "\\u" not in text else 2


def check_json_size(text: str) -> None:
    """Raises ItemTooLarge if a text of JSON has too many keys and values."""
    if _has_many_signs(text):
        _check_value(text, 0)


def _has_many_signs(text: str) -> bool:
    """Whether a text may have too many values. Signs in strings count here as well."""
    return sum(map(text.count, "[{,:")) > MAX_NODES


def _check_value(text: str, start: int) -> None:
    """Raises ItemTooLarge if the value at an offset has too many values, as far as it is read."""
    values = level = 0
    for found in _SIGNS.finditer(text, start):
        match text[found.start()]:
            case "[" | "{":
                level += 1
                values += 1
            case "]" | "}":
                level -= 1
            case "," | ":":
                values += 1
        if level <= 0:
            return
        if values > MAX_NODES:
            raise ItemTooLarge(f"a value {_TOO_MANY}")


def _find_member(text: _JsonText, names: Sequence[str]) -> None:
    """Go to the value of the first member with one of these names."""
    text.skip_sign("{")
    while text.sign != "}":
        key, _ = text.read_value()
        text.skip_space()
        text.skip_sign(":")
        if key in names:
            return
        text.read_value()
        text.skip_space()
        if text.sign != "}":
            text.skip_sign(",")
    raise text.missing(names[0])


#: What the values of a document raise when they are built or used: a number of too many digits, a
#: tag over what it does not fit, bytes where JSON has text.
_UNREADABLE = (yaml.YAMLError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError)

#: Characters of the longest number: more than those of 64 bits, also in binary.
_LONGEST_NUMBER = 80

_INT64 = range(-(2**63), 2**63)

#: Bytes of memory of a text that count as one value more, so that the texts of an item take as many
#: as one of JSON.
_NODE_BYTES = _LONGEST // MAX_NODES

#: Directives of a file, and how each begins: behind an end of a line.
_MOST_TAGS = 1_000

#: Bytes of memory that each character of a text takes if one of these is in it: the first bytes of
#: UTF-8, and how escapes begin.
_WIDTHS = ((4, re.compile(rb"[\xf0-\xf7]|\\U")), (2, re.compile(rb"[\xe0-\xef]|\\u")))

_TAG = re.compile(rb"[\n\r\x85\xa8\xa9]%TAG")

#: Levels of a file. The parser takes a time for each sign that grows with its levels.
_DEEPEST = 10 * MAX_DEPTH

_TOO_MANY = f"has more than {MAX_NODES:,} keys and values"
_TOO_DEEP = f"is nested deeper than {MAX_DEPTH} levels"

#: libyaml's parser, if PyYAML was built with it: it is ten times as fast.
_Parser: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ItemTooLarge(Exception):
    """An item is beyond a bound. The text is the predicate of a sentence about it."""


class _Unparsable(yaml.YAMLError):
    """A file would take the parser too long. The text is a sentence about it."""


class _Bounded:
    """A stream of YAML with few directives `%TAG`, and no text beyond the longest item. The parser
    compares each directive with all before it, and holds a text whole, in code that no signal
    interrupts.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._last = b"\n"
        self._left = _MOST_TAGS
        #: The bytes that were read since the last event, and those of memory for each.
        self._length, self._width = 0, 1

    def begin(self) -> None:
        """Begin a new event."""
        self._length, self._width = 0, 1

    def read(self, size: int) -> bytes:
        """The next bytes. Raises _Unparsable if there are too many directives, or the text is too
        long.
        """
        content = self._stream.read(size)
        self._length += len(content)
        for width, sign in _WIDTHS:
            if width > self._width and sign.search(content):
                self._width = width
        if self._length * self._width > _LONGEST:
            raise _Unparsable(f"a text takes more than {_LONGEST // 1024**2} MiB of memory")
        plain = self._last + content.replace(b"\0", b"")  # of UTF-16, what is left is ASCII
        self._left -= len(_TAG.findall(plain))
        if self._left < 0:
            raise _Unparsable(f"it has more than {_MOST_TAGS:,} directives")
        self._last = plain[-(len(b"\n%TAG") - 1) :]
        return content


class _Loader(Composer, SafeConstructor, Resolver):
    """A loader of PyYAML that composes one node at a time. Tags of other languages are ignored.

    A merge key (`<<`) is an ordinary key. What reads as a long number is text.
    """

    def __init__(self, stream: BinaryIO) -> None:
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        self._bounded = _Bounded(stream)
        parser = _Parser(self._bounded)
        self._next_event: Callable[[], Any] = parser.get_event
        self.check_event: Callable[..., bool] = parser.check_event
        self.peek_event: Callable[[], Any] = parser.peek_event
        #: Lists and mappings that are open, and those around the item.
        self._level = self._base = 0
        #: Values of the item as written, and those that aliases repeated in the file.
        self._written = self._repeated = 0
        self._measure = _Measure()

    def get_event(self) -> Any:
        """The next event. Raises _Unparsable if it is nested too deep."""
        event = self._next_event()
        self._bounded.begin()
        if isinstance(event, yaml.ScalarEvent):
            self._written += _weigh_text(event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._level += 1
            self._written += 1
            if self._level > _DEEPEST:
                raise _Unparsable(f"it is nested deeper than {_DEEPEST:,} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            self._level -= 1
        return event

    def compose_item(self) -> yaml.Node:
        """The next node. Raises ItemTooLarge; then the next node is the one after it."""
        self._written, self._base = 0, self._level
        try:
            node = self.compose_node(None, 0)
        except ItemTooLarge:
            while self._level > self._base:
                self.get_event()
            raise
        assert node is not None  # the parser raises if no event is left
        return node

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next node, that of its anchor for an alias."""
        event = self.peek_event()
        try:
            return super().compose_node(parent, index)
        finally:  # also if the node is not complete, as aliases refer to it all the same
            if event.anchor in self.anchors and not isinstance(event, yaml.AliasEvent):
                self._measure.add_anchored(self.anchors[event.anchor])

    def descend_resolver(self, current_node: yaml.Node | None, current_index: Any) -> None:
        """Check the bounds. The composer calls this before each node; paths are not resolved."""
        if self._written > MAX_NODES:
            raise ItemTooLarge(_TOO_MANY)
        if self._level - self._base >= MAX_DEPTH:
            raise ItemTooLarge(_TOO_DEEP)

    def ascend_resolver(self) -> None:
        """Do nothing."""

    def count_repeated(self, node: yaml.Node) -> None:
        """Follow the aliases of an item. Raises ItemTooLarge if those of the file repeat too
        much.
        """
        size, _ = self._measure.size_and_height(node)
        repeated = self._repeated + size - self._written
        if repeated > max(MAX_NODES, self._repeated):
            raise ItemTooLarge(f"{_TOO_MANY}, with those that aliases repeat in the items before")
        self._repeated = repeated

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Leave merge keys as they are: they may multiply."""

    def number_or_text(self, node: yaml.ScalarNode) -> object:
        """A number, or the text of one of more than 64 bits."""
        if len(node.value) > _LONGEST_NUMBER:
            return self.construct_scalar(node)
        if node.tag.endswith("float"):
            return self.construct_yaml_float(node)
        number = self.construct_yaml_int(node)
        # Python finds larger ones in a mapping slowly: they may all have one hash.
        return number if number in _INT64 else self.construct_scalar(node)

    def ignore_tag(self, _: str, node: yaml.Node) -> object:
        """The value of a node without its tag."""
        match node:
            case yaml.MappingNode():
                return self.construct_mapping(node, deep=True)
            case yaml.SequenceNode():
                return self.construct_sequence(node, deep=True)
            case _:
                return self.construct_scalar(node)  # type: ignore[arg-type]  # the third and last kind of node


_Loader.add_multi_constructor("", _Loader.ignore_tag)
_Loader.add_constructor("!binary", _Loader.construct_yaml_binary)  # type: ignore[type-var]  # as Ruby's Psych writes it
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_str)  # type: ignore[type-var]  # its stub expects the subclass
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.number_or_text)  # type: ignore[type-var]  # as above
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.number_or_text)  # type: ignore[type-var]  # as above


def yaml_items(stream: BinaryIO, *names: str) -> Iterator[ListedItem]:
    """The items of the list under the first of these top-level keys. One item at a time is held in
    memory.
    """
    loader, line = _Loader(stream), 1
    missing = f"`{names[0]}` is missing"
    try:
        while not loader.check_event(yaml.MappingStartEvent):
            if loader.check_event(yaml.StreamEndEvent):
                yield ListedItem(1, None, missing, ends=True)
                return
            loader.get_event()
        loader.get_event()
        while not loader.check_event(yaml.MappingEndEvent):
            key = loader.compose_item()
            line = key.start_mark.line + 1
            if key.value in names and loader.check_event(yaml.SequenceStartEvent):
                loader.get_event()
                while not loader.check_event(yaml.SequenceEndEvent):
                    line = loader.peek_event().start_mark.line + 1
                    yield _next_item(loader, line)
                return
            with suppress(ItemTooLarge):
                loader.compose_item()
        yield ListedItem(line, None, missing, ends=True)
    except (yaml.YAMLError, UnicodeDecodeError, ItemTooLarge) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else line
        problem = f"the rest cannot be read: {_describe(error)}"
        yield ListedItem(line, None, problem, ends=True)


def _next_item(loader: _Loader, line: int) -> ListedItem:
    """The next node as an item. Raises YAMLError if the text after it cannot be read either."""
    try:
        node = loader.compose_item()
        loader.count_repeated(node)
    except ItemTooLarge as error:
        return ListedItem(line, None, f"it {error}")
    try:
        return ListedItem(line, loader.construct_document(node))
    except _UNREADABLE as error:
        return ListedItem(line, None, f"it cannot be read: {_describe(error)}")


class _Measure:
    """The sizes of nodes with aliases followed. Anchored nodes are measured once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, int] | ItemTooLarge] = {}
        self._around: set[int] = set()

    def add_anchored(self, node: yaml.Node) -> None:
        """Let aliases refer to a node, which must outlive the measure."""
        self._known[id(node)] = _NOT_MEASURED

    def size_and_height(self, node: yaml.Node) -> tuple[int, int]:
        """Values of a node, and levels of nesting. Raises ItemTooLarge beyond a bound."""
        own = id(node)
        known = self._known.get(own)
        if known is None:
            return self._measure(node)
        if known is _NOT_MEASURED:
            if own in self._around:
                raise ItemTooLarge("contains itself by an alias")
            self._around.add(own)
            try:
                known = self._measure(node)
            except (ItemTooLarge, RecursionError) as error:
                known = error if isinstance(error, ItemTooLarge) else ItemTooLarge(_TOO_DEEP)
            self._around.remove(own)
            self._known[own] = known
        if isinstance(known, ItemTooLarge):
            raise known
        return known

    def _measure(self, node: yaml.Node) -> tuple[int, int]:
        is_text = isinstance(node, yaml.ScalarNode)
        size, height = (_weigh_text(node.value) if is_text else 1), 0
        for inner in _inner_nodes(node):
            inner_size, inner_height = self.size_and_height(inner)
            size, height = size + inner_size, max(height, inner_height + 1)
        if height > MAX_DEPTH:
            raise ItemTooLarge(_TOO_DEEP)
        if size > MAX_NODES:
            raise ItemTooLarge(_TOO_MANY)
        return size, height


_NOT_MEASURED = (0, 0)


def _weigh_text(text: str) -> int:
    """The values that a text counts as."""
    return 1 + len(text) * (1 if len(text) < _NODE_BYTES else _width(text)) // _NODE_BYTES


def _inner_nodes(node: yaml.Node) -> Iterable[yaml.Node]:
    match node:
        case yaml.MappingNode():
            return chain.from_iterable(node.value)
        case yaml.SequenceNode():
            return tuple(node.value)
        case _:
            return ()


def _describe(error: Exception) -> str:
    """Why YAML cannot be read, without the texts of it that PyYAML quotes."""
    if isinstance(error, ItemTooLarge | _Unparsable):
        return str(error)
    if isinstance(error, ReaderError):
        return str(error.reason)
    if isinstance(error, MarkedYAMLError):
        return _QUOTED.sub(MASK, str(error.problem).partition("\n")[0])
    return describe_error(error)
