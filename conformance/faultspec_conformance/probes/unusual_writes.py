"""Writes with what a service must not store as it is: members that the service itself sets, and
null for a member that is not nullable. Afterwards the resource is read.

A refusal is always right. So is a success that leaves such members alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from jsonschema import Draft202012Validator

from faultspec.exchange.finding import Level
from faultspec.openapi.nodes import Json
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.effects import GONE, find_representation, may_be_pending
from faultspec_conformance.probes.operations import body_members
from faultspec_conformance.probes.preconditions import OF_CONDITION, call_past_condition
from faultspec_conformance.probes.updates import change_body, changes
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import body_for, make, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    Observation,
    failed,
    leaves,
    not_exercised,
    passed,
    point,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec, with_tag
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    content_type,
    identifier_of,
    is_json_write,
    last_placeholder,
    path_of,
)

_OWNED, _READABLE = "writes/server-owned", "writes/readable"

#: The clauses about unusual writes.
CLAUSES = (_OWNED, _READABLE)

#: The most that a counter moves between a write and the read after it.
_COUNTED = 3

#: Members that are sent one by one, after all of them at once were refused, and members that are
#: null, one in each update.
_ALONE, _NULL = 8, 4

#: Names of members that decide to whom a resource belongs and who may do what, and of versions. A
#: service sets them itself, if it shows them and its document has them in no request.
_POWERS = re.compile(
    r"_?(owner|tenant|organi[sz]ation|workspace|created_?by|author)(_?id)?"
    r"|version|revision|etag|roles?|is_?admin|admin|permissions?|scopes?",
    re.IGNORECASE,
)

#: Names of members by the harm of a caller who sets them: rights and owners, what a resource may
#: do, money, then the rest; ids and times come last.
_RISKS = (
    re.compile(
        r"(is|has|can)_?[A-Za-z].*|.*(admin|role|permission|scope|verified|approved).*", re.I
    ),
    re.compile(r".*(owner|tenant|organi[sz]ation|workspace|author|created_?by).*", re.I),
    re.compile(r".*(status|state|stage|phase).*", re.I),
    re.compile(r".*(price|amount|balance|total|credit|discount|fee|paid|limit|quota).*", re.I),
)
_HARMLESS = re.compile(r"_?(id|uuid|etag|version|revision)|.*(_at|At|_on|date|time)", re.I)

_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")


#: How far another number is from one that the service set: no count comes so far in a run, and
#: amounts have room for it.
_FURTHER = 4127


def _other_number(value: float, node: Json) -> float | None:
    """Return another number that the schema allows, near enough for a service that bounds it, and
    too far to be counted up or down to; None if there is none.
    """
    rules = {
        name: node[name]
        for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
        if isinstance(node.get(name), int | float) and not isinstance(node[name], bool)
    }
    step = rules.get("multipleOf") or 1
    bounds = [bound for name, bound in rules.items() if name != "multipleOf"]
    steps = (type(value)(_FURTHER // step * step) if step >= 1 else _FURTHER, 10 * step)
    others = [
        *(value + sign * far for far in steps for sign in (1, -1)),
        *(type(value)(bound + sign * step) for bound in bounds for sign in (0, 1, -1)),
    ]
    allows = Draft202012Validator(rules).is_valid
    return next((one for one in others if allows(one) and abs(one - value) > _COUNTED), None)


@dataclass(frozen=True, slots=True)
class _OwnedMember:
    """A member that the service sets, and another value of its type. ``certain``: the configuration
    or the document says so. ``before``: the value that a read showed.
    """

    pointer: str
    value: object
    certain: bool
    before: object = None

    @property
    def risk(self) -> tuple[bool, int]:
        """A key that sorts members: the certain ones, then by the harm of callers setting them."""
        name = self.pointer.rpartition("/")[2]
        if _HARMLESS.fullmatch(name) or _TIME.fullmatch(str(self.value)):
            return not self.certain, len(_RISKS) + 1
        rank = (turn for turn, one in enumerate(_RISKS) if one.fullmatch(name))
        return not self.certain, next(rank, len(_RISKS))

    def has_taken(self, found: object) -> bool:
        """Whether a value that a read shows comes from the request: it is the sent one, or a number
        that was counted up from it.
        """
        if type(found) is not type(self.value):
            return False
        if found == self.value:
            return True
        if not isinstance(found, int) or not isinstance(self.value, int):
            return False
        far = not isinstance(self.before, int) or abs(found - self.before) > _COUNTED
        return far and abs(found - self.value) <= _COUNTED

    def put_into(self, body: Mapping[str, object]) -> dict[str, object]:
        """Return a body with the value at the place of the member."""
        first, *rest = [part for part in self.pointer.split("/") if part]
        if not rest:
            return {**body, first: self.value}
        inner = body.get(first)
        part = replace(self, pointer="/" + "/".join(rest))
        return {**body, first: part.put_into(inner if isinstance(inner, dict) else {})}


def unusual_writes(session: HttpSession) -> Iterator[ProbeResult]:
    """Send members of the service, and null, to a resource of each kind. What that
    changes is replaced before the next probe.
    """
    asked = False
    for kind in session.turn:
        read = kind.operation("read")
        if read is not None and kind.name in session.knowledge.created:
            asked = True
            yield from attempt(_Writes(session, kind, read).outcomes(), *CLAUSES)
    if not asked:
        reason = "no resource could be made that can be read"
        yield from (not_exercised(clause, reason) for clause in CLAUSES)


@dataclass(frozen=True, slots=True)
class _Writes:
    """The unusual writes to one kind of resource, which ``read`` reads."""

    session: HttpSession
    kind: ResourceKind
    read: ServiceOperation

    def outcomes(self) -> Iterator[Outcome]:
        """Create with members of the service, update with them, then update with null."""
        shared = self.session.knowledge.created[self.kind.name]
        state = self._last_read(shared) or self._get(shared)
        if not state.ok:
            reason = f"the service answered {state} to {self.read.name}"
            yield from (not_exercised(clause, reason) for clause in CLAUSES)
            return
        owned = sorted(self._owned_members(shared, state), key=lambda one: one.risk)
        if not owned:
            reason = f"no member of `{self.kind.name}` is known that the service sets itself"
            yield not_exercised(_OWNED, reason)
        else:
            yield self._create_owned(shared, owned)
        updates = [
            operation
            for operation in changes(self.session, self.kind)
            if is_json_write(operation) and "json-patch" not in content_type(operation)
        ]
        if not updates:
            reason = f"no operation is known that updates `{self.kind.name}`"
            yield not_exercised(_READABLE, reason)
        for operation in updates:
            if owned:
                outcome = self._update_owned(operation, shared, owned)
                yield outcome
                if outcome.kind == "failed":
                    return  # the resource may belong to somebody else now
        for operation in updates:
            outcome = self._send_nulls(operation, shared)
            yield outcome
            if outcome.kind == "failed":
                return  # the resource is lost

    # ---- members of the service

    def _owned_members(
        self, resource: CreatedResource, state: Observation
    ) -> Iterator[_OwnedMember]:
        """Yield the members that the service sets, as far as a read shows them."""
        document = self.session.description.document
        shown = find_representation(state, resource.body if isinstance(resource.body, dict) else {})
        asked: dict[str, Json] = {}
        for write in self._writes():
            asked |= body_members(self.session, write)
        answered: dict[str, Json] = {}
        for operation in (self.read, self.kind.operation("create")):
            success = operation.success if operation is not None else None
            schema = success.schema if success is not None else None
            node = sampling.merge_all_of(document, schema) if schema is not None else {}
            answered |= {
                name: sampling.merge_all_of(document, one)
                for name, one in sampling.properties_of(node).items()
            }
        nodes = {
            name: {**answered.get(name, {}), **asked.get(name, {})} for name in answered | asked
        }
        declared = self.kind.config.server_owned
        for pointer in declared:
            before = point(state.json, pointer)
            value = self._other_value(before, nodes.get(pointer[1:], {}), resource)
            if value is not None:
                yield _OwnedMember(pointer, value, certain=True, before=before)
        body = resource.body if isinstance(resource.body, dict) else {}
        for name, before in shown.items():
            if f"/{name}" in declared or name in body:
                continue
            node = nodes.get(name, {})
            certain = sampling.is_read_only(node)
            unasked = bool(asked) and name not in asked and _POWERS.fullmatch(name) is not None
            value = self._other_value(before, node, resource) if certain or unasked else None
            if value is not None:
                yield _OwnedMember(f"/{name}", value, certain, before)

    def _writes(self) -> list[ServiceOperation]:
        create = self.kind.operation("create")
        return [*([create] if create is not None else []), *changes(self.session, self.kind)]

    def _other_value(self, value: object, node: Json, resource: CreatedResource) -> object:
        """Return another value of the same type, such as the name of another tenant; None if there
        is none.
        """
        stranger = self.session.stranger(resource.owner)
        if stranger is not None and value == resource.owner.tenant:
            return stranger.tenant
        listed = node.get("enum")
        if isinstance(listed, list):
            others = [one for one in listed if one is not None and one != value]
            # A new resource has the first state by itself, so that one proves nothing.
            new = [first for _, first in leaves(resource.creation.json)]
            return next((one for one in others if one not in new), next(iter(others), None))
        match value:
            case bool():
                return not value
            case str() if _TIME.fullmatch(value):
                return "2001-02-03T04:05:06Z" if len(value) > len("2001-02-03") else "2001-02-03"
            case int() | float():
                return _other_number(value, node)
            case str() if value != "":
                return sampling.other_identifier(self.session.source, value)
            case list() if all(isinstance(one, str) for one in value):
                return [*value, "admin"]
        return None

    def _create_owned(self, shared: CreatedResource, owned: list[_OwnedMember]) -> Outcome:
        """Create with all members at once; if that is refused, with each, the riskiest first."""
        operation = self.kind.operation("create")
        if operation is None or not is_json_write(operation):
            return not_exercised(_OWNED, f"no JSON body is known that creates `{self.kind.name}`")
        outcome = passed(_OWNED)
        for members in self._groups(owned):
            values = dict(shared.values_for(operation.template))
            body = body_for(self.session, operation)
            write = self._send(operation, shared, values, body=body, members=members)
            if not write.ok:
                if write.status not in (*INVALID_INPUT, 403, 409):
                    line = f"the service answered {write} to {operation.name}"
                    outcome = not_exercised(_OWNED, line)
                continue
            identifier = identifier_of(write, last_placeholder(self.kind), self.kind)
            created = replace(
                shared,
                id=identifier,
                values={**shared.values, last_placeholder(self.kind): identifier},
                creation=write,
            )
            after = self._get(created)
            outcome = self._judge_owned(operation, members, write, after)
            if outcome.kind == "failed":
                others = self._members_unlike_new(members, shared)
                outcome = self._judge_owned(operation, others, write, after)
            if outcome.kind == "failed" or members is owned:
                return outcome
        return outcome

    def _update_owned(
        self, operation: ServiceOperation, resource: CreatedResource, owned: list[_OwnedMember]
    ) -> Outcome:
        outcome = passed(_OWNED)
        for members in self._groups(owned):
            body = change_body(self.session, self.kind, operation)
            values = resource.item_values(operation)
            write = self._send(operation, resource, values, body=body, members=members)
            if write.ok:
                outcome = self._judge_owned(operation, members, write, self._get(resource))
                if outcome.kind == "failed" or members is owned:
                    return outcome
            elif write.status not in (*INVALID_INPUT, 403, 409):
                line = f"the service answered {write} to {operation.name}"
                outcome = not_exercised(_OWNED, line)
        return outcome

    def _groups(self, owned: list[_OwnedMember]) -> Iterator[list[_OwnedMember]]:
        """Yield the members to send together: all, then one by one."""
        yield owned
        if len(owned) > 1:
            yield from ([member] for member in owned[:_ALONE])

    def _send(
        self,
        operation: ServiceOperation,
        resource: CreatedResource,
        values: Mapping[str, object],
        body: object,
        members: list[_OwnedMember],
    ) -> Observation:
        for member in members:
            body = member.put_into(body if isinstance(body, dict) else {})
        names = ", ".join(member.pointer for member in members)
        return self._write(
            operation, resource, values, body=body, what=f"members of the service: {names}"
        )

    def _judge_owned(
        self,
        operation: ServiceOperation,
        members: list[_OwnedMember],
        write: Observation,
        after: Observation,
    ) -> Outcome:
        """Check that a read shows no value that an accepted write sent for the service."""
        if not members:
            line = f"a new `{self.kind.name}` has the values that were sent by itself"
            return not_exercised(_OWNED, line)
        seen = after if after.ok else write
        for member in members:
            if _shows(seen, member, members):
                level: Level = "error" if member.certain else "warning"
                line = (
                    f"{operation.name} sets `{member.pointer}` of the {self.kind.name}, which is "
                )
                line += "the service's" if member.certain else "in no request of the document"
                return failed(_OWNED, line, after, write, pointer=member.pointer, level=level)
        if after.ok or may_be_pending(write):
            return passed(_OWNED)
        return not_exercised(_OWNED, f"the service answered {after} to {self.read.name}")

    def _members_unlike_new(
        self, members: list[_OwnedMember], shared: CreatedResource
    ) -> list[_OwnedMember]:
        """Return the members whose values a resource does not have that is created without them."""
        new = make(self.session, self.kind, owner=shared.owner)
        if isinstance(new, str):
            return members
        answers = (new.creation, self._get(new))
        return [
            one for one in members if not any(_shows(answer, one, members) for answer in answers)
        ]

    # ---- null

    def _send_nulls(self, operation: ServiceOperation, resource: CreatedResource) -> Outcome:
        """Send null for each member that is not nullable, and read the resource."""
        sent, reason = None, f"no member is known that {operation.name} changes"
        for name in islice(self._not_nullable(operation), _NULL):
            body = change_body(self.session, self.kind, operation)
            whole = body if operation.method == "PUT" and isinstance(body, dict) else {}
            values = resource.item_values(operation)
            what = f"`{name}` of null"
            write = self._write(operation, resource, values, body={**whole, name: None}, what=what)
            line = f"the service answered {write} to {operation.name}"
            if write.status in (401, 403, 404, 405, 415, 429):
                return not_exercised(_READABLE, line)
            if write.status in OF_CONDITION:
                reason = line
                continue
            sent = write, what
            if write.ok:
                outcome = self._judge_readable(operation, resource, write, what)
                if outcome.kind == "failed":
                    return outcome
        if sent is None:
            return not_exercised(_READABLE, reason)
        return self._judge_readable(operation, resource, *sent)

    def _not_nullable(self, operation: ServiceOperation) -> Iterator[str]:
        """Yield the members of an update that the document has as not nullable; without a document
        those of the configured body.
        """
        nodes = body_members(self.session, operation)
        if not nodes:
            body = change_body(self.session, self.kind, operation)
            yield from body if isinstance(body, dict) else ()
        for name, node in nodes.items():
            nullable = sampling.allows_null(self.session.description.document, node)
            if not nullable and not sampling.is_read_only(node):
                yield name

    def _judge_readable(
        self, operation: ServiceOperation, resource: CreatedResource, write: Observation, what: str
    ) -> Outcome:
        """Check that the resource can be read, and its list after an accepted write."""
        after = self._get(resource)
        if after.status in GONE and write.ok:
            self.session.wait(self.session.config.limits.settle, after=after)
            after = self._get(resource)
        listing = self.kind.operation("list")
        if after.ok and write.ok and listing is not None and listing.method == "GET":
            values = resource.values_for(listing.template)
            if set(listing.placeholders) <= set(values):
                spec = request_to(self.session, listing, values)
                after = self.session.call(replace(spec, identity=resource.owner))
        if after.status < 500 and after.status not in GONE:
            return passed(_READABLE)
        line = f"after {operation.name} with {what} ({write}) the service answers {after} to "
        line += str(after.exchange.operation)
        return failed(_READABLE, line, after, write)

    # ---- requests

    def _write(
        self,
        operation: ServiceOperation,
        resource: CreatedResource,
        values: Mapping[str, object],
        body: object,
        what: str,
    ) -> Observation:
        spec = request_to(self.session, operation, values)
        tag = self._last_tag(resource) if operation.method != "POST" else None
        spec = replace(with_tag(spec, tag), identity=resource.owner, body=body, trigger=what)
        return call_past_condition(self.session, operation, spec)

    def _last_read(self, resource: CreatedResource) -> Observation | None:
        """Return the last answer that showed the resource, or None."""
        path = path_of(self.read.template, resource.item_values(self.read))
        return next(
            (
                one
                for one in reversed(self.session.knowledge.exchanges)
                if one.ok
                and one.exchange.request.method == "GET"
                and one.exchange.request.target == path
            ),
            None,
        )

    def _last_tag(self, resource: CreatedResource) -> str | None:
        """Return the last ETag of the resource: of a read, a write or its creation."""
        path = path_of(self.read.template, resource.item_values(self.read))
        tags = (
            one.header("ETag")
            for one in reversed(self.session.knowledge.exchanges)
            if one.ok and one.exchange.request.target == path
        )
        return next(filter(None, tags), resource.creation.header("ETag"))

    def _get(self, resource: CreatedResource) -> Observation:
        values = resource.item_values(self.read)
        spec = RequestSpec("GET", self.read.template, identity=resource.owner, values=values)
        return self.session.call(spec)


def _shows(answer: Observation, member: _OwnedMember, members: list[_OwnedMember]) -> bool:
    """Whether an answer shows the value of a member, in the object that has most of the members."""
    found = point(answer.json, member.pointer)
    if found is None and "/" not in member.pointer[1:]:
        shown = find_representation(answer, {one.pointer[1:]: None for one in members})
        found = shown.get(member.pointer[1:])
    return member.has_taken(found)
