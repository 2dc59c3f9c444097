"""The report as workflow commands, which GitHub Actions shows as annotations."""

from typing import Literal

from faultspec.diagnostics.formats.github import Annotation, workflow_command
from faultspec_conformance.reports.console import extent_text, summary
from faultspec_conformance.results.model import Report, ReportedFinding, Standing

_LEVELS: dict[Standing, Literal["error", "warning", "notice"]] = {
    "error": "error",
    "warning": "warning",
    "flaky": "warning",
    "known": "notice",
}


#: Annotations of one step that GitHub shows (its documented limit for errors and for warnings).
_SHOWN = 10


def github(report: Report) -> str:
    """An annotation for each failure and each cause, the worst first, as many as GitHub shows; then
    one with the counts.
    """
    result, file = report.result, report.source
    annotations = [
        *(Annotation("error", "failed", failure, file) for failure in result.failures),
        *(Annotation("error", "could not run", reason, file) for reason in result.not_run),
        *(_annotation(finding, file) for finding in result.findings),
    ]
    counts = summary(report).splitlines()[-1]
    if len(annotations) > _SHOWN:
        counts += f"; {len(annotations) - _SHOWN} more findings are in the report"
    last = Annotation("notice", "faultspec conform", counts)
    return "".join(map(workflow_command, [*annotations[:_SHOWN], last]))


def _annotation(reported: ReportedFinding, file: str | None) -> Annotation:
    finding = reported.finding
    flaky = "flaky: " if reported.standing == "flaky" else ""
    place = " ".join(filter(None, (str(finding.status or ""), finding.code)))
    texts = (finding.message, place, extent_text(reported), reported.excuse)
    return Annotation(
        level=_LEVELS[reported.standing],
        title=flaky + " ".join(filter(None, (finding.clause, finding.operation))),
        message="\n".join(filter(None, texts)),
        file=file,
    )
