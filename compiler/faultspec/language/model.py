"""The frozen model of a taxonomy: what every target, lint rule, clause and probe reads.

Values only; named tuples, since a frozen dataclass takes ten times as long to be made when a command starts. Mappings
keep the order of declaration, which is the order of everything generated.
A construct's address in the YAML is its key path, e.g. ``("codes", "rate_limited", "headers")``.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from faultspec.language.conditions import ConditionalRule, Retriable, StatusRange
from faultspec.runtime.nodes import Node
from faultspec.runtime.retry import Policy

Presence = Literal["required", "expected", "optional", "forbidden"]
"""``expected`` is a SHOULD: its absence is a warning, never a failure."""

Strictness = Literal["forbid", "warn", "allow"]

ClientAction = Literal["retry", "refetch", "user", "none"]

Effect = Literal["none", "possible", "unknown"]
"""Whether the operation may have taken effect although this error was returned."""

Lifecycle = Literal["stable", "deprecated", "reserved", "removed"]

EMPTY: Mapping[str, Any] = {}
"""Nothing declared. Shared, so not to be written to; a plain dict, since a template may print it as JSON."""


class Source(NamedTuple):
    """Where a rule comes from: statement ids of the document, a section of it, or rulings of the author."""

    statements: tuple[str, ...] = ()
    section: str | None = None
    rulings: tuple[str, ...] = ()
    note: str | None = None


NOWHERE = Source()


class Ruling(NamedTuple):
    """A decision on something the document contradicts or leaves open."""

    name: str
    statements: tuple[str, ...]
    conflict: str
    decision: str
    reason: str


class Term(NamedTuple):
    """A member of a vocabulary: a domain, a boundary, a recovery action, a phase.

    ``sends_again``: taking the recovery action sends again what failed.
    """

    name: str
    summary: str
    lifecycle: Lifecycle = "stable"
    source: Source = NOWHERE
    sends_again: bool = False


class HttpMapping(NamedTuple):
    """The HTTP statuses that carry a code.

    ``statuses``: every allowed range in order; the first one's low end is the default. Empty: never on HTTP, for
    ``reason``, unless a surface gives such codes a status, which then is the ``default``. ``rules``: statuses chosen by a
    condition, each ``then`` an int.
    """

    statuses: tuple[StatusRange, ...] = ()
    rules: tuple[ConditionalRule, ...] = ()
    reason: str | None = None
    default: int | None = None

    @property
    def own_default(self) -> int | None:
        """The status that the code itself has unless told otherwise, and no surface gives it."""
        return self.default if self.statuses else None

    @property
    def carried(self) -> tuple[StatusRange, ...]:
        """The statuses that the code may have over HTTP: its own, or the one that a surface gives it."""
        lent = () if self.default is None else (StatusRange(self.default, self.default),)
        return self.statuses or lent

    def allows(self, status: int) -> bool:
        """Whether the code may travel under this status."""
        return any(status in each for each in self.statuses)

    def all(self) -> Iterator[int]:
        """Every allowed status, in order, once."""
        return iter(
            dict.fromkeys(s for status in self.statuses for s in range(status.low, status.high + 1))
        )


class Schema(NamedTuple):
    """A value described in the language's closed subset of JSON Schema; ``opaque`` holds an imported schema verbatim.

    ``types`` are JSON type names. ``properties`` carry their own presence.
    """

    types: tuple[str, ...] = ()
    description: str | None = None
    format: tuple[str, ...] = ()
    pattern: str | None = None
    enum: tuple[object, ...] = ()
    vocabulary: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    items: "Schema | None" = None
    properties: Mapping[str, "DetailMember"] = EMPTY
    additional: Strictness = "allow"
    opaque: object = None


_TEXT = Schema(types=("string",))

IMPLIED: Mapping[str, Schema] = {
    "message": _TEXT,
    "summary": _TEXT,
    "domain": _TEXT,
    "boundary": _TEXT,
    "status": Schema(types=("integer",)),
    "retriable": Schema(types=("boolean",)),
    "actions": Schema(types=("array",), items=_TEXT),
    "details": Schema(types=("object",)),
}
"""What the well-known slots hold for which an envelope has no field."""

_KNOWN_ACTIONS = Schema(types=("array",), items=Schema(types=("string",), vocabulary="actions"))


class DetailMember(NamedTuple):
    """A named member of an object: its schema and whether it must be there."""

    name: str
    schema: Schema
    presence: Presence = "required"
    source: Source = NOWHERE


class DetailKey(NamedTuple):
    """A registered key of ``details``: one name, one type, everywhere.

    ``everywhere``: every code may carry it. ``role`` ``retriable`` makes it the wire form of the retry flag.
    ``equals_header``: its value is the validator in that response header, compared without quotes and weakness, or the
    seconds in it, rounded up.
    ``refers_to`` ``resource``: its value identifies a resource the caller can read.
    """

    name: str
    schema: Schema
    summary: str | None = None
    everywhere: bool = False
    role: Literal["retriable"] | None = None
    equals_header: str | None = None
    refers_to: Literal["resource"] | None = None
    source: Source = NOWHERE


class Field(NamedTuple):
    """What is known of a slot of an envelope beyond its place.

    ``echo``: the request header whose valid value comes back in this slot, in the response header of the same name,
    and which the server generates, unique, when it is absent. ``invalid_inbound``: what happens to a malformed one.
    ``mirror``: a response header that repeats the slot.
    """

    slot: str
    schema: Schema
    echo: str | None = None
    invalid_inbound: Literal["replace", "reject", "unspecified"] = "unspecified"
    mirror: str | None = None
    additional: Strictness = "allow"
    source: Source = NOWHERE


class Envelope(NamedTuple):
    """A picture of the wire with slots in it (``faultspec.runtime.shape``)."""

    name: str
    media_types: tuple[str, ...]
    shape: Node
    picture: object
    fields: Mapping[str, Field]
    additional: Strictness
    summary: str | None = None
    source: Source = NOWHERE


class Match(NamedTuple):
    """Which exchanges a surface claims.

    Routes are ``[METHOD ]/path`` with ``{param}``, ``*`` and ``**``. ``request``: values that members of the request's
    body may have, by JSON Pointer.
    """

    routes: tuple[str, ...] = ()
    statuses: tuple[StatusRange, ...] = ()
    tools: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    request: Mapping[str, tuple[object, ...]] = EMPTY


class Batch(NamedTuple):
    """Where a multi-status body keeps its outcomes.

    Each pointer is a list of alternatives; the first that resolves counts.
    """

    items: tuple[str, ...]
    status: tuple[str, ...]
    body: tuple[str, ...]
    mixed_only: bool
    bad_items: str | None


class NumberRange(NamedTuple):
    """Inclusive range of a protocol's numbers, and when they are sent."""

    low: int
    high: int
    summary: str

    def __contains__(self, number: object) -> bool:
        if isinstance(number, bool) or not isinstance(number, int | float):
            return False
        return self.low <= number <= self.high and number == int(number)  # 1.0 is 1 in JSON


class Protocol(NamedTuple):
    """The errors of the protocol that carries ours; their numbers are no codes of the taxonomy."""

    envelope: str
    codes: tuple[NumberRange, ...]
    source: Source = NOWHERE


class Surface(NamedTuple):
    """Where an envelope applies. First match wins; an error on no surface is a finding.

    ``error_when``: the statuses that make an exchange an error. ``error_pointer``: a JSON Pointer whose presence does.
    ``error_equals``: pointers and values that together do. ``at``: where in the body the envelope stands.
    ``envelopes`` empty: errors here carry none, for ``reason``. ``codes`` None: open; otherwise the allowed code
    names, in order.
    ``foreign``: codes here are another namespace's. ``success``: members by pointer that every success has.
    ``default_status``: the HTTP status of codes that have none of their own.
    ``repeats``: the surface whose errors are carried here too, written to ``sink``.
    """

    name: str
    transport: str
    match: Match
    error_when: tuple[StatusRange, ...]
    error_pointer: str | None
    envelopes: tuple[str, ...]
    codes: Collection[str] | None
    reason: str | None = None
    batch: Batch | None = None
    requires_details: tuple[str, ...] = ()
    error_equals: Mapping[str, object] = EMPTY
    at: str = ""
    foreign: bool = False
    success: Mapping[str, DetailMember] = EMPTY
    protocol: Protocol | None = None
    repeats: str | None = None
    sink: str | None = None
    level: Literal["must", "should"] = "must"
    source: Source = NOWHERE
    default_status: int | None = None

    @property
    def structured(self) -> bool:
        """Whether its errors stand in the structured content of a tool result."""
        return self.transport == "mcp" and f"{self.at}/".startswith("/structuredContent/")


class Example(NamedTuple):
    """An instance of a code: what fills the slots, and the status and headers it travelled with."""

    message: str | None = None
    details: Mapping[str, object] | None = None
    slots: Mapping[str, object] = EMPTY
    status: int | None = None
    headers: Mapping[str, str] = EMPTY
    summary: str | None = None
    source: Source = NOWHERE


class HeaderRule(NamedTuple):
    """What a response header must look like on some statuses or with some codes.

    ``codes`` empty: whatever the code. ``format``: ``retry-after``, ``etag``, ``http-date``, ``methods``, ``challenge``
    or an id format. ``token``: a directive the list-valued header must contain. ``equals``: the slot it repeats.
    ``on`` spans statuses; success statuses are allowed too.
    """

    name: str
    presence: Presence
    on: tuple[StatusRange, ...]
    codes: tuple[str, ...] = ()
    format: tuple[str, ...] = ()
    token: str | None = None
    equals: str | None = None
    summary: str | None = None
    source: Source = NOWHERE

    def names(self, code: str | None) -> bool:
        """Whether the rule is for answers with this code."""
        return not self.codes or code in self.codes

    def spans(self, status: int | None) -> bool:
        """Whether the rule is for answers under this status."""
        return not self.on or any(status in each for each in self.on)

    def applies(self, code: str | None, status: int | None) -> bool:
        """Whether the rule is for an answer with this code under this status."""
        return self.names(code) and self.spans(status)


class Mcp(NamedTuple):
    """``isError`` of a tool result; ``strict`` is its value where a server marks every refusal."""

    is_error: bool
    strict: bool | None = None


class Deadline(NamedTuple):
    """The answer comes when the seconds in ``details.<detail>`` are over, at most ``late_by`` seconds later."""

    detail: str
    late_by: float
    source: Source = NOWHERE


class Code(NamedTuple):
    """One declared failure.

    ``wire``: what stands in the code slot (the name, unless declared; a number where the system numbers its codes).
    ``envelopes``: those it travels in; empty: each of its surfaces'.
    ``message`` may hold ``${key}`` for registered details only. ``boundaries``: the first is the default.
    """

    name: str
    wire: str | int
    summary: str
    description: str | None
    message: str | None
    domain: str | None
    boundaries: tuple[str, ...]
    http: HttpMapping
    grpc: str | None
    mcp: Mcp | None
    envelopes: tuple[str, ...]
    retriable: Retriable
    client_action: ClientAction
    retry: str | None
    effect: Effect
    headers: tuple[HeaderRule, ...]
    details: Mapping[str, DetailMember]
    details_schema: Schema | None
    examples: tuple[Example, ...]
    actions: tuple[str, ...]
    lifecycle: Lifecycle
    since: str | None
    sunset: str | None
    replaced_by: str | None
    level: Literal["protocol", "operation"]
    passthrough: tuple[str, ...]
    facts: Mapping[str, tuple[str, ...]]
    deadline: Deadline | None = None
    source: Source = NOWHERE

    @property
    def live(self) -> bool:
        """Whether a service may produce the code."""
        return self.lifecycle in ("stable", "deprecated")

    @property
    def retryable(self) -> bool:
        """The meaning of ``is_retryable``: the client action is exactly ``retry``."""
        return self.client_action == "retry"


class Operation(NamedTuple):
    """An operation and the failures that only it has; their identity is (operation, code).

    ``wire``: what callers call it.
    """

    name: str
    wire: str
    match: Match
    idempotent: bool | None
    errors: Mapping[str, Code]
    codes: tuple[str, ...] | None = None
    summary: str | None = None
    source: Source = NOWHERE


class RetryPolicy(NamedTuple):
    """A policy of the planner, and what the planner cannot know: for whom it is, and of which kind a code's failures are."""

    name: str
    policy: Policy
    summary: str | None = None
    isolation: str | None = None
    annotate: str | None = None
    eligible: tuple[str, ...] = ()
    eligible_when: tuple[ConditionalRule, ...] = ()
    kind_of: Mapping[str, str] = {}
    source: Source = NOWHERE


class Idempotency(NamedTuple):
    """How a write is made safe to send again.

    ``window`` in seconds. ``mismatch``: the code for one key with two bodies.
    """

    key: str
    methods: tuple[str, ...]
    window: float | None
    equal: tuple[str, ...]
    headers: tuple[str, ...]
    mismatch: str | None
    default: Literal["idempotent", "not_idempotent"] = "idempotent"
    source: Source = NOWHERE


class Upstream(NamedTuple):
    """How services behind are called: by which retry policy, and what names one intent (headers, or members). ``status``: the
    details key that tells the status of their answer.
    """

    retry: str | None
    default: Literal["idempotent", "not_idempotent"] | None
    keys: tuple[str, ...]
    source: Source = NOWHERE
    status: str | None = None


class Fallback(NamedTuple):
    """The code of an error status that no code claims; ``code`` None: that status is not sent at all."""

    on: StatusRange
    code: str | None
    reason: str
    source: Source = NOWHERE


class Concealment(NamedTuple):
    """Across ``across``, answer as if the resource did not exist: code ``answer``, never one of ``never``."""

    across: Literal["tenant", "owner"]
    answer: str
    never: tuple[str, ...]
    source: Source = NOWHERE


class Privacy(NamedTuple):
    """What must not leave.

    ``detectors``: names of leak detectors. ``never_echoed``: identity attributes, e.g. ``tenant``.
    """

    detectors: tuple[str, ...]
    never_echoed: tuple[str, ...]
    conceal: tuple[Concealment, ...]
    internal_names: tuple[str, ...]
    source: Source = NOWHERE


class Metric(NamedTuple):
    """A metric clients of the telemetry may rely on. ``counts``: each failed request, or every request."""

    name: str
    kind: Literal["counter", "gauge", "histogram", "ratio"]
    labels: tuple[str, ...]
    summary: str
    counts: Literal["errors", "requests"] | None = None
    source: Source = NOWHERE


class AlertThreshold(NamedTuple):
    """More than ``times`` the rate over the ``over`` seconds before, and ``at_least`` so many."""

    times: float
    over: float
    at_least: int


class Alert(NamedTuple):
    """An alert with its runbook.

    ``window`` and ``lasting`` in seconds; ``when`` is a sentence, ``codes`` and ``statuses`` what it counts. It fires
    above the share ``threshold`` of requests, or on the ``rise``, once that has lasted.
    """

    name: str
    severity: str
    when: str
    codes: tuple[str, ...]
    statuses: tuple[StatusRange, ...]
    threshold: float | None
    window: float | None
    runbook: tuple[str, ...]
    rise: AlertThreshold | None = None
    lasting: float | None = None
    source: Source = NOWHERE


class AlertMetric(NamedTuple):
    """Pointers to what a recorded line tells of a request or an answer."""

    headers: str | None = None
    body: str | None = None


class RecordingRule(NamedTuple):
    """A kind of line in a log of exchanges: pointers to what it tells.

    ``when``: what stands in lines of this kind, by pointer. ``elapsed``: the pointer and the unit in seconds. ``slots``: by
    the slot of the envelope.
    """

    name: str
    when: Mapping[str, object]
    status: str
    url: str
    method: str | None = None
    route: str | None = None
    elapsed: tuple[str, float] | None = None
    request: AlertMetric = AlertMetric()
    response: AlertMetric = AlertMetric()
    slots: Mapping[str, str] = EMPTY
    source: Source = NOWHERE


class Telemetry(NamedTuple):
    """The observability contract: metrics, the members of an error's log record, span attributes, alerts, kinds of lines.

    ``means``: the ``$slot`` or ``details.<key>`` that whatever has a name repeats. ``runbooks``: where they are published.
    """

    metrics: Mapping[str, Metric]
    log: Mapping[str, DetailMember]
    span: Mapping[str, str]
    alerts: Mapping[str, Alert]
    means: Mapping[str, str] = EMPTY
    runbooks: str | None = None
    records: Mapping[str, RecordingRule] = EMPTY
    source: Source = NOWHERE


class Obligation(NamedTuple):
    """A statement that nobody can check from outside, kept so that the trace is whole."""

    name: str
    text: str
    reason: str
    source: Source = NOWHERE


class Unknown(NamedTuple):
    """What a client makes of a code it does not know, or a service of an error it did not declare."""

    becomes: str
    retriable: bool
    original_code: str | None = None
    source: Source = NOWHERE


class ImportedCodes(NamedTuple):
    """The form of codes that importers make of statuses: ``pattern`` with the status in place of ``${status}``. A code of
    the form is declared by the operation that was imported, or it is not declared.
    """

    pattern: str
    retriable: bool
    source: Source = NOWHERE

    def code(self, status: int) -> str:
        """The code of a status."""
        return self.pattern.replace("${status}", str(status))

    def has_form(self, wire: object) -> bool:
        """Whether a code has the form, whatever its status."""
        before, _, after = self.pattern.partition("${status}")
        form = rf"{re.escape(before)}\d{{3}}{re.escape(after)}"
        return isinstance(wire, str) and re.fullmatch(form, wire, re.ASCII) is not None


class Rendering(NamedTuple):
    """An error as text. ``given``: what the error does not know, by name."""

    name: str
    picture: object
    given: Mapping[str, str]
    summary: str | None = None
    source: Source = NOWHERE


class Lookup(NamedTuple):
    """How audit records are read back: a list at ``items``, each with its id at ``id``."""

    request: str
    items: str
    id: str | None
    order: Literal["newest-first", "oldest-first"] | None


class Audit(NamedTuple):
    """The record of every failure (or exchange). ``means``: the ``$slot`` or ``details.<key>`` that a member repeats."""

    id: str | None
    lookup: Lookup | None
    record: Mapping[str, DetailMember]
    means: Mapping[str, str]
    per: Literal["failure", "exchange"]
    source: Source = NOWHERE


class Publication(NamedTuple):
    """Where services publish what they declare: a list ``at`` a pointer, whose items keep things at ``item``."""

    name: str
    request: str
    kind: Literal["errors", "openapi", "mcp-tools", "actions"]
    at: str
    item: Mapping[str, str]
    empty: Literal["list", "absent", "null"]
    source: Source = NOWHERE


class Navigation(NamedTuple):
    """How callers walk: what ``offers`` lists may be taken; else the code is ``refused`` or ``unknown``."""

    offers: str
    takes: str
    refused: str
    unknown: str | None
    all: str | None
    source: Source = NOWHERE


class Taxonomy(NamedTuple):
    """A whole taxonomy, resolved: every reference names something that is there."""

    name: str
    version: str
    title: str
    owner: str | None
    description: str | None
    domains: Mapping[str, Term]
    boundaries: Mapping[str, Term]
    detail_keys: Mapping[str, DetailKey]
    envelopes: Mapping[str, Envelope]
    surfaces: Mapping[str, Surface]
    codes: Mapping[str, Code]
    operations: Mapping[str, Operation]
    headers: tuple[HeaderRule, ...]
    fallbacks: tuple[Fallback, ...]
    retry_policies: Mapping[str, RetryPolicy]
    idempotency: Idempotency | None
    upstream: Upstream | None
    actions: Mapping[str, Term]
    vocabularies: Mapping[str, Mapping[str, Term]]
    privacy: Privacy | None
    telemetry: Telemetry | None
    obligations: Mapping[str, Obligation]
    rulings: Mapping[str, Ruling]
    unknown: Unknown | None
    undeclared: Unknown | None
    imported: ImportedCodes | None
    renderings: Mapping[str, Rendering]
    navigation: Navigation | None
    audit: Audit | None
    discovery: Mapping[str, Publication]

    @property
    def flag_keys(self) -> tuple[str, ...]:
        """The details keys that are the retry flag."""
        return tuple(key.name for key in self.detail_keys.values() if key.role == "retriable")

    @property
    def sending_again(self) -> tuple[str, ...]:
        """The recovery actions that send again what failed."""
        return tuple(action.name for action in self.actions.values() if action.sends_again)

    def implied(self, slot: str) -> Schema | None:
        """What a slot holds where an envelope has no field for it; None where anything does."""
        return _KNOWN_ACTIONS if slot == "actions" and self.actions else IMPLIED.get(slot)

    def located_codes(self) -> Iterator[tuple[tuple[str, ...], Code]]:
        """Every code, live or not, with its path: the shared codes, then those of each operation."""
        for code in self.codes.values():
            yield ("codes", code.name), code
        for operation in self.operations.values():
            for code in operation.errors.values():
                yield ("operations", operation.name, "errors", code.name), code

    def every_code(self) -> Iterator[Code]:
        """The shared codes, live or not, then those of operations."""
        return (code for _, code in self.located_codes())

    def fields(self) -> Iterator[Field]:
        """What is said of slots, in any envelope."""
        for envelope in self.envelopes.values():
            yield from envelope.fields.values()

    def field_of(self, slot: str) -> Field | None:
        """What the first envelope that speaks of a slot says of it."""
        return next((field for field in self.fields() if field.slot == slot), None)

    def live_codes(self) -> tuple[Code, ...]:
        """The codes a service may produce, in order of declaration."""
        return tuple(code for code in self.codes.values() if code.live)

    def codes_for(self, status: int) -> tuple[str, ...]:
        """The HTTP map read backwards: code names that may travel under ``status``.

        The fallback is asked where no code claims it.
        """
        claimed = tuple(code.name for code in self.live_codes() if code.http.allows(status))
        if claimed:
            return claimed
        matching = sorted((f for f in self.fallbacks if status in f.on), key=lambda f: f.on.width)
        if matching and matching[0].code is not None:
            return (matching[0].code,)
        return ()

    def header_rules(self, code: Code | None, status: int | None) -> tuple[HeaderRule, ...]:
        """The header rules for an answer, most specific last: taxonomy-wide by status, then the code's own."""
        own, name = (code.headers, code.name) if code is not None else ((), None)
        return tuple(rule for rule in (*self.headers, *own) if rule.applies(name, status))
