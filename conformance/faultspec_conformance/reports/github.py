"""The report as workflow commands, which GitHub Actions turns into annotations."""

from faultspec.diagnostics.printers import workflow_command
from faultspec_conformance.reports.console import summary
from faultspec_conformance.results.model import Report, ReportedFinding, Standing

_COMMANDS: dict[Standing, str] = {
    "error": "error",
    "warning": "warning",
    "flaky": "warning",
    "known": "notice",
}


def github(report: Report) -> str:
    """An annotation for each finding, for what else fails the run or could not run, and one with the counts."""
    result = report.result
    file = {} if report.source is None else {"file": report.source}
    out = [
        workflow_command(
            _COMMANDS[finding.standing], {**file, **_title(finding)}, _message(finding)
        )
        for finding in result.findings
    ]
    out += [
        workflow_command("error", {**file, "title": "failed"}, failure)
        for failure in result.failures
    ]
    out += [
        workflow_command("error", {**file, "title": "could not run"}, each)
        for each in result.not_run
    ]
    counts = summary(report).splitlines()[-1]
    return "".join([*out, workflow_command("notice", {"title": "faultspec conform"}, counts)])


def _title(reported: ReportedFinding) -> dict[str, str]:
    flaky = "flaky: " if reported.standing == "flaky" else ""
    return {
        "title": flaky
        + " ".join(filter(None, (reported.finding.clause, reported.finding.operation)))
    }


def _message(reported: ReportedFinding) -> str:
    finding = reported.finding
    place = " ".join(filter(None, (str(finding.status or ""), finding.code)))
    return "\n".join(filter(None, (finding.message, place, reported.excuse)))
