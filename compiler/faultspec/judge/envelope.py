"""The body of an error, judged as one envelope with one error or a list of them."""

from collections import Counter
from collections.abc import Collection, Sequence

from faultspec.contract.model import Claim
from faultspec.judge.code import (
    judge_code,
    judge_code_status,
    judge_missing_code,
    possible_forms,
)
from faultspec.judge.collector import LISTED, FindingCollector, quote_pointer
from faultspec.judge.details import judge_details
from faultspec.judge.facts import facts_of
from faultspec.judge.language import judge_language
from faultspec.judge.match_envelope import (
    EnvelopeMatch,
    ErrorReading,
    errors_in,
    find_code,
    status_of,
)
from faultspec.judge.nesting import judge_nesting
from faultspec.judge.slots import (
    judge_actions,
    judge_fixed_slots,
    judge_retry_flag,
    judge_status_slot,
    judge_types,
)
from faultspec.language.model import Code, Envelope, Operation
from faultspec.runtime.extraction import Extraction, Mismatch
from faultspec.runtime.nodes import Array, slot_places, walk

#: Members that any result of MCP may have besides those of its method (revision 2026-07-28,
#: "General fields"). The library of a server adds them.
_OF_RESULTS = ("/_meta", "/resultType")


def judge_envelope(
    findings: FindingCollector,
    claim: Claim,
    match: EnvelopeMatch,
    *,
    at: str = "",
    operation: Operation | None,
    extras: bool = True,
    reported: Collection[str] = (),
) -> ErrorReading | None:
    """Judge one envelope at the pointer ``at`` and return its first error.

    ``extras``: whether undeclared members count. They do not if a batch item is its own envelope.
    ``reported``: places of undeclared members that another finding names already.
    """
    envelope, read = match.envelope, match.read
    findings.exercise("envelope/shape", "envelope/types")
    if not read.fits:
        _report_shape(findings, envelope, read, at)
    elif envelope.additional != "allow" and extras:
        unexpected = [at + pointer for pointer in read.unexpected]
        of_result = _OF_RESULTS if claim.surface.transport == "mcp" else ()
        places = [
            pointer
            for pointer in unexpected
            if pointer not in reported and pointer not in of_result
        ]
        _judge_additional(findings, envelope, places, at)
    errors: list[ErrorReading] = []
    items = errors_in(read)
    codes = [
        find_code(findings.contract, envelope, operation, item.slots.get("code"))
        for item in (items if read.others else ())
    ]
    beside = _codes_beside(codes) if codes else [()] * len(items)
    for index, item in enumerate(items):
        if read.more and ("code" in item.slots or _lists_codes(envelope)):
            findings.code = None  # that of the item before does not hold for this one
        where = {slot: at + pointer for slot, pointer in item.where.items()}
        error = _judge_error(
            findings,
            ErrorReading(
                claim=claim,
                envelope=envelope,
                at=at,
                slots=item.slots,
                where=where,
                operation=operation,
                protocol=match.protocol,
                beside=beside[index],
            ),
        )
        if not errors and read.fits and "code" not in item.slots and not envelope.shows_code:
            judge_missing_code(findings, error)
        errors.append(error)
    first, *others = errors
    if others:
        findings.code = first.code.name if first.code is not None else None
        first = first._replace(others=tuple(others))
    return first


def _codes_beside(codes: Sequence[Code | None]) -> list[tuple[Code | None, ...]]:
    """For each code of a list the codes of the others, each once: a list may have 10,000 errors."""
    times = Counter(map(id, codes))
    distinct = {id(code): code for code in codes}
    every = tuple(distinct.values())
    rest = {
        key: every
        if times[key] > 1
        else tuple(code for other, code in distinct.items() if other != key)
        for key in distinct
    }
    return [rest[id(code)] for code in codes]


def _judge_error(findings: FindingCollector, error: ErrorReading) -> ErrorReading:
    """Judge one error and return it with its code."""
    code = judge_code(findings, error) if "code" in error.slots else None
    if code is not None:
        findings.code = code.name
        code = _form_met(findings, error, code)
        error = error._replace(code=code)
    judge_types(findings, error)
    judge_status_slot(findings, error)
    if code is not None and code.live:
        _judge_by_code(findings, error, code)
        judge_nesting(findings, error)
    return error


def _judge_by_code(findings: FindingCollector, error: ErrorReading, code: Code) -> None:
    """Check what the code of an error decides."""
    facts = facts_of(
        findings.exchange,
        error.operation,
        keys=findings.contract.key_rule(findings.exchange),
        status=status_of(error, findings.status),
        details=error.value("details"),
    )
    judge_code_status(findings, error, code, facts)
    judge_fixed_slots(findings, error, code)
    judge_retry_flag(findings, error, code, facts)
    judge_actions(findings, error, code)
    judge_language(findings, error, code)
    judge_details(findings, error, code)


def _form_met(findings: FindingCollector, error: ErrorReading, code: Code) -> Code:
    """The form of a code that an error of an unknown operation meets best, the shared one first."""
    forms = tuple(possible_forms(findings, code)) if error.operation is None else (code,)
    if len(forms) == 1:
        return code

    def count_findings(form: Code) -> int:
        tried = FindingCollector(findings.contract, findings.exchange)
        tried.status, tried.code = findings.status, form.name
        _judge_by_code(tried, error._replace(code=form), form)
        return tried.count

    return min(forms, key=count_findings)


def _report_shape(
    findings: FindingCollector, envelope: Envelope, read: Extraction, at: str
) -> None:
    parts = [_describe_mismatch(findings, at + each.path, each) for each in read.mismatched]
    if read.missing:
        parts.append(f"{findings.quote_places([at + pointer for pointer in read.missing])} missing")
    more = f", and {len(parts) - LISTED} more" if len(parts) > LISTED else ""
    places = [*(mismatch.path for mismatch in read.mismatched), *read.missing]
    findings.add(
        "envelope/shape",
        f"{'; '.join(parts[:LISTED])}{more}: the body does not have the shape of the envelope "
        f"`{envelope.name}`",
        pointer=at + places[0] if len(places) == 1 else at,
        source=envelope.source,
        variant=findings.kind_of_body(),
    )


def _describe_mismatch(findings: FindingCollector, pointer: str, mismatch: Mismatch) -> str:
    sensitive = findings.contract.sensitive
    quoted = quote_pointer(sensitive.mask_pointer(pointer))
    # A slot that is in several places is expected to have the value that it has elsewhere.
    expected = f", expected {mismatch.expected}" if not sensitive.covers(pointer) else ""
    return f"{quoted} is {findings.show(mismatch.got, pointer)}{expected}"


def _judge_additional(
    findings: FindingCollector, envelope: Envelope, places: list[str], at: str
) -> None:
    findings.exercise("envelope/additional")
    if places:
        findings.add(
            "envelope/additional",
            f"{findings.quote_places(places)} not part of the envelope `{envelope.name}`",
            pointer=places[0] if len(places) == 1 else at,
            source=envelope.source,
            level="error" if envelope.additional == "forbid" else "warning",
        )


def _lists_codes(envelope: Envelope) -> bool:
    """Whether each item of a list has a code of its own."""
    return any(
        isinstance(place.node, Array) and "code" in slot_places(place.node)
        for place in walk(envelope.shape)
    )
