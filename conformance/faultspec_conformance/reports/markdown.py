"""The report as Markdown: a job summary, or a comment on a pull request."""

from collections.abc import Sequence

from faultspec.diagnostics.formats.markdown import markdown_details, markdown_table, markdown_text
from faultspec_conformance.reports.console import (
    WORDS,
    example_lines,
    extent_text,
    remarks,
)
from faultspec_conformance.results.enabling import next_steps
from faultspec_conformance.results.model import (
    VERDICTS,
    Report,
    ReportedFinding,
    Standing,
    exit_code,
)

#: Rows of a table. A job summary may have 1 MiB, and few people read a hundred rows.
_ROWS = 60

#: Further examples of one finding.
_EXAMPLES = 5

#: Characters of a cell: the message, and as many examples.
_CELL = 1_500

_OVERALL = {0: "passed", 1: "failed", 2: "could not run"}

_TITLES: dict[Standing, str] = {
    "error": "Failures",
    "warning": "Warnings",
    "flaky": "Flaky",
    "known": "Known",
}


def markdown(report: Report) -> str:
    """Failures first, then other findings; coverage and clauses are folded up."""
    result = report.result
    counts = ", ".join(f"{result.count(verdict)} {WORDS[verdict].lower()}" for verdict in VERDICTS)
    out = [
        f"## {_OVERALL[exit_code(result)]}: {_cell(result.target)} by {_cell(result.taxonomy)}",
        "",
        f"{counts}; {result.requests} requests in {result.seconds:.1f} s",
        "",
    ]
    if remark_lines := remarks(result):
        out += [*(f"- {_cell(line)}" for line in sorted(remark_lines, key=_urgency)), ""]
    for standing, title in _TITLES.items():
        out += _findings(title, result.findings_with(standing), folded=standing == "known")
    steps = () if report.interrupted or exit_code(result) else next_steps(result)
    if steps:
        out += ["### Next", ""]
        out += [f"- {_cell(step.purpose)}: {_cell(str(step.enabling))}" for step in steps]
        out.append("")
    missing = [
        (_cell(coverage.code), _cell(coverage.reason))
        for coverage in result.coverage.values()
        if not coverage.observed
    ]
    out += markdown_details(
        f"{len(result.coverage) - len(missing)} of {len(result.coverage)} codes observed",
        _table(("Not observed", "Why"), missing) if missing else ["All of them."],
    )
    clauses = [
        (
            WORDS[clause.verdict].lower(),
            _cell(clause.address),
            str(clause.occasions),
            _cell(clause.reason),
        )
        for clause in result.clauses.values()
    ]
    out += markdown_details(
        f"{len(clauses)} clauses",
        markdown_table(("Verdict", "Clause", "Occasions", "Why"), clauses),
    )
    return "\n".join(out).rstrip() + "\n"


def _urgency(remark: str) -> int:
    """Reasons to fail the run come first, notes last; the order of each kind stays."""
    word = remark.partition(":")[0]
    return {"FAILED": 0, "could not run": 1, "note": 3}.get(word, 2)


def _place(reported: ReportedFinding) -> str:
    finding = reported.finding
    parts = (finding.operation, str(finding.status or ""), finding.code)
    lines = (" ".join(filter(None, parts)), extent_text(reported), ", ".join(reported.places))
    return "\n".join(filter(None, lines))


def _findings(title: str, findings: Sequence[ReportedFinding], *, folded: bool) -> list[str]:
    if not findings:
        return []
    rows = [
        (
            _cell(reported.finding.clause),
            _cell(_place(reported)),
            _cell(_what(reported)),
            str(reported.count),
        )
        for reported in findings
    ]
    table = _table(("Clause", "Where", "What", "Times"), rows)
    if folded:
        return markdown_details(f"{len(findings)} {title.lower()}", table)
    return [f"### {title}", "", *table, ""]


def _what(reported: ReportedFinding) -> str:
    """The message, the reason of a known finding, and the other examples."""
    examples = () if reported.excuse else example_lines(reported, _EXAMPLES)
    return "\n".join(filter(None, (reported.finding.message, reported.excuse, *examples)))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of the first rows."""
    table = markdown_table(heads, rows[:_ROWS])
    if len(rows) > _ROWS:
        table += ["", f"… and {len(rows) - _ROWS} more; the JSON report has them all"]
    return table


def _cell(text: str | None) -> str:
    text = text or ""
    return markdown_text(text if len(text) <= _CELL else text[: _CELL - 1] + "…")
