"""The options of a run, and why a run did not take place."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from faultspec_conformance.results.model import Report, Shard
from faultspec_conformance.results.waivers import Waiver


def ignore_progress(name: str) -> None:
    """Show no progress."""


Event = Literal["deadline", "process"]
"""An event of a run that it announces, with a number. ``deadline``: the seconds that are left of
the run. ``process``: the id of the process of the service, which the suite started.
"""


def ignore_event(event: Event, number: float) -> None:
    """Announce nothing."""


def ignore_report(report: Report) -> None:
    """Keep no report."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run. ``only``: a pattern of clause addresses. ``progress`` is called with
    the name of each part, ``announce`` for the process that ends a run which does not end by
    itself, and ``keep`` now and then with the report until then, which that process writes.

    ``seed``: two runs with one seed send the same requests to a service in the same state; None:
    new values in every run. ``waivers``: those in force. ``shard``: which part of the run this is;
    None: all of it.
    """

    seed: int | None = None
    sweep: bool = True
    shard: Shard | None = None
    only: str | None = None
    waivers: tuple[Waiver, ...] = ()
    today: date | None = None
    progress: Callable[[str], None] = ignore_progress
    announce: Callable[[Event, float], None] = ignore_event
    keep: Callable[[Report], None] = ignore_report


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Nothing could be judged, for ``reason``.

    ``hint``: a remedy, unless it is to start the service.
    """

    reason: str
    hint: str | None = None


def day_of_run(options: RunOptions) -> date:
    """Return the day that the expiry of waivers is compared with."""
    return options.today or date.today()
