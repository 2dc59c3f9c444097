"""The report as JSON, with its published JSON Schema (`report.schema.json`)."""

import base64
import json as _json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files

from faultspec.diagnostics.formats.escaping import escape_json, indented_json
from faultspec.exchange.model import Exchange, Headers
from faultspec.openapi.text import replace_surrogates
from faultspec_conformance.reports import curl
from faultspec_conformance.results.enabling import Enabling, enablings, next_steps
from faultspec_conformance.results.model import (
    VERDICTS,
    ClauseResult,
    Coverage,
    Report,
    ReportedFinding,
    Result,
)
from faultspec_conformance.results.part import Part
from faultspec_conformance.results.sampling import largest_share
from faultspec_conformance.results.waivers import Waiver, waiver_line

#: The version of the format; it changes with every incompatible change.
VERSION = 1

#: Bytes of a body in a report; errors are short, and the rest of a long list proves nothing more.
SHOWN = 16 * 1024

#: Characters of a header value in a report; most servers accept 8 KiB for all headers together.
LONGEST = 8 * 1024


def json(report: Report) -> str:
    """The whole report."""
    # A service or a log may show half a character, which no reader takes.
    return escape_json(replace_surrogates(indented_json(_report_data(report)))) + "\n"


def report_schema() -> Mapping[str, object]:
    """The JSON Schema of reports."""
    file = files("faultspec_conformance.reports") / "report.schema.json"
    loaded: Mapping[str, object] = _json.loads(file.read_text(encoding="utf-8"))
    return loaded


def _report_data(report: Report) -> dict[str, object]:
    result = report.result
    remedies = enablings(result)
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
            "date": report.day.isoformat(),
            "seed": report.seed,
            "version": report.version,
        },
        "summary": {
            **counts,
            "findings": len(result.findings_with("error")),
            "warnings": len(result.findings_with("warning")),
            "flaky": len(result.findings_with("flaky")),
            "known": len(result.findings_with("known")),
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
                "undecided": dict(clause.undecided),
                "idle": clause.idle,
                "enable": _enabling(remedies.get(clause.address)),
                **_largest_share(result, clause),
            }
            for clause in result.clauses.values()
        ],
        "findings": [_finding(report, reported) for reported in result.findings],
        "coverage": {code: _coverage(value) for code, value in result.coverage.items()},
        "map": [asdict(cell) for cell in result.map],
        "sent": [asdict(sent) for sent in result.sent],
        "next": [
            {"purpose": step.purpose, **step.enabling._asdict()} for step in next_steps(result)
        ],
        "notes": list(result.notes),
        "failures": list(result.failures),
        "not_run": list(result.not_run),
        "baseline": _baseline(result),
        "waivers": [_waiver(waiver, used) for waiver, used in result.waivers.items()],
        "judged": {"errors": result.errors, "held": result.held},
        "forms": {"errors": result.ordinary, "broken": dict(result.forms)},
        **({"part": _part(result.part)} if result.part is not None else {}),
    }


def _largest_share(result: Result, clause: ClauseResult) -> dict[str, float]:
    """The largest share of all occasions that a clause which a sample passed may be broken on."""
    part = result.part
    is_sample = part is not None and part.left_out > 0 and part.share is not None
    is_bound = is_sample and clause.verdict == "passed"
    return {"at_most": round(largest_share(clause.occasions), 6)} if is_bound else {}


def _part(part: Part) -> dict[str, object]:
    """The counts by which reports of observed traffic add up."""
    return {
        "subject": part.subject,
        "files": {name: asdict(count) for name, count in part.files.items()},
        "needs": {address: asdict(needs) for address, needs in part.needs.items()},
        "lacking": [
            {"facts": list(facts), "count": count} for facts, count in part.lacking.items()
        ],
        "unread": part.unread,
        "unlisted": dict(part.unlisted),
        "skipped": [asdict(skips) for skips in part.skipped],
        "hosts": None if part.hosts is None else dict(part.hosts),
        "forgot": part.forgot,
        "left_out": part.left_out,
        "share": part.share,
        "activity": None
        if part.activity is None
        else [
            {"service": service, "since": since, **asdict(counts)}
            for (service, since), counts in sorted(part.activity.items())
        ],
        "notes": list(part.notes),
        "not_run": list(part.not_run),
    }


def _enabling(found: Enabling | None) -> dict[str, str] | None:
    return None if found is None else found._asdict()


def _baseline(result: Result) -> dict[str, object] | None:
    if result.fixed is None:
        return None
    return {
        **{
            state: [
                reported.finding.fingerprint
                for reported in result.findings
                if reported.baseline == state
            ]
            for state in ("new", "known")
        },
        "fixed": [asdict(fixed) for fixed in result.fixed],
    }


def _waiver(value: Waiver, used: int) -> dict[str, object]:
    return {
        "clause": value.clause,
        "operation": value.operation,
        "code": value.code,
        "status": value.status,
        "cause": value.cause,
        "flaky": value.flaky,
        "reason": value.reason,
        "owner": value.owner,
        "expires": value.expires.isoformat(),
        "used": used,
    }


def _finding(report: Report, reported: ReportedFinding) -> dict[str, object]:
    finding, base = reported.finding, report.base
    *before, last = finding.evidence or (None,)
    return {
        "clause": finding.clause,
        "statements": list(finding.statements),
        "source": {
            "statements": list(finding.statements),
            "sections": list(finding.sections),
            "rulings": list(finding.rulings),
        },
        "level": finding.level,
        "operation": finding.operation,
        "operations": list(reported.operations),
        "code": finding.code,
        "status": finding.status,
        "pointer": finding.pointer,
        "message": finding.message,
        "fingerprint": finding.fingerprint,
        "count": reported.count,
        "standing": reported.standing,
        "waived": reported.waived,
        "flaky": reported.flaky,
        "baseline": reported.baseline,
        "form": reported.form,
        "waiver": waiver_line(finding, reported.operations, report.day),
        **({"variant": finding.variant} if finding.variant else {}),
        **({"places": list(reported.places)} if reported.places else {}),
        **({"last": reported.last} if reported.last is not None else {}),
        **({"cause": reported.cause} if reported.cause else {}),
        **({"first_seen": reported.first_seen} if reported.first_seen is not None else {}),
        **({"last_seen": reported.last_seen} if reported.last_seen is not None else {}),
        "exchange": _exchange(last) if last is not None else None,
        "before": [_exchange(exchange) for exchange in before if exchange is not None],
        "curl": list(curl.command_lines(base, finding.evidence)),
        "examples": [
            _example(report, reported, number) for number in range(1, len(reported.examples) + 1)
        ],
    }


def _example(report: Report, reported: ReportedFinding, number: int) -> dict[str, object]:
    """One occurrence of a cause. The exchanges of the first are those of the finding."""
    finding = reported.examples[number - 1]
    *before, last = finding.evidence or (None,)
    found: dict[str, object] = {
        "id": reported.example_id(number),
        "operation": finding.operation,
        "status": finding.status,
        "code": finding.code,
        "message": finding.message,
        "trigger": last.trigger if last is not None else "",
        "pointer": finding.pointer,
    }
    if number == 1:
        return found
    return {
        **found,
        "exchange": _exchange(last) if last is not None else None,
        "before": [_exchange(exchange) for exchange in before if exchange is not None],
        "curl": list(curl.command_lines(report.base, finding.evidence)),
    }


def _exchange(value: Exchange) -> dict[str, object]:
    request, response = value.request, value.response
    return {
        "transport": value.transport,
        "route": value.route,
        "operation": value.operation,
        "identity": value.identity,
        "trigger": value.trigger,
        "request": {
            "method": request.method,
            "target": request.target,
            "headers": [list(header) for header in shortened_headers(request.headers)],
            **_body(request.body),
        },
        "response": {
            "status": response.status,
            "headers": [list(header) for header in shortened_headers(response.headers)],
            **_body(response.body),
            "elapsed": round(response.elapsed, 4),
        },
    }


def _coverage(value: Coverage) -> dict[str, object]:
    return {
        "observed": value.observed,
        "count": value.count,
        "statuses": list(value.statuses),
        "operations": list(value.operations),
        "reason": value.reason,
        "explained": value.explained,
    }


def shortened_headers(headers: Headers) -> Headers:
    """Header fields; a very long value is replaced by its beginning and its length."""
    return tuple(
        (name, value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({len(value)} characters)")
        for name, value in headers
    )


def _body(body: bytes) -> dict[str, object]:
    """The beginning of a body; if it is not UTF-8, in base64."""
    shown = body[:SHOWN]
    found: dict[str, object] = {"size": len(body)}
    try:
        found["body"] = shown.decode("utf-8", "strict" if len(shown) == len(body) else "ignore")
    except UnicodeDecodeError:
        found["body"] = base64.b64encode(shown).decode()
        found["encoding"] = "base64"
    return found
