"""Resources: making the ones other probes read, asking for ones that are not there, making one twice."""

from collections.abc import Iterator

from faultspec.exchange.model import Canary
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ABSENT
from faultspec_conformance.probes.framework import body_for, refused
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import fixture, fresh_key
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    passed,
    slot,
)
from faultspec_conformance.session.parameters import absent_value, known_values
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    content_type,
    is_json_write,
)

#: So many items of no resource are asked for by an id that names nothing.
_OTHERS = 12

_ITEM = ("read", "update", "delete")


def fixtures(world: HttpSession) -> Iterator[Outcome]:
    """One resource of every kind, for the probes that follow."""
    for kind in world.turn:
        made = fixture(world, kind)
        if isinstance(made, str):
            yield not_exercised("framework/unknown-id", f"{kind.name}: {made}")


def unknown_ids(world: HttpSession) -> Iterator[Outcome]:
    """Reading, changing and deleting what is not there."""
    clause = "framework/unknown-id"
    asked = set(world.own.absent)
    for kind in world.turn:
        made = world.made.get(kind.name)
        for role in _ITEM:
            operation = kind.operation(role)  # type: ignore[arg-type]
            if (
                operation is None
                or not operation.placeholders
                or (operation.writes and not world.writable)
            ):
                continue
            if operation.name in asked:
                continue
            asked.add(operation.name)
            yield _absent(world, operation, made if isinstance(made, CreatedResource) else None)
    for operation in world.description.operations:
        if (
            operation.method == "GET"
            and operation.placeholders
            and operation.name not in asked
            and len(asked) < _OTHERS
        ):
            asked.add(operation.name)
            yield _absent(world, operation, None)
    if not asked:
        yield not_exercised(clause, "no path has an id in it")


def _absent(
    world: HttpSession, operation: ServiceOperation, made: CreatedResource | None
) -> Outcome:
    values = dict(known_values(world, operation))
    last = operation.placeholders[-1]
    values[last] = absent_value(world, operation, last)
    if made is None:
        values |= {
            name: absent_value(world, operation, name)
            for name in operation.placeholders
            if name not in values
        }
    body = body_for(world, operation) if is_json_write(operation) else ABSENT
    sent = world.call(
        operation.method,
        operation.template,
        values=values,
        headers=fresh_key(world, operation),
        body=body,
        content_type=content_type(operation),
        plant=(Canary("id", str(values[last])),),
    )
    return nothing_there(world, sent)


def nothing_there(world: HttpSession, sent: Observation) -> Outcome:
    """What became of a request for an id that names nothing."""
    clause, operation = "framework/unknown-id", sent.exchange.operation
    if sent.ok and sent.exchange.request.method in ("PUT", "DELETE"):
        return not_exercised(
            clause, f"{operation} of what is not there is answered {sent}, as its definition allows"
        )
    if sent.status in (401, 403, 405, 412, 428):
        return not_exercised(
            clause, f"{operation} looked at something else first and answered {sent}"
        )
    return refused(clause, sent, "an id that names nothing")


def duplicates(world: HttpSession) -> Iterator[Outcome]:
    """The same resource twice, under different idempotency keys; the one that exists must be pointed at and readable."""
    clause = "duplicates/refused"
    kinds = [each for each in world.turn if isinstance(world.made.get(each.name), CreatedResource)]
    if not kinds:
        yield not_exercised(clause, "no resource could be made")
    for kind in kinds:
        first = world.made[kind.name]
        operation = kind.operation("create")
        assert isinstance(first, CreatedResource)
        assert operation is not None
        declared = bool(kind.config.unique)
        if not declared and "409" not in operation.responses:
            yield not_exercised(
                clause, f"nothing says that two resources {kind.name} may not be alike (`unique`)"
            )
            continue
        yield from _second(world, kind, operation, first, declared)


def _second(
    world: HttpSession,
    kind: ResourceKind,
    operation: ServiceOperation,
    first: CreatedResource,
    declared: bool,
) -> Iterator[Outcome]:
    clause = "duplicates/refused"
    canaries = (world.canary("email"),)
    closed = (
        operation.body is not None
        and world.description.schema(operation.body.schema).get("additionalProperties") is False
    )
    planted = {"contact": canaries[0].value} if isinstance(first.body, dict) and not closed else {}
    again = _create(
        world,
        operation,
        first,
        {**first.body, **planted} if isinstance(first.body, dict) else first.body,
        canaries,
    )
    if planted and again.status in (400, 422) and again.code not in _conflicts(world):
        again = _create(world, operation, first, first.body, ())
    what = f"a second {kind.name} with the same {', '.join(kind.config.unique) or 'body'}"
    if again.ok:
        if declared:
            yield failed(clause, f"{what} is accepted ({again})", first.sent, again)
        else:
            yield not_exercised(clause, f"{what} is accepted: nothing declares it unique")
        return
    if again.status in (401, 403, 404, 405, 415, 429):
        yield not_exercised(clause, f"{what} is answered {again}")
        return
    expected = _conflicts(world)
    if declared and again.code is not None and expected and again.code not in expected:
        yield failed(
            clause,
            f"{what} is answered {again}; {' or '.join(expected)} is for that",
            first.sent,
            again,
        )
        return
    if again.code is None and again.status != 409:
        yield refused(clause, again, what)
        return
    yield passed(clause)
    yield from _pointed_at(world, kind, first, again)


def _conflicts(world: HttpSession) -> tuple[str, ...]:
    codes = world.contract.codes_for(409)
    return tuple(
        code
        for code in codes
        if code in world.taxonomy.codes and world.taxonomy.codes[code].http.allows(409)
    )


def _create(
    world: HttpSession,
    operation: ServiceOperation,
    first: CreatedResource,
    body: object,
    plant: tuple[object, ...],
) -> Observation:
    values = {name: first.values.get(name) for name in operation.placeholders}
    return world.call(
        operation.method,
        operation.template,
        identity=first.owner,
        values=values,
        headers=fresh_key(world, operation),
        body=body,
        content_type=content_type(operation),
        plant=plant,  # type: ignore[arg-type]  # canaries
    )


def _pointed_at(
    world: HttpSession, kind: ResourceKind, first: CreatedResource, again: Observation
) -> Iterator[Outcome]:
    clause = "duplicates/existing-id"
    key = next(
        (
            detail_key
            for detail_key in world.taxonomy.detail_keys.values()
            if detail_key.refers_to == "resource"
        ),
        None,
    )
    if key is None:
        return
    details = slot(world.taxonomy, again, "details")
    named = details.get(key.name) if isinstance(details, dict) else None
    if named is None:
        yield not_exercised(clause, f"the refusal has no `{key.name}`")
        return
    if not isinstance(named, str | int):
        yield not_exercised(clause, f"`{key.name}` is no id")
        return
    if str(named) == str(first.id):
        yield passed(clause)
        return
    read = kind.operation("read")
    pointer = f"/details/{key.name}"
    if read is None:
        yield failed(
            clause,
            f"`{key.name}` is not the id of the {kind.name} that exists",
            first.sent,
            again,
            pointer=pointer,
        )
        return
    values = {**first.values, read.placeholders[-1]: named} if read.placeholders else {}
    found = world.call("GET", read.template, identity=first.owner, values=values)
    if found.ok and _alike(kind, first, found):
        yield passed(clause)
    elif found.ok:
        yield failed(
            clause,
            f"`{key.name}` names another {kind.name} than the one that exists",
            first.sent,
            again,
            pointer=pointer,
        )
    else:
        message = f"`{key.name}` names nothing its caller can read ({found}); the {kind.name} that exists has another id"
        yield failed(clause, message, first.sent, again, pointer=pointer)


def _alike(kind: ResourceKind, first: CreatedResource, found: Observation) -> bool:
    body = found.json
    if not isinstance(first.body, dict):
        return True
    names = kind.config.unique or tuple(first.body)
    wanted = {name: first.body.get(name) for name in names}
    return any(
        isinstance(layer, dict) and all(layer.get(name) == value for name, value in wanted.items())
        for layer in (body, *(body.values() if isinstance(body, dict) else ()))
    )
