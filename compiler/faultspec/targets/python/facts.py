"""What is known of a code, printed as the calls that ``codes.py`` makes; the names are those of its template."""

from collections.abc import Sequence
from typing import NamedTuple

from faultspec.language.model import Code, StatusRange, Test
from faultspec.targets.layout import Raw, broken

#: Statuses up to which each is named; a longer stretch is written as a range.
NAMED_STATUSES = 8


class Facts(NamedTuple):
    """The row of a code in ``codes.FACTS``; the same fields, in the same order, as its template declares."""

    wire: str | int
    status: int | None
    statuses: object
    retriable: str
    client_action: str
    effect: str
    domain: str | None = None
    boundaries: tuple[str, ...] = ()
    retry: str | None = None
    until: str | None = None
    actions: tuple[str, ...] = ()
    rules: tuple["RetriableRule", ...] = ()
    deprecated: bool = False
    status_rules: tuple["StatusRule", ...] = ()


class StatusRule(NamedTuple):
    """A rule of a status by condition: ``then`` where every fact has one of its values."""

    then: object
    when: object = ()


class RetriableRule(NamedTuple):
    """A rule of conditional retriability: ``then`` where every fact has one of its values."""

    then: bool
    when: object = ()


def source_of(code: Code) -> str:
    """The call that makes the facts of a code, for a line indented by four."""
    facts = Facts(
        wire=code.wire,
        status=code.http.default,
        statuses=_statuses(code.http.statuses),
        retriable=code.retriable.kind,
        client_action=code.client_action,
        effect=code.effect,
        domain=code.domain,
        boundaries=code.boundaries,
        retry=code.retry,
        until=code.retriable.until,
        actions=code.actions,
        rules=tuple(RetriableRule(bool(rule.then), tuple(map(_test, rule.when))) for rule in code.retriable.rules),
        deprecated=code.lifecycle == "deprecated",
        status_rules=tuple(StatusRule(rule.then, tuple(map(_test, rule.when))) for rule in code.http.rules),
    )
    return broken(facts, 4)


def instead(code: Code) -> str:
    """`` since 2.0.0, use gone`` of a deprecated code, as far as it is declared."""
    return f" since {code.since}" * bool(code.since) + f", use {code.replaced_by}" * bool(code.replaced_by)


def span(each: StatusRange) -> str:
    """A range of statuses as source."""
    return f"range({each.low}, {each.high + 1})"


def merged(ranges: Sequence[StatusRange]) -> list[StatusRange]:
    """The same statuses in as few ranges as possible."""
    found: list[StatusRange] = []
    for each in sorted(ranges, key=lambda each: each.low):
        if found and each.low <= found[-1].high + 1:
            found[-1] = StatusRange(found[-1].low, max(found[-1].high, each.high))
        else:
            found.append(each)
    return found


def _test(test: Test) -> object:
    return (test.fact, (*test.values, *(Raw(f"*{span(each)}") for each in test.ranges)))


def _statuses(ranges: Sequence[StatusRange]) -> object:
    """A tuple of statuses; a range where it is long."""
    if len(ranges) == 1 and ranges[0].width > NAMED_STATUSES:
        return Raw(span(ranges[0]))
    parts: list[str] = []
    for each in ranges:
        if each.width > NAMED_STATUSES:
            parts.append(f"*{span(each)}")
        else:
            parts += map(str, range(each.low, each.high + 1))
    return tuple(map(Raw, dict.fromkeys(parts)))
