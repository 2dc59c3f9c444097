"""Which codes travel in which envelopes."""

from faultspec.language.model import Code, Envelope, Surface, Taxonomy
from faultspec.runtime.nodes import Slot, slot_places


def wears(code: Code, envelope: str) -> bool:
    """Whether a code that is allowed on a surface may travel in this envelope of it."""
    return not code.envelopes or envelope in code.envelopes


def reaches(surface: Surface, code: Code, *, of_operation: bool) -> bool:
    """Whether a code may be met on a surface. ``of_operation``: only an operation has it, so it goes where that is."""
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
    """The envelopes that a code may stand in, by the surfaces that it reaches; all that it wears where it reaches none."""
    names = dict.fromkeys(
        envelope
        for surface in taxonomy.surfaces.values()
        if reaches(surface, code, of_operation=of_operation)
        for envelope in surface.envelopes
        if wears(code, envelope)
        and envelope in taxonomy.envelopes  # of a broken document it may be lost
    )
    return tuple(taxonomy.envelopes[name] for name in names or taxonomy.envelopes)


def shares(envelope: Envelope, protocol: Envelope) -> bool:
    """Whether an envelope has its code where the errors of a protocol have their number, which alone tells whose it is."""
    theirs, ours = (
        {place.path for place in slot_places(each.shape)["code"] if isinstance(place.node, Slot)}
        for each in (protocol, envelope)
    )
    return not theirs.isdisjoint(ours)


def taken(taxonomy: Taxonomy, surface: Surface) -> tuple[int, ...]:
    """The numbers of our codes, reserved ones too, that stand on a surface where its protocol has its own."""
    if surface.protocol is None:
        return ()
    protocol = taxonomy.envelopes[surface.protocol.envelope]
    beside = [
        envelope for envelope in surface.envelopes if shares(taxonomy.envelopes[envelope], protocol)
    ]
    return tuple(
        code.wire
        for path, code in taxonomy.located_codes()
        if isinstance(code.wire, int)
        and reaches(surface, code, of_operation=path[0] == "operations")
        and any(wears(code, each) for each in beside)
    )
