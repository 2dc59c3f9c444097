"""The code of input that a framework refuses before the service sees it, and the detail that names
the failing field.

A taxonomy has no construct for it, so names decide. A service may choose otherwise.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from faultspec.language.model import Code, DetailMember, Schema, Taxonomy
from faultspec.language.spelling import snake
from faultspec.targets.literals import Verbatim

#: Names of codes, the most telling first.
_NAMES = (
    r"validation_(failed|error)|.*_validation_(failed|error)|validation",
    r"invalid(_(input|request|params?|parameters?|arguments?|body|data|payload))?|bad_input",
    r"unprocessable(_entity|_content)?",
    r"bad_request",
)

#: Names of details that say which value is meant, the most telling first.
_KEYS = ("field", "fields", "errors", "violations", "invalid_params", "param", "pointer")
_PLACES = ("field", "path", "pointer", "name", "param", "loc")
_REASONS = ("message", "reason", "detail", "description", "issue")


class InvalidKey(NamedTuple):
    """The detail with the failing fields: the first of them, their texts, or an object for each
    with the members ``place`` and perhaps ``reason``.
    """

    name: str
    kind: Literal["text", "texts", "objects"]
    place: str = ""
    reason: str | None = None


class InvalidInputRow(NamedTuple):
    """The code, and its detail that names fields; None if it has none that could be filled."""

    name: str
    code: Verbatim
    key: InvalidKey | None


def invalid_input(
    taxonomy: Taxonomy, members: Mapping[str, Verbatim], bare: list[Verbatim]
) -> InvalidInputRow | None:
    """The code of refused input, among those that ``bare`` says need no details; None if no name
    tells.
    """
    able = [
        code
        for code in taxonomy.shared_live_codes()
        if (code.http.allows(400) or code.http.allows(422)) and members[code.name] in bare
    ]
    for pattern in _NAMES:
        for code in able:
            if re.fullmatch(pattern, snake(code.name)):
                return InvalidInputRow(code.name, members[code.name], next(_keys(code), None))
    return None


def _keys(code: Code) -> Iterator[InvalidKey]:
    """The details that could name the field, the most telling first."""
    if code.details_schema is None:
        for name in _KEYS:
            found = _key(code.details[name]) if name in code.details else None
            if found is not None:
                yield found


def _key(detail: DetailMember) -> InvalidKey | None:
    schema = detail.schema
    if _is_free_text(schema):
        return InvalidKey(detail.name, "text")
    if schema.types != ("array",) or schema.items is None:
        return None
    if _is_free_text(schema.items):
        return InvalidKey(detail.name, "texts")
    inside = schema.items.properties
    texts = [name for name, member in inside.items() if _is_free_text(member.schema)]
    place = next((name for name in _PLACES if name in texts), None)
    reason = next((name for name in _REASONS if name in texts), None)
    required = {name for name, member in inside.items() if member.presence == "required"}
    if place is None or required - {place, reason}:
        return None
    return InvalidKey(detail.name, "objects", place, reason)


def _is_free_text(schema: Schema) -> bool:
    """Whether any text satisfies the schema."""
    narrowed = (schema.format, schema.enum, schema.pattern, schema.vocabulary, schema.opaque)
    lengths = (schema.min_length, schema.max_length)
    return schema.types == ("string",) and not any(narrowed) and lengths == (None, None)
