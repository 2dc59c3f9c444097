"""The report as a table for a terminal or a log."""

import re
from collections import Counter

from faultspec.diagnostics.printers import visible
from faultspec_conformance.reports import curl
from faultspec_conformance.results.model import (
    ClauseResult,
    Report,
    ReportedFinding,
    Result,
    Standing,
    Verdict,
)

#: How a verdict is written; three of the words are not one word in English.
WORDS: dict[Verdict, str] = {
    "passed": "passed",
    "failed": "FAILED",
    "not_exercised": "not exercised",
    "not_checkable": "not checkable",
    "could_not_run": "could not run",
}

#: The verdict whose colour a finding has.
STATES: dict[Standing, Verdict] = {
    "error": "failed",
    "warning": "not_exercised",
    "flaky": "could_not_run",
    "known": "not_checkable",
}

_COLOURS = {
    "passed": "32",
    "failed": "1;31",
    "not_exercised": "33",
    "not_checkable": "2",
    "could_not_run": "1;33",
}

#: Columns of reason that fit beside a clause on a wide terminal.
_WIDTH = 96

#: Findings of one clause that are shown in full; a header that is missing everywhere is one mistake.
_ALIKE = 3

#: Characters of one command line; a longer one is in the JSON report.
_COMMAND = 1_000


def text(report: Report, *, colour: bool = False) -> str:
    """Findings first, then what was seen of every code, then a verdict a clause."""
    result = report.result
    wide = max((len(address) for address in result.clauses), default=0)
    out = [
        findings(report, colour=colour) + f"{result.target} judged by {result.taxonomy}",
        "",
        *_coverage(report),
        "",
        *(_clause(clause, wide, colour) for clause in result.clauses.values()),
        "",
    ]
    return "\n".join(out) + "\n" + summary(report)


def findings(report: Report, *, colour: bool = False) -> str:
    """Each finding with a command line that reproduces it; of many alike, the first few."""
    out: list[str] = []
    shown: Counter[tuple[str, str]] = Counter()
    for finding in report.result.findings:
        kind = (finding.finding.clause, finding.standing)
        shown[kind] += 1
        if shown[kind] <= _ALIKE:
            out += [*_finding(report.base, finding, colour), ""]
    for (clause, _), times in shown.items():
        if times > _ALIKE:
            out += [
                f"… and {times - _ALIKE} more of {clause}; the JSON and HTML reports have them all",
                "",
            ]
    return "".join(f"{line}\n" for line in out)


def beside(result: Result) -> list[str]:
    """What the reader should know that is no verdict, a line each: notes first, what fails the run last."""
    out = [f"note: {note}" for note in result.notes]
    if result.fixed is not None:
        for each in result.fixed:
            out.append(f"fixed: {' '.join(filter(None, (each.clause, each.operation, each.code)))}")
        new = sum(finding.baseline == "new" for finding in result.findings)
        old = sum(finding.baseline == "known" for finding in result.findings)
        out.append(f"against the baseline: {new} new, {old} known, {len(result.fixed)} fixed")
    flaky = len(result.standing("flaky"))
    out += [f"flaky: {flaky} found once and not again; they fail nothing"] if flaky else []
    out += [
        f"shard {shard}: `faultspec report merge` makes one report of all"
        for shard in result.shards
    ]
    out += [f"could not run: {each}" for each in result.not_run]
    return out + [f"FAILED: {failure}" for failure in result.failures]


def summary(report: Report) -> str:
    """What is to be known beside the verdicts, and the last line: the counts."""
    result = report.result
    out = [visible(each) for each in beside(result)]
    swept = f" ({result.generated} of them generated)" if result.generated else ""
    counts = ", ".join(f"{result.count(verdict)} {WORDS[verdict].lower()}" for verdict in WORDS)
    out.append(f"{counts}; {result.requests} requests{swept} in {result.seconds:.1f} s")
    return "\n".join(out) + "\n"


def _painted(words: str, verdict: str, colour: bool) -> str:
    return f"\x1b[{_COLOURS[verdict]}m{words}\x1b[0m" if colour else words


def _clause(clause: ClauseResult, wide: int, colour: bool) -> str:
    verdict = clause.verdict
    words = _painted(f"{WORDS[verdict]:13}", verdict, colour)
    if verdict in ("passed", "failed"):
        said = (
            f"{clause.failures} of {clause.occasions}" if clause.failures else str(clause.occasions)
        )
        said += f", {clause.warnings} warnings" if clause.warnings else ""
        said += f", {clause.flaky} flaky" if clause.flaky else ""
        said += f", {clause.known} known" if clause.known else ""
    else:
        said = _shortened(visible(clause.reason), _WIDTH)
    return f"{words}  {clause.address:{wide}}  {said}".rstrip()


def _coverage(report: Report) -> list[str]:
    codes = report.result.coverage
    seen = sum(1 for each in codes.values() if each.observed)
    wide = max((len(code) for code in codes), default=0)
    out = [f"{seen} of {len(codes)} codes observed"]
    for code, each in codes.items():
        if each.observed:
            statuses = ", ".join(map(str, each.statuses))
            out.append(
                f"  {code:{wide}}  {statuses}  ({'once' if each.count == 1 else f'{each.count} times'})"
            )
        else:
            out.append(f"  {code:{wide}}  not observed: {visible(each.reason or '')}")
    return out


def _finding(base: str, reported: ReportedFinding, colour: bool) -> list[str]:
    finding = reported.finding
    kind = reported.standing
    verdict = STATES[kind]
    place = " ".join(
        part for part in (finding.operation, str(finding.status or ""), finding.code) if part
    )
    statements = f" [{', '.join(finding.statements)}]" if finding.statements else ""
    times = f" ({reported.count} times)" if reported.count > 1 else ""
    out = [f"{_painted(kind, verdict, colour)}: {finding.clause}{statements}{times}"]
    if place:
        out.append(f"  {visible(place)}")
    if reported.places:
        out.append(
            f"  at {visible(', '.join(reported.places))}{', …' if reported.count > len(reported.places) else ''}"
        )
    out.append(f"  {visible(finding.message)}")
    if reported.excuse is not None:
        return [*out, f"  known: {visible(reported.excuse)}"]
    if kind == "flaky":
        out.append("  flaky: it did not happen again when the same was asked again")
    if finding.evidence:
        answer = finding.evidence[-1].response
        body = answer.body[:_COMMAND].decode("utf-8", "replace")
        if body:
            shown = re.sub(r"\s+", " ", body)
            out.append(f"  > {_shortened(visible(shown), 2 * _WIDTH)}")
    for place_of, line in curl.numbered(base, finding.evidence):
        order = f"({place_of}) " if place_of else ""
        out.append(f"  {order}$ {_shortened(visible(line), _COMMAND)}")
    return out


def _shortened(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
