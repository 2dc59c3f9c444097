"""JSON Schema in the closed subset of the language: the inverse of what the targets write.

A schema is carried over only if the subset says the same. Otherwise the result is None, and the
caller keeps the schema as it is (``schema:`` of a code) or reports it.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from faultspec.exchange.expressions import slowness
from faultspec.importers import Data, Json
from faultspec.language.formats import FORMATS
from faultspec.language.schemas import CONSTRAINED
from faultspec.language.values import is_type
from faultspec.openapi.schemas import merge_typed_branches
from faultspec.runtime import ids

_IDENTIFIERS = {pattern: name for name, pattern in reversed(list(ids.PATTERNS.items()))}

_RANGES = (("minimum", "maximum"), ("minLength", "maxLength"))
BOUNDS = ("minimum", "maximum", "minLength", "maxLength")
_SCALARS = ("string", "number", "boolean", "null")
_TYPES = frozenset({*_SCALARS, "integer", "object", "array"})
_TEXT_KEYWORDS = frozenset({"format", "pattern", "anyOf", "allOf"})
_MEMBER_KEYWORDS = frozenset({"properties", "required", "additionalProperties"})
KNOWN = _TEXT_KEYWORDS | _MEMBER_KEYWORDS | {*BOUNDS, "type", "description", "enum", "items"}

#: Keywords, and the types that they constrain.
_CONSTRAINED: Mapping[str, frozenset[str]] = {
    **CONSTRAINED,
    **dict.fromkeys(_TEXT_KEYWORDS, frozenset({"string"})),
    **dict.fromkeys(_MEMBER_KEYWORDS, frozenset({"object"})),
}


def value(schema: object) -> Data | None:
    """The schema as the language writes it, or None if the language cannot say the same."""
    if schema is True:
        return {}
    if not isinstance(schema, Mapping) or not schema.keys() <= KNOWN:
        return None
    schema = merge_typed_branches(schema)
    types = _types(schema)
    if types is None:
        return None
    constrained = [_CONSTRAINED[key] for key in schema if key in _CONSTRAINED]
    if types and any(kinds.isdisjoint(types) for kinds in constrained):
        return None
    texts, bounds, inner = _texts(schema), _bounds(schema), _inner(schema)
    if texts is None or bounds is None or inner is None:
        return None
    found: Data = {}
    if types:
        found["type"] = types[0] if len(types) == 1 else types
    if isinstance(schema.get("description"), str) and schema["description"].strip():
        found["description"] = schema["description"]
    if "enum" in schema:
        # The language requires that every listed value has the other keywords, so there are none
        # beside a list.
        if texts or bounds or not _is_list_of_values(schema["enum"], types or _SCALARS):
            return None
        inner = {"enum": schema["enum"], **inner}
    return {**found, **texts, **bounds, **inner}


def _types(schema: Json) -> list[Any] | None:
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if not isinstance(types, list) or len(set(map(str, types))) < len(types):
        return None
    return types if all(isinstance(name, str) and name in _TYPES for name in types) else None


def _is_list_of_values(listed: object, types: Sequence[str]) -> bool:
    """Whether an ``enum`` lists different scalars of the types."""
    if not isinstance(listed, list) or not listed:
        return False
    if any(item == other for item, other in combinations(listed, 2)):
        return False
    return all(
        not isinstance(item, dict | list) and any(is_type(item, name) for name in types)
        for item in listed
    )


def _texts(schema: Json) -> Data | None:
    """``format`` and ``pattern``.

    The targets write several formats as ``anyOf``, ids as their patterns.
    """
    if not schema.keys() & _TEXT_KEYWORDS:
        return {}
    alternatives = schema.get("anyOf", [])
    if not isinstance(alternatives, list):
        return None
    if "anyOf" in schema and (len(alternatives) < 2 or "format" in schema):
        return None
    formats = [_format(choice) for choice in alternatives]
    patterns: list[object] = []
    if "format" in schema:
        formats.append(_format({"format": schema["format"]}))
    if "pattern" in schema:
        name = _format({"pattern": schema["pattern"]})
        (patterns if name is None else formats).append(schema["pattern"] if name is None else name)
    if "allOf" in schema:
        match schema["allOf"]:
            case [{"pattern": pattern, **rest}] if not rest:
                patterns.append(pattern)
            case _:
                return None
    if None in formats or len(patterns) > 1:
        return None
    if not all(isinstance(pattern, str) and usable(pattern) for pattern in patterns):
        return None
    return {
        **({"format": formats[0] if len(formats) == 1 else formats} if formats else {}),
        **({"pattern": patterns[0]} if patterns else {}),
    }


def _format(schema: object) -> str | None:
    """The format of a schema that says nothing else."""
    match schema:
        case {"pattern": str(pattern), **rest} if not rest:
            return _IDENTIFIERS.get(pattern)
        case {"format": str(name), **rest} if not rest and name not in ids.PATTERNS:
            return name if name in FORMATS else None
    return None


def usable(pattern: str) -> bool:
    """Whether the language allows a pattern: not blank, readable, matched in bounded time."""
    return bool(pattern.strip()) and slowness(pattern) is None


def _bounds(schema: Json) -> Data | None:
    found = {key: schema[key] for key in BOUNDS if key in schema}
    for key, limit in found.items():
        is_length = key.endswith("Length")
        if isinstance(limit, bool) or not isinstance(limit, int if is_length else int | float):
            return None
        if is_length and limit < 0:
            return None
    pairs = [(found.get(low), found.get(high)) for low, high in _RANGES]
    if any(low is not None and high is not None and low > high for low, high in pairs):
        return None
    return found


def _inner(schema: Json) -> Data | None:
    """The items of an array, the members of an object."""
    found: Data = {}
    if "items" in schema:
        if (items := value(schema["items"])) is None:
            return None
        found["items"] = items
    if schema.keys() & _MEMBER_KEYWORDS:
        inside, additional = members(schema), schema.get("additionalProperties", True)
        if inside is None or not isinstance(additional, bool):
            return None
        if inside:
            found["properties"] = inside
        if not additional:
            found["additional"] = "forbid"
    return found


def members(schema: Json) -> Data | None:
    """``properties`` and ``required`` as the language writes members: ``{name?: …}``."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return None
    if any(not isinstance(name, str) or name not in properties for name in required):
        return None
    if len({name.casefold() for name in properties}) < len(properties):
        return None  # the language takes names that differ by case for a mistake
    found: Data = {}
    for name, member in properties.items():
        inside = value(member)
        if inside is None or name.endswith("?"):
            return None
        found[name if name in required else f"{name}?"] = inside
    return found
