"""The two YAML parsers with one result: libyaml, and PyYAML's own where libyaml is missing."""

from typing import Any, NamedTuple

import yaml
from yaml.composer import Composer
from yaml.events import AliasEvent
from yaml.nodes import Node, ScalarNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

#: Levels of nesting: more than people can read, and too few for recursion to exhaust the stack.
MAX_DEPTH = 100

#: Keys and values of a document. A taxonomy of 10,000 codes has half as many. They take 300 bytes
#: each, which is a hundred times their text.
MAX_NODES = 500_000

#: Replacements of tags in the node tree; a node with an explicit tag shows it in its text.
PLAIN, TEXT = "plain", "text"

#: The tag of the node that `Forgiving` puts in place of an alias.
ALIAS = "alias"


class NestingError(Exception):
    """A node is nested more than MAX_DEPTH levels deep; `parent` is its parent."""

    def __init__(self, parent: Node) -> None:
        super().__init__(parent)
        self.parent = parent


class SizeError(Exception):
    """A document has more than MAX_NODES nodes."""


class _Resolver:
    """The resolver of both composers; they call it around every node, so it knows the depth."""

    _depth = 0
    _nodes = 0

    def descend_resolver(self, parent: Node | None, index: object) -> None:
        self._depth += 1
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise SizeError
        if self._depth > MAX_DEPTH and parent is not None:
            raise NestingError(parent)

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: object, value: object, implicit: object) -> str:
        return PLAIN if kind is ScalarNode and implicit == (True, False) else TEXT


class PureReader(Reader, Scanner, Parser, Composer, _Resolver):
    """The reader without libyaml; stricter, because it refuses tabs between tokens."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: Any) -> list[str]:
        """Refuse escapes that are not characters: chr() raises, or returns a lone surrogate."""
        try:
            chunks: list[str] = super().scan_flow_scalar_non_spaces(double, start_mark)
            "".join(chunks).encode()
        except (ValueError, OverflowError):
            problem = "found invalid Unicode character escape code"
            raise ScannerError(
                "while parsing a quoted scalar", start_mark, problem, self.get_mark()
            ) from None
        return chunks


class Property(NamedTuple):
    """A tag or an anchor before a value, or an alias in place of it."""

    event: Any
    anchor: str | None
    tag: str | None


class Forgiving(Composer, _Resolver):
    """The tree of a source with tags, anchors and aliases, which are recorded in `properties`.

    An alias is a node of its own, not that of its anchor, so the text bounds the tree.
    """

    def __init__(self, reader: Any) -> None:
        super().__init__()
        self.check_event, self.peek_event, self.get_event = (
            reader.check_event,
            reader.peek_event,
            reader.get_event,
        )
        self.properties: list[Property] = []

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        """The next node; PyYAML's method would follow aliases, and refuse dangling ones."""
        event: Any = self.peek_event()
        if isinstance(event, AliasEvent):
            self.get_event()
            self.properties.append(Property(event, event.anchor, None))
            # `Any`, because the stubs have two types of marks.
            start: Any = event.start_mark
            end: Any = event.end_mark
            return ScalarNode(ALIAS, "", start, end)
        tag = getattr(event, "tag", None)
        if event.anchor is not None or tag is not None:
            self.properties.append(Property(event, event.anchor, tag))
            event.anchor = None
        return super().compose_node(parent, index)


READER: Any = PureReader
if yaml.__with_libyaml__:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs do not re-export it

    class _CReader(_Resolver, CParser):
        """The reader with libyaml, ten times as fast."""

    READER = _CReader
