"""The report as a table for a terminal or a log."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from faultspec.diagnostics.formats.escaping import escape_line, visible_lines
from faultspec.exchange.finding import Finding
from faultspec_conformance.reports import curl
from faultspec_conformance.reports.chart import activity_lines
from faultspec_conformance.results.enabling import (
    Enabling,
    enablings,
    next_steps,
    other_transport,
    transport_lines,
)
from faultspec_conformance.results.model import (
    ClauseResult,
    Report,
    ReportedFinding,
    Result,
    Standing,
    Verdict,
    exit_code,
)
from faultspec_conformance.results.waivers import waiver_line

#: How a verdict is written; three of them are several words in English.
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

#: Columns of a reason next to a clause on a wide terminal.
_REASON_WIDTH = 96

#: Characters of a reason; the JSON report has longer ones.
_LONGEST_REASON = 1_000

#: Findings of one clause shown in full; a header that is missing everywhere is one mistake.
_FULL_FINDINGS = 3

#: Operations of one cause that are listed; the JSON report has them all.
_OPERATIONS = 5

#: Further examples of one cause that are listed, and characters of the request of one.
_EXAMPLES, _REQUEST = 10, 100

#: Characters of one command line; the JSON report has longer ones.
_COMMAND = 1_000


def text(report: Report, *, colour: bool = False) -> str:
    """Findings, then the coverage of codes, then a verdict for each clause."""
    result = report.result
    wide = max((len(address) for address in result.clauses), default=0)
    coverage = _coverage(report)
    out = [
        findings_text(report, colour=colour)
        + escape_line(f"{result.target} judged by {result.taxonomy}"),
        "",
        *coverage,
        *([""] if coverage else []),
        *_clauses(result, wide, colour),
        "",
        *steps_text(report),
    ]
    return "\n".join(out) + "\n" + summary(report)


def findings_text(report: Report, *, colour: bool = False) -> str:
    """The first findings of each clause and standing, with the command lines to repeat them."""
    out: list[str] = []
    counts: Counter[tuple[str, str]] = Counter()
    for reported in report.result.findings:
        group = (reported.finding.clause, reported.standing)
        counts[group] += 1
        if counts[group] <= _FULL_FINDINGS:
            out += [*_finding(report, reported, colour), ""]
    for (clause, _), count in counts.items():
        if count > _FULL_FINDINGS:
            more = count - _FULL_FINDINGS
            line = f"… and {more} more of {clause}; the JSON and HTML reports have them all"
            out += [escape_line(line), ""]
    return "".join(f"{line}\n" for line in out)


def remarks(result: Result) -> list[str]:
    """The lines after the verdicts: notes first, reasons to fail the run last."""
    out = [f"over time: {line}" for line in activity_lines(result.part)]
    out += [f"note: {note}" for note in result.notes]
    if result.fixed is not None:
        for fixed in result.fixed:
            parts = filter(None, (fixed.clause, fixed.operation, fixed.code))
            out.append(f"fixed: {' '.join(parts)}")
        new = sum(finding.baseline == "new" for finding in result.findings)
        known = sum(finding.baseline == "known" for finding in result.findings)
        out.append(f"against the baseline: {new} new, {known} known, {len(result.fixed)} fixed")
    if flaky := len(result.findings_with("flaky")):
        out.append(f"flaky: {flaky} found once and not again; they do not fail the run")
    out += [
        f"shard {shard}: `faultspec report merge` makes one report of all"
        for shard in result.shards
    ]
    out += [f"could not run: {reason}" for reason in result.not_run]
    decided: tuple[Verdict, ...] = ("passed", "failed", "could_not_run")
    if not (result.not_run or any(map(result.count, decided))):
        out.append("nothing is judged: no exchange exercised a clause, so the exit code is 2")
    return out + [f"FAILED: {failure}" for failure in result.failures]


def run_cost(result: Result) -> str:
    """The requests of a run and its duration."""
    swept = f" ({result.generated} of them generated)" if result.generated else ""
    return f"{result.requests} requests{swept} in {result.seconds:.1f} s"


def summary(report: Report) -> str:
    """The remarks, and a last line with the counts."""
    result = report.result
    counts = ", ".join(f"{result.count(verdict)} {WORDS[verdict].lower()}" for verdict in WORDS)
    lines = [*map(escape_line, remarks(result)), f"{counts}; {run_cost(result)}"]
    return "\n".join(lines) + "\n"


def _paint(text: str, verdict: str, colour: bool) -> str:
    return f"\x1b[{_COLOURS[verdict]}m{text}\x1b[0m" if colour else text


def _clauses(result: Result, wide: int, colour: bool) -> Iterator[str]:
    """A row for each clause; what switches it on is under the first row with the same remedy. The
    clauses of another transport are one row.
    """
    remedies = enablings(result)
    shown: set[Enabling] = set()
    for clause in result.clauses.values():
        if other_transport(clause) is not None:
            continue
        yield _clause(clause, wide, colour)
        found = remedies.get(clause.address)
        if found is not None and found not in shown:
            shown.add(found)
            yield f"{'':13}    enable it in {escape_line(str(found))}"
    word = _paint(f"{WORDS['not_checkable']:13}", "not_checkable", colour)
    yield from (f"{word}  {escape_line(line)}" for line in transport_lines(result.clauses))


def steps_text(report: Report) -> list[str]:
    """The next steps after a clean run, with the lines to paste; none after any other."""
    if report.interrupted or exit_code(report.result):
        return []
    steps = next_steps(report.result)
    lines = [
        f"  {escape_line(step.purpose)}\n    {escape_line(str(step.enabling))}" for step in steps
    ]
    return ["next:", *lines, ""] if lines else []


def _clause(clause: ClauseResult, wide: int, colour: bool) -> str:
    verdict, reasons = clause.verdict, list[str]()
    word = _paint(f"{WORDS[verdict]:13}", verdict, colour)
    if verdict in ("passed", "failed"):
        failures = f"{clause.failures} of " if clause.failures else ""
        counts = {"warnings": clause.warnings, "flaky": clause.flaky, "known": clause.known}
        others = [f", {count} {name}" for name, count in counts.items() if count]
        reasons.append(f"{failures}{clause.occasions}{''.join(others)}")
        reasons += [f"left out: {clause.left_out}"] if clause.left_out else []
        reasons += [clause.reason] if clause.undecided else []
    else:
        reasons.append(clause.reason)
    details = _wrap(escape_line("; ".join(reasons)), 13 + 2 + wide + 2)
    return f"{word}  {escape_line(clause.address):{wide}}  {details}".rstrip()


def _coverage(report: Report) -> list[str]:
    codes = report.result.coverage
    observed = sum(coverage.observed for coverage in codes.values())
    wide = max((len(code) for code in codes), default=0)
    out = [f"{observed} of {len(codes)} codes observed"] if codes else []
    for code, coverage in codes.items():
        if coverage.observed:
            statuses = ", ".join(map(str, coverage.statuses))
            times = "once" if coverage.count == 1 else f"{coverage.count} times"
            out.append(f"  {escape_line(code):{wide}}  {statuses}  ({times})")
        else:
            reason = escape_line(coverage.reason or "")
            out.append(f"  {escape_line(code):{wide}}  not observed: {reason}")
    return out


def _finding(report: Report, reported: ReportedFinding, colour: bool) -> list[str]:
    finding, standing, base = reported.finding, reported.standing, report.base
    word = _paint(standing, STATES[standing], colour)
    statements = f" [{', '.join(finding.statements)}]" if finding.statements else ""
    times = f" ({reported.count} times)" if reported.count > 1 else ""
    out = [f"{word}: {escape_line(f'{finding.clause}{statements}')}{times}"]
    place = " ".join(filter(None, (finding.operation, str(finding.status or ""), finding.code)))
    if place:
        out.append(f"  {escape_line(place)}")
    if extent := extent_text(reported):
        out.append(f"  {escape_line(extent)}")
    if reported.places:
        more = ", …" if reported.count > len(reported.places) else ""
        out.append(f"  at {escape_line(', '.join(reported.places))}{more}")
    out.append(f"  {escape_line(finding.message)}")
    if trigger := trigger_text(finding):
        out.append(f"  {escape_line(trigger)}")
    if reported.excuse is not None:
        return [*out, f"  known: {escape_line(reported.excuse)}"]
    if standing == "flaky":
        out.append("  flaky: it did not recur when the requests were repeated")
    if finding.evidence:
        body = finding.evidence[-1].response.body[:_COMMAND].decode("utf-8", "replace")
        if body:
            line = re.sub(r"\s+", " ", body)
            out.append(f"  > {_shorten(escape_line(line), 2 * _REASON_WIDTH)}")
    if source := source_text(finding):
        out.append(f"  by {_shorten(escape_line(source), _REASON_WIDTH)}")
    for place, command in curl.numbered_commands(base, finding.evidence):
        order = f"({place}) " if place else ""
        out.append(f"  {order}$ {_shorten(escape_line(command), _COMMAND)}")
    out += [f"  {escape_line(line)}" for line in example_lines(reported, _EXAMPLES)]
    line = waiver_line(finding, reported.operations, report.day)
    return [*out, f"  to waive it: {escape_line(line)}"]


def example_lines(reported: ReportedFinding, most: int) -> list[str]:
    """A line for each further example: its ID for `faultspec replay`, and what was sent; none for a
    finding with one example.
    """
    others = [*enumerate(reported.examples, 1)][1:]
    lines = [
        f"{reported.example_id(number)}  {example_text(example)}"
        for number, example in others[:most]
    ]
    if len(others) > most:
        lines.append(f"and {len(others) - most} more; the JSON and HTML reports have them all")
    return ["also, for `faultspec replay REPORT ID`:", *lines] if lines else []


def example_text(example: Finding) -> str:
    """The answer, the line of the last request, and what sets it apart."""
    answer = " ".join(filter(None, (str(example.status or ""), example.code)))
    if not example.evidence:
        return " ".join(filter(None, (example.operation, answer)))
    last = example.evidence[-1]
    body = re.sub(r"\s+", " ", last.request.body[:_COMMAND].decode("utf-8", "replace"))
    line = _shorten(f"{last.request.method} {last.request.target} {body}".strip(), _REQUEST)
    return f"{answer} to {line}" + (f": {last.trigger}" if last.trigger else "")


def trigger_text(finding: Finding) -> str:
    """A line about the trigger of the last request; empty if none is known."""
    trigger = finding.evidence[-1].trigger if finding.evidence else ""
    return f"sent: {trigger}" if trigger else ""


def source_text(finding: Finding) -> str:
    """The sections and rulings of the broken rule; statements stand beside the clause."""
    parts = {"section": finding.sections, "ruling": finding.rulings}
    return "; ".join(
        f"{name}{'s' * (len(texts) > 1)} {', '.join(texts)}"
        for name, texts in parts.items()
        if texts
    )


def extent_text(reported: ReportedFinding) -> str:
    """The operations with the same cause: how many, and the first few; its statuses, and when it
    was seen. Empty if there is one of both and no moment is known.
    """
    operations, statuses = reported.operations, reported.statuses
    listed = f"with the statuses {', '.join(map(str, statuses))}" if len(statuses) > 1 else ""
    return "; ".join(filter(None, (_operations_text(operations), listed, seen_text(reported))))


def seen_text(reported: ReportedFinding) -> str:
    """When a finding was seen, first and last; empty if no moment is known."""
    moments = dict.fromkeys(filter(None, (reported.first_seen, reported.last_seen)))
    return f"seen {' to '.join(moments)}" if moments else ""


def _operations_text(operations: Sequence[str]) -> str:
    if len(operations) < 2:
        return ""
    more = len(operations) - _OPERATIONS
    listed = ", ".join(operations[:_OPERATIONS]) + (f" and {more} more" if more > 0 else "")
    return f"on {len(operations)} operations: {listed}"


def _wrap(text: str, indent: int) -> str:
    """A text in lines that stand below each other; beyond some length it ends with an ellipsis."""
    lines = textwrap.wrap(
        _shorten(text, _LONGEST_REASON),
        _REASON_WIDTH,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"\n{'':{indent}}".join(visible_lines("\n".join(lines)))


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
