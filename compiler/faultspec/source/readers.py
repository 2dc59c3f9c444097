"""The two YAML parsers, made to give one tree: libyaml's, and PyYAML's own for where that is missing."""

from typing import Any, NamedTuple

import yaml
from yaml.composer import Composer
from yaml.events import AliasEvent
from yaml.nodes import Node, ScalarNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

#: Deeper than anyone can read, and shallow enough that no recursion over a document can exhaust the stack.
MAX_DEPTH = 100

#: Stand in for tags in the node tree; the text of a node tells whether it carries a real one.
PLAIN, TEXT = "plain", "text"

#: The tag of the node that `Forgiving` puts in the place of an alias.
ALIAS = "alias"


class TooDeep(Exception):
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
            raise TooDeep(parent)

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: object, value: object, implicit: object) -> str:
        return PLAIN if kind is ScalarNode and implicit == (True, False) else TEXT


class PureReader(Reader, Scanner, Parser, Composer, _Resolver):
    """The same tree without libyaml; stricter, since it takes no tab between two tokens of a line."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: Any) -> list[str]:
        """Refuse an escape for what is no character: chr() raises for some and returns a lone surrogate for others."""
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
    """A tag or an anchor of a node, or an alias: what is written before, or instead of, a value."""

    event: Any
    anchor: str | None
    tag: str | None


class Forgiving(Composer, _Resolver):
    """The tree of a text with tags, anchors and aliases, from the events of a reader; each of them is noted.

    An alias is a node of its own and not that of its anchor, so the tree is as large as the text, whatever refers to what.
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
        """The next node; PyYAML's own follows aliases and refuses those that lead nowhere."""
        event: Any = self.peek_event()
        if isinstance(event, AliasEvent):
            self.get_event()
            self.properties.append(Property(event, event.anchor, None))
            start: Any = (
                event.start_mark
            )  # the stubs know of two kinds of marks that are never mixed
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
        """The same tree from libyaml, ten times as fast."""

    READER = _CReader
