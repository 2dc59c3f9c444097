"""The report as workflow commands, which GitHub Actions shows as annotations."""

from typing import Literal

from faultspec.diagnostics.formats.github import Annotation, workflow_command
from faultspec_conformance.reports.console import summary
from faultspec_conformance.results.model import Report, ReportedFinding, Standing

_LEVELS: dict[Standing, Literal["error", "warning", "notice"]] = {
    "error": "error",
    "warning": "warning",
    "flaky": "warning",
    "known": "notice",
}


def github(report: Report) -> str:
    """An annotation for each finding and each other failure, and one with the counts."""
    result, file = report.result, report.source
    annotations = [
        *(_annotation(finding, file) for finding in result.findings),
        *(Annotation("error", "failed", failure, file) for failure in result.failures),
        *(Annotation("error", "could not run", reason, file) for reason in result.not_run),
        Annotation("notice", "faultspec conform", summary(report).splitlines()[-1]),
    ]
    return "".join(map(workflow_command, annotations))


def _annotation(reported: ReportedFinding, file: str | None) -> Annotation:
    finding = reported.finding
    flaky = "flaky: " if reported.standing == "flaky" else ""
    place = " ".join(filter(None, (str(finding.status or ""), finding.code)))
    return Annotation(
        level=_LEVELS[reported.standing],
        title=flaky + " ".join(filter(None, (finding.clause, finding.operation))),
        message="\n".join(filter(None, (finding.message, place, reported.excuse))),
        file=file,
    )
