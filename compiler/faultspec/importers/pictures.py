"""The picture of a body that names no code: its members as slots, the message among them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Data, Json, subset
from faultspec.importers.naming import UniqueNames, slot_name
from faultspec.importers.rules import REPEATS_STATUS
from faultspec.language.formats import FORMATS
from faultspec.openapi.nodes import mapping
from faultspec.openapi.pointers import child

#: Members that hold the message, the likelier first.
MESSAGES = (
    "message",
    "msg",
    "error_message",
    "errorMessage",
    "Message",
    "detail",
    "error_description",
    "title",
    "description",
    "text",
    "reason",
    "error",
)

#: Keywords that say nothing of a value.
_ANNOTATIONS = frozenset(
    {
        "title",
        "example",
        "examples",
        "default",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "contentMediaType",
    }
)

#: Keywords that a schema may lose until the language can write it, the narrowest first.
_LOOSEST = (
    "anyOf",
    "allOf",
    "format",
    "pattern",
    "enum",
    *subset.BOUNDS,
    "items",
    "properties",
    "required",
    "additionalProperties",
    "type",
)

#: Objects in objects that are drawn; one below is a slot.
_DEEPEST = 4

_OUTSIDE = "the keyword is outside the subset of the language"

#: Keywords of a text that is not a sentence.
_NOT_PROSE = frozenset({"enum", "const", "format", "pattern"})

Lose = Callable[[str, str], object]
"""Takes the pointer of a keyword in the schema, and the reason why it is not carried."""


class Picture(NamedTuple):
    """An envelope without its code. ``details``: the schema of what is spread in its top."""

    shape: Any
    fields: Data
    additional: str
    details: Json | None = None


def draw_picture(schema: object, lose: Lose) -> Picture:
    """The picture of the bodies that a schema allows."""
    if not isinstance(schema, Mapping):
        return Picture("$body", {"body": {}}, "allow")
    if _is_map(schema):
        kept = {key: value for key, value in schema.items() if key not in _ANNOTATIONS}
        return Picture({"...": "$details"}, {}, "allow", kept)
    if schema.get("type") == "string" and _NOT_PROSE.isdisjoint(schema):
        return Picture("$message", {}, "warn")
    drawing = _Drawing(message_place(schema), lose)
    shape = drawing.node("body", schema, "", ())
    closed = schema.get("additionalProperties", True)
    additional = "forbid" if closed is False else "warn" if closed is True else "allow"
    return Picture(shape, drawing.fields, additional)


def _is_map(schema: Json) -> bool:
    """Whether a schema is of an object whose members have no names."""
    values = schema.get("additionalProperties")
    return _is_object(schema) and not schema.get("properties") and isinstance(values, Mapping)


def _is_object(schema: Json) -> bool:
    return bool(schema.get("type", "object" if "properties" in schema else None) == "object")


class _Drawing:
    """The picture as far as it is drawn. ``message``: the steps to the message."""

    def __init__(self, message: tuple[str, ...] | None, lose: Lose) -> None:
        self.message = message
        self.lose = lose
        self.fields: Data = {}
        self.names = UniqueNames(("code", "details"))

    def node(self, name: str, schema: object, pointer: str, path: tuple[str, ...]) -> Any:
        """The picture of one member. ``path``: the steps to it."""
        if not isinstance(schema, Mapping):
            return self._slot(name, {}, pointer)
        if path and path == self.message:
            data = nearest(schema, pointer, self.lose)
            if data != {"type": "string"}:
                self.fields["message"] = data
            return "$message"
        if REPEATS_STATUS in schema:
            if schema["type"] != "integer":
                self.fields["status"] = {"type": schema["type"]}
            return "$status"
        constant = schema.get("const")
        if "const" in schema and not isinstance(constant, dict | list | None):
            return constant.replace("$", "$$") if isinstance(constant, str) else constant
        if _is_object(schema) and mapping(schema.get("properties")) and len(path) < _DEEPEST:
            return self._object(schema, pointer, path)
        around = self.message is not None and self.message[: len(path) + 1] == (*path, "*")
        if around and schema.get("type") == "array":
            self.lose(pointer, "an empty list does not fit; the picture has one item or more")
            items = schema.get("items", {})
            return [self.node(name, items, child(pointer, "items"), (*path, "*"))]
        return self._slot(name, schema, pointer)

    def _object(self, schema: Json, pointer: str, path: tuple[str, ...]) -> Data:
        required = schema.get("required")
        required = required if isinstance(required, list) else []
        shape: Data = {}
        if isinstance(beside := schema.get("additionalProperties"), Mapping) and beside:
            place = child(pointer, "additionalProperties")
            self.lose(place, "members beside the named ones have any values")
        place = child(pointer, "properties")
        for name, member in schema["properties"].items():
            if name.endswith("?") or name == "...":
                self.lose(child(place, name), "a picture cannot have a member of this name")
                continue
            key = name if name in required else f"{name}?"
            shape[key] = self.node(name, member, child(place, name), (*path, name))
        return shape

    def _slot(self, name: str, schema: Json, pointer: str) -> str:
        slot = self.names.reserve(slot_name(name))
        self.fields[slot] = nearest(schema, pointer, self.lose)
        return f"${slot}"


def nearest(schema: object, pointer: str, lose: Lose) -> Data:
    """The schema as the language writes it, without the keywords that it cannot write."""
    return subset.value(_nearest_json(schema, pointer, lose)) or {}


def _nearest_json(schema: object, pointer: str, lose: Lose) -> Data:
    """The schema as JSON Schema that the language can write."""
    found = _plain(schema, pointer, lose)
    for keyword in _LOOSEST:
        if subset.value(found) is not None:
            return found
        if found.pop(keyword, None) is not None:
            lose(child(pointer, keyword), _OUTSIDE)
    return found if subset.value(found) is not None else {}


def _plain(schema: object, pointer: str, lose: Lose) -> Data:
    """The schema without annotations and unknown keywords, its parts in the subset."""
    if not isinstance(schema, Mapping):
        return {}
    found: Data = {}
    for key, value in schema.items():
        place = child(pointer, key)
        match key:
            case "properties" if isinstance(value, Mapping):
                found[key] = {
                    name: _nearest_json(member, child(place, name), lose)
                    for name, member in value.items()
                }
            case "items":
                found[key] = _nearest_json(value, place, lose)
            case "anyOf" | "oneOf" if isinstance(value, list) and value:
                found |= _fold_alternatives(value, place, lose)
            case "const" if not isinstance(value, dict | list):
                found["enum"] = [value]
            case "additionalProperties" if not isinstance(value, bool):
                lose(place, "the values of a map are any values")
            case "format" if not isinstance(value, str) or value not in FORMATS:
                pass  # an annotation: no validator knows it
            case _ if key in subset.KNOWN:
                found[key] = value
            case _ if key not in _ANNOTATIONS:
                lose(place, _OUTSIDE)
    return found


def _fold_alternatives(branches: Sequence[object], pointer: str, lose: Lose) -> Data:
    """Alternatives as one schema: that of the only one beside ``null``, or their types."""
    plain = [_plain(branch, child(pointer, index), lose) for index, branch in enumerate(branches)]
    others = [branch for branch in plain if branch != {"type": "null"}]
    types = list(dict.fromkeys(name for branch in plain for name in _types(branch)))
    if not all(map(_types, plain)):
        types = []
    if len(others) != 1 and any(branch.keys() != {"type"} for branch in plain):
        lose(pointer, "of these alternatives only the types are kept")
    folded = others[0] if len(others) == 1 else {}
    return {**folded, "type": types} if types else folded


def _types(schema: Json) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else [name for name in types if isinstance(name, str)]


def message_place(schema: Json) -> tuple[str, ...] | None:
    """The steps to the member with the message, with ``*`` for the items of a list."""

    def order(path: tuple[str, ...]) -> tuple[int, int, int]:
        return path.count("*"), MESSAGES.index(path[-1]), len(path)

    return min(_texts_called_message(schema, ()), key=order, default=None)


def _texts_called_message(schema: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not isinstance(schema, Mapping) or len(path) >= _DEEPEST:
        return
    if path and path[-1] in MESSAGES and schema.get("type") == "string":
        if not schema.keys() & {"enum", "const"}:
            yield path
    elif _is_object(schema) and isinstance(schema.get("properties"), Mapping):
        for name, member in schema["properties"].items():
            yield from _texts_called_message(member, (*path, name))
    elif schema.get("type") == "array" and "*" not in path:
        yield from _texts_called_message(schema.get("items"), (*path, "*"))
