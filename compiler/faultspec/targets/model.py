"""The model every template sees: the taxonomy as rows in which every decision has been made.

Templates loop over it and quote with filters; they decide nothing. ``VERSION`` counts incompatible
changes: a row or a member that goes or changes its meaning. What is new does not count.
"""

from collections.abc import Mapping
from functools import cached_property
from http import HTTPStatus
from typing import NamedTuple

from faultspec.language.model import Code, DetailMember, Operation, Surface, Taxonomy, Term
from faultspec.runtime.keys import KeyPlace, KeyPlaceKind
from faultspec.targets import schema as schemas
from faultspec.targets.memo import memoize

VERSION = 1

KEY_PARTS: Mapping[KeyPlaceKind, str] = {
    "header": "headers",
    "path": "values of the path",
    "query": "query parameters",
    "body": "members of the body",
}
"""The parts of a request that may carry its idempotency key, in words."""


class OwnKeys(NamedTuple):
    """The places of the idempotency keys of surfaces and of operations that have their own, by
    name.
    """

    surfaces: Mapping[str, KeyPlace]
    operations: Mapping[str, KeyPlace]


def own_keys(taxonomy: Taxonomy) -> OwnKeys | None:
    """The places that are not that of all requests; None if there are none."""
    rule, found = taxonomy.idempotency, list(taxonomy.own_key_places())
    if rule is None or not found:
        return None
    return OwnKeys(
        {holder.name: key for holder, key in found if isinstance(holder, Surface)},
        {holder.name: key for holder, key in found if isinstance(holder, Operation)},
    )


def key_parts(taxonomy: Taxonomy) -> str:
    """The parts of requests that have the idempotency key, in words; empty if there is no key."""
    return " or the ".join(dict.fromkeys(KEY_PARTS[place.kind] for place in taxonomy.key_places))


class DetailRow(NamedTuple):
    """A member of a code's details. ``presence``: required, expected, optional or forbidden.
    ``schema``: JSON Schema 2020-12.
    """

    name: str
    presence: str
    description: str
    schema: Mapping[str, object]


class HeaderRow(NamedTuple):
    """A response header the code travels with. ``on``: the statuses the rule is for, as ``429`` or
    ``4xx``.
    """

    name: str
    presence: str
    on: tuple[str, ...]
    description: str


class CodeRow(NamedTuple):
    """A code that a service may answer with.

    ``operation``: the one operation that has it, or None. ``status``: the default, None where the
    code never travels over HTTP; ``statuses``: all it may have, as ``429`` or ``502-504``.
    ``retriable``: always, never, caller, none or conditional. ``retryable``: the client action is
    ``retry``.
    """

    name: str
    wire: str | int
    operation: str | None
    summary: str
    description: str | None
    message: str | None
    domain: str | None
    boundaries: tuple[str, ...]
    status: int | None
    statuses: tuple[str, ...]
    retriable: str
    until: str | None
    client_action: str
    retryable: bool
    retry: str | None
    effect: str
    headers: tuple[HeaderRow, ...]
    details: tuple[DetailRow, ...]
    actions: tuple[str, ...]
    lifecycle: str
    since: str | None
    sunset: str | None
    replaced_by: str | None
    owner: str | None
    runbook: str | None
    docs: str | None
    fault: str | None


class TermRow(NamedTuple):
    """A member of a vocabulary: a domain, a boundary, a recovery action."""

    name: str
    summary: str
    lifecycle: str


class StatusRow(NamedTuple):
    """An HTTP status and the names of the codes that may travel under it. ``phrase``: as RFC 9110
    has it, or empty.
    """

    status: int
    phrase: str
    codes: tuple[str, ...]


class EnvelopeRow(NamedTuple):
    """A wire shape. ``picture``: as the taxonomy draws it. ``codes``: names of the codes it
    carries; ``open``: and any other.
    """

    name: str
    summary: str | None
    media_types: tuple[str, ...]
    picture: object
    codes: tuple[str, ...]
    open: bool


class PolicyRow(NamedTuple):
    """A retry policy. ``max_attempts`` counts the first request; None is without limit."""

    name: str
    summary: str | None
    max_attempts: int | None


class Model:
    """A taxonomy. ``header``: the line for the top of each file. Every list is in order of
    declaration.

    A list is made when it is first asked for. The shipped templates ask for few of them, and at
    10,000 codes the rows of codes take 0.3 s of CPU and 9 MB.
    """

    version = VERSION

    def __init__(self, taxonomy: Taxonomy, source: str) -> None:
        self._taxonomy = taxonomy
        self.source = source
        self.header = (
            f"Generated from {source}; do not edit. Regenerate: faultspec compile {source}"
        )
        self.name = taxonomy.name
        self.title = taxonomy.title
        self.owner = taxonomy.owner
        self.description = taxonomy.description

    @cached_property
    def domains(self) -> tuple[TermRow, ...]:
        """The domains."""
        return _terms(self._taxonomy.domains)

    @cached_property
    def boundaries(self) -> tuple[TermRow, ...]:
        """The boundaries."""
        return _terms(self._taxonomy.boundaries)

    @cached_property
    def actions(self) -> tuple[TermRow, ...]:
        """The recovery actions."""
        return _terms(self._taxonomy.actions)

    @cached_property
    def codes(self) -> tuple[CodeRow, ...]:
        """The live codes, shared ones first."""
        taxonomy = self._taxonomy
        return tuple(
            code_row(code, operation, taxonomy) for operation, code in schemas.live(taxonomy)
        )

    @cached_property
    def statuses(self) -> tuple[StatusRow, ...]:
        """The statuses that codes claim, in order of number."""
        return status_rows(self._taxonomy)

    @cached_property
    def envelopes(self) -> tuple[EnvelopeRow, ...]:
        """The envelopes."""
        taxonomy = self._taxonomy
        return tuple(
            EnvelopeRow(
                name=envelope.name,
                summary=envelope.summary,
                media_types=envelope.media_types,
                picture=envelope.picture,
                codes=tuple(
                    code.name for _, code in schemas.carried_codes(taxonomy, envelope.name)
                ),
                open=schemas.is_open(taxonomy, envelope.name),
            )
            for envelope in taxonomy.envelopes.values()
        )

    @cached_property
    def policies(self) -> tuple[PolicyRow, ...]:
        """The retry policies."""
        return tuple(
            PolicyRow(policy.name, policy.summary, policy.policy.max_attempts)
            for policy in self._taxonomy.retry_policies.values()
        )


def model_of(taxonomy: Taxonomy, source: str) -> Model:
    """The model of a taxonomy; ``source`` is its path as the header names it."""
    return Model(taxonomy, source)


def code_row(code: Code, operation: str | None, taxonomy: Taxonomy) -> CodeRow:
    """The row of one code."""
    return CodeRow(
        name=code.name,
        wire=code.wire,
        operation=operation,
        summary=code.summary,
        description=code.description,
        message=code.message,
        domain=code.domain,
        boundaries=code.boundaries,
        status=code.http.default,
        statuses=tuple(map(str, code.http.statuses)),
        retriable=code.retriable.flag_kind,
        until=code.retriable.until,
        client_action=code.client_action,
        retryable=code.retryable,
        retry=code.retry,
        effect=code.effect,
        headers=tuple(
            HeaderRow(rule.name, rule.presence, tuple(map(str, rule.on)), rule.summary or "")
            for rule in code.headers
        ),
        details=tuple(detail_row(member, taxonomy) for member in code.details.values()),
        actions=code.actions,
        lifecycle=code.lifecycle,
        since=code.since,
        sunset=code.sunset,
        replaced_by=code.replaced_by,
        **{**code.support._asdict(), "owner": code.support.owner or taxonomy.owner},
    )


@memoize
def detail_row(member: DetailMember, taxonomy: Taxonomy) -> DetailRow:
    """The row of one member of details, described by itself or by the registry."""
    registered = taxonomy.detail_keys.get(member.name)
    description = member.schema.description or (registered.summary if registered else None) or ""
    return DetailRow(
        member.name, member.presence, description, schemas.known_value(member.schema, taxonomy)
    )


def status_rows(taxonomy: Taxonomy) -> tuple[StatusRow, ...]:
    """Every status that a code claims, in order of number."""
    claimed = {
        status
        for code in taxonomy.shared_live_codes()
        for each in code.http.statuses
        if each.width <= 10
        for status in range(each.low, each.high + 1)
    }
    return tuple(
        StatusRow(status, phrase(status), taxonomy.codes_for(status)) for status in sorted(claimed)
    )


def phrase(status: int) -> str:
    """The reason phrase of a status, or nothing for one that RFC 9110 and its neighbours don't
    name.
    """
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _terms(terms: Mapping[str, Term]) -> tuple[TermRow, ...]:
    return tuple(TermRow(term.name, term.summary, term.lifecycle) for term in terms.values())
