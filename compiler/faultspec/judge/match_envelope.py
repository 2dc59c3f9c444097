"""Which envelope a body is read as, and which codes its values name."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from faultspec.contract.model import Claim, Contract, Matcher, Numbering
from faultspec.exchange.body import DecodedBody
from faultspec.exchange.model import Exchange
from faultspec.language.carriers import (
    decided_codes,
    protocol_collisions,
    shares_code_place,
    uses_envelope,
)
from faultspec.language.model import Code, Envelope, Operation
from faultspec.language.text_types import details_type
from faultspec.language.values import are_equal, check_value, is_text_or_number
from faultspec.runtime.codecs import media_essence
from faultspec.runtime.extraction import ArrayItem, Extraction, extract, is_error
from faultspec.runtime.nodes import Array, Literal, Node, Object, Template, slot_places, walk
from faultspec.runtime.places import NO_PLACES, Places, SlotPlace, body_places, place_value
from faultspec.runtime.pointers import resolve, steps
from faultspec.runtime.text_values import ANY, convert_text, fit

Owners = tuple[tuple[Operation, Matcher], ...]
"""The operations that declare a code of their own, each with its matcher."""

_STATUS = re.compile("[1-5][0-9]{2}")


class AnswerContext(NamedTuple):
    """The parts of an answer beside its body that may decide its code or its envelope.

    ``media_type``: that of the answer. ``has_types``: numbers in its body are not texts.
    """

    status: int | None = None
    header: Callable[[str], str | None] = lambda _: None
    operation: Operation | None = None
    media_type: str | None = None
    has_types: bool = True


NO_CONTEXT = AnswerContext()
"""A body alone."""


class EnvelopeMatch(NamedTuple):
    """An envelope and a body read as one.

    ``protocol``: it is that of the carrying protocol. ``decided``: the status or the envelope
    itself decided the code.
    """

    envelope: Envelope
    read: Extraction
    protocol: bool = False
    decided: bool = False

    def distance(self, contract: Contract, claim: Claim) -> tuple[int, int, int, int]:
        """How far the body departs from the envelope: by its constants, then by its members.

        Among equals, its number decides, and then whether the body has the code.
        """
        constants = _constants(self.envelope.shape)
        wrong = {each.path for each in self.read.mismatched} | set(self.read.missing)
        departures = len(self.read.missing) + len(self.read.mismatched)
        if not self.protocol and self.envelope.name in contract.places:
            departures += _count_mistyped(contract, self.envelope, self.read)
        number = 1
        if self.protocol:
            number = 0 if is_protocol_number(claim, self.read.slots.get("code")) else 2
        kept = sum(not any(_is_at_or_below(each, place) for place in wrong) for each in constants)
        return -kept, departures, number, int(self.decided)


class ErrorReading(NamedTuple):
    """One error as read from a body.

    ``at``: the place of its envelope. ``where``: the places of its slots. Both point into the whole
    body. ``code``: its declared code. ``protocol``: it is an error of the carrying protocol.
    ``beside``: the codes of the other errors of its list, each once, None for one that is not
    declared.
    ``others``: those errors, if it is the first of them.
    """

    claim: Claim
    envelope: Envelope
    at: str
    slots: Mapping[str, object]
    where: Mapping[str, str]
    operation: Operation | None
    protocol: bool = False
    code: Code | None = None
    beside: tuple[Code | None, ...] = ()
    others: "tuple[ErrorReading, ...]" = ()

    def value(self, slot: str) -> object:
        """The value of a slot, or None."""
        return self.slots.get(slot)


def _is_at_or_below(pointer: str, above: str) -> bool:
    return f"{pointer}/".startswith(f"{above}/")


@lru_cache(maxsize=64)  # a taxonomy has a handful of shapes, each read at every error
def _constants(shape: Node) -> frozenset[str]:
    """The places of the constants of a shape, which tell envelopes apart."""
    return frozenset(
        place.path for place in walk(shape) if isinstance(place.node, Literal) and place.required
    )


def match_envelope(
    contract: Contract, claim: Claim, body: object, context: AnswerContext = NO_CONTEXT
) -> EnvelopeMatch | None:
    """The alternative that the body fits, else the nearest; None for a foreign body that may pass.

    A body of another shape is foreign, with three exceptions. A declared code is at the place
    of the code. A string replaces the object that holds the code. Or the body is exactly
    the envelope of another surface.
    """
    matches = _candidates(contract, claim, body, context)
    if (
        claim.surface.reason
        and not any(match.read.fits for match in matches)
        and not _is_envelope_of_another_surface(contract, claim, body, context)
    ):
        matches = [
            match
            for match in matches
            if (not claim.surface.foreign and _names_declared_code(contract, match))
            or _has_text_above_code(match.envelope, body)
        ]
    if len(matches) == 1:
        return matches[0]
    return min(matches, key=lambda match: match.distance(contract, claim), default=None)


def context_of(
    exchange: Exchange, status: int | None, operation: Operation | None, body: DecodedBody
) -> AnswerContext:
    """The parts of an answer beside its body."""
    return AnswerContext(
        status=status,
        header=exchange.response_header,
        operation=operation,
        media_type=exchange.response_header("content-type"),
        has_types=body.codec.has_types,
    )


def envelopes_meant(claim: Claim, media_type: str | None) -> tuple[Envelope, ...]:
    """The envelopes of the media type of an answer; all if none has it."""
    essence = media_essence(media_type)
    return tuple(each for each in claim.envelopes if essence in each.essences) or claim.envelopes


def errors_in(read: Extraction) -> tuple[Extraction | ArrayItem, ...]:
    """The errors of a body: one, or one for each item of its list, with the slots beside it."""
    return (read, *(read.complete(item) if is_error(item) else item for item in read.more))


def status_of(error: ErrorReading, status: int | None) -> int | None:
    """The status of an error: that of the answer, but one of several errors may have its own."""
    own = error.value("status")
    if not error.beside or isinstance(own, bool) or not isinstance(own, int | str):
        return status
    text = str(own)
    return int(text) if _STATUS.fullmatch(text) else status


def shares_status(error: ErrorReading, status: int) -> bool:
    """Whether an answer with several errors may have the status: another error has it, or it is the
    general one of its class (JSON:API 1.1, "Processing Errors").
    """
    return bool(error.beside) and (
        status in (400, 500)
        or any(code is None or code.http.allows(status) for code in error.beside)
    )


def is_inside_text(envelope: Envelope, pointer: str) -> bool:
    """Whether the envelope's shape has a string with slots at the pointer."""
    node: Node | None = envelope.shape
    for key in steps(pointer):
        if isinstance(node, Object):
            node = next((member.node for member in node.members if member.name == key), None)
        else:
            node = node.item if isinstance(node, Array) else None
    return isinstance(node, Template)


def is_protocol_number(claim: Claim, wire: object) -> bool:
    """Whether the value is an error number of the protocol that carries the surface."""
    protocol = claim.surface.protocol
    return protocol is not None and any(wire in numbers for numbers in protocol.codes)


def declarations(numbering: Numbering, wire: object) -> tuple[Code | None, Owners]:
    """The shared code with this value, and the operations that declare it as their own."""
    if not is_text_or_number(wire):
        return None, ()
    return numbering.wires.get(wire), numbering.owners.get(wire, ())


def _match(
    contract: Contract, claim: Claim, envelope: Envelope, *, body: object, context: AnswerContext
) -> EnvelopeMatch:
    """A body and what comes with it, read as an envelope."""
    read = _read_as(contract, envelope, body, has_types=context.has_types)
    places = contract.places.get(envelope.name, NO_PLACES)
    return _fill_places(contract, claim, EnvelopeMatch(envelope, read), places, context=context)


def match_headers(contract: Contract, claim: Claim, context: AnswerContext) -> EnvelopeMatch | None:
    """The envelope whose code is in a header or decided by the status, without a body; None if the
    body decides.
    """
    meant = envelopes_meant(claim, context.media_type)
    kinds = ("header", "status", "envelope") if len(meant) == 1 else ("header",)
    for envelope in meant:
        places = {
            slot: tuple(takewhile(lambda place: place.kind in kinds, own))
            for slot, own in contract.places.get(envelope.name, NO_PLACES).items()
        }
        match = EnvelopeMatch(envelope, _nothing_read())
        found = _fill_places(contract, claim, match, places, context=context)
        if "code" in found.read.slots:
            return found
    return None


def _nothing_read() -> Extraction:
    """The content of a body that is not there."""
    return Extraction(slots={}, where={}, missing=(), mismatched=(), unexpected=(), more=())


def _fill_places(
    contract: Contract,
    claim: Claim,
    match: EnvelopeMatch,
    places: Places,
    *,
    context: AnswerContext,
) -> EnvelopeMatch:
    """A match with the values of the slots that are not in its body."""
    if not places:
        return match
    envelope, read, decided = match.envelope, match.read, False

    def decide(place: SlotPlace) -> object:
        found = context_codes(contract, claim, envelope, place=place, context=context)
        return found[0].wire_in(envelope) if len(found) == 1 else None

    for slot in places:
        placed = place_value(slot, places, read, header=context.header, decided=decide)
        if placed is not None and placed[1].kind != "body":
            value, place = placed
            if place.kind == "header":
                value = _typed_text(contract, envelope, slot, value)
            read.slots[slot], read.where[slot] = value, ""
            decided = decided or place.kind != "header"
    return match._replace(decided=decided)


def _typed_text(contract: Contract, envelope: Envelope, slot: str, value: object) -> object:
    """The value of a slot in a header, which has only texts, with the type of the slot."""
    numbers = contract.numbering_in(envelope).texts
    if slot == "code" and str(value) in numbers:
        return numbers[str(value)]
    return convert_text(value, contract.text_types[envelope.name].get(slot, ANY))


def _count_mistyped(contract: Contract, envelope: Envelope, read: Extraction) -> int:
    """The number of slots whose value has a type that the slot does not."""
    schemas = contract.slots[envelope.name]
    problems = (
        problem.keyword
        for slot, value in read.slots.items()
        if slot in schemas
        for problem in check_value(schemas[slot]._replace(properties={}, items=None), value)
    )
    return sum(keyword == "type" for keyword in problems)


def context_codes(
    contract: Contract,
    claim: Claim,
    envelope: Envelope,
    *,
    place: SlotPlace,
    context: AnswerContext,
) -> tuple[Code, ...]:
    """The codes that the status, or the envelope itself, may stand for here."""
    return decided_codes(
        contract.taxonomy,
        envelope,
        by="status" if place.kind == "status" else "envelope",
        status=context.status,
        surface=claim.surface,
        operation=context.operation,
    )


def _read_as(
    contract: Contract, envelope: Envelope, body: object, *, has_types: bool
) -> Extraction:
    """Read a body as an envelope; a declared number inside a string becomes a number."""
    if not has_types:
        body = fit(envelope.shape, body, contract.text_types[envelope.name])
    read = extract(envelope.shape, body, body_places(contract.places.get(envelope.name, NO_PLACES)))
    texts = contract.numbering_in(envelope).texts
    items: tuple[Extraction | ArrayItem, ...] = (read, *read.more)
    for item in items:
        code = item.slots.get("code")
        if (
            isinstance(code, str)
            and code in texts
            and (not has_types or is_inside_text(envelope, item.where["code"]))
        ):
            item.slots["code"] = texts[code]
        if not has_types and "details" in item.slots:
            wire = item.slots.get("code", read.slots.get("code"))
            details = item.slots["details"]
            item.slots["details"] = _typed_details(contract, envelope, wire=wire, details=details)
    return read


def _typed_details(
    contract: Contract, envelope: Envelope, *, wire: object, details: object
) -> object:
    """The details of an error whose body has only texts, with the types of its code's details."""
    for code in _declared_codes(contract, envelope, wire):
        members = {name: member.schema for name, member in code.details.items()}
        return convert_text(details, details_type(contract.taxonomy, members))
    return details


def _candidates(
    contract: Contract, claim: Claim, body: object, context: AnswerContext
) -> list[EnvelopeMatch]:
    """The envelopes that carry the body's declared code; all alternatives where there is none."""
    own = [
        _match(contract, claim, envelope, body=body, context=context)
        for envelope in envelopes_meant(claim, context.media_type)
    ]
    protocol = []
    if claim.protocol is not None:
        protocol = [
            EnvelopeMatch(claim.protocol, extract(claim.protocol.shape, body), protocol=True)
        ]
        if _belongs_to_protocol(contract, claim, protocol[0].read.slots.get("code")):
            own = [match for match in own if not shares_code_place(match.envelope, claim.protocol)]
    if len(own) + len(protocol) == 1:
        return [*own, *protocol]
    return [match for match in own if _carries_declared_code(contract, match, body)] or [
        *own,
        *protocol,
    ]


def _belongs_to_protocol(contract: Contract, claim: Claim, wire: object) -> bool:
    """Whether a number is the protocol's, where a declared code could be at the same place."""
    return is_protocol_number(claim, wire) and not any(
        are_equal(number, wire) for number in protocol_collisions(contract.taxonomy, claim.surface)
    )


def _carries_declared_code(contract: Contract, match: EnvelopeMatch, body: object) -> bool:
    """Whether the code, alone or inside a string, is declared and travels in this envelope."""
    places = slot_places(match.envelope.shape).get("code", ())
    bare = (resolve(body, place.path)[1] for place in places)
    return any(
        uses_envelope(code, match.envelope)
        for wire in (*bare, *_codes(match.read))
        for code in _declared_codes(contract, match.envelope, wire)
    )


def _codes(read: Extraction) -> Iterator[object]:
    return (item.slots.get("code") for item in errors_in(read))


def _declared_codes(contract: Contract, envelope: Envelope, wire: object) -> Iterator[Code]:
    """Every declared code with this value in an envelope, shared or of one operation."""
    shared, owners = declarations(contract.numbering_in(envelope), wire)
    if shared is not None:
        yield shared
    for operation, _ in owners:
        yield from own_codes(operation, envelope, wire)


def own_codes(operation: Operation | None, envelope: Envelope, wire: object) -> Iterator[Code]:
    """The codes of an operation alone with this value in an envelope."""
    for code in operation.errors.values() if operation is not None else ():
        if are_equal(code.wire_in(envelope), wire):
            yield code


def find_code(
    contract: Contract, envelope: Envelope, operation: Operation | None, wire: object
) -> Code | None:
    """The declared code with this value in an envelope: the operation's own, else the shared one as
    the operation has it.
    """
    own = next(own_codes(operation, envelope, wire), None)
    shared, _ = declarations(contract.numbering_in(envelope), wire)
    if own is not None or shared is None or operation is None:
        return own or shared
    return operation.own_form(shared)


def _names_declared_code(contract: Contract, match: EnvelopeMatch) -> bool:
    numbering = contract.numbering_in(match.envelope)
    return any(any(declarations(numbering, wire)) for wire in _codes(match.read))


def _is_envelope_of_another_surface(
    contract: Contract, claim: Claim, body: object, context: AnswerContext
) -> bool:
    """Whether a body is exactly an envelope of other surfaces of the transport.

    Foreign bodies may resemble such an envelope, but are never exactly it. An envelope that allows
    further members cannot be recognized.
    """
    others = {
        envelope.name: envelope
        for other in contract.claims
        if other.surface.transport == claim.surface.transport
        for envelope in other.envelopes
        if envelope not in claim.envelopes
        and envelope.additional != "allow"
        and not any(_spreads(place.node) for place in walk(envelope.shape))
    }
    return any(
        _is_exactly(contract, envelope, body, has_types=context.has_types)
        for envelope in others.values()
    )


def _is_exactly(contract: Contract, envelope: Envelope, body: object, *, has_types: bool) -> bool:
    """Whether a body has the shape of an envelope, nothing else, and only values that it allows."""
    read = _read_as(contract, envelope, body, has_types=has_types)
    if not read.fits or read.unexpected or not is_text_or_number(read.slots.get("code")):
        return False
    schemas = {
        **contract.slots[envelope.name],
        **{slot: field.schema for slot, field in envelope.fields.items()},
    }
    return not any(
        any(check_value(schemas[slot], value))
        for slot, value in read.slots.items()
        if slot in schemas
    )


def _spreads(node: Node) -> bool:
    return isinstance(node, Object) and node.spread is not None


def _has_text_above_code(envelope: Envelope, body: object) -> bool:
    """Whether a string replaces the object that should hold the code."""
    for place in slot_places(envelope.shape).get("code", ()):
        above = place.path.rpartition("/")[0]
        while above:
            if isinstance(resolve(body, above)[1], str):
                return True
            above = above.rpartition("/")[0]
    return False
