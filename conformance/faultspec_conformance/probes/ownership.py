"""Which tenant's resource an answer shows.

Two tenants may count their ids alike, so an equal id alone proves nothing.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from faultspec_conformance.config import Identity
from faultspec_conformance.session.fixtures import likely_body, make
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    identifier_of,
    last_placeholder,
    path_of,
)

#: Characters. A shorter value or id may occur in an answer by chance.
_TELLING = 8

#: Further resources that are created, at most, to find one whose id the other tenant does not have.
_MORE = 2


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence that an answer shows a resource.

    ``marks``: the texts of its creation that no other creation has.
    """

    creation: Observation
    id: object
    marks: Sequence[str]

    def has_mark(self, answer: Observation) -> bool:
        """Whether an answer has one of the marks in its body, in any case."""
        body = answer.json
        raw = _text(answer)
        found = [text.casefold() for text in (_texts(body) if body is not None else [raw])]
        return any(mark.casefold() in text for mark in self.marks for text in found)

    def is_shown_in(self, answer: Observation) -> bool | None:
        """Whether an answer shows the resource: by a mark, or by an unguessable id.

        None if nothing decides: the id is guessable, and not even the owner's answer has a mark.
        """
        if self.has_mark(answer):
            return True
        if unguessable(self.id) and str(self.id) in _text(answer):
            return True
        decided = self.has_mark(self.creation) or (unguessable(self.id) and not answer.ok)
        return False if decided else None


def evidence_of(session: HttpSession, resource: CreatedResource) -> Evidence:
    """Return what identifies a created resource."""
    found = marks(session, resource.kind, resource.body)
    return Evidence(resource.creation, resource.id, found)


def marks(session: HttpSession, kind: ResourceKind, body: object) -> tuple[str, ...]:
    """Return the texts of a creation's body that no other creation sends: its ``${unique}`` values,
    or made-up ones.

    A text that another body has too is fixed; one of the OpenAPI document may be sent by any
    caller.
    """
    operation, call = kind.operation("create"), kind.call("create")
    if operation is None:
        return ()
    fixed = set(_texts(likely_body(session, operation, call)))
    document = json.dumps(session.description.document)
    found = dict.fromkeys(
        text for text in _texts(body) if len(text) >= _TELLING and text not in fixed
    )
    return tuple(text for text in found if json.dumps(text)[1:-1] not in document)


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)


def _text(answer: Observation) -> str:
    return answer.exchange.response.body.decode("utf-8", "replace")


def unguessable(identifier: object) -> bool:
    """Whether two tenants cannot both have the id: it is long and not a number."""
    return isinstance(identifier, str) and len(identifier) >= _TELLING and not identifier.isdigit()


def has_namesake(
    session: HttpSession, resource: CreatedResource, stranger: Identity, marks: Sequence[str]
) -> bool:
    """Whether the other tenant got, under the resource's id, a resource that is not known to be the
    owner's.
    """
    read = resource.kind.operation("read")
    if read is None or unguessable(resource.id):
        return False
    asked = (read.method, path_of(read.template, resource.values))
    evidence = Evidence(resource.creation, resource.id, marks)
    for answer in session.knowledge.exchanges:
        exchange = answer.exchange
        if (
            answer.ok
            and exchange.identity == stranger.name
            and (exchange.request.method, exchange.request.target) == asked
            and not evidence.is_shown_in(answer)
            and (marks or answer.json != resource.creation.json)
        ):
            return True
    return False


def find_unshared(
    session: HttpSession, resource: CreatedResource, stranger: Identity
) -> CreatedResource | str:
    """Return a resource of the owner whose id no creation of the other tenant has; else why there
    is none.
    """
    kind = resource.kind
    for _ in range(_MORE):
        if str(resource.id) not in ids_of_tenant(session, kind, stranger):
            return resource
        another = make(session, kind, owner=resource.owner)
        if isinstance(another, str):
            return another
        resource = another
    if str(resource.id) not in ids_of_tenant(session, kind, stranger):
        return resource
    return f"each tenant has its own `{kind.name}` with the id {resource.id}"


def ids_of_tenant(session: HttpSession, kind: ResourceKind, identity: Identity) -> set[str]:
    """Return the ids of the resources that the tenant of an identity has created in this run."""
    create = kind.operation("create")
    if create is None:
        return set()
    names = {known.name for known in session.identities if known.tenant == identity.tenant}
    return {
        str(identifier_of(answer, last_placeholder(kind), kind))
        for answer in session.knowledge.exchanges
        if answer.ok
        and answer.exchange.identity in names
        and answer.exchange.operation == create.name
    }


def is_private(session: HttpSession, kind: ResourceKind) -> bool:
    """Whether another tenant was refused the shared resource of a kind."""
    read, shared = kind.operation("read"), session.knowledge.created.get(kind.name)
    if read is None or shared is None:
        return False
    target = path_of(read.template, shared.values)
    tenants = {known.name: known.tenant for known in session.identities}
    answers = [
        seen
        for seen in session.knowledge.own.exchanges
        if seen.exchange.request.method == "GET"
        and seen.exchange.request.target == target
        and tenants.get(seen.exchange.identity or "") not in (None, shared.owner.tenant)
    ]
    return bool(answers) and not any(seen.ok for seen in answers)
