"""The JSON Schema (2020-12) of the language, for editors: the grammar written another way.

It accepts what `grammar.problems` accepts, but for what JSON Schema cannot say or says otherwise: a key that stands
there twice, with `?` and without; and `1.0`, which JSON Schema takes for a whole number.
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
    kinds,
)

#: Types that stand in many places, by their name under `$defs`.
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


def schema() -> dict[str, Any]:
    """The schema of a whole taxonomy."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "faultspec taxonomy",
        "description": "An error taxonomy: codes, envelopes, statuses, headers, retries and what must not leave.",
        **_inline(DOCUMENT),
        "$defs": {name: _inline(type) for name, type in SHARED.items()},
    }


def text() -> str:
    """The schema as the file that is published."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _schema(type: Type) -> dict[str, Any]:
    name = type.name if isinstance(type, DeferredKind) else _NAMES.get(id(type))
    return {"$ref": f"#/$defs/{name}"} if name else _inline(type)


def _inline(type: Type) -> dict[str, Any]:
    match type:
        case Text(pattern, _, blank):
            said = r"\S" if pattern is None else _anchored(pattern)
            return {"type": "string", **({"pattern": said} if not blank else {})}
        case Choice(values):
            return {"type": "string", "enum": list(values)}
        case Integer(low, high):
            bounds = {"minimum": low, "maximum": high}
            return {
                "type": "integer",
                **{name: each for name, each in bounds.items() if each is not None},
            }
        case Number(low, high):
            limits = {"minimum": low, "maximum": high}
            return {
                "type": "number",
                **{name: each for name, each in limits.items() if each is not None},
            }
        case Flag():
            return {"type": "boolean"}
        case Nothing():
            return {"type": "null"}
        case Anything():
            return {}
        case Many(item, least):
            once = {"uniqueItems": True} if not {"mapping", "list"} & set(kinds(item)) else {}
            return {
                "type": "array",
                "items": _schema(item),
                **({"minItems": least} if least else {}),
                **once,
            }
        case Named(value, key, optional, least):
            names = (
                {"propertyNames": {"pattern": _anchored(key.pattern, optional)}}
                if key.pattern is not None
                else {}
            )
            size = {"minProperties": least} if least else {}
            return {"type": "object", "additionalProperties": _schema(value), **names, **size}
        case Record(_, keys):
            required = [name for name, key in keys.items() if key.required]
            return {
                "type": "object",
                "properties": {name: _property(key) for name, key in keys.items()},
                "additionalProperties": False,
                **({"required": required} if required else {}),
            }
        case Either(branches):
            return {"anyOf": [_schema(branch) for branch in branches]}
        case DeferredKind(_, get):
            return _inline(get())


def _property(key: Key) -> dict[str, Any]:
    return {"description": key.doc, **_schema(key.type)}


def _anchored(pattern: str, optional: bool = False) -> str:
    return rf"^(?:{pattern})\??$" if optional else f"^(?:{pattern})$"
