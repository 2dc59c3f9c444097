"""The audit read back: it has one record of each exchange, which agrees with the answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.judge.collector import describe_problem
from faultspec.judge.renderings import find_renderings
from faultspec.language.model import Audit, Lookup
from faultspec.language.values import are_equal, check_value, vocabularies
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import pagination
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    error_details,
    failed,
    not_exercised,
    passed,
    point,
    slot_value,
)
from faultspec_conformance.session.requests import RequestSpec

_CLAUSE = "audit/recorded"

#: How many of the last failures are looked up. The first page of a log may have no more
#: records.
_LAST = 10


class _Failure(NamedTuple):
    """A failure and the id of its record. ``rendering``: the parameters of its text, if it is one
    in place of an envelope.
    """

    answer: Observation
    id: str
    rendering: Mapping[str, object] | None = None


def failures(session: HttpSession) -> Iterator[Outcome]:
    """Look up the records of the last failures over HTTP, by the ids in their answers, and of the
    caller's last failure of each code and status: a service may forget to record one of them.
    """
    audit = session.taxonomy.audit
    if audit is None or audit.lookup is None or audit.id is None or audit.lookup.id is None:
        return
    known = _identified_failures(session, audit, session.knowledge.exchanges)
    if not known:
        address = session.canary("address")
        session.call(RequestSpec("GET", f"/{address.value}", route=None, canaries=(address,)))
        known = _identified_failures(session, audit, session.knowledge.exchanges)
    if not known:
        yield not_exercised(_CLAUSE, f"no observed failure has the id of its record (`{audit.id}`)")
        return
    chosen = [*_last_of_each_sort(session, known[:-_LAST]), *known[-_LAST:]]
    yield from _check_records(session, audit, audit.lookup, chosen)


def _last_of_each_sort(session: HttpSession, known: Sequence[_Failure]) -> list[_Failure]:
    """Return the last failure of each code and status that the caller of the audit was answered."""
    caller = None if session.caller.anonymous else session.caller.name
    sorts: dict[tuple[object, ...], _Failure] = {}
    for failure in known:
        exchange = failure.answer.exchange
        if exchange.identity == caller:
            sorts[failure.answer.code, exchange.response.status] = failure
    return list(sorts.values())


def upstream_failures(session: HttpSession) -> Iterator[Outcome]:
    """Look up the records of failures that scripted upstreams caused, the last one of each sort.

    Failures of one sort have the same operation, code and numbers, such as that of retries. The
    audit of a caller need not show the failures of requests without credentials.
    """
    audit = session.taxonomy.audit
    if audit is None or audit.lookup is None or audit.id is None or audit.lookup.id is None:
        return
    if not session.upstreams:
        return
    known = _identified_failures(session, audit, session.knowledge.own.exchanges)
    sorts: dict[tuple[object, ...], _Failure] = {}
    for failure in known:
        answer = failure.answer
        if answer.exchange.identity is None and not session.caller.anonymous:
            continue
        meanings = (_meaning_value(session, failure, means) for means in audit.means.values())
        numbers = (value for value in meanings if not isinstance(value, str))
        sort = (answer.exchange.operation, answer.code, *map(str, numbers))
        sorts.pop(sort, None)
        sorts[sort] = failure
    chosen = list(sorts.values())[-_LAST:]
    if chosen:
        yield from _check_records(session, audit, audit.lookup, chosen)
    else:
        yield not_exercised(
            _CLAUSE, f"no failure of an upstream led to an answer with `{audit.id}`"
        )


def _check_records(
    session: HttpSession, audit: Audit, lookup: Lookup, known: Sequence[_Failure]
) -> Iterator[Outcome]:
    """Compare failures with their records on the longest page of the audit.

    An early failure may be on a later page.
    """
    assert audit.id is not None, "an answer has the id of its record"
    assert lookup.id is not None, "a record has its id"
    method, _, path = lookup.request.partition(" ")
    query = {} if "?" in path else pagination.longest_page(session.operation(method, path))
    page = session.call(RequestSpec(method, path, query=query, correlation="valid"))
    records = point(page.json, lookup.items)
    if not page.ok or not isinstance(records, list):
        how = f"the service answered {page} to {method} {path}, without a list of records"
        yield failed(_CLAUSE, f"the audit cannot be read: {how}", page, variant="unreadable")
        return
    ids = [point(record, lookup.id) for record in records]
    for failure in known:
        name = f"{audit.id.removeprefix('$')} {failure.id}"
        pairs = zip(records, ids, strict=True)
        own = [record for record, found in pairs if are_equal(found, failure.id)]
        if len(own) == 1:
            yield _compare(_problem(session, audit, own[0], failure), failure.answer, page)
        elif not own and _may_be_later(session, audit, failure, ids=ids):
            reason = f"the record of {name} may be on a later page than the first"
            yield not_exercised(_CLAUSE, reason)
        else:
            what = "no record" if not own else f"{len(own)} records"
            yield failed(
                _CLAUSE, f"the audit has {what} of {name}", failure.answer, page, variant="missing"
            )


def _may_be_later(
    session: HttpSession, audit: Audit, failure: _Failure, ids: Sequence[object]
) -> bool:
    """Whether the record of a failure may be on a later page than that of the ``ids``.

    More records followed than the page has, and it shows no failure before this one.
    """
    recorded = [
        seen
        for seen in session.knowledge.exchanges
        if audit.per == "exchange" or seen.code is not None or _renderings(session, seen)
    ]
    turn = next(turn for turn, seen in enumerate(recorded) if seen is failure.answer)
    before = [one.id for one in _identified_failures(session, audit, recorded[:turn])]
    shows_earlier = any(are_equal(found, id) for found in ids for id in before)
    return len(recorded) - turn > max(len(ids), _LAST) and not shows_earlier


def _identified_failures(
    session: HttpSession, audit: Audit, exchanges: Sequence[Observation]
) -> list[_Failure]:
    """Return the failures whose answer has the id of its record: in its envelope, or in a text."""
    name, found = (audit.id or "").removeprefix("$"), []
    for seen in exchanges:
        if seen.code is not None:
            id = slot_value(session.contract, seen, name)
            found += [_Failure(seen, id)] if isinstance(id, str) else []
            continue
        for values in _renderings(session, seen):
            id = values.get(name)
            found += [_Failure(seen, id, values)] if isinstance(id, str) else []
    return found


def _renderings(session: Session, seen: Observation) -> list[Mapping[str, object]]:
    """Return the parameters of each sound rendering in an answer without an envelope."""
    found = find_renderings(session.contract, seen.exchange)
    return [one.values for one in found if one.code is not None and not one.problems]


def exchanges(
    session: Session, audit: Audit, page: Observation, observations: Sequence[Observation]
) -> Iterator[Outcome]:
    """Check that the audit has one record for each of all exchanges, or of all failures, that
    agrees with the answer.
    """
    records = point(page.json, audit.lookup.items if audit.lookup else "")
    if not isinstance(records, list):
        yield failed(
            _CLAUSE,
            "the audit cannot be read: it has no list of records",
            page,
            variant="unreadable",
        )
        return
    if audit.lookup is None or audit.lookup.order == "newest-first":
        records = records[::-1]
    expected = [
        observation
        for observation in observations
        if audit.per == "exchange" or observation.code is not None
    ]
    if len(records) != len(expected):
        message = f"{len(expected)} exchanges have {len(records)} records"
        yield failed(_CLAUSE, message, *observations[-1:], page, variant="number")
        return
    for record, observation in zip(records, expected, strict=True):
        failure = _Failure(observation, "")
        yield _compare(_problem(session, audit, record, failure), observation, page)


def _compare(problem: str | None, answer: Observation, page: Observation) -> Outcome:
    return passed(_CLAUSE) if problem is None else failed(_CLAUSE, problem, answer, page)


def _problem(session: Session, audit: Audit, record: object, failure: _Failure) -> str | None:
    """Return what is wrong with a record, or None."""
    if not isinstance(record, dict):
        return "a record is not an object"
    terms = vocabularies(session.taxonomy, reserved=False)
    for name, member in audit.record.items():
        value = record.get(name)
        if value is None and member.presence == "optional":
            continue
        if name not in record:
            if member.presence == "required":
                return f"the record has no `{name}`"
            continue
        misfit = next(check_value(member.schema, value, terms), None)
        if misfit is not None:
            return f"the record: {describe_problem(misfit, f'/{name}')}"
    for name, meaning in audit.means.items():
        expected = _meaning_value(session, failure, meaning)
        if expected is not None and not are_equal(record.get(name), expected):
            return f"`{name}` of the record is {record.get(name)!r}; the answer has {expected!r}"
    return None


def _meaning_value(session: Session, failure: _Failure, meaning: str) -> object:
    """Return the value of a slot or detail of a failure; None if it has none, like a success."""
    answer = failure.answer
    if failure.rendering is not None:
        value = failure.rendering.get(meaning.removeprefix("$"))
        return value if meaning.startswith("$") else None  # details are numbers in the record
    if answer.code is None:
        return None
    if meaning.startswith("$"):
        return slot_value(session.contract, answer, meaning[1:])
    return error_details(session.contract, answer).get(meaning.partition(".")[2])
