"""Successes: required members, the outcomes of a batch, and errors that look like a success."""

from faultspec.contract.model import Claim
from faultspec.exchange.body import DecodedBody
from faultspec.exchange.finding import Level
from faultspec.judge.batch import items_of, judge_batch
from faultspec.judge.collector import FindingCollector, quote_pointer
from faultspec.judge.headers import judge_headers
from faultspec.judge.leaks import judge_leaks
from faultspec.judge.match_envelope import EnvelopeMatch, context_of, match_envelope
from faultspec.judge.slots import value_problems
from faultspec.judge.tool_result import judge_text
from faultspec.language.model import Envelope, Operation
from faultspec.language.values import show
from faultspec.runtime.nodes import Literal, Object, slot_places
from faultspec.runtime.pointers import resolve

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""Methods whose plain success may hide failed outcomes."""


def judge_success(
    findings: FindingCollector, claim: Claim | None, operation: Operation | None, body: DecodedBody
) -> None:
    """Judge an answer that is not an error."""
    judge_headers(findings, None, None)
    if claim is None or body.problem is not None:
        return
    judge_text(findings, claim, body.value)
    if not body.has_lines:
        _judge_required_members(findings, claim, body.value)
    if claim.surface.batch is not None:
        failed = judge_batch(findings, claim, body.value, operation)
        if failed:
            judge_leaks(findings, body, None, failed)
        return
    status = findings.status
    if status is None or not 200 <= status < 400 or not claim.envelopes:
        return
    findings.exercise("envelope/absent-on-success")
    context = context_of(findings.exchange, findings.status, operation, body)
    # A read may show the error of what it reads, such as that of a job.
    is_write = findings.exchange.request.method.upper() in WRITES
    values = body.value if body.has_lines and isinstance(body.value, list) else [body.value]
    for index, value in enumerate(values):
        match = match_envelope(findings.contract, claim, value, context)
        where = f" in line {index + 1}" if body.has_lines else ""
        wanted, is_unchanged = "expected an error status", True
        if match is not None and not match.read.fits and is_write:
            flag, changed = _flip_flags(match.envelope, value)
            match = match_envelope(findings.contract, claim, changed, context) if flag else None
            wanted, is_unchanged = f"{flag} says that it succeeded", False
        if match is None or not _is_certain(findings, match, by_flag=is_unchanged):
            continue
        findings.add(
            "envelope/absent-on-success",
            f"a {status} carries the error envelope `{match.envelope.name}`{where} with the code "
            f"{show(match.read.slots['code'])}; {wanted}",
            pointer=f"/{index}" if body.has_lines else "",
            source=claim.surface.source,
        )
        return
    if is_write:
        _judge_hidden_failures(findings, claim, body.value)


def _flip_flags(envelope: Envelope, body: object) -> tuple[str, object]:
    """The body with the flags at its top that every error of the envelope has, and how the first of
    them reads in the body; empty if the body has them all, or lacks one.
    """
    flags = _flags(envelope)
    if not isinstance(body, dict) or not all(isinstance(body.get(name), bool) for name in flags):
        return "", body
    wrong = [name for name, value in flags.items() if body[name] is not value]
    if not wrong:
        return "", body
    return f"`{wrong[0]}: {str(body[wrong[0]]).lower()}`", {**body, **flags}


def _flags(envelope: Envelope) -> dict[str, bool]:
    """The constants at the top of an envelope that are true or false."""
    return {
        member.name: member.node.value
        for member in (envelope.shape.members if isinstance(envelope.shape, Object) else ())
        if isinstance(member.node, Literal) and isinstance(member.node.value, bool)
    }


def _judge_required_members(findings: FindingCollector, claim: Claim, body: object) -> None:
    """Check the members that the surface declares under ``success``."""
    for pointer, member in claim.surface.success.items():
        findings.exercise("success/requires")
        required = member.presence == "required"
        level: Level = "error" if required else "warning"
        exists, value = resolve(body, pointer)
        if not exists:
            subject = f"a success on the surface `{claim.surface.name}`"
            findings.add_missing(
                "success/requires", pointer, subject, source=member.source, required=required
            )
            continue
        for problem in value_problems(findings, member.schema, value):
            findings.add_problem(
                "success/requires", problem, pointer, source=member.source, level=level
            )


def _judge_hidden_failures(findings: FindingCollector, claim: Claim, body: object) -> None:
    """Find failed outcomes in a write's plain success, if a surface for them is declared."""
    for other in findings.contract.claims:
        batch = other.surface.batch
        for item in (items_of(batch, body) if batch is not None else None) or ():
            if item.body is None or item.status is None or item.status < 400:
                continue
            match = match_envelope(findings.contract, other, resolve(item.value, item.body)[1])
            if match is None or not _is_certain(findings, match):
                continue
            pointer = item.at + item.body
            statuses = " or ".join(map(str, other.surface.match.statuses)) or "another status"
            findings.add(
                "envelope/absent-on-success",
                f"a {findings.status} carries the error envelope `{match.envelope.name}` at "
                f"{quote_pointer(pointer)}; expected {statuses} for outcomes that differ",
                pointer=pointer,
                source=claim.surface.source,
            )
            return


def _is_certain(findings: FindingCollector, match: EnvelopeMatch, *, by_flag: bool = False) -> bool:
    """Whether a body is an error beyond doubt.

    It has all of the shape, and a declared code, a required correlation id or, with ``by_flag``, a
    flag that only errors have.
    """
    envelope, read = match.envelope, match.read
    code = None if match.decided else read.slots.get("code")
    if not read.fits or isinstance(code, bool) or not isinstance(code, str | int):
        return False
    if by_flag and _flags(envelope):
        return True
    if code in findings.contract.numbering_in(envelope).wires:
        return True
    places = slot_places(envelope.shape)
    return any(
        field.echo is not None
        and isinstance(read.slots.get(slot), str)
        and any(place.required for place in places.get(slot, ()))
        for slot, field in envelope.fields.items()
    )
