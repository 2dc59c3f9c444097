"""Masks for sensitive details in texts that are not for the caller: logs, traces."""

import json
from collections.abc import Iterator, Mapping, Sequence

MASK = "***"
"""The replacement of a sensitive value."""

Place = Sequence[str]
"""The names of members from the outside in; ``*`` stands for the items of a list."""


def mask(value: object, places: Sequence[Place]) -> object:
    """The value with a mask at each place that it has."""
    if any(not place for place in places):
        return None if value is None else MASK
    if isinstance(value, Mapping):
        return {
            key: mask(member, _inside(places, key)) for key, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [mask(item, _inside(places, "*")) for item in value]
    return value


def mask_text(text: str, value: object, places: Sequence[Place]) -> str:
    """The text without the values at these places, as far as it quotes them."""
    for secret in sorted(_texts_at(value, places), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def _inside(places: Sequence[Place], name: str) -> Sequence[Place]:
    return [place[1:] for place in places if place and place[0] == name]


def _texts_at(value: object, places: Sequence[Place]) -> Iterator[str]:
    if any(not place for place in places):
        yield from _leaves(value)
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _texts_at(member, _inside(places, key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_at(item, _inside(places, "*"))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for member in value.values():
            yield from _leaves(member)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str):
        yield from [str(value)] if value else []
    elif value is not None:
        yield json.dumps(value)
