"""The report as Markdown: a job summary, or a comment on a pull request."""

from collections.abc import Iterable, Sequence

from faultspec.diagnostics.printers import markdown_text
from faultspec_conformance.reports.console import WORDS, beside
from faultspec_conformance.results.model import (
    VERDICTS,
    Report,
    ReportedFinding,
    Standing,
    exit_code,
)

#: Rows of one table. A job summary holds 1 MiB, and nobody reads a hundred.
_ROWS = 60

#: Characters of one cell.
_CELL = 600

_OVERALL = {0: "passed", 1: "failed", 2: "could not run"}

_TITLES: dict[Standing, str] = {
    "error": "Failures",
    "warning": "Warnings",
    "flaky": "Flaky",
    "known": "Known",
}


def markdown(report: Report) -> str:
    """What failed first; then what could not run, and what was seen of every code and clause, folded up."""
    result = report.result
    counts = ", ".join(f"{result.count(verdict)} {WORDS[verdict].lower()}" for verdict in VERDICTS)
    out = [
        f"## {_OVERALL[exit_code(result)]}: {_cell(result.target)} by {_cell(result.taxonomy)}",
        "",
        f"{counts}; {result.requests} requests in {result.seconds:.1f} s",
        "",
    ]
    out += _list(beside(result)[::-1])
    for standing, title in _TITLES.items():
        out += _findings(title, result.standing(standing), folded=standing == "known")
    missing = [
        (_cell(each.code), _cell(each.reason))
        for each in result.coverage.values()
        if not each.observed
    ]
    out += _folded(
        f"{len(result.coverage) - len(missing)} of {len(result.coverage)} codes observed",
        _table(("Not observed", "Why"), missing) if missing else ["All of them."],
    )
    verdicts = [
        (
            WORDS[clause.verdict].lower(),
            _cell(clause.address),
            str(clause.occasions),
            _cell(clause.reason),
        )
        for clause in result.clauses.values()
    ]
    out += _folded(
        f"{len(verdicts)} clauses",
        _table(("Verdict", "Clause", "Occasions", "Why"), verdicts, most=None),
    )
    return "\n".join(out).rstrip() + "\n"


def _where(reported: ReportedFinding) -> str:
    finding = reported.finding
    parts = (finding.operation, str(finding.status or ""), finding.code)
    return "\n".join(filter(None, (" ".join(filter(None, parts)), ", ".join(reported.places))))


def _findings(title: str, findings: Sequence[ReportedFinding], *, folded: bool) -> list[str]:
    if not findings:
        return []
    rows = [
        (
            _cell(finding.finding.clause),
            _cell(_where(finding)),
            _cell(finding.finding.message + (f"\n{finding.excuse}" if finding.excuse else "")),
            str(finding.count),
        )
        for finding in findings
    ]
    table = _table(("Clause", "Where", "What", "Times"), rows)
    return (
        _folded(f"{len(findings)} {title.lower()}", table)
        if folded
        else [f"### {title}", "", *table, ""]
    )


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, most: int | None = _ROWS
) -> list[str]:
    shown = rows if most is None else rows[:most]
    out = [_row(heads), "|" + "---|" * len(heads), *map(_row, shown)]
    if len(shown) < len(rows):
        out += ["", f"… and {len(rows) - len(shown)} more; the JSON report has them all"]
    return out


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _folded(summary: str, inner: Sequence[str]) -> list[str]:
    return ["<details>", f"<summary>{summary}</summary>", "", *inner, "", "</details>", ""]


def _list(lines: Sequence[str]) -> list[str]:
    return [*(f"- {_cell(line)}" for line in lines), ""] if lines else []


def _cell(text: str | None) -> str:
    shown = text or ""
    return markdown_text(shown if len(shown) <= _CELL else shown[: _CELL - 1] + "…")
