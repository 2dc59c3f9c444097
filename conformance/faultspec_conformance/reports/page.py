"""The report as one HTML file that needs no network: verdicts, coverage, findings with their exchanges, and a filter.

The template ``page.html.jinja`` only loops over the rows prepared here; every text is escaped on its way in.
"""

import json as _json
from collections.abc import Mapping
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from faultspec.exchange.model import Exchange
from faultspec_conformance.reports import curl
from faultspec_conformance.reports.console import STATES, WORDS, beside
from faultspec_conformance.reports.data import SHOWN, shown
from faultspec_conformance.results.model import (
    VERDICTS,
    ClauseResult,
    Coverage,
    Report,
    ReportedFinding,
    Verdict,
    exit_code,
)

#: The one word over the whole run is what its exit code says.
_OVERALL: Mapping[int, Verdict] = {0: "passed", 1: "failed", 2: "could_not_run"}


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding as the page shows it; ``state`` is the verdict whose colour it has."""

    state: Verdict
    word: str
    clause: str
    place: str
    message: str
    count: int
    excuse: str | None
    statements: str
    exchanges: tuple[tuple[str, str], ...]
    again: tuple[tuple[str, str], ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """What was seen of one code."""

    state: Verdict
    word: str
    code: str
    statuses: str
    count: str
    why: str


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """The verdict on one clause."""

    state: Verdict
    address: str
    title: str
    statements: str
    seen: str
    why: str


def html(report: Report) -> str:
    """The whole page."""
    result = report.result
    swept = f" ({result.generated} of them generated)" if result.generated else ""
    environment = Environment(
        loader=PackageLoader("faultspec_conformance.reports", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.jinja").render(
        title=f"{result.target} by {result.taxonomy}",
        verdict=_OVERALL[exit_code(result)],
        words=WORDS,
        cost=f"{result.requests} requests{swept} in {result.seconds:.1f} s",
        counts=[(each, result.count(each)) for each in VERDICTS],
        notes=beside(result)[::-1],
        findings=[_finding(report.base, finding) for finding in result.findings],
        codes=[_code(each) for each in result.coverage.values()],
        clauses=[_clause(clause) for clause in result.clauses.values()],
    )


def _clause(clause: ClauseResult) -> ClauseRow:
    seen = (
        f"{clause.failures} of {clause.occasions}"
        if clause.failures
        else str(clause.occasions or "")
    )
    return ClauseRow(
        clause.verdict,
        clause.address,
        clause.title,
        ", ".join(clause.statements),
        seen,
        clause.reason,
    )


def _code(each: Coverage) -> CoverageRow:
    state: Verdict = (
        "passed" if each.observed else "not_checkable" if each.explained else "not_exercised"
    )
    return CoverageRow(
        state,
        "observed" if each.observed else "explained" if each.explained else "not observed",
        each.code,
        ", ".join(map(str, each.statuses)),
        str(each.count or ""),
        ", ".join(each.operations) or each.reason or "",
    )


def _finding(base: str, reported: ReportedFinding) -> FindingRow:
    finding = reported.finding
    return FindingRow(
        STATES[reported.standing],
        reported.standing,
        finding.clause,
        " ".join(
            part
            for part in (
                finding.operation,
                str(finding.status or ""),
                finding.code,
                *reported.places,
            )
            if part
        ),
        finding.message,
        reported.count,
        reported.excuse,
        ", ".join(finding.statements),
        tuple(_exchange(exchange_) for exchange_ in finding.evidence),
        curl.numbered(base, finding.evidence),
        finding.fingerprint,
    )


def _exchange(exchange: Exchange) -> tuple[str, str]:
    request, response = exchange.request, exchange.response
    asked = [
        f"{request.method} {request.target}",
        *(f"{n}: {v}" for n, v in shown(request.headers)),
        "",
        _body(request.body),
    ]
    told = [
        str(response.status or ""),
        *(f"{n}: {v}" for n, v in shown(response.headers)),
        "",
        _body(response.body),
    ]
    return "\n".join(asked).strip(), "\n".join(told).strip()


def _body(body: bytes) -> str:
    shown = body[:SHOWN].decode("utf-8", "replace")
    try:
        return _json.dumps(_json.loads(shown), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return shown if len(body) <= SHOWN else f"{shown}… ({len(body)} bytes)"
