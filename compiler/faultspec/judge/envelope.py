"""The body of an error: its shape, its slots, its code, and the details that go with the code."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import ceil, isfinite
from typing import NamedTuple

from faultspec.contract.model import Claim, Contract, Matcher
from faultspec.exchange.body import resolve, steps
from faultspec.exchange.model import Exchange
from faultspec.judge.bench import FindingCollector
from faultspec.judge.facts import facts_of
from faultspec.judge.words import place, sentence
from faultspec.language import header_syntax
from faultspec.language.carriers import protocol_collisions, shares_code_place, uses_envelope
from faultspec.language.conditions import ConditionFacts, possible_outcomes
from faultspec.language.model import (
    Code,
    DetailMember,
    Envelope,
    Operation,
    Schema,
    Source,
    Strictness,
)
from faultspec.language.values import ValueProblem, check_value, same, shown
from faultspec.runtime import ids
from faultspec.runtime.extraction import ArrayItem, Extraction, extract
from faultspec.runtime.nodes import Array, Node, Object, Template, child, slot_places, walk

_LISTED = 4
"""Places that one message names before it says "and others"."""


@dataclass(frozen=True, slots=True)
class ErrorReading:
    """What one error says: its slots, their places (pointers into the whole body), and its code if it is declared."""

    envelope: Envelope
    slots: Mapping[str, object]
    where: Mapping[str, str]
    code: Code | None
    operation: Operation | None

    def value(self, slot: str) -> object:
        """What stands in a slot, or None."""
        return self.slots.get(slot)


class EnvelopeMatch(NamedTuple):
    """An envelope and what a body says when it is read as one; ``protocol``: as an error of the protocol that carries ours."""

    envelope: Envelope
    read: Extraction
    protocol: bool = False

    def departs(self, claim: Claim) -> tuple[int, int]:
        """How far the body is from the picture. Of pictures that fit alike, the number decides whose the error is."""
        theirs = 0 if _is_number(claim, self.read.slots.get("code")) else 2
        return len(self.read.missing) + len(self.read.mismatched), theirs if self.protocol else 1


def match_envelope(contract: Contract, claim: Claim, body: object) -> EnvelopeMatch | None:
    """The alternative that the body fits, else the nearest; None where foreign bodies pass and this is one.

    A body of another shape is foreign unless it begins like one of ours: with a declared code in the place of the code,
    or with a bare string above that place; or is, whole and with nothing more, the envelope of another surface.
    """
    read = _candidates(contract, claim, body)
    if (
        claim.surface.reason
        and not any(each.read.fits for each in read)
        and not _elsewhere(contract, claim, body)
    ):
        read = [
            each
            for each in read
            if (not claim.surface.foreign and _has_declared_code(contract, each.read))
            or _is_bare(each.envelope, body)
        ]
    return min(read, key=lambda each: each.departs(claim), default=None)


def _read(contract: Contract, envelope: Envelope, body: object) -> Extraction:
    """What a body says when it is read as an envelope; a declared number inside a text is that number."""
    read = extract(envelope.shape, body)
    for item in _items(read):
        code = item.slots.get("code")
        if (
            isinstance(code, str)
            and code in contract.texts
            and _in_text(envelope, item.where["code"])
        ):
            item.slots["code"] = contract.texts[code]
    return read


def _in_text(envelope: Envelope, pointer: str) -> bool:
    """Whether the picture has a text with slots inside it where a pointer leads."""
    node: Node | None = envelope.shape
    for key in steps(pointer):
        if isinstance(node, Object):
            node = next((member.node for member in node.members if member.name == key), None)
        else:
            node = node.item if isinstance(node, Array) else None
    return isinstance(node, Template)


def _candidates(contract: Contract, claim: Claim, body: object) -> list[EnvelopeMatch]:
    """What a body may be meant as: the envelopes that its code wears, where it has a declared one, else all."""
    ours = [
        EnvelopeMatch(envelope, _read(contract, envelope, body)) for envelope in claim.envelopes
    ]
    if claim.protocol is None:
        theirs = []
    else:
        theirs = [EnvelopeMatch(claim.protocol, extract(claim.protocol.shape, body), protocol=True)]
        if _is_theirs(contract, claim, theirs[0].read.slots.get("code")):
            ours = [each for each in ours if not shares_code_place(each.envelope, claim.protocol)]
    if len(ours) + len(theirs) == 1:
        return [*ours, *theirs]
    worn = [each for each in ours if _wears_declared(contract, each, body)]
    return worn or [*ours, *theirs]


def _is_number(claim: Claim, wire: object) -> bool:
    """Whether it is a number of the errors of the protocol that carries ours."""
    return claim.surface.protocol is not None and any(
        wire in code for code in claim.surface.protocol.codes
    )


def _is_theirs(contract: Contract, claim: Claim, wire: object) -> bool:
    """Whether a number that stands where both the protocol and we have ours is the protocol's: it is, and none of a code that
    may be met there.
    """
    if not _is_number(claim, wire):
        return False
    return not any(
        same(each, wire) for each in protocol_collisions(contract.taxonomy, claim.surface)
    )


def _wears_declared(contract: Contract, meant: EnvelopeMatch, body: object) -> bool:
    """Whether a declared code stands in the place where the envelope has its own, alone or in the text that the envelope
    has there, and travels in that envelope.
    """
    bare = [resolve(body, at.path)[1] for at in slot_places(meant.envelope.shape)["code"]]
    for wire in (*bare, *(item.slots.get("code") for item in _items(meant.read))):
        shared, owners = _declared_by(contract, wire)
        own = (
            each
            for operation, _ in owners
            for each in operation.errors.values()
            if same(each.wire, wire)
        )
        if any(
            uses_envelope(code, meant.envelope.name) for code in (shared, *own) if code is not None
        ):
            return True
    return False


def _has_declared_code(contract: Contract, read: Extraction) -> bool:
    return any(
        any(_declared_by(contract, wire))
        for wire in (item.slots.get("code") for item in _items(read))
    )


def _elsewhere(contract: Contract, claim: Claim, body: object) -> bool:
    """Whether a body is an envelope that other surfaces of the transport have and this one has not; strangers' bodies are
    like it, never just it. Where anything may stand beside the members, nothing is just it.
    """
    others = {
        envelope.name: envelope
        for each in contract.claims
        if each.surface.transport == claim.surface.transport
        for envelope in each.envelopes
        if envelope.additional != "allow"
        and not any(_spreads(place.node) for place in walk(envelope.shape))
    }
    for envelope in others.values():
        read = _read(contract, envelope, body)
        if (
            envelope in claim.envelopes
            or not read.fits
            or read.unexpected
            or not _is_scalar(read.slots.get("code"))
        ):
            continue
        schemas = {
            **contract.slots[envelope.name],
            **{slot: each.schema for slot, each in envelope.fields.items()},
        }
        if not any(
            any(check_value(schemas[slot], value))
            for slot, value in read.slots.items()
            if slot in schemas
        ):
            return True
    return False


def _spreads(node: Node) -> bool:
    return isinstance(node, Object) and node.spread is not None


def _is_bare(envelope: Envelope, body: object) -> bool:
    """Whether a string stands where the object that holds the code should."""
    for each in slot_places(envelope.shape)["code"]:
        above = each.path.rpartition("/")[0]
        while above:
            if isinstance(resolve(body, above)[1], str):
                return True
            above = above.rpartition("/")[0]
    return False


def judge_envelope(
    bench: FindingCollector,
    claim: Claim,
    best: EnvelopeMatch,
    *,
    at: str = "",
    operation: Operation | None,
    extras: bool = True,
    told: Collection[str] = (),
) -> ErrorReading | None:
    """Judge one envelope, read from the pointer ``at``; None where it tells no error.

    ``extras``: whether members outside the picture count (not where an item of a batch is its own envelope). ``told``: places of
    members of which it was said already that they must not be there.
    """
    envelope, read, _ = best
    bench.exercise("envelope/shape", "envelope/types")
    _shape(bench, envelope, read, at)
    if envelope.additional != "allow" and extras and read.fits:
        _additional(
            bench,
            envelope,
            [each for each in (at + each for each in read.unexpected) if each not in told],
            at,
        )
    first = None
    for item in _items(read):
        if read.more and ("code" in item.slots or _lists_codes(envelope)):
            bench.code = None  # that of the item before says nothing of this one
        where = {slot: at + pointer for slot, pointer in item.where.items()}
        spelled = "code" in item.where and _in_text(envelope, item.where["code"])
        found = _judge_error(bench, claim, best, item.slots, where, operation, spelled=spelled)
        first = first or found
    if read.more:
        bench.code = first.code.name if first is not None and first.code is not None else None
    return first


def _shape(bench: FindingCollector, envelope: Envelope, read: Extraction, at: str) -> None:
    if read.fits:
        return
    parts = [
        f"{place(at + each.path)} is {shown(each.got)}, expected {each.expected}"
        for each in read.mismatched
    ]
    if read.missing:
        parts.append(f"{_are([at + each for each in read.missing])} missing")
    more = f", and {len(parts) - _LISTED} more" if len(parts) > _LISTED else ""
    places = [*(each.path for each in read.mismatched), *read.missing]
    bench.broken(
        "envelope/shape",
        f"{'; '.join(parts[:_LISTED])}{more}: the body does not have the shape of the envelope `{envelope.name}`",
        pointer=at + places[0] if len(places) == 1 else at,
        source=envelope.source,
    )


def _additional(
    bench: FindingCollector, envelope: Envelope, unexpected: list[str], at: str
) -> None:
    bench.exercise("envelope/additional")
    if unexpected:
        bench.broken(
            "envelope/additional",
            f"{_are(unexpected)} not part of the envelope `{envelope.name}`",
            pointer=unexpected[0] if len(unexpected) == 1 else at,
            source=envelope.source,
            level="error" if envelope.additional == "forbid" else "warning",
        )


def _items(read: Extraction) -> tuple[Extraction | ArrayItem, ...]:
    """The errors a body tells: one, or as many as its list has items."""
    return (read, *read.more)


def _lists_codes(envelope: Envelope) -> bool:
    """Whether each item of a list has a code of its own."""
    return any(
        isinstance(each.node, Array) and "code" in slot_places(each.node)
        for each in walk(envelope.shape)
    )


def _judge_error(
    bench: FindingCollector,
    claim: Claim,
    best: EnvelopeMatch,
    slots: Mapping[str, object],
    where: Mapping[str, str],
    operation: Operation | None,
    *,
    spelled: bool,
) -> ErrorReading:
    code = (
        _code(bench, claim, best, slots, where, operation, spelled=spelled)
        if "code" in slots
        else None
    )
    told = ErrorReading(best.envelope, slots, where, code, operation)
    if code is not None:
        bench.code = code.name
    _types(bench, told)
    _status(bench, told)
    if code is not None and code.live:
        facts = facts_of(bench.exchange, operation, bench.status, slots.get("details"))
        _code_status(bench, claim, code, facts)
        _fixed(bench, told, code)
        _flag(bench, told, code, facts)
        _actions(bench, told, code)
        _details(bench, claim, told, code)
    return told


# the code


def _code(
    bench: FindingCollector,
    claim: Claim,
    best: EnvelopeMatch,
    slots: Mapping[str, object],
    where: Mapping[str, str],
    operation: Operation | None,
    *,
    spelled: bool,
) -> Code | None:
    """The declared code in the slot, after saying what is wrong with it; a reserved one too. ``spelled``: it stands inside a text."""
    contract, wire, pointer = bench.contract, slots["code"], where["code"]
    if best.protocol:
        _protocol_code(bench, claim, wire, pointer)
        return None
    kind = "string" if isinstance(wire, str) else "number"
    if not _is_scalar(wire) or (kind not in contract.kinds and not spelled):
        wanted = " or ".join(f"a {each}" for each in sorted(contract.kinds, reverse=True))
        bench.broken(
            "envelope/types",
            f"{place(pointer)}, the code, is {shown(wire)}; expected {wanted}",
            pointer=pointer,
        )
        return None
    own = (
        next((error for error in operation.errors.values() if same(error.wire, wire)), None)
        if operation
        else None
    )
    shared, owners = _declared_by(contract, wire)
    code = own or shared
    if claim.surface.foreign and not own and not _lists(operation, code):
        return None  # it only looks like one of ours
    closed = claim.surface.codes is not None
    if closed:
        bench.exercise("code/declared")
    bench.exercise("code/reserved")
    if code is None:
        if closed and not owners:
            made = contract.taxonomy.imported
            hint = (
                f"; a code of the form `{made.pattern}` is declared among the `errors` of its operation"
                if made is not None and made.has_form(wire)
                else ""
            )
            bench.broken(
                "code/declared",
                f"the code {shown(wire)} is not declared{hint}",
                pointer=pointer,
                source=claim.surface.source,
            )
        elif owners and _is_elsewhere(bench.exchange, operation, owners):
            names = _or(f"`{each.name}`" for each, _ in owners)
            one = f"the operation {names} alone" if len(owners) == 1 else f"the operations {names}"
            bench.broken(
                "code/operation", f"the code {shown(wire)} belongs to {one}", pointer=pointer
            )
        return None
    if not code.live:
        state = (
            "reserved: nothing produces it yet"
            if code.lifecycle == "reserved"
            else "removed and must not come back"
        )
        bench.code = code.name
        bench.broken(
            "code/reserved",
            f"the code {shown(wire)} is {state}",
            pointer=pointer,
            source=code.source,
        )
        return code
    if closed or operation is not None:
        bench.exercise("code/operation")
    for who, allowed in (
        (f"the surface `{claim.surface.name}`", claim.surface.codes),
        (
            f"the operation `{operation.name}`" if operation else "",
            operation.codes if operation else None,
        ),
    ):
        if allowed is not None and not own and code.name not in allowed:
            bench.code = code.name
            bench.broken(
                "code/operation",
                f"{who} does not answer with `{code.name}`; expected {_one_of(allowed)}",
                pointer=pointer,
                source=code.source,
            )
            break
    return code


def _protocol_code(bench: FindingCollector, claim: Claim, wire: object, pointer: str) -> None:
    """A number of the protocol that carries ours."""
    protocol = claim.surface.protocol
    assert protocol is not None  # or it would have no envelope
    bench.exercise("code/declared")
    if not _is_number(claim, wire):
        own = " or ".join(f"`{envelope.name}`" for envelope in claim.envelopes)
        bench.broken(
            "code/declared",
            f"{place(pointer)} is {shown(wire)}, no number of the protocol's errors; an error of ours has the envelope {own}",
            pointer=pointer,
            source=protocol.source,
        )


Owners = tuple[tuple[Operation, Matcher], ...]
"""The operations that have a code of their own."""


def _declared_by(contract: Contract, wire: object) -> tuple[Code | None, Owners]:
    """The shared code of a wire value, and the operations that have it as a code of their own."""
    if not _is_scalar(wire):
        return None, ()
    return contract.wires.get(wire), contract.owners.get(wire, ())


def _lists(operation: Operation | None, code: Code | None) -> bool:
    return operation is not None and code is not None and code.name in (operation.codes or ())


def _is_elsewhere(exchange: Exchange, operation: Operation | None, owners: Owners) -> bool:
    """Whether the exchange is known to be none of the owners': what was asked has a name, and owners are known by it."""
    if operation is not None:
        return True
    if exchange.transport == "http":
        named = exchange.route is not None or exchange.operation is not None
        return named and all(matcher.routes or matcher.methods for _, matcher in owners)
    named = bool(exchange.operation or exchange.request.target)
    return named and not any(matcher.routes or matcher.methods for _, matcher in owners)


def _code_status(bench: FindingCollector, claim: Claim, code: Code, facts: ConditionFacts) -> None:
    status = bench.status
    if status is None or bench.exchange.transport != "http":
        return
    bench.exercise("code/status")
    possible = possible_outcomes(code.http.rules, facts) if code.http.rules else ()
    by_name = bench.contract.codes_for(status)
    if status in possible or (not possible and (code.http.allows(status) or code.name in by_name)):
        return
    if possible:
        own = f"expected {_or(map(str, possible))}"
    elif code.http.statuses:
        own = f"expected {_or(map(str, code.http.statuses))}"
    elif claim.surface.default_status == status:
        return
    elif claim.surface.default_status is not None:
        own = f"expected {claim.surface.default_status}"
    else:
        own = f"it never travels over HTTP ({code.http.reason})"
    there = (
        f"; a {status} carries {_one_of(by_name)}"
        if by_name
        else f"; no code travels under {status}"
    )
    bench.broken(
        "code/status", f"`{code.name}` came with status {status}; {own}{there}", source=code.source
    )


# the slots


def _types(bench: FindingCollector, told: ErrorReading) -> None:
    schemas = bench.contract.slots[told.envelope.name]
    for slot, value in told.slots.items():
        schema = schemas.get(slot)
        if schema is None or (
            slot == "details" and told.code is not None and told.code.details_schema is not None
        ):
            continue
        declared = told.envelope.fields.get(slot)
        source = declared.source if declared else told.envelope.source
        if isinstance(value, str) and (schema.format or schema.pattern):
            bench.exercise("ids/format")
        at = told.where[slot]
        for each in _misfits(bench, schema, value):
            clause = "ids/format" if each.keyword in ("format", "pattern") else "envelope/types"
            bench.broken(
                clause,
                sentence(each, at),
                pointer=at + each.pointer,
                source=source,
                level=each.severity,
            )


def _status(bench: FindingCollector, told: ErrorReading) -> None:
    value = told.value("status")
    if isinstance(value, bool) or not isinstance(value, int | str) or bench.status is None:
        return
    bench.exercise("envelope/status")
    if str(value) != str(bench.status):
        bench.broken(
            "envelope/status",
            f"{place(told.where['status'])} says {shown(value)}; the status of the response is {bench.status}",
            pointer=told.where["status"],
            source=told.envelope.source,
        )


def _fixed(bench: FindingCollector, told: ErrorReading, code: Code) -> None:
    """The slots whose value the code decides: the layer that produced it, its domain, and its declared facts."""
    wanted: dict[str, tuple[str, ...]] = {
        slot: values for slot, values in code.facts.items() if values
    }
    if code.boundaries:
        wanted["boundary"] = code.boundaries
    if code.domain is not None:
        wanted["domain"] = (code.domain,)
    for slot, values in wanted.items():
        value = told.value(slot)
        if not isinstance(value, str):
            continue
        bench.exercise("boundary/allowed")
        if value not in values:
            pointer = told.where[slot]
            bench.broken(
                "boundary/allowed",
                f"{place(pointer)} is {shown(value)}; `{code.name}` goes with {_one_of(values)}",
                pointer=pointer,
                source=code.source,
            )


def _flag(bench: FindingCollector, told: ErrorReading, code: Code, facts: ConditionFacts) -> None:
    for value, pointer, source in _flags(bench, told):
        if not isinstance(value, bool):
            continue
        possible = code.retriable.decide(facts)
        if len(possible) != 1:
            continue
        bench.exercise("retriable/agrees")
        if value is not possible[0]:
            bench.broken(
                "retriable/agrees",
                f"{place(pointer)} is {shown(value)}; `{code.name}` is {'' if possible[0] else 'not '}retriable"
                f"{' here' if code.retriable.kind == 'conditional' else ''}, expected {shown(possible[0])}",
                pointer=pointer,
                source=source if source.statements else code.source,
            )


def _actions(bench: FindingCollector, told: ErrorReading, code: Code) -> None:
    """Whether an error suggests none but the actions of its code, and, where it says it may be sent again, one that does so."""
    suggested, again = told.value("actions"), bench.contract.taxonomy.sending_again
    if not isinstance(suggested, list):
        return
    if code.actions:
        bench.exercise("actions/agree")
        for index, each in enumerate(suggested):
            pointer = child(told.where["actions"], index)
            if each not in code.actions and not bench.found(("envelope/types",), pointer):
                bench.broken(
                    "actions/agree",
                    f"{place(pointer)} is {shown(each)}; `{code.name}` suggests {_one_of(code.actions)}",
                    pointer=pointer,
                    source=code.source,
                )
    flags = [place(pointer) for value, pointer, _ in _flags(bench, told) if value is True]
    if not again or not flags:
        return
    bench.exercise("actions/agree")
    if not any(each in again for each in suggested):
        bench.broken(
            "actions/agree",
            f"{flags[0]} is true, and none of the suggested actions sends again what failed; expected {_one_of(again)}",
            pointer=told.where["actions"],
            source=bench.contract.taxonomy.actions[again[0]].source,
        )


def _flags(bench: FindingCollector, told: ErrorReading) -> Iterator[tuple[object, str, Source]]:
    # A flag that stands inside a text has no schema of its own.
    if "retriable" in told.slots and "retriable" in bench.contract.slots[told.envelope.name]:
        declared = told.envelope.fields.get("retriable")
        yield told.slots["retriable"], told.where["retriable"], (declared or told.envelope).source
    details = told.value("details")
    if isinstance(details, dict):
        for key in bench.contract.taxonomy.detail_keys.values():
            if key.role == "retriable" and key.name in details:
                yield details[key.name], child(told.where["details"], key.name), key.source


# the details


def _details(bench: FindingCollector, claim: Claim, told: ErrorReading, code: Code) -> None:
    details, at = told.value("details"), _details_place(told)
    if at is None or (
        "details" in told.slots and not isinstance(details, dict) and code.details_schema is None
    ):
        return
    if code.details_schema is not None:
        if "details" in told.slots:
            _imported(bench, code.details_schema, details, at, code)
        return
    members = details if isinstance(details, dict) else {}
    _required(bench, claim, code, members, at)
    if isinstance(details, dict):
        _declared(bench, code, details, at)
        _registered(bench, told, code, details, at)
        _validators(bench, details, at)


def _details_place(told: ErrorReading) -> str | None:
    """Where the details of an error stand, or would: beside its code, in the same item of a list."""
    if "details" in told.where:
        return told.where["details"]
    places = slot_places(told.envelope.shape)
    if "details" not in places:
        return None
    wanted, code = places["details"][0].path.split("/"), told.where["code"].split("/")
    for each in places["code"]:
        drawn = each.path.split("/")
        if len(drawn) > len(code):
            continue
        above, found = code[: len(code) - len(drawn) + 1], code[len(code) - len(drawn) + 1 :]
        if all(a == b or b == "0" for a, b in zip(found, drawn[1:], strict=False)):
            shared = next(
                (n for n, (a, b) in enumerate(zip(drawn, wanted, strict=False)) if a != b),
                len(wanted),
            )
            return "/".join([*above, *found[: shared - 1], *wanted[shared:]])
    return None


def _required(
    bench: FindingCollector, claim: Claim, code: Code, details: Mapping[str, object], at: str
) -> None:
    demanded: dict[str, tuple[str, DetailMember | None]] = {}
    if any(member.presence in ("required", "expected") for member in code.details.values()):
        bench.exercise("details/required")
        demanded = {name: ("details/required", member) for name, member in code.details.items()}
    for name in claim.surface.requires_details:
        clause = "stream/offset" if claim.surface.transport == "stream" else "details/required"
        bench.exercise(clause)
        demanded[name] = (clause, None)
    for name, (clause, member) in demanded.items():
        if name in details:
            continue
        who = f"`{code.name}`" if member else f"an error on the surface `{claim.surface.name}`"
        presence = member.presence if member else "required"
        if presence in ("required", "expected"):
            source = (
                member.source
                if member and member.source.statements
                else claim.surface.source
                if not member
                else code.source
            )
            bench.broken(
                clause,
                f"{place(child(at, name))} is missing; {who} {'requires' if presence == 'required' else 'should have'} it",
                pointer=child(at, name),
                source=source,
                level="error" if presence == "required" else "warning",
            )


def _declared(bench: FindingCollector, code: Code, details: Mapping[str, object], at: str) -> None:
    for name, member in code.details.items():
        if name not in details:
            continue
        bench.exercise("details/schema")
        pointer = child(at, name)
        if member.presence == "forbidden":
            bench.broken(
                "details/schema",
                f"{place(pointer)} must not be there with `{code.name}`",
                pointer=pointer,
                source=member.source,
            )
            continue
        source = member.source if member.source.statements else _registered_source(bench, name)
        for each in _misfits(bench, member.schema, details[name]):
            bench.broken(
                "details/schema",
                sentence(each, pointer),
                pointer=pointer + each.pointer,
                source=source,
                level=each.severity,
            )


def _registered_source(bench: FindingCollector, name: str) -> Source:
    key = bench.contract.taxonomy.detail_keys.get(name)
    return key.source if key else Source()


def _registered(
    bench: FindingCollector, told: ErrorReading, code: Code, details: Mapping[str, object], at: str
) -> None:
    """Keys that the code doesn't list: a registered one has its registered type, another one is a surprise."""
    taxonomy = bench.contract.taxonomy
    declared = told.envelope.fields.get("details")
    strictness: Strictness = declared.additional if declared else "warn"
    if not taxonomy.detail_keys and not code.details:
        return
    if strictness != "allow":
        bench.exercise("details/registered")
    unknown = [
        name for name in details if name not in code.details and name not in taxonomy.detail_keys
    ]
    if unknown and strictness != "allow":
        places = [child(at, name) for name in unknown]
        bench.broken(
            "details/registered",
            f"{_are(places)} not registered; a key of the details is registered before it is used",
            pointer=places[0] if len(places) == 1 else at,
            source=declared.source if declared else told.envelope.source,
            level="error" if strictness == "forbid" else "warning",
        )
    for name, key in taxonomy.detail_keys.items():
        if name in details and name not in code.details:
            pointer = child(at, name)
            for each in _misfits(bench, key.schema, details[name]):
                bench.broken(
                    "details/registered",
                    f"{sentence(each, pointer)}, as everywhere else",
                    pointer=pointer + each.pointer,
                    source=key.source,
                    level="warning",
                )


def _quoted(tag: str) -> str:
    """A validator in quotes, which an entity tag brings with it (RFC 9110, 8.8.3)."""
    return tag if tag.endswith('"') and '"' in tag[:-1] else shown(tag)


def _validators(bench: FindingCollector, details: Mapping[str, object], at: str) -> None:
    for key in bench.contract.taxonomy.detail_keys.values():
        value = details.get(key.name)
        header = bench.exchange.received(key.equals_header) if key.equals_header else None
        wait = (key.equals_header or "").lower() == "retry-after"
        agrees = (
            None
            if header is None
            else _is_wait(value, header)
            if wait
            else _is_validator(value, header)
        )
        if agrees is None or header is None:
            continue
        bench.exercise("details/validator")
        pointer = child(at, key.name)
        if not agrees:
            message = f"{place(pointer)} is {shown(value)}; the header `{key.equals_header}` says {_quoted(header)}"
            bench.broken("details/validator", message, pointer=pointer, source=key.source)
        elif bench.status == 412 and isinstance(value, str) and _was_sent(bench, header):
            message = f"{place(pointer)} is {shown(value)}, the validator that was sent in If-Match and just refused"
            bench.broken("details/validator", message, pointer=pointer, source=key.source)


def _is_validator(value: object, header: str) -> bool | None:
    """Whether a detail is the validator of a header; None where it can be none."""
    return (
        header_syntax.etag_value(value) == header_syntax.etag_value(header)
        if isinstance(value, str)
        else None
    )


def _is_wait(value: object, header: str) -> bool | None:
    """Whether a detail is the seconds of a header, rounded up; None where one of the two is no number of them."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not re.fullmatch("[0-9]{1,9}", header)
    ):
        return None
    return isfinite(value) and int(header) == ceil(value)


def _was_sent(bench: FindingCollector, etag: str) -> bool:
    """Whether If-Match alone, which a 412 says matched nothing, names the very validator (RFC 9110 section 13.1.1)."""
    sent = bench.exchange.sent("if-match")
    if sent is None or bench.exchange.sent("if-none-match") is not None or etag.startswith("W/"):
        return False
    return etag in header_syntax.items(sent)


def _imported(
    bench: FindingCollector, schema: Schema, details: object, at: str, code: Code
) -> None:
    bench.exercise("details/schema")
    for each in islice(_misfits(bench, schema, details), _LISTED):
        bench.broken(
            "details/schema",
            sentence(each, at),
            pointer=at + each.pointer,
            source=code.source,
            # A schema that can't be applied is no fault of the service's.
            level="warning" if each.keyword == "unusable" else each.severity,
        )


def _misfits(bench: FindingCollector, schema: Schema, value: object) -> Iterator[ValueProblem]:
    # Identifiers alone are asserted: what other formats mean in a body JSON Schema leaves open.
    return check_value(schema, value, bench.contract.terms, ids.FORMATS)


# words


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _are(pointers: list[str]) -> str:
    named = [place(each) for each in pointers]
    if len(named) == 1:
        return f"{named[0]} is"
    if len(named) > _LISTED:
        return f"{', '.join(named[:_LISTED])} and {len(named) - _LISTED} others are"
    return f"{', '.join(named[:-1])} and {named[-1]} are"


def _or(words: Iterable[str]) -> str:
    named = list(dict.fromkeys(words))
    return f"{', '.join(named[:-1])} or {named[-1]}" if len(named) > 1 else named[0]


def _one_of(names: Collection[str]) -> str:
    if len(names) > 8:
        return f"one of its {len(names)} codes"  # a list that long helps nobody
    return _or(map("`{}`".format, names)) if names else "none"
