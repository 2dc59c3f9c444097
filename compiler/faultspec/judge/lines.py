"""The error rule of a surface on a body, and on each of its JSON lines."""

from faultspec.contract.model import Claim
from faultspec.exchange.body import DecodedBody
from faultspec.judge.code import judge_original_code
from faultspec.judge.collector import FindingCollector
from faultspec.judge.envelope import judge_envelope
from faultspec.judge.match_envelope import ErrorReading, context_of, match_envelope
from faultspec.judge.media_type import judge_media_type
from faultspec.language.model import Operation, Surface
from faultspec.language.values import stands_for
from faultspec.runtime.pointers import resolve


def marks_error(surface: Surface, value: object, *, has_types: bool = True) -> bool:
    """Whether a value has the members by which the surface marks an error."""
    if surface.error_pointer is not None and resolve(value, surface.error_pointer)[0]:
        return True
    members = (
        (resolve(value, pointer), wanted) for pointer, wanted in surface.error_equals.items()
    )
    return bool(surface.error_equals) and all(
        exists and stands_for(found, wanted, has_types=has_types)
        for (exists, found), wanted in members
    )


def error_lines(surface: Surface, body: DecodedBody) -> list[int]:
    """The indexes of the lines that the surface marks as errors."""
    lines = body.value if isinstance(body.value, list) else []
    return [index for index, line in enumerate(lines) if marks_error(surface, line)]


def judge_lines(
    findings: FindingCollector, claim: Claim, operation: Operation | None, body: DecodedBody
) -> ErrorReading | None:
    """Judge each line that is an error, and return the first error.

    Of an answer with an error status, that is every line unless the surface marks some. The status
    of a success was sent before the error, so it is not that of the error.
    """
    judge_media_type(findings, claim)
    findings.exercise("envelope/json")
    whole, at = findings.status, claim.surface.at
    lines = body.value if isinstance(body.value, list) else []
    if has_late_errors(whole, body):
        findings.status = None
    first = None
    context = context_of(findings.exchange, whole, operation, body)
    for index in error_lines(claim.surface, body) or range(len(lines)):
        match = match_envelope(findings.contract, claim, resolve(lines[index], at)[1], context)
        if match is None:
            continue  # a foreign line, which the surface allows
        findings.code = None
        error = judge_envelope(findings, claim, match, at=f"/{index}{at}", operation=operation)
        if error is not None:
            judge_original_code(findings, error, body.value)
        first = first or error
    findings.status = whole
    findings.code = first.code.name if first is not None and first.code is not None else None
    return first


def has_late_errors(status: int | None, body: DecodedBody) -> bool:
    """Whether the errors in a body came after the status of a success."""
    return body.has_lines and status is not None and status < 400
