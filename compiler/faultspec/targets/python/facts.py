"""The facts of a code as the rows that ``codes.py`` has; classes and fields have the names of its
template.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from faultspec.language import formats
from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.language.model import Code, HeaderRule, Taxonomy
from faultspec.targets.doc_text import statuses
from faultspec.targets.literals import Verbatim
from faultspec.targets.memo import memoize

_ERRORS = range(400, 600)
_STATUSES = range(100, 600)


class Facts(NamedTuple):
    """The row of a code in ``codes.FACTS``; fields and order are those of its template."""

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
    owner: str | None = None
    runbook: str | None = None
    docs: str | None = None
    fault: str | None = None
    exact_actions: bool = False


class StatusRule(NamedTuple):
    """A rule for the status: ``then`` if every fact has one of its values."""

    then: object
    when: object = ()


class RetriableRule(NamedTuple):
    """A rule for the retry flag: ``then`` if every fact has one of its values."""

    then: bool
    when: object = ()


def code_facts(code: Code, taxonomy: Taxonomy) -> Facts:
    """The facts of a code."""
    return Facts(
        wire=code.wire,
        status=code.http.default,
        statuses=statuses(code.http.statuses, span, "*"),
        retriable=code.retriable.flag_kind,
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
        headers=required_header_facts(code, taxonomy),
        constants=own_constants(code, taxonomy),
        exact_actions=code.exact_actions,
        **code.support._asdict(),
    )


def retriable_rules(rules: Sequence[ConditionalRule]) -> tuple[RetriableRule, ...]:
    """Rules that decide whether a request may be sent again."""
    return tuple(RetriableRule(bool(rule.then), tuple(map(_test, rule.when))) for rule in rules)


def required_header_facts(code: Code, taxonomy: Taxonomy) -> tuple[object, ...]:
    """(name, ranges of statuses) of each required header that neither a slot nor a rule fills."""
    return tuple(
        (name, tuple(Verbatim(span(part)) for part in on))
        for name, on in required_headers(code, taxonomy).items()
    )


def required_headers(code: Code, taxonomy: Taxonomy) -> Mapping[str, Sequence[StatusRange]]:
    """The statuses of each required header that neither a slot nor a rule fills."""
    rules = [rule for rule in (*taxonomy.headers, *code.headers) if rule.names(code.name)]
    if all(rule.presence != "required" for rule in rules):
        return {}
    filled = {(field.echo or field.mirror or "").lower() for field in taxonomy.fields()}
    spans = [
        *code.http.statuses,
        *(fallback.on for fallback in taxonomy.fallbacks if fallback.code == code.name),
    ]
    found: dict[str, list[StatusRange]] = {}
    for status in sorted(
        {status for on in spans for status in range(on.low, on.high + 1) if status in _ERRORS}
    ):
        for group in group_by_header(rule for rule in rules if rule.spans(status)).values():
            rule = group[-1]  # it decides on the presence
            given = rule.equals or constant_value(group) or rule.name.lower() in filled
            if rule.presence == "required" and not given:
                found.setdefault(rule.name, []).append(StatusRange(status, status))
    return {name: merge_ranges(on) for name, on in found.items()}


def group_by_header(rules: Iterable[HeaderRule]) -> dict[str, list[HeaderRule]]:
    """Rules by the lower-case name of their header."""
    found: dict[str, list[HeaderRule]] = {}
    for rule in rules:
        found.setdefault(rule.name.lower(), []).append(rule)
    return found


def constant_value(rules: Sequence[HeaderRule]) -> str | None:
    """The value that all rules for one header demand together; None if they leave it open."""
    constants = [rule.constant for rule in rules if rule.constant]
    value = ", ".join({constant.lower(): constant for constant in constants}.values())
    open_ = any(rule.equals or formats.format_problem(rule.format, value) for rule in rules)
    return None if open_ else value or None


class Constant(NamedTuple):
    """A header with one value under these statuses; None if the header is not there."""

    name: str
    value: str | None
    on: Sequence[StatusRange]


def general_constants(taxonomy: Taxonomy) -> tuple[object, ...]:
    """(name, value, ranges of statuses) of the headers that have one value for every code."""
    return tuple(map(_row, constants_of_all(taxonomy)))


def constants_of_all(taxonomy: Taxonomy) -> tuple[Constant, ...]:
    """The headers that have one value for every code."""
    return _merge_constants(_constants_of_all(taxonomy))


@memoize
def _constants_of_all(taxonomy: Taxonomy) -> dict[tuple[str, int], tuple[str, str | None]]:
    return _constants(None, taxonomy)


def own_constants(code: Code, taxonomy: Taxonomy) -> tuple[object, ...]:
    """(name, value, ranges of statuses) of the headers that differ for a code."""
    return tuple(map(_row, constants_of_code(code, taxonomy)))


def constants_of_code(code: Code, taxonomy: Taxonomy) -> tuple[Constant, ...]:
    """The headers that differ for a code; the value is None if the code lacks the header."""
    if (
        not any(header.codes for header in taxonomy.headers if header.names(code.name))
        and not code.headers
    ):
        return ()
    general, own = _constants_of_all(taxonomy), _constants(code, taxonomy)
    differing = {key: own.get(key, (name, None)) for key, (name, _) in {**general, **own}.items()}
    return _merge_constants(
        {key: value for key, value in differing.items() if general.get(key) != value}
    )


def _constants(
    code: Code | None, taxonomy: Taxonomy
) -> dict[tuple[str, int], tuple[str, str | None]]:
    """Name and value of each constant header by its name in lower case and the status."""
    found: dict[tuple[str, int], tuple[str, str | None]] = {}
    filled = {(field.echo or field.mirror or "").lower() for field in taxonomy.fields()}
    name = None if code is None else code.name
    named = (
        rule for rule in (*taxonomy.headers, *(code.headers if code else ())) if rule.names(name)
    )
    for header, rules in group_by_header(named).items():
        if header in filled or not any(rule.constant for rule in rules):
            continue
        for status in _STATUSES:
            spanning = [rule for rule in rules if rule.spans(status)]
            value = constant_value(spanning)
            if value is not None and spanning[-1].presence in ("required", "expected"):
                found[header, status] = (rules[0].name, value)
    return found


def _merge_constants(
    found: Mapping[tuple[str, int], tuple[str, str | None]],
) -> tuple[Constant, ...]:
    spans: dict[tuple[str, str | None], list[StatusRange]] = {}
    for (_, status), value in found.items():
        spans.setdefault(value, []).append(StatusRange(status, status))
    return tuple(Constant(*value, merge_ranges(ons)) for value, ons in spans.items())


def _row(constant: Constant) -> object:
    return (constant.name, constant.value, tuple(Verbatim(span(on)) for on in constant.on))


def span(on: StatusRange) -> str:
    """A range of statuses as Python source."""
    return f"range({on.low}, {on.high + 1})"


def merge_ranges(ranges: Sequence[StatusRange]) -> list[StatusRange]:
    """The same statuses in as few ranges as possible."""
    found: list[StatusRange] = []
    for on in sorted(ranges, key=lambda on: on.low):
        if found and on.low <= found[-1].high + 1:
            found[-1] = StatusRange(found[-1].low, max(found[-1].high, on.high))
        else:
            found.append(on)
    return found


def _test(test: Test) -> object:
    return (test.fact, (*test.values, *(Verbatim(f"*{span(range_)}") for range_ in test.ranges)))
