"""Reading one list of a large JSON or YAML document item by item, with line numbers."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

_SPACE = re.compile(r"[ \t\r\n]*")

_DECODE = json.JSONDecoder().raw_decode


class ListedItem(NamedTuple):
    """An item and its first line. ``problem``: why it cannot be read. ``ends``: nor can anything
    after it.
    """

    line: int
    value: object
    problem: str | None = None
    ends: bool = False


def json_items(text: str, *names: str) -> Iterator[ListedItem]:
    """The items of the list below these keys. One item at a time is decoded."""
    line, counted = 1, 0

    def line_of(offset: int) -> int:
        nonlocal line, counted
        line, counted = line + text.count("\n", counted, offset), offset
        return line

    offset = 0
    try:
        offset = _skip_space(text, 0)
        for name in names:
            offset = _find_member(text, offset, name)
        offset = _skip_sign(text, offset, "[")
        while text[offset : offset + 1] != "]":
            value, end = _DECODE(text, offset)
            yield ListedItem(line_of(offset), value)
            offset = _skip_space(text, end)
            if text[offset : offset + 1] != "]":
                offset = _skip_sign(text, offset, ",")
    except (ValueError, RecursionError) as error:
        place, reason = offset, str(error)
        if isinstance(error, json.JSONDecodeError):
            place, reason = error.pos, f"{error.msg} (column {error.colno})"
        problem = f"the rest cannot be read: {reason}"
        yield ListedItem(line_of(max(place, counted)), None, problem, ends=True)


def _skip_space(text: str, offset: int) -> int:
    found = _SPACE.match(text, offset)
    return found.end() if found else offset


def _skip_sign(text: str, offset: int, sign: str) -> int:
    if text[offset : offset + 1] != sign:
        raise json.JSONDecodeError(f"Expecting '{sign}'", text, offset)
    return _skip_space(text, offset + 1)


def _find_member(text: str, offset: int, name: str) -> int:
    """The offset of the value of a member."""
    offset = _skip_sign(text, offset, "{")
    while text[offset : offset + 1] != "}":
        key, end = _DECODE(text, offset)
        offset = _skip_sign(text, _skip_space(text, end), ":")
        if key == name:
            return offset
        offset = _skip_space(text, _DECODE(text, offset)[1])
        if text[offset : offset + 1] != "}":
            offset = _skip_sign(text, offset, ",")
    raise json.JSONDecodeError(f"`{name}` is missing", text, offset)


#: libyaml's parser, if PyYAML was built with it: it is ten times as fast.
_Parser: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(Composer, SafeConstructor, Resolver):
    """A loader of PyYAML that composes one node at a time. Tags of other languages are ignored."""

    def __init__(self, stream: BinaryIO) -> None:
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        parser = _Parser(stream)
        self.check_event: Callable[..., bool] = parser.check_event
        self.get_event: Callable[[], Any] = parser.get_event
        self.peek_event: Callable[[], Any] = parser.peek_event

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
            key = _compose(loader)
            line = key.start_mark.line + 1
            if key.value in names and loader.check_event(yaml.SequenceStartEvent):
                loader.get_event()
                while not loader.check_event(yaml.SequenceEndEvent):
                    node = _compose(loader)
                    line = node.start_mark.line + 1
                    yield _construct(loader, node)
                return
            _compose(loader)
        yield ListedItem(line, None, missing, ends=True)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else line
        problem = f"the rest cannot be read: {_first_line(error)}"
        yield ListedItem(line, None, problem, ends=True)


def _construct(loader: _Loader, node: yaml.Node) -> ListedItem:
    line = node.start_mark.line + 1
    try:
        return ListedItem(line, loader.construct_document(node))
    except (yaml.YAMLError, ValueError, TypeError) as error:
        return ListedItem(line, None, f"it cannot be read: {_first_line(error)}")


def _compose(loader: _Loader) -> yaml.Node:
    node = loader.compose_node(None, 0)  # without resolving paths
    assert node is not None  # the parser raises if no event is left
    return node


def _first_line(error: Exception) -> str:
    return str(getattr(error, "problem", None) or error).partition("\n")[0]
