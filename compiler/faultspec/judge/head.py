"""Errors whose body is not there or not read, by their status and headers."""

from faultspec.contract.model import Claim
from faultspec.exchange.body import DecodedBody
from faultspec.judge.code import judge_code, judge_code_status
from faultspec.judge.collector import FindingCollector
from faultspec.judge.facts import facts_of
from faultspec.judge.match_envelope import ErrorReading, context_of, match_headers
from faultspec.judge.media_type import judge_media_type
from faultspec.judge.slots import judge_fixed_slots, judge_types
from faultspec.language.model import Operation

_IN_BODY = ("envelope/json", "envelope/shape", "envelope/types", "code/declared")
"""The clauses that a body decides, whatever the taxonomy."""


def judge_unread_error(
    findings: FindingCollector, claim: Claim, operation: Operation | None, body: DecodedBody
) -> ErrorReading | None:
    """Judge the media type, and the code that a header or the status has; the error, if it is one.

    An answer to HEAD may leave out headers that only the content decides (RFC 9110 section 9.3.2).
    """
    if body.readable and findings.exchange.request.method.upper() != "HEAD":
        return None
    for clause in () if body.readable else _IN_BODY:
        findings.undecide(clause, f"the body {findings.describe_unread(body)}")
    if claim.surface.reason is None and (not body.readable or findings.lines("content-type")):
        judge_media_type(findings, claim)
    context = context_of(findings.exchange, findings.status, operation, body)
    match = match_headers(findings.contract, claim, context)
    if match is None:
        return None
    error = ErrorReading(
        claim=claim,
        envelope=match.envelope,
        at=claim.surface.at,
        slots=match.read.slots,
        where=match.read.where,
        operation=operation,
    )
    code = judge_code(findings, error)
    judge_types(findings, error)
    if code is None:
        return error
    findings.code = code.name
    if code.live:
        facts = facts_of(
            findings.exchange,
            operation,
            keys=findings.contract.key_rule(findings.exchange),
            status=findings.status,
            details=None,
        )
        judge_code_status(findings, error, code, facts)
        judge_fixed_slots(findings, error, code)
    return error._replace(code=code)
