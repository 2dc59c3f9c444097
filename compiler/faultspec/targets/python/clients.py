"""The rows of the modules for clients: which answers are errors, and which requests need a key."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from faultspec.language.conditions import StatusRange
from faultspec.language.model import Surface, Taxonomy
from faultspec.runtime.marks import Mark
from faultspec.targets.literals import Verbatim
from faultspec.targets.python.facts import merge_ranges, span

#: The statuses of errors where no surface over HTTP names its own.
_ERRORS = StatusRange(400, 599)


class ClientRows(NamedTuple):
    """The facts by which a client tells errors and safe requests.

    ``statuses``: those of errors, as ranges. ``marks``: members of bodies that mark an error.
    ``key_header``: the idempotency key is a header. ``keyed``: the methods of writes with a key.
    """

    statuses: tuple[Verbatim, ...]
    marks: tuple[Mark, ...]
    key_header: bool
    keyed: tuple[str, ...]


def client_rows(taxonomy: Taxonomy) -> ClientRows:
    """The rows of a taxonomy. Without a surface over HTTP, the statuses from 400 on are errors."""
    surfaces = [one for one in taxonomy.surfaces.values() if one.transport == "http"]
    idempotency = taxonomy.idempotency
    return ClientRows(
        statuses=tuple(Verbatim(span(each)) for each in error_statuses(taxonomy)),
        marks=tuple(_distinct(mark for surface in surfaces for mark in _marks(surface))),
        key_header=idempotency is not None and idempotency.key.kind == "header",
        keyed=() if idempotency is None else tuple(sorted(idempotency.methods)),
    )


def error_statuses(taxonomy: Taxonomy) -> list[StatusRange]:
    """The statuses of errors over HTTP, in as few ranges as possible."""
    surfaces = [one for one in taxonomy.surfaces.values() if one.transport == "http"]
    return merge_ranges([each for one in surfaces for each in one.error_when]) or [_ERRORS]


def _marks(surface: Surface) -> Iterator[Mark]:
    if surface.error_pointer is not None:
        yield Mark(present=(surface.error_pointer,))
    if surface.error_equals:
        yield Mark(equal=dict(surface.error_equals))


def _distinct(marks: Iterable[Mark]) -> list[Mark]:
    found: list[Mark] = []
    for mark in marks:
        if mark not in found:
            found.append(mark)
    return found
