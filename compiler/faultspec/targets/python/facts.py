"""What is known of a code, printed as the calls that ``codes.py`` makes; the names are those of its template."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from faultspec.language.model import Code, Rule, StatusRange, Taxonomy, Test
from faultspec.targets.described import statuses
from faultspec.targets.filters import literal
from faultspec.targets.layout import Raw, broken

_ERRORS = range(400, 600)


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
    headers: tuple[object, ...] = ()


class StatusRule(NamedTuple):
    """A rule of a status by condition: ``then`` where every fact has one of its values."""

    then: object
    when: object = ()


class RetriableRule(NamedTuple):
    """A rule of conditional retriability: ``then`` where every fact has one of its values."""

    then: bool
    when: object = ()


def source_of(code: Code, taxonomy: Taxonomy) -> str:
    """The call that makes the facts of a code, for a line indented by four."""
    facts = Facts(
        wire="",  # the one thing that no two codes have in common
        status=code.http.default,
        statuses=statuses(code.http.statuses, span, "*"),
        retriable=code.retriable.kind,
        client_action=code.client_action,
        effect=code.effect,
        domain=code.domain,
        boundaries=code.boundaries,
        retry=code.retry,
        until=code.retriable.until,
        actions=code.actions,
        rules=retriable_rules(code.retriable.rules),
        deprecated=code.lifecycle == "deprecated",
        status_rules=tuple(StatusRule(rule.then, tuple(map(_test, rule.when))) for rule in code.http.rules),
        headers=required_headers(code, taxonomy),
    )
    # With rules it is made anew: 1 and true are equal, and are not written alike.
    text = broken(facts, 4) if facts.rules or facts.status_rules else _common(facts)
    return text.replace('wire=""', f"wire={literal(code.wire)}", 1)


@lru_cache(maxsize=512)  # more combinations of statuses, flags and policies than a taxonomy has
def _common(facts: Facts) -> str:
    return broken(facts, 4)


def retriable_rules(rules: Sequence[Rule]) -> tuple[RetriableRule, ...]:
    """Rules that decide whether something may be sent again."""
    return tuple(RetriableRule(bool(rule.then), tuple(map(_test, rule.when))) for rule in rules)


def required_headers(code: Code, taxonomy: Taxonomy) -> tuple[object, ...]:
    """(name, ranges of statuses) of each header that an answer must have and that neither a slot nor a rule fills."""
    rules = [each for each in (*taxonomy.headers, *code.headers) if each.names(code.name)]
    if all(each.presence != "required" for each in rules):
        return ()
    filled = {(each.echo or each.mirror or "").lower() for each in taxonomy.fields()}
    spans = [*code.http.statuses, *(each.on for each in taxonomy.fallbacks if each.code == code.name)]
    found: dict[str, list[StatusRange]] = {}
    for status in sorted({status for each in spans for status in range(each.low, each.high + 1) if status in _ERRORS}):
        # Of the rules for a header the last decides.
        for rule in {each.name.lower(): each for each in rules if each.spans(status)}.values():
            given = rule.equals or (rule.token and not rule.codes) or rule.name.lower() in filled
            if rule.presence == "required" and not given:
                found.setdefault(rule.name, []).append(StatusRange(status, status))
    return tuple((name, tuple(Raw(span(each)) for each in merged(on))) for name, on in found.items())


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
