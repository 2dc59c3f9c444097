"""The Markdown target: a reference, one page a taxonomy, with one anchor for each code.

A code's anchor is its name, an operation's own code ``operation.code``; everything else has a kind
in front (``envelope:error``), which no code can have. What there is one of for each code stands on
a line of its own, so that another code only adds lines.

The templates print the constructs of the taxonomy itself. The view adds values that no construct
has: what is derived from several constructs, schemas, and the delays of policies.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from faultspec.language.carriers import carriers, reaches
from faultspec.language.model import (
    Code,
    DetailKey,
    DetailMember,
    Envelope,
    Field,
    HeaderRule,
    Override,
    RetryPolicy,
    Schema,
    Taxonomy,
)
from faultspec.runtime import shape
from faultspec.runtime.retry import Failure, Phase, Plan, Policy, State, bounds, plan, start
from faultspec.targets import openapi
from faultspec.targets import schema as schemas
from faultspec.targets.jsonschema import definition
from faultspec.targets.model import DetailRow, Model, detail_row, phrase
from faultspec.targets.surface_map import surface_map

_SHOWN_DELAYS = 5
"""The delays of a phase that the page shows; more would not fit on a line."""

_SHOWN_RETRIES = 12
"""The retries on the time line of a policy; few policies have more."""

_LINE = 48
"""The characters of a time line: with its times it fits beside others in a narrow window."""


class EnvelopeExample(NamedTuple):
    """An example of a code. ``status``: that of its HTTP answer, or None on other transports."""

    summary: str | None
    envelope: str
    status: int | None
    headers: Mapping[str, str]
    body: object


class CodeSection(NamedTuple):
    """A code on the page. ``label``: its anchor. ``operation``: the one that has it so, alone if it
    is ``owned``.

    ``replaced_by``: the anchor of its replacement, if that is declared. ``headers``: its own rules,
    and those for its statuses. ``overrides``: what is decided otherwise than in the base.
    """

    code: Code
    label: str
    operation: str | None
    owned: bool
    replaced_by: str | None
    several_statuses: bool
    surfaces: tuple[str, ...]
    headers: tuple[HeaderRule, ...]
    imported_details: object
    details: tuple[DetailRow, ...]
    examples: tuple[EnvelopeExample, ...]
    overrides: tuple[Override, ...]


class StatusLine(NamedTuple):
    """A status, or a wide range, and a code that claims it."""

    low: int
    high: int
    phrase: str
    label: str


class PhaseDelays(NamedTuple):
    """A phase and its first delays in seconds."""

    phase: Phase
    delays: tuple[float, ...]


class TimelineRow(NamedTuple):
    """A retry on the time line of a policy. ``request``: its number; the first request is 1.

    ``earliest`` and ``latest``: seconds of waiting after the first failure, if chance gives the
    shortest or the longest delay each time. ``indent`` and ``width``: the place of that band on
    the line, in characters.
    """

    request: int
    earliest: float
    latest: float
    indent: int
    width: int


class PolicySection(NamedTuple):
    """A policy. ``least`` and ``most``: the factors of its jitter. ``kinds``: codes by kind."""

    policy: RetryPolicy
    retries: int | None
    timeline: tuple[TimelineRow, ...]
    phases: tuple[PhaseDelays, ...]
    least: float
    most: float
    kinds: Mapping[str, tuple[str, ...]]


class MarkdownView(NamedTuple):
    """The page. ``codes``: those that services send; ``gone``: the others. Schemas have no
    description.
    """

    taxonomy: Taxonomy
    anchors: frozenset[str]
    codes: tuple[CodeSection, ...]
    gone: tuple[CodeSection, ...]
    statuses: tuple[StatusLine, ...]
    surface_map: tuple[str, ...]
    fields: Mapping[str, tuple[tuple[Field, schemas.Json], ...]]
    detail_keys: tuple[tuple[DetailKey, schemas.Json], ...]
    policies: tuple[PolicySection, ...]
    record: tuple[tuple[DetailMember, schemas.Json], ...]


def view(taxonomy: Taxonomy, model: Model) -> MarkdownView:
    """The page of a taxonomy."""
    declared = [
        (path[1] if path[0] == "operations" else None, code)
        for path, code in (*taxonomy.located_codes(), *taxonomy.variants())
    ]
    anchors = frozenset(definition(operation, code) for operation, code in declared)
    sections = [_code(operation, code, taxonomy, anchors) for operation, code in declared]
    return MarkdownView(
        taxonomy=taxonomy,
        anchors=anchors,
        codes=tuple(section for section in sections if section.code.live),
        gone=tuple(section for section in sections if not section.code.live),
        statuses=_statuses(taxonomy),
        surface_map=surface_map(taxonomy),
        fields={
            name: tuple(
                (field, _constraints(field.schema, taxonomy)) for field in envelope.fields.values()
            )
            for name, envelope in taxonomy.envelopes.items()
        },
        detail_keys=tuple(
            (key, _constraints(key.schema, taxonomy)) for key in taxonomy.detail_keys.values()
        ),
        policies=tuple(map(_policy, taxonomy.retry_policies.values())),
        record=tuple(
            (member, _constraints(member.schema, taxonomy))
            for member in (taxonomy.audit.record.values() if taxonomy.audit else ())
        ),
    )


def _constraints(schema: Schema, taxonomy: Taxonomy) -> schemas.Json:
    """The schema of a value without its meaning, which stands beside it."""
    return _without_description(schemas.known_value(schema, taxonomy))


def _without_description(schema: Mapping[str, Any]) -> schemas.Json:
    return {key: member for key, member in schema.items() if key != "description"}


def _code(
    operation: str | None, code: Code, taxonomy: Taxonomy, anchors: frozenset[str]
) -> CodeSection:
    path = ("codes",) if operation is None else ("operations", operation, "errors")
    path = (*path, code.name)
    replacements = (f"{operation}.{code.replaced_by}", code.replaced_by)
    imported = code.details_schema is not None
    rows = () if imported else (detail_row(member, taxonomy) for member in code.details.values())
    return CodeSection(
        code=code,
        label=definition(operation, code),
        operation=operation,
        owned=taxonomy.owns(operation, code),
        replaced_by=next((anchor for anchor in replacements if anchor in anchors), None),
        several_statuses=len(list(code.http.allowed_statuses())) > 1,
        surfaces=tuple(
            surface.name
            for surface in taxonomy.surfaces.values()
            if reaches(surface, code, of_operation=taxonomy.owns(operation, code))
        ),
        headers=(*code.headers, *(rule for rule in taxonomy.headers if _concerns(rule, code))),
        imported_details=schemas.details_schema(code, taxonomy) if imported else None,
        details=tuple(row._replace(schema=_without_description(row.schema)) for row in rows),
        examples=tuple(_examples(operation, code, taxonomy)) if code.live else (),
        overrides=tuple(
            override for override in taxonomy.overrides.values() if override.is_within(path)
        ),
    )


def _concerns(rule: HeaderRule, code: Code) -> bool:
    return rule.names(code.name) and any(
        statuses.meets(claimed) for statuses in rule.on for claimed in code.http.statuses
    )


def _examples(operation: str | None, code: Code, taxonomy: Taxonomy) -> Iterator[EnvelopeExample]:
    """Each example in its envelope."""
    if not carriers(taxonomy, code, of_operation=taxonomy.owns(operation, code)):
        return
    envelope = schemas.own_envelope(taxonomy, operation, code)
    http = any(
        surface.transport == "http" and envelope.name in surface.envelopes
        for surface in taxonomy.surfaces.values()
    )
    for _, example, body in openapi.bodies(envelope, code, taxonomy):
        status = (example.status or code.http.default) if http else None
        headers: Mapping[str, str] = {}
        if status is not None:
            owed = _known_headers(
                code=code, status=status, envelope=envelope, body=body, taxonomy=taxonomy
            )
            headers = {"Content-Type": envelope.media_types[0], **owed, **example.headers}
        yield EnvelopeExample(
            summary=example.summary,
            envelope=envelope.name,
            status=status,
            headers=headers,
            body=body,
        )


def _known_headers(
    code: Code, status: int, envelope: Envelope, body: object, taxonomy: Taxonomy
) -> dict[str, str]:
    """The headers that an answer has whatever the occasion, as far as their value is known: slots
    and directives.
    """
    slots = shape.extract(envelope.shape, body).slots
    repeated = {
        field.echo or field.mirror: slots.get(field.slot) for field in envelope.fields.values()
    }
    found = {
        name: str(value)
        for name, value in repeated.items()
        if name is not None and value is not None
    }
    for rule in taxonomy.header_rules(code, status):
        if rule.presence != "required":
            continue
        value = rule.constant or (slots.get(rule.equals) if rule.equals else None)
        if value is not None:
            found.setdefault(rule.name, str(value))
    return found


def _statuses(taxonomy: Taxonomy) -> tuple[StatusLine, ...]:
    """The map of codes to statuses read backwards, one row for each pair."""
    rows = (
        StatusLine(low, high, phrase(low) if low == high else "", definition(operation, code))
        for operation, code in schemas.live(taxonomy)
        for span in code.http.statuses
        for low, high in (
            [(span.low, span.high)]
            if span.width > 10
            else [(status, status) for status in range(span.low, span.high + 1)]
        )
    )
    return tuple(sorted(rows, key=lambda row: row[:2]))


def _policy(found: RetryPolicy) -> PolicySection:
    planned = found.policy
    retries = None if planned.max_attempts is None else planned.max_attempts - 1
    count = _SHOWN_DELAYS if retries is None else max(1, min(_SHOWN_DELAYS, retries))
    return PolicySection(
        policy=found,
        retries=retries,
        timeline=_timeline(planned),
        phases=tuple(
            PhaseDelays(phase, tuple(_delay(phase, index) for index in range(count)))
            for phase in planned.phases
        ),
        least=max(0.0, 1 - planned.jitter.ratio),
        most=1 + planned.jitter.ratio,
        kinds={
            kind: tuple(code for code, own in found.kind_of.items() if own == kind)
            for kind in planned.kinds
        },
    )


def _timeline(policy: Policy) -> tuple[TimelineRow, ...]:
    """The bands of the first retries; empty if all are sent at once."""
    bands: list[tuple[float, float]] = []
    states = [start(policy), start(policy)]
    while len(bands) < _SHOWN_RETRIES:
        planned = [_plan(policy, state, chance) for chance, state in enumerate(states)]
        if not all(each.retry for each in planned):
            break
        states = [each.state for each in planned]
        first, last = sorted(state.elapsed for state in states)
        bands.append((first, last))
    longest = max((last for _, last in bands), default=0.0)
    if longest == 0:
        return ()
    rows = []
    for request, (first, last) in enumerate(bands, 2):
        begins, ends = (int(seconds / longest * _LINE) for seconds in (first, last))
        begins = min(begins, _LINE - 1)
        rows.append(
            TimelineRow(
                request=request,
                earliest=first,
                latest=last,
                indent=begins,
                width=max(1, ends - begins),
            )
        )
    return tuple(rows)


def _plan(policy: Policy, state: State, chance: int) -> Plan:
    return plan(policy, state, Failure(retriable=True), now=0, random=lambda: float(chance))


def _delay(phase: Phase, index: int) -> float:
    """The delay in seconds before the retry of this index, as the planner counts it."""
    return bounds(Policy("", phases=(phase,)), State(taken=index))[0]
