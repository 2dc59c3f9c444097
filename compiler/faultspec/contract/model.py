"""A taxonomy prepared for judging, with all look-ups done beforehand.

Transport-neutral: nothing here opens a connection. A contract is a value except for its ``cache``,
which judging fills. The cache makes judging faster and never changes a judgement.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import parse_qs

from faultspec.contract.clauses import Clause, service_clauses
from faultspec.contract.judgement_cache import JudgementCache, build_cache
from faultspec.contract.renderings import RenderingForm, compile_renderings
from faultspec.contract.sensitive_places import find_sensitive_places
from faultspec.exchange.body import decode_as, read
from faultspec.exchange.model import Exchange, Request, Response, first_header
from faultspec.exchange.sensitive import NOWHERE_SENSITIVE, SensitivePlaces
from faultspec.language.conditions import StatusRange
from faultspec.language.model import (
    IMPLIED,
    Code,
    Envelope,
    HeaderRule,
    Idempotency,
    Match,
    Operation,
    Schema,
    Surface,
    Taxonomy,
)
from faultspec.language.routes import Route, compile_name, compile_route
from faultspec.language.text_types import slot_types
from faultspec.language.values import Vocabularies, stands_for, vocabularies
from faultspec.leaks import name_patterns
from faultspec.leaks.known_lines import KnownLines
from faultspec.leaks.pattern import Pattern
from faultspec.runtime.checking import Check
from faultspec.runtime.codecs import find_codec
from faultspec.runtime.places import Places
from faultspec.runtime.pointers import resolve
from faultspec.runtime.shape import Template, slot_places

Patterns = tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]
"""The patterns of values by name, one of which matches."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """A compiled ``Match``. An empty criterion matches every exchange."""

    routes: tuple[Route, ...]
    methods: tuple[str, ...]
    statuses: tuple[StatusRange, ...]
    tools: tuple[re.Pattern[str], ...]
    request: tuple[tuple[str, tuple[object, ...]], ...] = ()
    headers: Patterns = ()
    query: Patterns = ()

    def claims(self, exchange: Exchange) -> bool:
        """Whether the exchange meets every criterion."""
        method, status = exchange.request.method.upper(), exchange.response.status
        paths = paths_of(exchange) if self.routes else ()
        if not self.claims_line(method, status, target=exchange.request.target, paths=paths):
            return False
        if self.headers and not _match_values(self.headers, _request_headers(exchange)):
            return False
        if self.query and not _match_values(self.query, _query(exchange)):
            return False
        return not self.request or self._matches_body(exchange.request)

    @property
    def reads_line_only(self) -> bool:
        """Whether ``claims_line`` has all criteria."""
        return not (self.headers or self.query or self.request)

    def claims_line(
        self, method: str, status: int | None, *, target: str, paths: Sequence[str]
    ) -> bool:
        """Whether an exchange meets the criteria on its method in upper case, its status, its
        target and its paths.
        """
        if self.methods and method not in self.methods:
            return False
        if self.statuses and not any(status in wanted for wanted in self.statuses):
            return False
        if self.tools and not any(tool.fullmatch(target) for tool in self.tools):
            return False
        return not self.routes or any(route.claims(method, paths) for route in self.routes)

    def _matches_body(self, request: Request) -> bool:
        """Whether every criterion on the request's body finds one of its values there. The body is
        in the format of its media type, else JSON.
        """
        codec = find_codec(first_header(request.headers, "content-type"))
        decoded = read(request.body) if codec is None else decode_as(codec, request.body)
        if decoded.problem is not None:
            return False
        has_types = decoded.codec.has_types
        found = ((resolve(decoded.value, pointer), values) for pointer, values in self.request)
        return all(
            exists and any(stands_for(value, wanted, has_types=has_types) for wanted in values)
            for (exists, value), values in found
        )


def _match_values(patterns: Patterns, values: Mapping[str, list[str]]) -> bool:
    """Whether each name has a value that one of its patterns matches."""
    return all(
        any(pattern.fullmatch(value) for value in values.get(name, ()) for pattern in allowed)
        for name, allowed in patterns
    )


def _request_headers(exchange: Exchange) -> Mapping[str, list[str]]:
    """The values of request headers, by name in lower case."""
    found: dict[str, list[str]] = {}
    for name, value in exchange.request.headers:
        found.setdefault(name.lower(), []).append(value)
    return found


def _query(exchange: Exchange) -> Mapping[str, list[str]]:
    """The values of query parameters, by name; none if the query is malformed."""
    query = exchange.request.target.partition("?")[2].partition("#")[0]
    try:
        return parse_qs(query, keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        return {}


_FIELDS = 1000
"""Parameters of a query that is read."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A surface and the exchanges it claims.

    ``envelopes``: the alternatives; empty where errors carry no envelope. ``protocol``: the
    envelope of errors of the protocol that carries the surface.
    """

    surface: Surface
    matcher: Matcher
    envelopes: tuple[Envelope, ...]
    protocol: Envelope | None = None


@dataclass(frozen=True, slots=True)
class Numbering:
    """The codes by the value of the code slot.

    ``wires``: the shared codes. ``owners``: the operations that declare a code of their own.
    ``texts``: numeric codes by their spelling inside a text. ``kinds``: the types of the values,
    ``string`` and ``number``.
    """

    wires: Mapping[object, Code]
    owners: Mapping[object, tuple[tuple[Operation, Matcher], ...]]
    texts: Mapping[str, int]
    kinds: frozenset[str]

    def declares(self, wire: object) -> bool:
        """Whether a text or a number is the value of a declared code."""
        return wire in self.wires or wire in self.owners


@dataclass(frozen=True, eq=False)
class Contract:
    """Everything that ``judge`` needs to know of a taxonomy.

    ``numbering``: the codes by ``wire``. ``numberings``: by envelope, the codes by the value of the
    code slot, if it is another for any. ``statuses``: the names of the codes that may travel under
    an error status. ``terms``: the members of each vocabulary that may
    be sent. ``slots``: by envelope, the schema of each slot, whatever the code. ``names``:
    patterns of internal names. ``renderings``: the forms of errors as text. ``places``: by
    envelope, the places of slots that are not only where the picture has them. ``text_types``: by
    envelope, the types of slots in bodies that have only texts. ``sensitive``: the places of values
    that no message and no report shows. ``has_own_keys``: whether some surface or operation has its
    idempotency keys at a place of its own.

    ``cache``: the only mutable part. It holds header rules, harmless texts and, after
    ``with_cache``, judgements of sound errors.
    """

    taxonomy: Taxonomy
    clauses: Mapping[str, Clause]
    claims: tuple[Claim, ...]
    operations: tuple[tuple[Operation, Matcher], ...]
    numbering: Numbering
    numberings: Mapping[str, Numbering]
    statuses: Mapping[int, tuple[str, ...]]
    terms: Vocabularies
    slots: Mapping[str, Mapping[str, Schema]]
    names: tuple[Pattern, ...]
    renderings: tuple[RenderingForm, ...] = ()
    places: Mapping[str, Places] = field(default_factory=dict)
    text_types: Mapping[str, Mapping[str, Check]] = field(default_factory=dict)
    sensitive: SensitivePlaces = NOWHERE_SENSITIVE
    has_own_keys: bool = False
    cache: JudgementCache = field(default_factory=JudgementCache, repr=False)

    def numbering_in(self, envelope: Envelope) -> Numbering:
        """The codes by the value of the code slot of an envelope."""
        return self.numberings.get(envelope.name, self.numbering)

    def claim(self, exchange: Exchange) -> Claim | None:
        """The first surface that claims the exchange."""
        return next(
            (
                claim
                for claim in self.claims
                if claim.surface.transport == exchange.transport and claim.matcher.claims(exchange)
            ),
            None,
        )

    def operation(self, exchange: Exchange) -> Operation | None:
        """The declared operation of the exchange, by name or by a ``match`` with a criterion."""
        names = {exchange.operation or "", exchange.request.target}
        for operation, matcher in self.operations:
            if operation.name in names or operation.wire in names:
                return operation
            if matcher != _MATCH_ALL and matcher.claims(exchange):
                return operation
        return None

    def find_operation(self, name: str) -> Operation | None:
        """The declared operation of requests with this name: ``METHOD /template`` on HTTP, else
        the name of a method or tool.
        """
        return self.operation(_named_exchange(name))

    def key_rule(self, exchange: Exchange) -> Idempotency | None:
        """The rule about idempotency keys, with their place in this request."""
        if not self.has_own_keys:
            return self.taxonomy.idempotency
        claim = self.claim(exchange)
        return self.taxonomy.key_rule(
            claim.surface if claim is not None else None, self.operation(exchange)
        )

    def key_rule_of(self, name: str) -> Idempotency | None:
        """The same for requests with this name: ``METHOD /template``."""
        return self.key_rule(_named_exchange(name))

    def headers(
        self, code: Code | None, status: int, surface: Surface | None
    ) -> Mapping[str, tuple[HeaderRule, ...]]:
        """The rules for an answer, by header in lower case; the most specific rule is last."""
        named = surface.name if surface is not None and surface.headers else None
        key = code.name if code is not None else None, status, named
        # An operation's code may share its name with another code, and a status may be any number.
        cacheable = (
            code is None or self.taxonomy.codes.get(code.name) is code
        ) and 100 <= status <= 599
        rules = self.cache.header_rules.get(key) if cacheable else None
        if rules is None:
            rules = {}
            for rule in self.taxonomy.header_rules(code, status, surface):
                name = rule.name.lower()
                rules[name] = (*rules.get(name, ()), rule)
            if cacheable:
                self.cache.header_rules[key] = rules
        return rules

    def codes_for(self, status: int) -> tuple[str, ...]:
        """The names of the codes that may travel under a status."""
        found = self.statuses.get(status)
        return self.taxonomy.codes_for(status) if found is None else found


def build_contract(taxonomy: Taxonomy) -> Contract:
    """Prepare a taxonomy for judging; this takes longer than judging one exchange."""
    operations = tuple(
        (operation, compile_match(operation.match)) for operation in taxonomy.operations.values()
    )
    differing = {name for code in taxonomy.every_code() for name in code.identities}
    return Contract(
        taxonomy=taxonomy,
        clauses=service_clauses(taxonomy),
        claims=tuple(
            Claim(
                surface,
                _compile_match_of(surface),
                tuple(taxonomy.envelopes[name] for name in surface.envelopes),
                taxonomy.envelopes[surface.protocol.envelope] if surface.protocol else None,
            )
            for surface in taxonomy.surfaces.values()
        ),
        operations=operations,
        numbering=_number(taxonomy, operations, lambda code: code.wire),
        numberings={
            name: _number(taxonomy, operations, partial(Code.wire_in, envelope=envelope))
            for name, envelope in taxonomy.envelopes.items()
            if name in differing
        },
        statuses={status: taxonomy.codes_for(status) for status in range(400, 600)},
        terms=vocabularies(taxonomy, reserved=False),
        slots={name: _slots(envelope, taxonomy) for name, envelope in taxonomy.envelopes.items()},
        names=name_patterns(taxonomy.privacy.internal_names if taxonomy.privacy else ()),
        renderings=compile_renderings(taxonomy),
        places={name: one.places for name, one in taxonomy.envelopes.items() if one.places},
        text_types={
            name: slot_types(taxonomy, envelope) for name, envelope in taxonomy.envelopes.items()
        },
        sensitive=find_sensitive_places(taxonomy),
        has_own_keys=any(taxonomy.own_key_places()),
    )


def _number(
    taxonomy: Taxonomy,
    operations: tuple[tuple[Operation, Matcher], ...],
    wire_of: Callable[[Code], str | int],
) -> Numbering:
    """The codes by their values."""
    wires: dict[object, Code] = {wire_of(code): code for code in taxonomy.codes.values()}
    owners: dict[object, tuple[tuple[Operation, Matcher], ...]] = {}
    for owner in operations:
        for code in owner[0].errors.values():
            wire = wire_of(code)
            owners[wire] = (*owners.get(wire, ()), owner)
    codes = {**wires, **owners}
    return Numbering(
        wires=wires,
        owners=owners,
        texts={
            str(wire): wire for wire in codes if isinstance(wire, int) and str(wire) not in codes
        },
        kinds=frozenset("string" if isinstance(wire, str) else "number" for wire in codes),
    )


def with_cache(contract: Contract) -> Contract:
    """The contract with an empty cache of judgements: similar errors are judged once.

    For recordings, which hold millions of errors.
    """
    return replace(contract, cache=build_cache(contract.taxonomy))


def with_known_lines(contract: Contract) -> Contract:
    """The contract with an empty memory of pages: the lines of one are searched for leaks once.

    For a run, which gets the same page of an error a hundred times.
    """
    return replace(contract, cache=JudgementCache(known_lines=KnownLines()))


def _compile_match_of(surface: Surface) -> Matcher:
    """Compile the ``match`` of a surface. The events of a stream have no status: that of the answer
    was sent before they came.
    """
    match = surface.match
    return compile_match(match._replace(statuses=()) if surface.transport == "stream" else match)


def compile_match(match: Match) -> Matcher:
    """Compile the ``match`` of a surface or an operation."""
    return Matcher(
        routes=tuple(map(compile_route, match.routes)),
        methods=tuple(method.upper() for method in match.methods),
        statuses=match.statuses,
        tools=tuple(map(compile_name, match.tools)),
        request=tuple(match.request.items()),
        headers=tuple(
            (name.lower(), tuple(map(compile_name, values)))
            for name, values in match.headers.items()
        ),
        query=tuple(
            (name, tuple(map(compile_name, values))) for name, values in match.query.items()
        ),
    )


_MATCH_ALL = Matcher((), (), (), ())


def _named_exchange(name: str) -> Exchange:
    method, _, template = name.partition(" ")
    request = Request(method, template or name)
    return Exchange(request, Response(None), route=template or None, operation=name)


def paths_of(exchange: Exchange) -> tuple[str, ...]:
    """The route template of the request, if known, and its concrete path."""
    target = exchange.request.target
    path = (
        re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*", "", target)
        .partition("?")[0]
        .partition("#")[0]
        or "/"
    )
    return (exchange.route, path) if exchange.route else (path,)


def _slots(envelope: Envelope, taxonomy: Taxonomy) -> dict[str, Schema]:
    """The schema of each slot, whatever the code: the envelope's own or implied by the role."""
    implied = {
        slot: schema for slot in IMPLIED if (schema := taxonomy.implied_schema(slot)) is not None
    }
    # Inside a string every slot is a string, so its implied type does not hold there.
    for slot, places in slot_places(envelope.shape).items():
        if any(isinstance(place.node, Template) for place in places):
            implied.pop(slot, None)
    declared = {slot: field.schema for slot, field in envelope.fields.items() if slot != "code"}
    if "details" in declared:
        # The code and the registry decide on the members.
        declared["details"] = declared["details"]._replace(additional="allow")
    return {**implied, **declared}
