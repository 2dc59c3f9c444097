"""Which codes surfaces and envelopes may carry."""

import re
from collections.abc import Iterable
from typing import Literal

from faultspec.language.model import Code, Envelope, Operation, Surface, Taxonomy
from faultspec.runtime.nodes import Slot, slot_places


def uses_envelope(code: Code, envelope: Envelope) -> bool:
    """Whether a code may use an envelope of a surface that carries the code.

    An envelope whose shape alone decides the code is used by the codes that name it.
    """
    if not code.envelopes:
        return not envelope.decides_code
    return envelope.name in code.envelopes


def reaches(surface: Surface, code: Code, *, of_operation: bool) -> bool:
    """Whether a surface may carry a code. ``of_operation``: the code belongs to an operation.

    Such a code is not subject to the surface's list of codes.
    """
    if (
        surface.transport == "http"
        and surface.default_status is None
        and not (code.http.statuses or code.http.rules)
    ):
        return False
    return of_operation or (
        not surface.foreign and (surface.codes is None or code.name in surface.codes)
    )


def listed_number(taxonomy: Taxonomy, code: str) -> tuple[int, str] | None:
    """A number of the protocol that a taxonomy lists, with its text; None for any other code."""
    if re.fullmatch(r"-?[0-9]{1,10}", code) is None:
        return None
    protocols = (surface.protocol for surface in taxonomy.surfaces.values())
    listed = (each for protocol in protocols if protocol is not None for each in protocol.codes)
    found = next((each for each in listed if int(code) in each), None)
    return None if found is None else (int(code), found.summary)


def carriers(taxonomy: Taxonomy, code: Code, *, of_operation: bool) -> tuple[Envelope, ...]:
    """The envelopes that a code may use on the surfaces that carry it; all if there are none."""
    names = dict.fromkeys(
        envelope
        for surface in taxonomy.surfaces.values()
        if reaches(surface, code, of_operation=of_operation)
        for envelope in _envelopes_for(code, surface)
        if envelope in taxonomy.envelopes  # a broken document may have lost it
        and uses_envelope(code, taxonomy.envelopes[envelope])
    )
    return tuple(taxonomy.envelopes[name] for name in names or taxonomy.envelopes)


def _envelopes_for(code: Code, surface: Surface) -> tuple[str, ...]:
    """The envelopes of a surface that come into question for a code."""
    if len(code.envelopes) == 1:  # thousands of codes may each have an envelope of their own
        return code.envelopes if code.envelopes[0] in surface.envelopes else ()
    return surface.envelopes


def http_carriers(
    taxonomy: Taxonomy, code: Code, *, of_operation: bool
) -> tuple[Surface | None, ...]:
    """The surfaces over HTTP that may carry a code, for their header rules; None alone if there are
    none.
    """
    found = [
        surface
        for surface in taxonomy.surfaces.values()
        if surface.transport == "http"
        and surface.envelopes
        and reaches(surface, code, of_operation=of_operation)
    ]
    return tuple(found) or (None,)


def shares_code_place(envelope: Envelope, protocol: Envelope) -> bool:
    """Whether an envelope and its protocol's errors have their code in the same place.

    Then only the number tells them apart.
    """
    one, other = (
        {slot.path for slot in slot_places(shape).get("code", ()) if isinstance(slot.node, Slot)}
        for shape in (protocol.shape, envelope.shape)
    )
    return not one.isdisjoint(other)


def protocol_collisions(taxonomy: Taxonomy, surface: Surface) -> tuple[int, ...]:
    """The numbers of our codes, including reserved ones, in the place of the protocol's own."""
    if surface.protocol is None:
        return ()
    protocol = taxonomy.envelopes[surface.protocol.envelope]
    own = [taxonomy.envelopes[name] for name in surface.envelopes]
    shared = [envelope for envelope in own if shares_code_place(envelope, protocol)]
    return tuple(
        number
        for path, code in taxonomy.located_codes()
        if reaches(surface, code, of_operation=path[0] == "operations")
        for envelope in shared
        if uses_envelope(code, envelope) and isinstance(number := code.wire_in(envelope), int)
    )


def decided_codes(
    taxonomy: Taxonomy,
    envelope: Envelope,
    *,
    by: Literal["status", "envelope"],
    status: int | None,
    surface: Surface,
    operation: Operation | None = None,
) -> tuple[Code, ...]:
    """The codes that a status, or the envelope alone, may stand for on a surface; one if it decides
    the code.

    The operation's own codes come before those that it lists, and these before the others of the
    surface; the fallback of the status is last.
    """

    def choose(codes: Iterable[Code], *, of_operation: bool) -> tuple[Code, ...]:
        return tuple(
            code
            for code in codes
            if code.live
            and uses_envelope(code, envelope)
            and reaches(surface, code, of_operation=of_operation)
            and (by == "envelope" or (status is not None and _comes_with(code, surface, status)))
        )

    own = choose(operation.errors.values() if operation else (), of_operation=True)
    shared = choose(
        (operation.own_form(code) if operation else code for code in taxonomy.codes.values()),
        of_operation=False,
    )
    listed = operation.codes if operation else None
    found = own or tuple(code for code in shared if code.name in (listed or ())) or shared
    if found or by == "envelope" or status is None:
        return found
    stands_for = (taxonomy.codes[name] for name in taxonomy.codes_for(status))
    return tuple(
        code
        for code in stands_for
        if code.live and not code.http.allows(status) and uses_envelope(code, envelope)
    )


def _comes_with(code: Code, surface: Surface, status: int) -> bool:
    """Whether a code may have the status on a surface."""
    if surface.default_status is not None and not code.http.statuses:
        return status == surface.default_status
    return code.http.allows(status)
