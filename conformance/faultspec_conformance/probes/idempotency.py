"""Replays: the same write under the same key is the same write, at once or later; under another key, or by another tenant, it is
another.
"""

from collections.abc import Iterator, Mapping

from faultspec.language.model import Idempotency
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ABSENT, Identity
from faultspec_conformance.probes.framework import body_for
from faultspec_conformance.probes.ownership import marks, shows
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.correlation import new_id
from faultspec_conformance.session.fixtures import allowed, likely_body, parent_values, untouched
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    difference,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.parameters import filled
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    below,
    content_type,
    identifier_of,
    is_json_write,
)

_REPLAY, _CONCURRENT = "idempotency/replay", "idempotency/concurrent"

#: So many of the same at the same time: two would do where all of them arrive while the first is written.
_AT_ONCE = 3

#: So many writes that make no resource known by itself are replayed: what looks keys up is the same for all of them.
_OTHERS = 12

#: What may be said to who comes while the first is written: wait (409, 423, 425, 429, 503).
_BUSY = frozenset({409, 423, 425, 429, 503})


def replays(world: HttpSession) -> Iterator[Outcome]:
    """Create under a key and replay it; then another key, another body, another tenant; then change under a key."""
    rule = world.taxonomy.idempotency
    if rule is None:
        return
    kinds = [each for each in world.turn if isinstance(world.made.get(each.name), CreatedResource)]
    creating = [
        each
        for each in kinds
        if (op := each.operation("create")) is not None and op.method in rule.methods
    ]
    if not creating:
        yield not_exercised(_REPLAY, "no resource could be made by a method that takes a key")
    for index, kind in enumerate(creating):
        operation = kind.operation("create")
        made = world.made[kind.name]
        assert operation is not None
        assert isinstance(made, CreatedResource)
        later = index > 0 or kind.name != world.kinds[0].name
        if later and not promised(rule, operation):
            continue  # asked of one resource always, of the others where the document promises it
        yield from _creation(world, rule, kind, operation, made, at_once=index == 0)
    for kind in kinds:
        yield from _change(world, rule, kind)


def _creation(
    world: HttpSession,
    rule: Idempotency,
    kind: ResourceKind,
    operation: ServiceOperation,
    made: CreatedResource,
    *,
    at_once: bool,
) -> Iterator[Outcome]:
    key, correlation = world.tokens.hex(16), new_id(world.echo, world.tokens)
    body, call = likely_body(world, operation, kind.call("create")), kind.call("create")
    values = {name: made.values.get(name, made.id) for name in operation.placeholders}

    def headers(key: str) -> dict[str, str | None]:
        return {**(call.headers if call else {}), rule.key: key}

    def create(
        key: str, body: object, who: Identity = made.owner, correlation: str = correlation
    ) -> Observation:
        return world.call(
            operation.method,
            operation.template,
            identity=who,
            values=values,
            headers=headers(key),
            body=body,
            content_type=content_type(operation),
            correlation=correlation,
        )

    burst: list[Observation] = []
    if at_once and operation.method == "POST" and world.driver.limits.rate is None:
        burst = world.together(
            _AT_ONCE,
            operation.method,
            operation.template,
            identity=made.owner,
            values=values,
            headers=headers(key),
            body=body,
            content_type=content_type(operation),
            correlation=correlation,
        )
    done = [each for each in burst if each.ok] or [create(key, body)]
    if not done[0].ok:
        yield not_exercised(_REPLAY, f"{operation.name} was answered {done[0]}")
        return
    again = create(key, body)
    last = (kind.item or "{id}").rpartition("{")[2].removesuffix("}")

    def identified(sent: Observation) -> object:
        return identifier_of(sent, last, kind)

    identifier = identified(again)
    first, *others = sorted(done, key=lambda each: identified(each) != identifier)
    found = {str(each) for each in map(identified, done) if each is not None}
    raced = len(found) > 1 and again.ok and str(identifier) in found
    # What came while the first was written may be told that it is accepted, which is no replay.
    comparable = (
        [] if raced else [each for each in others if each.status != 202 or first.status == 202]
    )
    replays = [same(rule, first, each) for each in (*comparable, again)]
    yield from replays
    replayed = all(each.kind == "held" for each in replays)
    if replayed and len(replays) == 1:
        # The second replay is another case: what the first one left behind must not count as used up.
        yield same(rule, first, create(key, body))
    if burst:
        yield _once(rule, kind, burst, found if raced or replayed else set(), again)
    identifier = identified(first)
    if again.ok and not raced:
        yield from _only_one(world, kind, made, body, first, again)
    yield from _distinct(kind, first, made, identifier)
    if identifier is not None and kind.item is not None and not operation.placeholders:
        world.own.spare[kind.name] = CreatedResource(
            kind, identifier, {last: identifier}, made.owner, body, first
        )
    if rule.mismatch is None:
        reason = "the taxonomy leaves open what one key with two bodies means"
        yield Outcome("idempotency/mismatch", "not_checkable", reason)
    else:
        other = create(key, likely_body(world, operation, kind.call("create")), correlation="auto")
        yield _mismatch(rule, rule.mismatch, first, other)
    stranger = world.stranger(made.owner)
    if stranger is None:
        yield not_exercised("idempotency/isolation", "no identity of another tenant is declared")
    elif operation.placeholders:
        yield not_exercised(
            "idempotency/isolation", f"{operation.name} lies under a resource of its owner"
        )
    else:
        own = marks(world, kind, operation, body)
        foreign = create(key, likely_body(world, operation, kind.call("create")), stranger, "auto")
        # What refuses the key is told from what refuses the body by the same under a key that nobody used.
        refused = (
            foreign.status in (400, 409, 422) and shows(first, identifier, own, foreign) is not True
        )
        control = (
            create(
                world.tokens.hex(16),
                likely_body(world, operation, kind.call("create")),
                stranger,
                "auto",
            )
            if refused
            else None
        )
        yield _isolated(kind, first, foreign, control, shows(first, identifier, own, foreign))


def same(rule: Idempotency, first: Observation, again: Observation) -> Outcome:
    """Whether the replay is the first answer again, in what the taxonomy wants equal."""
    what = f"{again.exchange.operation} with the same {rule.key}"
    if "status" in rule.equal and again.status != first.status:
        return failed(_REPLAY, f"{what} is answered {again}, the first time {first}", first, again)
    if "body" in rule.equal and _body(again) != _body(first):
        pointer, before, now = difference(_body(first), _body(again))
        message = f"{what} has another body than the first time: {pointer or 'it'} is {now}, and was {before}"
        return failed(_REPLAY, message, first, again, pointer=pointer)
    for name in rule.headers:
        if first.header(name) != again.header(name):
            return failed(
                _REPLAY,
                f"{what} has another {name} than the first time",
                first,
                again,
                pointer=name,
            )
    return passed(_REPLAY)


def _once(
    rule: Idempotency,
    kind: ResourceKind,
    burst: list[Observation],
    found: set[str],
    again: Observation,
) -> Outcome:
    """Whether what was sent at once was done once. ``found``: the ids in its answers, of which a replay has one; none where no
    replay gives the first answer again.
    """
    what = f"{len(burst)} equal {burst[0].exchange.operation} with one {rule.key} at the same time"
    others = [each for each in burst if not each.ok and each.status not in _BUSY]
    if len(found) > 1:
        return failed(_CONCURRENT, f"{what} made {len(found)} of {kind.name}", *burst, again)
    if not found:
        return not_exercised(
            _CONCURRENT, "no replay is the first answer again, or the answers do not tell ids"
        )
    if others:
        return not_exercised(_CONCURRENT, f"one of {what} is answered {others[0]}")
    if not any(each.ok for each in burst):
        return not_exercised(_CONCURRENT, f"{what} are answered {burst[0]}")
    return passed(_CONCURRENT)


def _body(sent: Observation) -> object:
    return sent.json if sent.json is not None else sent.exchange.response.body


def _only_one(
    world: HttpSession,
    kind: ResourceKind,
    made: CreatedResource,
    body: object,
    first: Observation,
    again: Observation,
) -> Iterator[Outcome]:
    """A list, where there is one, shows what was made once."""
    listing = kind.operation("list")
    texts = (
        [each for each in body.values() if isinstance(each, str) and len(each) >= 8]
        if isinstance(body, dict)
        else []
    )
    if (
        listing is None
        or not texts
        or any(name not in made.values for name in listing.placeholders)
    ):
        return
    shown = world.call("GET", listing.template, identity=made.owner, values=made.values)
    if not shown.ok:
        return
    items = _items(shown.json)
    alike = [item for item in items if isinstance(item, dict) and texts[0] in item.values()]
    if len(alike) > 1:
        message = f"after the replay the list shows {len(alike)} of what was created once"
        yield failed(_REPLAY, message, first, again, shown)


def _items(body: object) -> list[object]:
    if isinstance(body, list):
        return body
    if isinstance(body, dict):
        return next((each for each in body.values() if isinstance(each, list)), [])
    return []


def _distinct(
    kind: ResourceKind, first: Observation, made: CreatedResource, identifier: object
) -> Iterator[Outcome]:
    """What was made under another key before must be another resource."""
    clause = "idempotency/distinct-keys"
    if identifier is None or made.id is None:
        yield not_exercised(clause, "the answers do not tell ids")
    elif identifier == made.id:
        yield failed(
            clause, f"another key and another body gave the same {kind.name}", made.sent, first
        )
    else:
        yield passed(clause)


def _mismatch(rule: Idempotency, wanted: str, first: Observation, other: Observation) -> Outcome:
    clause = "idempotency/mismatch"
    if other.code == wanted:
        return passed(clause)
    if other.status in (401, 403, 429):
        return not_exercised(clause, f"the second body was answered {other}")
    message = f"one {rule.key} with two bodies is answered {other}; the taxonomy wants {wanted}"
    return failed(clause, message, first, other)


def _isolated(
    kind: ResourceKind,
    first: Observation,
    foreign: Observation,
    control: Observation | None,
    shown: bool | None,
) -> Outcome:
    """What another tenant got for a body of its own under the key: nothing of the first one's, and not a refusal of the key."""
    clause = "idempotency/isolation"
    if shown:
        return failed(
            clause,
            f"the key of one tenant gives another the first one's {kind.name}",
            first,
            foreign,
        )
    if foreign.ok and shown is None:
        return not_exercised(clause, f"nothing in the answer tells whose {kind.name} it is")
    if foreign.ok:
        return passed(clause)
    if control is not None and control.ok:
        return failed(
            clause, f"a key that one tenant used is refused to another ({foreign})", first, foreign
        )
    return not_exercised(clause, f"the other tenant was answered {foreign}")


def _change(world: HttpSession, rule: Idempotency, kind: ResourceKind) -> Iterator[Outcome]:
    """A change under a key, replayed: the second is the first again, not a stale or a second change."""
    for operation in changes(kind, world):
        if operation.method not in rule.methods or operation.method == "POST":
            continue
        made = untouched(world, kind)
        if isinstance(made, str):
            yield not_exercised(_REPLAY, made)
            return
        etag = made.sent.header("ETag")
        headers: dict[str, str | None] = {rule.key: world.tokens.hex(16)}
        if etag is not None:
            headers["If-Match"] = etag
        yield _twice(
            world,
            rule,
            operation,
            made.owner,
            made.values,
            headers,
            change_body(world, kind, operation),
        )


def replays_below(world: HttpSession) -> Iterator[Outcome]:
    """What else is written under a key, done again: below an item, such as closing it, where the document promises a key; and
    whatever is made by POST, of which the taxonomy promises it.

    Nothing that reads the item comes after it but generated traffic: who knows what became of it.
    """
    rule = world.taxonomy.idempotency
    if rule is None:
        return
    asked = 0
    for operation in world.description.operations:
        if operation.method not in rule.methods or not (
            promised(rule, operation) or _makes(operation)
        ):
            continue
        made = _above(world, operation)
        if made is None and (
            not _makes(operation) or not _first(world) or _created(world, rule, operation)
        ):
            continue
        if made is not None and made.kind not in world.turn:
            continue
        if asked >= _OTHERS:
            world.notes.append(f"{operation.name} is not replayed: {_OTHERS} others are")
            continue
        asked += 1
        with world.guarded(_REPLAY):
            yield _again(world, rule, made, operation)


def promised(rule: Idempotency, operation: ServiceOperation) -> bool:
    """Whether the document says that the operation takes a key."""
    return operation.parameter(rule.key, "header") is not None


def _makes(operation: ServiceOperation) -> bool:
    """Whether an operation makes something by itself, which is there twice where the key is not looked at."""
    return (
        operation.method == "POST"
        and "201" in operation.responses
        and "207" not in operation.responses
    )


def _above(world: HttpSession, operation: ServiceOperation) -> CreatedResource | None:
    """The resource below which an operation lies."""
    found = (
        each
        for each in world.made.values()
        if isinstance(each, CreatedResource) and below(operation, each.kind)
    )
    return next(found, None)


def _first(world: HttpSession) -> bool:
    """Whether this is the turn of what has no kind of resource to itself."""
    return not world.kinds or world.kinds[0] in world.turn


def _created(world: HttpSession, rule: Idempotency, operation: ServiceOperation) -> bool:
    """Whether it makes a resource, and is replayed with it."""
    creates = ((index, each.operation("create")) for index, each in enumerate(world.kinds))
    return any(
        op == operation and (index == 0 or promised(rule, operation)) for index, op in creates
    )


def _again(
    world: HttpSession, rule: Idempotency, made: CreatedResource | None, operation: ServiceOperation
) -> Outcome:
    values = parent_values(world, operation) if made is None else made.values
    if isinstance(values, str):
        return not_exercised(_REPLAY, values)
    headers: dict[str, str | None] = {rule.key: world.tokens.hex(16)}
    body = body_for(world, operation) if is_json_write(operation) else ABSENT
    owner = made.owner if made is not None else next(iter(allowed(world, operation)), world.caller)
    known = dict(zip(operation.placeholders, values.values(), strict=False))
    return _twice(world, rule, operation, owner, known, headers, body)


def _twice(
    world: HttpSession,
    rule: Idempotency,
    operation: ServiceOperation,
    owner: Identity,
    values: Mapping[str, object],
    headers: Mapping[str, str | None],
    body: object,
) -> Outcome:
    """The same request under one key and one correlation id, sent twice."""
    correlation = new_id(world.echo, world.tokens)
    first, again = (
        world.call(
            operation.method,
            operation.template,
            identity=owner,
            values=values,
            headers=headers,
            body=body,
            content_type=content_type(operation),
            correlation=correlation,
        )
        for _ in range(2)
    )
    return (
        same(rule, first, again)
        if first.ok
        else not_exercised(_REPLAY, f"{operation.name} was answered {first}")
    )


def changes(kind: ResourceKind, world: HttpSession) -> list[ServiceOperation]:
    """The operations that change an item: the one of the configuration, and those of the document on the same path."""
    chosen = kind.operation("update")
    found = [chosen] if chosen is not None else []
    if kind.item is not None:
        for method in ("PUT", "PATCH"):
            other = world.description.find(method, kind.item)
            if other is not None and other not in found:
                found.append(other)
    return found


def change_body(world: HttpSession, kind: ResourceKind, operation: ServiceOperation) -> object:
    """A body for a change: the file's for the operation it names, else one that the schema allows."""
    chosen, call = kind.operation("update"), kind.call("update")
    if (
        chosen is not None
        and chosen.name == operation.name
        and call is not None
        and call.body is not ABSENT
    ):
        return filled(world.tokens, call.body)
    create = kind.call("create")
    if operation.method == "PUT" and create is not None and create.body is not ABSENT:
        return filled(world.tokens, create.body)
    return likely_body(world, operation)
