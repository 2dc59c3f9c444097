"""The report as JUnit XML: a clause is a test case, its family the suite."""

import re
from xml.sax.saxutils import escape, quoteattr

from faultspec_conformance.reports import curl
from faultspec_conformance.reports.console import WORDS
from faultspec_conformance.results.model import ClauseResult, Report

#: Characters that XML 1.0 cannot hold, not even escaped.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> str:
    """The whole report. What fails beside the clauses (waivers, what could not run) is a suite of its own."""
    result = report.result
    families: dict[str, list[ClauseResult]] = {}
    for each in result.clauses.values():
        families.setdefault(each.address.partition("/")[0], []).append(each)
    failed, errors = result.count("failed") + len(result.failures), result.count("could_not_run")
    skipped = result.count("not_exercised") + result.count("not_checkable")
    extra = [*result.failures, *result.not_run]
    tests = len(result.clauses) + len(extra)
    out = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="faultspec conform" tests="{tests}" failures="{failed}" errors="{errors}"'
        f' skipped="{skipped}" time="{result.seconds:.3f}">',
    ]
    for family, members in families.items():
        out.append(_opening(family, members))
        for clause in members:
            out += _case(report, clause)
        out.append("  </testsuite>")
    if extra:
        out.append(
            f'  <testsuite name="run" tests="{len(extra)}" failures="{len(result.failures)}" errors="{len(result.not_run)}" skipped="0">'
        )
        for index, message in enumerate(extra):
            kind = "failure" if index < len(result.failures) else "error"
            out.append(f'    <testcase classname="run" name={_attribute(message[:80])}>')
            out.append(f"      <{kind} message={_attribute(message)}/>")
            out.append("    </testcase>")
        out.append("  </testsuite>")
    return "\n".join([*out, "</testsuites>"]) + "\n"


def _opening(family: str, members: list[ClauseResult]) -> str:
    verdicts = [member.verdict for member in members]
    skipped = verdicts.count("not_exercised") + verdicts.count("not_checkable")
    return (
        f'  <testsuite name={_attribute(family)} tests="{len(members)}" failures="{verdicts.count("failed")}"'
        f' errors="{verdicts.count("could_not_run")}" skipped="{skipped}">'
    )


def _case(report: Report, clause: ClauseResult) -> list[str]:
    name = f"{clause.address}: {clause.title}" if clause.title else clause.address
    opening = f"    <testcase classname={_attribute(clause.address.replace('/', '.'))} name={_attribute(name)}"
    inner: list[str] = []
    match clause.verdict:
        case "failed":
            findings = [
                finding
                for finding in report.result.findings
                if finding.finding.clause == clause.address and finding.standing == "error"
            ]
            message = findings[0].finding.message if findings else clause.title
            lines = "\n\n".join(
                "\n".join(
                    (
                        f"{finding.finding.operation or ''} {finding.finding.status or ''}",
                        finding.finding.message,
                        *finding.places,
                        *curl.lines(report.base, finding.finding.evidence),
                    )
                )
                for finding in findings
            )
            inner = [f"      <failure message={_attribute(message)}>{_text(lines)}</failure>"]
        case "could_not_run":
            inner = [f"      <error message={_attribute(clause.reason)}/>"]
        case "not_exercised" | "not_checkable" as verdict:
            inner = [f"      <skipped message={_attribute(f'{WORDS[verdict]}: {clause.reason}')}/>"]
        case _:
            pass
    return [f"{opening}>", *inner, "    </testcase>"] if inner else [f"{opening}/>"]


def _attribute(text: str) -> str:
    return quoteattr(_IMPOSSIBLE.sub("\ufffd", text), {"\n": "&#10;"})


def _text(text: str) -> str:
    return escape(_IMPOSSIBLE.sub("\ufffd", text))
