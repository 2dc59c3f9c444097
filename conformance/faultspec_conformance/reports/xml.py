"""The report as JUnit XML: a clause is a test case, and so is each further cause of its failure.
The family of clauses is the suite.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from faultspec.diagnostics.formats.junit import TestCase, TestSuite, write_junit
from faultspec_conformance.reports import curl
from faultspec_conformance.reports.console import WORDS, extent_text
from faultspec_conformance.results.model import ClauseResult, Report, ReportedFinding


def junit(report: Report) -> str:
    """The whole report; failures without a clause form the suite `run`."""
    result = report.result
    families: dict[str, list[TestCase]] = {}
    for clause in result.clauses.values():
        family = clause.address.partition("/")[0]
        families.setdefault(family, []).extend(_test_cases(report, clause))
    suites = [TestSuite(family, cases) for family, cases in families.items()]
    others = [
        *(TestCase("run", message[:80], "failure", message) for message in result.failures),
        *(TestCase("run", message[:80], "error", message) for message in result.not_run),
    ]
    if others:
        suites.append(TestSuite("run", others))
    return write_junit("faultspec conform", suites, seconds=result.seconds)


def _test_cases(report: Report, clause: ClauseResult) -> Iterator[TestCase]:
    title = f": {clause.title}" if clause.title else ""
    case = TestCase(clause.address.replace("/", "."), clause.address + title)
    match clause.verdict:
        case "failed":
            failures = [
                reported
                for reported in report.result.findings
                if reported.finding.clause == clause.address and reported.standing == "error"
            ]
            if not failures:  # a report may leave out findings beyond a limit
                yield case._replace(outcome="failure", message=clause.title)
            names = [case.name, *(f"{case.name} [{other}]" for other in _suffixes(failures[1:]))]
            for name, failure in zip(names, failures, strict=False):
                yield case._replace(
                    name=name,
                    outcome="failure",
                    message=failure.finding.message,
                    text=_failure_text(report.base, failure),
                )
        case "could_not_run":
            yield case._replace(outcome="error", message=clause.reason)
        case "not_exercised" | "not_checkable" as verdict:
            yield case._replace(outcome="skipped", message=f"{WORDS[verdict]}: {clause.reason}")
        case "passed":
            yield case


def _suffixes(failures: Iterable[ReportedFinding]) -> Iterator[str]:
    """The suffixes of the causes of one clause: fingerprints, numbered where they are equal."""
    seen: Counter[str] = Counter()
    for failure in failures:
        fingerprint = failure.finding.fingerprint
        seen[fingerprint] += 1
        times = seen[fingerprint]
        yield fingerprint if times == 1 else f"{fingerprint} {times}"


def _failure_text(base: str, failure: ReportedFinding) -> str:
    """A failure with its places and command lines."""
    finding = failure.finding
    return "\n".join(
        (
            f"{finding.operation or ''} {finding.status or ''}",
            finding.message,
            *filter(None, (extent_text(failure),)),
            *failure.places,
            *curl.command_lines(base, finding.evidence),
        )
    )
