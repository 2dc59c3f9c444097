"""The JSON Schema (2020-12) of a grammar, for editors: that of the language, or of another file.

It accepts the same documents as `grammar.check_data`, with two exceptions: it allows a name both
with and without `?`, and `1.0` as a whole number.
"""

import json
from collections.abc import Mapping
from typing import Any

from faultspec.language.constructs import DOCUMENT, failures, parts, wire
from faultspec.language.grammar import (
    Anything,
    Choice,
    DeferredKind,
    Either,
    Flag,
    Integer,
    Key,
    Many,
    Named,
    Nothing,
    Number,
    Record,
    Text,
    Type,
    node_kinds,
)

#: Types that are used in many places, by name under `$defs`.
SHARED: Mapping[str, Type] = {
    "source": parts.SOURCE,
    "term": parts.TERM_VALUE,
    "status": parts.STATUS,
    "statuses": parts.STATUSES,
    "duration": parts.DURATION,
    "condition": parts.CONDITION,
    "schema": parts.SCHEMA,
    "member": parts.MEMBER,
    "header_rules": wire.HEADER_RULES,
    "code": failures.CODE,
}

_NAMES = {id(type): name for name, type in SHARED.items()}


def json_schema() -> dict[str, Any]:
    """The schema of a whole taxonomy."""
    return {
        **file_schema(
            DOCUMENT,
            "faultspec taxonomy",
            "An error taxonomy: codes, envelopes, statuses, headers, retries, privacy.",
        ),
        "$defs": {name: _inline(type) for name, type in SHARED.items()},
    }


def json_schema_text() -> str:
    """The published schema of a taxonomy."""
    return schema_text(json_schema())


def file_schema(type: Type, title: str, description: str) -> dict[str, Any]:
    """The schema of a file with this grammar."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description,
        **_inline(type),
    }


def schema_text(schema: dict[str, Any]) -> str:
    """A schema as it is published."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _reference(type: Type) -> dict[str, Any]:
    """A reference to a shared type; the schema of any other."""
    name = type.name if isinstance(type, DeferredKind) else _NAMES.get(id(type))
    return {"$ref": f"#/$defs/{name}"} if name else _inline(type)


#: The schemas of types without parameters.
_PLAIN: Mapping[type, Mapping[str, Any]] = {
    Flag: {"type": "boolean"},
    Nothing: {"type": "null"},
    Anything: {},
}


def _inline(type: Type) -> dict[str, Any]:
    found: dict[str, Any]
    match type:
        case Text(pattern, _, blank):
            pattern = r"\S" if pattern is None else _anchor(pattern)
            found = {"type": "string", "pattern": None if blank else pattern}
        case Choice(values):
            found = {"type": "string", "enum": list(values)}
        case Integer(low, high):
            found = {"type": "integer", "minimum": low, "maximum": high}
        case Number(low, high):
            found = {"type": "number", "minimum": low, "maximum": high}
        case Many(item, least, repeats):
            unique = not repeats and {"mapping", "list"}.isdisjoint(node_kinds(item))
            found = {
                "type": "array",
                "items": _reference(item),
                "minItems": least or None,
                "uniqueItems": unique or None,
            }
        case Named(value, key, optional, least):
            names = None if key.pattern is None else {"pattern": _anchor(key.pattern, optional)}
            found = {
                "type": "object",
                "additionalProperties": _reference(value),
                "propertyNames": names,
                "minProperties": least or None,
            }
        case Record(_, keys):
            found = {
                "type": "object",
                "properties": {name: _property(key) for name, key in keys.items()},
                "additionalProperties": False,
                "required": [name for name, key in keys.items() if key.required] or None,
            }
        case Either(branches):
            found = {"anyOf": [_reference(branch) for branch in branches]}
        case DeferredKind(_, get):
            found = _inline(get())
        case _:
            found = dict(_PLAIN[type.__class__])
    return {name: value for name, value in found.items() if value is not None}


def _property(key: Key) -> dict[str, Any]:
    return {"description": key.doc, **_reference(key.type)}


def _anchor(pattern: str, optional: bool = False) -> str:
    return rf"^(?:{pattern})\??$" if optional else f"^(?:{pattern})$"
