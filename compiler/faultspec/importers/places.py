"""JSON Pointers, and what stands at them."""

from collections.abc import Iterator, Mapping
from typing import Any

from faultspec.body import resolve, steps
from faultspec.runtime.nodes import child

__all__ = ["at", "child", "steps", "walk"]


def at(document: Any, pointer: str) -> Any:
    """What stands at the pointer, None where nothing does."""
    return resolve(document, pointer)[1]


def walk(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its place, parents first."""
    yield pointer, value
    items: Any = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for step, each in items:
        yield from walk(each, child(pointer, step))
