"""The audit read back: it has one record of each exchange, which agrees with the answer."""

from collections.abc import Iterator, Sequence

from faultspec.judge.collector import describe_problem
from faultspec.language.model import Audit, Lookup
from faultspec.language.values import are_equal, check_value, vocabularies
from faultspec.runtime import ids
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

#: A failure and the id of its record.
_Failure = tuple[Observation, str]


def failures(session: HttpSession) -> Iterator[Outcome]:
    """Look up the records of the last failures over HTTP, by the ids in their answers."""
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
    yield from _check_records(session, audit, audit.lookup, known[-_LAST:])


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
    for failure, id in known:
        if failure.exchange.identity is None and not session.caller.anonymous:
            continue
        meanings = (_meaning_value(session, failure, means) for means in audit.means.values())
        numbers = (value for value in meanings if not isinstance(value, str))
        sort = (failure.exchange.operation, failure.code, *map(str, numbers))
        sorts.pop(sort, None)
        sorts[sort] = failure, id
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
        yield failed(_CLAUSE, f"the audit cannot be read: {how}", page)
        return
    ids = [point(record, lookup.id) for record in records]
    for failure, id in known:
        name = f"{audit.id.removeprefix('$')} {id}"
        own = [record for record, found in zip(records, ids, strict=True) if are_equal(found, id)]
        if len(own) == 1:
            yield _compare(_problem(session, audit, own[0], failure), failure, page)
        elif not own and _may_be_later(session, audit, failure, ids=ids):
            reason = f"the record of {name} may be on a later page than the first"
            yield not_exercised(_CLAUSE, reason)
        else:
            what = "no record" if not own else f"{len(own)} records"
            yield failed(_CLAUSE, f"the audit has {what} of {name}", failure, page)


def _may_be_later(
    session: HttpSession, audit: Audit, failure: Observation, ids: Sequence[object]
) -> bool:
    """Whether the record of a failure may be on a later page than that of the ``ids``.

    More records followed than the page has, and it shows no failure before this one.
    """
    recorded = [
        seen
        for seen in session.knowledge.exchanges
        if audit.per == "exchange" or seen.code is not None
    ]
    turn = next(turn for turn, seen in enumerate(recorded) if seen is failure)
    before = [id for _, id in _identified_failures(session, audit, recorded[:turn])]
    shows_earlier = any(are_equal(found, id) for found in ids for id in before)
    return len(recorded) - turn > max(len(ids), _LAST) and not shows_earlier


def _identified_failures(
    session: HttpSession, audit: Audit, exchanges: Sequence[Observation]
) -> list[_Failure]:
    """Return the failures whose answer has the id of its record."""
    name = (audit.id or "").removeprefix("$")
    pairs = (
        (observation, slot_value(session.taxonomy, observation, name))
        for observation in exchanges
        if observation.code is not None
    )
    return [(failure, id) for failure, id in pairs if isinstance(id, str)]


def exchanges(
    session: Session, audit: Audit, page: Observation, observations: Sequence[Observation]
) -> Iterator[Outcome]:
    """Check that the audit has one record for each of all exchanges, or of all failures, that
    agrees with the answer.
    """
    records = point(page.json, audit.lookup.items if audit.lookup else "")
    if not isinstance(records, list):
        yield failed(_CLAUSE, "the audit cannot be read: it has no list of records", page)
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
        yield failed(_CLAUSE, message, *observations[-1:], page)
        return
    for record, observation in zip(records, expected, strict=True):
        yield _compare(_problem(session, audit, record, observation), observation, page)


def _compare(problem: str | None, answer: Observation, page: Observation) -> Outcome:
    return passed(_CLAUSE) if problem is None else failed(_CLAUSE, problem, answer, page)


def _problem(session: Session, audit: Audit, record: object, answer: Observation) -> str | None:
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
        misfit = next(check_value(member.schema, value, terms, ids.FORMATS), None)
        if misfit is not None:
            return f"the record: {describe_problem(misfit, f'/{name}')}"
    for name, meaning in audit.means.items():
        expected = _meaning_value(session, answer, meaning)
        if expected is not None and not are_equal(record.get(name), expected):
            return f"`{name}` of the record is {record.get(name)!r}; the answer has {expected!r}"
    return None


def _meaning_value(session: Session, answer: Observation, meaning: str) -> object:
    """Return the value of a slot or detail of an answer; None if it has none, like a success."""
    if answer.code is None:
        return None
    if meaning.startswith("$"):
        return slot_value(session.taxonomy, answer, meaning[1:])
    return error_details(session.taxonomy, answer).get(meaning.partition(".")[2])
