"""The code of an error: whether it is declared, belongs here, and came with its status."""

from collections.abc import Collection, Iterator
from datetime import date, timedelta

from faultspec.exchange.model import Exchange
from faultspec.judge.collector import FindingCollector, join_or, quote_pointer
from faultspec.judge.facts import why_undecided
from faultspec.judge.match_envelope import (
    AnswerContext,
    ErrorReading,
    Owners,
    context_codes,
    declarations,
    find_code,
    is_inside_text,
    is_protocol_number,
    shares_status,
    status_of,
)
from faultspec.language.conditions import ConditionFacts, unknown_facts
from faultspec.language.model import Code, Operation
from faultspec.language.values import are_equal, is_text_or_number, show
from faultspec.runtime import http_dates
from faultspec.runtime.places import SlotPlace
from faultspec.runtime.pointers import resolve

_OF_MESSAGES = frozenset({"event", "stream", "log"})
"""The transports whose messages tell of failed calls, and may have names of their own."""

_ENUMERATED = 8
"""Names that one message enumerates; a longer list helps nobody."""


def one_of(names: Collection[str]) -> str:
    """Names of codes or values as a message enumerates them."""
    if len(names) > _ENUMERATED:
        return f"one of its {len(names)} codes"
    return join_or(map("`{}`".format, names)) if names else "none"


def judge_code(findings: FindingCollector, error: ErrorReading) -> Code | None:
    """Judge the value of the code slot and return its declared code, which may be a reserved one.

    Sets ``findings.code`` where the code itself is at fault.
    """
    wire, operation = error.slots["code"], error.operation
    if error.protocol:
        _judge_protocol_number(findings, error)
        return None
    if not _has_type_of_codes(findings, error):
        if "shape" in findings.exchange.lacks and error.claim.surface.closes(wire):
            # A log without the body: its types are not judged, but no code has this value.
            findings.exercise("code/declared")
            _report_undeclared(findings, error)
        return None
    code = find_code(findings.contract, error.envelope, operation, wire)
    is_own = code is not None and operation is not None and operation.errors.get(code.name) is code
    if error.claim.surface.foreign and not is_own and not _lists(operation, code):
        return None  # it only looks like a code of this taxonomy
    if error.claim.surface.closes(wire):
        findings.exercise("code/declared")
    findings.exercise("code/reserved")
    if code is None:
        _report_undeclared(findings, error)
    elif not code.live:
        _report_reserved(findings, error, code)
    else:
        _judge_listed(findings, error, code, is_own=is_own)
        _judge_sunset(findings, error, code)
    return code


def judge_code_status(
    findings: FindingCollector, error: ErrorReading, code: Code, facts: ConditionFacts
) -> None:
    """Check that the code may travel under the HTTP status."""
    status = status_of(error, findings.status)
    if status is None or findings.exchange.transport != "http":
        return
    findings.exercise("code/status")
    possible = code.http.decide(facts)
    carried = findings.contract.codes_for(status)
    if error.operation is not None and code.name in error.operation.variants:
        # What the shared code may have, the operation's form of it may not.
        shared = findings.contract.taxonomy.codes[code.name]
        carried = tuple(
            each for each in carried if each != code.name or not shared.http.allows(status)
        )
    if status in possible and len(possible) > 1 and unknown_facts(code.http.rules, facts):
        findings.undecide("code/status", why_undecided(code.http.rules, facts))
    if status in possible or (not possible and (code.http.allows(status) or code.name in carried)):
        return
    default = error.claim.surface.default_status
    statuses = possible or code.http.statuses
    if (not statuses and default == status) or shares_status(error, status):
        return
    if statuses:
        expected = f"expected {join_or(map(str, statuses))}"
    elif default is not None:
        expected = f"expected {default}"
    else:
        expected = f"it never travels over HTTP ({code.http.reason})"
    others = f"a {status} carries {one_of(carried)}" if carried else f"no code has {status}"
    if error.operation is not None and code.name in error.operation.variants:
        others = f"`{error.operation.name}` has a form of its own of the code"
    findings.add(
        "code/status",
        f"`{code.name}` came with status {status}; {expected}; {others}",
        source=code.source,
    )


def judge_missing_code(findings: FindingCollector, error: ErrorReading) -> None:
    """Report a code that is in none of its places, or that the status leaves open or unknown."""
    deciding = error.envelope.deciding_place
    if deciding is None:
        findings.exercise("envelope/shape")
        expected = join_or(map(_describe_place, error.envelope.code_places))
        findings.add(
            "envelope/shape",
            f"the code is missing; expected it {expected}",
            pointer="",
            source=error.envelope.source,
            variant=findings.kind_of_body(),
        )
        return
    if deciding.kind == "status" and findings.status is None:
        findings.undecide("code/declared", "the error has no status of its own, which decides it")
        return
    context = AnswerContext(findings.status, operation=error.operation)
    found = context_codes(
        findings.contract, error.claim, error.envelope, place=deciding, context=context
    )
    what = f"the status {findings.status}" if deciding.kind == "status" else "the envelope"
    if found:
        names = join_or(f"`{code.name}`" for code in found)
        findings.undecide("code/declared", f"{what} stands for {names}")
    elif error.claim.surface.codes is not None:
        findings.exercise("code/declared")
        of = f" of `{error.operation.name}`" if error.operation is not None else ""
        findings.add(
            "code/declared",
            f"no code{of} is declared for {what}",
            pointer="",
            source=error.claim.surface.source,
        )


def _describe_place(place: SlotPlace) -> str:
    """The place of a slot, in words."""
    return f"in the header `{place.at}`" if place.kind == "header" else f"at `{place.at}`"


def judge_original_code(findings: FindingCollector, error: ErrorReading, body: object) -> None:
    """Check that the code of undeclared errors did not replace a code that may come here."""
    undeclared = findings.contract.taxonomy.undeclared
    if undeclared is None or undeclared.original_code is None or error.code is None:
        return
    if error.code.name != undeclared.becomes:
        return
    pointer = error.at + undeclared.original_code
    exists, original = resolve(body, pointer)
    if not exists:
        findings.undecide("code/original", "the answer has no original code")
        return
    findings.exercise("code/original")
    if not is_text_or_number(original) or original == "":
        message = f"is {show(original)}; expected the original code, a text or a number"
        findings.add_at("code/original", pointer, message, source=undeclared.source)
        return
    own = error.operation.errors.values() if error.operation else ()
    shared, _ = declarations(findings.contract.numbering, original)
    known = next((code for code in own if are_equal(code.wire, original)), shared)
    if known is None or not known.live or known is error.code:
        return
    lists = error.claim.surface.codes, error.operation.codes if error.operation else None
    is_own = known is not shared
    if is_own or all(listed is None or known.name in listed for listed in lists):
        message = f"is {show(original)}, which is declared; expected it as the code of the error"
        findings.add_at("code/original", pointer, message, source=undeclared.source)


def _judge_protocol_number(findings: FindingCollector, error: ErrorReading) -> None:
    """Check that the protocol defines the number in its envelope."""
    protocol = error.claim.surface.protocol
    assert protocol is not None  # its envelope was matched
    findings.exercise("code/declared")
    if not is_protocol_number(error.claim, error.slots["code"]):
        envelopes = " or ".join(f"`{envelope.name}`" for envelope in error.claim.envelopes)
        findings.add_at(
            "code/declared",
            error.where["code"],
            f"is {show(error.slots['code'])}; expected an error number of the protocol, or the "
            f"envelope {envelopes}",
            source=protocol.source,
        )


def _has_type_of_codes(findings: FindingCollector, error: ErrorReading) -> bool:
    """Whether the value has a type that codes have; inside a string every type is spelled out."""
    wire, pointer = error.slots["code"], error.where["code"]
    kinds = findings.contract.numbering_in(error.envelope).kinds
    kind = "string" if isinstance(wire, str) else "number"
    if is_text_or_number(wire) and (
        kind in kinds or is_inside_text(error.envelope, pointer[len(error.at) :])
    ):
        return True
    wanted = " or ".join(f"a {name}" for name in sorted(kinds, reverse=True))
    elsewhere = _elsewhere(findings, error)
    message = f"{quote_pointer(pointer)}, the code, is {show(wire)}; expected {wanted}{elsewhere}"
    findings.add("envelope/types", message, pointer=pointer)
    return False


def _elsewhere(findings: FindingCollector, error: ErrorReading) -> str:
    """The code whose value on another carrier this is, in words; empty if there is none."""
    contract, wire = findings.contract, error.slots["code"]
    if not contract.numberings or not is_text_or_number(wire):
        return ""
    numberings = (contract.numbering, *contract.numberings.values())
    codes = (numbering.wires.get(wire) for numbering in numberings)
    code = next((code for code in codes if code is not None), None)
    if code is None:
        return ""
    here = show(code.wire_in(error.envelope))
    return f"; `{code.name}` is {here} in the envelope `{error.envelope.name}`"


def _report_undeclared(findings: FindingCollector, error: ErrorReading) -> None:
    """Report a code that nothing declares, or that only other operations declare."""
    wire, surface = error.slots["code"], error.claim.surface
    _, owners = declarations(findings.contract.numbering_in(error.envelope), wire)
    if not owners:
        if not surface.closes(wire):
            return
        imported = findings.contract.taxonomy.imported
        hint = (
            f"; declare a code of the form `{imported.pattern}` under `errors` of its operation"
            if imported is not None and imported.has_form(wire)
            else _elsewhere(findings, error)
        )
        findings.add(
            "code/declared",
            f"the code {show(wire)} is not declared{hint}",
            pointer=error.where["code"],
            source=surface.source,
        )
    elif _is_elsewhere(findings.exchange, error.operation, owners):
        names = join_or(f"`{operation.name}`" for operation, _ in owners)
        whose = f"the operation {names} alone" if len(owners) == 1 else f"the operations {names}"
        findings.add(
            "code/operation",
            f"the code {show(wire)} belongs to {whose}",
            pointer=error.where["code"],
        )


def _report_reserved(findings: FindingCollector, error: ErrorReading, code: Code) -> None:
    state = (
        "reserved; no service may send it yet"
        if code.lifecycle == "reserved"
        else "removed and must not come back"
    )
    findings.code = code.name
    advice = f"; `{code.replaced_by}` replaces it" if code.replaced_by else ""
    findings.add(
        "code/reserved",
        f"the code {show(error.slots['code'])} is {state}{advice}",
        pointer=error.where["code"],
        source=code.source,
    )


def _judge_listed(
    findings: FindingCollector, error: ErrorReading, code: Code, *, is_own: bool
) -> None:
    """Check that the surface and the operation list the code, unless it is the operation's own."""
    surface, operation = error.claim.surface, error.operation
    if surface.codes is not None or operation is not None:
        findings.exercise("code/operation")
    if is_own:
        return
    lists = [(f"the surface `{surface.name}`", surface.codes)]
    if operation is not None:
        lists.append((f"the operation `{operation.name}`", operation.codes))
    for subject, allowed in lists:
        if allowed is not None and code.name not in allowed:
            findings.code = code.name
            findings.add(
                "code/operation",
                f"{subject} does not list the code `{code.name}`; expected {one_of(allowed)}",
                pointer=error.where["code"],
                source=code.source,
            )
            return


def _judge_sunset(findings: FindingCollector, error: ErrorReading, code: Code) -> None:
    """Check that the code is not produced after its sunset date, by the `Date` of the answer (RFC
    9110, section 6.6.1). The day after the date is still the date in some time zone.
    """
    if code.sunset is None or findings.exchange.transport != "http":
        return
    day = _day_of(findings.exchange)
    if day is None:
        findings.undecide("code/sunset", "the answer has no valid `Date`")
        return
    findings.exercise("code/sunset")
    if day <= date.fromisoformat(code.sunset) + timedelta(days=1):
        return
    advice = f"; its replacement is `{code.replaced_by}`" if code.replaced_by else ""
    findings.code = code.name
    findings.add(
        "code/sunset",
        f"the code {show(error.slots['code'])} came on {day}; no service may send it after its "
        f"sunset on {code.sunset}{advice}",
        pointer=error.where["code"],
        source=code.source,
    )


def _day_of(exchange: Exchange) -> date | None:
    sent = http_dates.parse(exchange.response_header("date") or "", now=0, lenient=True)
    if sent is None or sent.seconds is None:
        return None
    return date(1970, 1, 1) + timedelta(seconds=sent.seconds)


def _lists(operation: Operation | None, code: Code | None) -> bool:
    return operation is not None and code is not None and code.name in (operation.codes or ())


def possible_forms(findings: FindingCollector, code: Code) -> Iterator[Code]:
    """The forms of a shared code in an error whose operation is unknown: that of the code, then
    those of the operations that it may be of.
    """
    owners = tuple(
        (operation, matcher)
        for operation, matcher in findings.contract.operations
        if code.name in operation.variants
    )
    yield code
    is_message = findings.exchange.transport in _OF_MESSAGES
    if owners and (is_message or not _is_elsewhere(findings.exchange, None, owners)):
        yield from (operation.variants[code.name] for operation, _ in owners)


def _is_elsewhere(exchange: Exchange, operation: Operation | None, owners: Owners) -> bool:
    """Whether the exchange is known to belong to none of the owners.

    An exchange without a declared operation is only known if its request has a name by which the
    owners are recognized: a route over HTTP, the name of the call elsewhere.
    """
    if operation is not None:
        return True
    by_route = [bool(matcher.routes or matcher.methods) for _, matcher in owners]
    if exchange.transport == "http":
        named = exchange.route is not None or exchange.operation is not None
        return named and all(by_route)
    return bool(exchange.operation or exchange.request.target) and not any(by_route)
