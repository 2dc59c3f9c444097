"""The marks of an error in an answer: its status, or members of its body."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .pointers import resolve


class Mark(NamedTuple):
    """Members of a JSON body that together make an answer an error, by JSON Pointer:
    those that are `present`, and those that `equal` a value.
    """

    present: Sequence[str] = ()
    equal: Mapping[str, object] = {}


def has_mark(body: object, marks: Sequence[Mark]) -> bool:
    """Whether a body (JSON data) has all members of one of the marks."""
    return any(
        all(resolve(body, pointer)[0] for pointer in mark.present)
        and all(_has(body, pointer, value) for pointer, value in mark.equal.items())
        for mark in marks
    )


def _has(body: object, pointer: str, wanted: object) -> bool:
    """Whether a value stands at a pointer. In JSON `true` is not 1."""
    found, value = resolve(body, pointer)
    same = isinstance(value, bool) == isinstance(wanted, bool) and value == wanted
    return found and same
