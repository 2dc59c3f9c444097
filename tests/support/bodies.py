"""Parts that tests of schemas and judge share: places in a value, and the clauses that a schema can
express.
"""

from collections.abc import Iterator
from typing import Any

SCHEMA_CLAUSES = (
    "envelope/json",
    "envelope/shape",
    "envelope/types",
    "envelope/additional",
    "code/declared",
    "code/reserved",
    "boundary/allowed",
    "retriable/agrees",
    "actions/agree",
    "details/schema",
    "details/required",
    "details/registered",
    "ids/format",
)
"""The clauses about a body that need to know nothing else of the exchange."""


def places(value: object) -> Iterator[tuple[Any, ...]]:
    """The path of every member and item below a value."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, member in items:
        yield (key,)
        yield from ((key, *path) for path in places(member))
