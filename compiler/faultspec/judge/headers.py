"""Response headers: present where required, well formed, and consistent with the body."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from faultspec.contract.clauses import header_address
from faultspec.exchange.sensitive import MASK
from faultspec.judge.collector import FindingCollector, quote_pointer
from faultspec.judge.match_envelope import ErrorReading, status_of
from faultspec.language import formats, header_syntax
from faultspec.language.model import Code, HeaderRule, Source, Surface
from faultspec.language.values import check_header_text, show
from faultspec.runtime import http_dates, retry_after

_EQUAL = "correlation/header-equals-body"

_YEAR = 366 * 24 * 3600
"""Seconds: a longer wait is a number of seconds since 1970."""


def judge_headers(
    findings: FindingCollector, code: Code | None, error: ErrorReading | None
) -> None:
    """Judge the headers of an answer; ``error`` is the error in its body, if one was read."""
    status = findings.status
    if status is None or findings.exchange.transport != "http":
        return
    if error is None and _is_foreign(findings):
        return
    surface = _surface_with_rules(findings)
    rules = findings.contract.headers(code, status, surface)
    if rules and code is None and "code" in findings.exchange.lacks:
        _decide_by_status(findings, rules, status, surface)
    others = list(_rules_of_others(findings, error, surface)) if error is not None else []
    needed = {name for _, _, name, own in others if own[-1].presence == "required"}
    for name, header_rules in rules.items():
        if name not in needed or header_rules[-1].presence != "forbidden":
            _judge_header(findings, header_rules, error, status)
    first = findings.code
    for other, own_status, name, header_rules in others:
        if header_rules[-1].presence != "forbidden" and header_rules != rules.get(name):
            findings.code = other.name
            _judge_header(findings, header_rules, error, own_status)
    findings.code = first
    if error is not None:
        for repetition in dict.fromkeys(_repetitions(rules, error)):
            _judge_equal(findings, error, repetition)
        _require_mirrors(findings, error)


def _require_mirrors(findings: FindingCollector, error: ErrorReading) -> None:
    """Check that a header which mirrors a slot of the body is there, unless its rule reports it."""
    for slot, field in error.envelope.fields.items():
        name = field.mirror
        if name is None or slot not in error.slots or findings.lines(name.lower()):
            continue
        findings.exercise(_EQUAL)
        if not findings.has((header_address(name),), None):
            pointer = error.where[slot]
            message = f"the header `{name}` is missing, which repeats {quote_pointer(pointer)}"
            findings.add(_EQUAL, message, pointer=pointer, source=field.source)


def _decide_by_status(
    findings: FindingCollector,
    rules: Mapping[str, tuple[HeaderRule, ...]],
    status: int,
    surface: Surface | None,
) -> None:
    """Decide the clauses of the headers that have the same rules for every code of the status, so
    that the code, which the record leaves out, does not matter.
    """
    contract, lacks = findings.contract, findings.exchange.lacks - {"code"}
    names = contract.codes_for(status)
    possible = [
        code
        for code in contract.taxonomy.every_code()
        if code.live and (code.http.allows(status) or code.name in names)
    ]
    for name, own in rules.items():
        clause = header_address(own[-1].name)
        if own[-1].presence == "optional" and not findings.lines(name):
            continue
        if clause in contract.clauses and not contract.clauses[clause].judgeable(lacks):
            continue
        if all(contract.headers(code, status, surface).get(name) == own for code in possible):
            findings.decide(clause)


def _surface_with_rules(findings: FindingCollector) -> Surface | None:
    """The surface of the answer, if a surface has header rules."""
    surfaces = findings.contract.taxonomy.surfaces.values()
    if not any(surface.headers for surface in surfaces):
        return None
    claim = findings.contract.claim(findings.exchange)
    return claim.surface if claim is not None else None


def _rules_of_others(
    findings: FindingCollector, error: ErrorReading, surface: Surface | None
) -> Iterator[tuple[Code, int, str, tuple[HeaderRule, ...]]]:
    """The rules for the headers of the further errors of a list, each with its code and status."""
    for other in error.others:
        code = other.code
        status = status_of(other, findings.status)
        if code is None or not code.live or status is None:
            continue
        if not code.http.allows(status):
            status = code.http.default or status
        for name, rules in findings.contract.headers(code, status, surface).items():
            yield code, status, name, rules


def _is_foreign(findings: FindingCollector) -> bool:
    """Whether the answer is an error of a surface that allows bodies without an envelope."""
    status, claim = findings.status, findings.contract.claim(findings.exchange)
    if claim is None or status is None or status < 400:
        return False
    return not claim.envelopes or (
        claim.surface.reason is not None and findings.exchange.request.method.upper() != "HEAD"
    )


def judge_repeated(findings: FindingCollector, error: ErrorReading) -> None:
    """Judge the slots of an error inside the answer, such as a batch item, that repeat headers."""
    for repetition in _repetitions({}, error):
        _judge_equal(findings, error, repetition)


def _judge_header(
    findings: FindingCollector,
    rules: tuple[HeaderRule, ...],
    error: ErrorReading | None,
    status: int,
) -> None:
    """Judge one header: its presence by the last, most specific rule, its form by all rules."""
    rule = rules[-1]
    clause, lines = header_address(rule.name), findings.lines(rule.name.lower())
    if not lines:
        if rule.presence == "optional":
            return
        findings.exercise(clause)
        if rule.presence != "forbidden":
            requires = "requires" if rule.presence == "required" else "should have"
            findings.add(
                clause,
                f"`{rule.name}` is missing; {_subject(findings, rule, status)} {requires} it",
                source=rule.source,
                level="error" if rule.presence == "required" else "warning",
            )
        return
    findings.exercise(clause)
    if rule.presence == "forbidden":
        findings.add(
            clause,
            f"`{rule.name}` is present; {_subject(findings, rule, status)} forbids it",
            source=rule.source,
        )
        return
    listed = any(each.token or formats.LISTS.intersection(each.format) for each in rules)
    if not listed and len(lines) > 1:
        # Most clients join the lines (RFC 9110 section 5.3) and so read a value that nobody sent.
        values = (
            f"with different values: {', '.join(map(show, lines))}"
            if len(set(lines)) > 1
            else "with one value"
        )
        findings.add(
            clause, f"`{rule.name}` appears {len(lines)} times {values}", source=rule.source
        )
        return
    value = ", ".join(lines) if listed else lines[0]
    for rule in rules:
        if _judge_form(findings, rule, value, error):
            return


def _judge_form(
    findings: FindingCollector, rule: HeaderRule, value: str, error: ErrorReading | None
) -> bool:
    """Judge the value of a header by one rule; whether it is broken."""
    clause = header_address(rule.name)
    hides = rule.name.lower() in findings.contract.sensitive.headers
    shown_value = f"`{rule.name}` is {MASK if hides else show(value)}"
    problem = formats.format_problem(rule.format, value) or _problem_in_context(
        findings, rule, value
    )
    if problem and not _is_reported_in_body(findings, value, error):
        findings.add(clause, f"{shown_value}: {problem}", source=rule.source)
        return True
    for wrong in check_header_text(rule, value, findings.contract.terms):
        message = f"`{rule.name}` {wrong.without_value if hides else wrong.problem}"
        findings.add(clause, message, source=rule.source)
        return True
    if not rule.token:
        return False
    if rule.token.lower() not in header_syntax.directives(value):
        message = f"{shown_value}; expected the directive `{rule.token}`"
        findings.add(clause, message, source=rule.source)
        return True
    other = _contradicting_directive(rule.token, value)
    if other is None:
        return False
    message = f"{shown_value}: `{other}` contradicts `{rule.token}`"
    findings.add(clause, message, source=rule.source, level="warning")
    return True


def _contradicting_directive(token: str, value: str) -> str | None:
    """The directive that allows what ``no-store`` forbids.

    A cache obeys the stricter one (RFC 9111 section 4.2.1).
    """
    if token.lower() != "no-store":
        return None
    for directive in value.split(","):
        name, _, argument = directive.strip().lower().partition("=")
        if name == "public" or (
            name in ("max-age", "s-maxage") and argument.strip('"') not in ("", "0")
        ):
            return directive.strip()
    return None


def _problem_in_context(findings: FindingCollector, rule: HeaderRule, value: str) -> str | None:
    """The fault of a well-formed value, given the rest of the exchange."""
    exchange = findings.exchange
    if (
        "methods" in rule.format
        and findings.status == 405
        and exchange.request.method in header_syntax.methods(value)
    ):
        return f"it lists {exchange.request.method}, but the service refused that method with 405"
    if "retry-after" not in rule.format:
        return None
    date = exchange.response_header("date")
    sent = http_dates.parse(date or "", now=0, lenient=True)
    if sent is not None and sent.seconds is not None:
        wait = retry_after.parse(value, now=sent.seconds, lenient=False)
        if wait.form == "http-date" and wait.seconds == 0 and date != value:
            return "that moment had passed when the answer was sent"
    wait = retry_after.parse(value, now=0, lenient=False)
    if wait.form == "delta-seconds" and (wait.seconds or 0) > _YEAR:
        return "it is a delay of more than a year; write a point in time as an HTTP-date"
    return None


def _is_reported_in_body(
    findings: FindingCollector, value: str, error: ErrorReading | None
) -> bool:
    """Whether the body repeats the value and a finding about it exists there."""
    return error is not None and any(
        findings.has(("ids/format", "envelope/types"), error.where[slot])
        for slot, slot_value in error.slots.items()
        if slot_value == value
    )


class _Repetition(NamedTuple):
    """A header that repeats a slot, as declared at ``source``."""

    header: str
    slot: str
    source: Source


def _repetitions(
    rules: Mapping[str, tuple[HeaderRule, ...]], error: ErrorReading
) -> Iterator[_Repetition]:
    """Headers and the slots they repeat, each pair once."""
    seen = set()
    for slot, field in error.envelope.fields.items():
        for header in (field.echo, field.mirror):
            if header is not None and (header.lower(), slot) not in seen:
                seen.add((header.lower(), slot))
                yield _Repetition(header, slot, field.source)
    for header_rules in rules.values():
        for rule in header_rules:
            if rule.equals is not None and (rule.name.lower(), rule.equals) not in seen:
                seen.add((rule.name.lower(), rule.equals))
                yield _Repetition(rule.name, rule.equals, rule.source)


def _judge_equal(findings: FindingCollector, error: ErrorReading, repetition: _Repetition) -> None:
    """Check that a header and the slot that repeats it are equal, unless the slot is at fault."""
    header, slot, source = repetition
    lines = findings.lines(header.lower())
    if slot not in error.slots or not lines:
        return
    value, pointer = error.slots[slot], error.where[slot]
    wrong_type = value is None or isinstance(value, dict | list)
    if wrong_type or findings.has(("ids/format", "envelope/types"), pointer):
        return
    field = error.envelope.fields.get(slot)
    names = ((field.echo or "").lower(), (field.mirror or "").lower()) if field else ()
    clause = _EQUAL if header.lower() in names else header_address(header)
    findings.exercise(clause)
    text = value if isinstance(value, str) else show(value)
    if len(set(lines)) == 1 and lines[0] != text:
        findings.add(
            clause,
            f"the header `{header}` is {findings.show(lines[0], pointer)} and "
            f"{quote_pointer(pointer)} is {findings.show(value, pointer)}; expected equal values",
            pointer=pointer,
            source=source,
        )


def _subject(findings: FindingCollector, rule: HeaderRule, status: int) -> str:
    by_code = findings.code and (rule.codes or not rule.on)
    return f"`{findings.code}`" if by_code else f"status {status}"
