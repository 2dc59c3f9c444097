"""The codes that a status or an envelope decides, where no member of the body has the code."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.language.carriers import reaches, uses_envelope
from faultspec.language.conditions import StatusRange
from faultspec.language.model import Code, Envelope, Operation, Surface, Taxonomy
from faultspec.runtime.places import PlaceKind
from faultspec.targets import schema as schemas
from faultspec.targets.memo import memoize

_STATUSES = range(100, 600)


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


@memoize
def stand_ins(taxonomy: Taxonomy) -> Mapping[str, Mapping[int, str | int]]:
    """By envelope, the code of each status that no code claims: that of its fallback, if the
    envelope may have it by its status.
    """
    claimed = codes_by_status(taxonomy)
    own: dict[str, set[str | int]] = {}
    for row in decided_rows(taxonomy):
        if row.operation is None and row.statuses:
            own.setdefault(row.envelope, set()).add(row.wire)
    distinct = {code.name: code for code in schemas.distinct_codes(taxonomy)}
    found: dict[str, dict[int, str | int]] = {}
    for status in _STATUSES:
        fallback = None if status in claimed else taxonomy.fallback_for(status)
        code = distinct.get((fallback.code if fallback is not None else None) or "")
        for envelope, wires in own.items():
            if code is not None and code.wire in wires:
                found.setdefault(envelope, {})[status] = code.wire
    return found


@memoize
def codes_by_status(taxonomy: Taxonomy) -> Mapping[int, Sequence[str]]:
    """The codes that may have each status."""
    found: dict[int, list[str]] = {}
    for code in schemas.distinct_codes(taxonomy):
        for status in code.http.allowed_statuses():
            found.setdefault(status, []).append(code.name)
    return found


def decided_code(
    envelope: Envelope,
    kind: PlaceKind,
    *,
    status: int | None,
    operation: str | None,
    taxonomy: Taxonomy,
) -> str | int | None:
    """The code that the status or the envelope decides: the operation's own, else one that it
    lists, else a shared one, else that of the status's fallback; None if there are several.
    """
    rows = rows_by_envelope(taxonomy).get(envelope.name, ())
    for owner, listed in ((operation, False), (operation, True), (None, False)):
        found = [
            row.wire
            for row in rows
            if (row.operation, row.listed) == (owner, listed)
            and (kind == "envelope" or any(status in span for span in row.statuses))
        ]
        if found:
            return found[0] if len(found) == 1 else None
    if kind == "envelope" or status is None:
        return None
    return stand_ins(taxonomy).get(envelope.name, {}).get(status)


@memoize
def rows_by_envelope(taxonomy: Taxonomy) -> Mapping[str, Sequence[DecidedRow]]:
    """The rows of each envelope that has any."""
    found: dict[str, list[DecidedRow]] = {}
    for row in decided_rows(taxonomy):
        found.setdefault(row.envelope, []).append(row)
    return found


@memoize
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
