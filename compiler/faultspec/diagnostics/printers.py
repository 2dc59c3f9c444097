"""Diagnostics → text for people, editors and CI systems.

Every printer is a pure function of the diagnostics and of `sources`, the texts of the files by
path. A path without a known source is printed without a snippet. The output ends in a line end.
Control and direction-changing characters are shown as escapes, so that no terminal obeys them.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal, Protocol

from faultspec.diagnostics.folding import SEVERITIES, Shown, fold, sort_by_severity
from faultspec.diagnostics.formats.escaping import as_json, escape_line, visible_lines
from faultspec.diagnostics.formats.github import Annotation, workflow_command
from faultspec.diagnostics.formats.junit import TestCase, TestSuite, write_junit
from faultspec.diagnostics.formats.markdown import markdown_table, markdown_text
from faultspec.diagnostics.formats.sarif import (
    Data,
    SarifResult,
    sarif_artifact,
    sarif_location,
    sarif_region,
    write_sarif,
)
from faultspec.diagnostics.model import Diagnostic, Fix, Severity, Span, sort_diagnostics
from faultspec.diagnostics.snippets import Snippets


class Printer(Protocol):
    """Prints diagnostics, given in any order, with the source texts by path."""

    def __call__(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str: ...  # noqa: D102


def location(path: str, span: Span | None) -> str:
    """`path:line:column`, which editors and terminals make clickable; the path for a whole file."""
    return escape_line(path) if span is None else f"{escape_line(path)}:{span.line}:{span.column}"


_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_COLOURS: Mapping[str, str] = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "note": "\x1b[1;36m",
    "hint": "\x1b[1;32m",
}


SHOWN = 200
"""The maximum number of diagnostics in the output for people."""


def _select_shown(diagnostics: Iterable[Diagnostic], *, folded: bool) -> tuple[Shown, ...]:
    ordered = sort_by_severity(diagnostics)
    return tuple(fold(ordered) if folded else map(Shown, ordered))


def text(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    /,
    *,
    colour: bool = False,
    folded: bool = False,
) -> str:
    """`file:line:column: severity: message [code]`, the line with a caret, hint and related places.

    The most severe come first. If there are more than `SHOWN`, the number of the others is shown.
    ``folded``: the warnings of a rule in many places are shown once or a few times.
    """
    paint = _colour if colour else _leave_plain
    snippets = Snippets(sources)
    out: list[str] = []
    found = _select_shown(diagnostics, folded=folded)
    for diagnostic, remark in found[:SHOWN]:
        place = f"{location(diagnostic.path, diagnostic.span)}:"
        place = f"{_BOLD}{place}{_RESET}" if colour else place
        severity = paint(f"{diagnostic.severity}:", diagnostic.severity)
        first, *more = visible_lines(diagnostic.message)
        out.append(f"{place} {severity} {first} [{escape_line(diagnostic.code)}]")
        out += [f"    {line}" for line in more]
        snippet = snippets.find(diagnostic.path, diagnostic.span)
        out += _snippet_lines(snippet, diagnostic.severity, paint)
        if diagnostic.hint is not None:
            out.append(f"  {paint('hint:', 'hint')} {_indent(diagnostic.hint)}")
        if diagnostic.fix is not None:
            out.append(f"  {paint('fix:', 'hint')} {escape_line(_fix_line(diagnostic.fix))}")
        for related in diagnostic.related:
            place = location(related.path, related.span)
            out.append(f"  {place}: {paint('note:', 'note')} {_indent(related.message)}")
            out += _snippet_lines(snippets.find(related.path, related.span), "note", paint)
        out.append("")
        if remark is not None:
            out += [escape_line(remark), ""]
    if len(found) > SHOWN:
        out += [f"… and {len(found) - SHOWN} more; `--format json` has them all", ""]
    return "\n".join(out[:-1]) + "\n" if out else ""


def _indent(text: str) -> str:
    """The lines of a message. All but the first are indented, to differ from the first."""
    return f"\n{' ' * 8}".join(visible_lines(text))


def _fix_line(fix: Fix) -> str:
    return f"{fix.what} (faultspec lint --fix does)"


class _Paint(Protocol):
    def __call__(self, text: str, colour: str) -> str: ...


def _colour(text: str, colour: str) -> str:
    return f"{_COLOURS[colour]}{text}{_RESET}"


def _leave_plain(text: str, colour: str) -> str:
    return text


def _snippet_lines(
    snippet: tuple[str, str, str] | None, severity: Severity, paint: _Paint
) -> list[str]:
    if snippet is None:
        return []
    number, line, underline = snippet
    margin = " " * len(number)
    carets = underline.lstrip(" ")
    indent = underline.removesuffix(carets)
    return [f" {number} | {line}".rstrip(), f" {margin} | {indent}{paint(carets, severity)}"]


def json(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str:
    """One object `{"version": 1, "diagnostics": […]}` with every field under its own name."""
    return as_json(
        {
            "version": 1,
            "diagnostics": [
                {
                    "code": diagnostic.code,
                    "severity": diagnostic.severity,
                    "message": diagnostic.message,
                    "path": diagnostic.path,
                    "span": _span_data(diagnostic.span),
                    "hint": diagnostic.hint,
                    "related": [
                        {
                            "message": related.message,
                            "path": related.path,
                            "span": _span_data(related.span),
                        }
                        for related in diagnostic.related
                    ],
                    "pointer": list(diagnostic.pointer),
                    "fix": _fix_data(diagnostic.fix),
                }
                for diagnostic in sort_diagnostics(diagnostics)
            ],
        }
    )


def _span_data(span: Span | None) -> object:
    return None if span is None else span._asdict()


def _fix_data(fix: Fix | None) -> object:
    if fix is None:
        return None
    edits = [{"span": _span_data(edit.span), "text": edit.text} for edit in fix.edits]
    return {"what": fix.what, "edits": edits}


def _full_text(diagnostic: Diagnostic) -> str:
    """Message, hint, fix and related places as one text, for formats without members for them."""
    lines = [diagnostic.message]
    if diagnostic.hint is not None:
        lines.append(f"hint: {diagnostic.hint}")
    if diagnostic.fix is not None:
        lines.append(f"fix: {_fix_line(diagnostic.fix)}")
    lines += [
        f"{location(related.path, related.span)}: {related.message}"
        for related in diagnostic.related
    ]
    return "\n".join(lines)


_LEVELS: Mapping[Severity, Literal["error", "warning", "notice"]] = {
    "error": "error",
    "warning": "warning",
    "note": "notice",
}


def github(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str:
    """An annotation of GitHub Actions for each diagnostic."""
    return "".join(
        workflow_command(
            Annotation(
                level=_LEVELS[diagnostic.severity],
                title=diagnostic.code,
                message=_full_text(diagnostic),
                file=diagnostic.path,
                span=diagnostic.span,
            )
        )
        # GitHub shows ten annotations of a step.
        for diagnostic in sort_by_severity(diagnostics)
    )


def sarif(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    /,
    *,
    rules: Mapping[str, Data] = {},
    fingerprints: Mapping[Diagnostic, str] = {},
) -> str:
    """SARIF 2.1.0; a diagnostic code is a rule.

    ``rules``: further members of the rules by code. ``fingerprints``: what identifies a diagnostic
    across runs, where that is known.
    """
    found = sort_diagnostics(diagnostics)
    codes = sorted({diagnostic.code for diagnostic in found})
    return write_sarif(
        [{"id": code, **rules.get(code, {})} for code in codes],
        [_sarif_result(diagnostic, fingerprints.get(diagnostic)) for diagnostic in found],
    )


#: The name of our fingerprint among those of other tools, with its version (section 3.27.17).
_FINGERPRINT = "faultspec/v1"


def _sarif_result(diagnostic: Diagnostic, identity: str | None) -> SarifResult:
    members: Data = {} if identity is None else {"partialFingerprints": {_FINGERPRINT: identity}}
    if diagnostic.related:
        members["relatedLocations"] = [
            {
                "id": number,
                **_sarif_place(related.path, related.span),
                "message": {"text": related.message},
            }
            for number, related in enumerate(diagnostic.related)
        ]
    if diagnostic.fix is not None:
        members["fixes"] = [_sarif_fix(diagnostic.path, diagnostic.fix)]
    hint = "" if diagnostic.hint is None else f"\nhint: {diagnostic.hint}"
    return SarifResult(
        rule=diagnostic.code,
        level=diagnostic.severity,
        message=diagnostic.message + hint,
        locations=[_sarif_place(diagnostic.path, diagnostic.span)],
        members=members,
    )


def _sarif_place(path: str, span: Span | None) -> Data:
    return sarif_location(path, None if span is None else sarif_region(span))


def _sarif_fix(path: str, fix: Fix) -> Data:
    replacements = [
        {"deletedRegion": sarif_region(edit.span), "insertedContent": {"text": edit.text}}
        for edit in fix.edits
    ]
    change = {"artifactLocation": sarif_artifact(path), "replacements": replacements}
    return {"description": {"text": fix.what}, "artifactChanges": [change]}


def junit(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str:
    """JUnit XML: a suite for each file, a case for each diagnostic.

    An error is a failed case. A warning or a note is a passed case with an output. A file without
    diagnostics has one passed case.
    """
    by_path = {
        path: [_test_case(diagnostic) for diagnostic in group]
        for path, group in groupby(
            sort_diagnostics(diagnostics), key=lambda diagnostic: diagnostic.path
        )
    }
    suites = []
    for path in sorted({*by_path, *sources}):
        name = _visible_text(path)
        suites.append(TestSuite(name, by_path.get(path) or [TestCase(name, "no findings")]))
    return write_junit("faultspec", suites)


def _visible_text(text: str) -> str:
    return "\n".join(visible_lines(text))


def _test_case(diagnostic: Diagnostic) -> TestCase:
    name, span, severity = _visible_text(diagnostic.path), diagnostic.span, diagnostic.severity
    failed = severity == "error"
    place = location(diagnostic.path, span)
    return TestCase(
        classname=name,
        name=_visible_text(
            f"{diagnostic.code} {span.line}:{span.column}" if span else diagnostic.code
        ),
        outcome="failure" if failed else "passed",
        message=_visible_text(diagnostic.message) if failed else None,
        text=_visible_text(f"{place}: {severity}: {_full_text(diagnostic)}"),
        type=_visible_text(diagnostic.code) if failed else None,
        file=name,
        line=span.line if span else None,
    )


def markdown(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /, *, folded: bool = False
) -> str:
    """A table for a pull request or a job summary, the most severe first; a sentence if there are
    no diagnostics. ``folded``: as in `text`.
    """
    rows = []
    for diagnostic, remark in _select_shown(diagnostics, folded=folded):
        what = f"{markdown_text(_full_text(diagnostic))}<br>{markdown_text(diagnostic.code)}"
        place = markdown_text(location(diagnostic.path, diagnostic.span))
        rows.append((diagnostic.severity, place, what))
        if remark is not None:
            rows.append(
                (diagnostic.severity, markdown_text(diagnostic.path), markdown_text(remark))
            )
    table = markdown_table(("Severity", "Where", "What"), rows) if rows else ["No findings."]
    return "\n".join(table) + "\n"


#: The name of each format, as `--format` takes it.
PRINTERS: Mapping[str, Printer] = {
    "text": text,
    "json": json,
    "github": github,
    "sarif": sarif,
    "junit": junit,
    "markdown": markdown,
}


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`, the most severe first; `no findings` if there are none."""
    severities = [diagnostic.severity for diagnostic in sort_diagnostics(diagnostics)]
    counts = [(severities.count(severity), severity) for severity in SEVERITIES]
    parts = [f"{count} {name}{'s' if count > 1 else ''}" for count, name in counts if count]
    return ", ".join(parts) or "no findings"
