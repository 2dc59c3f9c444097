"""Where codes may occur and what their errors may carry."""

from collections.abc import Mapping

from faultspec.diagnostics.model import Path
from faultspec.language.carriers import carriers, http_carriers, reaches
from faultspec.language.model import Code, Envelope, RetryPolicy, Surface, Taxonomy
from faultspec.runtime.nodes import slot_places


def occurs_on(surface: Surface, path: Path, code: Code) -> bool:
    """Whether the code at `path` may occur on a surface."""
    return reaches(surface, code, of_operation=path[0] == "operations")


def surfaces_of(taxonomy: Taxonomy, path: Path, code: Code) -> list[Surface]:
    """The surfaces on which the code at `path` may occur."""
    return [surface for surface in taxonomy.surfaces.values() if occurs_on(surface, path, code)]


def http_surfaces_of(taxonomy: Taxonomy, path: Path, code: Code) -> tuple[Surface | None, ...]:
    """The surfaces over HTTP that may carry the code at `path`; None alone if there are none."""
    return http_carriers(taxonomy, code, of_operation=path[0] == "operations")


def envelopes_of(taxonomy: Taxonomy, path: Path, code: Code) -> tuple[Envelope, ...]:
    """The envelopes in which the code at `path` may travel."""
    return carriers(taxonomy, code, of_operation=path[0] == "operations")


def is_recognised_by_body(surface: Surface) -> bool:
    """Whether the body of an answer on the surface tells that it is an error."""
    return surface.error_pointer is not None or bool(surface.error_equals)


def slots_of(envelopes: tuple[Envelope, ...]) -> set[str]:
    """The slots that any of the envelopes has."""
    return {slot for envelope in envelopes for slot in slot_places(envelope.shape)}


def requires_slot(envelope: Envelope, slot: str) -> bool:
    """Whether an envelope always holds a slot."""
    return any(place.required for place in slot_places(envelope.shape).get(slot, ()))


def may_have_detail(taxonomy: Taxonomy, code: Code, key: str) -> bool:
    """Whether an error with the code may have a detail."""
    registered = taxonomy.detail_keys.get(key)
    return (
        key in code.details
        or code.details_schema is not None  # an imported schema may declare any key
        or (registered is not None and registered.everywhere)
    )


def codes_of_policy(taxonomy: Taxonomy, policy: RetryPolicy) -> tuple[Code, ...]:
    """The live codes that a policy retries: those that it lists, else those that name it.

    A policy without a list that `upstream.retry` names retries all codes.
    """
    codes = (code for _, code in taxonomy.located_codes() if code.live)
    if policy.eligible:
        return tuple(code for code in codes if code.name in policy.eligible)
    every = taxonomy.upstream is not None and taxonomy.upstream.retry == policy.name
    return tuple(code for code in codes if every or code.retry == policy.name)


def with_integers(types: tuple[str, ...]) -> set[str]:
    """The types whose values a schema of `types` accepts: `number` accepts integers too."""
    return {*types, "integer"} if "number" in types else {*types}


def circle(
    start: str, following: str | None, successors: Mapping[str, str | None]
) -> tuple[str, ...]:
    """The names from `start` by `following` and `successors` until `start` again; empty if it
    does not come again.
    """
    names = {start: None}
    while following is not None and following not in names:
        names[following] = None
        following = successors.get(following)
    return tuple(names) if following == start else ()


def names_in_circles(successors: Mapping[str, str | None]) -> frozenset[str]:
    """The names that a walk along the successors comes back to, each looked at once."""
    seen: dict[str, str] = {}
    found: set[str] = set()
    for start in successors:
        walk: list[str] = []
        name: str | None = start
        while name is not None and name not in seen:
            seen[name] = start
            walk.append(name)
            name = successors.get(name)
        if name is not None and seen[name] == start:
            found.update(walk[walk.index(name) :])
    return frozenset(found)
