"""Regular expressions of Python that other languages read alike."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from faultspec.language.grammar import Path
from faultspec.language.model import Taxonomy

#: A repetition. RE2 takes counts of at most 1,000.
_COUNT = re.compile(r"\{(\d{1,4})(?:,(\d{0,4}))?\}")
_MOST = 1_000

#: Escapes that Java and RE2 have: classes of letters, line ends, and signs.
_ESCAPE = re.compile(r"\\[dDwWsSbBtnr\W]", re.DOTALL)

#: Those of JavaScript under the flag `u`, which has them for its own signs alone, and in sets.
_OF_JAVASCRIPT = re.compile(r"\\[dDwWsSbBtnr^$\\.*+?()\[\]{}|/]")
_IN_SET_OF_JAVASCRIPT = re.compile(r"\\[dDwWsSbtnr^$\\.*+?()\[\]{}|/-]")

#: A sign in a set that begins no set in it, and no intersection.
_IN_SET = re.compile(r"[^\\\[\]&]|&(?!&)")

#: Groups without a capture, and what looks around, which RE2 and its kin have not.
_GROUP, _LOOKING = "(?:", ("(?=", "(?!", "(?<=", "(?<!")


class PatternPlace(NamedTuple):
    """A pattern in the places of a slot, by its path in the taxonomy."""

    path: Path
    slot: str
    envelope: str


def unportable_places(taxonomy: Taxonomy, *, to_javascript: bool = False) -> Iterator[PatternPlace]:
    """The patterns of places that are not portable."""
    for envelope in taxonomy.envelopes.values():
        for slot, places in envelope.places.items():
            for index, place in enumerate(places):
                pattern = place.pattern
                if pattern is not None and not is_portable(pattern, to_javascript=to_javascript):
                    path = ("envelopes", envelope.name, "fields", slot, "places", index)
                    yield PatternPlace(path, slot, envelope.name)


def is_portable(pattern: str, *, to_javascript: bool = False) -> bool:
    """Whether Java and RE2 read an expression of Python as Python does; ``to_javascript``: whether
    JavaScript does, under the flag `u`.
    """
    place = 0
    while place < len(pattern):
        after = _read_part(pattern, place, to_javascript=to_javascript)
        if after is None or (pattern[after : after + 1] == "+" and pattern[after - 1] in "*+?}"):
            return False  # a possessive repetition
        place = after
    return True


def _read_part(pattern: str, place: int, *, to_javascript: bool) -> int | None:
    """Where a part of an expression ends; None if not all languages have it."""
    sign = pattern[place]
    if sign == "\\":
        found = (_OF_JAVASCRIPT if to_javascript else _ESCAPE).match(pattern, place)
        return None if found is None else found.end()
    if sign == "[":
        return _read_set(pattern, place, _IN_SET_OF_JAVASCRIPT if to_javascript else _ESCAPE)
    if sign == "{":
        count = _COUNT.match(pattern, place)
        counts = [] if count is None else [int(number) for number in count.groups() if number]
        return count.end() if count is not None and max(counts) <= _MOST else None
    if pattern.startswith("(?", place):
        looking = next((one for one in _LOOKING if pattern.startswith(one, place)), None)
        if looking is not None and to_javascript:
            return place + len(looking)
        return place + len(_GROUP) if pattern.startswith(_GROUP, place) else None
    return None if sign in "]}" else place + 1


def _read_set(pattern: str, place: int, escapes: re.Pattern[str]) -> int | None:
    """Where a set of characters ends. A bracket that stands first in it is one in Python alone."""
    place += 2 if pattern.startswith("[^", place) else 1
    first = place
    while pattern[place] != "]":
        escape = pattern[place] == "\\"
        found = (escapes if escape else _IN_SET).match(pattern, place)
        if found is None:
            return None
        place = found.end()
    return place + 1 if place > first else None
