"""The codes that the answers of one shape name, and the operations that may answer with them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from faultspec.openapi.pointers import value_at
from faultspec_conformance.learning.answers import BodyShape, ErrorAnswer

OF_ANY = frozenset({406, 408, 413, 414, 415, 429, 431})
"""Statuses by which what stands before an operation refuses, whatever a document lists: media
types, long requests, limits. A wrong method is none of an operation.
"""

OF_ANY_LEARNED = OF_ANY | {400, 401, 500, 503}
"""The same without a document: also what operations answer to bad input, without credentials, and
when the service fails.
"""


class SeenCode(NamedTuple):
    """A code under a status, with its first answer and the operations that answered so."""

    answer: ErrorAnswer
    operations: frozenset[str | None]

    @property
    def is_general(self) -> bool:
        """Whether several have it: two operations, or one and an unknown route."""
        return len(self.operations) > 1


def read_seen_codes(shape: BodyShape, place: str) -> Mapping[int, Sequence[SeenCode]]:
    """By status, the codes that answers have at a place of their bodies."""
    found: dict[tuple[int, str], SeenCode] = {}
    for answer in shape.answers:
        wire = value_at(answer.body, place)
        if isinstance(wire, str | int) and answer.quotable:
            key = (answer.status, str(wire))
            known = found.get(key, SeenCode(answer, frozenset()))
            operations = known.operations | {answer.operation}
            found[key] = known._replace(operations=operations)
    by_status: dict[int, list[SeenCode]] = {}
    for (status, _), code in found.items():
        by_status.setdefault(status, []).append(code)
    return by_status
