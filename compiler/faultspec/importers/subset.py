"""JSON Schema in the language's closed subset: the way back from what the targets write.

A schema is carried over only where the subset says the same; for any other the answer is None, and the caller keeps it
as it is (``schema:`` of a code) or reports it.
"""

from collections.abc import Mapping
from typing import Any

from faultspec.importers import Json
from faultspec.language.formats import FORMATS
from faultspec.language.scope import expression_problem, repeated_repetition
from faultspec.runtime import ids

Data = dict[str, Any]

_IDENTIFIERS = {pattern: name for name, pattern in reversed(list(ids.PATTERNS.items()))}

_STRING = frozenset({"string"})
_NUMBER = frozenset({"number", "integer"})
#: What a keyword needs, and the types that it says something of (JSON Schema 2020-12 validation, section 6).
_BOUNDS: Mapping[str, frozenset[str]] = {
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "minLength": _STRING,
    "maxLength": _STRING,
}
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}
_KNOWN = frozenset(
    {
        "type",
        "description",
        "format",
        "pattern",
        "anyOf",
        "allOf",
        "enum",
        "items",
        "properties",
        "required",
    }
    | {"additionalProperties", *_BOUNDS}
)


def value(schema: object) -> Data | None:
    """The schema as the language writes it, or None where it can't say the same."""
    if schema is True:
        return {}
    if not isinstance(schema, Mapping) or not schema.keys() <= _KNOWN:
        return None
    found: Data = {}
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if (
        not isinstance(types, list)
        or len(set(map(str, types))) < len(types)
        or any(e not in _TYPES for e in types)
    ):
        return None
    if types:
        found["type"] = types[0] if len(types) == 1 else types
    if isinstance(schema.get("description"), str) and schema["description"].strip():
        found["description"] = schema["description"]
    texts = _texts(schema, types)
    bounds = _bounds(schema, types)
    inner = _inner(schema, types)
    if texts is None or bounds is None or inner is None:
        return None
    found |= texts
    if "enum" in schema:
        listed = schema["enum"]
        if (
            not isinstance(listed, list)
            or not listed
            or not all(_listable(each, types) for each in listed)
        ):
            return None
        if any(each == other for index, each in enumerate(listed) for other in listed[:index]):
            return None
        if len(found.keys() - {"type", "description"}) + len(bounds):
            return None  # the language holds every value to the other keywords; which of them it would refuse is not asked
        found["enum"] = listed
    return {**found, **bounds, **inner}


def _listable(item: object, types: list[str]) -> bool:
    if isinstance(item, dict | list):
        return False
    kinds = tuple(types) or ("string", "number", "boolean", "null")
    if isinstance(item, bool):
        return "boolean" in kinds
    return any(kind != "boolean" and isinstance(item, _TYPES[kind]) for kind in kinds)


def _fits(types: list[str], wanted: frozenset[str]) -> bool:
    return not types or bool(wanted & set(types))


def _texts(schema: Json, types: list[str]) -> Data | None:
    """``pattern``, ``format``, and the lists that formats become."""
    if not schema.keys() & {"pattern", "format", "anyOf", "allOf"}:
        return {}
    if not _fits(types, _STRING):
        return None
    formats: list[str] = []
    patterns: list[object] = []
    alternatives = schema.get("anyOf", [])
    if not isinstance(alternatives, list) or ("anyOf" in schema and len(alternatives) < 2):
        return None
    for each in [
        *alternatives,
        *({key: schema[key]} for key in ("format", "pattern") if key in schema),
    ]:
        match each:
            case {"pattern": str(pattern), **rest} if not rest and pattern in _IDENTIFIERS:
                formats.append(_IDENTIFIERS[pattern])
            case {"format": str(name), **rest} if (
                not rest and name in FORMATS and name not in ids.PATTERNS
            ):
                formats.append(name)
            case {"pattern": pattern} if each not in alternatives:
                patterns.append(pattern)
            case _:
                return None
    if "allOf" in schema:
        match schema["allOf"]:
            case [{"pattern": pattern, **rest}] if not rest:
                patterns.append(pattern)
            case _:
                return None
    if len(patterns) > 1 or (alternatives and "format" in schema):
        return None
    if not all(isinstance(each, str) and usable(each) for each in patterns):
        return None
    return {
        **({"format": formats[0] if len(formats) == 1 else formats} if formats else {}),
        **({"pattern": patterns[0]} if patterns else {}),
    }


def usable(pattern: str) -> bool:
    """Whether the language takes a regular expression: one that can be read, says something, and comes to an end."""
    return (
        bool(pattern.strip())
        and expression_problem(pattern) is None
        and repeated_repetition(pattern) is None
    )


def _bounds(schema: Json, types: list[str]) -> Data | None:
    found = {key: schema[key] for key in _BOUNDS if key in schema}
    for key, limit in found.items():
        whole = key.endswith("Length")
        if (
            isinstance(limit, bool)
            or not isinstance(limit, int if whole else int | float)
            or (whole and limit < 0)
        ):
            return None
        if not _fits(types, _BOUNDS[key]):
            return None
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength")):
        if low in found and high in found and found[low] > found[high]:
            return None
    return found


def _inner(schema: Json, types: list[str]) -> Data | None:
    """What an array and an object hold."""
    found: Data = {}
    if "items" in schema:
        items = value(schema["items"])
        if items is None or not _fits(types, frozenset({"array"})):
            return None
        found["items"] = items
    if schema.keys() & {"properties", "required", "additionalProperties"}:
        if not _fits(types, frozenset({"object"})):
            return None
        inside = members(schema)
        if inside is None:
            return None
        if inside:
            found["properties"] = inside
        match schema.get("additionalProperties", True):
            case False:
                found["additional"] = "forbid"
            case True:
                pass
            case _:
                return None
    return found


def members(schema: Json) -> Data | None:
    """``properties`` and ``required`` as the language writes members: ``{name?: …}``."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return None
    if any(not isinstance(each, str) or each not in properties for each in required):
        return None
    if len({name.casefold() for name in properties}) < len(properties):
        return None  # the language takes names that differ by case for a slip of the pen
    found: Data = {}
    for name, each in properties.items():
        inside = value(each)
        if inside is None or name.endswith("?"):
            return None
        found[name if name in required else f"{name}?"] = inside
    return found
