"""Another tenant's resource in searches by POST, and in lists of ids such as those of a bulk
deletion.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from faultspec.exchange.body import replace_value
from faultspec.openapi.nodes import Json
from faultspec.openapi.service import ServiceOperation
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import steps
from faultspec_conformance.config import Identity
from faultspec_conformance.probes.effects import GONE
from faultspec_conformance.probes.operations import body_members, json_writes
from faultspec_conformance.probes.ownership import foreign_resources, marks
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import make, ordinary_request, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    differing_pointers,
    failed,
    leaves,
    not_exercised,
    passed,
)
from faultspec_conformance.session.resources import CreatedResource, ResourceKind

_CLAUSE = "tenancy/concealed"

#: Searches, and operations with a list of ids, that are asked for each resource.
_SEARCHES = _LISTS = 2

#: Last segments of the paths of searches, such as `/rooms/search` and `/rooms:query`.
_SEARCH = re.compile(r"[/:]_?(?:search|query|find|filter|lookup)$", re.IGNORECASE)

#: Members of a search for any text.
_TEXTS = frozenset({"q", "query", "search", "text", "term", "keyword"})

#: Seconds between two reads that show which members change by themselves: many clocks count whole
#: seconds.
_TICK = 1.1

#: Statuses of a request that is refused for its caller, its form or its number.
_OTHER_REASONS = frozenset({401, 405, 415, 422, 429})

#: Members of the outcome of one item.
_OF_OUTCOMES = frozenset({"status", "code", "result", "outcome", "ok", "success", "deleted"})


def check_searches(
    session: HttpSession, resource: CreatedResource, stranger: Identity
) -> Iterator[Outcome]:
    """Search for the values of the owner's resource as the stranger."""
    searches = [
        one
        for one in json_writes(session)
        if one.method == "POST" and not one.placeholders and _SEARCH.search(one.template)
    ]
    for operation in searches[:_SEARCHES]:
        resource = _make_findable(session, operation, resource)
        foreign = foreign_resources(session, [resource.kind], resource, stranger)
        wanted = _wanted_values(session, operation, resource)
        spec = ordinary_request(session, operation, {})
        body = {**(spec.body if isinstance(spec.body, dict) else {}), **wanted}
        answer = session.call(replace(spec, identity=stranger, body=body))
        if not answer.ok:
            yield not_exercised(_CLAUSE, f"the service answered {answer} to {operation.name}")
        elif not foreign.evidence:
            reason = f"nothing tells whether {operation.name} shows a {resource.kind.name} of "
            yield not_exercised(_CLAUSE, f"{reason}another tenant")
        elif foreign.find_in(answer, "\n".join(map(str, wanted.values()))) is not None:
            message = f"{operation.name} shows another tenant's {resource.kind.name}"
            yield failed(_CLAUSE, message, resource.creation, answer, variant="search")
        else:
            yield passed(_CLAUSE)


def _make_findable(
    session: HttpSession, operation: ServiceOperation, resource: CreatedResource
) -> CreatedResource:
    """Return a resource of the owner that a search finds alone, by texts that no other one has; the
    known one if none can be made.
    """
    create = resource.kind.operation("create")
    schema = create.body.schema if create is not None and create.body is not None else {}
    document = session.description.document
    names = sampling.free_texts(document, schema) & body_members(session, operation).keys()
    nodes = sampling.properties_of(sampling.merge_all_of(document, schema))

    def renew(body: object) -> object:
        new = {
            name: sampling.new_value(session.source, sampling.only_branch(document, nodes[name]))
            for name in names
        }
        return {**body, **new} if isinstance(body, dict) else body

    made = make(session, resource.kind, owner=resource.owner, change=renew) if names else resource
    return made if isinstance(made, CreatedResource) else resource


def _wanted_values(
    session: HttpSession, operation: ServiceOperation, resource: CreatedResource
) -> Mapping[str, object]:
    """Return the members of a search that find the resource: those that its creation has too, and
    one for any text.
    """
    sent = resource.body if isinstance(resource.body, dict) else {}
    members = body_members(session, operation)
    own = marks(session, resource.kind, sent)
    found = {name: sent[name] for name in members if isinstance(sent.get(name), str | int)}
    if own and not found:
        found = {name: own[0] for name in members if name.lower() in _TEXTS}
    return found


@dataclass(frozen=True, slots=True)
class _ListOfIds:
    """An operation that takes the ids of several items. ``member``: that of its body."""

    session: HttpSession
    operation: ServiceOperation
    member: str

    def send(self, caller: Identity, identifier: object) -> Observation:
        """Send one id."""
        spec = ordinary_request(self.session, self.operation, {})
        body = replace_value(spec.body, child("", self.member), [identifier])
        return self.session.call(replace(spec, identity=caller, body=body))


def check_lists_of_ids(
    session: HttpSession, kind: ResourceKind, owner: Identity, stranger: Identity
) -> Iterator[Outcome]:
    """Send the id of a new resource of the owner as the stranger, in a list of ids. The resource is
    as it was, and the answer is that to an id of nothing.
    """
    read = kind.operation("read")
    found = [*_lists_of_ids(session, kind)][:_LISTS] if read is not None else []
    for one in found:
        fresh = make(session, kind, owner=owner)
        if isinstance(fresh, str):
            yield not_exercised(_CLAUSE, fresh)
            return
        yield from _check_list_of_ids(one, fresh, stranger)


def _lists_of_ids(session: HttpSession, kind: ResourceKind) -> Iterator[_ListOfIds]:
    """Yield the operations whose bodies have a list of ids of a kind: by the name of the kind, such
    as `room_ids`, or as `ids` below the path of its collection.
    """
    collection = (kind.item or "").rpartition("/")[0]
    document = session.description.document
    for operation in json_writes(session):
        # A PUT or a PATCH may replace a list of the caller's own.
        if operation.placeholders or operation.method not in ("POST", "DELETE"):
            continue
        for name, node in body_members(session, operation).items():
            item = sampling.only_branch(document, node.get("items") or {})
            is_list = sampling.kind(node) == "array" and _is_id(item)
            if is_list and _names_ids(name, kind, operation.template, collection):
                yield _ListOfIds(session, operation, name)


def _is_id(item: Json) -> bool:
    return sampling.kind(item) in ("string", "integer") and "enum" not in item


def _names_ids(name: str, kind: ResourceKind, template: str, collection: str) -> bool:
    plain = re.sub(r"[^a-z]", "", name.lower())
    if plain in ("ids", "idlist"):
        return bool(collection) and template.startswith((f"{collection}/", f"{collection}:"))
    forms = {re.sub(r"[^a-z]", "", form.lower()) for form in kind.names}
    return plain in {f"{form}ids" for form in forms}


def _check_list_of_ids(
    one: _ListOfIds, fresh: CreatedResource, stranger: Identity
) -> Iterator[Outcome]:
    session, kind = one.session, fresh.kind
    before = _read(session, fresh)
    if not before.ok:
        yield not_exercised(_CLAUSE, f"the service answered {before} to the owner's {kind.name}")
        return
    nothing = sampling.other_identifier(session.source, fresh.id)
    absent, foreign = one.send(stranger, nothing), one.send(stranger, fresh.id)
    after = _read(session, fresh)
    subject = f"{one.operation.name} with another tenant's {kind.name} in `{one.member}`"
    evidence = (before, foreign, after)
    is_gone = after.status in GONE
    moved = differing_pointers(before.json, after.json)
    if moved and not is_gone:  # what counts reads, or shows a time, moves again
        session.wait(_TICK, after=after)
        moved -= differing_pointers(after.json, _read(session, fresh).json)
    if is_gone or (after.ok and foreign.ok and moved):
        message = f"{subject} was answered with {foreign}, and the {kind.name} "
        message += "is gone" if is_gone else "has changed"
        yield failed(_CLAUSE, message, *evidence, variant="list-of-ids")
    elif any(one.status in _OTHER_REASONS or one.status >= 500 for one in (absent, foreign)):
        yield not_exercised(_CLAUSE, f"the service answered {foreign} to {subject}")
    elif _outcomes(absent, nothing) == _outcomes(foreign, fresh.id):
        yield passed(_CLAUSE)
    else:
        again = one.send(stranger, nothing), one.send(stranger, fresh.id)
        is_steady = _outcomes(again[0], nothing) == _outcomes(absent, nothing)
        if is_steady and _outcomes(again[1], fresh.id) == _outcomes(foreign, fresh.id):
            message = f"{subject}: the answer is not that to an id of nothing"
            yield failed(_CLAUSE, message, absent, foreign, variant="list-difference")
        else:
            reason = f"the answers to {one.operation.name} differ by themselves"
            yield not_exercised(_CLAUSE, reason)


def _read(session: HttpSession, resource: CreatedResource) -> Observation:
    read = resource.kind.operation("read")
    assert read is not None
    spec = request_to(session, read, resource.item_values(read))
    return session.call(replace(spec, identity=resource.owner))


def _outcomes(answer: Observation, identifier: object) -> tuple[object, ...]:
    """Return the status and code of an answer, and those of its items, without the id that was
    sent.
    """
    of_items = [
        (pointer.replace(str(identifier), "*"), str(value).replace(str(identifier), "*"))
        for pointer, value in leaves(answer.json)
        if pointer and not {*map(str.lower, steps(pointer)[-1:])}.isdisjoint(_OF_OUTCOMES)
    ]
    return (answer.status, answer.code, *of_items)
