"""The requirements of RFC 9110 on answers, for taxonomies with `profile: rfc9110`."""

from collections.abc import Iterable

from faultspec.contract.clauses import header_address
from faultspec.contract.model import Contract
from faultspec.judge.collector import FindingCollector
from faultspec.language.formats import FIELDS, FORMATS
from faultspec.runtime import retry_after

_CHALLENGES = {401: "WWW-Authenticate", 407: "Proxy-Authenticate"}

#: Statuses on which `Retry-After` has a meaning (RFC 9110, 10.2.3; RFC 6585, 4).
_WAITING = frozenset({413, 429, 503})


_JUDGED = frozenset({204, 205, 206, 405, 415, 426, *_CHALLENGES, *_WAITING, *range(300, 400)})


def reads_headers(contract: Contract, status: int | None) -> bool:
    """Whether the profile of a taxonomy has a rule for the headers of this status."""
    return contract.taxonomy.profile is not None and status in _JUDGED


def judge_profile(findings: FindingCollector) -> None:
    """Check the headers and content that a status requires. Needs the profile and HTTP."""
    if findings.contract.taxonomy.profile is None or findings.exchange.transport != "http":
        return
    _judge_fields(findings)
    status = findings.status
    if status is None or status not in _JUDGED:
        return
    if status in _CHALLENGES:
        _require(findings, "http/authenticate", _CHALLENGES[status], "11.6.1")
    elif status == 405:
        _judge_allow(findings)
    elif status == 415:
        _judge_accept(findings)
    elif status == 426:
        _require(findings, "http/upgrade", "Upgrade", "15.5.22")
    elif status == 206:
        _judge_range(findings)
    if status in (204, 205):
        _judge_no_content(findings, status)
    if status in _WAITING or 300 <= status < 400:
        _judge_retry_after(findings)


def _judge_fields(findings: FindingCollector) -> None:
    """Check the form of the fields that any answer may have, unless a rule reports them already."""
    for name, form in FIELDS.items():
        lines = findings.lines(name.lower())
        if not lines:
            continue
        findings.exercise("http/fields")
        problem = FORMATS[form].problem(lines[0].strip())
        if len(lines) > 1:
            problem = "it appears more than once"
        if problem is not None and not findings.has((header_address(name),), None):
            findings.add("http/fields", f"`{name}` is wrong: {problem}", pointer=name)


def _require(findings: FindingCollector, clause: str, name: str, section: str) -> bool:
    """Check that a header is present, unless a header rule reports it already."""
    findings.exercise(clause)
    if any(line.strip() for line in findings.lines(name.lower())):
        return True
    if not findings.has((header_address(name),), None):
        findings.add(
            clause,
            f"`{name}` is missing; RFC 9110, {section} requires it on {findings.status}",
            pointer=name,
        )
    return False


def _members(lines: Iterable[str]) -> set[str]:
    """The members of a list in a header, without parameters."""
    return {part.partition(";")[0].strip() for line in lines for part in line.split(",")} - {""}


def _judge_allow(findings: FindingCollector) -> None:
    clause, method = "http/allow", findings.exchange.request.method
    findings.exercise(clause)
    lines = findings.lines("allow")
    if not lines:  # an empty one allows no method
        _require(findings, clause, "Allow", "15.5.6")
    elif method in _members(lines):
        findings.add(
            clause, f"`Allow` lists {method}, which the service refused with 405", pointer="Allow"
        )


def _judge_accept(findings: FindingCollector) -> None:
    """A list of accepted media types must not have the refused one (RFC 9110, 15.5.16)."""
    request = findings.exchange.request
    sent = findings.exchange.request_header("Content-Type")
    if (
        sent is None
        or findings.exchange.request_header("Content-Encoding") is not None
        or ";" in sent
    ):
        return  # the coding or a parameter may be the reason
    for name in ("Accept", f"Accept-{request.method.capitalize()}"):
        lines = findings.lines(name.lower())
        if lines:
            findings.exercise("http/accept")
            if sent.strip().lower() in {one.lower() for one in _members(lines)}:
                message = f"`{name}` lists {sent}, which the service refused with 415"
                findings.add("http/accept", message, pointer=name)


def _judge_range(findings: FindingCollector) -> None:
    media_type = next(iter(findings.lines("content-type")), "").partition(";")[0].strip().lower()
    if media_type == "multipart/byteranges":
        findings.exercise("http/partial-content")
        return
    _require(findings, "http/partial-content", "Content-Range", "15.3.7.1")


def _judge_no_content(findings: FindingCollector, status: int) -> None:
    """A 204 has no Content-Length (RFC 9110, 8.6), a 205 no content (15.3.6)."""
    clause = "http/no-content"
    findings.exercise(clause)
    if status == 204 and findings.lines("content-length"):
        message = "`Content-Length` is present; RFC 9110, 8.6 forbids it on 204"
        findings.add(clause, message, pointer="Content-Length")
    if status == 205 and findings.exchange.response.body:
        findings.add(clause, "the answer has a body; RFC 9110, 15.3.6 forbids it on 205")


def _judge_retry_after(findings: FindingCollector) -> None:
    """`Retry-After` is a number of seconds or a date (RFC 9110, 10.2.3)."""
    lines, own = findings.lines("retry-after"), header_address("Retry-After")
    if not lines or own in findings.contract.clauses:
        return
    findings.exercise("http/retry-after")
    wait = retry_after.parse(lines[0].strip(), now=0, lenient=False)
    if len(lines) > 1 or not wait.ok:
        problem = "appears more than once" if len(lines) > 1 else f"is wrong: {wait.problem}"
        findings.add("http/retry-after", f"`Retry-After` {problem}", pointer="Retry-After")
