"""The members of a record that decide its judgement: records that are equal there are judged once.

A plan is made of the kinds of records that a taxonomy declares. It is exact: records with equal
keys have equal judgements. A record with header fields or a body is never equal to another: they
have ids, which are compared over records.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from faultspec.contract.crashes import crash_level
from faultspec.contract.model import Contract
from faultspec.language.model import RecordingRule, Taxonomy
from faultspec.runtime.pointers import steps


@dataclass(frozen=True, slots=True)
class GroupingPlan:
    """The members of a record that decide about it.

    ``members``: all that the kinds read. ``alone``: those of header fields and bodies. ``urls`` and
    ``elapsed``: members that are read as nothing else. ``time``: the only member of moments, of
    which the hour sets records apart. An answer of one of the ``quiet`` statuses, without any of
    the ``slots``, is judged alike at every URL of one host.
    """

    members: tuple[str, ...]
    alone: frozenset[str]
    urls: frozenset[str] = frozenset()
    elapsed: frozenset[str] = frozenset()
    time: str | None = None
    statuses: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    quiet: tuple[int, ...] = ()


def plan_grouping(contract: Contract) -> GroupingPlan | None:
    """The plan for records of a taxonomy; None if it declares none, or unwraps them."""
    taxonomy = contract.taxonomy
    kinds = () if taxonomy.telemetry is None else tuple(taxonomy.telemetry.records.values())
    if not kinds or any(kind.unwrap for kind in kinds):
        return None
    uses = [(steps(pointer), role) for kind in kinds for pointer, role in _uses(kind)]
    if any(not path or path[0] == ".." for path, _ in uses):
        return None
    readers = Counter(path[0] for path, _ in uses)

    def read_only_as(role: str) -> frozenset[str]:
        own = Counter(path[0] for path, each in uses if each == role and len(path) == 1)
        return frozenset(name for name, times in own.items() if times == readers[name])

    members = tuple(sorted(readers))
    alone = frozenset(path[0] for path, role in uses if role == "alone")
    has_deadlines = any(code.deadline is not None for code in taxonomy.every_code())
    elapsed = frozenset() if has_deadlines else read_only_as("elapsed")
    moments = len({path[0] for path, role in uses if role == "time"} | read_only_as("time"))
    return GroupingPlan(
        members,
        alone,
        urls=read_only_as("url"),
        elapsed=elapsed,
        time=next(iter(read_only_as("time"))) if moments == 1 else None,
        statuses=tuple(sorted({path[0] for path, role in uses if role == "status"})),
        slots=tuple(sorted({path[0] for path, role in uses if role == "slot"})),
        quiet=_quiet_statuses(taxonomy),
    )


def members_of_kinds(contract: Contract) -> frozenset[str] | None:
    """The members of the objects of a table that the declared kinds read; None: any may be."""
    telemetry = contract.taxonomy.telemetry
    kinds = () if telemetry is None else telemetry.records.values()
    pointers = [
        pointer
        for kind in kinds
        for pointer in (*kind.unwrap[:1], *(pointer for pointer, _ in _uses(kind)))
        if pointer[:1] in ("/", "")  # no step of text leads into an object
    ]
    paths = [[key for key in steps(pointer) if key != ".."] for pointer in pointers]
    if any(not path or path[0] == "*" for path in paths):
        return None
    return frozenset(path[0] for path in paths)


def _uses(kind: RecordingRule) -> Iterator[tuple[str, str]]:
    """The pointers of a kind, each with what it is read as."""
    for pointer in kind.when:
        yield pointer, "when"
    for name in (kind.method, kind.route, kind.service):
        if name is not None:
            yield name, "name"
    if kind.time is not None:
        yield kind.time, "time"
    yield kind.status, "status"
    yield kind.url, "url"
    if kind.elapsed is not None:
        yield kind.elapsed[0], "elapsed"
    for part in (kind.request, kind.response):
        for place in (part.headers, part.body):
            if place is not None:
                yield place, "alone"
    for pointer in kind.slots.values():
        yield pointer, "slot"


def _quiet_statuses(taxonomy: Taxonomy) -> tuple[int, ...]:
    """The statuses of answers that no surface takes as errors, without a body that says it."""
    return tuple(
        status
        for status in range(100, 400)
        if crash_level(taxonomy, None, status) is None
        and not any(surface.is_error_status(status) for surface in taxonomy.surfaces.values())
    )
