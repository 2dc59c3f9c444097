"""Which codes travel in which envelopes."""

from faultspec.language.model import Code, Envelope, Surface, Taxonomy


def foreign(taxonomy: Taxonomy, surface: Surface, envelope: str) -> bool:
    """Whether codes in the envelope on the surface are not the taxonomy's, even where they look alike.

    That is so on an open surface, where the surfaces of its transport that list their codes, be it all of them, have
    other envelopes.
    """
    if surface.codes is not None:
        return False
    listing = [
        each for each in taxonomy.surfaces.values() if each.codes is not None and each.transport == surface.transport
    ]
    own = {name for each in listing for name in each.envelopes}
    return bool(own) and envelope not in own


def carriers(taxonomy: Taxonomy, code: Code, *, of_operation: bool) -> tuple[Envelope, ...]:
    """The envelopes that a code may stand in, by the surfaces that allow it; all of them where none does.

    ``of_operation``: only an operation has the code, so it goes wherever the operation is.
    """
    names = dict.fromkeys(
        envelope
        for surface in taxonomy.surfaces.values()
        for envelope in surface.envelopes
        if envelope in taxonomy.envelopes  # of a broken document it may be lost
        and (of_operation or surface.codes is None or code.name in surface.codes)
        and (surface.transport != "http" or code.http.statuses or code.http.rules)
        and not foreign(taxonomy, surface, envelope)
    )
    return tuple(taxonomy.envelopes[each] for each in names or taxonomy.envelopes)
