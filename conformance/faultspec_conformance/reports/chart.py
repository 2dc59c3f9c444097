"""The chart of a report: for each service, the share of errors of each hour or day."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from faultspec_conformance.results.activity import Activity, ServiceActivity, group_by_service
from faultspec_conformance.results.part import Part

#: Services that are shown; the JSON report has them all.
_SERVICES = 20

HEIGHT = 40
"""The height of the highest bar."""

_LEAST = 1.0
"""The height of a bar without an error, so that its hour is seen."""


class Bar(NamedTuple):
    """An hour or a day. ``x``: its number since the first one. ``state``: the verdict whose colour
    it has. ``text``: its counts.
    """

    x: int
    height: float
    state: str
    text: str


class Chart(NamedTuple):
    """A service over time, in ``width`` hours or days."""

    title: str
    width: int
    bars: tuple[Bar, ...]


def charts(part: Part | None) -> tuple[Chart, ...]:
    """The charts of observed traffic, by service; none without moments."""
    services = group_by_service(part.activity) if part is not None and part.activity else ()
    return tuple(_chart(service) for service in services[:_SERVICES])


def activity_lines(part: Part | None) -> Iterator[str]:
    """Each service in one line: when it answered, how much, and what went wrong."""
    if part is None:
        return
    if part.activity is None:
        yield "the exchanges over time are not listed: they are of too many services and days"
    services = group_by_service(part.activity or {})
    yield from (_title(service) for service in services[:_SERVICES])
    if len(services) > _SERVICES:
        yield f"… and {len(services) - _SERVICES} more services; the JSON report has them all"


def _title(service: ServiceActivity) -> str:
    moments = [since for since, _ in service.spans if since]
    when = f" from {moments[0]} to {moments[-1]}" if moments else ""
    name = service.service or "exchanges"
    return f"{name}{when}: {_counts(service.total)}"


def _counts(counts: Activity) -> str:
    rate = f"{counts.errors / counts.exchanges:.2%}" if counts.exchanges else "0 %"
    return (
        f"{counts.exchanges:,} exchanges, {counts.errors:,} errors ({rate}), "
        f"{counts.findings:,} findings"
    )


def _chart(service: ServiceActivity) -> Chart:
    spans = [(since, counts) for since, counts in service.spans if since]
    highest = max((_error_rate(counts) for _, counts in spans), default=0.0)
    first = _number(spans[0][0]) if spans else 0
    bars = tuple(
        Bar(
            x=_number(since) - first,
            height=round(max(_LEAST, HEIGHT * _error_rate(counts) / (highest or 1)), 1),
            state="failed" if counts.findings else "not_exercised" if counts.errors else "passed",
            text=f"{since}: {_counts(counts)}",
        )
        for since, counts in spans
    )
    return Chart(_title(service), bars[-1].x + 1 if bars else 0, bars)


def _error_rate(counts: Activity) -> float:
    return counts.errors / counts.exchanges if counts.exchanges else 0.0


def _number(since: str) -> int:
    """The number of an hour or a day since 1970."""
    has_hours = "T" in since
    text = f"{since}:00" if has_hours else since
    seconds = datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    return int(seconds // (3600 if has_hours else 86400))
