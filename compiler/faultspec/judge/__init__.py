"""Judge one exchange by a contract: pure, without I/O, and total over all exchanges."""

from faultspec.contract.crashes import crash_level
from faultspec.contract.judgement_cache import cache_key
from faultspec.contract.model import Claim, Contract
from faultspec.exchange.body import DecodedBody
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange
from faultspec.judge.bare_status import judge_bare_status
from faultspec.judge.code import judge_original_code
from faultspec.judge.collector import FindingCollector
from faultspec.judge.content import judge_content
from faultspec.judge.crash import judge_crash
from faultspec.judge.decode import decode_answer
from faultspec.judge.envelope import judge_envelope
from faultspec.judge.head import judge_unread_error
from faultspec.judge.headers import judge_headers
from faultspec.judge.http_semantics import judge_profile, reads_headers
from faultspec.judge.leaks import is_harmless_answer, judge_leaks
from faultspec.judge.lines import error_lines, has_late_errors, judge_lines, marks_error
from faultspec.judge.match_envelope import ErrorReading, context_of, match_envelope
from faultspec.judge.media_type import judge_media_type, media_type_problem
from faultspec.judge.nesting import holds_quotes
from faultspec.judge.renderings import find_renderings, judge_renderings
from faultspec.judge.success import judge_success
from faultspec.judge.tool_result import judge_mark, judge_text, judge_words
from faultspec.language.model import Code, Envelope, Operation
from faultspec.language.values import shorten
from faultspec.runtime.nodes import Object
from faultspec.runtime.pointers import resolve, steps

_TARGET = 100
"""Characters of a target in a message."""


def judge(contract: Contract, exchange: Exchange) -> Judgement:
    """Everything that is wrong with one exchange, and the clauses it was checked against.

    Findings come in a total order; each mistake is reported once, at its cause. Never raises.
    """
    claim = contract.claim(exchange)
    operation = contract.operation(exchange)
    surface = claim.surface.name if claim else None
    bodiless = _is_bodiless(exchange)
    body = decode_answer(exchange, claim, bodiless=bodiless)
    is_error = _is_error(exchange, claim, body)
    cache, key = contract.cache, None
    rendered = tuple(find_renderings(contract, exchange))
    # The rules of a profile read headers, and renderings and nested errors texts, that are not
    # among the traits.
    is_plain = not rendered and not holds_quotes(exchange.response.body)
    is_plain = is_plain and body.codec.has_types and not body.has_lines
    cacheable = is_plain and not reads_headers(contract, exchange.response.status)
    if cacheable and is_error and surface is not None and not bodiless and body.problem is None:
        name = operation.name if operation else None
        key = cache_key(cache.traits, exchange, body.value, surface=surface, operation=name)
        known = cache.get(key)
        if known is not None and is_harmless_answer(contract, exchange, body):
            return known
    findings = FindingCollector(contract, exchange)
    if bodiless:
        _judge_bodiless(findings)
    if not is_error:
        judge_crash(findings, None, body)
        if not bodiless:
            judge_content(findings, body)
        judge_success(findings, claim, operation, body)
        judge_profile(findings)
        judge_renderings(findings, rendered, None)
        return findings.judgement(surface=surface, code=None, is_error=False)
    error = _judge_error(findings, claim, operation, body, bodiless=bodiless)
    judge_words(findings, body.value)
    code = error.code if error else None
    taxonomy, status = contract.taxonomy, exchange.response.status
    codes = [each.code for each in (error, *error.others)] if error else [None]
    crashed = (each for each in codes if crash_level(taxonomy, each, status) is not None)
    if code is None and "code" in exchange.lacks:
        judge_bare_status(findings, claim)
    else:
        judge_crash(findings, next(crashed, code), body)
    is_late = has_late_errors(exchange.response.status, body)
    judge_headers(findings, None if is_late else code, None if is_late else error)
    judge_profile(findings)
    judge_leaks(findings, body, error)
    judge_renderings(findings, rendered, error)
    judgement = findings.judgement(
        surface=surface,
        code=code.name if code else None,
        is_error=True,
        others=tuple(each.name for each in codes[1:] if each is not None),
    )
    cache.put(key, judgement)
    return judgement


def _is_bodiless(exchange: Exchange) -> bool:
    """Whether the answer cannot have content (RFC 9110 sections 6.4.1 and 9.3.2)."""
    status = exchange.response.status
    if exchange.transport != "http" or status is None:
        return False
    return 100 <= status < 200 or status in (204, 304) or exchange.request.method.upper() == "HEAD"


def _judge_bodiless(findings: FindingCollector) -> None:
    exchange = findings.exchange
    findings.exercise("http/head-body")
    if exchange.response.body:
        is_head = exchange.request.method.upper() == "HEAD"
        what = "HEAD" if is_head else f"status {findings.status}"
        findings.add(
            "http/head-body",
            f"the answer has a body of {len(exchange.response.body)} bytes; {what} allows none",
        )


def _is_error(exchange: Exchange, claim: Claim | None, body: DecodedBody) -> bool:
    """Whether the answer is an error by its surface; without one, by its transport."""
    status = exchange.response.status
    if claim is None:
        if status is not None:
            return status >= 400
        value = body.value
        return isinstance(value, dict) and ("error" in value or value.get("isError") is True)
    surface = claim.surface
    if surface.is_error_status(status):
        return True
    if body.problem is not None:
        return False
    if exchange.transport == "mcp" and resolve(body.value, "/isError")[1] is True:
        return True
    if body.has_lines:
        return bool(error_lines(surface, body))
    return marks_error(surface, body.value, has_types=body.codec.has_types)


def _judge_error(
    findings: FindingCollector,
    claim: Claim | None,
    operation: Operation | None,
    body: DecodedBody,
    *,
    bodiless: bool,
) -> ErrorReading | None:
    """Judge the surface and the body of an error; the error, if one was read."""
    exchange = findings.exchange
    findings.exercise("surface/known")
    if claim is None:
        status = exchange.response.status
        what = f"a {status}" if status is not None else "an error"
        target = shorten(exchange.request.target, _TARGET)
        message = f"{what} at `{target}` belongs to no declared surface"
        findings.add("surface/known", message, variant=findings.kind_of_body())
        return None
    if not claim.envelopes:
        return None
    if bodiless or not body.readable:
        return judge_unread_error(findings, claim, operation, body)
    if body.has_lines and body.problem is None:
        return judge_lines(findings, claim, operation, body)
    error = _judge_body(findings, claim, operation, body)
    judge_text(findings, claim, body.value)
    return error


def _judge_body(
    findings: FindingCollector, claim: Claim, operation: Operation | None, body: DecodedBody
) -> ErrorReading | None:
    envelope, at = claim.envelopes[0], claim.surface.at
    match = None
    if body.problem is None:
        context = context_of(findings.exchange, findings.status, operation, body)
        match = match_envelope(findings.contract, claim, resolve(body.value, at)[1], context)
    if match is None and claim.surface.reason is not None:
        return None  # a foreign body, which the surface allows
    if match is None:
        also = None if body.problem == "is empty" else media_type_problem(findings, claim)
        findings.add(
            "envelope/json",
            f"the body {findings.describe_unread(body)}{f', and {also}' if also else ''}; "
            f"expected the envelope `{envelope.name}`",
            pointer="",
            source=envelope.source,
            variant=findings.kind_of_body(),
        )
        return None
    judge_media_type(findings, claim)
    findings.exercise("envelope/json")
    reported = _judge_response(findings, match.envelope, at, body.value)
    error = judge_envelope(findings, claim, match, at=at, operation=operation, reported=reported)
    if error is not None and error.code is not None:
        judge_mark(findings, error.code, body.value)
        judge_original_code(findings, error, body.value)
    for each in (error, *error.others) if error is not None else ():
        if each.code is not None:
            _judge_deadline(findings, each, each.code)
    return error


def _judge_response(
    findings: FindingCollector, envelope: Envelope, at: str, response: object
) -> tuple[str, ...]:
    """Check that a response has a result or an error, not both (JSON-RPC 2.0 section 5).

    Returns the place of the superfluous member; None if no member is superfluous.
    """
    if findings.exchange.transport != "jsonrpc" or not isinstance(response, dict):
        return ()
    if not {"result", "error"} <= response.keys():
        return ()
    shape = envelope.shape
    members = [member.name for member in shape.members] if isinstance(shape, Object) else []
    drawn = steps(at)[:1] or members
    pointer = next((f"/{name}" for name in ("result", "error") if name not in drawn), "")
    findings.add(
        "envelope/shape",
        "the response has both `result` and `error`; JSON-RPC 2.0 section 5 allows one of them",
        pointer=pointer,
        source=envelope.source,
    )
    return (pointer,)


def _judge_deadline(findings: FindingCollector, error: ErrorReading, code: Code) -> None:
    """Check that an error about a time budget came when the budget ended."""
    details = error.value("details")
    if code.deadline is None or not isinstance(details, dict):
        return
    budget = details.get(code.deadline.detail)
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        return
    findings.exercise("deadline/kept")
    elapsed, late_by = findings.exchange.response.elapsed, code.deadline.late_by
    if not budget <= elapsed <= budget + late_by:
        when = "before" if elapsed < budget else f"more than {late_by:g} s after"
        findings.add(
            "deadline/kept",
            f"the answer came after {elapsed:.2f} s, {when} the end of the budget of {budget:g} s",
            pointer=f"{error.where.get('details', '')}/{code.deadline.detail}",
            source=code.deadline.source,
        )
