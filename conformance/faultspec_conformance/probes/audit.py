"""The audit read back: what happened is in it, once, and as the answers said."""

from collections.abc import Iterator, Sequence

from faultspec.judge.collector import describe_problem
from faultspec.language.model import Audit
from faultspec.language.values import check_value, same, vocabularies
from faultspec.runtime import ids
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    passed,
    point,
    slot,
)

_CLAUSE = "audit/recorded"

#: So many of the last failures are looked up; a log may keep no more on its first page.
_LAST = 10


def failures(world: HttpSession) -> Iterator[Outcome]:
    """Over HTTP: the record of each of the last failures, by the id that its answer named."""
    audit = world.taxonomy.audit
    if audit is None or audit.lookup is None or audit.id is None or audit.lookup.id is None:
        return
    named = audit.id.removeprefix("$")
    known = _named(world, named)[-_LAST:]
    if not known:
        address = world.canary("address")
        world.call("GET", f"/{address.value}", route=None, plant=(address,))
        known = _named(world, named)
    if not known:
        yield not_exercised(_CLAUSE, f"no failure was seen that names its record (`{named}`)")
        return
    method, _, path = audit.lookup.request.partition(" ")
    page = world.call(method, path, correlation="valid")
    records = point(page.json, audit.lookup.items)
    if not page.ok or not isinstance(records, list):
        yield failed(
            _CLAUSE,
            f"the audit cannot be read: {method} {path} is answered {page}, without a list of records",
            page,
        )
        return
    for sent, id in known:
        own = [record for record in records if same(point(record, audit.lookup.id), id)]
        if len(own) != 1:
            what = "no record" if not own else f"{len(own)} records"
            yield failed(_CLAUSE, f"the audit has {what} of {named} {id}", sent, page)
        else:
            yield _told(world, audit, own[0], sent, page)


def _named(world: HttpSession, name: str) -> list[tuple[Observation, str]]:
    """The failures whose answer names its record."""
    found = (
        (each, slot(world.taxonomy, each, name)) for each in world.visible if each.code is not None
    )
    return [(each, id) for each, id in found if isinstance(id, str)]


def exchanges(
    world: Session, audit: Audit, page: Observation, seen: Sequence[Observation], before: int
) -> Iterator[Outcome]:
    """Where every exchange has a record: as many new ones as there were exchanges, each as its answer said."""
    records = point(page.json, audit.lookup.items if audit.lookup else "")
    if not isinstance(records, list):
        yield failed(_CLAUSE, "the audit cannot be read: there is no list of records", page)
        return
    new = (
        records[before:]
        if audit.lookup and audit.lookup.order != "newest-first"
        else records[::-1][before:]
    )
    expected = [each for each in seen if audit.per == "exchange" or each.code is not None]
    if len(new) != len(expected):
        yield failed(
            _CLAUSE, f"{len(expected)} exchanges have {len(new)} records", *seen[-1:], page
        )
        return
    for record, sent in zip(new, expected, strict=True):
        yield _told(world, audit, record, sent, page)


def _told(
    world: Session, audit: Audit, record: object, sent: Observation, page: Observation
) -> Outcome:
    if not isinstance(record, dict):
        return failed(_CLAUSE, "a record is no object", sent, page)
    terms = vocabularies(world.taxonomy, reserved=False)
    for name, member in audit.record.items():
        if name not in record or (record[name] is None and member.presence == "optional"):
            if member.presence == "required":
                return failed(_CLAUSE, f"the record has no `{name}`", sent, page)
            continue
        misfit = next(check_value(member.schema, record[name], terms, ids.FORMATS), None)
        if misfit is not None:
            return failed(
                _CLAUSE, f"the record: {describe_problem(misfit, f'/{name}')}", sent, page
            )
    for name, meaning in audit.means.items():
        said = _meant(world, sent, meaning)
        if said is not None and not same(record.get(name), said):
            message = f"`{name}` of the record is {record.get(name)!r}; the answer said {said!r}"
            return failed(_CLAUSE, message, sent, page)
    return passed(_CLAUSE)


def _meant(world: Session, sent: Observation, meaning: str) -> object:
    """What an answer says of a slot or a detail; None where it says nothing, as a success does not."""
    if sent.code is None:
        return None
    if meaning.startswith("$"):
        return slot(world.taxonomy, sent, meaning[1:])
    details = slot(world.taxonomy, sent, "details")
    return details.get(meaning.partition(".")[2]) if isinstance(details, dict) else None
