"""What is known of a code, printed as the calls that ``codes.py`` makes; the names are those of its template."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from faultspec.language import formats
from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.language.model import Code, HeaderRule, Taxonomy
from faultspec.targets.doc_text import statuses
from faultspec.targets.filters import literal
from faultspec.targets.layout import Raw, broken
from faultspec.targets.memo import memoized

_ERRORS = range(400, 600)
_STATUSES = range(100, 600)


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
    constants: tuple[object, ...] = ()


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
        status_rules=tuple(
            StatusRule(rule.then, tuple(map(_test, rule.when))) for rule in code.http.rules
        ),
        headers=required_headers(code, taxonomy),
        constants=own_constants(code, taxonomy),
    )
    # With rules it is made anew: 1 and true are equal, and are not written alike.
    text = broken(facts, 4) if facts.rules or facts.status_rules else _common(facts)
    return text.replace('wire=""', f"wire={literal(code.wire)}", 1)


@lru_cache(maxsize=512)  # more combinations of statuses, flags and policies than a taxonomy has
def _common(facts: Facts) -> str:
    return broken(facts, 4)


def retriable_rules(rules: Sequence[ConditionalRule]) -> tuple[RetriableRule, ...]:
    """Rules that decide whether something may be sent again."""
    return tuple(RetriableRule(bool(rule.then), tuple(map(_test, rule.when))) for rule in rules)


def required_headers(code: Code, taxonomy: Taxonomy) -> tuple[object, ...]:
    """(name, ranges of statuses) of each header that an answer must have and that neither a slot nor a rule fills."""
    rules = [each for each in (*taxonomy.headers, *code.headers) if each.names(code.name)]
    if all(each.presence != "required" for each in rules):
        return ()
    filled = {(field.echo or field.mirror or "").lower() for field in taxonomy.fields()}
    spans = [
        *code.http.statuses,
        *(fallback.on for fallback in taxonomy.fallbacks if fallback.code == code.name),
    ]
    found: dict[str, list[StatusRange]] = {}
    for status in sorted(
        {status for each in spans for status in range(each.low, each.high + 1) if status in _ERRORS}
    ):
        for group in by_header(each for each in rules if each.spans(status)).values():
            rule = group[-1]  # it decides on the presence
            given = rule.equals or constant(group) or rule.name.lower() in filled
            if rule.presence == "required" and not given:
                found.setdefault(rule.name, []).append(StatusRange(status, status))
    return tuple(
        (name, tuple(Raw(span(each)) for each in merged(on))) for name, on in found.items()
    )


def by_header(rules: Iterable[HeaderRule]) -> dict[str, list[HeaderRule]]:
    """Rules by the header that they are for, in lower case."""
    found: dict[str, list[HeaderRule]] = {}
    for rule in rules:
        found.setdefault(rule.name.lower(), []).append(rule)
    return found


def constant(rules: Sequence[HeaderRule]) -> str | None:
    """The value that all rules for one header ask for together; None where they leave it open."""
    value = ", ".join({rule.token.lower(): rule.token for rule in rules if rule.token}.values())
    open_ = any(rule.equals or formats.format_problem(rule.format, value) for rule in rules)
    return None if open_ else value or None


def general_constants(taxonomy: Taxonomy) -> tuple[object, ...]:
    """(name, value, ranges of statuses) of the headers that have the same value whatever the code."""
    return _rows(_general(taxonomy))


@memoized
def _general(taxonomy: Taxonomy) -> dict[tuple[str, int], tuple[str, str | None]]:
    return _constants(None, taxonomy)


def own_constants(code: Code, taxonomy: Taxonomy) -> tuple[object, ...]:
    """The same, of those that differ for a code; the value is None where it has not got the header."""
    if (
        not any(header.codes for header in taxonomy.headers if header.names(code.name))
        and not code.headers
    ):
        return ()
    general, own = _general(taxonomy), _constants(code, taxonomy)
    differing = {key: own.get(key, (name, None)) for key, (name, _) in {**general, **own}.items()}
    return _rows({key: each for key, each in differing.items() if general.get(key) != each})


def _constants(
    code: Code | None, taxonomy: Taxonomy
) -> dict[tuple[str, int], tuple[str, str | None]]:
    """Name and value of each constant header by its name in lower case and the status."""
    found: dict[tuple[str, int], tuple[str, str | None]] = {}
    filled = {(field.echo or field.mirror or "").lower() for field in taxonomy.fields()}
    name = None if code is None else code.name
    named = (
        each for each in (*taxonomy.headers, *(code.headers if code else ())) if each.names(name)
    )
    for header, rules in by_header(named).items():
        if header in filled or not any(rule.token for rule in rules):
            continue
        for status in _STATUSES:
            spanning = [rule for rule in rules if rule.spans(status)]
            value = constant(spanning)
            if value is not None and spanning[-1].presence in ("required", "expected"):
                found[header, status] = (rules[0].name, value)
    return found


def _rows(found: Mapping[tuple[str, int], tuple[str, str | None]]) -> tuple[object, ...]:
    spans: dict[tuple[str, str | None], list[StatusRange]] = {}
    for (_, status), each in found.items():
        spans.setdefault(each, []).append(StatusRange(status, status))
    return tuple((*each, tuple(Raw(span(on)) for on in merged(ons))) for each, ons in spans.items())


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
    return (test.fact, (*test.values, *(Raw(f"*{span(range_)}") for range_ in test.ranges)))
