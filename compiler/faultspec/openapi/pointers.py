"""JSON Pointers (RFC 6901) into a document."""

from collections.abc import Iterator, Mapping
from typing import Any

from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import resolve, steps

__all__ = ["child", "nearest_pointer", "steps", "value_at", "walk"]

#: The keywords of OpenAPI 3.0 for keywords that 2020-12 writes otherwise.
_OLDER = {
    "examples": "example",
    "const": "enum",
    "exclusiveMinimum": "minimum",
    "exclusiveMaximum": "maximum",
}


def value_at(document: Any, pointer: str) -> Any:
    """The value at the pointer, or None."""
    return resolve(document, pointer)[1]


def nearest_pointer(document: Any, pointer: str) -> str:
    """The longest beginning of the pointer that leads to a value.

    A value behind a reference, or joined from several parts, thus has the place of the reference or
    of the whole.
    """
    found = ""
    for step in steps(pointer):
        longer = child(found, step)
        if not resolve(document, longer)[0]:
            older = child(found, _OLDER.get(step, step))
            return older if resolve(document, older)[0] else found
        found = longer
    return found


def walk(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its pointer, parents first."""
    yield pointer, value
    items: Any = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for step, inner in items:
        yield from walk(inner, child(pointer, step))
