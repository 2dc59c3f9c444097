"""Constants and closed lists as JSON Schema, with the type of their values.

A type says nothing more to a validator. Generators of code need it: openapi-python-client drops a
schema with an ``enum`` of booleans that has none.
"""

from collections.abc import Collection
from typing import Any

Json = dict[str, Any]

_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def constant_schema(value: object) -> Json:
    """The schema of one value."""
    return {**_type_of([value]), "const": value}


def choice_schema(values: Collection[object]) -> Json:
    """The schema of one of the values, each of them once."""
    listed = list(dict.fromkeys(values))
    return {**_type_of(listed), "enum": listed}


def span_schema(low: int, high: int) -> Json:
    """The schema of a whole number of an inclusive range."""
    if low == high:
        return constant_schema(low)
    return {"type": "integer", "minimum": low, "maximum": high}


def _type_of(values: Collection[object]) -> Json:
    """``type``, if the values have one."""
    types = {_TYPES.get(value.__class__) for value in values}
    known = types.pop() if len(types) == 1 else None
    return {} if known is None else {"type": known}
