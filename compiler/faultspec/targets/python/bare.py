"""What can be answered with nobody there to give details: a framework says a status, and at most a few headers."""

from collections.abc import Iterator
from typing import NamedTuple

from faultspec.language.model import Code, Envelope, HeaderRule, HttpMapping, StatusRange, Taxonomy
from faultspec.runtime.shape import slot_places
from faultspec.targets import schema as schemas
from faultspec.targets.layout import Raw, source
from faultspec.targets.python.facts import merged, span

_ERRORS = range(400, 600)


class BareRow(NamedTuple):
    """A code that needs no details, and source of the headers that its answers must have: name and statuses of each."""

    member: str
    headers: str


class BareRows(NamedTuple):
    """The codes that an envelope can carry without anybody giving details."""

    envelope: str
    rows: tuple[BareRow, ...]


def bare_rows(taxonomy: Taxonomy, members: dict[str, str], flag: str | None) -> tuple[BareRows, ...]:
    """For each envelope, in order of declaration."""
    return tuple(
        BareRows(
            envelope.name,
            tuple(
                BareRow(
                    members[code.name], source(_required(code, taxonomy), 8, len(f"        {members[code.name]}: "))
                )
                for operation, code in schemas.answered(taxonomy, envelope.name)
                if operation is None and _is_bare(code, envelope, flag)
            ),
        )
        for envelope in taxonomy.envelopes.values()
    )


def _is_bare(code: Code, envelope: Envelope, flag: str | None) -> bool:
    """Whether the envelope has room for the code without its details, and its default status depends on none."""
    opaque = code.details_schema.opaque if code.details_schema is not None else None
    asks = isinstance(opaque, dict) and bool(opaque.get("required"))
    shown = any(place.required for place in slot_places(envelope.shape).get("details", ()))
    told = flag in code.details and code.details_schema is None
    return not asks and not schemas.needs_details(code) and (told or not shown) and _travels(code.http)


def _travels(http: HttpMapping) -> bool:
    """Whether some status is the code's whatever its details are; a first rule without tests, say, is for all."""
    return bool(http.statuses) and not any(
        test.fact.startswith("details.") or test.fact == "cause" for rule in http.rules for test in rule.when
    )


def _required(code: Code, taxonomy: Taxonomy) -> list[object]:
    """(lower-case name, ranges of statuses) of each header that an answer must have and that nothing else decides."""
    found: dict[str, list[StatusRange]] = {}
    borrowed = [each.on for each in taxonomy.fallbacks if each.code == code.name]
    for status in (each for each in _ERRORS if any(each in own for own in (*code.http.statuses, *borrowed))):
        for rule in _rules(code, taxonomy, status):
            if rule.presence == "required" and not rule.equals and not (rule.token and not rule.codes):
                found.setdefault(rule.name.lower(), []).append(StatusRange(status, status))
    return [(name, tuple(Raw(span(each)) for each in merged(on))) for name, on in found.items()]


def _rules(code: Code, taxonomy: Taxonomy, status: int) -> Iterator[HeaderRule]:
    """Of the rules for each header the last, which decides on its presence."""
    last = {rule.name.lower(): rule for rule in taxonomy.header_rules(code.name, status)}
    yield from last.values()
