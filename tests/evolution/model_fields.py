"""The fields of the model of a taxonomy, as `Record.field`."""

import typing
from collections.abc import Iterator
from typing import Any

from faultspec.language.model import Taxonomy


def model_fields() -> Iterator[str]:
    """Every field of every record that a taxonomy contains."""
    found: set[type] = set()
    waiting: list[Any] = [Taxonomy]
    while waiting:
        hint = waiting.pop()
        if isinstance(hint, type) and hasattr(hint, "_fields"):
            if hint not in found:
                found.add(hint)
                waiting += typing.get_type_hints(hint).values()
        else:
            waiting += typing.get_args(hint)
    for record in sorted(found, key=lambda record: record.__name__):
        yield from (f"{record.__name__}.{name}" for name in record._fields)
