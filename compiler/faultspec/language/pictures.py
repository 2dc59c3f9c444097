"""Pictures of the wire as the YAML has them: the slots, parameters and envelopes that they name."""

import json
import re
from collections.abc import Collection, Iterator, Mapping

from faultspec.language.grammar import Path
from faultspec.runtime import shape
from faultspec.runtime.nodes import Node, Object, child

_SLOT = re.compile(r"\$\{?([a-z_][a-z0-9_]*)")
_PARAMETER = re.compile(r"\$\$|\$\{([a-z_][a-z0-9_.]*)\}|\$([a-z_][a-z0-9_]*)")


def _texts(picture: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(picture, dict):
        for key, value in picture.items():
            yield from _texts(value, (*path, key))
    elif isinstance(picture, list):
        for index, value in enumerate(picture):
            yield from _texts(value, (*path, index))
    elif isinstance(picture, str):
        yield path, picture


def slots_in(picture: object) -> set[str]:
    """The slots named anywhere in a picture, which may be invalid."""
    return {slot for _, text in _texts(picture, ()) for slot in _SLOT.findall(text)}


def find_slot(slot: str, picture: object, path: Path) -> Path:
    """The path of the first text that names a slot; `path` is that of the picture."""
    places = (place for place, text in _texts(picture, path) if slot in _SLOT.findall(text))
    return next(places, path)


def find_parameters(picture: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Every parameter of a rendering's picture, with the path of its text."""
    for place, text in _texts(picture, path):
        for braced, plain in _PARAMETER.findall(text):
            if braced or plain:
                yield place, braced or plain


#: A parameter of a message; the first alternative is a dollar.
_MESSAGE_PARAMETER = re.compile(r"\$\$|\$\{([^}]*)\}")


def message_parameters(message: str | None) -> tuple[str, ...]:
    """The details that the message of a code contains, each once, in order. `$$` is a dollar, so
    that `$${key}` names none.
    """
    matches = _MESSAGE_PARAMETER.finditer(message or "")
    return tuple(dict.fromkeys(match[1] for match in matches if match[1] is not None))


def has_unclosed_parameter(message: str | None) -> bool:
    """Whether a message has a `${` without a `}`, which generated code would show as it is."""
    return "${" in _MESSAGE_PARAMETER.sub("", message or "")


def fill_message(message: str, details: Mapping[str, object]) -> str:
    """The message of a code with the values of its details. An unknown parameter stays."""

    def value(match: re.Match[str]) -> str:
        found = "$" if match[1] is None else details.get(match[1], match[0])
        if isinstance(found, str):
            return found
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"))

    return _MESSAGE_PARAMETER.sub(value, message)


def used_envelopes(picture: object) -> Iterator[str]:
    """The envelopes that a picture includes by `use`."""
    if isinstance(picture, dict):
        if isinstance(picture.get("use"), str):
            yield picture["use"]
        for value in picture.values():
            yield from used_envelopes(value)
    elif isinstance(picture, list):
        for value in picture:
            yield from used_envelopes(value)


def value_at(picture: object, path: shape.Path) -> object:
    """The part of a picture at a path that the shape compiler gave."""
    for step in path:
        picture = picture[step]  # type: ignore[index]  # the path exists
    return picture


def without_members(node: Node, pointers: Collection[str], path: str = "") -> Node:
    """A shape without the members at these pointers."""
    if not pointers or not isinstance(node, Object):
        return node
    members = tuple(
        member._replace(node=without_members(member.node, pointers, child(path, member.name)))
        for member in node.members
        if child(path, member.name) not in pointers
    )
    return node._replace(members=members)
