"""Whether a value obeys its schema, as far as types, lengths, patterns, ranges and choices say."""

from faultspec.openapi.nodes import Json, sequence
from faultspec_conformance.session.sampling.schemas import (
    DEEPEST,
    branches_of,
    kind,
    properties_of,
)
from faultspec_conformance.session.sampling.values import fits_text, is_in_range

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
}


def invalid_members(
    document: Json, schema: object, value: object, path: tuple[str | int, ...] = ()
) -> list[tuple[str | int, ...]]:
    """The paths of the values in a value that no branch of their schema allows."""
    if value is None or len(path) > DEEPEST:
        return []  # whether null is allowed is written in several ways
    found: list[list[tuple[str | int, ...]]] = []
    for node in branches_of(document, schema):
        found.append(
            [path] if not _obeys(node, value) else _invalid_inside(document, node, value, path)
        )
        if not found[-1]:
            return []
    return found[0] if found else []


def _invalid_inside(
    document: Json, node: Json, value: object, path: tuple[str | int, ...]
) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict):
        members = properties_of(node)
        return [
            wrong
            for name, inner in value.items()
            if name in members
            for wrong in invalid_members(document, members[name], inner, (*path, name))
        ]
    items = value if isinstance(value, list) else []
    return [
        wrong
        for index, item in enumerate(items)
        for wrong in invalid_members(document, node.get("items", {}), item, (*path, index))
    ]


def _obeys(node: Json, value: object) -> bool:
    """Whether a value has the type, the choice, the length, the pattern and the range of a schema
    without branches.
    """
    expected = _TYPES.get(kind(node) or "")
    if expected is not None and not isinstance(value, expected):
        return False
    if "enum" in node:
        return value in sequence(node["enum"])
    if isinstance(value, str):
        return fits_text(node, value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return is_in_range(node, value)
    return True
