"""Reports of the shards of one run, as the report of the whole; and a report compared with an earlier one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import reduce

from faultspec_conformance.results.model import (
    Report,
    ResolvedFinding,
    Result,
    Shard,
    counted,
    merge,
    ranked,
    settled,
)


class Unmergeable(Exception):
    """Reports that are not of one run; the text says which and why."""


def merged(reports: Mapping[str, Report], today: date) -> Report:
    """One report of all, by the names of their files; raises Unlike. A shard that is missing could not run."""
    (name, first), *others = reports.items()
    for other, each in others:
        if each.result.taxonomy != first.result.taxonomy:
            what = f"by {each.result.taxonomy}", f"by {first.result.taxonomy}"
        elif each.result.target != first.result.target:
            what = f"of {each.result.target}", f"of {first.result.target}"
        elif each.only != first.only:
            what = f"of the clauses {each.only or '*'}", f"of {first.only or '*'}"
        elif list(each.result.clauses) != list(first.result.clauses):
            what = "of other clauses", "of its own, by a taxonomy of the same name and version"
        elif list(each.result.coverage) != list(first.result.coverage):
            what = "of other codes", "of its own, by a taxonomy of the same name and version"
        else:
            continue
        raise Unmergeable(f"{other} is a report {what[0]}, and {name} {what[1]}")
    if len(reports) == 1 and not first.result.shards:
        return first
    missing = _missing(reports)
    whole = reduce(merge, (each.result for each in reports.values()))
    result = settled(
        replace(whole, shards=(), not_run=(*whole.not_run, *missing)), today, only=first.only
    )
    return replace(
        first, result=result, interrupted=any(each.interrupted for each in reports.values())
    )


def _missing(reports: Mapping[str, Report]) -> Sequence[str]:
    """The shards that no report is of, as sentences; raises Unlike where two are of one, or of different runs."""
    seen: dict[Shard, str] = {}
    for name, report in reports.items():
        if not report.result.shards:
            raise Unmergeable(f"{name} is the report of a whole run, and no shard of one")
        for shard in report.result.shards:
            if shard in seen:
                raise Unmergeable(f"{name} and {seen[shard]} are both reports of the shard {shard}")
            seen[shard] = name
    sizes = {shard.of for shard in seen}
    if len(sizes) > 1:
        named = ", ".join(f"{name} of {shard}" for shard, name in seen.items())
        raise Unmergeable(f"these are shards of runs that were cut differently: {named}")
    of = sizes.pop()
    return [
        f"the shard {each}: there is no report of it"
        for each in map(Shard, range(1, of + 1), [of] * of)
        if each not in seen
    ]


def compared(result: Result, earlier: Result) -> Result:
    """The result with its failures told apart: those that an earlier report has are known, and only the others fail.

    What the earlier report has and this one has not is fixed, if its clause was exercised; a waiver's findings are the
    waiver's. Warnings fail nothing and are not compared.
    """
    before = {
        each.finding.fingerprint: each.finding for each in earlier.findings if each.level == "error"
    }
    clauses = dict(result.clauses)
    findings = []
    for each in result.findings:
        if each.level == "error" and each.waived is None:
            told = replace(each, baseline="known" if each.finding.fingerprint in before else "new")
            clause = clauses[each.finding.clause]
            clauses[clause.address] = counted(counted(clause, each, -1), told)
            each = told
        findings.append(each)
    now = {each.finding.fingerprint for each in result.findings}
    fixed = tuple(
        ResolvedFinding(fingerprint, finding.clause, finding.operation, finding.code)
        for fingerprint, finding in before.items()
        if fingerprint not in now
        and finding.clause in clauses
        and clauses[finding.clause].occasions
    )
    return replace(result, clauses=clauses, findings=ranked(findings), fixed=fixed)
