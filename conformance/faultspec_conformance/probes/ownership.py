"""Which tenant's resource an answer shows.

Two tenants may count their ids alike, so an equal id alone proves nothing.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from faultspec_conformance.config import Identity
from faultspec_conformance.session.fixtures import likely_body, make
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.parameters import id_of_item
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
    return _marks_of(session, kind, [body])[0]


def _marks_of(
    session: HttpSession, kind: ResourceKind, bodies: Sequence[object]
) -> list[tuple[str, ...]]:
    """Return the marks of each body."""
    operation, call = kind.operation("create"), kind.call("create")
    if operation is None:
        return [()] * len(bodies)
    fixed = set(_texts(likely_body(session, operation, call)))
    document = json.dumps(session.description.document)
    return [
        tuple(
            dict.fromkeys(
                text
                for text in _texts(body)
                if len(text) >= _TELLING
                and text not in fixed
                and json.dumps(text)[1:-1] not in document
            )
        )
        for body in bodies
    ]


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


@dataclass(frozen=True, slots=True)
class ShownResource:
    """A resource that an answer shows. ``sign``: its id, or the mark that shows it."""

    kind: ResourceKind
    id: str
    sign: str


@dataclass(frozen=True, slots=True)
class ForeignResources:
    """The resources that one tenant created in this run, to look for in the answers to another.

    ``evidence``: that of each resource, with its kind. ``own_ids``: those of the caller's tenant by
    the names of kinds. ``sent``: the texts that the caller's tenant wrote.
    """

    evidence: Sequence[tuple[ResourceKind, Evidence]]
    own_ids: Mapping[str, set[str]]
    sent: frozenset[str]

    def find_in(self, answer: Observation, asked: object = None) -> ShownResource | None:
        """Return a resource that an answer shows, or None.

        An unguessable id does, and so does a mark that the caller's tenant never wrote. ``asked``:
        the value of a filter, which an answer may repeat, so it shows nothing by itself. An item
        shows the resource if it has both its id and one of its marks.
        """
        text, repeated = _text(answer), str(asked).casefold()
        found = "\n".join(_texts(answer.json)).casefold() or text.casefold()
        items = [(item, "\n".join(_texts(item)).casefold()) for item in _items_in(answer.json)]
        for kind, each in self.evidence:
            identifier = str(each.id)
            is_own = identifier in self.own_ids[kind.name]
            is_shown = identifier in text and identifier != str(asked)
            if unguessable(each.id) and is_shown and not is_own:
                return ShownResource(kind, identifier, identifier)
            for mark in (mark for mark in each.marks if mark.casefold() in found):
                shown = mark.casefold()
                if mark not in self.sent and shown not in repeated:
                    return ShownResource(kind, identifier, mark)
                if not is_own and any(
                    str(id_of_item(item, last_placeholder(kind))) == identifier and shown in content
                    for item, content in items
                ):
                    return ShownResource(kind, identifier, mark)
        return None


def sent_texts(session: HttpSession, names: Collection[str]) -> frozenset[str]:
    """Return the texts in the bodies that the identities of these names sent."""
    return frozenset(
        text
        for answer in session.knowledge.exchanges
        if answer.exchange.identity in names
        for text in _texts(_sent_body(answer))
    )


def shows_overwriting(
    session: HttpSession, resource: CreatedResource, write: Observation, *, after: Observation
) -> bool:
    """Whether a read by the owner shows an effect of a PUT or DELETE by another tenant: the
    resource is gone, and its tenant did not delete it, or has a text that the other alone sent.
    """
    names = _names_of_tenant(session, resource.owner)
    if after.status in (404, 410):
        path = after.exchange.request.target
        return not any(
            (answer.exchange.request.method, answer.exchange.request.target) == ("DELETE", path)
            and answer.exchange.identity in names
            for answer in session.knowledge.exchanges
        )
    new = {text for text in _texts(_sent_body(write)) if len(text) >= _TELLING}
    return after.ok and bool((new & {*_texts(after.json)}) - sent_texts(session, names))


def foreign_resources(
    session: HttpSession,
    kinds: Sequence[ResourceKind],
    resource: CreatedResource,
    caller: Identity,
) -> ForeignResources:
    """Return a resource, and all others of some kinds that the tenant of its owner created, as far
    as something shows them in an answer to ``caller``. Within one tenant: that its owner created.
    """
    is_near = shares_tenant(resource.owner, caller)
    owners = {resource.owner.name} if is_near else _names_of_tenant(session, resource.owner)
    names = _names_beside(session, resource.owner, caller)
    evidence = []
    for kind in kinds:
        creations = list(_creations_by(session, kind, owners))
        bodies = [
            resource.body if creation is resource.creation else _sent_body(creation)
            for creation in creations
        ]
        for creation, found in zip(creations, _marks_of(session, kind, bodies), strict=True):
            identifier = identifier_of(creation, last_placeholder(kind), kind)
            if found or unguessable(identifier):
                evidence.append((kind, Evidence(creation, identifier, found)))
    own_ids = {kind.name: _ids_by(session, kind, names) for kind in kinds}
    return ForeignResources(evidence, own_ids, sent_texts(session, names))


def _sent_body(answer: Observation) -> object:
    """Return the body of a request: JSON, or its text."""
    sent = answer.exchange.request.body
    try:
        return json.loads(sent)
    except (ValueError, RecursionError):
        return sent.decode("utf-8", "replace")


def _items_in(value: object) -> Iterator[dict[str, object]]:
    """Yield the objects that are items of a list anywhere in a JSON value."""
    for member in value.values() if isinstance(value, dict) else ():
        yield from _items_in(member)
    for member in value if isinstance(value, list) else ():
        if isinstance(member, dict):
            yield member
        yield from _items_in(member)


def has_namesake(
    session: HttpSession, resource: CreatedResource, stranger: Identity, marks: Sequence[str]
) -> bool:
    """Whether the other tenant has made a resource of the same id, or got one under that id that is
    not known to be the owner's.
    """
    if has_made_namesake(session, resource, stranger):
        return True
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


def has_made_namesake(session: HttpSession, resource: CreatedResource, stranger: Identity) -> bool:
    """Whether the other tenant, or the colleague, has made a resource of the same id."""
    names = _names_beside(session, resource.owner, stranger)
    return str(resource.id) in _ids_by(session, resource.kind, names)


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
    return _ids_by(session, kind, _names_of_tenant(session, identity))


def shares_tenant(owner: Identity, other: Identity) -> bool:
    """Whether two identities belong to one tenant."""
    return owner.tenant == other.tenant


def boundary_between(owner: Identity, other: Identity) -> str:
    """Return what parts two identities, in a word: their tenants, or owners in one tenant."""
    return "owner" if shares_tenant(owner, other) else "tenant"


def _ids_by(session: HttpSession, kind: ResourceKind, names: Collection[str]) -> set[str]:
    return {
        str(identifier_of(answer, last_placeholder(kind), kind))
        for answer in _creations_by(session, kind, names)
    }


def _creations_by(
    session: HttpSession, kind: ResourceKind, names: Collection[str]
) -> Iterator[Observation]:
    """Yield the successful creations by the identities of these names, those by PUT included
    (RFC 9110, section 9.3.4).
    """
    create = kind.operation("create")
    if create is None:
        return
    for answer in session.knowledge.exchanges:
        made = {create.name, f"PUT {kind.item}"} if answer.status == 201 else {create.name}
        if answer.ok and answer.exchange.identity in names and answer.exchange.operation in made:
            yield answer


def _names_of_tenant(session: HttpSession, identity: Identity) -> set[str]:
    """Return the names of the identities of one tenant."""
    return {known.name for known in session.identities if known.tenant == identity.tenant}


def _names_beside(session: HttpSession, owner: Identity, other: Identity) -> set[str]:
    """Return the names of the identities of another tenant, or of a colleague alone."""
    return {other.name} if shares_tenant(owner, other) else _names_of_tenant(session, other)


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
