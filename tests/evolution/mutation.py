"""Changes of one field of a taxonomy, for tests."""

import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from faultspec.diagnostics.model import Path
from faultspec.language.model import Taxonomy

Step = tuple[Path, str]


class Mutation(typing.NamedTuple):
    """A taxonomy in which one field differs. ``field``: as ``Record.field``."""

    field: str
    path: Path
    taxonomy: Taxonomy


def mutations(taxonomy: Taxonomy) -> Iterator[Mutation]:
    """Every taxonomy that differs in one field: another value, one item fewer, or none."""
    for path, field, value in _variants(taxonomy, Taxonomy, (), ""):
        yield Mutation(field, path, value)


def _variants(value: Any, hint: Any, path: Path, field: str) -> Iterator[tuple[Path, str, Any]]:
    """The variants of a value, each with the place and the field that differs."""
    if hasattr(value, "_fields"):
        hints = typing.get_type_hints(type(value))
        for name in value._fields:
            inner = _variants(
                getattr(value, name), hints[name], (*path, name), f"{type(value).__name__}.{name}"
            )
            for place, changed, other in inner:
                yield place, changed, value._replace(**{name: other})
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield (*path, key), field, {k: v for k, v in value.items() if k != key}
            for place, changed, other in _variants(item, _item_hint(hint), (*path, key), field):
                yield place, changed, {**value, key: other}
        return
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield path, field, (*value[:index], *value[index + 1 :])
            for place, changed, other in _variants(item, _item_hint(hint), path, field):
                yield place, changed, (*value[:index], other, *value[index + 1 :])
        return
    for other in _scalars(value, hint):
        yield path, field, other


def _item_hint(hint: Any) -> Any:
    arguments = [argument for argument in typing.get_args(hint) if argument is not Ellipsis]
    return arguments[-1] if arguments else Any


def _scalars(value: Any, hint: Any) -> Iterator[Any]:
    """Other values of a scalar: other members of its enumeration, None where it is allowed."""
    options = _options(hint)
    if isinstance(value, bool):
        yield not value
    elif value is None:
        yield from (
            sample for sample in (_sample(option) for option in options) if sample is not None
        )
    else:
        literals = [
            c for o in options if typing.get_origin(o) is typing.Literal for c in typing.get_args(o)
        ]
        if literals:
            yield from (literal for literal in literals if literal != value)
        elif isinstance(value, str):
            yield f"{value}-other"
        elif isinstance(value, int | float):
            yield value + 1
        if type(None) in options:
            yield None


def _options(hint: Any) -> tuple[Any, ...]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return typing.get_args(hint)
    return (hint,)


def _sample(hint: Any) -> Any:
    """A value of a type that is allowed in place of None."""
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)[0]
    return {str: "other", int: 7, float: 7.5, bool: True}.get(hint)
