"""The report of a comparison: what is judged by it, as data, as text and as Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.diagnostics.formats.escaping import as_json, escape_line, visible_lines
from faultspec.diagnostics.formats.markdown import markdown_details, markdown_table, markdown_text
from faultspec.diagnostics.model import Diagnostic, Path, Severity
from faultspec.evolution.advice import advise
from faultspec.evolution.compare import Comparison
from faultspec.evolution.ledger import AcceptedChange, fingerprint, ledger_entry
from faultspec.evolution.limit import DEFAULT_LIMIT, demanded_bump, exceeds_limit
from faultspec.evolution.model import AUDIENCES, SEVERITIES, Audience, Change
from faultspec.evolution.places import locate
from faultspec.evolution.promises import join_words
from faultspec.source import Document

#: The version of the JSON format; it changes with every incompatible change.
VERSION = 1


class EvolutionReport(NamedTuple):
    """A comparison with the names of its files, the places of the new one, and the ledger.

    ``accepted``: the entries of the ledger by fingerprint. ``stale``: errors for entries without a
    change. ``notes``: what was not compared. ``limit``: of ``--fail-on``.
    """

    old: str
    new: str
    comparison: Comparison
    document: Document | None = None
    accepted: Mapping[str, AcceptedChange] = {}
    stale: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    limit: str = DEFAULT_LIMIT

    @property
    def open_changes(self) -> tuple[Change, ...]:
        """The changes that the ledger does not accept."""
        return tuple(c for c in self.comparison.changes if fingerprint(c) not in self.accepted)

    @property
    def failing_changes(self) -> tuple[Change, ...]:
        """The open changes that are as bad as the limit."""
        return tuple(change for change in self.open_changes if exceeds_limit(change, self.limit))

    @property
    def is_version_low(self) -> bool:
        """Whether the version is too low for what the limit demands; accepted changes count."""
        demanded = demanded_bump(self.comparison.changes, self.limit)
        return not self.comparison.is_enough_for(demanded)

    @property
    def is_failed(self) -> bool:
        """Whether a change, the version or the ledger fails the command."""
        return bool(self.stale or self.is_version_low or self.failing_changes)


def as_diagnostics(report: EvolutionReport) -> tuple[Diagnostic, ...]:
    """The changes as diagnostics at their places in the new taxonomy, worst first; then the
    version, if it is too low, and stale entries of the ledger.

    Exactly what fails the command is an error. An accepted change is a note.
    """
    found = [_diagnostic(report, change) for change in report.comparison.changes]
    return (*found, *_version_diagnostics(report), *report.stale)


def _version_diagnostics(report: EvolutionReport) -> Iterator[Diagnostic]:
    """An error if the version is too low."""
    if not report.is_version_low:
        return
    comparison = report.comparison
    old, new = comparison.old_version, comparison.new_version
    if comparison.due == "none":
        message, least = f"the version {new} is lower than {old}", old
    else:
        message = f"the version {new} is too low: a {comparison.due} version is due after {old}"
        least = comparison.due_version or old
    hint = f"raise the version to {least}"
    place = ("taxonomy", "version")
    yield _diagnostic_at(report, place, code="version-too-low", message=message, hint=hint)


def _diagnostic(report: EvolutionReport, change: Change) -> Diagnostic:
    accepted = report.accepted.get(fingerprint(change))
    message = f"{change.message} ({_nature(change)})"
    hint = _hint(change) if accepted is None else f"accepted by {accepted.owner}: {accepted.reason}"
    return _diagnostic_at(
        report,
        change.path,
        code=change.rule,
        message=message,
        severity=_diagnostic_severity(report, change),
        hint=hint,
    )


def _diagnostic_severity(report: EvolutionReport, change: Change) -> Severity:
    if fingerprint(change) in report.accepted:
        return "note"
    if exceeds_limit(change, report.limit):
        return "error"
    return "note" if change.severity == "safe" else "warning"


def _diagnostic_at(
    report: EvolutionReport,
    path: Path,
    *,
    code: str,
    message: str,
    severity: Severity = "error",
    hint: str | None,
) -> Diagnostic:
    """A diagnostic at a path of the new taxonomy; of the whole file if it has no places."""
    if report.document is None:
        return Diagnostic(code, message, report.new, severity=severity, hint=hint)
    place = locate(report.document, path)
    return report.document.diagnostic(code, message, place, severity=severity, hint=hint)


def _nature(change: Change) -> str:
    """`breaking for clients, WIRE` and the like."""
    hurt = f" for {join_words(change.breaks)}" if change.breaks else ""
    return f"{change.severity}{hurt}, {' '.join(change.categories)}"


def _hint(change: Change) -> str | None:
    parts = [change.remedy] if change.remedy else []
    if change.severity == "breaking":
        parts.append(f"to accept it, add to the ledger: {ledger_entry(change)}")
    return "; or ".join(parts) or None


def describe_verdict(report: EvolutionReport) -> str:
    """The verdict in one line: how many changes, the version that is due, whether it is met, and
    what fails.
    """
    comparison = report.comparison
    parts = [_severity_counts(comparison.changes), version_sentence(comparison)]
    if report.is_failed:
        parts.append(_failure(report))
    return "; ".join(parts)


def _failure(report: EvolutionReport) -> str:
    """The causes of a failure, as in `1 change and the version fail`, with the limit."""
    changes, stale = len(report.failing_changes), len(report.stale)
    causes = [
        *([f"{changes} change{'s' if changes > 1 else ''}"] if changes else []),
        *(["the version"] if report.is_version_low else []),
        *([f"{stale} stale entr{'ies' if stale > 1 else 'y'} of the ledger"] if stale else []),
    ]
    count = changes + report.is_version_low + stale
    verb = "fails" if count == 1 else "fail"
    return f"{join_words(causes)} {verb} under `--fail-on {report.limit}`"


def count_severities(changes: Iterable[Change]) -> Mapping[str, int]:
    """The number of changes by severity, the worst first."""
    found = [change.severity for change in changes]
    return {severity: found.count(severity) for severity in SEVERITIES}


def version_sentence(comparison: Comparison) -> str:
    """The version that is due, and the declared one."""
    old, new, due = comparison.old_version, comparison.new_version, comparison.due
    if due == "none":
        lowered = f"lower than {old}" if comparison.is_version_lowered else ""
        return f"no version is due (declared: {', '.join(filter(None, (new, lowered)))})"
    wanted = comparison.due_version
    if comparison.declared is None:
        return f"a {due} version is due; `{new}` is not of the form x.y.z"
    if comparison.is_version_enough:
        return f"a {due} version is due, and {new} after {old} is one"
    below = " (below 1.0.0)" if comparison.is_below_one else ""
    return f"a {due} version is due{below}: {wanted}, and the declared version is {new}"


def as_data(report: EvolutionReport) -> dict[str, Any]:
    """The report as JSON data; `report.schema.json` describes it."""
    comparison = report.comparison
    return {
        "faultspec_diff": VERSION,
        "failed": report.is_failed,
        "fail_on": report.limit,
        "old": {"taxonomy": report.old, "version": comparison.old_version},
        "new": {"taxonomy": report.new, "version": comparison.new_version},
        "due": comparison.due,
        "due_version": comparison.due_version,
        "declared": comparison.declared,
        "version_enough": comparison.is_version_enough,
        "version_fails": report.is_version_low,
        "summary": dict(count_severities(comparison.changes)),
        "changes": [_change_data(report, change) for change in comparison.changes],
        "notation": list(comparison.notation),
        "stale": [_stale_data(diagnostic) for diagnostic in report.stale],
        "notes": list(report.notes),
    }


def _change_data(report: EvolutionReport, change: Change) -> dict[str, Any]:
    accepted = report.accepted.get(fingerprint(change))
    diagnostic = _diagnostic(report, change)
    return {
        "fingerprint": fingerprint(change),
        "rule": change.rule,
        "severity": change.severity,
        "fails": diagnostic.severity == "error",
        "categories": list(change.categories),
        "breaks": list(change.breaks),
        "message": change.message,
        "remedy": change.remedy,
        "places": list(change.places),
        "before": change.before,
        "after": change.after,
        "file": diagnostic.path,
        "line": diagnostic.span.line if diagnostic.span else None,
        "column": diagnostic.span.column if diagnostic.span else None,
        "accepted": None
        if accepted is None
        else {"reason": accepted.reason, "owner": accepted.owner},
    }


def _stale_data(diagnostic: Diagnostic) -> dict[str, Any]:
    line = diagnostic.span.line if diagnostic.span else None
    return {"message": diagnostic.message, "file": diagnostic.path, "line": line}


def as_json_text(report: EvolutionReport) -> str:
    """The report as JSON."""
    return as_json(as_data(report))


#: Rows of a table in a comment; GitHub cuts a comment at 65,536 characters.
_MOST_ROWS = 50

_TITLES: Mapping[Audience, str] = {
    "clients": "Clients",
    "services": "Services",
    "operators": "Operators",
}


def as_markdown(report: EvolutionReport) -> str:
    """A comment for a pull request: the verdict, a table for each audience, migration notes."""
    changes = report.comparison.changes
    version = _capital(version_sentence(report.comparison))
    lines = [
        f"### {_verdict(report)}",
        "",
        f"**{_capital(_severity_counts(changes))}.** {_markdown(version)}."
        + (f" {_capital(_markdown(_failure(report)))}." if report.is_failed else ""),
        "",
    ]
    for audience in AUDIENCES:
        hurt = [change for change in changes if audience in change.breaks]
        if hurt:
            lines += [f"#### {_TITLES[audience]}", "", *_table(report, hurt), ""]
    harmless = [change for change in changes if not change.breaks]
    if harmless:
        count = f"{len(harmless)} change{'s' if len(harmless) > 1 else ''} that harm nobody"
        lines += markdown_details(
            count.replace("change that harm", "change that harms"), _table(report, harmless)
        )
    notes = migration_notes(changes)
    if notes:
        lines += ["#### What to do", "", *notes, ""]
    lines += _offer_ledger(report)
    lines += [
        f"- {_markdown(diagnostic.message)}: {_markdown(diagnostic.hint or '')}"
        for diagnostic in report.stale
    ]
    lines += [f"- {_markdown(note)}" for note in report.notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def _severity_counts(changes: Sequence[Change]) -> str:
    """The number of changes by severity, as in `1 breaking, 2 safe`."""
    counts = count_severities(changes)
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "no changes"


def _offer_ledger(report: EvolutionReport) -> list[str]:
    """The entries of a ledger that accept what breaks, folded up."""
    breaking = [change for change in report.open_changes if change.severity == "breaking"]
    if not breaking:
        return []
    entries = []
    for change in breaking[:_MOST_ROWS]:
        words = escape_line(change.message).replace("`", "'")  # no fence ends in a comment
        entries += [f"  # {words}", f"  {ledger_entry(change)}"]
    summary = "Entries of the ledger, to accept what breaks"
    return markdown_details(summary, ["```yaml", "accepted:", *entries, "```"])


def _verdict(report: EvolutionReport) -> str:
    """The heading of a comment. What fails beside the open changes is named."""
    causes = [
        *(["the version is too low"] if report.is_version_low else []),
        *(["the ledger is stale"] if report.stale else []),
    ]
    return "; ".join((_nature_of_changes(report), *causes))


def _nature_of_changes(report: EvolutionReport) -> str:
    counts = count_severities(report.open_changes)
    name = f"`{report.new}`"
    if counts["breaking"]:
        breaking = (c for c in report.open_changes if c.severity == "breaking")
        hurt = {audience for change in breaking for audience in change.breaks}
        return f"{name}: breaking for {join_words([a for a in AUDIENCES if a in hurt])}"
    if counts["risky"]:
        return f"{name}: risky, nothing breaks"
    if report.comparison.changes:
        accepted = (
            "; what breaks is accepted"
            if count_severities(report.comparison.changes)["breaking"]
            else ""
        )
        return f"{name}: safe{accepted}"
    return f"{name}: no change"


def _table(report: EvolutionReport, changes: Sequence[Change]) -> list[str]:
    rows = [
        (
            f"{change.severity}{' (accepted)' if fingerprint(change) in report.accepted else ''}",
            _markdown(_capital(change.message)),
            _values(change),
            f"{' '.join(change.categories)}<br>`{change.rule}`",
        )
        for change in changes[:_MOST_ROWS]
    ]
    if len(changes) > _MOST_ROWS:
        rows.append(("…", f"{len(changes) - _MOST_ROWS} more", "", ""))
    return markdown_table(("Severity", "Change", "Before → after", "Kind"), rows)


def _values(change: Change) -> str:
    if change.before is None and change.after is None:
        return ""
    return f"{_code(change.before)} → {_code(change.after)}"


#: A longer value is cut in a table.
_LONGEST = 80


def _code(value: str | None) -> str:
    if value is None:
        return "—"
    text = escape_line(value)
    cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"`{cut.replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _markdown(text: str) -> str:
    """A message as Markdown: names in backquotes stay code, and everything else is escaped."""
    pieces = re.split(r"(`[^`\n]*`)", "\n".join(visible_lines(text)))
    return "".join(
        piece.replace("|", "\\|")
        if piece.startswith("`") and len(piece) > 1
        else markdown_text(piece)
        for piece in pieces
    )


def migration_notes(changes: Iterable[Change]) -> list[str]:
    """A line for each thing that an audience has to do, each once."""
    notes: dict[tuple[Audience, str], list[str]] = {}
    remedies: dict[str, list[str]] = {}
    for change in changes:
        if change.severity == "safe":
            continue
        if change.remedy:
            remedies.setdefault(change.remedy, []).append(change.places[0])
        for audience in change.breaks:
            notes.setdefault((audience, advise(change, audience)), []).append(change.places[0])
    return [
        *(
            f"- **{_TITLES[audience]}**: {_markdown(text)} ({_some(places)})"
            for audience in AUDIENCES
            for (who, text), places in notes.items()
            if who == audience
        ),
        *(
            f"- **To break nobody**: {_markdown(_capital(text))}. ({_some(places)})"
            for text, places in remedies.items()
        ),
    ]


#: Places behind a sentence; the table above it has them all.
_MOST_PLACES = 4


def _some(places: Sequence[str]) -> str:
    more = " …" if len(places) > _MOST_PLACES else ""
    return ", ".join(map(_code, places[:_MOST_PLACES])) + more


def as_migration_guide(report: EvolutionReport) -> str:
    """The guide for consumers: what breaks for whom, the values before and after, what to do."""
    comparison = report.comparison
    versions = f"from {comparison.old_version} to {comparison.new_version}"
    lines = [f"# {_code(report.new)}: {versions}", ""]
    for audience in AUDIENCES:
        hurt = [c for c in comparison.changes if audience in c.breaks and c.severity != "safe"]
        if not hurt:
            continue
        lines += [f"## {_TITLES[audience]}", ""]
        for change in hurt:
            lines += [
                f"### {_markdown(_capital(change.message))}",
                "",
                *_guide_section(change, audience),
                "",
            ]
    if len(lines) == 2:
        lines += ["Nothing to do.", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _guide_section(change: Change, audience: Audience) -> list[str]:
    places = ", ".join(f"`{place}`" for place in change.places)
    lines = [f"{_capital(change.severity)}, {' '.join(change.categories)}. {places}", ""]
    if change.before is not None or change.after is not None:
        lines += [f"Before → after: {_values(change)}", ""]
    return [*lines, _markdown(advise(change, audience))]


def as_changelog(report: EvolutionReport, *, named: bool = False) -> str:
    """The section of a changelog for the new version. ``named``: its title names the taxonomy."""
    comparison = report.comparison
    titles = {"breaking": "Breaking", "risky": "Changed", "safe": "Other"}
    name = f"{_code(report.new)} " if named else ""
    lines = [f"## {name}{comparison.new_version}", ""]
    for severity in SEVERITIES:
        changes = [change for change in comparison.changes if change.severity == severity]
        added = [change for change in changes if severity == "safe" and change.adds]
        rest = [change for change in changes if change not in added]
        for title, group in (("Added", added), (titles[severity], rest)):
            if group:
                lines += [
                    f"### {title}",
                    "",
                    *(f"- {_markdown(_capital(c.message))}." for c in group),
                    "",
                ]
    if not comparison.changes:
        lines += ["No change of the taxonomy.", ""]
    return "\n".join(lines).rstrip("\n") + "\n"
