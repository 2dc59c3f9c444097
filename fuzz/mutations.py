"""Documents with a value of another type at one place."""

from collections.abc import Iterator
from typing import Any

Steps = tuple[str | int, ...]

#: A value of each type of JSON, and two that no set can have.
VALUES: tuple[Any, ...] = ([], {}, [{"a": [1]}], {"a": [1]}, None, "x", "", 7, -0.5, True)


def places(document: Any, above: Steps = ()) -> Iterator[Steps]:
    """The place of every value, outermost first."""
    yield above
    if isinstance(document, dict):
        for name, value in document.items():
            yield from places(value, (*above, name))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places(value, (*above, index))


def replaced(document: Any, place: Steps, value: Any) -> Any:
    """The document with another value at a place."""
    if not place:
        return value
    copied = document.copy()
    copied[place[0]] = replaced(document[place[0]], place[1:], value)
    return copied


def mutants(document: Any) -> Iterator[tuple[Steps, Any, Any]]:
    """Each place with each value, and the document that has it."""
    for place in places(document):
        for value in VALUES:
            yield place, value, replaced(document, place, value)
