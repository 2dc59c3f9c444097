"""A taxonomy made ready for judging: what an error on each surface may look like, with everything looked up beforehand.

Transport-neutral and a value: nothing here opens a connection, and judging with it changes nothing in it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from faultspec.contract.clauses import Clause, service_clauses
from faultspec.contract.judgement_cache import JudgementCache, build_cache
from faultspec.exchange.body import read, resolve
from faultspec.exchange.model import Exchange
from faultspec.language.conditions import StatusRange
from faultspec.language.model import (
    IMPLIED,
    Code,
    Envelope,
    HeaderRule,
    Match,
    Operation,
    Schema,
    Surface,
    Taxonomy,
)
from faultspec.language.routes import Route, compile_name, compile_route
from faultspec.language.values import Vocabularies, same, vocabularies
from faultspec.leaks import name_patterns
from faultspec.leaks.detectors import Pattern
from faultspec.runtime.shape import Template, slot_places


@dataclass(frozen=True, slots=True)
class Matcher:
    """A ``Match``, compiled; what it leaves out it claims."""

    routes: tuple[Route, ...]
    methods: tuple[str, ...]
    statuses: tuple[StatusRange, ...]
    tools: tuple[re.Pattern[str], ...]
    request: tuple[tuple[str, tuple[object, ...]], ...] = ()

    def claims(self, exchange: Exchange) -> bool:
        """Whether the exchange is one of those meant."""
        method, status = exchange.request.method.upper(), exchange.response.status
        if self.methods and method not in self.methods:
            return False
        if self.statuses and not any(status in each for each in self.statuses):
            return False
        if self.tools and not any(tool.fullmatch(exchange.request.target) for tool in self.tools):
            return False
        paths = paths_of(exchange) if self.routes else ()
        if self.routes and not any(each.claims(method, paths) for each in self.routes):
            return False
        return not self.request or self._asks(exchange.request.body)

    def _asks(self, body: bytes) -> bool:
        """Whether each member that is named has one of its values in the request's body."""
        asked = read(body)
        if asked.problem is not None:
            return False
        found = ((resolve(asked.value, pointer), values) for pointer, values in self.request)
        return all(
            there and any(same(value, each) for each in values) for (there, value), values in found
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """A surface and the exchanges it claims.

    ``envelopes`` are the alternatives, none where errors carry none; ``protocol`` is that of the protocol's own errors.
    """

    surface: Surface
    matcher: Matcher
    envelopes: tuple[Envelope, ...]
    protocol: Envelope | None = None


@dataclass(frozen=True, eq=False)
class Contract:
    """What ``judge`` judges by.

    ``wires``: shared codes by what stands in the code slot. ``owners``: by the same, the operations that have a code of
    their own. ``texts``: numbers among both by how they stand inside a text. ``kinds``: what codes are on the wire, ``string``
    and ``number``. ``statuses``: the names of the codes that may travel under an error status. ``terms``: the members of each
    vocabulary that may stand on a wire. ``slots``: the schema of each slot of each envelope, whatever the code. ``remembered``:
    what `headers` found out before. ``cache``: texts that are harmless and, where it is `with_cache`, errors that are sound.
    """

    taxonomy: Taxonomy
    clauses: Mapping[str, Clause]
    claims: tuple[Claim, ...]
    operations: tuple[tuple[Operation, Matcher], ...]
    wires: Mapping[object, Code]
    owners: Mapping[object, tuple[tuple[Operation, Matcher], ...]]
    texts: Mapping[str, int]
    kinds: frozenset[str]
    statuses: Mapping[int, tuple[str, ...]]
    terms: Vocabularies
    slots: Mapping[str, Mapping[str, Schema]]
    names: tuple[Pattern, ...]
    remembered: dict[tuple[str | None, int], Mapping[str, tuple[HeaderRule, ...]]] = field(
        default_factory=dict, repr=False
    )
    cache: JudgementCache = field(default_factory=JudgementCache, repr=False)

    def claim(self, exchange: Exchange) -> Claim | None:
        """The first surface that claims the exchange."""
        return next(
            (
                each
                for each in self.claims
                if each.surface.transport == exchange.transport and each.matcher.claims(exchange)
            ),
            None,
        )

    def operation(self, exchange: Exchange) -> Operation | None:
        """The declared operation the exchange is one of, where its ``match`` names anything at all."""
        named = exchange.operation or ""
        for operation, matcher in self.operations:
            if {operation.name, operation.wire} & {named, exchange.request.target}:
                return operation
            if matcher != _ANYTHING and matcher.claims(exchange):
                return operation
        return None

    def headers(self, code: Code | None, status: int) -> Mapping[str, tuple[HeaderRule, ...]]:
        """The header rules of an answer by header, the most specific last."""
        key = code.name if code is not None else None, status
        # A code that only one operation has may share its name with another's; and a status may be any number.
        lasting = (
            code is None or self.taxonomy.codes.get(code.name) is code
        ) and 100 <= status <= 599
        known = self.remembered.get(key) if lasting else None
        if known is None:
            found: dict[str, tuple[HeaderRule, ...]] = {}
            for rule in self.taxonomy.header_rules(code, status):
                found[rule.name.lower()] = (*found.get(rule.name.lower(), ()), rule)
            known = found
            if lasting:
                self.remembered[key] = known
        return known

    def codes_for(self, status: int) -> tuple[str, ...]:
        """The names of the codes that may travel under a status."""
        found = self.statuses.get(status)
        return self.taxonomy.codes_for(status) if found is None else found


def contract(taxonomy: Taxonomy) -> Contract:
    """The contract a taxonomy makes; worth keeping, as it takes longer than judging one exchange."""
    wires: dict[object, Code] = {code.wire: code for code in taxonomy.codes.values()}
    operations = tuple(
        (operation, matcher(operation.match)) for operation in taxonomy.operations.values()
    )
    owners: dict[object, tuple[tuple[Operation, Matcher], ...]] = {}
    for each in operations:
        for code in each[0].errors.values():
            owners[code.wire] = (*owners.get(code.wire, ()), each)
    codes = {**wires, **owners}
    return Contract(
        taxonomy=taxonomy,
        clauses=service_clauses(taxonomy),
        claims=tuple(
            Claim(
                surface,
                matcher(surface.match),
                tuple(taxonomy.envelopes[name] for name in surface.envelopes),
                taxonomy.envelopes[surface.protocol.envelope] if surface.protocol else None,
            )
            for surface in taxonomy.surfaces.values()
        ),
        operations=operations,
        wires=wires,
        owners=owners,
        texts={
            str(wire): wire for wire in codes if isinstance(wire, int) and str(wire) not in codes
        },
        kinds=frozenset("string" if isinstance(wire, str) else "number" for wire in codes),
        statuses={status: taxonomy.codes_for(status) for status in range(400, 600)},
        terms=vocabularies(taxonomy, reserved=False),
        slots={name: _slots(envelope, taxonomy) for name, envelope in taxonomy.envelopes.items()},
        names=name_patterns(taxonomy.privacy.internal_names if taxonomy.privacy else ()),
    )


def with_cache(contract: Contract) -> Contract:
    """The same contract, by which errors that are alike are judged once: for recordings, which hold millions of them."""
    return replace(contract, cache=build_cache(contract.taxonomy))


def matcher(match: Match) -> Matcher:
    """Compile what a surface, an operation or a configuration says of the exchanges it means."""
    return Matcher(
        tuple(compile_route(each) for each in match.routes),
        tuple(method.upper() for method in match.methods),
        match.statuses,
        tuple(compile_name(tool) for tool in match.tools),
        tuple(match.request.items()),
    )


_ANYTHING = Matcher((), (), (), ())


def paths_of(exchange: Exchange) -> tuple[str, ...]:
    """The template of the request, if it has one, and its concrete path."""
    target = exchange.request.target
    path = (
        re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*", "", target)
        .partition("?")[0]
        .partition("#")[0]
        or "/"
    )
    return (exchange.route, path) if exchange.route else (path,)


def _slots(envelope: Envelope, taxonomy: Taxonomy) -> dict[str, Schema]:
    """What each slot may hold whatever the code: what the envelope says, else what the slot's role implies."""
    implied = {slot: each for slot in IMPLIED if (each := taxonomy.implied(slot)) is not None}
    # What stands inside a text is text there, whatever it is elsewhere.
    for slot, places in slot_places(envelope.shape).items():
        if any(isinstance(place.node, Template) for place in places):
            implied.pop(slot, None)
    declared = {slot: each.schema for slot, each in envelope.fields.items() if slot != "code"}
    if "details" in declared:
        # Which members may be there is a matter of the code and the registry.
        declared["details"] = declared["details"]._replace(additional="allow")
    return {**implied, **declared}
