"""Preconditions: who writes against a state that has passed is refused, loses nothing, and succeeds after a refetch."""

from collections.abc import Callable, Iterator

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ABSENT
from faultspec_conformance.probes.idempotency import change_body, changes
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import fresh_key, untouched
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    not_exercised,
    passed,
)
from faultspec_conformance.session.resources import CreatedResource, ResourceKind, content_type

_STALE, _RECOVERS = "preconditions/stale", "preconditions/recovers"

#: A validator that no service has given out.
_NEVER_GIVEN = '"faultspec-never-given"'

#: Seconds between two reads that shall tell what changes by itself: many clocks in representations count whole seconds.
_TICK = 1.1


def stale_writes(world: HttpSession) -> Iterator[Outcome]:
    """Every change of every resource, under a fresh, a stale and a refetched validator."""
    if not any(
        world.taxonomy.codes[each].http.allows(412)
        for each in world.contract.codes_for(412)
        if each in world.taxonomy.codes
    ):
        return
    kinds = [each for each in world.turn if isinstance(world.made.get(each.name), CreatedResource)]
    found = False
    for kind in kinds:
        for operation in changes(kind, world):
            found = True
            yield from _cycle(world, kind, operation)
        delete = kind.operation("delete")
        if delete is not None and delete.parameter("If-Match", "header") is not None:
            yield from _deletion(world, kind, delete)
    if not found:
        yield not_exercised(_STALE, "no resource could be made and changed")


def _cycle(
    world: HttpSession, kind: ResourceKind, operation: ServiceOperation
) -> Iterator[Outcome]:
    made = untouched(world, kind)
    read = kind.operation("read")
    if isinstance(made, str) or read is None:
        yield not_exercised(
            _STALE, made if isinstance(made, str) else f"nothing is known to read a {kind.name}"
        )
        return
    promised = operation.parameter("If-Match", "header") is not None

    def get() -> Observation:
        return world.call("GET", read.template, identity=made.owner, values=made.values)

    def put(validator: str) -> Observation:
        return world.call(
            operation.method,
            operation.template,
            identity=made.owner,
            values=made.values,
            headers={**fresh_key(world, operation), "If-Match": validator},
            body=change_body(world, kind, operation),
            content_type=content_type(operation),
        )

    before = get()
    old = before.header("ETag")
    if not before.ok or old is None:
        if before.ok and promised:
            message = f"{operation.name} takes If-Match, and {read.name} gives no ETag to put there"
            yield failed(_RECOVERS, message, before)
        else:
            yield not_exercised(_STALE, f"{read.name} gives no ETag")
        return
    changed = put(old)
    if changed.status == 412:
        yield failed(
            _RECOVERS,
            f"{operation.name} with the ETag that {read.name} just gave is answered {changed}",
            before,
            changed,
        )
        return
    if not changed.ok:
        yield not_exercised(_STALE, f"{operation.name} was answered {changed}")
        return
    now = (
        changed if changed.header("ETag") is not None and _keys(changed) == _keys(before) else get()
    )
    current = now.header("ETag") or changed.header("ETag")
    if current == old and _moved(world, get, before, now):
        yield failed(
            _STALE,
            f"the ETag of a {kind.name} stays the same through a change: no stale write can be told",
            before,
            changed,
            now,
        )
        return
    stale_tag = old if current != old else _NEVER_GIVEN
    stale = put(stale_tag)
    if stale.ok:
        yield failed(
            _STALE,
            f"{operation.name} with a stale If-Match is answered {stale}: the earlier change is lost",
            before,
            changed,
            stale,
        )
        return
    if stale.status in (401, 403, 404, 405, 415, 428, 429):
        yield not_exercised(_STALE, f"{operation.name} with a stale If-Match was answered {stale}")
        return
    if stale.status != 412:
        yield failed(
            _STALE,
            f"{operation.name} with a stale If-Match is answered {stale}, not 412",
            changed,
            stale,
        )
        return
    after = get()
    kept = current is not None and after.header("ETag") == current
    if not kept and _moved(world, get, now, after):
        yield failed(
            _STALE,
            f"{operation.name} was refused ({stale}) and changed the {kind.name} all the same",
            now,
            stale,
            after,
        )
        return
    yield passed(_STALE)
    told, actual = stale.header("ETag"), after.header("ETag") or current
    if told is not None and actual is not None and _bare(told) != _bare(actual):
        yield failed(
            _RECOVERS,
            "the refusal tells another ETag than the one a refetch gives",
            stale,
            after,
            pointer="ETag",
        )
        return
    retried = put(actual or old)
    if retried.ok:
        yield passed(_RECOVERS)
    elif retried.status == 412 or retried.status >= 500:
        yield failed(
            _RECOVERS,
            f"after a refetch {operation.name} is answered {retried}",
            stale,
            after,
            retried,
        )
    else:
        yield not_exercised(_RECOVERS, f"after a refetch {operation.name} was answered {retried}")


def _deletion(
    world: HttpSession, kind: ResourceKind, operation: ServiceOperation
) -> Iterator[Outcome]:
    made = world.made[kind.name]
    if isinstance(made, str):
        return
    sent = world.call(
        operation.method,
        operation.template,
        identity=made.owner,
        values=made.values,
        headers={**fresh_key(world, operation), "If-Match": _NEVER_GIVEN},
        body=ABSENT,
    )
    if sent.ok:
        yield failed(
            _STALE, f"{operation.name} with a stale If-Match is answered {sent}", made.sent, sent
        )
    elif sent.status == 412:
        yield passed(_STALE)


def _moved(
    world: HttpSession, get: Callable[[], Observation], before: Observation, after: Observation
) -> bool:
    """Whether more differs than what differs between two plain reads, such as the moment of the reading."""
    differing = _differing(before, after)
    if not differing:
        return False
    first = get()
    world.driver.pause(_TICK)
    return bool(differing - _differing(first, get()))


def _differing(one: Observation, other: Observation) -> frozenset[str]:
    """Where two representations differ, by JSON Pointer."""
    left, right = dict(leaves(one.json)), dict(leaves(other.json))
    return frozenset(
        pointer
        for pointer in {*left, *right}
        if pointer not in left or pointer not in right or left[pointer] != right[pointer]
    )


def _keys(sent: Observation) -> object:
    """The members of a representation: an answer to a write may hold the whole of it."""
    return set(sent.json) if isinstance(sent.json, dict) else None


def _bare(tag: str) -> str:
    return tag.strip().removeprefix("W/").strip('"')
