"""Exchanges over time: how many each service answered in each hour, and how many went wrong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: Hours of all services that are counted one by one, and days if there are more.
_CELLS = 2_000

_HOUR, _DAY = len("2026-11-28T16"), len("2026-11-28")
"""Characters of a moment up to its hour, and up to its day."""


@dataclass(frozen=True, slots=True)
class Activity:
    """The counts of an hour or a day. ``errors``: error answers. ``findings``: those that fail."""

    exchanges: int = 0
    errors: int = 0
    findings: int = 0

    def __add__(self, other: "Activity") -> "Activity":
        return Activity(
            self.exchanges + other.exchanges,
            self.errors + other.errors,
            self.findings + other.findings,
        )


Cell = tuple[str, str]
"""A service and the beginning of an hour or a day: `2026-11-28T16`, `2026-11-28`; each is empty if
it is not known.
"""


def cell_of(service: str | None, moment: str | None) -> Cell:
    """The cell of a moment of a service."""
    return service or "", (moment or "")[:_HOUR]


def add_activity(
    first: Mapping[Cell, Activity] | None, second: Mapping[Cell, Activity] | None
) -> Mapping[Cell, Activity] | None:
    """The sum of the counts by cell: by day if that of one is, or if it has too many hours; None
    for more services and days than are counted.
    """
    if first is None or second is None:
        return None
    found = _sum((*first.items(), *second.items()))
    has_days = any(len(since) == _DAY for _, since in found)
    if has_days or len(found) > _CELLS:
        found = _sum(((service, since[:_DAY]), each) for (service, since), each in found.items())
    return found if len(found) <= _CELLS else None


def _sum(cells: Iterable[tuple[Cell, Activity]]) -> dict[Cell, Activity]:
    found: dict[Cell, Activity] = {}
    for cell, each in cells:
        found[cell] = found.get(cell, Activity()) + each
    return found


@dataclass(frozen=True, slots=True)
class ServiceActivity:
    """The counts of one service by hour or day, from the first to the last that has some."""

    service: str
    total: Activity
    spans: tuple[tuple[str, Activity], ...]


def group_by_service(cells: Mapping[Cell, Activity]) -> tuple[ServiceActivity, ...]:
    """The services, by name, with what each did over time."""
    services: dict[str, dict[str, Activity]] = {}
    for (service, since), each in sorted(cells.items()):
        services.setdefault(service, {})[since] = each
    return tuple(
        ServiceActivity(service, sum(spans.values(), Activity()), tuple(spans.items()))
        for service, spans in services.items()
    )
