"""Resources without an id, such as `/settings`: each caller, or each tenant, has one.

An accepted update is stored, and no other tenant sees it. A stale one is refused. What was there
before is written back.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

from faultspec.exchange.finding import Level
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import SECRET_NAME, Identity
from faultspec_conformance.probes import concurrency
from faultspec_conformance.probes.concurrency import ConditionalCycle, ConditionalTarget
from faultspec_conformance.probes.effects import (
    confirmed_members,
    find_representation,
    is_equal_value,
    is_masked,
    is_set_by_service,
    may_be_pending,
)
from faultspec_conformance.probes.operations import body_members
from faultspec_conformance.probes.preconditions import call_at_state, takes_validator
from faultspec_conformance.probes.updates import change_body, is_writable
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import likely_body, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.meanings import codes_meaning
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    failed,
    leaves,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import Note, ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import ResourceKind, content_type, is_json_write
from faultspec_conformance.session.sampling.tokens import MADE_UP

_UPDATED, _CONCEALED = "writes/updated", "tenancy/concealed"

#: The clauses of the probe.
CLAUSES = (_UPDATED, _CONCEALED, *concurrency.CLAUSES)

#: Singletons that are updated. Services have few.
_SINGLETONS = 8

#: Seconds before a read is repeated where the file declares no `settle`: many clocks count whole
#: seconds.
_TICK = 1.1

#: Members by which a caller logs in, or is let in. The run needs them as they are.
_OF_LOGINS = re.compile(r"user|e?-?mail|login|phone|role|scope|enabled|active|locked|mfa|otp", re.I)


@dataclass(frozen=True, slots=True)
class Singleton:
    """A resource without an id. ``kind``: that of the configuration; None if only the document has
    it.
    """

    read: ServiceOperation
    update: ServiceOperation
    kind: ResourceKind | None = None

    def bodies(self, session: HttpSession) -> Iterator[object]:
        """Yield bodies of the update: with new texts where any are allowed, and as it is known."""
        if self.kind is not None:
            body = change_body(session, self.kind, self.update)
        else:
            body = likely_body(session, self.update)
        schema = self.update.body.schema if self.update.body is not None else {}
        document = session.description.document
        nodes = sampling.properties_of(sampling.merge_all_of(document, schema))
        if isinstance(body, dict):
            new = {
                name: sampling.new_value(
                    session.source,
                    {**sampling.only_branch(document, nodes[name]), "type": "string"},
                )
                for name in sampling.free_texts(document, schema) & body.keys()
                if not MADE_UP.search(str(body[name]))
            }
            yield from [{**body, **new}] if new else []
        yield body


def singletons(session: HttpSession) -> Iterator[ProbeResult]:
    """Update each singleton, read it as its caller and as another tenant, update it with a stale
    validator, and undo the updates.
    """
    for one in [*find_singletons(session)][:_SINGLETONS]:
        yield from attempt(_update(session, one), *CLAUSES)


def find_singletons(session: HttpSession) -> Iterator[Singleton]:
    """Yield the singletons of the configuration, then those of the document: a path without a
    placeholder that can be read and updated, but is not a list.
    """
    known: set[str] = set()
    for kind in session.kinds:
        read, update = kind.operation("read"), kind.operation("update")
        if read is None or update is None or kind.operation("create") is not None:
            continue
        if not {*read.placeholders, *update.placeholders} - session.constants.keys():
            known.add(update.name)
            yield Singleton(read, update, kind)
    lists = {listing.name for kind in session.kinds if (listing := kind.operation("list"))}
    for update in session.description.operations:
        is_free = update.method in ("PUT", "PATCH") and not update.placeholders
        read = session.description.find("GET", update.template) if is_free else None
        if read is not None and update.name not in known and read.name not in lists:
            yield Singleton(read, update)


def _update(session: HttpSession, one: Singleton) -> Iterator[ProbeResult]:
    name, read = one.update.name, one.read.name
    if not is_json_write(one.update) or "json-patch" in content_type(one.update):
        yield not_exercised(_UPDATED, f"no JSON body is known for {name}")
        return
    before = _read(session, one, session.caller)
    if not before.ok or not isinstance(before.json, dict):
        yield not_exercised(_UPDATED, f"the service answered {before} to {read}")
        return
    bodies = [body for body in one.bodies(session) if isinstance(body, dict) and body]
    whole = [_complete(session, one, body, before) for body in bodies]
    reason = _reason_to_spare(one, whole[-1], before) if whole else "its body is not an object"
    if reason is not None:
        yield not_exercised(_UPDATED, f"{name} is left alone: {reason}")
        return
    results: list[Outcome] = []
    silence: Unanswered | None = None
    try:
        for outcome in _judge(session, one, whole, before):
            results.append(outcome)
    except Unanswered as error:
        silence = error
    yield from results
    old = find_representation(before, whole[-1])
    undone = _undo(session, one, {member: old[member] for member in whole[-1]})
    if undone is not None:
        yield Note(f"what {name} changed could not be written back: {undone}")
    if silence is not None:
        raise silence


def _complete(
    session: HttpSession, one: Singleton, body: Mapping[str, object], before: Observation
) -> dict[str, object]:
    """The body of an update of which everything can be written back: that of a PUT has all members
    that the read shows and the document knows, so that it removes none; that of a PATCH has no
    member that the read lacks.
    """
    shown = find_representation(before, body)
    if one.update.method == "PATCH":
        return {member: value for member, value in body.items() if member in shown}
    known = {
        member: shown[member]
        for member, node in body_members(session, one.update).items()
        if member in shown and not sampling.is_read_only(node)
    }
    return {**known, **body}


def _reason_to_spare(one: Singleton, body: Mapping[str, object], before: Observation) -> str | None:
    """Why an update is not sent: what it changes could not be written back, or it may replace the
    items of a list, or what lets its caller in. None if nothing speaks against it.
    """
    shown, read = find_representation(before, body), one.read.name
    if not body:
        return f"{read} shows none of its members"
    hidden = sorted({*_plain_places(body), *body} - {*_plain_places(shown), *shown})
    if hidden:
        return f"{read} does not show `{hidden[0].removeprefix('/')}`"
    if any(is_masked(value) for _, value in leaves({name: shown[name] for name in body})):
        return f"{read} masks a value"
    if one.kind is not None:
        return None
    risky = next((place for place in sorted(_plain_places(body)) if _lets_in(place)), None)
    if risky is not None:
        shown_place = risky.removeprefix("/")
        return f"`{shown_place}` may let its caller in; if not, declare it under `resources`"
    return f"{read} shows a list of items" if _has_items(before.json) else None


def _plain_places(body: Mapping[str, object]) -> set[str]:
    """The places of values in a body; that of a list is one."""
    return {re.sub(r"/\d+(?:/.*)?$", "", pointer) for pointer, _ in leaves(body)}


def _has_items(value: object) -> bool:
    """Whether a value has a list of objects, at any depth."""
    if isinstance(value, list):
        return any(isinstance(item, dict) or _has_items(item) for item in value)
    return isinstance(value, dict) and any(map(_has_items, value.values()))


def _lets_in(place: str) -> bool:
    name = place.rpartition("/")[2]
    return _OF_LOGINS.search(name) is not None or SECRET_NAME.search(name) is not None


def _judge(
    session: HttpSession,
    one: Singleton,
    bodies: Sequence[Mapping[str, object]],
    before: Observation,
) -> Iterator[Outcome]:
    """Send the bodies until one is accepted, and judge what it leaves behind."""
    for turn, body in enumerate(bodies):
        write = _write(session, one, body, before)
        if write.ok:
            after = _read(session, one, session.caller)
            yield from _check_stored(session, one, body, (before, write, after))
            yield from _check_concealed(session, one, body, before=before, write=write)
            yield from _check_conditions(session, one, turn, before)
            return
        if write.status >= 500:
            break
    yield not_exercised(_UPDATED, f"the service answered {write} to {one.update.name}")


def _check_conditions(
    session: HttpSession, one: Singleton, turn: int, before: Observation
) -> Iterator[Outcome]:
    """Update the singleton with the current, a stale and a refetched validator, if it takes one.

    ``turn``: which of its bodies was accepted. One that has no new texts is sent in turn with what
    was there before, so that each update changes something.
    """
    if not codes_meaning(session.contract, 412) or not takes_validator(session, one.update, before):
        return
    name = one.kind.name if one.kind is not None else one.read.template

    def make_body() -> dict[str, object]:
        bodies = [body for body in one.bodies(session) if isinstance(body, dict) and body]
        return _complete(session, one, bodies[min(turn, len(bodies) - 1)], before)

    first = make_body()
    old = find_representation(before, first)
    former = {member: old[member] for member in first}
    fixed = cycle((former, first)) if make_body() == first else None

    def make_change() -> RequestSpec:
        body = make_body() if fixed is None else next(fixed)
        return replace(_update_request(session, one), body=body)

    show = _read_request(session, one, session.caller)
    stale_code = one.kind.config.stale_code if one.kind is not None else None
    target = ConditionalTarget(name, show, make_change, stale_code=stale_code)
    yield from ConditionalCycle(session, target, one.update, one.read).outcomes()


def _undo(session: HttpSession, one: Singleton, kept: Mapping[str, object]) -> str | None:
    """Write back what was there, unless it is there. Return why that is impossible, or None."""
    try:
        now = _read(session, one, session.caller)
        shown = find_representation(now, kept)
        if now.ok and all(shown.get(member) == value for member, value in kept.items()):
            return None
        answer = _write(session, one, kept, now)
    except Unanswered as error:
        return f"there was no answer ({error.no_answer.reason})"
    return None if answer.ok else f"the answer was {answer}"


def _read(session: HttpSession, one: Singleton, caller: Identity) -> Observation:
    return session.call(_read_request(session, one, caller))


def _read_request(session: HttpSession, one: Singleton, caller: Identity) -> RequestSpec:
    return replace(request_to(session, one.read, session.constants), identity=caller)


def _write(
    session: HttpSession, one: Singleton, body: Mapping[str, object], state: Observation
) -> Observation:
    """Update the singleton in the state that was read."""
    spec = replace(_update_request(session, one), body=dict(body))
    _, answer = call_at_state(
        session, one.update, spec, state, get=lambda: _read(session, one, session.caller)
    )
    return answer


def _update_request(session: HttpSession, one: Singleton) -> RequestSpec:
    spec = request_to(session, one.update, session.constants)
    return replace(spec, identity=session.caller)


def _check_stored(
    session: HttpSession,
    one: Singleton,
    body: Mapping[str, object],
    seen: tuple[Observation, Observation, Observation],
) -> Iterator[Outcome]:
    """Check that a read after an update shows the members that it gave another value."""
    before, write, after = seen
    shown = find_representation(before, body)
    new = {
        name
        for name, value in body.items()
        if name in shown and not is_set_by_service(name) and not is_equal_value(value, shown[name])
    }
    answered = write.json if isinstance(write.json, dict) else {}
    is_of_another = bool(answered) and find_representation(write, body).keys().isdisjoint(body)
    if not new or may_be_pending(write) or is_of_another:
        reason = f"{one.read.name} shows no member that {one.update.name} changes at once"
        yield not_exercised(_UPDATED, reason)
        return
    kept = _kept_members(new, shown, after)
    if kept:
        session.wait(max(_TICK, session.config.limits.settle), after=write)
        after = _read(session, one, session.caller)
        kept &= _kept_members(new, shown, after)
    due = {name for name in kept if is_writable(session, one.update, name)}
    due |= kept & confirmed_members(write, body) | (kept if kept == new else set())
    if due and after.ok:
        member = min(due)
        message = f"{one.update.name} succeeded ({write}), but `{member}` in {one.read.name} stays "
        message += "as it was"
        evidence = (before, write, after)
        yield failed(_UPDATED, message, *evidence, pointer=f"/{member}", variant="singleton")
    elif after.ok:
        yield passed(_UPDATED)


def _kept_members(new: set[str], shown: Mapping[str, object], after: Observation) -> set[str]:
    now = find_representation(after, shown)
    return {name for name in new if name in now and now[name] == shown[name]}


def _check_concealed(
    session: HttpSession,
    one: Singleton,
    body: Mapping[str, object],
    *,
    before: Observation,
    write: Observation,
) -> Iterator[Outcome]:
    """Check that another tenant does not read the texts that were written."""
    stranger, name = session.stranger(session.caller), one.read.name
    if stranger is None:
        return
    was = before.exchange.response.body.decode("utf-8", "replace")
    texts = [
        text
        for _, text in leaves(body)
        if isinstance(text, str) and MADE_UP.search(text) and text not in was
    ]
    if not texts:
        reason = f"{one.update.name} has no text by which another tenant's {name} would show it"
        yield not_exercised(_CONCEALED, reason)
        return
    page = _read(session, one, stranger)
    own = page.exchange.response.body.decode("utf-8", "replace") if page.ok else ""
    if any(text in own for text in texts):
        message = f"{name} shows {stranger.name} what another tenant wrote by {one.update.name}"
        # What only the document has may be meant for all tenants.
        level: Level = "error" if one.kind is not None else "warning"
        yield failed(_CONCEALED, message, write, page, level=level, variant="singleton")
    else:
        yield passed(_CONCEALED)
