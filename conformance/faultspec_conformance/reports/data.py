"""The report as JSON: a contract of its own, with a JSON Schema that ships beside it (`report.schema.json`)."""

import base64
import json as _json
from collections.abc import Mapping
from importlib.resources import files

from faultspec.exchange.model import Exchange, Headers
from faultspec_conformance.reports import curl
from faultspec_conformance.results.model import VERDICTS, Coverage, Report, ReportedFinding, Result
from faultspec_conformance.results.waivers import Waiver

#: The version of the report's own format; it changes when a reader would have to.
VERSION = 1

#: Bytes of a body that are shown; errors are short, and a list of resources proves nothing more.
SHOWN = 16 * 1024

#: Characters of a header value that are shown; servers take 8 KiB for all of them together, as a rule.
LONGEST = 8 * 1024


def json(report: Report) -> str:
    """The whole report."""
    return _json.dumps(data(report), indent=2, ensure_ascii=False) + "\n"


def schema() -> Mapping[str, object]:
    """The JSON Schema that every report obeys."""
    text = (
        files("faultspec_conformance.reports")
        .joinpath("report.schema.json")
        .read_text(encoding="utf-8")
    )
    loaded: Mapping[str, object] = _json.loads(text)
    return loaded


def data(report: Report) -> dict[str, object]:
    """The report as JSON data."""
    result = report.result
    counts: dict[str, object] = {verdict: result.count(verdict) for verdict in VERDICTS}
    return {
        "faultspec_report": VERSION,
        "target": result.target,
        "taxonomy": result.taxonomy,
        "run": {
            "base": report.base,
            "source": report.source,
            "only": report.only,
            "interrupted": report.interrupted,
            "shards": [str(shard) for shard in result.shards],
            "complete": result.complete,
        },
        "summary": {
            **counts,
            "findings": len(result.standing("error")),
            "warnings": len(result.standing("warning")),
            "flaky": len(result.standing("flaky")),
            "known": len(result.standing("known")),
            "requests": result.requests,
            "generated": result.generated,
            "seconds": round(result.seconds, 3),
        },
        "clauses": [
            {
                "clause": clause.address,
                "title": clause.title,
                "statements": list(clause.statements),
                "verdict": clause.verdict,
                "occasions": clause.occasions,
                "failures": clause.failures,
                "warnings": clause.warnings,
                "flaky": clause.flaky,
                "known": clause.known,
                "reason": clause.reason or None,
                "reasons": {
                    "could_not_run": list(clause.not_run),
                    "not_exercised": list(clause.not_exercised),
                    "not_checkable": list(clause.not_checkable),
                },
                "idle": clause.idle,
            }
            for clause in result.clauses.values()
        ],
        "findings": [finding(report.base, each) for each in result.findings],
        "coverage": {code: coverage(each) for code, each in result.coverage.items()},
        "notes": list(result.notes),
        "failures": list(result.failures),
        "not_run": list(result.not_run),
        "baseline": _baseline(result),
        "waivers": [waiver(each, used) for each, used in result.waivers.items()],
        "forms": {"errors": result.ordinary, "broken": dict(result.forms)},
    }


def _baseline(result: Result) -> dict[str, object] | None:
    if result.fixed is None:
        return None
    return {
        "new": [each.finding.fingerprint for each in result.findings if each.baseline == "new"],
        "known": [each.finding.fingerprint for each in result.findings if each.baseline == "known"],
        "fixed": [
            {
                "fingerprint": each.fingerprint,
                "clause": each.clause,
                "operation": each.operation,
                "code": each.code,
            }
            for each in result.fixed
        ],
    }


def waiver(value: Waiver, used: int) -> dict[str, object]:
    """A waiver that is in force, and how many findings it covers."""
    return {
        "clause": value.clause,
        "operation": value.operation,
        "code": value.code,
        "status": value.status,
        "reason": value.reason,
        "owner": value.owner,
        "expires": value.expires.isoformat(),
        "used": used,
    }


def finding(base: str, reported: ReportedFinding) -> dict[str, object]:
    """One finding, with its last exchange and those that led to it."""
    each = reported.finding
    *before, last = each.evidence if each.evidence else (None,)
    return {
        "clause": each.clause,
        "statements": list(each.statements),
        "level": each.level,
        "operation": each.operation,
        "code": each.code,
        "status": each.status,
        "pointer": each.pointer,
        "message": each.message,
        "fingerprint": each.fingerprint,
        "count": reported.count,
        "standing": reported.standing,
        "waived": reported.waived,
        "flaky": reported.flaky,
        "baseline": reported.baseline,
        "form": reported.form,
        **({"places": list(reported.places)} if reported.places else {}),
        "exchange": exchange(last) if last is not None else None,
        "before": [exchange(one) for one in before if one is not None],
        "curl": list(curl.lines(base, each.evidence)),
    }


def exchange(value: Exchange) -> dict[str, object]:
    """An exchange; a body that is no text is given in base64."""
    request, response = value.request, value.response
    return {
        "transport": value.transport,
        "route": value.route,
        "operation": value.operation,
        "identity": value.identity,
        "request": {
            "method": request.method,
            "target": request.target,
            "headers": [list(each) for each in shown(request.headers)],
            **_body(request.body),
        },
        "response": {
            "status": response.status,
            "headers": [list(each) for each in shown(response.headers)],
            **_body(response.body),
            "elapsed": round(response.elapsed, 4),
        },
    }


def coverage(value: Coverage) -> dict[str, object]:
    """What was seen of one code."""
    return {
        "observed": value.observed,
        "count": value.count,
        "statuses": list(value.statuses),
        "operations": list(value.operations),
        "reason": value.reason,
        "explained": value.explained,
    }


def shown(headers: Headers) -> Headers:
    """Header fields as they are shown: of a value that is longer than any honest one, the beginning and its length."""
    return tuple(
        (name, value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({len(value)} characters)")
        for name, value in headers
    )


def _body(body: bytes) -> dict[str, object]:
    shown = body[:SHOWN]
    found: dict[str, object] = {"size": len(body)}
    try:
        found["body"] = shown.decode("utf-8", "strict" if len(shown) == len(body) else "ignore")
    except UnicodeDecodeError:
        found["body"] = base64.b64encode(shown).decode()
        found["encoding"] = "base64"
    return found
