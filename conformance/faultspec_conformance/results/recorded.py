"""Results of recorded traffic, which add up: those of any parts of it are that of the whole.

A `Part` has what a result leaves out to be readable: raw counts behind its notes and reasons. What
is kept of many is chosen by its own order, not by what came first, so that the order and the sizes
of the parts do not matter to the counts.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date

from faultspec.exchange.finding import Finding
from faultspec_conformance.results.activity import add_activity
from faultspec_conformance.results.conclusion import conclude
from faultspec_conformance.results.findings import (
    EXAMPLES,
    PLACES,
    RANKS,
    cause_of,
    example_key,
    join_texts,
    severity,
    size_of,
    sort_findings,
)
from faultspec_conformance.results.merge import (
    Unmergeable,
    add_counts,
    find_difference,
    merge_clauses,
    merge_coverage,
)
from faultspec_conformance.results.model import ClauseResult, Report, ReportedFinding, Result
from faultspec_conformance.results.part import Facts, FileCount, Needs, Part, Skips
from faultspec_conformance.results.sampling import largest_share, percent

MOST_FINDINGS = 2_000
"""Distinct findings that are kept. Nobody reads more, and a recording can contain any number."""

#: Reasons of skipping that are listed one by one, and those of one file that are kept.
_SKIPPED, _REASONS = 20, 64

#: Hosts that are counted one by one.
_HOSTS = 1_000

#: The clause that compares all answers with each other.
_UNIQUE = "correlation/unique"

#: Recordings that the title of a report names.
_NAMED = 3

#: Facts that a recording may leave out, in words. Other facts are called by their name.
_FACTS: Mapping[str, str] = {
    "request": "the request",
    "operation": "the operation",
    "headers": "the header fields",
    "header-values": "the header fields",
    "body": "the body",
    "shape": "the body",
    "code": "the code",
    "flag": "the retriable flag",
    "boundary": "the boundary",
    "details": "the details",
    "detail-values": "the details",
    "ids": "the ids",
    "message": "the message",
    "identity": "the caller",
    "elapsed": "the duration",
}


def add_parts(first: Result, second: Result) -> Result:
    """The result of two parts, the first before the second. `describe_part` is left to do.

    Both have a part, and are by one taxonomy.
    """
    assert first.part is not None  # as the docstring says
    assert second.part is not None
    findings, unlisted = _join(first.findings, second.findings)
    part = _add_counts_of(first.part, second.part)
    clauses = {
        address: merge_clauses(clause, second.clauses[address])
        for address, clause in first.clauses.items()
    }
    return replace(
        first,
        clauses=clauses,
        findings=findings,
        coverage={
            code: merge_coverage(known, second.coverage[code])
            for code, known in first.coverage.items()
        },
        requests=first.requests + second.requests,
        seconds=first.seconds + second.seconds,
        waivers=add_counts(first.waivers, second.waivers),
        errors=(first.errors or 0) + (second.errors or 0) or None,
        held=first.held + second.held,
        part=replace(part, unlisted=add_counts(part.unlisted, unlisted)),
    )


def fold_reports(reports: Iterable[tuple[str, Report]], today: date) -> Report:
    """The report of several parts, in order: that of one run over all of them. Each is named, and
    held only while it is added. Waivers are judged again; a baseline and a required coverage are
    not parts of it.

    Raises Unmergeable if two contradict each other, or if one was compared with a baseline.
    """
    whole: Report | None = None
    first = ""
    for name, report in reports:
        if report.result.fixed is not None:
            raise Unmergeable(
                f"{name} was compared with a baseline; give `--baseline` to `report merge` alone"
            )
        if whole is None:
            whole, first = report, name
            continue
        difference = find_difference(report, whole)
        if difference is not None:
            raise Unmergeable(
                f"{name} is a report {difference[0]}, but {first} is a report {difference[1]}"
            )
        whole = replace(
            whole,
            result=add_parts(whole.result, report.result),
            interrupted=whole.interrupted or report.interrupted,
        )
    assert whole is not None  # the command line names one
    return replace(whole, result=conclude(describe_part(whole.result), today, only=whole.only))


def _add_counts_of(first: Part, second: Part) -> Part:
    files = dict(first.files)
    for name, count in second.files.items():
        known = files.get(name, FileCount())
        files[name] = FileCount(known.records + count.records, known.unreadable + count.unreadable)
    hosts = None
    if first.hosts is not None and second.hosts is not None:
        hosts = limit_hosts(add_counts(first.hosts, second.hosts))
    return replace(
        first,
        files=files,
        lacking=dict(sorted(add_counts(first.lacking, second.lacking).items())),
        unread=first.unread + second.unread,
        unlisted=add_counts(first.unlisted, second.unlisted),
        skipped=SkipCounts((*first.skipped, *second.skipped)).all(),
        hosts=hosts,
        forgot=first.forgot or second.forgot,
        left_out=first.left_out + second.left_out,
        share=_common_share(first, second),
        activity=add_activity(first.activity, second.activity),
        notes=join_texts(first.notes, second.notes),
        not_run=join_texts(first.not_run, second.not_run),
    )


def _common_share(first: Part, second: Part) -> float | None:
    """The share of the records that the samples of two parts have; None if they differ. A part
    without records has no sample.
    """
    for one, other in ((first, second), (second, first)):
        if not one.left_out and not sum(count.records for count in one.files.values()):
            return other.share
    return first.share if first.share == second.share else None


def limit_hosts(hosts: dict[str, int]) -> dict[str, int] | None:
    """Counts of hosts; None if they are more than are counted one by one."""
    return hosts if len(hosts) <= _HOSTS else None


class SkipCounts:
    """Skipped records by file and reason. Rare reasons of a file with very many become one."""

    def __init__(self, skips: Iterable[Skips] = ()) -> None:
        self._kept: dict[tuple[str, str], Skips] = {}
        self._reasons: Counter[str] = Counter()
        for each in skips:
            self.add(each)

    def add(self, new: Skips) -> None:
        """Add skipped records."""
        key = (new.file, new.reason)
        if key not in self._kept and self._reasons[new.file] >= _REASONS:
            key = (new.file, "")
        known = self._kept.get(key)
        if known is None:
            self._reasons[new.file] += 1
            self._kept[key] = replace(new, reason=key[1])
        else:
            self._kept[key] = replace(known, count=known.count + new.count)

    def all(self) -> tuple[Skips, ...]:
        """All of them, in the order of their first records."""
        return tuple(self._kept.values())


def digest_cause(reported: ReportedFinding) -> str:
    """The name of a cause: equal for findings that are joined, whatever excuses them."""
    plain = replace(reported, waived=None, flaky=False, baseline=None, cause="")
    text = repr(cause_of(plain)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(text).hexdigest()[:24]


def rank(reported: ReportedFinding) -> tuple[int, int, str, str]:
    """Which of too many findings are kept: the worst, then by the names of their causes."""
    excuse = reported.waived or ""
    clause = reported.finding.clause
    return RANKS[reported.standing], severity(clause), reported.cause, excuse


def join_recorded(first: ReportedFinding, second: ReportedFinding) -> ReportedFinding:
    """Two reports of one cause, the first of which came earlier: the smallest example is shown."""
    examples: dict[str, Finding] = {}
    for each in (*first.examples, *second.examples):
        examples.setdefault(repr(example_key(each)), each)
    by_operation: dict[str | None, int] = {}
    chosen = []
    for key in sorted(examples):
        operation = examples[key].operation
        by_operation[operation] = by_operation.get(operation, 0) + 1
        if by_operation[operation] <= EXAMPLES:
            chosen.append(examples[key])
    shown = min(chosen, key=size_of)  # of equal ones the first by its key
    places = sort_places((*first.places, *second.places))
    return replace(
        first,
        finding=shown,
        examples=(shown, *(one for one in chosen if one is not shown)),
        count=first.count + second.count,
        places=places[:PLACES],
        last=next(reversed(sort_places(filter(None, (first.last, second.last)))), None),
        first_seen=min(filter(None, (first.first_seen, second.first_seen)), default=None),
        last_seen=max(filter(None, (first.last_seen, second.last_seen)), default=None),
        operations=join_texts(first.operations, second.operations),
    )


def sort_places(places: Iterable[str]) -> tuple[str, ...]:
    """Places, each once: files in the order in which they come, and lines of one by number."""
    found = dict.fromkeys(places)
    files: dict[str, int] = {}
    for place in found:
        files.setdefault(place.rpartition(":")[0], len(files))

    def key(place: str) -> tuple[int, int]:
        file, _, line = place.rpartition(":")
        return files[file], int(line) if line.isascii() and line.isdigit() else 0

    return tuple(sorted(found, key=key))


def _join(
    first: Iterable[ReportedFinding], second: Iterable[ReportedFinding]
) -> tuple[tuple[ReportedFinding, ...], dict[str, int]]:
    """The findings of both, and of those beyond the limit the number by clause."""
    kept: dict[tuple[str, str | None], ReportedFinding] = {}
    for each in (*first, *second):
        key = (each.cause, each.waived)
        known = kept.get(key)
        kept[key] = each if known is None else join_recorded(known, each)
    ranked = sorted(kept.values(), key=rank)
    unlisted: dict[str, int] = {}
    for each in ranked[MOST_FINDINGS:]:
        clause = each.finding.clause
        unlisted[clause] = unlisted.get(clause, 0) + each.count
    return tuple(ranked[:MOST_FINDINGS]), unlisted


def describe_part(result: Result) -> Result:
    """The result of a part in words: its title, its notes, and why clauses were not exercised."""
    part = result.part
    assert part is not None  # the caller has observed traffic
    clauses = {
        address: _explain(clause, part.needs[address], part) if address in part.needs else clause
        for address, clause in result.clauses.items()
    }
    unique = clauses.get(_UNIQUE)
    if part.left_out and unique is not None and not unique.failures:
        reason = "a sample seldom has two answers that share an id"
        clauses[_UNIQUE] = replace(unique, occasions=0, not_exercised=(reason,))
    return replace(
        result,
        target=part.subject or _title(part),
        clauses=clauses,
        findings=sort_findings(
            replace(each, operations=tuple(sorted(each.operations)))
            for each in sorted(result.findings, key=rank)
        ),
        notes=tuple(_notes(part, result.requests)),
        not_run=(*part.not_run, *_describe_unreadable(part), *_describe_unread(part)),
        failures=(),
    )


def _title(part: Part) -> str:
    names = [*part.files]
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} recordings"


def _explain(clause: ClauseResult, needs: Needs, part: Part) -> ClauseResult:
    """The clause with the reason why it was not exercised, unless it was."""
    if clause.occasions or clause.failures:
        return replace(clause, not_exercised=())
    reason = _explain_missing_facts(needs, part.lacking) or (
        f"no observed exchange allowed the suite to check it; needed: {needs.occasion}"
    )
    return replace(clause, not_exercised=(reason,))


def _explain_missing_facts(needs: Needs, lacking: Mapping[Facts, int]) -> str | None:
    """The parts of an exchange that the clause needs and all records of errors lack; None if one is
    complete enough.
    """
    found = [facts for facts, times in lacking.items() if times]
    if not found or any(not {*needs.facts} & {*facts} for facts in found):
        return None
    facts = sorted({fact for each in found for fact in each} & {*needs.facts})
    words = dict.fromkeys(_FACTS.get(fact, f"the {fact}") for fact in facts if "/" not in fact)
    count = sum(lacking.values())
    records = f"the records of {count} observed errors leave out"
    if count == 1:
        records = "the record of the one observed error leaves out"
    missing = " and ".join(words) or "the value it takes"
    return f"{records} {missing}; needed: {needs.occasion}"


def _describe_unreadable(part: Part) -> Iterator[str]:
    """The recordings of which most records could not be read, though their ends could."""
    for name, count in part.files.items():
        is_cut = any(reason.startswith(f"{name}:") for reason in part.not_run)
        if 2 * count.unreadable > count.records and not is_cut:
            if count.unreadable == count.records:
                yield f"{name}: none of its {count.records} records could be read"
                continue
            yield (
                f"{name}: {count.unreadable} of its {count.records} records could not be read; "
                "the rest was judged"
            )


def _describe_unread(part: Part) -> Iterator[str]:
    """That errors were not judged by their bodies, though these came: a service must not pass with
    errors that nobody can read. The reasons may quote the service, and are left out.
    """
    if part.unread:
        errors = f"{part.unread} errors are not judged by their bodies, which are"
        if part.unread == 1:
            errors = "1 error is not judged by its body, which is"
        yield f"{errors} longer than errors are, came with too many others, or cannot be decoded"


def _notes(part: Part, judged: int) -> Iterator[str]:
    if part.left_out and part.share is None:
        yield (
            f"samples of different shares, {judged:,} of {judged + part.left_out:,} records: they "
            "do not say how many of all may break what none of them breaks"
        )
    elif part.left_out:
        yield (
            f"a sample of {judged:,} of {judged + part.left_out:,} records: what none of them "
            f"breaks, at most {percent(largest_share(judged))} of all break (with 95 % confidence)"
        )
    yield from part.notes
    if part.hosts is None:
        yield (
            f"answers of more than {_HOSTS:,} hosts were judged by one taxonomy; "
            "`faultspec audit --base URL` keeps one host"
        )
    elif len(part.hosts) > 1:
        ranked = sorted(part.hosts.items(), key=lambda host: (-host[1], host[0]))
        most = ", ".join(f"{host} ({count})" for host, count in ranked[:4])
        yield (
            f"answers of {len(part.hosts)} hosts were judged by one taxonomy: {most}; "
            "`faultspec audit --base URL` keeps one host"
        )
    for each in part.skipped[:_SKIPPED]:
        where = each.first
        if each.count > 1:
            where = f"{each.count} records of {each.file}, the first at {each.first}"
        yield f"skipped {where}: {each.reason or 'other reasons'}"
    rest = part.skipped[_SKIPPED:]
    if rest:
        files = len({each.file for each in rest})
        count = sum(each.count for each in rest)
        yield f"skipped {count} more records of {files} recordings, the first at {rest[0].first}"
    for clause, count in sorted(part.unlisted.items()):
        yield f"{count} more findings of {clause} are not listed"
    if part.forgot is not None:
        yield (
            f"correlation/unique: each id was compared with the last {part.forgot:,} different "
            "ones of its recording or test, not with all"
        )
