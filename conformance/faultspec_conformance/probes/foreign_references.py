"""Another tenant's resource behind a filter of a list, and in the body of a request.

A filter must not find it, and a body that refers to it is refused like one that refers to nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from faultspec.exchange.body import replace_value
from faultspec.openapi.service import ServiceOperation
from faultspec.runtime.pointers import steps
from faultspec_conformance.config import Identity
from faultspec_conformance.probes.operations import json_writes
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
from faultspec_conformance.probes.whole_lists import pages_config, read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.filters import range_of
from faultspec_conformance.session.fixtures import body_for, ordinary_request
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
    last_placeholder,
    refers_to,
)

_CLAUSE = "tenancy/concealed"

#: Filters that are asked for each resource.
_FILTERS = 8

#: Pages of a filtered list that the other caller reads.
_PAGES = 4

#: References that are tried for each resource.
_REFERENCES = 4

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
    """Create resources that refer to the owner's; they are refused like a reference to nothing."""
    taken = ids_of_tenant(session, resource.kind, stranger)
    if resource.id is None or (not unguessable(resource.id) and str(resource.id) in taken):
        return
    asked, own = 0, OwnResources(session, stranger)
    for operation in json_writes(session):
        if operation.method != "POST" or operation.placeholders:
            continue
        for pointer in _references(body_for(session, operation), resource):
            if asked >= _REFERENCES:
                return
            asked += 1
            reference = _Reference(session, operation, resource=resource, own=own, pointer=pointer)
            yield from reference.outcomes()


def _references(body: object, resource: CreatedResource) -> Iterator[str]:
    """Yield the places in a body that refer to a kind of resource, the first of each list: by the
    name of the member, or by the id.
    """
    seen: set[str] = set()
    for pointer, value in leaves(body):
        place = re.sub(r"/\d+(?=/|$)", "/*", pointer)
        if place not in seen and _refers(pointer, value, resource):
            seen.add(place)
            yield pointer


def _refers(pointer: str, value: object, resource: CreatedResource) -> bool:
    named = [_plain(name) for name in steps(pointer) if not name.isdecimal()][-1:]
    return named == [_plain(resource.kind.name) + "id"] or value == resource.id


@dataclass(frozen=True, slots=True)
class _Reference:
    """A place in a body that refers to the owner's resource. ``own``: the resources of the
    stranger, which the other references of its bodies are about.
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
        stranger = self.own.owner
        absent = self._refer(stranger, sampling.other_identifier(self.session.source, resource.id))
        if absent.ok:
            reason = f"the service answered {absent} to {name} with `{member}` of nothing"
            yield not_exercised(_CLAUSE, reason)
            return
        foreign = self._refer(stranger, resource.id)
        subject = f"{name} with `{member}` of another tenant's {resource.kind.name}"
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
            own = self._refer(resource.owner, resource.id)
            reason = f"the service answered {own} to the owner's {name}"
            yield passed(_CLAUSE) if own.ok else not_exercised(_CLAUSE, reason)

    def _refer(self, caller: Identity, identifier: object) -> Observation:
        spec = ordinary_request(self.session, self.operation, {})
        body = spec.body if caller is self.resource.owner else self._with_own(spec.body)
        body = replace_value(body, self.pointer, identifier)
        return self.session.call(replace(spec, identity=caller, body=body))

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
