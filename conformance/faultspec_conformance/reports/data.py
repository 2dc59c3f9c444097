"""The report as JSON: a contract of its own, with a JSON Schema that ships beside it (`report.schema.json`)."""

import base64
import json as _json
from collections.abc import Mapping
from importlib.resources import files

from faultspec.exchange import Exchange, Headers
from faultspec_conformance import curl
from faultspec_conformance.run import Report
from faultspec_conformance.verdict import VERDICTS, Coverage, Reported

#: The version of the report's own format; it changes when a reader would have to.
VERSION = 1

#: Bytes of a body that are shown; errors are short, and a list of resources proves nothing more.
SHOWN = 16 * 1024


def json(report: Report) -> str:
    """The whole report."""
    return _json.dumps(data(report), indent=2, ensure_ascii=False) + "\n"


def schema() -> Mapping[str, object]:
    """The JSON Schema that every report obeys."""
    text = files("faultspec_conformance.reports").joinpath("report.schema.json").read_text(encoding="utf-8")
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
        "summary": {
            **counts,
            "findings": sum(1 for each in result.findings if each.level == "error" and each.waived is None),
            "warnings": sum(1 for each in result.findings if each.level == "warning" and each.waived is None),
            "known": sum(1 for each in result.findings if each.waived is not None),
            "requests": result.requests,
            "generated": result.generated,
            "seconds": round(result.seconds, 3),
        },
        "clauses": [
            {
                "clause": each.address,
                "title": each.title,
                "statements": list(each.statements),
                "verdict": each.verdict,
                "occasions": each.occasions,
                "failures": each.failures,
                "reason": each.reason or None,
            }
            for each in result.clauses.values()
        ],
        "findings": [finding(report.base, each) for each in result.findings],
        "coverage": {code: coverage(each) for code, each in result.coverage.items()},
        "notes": list(result.notes),
        "failures": list(result.failures),
        "not_run": list(result.not_run),
    }


def finding(base: str, reported: Reported) -> dict[str, object]:
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
        "waived": reported.waived,
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
        "identity": value.identity,
        "request": {
            "method": request.method,
            "target": request.target,
            "headers": _headers(request.headers),
            **_body(request.body),
        },
        "response": {
            "status": response.status,
            "headers": _headers(response.headers),
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
    }


def _headers(headers: Headers) -> list[list[str]]:
    return [[name, value] for name, value in headers]


def _body(body: bytes) -> dict[str, object]:
    shown = body[:SHOWN]
    found: dict[str, object] = {"size": len(body)}
    try:
        found["body"] = shown.decode("utf-8", "strict" if len(shown) == len(body) else "ignore")
    except UnicodeDecodeError:
        found["body"] = base64.b64encode(shown).decode()
        found["encoding"] = "base64"
    return found
