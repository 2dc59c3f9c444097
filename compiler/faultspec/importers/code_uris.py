"""Codes that are URIs with one beginning, as the `type` of RFC 9457: the shape has the beginning,
and each code its end.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from faultspec.importers.bodies import BodyFamily

#: The beginning of a URI up to its last separator, and an end that can be a code.
_URI = re.compile(r"([a-z][a-z0-9+.-]*:.*[/#:=])([A-Za-z0-9][A-Za-z0-9._-]*)", re.DOTALL)


def shorten_codes(families: Sequence[BodyFamily]) -> None:
    """Leave each code its end, in the families whose codes are URIs with one beginning.

    A code stays as it is if its end would be another's, or if it is whole in another family.
    """
    ends = [_ends_of(family) for family in families]
    if _are_distinct(ends):
        for family, known in zip(families, ends, strict=True):
            for body in family.bodies:
                body.wire = known[body.wire]


def _ends_of(family: BodyFamily) -> Mapping[str | int, str | int]:
    """The end of each code of a family; the codes themselves if they have no common beginning."""
    found = {body.wire: _URI.fullmatch(str(body.wire)) for body in family.bodies}
    if len({match and match[1] for match in found.values()}) != 1:
        return {wire: wire for wire in found}
    return {wire: match[2] if match else wire for wire, match in found.items()}


def _are_distinct(ends: Iterable[Mapping[str | int, str | int]]) -> bool:
    """Whether every code has one end in all families, and every end is of one code."""
    pairs = {pair for known in ends for pair in known.items()}
    return len({wire for wire, _ in pairs}) == len({end for _, end in pairs}) == len(pairs)
