"""Making resources: by whom, below what, with which body and key."""

import re
from collections.abc import Iterator, Mapping, Sequence

from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance import sampling
from faultspec_conformance.config import ABSENT, ConfiguredCall, Identity
from faultspec_conformance.session.credentials import authority
from faultspec_conformance.session.http import Correlation, HttpSession
from faultspec_conformance.session.observation import Observation, failed, said
from faultspec_conformance.session.parameters import filled
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    content_type,
    identifier_of,
)


def fixture(world: HttpSession, kind: ResourceKind) -> CreatedResource | str:
    """The one resource of a kind that probes may read; made at the first call. A text says why there is none."""
    if kind.name not in world.made:
        made = world.made[kind.name] = make(world, kind)
        if isinstance(made, str) and world.writable and kind.operation("create") is not None:
            asked = kind.config.create is not None
            (world.not_run if asked else world.notes).append(
                f"no {kind.name} could be made: {made}"
            )
    return world.made[kind.name]


def make(
    world: HttpSession,
    kind: ResourceKind,
    *,
    owner: Identity | None = None,
    headers: Mapping[str, str | None] | None = None,
    body: object = ABSENT,
    correlation: Correlation | str = "auto",
) -> CreatedResource | str:
    """Create a resource; a text says why it could not be."""
    if not world.writable:
        return "nothing may be written (`limits: {writes: true}` allows it)"
    operation, call = kind.operation("create"), kind.call("create")
    if operation is None:
        return f"nothing is known to create a {kind.name}"
    parents = parent_values(world, operation)
    if isinstance(parents, str):
        return parents
    keyed = _keyed(world, operation)
    owners = [owner] if owner is not None else likely_owners(world, kind, operation)
    refusals: list[tuple[bool, str]] = []
    for who in owners:
        for candidate in [body] if body is not ABSENT else likely_bodies(world, operation, call):
            values = dict(parents)
            own = [name for name in operation.placeholders if name not in values]
            values |= {name: f"made-{world.tokens.hex(5)}" for name in own}

            def send(key: Mapping[str, str | None]) -> Observation:
                return world.call(
                    operation.method,
                    operation.template,
                    identity=who,  # noqa: B023 (called in this turn of the loop only)
                    values=values,  # noqa: B023
                    query=call.query if call else None,
                    headers={**key, **(call.headers if call else {}), **(headers or {})},
                    body=candidate,  # noqa: B023
                    content_type=content_type(operation),
                    correlation=correlation,
                )

            sent = send(fresh_key(world, operation))
            if keyed and sent.status in (400, 422) and headers is None:
                sent = _without_key(world, sent, send({}))
            if sent.ok:
                return _identified(kind, operation, sent, values, who, candidate)
            stopped = sent.status in (401, 403)
            refusals.append(
                (stopped, f"{operation.name} was answered {said(world.taxonomy, sent)}")
            )
            if stopped:
                break
    # What is wrong with the request says more than what another caller may not do.
    return min(refusals, key=lambda each: each[0], default=(False, "nobody may create one"))[1]


def _without_key(world: HttpSession, refused: Observation, again: Observation) -> Observation:
    """A creation that was refused with an idempotency key and accepted without one: the key is what was refused."""
    if again.ok and world.taxonomy.idempotency is not None:
        world.own.keyless = True
        message = f"a write with {world.taxonomy.idempotency.key} is answered {refused}, the same without it {again}"
        world.outcomes.append(failed("idempotency/replay", message, again, refused))
    return again if again.ok else refused


def untouched(world: HttpSession, kind: ResourceKind) -> CreatedResource | str:
    """A resource that nothing has changed yet: one that an earlier probe made and left, or a new one."""
    return world.own.spare.pop(kind.name, None) or make(world, kind)


def restore(world: HttpSession) -> None:
    """Make anew what probes share and one of them has changed, or deleted: the next finds it as if it were the first."""
    for kind in world.kinds:
        if kind.name in world.touched:
            made = make(world, kind)
            world.made[kind.name] = (
                made if isinstance(made, CreatedResource) else world.made[kind.name]
            )
    world.touched.clear()


def _identified(
    kind: ResourceKind,
    operation: ServiceOperation,
    sent: Observation,
    values: dict[str, object],
    who: Identity,
    body: object,
) -> CreatedResource | str:
    names = re.findall(r"{([^{}]+)}", kind.item or "")
    if operation.method == "PUT":
        identifier: object = list(values.values())[-1] if values else None
    else:
        identifier = identifier_of(sent, names[-1] if names else "id", kind)
        if identifier is None:
            pointer = kind.config.id
            if pointer is not None:
                return f"no {pointer} in the answer ({sent}) of {operation.name}"
            return f"the answer to {operation.name} does not tell the id of what was made"
    places = dict(
        zip(names, [*list(values.values())[: max(0, len(names) - 1)], identifier], strict=False)
    )
    return CreatedResource(kind, identifier, places, who, body, sent)


def likely_owners(
    world: HttpSession, kind: ResourceKind, operation: ServiceOperation
) -> Sequence[Identity]:
    """Who might create one, the likeliest first."""
    if kind.config.identity is not None:
        return [world.target.identity(kind.config.identity)]
    return allowed(world, operation) or [world.caller]


def allowed(world: HttpSession, operation: ServiceOperation) -> Sequence[Identity]:
    """Who may do it, as far as anyone says."""
    return [identity for identity in world.identities() if authority(identity, operation)]


def likely_bodies(
    world: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None
) -> Iterator[object]:
    """Bodies that ought to be accepted, the likeliest first."""
    if call is not None and (call.body is not ABSENT or call.raw is not None):
        yield filled(world.tokens, call.body)
        return
    if operation.body is None:
        yield ABSENT
        return
    example = operation.body.example
    if example is None:
        example = sampling.example_of(world.description.schema(operation.body.schema))
    if example is not None:
        yield sampling.vary(world.source, operation.body.schema, example)
    yield sampling.value(world.source, operation.body.schema)
    if example is not None:
        yield example


def likely_body(
    world: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None = None
) -> object:
    """The likeliest body."""
    return next(likely_bodies(world, operation, call))


def parent_values(world: HttpSession, operation: ServiceOperation) -> dict[str, object] | str:
    """Values for the placeholders of a collection that lies under another item, which is made for it."""
    if not operation.placeholders:
        return {}
    values: dict[str, object] = {}
    own = operation.template.rstrip("/").endswith("}")
    for name in operation.placeholders[: -1 if own else None]:
        prefix = operation.template.partition("{" + name + "}")[0] + "{" + name + "}"
        kind = next(
            (k for k in world.kinds if k.item is not None and shape_of(k.item) == shape_of(prefix)),
            None,
        )
        if kind is None:
            parameter = operation.parameter(name, "path")
            if parameter is None or parameter.example is None:
                return f"nothing is known to fill {{{name}}} of {operation.name}"
            values[name] = parameter.example
            continue
        made = fixture(world, kind)
        if isinstance(made, str):
            return f"{operation.name} needs a {kind.name}: {made}"
        values[name] = list(made.values.values())[-1]
    return values


def fresh_key(world: HttpSession, operation: ServiceOperation) -> dict[str, str | None]:
    """An idempotency key of its own for a write that takes one: a UUID, as most clients make them."""
    rule = world.taxonomy.idempotency
    return (
        {rule.key: world.tokens.id("uuid4")}
        if rule is not None and _keyed(world, operation)
        else {}
    )


def _keyed(world: HttpSession, operation: ServiceOperation) -> bool:
    rule = world.taxonomy.idempotency
    return rule is not None and operation.method in rule.methods and not world.keyless
