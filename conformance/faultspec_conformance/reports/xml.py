"""The report as JUnit XML: a clause is a test case, its family the suite."""

from faultspec.diagnostics.formats.junit import TestCase, TestSuite, write_junit
from faultspec_conformance.reports import curl
from faultspec_conformance.reports.console import WORDS
from faultspec_conformance.results.model import ClauseResult, Report, ReportedFinding


def junit(report: Report) -> str:
    """The whole report; failures without a clause form the suite `run`."""
    result = report.result
    families: dict[str, list[TestCase]] = {}
    for clause in result.clauses.values():
        family = clause.address.partition("/")[0]
        families.setdefault(family, []).append(_test_case(report, clause))
    suites = [TestSuite(family, cases) for family, cases in families.items()]
    others = [
        *(TestCase("run", message[:80], "failure", message) for message in result.failures),
        *(TestCase("run", message[:80], "error", message) for message in result.not_run),
    ]
    if others:
        suites.append(TestSuite("run", others))
    return write_junit("faultspec conform", suites, seconds=result.seconds)


def _test_case(report: Report, clause: ClauseResult) -> TestCase:
    title = f": {clause.title}" if clause.title else ""
    case = TestCase(clause.address.replace("/", "."), clause.address + title)
    match clause.verdict:
        case "failed":
            failures = [
                reported
                for reported in report.result.findings
                if reported.finding.clause == clause.address and reported.standing == "error"
            ]
            message = failures[0].finding.message if failures else clause.title
            text = "\n\n".join(_failure_text(report.base, failure) for failure in failures)
            return case._replace(outcome="failure", message=message, text=text)
        case "could_not_run":
            return case._replace(outcome="error", message=clause.reason)
        case "not_exercised" | "not_checkable" as verdict:
            return case._replace(outcome="skipped", message=f"{WORDS[verdict]}: {clause.reason}")
        case "passed":
            return case


def _failure_text(base: str, failure: ReportedFinding) -> str:
    """A failure with its places and command lines."""
    finding = failure.finding
    return "\n".join(
        (
            f"{finding.operation or ''} {finding.status or ''}",
            finding.message,
            *failure.places,
            *curl.command_lines(base, finding.evidence),
        )
    )
