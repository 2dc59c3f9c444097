"""Decisions that take the result of a whole run: waivers, and clauses of form that most answers
break.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date

from faultspec_conformance.results.findings import (
    count_finding,
    join_findings,
    join_texts,
    sort_findings,
)
from faultspec_conformance.results.model import ReportedFinding, Result
from faultspec_conformance.results.waivers import Waiver, expired_waivers, unused_waivers

#: A run that holds fewer than one of this many error answers to an envelope or a code has judged
#: too little to pass. A service has a few paths of other systems, such as a gateway.
_FEW = 10


def conclude(result: Result, today: date, *, only: str | None = None) -> Result:
    """Decide what only the whole run can decide. ``only``: the pattern of clauses that the run was
    limited to.

    - A form that most ordinary errors break is one mistake. Its own clause reports it; findings
      that depend on it are dropped, and leave their clauses undecided.
    - An expired waiver that covers a finding fails the run. So does an unused waiver whose clause
      was exercised, if the run was complete and covered every clause.
    - A code that has a recipe and was not observed gets that as its reason.
    - A complete selection of clauses that judged hardly any error answer *could not run*.
    """
    everywhere = {clause for clause, times in result.forms.items() if 2 * times > result.ordinary}
    dropped = [finding for finding in result.findings if finding.form in everywhere]
    clauses = dict(result.clauses)
    for finding in dropped:
        clause = clauses[finding.finding.clause]
        reason = f"the answer does not have the form of errors, which `{finding.form}` reports"
        times = clause.undecided.get(reason, 0) + finding.count
        clauses[clause.address] = replace(
            count_finding(clause, finding, -1),
            occasions=clause.occasions - finding.count,
            undecided={**clause.undecided, reason: times},
        )
    used = _count_uses_without(result, dropped)
    failures = [*expired_waivers(used, today)]
    if result.complete and only is None:
        exercised = {address for address, clause in clauses.items() if clause.occasions}
        failures += unused_waivers(used, exercised)
    coverage = {
        code: known
        if known.observed or known.reason
        else replace(known, reason="its recipe did not bring it about")
        for code, known in result.coverage.items()
    }
    kept = (
        replace(finding, form=None) for finding in result.findings if finding.form not in everywhere
    )
    return replace(
        result,
        clauses=clauses,
        findings=sort_findings(join_findings(kept)),
        coverage=coverage,
        failures=join_texts(result.failures, failures),
        not_run=join_texts(result.not_run, _judged_too_little(result) if only is None else ()),
        waivers=used,
        ordinary=0,
        forms={},
    )


def _judged_too_little(result: Result) -> Iterator[str]:
    """Yield a sentence if hardly any error answer was held to an envelope or a code."""
    if result.errors == 0:
        yield (
            "none of the answers was an error, so no error was judged; add credentials, "
            "`limits: {writes: true}` or recipes under `provoke`"
        )
    elif result.errors is not None and _FEW * result.held < result.errors:
        yield (
            f"only {result.held} of {result.errors} error answers could be held to an envelope or "
            "a code; declare the `envelope` of the surfaces that have `envelope: none` or claim "
            "no answer"
        )


def fail_expired_waivers(result: Result, today: date) -> Result:
    """Add the failures that a single shard can decide: expired waivers, if no other shard can drop
    their findings.
    """
    used = _count_uses_without(
        result, [finding for finding in result.findings if finding.form is not None]
    )
    return replace(result, failures=join_texts(result.failures, expired_waivers(used, today)))


def _count_uses_without(result: Result, dropped: Iterable[ReportedFinding]) -> dict[Waiver, int]:
    """How many findings each waiver covers, without the dropped ones."""
    used = dict(result.waivers)
    for finding in dropped:
        for waiver in used:
            if finding.waived == waiver.reason and waiver.covers(finding.finding):
                used[waiver] -= finding.count
    return used
