"""JSON Pointers, and what stands at them."""

from collections.abc import Iterator, Mapping
from typing import Any

from faultspec.exchange.body import resolve, steps
from faultspec.runtime.nodes import child

__all__ = ["at", "child", "nearest", "steps", "walk"]


def at(document: Any, pointer: str) -> Any:
    """What stands at the pointer, None where nothing does."""
    return resolve(document, pointer)[1]


#: Words that the dialect of OpenAPI 3.0 has for what 2020-12 calls otherwise.
_OLDER = {
    "examples": "example",
    "const": "enum",
    "exclusiveMinimum": "minimum",
    "exclusiveMaximum": "maximum",
}


def nearest(document: Any, pointer: str) -> str:
    """The pointer, cut to what is there: of what stands behind a reference or in parts, that reference or the whole."""
    found = ""
    for step in steps(pointer):
        longer = child(found, step)
        if not resolve(document, longer)[0]:
            older = child(found, _OLDER.get(step, step))
            return older if resolve(document, older)[0] else found
        found = longer
    return found


def walk(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its place, parents first."""
    yield pointer, value
    items: Any = (
        value.items()
        if isinstance(value, Mapping)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, each in items:
        yield from walk(each, child(pointer, step))
