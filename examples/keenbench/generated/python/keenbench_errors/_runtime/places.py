# Copied from faultspec; do not edit
"""The places of a slot that is not only where the picture of the body has it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from .checking import SEARCHED
from .extraction import Extraction, scalar_text

PlaceKind = Literal["body", "header", "status", "envelope"]


class SlotPlace(NamedTuple):
    """A place of a slot.

    ``body``: a member of the body, whose JSON Pointer is ``at``. ``header``: the
    response header ``at``, or the first group of ``pattern`` in it. ``status``: the
    HTTP status decides the code. ``envelope``: the shape of the body decides it.
    """

    kind: PlaceKind
    at: str = ""
    pattern: str | None = None


Places = Mapping[str, Sequence[SlotPlace]]
"""The places of slots, by slot, the first that is there counts."""

NO_PLACES: Places = {}


def body_places(places: Places) -> Mapping[str, Sequence[str]]:
    """The pointers of the slots that have several members, in order."""
    found = {
        slot: tuple(place.at for place in own if place.kind == "body")
        for slot, own in places.items()
    }
    return {slot: pointers for slot, pointers in found.items() if pointers}


def header_value(place: SlotPlace, text: str | None) -> str | None:
    """The value of a slot in a response header; None if it is not there, or too long
    for the pattern.
    """
    if text is None or place.pattern is None:
        return text
    if len(text) > SEARCHED:
        return None
    match = re.search(place.pattern, text)
    return match[1] if match is not None and match.lastindex else None


def place_value(
    slot: str,
    places: Places,
    read: Extraction,
    *,
    header: Callable[[str], str | None],
    decided: Callable[[SlotPlace], object],
) -> tuple[object, SlotPlace] | None:
    """The value of a slot and its place; None if it is in none of them.

    ``header``: the value of a response header. ``decided``: the code that a status or
    an envelope decides for a body of the shape, or None.
    """
    for place in places[slot]:
        value: object
        if place.kind == "body":
            value = read.slots.get(slot) if read.where.get(slot) == place.at else None
        elif place.kind == "header":
            value = header_value(place, header(place.at))
        else:
            value = decided(place) if read.fits else None
        if value is not None:
            return value, place
    return None


def sent_headers(
    places: Places, slots: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    """The headers that carry slots of an error that is sent: the first of each slot.

    A value that the pattern of a place does not read back is left out.
    """
    for slot, own in places.items():
        text = scalar_text(slots.get(slot))
        header = next((place for place in own if place.kind == "header"), None)
        if header is None or text is None:
            continue
        if header_value(header, text) == text:
            yield header.at, text
