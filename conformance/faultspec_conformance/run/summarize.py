"""What a run has seen, folded into a `Result`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from faultspec.contract.clauses import Clause
from faultspec.exchange.finding import Finding
from faultspec_conformance.results.findings import count_finding, join_findings, sort_findings
from faultspec_conformance.results.model import ClauseResult, Coverage, ReportedFinding, Result
from faultspec_conformance.results.waivers import Waiver, apply_waivers, unknown_clauses
from faultspec_conformance.sanitize.masking import Masking, build_masking
from faultspec_conformance.sanitize.traffic_secrets import mask_answered
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.options import RunOptions

Place = tuple[str, str | None]
"""What is compared when the same is asked again: a clause and an operation."""


def place(finding: Finding) -> Place:
    """Where a finding was made."""
    return finding.clause, finding.operation


def summarize(
    world: Session,
    known: Mapping[str, Clause],
    options: RunOptions,
    flaky: frozenset[Place],
) -> Result:
    """Everything that was seen as one value that merges, neither masked nor `settled` yet."""
    findings: list[tuple[Finding, str | None]] = []
    occasions: Counter[str] = Counter()
    if world.exchanges:
        occasions["service/alive"] += 1
    for sent in world.exchanges:
        occasions.update(sent.judgement.exercised)
        findings += ((finding, None) for finding in sent.judgement.findings)
    reasons: dict[str, dict[str, dict[str, None]]] = {}
    for outcome in world.outcomes:
        if outcome.kind in ("held", "broken"):
            occasions[outcome.clause] += 1
        if outcome.finding is not None:
            findings.append((with_statements(outcome.finding, known), outcome.form))
        if outcome.reason:
            reasons.setdefault(outcome.clause, {}).setdefault(outcome.kind, {})[outcome.reason] = (
                None
            )
    results: dict[str, ClauseResult] = {}
    for address, clause in known.items():
        if options.only is not None and not fnmatchcase(address, options.only):
            continue
        why = reasons.get(address, {})
        unspoken = clause.not_applicable(world.taxonomy, world.target.transport)
        unreached = (world.ended,) if world.ended is not None and unspoken is None else ()
        results[address] = ClauseResult(
            address=address,
            title=clause.title,
            statements=clause.statements,
            occasions=occasions[address],
            not_run=tuple(dict.fromkeys((*why.get("could_not_run", ()), *unreached))),
            not_exercised=tuple(why.get("not_exercised", ())),
            not_checkable=(*why.get("not_checkable", ()), *((unspoken,) if unspoken else ())),
            idle=f"nothing gave occasion: {clause.occasion}",
        )
    if options.only is None:
        for name, obligation in world.taxonomy.obligations.items():
            address = f"obligations/{name}"
            results[address] = ClauseResult(
                address,
                obligation.text,
                obligation.source.statements,
                not_checkable=(obligation.reason,),
            )
    used: Counter[Waiver] = Counter()
    kept = [
        ReportedFinding(
            each,
            waived=apply_waivers(each, options.waivers, used),
            flaky=place(each) in flaky,
            form=form,
        )
        for each, form in findings
        if each.clause in results
    ]
    for each in kept:
        results[each.finding.clause] = count_finding(results[each.finding.clause], each)
    ordinary, forms = formed(world, first=options.shard is None or options.shard.number == 1)
    whole = options.only is None
    return Result(
        target=world.target.address,
        taxonomy=f"{world.taxonomy.name} {world.taxonomy.version}",
        clauses=results,
        findings=sort_findings(join_findings(kept)),
        coverage=covered(world),
        requests=world.driver.requests,
        seconds=world.driver.elapsed,
        notes=tuple(dict.fromkeys(world.notes)),
        failures=tuple(unknown_clauses(options.waivers, known)) if whole else (),
        not_run=tuple(dict.fromkeys(world.not_run)),
        waivers={waiver: used[waiver] for waiver in options.waivers},
        ordinary=ordinary,
        forms=forms,
        shards=() if options.shard is None else (options.shard,),
        complete=not world.cut and world.ended is None,
    )


def with_statements(finding: Finding, known: Mapping[str, Clause]) -> Finding:
    """The finding of a relation, with the statements of its clause."""
    clause = known.get(finding.clause)
    return (
        finding
        if finding.statements or clause is None
        else replace(finding, statements=clause.statements)
    )


def formed(world: Session, *, first: bool) -> tuple[int, Mapping[str, int]]:
    """How many errors there were, those apart that a probe of the framework asked for; and how many break each clause.

    ``first``: this is the shard that counts what every shard has.
    """
    apart = {
        id(each)
        for outcome in world.outcomes
        if outcome.form and outcome.finding
        for each in outcome.finding.evidence
    }
    apart |= set() if first else {id(each.exchange) for each in world.repeated}
    ordinary = [
        sent
        for sent in world.exchanges
        if sent.judgement.is_error and id(sent.exchange) not in apart
    ]
    broken = Counter(
        clause
        for sent in ordinary
        for clause in {
            finding.clause for finding in sent.judgement.findings if finding.level == "error"
        }
    )
    return len(ordinary), broken


def covered(world: Session) -> dict[str, Coverage]:
    """What was seen of every code, in order of declaration."""
    statuses: dict[str, set[int]] = {}
    operations: dict[str, dict[str, None]] = {}
    counts: Counter[str] = Counter()
    for sent in world.exchanges:
        if sent.code is None:
            continue
        counts[sent.code] += 1
        if sent.exchange.response.status is not None:
            statuses.setdefault(sent.code, set()).add(sent.exchange.response.status)
        if sent.exchange.operation is not None:
            operations.setdefault(sent.code, {})[sent.exchange.operation] = None
    declared = {
        recipe.code: recipe.not_provokable
        for recipe in world.target.recipes
        if recipe.not_provokable
    }
    tried = {recipe.code for recipe in world.target.recipes if recipe.steps}
    found: dict[str, Coverage] = {}
    for code in world.taxonomy.live_codes():
        reason = declared.get(code.name)
        if world.target.transport == "http" and not code.http.carried:
            reason = code.http.reason or "the code never travels on HTTP"
        explained = reason is not None
        if reason is None and code.name in tried:
            reason = world.unmet.get(code.name) or world.ended
        elif reason is None:
            reason = "nothing general brings it about, and `provoke` has no recipe for it"
            if not world.writable:
                reason += " (and nothing may be written)"
        found[code.name] = Coverage(
            code=code.name,
            count=counts[code.name],
            statuses=tuple(sorted(statuses.get(code.name, ()))),
            operations=tuple(operations.get(code.name, ())),
            reason=None if counts[code.name] else reason,
            explained=explained,
        )
    return found


def provokable(world: Session) -> Iterator[str]:
    """The codes that were seen although the file declares that they can't be brought about."""
    seen = {sent.code for sent in world.exchanges}
    for recipe in world.target.recipes:
        if recipe.not_provokable is not None and recipe.code in seen:
            yield f"{recipe.code} is declared not_provokable ({recipe.not_provokable}), and was observed"


def shown(hidden: Masking, result: Result) -> Result:
    """The result as it may be shown: without the secrets of the run, and without those that the service gave away."""
    findings = tuple(
        (hidden | mask_answered(finding.finding.evidence)).reported(finding)
        for finding in result.findings
    )
    return replace(hidden.result(replace(result, findings=())), findings=findings)


def hiding(world: Session) -> Masking:
    """What must not be shown of a run: credentials, what came from the environment, what was planted."""
    planted = (
        (each.value, _STANDS_FOR[each.kind]) for each in world.planted if each.kind in _STANDS_FOR
    )
    return build_masking(world.target.identities.values(), [*world.target.secrets, *planted])


#: What is shown in place of a canary. That of a plain one has its form, so that a command line asks for the same again; the
#: id that names nothing is shown, since another one might be refused for its form.
_STANDS_FOR: Mapping[str, str] = {
    "secret": "CANARY-secret",
    "email": "CANARY-email",
    "address": f"faultspec-{'x' * 12}",
    "value": f"faultspec-{'x' * 12}",
}
