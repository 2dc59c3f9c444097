"""JSON Pointers, and what stands at them."""

from collections.abc import Iterator, Mapping
from typing import Any

from faultspec.runtime.nodes import child

__all__ = ["at", "child", "steps", "walk"]


def steps(pointer: str) -> list[str]:
    """The keys of a pointer, from the outside."""
    return [each.replace("~1", "/").replace("~0", "~") for each in pointer.split("/")[1:]]


def at(document: Any, pointer: str) -> Any:
    """What stands at the pointer, None where nothing does."""
    found = document
    for step in steps(pointer):
        if isinstance(found, Mapping) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


def walk(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its place, parents first."""
    yield pointer, value
    items: Any = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for step, each in items:
        yield from walk(each, child(pointer, step))
