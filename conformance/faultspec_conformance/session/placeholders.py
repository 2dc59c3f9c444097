"""Placeholders in configured requests: new values, saved names, and members of resources."""

import re
from collections.abc import Callable, Mapping

from faultspec.openapi.nodes import Json
from faultspec_conformance.config.requests import NAMES
from faultspec_conformance.session import sampling
from faultspec_conformance.session.sampling import ValueSource

Schema = object
"""A schema of the OpenAPI document, or an empty one."""


def fill_in(
    source: ValueSource,
    value: object,
    saved: Mapping[str, object] | None = None,
    schema: Schema = None,
) -> object:
    """Return a configured value with new values and saved names filled in.

    A text that consists of one placeholder takes the type of its value. ``schema``: what new values
    have to fit.
    """
    if isinstance(value, str):
        return _fill_in_leaf(source, value, saved or {}, schema)
    if isinstance(value, dict | list):
        node = sampling.merge_all_of(source.document, schema or {})
        if isinstance(value, list):
            return [fill_in(source, item, saved, node.get("items")) for item in value]
        inner = sampling.properties_of(node)
        return {
            key: fill_in(source, member, saved, inner.get(key)) for key, member in value.items()
        }
    return value


def fill_in_text(source: ValueSource, text: str, saved: Mapping[str, object] | None = None) -> str:
    """Return a configured text with new values and saved names filled in."""
    known = saved or {}

    def replacement(found: re.Match[str]) -> str:
        name = found[1]
        return str(_NEW[name](source)) if name in _NEW else _known_text(found, known)

    return NAMES.sub(replacement, text)


def fill_in_texts(
    source: ValueSource, pairs: Mapping[str, str], saved: Mapping[str, object] | None = None
) -> dict[str, str]:
    """Return configured headers or a query with new values and saved names filled in."""
    return {name: fill_in_text(source, value, saved) for name, value in pairs.items()}


#: The placeholders of new values. `config.form` describes them.
_NEW: Mapping[str, Callable[[ValueSource], object]] = {
    "unique": lambda source: source.token(),
    "unique:int": lambda source: sampling.new_value(source, {"type": "integer"}),
    "unique:date": lambda source: source.tokens.day(),
    "unique:datetime": lambda source: f"{source.tokens.day()}T12:00:00Z",
}


def _known_text(found: re.Match[str], known: Mapping[str, object]) -> str:
    kind, colon, number = found[1].partition(":")
    if kind == "bytes" and colon:
        return "x" * int(number)
    return str(known.get(found[1], found[0]))


def _fill_in_leaf(
    source: ValueSource, text: str, saved: Mapping[str, object], schema: Schema
) -> object:
    whole = NAMES.fullmatch(text)
    if whole is not None and whole[1] in saved:
        return saved[whole[1]]
    if whole is not None and whole[1] == "unique:int":
        return sampling.new_value(source, {"type": "integer", **_limits(source, schema)})
    if schema is None or "${unique}" not in text:
        return fill_in_text(source, text, saved)
    if whole is not None:
        return sampling.new_value(source, {"type": "string", **_limits(source, schema)})
    pieces = (fill_in_text(source, piece, saved) for piece in text.split("${unique}"))
    return sampling.new_text(source, schema, "{}".join(pieces))


def _limits(source: ValueSource, schema: Schema) -> Json:
    """Return the schema without what fixes the value, which is to be new."""
    return sampling.merge_all_of(source.document, schema or {})
