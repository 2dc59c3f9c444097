# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""The place of the idempotency key in a request."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from .pointers import steps

KeyPlaceKind = Literal["header", "path", "query", "body"]


class KeyPlace(NamedTuple):
    """The part of a request that carries the key, and the name of the key there.

    ``at``: the name of a header, of a placeholder of the path or of a parameter of the
    query; in the body the JSON Pointer of a member.
    """

    kind: KeyPlaceKind
    at: str

    def __str__(self) -> str:
        if self.kind == "header":
            return self.at
        if self.kind == "body":
            return f"{self.at} in the body"
        return f"`{self.at}` in the {self.kind}"


def put_key(place: KeyPlace, part: Mapping[str, object], key: str) -> dict[str, object]:
    """A copy of the part of a request with the key at its place.

    ``part``: the headers, the values of the path or of the query, or the members of the
    body. Objects on the way to a member are made, and what is not an object there is
    replaced. A header replaces those of its name in any case.
    """
    if place.kind == "body":
        return _with_member(part, steps(place.at), key)
    if place.kind == "header":
        part = {
            name: value
            for name, value in part.items()
            if name.lower() != place.at.lower()
        }
    return {**part, place.at: key}


def _with_member(
    members: Mapping[str, object], names: list[str], key: str
) -> dict[str, object]:
    name, *inner = names
    if not inner:
        return {**members, name: key}
    below = members.get(name)
    inside = below if isinstance(below, Mapping) else {}
    return {**members, name: _with_member(inside, inner, key)}
