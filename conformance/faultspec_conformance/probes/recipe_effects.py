"""Effects of the refused last step of a recipe: the resources that it addresses and names are read
before and after it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from faultspec_conformance.probes.effects import GONE
from faultspec_conformance.probes.named_effects import (
    NamedResource,
    differing_places,
    find_concerned,
    promises_no_effect,
    read_named,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, not_exercised, passed
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import path_of

_CLAUSE = "writes/refused"

#: Resources that are read around one step.
_MOST = 2

#: Seconds between two reads that show which members change by themselves: many clocks count whole
#: seconds.
_TICK = 1.1


@dataclass(frozen=True, slots=True)
class WatchedResource:
    """A resource that a step concerns, and how it was before."""

    named: NamedResource
    before: Observation

    def find_changes(self, after: Observation) -> list[str]:
        """Return the places at which it differs; an empty one if it is gone."""
        if after.status in GONE:
            return [""]
        return differing_places(self.before, after) if after.ok else []


Repeat = Callable[[], tuple[tuple[WatchedResource, ...], Callable[[], Observation]] | None]
"""Carries a recipe out once more, but for its last step: the watched resources, and what sends the
step; None if it cannot.
"""


def watch_resources(session: HttpSession, spec: RequestSpec) -> tuple[WatchedResource, ...]:
    """Read the created resources that a write addresses and names; of a creation below an item
    also the list that it would be in.
    """
    found = []
    concerned = find_concerned(session, spec)[:_MOST]
    for named in (*concerned, *_find_list(session, spec, concerned[:1])):
        before = read_named(session, named)
        if before.ok:
            found.append(WatchedResource(named, before))
    return tuple(found)


def _find_list(
    session: HttpSession, spec: RequestSpec, above: list[NamedResource]
) -> Iterator[NamedResource]:
    """Yield the list at the path of a creation below an item."""
    path = path_of(spec.path, spec.values)
    listing = session.description.operation_at("GET", path)
    for item in above:
        if spec.method == "POST" and listing is not None and path.startswith(f"{item.path}/"):
            yield NamedResource(path, listing, item.kind, owner=item.owner)


def check_watched(
    session: HttpSession,
    watched: tuple[WatchedResource, ...],
    refused: Observation,
    repeat: Repeat,
) -> Iterator[Outcome]:
    """Check that a refused step left the resources as they were. What differs has to differ once
    more after the same recipe, and not by itself.
    """
    if not promises_no_effect(session, refused):
        return
    for index, one in enumerate(watched):
        after = read_named(session, one.named)
        changes = one.find_changes(after)
        if changes:
            first = (one, refused, after)
            yield _confirm(session, repeat, first, index=index, place=changes[0])
        else:
            yield passed(_CLAUSE)


def _confirm(
    session: HttpSession,
    repeat: Repeat,
    first: tuple[WatchedResource, Observation, Observation],
    *,
    index: int,
    place: str,
) -> Outcome:
    """Carry the recipe out once more; wait before its last step."""
    one, refused, after = first
    read = one.named.read.name
    again = repeat()
    if again is None or len(again[0]) <= index:
        return not_exercised(_CLAUSE, f"{read} shows a change that does not come again")
    watched, send = again
    other = watched[index]
    session.wait(_TICK, after=other.before)
    calm = read_named(session, other.named)
    answer = send()
    moved = replace(other, before=calm).find_changes(read_named(session, other.named))
    by_itself = not calm.ok or place in other.find_changes(calm)
    same = (answer.status, answer.code) == (refused.status, refused.code)
    if by_itself or not same or place not in moved:
        return not_exercised(_CLAUSE, f"what {read} shows changes by itself, or once")
    line = f"{refused.exchange.operation} was refused with {refused}, but {read}"
    message = f"{line}, which shows what it concerns, differs at `{place}`"
    if not place:
        message = f"{line} does not find what it concerns any more"
    return failed(_CLAUSE, message, *(one.before, after, refused), variant="recipe")
