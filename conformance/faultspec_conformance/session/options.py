"""How a run is asked for, and why there was none."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from faultspec_conformance.results.model import Shard
from faultspec_conformance.results.waivers import Waiver


def quiet(name: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run. ``only``: a pattern of clause addresses; ``progress`` hears the name of each part as it begins.

    ``seed``: with one, a run asks a service in the same state the same; with None what must be new is new in every run.
    ``waivers``: those in force here. ``shard``: the part of the run that this one is; None is all of it.
    """

    seed: int | None = None
    sweep: bool = True
    shard: Shard | None = None
    only: str | None = None
    waivers: tuple[Waiver, ...] = ()
    today: date | None = None
    progress: Callable[[str], None] = quiet


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Nothing could be judged, for ``reason``. ``hint``: what to do, where it is more than starting the service."""

    reason: str
    hint: str | None = None


def today(options: RunOptions) -> date:
    """The day by which waivers expire."""
    return options.today or date.today()
