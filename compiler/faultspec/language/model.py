"""The frozen model of a taxonomy, which targets, lint rules, clauses and probes read.

Named tuples, because defining a frozen dataclass takes ten times as long when a command starts.
Mappings keep the order of declaration, which is the order of everything generated. The address of
a construct in the YAML is its key path, such as ``("codes", "rate_limited", "headers")``.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from faultspec.language.conditions import (
    ConditionalRule,
    ConditionFacts,
    Retriable,
    StatusRange,
    possible_outcomes,
    tested_facts,
)
from faultspec.language.pictures import without_members
from faultspec.language.routes import compile_name
from faultspec.runtime.codecs import Codec, find_codec, media_essence
from faultspec.runtime.extraction import Extraction, extract
from faultspec.runtime.keys import KeyPlace
from faultspec.runtime.nodes import Node, slot_places
from faultspec.runtime.places import Places, SlotPlace, body_places
from faultspec.runtime.retry import Policy

Presence = Literal["required", "expected", "optional", "forbidden"]
"""``expected`` is a SHOULD: its absence is a warning, never a failure."""

Strictness = Literal["forbid", "warn", "allow"]

ClientAction = Literal["retry", "refetch", "user", "none"]

Effect = Literal["none", "possible", "unknown"]
"""Whether the operation may have taken effect although it returned this error."""

Lifecycle = Literal["experimental", "beta", "stable", "deprecated", "reserved", "removed"]

Fault = Literal["caller", "service", "dependency"]
"""The side whose fault an error is."""

Constant = str | int | float | bool
"""A value that a code fixes for a slot."""

EMPTY: Mapping[str, Any] = {}
"""The shared default of mappings, not to be changed; a dict, because templates print it as JSON."""


class Source(NamedTuple):
    """The origin of a rule: statement ids or a section of the source document, or rulings."""

    statements: tuple[str, ...] = ()
    section: str | None = None
    rulings: tuple[str, ...] = ()
    note: str | None = None


NOWHERE = Source()


class Ruling(NamedTuple):
    """A decision where the source document contradicts itself or leaves a question open.

    ``allows``: the paths that an overlay may decide otherwise, as dotted texts.
    """

    name: str
    statements: tuple[str, ...]
    conflict: str
    decision: str
    reason: str
    allows: tuple[str, ...] = ()


class Override(NamedTuple):
    """A decision in place of the base's. ``rulings``: those of the base that allow it."""

    path: str
    value: object
    reason: str
    rulings: tuple[str, ...]

    def is_within(self, path: tuple[str, ...]) -> bool:
        """Whether it concerns a value at a path or below it."""
        return tuple(self.path.split("."))[: len(path)] == path


class Term(NamedTuple):
    """A member of a vocabulary: a domain, a boundary, a recovery action, a phase.

    ``sends_again``: the recovery action repeats the failed request.
    """

    name: str
    summary: str
    lifecycle: Lifecycle = "stable"
    source: Source = NOWHERE
    sends_again: bool = False


class HttpMapping(NamedTuple):
    """The HTTP statuses of a code.

    ``statuses``: the allowed ranges in order; the low end of the first is the default. If empty,
    the code is never on HTTP, for ``reason``, unless a surface has a ``default`` for such codes.
    ``rules``: statuses by condition; each ``then`` is an int.
    """

    statuses: tuple[StatusRange, ...] = ()
    rules: tuple[ConditionalRule, ...] = ()
    reason: str | None = None
    default: int | None = None

    @property
    def own_default(self) -> int | None:
        """The default status of the code itself, not that of a surface."""
        return self.default if self.statuses else None

    @property
    def carried_statuses(self) -> tuple[StatusRange, ...]:
        """The statuses that the code may have over HTTP: its own, or the default of a surface."""
        default = () if self.default is None else (StatusRange(self.default, self.default),)
        return self.statuses or default

    @property
    def reads(self) -> tuple[str, ...]:
        """The facts that the rules test."""
        return tested_facts(self.rules)

    def decide(self, facts: ConditionFacts) -> tuple[int, ...]:
        """The statuses that the rules leave possible under these facts; none if no rule holds."""
        outcomes = possible_outcomes(self.rules, facts)
        return tuple(status for status in outcomes if isinstance(status, int))

    def allows(self, status: int) -> bool:
        """Whether the code may have this status."""
        return any(status in allowed for allowed in self.statuses)

    def allowed_statuses(self) -> Iterator[int]:
        """Every allowed status, in order, once."""
        return iter(
            dict.fromkeys(s for status in self.statuses for s in range(status.low, status.high + 1))
        )


class Schema(NamedTuple):
    """A schema in the language's closed subset of JSON Schema.

    ``opaque`` is an imported schema, verbatim. ``types`` are JSON type names. ``sensitive``: the
    value is for the caller only.
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
    sensitive: bool = False

    def nested_schemas(self) -> "Iterator[Schema]":
        """The schema and every schema inside it."""
        yield self
        if self.items is not None:
            yield from self.items.nested_schemas()
        for member in self.properties.values():
            yield from member.schema.nested_schemas()


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
    "grpc_status": _TEXT,
    "grpc_code": Schema(types=("integer",)),
}
"""The schemas of well-known slots for which an envelope has no field."""

_KNOWN_ACTIONS = Schema(types=("array",), items=Schema(types=("string",), vocabulary="actions"))


class DetailMember(NamedTuple):
    """A named member of an object: its schema and its presence."""

    name: str
    schema: Schema
    presence: Presence = "required"
    source: Source = NOWHERE


ReferenceKind = Literal["resource", "file", "url"]
"""The kinds of things that the value of a detail or slot leads to."""


class DetailKey(NamedTuple):
    """A registered key of ``details``, which has one type everywhere.

    ``everywhere``: every code may carry it. ``role`` ``retriable``: it is the retry flag;
    ``retry_after``: the wait before the next try, a number of which counts ``unit``.
    ``equals_header``: its value is the validator in that response header, without quotes and
    weakness, or its seconds, rounded up. ``refers_to``: its value identifies a resource that
    the caller can read, or leads to a file or a URL.
    """

    name: str
    schema: Schema
    summary: str | None = None
    everywhere: bool = False
    role: Literal["retriable", "retry_after"] | None = None
    unit: Literal["s", "ms"] = "s"
    equals_header: str | None = None
    refers_to: ReferenceKind | None = None
    source: Source = NOWHERE


class Field(NamedTuple):
    """The type and the rules of a slot of an envelope.

    ``echo``: the request header whose valid value is returned in this slot and in the response
    header of that name; if it is absent, the server generates a unique one. ``invalid_inbound``:
    the treatment of a malformed one. ``mirror``: a response header that repeats the slot.
    ``places``: the places of the slot, if it is not only where the picture has it. ``refers_to``:
    as that of a ``DetailKey``.
    """

    slot: str
    schema: Schema
    echo: str | None = None
    invalid_inbound: Literal["replace", "reject", "unspecified"] = "unspecified"
    mirror: str | None = None
    additional: Strictness = "allow"
    source: Source = NOWHERE
    places: tuple[SlotPlace, ...] = ()
    refers_to: ReferenceKind | None = None


class Envelope(NamedTuple):
    """A picture of an error body, with slots (``faultspec.runtime.shape``)."""

    name: str
    media_types: tuple[str, ...]
    shape: Node
    picture: object
    fields: Mapping[str, Field]
    additional: Strictness
    summary: str | None = None
    source: Source = NOWHERE

    @property
    def essences(self) -> tuple[str, ...]:
        """Its media types in lower case, without parameters."""
        return tuple(map(media_essence, self.media_types))

    @property
    def codecs(self) -> tuple[Codec, ...]:
        """The formats of its bodies that can be read, each once."""
        found = (find_codec(media_type) for media_type in self.media_types)
        return tuple(dict.fromkeys(codec for codec in found if codec is not None))

    @property
    def sent(self) -> Node:
        """The shape of a rendered body: of the members that may have a slot, the first."""
        pointers = body_places(self.places).values()
        return without_members(self.shape, [each for group in pointers for each in group[1:]])

    @property
    def places(self) -> Places:
        """The places of the slots that are not only where the picture has them, by slot."""
        return {slot: field.places for slot, field in self.fields.items() if field.places}

    @property
    def decides_code(self) -> bool:
        """Whether the shape of a body may decide its code, and the status does not."""
        kinds = {place.kind for place in self.code_places}
        return "envelope" in kinds and "status" not in kinds

    @property
    def code_places(self) -> tuple[SlotPlace, ...]:
        """The places of the code; empty if it is only where the picture has it."""
        field = self.fields.get("code")
        return field.places if field is not None else ()

    @property
    def deciding_place(self) -> SlotPlace | None:
        """The first place of the code that is the status or the envelope itself."""
        deciding = (each for each in self.code_places if each.kind in ("status", "envelope"))
        return next(deciding, None)

    @property
    def shows_code(self) -> bool:
        """Whether every body has its code, in one member."""
        return not self.code_places

    @property
    def slots(self) -> tuple[str, ...]:
        """Every slot: those of the picture, then those in headers, or decided by the status."""
        return tuple(dict.fromkeys((*slot_places(self.shape), *self.places)))

    def extract(self, body: object) -> Extraction:
        """The values of a body that is read as this envelope."""
        return extract(self.shape, body, body_places(self.places))


class Match(NamedTuple):
    """The exchanges that a surface or an operation claims.

    Routes are ``[METHOD ]/path`` with ``{param}``, ``*`` and ``**``. ``request``: the values of
    members of the request body, by JSON Pointer. ``headers`` and ``query``: patterns of the values
    of request headers and of query parameters, in which ``*`` is any text.
    """

    routes: tuple[str, ...] = ()
    statuses: tuple[StatusRange, ...] = ()
    tools: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    request: Mapping[str, tuple[object, ...]] = EMPTY
    headers: Mapping[str, tuple[str, ...]] = EMPTY
    query: Mapping[str, tuple[str, ...]] = EMPTY

    @property
    def reads_request(self) -> bool:
        """Whether more of a request than its route and method decides."""
        return bool(self.request or self.headers or self.query)


class Batch(NamedTuple):
    """The places of outcomes in a multi-status body.

    Each is a list of alternative pointers; the first that resolves applies. ``status`` empty: at
    `/status`, or outcomes have none.
    """

    items: tuple[str, ...]
    status: tuple[str, ...]
    body: tuple[str, ...]
    mixed_only: bool

    @property
    def status_places(self) -> tuple[str, ...]:
        """The places of the status, with the default."""
        return self.status or ("/status",)


class NumberRange(NamedTuple):
    """An inclusive range of a protocol's error numbers, and when they are sent."""

    low: int
    high: int
    summary: str

    def __contains__(self, number: object) -> bool:
        if isinstance(number, bool) or not isinstance(number, int | float):
            return False
        return self.low <= number <= self.high and number == int(number)  # 1.0 is 1 in JSON


class Protocol(NamedTuple):
    """The errors of the underlying protocol; their numbers are not codes of the taxonomy.

    ``batches``: whether several calls may come in one message; None: not declared.
    """

    envelope: str
    codes: tuple[NumberRange, ...]
    source: Source = NOWHERE
    batches: bool | None = None


class CallState(NamedTuple):
    """A state of a session, in which some calls are refused.

    It lies ``when`` the call of ``method`` has not been answered, is under way, or has been
    answered. ``allows``: the methods that are not refused. ``refuses``: those that are; empty: all
    others. ``otherwise``: the code, or the number of the protocol, of the refusal.
    """

    when: Literal["before", "during", "after"]
    method: str
    allows: tuple[str, ...]
    refuses: tuple[str, ...]
    otherwise: str


class Surface(NamedTuple):
    """A place where errors occur. An exchange belongs to the first surface that matches.

    ``error_when``: the statuses of errors. ``error_pointer``: a JSON Pointer whose presence marks
    an error. ``error_equals``: pointers and values that together mark one. ``at``: the place of
    the envelope in the body. ``envelopes`` empty: errors carry none, for ``reason``. ``codes``: the
    allowed codes in order; None allows all. ``namespaces``: patterns of codes of which only the
    declared ones are allowed nevertheless. ``foreign``: codes are of another namespace.
    ``success``: members of every success, by pointer. ``bad_items``: the details key with the bad
    items of a batch that fails as a whole. ``default_status``: the HTTP status of codes without
    one. ``repeats``: the surface whose errors are repeated here, in ``sink``. ``headers``: the
    rules for its answers, which come after those of the taxonomy. ``key``: the place of its
    idempotency keys, if it is another. ``states``: of a session over standard streams.
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
    bad_items: str | None = None
    requires_details: tuple[str, ...] = ()
    error_equals: Mapping[str, object] = EMPTY
    at: str = ""
    foreign: bool = False
    namespaces: tuple[str, ...] = ()
    success: Mapping[str, DetailMember] = EMPTY
    protocol: Protocol | None = None
    repeats: str | None = None
    sink: str | None = None
    level: Literal["must", "should"] = "must"
    source: Source = NOWHERE
    default_status: int | None = None
    headers: tuple["HeaderRule", ...] = ()
    key: KeyPlace | None = None
    states: tuple[CallState, ...] = ()

    def is_error_status(self, status: int | None) -> bool:
        """Whether the HTTP status alone tells an error."""
        return status is not None and any(status in statuses for statuses in self.error_when)

    @property
    def marks_bodies(self) -> bool:
        """Whether members of a body tell an error, whatever its status."""
        return self.error_pointer is not None or bool(self.error_equals)

    def closes(self, wire: object) -> bool:
        """Whether only declared codes are allowed among those with this value."""
        return self.codes is not None or any(
            compile_name(pattern).fullmatch(str(wire)) for pattern in self.namespaces
        )

    @property
    def structured(self) -> bool:
        """Whether its errors are in the structured content of a tool result."""
        return self.transport == "mcp" and f"{self.at}/".startswith("/structuredContent/")


class Example(NamedTuple):
    """An example of a code: the values of slots, the status and headers."""

    message: str | None = None
    details: Mapping[str, object] | None = None
    slots: Mapping[str, object] = EMPTY
    status: int | None = None
    headers: Mapping[str, str] = EMPTY
    summary: str | None = None
    source: Source = NOWHERE


class HeaderRule(NamedTuple):
    """A rule for a response header, on some statuses or with some codes.

    ``codes`` empty: all codes. ``format``: ``retry-after``, ``etag``, ``http-date``, ``methods``,
    ``challenge`` or an id format. ``token``: a directive that the list-valued header contains.
    ``equals``: the slot that it repeats. ``on``: statuses, perhaps of successes. ``value``: the
    schema of the value, as the type that it names.
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
    value: Schema | None = None

    @property
    def constant(self) -> str | None:
        """The only text that the header may be or must contain; None if there is none."""
        allowed = self.value.enum if self.value is not None else ()
        if len(allowed) == 1 and isinstance(allowed[0], str):
            return allowed[0]
        return self.token

    def names(self, code: str | None) -> bool:
        """Whether the rule is for answers with this code."""
        return not self.codes or code in self.codes

    def spans(self, status: int | None) -> bool:
        """Whether the rule is for answers under this status."""
        return not self.on or any(status in statuses for statuses in self.on)

    def applies(self, code: str | None, status: int | None) -> bool:
        """Whether the rule is for an answer with this code under this status."""
        return self.names(code) and self.spans(status)


class Mcp(NamedTuple):
    """``isError`` of a tool result; ``strict``: its value on servers that mark every refusal."""

    is_error: bool
    strict: bool | None = None


class Deadline(NamedTuple):
    """The answer comes after the seconds in ``details.<detail>``, at most ``late_by`` s late."""

    detail: str
    late_by: float
    source: Source = NOWHERE


class Support(NamedTuple):
    """The facts of a code for people: its own, or those of its domain.

    ``runbook`` and ``docs`` are URLs. ``owner`` None: the owner of the taxonomy.
    """

    owner: str | None = None
    runbook: str | None = None
    docs: str | None = None
    fault: Fault | None = None


class Code(NamedTuple):
    """A declared error code.

    ``wire``: the value of the code slot; a number in systems with numeric codes. ``envelopes``
    empty: all envelopes of its surfaces. ``message`` may contain ``${key}`` for registered
    details only; ``messages`` are the same in other languages, by tag. ``boundaries``: the first
    is the default. ``facts``: the values of slots, of which the first is the default.
    ``identities``: by envelope, the value of the code slot where it is not ``wire``.
    ``exact_actions``: its errors suggest all of ``actions`` and no other.
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
    facts: Mapping[str, tuple[Constant, ...]]
    deadline: Deadline | None = None
    source: Source = NOWHERE
    messages: Mapping[str, str] = EMPTY
    support: Support = Support()
    identities: Mapping[str, str | int] = EMPTY
    exact_actions: bool = False

    @property
    def limits_actions(self) -> bool:
        """Whether it decides the actions that its errors may suggest."""
        return self.exact_actions or bool(self.actions)

    def wire_in(self, envelope: Envelope) -> str | int:
        """The value of the code slot in an envelope."""
        return self.identities.get(envelope.name, self.wire)

    @property
    def live(self) -> bool:
        """Whether a service may produce the code."""
        return self.lifecycle not in ("reserved", "removed")

    @property
    def retryable(self) -> bool:
        """The value of ``is_retryable``: whether the client action is ``retry``."""
        return self.client_action == "retry"

    def example_flag(self, example: Example) -> bool:
        """The retry flag of an example: that of its status and details, else of the action."""
        facts = ConditionFacts(example.status or self.http.default, details=example.details or {})
        flag = self.retriable.presume(facts)
        return self.retryable if flag is None else flag


class Operation(NamedTuple):
    """An operation, with codes of its own, identified by (operation, code).

    ``wire``: its name in messages. ``codes``: the shared codes that it lists. ``variants``: those
    of them that differ here in their statuses, details, facts or actions. ``key``: the place of its
    idempotency keys, if it is another than that of its surface.
    """

    name: str
    wire: str
    match: Match
    idempotent: bool | None
    errors: Mapping[str, Code]
    codes: tuple[str, ...] | None = None
    summary: str | None = None
    source: Source = NOWHERE
    variants: Mapping[str, Code] = EMPTY
    key: KeyPlace | None = None

    @property
    def has_own_codes(self) -> bool:
        """Whether it has codes alone, or shared codes otherwise."""
        return bool(self.errors or self.variants)

    def own_form(self, code: Code) -> Code:
        """A shared code as the operation has it."""
        return self.variants.get(code.name, code)

    @property
    def named_codes(self) -> tuple[str, ...]:
        """The codes that its declaration names, its own first; none if it names none."""
        return tuple(dict.fromkeys((*self.errors, *(self.codes or ()))))


class RetryPolicy(NamedTuple):
    """A policy of the retry planner, and the codes that it is for.

    ``kind_of``: the kind of failure by code.
    """

    name: str
    policy: Policy
    summary: str | None = None
    isolation: str | None = None
    annotate: str | None = None
    eligible: tuple[str, ...] = ()
    eligible_when: tuple[ConditionalRule, ...] = ()
    kind_of: Mapping[str, str] = {}
    source: Source = NOWHERE

    def covers(self, code: str, facts: ConditionFacts) -> bool | None:
        """Whether the policy lists a code and its conditions permit a retry under these facts.

        None: an unknown fact decides.
        """
        if code not in self.eligible:
            return False
        outcomes = possible_outcomes(self.eligible_when, facts) or (True,)
        return bool(outcomes[0]) if len(outcomes) == 1 else None


class Idempotency(NamedTuple):
    """The rule that makes repeated writes safe.

    ``window`` in seconds. ``mismatch``: the code for one key with two bodies. ``default``: whether
    operations without a declaration are idempotent. ``refusals``: what a replay of a refused
    request gets. ``missing``: the code for a write without its key, or `accepted`.
    """

    key: KeyPlace
    methods: tuple[str, ...]
    window: float | None
    equal: tuple[str, ...]
    headers: tuple[str, ...]
    mismatch: str | None
    default: Literal["idempotent", "not_idempotent"] | None = None
    refusals: Literal["stored", "retried", "unspecified"] = "unspecified"
    source: Source = NOWHERE
    missing: str | None = None


class UpstreamCode(NamedTuple):
    """A row of the table: what an upstream says, and the code that the service answers.

    Each of ``upstreams`` (names), ``statuses`` and ``codes`` (of the upstream) that is empty allows
    all.
    """

    becomes: str
    upstreams: tuple[str, ...] = ()
    statuses: tuple[StatusRange, ...] = ()
    codes: tuple[str | int, ...] = ()
    source: Source = NOWHERE

    @property
    def fits_all(self) -> bool:
        """Whether it is for every failure."""
        return not (self.upstreams or self.statuses or self.codes)

    def fits(self, upstream: str | None, status: int | None, code: str | int | None) -> bool:
        """Whether it is for a failure; None: of no known name, without an answer or a code."""
        return (
            (not self.upstreams or upstream in self.upstreams)
            and (not self.statuses or any(status in span for span in self.statuses))
            and (not self.codes or code in self.codes)
        )


class Upstream(NamedTuple):
    """The rule for calls of services behind this one.

    ``keys``: headers or members that identify a call across retries. ``status``: the details key
    with the status of the upstream answer. ``codes``: the table, whose last row fits all.
    """

    retry: str | None
    default: Literal["idempotent", "not_idempotent"] | None
    keys: tuple[str, ...]
    source: Source = NOWHERE
    status: str | None = None
    codes: tuple[UpstreamCode, ...] = ()


class Fallback(NamedTuple):
    """The code for error statuses that no code claims; None: the statuses are not used."""

    on: StatusRange
    code: str | None
    reason: str
    source: Source = NOWHERE


class Concealment(NamedTuple):
    """Across a boundary, the answer is as for a missing resource: ``answer``, none of ``never``."""

    across: Literal["tenant", "owner"]
    answer: str
    never: tuple[str, ...]
    source: Source = NOWHERE


class Privacy(NamedTuple):
    """The values that errors must not reveal.

    ``detectors``: names of leak detectors. ``never_echoed``: identity attributes, as ``tenant``.
    """

    detectors: tuple[str, ...]
    never_echoed: tuple[str, ...]
    conceal: tuple[Concealment, ...]
    internal_names: tuple[str, ...]
    source: Source = NOWHERE


class Metric(NamedTuple):
    """A metric of the contract. ``counts``: failed requests, or all requests."""

    name: str
    kind: Literal["counter", "gauge", "histogram", "ratio"]
    labels: tuple[str, ...]
    summary: str
    counts: Literal["errors", "requests"] | None = None
    source: Source = NOWHERE


class AlertRise(NamedTuple):
    """A rate above ``times`` that of the ``over`` seconds before, and ``at_least`` events."""

    times: float
    over: float
    at_least: int


class Alert(NamedTuple):
    """An alert with its runbook.

    ``when`` is a sentence. ``codes`` and ``statuses``: the errors counted in the ``window``. The
    alert fires above the share ``threshold`` of requests, or on the ``rise``, once that condition
    has held for ``lasting``. Times in seconds.
    """

    name: str
    severity: str
    when: str
    codes: tuple[str, ...]
    statuses: tuple[StatusRange, ...]
    threshold: float | None
    window: float | None
    runbook: tuple[str, ...]
    rise: AlertRise | None = None
    lasting: float | None = None
    source: Source = NOWHERE


class RecordedParts(NamedTuple):
    """Pointers to the headers and the body of a recorded request or response."""

    headers: str | None = None
    body: str | None = None


class RecordingRule(NamedTuple):
    """A kind of line in a log of exchanges: pointers to its parts.

    ``when``: values by pointer that identify the kind. ``unwrap``: the steps from a line to the
    record: pointers, which begin with a slash, names of formats, and expressions. ``elapsed``: the
    pointer, and its unit in seconds. ``slots``: pointers by slot of the envelope. ``time``: that of
    the moment of the answer.
    """

    name: str
    when: Mapping[str, object]
    status: str
    url: str
    unwrap: tuple[str, ...] = ()
    method: str | None = None
    route: str | None = None
    elapsed: tuple[str, float] | None = None
    time: str | None = None
    service: str | None = None
    request: RecordedParts = RecordedParts()
    response: RecordedParts = RecordedParts()
    slots: Mapping[str, str] = EMPTY
    source: Source = NOWHERE

    @property
    def pointers(self) -> tuple[str, ...]:
        """Every pointer of the kind."""
        elapsed = self.elapsed[0] if self.elapsed is not None else None
        parts = (self.method, self.route, elapsed, self.time, self.service)
        found = (self.status, self.url, *parts, *self.request, *self.response)
        given = (pointer for pointer in found if pointer is not None)
        return (*self.when, *given, *self.slots.values())


class Telemetry(NamedTuple):
    """The observability contract: metrics, log record, span attributes, alerts, kinds of lines.

    ``means``: the ``$slot`` or ``details.<key>`` that labels, members and attributes of a name
    repeat. ``runbooks``: the base URL of published runbooks.
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
    """A statement that cannot be checked from outside, kept for a complete trace."""

    name: str
    text: str
    reason: str
    source: Source = NOWHERE


class Unknown(NamedTuple):
    """The code that replaces an unknown code (client) or an undeclared error (service)."""

    becomes: str
    retriable: bool
    original_code: str | None = None
    source: Source = NOWHERE


class ImportedCodes(NamedTuple):
    """The form of codes that importers derive from statuses: ``pattern`` with ``${status}``.

    Imported operations declare the codes of this form; others are undeclared.
    """

    pattern: str
    retriable: bool
    source: Source = NOWHERE

    def code(self, status: int) -> str:
        """The imported code for a status."""
        return self.pattern.replace("${status}", str(status))

    def has_form(self, wire: object) -> bool:
        """Whether a code has the form, whatever its status."""
        before, _, after = self.pattern.partition("${status}")
        form = rf"{re.escape(before)}\d{{3}}{re.escape(after)}"
        return isinstance(wire, str) and re.fullmatch(form, wire, re.ASCII) is not None


class Rendering(NamedTuple):
    """A rendering of errors as text. ``given``: values from outside the error, by name."""

    name: str
    picture: object
    given: Mapping[str, str]
    summary: str | None = None
    source: Source = NOWHERE


class Lookup(NamedTuple):
    """The look-up of audit records: a list at ``items``, each with its id at ``id``."""

    request: str
    items: str
    id: str | None
    order: Literal["newest-first", "oldest-first"] | None


class Audit(NamedTuple):
    """The record of every failure, or of every exchange.

    ``means``: the ``$slot`` or ``details.<key>`` that a member repeats.
    """

    id: str | None
    lookup: Lookup | None
    record: Mapping[str, DetailMember]
    means: Mapping[str, str]
    per: Literal["failure", "exchange"]
    source: Source = NOWHERE


class Publication(NamedTuple):
    """A published list ``at`` a pointer, whose items have their members at ``item``."""

    name: str
    request: str
    kind: Literal["errors", "openapi", "mcp-tools", "actions"]
    at: str
    item: Mapping[str, str]
    empty: Literal["list", "absent", "null"]
    source: Source = NOWHERE


class Navigation(NamedTuple):
    """The steps that an answer ``offers``; others are ``refused`` or ``unknown``."""

    offers: str
    takes: str
    refused: str
    unknown: str | None
    all: str | None
    source: Source = NOWHERE


class Taxonomy(NamedTuple):
    """A whole taxonomy, resolved: every reference has its target.

    ``extensible``: the paths that an overlay may change, as dotted texts. ``overrides``: what this
    taxonomy and its bases decided otherwise than their own bases, by path.
    """

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
    profile: Literal["rfc9110"] | None = None
    extensible: tuple[str, ...] = ()
    overrides: Mapping[str, Override] = EMPTY

    @property
    def key_places(self) -> tuple[KeyPlace, ...]:
        """Every place of idempotency keys, the general one first; none if there are no keys."""
        if self.idempotency is None:
            return ()
        own = (key for _, key in self.own_key_places())
        return tuple(dict.fromkeys((self.idempotency.key, *own)))

    def own_key_places(self) -> Iterator[tuple[Surface | Operation, KeyPlace]]:
        """The surfaces, then the operations, that have keys at a place of their own."""
        for surface in self.surfaces.values():
            if surface.key is not None:
                yield surface, surface.key
        for operation in self.operations.values():
            if operation.key is not None:
                yield operation, operation.key

    def key_rule(self, surface: Surface | None, operation: Operation | None) -> Idempotency | None:
        """The rule about idempotency keys, with their place in requests of an operation on a
        surface.
        """
        place = operation.key if operation is not None else None
        place = place or (surface.key if surface is not None else None)
        rule = self.idempotency
        return rule if rule is None or place is None else rule._replace(key=place)

    def references(self) -> dict[str, DetailKey | Field]:
        """The details keys, then the slots, whose values lead to something, by name."""
        named = [*((field.slot, field) for field in self.fields())]
        found: dict[str, DetailKey | Field] = {
            name: field for name, field in named if field.refers_to is not None
        }
        return found | {
            key.name: key for key in self.detail_keys.values() if key.refers_to is not None
        }

    @property
    def flag_keys(self) -> tuple[str, ...]:
        """The details keys that are the retry flag."""
        return tuple(key.name for key in self.detail_keys.values() if key.role == "retriable")

    @property
    def retry_actions(self) -> tuple[str, ...]:
        """The recovery actions that repeat the failed request."""
        return tuple(action.name for action in self.actions.values() if action.sends_again)

    def implied_schema(self, slot: str) -> Schema | None:
        """The schema of a slot without a field; None if it allows any value."""
        return _KNOWN_ACTIONS if slot == "actions" and self.actions else IMPLIED.get(slot)

    def located_codes(self) -> Iterator[tuple[tuple[str, ...], Code]]:
        """Every code, live or not, with its path: shared codes, then those of each operation."""
        for code in self.codes.values():
            yield ("codes", code.name), code
        for operation in self.operations.values():
            for code in operation.errors.values():
                yield ("operations", operation.name, "errors", code.name), code

    def variants(self) -> Iterator[tuple[tuple[str, ...], Code]]:
        """Every shared code as an operation has it otherwise, with its path in the model."""
        for operation in self.operations.values():
            for code in operation.variants.values():
                yield ("operations", operation.name, "variants", code.name), code

    def forms(self) -> Iterator[tuple[tuple[str, ...], Code]]:
        """Every code, then every shared code as an operation has it otherwise, with its path in
        the model.
        """
        yield from self.located_codes()
        yield from self.variants()

    def owns(self, operation: str | None, code: Code) -> bool:
        """Whether an operation alone has a code."""
        return operation is not None and code.name in self.operations[operation].errors

    def code_of(self, operation: Operation | None, name: str) -> Code | None:
        """The code of this name in answers of an operation: its own, else the shared one as the
        operation has it.
        """
        own = operation.errors.get(name) if operation is not None else None
        shared = self.codes.get(name)
        if own is not None or shared is None or operation is None:
            return own or shared
        return operation.own_form(shared)

    def every_code(self) -> Iterator[Code]:
        """All codes, live or not: shared ones, then those of operations."""
        return (code for _, code in self.located_codes())

    def fields(self) -> Iterator[Field]:
        """The fields of all envelopes."""
        for envelope in self.envelopes.values():
            yield from envelope.fields.values()

    def field_of(self, slot: str) -> Field | None:
        """The first field for a slot, in any envelope."""
        return next((field for field in self.fields() if field.slot == slot), None)

    def shared_live_codes(self) -> tuple[Code, ...]:
        """The shared codes that a service may produce, in order; not those of operations."""
        return tuple(code for code in self.codes.values() if code.live)

    def codes_for(self, status: int) -> tuple[str, ...]:
        """The codes that may have an HTTP status; the fallback, if no code claims it."""
        claimed = tuple(code.name for code in self.shared_live_codes() if code.http.allows(status))
        if claimed:
            return claimed
        fallback = self.fallback_for(status)
        return (fallback.code,) if fallback and fallback.code is not None else ()

    def fallback_for(self, status: int) -> Fallback | None:
        """The fallback of an HTTP status: the one with the narrowest range; None if none has it."""
        matching = (fallback for fallback in self.fallbacks if status in fallback.on)
        return min(matching, key=lambda fallback: fallback.on.width, default=None)

    @property
    def retry_hints(self) -> tuple[DetailKey, ...]:
        """The details keys that are the wait before the next try."""
        return tuple(key for key in self.detail_keys.values() if key.role == "retry_after")

    def header_rules(
        self, code: Code | None, status: int | None, surface: Surface | None = None
    ) -> tuple[HeaderRule, ...]:
        """The rules for an answer: those of the taxonomy, then the more specific of the surface,
        then those of the code.
        """
        own, name = (code.headers, code.name) if code is not None else ((), None)
        there = surface.headers if surface is not None else ()
        return tuple(rule for rule in (*self.headers, *there, *own) if rule.applies(name, status))

    def every_header_rule(self) -> Iterator[HeaderRule]:
        """The rules of the taxonomy, of its surfaces and of all codes."""
        yield from self.headers
        for surface in self.surfaces.values():
            yield from surface.headers
        for code in self.every_code():
            yield from code.headers
