"""Merging: the results of the shards of one run, and their reports."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import reduce
from typing import TypeVar

from faultspec_conformance.results.conclusion import conclude
from faultspec_conformance.results.findings import join_findings, join_texts
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    MapCell,
    Report,
    Result,
    Shard,
)

_Key = TypeVar("_Key")


class Unmergeable(Exception):
    """The reports do not belong to one run; the text says which and why."""


def merge_results(first: Result, second: Result) -> Result:
    """Merge two shards of one run: counts add up, the stronger verdict is kept. `conclude` is left
    to do.
    """
    clauses = dict(first.clauses)
    for address, clause in second.clauses.items():
        known = clauses.get(address)
        clauses[address] = clause if known is None else merge_clauses(known, clause)
    coverage = dict(first.coverage)
    for code, observed in second.coverage.items():
        coverage[code] = merge_coverage(coverage[code], observed) if code in coverage else observed
    return replace(
        first,
        clauses=clauses,
        findings=join_findings([*first.findings, *second.findings]),
        coverage=coverage,
        requests=first.requests + second.requests,
        generated=first.generated + second.generated,
        seconds=first.seconds + second.seconds,
        notes=join_texts(first.notes, second.notes),
        failures=join_texts(first.failures, second.failures),
        not_run=join_texts(first.not_run, second.not_run),
        waivers=add_counts(first.waivers, second.waivers),
        ordinary=first.ordinary + second.ordinary,
        forms=add_counts(first.forms, second.forms),
        errors=None
        if first.errors is None and second.errors is None
        else (first.errors or 0) + (second.errors or 0),
        held=first.held + second.held,
        shards=(*first.shards, *second.shards),
        complete=first.complete and second.complete,
        map=_merge_maps(first.map, second.map),
        sent=(*first.sent, *second.sent),
    )


def merge_clauses(first: ClauseResult, second: ClauseResult) -> ClauseResult:
    """One clause of two shards: counts add up, reasons are joined."""
    return replace(
        first,
        occasions=first.occasions + second.occasions,
        failures=first.failures + second.failures,
        warnings=first.warnings + second.warnings,
        known=first.known + second.known,
        flaky=first.flaky + second.flaky,
        not_run=join_texts(first.not_run, second.not_run),
        not_exercised=join_texts(first.not_exercised, second.not_exercised),
        not_checkable=join_texts(first.not_checkable, second.not_checkable),
        undecided=add_counts(first.undecided, second.undecided),
    )


def merge_coverage(first: Coverage, second: Coverage) -> Coverage:
    """One code of two shards."""
    return replace(
        first,
        count=first.count + second.count,
        statuses=tuple(sorted({*first.statuses, *second.statuses})),
        operations=join_texts(first.operations, second.operations),
        reason=None if first.count or second.count else first.reason or second.reason,
        explained=first.explained or second.explained,
    )


def _merge_maps(first: Iterable[MapCell], second: Iterable[MapCell]) -> tuple[MapCell, ...]:
    """The cells of both, by operation; counts add up."""
    merged: dict[str, dict[str, MapCell]] = {}
    for cell in (*first, *second):
        row = merged.setdefault(cell.operation, {})
        known = row.get(cell.code)
        row[cell.code] = (
            cell
            if known is None
            else replace(
                known,
                count=known.count + cell.count,
                wrong=known.wrong + cell.wrong,
                declared=known.declared or cell.declared,
            )
        )
    return tuple(cell for row in merged.values() for cell in row.values())


def add_counts(first: Mapping[_Key, int], second: Mapping[_Key, int]) -> dict[_Key, int]:
    """The sums of two counts."""
    return {key: first.get(key, 0) + second.get(key, 0) for key in dict.fromkeys((*first, *second))}


def merge_reports(reports: Mapping[str, Report], today: date) -> Report:
    """Merge the reports of the shards of one run, by file name. A missing shard is reported as
    *could not run*.

    Raises Unmergeable if two reports contradict each other.
    """
    (name, first), *others = reports.items()
    for other, report in others:
        difference = find_difference(report, first)
        if difference is not None:
            raise Unmergeable(
                f"{other} is a report {difference[0]}, but {name} is a report {difference[1]}"
            )
    if len(reports) == 1 and not first.result.shards:
        return first
    missing = _find_missing_shards(reports)
    whole = reduce(merge_results, (report.result for report in reports.values()))
    whole = replace(whole, shards=(), not_run=(*whole.not_run, *missing))
    return replace(
        first,
        result=conclude(whole, today, only=first.only),
        interrupted=any(report.interrupted for report in reports.values()),
    )


def find_difference(report: Report, first: Report) -> tuple[str, str] | None:
    """How two reports differ in what shards of one run share, as a phrase for each; None if they
    agree.
    """
    own, other = report.result, first.result
    if (own.part is None) != (other.part is None):
        kinds = ("of a run", "of observed traffic")
        return kinds[own.part is not None], kinds[other.part is not None]
    if own.taxonomy != other.taxonomy:
        return f"by {own.taxonomy}", f"by {other.taxonomy}"
    if own.part is not None and other.part is not None:
        if own.part.subject != other.part.subject:
            words = (part.subject or "recordings" for part in (own.part, other.part))
            return f"of {next(words)}", f"of {next(words)}"
    elif own.target != other.target:
        return f"of {own.target}", f"of {other.target}"
    if report.only != first.only:
        return f"of the clauses {report.only or '*'}", f"of the clauses {first.only or '*'}"
    for name in ("clauses", "coverage"):
        if list(getattr(own, name)) != list(getattr(other, name)):
            kind = "clauses" if name == "clauses" else "codes"
            return f"with other {kind}", "by a taxonomy of the same name and version"
    return None


def _find_missing_shards(reports: Mapping[str, Report]) -> Sequence[str]:
    """A sentence for each shard without a report. Raises Unmergeable for repeated shards and shards
    of other runs.
    """
    found: dict[Shard, str] = {}
    for name, report in reports.items():
        if not report.result.shards:
            raise Unmergeable(f"{name} is the report of a whole run, not of a shard")
        for shard in report.result.shards:
            if shard in found:
                raise Unmergeable(f"{name} and {found[shard]} are both reports of shard {shard}")
            found[shard] = name
    sizes = {shard.of for shard in found}
    if len(sizes) > 1:
        names = ", ".join(f"{name} is {shard}" for shard, name in found.items())
        raise Unmergeable(f"the runs were split into different numbers of shards: {names}")
    size = sizes.pop()
    shards = (Shard(number, size) for number in range(1, size + 1))
    return [f"shard {shard}: its report is missing" for shard in shards if shard not in found]
