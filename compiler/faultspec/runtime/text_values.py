# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""Values of formats that have only texts, such as XML and forms, as JSON's types."""

import re
from collections.abc import Mapping

from .checking import Check
from .nodes import Array, Literal, Node, Object, Slot, json_text

ANY = Check()
NO_TYPES: Mapping[str, Check] = {}

_INTEGER = re.compile(r"-?\d{1,300}", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,3})?", re.ASCII)


def fit(node: Node, value: object, types: Mapping[str, Check] = NO_TYPES) -> object:
    """A value of texts as the shape has it: a text becomes the constant whose JSON text
    it is, one element a list of one, an empty element an empty object, and the value of
    a slot what its type says. What does not fit stays as it is.
    """
    match node:
        case Slot(name=name):
            return convert_text(value, types.get(name, ANY))
        case Literal(value=constant) if value == json_text(constant):
            return constant if not isinstance(constant, str) else value
        case Array(item=item):
            items = value if isinstance(value, list) else [value]
            return [fit(item, each, types) for each in items]
        case Object():
            return _fit_object(node, value, types)
    return value


def convert_text(value: object, type_: Check) -> object:
    """A text as the number, boolean, list or object that its type says; itself if it is
    none.
    """
    if "array" in type_.types and not isinstance(value, list):
        value = [] if value == "" else [value]
    if isinstance(value, list):
        item = type_.items or (ANY if "array" in type_.types else type_)
        return [convert_text(each, item) for each in value]
    if value == "" and "object" in type_.types and "string" not in type_.types:
        return {}
    if isinstance(value, Mapping):
        return {
            name: convert_text(each, type_.members.get(name, ANY))
            for name, each in value.items()
        }
    return _scalar(value, type_) if isinstance(value, str) else value


def _fit_object(node: Object, value: object, types: Mapping[str, Check]) -> object:
    if isinstance(value, str):
        has_text = any(member.name == "#text" for member in node.members)
        value = {"#text": value} if has_text else {} if not value.strip() else value
    if not isinstance(value, Mapping):
        return value
    shapes = {member.name: member.node for member in node.members}
    spread = types.get(node.spread or "", ANY)
    return {
        name: fit(shapes[name], each, types)
        if name in shapes
        else convert_text(each, spread.members.get(name, ANY))
        for name, each in value.items()
    }


def _scalar(text: str, type_: Check) -> object:
    types = type_.types
    plain = text.strip()
    if not types or "string" in types:
        return text
    if "boolean" in types and plain in ("true", "false"):
        return plain == "true"
    if ("integer" in types or "number" in types) and _INTEGER.fullmatch(plain):
        return int(plain)
    if "number" in types and _NUMBER.fullmatch(plain):
        return float(plain)
    return None if "null" in types and plain in ("", "null") else text
