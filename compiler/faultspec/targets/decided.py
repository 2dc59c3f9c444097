"""The codes that a status or an envelope decides, where no member of the body has the code."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.language.carriers import reaches, uses_envelope
from faultspec.language.conditions import StatusRange
from faultspec.language.model import Code, Envelope, Operation, Surface, Taxonomy
from faultspec.targets import schema as schemas


class CodeIdentity(NamedTuple):
    """The ``value`` of the code slot of an envelope for the code with this ``wire``."""

    operation: str | None
    wire: str | int
    value: str | int


class DecidedRow(NamedTuple):
    """A code that an envelope may stand for, under these statuses.

    ``operation``: the operation whose answers it is for, None for all. ``listed``: the operation
    lists a shared code. ``statuses`` empty: the envelope alone decides.
    """

    envelope: str
    operation: str | None
    listed: bool
    wire: str | int
    statuses: tuple[StatusRange, ...]


def decided_rows(taxonomy: Taxonomy) -> Iterator[DecidedRow]:
    """The rows of every envelope whose code its status or shape decides, in order of the codes."""
    for envelope in taxonomy.envelopes.values():
        if envelope.deciding_place is None:
            continue
        by_status = not envelope.decides_code
        for operation, code in schemas.live(taxonomy):
            if operation is not None and not taxonomy.owns(operation, code):
                continue  # its operation lists it
            row = _decided_row(taxonomy, envelope, code, operation=operation, by_status=by_status)
            if row is not None:
                yield row
        for each in taxonomy.operations.values():
            yield from _listed_rows(taxonomy, envelope, each, by_status=by_status)


def identities(taxonomy: Taxonomy) -> Mapping[str, Sequence[CodeIdentity]]:
    """By envelope, the codes whose value there is not their ``wire``; removed codes too."""
    found: dict[str, list[CodeIdentity]] = {}
    for path, code in (*taxonomy.located_codes(), *taxonomy.variants()):
        operation = path[1] if path[0] == "operations" else None
        for envelope, value in code.identities.items():
            found.setdefault(envelope, []).append(CodeIdentity(operation, code.wire, value))
    return found


def decides_codes(taxonomy: Taxonomy) -> bool:
    """Whether any envelope has the places of its code declared."""
    return any(envelope.code_places for envelope in taxonomy.envelopes.values())


def _listed_rows(
    taxonomy: Taxonomy, envelope: Envelope, operation: Operation, *, by_status: bool
) -> Iterator[DecidedRow]:
    for name in operation.codes or ():
        shared = taxonomy.codes.get(name)
        if shared is not None and shared.live:
            code = operation.own_form(shared)
            row = _decided_row(taxonomy, envelope, code, by_status=by_status)
            if row is not None:
                yield row._replace(operation=operation.name, listed=True)


def _decided_row(
    taxonomy: Taxonomy,
    envelope: Envelope,
    code: Code,
    *,
    operation: str | None = None,
    by_status: bool,
) -> DecidedRow | None:
    surfaces = [
        surface
        for surface in taxonomy.surfaces.values()
        if envelope.name in surface.envelopes
        and reaches(surface, code, of_operation=operation is not None)
    ]
    if not surfaces or not uses_envelope(code, envelope):
        return None
    statuses = tuple(_statuses(code, surfaces)) if by_status else ()
    return DecidedRow(envelope.name, operation, listed=False, wire=code.wire, statuses=statuses)


def _statuses(code: Code, surfaces: list[Surface]) -> Iterator[StatusRange]:
    yield from code.http.statuses
    if not code.http.statuses:
        defaults = {each.default_status for each in surfaces if each.default_status is not None}
        yield from (StatusRange(status, status) for status in sorted(defaults))
