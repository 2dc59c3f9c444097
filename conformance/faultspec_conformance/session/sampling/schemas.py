"""Schemas as sampling reads them: references followed, ``allOf`` merged, mistakes tolerated."""

from collections.abc import Mapping
from math import ceil, floor

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


def branches_of(document: Json, schema: object) -> tuple[Json, ...]:
    """The schemas that a value may choose from: those of ``anyOf`` or ``oneOf``, each merged into
    the rest of the schema; without them the schema itself.
    """
    node = merge_all_of(document, schema)
    branches = [*sequence(node.get("anyOf")), *sequence(node.get("oneOf"))]
    rest = {key: value for key, value in node.items() if key not in ("anyOf", "oneOf")}
    merged = (merge_all_of(document, {**rest, "allOf": [branch]}) for branch in branches)
    return tuple(merged) or (node,)


def only_branch(document: Json, schema: object) -> Json:
    """The one branch of a schema that is not null, as generators write optional members; the schema
    itself if it has several.
    """
    found = [node for node in branches_of(document, schema) if kind(node) != "null"]
    return found[0] if len(found) == 1 else merge_all_of(document, schema)


def allows_null(document: Json, schema: object) -> bool:
    """Whether the schema declares null: as a type, a branch or by ``nullable`` of OpenAPI 3.0."""
    return any(
        "null" in types_of(node) or node.get("nullable") is True
        for node in branches_of(document, schema)
    )


def last_within(node: Json, name: str) -> float | None:
    """The last number within ``minimum`` or ``maximum``; None if there is no bound.

    Bounds of whole numbers are rounded inwards. One step of 1 leads inwards from an exclusive
    bound, which OpenAPI 3.0 marks by true.
    """
    bound, exclusive = node.get(name), node.get(f"exclusive{name.capitalize()}")
    inward = -1 if name == "maximum" else 1
    last: float | None = None
    if isinstance(exclusive, int | float) and not isinstance(exclusive, bool):
        last = exclusive + inward
    elif isinstance(bound, int | float) and not isinstance(bound, bool):
        last = bound + inward if exclusive is True else bound
    if last is None or kind(node) != "integer":
        return last
    return floor(last) if name == "maximum" else ceil(last)


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


CLOSING = ("additionalProperties", "unevaluatedProperties")
"""The keywords that forbid members beside those of a schema."""


def closing_keyword(node: Json) -> str | None:
    """The keyword by which an object has no members beside those of its schema; None if it may."""
    if node.get("patternProperties"):
        return None
    return next((keyword for keyword in CLOSING if node.get(keyword) is False), None)


def required_names(node: Json) -> tuple[str, ...]:
    """The names of the required members."""
    return tuple(map(str, sequence(node.get("required"))))


def is_hidden(node: Json) -> bool:
    """Whether no answer has to show the value: it is only written, or a password."""
    return node.get("writeOnly") is True or node.get("format") == "password"


def is_read_only(node: Json) -> bool:
    """Whether only the service sets the value, so that no request contains it."""
    return node.get("readOnly") is True
