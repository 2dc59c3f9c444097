"""Resources: creating those that other probes use, asking for missing ones, creating one twice."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from faultspec.exchange.model import Canary
from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.probes.operations import body_members
from faultspec_conformance.probes.preconditions import call_past_condition
from faultspec_conformance.probes.refusals import (
    check_absent_item,
    check_refusal,
    unknown_id,
)
from faultspec_conformance.probes.updates import change_body
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import (
    fixture,
    likely_body,
    make,
    ordinary_request,
    request_to,
)
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import renew_key
from faultspec_conformance.session.meanings import codes_meaning
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    KEEPS_RATE,
    Observation,
    error_details,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import (
    absent_value,
    known_values,
)
from faultspec_conformance.session.references import request_of_reference
from faultspec_conformance.session.requests import RequestSpec, with_tag
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    Role,
    content_type,
    identifier_of,
    is_json_write,
    last_placeholder,
    objects_in,
    refers_to,
)

_UNKNOWN_ID = "framework/unknown-id"
_REFUSED, _EXISTING = "duplicates/refused", "duplicates/existing-id"
_CONCURRENT = "duplicates/concurrent"

#: The clauses about resources with equal values.
DUPLICATES = (_REFUSED, _EXISTING, _CONCURRENT)

#: Creations at the same time. Three are enough if all of them arrive while the first is written.
_AT_ONCE = 3

#: Unique members that an update repeats one by one.
_MEMBERS = 3

#: How many operations outside the kinds of resource get a request for an id without a resource.
_OTHERS = 12

_ITEM: tuple[Role, ...] = ("read", "update", "delete")


def fixtures(session: HttpSession) -> Iterator[Outcome]:
    """Create one resource of every kind for the probes that follow."""
    for kind in session.turn:
        resource = fixture(session, kind)
        if isinstance(resource, str):
            yield not_exercised(_UNKNOWN_ID, f"{kind.name}: {resource}")


def unknown_ids(session: HttpSession) -> Iterator[Outcome]:
    """Read, change and delete by ids without a resource."""
    asked = set(session.knowledge.own.absent)
    for kind in session.turn:
        exists = kind.name in session.knowledge.created
        for operation in filter(None, map(kind.operation, _ITEM)):
            allowed = session.writable or not operation.writes
            if operation.placeholders and allowed and operation.name not in asked:
                asked.add(operation.name)
                answer = _ask_absent(session, operation, below_created=exists)
                yield check_absent_item(session, kind, operation, answer)
    below = tuple(shape_of(kind.item) + "/" for kind in session.kinds if kind.item is not None)
    others = [
        operation
        for operation in session.inventory.operations
        if operation.method == "GET" and operation.placeholders and operation.name not in asked
    ]
    # What lies below an item has the item's id; other names in a path may stand for anything.
    nested = [one for one in others if shape_of(one.template).startswith(below)]
    room = max(0, _OTHERS - len(asked))
    rest = [one for one in others if one not in nested]
    for operation in (*nested[:_OTHERS], *rest[:room]):
        asked.add(operation.name)
        yield unknown_id(session, _ask_absent(session, operation, below_created=False))
    if not asked:
        yield not_exercised(_UNKNOWN_ID, "no path has an id in it")


def _ask_absent(
    session: HttpSession, operation: ServiceOperation, *, below_created: bool
) -> Observation:
    """Ask for an id without a resource.

    ``below_created``: the other ids of the path are those of created resources.
    """
    values = known_values(session, operation)
    last = operation.placeholders[-1]
    values[last] = absent_value(session, operation, last)
    if not below_created:
        for name in operation.placeholders:
            values.setdefault(name, absent_value(session, operation, name))
    spec = ordinary_request(session, operation, values)
    canary = Canary("id", str(values[last]))
    asked = replace(spec, canaries=(canary,), trigger="an id without a resource")
    return session.call(asked)


def duplicates(session: HttpSession) -> Iterator[ProbeResult]:
    """Create the same resource twice, under different keys; the answer has to name the one that
    exists. Then give another resource its unique values by each update.
    """
    created = session.knowledge.created
    kinds = [kind for kind in session.turn if kind.name in created]
    if not kinds:
        yield not_exercised(_REFUSED, "no resource could be made")
    for kind in kinds:
        operation = kind.operation("create")
        assert operation is not None
        if not kind.config.unique and "409" not in operation.responses:
            reason = f"the configuration declares no `unique` members of `{kind.name}`"
            yield not_exercised(_REFUSED, reason)
            continue
        again = _create_again(session, operation, created[kind.name])
        outcome = _check_refused(session, kind, created[kind.name], again)
        yield outcome
        if kind.config.unique and outcome.kind == "passed":
            yield from attempt(_create_at_once(session, kind), _CONCURRENT)
        if kind.config.unique:
            yield from attempt(_update_to_duplicate(session, kind), _REFUSED)
        conflict = again.code is not None or again.status == 409
        if outcome.kind == "passed" and conflict:
            yield from _check_named(session, kind, created[kind.name], again)


def _create_at_once(session: HttpSession, kind: ResourceKind) -> Iterator[Outcome]:
    """Create a resource several times at once with the same new values, each under a key of its
    own: one creation succeeds.
    """
    operation, first = kind.operation("create"), session.knowledge.created[kind.name]
    assert operation is not None, kind.name
    if session.driver.limits.rate is not None:
        yield not_exercised(_CONCURRENT, KEEPS_RATE)
        return
    body, known = (
        likely_body(session, operation, kind.call("create")),
        first.values_for(operation.template),
    )
    values = {name: known.get(name) for name in operation.placeholders}
    answers = session.call_together(
        *(
            renew_key(
                session,
                operation,
                replace(request_to(session, operation, values), identity=first.owner, body=body),
            )
            for _ in range(_AT_ONCE)
        )
    )
    good = [answer for answer in answers if answer.ok]
    found = {str(identifier_of(answer, last_placeholder(kind), kind)) for answer in good}
    what = f"{_AT_ONCE} {operation.name} at once with the same {', '.join(kind.config.unique)}"
    if len(found) > 1:
        existing = existing_ids(session, first, found)
        if existing is None or len(existing) > 1:
            count = len(found if existing is None else existing)
            message = f"{what} created {count} of `{kind.name}`; expected one"
            yield failed(_CONCURRENT, message, *answers)
            return
    if good:
        yield passed(_CONCURRENT)
        winner = replace(first, creation=good[0], id=next(iter(found)), body=body)
        refused = [one for one in answers if one.code in _conflicts(session, kind)]
        for answer in refused if len(good) == 1 else ():
            yield from _check_named(session, kind, winner, answer)
    else:
        yield not_exercised(_CONCURRENT, f"the service answered {answers[0]} to {what}")


def existing_ids(session: HttpSession, resource: CreatedResource, ids: set[str]) -> set[str] | None:
    """Return the ids that name a resource of the same kind; None if none of them can be read.

    An answer may have an id that names nothing, such as that of a request that lost the race.
    """
    item = resource.kind.item
    if item is None or session.description.find("GET", item) is None:
        return None
    found: set[str] = set()
    for identifier in ids:
        values = {**resource.values, last_placeholder(resource.kind): identifier}
        read = session.try_call(RequestSpec("GET", item, identity=resource.owner, values=values))
        if isinstance(read, NoAnswer) or not (read.ok or read.status in (404, 410)):
            return None
        if read.ok:
            found.add(identifier)
    return found or None


def _update_to_duplicate(session: HttpSession, kind: ResourceKind) -> Iterator[Outcome]:
    """Give another resource the unique values of the one that exists."""
    existing = session.knowledge.created[kind.name]
    updates = [
        operation
        for operation in session.inventory.operations
        if operation.method in ("PUT", "PATCH")
        and shape_of(operation.template) == shape_of(kind.item or "")
        and is_json_write(operation)
        and "json-patch" not in content_type(operation)
    ]
    body = existing.body if isinstance(existing.body, dict) else {}
    values = {name: body[name] for name in kind.config.unique if name in body}
    least = len(values) if kind.config.unique_together else 1
    updates = [
        operation
        for operation in updates
        if len(_carried_members(session, operation, values)) >= least
    ]
    other = make(session, kind, owner=existing.owner) if updates and values else None
    if not isinstance(other, CreatedResource):
        return
    for operation in updates:
        outcome = _update(session, operation, existing, other, values=values)
        yield outcome
        carried = _carried_members(session, operation, values)
        separate = len(carried) > 1 and not kind.config.unique_together
        if outcome.kind == "passed" and separate:
            for name in carried[:_MEMBERS]:
                yield _update(session, operation, existing, other, values={name: values[name]})


def _carried_members(
    session: HttpSession, operation: ServiceOperation, values: Mapping[str, object]
) -> list[str]:
    """Return the members that the document allows in the body of an operation; all if it describes
    none.
    """
    documented = body_members(session, operation)
    return [name for name in values if not documented or name in documented]


def _update(
    session: HttpSession,
    operation: ServiceOperation,
    existing: CreatedResource,
    other: CreatedResource,
    values: Mapping[str, object],
) -> Outcome:
    """Check that an update to unique ``values`` that another resource has is refused.

    It changes other members as well, so that the read afterwards shows what a refusal stored.
    """
    tag = _current_tag(session, operation, other)
    own = other.body if operation.method == "PUT" and isinstance(other.body, dict) else {}
    changed = change_body(session, other.kind, operation)
    for body in (changed, own) if isinstance(changed, dict) else (own,):
        spec = with_tag(request_to(session, operation, other.item_values(operation)), tag)
        spec = replace(spec, identity=other.owner, body={**body, **values})
        answer = call_past_condition(session, operation, spec)
        invalid = answer.status in (400, 412, 422, 428)
        if not invalid or answer.code in _conflicts(session, other.kind):
            break
    what = f"{operation.name} with the {', '.join(values)} of another `{other.kind.name}`"
    if invalid and answer.code not in _conflicts(session, other.kind):
        return not_exercised(_REFUSED, f"the service answered {answer} to {what}")
    read = other.kind.operation("read")
    after = None
    if read is not None:
        # `writes/refused` judges what a refused update changed, by this read.
        values_of_item = other.item_values(read)
        after = session.call(
            RequestSpec("GET", read.template, identity=other.owner, values=values_of_item)
        )
    if not answer.ok:
        return _check_refused(session, other.kind, existing, answer, what=what)
    if after is None:
        return not_exercised(_REFUSED, f"no operation reads the result of {what}")
    shown = any(
        all(members.get(name) == value for name, value in values.items())
        for members in objects_in(after.json)
    )
    if not shown:
        return not_exercised(_REFUSED, f"the service ignored the values of {what}")
    message = f"the service accepted {what} ({answer}); expected a refusal"
    return failed(_REFUSED, message, *(existing.creation, answer, after))


def _current_tag(
    session: HttpSession, operation: ServiceOperation, resource: CreatedResource
) -> str | None:
    """Return the ETag of an unchanged resource: that of its creation or, if the operation takes
    `If-Match`, of a read.
    """
    tag, read = resource.creation.header("ETag"), resource.kind.operation("read")
    if tag is not None or read is None or operation.parameter("If-Match", "header") is None:
        return tag
    values = resource.item_values(read)
    spec = RequestSpec("GET", read.template, identity=resource.owner, values=values)
    return session.call(spec).header("ETag")


def _create_again(
    session: HttpSession, operation: ServiceOperation, first: CreatedResource
) -> Observation:
    """Create a resource again, with a canary; without it if the service refuses the canary."""
    canary = session.canary("email")
    known = first.values_for(operation.template)
    values = {name: known.get(name) for name in operation.placeholders}
    plain = replace(request_to(session, operation, values), identity=first.owner, body=first.body)
    plain = renew_key(session, operation, plain)
    closed = (
        operation.body is not None
        and session.description.schema(operation.body.schema).get("additionalProperties") is False
    )
    if not isinstance(first.body, dict) or closed:
        return session.call(replace(plain, canaries=(canary,)))
    assert isinstance(plain.body, dict)
    body = {**plain.body, "contact": canary.value}
    again = session.call(replace(plain, body=body, canaries=(canary,)))
    if again.status not in INVALID_INPUT or again.code in _conflicts(session, first.kind):
        return again
    fresh = replace(request_to(session, operation, values), identity=first.owner, body=first.body)
    return session.call(renew_key(session, operation, fresh))


def _check_refused(
    session: HttpSession,
    kind: ResourceKind,
    first: CreatedResource,
    again: Observation,
    what: str = "",
) -> Outcome:
    """Check that a second creation was refused as a conflict."""
    unique = kind.config.unique
    what = what or f"a second `{kind.name}` with the same {', '.join(unique) or 'body'}"
    if again.ok and unique:
        message = f"the service accepted {what} ({again}); expected a refusal"
        return failed(_REFUSED, message, first.creation, again)
    if again.ok:
        return not_exercised(
            _REFUSED, f"the service accepted {what}, which nothing declares unique"
        )
    if again.status in (401, 403, 404, 405, 415, 429):
        return not_exercised(_REFUSED, f"the service answered {again} to {what}")
    expected = _conflicts(session, kind)
    if unique and again.code is not None and expected and again.code not in expected:
        message = f"the service answered {again} to {what}; expected {' or '.join(expected)}"
        return failed(_REFUSED, message, first.creation, again, variant="code")
    if again.code is None and again.status != 409:
        return check_refusal(session, _REFUSED, again, what)
    return passed(_REFUSED)


def _conflicts(session: HttpSession, kind: ResourceKind) -> tuple[str, ...]:
    """Return the code that the configuration names, else the codes that may travel under 409."""
    if kind.config.unique_code is not None:
        return (kind.config.unique_code,)
    return codes_meaning(session.contract, 409)


def _check_named(
    session: HttpSession, kind: ResourceKind, first: CreatedResource, again: Observation
) -> Iterator[Outcome]:
    """Check that the detail that refers to a resource has the id of the existing resource."""
    keys = session.taxonomy.detail_keys.values()
    names = [key.name for key in keys if key.refers_to == "resource"]
    if not names:
        return
    details = error_details(session.contract, again)
    # Several refer to resources of several kinds.
    given = [name for name in names if details.get(name) is not None]
    own = (name for name in given if refers_to(name.removeprefix("existing_"), kind.names))
    name = next(own, next(iter(given), names[0]))
    named = details.get(name)
    if named is None:
        yield not_exercised(_EXISTING, f"the refusal has no `{'` or `'.join(names)}`")
    elif not isinstance(named, str | int):
        yield not_exercised(_EXISTING, f"`{name}` is not an id")
    elif str(named) == str(first.id):
        yield passed(_EXISTING)
    else:
        problem = _problem_of_id(session, kind, first, named)
        evidence = (first.creation, again)
        yield (
            passed(_EXISTING)
            if problem is None
            else failed(_EXISTING, f"`{name}` {problem}", *evidence, pointer=f"/details/{name}")
        )


def _problem_of_id(
    session: HttpSession, kind: ResourceKind, first: CreatedResource, named: object
) -> str | None:
    """Return what is wrong with an id that differs from that of the resource; None if it leads to
    the same resource.
    """
    spec = request_of_reference(session, first, named, first.owner)
    if spec is None:
        return f"is not the id of the {kind.name} that exists"
    found = session.call(spec)
    if not found.ok:
        problem = f"names nothing that its caller can read ({found})"
        return f"{problem}; the {kind.name} that exists has another id"
    if _shows_equal(kind, first, found):
        return None
    return f"does not have the id of the existing `{kind.name}`"


def _shows_equal(kind: ResourceKind, first: CreatedResource, found: Observation) -> bool:
    """Whether a representation shows the unique values, or else the body, of a resource."""
    if not isinstance(first.body, dict):
        return True
    wanted = {name: first.body.get(name) for name in kind.config.unique or tuple(first.body)}
    return any(
        all(members.get(name) == value for name, value in wanted.items())
        for members in objects_in(found.json)
    )
