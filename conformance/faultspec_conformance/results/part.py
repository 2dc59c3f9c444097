"""The counts of recorded traffic that a result leaves out to be readable, and that add up."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from faultspec_conformance.results.activity import Activity, Cell

Facts = tuple[str, ...]
"""Names of facts, in order."""


@dataclass(frozen=True, slots=True)
class Skips:
    """Records of one file that were skipped for one reason. ``first``: the place of the first."""

    file: str
    reason: str
    count: int
    first: str


@dataclass(frozen=True, slots=True)
class FileCount:
    """How many records a recording has, and how many of them cannot be read."""

    records: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Needs:
    """When a clause is exercised, in words, and the facts without which it is not judged."""

    occasion: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class Part:
    """The counts of a part of recorded traffic, beside its result.

    ``subject``: what was observed, unless it is recordings. ``files``: the recordings, in order.
    ``needs``: those of each clause that the suite can check without requests. ``lacking``: how many
    errors were recorded without which facts. ``unread``: errors whose bodies came and were not
    judged. ``unlisted``: findings of clauses that are counted only. ``hosts``: None if they are
    more than are counted. ``forgot``: the number of ids that an id was compared with, if earlier
    ones were forgotten. ``left_out``: records that are not in the sample. ``share``: that of the
    records which a sample has; None if parts with different ones were added. ``activity``: the
    exchanges over time; None if they are of too many services and days. ``notes`` and ``not_run``:
    those that the counts do not give.
    """

    subject: str = ""
    files: Mapping[str, FileCount] = field(default_factory=dict)
    needs: Mapping[str, Needs] = field(default_factory=dict)
    lacking: Mapping[Facts, int] = field(default_factory=dict)
    unread: int = 0
    unlisted: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[Skips, ...] = ()
    hosts: Mapping[str, int] | None = field(default_factory=dict)
    forgot: int | None = None
    left_out: int = 0
    share: float | None = 1.0
    activity: Mapping[Cell, Activity] | None = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
