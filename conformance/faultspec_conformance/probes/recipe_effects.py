"""Effects of the refused last step of a recipe: the resources that it addresses and names are read
before and after it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

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

    def find_change(self, after: Observation) -> str | None:
        """Return the place at which it differs; an empty one if it is gone; None if it does not."""
        if after.status in GONE:
            return ""
        return next(iter(differing_places(self.before, after)), None) if after.ok else None


Repeat = Callable[[], tuple[tuple[WatchedResource, ...], Callable[[], Observation]] | None]
"""Carries a recipe out once more, but for its last step: the watched resources, and what sends the
step; None if it cannot.
"""


def watch_resources(session: HttpSession, spec: RequestSpec) -> tuple[WatchedResource, ...]:
    """Read the created resources that a write addresses and names."""
    found = []
    for named in find_concerned(session, spec)[:_MOST]:
        before = read_named(session, named)
        if before.ok:
            found.append(WatchedResource(named, before))
    return tuple(found)


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
        place = one.find_change(after)
        if place is None:
            yield passed(_CLAUSE)
        else:
            yield _confirm(session, repeat, (one, refused, after), index=index, place=place)


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
    session.wait(_TICK, after=watched[index].before)
    calm = read_named(session, watched[index].named)
    answer = send()
    later = read_named(session, watched[index].named)
    by_itself = calm.status in GONE or place in differing_places(watched[index].before, calm)
    now = WatchedResource(watched[index].named, calm).find_change(later)
    moved = [*differing_places(calm, later)] if later.ok else [""]
    same = (answer.status, answer.code) == (refused.status, refused.code)
    if by_itself or now is None or not same or place not in moved:
        return not_exercised(_CLAUSE, f"what {read} shows changes by itself, or once")
    line = f"{refused.exchange.operation} was refused with {refused}, but {read}"
    message = f"{line}, which shows what it concerns, differs at `{place}`"
    if not place:
        message = f"{line} does not find what it concerns any more"
    return failed(_CLAUSE, message, *(one.before, after, refused), variant="recipe")
