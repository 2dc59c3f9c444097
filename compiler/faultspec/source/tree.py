"""YAML text → node tree → data, and the mistakes found on the way."""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from yaml.error import MarkedYAMLError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from faultspec.diagnostics.model import Diagnostic, Related, sort_diagnostics
from faultspec.source import mistakes
from faultspec.source.document import UNREADABLE, Document, Lines, span_of
from faultspec.source.readers import ALIAS, PLAIN, READER, TEXT, Forgiving, NestingError, SizeError

#: The integers that have a native type in every target language.
_INT64 = range(-(2**63), 2**63)


def parse(text: str, path: str) -> tuple[Document | None, list[Diagnostic]]:
    """Text → a document and all its mistakes as YAML, in order.

    The document is None if the text has no structure: it is not YAML, is empty, or is nested too
    deeply. `path` is the name of the text in diagnostics.
    """
    with no_cyclic_gc():
        document, found = parse_with(text.removeprefix("\ufeff"), path, READER)
    return document, list(sort_diagnostics(found))


@contextmanager
def no_cyclic_gc() -> Iterator[None]:
    """Pause the cyclic garbage collector.

    Without this, half the time of a large load, and a seventh of what follows, is spent on the
    search for cycles that do not exist.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            # Moves new objects to the oldest generation, so that they are not searched at once.
            gc.freeze()
            gc.unfreeze()
            gc.enable()


def parse_with(text: str, path: str, reader_type: Any) -> tuple[Document | None, list[Diagnostic]]:
    """Like `parse`, with a given reader, for a source without a byte order mark; unsorted."""
    lines = Lines(text)
    found = [*mistakes.find_forbidden_characters(lines, path)]
    found += mistakes.find_directives(lines, path)
    if found:
        return None, found
    reader = reader_type(text)
    try:
        return _document(reader, lines, path, forgiving=False)
    except (MarkedYAMLError, NestingError, _PropertiesError):
        pass  # parsed once more, slowly, for all mistakes
    except SizeError:
        return None, [mistakes.too_many(path)]
    finally:
        reader.dispose()
    reader = reader_type(text)
    forgiving = Forgiving(reader)
    document = None
    try:
        document, found = _document(forgiving, lines, path, forgiving=True)
    except MarkedYAMLError as error:
        # Imported here, because a source without mistakes does not need it.
        from faultspec.source.syntax_errors import explain_syntax_error

        found = [explain_syntax_error(error, lines, path)]
    except NestingError as error:
        found = [mistakes.too_deep(error.parent, lines, path)]
    except SizeError:
        found = [mistakes.too_many(path)]
    finally:
        reader.dispose()
    return document, [*found, *mistakes.find_properties(forgiving.properties, lines, path)]


#: How often a source with repeated keys is built: each time with different values of those keys, so
#: that all values are checked.
#: A key repeated more often is reported once; each further build costs as much as the first.
_MOST_BUILDS = 5


def _document(
    reader: Any, lines: Lines, path: str, *, forgiving: bool
) -> tuple[Document | None, list[Diagnostic]]:
    root = reader.get_node() if reader.check_node() else None
    if root is None or (isinstance(root, ScalarNode) and _is_empty(root, lines.text)):
        return None, [mistakes.empty_document(lines, path)]
    another = [mistakes.second_document(root, lines, path)] if reader.check_node() else []
    builder = _Builder(lines, path, forgiving=forgiving)
    data = builder.build(root)
    document = Document(path, lines.text, data, _root=root)
    others = tuple(
        replace(
            document,
            data=_Builder(lines, path, forgiving=forgiving, occurrence=number).build(root),
            _occurrence=number,
            _children={},
        )
        for number in range(1, min(builder.most, _MOST_BUILDS))
    )
    return replace(document, others=others), [*another, *builder.found]


class _PropertiesError(Exception):
    """The text has tags, anchors or aliases, which the tree of a plain reader does not show."""


def _is_empty(root: ScalarNode, text: str) -> bool:
    source = text[root.start_mark.index : root.end_mark.index]
    return root.tag == PLAIN and not root.value and not source


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")

_ABSENT = object()

#: The tag `!!str` (YAML 1.2 section 10.1.1), whose value is the text itself.
_STRING = "tag:yaml.org,2002:str"


def _is_merge(key: ScalarNode, value: Node) -> bool:
    """Whether an entry is `<<: *alias` or a list of aliases; other `<<` keys are ordinary."""
    if key.tag is not PLAIN or key.value != "<<":
        return False
    items = value.value if isinstance(value, SequenceNode) else [value]
    return any(item.tag is ALIAS for item in items)


def _copy(text: str) -> str:
    """A copy of a text, which does not lie among the nodes.

    The texts outlive the nodes. With the nodes' own, hardly a page of memory that held nodes could
    be used again: 130 MB at 10,000 codes.
    """
    return text[:1] + text[1:]


class _Builder:
    """One walk over the node tree, to data and mistakes.

    `occurrence`: the number of the value that a repeated key gets, from 0, at most its last one.
    `most`: the largest number of occurrences of a key in one mapping.
    """

    def __init__(self, lines: Lines, path: str, *, forgiving: bool, occurrence: int = 0) -> None:
        self.found: list[Diagnostic] = []
        self.most = 1
        self._forgiving = forgiving
        self._occurrence = occurrence
        self._lines = lines
        self._path = path
        self._text = lines.text + "\0"  # a character for an empty value at the very end
        self._pointer: list[str | int] = []
        self._keys: dict[str, str] = {}
        self._plain: dict[str, object] = {
            "": None,
            "~": None,
            "null": None,
            "true": True,
            "false": False,
        }

    def build(self, node: Node) -> object:
        if self._text[node.start_mark.index] in "&!" and not self._forgiving:
            raise _PropertiesError
        if isinstance(node, ScalarNode):
            if node.tag is not PLAIN:
                text = node.value
                return _copy(text) if node.tag is TEXT or node.tag == _STRING else UNREADABLE
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
        data: dict[Any, object] = {}
        times: dict[str, int] = {}
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
            if self._text[key.start_mark.index] in "&!" and not self._forgiving:
                raise _PropertiesError
            if key.tag is ALIAS or _is_merge(key, value):
                self.build(value)
                data[UNREADABLE] = UNREADABLE
                continue
            name = self._keys.get(key.value)
            if name is None:
                name = _copy(key.value)
                self._keys[name] = name
            self._pointer.append(name)
            if name in data:
                nth = times[name] = times.get(name, 0) + 1
                self.most = max(self.most, nth + 1)
                self._duplicate(node, key)
                built = self.build(value)
                if nth <= self._occurrence:
                    data[name] = built
            else:
                data[name] = self.build(value)
            self._pointer.pop()
        return data

    def _scalar(self, node: ScalarNode) -> object:
        text = _copy(node.value)
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
                self._report(
                    "number-out-of-range",
                    "this number does not fit 64 bits",
                    node,
                    "quote it if it is text",
                )
                return UNREADABLE
        self._plain[text] = value
        return value

    def _duplicate(self, mapping: MappingNode, key: ScalarNode) -> None:
        if len(self.found) >= mistakes.MAX_REPORTED:
            return  # before the search for the first one, which takes quadratic time
        first = next(
            node
            for node, _ in mapping.value
            if isinstance(node, ScalarNode) and node.value == key.value
        )
        related = Related("first written here", self._path, span_of(self._lines.text, first))
        message = f"the key {mistakes.quote(key.value)} is here twice"
        self._report("duplicate-key", message, key, "keep one of the two", related=related)

    def _report(
        self,
        code: str,
        message: str,
        node: Node,
        hint: str | None = None,
        *,
        related: Related | None = None,
    ) -> None:
        if len(self.found) >= mistakes.MAX_REPORTED:
            return
        self.found.append(
            Diagnostic(
                code,
                message,
                self._path,
                span_of(self._lines.text, node),
                hint=hint,
                related=() if related is None else (related,),
                pointer=tuple(self._pointer),
            )
        )
