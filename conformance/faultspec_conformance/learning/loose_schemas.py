"""Documented schemas of errors that leave open what the answers of their service show."""

from collections.abc import Mapping, Sequence

from faultspec.importers.families import join_all_of
from faultspec.openapi.nodes import Json, mapping
from faultspec.openapi.reader import resolve

#: Keywords that list values or alternatives. A schema with one of them says more than answers do.
_PRECISE = frozenset({"enum", "const", "oneOf", "anyOf"})

#: Levels of a schema that are read. Envelopes nest their code at most two objects deep.
_DEEPEST = 4


def is_loose(document: Json, schema: object, body: object) -> bool:
    """Whether a schema does not name each member of a body, and lists no values either."""
    return not (_is_precise(document, schema) or _names_members(document, schema, body))


def is_described(document: Json, schema: object, body: object) -> bool:
    """Whether a schema names each member of a body, and lists no values."""
    return _names_members(document, schema, body) and not _is_precise(document, schema)


def is_looser(document: Json, schema: object, body: object) -> bool:
    """Whether a schema is loose, and a body without some of its members could fit it."""
    return is_loose(document, schema, body) and _is_part(document, schema, body)


def is_required(document: Json, schema: object, steps: Sequence[str]) -> bool:
    """Whether bodies of a schema always have a value at these steps; a list has a first item."""
    if not steps:
        return True
    found = _read(document, schema)
    if "items" in found:
        return is_required(document, found["items"], steps[1:])
    member = mapping(found.get("properties")).get(steps[0])
    return steps[0] in found.get("required", ()) and is_required(document, member, steps[1:])


def _is_precise(document: Json, schema: object, levels: int = _DEEPEST) -> bool:
    if levels == 0:
        return False
    found = _read(document, schema)
    if found.keys() & _PRECISE:
        return True
    inner = [*mapping(found.get("properties")).values(), found.get("items")]
    return any(_is_precise(document, each, levels - 1) for each in inner)


def _names_members(document: Json, schema: object, body: object, levels: int = _DEEPEST) -> bool:
    if levels == 0:
        return True
    found = _read(document, schema)
    match body:
        case Mapping():
            members = mapping(found.get("properties"))
            return all(
                key in members and _names_members(document, members[key], value, levels - 1)
                for key, value in body.items()
            )
        case [first, *_]:
            return _names_members(document, found.get("items"), first, levels - 1)
    return True


def _is_part(document: Json, schema: object, body: object, levels: int = _DEEPEST) -> bool:
    """Whether each member of a schema is one of the body, objects and lists where it has them."""
    if levels == 0:
        return True
    found = _read(document, schema)
    match body:
        case Mapping():
            members = mapping(found.get("properties"))
            return _allows(found, "object") and all(
                key in body and _is_part(document, member, body[key], levels - 1)
                for key, member in members.items()
            )
        case list():
            items = found.get("items")
            return _allows(found, "array") and all(
                _is_part(document, items, each, levels - 1) for each in body[:1]
            )
    return not (_allows(found, "object") or _allows(found, "array")) or "type" not in found


def _allows(schema: Json, kind: str) -> bool:
    kinds = schema.get("type", kind)
    return kind in kinds if isinstance(kinds, list) else kind == kinds


def _read(document: Json, schema: object, levels: int = _DEEPEST) -> Json:
    """The schema without references, and an `allOf` of objects as one."""
    found = resolve(document, schema)
    parts = found.get("allOf")
    if isinstance(parts, list) and levels:
        found = {**found, "allOf": [_read(document, part, levels - 1) for part in parts]}
    return join_all_of(found)
