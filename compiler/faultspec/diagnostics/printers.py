"""Diagnostics → text for people, editors and CI systems.

Every printer is a pure function of the diagnostics and of `sources`, the texts of the files that were read, by path. A
path without a text is printed without a snippet. The result ends in a line end and holds no character that a terminal
would obey: control and direction-changing characters are shown as escapes, whatever the user's file holds.
"""

import json as _json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Protocol
from urllib.parse import quote

from faultspec.diagnostics.model import Diagnostic, Fix, Related, Severity, Span, ordered


class Printer(Protocol):
    """What every printer is: diagnostics in any order, and the texts by path, to one text."""

    def __call__(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str: ...  # noqa: D102


#: What a terminal may obey, or hide, or reorder the line by; what cannot be encoded; what XML cannot hold.
_UNSAFE = "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff]"


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return named.get(match[0]) or (f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}")


def visible(text: str) -> str:
    """`text` on one line, with escapes such as `\\x1b` for what must not reach a terminal."""
    return re.sub(_UNSAFE, _escape, text)


def _paragraph(text: str, indent: str) -> str:
    """Like `visible`, but keeping line ends, each followed by `indent` so that no line can pass for another."""
    return ("\n" + indent).join(visible(line) for line in re.split(r"\r\n|\r|\n", text))


def location(path: str, span: Span | None) -> str:
    """`path:line:column`, as editors and terminals make clickable; the path alone for a whole file."""
    return visible(path) if span is None else f"{visible(path)}:{span.line}:{span.column}"


_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_COLOURS: Mapping[str, str] = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "note": "\x1b[1;36m",
    "hint": "\x1b[1;32m",
}


SHOWN = 200
"""Diagnostics in a text for people: more than anyone reads at once, and few enough to scroll back over."""

_SEVERITIES = ("error", "warning", "note")


def _most_severe(found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """As many as a text shows, the most severe, in their order."""
    ranked = sorted(range(len(found)), key=lambda index: _SEVERITIES.index(found[index].severity))
    return [found[index] for index in sorted(ranked[:SHOWN])]


def text(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /, *, colour: bool = False
) -> str:
    """`file:line:column: severity: message [code]`, then the line with a caret, what to do, and related places.

    Of very many only the most severe are shown, and how many more there are; the formats for machines have all.
    """

    def paint(what: str, colour_of: str) -> str:
        return f"{_COLOURS[colour_of]}{what}{_RESET}" if colour else what

    snippets = _Snippets(sources)
    out: list[str] = []
    found = ordered(diagnostics)
    for each in _most_severe(found):
        where = location(each.path, each.span)
        where = f"{_BOLD}{where}:{_RESET}" if colour else f"{where}:"
        first, *more = _paragraph(each.message, "    ").split("\n")
        out.append(
            f"{where} {paint(each.severity + ':', each.severity)} {first} [{visible(each.code)}]"
        )
        out += more
        out += _painted(snippets.of(each.path, each.span), each.severity, paint)
        if each.hint is not None:
            out.append(f"  {paint('hint:', 'hint')} {_paragraph(each.hint, '        ')}")
        if each.fix is not None:
            out.append(f"  {paint('fix:', 'hint')} {visible(_fixable(each.fix))}")
        for other in each.related:
            place = location(other.path, other.span)
            out.append(
                f"  {place}: {paint('note:', 'note')} {_paragraph(other.message, '        ')}"
            )
            out += _painted(snippets.of(other.path, other.span), "note", paint)
        out.append("")
    if len(found) > SHOWN:
        out += [f"… and {len(found) - SHOWN} more; `--format json` has them all", ""]
    return "\n".join(out[:-1]) + "\n" if out else ""


def _fixable(fix: Fix) -> str:
    return f"{fix.what} (faultspec lint --fix does)"


class _Paint(Protocol):
    def __call__(self, what: str, colour_of: str) -> str: ...


def _painted(snippet: tuple[str, str, str] | None, severity: Severity, paint: _Paint) -> list[str]:
    if snippet is None:
        return []
    number, line, underline = snippet
    margin = " " * len(number)
    indent = len(underline) - len(underline.lstrip(" "))
    return [
        f" {number} | {line}".rstrip(),
        f" {margin} | {underline[:indent]}{paint(underline[indent:], severity)}",
    ]


#: A tab is shown as this many spaces, whatever its column, so that the underline needs no arithmetic.
_TAB = 4

#: A line longer than this is cut around the caret: twice what a narrow terminal shows.
_LINE_LIMIT = 160

#: How much of a long line is kept before the caret, and how much in all.
_BEFORE, _WINDOW = 40, 120


class _Snippets:
    """Lines of the sources, each source split once."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._lines: dict[str, list[str]] = {}

    def of(self, path: str, span: Span | None) -> tuple[str, str, str] | None:
        """Line number, the line as a terminal may show it, and its underline; None without a text or such a line."""
        if span is None or path not in self._sources:
            return None
        lines = self._lines.get(path)
        if lines is None:
            lines = self._lines[path] = re.split(
                r"\r\n|\r|\n", self._sources[path].removeprefix("\ufeff")
            )
        if not 1 <= span.line <= len(lines):
            return None
        line, underline = _snippet(lines[span.line - 1], span)
        return str(span.line), line, underline


def _snippet(line: str, span: Span) -> tuple[str, str]:
    start = min(span.column - 1, len(line))
    end = min(span.end_column - 1, len(line)) if span.end_line == span.line else len(line)
    first, last = 0, len(line)
    if len(line) > _LINE_LIMIT:
        first = max(0, min(start - _BEFORE, len(line) - _WINDOW))
        last = min(len(line), first + _WINDOW)
    cells = _cells(line[first:last])
    before, after = "…" if first else "", "…" if last < len(line) else ""
    margin = len(before) + sum(width for _, width in cells[: start - first])
    marked = sum(width for _, width in cells[start - first : end - first])
    return before + "".join(shown for shown, _ in cells) + after, " " * margin + "^" * max(
        1, marked
    )


def _cells(line: str) -> list[tuple[str, int]]:
    """What to show for each character, and how many terminal cells it takes.

    Terminals disagree about emoji made of several; a sequence joined by U+200D, or with a skin tone, counts
    as one here.
    """
    cells: list[tuple[str, int]] = []
    joined = False
    for char in line:
        if char == "\t":
            cells.append((" " * _TAB, _TAB))
        elif re.match(_UNSAFE, char):
            shown = visible(char)
            cells.append((shown, len(shown)))
        elif (
            joined
            or unicodedata.category(char) in ("Mn", "Me", "Cf")
            or 0x1F3FB <= ord(char) <= 0x1F3FF
        ):
            cells.append((char, 0))
            if (
                char == "\ufe0f" and len(cells) > 1 and cells[-2][1] == 1
            ):  # asks for the wide form of a narrow sign
                cells[-1] = (char, 1)
        else:
            cells.append((char, 2 if unicodedata.east_asian_width(char) in "WF" else 1))
        joined = char == "\u200d"
    return cells


def as_json(value: object) -> str:
    """JSON for reading: indented, non-ASCII as it is, and yet nothing a terminal would obey."""

    def escape(match: re.Match[str]) -> str:
        return match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}"

    # Inside strings json itself has escaped every line end, so those that are left are the layout.
    return re.sub(_UNSAFE, escape, _json.dumps(value, indent=2, ensure_ascii=False)) + "\n"


def json(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str:
    """One object `{"version": 1, "diagnostics": […]}`; every field of the value under its own name."""

    def place(span: Span | None) -> object:
        if span is None:
            return None
        return {
            "line": span.line,
            "column": span.column,
            "end_line": span.end_line,
            "end_column": span.end_column,
        }

    def related(each: Related) -> object:
        return {"message": each.message, "path": each.path, "span": place(each.span)}

    def fix(each: Fix | None) -> object:
        if each is None:
            return None
        return {
            "what": each.what,
            "edits": [{"span": place(edit.span), "text": edit.text} for edit in each.edits],
        }

    return as_json(
        {
            "version": 1,
            "diagnostics": [
                {
                    "code": each.code,
                    "severity": each.severity,
                    "message": each.message,
                    "path": each.path,
                    "span": place(each.span),
                    "hint": each.hint,
                    "related": [related(other) for other in each.related],
                    "pointer": list(each.pointer),
                    "fix": fix(each.fix),
                }
                for each in ordered(diagnostics)
            ],
        }
    )


def _whole(each: Diagnostic) -> str:
    """Message, hint and related places as one text, for formats that have no room of their own for them."""
    lines = [each.message]
    if each.hint is not None:
        lines.append(f"hint: {each.hint}")
    if each.fix is not None:
        lines.append(f"fix: {_fixable(each.fix)}")
    lines += [f"{location(other.path, other.span)}: {other.message}" for other in each.related]
    return "\n".join(lines)


def workflow_command(name: str, fields: Mapping[str, object], message: str) -> str:
    """One workflow command of GitHub Actions, `::name field=…::message`, a line, with what it escapes in each escaped."""

    def data(value: str) -> str:
        lines = [visible(line) for line in re.split(r"\r\n|\r|\n", value.replace("%", "%25"))]
        return "%0A".join(lines)

    def field(value: object) -> str:
        return data(str(value)).replace(":", "%3A").replace(",", "%2C")

    said = ",".join(f"{key}={field(value)}" for key, value in fields.items())
    return f"::{name}{' ' if said else ''}{said}::{data(message)}\n"


def github(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str:
    """Workflow commands that GitHub Actions turns into annotations (`::error file=…,line=…::message`)."""

    commands: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}
    out: list[str] = []
    for each in ordered(diagnostics):
        fields: dict[str, object] = {"file": each.path}
        if each.span is not None:
            fields |= {
                "line": each.span.line,
                "endLine": each.span.end_line,
                "col": each.span.column,
            }
            if each.span.end_line == each.span.line:
                # GitHub takes columns within one line only, the last one inclusive.
                fields["endColumn"] = max(each.span.column, each.span.end_column - 1)
        fields["title"] = each.code
        out.append(workflow_command(commands[each.severity], fields, _whole(each)))
    return "".join(out)


#: The schema by which editors and GitHub know what they read.
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str:
    """SARIF 2.1.0, one run, columns in code points."""

    def artifact(path: str) -> dict[str, object]:
        # A colon in the first segment would read as a scheme, so it is quoted too.
        return {"uri": quote(path.encode("utf-8", "surrogatepass"), safe="/")}

    def region(span: Span) -> dict[str, object]:
        return {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        }

    def place(path: str, span: Span | None) -> dict[str, object]:
        physical: dict[str, object] = {"artifactLocation": artifact(path)}
        if span is not None:
            physical["region"] = region(span)
        return {"physicalLocation": physical}

    def change(path: str, fix: Fix) -> dict[str, object]:
        replacements = [
            {"deletedRegion": region(edit.span), "insertedContent": {"text": edit.text}}
            for edit in fix.edits
        ]
        changes = [{"artifactLocation": artifact(path), "replacements": replacements}]
        return {"description": {"text": fix.what}, "artifactChanges": changes}

    found = ordered(diagnostics)
    codes = {code: index for index, code in enumerate(sorted({each.code for each in found}))}
    results: list[dict[str, object]] = []
    for each in found:
        message = each.message if each.hint is None else f"{each.message}\nhint: {each.hint}"
        result: dict[str, object] = {
            "ruleId": each.code,
            "ruleIndex": codes[each.code],
            "level": each.severity,
            "message": {"text": message},
            "locations": [place(each.path, each.span)],
        }
        if each.related:
            result["relatedLocations"] = [
                {"id": number, **place(other.path, other.span), "message": {"text": other.message}}
                for number, other in enumerate(each.related)
            ]
        if each.fix is not None:
            result["fixes"] = [change(each.path, each.fix)]
        results.append(result)
    return as_json(
        {
            "$schema": SARIF_SCHEMA,
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {
                        "driver": {"name": "faultspec", "rules": [{"id": code} for code in codes]}
                    },
                    "columnKind": "unicodeCodePoints",
                    "results": results,
                }
            ],
        }
    )


def _html(text: str, *, quote: bool = True) -> str:
    import html  # here, since it brings a table of every entity, and most output is for terminals

    return html.escape(text, quote)


def _xml(value: str) -> str:
    """For an element or an attribute; line ends survive in both."""
    return "&#10;".join(_html(visible(line)) for line in re.split(r"\r\n|\r|\n", value))


def junit(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str:
    """JUnit XML: a suite for each file, a case for each diagnostic, and one passed case for a file without any.

    An error is a failed case; a warning or a note is a passed one that says so in its output.
    """
    by_path = {
        path: list(group)
        for path, group in groupby(ordered(diagnostics), key=lambda each: each.path)
    }
    paths = sorted({*by_path, *sources})
    failed = sum(each.severity == "error" for group in by_path.values() for each in group)
    cases = sum(len(by_path.get(path, [path])) for path in paths)
    out = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="faultspec" tests="{cases}" failures="{failed}" errors="0">',
    ]
    for path in paths:
        group = by_path.get(path, [])
        failures = sum(each.severity == "error" for each in group)
        name = _xml(path)
        out.append(
            f'  <testsuite name="{name}" tests="{len(group) or 1}" failures="{failures}" errors="0" skipped="0">'
        )
        if not group:
            out.append(f'    <testcase classname="{name}" name="no findings"/>')
        for each in group:
            title = f"{each.code} {each.span.line}:{each.span.column}" if each.span else each.code
            line = f' line="{each.span.line}"' if each.span else ""
            out.append(
                f'    <testcase classname="{name}" name="{_xml(title)}" file="{name}"{line}>'
            )
            body = _xml(f"{location(each.path, each.span)}: {each.severity}: {_whole(each)}")
            if each.severity == "error":
                message, kind = _xml(each.message), _xml(each.code)
                out.append(f'      <failure type="{kind}" message="{message}">{body}</failure>')
            else:
                out.append(f"      <system-out>{body}</system-out>")
            out.append("    </testcase>")
        out.append("  </testsuite>")
    out.append("</testsuites>")
    return "\n".join(out) + "\n"


_MARKDOWN_SIGNS = r"[\\`*_{}\[\]()#+!|~]"


def markdown_text(value: str) -> str:
    """Text as text in Markdown: no sign of it is markup, HTML or the end of a table cell; a line end is a `<br>`."""
    return "<br>".join(
        re.sub(_MARKDOWN_SIGNS, r"\\\g<0>", _html(visible(line), quote=False))
        for line in re.split(r"\r\n|\r|\n", value)
    )


def markdown(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], /) -> str:
    """A table for a pull request or a job summary; a sentence when there is nothing to say."""
    found = ordered(diagnostics)
    if not found:
        return "No findings.\n"
    out = ["| Severity | Where | What |", "|---|---|---|"]
    for each in found:
        what = f"{markdown_text(_whole(each))}<br>{markdown_text(each.code)}"
        out.append(
            f"| {each.severity} | {markdown_text(location(each.path, each.span))} | {what} |"
        )
    return "\n".join(out) + "\n"


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
    """`2 errors, 1 warning`, the most severe first; `no findings` for none."""
    counts: dict[str, int] = {"error": 0, "warning": 0, "note": 0}
    for each in ordered(diagnostics):
        counts[each.severity] += 1
    said = [f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items() if count]
    return ", ".join(said) or "no findings"
