"""Edits of a file of waivers: entries are added to and removed from its text.

Comments, order and style of the file are kept, because only whole lines of entries change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from typing import NamedTuple

from faultspec import source
from faultspec.source.document import Document
from faultspec_conformance.results.model import ReportedFinding, Result
from faultspec_conformance.results.waivers import LoadedWaivers, Waiver, waiver_line


class NotEditable(Exception):
    """The file cannot be edited by lines; the text gives the reason and the remedy."""


class WaiverChange(NamedTuple):
    """The new text of the file, the lines of the entries that changed, and remarks."""

    text: str
    entries: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def missing_waivers(
    result: Result, waivers: Sequence[Waiver], day: date, *, flaky: bool = False
) -> WaiverChange:
    """The entries for the failures that no waiver covers, and remarks about expired ones.

    ``flaky``: entries for flaky findings too. The text is left empty.
    """
    entries: dict[str, None] = {}
    remarks: dict[str, None] = {}
    for reported in result.findings:
        if reported.standing != "error" and not (flaky and reported.standing == "flaky"):
            if reported.waived is not None:
                remarks |= dict.fromkeys(_expiry_remarks(reported, waivers, day))
            continue
        covering = [waiver for waiver in waivers if _covers_all(waiver, reported)]
        remarks |= dict.fromkeys(_expiry_remarks(reported, covering, day))
        if not covering:
            line = waiver_line(reported.finding, reported.operations, day)
            if reported.standing == "flaky":
                line = f"{line.removesuffix('}')}, flaky: true}}"
            entries[line] = None
    return WaiverChange("", tuple(entries), tuple(remarks))


def _covers_all(waiver: Waiver, reported: ReportedFinding) -> bool:
    operations = reported.operations or (None,)
    return all(waiver.covers(replace(reported.finding, operation=each)) for each in operations)


def _expiry_remarks(
    reported: ReportedFinding, waivers: Iterable[Waiver], day: date
) -> Iterable[str]:
    return (
        f"the waiver {waiver} expired on {waiver.expires}; it is not extended"
        for waiver in waivers
        if waiver.expires < day and waiver.covers(reported.finding)
    )


def find_unmatched(result: Result, waivers: Sequence[Waiver]) -> tuple[int, ...]:
    """The indexes of the waivers that no finding of the result matched, although their clause was
    exercised.

    Waivers that were not in force in the run, flaky ones, and equal ones stay.
    """
    plain = [replace(waiver, condition=()) for waiver in waivers]
    used = {replace(waiver, condition=()): times for waiver, times in result.waivers.items()}
    exercised = [clause.address for clause in result.clauses.values() if clause.occasions]
    return tuple(
        index
        for index, waiver in enumerate(plain)
        if used.get(waiver) == 0
        and not waiver.flaky
        and plain.count(waiver) == 1
        and any(fnmatchcase(address, waiver.clause) for address in exercised)
    )


def add_entries(loaded: LoadedWaivers, entries: Sequence[str]) -> str:
    """The text of the file with entries after its last one. Raises NotEditable."""
    if not entries:
        return "" if loaded.document is None else loaded.document.text
    if loaded.document is None:
        return "".join(f"{entry}\n" for entry in entries)
    document, place = loaded.document, loaded.place
    lines = document.text.splitlines(keepends=True)
    count = len(loaded.data) if isinstance(loaded.data, list) else 0
    if count:
        first, _ = _lines_of(document, (*place, 0))
        _, last = _lines_of(document, (*place, count - 1))
        dash = lines[first - 1].index("-")
        new = [f"{' ' * dash}{entry}\n" for entry in entries]
        if not lines[last - 1].endswith("\n"):
            lines[last - 1] += "\n"
        text = "".join((*lines[:last], *new, *lines[last:]))
    else:
        text = _fill_empty(document, place, lines, entries)
    return _check_count(document, text, place, count + len(entries))


def _fill_empty(
    document: Document, place: tuple[str | int, ...], lines: list[str], entries: Sequence[str]
) -> str:
    """The text with entries in place of an empty list, or under a key that is added."""
    indent = "  " * len(place)
    new = [f"{indent}{entry}\n" for entry in entries]
    if place and "waivers" not in document.data:
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        return "".join((*lines, "waivers:\n", *new))
    span = document.span(place, key=False)
    line = lines[span.line - 1]
    before, after = line[: span.column - 1].rstrip(), line[span.end_column - 1 :].strip()
    if span.line != span.end_line or line[span.column - 1 : span.end_column - 1] != "[]":
        raise NotEditable("the empty list is not written as `[]`: write it so")
    head = f"{before}{'  ' if before and after else ''}{after}\n" if before or after else ""
    return "".join((*lines[: span.line - 1], head, *new, *lines[span.line :]))


def remove_entries(loaded: LoadedWaivers, indexes: Sequence[int]) -> WaiverChange:
    """The text of the file without some of its entries. Raises NotEditable."""
    document, place = loaded.document, loaded.place
    if document is None or not isinstance(loaded.data, list):
        raise NotEditable("the file has no list of waivers")
    if not indexes:
        return WaiverChange(document.text, ())
    lines = document.text.splitlines(keepends=True)
    removed: dict[int, None] = {}
    entries = []
    for index in indexes:
        first, last = _lines_of(document, (*place, index))
        removed |= dict.fromkeys(range(first, last + 1))
        entries.append("".join(lines[first - 1 : last]).strip())
    kept = [line for number, line in enumerate(lines, 1) if number not in removed]
    left = len(loaded.data) - len(indexes)
    if not left:
        kept.insert(min(removed) - 1, f"{'  ' * len(place)}[]\n")
    return WaiverChange(_check_count(document, "".join(kept), place, left), tuple(entries))


def _lines_of(document: Document, path: tuple[str | int, ...]) -> tuple[int, int]:
    """The first and the last line of an item of a list in block style. Raises NotEditable if
    something else stands on these lines.
    """
    head = document.span(path, key=False)
    lines = document.text.splitlines()
    before = lines[head.line - 1][: head.column - 1]
    first = head.line
    if not before.strip() and first > 1 and lines[first - 2].strip() == "-":
        first, before = first - 1, lines[first - 2]
    if before.strip() != "-":
        raise NotEditable("the list is not in block style: write each waiver after a `- `")
    return first, head.end_line


def _check_count(document: Document, text: str, place: tuple[str | int, ...], count: int) -> str:
    """The text, if it has the expected number of entries. Raises NotEditable."""
    again, problems = source.parse(text, document.path)
    data = None if again is None else again.data
    for step in place:
        data = data.get(step) if isinstance(data, dict) else None
    if problems or not isinstance(data, list) or len(data) != count:
        raise NotEditable("the list is written in an unusual way: edit it by hand")
    return text
