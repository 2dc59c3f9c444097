"""The observations of a run as a `Result`."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date

from faultspec.contract import crashes
from faultspec.contract.clauses import Clause, is_chosen
from faultspec.exchange.finding import Finding, Judgement
from faultspec.exchange.sensitive import SensitivePlaces
from faultspec.judge.renderings import find_renderings
from faultspec_conformance.drivers import LoggedRequest
from faultspec_conformance.results.code_coverage import coverable_codes, covered_code
from faultspec_conformance.results.findings import count_finding, join_findings, sort_findings
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    Outcome,
    ReportedFinding,
    Result,
    SentRequest,
)
from faultspec_conformance.results.waivers import Waiver, apply_waivers, unknown_clauses
from faultspec_conformance.run.operation_map import operation_map
from faultspec_conformance.sanitize.effort import Effort
from faultspec_conformance.sanitize.masking import Masking, build_masking
from faultspec_conformance.sanitize.traffic_secrets import mask_answered
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.observation import ENVELOPE, Observation
from faultspec_conformance.session.observations import Note, Observations
from faultspec_conformance.session.options import RunOptions, day_of_run

#: The clauses that hold an error to its envelope or its code.
_HELD = frozenset({"envelope/json", "envelope/shape", "code/declared", "code/reserved"})

#: The clause about answers that cannot have a body.
_BODILESS = frozenset({"http/head-body"})

#: What a record leaves out if its body cannot be judged.
_UNREADABLE = frozenset({"body", "shape", "code"})

#: Seconds of processor time for the masking of a report, after the time of the run. A service that
#: echoes thousands of secrets could take minutes. A run that ends early may take more of its own
#: time: a slow machine hides nothing.
_MASKING, _SPARE = 0.8, 10.0

#: Seconds of the clock that one of the processor may take on a busy machine.
_OF_CLOCK = 3

#: What is compared when the same is asked again: a clause and an operation.
Place = tuple[str, str | None]


def place(finding: Finding) -> Place:
    """Return where a finding was made."""
    return finding.clause, finding.operation


def summarize(
    session: Session,
    known: Mapping[str, Clause],
    options: RunOptions,
    flaky: frozenset[Place],
) -> Result:
    """Return the result of a run: a value that merges, neither masked nor settled yet.

    ``known``: the clauses that the run could check. ``flaky``: where failures did not happen again.
    """
    observations = session.observations
    whole = options.only is None
    clauses = {
        address: clause for address, clause in known.items() if is_chosen(address, options.only)
    }
    forms_reported = _reported_forms(observations, clauses)
    crashed = _find_crashes(observations, clauses)
    results = _clause_results(session, clauses, forms_reported, crashed)
    if whole:
        results |= _obligations(session)
    used: Counter[Waiver] = Counter()
    reported = [
        ReportedFinding(
            finding,
            waived=apply_waivers(finding, options.waivers, used),
            flaky=place(finding) in flaky,
            form=form,
        )
        for finding, form in _findings(
            observations, results, known, forms_reported=forms_reported, crashed=crashed
        )
    ]
    for finding in reported:
        address = finding.finding.clause
        results[address] = count_finding(results[address], finding)
    first_shard = options.shard is None or options.shard.number == 1
    ordinary, forms = _errors(observations, count_shared=first_shard)
    errors, held = count_judged(observations.exchanges)
    return Result(
        target=session.config.address,
        taxonomy=f"{session.taxonomy.name} {session.taxonomy.version}",
        clauses=results,
        findings=sort_findings(join_findings(reported)),
        coverage=coverage(session, day_of_run(options)),
        requests=session.driver.requests,
        seconds=session.driver.elapsed,
        notes=tuple(dict.fromkeys(observations.notes)),
        failures=tuple(unknown_clauses(options.waivers, known)) if whole else (),
        not_run=tuple(dict.fromkeys(observations.not_run)),
        waivers={waiver: used[waiver] for waiver in options.waivers},
        ordinary=ordinary,
        forms=forms,
        map=operation_map(session, reported),
        sent=tuple(map(_sent_request, session.driver.log)),
        errors=errors,
        held=held,
        shards=() if options.shard is None else (options.shard,),
        complete=observations.complete and observations.ended is None,
    )


def _sent_request(entry: LoggedRequest) -> SentRequest:
    return SentRequest(
        part=entry.part,
        purpose=entry.purpose,
        operation=entry.operation,
        target=entry.target,
        status=entry.status,
        code=entry.code,
        judged=len(entry.exercised),
        decided=tuple(entry.decided),
    )


def _clause_results(
    session: Session,
    clauses: Mapping[str, Clause],
    reported: frozenset[int],
    crashed: frozenset[int],
) -> dict[str, ClauseResult]:
    """Return the result of each clause before its findings are counted.

    ``reported``: see `_reported_forms`. ``crashed``: see `_find_crashes`.
    """
    observations = session.observations
    occasions: Counter[str] = Counter()
    reasons: dict[str, dict[str, dict[str, None]]] = {}
    undecided: dict[str, Counter[str]] = {}
    for observation in observations.exchanges:
        judgement = _without_consequences(observation, crashed)
        occasions.update(judgement.exercised - _repeated_clauses(observation, reported))
        for address, reason in judgement.undecided.items():
            undecided.setdefault(address, Counter())[reason] += 1
    if observations.exchanges:
        occasions["service/alive"] += 1
    for outcome in observations.outcomes:
        if _is_explained(outcome, crashed):
            undecided.setdefault(outcome.clause, Counter())[crashes.EXPLAINED] += 1
            continue
        if outcome.is_decided:
            occasions[outcome.clause] += 1
        if outcome.kind == "undecided":
            undecided.setdefault(outcome.clause, Counter())[outcome.reason] += 1
        elif outcome.reason:
            by_kind = reasons.setdefault(outcome.clause, {})
            by_kind.setdefault(outcome.kind, {})[outcome.reason] = None
    results: dict[str, ClauseResult] = {}
    for address, clause in clauses.items():
        result = ClauseResult(address, clause.title, clause.statements)
        why = clause.reason_not_applicable(session.taxonomy, session.config.transport)
        if why is not None:
            results[address] = replace(result, not_checkable=(why,))
            continue
        by_kind = reasons.get(address, {})
        unreached = () if observations.ended is None else (observations.ended,)
        results[address] = replace(
            result,
            occasions=occasions[address],
            not_run=tuple(dict.fromkeys((*by_kind.get("could_not_run", ()), *unreached))),
            not_exercised=tuple(by_kind.get("not_exercised", ())),
            not_checkable=tuple(by_kind.get("not_checkable", ())),
            undecided=dict(undecided.get(address, {})),
            idle=f"no exchange allowed the suite to check it; needed: {clause.occasion}",
        )
    return results


def _obligations(session: Session) -> Iterator[tuple[str, ClauseResult]]:
    """Yield the obligations of the taxonomy, which no exchange can check."""
    for name, obligation in session.taxonomy.obligations.items():
        address = f"obligations/{name}"
        yield (
            address,
            ClauseResult(
                address,
                obligation.text,
                obligation.source.statements,
                not_checkable=(obligation.reason,),
            ),
        )


def _findings(
    observations: Observations,
    wanted: Container[str],
    known: Mapping[str, Clause],
    *,
    forms_reported: frozenset[int],
    crashed: frozenset[int],
) -> Iterator[tuple[Finding, str | None]]:
    """Yield the findings of the ``wanted`` clauses, each with the clause of form that alone makes
    it one, if any.
    """
    for observation in observations.exchanges:
        again = _repeated_clauses(observation, forms_reported)
        for finding in _without_consequences(observation, crashed).findings:
            if finding.clause in wanted and finding.clause not in again:
                yield finding, None
    for outcome in observations.outcomes:
        explained = _is_explained(outcome, crashed)
        if outcome.finding is not None and outcome.clause in wanted and not explained:
            yield with_statements(outcome.finding, known), outcome.form


def _find_crashes(observations: Observations, wanted: Container[str]) -> frozenset[int]:
    """The identities of exchanges whose answer is a crash; empty if crashes are not reported."""
    return frozenset(
        id(observation.exchange)
        for observation in observations.exchanges
        if crashes.CLAUSE in wanted and crashes.is_crash(observation.judgement)
    )


def _without_consequences(observation: Observation, crashed: frozenset[int]) -> Judgement:
    """The judgement; of a crash without the findings that the crash explains."""
    if id(observation.exchange) not in crashed:
        return observation.judgement
    return crashes.without_consequences(observation.judgement)


def _is_explained(outcome: Outcome, crashed: frozenset[int]) -> bool:
    """Whether a probe failed only because the answer that it blames is a crash."""
    finding = outcome.finding
    if finding is None or not finding.evidence or not crashes.explains(outcome.clause):
        return False
    return id(finding.evidence[-1]) in crashed


def _reported_forms(observations: Observations, wanted: Container[str]) -> frozenset[int]:
    """The identities of exchanges that a probe reports because of the form of the answer."""
    return frozenset(
        id(outcome.finding.evidence[-1])
        for outcome in observations.outcomes
        if outcome.form is not None and outcome.finding is not None and outcome.clause in wanted
    )


def _repeated_clauses(observation: Observation, reported: frozenset[int]) -> frozenset[str]:
    """The clauses of form that would report an answer again which a probe reports: it is one
    mistake.
    """
    if id(observation.exchange) not in reported:
        return frozenset()
    return ENVELOPE & {finding.clause for finding in observation.judgement.findings}


def with_statements(finding: Finding, known: Mapping[str, Clause]) -> Finding:
    """Return the finding of a relation with the origin of its clause."""
    clause = known.get(finding.clause)
    return finding if clause is None else clause.attach_source(finding)


def _errors(observations: Observations, *, count_shared: bool) -> tuple[int, Mapping[str, int]]:
    """Return how many ordinary errors were observed, and how many of them break each clause.

    Errors that a probe provokes from the framework are not ordinary. ``count_shared``: count the
    parts that all shards have; one shard does.
    """
    apart = {
        id(exchange)
        for outcome in observations.outcomes
        if outcome.form and outcome.finding
        for exchange in outcome.finding.evidence
    }
    ordinary = [
        observation
        for part in observations.parts
        if count_shared or not part.shared
        for observation in part.exchanges
        if observation.judgement.is_error and id(observation.exchange) not in apart
    ]
    broken = Counter(
        clause
        for observation in ordinary
        for clause in {
            finding.clause for finding in observation.judgement.findings if finding.level == "error"
        }
    )
    return len(ordinary), broken


def count_judged(observations: Iterable[Observation]) -> tuple[int, int]:
    """Return the number of error answers, and how many of them were held to an envelope or a code.

    Answers that cannot have a body, and records without one, do not count.
    """
    errors = held = 0
    for observation in observations:
        judgement = observation.judgement
        lacks = observation.exchange.lacks
        if not judgement.is_error or (judgement.exercised | lacks) & _BODILESS:
            continue
        if lacks & _UNREADABLE:
            continue
        errors += 1
        unclaimed = any(finding.clause == "surface/known" for finding in judgement.findings)
        held += unclaimed or not _HELD.isdisjoint(judgement.exercised)
    return errors, held


def _observed_codes(session: Session, observation: Observation) -> tuple[str, ...]:
    """The codes of an answer, else those that it has as text."""
    if observation.codes:
        return observation.codes
    found = find_renderings(session.contract, observation.exchange)
    return tuple(dict.fromkeys(one.code.name for one in found if one.code is not None))


def coverage(session: Session, day: date) -> dict[str, Coverage]:
    """Return the coverage of every code, shared or of an operation, in the order of declaration.

    ``day``: that of the run.
    """
    observations, config = session.observations, session.config
    statuses: dict[str, set[int]] = {}
    operations: dict[str, dict[str, None]] = {}
    counts: Counter[str] = Counter()
    for observation in observations.exchanges:
        exchange = observation.exchange
        for observed in _observed_codes(session, observation):
            name = covered_code(session.contract, exchange, observed)
            counts[name] += 1
            if exchange.response.status is not None:
                statuses.setdefault(name, set()).add(exchange.response.status)
            if exchange.operation is not None:
                operations.setdefault(name, {})[exchange.operation] = None
    declared = {recipe.code: recipe.not_provokable or None for recipe in config.recipes}
    asked = {
        code: f"no {what} of `{name}` brought it about, as `resources` says"
        for name, resource in config.resources.items()
        for code, what in (
            (resource.unique_code, "repeated value"),
            (resource.stale_code, "stale write"),
        )
        if code is not None
    }
    tried = {recipe.code for recipe in config.recipes if recipe.steps}
    found: dict[str, Coverage] = {}
    for name, code in coverable_codes(session.taxonomy).items():
        reason = declared.get(code.name)
        if config.transport == "http" and not code.http.carried_statuses:
            reason = code.http.reason or "the code never travels on HTTP"
        if code.sunset is not None and day > date.fromisoformat(code.sunset):
            reason = f"its sunset on {code.sunset} has passed"
        explained = reason is not None
        if reason is None and code.name in tried:
            reason = observations.unmet.get(code.name) or observations.ended
        elif reason is None:
            reason = asked.get(
                code.name, "no probe provokes this code, and `provoke` has no recipe for it"
            )
            if not session.writable:
                reason += " (the run may not write)"
        found[name] = Coverage(
            code=name,
            count=counts[name],
            statuses=tuple(sorted(statuses.get(name, ()))),
            operations=tuple(operations.get(name, ())),
            reason=None if counts[name] else reason,
            explained=explained,
        )
    return found


def provokable(session: Session) -> Iterator[Note]:
    """Yield a note for each observed code that the configuration declares not provokable, unless
    the probe of states provokes it.
    """
    surfaces = session.taxonomy.surfaces.values()
    by_states = {state.otherwise for surface in surfaces for state in surface.states}
    observed = {one.code for one in session.observations.exchanges} - by_states
    for recipe in session.config.recipes:
        if recipe.not_provokable is not None and recipe.code in observed:
            declared = f"not_provokable ({recipe.not_provokable})"
            yield Note(f"{recipe.code} is declared {declared}, and was observed")


def mask_result(
    hidden: Masking, result: Result, sensitive: SensitivePlaces, *, spare: float = 0.0
) -> Result:
    """Return the masked result: without the secrets of the run and without those that the service
    gave away. ``sensitive``: the places that the taxonomy declares as such. ``spare``: the seconds
    that the run did not use.
    """
    effort = Effort(_MASKING + min(max(spare / _OF_CLOCK, 0.0), _SPARE))
    masked = replace(hidden, effort=effort, sensitive=sensitive).result(
        replace(result, findings=())
    )
    findings = tuple(
        (hidden | mask_answered(exchanges, effort, sensitive)).mask_finding(reported)
        for reported in result.findings
        for exchanges in [[one for example in reported.examples for one in example.evidence]]
    )
    return replace(masked, findings=findings, notes=(*masked.notes, *_masking_notes(effort)))


def _masking_notes(effort: Effort) -> Iterator[str]:
    """Yield what a report does not show, and why."""
    if effort.hidden:
        yield f"{effort.hidden} messages are hidden: they have too many secrets to mask them all"
    if effort.late:
        yield (
            f"{effort.late} messages and texts are hidden: masking their secrets takes longer than "
            f"{effort.seconds:g} seconds"
        )


def build_session_masking(session: Session) -> Masking:
    """Return the masking of a run: credentials, values from the environment, planted canaries."""
    planted = (
        (canary.value, _STANDS_FOR[canary.kind])
        for canary in session.observations.planted
        if canary.kind in _STANDS_FOR
    )
    config, word = session.config, _STANDS_FOR["secret"]
    saved = ((value, word) for value in session.observations.credentials)
    return build_masking(config.identities.values(), [*config.secrets, *saved], planted)


#: What reports show instead of a canary. The replacement of a plain value has its form, so that a
#: command line asks for the same again. An id without a resource is shown, since the service might
#: refuse another one for its form.
_STANDS_FOR: Mapping[str, str] = {
    "secret": "CANARY-secret",
    "email": "CANARY-email",
    "address": f"faultspec-{'x' * 12}",
    "value": f"faultspec-{'x' * 12}",
}
