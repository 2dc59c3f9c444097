"""Concealment: what belongs to another tenant answers as what is not there, to the last header.

The comparison is between a foreign id and one that names nothing. Where they differ, a second id that names nothing is asked
for: what differs between those two varies by itself (a counter, a clock) and tells nothing.
"""

import re
from collections.abc import Generator, Iterator, Mapping

from faultspec.exchange.body import steps
from faultspec.exchange.model import Canary
from faultspec.language.model import Concealment
from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance import sampling
from faultspec_conformance.config import ABSENT, Identity
from faultspec_conformance.probes.idempotency import change_body
from faultspec_conformance.probes.ownership import (
    given,
    has,
    marks,
    namesake,
    unguessable,
    unshared,
)
from faultspec_conformance.probes.resources import nothing_there
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import pagination
from faultspec_conformance.session.fixtures import fresh_key
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    not_exercised,
    passed,
    slot,
)
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    below,
    content_type,
    is_json_write,
)

_CLAUSE = "tenancy/concealed"

#: Headers that tell the moment or the length, not the resource.
_OF_THE_MOMENT = frozenset(
    {"date", "content-length", "connection", "keep-alive", "age", "server-timing"}
)

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")

#: A validator that is never right, so that a precondition looked at before the tenant shows itself.
_NEVER_GIVEN = '"faultspec-never-given"'


#: What a member is called that holds an id.
_ID = re.compile(r"(?:^|[_-])id$|Id$")


def concealed(world: HttpSession) -> Iterator[Outcome]:
    """Every operation on an item, asked by a caller of another tenant."""
    privacy = world.taxonomy.privacy
    rule = next(iter(privacy.conceal), None) if privacy is not None else None
    if rule is None:
        return
    asked = False
    for kind in world.turn:
        made = world.made.get(kind.name, "")
        if isinstance(made, str):
            continue
        stranger = world.stranger(made.owner)
        if stranger is None:
            yield not_exercised(
                _CLAUSE, "no two identities with credentials belong to different tenants"
            )
            return
        asked = True
        create = kind.operation("create")
        own = marks(world, kind, create, made.body) if create is not None else ()
        yield from _items(world, rule, kind, made, stranger, own)
        yield from _listed(world, kind, made, stranger, own)
        yield from _same_values(world, rule, kind, made, stranger)
    if not asked:
        yield not_exercised(_CLAUSE, "no resource could be made for another tenant to ask for")


def _items(
    world: HttpSession,
    rule: Concealment,
    kind: ResourceKind,
    first: CreatedResource,
    stranger: Identity,
    own: tuple[str, ...],
) -> Iterator[Outcome]:
    """Every operation on an item of the owner's, as long as the stranger has none of the same id."""
    made = unshared(world, kind, first, stranger)
    if isinstance(made, str):
        yield not_exercised(_CLAUSE, made)
        return
    create = kind.operation("create")
    if made is not first and create is not None:
        own = marks(world, kind, create, made.body)
    known: tuple[Observation, object] | None = None
    # Where a change has to name what it changes, that too may be looked at before whose it is.
    unconditional = any(code.http.allows(428) for code in world.taxonomy.live_codes())
    for operation in _on_item(world, kind):
        for condition in (
            (_NEVER_GIVEN, None) if unconditional and operation.writes else (_NEVER_GIVEN,)
        ):
            with world.guarded(_CLAUSE):
                known = yield from _compared(
                    world, rule, kind, operation, made, stranger, known, own, condition
                )
            if namesake(world, kind, made, stranger, own):
                return


def _on_item(world: HttpSession, kind: ResourceKind) -> list[ServiceOperation]:
    """What can be asked of an item: the operations on its path, then what lies below it; deleting comes last."""
    item = shape_of(kind.item or "")
    found = [
        each for each in (kind.operation("read"), kind.operation("update")) if each is not None
    ]
    for operation in world.description.operations:
        shape = shape_of(operation.template)
        here = shape == item and operation.method in ("GET", "PUT", "PATCH")
        if (here or below(operation, kind)) and operation not in found:
            found.append(operation)
    delete = kind.operation("delete")
    return [*sorted(found, key=lambda each: each.writes), *([delete] if delete is not None else [])]


def _ask(
    world: HttpSession,
    kind: ResourceKind,
    operation: ServiceOperation,
    values: Mapping[str, object],
    who: Identity,
    correlation: str,
    condition: str | None,
    *plant: Canary,
) -> Observation:
    headers: dict[str, str | None] = {**fresh_key(world, operation)}
    if operation.writes:
        headers["If-Match"] = condition
    return world.call(
        operation.method,
        operation.template,
        identity=who,
        values=values,
        headers=headers,
        body=change_body(world, kind, operation) if is_json_write(operation) else ABSENT,
        content_type=content_type(operation),
        correlation=correlation,
        plant=plant,
    )


def _compared(
    world: HttpSession,
    rule: Concealment,
    kind: ResourceKind,
    operation: ServiceOperation,
    made: CreatedResource,
    stranger: Identity,
    known: tuple[Observation, object] | None,
    own_marks: tuple[str, ...],
    condition: str | None,
) -> Generator[Outcome, None, tuple[Observation, object] | None]:
    """Compare one operation; the result is the answer about nothing, which others are compared with first.

    A change of the item is compared with one of nothing: it is looked for elsewhere than for a read, as often as not.
    """
    names = operation.placeholders
    own = dict(zip(names, made.values.values(), strict=False))

    def absent() -> tuple[Observation, object]:
        identifier = sampling.another(world.source, made.id)
        values = {**own, names[len(made.values) - 1]: identifier} if names else own
        plant = Canary("id", str(identifier))
        return _ask(world, kind, operation, values, stranger, "valid", condition, plant), identifier

    foreign = _ask(world, kind, operation, own, stranger, "valid", condition)
    world.own.absent.add(operation.name)
    changes_it = operation.method in ("PUT", "PATCH") and not below(operation, kind)
    if known is not None and not changes_it and not _differences(world, foreign, made.id, *known):
        yield passed(_CLAUSE)
        return known
    nothing, identifier = absent()
    yield nothing_there(world, nothing)
    result = (nothing, identifier) if operation.method == "GET" else known
    said = f"{operation.name} of another tenant's {kind.name}"
    if foreign.ok and not nothing.ok and namesake(world, kind, made, stranger, own_marks):
        yield not_exercised(
            _CLAUSE, f"{said} is answered {foreign}, which may be one of the same id of its own"
        )
        return result
    if foreign.ok and not nothing.ok:
        yield failed(_CLAUSE, f"{said} is answered {foreign}", made.sent, foreign)
        return result
    if foreign.status in (401, 405, 429) or nothing.status in (401, 405, 429):
        yield not_exercised(_CLAUSE, f"{said} is answered {foreign}")
        return result
    if nothing.ok:
        yield not_exercised(_CLAUSE, f"{operation.name} of what is not there is answered {nothing}")
        return result
    if operation.method == "PUT" and "201" in operation.responses:
        # RFC 9110, 9.3.4: it creates what is not there, so that a name that is taken shows, whatever refused this one.
        yield not_exercised(
            _CLAUSE, f"{operation.name} creates what is not there, as its document says"
        )
        return result
    differences = _differences(world, foreign, made.id, nothing, identifier)
    if differences:
        control, other = absent()
        moving = {name for name, _ in _differences(world, nothing, identifier, control, other)}
        differences = [(name, words) for name, words in differences if name not in moving]
    if differences:
        message = f"{said} can be told from one that is not there: {differences[0][1]}"
        yield failed(_CLAUSE, message, nothing, foreign)
    elif foreign.code in rule.never and not operation.writes and stranger.scopes is None:
        yield failed(
            _CLAUSE, f"{said} is answered {foreign}, where {rule.answer} is to be told", foreign
        )
    elif foreign.status == 403 and foreign.code != rule.answer:
        yield not_exercised(
            _CLAUSE, f"{stranger.name} is answered {foreign} whether it is there or not"
        )
    else:
        yield passed(_CLAUSE)
    return result


def _differences(
    world: HttpSession, one: Observation, one_id: object, two: Observation, two_id: object
) -> list[tuple[str, str]]:
    """What differs, each by a name that stays the same from pair to pair, and in words."""
    found: list[tuple[str, str]] = []
    if one.status != two.status:
        found.append(("status", f"{one} instead of {two}"))
    if one.code != two.code:
        found.append(("code", f"the code is {one.code} instead of {two.code}"))
    first, second = _headers(world, one, one_id), _headers(world, two, two_id)
    for name in dict.fromkeys((*first, *second)):
        if name not in second:
            found.append((name, f"it has the header {name}"))
        elif name not in first:
            found.append((name, f"it lacks the header {name}"))
        elif first[name] != second[name] and one.header(name) != two.header(name):
            found.append((name, f"the header {name} differs"))
    left, right = dict(leaves(_body(one))), dict(leaves(_body(two)))
    found += [
        (f"body {pointer}", f"the body differs at {pointer or 'its root'}")
        for pointer in dict.fromkeys((*left, *right))
        if left.get(pointer, _LACKING) != right.get(pointer, _LACKING)
        and _neutral(world, one, one_id, left.get(pointer, _LACKING))
        != _neutral(world, two, two_id, right.get(pointer, _LACKING))
    ]
    return found


_LACKING = object()


def _headers(world: HttpSession, sent: Observation, identifier: object) -> dict[str, str]:
    echo = world.echo[0].lower() if world.echo else ""
    return {
        name.lower(): _without(world, sent, identifier, value)
        for name, value in sent.exchange.response.headers
        if name.lower() not in _OF_THE_MOMENT and name.lower() != echo
    }


def _body(sent: Observation) -> object:
    body = sent.exchange.response.body
    return sent.json if sent.json is not None else body.decode("utf-8", "replace")


def _neutral(world: HttpSession, sent: Observation, identifier: object, value: object) -> object:
    """A leaf of the body, as it would be for any id and at any time."""
    if isinstance(value, str):
        return _without(world, sent, identifier, value)
    return "{id}" if not isinstance(value, bool) and str(value) == str(identifier) else value


def _without(world: HttpSession, sent: Observation, identifier: object, text: str) -> str:
    """The text without the id that was asked for, the correlation ids and the time."""
    if world.echo is not None:
        for value in (
            sent.exchange.sent(world.echo[0]),
            sent.header(world.echo[0]),
            slot(world.taxonomy, sent, world.echo[1].slot),
        ):
            if isinstance(value, str) and value:
                text = re.sub(re.escape(value), "{correlation}", text, flags=re.IGNORECASE)
    text = _TIME.sub("{time}", text)
    word = re.escape(str(identifier))
    # A count may stand inside any other number or token.
    whole = word if unguessable(identifier) else rf"(?<![0-9A-Za-z]){word}(?![0-9A-Za-z])"
    return re.sub(whole, "{id}", text, flags=re.IGNORECASE)


def _listed(
    world: HttpSession,
    kind: ResourceKind,
    made: CreatedResource,
    stranger: Identity,
    own: tuple[str, ...],
) -> Iterator[Outcome]:
    listing = kind.operation("list")
    if listing is None or listing.placeholders:
        return
    theirs = [each for each in given(world, kind, made.owner) if unguessable(each)]

    def shown(sent: Observation, *before: Observation) -> Iterator[Outcome]:
        text = sent.exchange.response.body.decode("utf-8", "replace")
        if sent.ok and (has(sent, own) or any(each in text for each in theirs)):
            message = f"{listing.name} shows another tenant's {kind.name}{' on a later page' if before else ''}"
            yield failed(_CLAUSE, message, made.sent, *before, sent)
        elif sent.ok:
            yield passed(_CLAUSE)

    first = world.call(
        "GET", listing.template, query=pagination.opening(listing), identity=stranger
    )
    outcomes = list(shown(first))
    yield from outcomes
    following = pagination.following(listing, first)
    if following is not None and [outcome.kind for outcome in outcomes] == ["held"]:
        yield from shown(
            world.call("GET", listing.template, query=following, identity=stranger), first
        )


def _names(
    world: HttpSession,
    kind: ResourceKind,
    made: CreatedResource,
    stranger: Identity,
    sent: Observation,
) -> bool:
    """Whether a refusal names a resource that is not its caller's: one that he may read under that id is his own, and an id that
    he sent himself, such as a name of a host, tells him nothing.
    """
    if any(str(each) == str(made.id) for _, each in leaves(made.body)):
        return False
    text = sent.exchange.response.body.decode("utf-8", "replace")
    if unguessable(made.id):
        return str(made.id) in text
    # A count may stand anywhere, so it counts only where an id does.
    keys = {
        detail_key.name
        for detail_key in world.taxonomy.detail_keys.values()
        if detail_key.refers_to == "resource"
    }
    named = (
        steps(pointer)[-1:] for pointer, value in leaves(sent.json) if str(value) == str(made.id)
    )
    if not any(each and (each[0] in keys or _ID.search(each[0])) for each in named):
        return False
    read = kind.operation("read")
    return (
        read is None
        or not world.call("GET", read.template, identity=stranger, values=made.values).ok
    )


def _same_values(
    world: HttpSession,
    rule: Concealment,
    kind: ResourceKind,
    made: CreatedResource,
    stranger: Identity,
) -> Iterator[Outcome]:
    """A creation with the values of another tenant's resource: that they are taken must not show."""
    operation = kind.operation("create")
    if (
        operation is None
        or operation.placeholders
        or not (kind.config.unique or "409" in operation.responses)
    ):
        return
    sent = world.call(
        operation.method,
        operation.template,
        identity=stranger,
        headers=fresh_key(world, operation),
        body=made.body,
        content_type=content_type(operation),
    )
    if not sent.ok and _names(world, kind, made, stranger, sent):
        yield failed(
            _CLAUSE,
            f"{operation.name} with another tenant's values is answered {sent}, with the id of its {kind.name}",
            made.sent,
            sent,
        )
    elif sent.code is not None and sent.code in rule.never and sent.status == 409:
        message = f"{operation.name} with another tenant's values is answered {sent}: that they are taken elsewhere shows"
        yield failed(_CLAUSE, message, made.sent, sent, level="warning")
    elif sent.ok:
        yield passed(_CLAUSE)
