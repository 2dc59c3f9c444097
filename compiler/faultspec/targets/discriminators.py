"""The marks that distinguish an error on a surface from a success, as JSON Schema.

An answer is an error if a member is present, if members have their values, or, for an MCP tool, if
``isError`` is set (``faultspec.judge``). A mark is one of these: the values at some pointers (RFC
6901) together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from faultspec.language.model import Code, Surface
from faultspec.runtime.nodes import Array, Node, Object, slot_places
from faultspec.runtime.pointers import steps
from faultspec.targets.constants import constant_schema

Json = dict[str, Any]
Mark = Mapping[str, Json]
"""The schema of the value at each pointer."""

IS_ERROR: Mark = {"/isError": constant_schema(True)}
"""The mark of a tool result (Model Context Protocol 2025-06-18, CallToolResult)."""

_LAST = 99
"""The last index of a list that a pointer is followed to; each before it costs an item of the
schema.
"""


def surface_marks(surface: Surface) -> tuple[Mark, ...]:
    """The marks of ``error_when``, each of which makes an error."""
    present: tuple[Mark, ...] = (
        () if surface.error_pointer is None else ({surface.error_pointer: {}},)
    )
    equal = {pointer: constant_schema(value) for pointer, value in surface.error_equals.items()}
    return (*present, equal) if equal else present


def error_flags(code: Code | None) -> tuple[bool, ...]:
    """The values that ``isError`` may have with this code; both for an undeclared code, or one that
    leaves it open.
    """
    if code is None or code.mcp is None:
        return (True, False)
    return tuple(
        dict.fromkeys(each for each in (code.mcp.is_error, code.mcp.strict) if each is not None)
    )


def relative_mark(mark: Mark, place: str) -> Mark | None:
    """The mark relative to ``place``; None if a part of it lies elsewhere."""
    if not all(f"{pointer}/".startswith(f"{place}/") for pointer in mark):
        return None
    return {pointer.removeprefix(place): value for pointer, value in mark.items()}


def mark_schema(mark: Mark) -> Json:
    """The schema of values that have the mark."""
    parts = [schema_at(steps(pointer), value) for pointer, value in mark.items()]
    return parts[0] if len(parts) == 1 else {"allOf": parts}


def implies_mark(schema: Json, mark: Mark) -> bool:
    """Whether every value that the schema accepts has the mark."""
    return all(_implies(schema, steps(pointer), value) for pointer, value in mark.items())


def _implies(schema: Json, keys: Sequence[str], value: Json) -> bool:
    if not keys:
        return not value or schema == value
    if keys[0] == "0" and schema.get("minItems", 0) > 0:
        return _implies(schema["items"], keys[1:], value)
    return keys[0] in schema.get("required", ()) and _implies(
        schema.get("properties", {})[keys[0]], keys[1:], value
    )


def add_marks(schema: Json, marks: Sequence[Mark]) -> Json:
    """The schema of an error with one of the marks; unchanged without marks, or if it implies
    one.
    """
    if not marks or any(implies_mark(schema, each) for each in marks):
        return schema
    if len(marks) > 1:
        return {"allOf": [schema, {"anyOf": [mark_schema(each) for each in marks]}]}
    for pointer, value in marks[0].items():
        schema = add_member(schema, pointer, value)
    return schema


def add_member(schema: Json, pointer: str, value: Json, *, there: bool = True) -> Json:
    """The schema, with ``value`` as an additional schema at ``pointer``; ``there``: a value is
    required.
    """
    keys = steps(pointer)
    if len(keys) == 1 and not _is_index(keys[0]) and keys[0] not in schema.get("properties", {}):
        return {
            **schema,
            "type": "object",
            "properties": {**schema.get("properties", {}), keys[0]: value},
            **({"required": [*schema.get("required", ()), keys[0]]} if there else {}),
        }
    return {"allOf": [schema, schema_at(keys, value, there=there)]}


def schema_with_members(*names: str) -> Json:
    """The schema of objects that have all of the members."""
    return {"type": "object", "properties": {name: {} for name in names}, "required": list(names)}


def schema_at(keys: Sequence[str], schema: Json, *, there: bool = True) -> Json:
    """The schema with ``schema`` at a pointer, through objects and lists; ``there``: a value is
    required.
    """
    for key in reversed(keys):
        inner: Json = {"properties": {key: schema}}
        named = {"type": "object", "required": [key], **inner} if there else inner
        if not _is_index(key):
            schema = named
            continue
        # The same step is a member of an object and an item of a list.
        item: Json = {"prefixItems": [*[{}] * int(key), schema]}
        counted = {"type": "array", "minItems": int(key) + 1, **item} if there else item
        schema = {"anyOf": [named, counted]} if there else {"allOf": [named, counted]}
    return schema


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) < 10 and int(key) <= _LAST


def coded_shape_schema(shape: Node, codes: Mapping[Node, Json]) -> Json:
    """The schema of a shape with a code in its place; ``codes``: the schema of each node that has
    the code.
    """
    if shape in codes:
        return codes[shape]
    if isinstance(shape, Array):
        return {"type": "array", "contains": coded_shape_schema(shape.item, codes)}
    assert isinstance(shape, Object)  # or it would have no place for the code
    places = [
        schema_at([each.name], coded_shape_schema(each.node, codes))
        for each in shape.members
        if "code" in slot_places(each.node)
    ]
    return places[0] if len(places) == 1 else {"anyOf": places}
