"""Whose resource an answer shows: two tenants may count their ids alike, so an equal id is no proof by itself."""

import json
from collections.abc import Iterator, Sequence

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import Identity
from faultspec_conformance.session.fixtures import likely_body, make
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, parsed
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    identifier_of,
    path_of,
)

#: A shorter value, or id, may stand in an answer by chance.
_TELLING = 8

#: So many more resources are made, at most, to find one whose id the other tenant has not given too.
_MORE = 2


def marks(
    world: HttpSession, kind: ResourceKind, operation: ServiceOperation, body: object
) -> tuple[str, ...]:
    """The texts of a creation's body that no other creation sends: its ``${unique}`` values, or made-up ones.

    What another body of the same kind has too is fixed, and what the description says anybody may send.
    """
    call = kind.call("create")
    fixed = set(texts(likely_body(world, operation, call)))
    document = json.dumps(world.description.document)
    found = [text for text in texts(body) if len(text) >= _TELLING and text not in fixed]
    return tuple(each for each in dict.fromkeys(found) if json.dumps(each)[1:-1] not in document)


def texts(value: object) -> Iterator[str]:
    """The texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


def unguessable(identifier: object) -> bool:
    """Whether an id is one that two tenants do not have both: long, and no count."""
    return isinstance(identifier, str) and len(identifier) >= _TELLING and not identifier.isdigit()


def has(sent: Observation, marks: Sequence[str]) -> bool:
    """Whether an answer has one of the marks in its body, whatever their case."""
    body = parsed(sent.exchange.response.body)
    raw = sent.exchange.response.body.decode("utf-8", "replace")
    said = [text.casefold() for text in texts(body)] if body is not None else [raw.casefold()]
    return any(mark.casefold() in each for mark in marks for each in said)


def shows(
    created: Observation, identifier: object, marks: Sequence[str], sent: Observation
) -> bool | None:
    """Whether an answer shows the resource that ``created`` is the creation of; None where nothing tells.

    A mark does; the id does where it is unguessable. Without either, a representation that shows no mark even to its
    owner leaves it open.
    """
    if has(sent, marks):
        return True
    text = sent.exchange.response.body.decode("utf-8", "replace")
    if unguessable(identifier) and str(identifier) in text:
        return True
    return False if has(created, marks) or (unguessable(identifier) and not sent.ok) else None


def namesake(
    world: HttpSession,
    kind: ResourceKind,
    made: CreatedResource,
    stranger: Identity,
    marks: Sequence[str],
) -> bool:
    """Whether the other tenant was shown, under this id, something that is not known to be the owner's."""
    read = kind.operation("read")
    if read is None or unguessable(made.id):
        return False
    target = path_of(read.template, made.values)
    return any(
        each.ok
        and each.exchange.identity == stranger.name
        and (each.exchange.request.method, each.exchange.request.target) == (read.method, target)
        and not _same(made, marks, each)
        for each in world.visible
    )


def _same(made: CreatedResource, marks: Sequence[str], sent: Observation) -> bool:
    return bool(shows(made.sent, made.id, marks, sent)) or (
        not marks and sent.json == made.sent.json
    )


def unshared(
    world: HttpSession, kind: ResourceKind, made: CreatedResource, stranger: Identity
) -> CreatedResource | str:
    """A resource of the owner's whose id the other tenant's own creations did not yield; a text says that there is none."""
    for _ in range(_MORE):
        if str(made.id) not in given(world, kind, stranger):
            return made
        more = make(world, kind, owner=made.owner)
        if isinstance(more, str):
            return more
        made = more
    if str(made.id) not in given(world, kind, stranger):
        return made
    return f"both tenants have a {kind.name} of the id {made.id}"


def given(world: HttpSession, kind: ResourceKind, who: Identity) -> set[str]:
    """The ids of what the tenant of an identity has made in this run."""
    create = kind.operation("create")
    if create is None:
        return set()
    last = (kind.item or "{id}").rpartition("{")[2].partition("}")[0]
    names = {identity.name for identity in world.identities() if identity.tenant == who.tenant}
    return {
        str(identifier_of(each, last, kind))
        for each in world.visible
        if each.ok and each.exchange.identity in names and each.exchange.operation == create.name
    }
