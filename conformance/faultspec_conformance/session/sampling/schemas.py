"""Schemas as sampling reads them: references followed, ``allOf`` merged, mistakes tolerated."""

from collections.abc import Mapping

from faultspec.openapi.nodes import Json, mapping, sequence
from faultspec.openapi.reader import resolve

#: Levels at which a recursive schema is cut. Bodies are not that deep in practice.
DEEPEST = 8


def merge_all_of(document: Json, schema: object, depth: int = 0) -> Json:
    """A schema with its reference followed and its ``allOf`` merged into it."""
    node = resolve(document, schema)
    parts = node.get("allOf")
    if not isinstance(parts, list) or depth > DEEPEST:
        return node
    result: dict[str, object] = {key: value for key, value in node.items() if key != "allOf"}
    for part in parts:
        inner = merge_all_of(document, part, depth + 1)
        properties = {**properties_of(inner), **properties_of(result)}
        required = [*required_names(result), *required_names(inner)]
        result = {**inner, **result}
        if properties:
            result["properties"] = properties
        if required:
            result["required"] = list(dict.fromkeys(required))
    return result


def kind(node: Json) -> str | None:
    """The first JSON type of a schema except null, or the type that its keywords imply."""
    types = types_of(node)
    if types:
        return next((name for name in types if name != "null"), "null")
    if "properties" in node or "additionalProperties" in node:
        return "object"
    return "array" if "items" in node else None


def example_of(node: Json) -> object:
    """The first example of a schema, or None."""
    if "example" in node:
        return node["example"]
    return next(iter(sequence(node.get("examples"))), None)


def types_of(node: Json) -> tuple[str, ...]:
    """The declared types."""
    declared = node.get("type")
    return (declared,) if isinstance(declared, str) else tuple(map(str, sequence(declared)))


def properties_of(node: Json) -> Mapping[str, object]:
    """The schemas of the members."""
    return mapping(node.get("properties"))


def required_names(node: Json) -> tuple[str, ...]:
    """The names of the required members."""
    return tuple(map(str, sequence(node.get("required"))))


def is_read_only(node: Json) -> bool:
    """Whether only the service sets the value, so that no request contains it."""
    return node.get("readOnly") is True
