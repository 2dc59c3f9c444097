"""Which codes surfaces and envelopes may carry."""

from faultspec.language.model import Code, Envelope, Surface, Taxonomy
from faultspec.runtime.nodes import Slot, slot_places


def uses_envelope(code: Code, envelope: str) -> bool:
    """Whether a code may use an envelope of a surface that carries the code."""
    return not code.envelopes or envelope in code.envelopes


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


def carriers(taxonomy: Taxonomy, code: Code, *, of_operation: bool) -> tuple[Envelope, ...]:
    """The envelopes that a code may use on the surfaces that carry it; all if there are none."""
    names = dict.fromkeys(
        envelope
        for surface in taxonomy.surfaces.values()
        if reaches(surface, code, of_operation=of_operation)
        for envelope in surface.envelopes
        if uses_envelope(code, envelope)
        and envelope in taxonomy.envelopes  # a broken document may have lost it
    )
    return tuple(taxonomy.envelopes[name] for name in names or taxonomy.envelopes)


def shares_code_place(envelope: Envelope, protocol: Envelope) -> bool:
    """Whether an envelope and its protocol's errors have their code in the same place.

    Then only the number tells them apart.
    """
    one, other = (
        {slot.path for slot in slot_places(shape)["code"] if isinstance(slot.node, Slot)}
        for shape in (protocol.shape, envelope.shape)
    )
    return not one.isdisjoint(other)


def protocol_collisions(taxonomy: Taxonomy, surface: Surface) -> tuple[int, ...]:
    """The numbers of our codes, including reserved ones, in the place of the protocol's own."""
    if surface.protocol is None:
        return ()
    protocol = taxonomy.envelopes[surface.protocol.envelope]
    shared = [
        name for name in surface.envelopes if shares_code_place(taxonomy.envelopes[name], protocol)
    ]
    return tuple(
        code.wire
        for path, code in taxonomy.located_codes()
        if isinstance(code.wire, int)
        and reaches(surface, code, of_operation=path[0] == "operations")
        and any(uses_envelope(code, name) for name in shared)
    )
