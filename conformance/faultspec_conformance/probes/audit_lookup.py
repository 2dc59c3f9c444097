"""Audit records by id: the id in an answer leads to the record of that failure, for its tenant
alone.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from faultspec_conformance.config import AuditLookup, Identity
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.probes.effects import GONE
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.configured import fill_in_call
from faultspec_conformance.session.correlation import echo_rule
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    not_exercised,
    passed,
    slot_value,
)
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.sampling.identifiers import other_identifier

RESOLVES, CONCEALED = "audit/resolves", "audit/concealed"

CLAUSES = (RESOLVES, CONCEALED)

#: Failures that are looked up, the last one of each code: a service may forget the records of one
#: kind of failure. Taxonomies of services have some tens of codes; each look-up is one request, and
#: a second one where the record is missing.
_FAILURES = 40

#: Codes that are named in a reason.
_NAMED = 5

#: Seconds until a record that is written later can be read.
_DELAY = 1.0


@dataclass(frozen=True, slots=True)
class _Reader:
    """The look-up of records in one run."""

    session: HttpSession
    lookup: AuditLookup

    def read(self, id: str, identity: Identity | None) -> Observation | None:
        """Return the answer to a look-up; None if there is none."""
        call = fill_in_call(self.session, self.lookup.call)
        spec = RequestSpec(
            call.method,
            call.path,
            identity=identity,
            values={**self.session.constants, self.lookup.slot: id},
            query={
                name: str(value).replace(f"{{{self.lookup.slot}}}", id)
                for name, value in call.query.items()
            },
            headers=call.headers,
            correlation="valid",
        )
        answer = self.session.try_call(spec)
        return None if isinstance(answer, NoAnswer) else answer

    def caller_of(self, failure: Observation) -> Identity:
        """Return the caller of a failed request."""
        return self.session.config.identity(failure.exchange.identity)

    def reader_of(self, failure: Observation) -> Identity:
        """Return the identity that may read the record of a failure."""
        if self.lookup.identity is not None:
            return self.session.config.identity(self.lookup.identity)
        return self.caller_of(failure)


def lookups(session: HttpSession) -> Iterator[Outcome]:
    """Look up the last failure of each code by its id, as its caller or as the declared identity,
    and as another tenant; and an id that no failure has.
    """
    lookup = session.config.audit
    if lookup is None:
        return
    method, path = lookup.call.method, lookup.call.path.partition("?")[0]
    documented = session.description.operations
    if documented and session.description.find(method, path) is None:
        reason = f"{method} {path} of `audit.lookup` is not an operation of the OpenAPI document"
        for clause in CLAUSES:
            yield Outcome(clause, "could_not_run", reason)
        return
    reader = _Reader(session, lookup)
    found: dict[str | None, tuple[Observation, str]] = {}
    observed: dict[str, None] = {}
    for seen in session.observations.exchanges:
        id = slot_value(session.contract, seen, lookup.slot) if seen.code is not None else None
        observed |= {} if seen.code is None else {seen.code: None}
        # The failures of unknown callers may be shown to nobody.
        known = seen.exchange.identity is not None or lookup.identity is not None
        anonymous = session.caller.anonymous
        if isinstance(id, str) and id and (known or anonymous):
            found.pop(seen.code, None)
            found[seen.code] = seen, id
    if not found:
        yield not_exercised(RESOLVES, f"no failure has an id in `{lookup.slot}`")
        return
    chosen = dict([*found.items()][-_FAILURES:])
    yield from _check_lookups(reader, [*chosen.values()])
    yield from _check_unknown(reader, *next(reversed(found.values())))
    beyond = [str(code) for code in found if code not in chosen]
    if beyond:
        line = f"the limit of {_FAILURES} look-ups leaves out failures with {_quote(beyond)}"
        yield not_exercised(RESOLVES, line)
    without = [code for code in observed if code not in found]
    if without:
        line = f"no failure of a known caller with {_quote(without)} has an id in `{lookup.slot}`"
        yield not_exercised(RESOLVES, line)


def _quote(codes: Sequence[str]) -> str:
    """Return the first of some codes in quotes, and the number of the others."""
    more = f" and {len(codes) - _NAMED} more" if len(codes) > _NAMED else ""
    return ", ".join(f"`{code}`" for code in codes[:_NAMED]) + more


def _check_lookups(
    reader: _Reader, failures: Sequence[tuple[Observation, str]]
) -> Iterator[Outcome]:
    """Check that ids lead to the records of their failures. One wait is enough for all records that
    are written later.
    """
    late: list[tuple[Observation, str, Observation]] = []
    for failure, id in failures:
        answer = reader.read(id, reader.reader_of(failure))
        if answer is None or _shows_record(answer):
            yield _check_lookup(reader, failure, answer, id=id)
        else:
            late.append((failure, id, answer))
    if late:
        session, first = reader.session, late[0][2]
        session.wait(max(_DELAY, session.driver.limits.settle), after=first)
    for failure, id, _ in late:
        again = reader.read(id, reader.reader_of(failure))
        yield _check_lookup(reader, failure, again, id=id)


def _check_lookup(
    reader: _Reader, failure: Observation, answer: Observation | None, *, id: str
) -> Outcome:
    """Judge the look-up of the record of a failure."""
    slot = reader.lookup.slot
    if answer is None:
        return not_exercised(RESOLVES, "a look-up got no answer")
    if answer.status in (401, 403):
        reason = f"the caller may not look up records ({answer}): declare `as` under `audit`"
        return not_exercised(RESOLVES, reason)
    if answer.status in GONE or (answer.ok and not _shows_record(answer)):
        message = f"the `{slot}` of a failure ({failure}) leads to no record ({answer})"
        return failed(RESOLVES, message, failure, answer)
    if not answer.ok:
        message = f"the service answered {answer} to the look-up of a `{slot}`"
        return failed(RESOLVES, message, failure, answer, variant="unreadable")
    problem = _difference(reader, failure, answer, id=id)
    if problem is None:
        return passed(RESOLVES)
    message = f"the `{slot}` of a failure ({failure}) leads to a record {problem}"
    return failed(RESOLVES, message, failure, answer, variant="other")


def _check_unknown(reader: _Reader, failure: Observation, id: str) -> Iterator[Outcome]:
    """Look up an id that no failure has, and both ids as another tenant."""
    session = reader.session
    unknown = str(other_identifier(session.source, id))
    missing = reader.read(unknown, reader.reader_of(failure))
    if missing is not None and missing.ok and _shows_record(missing):
        text = json.dumps(missing.json)
        if unknown not in text:
            message = f"the look-up of a `{reader.lookup.slot}` that no failure has shows a record"
            yield failed(RESOLVES, message, missing, variant="unknown")
    caller = reader.caller_of(failure)
    stranger = None if caller.anonymous else session.stranger(caller)
    if stranger is None or stranger.name == reader.lookup.identity:
        yield not_exercised(CONCEALED, "no other tenant is declared that may not read all records")
        return
    foreign, nothing = reader.read(id, stranger), reader.read(unknown, stranger)
    if foreign is None or nothing is None:
        yield not_exercised(CONCEALED, "a look-up got no answer")
    elif foreign.ok and _shows_record(foreign):
        message = f"{stranger.name} can read the record of another tenant's failure ({failure})"
        yield failed(CONCEALED, message, failure, foreign)
    elif nothing.ok:
        yield not_exercised(CONCEALED, f"the service answered {nothing} to an unknown id")
    elif (foreign.status, foreign.code) != (nothing.status, nothing.code):
        line = f"the look-up of another tenant's failure got {foreign}"
        message = f"{line}; expected {nothing}, as for an unknown id"
        yield failed(CONCEALED, message, nothing, foreign, variant="difference")
    else:
        yield passed(CONCEALED)


def _shows_record(answer: Observation) -> bool:
    """Whether a success contains a record, and not an empty list."""
    return answer.ok and any(value not in (None, "", [], {}) for _, value in leaves(answer.json))


def _difference(
    reader: _Reader, failure: Observation, record: Observation, *, id: str
) -> str | None:
    """Return what shows that a record is that of another failure; None if nothing does.

    Records may name codes and ids otherwise, or not at all.
    """
    session, looked_up = reader.session, reader.lookup.slot
    values = {str(value) for _, value in leaves(record.json)}
    codes = values & set(session.taxonomy.codes)
    if codes and failure.code not in codes:
        return f"of {' and '.join(sorted(codes))}"
    rule = echo_rule(session.taxonomy)
    for slot in {rule.field.slot if rule else looked_up, looked_up}:
        own = id if slot == looked_up else slot_value(session.contract, failure, slot)
        shown = {
            str(value)
            for pointer, value in leaves(record.json)
            if pointer.rpartition("/")[2] == slot
        }
        if shown and own is not None and str(own) not in shown:
            return f"with another `{slot}`"
    return None
