"""The details of an error, as its code and the registry declare them."""

import re
from collections.abc import Mapping
from itertools import islice
from math import ceil, isfinite
from typing import NamedTuple

from faultspec.exchange.finding import Level
from faultspec.exchange.sensitive import MASK
from faultspec.judge.collector import LISTED, FindingCollector
from faultspec.judge.match_envelope import ErrorReading
from faultspec.judge.slots import slot_place, value_problems
from faultspec.language import header_syntax
from faultspec.language.model import Code, Presence, Source, Strictness
from faultspec.language.values import show
from faultspec.runtime import http_dates, retry_after
from faultspec.runtime.nodes import child


class _Details(NamedTuple):
    """The members of the details at the pointer ``at``, of an error with ``code``."""

    code: Code
    members: Mapping[str, object]
    at: str


def judge_details(findings: FindingCollector, error: ErrorReading, code: Code) -> None:
    """Check the details of an error with a live code."""
    at = slot_place(error, "details")
    if at is None:
        return
    value = error.value("details")
    if code.details_schema is not None:
        if "details" in error.slots:
            _judge_imported(findings, code, value, at)
    elif isinstance(value, dict):
        details = _Details(code, value, at)
        _judge_required(findings, error, details)
        _judge_declared(findings, details)
        _judge_registered(findings, error, details)
        _judge_repeated_headers(findings, details)
        _judge_retry_hints(findings, details)
    elif "details" not in error.slots:
        _judge_required(findings, error, _Details(code, {}, at))


def _judge_required(findings: FindingCollector, error: ErrorReading, details: _Details) -> None:
    """Check that the details have what the code and the surface require."""
    surface, code = error.claim.surface, details.code
    demands: dict[str, tuple[str, str, Presence, Source]] = {}
    wanted = {
        name: member
        for name, member in code.details.items()
        if member.presence in ("required", "expected")
    }
    if wanted:
        findings.exercise("details/required")
    for name, member in wanted.items():
        source = member.source if member.source.statements else code.source
        demands[name] = "details/required", f"`{code.name}`", member.presence, source
    clause = "stream/offset" if surface.transport == "stream" else "details/required"
    for name in surface.requires_details:
        findings.exercise(clause)
        demands[name] = clause, f"the surface `{surface.name}`", "required", surface.source
    for name, (clause, subject, presence, source) in demands.items():
        if name not in details.members:
            findings.add_missing(
                clause,
                child(details.at, name),
                subject,
                source=source,
                required=presence == "required",
            )


def _judge_declared(findings: FindingCollector, details: _Details) -> None:
    """Check the keys that the code lists."""
    registry = findings.contract.taxonomy.detail_keys
    code = details.code
    for name, member in code.details.items():
        if name not in details.members:
            continue
        findings.exercise("details/schema")
        pointer = child(details.at, name)
        if member.presence == "forbidden":
            predicate = f"is present; `{code.name}` forbids it"
            findings.add_at("details/schema", pointer, predicate, source=member.source)
            continue
        registered = registry[name].source if name in registry else Source()
        source = member.source if member.source.statements else registered
        for problem in value_problems(findings, member.schema, details.members[name]):
            findings.add_problem("details/schema", problem, pointer, source=source)


def _judge_registered(findings: FindingCollector, error: ErrorReading, details: _Details) -> None:
    """Check that keys which the code does not list are registered, with their registered type."""
    registry, listed, at = findings.contract.taxonomy.detail_keys, details.code.details, details.at
    field = error.envelope.fields.get("details")
    strictness: Strictness = field.additional if field else "warn"
    if not registry and not listed:
        return
    unlisted = [name for name in details.members if name not in listed]
    if strictness != "allow":
        findings.exercise("details/registered")
        places = [child(at, name) for name in unlisted if name not in registry]
        if places:
            findings.add(
                "details/registered",
                f"{findings.quote_places(places)} not registered; declare each key under "
                "`detail_keys`",
                pointer=places[0] if len(places) == 1 else at,
                source=(field or error.envelope).source,
                level="error" if strictness == "forbid" else "warning",
            )
    for name in unlisted:
        key = registry.get(name)
        if key is None:
            continue
        findings.exercise("details/registered")
        for problem in value_problems(findings, key.schema, details.members[name]):
            findings.add_problem(
                "details/registered", problem, child(at, name), source=key.source, level="warning"
            )


def _judge_repeated_headers(findings: FindingCollector, details: _Details) -> None:
    """Check the details that repeat a header: a wait in seconds, or a validator."""
    for key in findings.contract.taxonomy.detail_keys.values():
        value = details.members.get(key.name)
        header = findings.exchange.response_header(key.equals_header) if key.equals_header else None
        if key.equals_header is None or header is None:
            continue
        is_wait = key.equals_header.lower() == "retry-after"
        agrees = _equals_wait(value, header) if is_wait else _equals_validator(value, header)
        if agrees is None:
            continue
        findings.exercise("details/validator")
        pointer = child(details.at, key.name)
        if not agrees:
            hides = findings.contract.sensitive.covers(pointer)
            sent = MASK if hides else _quote_validator(header)
            problem = f"the header `{key.equals_header}` is {sent}"
        elif findings.status == 412 and isinstance(value, str) and _was_sent(findings, header):
            problem = "the request sent this validator in If-Match, and the service refused it"
        else:
            continue
        predicate = f"is {findings.show(value, pointer)}; {problem}"
        findings.add_at("details/validator", pointer, predicate, source=key.source)


def _judge_retry_hints(findings: FindingCollector, details: _Details) -> None:
    """Check that a wait among the details is that of `Retry-After`, which rounds it up."""
    header = findings.exchange.response_header("retry-after")
    if header is None or not re.fullmatch("[0-9]{1,9}", header):
        return
    date = http_dates.parse(findings.exchange.response_header("date") or "", now=0, lenient=True)
    sent = date.seconds if date is not None else None
    for key in findings.contract.taxonomy.retry_hints:
        value = details.members.get(key.name)
        is_moment = isinstance(value, str) and "T" in value
        seconds = retry_after.hint_seconds(value, key.unit, now=sent or 0)
        if seconds is None or (is_moment and sent is None):
            continue
        findings.exercise("details/validator")
        given = f"the header `Retry-After` is {header}"
        pointer = child(details.at, key.name)
        shown = findings.show(value, pointer)
        slack = 1 if is_moment else 0  # the date of the answer is a whole second
        if seconds < 0:
            predicate = f"is {shown}, which asks not to try again; {given}"
        elif abs(int(header) - ceil(seconds)) > slack:
            unit = f" {key.unit}" if isinstance(value, int | float) else ""
            wait = MASK if shown == MASK else f"{seconds:g}"
            predicate = f"is {shown}{unit}, a wait of {wait} s; {given}"
        else:
            continue
        findings.add_at("details/validator", pointer, predicate, source=key.source)


def _quote_validator(tag: str) -> str:
    """A validator in quotes; an entity tag has its own (RFC 9110 section 8.8.3)."""
    return tag if tag.endswith('"') and '"' in tag[:-1] else show(tag)


def _equals_validator(value: object, header: str) -> bool | None:
    """Whether a detail equals the validator of a header; None where it is not text."""
    if not isinstance(value, str):
        return None
    return header_syntax.etag_value(value) == header_syntax.etag_value(header)


def _equals_wait(value: object, header: str) -> bool | None:
    """Whether a detail, rounded up, equals a header's seconds; None where one is not a number."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not re.fullmatch("[0-9]{1,9}", header)
    ):
        return None
    return isfinite(value) and int(header) == ceil(value)


def _was_sent(findings: FindingCollector, etag: str) -> bool:
    """Whether If-Match had this strong validator, which a 412 refuses (RFC 9110 section 13.1.1)."""
    sent = findings.exchange.request_header("if-match")
    if (
        sent is None
        or findings.exchange.request_header("if-none-match") is not None
        or etag.startswith("W/")
    ):
        return False
    return etag in header_syntax.items(sent)


def _judge_imported(findings: FindingCollector, code: Code, details: object, at: str) -> None:
    """Check details against the schema that was imported for the code."""
    assert code.details_schema is not None
    findings.exercise("details/schema")
    for problem in islice(value_problems(findings, code.details_schema, details), LISTED):
        # A schema that cannot be applied is not the service's fault.
        level: Level | None = "warning" if problem.keyword == "unusable" else None
        findings.add_problem("details/schema", problem, at, source=code.source, level=level)
