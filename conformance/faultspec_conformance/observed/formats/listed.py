"""The items of one list in a large JSON or YAML document, one after another, each with its line."""

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
    """An item and the line it begins in; or in ``problem`` why it cannot be read, and, where it ``ends``, nothing after it."""

    line: int
    value: object
    problem: str | None = None
    ends: bool = False


def of_json(text: str, *names: str) -> Iterator[ListedItem]:
    """The items of the list that is reached by these keys. Nothing but one item at a time is decoded."""
    line, counted = 1, 0

    def at(offset: int) -> int:
        nonlocal line, counted
        line, counted = line + text.count("\n", counted, offset), offset
        return line

    offset = 0
    try:
        offset = _past(text, 0)
        for name in names:
            offset = _member(text, offset, name)
        offset = _expect(text, offset, "[")
        while text[offset : offset + 1] != "]":
            value, end = _DECODE(text, offset)
            yield ListedItem(at(offset), value)
            offset = _past(text, end)
            if text[offset : offset + 1] != "]":
                offset = _expect(text, offset, ",")
    except (ValueError, RecursionError) as error:
        reason = (
            f"{error.msg} (column {error.colno})"
            if isinstance(error, json.JSONDecodeError)
            else str(error)
        )
        place = error.pos if isinstance(error, json.JSONDecodeError) else offset
        yield ListedItem(
            at(max(place, counted)), None, f"from here on it cannot be read: {reason}", ends=True
        )


def _past(text: str, offset: int) -> int:
    found = _SPACE.match(text, offset)
    return found.end() if found else offset


def _expect(text: str, offset: int, sign: str) -> int:
    if text[offset : offset + 1] != sign:
        raise json.JSONDecodeError(f"Expecting '{sign}'", text, offset)
    return _past(text, offset + 1)


def _member(text: str, offset: int, name: str) -> int:
    """Where the value of a member begins."""
    offset = _expect(text, offset, "{")
    while text[offset : offset + 1] != "}":
        key, end = _DECODE(text, offset)
        offset = _expect(text, _past(text, end), ":")
        if key == name:
            return offset
        offset = _past(text, _DECODE(text, offset)[1])
        if text[offset : offset + 1] != "}":
            offset = _expect(text, offset, ",")
    raise json.JSONDecodeError(f"There is no `{name}`", text, offset)


_Parser: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where PyYAML was built with it, which reads ten times as fast."""


class _Loader(Composer, SafeConstructor, Resolver):
    """What PyYAML's loaders are, made of the parser's events one node at a time; tags of other languages are read through."""

    def __init__(self, stream: BinaryIO) -> None:
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        parser = _Parser(stream)
        self.check_event: Callable[..., bool] = parser.check_event
        self.get_event: Callable[[], Any] = parser.get_event
        self.peek_event: Callable[[], Any] = parser.peek_event

    def through(self, _: str, node: yaml.Node) -> object:
        """A node without its tag."""
        match node:
            case yaml.MappingNode():
                return self.construct_mapping(node, deep=True)
            case yaml.SequenceNode():
                return self.construct_sequence(node, deep=True)
            case _:
                return self.construct_scalar(node)  # type: ignore[arg-type]  # the third kind of node there is


_Loader.add_multi_constructor("", _Loader.through)
_Loader.add_constructor("!binary", _Loader.construct_yaml_binary)  # type: ignore[type-var]  # as Ruby's Psych writes it
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_str)  # type: ignore[type-var]  # its stub wants itself


def of_yaml(stream: BinaryIO, *names: str) -> Iterator[ListedItem]:
    """The items of the list under the first of these keys at the top, as they are parsed: no more than one is held."""
    loader, line = _Loader(stream), 1
    try:
        while not loader.check_event(yaml.MappingStartEvent):
            if loader.check_event(yaml.StreamEndEvent):
                yield ListedItem(1, None, f"it has no `{names[0]}`", ends=True)
                return
            loader.get_event()
        loader.get_event()
        while not loader.check_event(yaml.MappingEndEvent):
            key = _composed(loader)
            line = key.start_mark.line + 1
            if key.value not in names or not loader.check_event(yaml.SequenceStartEvent):
                _composed(loader)
                continue
            loader.get_event()
            while not loader.check_event(yaml.SequenceEndEvent):
                node = _composed(loader)
                line = node.start_mark.line + 1
                try:
                    yield ListedItem(line, loader.construct_document(node))
                except (yaml.YAMLError, ValueError, TypeError) as error:
                    yield ListedItem(line, None, f"it cannot be read: {_first_line(error)}")
            return
        yield ListedItem(line, None, f"it has no `{names[0]}`", ends=True)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else line
        yield ListedItem(
            line, None, f"from here on it cannot be read: {_first_line(error)}", ends=True
        )


def _composed(loader: _Loader) -> yaml.Node:
    node = loader.compose_node(None, 0)  # None and 0: no path of PyYAML's own is resolved here
    assert node is not None  # there is an event, or the parser has raised
    return node


def _first_line(error: Exception) -> str:
    return str(getattr(error, "problem", None) or error).partition("\n")[0]
