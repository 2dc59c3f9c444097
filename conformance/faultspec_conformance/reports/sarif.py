"""The report as SARIF 2.1.0: a clause is a rule, a finding is a result with its exchange.

A service has no lines, so a finding is located at the file that configured the run, and at its
operation. A finding in a recording is located in the recording.
"""

import re
from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote

from faultspec.contract.clauses import CLAUSES
from faultspec.diagnostics.formats.sarif import Data, SarifResult, sarif_location, write_sarif
from faultspec.exchange.model import Exchange, Headers
from faultspec_conformance.reports import curl
from faultspec_conformance.reports.data import SHOWN, shortened_headers
from faultspec_conformance.results.model import (
    Report,
    ReportedFinding,
    ResolvedFinding,
    Standing,
    exit_code,
)
from faultspec_conformance.results.waivers import waiver_line

#: The location of findings if no file configured the run: the taxonomy, by its usual name.
_DEFAULT_FILE = "taxonomy.yaml"

#: Notifications of a run, and operations of a finding. Readers show fewer (GitHub 100 locations),
#: and each takes 1,500 bytes of memory.
_SHOWN = 1000

#: A place in a recording.
_RECORDED = re.compile(r"(.+):([1-9]\d*)", re.DOTALL)

#: The name of our fingerprint among those of other tools, with its version (section 3.27.17).
_FINGERPRINT = "faultspec/v2"

_LEVELS: dict[Standing, Literal["error", "warning", "note"]] = {
    "error": "error",
    "warning": "warning",
    "flaky": "note",
    "known": "note",
}


def sarif(report: Report) -> str:
    """The whole report; waivers are suppressions, and the baseline gives results their state."""
    result = report.result
    addresses = {reported.finding.clause for reported in result.findings} | {
        fixed.clause for fixed in result.fixed or ()
    }
    rules = [
        {
            "id": clause.address,
            "shortDescription": {"text": clause.title or clause.address},
            "help": {"text": _help(clause.address)},
            "helpUri": f"urn:faultspec:clause:{quote(clause.address)}",
            "properties": {"tags": list(clause.statements)},
        }
        for clause in result.clauses.values()
        if clause.address in addresses
    ]
    notifications = [
        *(("error", failure) for failure in (*result.failures, *result.not_run)),
        *(("note", note) for note in result.notes),
    ]
    more = len(notifications) - _SHOWN
    if more > 0:
        notifications = [*notifications[:_SHOWN], ("note", f"and {more} more")]
    invocation = {
        "executionSuccessful": not report.interrupted and exit_code(result) != 2,
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": text}} for level, text in notifications
        ],
    }
    return write_sarif(
        rules,
        [
            *(_result(report, reported) for reported in result.findings),
            *(_fixed_result(report, fixed) for fixed in result.fixed or ()),
        ],
        {
            "automationDetails": {"id": f"faultspec conform/{result.taxonomy}/"},
            "invocations": [invocation],
        },
        version=report.version,
    )


def _help(address: str) -> str:
    """Why the clause exists and when it is checked, as far as it is known without the taxonomy."""
    clause = CLAUSES.get(address)
    known = f"{clause.why} Checked: {clause.occasion} " if clause is not None else ""
    return f"{known}See `faultspec explain {address}`."


def _result(report: Report, reported: ReportedFinding) -> SarifResult:
    finding = reported.finding
    commands = curl.command_lines(report.base, finding.evidence)
    members: Data = {
        "partialFingerprints": {_FINGERPRINT: finding.fingerprint},
        "occurrenceCount": reported.count,
        "properties": {
            "standing": reported.standing,
            "code": finding.code,
            "status": finding.status,
            "pointer": finding.pointer,
            "source": {
                "statements": list(finding.statements),
                "sections": list(finding.sections),
                "rulings": list(finding.rulings),
            },
            "waiver": waiver_line(finding, reported.operations, report.day),
        },
    }
    if reported.waived is not None:
        members["suppressions"] = [{"kind": "external", "justification": reported.waived}]
    if reported.baseline is not None:
        members["baselineState"] = "new" if reported.baseline == "new" else "unchanged"
    if finding.evidence and finding.evidence[-1].transport == "http":
        last = finding.evidence[-1]
        members["webRequest"] = _request(last)
        if last.response.status is not None:
            members["webResponse"] = _response(last)
    return SarifResult(
        rule=finding.clause,
        level=_LEVELS[reported.standing],
        message="\n".join((finding.message, *commands)),
        locations=[
            _location(place, reported.operations) for place in reported.places or (report.source,)
        ],
        members=members,
    )


def _fixed_result(report: Report, fixed: ResolvedFinding) -> SarifResult:
    return SarifResult(
        rule=fixed.clause,
        level="none",
        message="fixed: the finding is in the baseline, and no longer in this run",
        locations=[_location(report.source, (fixed.operation,) if fixed.operation else ())],
        members={
            "partialFingerprints": {_FINGERPRINT: fixed.fingerprint},
            "baselineState": "absent",
        },
    )


def _location(place: str | None, operations: Sequence[str]) -> Data:
    """A place in a recording, as ``file:line``, or the file that configured the run."""
    recorded = _RECORDED.fullmatch(place or "")
    path, line = (recorded[1], int(recorded[2])) if recorded else (place or _DEFAULT_FILE, 1)
    location = sarif_location(path, {"startLine": line, "startColumn": 1})
    if operations:
        location["logicalLocations"] = [
            {"fullyQualifiedName": operation, "kind": "resource"}
            for operation in operations[:_SHOWN]
        ]
    return location


def _request(exchange: Exchange) -> Data:
    request = exchange.request
    return {
        "method": request.method,
        "target": request.target,
        "headers": _headers(request.headers),
        **_body(request.body),
    }


def _response(exchange: Exchange) -> Data:
    response = exchange.response
    return {
        "statusCode": response.status,
        "headers": _headers(response.headers),
        **_body(response.body),
    }


def _headers(headers: Headers) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in shortened_headers(headers):
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _body(body: bytes) -> Data:
    return {"body": {"text": body[:SHOWN].decode("utf-8", "replace")}} if body else {}
