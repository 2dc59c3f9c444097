"""Response headers: there where they must be, well formed, and saying what the body says."""

from collections.abc import Iterator, Mapping

from faultspec.contract.clauses import header_address
from faultspec.judge.bench import FindingCollector
from faultspec.judge.envelope import ErrorReading
from faultspec.judge.words import place
from faultspec.language import formats, header_syntax
from faultspec.language.model import Code, HeaderRule, Source
from faultspec.language.values import shown
from faultspec.runtime import http_dates, retry_after

_YEAR = 366 * 24 * 3600
"""Seconds: who is asked to wait longer was given seconds since 1970."""


def judge_headers(bench: FindingCollector, code: Code | None, told: ErrorReading | None) -> None:
    """Judge the headers of the whole answer; ``told`` is the envelope in it, if one was read."""
    status = bench.status
    if status is None or bench.exchange.transport != "http":
        return
    rules = bench.contract.headers(code, status)
    for rule in rules.values():
        _header(bench, rule, told, status)
    for header, slot, source in dict.fromkeys(_pairs(rules, told)):
        _equal(bench, header, slot, source, told)


def judge_repeated(bench: FindingCollector, told: ErrorReading) -> None:
    """Judge what an envelope inside the answer, such as an outcome of a batch, repeats of the answer's headers."""
    for header, slot, source in _pairs({}, told):
        _equal(bench, header, slot, source, told)


def _header(
    bench: FindingCollector, rules: tuple[HeaderRule, ...], told: ErrorReading | None, status: int
) -> None:
    """``rules`` are those for one header, the most specific last: it decides on the presence, all on the form."""
    rule = rules[-1]
    clause, lines = header_address(rule.name), bench.lines(rule.name.lower())
    if not lines:
        if rule.presence == "optional":
            return
        bench.exercise(clause)
        if rule.presence != "forbidden":
            must = "requires" if rule.presence == "required" else "should have"
            bench.broken(
                clause,
                f"`{rule.name}` is missing; {_who(bench, rule, status)} {must} it",
                source=rule.source,
                level="error" if rule.presence == "required" else "warning",
            )
        return
    bench.exercise(clause)
    if rule.presence == "forbidden":
        bench.broken(
            clause,
            f"`{rule.name}` must not be there; {_who(bench, rule, status)} forbids it",
            source=rule.source,
        )
        return
    listed = any(each.token or formats.LISTS.intersection(each.format) for each in rules)
    if not listed and len(lines) > 1:
        # RFC 9110, 5.3: who joins the lines, as most clients do, reads a value that nobody sent.
        values = (
            f"with different values: {', '.join(map(shown, lines))}"
            if len(set(lines)) > 1
            else "with one value"
        )
        bench.broken(
            clause, f"`{rule.name}` is there {len(lines)} times {values}", source=rule.source
        )
        return
    value = ", ".join(lines) if listed else lines[0]
    for each in rules:
        problem = formats.format_problem(each.format, value) or _judgement_on(
            bench, each, value, status
        )
        if problem and not _said_of_the_body(bench, value, told):
            bench.broken(clause, f"`{each.name}` is {shown(value)}: {problem}", source=each.source)
            return
        if each.token and each.token.lower() not in header_syntax.directives(value):
            bench.broken(
                clause,
                f"`{each.name}` is {shown(value)}; expected the directive `{each.token}`",
                source=each.source,
            )
            return
        other = _contradicted(each.token, value) if each.token else None
        if other is not None:
            message = f"`{each.name}` is {shown(value)}: `{other}` contradicts `{each.token}`"
            bench.broken(clause, message, source=each.source, level="warning")
            return


def _contradicted(token: str, value: str) -> str | None:
    """The directive that allows what the declared one forbids. The stricter one holds (RFC 9111, 4.2.1), where both are read."""
    if token.lower() != "no-store":
        return None
    for each in value.split(","):
        name, _, argument = each.strip().lower().partition("=")
        if name == "public" or (
            name in ("max-age", "s-maxage") and argument.strip('"') not in ("", "0")
        ):
            return each.strip()
    return None


def _judgement_on(bench: FindingCollector, rule: HeaderRule, value: str, status: int) -> str | None:
    """What is wrong with a well-formed value in the light of the rest of the answer."""
    if (
        "methods" in rule.format
        and status == 405
        and bench.exchange.request.method in header_syntax.methods(value)
    ):
        return f"it lists {bench.exchange.request.method}, which was just refused"
    if "retry-after" in rule.format:
        sent = http_dates.parse(bench.exchange.received("date") or "", now=0, lenient=True)
        if sent is not None and sent.seconds is not None:
            read = retry_after.parse(value, now=sent.seconds, lenient=False)
            if (
                read.form == "http-date"
                and read.seconds == 0
                and bench.exchange.received("date") != value
            ):
                return "that moment had passed when the answer was sent"
        read = retry_after.parse(value, now=0, lenient=False)
        if read.form == "delta-seconds" and (read.seconds or 0) > _YEAR:
            return "it is a delay of more than a year; a moment is written as an HTTP-date"
    return None


def _said_of_the_body(bench: FindingCollector, value: str, told: ErrorReading | None) -> bool:
    """Whether the body repeats the value and its form was found wrong there: one mistake, one finding."""
    if told is None:
        return False
    places = [told.where[slot] for slot, each in told.slots.items() if each == value]
    return any(bench.found(("ids/format", "envelope/types"), each) for each in places)


def _pairs(
    rules: Mapping[str, tuple[HeaderRule, ...]], told: ErrorReading | None
) -> Iterator[tuple[str, str, Source]]:
    """Headers and the slots they repeat, each pair once."""
    if told is None:
        return
    seen = set()
    for slot, field in told.envelope.fields.items():
        for header in (field.echo, field.mirror):
            if header is not None and (header.lower(), slot) not in seen:
                seen.add((header.lower(), slot))
                yield header, slot, field.source
    for each in rules.values():
        for rule in each:
            if rule.equals is not None and (rule.name.lower(), rule.equals) not in seen:
                seen.add((rule.name.lower(), rule.equals))
                yield rule.name, rule.equals, rule.source


def _equal(
    bench: FindingCollector, header: str, slot: str, source: Source, told: ErrorReading | None
) -> None:
    lines = bench.lines(header.lower())
    if told is None or slot not in told.slots or not lines:
        return
    declared = told.envelope.fields.get(slot)
    echoed = declared is not None and header.lower() in (
        (declared.echo or "").lower(),
        (declared.mirror or "").lower(),
    )
    clause = "correlation/header-equals-body" if echoed else header_address(header)
    value, pointer = told.slots[slot], told.where[slot]
    if value is None or isinstance(value, dict | list):
        return  # its type is what is wrong
    if bench.found(("ids/format", "envelope/types"), pointer):
        return  # so is its form, and no header has to repeat that
    bench.exercise(clause)
    text = value if isinstance(value, str) else shown(value)
    if len(set(lines)) == 1 and lines[0] != text:
        bench.broken(
            clause,
            f"the header `{header}` is {shown(lines[0])} and {place(pointer)} is {shown(value)}; expected the same",
            pointer=pointer,
            source=source,
        )


def _who(bench: FindingCollector, rule: HeaderRule, status: int) -> str:
    return f"`{bench.code}`" if bench.code and (rule.codes or not rule.on) else f"status {status}"
