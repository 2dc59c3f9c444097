# Copied from faultspec; do not edit
# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""The marks of an error in an answer: its status, or members of its body."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Mark(NamedTuple):
    """Members of a JSON body that together make an answer an error, by JSON Pointer:
    those that are `present`, and those that `equal` a value.
    """

    present: Sequence[str] = ()
    equal: Mapping[str, object] = {}


_MISSING = object()


def has_mark(body: object, marks: Sequence[Mark]) -> bool:
    """Whether a body (JSON data) has all members of one of the marks."""
    return any(
        all(_at(body, pointer) is not _MISSING for pointer in mark.present)
        and all(_same(_at(body, at), value) for at, value in mark.equal.items())
        for mark in marks
    )


def _at(value: object, pointer: str) -> object:
    """The value at a JSON Pointer (RFC 6901)."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name, _MISSING)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return _MISSING
    return value


def _same(found: object, wanted: object) -> bool:
    """Whether two JSON values are equal: `true` is not 1."""
    return isinstance(found, bool) == isinstance(wanted, bool) and found == wanted
