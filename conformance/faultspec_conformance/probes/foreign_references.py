"""Another tenant's resource behind a filter of a list, and in the body of a request.

A filter must not find it, and a body that refers to it is refused like one that refers to nothing.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial

from faultspec.exchange.body import replace_value
from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import steps
from faultspec_conformance.config import ABSENT, Identity
from faultspec_conformance.probes.operations import body_members, json_writes
from faultspec_conformance.probes.ownership import (
    ForeignResources,
    ShownResource,
    boundary_between,
    evidence_of,
    foreign_resources,
    ids_of_tenant,
    is_private,
    marks,
    shares_tenant,
    unguessable,
)
from faultspec_conformance.probes.preconditions import call_past_condition
from faultspec_conformance.probes.updates import change_body
from faultspec_conformance.probes.whole_lists import pages_config, read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.filters import range_of
from faultspec_conformance.session.fixtures import (
    CONFLICT,
    body_for,
    configured_call,
    make,
    request_to,
)
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    list_items,
    not_exercised,
    passed,
)
from faultspec_conformance.session.own_resources import OwnResources
from faultspec_conformance.session.parameters import id_of_item, required_query
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    last_placeholder,
    refers_to,
)

_CLAUSE = "tenancy/concealed"

#: Filters that are asked for each resource.
_FILTERS = 8

#: Pages of a filtered list that the other caller reads.
_PAGES = 4

#: References that are tried for each resource.
_REFERENCES = 6

#: Schemas of parameters that do not take any text.
_NOT_FREE = frozenset({"enum", "const", "format", "pattern"})

#: Statuses of a request that is refused for its caller, its form or its number.
_OTHER_REASONS = frozenset({401, 405, 415, 429})


def check_filters(
    session: HttpSession, resource: CreatedResource, stranger: Identity
) -> Iterator[Outcome]:
    """Ask lists for what the owner's resource has; they must not show it."""
    kinds = [resource.kind]
    if not shares_tenant(resource.owner, stranger):  # else it is not known what it may see
        others = (kind for kind in session.kinds if kind != resource.kind)
        kinds += (kind for kind in others if is_private(session, kind))
    foreign = foreign_resources(session, kinds, resource, stranger)
    subject = f"another {boundary_between(resource.owner, stranger)}'s {resource.kind.name}"
    asked = 0
    for operation in session.inventory.operations:
        if operation.method != "GET" or operation.placeholders:
            continue
        for name, value in _filters(session, operation, resource):
            if asked >= _FILTERS:
                return
            asked += 1
            if not foreign.evidence:
                reason = f"nothing tells whether a list shows {subject}"
                yield not_exercised(_CLAUSE, f"{reason}: no id is unguessable, no text is unique")
                return
            query = {**required_query(session, operation), name: value}
            pages = read_pages(
                session,
                operation,
                pages_config(session, operation),
                RequestSpec("GET", operation.template, identity=stranger, query=query),
                until=partial(_shows, foreign, value),
                most=_PAGES,
            )
            shown = foreign.find_in(pages[-1], value) if pages else None
            if shown is not None:
                is_near = shares_tenant(resource.owner, stranger)
                what = subject if is_near else _describe_shown(session, pages[-1], shown, stranger)
                message = f"{operation.name} with `{name}` shows {what}"
                yield failed(_CLAUSE, message, resource.creation, pages[-1], variant="filter")
            elif len(pages) == _PAGES:
                reason = f"{_PAGES} pages of {operation.name} with `{name}` were read, not all"
                yield not_exercised(_CLAUSE, reason)
            elif pages:
                yield passed(_CLAUSE)


def _shows(foreign: ForeignResources, value: object, page: Observation) -> bool:
    return foreign.find_in(page, value) is not None


def _describe_shown(
    session: HttpSession, page: Observation, shown: ShownResource, stranger: Identity
) -> str:
    """Say what a list shows: a resource of another tenant, or an item that refers to it."""
    what, referring = f"another tenant's {shown.kind.name}", []
    for item in list_items(page.json):
        places = [place for place, value in leaves(item) if value == shown.sign]
        own = id_of_item(item, last_placeholder(shown.kind))
        if not places or not isinstance(item, dict):
            continue
        if str(own) == shown.id:
            return what
        mine = (one for one in session.kinds if str(own) in ids_of_tenant(session, one, stranger))
        holder = next(mine, None)
        whose = f"the caller's own {holder.name}" if holder is not None else "an item"
        referring.append(f"{whose}, whose `{places[0].removeprefix('/')}` is that of {what}")
    return next(iter(referring), what)


def _filters(
    session: HttpSession, operation: ServiceOperation, resource: CreatedResource
) -> Iterator[tuple[str, object]]:
    """Yield the query parameters that may find a resource: by a value that it was created with or
    was answered with, by its id, or by a free text that only its body has.
    """
    body = resource.body if isinstance(resource.body, dict) else {}
    values = _values(resource.creation.json) | _values(body)
    free_texts = []
    own = marks(session, resource.kind, body)
    for parameter in operation.parameters:
        if parameter.where != "query":
            continue
        schema = sampling.only_branch(session.description.document, parameter.schema)
        free = sampling.kind(schema) == "string" and _NOT_FREE.isdisjoint(schema)
        name = _plain(parameter.name)
        if name == "id" or refers_to(parameter.name, resource.kind.names):
            yield parameter.name, resource.id
        elif _names_correlation(session, name):
            yield parameter.name, _correlation_of(session, resource.creation)
        elif name in values:
            yield parameter.name, values[name]
        elif (bound := _plain(range_of(parameter.name)[1])) in values:
            yield parameter.name, values[bound]
        elif free and own:
            free_texts.append((parameter.name, own[0]))
    yield from free_texts


def _names_correlation(session: HttpSession, name: str) -> bool:
    """Whether a parameter asks for a correlation id, by its name without punctuation."""
    echo = session.echo
    return echo is not None and name == _plain(echo.header).removeprefix("x")


def _correlation_of(session: HttpSession, creation: Observation) -> object:
    """Return the correlation id of the request that created a resource."""
    assert session.echo is not None
    sent = creation.exchange.request_header(session.echo.header)
    return sent or creation.header(session.echo.answer_header) or ""


def _values(body: object) -> dict[str, object]:
    """Return the texts, integers and Booleans of a body by their names; the first of a name."""
    found = ((steps(place)[-1], value) for place, value in leaves(body) if place)
    texts = [(_plain(name), value) for name, value in found if isinstance(value, str | int)]
    return dict(reversed(texts))


def check_references(
    session: HttpSession, resource: CreatedResource, stranger: Identity
) -> Iterator[Outcome]:
    """Refer to the owner's resource in the bodies of writes, those on and below items of the
    stranger too; they are refused like a reference to nothing.
    """
    taken = ids_of_tenant(session, resource.kind, stranger)
    if resource.id is None or (not unguessable(resource.id) and str(resource.id) in taken):
        return
    own, names = OwnResources(session, stranger), []
    for operation in json_writes(session):
        body = _body_of(session, operation)
        for pointer in _references(session, operation, body, resource):
            names.append(f"`{pointer[1:]}` of {operation.name}")
            if len(names) > _REFERENCES:
                continue
            reference = _Reference(session, operation, resource=resource, own=own, pointer=pointer)
            yield from reference.outcomes()
    if left := names[_REFERENCES:]:
        what = f"another tenant's {resource.kind.name} in {', '.join(left)}"
        yield not_exercised(_CLAUSE, f"{_REFERENCES} other places were tried, and not {what}")


def _body_of(session: HttpSession, operation: ServiceOperation) -> object:
    """Return a body that a write should accept; that of a change if it is one."""
    if operation.method == "POST":
        return body_for(session, operation)
    shape = shape_of(operation.template)
    kind = next((one for one in session.kinds if shape_of(one.item or "") == shape), None)
    return body_for(session, operation) if kind is None else change_body(session, kind, operation)


def _references(
    session: HttpSession, operation: ServiceOperation, body: object, resource: CreatedResource
) -> Iterator[str]:
    """Yield the places in a body that refer to a kind of resource, the first of each list: by the
    name of the member, by the id, or because the configuration has the id there. Then the members
    of these names that the body might have too.
    """
    seen: set[str] = set()
    written = {*_written_places(session, operation, resource.kind)}
    for pointer, value in leaves(body):
        place = re.sub(r"/\d+(?=/|$)", "/*", pointer)
        is_named = pointer in written or _is_named(pointer, resource.kind)
        if place not in seen and (is_named or _is_same(value, resource)):
            seen.add(place)
            yield pointer
    if isinstance(body, dict):
        yield from _optional_references(session, operation, body.keys(), resource.kind)


def _optional_references(
    session: HttpSession, operation: ServiceOperation, sent: Collection[str], kind: ResourceKind
) -> Iterator[str]:
    """Yield the places of documented members that refer to a kind and that a body lacks."""
    for name, node in body_members(session, operation).items():
        takes_id = sampling.kind(node) in ("string", "integer")
        is_writable = takes_id and not sampling.is_read_only(node)
        if name not in sent and refers_to(name, kind.names) and is_writable:
            yield child("", name)


def _written_places(
    session: HttpSession, operation: ServiceOperation, kind: ResourceKind
) -> Iterator[str]:
    """Yield the places of a configured body that have the id of a kind, such as `${room.id}`."""
    call = configured_call(session, operation)
    if call is not None and call.body is not ABSENT:
        ids = {f"${{{name}.id}}" for name in kind.names}
        yield from (place for place, value in leaves(call.body) if str(value) in ids)


def _is_named(pointer: str, kind: ResourceKind) -> bool:
    named = [name for name in steps(pointer) if not name.isdecimal()][-1:]
    return any(refers_to(name, kind.names) for name in named)


def _is_same(value: object, resource: CreatedResource) -> bool:
    """Whether a value is the id of a resource; an equal number may be any quantity."""
    return value == resource.id and unguessable(resource.id)


@dataclass(frozen=True, slots=True)
class _Reference:
    """A place in a body that refers to the owner's resource. ``own``: the resources of the
    stranger, which the path and the other references of its bodies are about.
    """

    session: HttpSession
    operation: ServiceOperation
    resource: CreatedResource
    own: OwnResources
    pointer: str

    def outcomes(self) -> Iterator[Outcome]:
        """Compare a reference to the owner's resource with one to nothing, both by the stranger,
        and with one by the owner.
        """
        resource, name, member = self.resource, self.operation.name, self.pointer[1:]
        subject = f"{name} with `{member}` of another tenant's {resource.kind.name}"
        above = self.own.values_for(self.operation)
        if isinstance(above, str):
            yield not_exercised(_CLAUSE, f"{self.own.owner.name} cannot send {subject}: {above}")
            return
        absent = self._refer(self.own, sampling.other_identifier(self.session.source, resource.id))
        if absent.ok:
            reason = f"the service answered {absent} to {name} with `{member}` of nothing"
            yield not_exercised(_CLAUSE, reason)
            return
        foreign = self._refer(self.own, resource.id)
        exchanges = (resource.creation, absent, foreign)
        # A 403 for the one and not for the other tells that the one exists.
        forbids = absent.status == foreign.status == 403
        if forbids or {absent.status, foreign.status} & _OTHER_REASONS:
            yield not_exercised(_CLAUSE, f"the service answered {foreign} to {subject}")
        elif foreign.ok:
            message = f"the service answered {foreign} to {subject}; expected a refusal"
            yield failed(_CLAUSE, message, *exchanges, variant="reference")
        elif (foreign.status, foreign.code) != (absent.status, absent.code):
            message = f"{subject}: the answer is {foreign}; expected {absent}, as for a missing one"
            yield failed(_CLAUSE, message, *exchanges, variant="difference")
        elif evidence_of(self.session, resource).has_mark(foreign):
            message = f"{subject}: the answer ({foreign}) has a text of that {resource.kind.name}"
            yield failed(_CLAUSE, message, *exchanges, variant="shown")
        else:
            yield self._compare_with_owner()

    def _compare_with_owner(self) -> Outcome:
        """Check that the owner's reference is accepted: else the refusals may have another reason.
        After a conflict, it refers to a new resource: a tool may be lent only once.
        """
        resource, owners = self.resource, OwnResources(self.session, self.resource.owner)
        above = owners.values_for(self.operation)
        if isinstance(above, str):
            reason = f"the owner cannot send {self.operation.name}: {above}"
            return not_exercised(_CLAUSE, reason)
        answer = self._refer(owners, resource.id)
        if answer.status == CONFLICT:
            fresh = make(self.session, resource.kind, owner=resource.owner)
            answer = answer if isinstance(fresh, str) else self._refer(owners, fresh.id)
        reason = f"the service answered {answer} to the owner's {self.operation.name}"
        return passed(_CLAUSE) if answer.ok else not_exercised(_CLAUSE, reason)

    def _refer(self, own: OwnResources, identifier: object) -> Observation:
        """Send the write for the owner of resources, on or below one of them."""
        values = own.values_for(self.operation)
        assert not isinstance(values, str)
        spec = request_to(self.session, self.operation, values)
        body = _body_of(self.session, self.operation)
        if own.owner is not self.resource.owner:
            body = self._with_own(body)
        body = replace_value(body, self.pointer, identifier)
        spec = replace(spec, identity=own.owner, body=body)
        return call_past_condition(self.session, self.operation, spec, reader=own.owner)

    def _with_own(self, body: object) -> object:
        """Return a body whose other references are to resources of the stranger."""
        for shared in self.session.knowledge.created.values():
            places = [
                pointer
                for pointer, value in leaves(body)
                if pointer != self.pointer and value == shared.id
            ]
            if not places or shared.owner.name == self.own.owner.name:
                continue
            own = self.own.find(shared.kind)
            if isinstance(own, CreatedResource):
                for pointer in places:
                    body = replace_value(body, pointer, own.id)
        return body


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
