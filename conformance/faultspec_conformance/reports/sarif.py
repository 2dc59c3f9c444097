"""The report as SARIF 2.1.0, for code scanning: a clause is a rule, a finding a result with its request and answer.

A service has no lines, so a finding stands at the file that the run was configured by, and at its operation; what was recorded
stands where it is recorded.
"""

import re
from urllib.parse import quote

from faultspec.diagnostics.printers import SARIF_SCHEMA, as_json
from faultspec.exchange.model import Exchange, Headers
from faultspec_conformance.reports import curl
from faultspec_conformance.reports.data import SHOWN, shown
from faultspec_conformance.results.model import Report, ReportedFinding, ResolvedFinding, exit_code

#: Where a finding stands when no file configured the run: the file by which every service may be judged.
_NOWHERE = "taxonomy.yaml"

#: A place of a recording.
_RECORDED = re.compile(r"(.+):([1-9]\d*)", re.DOTALL)

#: The name of our fingerprint among those of other tools, with its version (SARIF 2.1.0, 3.27.17).
_FINGERPRINT = "faultspec/v1"

_LEVELS = {"error": "error", "warning": "warning", "flaky": "note", "known": "note"}


def sarif(report: Report) -> str:
    """The whole report; what a waiver covers is suppressed with its reason, what a baseline has is unchanged."""
    result = report.result
    wanted = {finding.finding.clause for finding in result.findings} | {
        each.clause for each in result.fixed or ()
    }
    rules = [clause for clause in result.clauses.values() if clause.address in wanted]
    indexes = {each.address: index for index, each in enumerate(rules)}
    told = [
        *(("error", each) for each in (*result.failures, *result.not_run)),
        *(("note", note) for note in result.notes),
    ]
    results = [_result(report, finding, indexes) for finding in result.findings]
    results += [_absent(report, each, indexes) for each in result.fixed or ()]
    return as_json(
        {
            "$schema": SARIF_SCHEMA,
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {
                        "driver": {
                            "name": "faultspec",
                            "rules": [
                                {
                                    "id": rule.address,
                                    "shortDescription": {"text": rule.title or rule.address},
                                    "properties": {"tags": list(rule.statements)},
                                }
                                for rule in rules
                            ],
                        }
                    },
                    "automationDetails": {"id": f"faultspec conform/{result.taxonomy}/"},
                    "invocations": [
                        {
                            "executionSuccessful": not report.interrupted
                            and exit_code(result) != 2,
                            "toolExecutionNotifications": [
                                {"level": level, "message": {"text": text}} for level, text in told
                            ],
                        }
                    ],
                    "columnKind": "unicodeCodePoints",
                    "results": results,
                }
            ],
        }
    )


def _result(
    report: Report, reported: ReportedFinding, indexes: dict[str, int]
) -> dict[str, object]:
    finding = reported.finding
    again = curl.lines(report.base, finding.evidence)
    said = finding.message + "".join(f"\n{line}" for line in again)
    found: dict[str, object] = {
        "ruleId": finding.clause,
        "ruleIndex": indexes[finding.clause],
        "level": _LEVELS[reported.standing],
        "message": {"text": said},
        "locations": [
            _location(place, finding.operation) for place in reported.places or (report.source,)
        ],
        "partialFingerprints": {_FINGERPRINT: finding.fingerprint},
        "occurrenceCount": reported.count,
        "properties": {
            "standing": reported.standing,
            "code": finding.code,
            "status": finding.status,
            "pointer": finding.pointer,
        },
    }
    if reported.waived is not None:
        found["suppressions"] = [{"kind": "external", "justification": reported.waived}]
    if reported.baseline is not None:
        found["baselineState"] = "new" if reported.baseline == "new" else "unchanged"
    if finding.evidence and finding.evidence[-1].transport == "http":
        last = finding.evidence[-1]
        found["webRequest"] = _request(last)
        if last.response.status is not None:
            found["webResponse"] = _response(last)
    return found


def _absent(report: Report, fixed: ResolvedFinding, indexes: dict[str, int]) -> dict[str, object]:
    rule: dict[str, object] = (
        {"ruleIndex": indexes[fixed.clause]} if fixed.clause in indexes else {}
    )
    return {
        "ruleId": fixed.clause,
        **rule,
        "level": "none",
        "message": {"text": "fixed: the baseline has it, and nothing shows it any more"},
        "locations": [_location(report.source, fixed.operation)],
        "partialFingerprints": {_FINGERPRINT: fixed.fingerprint},
        "baselineState": "absent",
    }


def _location(place: str | None, operation: str | None) -> dict[str, object]:
    """Where it is recorded, as ``file:line``; of what a run has sent itself, the file that it was configured by."""
    recorded = _RECORDED.fullmatch(place or "")
    path, line = (recorded[1], int(recorded[2])) if recorded else (place or _NOWHERE, 1)
    uri = quote(path.encode("utf-8", "surrogatepass"), safe="/")
    found: dict[str, object] = {
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": line, "startColumn": 1},
        }
    }
    if operation is not None:
        found["logicalLocations"] = [{"fullyQualifiedName": operation, "kind": "resource"}]
    return found


def _request(exchange: Exchange) -> dict[str, object]:
    request = exchange.request
    return {
        "method": request.method,
        "target": request.target,
        "headers": _headers(request.headers),
        **_body(request.body),
    }


def _response(exchange: Exchange) -> dict[str, object]:
    response = exchange.response
    return {
        "statusCode": response.status,
        "headers": _headers(response.headers),
        **_body(response.body),
    }


def _headers(headers: Headers) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in shown(headers):
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _body(body: bytes) -> dict[str, object]:
    return {"body": {"text": body[:SHOWN].decode("utf-8", "replace")}} if body else {}
